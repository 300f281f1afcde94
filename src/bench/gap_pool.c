/* Grouping, deleting and putting back; only what one sample changes is recomputed. */
#include "bench/gap_pool.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "memory/logarithm.h"

static ocdm__gap_pool *allocate_pool(const ocdm__reference_pool *lists)
{
    ocdm__gap_pool *pool = ocdm__allocate(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    size_t samples = lists->sample_count;
    size_t labels = lists->label_start[samples];
    pool->set_start = ocdm__allocate(samples + 1, sizeof *pool->set_start);
    pool->set_label = ocdm__allocate(labels, sizeof *pool->set_label);
    pool->copies = ocdm__allocate(samples, sizeof *pool->copies);
    pool->set_of = ocdm__allocate(samples, sizeof *pool->set_of);
    pool->count = ocdm__allocate(lists->class_count, sizeof *pool->count);
    pool->step = ocdm__allocate(samples + 1, sizeof *pool->step);
    pool->ln = ocdm__allocate(labels + 1, sizeof *pool->ln);
    if (pool->set_start != NULL && pool->set_label != NULL && pool->copies != NULL && pool->set_of != NULL &&
        pool->count != NULL && pool->step != NULL && pool->ln != NULL)
        return pool;
    ocdm__gap_pool_destroy(pool);
    return NULL;
}

static void sort_labels(uint32_t *label, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && label[j - 1] > label[j]; j--) {
            uint32_t swapped = label[j];
            label[j] = label[j - 1];
            label[j - 1] = swapped;
        }
}

/* The set equal to these labels, a new one if need be. Plain search: pools are small and this is not what is measured. */
static uint32_t find_set(ocdm__gap_pool *pool, const uint32_t *label, size_t count)
{
    size_t end = pool->set_start[pool->set_count];
    uint32_t *candidate = pool->set_label + end;
    for (size_t j = 0; j < count; j++)
        candidate[j] = label[j];
    sort_labels(candidate, count);
    for (size_t s = 0; s < pool->set_count; s++)
        if (pool->set_start[s + 1] - pool->set_start[s] == count &&
            memcmp(pool->set_label + pool->set_start[s], candidate, count * sizeof *candidate) == 0)
            return (uint32_t)s;
    pool->set_start[++pool->set_count] = end + count;
    return (uint32_t)(pool->set_count - 1);
}

ocdm_status ocdm__gap_pool_create(const ocdm__reference_pool *lists, ocdm__gap_pool **pool, ocdm_error *error)
{
    ocdm__gap_pool *made = allocate_pool(lists);
    if (made == NULL)
        return ocdm__fail_memory(error, "a pool to search");
    for (size_t m = 1; m <= lists->sample_count; m++)
        made->step[m] = ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
    for (size_t s = 1; s <= lists->label_start[lists->sample_count]; s++)
        made->ln[s] = ocdm__ln(s);
    for (size_t i = 0; i < lists->sample_count; i++) {
        size_t labels = lists->label_start[i + 1] - lists->label_start[i];
        made->set_of[i] = find_set(made, lists->label + lists->label_start[i], labels);
        ocdm__gap_restore(made, made->set_of[i]);
    }
    made->class_count = lists->class_count;
    for (size_t c = 0; c < lists->class_count; c++)
        made->in_play += made->count[c] > 0;
    *pool = made;
    return OCDM_OK;
}

void ocdm__gap_pool_destroy(ocdm__gap_pool *pool)
{
    if (pool == NULL)
        return;
    ocdm__release(pool->set_start);
    ocdm__release(pool->set_label);
    ocdm__release(pool->copies);
    ocdm__release(pool->set_of);
    ocdm__release(pool->count);
    ocdm__release(pool->step);
    ocdm__release(pool->ln);
    ocdm__release(pool);
}

void ocdm__gap_delete(ocdm__gap_pool *pool, uint32_t set)
{
    pool->copies[set]--;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        pool->sum -= pool->step[pool->count[pool->set_label[j]]--];
    pool->total -= pool->set_start[set + 1] - pool->set_start[set];
}

void ocdm__gap_restore(ocdm__gap_pool *pool, uint32_t set)
{
    pool->copies[set]++;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        pool->sum += pool->step[++pool->count[pool->set_label[j]]];
    pool->total += pool->set_start[set + 1] - pool->set_start[set];
}

/* With an equal target KL = (sum of m ln m) / S - ln S + ln C. */
static double distance_at(const ocdm__gap_pool *pool, int64_t sum, uint64_t total)
{
    return total == 0 ? INFINITY : (double)sum / (OCDM__GRID * (double)total) - pool->ln[total] + pool->ln[pool->in_play];
}

double ocdm__gap_distance(const ocdm__gap_pool *pool)
{
    return distance_at(pool, pool->sum, pool->total);
}

double ocdm__gap_distance_without(const ocdm__gap_pool *pool, uint32_t set)
{
    int64_t sum = pool->sum;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        sum -= pool->step[pool->count[pool->set_label[j]]];
    return distance_at(pool, sum, pool->total - (pool->set_start[set + 1] - pool->set_start[set]));
}
