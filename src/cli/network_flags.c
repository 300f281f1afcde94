/* Reads the flags of network_flags.h into the settings of a prediction. */
#include "cli/network_flags.h"

#include "base/files.h"
#include "cli/console.h"
#include "experiment/loop/settings.h"
#include "stream/images/image.h"
#include "stream/lines.h"

/* A number of pixels; 0 when the flag is not there. */
static uint32_t read_side(const ocdm__arguments *arguments, const char *name, uint32_t most)
{
    return ocdm__argument_given(arguments, name) ? (uint32_t)ocdm__argument_unsigned(arguments, name, 1, most) : 0;
}

ocdm_status ocdm__read_model_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    const uint32_t largest = OCDM__IMAGE_LARGEST_SIDE;
    bool named = ocdm__argument_given(arguments, "model");
    settings->model = named ? ocdm__model_names[ocdm__argument_choice(arguments, "model")] : NULL;
    settings->note = ocdm__print_note;
    settings->resize = read_side(arguments, "resize", largest);
    settings->crop = read_side(arguments, "crop", largest);
    uint32_t size = read_side(arguments, "image-size", largest / 8 * 7);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    return ocdm__take_image_size(size, 0, &settings->resize, &settings->crop, error);
}

ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    settings->weights = ocdm__argument_text(arguments, "weights");
    settings->image_root = ocdm__argument_text(arguments, "images");
    if (settings->weights == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--help describes it", "--weights is missing");
    OCDM_TRY(ocdm__read_model_flags(arguments, settings, error));
    settings->threads = (unsigned)ocdm__argument_unsigned(arguments, "threads", 1, OCDM__MAX_THREADS);
    settings->batch = (size_t)ocdm__argument_unsigned(arguments, "batch", 1, 65536);
    return ocdm__arguments_check(arguments, error);
}

ocdm_status ocdm__check_output(const char *input, const char *path, ocdm_error *error)
{
    ocdm__file_identity output = ocdm__identify_path(path), other = ocdm__identify_path(input);
    if (!ocdm__is_same_file(&other, &output))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "write to another file", "%s is an input and the output", input);
}

ocdm_status ocdm__read_network_files(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "output");
    if (arguments->operand_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name a file that `ocdm stream build` wrote", "no stream is given");
    if (path == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--help describes it", "--output is missing");
    settings->stream = arguments->operands[0];
    OCDM_TRY(ocdm__check_output(settings->stream, path, error));
    return ocdm__check_output(settings->weights, path, error);
}

/* ---- names of classes ---------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__read_class_names(const ocdm__arguments *arguments, size_t count, ocdm__weights_about *about,
                                   ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "classes");
    ocdm__lines lines = {.path = NULL};
    ocdm__text_list list = {NULL, NULL};
    size_t names = 0;
    if (path == NULL)
        return OCDM_OK;
    ocdm_status status = ocdm__lines_open(&lines, path, error);
    OCDM_THEN(status, ocdm__new(&list.starts, count + 1, sizeof *list.starts, "the names of classes", error));
    OCDM_THEN(status, ocdm__new(&list.bytes, lines.file.size + 1, 1, "the names of classes", error));
    for (; status == OCDM_OK && ocdm__lines_next(&lines); names++) {
        size_t length = (size_t)(lines.end - lines.start);
        length -= length > 0 && lines.end[-1] == '\r';
        if (names >= count)
            continue;
        memcpy(list.bytes + list.starts[names], lines.start, length);
        list.starts[names + 1] = list.starts[names] + length;
    }
    if (status == OCDM_OK && names != count)
        status = ocdm__fail(error, OCDM_BAD_FILE, "one name on each line, in the order of the head",
                            "%s: there are %zu names, and the weights have %zu classes", path, names, count);
    if (status == OCDM_OK) {
        ocdm__text_list before = about->classes;
        about->classes = list;
        about->class_count = count;
        list = before;
    }
    OCDM_RELEASE(list.starts, list.bytes);
    ocdm__lines_close(&lines);
    return status;
}
