/* Reads the flags of network_flags.h into the settings of a prediction. */
#include "cli/network_flags.h"

#include "base/error.h"
#include "base/files.h"
#include "stream/images/image.h"

/* A number of pixels; 0 when the flag is not there. */
static ocdm_status read_side(const ocdm__arguments *arguments, const char *name, uint32_t *side, ocdm_error *error)
{
    uint64_t value = 0;
    if (!ocdm__argument_given(arguments, name))
        return OCDM_OK;
    ocdm_status status = ocdm__argument_unsigned(arguments, name, 1, OCDM__IMAGE_LARGEST_SIDE, &value, error);
    *side = (uint32_t)value;
    return status;
}

static ocdm_status check_names(const ocdm__arguments *arguments, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    const char *const inputs[] = {settings->stream, settings->weights};
    const char *path = ocdm__argument_text(arguments, "output");
    ocdm__file_identity output = ocdm__identify_path(path);
    for (size_t i = 0; i < 2; i++) {
        ocdm__file_identity input = ocdm__identify_path(inputs[i]);
        if (ocdm__is_same_file(&input, &output))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "write to another file", "%s is an input and the output", inputs[i]);
    }
    return OCDM_OK;
}

static ocdm_status read_names(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    static const char *const needed[] = {"model", "weights", "output"};
    size_t model;
    if (arguments->operand_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name a file that `ocdm stream build` wrote", "no stream is given");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (ocdm__argument_text(arguments, needed[i]) == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--help describes it", "--%s is missing", needed[i]);
    ocdm_status status = ocdm__argument_choice(arguments, "model", &model, error);
    if (status != OCDM_OK)
        return status;
    settings->stream = arguments->operands[0];
    settings->model = ocdm__model_names[model];
    settings->weights = ocdm__argument_text(arguments, "weights");
    settings->image_root = ocdm__argument_text(arguments, "images");
    return check_names(arguments, settings, error);
}

ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    uint64_t threads, batch;
    ocdm__predictor_settings read = {.stream = NULL};
    ocdm_status status = read_names(arguments, &read, error);
    if (status == OCDM_OK)
        status = read_side(arguments, "resize", &read.resize, error);
    if (status == OCDM_OK)
        status = read_side(arguments, "crop", &read.crop, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "threads", 1, OCDM__MAX_THREADS, &threads, error);
    if (status == OCDM_OK)
        status = ocdm__argument_unsigned(arguments, "batch", 1, 65536, &batch, error);
    if (status != OCDM_OK)
        return status;
    read.threads = (unsigned)threads;
    read.batch = (size_t)batch;
    *settings = read;
    return OCDM_OK;
}
