/*
 * Blocks of label sets of one cardinality: their scores, the order of each one's first sample, and which set is the best of a
 * block. Finding the best is the inner loop of everything, so it is compiled for several widths of vector and picked at run
 * time; whole numbers make the answer the same on all of them.
 */
#ifndef OCDM_MEMORY_LANES_H
#define OCDM_MEMORY_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define OCDM__LANES 32

/* Lane n is lane n % OCDM__LANES of block n / OCDM__LANES. Lanes not in use score INT64_MIN. */
struct lanes {
    int64_t *score;
    int64_t *order; /* the priority of the set's first sample, as a signed number */
    uint32_t *set;
};

struct block {
    int64_t max;   /* the largest score; while stale, no score is larger */
    int64_t order; /* the least order that goes with it, and the lane that has both; unknown while stale */
    uint32_t champion;
    uint32_t next; /* of the same cardinality; only the first may have free lanes */
    uint16_t used;
    bool stale;
};

/* Finds the champion among a block's lanes: their scores and orders, and the number of the first. */
typedef void ocdm__crown_function(struct block *block, const int64_t *score, const int64_t *order, uint32_t first);

/* The fastest way that this CPU has to do so. */
ocdm__crown_function *ocdm__crown_for_this_cpu(void);

/* What follows for the champion when a lane's score fell; when it rose; when its order changed. */
static inline void ocdm__lane_fell(struct block *block, uint32_t lane)
{
    block->stale |= lane == block->champion;
}

static inline void ocdm__lane_rose(struct block *block, const struct lanes *lanes, uint32_t lane)
{
    int64_t score = lanes->score[lane];
    if (score < block->max)
        return;
    if (score == block->max && (block->stale || lanes->order[lane] > block->order))
        return;
    block->max = score;
    block->order = lanes->order[lane];
    block->champion = lane;
    block->stale = false;
}

static inline void ocdm__lane_reordered(struct block *block, const struct lanes *lanes, uint32_t lane)
{
    ocdm__lane_fell(block, lane);
    ocdm__lane_rose(block, lanes, lane);
}

/* Priorities compare as unsigned, vectors as signed numbers. */
static inline int64_t ocdm__order(uint64_t priority)
{
    return (int64_t)(priority ^ ((uint64_t)1 << 63));
}

#endif
