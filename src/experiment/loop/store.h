/*
 * What the memory keeps of a sample: its payload in fewer bytes, and what a sample costs. A sample that is replayed passes
 * through the store: it is encoded and decoded again. The encoding depends on the sample and on the first samples of the stream
 * alone, so that the same numbers can be made from the stream at any time, in any process: no copy is kept, and none is saved.
 */
#ifndef OCDM_EXPERIMENT_LOOP_STORE_H
#define OCDM_EXPERIMENT_LOOP_STORE_H

#include "base/base.h"
#include "experiment/loop/settings.h"
#include "stream/file.h"

/* ---- bytes ----------------------------------------------------------------------------------------------------------- */

/* What is counted: the payload as it is stored, a bit for each class (the labels), the logits of --dark and the loss of
 * --replay-policy loss, four bytes a number; and once the two numbers of each feature that u8 needs. What policies and the
 * index of the memory keep for themselves is not counted. */
typedef struct ocdm__store_bytes {
    uint64_t sample; /* of one sample; 0: not known, since image files differ */
    uint64_t shared; /* of all together */
} ocdm__store_bytes;

/* The room for an image as JPEG: one that does not fit is stored at a lower quality. */
uint64_t ocdm__store_jpeg_bytes(uint32_t quality, uint32_t pixels);

ocdm__store_bytes ocdm__store_bytes_of(const ocdm__run_settings *settings, const ocdm__stream *stream);

/* Makes settings->memory follow from settings->memory_bytes, unless that is 0. `path` is for messages. OCDM_OK;
 * OCDM_BAD_ARGUMENT: a store that does not fit the stream, too few bytes. */
ocdm_status ocdm__store_fill_memory(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                    ocdm_error *error);

/* ---- features -------------------------------------------------------------------------------------------------------- */

/* Samples that ranges of features are learned from; until so many have come, the memory keeps its samples as f32. */
#define OCDM__STORE_LEARNING 256u

/* Start with all bytes zero. */
typedef struct ocdm__store {
    uint32_t kind;
    size_t width;    /* of a row of features */
    size_t learning; /* rows that are learned from: OCDM__STORE_LEARNING, or as many as the bytes hold as f32 */
    size_t learned;  /* rows so far */
    float *low,
        *step; /* of each feature: byte q stands for low + q step. While rows are learned, `step` is the highest value */
} ocdm__store;

/* Does not learn yet. OCDM_OK, OCDM_NO_MEMORY. Clear it even after an error. */
ocdm_status ocdm__store_open(ocdm__store *store, const ocdm__run_settings *settings, const ocdm__stream *stream,
                             ocdm_error *error);
void ocdm__store_clear(ocdm__store *store);

/* Learns from the next row of the stream; after the last one of `learning`, ranges are fixed. */
void ocdm__store_learn(ocdm__store *store, const float *row);

/* Encodes a row and decodes it in place. u8 must have learned. */
void ocdm__store_pass(const ocdm__store *store, float *row);

#endif
