/* `ocdm-bench memory --steady`: quantiles of the time of an update, for each stream, memory size and policy. */
#define _POSIX_C_SOURCE 200809L

#include "bench/verb_steady.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "bench/steady.h"

enum { MAX_SIZES = 16, MAX_STREAMS = 16, MAX_POLICIES = 16, MAX_UPDATES = 100000000 };

const char *const ocdm__steady_clock_names[] = {"wall", "cpu", NULL};

static const char *const described[OCDM__STEADY_KINDS] = {
    [OCDM__STEADY_SKEWED] = "1 to 4 labels, each class int(80 x^2) with x uniform",
    [OCDM__STEADY_UNIFORM] = "1 to 8 of 1000 classes",
    [OCDM__STEADY_RECORDS] = "label sets drawn with replacement",
    [OCDM__STEADY_SINGLE] = "one of 1000 classes",
};

/* What the command line asks for. */
struct request {
    ocdm__label_stream *records; /* NULL if no stream draws from it */
    uint64_t sizes[MAX_SIZES];
    size_t size_count;
    size_t streams[MAX_STREAMS]; /* kinds */
    size_t stream_count;
    const char *policies[MAX_POLICIES]; /* without the reference */
    size_t policy_count;
    bool reference;
    bool json;
    ocdm__steady_plan plan;
    ocdm__output output; /* of JSON */
    size_t rows;         /* written to it */
};

/* ---- reading the command line ------------------------------------------------------------------------------------------- */

static void read_sizes(const ocdm__arguments *arguments, struct request *request)
{
    static const uint64_t usual[] = {1000, 10000, 100000};
    if (ocdm__argument_given(arguments, "memory")) {
        request->size_count = ocdm__argument_list(arguments, "memory", 1, OCDM_MAX_CAPACITY, request->sizes, MAX_SIZES);
        return;
    }
    memcpy(request->sizes, usual, sizeof usual);
    request->size_count = sizeof usual / sizeof *usual;
}

static void read_plan(const ocdm__arguments *arguments, ocdm__steady_plan *plan)
{
    plan->options = ocdm_options_default();
    plan->options.batch = (uint32_t)ocdm__argument_unsigned(arguments, "batch", 1, 1000000);
    plan->options.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    plan->options.tie = (ocdm_tie)ocdm__argument_choice(arguments, "tie");
    plan->options.distance = (ocdm_distance)ocdm__argument_choice(arguments, "distance");
    plan->options.rho = ocdm__argument_real(arguments, "rho", -OCDM_MAX_RHO, OCDM_MAX_RHO);
    plan->warmup = ocdm__argument_unsigned(arguments, "warmup", 0, 1000000);
    plan->updates = (size_t)ocdm__argument_unsigned(arguments, "updates", 1, MAX_UPDATES);
    plan->seconds = ocdm__argument_real(arguments, "seconds", 0.001, 1e6);
    plan->cpu_time = ocdm__argument_choice(arguments, "clock") == 1;
}

static ocdm_status read_streams(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "records");
    bool drawn = false;
    request->stream_count = ocdm__argument_choices(arguments, "streams", request->streams, MAX_STREAMS);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    for (size_t i = 0; i < request->stream_count; i++)
        drawn = drawn || request->streams[i] == OCDM__STEADY_RECORDS;
    if (drawn)
        return ocdm__label_stream_open(path, request->plan.options.seed, &request->records, error);
    if (path != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "add `records` to --streams, or leave --records out",
                          "--records is given, but none of the streams uses it");
    return OCDM_OK;
}

static bool has_several_labels(const struct request *request, size_t kind)
{
    return kind == OCDM__STEADY_RECORDS ? !request->records->single_label : kind != OCDM__STEADY_SINGLE;
}

/* A policy for samples with one label cannot run on streams with label sets. */
static ocdm_status check_labels(const struct request *request, const char *policy, ocdm_error *error)
{
    for (size_t i = 0; i < request->stream_count; i++)
        if (has_several_labels(request, request->streams[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use --streams single; cbes is the form of cbrs for label sets",
                              "%s takes one label per sample, and the stream %s has samples with more", policy,
                              ocdm__steady_names[request->streams[i]]);
    return OCDM_OK;
}

static ocdm_status read_policies(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    static const char *const usual[] = {"ocdm", "prs", "rs"};
    size_t named[MAX_POLICIES];
    if (!ocdm__argument_given(arguments, "policies")) {
        memcpy(request->policies, usual, sizeof usual);
        request->policy_count = sizeof usual / sizeof *usual;
        request->reference = true;
        return OCDM_OK;
    }
    size_t count = ocdm__argument_choices(arguments, "policies", named, MAX_POLICIES);
    ocdm_status status = ocdm__arguments_check(arguments, error);
    for (size_t i = 0; i < count && status == OCDM_OK; i++) {
        const char *name = ocdm__bench_policies()[named[i]];
        if (strcmp(name, "reference") == 0) {
            request->reference = true;
            continue;
        }
        request->policies[request->policy_count++] = name;
        if (ocdm_policy_find(name)->traits & OCDM_SINGLE_LABEL)
            status = check_labels(request, name, error);
    }
    return status;
}

static ocdm_status read_request(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    request->json = ocdm__argument_given(arguments, "json");
    read_sizes(arguments, request);
    read_plan(arguments, &request->plan);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(read_streams(arguments, request, error));
    return read_policies(arguments, request, error);
}

/* ---- printing ----------------------------------------------------------------------------------------------------------- */

static void print_heading(const ocdm__steady_plan *plan)
{
    printf("%s, less %.3f us for reading the clock; tie %s, rho %g, distance %s\n",
           plan->cpu_time ? "CPU time of the thread" : "elapsed time", ocdm__steady_clock_us(plan->cpu_time),
           ocdm_tie_name(plan->options.tie), plan->options.rho, ocdm_distance_name(plan->options.distance));
    puts("mean to max: microseconds per update; searches and steps: counted by ocdm, per deletion");
}

static void print_group_heading(const ocdm__steady_plan *plan)
{
    enum ocdm__steady_kind kind = plan->stream->kind;
    printf("\n%s: %s\n", ocdm__steady_names[kind], described[kind]);
    printf("memory %u, batch %u, after %llu samples\n", plan->options.capacity, plan->options.batch,
           (unsigned long long)(1 + plan->warmup) * plan->options.capacity);
    printf("%-10s %9s %9s %9s %9s %9s %15s %9s %9s  %s\n", "policy", "mean", "p50", "p99", "p99.9", "max", "reference/this",
           "searches", "steps", "from");
}

/* Prints a number with two decimals if it is small, or - for NaN. */
static void print_number(int width, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, value < 100 ? 2 : 0, value);
}

/* `reference` is the mean of the paper's loop, or NaN. */
static void print_row(const char *policy, const ocdm__steady_result *result, double reference)
{
    size_t timed = result->updates + result->deletions;
    printf("%-10s", policy);
    print_number(9, result->us.mean);
    print_number(9, result->us.p50);
    print_number(9, result->us.p99);
    print_number(9, result->us.p999);
    print_number(9, result->us.max);
    print_number(15, result->us.mean > 0 ? reference / result->us.mean : NAN);
    print_number(9, result->searches);
    print_number(9, result->steps);
    printf("  %zu %s%s\n", timed, result->deletions > 0 ? "deletion" : "update", timed == 1 ? "" : "s");
    fflush(stdout);
}

static void begin_json(struct request *request)
{
    const ocdm__steady_plan *plan = &request->plan;
    ocdm__output *output = &request->output;
    ocdm__output_text(output, "{\"clock\":\"");
    ocdm__output_text(output, ocdm__steady_clock_names[plan->cpu_time]);
    ocdm__output_real(output, "\",\"clock_us\":", ocdm__steady_clock_us(plan->cpu_time));
    ocdm__output_count(output, ",\"batch\":", plan->options.batch);
    ocdm__output_count(output, ",\"warmup\":", plan->warmup);
    ocdm__output_text(output, ",\"tie\":\"");
    ocdm__output_text(output, ocdm_tie_name(plan->options.tie));
    ocdm__output_real(output, "\",\"rho\":", plan->options.rho);
    ocdm__output_text(output, ",\"distance\":\"");
    ocdm__output_text(output, ocdm_distance_name(plan->options.distance));
    ocdm__output_text(output, "\",\"results\":[");
}

static void write_json_row(struct request *request, const char *policy, const ocdm__steady_result *result)
{
    ocdm__output *output = &request->output;
    ocdm__output_text(output, request->rows++ == 0 ? "{\"stream\":\"" : ",{\"stream\":\"");
    ocdm__output_text(output, ocdm__steady_names[request->plan.stream->kind]);
    ocdm__output_text(output, "\",\"policy\":\"");
    ocdm__output_text(output, policy);
    ocdm__output_count(output, "\",\"memory\":", request->plan.options.capacity);
    ocdm__output_count(output, ",\"updates\":", result->updates);
    ocdm__output_count(output, ",\"single_deletions\":", result->deletions);
    ocdm__output_real(output, ",\"mean_us\":", result->us.mean);
    ocdm__output_real(output, ",\"p50_us\":", result->us.p50);
    ocdm__output_real(output, ",\"p99_us\":", result->us.p99);
    ocdm__output_real(output, ",\"p999_us\":", result->us.p999);
    ocdm__output_real(output, ",\"max_us\":", result->us.max);
    ocdm__output_real(output, ",\"searches_per_deletion\":", result->searches);
    ocdm__output_real(output, ",\"steps_per_deletion\":", result->steps);
    ocdm__output_text(output, "}");
}

static void tell_row(struct request *request, const char *policy, const ocdm__steady_result *result, double reference)
{
    if (request->json)
        write_json_row(request, policy, result);
    else
        print_row(policy, result, reference);
}

/* ---- measuring ---------------------------------------------------------------------------------------------------------- */

/* Times the policy ocdm and, on the memory that it leaves, the paper's loop. */
static ocdm_status measure_reference(const struct request *request, ocdm__steady_result *ocdm, ocdm__steady_result *reference,
                                     ocdm_error *error)
{
    ocdm_memory *memory = NULL;
    ocdm_status status = ocdm__steady_policy(&request->plan, ocdm_policy_find("ocdm"), ocdm, &memory, error);
    if (status == OCDM_OK)
        status = ocdm__steady_reference(&request->plan, memory, reference, error);
    ocdm_memory_destroy(memory);
    return status;
}

/* One stream and one memory size. */
static ocdm_status run_group(struct request *request, ocdm_error *error)
{
    ocdm__steady_result ocdm, reference = {.us.mean = NAN};
    ocdm_status status = OCDM_OK;
    if (!request->json)
        print_group_heading(&request->plan);
    if (request->reference) {
        status = measure_reference(request, &ocdm, &reference, error);
        if (status == OCDM_OK)
            tell_row(request, "reference", &reference, reference.us.mean);
    }
    for (size_t i = 0; i < request->policy_count && status == OCDM_OK; i++) {
        const char *name = request->policies[i];
        ocdm__steady_result result;
        if (request->reference && strcmp(name, "ocdm") == 0)
            result = ocdm;
        else
            status = ocdm__steady_policy(&request->plan, ocdm_policy_find(name), &result, NULL, error);
        if (status == OCDM_OK)
            tell_row(request, name, &result, reference.us.mean);
    }
    return status;
}

static ocdm_status run_stream(struct request *request, enum ocdm__steady_kind kind, ocdm_error *error)
{
    ocdm__steady_stream stream;
    ocdm_options *options = &request->plan.options;
    ocdm_status status = ocdm__steady_stream_open(&stream, kind, request->records, options->seed, options->batch, error);
    if (status != OCDM_OK)
        return status;
    request->plan.stream = &stream;
    for (size_t s = 0; s < request->size_count && status == OCDM_OK; s++) {
        options->capacity = (uint32_t)request->sizes[s];
        status = run_group(request, error);
    }
    request->plan.stream = NULL;
    ocdm__steady_stream_close(&stream);
    return status;
}

static ocdm_status run_all(struct request *request, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    if (request->json)
        status = ocdm__output_open_fd(&request->output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    if (request->json)
        begin_json(request);
    else
        print_heading(&request->plan);
    for (size_t i = 0; i < request->stream_count && status == OCDM_OK; i++)
        status = run_stream(request, (enum ocdm__steady_kind)request->streams[i], error);
    if (!request->json)
        return status;
    if (status != OCDM_OK) {
        ocdm__output_abandon(&request->output);
        return status;
    }
    ocdm__output_text(&request->output, "]}\n");
    return ocdm__output_commit(&request->output, error);
}

ocdm_status ocdm__run_bench_steady(const ocdm__arguments *arguments, ocdm_error *error)
{
    struct request request = {.size_count = 0};
    ocdm_status status = read_request(arguments, &request, error);
    OCDM_THEN(status, run_all(&request, error));
    ocdm__label_stream_destroy(request.records);
    return status;
}
