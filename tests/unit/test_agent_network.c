/* Whole networks: against PyTorch in f64, against differences, and against themselves with other numbers of threads. */
#include "../test.h"
#include "../agent_state.h"
#include "agent_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/resnet18.inc"
#include "agent/network.h"
#include "base/random.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- resnet18 --------------------------------------------------------------------------------------------------------- */

enum { BATCH = 8, CLASSES = 10, SIDE = 64, PLANE = SIDE * SIDE };

/* The batch of tests/make-golden: numbers from -1 to 1. */
static struct made_batch golden_batch(void)
{
    struct made_batch made = {.input = malloc(sizeof(float) * BATCH * 3 * PLANE)};
    uint64_t base = ocdm__random_base(3, OCDM__FOR_BENCH);
    for (size_t i = 0; i < (size_t)BATCH * 3 * PLANE; i++)
        made.input[i] = (float)((double)(ocdm__random_at(base, i) >> 11) * 0x1p-53 * 2 - 1);
    made.starts = calloc(BATCH + 1, sizeof *made.starts);
    made.labels = calloc(BATCH * CLASSES, sizeof *made.labels);
    size_t used = 0;
    for (size_t i = 0; i < BATCH * CLASSES; i++) {
        if (i % 7 == 0)
            made.labels[used++] = (uint32_t)(i % CLASSES);
        made.starts[i / CLASSES + 1] = used;
    }
    made.batch = (ocdm__batch){.input = made.input, .starts = made.starts, .labels = made.labels, .count = BATCH};
    return made;
}

static ocdm__agent_settings golden_settings(void)
{
    ocdm__agent_settings settings = settings_for("resnet18", SIDE, CLASSES, 2);
    settings.network.learning_rate = 1e-4;
    return settings;
}

/* The weights of tests/make-golden: random, except for the norms' biases, which are 3 and -3 in turn, so that few activations
 * are near their kink. An activation there depends on the last bit, which differs between CPUs, and changes the gradients of
 * all layers below. */
static ocdm__agent *golden_agent(void)
{
    ocdm__agent_settings settings = golden_settings();
    ocdm__agent *agent = agent_with(&settings);
    const ocdm__network *network = agent->network;
    for (uint32_t k = 0; k < network->image_layers; k++) {
        const struct ocdm__layer *layer = &network->layers[k];
        if (layer->node->kind != OCDM__NODE_CONV)
            continue;
        for (size_t c = 0; c < layer->node->channels; c++)
            network->parameters[layer->bias].value[c] = c % 2 == 0 ? 3 : -3;
    }
    return agent;
}

static void gradients_near(const ocdm__network *network, const float *gradient)
{
    size_t at = 0;
    for (size_t i = 0; i < network->parameter_count; i++) {
        const struct ocdm__parameter *parameter = &network->parameters[i];
        if (!parameter->trained)
            continue;
        double length = 0, with_wave = 0, want = resnet18_gradient_lengths[at];
        float *waves = wave(parameter->size, 2);
        for (size_t j = 0; j < parameter->size; j++) {
            double g = (double)gradient[parameter->first + j];
            length += g * g;
            with_wave += g * (double)waves[j];
        }
        free(waves);
        HOLDS(parameter->name, fabs(sqrt(length) - want) <= 1e-3 * want);
        HOLDS(parameter->name, fabs(with_wave - resnet18_gradient_waves[at]) <= 1e-3 * want);
        HOLDS(parameter->name, fabs((double)gradient[parameter->first] - resnet18_gradient_firsts[at]) <= 1e-3 * want);
        at++;
    }
    assert_int_equal(at, COUNT(resnet18_gradient_lengths));
}

TEST(resnet18_gives_what_pytorch_gives)
{
    ocdm__agent *agent = golden_agent();
    struct made_batch made = golden_batch();
    float *gradient = calloc(ocdm__agent_gradient_size(agent), sizeof *gradient);
    double loss;
    assert_int_equal(ocdm__agent_batch_gradient(agent, &made.batch, gradient, &loss, NULL), OCDM_OK);
    assert_true(apart(agent->asked.logits, 1, resnet18_logits, COUNT(resnet18_logits)) <= 1e-3);
    assert_true(fabs(loss - resnet18_losses[0]) <= 1e-3 * resnet18_losses[0]);
    gradients_near(agent->network, gradient);
    free(gradient);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

TEST(resnet18_stays_near_pytorch_for_ten_steps)
{
    ocdm__agent *agent = golden_agent();
    struct made_batch made = golden_batch();
    float logits[BATCH * CLASSES];
    for (size_t step = 0; step < 10; step++) {
        double loss;
        assert_int_equal(agent_train(agent, &made.batch, &loss, NULL), OCDM_OK);
        assert_true(fabs(loss - resnet18_losses[step]) <= 1e-2 * resnet18_losses[step]);
    }
    assert_int_equal(agent->steps, 10);
    assert_int_equal(ocdm__agent_predict(agent, made.input, BATCH, logits, NULL), OCDM_OK);
    assert_true(apart(logits, 1, resnet18_evaluated, BATCH * CLASSES) <= 1e-2);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

/* ---- differences ------------------------------------------------------------------------------------------------------ */

/* Moves a parameter along a direction. */
static void move(ocdm__network *network, struct ocdm__parameter *parameter, const float *direction, double by)
{
    for (size_t i = 0; i < parameter->room; i++)
        parameter->value[i] += (float)(by * (double)direction[i]);
    network->stale = true;
}

static double loss_at(ocdm__agent *agent, const struct made_batch *made, float *gradient)
{
    double loss;
    assert_int_equal(ocdm__agent_batch_gradient(agent, &made->batch, gradient, &loss, NULL), OCDM_OK);
    return loss;
}

/* Along the gradient itself the loss must rise by the gradient's length: a layer whose gradient is wrong in any part, or whose
 * gradient is not passed on, cannot rise so. */
static void check_parameter(ocdm__agent *agent, const struct made_batch *made, struct ocdm__parameter *parameter)
{
    ocdm__network *network = agent->network;
    float *gradient = calloc(network->trained_count, sizeof *gradient);
    float *other = calloc(network->trained_count, sizeof *other);
    float *direction = calloc(parameter->room, sizeof *direction);
    double loss = loss_at(agent, made, gradient);
    double length = 0;
    for (size_t i = 0; i < parameter->size; i++)
        length += pow((double)gradient[parameter->first + i], 2);
    length = sqrt(length);
    for (size_t i = 0; i < parameter->size; i++)
        gradient[parameter->first + i] /= (float)length;
    if (parameter->to_home != NULL)
        assert_int_equal(ocdm__op_run(parameter->to_home, 0, gradient + parameter->first, NULL, direction), OCDM_OK);
    else
        memcpy(direction, gradient + parameter->first, parameter->size * sizeof *direction);
    double step = fmin(2e-3, 0.005 * loss / length);
    move(network, parameter, direction, step);
    double above = loss_at(agent, made, other);
    move(network, parameter, direction, -2 * step);
    double below = loss_at(agent, made, other);
    move(network, parameter, direction, step);
    double slope = (above - below) / (2 * step);
    if (!(fabs(slope - length) <= 0.05 * length + 2e-5))
        print_error("slope %g, gradient %g\n", slope, length);
    HOLDS(parameter->name, fabs(slope - length) <= 0.05 * length + 2e-5);
    free(gradient);
    free(other);
    free(direction);
}

TEST(gradients_are_slopes_of_the_loss_for_every_parameter)
{
    static const struct {
        const char *model;
        uint32_t size, blocks;
        size_t batch;
    } cases[] = {{"linear", 12, 0, 6}, {"mlp", 12, 0, 6}, {"cnn", 16, 0, 6}, {"mobilenet1", 24, 3, 6}, {"resnet18", 32, 0, 5}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        ocdm__agent_settings settings = settings_for(cases[i].model, cases[i].size, 4, 1);
        settings.size.blocks = cases[i].blocks;
        ocdm__agent *agent = agent_with(&settings);
        struct made_batch made = batch_for(&settings, cases[i].batch, 3);
        /* A larger head: the gradients below it would drown in rounding. */
        struct ocdm__parameter *head = &agent->network->parameters[agent->network->parameter_count - 2];
        for (size_t j = 0; j < head->size; j++)
            head->value[j] *= 30;
        size_t every = agent->network->parameter_count > 40 ? 7 : 1;
        for (size_t j = 0; j < agent->network->parameter_count; j += every)
            if (agent->network->parameters[j].trained)
                check_parameter(agent, &made, &agent->network->parameters[j]);
        batch_free(&made);
        ocdm__agent_destroy(agent);
    }
}

/* ---- threads ---------------------------------------------------------------------------------------------------------- */

TEST(weights_are_the_same_for_any_number_of_threads)
{
    static const struct {
        const char *model;
        uint32_t size;
    } cases[] = {{"cnn", 32}, {"mobilenet1", 48}, {"resnet18", 32}, {"resnet50", 32}, {"mlp", 20}};
    static const unsigned threads[] = {2, 3, 8};
    for (size_t i = 0; i < COUNT(cases); i++) {
        ocdm__agent_settings settings = rich_settings_for(cases[i].model, cases[i].size, 6, 1);
        ocdm__agent *alone = agent_with(&settings);
        train_steps(alone, &settings, 5, 1);
        for (size_t j = 0; j < COUNT(threads); j++) {
            settings.network.threads = threads[j];
            ocdm__agent *other = agent_with(&settings);
            train_steps(other, &settings, 5, 1);
            same_agents(alone, other, cases[i].model);
            ocdm__agent_destroy(other);
        }
        ocdm__agent_destroy(alone);
    }
}

TEST(predictions_do_not_depend_on_threads_or_neighbours)
{
    ocdm__agent_settings settings = settings_for("cnn", 32, 6, 1);
    struct made_batch made = batch_for(&settings, 70, 9);
    float first[70 * 6], second[70 * 6], features[256], again[70 * 256];
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        settings.network.threads = threads;
        ocdm__agent *agent = agent_with(&settings);
        train_steps(agent, &settings, 3, 1);
        assert_int_equal(ocdm__agent_predict(agent, made.input, 70, threads == 1 ? first : second, NULL), OCDM_OK);
        assert_int_equal(ocdm__agent_feature_width(agent), 256);
        assert_int_equal(ocdm__agent_features(agent, made.input, 70, again, NULL), OCDM_OK);
        assert_int_equal(ocdm__agent_features(agent, made.input + 69 * 3 * 32 * 32, 1, features, NULL), OCDM_OK);
        assert_memory_equal(features, again + (size_t)69 * 256, sizeof features);
        ocdm__agent_destroy(agent);
    }
    assert_memory_equal(first, second, sizeof first);
    batch_free(&made);
}

/* ---- averages --------------------------------------------------------------------------------------------------------- */

enum { STEPS = 5 };

/* Adds the weights and statistics of now to a plain average, as its definition says. Rows of the head have ages, unless NULL;
 * no other tensor has as many rows as there are classes. */
static void add_to_average(ocdm__agent *agent, double rate, double *average, size_t step, const float *ages, double delay)
{
    ocdm__tensor_list state;
    size_t at = 0, classes = agent->class_count;
    assert_int_equal(agent_save(agent, false, &state, NULL), OCDM_OK);
    for (size_t i = 0; i < state.count; i++) {
        const float *values = (const float *)(const void *)state.tensors[i].data;
        size_t count = state.tensors[i].size / sizeof *values;
        for (size_t k = 0; k < count; k++, at++) {
            double age = ages != NULL && state.tensors[i].shape[0] == classes ? (double)ages[k / (count / classes)] : 0;
            double averaged = fmin(age > 0 ? age : (double)step, (double)step - delay);
            double keep = averaged > 1 ? fmin(rate, 1 - 1 / averaged) : 0;
            average[at] = keep * average[at] + (1 - keep) * (double)values[k];
        }
    }
    ocdm__tensor_list_clear(&state);
}

static double distance_to_average(ocdm__agent *agent, const double *average)
{
    ocdm__tensor_list state;
    double largest = 0;
    size_t at = 0;
    assert_int_equal(agent_save(agent, false, &state, NULL), OCDM_OK);
    for (size_t i = 0; i < state.count; i++) {
        const float *values = (const float *)(const void *)state.tensors[i].data;
        for (size_t k = 0; k < state.tensors[i].size / sizeof *values; k++, at++)
            largest = fmax(largest, fabs((double)values[k] - average[at]));
    }
    ocdm__tensor_list_clear(&state);
    return largest;
}

TEST(averages_are_those_of_all_steps)
{
    ocdm__agent_settings settings = rich_settings_for("cnn", 32, 6, 2);
    settings.network.learning_rate = 0.01;
    ocdm__agent *agent = agent_with(&settings), *plain;
    const size_t room = 1 << 19;
    for (size_t version = 1; version <= 2; version++) {
        double *average = calloc(room, sizeof *average);
        ocdm__agent_settings without = settings;
        without.network.averages.count = 0;
        plain = agent_with(&without);
        for (size_t step = 1; step <= STEPS; step++) {
            train_steps(plain, &settings, 1, step);
            add_to_average(plain, settings.network.averages.values[version - 1], average, step, NULL, 0);
        }
        if (version == 1)
            train_steps(agent, &settings, STEPS, 1);
        assert_int_equal(ocdm__agent_use(agent, version, NULL), OCDM_OK);
        assert_true(distance_to_average(agent, average) < 1e-5);
        assert_true(distance_to_average(plain, average) > 1e-3);
        assert_int_equal(ocdm__agent_use(agent, 0, NULL), OCDM_OK);
        free(average);
        ocdm__agent_destroy(plain);
    }
    ocdm__agent_destroy(agent);
}

/* The weights of a class, its row of the head, are averaged since the class came; all others since the first step; both leave
 * the first steps of the stream out. */
TEST(averages_of_a_row_of_the_head_begin_with_its_class)
{
    enum { HEADS = 3 };
    static const size_t first[HEADS] = {1, 3, STEPS + 1}; /* the step in which the class comes; the last one never does */
    static const char *const models[] = {"linear", "mlp"};
    for (size_t i = 0; i < COUNT(models); i++) {
        ocdm__agent_settings settings = rich_settings_for(models[i], 7, HEADS, 1);
        settings.network.learning_rate = 0.01;
        settings.network.average_delay = (uint32_t)i * 2;
        ocdm__agent *agent = agent_with(&settings);
        struct made_batch made = batch_for(&settings, 6, 1);
        double *average = calloc(1 << 14, sizeof *average);
        for (size_t step = 1; step <= STEPS; step++) {
            float ages[HEADS] = {0};
            for (size_t c = 0; c < HEADS; c++)
                ages[c] = first[c] <= step ? (float)(step - first[c] + 1) : 0;
            made.batch.ages = ages;
            assert_int_equal(agent_train(agent, &made.batch, NULL, NULL), OCDM_OK);
            add_to_average(agent, settings.network.averages.values[1], average, step, ages, (double)(i * 2));
        }
        assert_int_equal(ocdm__agent_use(agent, 2, NULL), OCDM_OK);
        assert_true(distance_to_average(agent, average) < 1e-6);
        batch_free(&made);
        free(average);
        ocdm__agent_destroy(agent);
    }
}

/* Averages predict with their own weights and statistics, and a step goes on from the trained ones. */
TEST(averages_leave_the_trained_weights_alone)
{
    ocdm__agent_settings settings = rich_settings_for("cnn", 32, 6, 1);
    settings.network.learning_rate = 0.01;
    struct made_batch made = batch_for(&settings, 4, 9);
    float logits[3][4 * 6];
    ocdm__agent *agent = agent_with(&settings), *other = agent_with(&settings);
    assert_int_equal(ocdm__agent_use(agent, 2, NULL), OCDM_OK); /* nothing to average yet */
    train_steps(agent, &settings, 4, 1);
    train_steps(other, &settings, 4, 1);
    for (size_t version = 3; version-- > 0;) {
        assert_int_equal(ocdm__agent_use(agent, version, NULL), OCDM_OK);
        assert_int_equal(ocdm__agent_predict(agent, made.input, 4, logits[version], NULL), OCDM_OK);
    }
    assert_memory_not_equal(logits[0], logits[1], sizeof logits[0]);
    assert_memory_not_equal(logits[1], logits[2], sizeof logits[1]);
    assert_int_equal(ocdm__agent_predict(other, made.input, 4, logits[1], NULL), OCDM_OK);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    assert_int_equal(ocdm__agent_use(agent, 1, NULL), OCDM_OK);
    train_steps(agent, &settings, 2, 5);
    train_steps(other, &settings, 2, 5);
    same_agents(agent, other, "after a step");
    batch_free(&made);
    ocdm__agent_destroy(agent);
    ocdm__agent_destroy(other);
}

/* ---- gradients for GSS ------------------------------------------------------------------------------------------------ */

/* In evaluation mode samples do not see each other: the gradient of a batch is the mean of its samples'. */
TEST(gradient_of_a_batch_is_the_mean_of_its_samples_in_evaluation)
{
    ocdm__agent_settings settings = settings_for("cnn", 32, 6, 2);
    ocdm__agent *agent = agent_with(&settings);
    train_steps(agent, &settings, 2, 1);
    struct made_batch made = batch_for(&settings, 3, 4);
    size_t size = ocdm__agent_gradient_size(agent);
    float *whole = calloc(size, sizeof *whole), *one = calloc(size, sizeof *one), *sum = calloc(size, sizeof *sum);
    assert_int_equal(ocdm__agent_gradient(agent, &made.batch, whole, NULL), OCDM_OK);
    for (size_t i = 0; i < 3; i++) {
        ocdm__batch single = {
            .input = made.input + i * 3 * 32 * 32, .starts = made.starts + i, .labels = made.labels, .count = 1};
        assert_int_equal(ocdm__agent_gradient(agent, &single, one, NULL), OCDM_OK);
        for (size_t j = 0; j < size; j++)
            sum[j] += one[j] / 3;
    }
    double largest = 0, difference = 0;
    for (size_t j = 0; j < size; j++) {
        largest = fmax(largest, fabs((double)whole[j]));
        difference = fmax(difference, fabs((double)whole[j] - (double)sum[j]));
    }
    assert_true(largest > 0 && difference <= 1e-4 * largest);
    free(whole);
    free(one);
    free(sum);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

/* What a step computed is kept with new samples after the memory has asked for gradients, of as many samples as it likes. */
TEST(gradients_leave_what_a_step_computed)
{
    ocdm__agent_settings settings = settings_for("mlp", 8, 3, 1);
    ocdm__agent *agent = agent_with(&settings);
    struct made_batch step = batch_for(&settings, 4, 2), asked = batch_for(&settings, 9, 3);
    float logits[4 * 3], *gradient = calloc(ocdm__agent_gradient_size(agent), sizeof *gradient);
    double losses[4];
    assert_int_equal(agent_train(agent, &step.batch, NULL, NULL), OCDM_OK);
    memcpy(logits, ocdm__agent_outputs(agent).logits, sizeof logits);
    memcpy(losses, ocdm__agent_outputs(agent).losses, sizeof losses);
    asked.batch.fresh = 0;
    for (asked.batch.count = 1; asked.batch.count <= 9; asked.batch.count += 4)
        assert_int_equal(ocdm__agent_gradient(agent, &asked.batch, gradient, NULL), OCDM_OK);
    assert_memory_equal(ocdm__agent_outputs(agent).logits, logits, sizeof logits);
    assert_memory_equal(ocdm__agent_outputs(agent).losses, losses, sizeof losses);
    free(gradient);
    batch_free(&step);
    batch_free(&asked);
    ocdm__agent_destroy(agent);
}

/* ---- bad input -------------------------------------------------------------------------------------------------------- */

TEST(train_names_the_sample_whose_loss_is_no_number)
{
    ocdm__agent_settings settings = settings_for("mlp", 8, 3, 1);
    ocdm__agent *agent = agent_with(&settings), *untouched = agent_with(&settings);
    struct made_batch made = batch_for(&settings, 4, 2);
    made.input[2 * 8 + 5] = NAN;
    ocdm_error error = {0};
    size_t bad;
    assert_int_equal(ocdm__agent_train(agent, &made.batch, NULL, &bad, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "the loss of sample 2 of the batch is not a finite number");
    assert_int_equal(bad, 2);
    same_agents(agent, untouched, "after a bad sample");
    batch_free(&made);
    ocdm__agent_destroy(agent);
    ocdm__agent_destroy(untouched);
}

/* One value minus its own mean is always 0. */
TEST(train_refuses_a_norm_of_one_value)
{
    ocdm__agent_settings settings = settings_for("resnet18", 32, 3, 1);
    ocdm__agent *agent = agent_with(&settings);
    struct made_batch made = batch_for(&settings, 2, 2);
    ocdm_error error = {0};
    made.batch.count = 1;
    assert_int_equal(agent_train(agent, &made.batch, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "one sample whose image is down to one pixel at layer4.0.bn1: a batch norm cannot learn "
                                       "from one value");
    float *gradient = calloc(ocdm__agent_gradient_size(agent), sizeof *gradient);
    assert_int_equal(ocdm__agent_gradient(agent, &made.batch, gradient, NULL), OCDM_OK);
    made.batch.count = 2;
    assert_int_equal(agent_train(agent, &made.batch, NULL, NULL), OCDM_OK);
    free(gradient);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

/* What could not be loaded again is not saved. */
TEST(save_refuses_what_is_not_finite)
{
    ocdm__agent_settings settings = settings_for("linear", 4, 3, 1);
    ocdm__agent *agent = agent_with(&settings);
    struct made_batch made = batch_for(&settings, 2, 2);
    ocdm__tensor_list kept = {0};
    ocdm_error error = {0};
    for (size_t i = 0; i < 8; i++)
        made.input[i] = 1e25f;
    for (size_t i = 0; i < 12; i++)
        agent->network->parameters[0].value[i] = 0;
    assert_int_equal(agent_train(agent, &made.batch, NULL, NULL), OCDM_OK);
    assert_int_equal(agent_save(agent, true, &kept, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "after step 1 tensor adam.v.fc.weight is not of finite numbers");
    assert_null(kept.tensors);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

/* A batch norm spreads what is no number over the whole batch, and no activation may swallow it. */
TEST(train_stops_when_an_image_is_no_number)
{
    ocdm__agent_settings settings = settings_for("mobilenet1", 32, 3, 1);
    settings.size.blocks = 2;
    ocdm__agent *agent = agent_with(&settings);
    struct made_batch made = batch_for(&settings, 2, 2);
    made.input[5] = NAN;
    assert_int_equal(agent_train(agent, &made.batch, NULL, NULL), OCDM_BAD_RECORD);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

TEST(create_refuses_what_cannot_be)
{
    ocdm__agent *agent = NULL;
    ocdm_error error = {0};
    ocdm__agent_settings settings = settings_for("resnet19", 32, 3, 1);
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, &error), OCDM_UNKNOWN_NAME);
    settings = settings_for("linear", 0, 3, 1);
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, &error), OCDM_BAD_ARGUMENT);
    settings = settings_for("linear", 5, 0, 1);
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, &error), OCDM_BAD_ARGUMENT);
    settings = settings_for("cnn", 7, 3, 1);
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "cnn: images of 7 x 7 pixels are too small");
    settings = settings_for("mlp", 4, 3, 1);
    agent = agent_with(&settings);
    struct made_batch made = batch_for(&settings, 2, 2);
    made.starts[1] = 1;
    made.starts[2] = 1;
    made.labels[0] = 3;
    assert_int_equal(agent_train(agent, &made.batch, NULL, &error), OCDM_BAD_ARGUMENT);
    made.batch.count = 0;
    assert_int_equal(agent_train(agent, &made.batch, NULL, &error), OCDM_BAD_ARGUMENT);
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

/* An agent in bf16; NULL where the CPU does not have it, and the agent says so. */
static ocdm__agent *narrow_agent(const ocdm__agent_settings *settings)
{
    ocdm__agent *agent = NULL;
    ocdm_error error = {0};
    ocdm__agent_settings narrow = *settings;
    narrow.network.precision = OCDM__PRECISION_BF16;
    ocdm_status status = ocdm__agent_create(&narrow, NULL, &agent, &error);
    if (status == OCDM_OK)
        return agent;
    assert_int_equal(status, OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "this CPU has no bf16 instructions"));
    return NULL;
}

/* Near f32, and the same for any number of threads. */
static void bf16_is_near_f32(const char *model, uint32_t size)
{
    ocdm__agent_settings settings = settings_for(model, size, 6, 1);
    ocdm__agent *half = narrow_agent(&settings);
    if (half == NULL)
        return;
    ocdm__agent *full = agent_with(&settings);
    settings.network.threads = 3;
    ocdm__agent *threaded = narrow_agent(&settings);
    assert_non_null(threaded);
    struct made_batch made = batch_for(&settings, 8, 5);
    double loss[2];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(agent_train(full, &made.batch, &loss[0], NULL), OCDM_OK);
        assert_int_equal(agent_train(half, &made.batch, &loss[1], NULL), OCDM_OK);
        assert_int_equal(agent_train(threaded, &made.batch, NULL, NULL), OCDM_OK);
        HOLDS(model, fabs(loss[0] - loss[1]) <= 0.03 * loss[0]);
    }
    same_agents(half, threaded, model);
    batch_free(&made);
    ocdm__agent_destroy(full);
    ocdm__agent_destroy(half);
    ocdm__agent_destroy(threaded);
}

TEST(bf16_is_near_f32_or_refused)
{
    bf16_is_near_f32("resnet18", 32);
    bf16_is_near_f32("mlp", 40);
    bf16_is_near_f32("linear", 40);
}

/* The nearest float whose lower half is empty, ties to the even one. */
static double rounded_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* A linear layer in bf16 is one of rounded weights and inputs, added up in f32; its gradient is that of rounded errors. */
TEST(linear_in_bf16_multiplies_rounded_numbers)
{
    enum { INPUTS = 37, OUTPUTS = 6, ROWS = 5 };
    ocdm__agent_settings settings = settings_for("linear", INPUTS, OUTPUTS, 1);
    ocdm__agent *agent = narrow_agent(&settings);
    if (agent == NULL)
        return;
    struct made_batch made = batch_for(&settings, ROWS, 5);
    const float *weights = agent->network->parameters[0].value;
    float gradient[OUTPUTS * INPUTS + OUTPUTS];
    assert_int_equal(ocdm__agent_batch_gradient(agent, &made.batch, gradient, NULL, NULL), OCDM_OK);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t out = 0; out < OUTPUTS; out++) {
            double want = 0;
            for (size_t i = 0; i < INPUTS; i++)
                want += rounded_to_bf16(weights[out * INPUTS + i]) * rounded_to_bf16(made.input[row * INPUTS + i]);
            assert_true(fabs((double)agent->asked.logits[row * OUTPUTS + out] - want) < 1e-6);
        }
    for (size_t out = 0; out < OUTPUTS; out++)
        for (size_t i = 0; i < INPUTS; i++) {
            double want = 0;
            for (size_t row = 0; row < ROWS; row++)
                want += rounded_to_bf16(agent->asked.logit_gradients[row * OUTPUTS + out]) *
                        rounded_to_bf16(made.input[row * INPUTS + i]);
            assert_true(fabs((double)gradient[out * INPUTS + i] - want) < 1e-6);
        }
    batch_free(&made);
    ocdm__agent_destroy(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet18_gives_what_pytorch_gives),
        cmocka_unit_test(resnet18_stays_near_pytorch_for_ten_steps),
        cmocka_unit_test(gradients_are_slopes_of_the_loss_for_every_parameter),
        cmocka_unit_test(weights_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(predictions_do_not_depend_on_threads_or_neighbours),
        cmocka_unit_test(averages_are_those_of_all_steps),
        cmocka_unit_test(averages_of_a_row_of_the_head_begin_with_its_class),
        cmocka_unit_test(averages_leave_the_trained_weights_alone),
        cmocka_unit_test(gradients_leave_what_a_step_computed),
        cmocka_unit_test(gradient_of_a_batch_is_the_mean_of_its_samples_in_evaluation),
        cmocka_unit_test(train_names_the_sample_whose_loss_is_no_number),
        cmocka_unit_test(train_stops_when_an_image_is_no_number),
        cmocka_unit_test(create_refuses_what_cannot_be),
        cmocka_unit_test(train_refuses_a_norm_of_one_value),
        cmocka_unit_test(save_refuses_what_is_not_finite),
        cmocka_unit_test(bf16_is_near_f32_or_refused),
        cmocka_unit_test(linear_in_bf16_multiplies_rounded_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
