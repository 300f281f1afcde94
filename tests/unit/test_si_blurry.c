/* Si-Blurry (`--blur si:N:M`) against a naive version that follows the text of docs/methods.md line by line with the same
 * random numbers, and against what any such stream must have. */
#include "../test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "experiment/loop/schedule.h"

enum { SAMPLES = 600, CLASSES = 14, TASKS = 5, MOST = 3 };

/* A stream whose low classes are frequent; the last class has no training sample, and sample 7 has no label. */
struct world {
    uint64_t starts[SAMPLES + 1];
    uint32_t labels[SAMPLES * MOST];
    uint32_t tasks[SAMPLES];
    uint8_t parts[SAMPLES];
    ocdm__stream_table table;
};

static void make_world(struct world *world, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 1);
    *world = (struct world){.starts = {0}};
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t at = world->starts[i];
        size_t wanted = i == 7 ? 0 : 1 + (size_t)ocdm__random_below(&random, MOST);
        for (uint32_t c = 0; c + 1 < CLASSES && at < world->starts[i] + wanted; c++)
            if (ocdm__random_below(&random, c + 2) == 0 || (c + 2 == CLASSES && at == world->starts[i]))
                world->labels[at++] = c;
        world->starts[i + 1] = at;
        world->tasks[i] = (uint32_t)ocdm__random_below(&random, TASKS);
        world->parts[i] = i % 10 == 0 ? OCDM__TEST : OCDM__TRAIN;
    }
    world->table = (ocdm__stream_table){.sample_count = SAMPLES,
                                        .class_count = CLASSES,
                                        .label_starts = world->starts,
                                        .labels = world->labels,
                                        .tasks = world->tasks,
                                        .parts = world->parts};
}

static void order_of(ocdm__stream_order *order, const struct world *world, const ocdm__blur *blur, uint64_t seed)
{
    ocdm_error error = {.message = ""};
    if (ocdm__stream_order_make(order, &world->table, OCDM__TRAIN, NULL, 0, seed, &error) != OCDM_OK ||
        ocdm__stream_order_blur(order, &world->table, blur, seed, &error) != OCDM_OK)
        fail_msg("%s", error.message);
}

/* ---- the naive version ------------------------------------------------------------------------------------------------- */

static size_t carriers(const struct world *world, uint32_t class_number)
{
    size_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        for (uint64_t j = world->starts[i]; world->parts[i] == OCDM__TRAIN && j < world->starts[i + 1]; j++)
            count += world->labels[j] == class_number;
    return count;
}

static int rarest_class(const struct world *world, size_t sample)
{
    int rarest = -1;
    for (uint64_t j = world->starts[sample]; j < world->starts[sample + 1]; j++)
        if (rarest < 0 || carriers(world, world->labels[j]) < carriers(world, (uint32_t)rarest))
            rarest = (int)world->labels[j];
    return rarest;
}

/* The period of item number `item` of `count`: how many of T - 1 uniform numbers from 0 to `count` it is not below. */
struct cuts {
    size_t at[TASKS - 1];
};

static struct cuts draw_cuts(size_t count, ocdm__random *random)
{
    struct cuts cuts;
    for (size_t k = 0; k + 1 < TASKS; k++)
        cuts.at[k] = (size_t)ocdm__random_below(random, count + 1);
    return cuts;
}

static int period_in(const struct cuts *cuts, size_t item)
{
    int period = 0;
    for (size_t k = 0; k + 1 < TASKS; k++)
        period += item >= cuts->at[k];
    return period;
}

/* Period and random key of every training sample of `order`, which is the order without blur. */
static void deal_naively(const struct world *world, const ocdm__stream_order *order, const ocdm__blur *blur, uint64_t seed,
                         int *periods)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_BLUR);
    ocdm__random random = ocdm__random_stream(base, UINT64_MAX);
    uint32_t classes[CLASSES], pool[SAMPLES];
    size_t class_count = 0, pool_count = 0;
    int period_of_class[CLASSES];
    bool disjoint[CLASSES] = {false};
    for (uint32_t c = 0; c < CLASSES; c++)
        if (carriers(world, c) > 0)
            classes[class_count++] = c;
    for (size_t left = class_count; left > 1; left--) {
        size_t j = (size_t)ocdm__random_below(&random, left);
        uint32_t other = classes[j];
        classes[j] = classes[left - 1];
        classes[left - 1] = other;
    }
    size_t first = (size_t)floor(blur->disjoint * (double)class_count + 0.5);
    struct cuts cuts = draw_cuts(first, &random);
    for (size_t i = 0; i < first; i++) {
        period_of_class[classes[i]] = period_in(&cuts, i);
        disjoint[classes[i]] = true;
    }
    cuts = draw_cuts(class_count - first, &random);
    for (size_t i = first; i < class_count; i++)
        period_of_class[classes[i]] = period_in(&cuts, i - first);
    for (size_t i = 0; i < order->count; i++) {
        int own = rarest_class(world, order->samples[i]);
        periods[order->samples[i]] = own < 0 ? 0 : period_of_class[own];
        if (own < 0 || !disjoint[own])
            pool[pool_count++] = order->samples[i];
    }
    for (size_t left = pool_count; left > 1; left--) {
        size_t j = (size_t)ocdm__random_below(&random, left);
        uint32_t other = pool[j];
        pool[j] = pool[left - 1];
        pool[left - 1] = other;
    }
    size_t blurred = (size_t)floor(blur->share * (double)pool_count + 0.5);
    cuts = draw_cuts(blurred, &random);
    for (size_t i = 0; i < blurred; i++)
        periods[pool[i]] = period_in(&cuts, i);
}

TEST(si_blurry_deals_as_its_definition_does)
{
    static const double shares[][2] = {{0, 0}, {0.5, 0.1}, {0.3, 0.7}, {1, 1}, {0, 1}};
    for (uint64_t seed = 0; seed < 6; seed++)
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
            const ocdm__blur blur = {.anew = true, .disjoint = shares[s][0], .share = shares[s][1]}, none = {.share = 0};
            struct world world;
            ocdm__stream_order plain, order;
            int periods[SAMPLES];
            make_world(&world, seed);
            order_of(&plain, &world, &none, seed);
            order_of(&order, &world, &blur, seed);
            deal_naively(&world, &plain, &blur, seed, periods);
            assert_int_equal(order.count, plain.count);
            size_t place = 0;
            for (size_t k = 0; k < TASKS; k++)
                for (; place < order.ends[k]; place++) {
                    assert_int_equal(periods[order.samples[place]], k);
                    periods[order.samples[place]] = -1; /* each sample once */
                }
            assert_int_equal(place, order.count);
            ocdm__stream_order_clear(&plain);
            ocdm__stream_order_clear(&order);
        }
}

/* Without blurred samples a class is in one period; with disjoint classes alone nothing is blurred. */
TEST(si_blurry_keeps_disjoint_classes_together)
{
    const ocdm__blur blur = {.anew = true, .disjoint = 1, .share = 1};
    struct world world;
    ocdm__stream_order order;
    int period_of_class[CLASSES];
    make_world(&world, 3);
    order_of(&order, &world, &blur, 3);
    memset(period_of_class, -1, sizeof period_of_class);
    size_t place = 0;
    for (int k = 0; k < TASKS; k++)
        for (; place < order.ends[k]; place++) {
            int own = rarest_class(&world, order.samples[place]);
            if (own >= 0 && period_of_class[own] >= 0)
                assert_int_equal(period_of_class[own], k);
            if (own >= 0)
                period_of_class[own] = k;
        }
    ocdm__stream_order_clear(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(si_blurry_deals_as_its_definition_does),
        cmocka_unit_test(si_blurry_keeps_disjoint_classes_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
