/*
 * Scores of random test sets against a judge that follows the definitions word by word, in O(n^2) for each class; and what must
 * not change them: the order of the samples, and any transformation of the scores that keeps their order.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "metrics/metrics.h"

#define ROUNDS 300
#define MOST_SAMPLES 90
#define MOST_CLASSES 40
#define MOST_LABELS (MOST_SAMPLES * MOST_CLASSES * 2)

/* A test set, and its true labels as a table. */
struct drawn {
    size_t samples, classes;
    float logits[MOST_SAMPLES * MOST_CLASSES];
    uint64_t starts[MOST_SAMPLES + 1];
    uint32_t labels[MOST_LABELS];
    bool carries[MOST_SAMPLES][MOST_CLASSES];
};

/* ---- drawing -------------------------------------------------------------------------------------------------------- */

/* From all different to nearly all tied, zeros of both signs among them. */
static float draw_logit(ocdm__random *random, uint64_t kind)
{
    double x = 6 * ocdm__random_unit(random) - 3;
    if (kind == 0)
        return (float)x;
    if (kind == 1)
        return (float)round(x) * (ocdm__random_below(random, 2) ? 1.0f : -1.0f);
    if (kind == 2)
        return (float)ldexp(x, (int)ocdm__random_below(random, 270) - 149);
    uint32_t bits = (uint32_t)ocdm__random_next(random);
    float any;
    memcpy(&any, &bits, sizeof any);
    return isnan(any) ? INFINITY : any;
}

/* Writes the label sets that the table has, each in random order, some labels twice. */
static void write_labels(struct drawn *set, ocdm__random *random)
{
    uint64_t end = 0;
    for (size_t i = 0; i < set->samples; i++) {
        set->starts[i] = end;
        for (uint32_t c = 0; c < set->classes; c++)
            for (uint64_t times = set->carries[i][c] ? 1 + ocdm__random_below(random, 2) : 0; times > 0; times--) {
                uint64_t place = set->starts[i] + ocdm__random_below(random, end - set->starts[i] + 1);
                set->labels[end++] = set->labels[place];
                set->labels[place] = c;
            }
    }
    set->starts[set->samples] = end;
}

static struct drawn *draw_set(uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(0x5e7, seed);
    struct drawn *set = calloc(1, sizeof *set);
    assert_non_null(set);
    set->samples = 1 + ocdm__random_below(&random, MOST_SAMPLES);
    set->classes = 1 + ocdm__random_below(&random, MOST_CLASSES);
    uint64_t kind = ocdm__random_below(&random, 4), share = ocdm__random_below(&random, 60);
    for (size_t i = 0; i < set->samples * set->classes; i++)
        set->logits[i] = draw_logit(&random, kind);
    for (size_t i = 0; i < set->samples; i++)
        for (size_t c = 0; c < set->classes; c++)
            set->carries[i][c] = c % 7 != 3 && ocdm__random_below(&random, 100) < share;
    write_labels(set, &random);
    return set;
}

static void score(const struct drawn *drawn, ocdm__class_score *scores)
{
    ocdm__test_set set = {drawn->logits, drawn->samples, drawn->classes, drawn->starts, drawn->labels, NULL, 0};
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
}

/* ---- the judge ------------------------------------------------------------------------------------------------------ */

static float logit(const struct drawn *set, size_t i, size_t c)
{
    return set->logits[i * set->classes + c];
}

/* The share of carriers among the samples that score at least as high as a carrier, averaged over the carriers. */
static double judge_ap(const struct drawn *set, size_t c)
{
    double sum = 0, carriers = 0;
    for (size_t i = 0; i < set->samples; i++) {
        if (!set->carries[i][c])
            continue;
        double above = 0, right = 0;
        for (size_t j = 0; j < set->samples; j++)
            if (logit(set, j, c) >= logit(set, i, c)) {
                above++;
                right += set->carries[j][c];
            }
        sum += right / above;
        carriers++;
    }
    return carriers > 0 ? sum / carriers : (double)NAN;
}

/* The pairs of a carrier and another sample in which the carrier scores higher, ties as halves. */
static double judge_auc(const struct drawn *set, size_t c)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < set->samples; i++)
        for (size_t j = 0; j < set->samples; j++)
            if (set->carries[i][c] && !set->carries[j][c]) {
                pairs++;
                won += logit(set, i, c) > logit(set, j, c) ? 1 : logit(set, i, c) == logit(set, j, c) ? 0.5 : 0;
            }
    return won / pairs;
}

/* Bin by bin, with the C library's exponential. */
static double judge_ece(const struct drawn *set, size_t c)
{
    double sum = 0, carriers = 0;
    for (int b = 1; b <= 15; b++) {
        double samples = 0, probability = 0, share = 0;
        for (size_t i = 0; i < set->samples; i++) {
            double p = 1 / (1 + exp(-(double)logit(set, i, c)));
            if ((p > (b - 1) / 15.0 || b == 1) && p <= b / 15.0) {
                samples++;
                probability += p;
                share += set->carries[i][c];
            }
        }
        carriers += share;
        if (samples > 0)
            sum += samples / (double)set->samples * fabs(probability / samples - share / samples);
    }
    return carriers > 0 ? sum : (double)NAN;
}

static ocdm__class_score judge_class(const struct drawn *set, size_t c)
{
    ocdm__class_score judged = {.ap = judge_ap(set, c), .auc = judge_auc(set, c), .ece = judge_ece(set, c)};
    judged.samples = (uint32_t)set->samples;
    for (size_t i = 0; i < set->samples; i++) {
        judged.positives += set->carries[i][c];
        judged.predicted += logit(set, i, c) > 0;
        judged.hits += set->carries[i][c] && logit(set, i, c) > 0;
    }
    return judged;
}

static bool near(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-12;
}

/* Probabilities are on a grid of 2^-31. */
static bool nearly(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9;
}

/* Whether a class is in the rankings: of the group, and carried by some sample. */
static void choose_classes(const struct drawn *set, const uint8_t *group, uint8_t wanted, bool *chosen)
{
    for (size_t c = 0; c < set->classes; c++) {
        chosen[c] = false;
        for (size_t i = 0; i < set->samples; i++)
            chosen[c] |= group[c] == wanted && set->carries[i][c];
    }
}

/* All pairs of classes of all samples. */
static void judge_rankings(const struct drawn *set, const uint8_t *group, uint8_t wanted, ocdm__averages *averages)
{
    double losses = 0, covered = 0, errors = 0, labelled = 0;
    bool chosen[MOST_CLASSES];
    choose_classes(set, group, wanted, chosen);
    for (size_t i = 0; i < set->samples; i++) {
        double pairs = 0, wrong = 0, deepest = 0;
        bool carries = false, right = false;
        for (size_t a = 0; a < set->classes; a++) {
            double depth = 0, above = 0;
            if (!chosen[a] || !set->carries[i][a])
                continue;
            for (size_t b = 0; b < set->classes; b++) {
                bool beats = chosen[b] && logit(set, i, b) >= logit(set, i, a), other = chosen[b] && !set->carries[i][b];
                depth += beats;
                pairs += other;
                above += beats && other;
            }
            wrong += above;
            deepest = depth > deepest ? depth : deepest;
            carries = true;
            right |= above == 0;
        }
        losses += pairs > 0 ? wrong / pairs : 0;
        covered += deepest;
        labelled += carries;
        errors += carries && !right;
    }
    double n = labelled > 0 ? (double)set->samples : (double)NAN;
    averages->value[OCDM_RANKING_LOSS] = losses / n;
    averages->value[OCDM_COVERAGE] = covered / n;
    averages->value[OCDM_ONE_ERROR] = errors / labelled;
}

/* The overall ones by going through the cells of the table once more. */
static void judge_overall(const struct drawn *set, const uint8_t *group, uint8_t wanted, ocdm__averages *averages)
{
    double right = 0, said = 0, true_ones = 0, wrong = 0, cells = 0;
    for (size_t c = 0; c < set->classes; c++)
        for (size_t i = 0; i < set->samples; i++) {
            if (group[c] != wanted || judge_class(set, c).positives == 0)
                break;
            right += set->carries[i][c] && logit(set, i, c) > 0;
            said += logit(set, i, c) > 0;
            true_ones += set->carries[i][c];
            wrong += set->carries[i][c] != (logit(set, i, c) > 0);
            cells++;
        }
    averages->value[OCDM_HAMMING] = wrong / cells;
    double precision = said > 0 ? right / said : 0, recall = true_ones > 0 ? right / true_ones : (double)NAN;
    averages->value[OCDM_OP] = true_ones > 0 ? precision : (double)NAN;
    averages->value[OCDM_OR] = recall;
    averages->value[OCDM_OF1] = right > 0 ? 2 / (1 / precision + 1 / recall) : recall;
}

static ocdm__averages judge_averages(const struct drawn *set, const uint8_t *group, uint8_t wanted)
{
    ocdm__averages averages = {.classes = 0};
    double precision = 0, recall = 0, f1 = 0, ap = 0, auc = 0, aucs = 0, ece = 0;
    for (size_t c = 0; c < set->classes; c++) {
        ocdm__class_score judged = judge_class(set, c);
        if (group[c] != wanted || judged.positives == 0)
            continue;
        double p = judged.predicted > 0 ? (double)judged.hits / judged.predicted : 0;
        double r = (double)judged.hits / judged.positives;
        averages.classes++;
        precision += p;
        recall += r;
        f1 += p + r > 0 ? 2 * p * r / (p + r) : 0;
        ap += judged.ap;
        auc += isnan(judged.auc) ? 0 : judged.auc;
        aucs += !isnan(judged.auc);
        ece += judged.ece;
    }
    double n = (double)averages.classes; /* 0 / 0 is the NaN that is wanted */
    averages.value[OCDM_CP] = precision / n;
    averages.value[OCDM_CR] = recall / n;
    averages.value[OCDM_CF1] = precision > 0 ? 2 / (n / precision + n / recall) : precision / n;
    averages.value[OCDM_CF1_MACRO] = f1 / n;
    averages.value[OCDM_MAP] = ap / n;
    averages.value[OCDM_AUC] = auc / aucs;
    averages.value[OCDM_ECE] = ece / n;
    judge_overall(set, group, wanted, &averages);
    judge_rankings(set, group, wanted, &averages);
    return averages;
}

/* ---- cases ---------------------------------------------------------------------------------------------------------- */

TEST(class_scores_equal_the_judge)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *set = draw_set(seed);
        ocdm__class_score scores[MOST_CLASSES];
        score(set, scores);
        for (size_t c = 0; c < set->classes; c++) {
            ocdm__class_score judged = judge_class(set, c);
            if (judged.positives != scores[c].positives || judged.predicted != scores[c].predicted ||
                judged.hits != scores[c].hits || judged.samples != scores[c].samples || !near(judged.ap, scores[c].ap) ||
                !near(judged.auc, scores[c].auc) || !nearly(judged.ece, scores[c].ece))
                fail_msg("seed %d, class %zu: G %u P %u TP %u AP %.17g AUC %.17g ECE %.17g, should be %u %u %u %.17g %.17g "
                         "%.17g",
                         (int)seed, c, scores[c].positives, scores[c].predicted, scores[c].hits, scores[c].ap, scores[c].auc,
                         scores[c].ece, judged.positives, judged.predicted, judged.hits, judged.ap, judged.auc, judged.ece);
        }
        free(set);
    }
}

TEST(averages_equal_the_judge)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *set = draw_set(seed);
        ocdm__random random = ocdm__random_stream(0x96, seed);
        ocdm__class_score scores[MOST_CLASSES];
        uint8_t group[MOST_CLASSES];
        for (size_t c = 0; c < set->classes; c++)
            group[c] = (uint8_t)ocdm__random_below(&random, 3);
        score(set, scores);
        for (uint8_t g = 0; g < 3; g++) {
            ocdm__averages judged = judge_averages(set, group, g);
            ocdm__averages averages;
            const ocdm__test_set plain = {set->logits, set->samples, set->classes, set->starts, set->labels, NULL, 0};
            assert_int_equal(ocdm__measure(&plain, scores, group, g, &averages, NULL), OCDM_OK);
            assert_int_equal(averages.classes, judged.classes);
            for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
                if (!(i == OCDM_ECE ? nearly : near)(judged.value[i], averages.value[i]))
                    fail_msg("seed %d, group %d: %s is %.17g, should be %.17g", (int)seed, g, ocdm__metric_name((ocdm_metric)i),
                             averages.value[i], judged.value[i]);
        }
        free(set);
    }
}

/* ---- thresholds ------------------------------------------------------------------------------------------------------- */

/* CP, CR and CF1 where logits over the threshold are predicted. */
static ocdm__operating_point judge_threshold(const struct drawn *set, float threshold)
{
    ocdm__operating_point point = {.threshold = threshold};
    double classes = 0;
    for (size_t c = 0; c < set->classes; c++) {
        double positives = 0, predicted = 0, hits = 0;
        for (size_t i = 0; i < set->samples; i++) {
            bool said = logit(set, i, c) > threshold;
            positives += set->carries[i][c];
            predicted += said;
            hits += said && set->carries[i][c];
        }
        if (positives == 0)
            continue;
        classes++;
        point.precision += predicted > 0 ? hits / predicted : 0;
        point.recall += hits / positives;
    }
    point.precision /= classes;
    point.recall /= classes;
    double sum = point.precision + point.recall;
    point.cf1 = isnan(sum) ? (double)NAN : sum > 0 ? 2 * point.precision * point.recall / sum : 0;
    return point;
}

static bool same_point(const ocdm__operating_point *point, const ocdm__operating_point *judged)
{
    return near(point->precision, judged->precision) && near(point->recall, judged->recall) && near(point->cf1, judged->cf1);
}

/* Every logit is tried as a threshold, and one below all of them; the points are on the way. */
TEST(best_threshold_equals_the_judge)
{
    for (uint64_t seed = 0; seed < ROUNDS / 3; seed++) {
        struct drawn *drawn = draw_set(seed);
        ocdm__test_set set = {drawn->logits, drawn->samples, drawn->classes, drawn->starts, drawn->labels, NULL, 9};
        ocdm__operation operation;
        ocdm__class_score scores[MOST_CLASSES];
        double best = judge_threshold(drawn, -INFINITY).cf1;
        for (size_t i = 0; i < drawn->samples * drawn->classes; i++)
            best = fmax(best, judge_threshold(drawn, drawn->logits[i]).cf1);
        assert_int_equal(ocdm__operate(&set, &operation, NULL), OCDM_OK);
        if (isnan(best)) { /* no class has a positive sample */
            assert_true(operation.count == 0 && isnan(operation.best.cf1) && isnan(operation.best.threshold));
            free(drawn);
            continue;
        }
        ocdm__operating_point judged = judge_threshold(drawn, operation.best.threshold);
        HOLDS("a drawn set", near(best, operation.best.cf1) && same_point(&operation.best, &judged));
        set.threshold = operation.best.threshold;
        assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
        HOLDS("a drawn set", near(best, ocdm__average_all(scores, drawn->classes).value[OCDM_CF1]));
        HOLDS("a drawn set", operation.count > 0 && operation.count <= OCDM__OPERATING_POINTS);
        for (size_t k = 0; k < operation.count; k++) {
            judged = judge_threshold(drawn, operation.points[k].threshold);
            HOLDS("a drawn set", same_point(&operation.points[k], &judged));
            HOLDS("a drawn set", k == 0 || operation.points[k].threshold < operation.points[k - 1].threshold);
        }
        free(drawn);
    }
}

/* Exchanges two samples. */
static void exchange(struct drawn *set, size_t a, size_t b)
{
    for (size_t c = 0; c < set->classes; c++) {
        float x = set->logits[a * set->classes + c];
        set->logits[a * set->classes + c] = set->logits[b * set->classes + c];
        set->logits[b * set->classes + c] = x;
        bool carried = set->carries[a][c];
        set->carries[a][c] = set->carries[b][c];
        set->carries[b][c] = carried;
    }
}

static void same_scores(uint64_t seed, const ocdm__class_score *a, const ocdm__class_score *b, size_t classes)
{
    for (size_t c = 0; c < classes; c++)
        if (a[c].positives != b[c].positives || a[c].predicted != b[c].predicted || a[c].hits != b[c].hits ||
            memcmp(&a[c].ap, &b[c].ap, sizeof a[c].ap) != 0 || memcmp(&a[c].auc, &b[c].auc, sizeof a[c].auc) != 0)
            fail_msg("seed %d, class %zu: AP, AUC were %.17g, %.17g and are %.17g, %.17g", (int)seed, c, a[c].ap, a[c].auc,
                     b[c].ap, b[c].auc);
}

TEST(class_scores_stay_to_the_last_bit_when_samples_are_shuffled)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *set = draw_set(seed);
        ocdm__random random = ocdm__random_stream(0x5f1e, seed);
        ocdm__class_score before[MOST_CLASSES], after[MOST_CLASSES];
        score(set, before);
        for (size_t i = set->samples; i > 1; i--)
            exchange(set, i - 1, ocdm__random_below(&random, i));
        write_labels(set, &random);
        score(set, after);
        same_scores(seed, before, after, set->classes);
        for (size_t c = 0; c < set->classes; c++)
            assert_memory_equal(&before[c].ece, &after[c].ece, sizeof before[c].ece);
        free(set);
    }
}

/* Each score becomes its place among the different scores of its class, from minus as many as are not over 0: what is
 * predicted stays so, too. */
static void keep_only_the_order(struct drawn *set, size_t c)
{
    float places[MOST_SAMPLES];
    for (size_t i = 0; i < set->samples; i++) {
        int place = 0;
        for (size_t j = 0; j < set->samples; j++) {
            float here = logit(set, i, c), other = logit(set, j, c);
            place += here > 0 && other > 0 && other <= here;
            place -= here <= 0 && other <= 0 && other > here;
        }
        places[i] = (float)place;
    }
    for (size_t i = 0; i < set->samples; i++)
        set->logits[i * set->classes + c] = places[i];
}

TEST(class_scores_stay_to_the_last_bit_when_only_the_order_of_logits_does)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *set = draw_set(seed);
        ocdm__class_score before[MOST_CLASSES], after[MOST_CLASSES];
        score(set, before);
        for (size_t c = 0; c < set->classes; c++)
            keep_only_the_order(set, c);
        score(set, after);
        same_scores(seed, before, after, set->classes);
        free(set);
    }
}

/* ---- unknown labels --------------------------------------------------------------------------------------------------- */

static uint8_t *draw_known(const struct drawn *set, uint64_t seed, bool known[][MOST_CLASSES])
{
    ocdm__random random = ocdm__random_stream(0x317, seed);
    size_t size = ocdm__bits_size(set->classes);
    uint8_t *rows = calloc(set->samples, size);
    assert_non_null(rows);
    for (size_t i = 0; i < set->samples; i++) {
        uint64_t share = ocdm__random_below(&random, 4); /* of 3: none to all */
        for (size_t c = 0; c < set->classes; c++) {
            known[i][c] = ocdm__random_below(&random, 3) < share;
            if (known[i][c])
                ocdm__bits_add(rows + i * size, c);
        }
    }
    return rows;
}

/* The samples that know the class, as a set of one column. */
static void keep_class(const struct drawn *set, bool known[][MOST_CLASSES], size_t c, struct drawn *kept)
{
    *kept = (struct drawn){.classes = 1};
    for (size_t i = 0; i < set->samples; i++) {
        if (!known[i][c])
            continue;
        kept->logits[kept->samples] = logit(set, i, c);
        kept->carries[kept->samples++][0] = set->carries[i][c];
    }
}

TEST(class_scores_are_those_of_the_samples_that_know_the_class)
{
    static bool known[MOST_SAMPLES][MOST_CLASSES];
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *drawn = draw_set(seed), *kept = malloc(sizeof *kept);
        uint8_t *rows = draw_known(drawn, seed, known);
        ocdm__class_score scores[MOST_CLASSES];
        ocdm__test_set set = {drawn->logits, drawn->samples, drawn->classes, drawn->starts, drawn->labels, rows, 0};
        assert_non_null(kept);
        assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
        for (size_t c = 0; c < drawn->classes; c++) {
            keep_class(drawn, known, c, kept);
            const ocdm__class_score judged = judge_class(kept, 0);
            HOLDS("a drawn set", scores[c].positives == judged.positives && scores[c].predicted == judged.predicted &&
                                     scores[c].hits == judged.hits && scores[c].samples == judged.samples);
            HOLDS("a drawn set", near(scores[c].ap, judged.ap) && (judged.positives == 0 || near(scores[c].auc, judged.auc)) &&
                                     nearly(scores[c].ece, judged.ece));
        }
        free(rows);
        free(kept);
        free(drawn);
    }
}

/* Each sample alone, with the columns that it knows. */
static ocdm__rank_sums rank_one_by_one(const struct drawn *set, bool known[][MOST_CLASSES])
{
    ocdm__rank_sums all = {.samples = 0};
    for (size_t i = 0; i < set->samples; i++) {
        float logits[MOST_CLASSES];
        uint32_t labels[MOST_CLASSES];
        uint64_t starts[2] = {0, 0};
        uint8_t counted[MOST_CLASSES];
        size_t classes = 0;
        ocdm__rank_sums one;
        memset(counted, 1, sizeof counted);
        for (size_t c = 0; c < set->classes; c++) {
            if (!known[i][c])
                continue;
            if (set->carries[i][c])
                labels[starts[1]++] = (uint32_t)classes;
            logits[classes++] = logit(set, i, c);
        }
        ocdm__test_set alone = {logits, 1, classes, starts, labels, NULL, 0};
        if (classes == 0)
            continue;
        assert_int_equal(ocdm__rank_classes(&alone, counted, &one, NULL), OCDM_OK);
        all.samples += one.samples;
        all.labelled += one.labelled;
        all.one_errors += one.one_errors;
        all.covered += one.covered;
        all.ranking_loss += one.ranking_loss;
    }
    return all;
}

TEST(rankings_are_those_of_the_classes_that_a_sample_knows)
{
    static bool known[MOST_SAMPLES][MOST_CLASSES];
    uint8_t counted[MOST_CLASSES];
    memset(counted, 1, sizeof counted);
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct drawn *drawn = draw_set(seed);
        uint8_t *rows = draw_known(drawn, seed, known);
        ocdm__test_set set = {drawn->logits, drawn->samples, drawn->classes, drawn->starts, drawn->labels, rows, 0};
        const ocdm__rank_sums judged = rank_one_by_one(drawn, known);
        ocdm__rank_sums sums;
        assert_int_equal(ocdm__rank_classes(&set, counted, &sums, NULL), OCDM_OK);
        HOLDS("a drawn set", sums.samples == judged.samples && sums.labelled == judged.labelled &&
                                 sums.one_errors == judged.one_errors && sums.covered == judged.covered &&
                                 near(sums.ranking_loss, judged.ranking_loss));
        free(rows);
        free(drawn);
    }
}

int main(void)
{
    print_message("# seeds 0 to %d\n", ROUNDS - 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_scores_equal_the_judge),
        cmocka_unit_test(averages_equal_the_judge),
        cmocka_unit_test(best_threshold_equals_the_judge),
        cmocka_unit_test(class_scores_stay_to_the_last_bit_when_samples_are_shuffled),
        cmocka_unit_test(class_scores_stay_to_the_last_bit_when_only_the_order_of_logits_does),
        cmocka_unit_test(class_scores_are_those_of_the_samples_that_know_the_class),
        cmocka_unit_test(rankings_are_those_of_the_classes_that_a_sample_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
