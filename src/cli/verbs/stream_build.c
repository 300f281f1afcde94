/* `ocdm stream build`: makes a stream file of a labelled source. */
#include <unistd.h>

#include "base/files.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/verbs.h"
#include "stream/build.h"
#include "stream/scenes/scenes.h"

#define RECIPE_NAME(RECIPE, name, apply) name,
static const char *const recipe_names[] = {OCDM__RECIPES(RECIPE_NAME) NULL};
static const char *const pool_names[] = {"single", "rest", NULL};
static const char *const mixed_names[] = {"trim", "drop", NULL};
static const char *const as_names[] = {"images", "features", NULL};
static const char *const test_list_names[] = {"balanced", "original", NULL};

/* The most source files on a command line. */
#define MOST_SOURCES 64

struct request {
    const ocdm__arguments *arguments;
    ocdm__build_settings settings;
    const char *sources[MOST_SOURCES];
    ocdm__output command;
    char *xml; /* from ocdm__allocate: the name next to the ARFF file */
};

static ocdm_status misuse(ocdm_error *error, const char *hint, const char *what)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s", what);
}

/* ---- which flags go together ---------------------------------------------------------------------------------------- */

/* A flag that would change nothing is a mistake of the user, and therefore an error. */

/* A flag that only makes sense with another one, or with some values of --recipe. */
struct need {
    const char *flag, *needs;
};

/* The flags that belong to a kind of source need it. */
#define NEED_OWNER(owner, name, value, fallback, choices, help) {name, owner},
#define NEED_SOURCE(KIND, flag, value, help, properties, read, open_rows, OWN) OWN(NEED_OWNER)

static const struct need needs[] = {
    OCDM__SOURCES(NEED_SOURCE)     /* such as --xml */
    OCDM__RECORD_FLAGS(NEED_OWNER) /* --format to --sep */
    {"tasks-by", "records"},
    {"task", "records"},
    {"split", "records"},
    {"image", "records"},
    {"test-lists", "ids"},
    {"mixed", "tasks"},
    {"mixed", "recipe split"},
    {"test-share", "recipe split or incremental"},
    {"base", "recipe incremental"},
    {"step", "recipe incremental"},
    {"test-pool", "recipe paper"},
    {"test-per-class", "recipe paper"},
    {"as", "recipe scenes"},
    {"size", "recipe scenes"},
};

static const char *const exclusive[][2] = {
    {"ids", "recipe"}, {"tasks-by", "tasks"}, {"tasks-by", "task"}, {"tasks-by", "ids"}, {"features", "images"},
};

/* All that the built-in world takes. */
static const char *const of_scenes[] = {"output", "recipe", "as", "size", "groups", "seed", "quiet", "json", NULL};

/* Whether --recipe has a value that is among some words. */
static bool is_recipe(const ocdm__arguments *arguments, const char *words)
{
    const char *given = ocdm__argument_text(arguments, "recipe");
    return given != NULL && ocdm__is_among(given, recipe_names) && strstr(words, given) != NULL;
}

static ocdm_status check_scenes(const ocdm__arguments *arguments, ocdm_error *error)
{
    static const char hint[] = "leave one of the two out";
    const ocdm__flag *flags = arguments->verb->flags;
    for (size_t i = 0; flags[i].name != NULL; i++)
        if (arguments->values[i] != NULL && !ocdm__is_among(flags[i].name, of_scenes))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--recipe scenes does not take --%s", flags[i].name);
    if (arguments->operand_count > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--recipe scenes does not take %s", arguments->operands[0]);
    if (strcmp(ocdm__argument_text(arguments, "as"), "features") == 0 && ocdm__argument_given(arguments, "size"))
        return misuse(error, hint, "--as features does not take --size");
    return OCDM_OK;
}

static ocdm_status check_exclusive(const ocdm__arguments *arguments, const char *first, const char *second, ocdm_error *error)
{
    if (!ocdm__argument_given(arguments, first) || !ocdm__argument_given(arguments, second))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave one of the two out", "--%s and --%s are both given", first, second);
}

static ocdm_status check_flags(const ocdm__arguments *arguments, ocdm_error *error)
{
    /* Operands without a flag for the kind of source are records. */
    bool records = arguments->operand_count > 0;
    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
        OCDM_TRY(check_exclusive(arguments, exclusive[i][0], exclusive[i][1], error));
    for (size_t i = 0; i < OCDM__SOURCE_KINDS; i++) {
        if ((ocdm__sources[i].properties & OCDM__NO_TEST_FILE) != 0)
            OCDM_TRY(check_exclusive(arguments, "test", ocdm__sources[i].flag, error));
        records = records && !ocdm__argument_given(arguments, ocdm__sources[i].flag);
    }
    for (const struct need *need = needs; need < needs + sizeof needs / sizeof *needs; need++) {
        bool met = ocdm__argument_given(arguments, need->needs) || is_recipe(arguments, need->needs) ||
                   (records && strcmp(need->needs, ocdm__sources[OCDM__FROM_RECORDS].flag) == 0);
        if (ocdm__argument_given(arguments, need->flag) && !met)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "remove it, or add the other", "--%s needs --%s", need->flag,
                              need->needs);
    }
    return OCDM_OK;
}

/* ---- the source ----------------------------------------------------------------------------------------------------- */

static ocdm_status read_source(struct request *request, ocdm_error *error)
{
    ocdm__build_settings *settings = &request->settings;
    const ocdm__arguments *arguments = request->arguments;
    settings->kind = OCDM__FROM_RECORDS; /* of operands alone */
    for (size_t i = 0; i < OCDM__SOURCE_KINDS; i++) {
        if (!ocdm__argument_given(arguments, ocdm__sources[i].flag))
            continue;
        if (settings->source_count > 0)
            return misuse(error, "choose one of them", "more than one source is given");
        settings->kind = (enum ocdm__source_kind)i;
        request->sources[settings->source_count++] = ocdm__argument_text(arguments, ocdm__sources[i].flag);
    }
    if (settings->source_count + arguments->operand_count == 0)
        return misuse(error, "`ocdm stream build --help` lists the kinds of sources; --recipe scenes needs none",
                      "no source is given");
    if (arguments->operand_count > 0 && (ocdm__sources[settings->kind].properties & OCDM__SEVERAL_FILES) == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name one file: only label records and COCO annotations may be several",
                          "--%s takes one source, and \"%s\" is another", ocdm__sources[settings->kind].flag,
                          arguments->operands[0]);
    for (size_t i = 0; i < arguments->operand_count; i++)
        request->sources[settings->source_count++] = arguments->operands[i];
    settings->sources = request->sources;
    settings->records =
        ocdm__argument_records(arguments, "`ocdm stream build --skip-bad` leaves such records out and counts them");
    settings->tasks_by = ocdm__argument_text(arguments, "tasks-by");
    settings->task = ocdm__argument_text(arguments, "task");
    settings->split = ocdm__argument_text(arguments, "split");
    settings->image = ocdm__argument_text(arguments, "image");
    settings->test_source = ocdm__argument_text(arguments, "test");
    return ocdm__arguments_check(arguments, error);
}

/* Mulan's label list has the name of its ARFF file, with another ending; train and test files share one, dense and sparse too.
 */
static ocdm_status find_xml(struct request *request, ocdm_error *error)
{
    request->settings.xml = ocdm__argument_text(request->arguments, "xml");
    if (request->settings.kind != OCDM__FROM_ARFF || request->settings.xml != NULL)
        return OCDM_OK;
    const char *arff = request->settings.sources[0];
    size_t length = strlen(arff);
    if (length > 5 && strcmp(arff + length - 5, ".arff") == 0)
        length -= 5;
    OCDM_TRY(ocdm__new(&request->xml, length + 8, 1, "a file name", error));
    static const char *const endings[] = {"-train", "-test", "_train", "_test", "-train-sparse", "-test-sparse", "-sparse", ""};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t cut = strlen(endings[i]);
        if (length <= cut || strncmp(arff + length - cut, endings[i], cut) != 0)
            continue;
        snprintf(request->xml, length + 8, "%.*s.xml", (int)(length - cut), arff);
        if (access(request->xml, R_OK) == 0)
            break;
    }
    if (access(request->xml, R_OK) != 0 && access(arff, R_OK) == 0)
        return ocdm__fail(error, OCDM_IO, "name the file with --xml",
                          "%s: which attributes are labels is in an XML file, and there is no %s", arff, request->xml);
    request->settings.xml = request->xml;
    return OCDM_OK;
}

/* ---- features, images, recipe ---------------------------------------------------------------------------------------- */

static ocdm_status read_features(struct request *request, ocdm_error *error)
{
    ocdm__build_settings *settings = &request->settings;
    const ocdm__arguments *arguments = request->arguments;
    settings->features = ocdm__argument_text(arguments, "features");
    settings->source_features = !ocdm__argument_given(arguments, "labels-only");
    settings->feature_type = ocdm__argument_choice(arguments, "feature-type") == 0 ? OCDM__F32 : OCDM__F16;
    settings->standardize = (enum ocdm__standardize)ocdm__argument_choice(arguments, "standardize");
    settings->image_root = ocdm__argument_text(arguments, "images");
    /* Rows that are skipped at the end of one table would shift those of the next. */
    bool table = (ocdm__sources[settings->kind].properties & OCDM__IS_TABLE) != 0;
    if (table && settings->test_source != NULL && (settings->features != NULL || settings->source_features) &&
        ocdm__argument_given(arguments, "skip-bad"))
        return misuse(error, "put the tables into one, or add --labels-only",
                      "--skip-bad cannot be used with --test and features");
    return ocdm__arguments_check(arguments, error);
}

static ocdm_status read_recipe(struct request *request, ocdm_error *error)
{
    ocdm__build_settings *settings = &request->settings;
    const ocdm__arguments *arguments = request->arguments;
    const char *tasks = ocdm__argument_text(arguments, "tasks");
    bool step = ocdm__argument_given(arguments, "step");
    settings->ids = ocdm__argument_text(arguments, "ids");
    settings->recipe = settings->ids != NULL ? OCDM__RECIPE_IDS : OCDM__RECIPE_NONE;
    if (ocdm__argument_given(arguments, "recipe"))
        settings->recipe = (enum ocdm__recipe)(OCDM__FIRST_NAMED_RECIPE + ocdm__argument_choice(arguments, "recipe"));
    settings->test_from_rest = ocdm__argument_choice(arguments, "test-pool") == 1;
    settings->drop_mixed = ocdm__argument_choice(arguments, "mixed") == 1;
    settings->original_ids = ocdm__argument_choice(arguments, "test-lists") == 1;
    settings->test_per_class = (uint32_t)ocdm__argument_unsigned(arguments, "test-per-class", 1, 1000000);
    settings->test_share = ocdm__argument_real(arguments, "test-share", 0, 1);
    settings->base = (uint32_t)ocdm__argument_unsigned(arguments, "base", 0, OCDM__MAX_CLASSES);
    settings->step = step ? (uint32_t)ocdm__argument_unsigned(arguments, "step", 1, OCDM__MAX_CLASSES) : 1;
    /* A number of tasks, or the name of a list. */
    bool number = tasks != NULL && tasks[0] != '\0' && tasks[strspn(tasks, "0123456789")] == '\0';
    settings->clusters = number ? (size_t)strtoul(tasks, NULL, 10) : 0;
    settings->tasks = number ? NULL : tasks;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    bool paper = settings->recipe == OCDM__RECIPE_PAPER, split = settings->recipe == OCDM__RECIPE_SPLIT;
    if (tasks != NULL && !paper && !split)
        return misuse(error, "add --recipe paper or --recipe split", "--tasks is given without a recipe that uses it");
    if (tasks != NULL && settings->tasks == NULL && (settings->clusters == 0 || settings->clusters > 65535))
        return misuse(error, "for example --tasks 4", "--tasks takes a number from 1 to 65535, coco44, nus44, or a file");
    if (paper && tasks == NULL)
        return misuse(error, "--tasks coco44, nus44, FILE, or a number of tasks to find by co-occurrence",
                      "--recipe paper needs --tasks");
    if (split && tasks == NULL && settings->tasks_by == NULL)
        return misuse(error, "--tasks FILE, --tasks N or --tasks-by NAME", "--recipe split needs to know how tasks are made");
    if (settings->recipe == OCDM__RECIPE_INCREMENTAL && !step)
        return misuse(error, "for example --base 40 --step 10", "--recipe incremental needs --step");
    return OCDM_OK;
}

/* Two numbers, or a file. */
static ocdm_status read_groups(struct request *request, ocdm_error *error)
{
    ocdm__build_settings *settings = &request->settings;
    const char *groups = ocdm__argument_text(request->arguments, "groups");
    settings->bounded_groups = groups != NULL && groups[strspn(groups, "0123456789,")] == '\0';
    settings->groups = settings->bounded_groups ? NULL : groups;
    if (!settings->bounded_groups)
        return OCDM_OK;
    size_t count = ocdm__argument_list(request->arguments, "groups", 0, UINT64_MAX, settings->bounds, 2);
    OCDM_TRY(ocdm__arguments_check(request->arguments, error));
    if (count != 2 || settings->bounds[0] < settings->bounds[1])
        return misuse(error, "for example --groups 600,100", "--groups takes two numbers, the larger first, or a file");
    return OCDM_OK;
}

/* ---- the request as a whole ------------------------------------------------------------------------------------------ */

static ocdm_status read_request(struct request *request, ocdm_error *error)
{
    static const char *const left_out[] = {"output", "quiet", "json", NULL};
    const ocdm__arguments *arguments = request->arguments;
    bool scenes = is_recipe(arguments, "scenes");
    request->settings.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    request->settings.output = ocdm__argument_text(arguments, "output");
    request->settings.classes = ocdm__argument_text(arguments, "classes");
    if (ocdm__argument_given(arguments, "recipe"))
        (void)ocdm__argument_choice(arguments, "recipe"); /* a wrong word is reported before all that follows from it */
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(scenes ? check_scenes(arguments, error) : check_flags(arguments, error));
    if (scenes) {
        bool images = ocdm__argument_choice(arguments, "as") == 0;
        uint64_t size = ocdm__argument_unsigned(arguments, "size", OCDM__SCENE_LEAST_SIZE, OCDM__SCENE_MOST_SIZE);
        request->settings.image_size = images ? (uint32_t)size : 0;
        request->settings.recipe = OCDM__RECIPE_SCENES;
        OCDM_TRY(ocdm__arguments_check(arguments, error));
    } else {
        OCDM_TRY(read_source(request, error));
        OCDM_TRY(find_xml(request, error));
        OCDM_TRY(read_features(request, error));
        OCDM_TRY(read_recipe(request, error));
    }
    OCDM_TRY(read_groups(request, error));
    /* An output that is one of the inputs would be replaced while it is read. */
    const ocdm__build_settings *settings = &request->settings;
    if (settings->output == NULL)
        return misuse(error, "name the file: -o S.safetensors", "-o is missing");
    if (strcmp(settings->output, "/dev/stdout") == 0 && !ocdm__argument_given(request->arguments, "quiet"))
        return misuse(error, "add -q", "the stream and the report would both go to standard output");
    ocdm__file_identity output = ocdm__identify_path(settings->output);
    const char *inputs[MOST_SOURCES + 6] = {settings->features,    settings->classes, settings->xml,
                                            settings->test_source, settings->tasks,   settings->groups};
    memcpy(inputs + 6, request->sources, sizeof request->sources);
    for (size_t i = 0; i < MOST_SOURCES + 6; i++) {
        ocdm__file_identity input = ocdm__identify_path(inputs[i]);
        if (inputs[i] != NULL && ocdm__is_same_file(&input, &output))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "write to another file", "%s is an input and the output", inputs[i]);
    }
    OCDM_TRY(ocdm__command_text(arguments, left_out, &request->command, error));
    request->settings.command = request->command.buffer;
    return OCDM_OK;
}

/* ---- what is said ---------------------------------------------------------------------------------------------------- */

static ocdm_status build(struct request *request, ocdm_error *error)
{
    ocdm__progress_line line;
    ocdm__build_report report;
    const ocdm__arguments *arguments = request->arguments;
    const char *path = ocdm__argument_text(arguments, "output");
    bool quiet = ocdm__argument_given(arguments, "quiet");
    ocdm__reading reading = {.skip_bad = ocdm__argument_given(arguments, "skip-bad"), .progress = &line.progress};
    OCDM_TRY(read_request(request, error));
    ocdm__catch_signals();
    ocdm__progress_line_begin(&line, quiet);
    ocdm_status status = ocdm__stream_build(&request->settings, &reading, &report, error);
    ocdm__status_line_erase(&line.line);
    for (size_t i = 0; i < reading.skip_count; i++) {
        const ocdm__skip *skip = &reading.skips[i];
        fprintf(stderr, "left out: %llu %s%s%s\n", (unsigned long long)skip->count, skip->reason,
                skip->first[0] != '\0' ? ", the first at " : "", skip->first);
    }
    if (reading.doubt[0] != '\0')
        fprintf(stderr, "warning: %s\n", reading.doubt);
    if (status != OCDM_OK || quiet)
        return status;
    if (ocdm__argument_given(arguments, "json")) {
        ocdm__json_open(arguments->out, NULL, '{');
        ocdm__json_string(arguments->out, "file", path);
        ocdm__json_count(arguments->out, "train", report.train);
        ocdm__json_count(arguments->out, "test", report.test);
        ocdm__json_count(arguments->out, "classes", report.classes);
        ocdm__json_count(arguments->out, "tasks", report.tasks);
        ocdm__json_open(arguments->out, "left_out", '[');
        for (size_t i = 0; i < reading.skip_count; i++) {
            ocdm__json_open(arguments->out, NULL, '{');
            ocdm__json_string(arguments->out, "reason", reading.skips[i].reason);
            ocdm__json_count(arguments->out, "count", reading.skips[i].count);
            ocdm__json_string(arguments->out, "first", reading.skips[i].first);
            ocdm__json_close(arguments->out, '}');
        }
        ocdm__json_close(arguments->out, ']');
        ocdm__json_string(arguments->out, "ids_sha256", report.ids);
        ocdm__output_text(arguments->out, "}\n");
        return OCDM_OK;
    }
    ocdm__output_text(arguments->out, ocdm__show_path(path).text);
    ocdm__put(arguments->out, ": %zu training and %zu test samples, classes: %zu, tasks: %zu\nSHA-256 of the ids: %s\n",
              report.train, report.test, report.classes, report.tasks, report.ids);
    return OCDM_OK;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct request request = {.arguments = arguments};
    ocdm_status status = build(&request, error);
    ocdm__output_abandon(&request.command);
    ocdm__release(request.xml);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

#define SOURCE_FLAG(KIND, name_, value_, help_, properties_, read_, open_rows_, OWN)                                           \
    OCDM__VALUE(0, name_, value_, NULL, help_), OWN(OCDM__LISTED_FLAG)

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FILE", NULL, "the stream file to write"),
    OCDM__SOURCES(SOURCE_FLAG) /* --records to --multihot */
    OCDM__VALUE(0, "test", "FILE", NULL, "a second file of the same kind, all its samples are test samples"),
    OCDM__VALUE(0, "features", "FILE", NULL, "features, NPY: f32, f16, f64, u8 or i8"),
    OCDM__SWITCH(0, "labels-only", "ignore the features of the source itself"),
    OCDM__FEATURE_FLAGS,
    OCDM__VALUE(0, "images", "ROOT", NULL, "store the paths of images, relative to this folder"),
    OCDM__VALUE(0, "ids", "FOLDER", NULL, "tasks by lists of ids: multihot_map.json and ids/ in it"),
    OCDM__CHOICE(0, "test-lists", "L", "balanced", test_list_names, "which of PRS's test lists"),
    OCDM__CHOICE(0, "recipe", "R", NULL, recipe_names, "how tasks are made"),
    OCDM__VALUE(0, "base", "N", "0", "incremental: classes of the first task; 0: as many as in the others"),
    OCDM__VALUE(0, "step", "N", NULL, "incremental: classes of each further task"),
    OCDM__VALUE(0, "tasks", "LIST", NULL, "coco44, nus44, either with -2 to -5, a file, or a number of tasks"),
    OCDM__VALUE(0, "tasks-by", "NAME", NULL, "the member or column with the task"),
    OCDM__CHOICE(0, "mixed", "M", "trim", mixed_names, "split: samples with labels of several tasks"),
    OCDM__CHOICE(0, "test-pool", "P", "single", pool_names, "paper: where test samples come from"),
    OCDM__VALUE(0, "test-per-class", "N", "50", "paper: test samples of a class"),
    OCDM__VALUE(0, "test-share", "X", "0.1", "split, incremental: the test part of a source that has none"),
    OCDM__VALUE(0, "classes", "FILE", NULL, "the classes and their order"),
    OCDM__VALUE(0, "groups", "H,L|FILE", NULL, "store the groups of the classes"),
    OCDM__CHOICE(0, "as", "KIND", "images", as_names, "scenes: what samples are made of"),
    OCDM__VALUE(0, "size", "N", "64", "scenes: pixels a side"),
    OCDM__VALUE(0, "seed", "S", "0", "the seed of every random choice"),
    OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* --format to --sep */
    OCDM__VALUE(0, "task", "NAME", NULL, "the member or column with the number of the task, `task` by default"),
    OCDM__VALUE(0, "split", "NAME", NULL, "the member or column with `train` or `test`, `split` by default"),
    OCDM__VALUE(0, "image", "NAME", NULL, "the member or column with the image's path, `image` by default"),
    OCDM__SWITCH(0, "skip-bad", "skip bad records and count them"),
    OCDM__SWITCH('q', "quiet", "no progress and no report"),
    OCDM__SWITCH(0, "json", "print the report as JSON"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_stream_build = {
    .name = "stream build",
    .summary = "make a stream file from COCO, NUS-WIDE, records, ...",
    .operands = "[FILE...]",
    .operand_limit = MOST_SOURCES - 1,
    .flags = flags,
    .run = run,
};
