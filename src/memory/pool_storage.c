/*
 * Storage of the pool. Nodes and sets come from free lists inside arrays that grow together; classes are appended.
 *
 * Cells come in runs, one run a label set, from a free list per length or from the unused end. A run is never moved or split,
 * so that no update has to move many; the array has at most as many runs of a length as there ever were label sets of that
 * length at a time.
 */
#include "memory/pool.h"

#include "base/logarithm.h"

/* There are never more sets than samples, so both arrays have the same room. */
ocdm_status ocdm__pool_reserve(struct pool *pool, uint32_t room, ocdm_error *error)
{
    if (room <= pool->reserved)
        return OCDM_OK;
    bool failed = false;
    pool->nodes = ocdm__grown(pool->nodes, room, sizeof *pool->nodes, &failed);
    pool->node_at = ocdm__grown(pool->node_at, room, sizeof *pool->node_at, &failed);
    pool->sets = ocdm__grown(pool->sets, room, sizeof *pool->sets, &failed);
    if (failed || !ocdm__hash_table_reserve(&pool->id_table, room) || !ocdm__hash_table_reserve(&pool->set_table, room))
        return ocdm__fail_memory(error, "the samples in memory");
    for (uint32_t i = room; i-- > pool->reserved;) {
        pool->nodes[i].next = pool->free_node;
        pool->free_node = i;
        pool->sets[i] = (struct set){.first = pool->free_set};
        pool->free_set = i;
    }
    pool->reserved = room;
    return OCDM_OK;
}

/* ---- cells ---------------------------------------------------------------------------------------------------------- */

#define EXACT_LENGTHS 32u

/* The list of free runs that a run of `count` cells comes from, and the length of those. */
static uint32_t run_list(uint32_t count, uint32_t *length)
{
    uint32_t list = count;
    *length = count;
    if (count <= EXACT_LENGTHS)
        return list;
    list = EXACT_LENGTHS;
    for (*length = EXACT_LENGTHS; *length < count; *length *= 2)
        list++;
    return list;
}

/* From the list of that length if it has a run, else from the end, for which room is reserved. */
uint32_t ocdm__pool_take_cells(struct pool *pool, uint32_t count)
{
    uint32_t length, list = run_list(count, &length), first = pool->free_run[list];
    pool->cell_live += count;
    if (first != OCDM_NONE) {
        pool->free_run[list] = pool->cells[first].entry;
        return first;
    }
    first = pool->cell_used;
    pool->cell_used += length;
    return first;
}

/* The first cell of a free run says where the next one is. */
void ocdm__pool_give_back_cells(struct pool *pool, uint32_t first, uint32_t count)
{
    uint32_t length, list = run_list(count, &length);
    pool->cell_live -= count;
    if (count == 0)
        return;
    pool->cells[first].entry = pool->free_run[list];
    pool->free_run[list] = first;
}

/* A run is less than twice as long as its label set. */
static ocdm_status reserve_cells(struct pool *pool, size_t labels, ocdm_error *error)
{
    size_t needed = pool->cell_used + 2 * labels;
    if (needed <= pool->cell_room)
        return OCDM_OK;
    if (needed >= OCDM_NONE)
        return ocdm__fail(error, OCDM_LIMIT, "use a smaller memory, or fewer labels a sample",
                          "the label sets in memory would have more than 2^31 labels");
    size_t room = needed < OCDM_NONE / 2 ? needed * 2 : OCDM_NONE - 1;
    struct cell *cells = ocdm__resize(pool->cells, room, sizeof *cells);
    if (cells == NULL)
        return ocdm__fail_memory(error, "the label sets in memory");
    pool->cells = cells;
    pool->cell_room = (uint32_t)room;
    return OCDM_OK;
}

/* ---- lists of label sets -------------------------------------------------------------------------------------------- */

/* For a list that a batch will add `expected` entries to. Lists double, so that a class grows in O(1) on average. */
static bool reserve_entries(struct class_list *list)
{
    size_t needed = (size_t)list->count + list->expected;
    list->expected = 0;
    if (needed <= list->room)
        return true;
    size_t room = ocdm__larger_room(list->room, needed);
    bool failed = room >= OCDM_NONE;
    list->places = failed ? list->places : ocdm__grown(list->places, room, sizeof *list->places, &failed);
    list->cells = failed ? list->cells : ocdm__grown(list->cells, room, sizeof *list->cells, &failed);
    if (!failed)
        list->room = (uint32_t)room;
    return !failed;
}

/* `expected` counts how often the batch names a class, and is 0 again when its list has the room. */
ocdm_status ocdm__pool_reserve_labels(struct pool *pool, const uint32_t *class_index, size_t count, ocdm_error *error)
{
    OCDM_TRY(reserve_cells(pool, count, error));
    bool enough = true;
    for (size_t i = 0; i < count; i++)
        pool->classes[class_index[i]].list.expected++;
    for (size_t i = 0; i < count; i++)
        enough &= reserve_entries(&pool->classes[class_index[i]].list);
    return enough ? OCDM_OK : ocdm__fail_memory(error, "the lists of label sets");
}

/* ---- classes -------------------------------------------------------------------------------------------------------- */

/* Classes with ids below this are in an array by id: most are numbered from 0. */
#define SMALL_IDS 65536u

static bool has_class_id(const void *pool, uint32_t class_index, const void *id)
{
    return ((const struct pool *)pool)->classes[class_index].id == *(const uint32_t *)id;
}

uint32_t ocdm__pool_class(const struct pool *pool, uint32_t class_id)
{
    if (class_id < SMALL_IDS)
        return class_id < pool->index_room ? pool->index_of[class_id] : OCDM_NONE;
    return ocdm__hash_table_find(&pool->class_table, ocdm__hash_number(class_id), has_class_id, pool, &class_id);
}

/* O(1) on average. Everything grows before anything is added, so that it cannot fail half way. The record starts with what was
 * set for the class before it appeared. */
uint32_t ocdm__pool_add_class(struct pool *pool, uint32_t class_id)
{
    uint32_t known = ocdm__pool_class(pool, class_id);
    if (known != OCDM_NONE)
        return known;
    if (pool->class_count == pool->class_room) {
        uint32_t room = pool->class_room > 0 ? pool->class_room * 2 : 64;
        bool failed = false;
        pool->classes = ocdm__grown(pool->classes, room, sizeof *pool->classes, &failed);
        if (failed || !ocdm__hash_table_reserve(&pool->class_table, room) ||
            (pool->ranking != NULL && !ocdm__ranking_reserve_classes(pool->ranking, room)))
            return OCDM_NONE;
        pool->class_room = room;
    }
    if (class_id < SMALL_IDS && class_id >= pool->index_room) {
        uint32_t room = 2 * class_id + 64; /* ids are dense: twice as many as there are is enough for long */
        uint32_t *index_of = ocdm__resize(pool->index_of, room, sizeof *index_of);
        if (index_of == NULL)
            return OCDM_NONE;
        for (uint32_t i = pool->index_room; i < room; i++)
            index_of[i] = OCDM_NONE;
        pool->index_of = index_of;
        pool->index_room = room;
    }
    uint32_t class_index = pool->class_count++;
    struct class *class = &pool->classes[class_index];
    /* Each class has 64 bits that nobody outside can predict, so that neither can the sum over a label set be aimed at. */
    *class = (struct class){.id = class_id, .hash = ocdm__hash_bytes(&(uint64_t){class_id}, sizeof(uint64_t))};
    ocdm__pool_apply_setting(pool, class);
    class->log_seen = ocdm__nearest(class->ln_weight * OCDM__GRID);
    if (class_id < SMALL_IDS)
        pool->index_of[class_id] = class_index;
    else
        ocdm__hash_table_add(&pool->class_table, ocdm__hash_number(class_id), class_index);
    return class_index;
}

/* The last ones, which an update added that was refused or taken back. */
void ocdm__pool_drop_classes(struct pool *pool, uint32_t count)
{
    while (pool->class_count > count) {
        uint32_t class_index = --pool->class_count, class_id = pool->classes[class_index].id;
        OCDM_RELEASE(pool->classes[class_index].list.places, pool->classes[class_index].list.cells);
        if (class_id < SMALL_IDS)
            pool->index_of[class_id] = OCDM_NONE;
        else
            ocdm__hash_table_remove(&pool->class_table, ocdm__hash_number(class_id), class_index);
    }
}

/* ---- the pool  ------------------------------------------------------------------------------------------------------ */

/* Two cells for a sample to begin with; more labels make the array grow. */
ocdm_status ocdm__pool_create(struct pool *pool, uint32_t room, ocdm_error *error)
{
    memset(pool, 0, sizeof *pool);
    pool->free_node = pool->free_set = OCDM_NONE;
    for (int i = 0; i < OCDM__RUN_LENGTHS; i++)
        pool->free_run[i] = OCDM_NONE;
    ocdm_status status = ocdm__pool_reserve(pool, room, error);
    OCDM_THEN(status, reserve_cells(pool, (size_t)room * 2, error));
    if (status != OCDM_OK)
        ocdm__pool_destroy(pool);
    return status;
}

/* Classes own their lists; all else is in a few arrays. */
void ocdm__pool_destroy(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->class_count; i++)
        OCDM_RELEASE(pool->classes[i].list.places, pool->classes[i].list.cells);
    OCDM_RELEASE(pool->nodes, pool->node_at, pool->sets, pool->classes, pool->cells);
    ocdm__hash_table_destroy(&pool->set_table);
    ocdm__hash_table_destroy(&pool->id_table);
    ocdm__hash_table_destroy(&pool->class_table);
    OCDM_RELEASE(pool->index_of, pool->settings);
    ocdm__hash_table_destroy(&pool->setting_table);
    ocdm__ranking_destroy(pool->ranking);
    memset(pool, 0, sizeof *pool);
}
