/* The only callers of malloc. Sizes are multiplied with an overflow check, and tests can inject a failure at every call. */
#ifndef OCDM_BASE_ALLOCATE_H
#define OCDM_BASE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include "ocdm/ocdm.h"

/* Allocates `count` elements of `size` bytes, all zero. NULL when out of memory or when the product overflows; never NULL for
 * 0. */
void *ocdm__allocate(size_t count, size_t size);

/* The same into the pointer whose address is given. OCDM_OK, or OCDM_NO_MEMORY with an error that names `what`; the pointer is
 * then NULL. */
ocdm_status ocdm__new(void *pointer, size_t count, size_t size, const char *what, ocdm_error *error);

/* Resizes a block to `count` elements of `size` bytes and keeps its contents up to the smaller size. On failure returns NULL
 * and the old block is unchanged. */
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

/* For growing several arrays together: returns the larger block, or sets *failed and returns the old block unchanged. */
void *ocdm__grown(void *block, size_t count, size_t size, bool *failed);

/* Releases a block, or several one after the other. NULL is fine. */
void ocdm__release(void *block);
#define OCDM_RELEASE(...) ocdm__release_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void ocdm__release_all(void *const *blocks, size_t count);

/*
 * Blocks that are released together. Start with all bytes zero. A failed allocation is remembered, so that only the last one
 * needs a check:
 *
 *     run->counts = ocdm__arena_new(&run->arena, classes, sizeof *run->counts);
 *     run->groups = ocdm__arena_new(&run->arena, classes, sizeof *run->groups);
 *     OCDM_TRY(ocdm__arena_check(&run->arena, "the tables of a run", error));
 */
typedef struct ocdm__arena {
    union ocdm__arena_block *last; /* each leads to the one before it */
    bool failed;
} ocdm__arena;

/* As ocdm__allocate. */
void *ocdm__arena_new(ocdm__arena *arena, size_t count, size_t size);

/* A copy of a text, with its NUL. */
char *ocdm__arena_text(ocdm__arena *arena, const char *text);

/* OCDM_OK; OCDM_NO_MEMORY, with an error that names `what`, if an allocation failed since the arena was empty. */
ocdm_status ocdm__arena_check(const ocdm__arena *arena, const char *what, ocdm_error *error);

/* Releases all blocks; the arena is empty again. */
void ocdm__arena_clear(ocdm__arena *arena);

#endif
