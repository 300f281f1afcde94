/*
 * What a split balances: labels, pairs and triples of labels, and numbers of labels, as numbered features of units. A unit is
 * what stays together: a sample, or a group of samples.
 */
#ifndef OCDM_SPLIT_FEATURES_H
#define OCDM_SPLIT_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/split.h"

/* The most labels of a feature. */
#define OCDM__MAX_ORDER 3

/* The most features of all samples together: 1 GB. */
#define OCDM__MAX_FEATURE_LIST ((size_t)1 << 28)

/* `order` labels, ascending; the others are 0. Order 0 stands for samples with label[0] labels, or for all samples. */
struct ocdm__feature {
    uint32_t order;
    uint32_t label[OCDM__MAX_ORDER];
    uint32_t total;  /* samples that have it */
    uint32_t number; /* while they are found: in order of appearance */
};

/* In the place of a number of labels: every sample. Groups have this feature. */
#define OCDM__EVERY_SAMPLE UINT32_MAX

/* Start with all bytes zero. */
struct ocdm__features {
    struct ocdm__feature *features; /* sorted by order 0 first, then by labels */
    uint32_t count;
    uint64_t *starts; /* unit_count + 1: the features of unit u are list[starts[u]] up to list[starts[u + 1]], ascending, ... */
    uint32_t *list;   /* ... each as often as samples of the unit have it */
    uint32_t unit_count;
    uint32_t *unit; /* of each sample; NULL: its number */
    uint32_t *size; /* of each unit, in samples; NULL: 1 */
};

/*
 * Finds the features of up to `order` labels. Those of two and more labels that fewer than `fewest` samples have are left out.
 * OCDM_OK, OCDM_BAD_ARGUMENT (offsets that decrease), OCDM_TOO_MANY_LABELS, OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__features_find(struct ocdm__features *features, const ocdm_label_sets *sets, uint32_t order, uint64_t fewest,
                                ocdm_error *error);
void ocdm__features_clear(struct ocdm__features *features);

#endif
