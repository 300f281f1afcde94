/* The one map over the labels' words; labels are never removed. */
#include "stream/label_table.h"

/* What a label is looked up by. */
struct key {
    struct ocdm__label_name name; /* `at` is of no meaning */
    const ocdm__label_table *table;
    const char *text;
};

static bool has_label(const void *names, uint32_t number, const void *key)
{
    const struct key *wanted = key;
    size_t length = wanted->name.length;
    return ocdm__has_label_words(names, number, &wanted->name) &&
           (length <= OCDM__SHORT_LABEL ||
            memcmp(wanted->table->bytes + wanted->table->names[number].at, wanted->text, length) == 0);
}

/* The number of a label, or OCDM_NONE; its words, and their hash. */
static inline uint32_t find(const ocdm__label_table *table, const char *text, size_t length, bool padded,
                            struct ocdm__label_name *words, uint64_t *hash)
{
    struct key key = {.name.length = length, .table = table, .text = text};
    char copy[OCDM__LABEL_PADDING] = {0};
    ocdm__hash_key_prepare();
    if (length > OCDM__SHORT_LABEL) {
        key.name.low = ocdm__hash_bytes(text, length);
        memcpy(&key.name.high, text + length - 8, 8);
    } else if (padded) {
        ocdm__short_label(text, length, &key.name.low, &key.name.high);
    } else {
        if (length > 0)
            memcpy(copy, text, length);
        ocdm__short_label(copy, length, &key.name.low, &key.name.high);
    }
    *words = key.name;
    *hash = ocdm__hash_pair(key.name.low, key.name.high);
    return ocdm__hash_table_find(&table->numbers, *hash, has_label, table->names, &key);
}

static ocdm_status add(ocdm__label_table *table, const char *text, size_t length, bool padded, uint32_t *number,
                       ocdm_error *error)
{
    struct ocdm__label_name name;
    uint64_t hash;
    *number = find(table, text, length, padded, &name, &hash);
    if (*number != OCDM_NONE)
        return OCDM_OK;
    if (table->count == UINT32_MAX - 1 || length > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "", "more than %u different labels, or a label of over 4 GiB", UINT32_MAX - 1);
    if (!ocdm__hash_table_reserve(&table->numbers, table->count + 1) ||
        !ocdm__reserve(&table->names, &table->name_room, (size_t)table->count + 1, sizeof *table->names) ||
        !ocdm__reserve(&table->bytes, &table->room, table->used + length + 1, 1)) /* never NULL, even for an empty label */
        return ocdm__fail_memory(error, "the labels");
    if (length > 0)
        memcpy(table->bytes + table->used, text, length);
    name.at = table->used;
    table->used += length;
    *number = table->count++;
    table->names[*number] = name;
    ocdm__hash_table_add(&table->numbers, hash, *number);
    return OCDM_OK;
}

ocdm_status ocdm__label_table_add(ocdm__label_table *table, const char *text, size_t length, uint32_t *number,
                                  ocdm_error *error)
{
    return add(table, text, length, false, number, error);
}

ocdm_status ocdm__label_table_add_padded(ocdm__label_table *table, const char *text, size_t length, uint32_t *number,
                                         ocdm_error *error)
{
    return add(table, text, length, true, number, error);
}

uint32_t ocdm__label_table_number(const ocdm__label_table *table, const char *text, size_t length)
{
    struct ocdm__label_name name;
    uint64_t hash;
    return find(table, text, length, false, &name, &hash);
}

const char *ocdm__label_table_text(const ocdm__label_table *table, uint32_t number, size_t *length)
{
    *length = table->names[number].length;
    return table->bytes + table->names[number].at;
}

ocdm_status ocdm__label_table_copy(ocdm__label_table *table, const ocdm__label_table *labels, uint32_t label, uint32_t *number,
                                   ocdm_error *error)
{
    return add(table, labels->bytes + labels->names[label].at, labels->names[label].length, false, number, error);
}

uint32_t ocdm__label_table_match(const ocdm__label_table *table, const ocdm__label_table *labels, uint32_t label)
{
    return ocdm__label_table_number(table, labels->bytes + labels->names[label].at, labels->names[label].length);
}

ocdm__shown_label ocdm__label_table_show(const ocdm__label_table *table, uint32_t number)
{
    return ocdm__show_label(table->bytes + table->names[number].at, table->names[number].length);
}

struct sorted {
    const char *text;
    size_t length;
    uint32_t number;
};

static int compare_sorted(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    return ocdm__compare_texts(a->text, a->length, b->text, b->length);
}

ocdm_status ocdm__label_table_sort(const ocdm__label_table *table, const uint8_t *kept, uint32_t *numbers, size_t *count,
                                   ocdm_error *error)
{
    struct sorted *sorted;
    OCDM_TRY(ocdm__new(&sorted, table->count, sizeof *sorted, "the order of the labels", error));
    *count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (kept == NULL || kept[i] != 0)
            sorted[(*count)++] = (struct sorted){table->bytes + table->names[i].at, table->names[i].length, i};
    qsort(sorted, *count, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < *count; i++)
        numbers[i] = sorted[i].number;
    ocdm__release(sorted);
    return OCDM_OK;
}

void ocdm__label_table_clear(ocdm__label_table *table)
{
    ocdm__hash_table_destroy(&table->numbers);
    OCDM_RELEASE(table->names, table->bytes);
    *table = (ocdm__label_table){0};
}

int ocdm__compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t common = a_length < b_length ? a_length : b_length;
    int order = common ? memcmp(a, b, common) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}
