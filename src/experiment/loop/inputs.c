/*
 * A stream's samples as tensors: features are copied at once, images go through the image loader.
 *
 * A slot has the batch that is being prepared and keeps its memory for the next one. Several ranks also compare checksums of
 * the image files that they have read.
 */
#include "experiment/loop/inputs.h"

#include "experiment/loop/learner.h"
#include "experiment/loop/store.h"

/* ---- opening --------------------------------------------------------------------------------------------------------- */

/* Found before the first image is read: every sample must lead to a file. */
static ocdm_status check_paths(const ocdm__stream *stream, const char *root, ocdm_error *error)
{
    const ocdm__stream_table *table = &stream->table;
    if (table->paths.starts == NULL)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream build` with --features or --images makes one that has",
                          "%s: the stream has neither features nor images", stream->file.name);
    if (root == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--images names the folder that the paths start from",
                          "%s: the stream does not say in which folder its images are", stream->file.name);
    for (size_t i = 0; i < table->sample_count; i++)
        if (table->paths.starts[i] == table->paths.starts[i + 1])
            return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: sample %zu has no image", stream->file.name, i);
    return OCDM_OK;
}

/* Images in the stream file keep their size unless the settings say another one. */
static ocdm_status open_images(ocdm__model_inputs *inputs, const ocdm__model_input_settings *settings, ocdm_error *error)
{
    const ocdm__stream *stream = inputs->stream;
    const ocdm__payload_shape *shape = &stream->shape;
    ocdm__image_settings images = settings->images->settings_default();
    uint32_t side = (uint32_t)(shape->width < shape->height ? shape->width : shape->height);
    bool stored = shape->kind == OCDM__IMAGES;
    images.scaling = settings->symmetric ? OCDM__IMAGE_SYMMETRIC : OCDM__IMAGE_IMAGENET;
    images.seed = settings->seed;
    images.storing = settings->storing;
    if (stored || settings->keep_size)
        images.resize = 0;
    if (stored)
        images.crop = side;
    if (settings->resize > 0)
        images.resize = settings->resize;
    if (settings->resize > 0 && (stored || images.crop > images.resize))
        images.crop = images.resize;
    if (settings->crop > 0)
        images.crop = settings->crop;
    if (stored && images.crop == (images.resize > 0 ? images.resize : side))
        images.pad = images.crop / 8; /* files have about as much room for a random square between 256 and 224 pixels */
    if (!stored) {
        inputs->root = settings->image_root != NULL ? settings->image_root : stream->image_root;
        OCDM_TRY(check_paths(stream, inputs->root, error));
    }
    /* Checked before any image is read, so that it is an error and not an image to skip. */
    if (stored && images.resize == 0 && images.crop > side)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a smaller crop, or a resize to make them larger",
                          "%s: images of %zu x %zu pixels have no square of %u", stream->file.name, shape->width, shape->height,
                          images.crop);
    inputs->side = images.crop;
    inputs->resize = images.resize > 0 ? images.resize : side;
    inputs->size = settings->images->floats(&images);
    return settings->images->create(&images, settings->threads, OCDM__INPUT_SLOTS, &inputs->loader, error);
}

ocdm_status ocdm__model_inputs_open(const ocdm__stream *stream, const ocdm__model_input_settings *settings,
                                    ocdm__model_inputs **inputs, ocdm_error *error)
{
    if (stream->shape.kind != OCDM__FEATURES && settings->images == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream featurize` makes features of them",
                          "%s: the samples are no features, and images are not decoded here", stream->file.name);
    ocdm__model_inputs *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the samples", error));
    made->stream = stream;
    made->strict = settings->strict;
    made->skips_missing = settings->skips_missing;
    made->images = settings->images;
    made->size = stream->shape.width;
    ocdm_status status = stream->shape.kind == OCDM__FEATURES ? OCDM_OK : open_images(made, settings, error);
    if (status == OCDM_OK)
        *inputs = made;
    else
        ocdm__model_inputs_close(made);
    return status;
}

void ocdm__model_inputs_close(ocdm__model_inputs *inputs)
{
    if (inputs == NULL)
        return;
    if (inputs->loader != NULL)
        inputs->images->destroy(inputs->loader); /* first: its threads write into the slots */
    for (size_t i = 0; i < OCDM__INPUT_SLOTS; i++)
        OCDM_RELEASE(inputs->slots[i].tensor, inputs->slots[i].usable, inputs->slots[i].paths);
    OCDM_RELEASE(inputs->requests, inputs->unusable, (void *)inputs->sums);
    ocdm__release(inputs);
}

/* ---- checksums of image files ---------------------------------------------------------------------------------------- */

ocdm_status ocdm__model_inputs_keep_sums(ocdm__model_inputs *inputs, ocdm_error *error)
{
    if (inputs->root == NULL)
        return OCDM_OK;
    inputs->sums = ocdm__allocate(inputs->stream->table.sample_count, sizeof *inputs->sums);
    return inputs->sums != NULL ? OCDM_OK : ocdm__fail_memory(error, "the checksums of images");
}

ocdm_status ocdm__model_inputs_compare_sums(const ocdm__model_inputs *inputs, const ocdm__ranks *ranks, ocdm_error *error)
{
    size_t count = inputs->stream->table.sample_count, length;
    if (inputs->sums == NULL)
        return OCDM_OK;
    ocdm__arena room = {.failed = false};
    size_t *starts = ocdm__arena_new(&room, ranks->size + 1, sizeof *starts);
    uint32_t *sums = ocdm__arena_new(&room, ranks->size * count, sizeof *sums);
    ocdm_status status = ocdm__arena_check(&room, "the checksums of images", error);
    for (size_t r = 0; status == OCDM_OK && r <= ranks->size; r++)
        starts[r] = r * count;
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        sums[starts[ranks->rank] + i] = atomic_load_explicit(&inputs->sums[i], memory_order_relaxed);
    if (status == OCDM_OK)
        ranks->gather_all(sums, starts);
    /* Those of all ranks, one after another. A file that a rank has not read has 0. */
    for (size_t i = 0; status == OCDM_OK && ranks->rank == 0 && i < count; i++) {
        uint32_t first = 0;
        for (size_t r = 0; r < ranks->size; r++) {
            uint32_t sum = sums[r * count + i];
            if (first != 0 && sum != 0 && sum != first) {
                ocdm_error why;
                const char *path = ocdm__text_at(&inputs->stream->table.paths, i, &length);
                (void)ocdm__fail(&why, OCDM_BAD_FILE, "",
                                 "%.200s/%.*s: rank %zu has read another file of this name than a rank before it", inputs->root,
                                 (int)(length < 200 ? length : 200), path, r);
                ocdm__ranks_end_after(ranks, &why);
            }
            first = sum != 0 ? sum : first;
        }
    }
    ocdm__arena_clear(&room);
    return status;
}

/* ---- requests -------------------------------------------------------------------------------------------------------- */

/* Whether sample i of a batch is one of the memory that passes through the store. */
static bool is_stored(const ocdm__model_inputs *inputs, const ocdm__batch *batch, size_t i)
{
    return i >= batch->fresh && batch->step >= inputs->stored_since;
}

/* What the loader needs to know of each image of the batch; of files also their names, below the root, for as long as the
 * loader needs them. */
static bool write_requests(ocdm__model_inputs *inputs, struct ocdm__input_slot *slot, const ocdm__batch *batch, bool training)
{
    const ocdm__payload_shape *shape = &inputs->stream->shape;
    const ocdm__text_list *paths = &inputs->stream->table.paths;
    bool stored = shape->kind == OCDM__IMAGES;
    size_t root = stored ? 0 : strlen(inputs->root), total = 0, length;
    for (size_t i = 0; !stored && i < batch->count; i++) {
        (void)ocdm__text_at(paths, batch->samples[i], &length);
        total += root + length + 2;
    }
    if (!ocdm__reserve(&inputs->requests, &inputs->request_room, batch->count, sizeof *inputs->requests) ||
        !ocdm__reserve(&slot->paths, &slot->path_room, total, 1))
        return false;
    char *at = slot->paths;
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t sample = batch->samples[i];
        ocdm__image_request *request = &inputs->requests[i];
        *request = (ocdm__image_request){
            .sample = sample, .step = batch->update, .training = training, .stored = is_stored(inputs, batch, i)};
        if (stored) {
            request->planes = ocdm__stream_image(inputs->stream, sample);
            request->channels = (uint32_t)shape->channels;
            request->width = (uint32_t)shape->width;
            request->height = (uint32_t)shape->height;
            continue;
        }
        const char *path = ocdm__text_at(paths, sample, &length);
        request->path = at;
        request->sum = inputs->sums != NULL ? &inputs->sums[sample] : NULL;
        at += snprintf(at, root + length + 2, "%s%s%.*s", inputs->root, root > 0 ? "/" : "", (int)length, path) + 1;
    }
    return true;
}

ocdm_status ocdm__model_inputs_request(ocdm__model_inputs *inputs, unsigned slot_number, const ocdm__batch *batch,
                                       bool training, ocdm_error *error)
{
    if (slot_number >= OCDM__INPUT_SLOTS || inputs->slots[slot_number].busy)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "wait for the batch in it first", "input slot %u is not free", slot_number);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->samples[i] >= inputs->stream->table.sample_count)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: the stream has no sample %u", inputs->stream->file.name,
                              batch->samples[i]);
    for (size_t i = 0; i < batch->count; i++)
        OCDM_TRY(ocdm__stream_check(inputs->stream, batch->samples[i], error));
    struct ocdm__input_slot *slot = &inputs->slots[slot_number];
    if (batch->count > slot->room) { /* what was there need not be kept */
        OCDM_RELEASE(slot->tensor, slot->usable);
        slot->room = 0;
        slot->tensor =
            inputs->size <= SIZE_MAX / sizeof(float) ? ocdm__allocate(batch->count, inputs->size * sizeof(float)) : NULL;
        slot->usable = ocdm__allocate(batch->count, sizeof *slot->usable);
        slot->room = slot->tensor != NULL && slot->usable != NULL ? batch->count : 0;
    }
    if (batch->count > slot->room || (inputs->loader != NULL && !write_requests(inputs, slot, batch, training)))
        return ocdm__fail_memory(error, "a batch of samples");
    if (inputs->loader != NULL)
        OCDM_TRY(inputs->images->submit(inputs->loader, slot_number, inputs->requests, batch->count, slot->tensor, error));
    for (size_t i = 0; inputs->loader == NULL && i < batch->count; i++) {
        float *row = slot->tensor + i * inputs->size;
        ocdm__stream_features(inputs->stream, batch->samples[i], row);
        if (inputs->store != NULL && is_stored(inputs, batch, i))
            ocdm__store_pass(inputs->store, row);
    }
    slot->count = batch->count;
    slot->busy = true;
    return OCDM_OK;
}

/* The samples that could be prepared move together. */
ocdm_status ocdm__model_inputs_wait(ocdm__model_inputs *inputs, unsigned slot_number, ocdm__batch *ready, ocdm_error *error)
{
    if (slot_number >= OCDM__INPUT_SLOTS || !inputs->slots[slot_number].busy)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "input slot %u holds no batch", slot_number);
    struct ocdm__input_slot *slot = &inputs->slots[slot_number];
    size_t kept = 0, size = inputs->size;
    ocdm__image_outcome outcome = {.count = 0};
    slot->busy = false;
    if (inputs->loader != NULL)
        OCDM_TRY(inputs->images->wait(inputs->loader, slot_number, &outcome, error));
    for (size_t i = 0; i < slot->count; i++) {
        const ocdm_error *why = outcome.failed > 0 ? &outcome.errors[i] : NULL; /* NULL: all could */
        if (why == NULL || why->status == OCDM_OK) {
            if (kept != i)
                memcpy(slot->tensor + kept * size, slot->tensor + i * size, size * sizeof *slot->tensor);
            slot->usable[kept++] = (uint32_t)i;
            continue;
        }
        bool missing = why->status == OCDM_IO && inputs->skips_missing;
        if (inputs->strict || !(missing || ocdm__image_may_be_skipped(why->status))) {
            if (error != NULL)
                *error = *why;
            return why->status;
        }
        if (inputs->skipped++ == 0)
            inputs->first_skipped = *why;
    }
    *ready = (ocdm__batch){.input = slot->tensor, .usable = slot->usable, .count = kept};
    return OCDM_OK;
}

/* ---- batches of a learner -------------------------------------------------------------------------------------------- */

/* An image that one rank cannot decode is left out by all of them: every rank must train on the same batch. The parts are then
 * dealt again, since each rank has other samples of a smaller batch. */

/* The other ranks wait for this one's part: without it they cannot go on. Returns where this process is alone. */
static ocdm_status end_all_after(const ocdm__model_inputs *inputs, const ocdm_error *why, ocdm_error *error)
{
    ocdm__ranks_end_after(ocdm__learner_part_of(inputs->learner, 1, true).ranks, why);
    if (error != NULL)
        *error = *why;
    return why->status;
}

/* Positions count from the first sample of the batch, of which the first `fresh` are of the stream. */
static ocdm_status request_part(ocdm__model_inputs *inputs, unsigned slot, const ocdm__batch *batch, size_t first, size_t end,
                                ocdm_error *error)
{
    ocdm__batch asked = *batch;
    asked.samples += first;
    asked.count = end - first;
    asked.fresh = batch->fresh > first ? batch->fresh - first : 0;
    OCDM_TRY(ocdm__model_inputs_request(inputs, slot, &asked, inputs->slots[slot].training, error));
    inputs->slots[slot].first = first;
    inputs->slots[slot].end = end;
    return OCDM_OK;
}

/* Leaves the slot free. What it has prepared lives until its next request. */
static ocdm_status await(ocdm__model_inputs *inputs, unsigned slot, ocdm__batch *ready, ocdm_error *error)
{
    bool asked = inputs->slots[slot].end > 0;
    inputs->slots[slot].first = inputs->slots[slot].end = 0;
    *ready = (ocdm__batch){.count = 0};
    return asked ? ocdm__model_inputs_wait(inputs, slot, ready, error) : OCDM_OK;
}

ocdm_status ocdm__model_inputs_deal(ocdm__model_inputs *inputs, unsigned slot, const ocdm__batch *batch, bool training,
                                    size_t count, size_t first, size_t end, ocdm_error *error)
{
    struct ocdm__input_slot *asked = &inputs->slots[slot];
    ocdm_error why = {.status = OCDM_OK};
    ocdm__batch ready;
    bool same = asked->end > 0 && asked->training == training;
    asked->training = training;
    if (first == end)
        return OCDM_OK;
    const ocdm__learner_part part = ocdm__learner_part_of(inputs->learner, count, training);
    first = part.first > first ? part.first : first;
    end = part.end < end ? part.end : end;
    if (same && asked->first == first && asked->end == end)
        return OCDM_OK;
    why.status = await(inputs, slot, &ready, &why);
    if (why.status == OCDM_OK && first < end)
        why.status = request_part(inputs, slot, batch, first, end, &why);
    return why.status == OCDM_OK ? OCDM_OK : end_all_after(inputs, &why, error);
}

/* Waits for a slot and marks what cannot be used. Its input goes to `to`, unless that is NULL: then the batch points to it. */
static ocdm_status take(ocdm__model_inputs *inputs, unsigned slot, float *to, ocdm__batch *batch, size_t *taken,
                        ocdm_error *error)
{
    size_t first = inputs->slots[slot].first, end = inputs->slots[slot].end;
    ocdm__batch ready;
    OCDM_TRY(await(inputs, slot, &ready, error));
    for (size_t i = first; i < end; i++)
        inputs->unusable[i] = 1;
    for (size_t i = 0; i < ready.count; i++)
        inputs->unusable[first + ready.usable[i]] = 0;
    size_t size = inputs->size;
    if (to != NULL && ready.count > 0)
        memcpy(to + *taken * size, ready.input, ready.count * size * sizeof *to);
    batch->input = to != NULL ? to : ready.input;
    *taken += ready.count;
    return OCDM_OK;
}

ocdm_error ocdm__model_inputs_reason(ocdm__model_inputs *inputs, unsigned slot, uint32_t sample)
{
    const ocdm__batch batch = {.samples = &sample, .count = 1, .fresh = 1};
    ocdm__batch ready;
    ocdm_error why = {.status = OCDM_OK};
    bool strict = inputs->strict;
    inputs->strict = true;
    why.status = ocdm__model_inputs_request(inputs, slot, &batch, inputs->slots[slot].training, &why);
    OCDM_THEN(why.status, ocdm__model_inputs_wait(inputs, slot, &ready, &why));
    inputs->strict = strict;
    return why;
}

/* Some samples cannot be used: with fewer samples every rank has another part. `slot` is free. The leader tells users about the
 * first image that was left out: it tries one that failed elsewhere. */
static ocdm_status take_again(ocdm__model_inputs *inputs, unsigned slot, const ocdm__learner_part *part, ocdm__batch *batch,
                              ocdm_error *error)
{
    ocdm__batch left = *batch;
    size_t bad = batch->count, taken = 0;
    left.samples = inputs->chosen;
    left.usable = inputs->usable;
    left.count = left.fresh = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (inputs->unusable[i] != 0) {
            bad = i < bad ? i : bad;
            continue;
        }
        left.fresh += i < batch->fresh;
        inputs->chosen[left.count] = batch->samples[i];
        inputs->usable[left.count++] = (uint32_t)i;
    }
    inputs->lost += batch->count - left.count;
    if (part->ranks->rank == 0 && inputs->skipped == 0) {
        inputs->first_skipped = ocdm__model_inputs_reason(inputs, slot, batch->samples[bad]);
        inputs->skipped = inputs->first_skipped.status != OCDM_OK;
    }
    *batch = left;
    if (part->ranks->size == 1 || left.count == 0)
        return OCDM_OK;
    const ocdm__learner_part own = ocdm__learner_part_of(inputs->learner, left.count, inputs->slots[slot].training);
    if (own.first < own.end)
        OCDM_TRY(request_part(inputs, slot, batch, own.first, own.end, error));
    OCDM_TRY(take(inputs, slot, NULL, batch, &taken, error));
    if (taken < own.end - own.first)
        return ocdm__fail(error, OCDM_IO, "", "an image that another rank could decode cannot be decoded here");
    return OCDM_OK;
}

ocdm_status ocdm__model_inputs_receive(ocdm__model_inputs *inputs, unsigned first, unsigned second, float *joined,
                                       ocdm__batch *batch, ocdm_error *error)
{
    ocdm_error why = {.status = OCDM_OK};
    size_t taken = 0;
    if (!ocdm__reserve(&inputs->unusable, &inputs->batch_room, batch->count, 3 * sizeof *inputs->unusable))
        ocdm__fail_memory(&why, "parts of a batch");
    inputs->usable = inputs->unusable + inputs->batch_room;
    inputs->chosen = inputs->usable + inputs->batch_room;
    OCDM_THEN(why.status, take(inputs, first, joined, batch, &taken, &why));
    if (why.status == OCDM_OK && second != first)
        why.status = take(inputs, second, joined, batch, &taken, &why);
    const ocdm__learner_part part = ocdm__learner_part_of(inputs->learner, batch->count, inputs->slots[first].training);
    if (inputs->reports && part.ranks->size > 1) {
        ocdm_status verdict = ocdm__ranks_agree(part.ranks, &why);
        if (verdict != OCDM_OK && error != NULL)
            *error = why;
        OCDM_TRY(verdict);
    }
    if (why.status == OCDM_OK) {
        /* Tells all ranks which samples of the batch can be used; `slot` is free. */
        size_t lost = 0;
        part.ranks->gather_all(inputs->unusable, part.starts);
        for (size_t i = 0; i < batch->count; i++) {
            inputs->usable[i] = (uint32_t)i;
            lost += inputs->unusable[i];
        }
        batch->usable = inputs->usable;
        why.status = lost > 0 ? take_again(inputs, second, &part, batch, &why) : OCDM_OK;
    }
    return why.status == OCDM_OK ? OCDM_OK : end_all_after(inputs, &why, error);
}

ocdm_status ocdm__walk_next(ocdm__walk *walk, ocdm__batch *piece, ocdm_error *error)
{
    ocdm__batch pieces[2]; /* the next one, and the one after it */
    size_t first = walk->next;
    for (unsigned slot = 0; first == 0 && slot < 2; slot++)
        (void)await(walk->inputs, slot, &pieces[slot], NULL); /* what a walk that was stopped left behind */
    for (size_t i = 0; i < 2; i++) {
        size_t left = walk->count - first, count = left < walk->most ? left : walk->most;
        unsigned slot = i == 0 ? walk->slot : 1 - walk->slot;
        pieces[i] = (ocdm__batch){.samples = walk->samples + first, .count = count, .fresh = count};
        if (i > 0 || first == 0) /* else it was dealt ahead */
            OCDM_TRY(ocdm__model_inputs_deal(walk->inputs, slot, &pieces[i], false, count, 0, count, error));
        first += count;
    }
    walk->first = walk->next;
    walk->next += pieces[0].count;
    *piece = pieces[0];
    unsigned slot = walk->slot;
    walk->slot = 1 - slot;
    return piece->count > 0 ? ocdm__model_inputs_receive(walk->inputs, slot, slot, NULL, piece, error) : OCDM_OK;
}

/* ---- what cannot be used ---------------------------------------------------------------------------------------------- */

void ocdm__model_inputs_skipped_text(const ocdm__model_inputs *inputs, uint64_t skipped, char text[OCDM__SKIPPED_TEXT])
{
    bool known = inputs->skipped > 0;
    snprintf(text, OCDM__SKIPPED_TEXT, "images left out, as they cannot be decoded: %" PRIu64 "%s%s", skipped,
             known ? ", the first because of " : "", known ? inputs->first_skipped.message : "");
}

ocdm_status ocdm__model_inputs_fail_unusable(const ocdm__model_inputs *inputs, const char *part, uint64_t count,
                                             ocdm_error *error)
{
    bool known = inputs->skipped > 0;
    return ocdm__fail(error, OCDM_BAD_FILE, "are these the image files that the stream was made for?",
                      "%s: none of the %" PRIu64 " %s images can be decoded%s%s", inputs->stream->file.name, count, part,
                      known ? ", the first because of " : "", known ? inputs->first_skipped.message : "");
}
