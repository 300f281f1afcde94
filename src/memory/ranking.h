/*
 * Classes ranked by m_i, how many samples they have, for policies that need the largest classes: the largest m_i, the classes
 * that have it, and a random class by weight, each in O(log C) for C classes seen.
 *
 * A class that is d samples behind the largest one weighs decay[d]: 0 if only the largest classes count, e^-d for a softmax.
 * The ranks are a binary tree over class indices, so sums run in class order. A rank is computed from its two halves each time
 * one of them changes, so rounding errors do not accumulate.
 */
#ifndef OCDM_MEMORY_RANKING_H
#define OCDM_MEMORY_RANKING_H

#include <stdbool.h>

#include "ocdm/ocdm.h"

/* In a softmax, a class this far behind weighs nothing: e^-64 is below 2^-92. */
#define OCDM__RANKING_REACH 64u

/* A class, or a range of classes. */
struct rank {
    double weight;     /* relative to a class with `most` samples */
    uint32_t most;     /* the largest m_i */
    uint32_t unmarked; /* how many classes that have it are not marked */
};

/* The classes with one m_i, in a list by m_i. Level 0 is the list's head: absent classes are not counted. */
struct level {
    uint32_t classes;
    uint32_t lower;
    uint32_t higher; /* 0: none */
};

struct ranking {
    struct rank *ranks; /* 1 is all classes, 2i and 2i + 1 are the halves of i, `leaves` + c is class c */
    uint32_t leaves;    /* a power of 2, or 0 while there is no class */
    uint32_t present;   /* classes with at least one sample */
    struct level *levels;
    uint32_t level_room;
    uint32_t reach; /* a class at least this far behind weighs nothing */
    double decay[OCDM__RANKING_REACH];
};

/* An empty ranking. softmax: classes weigh e^-d, and levels are counted. OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__ranking_create(struct ranking **ranking, bool softmax, uint32_t samples, ocdm_error *error);
void ocdm__ranking_destroy(struct ranking *ranking);

/* Makes room for so many classes, a power of 2, and for so many samples. On failure the ranking is as it was. */
ocdm_status ocdm__ranking_reserve_classes(struct ranking *ranking, uint32_t classes);
ocdm_status ocdm__ranking_reserve_samples(struct ranking *ranking, uint32_t samples);

/* m_i of a class is now `kept`, one more or one less than before. */
void ocdm__ranking_set(struct ranking *ranking, uint32_t class_index, uint32_t kept);

/* The rank of all classes. `most` is 0 if no class has a sample. */
struct rank ocdm__ranking_all(const struct ranking *ranking);

/* The first class whose weight, added to the weights of all classes before it, exceeds `aim`, which is below the total. */
struct place {
    uint32_t class_index;
    double before; /* the sum without it */
    double sum;    /* the sum with it */
};
struct place ocdm__ranking_find(const struct ranking *ranking, double aim);

/* Marks stay with a class until they are taken off. _unmarked: a class with the largest m_i that has no mark, OCDM_NONE if
 * there is none. */
void ocdm__ranking_mark(struct ranking *ranking, uint32_t class_index);
void ocdm__ranking_unmark(struct ranking *ranking, uint32_t class_index);
bool ocdm__ranking_marked(const struct ranking *ranking, uint32_t class_index);
uint32_t ocdm__ranking_unmarked(const struct ranking *ranking);

#endif
