/* The one door to malloc: sizes are multiplied with an overflow check, so that a fault can be injected at every call. */
#ifndef OCDM_BASE_ALLOCATE_H
#define OCDM_BASE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for `count` elements of `size` bytes, all zero; NULL when there is none or the product overflows. Never NULL for 0. */
void *ocdm__allocate(size_t count, size_t size);

/* Changes a block to `count` elements of `size` bytes, contents kept up to the smaller; NULL leaves the old block as it was. */
void *ocdm__resize(void *block, size_t count, size_t size);

/* For growing several arrays together: the larger block, or, with *failed set, the old one, which is then as it was. */
void *ocdm__grown(void *block, size_t count, size_t size, bool *failed);

/* Gives a block back. NULL is fine. */
void ocdm__release(void *block);

#endif
