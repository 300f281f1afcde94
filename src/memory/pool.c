/* The pool's book-keeping: members, their label sets, class counts. Storage and its growth are in pool_storage.c. */
#include "memory/pool.h"

#include "memory/scores_parts.h"

uint32_t ocdm__pool_find(const struct pool *pool, uint64_t id)
{
    uint32_t tag = ocdm__hash_table_tag(ocdm__hash_number(id));
    uint32_t place = tag;
    uint32_t node;
    do
        node = ocdm__hash_table_next(&pool->id_table, tag, &place);
    while (node != OCDM_NONE && pool->nodes[node].id != id);
    return node;
}

uint32_t ocdm__pool_take_node(struct pool *pool, uint64_t id)
{
    uint32_t node = pool->free_node;
    pool->free_node = pool->nodes[node].next;
    pool->nodes[node].id = id;
    return node;
}

void ocdm__pool_give_back_node(struct pool *pool, uint32_t node)
{
    pool->nodes[node].next = pool->free_node;
    pool->free_node = node;
}

void ocdm__pool_know(struct pool *pool, uint32_t node)
{
    if (pool->trusting)
        return;
    ocdm__hash_table_add(&pool->id_table, ocdm__hash_number(pool->nodes[node].id), node);
}

void ocdm__pool_forget(struct pool *pool, uint32_t node)
{
    if (pool->trusting)
        return;
    ocdm__hash_table_remove(&pool->id_table, ocdm__hash_number(pool->nodes[node].id), node);
}

static uint64_t hash_of_set(const struct pool *pool, const uint32_t *class_index, uint32_t count)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash += pool->classes[class_index[i]].hash;
    return hash;
}

static bool set_is(const struct pool *pool, const struct set *set, const uint32_t *class_index, uint32_t count)
{
    if (set->cardinality != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (pool->cells[set->cells + i].class_index != class_index[i])
            return false;
    return true;
}

static uint32_t find_set(const struct pool *pool, uint64_t hash, const uint32_t *class_index, uint32_t count)
{
    uint32_t tag = ocdm__hash_table_tag(hash);
    uint32_t place = tag;
    uint32_t set;
    do
        set = ocdm__hash_table_next(&pool->set_table, tag, &place);
    while (set != OCDM_NONE && !set_is(pool, &pool->sets[set], class_index, count));
    return set;
}

static uint32_t add_set(struct pool *pool, uint64_t hash, const uint32_t *class_index, uint32_t count)
{
    uint32_t number = pool->free_set;
    struct set *set = &pool->sets[number];
    pool->free_set = set->first;
    *set = (struct set){.hash = hash, .cardinality = count, .first = OCDM_NONE};
    set->cells = ocdm__pool_take_cells(pool, count);
    for (uint32_t i = 0; i < count; i++)
        pool->cells[set->cells + i] = (struct cell){.class_index = class_index[i], .set = number};
    ocdm__pool_link_set(pool, number);
    ocdm__hash_table_add(&pool->set_table, hash, number);
    return number;
}

static void remove_set(struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    ocdm__pool_unlink_set(pool, number);
    ocdm__pool_give_back_cells(pool, set->cells, set->cardinality);
    ocdm__hash_table_remove(&pool->set_table, set->hash, number);
    set->first = pool->free_set;
    pool->free_set = number;
}

static uint32_t set_of(struct pool *pool, struct scores *scores, const uint32_t *class_index, uint32_t count)
{
    uint64_t hash = hash_of_set(pool, class_index, count);
    uint32_t number = find_set(pool, hash, class_index, count);
    if (number != OCDM_NONE)
        return number;
    number = add_set(pool, hash, class_index, count);
    if (scores)
        ocdm__scores_add_set(scores, pool, number);
    return number;
}

void ocdm__pool_join(struct pool *pool, struct scores *scores, uint32_t node, const uint32_t *class_index, uint32_t count)
{
    uint32_t number = set_of(pool, scores, class_index, count);
    struct set *set = &pool->sets[number];
    set->size++;
    set->first = ocdm__members_add(pool->nodes, set->first, node);
    if (scores && set->first == node)
        ocdm__scores_first_changed(scores, pool, number);
    pool->nodes[node].set = number;
    pool->nodes[node].position = pool->size;
    pool->node_at[pool->size++] = node;
    for (uint32_t i = 0; i < count; i++)
        pool->classes[class_index[i]].kept++;
    for (uint32_t i = 0; pool->ranking && i < count; i++)
        ocdm__ranking_set(pool->ranking, class_index[i], pool->classes[class_index[i]].kept);
    pool->label_total += count;
    if (!scores)
        return;
    ocdm__scores_joined(scores, pool);
    for (uint32_t i = 0; i < count; i++)
        ocdm__scores_class_grew(scores, pool, class_index[i]);
}

static void forget_member(struct pool *pool, struct scores *scores, uint32_t node)
{
    uint32_t number = pool->nodes[node].set;
    struct set *set = &pool->sets[number];
    for (uint32_t i = 0; i < set->cardinality; i++) {
        uint32_t class_index = pool->cells[set->cells + i].class_index;
        if (scores)
            ocdm__scores_class_shrinks(scores, pool, class_index);
        pool->classes[class_index].kept--;
        if (pool->ranking)
            ocdm__ranking_set(pool->ranking, class_index, pool->classes[class_index].kept);
    }
    pool->label_total -= set->cardinality;
    set->first = ocdm__members_remove(pool->nodes, set->first, node);
    set->size--;
    if (scores && set->size)
        ocdm__scores_first_changed(scores, pool, number);
    else if (scores)
        ocdm__scores_remove_set(scores, pool, number);
    if (!set->size)
        remove_set(pool, number);
}

void ocdm__pool_leave(struct pool *pool, struct scores *scores, uint32_t position)
{
    uint32_t last = pool->size - 1;
    forget_member(pool, scores, pool->node_at[position]);
    if (position != last)
        ocdm__pool_swap(pool, position, last);
    pool->size = last;
}

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

static void cut(struct node *nodes, uint32_t node)
{
    uint32_t previous = nodes[node].previous;
    uint32_t next = nodes[node].next;
    if (nodes[previous].child == node)
        nodes[previous].child = next;
    else
        nodes[previous].next = next;
    if (next != OCDM_NONE)
        nodes[next].previous = previous;
}

uint32_t ocdm__members_remove(struct node *nodes, uint32_t first, uint32_t node)
{
    if (node != first)
        cut(nodes, node);
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
