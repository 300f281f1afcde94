/* The inner loops of the index, compiled for every width of vector that this CPU has, must give the results of plain loops. */
#include "../test.h"
#include "memory/index.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BLOCKS 6u
#define ALL (BLOCKS * OCDM__BLOCK)

static int64_t score[ALL], order[ALL], tops[BLOCKS];
static uint32_t blocks[BLOCKS];

static uint32_t place_of(uint32_t i)
{
    return blocks[i / OCDM__BLOCK] * OCDM__BLOCK + i % OCDM__BLOCK;
}

static int64_t naive_highest(const struct bucket *bucket)
{
    int64_t highest = INT64_MIN;
    for (uint32_t i = 0; i < bucket->sets; i++)
        highest = score[place_of(i)] > highest ? score[place_of(i)] : highest;
    return highest;
}

static uint32_t naive_first(const struct bucket *bucket, int64_t threshold)
{
    uint32_t first = OCDM_NONE;
    for (uint32_t i = 0; i < bucket->sets; i++)
        if (score[place_of(i)] >= threshold && (first == OCDM_NONE || order[place_of(i)] < order[first]))
            first = place_of(i);
    return first;
}

/* No score is higher than its block's top. */
static bool tops_are_bounds(const struct bucket *bucket)
{
    for (uint32_t i = 0; i < bucket->sets; i++)
        if (score[place_of(i)] > tops[i / OCDM__BLOCK])
            return false;
    return true;
}

/* A bucket whose last block is full or not. There are few different scores, so that sets tie, and the largest and smallest
 * numbers are among them. Tops are exact or too high. */
static struct bucket make_bucket(uint64_t seed)
{
    static const int64_t ends[] = {INT64_MIN + 1, INT64_MIN + 2, -1, 0, 1, INT64_MAX - 1};
    ocdm__random random = ocdm__random_stream(seed, 1);
    uint64_t kinds = 1 + ocdm__random_below(&random, 6);
    struct bucket bucket = {.blocks = blocks, .tops = tops, .room = BLOCKS};
    bucket.sets = 1 + (uint32_t)ocdm__random_below(&random, ALL);
    uint32_t turn = (uint32_t)ocdm__random_below(&random, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = (i + turn) % BLOCKS;
        tops[i] = INT64_MIN;
    }
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t place = place_of(i);
        uint64_t kind = ocdm__random_below(&random, kinds);
        score[place] = seed % 3 == 0 ? ends[kind] : (int64_t)kind << (seed % 40);
        score[place] = i < bucket.sets ? score[place] : INT64_MIN;
        order[place] = (int64_t)(ocdm__random_next(&random) & ~(uint64_t)0xFFF) + i;
        if (score[place] > tops[i / OCDM__BLOCK])
            tops[i / OCDM__BLOCK] = score[place];
    }
    order[ocdm__random_below(&random, ALL)] = INT64_MAX;
    for (uint32_t i = 0; i < BLOCKS; i++)
        tops[i] += tops[i] < INT64_MAX - 9 ? (int64_t)ocdm__random_below(&random, 9) : 0;
    return bucket;
}

TEST(every_width_finds_the_highest_score)
{
    for (uint64_t seed = 0; seed < 2000; seed++)
        for (size_t i = 0; ocdm__loops_at(i) != NULL; i++) {
            struct bucket bucket = make_bucket(seed);
            uint64_t read = 0;
            bool all = seed % 2 == 0;
            int64_t highest = naive_highest(&bucket);
            if (ocdm__loops_at(i)->highest(&bucket, score, all, &read) != highest || !tops_are_bounds(&bucket))
                fail_msg("seed %llu, loops %zu of this CPU", (unsigned long long)seed, i);
            if (all)
                for (uint32_t k = 0; k * OCDM__BLOCK < bucket.sets; k++)
                    assert_true(tops[k] <= highest);
        }
}

/* Highest scores, lower ones, and one that no set has. */
TEST(every_width_finds_the_first_of_those_that_tie)
{
    for (uint64_t seed = 0; seed < 2000; seed++)
        for (size_t i = 0; ocdm__loops_at(i) != NULL; i++) {
            struct bucket bucket = make_bucket(seed);
            int64_t threshold = seed % 5 == 0 ? INT64_MAX : seed % 2 == 0 ? naive_highest(&bucket) : score[place_of(0)];
            uint64_t read = 0;
            uint32_t expected = naive_first(&bucket, threshold);
            if (ocdm__loops_at(i)->first(&bucket, score, order, threshold, &read) != expected || !tops_are_bounds(&bucket))
                fail_msg("seed %llu, loops %zu of this CPU", (unsigned long long)seed, i);
        }
}

/* A block is read again only when its top says that it may matter. */
TEST(blocks_below_the_highest_score_are_not_read)
{
    for (size_t i = 0; ocdm__loops_at(i) != NULL; i++) {
        struct bucket bucket = make_bucket(1);
        bucket.sets = ALL;
        for (uint32_t k = 0; k < ALL; k++)
            score[place_of(k)] = 100 - (int64_t)(k / OCDM__BLOCK);
        uint64_t read = 0;
        assert_int_equal(ocdm__loops_at(i)->highest(&bucket, score, true, &read), 100);
        assert_int_equal(read, ALL);
        read = 0;
        assert_int_equal(ocdm__loops_at(i)->highest(&bucket, score, false, &read), 100);
        assert_int_equal(read, OCDM__BLOCK);
        read = 0;
        assert_true(ocdm__loops_at(i)->first(&bucket, score, order, 99, &read) != OCDM_NONE);
        assert_int_equal(read, 2 * OCDM__BLOCK);
    }
}

/* Whether the kernel lists this feature of the CPU. */
static bool cpu_has(const char *feature)
{
#if defined(__x86_64__)
    static char text[1 << 14];
    FILE *file = fopen("/proc/cpuinfo", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *flags = strstr(text, "\nflags");
    assert_non_null(flags);
    size_t length = strlen(feature);
    for (const char *word = flags + 1; (word = strpbrk(word, " \n")) != NULL && *word == ' '; word++)
        if (strncmp(word + 1, feature, length) == 0 && (word[1 + length] == ' ' || word[1 + length] == '\n'))
            return true;
#else
    (void)feature;
#endif
    return false;
}

TEST(loops_are_listed_for_each_width_of_this_cpu)
{
    size_t count = 0;
    for (const struct ocdm__loops *loops; (loops = ocdm__loops_at(count)) != NULL; count++)
        for (size_t i = 0; i < count; i++)
            assert_true(loops->highest != ocdm__loops_at(i)->highest);
    assert_int_equal(count, 1 + cpu_has("avx2") + cpu_has("avx512f"));
    assert_null(ocdm__loops_at(count + 1));
    assert_null(ocdm__loops_at(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_finds_the_highest_score),
        cmocka_unit_test(every_width_finds_the_first_of_those_that_tie),
        cmocka_unit_test(blocks_below_the_highest_score_are_not_read),
        cmocka_unit_test(loops_are_listed_for_each_width_of_this_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
