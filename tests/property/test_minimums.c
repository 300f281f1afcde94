/*
 * Minimums of classes (memory/internal.h) against the judge: when the victim of the plain rule carries a class that has no
 * more than its minimum, the plain rule among the samples that carry none decides; no class falls below its minimum once it
 * has been seen as often; and an update fails exactly when every sample carries such a class.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"

#include "base/allocate.h"
#include "memory/internal.h"

#include <stdio.h>
#include <string.h>

/* The minimums by class number of the judge. */
struct floors {
    uint32_t minimum[NAIVE_CLASSES];
    uint32_t sum;
    size_t known;    /* classes that had their turn */
    uint64_t spared; /* deletions that the minimums changed */
    bool beyond;     /* they may add up to more than the memory holds */
    bool stuck;      /* every sample was needed */
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
    size_t free = 0;
    for (size_t v = 0; v < naive->size; v++) {
        allowed[v] = !is_spared(&naive->pool[v], kept, floors);
        free += allowed[v];
    }
    floors->stuck = floors->stuck || free == 0;
    if (free > 0)
        victim = naive_remove_exactly_of(naive, allowed);
    ocdm__release(allowed);
    floors->spared++;
    return victim;
}

/* Every third class gets a minimum of 1 to 4 when it appears, as long as they add up to the memory, or all the same. */
static void give_minimums(ocdm_memory *memory, const struct naive *naive, struct floors *floors)
{
    for (; floors->known < naive->class_count; floors->known++) {
        uint32_t minimum = 1 + (uint32_t)floors->known % 4;
        if (floors->known % 3 != 0 || (!floors->beyond && floors->sum + minimum > naive->options.capacity))
            continue;
        floors->minimum[floors->known] = minimum;
        floors->sum += minimum;
        assert_int_equal(ocdm_memory_set_minimum(memory, naive->classes[floors->known].id, minimum, NULL), OCDM_OK);
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

#define LONGEST_SAVED 65536u

/* A batch for which the minimums leave no room: the memory is as before, to the byte. */
static void refuse(ocdm_memory *memory, const ocdm_sample *batch, size_t count, const char *where)
{
    static unsigned char before[LONGEST_SAVED], after[LONGEST_SAVED];
    size_t size = 0, size_after = 0;
    HOLDS(where, ocdm_memory_save_bytes(memory, before, sizeof before, &size, NULL) == OCDM_OK && size <= sizeof before);
    for (int again = 0; again < 2; again++) {
        HOLDS(where, ocdm_memory_update(memory, batch, count, NULL, NULL) == OCDM_LIMIT);
        HOLDS(where, ocdm_memory_save_bytes(memory, after, sizeof after, &size_after, NULL) == OCDM_OK);
        HOLDS(where, size_after == size && memcmp(before, after, size) == 0);
    }
}

/* The judge goes first: it tells whether the memory must refuse the batch. */
static void offer_to_both(ocdm_memory *memory, struct naive *naive, const ocdm_sample *batch, size_t count,
                          struct floors *floors, const char *where)
{
    ocdm_change change;
    naive_update(naive, batch, count, choose, floors);
    if (floors->stuck) {
        refuse(memory, batch, count, where);
        return;
    }
    change = offer(memory, batch, count, where);
    compare_change(&change, naive, where);
    compare_memory(memory, naive, where);
}

/* Returns how many deletions the minimums changed; `stuck` counts the streams that did not fit. */
static uint64_t compare_with_minimums(uint64_t seed, ocdm_tie tie, const char *policy, bool beyond, uint32_t *stuck)
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
    options.tolerance = seed % 4 == 3 ? 0.5 : 0;
    snprintf(where, sizeof where, "seed %llu, tie %s, %s", (unsigned long long)seed, ocdm_tie_name(tie), policy);
    floors->beyond = beyond;
    made_stream_start(stream, seed, &shape);
    struct naive *naive = naive_create(&options, MADE_LARGEST_BATCH);
    ocdm_memory *memory = make_memory(&options);
    while (naive->arrived < 600 && !floors->stuck) {
        uint32_t before[NAIVE_CLASSES];
        give_minimums(memory, naive, floors);
        naive_count(naive, before);
        size_t count = made_stream_next(stream, naive);
        offer_to_both(memory, naive, stream->batch, count, floors, where);
        if (!floors->stuck)
            check_minimums(memory, naive, before, floors, where);
    }
    uint64_t spared = floors->spared;
    *stuck += floors->stuck;
    HOLDS(where, floors->stuck || ocdm__memory_spared(memory) == spared);
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
    ocdm__release(stream);
    ocdm__release(floors);
    return spared;
}

TEST(minimums_are_met_and_decide_as_the_judge_says)
{
    uint64_t spared = 0;
    uint32_t stuck = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        spared += compare_with_minimums(seed, (ocdm_tie)(seed % 4), seed % 7 == 0 ? "onlyone" : "ocdm", false, &stuck);
    print_message("# %llu deletions changed\n", (unsigned long long)spared);
    assert_true(spared > 1000);
    assert_int_equal(stuck, 0);
}

TEST(minimums_beyond_the_memory_are_refused_when_every_sample_is_needed)
{
    uint32_t stuck = 0;
    for (uint64_t seed = 1; seed <= 80; seed++)
        compare_with_minimums(seed, (ocdm_tie)(seed % 4), seed % 7 == 0 ? "onlyone" : "ocdm", true, &stuck);
    print_message("# %u of 80 streams do not fit\n", stuck);
    assert_true(stuck >= 10 && stuck <= 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(minimums_are_met_and_decide_as_the_judge_says),
                                       cmocka_unit_test(minimums_beyond_the_memory_are_refused_when_every_sample_is_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
