/* Taking an update back: kept only for policies that are not the library's own, which alone can err after the first change. */
#ifndef OCDM_MEMORY_JOURNAL_H
#define OCDM_MEMORY_JOURNAL_H

#include "memory/memory.h"

/* The counters as they were. */
struct before {
    uint64_t arrived;
    uint64_t departed;
    uint32_t class_count;
};

/* Room for the labels of everyone who may leave. */
ocdm_status ocdm__journal_reserve(ocdm_memory *memory, size_t batch_labels, ocdm_error *error);

struct before ocdm__journal_start(ocdm_memory *memory);
void ocdm__journal_join(ocdm_memory *memory);
void ocdm__journal_leave(ocdm_memory *memory, uint32_t position);

/* Plays the journal backwards and gives the batch back; the memory is as it was before the update. */
void ocdm__journal_undo(ocdm_memory *memory, size_t count, struct before before);

#endif
