/*
 * Blocks of label sets of one cardinality: the score of each set and the order of its first sample. Finding the best of them is
 * the inner loop of everything: plain passes over whole numbers, without a branch, compiled for several widths of vector and
 * picked at run time. Whole numbers make the answer the same on all of them.
 */
#ifndef OCDM_MEMORY_LANES_H
#define OCDM_MEMORY_LANES_H

#include <stddef.h>
#include <stdint.h>

#define OCDM__LANES 32

struct block {
    uint32_t used;
    uint32_t next; /* of the same cardinality; only the first may have free lanes */
};

/* Lane n is lane n % OCDM__LANES of block n / OCDM__LANES. Lanes not in use score INT64_MIN. */
struct lanes {
    int64_t *score;
    int64_t *order; /* the priority of the set's first sample, as a signed number */
    uint32_t *set;
    struct block *blocks;
};

/* What a CPU has to search with; both walk over the blocks from `block` to the end of its chain. */
struct ocdm__lane_search {
    /* The largest score. */
    int64_t (*highest)(const struct lanes *lanes, uint32_t block);

    /* The lane with the least order among those with this score; OCDM_NONE when no lane has it. */
    uint32_t (*first)(const struct lanes *lanes, uint32_t block, int64_t score);

    /* The lanes whose score is at least `floor`, which is above INT64_MIN, from *block on: writes at most `room` of them, 32
     * or more, and returns how many. *block becomes the block to continue with, OCDM_NONE at the end of the chain. */
    uint32_t (*from)(const struct lanes *lanes, uint32_t *block, int64_t floor, uint32_t *lane, uint32_t room);

    /* Which of 64 heights are at least `least`, not 0: one bit each. */
    uint64_t (*reach)(const uint16_t *height, uint16_t least);
};

/* Those that work on this CPU, the fastest first; NULL behind the last. */
const struct ocdm__lane_search *ocdm__lane_search_at(size_t index);

/* Priorities compare as unsigned, vectors as signed numbers. */
static inline int64_t ocdm__order(uint64_t priority)
{
    return (int64_t)(priority ^ ((uint64_t)1 << 63));
}

#endif
