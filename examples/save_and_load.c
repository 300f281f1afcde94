/*
 * Stopping and going on: half of a made-up stream, save, load, the other half; beside it a memory that never stopped. Both keep
 * the same samples.
 *
 *     cc save_and_load.c -o save_and_load $(pkg-config --cflags --libs ocdm) && ./save_and_load
 */
#include <ocdm/ocdm.h>

#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 100, BATCH = 10, STEPS = 1000 };

static void stop_if(ocdm_status status, const ocdm_error *error)
{
    if (status == OCDM_OK)
        return;
    fprintf(stderr, "error: %s\n%s%s%s", error->message, error->hint[0] ? "hint: " : "", error->hint,
            error->hint[0] ? "\n" : "");
    exit(EXIT_FAILURE);
}

/* Steps `first` to `end` - 1 of the stream: sample n carries the classes n % 7 and n % 11 + 100. */
static void offer(ocdm_memory *memory, uint64_t first, uint64_t end)
{
    for (uint64_t step = first; step < end; step++) {
        uint32_t labels[BATCH][2];
        ocdm_sample batch[BATCH];
        for (uint64_t i = 0; i < BATCH; i++) {
            uint64_t n = step * BATCH + i;
            labels[i][0] = (uint32_t)(n % 7);
            labels[i][1] = (uint32_t)(n % 11 + 100);
            batch[i] = (ocdm_sample){n, labels[i], 2};
        }
        ocdm_error error;
        stop_if(ocdm_memory_update(memory, batch, BATCH, NULL, &error), &error);
    }
}

static int equal(const ocdm_memory *a, const ocdm_memory *b)
{
    if (ocdm_memory_size(a) != ocdm_memory_size(b))
        return 0;
    for (uint32_t slot = 0; slot < ocdm_memory_size(a); slot++)
        if (ocdm_memory_id(a, slot) != ocdm_memory_id(b, slot))
            return 0;
    return ocdm_memory_distance(a, OCDM_SEEN_EVER) == ocdm_memory_distance(b, OCDM_SEEN_EVER);
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "memory.safetensors";
    ocdm_options options = ocdm_options_default();
    options.capacity = CAPACITY;
    ocdm_memory *whole = NULL, *half = NULL, *loaded = NULL;
    ocdm_error error;
    stop_if(ocdm_memory_create(&options, &whole, &error), &error);
    stop_if(ocdm_memory_create(&options, &half, &error), &error);

    offer(half, 0, STEPS / 2);
    stop_if(ocdm_memory_save(half, path, &error), &error);
    ocdm_memory_destroy(half);
    printf("saved after %d samples to %s\n", STEPS / 2 * BATCH, path);

    stop_if(ocdm_memory_load(path, NULL, NULL, &loaded, &error), &error);
    printf("loaded %u samples of %llu\n", (unsigned)ocdm_memory_size(loaded), (unsigned long long)ocdm_memory_arrived(loaded));
    offer(loaded, STEPS / 2, STEPS);
    offer(whole, 0, STEPS);

    int same = equal(whole, loaded);
    printf("after %d samples: distance %.6f, without a stop %.6f: %s\n", STEPS * BATCH,
           ocdm_memory_distance(loaded, OCDM_SEEN_EVER), ocdm_memory_distance(whole, OCDM_SEEN_EVER),
           same ? "the same samples in every slot" : "they differ");
    ocdm_memory_destroy(whole);
    ocdm_memory_destroy(loaded);
    remove(path);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
