/*
 * Writes stream files: the header, the tables, then features or images in blocks, then the checksums of their rows and of all.
 * Also makes the notes on where a stream comes from: the sources with their SHA-256, and the digest of the ids.
 */
#include "stream/file.h"

#include <sys/stat.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/output.h"
#include "stream/labelled_set.h"

/* ---- provenance ----------------------------------------------------------------------------------------------------- */

void ocdm__digest_ids(const ocdm__stream_table *table, char text[OCDM__SHA256_TEXT])
{
    ocdm__sha256 sha;
    ocdm__sha256_begin(&sha);
    for (size_t i = 0; i < table->sample_count; i++) {
        char start[32];
        size_t length;
        const char *id = ocdm__text_at(&table->ids, i, &length);
        int count = snprintf(start, sizeof start, "%" PRIu32 "\t%s\t", table->tasks[i],
                             table->parts[i] == OCDM__TEST ? "test" : "train");
        ocdm__sha256_add(&sha, start, (size_t)count);
        ocdm__sha256_add(&sha, id, length);
        ocdm__sha256_add(&sha, "\n", 1);
    }
    ocdm__sha256_end(&sha, text);
}

ocdm_status ocdm__provenance_make(ocdm__provenance *provenance, const char *command, const char *image_root,
                                  const char *const *files, size_t file_count, const ocdm__stream_table *table,
                                  const ocdm__progress *progress, ocdm_error *error)
{
    ocdm__output *sources = &provenance->sources;
    OCDM_TRY(ocdm__output_open_memory(sources, "the list of sources", error));
    ocdm__json_open(sources, NULL, '[');
    for (size_t i = 0; i < file_count; i++) {
        char digest[OCDM__SHA256_TEXT];
        struct stat facts = {.st_size = 0};
        const char *slash = strrchr(files[i], '/');
        OCDM_TRY(ocdm__sha256_of_file(files[i], progress, digest, error));
        stat(files[i], &facts);
        ocdm__json_open(sources, NULL, '{');
        ocdm__json_string(sources, "file", slash != NULL && slash[1] != '\0' ? slash + 1 : files[i]);
        ocdm__json_count(sources, "bytes", (uint64_t)facts.st_size);
        ocdm__json_string(sources, "sha256", digest);
        ocdm__json_close(sources, '}');
    }
    ocdm__json_close(sources, ']');
    ocdm__output_write(sources, "", 1);
    OCDM_TRY(ocdm__output_check(sources, error));
    ocdm__digest_ids(table, provenance->ids);
    const struct ocdm__note notes[] = {
        {.key = "format", .value = "ocdm-stream"},
        {.key = "version", .value = table->known != NULL ? OCDM__PARTIAL_VERSION : OCDM__STREAM_VERSION},
        {.key = "command", .value = command},
        {.key = "sources", .value = sources->buffer},
        {.key = "ids_sha256", .value = provenance->ids},
        {.key = "image_root", .value = image_root},
    };
    memcpy(provenance->notes, notes, sizeof notes);
    provenance->note_count = image_root != NULL ? 6 : 5;
    return OCDM_OK;
}

void ocdm__provenance_clear(ocdm__provenance *provenance)
{
    ocdm__output_abandon(&provenance->sources);
    *provenance = (ocdm__provenance){.note_count = 0};
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

/* Features and images are produced and written in blocks of about this many bytes. */
#define BLOCK ((size_t)4 * 1024 * 1024)
#define MOST_TENSORS 20

/* The tensors in the order of their bytes: wide elements first, so that all are aligned. */
struct plan {
    struct ocdm__tensor tensors[MOST_TENSORS];
    size_t count;
    size_t payload;         /* its number; `count` when there is none */
    size_t padded, padding; /* a text, and how many zeros follow it */
};

static void add(struct plan *plan, const char *name, enum ocdm__dtype dtype, const void *data, uint64_t count)
{
    plan->tensors[plan->count++] = ocdm__tensor_of(name, dtype, data, count);
}

static void make_plan(struct plan *plan, const ocdm__stream_table *table, const ocdm__payload_source *source)
{
    size_t samples = table->sample_count, classes = table->class_count;
    add(plan, "label_starts", OCDM__U64, table->label_starts, samples + 1);
    add(plan, "id_starts", OCDM__U64, table->ids.starts, samples + 1);
    add(plan, "class_starts", OCDM__U64, table->classes.starts, classes + 1);
    if (table->paths.starts != NULL)
        add(plan, "path_starts", OCDM__U64, table->paths.starts, samples + 1);
    add(plan, "labels", OCDM__U32, table->labels, table->label_starts[samples]);
    add(plan, "tasks", OCDM__U32, table->tasks, samples);
    if (source != NULL && source->shape.mean != NULL) {
        add(plan, "feature_mean", OCDM__F32, source->shape.mean, source->shape.width);
        add(plan, "feature_deviation", OCDM__F32, source->shape.deviation, source->shape.width);
    }
    add(plan, "parts", OCDM__U8, table->parts, samples);
    if (table->groups != NULL)
        add(plan, "class_groups", OCDM__U8, table->groups, classes);
    if (table->known != NULL) {
        size_t size = ocdm__bits_size(table->class_count);
        add(plan, "known_labels", OCDM__U8, table->known, table->sample_count * size);
        struct ocdm__tensor *tensor = &plan->tensors[plan->count - 1];
        tensor->shape[0] = table->sample_count;
        tensor->shape[tensor->rank++] = size;
    }
    add(plan, "id_text", OCDM__U8, table->ids.bytes, table->ids.starts[samples]);
    add(plan, "class_text", OCDM__U8, table->classes.bytes, table->classes.starts[classes]);
    if (table->paths.starts != NULL)
        add(plan, "path_text", OCDM__U8, table->paths.bytes, table->paths.starts[samples]);
    if (source != NULL) {
        const ocdm__payload_shape *shape = &source->shape;
        struct ocdm__tensor tensor =
            ocdm__tensor_of(shape->kind == OCDM__IMAGES ? "images" : "features", shape->dtype, NULL, 0);
        tensor.shape[0] = samples;
        tensor.shape[tensor.rank++] = shape->kind == OCDM__IMAGES ? shape->channels : shape->width;
        if (shape->kind == OCDM__IMAGES) {
            tensor.shape[tensor.rank++] = shape->height;
            tensor.shape[tensor.rank++] = shape->width;
        }
        tensor.size = samples * ocdm__payload_size(shape);
        plan->tensors[plan->count++] = tensor;
    }
    plan->payload = source != NULL ? plan->count - 1 : plan->count;
    if (source != NULL)
        add(plan, "row_sums", OCDM__U64, NULL, samples);
    add(plan, "checksums", OCDM__U64, NULL, 2);
    /* Features start at a multiple of eight bytes, for programs that map the file: the last text is padded until they do. */
    size_t size = 0;
    for (size_t i = 0; i < plan->payload && i + 1 < plan->count; i++) {
        size += plan->tensors[i].size;
        plan->padded = strstr(plan->tensors[i].name, "_text") != NULL ? i : plan->padded;
    }
    plan->padding = (8 - size % 8) % 8;
    plan->tensors[plan->padded].shape[0] += plan->padding;
    plan->tensors[plan->padded].size += plan->padding;
}

/* ---- the bytes ------------------------------------------------------------------------------------------------------- */

struct writing {
    ocdm__output output;
    uint64_t sum; /* of what was written since it was last started */
    const ocdm__progress *progress;
    ocdm_error *error;
};

static void write_bytes(struct writing *writing, const void *bytes, size_t size)
{
    writing->sum = ocdm__checksum(writing->sum, bytes, size);
    ocdm__output_write(&writing->output, bytes, size);
}

/* The checksum of each row goes to `row_sums`, eight bytes each. */
static ocdm_status write_payload(struct writing *writing, const ocdm__payload_source *source, size_t samples,
                                 unsigned char *row_sums)
{
    size_t each = ocdm__payload_size(&source->shape);
    size_t some = each < BLOCK ? BLOCK / each : 1;
    unsigned char *block = ocdm__allocate(some, each);
    if (block == NULL)
        return ocdm__fail_memory(writing->error, "a block of features");
    ocdm_status status = OCDM_OK;
    for (size_t first = 0; first < samples && status == OCDM_OK; first += some) {
        size_t count = samples - first < some ? samples - first : some;
        status = source->fill(source->state, first, count, block, writing->error);
        if (status != OCDM_OK)
            break;
        write_bytes(writing, block, count * each);
        for (size_t i = 0; i < count; i++)
            ocdm__put_u64(row_sums + 8 * (first + i), ocdm__row_sum(block + i * each, each));
        ocdm__progress_tell(writing->progress, "writing", first + count, samples);
        if (ocdm__progress_stopped(writing->progress))
            status = ocdm__fail(writing->error, OCDM_STOPPED, "", "stopped while writing; nothing was left behind");
        else
            status = ocdm__output_check(&writing->output, writing->error);
    }
    ocdm__release(block);
    return status;
}

static ocdm_status write_all(struct writing *writing, const struct plan *plan, const ocdm__stream_table *table,
                             const ocdm__payload_source *source)
{
    unsigned char sums[16], *row_sums = NULL;
    ocdm_status status = OCDM_OK;
    if (source != NULL && (row_sums = ocdm__allocate(table->sample_count, 8)) == NULL)
        return ocdm__fail_memory(writing->error, "the checksums of the rows");
    for (size_t i = 0; i < plan->count && i != plan->payload && i + 1 < plan->count; i++) {
        const struct ocdm__tensor *tensor = &plan->tensors[i];
        size_t width = ocdm__dtype_size(tensor->dtype);
        for (size_t at = 0; width > 1 && at < tensor->size; at += width) { /* numbers, as little-endian bytes */
            unsigned char bytes[8];
            uint64_t wide = 0;
            uint32_t narrow = 0;
            memcpy(width == 8 ? (void *)&wide : &narrow, tensor->data + at, width);
            ocdm__put_u64(bytes, width == 8 ? wide : narrow);
            write_bytes(writing, bytes, width);
        }
        if (width == 1) {
            static const unsigned char zeros[8];
            size_t more = i == plan->padded ? plan->padding : 0;
            write_bytes(writing, tensor->data, tensor->size - more);
            write_bytes(writing, zeros, more);
        }
    }
    ocdm__put_u64(sums, writing->sum);
    writing->sum = OCDM__CHECKSUM_START;
    if (source != NULL)
        status = write_payload(writing, source, table->sample_count, row_sums);
    ocdm__put_u64(sums + 8, writing->sum);
    if (source != NULL)
        ocdm__output_write(&writing->output, row_sums, 8 * table->sample_count);
    ocdm__output_write(&writing->output, sums, sizeof sums);
    ocdm__release(row_sums);
    return status;
}

ocdm_status ocdm__stream_write(const char *path, const ocdm__stream_table *table, const ocdm__payload_source *source,
                               const struct ocdm__note *notes, size_t note_count, const ocdm__progress *progress,
                               ocdm_error *error)
{
    struct plan plan = {.count = 0};
    struct writing writing = {.progress = progress, .error = error};
    make_plan(&plan, table, source);
    OCDM_TRY(ocdm__output_open(&writing.output, path, error));
    ocdm_status status =
        ocdm__safetensors_begin(&writing.output, notes, note_count, plan.tensors, plan.count, &writing.sum, error);
    OCDM_THEN(status, write_all(&writing, &plan, table, source));
    if (status != OCDM_OK) {
        ocdm__output_abandon(&writing.output);
        return status;
    }
    return ocdm__output_commit(&writing.output, error);
}
