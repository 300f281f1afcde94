/*
 * The parts of the online step: drawing, decoding, training, remembering; and the counts of classes that the loss may need.
 *
 * The batch is one struct from the draw to the loss: first the samples of the stream, then those that are replayed. Samples
 * that cannot be decoded leave it before it is trained on, and never reach the memory.
 */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/progress.h"
#include "experiment/loop/step.h"

/* ---- labels of a batch --------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__batch_label(ocdm__batch *batch, const ocdm__stream_table *table, ocdm__label_room *room, ocdm_error *error)
{
    size_t total = 0, used = 0, row = ocdm__bits_size(table->class_count);
    for (size_t i = 0; i < batch->count; i++)
        total += (size_t)(table->label_starts[batch->samples[i] + (size_t)1] - table->label_starts[batch->samples[i]]);
    if (!ocdm__reserve(&room->starts, &room->start_room, batch->count + 1, sizeof *room->starts) ||
        !ocdm__reserve(&room->labels, &room->label_room, total + 1, sizeof *room->labels) ||
        (table->known != NULL && !ocdm__reserve(&room->known, &room->known_room, batch->count * row + 1, 1)))
        return ocdm__fail_memory(error, "the labels of a batch");
    for (size_t i = 0; i < batch->count; i++) {
        size_t sample = batch->samples[i];
        room->starts[i] = used;
        for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++)
            room->labels[used++] = table->labels[k];
        if (table->known != NULL) /* a sample that is replayed has the known labels that it came with */
            memcpy(room->known + i * row, table->known + sample * row, row);
    }
    room->starts[batch->count] = used;
    batch->starts = room->starts;
    batch->labels = room->labels;
    batch->known = table->known != NULL ? room->known : NULL;
    return OCDM_OK;
}

void ocdm__label_room_clear(ocdm__label_room *room)
{
    ocdm__release(room->starts);
    ocdm__release(room->labels);
    ocdm__release(room->known);
    *room = (ocdm__label_room){.starts = NULL};
}

/* ---- room ------------------------------------------------------------------------------------------------------------ */

/* The input slot for replayed samples; batches of the stream alternate between the slots before it. */
#define REPLAY_SLOT 2u

/* What only some settings need: counts of classes where these have weights in the loss or averages begin with them, keys where
 * samples are not drawn alike, logits for --dark. */
static bool make_room_for_settings(ocdm__online *online)
{
    const ocdm__online_parts *parts = &online->parts;
    const ocdm__replay *replays = parts->replays;
    size_t classes = parts->table->class_count;
    bool learns = parts->learner != NULL, counts = learns && parts->balance != 0, ages = learns && parts->ages;
    bool drawn = replays != NULL && replays->rule != OCDM__REPLAY_UNIFORM;
    bool dark = replays != NULL && replays->width > replays->losses, guesses = learns && parts->pseudo > 0;
    ages = ages || guesses;
    online->guesses = guesses ? ocdm__allocate((size_t)parts->batch + parts->replay, classes * sizeof *online->guesses) : NULL;
    online->ages = ages ? ocdm__allocate(classes, sizeof *online->ages) : NULL;
    online->seen = counts ? ocdm__allocate(classes, sizeof *online->seen) : NULL;
    online->class_weights = counts ? ocdm__allocate(classes, sizeof *online->class_weights) : NULL;
    online->keys = drawn ? ocdm__allocate(parts->replay, sizeof *online->keys) : NULL;
    online->dark = dark ? ocdm__allocate(parts->replay, classes * sizeof *online->dark) : NULL;
    return (online->ages != NULL || !ages) && ((online->seen != NULL && online->class_weights != NULL) || !counts) &&
           (online->keys != NULL || !drawn) && (online->dark != NULL || !dark) && (online->guesses != NULL || !guesses);
}

ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error)
{
    size_t room = (size_t)parts->batch + parts->replay, size = parts->inputs != NULL ? parts->inputs->size : 0;
    *online = (ocdm__online){.parts = *parts};
    if (parts->inputs != NULL)
        parts->inputs->learner = parts->learner;
    online->slots = ocdm__allocate(parts->replay, sizeof *online->slots);
    online->samples = ocdm__allocate(room, sizeof *online->samples);
    online->offered = ocdm__allocate(parts->batch, sizeof *online->offered);
    online->input = size <= SIZE_MAX / sizeof(float) ? ocdm__allocate(room, size * sizeof *online->input) : NULL;
    if (online->slots == NULL || online->samples == NULL || online->offered == NULL || online->input == NULL ||
        !make_room_for_settings(online))
        return ocdm__fail_memory(error, "the batches of a run");
    if (parts->memory == NULL || parts->learner == NULL ||
        (ocdm_memory_options(parts->memory)->policy->traits & OCDM_NEEDS_GRADIENTS) == 0)
        return OCDM_OK;
    return ocdm__similarity_open(&online->similarity, parts, REPLAY_SLOT, error);
}

void ocdm__online_close(ocdm__online *online)
{
    void *const blocks[] = {online->slots,         online->samples, online->offered, online->input, online->seen,
                            online->class_weights, online->ages,    online->keys,    online->dark,  online->guesses};
    ocdm__similarity_close(online->similarity);
    ocdm__label_room_clear(&online->labels);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        ocdm__release(blocks[i]);
    *online = (ocdm__online){.skipped = 0};
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

void ocdm__online_draw(ocdm__online *online, const ocdm__batch *stream)
{
    const ocdm__online_parts *parts = &online->parts;
    double begun = ocdm__seconds_now();
    size_t drawn = 0; /* without replacement: fewer while the memory holds fewer */
    if (!stream->again) {
        ocdm__online_count(online, stream->samples, stream->count);
        online->operations = 0;
    }
    if (online->similarity != NULL) {
        online->similarity->step = stream->step;
        online->similarity->asked = 0;
    }
    if (parts->memory != NULL && parts->learner != NULL)
        drawn =
            parts->replays == NULL || parts->replays->rule == OCDM__REPLAY_UNIFORM
                ? ocdm_memory_draw(parts->memory, parts->replay, online->slots)
                : ocdm__replay_draw(parts->replays, parts->memory, stream->update, online->slots, online->keys, parts->replay);
    memcpy(online->samples, stream->samples, stream->count * sizeof *online->samples);
    for (size_t i = 0; i < drawn; i++)
        online->samples[stream->count + i] = (uint32_t)ocdm_memory_id(parts->memory, online->slots[i]);
    online->batch = (ocdm__batch){.step = stream->step,
                                  .update = stream->update,
                                  .again = stream->again,
                                  .begins_task = stream->begins_task,
                                  .samples = online->samples,
                                  .count = stream->count + drawn,
                                  .fresh = stream->count};
    online->times.draw += ocdm__seconds_now() - begun;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------ */

/* Joins this process's samples of the batch: those of the stream, which were requested ahead, then those of the memory. */
static ocdm_status decode(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error)
{
    ocdm__model_inputs *inputs = online->parts.inputs;
    ocdm__batch *batch = &online->batch;
    size_t count = batch->count, fresh = batch->fresh,
           usual = ahead->count + (online->parts.memory != NULL ? online->parts.replay : 0);
    unsigned slot = online->turn++ % REPLAY_SLOT, next = online->turn % REPLAY_SLOT;
    OCDM_TRY(ocdm__model_inputs_deal(inputs, slot, batch, true, count, 0, fresh, error));
    OCDM_TRY(ocdm__model_inputs_deal(inputs, REPLAY_SLOT, batch, true, count, fresh, count, error));
    OCDM_TRY(ocdm__model_inputs_deal(inputs, next, ahead, true, usual, 0, ahead->count, error));
    OCDM_TRY(ocdm__model_inputs_receive(inputs, slot, REPLAY_SLOT, online->input, batch, error));
    for (size_t i = batch->fresh; i < batch->count; i++) /* the slots of the replayed samples that are left */
        online->slots[i - batch->fresh] = online->slots[batch->usable[i] - fresh];
    online->skipped += batch->again ? 0 : fresh - batch->fresh;
    return OCDM_OK;
}

ocdm_status ocdm__online_decode(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error)
{
    double begun = ocdm__seconds_now();
    ocdm_status status = online->parts.learner != NULL ? decode(online, ahead, error) : OCDM_OK;
    online->times.decode += ocdm__seconds_now() - begun;
    return status;
}

/* ---- classes so far: their weights in the loss, their ages --------------------------------------------------------------- */

bool ocdm__online_counts(const ocdm__online *online)
{
    return online->seen != NULL || online->ages != NULL;
}

void ocdm__online_count(ocdm__online *online, const uint32_t *samples, size_t count)
{
    const ocdm__stream_table *table = online->parts.table;
    for (size_t c = 0; online->ages != NULL && c < table->class_count; c++)
        online->ages[c] += online->ages[c] > 0;
    for (size_t i = 0; ocdm__online_counts(online) && i < count; i++)
        for (uint64_t k = table->label_starts[samples[i]]; k < table->label_starts[samples[i] + (size_t)1]; k++) {
            uint32_t class = table->labels[k];
            if (online->seen != NULL)
                online->seen[class]++;
            if (online->ages != NULL && online->ages[class] == 0)
                online->ages[class] = 1;
        }
}

/* (mean / n_c)^balance, the mean over the classes seen so far; 1 for the others. NULL without weights. */
static const float *weigh_classes(const ocdm__online *online)
{
    uint64_t total = 0, classes = 0;
    if (online->seen == NULL)
        return NULL;
    for (size_t c = 0; c < online->parts.table->class_count; c++) {
        total += online->seen[c];
        classes += online->seen[c] > 0;
    }
    for (size_t c = 0; c < online->parts.table->class_count; c++) {
        double count = (double)online->seen[c] * (double)classes;
        online->class_weights[c] = count > 0 ? (float)pow((double)total / count, online->parts.balance) : 1;
    }
    return online->class_weights;
}

/* The logits that the replayed samples once had; NULL if they are not kept. */
static const float *recall_logits(const ocdm__online *online)
{
    const ocdm__replay *replays = online->parts.replays;
    size_t classes = online->parts.table->class_count;
    for (size_t i = 0; online->dark != NULL && i < online->batch.count - online->batch.fresh; i++)
        memcpy(online->dark + i * classes, replays->kept + online->slots[i] * replays->width + replays->losses,
               classes * sizeof *online->dark);
    return online->dark;
}

/* ---- training ---------------------------------------------------------------------------------------------------------- */

/* NaN for a learner that does not know them. */
static double operations_of(const ocdm__learner *learner, size_t count, size_t fresh)
{
    return learner->functions->operations != NULL ? learner->functions->operations(learner->state, count, fresh) : NAN;
}

/* The learner sees the whole batch at once; errors say in which step and, if it is one, for which sample. */
static ocdm_status train(ocdm__online *online, double *loss, ocdm_error *error)
{
    const ocdm__learner *learner = online->parts.learner;
    ocdm__batch *batch = &online->batch;
    unsigned long long step = batch->step + 1;
    ocdm_error found = {.message = ""};
    size_t bad = 0;
    OCDM_TRY(ocdm__batch_label(batch, online->parts.table, &online->labels, error));
    OCDM_TRY(ocdm__online_add_pseudo_labels(online, error));
    batch->class_weights = weigh_classes(online);
    batch->dark = recall_logits(online);
    batch->ages = online->parts.ages ? online->ages : NULL;
    ocdm_status status = learner->functions->train(learner->state, batch, loss, &bad, &found);
    if (status == OCDM_BAD_RECORD)
        return ocdm__fail(error, status, found.hint, "step %llu: the loss of sample %u is not a finite number", step,
                          batch->samples[bad]);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, found.hint, "step %llu: %s", step, found.message);
    ocdm__replay_note(online->parts.replays, learner, online->slots, batch->count - batch->fresh, NULL, batch->fresh);
    online->operations += operations_of(learner, batch->count, batch->fresh);
    if (online->guesses != NULL) /* one more forward pass, a third of a step */
        online->operations += operations_of(learner, batch->count, batch->fresh) / 3;
    return OCDM_OK;
}

ocdm_status ocdm__online_train(ocdm__online *online, double *loss, ocdm_error *error)
{
    double begun = ocdm__seconds_now();
    *loss = NAN;
    ocdm_status status = online->parts.learner != NULL && online->batch.count > 0 ? train(online, loss, error) : OCDM_OK;
    online->times.train += ocdm__seconds_now() - begun;
    return status;
}

/* ---- remembering ------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__online_remember(ocdm__online *online, ocdm_error *error)
{
    const ocdm__stream_table *table = online->parts.table;
    double begun = ocdm__seconds_now();
    ocdm_change change;
    if (online->parts.memory == NULL)
        return OCDM_OK;
    for (size_t i = 0; i < online->batch.fresh; i++) {
        size_t sample = online->batch.samples[i];
        online->offered[i] =
            (ocdm_sample){.id = sample,
                          .labels = table->labels + table->label_starts[sample],
                          .label_count = (size_t)(table->label_starts[sample + 1] - table->label_starts[sample])};
    }
    ocdm_status status = OCDM_OK;
    if (online->batch.begins_task) {
        status = ocdm_memory_begin_task(online->parts.memory, &change, error);
        if (status == OCDM_OK)
            ocdm__replay_move(online->parts.replays, change.moved, change.moved_count);
    }
    OCDM_THEN(status, ocdm_memory_update(online->parts.memory, online->offered, online->batch.fresh, &change, error));
    if (status == OCDM_OK)
        ocdm__replay_note(online->parts.replays, online->parts.learner, change.slot, change.stored, change.item, 0);
    if (online->similarity != NULL) {
        size_t asked = online->similarity->asked;
        online->operations += operations_of(online->parts.learner, asked, asked);
    }
    online->times.update += ocdm__seconds_now() - begun;
    return status;
}
