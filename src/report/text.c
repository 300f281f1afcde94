/* Writes text, numbers and markup, character by character. */
#include "report/text.h"

#include "base/text.h"

/* The length of the title attribute of a truncated text. */
#define TITLE_LIMIT 1000
#define REPLACEMENT "\xEF\xBF\xBD"
#define DOTS "\xE2\x80\xA6"

/* ---- text --------------------------------------------------------------------------------------------------------------- */

/* The code point of the `size` bytes at `at`; 0 for size 0. */
static uint32_t code_point(const unsigned char *at, size_t size)
{
    static const unsigned char lead[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = size == 0 ? 0 : at[0] & lead[size];
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3Fu);
    return code;
}

static void put_character(ocdm__output *out, const unsigned char *at, size_t size, bool keep_direction)
{
    static const char special[] = "<>&\"'";
    static const char *const escapes[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    uint32_t code = code_point(at, size);
    const char *found = code < 0x80 && code > 0 ? strchr(special, (int)code) : NULL;
    bool is_unfit = (code >= 0x80 && code < 0xA0) || (code & 0xFFFE) == 0xFFFE; /* C1 controls; not allowed in XML */
    if (size == 0 || is_unfit || (!keep_direction && ocdm__is_direction_mark(at, size)))
        ocdm__output_text(out, REPLACEMENT);
    else if (code < 0x20 || code == 0x7F) { /* U+2400 and following depict the control characters */
        char picture[4] = {'\xE2', '\x90', (char)(0x80 + (code == 0x7F ? 0x21 : code)), '\0'};
        ocdm__output_text(out, picture);
    } else if (found != NULL)
        ocdm__output_text(out, escapes[found - special]);
    else
        ocdm__output_write(out, at, size);
}

/* Walks over at most `limit` characters of a text; a byte that is no UTF-8 counts as one. Writes them unless `out` is NULL.
 * Returns what follows them; `width` gets their columns, wide characters counting twice. */
static const char *walk(ocdm__output *out, const char *text, size_t limit, bool keep_direction, size_t *width)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    for (*width = 0; at < end && limit > 0; limit--) {
        size_t size = ocdm__utf8_sequence(at, end);
        *width += code_point(at, size) >= 0x1100 ? 2 : 1;
        if (out != NULL)
            put_character(out, at, size, keep_direction);
        at += size == 0 ? 1 : size;
    }
    return (const char *)at;
}

size_t ocdm__plain_width(const char *text, size_t limit)
{
    size_t width;
    walk(NULL, text, limit, false, &width);
    return width;
}

/* Whether a text has more characters than that. */
static bool is_longer(const char *text, size_t limit)
{
    size_t width;
    return *walk(NULL, text, limit, false, &width) != '\0';
}

static void put_cut(ocdm__output *out, const char *text, size_t limit, bool keep_direction)
{
    size_t width;
    bool cut = is_longer(text, limit);
    walk(out, text, cut ? limit - 1 : limit, keep_direction, &width);
    ocdm__output_text(out, cut ? DOTS : "");
}

void ocdm__put_plain(ocdm__output *out, const char *text, size_t limit)
{
    put_cut(out, text, limit, false);
}

void ocdm__put_name(ocdm__output *out, const char *text, size_t limit)
{
    if (is_longer(text, limit))
        ocdm__put_markup(out, "<bdi title=\"%.*s (%zu bytes)\">", TITLE_LIMIT, text, strlen(text));
    else
        ocdm__output_text(out, "<bdi>");
    put_cut(out, text[0] != '\0' ? text : "(empty)", limit, true);
    ocdm__output_text(out, "</bdi>");
}

void ocdm__put_csv(ocdm__output *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\n\r")] != '\0';
    ocdm__output_text(out, quoted ? "\"" : "");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            ocdm__output_text(out, "\"");
        ocdm__output_write(out, (unsigned char)*text < 0x20 || *text == 0x7F ? " " : text, 1);
    }
    ocdm__output_text(out, quoted ? "\"" : "");
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

void ocdm__put_decimals(ocdm__output *out, double value, int decimals)
{
    if (isfinite(value) && fabs(value) < 1e15)
        ocdm__put(out, "%.*f", decimals, fabs(value) * pow(10, decimals) < 0.5 ? 0.0 : value);
    else
        ocdm__output_text(out, "\xE2\x80\x93");
}

void ocdm__put_grouped(ocdm__output *out, double value)
{
    char digits[24];
    if (!(value > -0.5 && value < 1e15)) {
        ocdm__put_decimals(out, value, 0);
        return;
    }
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)(value + 0.5));
    for (int i = 0; i < length; i++)
        ocdm__put(out, i > 0 && (length - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

void ocdm__tick_text(double value, char *text, size_t room)
{
    if (fabs(value) < 1e-12)
        snprintf(text, room, "0");
    else if (fabs(value) >= 1e6 || fabs(value) < 1e-4)
        snprintf(text, room, "%.3g", value);
    else if (fabs(value) >= 1000)
        snprintf(text, room, "%.0f,%03.0f", trunc(value / 1000), fmod(fabs(value), 1000));
    else
        snprintf(text, room, "%.4g", value);
}

/* ---- markup ------------------------------------------------------------------------------------------------------------- */

/* The conversion of a number, `length` bytes at `spec`. */
static void put_number(ocdm__output *out, const char *spec, size_t length, int places, va_list *list)
{
    char format[8], text[400];
    const char letter = spec[length - 1], flag = spec[1];
    double value = letter == 'f' || letter == 'g' ? va_arg(*list, double) : 0;
    snprintf(format, sizeof format, "%.*s", (int)length, spec);
    if (flag == '#') {
        ocdm__put_decimals(out, value, places);
        return;
    }
    if (letter == 'g' && flag == '-')
        ocdm__tick_text(value, text, sizeof text);
    else if (letter == 'f' || letter == 'g')
        snprintf(text, sizeof text, letter == 'f' ? "%.*f" : "%.*g", places, value);
    else if (spec[length - 2] == 'z')                               /* the types of the two differ */
        snprintf(text, sizeof text, format, va_arg(*list, size_t)); /* NOLINT(bugprone-branch-clone) */
    else
        snprintf(text, sizeof text, format, va_arg(*list, unsigned));
    size_t used = strlen(text);
    bool ends_with_0 = letter == 'f' && flag == '-' && used > 2 && text[used - 1] == '0';
    ocdm__output_write(out, text, ends_with_0 ? used - 2 : used);
}

void ocdm__put_markup_list(ocdm__output *out, const char *format, va_list *list)
{
    for (const char *spec; (spec = strchr(format, '%')) != NULL;) {
        size_t length = strcspn(spec + 1, "sdufg%") + 2;
        const char *dot = memchr(spec, '.', length);
        int places = dot == NULL ? -1 : dot[1] == '*' ? va_arg(*list, int) : atoi(dot + 1);
        size_t limit = places < 0 ? SIZE_MAX : (size_t)places;
        ocdm__output_write(out, format, (size_t)(spec - format));
        if (spec[1] == '%')
            ocdm__output_text(out, "%");
        else if (spec[length - 1] != 's')
            put_number(out, spec, length, places, list);
        else if (spec[1] == '-')
            ocdm__put_name(out, va_arg(*list, const char *), limit);
        else
            ocdm__put_plain(out, va_arg(*list, const char *), limit);
        format = spec + length;
    }
    ocdm__output_text(out, format);
}

void ocdm__put_markup(ocdm__output *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    ocdm__put_markup_list(out, format, &list);
    va_end(list);
}

/* ---- shell -------------------------------------------------------------------------------------------------------------- */

char *ocdm__shell_word(const char *text)
{
    static const char harmless[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=+-";
    bool quoted = text[0] == '\0' || text[strspn(text, harmless)] != '\0';
    char *word = ocdm__allocate(strlen(text) + 1, 4), *end = word;
    if (word == NULL)
        return NULL;
    if (quoted)
        *end++ = '\'';
    for (; *text != '\0'; text++)
        if (*text == '\'')
            end = (char *)memcpy(end, "'\\''", 4) + 4;
        else
            *end++ = *text;
    if (quoted)
        *end++ = '\'';
    *end = '\0';
    return word;
}
