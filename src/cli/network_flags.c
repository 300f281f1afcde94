/* Reads the flags of network_flags.h into the settings of a prediction. */
#include "cli/network_flags.h"

#include "base/files.h"
#include "cli/console.h"
#include "experiment/loop/settings.h"
#include "stream/images/image.h"

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

/* Where a line ends, without its CR; `next` is where the one after it begins. */
static size_t line_end(const ocdm__mapped_file *file, size_t start, size_t *next)
{
    const unsigned char *end = memchr(file->bytes + start, '\n', file->size - start);
    size_t stop = end != NULL ? (size_t)(end - file->bytes) : file->size;
    *next = end != NULL ? stop + 1 : file->size;
    return stop > start && file->bytes[stop - 1] == '\r' ? stop - 1 : stop;
}

/* The number of lines, and with `list` their texts too. */
static size_t copy_lines(const ocdm__mapped_file *file, ocdm__text_list *list)
{
    size_t count = 0, used = 0;
    for (size_t start = 0, next; start < file->size; start = next, count++) {
        size_t length = line_end(file, start, &next) - start;
        if (list == NULL)
            continue;
        memcpy(list->bytes + used, file->bytes + start, length);
        used += length;
        list->starts[count + 1] = used;
    }
    return count;
}

static ocdm_status take_names(const ocdm__mapped_file *file, size_t count, ocdm__weights_about *about, ocdm_error *error)
{
    size_t lines = copy_lines(file, NULL);
    if (lines != count)
        return ocdm__fail(error, OCDM_BAD_FILE, "one name on each line, in the order of the head",
                          "%s: there are %zu names, and the weights have %zu classes", file->name, lines, count);
    ocdm__text_list list = {ocdm__allocate(count + 1, sizeof *list.starts), ocdm__allocate(file->size + 1, 1)};
    ocdm__release(about->classes.starts);
    ocdm__release(about->classes.bytes);
    about->classes = list;
    about->class_count = list.starts != NULL && list.bytes != NULL ? count : 0;
    if (about->class_count != count)
        return ocdm__fail_memory(error, "the names of classes");
    copy_lines(file, &list);
    return OCDM_OK;
}

ocdm_status ocdm__read_class_names(const ocdm__arguments *arguments, size_t count, ocdm__weights_about *about,
                                   ocdm_error *error)
{
    const char *path = ocdm__argument_text(arguments, "classes");
    ocdm__mapped_file file = {.bytes = NULL};
    if (path == NULL)
        return OCDM_OK;
    ocdm_status status = ocdm__map_file(&file, path, error);
    OCDM_THEN(status, take_names(&file, count, about, error));
    ocdm__unmap_file(&file);
    return status;
}
