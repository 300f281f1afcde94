/* Loads and saves weights: an agent's tensors in a safetensors file. A file is checked completely before anything is
 * loaded. */
#include "agent/agent.h"

#include "agent/network.h"
#include "base/bytes.h"
#include "base/text.h"

enum { LONGEST_NAME = OCDM__PARAMETER_NAME + 16, LONGEST_SHOWN = 100 };

/* Of a parameter's value, of Adam's averages, and of averages of the value. */
static const char *const prefixes[] = {"",       "adam.m.", "adam.v.", "ema.1.", "ema.2.", "ema.3.",
                                       "ema.4.", "ema.5.",  "ema.6.",  "ema.7.", "ema.8."};
enum { OWN_ARRAYS = 3 };
_Static_assert(sizeof prefixes / sizeof *prefixes == OWN_ARRAYS + OCDM__MOST_RATES, "every average has a prefix");

/* How many of them are there when all are saved. */
static size_t arrays_of(const ocdm__network *network)
{
    return OWN_ARRAYS + network->average_count;
}

/* ---- lists of names ------------------------------------------------------------------------------------------------- */

/* Names that do not fit, as "a, b, c and 12 more". */
struct name_list {
    char text[300];
    size_t count, left_out;
};

struct match {
    struct name_list missing, unknown, misshapen;
    bool head_kept; /* the file has no head, or one with another number of classes: the network keeps its own */
    bool optimiser; /* Adam's averages are there */
};

/* A name in a file may have any length: a long one is truncated between UTF-8 characters. */
static void add_name(struct name_list *list, const char *name, size_t length)
{
    size_t shown = length <= LONGEST_SHOWN ? length : LONGEST_SHOWN;
    while (shown < length && shown > 0 && ((unsigned char)name[shown] & 0xC0) == 0x80)
        shown--;
    list->count++;
    if (list->left_out > 0 || strlen(list->text) + shown + sizeof ", ..." > sizeof list->text) {
        list->left_out++;
        return;
    }
    ocdm__append(list->text, sizeof list->text, "%s%.*s%s", list->text[0] != '\0' ? ", " : "", (int)shown, name,
                 shown < length ? "..." : "");
}

/* Adam has no averages of statistics, which are not trained. */
static bool is_saved(const struct ocdm__parameter *parameter, size_t which)
{
    return which == 0 || which >= OWN_ARRAYS || parameter->trained;
}

/* The parameter and the array of it that tensor number i of a list of so many arrays is; NULL after the last one. */
static struct ocdm__parameter *find_listed(const ocdm__network *network, size_t arrays, size_t i, size_t *which)
{
    for (*which = 0; *which < arrays; ++*which)
        for (size_t k = 0; k < network->parameter_count; k++)
            if (is_saved(&network->parameters[k], *which) && i-- == 0)
                return &network->parameters[k];
    return NULL;
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

/* The length of the prefix before the name of an average; 0 before any other. `which` is its number. */
static size_t average_prefix(const ocdm__network *network, const struct ocdm__tensor *tensor, size_t *which)
{
    for (*which = 1; *which < arrays_of(network); ++*which)
        if (ocdm__tensor_prefix(tensor, prefixes[*which]) > 0)
            return strlen(prefixes[*which]);
    return 0;
}

/* Whether the network accepts a tensor of that name; PyTorch's batch counters are ignored. */
static bool is_known(const ocdm__network *network, const struct ocdm__tensor *tensor)
{
    static const char counter[] = ".num_batches_tracked";
    size_t which = 0, end = sizeof counter - 1, prefix = average_prefix(network, tensor, &which);
    bool counts = tensor->name_length >= end && memcmp(tensor->name + tensor->name_length - end, counter, end) == 0;
    if (counts || ocdm__text_is(tensor->name, tensor->name_length, "adam.step"))
        return true;
    bool trained_only = prefix > 0 && which < OWN_ARRAYS;
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (ocdm__text_is(tensor->name + prefix, tensor->name_length - prefix, parameter->name))
            return parameter->trained || !trained_only;
    }
    return false;
}

/* ---- shapes --------------------------------------------------------------------------------------------------------- */

/* With `any_rows` the first dimension, the number of classes of a head, does not count. */
static bool has_shape(const struct ocdm__tensor *tensor, const struct ocdm__parameter *parameter, bool any_rows)
{
    if (tensor->rank != parameter->rank)
        return false;
    for (uint32_t i = any_rows ? 1 : 0; i < parameter->rank; i++)
        if (tensor->shape[i] != parameter->shape[i])
            return false;
    return true;
}

/* Whether both tensors of the head exist and agree on a number of classes that is not the network's, or neither exists. */
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

/* Notes a tensor that is missing or has another shape. */
static void match_parameter(const struct ocdm__parameter *parameter, const struct ocdm__safetensors *file, const char *prefix,
                            struct match *match)
{
    char name[LONGEST_NAME];
    const struct ocdm__tensor *tensor = ocdm__weights_find(file, prefix, parameter->name);
    size_t length = (size_t)snprintf(name, sizeof name, "%s%s", prefix, parameter->name);
    if (tensor == NULL)
        add_name(&match->missing, name, length);
    else if (!has_shape(tensor, parameter, false))
        add_name(&match->misshapen, name, length);
}

/* Compares names and shapes, not values. */
static void find_match(const ocdm__network *network, const struct ocdm__safetensors *file, struct match *match)
{
    *match = (struct match){.head_kept = head_is_another(network, file)};
    bool steps = ocdm__safetensors_find(file, "adam.step") != NULL;
    size_t which;
    match->optimiser = steps;
    for (size_t i = 0; i < file->tensor_count; i++) {
        match->optimiser = match->optimiser || average_prefix(network, &file->tensors[i], &which) > 0;
        if (!is_known(network, &file->tensors[i]))
            add_name(&match->unknown, file->tensors[i].name, file->tensors[i].name_length);
    }
    if (match->optimiser && !steps)
        add_name(&match->missing, "adam.step", strlen("adam.step"));
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (match->head_kept && ocdm__is_head(network, parameter))
            continue;
        match_parameter(parameter, file, prefixes[0], match);
        for (size_t j = 1; match->optimiser && j < arrays_of(network); j++)
            if (is_saved(parameter, j))
                match_parameter(parameter, file, prefixes[j], match);
    }
}

/* Adam's step is stored as a double, which is exact only up to here. */
#define MOST_STEPS ((uint64_t)1 << 53)

/* The arrays of a parameter in the order of the prefixes. */
static float **array_of(struct ocdm__parameter *parameter, size_t which)
{
    if (which >= OWN_ARRAYS)
        return &parameter->averages[which - OWN_ARRAYS];
    return which == 0 ? &parameter->value : which == 1 ? &parameter->mean : &parameter->square;
}

/* ---- out ------------------------------------------------------------------------------------------------------------ */

/* Names and shapes only; the bytes come one tensor at a time, see ocdm__agent_fetch. */
ocdm_status ocdm__agent_list(void *state, bool optimiser, ocdm__tensor_list *listed, ocdm_error *error)
{
    ocdm__agent *agent = state;
    size_t arrays = optimiser ? arrays_of(agent->network) : 1;
    OCDM_TRY(ocdm__agent_check(agent, error));
    const struct ocdm__parameter *parameter;
    size_t which, count = 0, largest = 0;
    for (; (parameter = find_listed(agent->network, arrays, count, &which)) != NULL; count++)
        largest = parameter->size > largest ? parameter->size : largest;
    /* The steps, room for the tensor that is fetched, and the names. */
    size_t room = 8 + largest * sizeof(float);
    ocdm__tensor_list made = {.tensors = ocdm__allocate(count + 1, sizeof *made.tensors)};
    made.memory = ocdm__allocate(room + count * LONGEST_NAME, 1);
    ocdm_status status =
        made.tensors != NULL && made.memory != NULL ? OCDM_OK : ocdm__fail_memory(error, "a copy of the weights");
    int before = ocdm__single_thread();
    if (status == OCDM_OK && optimiser)
        status = ocdm__parameters_add_adam(agent->network, error);
    ocdm__restore_threads(before);
    if (status != OCDM_OK) {
        ocdm__tensor_list_clear(&made);
        return status;
    }
    ocdm__put_u64(made.memory, agent->steps);
    if (optimiser)
        made.tensors[made.count++] = ocdm__tensor_of("adam.step", OCDM__U64, made.memory, 1);
    char *name = (char *)made.memory + room;
    for (size_t i = 0; (parameter = find_listed(agent->network, arrays, i, &which)) != NULL; i++, name += LONGEST_NAME) {
        snprintf(name, LONGEST_NAME, "%s%s", prefixes[which], parameter->name);
        struct ocdm__tensor *tensor = &made.tensors[made.count++];
        *tensor = ocdm__tensor_of(name, OCDM__F32, NULL, parameter->size);
        tensor->rank = parameter->rank;
        memcpy(tensor->shape, parameter->shape, sizeof parameter->shape);
    }
    *listed = made;
    return OCDM_OK;
}

/* A tensor at home in a layout of oneDNN is copied into plain order. Values that are not finite could not be loaded again: they
 * must not replace an older file that can. */
ocdm_status ocdm__agent_fetch(void *state, const ocdm__tensor_list *listed, size_t i, const unsigned char **data,
                              ocdm_error *error)
{
    ocdm__agent *agent = state;
    size_t which, counters = listed->tensors[0].dtype == OCDM__U64;
    *data = listed->tensors[i].data;
    if (i < counters)
        return OCDM_OK;
    struct ocdm__parameter *parameter = find_listed(agent->network, arrays_of(agent->network), i - counters, &which);
    const float *home = *array_of(parameter, which);
    float *plain = (float *)(void *)((unsigned char *)listed->memory + 8);
    ocdm_status status = OCDM_OK;
    int before = ocdm__single_thread();
    if (parameter->from_home == NULL)
        memcpy(plain, home, parameter->size * sizeof *plain);
    else
        status = ocdm__op_run(parameter->from_home, 0, home, NULL, plain);
    ocdm__restore_threads(before);
    *data = (const unsigned char *)plain;
    if (status != OCDM_OK)
        return ocdm__fail_memory(error, "a copy of the weights");
    for (size_t k = 0; k < parameter->size; k++)
        if (!isfinite(plain[k]))
            return ocdm__fail(error, OCDM_BAD_RECORD,
                              "go back to the last checkpoint; smaller inputs, a smaller learning rate or --clip may help",
                              "after step %llu tensor %s is not of finite numbers", (unsigned long long)agent->steps,
                              listed->tensors[i].name);
    return OCDM_OK;
}

/* ---- in ------------------------------------------------------------------------------------------------------------- */

/* NAN for types that are not of floating-point numbers. */
float ocdm__tensor_float(const struct ocdm__tensor *tensor, size_t i)
{
    const unsigned char *at = tensor->data + i * ocdm__dtype_size(tensor->dtype);
    uint32_t bits = 0;
    float value = NAN;
    switch (tensor->dtype) {
    case OCDM__BF16:
        bits = (uint32_t)(at[0] | at[1] << 8) << 16;
        memcpy(&value, &bits, sizeof value);
        return value;
    case OCDM__F32:
        return ocdm__get_float(at);
    case OCDM__F16:
        return ocdm__half_to_float((uint16_t)(at[0] | at[1] << 8));
    case OCDM__F64:
        return (float)ocdm__get_double(at);
    default:
        return value;
    }
}

/* Before anything is loaded: a value that cannot be trained, or whose square root is none, refuses the file. */
static ocdm_status check_values(const struct ocdm__weights *weights, const struct ocdm__parameter *parameter, size_t which,
                                ocdm_error *error)
{
    const struct ocdm__tensor *tensor = ocdm__weights_find(weights->file, prefixes[which], parameter->name);
    bool number =
        tensor->dtype == OCDM__F16 || tensor->dtype == OCDM__BF16 || tensor->dtype == OCDM__F32 || tensor->dtype == OCDM__F64;
    /* Whether a negative element is invalid because its square root is taken. */
    const char *end = strrchr(parameter->name, '.');
    bool squared = which == 2 || (!parameter->trained && end != NULL && strcmp(end, ".running_var") == 0);
    int length = (int)tensor->name_length;
    if (!number)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights are F16, BF16, F32 or F64",
                          "%s: tensor %.*s is not of floating-point numbers", weights->name, length, tensor->name);
    for (size_t i = 0; i < parameter->size; i++) {
        float value = ocdm__tensor_float(tensor, i);
        if (!isfinite(value))
            return ocdm__fail(error, OCDM_BAD_FILE, "weights that are not finite numbers cannot be trained or used",
                              "%s: tensor %.*s: element %zu is not a finite number", weights->name, length, tensor->name, i);
        if (squared && value < 0)
            return ocdm__fail(error, OCDM_BAD_FILE, "the file is damaged or of something else: use another copy",
                              "%s: tensor %.*s: element %zu, a mean of squares, is below 0", weights->name, length,
                              tensor->name, i);
    }
    return OCDM_OK;
}

enum { FAULTS = 900 };

/* What does not fit, to follow "the file"; "" if everything does. All names of one kind of fault; of the others only their
 * number and the first name. */
static void tell_faults(const struct match *match, char text[FAULTS])
{
    const struct {
        const struct name_list *list;
        const char *what;
    } faults[] = {{&match->missing, "lacks"},
                  {&match->unknown, "has tensors that the model does not know:"},
                  {&match->misshapen, "has tensors of another shape:"}};
    text[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        const struct name_list *list = faults[i].list;
        if (list->count > 0 && text[0] != '\0')
            ocdm__append(text, FAULTS, ", and %s %.*s%s", faults[i].what, (int)strcspn(list->text, ","), list->text,
                         list->count > 1 ? " and others" : "");
        else if (list->left_out > 0)
            ocdm__append(text, FAULTS, " %s %s and %zu more", faults[i].what, list->text, list->left_out);
        else if (list->count > 0)
            ocdm__append(text, FAULTS, " %s %s", faults[i].what, list->text);
    }
}

/* Steps first, then names and shapes, then values: the cheap checks before those that read every number. */
static ocdm_status check_all(const ocdm__network *network, const struct ocdm__weights *weights, const struct match *match,
                             ocdm_error *error)
{
    const struct ocdm__tensor *steps = ocdm__safetensors_find(weights->file, "adam.step");
    const struct ocdm__parameter *parameter;
    size_t arrays = match->optimiser ? arrays_of(network) : 1, which;
    char faults[FAULTS];
    if (steps != NULL && (steps->dtype != OCDM__U64 || steps->size != 8 || ocdm__get_u64(steps->data) > MOST_STEPS))
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: tensor adam.step is not one U64 of at most 2^53", weights->name);
    tell_faults(match, faults);
    if (faults[0] != '\0')
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm weights info FILE` lists its tensors and the model that they fit",
                          "%s: the file%s", weights->name, faults);
    for (size_t i = 0; (parameter = find_listed(network, arrays, i, &which)) != NULL; i++)
        if (!match->head_kept || !ocdm__is_head(network, parameter))
            OCDM_TRY(check_values(weights, parameter, which, error));
    return OCDM_OK;
}

/* For the networks of others: a head of another size is no use to them. */
ocdm_status ocdm__weights_check(const ocdm__network *network, const struct ocdm__weights *weights, ocdm_error *error)
{
    struct match match;
    find_match(network, weights->file, &match);
    OCDM_TRY(check_all(network, weights, &match, error));
    if (match.head_kept)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: the head is not one for these classes", weights->name);
    return OCDM_OK;
}

/* Checks everything, then loads the arrays that the file has, through `plain` where a parameter is at home in another layout; a
 * head with another number of classes is kept, and its averages begin as it is. Only a copy of oneDNN can fail in between, and
 * breaks the agent. */
ocdm_status ocdm__agent_load(void *state, const struct ocdm__weights *weights, ocdm_error *error)
{
    ocdm__agent *agent = state;
    ocdm__network *network = agent->network;
    struct ocdm__parameter *parameter;
    struct match match;
    OCDM_TRY(ocdm__agent_check(agent, error));
    ocdm__parameters_use(network, 0);
    find_match(network, weights->file, &match);
    OCDM_TRY(check_all(network, weights, &match, error));
    if (match.optimiser)
        OCDM_TRY(ocdm__parameters_add_adam(network, error));
    size_t largest = 1, arrays = match.optimiser ? arrays_of(network) : 1, which;
    for (size_t i = 0; i < network->parameter_count; i++)
        largest = network->parameters[i].size > largest ? network->parameters[i].size : largest;
    float *plain;
    OCDM_TRY(ocdm__new(&plain, largest, sizeof *plain, "a copy of a tensor", error));
    ocdm_status status = OCDM_OK;
    int before = ocdm__single_thread();
    for (size_t i = 0; status == OCDM_OK && (parameter = find_listed(network, arrays, i, &which)) != NULL; i++) {
        float *home = *array_of(parameter, which), *target = parameter->to_home != NULL ? plain : home;
        if (match.head_kept && ocdm__is_head(network, parameter)) {
            if (which >= OWN_ARRAYS)
                memcpy(home, parameter->value, parameter->room * sizeof *home);
            continue;
        }
        const struct ocdm__tensor *tensor = ocdm__weights_find(weights->file, prefixes[which], parameter->name);
        for (size_t k = 0; k < parameter->size; k++)
            target[k] = ocdm__tensor_float(tensor, k);
        if (parameter->to_home != NULL)
            status = ocdm__op_run(parameter->to_home, 0, plain, NULL, home);
    }
    const struct ocdm__tensor *steps = ocdm__safetensors_find(weights->file, "adam.step");
    if (steps != NULL)
        agent->steps = ocdm__get_u64(steps->data);
    network->stale = true;
    agent->broken = agent->broken || status != OCDM_OK;
    ocdm__restore_threads(before);
    ocdm__release(plain);
    return status == OCDM_OK ? OCDM_OK : ocdm__fail_memory(error, "a copy of the weights");
}

/* ---- what fits ------------------------------------------------------------------------------------------------------ */

static uint32_t dimension(const struct ocdm__safetensors *file, const char *name, uint32_t axis)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(file, name);
    return tensor != NULL && tensor->rank > axis && tensor->shape[axis] <= INT32_MAX ? (uint32_t)tensor->shape[axis] : 0;
}

/* The model that has most in common with the file, so far. */
struct nearest {
    const char *model;
    double share; /* of the tensors of either that fit */
    struct match match;
};

/* How well the file fits a model, by an outline of it that has no weights and as many averages as the file. */
static ocdm_status try_model(const struct ocdm__safetensors *file, const struct ocdm__model_size *size, bool *fits,
                             struct nearest *nearest, ocdm_error *error)
{
    ocdm__network *outline = NULL;
    OCDM_TRY(ocdm__network_outline(size, &outline, error));
    struct match match;
    for (size_t i = 0; i < file->tensor_count; i++)
        for (uint32_t k = outline->average_count; k < OCDM__MOST_RATES; k++)
            if (ocdm__tensor_prefix(&file->tensors[i], prefixes[OWN_ARRAYS + k]) > 0)
                outline->average_count = k + 1;
    find_match(outline, file, &match);
    *fits = match.missing.count + match.unknown.count + match.misshapen.count == 0;
    double count = (double)outline->parameter_count, faults = (double)(match.missing.count + match.misshapen.count);
    double share = (count - faults) / (count + (double)match.unknown.count);
    if (share > nearest->share)
        *nearest = (struct nearest){size->name, share, match};
    ocdm__network_destroy(outline);
    return OCDM_OK;
}

/* Tensors that tell networks of other kinds, which users may try. */
static const struct {
    const char *tensor, *family;
} families[] = {
    {"conv_stem.weight", "timm's MobileNet or EfficientNet"},
    {"conv1.0.weight", "timm's ResNet-D, which begins with three convolutions"},
    {"patch_embed.proj.weight", "a vision transformer of timm"},
    {"conv_proj.weight", "a vision transformer of torchvision"},
    {"stem.0.weight", "timm's ConvNeXt"},
    {"features.conv0.weight", "torchvision's DenseNet"},
    {"features.0.0.weight", "torchvision's MobileNet, EfficientNet or ConvNeXt"},
    {"features.0.weight", "torchvision's VGG or AlexNet"},
};

/* What the file would make of a model; false for one that it has no input of. A mobilenet1 may be cut off after any block: its
 * last one is the last that has weights. */
static bool size_by_file(const struct ocdm__safetensors *file, uint32_t classes, struct ocdm__model_size *size)
{
    bool mlp = strcmp(size->name, "mlp") == 0, linear = strcmp(size->name, "linear") == 0;
    size->class_count = classes ? classes : 1;
    size->features = linear ? dimension(file, "fc.weight", 1) : mlp ? dimension(file, "hidden.weight", 1) : 0;
    size->hidden = mlp ? dimension(file, "hidden.weight", 0) : 0;
    for (uint32_t i = 1; i <= 13 && strcmp(size->name, "mobilenet1") == 0; i++) {
        char name[40];
        snprintf(name, sizeof name, "conv_pw_%u.weight", i);
        size->blocks = ocdm__safetensors_find(file, name) != NULL ? i : size->blocks;
    }
    return size->features > 0 || !(mlp || linear);
}

/* The first model that fits. Of a file that fits none, the nearest is named, since a user meant one of them. */
ocdm_status ocdm__weights_fit(const struct ocdm__safetensors *file, struct ocdm__weights_fit *fit, ocdm_error *error)
{
    struct nearest nearest = {.model = NULL};
    *fit = (struct ocdm__weights_fit){.class_count = dimension(file, "fc.weight", 0),
                                      .optimiser = ocdm__safetensors_find(file, "adam.step") != NULL};
    for (size_t i = 0; ocdm__model_names[i] != NULL && fit->model == NULL; i++) {
        struct ocdm__model_size size = {.name = ocdm__model_names[i], .height = 224, .width = 224};
        bool fits = false;
        if (size_by_file(file, fit->class_count, &size))
            OCDM_TRY(try_model(file, &size, &fits, &nearest, error));
        if (!fits)
            continue;
        fit->model = size.name;
        fit->features = size.features;
        fit->hidden = size.hidden;
        fit->blocks = size.blocks;
    }
    for (size_t i = 0; fit->model == NULL && i < sizeof families / sizeof *families; i++)
        if (fit->reason[0] == '\0' && ocdm__safetensors_find(file, families[i].tensor) != NULL)
            snprintf(fit->reason, sizeof fit->reason, "those of no model here but of %s (%s)", families[i].family,
                     families[i].tensor);
    if (fit->model != NULL || fit->reason[0] != '\0')
        return OCDM_OK;
    char faults[FAULTS];
    tell_faults(&nearest.match, faults);
    if (nearest.share < 0.5)
        snprintf(fit->reason, sizeof fit->reason, "those of no model");
    else
        snprintf(fit->reason, sizeof fit->reason, "nearly those of %s, but the file%.300s", nearest.model, faults);
    return OCDM_OK;
}
