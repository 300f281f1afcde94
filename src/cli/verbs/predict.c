/* `ocdm predict`: logits of a stream's samples as an NPY file. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/model.h"
#include "base/error.h"
#include "base/output.h"
#include "cli/console.h"
#include "cli/network_flags.h"
#include "cli/verbs.h"
#include "experiment/predict.h"

/* In the order of enum ocdm__predict_part. */
static const char *const part_names[] = {"test", "train", "all", NULL};
static const char *const precision_names[] = {"f32", "bf16", NULL};

/* The same names as in `ocdm run`. */
static ocdm_status check_sizes(const ocdm__predictor_settings *network, ocdm_error *error)
{
    if (ocdm__model_takes_images(network->model) || (network->resize == 0 && network->crop == 0))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --resize and --crop out", "the model %s takes no images",
                      network->model);
}

static ocdm_status read_request(const ocdm__arguments *arguments, ocdm__predict_settings *settings, ocdm_error *error)
{
    size_t part = 0, precision = 0;
    ocdm_status status = ocdm__read_network_flags(arguments, &settings->network, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "split", &part, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "precision", &precision, error);
    settings->part = (enum ocdm__predict_part)part;
    settings->network.bf16 = precision == 1;
    settings->network.skip_bad = ocdm__argument_given(arguments, "skip-bad");
    settings->output = ocdm__argument_text(arguments, "output");
    if (status == OCDM_OK && settings->network.skip_bad && ocdm__argument_given(arguments, "strict"))
        status = ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose one of them", "--strict and --skip-bad are both given");
    return status == OCDM_OK ? check_sizes(&settings->network, error) : status;
}

static void write_json(ocdm__output *output, const ocdm__predict_settings *settings, const ocdm__predict_report *report)
{
    ocdm__output_text(output, "{\"file\":");
    ocdm__output_json_string(output, settings->output, strlen(settings->output));
    ocdm__output_text(output, ",\"split\":\"");
    ocdm__output_text(output, part_names[settings->part]);
    ocdm__output_count(output, "\",\"samples\":", report->samples);
    ocdm__output_count(output, ",\"classes\":", report->classes);
    ocdm__output_count(output, ",\"skipped\":", report->skipped);
    ocdm__output_text(output, "}\n");
}

static void write_text(ocdm__output *output, const ocdm__predict_settings *settings, const ocdm__predict_report *report)
{
    static const char *const parts[] = {": test samples: ", ": training samples: ", ": samples: "};
    ocdm__output_text(output, settings->output);
    ocdm__output_count(output, parts[settings->part], report->samples);
    ocdm__output_count(output, ", classes: ", report->classes);
    ocdm__output_text(output, "\n");
}

static ocdm_status print_report(const ocdm__arguments *arguments, const ocdm__predict_settings *settings,
                                const ocdm__predict_report *report, ocdm_error *error)
{
    ocdm__output output;
    if (report->skipped > 0)
        fprintf(stderr, "rows of NaN: %" PRIu64 ", the first because of %s\n", report->skipped, report->first_skipped.message);
    if (ocdm__argument_given(arguments, "quiet"))
        return OCDM_OK;
    ocdm_status status = ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    if (ocdm__argument_given(arguments, "json"))
        write_json(&output, settings, report);
    else
        write_text(&output, settings, report);
    return ocdm__output_commit(&output, error);
}

static int run(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__progress_line line;
    ocdm__predict_report report;
    ocdm__predict_settings settings = {.output = NULL};
    ocdm_status status = read_request(arguments, &settings, &error);
    if (status == OCDM_OK) {
        ocdm__catch_signals();
        ocdm__progress_line_begin(&line, ocdm__argument_given(arguments, "quiet"));
        status = ocdm__predict(&settings, &line.progress, &report, &error);
        ocdm__progress_line_end(&line);
    }
    if (status == OCDM_OK)
        status = print_report(arguments, &settings, &report, &error);
    if (status == OCDM_STOPPED)
        return ocdm__report(&error), ocdm__exit_after_signal();
    return status == OCDM_OK ? OCDM__EXIT_OK : ocdm__report(&error);
}

static const char *const description[] = {
    "Computes the logits of a saved network for the samples of a stream, in evaluation mode, and writes them as an NPY file: "
    "32-bit floats, one row per sample in the order of the stream file, one column per class in the order of the stream. A "
    "class is predicted if its logit is above 0.",
    "The weights must fit the model and the stream: the same number of classes, and for linear and mlp of features. Images "
    "are resized and cropped as in an evaluation: shorter side to --resize, centre square of --crop. The result does not "
    "depend on the number of threads. An image that cannot be decoded is an error, because rows must not shift; with "
    "--skip-bad such a sample gets a row of NaN, and the number of such rows is printed. A missing image file is always an "
    "error.",
    NULL,
};

static const ocdm__example examples[] = {
    {"scores of the test part", "ocdm predict S.safetensors --model resnet18 --weights W.safetensors -o scores.npy"},
    {"of small images", "ocdm predict S.safetensors --model cnn --weights W.safetensors --split all -o scores.npy"},
    {.command = NULL},
};

static const ocdm__flag flags[] = {
    {.letter = 'o', .name = "output", .value = "FILE", .help = "the NPY file to write"},
    OCDM__NETWORK_FLAGS,
    {.name = "split", .value = "PART", .fallback = "test", .choices = part_names, .help = "which samples"},
    {.name = "precision",
     .value = "P",
     .fallback = "f32",
     .choices = precision_names,
     .help = "bf16 needs a CPU that supports it"},
    {.name = "skip-bad", .help = "a row of NaN for a sample whose image cannot be decoded"},
    {.name = "strict", .help = "stop at an image that cannot be decoded: what happens without --skip-bad too"},
    {.name = "json", .help = "print the result as one object of JSON"},
    {.letter = 'q', .name = "quiet", .help = "print nothing but errors and what was left out"},
    {.name = NULL},
};

const ocdm__verb ocdm__verb_predict = {
    .name = "predict",
    .summary = "write a network's logits for the samples of a stream",
    .operands = "STREAM",
    .operand_limit = 1,
    .description = description,
    .examples = examples,
    .flags = flags,
    .run = run,
    .distributes = true,
};
