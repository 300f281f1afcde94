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

/* ---- the pool of a step -------------------------------------------------------------------------------------------- */

/* Copies label sets out of a memory. Nothing here is timed. */

static ocdm_status reserve(ocdm__snapshot *snapshot, size_t samples, size_t labels, size_t classes, ocdm_error *error)
{
    if (samples + 1 > snapshot->sample_room) {
        size_t *start = ocdm__resize(snapshot->label_start, samples + 1, sizeof *start);
        if (start == NULL)
            return ocdm__fail_memory(error, "the pool of a step");
        snapshot->label_start = start;
        snapshot->sample_room = samples + 1;
    }
    if (labels > snapshot->label_room) {
        uint32_t *label = ocdm__resize(snapshot->label, labels, sizeof *label);
        if (label == NULL)
            return ocdm__fail_memory(error, "the pool of a step");
        snapshot->label = label;
        snapshot->label_room = labels;
    }
    if (classes > snapshot->class_room) {
        double *target = ocdm__resize(snapshot->target, classes, sizeof *target);
        if (target == NULL)
            return ocdm__fail_memory(error, "the pool of a step");
        snapshot->target = target;
        snapshot->class_room = classes;
    }
    return OCDM_OK;
}

static void set_equal_target(double *target, const uint32_t *label, size_t labels, size_t classes)
{
    size_t in_play = 0;
    for (size_t c = 0; c < classes; c++)
        target[c] = 0;
    for (size_t j = 0; j < labels; j++) {
        in_play += target[label[j]] == 0;
        target[label[j]] = 1;
    }
    for (size_t c = 0; c < classes; c++)
        target[c] /= in_play > 0 ? (double)in_play : 1;
}

ocdm_status ocdm__snapshot_take(ocdm__snapshot *snapshot, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                                size_t class_count, ocdm_error *error)
{
    uint32_t size = ocdm_memory_size(memory);
    size_t labels = 0;
    for (uint32_t slot = 0; slot < size; slot++)
        labels += ocdm_memory_labels(memory, slot, NULL, 0);
    for (size_t i = 0; i < count; i++)
        labels += batch[i].label_count;
    ocdm_status status = reserve(snapshot, size + count, labels, class_count, error);
    if (status != OCDM_OK)
        return status;
    size_t at = 0;
    for (uint32_t slot = 0; slot < size; slot++) {
        snapshot->label_start[slot] = at;
        at += ocdm_memory_labels(memory, slot, snapshot->label + at, labels - at);
    }
    for (size_t i = 0; i < count; i++) {
        snapshot->label_start[size + i] = at;
        for (size_t j = 0; j < batch[i].label_count; j++)
            snapshot->label[at++] = batch[i].labels[j];
    }
    snapshot->label_start[size + count] = at;
    set_equal_target(snapshot->target, snapshot->label, labels, class_count);
    snapshot->pool =
        (ocdm__reference_pool){size + count, class_count, snapshot->label_start, snapshot->label, snapshot->target};
    return OCDM_OK;
}

void ocdm__snapshot_release(ocdm__snapshot *snapshot)
{
    ocdm__release(snapshot->label_start);
    ocdm__release(snapshot->label);
    ocdm__release(snapshot->target);
    *snapshot = (ocdm__snapshot){0};
}
