/* `ocdm sample`: a filter that keeps at most M records of a stream, balanced. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "sample/sample.h"

static const char *const duplicate_names[] = {"error", "skip", NULL};

/* A filter has nobody to ask about gradients. */
static const char *const *policy_choices(void)
{
    static const char *names[OCDM__CHOICES];
    return ocdm__policy_choices(names, 0, OCDM_NEEDS_GRADIENTS);
}

/* ---- progress ------------------------------------------------------------------------------------------------------- */

struct progress {
    bool shown;
    double started, next; /* seconds */
};

static void show_progress(struct progress *progress, const ocdm__sampling *sampling)
{
    double now = ocdm__seconds_now();
    if (now < progress->next)
        return;
    progress->next = now + 0.2;
    double megabytes = (double)ocdm__records_bytes_read(ocdm__sampling_records(sampling)) / 1e6;
    fprintf(stderr, "\r%llu records, %.0f MB, %.0f MB/s   ",
            (unsigned long long)ocdm_memory_arrived(ocdm__sampling_memory(sampling)), megabytes,
            megabytes / (now - progress->started));
    progress->shown = true;
}

static void erase_progress(const struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r%60s\r", "");
}

/* ---- the command line ----------------------------------------------------------------------------------------------- */

static ocdm_status read_policy(const ocdm__arguments *arguments, const ocdm_policy **policy, ocdm_error *error)
{
    size_t index;
    const ocdm_policy *named = ocdm_policy_find(ocdm__argument_text(arguments, "policy"));
    if (named != NULL && named->traits & OCDM_NEEDS_GRADIENTS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "all other policies need labels only",
                          "the policy %s needs gradients of a network that learns from the memory; a filter has no network",
                          named->name);
    ocdm_status status = ocdm__argument_choice(arguments, "policy", &index, error);
    if (status == OCDM_OK)
        *policy = ocdm_policy_find(policy_choices()[index]);
    return status;
}

static ocdm_status read_numbers(const ocdm__arguments *arguments, ocdm_options *memory, ocdm_error *error)
{
    uint64_t capacity, batch;
    ocdm_status status = ocdm__argument_unsigned(arguments, "memory", 1, OCDM_MAX_CAPACITY, &capacity, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "batch", 1, OCDM__MAX_BATCH, &batch, error);
    if (status == OCDM_OK)
        status = ocdm__argument_real(arguments, "rho", -OCDM_MAX_RHO, OCDM_MAX_RHO, &memory->rho, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX, &memory->seed, error);
    if (status != OCDM_OK)
        return status;
    memory->capacity = (uint32_t)capacity;
    memory->batch = (uint32_t)batch;
    return OCDM_OK;
}

static ocdm_status read_words(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    size_t distance, tie, duplicate;
    ocdm_status status = read_policy(arguments, &options->memory.policy, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "distance", &distance, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "tie", &tie, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "on-duplicate", &duplicate, error);
    if (status == OCDM_OK)
        status = ocdm__argument_records(arguments, &options->records, error);
    if (status != OCDM_OK)
        return status;
    options->memory.distance = (ocdm_distance)distance;
    options->memory.tie = (ocdm_tie)tie;
    options->skip_duplicates = duplicate == 1;
    return OCDM_OK;
}

/* A file must not be overwritten while it is read, and two results must not go to one file. */
static ocdm_status check_files(const ocdm__sample_options *options, ocdm_error *error)
{
    const struct {
        const char *name;
        ocdm__file_identity file;
    } files[] = {
        {"the input", ocdm__identify_input(options->path)},
        {"--trace", ocdm__identify_path(options->trace)},
        {"--summary", ocdm__identify_path(options->summary)},
        {"standard output", ocdm__identify_descriptor(STDOUT_FILENO)},
    };
    for (size_t i = 0; i < 4; i++)
        for (size_t j = i + 1; j < 4; j++)
            if (!(i == 0 && j == 3) && ocdm__is_same_file(&files[i].file, &files[j].file))
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use a different file for each", "%s and %s are the same file",
                                  files[i].name, files[j].name);
    return OCDM_OK;
}

static ocdm_status read_options(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    *options = (ocdm__sample_options){.memory = ocdm_options_default(), .stop = &ocdm__stop_signal};
    ocdm_status status = read_numbers(arguments, &options->memory, error);
    if (status == OCDM_OK)
        status = read_words(arguments, options, error);
    if (status != OCDM_OK)
        return status;
    options->path = arguments->operand_count ? arguments->operands[0] : NULL;
    options->records.hint = "`--skip-bad` passes over bad records";
    options->weights = ocdm__argument_text(arguments, "weight");
    options->trace = ocdm__argument_text(arguments, "trace");
    options->summary = ocdm__argument_text(arguments, "summary");
    return check_files(options, error);
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

/* Runs the stream through. The kept records are on standard output when it returns OCDM_OK. */
static ocdm_status run_stream(ocdm__sampling *sampling, bool quiet, ocdm_error *error)
{
    bool more = true, watched = !quiet && ocdm__is_terminal(STDERR_FILENO);
    struct progress progress = {.started = ocdm__seconds_now()};
    progress.next = progress.started + 0.2;
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && more) {
        status = ocdm__sampling_step(sampling, &more, error);
        if (watched)
            show_progress(&progress, sampling);
    }
    erase_progress(&progress);
    return status == OCDM_OK ? ocdm__sampling_finish(sampling, STDOUT_FILENO, error) : status;
}

static ocdm_status print_report(const ocdm__sampling *sampling, ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open_fd(&output, STDERR_FILENO, "standard error", error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__sampling_report(sampling, &output, error);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}

static int run(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__sample_options options;
    ocdm__sampling *sampling = NULL;
    bool quiet = ocdm__argument_given(arguments, "quiet");
    ocdm_status status = read_options(arguments, &options, &error);
    if (status == OCDM_OK) {
        ocdm__catch_signals();
        status = ocdm__sampling_open(&sampling, &options, &error);
    }
    if (status == OCDM_OK)
        status = run_stream(sampling, quiet, &error);
    if (status == OCDM_OK && !quiet)
        status = print_report(sampling, &error);
    ocdm__sampling_close(sampling);
    if (status != OCDM_OK)
        return ocdm__report(&error);
    return ocdm__stop_signal ? ocdm__exit_after_signal() : OCDM__EXIT_OK;
}

/* ---- what the help says --------------------------------------------------------------------------------------------- */

static const char *const description[] = {
    "Reads labelled records from FILE or standard input, keeps at most M of them in a replay memory, and prints the kept "
    "records at the end: the same lines, byte for byte, in the order of the stream, each followed by a newline. Memory grows "
    "with M, B and the number of classes; and, where records have ids, by 21 to 43 bytes per record, so that a repeated id is "
    "always found. With --no-id, or without ids, it does not grow with the length of the stream.",
    "jsonl: one object per line; its member `labels` is an array of strings and integers (1 and \"1\" are the same label), "
    "`id` is a string or a number. --labels and --id select other members, with dots for nested objects: --labels meta.tags. "
    "csv (quoted as in RFC 4180) and tsv (no quotes): the first line names the columns and is printed again before the kept "
    "records; the labels are one column, split at `;` or at --sep. svm: LIBSVM and XMC, `l1,l2 i:v i:v`; a header of three "
    "numbers is skipped and not printed, since its count would be wrong. auto: by the file's extension, otherwise by the "
    "first line.",
    "A record without an id gets its number as id, from 0; header, blank and skipped lines do not count. A record is bad if "
    "an earlier one had its id, or if it has broken syntax, no labels, a NUL byte, invalid UTF-8, more "
    "than 65,535 labels, more than 64 MiB, or is nested deeper than 1024. A bad record ends the run and nothing is printed; "
    "with --skip-bad it is counted and skipped. A byte order mark is dropped.",
    "--trace writes one JSON object per batch: step, in (the ids of the batch), out (the ids of memory and batch that were "
    "not kept, in order of deletion), size, distance. --summary writes one object with records, skipped, kept, classes, "
    "distance (over the classes in play), distance_seen (over all classes seen), the settings, seconds, and per_class: "
    "label, seen, kept, target, and weight where --weight is given.",
    "SIGINT and SIGTERM end the stream early: the records kept so far are written, and the exit code is 130 or 143.",
    NULL,
};

static const ocdm__flag flags[] = {
    {.letter = 'm', .name = "memory", .value = "M", .fallback = "1000", .help = "keep at most M records"},
    {.letter = 'p',
     .name = "policy",
     .value = "P",
     .fallback = "ocdm",
     .listed = policy_choices,
     .help = "the rule that decides which records are kept"},
    {.letter = 'b', .name = "batch", .value = "B", .fallback = "10", .help = "records per update of the memory"},
    {.name = "rho",
     .value = "R",
     .fallback = "0",
     .help = "exponent of the target: the share of class i is proportional to n_i^R, so 0 gives equal shares and 1 those of "
             "the stream; -16 to 16"},
    {.name = "weight",
     .value = "LABEL=W,...",
     .help = "weights of classes in the target, which becomes W_i n_i^R; 1 for all others; 1e-6 to 1e6"},
    {.name = "distance",
     .value = "D",
     .fallback = "kl",
     .listed = ocdm__distance_choices,
     .help = "the distance between memory and target, which ocdm and onlyone minimise"},
    {.name = "tie",
     .value = "T",
     .fallback = "key",
     .listed = ocdm__tie_choices,
     .help = "which record is deleted when several are equally good, in ocdm and onlyone"},
    {.name = "seed", .value = "S", .fallback = "0", .help = "seed of all random choices"},
    OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* --format to --sep */
    {.name = "on-duplicate",
     .value = "D",
     .fallback = "error",
     .choices = duplicate_names,
     .help = "what to do about a record whose id an earlier one had: `skip` counts it and goes on"},
    {.name = "trace", .value = "FILE", .help = "write the ids added and deleted by each batch"},
    {.name = "summary", .value = "FILE", .help = "write counts, distances and settings at the end"},
    {.name = "skip-bad", .help = "count bad records and skip them"},
    {.letter = 'q', .name = "quiet", .help = "no progress line, no table of classes at the end"},
    {.name = NULL},
};

static const ocdm__example examples[] = {
    {"keep 1000 records, with classes as even as possible", "ocdm sample -m 1000 in.jsonl > out.jsonl"},
    {"in a pipe, half way between equal shares and those of the stream",
     "zcat big.csv.gz | ocdm sample -m 5000 --rho 0.5 --format csv"},
    {"three times as many cats, half as many dogs", "ocdm sample -m 1000 --weight cat=3,dog=0.5 in.jsonl > out.jsonl"},
    {"record what it did", "ocdm sample -m 100 --trace trace.jsonl --summary summary.json in.jsonl > out.jsonl"},
    {NULL, NULL},
};

const ocdm__verb ocdm__verb_sample = {
    .name = "sample",
    .summary = "keep at most M records of a stream, classes in balance",
    .operands = "[FILE|-]",
    .operand_limit = 1,
    .description = description,
    .examples = examples,
    .flags = flags,
    .run = run,
};
