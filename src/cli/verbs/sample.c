/* `ocdm sample`: a filter that keeps at most M records of a stream, balanced; `ocdm merge`: one sample of several. */
#include <unistd.h>

#include "base/files.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "ocdm/experiment.h"
#include "ranks/files.h"
#include "ranks/ranks.h"
#include "sample/sample.h"

/* The most samples that are merged at a time. */
#define MOST_SHARDS 4096

/* By enum ocdm__unlabelled. */
static const char *const unlabelled_names[] = {"keep", "drop", "error", NULL};

static const char *const duplicate_names[] = {"error", "skip", NULL};

/* A filter cannot compute gradients. */
static const char *const *policy_choices(void)
{
    static const char *names[OCDM__CHOICES];
    return ocdm__policy_choices(names, 0, OCDM_NEEDS_GRADIENTS | OCDM_NEEDS_TASKS);
}

/* ---- the command line ----------------------------------------------------------------------------------------------- */

static bool is_stdin(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
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
        {"--rest", ocdm__identify_path(options->rest)},
        {"standard output", ocdm__identify_descriptor(STDOUT_FILENO)},
    };
    const size_t count = sizeof files / sizeof files[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (!(i == 0 && j == count - 1) && ocdm__is_same_file(&files[i].file, &files[j].file))
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use a different file for each", "%s and %s are the same file",
                                  files[i].name, files[j].name);
    if (options->percent > 0 && (is_stdin(path) || !files[0].file.known))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name the files, or say how many records to keep",
                          "-m with %% counts the records first, and %s can be read once only",
                          is_stdin(path) ? "standard input" : path);
    return OCDM_OK;
}

static ocdm_status check_files(const ocdm__sample_options *options, ocdm_error *error)
{
    if (options->path_count == 0)
        return check_input(options, NULL, error);
    for (size_t i = 0; i < options->path_count; i++)
        OCDM_TRY(check_input(options, options->paths[i], error));
    return OCDM_OK;
}

/* What merging has as well. */
static ocdm_status read_shared(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    *options = (ocdm__sample_options){.memory = ocdm_options_default(), .stop = &ocdm__stop_signal};
    options->records = ocdm__argument_records(arguments, "`--skip-bad` passes over bad records");
    options->ignore = ocdm__argument_text(arguments, "ignore");
    options->only = ocdm__argument_text(arguments, "only");
    options->minimums = ocdm__argument_text(arguments, "min");
    options->output = ocdm__argument_text(arguments, "output");
    options->trace = ocdm__argument_text(arguments, "trace");
    /* A number of records, with k for thousands and M for millions, or a share of them in percent. */
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

static ocdm_status read_options(const ocdm__arguments *arguments, ocdm__sample_options *options, ocdm_error *error)
{
    ocdm_options *memory = &options->memory;
    OCDM_TRY(read_shared(arguments, options, error));
    const ocdm_policy *named = ocdm_policy_find(ocdm__argument_text(arguments, "policy"));
    if (named != NULL && named->traits & OCDM_NEEDS_GRADIENTS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "all other policies need labels only",
                          "the policy %s needs gradients of a network that learns from the memory; a filter has no network",
                          named->name);
    memory->batch = (uint32_t)ocdm__argument_unsigned(arguments, "batch", 1, OCDM__MAX_BATCH);
    memory->rho = ocdm__argument_real(arguments, "rho", -OCDM_MAX_RHO, OCDM_MAX_RHO);
    memory->tolerance = ocdm__argument_real(arguments, "tolerance", 0, OCDM_MAX_TOLERANCE);
    memory->seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    options->sharded = ocdm__argument_given(arguments, "shard");
    if (options->sharded)
        memory->shard = ocdm__argument_unsigned(arguments, "shard", 0, OCDM_MAX_SHARD);
    memory->policy = ocdm_policy_find(policy_choices()[ocdm__argument_choice(arguments, "policy")]);
    memory->distance = (ocdm_distance)ocdm__argument_choice(arguments, "distance");
    memory->tie = (ocdm_tie)ocdm__argument_choice(arguments, "tie");
    options->skip_duplicates = ocdm__argument_choice(arguments, "on-duplicate") == 1;
    options->unlabelled = (enum ocdm__unlabelled)ocdm__argument_choice(arguments, "unlabelled");
    options->paths = arguments->operands;
    options->path_count = arguments->operand_count;
    options->rest = ocdm__argument_text(arguments, "rest");
    options->weights = ocdm__argument_text(arguments, "weight");
    options->summary = ocdm__argument_text(arguments, "summary");
    return ocdm__arguments_check(arguments, error);
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

/* Reads the whole stream and writes what is kept. The progress is shown on a terminal only: a filter in a pipe is silent. */
static ocdm_status sample(const ocdm__sample_options *options, bool quiet, ocdm_error *error)
{
    ocdm__sampling *sampling = NULL;
    ocdm__output report = {.buffer = NULL};
    ocdm__status_line line;
    char text[128];
    bool watched = !quiet && ocdm__moves_cursor(STDERR_FILENO);
    double started = ocdm__seconds_now();
    ocdm__catch_signals();
    ocdm__status_line_begin(&line);
    ocdm_status status = ocdm__sampling_open(&sampling, options, error);
    for (bool more = true; status == OCDM_OK && more;) {
        status = ocdm__sampling_step(sampling, &more, error);
        if (!watched || !ocdm__status_line_is_due(&line))
            continue;
        double megabytes = (double)ocdm__sampling_records(sampling)->input.bytes_read / 1e6;
        snprintf(text, sizeof text, "%" PRIu64 " records, %.0f MB, %.0f MB/s",
                 ocdm_memory_arrived(ocdm__sampling_memory(sampling)), megabytes, megabytes / (ocdm__seconds_now() - started));
        ocdm__status_line_show(&line, text);
    }
    ocdm__status_line_erase(&line);
    OCDM_THEN(status, ocdm__sampling_finish(sampling, STDOUT_FILENO, error));
    if (!quiet) {
        OCDM_THEN(status, ocdm__output_open_fd(&report, STDERR_FILENO, "standard error", error));
        OCDM_THEN(status, ocdm__sampling_report(sampling, &report, error));
        OCDM_THEN(status, ocdm__output_commit(&report, error));
    }
    ocdm__output_abandon(&report);
    ocdm__sampling_close(sampling);
    return status;
}

/* A signal ends the stream early, and all went well. */
static void set_code(ocdm__arguments *arguments)
{
    arguments->code = ocdm__stop_signal ? ocdm__exit_after_signal() : OCDM__EXIT_OK;
}

/* ---- file by file ---------------------------------------------------------------------------------------------------- */

/* With MPI, several files are shards: each is sampled by itself, by one of the ranks, and the leader merges what they kept. */
static ocdm_status sample_part(void *state, size_t k, const char *kept, const char *summary, ocdm_error *error)
{
    ocdm__sample_options options = *(const ocdm__sample_options *)state;
    options.paths += k;
    options.path_count = 1;
    options.memory.shard = k;
    options.sharded = true;
    options.output = kept;
    options.summary = summary;
    options.trace = NULL;
    OCDM_TRY(sample(&options, true, error));
    if (ocdm__stop_signal)
        return ocdm__fail(error, OCDM_STOPPED, "", "stopped by a signal before all files were read; nothing is written");
    return OCDM_OK;
}

/* As `ocdm merge` does. */
static ocdm_status merge_parts(const ocdm__sample_options *given, const ocdm__rank_files *files, bool quiet, ocdm_error *error)
{
    struct ocdm__shards shards = {.count = 0};
    ocdm__sample_options options = {.memory = ocdm_options_default(),
                                    .records = given->records,
                                    .ignore = given->ignore,
                                    .only = given->only,
                                    .minimums = given->minimums,
                                    .output = given->output,
                                    .trace = given->trace,
                                    .summary = given->summary};
    options.memory.capacity = given->memory.capacity;
    options.records.skip_bad = false; /* the files themselves were good, so this is an id that two files share */
    options.records.hint = "N.kept is what was kept of file N, the first being 0";
    ocdm_status status = ocdm__shards_read(&shards, files->names, files->names + files->count, files->count, &options, error);
    OCDM_THEN(status, sample(&options, quiet, error));
    ocdm__shards_clear(&shards);
    return status;
}

/* What every rank does. */
static ocdm_status sample_by_file(ocdm__sample_options *options, bool quiet, ocdm_error *error)
{
    static const char *const endings[2] = {"kept", "json"};
    const ocdm__ranks *ranks = ocdm__ranks_all();
    ocdm__rank_files files;
    ocdm_status status = ocdm__rank_files_make(&files, ranks, options->path_count, endings, sample_part, options, error);
    if (ranks->rank == 0)
        OCDM_THEN(status, merge_parts(options, &files, quiet, error));
    ocdm__rank_files_remove(&files);
    return status;
}

/* What cannot be done file by file. */
static ocdm_status check_by_file(const ocdm__sample_options *options, ocdm_error *error)
{
    bool piped = options->path_count == 0;
    for (size_t i = 0; i < options->path_count; i++)
        piped = piped || is_stdin(options->paths[i]);
    if (piped)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name the files, or use `ocdm sample`",
                          "standard input cannot be dealt to ranks");
    if (options->path_count > MOST_SHARDS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "join some of them", "ocdm-mpi samples up to %d files", MOST_SHARDS);
    if (options->percent > 0 || options->sharded || options->rest != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT,
                          "say how many records to keep, and leave --shard and --rest out; or use `ocdm sample`",
                          "ocdm-mpi samples each of several files as a shard: -m with %%, --shard and --rest are for one file");
    if ((options->memory.policy->traits & OCDM_BY_DISTANCE) == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use `ocdm sample`",
                          "ocdm-mpi merges samples of several files, and only those of the policies ocdm and onlyone can be");
    return OCDM_OK;
}

/* Rank 0 tells the others whether there is work for them; they ask. */
static bool share_start(uint32_t start)
{
    ocdm__ranks_all()->broadcast(&start, 1);
    return start != 0;
}

static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__sample_options options;
    if (!share_start(0))
        return;
    if (read_options(arguments, &options, &error) != OCDM_OK)
        ocdm__ranks_all()->fail(&error);
    (void)sample_by_file(&options, true, &error); /* the leader reports it */
}

/* Whether each file is sampled as a shard depends on the program, not on the number of ranks, so results do not either. */
static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__sample_options options = {.path_count = 0};
    bool quiet = ocdm__argument_given(arguments, "quiet");
    ocdm_status status = read_options(arguments, &options, error);
    OCDM_THEN(status, check_files(&options, error));
    bool by_file = ocdm__ranks_over_mpi() && options.path_count > 1;
    if (by_file || (ocdm__ranks_all()->size > 1 && (options.path_count == 0 || is_stdin(options.paths[0]))))
        OCDM_THEN(status, check_by_file(&options, error));
    by_file = share_start(status == OCDM_OK && by_file);
    OCDM_TRY(status);
    if (!quiet && options.path_count == 0 && ocdm__is_terminal(STDIN_FILENO))
        fputs("reading records from standard input; Ctrl-D ends it\n", stderr);
    OCDM_TRY(by_file ? sample_by_file(&options, quiet, error) : sample(&options, quiet, error));
    set_code(arguments);
    return OCDM_OK;
}

/* The kept files come first, then --summary and as many summaries: all but its first are operands too. */
static ocdm_status read_shards(const ocdm__arguments *arguments, struct ocdm__shards *shards, ocdm__sample_options *options,
                               ocdm_error *error)
{
    char *summaries[MOST_SHARDS];
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

static ocdm_status run_merge(ocdm__arguments *arguments, ocdm_error *error)
{
    struct ocdm__shards shards = {.count = 0};
    ocdm__sample_options options;
    OCDM_TRY(read_shared(arguments, &options, error));
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    options.summary = ocdm__argument_text(arguments, "merged-summary");
    ocdm_status status = read_shards(arguments, &shards, &options, error);
    OCDM_THEN(status, check_files(&options, error));
    OCDM_THEN(status, sample(&options, ocdm__argument_given(arguments, "quiet"), error));
    ocdm__shards_clear(&shards);
    set_code(arguments);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

/* Which labels count: the same in both verbs. */
#define LABEL_FLAGS                                                                                                            \
    OCDM__VALUE(0, "ignore", "LABEL,...", NULL, "labels that do not count; a record that has no others is passed over"),       \
        OCDM__VALUE(0, "only", "LABEL,...", NULL,                                                                              \
                    "the only labels that count; a record that has none of them is passed over"),                              \
        OCDM__VALUE(0, "min", "[LABEL=]N,...", NULL,                                                                           \
                    "never keep fewer than N records with LABEL while as many were seen; N alone is "                          \
                    "for all labels that are not named; with ocdm, onlyone and kl"),

static const ocdm__flag flags[] = {
    OCDM__VALUE('m', "memory", "M", "1000",
                "keep at most M records: a number, 10k, 2M, or 10% of the records of FILEs, which are then read twice"),
    OCDM__VALUE('o', "output", "FILE", NULL, "write the kept records to FILE, in one piece, not to stdout"),
    OCDM__VALUE(0, "rest", "FILE", NULL,
                "write all other records to FILE, in the order in which they left; bad and repeated ones are in neither"),
    {.letter = 'p',
     .name = "policy",
     .value = "P",
     .fallback = "ocdm",
     .listed = policy_choices,
     .help = "the rule that decides which records are kept"},
    OCDM__VALUE('b', "batch", "B", "10", "records per update of the memory"),
    OCDM__VALUE(
        0, "rho", "R", "0",
        "exponent of the target: the share of class i is proportional to n_i^R, so 0 gives equal shares and 1 those "
        "of the stream; shares are of labels, not of records: at 0 records with few labels are kept, at 1 more of the recent "
        "ones; -16 to 16"),
    OCDM__VALUE(0, "weight", "LABEL=W,...", NULL,
                "weights of classes in the target, which becomes W_i n_i^R; 1 for all others; 1e-6 to 1e6"),
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
    OCDM__VALUE(0, "tolerance", "T", "0",
                "ocdm and onlyone: deletions that leave at most T / S more than the best tie with it, S the labels in memory "
                "and batch; with 0.1 and --rho 1 the sample is spread evenly over the stream too"),
    OCDM__VALUE(0, "seed", "S", "0", "seed of all random choices"),
    OCDM__VALUE(
        0, "shard", "K", NULL,
        "the number of this part of a stream that is sampled in parts, which `ocdm merge` joins; use it with --summary"),
    OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* --format to --sep */
    OCDM__CHOICE(0, "unlabelled", "U", "drop", unlabelled_names,
                 "what to do about a record without labels: `drop` leaves it out and counts it; `keep` samples it too, but a "
                 "balanced memory then fills with such records, since deleting one balances nothing"),
    OCDM__CHOICE(0, "on-duplicate", "D", "error", duplicate_names,
                 "what to do about a record whose id an earlier one had: `skip` counts it and goes on"),
    OCDM__VALUE(0, "trace", "FILE", NULL, "write the ids added and deleted by each batch"),
    OCDM__VALUE(0, "summary", "FILE", NULL, "write counts, distances and settings at the end"),
    OCDM__SWITCH(0, "skip-bad", "count bad records and skip them"),
    OCDM__SWITCH('q', "quiet", "no progress line, no table of classes and no warnings at the end"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_sample = {
    .name = "sample",
    .summary = "keep at most M records of a stream, classes in balance",
    .operands = "[FILE...|-]",
    .operand_limit = SIZE_MAX,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};

/* ---- merge ---------------------------------------------------------------------------------------------------------- */

static const ocdm__flag merge_flags[] = {
    OCDM__VALUE('m', "memory", "M", "1000", "keep at most M records"),
    OCDM__VALUE('o', "output", "FILE", NULL, "write the kept records to FILE, in one piece, not to stdout"),
    OCDM__VALUE(0, "summary", "FILE...", NULL, "the summaries of the shards, after the kept files"),
    LABEL_FLAGS                               /* --ignore to --min */
        OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* as for `ocdm sample` */
    OCDM__VALUE(0, "trace", "FILE", NULL, "write the ids that were offered and deleted"),
    OCDM__VALUE(0, "merged-summary", "FILE", NULL, "write counts, distances and settings of the result"),
    OCDM__SWITCH(0, "skip-bad", "count bad records and skip them"),
    OCDM__SWITCH('q', "quiet", "no table of classes at the end"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_merge = {
    .name = "merge",
    .summary = "join samples of the shards of a stream",
    .operands = "FILE... --summary FILE...",
    .operand_limit = SIZE_MAX,
    .flags = merge_flags,
    .run = run_merge,
};
