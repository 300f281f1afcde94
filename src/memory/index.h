/*
 * The index of label sets, which makes the exact greedy fast: it finds the label set whose deletion is best without looking at
 * all of them.
 *
 * Deleting a sample with label set Y, k = |Y|, leaves (docs/algorithm.md)
 *     KL = (A - sum of w_i over Y) / (S - k) - ln(S - k) + ln Z,   w_i = f(m_i) - f(m_i - 1) - rho ln n_i,   f(m) = m ln m,
 * so among sets with the same number of labels the highest score, the sum of the class weights w_i, wins, and only the winners
 * of the different numbers of labels meet in floating point. Weights and scores are whole numbers on a grid of 2^-32: exact, in
 * any order, for ever.
 *
 * Each distinct set has a place: its score, the tie order of its first sample, its number. The places of sets with the same
 * number of labels are in blocks of 64. When a class weight changes, the class's list tells which scores change with it.
 *
 * The one idea: each block has a `top`, and no score in it is higher. Scores rise only when samples join; the first search
 * after that reads every block and sets the tops. Until the next join scores only fall, so the tops stay bounds, and a search
 * reads a block again only if its top exceeds the highest score found so far.
 */
#ifndef OCDM_MEMORY_INDEX_H
#define OCDM_MEMORY_INDEX_H

#include "memory/pool.h"

/* Places in a block. Tests use smaller blocks, so that small pools have many. */
#ifndef OCDM__BLOCK
#define OCDM__BLOCK 64u
#endif

/* A 128-bit whole number in two's complement, for sums that outgrow 64 bits on any machine. */
struct wide {
    uint64_t low;
    int64_t high;
};

/* The sets with one number of labels. Their places fill the blocks in order, so that only the last block has free places. */
struct bucket {
    uint32_t *blocks; /* the numbers of its blocks */
    int64_t *tops;    /* of each: no score in it is higher, once there was a search since the last join */
    size_t room;      /* of both */
    uint32_t sets;
    uint32_t listed; /* where it is in `present` */

    int64_t highest; /* of the last search: no score was higher; until a sample joins, none will be */

    /* Of a contender in the last search. */
    int64_t best;      /* the highest score of the sets that may go: of all, unless some are protected */
    int64_t value;     /* the objective that this one leaves */
    int64_t threshold; /* the sets with at least this score tie; INT64_MAX: none */
};

/* The weight of a class as it is in the scores of its sets. */
struct indexed_class {
    int64_t weight;
    bool changed; /* on the list of changed classes */
};

/* The inner loops, compiled for several widths of vector. All give the same results. */
struct ocdm__loops {
    /* The highest score of a bucket. Lowers the tops that it finds too high; sets them all if `all`. Counts places read. */
    int64_t (*highest)(const struct bucket *bucket, const int64_t *score, bool all, uint64_t *read);

    /* Of a bucket's sets with at least `threshold` the place of the one with the least order, OCDM_NONE if there is none. */
    uint32_t (*first)(const struct bucket *bucket, const int64_t *score, const int64_t *order, int64_t threshold,
                      uint64_t *read);
};

#define OCDM__LN_CACHE 256u

struct index {
    /* By place; place p is in block p / OCDM__BLOCK. A free place scores INT64_MIN. */
    int64_t *score;
    int64_t *order; /* the priority of the set's first sample, as a signed number: vectors compare those */
    uint32_t *set;
    uint32_t *rank; /* by block: where it is in its bucket; of a free block the next free one */
    uint32_t block_room;
    uint32_t free_block;

    struct bucket *buckets; /* by number of labels */
    uint32_t *present;      /* the numbers of labels that the pool has now */
    uint32_t present_count;
    uint32_t *contenders; /* of the last search: those whose best set may be the best of all */
    uint32_t contender_count;
    uint32_t bucket_room;
    uint32_t winner; /* the number of labels that was best in the last search */
    bool tops_known; /* there was a search since the last join */

    struct indexed_class *classes;
    uint32_t *changed; /* classes whose weight may not be what the scores have */
    uint32_t changed_count;
    uint32_t changed_before; /* how many of them there were before the last batch, while the memory fills */
    uint32_t class_room;

    bool weighted; /* under KL: scores are kept up to date; else distances.c writes them for each decision */
    double rho;
    struct wide sum; /* A: the sum of f(m_i) - rho m_i ln n_i, from the rounded steps */
    int64_t *steps;  /* f(m) - f(m - 1) on the grid, by m, as far as known */
    uint32_t step_room;
    uint32_t step_known;
    uint64_t ln_argument[OCDM__LN_CACHE];
    double ln_value[OCDM__LN_CACHE];

    const struct ocdm__loops *loops;
    ocdm_work work;
    uint64_t spared; /* deletions that minimums changed */
};

/* ---- upkeep --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__index_create(struct index **index, double rho, bool weighted, uint32_t room, ocdm_error *error);
void ocdm__index_destroy(struct index *index);

/* Makes room for a batch of `count` samples, item i with the labels from first_label[i] to before first_label[i + 1], so that
 * what follows cannot fail. */
ocdm_status ocdm__index_reserve(struct index *index, const struct pool *pool, const uint32_t *first_label, size_t count,
                                ocdm_error *error);

/* The pool tells: a set appeared, a set is about to go, another of its samples comes first; a class has one sample more, is
 * about to have one less; its n_i or its weight changed, which matters under KL only. */
void ocdm__index_add_set(struct index *index, struct pool *pool, uint32_t set);
void ocdm__index_remove_set(struct index *index, struct pool *pool, uint32_t set);
void ocdm__index_first_changed(struct index *index, const struct pool *pool, uint32_t set);
static inline void ocdm__index_class_grew(struct index *index, const struct pool *pool, uint32_t class_index);
static inline void ocdm__index_class_shrinks(struct index *index, const struct pool *pool, uint32_t class_index);
void ocdm__index_class_seen(struct index *index, struct pool *pool, uint32_t class_index);

/* f(m) - f(m - 1) on the grid, for m beyond what is known. */
int64_t ocdm__index_new_step(struct index *index, uint32_t m);

static inline int64_t ocdm__index_step(struct index *index, uint32_t m)
{
    return m < index->step_known ? index->steps[m] : ocdm__index_new_step(index, m);
}

/* ---- searching ------------------------------------------------------------------------------------------------------ */

/* The distance that is left, in multiples of 2^-40, when a sample with so many labels and this score goes; it rises as the
 * score falls. INT64_MAX when no label is left. */
typedef int64_t ocdm__objective(void *context, uint32_t labels, int64_t score);

/* KL less ln Z as an objective; the context is a struct kl_objective. */
struct kl_objective {
    struct index *index;
    const struct pool *pool;
};
ocdm__objective ocdm__index_kl;

/* Finds the sets whose deletion is best under KL, and those that leave at most tolerance / S more. */
void ocdm__index_search(struct index *index, const struct pool *pool, double tolerance);

/* Sets the thresholds of the contenders, given what the best set of each leaves. */
void ocdm__index_tie(struct index *index, const struct pool *pool, double tolerance, ocdm__objective *objective, void *context);

/* Of the sets that tie the one whose first sample has the least priority. */
uint32_t ocdm__index_first(struct index *index);

/* Calls `visit` for each set that ties. */
void ocdm__index_each_tied(struct index *index, void (*visit)(void *context, uint32_t set), void *context);

/* A batch joined a memory with room for `room` more samples; batches have `batch`. */
void ocdm__index_filling(struct index *index, const struct pool *pool, uint32_t room, uint32_t batch);

/* Brings all scores up to date. */
void ocdm__index_settle(struct index *index, const struct pool *pool);

/* The loops that work on this CPU, the fastest first; NULL behind the last. */
const struct ocdm__loops *ocdm__loops_at(size_t number);

/* ---- in every join and leave ---------------------------------------------------------------------------------------- */

static inline void ocdm__wide_add(struct wide *sum, int64_t x)
{
    uint64_t low = sum->low + (uint64_t)x;
    sum->high += (x < 0 ? -1 : 0) + (low < (uint64_t)x);
    sum->low = low;
}

static inline void ocdm__index_note_change(struct index *index, uint32_t class_index)
{
    struct indexed_class *class = &index->classes[class_index];
    if (class->changed)
        return;
    class->changed = true;
    index->changed[index->changed_count++] = class_index;
}

static inline void ocdm__index_class_grew(struct index *index, const struct pool *pool, uint32_t class_index)
{
    if (!index->weighted)
        return;
    const struct class *class = &pool->classes[class_index];
    ocdm__wide_add(&index->sum, ocdm__index_step(index, class->kept) - class->log_seen);
    ocdm__index_note_change(index, class_index);
    index->tops_known = false;
}

static inline void ocdm__index_class_shrinks(struct index *index, const struct pool *pool, uint32_t class_index)
{
    if (!index->weighted)
        return;
    const struct class *class = &pool->classes[class_index];
    ocdm__wide_add(&index->sum, class->log_seen - ocdm__index_step(index, class->kept));
    ocdm__index_note_change(index, class_index);
}

#endif
