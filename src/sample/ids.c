/*
 * The ids of a stream so far, exactly: an id may occur once, however long ago that was. Numbers share an entry of 16 bytes with
 * up to 63 neighbours; any other id has an entry of its own and, if it is longer than 15 bytes, its bytes. The tables are
 * between three eighths and three quarters full. Records without ids are numbered; as long as no record has one, a count of
 * them is all that is remembered, so that a stream without ids takes constant memory.
 */
#include "base/hash_table.h"
#include "sample/state.h"
#include "stream/label_table.h"

#define FIRST_PLACES 1024u
#define LONG_ID 0xFFu /* in an entry's last byte */

/* An id that is no number. OCDM__INPUT_PADDING bytes from its content on may be read. */
struct text_id {
    const char *content;
    size_t length;
};

/* Whether a place has the long id: the bytes before the last say where it is, its length, then its content. */
static bool is_long_id(const struct ocdm__seen_ids *seen, const union ocdm__seen_id *place, const struct text_id *id)
{
    size_t at = 0, length;
    for (int i = 15; i-- > 8;)
        at = at << 8 | place->byte[i];
    memcpy(&length, seen->bytes + at, sizeof length);
    return length == id->length && memcmp(seen->bytes + at + sizeof length, id->content, length) == 0;
}

/* Where the search for an entry starts. */
static inline size_t start_of(const struct ocdm__seen_ids *seen, const struct ocdm__seen_table *table,
                              const union ocdm__seen_id *entry)
{
    return (size_t)(table == &seen->numbers ? ocdm__hash_number(entry->word[0])
                                            : ocdm__hash_pair(entry->word[0], entry->byte[15] == LONG_ID ? 0 : entry->word[1]));
}

/* The place of the entry, or the free place where it would be; `id` is NULL in the table of numbers. */
static union ocdm__seen_id *find(const struct ocdm__seen_ids *seen, const struct ocdm__seen_table *table,
                                 const union ocdm__seen_id *entry, const struct text_id *id)
{
    bool lengthy = id != NULL && entry->byte[15] == LONG_ID;
    for (size_t i = start_of(seen, table, entry);; i++) {
        union ocdm__seen_id *place = &table->places[i & table->mask];
        if (place->word[1] == 0)
            return place;
        if (place->word[0] == entry->word[0] &&
            (id == NULL ||
             (lengthy ? place->byte[15] == LONG_ID && is_long_id(seen, place, id) : place->word[1] == entry->word[1])))
            return place;
    }
}

/* Makes room for one more entry: doubles a table that is three quarters full. */
static ocdm_status reserve_place(const struct ocdm__seen_ids *seen, struct ocdm__seen_table *table, ocdm_error *error)
{
    if (table->places != NULL && table->count < (table->mask + 1) / 4 * 3)
        return OCDM_OK;
    size_t count = table->places != NULL ? 2 * (table->mask + 1) : FIRST_PLACES;
    union ocdm__seen_id *places = ocdm__allocate(count, sizeof *places);
    if (places == NULL)
        return ocdm__fail(error, OCDM_NO_MEMORY, "`--no-id` numbers the records instead, in constant memory",
                          "out of memory for the ids of %llu records", (unsigned long long)seen->count);
    for (size_t i = 0; table->places != NULL && i <= table->mask; i++) {
        size_t to = start_of(seen, table, &table->places[i]);
        if (table->places[i].word[1] == 0)
            continue;
        while (places[to & (count - 1)].word[1] != 0)
            to++;
        places[to & (count - 1)] = table->places[i];
    }
    ocdm__release(table->places);
    table->places = places;
    table->mask = count - 1;
    return OCDM_OK;
}

static ocdm_status see_text(struct ocdm__seen_ids *seen, const struct text_id *id, bool *taken, ocdm_error *error)
{
    OCDM_TRY(reserve_place(seen, &seen->texts, error));
    union ocdm__seen_id entry = {.word = {0}};
    bool is_short = id->length <= OCDM__SHORT_ID;
    if (is_short)
        ocdm__short_label(id->content, id->length, &entry.word[0], &entry.word[1]);
    else
        entry.word[0] = ocdm__hash_bytes(id->content, id->length);
    entry.byte[15] = (unsigned char)(is_short ? id->length + 1 : LONG_ID);
    union ocdm__seen_id *place = find(seen, &seen->texts, &entry, id);
    *taken = place->word[1] != 0;
    if (*taken)
        return OCDM_OK;
    if (entry.byte[15] == LONG_ID) {
        size_t at = seen->used, needed = at + sizeof id->length + id->length;
        if (!ocdm__reserve(&seen->bytes, &seen->room, needed, 1))
            return ocdm__fail_memory(error, "the ids of the records");
        memcpy(seen->bytes + at, &id->length, sizeof id->length);
        memcpy(seen->bytes + at + sizeof id->length, id->content, id->length);
        seen->used = needed;
        for (int i = 8; i < 15; i++, at >>= 8)
            entry.byte[i] = (unsigned char)at;
    }
    *place = entry;
    seen->texts.count++;
    seen->count++;
    return OCDM_OK;
}

static ocdm_status see_number(struct ocdm__seen_ids *seen, uint64_t number, bool *taken, ocdm_error *error)
{
    *taken = number < seen->leading;
    if (*taken)
        return OCDM_OK;
    OCDM_TRY(reserve_place(seen, &seen->numbers, error));
    const uint64_t bit = (uint64_t)1 << number % 64;
    union ocdm__seen_id block = {.word = {number / 64, bit}}, *place = find(seen, &seen->numbers, &block, NULL);
    *taken = place->word[1] & bit;
    seen->count += !*taken;
    seen->numbers.count += place->word[1] == 0;
    block.word[1] |= place->word[1];
    *place = block;
    return OCDM_OK;
}

ocdm_status ocdm__see_id(struct ocdm__seen_ids *seen, const char *content, size_t length, bool *taken, ocdm_error *error)
{
    const struct text_id id = {content, length};
    uint64_t number;
    /* A number in its usual form, below 10^19. */
    bool is_number =
        length <= 19 && !(content[0] == '0' && length > 1) && ocdm__text_to_whole(content, length, 0, UINT64_MAX, &number);
    return is_number ? see_number(seen, number, taken, error) : see_text(seen, &id, taken, error);
}

ocdm_status ocdm__see_numbered(struct ocdm__seen_ids *seen, uint64_t number, bool *taken, ocdm_error *error)
{
    if (number != seen->leading)
        return see_number(seen, number, taken, error);
    seen->leading++;
    *taken = false;
    return OCDM_OK;
}

void ocdm__seen_ids_clear(struct ocdm__seen_ids *seen)
{
    OCDM_RELEASE(seen->numbers.places, seen->texts.places, seen->bytes);
}
