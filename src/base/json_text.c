/* JSON: what a token says once its escapes are undone, and the way back, from bytes and numbers to JSON text. */
#include "base/json.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------------------------------- */

/* The scanner has checked them: '0' is 48, 'a' stands for 10 and is 97. */
static uint32_t hex_unit(const char *digits)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char digit = (unsigned char)digits[i];
        unit = unit * 16 + (digit <= '9' ? digit - 48u : (digit | 0x20u) - 87u);
    }
    return unit;
}

static size_t put_utf8(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(lead[length] | point);
    return length;
}

/* One escape at `*at`, moved past it; up to 4 bytes to `out`. */
static size_t unescape_one(const char **at, char *out)
{
    char kind = (*at)[1];
    if (kind != 'u') {
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *found = strchr(from, kind);
        *out = found ? to[found - from] : kind;
        *at += 2;
        return 1;
    }
    uint32_t point = hex_unit(*at + 2);
    *at += 6;
    if (point >= 0xD800 && point < 0xDC00) {
        point = 0x10000 + ((point - 0xD800) << 10) + (hex_unit(*at + 2) - 0xDC00);
        *at += 6;
    }
    return put_utf8(point, out);
}

size_t ocdm__json_unescape(const char *raw, size_t length, char *out)
{
    const char *at = raw, *end = raw + length;
    char *to = out;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash ? slash : end) - at);
        memmove(to, at, plain);
        to += plain;
        at += plain;
        if (slash)
            to += unescape_one(&at, to);
    }
    return (size_t)(to - out);
}

bool ocdm__json_is(const ocdm__json *json, const char *text, size_t length)
{
    if (!json->escaped)
        return json->length == length && memcmp(json->text, text, length) == 0;
    const char *at = json->text, *end = at + json->length, *text_end = text + length;
    while (at < end) {
        char piece[4];
        size_t size = 1;
        if (*at == '\\')
            size = unescape_one(&at, piece);
        else
            piece[0] = *at++;
        if ((size_t)(text_end - text) < size || memcmp(text, piece, size) != 0)
            return false;
        text += size;
    }
    return text == text_end;
}

bool ocdm__json_uint64(const ocdm__json *json, uint64_t *value)
{
    if (!json->whole || json->length == 0 || json->text[0] == '-')
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < json->length; i++) {
        uint64_t digit = (uint64_t)(json->text[i] - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static size_t put_escape(unsigned char byte, char *out)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = byte ? strchr(from, byte) : NULL;
    if (found) {
        out[0] = '\\';
        out[1] = to[found - from];
        return 2;
    }
    memcpy(out, "\\u00", 4);
    out[4] = digits[byte >> 4];
    out[5] = digits[byte & 15];
    return 6;
}

size_t ocdm__json_quote(const char *text, size_t length, char *out)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    char *to = out;
    *to++ = '"';
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        if (size == 1 && (*at < 0x20 || *at == 0x7F || *at == '"' || *at == '\\')) {
            to += put_escape(*at, to);
        } else if (size == 0) {
            memcpy(to, "\xEF\xBF\xBD", 3);
            to += 3;
            size = 1;
        } else {
            memcpy(to, at, size);
            to += size;
        }
        at += size;
    }
    *to++ = '"';
    return (size_t)(to - out);
}

/* Whatever the locale writes between digits becomes a point. */
static void use_decimal_point(char *text)
{
    size_t start = strspn(text, "0123456789+-e"), after = start + strcspn(text + start, "0123456789+-e");
    if (start == after)
        return;
    text[start] = '.';
    memmove(text + start + 1, text + after, strlen(text + after) + 1);
}

size_t ocdm__json_double(double value, char out[OCDM__JSON_DOUBLE])
{
    if (!isfinite(value)) {
        memcpy(out, "null", 5);
        return 4;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, OCDM__JSON_DOUBLE, "%.*g", digits, value);
        double back = strtod(out, NULL);
        if (back >= value && back <= value)
            break;
    }
    use_decimal_point(out);
    return strlen(out);
}
