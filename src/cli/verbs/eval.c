/* `ocdm eval`: evaluates a saved model on the test part of a stream. */
#include <unistd.h>

#include "agent/model.h"
#include "base/output.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "experiment/agent_learner.h"
#include "experiment/loop/evaluation.h"
#include "experiment/run_ranks.h"
#include "experiment/weights_file.h"
#include "metrics/metrics.h"

/* Everything that an evaluation of a file needs. Starts with all bytes zero. */
struct work {
    ocdm__run_settings settings;
    ocdm__stream stream;
    ocdm__weights_about about; /* of the weights; the stream may standardize by it */
    ocdm__stream_order tests;
    uint8_t *groups; /* of each class */
    ocdm__class_score *scores;
    ocdm__arena arena; /* of these two */
    ocdm__model_inputs *inputs;
    ocdm__learner learner;
    ocdm__evaluation evaluation;
    ocdm__progress_line line;
    bool follows; /* another rank leads */
};

static void close_work(struct work *work)
{
    ocdm__evaluation_clear(&work->evaluation);
    if (work->learner.state != NULL)
        work->learner.functions->destroy(work->learner.state);
    ocdm__model_inputs_close(work->inputs);
    ocdm__arena_clear(&work->arena);
    ocdm__stream_order_clear(&work->tests);
    ocdm__stream_close(&work->stream);
    ocdm__weights_about_clear(&work->about);
}

/* ---- getting ready ------------------------------------------------------------------------------------------------------- */

/* The size of images that the weights were trained with, where the command line says nothing else. */
static ocdm_status choose_size(ocdm__run_settings *settings, const ocdm__weights_about *about, ocdm_error *error)
{
    OCDM_TRY(ocdm__take_image_size(settings->image_size, OCDM_NONE, &settings->resize, &settings->crop, error));
    if (!about->images)
        return OCDM_OK;
    void (*note)(const char *) = ocdm__joined() ? NULL : ocdm__print_note;
    if (settings->resize == 0) { /* images are not to be resized */
        settings->crop = settings->crop == OCDM_NONE ? about->crop : settings->crop;
        ocdm__weights_tell_size(about, 0, settings->crop, note);
        return OCDM_OK;
    }
    settings->resize = settings->resize != OCDM_NONE ? settings->resize : 0;
    settings->crop = settings->crop != OCDM_NONE ? settings->crop : 0;
    ocdm__weights_choose_size(about, &settings->resize, &settings->crop, note);
    return OCDM_OK;
}

static ocdm_status find_model(struct work *work, ocdm_error *error)
{
    const char *path = work->settings.weights;
    ocdm__weights_file file = {.tensors = {.tensor_count = 0}};
    struct ocdm__weights_fit fit = {.model = NULL};
    ocdm_status status = ocdm__weights_open(&file, path, error);
    OCDM_THEN(status, ocdm__weights_describe(&file, &fit, &work->about, error));
    OCDM_THEN(status, ocdm__weights_choose_model(&file, &fit, &work->settings.model, error));
    if (status == OCDM_OK && fit.model != NULL) /* else the agent reports which tensors are wrong */
        status = ocdm__weights_check_head(path, &fit, work->stream.table.class_count, error);
    OCDM_THEN(status, ocdm__weights_check_classes(path, &work->about, &work->stream.table, error));
    OCDM_THEN(status,
              ocdm__weights_match_features(path, &work->about, &work->stream, ocdm__joined() ? NULL : ocdm__print_note, error));
    OCDM_THEN(status, choose_size(&work->settings, &work->about, error));
    ocdm__weights_close(&file);
    return status;
}

static ocdm_status evaluate(struct work *work, ocdm_error *error)
{
    const ocdm__examination examination = {
        .learner = &work->learner,
        .inputs = work->inputs,
        .table = &work->stream.table,
        .tests = &work->tests,
        .groups = work->groups,
        .source = {work->stream.file.name, "the weights are too large, or not for such inputs"},
        .progress = &work->line.progress};
    const struct ocdm__version_result result = {.evaluation = &work->evaluation, .scores = work->scores};
    OCDM_TRY(ocdm__evaluate(&examination, work->tests.task_count, &result, 1, error));
    if (work->evaluation.skipped == work->tests.count)
        return ocdm__model_inputs_fail_unusable(work->inputs, "test", work->tests.count, error);
    return OCDM_OK;
}

/* ---- telling ------------------------------------------------------------------------------------------------------------- */

static void print(const struct work *work, const ocdm__arguments *arguments)
{
    const ocdm__evaluation *evaluation = &work->evaluation;
    const ocdm__stream_table *table = &work->stream.table;
    ocdm__output *output = arguments->out;
    bool per_class = ocdm__argument_given(arguments, "per-class");
    if (!ocdm__argument_given(arguments, "json")) {
        ocdm__print_evaluation(output, evaluation, work->settings.groups);
        if (evaluation->skipped > 0)
            ocdm__put(output, "skipped   %llu images that could not be decoded\n", (unsigned long long)evaluation->skipped);
        if (per_class)
            ocdm__print_class_scores(output, table, work->groups, work->scores);
        return;
    }
    ocdm__json_open(output, NULL, '{');
    ocdm__json_string(output, "model", work->settings.model);
    if (ocdm__model_takes_images(work->settings.model)) {
        ocdm__json_count(output, "resize", work->inputs->resize);
        ocdm__json_count(output, "crop", work->inputs->side);
    }
    ocdm__json_count(output, "tests", work->tests.count);
    ocdm__json_count(output, "skipped", evaluation->skipped);
    ocdm__evaluation_metrics_write(output, evaluation, work->tests.tasks);
    if (per_class) {
        ocdm__json_key(output, "per_class");
        ocdm__class_scores_write(output, work->scores, table->class_count);
    }
    ocdm__output_text(output, "}\n");
}

/* ---- the command line ---------------------------------------------------------------------------------------------------- */

static ocdm_status read_settings(const ocdm__arguments *arguments, struct work *work, const char **path, ocdm_error *error)
{
    work->settings = ocdm__run_settings_default();
    OCDM_TRY(ocdm__run_flags_read(arguments, &work->settings, error));
    if (work->settings.weights == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm run` leaves one: weights.safetensors",
                          "no weights file is named with --weights");
    work->settings.model = ocdm__argument_text(arguments, "model");
    return ocdm__need_stream(arguments, path, error);
}

/* The tests, and what they are counted by: the groups of the classes by their training samples, and a score for each. */
static ocdm_status make_tables(struct work *work, ocdm_error *error)
{
    const ocdm__stream_table *table = &work->stream.table;
    OCDM_TRY(ocdm__stream_order_make(&work->tests, table, OCDM__TEST, NULL, 0, 0, error));
    if (work->tests.count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream info` shows what is in it", "%s: the stream has no test sample",
                          work->stream.file.name);
    uint64_t *counts = ocdm__arena_new(&work->arena, table->class_count, sizeof *counts);
    work->groups = ocdm__arena_new(&work->arena, table->class_count, sizeof *work->groups);
    work->scores = ocdm__arena_new(&work->arena, table->class_count, sizeof *work->scores);
    OCDM_TRY(ocdm__arena_check(&work->arena, "the scores of classes", error));
    ocdm__count_classes(table, OCDM__TRAIN, counts);
    return ocdm__evaluation_groups(work->settings.groups, table, counts, work->groups, error);
}

static ocdm_status open_all(const char *path, struct work *work, ocdm_error *error)
{
    const ocdm__run_settings *settings = &work->settings;
    const ocdm__learner_maker *maker = &ocdm__agent_maker;
    ocdm_status status = ocdm__stream_open(&work->stream, path, error);
    OCDM_THEN(status, find_model(work, error));
    OCDM_THEN(status, ocdm__run_settings_resolve_model(&work->settings, &work->stream, path, error));
    OCDM_THEN(status, make_tables(work, error));
    bool images = status == OCDM_OK && ocdm__model_takes_images(settings->model);
    const ocdm__model_input_settings inputs = {.resize = images ? settings->resize : 0,
                                               .crop = images ? settings->crop : 0,
                                               .keep_size = true,
                                               .symmetric = images && ocdm__model_is_symmetric(settings->model),
                                               .strict = settings->strict,
                                               .image_root = settings->image_root,
                                               .threads = settings->network.threads,
                                               .images = maker->images};
    OCDM_THEN(status, ocdm__model_inputs_open(&work->stream, &inputs, &work->inputs, error));
    if (status == OCDM_OK && !work->follows)
        ocdm__join_begin(images);
    OCDM_THEN(status,
              maker->make(maker, settings, work->inputs, (uint32_t)work->stream.table.class_count, &work->learner, error));
    return ocdm__join_ready(&work->learner, &work->stream, status, error);
}

static ocdm_status examine(const ocdm__arguments *arguments, ocdm_error *error)
{
    const char *path;
    struct work work = {.tests = {.count = 0}};
    ocdm__catch_signals();
    ocdm__progress_line_begin(&work.line, ocdm__argument_given(arguments, "quiet"));
    ocdm_status status = read_settings(arguments, &work, &path, error);
    OCDM_THEN(status, open_all(path, &work, error));
    OCDM_THEN(status, evaluate(&work, error));
    ocdm__status_line_erase(&work.line.line);
    if (status == OCDM_OK && work.evaluation.skipped > 0) {
        char text[OCDM__SKIPPED_TEXT];
        ocdm__model_inputs_skipped_text(work.inputs, work.evaluation.skipped, text);
        ocdm__print_note(text);
    }
    if (status == OCDM_OK)
        print(&work, arguments);
    close_work(&work);
    if (status == OCDM_STOPPED)
        error->message[0] = '\0';
    return status;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    const ocdm__explanation *explanation;
    bool explain = ocdm__argument_given(arguments, "explain");
    for (size_t i = 0; explain && (explanation = ocdm__explanation_at(i)) != NULL; i++)
        ocdm__put(arguments->out, "%-10s  %s\n", explanation->name, explanation->formula);
    ocdm_status status = explain && arguments->operand_count == 0 ? OCDM_OK : examine(arguments, error);
    ocdm__join_end();
    return status;
}

/* The same without words. */
static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    const char *path;
    struct work work = {.tests = {.count = 0}, .follows = true};
    if (!ocdm__join_await())
        return;
    if (read_settings(arguments, &work, &path, &error) != OCDM_OK)
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
    if (open_all(path, &work, &error) == OCDM_OK)
        (void)evaluate(&work, &error); /* what is wrong is wrong on all ranks, and the leader reports it */
    close_work(&work);
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag flags[] = {
    OCDM__VALUE(0, "weights", "FILE", NULL, "the saved model; required"),
    OCDM__CHOICE(0, "model", "NAME", NULL, ocdm__model_names, "the model; found from the weights by default"),
    OCDM__CHOICE(0, "precision", "P", "f32", ocdm__run_precisions, "bf16 needs a CPU that supports it"),
    OCDM__VALUE(
        0, "resize", "PIXELS", NULL,
        "resize images to this shorter side; 0: do not; by default as the weights were trained, else 256 for image files"),
    OCDM__VALUE(0, "crop", "PIXELS", NULL,
                "then crop the centre square of this size; by default as the weights were trained, else 224 for image files"),
    OCDM__VALUE(0, "image-size", "PIXELS", NULL, "the same as --crop PIXELS, and --resize with the usual eighth around it"),
    OCDM__VALUE(0, "images", "FOLDER", NULL, "folder of the image files, instead of the one in the stream"),
    OCDM__SWITCH(0, "strict", "fail at an image that cannot be decoded instead of skipping it"),
    OCDM__VALUE(0, "groups", "H,L|terciles|FILE", NULL, OCDM__GROUPS_HELP),
    OCDM__VALUE(0, "threads", "N", NULL,
                "threads for models of images and decoding; all cores by default; does not change results"),
    OCDM__SWITCH(0, "per-class", "also AP, precision and recall of each class"),
    OCDM__SWITCH(0, "explain", "print the formula of each metric first"),
    OCDM__SWITCH(0, "json",
                 "print one JSON object; its metrics are those of summary.json, its resize and crop those that were used"),
    OCDM__SWITCH('q', "quiet", "no progress line"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_eval = {
    .name = "eval",
    .summary = "score a saved model on a stream's test part",
    .operands = "[STREAM]",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};
