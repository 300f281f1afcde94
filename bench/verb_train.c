/* `ocdm-bench train`: milliseconds for one step of a network (forward, loss, backward, Adam) on synthetic samples. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/model.h"
#include "agent/primitives.h"
#include "base/allocate.h"
#include "base/error.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/random.h"
#include "cli/verbs.h"
#include "ranks/ranks.h"

enum { MOST_STEPS = 100000, WARM_UP = 2 };

static const char *const precisions[] = {"f32", "bf16", NULL};

/* What the command line asks for, and what came out. */
struct request {
    ocdm__agent_settings settings;
    size_t model, precision;
    uint64_t batch, steps;
    double *seconds;
    size_t timed;
    uint64_t peak_bytes;
    double waited; /* for other ranks, as a share of the time */
    float *input;
    uint32_t *labels;
    size_t *starts;
};

static ocdm_status read_train_request(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    request->model = ocdm__argument_choice(arguments, "model");
    request->precision = ocdm__argument_choice(arguments, "precision");
    uint32_t image = (uint32_t)ocdm__argument_unsigned(arguments, "image", 1, 4096);
    uint32_t features = (uint32_t)ocdm__argument_unsigned(arguments, "features", 1, 10000000);
    uint32_t classes = (uint32_t)ocdm__argument_unsigned(arguments, "classes", 1, 1000000);
    request->batch = ocdm__argument_unsigned(arguments, "batch", 1, 4096);
    uint32_t threads = (uint32_t)ocdm__argument_unsigned(arguments, "threads", 1, OCDM__MAX_THREADS);
    request->steps = ocdm__argument_unsigned(arguments, "steps", 0, MOST_STEPS);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    const char *model = ocdm__model_names[request->model];
    request->settings = (ocdm__agent_settings){
        .size = {.name = model, .class_count = classes, .features = features, .height = image, .width = image},
        .network = ocdm__network_settings_default()};
    request->settings.network.precision = request->precision == 1 ? OCDM__PRECISION_BF16 : OCDM__PRECISION_F32;
    request->settings.network.threads = ocdm__model_takes_images(model) ? threads : 1;
    return OCDM_OK;
}

static size_t sample_width(const struct request *request)
{
    const struct ocdm__model_size *size = &request->settings.size;
    return ocdm__model_takes_images(size->name) ? (size_t)3 * size->height * size->width : size->features;
}

/* Samples between -1 and 1 with three labels each. */
static ocdm_status make_batch(struct request *request, ocdm_error *error)
{
    size_t count = request->batch, width = sample_width(request);
    uint64_t base = ocdm__random_base(0, OCDM__FOR_BENCH);
    request->input = ocdm__allocate(count, width * sizeof *request->input);
    request->labels = ocdm__allocate(3 * count, sizeof *request->labels);
    request->starts = ocdm__allocate(count + 1, sizeof *request->starts);
    request->seconds = ocdm__allocate(MOST_STEPS, sizeof *request->seconds);
    if (request->input == NULL || request->labels == NULL || request->starts == NULL || request->seconds == NULL)
        return ocdm__fail_memory(error, "a batch");
    for (size_t i = 0; i < count * width; i++)
        request->input[i] = (float)(ocdm__random_at(base, i) >> 40) * 0x1p-23f - 1.0f;
    for (size_t i = 0; i < 3 * count; i++)
        request->labels[i] = (uint32_t)(ocdm__random_at(base, count * width + i) % request->settings.size.class_count);
    for (size_t i = 0; i <= count; i++)
        request->starts[i] = 3 * i;
    return OCDM_OK;
}

static int shorter_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Whether there is another step: as many as were asked for or, if that is 0, ten seconds and at least five. Rank 0 says it to
 * all. */
static bool goes_on(const struct request *request, double begun)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    bool enough =
        request->steps > 0 ? request->timed == request->steps : request->timed >= 5 && ocdm__seconds_now() - begun > 10;
    uint32_t more = !enough && request->timed < MOST_STEPS;
    ranks->broadcast(&more, 1);
    return more != 0;
}

/* One step, of this process's part of the batch. */
static ocdm_status make_step(struct request *request, ocdm__agent *agent, ocdm_error *error)
{
    const size_t *starts;
    const ocdm__ranks *ranks = ocdm__agent_deal(agent, (size_t)request->batch, true, &starts);
    size_t first = ranks != NULL ? starts[ranks->rank] : 0, bad;
    const ocdm__batch batch = {.input = request->input + first * sample_width(request),
                               .starts = request->starts,
                               .labels = request->labels,
                               .count = (size_t)request->batch};
    return ocdm__agent_train(agent, &batch, NULL, &bad, error);
}

static ocdm_status time_steps(struct request *request, ocdm_error *error)
{
    ocdm__agent *agent = NULL;
    const ocdm__ranks *ranks = ocdm__ranks_all();
    ocdm_status status = ocdm__agent_create(&request->settings, NULL, &agent, error);
    for (size_t i = 0; i < WARM_UP && status == OCDM_OK; i++)
        status = make_step(request, agent, error);
    double begun = ocdm__seconds_now(), before = ranks->waited();
    while (status == OCDM_OK && goes_on(request, begun)) {
        double start = ocdm__seconds_now();
        status = make_step(request, agent, error);
        request->seconds[request->timed++] = ocdm__seconds_now() - start;
    }
    request->waited = (ranks->waited() - before) / (ocdm__seconds_now() - begun);
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        request->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    ocdm__agent_destroy(agent);
    qsort(request->seconds, request->timed, sizeof *request->seconds, shorter_first);
    return status;
}

static ocdm_status print_train(const struct request *request, bool json, ocdm_error *error)
{
    double median = request->seconds[request->timed / 2] * 1e3;
    size_t ranks = ocdm__ranks_all()->size;
    if (!json && ranks > 1)
        printf("%zu ranks; rank 0 waits for the others and for messages %.0f %% of the time\n", ranks, 100 * request->waited);
    if (!json) {
        printf("%s, %s (%s), batch %llu, %u thread%s: %.3f ms a step (median of %zu, least %.3f), peak memory %.0f MiB\n",
               ocdm__model_names[request->model], precisions[request->precision], ocdm__device_instructions(),
               (unsigned long long)request->batch, request->settings.network.threads,
               request->settings.network.threads == 1 ? "" : "s", median, request->timed, request->seconds[0] * 1e3,
               (double)request->peak_bytes / 1048576.0);
        return OCDM_OK;
    }
    ocdm__output output;
    ocdm_status status = ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    ocdm__output_text(&output, "{\"model\":\"");
    ocdm__output_text(&output, ocdm__model_names[request->model]);
    ocdm__output_text(&output, "\",\"precision\":\"");
    ocdm__output_text(&output, precisions[request->precision]);
    ocdm__output_count(&output, "\",\"threads\":", request->settings.network.threads);
    ocdm__output_real(&output, ",\"ms_per_step\":", median);
    ocdm__output_count(&output, ",\"peak_bytes\":", request->peak_bytes);
    ocdm__output_real(&output, ",\"least_ms\":", request->seconds[0] * 1e3);
    ocdm__output_count(&output, ",\"steps\":", request->timed);
    ocdm__output_count(&output, ",\"ranks\":", ranks);
    ocdm__output_real(&output, ",\"waiting\":", request->waited);
    ocdm__output_text(&output, "}\n");
    return ocdm__output_commit(&output, error);
}

/* What one rank refuses they all refuse; one that has no memory ends them. */
static ocdm_status run_request(struct request *request, const ocdm__arguments *arguments, ocdm_error *error)
{
    OCDM_TRY(read_train_request(arguments, request, error));
    ocdm_status status = make_batch(request, error);
    if (status == OCDM_OK)
        status = time_steps(request, error);
    if (status == OCDM_NO_MEMORY)
        ocdm__ranks_end_after(ocdm__ranks_all(), error);
    return status;
}

static void clear_request(struct request *request)
{
    ocdm__release(request->input);
    ocdm__release(request->labels);
    ocdm__release(request->starts);
    ocdm__release(request->seconds);
}

static ocdm_status run_train(ocdm__arguments *arguments, ocdm_error *error)
{
    struct request request = {.timed = 0};
    ocdm_status status = run_request(&request, arguments, error);
    OCDM_THEN(status, print_train(&request, ocdm__argument_given(arguments, "json"), error));
    clear_request(&request);
    return status;
}

/* The other ranks print nothing. */
static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    struct request request = {.timed = 0};
    (void)run_request(&request, arguments, &error);
    clear_request(&request);
}

static const ocdm__flag train_flags[] = {
    {.name = "model", .value = "M", .fallback = "resnet18", .choices = ocdm__model_names, .help = "the network"},
    {.name = "image", .value = "N", .fallback = "224", .help = "width and height of the images in pixels"},
    {.name = "features", .value = "F", .fallback = "2048", .help = "features per sample"},
    {.name = "classes", .value = "C", .fallback = "80", .help = "number of classes"},
    {.letter = 'b', .name = "batch", .value = "B", .fallback = "20", .help = "samples per step"},
    {.name = "precision", .value = "P", .fallback = "f32", .choices = precisions, .help = "number format of the layers"},
    {.name = "threads", .value = "T", .fallback = "2", .help = "threads; linear and mlp use one"},
    {.name = "steps", .value = "N", .fallback = "0", .help = "steps to time; 0: as many as fit ten seconds, at least five"},
    {.name = "json", .help = "print JSON"},
    {.name = NULL},
};

const ocdm__verb ocdm__verb_bench_train = {
    .name = "train",
    .summary = "time a step of a network",
    .flags = train_flags,
    .run = run_train,
    .distributes = true,
    .follow = follow,
};
