/*
 * A block of label sets of one cardinality: their scores, the priority of each one's first sample, and which set is the best of
 * them. Finding the best is the inner loop of everything, so it is compiled for several widths of vector and picked at run
 * time; whole numbers make the answer the same on all of them.
 */
#ifndef OCDM_MEMORY_LANES_H
#define OCDM_MEMORY_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define OCDM__LANES 32

/* Lanes not in use score INT64_MIN. */
struct block {
    int64_t max;       /* the largest score, ... */
    int64_t rank;      /* ... the least rank that goes with it, ... */
    uint32_t champion; /* ... and the lane that has both: unless stale */
    uint32_t used;
    uint32_t next; /* of the same cardinality; only the first may have free lanes */
    bool stale;
    int64_t score[OCDM__LANES];
    int64_t order[OCDM__LANES]; /* the rank of the set's first sample: its priority, as a signed number */
    uint32_t set[OCDM__LANES];
};

typedef void ocdm__crown_function(struct block *block);

/* The fastest way that this CPU has to find the champion of a block. */
ocdm__crown_function *ocdm__crown_for_this_cpu(void);

/* A lane has a new score or a new order: what follows for the champion. */
static inline void ocdm__lane_changed(struct block *block, uint32_t lane)
{
    int64_t score = block->score[lane];
    if (score > block->max || (score == block->max && !block->stale && block->order[lane] <= block->rank)) {
        block->max = score;
        block->rank = block->order[lane];
        block->champion = lane;
        block->stale = false;
    } else if (lane == block->champion) {
        block->stale = true;
    }
}

/* Priorities compare as unsigned, vectors as signed numbers. */
static inline int64_t ocdm__rank(uint64_t priority)
{
    return (int64_t)(priority ^ ((uint64_t)1 << 63));
}

#endif
