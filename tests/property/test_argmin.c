/*
 * Every deletion of ocdm and onlyone is a true arg-min of Dist(p_omega, p), for all four distances, judged in long double with
 * libm: no grid, no shortcut, no code in common with the library's decision. And the tie rule holds among candidates that no
 * arithmetic can tell apart.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include "base/allocate.h"

#include <math.h>
#include <stdio.h>

static const double rhos[] = {0, 0.5, 1, -0.3, 16};

static void update_both(ocdm_memory *memory, struct naive *naive, const ocdm_sample *batch, size_t count, const char *where)
{
    ocdm_change change = offer(memory, batch, count, where);
    struct witness witness = {&change, where};
    naive_update(naive, batch, count, follow_departures, &witness);
    compare_change(&change, naive, where);
    compare_memory(memory, naive, where);
}

/* Weights from 1/8 to 8 for classes that may never come. */
static void weigh_classes(ocdm_memory *memory, struct naive *naive, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 11);
    for (uint32_t id = 0; id < 40; id++) {
        double weight = ldexp(1 + ocdm__random_unit(&random), (int)ocdm__random_below(&random, 6) - 3);
        assert_int_equal(ocdm_memory_set_weight(memory, id, weight, NULL), OCDM_OK);
        naive_set_weight(naive, id, weight);
    }
}

/* A smaller capacity half way, by the same rule. */
static void shrink_both(ocdm_memory *memory, struct naive *naive, const char *where)
{
    ocdm_change change;
    uint32_t capacity = naive->options.capacity / 2 > 0 ? naive->options.capacity / 2 : 1;
    HOLDS(where, ocdm_memory_resize(memory, capacity, &change, NULL) == OCDM_OK);
    struct witness witness = {&change, where};
    naive_resize(naive, capacity, follow_departures, &witness);
    compare_change(&change, naive, where);
    compare_memory(memory, naive, where);
}

static void judge_stream(const ocdm_options *options, const struct made_shape *shape, uint64_t seed)
{
    char where[200];
    snprintf(where, sizeof where, "seed %llu: %s, %s, tie %s, rho %g, M %u, b %u, C %u, labels %u", (unsigned long long)seed,
             options->policy->name, ocdm_distance_name(options->distance), ocdm_tie_name(options->tie), options->rho,
             options->capacity, shape->batch, shape->classes, shape->most_labels);
    struct made_stream *stream = ocdm__allocate(1, sizeof *stream);
    assert_non_null(stream);
    made_stream_start(stream, seed, shape);
    struct naive *naive = naive_create(options, MADE_LARGEST_BATCH);
    ocdm_memory *memory = make_memory(options);
    if (seed % 3 == 0)
        weigh_classes(memory, naive, seed);
    while (naive->arrived < 60 + 2 * options->capacity) {
        size_t count = made_stream_next(stream, naive);
        update_both(memory, naive, stream->batch, count, where);
    }
    shrink_both(memory, naive, where);
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
    ocdm__release(stream);
}

static void judge_distance(ocdm_distance distance)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        ocdm_options options = ocdm_options_default();
        options.distance = distance;
        options.policy = ocdm_policy_find(seed % 7 == 6 ? "onlyone" : "ocdm");
        options.seed = seed;
        options.tie = (ocdm_tie)(seed % 4);
        options.rho = rhos[seed / 4 % 5];
        options.tolerance = seed % 3 == 1 ? 0.2 * (double)(seed % 11) : 0;
        struct made_shape shape = made_shape_from(seed + 5000, false, &options);
        judge_stream(&options, &shape, seed + 5000);
    }
}

TEST(ocdm_deletes_the_argmin_when_distance_is_kl)
{
    judge_distance(OCDM_KL);
}

TEST(ocdm_deletes_the_argmin_when_distance_is_reverse_kl)
{
    judge_distance(OCDM_REVERSE_KL);
}

TEST(ocdm_deletes_the_argmin_when_distance_is_l2)
{
    judge_distance(OCDM_L2);
}

TEST(ocdm_deletes_the_argmin_when_distance_is_tv)
{
    judge_distance(OCDM_TV);
}

/* One pool of `count` samples, label sets given as the digits of `code`: bit i of a digit is class i. */
static void judge_pool(const ocdm_options *options, uint32_t code, uint32_t classes, size_t count)
{
    char where[120];
    snprintf(where, sizeof where, "pool %u of %zu samples over %u classes, %s, rho %g, M %u", code, count, classes,
             ocdm_distance_name(options->distance), options->rho, options->capacity);
    ocdm_sample batch[8];
    uint32_t label[8][4];
    for (size_t i = 0; i < count; i++) {
        uint32_t set = code >> (i * classes) & ((1u << classes) - 1);
        batch[i] = (ocdm_sample){i, label[i], 0};
        for (uint32_t c = 0; c < classes; c++)
            if (set >> c & 1)
                label[i][batch[i].label_count++] = c;
    }
    struct naive *naive = naive_create(options, count);
    ocdm_memory *memory = make_memory(options);
    update_both(memory, naive, batch, count, where);
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
}

/* Every pool of `count` samples over `classes` classes, every smaller capacity. */
static void judge_all_pools(ocdm_distance distance, uint32_t classes, uint32_t count, double rho)
{
    ocdm_options options = ocdm_options_default();
    options.distance = distance;
    options.rho = rho;
    for (uint32_t code = 0; code < 1u << (classes * count); code++) {
        options.capacity = 1 + code % (count - 1);
        options.seed = code;
        judge_pool(&options, code, classes, count);
    }
}

TEST(ocdm_deletes_the_argmin_on_every_tiny_pool)
{
    for (int distance = OCDM_KL; distance <= OCDM_TV; distance++) {
        judge_all_pools((ocdm_distance)distance, 3, 3, 0);
        judge_all_pools((ocdm_distance)distance, 3, 3, 1);
        judge_all_pools((ocdm_distance)distance, 2, 5, -0.3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ocdm_deletes_the_argmin_when_distance_is_kl),
        cmocka_unit_test(ocdm_deletes_the_argmin_when_distance_is_reverse_kl),
        cmocka_unit_test(ocdm_deletes_the_argmin_when_distance_is_l2),
        cmocka_unit_test(ocdm_deletes_the_argmin_when_distance_is_tv),
        cmocka_unit_test(ocdm_deletes_the_argmin_on_every_tiny_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
