/* Writes checkpoints. The tensors of the learner are fetched one at a time; everything else is small. */
#include "experiment/folder/checkpoint.h"

#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/output.h"
#include "experiment/folder/checkpoint_fields.h"

#define OWN_TENSORS 16u

/* The file while it is put together: numbers of eight bytes in one block, the rest elsewhere. */
struct image {
    ocdm__output numbers, settings;
    unsigned char *memory;
    size_t memory_size;
    ocdm__tensor_list learner; /* their data is fetched when the file is written */
    size_t first;              /* of them among the tensors */
    struct ocdm__tensor *tensors;
    size_t count;
    char *names; /* of the learner's tensors, with their prefix */
};

/* ---- numbers ----------------------------------------------------------------------------------------------------------- */

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
    const ocdm__checkpoint_position position = {
        .step = run->step,
        .evaluations = run->evaluation_count,
        .skipped = run->earlier_skipped + run->online.skipped,
        .log_size = log_size,
        .curve_offered = run->curve->offered,
        .curve_stride = run->curve->stride,
        .checksum = run->stream->checksum[0],
        .checksum_2 = run->stream->checksum[1],
    };
    ocdm__record_put(OCDM__RECORD_POSITION, &position, &image->numbers);
    end_numbers(image, "position", OCDM__U64);
}

static void put_times(struct image *image, const ocdm__run *run)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    ocdm__record_put(OCDM__RECORD_TIMES, &times, &image->numbers);
    end_numbers(image, "times", OCDM__F64);
}

static void put_curve(struct image *image, const ocdm__curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        ocdm__record_put(OCDM__RECORD_POINT, &curve->points[i], &image->numbers);
    ocdm__record_put(OCDM__RECORD_POINT, &curve->last, &image->numbers);
    end_numbers(image, "curve", OCDM__F64);
}

static void put_evaluations_of(struct image *image, const ocdm__run *run, const ocdm__evaluation *evaluations)
{
    for (size_t i = 0; i < run->evaluation_count; i++) {
        const ocdm__evaluation *evaluation = &evaluations[i];
        ocdm__record_put(OCDM__RECORD_EVALUATION, evaluation, &image->numbers);
        ocdm__record_put(OCDM__RECORD_AVERAGES, &evaluation->total, &image->numbers);
        for (size_t g = 0; g < OCDM__GROUPS; g++)
            ocdm__record_put(OCDM__RECORD_AVERAGES, &evaluation->groups[g], &image->numbers);
        for (size_t k = 0; k < evaluation->task_count; k++)
            ocdm__record_put(OCDM__RECORD_AVERAGES, &evaluation->tasks[k], &image->numbers);
    }
}

static void put_scores_of(struct image *image, const ocdm__run *run, const ocdm__class_score *scores)
{
    for (size_t c = 0; c < run->stream->table.class_count; c++)
        ocdm__record_put(OCDM__RECORD_SCORE, &scores[c], &image->numbers);
}

/* The version reported, then the others, if there are some, in tensors of their own. */
static void put_evaluations(struct image *image, const ocdm__run *run)
{
    put_evaluations_of(image, run, run->evaluations);
    end_numbers(image, "evaluations", OCDM__F64);
    put_scores_of(image, run, run->scores);
    end_numbers(image, "class_scores", OCDM__F64);
    if (run->version_count == 1)
        return;
    for (size_t v = 0; v < run->version_count; v++)
        if (v != run->reported)
            put_evaluations_of(image, run, run->versions[v].evaluations);
    end_numbers(image, OCDM__CHECKPOINT_OTHER_EVALUATIONS, OCDM__F64);
    for (size_t v = 0; v < run->version_count; v++)
        if (v != run->reported)
            put_scores_of(image, run, run->versions[v].scores);
    end_numbers(image, OCDM__CHECKPOINT_OTHER_SCORES, OCDM__F64);
}

static void put_protocol(struct image *image, const ocdm__run *run)
{
    const ocdm__probes *probes = &run->probes;
    ocdm__record_put(OCDM__RECORD_COST, &run->cost, &image->numbers);
    end_numbers(image, OCDM__CHECKPOINT_COST, OCDM__F64);
    if (run->settings->eval_every == 0)
        return;
    for (size_t i = 0; i < probes->count * probes->versions; i++) {
        unsigned char bytes[8];
        ocdm__put_double(bytes, probes->map[i]);
        ocdm__output_write(&image->numbers, bytes, sizeof bytes);
    }
    end_numbers(image, OCDM__CHECKPOINT_PROBES, OCDM__F64);
}

/* Only for a run that has them, so that other checkpoints keep their bytes. */
static void put_class_weights(struct image *image, const ocdm__run *run)
{
    if (run->class_weights == NULL)
        return;
    for (size_t c = 0; c < run->stream->table.class_count; c++) {
        unsigned char bytes[8];
        ocdm__put_double(bytes, run->class_weights[c]);
        ocdm__output_write(&image->numbers, bytes, sizeof bytes);
    }
    end_numbers(image, "class_weights", OCDM__F64);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------------- */

/* The learner's tensors with a prefix, so that their names cannot collide with the others. */
static ocdm_status name_learner_tensors(struct image *image, ocdm_error *error)
{
    static const char prefix[] = OCDM__CHECKPOINT_LEARNER;
    size_t room = 0;
    for (size_t i = 0; i < image->learner.count; i++)
        room += strlen(image->learner.tensors[i].name) + sizeof prefix;
    image->names = ocdm__allocate(room, 1);
    if (image->names == NULL)
        return ocdm__fail_memory(error, "a checkpoint");
    char *at = image->names;
    image->first = image->count;
    for (size_t i = 0; i < image->learner.count; i++) {
        struct ocdm__tensor *tensor = &image->tensors[image->count++];
        size_t length = strlen(image->learner.tensors[i].name);
        *tensor = image->learner.tensors[i];
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
    OCDM_TRY(ocdm__output_open_memory(&image->numbers, "a checkpoint", error));
    OCDM_TRY(ocdm__output_open_memory(&image->settings, "a checkpoint", error));
    if (run->learner != NULL)
        OCDM_TRY(run->learner->functions->save(run->learner->state, true, &image->learner, error));
    image->tensors = ocdm__allocate(image->learner.count + OWN_TENSORS, sizeof *image->tensors);
    return image->tensors != NULL ? OCDM_OK : ocdm__fail_memory(error, "a checkpoint");
}

static void close_image(struct image *image)
{
    ocdm__output_abandon(&image->numbers);
    ocdm__output_abandon(&image->settings);
    ocdm__tensor_list_clear(&image->learner);
    ocdm__release(image->memory);
    ocdm__release(image->tensors);
    ocdm__release(image->names);
}

/* The memory as bytes: a file within the file. */
static ocdm_status take_memory(struct image *image, const ocdm_memory *memory, ocdm_error *error)
{
    OCDM_TRY(ocdm_memory_save_bytes(memory, NULL, 0, &image->memory_size, error));
    image->memory = ocdm__allocate(image->memory_size, 1);
    if (image->memory == NULL)
        return ocdm__fail_memory(error, "a checkpoint");
    return ocdm_memory_save_bytes(memory, image->memory, image->memory_size, &image->memory_size, error);
}

/* Elements of eight bytes come first, single bytes last, so that all are aligned. */
static ocdm_status build(struct image *image, const ocdm__run *run, uint64_t log_size, ocdm_error *error)
{
    put_position(image, run, log_size);
    put_times(image, run);
    put_curve(image, run->curve);
    put_evaluations(image, run);
    put_class_weights(image, run);
    put_protocol(image, run);
    ocdm_status status = ocdm__output_check(&image->numbers, error);
    const unsigned char *data = (const unsigned char *)image->numbers.buffer;
    for (size_t i = 0; i < image->count; data += image->tensors[i++].size)
        image->tensors[i].data = data;
    if (status == OCDM_OK)
        status = name_learner_tensors(image, error);
    ocdm__run_settings_write(&image->settings, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    if (status == OCDM_OK)
        status = ocdm__output_check(&image->settings, error);
    if (status == OCDM_OK && run->memory != NULL)
        status = take_memory(image, run->memory, error);
    const ocdm__replay *replays = &run->replays;
    if (replays->kept != NULL)
        image->tensors[image->count++] =
            ocdm__tensor_of(OCDM__CHECKPOINT_REPLAYS, OCDM__F32, replays->kept, replays->capacity * replays->width);
    image->tensors[image->count++] = ocdm__tensor_of("settings", OCDM__U8, image->settings.buffer, image->settings.used);
    const void *memory = image->memory != NULL ? (const void *)image->memory : "";
    image->tensors[image->count++] = ocdm__tensor_of("memory", OCDM__U8, memory, image->memory_size);
    if (run->misses != NULL)
        image->tensors[image->count++] =
            ocdm__tensor_of(OCDM__CHECKPOINT_MISSES, OCDM__U8, run->misses, (size_t)((run->step + 7) / 8));
    image->tensors[image->count++] = ocdm__tensor_of("groups", OCDM__U8, run->groups, run->stream->table.class_count);
    return status;
}

static ocdm_status write_file(const struct image *image, const ocdm__learner *learner, const char *path, ocdm_error *error)
{
    char names[OCDM__RECORD_KINDS][OCDM__RECORD_NOTE];
    struct ocdm__note notes[4 + OCDM__RECORD_KINDS] = {{.key = "format", .value = OCDM__CHECKPOINT_FORMAT},
                                                       {.key = "version", .value = OCDM__CHECKPOINT_VERSION},
                                                       {.key = "program", .value = ocdm_version()}};
    for (unsigned i = 0; i < OCDM__RECORD_KINDS; i++) {
        ocdm__record_names((enum ocdm__record_kind)i, names[i]);
        notes[3 + i] = (struct ocdm__note){.key = ocdm__record_key((enum ocdm__record_kind)i), .value = names[i]};
    }
    size_t count = 3 + OCDM__RECORD_KINDS;
    if (learner != NULL && learner->instructions[0] != '\0')
        notes[count++] = (struct ocdm__note){.key = OCDM__CHECKPOINT_INSTRUCTIONS, .value = learner->instructions};
    const ocdm__learner_file file = {.notes = notes,
                                     .note_count = count,
                                     .tensors = image->tensors,
                                     .tensor_count = image->count,
                                     .learner = learner,
                                     .saved = &image->learner,
                                     .first = image->first};
    ocdm__output output;
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm_status status = ocdm__learner_file_write(&output, &file, error);
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
        status = write_file(&image, run->learner, path, error);
    close_image(&image);
    return status;
}
