/* The features of samples, and units that are given to parts so that every feature is in each part as often as it should be. */
#ifndef OCDM_SPLIT_ARRANGE_H
#define OCDM_SPLIT_ARRANGE_H

#include "base/base.h"
#include "ocdm/split.h"

/* ---- features (features.c) ---- */

/*
 * What a split balances: labels, pairs and triples of labels, and numbers of labels, as numbered features of units. A unit is
 * what stays together: a sample, or a group of samples.
 */

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

/* ---- parts (arrange.c) ---- */

/* Counts and targets are in eighths of a sample. */
#define OCDM__EIGHTHS 8

/* Start with all bytes zero but `features`, `parts` and `sizes`. */
struct ocdm__arrangement {
    const struct ocdm__features *features;
    uint32_t parts;
    const uint64_t *sizes; /* of the parts, in samples */
    uint32_t *weights;     /* of the features */
    int32_t *excess;       /* by feature, then part: samples in the part - target, in eighths */
    uint32_t *part;        /* of each unit */
    uint32_t *shuffled;    /* the units in random order, ... */
    uint32_t *related;     /* ... and then by their rarest label, ... */
    uint32_t *place;       /* ... and where they are in that order */
    uint8_t *pinned;       /* of each unit: it is in the first part and stays there; NULL for none */
};

/* Allocates the arrays and shuffles the units. The caller sets the weights, and in `excess` the targets, negative. OCDM_OK,
 * OCDM_NO_MEMORY. Clear it in either case. */
ocdm_status ocdm__arrangement_begin(struct ocdm__arrangement *arrangement, uint64_t seed, ocdm_error *error);
void ocdm__arrangement_clear(struct ocdm__arrangement *arrangement);

/* Sets weights and targets of a split. */
void ocdm__target_shares(struct ocdm__arrangement *arrangement);

/* A pair of which the smallest part would have less than half a sample is not balanced: rounding would give all such pairs to
 * the larger parts. Returns how many samples a pair needs. */
uint64_t ocdm__fewest(const uint64_t *sizes, size_t parts);

/* Gives every unit to a part, and then tries so many exchanges; 0: the default. Sets `part`. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__arrange(struct ocdm__arrangement *arrangement, uint64_t proposals, uint64_t seed, ocdm_split_work *work,
                          ocdm_error *error);

/* ---- arguments (split.c) ---- */

ocdm_status ocdm__check_size(size_t size, size_t known, const char *what, ocdm_error *error);
ocdm_status ocdm__check_sets(const ocdm_label_sets *sets, ocdm_error *error);
ocdm_status ocdm__check_order(uint32_t order, ocdm_error *error);

#endif
