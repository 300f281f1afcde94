/* Implements ocdm/metrics.h with the functions of this folder. */
#include "ocdm/metrics.h"

#include "metrics/metrics.h"

/* The set as the functions of this folder take it; `results`, which is not read, is the caller's room for them. */
static ocdm_status take_set(const ocdm_test_set *set, const void *results, ocdm__test_set *plain, ocdm_error *error)
{
    size_t first_version = offsetof(ocdm_test_set, threshold);
    if (set == NULL || results == NULL || (set->size != sizeof *set && set->size != first_version))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "set size to sizeof(ocdm_test_set)",
                          "a test set and room for scores must be given, of a size that this library knows");
    bool labelled =
        set->label_starts != NULL && (set->labels != NULL || set->label_starts[set->samples] == set->label_starts[0]);
    if (!labelled || (set->logits == NULL && set->samples > 0 && set->classes > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "logits, label_starts and labels must not be NULL");
    *plain = (ocdm__test_set){.logits = set->logits,
                              .samples = set->samples,
                              .classes = set->classes,
                              .label_starts = set->label_starts,
                              .labels = set->labels,
                              .threshold = set->size > first_version ? set->threshold : 0};
    return OCDM_OK;
}

ocdm_status ocdm_score_classes(const ocdm_test_set *set, ocdm_class_score *scores, ocdm_error *error)
{
    ocdm__test_set plain;
    OCDM_TRY(take_set(set, scores, &plain, error));
    return ocdm__score_classes(&plain, scores, error);
}

ocdm_status ocdm_measure(const ocdm_test_set *set, const uint8_t *group, uint8_t wanted, double *values, size_t count,
                         ocdm_error *error)
{
    ocdm__test_set plain;
    ocdm__averages averages;
    OCDM_TRY(take_set(set, values, &plain, error));
    ocdm_class_score *scores;
    OCDM_TRY(ocdm__new(&scores, set->classes, sizeof *scores, "the scores of classes", error));
    ocdm_status status = ocdm__score_classes(&plain, scores, error);
    OCDM_THEN(status, ocdm__measure(&plain, scores, group, wanted, &averages, error));
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        values[i] = i < OCDM__METRIC_COUNT ? averages.value[i] : (double)NAN;
    ocdm__release(scores);
    return status;
}

ocdm_status ocdm_average_precision(const float *scores, const uint8_t *positive, size_t count, double *ap, ocdm_error *error)
{
    if (ap == NULL || (count > 0 && (scores == NULL || positive == NULL)))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "scores, positive and ap must not be NULL");
    if (count >= UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "", "%zu samples are too many", count);
    ocdm_class_score score = {.ap = NAN};
    /* A test set of one column, in which carriers have the label 0. */
    uint64_t *starts = ocdm__allocate(count + 1, sizeof *starts);
    uint32_t *labels = ocdm__allocate(count, sizeof *labels);
    ocdm_status status = OCDM_OK;
    if (starts == NULL || labels == NULL) {
        status = ocdm__fail_memory(error, "the scores of a class");
    } else {
        for (size_t i = 0; i < count; i++)
            starts[i + 1] = starts[i] + (positive[i] != 0);
        ocdm__test_set set = {.logits = scores, .samples = count, .classes = 1, .label_starts = starts, .labels = labels};
        status = ocdm__score_classes(&set, &score, error);
    }
    OCDM_RELEASE(starts, labels);
    OCDM_TRY(status);
    *ap = score.ap;
    return OCDM_OK;
}

ocdm_status ocdm_best_threshold(const ocdm_test_set *set, float *threshold, ocdm_error *error)
{
    ocdm__test_set plain;
    ocdm__operation operation;
    OCDM_TRY(take_set(set, threshold, &plain, error));
    OCDM_TRY(ocdm__operate(&plain, &operation, error));
    *threshold = operation.best.threshold;
    return OCDM_OK;
}

const char *ocdm_metric_name(ocdm_metric metric)
{
    return (unsigned)metric < OCDM__METRIC_COUNT ? ocdm__metric_name((ocdm_metric)metric) : NULL;
}

double ocdm_average(ocdm_metric metric, const ocdm_class_score *scores, size_t class_count)
{
    if ((unsigned)metric >= OCDM__METRIC_COUNT || scores == NULL)
        return NAN;
    return ocdm__average_all(scores, class_count).value[metric];
}

double ocdm_average_group(ocdm_metric metric, const ocdm_class_score *scores, size_t class_count, const uint8_t *group,
                          uint8_t wanted)
{
    if ((unsigned)metric >= OCDM__METRIC_COUNT || scores == NULL || group == NULL)
        return NAN;
    return ocdm__average_group(scores, class_count, group, wanted).value[metric];
}

ocdm_status ocdm_forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting, double *mean,
                            ocdm_error *error)
{
    if (mean == NULL || (map == NULL && evaluations > 0 && tasks > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "map and mean must not be NULL");
    double *room = forgetting != NULL ? NULL : ocdm__allocate(tasks, sizeof *room);
    if (forgetting == NULL && room == NULL)
        return ocdm__fail_memory(error, "the forgetting of tasks");
    *mean = ocdm__forgetting(map, evaluations, tasks, forgetting != NULL ? forgetting : room);
    ocdm__release(room);
    return OCDM_OK;
}

ocdm_status ocdm_transfer(const double *map, size_t evaluations, size_t tasks, const double *ahead, const double *fresh,
                          double *backward, double *forward, ocdm_error *error)
{
    if (backward == NULL || forward == NULL || (map == NULL && evaluations > 0 && tasks > 0) ||
        (ahead == NULL) != (fresh == NULL))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "",
                          "map, backward and forward must not be NULL, nor one of ahead and fresh");
    *backward = ocdm__backward_transfer(map, evaluations, tasks);
    *forward = ahead != NULL ? ocdm__forward_transfer(ahead, fresh, tasks) : (double)NAN;
    return OCDM_OK;
}
