/*
 * Numbers of an array, 64 bytes at a time. Each kind of byte becomes a mask with a bit per byte, and what the grammar says
 * about neighbours becomes a few operations on whole masks; no branch depends on how long a number is. A block starts at a
 * comma and reaches to its last comma before anything doubtful, so blocks need to know nothing of each other.
 *
 * Taken: `,` then spaces or newlines, then a number without exponent. Spaces before a comma, tabs, exponents and numbers that
 * fill a block are legal but rare: they end the run, and the scanner goes on by itself.
 */
#include "base/json_scan.h"

#if defined(__SSE2__) && defined(__GNUC__)

#include <emmintrin.h>

#define BLOCK 64
#define MOST_AT_ONCE ((ptrdiff_t)1 << 20)

/* One bit per byte of a block, the first byte's lowest. */
struct masks {
    uint64_t digit, zero, point, comma, minus, space;
};

static inline uint64_t bits_of(__m128i chosen)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(chosen);
}

static inline void look_at(const unsigned char *at, struct masks *masks)
{
    *masks = (struct masks){.digit = 0};
    for (int i = 0; i < BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i value = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
        __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
        __m128i space = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
        masks->digit |= bits_of(digit) << i;
        masks->space |= bits_of(space) << i;
        masks->zero |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('0'))) << i;
        masks->point |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))) << i;
        masks->comma |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(','))) << i;
        masks->minus |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'))) << i;
    }
}

/* The bytes that may not stand where they do, or are none of the above. The first byte is a comma. */
static inline uint64_t doubtful(const struct masks *m)
{
    uint64_t after_gap = (m->comma | m->space) << 1, after_digit = m->digit << 1;
    /* A comma or point follows a digit; a minus sign or space follows a comma or space. So a digit alone may follow a minus
     * sign or a point, and no comma follows a comma or space. */
    uint64_t fine = 1 | m->digit | ((m->comma | m->point) & after_digit) | ((m->minus | m->space) & after_gap);
    /* A zero that starts a number has no digit after it. */
    uint64_t leading = ((m->zero & (after_gap | m->minus << 1)) << 1) & m->digit;
    /* The sum carries from each point through the digits after it to the first byte beyond, which is not a second point. */
    uint64_t second_point = (m->digit + (m->point << 1)) & ~m->digit & m->point;
    return ~fine | leading | second_point;
}

/* How far from `at`, a comma, the last comma is up to which all is well; 0 when there is none but the first. */
static inline unsigned sound_bytes(const unsigned char *at)
{
    struct masks masks;
    look_at(at, &masks);
    uint64_t wrong = doubtful(&masks);
    uint64_t before = wrong ? (wrong & (~wrong + 1)) - 1 : UINT64_MAX;
    return 63u - (unsigned)__builtin_clzll(masks.comma & before);
}

void ocdm__json_pass_numbers(ocdm__json *json)
{
    const unsigned char *at = json->at, *end = json->end;
    if (json->depth == 0 || json->in_object || end - at < BLOCK || *at != ',')
        return;
    const unsigned char *last = end - BLOCK - at > MOST_AT_ONCE ? at + MOST_AT_ONCE : end - BLOCK;
    for (unsigned step = 1; step > 0 && at <= last; at += step)
        step = sound_bytes(at);
    json->at = at;
}

#else

void ocdm__json_pass_numbers(ocdm__json *json)
{
    (void)json;
}

#endif
