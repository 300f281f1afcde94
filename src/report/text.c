/* Escapes text character by character. */
#include "report/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/text.h"

/* The length of the title attribute of a truncated text. */
#define TITLE_LIMIT 1000
#define REPLACEMENT "\xEF\xBF\xBD"
#define DOTS "\xE2\x80\xA6"

/* The code point of the `size` bytes at `at`; 0 for size 0. */
static uint32_t code_point(const unsigned char *at, size_t size)
{
    static const unsigned char lead[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = size == 0 ? 0 : at[0] & lead[size];
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3Fu);
    return code;
}

/* Marks, embeddings, overrides and isolates (Unicode's UAX 9). */
static bool turns_direction(uint32_t code)
{
    return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Not allowed in XML, or invisible there (C1 control characters). */
static bool is_unfit(uint32_t code)
{
    return (code >= 0x80 && code < 0xA0) || (code & 0xFFFE) == 0xFFFE;
}

static void put_character(ocdm__output *out, const unsigned char *at, size_t size, bool keep_direction)
{
    uint32_t code = code_point(at, size);
    if (size == 0 || is_unfit(code) || (!keep_direction && turns_direction(code)))
        ocdm__output_text(out, REPLACEMENT);
    else if (code < 0x20 || code == 0x7F) { /* U+2400 and following depict the control characters */
        char picture[4] = {'\xE2', '\x90', (char)(0x80 + (code == 0x7F ? 0x21 : code)), '\0'};
        ocdm__output_text(out, picture);
    } else if (code == '<')
        ocdm__output_text(out, "&lt;");
    else if (code == '>')
        ocdm__output_text(out, "&gt;");
    else if (code == '&')
        ocdm__output_text(out, "&amp;");
    else if (code == '"')
        ocdm__output_text(out, "&quot;");
    else if (code == '\'')
        ocdm__output_text(out, "&#39;");
    else
        ocdm__output_write(out, at, size);
}

/* Characters in a text, up to one more than `limit`. */
static size_t count_characters(const char *text, size_t limit)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    size_t count = 0;
    for (; at < end && count <= limit; count++) {
        size_t size = ocdm__utf8_sequence(at, end);
        at += size == 0 ? 1 : size;
    }
    return count;
}

static void put_characters(ocdm__output *out, const char *text, size_t limit, bool keep_direction)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    bool cut = count_characters(text, limit) > limit;
    for (size_t left = cut ? limit - 1 : limit; at < end && left > 0; left--) {
        size_t size = ocdm__utf8_sequence(at, end);
        put_character(out, at, size, keep_direction);
        at += size == 0 ? 1 : size;
    }
    if (cut)
        ocdm__output_text(out, DOTS);
}

void ocdm__put_plain(ocdm__output *out, const char *text, size_t limit)
{
    put_characters(out, text, limit, false);
}

void ocdm__put_whole(ocdm__output *out, const char *text)
{
    ocdm__output_text(out, "<bdi>");
    put_characters(out, text, SIZE_MAX - 1, true);
    ocdm__output_text(out, "</bdi>");
}

void ocdm__put_name(ocdm__output *out, const char *text, size_t limit)
{
    if (count_characters(text, limit) > limit) {
        ocdm__output_text(out, "<bdi title=\"");
        put_characters(out, text, TITLE_LIMIT, false);
        ocdm__put(out, " (%zu bytes)\">", strlen(text));
    } else {
        ocdm__output_text(out, "<bdi>");
    }
    put_characters(out, text[0] != '\0' ? text : "(empty)", limit, true);
    ocdm__output_text(out, "</bdi>");
}

size_t ocdm__plain_width(const char *text, size_t limit)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    size_t width = 0;
    for (size_t count = 0; at < end && count < limit; count++) {
        size_t size = ocdm__utf8_sequence(at, end);
        width += code_point(at, size) >= 0x1100 ? 2 : 1;
        at += size == 0 ? 1 : size;
    }
    return width;
}

void ocdm__put_csv(ocdm__output *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\n\r")] != '\0';
    if (quoted)
        ocdm__output_text(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            ocdm__output_text(out, "\"");
        ocdm__output_write(out, (unsigned char)*text < 0x20 || *text == 0x7F ? " " : text, 1);
    }
    if (quoted)
        ocdm__output_text(out, "\"");
}

void ocdm__put_decimals(ocdm__output *out, double value, int decimals)
{
    if (isfinite(value) && fabs(value) < 1e15)
        ocdm__put(out, "%.*f", decimals, fabs(value) * pow(10, decimals) < 0.5 ? 0.0 : value);
    else
        ocdm__output_text(out, "\xE2\x80\x93");
}

static void put_thousands(ocdm__output *out, uint64_t value)
{
    if (value >= 1000) {
        put_thousands(out, value / 1000);
        ocdm__put(out, ",%03u", (unsigned)(value % 1000));
    } else {
        ocdm__put(out, "%u", (unsigned)value);
    }
}

void ocdm__put_grouped(ocdm__output *out, double value)
{
    if (value > -0.5 && value < 1e15)
        put_thousands(out, (uint64_t)(value + 0.5));
    else
        ocdm__put_decimals(out, value, 0);
}

char *ocdm__shell_word(const char *text)
{
    static const char harmless[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=+-";
    bool quoted = text[0] == '\0' || text[strspn(text, harmless)] != '\0';
    char *word = ocdm__allocate(strlen(text) + 1, 4);
    size_t used = 0;
    if (word == NULL)
        return NULL;
    if (quoted)
        word[used++] = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            memcpy(word + used, "'\\''", 4);
            used += 4;
        } else {
            word[used++] = *text;
        }
    }
    if (quoted)
        word[used++] = '\'';
    word[used] = '\0';
    return word;
}
