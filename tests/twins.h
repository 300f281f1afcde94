/*
 * Compares two memories that must be equal to the last bit in everything that the interface returns, and makes random batches
 * for them. All of it is in this header because unit, property and fault tests use it.
 */
#ifndef OCDM_TESTS_TWINS_H
#define OCDM_TESTS_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "base/random.h"
#include "ocdm/ocdm.h"
#include "toy_gradients.h"

#define TOY_BATCH 96
#define TOY_LABELS 12
#define TOY_CLASSES 256

/* A batch with room for its labels. */
struct toy_batch {
    ocdm_sample sample[TOY_BATCH];
    uint32_t label[TOY_BATCH][TOY_LABELS];
    size_t count;
};

/* What a random batch is drawn from: classes `first` to `first` + `classes` - 1, 0 to `most_labels` labels, repeats included.
 */
struct toy_shape {
    uint32_t first;
    uint32_t classes;
    uint32_t most_labels;
};

static inline uint32_t toy_below(ocdm__random *random, uint32_t below)
{
    return (uint32_t)ocdm__random_below(random, below);
}

/* Classes are scattered over 32 bits; ids count up from `id`. */
static inline void toy_draw(struct toy_batch *batch, ocdm__random *random, struct toy_shape shape, size_t count, uint64_t id)
{
    batch->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t labels = toy_below(random, shape.most_labels + 1);
        for (size_t j = 0; j < labels; j++)
            batch->label[i][j] = (shape.first + toy_below(random, shape.classes)) * 2654435761u;
        batch->sample[i] = (ocdm_sample){id + i, labels ? batch->label[i] : NULL, labels};
    }
}

static inline ocdm_options options_for(const char *policy, uint32_t capacity)
{
    ocdm_options options = ocdm_options_default();
    options.policy = ocdm_policy_find(policy);
    options.capacity = capacity;
    return options;
}

static inline ocdm_memory *created(const ocdm_options *options)
{
    ocdm_memory *memory = NULL;
    ocdm_error error;
    if (ocdm_memory_create(options, &memory, &error) != OCDM_OK)
        fail_msg("create: %s", error.message);
    return with_gradients(memory);
}

static inline ocdm_change offered(ocdm_memory *memory, const ocdm_sample *batch, size_t count)
{
    ocdm_change change = {0};
    ocdm_error error;
    if (ocdm_memory_update(memory, batch, count, &change, &error) != OCDM_OK)
        fail_msg("update: %s", error.message);
    return change;
}

/* One sample with up to three labels; 0 means none. */
static inline ocdm_change offered_one(ocdm_memory *memory, uint64_t id, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t label[3];
    size_t count = 0;
    const uint32_t given[3] = {a, b, c};
    for (size_t i = 0; i < 3; i++)
        if (given[i])
            label[count++] = given[i];
    ocdm_sample sample = {id, label, count};
    return offered(memory, &sample, 1);
}

/* A memory of capacity four with three samples: {1}, {1, 2} and one without labels. */
static inline ocdm_memory *small_memory(const char *policy)
{
    ocdm_options options = options_for(policy, 4);
    options.batch = 3;
    options.rho = 0.5;
    ocdm_memory *memory = created(&options);
    offered_one(memory, 10, 1, 0, 0);
    offered_one(memory, 11, 1, strcmp(policy, "cbrs") ? 2 : 0, 0);
    offered_one(memory, 12, 0, 0, 0);
    return memory;
}

static inline void same_options(const ocdm_options *a, const ocdm_options *b, const char *where)
{
    HOLDS(where, a->capacity == b->capacity && a->batch == b->batch && a->policy == b->policy);
    HOLDS(where, a->distance == b->distance && a->tie == b->tie && a->seed == b->seed);
    HOLDS(where, !memcmp(&a->rho, &b->rho, sizeof a->rho));
}

static inline void same_slots(const ocdm_memory *a, const ocdm_memory *b, const char *where)
{
    HOLDS(where, ocdm_memory_size(a) == ocdm_memory_size(b));
    HOLDS(where, ocdm_memory_arrived(a) == ocdm_memory_arrived(b));
    for (uint32_t slot = 0; slot < ocdm_memory_size(a); slot++) {
        uint32_t labels_a[64] = {0}, labels_b[64] = {0};
        HOLDS(where, ocdm_memory_id(a, slot) == ocdm_memory_id(b, slot));
        HOLDS(where, ocdm_memory_arrival(a, slot) == ocdm_memory_arrival(b, slot));
        HOLDS(where, ocdm_memory_find(a, ocdm_memory_id(b, slot)) == slot);
        HOLDS(where, ocdm_memory_labels(a, slot, labels_a, 64) == ocdm_memory_labels(b, slot, labels_b, 64));
        HOLDS(where, !memcmp(labels_a, labels_b, sizeof labels_a));
    }
}

static inline void same_counts(const ocdm_memory *a, const ocdm_memory *b, const char *where)
{
    static ocdm_class classes_a[TOY_CLASSES], classes_b[TOY_CLASSES];
    size_t count = ocdm_memory_counts(a, classes_a, TOY_CLASSES);
    HOLDS(where, count <= TOY_CLASSES && count == ocdm_memory_counts(b, classes_b, TOY_CLASSES));
    for (size_t i = 0; i < count; i++) {
        HOLDS(where, classes_a[i].id == classes_b[i].id);
        HOLDS(where, classes_a[i].kept == classes_b[i].kept && classes_a[i].seen == classes_b[i].seen);
        HOLDS(where, !memcmp(&classes_a[i].target, &classes_b[i].target, sizeof(double)));
    }
}

static inline void same_distance(const ocdm_memory *a, const ocdm_memory *b, ocdm_scope scope, const char *where)
{
    double first = ocdm_memory_distance(a, scope), second = ocdm_memory_distance(b, scope);
    bool both_nan = first != first && second != second;
    HOLDS(where, both_nan || !memcmp(&first, &second, sizeof first));
}

static inline void same_memory(const ocdm_memory *a, const ocdm_memory *b, const char *where)
{
    same_options(ocdm_memory_options(a), ocdm_memory_options(b), where);
    same_slots(a, b, where);
    same_counts(a, b, where);
    same_distance(a, b, OCDM_IN_PLAY, where);
    same_distance(a, b, OCDM_SEEN_EVER, where);
}

static inline void same_change(const ocdm_change *a, const ocdm_change *b, const char *where)
{
    HOLDS(where, a->stored == b->stored && a->left_count == b->left_count);
    for (size_t i = 0; i < a->stored; i++)
        HOLDS(where, a->slot[i] == b->slot[i] && a->item[i] == b->item[i]);
    for (size_t i = 0; i < a->left_count; i++) {
        HOLDS(where, a->left[i].id == b->left[i].id);
        HOLDS(where, a->left[i].slot == b->left[i].slot && a->left[i].item == b->left[i].item);
    }
}

static inline void same_draw(ocdm_memory *a, ocdm_memory *b, size_t count, const char *where)
{
    uint32_t first[TOY_BATCH], second[TOY_BATCH];
    size_t drawn = ocdm_memory_draw(a, count, first);
    HOLDS(where, drawn == ocdm_memory_draw(b, count, second));
    HOLDS(where, !drawn || !memcmp(first, second, drawn * sizeof *first));
}

/* Both get the batch; their changes and their states afterwards must be equal. */
static inline void offered_to_both(ocdm_memory *a, ocdm_memory *b, const struct toy_batch *batch, const char *where)
{
    ocdm_change first = offered(a, batch->sample, batch->count);
    ocdm_change second = offered(b, batch->sample, batch->count);
    same_change(&first, &second, where);
    same_memory(a, b, where);
    same_draw(a, b, 5, where);
}

#endif
