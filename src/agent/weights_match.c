/* Names and shapes of a weights file against those of a network. Values are agent_weights.c's. */
#define _POSIX_C_SOURCE 200809L

#include "agent/weights_match.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = OCDM__PARAMETER_NAME + 16, LONGEST_SHOWN = 100 };

static const char *const averages[] = {"adam.m.", "adam.v."};

/* ---- lists of names ------------------------------------------------------------------------------------------------- */

/* A name of a file may have any length: a long one is cut, between two characters of UTF-8. */
static void add_name(struct ocdm__name_list *list, const char *name, size_t length)
{
    size_t shown = length <= LONGEST_SHOWN ? length : LONGEST_SHOWN;
    while (shown < length && shown > 0 && ((unsigned char)name[shown] & 0xC0) == 0x80)
        shown--;
    list->count++;
    if (list->left_out > 0 || list->used + shown + sizeof ", ..." > sizeof list->text) {
        list->left_out++;
        return;
    }
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s%.*s%s", list->used ? ", " : "",
                                   (int)shown, name, shown < length ? "..." : "");
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

const struct ocdm__tensor *ocdm__weights_find(const struct ocdm__safetensors *file, const char *prefix, const char *name)
{
    char full[LONGEST_NAME];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return ocdm__safetensors_find(file, full);
}

bool ocdm__is_head(const ocdm__network *network, const struct ocdm__parameter *parameter)
{
    return parameter >= network->parameters + network->parameter_count - 2;
}

static bool ends_with(const struct ocdm__tensor *tensor, const char *end)
{
    size_t length = strlen(end);
    return tensor->name_length >= length && memcmp(tensor->name + tensor->name_length - length, end, length) == 0;
}

static bool names_parameter(const ocdm__network *network, const char *name, size_t length, bool trained_only)
{
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (strlen(parameter->name) == length && memcmp(parameter->name, name, length) == 0)
            return parameter->trained || !trained_only;
    }
    return false;
}

/* The length of "adam.m." or "adam.v." before the name of one of Adam's averages; 0 before any other. */
static size_t average_prefix(const struct ocdm__tensor *tensor)
{
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(averages[i]);
        if (tensor->name_length > length && memcmp(tensor->name, averages[i], length) == 0)
            return length;
    }
    return 0;
}

/* Whether the network has use for a tensor of that name; what PyTorch counts and nobody reads is let pass. */
static bool is_known(const ocdm__network *network, const struct ocdm__tensor *tensor)
{
    if (ends_with(tensor, ".num_batches_tracked") || (tensor->name_length == 9 && memcmp(tensor->name, "adam.step", 9) == 0))
        return true;
    size_t prefix = average_prefix(tensor);
    return names_parameter(network, tensor->name + prefix, tensor->name_length - prefix, prefix > 0);
}

/* ---- shapes --------------------------------------------------------------------------------------------------------- */

static bool has_shape(const struct ocdm__tensor *tensor, const struct ocdm__parameter *parameter, bool any_rows)
{
    if (tensor->rank != parameter->rank)
        return false;
    for (uint32_t i = any_rows ? 1 : 0; i < parameter->rank; i++)
        if (tensor->shape[i] != parameter->shape[i])
            return false;
    return true;
}

/* Whether both tensors of the head are there and agree on a number of classes that is not the network's, or neither is there.
 */
static bool head_is_another(const ocdm__network *network, const struct ocdm__safetensors *file)
{
    const struct ocdm__parameter *head = network->parameters + network->parameter_count - 2;
    const struct ocdm__tensor *weight = ocdm__weights_find(file, "", head[0].name);
    const struct ocdm__tensor *bias = ocdm__weights_find(file, "", head[1].name);
    if (weight == NULL || bias == NULL)
        return weight == NULL && bias == NULL;
    return has_shape(weight, &head[0], true) && has_shape(bias, &head[1], true) && weight->shape[0] == bias->shape[0] &&
           weight->shape[0] != head[0].shape[0];
}

static void match_parameter(const struct ocdm__parameter *parameter, const struct ocdm__safetensors *file, const char *prefix,
                            struct ocdm__weights_match *match)
{
    char name[LONGEST_NAME];
    const struct ocdm__tensor *tensor = ocdm__weights_find(file, prefix, parameter->name);
    size_t length = (size_t)snprintf(name, sizeof name, "%s%s", prefix, parameter->name);
    if (tensor == NULL)
        add_name(&match->missing, name, length);
    else if (!has_shape(tensor, parameter, false))
        add_name(&match->misshapen, name, length);
}

void ocdm__weights_match(const ocdm__network *network, const struct ocdm__safetensors *file, struct ocdm__weights_match *match)
{
    *match = (struct ocdm__weights_match){.head_kept = head_is_another(network, file)};
    bool steps = ocdm__safetensors_find(file, "adam.step") != NULL;
    match->optimiser = steps;
    for (size_t i = 0; i < file->tensor_count; i++) {
        match->optimiser = match->optimiser || average_prefix(&file->tensors[i]) > 0;
        if (!is_known(network, &file->tensors[i]))
            add_name(&match->unknown, file->tensors[i].name, file->tensors[i].name_length);
    }
    if (match->optimiser && !steps)
        add_name(&match->missing, "adam.step", strlen("adam.step"));
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (match->head_kept && ocdm__is_head(network, parameter))
            continue;
        match_parameter(parameter, file, "", match);
        for (size_t j = 0; match->optimiser && parameter->trained && j < 2; j++)
            match_parameter(parameter, file, averages[j], match);
    }
}

bool ocdm__weights_fit_all(const struct ocdm__weights_match *match)
{
    return match->missing.count + match->unknown.count + match->misshapen.count == 0;
}
