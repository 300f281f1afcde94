/*
 * Threads that wait for work: a region is a few lists of items, spread over the threads as they come free, and over when all
 * items are done. An item may run on any thread, so it must not matter which: what an item computes depends on its number only.
 */
#ifndef OCDM_AGENT_TEAM_H
#define OCDM_AGENT_TEAM_H

#include <stddef.h>

#include "ocdm/ocdm.h"

typedef struct ocdm__team ocdm__team;

/* Items 0..count-1; `slot` tells the threads apart. */
struct ocdm__work {
    void (*run)(void *context, size_t item, unsigned slot);
    void *context;
    size_t count;
};

/* `threads` counts the caller, who works too: 1 makes no thread. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__team_create(unsigned threads, ocdm__team **team, ocdm_error *error);
void ocdm__team_destroy(ocdm__team *team);

/* Runs all items, the lists in order: put large items first. At most OCDM__TEAM_LISTS lists. One caller at a time. */
#define OCDM__TEAM_LISTS 4
void ocdm__team_run(ocdm__team *team, const struct ocdm__work *works, size_t work_count);

#endif
