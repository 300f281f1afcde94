/*
 * Random numbers without the state of a generator: each is a hash of (seed, purpose, index), so that a draw for one purpose
 * never shifts another and nothing needs saving. The hash is SplitMix64 (Steele, Lea, Flood 2014): a counter through a
 * bijective mix.
 */
#ifndef OCDM_BASE_RANDOM_H
#define OCDM_BASE_RANDOM_H

#include "base/logarithm.h"

/* The purpose of a number. Append only: these values affect every result. */
enum ocdm__purpose {
    OCDM__FOR_KEYS = 1,
    OCDM__FOR_DECISIONS = 2,
    OCDM__FOR_DRAWS = 3,
    OCDM__FOR_BUILTIN_STREAM = 4,
    OCDM__FOR_BENCH = 5,
    OCDM__FOR_SCENES = 6,
    OCDM__FOR_TEST_PARTS = 7,
    OCDM__FOR_SHUFFLES = 8,
    OCDM__FOR_WEIGHTS = 9,
    OCDM__FOR_AUGMENTATION = 10,
    OCDM__FOR_VALIDATION = 11,
    OCDM__FOR_TEST_DRAWS = 12,
    OCDM__FOR_REPLAY = 13,
    OCDM__FOR_BLUR = 14,
    OCDM__FOR_PROBES = 15,
    OCDM__FOR_SPLITS = 16,
    OCDM__FOR_PROJECTION = 17
};

/* A stream of random numbers: create one where it is needed and discard it afterwards. */
typedef struct ocdm__random {
    uint64_t state;
} ocdm__random;

#define OCDM__GOLDEN_STEP 0x9E3779B97F4A7C15u

static inline uint64_t ocdm__mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The base of all numbers for one purpose under one seed; mixed thrice, so that neighbouring seeds share nothing. */
static inline uint64_t ocdm__random_base(uint64_t seed, enum ocdm__purpose purpose)
{
    uint64_t x = ocdm__mix(seed + OCDM__GOLDEN_STEP);
    return ocdm__mix(ocdm__mix(x ^ ((uint64_t)purpose * 0xD1342543DE82EF95u)) + OCDM__GOLDEN_STEP);
}

/* Number `index` under a base. */
static inline uint64_t ocdm__random_at(uint64_t base, uint64_t index)
{
    return ocdm__mix(base + (index + 1) * OCDM__GOLDEN_STEP);
}

/* A stream of its own for `index` under a base. */
static inline ocdm__random ocdm__random_stream(uint64_t base, uint64_t index)
{
    return (ocdm__random){ocdm__mix(ocdm__random_at(base, index) ^ 0xA0761D6478BD642Fu)};
}

static inline uint64_t ocdm__random_next(ocdm__random *random)
{
    random->state += OCDM__GOLDEN_STEP;
    return ocdm__mix(random->state);
}

/* Uniform on 0..below-1, without bias: values in the incomplete last stretch are drawn again. 0 when below < 2. */
static inline uint64_t ocdm__random_below(ocdm__random *random, uint64_t below)
{
    if (below < 2)
        return 0;
    uint64_t incomplete = (UINT64_MAX % below + 1) % below;
    uint64_t x;
    do
        x = ocdm__random_next(random);
    while (x > UINT64_MAX - incomplete);
    return x % below;
}

/* Puts numbers into a uniformly random order (Fisher and Yates, from the end). */
static inline void ocdm__random_shuffle(ocdm__random *random, uint32_t *numbers, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        size_t chosen = (size_t)ocdm__random_below(random, left);
        uint32_t number = numbers[chosen];
        numbers[chosen] = numbers[left - 1];
        numbers[left - 1] = number;
    }
}

/* Uniform on [0, 1), a multiple of 2^-53. */
static inline double ocdm__random_unit(ocdm__random *random)
{
    return (double)(ocdm__random_next(random) >> 11) * 0x1p-53;
}

/* Standard normal, by Marsaglia's polar method: nothing but a logarithm and a root, which are the same on every machine. */
static inline double ocdm__random_normal(ocdm__random *random)
{
    double x, square;
    do {
        double y = 2 * ocdm__random_unit(random) - 1;
        x = 2 * ocdm__random_unit(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * ocdm__ln_real(square) / square);
}

#endif
