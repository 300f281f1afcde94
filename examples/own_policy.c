/*
 * A policy of your own, beside two of the library's: "newest" keeps the newest samples of each class, by deleting the oldest
 * sample of the largest class. The stream is made up: three classes, one after the other, the last one short.
 *
 *     cc own_policy.c -o own_policy $(pkg-config --cflags --libs ocdm) && ./own_policy
 */
#include <ocdm/ocdm.h>

#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 30, BATCH = 10, STEPS = 100, CLASSES = 3 };

static uint32_t largest_class(const ocdm_memory *memory)
{
    ocdm_class classes[CLASSES];
    size_t count = ocdm_memory_counts(memory, classes, CLASSES), largest = 0;
    for (size_t i = 1; i < count; i++)
        if (classes[i].kept > classes[largest].kept)
            largest = i;
    return classes[largest].id;
}

/* The memory asks until memory and batch together fit again: who goes? */
static ocdm_status oldest_of_largest_class(void *state, const ocdm_memory *memory, uint32_t *slot_to_free, ocdm_error *error)
{
    (void)state;
    (void)error;
    uint32_t wanted = largest_class(memory), oldest = OCDM_NONE;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++) {
        uint32_t label;
        if (ocdm_memory_labels(memory, slot, &label, 1) == 0 || label != wanted)
            continue;
        if (oldest == OCDM_NONE || ocdm_memory_arrival(memory, slot) < ocdm_memory_arrival(memory, oldest))
            oldest = slot;
    }
    *slot_to_free = oldest;
    return OCDM_OK;
}

/* It needs no state of its own: its size, a name and one function are enough. */
static const ocdm_policy newest = {.size = sizeof(ocdm_policy), .name = "newest", .remove = oldest_of_largest_class};

static uint64_t oldest_arrival(const ocdm_memory *memory)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        if (ocdm_memory_arrival(memory, slot) < oldest)
            oldest = ocdm_memory_arrival(memory, slot);
    return oldest;
}

static int run(const ocdm_policy *policy)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = CAPACITY;
    options.policy = policy;
    ocdm_memory *memory = NULL;
    ocdm_error error;
    ocdm_status status = ocdm_memory_create(&options, &memory, &error);
    for (int step = 0; status == OCDM_OK && step < STEPS; step++) {
        uint32_t label = step < 60 ? 0 : step < 98 ? 1 : 2;
        ocdm_sample batch[BATCH];
        for (int i = 0; i < BATCH; i++)
            batch[i] = (ocdm_sample){(uint64_t)(step * BATCH + i), &label, 1};
        status = ocdm_memory_update(memory, batch, BATCH, NULL, &error);
    }
    if (status == OCDM_OK)
        printf("%-8s kept %2u %2u %2u, the oldest is number %llu\n", policy->name, (unsigned)ocdm_memory_kept(memory, 0),
               (unsigned)ocdm_memory_kept(memory, 1), (unsigned)ocdm_memory_kept(memory, 2),
               (unsigned long long)oldest_arrival(memory));
    else
        fprintf(stderr, "error: %s\n", error.message);
    ocdm_memory_destroy(memory);
    return status == OCDM_OK;
}

int main(void)
{
    printf("%d samples: 600 of class 0, then 380 of class 1, then 20 of class 2\n", STEPS * BATCH);
    int fine = run(&newest) && run(ocdm_policy_find("ocdm")) && run(ocdm_policy_find("rs"));
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
