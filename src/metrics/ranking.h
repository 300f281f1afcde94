/*
 * Average precision of one class: how well the samples that carry it rank above those that do not. Scores are turned into whole
 * numbers that sort the same way, so that ranking is a radix sort: no comparison, no allocation, the same result everywhere.
 *
 * Left out: interpolated forms of AP (PASCAL's eleven points), sample weights.
 */
#ifndef OCDM_METRICS_RANKING_H
#define OCDM_METRICS_RANKING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A number that is the smaller, the larger the score; equal scores have equal numbers, 0.0 and -0.0 among them. Infinities rank
 * where they belong; a NaN has no rank and must not come here. */
static inline uint32_t ocdm__rank_key(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    if (bits == 0x80000000u)
        bits = 0;
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

/* How many numbers of 32 bits `ocdm__average_precision` needs for its histograms. */
#define OCDM__RANK_COUNTS 6144u

/* Working room, the caller's; what it holds does not matter. */
typedef struct ocdm__rank_room {
    uint64_t *entries; /* one for each sample */
    uint64_t *spare;   /* as many */
    uint32_t *counts;  /* OCDM__RANK_COUNTS */
} ocdm__rank_room;

/*
 * AP = sum over thresholds of (R_k - R_(k-1)) P_k, from the highest score down; equal scores are one threshold; no
 * interpolation.
 *
 * keys       ocdm__rank_key of each of `count` scores, count < 2^32
 * carriers   the numbers of the samples that carry the class, `carrier_count` of them, no repeats, each below count
 *
 * NaN when no sample carries the class. The order of the samples does not matter to the last bit. O(count).
 */
double ocdm__average_precision(const uint32_t *keys, size_t count, const uint32_t *carriers, size_t carrier_count,
                               const ocdm__rank_room *room);

#endif
