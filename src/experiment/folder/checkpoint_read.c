/* Reads checkpoints. Nothing in the file is trusted before it is checked. */
#include "experiment/folder/checkpoint.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "experiment/folder/saved_run.h"

static const char damaged_hint[] = "the file is damaged or not a checkpoint of this program";

static ocdm_status refuse(const ocdm__checkpoint *checkpoint, const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_FILE, damaged_hint, "%s: %s", checkpoint->file.name, what);
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

/* Whether a tensor has this many records. */
static bool holds(const ocdm__checkpoint *checkpoint, const char *name, enum ocdm__record_kind kind, size_t count)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, kind);
    return layout.width > 0 && numbers_in(checkpoint, name) == layout.width * count;
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
    if (!complete || !holds(checkpoint, "position", OCDM__RECORD_POSITION, 1) ||
        !holds(checkpoint, "times", OCDM__RECORD_TIMES, 1))
        return refuse(checkpoint, "a tensor is missing or has another shape", error);
    return OCDM_OK;
}

static const unsigned char *data_of(const ocdm__checkpoint *checkpoint, const char *name)
{
    return ocdm__safetensors_find(&checkpoint->tensors, name)->data;
}

ocdm_status ocdm__checkpoint_open(ocdm__checkpoint *checkpoint, const char *path, ocdm_error *error)
{
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
    OCDM_TRY(ocdm__map_file(&checkpoint->file, path, error));
    OCDM_TRY(ocdm__safetensors_read(&checkpoint->tensors, path, checkpoint->file.bytes, checkpoint->file.size, error));
    if (ocdm__safetensors_note(&checkpoint->tensors, "checksum") == NULL)
        OCDM_TRY(refuse(checkpoint, "the checksum is missing", error));
    OCDM_TRY(check_format(checkpoint, error));
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_POSITION);
    const unsigned char *at = data_of(checkpoint, "position");
    ocdm__record_get(&layout, &at, &checkpoint->position);
    return OCDM_OK;
}

void ocdm__checkpoint_close(ocdm__checkpoint *checkpoint)
{
    ocdm__safetensors_close(&checkpoint->tensors);
    ocdm__unmap_file(&checkpoint->file);
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
}

/* NULL for a checkpoint of an earlier version, and for one whose groups are for another number of classes. */
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

/* Copies the weights of the classes to `weights`; false for a run without them. */
static bool copy_class_weights(const ocdm__checkpoint *checkpoint, double *weights, size_t class_count)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, "class_weights");
    if (tensor == NULL || tensor->dtype != OCDM__F64 || tensor->size != 8 * class_count)
        return false;
    for (size_t c = 0; c < class_count; c++)
        weights[c] = ocdm__get_double(tensor->data + 8 * c);
    return true;
}

ocdm_status ocdm__checkpoint_compare(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    const struct ocdm__tensor *settings = ocdm__safetensors_find(&checkpoint->tensors, "settings");
    const uint64_t checksum[] = {checkpoint->position.checksum, checkpoint->position.checksum_2};
    size_t class_count = run->stream->table.class_count;
    double *weights = ocdm__allocate(class_count, sizeof *weights);
    if (weights == NULL)
        return ocdm__fail_memory(error, "the weights of classes");
    ocdm__saved_run saved = {.name = checkpoint->file.name,
                             .settings = (const char *)settings->data,
                             .settings_length = settings->size,
                             .groups = groups_of(checkpoint, class_count),
                             .class_weights = copy_class_weights(checkpoint, weights, class_count) ? weights : NULL};
    const ocdm__asked_run asked = ocdm__asked_of(run);
    ocdm__checksum_text(checksum, saved.checksum);
    ocdm_status status = ocdm__saved_run_compare(&saved, &asked, error);
    ocdm__release(weights);
    return status;
}

/* ---- restoring --------------------------------------------------------------------------------------------------------- */

/* Whether so many of `count` samples can have been skipped: only a run that reads samples skips some. */
static bool can_skip(const ocdm__run *run, uint64_t skipped, uint64_t count)
{
    return skipped <= (run->inputs != NULL ? count : 0);
}

static bool position_fits(const ocdm__checkpoint_position *position, const ocdm__run *run)
{
    const ocdm__schedule *schedule = &run->schedule;
    uint64_t step = position->step, evaluations = position->evaluations;
    size_t tasks = schedule->order.task_count;
    return evaluations <= tasks && step <= ocdm__schedule_steps(schedule) &&
           (evaluations == 0 || step >= schedule->task_ends[evaluations - 1]) &&
           (evaluations == tasks || step <= schedule->task_ends[evaluations]) &&
           can_skip(run, position->skipped, step * schedule->batch);
}

/* An evaluation has the averages of all classes, of each group, and of each task that was tested. */
static bool evaluations_fit(const ocdm__checkpoint *checkpoint, const ocdm__run *run, const char *name, size_t versions)
{
    const ocdm__record_layout evaluation = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_EVALUATION);
    const ocdm__record_layout averages = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_AVERAGES);
    size_t numbers = 0;
    for (size_t i = 0; i < checkpoint->position.evaluations; i++)
        numbers += evaluation.width + averages.width * (1 + OCDM__GROUPS + run->schedule.tested[i]);
    return numbers_in(checkpoint, name) == versions * numbers;
}

/* Those of the versions of the weights that are not reported. */
static bool others_fit(const ocdm__checkpoint *checkpoint, const ocdm__run *run)
{
    size_t others = run->version_count - 1;
    return others == 0 ||
           (has(checkpoint, OCDM__CHECKPOINT_OTHER_EVALUATIONS, OCDM__F64) &&
            has(checkpoint, OCDM__CHECKPOINT_OTHER_SCORES, OCDM__F64) &&
            evaluations_fit(checkpoint, run, OCDM__CHECKPOINT_OTHER_EVALUATIONS, others) &&
            holds(checkpoint, OCDM__CHECKPOINT_OTHER_SCORES, OCDM__RECORD_SCORE, others * run->stream->table.class_count));
}

static size_t points_in(const ocdm__checkpoint *checkpoint)
{
    const ocdm__record_layout point = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_POINT);
    return point.width > 0 ? numbers_in(checkpoint, "curve") / point.width : 0;
}

/* The curve keeps one of `stride` logged steps; the stride doubles when the curve is full. See ocdm__curve_add. */
static bool curve_fits(const ocdm__checkpoint_position *position, size_t points)
{
    uint64_t offered = position->curve_offered, stride = position->curve_stride;
    if (offered == 0)
        return stride <= 1 && points == 1;
    bool doubles = stride > 0 && (stride & (stride - 1)) == 0;
    return doubles && offered <= position->step && points == (offered - 1) / stride + 2;
}

/* Whether position and sizes of tensors fit the run. */
static ocdm_status check_position(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    size_t points = points_in(checkpoint);
    if (!position_fits(&checkpoint->position, run))
        return refuse(checkpoint, "the position is none of this run", error);
    bool fits = evaluations_fit(checkpoint, run, "evaluations", 1) && others_fit(checkpoint, run) && points >= 1 &&
                points <= OCDM__CURVE_ROOM && curve_fits(&checkpoint->position, points) &&
                holds(checkpoint, "curve", OCDM__RECORD_POINT, points) &&
                holds(checkpoint, "class_scores", OCDM__RECORD_SCORE, run->stream->table.class_count);
    return fits ? OCDM_OK : refuse(checkpoint, "evaluations or curve have another size", error);
}

/* From `*at` on, which moves. */
static ocdm_status restore_evaluations_of(const ocdm__checkpoint *checkpoint, const ocdm__run *run, const unsigned char **at,
                                          ocdm__evaluation *evaluations, ocdm_error *error)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_EVALUATION);
    const ocdm__record_layout averages = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_AVERAGES);
    for (size_t i = 0; i < run->evaluation_count; i++) {
        ocdm__evaluation *evaluation = &evaluations[i];
        OCDM_TRY(ocdm__evaluation_start(evaluation, run->schedule.tested[i], error));
        ocdm__record_get(&layout, at, evaluation);
        if (!can_skip(run, evaluation->skipped, run->tests.ends[evaluation->task_count - 1]))
            return refuse(checkpoint, "an evaluation skipped more samples than there are", error);
        ocdm__record_get(&averages, at, &evaluation->total);
        for (size_t g = 0; g < OCDM__GROUPS; g++)
            ocdm__record_get(&averages, at, &evaluation->groups[g]);
        for (size_t k = 0; k < evaluation->task_count; k++)
            ocdm__record_get(&averages, at, &evaluation->tasks[k]);
    }
    return OCDM_OK;
}

static void restore_scores_of(const ocdm__checkpoint *checkpoint, size_t count, const unsigned char **at,
                              ocdm__class_score *scores)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_SCORE);
    for (size_t c = 0; c < count; c++)
        ocdm__record_get(&layout, at, &scores[c]);
}

static ocdm_status restore_version(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm__run_version *version,
                                   const unsigned char *at[2], ocdm_error *error)
{
    restore_scores_of(checkpoint, run->stream->table.class_count, &at[1], version->scores);
    return restore_evaluations_of(checkpoint, run, &at[0], version->evaluations, error);
}

static ocdm_status restore_evaluations(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    const unsigned char *at[] = {data_of(checkpoint, "evaluations"), data_of(checkpoint, "class_scores")};
    run->evaluation_count = (size_t)checkpoint->position.evaluations;
    ocdm_status status = restore_version(checkpoint, run, &run->versions[run->reported], at, error);
    if (status != OCDM_OK || run->version_count == 1)
        return status;
    at[0] = data_of(checkpoint, OCDM__CHECKPOINT_OTHER_EVALUATIONS);
    at[1] = data_of(checkpoint, OCDM__CHECKPOINT_OTHER_SCORES);
    for (size_t v = 0; v < run->version_count && status == OCDM_OK; v++)
        if (v != run->reported)
            status = restore_version(checkpoint, run, &run->versions[v], at, error);
    return status;
}

static void restore_curve(const ocdm__checkpoint *checkpoint, ocdm__curve *curve)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_POINT);
    const unsigned char *at = data_of(checkpoint, "curve");
    curve->offered = checkpoint->position.curve_offered;
    curve->stride = checkpoint->position.curve_stride;
    curve->count = points_in(checkpoint) - 1;
    for (size_t i = 0; i < curve->count; i++)
        ocdm__record_get(&layout, &at, &curve->points[i]);
    ocdm__record_get(&layout, &at, &curve->last);
}

/* A checkpoint of an earlier version does not say what its steps cost. */
static ocdm_status restore_cost(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_COST);
    ocdm__run_cost *cost = &run->cost;
    bool has_cost = has(checkpoint, OCDM__CHECKPOINT_COST, OCDM__F64);
    if (!has_cost && run->misses == NULL) {
        *cost = (ocdm__run_cost){.operations = NAN, .updates = NAN};
        return OCDM_OK;
    }
    if (!has_cost || !holds(checkpoint, OCDM__CHECKPOINT_COST, OCDM__RECORD_COST, 1))
        return refuse(checkpoint, "what the steps cost is missing or of another size", error);
    const unsigned char *at = data_of(checkpoint, OCDM__CHECKPOINT_COST);
    ocdm__record_get(&layout, &at, cost);
    double steps = (double)checkpoint->position.step;
    if (!(cost->missed >= 0 && cost->missed <= steps && cost->missed_samples >= 0 &&
          cost->missed_samples <= steps * (double)run->schedule.batch && cost->behind >= 0 && isfinite(cost->behind)))
        return refuse(checkpoint, "what the steps cost is impossible", error);
    return OCDM_OK;
}

static ocdm_status restore_misses(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    size_t bytes = (size_t)((checkpoint->position.step + 7) / 8);
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, OCDM__CHECKPOINT_MISSES);
    double missed = 0;
    if (run->misses == NULL)
        return OCDM_OK;
    if (tensor == NULL || tensor->dtype != OCDM__U8 || tensor->size != bytes)
        return refuse(checkpoint, "the steps that were missed are not there or of another number", error);
    memcpy(run->misses, tensor->data, bytes);
    for (uint64_t step = 0; step < 8 * (uint64_t)bytes; step++)
        missed += ocdm__run_missed(run, step) && step < checkpoint->position.step;
    return missed == run->cost.missed ? OCDM_OK : refuse(checkpoint, "more or fewer steps were missed than it says", error);
}

/* One evaluation at any time has been made for each step that asks for one; the last may be due. */
static ocdm_status restore_probes(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    ocdm__probes *probes = &run->probes;
    uint64_t every = run->settings->eval_every, step = checkpoint->position.step;
    if (every == 0)
        return OCDM_OK;
    size_t due = (size_t)(step / every) + (step % every != 0 && step == ocdm__schedule_steps(&run->schedule));
    size_t count = has(checkpoint, OCDM__CHECKPOINT_PROBES, OCDM__F64)
                       ? numbers_in(checkpoint, OCDM__CHECKPOINT_PROBES) / probes->versions
                       : SIZE_MAX;
    bool open = ocdm__run_probes_after(run, step) && count + 1 == due;
    if (count == SIZE_MAX || (count != due && !open) || numbers_in(checkpoint, OCDM__CHECKPOINT_PROBES) % probes->versions != 0)
        return refuse(checkpoint, "evaluations at any time are missing, or there are too many", error);
    ocdm_status status = ocdm__probes_reserve(probes, count, error);
    const unsigned char *at = data_of(checkpoint, OCDM__CHECKPOINT_PROBES);
    for (size_t i = 0; status == OCDM_OK && i < count * probes->versions; i++) {
        probes->map[i] = ocdm__get_double(at + 8 * i);
        if (!isnan(probes->map[i]) && !(probes->map[i] >= 0 && probes->map[i] <= 1))
            status = refuse(checkpoint, "a mAP is not a fraction", error);
    }
    probes->count = status == OCDM_OK ? count : 0;
    return status;
}

static void restore_times(const ocdm__checkpoint *checkpoint, ocdm__run *run)
{
    const ocdm__record_layout layout = ocdm__record_layout_of(&checkpoint->tensors, OCDM__RECORD_TIMES);
    const unsigned char *at = data_of(checkpoint, "times");
    ocdm__record_get(&layout, &at, &run->earlier);
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
    ocdm_error why;
    ocdm_status status = ocdm_memory_load_bytes(tensor->data, tensor->size, NULL, NULL, &memory, &why);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, why.hint, "%s: %s", checkpoint->file.name, why.message);
    if (!memory_fits(memory, run)) {
        ocdm_memory_destroy(memory);
        return refuse(checkpoint, "the memory is not of this run", error);
    }
    ocdm_memory_destroy(run->memory);
    run->memory = memory;
    return OCDM_OK;
}

static ocdm_status restore_replays(const ocdm__checkpoint *checkpoint, ocdm__replay *replays, ocdm_error *error)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, OCDM__CHECKPOINT_REPLAYS);
    size_t bytes = replays->capacity * replays->width * sizeof *replays->kept;
    if (replays->kept == NULL)
        return OCDM_OK;
    if (tensor == NULL || tensor->dtype != OCDM__F32 || tensor->size != bytes)
        return refuse(checkpoint, "what is kept beside the memory's samples is missing or of another size", error);
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t bits = ocdm__get_u32(tensor->data + 4 * i);
        memcpy(&replays->kept[i], &bits, sizeof bits);
        if (!isfinite(replays->kept[i]))
            return refuse(checkpoint, "what is kept beside the memory's samples is not of finite numbers", error);
    }
    return OCDM_OK;
}

/* The learner gets its own tensors, without the prefix. */
static ocdm_status restore_learner(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    static const char prefix[] = OCDM__CHECKPOINT_LEARNER;
    const size_t length = sizeof prefix - 1;
    if (run->learner == NULL)
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
    const struct ocdm__weights saved = {checkpoint->file.name, &file};
    ocdm_status status = run->learner->functions->load(run->learner->state, &saved, error);
    ocdm__release(tensors);
    return status;
}

bool ocdm__checkpoint_has_other_instructions(const ocdm__checkpoint *checkpoint, const ocdm__run *run, char *text, size_t room)
{
    const struct ocdm__note *made = ocdm__safetensors_note(&checkpoint->tensors, OCDM__CHECKPOINT_INSTRUCTIONS);
    const char *used = run->learner != NULL ? run->learner->instructions : "";
    if (made == NULL || used[0] == '\0' || ocdm__note_is(made, used))
        return false;
    snprintf(text, room, "%.*s", (int)(made->value_length < 64 ? made->value_length : 64), made->value);
    return true;
}

ocdm_status ocdm__checkpoint_restore(const ocdm__checkpoint *checkpoint, ocdm__run *run, uint64_t *log_size, ocdm_error *error)
{
    OCDM_TRY(check_position(checkpoint, run, error));
    OCDM_TRY(restore_memory(checkpoint, run, error));
    OCDM_TRY(restore_replays(checkpoint, &run->replays, error));
    OCDM_TRY(restore_learner(checkpoint, run, error));
    OCDM_TRY(restore_evaluations(checkpoint, run, error));
    OCDM_TRY(restore_cost(checkpoint, run, error));
    OCDM_TRY(restore_misses(checkpoint, run, error));
    OCDM_TRY(restore_probes(checkpoint, run, error));
    restore_curve(checkpoint, run->curve);
    restore_times(checkpoint, run);
    run->step = checkpoint->position.step;
    run->earlier_skipped = checkpoint->position.skipped;
    *log_size = checkpoint->position.log_size;
    return OCDM_OK;
}
