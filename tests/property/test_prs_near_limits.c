/* PRS with a margin so wide that about half of its draws are too near to the limit between two classes for the ranking, and are
 * decided by plain sums. With the real margin this happens about once in a million draws. */
#define OCDM__ROUNDING 0x1p-10
#include "../test.h"
#include "memory/policy_prs.c"

#include <stdio.h>

#include "compare.h"
#include "made_stream.h"

static void compare_stream(uint64_t seed)
{
    char where[40];
    snprintf(where, sizeof where, "seed %llu", (unsigned long long)seed);
    ocdm_options options = ocdm_options_default();
    struct made_shape shape = made_shape_from(seed, false, &options);
    options.policy = &ocdm__policy_prs;
    options.seed = seed;
    struct made_stream *stream = ocdm__allocate(1, sizeof *stream);
    assert_non_null(stream);
    made_stream_start(stream, seed, &shape);
    struct naive *naive = naive_create(&options, MADE_LARGEST_BATCH);
    ocdm_memory *memory = make_memory(&options);
    while (naive->arrived < 60 + 4 * (uint64_t)options.capacity) {
        size_t count = made_stream_next(stream, naive);
        ocdm_change change = offer(memory, stream->batch, count, where);
        naive_update(naive, stream->batch, count, NULL, NULL);
        compare_change(&change, naive, where);
        compare_memory(memory, naive, where);
    }
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
    ocdm__release(stream);
}

TEST(prs_equals_the_judge_when_plain_sums_decide)
{
    for (uint64_t seed = 0; seed < 300; seed++)
        compare_stream(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prs_equals_the_judge_when_plain_sums_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
