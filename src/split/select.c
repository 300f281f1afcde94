/* ocdm_select: a subset is the first of two parts, with targets of its own. */
#include "base/logarithm.h"
#include "split/arrange.h"

/* Samples that lift more labels at once towards their minimum than this are not told apart. */
#define MOST_CHOSEN_AT_ONCE 16u

ocdm_select_options ocdm_select_options_default(void)
{
    return (ocdm_select_options){.size = sizeof(ocdm_select_options), .order = 2};
}

/* What is wanted of a label; all 0 for features that are none. */
struct demand {
    double most;      /* samples that have it */
    double wish;      /* w n^rho */
    uint32_t least;   /* the minimum, at most `most` */
    uint32_t lacking; /* of the minimum */
};

static int compare_labels(const void *left, const void *right)
{
    const struct ocdm__feature *a = left, *b = right;
    return (a->label[0] > b->label[0]) - (a->label[0] < b->label[0]);
}

static void set_demand(struct demand *demand, double most, double wish, uint32_t minimum)
{
    uint32_t least = minimum < most ? minimum : (uint32_t)most;
    *demand = (struct demand){.most = most, .wish = wish, .least = least, .lacking = least};
}

/* The demands of all labels, and then of those that are named. */
static ocdm_status read_demands(const struct ocdm__features *features, const ocdm_select_options *options,
                                struct demand *demands, ocdm_error *error)
{
    uint32_t first = 0;
    while (first < features->count && features->features[first].order == 0)
        first++;
    for (uint32_t f = first; f < features->count; f++) {
        uint32_t total = features->features[f].total;
        set_demand(&demands[f], total, ocdm__exp(options->rho * ocdm__ln(total)), options->minimum);
    }
    for (size_t i = 0; i < options->label_count; i++) {
        const ocdm_select_label *named = &options->labels[i];
        const struct ocdm__feature key = {.label = {named->label}};
        if (!(named->weight >= OCDM_MIN_WEIGHT && named->weight <= OCDM_MAX_WEIGHT))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "weights are from 1e-6 to 1e6", "label %u has the weight %g",
                              named->label, named->weight);
        const struct ocdm__feature *found =
            bsearch(&key, features->features + first, features->count - first, sizeof key, compare_labels);
        struct demand *demand = found != NULL ? &demands[found - features->features] : NULL;
        if (demand != NULL)
            set_demand(demand, demand->most, demand->wish * named->weight, named->minimum);
    }
    return OCDM_OK;
}

/* ---- minimums ------------------------------------------------------------------------------------------------------------ */

/* How many labels of a unit lack samples; with `take`, they lack one less afterwards. */
static uint32_t count_lacking(const struct ocdm__features *features, uint32_t unit, struct demand *demands, bool take)
{
    uint32_t count = 0;
    for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++) {
        struct demand *demand = &demands[features->list[at]];
        bool lacks = demand->lacking > 0;
        count += lacks;
        demand->lacking -= lacks && take;
    }
    return count;
}

/* Pins samples until every label has its minimum, those first that serve most labels. */
static ocdm_status pin_minimums(struct ocdm__arrangement *arrangement, struct demand *demands, ocdm_error *error)
{
    const struct ocdm__features *features = arrangement->features;
    uint64_t pinned = 0;
    OCDM_TRY(ocdm__new(&arrangement->pinned, features->unit_count, 1, "the samples of a subset", error));
    for (uint32_t at_once = MOST_CHOSEN_AT_ONCE; at_once > 0; at_once--)
        for (uint32_t i = 0; i < features->unit_count; i++) {
            uint32_t unit = arrangement->shuffled[i];
            if (arrangement->pinned[unit] || count_lacking(features, unit, demands, false) < at_once)
                continue;
            arrangement->pinned[unit] = 1;
            pinned++;
            count_lacking(features, unit, demands, true);
        }
    if (pinned <= arrangement->sizes[0])
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose more samples, or ask for lower minimums",
                      "the minimums need %llu samples, and %llu are wanted", (unsigned long long)pinned,
                      (unsigned long long)arrangement->sizes[0]);
}

/* ---- targets ------------------------------------------------------------------------------------------------------------- */

static double target_of(const struct demand *demand, double scale)
{
    double target = scale * demand->wish > demand->least ? scale * demand->wish : demand->least;
    return target < demand->most ? target : demand->most;
}

/* Targets of the chosen part and of the rest. A weight is 1 / target, as in the first term of the KL divergence. */
static void set_targets(struct ocdm__arrangement *arrangement, const struct demand *demands)
{
    uint32_t count = arrangement->features->count;
    double labels = 0;
    for (uint32_t f = 0; f < count; f++)
        labels += demands[f].most;
    labels *= (double)arrangement->sizes[0] / (double)(arrangement->sizes[0] + arrangement->sizes[1]);
    /* The scale at which the targets sum to `sum`, or to a little more; minimums may alone sum to more. */
    double low = 0, scale = 0;
    for (uint32_t f = 0; f < count; f++)
        if (demands[f].most > scale * demands[f].wish)
            scale = demands[f].most / demands[f].wish;
    for (int i = 0; i < 200; i++) {
        double middle = low + (scale - low) / 2, total = 0;
        for (uint32_t f = 0; f < count; f++)
            total += target_of(&demands[f], middle);
        if (total < labels)
            low = middle;
        else
            scale = middle;
    }

    for (uint32_t f = 0; f < count; f++) {
        double target = target_of(&demands[f], scale);
        int32_t eighths = (int32_t)(target * OCDM__EIGHTHS + 0.5);
        arrangement->weights[f] = demands[f].most > 0 ? (1u << 20) / (uint32_t)(target < 1 ? 1 : target) : 0;
        arrangement->excess[2 * (size_t)f] = -eighths;
        arrangement->excess[2 * (size_t)f + 1] = eighths - (int32_t)(OCDM__EIGHTHS * demands[f].most);
    }
}

/* How many of each label the subset wants, which samples it cannot do without, and the targets from both. */
static ocdm_status demand_labels(struct ocdm__arrangement *arrangement, const ocdm_select_options *options, ocdm_error *error)
{
    struct demand *demands;
    OCDM_TRY(ocdm__new(&demands, arrangement->features->count, sizeof *demands, "the labels of a subset", error));
    ocdm_status status = read_demands(arrangement->features, options, demands, error);
    OCDM_THEN(status, pin_minimums(arrangement, demands, error));
    if (status == OCDM_OK)
        set_targets(arrangement, demands);
    ocdm__release(demands);
    return status;
}

/* A subset is a split into two parts. With rho 1 and no wishes it is one by the same shares; else it has targets of its own. */
ocdm_status ocdm_select(const ocdm_label_sets *sets, size_t wanted, const ocdm_select_options *options, uint8_t *chosen,
                        ocdm_split_work *work, ocdm_error *error)
{
    struct ocdm__features features = {0};
    ocdm_split_work done = {0};
    OCDM_TRY(ocdm__check_sets(sets, error));
    OCDM_TRY(ocdm__check_size(options->size, sizeof *options, "an ocdm_select_options", error));
    OCDM_TRY(ocdm__check_order(options->order, error));
    if (sets->groups != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "split them, and take a part", "a subset has no groups");
    if (wanted == 0 || wanted >= sets->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "ask for 1 or more, and for fewer than there are",
                          "%zu of %zu samples are wanted", wanted, sets->count);
    if (!(options->rho >= 0 && options->rho <= 1))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "0 is balanced, 1 is as in all samples", "rho is %g", options->rho);
    const uint64_t sizes[2] = {wanted, sets->count - wanted};
    struct ocdm__arrangement arrangement = {.features = &features, .parts = 2, .sizes = sizes};
    bool is_part = !(options->rho < 1) && options->label_count == 0 && options->minimum == 0;
    ocdm_status status = ocdm__features_find(&features, sets, is_part ? options->order : 1, ocdm__fewest(sizes, 2), error);
    OCDM_THEN(status, ocdm__arrangement_begin(&arrangement, options->seed, error));
    if (status == OCDM_OK && is_part)
        ocdm__target_shares(&arrangement);
    else if (status == OCDM_OK)
        status = demand_labels(&arrangement, options, error);
    OCDM_THEN(status, ocdm__arrange(&arrangement, options->proposals, options->seed, &done, error));
    for (size_t i = 0; status == OCDM_OK && i < sets->count; i++)
        chosen[i] = arrangement.part[i] == 0;
    if (status == OCDM_OK && work != NULL)
        *work = done;
    ocdm__arrangement_clear(&arrangement);
    ocdm__features_clear(&features);
    return status;
}
