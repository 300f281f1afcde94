/* An open-addressing table of 32-bit entries, found by hash; the caller compares keys. It stores no keys: they are in the
 * records that the entries refer to. Removal shifts entries back, so there are no tombstones and a table never degrades. */
#ifndef OCDM_BASE_HASH_TABLE_H
#define OCDM_BASE_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "ocdm/ocdm.h"

/* `entry` is OCDM_NONE if free. The high half of the hash is stored beside it, so that most misses touch nothing else. */
struct ocdm__hash_table_place {
    uint32_t tag;
    uint32_t entry;
};

struct ocdm__hash_table {
    struct ocdm__hash_table_place *places;
    uint32_t mask;
};

/* An empty table for at most `entries` entries, a third full at most. */
ocdm_status ocdm__hash_table_create(struct ocdm__hash_table *table, uint32_t entries);
void ocdm__hash_table_destroy(struct ocdm__hash_table *table);

static inline uint32_t ocdm__hash_table_tag(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* Steps through the entries whose tag is the hash's: start with place = tag & mask; OCDM_NONE ends the walk. */
static inline uint32_t ocdm__hash_table_next(const struct ocdm__hash_table *table, uint32_t tag, uint32_t *place)
{
    for (;;) {
        struct ocdm__hash_table_place here = table->places[*place & table->mask];
        ++*place;
        if (here.entry == OCDM_NONE || here.tag == tag)
            return here.entry;
    }
}

/* Adds an entry that is not in the table. */
void ocdm__hash_table_add(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry);

/* Removes an entry that is in the table. */
void ocdm__hash_table_remove(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry);

/* ---- hashes of bytes
 * --------------------------------------------------------------------------------------------------------- */

/* Hashes short byte strings for tables in memory: eight bytes a round, one multiplication each. The tables compare the bytes
 * too, so a collision costs time but never correctness. The hash depends on the byte order of the machine: do not write it to
 * files. */

/* The first `length` bytes, 1 to 8, as a number: two overlapping halves rather than a loop. */
static inline uint64_t ocdm__load_short(const char *bytes, size_t length)
{
    if (length >= 4) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + length - 4, 4);
        return (uint64_t)high << 32 | low;
    }
    uint64_t first = (unsigned char)bytes[0], middle = (unsigned char)bytes[length / 2],
             last = (unsigned char)bytes[length - 1];
    return first << 16 | middle << 8 | last;
}

/* The first `count` bytes, up to 8, of a word that is read in full; the others are zero. */
static inline uint64_t ocdm__first_bytes(const char *text, size_t count)
{
    static const unsigned char mask_of[16] = {255, 255, 255, 255, 255, 255, 255, 255};
    uint64_t word, mask;
    memcpy(&word, text, 8);
    memcpy(&mask, mask_of + 8 - count, 8);
    return word & mask;
}

static inline uint64_t ocdm__hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = (uint64_t)length * OCDM__GOLDEN_STEP;
    for (; length > 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0xA0761D6478BD642Fu;
        hash ^= hash >> 32;
    }
    if (length > 0)
        hash ^= ocdm__load_short(bytes, length);
    return ocdm__mix(hash);
}

#endif
