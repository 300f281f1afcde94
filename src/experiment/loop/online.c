/* The online step: draw, train, update; and the gradients that policies such as gss compare. */
#include "experiment/loop/run.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/progress.h"

/* ---- labels of a batch --------------------------------------------------------------------------------------------------- */

static bool make_room(ocdm__batch_labels *batch, size_t starts, size_t labels)
{
    bool failed = false;
    if (starts > batch->start_room) {
        batch->starts = ocdm__grown(batch->starts, starts, sizeof *batch->starts, &failed);
        batch->start_room = failed ? batch->start_room : starts;
    }
    if (!failed && labels > batch->label_room) {
        batch->labels = ocdm__grown(batch->labels, 2 * labels, sizeof *batch->labels, &failed);
        batch->label_room = failed ? batch->label_room : 2 * labels;
    }
    return !failed;
}

/* A sample that is replayed has the known labels that it came with. */
static ocdm_status gather_known(ocdm__batch_labels *batch, const ocdm__label_lists *lists, const uint32_t *samples,
                                size_t count, ocdm_error *error)
{
    if (lists->known == NULL)
        return OCDM_OK;
    if (!ocdm__reserve(&batch->known, &batch->known_room, count * lists->known_size + 1, 1))
        return ocdm__fail_memory(error, "the known labels of a batch");
    for (size_t i = 0; i < count; i++)
        memcpy(batch->known + i * lists->known_size, lists->known + samples[i] * lists->known_size, lists->known_size);
    return OCDM_OK;
}

static ocdm_status gather_labels(ocdm__batch_labels *batch, const ocdm__label_lists *lists, const uint32_t *samples,
                                 size_t count, ocdm_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (size_t)(lists->starts[samples[i] + (size_t)1] - lists->starts[samples[i]]);
    if (!make_room(batch, count + 1, total))
        return ocdm__fail_memory(error, "the labels of a batch");
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        batch->starts[i] = used;
        for (uint64_t k = lists->starts[samples[i]]; k < lists->starts[samples[i] + (size_t)1]; k++)
            batch->labels[used++] = lists->labels[k];
    }
    batch->starts[count] = used;
    return gather_known(batch, lists, samples, count, error);
}

static void clear_labels(ocdm__batch_labels *batch)
{
    ocdm__release(batch->starts);
    ocdm__release(batch->labels);
    ocdm__release(batch->known);
    *batch = (ocdm__batch_labels){.starts = NULL};
}

/* ---- similarity of gradients --------------------------------------------------------------------------------------------- */

/*
 * Computes how similar the gradients of a batch are to those of some samples in memory, for policies such as gss. Gradients
 * are those of the loss with respect to all parameters in evaluation mode; images are cropped in the middle and not augmented.
 */
struct ocdm__similarity {
    const ocdm__learner *learner;
    ocdm__model_inputs *inputs;
    unsigned slot; /* of the inputs, free whenever the memory is updated */
    ocdm__label_lists lists;
    ocdm__batch_labels labels;
    size_t size; /* floats of a gradient */
    float *kept; /* the gradients of the samples in memory that are compared with, and their norms */
    double *norms;
    size_t kept_room;
    float *gradient;
    uint32_t *samples;
    size_t sample_room;
    bool stored;  /* samples of the memory pass through the store */
    size_t asked; /* samples whose gradients were computed */
};

static double product(const float *a, const float *b, size_t size)
{
    double sums[4] = {0}; /* four at a time: the additions need not wait for each other */
    size_t i = 0;
    for (; i + 4 <= size; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += (double)a[i + k] * (double)b[i + k];
    for (; i < size; i++)
        sums[0] += (double)a[i] * (double)b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static ocdm_status gradient_of_usable(struct ocdm__similarity *similarity, const float *input, const uint32_t *samples,
                                      size_t count, float *gradient, ocdm_error *error)
{
    OCDM_TRY(gather_labels(&similarity->labels, &similarity->lists, samples, count, error));
    const ocdm__batch batch = {.input = input,
                               .starts = similarity->labels.starts,
                               .labels = similarity->labels.labels,
                               .known = similarity->labels.known,
                               .count = count,
                               .samples = samples};
    similarity->asked += count;
    return similarity->learner->functions->gradient(similarity->learner->state, &batch, gradient, error);
}

/* Samples of the stream, or of the memory. */
struct compared {
    const uint32_t *samples;
    size_t count;
    bool remembered;
};

/* The gradient of the mean loss of some samples; zeros when none of their images can be decoded. */
static ocdm_status gradient_of(struct ocdm__similarity *similarity, const struct compared *compared, float *gradient,
                               ocdm_error *error)
{
    const uint32_t *samples = compared->samples;
    size_t count = compared->count;
    ocdm__ready ready;
    if (similarity->inputs == NULL)
        return gradient_of_usable(similarity, NULL, samples, count, gradient, error);
    const ocdm__input_batch batch = {
        .samples = samples, .count = count, .stored_from = compared->remembered && similarity->stored ? 0 : count};
    OCDM_TRY(ocdm__model_inputs_request_mixed(similarity->inputs, similarity->slot, &batch, error));
    OCDM_TRY(ocdm__model_inputs_wait(similarity->inputs, similarity->slot, &ready, error));
    for (size_t i = 0; i < similarity->size && ready.count == 0; i++)
        gradient[i] = 0;
    if (ready.count == 0)
        return OCDM_OK;
    uint32_t *usable = similarity->samples;
    for (size_t i = 0; i < ready.count; i++)
        usable[i] = samples[ready.usable[i]];
    return gradient_of_usable(similarity, ready.tensor, usable, ready.count, gradient, error);
}

static ocdm_status reserve_kept(struct ocdm__similarity *similarity, size_t count, ocdm_error *error)
{
    bool failed = false;
    if (count <= similarity->kept_room)
        return OCDM_OK;
    similarity->kept = ocdm__grown(similarity->kept, count * sizeof *similarity->kept, similarity->size, &failed);
    similarity->norms = ocdm__grown(similarity->norms, count, sizeof *similarity->norms, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the gradients that are compared");
    similarity->kept_room = count;
    return OCDM_OK;
}

static ocdm_status load_kept(struct ocdm__similarity *similarity, const ocdm_memory *memory, const ocdm_comparison *asked,
                             ocdm_error *error)
{
    size_t groups = asked->slot_count / asked->group_size;
    OCDM_TRY(reserve_kept(similarity, groups, error));
    uint32_t *members = similarity->samples + similarity->sample_room;
    for (size_t j = 0; j < groups; j++) {
        for (size_t k = 0; k < asked->group_size; k++)
            members[k] = (uint32_t)ocdm_memory_id(memory, asked->slot[j * asked->group_size + k]);
        float *gradient = similarity->kept + j * similarity->size;
        OCDM_TRY(gradient_of(similarity, &(struct compared){members, asked->group_size, true}, gradient, error));
        similarity->norms[j] = sqrt(product(gradient, gradient, similarity->size));
    }
    return OCDM_OK;
}

/* The largest cosine between the current gradient and those of the memory; 0 for a gradient of zeros. */
static double largest_cosine(const struct ocdm__similarity *similarity, size_t count)
{
    const float *gradient = similarity->gradient;
    double norm = sqrt(product(gradient, gradient, similarity->size)), largest = -1;
    for (size_t j = 0; j < count; j++) {
        double scale = norm * similarity->norms[j];
        double dot = scale > 0 ? product(gradient, similarity->kept + j * similarity->size, similarity->size) / scale : 0;
        largest = dot > largest ? dot : largest;
    }
    return largest;
}

static ocdm_status compare_with(struct ocdm__similarity *similarity, const uint32_t *samples, size_t count, size_t kept,
                                double *cosine, ocdm_error *error)
{
    OCDM_TRY(gradient_of(similarity, &(struct compared){samples, count, false}, similarity->gradient, error));
    *cosine = largest_cosine(similarity, kept);
    return OCDM_OK;
}

/* Room for the numbers of the batch or of a group, twice: they come after the room that gradient_of needs. */
static ocdm_status reserve_samples(struct ocdm__similarity *similarity, size_t count, ocdm_error *error)
{
    bool failed = false;
    if (count <= similarity->sample_room)
        return OCDM_OK;
    similarity->samples = ocdm__grown(similarity->samples, 2 * count, sizeof *similarity->samples, &failed);
    if (failed)
        return ocdm__fail_memory(error, "a comparison of gradients");
    similarity->sample_room = count;
    return OCDM_OK;
}

static ocdm_status answer(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    struct ocdm__similarity *similarity = state;
    size_t groups = asked->slot_count / asked->group_size;
    OCDM_TRY(reserve_samples(similarity, asked->count > asked->group_size ? asked->count : asked->group_size, error));
    OCDM_TRY(load_kept(similarity, memory, asked, error));
    uint32_t *batch = similarity->samples + similarity->sample_room;
    for (size_t i = 0; i < asked->count; i++)
        batch[i] = (uint32_t)asked->batch[i].id;
    if (asked->batch_cosine != NULL)
        OCDM_TRY(compare_with(similarity, batch, asked->count, groups, asked->batch_cosine, error));
    if (asked->batch_first && *asked->batch_cosine >= 0)
        return OCDM_OK;
    for (size_t i = 0; i < asked->count; i++)
        OCDM_TRY(compare_with(similarity, batch + i, 1, groups, &asked->item_cosine[i], error));
    return OCDM_OK;
}

static void close_similarity(struct ocdm__similarity *similarity)
{
    if (similarity == NULL)
        return;
    clear_labels(&similarity->labels);
    ocdm__release(similarity->kept);
    ocdm__release(similarity->norms);
    ocdm__release(similarity->gradient);
    ocdm__release(similarity->samples);
    ocdm__release(similarity);
}

/* Compares gradients for a memory whose ids are numbers of samples. Close `opened` even after an error. */
static ocdm_status open_similarity(struct ocdm__similarity **opened, const ocdm__online_parts *parts, unsigned slot,
                                   ocdm_error *error)
{
    if (parts->learner->functions->gradient == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose another method",
                          "the method %s compares gradients, and the learner has none",
                          ocdm_memory_options(parts->memory)->policy->name);
    struct ocdm__similarity *similarity = *opened = ocdm__allocate(1, sizeof *similarity);
    if (similarity == NULL)
        return ocdm__fail_memory(error, "the gradients that are compared");
    *similarity = (struct ocdm__similarity){
        .learner = parts->learner, .inputs = parts->inputs, .slot = slot, .lists = parts->labels, .sample_room = 1};
    similarity->size = parts->learner->functions->gradient_size(parts->learner->state);
    similarity->gradient = ocdm__allocate(similarity->size, sizeof *similarity->gradient);
    similarity->samples = ocdm__allocate(2, sizeof *similarity->samples);
    if (similarity->gradient == NULL || similarity->samples == NULL)
        return ocdm__fail_memory(error, "the gradients that are compared");
    ocdm_memory_set_similarity(parts->memory, answer, similarity);
    return OCDM_OK;
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* The input slot for replayed samples; batches of the stream alternate between the slots before it. */
#define REPLAY_SLOT 2u

/* Only where classes have weights, or where averages begin with them. */
static bool make_class_counts(ocdm__online *online)
{
    if (online->parts.learner == NULL)
        return true;
    if (online->parts.ages)
        online->ages = ocdm__allocate(online->parts.class_count, sizeof *online->ages);
    if (online->parts.ages && online->ages == NULL)
        return false;
    if (online->parts.balance == 0)
        return true;
    online->seen = ocdm__allocate(online->parts.class_count, sizeof *online->seen);
    online->class_weights = ocdm__allocate(online->parts.class_count, sizeof *online->class_weights);
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
        online->dark = ocdm__allocate(online->parts.replay, online->parts.class_count * sizeof *online->dark);
    return (!drawn || online->keys != NULL) && (!dark || online->dark != NULL);
}

ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error)
{
    size_t room = (size_t)parts->batch + parts->replay;
    size_t size = parts->inputs != NULL ? ocdm__model_inputs_size(parts->inputs) : 0;
    *online = (ocdm__online){.parts = *parts};
    online->slots = ocdm__allocate(parts->replay, sizeof *online->slots);
    online->replayed = ocdm__allocate(parts->replay, sizeof *online->replayed);
    online->chosen = ocdm__allocate(room, sizeof *online->chosen);
    online->unusable = ocdm__allocate(room, sizeof *online->unusable);
    online->offered = ocdm__allocate(parts->batch, sizeof *online->offered);
    online->input = size <= SIZE_MAX / sizeof(float) ? ocdm__allocate(room, size * sizeof *online->input) : NULL;
    if (online->slots == NULL || online->replayed == NULL || online->chosen == NULL || online->unusable == NULL ||
        online->offered == NULL || online->input == NULL || !make_class_counts(online) || !make_replay_room(online))
        return ocdm__fail_memory(error, "the batches of a run");
    if (parts->memory == NULL || parts->learner == NULL ||
        (ocdm_memory_options(parts->memory)->policy->traits & OCDM_NEEDS_GRADIENTS) == 0)
        return OCDM_OK;
    return open_similarity(&online->similarity, parts, REPLAY_SLOT, error);
}

void ocdm__online_close(ocdm__online *online)
{
    close_similarity(online->similarity);
    ocdm__release(online->slots);
    ocdm__release(online->replayed);
    ocdm__release(online->chosen);
    ocdm__release(online->unusable);
    ocdm__release(online->offered);
    ocdm__release(online->input);
    ocdm__release(online->seen);
    ocdm__release(online->class_weights);
    ocdm__release(online->ages);
    ocdm__release(online->keys);
    ocdm__release(online->dark);
    clear_labels(&online->labels);
    *online = (ocdm__online){.skipped = 0};
}

/* ---- samples ----------------------------------------------------------------------------------------------------------- */

/* Without replacement, fewer while the memory holds fewer. */
static size_t draw_replay(ocdm__online *online, uint64_t update)
{
    ocdm_memory *memory = online->parts.memory;
    const ocdm__replay *replays = online->parts.replays;
    if (memory == NULL || online->parts.learner == NULL)
        return 0;
    bool uniform = replays == NULL || replays->rule == OCDM__REPLAY_UNIFORM;
    size_t drawn = uniform ? ocdm_memory_draw(memory, online->parts.replay, online->slots)
                           : ocdm__replay_draw(replays, memory, &online->parts.labels, update, online->slots, online->keys,
                                               online->parts.replay);
    for (size_t i = 0; i < drawn; i++)
        online->replayed[i] = (uint32_t)ocdm_memory_id(memory, online->slots[i]);
    return drawn;
}

void ocdm__online_choose(ocdm__online *online, const ocdm__online_batch *batch)
{
    double begun = ocdm__seconds_now();
    if (!batch->again) {
        ocdm__online_count(online, batch->samples, batch->count);
        online->operations = 0;
    }
    online->replayed_count = draw_replay(online, batch->update);
    if (online->similarity != NULL)
        online->similarity->stored = batch->step >= online->parts.stored_from;
    memcpy(online->chosen, batch->samples, batch->count * sizeof *online->chosen);
    memcpy(online->chosen + batch->count, online->replayed, online->replayed_count * sizeof *online->chosen);
    online->stream_count = batch->count;
    online->count = batch->count + online->replayed_count;
    online->times.draw += ocdm__seconds_now() - begun;
}

/* ---- samples of this process ------------------------------------------------------------------------------------------- */

static size_t clamped(size_t value, size_t from, size_t count)
{
    return value < from ? 0 : value - from < count ? value - from : count;
}

/* Requests the samples of a list that are in this process's part of a step, in which the list comes after `before` others. */
static ocdm_status request(ocdm__online *online, unsigned slot, const ocdm__learner_part *part, const ocdm__online_list *list,
                           ocdm_error *error)
{
    struct ocdm__online_request *asked = &online->requests[slot];
    *asked = (struct ocdm__online_request){clamped(part->first, list->before, list->count),
                                           clamped(part->end, list->before, list->count)};
    if (asked->first == asked->end)
        return OCDM_OK;
    size_t remembered = list->step >= online->parts.stored_from ? list->remembered : list->count;
    const ocdm__input_batch batch = {.samples = list->samples + asked->first,
                                     .count = asked->end - asked->first,
                                     .stored_from = remembered > asked->first ? remembered - asked->first : 0,
                                     .step = list->update,
                                     .training = true};
    return ocdm__model_inputs_request_mixed(online->parts.inputs, slot, &batch, error);
}

/* Appends what was requested to the step's input, and marks what cannot be used. */
static ocdm_status take(ocdm__online *online, unsigned slot, size_t before, ocdm_error *error)
{
    const struct ocdm__online_request *asked = &online->requests[slot];
    size_t size = ocdm__model_inputs_size(online->parts.inputs), first = before + asked->first;
    ocdm__ready ready;
    if (asked->first == asked->end)
        return OCDM_OK;
    OCDM_TRY(ocdm__model_inputs_wait(online->parts.inputs, slot, &ready, error));
    for (size_t i = 0; i < asked->end - asked->first; i++)
        online->unusable[first + i] = 1;
    for (size_t i = 0; i < ready.count; i++)
        online->unusable[first + ready.usable[i]] = 0;
    memcpy(online->input + online->input_count * size, ready.tensor, ready.count * size * sizeof *online->input);
    online->input_count += ready.count;
    return OCDM_OK;
}

/* What was requested ahead is the part of a step of the usual size. In another step, which comes only before the memory is
 * full, the part is another one. */
static ocdm_status request_stream(ocdm__online *online, unsigned slot, const ocdm__learner_part *part,
                                  const ocdm__online_list *list, ocdm_error *error)
{
    const struct ocdm__online_request ahead = online->requests[slot];
    ocdm__ready ready;
    if (!online->requested)
        return request(online, slot, part, list, error);
    if (ahead.first == clamped(part->first, 0, list->count) && ahead.end == clamped(part->end, 0, list->count))
        return OCDM_OK;
    if (ahead.first < ahead.end)
        OCDM_TRY(ocdm__model_inputs_wait(online->parts.inputs, slot, &ready, error));
    return request(online, slot, part, list, error);
}

static ocdm_status request_all(ocdm__online *online, const ocdm__online_batch *batch, ocdm_error *error)
{
    unsigned slot = online->turn % REPLAY_SLOT, next = (online->turn + 1) % REPLAY_SLOT;
    const ocdm__online_list stream = {batch->samples, batch->count, 0, batch->step, batch->update, batch->count};
    const ocdm__online_list replay = {online->replayed, online->replayed_count, batch->count, batch->step, batch->update, 0};
    const ocdm__online_list ahead = {batch->next, batch->next_count, 0, batch->step, batch->update + 1, batch->next_count};
    ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, batch->count + online->replayed_count, true);
    ocdm_status status = request_stream(online, slot, &part, &stream, error);
    if (status == OCDM_OK)
        status = request(online, REPLAY_SLOT, &part, &replay, error);
    online->requested = batch->next_count > 0;
    if (status != OCDM_OK || !online->requested)
        return status;
    part = ocdm__learner_part_of(online->parts.learner,
                                 batch->next_count + (online->parts.memory != NULL ? online->parts.replay : 0), true);
    return request(online, next, &part, &ahead, error);
}

/* ---- samples that cannot be used ------------------------------------------------------------------------------------------
 */

/* Chosen are then those that every rank can use, and the slots are those of the replayed ones among them. */
static void drop_unusable(ocdm__online *online, const ocdm__online_batch *batch)
{
    size_t count = online->count;
    online->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == batch->count)
            online->stream_count = online->count;
        if (online->unusable[i] != 0)
            continue;
        if (i >= batch->count)
            online->slots[online->count - online->stream_count] = online->slots[i - batch->count];
        online->chosen[online->count++] = online->chosen[i];
    }
    if (count == batch->count)
        online->stream_count = online->count;
    online->skipped += batch->again ? 0 : batch->count - online->stream_count;
}

/* With fewer samples every rank has another part. */
static ocdm_status take_again(ocdm__online *online, const ocdm__online_batch *batch, ocdm_error *error)
{
    const ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, online->count, true);
    const ocdm__online_list list = {online->chosen, online->count, 0, batch->step, batch->update, online->stream_count};
    online->input_count = 0;
    OCDM_TRY(request(online, REPLAY_SLOT, &part, &list, error));
    OCDM_TRY(take(online, REPLAY_SLOT, 0, error));
    if (online->input_count < part.end - part.first)
        return ocdm__fail(error, OCDM_IO, "", "an image that another rank could decode cannot be decoded here");
    return OCDM_OK;
}

/* The leader tells users about the first image that was left out: it tries one that failed elsewhere. */
static ocdm_status learn_why(ocdm__online *online, const ocdm__online_batch *batch, size_t unusable, ocdm_error *error)
{
    const ocdm__learner_part all = {.end = 1};
    const ocdm__online_list list = {&online->chosen[unusable],      1, 0, batch->step, batch->update,
                                    unusable < online->stream_count};
    if (ocdm__model_inputs_first_skipped(online->parts.inputs) != NULL)
        return OCDM_OK;
    OCDM_TRY(request(online, REPLAY_SLOT, &all, &list, error));
    ocdm__ready ready;
    return ocdm__model_inputs_wait(online->parts.inputs, REPLAY_SLOT, &ready, error);
}

static ocdm_status do_without(ocdm__online *online, const ocdm__online_batch *batch, const ocdm__learner_part *part,
                              ocdm_error *error)
{
    size_t first = 0;
    ocdm_status status = OCDM_OK;
    while (online->unusable[first] == 0)
        first++;
    if (part->ranks != NULL && part->ranks->rank == 0)
        status = learn_why(online, batch, first, error);
    drop_unusable(online, batch);
    return status == OCDM_OK && part->ranks != NULL && online->count > 0 ? take_again(online, batch, error) : status;
}

/* Joins this process's samples of the step: those of the stream, then those of the memory. Afterwards only samples that could
 * be prepared, by whichever rank, are chosen. */
static ocdm_status gather(ocdm__online *online, const ocdm__online_batch *batch, ocdm_error *error)
{
    ocdm_status status = request_all(online, batch, error);
    online->input_count = 0;
    if (status == OCDM_OK)
        status = take(online, online->turn % REPLAY_SLOT, 0, error);
    if (status == OCDM_OK)
        status = take(online, REPLAY_SLOT, batch->count, error);
    online->turn++;
    if (status != OCDM_OK)
        return status;
    const ocdm__learner_part part = ocdm__learner_part_of(online->parts.learner, online->count, true);
    if (ocdm__learner_part_share(&part, online->unusable, online->count) == 0)
        return OCDM_OK;
    return do_without(online, batch, &part, error);
}

/* A rank that cannot prepare its part ends all of them. */
static ocdm_status gather_or_end(ocdm__online *online, const ocdm__online_batch *batch, ocdm_error *error)
{
    ocdm_error why = {.status = OCDM_OK};
    ocdm_status status = gather(online, batch, &why);
    if (status == OCDM_OK)
        return OCDM_OK;
    ocdm__ranks_end_after(ocdm__learner_part_of(online->parts.learner, 1, true).ranks, &why);
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
    const ocdm__label_lists *lists = &online->parts.labels;
    for (size_t c = 0; online->ages != NULL && c < online->parts.class_count; c++)
        online->ages[c] += online->ages[c] > 0;
    for (size_t i = 0; ocdm__online_counts(online) && i < count; i++)
        for (uint64_t k = lists->starts[samples[i]]; k < lists->starts[samples[i] + (size_t)1]; k++)
            count_label(online, lists->labels[k]);
}

/* (mean / n_c)^balance, the mean over the classes seen so far; 1 for the others. NULL without weights. */
static const float *weigh_classes(const ocdm__online *online)
{
    uint64_t total = 0, classes = 0;
    if (online->seen == NULL)
        return NULL;
    for (size_t c = 0; c < online->parts.class_count; c++) {
        total += online->seen[c];
        classes += online->seen[c] > 0;
    }
    for (size_t c = 0; c < online->parts.class_count; c++) {
        double count = (double)online->seen[c] * (double)classes;
        online->class_weights[c] = count > 0 ? (float)pow((double)total / count, online->parts.balance) : 1;
    }
    return online->class_weights;
}

/* ---- what is kept of a step ---------------------------------------------------------------------------------------------- */

/* The logits that the replayed samples once had; NULL if they are not kept. */
static const float *recall_logits(const ocdm__online *online)
{
    size_t classes = online->parts.class_count;
    if (online->dark == NULL)
        return NULL;
    for (size_t i = online->stream_count; i < online->count; i++)
        memcpy(online->dark + (i - online->stream_count) * classes,
               ocdm__replay_logits(online->parts.replays, online->slots[i - online->stream_count]),
               classes * sizeof *online->dark);
    return online->dark;
}

static void note_replayed(const ocdm__online *online)
{
    const ocdm__learner *learner = online->parts.learner;
    ocdm__replay *replays = online->parts.replays;
    if (replays == NULL || replays->kept == NULL)
        return;
    const ocdm__outputs outputs = learner->functions->outputs(learner->state);
    for (size_t i = online->stream_count; i < online->count; i++)
        ocdm__replay_note(replays, online->slots[i - online->stream_count], &outputs, i, false);
}

static void note_stored(const ocdm__online *online, const ocdm_change *change)
{
    const ocdm__learner *learner = online->parts.learner;
    ocdm__replay *replays = online->parts.replays;
    if (replays == NULL || replays->kept == NULL)
        return;
    const ocdm__outputs outputs = learner->functions->outputs(learner->state);
    for (size_t i = 0; i < change->stored; i++)
        ocdm__replay_note(replays, change->slot[i], &outputs, change->item[i], true);
}

/* ---- learning ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__online_labels(ocdm__online *online, ocdm_error *error)
{
    return gather_labels(&online->labels, &online->parts.labels, online->chosen, online->count, error);
}

static double operations_of(const ocdm__learner *learner, size_t count, size_t fresh)
{
    return learner->functions->operations != NULL ? learner->functions->operations(learner->state, count, fresh) : NAN;
}

static ocdm_status train(ocdm__online *online, uint64_t step, double *loss, ocdm_error *error)
{
    ocdm_error found = {.message = ""};
    ocdm_status status = ocdm__online_labels(online, error);
    if (status != OCDM_OK || online->count == 0)
        return status;
    const ocdm__learner *learner = online->parts.learner;
    const ocdm__batch batch = {.input = online->input,
                               .starts = online->labels.starts,
                               .labels = online->labels.labels,
                               .known = online->labels.known,
                               .count = online->count,
                               .samples = online->chosen,
                               .fresh = online->stream_count,
                               .class_weights = weigh_classes(online),
                               .dark = recall_logits(online),
                               .ages = online->ages};
    size_t bad = 0;
    status = learner->functions->train(learner->state, &batch, loss, &bad, &found);
    if (status == OCDM_BAD_RECORD)
        return ocdm__fail(error, status, found.hint, "step %llu: the loss of sample %u is not a finite number",
                          (unsigned long long)step + 1, online->chosen[bad]);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, found.hint, "step %llu: %s", (unsigned long long)step + 1, found.message);
    note_replayed(online);
    online->operations += operations_of(learner, online->count, online->stream_count);
    return OCDM_OK;
}

ocdm_status ocdm__online_learn(ocdm__online *online, const ocdm__online_batch *batch, double *loss, ocdm_error *error)
{
    *loss = NAN;
    if (online->parts.learner == NULL)
        return OCDM_OK;
    double begun = ocdm__seconds_now();
    ocdm_status status = gather_or_end(online, batch, error);
    double gathered = ocdm__seconds_now();
    if (status == OCDM_OK)
        status = train(online, batch->step, loss, error);
    online->times.decode += gathered - begun;
    online->times.train += ocdm__seconds_now() - gathered;
    return status;
}

/* ---- remembering ------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__online_remember(ocdm__online *online, ocdm_error *error)
{
    const ocdm__label_lists *lists = &online->parts.labels;
    double begun = ocdm__seconds_now();
    if (online->parts.memory == NULL)
        return OCDM_OK;
    for (size_t i = 0; i < online->stream_count; i++) {
        uint32_t sample = online->chosen[i];
        online->offered[i] = (ocdm_sample){.id = sample,
                                           .labels = lists->labels + lists->starts[sample],
                                           .label_count = (size_t)(lists->starts[sample + 1] - lists->starts[sample])};
    }
    ocdm_change change;
    if (online->similarity != NULL)
        online->similarity->asked = 0;
    ocdm_status status = ocdm_memory_update(online->parts.memory, online->offered, online->stream_count, &change, error);
    if (status == OCDM_OK)
        note_stored(online, &change);
    if (online->similarity != NULL)
        online->operations += operations_of(online->parts.learner, online->similarity->asked, online->similarity->asked);
    online->times.update += ocdm__seconds_now() - begun;
    return status;
}
