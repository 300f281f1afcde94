/* Opening weights, and counting them. Which model they fit is the agent's to say. */
#include "experiment/predict_weights.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "agent/agent.h"
#include "base/error.h"

/* A zip archive or a bare pickle. The length of a safetensors header may start with any bytes, but after its eight comes the
 * header's brace. */
static bool is_pickle(const ocdm__mapped_file *file)
{
    const unsigned char *bytes = file->bytes;
    if (file->size < 4 || (file->size > 8 && bytes[8] == '{'))
        return false;
    return memcmp(bytes, "PK\x03\x04", 4) == 0 || (bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5);
}

ocdm_status ocdm__weights_open(ocdm__weights_file *weights, const char *path, ocdm_error *error)
{
    ocdm_status status = ocdm__map_file(&weights->map, path, error);
    if (status != OCDM_OK)
        return status;
    if (is_pickle(&weights->map))
        status = ocdm__fail(error, OCDM_BAD_FILE,
                            "convert it once, in Python: safetensors.torch.save_file(torch.load(FILE, weights_only=True), "
                            "\"W.safetensors\")",
                            "%s: a pickled file (.pt, .pth), which could run anything when it is read", path);
    else
        status = ocdm__safetensors_read(&weights->tensors, path, weights->map.bytes, weights->map.size, error);
    if (status != OCDM_OK)
        ocdm__weights_close(weights);
    return status;
}

void ocdm__weights_close(ocdm__weights_file *weights)
{
    ocdm__safetensors_close(&weights->tensors);
    ocdm__unmap_file(&weights->map);
    *weights = (ocdm__weights_file){.map = {.bytes = NULL}};
}

ocdm_status ocdm__weights_check_head(const char *path, const struct ocdm__weights_fit *fit, size_t classes, ocdm_error *error)
{
    if (fit->class_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream featurize` needs no head; predicting does",
                          "%s: the weights have no head, so they cannot predict", path);
    if (fit->class_count != classes)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights can predict the classes that they were trained with",
                          "%s: the head of the weights has %" PRIu32 " classes, the stream has %zu", path, fit->class_count,
                          classes);
    return OCDM_OK;
}

static bool ends_with(const struct ocdm__tensor *tensor, const char *end)
{
    size_t length = strlen(end);
    return tensor->name_length >= length && memcmp(tensor->name + tensor->name_length - length, end, length) == 0;
}

static bool is_parameter(const struct ocdm__tensor *tensor)
{
    static const char *const others[] = {".running_mean", ".running_var", ".num_batches_tracked"};
    if (tensor->name_length >= 5 && memcmp(tensor->name, "adam.", 5) == 0)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ends_with(tensor, others[i]))
            return false;
    return true;
}

uint64_t ocdm__weights_parameters(const struct ocdm__safetensors *file)
{
    uint64_t count = 0;
    for (size_t i = 0; i < file->tensor_count; i++)
        if (is_parameter(&file->tensors[i]))
            count += file->tensors[i].size / ocdm__dtype_size(file->tensors[i].dtype);
    return count;
}
