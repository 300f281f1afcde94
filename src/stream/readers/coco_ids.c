/* A map from ids to numbers: linear probing over mixed ids; nothing is ever taken out. */
#include "stream/readers/coco_ids.h"

#include <stdbool.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"

#define FIRST_ENTRIES 256

/* The entry of the id, or the free one where it would go. There is always a free one. */
static struct ocdm__id_entry *find_entry(struct ocdm__id_entry *entries, size_t entry_count, uint64_t id)
{
    size_t mask = entry_count - 1;
    for (size_t i = (size_t)ocdm__mix(id + OCDM__GOLDEN_STEP) & mask;; i = (i + 1) & mask)
        if (entries[i].next_number == 0 || entries[i].id == id)
            return &entries[i];
}

static bool grow(ocdm__id_map *map)
{
    size_t count = map->entry_count > 0 ? 2 * map->entry_count : FIRST_ENTRIES;
    struct ocdm__id_entry *entries = ocdm__allocate(count, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < map->entry_count; i++)
        if (map->entries[i].next_number != 0)
            *find_entry(entries, count, map->entries[i].id) = map->entries[i];
    ocdm__release(map->entries);
    map->entries = entries;
    map->entry_count = count;
    return true;
}

ocdm_status ocdm__id_map_add(ocdm__id_map *map, uint64_t id, uint64_t number, ocdm_error *error)
{
    if (2 * (map->count + 1) > map->entry_count && !grow(map))
        return ocdm__fail_memory(error, "the ids of a source");
    struct ocdm__id_entry *entry = find_entry(map->entries, map->entry_count, id);
    if (entry->next_number != 0)
        return OCDM_DUPLICATE_ID;
    *entry = (struct ocdm__id_entry){.id = id, .next_number = number + 1};
    map->count++;
    return OCDM_OK;
}

uint64_t ocdm__id_map_find(const ocdm__id_map *map, uint64_t id)
{
    if (map->entry_count == 0)
        return OCDM__NO_NUMBER;
    return find_entry(map->entries, map->entry_count, id)->next_number - 1; /* 0 - 1 is OCDM__NO_NUMBER */
}

void ocdm__id_map_clear(ocdm__id_map *map)
{
    ocdm__release(map->entries);
    *map = (ocdm__id_map){.count = 0};
}
