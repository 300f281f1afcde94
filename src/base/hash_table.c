/* Linear probing; removal shifts later entries back, so there are no tombstones. */
#include "base/hash_table.h"

#include "base/allocate.h"

ocdm_status ocdm__hash_table_create(struct ocdm__hash_table *table, uint32_t entries)
{
    uint64_t places = 16;
    while (places < (uint64_t)entries * 3)
        places *= 2;
    if (places > (uint64_t)UINT32_MAX + 1)
        return OCDM_NO_MEMORY;
    struct ocdm__hash_table_place *fresh = ocdm__allocate((size_t)places, sizeof *fresh);
    if (!fresh)
        return OCDM_NO_MEMORY;
    for (uint64_t i = 0; i < places; i++)
        fresh[i].entry = OCDM_NONE;
    table->places = fresh;
    table->mask = (uint32_t)(places - 1);
    return OCDM_OK;
}

void ocdm__hash_table_destroy(struct ocdm__hash_table *table)
{
    ocdm__release(table->places);
    table->places = NULL;
}

void ocdm__hash_table_add(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry)
{
    uint32_t tag = ocdm__hash_table_tag(hash);
    uint32_t place = tag & table->mask;
    while (table->places[place].entry != OCDM_NONE)
        place = (place + 1) & table->mask;
    table->places[place] = (struct ocdm__hash_table_place){tag, entry};
}

void ocdm__hash_table_remove(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry)
{
    struct ocdm__hash_table_place *places = table->places;
    uint32_t mask = table->mask;
    uint32_t hole = ocdm__hash_table_tag(hash) & mask;
    while (places[hole].entry != entry)
        hole = (hole + 1) & mask;
    for (uint32_t place = (hole + 1) & mask; places[place].entry != OCDM_NONE; place = (place + 1) & mask) {
        uint32_t distance_to_hole = (place - hole) & mask;
        uint32_t distance_to_home = (place - places[place].tag) & mask;
        if (distance_to_home < distance_to_hole)
            continue;
        places[hole] = places[place];
        hole = place;
    }
    places[hole].entry = OCDM_NONE;
}
