/* Open addressing with linear probing over 64-bit hashes; labels are never removed. */
#include "stream/label_table.h"

#include "base/allocate.h"
#include "base/error.h"

#include <stdbool.h>

#define FIRST_ENTRIES 256

struct ocdm__label_name {
    size_t at;
    size_t length;
};

static const char *text_of(const ocdm__label_table *table, uint32_t number)
{
    return table->bytes + table->names[number].at;
}

/* What a label is looked up by: see struct ocdm__label_entry. */
struct key {
    uint64_t low, high;
    uint64_t hash;
};

static struct key key_of(const char *text, size_t length)
{
    struct key key;
    if (length <= OCDM__SHORT_LABEL) {
        ocdm__short_label(text, length, &key.low, &key.high);
    } else {
        key.low = ocdm__hash_bytes(text, length);
        memcpy(&key.high, text + length - 8, 8);
    }
    key.hash = ocdm__hash_pair(key.low, key.high);
    return key;
}

static inline bool is_label(const ocdm__label_table *table, const struct ocdm__label_entry *entry, const struct key *key,
                            const char *text, size_t length)
{
    if (entry->low != key->low || entry->high != key->high || entry->length != length)
        return false;
    return length <= OCDM__SHORT_LABEL || memcmp(text_of(table, entry->next_number - 1), text, length) == 0;
}

/* The entry of the label, or the free one where it would go. There is always a free one. */
static inline struct ocdm__label_entry *find_entry(const ocdm__label_table *table, const struct key *key, const char *text,
                                                   size_t length)
{
    size_t mask = table->entry_count - 1;
    for (size_t i = key->hash & mask;; i = (i + 1) & mask) {
        struct ocdm__label_entry *entry = &table->entries[i];
        if (!entry->next_number || is_label(table, entry, key, text, length))
            return entry;
    }
}

static bool grow_entries(ocdm__label_table *table)
{
    size_t count = table->entry_count ? 2 * table->entry_count : FIRST_ENTRIES;
    struct ocdm__label_entry *entries = ocdm__allocate(count, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < table->entry_count; i++) {
        const struct ocdm__label_entry *entry = &table->entries[i];
        if (!entry->next_number)
            continue;
        size_t to = ocdm__hash_pair(entry->low, entry->high) & (count - 1);
        while (entries[to].next_number)
            to = (to + 1) & (count - 1);
        entries[to] = *entry;
    }
    ocdm__release(table->entries);
    table->entries = entries;
    table->entry_count = count;
    return true;
}

static bool make_room(ocdm__label_table *table, size_t length)
{
    return (2 * ((size_t)table->count + 1) <= table->entry_count || grow_entries(table)) &&
           ocdm__reserve(&table->names, &table->name_room, (size_t)table->count + 1, sizeof *table->names) &&
           ocdm__reserve(&table->bytes, &table->room, table->used + length + 1, 1); /* never NULL, even for an empty label */
}

static ocdm_status add_new(ocdm__label_table *table, const struct key *key, const char *text, size_t length, ocdm_error *error)
{
    if (table->count == UINT32_MAX - 1 || length > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "", "more than %u different labels, or a label of over 4 GiB", UINT32_MAX - 1);
    if (!make_room(table, length))
        return ocdm__fail_memory(error, "the labels");
    if (length > 0)
        memcpy(table->bytes + table->used, text, length);
    table->names[table->count] = (struct ocdm__label_name){.at = table->used, .length = length};
    table->used += length;
    *find_entry(table, key, text, length) = (struct ocdm__label_entry){
        .low = key->low, .high = key->high, .length = (uint32_t)length, .next_number = ++table->count};
    return OCDM_OK;
}

ocdm_status ocdm__label_table_add(ocdm__label_table *table, const char *text, size_t length, uint32_t *number,
                                  ocdm_error *error)
{
    if (table->entry_count == 0)
        ocdm__hash_key_prepare();
    struct key key = key_of(text, length);
    if (table->entry_count) {
        const struct ocdm__label_entry *entry = find_entry(table, &key, text, length);
        if (entry->next_number) {
            *number = entry->next_number - 1;
            return OCDM_OK;
        }
    }
    OCDM_TRY(add_new(table, &key, text, length, error));
    *number = table->count - 1;
    return OCDM_OK;
}

uint32_t ocdm__label_table_number(const ocdm__label_table *table, const char *text, size_t length)
{
    if (table->entry_count == 0)
        return UINT32_MAX;
    struct key key = key_of(text, length);
    return find_entry(table, &key, text, length)->next_number - 1;
}

const char *ocdm__label_table_text(const ocdm__label_table *table, uint32_t number, size_t *length)
{
    *length = table->names[number].length;
    return text_of(table, number);
}

void ocdm__label_table_clear(ocdm__label_table *table)
{
    ocdm__release(table->entries);
    ocdm__release(table->names);
    ocdm__release(table->bytes);
    *table = (ocdm__label_table){0};
}

int ocdm__compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t common = a_length < b_length ? a_length : b_length;
    int order = common ? memcmp(a, b, common) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}
