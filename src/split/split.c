/* ocdm_split and its arguments, and ocdm_split_measure. */
#include "split/arrange.h"

#define LARGEST_GROUP 65536u

ocdm_split_options ocdm_split_options_default(void)
{
    return (ocdm_split_options){.size = sizeof(ocdm_split_options), .order = 2};
}

/* ---- arguments ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__check_size(size_t size, size_t known, const char *what, ocdm_error *error)
{
    return size == known ? OCDM_OK
                         : ocdm__fail(error, OCDM_BAD_ARGUMENT, "set its first member to sizeof",
                                      "%s of %zu bytes is not one that this library knows", what, size);
}

/* What the label sets must be before anything is read from them. */
ocdm_status ocdm__check_sets(const ocdm_label_sets *sets, ocdm_error *error)
{
    if (sets == NULL || sets->offsets == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "there are no label sets");
    OCDM_TRY(ocdm__check_size(sets->size, sizeof *sets, "an ocdm_label_sets", error));
    if (sets->count > OCDM_MAX_SPLIT_SAMPLES)
        return ocdm__fail(error, OCDM_LIMIT, "split a random half of them first", "%zu samples are more than %u", sets->count,
                          OCDM_MAX_SPLIT_SAMPLES);
    if (sets->labels == NULL && sets->offsets[sets->count] != sets->offsets[0])
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "there are offsets, but no labels");
    return OCDM_OK;
}

ocdm_status ocdm__check_order(uint32_t order, ocdm_error *error)
{
    return order <= OCDM_MAX_SPLIT_ORDER
               ? OCDM_OK
               : ocdm__fail(error, OCDM_BAD_ARGUMENT, "1 for labels, 2 for pairs, 3 for triples", "the order is %u", order);
}

/* Ends of parts are rounded, not sizes, so that the sizes sum to `count` whatever the shares are. */
ocdm_status ocdm_split_sizes(const double *shares, size_t parts, uint64_t count, uint64_t *sizes, ocdm_error *error)
{
    double sum = 0;
    for (size_t p = 0; p < parts; p++)
        sum += shares[p];
    if (!(fabs(sum - 1) < 1e-6))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "shares are fractions of all samples", "the shares sum to %.9g, not to 1",
                          sum);
    uint64_t from = 0;
    sum = 0;
    for (size_t p = 0; p < parts; p++) {
        if (!(shares[p] > 0))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a share is over 0", "part %zu has the share %g", p + 1, shares[p]);
        sum += shares[p];
        uint64_t end = p + 1 == parts ? count : (uint64_t)(sum * (double)count + 0.5);
        if (end <= from)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take fewer parts, or give it a larger share",
                              "part %zu would be empty: a share of %g of %llu samples", p + 1, shares[p],
                              (unsigned long long)count);
        sizes[p] = end - from;
        from = end;
    }
    return OCDM_OK;
}

/* The parts have all samples, and each has some. */
static ocdm_status check_sizes(const ocdm_label_sets *sets, const uint64_t *sizes, size_t parts, ocdm_error *error)
{
    uint64_t sum = 0;
    if (sizes == NULL || parts == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "there are no parts");
    if (parts > sets->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take fewer parts", "there are more parts, %zu, than samples, %zu", parts,
                          sets->count);
    for (size_t p = 0; p < parts; p++) {
        if (sizes[p] == 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave it out", "part %zu is empty", p + 1);
        sum = sizes[p] > sets->count - sum ? UINT64_MAX : sum + sizes[p];
        if (sum == UINT64_MAX)
            break;
    }
    if (sum == sets->count)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "every sample belongs to one part",
                      "the sizes of the parts do not sum to %zu, the number of samples", sets->count);
}

/* Every part gets a group, and every group fits into a part. */
static ocdm_status check_groups(const struct ocdm__features *features, const uint64_t *sizes, size_t parts, ocdm_error *error)
{
    uint64_t largest = 0, room = 0;
    if (features->size == NULL)
        return OCDM_OK;
    for (uint32_t unit = 0; unit < features->unit_count; unit++)
        largest = features->size[unit] > largest ? features->size[unit] : largest;
    for (size_t p = 0; p < parts; p++)
        room = sizes[p] > room ? sizes[p] : room;
    if (features->unit_count < parts)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take fewer parts", "there are more parts, %zu, than groups, %u", parts,
                          features->unit_count);
    if (largest > room)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "make the part larger, or split the group",
                          "a group has %llu samples, and the largest part %llu", (unsigned long long)largest,
                          (unsigned long long)room);
    if (largest > LARGEST_GROUP)
        return ocdm__fail(error, OCDM_LIMIT, "split the group", "a group has %llu samples; at most %u are possible",
                          (unsigned long long)largest, LARGEST_GROUP);
    return OCDM_OK;
}

/* ---- the split ------------------------------------------------------------------------------------------------------------
 */

/* Features, a greedy start and exchanges; the result is the part of each sample. */
ocdm_status ocdm_split(const ocdm_label_sets *sets, const uint64_t *sizes, size_t parts, const ocdm_split_options *options,
                       uint32_t *part, ocdm_split_work *work, ocdm_error *error)
{
    struct ocdm__features features = {0};
    ocdm_split_work done = {0};
    OCDM_TRY(ocdm__check_sets(sets, error));
    OCDM_TRY(ocdm__check_size(options->size, sizeof *options, "an ocdm_split_options", error));
    OCDM_TRY(ocdm__check_order(options->order, error));
    OCDM_TRY(check_sizes(sets, sizes, parts, error));
    struct ocdm__arrangement arrangement = {.features = &features, .parts = (uint32_t)parts, .sizes = sizes};
    ocdm_status status = ocdm__features_find(&features, sets, options->order, ocdm__fewest(sizes, parts), error);
    OCDM_THEN(status, check_groups(&features, sizes, parts, error));
    OCDM_THEN(status, ocdm__arrangement_begin(&arrangement, options->seed, error));
    if (status == OCDM_OK) {
        ocdm__target_shares(&arrangement);
        status = ocdm__arrange(&arrangement, options->proposals, options->seed, &done, error);
    }
    for (size_t i = 0; status == OCDM_OK && i < sets->count; i++)
        part[i] = arrangement.part[features.unit != NULL ? features.unit[i] : i];
    if (status == OCDM_OK && work != NULL)
        *work = done;
    ocdm__arrangement_clear(&arrangement);
    ocdm__features_clear(&features);
    return status;
}

/* ---- the measure: how near each part is to its share of the labels ---- */

/* The errors of one kind of features in one part. */
struct errors {
    uint64_t common;
    double sum, largest;
};

static double mean_error(const struct errors *errors)
{
    return errors->common > 0 ? errors->sum / (double)errors->common : NAN;
}

/* Counts every feature in every part once, then compares. O(features of all samples). */
static ocdm_status measure_parts(const struct ocdm__features *features, const uint32_t *part, size_t parts,
                                 ocdm_split_balance *balance, ocdm_error *error)
{
    const double samples = features->unit_count;
    uint32_t *counts;
    OCDM_TRY(ocdm__new(&counts, features->count, parts * sizeof *counts, "the labels of the parts", error));
    for (size_t p = 0; p < parts; p++)
        balance[p] = (ocdm_split_balance){0};
    for (uint32_t unit = 0; unit < features->unit_count; unit++) {
        balance[part[unit]].samples++;
        for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++)
            counts[features->list[at] * parts + part[unit]]++;
    }
    for (size_t p = 0; p < parts; p++) {
        struct errors errors[3] = {{0}};
        double size = (double)balance[p].samples;
        for (uint32_t f = 0; f < features->count; f++) {
            const struct ocdm__feature *feature = &features->features[f];
            struct errors *of = &errors[feature->order];
            double count = counts[f * parts + p], expected = size / samples * feature->total, off = fabs(count - expected);
            of->largest = off > of->largest ? off : of->largest;
            if (feature->total >= OCDM_SPLIT_COMMON) { /* common enough for a share to mean something */
                of->common++;
                of->sum += off / expected;
            }
            balance[p].missing += feature->order == 1 && feature->total >= parts && counts[f * parts + p] == 0;
            if (feature->order == 0)
                balance[p].sizes += fabs(count / size - feature->total / samples) / 2;
        }
        balance[p].label_error = mean_error(&errors[1]);
        balance[p].label_largest = errors[1].largest;
        balance[p].pair_error = mean_error(&errors[2]);
        balance[p].pair_largest = errors[2].largest;
    }
    ocdm__release(counts);
    return OCDM_OK;
}

/* Groups do not matter here: a part is judged by its samples. */
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
