/* The metrics: one pass of sums over the classes, and a row with the formula of each. */
#include "metrics/metrics.h"

/* Counts are integers, so only the sums of ratios depend on the order of the classes. */
struct ocdm__class_sums {
    size_t classes;
    uint64_t positives, predicted, hits, decisions;
    double precision, recall, f1, ap, ece;
    double auc;
    size_t auc_classes; /* that have one: with positives and negatives */
    ocdm__rank_sums ranks;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- the rows ----------------------------------------------------------------------------------------------------------- */

static double mean_precision(const ocdm__class_sums *sums)
{
    return sums->precision / (double)sums->classes;
}

static double mean_recall(const ocdm__class_sums *sums)
{
    return sums->recall / (double)sums->classes;
}

static double f1_of_means(const ocdm__class_sums *sums)
{
    double a = mean_precision(sums);
    double b = mean_recall(sums);
    return ratio(2 * a * b, a + b);
}

static double mean_f1(const ocdm__class_sums *sums)
{
    return sums->f1 / (double)sums->classes;
}

static double mean_ap(const ocdm__class_sums *sums)
{
    return sums->ap / (double)sums->classes;
}

static double overall_precision(const ocdm__class_sums *sums)
{
    return ratio((double)sums->hits, (double)sums->predicted);
}

static double overall_recall(const ocdm__class_sums *sums)
{
    return (double)sums->hits / (double)sums->positives;
}

/* The harmonic mean of the two above, rounded once. */
static double overall_f1(const ocdm__class_sums *sums)
{
    return 2 * (double)sums->hits / ((double)sums->predicted + (double)sums->positives);
}

static double mean_auc(const ocdm__class_sums *sums)
{
    return sums->auc_classes > 0 ? sums->auc / (double)sums->auc_classes : (double)NAN;
}

static double mean_ece(const ocdm__class_sums *sums)
{
    return sums->ece / (double)sums->classes;
}

/* Wrong are the misses, G - TP, and the false alarms, P - TP. */
static double wrong_decisions(const ocdm__class_sums *sums)
{
    uint64_t wrong = sums->positives + sums->predicted - 2 * sums->hits;
    return sums->decisions > 0 ? (double)wrong / (double)sums->decisions : (double)NAN;
}

static double mean_ranking_loss(const ocdm__class_sums *sums)
{
    return sums->ranks.samples > 0 ? sums->ranks.ranking_loss / (double)sums->ranks.samples : (double)NAN;
}

static double mean_coverage(const ocdm__class_sums *sums)
{
    return sums->ranks.samples > 0 ? (double)sums->ranks.covered / (double)sums->ranks.samples : (double)NAN;
}

static double one_error(const ocdm__class_sums *sums)
{
    return sums->ranks.labelled > 0 ? (double)sums->ranks.one_errors / (double)sums->ranks.labelled : (double)NAN;
}

/* clang-format off */
const ocdm__metric_row ocdm__metrics[OCDM__METRIC_COUNT] = {
    [OCDM_CF1] = {{OCDM__CF1_NAME, "2 CP CR / (CP + CR), 0 when both are 0: the F1 of the means, as PRS and the paper have it"},
                   "%", 100, 1, false, f1_of_means, 3},
    [OCDM_OF1] = {{OCDM__OF1_NAME, "2 OP OR / (OP + OR) = 2 sum of TP_c / (sum of P_c + sum of G_c)"},
                   "%", 100, 1, false, overall_f1, 7},
    [OCDM_MAP] = {{OCDM__MAP_NAME, "mean over classes of AP_c"}, "%", 100, 1, false, mean_ap, 0},
    [OCDM_CP] = {{"CP", "mean over classes of TP_c / P_c, which is 0 when P_c = 0"}, "%", 100, 1, false, mean_precision, 1},
    [OCDM_CR] = {{"CR", "mean over classes of TP_c / G_c"}, "%", 100, 1, false, mean_recall, 2},
    [OCDM_CF1_MACRO] = {{"CF1_macro", "mean over classes of 2 TP_c / (P_c + G_c): the mean of the F1s, as "
                         "scikit-learn's macro average"},
                         "%", 100, 1, false, mean_f1, 4},
    [OCDM_OP] = {{"OP", "sum of TP_c / sum of P_c over classes, 0 when nothing is predicted"},
                   "%", 100, 1, false, overall_precision, 5},
    [OCDM_OR] = {{"OR", "sum of TP_c / sum of G_c over classes"}, "%", 100, 1, false, overall_recall, 6},
    [OCDM_AUC] = {{OCDM__AUC_NAME, "mean over classes with positives and negatives of AUC_c, as "
                   "scikit-learn's macro roc_auc_score"},
                   "%", 100, 1, false, mean_auc, 8},
    [OCDM_RANKING_LOSS] = {{OCDM__RANKING_LOSS_NAME, "mean over samples of the share of pairs of a carried and another "
                             "class in which the other one scores at least as high, 0 for a sample that carries none or all; "
                             "scikit-learn's label_ranking_loss"}, "%", 100, 2, true, mean_ranking_loss, 9},
    [OCDM_COVERAGE] = {{OCDM__COVERAGE_NAME, "mean over samples of the number of classes that score at least as high as the "
                         "lowest that the sample carries, 0 if it carries none; scikit-learn's coverage_error"},
                   "classes", 1, 2, true, mean_coverage, 10},
    [OCDM_HAMMING] = {{OCDM__HAMMING_NAME, "sum of (P_c + G_c - 2 TP_c) / (samples x classes); scikit-learn's hamming_loss"},
                       "%", 100, 2, true, wrong_decisions, 12},
    [OCDM_ONE_ERROR] = {{OCDM__ONE_ERROR_NAME, "of the samples that carry a class, the share where another class scores at "
                          "least as high as all that they carry"}, "%", 100, 1, true, one_error, 11},
    [OCDM_ECE] = {{OCDM__ECE_NAME, "mean over classes of ECE_c"}, "%", 100, 2, true, mean_ece, 13},
};
/* clang-format on */

const char *ocdm__metric_name(ocdm_metric metric)
{
    return (unsigned)metric < OCDM__METRIC_COUNT ? ocdm__metrics[metric].about.name : NULL;
}

/* ---- averages ----------------------------------------------------------------------------------------------------------- */

static void add_class(ocdm__class_sums *sums, const ocdm__class_score *score)
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
    sums->ece += score->ece;
    sums->decisions += score->samples;
    if (!isnan(score->auc)) {
        sums->auc += score->auc;
        sums->auc_classes++;
    }
}

static ocdm__averages averages_of(const ocdm__class_sums *sums)
{
    ocdm__averages averages = {.classes = sums->classes};
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        averages.value[i] = sums->classes > 0 ? ocdm__metrics[i].compute(sums) : (double)NAN;
    return averages;
}

static bool is_counted(const ocdm__class_score *scores, size_t class_number, const uint8_t *group, uint8_t wanted)
{
    return (group == NULL || group[class_number] == wanted) && scores[class_number].positives > 0;
}

static ocdm__class_sums sums_of(const ocdm__class_score *scores, size_t class_count, const uint8_t *group, uint8_t wanted)
{
    ocdm__class_sums sums = {0};
    for (size_t c = 0; c < class_count; c++)
        if (is_counted(scores, c, group, wanted))
            add_class(&sums, &scores[c]);
    return sums;
}

ocdm__averages ocdm__average_all(const ocdm__class_score *scores, size_t class_count)
{
    return ocdm__average_group(scores, class_count, NULL, 0);
}

ocdm__averages ocdm__average_group(const ocdm__class_score *scores, size_t class_count, const uint8_t *group, uint8_t wanted)
{
    const ocdm__class_sums sums = sums_of(scores, class_count, group, wanted);
    return averages_of(&sums);
}

ocdm_status ocdm__measure(const ocdm__test_set *set, const ocdm__class_score *scores, const uint8_t *group, uint8_t wanted,
                          ocdm__averages *averages, ocdm_error *error)
{
    ocdm__class_sums sums = sums_of(scores, set->classes, group, wanted);
    uint8_t *counted;
    OCDM_TRY(ocdm__new(&counted, set->classes, sizeof *counted, "the classes of a group", error));
    for (size_t c = 0; c < set->classes; c++)
        counted[c] = is_counted(scores, c, group, wanted);
    ocdm_status status = ocdm__rank_classes(set, counted, &sums.ranks, error);
    ocdm__release(counted);
    if (status == OCDM_OK)
        *averages = averages_of(&sums);
    return status;
}

/* ---- forgetting --------------------------------------------------------------------------------------------------------- */

double ocdm__forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting)
{
    for (size_t t = 0; t < tasks; t++) {
        double final = evaluations > 0 ? map[(evaluations - 1) * tasks + t] : (double)NAN;
        /* NaN when there is no value before the last row. */
        double best = NAN;
        for (size_t e = 0; e + 1 < evaluations; e++) {
            double value = map[e * tasks + t];
            if (isnan(best) || value > best)
                best = value;
        }
        forgetting[t] = best - final;
    }
    return ocdm__mean_of_known(forgetting, tasks);
}

double ocdm__backward_transfer(const double *map, size_t evaluations, size_t tasks)
{
    double sum = 0;
    size_t known = 0;
    for (size_t t = 0; t + 1 < tasks; t++) {
        double learnt = NAN, last = evaluations > 0 ? map[(evaluations - 1) * tasks + t] : (double)NAN;
        for (size_t e = 0; isnan(learnt) && e < evaluations; e++)
            learnt = map[e * tasks + t];
        if (isnan(learnt) || isnan(last))
            continue;
        sum += last - learnt;
        known++;
    }
    return known > 0 ? sum / (double)known : (double)NAN;
}

double ocdm__forward_transfer(const double *ahead, const double *fresh, size_t tasks)
{
    double sum = 0;
    size_t known = 0;
    for (size_t t = 0; t < tasks; t++)
        if (!isnan(ahead[t] - fresh[t])) {
            sum += ahead[t] - fresh[t];
            known++;
        }
    return known > 0 ? sum / (double)known : (double)NAN;
}

double ocdm__mean_of_known(const double *values, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            known++;
        }
    return known > 0 ? sum / (double)known : (double)NAN;
}

const char *const ocdm__paper_groups[OCDM__PAPER_GROUPS] = {"majority", "moderate", "minority", "total"};

/* ---- formulas ----------------------------------------------------------------------------------------------------------- */

/* What is said before the metrics, and after them. */
/* clang-format off */
static const ocdm__explanation of_classes[] = {
    {"G_c", "test samples that carry class c; a class with G_c = 0 is left out of everything below"},
    {"P_c", "test samples whose logit for c is over 0, or the threshold of --threshold validation, so that c is predicted"},
    {"TP_c", "test samples that carry c and for which c is predicted"},
    {"AP_c", "sum over thresholds k of (R_k - R_(k-1)) P_k, P_k and R_k being precision and recall of the samples that score at "
              "least as high as the k-th highest score; equal scores are one threshold, no interpolation"},
    {"AUC_c", "share of the pairs of a sample that carries c and one that does not in which the first scores higher, a tie being "
               "half a pair; none when all samples carry c"},
    {"ECE_c", "sum over 15 bins ((b - 1) / 15, b / 15] of n_b / n |mean of p - share that carries c|, p = "
               "1 / (1 + e^-logit) being in the bin and rounded to a multiple of 2^-31"},
};
static const ocdm__explanation of_runs[] = {
    {"total", "the formulas above over all classes; null when no class has a positive test sample"},
    {"majority", "the same formulas over the classes of this group; null when none of them has a positive test sample"},
    {"moderate", "as majority, over the classes of this group"},
    {"minority", "as majority, over the classes of this group"},
    {"forgetting", "of a task: the best earlier mAP on its own test set minus the final one, in points; in total: the mean over "
                    "the tasks that were evaluated before the end"},
    {"BWT", "backward transfer: mean over the tasks but the last of the final mAP on the task's own test set minus the one right "
            "after it was learnt, in points"},
    {"FWT", "forward transfer: mean over the tasks but the first of the mAP on the task's own test set just before it is learnt "
            "minus that of the network before its first step, in points; null without --transfer"},
    {"mean_mAP", "mean over the evaluations, one after each task, of total mAP"},
    {"mean_CF1", "mean over the evaluations of total CF1"},
    {"mean_OF1", "mean over the evaluations of total OF1"},
    {"std", "sqrt(sum over n seeds of (x - mean)^2 / (n - 1)); null for one seed"},
    {"interval", "of the difference d of two methods with the same n seeds: mean(d) -+ t std(d) / sqrt(n), t being the 97.5 % "
                  "quantile of Student's distribution with n - 1 degrees of freedom; null for one seed"},
};
/* clang-format on */

const ocdm__explanation *ocdm__explanation_at(size_t index)
{
    enum { BEFORE = sizeof of_classes / sizeof *of_classes, AFTER = sizeof of_runs / sizeof *of_runs };
    if (index < BEFORE)
        return &of_classes[index];
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        if (ocdm__metrics[i].place == index - BEFORE)
            return &ocdm__metrics[i].about;
    return index - BEFORE - OCDM__METRIC_COUNT < AFTER ? &of_runs[index - BEFORE - OCDM__METRIC_COUNT] : NULL;
}

const ocdm__explanation *ocdm__explain(const char *name)
{
    const ocdm__explanation *explanation;
    for (size_t i = 0; (explanation = ocdm__explanation_at(i)) != NULL; i++)
        if (strcmp(explanation->name, name) == 0)
            return explanation;
    return NULL;
}
