/*
 * The policies gss and gss-released on random streams against the judge, with toy gradients: who sits where and with which
 * score after every update, whom the caller is asked about, with files in the middle and callers that fail in between.
 */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "../scratch_folder.h"
#include "../toy_gradients.h"
#include "base/allocate.h"
#include "base/bytes.h"
#include "memory/memory.h"

enum { STREAMS = 300 };

enum conduct { ANSWERS, FAILS, FORGETS, GIVES_NAN, FAILS_LATE };

/* The caller: answers by toy gradients, or fails in one of four ways. */
struct caller {
    enum conduct does;
    bool released;
    size_t batch; /* how many samples the question must be about */
    bool was_asked;
    uint64_t full, passed; /* comparisons for a full memory; those whose batch was discarded */
};

static ocdm_status compare_for_memory(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    struct caller *caller = state;
    uint32_t size = ocdm_memory_size(memory), capacity = ocdm_memory_options(memory)->capacity;
    assert_int_equal(asked->count, caller->batch);
    size_t groups = size < 20 ? 1 : size < 100 ? size / 10 : 10;
    if (caller->released)
        assert_int_equal(asked->slot_count, groups * (size < 10 ? size : 10));
    else
        assert_int_equal(asked->slot_count, size < 10 ? size : 10);
    assert_int_equal(asked->group_size, caller->released ? asked->slot_count / groups : 1);
    assert_true((asked->batch_cosine != NULL) == (caller->released ? size == capacity : size + asked->count > capacity));
    assert_true((asked->batch_first != 0) == (size == capacity));
    caller->was_asked = true;
    if (caller->does == FAILS)
        return OCDM_IO;
    if (caller->does == FORGETS)
        return OCDM_OK;
    toy_similarity(NULL, memory, asked, error);
    caller->full += asked->batch_first != 0;
    caller->passed += asked->batch_first && *asked->batch_cosine >= 0;
    if (caller->does == GIVES_NAN)
        *(asked->batch_cosine ? asked->batch_cosine : &asked->item_cosine[asked->count - 1]) = NAN;
    return caller->does == FAILS_LATE ? OCDM_LIMIT : OCDM_OK;
}

static void compare_scores(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    unsigned char bytes[8 * (40 + MADE_LARGEST_BATCH)];
    size_t size;
    ocdm_error error;
    HOLDS(where, memory->policy.save(memory->state, memory, bytes, sizeof bytes, &size, &error) == OCDM_OK);
    HOLDS(where, size == 8 * naive->size);
    for (size_t v = 0; v < naive->size; v++)
        HOLDS(where, ocdm__get_double(bytes + 8 * v) == naive->pool[v].score);
}

static void compare_all(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    compare_memory(memory, naive, where);
    compare_scores(memory, naive, where);
}

/* After every kind of failure the memory equals the judge's, which never saw the batch. */
static void fail_in_every_way(ocdm_memory *memory, struct caller *caller, const struct naive *naive, const ocdm_sample *batch,
                              const char *where)
{
    static const ocdm_status expected[] = {
        [FAILS] = OCDM_IO, [FORGETS] = OCDM_BAD_ARGUMENT, [GIVES_NAN] = OCDM_BAD_ARGUMENT, [FAILS_LATE] = OCDM_LIMIT};
    for (enum conduct way = FAILS; way <= FAILS_LATE; way++) {
        ocdm_change change = {.stored = 77};
        caller->does = way;
        HOLDS(where, ocdm_memory_update(memory, batch, caller->batch, &change, NULL) == expected[way]);
        HOLDS(where, change.stored == 77);
        compare_all(memory, naive, where);
    }
    caller->does = ANSWERS;
}

static ocdm_memory *through_a_file(ocdm_memory *memory, struct caller *caller, const char *where)
{
    ocdm_memory *loaded = NULL;
    HOLDS(where, ocdm_memory_save(memory, "memory", NULL) == OCDM_OK);
    HOLDS(where, ocdm_memory_load("memory", NULL, NULL, &loaded, NULL) == OCDM_OK);
    ocdm_memory_destroy(memory);
    ocdm_memory_set_similarity(loaded, compare_for_memory, caller);
    return loaded;
}

struct course {
    ocdm_memory *memory;
    struct naive *naive;
    struct made_stream *stream;
    struct caller caller;
};

static void take_a_step(struct course *course, ocdm__random *random, const char *where)
{
    struct caller *caller = &course->caller;
    uint32_t slot[3];
    size_t before = course->naive->size;
    caller->batch = made_stream_next(course->stream, course->naive);
    if (before && ocdm__random_below(random, 3) == 0)
        fail_in_every_way(course->memory, caller, course->naive, course->stream->batch, where);
    if (ocdm__random_below(random, 4) == 0)
        ocdm_memory_draw(course->memory, 3, slot);
    caller->was_asked = false;
    ocdm_change change = offer(course->memory, course->stream->batch, caller->batch, where);
    HOLDS(where, caller->was_asked == (before > 0));
    naive_update(course->naive, course->stream->batch, caller->batch, NULL, NULL);
    compare_change(&change, course->naive, where);
    if (ocdm__random_below(random, 5) == 0)
        course->memory = through_a_file(course->memory, caller, where);
    compare_all(course->memory, course->naive, where);
}

/* Counts, in `sum`, the questions that a full memory asked. */
static void run_course(const char *policy, uint64_t seed, struct caller *sum)
{
    char where[120];
    ocdm_options options = ocdm_options_default();
    struct made_shape shape = made_shape_from(seed, false, &options);
    ocdm__random random = ocdm__random_stream(seed, 3);
    options.policy = ocdm_policy_find(policy);
    options.seed = ocdm__random_next(&random);
    options.batch = 1 + (uint32_t)ocdm__random_below(&random, 10);
    options.tie = (ocdm_tie)(seed % 4);
    snprintf(where, sizeof where, "seed %llu: %s, M %u, b %u", (unsigned long long)seed, policy, options.capacity, shape.batch);
    struct course course = {.memory = make_memory(&options), .naive = naive_create(&options, MADE_LARGEST_BATCH)};
    course.caller.released = options.policy->traits & OCDM_AS_RELEASED;
    ocdm_memory_set_similarity(course.memory, compare_for_memory, &course.caller);
    course.stream = ocdm__allocate(1, sizeof *course.stream);
    assert_non_null(course.stream);
    made_stream_start(course.stream, seed, &shape);
    while (course.naive->arrived < 60 + 4 * options.capacity)
        take_a_step(&course, &random, where);
    sum->full += course.caller.full;
    sum->passed += course.caller.passed;
    ocdm_memory_destroy(course.memory);
    naive_destroy(course.naive);
    ocdm__release(course.stream);
}

static void run_courses(const char *policy)
{
    struct caller sum = {0};
    for (uint64_t seed = 0; seed < STREAMS; seed++)
        run_course(policy, seed, &sum);
    assert_true(sum.passed > 100 && sum.full - sum.passed > 100); /* both kinds of answer were put to the test */
}

TEST(gss_equals_the_judge_through_files_and_failures)
{
    run_courses("gss");
}

TEST(gss_released_equals_the_judge_through_files_and_failures)
{
    run_courses("gss-released");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gss_equals_the_judge_through_files_and_failures),
        cmocka_unit_test(gss_released_equals_the_judge_through_files_and_failures),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
