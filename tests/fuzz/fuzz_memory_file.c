/*
 * Any bytes as the file of a memory: refused, or a memory that works. The checksum is made right first, so that what is behind
 * it is reached; what is accepted is then asked, drawn from and updated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../toy_gradients.h"
#include "base/bytes.h"
#include "base/safetensors.h"
#include "ocdm/ocdm.h"

/* Larger memories and batches are legal, but take the machine's memory, and are the same code. */
#define LARGEST 2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_checksum_right(unsigned char *bytes, size_t size)
{
    static const char key[] = "\"checksum\":\"";
    size_t length = sizeof key - 1;
    for (size_t i = 8; i + length + 16 <= size && i < 4096; i++) {
        if (memcmp(bytes + i, key, length) != 0)
            continue;
        char digits[17];
        memcpy(bytes + i + length, "0000000000000000", 16);
        snprintf(digits, sizeof digits, "%016" PRIx64, ocdm__checksum(OCDM__CHECKSUM_START, bytes + 8, size - 8));
        memcpy(bytes + i + length, digits, 16);
        return;
    }
}

static int is_small(const unsigned char *bytes, size_t size)
{
    struct ocdm__safetensors file;
    if (ocdm__safetensors_read(&file, "fuzz", bytes, size, NULL) != OCDM_OK)
        return 1;
    const struct ocdm__tensor *counters = ocdm__safetensors_find(&file, "counters");
    int small = 1;
    if (counters && counters->size >= 16)
        small = ocdm__get_u64(counters->data) <= LARGEST && ocdm__get_u64(counters->data + 8) <= LARGEST;
    ocdm__safetensors_close(&file);
    return small;
}

static void ask_everything(const ocdm_memory *memory)
{
    uint32_t labels[4];
    ocdm_class classes[8];
    ocdm_memory_counts(memory, classes, 8);
    ocdm_memory_distance(memory, OCDM_IN_PLAY);
    ocdm_memory_distance(memory, OCDM_SEEN_EVER);
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++) {
        ocdm_memory_labels(memory, slot, labels, slot % 5);
        ocdm_memory_arrival(memory, slot);
        if (ocdm_memory_find(memory, ocdm_memory_id(memory, slot)) != slot)
            abort();
    }
}

/* Known and new classes, ids that may be taken; refused batches are fine. */
static void use(ocdm_memory *memory, uint64_t seed)
{
    ocdm_class classes[4] = {{.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
    ocdm_memory_counts(memory, classes, 4);
    ocdm__random random = ocdm__random_stream(seed, 0);
    for (int step = 0; step < 30; step++) {
        uint32_t labels[6][3], slot[8];
        ocdm_sample batch[6];
        size_t count = (size_t)ocdm__random_below(&random, 7);
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < 3; j++)
                labels[i][j] = classes[ocdm__random_below(&random, 4)].id + (uint32_t)(ocdm__random_below(&random, 9) == 0);
            batch[i] = (ocdm_sample){ocdm__random_below(&random, 1000), labels[i], ocdm__random_below(&random, 4)};
        }
        ocdm_memory_update(memory, batch, count, NULL, NULL);
        if (ocdm_memory_size(memory) > ocdm_memory_options(memory)->capacity)
            abort();
        size_t drawn = ocdm_memory_draw(memory, 8, slot);
        for (size_t i = 0; i < drawn; i++)
            if (slot[i] >= ocdm_memory_size(memory))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    make_checksum_right(bytes, size);
    ocdm_memory *memory = NULL;
    ocdm_error error;
    ocdm_status status = is_small(bytes, size) ? ocdm_memory_load_bytes(bytes, size, NULL, NULL, &memory, &error) : OCDM_LIMIT;
    free(bytes);
    if (status != OCDM_OK)
        return 0;
    ask_everything(memory);
    use(with_gradients(memory), size);
    ask_everything(memory);
    ocdm_memory_destroy(memory);
    return 0;
}
