/* Foreign text in pages: any input is shown as text. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "../scratch_folder.h"
#include "base/allocate.h"
#include "base/random.h"
#include "base/text.h"
#include "report/text.h"

enum { ROOM = 1 << 16 };
static char written[ROOM];

/* What a function that writes a text leaves in a file. */
static const char *output_of(void (*put)(ocdm__output *, const char *), const char *text)
{
    ocdm__output out;
    size_t size;
    assert_int_equal(ocdm__output_open(&out, "text", NULL), OCDM_OK);
    put(&out, text);
    assert_int_equal(ocdm__output_commit(&out, NULL), OCDM_OK);
    unsigned char *bytes = read_whole("text", &size);
    assert_non_null(bytes);
    assert_true(size < ROOM);
    memcpy(written, bytes, size);
    written[size] = '\0';
    free(bytes);
    return written;
}

static void put_plain_20(ocdm__output *out, const char *text)
{
    ocdm__put_plain(out, text, 20);
}

static void put_name_10(ocdm__output *out, const char *text)
{
    ocdm__put_name(out, text, 10);
}

TEST(text_markup_is_escaped)
{
    assert_string_equal(output_of(put_plain_20, "<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    assert_string_equal(output_of(put_name_10, "</script>"), "<bdi>&lt;/script&gt;</bdi>");
}

static void put_conversions(ocdm__output *out, const char *text)
{
    ocdm__put_markup(out, "<a b=\"%s\" c=\"%.2s\">%-.*s</a>%%", text, text, 9, text);
    ocdm__put_markup(out, "%d %u %zu %03u|%.2f %-.1f %-.1f %#.1f %#.2f|", -1, 2u, (size_t)3, 4u, 0.125, 5.0, 5.25, NAN, -0.001);
    ocdm__put_markup(out, "%.4g %-g %-g %-g", 12345.678, 1500.0, 2.5e7, 0.0);
}

/* Each conversion, with the flags that mean something else than to printf. */
TEST(markup_has_conversions_of_its_own)
{
    assert_string_equal(
        output_of(put_conversions, "a<b"),
        "<a b=\"a&lt;b\" c=\"a…\"><bdi>a&lt;b</bdi></a>%-1 2 3 004|0.12 5 5.2 – 0.00|1.235e+04 1,500 2.5e+07 0");
}

TEST(text_controls_become_pictures)
{
    assert_string_equal(output_of(put_plain_20, "a\n\t\x1b\x7f"), "a␊␉␛␡");
    assert_string_equal(output_of(put_plain_20, "\xc2\x85|\xef\xbf\xbe|\xff|\xed\xa0\x80"),
                        "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* An override outside an isolating element would turn the rest of the line round. */
TEST(text_direction_is_kept_in)
{
    assert_string_equal(output_of(put_plain_20, "a\xe2\x80\xae"
                                                "b\xe2\x81\xa6"),
                        "a\xef\xbf\xbd"
                        "b\xef\xbf\xbd");
    assert_string_equal(output_of(put_name_10, "a\xe2\x80\xae"
                                               "b"),
                        "<bdi>a\xe2\x80\xae"
                        "b</bdi>");
}

TEST(text_is_cut_when_long)
{
    assert_string_equal(output_of(put_name_10, "exactlyten"), "<bdi>exactlyten</bdi>");
    assert_string_equal(output_of(put_name_10, "eleven char"), "<bdi title=\"eleven char (11 bytes)\">eleven ch…</bdi>");
    assert_string_equal(output_of(put_name_10, ""), "<bdi>(empty)</bdi>");
    char *huge = malloc(10241);
    assert_non_null(huge);
    memset(huge, '<', 10240);
    huge[10240] = '\0';
    const char *shown = output_of(put_name_10, huge);
    assert_true(strlen(shown) < 4500);
    assert_non_null(strstr(shown, "(10240 bytes)"));
    free(huge);
}

TEST(csv_fields_are_quoted_when_needed)
{
    assert_string_equal(output_of(ocdm__put_csv, "plain"), "plain");
    assert_string_equal(output_of(ocdm__put_csv, "a,b \"c\"\n"), "\"a,b \"\"c\"\" \"");
}

TEST(shell_words_are_quoted_when_needed)
{
    static const char *const words[][2] = {
        {"runs/ocdm-s0", "runs/ocdm-s0"}, {"", "''"}, {"a b", "'a b'"}, {"$(x)`y`", "'$(x)`y`'"}, {"it's", "'it'\\''s'"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *word = ocdm__shell_word(words[i][0]);
        assert_string_equal(word, words[i][1]);
        ocdm__release(word);
    }
}

static uint64_t random_bits(uint64_t seed, uint64_t index)
{
    return ocdm__mix(ocdm__mix(seed + 1) + index);
}

/* Any bytes at all: what comes out is UTF-8 without anything that markup or a terminal would act on. */
TEST(text_of_any_bytes_is_harmless)
{
    static const char *const spice[] = {"<", "&", "\"", "'", ">", "\xe2\x80\xae", "\xff", "\x01", "é", "]]>"};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        char text[200];
        size_t used = 0, length = (size_t)(random_bits(seed, 1) % 60);
        for (size_t i = 0; i < length; i++) {
            uint64_t draw = random_bits(seed, 2 + i);
            const char *part = spice[draw % 10];
            char any[2] = {(char)(1 + draw / 16 % 255), '\0'};
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", draw / 8192 % 2 ? part : any);
        }
        text[used < sizeof text ? used : sizeof text - 1] = '\0';
        const unsigned char *at = (const unsigned char *)output_of(put_plain_20, text), *end = at + strlen((const char *)at);
        size_t characters = 0;
        for (; at < end; characters++) {
            size_t size = ocdm__utf8_sequence(at, end);
            if (size == 0 || *at < 0x20 || *at == 0x7F || strchr("<>\"'", *at) != NULL ||
                memcmp(at, "\xe2\x80\xae", size < 3 ? 1 : 3) == 0)
                fail_msg("seed %llu: byte %02x", (unsigned long long)seed, *at);
            const char *semicolon = *at == '&' ? strchr((const char *)at, ';') : NULL;
            if (*at == '&' && (semicolon == NULL || semicolon - (const char *)at > 5))
                fail_msg("seed %llu: a bare &", (unsigned long long)seed);
            at = semicolon != NULL ? (const unsigned char *)semicolon + 1 : at + size;
        }
        if (characters > 20)
            fail_msg("seed %llu: %zu characters", (unsigned long long)seed, characters);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_markup_is_escaped),
        cmocka_unit_test(markup_has_conversions_of_its_own),
        cmocka_unit_test(text_controls_become_pictures),
        cmocka_unit_test(text_direction_is_kept_in),
        cmocka_unit_test(text_is_cut_when_long),
        cmocka_unit_test(csv_fields_are_quoted_when_needed),
        cmocka_unit_test(shell_words_are_quoted_when_needed),
        cmocka_unit_test(text_of_any_bytes_is_harmless),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
