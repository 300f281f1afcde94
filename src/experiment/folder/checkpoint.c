/* Writing a checkpoint. */
#include "experiment/folder/checkpoint.h"

#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/output.h"
#include "memory/memory_file.h"

#define OWN_TENSORS 8u

/* The file while it is put together: numbers of eight bytes in one block, the rest elsewhere. */
struct image {
    ocdm__output numbers, settings, memory;
    struct ocdm__agent_state agent;
    struct ocdm__tensor *tensors;
    size_t count;
    char *names; /* of the agent's tensors, with their prefix */
};

/* ---- numbers ----------------------------------------------------------------------------------------------------------- */

static void put_whole(struct image *image, uint64_t value)
{
    unsigned char bytes[8];
    ocdm__put_u64(bytes, value);
    ocdm__output_write(&image->numbers, bytes, sizeof bytes);
}

static void put_real(struct image *image, double value)
{
    unsigned char bytes[8];
    ocdm__put_double(bytes, value);
    ocdm__output_write(&image->numbers, bytes, sizeof bytes);
}

/* Ends a tensor that began where the one before it ended. Its data is set when the block has its final place. */
static void end_numbers(struct image *image, const char *name, enum ocdm__dtype dtype)
{
    size_t begun = 0;
    for (size_t i = 0; i < image->count; i++)
        begun += image->tensors[i].size;
    image->tensors[image->count++] = ocdm__tensor_of(name, dtype, NULL, (image->numbers.used - begun) / 8);
}

static void put_position(struct image *image, const ocdm__run *run, uint64_t log_size)
{
    const uint64_t position[OCDM__AT_NUMBERS] = {
        [OCDM__AT_STEP] = run->step,
        [OCDM__AT_EVALUATIONS] = run->evaluation_count,
        [OCDM__AT_SKIPPED] = run->earlier_skipped + run->online.skipped,
        [OCDM__AT_LOG_SIZE] = log_size,
        [OCDM__AT_CURVE_OFFERED] = run->curve->offered,
        [OCDM__AT_CURVE_STRIDE] = run->curve->stride,
        [OCDM__AT_CHECKSUM] = run->stream->checksum[0],
        [OCDM__AT_CHECKSUM_2] = run->stream->checksum[1],
    };
    for (size_t i = 0; i < OCDM__AT_NUMBERS; i++)
        put_whole(image, position[i]);
    end_numbers(image, "position", OCDM__U64);
}

static void put_averages(struct image *image, const ocdm__averages *averages)
{
    put_real(image, (double)averages->classes);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        put_real(image, averages->value[i]);
}

static void put_evaluations(struct image *image, const ocdm__run *run)
{
    for (size_t i = 0; i < run->evaluation_count; i++) {
        const ocdm__evaluation *evaluation = &run->evaluations[i];
        put_real(image, evaluation->task);
        put_real(image, (double)evaluation->step);
        put_real(image, (double)evaluation->samples);
        put_real(image, evaluation->distance);
        put_real(image, evaluation->distance_seen);
        put_real(image, (double)evaluation->skipped);
        put_averages(image, &evaluation->total);
        for (size_t g = 0; g < OCDM__GROUPS; g++)
            put_averages(image, &evaluation->groups[g]);
        for (size_t k = 0; k < evaluation->task_count; k++)
            put_averages(image, &evaluation->tasks[k]);
    }
    end_numbers(image, "evaluations", OCDM__F64);
}

static void put_scores(struct image *image, const ocdm__run *run)
{
    for (size_t c = 0; c < run->stream->table.class_count; c++) {
        put_real(image, run->scores[c].positives);
        put_real(image, run->scores[c].predicted);
        put_real(image, run->scores[c].hits);
        put_real(image, run->scores[c].ap);
    }
    end_numbers(image, "class_scores", OCDM__F64);
}

static void put_point(struct image *image, const ocdm__curve_point *point)
{
    put_real(image, point->step);
    put_real(image, point->task);
    put_real(image, point->loss);
    put_real(image, point->distance);
    put_real(image, point->distance_seen);
}

static void put_curve(struct image *image, const ocdm__curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        put_point(image, &curve->points[i]);
    put_point(image, &curve->last);
    end_numbers(image, "curve", OCDM__F64);
}

static void put_times(struct image *image, const ocdm__run *run)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    put_real(image, times.steps.draw);
    put_real(image, times.steps.decode);
    put_real(image, times.steps.train);
    put_real(image, times.steps.update);
    put_real(image, times.evaluate);
    put_real(image, times.total);
    end_numbers(image, "times", OCDM__F64);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------------- */

/* The agent's tensors under names of ours, so that no name can meet one of the others. */
static ocdm_status name_agent_tensors(struct image *image, ocdm_error *error)
{
    static const char prefix[] = OCDM__CHECKPOINT_AGENT;
    size_t room = 0;
    for (size_t i = 0; i < image->agent.count; i++)
        room += strlen(image->agent.tensors[i].name) + sizeof prefix;
    image->names = ocdm__allocate(room, 1);
    if (image->names == NULL)
        return ocdm__fail_memory(error, "a checkpoint");
    char *at = image->names;
    for (size_t i = 0; i < image->agent.count; i++) {
        struct ocdm__tensor *tensor = &image->tensors[image->count++];
        size_t length = strlen(image->agent.tensors[i].name);
        *tensor = image->agent.tensors[i];
        memcpy(at, prefix, sizeof prefix - 1);
        memcpy(at + sizeof prefix - 1, tensor->name, length + 1);
        tensor->name = at;
        tensor->name_length = length + sizeof prefix - 1;
        at += length + sizeof prefix;
    }
    return OCDM_OK;
}

static ocdm_status open_image(struct image *image, const ocdm__run *run, ocdm_error *error)
{
    *image = (struct image){.count = 0};
    ocdm_status status = ocdm__output_open_memory(&image->numbers, "a checkpoint", error);
    if (status == OCDM_OK)
        status = ocdm__output_open_memory(&image->settings, "a checkpoint", error);
    if (status == OCDM_OK)
        status = ocdm__output_open_memory(&image->memory, "a checkpoint", error);
    if (status == OCDM_OK && run->agent != NULL)
        status = ocdm__agent_save(run->agent, true, &image->agent, error);
    if (status != OCDM_OK)
        return status;
    image->tensors = ocdm__allocate(image->agent.count + OWN_TENSORS, sizeof *image->tensors);
    return image->tensors != NULL ? OCDM_OK : ocdm__fail_memory(error, "a checkpoint");
}

static void close_image(struct image *image)
{
    ocdm__output_abandon(&image->numbers);
    ocdm__output_abandon(&image->settings);
    ocdm__output_abandon(&image->memory);
    ocdm__agent_state_release(&image->agent);
    ocdm__release(image->tensors);
    ocdm__release(image->names);
}

/* Elements of eight bytes come first, single bytes last, so that all are aligned. */
static ocdm_status build(struct image *image, const ocdm__run *run, uint64_t log_size, ocdm_error *error)
{
    put_position(image, run, log_size);
    put_times(image, run);
    put_curve(image, run->curve);
    put_evaluations(image, run);
    put_scores(image, run);
    ocdm_status status = ocdm__output_check(&image->numbers, error);
    const unsigned char *data = (const unsigned char *)image->numbers.buffer;
    for (size_t i = 0; i < image->count; data += image->tensors[i++].size)
        image->tensors[i].data = data;
    if (status == OCDM_OK)
        status = name_agent_tensors(image, error);
    ocdm__run_settings_write(&image->settings, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    if (status == OCDM_OK)
        status = ocdm__output_check(&image->settings, error);
    if (status == OCDM_OK && run->memory != NULL)
        status = ocdm__memory_write(run->memory, &image->memory, error);
    if (status == OCDM_OK)
        status = ocdm__output_check(&image->memory, error);
    image->tensors[image->count++] = ocdm__tensor_of("settings", OCDM__U8, image->settings.buffer, image->settings.used);
    image->tensors[image->count++] = ocdm__tensor_of("memory", OCDM__U8, image->memory.buffer, image->memory.used);
    image->tensors[image->count++] = ocdm__tensor_of("groups", OCDM__U8, run->groups, run->stream->table.class_count);
    return status;
}

static ocdm_status write_file(const struct image *image, const char *path, ocdm_error *error)
{
    const struct ocdm__note notes[] = {{.key = "format", .value = OCDM__CHECKPOINT_FORMAT},
                                       {.key = "version", .value = OCDM__CHECKPOINT_VERSION},
                                       {.key = "program", .value = ocdm_version()}};
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, path, error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__safetensors_write(&output, notes, sizeof notes / sizeof *notes, image->tensors, image->count, error);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}

ocdm_status ocdm__checkpoint_write(const ocdm__run *run, uint64_t log_size, const char *path, ocdm_error *error)
{
    struct image image;
    ocdm_status status = open_image(&image, run, error);
    if (status == OCDM_OK)
        status = build(&image, run, log_size, error);
    if (status == OCDM_OK)
        status = write_file(&image, path, error);
    close_image(&image);
    return status;
}
