/* Requests samples of a stream by their numbers, as a batch of the stream. */
#ifndef OCDM_TESTS_REQUEST_SAMPLES_H
#define OCDM_TESTS_REQUEST_SAMPLES_H

#include "experiment/loop/inputs.h"

static inline ocdm_status request_samples(ocdm__model_inputs *inputs, unsigned slot, const uint32_t *samples, size_t count,
                                          uint64_t update, bool training, ocdm_error *error)
{
    const ocdm__batch batch = {.samples = samples, .count = count, .fresh = count, .update = update};
    return ocdm__model_inputs_request(inputs, slot, &batch, training, error);
}

#endif
