/*
 * One threshold for all classes: the decisions of all samples and classes are sorted by their score, and the threshold falls
 * from the highest to the lowest while counts of each class, and the means CP and CR of the classes, follow.
 */
#include "metrics/metrics.h"

/* A class of a sample. */
struct decision {
    uint32_t key; /* ocdm__descending_key of its logit */
    uint32_t class;
    uint32_t carried; /* 1: the sample carries the class */
    float logit;
};

/* Decisions that are equal in all of these are interchangeable, so that any sort gives the same order. */
static int compare_decisions(const void *a, const void *b)
{
    const struct decision *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->class != right->class)
        return left->class < right->class ? -1 : 1;
    return (int)left->carried - (int)right->carried;
}

/* The threshold falls; precision and recall of a class change where one of its decisions becomes a prediction. */
static void sweep(const struct decision *decisions, size_t count, const ocdm__class_score *scores, size_t classes,
                  uint32_t *predicted, uint32_t *hits, ocdm__operation *operation)
{
    double precision = 0, recall = 0, counted = 0;
    size_t next = 0; /* the multiple of 1/32 that CR must reach for the next point */
    for (size_t c = 0; c < classes; c++)
        counted += scores[c].positives > 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t class = decisions[i].class;
        double before = predicted[class] > 0 ? (double)hits[class] / predicted[class] : 0;
        predicted[class]++;
        hits[class] += decisions[i].carried;
        precision += (double)hits[class] / predicted[class] - before;
        recall += (double)decisions[i].carried / scores[class].positives;
        bool lowest = decisions[i].logit == -INFINITY; /* no threshold is below it */
        if (lowest || (i + 1 < count && decisions[i + 1].key == decisions[i].key))
            continue;
        /* Half way down to the next logit, which it must not reach again after rounding; below the last, just below it. */
        float above = decisions[i].logit, below = i + 1 < count ? decisions[i + 1].logit : nextafterf(above, -INFINITY);
        float middle = (float)(((double)above + (double)below) / 2);
        ocdm__operating_point point = {middle < above ? middle : below, precision / counted, recall / counted, 0};
        point.cf1 = recall > 0 ? 2 * point.precision * point.recall / (point.precision + point.recall) : 0;
        if (isnan(operation->best.cf1) || point.cf1 > operation->best.cf1)
            operation->best = point;
        /* Rounding must not keep the last point, at which CR is 1, from being reached. */
        double reached = point.recall * (OCDM__OPERATING_POINTS - 1) + 1e-9;
        if ((double)next <= reached) {
            operation->points[operation->count++] = point;
            next = (size_t)reached + 1;
        }
    }
}

double ocdm__score_of(double logit)
{
    return 1 / (1 + exp(-logit));
}

ocdm_status ocdm__operate(const ocdm__test_set *set, ocdm__operation *operation, ocdm_error *error)
{
    *operation = (ocdm__operation){.best = {NAN, NAN, NAN, NAN}};
    ocdm__arena arena = {.last = NULL};
    ocdm__class_score *scores = ocdm__arena_new(&arena, set->classes, sizeof *scores);
    uint8_t *carried = ocdm__arena_new(&arena, ocdm__bits_size(set->classes), 1); /* of a sample, as bits */
    uint32_t *counts = ocdm__arena_new(&arena, set->classes, 2 * sizeof *counts);
    struct decision *decisions = ocdm__arena_new(&arena, set->samples, set->classes * sizeof *decisions);
    ocdm_status status = ocdm__arena_check(&arena, "the thresholds of a test set", error);
    OCDM_THEN(status, ocdm__score_classes(set, scores, error));
    /* The decisions about classes that count, those that have a positive sample. */
    size_t count = 0;
    for (size_t i = 0; status == OCDM_OK && i < set->samples; i++) {
        memset(carried, 0, ocdm__bits_size(set->classes));
        for (uint64_t k = set->label_starts[i]; k < set->label_starts[i + 1]; k++)
            ocdm__bits_add(carried, set->labels[k]);
        for (size_t c = 0; c < set->classes; c++) {
            float logit = set->logits[i * set->classes + c];
            if (scores[c].positives > 0 && ocdm__test_set_knows(set, i, c))
                decisions[count++] =
                    (struct decision){ocdm__descending_key(logit), (uint32_t)c, ocdm__bits_have(carried, c), logit};
        }
    }
    if (status == OCDM_OK) {
        qsort(decisions, count, sizeof *decisions, compare_decisions);
        sweep(decisions, count, scores, set->classes, counts, counts + set->classes, operation);
    }
    ocdm__arena_clear(&arena);
    return status;
}
