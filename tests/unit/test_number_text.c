/* Numbers from text: bit by bit what the C library reads in the C locale, in which the tests run. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "base/text.h"

static void same_as_library(const char *text)
{
    double found = 0, wanted = strtod(text, NULL);
    float found_float = 0, wanted_float = strtof(text, NULL);
    size_t length = strlen(text);
    if (!ocdm__text_to_double(text, length, &found) || memcmp(&found, &wanted, sizeof found) != 0)
        fail_msg("%s gave %a, not %a", text, found, wanted);
    if (!ocdm__text_to_float(text, length, &found_float) || memcmp(&found_float, &wanted_float, sizeof found_float) != 0)
        fail_msg("%s gave the float %a, not %a", text, (double)found_float, (double)wanted_float);
}

TEST(number_is_the_nearest_when_cases_are_hard)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0.0",
                                        "1",
                                        "-1.5",
                                        ".5",
                                        "5.",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "-1e-22",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "123456789012345678901234567890",
                                        "0.000000000000000000000000000000000000001",
                                        "1e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "-1e400",
                                        "5e-324",
                                        "2e-324",
                                        "2.4703282292062327208e-324",
                                        "2.4703282292062328e-324",
                                        "1e-400",
                                        "2.2250738585072011e-308",
                                        "16777217",
                                        "16777219",
                                        "16777217.0000001",
                                        "16777216.9999999",
                                        "3.4028235677973366e38",
                                        "3.4028235677973365e38",
                                        "1e39",
                                        "1.401298464324817e-45",
                                        "7.006492321624085e-46",
                                        "7.0064923216240862e-46",
                                        "1.17549435e-38",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0e99999999999999999999",
                                        "0.00000000000000000000000000000000000000000000000000000000000000000001e68",
                                        "1E5",
                                        "1e+5",
                                        "00000000000000000000000012",
                                        "1.00000005960464477539062500",
                                        "1.00000005960464477539062501",
                                        "1.00000005960464477539062499"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same_as_library(texts[i]);
}

/* The middle between 1 and the next double, exactly, and with a digit far behind it. */
TEST(number_of_a_thousand_digits_is_rounded_by_the_last)
{
    static const char middle[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[2100];
    for (size_t zeros = 0; zeros < 2000; zeros += 37) {
        size_t used = (size_t)sprintf(text, "%s", middle);
        memset(text + used, '0', zeros);
        strcpy(text + used + zeros, "1");
        same_as_library(text);
        strcpy(text + used + zeros, "0e2");
        same_as_library(text);
        memmove(text + 1, text + 2, strlen(text + 2) + 1); /* without the point */
        same_as_library(text);
    }
}

TEST(number_is_the_nearest_of_random_decimals)
{
    for (uint64_t seed = 0; seed < 60000; seed++) {
        char text[64];
        uint64_t draw = ocdm__mix(seed), digits = ocdm__mix(draw) >> (draw % 61);
        int exponent = (int)(draw >> 8 & 127) - 64, places = (int)(draw >> 16 & 15);
        snprintf(text, sizeof text, "%s%llu.%0*llue%d", draw >> 40 & 1 ? "-" : "", (unsigned long long)digits, places + 1,
                 (unsigned long long)(draw >> 20 & 1023), exponent);
        same_as_library(text);
        snprintf(text, sizeof text, "0.%0*llu", places + 1, (unsigned long long)digits);
        same_as_library(text);
    }
}

/* Every float as printed, and the middles between floats, which a float by way of a double would get wrong. */
TEST(number_is_the_float_that_was_printed)
{
    for (uint64_t seed = 0; seed < 60000; seed++) {
        uint32_t bits = (uint32_t)ocdm__mix(seed);
        float value;
        char text[400];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, "%.9g", (double)value);
        same_as_library(text);
        double middle = ((double)value + (double)nextafterf(value, 0)) / 2;
        snprintf(text, sizeof text, "%.17g", middle);
        same_as_library(text);
        snprintf(text, sizeof text, "%.170g1", middle);
        if (strchr(text, 'e') == NULL && strchr(text, '.') != NULL)
            same_as_library(text);
    }
}

TEST(number_without_digits_has_its_name)
{
    double value = 0;
    float single = 0;
    assert_true(ocdm__text_to_double("nan", 3, &value) && isnan(value));
    assert_true(ocdm__text_to_float("-NaN", 4, &single) && isnan(single));
    assert_true(ocdm__text_to_double("Inf", 3, &value) && isinf(value) && value > 0);
    assert_true(ocdm__text_to_float("-infinity", 9, &single) && isinf(single) && single < 0);
}

TEST(number_is_refused_when_it_is_not_all_of_the_text)
{
    static const char *const texts[] = {"",    "-",   "+",     ".",  "-.",    "e5",   ".e5",   "1e",
                                        "1e+", "1e-", " 1",    "1 ", "1.2.3", "1,5",  "0x10",  "1f",
                                        "--1", "+-1", "1e1.5", "na", "infin", "nann", "1_000", "\xEF\xBC\x91"};
    double value = 7;
    float single = 7;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (ocdm__text_to_double(texts[i], strlen(texts[i]), &value) ||
            ocdm__text_to_float(texts[i], strlen(texts[i]), &single))
            fail_msg("\"%s\" gave %g", texts[i], value);
    assert_true(value == 7 && single == 7);
    assert_false(ocdm__text_to_double("1\0", 2, &value));
    assert_true(ocdm__text_to_double("12", 1, &value) && value == 1); /* never beyond the length */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_is_the_nearest_when_cases_are_hard),
        cmocka_unit_test(number_of_a_thousand_digits_is_rounded_by_the_last),
        cmocka_unit_test(number_is_the_nearest_of_random_decimals),
        cmocka_unit_test(number_is_the_float_that_was_printed),
        cmocka_unit_test(number_without_digits_has_its_name),
        cmocka_unit_test(number_is_refused_when_it_is_not_all_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
