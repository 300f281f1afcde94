/* Averages over classes: one pass of sums, then the formulas. */
#include "metrics/averages.h"

#include <math.h>

/* Sums over the classes of a group. The counts are whole numbers, so that only the four ratios depend on the order of adding.
 */
struct sums {
    size_t classes;
    uint64_t positives, predicted, hits;
    double precision, recall, f1, ap;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static double harmonic_mean(double a, double b)
{
    return ratio(2 * a * b, a + b);
}

static void add_class(struct sums *sums, const ocdm__class_score *score)
{
    double hits = score->hits, predicted = score->predicted, positives = score->positives;
    sums->classes++;
    sums->positives += score->positives;
    sums->predicted += score->predicted;
    sums->hits += score->hits;
    sums->precision += ratio(hits, predicted);
    sums->recall += hits / positives;
    sums->f1 += 2 * hits / (predicted + positives);
    sums->ap += score->ap;
}

static ocdm__averages averages_of(const struct sums *sums)
{
    ocdm__averages averages = {.classes = sums->classes};
    double *value = averages.value, classes = (double)sums->classes;
    if (sums->classes == 0) {
        for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
            value[i] = NAN;
        return averages;
    }
    value[OCDM__CP] = sums->precision / classes;
    value[OCDM__CR] = sums->recall / classes;
    value[OCDM__CF1] = harmonic_mean(value[OCDM__CP], value[OCDM__CR]);
    value[OCDM__CF1_MACRO] = sums->f1 / classes;
    value[OCDM__MAP] = sums->ap / classes;
    double hits = (double)sums->hits, predicted = (double)sums->predicted, positives = (double)sums->positives;
    value[OCDM__OP] = ratio(hits, predicted);
    value[OCDM__OR] = hits / positives;
    value[OCDM__OF1] = 2 * hits / (predicted + positives); /* their harmonic mean, without its roundings */
    return averages;
}

ocdm__averages ocdm__average_all(const ocdm__class_score *scores, size_t class_count)
{
    struct sums sums = {0};
    for (size_t c = 0; c < class_count; c++)
        if (scores[c].positives > 0)
            add_class(&sums, &scores[c]);
    return averages_of(&sums);
}

ocdm__averages ocdm__average_group(const ocdm__class_score *scores, size_t class_count, const uint8_t *group, uint8_t wanted)
{
    struct sums sums = {0};
    for (size_t c = 0; c < class_count; c++)
        if (group[c] == wanted && scores[c].positives > 0)
            add_class(&sums, &scores[c]);
    return averages_of(&sums);
}

const char *ocdm__metric_name(enum ocdm__metric metric)
{
    static const char *const names[OCDM__METRIC_COUNT] = {
        [OCDM__CF1] = "CF1", [OCDM__OF1] = "OF1", [OCDM__MAP] = "mAP",
        [OCDM__CP] = "CP",   [OCDM__CR] = "CR",   [OCDM__CF1_MACRO] = "CF1_macro",
        [OCDM__OP] = "OP",   [OCDM__OR] = "OR",
    };
    return (unsigned)metric < OCDM__METRIC_COUNT ? names[metric] : NULL;
}
