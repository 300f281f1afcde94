/* JSON: the scanner. One pass, no recursion, no allocation; a bit per open container is all that nesting costs. */
#include "base/json.h"

#include "base/json_plain.h"
#include "base/utf8.h"

#include <string.h>

/* Keeps what is rare out of the one hot function, which then needs few registers. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* What the grammar allows at this point. */
enum expect {
    EXPECT_VALUE, /* the value of a key, or the outermost one */
    EXPECT_FIRST, /* just after { or [ */
    EXPECT_MORE,  /* after a value: a comma, the container's end, or at depth 0 the end of the text */
    EXPECT_NOTHING,
    EXPECT_FAILED
};

static void begin(ocdm__json *json, const void *bytes, size_t size)
{
    json->start = bytes;
    json->at = json->start;
    json->end = json->start + size;
    json->text = bytes;
    json->length = 0;
    json->reason = NULL;
    json->error_at = 0;
    json->expect = EXPECT_VALUE;
    json->in_object = false;
    json->depth = 0;
}

void ocdm__json_begin(ocdm__json *json, const void *bytes, size_t size)
{
    begin(json, bytes, size);
    json->last_stride = size >= OCDM__JSON_PADDING ? json->end - OCDM__JSON_PADDING : NULL;
}

void ocdm__json_begin_padded(ocdm__json *json, const void *bytes, size_t size)
{
    begin(json, bytes, size);
    json->last_stride = json->end;
}

static APART enum ocdm__json_event fail(ocdm__json *json, const unsigned char *at, const char *reason)
{
    json->reason = reason;
    json->error_at = (size_t)(at - json->start);
    json->expect = EXPECT_FAILED;
    return OCDM__JSON_ERROR;
}

static APART unsigned char pass_space(ocdm__json *json)
{
    const unsigned char *at = json->at;
    while (at < json->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    json->at = at;
    return at < json->end ? *at : 0;
}

/* Passes over space and returns the byte after it; 0, which the grammar has nowhere, at the end. */
static inline unsigned char next_byte(ocdm__json *json)
{
    const unsigned char *at = json->at;
    return at<json->end && * at> ' ' ? *at : pass_space(json);
}

static APART enum ocdm__json_event fail_here(ocdm__json *json, const char *reason)
{
    if (json->at >= json->end)
        return fail(json, json->end, "the text ends too early");
    return fail(json, json->at, *json->at == 0 ? "a NUL byte" : reason);
}

/* ---- strings -------------------------------------------------------------------------------------------------------- */

static int hex_digit(unsigned char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The code unit of the four digits at `at`, or -1. */
static int32_t hex_unit(const unsigned char *at, const unsigned char *end)
{
    if (end - at < 4)
        return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static inline bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static inline bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

static size_t fail_in_escape(ocdm__json *json, const unsigned char *at, const char *reason)
{
    fail(json, at, reason);
    return 0;
}

/* The length of the escape at `at`, a backslash; 0 after a failure. */
static size_t check_escape(ocdm__json *json, const unsigned char *at)
{
    const unsigned char *end = json->end;
    if (end - at >= 2 && at[1] && strchr("\"\\/bfnrt", at[1]))
        return 2;
    if (end - at < 2 || at[1] != 'u')
        return fail_in_escape(json, at, "an escape that JSON does not have");
    int32_t unit = hex_unit(at + 2, end);
    if (unit < 0)
        return fail_in_escape(json, at, "\\u without four hexadecimal digits");
    if (!is_high_surrogate(unit) && !is_low_surrogate(unit))
        return 6;
    bool paired = is_high_surrogate(unit) && end - at >= 12 && at[6] == '\\' && at[7] == 'u';
    if (!paired || !is_low_surrogate(hex_unit(at + 8, end)))
        return fail_in_escape(json, at, "half a surrogate pair");
    return 12;
}

/* The first byte from `at` on that is no plain character of a string, or `end`. */
static inline const unsigned char *pass_plain(const ocdm__json *json, const unsigned char *at)
{
    while (at <= json->last_stride) {
        unsigned plain = ocdm__json_plain_run(at);
        at += plain;
        if (plain < OCDM__JSON_STRIDE)
            return at < json->end ? at : json->end;
    }
    while (at < json->end && ocdm__json_is_plain(*at))
        at++;
    return at < json->end ? at : json->end;
}

static bool fail_in_string(ocdm__json *json, const unsigned char *at, const char *reason)
{
    fail(json, at, reason);
    return false;
}

/* Scans on from `at`, a byte of the string that is no plain character and no quote, or the end of the text. */
static APART bool scan_rest_of_string(ocdm__json *json, const unsigned char *at)
{
    for (;; at = pass_plain(json, at)) {
        if (at == json->end)
            return fail_in_string(json, json->at, "a string without an end");
        if (*at == '"')
            break;
        size_t step;
        if (*at == '\\') {
            json->escaped = true;
            step = check_escape(json, at);
            if (!step)
                return false;
        } else {
            step = *at < 0x80 ? 0 : ocdm__utf8_sequence(at, json->end);
            if (!step)
                return fail_in_string(json, at, *at >= 0x80 ? "invalid UTF-8" : *at ? "a raw control character" : "a NUL byte");
        }
        at += step;
    }
    json->length = (size_t)(at - json->at) - 1;
    json->at = at + 1;
    return true;
}

/* Scans the string whose opening quote is at hand, and leaves the scanner after the closing one. Plain text, most strings, is
 * scanned right here. */
static inline bool scan_string(ocdm__json *json)
{
    const unsigned char *first = json->at + 1, *at = pass_plain(json, first);
    json->text = (const char *)first;
    json->escaped = false;
    if (at == json->end || *at != '"')
        return scan_rest_of_string(json, at);
    json->length = (size_t)(at - first);
    json->at = at + 1;
    return true;
}

/* ---- numbers and words ---------------------------------------------------------------------------------------------- */

static inline const unsigned char *pass_digits(const unsigned char *at, const unsigned char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Passes digits, of which there must be at least one. */
static const unsigned char *need_digits(ocdm__json *json, const unsigned char *at, const char *reason)
{
    const unsigned char *after = pass_digits(at, json->end);
    if (after > at)
        return after;
    json->at = at;
    fail_here(json, reason);
    return NULL;
}

/* The fraction and the exponent of a number, from `at` on; NULL after a failure. */
static APART const unsigned char *pass_fraction(ocdm__json *json, const unsigned char *at)
{
    const unsigned char *end = json->end;
    if (*at == '.')
        at = need_digits(json, at + 1, "a decimal point without digits after it");
    if (at && at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        at = need_digits(json, at, "an exponent without digits");
    }
    return at;
}

static inline enum ocdm__json_event scan_number(ocdm__json *json)
{
    const unsigned char *first = json->at, *digits = first + (*first == '-');
    const unsigned char *at = pass_digits(digits, json->end);
    if (at == digits) {
        json->at = at;
        return fail_here(json, "a minus sign without digits");
    }
    if (*digits == '0' && at - digits > 1)
        return fail(json, digits, "a number with a leading zero");
    json->whole = !(at < json->end && (*at == '.' || (*at | 0x20) == 'e'));
    if (!json->whole && !(at = pass_fraction(json, at)))
        return OCDM__JSON_ERROR;
    json->text = (const char *)first;
    json->length = (size_t)(at - first);
    json->at = at;
    json->expect = EXPECT_MORE;
    return OCDM__JSON_NUMBER;
}

static enum ocdm__json_event scan_word(ocdm__json *json, const char *word, size_t length, enum ocdm__json_event event)
{
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return fail(json, json->at, "neither true, false nor null");
    json->text = (const char *)json->at;
    json->length = length;
    json->at += length;
    json->expect = EXPECT_MORE;
    return event;
}

/* ---- structure ------------------------------------------------------------------------------------------------------ */

static enum ocdm__json_event open_container(ocdm__json *json, bool is_object)
{
    if (json->depth == OCDM__JSON_DEPTH)
        return fail(json, json->at, "nested too deeply");
    uint64_t bit = (uint64_t)1 << (json->depth % 64), *word = &json->outer[json->depth / 64];
    *word = json->in_object ? *word | bit : *word & ~bit;
    json->depth++;
    json->in_object = is_object;
    json->text = (const char *)json->at;
    json->length = 1;
    json->at++;
    json->expect = EXPECT_FIRST;
    return is_object ? OCDM__JSON_OBJECT : OCDM__JSON_ARRAY;
}

static enum ocdm__json_event close_container(ocdm__json *json)
{
    enum ocdm__json_event event = json->in_object ? OCDM__JSON_OBJECT_END : OCDM__JSON_ARRAY_END;
    json->depth--;
    json->in_object = json->outer[json->depth / 64] >> (json->depth % 64) & 1;
    json->text = (const char *)json->at;
    json->length = 1;
    json->at++;
    json->expect = EXPECT_MORE;
    return event;
}

static APART enum ocdm__json_event scan_rare_value(ocdm__json *json, unsigned char byte)
{
    if (byte == '[' || byte == '{')
        return open_container(json, byte == '{');
    if (byte == 't')
        return scan_word(json, "true", 4, OCDM__JSON_TRUE);
    if (byte == 'f')
        return scan_word(json, "false", 5, OCDM__JSON_FALSE);
    if (byte == 'n')
        return scan_word(json, "null", 4, OCDM__JSON_NULL);
    return fail_here(json, "a value is missing");
}

static inline enum ocdm__json_event scan_value(ocdm__json *json)
{
    unsigned char byte = next_byte(json);
    if (byte == '"') {
        json->expect = EXPECT_MORE;
        return scan_string(json) ? OCDM__JSON_STRING : OCDM__JSON_ERROR;
    }
    if ((byte >= '0' && byte <= '9') || byte == '-')
        return scan_number(json);
    return scan_rare_value(json, byte);
}

/* A key and the colon after it. */
static inline enum ocdm__json_event scan_key(ocdm__json *json)
{
    if (next_byte(json) != '"')
        return fail_here(json, "a key in quotes is missing");
    json->expect = EXPECT_VALUE;
    if (!scan_string(json))
        return OCDM__JSON_ERROR;
    if (next_byte(json) != ':')
        return fail_here(json, "a colon is missing after a key");
    json->at++;
    return OCDM__JSON_KEY;
}

static APART enum ocdm__json_event scan_end(ocdm__json *json)
{
    next_byte(json);
    if (json->at < json->end)
        return fail_here(json, "something follows the value");
    json->text = (const char *)json->at;
    json->length = 0;
    json->expect = EXPECT_NOTHING;
    return OCDM__JSON_END;
}

enum ocdm__json_event ocdm__json_next(ocdm__json *json)
{
    if (json->expect > EXPECT_MORE)
        return json->expect == EXPECT_NOTHING ? OCDM__JSON_END : OCDM__JSON_ERROR;
    if (json->expect != EXPECT_VALUE) {
        if (json->depth == 0)
            return scan_end(json);
        unsigned char byte = next_byte(json);
        if (byte == (json->in_object ? '}' : ']'))
            return close_container(json);
        if (json->expect == EXPECT_MORE) {
            if (byte != ',')
                return fail_here(json, json->in_object ? "a comma or } is missing" : "a comma or ] is missing");
            json->at++;
        }
        if (json->in_object)
            return scan_key(json);
    }
    return scan_value(json);
}

enum ocdm__json_event ocdm__json_skip(ocdm__json *json, enum ocdm__json_event last)
{
    if (last == OCDM__JSON_KEY)
        last = ocdm__json_next(json);
    if (last != OCDM__JSON_OBJECT && last != OCDM__JSON_ARRAY)
        return last;
    uint32_t outside = json->depth - 1;
    do
        last = ocdm__json_next(json);
    while (last != OCDM__JSON_ERROR && json->depth > outside);
    return last;
}
