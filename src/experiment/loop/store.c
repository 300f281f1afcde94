/*
 * How samples are stored: the bytes that they take, and rows of features as f32, f16 and u8.
 *
 * A sample that is replayed is encoded and decoded again, which gives the same numbers as if it had been kept in that form.
 */
#include "experiment/loop/store.h"

#include "base/bytes.h"

/* ---- bytes ----------------------------------------------------------------------------------------------------------- */

#define LARGEST_HALF 65504.0f
#define STEPS 255 /* between the lowest and the highest value of a byte */

/* Beside the payload. */
static uint64_t other_bytes(const ocdm__run_settings *settings, const ocdm__stream *stream)
{
    uint64_t classes = stream->table.class_count, bits = ocdm__bits_size(stream->table.class_count);
    uint64_t bytes = stream->table.known != NULL ? 2 * bits : bits;
    if (settings->network.loss.dark > 0)
        bytes += 4 * classes;
    if (settings->replay_policy == OCDM__REPLAY_LOSS)
        bytes += 4;
    return bytes;
}

/* Headers take about 600 bytes; photographs of 64 to 224 pixels then take about 0.15 bytes for a pixel at quality 50, and the
 * root of how much finer libjpeg quantises at others. */
uint64_t ocdm__store_jpeg_bytes(uint32_t quality, uint32_t pixels)
{
    double scale = quality < 50 ? 5000.0 / quality : quality < 100 ? 200.0 - 2.0 * quality : 1;
    return 640 + (uint64_t)(0.15 * pixels * pixels * sqrt(100 / scale));
}

ocdm__store_bytes ocdm__store_bytes_of(const ocdm__run_settings *settings, const ocdm__stream *stream)
{
    const ocdm__payload_shape *shape = &stream->shape;
    ocdm__store_bytes bytes = {.shared = 0};
    uint64_t each = settings->store == OCDM__STORE_U8 ? 1 : settings->store == OCDM__STORE_F16 ? 2 : 4; /* bytes of a number */
    if (shape->kind == OCDM__FEATURES)
        bytes.sample = each * shape->width;
    else if (settings->store == OCDM__STORE_JPEG)
        bytes.sample = ocdm__store_jpeg_bytes(settings->store_quality, settings->store_pixels);
    else if (shape->kind == OCDM__IMAGES)
        bytes.sample = (uint64_t)shape->channels * shape->width * shape->height;
    if (bytes.sample > 0)
        bytes.sample += other_bytes(settings, stream);
    if (settings->store == OCDM__STORE_U8)
        bytes.shared = 2 * sizeof(float) * (uint64_t)shape->width;
    return bytes;
}

/* Rows as f32 that the bytes hold. */
static uint64_t plain_rows(const ocdm__run_settings *settings, const ocdm__stream *stream)
{
    return settings->memory_bytes / (4 * (uint64_t)stream->shape.width + other_bytes(settings, stream));
}

/* A store must fit what the stream has, and the bytes must hold something. */
ocdm_status ocdm__store_fill_memory(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                    ocdm_error *error)
{
    bool features = stream->shape.kind == OCDM__FEATURES, jpeg = settings->store == OCDM__STORE_JPEG;
    const unsigned long long wanted = settings->memory_bytes;
    if (wanted == 0 && settings->store == OCDM__STORE_NONE)
        return OCDM_OK;
    if (settings->own_inputs)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give --memory, and keep samples as you like",
                          "--memory-bytes and --store: the learner reads its samples itself");
    if (settings->store != OCDM__STORE_NONE && features == jpeg)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, jpeg ? "such as --store u8" : "such as --store jpeg:75:128",
                          "%s: --store %s is for %s", path, ocdm__run_stores[settings->store], jpeg ? "images" : "features");
    if (wanted == 0)
        return OCDM_OK;
    const ocdm__store_bytes bytes = ocdm__store_bytes_of(settings, stream);
    if (bytes.sample == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give --memory, or --store jpeg:QUALITY:PIXELS for images",
                          "%s: samples of the stream have no fixed size", path);
    if (settings->store == OCDM__STORE_U8 && plain_rows(settings, stream) < 2)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give more --memory-bytes, or --memory",
                          "--store u8 learns the ranges of features from samples as f32, and %llu bytes do not hold two",
                          wanted);
    uint64_t samples = wanted > bytes.shared ? (wanted - bytes.shared) / bytes.sample : 0;
    if (samples == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give more, or a --store that needs fewer",
                          "--memory-bytes %llu: a sample takes %llu bytes", wanted,
                          (unsigned long long)bytes.shared + bytes.sample);
    settings->memory = samples < OCDM_MAX_CAPACITY ? (uint32_t)samples : OCDM_MAX_CAPACITY;
    return OCDM_OK;
}

/* ---- ranges of features ------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__store_open(ocdm__store *store, const ocdm__run_settings *settings, const ocdm__stream *stream,
                             ocdm_error *error)
{
    *store = (ocdm__store){.kind = settings->store, .width = stream->shape.width, .learning = OCDM__STORE_LEARNING};
    if (store->kind != OCDM__STORE_U8) {
        store->learning = 0;
        return OCDM_OK;
    }
    if (settings->memory_bytes > 0 && plain_rows(settings, stream) < store->learning)
        store->learning = (size_t)plain_rows(settings, stream);
    OCDM_TRY(ocdm__new(&store->low, store->width, sizeof *store->low, "the ranges of features", error));
    OCDM_TRY(ocdm__new(&store->step, store->width, sizeof *store->step, "the ranges of features", error));
    return OCDM_OK;
}

void ocdm__store_clear(ocdm__store *store)
{
    ocdm__release(store->low);
    ocdm__release(store->step);
    *store = (ocdm__store){.width = 0};
}

/* Once all rows are learned, steps instead of highest values. A feature that was the same in all of them takes the range of all
 * features together: a word that none of the first texts has may come later. */
void ocdm__store_learn(ocdm__store *store, const float *row)
{
    if (store->learned == store->learning)
        return;
    for (size_t i = 0; i < store->width; i++) {
        bool first = store->learned == 0;
        store->low[i] = first ? row[i] : fminf(store->low[i], row[i]);
        store->step[i] = first ? row[i] : fmaxf(store->step[i], row[i]);
    }
    if (++store->learned < store->learning || store->width == 0)
        return;
    float lowest = store->low[0], highest = store->step[0];
    for (size_t i = 1; i < store->width; i++) {
        lowest = fminf(lowest, store->low[i]);
        highest = fmaxf(highest, store->step[i]);
    }
    for (size_t i = 0; i < store->width; i++) {
        bool constant = store->low[i] == store->step[i];
        float low = constant ? lowest : store->low[i], high = constant ? highest : store->step[i];
        store->low[i] = low;
        store->step[i] = (float)(((double)high - (double)low) / STEPS);
    }
}

/* ---- encoding ---------------------------------------------------------------------------------------------------------- */

/* Of a byte, the nearest of the 256 values of a feature, the upper one of two that are equally near; the lowest or highest
 * beyond the range. In double precision, so that every CPU rounds alike. Of a half, values beyond the range become the largest
 * ones. */
void ocdm__store_pass(const ocdm__store *store, float *row)
{
    for (size_t i = 0; store->kind == OCDM__STORE_U8 && i < store->width; i++) {
        double low = (double)store->low[i], step = (double)store->step[i];
        double place = step > 0 ? floor(((double)row[i] - low) / step + 0.5) : 0;
        unsigned byte = place > 0 ? place < STEPS ? (unsigned)place : STEPS : 0;
        row[i] = (float)(low + byte * step);
    }
    for (size_t i = 0; store->kind == OCDM__STORE_F16 && i < store->width; i++) {
        float inside = row[i] > LARGEST_HALF ? LARGEST_HALF : row[i] < -LARGEST_HALF ? -LARGEST_HALF : row[i];
        row[i] = ocdm__half_to_float(ocdm__float_to_half(inside));
    }
}
