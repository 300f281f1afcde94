/*
 * The index that makes the exact greedy fast: for every distinct label set Y the sum of its class weights, kept up to date.
 *
 * Deleting a sample with label set Y, k = |Y|, leaves (see docs/algorithm.md)
 *     KL = (A - sum of w_i over Y) / (S - k) - ln(S - k) + ln Z,   w_i = f(m_i) - f(m_i - 1) - rho ln n_i,   f(m) = m ln m,
 * so among sets of one cardinality the largest sum wins, and only the winners of the cardinalities meet in floating point.
 * Weights and sums are whole numbers on a grid of 2^-32: exact, in any order, for ever.
 *
 * Sets of one cardinality stand in blocks of lanes with their maximum; when a class weight changes, the sets that carry the
 * class hear of it through the class's list. A class that very many sets carry has many samples, so its weight moves by little:
 * such changes wait, and the search allows for them (a bound on what waits), until they add up to something.
 */
#ifndef OCDM_MEMORY_SCORES_H
#define OCDM_MEMORY_SCORES_H

#include "memory/pool.h"

#define OCDM__LANES 16

struct block {
    int64_t max; /* of the lanes in use, unless stale */
    uint32_t used;
    uint32_t next; /* of the same cardinality; only the first may have free lanes */
    bool stale;
    int64_t score[OCDM__LANES];
    uint32_t set[OCDM__LANES];
};

/* A 128-bit whole number in two's complement, for sums that outgrow 64 bits on any machine. */
struct wide {
    uint64_t low;
    int64_t high;
};

#define OCDM__LN_CACHE 256

/* The best that one cardinality has to offer. */
struct contender {
    int64_t value; /* the objective it leaves, in multiples of 2^-40; INT64_MAX for none */
    int64_t score; /* the sum of weights that its sets share */
};

struct scores {
    struct block *blocks;
    uint32_t block_room;
    uint32_t free_block;

    uint32_t *first_block; /* by cardinality */
    uint32_t *place;       /* by cardinality: where it stands in `present` */
    uint32_t *present;     /* the cardinalities that the pool has now */
    struct contender *contenders;
    uint32_t present_count;
    uint32_t cardinality_room;

    uint32_t *changed; /* classes whose weight is to be looked at anew */
    uint32_t changed_count;
    uint32_t *waiting; /* classes whose change has not reached their sets */
    uint32_t waiting_count;
    int64_t waiting_most; /* the largest of these changes, 0 when none is positive */
    uint32_t class_room;

    uint32_t *tied; /* sets */
    uint32_t tied_room;

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

/* The pool tells: a set appeared, a set is about to go; a class has one sample more, is about to have one less. */
void ocdm__scores_add_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_remove_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_class_grew(struct scores *scores, struct pool *pool, uint32_t class_index);
void ocdm__scores_class_shrinks(struct scores *scores, struct pool *pool, uint32_t class_index);

/* n_i changed. */
void ocdm__scores_class_seen(struct scores *scores, struct pool *pool, uint32_t class_index);

/* The sets whose samples are the best to delete under KL, into scores->tied; returns how many. The pool is not empty. */
uint32_t ocdm__scores_best(struct scores *scores, const struct pool *pool);

#endif
