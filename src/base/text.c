/*
 * Numbers from text, labels made fit for a terminal, and the word that was meant.
 *
 * A short decimal, like most in tables, is an integer below 2^53 multiplied or divided by a power of ten up to 10^22: both are
 * exact doubles, so one operation rounds correctly. Everything else goes to strtod as digits and an exponent without a decimal
 * point, because only the point depends on the locale.
 */
#include "base/text.h"

#include <ctype.h>
#include <float.h>
#include <strings.h>

bool ocdm__is_text(const char *text, size_t length, bool controls)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    for (size_t step = 1; at < end && step > 0; at += step)
        step = *at == 0 || (!controls && (*at < 0x20 || *at == 0x7F)) ? 0 : ocdm__utf8_sequence(at, end);
    return at == end;
}

/* ---- appending ------------------------------------------------------------------------------------------------------ */

/* A text that is full stays as it is. */
void ocdm__append(char *text, size_t room, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, room - used, format, values);
    va_end(values);
}

ocdm_status ocdm__format(char **text, ocdm_error *error, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    size_t size = (size_t)vsnprintf(NULL, 0, format, values) + 1;
    *text = ocdm__allocate(size, 1);
    if (*text != NULL)
        vsnprintf(*text, size, format, again);
    va_end(again);
    va_end(values);
    return *text != NULL ? OCDM_OK : ocdm__fail_memory(error, "the name of a file");
}

bool ocdm__is_among(const char *word, const char *const *list)
{
    while (*list != NULL && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* ---- numbers -------------------------------------------------------------------------------------------------------- */

/* Digits that always fit a 64-bit number. */
#define MANTISSA_DIGITS 19
/* More digits than the middle between two doubles can have, so that it only matters whether the rest is zero. */
#define KEPT_DIGITS 800
#define FAR_EXPONENT 100000
#define EXACT_POWER 22

/* A number taken apart; mantissa and exponent are its value unless digits were left out. */
struct decimal {
    bool negative;
    uint64_t mantissa;
    int64_t exponent;
    bool complete;             /* the mantissa has every digit */
    const char *digits, *stop; /* where the digits are, the point among them */
    int64_t written_exponent;
};

static inline bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The first 19 digits make the number, further ones only its exponent. */
static const char *scan_digits(struct decimal *decimal, const char *at, const char *end, int64_t step, int *significant)
{
    for (; at < end && is_digit(*at); at++) {
        if (*significant < MANTISSA_DIGITS) {
            decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(*at - '0');
            *significant += decimal->mantissa > 0;
            decimal->exponent -= step;
        } else {
            decimal->complete = false;
            decimal->exponent += 1 - step;
        }
    }
    return at;
}

/* The exponent after its e; NULL when there is none. Saturates far beyond the range of doubles. */
static const char *scan_exponent(struct decimal *decimal, const char *at, const char *end)
{
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *digits = at;
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < INT64_MAX / 100 ? exponent * 10 + (*at - '0') : exponent;
    decimal->written_exponent = negative ? -exponent : exponent;
    return at == digits ? NULL : at;
}

/* Digits, point, exponent; false for anything else. */
static bool scan_decimal(struct decimal *decimal, const char *at, const char *end)
{
    int significant = 0;
    decimal->digits = at;
    const char *whole_end = scan_digits(decimal, at, end, 0, &significant);
    int64_t digit_count = whole_end - at;
    at = whole_end;
    if (at < end && *at == '.') {
        at = scan_digits(decimal, whole_end + 1, end, 1, &significant);
        digit_count += at - whole_end - 1;
    }
    decimal->stop = at;
    if (digit_count == 0)
        return false;
    if (at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(decimal, at + 1, end);
    decimal->exponent += decimal->written_exponent;
    return at == end;
}

/* ---- the short way -------------------------------------------------------------------------------------------------- */

static bool is_short(const struct decimal *decimal)
{
    return FLT_EVAL_METHOD == 0 && decimal->complete && decimal->mantissa <= (uint64_t)1 << 53 &&
           decimal->exponent >= -EXACT_POWER && decimal->exponent <= EXACT_POWER;
}

static double short_value(const struct decimal *decimal)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double mantissa = (double)decimal->mantissa;
    return decimal->exponent < 0 ? mantissa / powers[-decimal->exponent] : mantissa * powers[decimal->exponent];
}

/* ---- the long way --------------------------------------------------------------------------------------------------- */

#define LONG_TEXT (KEPT_DIGITS + 32)

/* The number without its sign and decimal point. Digits beyond KEPT_DIGITS become a single 1 when they are not all zero. */
static void write_plainly(const struct decimal *decimal, char out[LONG_TEXT])
{
    size_t used = 0;
    int64_t exponent = decimal->written_exponent;
    bool point = false, more = false;
    for (const char *at = decimal->digits; at < decimal->stop; at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        bool kept = used < KEPT_DIGITS;
        if (kept && (used > 0 || *at != '0'))
            out[used++] = *at;
        more = more || (!kept && *at != '0');
        exponent += (kept ? 0 : 1) - (point ? 1 : 0);
    }
    if (used == 0)
        out[used++] = '0';
    if (more) {
        out[used++] = '1';
        exponent--;
    }
    exponent = exponent > FAR_EXPONENT ? FAR_EXPONENT : exponent < -FAR_EXPONENT ? -FAR_EXPONENT : exponent;
    snprintf(out + used, LONG_TEXT - used, "e%d", (int)exponent);
}

/* Whether the nearest float of a double is that of the number which the double was rounded from: not when it is in the middle
 * between two floats, nor among subnormal floats or beyond the largest float. */
static bool rounds_once(double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bool middle = (bits & 0x1FFFFFFFu) == 0x10000000u;
    return magnitude == 0 || (!middle && magnitude >= (double)FLT_MIN && magnitude <= (double)FLT_MAX);
}

/* ---- both ----------------------------------------------------------------------------------------------------------- */

/* Takes the text apart. A number without digits goes to `named`, which is 0 otherwise. */
static bool begin(const char *text, size_t length, struct decimal *decimal, double *named)
{
    const char *end = text + length;
    *decimal = (struct decimal){.complete = true, .negative = length > 0 && *text == '-'};
    text += length > 0 && (*text == '-' || *text == '+');
    *named = 0;
    if (scan_decimal(decimal, text, end))
        return true;
    /* The values that have no digits, in any case of letters. */
    length = (size_t)(end - text);
    if ((length == 3 && strncasecmp(text, "inf", length) == 0) || (length == 8 && strncasecmp(text, "infinity", length) == 0))
        *named = (double)INFINITY;
    else if (length == 3 && strncasecmp(text, "nan", length) == 0)
        *named = (double)NAN;
    return *named != 0;
}

/* The short way where it rounds correctly, else the long one. */
bool ocdm__text_to_double(const char *text, size_t length, double *value)
{
    struct decimal decimal;
    double magnitude;
    char plain[LONG_TEXT];
    if (!begin(text, length, &decimal, &magnitude))
        return false;
    if (magnitude == 0 && is_short(&decimal)) {
        magnitude = short_value(&decimal);
    } else if (magnitude == 0) {
        write_plainly(&decimal, plain);
        magnitude = strtod(plain, NULL);
    }
    *value = decimal.negative ? -magnitude : magnitude;
    return true;
}

/* By way of a double only where rounding twice cannot matter. */
bool ocdm__text_to_float(const char *text, size_t length, float *value)
{
    struct decimal decimal;
    double named;
    char plain[LONG_TEXT];
    if (!begin(text, length, &decimal, &named))
        return false;
    double near = named == 0 && is_short(&decimal) ? short_value(&decimal) : named;
    float magnitude;
    if (named != 0 || (is_short(&decimal) && rounds_once(near))) {
        magnitude = (float)near;
    } else {
        write_plainly(&decimal, plain);
        magnitude = strtof(plain, NULL);
    }
    *value = decimal.negative ? -magnitude : magnitude;
    return true;
}

/* Signs and spaces are no digits. */
bool ocdm__text_to_whole(const char *text, size_t length, uint64_t low, uint64_t high, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (length == 0 || sum < low || sum > high)
        return false;
    *value = sum;
    return true;
}

/* For messages: printable, and cut to a width in columns. */
ocdm__shown_label ocdm__show_label(const char *label, size_t length)
{
    ocdm__shown_label shown = {.width = 0};
    const unsigned char *at = (const unsigned char *)label, *end = at + length;
    size_t used = 0;
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        bool escape = size == 0 || ocdm__is_control(at, size);
        size_t width = escape ? 4 * (size ? size : 1) : 1;
        if (shown.width + width > OCDM__LABEL_WIDTH - 3 && (size_t)(end - at) > size) {
            snprintf(shown.text + used, sizeof shown.text - used, "...");
            shown.width += 3;
            break;
        }
        for (size_t i = 0; i < (size ? size : 1); i++)
            used += (size_t)snprintf(shown.text + used, sizeof shown.text - used, escape ? "\\x%02X" : "%c", at[i]);
        shown.width += width;
        at += size ? size : 1;
    }
    return shown;
}

/* ---- suggestions -------------------------------------------------------------------------------------------------------- */

#define LONGEST 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein's, with exchanged neighbours as one step; two rows of the table are kept. */
size_t ocdm__edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a);
    size_t columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST + 1;
    size_t row[3][LONGEST + 1]; /* two rows back, the one before, this one */
    for (size_t j = 0; j <= columns; j++)
        row[1][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        row[2][0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t changed = row[1][j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[2][j] = least(changed, least(row[1][j], row[2][j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[2][j] = least(row[2][j], row[0][j - 2] + 1);
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[0]);
    }
    return row[1][columns];
}

/* The nearest candidate, if it is near enough to be what was meant; else the only one that starts with the word. */
const char *ocdm__suggest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word), completions = 0;
    if (length < 2)
        return NULL;
    const char *best = NULL, *completed = NULL;
    size_t best_distance = length < 6 ? 1 : length / 3;
    for (size_t i = 0; i < count; i++) {
        size_t distance = ocdm__edit_distance(word, candidates[i]);
        if (strncmp(word, candidates[i], length) == 0) {
            completed = candidates[i];
            completions++;
        }
        if (distance >= strlen(candidates[i]))
            continue; /* no letter in common */
        if (distance < best_distance || (best == NULL && distance == best_distance)) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best != NULL ? best : completions == 1 ? completed : NULL;
}
