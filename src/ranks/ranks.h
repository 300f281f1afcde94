/*
 * Several processes that work together, each with a rank: 0 leads, the others follow. A program that was not started by mpirun
 * is alone: it calls the same functions, and they do nothing. `ocdm-mpi` links mpi.c, `ocdm` does not.
 *
 * All ranks call the same functions in the same order. Lengths count units of four bytes. Nothing returns an error: a message
 * that cannot be delivered ends all processes, and so does a rank that no longer answers; see docs/scale.md.
 */
#ifndef OCDM_RANKS_RANKS_H
#define OCDM_RANKS_RANKS_H

#include <signal.h>
#include "base/base.h"

/* An exchange that has begun: hand it to `finished` or `wait`, once. */
typedef int ocdm__ranks_request;

/* What one rank sent another outside the order of the exchanges. Release the bytes with ocdm__release. */
typedef struct ocdm__ranks_message {
    size_t from, size;
    char *bytes;
} ocdm__ranks_message;

/*
 * What all ranks exchange. Each has some arrays of the same length, one after the other in `from`. Of every rank's arrays, rank
 * r gets the units starts[r] to starts[r + 1] - 1, counted from starts[0]: `to` receives received[q] such pieces from each
 * other rank q, in the order of the ranks. Own pieces stay where they are.
 */
struct ocdm__ranks_exchange {
    const void *from;
    size_t arrays;
    void *to;
    const size_t *starts;   /* one more than there are ranks */
    const size_t *received; /* the numbers of arrays of all ranks */
};

typedef struct ocdm__ranks {
    size_t rank, size;

    /* The leader's data to all. */
    void (*broadcast)(void *data, size_t units);

    /* In both, rank r has the units starts[r] to starts[r + 1] - 1 of `all`. From each rank's own to the leader's array, in
     * which the leader's part is already: its `own` is not looked at; from each rank's part of the array to all the arrays. */
    void (*gather)(const void *own, const size_t *starts, void *all);
    void (*gather_all)(void *all, const size_t *starts);

    /* Begins the last of these. `aside`: all ranks begin such gathers in the same order, but anywhere between other calls. */
    ocdm__ranks_request (*start_gather_all)(void *all, const size_t *starts, bool aside);

    /* Begins an exchange; `finished` also moves it on, `wait` returns when it is over. */
    ocdm__ranks_request (*start_exchange)(const struct ocdm__ranks_exchange *exchange);
    bool (*finished)(ocdm__ranks_request request);
    void (*wait)(ocdm__ranks_request request);

    /* Messages, which arrive in the order in which a rank sends them. `post` returns once `bytes` may change; `poll` takes one
     * that has arrived, false: there is none. */
    void (*post)(size_t rank, const void *bytes, size_t size);
    bool (*poll)(ocdm__ranks_message *message);

    /* Seconds that this rank has waited for others so far, and for messages. */
    double (*waited)(void);

    /* What this rank is doing, for messages of other ranks. */
    void (*note_step)(uint64_t step);

    /* Prints an error that names rank and step and ends all processes with the exit code of its status. Does not return, but
     * for a process that is alone. */
    void (*fail)(const ocdm_error *error);
} ocdm__ranks;

/* All ranks: in a process that is alone a table of functions that do nothing, with rank 0 of 1. */
const ocdm__ranks *ocdm__ranks_all(void);

/* That table: for work that this process does alone, whatever others there are. It has no messages, requests and steps, which
 * only several ranks ask for. */
extern const ocdm__ranks ocdm__ranks_alone;

/* What a rank makes of an error in work of all: unless it is the same on all ranks (a loss that is not finite, a stop), the
 * others would wait for it, so that it ends them all. Returns if it is alone. */
void ocdm__ranks_end_after(const ocdm__ranks *ranks, const ocdm_error *error);

/* The same status on all ranks: that of the first that has another than OCDM_OK, whose error the leader then has in `own`. */
ocdm_status ocdm__ranks_agree(const ocdm__ranks *ranks, ocdm_error *own);

/* Bytes of all ranks at the leader: those of rank r are the sizes[r] from unit starts[r] of `all` on. */
typedef struct ocdm__ranks_bytes {
    char *all;
    size_t *starts;
    uint64_t *sizes;
} ocdm__ranks_bytes;

/* Gathers bytes; each rank may send a different number. On the other ranks `gathered` has sizes and starts alone. Clear it. */
void ocdm__ranks_gather_bytes(const ocdm__ranks *ranks, const void *own, size_t size, ocdm__ranks_bytes *gathered);
void ocdm__ranks_bytes_clear(ocdm__ranks_bytes *gathered);

/* Whether the program was built with MPI, on however many ranks it runs. */
bool ocdm__ranks_over_mpi(void);

/* For the implementation, before any other thread starts; NULL: this process is alone. */
void ocdm__ranks_set(const ocdm__ranks *ranks);

/*
 * For the program's main function; mpi.c implements both, ranks.c for a program without it. After the first, ocdm__ranks_all
 * has all of them. `exit_code` is that of a status; `build` gives a checksum that all ranks must share, or the reason why it
 * cannot, which ends all processes; `stop` becomes not 0 when a signal asks the process to end. False: ranks have different
 * builds, which the leader has reported.
 */
typedef ocdm_status ocdm__ranks_build(uint64_t *checksum, ocdm_error *error);
bool ocdm__ranks_begin(ocdm__ranks_build *build, int (*exit_code)(ocdm_status), const volatile sig_atomic_t *stop);
void ocdm__ranks_end(void);

#endif
