/* The distances and the tie rules, one row each, in the order of their enums. */
#ifndef OCDM_MEMORY_DISTANCES_H
#define OCDM_MEMORY_DISTANCES_H

#include <stdbool.h>

#include "ocdm/ocdm.h"

/*
 * A distance. `term` is a class's part of what is reported, with q = m_i / S. The others are for a scan over all label sets
 * (ocdm__scan_search), NULL for KL, which the index of label sets answers: with T labels left after a deletion, a deletion
 * leaves offset + sum of `base` - scale * (sum of `weight` over the labels that go).
 */
struct distance {
    double (*term)(double q, double kept, double ln_p, double total);
    double (*weight)(uint32_t kept, double p, double most_p, double rest); /* of a class with samples in memory */
    double (*base)(uint32_t kept, double p, double rest);                  /* of a class in play; NULL: 0 */
    double (*offset)(double rest);                                         /* NULL: 0 */
    double (*scale)(double most_p, double rest);
};

/* A tie rule: of samples that tie the one with the smallest priority goes. Priorities are unique. */
struct tie {
    uint64_t (*priority)(uint64_t key_base, uint64_t arrival);
    bool fresh; /* priorities order the samples of a set, but the sample to delete is drawn each time */
};

extern const struct distance ocdm__distances[];
extern const struct tie ocdm__ties[];

#endif
