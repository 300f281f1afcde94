/* Saving: every tensor is built little-endian in one block, then the file is written and put in place. */
#include "memory/memory_file.h"

#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/safetensors.h"

/* The tensors while they are built. */
struct image {
    unsigned char *block;
    unsigned char *end;
    struct ocdm__tensor tensors[12];
    size_t tensor_count;
};

static unsigned char *start_tensor(struct image *image, const char *name, enum ocdm__dtype dtype, uint64_t count)
{
    unsigned char *data = image->end;
    struct ocdm__tensor tensor = ocdm__tensor_of(name, dtype, data, count);
    image->tensors[image->tensor_count++] = tensor;
    image->end += tensor.size;
    return data;
}

static void put_counters(struct image *image, const ocdm_memory *memory)
{
    const uint64_t counters[OCDM__COUNTERS] = {
        [OCDM__COUNTER_CAPACITY] = memory->options.capacity,
        [OCDM__COUNTER_BATCH] = memory->options.batch,
        [OCDM__COUNTER_SEED] = memory->options.seed,
        [OCDM__COUNTER_ARRIVED] = memory->arrived,
        [OCDM__COUNTER_DEPARTED] = memory->departed,
        [OCDM__COUNTER_DRAWS] = memory->draws,
        [OCDM__COUNTER_STEP] = memory->step,
    };
    unsigned char *bytes = start_tensor(image, "counters", OCDM__U64, OCDM__COUNTERS);
    for (size_t i = 0; i < OCDM__COUNTERS; i++)
        ocdm__put_u64(bytes + 8 * i, counters[i]);
    ocdm__put_double(start_tensor(image, "rho", OCDM__F64, 1), memory->options.rho);
}

static void put_samples(struct image *image, const ocdm_memory *memory)
{
    const struct pool *pool = &memory->pool;
    unsigned char *ids = start_tensor(image, "ids", OCDM__U64, pool->size);
    unsigned char *arrivals = start_tensor(image, "arrivals", OCDM__U64, pool->size);
    unsigned char *starts = start_tensor(image, "label_starts", OCDM__U64, (uint64_t)pool->size + 1);
    uint64_t labels = 0;
    ocdm__put_u64(starts, 0);
    for (uint32_t i = 0; i < pool->size; i++) {
        const struct node *node = &pool->nodes[pool->node_at[i]];
        ocdm__put_u64(ids + 8 * (size_t)i, node->id);
        ocdm__put_u64(arrivals + 8 * (size_t)i, node->arrival);
        labels += pool->sets[node->set].cardinality;
        ocdm__put_u64(starts + 8 * ((size_t)i + 1), labels);
    }
}

static void put_labels(struct image *image, const ocdm_memory *memory, uint32_t *scratch)
{
    unsigned char *bytes = start_tensor(image, "labels", OCDM__U32, memory->pool.label_total);
    for (uint32_t i = 0; i < memory->pool.size; i++) {
        size_t count = ocdm_memory_labels(memory, i, scratch, OCDM_MAX_LABELS);
        for (size_t j = 0; j < count; j++, bytes += 4)
            ocdm__put_u32(bytes, scratch[j]);
    }
}

static void put_seen(struct image *image, const ocdm_memory *memory)
{
    unsigned char *bytes = start_tensor(image, "seen", OCDM__U64, memory->pool.class_count);
    for (uint32_t i = 0; i < memory->pool.class_count; i++)
        ocdm__put_u64(bytes + 8 * (size_t)i, memory->pool.classes[i].seen);
}

static void put_classes(struct image *image, const ocdm_memory *memory)
{
    unsigned char *ids = start_tensor(image, "classes", OCDM__U32, memory->pool.class_count);
    for (uint32_t i = 0; i < memory->pool.class_count; i++)
        ocdm__put_u32(ids + 4 * (size_t)i, memory->pool.classes[i].id);
}

/* Weights that are not 1, in the order in which they were given. */
static uint32_t weights_to_save(const ocdm_memory *memory)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < memory->pool.weight_count; i++)
        count += memory->pool.weights[i].weight != 1;
    return count;
}

static void put_weights(struct image *image, const ocdm_memory *memory, uint32_t count)
{
    if (count == 0)
        return;
    unsigned char *bytes = start_tensor(image, "weights", OCDM__F64, count);
    for (uint32_t i = 0; i < memory->pool.weight_count; i++)
        if (memory->pool.weights[i].weight != 1) {
            ocdm__put_double(bytes, memory->pool.weights[i].weight);
            bytes += 8;
        }
}

static void put_weighted_classes(struct image *image, const ocdm_memory *memory, uint32_t count)
{
    if (count == 0)
        return;
    unsigned char *bytes = start_tensor(image, "weighted_classes", OCDM__U32, count);
    for (uint32_t i = 0; i < memory->pool.weight_count; i++)
        if (memory->pool.weights[i].weight != 1) {
            ocdm__put_u32(bytes, memory->pool.weights[i].class_id);
            bytes += 4;
        }
}

static void put_in_play(struct image *image, const ocdm_memory *memory)
{
    unsigned char *bytes = start_tensor(image, "in_play", OCDM__U8, memory->pool.class_count);
    for (uint32_t i = 0; i < memory->pool.class_count; i++)
        bytes[i] = ocdm__in_play(memory, &memory->pool.classes[i]);
}

/* Asks the policy for its state: how many bytes there are, and as many of them as fit. */
static ocdm_status ask_state(const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size, ocdm_error *error)
{
    ocdm_error found;
    *size = 0;
    if (memory->policy.save == NULL)
        return OCDM_OK;
    ocdm__clear_words(&found);
    ocdm_status status = memory->policy.save(memory->state, memory, bytes, room, size, &found);
    return ocdm__pass_on(status, &found, "the policy's state could not be saved", error);
}

static ocdm_status put_policy_state(struct image *image, const ocdm_memory *memory, size_t size, ocdm_error *error)
{
    unsigned char *bytes = start_tensor(image, "policy_state", OCDM__U8, size);
    size_t written;
    ocdm_status status = ask_state(memory, bytes, size, &written, error);
    if (status != OCDM_OK || written == size)
        return status;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "policy %s: its state had %zu bytes when asked first, %zu when saved",
                      memory->policy.name, size, written);
}

/* Bytes of all tensors. */
static ocdm_status measure(const ocdm_memory *memory, size_t state, size_t *size, ocdm_error *error)
{
    const struct pool *pool = &memory->pool;
    uint64_t rest = 8 * (OCDM__COUNTERS + 2 + 3 * (uint64_t)pool->size + pool->class_count) + 4 * pool->label_total +
                    5 * (uint64_t)pool->class_count + 12 * (uint64_t)weights_to_save(memory);
    if (state > SIZE_MAX / 2 || rest > SIZE_MAX / 2)
        return ocdm__fail(error, OCDM_LIMIT, "", "policy %s has a state of %zu bytes, too large for a file",
                          memory->policy.name, state);
    *size = (size_t)rest + state;
    return OCDM_OK;
}

/* The widest elements come first, so that every tensor is aligned. */
static ocdm_status build(struct image *image, const ocdm_memory *memory, ocdm_error *error)
{
    size_t state, size = 0;
    ocdm_status status = ask_state(memory, NULL, 0, &state, error);
    if (status == OCDM_OK)
        status = measure(memory, state, &size, error);
    if (status != OCDM_OK)
        return status;
    uint32_t weights = weights_to_save(memory);
    uint32_t *scratch = ocdm__allocate(OCDM_MAX_LABELS, sizeof *scratch);
    image->block = image->end = ocdm__allocate(size, 1);
    if (image->block == NULL || scratch == NULL) {
        status = ocdm__fail_memory(error, "the file of the memory");
    } else {
        put_counters(image, memory);
        put_samples(image, memory);
        put_seen(image, memory);
        put_weights(image, memory, weights);
        put_labels(image, memory, scratch);
        put_classes(image, memory);
        put_weighted_classes(image, memory, weights);
        put_in_play(image, memory);
        status = put_policy_state(image, memory, state, error);
    }
    ocdm__release(scratch);
    return status;
}

static ocdm_status write_image(const struct image *image, const ocdm_memory *memory, ocdm__output *output, ocdm_error *error)
{
    bool weighted = weights_to_save(memory) > 0;
    const struct ocdm__note notes[] = {
        {.key = "format", .value = OCDM__MEMORY_FORMAT},
        {.key = "version", .value = weighted ? OCDM__MEMORY_FORMAT_WITH_WEIGHTS : OCDM__MEMORY_FORMAT_VERSION},
        {.key = "library", .value = ocdm_version()},
        {.key = "policy", .value = memory->policy.name},
        {.key = "distance", .value = ocdm_distance_name(memory->options.distance)},
        {.key = "tie", .value = ocdm_tie_name(memory->options.tie)},
    };
    return ocdm__safetensors_write(output, notes, sizeof notes / sizeof *notes, image->tensors, image->tensor_count, error);
}

ocdm_status ocdm__memory_write(const ocdm_memory *memory, ocdm__output *output, ocdm_error *error)
{
    struct image image = {0};
    ocdm_status status = build(&image, memory, error);
    if (status == OCDM_OK)
        status = write_image(&image, memory, output, error);
    ocdm__release(image.block);
    return status;
}

ocdm_status ocdm_memory_save_bytes(const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                   ocdm_error *error)
{
    if (memory == NULL || size == NULL || (bytes == NULL && room > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory, size and bytes must not be NULL");
    ocdm__output output;
    ocdm_status status = ocdm__output_open_memory(&output, "the bytes of a memory", error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__memory_write(memory, &output, error);
    if (status == OCDM_OK)
        status = ocdm__output_check(&output, error);
    if (status == OCDM_OK) {
        *size = output.used;
        if (bytes != NULL && output.used <= room)
            memcpy(bytes, output.buffer, output.used);
    }
    ocdm__output_abandon(&output);
    return status;
}

ocdm_status ocdm_memory_save(const ocdm_memory *memory, const char *path, ocdm_error *error)
{
    if (memory == NULL || path == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory and path must not be NULL");
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, path, error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__memory_write(memory, &output, error);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}
