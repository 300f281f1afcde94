/* Where the pool's records live: nodes, sets, classes, and the cells of label sets, which are compacted when they run out. */
#ifndef OCDM_MEMORY_POOL_STORAGE_H
#define OCDM_MEMORY_POOL_STORAGE_H

#include "base/random.h"
#include "memory/pool.h"

static inline uint64_t ocdm__hash_of_id(uint64_t id)
{
    return (id ^ (id >> 32)) * OCDM__GOLDEN_STEP;
}

static inline uint64_t ocdm__table_hash_of_class(uint32_t class_id)
{
    return class_id * OCDM__GOLDEN_STEP;
}

/* Brings a class's weight into its record. */
void ocdm__pool_weigh(struct pool *pool, struct class *class);

/* A run of `count` neighbouring cells; room is reserved. */
uint32_t ocdm__pool_take_cells(struct pool *pool, uint32_t count);
void ocdm__pool_give_back_cells(struct pool *pool, uint32_t first, uint32_t count);

/* Makes room on the classes' lists for `labels` more cells; on failure they are as they were. */
ocdm_status ocdm__pool_reserve_lists(struct pool *pool, size_t labels, ocdm_error *error);

/* Empties all lists. */
void ocdm__pool_clear_lists(struct pool *pool);

#endif
