/*
 * Minimums of classes (base/inner_memory.h) against the judge: when the victim of the plain rule carries a class that has no
 * more than its minimum, the plain rule among the samples that carry none decides; and no class falls below its minimum once
 * it has been seen as often.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include "base/allocate.h"
#include "base/inner_memory.h"

#include <stdio.h>

/* The minimums by class number of the judge. */
struct floors {
    uint32_t minimum[NAIVE_CLASSES];
    uint32_t sum;
    size_t known;    /* classes that had their turn */
    uint64_t spared; /* deletions that the minimums changed */
};

static bool is_spared(const struct naive_sample *sample, const uint32_t *kept, const struct floors *floors)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (kept[sample->label[i]] <= floors->minimum[sample->label[i]])
            return true;
    return false;
}

static size_t choose(const struct naive *naive, void *context)
{
    struct floors *floors = context;
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    size_t victim = naive_remove_exactly(naive);
    if (!is_spared(&naive->pool[victim], kept, floors))
        return victim;
    bool *allowed = ocdm__allocate(naive->size, sizeof *allowed);
    assert_non_null(allowed);
    for (size_t v = 0; v < naive->size; v++)
        allowed[v] = !is_spared(&naive->pool[v], kept, floors);
    victim = naive_remove_exactly_of(naive, allowed);
    ocdm__release(allowed);
    floors->spared++;
    return victim;
}

/* Every third class gets a minimum of 1 to 4 when it appears, as long as all of them fit into the memory. */
static void give_minimums(ocdm_memory *memory, const struct naive *naive, struct floors *floors)
{
    for (; floors->known < naive->class_count; floors->known++) {
        uint32_t minimum = 1 + (uint32_t)floors->known % 4;
        if (floors->known % 3 != 0 || floors->sum + minimum > naive->options.capacity)
            continue;
        floors->minimum[floors->known] = minimum;
        floors->sum += minimum;
        assert_int_equal(ocdm__memory_set_minimum(memory, naive->classes[floors->known].id, minimum, NULL), OCDM_OK);
    }
}

static void check_minimums(const ocdm_memory *memory, const struct naive *naive, const uint32_t *before,
                           const struct floors *floors, const char *where)
{
    for (size_t c = 0; c < floors->known; c++) {
        uint32_t kept = ocdm_memory_kept(memory, naive->classes[c].id), least = floors->minimum[c];
        HOLDS(where, kept >= least || kept >= before[c]);
    }
}

static uint64_t compare_with_minimums(uint64_t seed, ocdm_tie tie, const char *policy)
{
    ocdm_options options = ocdm_options_default();
    struct made_shape shape = made_shape_from(seed, false, &options);
    struct made_stream *stream = ocdm__allocate(1, sizeof *stream);
    struct floors *floors = ocdm__allocate(1, sizeof *floors);
    char where[100];
    assert_true(stream != NULL && floors != NULL);
    options.policy = ocdm_policy_find(policy);
    options.distance = OCDM_KL;
    options.tie = tie;
    snprintf(where, sizeof where, "seed %llu, tie %s, %s", (unsigned long long)seed, ocdm_tie_name(tie), policy);
    made_stream_start(stream, seed, &shape);
    struct naive *naive = naive_create(&options, MADE_LARGEST_BATCH);
    ocdm_memory *memory = make_memory(&options);
    while (naive->arrived < 600) {
        uint32_t before[NAIVE_CLASSES];
        give_minimums(memory, naive, floors);
        naive_count(naive, before);
        size_t count = made_stream_next(stream, naive);
        ocdm_change change = offer(memory, stream->batch, count, where);
        naive_update(naive, stream->batch, count, choose, floors);
        compare_change(&change, naive, where);
        compare_memory(memory, naive, where);
        check_minimums(memory, naive, before, floors, where);
    }
    uint64_t spared = floors->spared;
    HOLDS(where, ocdm__memory_spared(memory) == spared);
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
    ocdm__release(stream);
    ocdm__release(floors);
    return spared;
}

TEST(minimums_are_met_and_decide_as_the_judge_says)
{
    uint64_t spared = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        spared += compare_with_minimums(seed, (ocdm_tie)(seed % 4), seed % 7 == 0 ? "onlyone" : "ocdm");
    print_message("# %llu deletions changed\n", (unsigned long long)spared);
    assert_true(spared > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(minimums_are_met_and_decide_as_the_judge_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
