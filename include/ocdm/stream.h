/*
 * Stream files, read-only: the labels, tasks and parts of all samples of a file of `ocdm stream build`, and what the samples
 * are made of. docs/stream-format.md describes the file itself.
 *
 *     ocdm_stream *stream = NULL;
 *     if (ocdm_stream_open("coco.safetensors", &stream, &error) != OCDM_OK) { fputs(error.message, stderr); exit(1); }
 *     const ocdm_stream_tables *tables = ocdm_stream_look(stream);
 *     for (size_t i = 0; i < tables->samples; i++)
 *         if (!tables->test[i]) ...
 *     ocdm_stream_close(stream);
 *
 *     cc program.c $(pkg-config --cflags --libs ocdm_experiment)
 *
 * As stable as ocdm.h: nothing in this header goes or changes its meaning before 2.0.
 */
#ifndef OCDM_STREAM_H
#define OCDM_STREAM_H

#include "ocdm/ocdm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ocdm_stream ocdm_stream;

/*
 * Opens a stream file and checks its tables; features and images are mapped, not read. The file must not change meanwhile.
 *
 * OCDM_OK, OCDM_BAD_FILE (what is wrong, and in which table), OCDM_IO, OCDM_NO_MEMORY. O(samples and labels).
 */
ocdm_status ocdm_stream_open(const char *path, ocdm_stream **stream, ocdm_error *error);

/* Closes the stream; its tables and texts become invalid. NULL is fine. */
void ocdm_stream_close(ocdm_stream *stream);

/* What the samples are made of. */
typedef enum ocdm_stream_kind {
    OCDM_STREAM_LABELS = 0,   /* nothing but their labels */
    OCDM_STREAM_FEATURES = 1, /* a row of numbers each */
    OCDM_STREAM_IMAGES = 2,   /* a small image each, in the file */
    OCDM_STREAM_FILES = 3     /* image files, named by ocdm_stream_image_path */
} ocdm_stream_kind;

/* The tables. They belong to the stream. Later versions may append members. */
typedef struct ocdm_stream_tables {
    size_t samples, classes;
    size_t tasks;                 /* how many different ones; their numbers may have gaps */
    const uint64_t *label_starts; /* samples + 1: sample i has labels[label_starts[i]] up to, not including, the next start */
    const uint32_t *labels;       /* numbers of classes, ascending in each sample */
    const uint32_t *task;         /* of each sample */
    const uint8_t *test;          /* of each sample: 1 for a test, 0 for training */
    const uint8_t *group;         /* of each class: 0 majority, 1 moderate, 2 minority; NULL when the file has no groups */
    ocdm_stream_kind kind;
    const void *data;        /* features or images as in the file, sample after sample, little-endian; NULL for other kinds */
    size_t element_bytes;    /* of a number in `data`: 4 for float, 2 for half precision, 1 for the bytes of images */
    size_t width;            /* features of a sample, or pixels in a row of an image */
    size_t height, channels; /* of an image, channel by channel, row by row; else 0 */
    const char *image_root;  /* the folder of the image files; NULL when the file does not say */
    char checksum[33];       /* of the stream, as in the files of runs */
    const uint8_t *known;    /* which classes of each sample are annotated: rows of known_bytes, bit c mod 8 of byte c / 8 for
                                class c, lowest bit first. NULL: all are, as in most streams */
    size_t known_bytes;
} ocdm_stream_tables;

const ocdm_stream_tables *ocdm_stream_look(const ocdm_stream *stream);

/* Texts of `length` bytes of UTF-8 without a NUL at the end: the id of a sample, the name of a class, and the path of the image
 * file of a sample below the root, which is empty if it has none. Numbers beyond the tables give NULL. */
const char *ocdm_stream_id(const ocdm_stream *stream, size_t sample, size_t *length);
const char *ocdm_stream_class_name(const ocdm_stream *stream, size_t class_number, size_t *length);
const char *ocdm_stream_image_path(const ocdm_stream *stream, size_t sample, size_t *length);

/* The features of a sample as `width` floats, whatever their form in the file. OCDM_OK; OCDM_BAD_ARGUMENT if the stream has no
 * features or no such sample. */
ocdm_status ocdm_stream_features(const ocdm_stream *stream, size_t sample, float *features, ocdm_error *error);

/* Reads all features or images and compares their checksum, which opening does not. OCDM_OK, OCDM_BAD_FILE. */
ocdm_status ocdm_stream_verify(ocdm_stream *stream, ocdm_error *error);

#ifdef __cplusplus
}
#endif

#endif
