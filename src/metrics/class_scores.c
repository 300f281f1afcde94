/*
 * Scoring a test set. The logits lie row by row and are wanted column by column, so that a few columns are taken out at a time:
 * as many as one cache line holds.
 */
#include "metrics/class_scores.h"

#include <inttypes.h>
#include <math.h>

#include "base/allocate.h"
#include "base/error.h"
#include "metrics/ranking.h"

#define COLUMNS 16

struct room {
    ocdm__class_score *scores;
    uint64_t *list_ends; /* by class: one beyond its last carrier in `carriers` */
    uint32_t *carriers;  /* the samples that carry class 0, those that carry class 1, ..., each list ascending */
    uint32_t *keys;      /* COLUMNS times one for each sample */
    ocdm__rank_room rank;
};

/* ---- room ----------------------------------------------------------------------------------------------------------- */

static void release_room(struct room *room)
{
    ocdm__release(room->scores);
    ocdm__release(room->list_ends);
    ocdm__release(room->carriers);
    ocdm__release(room->keys);
    ocdm__release(room->rank.entries);
    ocdm__release(room->rank.spare);
    ocdm__release(room->rank.counts);
}

static ocdm_status make_room(struct room *room, const ocdm__test_set *set, size_t label_count, ocdm_error *error)
{
    room->scores = ocdm__allocate(set->classes, sizeof *room->scores);
    room->list_ends = ocdm__allocate(set->classes, sizeof *room->list_ends);
    room->carriers = ocdm__allocate(label_count, sizeof *room->carriers);
    room->keys = ocdm__allocate(set->samples, COLUMNS * sizeof *room->keys);
    room->rank.entries = ocdm__allocate(set->samples, sizeof *room->rank.entries);
    room->rank.spare = ocdm__allocate(set->samples, sizeof *room->rank.spare);
    room->rank.counts = ocdm__allocate(OCDM__RANK_COUNTS, sizeof *room->rank.counts);
    if (room->scores && room->list_ends && room->carriers && room->keys && room->rank.entries && room->rank.spare &&
        room->rank.counts)
        return OCDM_OK;
    return ocdm__fail_memory(error, "the scores of a test set");
}

/* ---- who carries a class -------------------------------------------------------------------------------------------- */

static ocdm_status check_labels(const ocdm__test_set *set, ocdm_error *error)
{
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
    return OCDM_OK;
}

/* list_ends[c] becomes where the list of class c starts, with repeats counted: room for the longest that it can be. */
static void place_lists(const ocdm__test_set *set, struct room *room)
{
    for (uint64_t j = set->label_starts[0]; j < set->label_starts[set->samples]; j++)
        room->list_ends[set->labels[j]]++;
    uint64_t place = 0;
    for (size_t c = 0; c < set->classes; c++) {
        uint64_t length = room->list_ends[c];
        room->list_ends[c] = place;
        place += length;
    }
}

/* A sample joins a list at most once: samples come in order, so that only the last one can be the same. */
static void fill_lists(const ocdm__test_set *set, struct room *room)
{
    place_lists(set, room);
    for (size_t i = 0; i < set->samples; i++)
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++) {
            uint32_t class_number = set->labels[j];
            ocdm__class_score *score = &room->scores[class_number];
            uint64_t end = room->list_ends[class_number];
            if (score->positives > 0 && room->carriers[end - 1] == i)
                continue;
            room->carriers[end] = (uint32_t)i;
            room->list_ends[class_number]++;
            score->positives++;
        }
}

/* ---- what the network says ------------------------------------------------------------------------------------------ */

/* Takes out the columns from `first` on. */
static ocdm_status take_columns(const ocdm__test_set *set, size_t first, size_t width, struct room *room, ocdm_error *error)
{
    for (size_t i = 0; i < set->samples; i++) {
        const float *row = set->logits + i * set->classes + first;
        for (size_t k = 0; k < width; k++) {
            if (isnan(row[k]))
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the network has diverged: try a smaller learning rate",
                                  "the logit of test sample %zu for class %zu is not a number", i, first + k);
            room->scores[first + k].predicted += row[k] > 0;
            room->keys[k * set->samples + i] = ocdm__rank_key(row[k]);
        }
    }
    return OCDM_OK;
}

static void score_class(const ocdm__test_set *set, size_t class_number, const uint32_t *keys, struct room *room)
{
    ocdm__class_score *score = &room->scores[class_number];
    const uint32_t *carriers = room->carriers + room->list_ends[class_number] - score->positives;
    for (size_t i = 0; i < score->positives; i++)
        score->hits += set->logits[carriers[i] * set->classes + class_number] > 0;
    score->ap = ocdm__average_precision(keys, set->samples, carriers, score->positives, &room->rank);
}

static ocdm_status score_all(const ocdm__test_set *set, struct room *room, ocdm_error *error)
{
    fill_lists(set, room);
    for (size_t first = 0; first < set->classes; first += COLUMNS) {
        size_t width = set->classes - first < COLUMNS ? set->classes - first : COLUMNS;
        ocdm_status status = take_columns(set, first, width, room, error);
        if (status != OCDM_OK)
            return status;
        for (size_t k = 0; k < width; k++)
            score_class(set, first + k, room->keys + k * set->samples, room);
    }
    return OCDM_OK;
}

ocdm_status ocdm__score_classes(const ocdm__test_set *set, ocdm__class_score *scores, ocdm_error *error)
{
    if (set->samples > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "use a smaller test set", "a test set of %zu samples: the limit is 2^32 - 1",
                          set->samples);
    ocdm_status status = check_labels(set, error);
    if (status != OCDM_OK)
        return status;
    struct room room = {0};
    status = make_room(&room, set, (size_t)(set->label_starts[set->samples] - set->label_starts[0]), error);
    if (status == OCDM_OK)
        status = score_all(set, &room, error);
    for (size_t c = 0; c < set->classes && status == OCDM_OK; c++)
        scores[c] = room.scores[c];
    release_room(&room);
    return status;
}
