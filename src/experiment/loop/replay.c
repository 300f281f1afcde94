/*
 * What is replayed: the rules that draw samples of the memory, and what is kept beside each sample for them: its last loss, and
 * the logits that it had when it came.
 */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "experiment/loop/run.h"

/* A loss of 0 must not keep a sample from ever being drawn. */
#define LEAST_WEIGHT 1e-6

/* ---- what is kept ------------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__replay_open(ocdm__replay *replay, const ocdm__run_settings *settings, size_t class_count, ocdm_error *error)
{
    size_t losses = settings->replay_policy == OCDM__REPLAY_LOSS, logits = settings->network.loss.dark > 0 ? class_count : 0;
    *replay = (ocdm__replay){.rule = settings->replay_policy,
                             .base = ocdm__random_base(settings->network.seed, OCDM__FOR_REPLAY),
                             .losses = losses,
                             .width = losses + logits,
                             .capacity = settings->memory};
    if (replay->width > 0)
        replay->kept = ocdm__allocate(replay->capacity, replay->width * sizeof *replay->kept);
    if (replay->width > 0 && replay->kept == NULL)
        return ocdm__fail_memory(error, "what is kept beside the memory's samples");
    return OCDM_OK;
}

void ocdm__replay_close(ocdm__replay *replay)
{
    ocdm__release(replay->kept);
    *replay = (ocdm__replay){.rule = OCDM__REPLAY_UNIFORM};
}

void ocdm__replay_note(ocdm__replay *replay, uint32_t slot, const ocdm__outputs *outputs, size_t row, bool is_new)
{
    float *kept = replay->kept + slot * replay->width;
    size_t classes = replay->width - replay->losses;
    if (replay->losses > 0)
        kept[0] = (float)outputs->losses[row];
    if (is_new)
        memcpy(kept + replay->losses, outputs->logits + row * classes, classes * sizeof *kept);
}

const float *ocdm__replay_logits(const ocdm__replay *replay, uint32_t slot)
{
    return replay->kept + slot * replay->width + replay->losses;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

/* Samples without a label are a class of their own. */
static size_t count_unlabelled(const ocdm_memory *memory, const ocdm__stream_table *table)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++) {
        size_t sample = (size_t)ocdm_memory_id(memory, slot);
        count += table->label_starts[sample + 1] == table->label_starts[sample];
    }
    return count;
}

/* The chance of a sample if a class of the memory is drawn first, then one of its samples; up to a factor. */
static double balanced_weight(const ocdm_memory *memory, const ocdm__stream_table *table, uint32_t slot, size_t unlabelled)
{
    size_t sample = (size_t)ocdm_memory_id(memory, slot);
    uint64_t first = table->label_starts[sample], end = table->label_starts[sample + 1];
    double weight = first == end ? 1 / (double)unlabelled : 0;
    for (uint64_t k = first; k < end; k++)
        weight += 1 / (double)ocdm_memory_kept(memory, table->labels[k]);
    return weight;
}

/* Slots with the smallest keys so far, sorted. */
struct smallest {
    uint32_t *slots;
    double *keys;
    size_t count, room;
};

static void offer(struct smallest *smallest, uint32_t slot, double key)
{
    if (smallest->count == smallest->room && !(key < smallest->keys[smallest->count - 1]))
        return;
    size_t at = smallest->count < smallest->room ? smallest->count++ : smallest->count - 1;
    for (; at > 0 && key < smallest->keys[at - 1]; at--) {
        smallest->slots[at] = smallest->slots[at - 1];
        smallest->keys[at] = smallest->keys[at - 1];
    }
    smallest->slots[at] = slot;
    smallest->keys[at] = key;
}

/* Without replacement, each draw by the weights of what is left: the slots whose exponential variables of rate `weight` are
 * smallest. */
size_t ocdm__replay_draw(const ocdm__replay *replay, const ocdm_memory *memory, const ocdm__stream_table *table, uint64_t step,
                         uint32_t *slots, double *keys, size_t count)
{
    struct smallest smallest = {.slots = slots, .keys = keys, .room = count};
    ocdm__random random = ocdm__random_stream(replay->base, step);
    bool balanced = replay->rule == OCDM__REPLAY_BALANCED;
    size_t unlabelled = balanced ? count_unlabelled(memory, table) : 0;
    for (uint32_t slot = 0; count > 0 && slot < ocdm_memory_size(memory); slot++) {
        double weight = balanced ? balanced_weight(memory, table, slot, unlabelled)
                                 : fmax((double)replay->kept[slot * replay->width], LEAST_WEIGHT);
        offer(&smallest, slot, -log(1 - ocdm__random_unit(&random)) / weight);
    }
    return smallest.count;
}
