#define _DEFAULT_SOURCE

#include "agent/aligned.h"

#include <stdint.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/allocate.h"

#define ALIGNMENT ((size_t)64)
#define LARGE_PAGE ((size_t)2 << 20)

/* Only advice: a system that does not follow it does the same more slowly. */
static void ask_for_large_pages(unsigned char *block, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    size_t skipped = (LARGE_PAGE - (uintptr_t)block % LARGE_PAGE) % LARGE_PAGE;
    if (bytes >= skipped + LARGE_PAGE)
        (void)madvise(block + skipped, (bytes - skipped) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

void *ocdm__allocate_aligned(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 2 * ALIGNMENT) / size)
        return NULL;
    size_t bytes = count * size + 2 * ALIGNMENT;
    unsigned char *block = ocdm__allocate(bytes, 1);
    if (block == NULL)
        return NULL;
    ask_for_large_pages(block, bytes);
    unsigned char *start = block + 2 * ALIGNMENT - (uintptr_t)block % ALIGNMENT;
    memcpy(start - sizeof block, &block, sizeof block);
    return start;
}

void ocdm__release_aligned(void *start)
{
    if (start == NULL)
        return;
    void *block;
    memcpy(&block, (unsigned char *)start - sizeof block, sizeof block);
    ocdm__release(block);
}
