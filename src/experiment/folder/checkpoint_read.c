/* Going on from a checkpoint. The file is somebody else's until everything in it was looked at. */
#include "experiment/folder/checkpoint.h"

#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "experiment/folder/saved_run.h"
#include "memory/memory_file.h"

/* Numbers of a tensor, read one after another. */
struct numbers {
    const unsigned char *at;
};

static const char damaged_hint[] = "the file is damaged or not a checkpoint of this program";

static ocdm_status refuse(const ocdm__checkpoint *checkpoint, const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_FILE, damaged_hint, "%s: %s", checkpoint->file.name, what);
}

static double next_real(struct numbers *numbers)
{
    double value = ocdm__get_double(numbers->at);
    numbers->at += 8;
    return value;
}

/* A count that was written as a real number; what is none becomes 0. */
static uint64_t next_count(struct numbers *numbers)
{
    double value = next_real(numbers);
    return value >= 0 && value < 0x1p53 ? (uint64_t)value : 0;
}

static uint64_t position_at(const ocdm__checkpoint *checkpoint, enum ocdm__checkpoint_position which)
{
    return ocdm__get_u64(ocdm__safetensors_find(&checkpoint->tensors, "position")->data + 8 * (size_t)which);
}

/* ---- opening ----------------------------------------------------------------------------------------------------------- */

static bool has(const ocdm__checkpoint *checkpoint, const char *name, enum ocdm__dtype dtype)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, name);
    return tensor != NULL && tensor->dtype == dtype && tensor->rank == 1;
}

static size_t numbers_in(const ocdm__checkpoint *checkpoint, const char *name)
{
    return ocdm__safetensors_find(&checkpoint->tensors, name)->size / 8;
}

static ocdm_status check_format(const ocdm__checkpoint *checkpoint, ocdm_error *error)
{
    const struct ocdm__note *format = ocdm__safetensors_note(&checkpoint->tensors, "format");
    const struct ocdm__note *version = ocdm__safetensors_note(&checkpoint->tensors, "version");
    if (format == NULL || !ocdm__note_is(format, OCDM__CHECKPOINT_FORMAT))
        return refuse(checkpoint, "this is not a checkpoint", error);
    if (version == NULL || !ocdm__note_is(version, OCDM__CHECKPOINT_VERSION))
        return refuse(checkpoint, "the checkpoint is of another version", error);
    bool complete = has(checkpoint, "position", OCDM__U64) && has(checkpoint, "times", OCDM__F64) &&
                    has(checkpoint, "curve", OCDM__F64) && has(checkpoint, "evaluations", OCDM__F64) &&
                    has(checkpoint, "class_scores", OCDM__F64) && has(checkpoint, "settings", OCDM__U8) &&
                    has(checkpoint, "memory", OCDM__U8);
    if (!complete || numbers_in(checkpoint, "position") != OCDM__AT_NUMBERS ||
        numbers_in(checkpoint, "times") != OCDM__TIMES_NUMBERS)
        return refuse(checkpoint, "a tensor is missing or has another shape", error);
    return OCDM_OK;
}

ocdm_status ocdm__checkpoint_open(ocdm__checkpoint *checkpoint, const char *path, ocdm_error *error)
{
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
    ocdm_status status = ocdm__map_file(&checkpoint->file, path, error);
    if (status == OCDM_OK)
        status = ocdm__safetensors_read(&checkpoint->tensors, path, checkpoint->file.bytes, checkpoint->file.size, error);
    if (status == OCDM_OK && ocdm__safetensors_note(&checkpoint->tensors, "checksum") == NULL)
        status = refuse(checkpoint, "the checksum is missing", error);
    return status == OCDM_OK ? check_format(checkpoint, error) : status;
}

void ocdm__checkpoint_close(ocdm__checkpoint *checkpoint)
{
    ocdm__safetensors_close(&checkpoint->tensors);
    ocdm__unmap_file(&checkpoint->file);
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
}

/* NULL for a checkpoint of an earlier version, and for one whose groups are none of so many classes. */
static const uint8_t *groups_of(const ocdm__checkpoint *checkpoint, size_t class_count)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, "groups");
    if (tensor == NULL || tensor->dtype != OCDM__U8 || tensor->size != class_count)
        return NULL;
    for (size_t c = 0; c < class_count; c++)
        if (tensor->data[c] >= OCDM__GROUPS)
            return NULL;
    return tensor->data;
}

ocdm_status ocdm__checkpoint_compare(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    const struct ocdm__tensor *settings = ocdm__safetensors_find(&checkpoint->tensors, "settings");
    const uint64_t checksum[] = {position_at(checkpoint, OCDM__AT_CHECKSUM), position_at(checkpoint, OCDM__AT_CHECKSUM_2)};
    ocdm__saved_run saved = {.name = checkpoint->file.name,
                             .settings = (const char *)settings->data,
                             .settings_length = settings->size,
                             .groups = groups_of(checkpoint, run->stream->table.class_count)};
    ocdm__checksum_text(checksum, saved.checksum);
    return ocdm__saved_run_compare(&saved, run, error);
}

/* ---- restoring --------------------------------------------------------------------------------------------------------- */

/* Whether the numbers of tensors and the position fit the run. */
static ocdm_status check_position(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    uint64_t step = position_at(checkpoint, OCDM__AT_STEP), evaluations = position_at(checkpoint, OCDM__AT_EVALUATIONS);
    size_t tasks = run->schedule.order.task_count, numbers = 0, points = numbers_in(checkpoint, "curve");
    const uint64_t *ends = run->schedule.task_ends;
    if (evaluations > tasks || step > ocdm__schedule_steps(&run->schedule) ||
        (evaluations > 0 && step < ends[evaluations - 1]) || (evaluations < tasks && step > ends[evaluations]))
        return refuse(checkpoint, "the position is none of this run", error);
    for (size_t i = 0; i < evaluations; i++)
        numbers += OCDM__EVALUATION_NUMBERS + OCDM__AVERAGES_NUMBERS * (1 + OCDM__GROUPS + i + 1);
    bool fits = numbers_in(checkpoint, "evaluations") == numbers && points % OCDM__POINT_NUMBERS == 0 &&
                points / OCDM__POINT_NUMBERS >= 1 && points / OCDM__POINT_NUMBERS <= OCDM__CURVE_ROOM &&
                numbers_in(checkpoint, "class_scores") == OCDM__SCORE_NUMBERS * run->stream->table.class_count;
    return fits ? OCDM_OK : refuse(checkpoint, "evaluations or curve have another size", error);
}

static ocdm__averages next_averages(struct numbers *numbers)
{
    ocdm__averages averages = {.classes = (size_t)next_count(numbers)};
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        averages.value[i] = next_real(numbers);
    return averages;
}

static ocdm_status restore_evaluation(struct numbers *numbers, ocdm__evaluation *evaluation, size_t place, ocdm_error *error)
{
    ocdm_status status = ocdm__evaluation_start(evaluation, place + 1, error);
    if (status != OCDM_OK)
        return status;
    evaluation->task = (uint32_t)next_count(numbers);
    evaluation->step = next_count(numbers);
    evaluation->samples = next_count(numbers);
    evaluation->distance = next_real(numbers);
    evaluation->distance_seen = next_real(numbers);
    evaluation->skipped = next_count(numbers);
    evaluation->total = next_averages(numbers);
    for (size_t g = 0; g < OCDM__GROUPS; g++)
        evaluation->groups[g] = next_averages(numbers);
    for (size_t k = 0; k <= place; k++)
        evaluation->tasks[k] = next_averages(numbers);
    return OCDM_OK;
}

static void restore_scores(struct numbers numbers, ocdm__run *run)
{
    for (size_t c = 0; c < run->stream->table.class_count; c++) {
        ocdm__class_score *score = &run->scores[c];
        score->positives = (uint32_t)next_count(&numbers);
        score->predicted = (uint32_t)next_count(&numbers);
        score->hits = (uint32_t)next_count(&numbers);
        score->ap = next_real(&numbers);
    }
}

static ocdm__curve_point next_point(struct numbers *numbers)
{
    ocdm__curve_point point;
    point.step = next_real(numbers);
    point.task = next_real(numbers);
    point.loss = next_real(numbers);
    point.distance = next_real(numbers);
    point.distance_seen = next_real(numbers);
    return point;
}

static void restore_curve(const ocdm__checkpoint *checkpoint, ocdm__curve *curve)
{
    struct numbers numbers = {ocdm__safetensors_find(&checkpoint->tensors, "curve")->data};
    curve->offered = position_at(checkpoint, OCDM__AT_CURVE_OFFERED);
    curve->stride = position_at(checkpoint, OCDM__AT_CURVE_STRIDE);
    curve->count = numbers_in(checkpoint, "curve") / OCDM__POINT_NUMBERS - 1;
    for (size_t i = 0; i < curve->count; i++)
        curve->points[i] = next_point(&numbers);
    curve->last = next_point(&numbers);
}

static void restore_times(const ocdm__checkpoint *checkpoint, ocdm__run *run)
{
    struct numbers numbers = {ocdm__safetensors_find(&checkpoint->tensors, "times")->data};
    ocdm__run_times *times = &run->earlier;
    times->steps.draw = next_real(&numbers);
    times->steps.decode = next_real(&numbers);
    times->steps.train = next_real(&numbers);
    times->steps.update = next_real(&numbers);
    times->evaluate = next_real(&numbers);
    times->total = next_real(&numbers);
}

/* A memory of samples of this stream, made with these settings; its ids lead into the stream's tables. */
static bool memory_fits(const ocdm_memory *memory, const ocdm__run *run)
{
    const ocdm_options *options = ocdm_memory_options(memory);
    if (strcmp(options->policy->name, run->settings->method) != 0 || options->capacity != run->settings->memory)
        return false;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        if (ocdm_memory_id(memory, slot) >= run->stream->table.sample_count)
            return false;
    return true;
}

static ocdm_status restore_memory(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, "memory");
    ocdm_memory *memory = NULL;
    if (run->memory == NULL)
        return OCDM_OK;
    ocdm_status status = ocdm__memory_parse(checkpoint->file.name, tensor->data, tensor->size, NULL, &memory, error);
    if (status != OCDM_OK)
        return status;
    if (!memory_fits(memory, run)) {
        ocdm_memory_destroy(memory);
        return refuse(checkpoint, "the memory is not of this run", error);
    }
    ocdm_memory_destroy(run->memory);
    run->memory = memory;
    return OCDM_OK;
}

/* The agent's tensors alone, under the names that it knows. */
static ocdm_status restore_agent(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    static const char prefix[] = OCDM__CHECKPOINT_AGENT;
    const size_t length = sizeof prefix - 1;
    if (run->agent == NULL)
        return OCDM_OK;
    struct ocdm__tensor *tensors = ocdm__allocate(checkpoint->tensors.tensor_count, sizeof *tensors);
    if (tensors == NULL)
        return ocdm__fail_memory(error, "the tensors of a checkpoint");
    struct ocdm__safetensors file = {.tensors = tensors};
    for (size_t i = 0; i < checkpoint->tensors.tensor_count; i++) {
        struct ocdm__tensor tensor = checkpoint->tensors.tensors[i];
        if (tensor.name_length <= length || memcmp(tensor.name, prefix, length) != 0)
            continue;
        tensor.name += length;
        tensor.name_length -= length;
        tensors[file.tensor_count++] = tensor;
    }
    struct ocdm__weights weights = {.name = checkpoint->file.name, .file = &file};
    ocdm_status status = ocdm__agent_load(run->agent, &weights, NULL, error);
    ocdm__release(tensors);
    return status;
}

ocdm_status ocdm__checkpoint_restore(const ocdm__checkpoint *checkpoint, ocdm__run *run, uint64_t *log_size, ocdm_error *error)
{
    ocdm_status status = check_position(checkpoint, run, error);
    if (status == OCDM_OK)
        status = restore_memory(checkpoint, run, error);
    if (status == OCDM_OK)
        status = restore_agent(checkpoint, run, error);
    if (status != OCDM_OK)
        return status;
    struct numbers numbers = {ocdm__safetensors_find(&checkpoint->tensors, "evaluations")->data};
    run->evaluation_count = (size_t)position_at(checkpoint, OCDM__AT_EVALUATIONS);
    for (size_t i = 0; status == OCDM_OK && i < run->evaluation_count; i++)
        status = restore_evaluation(&numbers, &run->evaluations[i], i, error);
    restore_scores((struct numbers){ocdm__safetensors_find(&checkpoint->tensors, "class_scores")->data}, run);
    restore_curve(checkpoint, run->curve);
    restore_times(checkpoint, run);
    run->step = position_at(checkpoint, OCDM__AT_STEP);
    run->earlier_skipped = position_at(checkpoint, OCDM__AT_SKIPPED);
    *log_size = position_at(checkpoint, OCDM__AT_LOG_SIZE);
    return status;
}
