/* Blocks that begin at a multiple of 64 bytes: a vector of the widest kind then never straddles two lines of the cache. */
#ifndef OCDM_AGENT_ALIGNED_H
#define OCDM_AGENT_ALIGNED_H

#include <stddef.h>

/* As ocdm__allocate, zeroed; give it back with ocdm__release_aligned. Large blocks are put on large pages where the system has
 * them: networks walk through hundreds of megabytes, and looking up small pages takes a few per cent of a step. */
void *ocdm__allocate_aligned(size_t count, size_t size);
void ocdm__release_aligned(void *start);

#endif
