/*
 * The pool: all samples of the memory and, during an update, of the batch; grouped by label set, because samples with equal
 * label sets tie in every distance, so that each distinct set needs looking at only once.
 *
 *   position 0..size-1 -> node (one sample) -> set (a distinct label set) -> cells (its classes)
 *   class -> the cells of the sets that carry it
 *
 * Positions below the capacity are the memory's slots. What is here keeps these structures consistent and the class counts
 * right; it decides nothing.
 */
#ifndef OCDM_MEMORY_POOL_H
#define OCDM_MEMORY_POOL_H

#include "base/hash_table.h"
#include "base/random.h"

/* One sample. Samples of one set form a pairing heap by priority; previous is the parent for a first child. */
struct node {
    uint64_t id;
    uint64_t arrival;
    uint64_t priority; /* by the tie rule: the smallest of a set goes first; unique */
    uint32_t set;
    uint32_t position;
    uint32_t child;
    uint32_t next;
    uint32_t previous;
    uint32_t origin; /* the item of the batch, or OCDM_NONE once it is an old sample */
};

/* A distinct label set that some sample in the pool has. */
struct set {
    uint64_t hash;
    uint32_t cells; /* the first of `cardinality` neighbours, ascending by class index */
    uint32_t cardinality;
    uint32_t size;  /* how many samples */
    uint32_t first; /* the one with the smallest priority: root of the heap */
    uint32_t place; /* where the index of label sets has its score */
};

/* One class of one set. */
struct cell {
    uint32_t class_index;
    uint32_t set;
    uint32_t entry; /* in the class's list */
};

/* The label sets that carry a class: two arrays, so that a walk over the places reads nothing else. */
struct class_list {
    uint32_t *places; /* the set's place in the index of label sets */
    uint32_t *cells;
    uint32_t count;
    uint32_t room;
    uint32_t expected; /* entries that a batch may add, while room is made for it */
};

/* A class, from the moment a sample first carried it. */
struct class
{
    uint64_t hash;       /* random bits; a label set's hash is the sum of its classes' */
    uint64_t seen;       /* n_i */
    uint64_t emptied_at; /* the last step in which it was in play while no sample in memory carried it, and the one before */
    uint64_t emptied_before;
    int64_t log_seen; /* rho ln n_i + ln w_i, each on the grid */
    double ln_weight; /* ln w_i */
    uint32_t id;
    uint32_t kept;    /* m_i */
    uint32_t minimum; /* see ocdm_memory_set_minimum */
    struct class_list list;
};

/* What the caller set for a class, seen or not. */
struct class_setting {
    double weight;
    uint32_t class_id;
    uint32_t minimum; /* OCDM_NONE: that of the pool */
};

/* Free runs of cells have lists by length: one for each length up to 32, then one for each power of 2. */
#define OCDM__RUN_LENGTHS 44

struct pool {
    struct node *nodes;
    uint32_t *node_at; /* by position */
    uint32_t size;
    uint32_t reserved; /* nodes, positions and sets that there is room for */
    uint32_t free_node;

    struct set *sets;
    uint32_t free_set;
    struct ocdm__hash_table set_table;
    struct ocdm__hash_table id_table; /* stays empty in a trusting memory */
    bool trusting;                    /* see memory/internal.h */

    struct class *classes; /* in order of first appearance */
    uint32_t class_count;
    uint32_t class_room;
    struct ocdm__hash_table class_table;
    uint32_t *index_of; /* by class id, of small ids: the class's index or OCDM_NONE */
    uint32_t index_room;
    struct class_setting *settings; /* in the order in which they were given */
    uint32_t setting_count;
    size_t setting_room;
    struct ocdm__hash_table setting_table;
    uint32_t minimum; /* of classes without a setting */

    struct cell *cells;
    uint32_t cell_room;
    uint32_t cell_used; /* those behind it were never used */
    uint32_t cell_live;
    uint32_t free_run[OCDM__RUN_LENGTHS];

    bool has_minimums;

    uint64_t label_total; /* S, the sum of all m_i */

    struct ranking *ranking; /* of the classes by m_i; NULL unless the policy needs it */
};

struct index;

ocdm_status ocdm__pool_create(struct pool *pool, uint32_t room, ocdm_error *error);
void ocdm__pool_destroy(struct pool *pool);

/* Makes room for `room` samples in all; existing ones stay. On failure the pool is as it was. */
ocdm_status ocdm__pool_reserve(struct pool *pool, uint32_t room, ocdm_error *error);

/* Makes room for samples that carry these classes, `count` in all with repeats, beyond those that are there, so that joins
 * cannot fail. */
ocdm_status ocdm__pool_reserve_labels(struct pool *pool, const uint32_t *class_index, size_t count, ocdm_error *error);

/* The index of a class, OCDM_NONE if it never appeared; _add makes it appear (OCDM_NONE: out of memory). */
uint32_t ocdm__pool_class(const struct pool *pool, uint32_t class_id);
uint32_t ocdm__pool_add_class(struct pool *pool, uint32_t class_id);

/* What was set for a class, or would be by default. */
struct class_setting ocdm__pool_setting(const struct pool *pool, uint32_t class_id);

/* Forgets the classes from `count` on, which no sample carries. */
void ocdm__pool_drop_classes(struct pool *pool, uint32_t count);

/* The node of the sample with that id, or OCDM_NONE. */
uint32_t ocdm__pool_find(const struct pool *pool, uint64_t id);

/* A node for a new sample, not a member yet, whose id no other node has; gives it back. Room is reserved. */
uint32_t ocdm__pool_take_node(struct pool *pool, uint64_t id);
void ocdm__pool_give_back_node(struct pool *pool, uint32_t node);

/* Makes a node a member at the next position, in the set of these classes. `index` hears of it; it may be NULL. */
void ocdm__pool_join(struct pool *pool, struct index *index, uint32_t node, const uint32_t *class_index, uint32_t count);

/* Ends the membership of the node at `position`; the member at the last position takes its place. The node, with its id and its
 * label set's cells, is not the pool's any more: give it back. */
void ocdm__pool_leave(struct pool *pool, struct index *index, uint32_t position);

/* Tells the lists of a set's classes its place in the index of label sets. */
void ocdm__pool_set_place(struct pool *pool, uint32_t set, uint32_t place);

/* Exchanges two positions. */
void ocdm__pool_swap(struct pool *pool, uint32_t a, uint32_t b);

/* ---- storage ------------------------------------------------------------------------------------------------------- */

/* Where the pool's records live: nodes, sets, classes, and the cells of label sets. */

/* Brings what was set for a class into its record. */
void ocdm__pool_apply_setting(struct pool *pool, struct class *class);

/* A run of `count` neighbouring cells; room is reserved. */
uint32_t ocdm__pool_take_cells(struct pool *pool, uint32_t count);
void ocdm__pool_give_back_cells(struct pool *pool, uint32_t first, uint32_t count);

/* ---- the members of a label set ------------------------------------------------------------------------------------ */

/* The samples of one label set, as a pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986) inside their nodes: joining costs
 * a comparison, the sample that the tie rule deletes first is available, any other can leave too, and nothing is allocated. */

/* Adds a node to the heap with root `first` (OCDM_NONE: empty); returns the new root. */
uint32_t ocdm__members_add(struct node *nodes, uint32_t first, uint32_t node);

/* Takes any node out of the heap; returns the new root. */
uint32_t ocdm__members_remove(struct node *nodes, uint32_t first, uint32_t node);

/* The node after `node` when walking over the whole heap from its root, in no particular order; OCDM_NONE at the end. */
uint32_t ocdm__members_after(const struct node *nodes, uint32_t node);

/* ---- the ranking of classes ---------------------------------------------------------------------------------------- */

/*
 * Classes ranked by m_i, how many samples they have, for policies that need the largest classes: the largest m_i, and the
 * classes that have it, in O(log C) for C classes seen. The ranks are a binary tree over class indices.
 */

/* A class, or a range of classes. */
struct rank {
    uint32_t most;     /* the largest m_i */
    uint32_t tied;     /* how many classes have it; 0 if it is 0 */
    uint32_t unmarked; /* how many of them are not marked */
};

/* All zero: no class. */
struct ranking {
    struct rank *ranks; /* 1 is all classes, 2i and 2i + 1 are the halves of i, `leaves` + c is class c */
    uint32_t leaves;    /* a power of 2, or 0 while there is no class */
};

/* Makes room for so many classes, a power of 2. False when out of memory; the ranking is as it was then. */
bool ocdm__ranking_reserve_classes(struct ranking *ranking, uint32_t classes);
void ocdm__ranking_destroy(struct ranking *ranking);

/* m_i of a class is now `kept`. */
void ocdm__ranking_set(struct ranking *ranking, uint32_t class_index, uint32_t kept);

/* The rank of all classes. */
struct rank ocdm__ranking_all(const struct ranking *ranking);

/* Number `number` of the classes with the largest m_i, in class order. */
uint32_t ocdm__ranking_find(const struct ranking *ranking, uint32_t number);

/* Marks stay with a class until they are taken off. _unmarked: a class with the largest m_i that has no mark, OCDM_NONE if
 * there is none. */
void ocdm__ranking_mark(struct ranking *ranking, uint32_t class_index);
void ocdm__ranking_unmark(struct ranking *ranking, uint32_t class_index);
bool ocdm__ranking_marked(const struct ranking *ranking, uint32_t class_index);
uint32_t ocdm__ranking_unmarked(const struct ranking *ranking);

#endif
