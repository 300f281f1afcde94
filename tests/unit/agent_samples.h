/* For tests of the agent: inputs from formulas (as in tests/make-golden), agents, comparisons. */
#ifndef OCDM_TESTS_AGENT_SAMPLES_H
#define OCDM_TESTS_AGENT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "agent/network.h"

/* count floats, sin(0.37 i + seed); to be freed. */
float *wave(size_t count, double seed);

/* The largest |got[step i] - want[i]|, divided by the largest |want|. */
double apart(const float *got, size_t step, const double *want, size_t count);

/* Images or rows with labels, of any model; everything from the seed. */
struct made_batch {
    ocdm__batch batch;
    float *input;
    size_t *starts;
    uint32_t *labels;
};
struct made_batch batch_for(const ocdm__agent_settings *settings, size_t count, uint64_t seed);
void batch_free(struct made_batch *made);

ocdm__agent_settings settings_for(const char *model, uint32_t size, uint32_t classes, unsigned threads);
/* The same with a loss that weighs its terms, and with averages of the weights. */
ocdm__agent_settings rich_settings_for(const char *model, uint32_t size, uint32_t classes, unsigned threads);
ocdm__agent *agent_with(const ocdm__agent_settings *settings);

/* Trains `steps` steps on batches of the seeds `first`, `first` + 1, ..., whose sizes repeat 8, 5, 3, 1. */
void train_steps(ocdm__agent *agent, const ocdm__agent_settings *settings, size_t steps, uint64_t first);

/* Every tensor of the two, Adam's too, to the last bit. */
void same_agents(ocdm__agent *a, ocdm__agent *b, const char *where);

#endif
