/* The one door to malloc: sizes are multiplied with an overflow check, so that a fault can be injected at every call. */
#ifndef OCDM_BASE_ALLOCATE_H
#define OCDM_BASE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for `count` elements of `size` bytes, all zero; NULL when there is none or the product overflows. Never NULL for 0. */
void *ocdm__allocate(size_t count, size_t size);

/* Changes a block to `count` elements of `size` bytes, contents kept up to the smaller; NULL leaves the old block as it was. */
void *ocdm__resize(void *block, size_t count, size_t size);

/*
 * Makes room for `needed` elements of `size` bytes in a growable array. At least doubles, so that appending costs O(1) on
 * average.
 *
 * array  the address of the pointer to the first element
 * room   how many elements fit
 *
 * False when out of memory or when the size overflows; array and room are unchanged then. New elements are not initialised; by
 * ocdm__reserve_zeroed they are all zero.
 */
bool ocdm__reserve(void *array, size_t *room, size_t needed, size_t size);
bool ocdm__reserve_zeroed(void *array, size_t *room, size_t needed, size_t size);

/* What ocdm__reserve grows to, for several arrays that share one `room`; see ocdm__grown. */
size_t ocdm__larger_room(size_t room, size_t needed);

/* For growing several arrays together: the larger block, or, with *failed set, the old one, which is then as it was. */
void *ocdm__grown(void *block, size_t count, size_t size, bool *failed);

/* Gives a block back. NULL is fine. */
void ocdm__release(void *block);

#endif
