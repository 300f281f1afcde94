/*
 * The library's own logarithm and exponential against libm in long double: within 4 units in the last place over the whole
 * range of arguments that counts can take.
 */
#include "../test.h"
#include "base/logarithm.h"
#include "base/random.h"

#include <stddef.h>
#include <math.h>

/* The distance between a double and the truth in units of the truth's last place. */
static long double ulps(double got, long double truth)
{
    double nearest = (double)truth;
    double unit = nextafter(fabs(nearest), INFINITY) - fabs(nearest);
    return fabsl((long double)got - truth) / (long double)unit;
}

static void expect_close(double got, long double truth, const char *what, long double argument)
{
    if (got == truth)
        return;
    long double off = ulps(got, truth);
    if (!(off <= 4))
        fail_msg("%s(%.17Lg) is %.17g, should be %.17Lg: %.2Lf ulp off", what, argument, got, truth, off);
}

static long double true_ratio(uint64_t m)
{
    return -log1pl(-1 / (long double)m);
}

static void check_whole_number(uint64_t x)
{
    expect_close(ocdm__ln(x), logl((long double)x), "ln", (long double)x);
    if (x < 2)
        return;
    expect_close(ocdm__ln_ratio(x), true_ratio(x), "ln_ratio", (long double)x);
    long double step = logl((long double)x) + ((long double)x - 1) * true_ratio(x);
    expect_close(ocdm__ln_step(x), step, "ln_step", (long double)x);
}

TEST(logarithm_is_close_on_small_numbers)
{
    for (uint64_t x = 1; x <= 200000; x++)
        check_whole_number(x);
}

TEST(logarithm_is_close_around_powers_of_two)
{
    for (int exponent = 17; exponent < 64; exponent++)
        for (uint64_t offset = 0; offset < 200; offset++) {
            check_whole_number((UINT64_C(1) << exponent) - offset);
            check_whole_number((UINT64_C(1) << exponent) + offset);
        }
    check_whole_number(UINT64_MAX);
}

TEST(logarithm_is_close_on_random_numbers)
{
    ocdm__random random = ocdm__random_stream(11, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t x = ocdm__random_next(&random) >> ocdm__random_below(&random, 64);
        check_whole_number(x > 0 ? x : 1);
    }
}

TEST(logarithm_is_exact_where_the_answer_is)
{
    assert_true(ocdm__ln(1) == 0);
    assert_true(ocdm__ln_step(1) == 0);
    assert_true(ocdm__exp(0) == 1);
}

/* A class with more samples must never weigh less on the grid, or the largest class would not be the first to shrink. */
TEST(logarithm_step_never_falls_on_the_grid)
{
    int64_t before = 0;
    for (uint64_t m = 1; m <= 400000; m++) {
        int64_t step = ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
        assert_true(step >= before);
        before = step;
    }
}

TEST(exponential_is_close_on_the_range_of_doubles)
{
    for (double x = -708; x < 709.5; x += 0.0037)
        expect_close(ocdm__exp(x), expl((long double)x), "exp", (long double)x);
    ocdm__random random = ocdm__random_stream(12, 0);
    for (int i = 0; i < 200000; i++) {
        double x = (ocdm__random_unit(&random) - 0.5) * ldexp(1, (int)ocdm__random_below(&random, 40) - 30);
        expect_close(ocdm__exp(x), expl((long double)x), "exp", (long double)x);
    }
}

TEST(exponential_ends_where_doubles_end)
{
    assert_true(ocdm__exp(-1e4) == 0);
    assert_true(ocdm__exp(-1e300) == 0);
    assert_true(isinf(ocdm__exp(710)));
    assert_true(isinf(ocdm__exp(1e300)));
    assert_true(ocdm__exp(-744) >= 0 && ocdm__exp(-744) < 1e-320);
}

TEST(nearest_rounds_halves_away_from_zero)
{
    ocdm__random random = ocdm__random_stream(13, 0);
    for (int i = 0; i < 100000; i++) {
        double x = (ocdm__random_unit(&random) - 0.5) * ldexp(1, (int)ocdm__random_below(&random, 50));
        assert_true(ocdm__nearest(x) == llround(x));
    }
    for (int i = -1000; i <= 1000; i++)
        assert_true(ocdm__nearest(i * 0.5) == llround(i * 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm_is_close_on_small_numbers),
        cmocka_unit_test(logarithm_is_close_around_powers_of_two),
        cmocka_unit_test(logarithm_is_close_on_random_numbers),
        cmocka_unit_test(logarithm_is_exact_where_the_answer_is),
        cmocka_unit_test(logarithm_step_never_falls_on_the_grid),
        cmocka_unit_test(exponential_is_close_on_the_range_of_doubles),
        cmocka_unit_test(exponential_ends_where_doubles_end),
        cmocka_unit_test(nearest_rounds_halves_away_from_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
