/* The parts of the online step: drawing, decoding, training, remembering. */
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

/* Only where classes have weights, or where averages begin with them. */
static bool make_class_counts(ocdm__online *online)
{
    if (online->parts.learner == NULL)
        return true;
    if (online->parts.ages)
        online->ages = ocdm__allocate(online->parts.table->class_count, sizeof *online->ages);
    if (online->parts.ages && online->ages == NULL)
        return false;
    if (online->parts.balance == 0)
        return true;
    online->seen = ocdm__allocate(online->parts.table->class_count, sizeof *online->seen);
    online->class_weights = ocdm__allocate(online->parts.table->class_count, sizeof *online->class_weights);
    return online->seen != NULL && online->class_weights != NULL;
}

/* Only where samples are not drawn alike, or logits are kept. */
static bool make_replay_room(ocdm__online *online)
{
    const ocdm__replay *replays = online->parts.replays;
    if (replays == NULL)
        return true;
    bool drawn = replays->rule != OCDM__REPLAY_UNIFORM, dark = replays->width > replays->losses;
    if (drawn)
        online->keys = ocdm__allocate(online->parts.replay, sizeof *online->keys);
    if (dark)
        online->dark = ocdm__allocate(online->parts.replay, online->parts.table->class_count * sizeof *online->dark);
    return (!drawn || online->keys != NULL) && (!dark || online->dark != NULL);
}

ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error)
{
    size_t room = (size_t)parts->batch + parts->replay;
    size_t size = parts->inputs != NULL ? ocdm__model_inputs_size(parts->inputs) : 0;
    *online = (ocdm__online){.parts = *parts};
    online->slots = ocdm__allocate(parts->replay, sizeof *online->slots);
    online->samples = ocdm__allocate(room, sizeof *online->samples);
    online->unusable = ocdm__allocate(room, sizeof *online->unusable);
    online->offered = ocdm__allocate(parts->batch, sizeof *online->offered);
    online->input = size <= SIZE_MAX / sizeof(float) ? ocdm__allocate(room, size * sizeof *online->input) : NULL;
    if (online->slots == NULL || online->samples == NULL || online->unusable == NULL || online->offered == NULL ||
        online->input == NULL || !make_class_counts(online) || !make_replay_room(online))
        return ocdm__fail_memory(error, "the batches of a run");
    if (parts->memory == NULL || parts->learner == NULL ||
        (ocdm_memory_options(parts->memory)->policy->traits & OCDM_NEEDS_GRADIENTS) == 0)
        return OCDM_OK;
    return ocdm__similarity_open(&online->similarity, parts, REPLAY_SLOT, error);
}

void ocdm__online_close(ocdm__online *online)
{
    ocdm__similarity_close(online->similarity);
    ocdm__release(online->slots);
    ocdm__release(online->samples);
    ocdm__release(online->unusable);
    ocdm__release(online->offered);
    ocdm__release(online->input);
    ocdm__release(online->seen);
    ocdm__release(online->class_weights);
    ocdm__release(online->ages);
    ocdm__release(online->keys);
    ocdm__release(online->dark);
    ocdm__label_room_clear(&online->labels);
    *online = (ocdm__online){.skipped = 0};
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

/* Without replacement, fewer while the memory holds fewer. */
static size_t draw_slots(ocdm__online *online, uint64_t update)
{
    ocdm_memory *memory = online->parts.memory;
    const ocdm__replay *replays = online->parts.replays;
    if (memory == NULL || online->parts.learner == NULL)
        return 0;
    if (replays == NULL || replays->rule == OCDM__REPLAY_UNIFORM)
        return ocdm_memory_draw(memory, online->parts.replay, online->slots);
    return ocdm__replay_draw(replays, memory, update, online->slots, online->keys, online->parts.replay);
}

void ocdm__online_draw(ocdm__online *online, const ocdm__batch *stream)
{
    double begun = ocdm__seconds_now();
    if (!stream->again) {
        ocdm__online_count(online, stream->samples, stream->count);
        online->operations = 0;
    }
    if (online->similarity != NULL)
        ocdm__similarity_begin(online->similarity, stream->step);
    size_t drawn = draw_slots(online, stream->update);
    memcpy(online->samples, stream->samples, stream->count * sizeof *online->samples);
    for (size_t i = 0; i < drawn; i++)
        online->samples[stream->count + i] = (uint32_t)ocdm_memory_id(online->parts.memory, online->slots[i]);
    online->batch = (ocdm__batch){.step = stream->step,
                                  .update = stream->update,
                                  .again = stream->again,
                                  .samples = online->samples,
                                  .count = stream->count + drawn,
                                  .fresh = stream->count};
    online->times.draw += ocdm__seconds_now() - begun;
}

/* ---- decoding this process's samples ------------------------------------------------------------------------------------- */

/* Which of the positions `first` to `end` are of this process's part. */
static struct ocdm__online_request within(const ocdm__learner_part *part, size_t first, size_t end)
{
    struct ocdm__online_request own = {part->first > first ? part->first : first, part->end < end ? part->end : end};
    return own.first < own.end ? own : (struct ocdm__online_request){0, 0};
}

/* Requests them. */
static ocdm_status request(ocdm__online *online, unsigned slot, const ocdm__batch *batch, struct ocdm__online_request own,
                           ocdm_error *error)
{
    online->requests[slot] = own;
    if (own.first == own.end)
        return OCDM_OK;
    ocdm__batch asked = *batch;
    asked.samples += own.first;
    asked.count = own.end - own.first;
    asked.fresh = batch->fresh > own.first ? batch->fresh - own.first : 0;
    return ocdm__model_inputs_request_batch(online->parts.inputs, slot, &asked, true, error);
}

/* Appends what was requested to the step's input, and marks what cannot be used. */
static ocdm_status take(ocdm__online *online, unsigned slot, ocdm_error *error)
{
    const struct ocdm__online_request own = online->requests[slot];
    size_t size = ocdm__model_inputs_size(online->parts.inputs);
    ocdm__batch ready;
    if (own.first == own.end)
        return OCDM_OK;
    OCDM_TRY(ocdm__model_inputs_wait(online->parts.inputs, slot, &ready, error));
    for (size_t i = own.first; i < own.end; i++)
        online->unusable[i] = 1;
    for (size_t i = 0; i < ready.count; i++)
        online->unusable[own.first + ready.usable[i]] = 0;
    memcpy(online->input + online->input_count * size, ready.input, ready.count * size * sizeof *online->input);
    online->input_count += ready.count;
    return OCDM_OK;
}

/* What was requested ahead is the part of a step of the usual size. In another step, which comes only before the memory is
 * full, the part is another one. */
static ocdm_status request_stream(ocdm__online *online, unsigned slot, struct ocdm__online_request own, ocdm_error *error)
{
    const struct ocdm__online_request ahead = online->requests[slot];
    ocdm__batch ready;
    if (online->requested && ahead.first == own.first && ahead.end == own.end)
        return OCDM_OK;
    if (online->requested && ahead.first < ahead.end)
        OCDM_TRY(ocdm__model_inputs_wait(online->parts.inputs, slot, &ready, error));
    return request(online, slot, &online->batch, own, error);
}

static ocdm_status request_all(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error)
{
    const ocdm__learner *learner = online->parts.learner;
    const ocdm__batch *batch = &online->batch;
    unsigned slot = online->turn % REPLAY_SLOT, next = (online->turn + 1) % REPLAY_SLOT;
    ocdm__learner_part part = ocdm__learner_part_of(learner, batch->count, true);
    OCDM_TRY(request_stream(online, slot, within(&part, 0, batch->fresh), error));
    ocdm_status status = request(online, REPLAY_SLOT, batch, within(&part, batch->fresh, batch->count), error);
    online->requested = ahead->count > 0;
    if (status != OCDM_OK || !online->requested)
        return status;
    part = ocdm__learner_part_of(learner, ahead->count + (online->parts.memory != NULL ? online->parts.replay : 0), true);
    return request(online, next, ahead, within(&part, 0, ahead->count), error);
}

/* ---- samples that cannot be used ----------------------------------------------------------------------------------------- */

/* The batch is then what every rank can use, and the slots are those of the replayed samples in it. */
static void drop_unusable(ocdm__online *online)
{
    ocdm__batch *batch = &online->batch;
    size_t count = batch->count, fresh = batch->fresh;
    batch->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == fresh)
            batch->fresh = batch->count;
        if (online->unusable[i] != 0)
            continue;
        if (i >= fresh)
            online->slots[batch->count - batch->fresh] = online->slots[i - fresh];
        online->samples[batch->count++] = online->samples[i];
    }
    if (count == fresh)
        batch->fresh = batch->count;
    online->skipped += batch->again ? 0 : fresh - batch->fresh;
}

/* With fewer samples every rank has another part. */
static ocdm_status decode_again(ocdm__online *online, ocdm_error *error)
{
    const ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, online->batch.count, true);
    online->input_count = 0;
    OCDM_TRY(request(online, REPLAY_SLOT, &online->batch, within(&part, 0, online->batch.count), error));
    OCDM_TRY(take(online, REPLAY_SLOT, error));
    if (online->input_count < part.end - part.first)
        return ocdm__fail(error, OCDM_IO, "", "an image that another rank could decode cannot be decoded here");
    return OCDM_OK;
}

/* The leader tells users about the first image that was left out: it tries one that failed elsewhere. */
static ocdm_status find_reason(ocdm__online *online, size_t unusable, ocdm_error *error)
{
    ocdm__batch ready;
    if (ocdm__model_inputs_first_skipped(online->parts.inputs) != NULL)
        return OCDM_OK;
    OCDM_TRY(request(online, REPLAY_SLOT, &online->batch, (struct ocdm__online_request){unusable, unusable + 1}, error));
    return ocdm__model_inputs_wait(online->parts.inputs, REPLAY_SLOT, &ready, error);
}

static ocdm_status leave_out_unusable(ocdm__online *online, const ocdm__learner_part *part, ocdm_error *error)
{
    size_t first = 0;
    while (online->unusable[first] == 0)
        first++;
    if (part->ranks->rank == 0)
        OCDM_TRY(find_reason(online, first, error));
    drop_unusable(online);
    return part->ranks->size > 1 && online->batch.count > 0 ? decode_again(online, error) : OCDM_OK;
}

/* Joins this process's samples of the batch: those of the stream, then those of the memory. */
static ocdm_status decode(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error)
{
    unsigned slot = online->turn % REPLAY_SLOT;
    OCDM_TRY(request_all(online, ahead, error));
    online->turn++;
    online->input_count = 0;
    OCDM_TRY(take(online, slot, error));
    OCDM_TRY(take(online, REPLAY_SLOT, error));
    const ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, online->batch.count, true);
    if (ocdm__learner_part_share(&part, online->unusable, online->batch.count) == 0)
        return OCDM_OK;
    return leave_out_unusable(online, &part, error);
}

ocdm_status ocdm__online_decode(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error)
{
    ocdm_error why = {.status = OCDM_OK};
    double begun = ocdm__seconds_now();
    ocdm_status status = online->parts.learner != NULL ? decode(online, ahead, &why) : OCDM_OK;
    online->times.decode += ocdm__seconds_now() - begun;
    if (status == OCDM_OK)
        return OCDM_OK;
    const ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, 1, true);
    ocdm__ranks_end_after(part.ranks, &why); /* the others wait for this part */
    if (error != NULL)
        *error = why;
    return status;
}

/* ---- classes so far: their weights in the loss, their ages --------------------------------------------------------------- */

bool ocdm__online_counts(const ocdm__online *online)
{
    return online->seen != NULL || online->ages != NULL;
}

static void count_label(ocdm__online *online, uint32_t class)
{
    if (online->seen != NULL)
        online->seen[class]++;
    if (online->ages != NULL && online->ages[class] == 0)
        online->ages[class] = 1;
}

void ocdm__online_count(ocdm__online *online, const uint32_t *samples, size_t count)
{
    const ocdm__stream_table *table = online->parts.table;
    for (size_t c = 0; online->ages != NULL && c < online->parts.table->class_count; c++)
        online->ages[c] += online->ages[c] > 0;
    for (size_t i = 0; ocdm__online_counts(online) && i < count; i++)
        for (uint64_t k = table->label_starts[samples[i]]; k < table->label_starts[samples[i] + (size_t)1]; k++)
            count_label(online, table->labels[k]);
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

/* ---- what is kept of a step ---------------------------------------------------------------------------------------------- */

/* The logits that the replayed samples once had; NULL if they are not kept. */
static const float *recall_logits(const ocdm__online *online)
{
    size_t classes = online->parts.table->class_count;
    if (online->dark == NULL)
        return NULL;
    for (size_t i = 0; i < online->batch.count - online->batch.fresh; i++)
        memcpy(online->dark + i * classes, ocdm__replay_logits(online->parts.replays, online->slots[i]),
               classes * sizeof *online->dark);
    return online->dark;
}

/* What the learner made of the batch is kept beside the samples in these slots, if anything is: row[i] of the outputs, or row
 * first + i. */
static void note_slots(const ocdm__online *online, const uint32_t *slots, size_t count, const uint32_t *rows, size_t first)
{
    const ocdm__learner *learner = online->parts.learner;
    ocdm__replay *replays = online->parts.replays;
    if (replays == NULL || replays->kept == NULL)
        return;
    const ocdm__outputs outputs = learner->functions->outputs(learner->state);
    for (size_t i = 0; i < count; i++)
        ocdm__replay_note(replays, slots[i], &outputs, rows != NULL ? rows[i] : first + i, rows != NULL);
}

/* ---- training ---------------------------------------------------------------------------------------------------------- */

static double operations_of(const ocdm__learner *learner, size_t count, size_t fresh)
{
    return learner->functions->operations != NULL ? learner->functions->operations(learner->state, count, fresh) : NAN;
}

static ocdm_status train(ocdm__online *online, double *loss, ocdm_error *error)
{
    const ocdm__learner *learner = online->parts.learner;
    ocdm__batch *batch = &online->batch;
    unsigned long long step = batch->step + 1;
    ocdm_error found = {.message = ""};
    size_t bad = 0;
    OCDM_TRY(ocdm__batch_label(batch, online->parts.table, &online->labels, error));
    batch->input = online->input;
    batch->class_weights = weigh_classes(online);
    batch->dark = recall_logits(online);
    batch->ages = online->ages;
    ocdm_status status = learner->functions->train(learner->state, batch, loss, &bad, &found);
    if (status == OCDM_BAD_RECORD)
        return ocdm__fail(error, status, found.hint, "step %llu: the loss of sample %u is not a finite number", step,
                          batch->samples[bad]);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, found.hint, "step %llu: %s", step, found.message);
    note_slots(online, online->slots, batch->count - batch->fresh, NULL, batch->fresh);
    online->operations += operations_of(learner, batch->count, batch->fresh);
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
        size_t sample = online->samples[i];
        online->offered[i] =
            (ocdm_sample){.id = sample,
                          .labels = table->labels + table->label_starts[sample],
                          .label_count = (size_t)(table->label_starts[sample + 1] - table->label_starts[sample])};
    }
    ocdm_status status = ocdm_memory_update(online->parts.memory, online->offered, online->batch.fresh, &change, error);
    if (status == OCDM_OK)
        note_slots(online, change.slot, change.stored, change.item, 0);
    if (online->similarity != NULL) {
        size_t asked = ocdm__similarity_asked(online->similarity);
        online->operations += operations_of(online->parts.learner, asked, asked);
    }
    online->times.update += ocdm__seconds_now() - begun;
    return status;
}
