/*
 * Weights, forgetting and other capacities between the updates of random streams, for every policy, against the judge: who
 * left in which order, who sits where, counts, targets, distances; and payloads that follow the changes are where they belong.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include "../toy_gradients.h"
#include "base/allocate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Capacities stay below this. */
#define LARGEST_MEMORY 160

/* Both memories, and payloads that are copied as changes tell: the payload of a sample is its id. */
struct pair {
    ocdm_memory *memory;
    struct naive *naive;
    struct made_stream *stream;
    ocdm__random random;
    uint64_t payload[LARGEST_MEMORY + MADE_LARGEST_BATCH];
    char where[200];
};

static void follow_change(struct pair *pair, const ocdm_change *change, const ocdm_sample *batch)
{
    for (size_t i = 0; i < change->moved_count; i++) {
        HOLDS(pair->where, change->moved[i].from > change->moved[i].to);
        pair->payload[change->moved[i].to] = pair->payload[change->moved[i].from];
    }
    for (size_t i = 0; i < change->stored; i++)
        pair->payload[change->slot[i]] = batch[change->item[i]].id;
    for (uint32_t slot = 0; slot < ocdm_memory_size(pair->memory); slot++)
        HOLDS(pair->where, pair->payload[slot] == ocdm_memory_id(pair->memory, slot));
    compare_change(change, pair->naive, pair->where);
    compare_memory(pair->memory, pair->naive, pair->where);
}

static void open_pair(struct pair *pair, ocdm_options options, const struct made_shape *shape, uint64_t seed)
{
    snprintf(pair->where, sizeof pair->where, "seed %llu: %s, %s, tie %s, rho %g, M %u", (unsigned long long)seed,
             options.policy->name, ocdm_distance_name(options.distance), ocdm_tie_name(options.tie), options.rho,
             options.capacity);
    pair->memory = make_memory(&options);
    uint32_t capacity = options.capacity;
    options.capacity = LARGEST_MEMORY;
    pair->naive = naive_create(&options, MADE_LARGEST_BATCH);
    pair->naive->options.capacity = capacity;
    pair->stream = ocdm__allocate(1, sizeof *pair->stream);
    assert_non_null(pair->stream);
    made_stream_start(pair->stream, seed, shape);
    pair->random = ocdm__random_stream(seed, 99);
}

static void close_pair(struct pair *pair)
{
    ocdm_memory_destroy(pair->memory);
    naive_destroy(pair->naive);
    ocdm__release(pair->stream);
}

static void update_both(struct pair *pair)
{
    size_t count = made_stream_next(pair->stream, pair->naive);
    ocdm_change change = offer(pair->memory, pair->stream->batch, count, pair->where);
    HOLDS(pair->where, change.moved_count == 0);
    naive_update(pair->naive, pair->stream->batch, count, NULL, NULL);
    follow_change(pair, &change, pair->stream->batch);
}

/* A weight for a class of the stream, seen or not yet; the extremes and 1 now and then. */
static void weigh_both(struct pair *pair)
{
    static const double special[] = {1, OCDM_MIN_WEIGHT, OCDM_MAX_WEIGHT, 2};
    const struct naive *naive = pair->naive;
    uint32_t id = (uint32_t)ocdm__random_below(&pair->random, 40);
    if (naive->class_count > 0 && ocdm__random_below(&pair->random, 4) > 0)
        id = naive->classes[ocdm__random_below(&pair->random, naive->class_count)].id;
    uint64_t kind = ocdm__random_below(&pair->random, 8);
    double weight = kind < 4 ? special[kind] : 0.05 + 5 * ocdm__random_unit(&pair->random);
    HOLDS(pair->where, ocdm_memory_set_weight(pair->memory, id, weight, NULL) == OCDM_OK);
    HOLDS(pair->where, ocdm_memory_weight(pair->memory, id) == weight);
    naive_set_weight(pair->naive, id, weight);
    compare_memory(pair->memory, pair->naive, pair->where);
}

static void forget_in_both(struct pair *pair)
{
    if (pair->naive->size == 0)
        return;
    uint64_t id = pair->naive->pool[ocdm__random_below(&pair->random, pair->naive->size)].id;
    ocdm_change change;
    HOLDS(pair->where, ocdm_memory_forget(pair->memory, id, &change, NULL) == OCDM_OK);
    HOLDS(pair->where, change.stored == 0 && change.left_count == 1 && change.left[0].id == id);
    naive_forget(pair->naive, id);
    follow_change(pair, &change, NULL);
    HOLDS(pair->where, ocdm_memory_forget(pair->memory, id, NULL, NULL) == OCDM_UNKNOWN_ID);
}

static void resize_both(struct pair *pair)
{
    uint32_t now = pair->naive->options.capacity, most = now * 2 < LARGEST_MEMORY ? now * 2 : LARGEST_MEMORY;
    uint32_t capacity = 1 + (uint32_t)ocdm__random_below(&pair->random, most);
    ocdm_change change;
    HOLDS(pair->where, ocdm_memory_resize(pair->memory, capacity, &change, NULL) == OCDM_OK);
    HOLDS(pair->where, ocdm_memory_options(pair->memory)->capacity == capacity);
    naive_resize(pair->naive, capacity, NULL, NULL);
    follow_change(pair, &change, NULL);
}

/* Saved and loaded, the memory is the same and goes on the same. */
static void reload(struct pair *pair)
{
    size_t size, again;
    ocdm_error error;
    HOLDS(pair->where, ocdm_memory_save_bytes(pair->memory, NULL, 0, &size, &error) == OCDM_OK);
    unsigned char *bytes = ocdm__allocate(size, 1), *second = ocdm__allocate(size, 1);
    HOLDS(pair->where, ocdm_memory_save_bytes(pair->memory, bytes, size, &again, &error) == OCDM_OK && again == size);
    ocdm_memory *loaded = NULL;
    if (ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, &error) != OCDM_OK)
        fail_msg("%s: %s", pair->where, error.message);
    HOLDS(pair->where, ocdm_memory_save_bytes(loaded, second, size, &again, &error) == OCDM_OK && again == size);
    HOLDS(pair->where, memcmp(bytes, second, size) == 0);
    ocdm_memory_destroy(pair->memory);
    pair->memory = with_gradients(loaded);
    compare_memory(pair->memory, pair->naive, pair->where);
    ocdm__release(bytes);
    ocdm__release(second);
}

static void run_pair(const ocdm_options *options, const struct made_shape *shape, uint64_t seed)
{
    struct pair pair;
    memset(&pair, 0, sizeof pair);
    open_pair(&pair, *options, shape, seed);
    for (int step = 0; step < 60; step++) {
        uint64_t what = ocdm__random_below(&pair.random, 12);
        if (what < 2)
            weigh_both(&pair);
        else if (what < 4)
            forget_in_both(&pair);
        else if (what < 5)
            resize_both(&pair);
        else if (what < 6)
            reload(&pair);
        update_both(&pair);
    }
    close_pair(&pair);
}

TEST(policies_equal_the_judge_when_weights_samples_and_capacity_change)
{
    static const double rhos[] = {0, 0.5, 1, -0.3, 16};
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            ocdm_options options = ocdm_options_default();
            options.policy = ocdm_policy_at(p);
            options.seed = seed * 7919;
            options.tie = (ocdm_tie)(seed % 4);
            options.rho = rhos[seed / 4 % 5];
            bool single = (options.policy->traits & OCDM_SINGLE_LABEL) != 0;
            struct made_shape shape = made_shape_from(seed + 8000, single, &options);
            options.capacity = options.capacity < LARGEST_MEMORY ? options.capacity : LARGEST_MEMORY;
            run_pair(&options, &shape, seed + 8000 + p * 1000);
        }
}

/* The weights alone, all classes weighted from the start, and a memory large enough that label sets recur. */
TEST(ocdm_equals_the_judge_when_all_classes_have_weights)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct pair pair;
        memset(&pair, 0, sizeof pair);
        ocdm_options options = ocdm_options_default();
        options.capacity = 20 + (uint32_t)seed * 3;
        options.seed = seed;
        options.rho = (double)(seed % 3) * 0.5;
        options.policy = ocdm_policy_find(seed % 5 == 4 ? "onlyone" : "ocdm");
        const struct made_shape shape = {.classes = 12, .window = 8, .period = 3, .most_labels = 4, .batch = 10};
        open_pair(&pair, options, &shape, seed + 9000);
        for (uint32_t id = 0; id < 12; id++) {
            double weight = exp(4 * ocdm__random_unit(&pair.random) - 2);
            assert_int_equal(ocdm_memory_set_weight(pair.memory, id, weight, NULL), OCDM_OK);
            naive_set_weight(pair.naive, id, weight);
        }
        for (int step = 0; step < 60; step++)
            update_both(&pair);
        close_pair(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_equal_the_judge_when_weights_samples_and_capacity_change),
        cmocka_unit_test(ocdm_equals_the_judge_when_all_classes_have_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
