/* The paper's loop, kept plain on purpose: libm's logarithm, no table, no grouping, no weights. */
#include "bench/reference.h"

#include <math.h>
#include <stdbool.h>

#include "base/allocate.h"
#include "base/error.h"

/* What is left of the pool: how many samples carry each class, their sum, and which samples are gone. */
struct remainder {
    uint32_t *count;
    uint64_t total;
    bool *gone;
};

/* Dist(p_omega, p), eq. (3) and (4), of the counts as they are. */
static double distance_of(const struct remainder *left, const ocdm__reference_pool *pool)
{
    if (left->total == 0)
        return INFINITY;
    double sum = 0;
    for (size_t c = 0; c < pool->class_count; c++) {
        if (left->count[c] == 0)
            continue;
        double share = (double)left->count[c] / (double)left->total;
        sum += share * log(share / pool->target[c]);
    }
    return sum;
}

static void take_out(struct remainder *left, const ocdm__reference_pool *pool, size_t sample)
{
    for (size_t j = pool->label_start[sample]; j < pool->label_start[sample + 1]; j++)
        left->count[pool->label[j]]--;
    left->total -= pool->label_start[sample + 1] - pool->label_start[sample];
}

static void put_back(struct remainder *left, const ocdm__reference_pool *pool, size_t sample)
{
    for (size_t j = pool->label_start[sample]; j < pool->label_start[sample + 1]; j++)
        left->count[pool->label[j]]++;
    left->total += pool->label_start[sample + 1] - pool->label_start[sample];
}

/* Eq. (7): the sample whose deletion leaves the least distance, the first one if there are several. */
static size_t least_distant(struct remainder *left, const ocdm__reference_pool *pool)
{
    size_t best = pool->sample_count;
    double least = INFINITY;
    for (size_t i = 0; i < pool->sample_count; i++) {
        if (left->gone[i])
            continue;
        take_out(left, pool, i);
        double distance = distance_of(left, pool);
        put_back(left, pool, i);
        if (distance < least || best == pool->sample_count) {
            least = distance;
            best = i;
        }
    }
    return best;
}

ocdm_status ocdm__reference_delete(const ocdm__reference_pool *pool, size_t deletions, uint32_t *deleted, double *distance,
                                   ocdm_error *error)
{
    if (deletions > pool->sample_count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%zu deletions from a pool of %zu samples", deletions,
                          pool->sample_count);
    struct remainder left = {.count = ocdm__allocate(pool->class_count, sizeof *left.count),
                             .gone = ocdm__allocate(pool->sample_count, sizeof *left.gone)};
    ocdm_status status = OCDM_OK;
    if (left.count == NULL || left.gone == NULL) {
        status = ocdm__fail_memory(error, "the reference loop");
    } else {
        for (size_t i = 0; i < pool->sample_count; i++)
            put_back(&left, pool, i);
        for (size_t k = 0; k < deletions; k++) {
            size_t sample = least_distant(&left, pool);
            take_out(&left, pool, sample);
            left.gone[sample] = true;
            deleted[k] = (uint32_t)sample;
        }
        if (distance != NULL)
            *distance = distance_of(&left, pool);
    }
    ocdm__release(left.gone);
    ocdm__release(left.count);
    return status;
}
