/*
 * Prepares this process's part of batches, and agrees with the other ranks on what can be used.
 *
 * An image that one rank cannot decode is left out by all of them: every rank must train on the same batch. The parts are
 * then dealt again, since each rank has other samples of a smaller batch.
 */
#include "experiment/loop/feed.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

ocdm_status ocdm__feed_open(ocdm__feed *feed, size_t room, ocdm_error *error)
{
    OCDM_TRY(ocdm__new(&feed->unusable, room, 3 * sizeof *feed->unusable, "parts of a batch", error));
    feed->usable = feed->unusable + room;
    feed->samples = feed->usable + room;
    return OCDM_OK;
}

void ocdm__feed_close(ocdm__feed *feed)
{
    ocdm__release(feed->unusable);
    *feed = (ocdm__feed){.lost = 0};
}

/* The other ranks wait for this one's part: without it they cannot go on. Returns where this process is alone. */
static ocdm_status end_all_after(const ocdm__feed *feed, const ocdm_error *why, ocdm_error *error)
{
    ocdm__ranks_end_after(ocdm__learner_part_of(feed->learner, 1, feed->training).ranks, why);
    if (error != NULL)
        *error = *why;
    return why->status;
}

/* ---- requests ------------------------------------------------------------------------------------------------------------ */

/* Positions count from the first sample of the batch, of which the first `fresh` are of the stream. */
static ocdm_status request(ocdm__feed *feed, unsigned slot, const ocdm__batch *batch, size_t first, size_t end,
                           ocdm_error *error)
{
    ocdm__batch asked = *batch;
    asked.samples += first;
    asked.count = end - first;
    asked.fresh = batch->fresh > first ? batch->fresh - first : 0;
    OCDM_TRY(ocdm__model_inputs_request(feed->inputs, slot, &asked, feed->training, error));
    feed->ranges[slot] = (struct ocdm__feed_range){first, end};
    return OCDM_OK;
}

/* Leaves the slot free. What it has prepared lives until its next request. */
static ocdm_status await(ocdm__feed *feed, unsigned slot, ocdm__batch *ready, ocdm_error *error)
{
    bool asked = feed->ranges[slot].end > 0;
    feed->ranges[slot] = (struct ocdm__feed_range){0, 0};
    *ready = (ocdm__batch){.count = 0};
    return asked ? ocdm__model_inputs_wait(feed->inputs, slot, ready, error) : OCDM_OK;
}

ocdm_status ocdm__feed_request(ocdm__feed *feed, unsigned slot, const ocdm__batch *batch, size_t count, size_t first,
                               size_t end, ocdm_error *error)
{
    const struct ocdm__feed_range ahead = feed->ranges[slot];
    ocdm_error why = {.status = OCDM_OK};
    ocdm__batch ready;
    if (first == end)
        return OCDM_OK;
    const ocdm__learner_part part = ocdm__learner_part_of(feed->learner, count, feed->training);
    first = part.first > first ? part.first : first;
    end = part.end < end ? part.end : end;
    if (ahead.end > 0 && ahead.first == first && ahead.end == end)
        return OCDM_OK;
    why.status = await(feed, slot, &ready, &why);
    if (why.status == OCDM_OK && first < end)
        why.status = request(feed, slot, batch, first, end, &why);
    return why.status == OCDM_OK ? OCDM_OK : end_all_after(feed, &why, error);
}

/* ---- receiving ----------------------------------------------------------------------------------------------------------- */

/* Waits for a slot and marks what cannot be used. Its input goes to `to`, unless that is NULL: then the batch points to it. */
static ocdm_status take(ocdm__feed *feed, unsigned slot, float *to, ocdm__batch *batch, size_t *taken, ocdm_error *error)
{
    const struct ocdm__feed_range own = feed->ranges[slot];
    ocdm__batch ready;
    OCDM_TRY(await(feed, slot, &ready, error));
    for (size_t i = own.first; i < own.end; i++)
        feed->unusable[i] = 1;
    for (size_t i = 0; i < ready.count; i++)
        feed->unusable[own.first + ready.usable[i]] = 0;
    size_t size = feed->inputs->size;
    if (to != NULL && ready.count > 0)
        memcpy(to + *taken * size, ready.input, ready.count * size * sizeof *to);
    batch->input = to != NULL ? to : ready.input;
    *taken += ready.count;
    return OCDM_OK;
}

/* The leader tells users about the first image that was left out: it tries one that failed elsewhere. */
static ocdm_status find_reason(ocdm__feed *feed, unsigned slot, const ocdm__batch *batch, ocdm_error *error)
{
    size_t first = 0;
    ocdm__batch ready;
    if (feed->inputs->skipped > 0)
        return OCDM_OK;
    while (feed->unusable[first] == 0)
        first++;
    OCDM_TRY(request(feed, slot, batch, first, first + 1, error));
    return await(feed, slot, &ready, error);
}

/* Some samples cannot be used: with fewer samples every rank has another part. `slot` is free. */
static ocdm_status take_again(ocdm__feed *feed, unsigned slot, const ocdm__learner_part *part, ocdm__batch *batch,
                              ocdm_error *error)
{
    ocdm__batch left = *batch;
    left.samples = feed->samples;
    left.usable = feed->usable;
    left.count = left.fresh = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (feed->unusable[i] != 0)
            continue;
        left.fresh += i < batch->fresh;
        feed->samples[left.count] = batch->samples[i];
        feed->usable[left.count++] = (uint32_t)i;
    }
    feed->lost += batch->count - left.count;
    if (part->ranks->rank == 0)
        OCDM_TRY(find_reason(feed, slot, batch, error));
    *batch = left;
    if (part->ranks->size == 1 || left.count == 0)
        return OCDM_OK;
    const ocdm__learner_part own = ocdm__learner_part_of(feed->learner, left.count, feed->training);
    size_t taken = 0;
    if (own.first < own.end)
        OCDM_TRY(request(feed, slot, batch, own.first, own.end, error));
    OCDM_TRY(take(feed, slot, NULL, batch, &taken, error));
    if (taken < own.end - own.first)
        return ocdm__fail(error, OCDM_IO, "", "an image that another rank could decode cannot be decoded here");
    return OCDM_OK;
}

ocdm_status ocdm__feed_receive_two(ocdm__feed *feed, unsigned first, unsigned second, float *joined, ocdm__batch *batch,
                                   ocdm_error *error)
{
    ocdm_error why = {.status = OCDM_OK};
    size_t taken = 0;
    why.status = take(feed, first, joined, batch, &taken, &why);
    if (why.status == OCDM_OK && second != first)
        why.status = take(feed, second, joined, batch, &taken, &why);
    const ocdm__learner_part part = ocdm__learner_part_of(feed->learner, batch->count, feed->training);
    if (feed->reports && part.ranks->size > 1) {
        ocdm_status verdict = ocdm__ranks_agree(part.ranks, &why);
        if (verdict != OCDM_OK && error != NULL)
            *error = why;
        OCDM_TRY(verdict);
    }
    if (why.status == OCDM_OK) {
        /* Tells all ranks which samples of the batch can be used; `slot` is free. */
        size_t lost = 0;
        part.ranks->gather_all(feed->unusable, part.starts);
        for (size_t i = 0; i < batch->count; i++) {
            feed->usable[i] = (uint32_t)i;
            lost += feed->unusable[i];
        }
        batch->usable = feed->usable;
        why.status = lost > 0 ? take_again(feed, second, &part, batch, &why) : OCDM_OK;
    }
    return why.status == OCDM_OK ? OCDM_OK : end_all_after(feed, &why, error);
}

ocdm_status ocdm__feed_receive(ocdm__feed *feed, unsigned slot, ocdm__batch *batch, ocdm_error *error)
{
    return ocdm__feed_receive_two(feed, slot, slot, NULL, batch, error);
}
