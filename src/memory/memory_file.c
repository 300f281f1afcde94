/* The memory as a file, docs/memory-format.md. Saving: every tensor is built little-endian, one after another, then the file is
 * written and put in place. Loading: the file is checked number by number, then the memory is filled as if its samples had just
 * been kept. */
#include "memory/memory.h"

#include "base/bytes.h"
#include "base/input.h"
#include "base/output.h"
#include "base/safetensors.h"

#define FORMAT "ocdm-memory"
/* Later versions are written only when they say something, so that old libraries read the rest: from 2 on some weight is not 1,
 * from 3 on the tolerance is not 0, from 4 on there are minimums, a shard, or places among equals that do not follow from
 * arrivals. */
static const char *const versions[] = {"1", "2", "3", "4"};

/* The counters, in this order, as one tensor. */
enum counter {
    COUNTER_CAPACITY,
    COUNTER_BATCH,
    COUNTER_SEED,
    COUNTER_ARRIVED,
    COUNTER_DEPARTED,
    COUNTER_DRAWS,
    COUNTER_STEP,
    COUNTERS
};

/* The tensors while they are built, their bytes one after another. */
struct image {
    ocdm__output bytes;
    struct ocdm__tensor tensors[18];
    size_t tensor_count, ended; /* bytes up to the end of the last one */
};

/* The next element of the tensor that is being built. */
static void put(struct image *image, enum ocdm__dtype dtype, uint64_t x)
{
    unsigned char bytes[8];
    ocdm__put_u64(bytes, x);
    ocdm__output_write(&image->bytes, bytes, ocdm__dtype_size(dtype));
}

static void put_real(struct image *image, double x)
{
    unsigned char bytes[8];
    ocdm__put_double(bytes, x);
    ocdm__output_write(&image->bytes, bytes, sizeof bytes);
}

/* Everything after the tensor before is a tensor of that name. */
static void end_tensor(struct image *image, const char *name, enum ocdm__dtype dtype)
{
    size_t size = image->bytes.used - image->ended;
    image->tensors[image->tensor_count++] = ocdm__tensor_of(name, dtype, NULL, size / ocdm__dtype_size(dtype));
    image->ended = image->bytes.used;
}

/* Everything that is one number. What is 0 by default is left out, so that files of plain memories stay as they were. */
static void put_counters(struct image *image, const ocdm_memory *memory)
{
    const uint64_t counters[COUNTERS] = {
        [COUNTER_CAPACITY] = memory->options.capacity,
        [COUNTER_BATCH] = memory->options.batch,
        [COUNTER_SEED] = memory->options.seed,
        [COUNTER_ARRIVED] = memory->arrived,
        [COUNTER_DEPARTED] = memory->departed,
        [COUNTER_DRAWS] = memory->draws,
        [COUNTER_STEP] = memory->step,
    };
    for (size_t i = 0; i < COUNTERS; i++)
        put(image, OCDM__U64, counters[i]);
    end_tensor(image, "counters", OCDM__U64);
    put_real(image, memory->options.rho);
    end_tensor(image, "rho", OCDM__F64);
    if (memory->options.tolerance > 0) {
        put_real(image, memory->options.tolerance);
        end_tensor(image, "tolerance", OCDM__F64);
    }
    if (memory->options.shard > 0) {
        put(image, OCDM__U64, memory->options.shard);
        end_tensor(image, "shard", OCDM__U64);
    }
}

/* In the order of the slots. Places among equals follow from the arrivals, except after a merge. */
static void put_samples(struct image *image, const ocdm_memory *memory)
{
    const struct pool *pool = &memory->pool;
    uint64_t labels = 0;
    for (uint32_t i = 0; i < pool->size; i++)
        put(image, OCDM__U64, pool->nodes[pool->node_at[i]].id);
    end_tensor(image, "ids", OCDM__U64);
    for (uint32_t i = 0; i < pool->size; i++)
        put(image, OCDM__U64, pool->nodes[pool->node_at[i]].arrival);
    end_tensor(image, "arrivals", OCDM__U64);
    put(image, OCDM__U64, 0);
    for (uint32_t i = 0; i < pool->size; i++)
        put(image, OCDM__U64, labels += pool->sets[pool->nodes[pool->node_at[i]].set].cardinality);
    end_tensor(image, "label_starts", OCDM__U64);
    for (uint32_t i = 0; memory->merged && i < pool->size; i++)
        put(image, OCDM__U64, pool->nodes[pool->node_at[i]].priority);
    if (memory->merged)
        end_tensor(image, "places", OCDM__U64);
}

/* What is set for a class, seen or not, is saved unless it is the default, in the order in which it was set. */
typedef bool is_saved(const struct pool *pool, const struct class_setting *setting);

static bool has_weight(const struct pool *pool, const struct class_setting *setting)
{
    (void)pool;
    return setting->weight != 1;
}

static bool has_minimum(const struct pool *pool, const struct class_setting *setting)
{
    return setting->minimum != OCDM_NONE && setting->minimum != pool->minimum;
}

/* Whether something is saved of some class. */
static bool any_saved(const ocdm_memory *memory, is_saved *saved)
{
    for (uint32_t i = 0; i < memory->pool.setting_count; i++)
        if (saved(&memory->pool, &memory->pool.settings[i]))
            return true;
    return false;
}

/* Weights are real numbers; else the minimums, or the classes themselves. */
static void put_settings(struct image *image, const ocdm_memory *memory, const char *name, is_saved *saved,
                         enum ocdm__dtype dtype, bool minimums)
{
    const struct pool *pool = &memory->pool;
    for (uint32_t i = 0; i < pool->setting_count; i++) {
        const struct class_setting *setting = &pool->settings[i];
        if (saved(pool, setting) && dtype == OCDM__F64)
            put_real(image, setting->weight);
        else if (saved(pool, setting))
            put(image, dtype, minimums ? setting->minimum : setting->class_id);
    }
    if (any_saved(memory, saved))
        end_tensor(image, name, dtype);
}

/* Asks the policy for its state: how many bytes there are, and as many of them as fit. */
static ocdm_status ask_state(const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size, ocdm_error *error)
{
    ocdm_error found;
    *size = 0;
    if (memory->policy.save == NULL)
        return OCDM_OK;
    ocdm__error_reset(&found);
    ocdm_status status = memory->policy.save(memory->state, memory, bytes, room, size, &found);
    return ocdm__pass_on(status, &found, "the policy's state could not be saved", error);
}

/* The policy is asked twice, for the size and for the bytes, and must say the same. */
static ocdm_status put_policy_state(struct image *image, const ocdm_memory *memory, ocdm_error *error)
{
    size_t size, written = 0;
    OCDM_TRY(ask_state(memory, NULL, 0, &size, error));
    if (size > SIZE_MAX / 2)
        return ocdm__fail(error, OCDM_LIMIT, "", "policy %s has a state of %zu bytes, too large for a file",
                          memory->policy.name, size);
    unsigned char *bytes = ocdm__allocate(size, 1);
    if (bytes == NULL)
        return ocdm__fail_memory(error, "the policy's state");
    ocdm_status status = ask_state(memory, bytes, size, &written, error);
    ocdm__output_write(&image->bytes, bytes, size);
    end_tensor(image, "policy_state", OCDM__U8);
    ocdm__release(bytes);
    if (status != OCDM_OK || written == size)
        return status;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "policy %s: its state had %zu bytes when asked first, %zu when saved",
                      memory->policy.name, size, written);
}

/* The widest elements come first, so that every tensor is aligned. */
static ocdm_status build_image(struct image *image, const ocdm_memory *memory, ocdm_error *error)
{
    const struct pool *pool = &memory->pool;
    OCDM_TRY(ocdm__output_open_memory(&image->bytes, "the file of the memory", error));
    uint32_t *scratch;
    OCDM_TRY(ocdm__new(&scratch, OCDM_MAX_LABELS, sizeof *scratch, "the file of the memory", error)); /* labels of a sample */
    put_counters(image, memory);
    put_samples(image, memory);
    for (uint32_t i = 0; i < pool->class_count; i++)
        put(image, OCDM__U64, pool->classes[i].seen);
    end_tensor(image, "seen", OCDM__U64);
    put_settings(image, memory, "weights", has_weight, OCDM__F64, false);
    for (uint32_t i = 0; i < pool->size; i++)
        for (size_t j = 0, count = ocdm_memory_labels(memory, i, scratch, OCDM_MAX_LABELS); j < count; j++)
            put(image, OCDM__U32, scratch[j]);
    end_tensor(image, "labels", OCDM__U32);
    for (uint32_t i = 0; i < pool->class_count; i++)
        put(image, OCDM__U32, pool->classes[i].id);
    end_tensor(image, "classes", OCDM__U32);
    put_settings(image, memory, "weighted_classes", has_weight, OCDM__U32, false);
    put_settings(image, memory, "minimums", has_minimum, OCDM__U32, true);
    put_settings(image, memory, "minimum_classes", has_minimum, OCDM__U32, false);
    if (memory->options.minimum > 0) {
        put(image, OCDM__U32, memory->options.minimum);
        end_tensor(image, "minimum", OCDM__U32);
    }
    for (uint32_t i = 0; i < pool->class_count; i++)
        put(image, OCDM__U8, ocdm__in_play(memory, &pool->classes[i]));
    end_tensor(image, "in_play", OCDM__U8);
    ocdm__release(scratch);
    OCDM_TRY(put_policy_state(image, memory, error));
    OCDM_TRY(ocdm__output_check(&image->bytes, error));
    const unsigned char *data = (const unsigned char *)image->bytes.buffer; /* its place is final now */
    for (size_t i = 0; i < image->tensor_count; data += image->tensors[i++].size)
        image->tensors[i].data = data;
    return OCDM_OK;
}

/* The oldest version that can say what the memory holds. */
static const char *version_of(const ocdm_memory *memory)
{
    bool sharded = memory->options.shard > 0 || memory->options.minimum > 0 || memory->merged;
    return versions[sharded || any_saved(memory, has_minimum) ? 3
                    : memory->options.tolerance > 0           ? 2
                    : any_saved(memory, has_weight)           ? 1
                                                              : 0];
}

/* The file is built in memory first: its header needs the sizes of all tensors. Names, not numbers, for policy, distance and
 * tie rule: their numbers may change between libraries. */
static ocdm_status write_memory(const ocdm_memory *memory, ocdm__output *output, ocdm_error *error)
{
    struct image image = {0};
    const struct ocdm__note notes[] = {
        {.key = "format", .value = FORMAT},
        {.key = "version", .value = version_of(memory)},
        {.key = "library", .value = ocdm_version()},
        {.key = "policy", .value = memory->policy.name},
        {.key = "distance", .value = ocdm_distance_name(memory->options.distance)},
        {.key = "tie", .value = ocdm_tie_name(memory->options.tie)},
    };
    ocdm_status status = build_image(&image, memory, error);
    OCDM_THEN(status,
              ocdm__safetensors_write(output, notes, sizeof notes / sizeof *notes, image.tensors, image.tensor_count, error));
    ocdm__output_abandon(&image.bytes);
    return status;
}

/* Reports the size also when there is too little room, so that a caller can ask first. */
ocdm_status ocdm_memory_save_bytes(const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                   ocdm_error *error)
{
    if (memory == NULL || size == NULL || (bytes == NULL && room > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory, size and bytes must not be NULL");
    ocdm__output output;
    OCDM_TRY(ocdm__output_open_memory(&output, "the bytes of a memory", error));
    ocdm_status status = write_memory(memory, &output, error);
    OCDM_THEN(status, ocdm__output_check(&output, error));
    if (status == OCDM_OK) {
        *size = output.used;
        if (bytes != NULL && output.used <= room)
            memcpy(bytes, output.buffer, output.used);
    }
    ocdm__output_abandon(&output);
    return status;
}

/* The new file replaces an old one as a whole, or not at all. */
ocdm_status ocdm_memory_save(const ocdm_memory *memory, const char *path, ocdm_error *error)
{
    if (memory == NULL || path == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory and path must not be NULL");
    ocdm__output output;
    OCDM_TRY(ocdm__output_open(&output, path, error));
    ocdm_status status = write_memory(memory, &output, error);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}

/* ---- loading ------------------------------------------------------------------------------------------------------- */

/* The parts of a file. */
struct parts {
    const char *name;
    const ocdm_policy *policy; /* the caller's; NULL: the library's, by its name */
    void *policy_data;
    const struct ocdm__tensor *counters, *rho, *ids, *arrivals, *starts, *labels, *classes, *seen, *in_play, *policy_state;
    const struct ocdm__tensor *weights, *weighted_classes;  /* NULL when all classes have weight 1 */
    const struct ocdm__tensor *tolerance, *shard, *minimum; /* NULL when it is 0 */
    const struct ocdm__tensor *minimums, *minimum_classes;  /* NULL when all classes have the one above */
    const struct ocdm__tensor *places;                      /* NULL when they follow from arrivals */
    ocdm_error *error;
};

static ocdm_status bad_part(const struct parts *parts, const char *what)
{
    return ocdm__fail(parts->error, OCDM_BAD_FILE, "the file is damaged: use another copy", "%s: %s", parts->name, what);
}

static uint64_t number(const struct ocdm__tensor *tensor, uint64_t index)
{
    return ocdm__get_u64(tensor->data + 8 * index);
}

static uint32_t small_number(const struct ocdm__tensor *tensor, uint64_t index)
{
    return ocdm__get_u32(tensor->data + 4 * index);
}

static uint64_t counter(const struct parts *parts, enum counter which)
{
    return number(parts->counters, which);
}

/* ---- structure ------------------------------------------------------------------------------------------------------ */

/* Every tensor is a list; the numbers of their elements are compared afterwards. */
static ocdm_status find(const struct parts *parts, const struct ocdm__safetensors *file, const char *name,
                        enum ocdm__dtype dtype, const struct ocdm__tensor **tensor)
{
    *tensor = ocdm__safetensors_find(file, name);
    if (*tensor && (*tensor)->dtype == dtype && (*tensor)->rank == 1)
        return OCDM_OK;
    return ocdm__fail(parts->error, OCDM_BAD_FILE, "the file is damaged, or of another version", "%s: tensor %s is %s",
                      parts->name, name, *tensor ? "of the wrong type" : "missing");
}

/* Where each part is. A file has some only when they say something, from some version on. Of each there are as many elements as
 * of the part that it is `like`, and some more. */
static ocdm_status find_all(struct parts *parts, const struct ocdm__safetensors *file, int version)
{
    const struct {
        const char *name;
        enum ocdm__dtype dtype;
        int since;
        const struct ocdm__tensor **tensor, *const *like;
        uint64_t more;
    } rows[] = {
        {"counters", OCDM__U64, 1, &parts->counters, NULL, COUNTERS},
        {"rho", OCDM__F64, 1, &parts->rho, NULL, 1},
        {"ids", OCDM__U64, 1, &parts->ids, &parts->ids, 0},
        {"arrivals", OCDM__U64, 1, &parts->arrivals, &parts->ids, 0},
        {"label_starts", OCDM__U64, 1, &parts->starts, &parts->ids, 1},
        {"labels", OCDM__U32, 1, &parts->labels, &parts->labels, 0},
        {"classes", OCDM__U32, 1, &parts->classes, &parts->classes, 0},
        {"seen", OCDM__U64, 1, &parts->seen, &parts->classes, 0},
        {"in_play", OCDM__U8, 1, &parts->in_play, &parts->classes, 0},
        {"policy_state", OCDM__U8, 1, &parts->policy_state, &parts->policy_state, 0},
        {"weights", OCDM__F64, 2, &parts->weights, &parts->weights, 0},
        {"weighted_classes", OCDM__U32, 2, &parts->weighted_classes, &parts->weights, 0},
        {"tolerance", OCDM__F64, 3, &parts->tolerance, NULL, 1},
        {"shard", OCDM__U64, 4, &parts->shard, NULL, 1},
        {"minimum", OCDM__U32, 4, &parts->minimum, NULL, 1},
        {"minimums", OCDM__U32, 4, &parts->minimums, &parts->minimums, 0},
        {"minimum_classes", OCDM__U32, 4, &parts->minimum_classes, &parts->minimums, 0},
        {"places", OCDM__U64, 4, &parts->places, &parts->ids, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* What every file has, and what made it one of this version. */
        bool needed = rows[i].since == 1 || (version == rows[i].since && version < 4);
        if (version < rows[i].since || (!needed && ocdm__safetensors_find(file, rows[i].name) == NULL))
            continue;
        OCDM_TRY(find(parts, file, rows[i].name, rows[i].dtype, rows[i].tensor));
        const struct ocdm__tensor *like = rows[i].like != NULL ? *rows[i].like : NULL;
        uint64_t count = (*rows[i].tensor)->shape[0];
        if ((rows[i].like != NULL && like == NULL) || count != (like != NULL ? like->shape[0] : 0) + rows[i].more ||
            (rows[i].since > 1 && count >= UINT32_MAX))
            return bad_part(parts, "its tensors do not have the lengths that go together");
    }
    if ((parts->weights == NULL) != (parts->weighted_classes == NULL) ||
        (parts->minimums == NULL) != (parts->minimum_classes == NULL) ||
        (parts->weights != NULL && parts->weights->shape[0] == 0))
        return bad_part(parts, "its weights or minimums and their classes are not as many");
    return OCDM_OK;
}

/* ---- options -------------------------------------------------------------------------------------------------------- */

/* A policy of the caller must have the name in the file; else the library looks for its own. */
static ocdm_status find_policy(const struct parts *parts, const struct ocdm__safetensors *file, const ocdm_policy **policy)
{
    *policy = parts->policy;
    const struct ocdm__note *name = ocdm__safetensors_note(file, "policy");
    if (*policy && (!(*policy)->name || !ocdm__note_is(name, (*policy)->name)))
        return ocdm__fail(parts->error, OCDM_BAD_ARGUMENT, "", "%s: its policy is not the one that was given", parts->name);
    for (size_t i = 0; !*policy && ocdm_policy_at(i); i++)
        if (ocdm__note_is(name, ocdm_policy_at(i)->name))
            *policy = ocdm_policy_at(i);
    if (*policy)
        return OCDM_OK;
    return ocdm__fail(parts->error, OCDM_UNKNOWN_NAME, "give the policy that it was saved with to ocdm_memory_load",
                      "%s: the library has no policy %.*s", parts->name,
                      name ? (int)(name->value_length < 64 ? name->value_length : 64) : 0, name ? name->value : "");
}

/* Everything that ocdm_memory_create would refuse is refused here, as damage of the file. */
static ocdm_status read_options(const struct parts *parts, const struct ocdm__safetensors *file, ocdm_options *options)
{
    const struct ocdm__note *distance_note = ocdm__safetensors_note(file, "distance"),
                            *tie_note = ocdm__safetensors_note(file, "tie");
    const char *name;
    int distance = 0, tie = 0;
    while ((name = ocdm_distance_name((ocdm_distance)distance)) != NULL && !ocdm__note_is(distance_note, name))
        distance++;
    while ((name = ocdm_tie_name((ocdm_tie)tie)) != NULL && !ocdm__note_is(tie_note, name))
        tie++;
    if (ocdm_distance_name((ocdm_distance)distance) == NULL || name == NULL)
        return bad_part(parts, "its distance or tie rule is not one that the library knows");
    uint64_t capacity = counter(parts, COUNTER_CAPACITY), batch = counter(parts, COUNTER_BATCH);
    if (!capacity || capacity > OCDM_MAX_CAPACITY || !batch || batch > UINT32_MAX)
        return bad_part(parts, "its capacity or batch is out of range");
    options->capacity = (uint32_t)capacity;
    options->batch = (uint32_t)batch;
    options->distance = (ocdm_distance)distance;
    options->tie = (ocdm_tie)tie;
    options->seed = counter(parts, COUNTER_SEED);
    options->rho = ocdm__get_double(parts->rho->data);
    if (!(fabs(options->rho) <= OCDM_MAX_RHO))
        return bad_part(parts, "its rho is out of range");
    options->tolerance = parts->tolerance != NULL ? ocdm__get_double(parts->tolerance->data) : 0;
    if (!(options->tolerance >= 0 && options->tolerance <= OCDM_MAX_TOLERANCE))
        return bad_part(parts, "its tolerance is out of range");
    options->shard = parts->shard != NULL ? number(parts->shard, 0) : 0;
    options->minimum = parts->minimum != NULL ? small_number(parts->minimum, 0) : 0;
    return options->shard <= OCDM_MAX_SHARD ? OCDM_OK : bad_part(parts, "its shard is out of range");
}

/* ---- contents ------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* By sorting a copy: a hash table could be aimed at by whoever made the file. */
static ocdm_status check_distinct(const struct parts *parts, const struct ocdm__tensor *tensor, const char *what)
{
    size_t count = (size_t)tensor->shape[0];
    uint64_t *sorted;
    OCDM_TRY(ocdm__new(&sorted, count, sizeof *sorted, "checking the file", parts->error));
    for (size_t i = 0; i < count; i++)
        sorted[i] = tensor->dtype == OCDM__U64 ? number(tensor, i) : small_number(tensor, i);
    qsort(sorted, count, sizeof *sorted, by_size);
    bool distinct = true;
    for (size_t i = 1; i < count; i++)
        distinct &= sorted[i - 1] != sorted[i];
    ocdm__release(sorted);
    return distinct ? OCDM_OK : bad_part(parts, what);
}

/* No stream is that long; beyond it, sums of counts could wrap around. */
#define COUNTER_LIMIT ((uint64_t)1 << 63)

/* What the filling relies on: as many samples as the counters say, labels in order, no id or arrival twice. Counters are added
 * to and multiplied by counts later, and must not wrap around. */
static ocdm_status check_samples(const struct parts *parts)
{
    uint64_t samples = parts->ids->shape[0], arrived = counter(parts, COUNTER_ARRIVED);
    if (arrived >= COUNTER_LIMIT || counter(parts, COUNTER_DRAWS) >= COUNTER_LIMIT ||
        counter(parts, COUNTER_STEP) >= COUNTER_LIMIT)
        return bad_part(parts, "one of its counters is beyond 2^63");
    if (samples > counter(parts, COUNTER_CAPACITY) || arrived < samples ||
        counter(parts, COUNTER_DEPARTED) != arrived - samples)
        return bad_part(parts, "the number of its samples does not fit its counters");
    for (uint64_t i = 0; i < samples; i++) {
        if (number(parts->arrivals, i) >= arrived)
            return bad_part(parts, "a sample arrived later than the last");
        uint64_t first = number(parts->starts, i), end = number(parts->starts, i + 1);
        if (first > end || end - first > OCDM_MAX_LABELS || end > parts->labels->shape[0])
            return bad_part(parts, "label_starts does not ascend within the labels");
        for (uint64_t j = first + 1; j < end; j++)
            if (small_number(parts->labels, j) <= small_number(parts->labels, j - 1))
                return bad_part(parts, "a sample's labels do not ascend");
    }
    if (number(parts->starts, 0) || number(parts->starts, samples) != parts->labels->shape[0])
        return bad_part(parts, "label_starts does not cover the labels");
    OCDM_TRY(check_distinct(parts, parts->ids, "an id comes twice"));
    return check_distinct(parts, parts->arrivals, "two samples have one arrival number");
}

/* A class that was never seen has no reason to be in the file. A setting that is the default would be saved again with another
 * version. */
static ocdm_status check_classes(const struct parts *parts)
{
    uint64_t classes = parts->classes->shape[0], arrived = counter(parts, COUNTER_ARRIVED);
    if (classes >= UINT32_MAX)
        return bad_part(parts, "it has too many classes");
    for (uint64_t i = 0; i < classes; i++)
        if (!number(parts->seen, i) || number(parts->seen, i) > arrived || parts->in_play->data[i] > 1)
            return bad_part(parts, "a class was seen never, or more often than samples arrived");
    OCDM_TRY(check_distinct(parts, parts->classes, "a class comes twice"));
    for (uint64_t i = 0; parts->weights != NULL && i < parts->weights->shape[0]; i++) {
        double weight = ocdm__get_double(parts->weights->data + 8 * i);
        if (!(weight >= OCDM_MIN_WEIGHT && weight <= OCDM_MAX_WEIGHT) || weight == 1)
            return bad_part(parts, "a weight is 1 or out of range");
    }
    if (parts->weights != NULL)
        OCDM_TRY(check_distinct(parts, parts->weighted_classes, "a class has two weights"));
    return parts->minimums != NULL ? check_distinct(parts, parts->minimum_classes, "a class has two minimums") : OCDM_OK;
}

/* ---- filling the memory --------------------------------------------------------------------------------------------- */

/* Settings come before the classes, which take what is set for them from there. Classes are in the order of the file, so that
 * class indices, and all sums that run over them, are those of the saved memory. */
static ocdm_status fill_classes(const struct parts *parts, ocdm_memory *memory)
{
    for (uint64_t i = 0; parts->weights != NULL && i < parts->weights->shape[0]; i++)
        OCDM_TRY(ocdm_memory_set_weight(memory, small_number(parts->weighted_classes, i),
                                        ocdm__get_double(parts->weights->data + 8 * i), parts->error));
    for (uint64_t i = 0; parts->minimums != NULL && i < parts->minimums->shape[0]; i++)
        OCDM_TRY(ocdm_memory_set_minimum(memory, small_number(parts->minimum_classes, i), small_number(parts->minimums, i),
                                         parts->error));
    uint32_t count = (uint32_t)parts->classes->shape[0];
    for (uint32_t i = 0; i < count; i++)
        if (ocdm__pool_add_class(&memory->pool, small_number(parts->classes, i)) == OCDM_NONE)
            return ocdm__fail_memory(parts->error, "the classes");
    for (uint32_t i = 0; i < count; i++) {
        memory->pool.classes[i].seen = number(parts->seen, i);
        if (memory->index != NULL && memory->options.rho != 0)
            ocdm__index_class_seen(memory->index, &memory->pool, i);
    }
    return OCDM_OK;
}

/* As an update stores a sample: room first, then a node, its place among equals and the pool. */
static ocdm_status fill_sample(const struct parts *parts, ocdm_memory *memory, uint32_t slot, uint32_t *scratch)
{
    uint64_t first = number(parts->starts, slot);
    uint32_t count = (uint32_t)(number(parts->starts, slot + (uint64_t)1) - first);
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = ocdm__pool_class(&memory->pool, small_number(parts->labels, first + i));
        if (scratch[i] == OCDM_NONE)
            return bad_part(parts, "a sample carries a class that the file does not list");
    }
    ocdm__sort(scratch, count);
    OCDM_TRY(ocdm__memory_reserve(memory, slot + 1, parts->error));
    OCDM_TRY(ocdm__pool_reserve_labels(&memory->pool, scratch, count, parts->error));
    if (memory->index != NULL)
        OCDM_TRY(ocdm__index_reserve(memory->index, &memory->pool, (const uint32_t[2]){0, count}, 1, parts->error));
    uint32_t node = ocdm__pool_take_node(&memory->pool, number(parts->ids, slot));
    ocdm__memory_stamp(memory, node, number(parts->arrivals, slot));
    if (parts->places != NULL)
        memory->pool.nodes[node].priority = number(parts->places, slot);
    ocdm__pool_join(&memory->pool, memory->index, node, scratch, count);
    return OCDM_OK;
}

/* Counts of samples that have left cannot be known from those that stayed: they are in the file. */
static ocdm_status fill_counts(const struct parts *parts, ocdm_memory *memory)
{
    memory->arrived = counter(parts, COUNTER_ARRIVED);
    memory->departed = counter(parts, COUNTER_DEPARTED);
    memory->draws = counter(parts, COUNTER_DRAWS);
    memory->step = counter(parts, COUNTER_STEP);
    memory->merged = parts->places != NULL;
    for (uint32_t i = 0; i < memory->pool.class_count; i++) {
        struct class *class = &memory->pool.classes[i];
        bool in_play = parts->in_play->data[i];
        if (class->kept > class->seen || (class->kept && !in_play) || (in_play && !memory->step))
            return bad_part(parts, "the counts of a class contradict its samples");
        if (in_play && !class->kept)
            class->emptied_at = memory->step;
    }
    return OCDM_OK;
}

/* Classes come before samples, and the policy sees a memory that is complete. A policy without state must find none, else the
 * file belongs to another one of the same name. */
static ocdm_status fill(const struct parts *parts, ocdm_memory *memory)
{
    const struct ocdm__tensor *saved = parts->policy_state;
    uint32_t *scratch = NULL;
    ocdm_error found;
    ocdm_status status = fill_classes(parts, memory);
    OCDM_THEN(status, ocdm__new(&scratch, OCDM_MAX_LABELS, sizeof *scratch, "the labels of a sample", parts->error));
    for (uint32_t i = 0; status == OCDM_OK && i < parts->ids->shape[0]; i++)
        status = fill_sample(parts, memory, i, scratch);
    ocdm__release(scratch);
    if (status == OCDM_OK && memory->index != NULL)
        ocdm__index_settle(memory->index, &memory->pool);
    OCDM_THEN(status, fill_counts(parts, memory));
    OCDM_TRY(status);
    if (memory->policy.load == NULL)
        return saved->size > 0 ? bad_part(parts, "it has a state that its policy does not take") : OCDM_OK;
    ocdm__error_reset(&found);
    status = memory->policy.load(memory->state, memory, saved->data, saved->size, &found);
    return ocdm__pass_on(status, &found, "the policy could not load its state", parts->error);
}

/* Format, version, and where each part is. */
static ocdm_status find_parts(struct parts *parts, const struct ocdm__safetensors *file)
{
    const struct ocdm__note *checksum = ocdm__safetensors_note(file, "checksum");
    const struct ocdm__note *version = ocdm__safetensors_note(file, "version");
    int number = 4;
    while (number > 0 && !ocdm__note_is(version, versions[number - 1]))
        number--;
    if (!ocdm__note_is(ocdm__safetensors_note(file, "format"), FORMAT))
        return bad_part(parts, "it is not a memory that ocdm_memory_save wrote");
    if (number == 0)
        return bad_part(parts, "it is of a version that this library does not read");
    if (checksum == NULL || checksum->value_length != 16)
        return bad_part(parts, "it has no checksum");
    return find_all(parts, file, number);
}

/* The tensors are read where they are: the bytes must live until the memory is filled. What can be checked number by number is
 * checked before the memory exists; whether samples and classes fit shows while they are filled in. */
static ocdm_status parse(struct parts *parts, const unsigned char *bytes, size_t size, ocdm_memory **result)
{
    struct ocdm__safetensors file;
    ocdm_memory *memory = NULL;
    ocdm_options options = ocdm_options_default();
    OCDM_TRY(ocdm__safetensors_read(&file, parts->name, bytes, size, parts->error));
    ocdm_status status = find_parts(parts, &file);
    OCDM_THEN(status, read_options(parts, &file, &options));
    OCDM_THEN(status, find_policy(parts, &file, &options.policy));
    OCDM_THEN(status, check_samples(parts));
    OCDM_THEN(status, check_classes(parts));
    options.policy_data = parts->policy_data;
    OCDM_THEN(status, ocdm_memory_create(&options, &memory, parts->error));
    OCDM_THEN(status, fill(parts, memory));
    ocdm__safetensors_close(&file);
    if (status == OCDM_OK)
        *result = memory;
    else
        ocdm_memory_destroy(memory);
    return status;
}

ocdm_status ocdm_memory_load_bytes(const unsigned char *bytes, size_t size, const ocdm_policy *policy, void *data,
                                   ocdm_memory **memory, ocdm_error *error)
{
    if (bytes == NULL || memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "bytes and memory must not be NULL");
    struct parts parts = {.name = "the bytes of a memory", .policy = policy, .policy_data = data, .error = error};
    return parse(&parts, bytes, size, memory);
}

/* The whole file is in memory while it is read. */
ocdm_status ocdm_memory_load(const char *path, const ocdm_policy *policy, void *data, ocdm_memory **memory, ocdm_error *error)
{
    if (path == NULL || memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "path and memory must not be NULL");
    struct parts parts = {.name = path, .policy = policy, .policy_data = data, .error = error};
    ocdm__input input;
    bool is_dash = path[0] == '-' && !path[1]; /* a file's name here, not standard input */
    OCDM_TRY(ocdm__input_open(&input, is_dash ? "./-" : path, NULL, error));
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && !input.ended)
        status = ocdm__input_fill(&input, error);
    OCDM_THEN(status, parse(&parts, (const unsigned char *)input.data, input.size, memory));
    ocdm__input_close(&input);
    return status;
}
