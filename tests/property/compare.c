/* Everything that the library can be asked, against the judge. */
#include "compare.h"

#include <math.h>

ocdm_memory *make_memory(const ocdm_options *options)
{
    ocdm_memory *memory = NULL;
    ocdm_error error;
    if (ocdm_memory_create(options, &memory, &error) != OCDM_OK)
        fail_msg("create: %s", error.message);
    return memory;
}

ocdm_change offer(ocdm_memory *memory, const ocdm_sample *batch, size_t count, const char *where)
{
    ocdm_change change = {0};
    ocdm_error error;
    if (ocdm_memory_update(memory, batch, count, &change, &error) != OCDM_OK)
        fail_msg("in %s: update: %s", where, error.message);
    return change;
}

static void compare_departures(const ocdm_change *change, const struct naive *naive, const char *where)
{
    EXPECT(where, change->left_count == naive->left_count);
    for (size_t i = 0; i < change->left_count; i++) {
        EXPECT(where, change->left[i].id == naive->left[i].id);
        EXPECT(where, change->left[i].slot == naive->left[i].slot);
        EXPECT(where, change->left[i].item == naive->left[i].item);
    }
}

void compare_change(const ocdm_change *change, const struct naive *naive, const char *where)
{
    compare_departures(change, naive, where);
    size_t stored = 0;
    for (size_t v = 0; v < naive->size; v++)
        stored += naive->pool[v].item != OCDM_NONE;
    EXPECT(where, change->stored == stored);
    for (size_t i = 0; i < change->stored; i++) {
        EXPECT(where, i == 0 || change->item[i - 1] < change->item[i]);
        EXPECT(where, change->slot[i] < naive->size);
        EXPECT(where, naive->pool[change->slot[i]].item == change->item[i]);
    }
}

/* The library's labels of a slot ascend and are the judge's set; with less room they are its first ones. */
static void compare_labels(const ocdm_memory *memory, const struct naive *naive, uint32_t slot, const char *where)
{
    const struct naive_sample *sample = &naive->pool[slot];
    uint32_t label[NAIVE_CLASSES];
    EXPECT(where, ocdm_memory_labels(memory, slot, label, NAIVE_CLASSES) == sample->label_count);
    for (size_t i = 0; i < sample->label_count; i++) {
        EXPECT(where, i == 0 || label[i - 1] < label[i]);
        bool found = false;
        for (size_t j = 0; j < sample->label_count; j++)
            found = found || naive->classes[sample->label[j]].id == label[i];
        EXPECT(where, found);
    }
    uint32_t few[2] = {0, 0};
    EXPECT(where, ocdm_memory_labels(memory, slot, few, 2) == sample->label_count);
    for (size_t i = 0; i < 2 && i < sample->label_count; i++)
        EXPECT(where, few[i] == label[i]);
}

static void compare_slots(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    EXPECT(where, ocdm_memory_size(memory) == naive->size);
    EXPECT(where, ocdm_memory_arrived(memory) == naive->arrived);
    for (uint32_t v = 0; v < naive->size; v++) {
        EXPECT(where, ocdm_memory_id(memory, v) == naive->pool[v].id);
        EXPECT(where, ocdm_memory_arrival(memory, v) == naive->pool[v].arrival);
        EXPECT(where, ocdm_memory_find(memory, naive->pool[v].id) == v);
        compare_labels(memory, naive, v, where);
    }
    for (size_t i = 0; i < naive->left_count; i++)
        EXPECT(where, ocdm_memory_find(memory, naive->left[i].id) == OCDM_NONE);
}

static void compare_counts(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    ocdm_class classes[NAIVE_CLASSES];
    uint32_t kept[NAIVE_CLASSES];
    long double log_p[NAIVE_CLASSES];
    naive_count(naive, kept);
    naive_target(naive, OCDM_SEEN_EVER, log_p);
    EXPECT(where, ocdm_memory_counts(memory, classes, NAIVE_CLASSES) == naive->class_count);
    for (size_t c = 0; c < naive->class_count; c++) {
        EXPECT(where, classes[c].id == naive->classes[c].id);
        EXPECT(where, classes[c].kept == kept[c]);
        EXPECT(where, classes[c].seen == naive->classes[c].seen);
        EXPECT(where, fabsl(classes[c].target - expl(log_p[c])) < 1e-12L);
        EXPECT(where, ocdm_memory_kept(memory, classes[c].id) == kept[c]);
        EXPECT(where, ocdm_memory_seen(memory, classes[c].id) == naive->classes[c].seen);
    }
}

static void compare_distance(const ocdm_memory *memory, const struct naive *naive, ocdm_scope scope, const char *where)
{
    double got = ocdm_memory_distance(memory, scope);
    long double expected = naive_distance(naive, scope);
    if (isnan(expected))
        EXPECT(where, isnan(got));
    else
        EXPECT(where, fabsl(got - expected) <= 1e-9L);
}

void compare_memory(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    compare_slots(memory, naive, where);
    compare_counts(memory, naive, where);
    compare_distance(memory, naive, OCDM_IN_PLAY, where);
    compare_distance(memory, naive, OCDM_SEEN_EVER, where);
}
