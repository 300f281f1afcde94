/* ln and exp by series: ln through 2 atanh((x - 1) / (x + 1)), exp through its Taylor series, both after taking out powers
 * of 2. */
#include "base/logarithm.h"

/* ln 2 in two parts: the high one ends in 16 zero bits, so that its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42fefa0000p-1;
static const double ln2_low = 0x1.cf79abc9e3b3ap-40;

/* 2 atanh(z) for |z| <= 1/3, where z^2 <= 1/9 and 17 terms reach 2^-53. */
static double twice_atanh(double z)
{
    double square = z * z;
    double sum = 1.0 / 35;
    for (int n = 33; n >= 3; n -= 2)
        sum = sum * square + 1.0 / n;
    return 2 * (z + z * (square * sum));
}

/* Splits off the power of two; what remains is near 1. */
double ocdm__ln_real(double x)
{
    int exponent = 0;
    double mantissa = frexp(x, &exponent);
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        exponent--;
    }
    double logarithm = twice_atanh((mantissa - 1) / (mantissa + 1));
    return exponent * ln2_high + (logarithm + exponent * ln2_low);
}

double ocdm__ln(uint64_t x)
{
    return ocdm__ln_real((double)x);
}

/* ln(m / (m - 1)) = 2 atanh(1 / (2 m - 1)). */
double ocdm__ln_ratio(uint64_t m)
{
    return twice_atanh(1 / (2 * (double)m - 1));
}

double ocdm__ln_step(uint64_t m)
{
    if (m < 2)
        return 0;
    return ocdm__ln(m) + ((double)m - 1) * ocdm__ln_ratio(m);
}

/* Splits off whole multiples of ln 2; the remainder goes into a polynomial. */
double ocdm__exp(double x)
{
    if (x > 709.7)
        return HUGE_VAL;
    if (x < -745)
        return 0;
    int exponent = (int)ocdm__nearest(x / (ln2_high + ln2_low));
    double rest = (x - exponent * ln2_high) - exponent * ln2_low;
    double sum = 1;
    for (int n = 14; n >= 1; n--)
        sum = sum * rest / n + 1;
    return ldexp(sum, exponent);
}
