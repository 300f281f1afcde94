/* Which ranks there are. A program that does not link mpi.c is alone. */
#include "ranks/ranks.h"

static const ocdm__ranks *all;

const ocdm__ranks *ocdm__ranks_all(void)
{
    return all;
}

void ocdm__ranks_set(const ocdm__ranks *ranks)
{
    all = ranks;
}

__attribute__((weak)) bool ocdm__ranks_begin(uint64_t (*build)(void), const volatile sig_atomic_t *stop)
{
    (void)build;
    (void)stop;
    return true;
}

__attribute__((weak)) void ocdm__ranks_end(void)
{
}
