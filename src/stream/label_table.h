/* Labels as numbers: each distinct string gets the next of 0, 1, 2, ... when it is first seen, and keeps it. */
#ifndef OCDM_STREAM_LABEL_TABLE_H
#define OCDM_STREAM_LABEL_TABLE_H

#include "base/hash_table.h"
#include "base/text.h"

/* Bytes that some functions may read from a label on, whatever its length. */
#define OCDM__LABEL_PADDING 16

/* Labels up to this length, which most are, are compared as two words. */
#define OCDM__SHORT_LABEL 16

struct ocdm__label_name {
    uint64_t low, high; /* a short label's bytes; of a longer one a hash and the last eight bytes. Labels that differ only in
                           trailing NULs, 16 at most, share them */
    size_t at, length;  /* in `bytes` */
};

/* Start with all bytes zero: `ocdm__label_table table = {0};`. */
typedef struct ocdm__label_table {
    uint32_t count;                  /* how many labels there are: numbers are below it */
    struct ocdm__hash_table numbers; /* by the hash of the two words */
    struct ocdm__label_name *names;  /* by number */
    size_t name_room;
    char *bytes; /* all labels, one after another */
    size_t used, room;
} ocdm__label_table;

/*
 * The number of the label `text`, any bytes; a new one when it is not there yet.
 * OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT (over 2^32 - 2 labels). On error the table is as it was. O(length) on average.
 */
ocdm_status ocdm__label_table_add(ocdm__label_table *table, const char *text, size_t length, uint32_t *number,
                                  ocdm_error *error);

/* The same, faster, of a text from which OCDM__LABEL_PADDING bytes may be read. */
ocdm_status ocdm__label_table_add_padded(ocdm__label_table *table, const char *text, size_t length, uint32_t *number,
                                         ocdm_error *error);

/* The bytes of a short label as two words, zero beyond its length. Reads 16 bytes without a branch on the length, which would
 * often be mispredicted. */
static inline void ocdm__short_label(const char *text, size_t length, uint64_t *low, uint64_t *high)
{
    size_t first = length < 8 ? length : 8;
    *low = ocdm__first_bytes(text, first);
    *high = ocdm__first_bytes(text + 8, length - first);
}

/* An ocdm__has_key: whether a label has the words and the length of another, which for short ones means that it is the same. */
static inline bool ocdm__has_label_words(const void *names, uint32_t number, const void *key)
{
    const struct ocdm__label_name *name = &((const struct ocdm__label_name *)names)[number], *other = key;
    return name->low == other->low && name->high == other->high && name->length == other->length;
}

/* The number of a short label that is in the table, or UINT32_MAX; also for longer ones. Padding as for
 * ocdm__label_table_add_padded. */
static inline uint32_t ocdm__label_table_find(const ocdm__label_table *table, const char *text, size_t length)
{
    struct ocdm__label_name key = {.length = length};
    if (length > OCDM__SHORT_LABEL)
        return UINT32_MAX;
    ocdm__short_label(text, length, &key.low, &key.high);
    return ocdm__hash_table_find(&table->numbers, ocdm__hash_pair(key.low, key.high), ocdm__has_label_words, table->names,
                                 &key);
}

/* The same for a label of any length, without padding. */
uint32_t ocdm__label_table_number(const ocdm__label_table *table, const char *text, size_t length);

/* The label with a number below `count`; no NUL after it. Lives until the next add. */
const char *ocdm__label_table_text(const ocdm__label_table *table, uint32_t number, size_t *length);

/* The same three for a label of another table: adds it, finds it, shows one of the table's own for a message. */
ocdm_status ocdm__label_table_copy(ocdm__label_table *table, const ocdm__label_table *labels, uint32_t label, uint32_t *number,
                                   ocdm_error *error);
uint32_t ocdm__label_table_match(const ocdm__label_table *table, const ocdm__label_table *labels, uint32_t label);
ocdm__shown_label ocdm__label_table_show(const ocdm__label_table *table, uint32_t number);

/* Writes the numbers of the labels whose `kept`, by number, is not 0, all when it is NULL, in the bytewise order of the labels;
 * `numbers` has room for all of the table. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__label_table_sort(const ocdm__label_table *table, const uint8_t *kept, uint32_t *numbers, size_t *count,
                                   ocdm_error *error);

/* Releases everything; the table is empty again. */
void ocdm__label_table_clear(ocdm__label_table *table);

/* The order of two labels, bytewise: negative, 0 or positive. */
int ocdm__compare_texts(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
