/* An open-addressing table of 32-bit entries, found by hash; the caller compares keys. It stores no keys: they are in the
 * records that the entries refer to. Removal shifts entries back, so there are no tombstones and a table never degrades. */
#ifndef OCDM_BASE_HASH_TABLE_H
#define OCDM_BASE_HASH_TABLE_H

#include <stdint.h>

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

#endif
