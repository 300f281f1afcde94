/*
 * The loop of online learning with a replay memory: draw, train, update. The stream is made up: one to three classes on a
 * sample, first only classes 0 to 3, then only 4 to 7, and 0 and 4 about five times as often as 3 and 7.
 *
 *     cc replay_loop.c -o replay_loop $(pkg-config --cflags --libs ocdm) && ./replay_loop
 */
#include <ocdm/ocdm.h>

#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 200, BATCH = 10, STEPS = 2000, CLASSES = 8 };

/* What your samples are: images, tensors, lines of text. The memory never sees them. */
struct payload {
    double feature;
};

static unsigned long long noise = 1;

static double uniform(void)
{
    noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(noise >> 11) / 9007199254740992.0;
}

static size_t draw_labels(int step, uint32_t *labels)
{
    size_t count = 1 + (size_t)(uniform() * 3);
    for (size_t i = 0; i < count; i++) {
        double u = uniform();
        labels[i] = (uint32_t)(u * u * u * 4) + (step < STEPS / 2 ? 0 : 4);
    }
    return count;
}

/* Stands for a step of your network on new and old samples together. */
static double train(const struct payload *fresh, const struct payload *memory, const uint32_t *replay, size_t drawn)
{
    double sum = 0;
    for (int i = 0; i < BATCH; i++)
        sum += fresh[i].feature;
    for (size_t i = 0; i < drawn; i++)
        sum += memory[replay[i]].feature;
    return sum / (double)(BATCH + drawn);
}

int main(void)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = CAPACITY;
    options.batch = BATCH;
    ocdm_memory *memory = NULL;
    ocdm_error error;
    if (ocdm_memory_create(&options, &memory, &error) != OCDM_OK) {
        fprintf(stderr, "error: %s\n", error.message);
        return EXIT_FAILURE;
    }

    static struct payload kept[CAPACITY]; /* one for each slot */
    uint64_t next_id = 0;
    double loss = 0;
    for (int step = 0; step < STEPS; step++) {
        struct payload fresh[BATCH];
        uint32_t labels[BATCH][3], replay[BATCH];
        ocdm_sample batch[BATCH];
        for (int i = 0; i < BATCH; i++) {
            fresh[i].feature = uniform();
            batch[i] = (ocdm_sample){next_id++, labels[i], draw_labels(step, labels[i])};
        }

        size_t drawn = ocdm_memory_draw(memory, BATCH, replay);
        loss = train(fresh, kept, replay, drawn);

        ocdm_change change;
        if (ocdm_memory_update(memory, batch, BATCH, &change, &error) != OCDM_OK) {
            fprintf(stderr, "error: %s\n", error.message);
            ocdm_memory_destroy(memory);
            return EXIT_FAILURE;
        }
        for (size_t i = 0; i < change.stored; i++)
            kept[change.slot[i]] = fresh[change.item[i]];
    }

    ocdm_class classes[CLASSES];
    size_t count = ocdm_memory_counts(memory, classes, CLASSES);
    printf("%u of %llu samples in memory\nclass   seen  kept\n", (unsigned)ocdm_memory_size(memory),
           (unsigned long long)ocdm_memory_arrived(memory));
    for (size_t i = 0; i < count; i++)
        printf("%5u %6llu %5u\n", (unsigned)classes[i].id, (unsigned long long)classes[i].seen, (unsigned)classes[i].kept);
    printf("distance from equal shares: %.6f; loss of the last step: %.3f\n", ocdm_memory_distance(memory, OCDM_SEEN_EVER),
           loss);
    ocdm_memory_destroy(memory);
    return EXIT_SUCCESS;
}
