/*
 * Logarithm and exponential with a fixed order of operations, so that no decision depends on the last bit of a libm, which
 * differs between libraries, versions and CPUs. Within a few units in the last place; add, multiply and divide only.
 */
#ifndef OCDM_BASE_LOGARITHM_H
#define OCDM_BASE_LOGARITHM_H

#include "base/base.h"

/* ln x for a whole number x >= 1, and for a real x > 0. */
double ocdm__ln(uint64_t x);
double ocdm__ln_real(double x);

/* f(m) - f(m - 1) for f(m) = m ln m and m >= 1: what the m-th sample of a class adds. The plain difference would cancel. */
double ocdm__ln_step(uint64_t m);

/* ln(m / (m - 1)) for m >= 2. */
double ocdm__ln_ratio(uint64_t m);

/* e^x; 0 or infinity beyond the range of a double. */
double ocdm__exp(double x);

/* Weights live on a grid of 2^-32, in whole numbers: their sums are exact and do not depend on the order of addition. */
#define OCDM__GRID 0x1p32

/* Rounds to the nearest whole number, halves away from zero. |x| < 2^62. */
static inline int64_t ocdm__nearest(double x)
{
    return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

#endif
