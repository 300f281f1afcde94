/* Ids as they are in a file, 64 bits and far apart, and the number that each stands for. */
#ifndef OCDM_STREAM_READERS_COCO_IDS_H
#define OCDM_STREAM_READERS_COCO_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

#define OCDM__NO_NUMBER UINT64_MAX

struct ocdm__id_entry {
    uint64_t id;
    uint64_t next_number; /* the number + 1; 0 when the entry is free */
};

/* Start with all bytes zero. */
typedef struct ocdm__id_map {
    struct ocdm__id_entry *entries; /* open addressing, a power of two of them, at most half in use */
    size_t entry_count;
    size_t count;
} ocdm__id_map;

/* Lets `id` stand for `number`, which is not OCDM__NO_NUMBER. OCDM_OK, OCDM_DUPLICATE_ID (no message), OCDM_NO_MEMORY; on error
 * the map is as it was. */
ocdm_status ocdm__id_map_add(ocdm__id_map *map, uint64_t id, uint64_t number, ocdm_error *error);

/* What `id` stands for, or OCDM__NO_NUMBER. */
uint64_t ocdm__id_map_find(const ocdm__id_map *map, uint64_t id);

/* Gives everything back; the map is empty again. */
void ocdm__id_map_clear(ocdm__id_map *map);

#endif
