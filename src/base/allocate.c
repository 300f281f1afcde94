/* Allocation, with overflow checks. */
#include "base/allocate.h"

#include <stdint.h>
#include <stdlib.h>

void *ocdm__allocate(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

void *ocdm__resize(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size;
    return realloc(block, bytes ? bytes : 1);
}

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
