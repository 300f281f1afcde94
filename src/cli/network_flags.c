/* Reads the flags of network_flags.h into the settings of a prediction. */
#include "cli/network_flags.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/console.h"
#include "experiment/loop/settings.h"
#include "stream/images/image.h"

/* A number of pixels; 0 when the flag is not there. */
static ocdm_status read_side(const ocdm__arguments *arguments, const char *name, uint32_t most, uint32_t *side,
                             ocdm_error *error)
{
    uint64_t value = 0;
    if (!ocdm__argument_given(arguments, name))
        return OCDM_OK;
    ocdm_status status = ocdm__argument_unsigned(arguments, name, 1, most, &value, error);
    *side = (uint32_t)value;
    return status;
}

static ocdm_status read_size(const ocdm__arguments *arguments, uint32_t *resize, uint32_t *crop, ocdm_error *error)
{
    uint32_t size = 0, largest = OCDM__IMAGE_LARGEST_SIDE;
    ocdm_status status = read_side(arguments, "resize", largest, resize, error);
    OCDM_THEN(status, read_side(arguments, "crop", largest, crop, error));
    OCDM_THEN(status, read_side(arguments, "image-size", largest / 8 * 7, &size, error));
    return status == OCDM_OK ? ocdm__take_image_size(size, 0, resize, crop, error) : status;
}

ocdm_status ocdm__read_model_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    size_t model = 0;
    bool named = ocdm__argument_given(arguments, "model");
    ocdm_status status = named ? ocdm__argument_choice(arguments, "model", &model, error) : OCDM_OK;
    settings->model = named ? ocdm__model_names[model] : NULL;
    settings->note = ocdm__print_note;
    return status == OCDM_OK ? read_size(arguments, &settings->resize, &settings->crop, error) : status;
}

ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error)
{
    uint64_t threads, batch;
    ocdm__predictor_settings read = {.weights = ocdm__argument_text(arguments, "weights"),
                                     .image_root = ocdm__argument_text(arguments, "images")};
    if (read.weights == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--help describes it", "--weights is missing");
    ocdm_status status = ocdm__read_model_flags(arguments, &read, error);
    OCDM_THEN(status, ocdm__argument_unsigned(arguments, "threads", 1, OCDM__MAX_THREADS, &threads, error));
    OCDM_THEN(status, ocdm__argument_unsigned(arguments, "batch", 1, 65536, &batch, error));
    if (status != OCDM_OK)
        return status;
    read.threads = (unsigned)threads;
    read.batch = (size_t)batch;
    *settings = read;
    return OCDM_OK;
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
    ocdm_status status = ocdm__check_output(settings->stream, path, error);
    return status == OCDM_OK ? ocdm__check_output(settings->weights, path, error) : status;
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
