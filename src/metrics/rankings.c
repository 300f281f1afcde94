/*
 * Rankings of classes within samples: ranking loss, coverage and one-error. A tie between a carried class and another one
 * counts as wrong, as in scikit-learn.
 */
#include "metrics/metrics.h"

struct label_ranking {
    ocdm__arena arena;
    uint32_t *columns; /* the classes that are ranked */
    size_t column_count;
    const uint8_t *counted;
    uint8_t *carried;              /* of each class, whether the present sample carries it */
    float *own;                    /* the scores of those that it carries, rising */
    size_t own_count, known_count; /* and how many of all that are ranked are known */
};

static int by_score(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static void take_carried(struct label_ranking *ranking, const ocdm__test_set *set, size_t sample)
{
    ranking->own_count = 0;
    for (uint64_t j = set->label_starts[sample]; j < set->label_starts[sample + 1]; j++) {
        uint32_t label = set->labels[j];
        if (!ranking->counted[label] || ranking->carried[label] || !ocdm__test_set_knows(set, sample, label))
            continue;
        ranking->carried[label] = 1;
        ranking->own[ranking->own_count++] = set->logits[sample * set->classes + label];
    }
    qsort(ranking->own, ranking->own_count, sizeof *ranking->own, by_score);
    ranking->known_count = set->known == NULL ? ranking->column_count : 0;
    for (size_t i = 0; set->known != NULL && i < ranking->column_count; i++)
        ranking->known_count += ocdm__test_set_knows(set, sample, ranking->columns[i]);
}

/* A sample that carries none of the classes, or all of them, has no pair: its ranking loss is 0. */
static void add_sample(const struct label_ranking *ranking, const ocdm__test_set *set, size_t sample, ocdm__rank_sums *sums)
{
    const float *row = set->logits + sample * set->classes;
    uint64_t wrong = 0, beaten = 0;
    bool first_is_wrong = false;
    size_t own = ranking->own_count, others = ranking->known_count - own;
    sums->samples += ranking->known_count > 0;
    if (own == 0)
        return;
    for (size_t i = 0; i < ranking->column_count; i++) {
        float score = row[ranking->columns[i]];
        if (score < ranking->own[0] || ranking->carried[ranking->columns[i]] ||
            !ocdm__test_set_knows(set, sample, ranking->columns[i]))
            continue;
        /* How many of the carried classes score at most `score`. */
        size_t below = 0, high = ranking->own_count;
        while (below < high) {
            size_t middle = below + (high - below) / 2;
            if (ranking->own[middle] <= score)
                below = middle + 1;
            else
                high = middle;
        }

        wrong += below;
        beaten++;
        first_is_wrong |= below == own;
    }
    sums->labelled++;
    sums->one_errors += first_is_wrong;
    sums->covered += own + beaten;
    if (others > 0)
        sums->ranking_loss += (double)wrong / ((double)own * (double)others);
}

ocdm_status ocdm__rank_classes(const ocdm__test_set *set, const uint8_t *counted, ocdm__rank_sums *sums, ocdm_error *error)
{
    struct label_ranking ranking = {.counted = counted};
    *sums = (ocdm__rank_sums){.samples = 0};
    ranking.columns = ocdm__arena_new(&ranking.arena, set->classes, sizeof *ranking.columns);
    ranking.carried = ocdm__arena_new(&ranking.arena, set->classes, sizeof *ranking.carried);
    ranking.own = ocdm__arena_new(&ranking.arena, set->classes, sizeof *ranking.own);
    ocdm_status status = ocdm__arena_check(&ranking.arena, "the rankings of a test set", error);
    for (uint32_t c = 0; status == OCDM_OK && c < set->classes; c++)
        if (counted[c])
            ranking.columns[ranking.column_count++] = c;
    for (size_t i = 0; status == OCDM_OK && i < set->samples; i++) {
        take_carried(&ranking, set, i);
        add_sample(&ranking, set, i, sums);
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
            ranking.carried[set->labels[j]] = 0;
    }
    ocdm__arena_clear(&ranking.arena);
    return status;
}
