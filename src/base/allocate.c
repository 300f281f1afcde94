#include "base/base.h"

#define LEAST_ROOM 16

void *ocdm__allocate(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

ocdm_status ocdm__new(void *pointer, size_t count, size_t size, const char *what, ocdm_error *error)
{
    void *block = ocdm__allocate(count, size);
    memcpy(pointer, &block, sizeof block); /* the caller's pointer has another type than void * */
    return block != NULL ? OCDM_OK : ocdm__fail_memory(error, what);
}

void *ocdm__resize(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size;
    return realloc(block, bytes ? bytes : 1);
}

size_t ocdm__larger_room(size_t room, size_t needed)
{
    size_t larger = room > SIZE_MAX / 2 ? SIZE_MAX : 2 * room;
    if (larger < LEAST_ROOM)
        larger = LEAST_ROOM;
    return larger > needed ? larger : needed;
}

/* The pointer is read and written as bytes: the caller's has a type of its own. */
bool ocdm__reserve(void *array, size_t *room, size_t needed, size_t size)
{
    void *block;
    if (needed <= *room)
        return true;
    size_t larger = ocdm__larger_room(*room, needed);
    memcpy(&block, array, sizeof block);
    block = ocdm__resize(block, larger, size);
    if (block == NULL)
        return false;
    memcpy(array, &block, sizeof block);
    *room = larger;
    return true;
}

/* Only what is new is cleared. */
bool ocdm__reserve_zeroed(void *array, size_t *room, size_t needed, size_t size)
{
    unsigned char *block;
    size_t before = *room;
    if (!ocdm__reserve(array, room, needed, size))
        return false;
    memcpy(&block, array, sizeof block);
    if (*room > before)
        memset(block + before * size, 0, (*room - before) * size);
    return true;
}

/* A block that grew stays grown when a later one of the same group fails: it is only larger than its `room` says. */
void *ocdm__grown(void *block, size_t count, size_t size, bool *failed)
{
    void *larger = ocdm__resize(block, count, size);
    if (larger)
        return larger;
    *failed = true;
    return block;
}

void ocdm__release(void *block)
{
    free(block);
}

void ocdm__release_all(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ocdm__release(blocks[i]);
}

/* Before each block of an arena; it keeps the block aligned for any type. */
union ocdm__arena_block {
    union ocdm__arena_block *before;
    long double aligned; /* C99 has no max_align_t */
};

/* Each piece is a block of its own. A failure is remembered, so that several can be asked for before ocdm__arena_check. */
void *ocdm__arena_new(ocdm__arena *arena, size_t count, size_t size)
{
    union ocdm__arena_block *block = NULL;
    if (size == 0 || count <= (SIZE_MAX - sizeof *block) / size)
        block = ocdm__allocate(sizeof *block + count * size, 1);
    arena->failed = arena->failed || block == NULL;
    if (block == NULL)
        return NULL;
    block->before = arena->last;
    arena->last = block;
    return block + 1;
}

char *ocdm__arena_text(ocdm__arena *arena, const char *text)
{
    char *copy = ocdm__arena_new(arena, strlen(text) + 1, 1);
    return copy != NULL ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

ocdm_status ocdm__arena_check(const ocdm__arena *arena, const char *what, ocdm_error *error)
{
    return arena->failed ? ocdm__fail_memory(error, what) : OCDM_OK;
}

/* All pieces; none has a release of its own. */
void ocdm__arena_clear(ocdm__arena *arena)
{
    while (arena->last != NULL) {
        union ocdm__arena_block *block = arena->last;
        arena->last = block->before;
        ocdm__release(block);
    }
    arena->failed = false;
}
