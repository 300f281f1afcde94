/* What the index's upkeep and its search share. */
#ifndef OCDM_MEMORY_SCORES_WEIGHTS_H
#define OCDM_MEMORY_SCORES_WEIGHTS_H

#include "memory/scores.h"

/* f(m) - f(m - 1) on the grid. */
int64_t ocdm__scores_step(struct scores *scores, uint32_t m);

#endif
