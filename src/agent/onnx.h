/*
 * A trained network as an ONNX file, for other programs. What the network needs before its first layer is part of the graph:
 * pixels from 0 to 255, or features as they are, go in; logits and probabilities come out. The batch axis is free.
 *
 * The file is a protobuf message (IR version 4, operator set 9), written field by field. Weights are copied from the mapped
 * file tensor by tensor, so that a large network needs no second copy in memory.
 */
#ifndef OCDM_AGENT_ONNX_H
#define OCDM_AGENT_ONNX_H

#include "agent/agent.h"
#include "agent/model.h"
#include "base/output.h"

/* An entry of the file's metadata. */
struct ocdm__onnx_property {
    const char *key, *value;
};

struct ocdm__onnx_network {
    struct ocdm__model_size size;
    struct ocdm__weights weights;
    const float *offset, *scale; /* the network sees (x - offset) * scale: 3 channels, or all features; NULL: x itself */
    const char *input_text;      /* what goes in, for readers */
    const struct ocdm__onnx_property *properties;
    size_t property_count;
};

/*
 * Writes the file. OCDM_OK; OCDM_BAD_FILE for weights that do not fit the model or its classes, or are not finite;
 * OCDM_BAD_ARGUMENT (images too small); OCDM_LIMIT beyond the 2 GiB of a protobuf message; OCDM_NO_MEMORY. Write errors stay in
 * `output`.
 */
ocdm_status ocdm__onnx_write(ocdm__output *output, const struct ocdm__onnx_network *network, ocdm_error *error);

#endif
