/* Which ranks there are. A program that does not link mpi.c is alone. */
#include "ranks/ranks.h"

#define UNIT sizeof(uint32_t)

/* ---- a process that is alone ------------------------------------------------------------------------------------------- */

static void share_nothing(void *data, size_t units)
{
    (void)data;
    (void)units;
}

static void gather_nothing(const void *own, const size_t *starts, void *everything)
{
    (void)own;
    (void)starts;
    (void)everything;
}

static void gather_nothing_for_all(void *everything, const size_t *starts)
{
    (void)everything;
    (void)starts;
}

static double wait_for_nobody(void)
{
    return 0;
}

static void end_nobody(const ocdm_error *error)
{
    (void)error;
}

const ocdm__ranks ocdm__ranks_alone = {.size = 1,
                                       .broadcast = share_nothing,
                                       .gather = gather_nothing,
                                       .gather_all = gather_nothing_for_all,
                                       .waited = wait_for_nobody,
                                       .fail = end_nobody};

static const ocdm__ranks *all = &ocdm__ranks_alone;

const ocdm__ranks *ocdm__ranks_all(void)
{
    return all;
}

void ocdm__ranks_set(const ocdm__ranks *ranks)
{
    all = ranks != NULL ? ranks : &ocdm__ranks_alone;
}

/* ---- errors ------------------------------------------------------------------------------------------------------------ */

void ocdm__ranks_end_after(const ocdm__ranks *ranks, const ocdm_error *error)
{
    if (error->status != OCDM_STOPPED && error->status != OCDM_BAD_RECORD)
        ranks->fail(error);
}

/* The first failure by rank counts: all ranks return its status, and the leader has its message. */
ocdm_status ocdm__ranks_agree(const ocdm__ranks *ranks, ocdm_error *own)
{
    ocdm__ranks_bytes gathered;
    ocdm__ranks_gather_bytes(ranks, own, sizeof *own, &gathered);
    for (size_t r = 1; ranks->rank == 0 && r < ranks->size && own->status == OCDM_OK; r++)
        memcpy(own, gathered.all + gathered.starts[r] * UNIT, sizeof *own);
    ocdm__ranks_bytes_clear(&gathered);
    uint32_t verdict = (uint32_t)own->status;
    ranks->broadcast(&verdict, 1);
    return (ocdm_status)verdict;
}

static void fail_for_memory(const ocdm__ranks *ranks, const char *what)
{
    ocdm_error error;
    (void)ocdm__fail_memory(&error, what);
    ranks->fail(&error);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

/* Sizes first, then bytes: the leader has to know how much room to make. */
void ocdm__ranks_gather_bytes(const ocdm__ranks *ranks, const void *own, size_t size, ocdm__ranks_bytes *gathered)
{
    gathered->starts = ocdm__allocate(ranks->size + 1, sizeof *gathered->starts);
    gathered->sizes = ocdm__allocate(ranks->size, sizeof *gathered->sizes);
    if (gathered->starts == NULL || gathered->sizes == NULL)
        fail_for_memory(ranks, "what the ranks have found");
    /* The sizes of all ranks' bytes, and from them where each begins, in units. */
    for (size_t r = 0; r <= ranks->size; r++)
        gathered->starts[r] = r * (sizeof *gathered->sizes / UNIT);
    gathered->sizes[ranks->rank] = size;
    ranks->gather_all(gathered->sizes, gathered->starts);
    for (size_t r = 0; r < ranks->size; r++)
        gathered->starts[r + 1] = gathered->starts[r] + ((size_t)gathered->sizes[r] + UNIT - 1) / UNIT;
    char *bytes = ocdm__allocate((ranks->rank == 0 ? gathered->starts[ranks->size] : (size + UNIT - 1) / UNIT) + 1, UNIT);
    if (bytes == NULL)
        fail_for_memory(ranks, "what the ranks have found");
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
    OCDM_RELEASE(gathered->all, gathered->starts, gathered->sizes);
}

__attribute__((weak)) bool ocdm__ranks_over_mpi(void)
{
    return false;
}

__attribute__((weak)) bool ocdm__ranks_begin(ocdm__ranks_build *build, int (*exit_code)(ocdm_status),
                                             const volatile sig_atomic_t *stop)
{
    (void)build;
    (void)exit_code;
    (void)stop;
    return true;
}

__attribute__((weak)) void ocdm__ranks_end(void)
{
}
