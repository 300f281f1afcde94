/*
 * JSON, strictly by RFC 8259: a pull scanner that walks over a range of bytes and allocates nothing, and the few pieces
 * that writing it needs. What is refused: anything outside the grammar, invalid UTF-8, raw control characters and NUL, escapes
 * that are half a surrogate pair, and nesting deeper than OCDM__JSON_DEPTH. The range need not end with a NUL and is never read
 * beyond its end.
 *
 *     ocdm__json json;
 *     ocdm__json_begin(&json, bytes, size);
 *     enum ocdm__json_event event;
 *     while ((event = ocdm__json_next(&json)) > OCDM__JSON_END)
 *         if (event == OCDM__JSON_KEY && ocdm__json_is(&json, "shape", 5)) ...
 *     if (event == OCDM__JSON_ERROR) report(json.error_at, json.reason);
 *
 * Left out: a document tree, numbers with a fraction as doubles, repeated keys (the caller knows which ones matter).
 */
#ifndef OCDM_BASE_JSON_H
#define OCDM_BASE_JSON_H

#include "base/base.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define OCDM__JSON_STRIDE 16u
#else
#define OCDM__JSON_STRIDE 8u
#endif

#define OCDM__JSON_DEPTH 1024

/* What comes next in the text. A key is always followed by the events of its value. */
enum ocdm__json_event {
    OCDM__JSON_ERROR = 0, /* see `reason` and `error_at`; stays so */
    OCDM__JSON_END,       /* the one value is complete and nothing but space follows it; stays so */
    OCDM__JSON_KEY,
    OCDM__JSON_STRING,
    OCDM__JSON_NUMBER,
    OCDM__JSON_TRUE,
    OCDM__JSON_FALSE,
    OCDM__JSON_NULL,
    OCDM__JSON_OBJECT,     /* { */
    OCDM__JSON_OBJECT_END, /* } */
    OCDM__JSON_ARRAY,      /* [ */
    OCDM__JSON_ARRAY_END   /* ] */
};

typedef struct ocdm__json {
    /* The current event. Keys and strings: the bytes between the quotes, escapes as written. Numbers: the digits. All events:
     * text - start is the offset. Valid as long as the bytes are. */
    const char *text;
    size_t length;
    bool escaped; /* the key or string has escapes: see ocdm__json_unescape */
    bool whole;   /* the number has neither fraction nor exponent */

    /* After OCDM__JSON_ERROR: what is wrong, static text, and the offset of the byte where. */
    const char *reason;
    size_t error_at;

    /* The scanner's own. */
    const unsigned char *start, *at, *end;
    const unsigned char *last_stride; /* the last place from which OCDM__JSON_PADDING bytes may be read at once */
    int expect;
    bool in_object;
    uint32_t depth;                        /* containers open */
    uint64_t outer[OCDM__JSON_DEPTH / 64]; /* one bit per open container: whether the one around it is an object */
} ocdm__json;

/* Starts at the first of `size` bytes. */
void ocdm__json_begin(ocdm__json *json, const void *bytes, size_t size);

/* The same, a little faster; OCDM__JSON_PADDING bytes beyond the end must be readable. */
#define OCDM__JSON_PADDING 16
void ocdm__json_begin_padded(ocdm__json *json, const void *bytes, size_t size);

/* The next event. */
enum ocdm__json_event ocdm__json_next(ocdm__json *json);

/* After a key: skips its value. After `{` or `[`: to its end. Else nothing. Returns the last event it passed, or
 * OCDM__JSON_ERROR. What is skipped is checked like the rest. */
enum ocdm__json_event ocdm__json_skip(ocdm__json *json, enum ocdm__json_event last);

/* Whether the current key or string, unescaped, is exactly `text`. */
bool ocdm__json_is(const ocdm__json *json, const char *text, size_t length);

/* The current number as an integer from 0 to UINT64_MAX; false, and nothing written, when it is not one. */
bool ocdm__json_uint64(const ocdm__json *json, uint64_t *value);

/* Undoes the escapes of a key or string that the scanner accepted; `out` has room for `length` bytes and may be `raw` itself.
 * Returns how many bytes came out, NULs among them perhaps; no NUL is added. */
size_t ocdm__json_unescape(const char *raw, size_t length, char *out);

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as the same number to `out`, a NUL after it; `null` for a number
 * that JSON does not have. The decimal point is a point in every locale. Returns the length. */
#define OCDM__JSON_DOUBLE 32
size_t ocdm__json_double(double value, char out[OCDM__JSON_DOUBLE]);

/* ---- plain characters ------------------------------------------------------------------------------------------------- */

/* The innermost loop of reading JSON: how many bytes from here on are plain characters of a string, that is, printable ASCII
 * except the quote and the backslash. Several bytes are tested at once; all variants give the same result. */

static inline bool ocdm__json_is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* How many of the OCDM__JSON_STRIDE bytes at `at`, all of which are read, are plain before the first that is not. */
static inline unsigned ocdm__json_plain_run(const unsigned char *at)
{
#if defined(__SSE2__) && defined(__GNUC__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i outside = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* signed: bytes above 0x7F are negative */
    unsigned special = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), outside));
    return (unsigned)__builtin_ctz(special | 0x10000u);
#elif defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* In each byte the high bit comes up where it is below 0x20, a quote, a backslash or above 0x7F; a borrow may spoil the
     * bytes above the first such one, which are ignored. */
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, at, 8);
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    uint64_t special = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | word;
    special &= ones * 0x80;
    return special ? (unsigned)__builtin_ctzll(special) / 8 : 8;
#else
    unsigned run = 0;
    while (run < OCDM__JSON_STRIDE && ocdm__json_is_plain(at[run]))
        run++;
    return run;
#endif
}

#endif
