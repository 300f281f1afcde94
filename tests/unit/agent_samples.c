/* Inputs and comparisons for tests of the agent. */
#include "../test.h"
#include "../agent_state.h"
#include "agent_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

float *wave(size_t count, double seed)
{
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sin(0.37 * (double)i + seed);
    return values;
}

double apart(const float *got, size_t step, const double *want, size_t count)
{
    double largest = 1e-30, difference = 0;
    for (size_t i = 0; i < count; i++) {
        double away = fabs((double)got[i * step] - want[i]);
        largest = fmax(largest, fabs(want[i]));
        difference = away > difference || away != away ? away : difference;
    }
    return difference / largest;
}

struct made_batch batch_for(const ocdm__agent_settings *settings, size_t count, uint64_t seed)
{
    bool images = ocdm__model_takes_images(settings->size.name);
    size_t width = images ? (size_t)3 * settings->size.height * settings->size.width : settings->size.features;
    struct made_batch made = {.input = malloc(count * width * sizeof(float))};
    made.starts = malloc((count + 1) * sizeof *made.starts);
    made.labels = malloc(3 * count * sizeof *made.labels);
    assert_true(made.input && made.starts && made.labels);
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 0);
    for (size_t i = 0; i < count * width; i++)
        made.input[i] = (float)(2 * ocdm__random_unit(&random) - 1);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        made.starts[i] = used;
        for (size_t labels = ocdm__random_below(&random, 4); labels > 0; labels--)
            made.labels[used++] = (uint32_t)ocdm__random_below(&random, settings->size.class_count);
    }
    made.starts[count] = used;
    made.batch =
        (ocdm__batch){.input = made.input, .starts = made.starts, .labels = made.labels, .count = count, .fresh = count / 2};
    return made;
}

void batch_free(struct made_batch *made)
{
    free(made->input);
    free(made->starts);
    free(made->labels);
}

ocdm__agent_settings settings_for(const char *model, uint32_t size, uint32_t classes, unsigned threads)
{
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    settings.size.name = model;
    settings.size.height = settings.size.width = settings.size.features = size;
    settings.size.class_count = classes;
    settings.network.threads = threads;
    settings.network.learning_rate = 1e-3;
    settings.network.seed = 7;
    return settings;
}

ocdm__agent_settings rich_settings_for(const char *model, uint32_t size, uint32_t classes, unsigned threads)
{
    ocdm__agent_settings settings = settings_for(model, size, classes, threads);
    settings.network.loss = (ocdm__loss_rule){.negatives = 0.25, .focal = 1};
    settings.network.averages = (ocdm__rates){.values = {0.5, 0.99}, .count = 2};
    return settings;
}

ocdm__agent *agent_with(const ocdm__agent_settings *settings)
{
    ocdm__agent *agent = NULL;
    ocdm_error error = {0};
    if (ocdm__agent_create(settings, NULL, &agent, &error) != OCDM_OK)
        fail_msg("create: %s", error.message);
    return agent;
}

void train_steps(ocdm__agent *agent, const ocdm__agent_settings *settings, size_t steps, uint64_t first)
{
    static const size_t sizes[] = {8, 5, 3, 2};
    for (size_t i = 0; i < steps; i++) {
        struct made_batch made = batch_for(settings, sizes[(first + i) % 4], first + i);
        ocdm_error error = {0};
        if (agent_train(agent, &made.batch, NULL, &error) != OCDM_OK)
            fail_msg("train: %s", error.message);
        batch_free(&made);
    }
}

void same_agents(ocdm__agent *a, ocdm__agent *b, const char *where)
{
    ocdm__tensor_list first, second;
    HOLDS(where, agent_save(a, true, &first, NULL) == OCDM_OK);
    HOLDS(where, agent_save(b, true, &second, NULL) == OCDM_OK);
    HOLDS(where, first.count == second.count);
    for (size_t i = 0; i < first.count; i++) {
        HOLDS(where, first.tensors[i].size == second.tensors[i].size);
        HOLDS(first.tensors[i].name, !memcmp(first.tensors[i].data, second.tensors[i].data, first.tensors[i].size));
    }
    ocdm__tensor_list_clear(&first);
    ocdm__tensor_list_clear(&second);
}
