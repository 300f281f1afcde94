/*
 * Any bytes as a weights file: the model that it fits is reported, and small agents either refuse it and are unchanged, or
 * load it; then a step and a prediction must work. A checksum is made right first, so that what is behind it is reached.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../agent_state.h"
#include "agent/network.h"
#include "base/error.h"
#include "base/bytes.h"

enum { FEATURES = 2, CLASSES = 2, SIDE = 8, AGENTS = 3, WIDEST = 3 * SIDE * SIDE };

static const char *const models[AGENTS] = {"linear", "mlp", "mobilenet1"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void make_checksum_right(unsigned char *bytes, size_t size)
{
    static const char key[] = "\"checksum\":\"";
    size_t length = sizeof key - 1;
    for (size_t i = 8; i + length + 16 <= size; i++) {
        char digits[17];
        if (memcmp(bytes + i, key, length) != 0)
            continue;
        memcpy(bytes + i + length, "0000000000000000", 16);
        snprintf(digits, sizeof digits, "%016" PRIx64, ocdm__checksum(OCDM__CHECKSUM_START, bytes + 8, size - 8));
        memcpy(bytes + i + length, digits, 16);
        return;
    }
}

/* ---- agents ----------------------------------------------------------------------------------------------------------- */

/* An agent that has read nothing yet, and what it is made of. */
static struct {
    ocdm__agent *agent;
    ocdm__tensor_list fresh;
} known[AGENTS];

static void make_agent(size_t number)
{
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    settings.size.name = models[number];
    settings.size.class_count = CLASSES;
    settings.size.features = FEATURES;
    settings.size.height = settings.size.width = SIDE;
    settings.size.blocks = 1;
    ocdm__agent_destroy(known[number].agent);
    ocdm__tensor_list_clear(&known[number].fresh);
    known[number].agent = NULL;
    require(ocdm__agent_create(&settings, NULL, &known[number].agent, NULL) == OCDM_OK);
    require(agent_save(known[number].agent, true, &known[number].fresh, NULL) == OCDM_OK);
}

static bool is_squared(const struct ocdm__tensor *tensor)
{
    return strncmp(tensor->name, "adam.v.", 7) == 0 || strstr(tensor->name, ".running_var") != NULL;
}

/* What was taken is finite, roots can be taken where they will be, and steps can be counted on. */
static void check_numbers(ocdm__agent *agent)
{
    ocdm__tensor_list state;
    require(agent->steps <= (uint64_t)1 << 53);
    require(agent_save(agent, true, &state, NULL) == OCDM_OK);
    for (size_t i = 1; i < state.count; i++)
        for (size_t at = 0; at < state.tensors[i].size; at += sizeof(float)) {
            float value;
            memcpy(&value, state.tensors[i].data + at, sizeof value);
            require(isfinite(value) && (value >= 0 || !is_squared(&state.tensors[i])));
        }
    ocdm__tensor_list_clear(&state);
}

/* Weights of any size were taken, so a result may be infinite, which a step reports. */
static void use(ocdm__agent *agent)
{
    float input[2 * WIDEST], logits[2 * CLASSES];
    const size_t starts[3] = {0, 1, 3};
    const uint32_t labels[3] = {1, 0, 1};
    ocdm_error error = {0};
    for (size_t i = 0; i < 2 * WIDEST; i++)
        input[i] = (float)(i % 7) / 4 - 0.75F;
    require(ocdm__agent_predict(agent, input, 2, logits, &error) == OCDM_OK);
    ocdm__batch batch = {.input = input, .starts = starts, .labels = labels, .count = 2};
    double loss = NAN;
    ocdm_status status = agent_train(agent, &batch, &loss, &error);
    require(status == OCDM_OK ? isfinite(loss) : status == OCDM_BAD_RECORD && error.message[0] != '\0');
}

static void is_as_it_was(size_t number)
{
    const ocdm__tensor_list *fresh = &known[number].fresh;
    ocdm__tensor_list state;
    require(agent_save(known[number].agent, true, &state, NULL) == OCDM_OK);
    require(state.count == fresh->count);
    for (size_t i = 0; i < state.count; i++)
        require(memcmp(state.tensors[i].data, fresh->tensors[i].data, state.tensors[i].size) == 0);
    ocdm__tensor_list_clear(&state);
}

/* ---- files ------------------------------------------------------------------------------------------------------------ */

static bool fits(const struct ocdm__weights_fit *fit, size_t number)
{
    if (fit->model == NULL || strcmp(fit->model, models[number]) != 0)
        return false;
    return number < 2 ? fit->features == FEATURES : fit->blocks == 1;
}

static void load_into(size_t number, const struct ocdm__safetensors *file, const struct ocdm__weights_fit *fit)
{
    const struct ocdm__weights weights = {"fuzz", file};
    ocdm_error error = {0};
    ocdm_status status = ocdm__agent_load(known[number].agent, &weights, &error);
    if (status != OCDM_OK) {
        require(status == OCDM_BAD_FILE && strncmp(error.message, "fuzz: ", 6) == 0);
        is_as_it_was(number);
        return;
    }
    require(fit->class_count != CLASSES || fits(fit, number));
    check_numbers(known[number].agent);
    use(known[number].agent);
    make_agent(number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    struct ocdm__safetensors file;
    struct ocdm__weights_fit fit;
    ocdm_error error = {0};
    if (bytes == NULL)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    make_checksum_right(bytes, size);
    for (size_t i = 0; i < AGENTS; i++)
        if (known[i].agent == NULL)
            make_agent(i);
    if (ocdm__safetensors_read(&file, "fuzz", bytes, size, &error) == OCDM_OK) {
        require(ocdm__weights_fit(&file, &fit, &error) == OCDM_OK);
        for (size_t i = 0; i < AGENTS; i++)
            load_into(i, &file, &fit);
        ocdm__safetensors_close(&file);
    }
    free(bytes);
    return 0;
}
