/*
 * Merging memories of shards against the judge: the greedy on the union of what the shards kept, with
 * the n_i of all of them and the keys that the samples had in their shards.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include "base/allocate.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 5, MOST_KEPT = 60, MOST_UNION = SHARDS * MOST_KEPT };

/* What the shards kept, shard after shard in the order of arrival, and what they saw. */
struct kept_union {
    ocdm_sample batch[MOST_UNION];
    uint32_t labels[MOST_UNION][MADE_LARGEST_SET * 2];
    uint64_t shard[MOST_UNION], arrival[MOST_UNION], before[MOST_UNION], keys[MOST_UNION];
    size_t count;
    uint64_t records;
    ocdm_class classes[SHARDS][NAIVE_CLASSES];
    size_t class_count[SHARDS];
    ocdm_memory *memories[SHARDS];
};

struct slot_arrival {
    uint64_t arrival;
    uint32_t slot;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct slot_arrival *a = left, *b = right;
    return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

/* The key of a sample of a shard by the words of the header: a hash of (seed, shard, arrival), shard 0 as if there were none.
 */
static uint64_t key_of(const ocdm_options *options, uint64_t shard, uint64_t arrival)
{
    uint64_t base = ocdm__random_base(options->seed, OCDM__FOR_KEYS);
    return ocdm__random_at(shard == 0 ? base : ocdm__random_at(base ^ OCDM__GOLDEN_STEP, shard), arrival);
}

static void collect(struct kept_union *all, const ocdm_memory *memory, size_t shard)
{
    struct slot_arrival order[MOST_KEPT];
    uint32_t size = ocdm_memory_size(memory);
    for (uint32_t slot = 0; slot < size; slot++)
        order[slot] = (struct slot_arrival){ocdm_memory_arrival(memory, slot), slot};
    qsort(order, size, sizeof *order, compare_arrivals);
    for (uint32_t i = 0; i < size; i++) {
        size_t n = all->count++;
        size_t labels = ocdm_memory_labels(memory, order[i].slot, all->labels[n], MADE_LARGEST_SET * 2);
        all->batch[n] = (ocdm_sample){
            .id = ocdm_memory_id(memory, order[i].slot), .labels = labels > 0 ? all->labels[n] : NULL, .label_count = labels};
        all->shard[n] = shard;
        all->arrival[n] = order[i].arrival;
        all->before[n] = all->records;
        all->keys[n] = key_of(ocdm_memory_options(memory), shard, order[i].arrival);
    }
    all->class_count[shard] = ocdm_memory_counts(memory, all->classes[shard], NAIVE_CLASSES);
    all->records += ocdm_memory_arrived(memory);
}

/* Samples the shards, each a stream of its own. */
static void sample_shards(struct kept_union *all, const ocdm_options *options, const struct made_shape *shape, uint64_t seed)
{
    struct made_stream *stream = ocdm__allocate(1, sizeof *stream);
    assert_non_null(stream);
    for (size_t shard = 0; shard < SHARDS; shard++) {
        struct naive *ids = naive_create(options, MADE_LARGEST_BATCH); /* only to make ids that are not in memory */
        ocdm_options of_shard = *options;
        of_shard.shard = shard;
        ocdm_memory *memory = make_memory(&of_shard);
        made_stream_start(stream, seed * SHARDS + shard, shape);
        while (ocdm_memory_arrived(memory) < 150 + 40 * shard) {
            size_t count = made_stream_next(stream, ids);
            for (size_t i = 0; i < count; i++)
                stream->batch[i].id = all->records + ocdm_memory_arrived(memory) + i;
            offer(memory, stream->batch, count, "a shard");
        }
        collect(all, memory, shard);
        all->memories[SHARDS - 1 - shard] = memory; /* the order in which they are given says nothing */
        naive_destroy(ids);
    }
    ocdm__release(stream);
}

/* n_i without the samples that are offered again. */
static void add_seen(const struct kept_union *all, struct naive *naive)
{
    for (size_t shard = 0; shard < SHARDS; shard++)
        for (size_t i = 0; i < all->class_count[shard]; i++) {
            const ocdm_class *class = &all->classes[shard][i];
            naive_add_seen(naive, class->id, class->seen - class->kept);
        }
}

/* A file of the merged memory has the places of its samples: both go on with the same decisions. */
static void load_and_continue(ocdm_memory *merged, ocdm_memory **loaded)
{
    static unsigned char bytes[2][1 << 20];
    size_t size[2];
    assert_int_equal(ocdm_memory_save_bytes(merged, bytes[0], sizeof bytes[0], &size[0], NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_load_bytes(bytes[0], size[0], NULL, NULL, loaded, NULL), OCDM_OK);
    for (uint64_t i = 0; i < 200; i++) {
        const ocdm_sample sample = {.id = (1u << 30) + i, .labels = (const uint32_t[]){(uint32_t)(i % 5)}, .label_count = 1};
        assert_int_equal(ocdm_memory_update(merged, &sample, 1, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(*loaded, &sample, 1, NULL, NULL), OCDM_OK);
    }
    assert_int_equal(ocdm_memory_save_bytes(merged, bytes[0], sizeof bytes[0], &size[0], NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_save_bytes(*loaded, bytes[1], sizeof bytes[1], &size[1], NULL), OCDM_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
}

static void merge_as_the_judge(uint64_t seed)
{
    ocdm_options options = ocdm_options_default();
    struct made_shape shape = made_shape_from(seed, false, &options);
    struct kept_union *all = ocdm__allocate(1, sizeof *all);
    char where[100];
    assert_non_null(all);
    options.policy = ocdm_policy_find("ocdm");
    options.distance = OCDM_KL;
    options.tie = (ocdm_tie)(seed % 4);
    options.capacity = options.capacity < MOST_KEPT ? options.capacity : MOST_KEPT;
    snprintf(where, sizeof where, "seed %llu, tie %s, rho %g, M %u", (unsigned long long)seed, ocdm_tie_name(options.tie),
             options.rho, options.capacity);
    sample_shards(all, &options, &shape, seed);
    ocdm_memory *merged = NULL, *loaded = NULL;
    assert_int_equal(ocdm_memory_merge((const ocdm_memory *const *)all->memories, SHARDS, options.capacity, &merged, NULL),
                     OCDM_OK);
    struct naive *naive = naive_create(&options, MOST_UNION);
    add_seen(all, naive);
    naive->keys = all->keys;
    naive_update(naive, all->batch, all->count, NULL, NULL);
    naive->arrived = all->records;
    compare_memory(merged, naive, where);
    assert_int_equal(ocdm_memory_arrived(merged), all->records);
    load_and_continue(merged, &loaded);
    for (size_t shard = 0; shard < SHARDS; shard++)
        ocdm_memory_destroy(all->memories[shard]);
    ocdm_memory_destroy(loaded);
    ocdm_memory_destroy(merged);
    naive_destroy(naive);
    ocdm__release(all);
}

TEST(merged_shards_are_the_greedy_on_their_union)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        merge_as_the_judge(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merged_shards_are_the_greedy_on_their_union)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
