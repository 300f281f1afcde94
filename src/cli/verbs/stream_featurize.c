/* `ocdm stream featurize`: makes a stream of features from a stream of images. */
#include <unistd.h>

#include "base/output.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/network_flags.h"
#include "cli/verbs.h"
#include "experiment/predict.h"
#include "experiment/run_ranks.h"
#include "stream/features.h"

static ocdm_status read_request(const ocdm__arguments *arguments, ocdm__featurize_settings *settings, ocdm__output *command,
                                ocdm_error *error)
{
    static const char *const left_out[] = {"output", "quiet", "json", "threads", NULL};
    OCDM_TRY(ocdm__read_network_flags(arguments, &settings->network, error));
    OCDM_TRY(ocdm__read_network_files(arguments, &settings->network, error));
    settings->type = ocdm__argument_choice(arguments, "feature-type") == 0 ? OCDM__F32 : OCDM__F16;
    settings->standardize = (enum ocdm__standardize)ocdm__argument_choice(arguments, "standardize");
    settings->output = ocdm__argument_text(arguments, "output");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(ocdm__command_text(arguments, left_out, command, error));
    settings->command = command->buffer;
    return OCDM_OK;
}

static ocdm_status featurize(const ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__progress_line line;
    ocdm__featurize_report report;
    ocdm__featurize_settings settings = {.output = NULL};
    ocdm__output command = {.buffer = NULL};
    bool quiet = ocdm__argument_given(arguments, "quiet");
    ocdm_status status = read_request(arguments, &settings, &command, error);
    ocdm__catch_signals();
    ocdm__progress_line_begin(&line, quiet);
    OCDM_THEN(status, ocdm__featurize(&settings, &line.progress, &report, error));
    ocdm__status_line_erase(&line.line);
    ocdm__output_abandon(&command);
    ocdm__output *output = arguments->out;
    if (status == OCDM_OK && !quiet && ocdm__argument_given(arguments, "json")) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_string(output, "file", settings.output);
        ocdm__json_count(output, "samples", report.samples);
        ocdm__json_count(output, "features", report.features);
        ocdm__json_count(output, "classes", report.classes);
        ocdm__json_string(output, "ids_sha256", report.ids);
        ocdm__output_text(output, "}\n");
    } else if (status == OCDM_OK && !quiet) {
        ocdm__output_text(output, ocdm__show_path(settings.output).text);
        ocdm__put(output, ": samples: %" PRIu64 ", features: %" PRIu64 ", classes: %" PRIu64 "\nSHA-256 of the ids: %s\n",
                  report.samples, report.features, report.classes, report.ids);
    }
    return status;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm_status status = featurize(arguments, error);
    ocdm__join_end();
    return status;
}

/* The leader wants others for streams of images. */
static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__featurize_settings settings = {.output = NULL};
    ocdm__output command = {.buffer = NULL};
    if (!ocdm__join_await())
        return;
    settings.network.features = true;
    if (read_request(arguments, &settings, &command, &error) == OCDM_OK)
        ocdm__predictor_follow(&settings.network, OCDM__PREDICT_ALL);
    else
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
    ocdm__output_abandon(&command);
}

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FILE", NULL, "the stream file to write"),
    OCDM__NETWORK_FLAGS,
    OCDM__FEATURE_FLAGS,
    OCDM__SWITCH(0, "json", "print the result as one object of JSON"),
    OCDM__SWITCH('q', "quiet", "print nothing but errors"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_stream_featurize = {
    .name = "stream featurize",
    .summary = "make a stream of a network's features",
    .operands = "STREAM",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};
