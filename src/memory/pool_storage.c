/*
 * Storage of the pool. Nodes and sets come from free lists inside arrays that grow together; classes are appended.
 *
 * Cells come in runs, one run a label set, from a free list per run length or from the unused end. When the end is reached the
 * live ones are copied to a second array: label sets of any size in one piece, no fragmentation, and, once the arrays are
 * twice what the pool needs, no allocation.
 */
#include "memory/pool.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

ocdm_status ocdm__pool_create(struct pool *pool, uint32_t room, ocdm_error *error)
{
    memset(pool, 0, sizeof *pool);
    pool->free_node = pool->free_set = OCDM_NONE;
    for (int i = 0; i < OCDM__RUN_LENGTHS; i++)
        pool->free_run[i] = OCDM_NONE;
    ocdm__pool_clear_lists(pool);
    ocdm_status status = ocdm__pool_reserve(pool, room, error);
    if (status == OCDM_OK)
        status = ocdm__pool_reserve_cells(pool, (size_t)room * 4, error);
    if (status != OCDM_OK)
        ocdm__pool_destroy(pool);
    return status;
}

void ocdm__pool_destroy(struct pool *pool)
{
    ocdm__release(pool->nodes);
    ocdm__release(pool->node_at);
    ocdm__release(pool->sets);
    ocdm__release(pool->classes);
    ocdm__release(pool->cells);
    ocdm__release(pool->spare_cells);
    ocdm__release(pool->lists);
    ocdm__hash_table_destroy(&pool->set_table);
    ocdm__hash_table_destroy(&pool->id_table);
    ocdm__hash_table_destroy(&pool->class_table);
    ocdm__release(pool->index_of);
    ocdm__release(pool->weights);
    ocdm__hash_table_destroy(&pool->weight_table);
    ocdm__ranking_destroy(pool->ranking);
    memset(pool, 0, sizeof *pool);
}

/* ---- nodes and sets ------------------------------------------------------------------------------------------------- */

static void chain_new_records(struct pool *pool, uint32_t room)
{
    for (uint32_t i = room; i-- > pool->reserved;) {
        pool->nodes[i].next = pool->free_node;
        pool->free_node = i;
        pool->sets[i] = (struct set){.first = pool->free_set};
        pool->free_set = i;
    }
    pool->reserved = room;
}

/* Both tables anew, twice as large: their entries are found again through the members. */
static ocdm_status grow_tables(struct pool *pool, uint32_t room)
{
    struct ocdm__hash_table ids = {0}, sets = {0};
    if (ocdm__hash_table_create(&ids, room) != OCDM_OK || ocdm__hash_table_create(&sets, room) != OCDM_OK) {
        ocdm__hash_table_destroy(&ids);
        return OCDM_NO_MEMORY;
    }
    for (uint32_t i = 0; i < pool->size; i++) {
        uint32_t node = pool->node_at[i];
        const struct set *set = &pool->sets[pool->nodes[node].set];
        if (!pool->trusting)
            ocdm__hash_table_add(&ids, ocdm__hash_number(pool->nodes[node].id), node);
        if (set->first == node)
            ocdm__hash_table_add(&sets, set->hash, pool->nodes[node].set);
    }
    ocdm__hash_table_destroy(&pool->id_table);
    ocdm__hash_table_destroy(&pool->set_table);
    pool->id_table = ids;
    pool->set_table = sets;
    return OCDM_OK;
}

ocdm_status ocdm__pool_reserve(struct pool *pool, uint32_t room, ocdm_error *error)
{
    if (room <= pool->reserved)
        return OCDM_OK;
    bool failed = false;
    pool->nodes = ocdm__grown(pool->nodes, room, sizeof *pool->nodes, &failed);
    pool->node_at = ocdm__grown(pool->node_at, room, sizeof *pool->node_at, &failed);
    pool->sets = ocdm__grown(pool->sets, room, sizeof *pool->sets, &failed);
    if (!failed && pool->ranking)
        failed = ocdm__ranking_reserve_samples(pool->ranking, room) != OCDM_OK;
    if (failed || grow_tables(pool, room) != OCDM_OK)
        return ocdm__fail_memory(error, "the samples in memory");
    chain_new_records(pool, room);
    return OCDM_OK;
}

/* ---- classes -------------------------------------------------------------------------------------------------------- */

/* In any memory, classes with ids below this are in an array by id: most are numbered from 0. */
#define SMALL_IDS 65536u

/* Each class has 64 bits that nobody outside can predict, so that neither can the sum over a label set be aimed at. */
static uint64_t hash_of_class(uint64_t class_id)
{
    return ocdm__hash_bytes(&class_id, sizeof class_id);
}

/* Whether the array by id has this class, if it has appeared. */
static bool is_indexed(const struct pool *pool, uint32_t class_id)
{
    return pool->trusting || class_id < SMALL_IDS;
}

uint32_t ocdm__pool_class(const struct pool *pool, uint32_t class_id)
{
    if (is_indexed(pool, class_id))
        return class_id < pool->index_room ? pool->index_of[class_id] : OCDM_NONE;
    if (!pool->class_count)
        return OCDM_NONE;
    uint32_t tag = ocdm__hash_table_tag(ocdm__hash_number(class_id));
    uint32_t place = tag;
    uint32_t class_index;
    do
        class_index = ocdm__hash_table_next(&pool->class_table, tag, &place);
    while (class_index != OCDM_NONE && pool->classes[class_index].id != class_id);
    return class_index;
}

/* Makes room for a class id in the array by id; they are dense, so that twice as many as there are is enough for long. */
static bool reserve_index(struct pool *pool, uint32_t class_id)
{
    if (class_id < pool->index_room)
        return true;
    uint32_t room = class_id < UINT32_MAX / 2 ? 2 * class_id + 64 : UINT32_MAX;
    uint32_t *index_of = ocdm__resize(pool->index_of, room, sizeof *index_of);
    if (index_of == NULL)
        return false;
    for (uint32_t i = pool->index_room; i < room; i++)
        index_of[i] = OCDM_NONE;
    pool->index_of = index_of;
    pool->index_room = room;
    return true;
}

static ocdm_status grow_classes(struct pool *pool)
{
    uint32_t room = pool->class_room ? pool->class_room * 2 : 64;
    struct class *classes = ocdm__resize(pool->classes, room, sizeof *classes);
    if (!classes)
        return OCDM_NO_MEMORY;
    pool->classes = classes;
    if (pool->ranking && ocdm__ranking_reserve_classes(pool->ranking, room) != OCDM_OK)
        return OCDM_NO_MEMORY;
    struct ocdm__hash_table table = {0};
    if (ocdm__hash_table_create(&table, room) != OCDM_OK)
        return OCDM_NO_MEMORY;
    for (uint32_t i = 0; i < pool->class_count; i++)
        ocdm__hash_table_add(&table, ocdm__hash_number(classes[i].id), i);
    ocdm__hash_table_destroy(&pool->class_table);
    pool->class_table = table;
    pool->class_room = room;
    return OCDM_OK;
}

uint32_t ocdm__pool_add_class(struct pool *pool, uint32_t class_id)
{
    uint32_t known = ocdm__pool_class(pool, class_id);
    if (known != OCDM_NONE)
        return known;
    if (pool->class_count == pool->class_room && grow_classes(pool) != OCDM_OK)
        return OCDM_NONE;
    if (is_indexed(pool, class_id) && !reserve_index(pool, class_id))
        return OCDM_NONE;
    uint32_t class_index = pool->class_count++;
    pool->classes[class_index] = (struct class){.id = class_id, .hash = hash_of_class(class_id)};
    ocdm__pool_weigh(pool, &pool->classes[class_index]);
    pool->classes[class_index].log_seen = pool->classes[class_index].log_weight;
    ocdm__hash_table_add(&pool->class_table, ocdm__hash_number(class_id), class_index);
    if (is_indexed(pool, class_id))
        pool->index_of[class_id] = class_index;
    return class_index;
}

void ocdm__pool_drop_classes(struct pool *pool, uint32_t count)
{
    while (pool->class_count > count) {
        uint32_t class_index = --pool->class_count;
        if (is_indexed(pool, pool->classes[class_index].id))
            pool->index_of[pool->classes[class_index].id] = OCDM_NONE;
        ocdm__hash_table_remove(&pool->class_table, ocdm__hash_number(pool->classes[class_index].id), class_index);
    }
}

/* ---- cells ---------------------------------------------------------------------------------------------------------- */

uint32_t ocdm__pool_take_cells(struct pool *pool, uint32_t count)
{
    pool->cell_live += count;
    if (count < OCDM__RUN_LENGTHS && pool->free_run[count] != OCDM_NONE) {
        uint32_t first = pool->free_run[count];
        pool->free_run[count] = pool->cells[first].place;
        return first;
    }
    uint32_t first = pool->cell_used;
    pool->cell_used += count;
    return first;
}

void ocdm__pool_give_back_cells(struct pool *pool, uint32_t first, uint32_t count)
{
    pool->cell_live -= count;
    if (!count || count >= OCDM__RUN_LENGTHS)
        return;
    pool->cells[first].place = pool->free_run[count];
    pool->free_run[count] = first;
}

static void move_cells(struct pool *pool, struct set *set, uint32_t number)
{
    memcpy(pool->cells + pool->cell_used, pool->spare_cells + set->cells, set->cardinality * sizeof *pool->cells);
    set->cells = pool->cell_used;
    pool->cell_used += set->cardinality;
    ocdm__pool_link_set(pool, number);
}

/* Copies the live cells to the other array; the classes' lists follow. */
static void compact_cells(struct pool *pool)
{
    struct cell *from = pool->cells;
    pool->cells = pool->spare_cells;
    pool->spare_cells = from;
    pool->cell_used = 0;
    for (int i = 0; i < OCDM__RUN_LENGTHS; i++)
        pool->free_run[i] = OCDM_NONE;
    ocdm__pool_clear_lists(pool);
    for (uint32_t i = 0; i < pool->size; i++) {
        uint32_t node = pool->node_at[i];
        uint32_t number = pool->nodes[node].set;
        if (pool->sets[number].first == node)
            move_cells(pool, &pool->sets[number], number);
    }
}

ocdm_status ocdm__pool_reserve_cells(struct pool *pool, size_t labels, ocdm_error *error)
{
    ocdm_status status = ocdm__pool_reserve_lists(pool, labels, error);
    if (status != OCDM_OK)
        return status;
    if (labels <= pool->cell_room - pool->cell_used)
        return OCDM_OK;
    size_t wanted = ((size_t)pool->cell_live + labels) * 2;
    if (wanted > pool->cell_room) {
        if (wanted > UINT32_MAX)
            return ocdm__fail(error, OCDM_LIMIT, "use a smaller memory, or fewer labels a sample",
                              "the label sets in memory would have more than 2^31 labels");
        bool failed = false;
        pool->cells = ocdm__grown(pool->cells, wanted, sizeof *pool->cells, &failed);
        pool->spare_cells = ocdm__grown(pool->spare_cells, wanted, sizeof *pool->spare_cells, &failed);
        if (failed)
            return ocdm__fail_memory(error, "the label sets in memory");
        pool->cell_room = (uint32_t)wanted;
    }
    compact_cells(pool);
    return OCDM_OK;
}

/* ---- lists of label sets ------------------------------------------------------------------------------------------- */

/*
 * Which label sets carry a class: for each class an array of cells, so that walking over it waits for nothing but the cache.
 *
 * Arrays have a power of 2 of places and come from one piece of storage, with free lists by length. When its end is near, all
 * lists are laid out anew; the storage is large enough that this, and not an allocation, is what usually happens.
 */

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

static uint32_t longer(const struct class_list *list)
{
    return list->room ? list->room * 2 : SHORTEST;
}

static void lengthen(struct pool *pool, struct class_list *list)
{
    uint32_t room = longer(list);
    size_t first = take_list(pool, room);
    if (list->room) {
        memcpy(pool->lists + first, pool->lists + list->first, list->count * sizeof *pool->lists);
        give_back_list(pool, list->first, list->room);
    }
    list->first = first;
    list->room = room;
    for (uint32_t i = list->count; i < room; i++)
        pool->lists[first + i].lane = OCDM__NOBODYS_LANE;
}

static struct class_list *list_for(const struct pool *pool, const struct set *set, uint32_t cell)
{
    struct class *class = &pool->classes[pool->cells[cell].class_index];
    return set->asleep ? &class->asleep : &class->list;
}

void ocdm__pool_link_set(struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        struct class_list *list = list_for(pool, set, c);
        if (list->count == list->room)
            lengthen(pool, list);
        pool->cells[c].place = list->count;
        pool->lists[list->first + list->count++] = (struct listed){c, set->lane};
    }
}

/* The last on the list takes the place. */
void ocdm__pool_unlink_set(struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        struct class_list *list = list_for(pool, set, c);
        struct listed last = pool->lists[list->first + --list->count];
        pool->lists[list->first + pool->cells[c].place] = last;
        pool->cells[last.cell].place = pool->cells[c].place;
        pool->lists[list->first + list->count].lane = OCDM__NOBODYS_LANE;
    }
}

void ocdm__pool_clear_lists(struct pool *pool)
{
    pool->list_used = 0;
    for (int i = 0; i < 32; i++)
        pool->free_list[i] = NO_LIST;
    for (uint32_t i = 0; i < pool->class_count; i++)
        pool->classes[i].list = pool->classes[i].asleep = (struct class_list){0};
}

static void lay_out_anew(struct pool *pool)
{
    ocdm__pool_clear_lists(pool);
    for (uint32_t i = 0; i < pool->size; i++) {
        uint32_t node = pool->node_at[i];
        uint32_t number = pool->nodes[node].set;
        if (pool->sets[number].first == node)
            ocdm__pool_link_set(pool, number);
    }
}

/* A list that grows from nothing to m cells takes lists of 4, 8, ... up to the first power of 2 that m fits in: less than 4 m
 * in all, or the shortest. What it gives back on the way helps nobody when all classes grow side by side. So the lists of sets
 * that are awake, with `labels` more cells, take no more than this when they are laid out anew, and when all others wake. */
static size_t growth_of(const struct pool *pool, size_t labels)
{
    return 4 * (pool->cell_live + labels) + SHORTEST * (size_t)pool->class_count;
}

bool ocdm__pool_can_sleep(const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    size_t length = growth_of(pool, 0);
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        const struct class_list *list = &pool->classes[pool->cells[c].class_index].asleep;
        length += list->count == list->room ? longer(list) : 0;
    }
    return length <= pool->list_room - pool->list_used;
}

ocdm_status ocdm__pool_reserve_lists(struct pool *pool, size_t labels, ocdm_error *error)
{
    size_t growth = growth_of(pool, labels);
    if (growth <= pool->list_room - pool->list_used)
        return OCDM_OK;
    if (3 * growth > pool->list_room) {
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
