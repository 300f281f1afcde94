/*
 * Which label sets carry a class: for each class an array of cells, so that walking over it waits for nothing but the cache.
 *
 * Arrays have a power of 2 of places and come from one piece of storage, with free lists by length. When its end is near, all
 * lists are laid out anew; the storage is large enough that this, and not an allocation, is what usually happens.
 */
#include "memory/pool_storage.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

#define NO_LIST SIZE_MAX
#define SHORTEST 4u

static unsigned power_of(uint32_t length)
{
    unsigned power = 0;
    while ((uint32_t)1 << power < length)
        power++;
    return power;
}

static size_t take_list(struct pool *pool, uint32_t length)
{
    size_t *free_list = &pool->free_list[power_of(length)];
    size_t list = *free_list;
    if (list == NO_LIST) {
        list = pool->list_used;
        pool->list_used += length;
    } else {
        memcpy(free_list, &pool->lists[list], sizeof *free_list);
    }
    return list;
}

/* A free list keeps the next one's place in its first entry. */
static void give_back_list(struct pool *pool, size_t list, uint32_t length)
{
    size_t *free_list = &pool->free_list[power_of(length)];
    memcpy(&pool->lists[list], free_list, sizeof *free_list);
    *free_list = list;
}

static void lengthen(struct pool *pool, struct class *class)
{
    uint32_t room = class->list_room ? class->list_room * 2 : SHORTEST;
    size_t list = take_list(pool, room);
    if (class->list_room) {
        memcpy(pool->lists + list, pool->lists + class->list, class->list_count * sizeof *pool->lists);
        give_back_list(pool, class->list, class->list_room);
    }
    class->list = list;
    class->list_room = room;
    for (uint32_t i = class->list_count; i < room; i++)
        pool->lists[list + i].lane = OCDM__NOBODYS_LANE;
}

void ocdm__pool_link_set(struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        struct class *class = &pool->classes[pool->cells[c].class_index];
        if (class->list_count == class->list_room)
            lengthen(pool, class);
        pool->cells[c].place = class->list_count;
        pool->lists[class->list + class->list_count++] = (struct listed){c, set->lane};
    }
}

/* The last on the list takes the place. */
void ocdm__pool_unlink_set(struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        struct class *class = &pool->classes[pool->cells[c].class_index];
        struct listed last = pool->lists[class->list + --class->list_count];
        pool->lists[class->list + pool->cells[c].place] = last;
        pool->cells[last.cell].place = pool->cells[c].place;
        pool->lists[class->list + class->list_count].lane = OCDM__NOBODYS_LANE;
    }
}

void ocdm__pool_clear_lists(struct pool *pool)
{
    pool->list_used = 0;
    for (int i = 0; i < 32; i++)
        pool->free_list[i] = NO_LIST;
    for (uint32_t i = 0; i < pool->class_count; i++)
        pool->classes[i].list_count = pool->classes[i].list_room = 0;
}

static void lay_out_anew(struct pool *pool)
{
    ocdm__pool_clear_lists(pool);
    for (uint32_t i = 0; i < pool->size; i++) {
        uint32_t node = pool->node_at[i];
        uint32_t number = pool->nodes[node].set;
        if (pool->sets[number].first == node && !pool->sets[number].asleep)
            ocdm__pool_link_set(pool, number);
    }
}

/* A list that grows from nothing to m cells takes lists of 4, 8, ... up to the first power of 2 that m fits in: less than 4 m
 * in all, or the shortest. What it gives back on the way helps nobody when all classes grow side by side. So lists that are
 * laid out anew and then grow by `labels` cells take no more than `growth`. */
ocdm_status ocdm__pool_reserve_lists(struct pool *pool, size_t labels, ocdm_error *error)
{
    size_t cells = pool->cell_live + labels;
    size_t growth = 4 * cells + SHORTEST * (size_t)pool->class_count;
    if (growth <= pool->list_room - pool->list_used)
        return OCDM_OK;
    if (2 * growth > pool->list_room) {
        size_t room = 4 * growth;
        struct listed *lists = ocdm__resize(pool->lists, room, sizeof *lists);
        if (!lists)
            return ocdm__fail_memory(error, "the lists of label sets");
        pool->lists = lists;
        pool->list_room = room;
    }
    lay_out_anew(pool);
    return OCDM_OK;
}
