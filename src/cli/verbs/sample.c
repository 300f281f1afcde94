/* `ocdm sample`: a filter that keeps at most M records of a stream, balanced; `ocdm merge`: one sample of several. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "sample/sample.h"

/* The most samples that are merged at a time. */
#define MOST_SHARDS 4096

static const char *const duplicate_names[] = {"error", "skip", NULL};

/* A filter cannot compute gradients. */
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

/* A number of records, with k for thousands and M for millions, or a share of them in percent. */
static ocdm_status read_capacity(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    const char *text = ocdm__argument_text(arguments, "memory");
    char *end;
    size_t digits = strspn(text, "0123456789"), fraction = strspn(text, "0123456789.");
    const char *unit = text + (text[fraction] == '%' ? fraction : digits);
    double number = digits > 0 ? strtod(text, &end) : 0;
    double factor = strcmp(unit, "k") == 0 ? 1e3 : strcmp(unit, "M") == 0 ? 1e6 : 1;
    if (strcmp(unit, "%") == 0 && number > 0 && number <= 100) {
        options->percent = number;
        return OCDM_OK;
    }
    if (digits == 0 || digits > 10 || (factor == 1 && *unit != '\0') || number * factor < 1 ||
        number * factor > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as -m 1000, -m 1k or, of files, -m 10%",
                          "--memory \"%s\" is not a number from 1 to %u or a share of up to 100%%", text, OCDM_MAX_CAPACITY);
    options->memory.capacity = (uint32_t)(number * factor);
    return OCDM_OK;
}

static ocdm_status read_numbers(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    uint64_t batch;
    ocdm_options *memory = &options->memory;
    ocdm_status status = read_capacity(arguments, options, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "batch", 1, OCDM__MAX_BATCH, &batch, error);
    if (status == OCDM_OK)
        status = ocdm__argument_real(arguments, "rho", -OCDM_MAX_RHO, OCDM_MAX_RHO, &memory->rho, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX, &memory->seed, error);
    options->sharded = ocdm__argument_given(arguments, "shard");
    if (status == OCDM_OK && options->sharded)
        status = ocdm__argument_unsigned(arguments, "shard", 0, UINT32_MAX, &options->shard, error);
    if (status != OCDM_OK)
        return status;
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
static ocdm_status check_input(const ocdm__sample_options *options, const char *path, ocdm_error *error)
{
    const struct {
        const char *name;
        ocdm__file_identity file;
    } files[] = {
        {"the input", ocdm__identify_input(path)},
        {"--trace", ocdm__identify_path(options->trace)},
        {"--summary", ocdm__identify_path(options->summary)},
        {"--output", ocdm__identify_path(options->output)},
        {"standard output", ocdm__identify_descriptor(STDOUT_FILENO)},
    };
    for (size_t i = 0; i < 5; i++)
        for (size_t j = i + 1; j < 5; j++)
            if (!(i == 0 && j == 4) && ocdm__is_same_file(&files[i].file, &files[j].file))
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use a different file for each", "%s and %s are the same file",
                                  files[i].name, files[j].name);
    bool stdin_given = path == NULL || strcmp(path, "-") == 0;
    if (options->percent > 0 && (stdin_given || !files[0].file.known))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name the files, or say how many records to keep",
                          "-m with %% counts the records first, and %s can be read once only",
                          stdin_given ? "standard input" : path);
    return OCDM_OK;
}

static ocdm_status check_files(const ocdm__sample_options *options, ocdm_error *error)
{
    ocdm_status status = check_input(options, options->path, error);
    for (size_t i = 0; i < options->more_count && status == OCDM_OK; i++)
        status = check_input(options, options->more_paths[i], error);
    return status;
}

static void read_label_options(const ocdm__arguments *arguments, ocdm__sample_options *options)
{
    options->records.hint = "`--skip-bad` passes over bad records";
    options->ignore = ocdm__argument_text(arguments, "ignore");
    options->only = ocdm__argument_text(arguments, "only");
    options->minimums = ocdm__argument_text(arguments, "min");
}

static ocdm_status read_options(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    *options = (ocdm__sample_options){.memory = ocdm_options_default(), .stop = &ocdm__stop_signal};
    ocdm_status status = read_numbers(arguments, options, error);
    if (status == OCDM_OK)
        status = read_words(arguments, options, error);
    if (status != OCDM_OK)
        return status;
    if (arguments->operand_count > 0) {
        options->path = arguments->operands[0];
        options->more_paths = arguments->operands + 1;
        options->more_count = arguments->operand_count - 1;
    }
    options->output = ocdm__argument_text(arguments, "output");
    options->weights = ocdm__argument_text(arguments, "weight");
    read_label_options(arguments, options);
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

static ocdm_status sample(const ocdm__sample_options *options, bool quiet, ocdm_error *error)
{
    ocdm__sampling *sampling = NULL;
    ocdm__catch_signals();
    ocdm_status status = ocdm__sampling_open(&sampling, options, error);
    if (status == OCDM_OK)
        status = run_stream(sampling, quiet, error);
    if (status == OCDM_OK && !quiet)
        status = print_report(sampling, error);
    ocdm__sampling_close(sampling);
    return status;
}

static int exit_code(ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_OK)
        return ocdm__report(error);
    return ocdm__stop_signal ? ocdm__exit_after_signal() : OCDM__EXIT_OK;
}

static int run(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__sample_options options;
    bool quiet = ocdm__argument_given(arguments, "quiet");
    ocdm_status status = read_options(arguments, &options, &error);
    if (status == OCDM_OK && !quiet && options.path == NULL && ocdm__is_terminal(STDIN_FILENO))
        fputs("reading records from standard input; Ctrl-D ends it\n", stderr);
    if (status == OCDM_OK)
        status = sample(&options, quiet, &error);
    return exit_code(status, &error);
}

/* The kept files come first, then --summary and as many summaries: all but its first are operands too. */
static ocdm_status read_shards(const ocdm__arguments *arguments, struct ocdm__shards *shards, char **summaries,
                               ocdm__sample_options *options, ocdm_error *error)
{
    size_t count = (arguments->operand_count + 1) / 2;
    const char *first = ocdm__argument_text(arguments, "summary");
    if (first == NULL || arguments->operand_count % 2 == 0 || count > MOST_SHARDS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as: ocdm merge -m 1000 A.kept B.kept --summary A.json B.json",
                          "merge needs files of kept records, up to %d, then --summary and as many summaries", MOST_SHARDS);
    summaries[0] = (char *)first;
    for (size_t i = 1; i < count; i++)
        summaries[i] = arguments->operands[count + i - 1];
    return ocdm__shards_read(shards, arguments->operands, summaries, count, options, error);
}

static int run_merge(const ocdm__arguments *arguments)
{
    static char *summaries[MOST_SHARDS];
    ocdm_error error;
    struct ocdm__shards shards = {.count = 0};
    ocdm__sample_options options = {.memory = ocdm_options_default(), .stop = &ocdm__stop_signal};
    ocdm_status status = read_capacity(arguments, &options, &error);
    if (status == OCDM_OK)
        status = ocdm__argument_records(arguments, &options.records, &error);
    read_label_options(arguments, &options);
    options.output = ocdm__argument_text(arguments, "output");
    options.trace = ocdm__argument_text(arguments, "trace");
    options.summary = ocdm__argument_text(arguments, "merged-summary");
    if (status == OCDM_OK)
        status = read_shards(arguments, &shards, summaries, &options, &error);
    if (status == OCDM_OK)
        status = check_files(&options, &error);
    if (status == OCDM_OK)
        status = sample(&options, ocdm__argument_given(arguments, "quiet"), &error);
    ocdm__shards_clear(&shards);
    return exit_code(status, &error);
}

/* ---- what the help says --------------------------------------------------------------------------------------------- */

static const char *const description[] = {
    "Reads labelled records from FILEs, one after another, or from standard input, keeps at most M of them in a replay memory, "
    "and prints the kept "
    "records at the end: the same lines, byte for byte, in the order of the stream, each followed by a newline. Memory grows "
    "with M, B and the number of classes; and, where records have ids, by 21 to 43 bytes per record, so that a repeated id is "
    "always found. With --no-id, or without ids, it does not grow with the length of the stream.",
    "jsonl: one object per line; its member `labels` is an array of strings and integers (1 and \"1\" are the same label), "
    "`id` is a string or a number. --labels and --id select other members, with dots for nested objects: --labels meta.tags. "
    "csv (quoted as in RFC 4180) and tsv (no quotes): the first line names the columns and is printed again before the kept "
    "records; the labels are one column, split at `;` or at --sep. svm: LIBSVM and XMC, `l1,l2 i:v i:v`; a header of three "
    "numbers is skipped and not printed, since its count would be wrong. auto: by the file's extension, otherwise by the "
    "first line. gzip and zstd are recognised by their content, in a pipe too. A line that is the header of a csv or tsv file "
    "again, as at the start of a second file, is no record.",
    "A record without an id gets its number as id, from 0; header, blank and skipped lines do not count. A record is bad if "
    "an earlier one had its id, or if it has broken syntax, no labels, a NUL byte, invalid UTF-8, more "
    "than 65,535 labels, more than 64 MiB, or is nested deeper than 1024. A bad record ends the run and nothing is printed; "
    "with --skip-bad it is counted and skipped. A byte order mark is dropped.",
    "--trace writes one JSON object per batch: step, in (the ids of the batch), out (the ids of memory and batch that were "
    "not kept, in order of deletion), size, distance. --summary writes one object with records, skipped, kept, classes, "
    "distance (over the classes in play), distance_seen (over all classes seen), the settings, seconds, and per_class: "
    "label, seen, kept, target, and weight where --weight is given.",
    "--min: when the record that the policy would delete has a label with no more than its minimum left, the best deletion "
    "among "
    "the records without such a label is made instead; the minimums must not add up to more than M. The trace then has "
    "`spared`, "
    "the number of such deletions in the batch. --ignore and --only change what is balanced, not what is printed; the summary "
    "has `passed`, the number of records passed over.",
    "SIGINT and SIGTERM end the stream early: the records kept so far are written, and the exit code is 130 or 143.",
    NULL,
};

/* Which labels count: the same in both verbs. */
#define LABEL_FLAGS                                                                                                            \
    {.name = "ignore", .value = "LABEL,...", .help = "labels that do not count; a record that has no others is passed over"},  \
        {.name = "only",                                                                                                       \
         .value = "LABEL,...",                                                                                                 \
         .help = "the only labels that count; a record that has none of them is passed over"},                                 \
        {.name = "min",                                                                                                        \
         .value = "LABEL=N,...",                                                                                               \
         .help = "never keep fewer than N records with LABEL while as many were seen; with ocdm, onlyone and kl"},

static const ocdm__flag flags[] = {
    {.letter = 'm',
     .name = "memory",
     .value = "M",
     .fallback = "1000",
     .help = "keep at most M records: a number, 10k, 2M, or 10% of the records of FILEs, which are then read twice"},
    {.letter = 'o', .name = "output", .value = "FILE", .help = "write the kept records to FILE, in one piece, not to stdout"},
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
    LABEL_FLAGS /* --ignore to --min */
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
    {.name = "shard",
     .value = "K",
     .help = "the number of this part of a stream that is sampled in parts, which `ocdm merge` joins; use it with --summary"},
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
    {"a tenth of several files, compressed or not", "ocdm sample -m 10% -o small.csv 2023.csv.gz 2024.csv.zst 2025.csv"},
    {"in a pipe, half way between equal shares and those of the stream", "cat *.jsonl.gz | ocdm sample -m 5k --rho 0.5"},
    {"three times as many cats, half as many dogs", "ocdm sample -m 1000 --weight cat=3,dog=0.5 in.jsonl > out.jsonl"},
    {"record what it did", "ocdm sample -m 100 --trace trace.jsonl --summary summary.json in.jsonl > out.jsonl"},
    {NULL, NULL},
};

const ocdm__verb ocdm__verb_sample = {
    .name = "sample",
    .summary = "keep at most M records of a stream, classes in balance",
    .operands = "[FILE...|-]",
    .operand_limit = SIZE_MAX,
    .description = description,
    .examples = examples,
    .flags = flags,
    .run = run,
};

/* ---- merge ---------------------------------------------------------------------------------------------------------- */

static const char *const merge_description[] = {
    "Joins samples of the shards of a stream into one of at most M records. Each shard was sampled by `ocdm sample --shard K "
    "--summary FILE` with a number of its own and the same settings: on other cores or machines, by any scheduler. The kept "
    "records of all shards are offered at once to a memory that has seen what all shards have seen, and are deleted down to M "
    "by "
    "the same greedy rule; among equals the order is that of the keys that the records had in their shards. The result does "
    "not "
    "depend on the order of the shards on the command line, nor on when and where they were sampled.",
    "The kept files come first, then --summary and the summaries in the same order. The records are printed in the order of "
    "shards, then of arrival. Every shard should keep at least M records, so that nothing that belongs into the result is "
    "missing; what is lost against one pass over the whole stream is measured in docs/merge.md.",
    NULL,
};

static const ocdm__flag merge_flags[] = {
    {.letter = 'm', .name = "memory", .value = "M", .fallback = "1000", .help = "keep at most M records"},
    {.letter = 'o', .name = "output", .value = "FILE", .help = "write the kept records to FILE, in one piece, not to stdout"},
    {.name = "summary", .value = "FILE...", .help = "the summaries of the shards, after the kept files"},
    LABEL_FLAGS                               /* --ignore to --min */
        OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* as for `ocdm sample` */
    {.name = "trace", .value = "FILE", .help = "write the ids that were offered and deleted"},
    {.name = "merged-summary", .value = "FILE", .help = "write counts, distances and settings of the result"},
    {.name = "skip-bad", .help = "count bad records and skip them"},
    {.letter = 'q', .name = "quiet", .help = "no table of classes at the end"},
    {.name = NULL},
};

static const ocdm__example merge_examples[] = {
    {"two shards, sampled at the same time, then merged",
     "for k in 0 1; do ocdm sample -q -m 1000 --shard $k --summary $k.json -o $k.kept $k.jsonl & done; wait; "
     "ocdm merge -m 1000 0.kept 1.kept --summary 0.json 1.json > kept.jsonl"},
    {NULL, NULL},
};

const ocdm__verb ocdm__verb_merge = {
    .name = "merge",
    .summary = "join samples of the shards of a stream",
    .operands = "FILE... --summary FILE...",
    .operand_limit = SIZE_MAX,
    .description = merge_description,
    .examples = merge_examples,
    .flags = merge_flags,
    .run = run_merge,
};
