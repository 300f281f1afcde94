/* Cosines between gradients. */
#include "experiment/loop/gss_similarity.h"

#include <math.h>

#include "base/allocate.h"
#include "base/error.h"

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

/* The gradient of the mean loss of some samples; zeros when none of their images can be decoded. */
static ocdm_status gradient_of(ocdm__gss_similarity *similarity, const uint32_t *samples, size_t count, float *gradient,
                               ocdm_error *error)
{
    ocdm__ready ready;
    ocdm_status status = ocdm__inputs_request(similarity->inputs, similarity->slot, samples, count, 0, false, error);
    if (status == OCDM_OK)
        status = ocdm__inputs_wait(similarity->inputs, similarity->slot, &ready, error);
    if (status != OCDM_OK)
        return status;
    for (size_t i = 0; i < similarity->size && ready.count == 0; i++)
        gradient[i] = 0;
    if (ready.count == 0)
        return OCDM_OK;
    uint32_t *usable = similarity->samples;
    for (size_t i = 0; i < ready.count; i++)
        usable[i] = samples[ready.usable[i]];
    status = ocdm__batch_labels_gather(&similarity->labels, &similarity->lists, usable, ready.count, error);
    struct ocdm__labelled_batch batch = {ready.tensor, similarity->labels.starts, similarity->labels.labels, ready.count};
    return status == OCDM_OK ? ocdm__agent_gradient(similarity->agent, &batch, gradient, error) : status;
}

static ocdm_status reserve_kept(ocdm__gss_similarity *similarity, size_t count, ocdm_error *error)
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

static ocdm_status load_kept(ocdm__gss_similarity *similarity, const ocdm_memory *memory, const ocdm_comparison *asked,
                             ocdm_error *error)
{
    ocdm_status status = reserve_kept(similarity, asked->slot_count, error);
    for (size_t j = 0; status == OCDM_OK && j < asked->slot_count; j++) {
        uint32_t sample = (uint32_t)ocdm_memory_id(memory, asked->slot[j]);
        float *gradient = similarity->kept + j * similarity->size;
        status = gradient_of(similarity, &sample, 1, gradient, error);
        if (status == OCDM_OK)
            similarity->norms[j] = sqrt(product(gradient, gradient, similarity->size));
    }
    return status;
}

/* The largest cosine between the gradient at hand and those of the memory; one that is zero counts as 0. */
static double largest_cosine(const ocdm__gss_similarity *similarity, size_t count)
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

static ocdm_status compare_with(ocdm__gss_similarity *similarity, const uint32_t *samples, size_t count, size_t kept,
                                double *cosine, ocdm_error *error)
{
    ocdm_status status = gradient_of(similarity, samples, count, similarity->gradient, error);
    if (status == OCDM_OK)
        *cosine = largest_cosine(similarity, kept);
    return status;
}

/* The batch's own numbers come after the room that gradient_of needs. */
static ocdm_status take_batch(ocdm__gss_similarity *similarity, const ocdm_comparison *asked, ocdm_error *error)
{
    bool failed = false;
    if (asked->count > similarity->sample_room) {
        similarity->samples = ocdm__grown(similarity->samples, 2 * asked->count, sizeof *similarity->samples, &failed);
        similarity->sample_room = failed ? similarity->sample_room : asked->count;
    }
    if (failed)
        return ocdm__fail_memory(error, "a comparison of gradients");
    for (size_t i = 0; i < asked->count; i++)
        similarity->samples[similarity->sample_room + i] = (uint32_t)asked->batch[i].id;
    return OCDM_OK;
}

static ocdm_status answer(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    ocdm__gss_similarity *similarity = state;
    ocdm_status status = take_batch(similarity, asked, error);
    if (status == OCDM_OK)
        status = load_kept(similarity, memory, asked, error);
    if (status != OCDM_OK)
        return status;
    const uint32_t *batch = similarity->samples + similarity->sample_room;
    if (asked->batch_cosine != NULL)
        status = compare_with(similarity, batch, asked->count, asked->slot_count, asked->batch_cosine, error);
    if (status == OCDM_OK && asked->batch_first && *asked->batch_cosine >= 0)
        return OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < asked->count; i++)
        status = compare_with(similarity, batch + i, 1, asked->slot_count, &asked->item_cosine[i], error);
    return status;
}

ocdm_status ocdm__gss_similarity_open(ocdm__gss_similarity *similarity, ocdm_memory *memory, ocdm__agent *agent,
                                      ocdm__inputs *inputs, unsigned slot, const ocdm__label_lists *lists, ocdm_error *error)
{
    *similarity = (ocdm__gss_similarity){.agent = agent, .inputs = inputs, .slot = slot, .lists = *lists};
    similarity->size = ocdm__agent_gradient_size(agent);
    similarity->gradient = ocdm__allocate(similarity->size, sizeof *similarity->gradient);
    similarity->samples = ocdm__allocate(2, sizeof *similarity->samples);
    similarity->sample_room = 1;
    if (similarity->gradient == NULL || similarity->samples == NULL)
        return ocdm__fail_memory(error, "the gradients that are compared");
    ocdm_memory_set_similarity(memory, answer, similarity);
    return OCDM_OK;
}

void ocdm__gss_similarity_close(ocdm__gss_similarity *similarity)
{
    ocdm__batch_labels_clear(&similarity->labels);
    ocdm__release(similarity->kept);
    ocdm__release(similarity->norms);
    ocdm__release(similarity->gradient);
    ocdm__release(similarity->samples);
    *similarity = (ocdm__gss_similarity){.size = 0};
}
