/* The JSON scanner: one pass, no recursion, no allocation; nesting costs one bit per open container. Then texts and numbers. */
#include "base/json.h"

#include "base/text.h"

/* Keeps rare cases out of the hot function, which then needs few registers. */
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

/* Vectors may read up to `last_stride`; behind it bytes are read one by one. */
void ocdm__json_begin(ocdm__json *json, const void *bytes, size_t size)
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
    json->last_stride = size >= OCDM__JSON_PADDING ? json->end - OCDM__JSON_PADDING : NULL;
}

void ocdm__json_begin_padded(ocdm__json *json, const void *bytes, size_t size)
{
    ocdm__json_begin(json, bytes, size);
    json->last_stride = json->end;
}

static APART enum ocdm__json_event fail(ocdm__json *json, const unsigned char *at, const char *reason)
{
    json->reason = reason;
    json->error_at = (size_t)(at - json->start);
    json->expect = EXPECT_FAILED;
    return OCDM__JSON_ERROR;
}

/* Returns the next byte that is no space, 0 at the end. */
static APART unsigned char pass_space(ocdm__json *json)
{
    const unsigned char *at = json->at;
    while (at < json->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    json->at = at;
    return at < json->end ? *at : 0;
}

/* Skips space and returns the byte after it; 0, which the grammar has nowhere, at the end. */
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

/* The code unit of the four digits at `at`, or -1. */
static int32_t hex_unit(const unsigned char *at, const unsigned char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char byte = at + i < end ? at[i] : 0, letter = byte | 0x20;
        if (!(byte >= '0' && byte <= '9') && !(letter >= 'a' && letter <= 'f'))
            return -1;
        unit = unit * 16 + (byte <= '9' ? byte - '0' : letter - 'a' + 10);
    }
    return unit;
}

/* The length of the escape at `at`, a backslash; 0 if it is wrong, and why. */
static size_t check_escape(const unsigned char *at, const unsigned char *end, const char **wrong)
{
    if (end - at >= 2 && at[1] && strchr("\"\\/bfnrt", at[1]))
        return 2;
    *wrong = "an escape that JSON does not have";
    if (end - at < 2 || at[1] != 'u')
        return 0;
    int32_t unit = hex_unit(at + 2, end);
    *wrong = unit < 0 ? "\\u without four hexadecimal digits" : "half a surrogate pair";
    if (unit < 0xD800 || unit >= 0xE000)
        return unit < 0 ? 0 : 6;
    int32_t low = unit < 0xDC00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? hex_unit(at + 8, end) : 0;
    return low >= 0xDC00 && low < 0xE000 ? 12 : 0;
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

/* Scans on from `at`, a byte of the string that is no plain character and no quote, or the end of the text. */
static APART bool scan_rest_of_string(ocdm__json *json, const unsigned char *at)
{
    while (at != json->end && *at != '"') {
        const char *wrong = *at >= 0x80 ? "invalid UTF-8" : *at ? "a raw control character" : "a NUL byte";
        json->escaped = json->escaped || *at == '\\';
        size_t step = *at == '\\' ? check_escape(at, json->end, &wrong) : *at < 0x80 ? 0 : ocdm__utf8_sequence(at, json->end);
        if (step == 0) {
            fail(json, at, wrong);
            return false;
        }
        at = pass_plain(json, at + step);
    }
    if (at == json->end) {
        fail(json, json->at, "a string without an end");
        return false;
    }
    json->length = (size_t)(at - json->at) - 1;
    json->at = at + 1;
    return true;
}

/* Scans the string whose opening quote is the current byte, and leaves the scanner after the closing one. Plain text, most
 * strings, is scanned right here. */
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

/* Skips digits; there must be at least one. */
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

/* By the grammar, without computing the value. */
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

/* true, false, null. */
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

/* What was around it is kept as a bit: object or array. */
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

/* Everything but strings and numbers, out of the way of the common path. */
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

/* The first byte decides. */
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

/* Nothing but space may follow the value. */
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

/* One event. `expect` says what may come: the scanner is a state machine with a stack of bits. */
enum ocdm__json_event ocdm__json_next(ocdm__json *json)
{
    if (json->expect > EXPECT_MORE)
        return json->expect == EXPECT_NOTHING ? OCDM__JSON_END : OCDM__JSON_ERROR;
    if (json->expect != EXPECT_VALUE) {
        if (json->depth == 0)
            return scan_end(json);
        unsigned char byte = next_byte(json);
        if (byte == (json->in_object ? '}' : ']')) {
            enum ocdm__json_event event = json->in_object ? OCDM__JSON_OBJECT_END : OCDM__JSON_ARRAY_END;
            json->depth--;
            json->in_object = json->outer[json->depth / 64] >> (json->depth % 64) & 1;
            json->text = (const char *)json->at;
            json->length = 1;
            json->at++;
            json->expect = EXPECT_MORE;
            return event;
        }
        if (json->expect == EXPECT_MORE) {
            if (byte != ',')
                return fail_here(json, json->in_object ? "a comma or } is missing" : "a comma or ] is missing");
            json->at++;
        }
        if (json->in_object) {
            /* A key and the colon after it. */
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
    }
    return scan_value(json);
}

/* Up to the depth at which it began. */
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

/* ---- reading texts and numbers -------------------------------------------------------------------------------------- */

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
    const unsigned char *digits = (const unsigned char *)*at + 2; /* the scanner has checked them */
    uint32_t point = (uint32_t)hex_unit(digits, digits + 4);
    *at += 6;
    if (point >= 0xD800 && point < 0xDC00) {
        point = 0x10000 + ((point - 0xD800) << 10) + ((uint32_t)hex_unit(digits + 6, digits + 10) - 0xDC00);
        *at += 6;
    }
    return ocdm__utf8_write(point, out);
}

/* Escapes were checked by the scanner; what comes out is never longer than what went in. */
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

/* Escaped names are compared as they are undone, without room for them. */
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

/* Overflow is found before it happens. */
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

/* ---- writing numbers -------------------------------------------------------------------------------------- */

/* 17 digits always suffice; most numbers need fewer. */
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
    /* A point in place of the locale's separator. */
    size_t start = strspn(out, "0123456789+-e"), after = start + strcspn(out + start, "0123456789+-e");
    if (start < after) {
        out[start] = '.';
        memmove(out + start + 1, out + after, strlen(out + after) + 1);
    }
    return strlen(out);
}
