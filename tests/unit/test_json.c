/* The JSON scanner: what it accepts, what it refuses and where, the kinds of tokens, and writing text. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/json.h"
#include "base/output.h"
#include "base/random.h"

static enum ocdm__json_event scan_all(ocdm__json *json, const char *bytes, size_t size)
{
    ocdm__json_begin(json, bytes, size);
    enum ocdm__json_event event;
    do
        event = ocdm__json_next(json);
    while (event > OCDM__JSON_END);
    return event;
}

/* In a block of exactly its size, so that a sanitizer sees any read beyond the end. */
static enum ocdm__json_event scan_exact(ocdm__json *json, const char *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    enum ocdm__json_event event = scan_all(json, copy, size);
    free(copy);
    return event;
}

static enum ocdm__json_event scan_padded(ocdm__json *json, const char *bytes, size_t size)
{
    char *copy = malloc(size + OCDM__JSON_PADDING);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    memset(copy + size, '"', OCDM__JSON_PADDING); /* the worst that could follow: what would end a string */
    ocdm__json_begin_padded(json, copy, size);
    enum ocdm__json_event event;
    do
        event = ocdm__json_next(json);
    while (event > OCDM__JSON_END);
    free(copy);
    return event;
}

static void accepts(const char *bytes, size_t size)
{
    ocdm__json json;
    if (scan_exact(&json, bytes, size) != OCDM__JSON_END)
        fail_msg("refused at %zu (%s): %.*s", json.error_at, json.reason, (int)size, bytes);
    if (scan_padded(&json, bytes, size) != OCDM__JSON_END)
        fail_msg("refused when padded: %.*s", (int)size, bytes);
}

static void refuses(const char *bytes, size_t size, size_t where)
{
    ocdm__json json;
    if (scan_exact(&json, bytes, size) != OCDM__JSON_ERROR)
        fail_msg("accepted: %.*s", (int)size, bytes);
    if (json.error_at != where)
        fail_msg("refused at %zu, not %zu (%s): %.*s", json.error_at, where, json.reason, (int)size, bytes);
    assert_true(strlen(json.reason) > 3);
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_ERROR);
    assert_int_equal(scan_padded(&json, bytes, size), OCDM__JSON_ERROR);
    assert_int_equal(json.error_at, where);
}

#define ACCEPTS(text) accepts(text, sizeof(text) - 1)
#define REFUSES(text, where) refuses(text, sizeof(text) - 1, where)

TEST(json_accepts_every_form_of_the_grammar)
{
    ACCEPTS("{}");
    ACCEPTS("[]");
    ACCEPTS(" [ ] \r\n\t");
    ACCEPTS("[[],{},[[]],{\"\":{}}]");
    ACCEPTS("0");
    ACCEPTS("-0");
    ACCEPTS("10.25e+07");
    ACCEPTS("[1E5,-2e-9,0.5,1e0]");
    ACCEPTS("true");
    ACCEPTS("[true,false,null]");
    ACCEPTS("\"\"");
    ACCEPTS("\"plain text longer than eight bytes, twice over\"");
    ACCEPTS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD83D\\uDE00\\uFFFF\"");
    ACCEPTS("\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \x7F\"");
    ACCEPTS("{\"a\" : 1 , \"a\" : [ 2 , { \"b\" : null } ] }");
}

TEST(json_refuses_what_the_grammar_does_not_have)
{
    REFUSES("", 0);
    REFUSES("  ", 2);
    REFUSES("{", 1);
    REFUSES("[1,]", 3);
    REFUSES("[,1]", 1);
    REFUSES("[1 2]", 3);
    REFUSES("[1}", 2);
    REFUSES("{]", 1);
    REFUSES("{\"a\"}", 4);
    REFUSES("{\"a\":}", 5);
    REFUSES("{\"a\":1,}", 7);
    REFUSES("{a:1}", 1);
    REFUSES("{\"a\":1 \"b\":2}", 7);
    REFUSES("{} {}", 3);
    REFUSES("]", 0);
    REFUSES("tru", 0);
    REFUSES("True", 0);
    REFUSES("NaN", 0);
    REFUSES("'a'", 0);
    REFUSES("// no", 0);
    REFUSES("\xEF\xBB\xBF{}", 0);
}

TEST(json_refuses_numbers_that_only_look_like_it)
{
    REFUSES("01", 0);
    REFUSES("-01", 1);
    REFUSES("+1", 0);
    REFUSES("-", 1);
    REFUSES("1.", 2);
    REFUSES("[1.]", 3);
    REFUSES(".5", 0);
    REFUSES("1e", 2);
    REFUSES("1e+x", 3);
    REFUSES("0x10", 1);
    REFUSES("-Infinity", 1);
    REFUSES("1_000", 1);
}

TEST(json_refuses_strings_that_are_not_text)
{
    REFUSES("\"abc", 0);
    REFUSES("[\"abcdefghijkl", 1);
    REFUSES("\"a\nb\"", 2);
    REFUSES("\"12345678\tb\"", 9);
    REFUSES("\"a\0b\"", 2);
    REFUSES("[1,\0]", 3);
    REFUSES("\"\\x41\"", 1);
    REFUSES("\"\\", 1);
    REFUSES("\"\\u12\"", 1);
    REFUSES("\"\\u12G4\"", 1);
    REFUSES("\"\\uD83D\"", 1);
    REFUSES("\"\\uD83D\\n\"", 1);
    REFUSES("\"\\uD83D\\u0041\"", 1);
    REFUSES("\"\\uDE00\\uD83D\"", 1);
    REFUSES("\"\\uDE00\"", 1);
}

TEST(json_refuses_invalid_utf8_at_its_first_byte)
{
    REFUSES("\"\x80\"", 1);
    REFUSES("\"abc\xC0\x80\"", 4);
    REFUSES("\"\xC1\xBF\"", 1);
    REFUSES("\"\xC3\"", 1);
    REFUSES("\"\xC3", 1);
    REFUSES("\"\xE0\x9F\xBF\"", 1);
    REFUSES("\"\xED\xA0\x80\"", 1);
    REFUSES("\"\xE2\x82\"", 1);
    REFUSES("\"\xF0\x8F\xBF\xBF\"", 1);
    REFUSES("\"\xF4\x90\x80\x80\"", 1);
    REFUSES("\"\xF5\x80\x80\x80\"", 1);
    REFUSES("\"\xFF\"", 1);
    REFUSES("[\xC3\xA9]", 1);
}

TEST(json_nests_to_its_limit_and_no_deeper)
{
    char text[2 * OCDM__JSON_DEPTH + 2];
    memset(text, '[', OCDM__JSON_DEPTH);
    memset(text + OCDM__JSON_DEPTH, ']', OCDM__JSON_DEPTH);
    accepts(text, 2 * OCDM__JSON_DEPTH);
    memset(text, '[', OCDM__JSON_DEPTH + 1);
    memset(text + OCDM__JSON_DEPTH + 1, ']', OCDM__JSON_DEPTH + 1);
    refuses(text, sizeof text, OCDM__JSON_DEPTH);
}

/* Containers of both kinds in a pattern with no period that the 64-bit words could hide. */
TEST(json_remembers_the_kind_of_every_open_container)
{
    char text[8 * OCDM__JSON_DEPTH];
    size_t size = 0;
    for (int i = 0; i < 1000; i++)
        size += (size_t)sprintf(text + size, i * i % 7 < 3 ? "[" : "{\"\":");
    text[size++] = '0';
    for (int i = 999; i >= 0; i--)
        text[size++] = i * i % 7 < 3 ? ']' : '}';
    accepts(text, size);
    text[size - 500] = text[size - 500] == ']' ? '}' : ']';
    refuses(text, size, size - 500);
}

TEST(json_reports_events_and_tokens_in_order)
{
    static const char text[] = "{\"id\": -7.5, \"x\\n\":[\"a\\u0041\", 12, true, null, false]}";
    static const struct {
        enum ocdm__json_event event;
        const char *text;
    } expected[] = {{OCDM__JSON_OBJECT, "{"},    {OCDM__JSON_KEY, "id"},      {OCDM__JSON_NUMBER, "-7.5"},
                    {OCDM__JSON_KEY, "x\\n"},    {OCDM__JSON_ARRAY, "["},     {OCDM__JSON_STRING, "a\\u0041"},
                    {OCDM__JSON_NUMBER, "12"},   {OCDM__JSON_TRUE, "true"},   {OCDM__JSON_NULL, "null"},
                    {OCDM__JSON_FALSE, "false"}, {OCDM__JSON_ARRAY_END, "]"}, {OCDM__JSON_OBJECT_END, "}"},
                    {OCDM__JSON_END, ""},        {OCDM__JSON_END, ""}};
    ocdm__json json;
    ocdm__json_begin(&json, text, sizeof text - 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(ocdm__json_next(&json), expected[i].event);
        assert_int_equal(json.length, strlen(expected[i].text));
        assert_memory_equal(json.text, expected[i].text, json.length);
        if (expected[i].event == OCDM__JSON_KEY || expected[i].event == OCDM__JSON_STRING)
            assert_int_equal(json.escaped, strchr(expected[i].text, '\\') != NULL);
        if (expected[i].event == OCDM__JSON_NUMBER)
            assert_int_equal(json.whole, strchr(expected[i].text, '.') == NULL);
    }
}

TEST(json_skip_passes_a_value_of_any_shape)
{
    static const char text[] = "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":3,\"e\":[[]],\"f\":4}";
    ocdm__json json;
    ocdm__json_begin(&json, text, sizeof text - 1);
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_OBJECT);
    for (const char *key = "adef"; *key; key++) {
        assert_int_equal(ocdm__json_next(&json), OCDM__JSON_KEY);
        assert_true(ocdm__json_is(&json, key, 1));
        assert_int_not_equal(ocdm__json_skip(&json, OCDM__JSON_KEY), OCDM__JSON_ERROR);
    }
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_OBJECT_END);

    ocdm__json_begin(&json, text, sizeof text - 1);
    assert_int_equal(ocdm__json_skip(&json, ocdm__json_next(&json)), OCDM__JSON_OBJECT_END);
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_END);
}

TEST(json_skip_fails_when_what_it_passes_is_broken)
{
    static const char text[] = "{\"a\":[1,{\"b\":01}]}";
    ocdm__json json;
    ocdm__json_begin(&json, text, sizeof text - 1);
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_OBJECT);
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_KEY);
    assert_int_equal(ocdm__json_skip(&json, OCDM__JSON_KEY), OCDM__JSON_ERROR);
    assert_int_equal(json.error_at, 13);
}

static void string_becomes(const char *text, const char *expected, size_t length)
{
    ocdm__json json;
    char out[64];
    ocdm__json_begin(&json, text, strlen(text));
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_STRING);
    assert_int_equal(ocdm__json_unescape(json.text, json.length, out), length);
    assert_memory_equal(out, expected, length);
    assert_true(ocdm__json_is(&json, expected, length));
    out[0] = '#';
    assert_false(ocdm__json_is(&json, out, length) && expected[0] != '#');
    assert_false(ocdm__json_is(&json, expected, length - 1));
    memcpy(out, expected, length);
    out[length] = 'x';
    assert_false(ocdm__json_is(&json, out, length + 1));
}

TEST(json_unescapes_to_the_bytes_that_were_meant)
{
    string_becomes("\"plain\"", "plain", 5);
    string_becomes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    string_becomes("\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC", 6);
    string_becomes("\"\\uD83D\\uDE00!\"", "\xF0\x9F\x98\x80!", 5);
    string_becomes("\"a\\u0000b\"", "a\0b", 3);
    string_becomes("\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF", 4);
}

static bool read_uint64(const char *text, uint64_t *value)
{
    ocdm__json json;
    ocdm__json_begin(&json, text, strlen(text));
    assert_int_equal(ocdm__json_next(&json), OCDM__JSON_NUMBER);
    return ocdm__json_uint64(&json, value);
}

TEST(json_reads_whole_numbers_up_to_64_bits)
{
    uint64_t value = 5;
    assert_true(read_uint64("0", &value) && value == 0);
    assert_true(read_uint64("18446744073709551615", &value) && value == UINT64_MAX);
    value = 5;
    assert_false(read_uint64("18446744073709551616", &value));
    assert_false(read_uint64("99999999999999999999", &value));
    assert_false(read_uint64("-1", &value));
    assert_false(read_uint64("1.0", &value));
    assert_false(read_uint64("1e2", &value));
    assert_int_equal(value, 5);
}

TEST(json_quote_comes_back_unchanged_for_random_text)
{
    const uint64_t seed = 20240607;
    for (uint64_t round = 0; round < 2000; round++) {
        ocdm__random random = ocdm__random_stream(seed, round);
        char text[32], back[200];
        ocdm__output quoted;
        size_t length = ocdm__random_below(&random, 33);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)ocdm__random_below(&random, 128);
        assert_int_equal(ocdm__output_open_memory(&quoted, "quoted", NULL), OCDM_OK);
        ocdm__output_json_string(&quoted, text, length);
        ocdm__json json;
        ocdm__json_begin(&json, quoted.buffer, quoted.used);
        bool same = ocdm__json_next(&json) == OCDM__JSON_STRING &&
                    ocdm__json_unescape(json.text, json.length, back) == length && memcmp(back, text, length) == 0 &&
                    ocdm__json_next(&json) == OCDM__JSON_END;
        if (!same)
            fail_msg("seed %llu round %llu", (unsigned long long)seed, (unsigned long long)round);
        ocdm__output_abandon(&quoted);
    }
}

TEST(json_quote_writes_short_escapes_and_replaces_invalid_utf8)
{
    static const char text[] = "a\"\\\n\x01\x7F\xC3\xA9\xFFz",
                      expected[] = "\"a\\\"\\\\\\n\\u0001\\u007f\xC3\xA9\xEF\xBF\xBDz\"";
    ocdm__output out;
    assert_int_equal(ocdm__output_open_memory(&out, "quoted", NULL), OCDM_OK);
    ocdm__output_json_string(&out, text, sizeof text - 1);
    assert_int_equal(out.used, sizeof expected - 1);
    assert_memory_equal(out.buffer, expected, sizeof expected - 1);
    ocdm__output_abandon(&out);
}

static void double_is_written(double value, const char *expected)
{
    char out[OCDM__JSON_DOUBLE];
    assert_int_equal(ocdm__json_double(value, out), strlen(expected));
    assert_string_equal(out, expected);
}

TEST(json_writes_doubles_as_short_as_they_can_be)
{
    double_is_written(0, "0");
    double_is_written(-0.0, "-0");
    double_is_written(0.1, "0.1");
    double_is_written(1e300, "1e+300");
    double_is_written(1.0 / 3, "0.3333333333333333");
    double_is_written(0.1 + 0.2, "0.30000000000000004");
    double_is_written(-123456789, "-123456789");
    double_is_written(4.9406564584124654e-324, "4.94065645841247e-324");
    double_is_written((double)NAN, "null");
    double_is_written((double)INFINITY, "null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_accepts_every_form_of_the_grammar),
        cmocka_unit_test(json_refuses_what_the_grammar_does_not_have),
        cmocka_unit_test(json_refuses_numbers_that_only_look_like_it),
        cmocka_unit_test(json_refuses_strings_that_are_not_text),
        cmocka_unit_test(json_refuses_invalid_utf8_at_its_first_byte),
        cmocka_unit_test(json_nests_to_its_limit_and_no_deeper),
        cmocka_unit_test(json_remembers_the_kind_of_every_open_container),
        cmocka_unit_test(json_reports_events_and_tokens_in_order),
        cmocka_unit_test(json_skip_passes_a_value_of_any_shape),
        cmocka_unit_test(json_skip_fails_when_what_it_passes_is_broken),
        cmocka_unit_test(json_unescapes_to_the_bytes_that_were_meant),
        cmocka_unit_test(json_reads_whole_numbers_up_to_64_bits),
        cmocka_unit_test(json_quote_comes_back_unchanged_for_random_text),
        cmocka_unit_test(json_quote_writes_short_escapes_and_replaces_invalid_utf8),
        cmocka_unit_test(json_writes_doubles_as_short_as_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
