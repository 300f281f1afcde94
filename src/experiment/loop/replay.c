/*
 * What is replayed: the rules that draw samples of the memory, and what is kept beside each sample for them: its last loss, and
 * the logits that it had when it came.
 */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/loop/run.h"
#include "memory/internal.h"

/* A loss of 0 must not keep a sample from ever being drawn. */
#define LEAST_WEIGHT 1e-6

/* ---- what is kept ------------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__replay_open(ocdm__replay *replay, const ocdm__run_settings *settings, size_t class_count, ocdm_error *error)
{
    size_t losses = settings->replay_policy == OCDM__REPLAY_LOSS, logits = settings->network.loss.dark > 0 ? class_count : 0;
    *replay = (ocdm__replay){.rule = settings->replay_policy,
                             .seed = settings->network.seed,
                             .losses = losses,
                             .width = losses + logits,
                             .capacity = settings->memory};
    if (replay->width > 0)
        replay->kept = ocdm__allocate(replay->capacity, replay->width * sizeof *replay->kept);
    if (replay->rule != OCDM__REPLAY_UNIFORM)
        replay->weights = ocdm__allocate(replay->capacity, sizeof *replay->weights);
    if ((replay->width > 0 && replay->kept == NULL) || (replay->rule != OCDM__REPLAY_UNIFORM && replay->weights == NULL))
        return ocdm__fail_memory(error, "what is kept beside the memory's samples");
    return OCDM_OK;
}

void ocdm__replay_close(ocdm__replay *replay)
{
    ocdm__release(replay->kept);
    ocdm__release(replay->weights);
    *replay = (ocdm__replay){.rule = OCDM__REPLAY_UNIFORM};
}

void ocdm__replay_note(ocdm__replay *replay, const ocdm__learner *learner, const uint32_t *slots, size_t count,
                       const uint32_t *rows, size_t first)
{
    if (replay == NULL || replay->kept == NULL)
        return;
    const ocdm__outputs outputs = learner->functions->outputs(learner->state);
    size_t classes = replay->width - replay->losses;
    for (size_t i = 0; i < count; i++) {
        float *kept = replay->kept + slots[i] * replay->width;
        size_t row = rows != NULL ? rows[i] : first + i;
        if (replay->losses > 0)
            kept[0] = (float)outputs.losses[row];
        if (rows != NULL)
            memcpy(kept + replay->losses, outputs.logits + row * classes, classes * sizeof *kept);
    }
}

void ocdm__replay_move(ocdm__replay *replay, const ocdm_move *moved, size_t count)
{
    for (size_t i = 0; replay != NULL && replay->kept != NULL && i < count; i++)
        memcpy(replay->kept + moved[i].to * replay->width, replay->kept + moved[i].from * replay->width,
               replay->width * sizeof *replay->kept);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

size_t ocdm__replay_draw(const ocdm__replay *replay, const ocdm_memory *memory, uint64_t step, uint32_t *slots, double *keys,
                         size_t count)
{
    uint32_t size = ocdm_memory_size(memory);
    if (replay->rule == OCDM__REPLAY_BALANCED)
        ocdm__memory_balance(memory, replay->weights);
    for (uint32_t slot = 0; replay->rule == OCDM__REPLAY_LOSS && slot < size; slot++)
        replay->weights[slot] = fmax((double)replay->kept[slot * replay->width], LEAST_WEIGHT);
    return ocdm__draw_apart(replay->seed, step, replay->weights, size, slots, keys, count);
}
