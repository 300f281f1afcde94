/* Opens stream files: the tables are copied and every number in them is checked, so that later code can rely on them. Also
 * writes samples as records. */
#include "stream/file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "stream/labelled_set.h"
#include "stream/statistics.h"

static const char rebuild[] = "build it again with `ocdm stream build`";
static const char known_name[] = "known_labels";
static const char damaged[] = "is damaged: its checksum does not match";

struct opening {
    ocdm__stream *stream;
    const char *path;
    ocdm_error *error;
};

static ocdm_status bad(const struct opening *opening, const char *tensor, const char *what)
{
    return ocdm__fail(opening->error, OCDM_BAD_FILE, rebuild, "%s: \"%s\" %s", opening->path, tensor, what);
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

/* The tensor of a name; NULL, with a message, when it is missing or of another kind. */
static const struct ocdm__tensor *find(const struct opening *opening, const char *name, enum ocdm__dtype dtype, uint64_t count)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&opening->stream->tensors, name);
    if (tensor == NULL)
        bad(opening, name, "is missing");
    else if (tensor->dtype != dtype || tensor->rank != 1)
        bad(opening, name, "has another type or shape than a stream's");
    else if (count != UINT64_MAX && tensor->shape[0] != count)
        bad(opening, name, "has another number of elements than the other tables require");
    else
        return tensor;
    return NULL;
}

/* Copies the numbers of a table; `out` is the address of the pointer to the first. */
static ocdm_status copy(const struct opening *opening, const char *name, enum ocdm__dtype dtype, uint64_t count, void *out)
{
    const struct ocdm__tensor *tensor = find(opening, name, dtype, count);
    if (tensor == NULL)
        return OCDM_BAD_FILE;
    size_t width = ocdm__dtype_size(dtype);
    unsigned char *numbers = ocdm__allocate((size_t)tensor->shape[0], width);
    if (numbers == NULL)
        return ocdm__fail_memory(opening->error, "a stream's tables");
    memcpy(out, &numbers, sizeof numbers);
    if (width == 1)
        memcpy(numbers, tensor->data, tensor->size);
    for (size_t at = 0; width > 1 && at < tensor->size; at += width) {
        uint64_t wide = width == 8 ? ocdm__get_u64(tensor->data + at) : 0;
        uint32_t narrow = width == 4 ? ocdm__get_u32(tensor->data + at) : 0;
        memcpy(numbers + at, width == 8 ? (const void *)&wide : &narrow, width);
    }
    return OCDM_OK;
}

/* Small numbers, all below `below`. */
static ocdm_status copy_below(const struct opening *opening, const char *name, size_t count, uint8_t below, uint8_t **out)
{
    OCDM_TRY(copy(opening, name, OCDM__U8, count, out));
    for (size_t i = 0; i < count; i++)
        if ((*out)[i] >= below)
            return bad(opening, name, "has a value out of range");
    return OCDM_OK;
}

/* Positions must start at 0 and never decrease; the last one is returned. */
static bool are_starts(const uint64_t *starts, size_t count, uint64_t *end)
{
    if (starts[0] != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (starts[i + 1] < starts[i])
            return false;
    *end = starts[count];
    return true;
}

static ocdm_status copy_texts(const struct opening *opening, const char *starts_name, const char *text_name, size_t count,
                              ocdm__text_list *texts)
{
    uint64_t end;
    OCDM_TRY(copy(opening, starts_name, OCDM__U64, (uint64_t)count + 1, &texts->starts));
    OCDM_TRY(copy(opening, text_name, OCDM__U8, UINT64_MAX, &texts->bytes));
    if (!are_starts(texts->starts, count, &end) || end > ocdm__safetensors_find(&opening->stream->tensors, text_name)->size)
        return bad(opening, starts_name, "does not fit its text");
    return OCDM_OK;
}

/* ---- checks ---------------------------------------------------------------------------------------------------------- */

static ocdm_status check_labels(const struct opening *opening)
{
    const ocdm__stream_table *table = &opening->stream->table;
    for (size_t i = 0; i < table->sample_count; i++) {
        if (table->tasks[i] >= OCDM__MAX_TASKS)
            return bad(opening, "tasks", "has a number that is too large");
        if (table->tasks[i] >= opening->stream->task_count)
            opening->stream->task_count = table->tasks[i] + 1;
        for (uint64_t k = table->label_starts[i]; k < table->label_starts[i + 1]; k++) {
            if (table->labels[k] >= table->class_count)
                return bad(opening, "labels", "refers to a class that does not exist");
            if (k > table->label_starts[i] && table->labels[k] <= table->labels[k - 1])
                return bad(opening, "labels", "is not ascending within a sample");
            if (!ocdm__bits_have(ocdm__known_labels(table, i), table->labels[k]))
                return bad(opening, known_name, "lacks a class that the sample is labelled with");
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__class_table_make(ocdm__label_table *classes, const ocdm__stream_table *table, ocdm_error *error)
{
    for (size_t i = 0; i < table->class_count; i++) {
        size_t length;
        uint32_t number;
        const char *text = ocdm__text_at(&table->classes, i, &length);
        OCDM_TRY(ocdm__label_table_add(classes, text, length, &number, error));
    }
    return OCDM_OK;
}

static ocdm_status check_class_names(const struct opening *opening)
{
    const ocdm__stream_table *table = &opening->stream->table;
    ocdm__label_table names = {.count = 0};
    ocdm_status status = ocdm__class_table_make(&names, table, opening->error);
    if (status == OCDM_OK && names.count != table->class_count)
        status = bad(opening, "class_text", "has a name twice");
    ocdm__label_table_clear(&names);
    return status;
}

/* A sample may have no image path; if it has one, the path is below the root. */
static ocdm_status check_paths(const struct opening *opening)
{
    const ocdm__stream_table *table = &opening->stream->table;
    for (size_t i = 0; table->paths.starts != NULL && i < table->sample_count; i++) {
        size_t length;
        const char *path = ocdm__text_at(&table->paths, i, &length);
        if (length > 0 && !ocdm__is_relative_path(path, length))
            return bad(opening, "path_text", "has a path that leads out of its root folder");
    }
    return OCDM_OK;
}

/* ---- the parts of a file --------------------------------------------------------------------------------------------- */

/* Checked first: distinguishes a stream from weights or a checkpoint. */
static ocdm_status check_kind(const struct opening *opening)
{
    const struct ocdm__safetensors *file = &opening->stream->tensors;
    if (!ocdm__note_is(ocdm__safetensors_note(file, "format"), "ocdm-stream"))
        return ocdm__fail(opening->error, OCDM_BAD_FILE, "`ocdm stream build` makes stream files",
                          "%s: a safetensors file, but not a stream", opening->path);
    const struct ocdm__note *version = ocdm__safetensors_note(file, "version");
    bool masked = ocdm__note_is(version, OCDM__PARTIAL_VERSION);
    if (!masked && !ocdm__note_is(version, OCDM__STREAM_VERSION))
        return ocdm__fail(opening->error, OCDM_BAD_FILE, rebuild,
                          "%s: a stream file of a version that this program does not know", opening->path);
    if (masked != (ocdm__safetensors_find(file, known_name) != NULL))
        return bad(opening, known_name, masked ? "is missing" : "is there, but the file is of the version without it");
    return OCDM_OK;
}

static ocdm_status read_labels(const struct opening *opening)
{
    ocdm__stream_table *table = &opening->stream->table;
    const struct ocdm__tensor *tasks = find(opening, "tasks", OCDM__U32, UINT64_MAX);
    const struct ocdm__tensor *classes = find(opening, "class_starts", OCDM__U64, UINT64_MAX);
    if (tasks == NULL || classes == NULL)
        return OCDM_BAD_FILE;
    if (classes->shape[0] == 0 || classes->shape[0] - 1 > OCDM__MAX_CLASSES)
        return bad(opening, "class_starts", "has no or too many classes");
    table->sample_count = (size_t)tasks->shape[0];
    table->class_count = (size_t)classes->shape[0] - 1;
    uint64_t end = 0, samples = table->sample_count;
    OCDM_TRY(copy(opening, "label_starts", OCDM__U64, samples + 1, &table->label_starts));
    if (!are_starts(table->label_starts, table->sample_count, &end))
        return bad(opening, "label_starts", "is not ascending from 0");
    OCDM_TRY(copy(opening, "labels", OCDM__U32, end, &table->labels));
    OCDM_TRY(copy(opening, "tasks", OCDM__U32, samples, &table->tasks));
    return copy_below(opening, "parts", samples, OCDM__NO_PART, &table->parts);
}

static ocdm_status read_names(const struct opening *opening)
{
    ocdm__stream_table *table = &opening->stream->table;
    const struct ocdm__safetensors *file = &opening->stream->tensors;
    OCDM_TRY(copy_texts(opening, "id_starts", "id_text", table->sample_count, &table->ids));
    OCDM_TRY(copy_texts(opening, "class_starts", "class_text", table->class_count, &table->classes));
    if (ocdm__safetensors_find(file, "path_starts") != NULL)
        OCDM_TRY(copy_texts(opening, "path_starts", "path_text", table->sample_count, &table->paths));
    if (ocdm__safetensors_find(file, "class_groups") != NULL)
        OCDM_TRY(copy_below(opening, "class_groups", table->class_count, OCDM__GROUPS, &table->groups));
    /* The known labels: a row of bits for each sample, those beyond the classes being 0. */
    const struct ocdm__tensor *known = ocdm__safetensors_find(file, known_name);
    size_t size = ocdm__bits_size(table->class_count), used = table->class_count % 8;
    if (known == NULL)
        return OCDM_OK;
    if (known->dtype != OCDM__U8 || known->rank != 2 || known->shape[0] != table->sample_count || known->shape[1] != size)
        return bad(opening, known_name, "has another type or shape than a stream's");
    for (size_t i = 0; used > 0 && i < table->sample_count; i++)
        if (known->data[i * size + size - 1] >> used != 0)
            return bad(opening, known_name, "has a bit for a class that does not exist");
    OCDM_TRY(ocdm__new(&table->known, known->size, 1, "a stream's tables", opening->error));
    memcpy(table->known, known->data, known->size);
    return OCDM_OK;
}

/* The features or images and their row sums, which older files lack, and the root folder of image files. */
static ocdm_status read_payload(const struct opening *opening)
{
    ocdm__stream *stream = opening->stream;
    const struct ocdm__note *root = ocdm__safetensors_note(&stream->tensors, "image_root");
    if (root != NULL) {
        OCDM_TRY(ocdm__new(&stream->image_root, root->value_length + 1, 1, "the root folder's name", opening->error));
        ocdm__json_unescape(root->value, root->value_length, stream->image_root);
    }
    const struct ocdm__tensor *features = ocdm__safetensors_find(&stream->tensors, "features");
    const struct ocdm__tensor *images = ocdm__safetensors_find(&stream->tensors, "images");
    if (features != NULL && images != NULL)
        return bad(opening, "images", "is there beside features: a stream has one of them");
    const struct ocdm__tensor *tensor = features != NULL ? features : images;
    if (tensor == NULL)
        return OCDM_OK;
    stream->payload = tensor->data;
    stream->shape = (ocdm__payload_shape){.kind = features != NULL ? OCDM__FEATURES : OCDM__IMAGES, .dtype = tensor->dtype};
    bool fits = features != NULL ? tensor->rank == 2 && (tensor->dtype == OCDM__F32 || tensor->dtype == OCDM__F16)
                                 : tensor->rank == 4 && tensor->dtype == OCDM__U8 && tensor->shape[1] == 3;
    if (!fits || tensor->shape[0] != stream->table.sample_count || tensor->shape[1] == 0)
        return bad(opening, features != NULL ? "features" : "images", "has another type or shape than a stream's");
    stream->shape.width = (size_t)tensor->shape[tensor->rank - 1];
    if (images != NULL) {
        stream->shape.channels = (size_t)tensor->shape[1];
        stream->shape.height = (size_t)tensor->shape[2];
    }
    OCDM_TRY(
        ocdm__new(&stream->checked, stream->table.sample_count, sizeof *stream->checked, "a stream's tables", opening->error));
    if (ocdm__safetensors_find(&stream->tensors, "row_sums") == NULL)
        return OCDM_OK;
    const struct ocdm__tensor *sums = find(opening, "row_sums", OCDM__U64, stream->table.sample_count);
    if (sums == NULL)
        return OCDM_BAD_FILE;
    stream->row_sums = sums->data;
    return OCDM_OK;
}

/* The tables are small and read anyway, so their checksum is verified whenever a stream is opened. */
static ocdm_status check_sums(const struct opening *opening)
{
    ocdm__stream *stream = opening->stream;
    const struct ocdm__tensor *sums = find(opening, "checksums", OCDM__U64, 2);
    if (sums == NULL)
        return OCDM_BAD_FILE;
    const unsigned char *end = stream->payload != NULL ? stream->payload : sums->data;
    for (size_t i = 0; i < 2; i++)
        stream->checksum[i] = ocdm__get_u64(sums->data + 8 * i);
    if (end > sums->data ||
        ocdm__checksum(OCDM__CHECKSUM_START, stream->file.bytes, (size_t)(end - stream->file.bytes)) != stream->checksum[0])
        return bad(opening, "checksums", "does not match the tables: the file is damaged");
    return OCDM_OK;
}

ocdm_status ocdm__stream_open(ocdm__stream *stream, const char *path, ocdm_error *error)
{
    typedef ocdm_status step(const struct opening *);
    static step *const steps[] = {check_kind, read_labels,  read_names,        read_payload,
                                  check_sums, check_labels, check_class_names, check_paths};
    const struct opening opening = {stream, path, error};
    *stream = (ocdm__stream){.task_count = 0};
    ocdm_status status = ocdm__map_file(&stream->file, path, error);
    const ocdm__mapped_file *file = &stream->file;
    /* A file of records begins with a brace. One that begins with the length of a header may, too, but that is far below 2^32.
     */
    if (status == OCDM_OK && file->size >= 8 && file->bytes[0] == '{' && ocdm__get_u64(file->bytes) > UINT32_MAX)
        status = ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream build --records FILE -o STREAM` makes a stream of it",
                            "%s: this is a file of records, not a stream", path);
    OCDM_THEN(status, ocdm__safetensors_read(&stream->tensors, path, file->bytes, file->size, error));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        OCDM_THEN(status, steps[i](&opening));
    if (status != OCDM_OK)
        ocdm__stream_close(stream);
    return status;
}

bool ocdm__is_stream_file(const char *path)
{
    unsigned char start[9];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    /* The header's length is far below 2^32 and its first byte is a brace; no text has four NULs. */
    return got == (ssize_t)sizeof start && memcmp(start + 4, "\0\0\0\0{", 5) == 0;
}

/* ---- features and images -------------------------------------------------------------------------------------------- */

static ocdm_status fail_row(const ocdm__stream *stream, size_t sample, ocdm_error *error, const char *hint, const char *what)
{
    size_t length;
    const char *id = ocdm__text_at(&stream->table.ids, sample, &length);
    return ocdm__fail(error, OCDM_BAD_FILE, hint, "%s: \"%s\": row %zu, of the sample %s, %s", stream->file.name,
                      stream->shape.kind == OCDM__IMAGES ? "images" : "features", sample, ocdm__show_label(id, length).text,
                      what);
}

static const unsigned char *row_of(const ocdm__stream *stream, size_t sample)
{
    return stream->payload + sample * ocdm__payload_size(&stream->shape);
}

static bool row_is_whole(const ocdm__stream *stream, size_t sample)
{
    return stream->row_sums == NULL || ocdm__row_sum(row_of(stream, sample), ocdm__payload_size(&stream->shape)) ==
                                           ocdm__get_u64(stream->row_sums + 8 * sample);
}

/* Whether no exponent is all ones, which those of infinities and NaNs are. Adding one in the lowest place of the exponent
 * would otherwise carry into the sign, so all numbers in eight bytes are tested together. */
static bool row_is_finite(const ocdm__stream *stream, size_t sample)
{
    const unsigned char *at = row_of(stream, sample);
    const bool half = stream->shape.dtype == OCDM__F16;
    const uint64_t exponent = half ? 0x7C007C007C007C00u : 0x7F8000007F800000u;
    const uint64_t lowest = half ? 0x0400040004000400u : 0x0080000000800000u;
    const uint64_t sign = half ? 0x8000800080008000u : 0x8000000080000000u;
    size_t size = ocdm__payload_size(&stream->shape), i = 0;
    unsigned char rest[8] = {0};
    uint64_t sums = 0;
    for (; size - i >= 8; i += 8)
        sums |= (ocdm__load_u64(at + i) & exponent) + lowest;
    memcpy(rest, at + i, size - i);
    sums |= (ocdm__load_u64(rest) & exponent) + lowest;
    return (sums & sign) == 0;
}

ocdm_status ocdm__stream_check(const ocdm__stream *stream, size_t sample, ocdm_error *error)
{
    if (stream->payload == NULL || atomic_load_explicit(&stream->checked[sample], memory_order_relaxed))
        return OCDM_OK;
    if (!row_is_whole(stream, sample))
        return fail_row(stream, sample, error, rebuild, damaged);
    if (stream->shape.kind == OCDM__FEATURES && !row_is_finite(stream, sample))
        return fail_row(stream, sample, error, "features must be finite: correct the source and build the stream again",
                        "has a number that is not finite");
    atomic_store_explicit(&stream->checked[sample], 1, memory_order_relaxed);
    return OCDM_OK;
}

ocdm_status ocdm__stream_verify(ocdm__stream *stream, const ocdm__progress *progress, ocdm_error *error)
{
    const size_t block = (size_t)16 * 1024 * 1024;
    size_t size = stream->table.sample_count * ocdm__payload_size(&stream->shape);
    uint64_t sum = OCDM__CHECKSUM_START;
    for (size_t at = 0; at < size; at += block) {
        sum = ocdm__checksum(sum, stream->payload + at, size - at < block ? size - at : block);
        ocdm__mapped_file_passed(&stream->file, (size_t)(stream->payload - stream->file.bytes) + at);
        ocdm__progress_tell(progress, "verifying", at, size);
        if (ocdm__progress_stopped(progress))
            return ocdm__fail(error, OCDM_STOPPED, "", "stopped while verifying %s", stream->file.name);
    }
    for (size_t i = 0; stream->row_sums != NULL && i < stream->table.sample_count; i++)
        if (!row_is_whole(stream, i))
            return fail_row(stream, i, error, rebuild, damaged);
    if (sum == stream->checksum[1])
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_FILE, rebuild, "%s: the features or images are damaged: their checksum does not match",
                      stream->file.name);
}

size_t ocdm__payload_size(const ocdm__payload_shape *shape)
{
    size_t elements = shape->kind == OCDM__IMAGES ? shape->channels * shape->height * shape->width : shape->width;
    return shape->kind == OCDM__NO_PAYLOAD ? 0 : elements * ocdm__dtype_size(shape->dtype);
}

const unsigned char *ocdm__stream_moments(const ocdm__stream *stream, const char *key)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&stream->tensors, key);
    bool fits = tensor != NULL && tensor->dtype == OCDM__F32 && tensor->size == 4 * stream->shape.width;
    return fits ? tensor->data : NULL;
}

void ocdm__standardize_row(float *row, const float *mean, const float *deviation, size_t width)
{
    for (size_t i = 0; i < width; i++)
        row[i] = deviation[i] > 0 ? (row[i] - mean[i]) / deviation[i] : 0;
}

void ocdm__stream_features(const ocdm__stream *stream, size_t sample, float *out)
{
    const unsigned char *at = row_of(stream, sample);
    const bool half = stream->shape.dtype == OCDM__F16;
    for (size_t i = 0; i < stream->shape.width; i++)
        out[i] = half ? ocdm__half_to_float((uint16_t)(at[2 * i] | at[2 * i + 1] << 8)) : ocdm__get_float(at + 4 * i);
    if (stream->mean != NULL)
        ocdm__standardize_row(out, stream->mean, stream->deviation, stream->shape.width);
}

const uint8_t *ocdm__stream_image(const ocdm__stream *stream, size_t sample)
{
    return row_of(stream, sample);
}

void ocdm__stream_table_clear(ocdm__stream_table *table)
{
    OCDM_RELEASE(table->label_starts, table->labels, table->tasks, table->parts, table->groups, table->known);
    ocdm__text_list *texts[] = {&table->ids, &table->classes, &table->paths};
    for (size_t i = 0; i < 3; i++) {
        OCDM_RELEASE(texts[i]->starts, texts[i]->bytes);
    }
    *table = (ocdm__stream_table){.sample_count = 0};
}

void ocdm__stream_close(ocdm__stream *stream)
{
    ocdm__stream_table_clear(&stream->table);
    ocdm__safetensors_close(&stream->tensors);
    OCDM_RELEASE(stream->image_root, stream->checked);
    ocdm__unmap_file(&stream->file);
    *stream = (ocdm__stream){.task_count = 0};
}

void ocdm__checksum_text(const uint64_t checksum[2], char text[OCDM__CHECKSUM_TEXT])
{
    snprintf(text, OCDM__CHECKSUM_TEXT, "%016llx%016llx", (unsigned long long)checksum[0], (unsigned long long)checksum[1]);
}

/* ---- the public interface ------------------------------------------------------------------------------------------- */

struct ocdm_stream {
    ocdm__stream stream;
    ocdm_stream_tables tables;
    char *path; /* which the stream refers to */
};

ocdm_stream_kind ocdm__stream_kind_of(const ocdm__stream *stream)
{
    if (stream->shape.kind == OCDM__FEATURES)
        return OCDM_STREAM_FEATURES;
    if (stream->shape.kind == OCDM__IMAGES)
        return OCDM_STREAM_IMAGES;
    return stream->table.paths.starts != NULL ? OCDM_STREAM_FILES : OCDM_STREAM_LABELS;
}

static void fill_tables(ocdm_stream *made)
{
    const ocdm__stream *stream = &made->stream;
    const ocdm__stream_table *table = &stream->table;
    made->tables = (ocdm_stream_tables){.samples = table->sample_count,
                                        .classes = table->class_count,
                                        .tasks = stream->task_count,
                                        .label_starts = table->label_starts,
                                        .labels = table->labels,
                                        .task = table->tasks,
                                        .test = table->parts,
                                        .group = table->groups,
                                        .kind = ocdm__stream_kind_of(stream),
                                        .data = stream->payload,
                                        .width = stream->shape.width,
                                        .height = stream->shape.height,
                                        .channels = stream->shape.channels,
                                        .image_root = stream->image_root,
                                        .known = table->known,
                                        .known_bytes = table->known != NULL ? ocdm__bits_size(table->class_count) : 0};
    if (stream->payload != NULL)
        made->tables.element_bytes = ocdm__dtype_size(stream->shape.dtype);
    ocdm__checksum_text(stream->checksum, made->tables.checksum);
}

ocdm_status ocdm_stream_open(const char *path, ocdm_stream **stream, ocdm_error *error)
{
    ocdm_stream *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a stream", error));
    ocdm_status status = ocdm__format(&made->path, error, "%s", path);
    OCDM_THEN(status, ocdm__stream_open(&made->stream, made->path, error));
    if (status != OCDM_OK) {
        OCDM_RELEASE(made->path, made);
        return status;
    }
    fill_tables(made);
    *stream = made;
    return OCDM_OK;
}

void ocdm_stream_close(ocdm_stream *stream)
{
    if (stream == NULL)
        return;
    ocdm__stream_close(&stream->stream);
    OCDM_RELEASE(stream->path, stream);
}

const ocdm__stream *ocdm__stream_inside(const ocdm_stream *stream)
{
    return &stream->stream;
}

const ocdm_stream_tables *ocdm_stream_look(const ocdm_stream *stream)
{
    return &stream->tables;
}

static const char *text_of(const ocdm__text_list *texts, size_t i, size_t count, size_t *length)
{
    return i < count && texts->starts != NULL ? ocdm__text_at(texts, i, length) : NULL;
}

const char *ocdm_stream_id(const ocdm_stream *stream, size_t sample, size_t *length)
{
    return text_of(&stream->stream.table.ids, sample, stream->tables.samples, length);
}

const char *ocdm_stream_class_name(const ocdm_stream *stream, size_t class_number, size_t *length)
{
    return text_of(&stream->stream.table.classes, class_number, stream->tables.classes, length);
}

const char *ocdm_stream_image_path(const ocdm_stream *stream, size_t sample, size_t *length)
{
    return text_of(&stream->stream.table.paths, sample, stream->tables.samples, length);
}

ocdm_status ocdm_stream_features(const ocdm_stream *stream, size_t sample, float *features, ocdm_error *error)
{
    if (stream->tables.kind != OCDM_STREAM_FEATURES || sample >= stream->tables.samples)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: the stream has no features of sample %zu", stream->path, sample);
    OCDM_TRY(ocdm__stream_check(&stream->stream, sample, error));
    ocdm__stream_features(&stream->stream, sample, features);
    return OCDM_OK;
}

ocdm_status ocdm_stream_verify(ocdm_stream *stream, ocdm_error *error)
{
    return ocdm__stream_verify(&stream->stream, NULL, error);
}

/* ---- samples as records --------------------------------------------------------------------------------------------- */

void ocdm__write_record_id(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    size_t length;
    uint64_t number;
    const char *id = ocdm__text_at(&table->ids, sample, &length);
    /* Nineteen digits fit a number of 64 bits everywhere. */
    if (length > 0 && length <= 19 && (id[0] != '0' || length == 1) && ocdm__text_to_whole(id, length, 0, UINT64_MAX, &number))
        ocdm__output_write(output, id, length);
    else
        ocdm__output_json_string(output, id, length);
}

void ocdm__write_record_labels(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        ocdm__json_bytes(output, NULL, label, length);
    }
}

void ocdm__write_record(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    ocdm__json_open(output, NULL, '{');
    ocdm__json_key(output, "id");
    ocdm__write_record_id(output, table, sample);
    ocdm__json_open(output, "labels", '[');
    ocdm__write_record_labels(output, table, sample);
    ocdm__json_close(output, ']');
    const uint8_t *known = ocdm__known_labels(table, sample);
    size_t length;
    if (ocdm__bits_count(known, table->class_count) < table->class_count) {
        ocdm__json_open(output, "known", '[');
        for (size_t i = 0; i < table->class_count; i++) {
            const char *name = ocdm__text_at(&table->classes, i, &length);
            if (ocdm__bits_have(known, i))
                ocdm__json_bytes(output, NULL, name, length);
        }
        ocdm__json_close(output, ']');
    }
    ocdm__json_count(output, "task", table->tasks[sample]);
    ocdm__json_string(output, "split", table->parts[sample] == OCDM__TEST ? "test" : "train");
    const char *path = table->paths.starts != NULL ? ocdm__text_at(&table->paths, sample, &length) : NULL;
    if (path != NULL && length > 0)
        ocdm__json_bytes(output, "image", path, length);
    ocdm__output_text(output, "}\n");
}
