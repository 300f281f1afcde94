/* Features as the payload of a stream file. */
#include "stream/features.h"

#include "base/bytes.h"

/* ---- payload -------------------------------------------------------------------------------------------------------- */

const char *const ocdm__standardize_names[] = {"none", "all", "first-task", NULL};
const char *const ocdm__feature_type_names[] = {"f32", "f16", NULL};

/* Sums over the training part, each feature measured from its first value: squares of small differences lose little. */
struct moments {
    double *sum, *squares;
    float *first;
    bool *varies;
    uint64_t count;
};

static ocdm_status add_training_rows(ocdm__feature_payload *payload, struct moments *moments, const ocdm__progress *progress,
                                     ocdm_error *error)
{
    const ocdm__selection *selection = payload->selection;
    const float *row = payload->row;
    for (size_t i = 0; i < selection->count; i++) {
        if (i % 4096 == 0) {
            ocdm__progress_tell(progress, "standardizing", i, selection->count);
            if (ocdm__progress_stopped(progress))
                return ocdm__fail(error, OCDM_STOPPED, "", "stopped while standardizing");
        }
        if (selection->chosen[i].part != OCDM__TRAIN || selection->chosen[i].task > payload->last_task)
            continue;
        OCDM_TRY(payload->rows->read(payload->rows, selection->chosen[i].sample, payload->row, error));
        if (moments->count++ == 0)
            memcpy(moments->first, row, payload->rows->width * sizeof *row);
        for (size_t k = 0; k < payload->rows->width; k++) {
            double difference = (double)row[k] - (double)moments->first[k];
            moments->sum[k] += difference;
            moments->squares[k] += difference * difference;
            moments->varies[k] |= row[k] != moments->first[k];
        }
    }
    if (moments->count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "leave --standardize out, or give training samples",
                          "no training sample to standardize the features by");
    return OCDM_OK;
}

static ocdm_status find_moments(ocdm__feature_payload *payload, const ocdm__progress *progress, ocdm_error *error)
{
    size_t width = payload->rows->width;
    ocdm__arena arena = {.last = NULL};
    struct moments moments = {.sum = ocdm__arena_new(&arena, width, sizeof(double)),
                              .squares = ocdm__arena_new(&arena, width, sizeof(double)),
                              .first = ocdm__arena_new(&arena, width, sizeof(float)),
                              .varies = ocdm__arena_new(&arena, width, sizeof(bool))};
    ocdm_status status = ocdm__arena_check(&arena, "the mean of the features", error);
    OCDM_THEN(status, ocdm__new(&payload->mean, width, sizeof(float), "the mean of the features", error));
    OCDM_THEN(status, ocdm__new(&payload->deviation, width, sizeof(float), "the mean of the features", error));
    OCDM_THEN(status, add_training_rows(payload, &moments, progress, error));
    /* A feature that never varies has deviation 0, and becomes 0. */
    double n = (double)moments.count;
    for (size_t i = 0; status == OCDM_OK && i < width; i++) {
        double mean = moments.sum[i] / n;
        double variance = moments.squares[i] / n - mean * mean;
        payload->mean[i] = (float)((double)moments.first[i] + mean);
        payload->deviation[i] = moments.varies[i] && variance > 0 ? (float)sqrt(variance) : 0;
    }
    ocdm__arena_clear(&arena);
    return status;
}

/* ---- filling --------------------------------------------------------------------------------------------------------- */

/* Dividing by a deviation near 0 may exceed the range of 32 bits, and 16 bits hold little to begin with. */
static ocdm_status check_range(const ocdm__feature_payload *payload, size_t sample, ocdm_error *error)
{
    const char *file = payload->file != NULL ? payload->file : "features";
    bool half = payload->source.shape.dtype == OCDM__F16;
    for (size_t i = 0; i < payload->rows->width; i++) {
        float value = payload->row[i];
        if (!isfinite(value))
            return ocdm__fail(error, OCDM_BAD_FILE, "leave --standardize out, or take the feature out of the file",
                              "%s: feature %zu of sample %zu is too large for 32 bits when it is standardized", file, i,
                              sample);
        if (half && fabsf(value) >= 65520.0F)
            return ocdm__fail(error, OCDM_BAD_FILE, "store them as f32",
                              "%s: feature %zu of sample %zu is %g, which f16 cannot hold", file, i, sample, (double)value);
    }
    return OCDM_OK;
}

static ocdm_status fill(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    ocdm__feature_payload *payload = state;
    const float *row = payload->row;
    size_t width = payload->rows->width;
    for (size_t i = 0; i < count; i++) {
        size_t sample = payload->selection->chosen[first + i].sample;
        OCDM_TRY(payload->rows->read(payload->rows, sample, payload->row, error));
        if (payload->mean != NULL)
            ocdm__standardize_row(payload->row, payload->mean, payload->deviation, width);
        OCDM_TRY(check_range(payload, sample, error));
        for (size_t k = 0; payload->source.shape.dtype == OCDM__F32 && k < width; k++, bytes += 4)
            ocdm__put_float(bytes, row[k]);
        for (size_t k = 0; payload->source.shape.dtype == OCDM__F16 && k < width; k++) {
            uint16_t half = ocdm__float_to_half(row[k]);
            *bytes++ = (unsigned char)(half & 255);
            *bytes++ = (unsigned char)(half >> 8);
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__feature_payload_open(ocdm__feature_payload *payload, ocdm__feature_rows *rows,
                                       const ocdm__selection *selection, enum ocdm__dtype dtype, enum ocdm__standardize by,
                                       const ocdm__progress *progress, ocdm_error *error)
{
    *payload = (ocdm__feature_payload){.rows = rows, .selection = selection, .last_task = UINT32_MAX};
    payload->source = (ocdm__payload_source){
        .shape = {.kind = OCDM__FEATURES, .dtype = dtype, .width = rows->width}, .fill = fill, .state = payload};
    OCDM_TRY(ocdm__new(&payload->row, rows->width, sizeof *payload->row, "a row of features", error));
    for (size_t i = 0; i < selection->count; i++) {
        const ocdm__chosen *chosen = &selection->chosen[i];
        if (chosen->sample >= rows->count)
            return ocdm__fail(error, OCDM_BAD_FILE, "row i of the features must belong to sample i of the labels",
                              "the features have %llu rows, but sample %u needs one", (unsigned long long)rows->count,
                              chosen->sample);
        if (by == OCDM__BY_FIRST_TASK && chosen->part == OCDM__TRAIN && chosen->task < payload->last_task)
            payload->last_task = chosen->task;
    }
    if (by == OCDM__AS_THEY_ARE)
        return OCDM_OK;
    OCDM_TRY(find_moments(payload, progress, error));
    payload->source.shape.mean = payload->mean;
    payload->source.shape.deviation = payload->deviation;
    return OCDM_OK;
}

void ocdm__feature_payload_close(ocdm__feature_payload *payload)
{
    OCDM_RELEASE(payload->mean, payload->deviation, payload->row);
    *payload = (ocdm__feature_payload){.rows = NULL};
}
