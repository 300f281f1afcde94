#define _POSIX_C_SOURCE 200809L

#include "base/progress.h"

#include <time.h>

double ocdm__seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
