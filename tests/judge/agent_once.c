/*
 * One batch through an agent, for tests/judge-agent: logits, loss and all gradients of a training step before it is taken.
 *
 *     agent_once MODEL CLASSES PIXELS f32|bf16 THREADS WEIGHTS BATCH OUT
 *
 * BATCH has the tensors input (f32), starts (u64) and labels (u32); OUT gets logits, loss, features (of evaluation mode) and
 * the gradients, grad.NAME, in plain order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/network.h"
#include "base/input.h"
#include "base/output.h"

static void stop(const char *what, const ocdm_error *error)
{
    fprintf(stderr, "agent_once: %s: %s\n", what, error != NULL ? error->message : "");
    exit(1);
}

static void read_file(const char *path, struct ocdm__safetensors *file)
{
    ocdm_error error = {0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0)
        stop(path, NULL);
    size_t size = (size_t)ftell(stream);
    rewind(stream);
    unsigned char *bytes = aligned_alloc(64, (size + 127) / 64 * 64);
    if (bytes == NULL || fread(bytes, 1, size, stream) != size)
        stop(path, NULL);
    fclose(stream);
    if (ocdm__safetensors_read(file, path, bytes, size, &error) != OCDM_OK)
        stop(path, &error);
}

static void *copied(const struct ocdm__safetensors *file, const char *name, size_t *count, size_t size)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(file, name);
    void *copy = tensor != NULL ? aligned_alloc(64, (tensor->size + 127) / 64 * 64) : NULL;
    if (copy == NULL)
        stop(name, NULL);
    memcpy(copy, tensor->data, tensor->size);
    *count = tensor->size / size;
    return copy;
}

static void write_results(const ocdm__agent *agent, size_t count, const double *loss, const float *features,
                          const float *gradient, const char *path)
{
    const ocdm__network *network = agent->network;
    struct ocdm__tensor *tensors = calloc(network->parameter_count + 3, sizeof *tensors);
    char(*names)[80] = calloc(network->parameter_count, sizeof *names);
    size_t used = 0;
    tensors[used++] = ocdm__tensor_of("loss", OCDM__F64, loss, 1);
    tensors[used++] = ocdm__tensor_of("logits", OCDM__F32, agent->asked.logits, count * agent->class_count);
    tensors[used++] = ocdm__tensor_of("features", OCDM__F32, features, count * ocdm__agent_feature_width(agent));
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (!parameter->trained)
            continue;
        snprintf(names[i], sizeof names[i], "grad.%s", parameter->name);
        tensors[used++] = ocdm__tensor_of(names[i], OCDM__F32, gradient + parameter->first, parameter->size);
    }
    ocdm__output output;
    ocdm_error error = {0};
    if (ocdm__output_open(&output, path, &error) != OCDM_OK ||
        ocdm__safetensors_write(&output, NULL, 0, tensors, used, &error) != OCDM_OK ||
        ocdm__output_commit(&output, &error) != OCDM_OK)
        stop(path, &error);
    free(tensors);
    free(names);
}

int main(int argc, char **argv)
{
    if (argc != 9)
        stop("eight arguments", NULL);
    ocdm_error error = {0};
    struct ocdm__safetensors weights, batch_file;
    read_file(argv[6], &weights);
    read_file(argv[7], &batch_file);
    size_t floats, starts, labels;
    float *input = copied(&batch_file, "input", &floats, sizeof *input);
    size_t *start = copied(&batch_file, "starts", &starts, sizeof *start);
    uint32_t *label = copied(&batch_file, "labels", &labels, sizeof *label);
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    settings.size.name = argv[1];
    settings.size.class_count = (uint32_t)atoi(argv[2]);
    settings.size.height = settings.size.width = settings.size.features = (uint32_t)atoi(argv[3]);
    settings.network.precision = strcmp(argv[4], "bf16") == 0 ? OCDM__PRECISION_BF16 : OCDM__PRECISION_F32;
    settings.network.threads = (unsigned)atoi(argv[5]);
    ocdm__agent *agent = NULL;
    struct ocdm__weights from = {argv[6], &weights};
    if (ocdm__agent_create(&settings, &from, &agent, &error) != OCDM_OK)
        stop("create", &error);
    ocdm__batch batch = {.input = input, .starts = start, .labels = label, .count = starts - 1};
    float *features = calloc(batch.count * ocdm__agent_feature_width(agent), sizeof *features);
    float *gradient = calloc(ocdm__agent_gradient_size(agent), sizeof *gradient);
    double loss = 0;
    if (ocdm__agent_features(agent, input, batch.count, features, &error) != OCDM_OK)
        stop("features", &error);
    if (ocdm__agent_batch_gradient(agent, &batch, gradient, &loss, &error) != OCDM_OK)
        stop("gradient", &error);
    write_results(agent, batch.count, &loss, features, gradient, argv[8]);
    return 0;
}
