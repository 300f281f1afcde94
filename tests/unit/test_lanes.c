/* Every search over lanes that this CPU can run must give the results of plain loops. */
#include "../test.h"
#include "memory/lanes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "ocdm/ocdm.h"

#define BLOCKS 6
#define ALL (BLOCKS * OCDM__LANES)

static int64_t score[ALL], order[ALL];
static uint32_t set[ALL];
static struct block blocks[BLOCKS];
static const struct lanes lanes = {score, order, set, blocks};

static uint32_t naive_first(uint32_t block, int64_t wanted)
{
    uint32_t best = OCDM_NONE;
    for (; block != OCDM_NONE; block = blocks[block].next)
        for (uint32_t lane = block * OCDM__LANES; lane < (block + 1) * OCDM__LANES; lane++)
            if (score[lane] == wanted && (best == OCDM_NONE || order[lane] < order[best]))
                best = lane;
    return best;
}

static int64_t naive_highest(uint32_t block)
{
    int64_t best = INT64_MIN;
    for (; block != OCDM_NONE; block = blocks[block].next)
        for (uint32_t lane = block * OCDM__LANES; lane < (block + 1) * OCDM__LANES; lane++)
            best = score[lane] > best ? score[lane] : best;
    return best;
}

/* A chain of 1 to BLOCKS blocks; returns the first. There are few different scores, so that lanes tie, and the largest and
 * smallest numbers are among them. */
static uint32_t make_lanes(uint64_t seed)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    ocdm__random random = ocdm__random_stream(seed, 1);
    uint64_t kinds = 1 + ocdm__random_below(&random, 6);
    for (uint32_t i = 0; i < ALL; i++) {
        uint64_t kind = ocdm__random_below(&random, kinds);
        score[i] = seed % 3 == 0 ? ends[kind] : (int64_t)kind << (seed % 40);
        order[i] = (int64_t)(ocdm__random_next(&random) & ~(uint64_t)0xFF) + i;
    }
    order[ocdm__random_below(&random, ALL)] = INT64_MAX;
    uint32_t length = 1 + (uint32_t)ocdm__random_below(&random, BLOCKS);
    uint32_t start = (uint32_t)ocdm__random_below(&random, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++)
        blocks[(start + i) % BLOCKS].next = i + 1 < length ? (start + i + 1) % BLOCKS : OCDM_NONE;
    return start;
}

TEST(lanes_are_searched_alike_on_every_width)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint32_t start = make_lanes(seed);
        int64_t highest = naive_highest(start);
        uint32_t first = naive_first(start, highest);
        for (size_t i = 0; ocdm__lane_search_at(i); i++) {
            const struct ocdm__lane_search *search = ocdm__lane_search_at(i);
            if (search->highest(&lanes, start) != highest || search->first(&lanes, start, highest) != first)
                fail_msg("seed %llu, search %zu of this CPU", (unsigned long long)seed, i);
        }
    }
}

TEST(first_is_none_when_no_lane_has_the_score)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint32_t start = make_lanes(seed);
        for (size_t i = 0; ocdm__lane_search_at(i); i++)
            assert_int_equal(ocdm__lane_search_at(i)->first(&lanes, start, 123456789), OCDM_NONE);
    }
}

/* All calls together must give the lanes of the chain in order, and no call more than it has room for. */
static void check_from(const struct ocdm__lane_search *search, uint32_t start, int64_t floor, uint32_t room)
{
    uint32_t expected[ALL], found[ALL + OCDM__LANES], expected_count = 0, count = 0;
    for (uint32_t block = start; block != OCDM_NONE; block = blocks[block].next)
        for (uint32_t lane = block * OCDM__LANES; lane < (block + 1) * OCDM__LANES; lane++)
            if (score[lane] >= floor)
                expected[expected_count++] = lane;
    for (uint32_t block = start, calls = 0; block != OCDM_NONE; calls++) {
        uint32_t lane[ALL], wrote = search->from(&lanes, &block, floor, lane, room);
        assert_in_range(wrote, 0, room);
        assert_in_range(calls, 0, BLOCKS - 1);
        assert_in_range(count + wrote, 0, expected_count);
        memcpy(found + count, lane, wrote * sizeof *lane);
        count += wrote;
    }
    assert_int_equal(count, expected_count);
    assert_memory_equal(found, expected, count * sizeof *found);
}

TEST(lanes_from_a_floor_are_those_of_a_plain_loop)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        uint32_t start = make_lanes(seed);
        ocdm__random random = ocdm__random_stream(seed, 2);
        int64_t floor = score[ocdm__random_below(&random, ALL)];
        floor = floor == INT64_MIN ? floor + 1 : floor; /* the lowest score is that of a lane not in use */
        uint32_t room = OCDM__LANES + (uint32_t)ocdm__random_below(&random, ALL - OCDM__LANES + 1);
        for (size_t i = 0; ocdm__lane_search_at(i); i++)
            check_from(ocdm__lane_search_at(i), start, floor, room);
    }
}

TEST(heights_that_reach_are_those_of_a_plain_loop)
{
    static const uint16_t edges[] = {1, 2, 127, 128, 255, 256, 32767, 32768, 65534, 65535};
    ocdm__random random = ocdm__random_stream(0, 3);
    for (unsigned turn = 0; turn < 2000; turn++) {
        uint16_t height[64], least = edges[ocdm__random_below(&random, sizeof edges / sizeof *edges)];
        uint64_t expected = 0;
        for (unsigned i = 0; i < 64; i++) {
            uint64_t any = ocdm__random_next(&random); /* near the limit, or anywhere */
            height[i] = (uint16_t)(any & 1 ? least + (any >> 1) % 3 - 1 : any >> 8);
            expected |= height[i] >= least ? (uint64_t)1 << i : 0;
        }
        for (size_t i = 0; ocdm__lane_search_at(i); i++)
            assert_int_equal(ocdm__lane_search_at(i)->reach(height, least), expected);
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

TEST(searches_are_listed_for_each_width_of_this_cpu)
{
    size_t count = 0;
    for (const struct ocdm__lane_search *search; (search = ocdm__lane_search_at(count)) != NULL; count++)
        for (size_t i = 0; i < count; i++) {
            assert_ptr_not_equal(search, ocdm__lane_search_at(i));
            assert_true(search->highest != ocdm__lane_search_at(i)->highest);
        }
    assert_int_equal(count, 1 + cpu_has("avx2") + cpu_has("avx512f"));
    assert_null(ocdm__lane_search_at(count + 1));
    assert_null(ocdm__lane_search_at(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_searched_alike_on_every_width),
        cmocka_unit_test(first_is_none_when_no_lane_has_the_score),
        cmocka_unit_test(lanes_from_a_floor_are_those_of_a_plain_loop),
        cmocka_unit_test(heights_that_reach_are_those_of_a_plain_loop),
        cmocka_unit_test(searches_are_listed_for_each_width_of_this_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
