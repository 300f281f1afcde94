/* Gives units to parts so that every feature is in each part as often as it should be: greedily first, then by exchanges. */
#ifndef OCDM_SPLIT_ARRANGE_H
#define OCDM_SPLIT_ARRANGE_H

#include "ocdm/split.h"
#include "split/features.h"

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
