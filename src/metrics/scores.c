/*
 * Scores a test set class by class. The logits are stored row by row and needed column by column, so a few columns are
 * extracted at a time, as many as fit one cache line. Average precision ranks by radix sort, three passes of eleven bits over
 * (key, whether the sample carries the class): no comparisons, and the same result on every machine. AUC comes from the same
 * ranking, the calibration error from bins of probabilities.
 */
#include "metrics/metrics.h"

#include "base/logarithm.h"

#define COLUMNS 16 /* floats in a cache line */

/* ---- ranking -------------------------------------------------------------------------------------------------------- */

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define PASSES 3
#define RANK_COUNTS (DIGITS * PASSES) /* a histogram for each pass */

_Static_assert(DIGIT_BITS *PASSES >= 32, "the passes cover a key");

/* Scratch memory of a ranking; its contents do not matter between calls. */
struct rank_room {
    uint64_t *entries; /* one for each sample */
    uint64_t *spare;   /* the same number */
    uint32_t *counts;  /* RANK_COUNTS */
};

/* The lowest bit of an entry says whether the sample carries the class; the key is above it. */
static uint32_t digit_of(uint64_t entry, unsigned pass)
{
    return (uint32_t)(entry >> (1 + pass * DIGIT_BITS) & (DIGITS - 1));
}

/* Sorts by key; the result is in one of the two halves of the room. */
static const uint64_t *sort_entries(const struct rank_room *room, size_t count)
{
    uint64_t *from = room->entries, *to = room->spare;
    memset(room->counts, 0, RANK_COUNTS * sizeof *room->counts);
    for (size_t i = 0; i < count; i++)
        for (unsigned pass = 0; pass < PASSES; pass++)
            room->counts[pass * DIGITS + digit_of(from[i], pass)]++;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint32_t *places = room->counts + pass * DIGITS;
        if (places[digit_of(from[0], pass)] == count)
            continue; /* all have the same digit */
        /* Turns how many there are of each digit into where the first of them goes. */
        uint32_t place = 0;
        for (size_t i = 0; i < DIGITS; i++) {
            uint32_t here = places[i];
            places[i] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++)
            to[places[digit_of(from[i], pass)]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* What the thresholds of a ranking add up to. */
struct rank_sums {
    double precision; /* AP times the carriers */
    uint64_t wins;    /* AUC times twice the pairs: at most 2 (2^31)^2 */
};

/* Recall rises by (hits of this threshold) / (carriers), so the division by the carriers can wait until the end. Each carrier
 * wins over the other samples below its threshold, and half over those at it. */
static struct rank_sums sum_thresholds(const uint64_t *sorted, size_t count, size_t carrier_count)
{
    struct rank_sums sums = {.wins = 0};
    size_t hits = 0, others = count - carrier_count;
    for (size_t i = 0; i < count && hits < carrier_count;) {
        uint64_t key = sorted[i] >> 1;
        size_t hits_before = hits, start = i;
        for (; i < count && sorted[i] >> 1 == key; i++)
            hits += sorted[i] & 1;
        size_t here = hits - hits_before, others_before = start - hits_before, others_up_to_here = i - hits;
        sums.wins += (uint64_t)here * (2 * (uint64_t)others - others_before - others_up_to_here);
        if (here > 0)
            sums.precision += (double)here * ((double)hits / (double)i);
    }
    return sums;
}

/* Keeps the entries of the samples that the class counts for; returns how many. */
static size_t drop_unknown(const ocdm__test_set *set, size_t class_number, uint64_t *entries)
{
    size_t kept = 0;
    if (set->known == NULL)
        return set->samples;
    for (size_t i = 0; i < set->samples; i++)
        if (ocdm__test_set_knows(set, i, class_number))
            entries[kept++] = entries[i];
    return kept;
}

/* ---- calibration ---------------------------------------------------------------------------------------------------- */

/* As many as Guo et al. (2017) use. A bin includes its upper edge, as in scikit-learn's calibration_curve. */
#define BINS 15

/* Probabilities on a grid: sums of whole numbers do not depend on the order of the samples. 2^32 of them fit. */
#define PROBABILITY_GRID 0x1p31

struct bin {
    uint32_t carriers;
    uint64_t probability; /* the sum, on the grid */
};

/* e^x for x <= 0, to 2^-37: finer than the grid, and several times faster than ocdm__exp. Powers of 2 are taken out, the rest
 * is Taylor's polynomial of degree 10. Below e^-40 it is 0. */
static double tail_of(double x)
{
    static const double inverse[] = {1,        1. / 2,    1. / 6,     1. / 24,     1. / 120,
                                     1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800};
    static const double ln2 = 0.69314718055994530942;
    if (x < -40)
        return 0;
    int64_t exponent = ocdm__nearest(x / ln2);
    double rest = x - (double)exponent * ln2, sum = inverse[9];
    for (int n = 8; n >= 0; n--)
        sum = sum * rest + inverse[n];
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return (sum * rest + 1) * power;
}

/* Through e^-|x|, which cannot overflow. */
static double probability_of(float logit)
{
    double tail = tail_of(logit > 0 ? -(double)logit : (double)logit);
    return (logit > 0 ? 1 : tail) / (1 + tail);
}

static size_t bin_of(double probability)
{
    double place = ceil(probability * BINS);
    return place > 1 ? (size_t)place - 1 : 0;
}

struct room {
    ocdm__class_score *scores;
    uint64_t *list_ends; /* by class: one beyond its last carrier in `carriers` */
    uint32_t *carriers;  /* the samples that carry class 0, those that carry class 1, ..., each list ascending */
    uint32_t *keys;      /* COLUMNS times one for each sample */
    struct bin bins[COLUMNS][BINS];
    struct rank_room rank;
};

/* ---- what the network says ------------------------------------------------------------------------------------------ */

/* Takes out the columns from `first` on. */
static ocdm_status take_columns(const ocdm__test_set *set, size_t first, size_t width, struct room *room, ocdm_error *error)
{
    memset(room->bins, 0, sizeof room->bins);
    for (size_t i = 0; i < set->samples; i++) {
        const float *row = set->logits + i * set->classes + first;
        for (size_t k = 0; k < width; k++) {
            if (isnan(row[k]))
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the network has diverged: try a smaller learning rate",
                                  "the logit of test sample %zu for class %zu is not a number", i, first + k);
            room->keys[k * set->samples + i] = ocdm__descending_key(row[k]);
            if (!ocdm__test_set_knows(set, i, first + k))
                continue;
            room->scores[first + k].samples++;
            room->scores[first + k].predicted += row[k] > set->threshold;
            double probability = probability_of(row[k]);
            struct bin *bin = &room->bins[k][bin_of(probability)];
            bin->probability += (uint64_t)(probability * PROBABILITY_GRID + 0.5);
        }
    }
    return OCDM_OK;
}

/* Of the class in column `k` of those that were taken out. */
static void score_class(const ocdm__test_set *set, size_t class_number, size_t k, struct room *room)
{
    ocdm__class_score *score = &room->scores[class_number];
    const uint32_t *carriers = room->carriers + room->list_ends[class_number] - score->positives;
    for (size_t i = 0; i < score->positives; i++) {
        float logit = set->logits[carriers[i] * set->classes + class_number];
        score->hits += logit > set->threshold;
        room->bins[k][bin_of(probability_of(logit))].carriers++;
    }
    /* ECE = sum over bins of n_b / n |mean probability - share of carriers|; n_b cancels. */
    double gaps = 0;
    for (size_t b = 0; b < BINS; b++)
        gaps += fabs((double)room->bins[k][b].probability / PROBABILITY_GRID - room->bins[k][b].carriers);
    score->ece = score->positives > 0 ? gaps / (double)score->samples : (double)NAN;
    /* AP = sum over thresholds of (R_k - R_(k-1)) P_k, from the highest score down; equal scores are one threshold, without
     * interpolation. `carriers` lists the samples that carry the class, each once. The order of the samples does not change the
     * results, not even their last bit. */
    const uint32_t *keys = room->keys + k * set->samples;
    size_t carrier_count = score->positives, others = score->samples - carrier_count;
    score->ap = score->auc = NAN;
    if (carrier_count == 0)
        return;
    for (size_t i = 0; i < set->samples; i++)
        room->rank.entries[i] = (uint64_t)keys[i] << 1;
    for (size_t i = 0; i < carrier_count; i++)
        room->rank.entries[carriers[i]] |= 1;
    size_t count = drop_unknown(set, class_number, room->rank.entries);
    struct rank_sums sums = sum_thresholds(sort_entries(&room->rank, count), count, carrier_count);
    score->ap = sums.precision / (double)carrier_count;
    if (others > 0)
        score->auc = (double)sums.wins / (2 * (double)carrier_count * (double)others);
}

static ocdm_status score_all(const ocdm__test_set *set, struct room *room, ocdm_error *error)
{
    /* A sample joins a list at most once: samples come in order, so that only the last one can be the same. */
    /* list_ends[c] becomes where the list of class c starts, with repeats counted: room for the longest that it can be. */
    for (uint64_t j = set->label_starts[0]; j < set->label_starts[set->samples]; j++)
        room->list_ends[set->labels[j]]++;
    uint64_t place = 0;
    for (size_t c = 0; c < set->classes; c++) {
        uint64_t length = room->list_ends[c];
        room->list_ends[c] = place;
        place += length;
    }
    for (size_t i = 0; i < set->samples; i++)
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++) {
            uint32_t class_number = set->labels[j];
            ocdm__class_score *score = &room->scores[class_number];
            uint64_t end = room->list_ends[class_number];
            if ((score->positives > 0 && room->carriers[end - 1] == i) || !ocdm__test_set_knows(set, i, class_number))
                continue;
            room->carriers[end] = (uint32_t)i;
            room->list_ends[class_number]++;
            score->positives++;
        }
    for (size_t first = 0; first < set->classes; first += COLUMNS) {
        size_t width = set->classes - first < COLUMNS ? set->classes - first : COLUMNS;
        OCDM_TRY(take_columns(set, first, width, room, error));
        for (size_t k = 0; k < width; k++)
            score_class(set, first + k, k, room);
    }
    return OCDM_OK;
}

ocdm_status ocdm__score_classes(const ocdm__test_set *set, ocdm__class_score *scores, ocdm_error *error)
{
    if (set->samples > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "use a smaller test set", "a test set of %zu samples: the limit is 2^32 - 1",
                          set->samples);
    for (size_t i = 0; i < set->samples; i++) {
        if (set->label_starts[i] > set->label_starts[i + 1])
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "each label set starts where the one before it ends",
                              "the labels of test sample %zu end before they start", i);
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
            if (set->labels[j] >= set->classes)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "labels are numbers of columns, from 0",
                                  "test sample %zu carries class %" PRIu32 ", but the scores have %zu columns", i,
                                  set->labels[j], set->classes);
    }
    struct room room = {0};
    ocdm__arena arena = {.last = NULL};
    size_t label_count = (size_t)(set->label_starts[set->samples] - set->label_starts[0]);
    room.scores = ocdm__arena_new(&arena, set->classes, sizeof *room.scores);
    room.list_ends = ocdm__arena_new(&arena, set->classes, sizeof *room.list_ends);
    room.carriers = ocdm__arena_new(&arena, label_count, sizeof *room.carriers);
    room.keys = ocdm__arena_new(&arena, set->samples, COLUMNS * sizeof *room.keys);
    room.rank.entries = ocdm__arena_new(&arena, set->samples, sizeof *room.rank.entries);
    room.rank.spare = ocdm__arena_new(&arena, set->samples, sizeof *room.rank.spare);
    room.rank.counts = ocdm__arena_new(&arena, RANK_COUNTS, sizeof *room.rank.counts);
    ocdm_status status = ocdm__arena_check(&arena, "the scores of a test set", error);
    OCDM_THEN(status, score_all(set, &room, error));
    for (size_t c = 0; c < set->classes && status == OCDM_OK; c++)
        scores[c] = room.scores[c];
    ocdm__arena_clear(&arena);
    return status;
}
