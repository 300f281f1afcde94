/* Makes the pools and compares the greedy choice with the best one; the searches are in gap_search.c. */
#include "bench/gap.h"

#include "base/random.h"
#include "bench/gap_search.h"
#include "bench/reference.h"

/* A gap below this is none: the searches' own rounding is smaller. */
#define OPTIMAL 1e-10

static const struct {
    const char *name;
    uint32_t capacity, batch;
    size_t pools;
} kinds[OCDM__GAP_KINDS] = {
    [OCDM__GAP_BRUTE_FORCE] = {"brute-force", 0, 0, 10000},
    [OCDM__GAP_PAIRS] = {"pairs", 1000, 2, 2000},
    [OCDM__GAP_SWAPS] = {"swaps", 1000, 10, 250},
};

/* The most samples, classes and deletions of a random pool. */
enum { SMALL_POOL = 14, SMALL_CLASSES = 8, SMALL_BATCH = 5 };

/* One memory that receives the stream, and scratch space for its pools. */
struct walk {
    enum ocdm__gap_kind kind;
    size_t class_count;
    ocdm_memory *memory;
    ocdm__snapshot snapshot;
    ocdm__gap_result *result;
};

const char *ocdm__gap_name(enum ocdm__gap_kind kind)
{
    return kinds[kind].name;
}

/* The greedy choice on one pool, and the best one. */
struct comparison {
    double greedy;
    double best;  /* found */
    double bound; /* for any choice */
};

/* Deletes the greedy's choice from the pool: label sets in `sets`. */
static void follow(ocdm__gap_pool *pool, const ocdm_change *change, size_t slots, uint32_t *sets)
{
    for (size_t k = 0; k < change->left_count; k++) {
        const ocdm_departure *left = &change->left[k];
        sets[k] = pool->set_of[left->slot != OCDM_NONE ? left->slot : slots + left->item];
        ocdm__gap_delete(pool, sets[k]);
    }
}

static ocdm_status compare(enum ocdm__gap_kind kind, ocdm__gap_pool *pool, const ocdm_change *change, size_t slots,
                           struct comparison *comparison, ocdm_error *error)
{
    uint32_t sets[OCDM__GAP_DELETIONS];
    size_t deletions = change->left_count;
    if (kind == OCDM__GAP_SWAPS) {
        ocdm_status status = ocdm__gap_bound(pool, deletions, &comparison->bound, error);
        if (status != OCDM_OK)
            return status;
        follow(pool, change, slots, sets);
        comparison->greedy = ocdm__gap_distance(pool);
        comparison->best = ocdm__gap_exchange(pool, deletions, sets);
        return OCDM_OK;
    }
    comparison->best = ocdm__gap_best(pool, deletions, sets);
    comparison->bound = comparison->best;
    follow(pool, change, slots, sets);
    comparison->greedy = ocdm__gap_distance(pool);
    return OCDM_OK;
}

/* Sums and worst cases; the means come at the end. A distance is infinite when no labels are left, whatever is deleted. */
static void add_comparison(ocdm__gap_result *result, const struct comparison *comparison, size_t sets)
{
    double gap = comparison->greedy - comparison->best;
    double limit = comparison->greedy - comparison->bound;
    result->pools++;
    result->mean_sets += (double)sets;
    result->mean_distance += comparison->greedy;
    if (!(gap >= OPTIMAL)) {
        result->optimal++;
        gap = 0;
    }
    limit = limit >= OPTIMAL ? limit : 0;
    result->mean_gap += gap;
    result->mean_limit += limit;
    result->worst_gap = gap > result->worst_gap ? gap : result->worst_gap;
    result->worst_limit = limit > result->worst_limit ? limit : result->worst_limit;
}

/* Offers the batch to the memory and compares the greedy choice with the best one from the same pool. */
static ocdm_status look(struct walk *walk, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    size_t slots = ocdm_memory_size(walk->memory);
    ocdm_status status = ocdm__snapshot_take(&walk->snapshot, walk->memory, batch, count, walk->class_count, error);
    if (status != OCDM_OK)
        return status;
    ocdm_change change;
    status = ocdm_memory_update(walk->memory, batch, count, &change, error);
    if (status != OCDM_OK || change.left_count == 0)
        return status;
    ocdm__gap_pool *pool = NULL;
    struct comparison comparison;
    status = ocdm__gap_pool_create(&walk->snapshot.pool, &pool, error);
    if (status == OCDM_OK)
        status = compare(walk->kind, pool, &change, slots, &comparison, error);
    if (status == OCDM_OK)
        add_comparison(walk->result, &comparison, pool->set_count);
    ocdm__gap_pool_destroy(pool);
    return status;
}

/* Whether full-size step `step` is one of `wanted` that are spread evenly over `steps`. */
static int is_chosen(size_t step, size_t steps, size_t wanted)
{
    return wanted >= steps || step * wanted / steps != (step + 1) * wanted / steps;
}

static ocdm_status walk_stream(struct walk *walk, const ocdm__label_stream *stream, ocdm_error *error)
{
    size_t capacity = kinds[walk->kind].capacity, batch = kinds[walk->kind].batch;
    size_t full = stream->sample_count > capacity ? (stream->sample_count - capacity) / batch : 0;
    ocdm_status status = OCDM_OK;
    for (size_t at = 0, step = 0; at < stream->sample_count && status == OCDM_OK; at += batch) {
        size_t count = stream->sample_count - at < batch ? stream->sample_count - at : batch;
        if (at >= capacity && count == batch && is_chosen(step++, full, kinds[walk->kind].pools))
            status = look(walk, stream->samples + at, count, error);
        else
            status = ocdm_memory_update(walk->memory, stream->samples + at, count, NULL, error);
    }
    return status;
}

/* A sample of a random pool: each class with a chance of its own, one class at least. */
static size_t random_labels(ocdm__random *random, const uint64_t *chance, size_t classes, uint32_t *label)
{
    size_t count = 0;
    for (uint32_t c = 0; c < classes; c++)
        if (ocdm__random_below(random, 100) < chance[c])
            label[count++] = c;
    if (count == 0)
        label[count++] = (uint32_t)ocdm__random_below(random, classes);
    return count;
}

static ocdm_status random_pool(struct walk *walk, ocdm__random random, const ocdm_options *base, ocdm_error *error)
{
    uint64_t chance[SMALL_CLASSES];
    uint32_t label[SMALL_POOL][SMALL_CLASSES];
    ocdm_sample samples[SMALL_POOL];
    size_t classes = 2 + (size_t)ocdm__random_below(&random, SMALL_CLASSES - 1);
    size_t deletions = 2 + (size_t)ocdm__random_below(&random, SMALL_BATCH - 1);
    size_t size = deletions + 2 + (size_t)ocdm__random_below(&random, SMALL_POOL - deletions - 1);
    for (size_t c = 0; c < classes; c++)
        chance[c] = 5 + ocdm__random_below(&random, 60);
    for (size_t i = 0; i < size; i++)
        samples[i] = (ocdm_sample){i, label[i], random_labels(&random, chance, classes, label[i])};
    ocdm_options options = *base;
    options.capacity = (uint32_t)(size - deletions);
    options.batch = (uint32_t)size;
    ocdm_status status = ocdm_memory_create(&options, &walk->memory, error);
    if (status == OCDM_OK)
        status = ocdm_memory_update(walk->memory, samples, size - deletions, NULL, error);
    if (status == OCDM_OK)
        status = look(walk, samples + (size - deletions), deletions, error);
    ocdm_memory_destroy(walk->memory);
    walk->memory = NULL;
    return status;
}

ocdm_status ocdm__bench_gap(enum ocdm__gap_kind kind, const ocdm__label_stream *stream, uint64_t seed, ocdm__gap_result *result,
                            ocdm_error *error)
{
    ocdm__gap_result found = {0};
    struct walk walk = {.kind = kind, .class_count = stream->class_count, .result = &found};
    ocdm_options options = ocdm_options_default();
    options.seed = seed;
    ocdm_status status = OCDM_OK;
    if (kind == OCDM__GAP_BRUTE_FORCE) {
        walk.class_count = SMALL_CLASSES;
        uint64_t base = ocdm__random_base(seed, OCDM__FOR_BENCH);
        for (size_t i = 0; i < kinds[kind].pools && status == OCDM_OK; i++)
            status = random_pool(&walk, ocdm__random_stream(base, i), &options, error);
    } else {
        options.capacity = kinds[kind].capacity;
        options.batch = kinds[kind].batch;
        status = ocdm_memory_create(&options, &walk.memory, error);
        if (status == OCDM_OK)
            status = walk_stream(&walk, stream, error);
        ocdm_memory_destroy(walk.memory);
    }
    ocdm__snapshot_release(&walk.snapshot);
    if (status != OCDM_OK)
        return status;
    double pools = found.pools > 0 ? (double)found.pools : 1;
    found.mean_gap /= pools;
    found.mean_limit /= pools;
    found.mean_distance /= pools;
    found.mean_sets /= pools;
    *result = found;
    return OCDM_OK;
}
