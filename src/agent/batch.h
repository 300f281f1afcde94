/*
 * A batch on its way from the schedule to the loss: samples of the stream, then those that are replayed, with their labels. The
 * online step (experiment/loop) fills it, and everybody up to the loss reads it. Pointers belong to whoever filled it.
 */
#ifndef OCDM_AGENT_BATCH_H
#define OCDM_AGENT_BATCH_H

#include "base/base.h"

typedef struct ocdm__batch {
    uint64_t step;           /* of the run, from 0 */
    uint64_t update;         /* of the learner, from 0: for the augmentation and what is replayed */
    bool again;              /* an update of the step has had these samples of the stream already */
    bool begins_task;        /* its samples of the stream are the first of their task */
    const uint32_t *samples; /* numbers in the stream */
    size_t count, fresh;     /* samples; how many of them are of the stream: the first ones */
    const float *input;      /* rows of features, or images as planes (channel, row, column), normalised already; NULL for a
                                learner that reads the samples itself, by their numbers */
    const size_t *starts;    /* the labels of sample i are labels[starts[i]] to labels[starts[i + 1] - 1], */
    const uint32_t *labels;  /* numbers of classes; repeats count once */
    const uint8_t *known;    /* a row of bits (base/bytes.h) for each sample: the classes that are annotated, its labels among
                                them; the others are left out of the loss. NULL: all are */
    const float *class_weights; /* of the loss, one for each class; NULL: 1 */
    const float *dark;          /* logits that the replayed samples once had, a row for each; NULL: not known */
    const float *ages;          /* steps since each class first came, this one included, for averages that begin with it; 0: not
                                   yet; NULL: not counted */
    const uint32_t
        *usable; /* of what was prepared (experiment/loop/inputs.h): positions among the samples that were requested */
} ocdm__batch;

/* What a step computed, a row or a number for each sample of its batch; valid until the next one. */
typedef struct ocdm__outputs {
    const float *logits;
    const double *losses;
} ocdm__outputs;

#endif
