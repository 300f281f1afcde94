/* Draw, train, update: the paper's loop over the stream. */
#include "experiment/loop/online.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/clock.h"
#include "base/error.h"

/* Where the inputs prepare what is replayed; batches of the stream take turns in the slots before it. */
#define REPLAY_SLOT 2u

ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error)
{
    size_t room = (size_t)parts->batch + parts->replay;
    size_t size = parts->inputs != NULL ? ocdm__inputs_size(parts->inputs) : 0;
    *online = (ocdm__online){.parts = *parts};
    online->slots = ocdm__allocate(parts->replay, sizeof *online->slots);
    online->replayed = ocdm__allocate(parts->replay, sizeof *online->replayed);
    online->chosen = ocdm__allocate(room, sizeof *online->chosen);
    online->offered = ocdm__allocate(parts->batch, sizeof *online->offered);
    online->input = size <= SIZE_MAX / sizeof(float) ? ocdm__allocate(room, size * sizeof *online->input) : NULL;
    if (online->slots == NULL || online->replayed == NULL || online->chosen == NULL || online->offered == NULL ||
        online->input == NULL)
        return ocdm__fail_memory(error, "the batches of a run");
    if (parts->memory == NULL || parts->agent == NULL ||
        (ocdm_memory_options(parts->memory)->policy->traits & OCDM_NEEDS_GRADIENTS) == 0)
        return OCDM_OK;
    return ocdm__gss_similarity_open(&online->similarity, parts->memory, parts->agent, parts->inputs, REPLAY_SLOT,
                                     &parts->labels, error);
}

void ocdm__online_close(ocdm__online *online)
{
    ocdm__gss_similarity_close(&online->similarity);
    ocdm__release(online->slots);
    ocdm__release(online->replayed);
    ocdm__release(online->chosen);
    ocdm__release(online->offered);
    ocdm__release(online->input);
    ocdm__batch_labels_clear(&online->labels);
    *online = (ocdm__online){.skipped = 0};
}

/* ---- samples ----------------------------------------------------------------------------------------------------------- */

/* Uniformly, without replacement, fewer while the memory holds fewer. */
static size_t draw_replay(ocdm__online *online)
{
    ocdm_memory *memory = online->parts.memory;
    if (memory == NULL || online->parts.agent == NULL)
        return 0;
    size_t drawn = ocdm_memory_draw(memory, online->parts.replay, online->slots);
    for (size_t i = 0; i < drawn; i++)
        online->replayed[i] = (uint32_t)ocdm_memory_id(memory, online->slots[i]);
    return drawn;
}

/* Appends a prepared batch to the step's; `samples` are those that were requested. */
static void take(ocdm__online *online, const uint32_t *samples, const ocdm__ready *ready, size_t *count)
{
    size_t size = ocdm__inputs_size(online->parts.inputs);
    memcpy(online->input + *count * size, ready->tensor, ready->count * size * sizeof *online->input);
    for (size_t i = 0; i < ready->count; i++)
        online->chosen[(*count)++] = samples[ready->usable[i]];
}

static ocdm_status request_all(ocdm__online *online, const ocdm__online_batch *batch, size_t replayed, ocdm_error *error)
{
    ocdm__inputs *inputs = online->parts.inputs;
    unsigned slot = (unsigned)(batch->step % REPLAY_SLOT), next = (unsigned)((batch->step + 1) % REPLAY_SLOT);
    ocdm_status status = OCDM_OK;
    if (!online->requested)
        status = ocdm__inputs_request(inputs, slot, batch->samples, batch->count, batch->step, true, error);
    if (status == OCDM_OK && replayed > 0)
        status = ocdm__inputs_request(inputs, REPLAY_SLOT, online->replayed, replayed, batch->step, true, error);
    if (status == OCDM_OK && batch->next_count > 0)
        status = ocdm__inputs_request(inputs, next, batch->next, batch->next_count, batch->step + 1, true, error);
    online->requested = batch->next_count > 0;
    return status;
}

/* Brings the step's samples together: those of the stream, then those of the memory. */
static ocdm_status gather(ocdm__online *online, const ocdm__online_batch *batch, size_t replayed, size_t *count,
                          ocdm_error *error)
{
    ocdm__ready ready;
    ocdm_status status = request_all(online, batch, replayed, error);
    if (status == OCDM_OK)
        status = ocdm__inputs_wait(online->parts.inputs, (unsigned)(batch->step % REPLAY_SLOT), &ready, error);
    if (status != OCDM_OK)
        return status;
    take(online, batch->samples, &ready, count);
    online->stream_count = *count;
    online->skipped += batch->count - *count;
    if (replayed == 0)
        return OCDM_OK;
    status = ocdm__inputs_wait(online->parts.inputs, REPLAY_SLOT, &ready, error);
    if (status == OCDM_OK)
        take(online, online->replayed, &ready, count);
    return status;
}

/* ---- learning ---------------------------------------------------------------------------------------------------------- */

static ocdm_status train(ocdm__online *online, uint64_t step, size_t count, double *loss, ocdm_error *error)
{
    ocdm_error found = {.message = ""};
    ocdm_status status = ocdm__batch_labels_gather(&online->labels, &online->parts.labels, online->chosen, count, error);
    if (status != OCDM_OK || count == 0)
        return status;
    struct ocdm__labelled_batch batch = {online->input, online->labels.starts, online->labels.labels, count};
    status = ocdm__agent_train(online->parts.agent, &batch, loss, &found);
    if (status == OCDM_BAD_RECORD)
        return ocdm__fail(error, status, found.hint, "step %llu: the loss of sample %u is not a finite number",
                          (unsigned long long)step + 1, online->chosen[ocdm__agent_bad_sample(online->parts.agent)]);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, found.hint, "step %llu: %s", (unsigned long long)step + 1, found.message);
    return OCDM_OK;
}

/* ---- remembering ------------------------------------------------------------------------------------------------------- */

static ocdm_status update(ocdm__online *online, ocdm_error *error)
{
    const ocdm__label_lists *lists = &online->parts.labels;
    if (online->parts.memory == NULL)
        return OCDM_OK;
    for (size_t i = 0; i < online->stream_count; i++) {
        uint32_t sample = online->chosen[i];
        online->offered[i] = (ocdm_sample){.id = sample,
                                           .labels = lists->labels + lists->starts[sample],
                                           .label_count = (size_t)(lists->starts[sample + 1] - lists->starts[sample])};
    }
    return ocdm_memory_update(online->parts.memory, online->offered, online->stream_count, NULL, error);
}

ocdm_status ocdm__online_step(ocdm__online *online, const ocdm__online_batch *batch, double *loss, ocdm_error *error)
{
    ocdm__step_times *times = &online->times;
    double begun = ocdm__seconds_now();
    size_t count = 0, replayed = draw_replay(online);
    ocdm_status status = OCDM_OK;
    *loss = NAN;
    double drawn = ocdm__seconds_now(), gathered = drawn, trained = drawn;
    if (online->parts.agent != NULL) {
        status = gather(online, batch, replayed, &count, error);
        gathered = ocdm__seconds_now();
        if (status == OCDM_OK)
            status = train(online, batch->step, count, loss, error);
        trained = ocdm__seconds_now();
    } else {
        memcpy(online->chosen, batch->samples, batch->count * sizeof *online->chosen);
        online->stream_count = batch->count;
    }
    if (status == OCDM_OK)
        status = update(online, error);
    times->draw += drawn - begun;
    times->decode += gathered - drawn;
    times->train += trained - gathered;
    times->update += ocdm__seconds_now() - trained;
    return status;
}
