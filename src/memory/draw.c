/*
 * Draws by weights, for replay: each class alike, by the last loss, or by weights of the caller. Like ocdm_memory_draw, a draw
 * follows from the seed and its number, and never touches which samples are kept.
 */
#include "memory/memory.h"

#include <math.h>

#include "base/inner_memory.h"

uint64_t ocdm__memory_draws(const ocdm_memory *memory)
{
    return memory->draws;
}

/* A class of the memory is drawn first, then one of its samples; samples without labels are a class of their own. */
void ocdm__memory_balance(const ocdm_memory *memory, double *weight)
{
    const struct pool *pool = &memory->pool;
    uint32_t unlabelled = 0;
    for (uint32_t slot = 0; slot < pool->size; slot++)
        unlabelled += pool->sets[pool->nodes[pool->node_at[slot]].set].cardinality == 0;
    for (uint32_t slot = 0; slot < pool->size; slot++) {
        const struct set *set = &pool->sets[pool->nodes[pool->node_at[slot]].set];
        weight[slot] = set->cardinality == 0 ? 1 / (double)unlabelled : 0;
        for (uint32_t i = 0; i < set->cardinality; i++)
            weight[slot] += 1 / (double)pool->classes[pool->cells[set->cells + i].class_index].kept;
    }
}

/* Slots with the smallest keys so far, sorted. */
struct smallest {
    uint32_t *slots;
    double *keys;
    size_t count, room;
};

static void offer(struct smallest *smallest, uint32_t slot, double key)
{
    if (smallest->count == smallest->room && !(key < smallest->keys[smallest->count - 1]))
        return;
    size_t at = smallest->count < smallest->room ? smallest->count++ : smallest->count - 1;
    for (; at > 0 && key < smallest->keys[at - 1]; at--) {
        smallest->slots[at] = smallest->slots[at - 1];
        smallest->keys[at] = smallest->keys[at - 1];
    }
    smallest->slots[at] = slot;
    smallest->keys[at] = key;
}

/* The slots whose exponential variables of rate `weight` are smallest: as if one was drawn after the other, each by the weights
 * of those that are left. */
size_t ocdm__draw_apart(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *keys,
                        size_t count)
{
    struct smallest smallest = {.slots = slots, .keys = keys, .room = count};
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_REPLAY), number);
    for (uint32_t slot = 0; count > 0 && slot < size; slot++) {
        double exponential = -log(1 - ocdm__random_unit(&random));
        if (weight[slot] > 0)
            offer(&smallest, slot, exponential / weight[slot]);
    }
    return smallest.count;
}

size_t ocdm__draw_again(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *sums,
                        size_t count)
{
    double total = 0;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_REPLAY), number);
    for (uint32_t slot = 0; slot < size; slot++)
        sums[slot] = total += weight[slot];
    if (!(total > 0))
        return 0;
    for (size_t i = 0; i < count; i++) {
        double aim = ocdm__random_unit(&random) * total;
        uint32_t low = 0, high = size - 1; /* the first slot whose sum is above the aim */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (sums[middle] > aim)
                high = middle;
            else
                low = middle + 1;
        }
        slots[i] = low;
    }
    return count;
}
