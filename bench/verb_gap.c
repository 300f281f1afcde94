/* `ocdm-bench gap`: compares the greedy's choice with the best one. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "bench/gap.h"
#include "cli/verbs.h"

static void print_gap(const ocdm__gap_result results[OCDM__GAP_KINDS], const char *stream_name)
{
    static const char *const what[OCDM__GAP_KINDS] = {
        [OCDM__GAP_BRUTE_FORCE] = "small random pools, every choice tried",
        [OCDM__GAP_PAIRS] = "M 1000, b 2, every pair tried",
        [OCDM__GAP_SWAPS] = "M 1000, b 10, exchanges of one and two samples",
    };
    printf("The greedy against the best choice of eq. (3), KL, rho 0; full pools from %s\n\n", stream_name);
    printf("%-12s %6s %5s %8s %10s %10s %10s %11s %9s\n", "search", "pools", "sets", "optimal", "mean gap", "worst gap",
           "mean limit", "worst limit", "distance");
    for (size_t kind = 0; kind < OCDM__GAP_KINDS; kind++)
        printf("%-12s %6zu %5.0f %8zu %10.2e %10.2e %10.2e %11.2e %9.6f\n", ocdm__gap_name((enum ocdm__gap_kind)kind),
               results[kind].pools, results[kind].mean_sets, results[kind].optimal, results[kind].mean_gap,
               results[kind].worst_gap, results[kind].mean_limit, results[kind].worst_limit, results[kind].mean_distance);
    putchar('\n');
    for (size_t kind = 0; kind < OCDM__GAP_KINDS; kind++)
        printf("%-12s %s\n", ocdm__gap_name((enum ocdm__gap_kind)kind), what[kind]);
    puts("\n"
         "sets         distinct label sets in a pool, mean\n"
         "gap          the distance that the greedy leaves minus the least that was found\n"
         "limit        upper bound of the gap, computed where not every choice is tried\n"
         "optimal      pools where no choice better than the greedy's was found\n"
         "distance     distance that the greedy leaves, mean");
}

static ocdm_status write_gap_json(const ocdm__gap_result results[OCDM__GAP_KINDS], ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    ocdm__output_text(&output, "{\"results\":[");
    for (size_t kind = 0; kind < OCDM__GAP_KINDS; kind++) {
        ocdm__output_text(&output, kind == 0 ? "{\"search\":\"" : ",{\"search\":\"");
        ocdm__output_text(&output, ocdm__gap_name((enum ocdm__gap_kind)kind));
        ocdm__output_text(&output, "\",\"pools\":");
        ocdm__output_uint64(&output, results[kind].pools);
        ocdm__output_text(&output, ",\"mean_sets\":");
        ocdm__output_double(&output, results[kind].mean_sets);
        ocdm__output_text(&output, ",\"optimal\":");
        ocdm__output_uint64(&output, results[kind].optimal);
        ocdm__output_text(&output, ",\"mean_gap\":");
        ocdm__output_double(&output, results[kind].mean_gap);
        ocdm__output_text(&output, ",\"worst_gap\":");
        ocdm__output_double(&output, results[kind].worst_gap);
        ocdm__output_text(&output, ",\"mean_limit\":");
        ocdm__output_double(&output, results[kind].mean_limit);
        ocdm__output_text(&output, ",\"worst_limit\":");
        ocdm__output_double(&output, results[kind].worst_limit);
        ocdm__output_text(&output, ",\"mean_distance\":");
        ocdm__output_double(&output, results[kind].mean_distance);
        ocdm__output_text(&output, "}");
    }
    ocdm__output_text(&output, "]}\n");
    return ocdm__output_commit(&output, error);
}

static ocdm_status run_gap(ocdm__arguments *arguments, ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "records");
    uint64_t seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    ocdm__label_stream *stream = NULL;
    ocdm__gap_result results[OCDM__GAP_KINDS];
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    ocdm_status status = ocdm__label_stream_open(path, seed, &stream, error);
    for (size_t kind = 0; kind < OCDM__GAP_KINDS && status == OCDM_OK; kind++)
        status = ocdm__bench_gap((enum ocdm__gap_kind)kind, stream, seed, &results[kind], error);
    if (status == OCDM_OK && ocdm__argument_given(arguments, "json"))
        status = write_gap_json(results, error);
    else if (status == OCDM_OK)
        print_gap(results, path != NULL ? path : "the built-in stream");
    ocdm__label_stream_destroy(stream);
    return status;
}

static const ocdm__flag gap_flags[] = {
    {.name = "records", .value = "FILE", .help = "the stream: records as for `ocdm sample`; built-in by default"},
    {.name = "seed", .value = "S", .fallback = "0", .help = "seed of the random pools, of the built-in stream and of ties"},
    {.name = "json", .help = "print JSON"},
    {.name = NULL},
};

const ocdm__verb ocdm__verb_bench_gap = {
    .name = "gap",
    .summary = "measure the greedy against the optimum",
    .flags = gap_flags,
    .run = run_gap,
};
