/* SHA-256: the plain rounds, x86's SHA instructions, which are about six times faster, the padding, and a file's digest. */
#include "base/sha256.h"

#include "base/input.h"

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* FIPS 180-4, 6.2.2, in its own letters. */
static void add_block(uint32_t state[8], const unsigned char *bytes)
{
    uint32_t w[64], v[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
               bytes[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t low = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t big1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + big1 + choice + constants[i] + w[i];
        uint32_t big0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + big0 + majority;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void ocdm__sha256_blocks_plain(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_block(state, bytes + 64 * i);
}

static void add_blocks(ocdm__sha256 *sha, const unsigned char *bytes, size_t count)
{
    (sha->native ? ocdm__sha256_blocks_native : ocdm__sha256_blocks_plain)(sha->state, bytes, count);
}

/* The first words are the fractional parts of square roots of primes. */
void ocdm__sha256_begin(ocdm__sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->size = 0;
    sha->native = ocdm__sha256_has_native();
}

/* Whole blocks are taken from the bytes where they are. */
void ocdm__sha256_add(ocdm__sha256 *sha, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    size_t held = (size_t)(sha->size % 64);
    sha->size += size;
    if (held > 0) {
        size_t taken = size < 64 - held ? size : 64 - held;
        memcpy(sha->block + held, at, taken);
        if (held + taken < 64)
            return;
        add_blocks(sha, sha->block, 1);
        at += taken, size -= taken;
    }
    add_blocks(sha, at, size / 64);
    memcpy(sha->block, at + size / 64 * 64, size % 64);
}

/* A one, zeros, and the number of bits fill the last block. */
void ocdm__sha256_end(ocdm__sha256 *sha, char text[OCDM__SHA256_TEXT])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(sha->size * 8 >> (56 - 8 * i));
    ocdm__sha256_add(sha, padding, 1 + (119 - (size_t)(sha->size % 64)) % 64);
    ocdm__sha256_add(sha, length, sizeof length);
    for (int i = 0; i < 64; i++)
        text[i] = "0123456789abcdef"[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    text[64] = '\0';
}

/* In pieces, with a look at the stop signal between them. */
ocdm_status ocdm__sha256_of_file(const char *path, const ocdm__progress *progress, char text[OCDM__SHA256_TEXT],
                                 ocdm_error *error)
{
    ocdm__input input = {.size = 0};
    ocdm__sha256 sha;
    ocdm__sha256_begin(&sha);
    ocdm_status status = ocdm__input_open(&input, path, NULL, error);
    while (status == OCDM_OK && !input.ended) {
        status = ocdm__input_fill(&input, error);
        ocdm__sha256_add(&sha, input.data, input.size);
        ocdm__input_release(&input, input.size);
        if (status == OCDM_OK && ocdm__progress_stopped(progress))
            status = ocdm__fail(error, OCDM_STOPPED, "", "stopped while reading %s", path);
    }
    ocdm__input_close(&input);
    ocdm__sha256_end(&sha, text);
    return status;
}

/* ---- x86 instructions, detected at run time ------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

bool ocdm__sha256_has_native(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b >> 29 & 1) == 0)
        return false;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 19 & 1) == 1 && (c >> 9 & 1) == 1;
}

/* The instructions want the state as two words of four: a b e f and c d g h, from high to low. */
#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds an instruction pair; words are kept in the order that the instructions want. */
TARGET static void add_block_native(__m128i *abef, __m128i *cdgh, const unsigned char *bytes)
{
    const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i w[4], x = *abef, y = *cdgh;
    for (size_t i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)), order);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) {
        __m128i sum = _mm_add_epi32(w[i % 4], _mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * i)));
        y = _mm_sha256rnds2_epu32(y, x, sum);
        x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(sum, 0x0E));
        if (i < 12) {
            __m128i older = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
            w[i % 4] = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), older);
            w[i % 4] = _mm_sha256msg2_epu32(w[i % 4], w[(i + 3) % 4]);
        }
    }
    *abef = _mm_add_epi32(*abef, x);
    *cdgh = _mm_add_epi32(*cdgh, y);
}

/* For CPUs that have the instructions, which the caller has asked. */
TARGET void ocdm__sha256_blocks_native(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (size_t i = 0; i < count; i++)
        add_block_native(&abef, &cdgh, bytes + 64 * i);
    static const int place[4] = {5, 4, 1, 0};
    uint32_t part[4];
    _mm_storeu_si128((__m128i *)(void *)part, abef);
    for (int i = 0; i < 4; i++)
        state[place[i]] = part[i];
    _mm_storeu_si128((__m128i *)(void *)part, cdgh);
    for (int i = 0; i < 4; i++)
        state[place[i] + 2] = part[i];
}

#else

bool ocdm__sha256_has_native(void)
{
    return false;
}

void ocdm__sha256_blocks_native(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    ocdm__sha256_blocks_plain(state, bytes, count);
}

#endif
