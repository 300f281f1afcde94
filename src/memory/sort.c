/* Sorting label sets: nearly always two to five numbers, now and then thousands; qsort may allocate. */
#include "memory/update.h"

#define FEW 24

static void insertion_sort(uint32_t *number, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t x = number[i];
        size_t j = i;
        for (; j && number[j - 1] > x; j--)
            number[j] = number[j - 1];
        number[j] = x;
    }
}

static void sift_down(uint32_t *heap, size_t root, size_t count)
{
    uint32_t x = heap[root];
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= x)
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = x;
}

static void heap_sort(uint32_t *number, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(number, i, count);
    for (size_t end = count - 1; end > 0; end--) {
        uint32_t largest = number[0];
        number[0] = number[end];
        number[end] = largest;
        sift_down(number, 0, end);
    }
}

void ocdm__sort(uint32_t *number, size_t count)
{
    if (count <= FEW)
        insertion_sort(number, count);
    else
        heap_sort(number, count);
}
