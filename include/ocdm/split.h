/*
 * ocdm: stratified splits, folds and subsets of multi-label data.
 *
 * A split gives every sample to one of k parts of given sizes, so that each part has its share of every label, of every pair of
 * labels, and of the samples with 0, 1, 2, ... labels.
 *
 *     const double shares[] = {0.8, 0.1, 0.1};
 *     uint64_t sizes[3];
 *     ocdm_split_options options = ocdm_split_options_default();
 *     uint32_t *part = malloc(sets.count * sizeof *part);
 *     if (ocdm_split_sizes(shares, 3, sets.count, sizes, &error) != OCDM_OK ||
 *         ocdm_split(&sets, sizes, 3, &options, part, NULL, &error) != OCDM_OK) { fputs(error.message, stderr); exit(1); }
 *
 * It starts with a greedy arrangement, samples with the most labels and pairs first. Then it exchanges two samples of different
 * parts as long as this lowers
 *
 *     sum over parts and features of w (samples of the part with the feature - the part's share of them)^2
 *
 * with w = 1 / sqrt(n) for a pair that n samples have, and 8 / sqrt(n) + 16 / n for a label; for a label 16 times as much in
 * the last eighth of the search (docs/split.md).
 *
 * For every function in this header: nothing prints, exits or aborts; on error the results have no meaning; the same
 * arguments give the same result on any compiler, optimisation level and CPU; threads may call them at the same time. They need
 * about 4 bytes for each label and pair of each sample, and 4 for each label and pair in each part.
 *
 * As stable as ocdm.h: nothing in this header goes or changes its meaning before 2.0.
 */
#ifndef OCDM_SPLIT_H
#define OCDM_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OCDM_MAX_SPLIT_SAMPLES 16777216u /* samples to be split */
#define OCDM_MAX_SPLIT_ORDER 3u          /* labels that are balanced together */
#define OCDM_SPLIT_COMMON 20u            /* errors are relative to counts: they are given for labels with that many samples */

/* Label sets as compressed sparse rows: sample i has labels[offsets[i]] up to, not including, labels[offsets[i + 1]], in any
 * order; a repeated label counts once. `labels` may be NULL when no sample has any. */
typedef struct ocdm_label_sets {
    size_t size; /* sizeof(ocdm_label_sets) */
    size_t count;
    const uint64_t *offsets; /* count + 1, never decreasing */
    const uint32_t *labels;
    const uint32_t *groups; /* count numbers: samples of one number stay in one part, such as those of a patient or a video;
                               NULL: each sample is free */
} ocdm_label_sets;

/* Start from ocdm_split_options_default() and change what you need. */
typedef struct ocdm_split_options {
    size_t size;        /* sizeof(ocdm_split_options) */
    uint32_t order;     /* 1: labels; 2: pairs of labels too; 3: triples too; 0: a random split; default 2 */
    uint64_t seed;      /* of all random choices; default 0 */
    uint64_t proposals; /* how many exchanges are tried; default 0: 2^19 and one for every second sample */
} ocdm_split_options;

ocdm_split_options ocdm_split_options_default(void);

/* What a split took. */
typedef struct ocdm_split_work {
    uint64_t proposals; /* exchanges tried */
    uint64_t exchanges; /* exchanges made */
    uint64_t late;      /* ... in the last tenth of the first seven eighths: 0 if more proposals would not have helped */
} ocdm_split_work;

/*
 * Sizes from shares: the nearest whole numbers that sum to `count`, by the largest remainders.
 *
 * shares  `parts` numbers over 0 that sum to 1
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT: shares that do not sum to 1, a part that would be empty.
 */
ocdm_status ocdm_split_sizes(const double *shares, size_t parts, uint64_t count, uint64_t *sizes, ocdm_error *error);

/*
 * Splits samples into parts.
 *
 * sizes  `parts` numbers of samples over 0 that sum to sets->count. They are met exactly; with groups, as nearly as the groups
 *        found allow.
 * part   room for sets->count numbers: the part of each sample
 * work   filled on success; may be NULL
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (sizes that do not sum up, an empty part, fewer groups than parts, a group larger than every
 * part), OCDM_TOO_MANY_LABELS, OCDM_NO_MEMORY, OCDM_LIMIT (over OCDM_MAX_SPLIT_SAMPLES samples, 65,536 samples in a group, or
 * 2^28 labels and pairs of all samples together). Cost: a pass over all labels and pairs, then 20 to 200 ns for each proposal.
 */
ocdm_status ocdm_split(const ocdm_label_sets *sets, const uint64_t *sizes, size_t parts, const ocdm_split_options *options,
                       uint32_t *part, ocdm_split_work *work, ocdm_error *error);

/* How near a part is to its share of all samples. An error is |samples with a label in the part - its share|. */
typedef struct ocdm_split_balance {
    uint64_t samples;
    uint64_t missing;     /* labels with as many samples as there are parts, and none in this one */
    double label_error;   /* mean over labels with OCDM_SPLIT_COMMON samples of the error / the share; NaN without any */
    double label_largest; /* the largest error of any label, in samples */
    double pair_error;    /* the same of pairs of labels with OCDM_SPLIT_COMMON samples */
    double pair_largest;
    double sizes; /* half the sum over k of |share of samples with k labels in the part - in all samples| */
} ocdm_split_balance;

/*
 * Measures any split.
 *
 * part     the part of each sample, below `parts`
 * order    1: pairs are not measured and are NaN; 2
 * balance  room for `parts`
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, and as ocdm_split.
 */
ocdm_status ocdm_split_measure(const ocdm_label_sets *sets, const uint32_t *part, size_t parts, uint32_t order,
                               ocdm_split_balance *balance, ocdm_error *error);

/* What is asked of one label in a subset. */
typedef struct ocdm_select_label {
    uint32_t label;
    uint32_t minimum; /* at least so many samples, or all there are */
    double weight;    /* OCDM_MIN_WEIGHT to OCDM_MAX_WEIGHT; 1: as the others */
} ocdm_select_label;

/* Start from ocdm_select_options_default() and change what you need. */
typedef struct ocdm_select_options {
    size_t size;        /* sizeof(ocdm_select_options) */
    double rho;         /* 0: the same number of samples of every label, as far as there are so many; 1: as in all samples; or
                           between; default 0 */
    uint32_t order;     /* as in ocdm_split_options, if rho is 1 and no label is named; default 2 */
    uint64_t seed;      /* default 0 */
    uint64_t proposals; /* as in ocdm_split_options */
    const ocdm_select_label *labels; /* label_count of them, each label once; NULL for none */
    size_t label_count;
    uint32_t minimum; /* of every label that is not named; default 0 */
} ocdm_select_options;

ocdm_select_options ocdm_select_options_default(void);

/*
 * Chooses `wanted` of the samples, so that the numbers of samples with each label come close to
 *
 *     min(n_i, c w_i n_i^rho)    and not less than the minimum
 *
 * for n_i samples with the label and c such that the chosen samples have as many labels as all have on average. With rho 1 and
 * nothing said about labels it is a part of a split.
 *
 * chosen  room for sets->count: 1 for those that are chosen, 0 for all others
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (more samples wanted than there are, groups, minimums that do not fit), and as ocdm_split.
 */
ocdm_status ocdm_select(const ocdm_label_sets *sets, size_t wanted, const ocdm_select_options *options, uint8_t *chosen,
                        ocdm_split_work *work, ocdm_error *error);

#ifdef __cplusplus
}
#endif

#endif
