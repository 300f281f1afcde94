/* The distances and the tie rules, one row each, in the order of their enums. */
#ifndef OCDM_MEMORY_DISTANCES_H
#define OCDM_MEMORY_DISTANCES_H

#include "base/base.h"

/* What a class contributes to the distance that a deletion leaves, and the scale, which is the same for all classes. */
struct deletion {
    double weight; /* if a label of it goes; of a class with samples in memory */
    double base;   /* of a class in play */
    double scale;
};

/*
 * A distance. `term` is a class's part of what is reported, with q = m_i / S. The others are for a scan over all label sets
 * (ocdm__scan_search), NULL for KL, which the index of label sets answers: with `rest` labels left, a deletion leaves offset +
 * sum of `base` - scale * (sum of `weight` over the labels that go).
 */
struct distance {
    double (*term)(double q, double kept, double ln_p, double total);
    struct deletion (*deletion)(uint32_t kept, double p, double most_p, double rest);
    double (*offset)(double rest); /* NULL: 0 */
};

/* A tie rule: of samples that tie the one with the smallest priority goes. Priorities are unique. */
struct tie {
    uint64_t (*priority)(uint64_t key_base, uint64_t arrival);
    bool fresh; /* priorities order the samples of a set, but the sample to delete is drawn each time */
};

extern const struct distance ocdm__distances[];
extern const struct tie ocdm__ties[];

#endif
