/*
 * The bytes are a program: the first ones choose the options of a memory, the others what is done with it. The library's memory
 * and the judge's (tests/property/naive.h) execute it side by side, and any difference ends the target.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>

#include "../property/pair.h"
#include "../test.h"

#define LARGEST_BATCH 12u
#define LARGEST_SET 7u
#define LARGEST_MEMORY 48u

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the program; beyond its end there are zeros. */
struct program {
    const uint8_t *at, *end;
    uint64_t fresh; /* the next id that was never offered */
};

static unsigned next(struct program *program)
{
    return program->at < program->end ? *program->at++ : 0;
}

static ocdm_options options_from(struct program *program)
{
    static const double tolerances[] = {0, 0, 0.1, OCDM_MAX_TOLERANCE};
    static const double rhos[] = {0, 0.5, 1, -0.3, OCDM_MAX_RHO, -OCDM_MAX_RHO, 3, 0.01};
    ocdm_options options = ocdm_options_default();
    size_t policies = 0;
    while (ocdm_policy_at(policies) != NULL && (ocdm_policy_at(policies)->traits & OCDM_NEEDS_TASKS) == 0) /* these are last */
        policies++;
    options.policy = ocdm_policy_at(next(program) % policies);
    options.distance = (ocdm_distance)(next(program) % 4);
    options.tie = (ocdm_tie)(next(program) % 4);
    options.rho = rhos[next(program) % 8];
    options.tolerance = tolerances[next(program) % 4];
    options.capacity = 1 + next(program) % LARGEST_MEMORY;
    options.batch = 1 + next(program) % LARGEST_BATCH;
    options.seed = next(program);
    return options;
}

/* Scattered over 32 bits, both ends included. */
static uint32_t class_from(struct program *program)
{
    return next(program) * 0x01010101u;
}

/* An id that is new, or a small one that may be in memory; up to 7 labels, or one, repeats included. */
static ocdm_sample sample_from(struct program *program, bool single, uint32_t *labels)
{
    unsigned head = next(program);
    ocdm_sample sample = {head & 0x80 ? next(program) : program->fresh++, labels, head % (single ? 2 : LARGEST_SET + 1)};
    for (size_t i = 0; i < sample.label_count; i++)
        labels[i] = class_from(program);
    return sample;
}

static bool is_taken(const struct naive *naive, const ocdm_sample *batch, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (batch[j].id == batch[i].id)
            return true;
    return naive_holds(naive, batch[i].id);
}

/* A batch with an id that is taken is refused; then it is offered without the samples that are in its way. */
static void update(struct pair *pair, struct program *program)
{
    uint32_t labels[LARGEST_BATCH][LARGEST_SET];
    ocdm_sample batch[LARGEST_BATCH];
    size_t count = 1 + next(program) % LARGEST_BATCH, free_count = 0;
    bool single = (pair->naive->options.policy->traits & OCDM_SINGLE_LABEL) != 0;
    bool taken[LARGEST_BATCH];
    for (size_t i = 0; i < count; i++) {
        batch[i] = sample_from(program, single, labels[i]);
        taken[i] = is_taken(pair->naive, batch, i);
        free_count += !taken[i];
    }
    if (free_count < count)
        HOLDS(pair->where, ocdm_memory_update(pair->memory, batch, count, NULL, NULL) == OCDM_DUPLICATE_ID);
    free_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!taken[i])
            batch[free_count++] = batch[i];
    pair_update(pair, batch, free_count);
}

/* The bounds, 1, and what is between them. */
static void weigh(struct pair *pair, struct program *program)
{
    uint32_t id = class_from(program);
    double power = ((double)next(program) - 128) / 64;
    pair_weigh(pair, id, power >= 1.5 ? OCDM_MAX_WEIGHT : power <= -1.5 ? OCDM_MIN_WEIGHT : exp(power));
}

static void forget(struct pair *pair, struct program *program)
{
    unsigned which = next(program);
    if (pair->naive->size > 0)
        pair_forget(pair, pair->naive->pool[which % pair->naive->size].id);
}

static void step(struct pair *pair, struct program *program)
{
    switch (next(program) % 8) {
    case 0:
        weigh(pair, program);
        break;
    case 1:
        forget(pair, program);
        break;
    case 2:
        pair_resize(pair, 1 + next(program) % LARGEST_MEMORY);
        break;
    case 3:
        pair_reload(pair);
        break;
    default:
        update(pair, program);
    }
}

/* An assertion that fails outside of a test aborts, so that the fuzzer keeps the input. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    return setenv("CMOCKA_TEST_ABORT", "1", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pair pair;
    struct program program = {.at = data, .end = data + size, .fresh = 1000};
    if (size > 1024)
        return 0;
    ocdm_options options = options_from(&program);
    pair_open(&pair, &options, "fuzzed");
    while (program.at < program.end)
        step(&pair, &program);
    pair_close(&pair);
    return 0;
}
