/*
 * The index that makes the exact greedy fast: for every distinct label set Y the sum of its class weights, kept up to date.
 *
 * Deleting a sample with label set Y, k = |Y|, leaves (see docs/algorithm.md)
 *     KL = (A - sum of w_i over Y) / (S - k) - ln(S - k) + ln Z,   w_i = f(m_i) - f(m_i - 1) - rho ln n_i,   f(m) = m ln m,
 * so among sets of one cardinality the largest sum wins, and only the winners of the cardinalities meet in floating point.
 * Weights and sums are whole numbers on a grid of 2^-32: exact, in any order, for ever.
 *
 * Sets of one cardinality stand in blocks (lanes.h); when a class weight changes, the sets that carry the class hear of it
 * through the class's list. That is right while the sets are few. When they are many, most are put to sleep: of these only the
 * highest score per cardinality is known, as of a snapshot, and how far class weights have risen since; while that bound stays
 * short of the best deletion found among the others, a sleeper cannot be it, nor tie with it. Else a new snapshot is taken.
 */
#ifndef OCDM_MEMORY_SCORES_H
#define OCDM_MEMORY_SCORES_H

#include "memory/lanes.h"
#include "memory/pool.h"

/* A 128-bit whole number in two's complement, for sums that outgrow 64 bits on any machine. */
struct wide {
    uint64_t low;
    int64_t high;
};

/* The best that one cardinality has to offer. */
struct contender {
    int64_t value; /* the objective it leaves, in multiples of 2^-40; INT64_MAX for an empty rest */
    int64_t score; /* INT64_MIN: it was not looked at closely */
};

/* The sets of one cardinality. */
struct bucket {
    uint32_t first_block; /* OCDM_NONE: none is awake */
    uint32_t asleep;      /* how many are asleep */
    int64_t ceiling;      /* no sleeper scored more at the snapshot */
    uint32_t place;       /* in `present` */
};

/* A set and how much worse than the best its deletion would be. */
struct ranked {
    double gap;
    uint32_t set;
};

#define OCDM__LN_CACHE 256
#define OCDM__RISES 16

struct scores {
    const struct ocdm__lane_search *search;
    struct lanes lanes;
    uint32_t block_room;
    uint32_t free_block;

    struct bucket *buckets; /* by cardinality */
    uint32_t *present;      /* the cardinalities that the pool has now */
    struct contender *contenders;
    uint32_t present_count;
    uint32_t best_place; /* in `present`: where the last best deletion was */
    uint32_t cardinality_room;

    uint32_t *changed; /* classes whose weight is to be looked at anew */
    uint32_t changed_count;
    uint32_t class_room;

    uint32_t awake_count;
    uint32_t *asleep; /* sets */
    uint32_t asleep_count;
    uint32_t awake_limit;
    struct ranked *ranked; /* scratch of a snapshot */
    uint32_t *tied;
    uint32_t set_room; /* for asleep, ranked and tied */

    /* The classes whose weights have risen most since the snapshot, the highest first. */
    uint32_t riser[OCDM__RISES];
    uint32_t riser_count;

    int64_t *steps; /* f(m) - f(m - 1) on the grid, by m, as far as known */
    uint32_t step_room;
    uint32_t step_known;

    bool weighted; /* KL: scores are kept; else the sets are only enumerated */
    double rho;
    struct wide sum; /* A: of f(m_i) - rho m_i ln n_i, from the rounded steps */
    uint64_t ln_argument[OCDM__LN_CACHE];
    double ln_value[OCDM__LN_CACHE];
};

ocdm_status ocdm__scores_create(struct scores **scores, double rho, bool weighted, uint32_t room, ocdm_error *error);
void ocdm__scores_destroy(struct scores *scores);

/* Makes room for so many samples and classes and for label sets of this cardinality, so that what follows cannot fail. */
ocdm_status ocdm__scores_reserve(struct scores *scores, uint32_t samples, uint32_t classes, uint32_t cardinality,
                                 ocdm_error *error);

/* The pool tells: a set appeared, a set is about to go, another of its samples comes first now; n_i changed, which matters
 * under KL with rho != 0 only. */
void ocdm__scores_add_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_remove_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_first_changed(struct scores *scores, const struct pool *pool, uint32_t set);
void ocdm__scores_class_seen(struct scores *scores, struct pool *pool, uint32_t class_index);

/* The set whose first sample is the best to delete under KL; of several, the one whose first sample has the least priority. */
uint32_t ocdm__scores_best(struct scores *scores, struct pool *pool);

/* All sets that tie with the best, into scores->tied; returns how many. */
uint32_t ocdm__scores_all_best(struct scores *scores, struct pool *pool);

/* Appends to scores->tied, which holds `count`, the sets of a cardinality that are awake and have this score; returns the new
 * count. */
uint32_t ocdm__scores_collect(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count);

#endif
