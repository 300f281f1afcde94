/*
 * The label sets that are asleep. Of a sleeper the index knows an upper bound of its score only, 16 bits, its height. What
 * makes that useful is that the heights of all sleepers that carry a class can be raised at the speed of a counter: each
 * class has the list of its sleepers, and the heights of a tile fit into the first levels of the cache.
 *
 * A sleeper sits in a seat. 32,768 seats are a tile, so that a list needs 16 bits for an entry; there is a list for each class
 * and tile, of chunks of one cache line. Seats and chunks never move, and what is reserved is enough for any order of calls.
 */
#ifndef OCDM_MEMORY_SLEEPERS_H
#define OCDM_MEMORY_SLEEPERS_H

#include "memory/pool.h"

/* Tests make tiles small, so that small pools have several. */
#ifndef OCDM__TILE
#define OCDM__TILE 32768u
#endif

/* Heights end here; a sleeper of this height may be any higher. */
#define OCDM__HIGHEST 65535u

#define OCDM__CHUNK 30u

struct chunk {
    uint16_t slot[OCDM__CHUNK]; /* seats of one tile, counted from its first */
    uint32_t next;              /* OCDM_NONE: the last. All but a list's first are full. */
};

/* The sleepers of one tile that carry one class. */
struct roll {
    uint32_t first; /* chunk */
    uint32_t count;
};

struct sleepers {
    uint32_t *set;    /* by seat; of a free seat: the next free one */
    uint16_t *height; /* by seat; 0: free */
    uint32_t count;
    uint32_t used; /* seats that were ever taken */
    uint32_t room;
    uint32_t free_seat;

    struct roll *rolls; /* of class c and tile t: c * tiles + t */
    uint32_t tiles;
    uint32_t class_room;

    struct chunk *chunks;
    uint32_t chunk_used;
    uint32_t chunk_room;
    uint32_t free_chunk;
};

void ocdm__sleepers_init(struct sleepers *sleepers);
void ocdm__sleepers_clear(struct sleepers *sleepers);

/* Makes room for `sets` sleepers with `cells` labels in all and so many classes; on failure they are as they were. */
void ocdm__sleepers_reserve(struct sleepers *sleepers, uint32_t sets, uint32_t classes, size_t cells, bool *failed);

/* A set, which is on no other list of its classes, takes a seat: set->lane. And gives it back. */
void ocdm__sleepers_add(struct sleepers *sleepers, struct pool *pool, uint32_t set, uint16_t height);
void ocdm__sleepers_remove(struct sleepers *sleepers, struct pool *pool, uint32_t set);

/* How many seats of a tile were ever taken; 0 behind the last tile. */
uint32_t ocdm__sleepers_in_tile(const struct sleepers *sleepers, uint32_t tile);

/* Adds to the heights of the sleepers of one tile that carry a class; `height` has one for each of its seats. */
void ocdm__sleepers_raise(const struct sleepers *sleepers, uint32_t class_index, uint32_t tile, uint32_t by, uint16_t *height);

/* The same in the opposite direction. What is at the top may have been higher and stays; nobody sinks below 1. */
void ocdm__sleepers_lower(const struct sleepers *sleepers, uint32_t class_index, uint32_t tile, uint32_t by, uint16_t *height);

#endif
