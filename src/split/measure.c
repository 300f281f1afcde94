/* ocdm_split_measure: how near each part is to its share of the labels. */
#include <math.h>

#include "base/allocate.h"
#include "base/error.h"
#include "split/arrange.h"

/* The errors of one kind of features in one part. */
struct errors {
    uint64_t common;
    double sum, largest;
};

static void add_error(struct errors *errors, const struct ocdm__feature *feature, double count, double share)
{
    double expected = share * feature->total, error = fabs(count - expected);
    errors->largest = error > errors->largest ? error : errors->largest;
    if (feature->total < OCDM_SPLIT_COMMON)
        return;
    errors->common++;
    errors->sum += error / expected;
}

static double mean_error(const struct errors *errors)
{
    return errors->common > 0 ? errors->sum / (double)errors->common : NAN;
}

/* Sets all but `samples`. `counts` are those of the part; `parts` apart. */
static void measure_part(const struct ocdm__features *features, const uint32_t *counts, size_t parts, uint64_t samples,
                         ocdm_split_balance *balance)
{
    struct errors errors[3] = {{0}};
    double share = (double)balance->samples / (double)samples, distance = 0;
    for (uint32_t f = 0; f < features->count; f++) {
        const struct ocdm__feature *feature = &features->features[f];
        double count = counts[f * parts];
        add_error(&errors[feature->order], feature, count, share);
        balance->missing += feature->order == 1 && feature->total >= parts && counts[f * parts] == 0;
        if (feature->order == 0)
            distance += fabs(count / (double)balance->samples - feature->total / (double)samples) / 2;
    }
    balance->label_error = mean_error(&errors[1]);
    balance->label_largest = errors[1].largest;
    balance->pair_error = mean_error(&errors[2]);
    balance->pair_largest = errors[2].largest;
    balance->sizes = distance;
}

static ocdm_status measure_parts(const struct ocdm__features *features, const uint32_t *part, size_t parts,
                                 ocdm_split_balance *balance, ocdm_error *error)
{
    uint32_t *counts;
    OCDM_TRY(ocdm__new(&counts, features->count, parts * sizeof *counts, "the labels of the parts", error));
    for (size_t p = 0; p < parts; p++)
        balance[p] = (ocdm_split_balance){0};
    for (uint32_t unit = 0; unit < features->unit_count; unit++) {
        balance[part[unit]].samples++;
        for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++)
            counts[features->list[at] * parts + part[unit]]++;
    }
    for (size_t p = 0; p < parts; p++)
        measure_part(features, counts + p, parts, features->unit_count, &balance[p]);
    ocdm__release(counts);
    return OCDM_OK;
}

ocdm_status ocdm_split_measure(const ocdm_label_sets *sets, const uint32_t *part, size_t parts, uint32_t order,
                               ocdm_split_balance *balance, ocdm_error *error)
{
    struct ocdm__features features = {0};
    OCDM_TRY(ocdm__check_sets(sets, error));
    if (order < 1 || order > 2)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "1 for labels, 2 for pairs of them too", "the order is %u", order);
    for (size_t i = 0; i < sets->count; i++)
        if (part[i] >= parts)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "sample %zu is in part %u of %zu", i, part[i], parts);
    ocdm_label_sets ungrouped = *sets;
    ungrouped.groups = NULL;
    ocdm_status status = ocdm__features_find(&features, &ungrouped, order, OCDM_SPLIT_COMMON, error);
    OCDM_THEN(status, measure_parts(&features, part, parts, balance, error));
    ocdm__features_clear(&features);
    return status;
}
