/* The fast path for arrays of numbers: every text gives the same result with and without it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/json.h"
#include "base/random.h"

struct outcome {
    enum ocdm__json_event last;
    size_t events, at;
    const char *reason;
};

/* Scans a copy that ends where its block of memory does, so that a sanitizer sees a read beyond the end. */
static struct outcome scan(const char *text, size_t size, bool with_short_cut)
{
    char *copy = malloc(size + (size == 0));
    assert_non_null(copy);
    memcpy(copy, text, size);
    static ocdm__json json;
    ocdm__json_begin(&json, copy, size);
    struct outcome outcome = {.events = 0, .reason = ""};
    while ((outcome.last = ocdm__json_next(&json)) > OCDM__JSON_END) {
        outcome.events++;
        if (with_short_cut && outcome.last == OCDM__JSON_NUMBER)
            ocdm__json_pass_numbers(&json);
    }
    outcome.at = outcome.last == OCDM__JSON_ERROR ? json.error_at : size;
    outcome.reason = outcome.last == OCDM__JSON_ERROR ? json.reason : "";
    free(copy);
    return outcome;
}

static void agree(const char *text, size_t size)
{
    struct outcome quick = scan(text, size, true), plain = scan(text, size, false);
    HOLDS(text, quick.last == plain.last && quick.at == plain.at && strcmp(quick.reason, plain.reason) == 0);
    HOLDS(text, quick.events <= plain.events);
}

/* Few fewer events would mean that the short cut is never taken. */
TEST(json_scan_passes_over_most_of_a_long_array)
{
    static char text[200000];
    size_t size = (size_t)sprintf(text, "[[0");
    for (int i = 0; i < 20000; i++)
        size += (size_t)sprintf(text + size, ",%d.%d", i % 640, i % 97);
    size += (size_t)sprintf(text + size, "]]");
    agree(text, size);
    struct outcome quick = scan(text, size, true);
    assert_int_equal(quick.last, OCDM__JSON_END);
#if defined(__SSE2__) && defined(__GNUC__)
    assert_true(quick.events < 100);
#endif
}

/* Every short piece of what numbers are made of, at every place of a block: nothing that the grammar refuses gets by. */
TEST(json_scan_agrees_when_any_three_bytes_stand_anywhere_in_a_block)
{
    static const char alphabet[] = "019.-, \n\te]";
    const size_t letters = sizeof alphabet - 1;
    for (size_t i = 0; i < letters * letters * letters; i++)
        for (size_t place = 1; place < 70; place += 1 + i % 5) {
            char text[256];
            memset(text, '1', sizeof text);
            for (size_t j = 3; j < 200; j += 4)
                text[j] = ',';
            text[0] = '[';
            text[200] = ']';
            text[place] = alphabet[i % letters];
            text[place + 1] = alphabet[i / letters % letters];
            text[place + 2] = alphabet[i / letters / letters];
            text[201] = '\0';
            agree(text, 201);
        }
}

/* A comma after a number means nothing outside arrays, or something else. */
TEST(json_scan_stays_out_of_it_outside_arrays)
{
    char text[300] = "";
    for (int i = 0; i < 100; i++)
        strcat(text, i > 0 ? ",1" : "1");
    agree(text, strlen(text));
    char object[320];
    snprintf(object, sizeof object, "{\"a\":%s}", text);
    agree(object, strlen(object));
    assert_int_equal(scan(text, strlen(text), true).last, OCDM__JSON_ERROR);
    assert_int_equal(scan(object, strlen(object), true).last, OCDM__JSON_ERROR);
}

/* The bytes after the end are valid JSON but must not be read, wherever the end is. */
TEST(json_scan_stops_at_the_end_when_numbers_follow_it)
{
    const size_t most = (1 << 20) + 300;
    char *text = malloc(most + 100);
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 1; i < most + 100; i++)
        text[i] = i % 2 == 1 ? '1' : ',';
    for (size_t size = most - 2 * 300; size <= most; size++) {
        static ocdm__json json;
        ocdm__json_begin(&json, text, size);
        enum ocdm__json_event event;
        while ((event = ocdm__json_next(&json)) > OCDM__JSON_END)
            if (event == OCDM__JSON_NUMBER)
                ocdm__json_pass_numbers(&json);
        assert_int_equal(event, OCDM__JSON_ERROR);
        assert_int_equal(json.error_at, size);
        assert_true(json.at <= json.end);
    }
    free(text);
}

static size_t random_number(ocdm__random *random, char *out)
{
    static const char *const odd[] = {"0",  "-0",    "0.0", "-12.50", "1e5", "2.5E-3", "00",    "01", "-",  "1.",
                                      ".5", "1.2.3", "--1", "1-2",    "",    "null",   "\"1\"", "+1", "1 2"};
    if (ocdm__random_below(random, 400) == 0)
        return (size_t)sprintf(out, "%s", odd[ocdm__random_below(random, sizeof odd / sizeof *odd)]);
    int whole = (int)ocdm__random_below(random, 641), part = (int)ocdm__random_below(random, 100);
    const char *sign = ocdm__random_below(random, 4) == 0 ? "-" : "";
    return (size_t)(part < 20 ? sprintf(out, "%s%d", sign, whole) : sprintf(out, "%s%d.%d", sign, whole, part));
}

TEST(json_scan_agrees_on_random_arrays)
{
    const uint64_t seed = 3;
    print_message("seed %d\n", (int)seed);
    static char text[1 << 14];
    static const char *const separators[] = {",", ", ", ",\n  ", " , ", ",,", "],[", "\t,", " "};
    for (uint64_t round = 0; round < 20000; round++) {
        ocdm__random random = ocdm__random_stream(seed, round);
        size_t size = (size_t)sprintf(text, "[[");
        size_t count = ocdm__random_below(&random, 200), usual = ocdm__random_below(&random, 3);
        for (size_t i = 0; i < count; i++) {
            size += random_number(&random, text + size);
            size_t which = ocdm__random_below(&random, 300) == 0 ? ocdm__random_below(&random, 8) : usual;
            size += i + 1 < count ? (size_t)sprintf(text + size, "%s", separators[which]) : 0;
        }
        size += (size_t)sprintf(text + size, "]]");
        agree(text, ocdm__random_below(&random, 10) == 0 ? ocdm__random_below(&random, size) : size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_scan_passes_over_most_of_a_long_array),
        cmocka_unit_test(json_scan_agrees_when_any_three_bytes_stand_anywhere_in_a_block),
        cmocka_unit_test(json_scan_stays_out_of_it_outside_arrays),
        cmocka_unit_test(json_scan_stops_at_the_end_when_numbers_follow_it),
        cmocka_unit_test(json_scan_agrees_on_random_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
