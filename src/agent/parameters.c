/* The parameters of a network: their names and shapes, which follow from the model, their memory, and their initial values. */
#define _XOPEN_SOURCE 700

#include "agent/network.h"

#include "base/random.h"

enum { PARAMETERS_OF_A_LAYER = 5 };

/* ---- the list ------------------------------------------------------------------------------------------------------- */

/* Names are those of PyTorch's state dicts, so that files go both ways. */
static uint32_t append(ocdm__network *network, const char *name, const char *what, struct ocdm__parameter parameter)
{
    snprintf(parameter.name, sizeof parameter.name, "%s.%s", name, what);
    parameter.size = 1;
    for (uint32_t i = 0; i < parameter.rank; i++)
        parameter.size *= (size_t)parameter.shape[i];
    parameter.room = parameter.size;
    if (parameter.trained) {
        parameter.first = network->trained_count;
        network->trained_count += parameter.size;
    }
    network->parameters[network->parameter_count] = parameter;
    return (uint32_t)network->parameter_count++;
}

static uint32_t append_vector(ocdm__network *network, const char *name, const char *what, uint64_t size, float start)
{
    bool trained = what[0] != 'r'; /* running_mean, running_var */
    return append(network, name, what,
                  (struct ocdm__parameter){.rank = 1, .shape = {size}, .start = start, .trained = trained});
}

/* In the order of the nodes, which is that of the files. Weight, gain and bias are trained; a norm's mean and variance are
 * statistics. */
ocdm_status ocdm__parameters_list(ocdm__network *network, ocdm_error *error)
{
    OCDM_TRY(ocdm__new(&network->parameters, PARAMETERS_OF_A_LAYER * network->model.count, sizeof *network->parameters,
                       "the list of parameters", error));
    for (size_t i = 0; i < network->model.count; i++) {
        struct ocdm__layer *layer = &network->layers[i];
        const struct ocdm__node *node = layer->node;
        bool conv = node->kind == OCDM__NODE_CONV, head = i + 1 == network->model.count;
        /* Kaiming's normal distribution for ReLU with fan out, as in torchvision. */
        double fan = (double)node->channels * (conv ? node->kernel * node->kernel : 1);
        struct ocdm__parameter weight = {
            .rank = conv ? 4 : 2,
            .shape = {node->channels, node->depthwise ? 1 : node->in_channels, node->kernel, node->kernel},
            .deviation = head ? 0.01 : sqrt(2.0 / fan),
            .trained = true};
        if (!conv && node->kind != OCDM__NODE_LINEAR)
            continue;
        layer->weight = append(network, node->name, "weight", weight);
        if (conv)
            layer->gain = append_vector(network, node->norm, "weight", node->channels, 1);
        layer->bias = append_vector(network, conv ? node->norm : node->name, "bias", node->channels, 0);
        if (!conv)
            continue;
        layer->mean = append_vector(network, node->norm, "running_mean", node->channels, 0);
        layer->variance = append_vector(network, node->norm, "running_var", node->channels, 1);
    }
    return OCDM_OK;
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

/* An array of a parameter: its part of the pool's, or one of its own. NULL: no memory. */
static float *array_for(const ocdm__network *network, const struct ocdm__parameter *parameter, float **pool)
{
    if (!parameter->pooled)
        return ocdm__allocate_aligned(parameter->room, sizeof **pool);
    if (*pool == NULL)
        *pool = ocdm__allocate_aligned(network->pool.size, sizeof **pool);
    return *pool != NULL ? *pool + parameter->place : NULL;
}

/* The weights of convolutions are in one block in the order of the backward pass, since buckets are ranges of it. All else is
 * small and stands alone. */
ocdm_status ocdm__parameters_allocate(ocdm__network *network, ocdm_error *error)
{
    for (uint32_t k = network->image_layers; k-- > 0;) {
        if (network->layers[k].node->kind != OCDM__NODE_CONV)
            continue;
        struct ocdm__parameter *weight = &network->parameters[network->layers[k].weight];
        weight->pooled = true;
        weight->place = network->pool.size;
        network->pool.size += ocdm__rounded_floats(weight->room);
    }
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        parameter->value = array_for(network, parameter, &network->pool.value);
        if (parameter->value == NULL)
            return ocdm__fail_memory(error, parameter->name);
    }
    return OCDM_OK;
}

/* When training begins: a network that only predicts has no averages. */
ocdm_status ocdm__parameters_add_adam(ocdm__network *network, ocdm_error *error)
{
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        if (!parameter->trained)
            continue;
        if (parameter->mean == NULL)
            parameter->mean = array_for(network, parameter, &network->pool.mean);
        if (parameter->square == NULL)
            parameter->square = array_for(network, parameter, &network->pool.square);
        if (parameter->mean == NULL || parameter->square == NULL)
            return ocdm__fail_memory(error, "Adam's averages");
    }
    for (size_t i = 0; i < network->parameter_count; i++)
        for (uint32_t k = 0; k < network->average_count; k++) {
            struct ocdm__parameter *parameter = &network->parameters[i];
            if (parameter->averages[k] == NULL)
                parameter->averages[k] = ocdm__allocate_aligned(parameter->room, sizeof *parameter->value);
            if (parameter->averages[k] == NULL)
                return ocdm__fail_memory(error, "averages of the weights");
        }
    return OCDM_OK;
}

/* Pooled arrays go with their pool. */
void ocdm__parameters_release(ocdm__network *network)
{
    ocdm__parameters_use(network, 0); /* values are in the pool again */
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        if (!parameter->pooled) {
            ocdm__release_aligned(parameter->value);
            ocdm__release_aligned(parameter->mean);
            ocdm__release_aligned(parameter->square);
        }
        for (uint32_t k = 0; k < OCDM__MOST_RATES; k++)
            ocdm__release_aligned(parameter->averages[k]);
        ocdm__op_destroy(parameter->to_home);
        ocdm__op_destroy(parameter->from_home);
        ocdm__layout_destroy(parameter->plain);
        ocdm__layout_destroy(parameter->home);
    }
    ocdm__release_aligned(network->pool.value);
    ocdm__release_aligned(network->pool.mean);
    ocdm__release_aligned(network->pool.square);
    ocdm__release(network->parameters);
    network->parameters = NULL;
    network->parameter_count = 0;
}

/* ---- averages ------------------------------------------------------------------------------------------------------- */

struct averaging {
    ocdm__network *network;
    const ocdm__network_settings *settings;
    uint64_t step;
    const float *ages; /* of the classes; NULL: all weights are averaged since the first step */
};

/* Weights that are read once for all averages. */
enum { PIECE = 1 << 12 };

/* The head has a row of weights and a bias for each class. An average begins as the mean of all steps since its weights have
 * begun, `age` steps ago, but for the first ones of the stream. */
static void average_one(void *context, size_t item, unsigned slot)
{
    (void)slot;
    const struct averaging *averaging = context;
    const struct ocdm__parameter *parameter = &averaging->network->parameters[item];
    double step = (double)averaging->step;
    bool by_class = averaging->ages != NULL && ocdm__is_head(averaging->network, parameter);
    size_t rows = by_class ? parameter->shape[0] : 1, width = parameter->room / rows;
    for (size_t i = 0; i < rows; i++) {
        double age = by_class && averaging->ages[i] > 0 ? (double)averaging->ages[i] : step;
        double averaged = fmax(fmin(age, step - averaging->settings->average_delay), 1);
        size_t end = (i + 1) * width;
        for (size_t at = i * width; at < end; at += PIECE)
            for (uint32_t k = 0; k < averaging->network->average_count; k++) {
                double rate = fmin(averaging->settings->averages.values[k], 1 - 1 / averaged);
                ocdm__kernels_for(false)->blend(parameter->averages[k] + at, parameter->value + at, (float)rate,
                                                (float)(1 - rate), end - at < PIECE ? end - at : PIECE);
            }
    }
}

void ocdm__parameters_average(ocdm__network *network, const ocdm__network_settings *settings, uint64_t step, const float *ages)
{
    struct averaging averaging = {network, settings, step, ages};
    const struct ocdm__work work = {average_one, &averaging, network->parameter_count};
    ocdm__team_run(network->team, &work, 1);
}

/* Pointers are exchanged, not numbers: both versions stay where they are. */
static void exchange(ocdm__network *network, uint32_t average)
{
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        float *value = parameter->value;
        parameter->value = parameter->averages[average];
        parameter->averages[average] = value;
    }
}

/* Back to the trained weights first, so that any version can follow any other. */
void ocdm__parameters_use(ocdm__network *network, uint32_t version)
{
    if (version == network->version)
        return;
    if (network->version > 0)
        exchange(network, network->version - 1);
    if (version > 0)
        exchange(network, version - 1);
    network->version = version;
    network->stale = true;
}

/* ---- first values --------------------------------------------------------------------------------------------------- */

/* Box-Muller produces pairs; the pair of an element follows from its position, so any thread can draw any parameter. */
static void draw_plain(const struct ocdm__parameter *parameter, uint64_t seed, float *plain)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_WEIGHTS);
    for (size_t i = 0; i < parameter->size; i++) {
        uint64_t index = parameter->first + i;
        plain[i] = parameter->start;
        if (!(parameter->deviation > 0))
            continue;
        double first = (double)(ocdm__random_at(base, index | 1) >> 11) * 0x1p-53;
        double second = (double)(ocdm__random_at(base, index & ~(uint64_t)1) >> 11) * 0x1p-53;
        double radius = sqrt(-2.0 * log(1.0 - first)), angle = 2.0 * 3.14159265358979323846 * second;
        plain[i] = (float)(parameter->deviation * (radius * (index % 2 ? sin(angle) : cos(angle))));
    }
}

struct drawing {
    ocdm__network *network;
    uint64_t seed;
};

/* Each parameter has random numbers of its own, whatever thread draws it. */
static void draw_one(void *context, size_t item, unsigned slot)
{
    const struct drawing *drawing = context;
    struct ocdm__parameter *parameter = &drawing->network->parameters[item];
    if (parameter->to_home == NULL) {
        draw_plain(parameter, drawing->seed, parameter->value);
        return;
    }
    float *plain = ocdm__allocate(parameter->size, sizeof *plain);
    if (plain != NULL)
        draw_plain(parameter, drawing->seed, plain);
    if (plain == NULL || ocdm__op_run(parameter->to_home, slot, plain, NULL, parameter->value) != OCDM_OK)
        atomic_store(&drawing->network->failed, true);
    ocdm__release(plain);
}

void ocdm__parameters_draw(ocdm__network *network, uint64_t seed)
{
    struct drawing drawing = {network, seed};
    struct ocdm__work work = {draw_one, &drawing, network->parameter_count};
    ocdm__team_run(network->team, &work, 1);
    network->stale = true;
}
