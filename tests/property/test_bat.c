/*
 * BAT-OCDM against judges: with one task it is OCDM; with several, the samples of each task are those of the naive OCDM that
 * saw this task alone and was shrunk when a task began. A saved memory goes on as before.
 */
#include "../test.h"
#include "made_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "memory/internal.h"

enum { MOST_TASKS = 5, BATCHES_OF_A_TASK = 12 };

/* The naive memories of the tasks so far, and the first sample of each. */
struct judge {
    struct naive *tasks[MOST_TASKS];
    uint64_t first[MOST_TASKS + 1];
    size_t count;
};

static ocdm_options options_from(uint64_t seed)
{
    static const double rhos[] = {0, 0.5, 1, -0.3};
    ocdm_options options = ocdm_options_default();
    options.policy = ocdm_policy_find("bat-ocdm");
    options.capacity = 7 + (uint32_t)(seed % 5) * 13;
    options.seed = seed * 7919;
    options.tie = (ocdm_tie)(seed % 4);
    options.rho = rhos[seed / 4 % 4];
    return options;
}

static uint32_t held(const struct judge *judge)
{
    size_t sum = 0;
    for (size_t k = 0; k < judge->count; k++)
        sum += judge->tasks[k]->size;
    return (uint32_t)sum;
}

/* The earlier tasks shrink, the new one gets the rest. */
static void judge_task(struct judge *judge, const ocdm_options *options)
{
    uint32_t share = options->capacity / (uint32_t)(judge->count + 1);
    for (size_t k = 0; k < judge->count; k++)
        if (judge->tasks[k]->size > share)
            naive_resize(judge->tasks[k], share, NULL, NULL);
    ocdm_options own = *options;
    own.policy = ocdm_policy_find("ocdm");
    own.capacity = options->capacity - held(judge);
    own.seed += judge->count;
    judge->tasks[judge->count++] = naive_create(&own, MADE_LARGEST_BATCH);
}

static bool naive_has(const struct naive *naive, uint64_t id)
{
    for (size_t i = 0; i < naive->size; i++)
        if (naive->pool[i].id == id)
            return true;
    return false;
}

static void same_samples(const struct judge *judge, const ocdm_memory *memory, const char *where)
{
    HOLDS(where, ocdm_memory_size(memory) == held(judge));
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++) {
        uint64_t id = ocdm_memory_id(memory, slot);
        bool found = false;
        for (size_t k = 0; k < judge->count; k++)
            found = found || (id >= judge->first[k] && id < judge->first[k + 1] && naive_has(judge->tasks[k], id));
        HOLDS(where, found);
    }
}

/* The payloads of a caller that follows the changes are where their samples are. */
static void follow(uint64_t *payload, const ocdm_memory *memory, const ocdm_change *change, const ocdm_sample *batch,
                   const char *where)
{
    for (size_t i = 0; i < change->moved_count; i++)
        payload[change->moved[i].to] = payload[change->moved[i].from];
    for (size_t i = 0; i < change->stored; i++)
        payload[change->slot[i]] = batch[change->item[i]].id;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        HOLDS(where, payload[slot] == ocdm_memory_id(memory, slot));
}

static void reload(ocdm_memory **memory)
{
    size_t size;
    ocdm_memory *loaded = NULL;
    assert_int_equal(ocdm_memory_save_bytes(*memory, NULL, 0, &size, NULL), OCDM_OK);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(ocdm_memory_save_bytes(*memory, bytes, size, &size, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, NULL), OCDM_OK);
    ocdm_memory_destroy(*memory);
    free(bytes);
    *memory = loaded;
}

static void run(uint64_t seed, bool reloads)
{
    char where[40];
    const ocdm_options given = options_from(seed);
    ocdm_options options = given;
    struct made_shape shape = made_shape_from(seed, false, &options);
    options = given;
    ocdm_memory *memory = NULL;
    struct judge judge = {.count = 0};
    uint64_t payload[200], id = 0;
    struct made_stream *stream;
    assert_int_equal(ocdm__new(&stream, 1, sizeof *stream, "a stream", NULL), OCDM_OK);
    snprintf(where, sizeof where, "seed %d", (int)seed);
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    made_stream_start(stream, seed, &shape);
    for (size_t task = 0; task < MOST_TASKS; task++) {
        ocdm_change change = {.stored = 0};
        if (task > 0 || seed % 2) { /* the first task may be left out */
            HOLDS(where, ocdm_memory_begin_task(memory, &change, NULL) == OCDM_OK);
            HOLDS(where, change.stored == 0);
        }
        judge_task(&judge, &options);
        judge.first[task] = judge.first[task + 1] = id;
        follow(payload, memory, &change, NULL, where);
        same_samples(&judge, memory, where);
        for (int step = 0; step < BATCHES_OF_A_TASK; step++) {
            size_t count = made_stream_next(stream, judge.tasks[task]);
            for (size_t i = 0; i < count; i++)
                stream->batch[i].id = id++;
            judge.first[task + 1] = id;
            HOLDS(where, ocdm_memory_update(memory, stream->batch, count, &change, NULL) == OCDM_OK);
            naive_update(judge.tasks[task], stream->batch, count, NULL, NULL);
            follow(payload, memory, &change, stream->batch, where);
            same_samples(&judge, memory, where);
            if (reloads && step % 5 == 2)
                reload(&memory);
        }
    }
    for (size_t k = 0; k < judge.count; k++)
        naive_destroy(judge.tasks[k]);
    ocdm_memory_destroy(memory);
    ocdm__release(stream);
}

TEST(each_task_has_the_samples_of_its_own_naive_memory)
{
    for (uint64_t seed = 0; seed < 40; seed++)
        run(seed, false);
}

TEST(saved_divisions_go_on_as_before)
{
    for (uint64_t seed = 0; seed < 20; seed++)
        run(seed, true);
}

/* Slot by slot: who left, in which order, and who sits where. */
TEST(one_task_is_ocdm)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        ocdm_options options = options_from(seed), plain = options;
        struct made_shape shape = made_shape_from(seed, false, &plain);
        ocdm_memory *memory = NULL, *ocdm = NULL;
        struct made_stream *stream;
        plain = options;
        plain.policy = ocdm_policy_find("ocdm");
        struct naive *naive = naive_create(&plain, MADE_LARGEST_BATCH);
        assert_int_equal(ocdm__new(&stream, 1, sizeof *stream, "a stream", NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_create(&plain, &ocdm, NULL), OCDM_OK);
        made_stream_start(stream, seed, &shape);
        for (uint32_t id = 0; id < 6; id++) {
            assert_int_equal(ocdm_memory_set_weight(memory, id, 1 + id, NULL), OCDM_OK);
            assert_int_equal(ocdm_memory_set_weight(ocdm, id, 1 + id, NULL), OCDM_OK);
        }
        for (int step = 0; step < 40; step++) {
            ocdm_change change, expected;
            size_t count = made_stream_next(stream, naive);
            naive_update(naive, stream->batch, count, NULL, NULL); /* its ids are in use; weights do not matter for that */
            for (size_t i = 0; i < count; i++)
                stream->batch[i].id = (uint64_t)step * 100 + i;
            assert_int_equal(ocdm_memory_update(memory, stream->batch, count, &change, NULL), OCDM_OK);
            assert_int_equal(ocdm_memory_update(ocdm, stream->batch, count, &expected, NULL), OCDM_OK);
            assert_int_equal(change.left_count, expected.left_count);
            for (size_t i = 0; i < change.left_count; i++)
                assert_int_equal(change.left[i].id, expected.left[i].id);
            for (uint32_t slot = 0; slot < ocdm_memory_size(ocdm); slot++)
                assert_int_equal(ocdm_memory_id(memory, slot), ocdm_memory_id(ocdm, slot));
        }
        naive_destroy(naive);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(ocdm);
        ocdm__release(stream);
    }
}

TEST(tasks_without_a_batch_between_them_are_one)
{
    ocdm_options options = options_from(1);
    ocdm_error error;
    ocdm_memory *memory = NULL, *other = NULL;
    options.capacity = 2;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint64_t id = 0; id < 2; id++) {
        uint32_t label = (uint32_t)id;
        const ocdm_sample sample = {.id = id, .labels = &label, .label_count = 1};
        for (int i = 0; i < 3; i++)
            assert_int_equal(ocdm_memory_begin_task(memory, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_size(memory), id + 1);
    }
    assert_int_equal(ocdm_memory_begin_task(memory, NULL, &error), OCDM_LIMIT); /* two places, three tasks */
    assert_non_null(strstr(error.message, "2 places cannot be divided among 3 tasks"));
    assert_int_equal(ocdm_memory_size(memory), 2);
    assert_int_equal(ocdm_memory_begin_task(NULL, NULL, NULL), OCDM_BAD_ARGUMENT);
    const ocdm_memory *shards[] = {memory};
    assert_int_equal(ocdm_memory_merge(shards, 1, 2, &other, NULL), OCDM_BAD_ARGUMENT);
    ocdm_memory_destroy(memory);
}

/* Weights that are set between the last batch of a task and the next task count when the first one shrinks. */
TEST(weights_count_when_a_task_begins)
{
    ocdm_memory *before = NULL, *between = NULL;
    ocdm_options options = ocdm_options_default();
    options.policy = ocdm_policy_find("bat-ocdm");
    options.capacity = 12;
    assert_int_equal(ocdm_memory_create(&options, &before, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_create(&options, &between, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(before, 0, 5, NULL), OCDM_OK);
    for (uint64_t id = 0; id < 12; id++) { /* all fit: weights do not matter yet */
        uint32_t label = (uint32_t)id % 2;
        const ocdm_sample sample = {.id = id, .labels = &label, .label_count = 1};
        assert_int_equal(ocdm_memory_update(before, &sample, 1, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(between, &sample, 1, NULL, NULL), OCDM_OK);
    }
    assert_int_equal(ocdm_memory_set_weight(between, 0, 5, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_begin_task(before, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_begin_task(between, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_kept(before, 0), 5);
    assert_int_equal(ocdm_memory_kept(between, 0), 5);
    ocdm_memory_destroy(before);
    ocdm_memory_destroy(between);
}

/* As a program that knows how many samples fit when it has seen the first one. */
TEST(an_empty_memory_changes_its_capacity)
{
    for (uint32_t capacity = 3; capacity < 30; capacity += 13) {
        ocdm_options options = ocdm_options_default();
        ocdm_memory *memory = NULL;
        options.policy = ocdm_policy_find("bat-ocdm");
        options.capacity = 10;
        assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_begin_task(memory, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_resize(memory, capacity, NULL, NULL), OCDM_OK);
        reload(&memory);
        for (uint64_t id = 0; id < 60; id++) {
            uint32_t label = (uint32_t)id % 2;
            const ocdm_sample sample = {.id = id, .labels = &label, .label_count = 1};
            if (id == 30)
                assert_int_equal(ocdm_memory_begin_task(memory, NULL, NULL), OCDM_OK);
            assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
            if (id % 7 == 0)
                reload(&memory);
        }
        assert_int_equal(ocdm_memory_size(memory), capacity);
        assert_int_equal(ocdm_memory_resize(memory, capacity, NULL, NULL), OCDM_BAD_ARGUMENT);
        ocdm_memory_destroy(memory);
    }
}

static int admit_all(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)memory;
    (void)sample;
    return 1;
}

/* The memories of the tasks would not know whom it refuses. */
TEST(a_copy_takes_no_admit)
{
    ocdm_options options = ocdm_options_default();
    ocdm_policy copy = *ocdm_policy_find("bat-ocdm");
    ocdm_memory *memory = NULL;
    ocdm_error error;
    copy.name = "mine";
    copy.admit = admit_all;
    options.policy = &copy;
    options.capacity = 4;
    assert_int_equal(ocdm_memory_create(&options, &memory, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "the policy mine divides its places among tasks, and takes no `admit`"));
    assert_null(memory);
}

/* To all other policies a task means nothing. */
TEST(other_policies_do_not_notice_tasks)
{
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        ocdm_options options = ocdm_options_default();
        ocdm_memory *memory = NULL;
        ocdm_change change = {.stored = 7, .left_count = 7};
        options.policy = ocdm_policy_at(p);
        options.capacity = 4;
        assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
        HOLDS(options.policy->name, ocdm_memory_begin_task(memory, &change, NULL) == OCDM_OK);
        HOLDS(options.policy->name, change.stored == 0 && change.left_count == 0 && change.moved_count == 0);
        ocdm_memory_destroy(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_has_the_samples_of_its_own_naive_memory),
        cmocka_unit_test(saved_divisions_go_on_as_before),
        cmocka_unit_test(one_task_is_ocdm),
        cmocka_unit_test(tasks_without_a_batch_between_them_are_one),
        cmocka_unit_test(weights_count_when_a_task_begins),
        cmocka_unit_test(an_empty_memory_changes_its_capacity),
        cmocka_unit_test(a_copy_takes_no_admit),
        cmocka_unit_test(other_policies_do_not_notice_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
