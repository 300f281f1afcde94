/* The gradients that policies such as gss compare. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/loop/step.h"

/*
 * Computes how similar the gradients of a batch are to those of some samples in memory, for policies such as gss. Gradients
 * are those of the loss with respect to all parameters in evaluation mode; images are cropped in the middle and not augmented.
 */
struct ocdm__similarity {
    const ocdm__learner *learner;
    ocdm__model_inputs *inputs;
    unsigned slot; /* of the inputs, free whenever the memory is updated */
    const ocdm__stream_table *table;
    ocdm__label_room labels;
    size_t size; /* floats of a gradient */
    float *kept; /* the gradients of the samples in memory that are compared with, and their norms */
    double *norms;
    size_t kept_room;
    float *gradient;
    uint32_t *samples;
    size_t sample_room;
    uint64_t step; /* under way: samples of the memory may pass through the store */
    size_t asked;  /* samples whose gradients were computed */
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

static ocdm_status gradient_of_usable(struct ocdm__similarity *similarity, ocdm__batch *batch, float *gradient,
                                      ocdm_error *error)
{
    OCDM_TRY(ocdm__batch_label(batch, similarity->table, &similarity->labels, error));
    similarity->asked += batch->count;
    return similarity->learner->functions->gradient(similarity->learner->state, batch, gradient, error);
}

/* The gradient of the mean loss of some samples, of the memory if they are `remembered`; zeros when none of their images can be
 * decoded. */
static ocdm_status gradient_of(struct ocdm__similarity *similarity, const uint32_t *samples, size_t count, bool remembered,
                               float *gradient, ocdm_error *error)
{
    ocdm__batch batch = {.step = similarity->step, .samples = samples, .count = count, .fresh = remembered ? 0 : count}, ready;
    if (similarity->inputs != NULL) {
        OCDM_TRY(ocdm__model_inputs_request_batch(similarity->inputs, similarity->slot, &batch, false, error));
        OCDM_TRY(ocdm__model_inputs_wait(similarity->inputs, similarity->slot, &ready, error));
        for (size_t i = 0; i < ready.count; i++)
            similarity->samples[i] = samples[ready.usable[i]];
        batch.samples = similarity->samples;
        batch.input = ready.input;
        batch.count = ready.count;
    }
    batch.fresh = 0; /* no weights of absent classes */
    if (batch.count > 0)
        return gradient_of_usable(similarity, &batch, gradient, error);
    memset(gradient, 0, similarity->size * sizeof *gradient);
    return OCDM_OK;
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
        OCDM_TRY(gradient_of(similarity, members, asked->group_size, true, gradient, error));
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
    OCDM_TRY(gradient_of(similarity, samples, count, false, similarity->gradient, error));
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

void ocdm__similarity_close(struct ocdm__similarity *similarity)
{
    if (similarity == NULL)
        return;
    ocdm__label_room_clear(&similarity->labels);
    ocdm__release(similarity->kept);
    ocdm__release(similarity->norms);
    ocdm__release(similarity->gradient);
    ocdm__release(similarity->samples);
    ocdm__release(similarity);
}

ocdm_status ocdm__similarity_open(struct ocdm__similarity **opened, const ocdm__online_parts *parts, unsigned slot,
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
        .learner = parts->learner, .inputs = parts->inputs, .slot = slot, .table = parts->table, .sample_room = 1};
    similarity->size = parts->learner->functions->gradient_size(parts->learner->state);
    similarity->gradient = ocdm__allocate(similarity->size, sizeof *similarity->gradient);
    similarity->samples = ocdm__allocate(2, sizeof *similarity->samples);
    if (similarity->gradient == NULL || similarity->samples == NULL)
        return ocdm__fail_memory(error, "the gradients that are compared");
    ocdm_memory_set_similarity(parts->memory, answer, similarity);
    return OCDM_OK;
}

void ocdm__similarity_begin(struct ocdm__similarity *similarity, uint64_t step)
{
    similarity->step = step;
    similarity->asked = 0;
}

size_t ocdm__similarity_asked(const struct ocdm__similarity *similarity)
{
    return similarity->asked;
}
