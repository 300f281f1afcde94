/* 16-bit floats: all of them, and every place where rounding changes. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "base/bytes.h"
#include "base/random.h"

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What the standard says the bits mean. */
static double meaning(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 0x3FF;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

TEST(half_is_what_its_bits_mean_and_comes_back)
{
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t half = (uint16_t)i;
        float value = ocdm__half_to_float(half);
        if ((half & 0x7C00) == 0x7C00 && (half & 0x3FF) != 0) {
            assert_true(isnan(value) && isnan(ocdm__half_to_float(ocdm__float_to_half(value))));
            continue;
        }
        if ((half & 0x7FFF) == 0x7C00)
            assert_true(isinf(value) && (value < 0) == (half >= 0x8000));
        else if ((double)value != meaning(half) || (signbit(value) != 0) != (half >= 0x8000))
            fail_msg("half %04x gave %g", i, (double)value);
        assert_int_equal(ocdm__float_to_half(value), half);
    }
}

/* Between two consecutive halves, the middle is rounded to the even one and all else to the nearer. */
TEST(half_rounds_to_nearest_even)
{
    for (uint32_t i = 0; i < 0x7BFF; i++) {
        uint16_t low = (uint16_t)i, high = (uint16_t)(i + 1);
        float middle = (ocdm__half_to_float(low) + ocdm__half_to_float(high)) / 2;
        uint16_t even = (low & 1) == 0 ? low : high;
        if (ocdm__float_to_half(middle) != even || ocdm__float_to_half(nextafterf(middle, 0)) != low ||
            ocdm__float_to_half(nextafterf(middle, 1e9f)) != high || ocdm__float_to_half(-middle) != (even | 0x8000))
            fail_msg("around %g, above half %04x", (double)middle, i);
    }
}

TEST(half_is_infinite_from_65520_on_and_zero_up_to_2_to_minus_25)
{
    assert_int_equal(ocdm__float_to_half(65519.996f), 0x7BFF);
    assert_int_equal(ocdm__float_to_half(65520.0f), 0x7C00);
    assert_int_equal(ocdm__float_to_half(-3e38f), 0xFC00);
    assert_int_equal(ocdm__float_to_half(INFINITY), 0x7C00);
    assert_int_equal(ocdm__float_to_half(0x1p-25f), 0);
    assert_int_equal(ocdm__float_to_half(0x1.000002p-25f), 1);
    assert_int_equal(ocdm__float_to_half(of_bits(1)), 0);
    assert_int_equal(ocdm__float_to_half(-0.0f), 0x8000);
}

/* Any float: no half is nearer than the one that was chosen. */
TEST(half_is_the_nearest_of_any_float)
{
    for (uint64_t i = 0; i < 300000; i++) {
        float value = of_bits((uint32_t)ocdm__mix(i) & 0x7FFFFFFFu);
        if (!(value < 65520.0f))
            continue;
        uint16_t half = ocdm__float_to_half(value);
        double off = fabs(meaning(half) - (double)value);
        if ((half > 0 && fabs(meaning((uint16_t)(half - 1)) - (double)value) < off) ||
            (half < 0x7BFF && fabs(meaning((uint16_t)(half + 1)) - (double)value) < off))
            fail_msg("draw %llu: %a gave half %04x", (unsigned long long)i, (double)value, half);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_is_what_its_bits_mean_and_comes_back),
        cmocka_unit_test(half_rounds_to_nearest_even),
        cmocka_unit_test(half_is_infinite_from_65520_on_and_zero_up_to_2_to_minus_25),
        cmocka_unit_test(half_is_the_nearest_of_any_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
