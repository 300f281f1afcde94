/* `ocdm-bench memory`: microseconds per batch for each policy and for the paper's loop. --steady is in bench_steady.c. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "bench/memory.h"
#include "bench/steady.h"
#include "cli/verbs.h"
#include "bench/verb_steady.h"

enum { MAX_SIZES = 16, MAX_POLICIES = 16 };

/* The reference first: the ratios of the others need it. */
const char *const *ocdm__bench_policies(void)
{
    static const char *names[OCDM__CHOICES] = {"reference"};
    return ocdm__policy_choices(names, 1, OCDM_NEEDS_GRADIENTS);
}

/* What the command line asks for. */
struct request {
    ocdm__label_stream *stream;
    const char *stream_name;
    uint64_t sizes[MAX_SIZES];
    size_t size_count;
    size_t policies[MAX_POLICIES]; /* positions in ocdm__bench_policies() */
    size_t policy_count;
    const char *left_out; /* a policy that takes one label per sample, on a stream with more; NULL: none */
    bool json;
    ocdm__bench_plan plan;
    ocdm__bench_result results[MAX_SIZES][MAX_POLICIES];
};

/* The reference comes first; all others are policies of the library. */
static bool is_reference(size_t position)
{
    return position == 0;
}

static bool takes_one_label(size_t position)
{
    const ocdm_policy *policy = ocdm_policy_find(ocdm__bench_policies()[position]);
    return policy != NULL && policy->traits & OCDM_SINGLE_LABEL;
}

/* The policies to run: those named, or all that can run on this stream; the reference comes first, wherever it was named. */
static ocdm_status choose_policies(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    size_t named[MAX_POLICIES], count = 0;
    bool all = !ocdm__argument_given(arguments, "policies");
    if (!all)
        count = ocdm__argument_choices(arguments, "policies", named, MAX_POLICIES);
    ocdm_status status = ocdm__arguments_check(arguments, error);
    for (; all && ocdm__bench_policies()[count] != NULL; count++)
        named[count] = count;
    for (size_t i = 0; i < count && status == OCDM_OK; i++) {
        if (takes_one_label(named[i]) && !request->stream->single_label) {
            request->left_out = ocdm__bench_policies()[named[i]];
            if (!all)
                status = ocdm__fail(error, OCDM_NOT_SINGLE_LABEL, "cbes is the form of cbrs for label sets",
                                    "%s: %s takes one label per sample, and this stream has samples with more",
                                    request->stream_name, request->left_out);
            continue;
        }
        request->policies[request->policy_count++] = named[i];
        if (is_reference(named[i])) {
            memmove(request->policies + 1, request->policies, (request->policy_count - 1) * sizeof *request->policies);
            request->policies[0] = named[i];
        }
    }
    return status;
}

static ocdm_status read_request(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "records");
    request->stream_name = path != NULL ? path : "built-in stream";
    request->size_count = ocdm__argument_list(arguments, "memory", 1, OCDM_MAX_CAPACITY, request->sizes, MAX_SIZES);
    request->plan.batch = (uint32_t)ocdm__argument_unsigned(arguments, "batch", 1, 1000000);
    request->plan.passes = (uint32_t)ocdm__argument_unsigned(arguments, "repeat", 1, OCDM__BENCH_PASSES);
    request->plan.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    request->json = ocdm__argument_given(arguments, "json");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(ocdm__label_stream_open(path, request->plan.seed, &request->stream, error));
    request->plan.stream = request->stream;
    return choose_policies(arguments, request, error);
}

static void print_heading(const struct request *request)
{
    const ocdm__label_stream *stream = request->stream;
    printf("%s: %zu samples, %zu classes, %.2f labels a sample\n", request->stream_name, stream->sample_count,
           stream->class_count, (double)stream->label_count / (double)stream->sample_count);
    if (request->left_out != NULL)
        printf("%s takes one label per sample: left out on this stream\n", request->left_out);
}

static void print_row(const struct request *request, size_t size, size_t policy)
{
    const ocdm__bench_result *result = &request->results[size][policy];
    double reference = is_reference(request->policies[0]) ? request->results[size][0].us_per_step : NAN;
    char ratio[32] = "-", seen[32] = "-";
    if (!isnan(reference) && result->us_per_step > 0)
        snprintf(ratio, sizeof ratio, "%.*f", reference < 100 * result->us_per_step ? 1 : 0, reference / result->us_per_step);
    if (!isnan(result->distance_seen))
        snprintf(seen, sizeof seen, "%.6f", result->distance_seen);
    printf("%-10s %12.3f %15s %12.6f %14s %8zu %7zu\n", ocdm__bench_policies()[request->policies[policy]], result->us_per_step,
           ratio, result->distance, seen, result->steps, result->passes);
    fflush(stdout);
}

static ocdm_status run_size(struct request *request, size_t size, ocdm_error *error)
{
    request->plan.capacity = (uint32_t)request->sizes[size];
    if (!request->json)
        printf("\nmemory %u, batch %u%s\n%-10s %12s %15s %12s %14s %8s %7s\n", request->plan.capacity, request->plan.batch,
               request->stream->sample_count > request->plan.capacity ? ""
                                                                      : ": the stream does not fill it, nothing is deleted",
               "policy", "us/step", "reference/this", "distance", "distance_seen", "steps", "passes");
    for (size_t i = 0; i < request->policy_count; i++) {
        const char *name = ocdm__bench_policies()[request->policies[i]];
        ocdm__bench_result *result = &request->results[size][i];
        ocdm_status status = is_reference(request->policies[i])
                                 ? ocdm__bench_reference(&request->plan, result, error)
                                 : ocdm__bench_policy(&request->plan, ocdm_policy_find(name), result, NULL, error);
        if (status != OCDM_OK)
            return status;
        if (!request->json)
            print_row(request, size, i);
    }
    return OCDM_OK;
}

static ocdm_status write_memory_json(const struct request *request, ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    ocdm__output_text(&output, "{\"results\":[");
    for (size_t s = 0; s < request->size_count; s++)
        for (size_t i = 0; i < request->policy_count; i++) {
            const ocdm__bench_result *result = &request->results[s][i];
            ocdm__output_text(&output, s + i == 0 ? "{\"policy\":\"" : ",{\"policy\":\"");
            ocdm__output_text(&output, ocdm__bench_policies()[request->policies[i]]);
            ocdm__output_text(&output, "\",\"memory\":");
            ocdm__output_uint64(&output, request->sizes[s]);
            ocdm__output_text(&output, ",\"batch\":");
            ocdm__output_uint64(&output, request->plan.batch);
            ocdm__output_text(&output, ",\"steps\":");
            ocdm__output_uint64(&output, result->steps);
            ocdm__output_text(&output, ",\"us_per_step\":");
            ocdm__output_double(&output, result->us_per_step);
            ocdm__output_text(&output, ",\"final_distance\":");
            ocdm__output_double(&output, result->distance);
            ocdm__output_text(&output, "}");
        }
    ocdm__output_text(&output, "]}\n");
    return ocdm__output_commit(&output, error);
}

/* Some flags are for --steady only, one is for whole passes only. */
static ocdm_status check_mode(const ocdm__arguments *arguments, ocdm_error *error)
{
    static const char *const steady_only[] = {"streams", "warmup", "updates", "seconds", "clock", "tie", "rho", "distance"};
    bool steady = ocdm__argument_given(arguments, "steady");
    for (size_t i = 0; !steady && i < sizeof steady_only / sizeof *steady_only; i++)
        if (ocdm__argument_given(arguments, steady_only[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "--%s needs --steady", steady_only[i]);
    if (steady && ocdm__argument_given(arguments, "repeat"))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--updates is the number of updates to time",
                          "--repeat counts whole passes, --steady makes none");
    return OCDM_OK;
}

static ocdm_status run_memory(ocdm__arguments *arguments, ocdm_error *error)
{
    struct request request = {.size_count = 0};
    OCDM_TRY(check_mode(arguments, error));
    if (ocdm__argument_given(arguments, "steady"))
        return ocdm__run_bench_steady(arguments, error);
    ocdm_status status = read_request(arguments, &request, error);
    if (status == OCDM_OK && !request.json)
        print_heading(&request);
    for (size_t s = 0; s < request.size_count && status == OCDM_OK; s++)
        status = run_size(&request, s, error);
    if (status == OCDM_OK && request.json)
        status = write_memory_json(&request, error);
    ocdm__label_stream_destroy(request.stream);
    return status;
}

static const ocdm__flag memory_flags[] = {
    {.name = "records", .value = "FILE", .help = "the stream: records as for `ocdm sample`, in file order"},
    {.letter = 'm',
     .name = "memory",
     .value = "M,...",
     .fallback = "1000,50000",
     .help = "memory sizes; with --steady 1000,10000,100000 if not given"},
    {.letter = 'b', .name = "batch", .value = "B", .fallback = "10", .help = "samples per batch"},
    {.letter = 'p',
     .name = "policies",
     .value = "P,...",
     .listed = ocdm__bench_policies,
     .help = "the policies; by default all that can run"},
    {.name = "repeat", .value = "N", .fallback = "5", .help = "number of passes; the result is their median"},
    {.name = "seed", .value = "S", .fallback = "0", .help = "seed of the streams and of the policies"},
    {.name = "steady", .help = "time single updates in the steady state; the flags from here to --distance need it"},
    {.name = "streams",
     .value = "S,...",
     .fallback = "skewed,uniform,records,single",
     .choices = ocdm__steady_names,
     .help = "kinds of stream"},
    {.name = "warmup",
     .value = "N",
     .fallback = "20",
     .help = "offer N x M samples before timing, after those that fill the memory"},
    {.name = "updates", .value = "N", .fallback = "20000", .help = "updates to time"},
    {.name = "seconds", .value = "X", .fallback = "3", .help = "time no further update after X seconds of timed updates"},
    {.name = "clock",
     .value = "C",
     .fallback = "wall",
     .choices = ocdm__steady_clock_names,
     .help = "measure elapsed time or the CPU time of the thread"},
    {.name = "tie",
     .value = "T",
     .fallback = "key",
     .listed = ocdm__tie_choices,
     .help = "which sample is deleted when several are equally good, in ocdm and onlyone"},
    {.name = "rho", .value = "R", .fallback = "0", .help = "exponent of the target, -16 to 16"},
    {.name = "distance",
     .value = "D",
     .fallback = "kl",
     .listed = ocdm__distance_choices,
     .help = "the distance that ocdm and onlyone minimise"},
    {.name = "json", .help = "print JSON"},
    {.name = NULL},
};

const ocdm__verb ocdm__verb_bench_memory = {
    .name = "memory",
    .summary = "time the policies against the paper's loop",
    .flags = memory_flags,
    .run = run_memory,
};
