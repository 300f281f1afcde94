/*
 * The gradients that policies such as gss compare.
 *
 * The memory asks in the middle of an update, through a function that it was given: what that needs is in one struct, which
 * must not move.
 */

#include "experiment/loop/run.h"

struct ocdm__similarity {
    ocdm__run *run;
    unsigned slot; /* of the inputs */
    ocdm__label_room labels;
    size_t size; /* floats of a gradient */
    float *kept; /* the gradients of the samples in memory that are compared with, and their norms */
    double *norms;
    size_t kept_room;
    float *gradient;
    uint32_t *samples; /* room for those that can be decoded, then for those that are asked about */
    size_t sample_room;
};

/* The dot product of two gradients in double precision, in an order that does not depend on the machine. */
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

/* The gradient of the mean loss of some samples, of the memory if they are `remembered`; zeros when none of their images can be
 * decoded. */
static ocdm_status gradient_of(struct ocdm__similarity *similarity, const uint32_t *samples, size_t count, bool remembered,
                               float *gradient, ocdm_error *error)
{
    const ocdm__run *run = similarity->run;
    ocdm__batch batch = {.step = run->step, .samples = samples, .count = count, .fresh = remembered ? 0 : count}, ready;
    if (run->inputs != NULL) {
        OCDM_TRY(ocdm__model_inputs_request(run->inputs, similarity->slot, &batch, false, error));
        OCDM_TRY(ocdm__model_inputs_wait(run->inputs, similarity->slot, &ready, error));
        for (size_t i = 0; i < ready.count; i++)
            similarity->samples[i] = samples[ready.usable[i]];
        batch.samples = similarity->samples;
        batch.input = ready.input;
        batch.count = ready.count;
    }
    batch.fresh = 0; /* no weights of absent classes */
    if (batch.count == 0) {
        memset(gradient, 0, similarity->size * sizeof *gradient);
        return OCDM_OK;
    }
    OCDM_TRY(ocdm__batch_label(&batch, &run->stream->table, &similarity->labels, error));
    similarity->run->online.asked += batch.count;
    return run->learner->functions->gradient(run->learner->state, &batch, gradient, error);
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

/* A batch is compared as a whole, as single samples, or both: what the policy asks for. */
static ocdm_status answer(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    struct ocdm__similarity *similarity = state;
    size_t size = asked->group_size, groups = asked->slot_count / size;
    size_t room = asked->count > size ? asked->count : size;
    bool failed = false;
    if (room > similarity->sample_room) {
        similarity->samples = ocdm__grown(similarity->samples, 2 * room, sizeof *similarity->samples, &failed);
        similarity->sample_room = failed ? similarity->sample_room : room;
    }
    if (groups > similarity->kept_room) { /* gradients are large: room for them grows to what is needed and no further */
        similarity->kept = ocdm__grown(similarity->kept, groups * sizeof *similarity->kept, similarity->size, &failed);
        similarity->norms = ocdm__grown(similarity->norms, groups, sizeof *similarity->norms, &failed);
        similarity->kept_room = failed ? similarity->kept_room : groups;
    }
    if (failed)
        return ocdm__fail_memory(error, "the gradients that are compared");
    uint32_t *samples = similarity->samples + similarity->sample_room;
    for (size_t j = 0; j < groups; j++) {
        float *gradient = similarity->kept + j * similarity->size;
        for (size_t k = 0; k < size; k++)
            samples[k] = (uint32_t)ocdm_memory_id(memory, asked->slot[j * size + k]);
        OCDM_TRY(gradient_of(similarity, samples, size, true, gradient, error));
        similarity->norms[j] = sqrt(product(gradient, gradient, similarity->size));
    }
    for (size_t i = 0; i < asked->count; i++)
        samples[i] = (uint32_t)asked->batch[i].id;
    if (asked->batch_cosine != NULL) {
        OCDM_TRY(gradient_of(similarity, samples, asked->count, false, similarity->gradient, error));
        *asked->batch_cosine = largest_cosine(similarity, groups);
    }
    if (asked->batch_first && *asked->batch_cosine >= 0)
        return OCDM_OK;
    for (size_t i = 0; i < asked->count; i++) {
        OCDM_TRY(gradient_of(similarity, samples + i, 1, false, similarity->gradient, error));
        asked->item_cosine[i] = largest_cosine(similarity, groups);
    }
    return OCDM_OK;
}

void ocdm__similarity_close(struct ocdm__similarity *similarity)
{
    if (similarity == NULL)
        return;
    ocdm__label_room_clear(&similarity->labels);
    OCDM_RELEASE(similarity->kept, similarity->norms, similarity->samples);
}

ocdm_status ocdm__similarity_open(ocdm__run *run, unsigned slot, ocdm_error *error)
{
    if (run->memory == NULL || run->learner == NULL ||
        (ocdm_memory_options(run->memory)->policy->traits & OCDM_NEEDS_GRADIENTS) == 0)
        return OCDM_OK;
    if (run->learner->functions->gradient == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose another method",
                          "the method %s compares gradients, and the learner has none", run->settings->method);
    size_t size = run->learner->functions->gradient_size(run->learner->state);
    struct ocdm__similarity *similarity = ocdm__arena_new(&run->arena, 1, sizeof *similarity);
    float *gradient = ocdm__arena_new(&run->arena, size, sizeof *gradient);
    OCDM_TRY(ocdm__arena_check(&run->arena, "the gradients that are compared", error));
    *similarity = (struct ocdm__similarity){.run = run, .slot = slot, .size = size, .gradient = gradient};
    run->similarity = similarity;
    ocdm_memory_set_similarity(run->memory, answer, similarity);
    return OCDM_OK;
}
