/*
 * Ranks over MPI; the only file that includes mpi.h. Exchanges are non-blocking calls with MPI_Test in a loop, so that a
 * process that waits gives up its core.
 *
 * A thread of each rank sends a heartbeat to the next rank and listens to the one before. A rank that is silent for too long
 * ends all processes.
 */
#define _DEFAULT_SOURCE

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "ranks/ranks.h"

enum {
    REQUESTS = 64,      /* exchanges under way at a time */
    LOOKS = 500,        /* at a request before the process sleeps between looks */
    NAP = 50000,        /* nanoseconds */
    BEAT = 100000000,   /* nanoseconds between heartbeats */
    STALL_SECONDS = 10, /* of silence */
};

#define UNIT sizeof(uint32_t)

/* Silence after a signal that asks this process to end: if the launcher sent it because another rank has died, there is little
 * time left to report which. */
#define SILENCE_AFTER_SIGNAL 0.4

/* The last heartbeat of a rank that ends as it should. */
#define LAST_BEAT UINT64_MAX

/* Exchanges of one kind are started in the same order by all ranks, those of different kinds are not: each has ranks of its
 * own. */
enum { HEART, EXCHANGES, GATHERS, MESSAGES, KINDS };
static MPI_Comm ranks_of[KINDS];
/* Exchanges under way. MPI reads counts and places until an exchange is over, so that each has its own. */
static struct pending {
    MPI_Request *requests; /* one, or one for each piece */
    size_t room;
    int *counts, *places; /* one for each rank */
    int count;
    bool used;
} pending[REQUESTS];
static int rank, size;
static bool initialised;
static double seconds_waited;
static atomic_ullong step;
static atomic_bool ending, said_last, beats;
static pthread_t heart;
static const volatile sig_atomic_t *stop_signal;
static int (*exit_code_of)(ocdm_status);

static void nap(long nanoseconds)
{
    const struct timespec time = {.tv_nsec = nanoseconds};
    (void)nanosleep(&time, NULL);
}

/* ---- ending with an error --------------------------------------------------------------------------------------------- */

/* MPI has no way to unwind all ranks: the job ends, with the exit code of the status. The last heartbeat is sent first, so that
 * no other rank finds this one missing while the launcher ends them all. */
static _Noreturn void fail(ocdm_status status, const char *message)
{
    enum { LONGEST = 3 * BEAT };
    int code = exit_code_of(status);
    atomic_store(&ending, true);
    for (long waited = 0; atomic_load(&beats) && !atomic_load(&said_last) && waited < LONGEST; waited += NAP)
        nap(NAP);
    fflush(stdout);
    fprintf(stderr, "error: rank %d of %d, step %llu: %s\n", rank, size, (unsigned long long)atomic_load(&step), message);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

static void fail_with(const ocdm_error *error)
{
    fail(error->status, error->message);
}

/* A count of MPI is an int. */
static int int_of(size_t units)
{
    if (units > INT_MAX)
        fail(OCDM_IO, "a batch is too large for one message of MPI");
    return (int)units;
}

/* ---- exchanges -------------------------------------------------------------------------------------------------------- */

/* A free place in the table of exchanges under way. Out of memory here ends the job: the others wait in a call that this rank
 * would never make. */
static ocdm__ranks_request begin_exchange(size_t requests)
{
    int i = 0;
    while (i < REQUESTS && pending[i].used)
        i++;
    if (i == REQUESTS)
        fail(OCDM_IO, "too many exchanges at a time");
    struct pending *parts = &pending[i];
    if (requests > parts->room) {
        ocdm__release(parts->requests);
        parts->requests = ocdm__allocate(requests, sizeof(MPI_Request));
        if (parts->requests == NULL)
            fail(OCDM_NO_MEMORY, "out of memory for an exchange");
        parts->room = requests;
    }
    parts->used = true;
    parts->count = 1;
    return i;
}

/* Each call moves all exchanges on, whichever request it looks at. */
static bool finished(ocdm__ranks_request request)
{
    struct pending *parts = &pending[request];
    int done = 1;
    while (done && parts->count > 0) {
        MPI_Test(&parts->requests[parts->count - 1], &done, MPI_STATUS_IGNORE);
        parts->count -= done ? 1 : 0;
    }
    parts->used = parts->count > 0;
    return !parts->used;
}

/* Yields at first, then sleeps between looks: a rank that is far ahead must not keep a core busy. */
static void await(ocdm__ranks_request request)
{
    double begun = ocdm__seconds_now();
    for (int looks = 0; !finished(request); looks++) {
        if (looks < LOOKS)
            (void)sched_yield();
        else
            nap(NAP);
    }
    seconds_waited += ocdm__seconds_now() - begun;
}

static double waited(void)
{
    return seconds_waited;
}

/* An exchange in which rank r has the units starts[r] to starts[r + 1] - 1. */
static struct pending *begin_parts(const size_t *starts, ocdm__ranks_request *request)
{
    *request = begin_exchange(1);
    struct pending *parts = &pending[*request];
    for (int r = 0; r < size; r++) {
        parts->counts[r] = int_of(starts[r + 1] - starts[r]);
        parts->places[r] = int_of(starts[r]);
    }
    return parts;
}

static void broadcast(void *data, size_t units)
{
    ocdm__ranks_request request = begin_exchange(1);
    MPI_Ibcast(data, int_of(units), MPI_UINT32_T, 0, MPI_COMM_WORLD, pending[request].requests);
    await(request);
}

/* Into the leader's `everything`, where its own part is in place. */
static void gather(const void *own, const size_t *starts, void *everything)
{
    ocdm__ranks_request request;
    struct pending *parts = begin_parts(starts, &request);
    MPI_Igatherv(rank == 0 ? MPI_IN_PLACE : own, parts->counts[rank], MPI_UINT32_T, everything, parts->counts, parts->places,
                 MPI_UINT32_T, 0, MPI_COMM_WORLD, parts->requests);
    await(request);
}

/* Every rank sends its part to all; nothing blocks until it is waited for. */
static ocdm__ranks_request start_gather_all(void *everything, const size_t *starts, bool aside)
{
    ocdm__ranks_request request;
    struct pending *parts = begin_parts(starts, &request);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, everything, parts->counts, parts->places, MPI_UINT32_T,
                    aside ? ranks_of[GATHERS] : MPI_COMM_WORLD, parts->requests);
    return request;
}

static void gather_all(void *everything, const size_t *starts)
{
    await(start_gather_all(everything, starts, false));
}

/* Blocks to the owners of slices, and the blocks of our slice from everyone, at once. */
static ocdm__ranks_request start_exchange(const struct ocdm__ranks_exchange *exchange)
{
    size_t pieces = exchange->arrays * ((size_t)size - 1);
    for (int r = 0; r < size; r++)
        pieces += r != rank ? exchange->received[r] : 0;
    ocdm__ranks_request request = begin_exchange(pieces);
    pending[request].count = 0;
    /* The pieces of other ranks arrive in the order in which these send them. */
    size_t length = exchange->starts[rank + 1] - exchange->starts[rank];
    char *to = exchange->to;
    for (int r = 0; r < size; r++)
        for (size_t i = 0; r != rank && i < exchange->received[r]; i++, to += length * UNIT)
            MPI_Irecv(to, int_of(length), MPI_UINT32_T, r, 0, ranks_of[EXCHANGES],
                      &pending[request].requests[pending[request].count++]);
    const size_t *starts = exchange->starts;
    const char *from = exchange->from;
    for (int r = 0; r < size; r++)
        for (size_t i = 0; r != rank && i < exchange->arrays; i++) {
            size_t place = i * (starts[size] - starts[0]) + (starts[r] - starts[0]);
            MPI_Isend(from + place * UNIT, int_of(starts[r + 1] - starts[r]), MPI_UINT32_T, r, 0, ranks_of[EXCHANGES],
                      &pending[request].requests[pending[request].count++]);
        }
    return request;
}

/* ---- messages --------------------------------------------------------------------------------------------------------- */

static void send_message(size_t to, const void *bytes, size_t length)
{
    ocdm__ranks_request request = begin_exchange(1);
    MPI_Isend(bytes, int_of(length), MPI_BYTE, (int)to, 0, ranks_of[MESSAGES], pending[request].requests);
    await(request);
}

/* One message that has arrived, if any; false when there is none. */
static bool take_message(ocdm__ranks_message *message)
{
    int arrived = 0, length = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, ranks_of[MESSAGES], &arrived, &status);
    if (!arrived)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &length);
    *message = (ocdm__ranks_message){.from = (size_t)status.MPI_SOURCE, .size = (size_t)length};
    message->bytes = ocdm__allocate(message->size + 1, 1);
    if (message->bytes == NULL)
        fail(OCDM_NO_MEMORY, "out of memory for a message");
    MPI_Recv(message->bytes, length, MPI_BYTE, status.MPI_SOURCE, 0, ranks_of[MESSAGES], MPI_STATUS_IGNORE);
    return true;
}

static void note_step(uint64_t now)
{
    atomic_store(&step, now);
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------------- */

/* What this rank knows of the one before it. */
struct neighbour {
    int rank;
    uint64_t step;
    double heard;
    bool told;
};

/* After a signal this only reports the cause: a launcher that ends the job because a rank has died ends this process too, and
 * one that was asked to end waits until the leader has saved. */
static void judge_silence(struct neighbour *neighbour, double allowed)
{
    double silence = ocdm__seconds_now() - neighbour->heard;
    bool asked_to_end = *stop_signal != 0 && silence > SILENCE_AFTER_SIGNAL;
    if (neighbour->told || (silence < allowed && !asked_to_end))
        return;
    neighbour->told = true;
    fprintf(stderr, "error: rank %d of %d no longer answers; the last that was heard of it was of step %llu\n", neighbour->rank,
            size, (unsigned long long)neighbour->step);
    fflush(stderr);
    if (silence >= allowed)
        MPI_Abort(MPI_COMM_WORLD, exit_code_of(OCDM_IO));
}

/* Sends when the previous heartbeat is delivered, listens, sleeps. Ends when both sides have sent their last one. */
static void *beat(void *unused)
{
    (void)unused;
    const char *text = getenv("OCDM_STALL_SECONDS");
    double seconds = text != NULL ? strtod(text, NULL) : 0;
    double allowed = seconds > 0 ? seconds : STALL_SECONDS;
    struct neighbour neighbour = {.rank = (rank + size - 1) % size, .heard = ocdm__seconds_now()};
    MPI_Request coming = MPI_REQUEST_NULL, going = MPI_REQUEST_NULL;
    unsigned long long heard = 0, said = 0;
    MPI_Irecv(&heard, 1, MPI_UNSIGNED_LONG_LONG, neighbour.rank, 0, ranks_of[HEART], &coming);
    for (int done; said != LAST_BEAT || heard != LAST_BEAT || going != MPI_REQUEST_NULL;) {
        MPI_Test(&going, &done, MPI_STATUS_IGNORE);
        atomic_store(&said_last, done && said == LAST_BEAT);
        if (done && said != LAST_BEAT) {
            said = atomic_load(&ending) ? LAST_BEAT : atomic_load(&step);
            MPI_Isend(&said, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 0, ranks_of[HEART], &going);
        }
        if (heard != LAST_BEAT) {
            MPI_Test(&coming, &done, MPI_STATUS_IGNORE);
            if (done)
                neighbour.heard = ocdm__seconds_now();
            if (done && heard != LAST_BEAT) {
                neighbour.step = heard;
                MPI_Irecv(&heard, 1, MPI_UNSIGNED_LONG_LONG, neighbour.rank, 0, ranks_of[HEART], &coming);
            }
            judge_silence(&neighbour, allowed);
        }
        nap(atomic_load(&ending) ? NAP : BEAT);
    }
    return NULL;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------ */

/* Results depend on program and CPU, so ranks of different builds must not begin. A rank that cannot read its own program lacks
 * memory or descriptors: it must not be taken for one with another program. */
static bool builds_agree(ocdm__ranks_build *build)
{
    bool agree = true;
    uint64_t checksum = 0;
    ocdm_error error = {.status = OCDM_OK};
    if (build(&checksum, &error) != OCDM_OK)
        fail(OCDM_NO_MEMORY, error.message);
    unsigned long long mine = checksum, *builds = ocdm__allocate((size_t)size, sizeof *builds);
    if (builds == NULL)
        fail(OCDM_NO_MEMORY, "out of memory");
    MPI_Allgather(&mine, 1, MPI_UNSIGNED_LONG_LONG, builds, 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
    for (int r = 1; r < size && agree; r++) {
        agree = builds[r] == builds[0];
        if (!agree && rank == 0)
            fprintf(stderr,
                    "error: rank %d has another build of ocdm-mpi or another kind of CPU than rank 0\n"
                    "hint: results are the same on all ranks only where both are\n",
                    r);
    }
    ocdm__release(builds);
    return agree;
}

bool ocdm__ranks_over_mpi(void)
{
    return true;
}

/* Heartbeats, exchanges, gathers and messages have communicators of their own: each kind is started in one order everywhere. */
bool ocdm__ranks_begin(ocdm__ranks_build *build, int (*exit_code)(ocdm_status), const volatile sig_atomic_t *stop)
{
    int provided;
    static ocdm__ranks ranks;
    stop_signal = stop;
    exit_code_of = exit_code;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    initialised = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1)
        return true;
    if (provided < MPI_THREAD_MULTIPLE)
        fail(OCDM_IO, "this MPI does not support MPI_THREAD_MULTIPLE, which heartbeats need");
    if (!builds_agree(build))
        return false;
    /* Counts and places of every exchange that may be under way, so that none has to allocate them. */
    for (int i = 0; i < REQUESTS; i++) {
        int *numbers = ocdm__allocate(2 * (size_t)size, sizeof *numbers);
        if (numbers == NULL)
            fail(OCDM_NO_MEMORY, "out of memory");
        else
            pending[i] = (struct pending){.counts = numbers, .places = numbers + size};
    }
    for (int i = 0; i < KINDS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &ranks_of[i]);
    ranks = (ocdm__ranks){.rank = (size_t)rank,
                          .size = (size_t)size,
                          .broadcast = broadcast,
                          .gather = gather,
                          .gather_all = gather_all,
                          .start_gather_all = start_gather_all,
                          .start_exchange = start_exchange,
                          .finished = finished,
                          .wait = await,
                          .post = send_message,
                          .poll = take_message,
                          .waited = waited,
                          .note_step = note_step,
                          .fail = fail_with};
    ocdm__ranks_set(&ranks);
    if (pthread_create(&heart, NULL, beat, NULL) != 0)
        fail(OCDM_NO_MEMORY, "cannot start a thread");
    atomic_store(&beats, true);
    return true;
}

/* The heart stops first; after it nothing uses the communicators. */
void ocdm__ranks_end(void)
{
    if (ocdm__ranks_all()->size > 1) {
        atomic_store(&ending, true);
        (void)pthread_join(heart, NULL);
        for (int i = 0; i < REQUESTS; i++)
            OCDM_RELEASE(pending[i].requests, pending[i].counts);
        for (int i = 0; i < KINDS; i++)
            MPI_Comm_free(&ranks_of[i]);
        ocdm__ranks_set(NULL);
    }
    if (initialised)
        MPI_Finalize();
}
