/*
 * Times every update of a long stream, the fill included: soak_updates STREAM MEMORY UPDATES
 *
 * STREAM is skewed, uniform or single, as in `ocdm-bench memory --steady`. Nothing is kept per update, so that the process does
 * not grow unless the memory does. The last line is a JSON object; times are of the thread's CPU, since other processes
 * pause the wall's at will.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/steady.h"

enum { BATCH = 10 };

struct times {
    double sum_us, longest_us, longest_wall_us;
    uint64_t longest_at; /* the number of that update */
    uint64_t over_1_ms;
    uint64_t longest_steps;       /* counted steps of that update */
    uint64_t most_steps, most_at; /* the most of all updates, and the number of that one */
};

static double now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static ocdm_status timed_update(ocdm_memory *memory, const ocdm_sample *batch, uint64_t number, struct times *times,
                                ocdm_error *error)
{
    uint64_t steps = ocdm_memory_work(memory).steps;
    double wall = now_us(CLOCK_MONOTONIC), start = now_us(CLOCK_THREAD_CPUTIME_ID);
    ocdm_status status = ocdm_memory_update(memory, batch, BATCH, NULL, error);
    double us = now_us(CLOCK_THREAD_CPUTIME_ID) - start;
    wall = now_us(CLOCK_MONOTONIC) - wall;
    steps = ocdm_memory_work(memory).steps - steps;
    times->sum_us += us;
    times->over_1_ms += us > 1000;
    if (wall > times->longest_wall_us)
        times->longest_wall_us = wall;
    if (us > times->longest_us) {
        times->longest_us = us;
        times->longest_at = number;
        times->longest_steps = steps;
    }
    if (steps > times->most_steps) {
        times->most_steps = steps;
        times->most_at = number;
    }
    return status;
}

static ocdm_status soak(ocdm_memory *memory, ocdm__steady_stream *stream, uint64_t updates, struct times *times,
                        ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (uint64_t i = 0; status == OCDM_OK && i < updates; i++) {
        status = timed_update(memory, ocdm__steady_stream_batch(stream, i * BATCH), i, times, error);
        if ((i + 1) % (updates / 20 + 1) == 0)
            fprintf(stderr, "update %llu of %llu: the longest one took %.0f us, at %llu\n", (unsigned long long)i + 1,
                    (unsigned long long)updates, times->longest_us, (unsigned long long)times->longest_at);
    }
    return status;
}

static enum ocdm__steady_kind kind_of(const char *name)
{
    for (int kind = 0; kind < OCDM__STEADY_KINDS; kind++)
        if (kind != OCDM__STEADY_RECORDS && strcmp(ocdm__steady_names[kind], name) == 0)
            return (enum ocdm__steady_kind)kind;
    return OCDM__STEADY_KINDS;
}

int main(int count, char **arguments)
{
    enum ocdm__steady_kind kind = count == 4 ? kind_of(arguments[1]) : OCDM__STEADY_KINDS;
    if (kind == OCDM__STEADY_KINDS) {
        fprintf(stderr, "error: usage: soak_updates skewed|uniform|single MEMORY UPDATES\n");
        return 2;
    }
    uint64_t updates = strtoull(arguments[3], NULL, 10);
    ocdm_options options = ocdm_options_default();
    options.capacity = (uint32_t)strtoul(arguments[2], NULL, 10);
    options.batch = BATCH;
    ocdm_error error = {0};
    ocdm_memory *memory = NULL;
    ocdm__steady_stream stream = {.samples = NULL};
    struct times times = {0};
    ocdm_status status = ocdm_memory_create(&options, &memory, &error);
    if (status == OCDM_OK)
        status = ocdm__steady_stream_open(&stream, kind, NULL, 1, BATCH, &error);
    if (status == OCDM_OK)
        status = soak(memory, &stream, updates, &times, &error);
    if (status == OCDM_OK)
        printf("{\"stream\":\"%s\",\"memory\":%u,\"kept\":%u,\"updates\":%llu,\"mean_us\":%.1f,\"over_1_ms\":%llu,"
               "\"longest_us\":%.0f,\"longest_at\":%llu,\"longest_steps\":%llu,\"longest_wall_us\":%.0f,\"most_steps\":%llu,"
               "\"most_at\":%llu}\n",
               arguments[1], options.capacity, (unsigned)ocdm_memory_size(memory), (unsigned long long)updates,
               times.sum_us / (double)updates, (unsigned long long)times.over_1_ms, times.longest_us,
               (unsigned long long)times.longest_at, (unsigned long long)times.longest_steps, times.longest_wall_us,
               (unsigned long long)times.most_steps, (unsigned long long)times.most_at);
    else
        fprintf(stderr, "error: %s\n", error.message);
    ocdm__steady_stream_close(&stream);
    ocdm_memory_destroy(memory);
    return status == OCDM_OK ? 0 : 1;
}
