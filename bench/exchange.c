/*
 * Latency and bandwidth of the exchanges that several ranks of ocdm-mpi make in a step, for bench/scale-model:
 *
 *     mpicc -O2 bench/exchange.c -o exchange && mpirun -n 2 ./exchange
 *
 * The same calls as in src/ranks/mpi.c: non-blocking, with MPI_Test until they are over. Medians.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 1001, LARGE_REPEATS = 21, BUCKET = 25000000 / 4 };

static int rank, size;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void await(MPI_Request *request)
{
    for (int done = 0; !done;)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

/* The median of the seconds that a gather of `units` of four bytes from each rank takes. */
static double gather(float *all, int units, int repeats)
{
    static double seconds[REPEATS];
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    if (counts == NULL || places == NULL)
        MPI_Abort(MPI_COMM_WORLD, 5);
    for (int r = 0; r < size; r++) {
        counts[r] = units;
        places[r] = r * units;
    }
    for (int i = 0; i < repeats; i++) {
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_FLOAT, MPI_COMM_WORLD, &request);
        await(&request);
        seconds[i] = MPI_Wtime() - begin;
    }
    free(counts);
    free(places);
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_value);
    return seconds[repeats / 2];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float *all = calloc((size_t)BUCKET + (size_t)size, sizeof *all);
    if (all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 5);
    double small = gather(all, 2, REPEATS), large = gather(all, BUCKET / size, LARGE_REPEATS);
    double bytes = 4.0 * BUCKET / size * (size - 1);
    if (rank == 0)
        printf("%d ranks: 8 bytes of each gathered in %.1f us; 25 MB in %.2f ms, %.2f GB/s\n", size, 1e6 * small, 1e3 * large,
               size > 1 ? bytes / large / 1e9 : 0.0);
    free(all);
    MPI_Finalize();
    return 0;
}
