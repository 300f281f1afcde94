/* Clusters of classes: planted blocks are found, no task is empty or much too large, and the fast merges equal the slow ones.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"

enum { MOST = 24, SAMPLES = 2000, ONE = 1 << 24 };

static ocdm__random random_of(uint64_t seed, uint64_t stream)
{
    return ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), stream);
}

static void cluster(const uint32_t *counts, size_t classes, size_t tasks, uint32_t *class_tasks)
{
    assert_int_equal(ocdm__cluster_classes(counts, classes, tasks, class_tasks, NULL), OCDM_OK);
}

/* Class c is of block c % 4. Samples carry two or three classes of one block, one in ten a class of another one too. */
TEST(clusters_are_the_planted_blocks)
{
    static uint64_t starts[SAMPLES + 1];
    static uint32_t labels[SAMPLES * 4];
    for (uint64_t seed = 0; seed < 20; seed++) {
        char where[64];
        uint32_t class_tasks[MOST];
        ocdm__random random = random_of(seed, 0);
        snprintf(where, sizeof where, "seed %d", (int)seed);
        for (size_t i = 0; i < SAMPLES; i++) {
            uint32_t bits = 0;
            uint64_t block = ocdm__random_below(&random, 4);
            for (uint64_t k = 2 + ocdm__random_below(&random, 2); k > 0; k--)
                bits |= 1u << (ocdm__random_below(&random, 6) * 4 + block);
            if (ocdm__random_below(&random, 10) == 0)
                bits |= 1u << ocdm__random_below(&random, MOST);
            starts[i + 1] = starts[i];
            for (uint32_t c = 0; c < MOST; c++)
                if (bits >> c & 1)
                    labels[starts[i + 1]++] = c;
        }
        assert_int_equal(ocdm__cluster_samples(SAMPLES, starts, labels, MOST, 4, class_tasks, NULL), OCDM_OK);
        for (uint32_t c = 0; c < MOST; c++)
            HOLDS(where, class_tasks[c] == c % 4);
    }
}

/* ---- the slow way ---------------------------------------------------------------------------------------------------- */

static uint64_t jaccard(const uint32_t *counts, size_t n, size_t a, size_t b)
{
    uint64_t either = (uint64_t)counts[a * n + a] + counts[b * n + b] - counts[a * n + b];
    return (uint64_t)counts[a * n + b] * ONE / either;
}

static size_t size_of(const uint32_t *cluster_of, size_t n, uint32_t cluster)
{
    size_t size = 0;
    for (size_t c = 0; c < n; c++)
        size += cluster_of[c] == cluster;
    return size;
}

static double average(const uint32_t *counts, const uint32_t *cluster_of, size_t n, uint32_t a, uint32_t b)
{
    uint64_t sum = 0;
    for (size_t x = 0; x < n; x++)
        for (size_t y = 0; y < n; y++)
            if (cluster_of[x] == a && cluster_of[y] == b)
                sum += jaccard(counts, n, x, y);
    return (double)sum / (double)(size_of(cluster_of, n, a) * size_of(cluster_of, n, b));
}

/* Joins one of the smallest clusters with the nearest that fits, the nearest such pair; false when none fits. */
static bool join_smallest(const uint32_t *counts, uint32_t *cluster_of, size_t n, size_t most)
{
    double best = -1;
    size_t smallest = SIZE_MAX;
    uint32_t first = 0, second = 0;
    for (uint32_t a = 0; a < n; a++) {
        size_t of_a = size_of(cluster_of, n, a);
        for (uint32_t b = 0; b < n; b++) {
            size_t of_b = size_of(cluster_of, n, b);
            if (a == b || of_a == 0 || of_b == 0 || of_a + of_b > most || of_a > smallest)
                continue;
            if (of_a == smallest && average(counts, cluster_of, n, a, b) <= best)
                continue;
            smallest = of_a;
            best = average(counts, cluster_of, n, a, b);
            first = a;
            second = b;
        }
    }
    uint32_t kept = first < second ? first : second;
    for (size_t c = 0; c < n && best >= 0; c++)
        cluster_of[c] = cluster_of[c] == first || cluster_of[c] == second ? kept : cluster_of[c];
    return best >= 0;
}

/* Random symmetric counts, all classes occurring; few distinct values, so that ties happen all the time. */
static void make_counts(uint32_t *counts, size_t n, ocdm__random *random)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            counts[a * n + b] = counts[b * n + a] = a == b ? 10 : (uint32_t)ocdm__random_below(random, 5);
}

TEST(clusters_are_those_of_the_slow_way)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        char where[64];
        uint32_t counts[MOST * MOST], class_tasks[MOST], slow[MOST];
        ocdm__random random = random_of(seed, 1);
        size_t n = 1 + ocdm__random_below(&random, 14), tasks = 1 + ocdm__random_below(&random, n);
        snprintf(where, sizeof where, "seed %d: %zu classes, %zu tasks", (int)seed, n, tasks);
        make_counts(counts, n, &random);
        cluster(counts, n, tasks, class_tasks);
        for (uint32_t c = 0; c < n; c++)
            slow[c] = c;
        for (size_t left = n; left > tasks; left--)
            HOLDS(where, join_smallest(counts, slow, n, (2 * n + tasks) / (tasks + 1)));
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                HOLDS(where, (class_tasks[a] == class_tasks[b]) == (slow[a] == slow[b]));
    }
}

/* ---- promises -------------------------------------------------------------------------------------------------------- */

/* One class is on nearly all samples, the others do not occur together: this could make one huge task. */
TEST(clusters_are_never_empty_nor_giants)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        char where[64];
        uint32_t counts[MOST * MOST], class_tasks[MOST], next = 0;
        size_t sizes[MOST] = {0};
        ocdm__random random = random_of(seed, 2);
        size_t tasks = 1 + ocdm__random_below(&random, MOST);
        snprintf(where, sizeof where, "seed %d: %zu tasks", (int)seed, tasks);
        make_counts(counts, MOST, &random);
        for (size_t c = 1; c < MOST; c++)
            counts[c] = counts[c * MOST] = 10;
        counts[0] = 1000;
        cluster(counts, MOST, tasks, class_tasks);
        for (size_t c = 0; c < MOST; c++) {
            HOLDS(where, class_tasks[c] < tasks && class_tasks[c] <= next);
            next += class_tasks[c] == next; /* tasks are numbered by their first classes */
            sizes[class_tasks[c]]++;
        }
        for (size_t t = 0; t < tasks; t++)
            HOLDS(where, sizes[t] > 0 && sizes[t] <= (2 * MOST + tasks) / (tasks + 1));
    }
}

/* Classes 0 to 3 come together, 4 to 7 too, 8 comes alone: it is no task. */
TEST(clusters_take_in_a_class_that_comes_alone)
{
    uint32_t counts[81], class_tasks[9];
    for (size_t a = 0; a < 9; a++)
        for (size_t b = 0; b < 9; b++)
            counts[a * 9 + b] = a == b ? 10 : a / 4 == b / 4 ? 5 : 0;
    cluster(counts, 9, 2, class_tasks);
    for (size_t c = 0; c < 8; c++)
        assert_int_equal(class_tasks[c], c / 4);
}

TEST(clusters_leave_out_classes_that_do_not_occur)
{
    static const uint32_t counts[9] = {5, 0, 5, 0, 0, 0, 5, 0, 5};
    uint32_t class_tasks[3];
    cluster(counts, 3, 1, class_tasks);
    assert_int_equal(class_tasks[0], 0);
    assert_int_equal(class_tasks[1], UINT32_MAX);
    assert_int_equal(class_tasks[2], 0);
    cluster(counts, 3, 2, class_tasks);
    assert_int_equal(class_tasks[2], 1);
}

TEST(clusters_refuse_what_cannot_be)
{
    static const uint32_t counts[4] = {1, 0, 0, 0};
    uint32_t class_tasks[2] = {7, 7};
    ocdm_error error;
    assert_int_equal(ocdm__cluster_classes(counts, 2, 0, class_tasks, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__cluster_classes(counts, 2, 2, class_tasks, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "2 tasks for 1 classes that occur");
    assert_int_equal(ocdm__cluster_samples(0, NULL, NULL, OCDM__MAX_CLUSTERED + 1, 2, class_tasks, &error), OCDM_LIMIT);
    assert_int_equal(class_tasks[0], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_the_planted_blocks),
        cmocka_unit_test(clusters_are_those_of_the_slow_way),
        cmocka_unit_test(clusters_are_never_empty_nor_giants),
        cmocka_unit_test(clusters_take_in_a_class_that_comes_alone),
        cmocka_unit_test(clusters_leave_out_classes_that_do_not_occur),
        cmocka_unit_test(clusters_refuse_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
