/* The little arithmetic that scenes are painted with: plain operations on doubles, so that every machine gets the same. */
#ifndef OCDM_STREAM_SCENES_ARITHMETIC_H
#define OCDM_STREAM_SCENES_ARITHMETIC_H

static inline double ocdm__larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double ocdm__size_of(double a)
{
    return a < 0 ? -a : a;
}

/* From 1 down to 0 and back, once in a unit. `t` is within 1000 of 0: the shift makes truncation round down. */
static inline double ocdm__wave(double t)
{
    double shifted = t + 1000;
    return 2 * ocdm__size_of(shifted - (double)(int)shifted - 0.5);
}

#endif
