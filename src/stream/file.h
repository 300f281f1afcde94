/*
 * A stream as a file: safetensors with the labels, tasks, parts, ids and classes of every sample, and what the samples are
 * made of: features, small images, or the paths of image files. docs/stream-format.md describes the format byte by byte.
 *
 *     ocdm__stream stream = {0};
 *     if (ocdm__stream_open(&stream, path, error) != OCDM_OK) ...
 *     for (size_t i = 0; i < stream.table.sample_count; i++)
 *         if (stream.table.parts[i] == OCDM__TRAIN) ...
 *     ocdm__stream_close(&stream);
 *
 * The tables are copied out of the file when it is opened, checked and in the machine's own byte order; features and images
 * stay in the mapped file.
 */
#ifndef OCDM_STREAM_FILE_H
#define OCDM_STREAM_FILE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/safetensors.h"
#include "base/sha256.h"
#include "ocdm/stream.h"
#include "stream/label_table.h"
#include "stream/statistics.h"

/* The versions of the format: files without and with known_labels. */
#define OCDM__STREAM_VERSION "1"
#define OCDM__PARTIAL_VERSION "2"

/* The most classes of a stream. */
#define OCDM__MAX_CLASSES 1000000

/* Texts one after another: number i is the bytes from starts[i] up to starts[i + 1]. */
typedef struct ocdm__text_list {
    uint64_t *starts; /* NULL: there are none */
    char *bytes;
} ocdm__text_list;

/* Text number i; no NUL after it. */
static inline const char *ocdm__text_at(const ocdm__text_list *texts, size_t i, size_t *length)
{
    *length = (size_t)(texts->starts[i + 1] - texts->starts[i]);
    return texts->bytes + texts->starts[i];
}

/* The tables of a stream. */
typedef struct ocdm__stream_table {
    size_t sample_count;
    size_t class_count;
    uint64_t *label_starts; /* sample i has labels[label_starts[i]] up to labels[label_starts[i + 1] - 1] */
    uint32_t *labels;       /* of each sample ascending, below class_count */
    uint32_t *tasks;        /* of each sample, from 0 */
    uint8_t *parts;         /* of each sample: OCDM__TRAIN or OCDM__TEST of stream/labelled_set.h */
    uint8_t *groups;        /* of each class, enum ocdm__class_group; NULL when the stream has none of its own */
    ocdm__text_list ids;
    ocdm__text_list classes;
    ocdm__text_list paths; /* of image files, relative to the root folder; starts is NULL when there are none */
    uint8_t *known; /* of each sample a row of bits (base/bytes.h), one for each class: whether it is annotated. Labels are
                       known. NULL: every class of every sample is */
} ocdm__stream_table;

/* The labels of a sample: from here up to those of the next one, of which there may be none. */
static inline const uint32_t *ocdm__labels(const ocdm__stream_table *table, size_t sample)
{
    return table->labels + table->label_starts[sample];
}

/* A sample as the memory takes it: its number is its id. */
static inline ocdm_sample ocdm__sample_of(const ocdm__stream_table *table, size_t sample)
{
    return (ocdm_sample){.id = sample,
                         .labels = ocdm__labels(table, sample),
                         .label_count = (size_t)(table->label_starts[sample + 1] - table->label_starts[sample])};
}

/* Whether it carries a class. */
static inline bool ocdm__has_label(const ocdm__stream_table *table, size_t sample, uint32_t class_number)
{
    for (const uint32_t *label = ocdm__labels(table, sample); label < ocdm__labels(table, sample + 1); label++)
        if (*label == class_number)
            return true;
    return false;
}

/* Adds 1 to the count of each class of a sample. */
static inline void ocdm__count_labels(const ocdm__stream_table *table, size_t sample, uint64_t *counts)
{
    for (const uint32_t *label = ocdm__labels(table, sample); label < ocdm__labels(table, sample + 1); label++)
        counts[*label]++;
}

/* The classes of a sample that are known, as a row of bits; NULL: all. */
static inline const uint8_t *ocdm__known_labels(const ocdm__stream_table *table, size_t sample)
{
    return table->known != NULL ? table->known + sample * ocdm__bits_size(table->class_count) : NULL;
}

/* The classes of a stream as a table of names. OCDM_OK, OCDM_NO_MEMORY. Clear it even after an error. */
ocdm_status ocdm__class_table_make(ocdm__label_table *classes, const ocdm__stream_table *table, ocdm_error *error);

/* Frees the arrays. A table of zeros is fine. */
void ocdm__stream_table_clear(ocdm__stream_table *table);

enum ocdm__payload_kind { OCDM__NO_PAYLOAD, OCDM__FEATURES, OCDM__IMAGES };

/* The shape of what samples are made of, when it is in the file itself. */
typedef struct ocdm__payload_shape {
    enum ocdm__payload_kind kind;
    enum ocdm__dtype dtype;        /* features: OCDM__F32 or OCDM__F16; images: OCDM__U8 */
    size_t width;                  /* features: how many; images: pixels in a row */
    size_t height, channels;       /* images only */
    const float *mean, *deviation; /* features that were standardized: `width` numbers each; else NULL */
} ocdm__payload_shape;

/* Bytes of one sample's features or image. */
size_t ocdm__payload_size(const ocdm__payload_shape *shape);

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* Start with all bytes zero. */
typedef struct ocdm__stream {
    ocdm__stream_table table;
    size_t task_count;
    ocdm__payload_shape shape;
    uint64_t checksum[2]; /* of the header and the tables, and of the features or images: what the file says they are */
    char *image_root;     /* NULL for none */
    ocdm__mapped_file file;
    struct ocdm__safetensors tensors;
    const unsigned char *payload;
    const unsigned char *row_sums; /* one for each sample; NULL in files that have none */
    const float *mean,
        *deviation;        /* the caller's, for raw features: ocdm__stream_features standardizes by them; NULL: it does not */
    atomic_uchar *checked; /* by sample: whether its row was verified */
} ocdm__stream;

/* Opens a stream file and checks everything except the checksums of features or images. OCDM_OK, OCDM_BAD_FILE (file, tensor,
 * what), OCDM_IO, OCDM_NO_MEMORY. On error nothing is left open. `path` must outlive the stream. */
ocdm_status ocdm__stream_open(ocdm__stream *stream, const char *path, ocdm_error *error);

/* Whether a file starts like safetensors: how commands distinguish a stream file from records. False when it cannot be read. */
bool ocdm__is_stream_file(const char *path);

/* Reads all features or images once and compares their checksum. OCDM_OK, OCDM_BAD_FILE, OCDM_STOPPED. */
ocdm_status ocdm__stream_verify(ocdm__stream *stream, const ocdm__progress *progress, ocdm_error *error);

/*
 * Checks the features or the image of a sample at its first call; later calls cost nothing: the row's checksum, if the file
 * has such, and that features are finite. Call it before reading; from any thread. OCDM_OK or OCDM_BAD_FILE, which names the
 * file, the tensor and the row. A stream without features and images is fine.
 */
ocdm_status ocdm__stream_check(const ocdm__stream *stream, size_t sample, ocdm_error *error);

/* What features in the file were standardized by: key is "feature_mean" or "feature_deviation", the result `width` floats in
 * the file's byte order. NULL: they were not. */
const unsigned char *ocdm__stream_moments(const ocdm__stream *stream, const char *key);

/* Brings a row of features to mean 0 and deviation 1. A feature of deviation 0, which is constant, becomes 0. */
void ocdm__standardize_row(float *row, const float *mean, const float *deviation, size_t width);

/* The features of a sample as floats; the stream has features. */
void ocdm__stream_features(const ocdm__stream *stream, size_t sample, float *out);

/* The image of a sample, channels x height x width bytes; the stream has images. */
const uint8_t *ocdm__stream_image(const ocdm__stream *stream, size_t sample);

/* Closes it. A stream of zeros is fine. */
void ocdm__stream_close(ocdm__stream *stream);

/* What the samples are made of. */
ocdm_stream_kind ocdm__stream_kind_of(const ocdm__stream *stream);

/* The stream behind the public one of ocdm/stream.h. */
const ocdm__stream *ocdm__stream_inside(const ocdm_stream *stream);

/* The two checksums of a stream as hexadecimal digits and a NUL. */
#define OCDM__CHECKSUM_TEXT 33
void ocdm__checksum_text(const uint64_t checksum[2], char text[OCDM__CHECKSUM_TEXT]);

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* Where features or images come from: fills `bytes` with those of `count` samples from `first` on, in the form of the file.
 * Called in ascending order, block by block. */
typedef struct ocdm__payload_source {
    ocdm__payload_shape shape;
    ocdm_status (*fill)(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error);
    void *state;
} ocdm__payload_source;

/* Writes a stream file, atomically: on error, or when stopped, the path is as it was. `source` is NULL without a payload, notes
 * are as for ocdm__safetensors_write. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY, OCDM_STOPPED, and the status of `fill`. */
ocdm_status ocdm__stream_write(const char *path, const ocdm__stream_table *table, const ocdm__payload_source *source,
                               const struct ocdm__note *notes, size_t note_count, const ocdm__progress *progress,
                               ocdm_error *error);

/* ---- samples as records ---- */

/* A stream file's samples as records again: lines of JSON with id, labels, known (the names of the classes that are annotated,
 * where these are not all), task, split and, where there is one, image. */

/* Writes one sample as a record and a line's end. An id of digits alone, without a zero in front, is written as a number. */
void ocdm__write_record(ocdm__output *output, const ocdm__stream_table *table, size_t sample);

/* The parts that other records share: the id's value, and the labels as JSON strings with commas between them. */
void ocdm__write_record_id(ocdm__output *output, const ocdm__stream_table *table, size_t sample);
void ocdm__write_record_labels(ocdm__output *output, const ocdm__stream_table *table, size_t sample);

/* ---- provenance (write.c) ---- */

/*
 * Where a stream comes from, as notes in its file: the command, every source file with its size and SHA-256, the seed, and a
 * SHA-256 over task, part and id of every sample, so that others can verify that they have the same stream. File names have no
 * folders and there is no date: the same inputs give the same bytes anywhere and at any time.
 */

#define OCDM__PROVENANCE_NOTES 8

/* Start with all bytes zero. */
typedef struct ocdm__provenance {
    struct ocdm__note notes[OCDM__PROVENANCE_NOTES];
    size_t note_count;
    ocdm__output sources; /* JSON: a list of {"file","bytes","sha256"} */
    char ids[OCDM__SHA256_TEXT];
} ocdm__provenance;

/* Reads every file once. `command` and `image_root` (may be NULL) must outlive the provenance. OCDM_OK, OCDM_IO,
 * OCDM_NO_MEMORY, OCDM_STOPPED. Clear it in either case. */
ocdm_status ocdm__provenance_make(ocdm__provenance *provenance, const char *command, const char *image_root,
                                  const char *const *files, size_t file_count, const ocdm__stream_table *table,
                                  const ocdm__progress *progress, ocdm_error *error);

/* Releases everything. */
void ocdm__provenance_clear(ocdm__provenance *provenance);

/* SHA-256 of the lines `task TAB part TAB id` of all samples in the stream's order; a part is "train" or "test". */
void ocdm__digest_ids(const ocdm__stream_table *table, char text[OCDM__SHA256_TEXT]);

#endif
