/* Binary cross entropy with logits, and its gradient. */
#ifndef OCDM_AGENT_LOSS_H
#define OCDM_AGENT_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* What a batch should have said: labels in rows as in ocdm__labelled_batch. */
struct ocdm__targets {
    const size_t *starts;
    const uint32_t *labels;
    size_t rows, classes;
};

/* The mean over all logits. `gradients` becomes its gradient. A row whose loss is not a finite number ends it: `*bad_row` is
 * its number, else `rows`. */
double ocdm__loss(const struct ocdm__targets *targets, const float *logits, float *gradients, size_t *bad_row);

#endif
