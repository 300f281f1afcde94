/*
 * What is replayed: the rules that draw samples of the memory, and what is kept beside each sample for them: its last loss, and
 * the logits that it had when it came.
 */

#include "experiment/loop/run.h"
#include "memory/internal.h"

/* A loss of 0 must not keep a sample from ever being drawn. */
#define LEAST_WEIGHT 1e-6

ocdm_status ocdm__replay_open(ocdm__run *run, ocdm_error *error)
{
    const ocdm__run_settings *settings = run->settings;
    size_t losses = settings->replay_policy == OCDM__REPLAY_LOSS;
    size_t logits = settings->network.loss.dark > 0 ? run->stream->table.class_count : 0;
    ocdm__replay *replay = &run->replays;
    *replay = (ocdm__replay){.losses = losses, .width = losses + logits, .capacity = settings->memory};
    if (replay->width > 0)
        replay->kept = ocdm__arena_new(&run->arena, replay->capacity, replay->width * sizeof *replay->kept);
    if (settings->replay_policy != OCDM__REPLAY_UNIFORM)
        replay->weights = ocdm__arena_new(&run->arena, replay->capacity, sizeof *replay->weights);
    return ocdm__arena_check(&run->arena, "what is kept beside the memory's samples", error);
}

void ocdm__replay_note(const ocdm__run *run, const uint32_t *slots, size_t count, const uint32_t *rows, size_t first)
{
    const ocdm__replay *replay = &run->replays;
    if (replay->kept == NULL)
        return;
    const ocdm__outputs outputs = run->learner->functions->outputs(run->learner->state);
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

void ocdm__replay_move(const ocdm__replay *replay, const ocdm_move *moved, size_t count)
{
    for (size_t i = 0; replay->kept != NULL && i < count; i++)
        memcpy(replay->kept + moved[i].to * replay->width, replay->kept + moved[i].from * replay->width,
               replay->width * sizeof *replay->kept);
}

size_t ocdm__replay_draw(ocdm__run *run, uint64_t update)
{
    const ocdm__replay *replay = &run->replays;
    uint32_t rule = run->settings->replay_policy, size = ocdm_memory_size(run->memory);
    if (rule == OCDM__REPLAY_UNIFORM)
        return ocdm_memory_draw(run->memory, run->settings->replay, run->online.slots);
    if (rule == OCDM__REPLAY_BALANCED)
        ocdm__memory_balance(run->memory, replay->weights);
    for (uint32_t slot = 0; rule == OCDM__REPLAY_LOSS && slot < size; slot++)
        replay->weights[slot] = fmax((double)replay->kept[slot * replay->width], LEAST_WEIGHT);
    return ocdm__draw_apart(run->settings->network.seed, update, replay->weights, size, run->online.slots, run->online.keys,
                            run->settings->replay);
}
