/* Shared by making a memory and updating it. */
#ifndef OCDM_MEMORY_UPDATE_H
#define OCDM_MEMORY_UPDATE_H

#include "memory/memory.h"

/* Makes room for batches of so many samples. */
ocdm_status ocdm__memory_reserve_batch(ocdm_memory *memory, uint32_t count, ocdm_error *error);

/* Sorts whole numbers ascending, without allocating. */
void ocdm__sort(uint32_t *number, size_t count);

#endif
