/* Blocks that begin at a multiple of 64 bytes: a vector of the widest kind then never straddles two lines of the cache. */
#ifndef OCDM_AGENT_ALIGNED_H
#define OCDM_AGENT_ALIGNED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"

#define OCDM__ALIGNMENT 64

/* As ocdm__allocate, zeroed; give it back with ocdm__release_aligned. */
static inline void *ocdm__allocate_aligned(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 2 * OCDM__ALIGNMENT) / size)
        return NULL;
    unsigned char *block = ocdm__allocate(count * size + 2 * OCDM__ALIGNMENT, 1);
    if (block == NULL)
        return NULL;
    unsigned char *start = block + 2 * OCDM__ALIGNMENT - (uintptr_t)block % OCDM__ALIGNMENT;
    memcpy(start - sizeof block, &block, sizeof block);
    return start;
}

static inline void ocdm__release_aligned(void *start)
{
    if (start == NULL)
        return;
    void *block;
    memcpy(&block, (unsigned char *)start - sizeof block, sizeof block);
    ocdm__release(block);
}

#endif
