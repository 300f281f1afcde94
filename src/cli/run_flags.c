/* From flags to the settings of a run. */
#define _POSIX_C_SOURCE 200809L

#include "cli/run_flags.h"

#include <unistd.h>

#include "agent/agent.h"

/* agent/model.h's names, and none at all. */
const char *const ocdm__run_model_choices[] = {"linear",    "mlp",       "cnn",        "resnet18", "resnet34", "resnet50",
                                               "resnet101", "resnet152", "mobilenet1", "none",     NULL};

/* In the order of their enums. */
const char *const ocdm__run_distance_choices[] = {"kl", "reverse-kl", "l2", "tv", NULL};
const char *const ocdm__run_tie_choices[] = {"key", "oldest", "newest", "uniform", NULL};
const char *const ocdm__run_precision_choices[] = {"f32", "bf16", NULL};

static ocdm_status read_whole(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high, uint32_t *value,
                              ocdm_error *error)
{
    uint64_t number;
    ocdm_status status = ocdm__argument_unsigned(arguments, name, low, high, &number, error);
    if (status == OCDM_OK)
        *value = (uint32_t)number;
    return status;
}

static ocdm_status read_sizes(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    ocdm_status status = read_whole(arguments, "batch", 1, 1000000, &settings->batch, error);
    if (status == OCDM_OK)
        status = read_whole(arguments, "replay", 0, 1000000, &settings->replay, error);
    if (status == OCDM_OK)
        status = read_whole(arguments, "epochs", 1, 1000000, &settings->epochs, error);
    if (status == OCDM_OK)
        status = read_whole(arguments, "log-every", 1, UINT32_MAX, &settings->log_every, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "checkpoint-every", 0, UINT64_MAX, &settings->checkpoint_every, error);
    return status;
}

static ocdm_status read_rules(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    size_t distance = 0, tie = 0, model = 0;
    ocdm_status status = ocdm__argument_choice(arguments, "distance", &distance, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "tie", &tie, error);
    if (status == OCDM_OK)
        status = ocdm__argument_choice(arguments, "model", &model, error);
    settings->distance = (ocdm_distance)distance;
    settings->tie = (ocdm_tie)tie;
    settings->model = ocdm__run_model_choices[model];
    return status;
}

static ocdm_status read_learning(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    ocdm_status status = ocdm__argument_real(arguments, "lr", 0, 1e6, &settings->learning_rate, error);
    if (status == OCDM_OK)
        status = ocdm__argument_real(arguments, "adam-eps", 1e-30, 1e6, &settings->epsilon, error);
    if (status == OCDM_OK && ocdm__argument_text(arguments, "clip") != NULL)
        status = ocdm__argument_real(arguments, "clip", 1e-30, 1e30, &settings->clip, error);
    return status;
}

static ocdm_status read_images(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    if (ocdm__argument_text(arguments, "resize") != NULL)
        status = read_whole(arguments, "resize", 0, 8192, &settings->resize, error);
    if (status == OCDM_OK && ocdm__argument_text(arguments, "crop") != NULL)
        status = read_whole(arguments, "crop", 1, 8192, &settings->crop, error);
    return status;
}

static ocdm_status read_threads(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = cores < 1 ? 1 : cores > OCDM__MAX_THREADS ? OCDM__MAX_THREADS : (uint32_t)cores;
    ocdm_status status = OCDM_OK;
    if (ocdm__argument_text(arguments, "threads") != NULL)
        status = read_whole(arguments, "threads", 1, OCDM__MAX_THREADS, &threads, error);
    settings->threads = threads;
    return status;
}

ocdm_status ocdm__run_flags_read_machine(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    size_t precision = 0;
    ocdm_status status = ocdm__argument_choice(arguments, "precision", &precision, error);
    settings->bf16 = precision == 1;
    if (status == OCDM_OK)
        status = read_images(arguments, settings, error);
    return status == OCDM_OK ? read_threads(arguments, settings, error) : status;
}

ocdm_status ocdm__run_flags_read(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    *settings = ocdm__run_settings_default();
    settings->weights = ocdm__argument_text(arguments, "weights");
    settings->image_root = ocdm__argument_text(arguments, "images");
    settings->groups = ocdm__argument_text(arguments, "groups");
    settings->strict = ocdm__argument_given(arguments, "strict");
    ocdm_status status = read_sizes(arguments, settings, error);
    if (status == OCDM_OK)
        status = read_rules(arguments, settings, error);
    if (status == OCDM_OK)
        status = read_learning(arguments, settings, error);
    return status == OCDM_OK ? ocdm__run_flags_read_machine(arguments, settings, error) : status;
}
