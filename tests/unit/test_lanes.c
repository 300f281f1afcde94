/* Every way to search lanes that this CPU has, against plain loops: the same score and the same lane, whatever is in them. */
#include "../test.h"
#include "memory/lanes.h"

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

/* Chains of 1 to BLOCKS blocks in some order; few different scores, so that many tie; the ends of the range among them. */
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

TEST(searches_are_listed_up_to_the_plain_one)
{
    size_t count = 0;
    while (ocdm__lane_search_at(count))
        count++;
    assert_in_range(count, 1, 3);
    assert_null(ocdm__lane_search_at(count + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_searched_alike_on_every_width),
        cmocka_unit_test(first_is_none_when_no_lane_has_the_score),
        cmocka_unit_test(searches_are_listed_up_to_the_plain_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
