/* Which ranks there are. A program that does not link mpi.c is alone. */
#include "ranks/ranks.h"

#include <string.h>

#include "base/allocate.h"

#define UNIT sizeof(uint32_t)
#define NO_MEMORY 5 /* the exit code */

static const ocdm__ranks *all;

const ocdm__ranks *ocdm__ranks_all(void)
{
    return all;
}

void ocdm__ranks_set(const ocdm__ranks *ranks)
{
    all = ranks;
}

/* The sizes of all ranks' bytes, and from them where each begins, in units. */
static void share_sizes(const ocdm__ranks *ranks, size_t size, ocdm__ranks_bytes *gathered)
{
    for (size_t r = 0; r <= ranks->size; r++)
        gathered->starts[r] = r * (sizeof *gathered->sizes / UNIT);
    gathered->sizes[ranks->rank] = size;
    ranks->gather_all(gathered->sizes, gathered->starts);
    for (size_t r = 0; r < ranks->size; r++)
        gathered->starts[r + 1] = gathered->starts[r] + ((size_t)gathered->sizes[r] + UNIT - 1) / UNIT;
}

void ocdm__ranks_gather_bytes(const ocdm__ranks *ranks, const void *own, size_t size, ocdm__ranks_bytes *gathered)
{
    gathered->starts = ocdm__allocate(ranks->size + 1, sizeof *gathered->starts);
    gathered->sizes = ocdm__allocate(ranks->size, sizeof *gathered->sizes);
    if (gathered->starts == NULL || gathered->sizes == NULL)
        ranks->abort("out of memory", NO_MEMORY);
    share_sizes(ranks, size, gathered);
    char *bytes = ocdm__allocate((ranks->rank == 0 ? gathered->starts[ranks->size] : (size + UNIT - 1) / UNIT) + 1, UNIT);
    if (bytes == NULL)
        ranks->abort("out of memory for what the ranks have found", NO_MEMORY);
    if (size > 0)
        memcpy(bytes, own, size);
    ranks->gather(bytes, gathered->starts, bytes);
    gathered->all = bytes;
    if (ranks->rank == 0)
        return;
    ocdm__release(bytes);
    gathered->all = NULL;
}

void ocdm__ranks_bytes_clear(ocdm__ranks_bytes *gathered)
{
    ocdm__release(gathered->all);
    ocdm__release(gathered->starts);
    ocdm__release(gathered->sizes);
}

__attribute__((weak)) bool ocdm__ranks_over_mpi(void)
{
    return false;
}

__attribute__((weak)) bool ocdm__ranks_begin(ocdm__ranks_build *build, const volatile sig_atomic_t *stop)
{
    (void)build;
    (void)stop;
    return true;
}

__attribute__((weak)) void ocdm__ranks_end(void)
{
}
