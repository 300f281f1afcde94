/* Pairing heap: children in a list through `next`; `previous` leads to the left neighbour, or to the parent from the first. */
#include "memory/members.h"

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
