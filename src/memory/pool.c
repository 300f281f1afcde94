/* The pool's book-keeping: members, their label sets, class counts. Storage and its growth are in pool_storage.c. */
#include "memory/pool.h"

#include "memory/index.h"

static bool has_id(const void *pool, uint32_t node, const void *id)
{
    return ((const struct pool *)pool)->nodes[node].id == *(const uint64_t *)id;
}

uint32_t ocdm__pool_find(const struct pool *pool, uint64_t id)
{
    return ocdm__hash_table_find(&pool->id_table, ocdm__hash_number(id), has_id, pool, &id);
}

/* Nodes come from a free list; a trusting memory keeps no table of ids. */
uint32_t ocdm__pool_take_node(struct pool *pool, uint64_t id)
{
    uint32_t node = pool->free_node;
    pool->free_node = pool->nodes[node].next;
    pool->nodes[node].id = id;
    pool->nodes[node].position = OCDM_NONE;
    if (!pool->trusting)
        ocdm__hash_table_add(&pool->id_table, ocdm__hash_number(id), node);
    return node;
}

void ocdm__pool_give_back_node(struct pool *pool, uint32_t node)
{
    if (!pool->trusting)
        ocdm__hash_table_remove(&pool->id_table, ocdm__hash_number(pool->nodes[node].id), node);
    pool->nodes[node].next = pool->free_node;
    pool->free_node = node;
}

/* ---- label sets ----------------------------------------------------------------------------------------------------- */

/* The classes of a label set, ascending. */
struct label_set {
    const uint32_t *class_index;
    uint32_t count;
};

/* Equality of label sets for the table: a hash may be shared by two of them. */
static bool has_labels(const void *context, uint32_t number, const void *wanted)
{
    const struct pool *pool = context;
    const struct label_set *labels = wanted;
    const struct set *set = &pool->sets[number];
    if (set->cardinality != labels->count)
        return false;
    for (uint32_t i = 0; i < labels->count; i++)
        if (pool->cells[set->cells + i].class_index != labels->class_index[i])
            return false;
    return true;
}

void ocdm__pool_set_place(struct pool *pool, uint32_t number, uint32_t place)
{
    struct set *set = &pool->sets[number];
    set->place = place;
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++)
        pool->classes[pool->cells[c].class_index].list.places[pool->cells[c].entry] = place;
}

/* On the list of each class the last takes the free entry. The cells go back as one run, the number onto the free list. */
static void remove_set(struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        struct class_list *list = &pool->classes[pool->cells[c].class_index].list;
        uint32_t entry = pool->cells[c].entry, last = --list->count;
        list->cells[entry] = list->cells[last];
        list->places[entry] = list->places[last];
        pool->cells[list->cells[entry]].entry = entry;
    }
    ocdm__pool_give_back_cells(pool, set->cells, set->cardinality);
    ocdm__hash_table_remove(&pool->set_table, set->hash, number);
    set->first = pool->free_set;
    pool->free_set = number;
}

/* The hash of a set is a sum, so that it does not depend on the order of the classes. A new set enters the lists of its classes
 * before any sample joins it. */
static uint32_t set_of(struct pool *pool, struct index *index, const uint32_t *class_index, uint32_t count)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash += pool->classes[class_index[i]].hash;

    struct label_set labels = {class_index, count};
    uint32_t number = ocdm__hash_table_find(&pool->set_table, hash, has_labels, pool, &labels);
    if (number != OCDM_NONE)
        return number;
    number = pool->free_set;
    struct set *set = &pool->sets[number];
    pool->free_set = set->first;
    *set = (struct set){.hash = hash, .cardinality = count, .first = OCDM_NONE};
    set->cells = ocdm__pool_take_cells(pool, count);
    for (uint32_t i = 0; i < count; i++) {
        struct class_list *list = &pool->classes[class_index[i]].list;
        pool->cells[set->cells + i] = (struct cell){.class_index = class_index[i], .set = number, .entry = list->count};
        list->cells[list->count++] = set->cells + i;
    }
    ocdm__hash_table_add(&pool->set_table, hash, number);
    if (index != NULL)
        ocdm__index_add_set(index, pool, number);
    return number;
}

/* ---- members -------------------------------------------------------------------------------------------------------- */

/* The set first, so that the index has a place for it; then the counts, of which the index hears one by one. */
void ocdm__pool_join(struct pool *pool, struct index *index, uint32_t node, const uint32_t *class_index, uint32_t count)
{
    uint32_t number = set_of(pool, index, class_index, count);
    struct set *set = &pool->sets[number];
    set->size++;
    set->first = ocdm__members_add(pool->nodes, set->first, node);
    if (index != NULL && set->first == node)
        ocdm__index_first_changed(index, pool, number);
    pool->nodes[node].set = number;
    pool->nodes[node].position = pool->size;
    pool->node_at[pool->size++] = node;
    pool->label_total += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kept = ++pool->classes[class_index[i]].kept;
        if (pool->ranking != NULL)
            ocdm__ranking_set(pool->ranking, class_index[i], kept);
        if (index != NULL)
            ocdm__index_class_grew(index, pool, class_index[i]);
    }
}

/* The other way round: the index is told before a count falls, since the step that it takes off is that of the count before.
 * The last member moves into the gap, so that positions stay 0..size-1. */
void ocdm__pool_leave(struct pool *pool, struct index *index, uint32_t position)
{
    uint32_t node = pool->node_at[position], number = pool->nodes[node].set, last = pool->size - 1;
    struct set *set = &pool->sets[number];
    for (uint32_t i = 0; i < set->cardinality; i++) {
        uint32_t class_index = pool->cells[set->cells + i].class_index;
        if (index != NULL)
            ocdm__index_class_shrinks(index, pool, class_index);
        uint32_t kept = --pool->classes[class_index].kept;
        if (pool->ranking != NULL)
            ocdm__ranking_set(pool->ranking, class_index, kept);
    }
    pool->label_total -= set->cardinality;
    set->first = ocdm__members_remove(pool->nodes, set->first, node);
    set->size--;
    if (index != NULL && set->size > 0)
        ocdm__index_first_changed(index, pool, number);
    else if (index != NULL)
        ocdm__index_remove_set(index, pool, number);
    if (set->size == 0)
        remove_set(pool, number);
    if (position != last)
        ocdm__pool_swap(pool, position, last);
    pool->size = last;
}

/* Nodes stay where they are; only the two tables of positions change. */
void ocdm__pool_swap(struct pool *pool, uint32_t a, uint32_t b)
{
    uint32_t node = pool->node_at[a];
    pool->node_at[a] = pool->node_at[b];
    pool->node_at[b] = node;
    pool->nodes[pool->node_at[a]].position = a;
    pool->nodes[pool->node_at[b]].position = b;
}

/* ---- the members of a label set ------------------------------------------------------------------------------------ */

/* Pairing heap: children in a list through `next`; `previous` leads to the left neighbour, or to the parent from the first. */

/* Joins two roots; the one with the larger priority becomes the first child of the other. */
static uint32_t meld(struct node *nodes, uint32_t a, uint32_t b)
{
    if (nodes[b].priority < nodes[a].priority) {
        uint32_t other = a;
        a = b;
        b = other;
    }
    uint32_t child = nodes[a].child;
    nodes[b].next = child;
    nodes[b].previous = a;
    if (child != OCDM_NONE)
        nodes[child].previous = b;
    nodes[a].child = b;
    return a;
}

/* A single comparison: the new node is a heap of one, melded with the root. */
uint32_t ocdm__members_add(struct node *nodes, uint32_t first, uint32_t node)
{
    nodes[node].child = nodes[node].next = nodes[node].previous = OCDM_NONE;
    if (first == OCDM_NONE)
        return node;
    uint32_t root = meld(nodes, first, node);
    nodes[root].next = nodes[root].previous = OCDM_NONE;
    return root;
}

/* One heap of a list of siblings, in two passes: pairs from left to right, stacked through `next`, then all from the right. */
static uint32_t meld_siblings(struct node *nodes, uint32_t sibling)
{
    uint32_t stack = OCDM_NONE;
    while (sibling != OCDM_NONE) {
        uint32_t a = sibling;
        uint32_t b = nodes[a].next;
        sibling = b == OCDM_NONE ? OCDM_NONE : nodes[b].next;
        uint32_t pair = b == OCDM_NONE ? a : meld(nodes, a, b);
        nodes[pair].next = stack;
        stack = pair;
    }
    if (stack == OCDM_NONE)
        return OCDM_NONE;
    uint32_t root = stack;
    uint32_t rest = nodes[root].next;
    while (rest != OCDM_NONE) {
        uint32_t pair = rest;
        rest = nodes[pair].next;
        root = meld(nodes, root, pair);
    }
    nodes[root].next = nodes[root].previous = OCDM_NONE;
    return root;
}

/* The children of the node become one heap, which takes its place at the root or is melded with it. O(log n) on average over
 * many calls. */
uint32_t ocdm__members_remove(struct node *nodes, uint32_t first, uint32_t node)
{
    if (node != first) {
        uint32_t previous = nodes[node].previous;
        uint32_t next = nodes[node].next;
        if (nodes[previous].child == node)
            nodes[previous].child = next;
        else
            nodes[previous].next = next;
        if (next != OCDM_NONE)
            nodes[next].previous = previous;
    }
    uint32_t orphans = meld_siblings(nodes, nodes[node].child);
    if (node == first)
        return orphans;
    if (orphans == OCDM_NONE)
        return first;
    uint32_t root = meld(nodes, first, orphans);
    nodes[root].next = nodes[root].previous = OCDM_NONE;
    return root;
}

/* Down to the first child, else right, else up until there is a right: no stack, however deep the heap. */
uint32_t ocdm__members_after(const struct node *nodes, uint32_t node)
{
    if (nodes[node].child != OCDM_NONE)
        return nodes[node].child;
    for (;;) {
        if (nodes[node].next != OCDM_NONE)
            return nodes[node].next;
        while (nodes[node].previous != OCDM_NONE && nodes[nodes[node].previous].child != node)
            node = nodes[node].previous;
        node = nodes[node].previous;
        if (node == OCDM_NONE)
            return OCDM_NONE;
    }
}
