/*
 * A labelled set as a reader found it: for each sample its labels, its id and, where the source tells, its task, its part and
 * the file of its image. All of it is in memory; features and images are not, they are read when the stream is written.
 *
 *     ocdm__labelled_set set = {0};
 *     uint32_t cat;
 *     ocdm__label_table_add(&set.classes, name, length, &cat, error);
 *     ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
 *     sample.id = id, sample.id_length = id_length, sample.labels = &cat, sample.label_count = 1;
 *     ocdm__labelled_set_add(&set, &sample, error);
 *     ocdm__labelled_set_clear(&set);
 */
#ifndef OCDM_STREAM_LABELLED_SET_H
#define OCDM_STREAM_LABELLED_SET_H

#include "base/progress.h"
#include "stream/label_table.h"

/* ---- found files ---- */

/* The files that a reader finds in a folder; a stream file lists them as its sources. */

/* Start with all bytes zero. */
typedef struct ocdm__found_files {
    char **paths;
    size_t count, room;
} ocdm__found_files;

/* Adds a file; the path is copied. Does nothing if `files` is NULL. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__found_files_add(ocdm__found_files *files, const char *path, ocdm_error *error);

/* Releases everything; the list is empty again. */
void ocdm__found_files_clear(ocdm__found_files *files);

/* ---- labelled sets ---- */

#define OCDM__NO_TASK UINT32_MAX
#define OCDM__NO_ROW UINT64_MAX

enum ocdm__part { OCDM__TRAIN = 0, OCDM__TEST = 1, OCDM__NO_PART = 2 };

/* A sample to be added to the set. Start with OCDM__LABELLED_SAMPLE. */
typedef struct ocdm__labelled_sample {
    const char *id;
    size_t id_length;
    const char *path; /* of its image, relative to a root; NULL for none */
    size_t path_length;
    const uint32_t *labels; /* numbers of `classes`, in any order; repeats count once */
    size_t label_count;
    uint32_t task;
    enum ocdm__part part;
    uint64_t row;    /* its number in the source's own list of training or test samples, by which others may name it */
    uint64_t number; /* its row in a table of features that goes with the source; OCDM__NO_ROW: samples have consecutive rows */
} ocdm__labelled_sample;

#define OCDM__LABELLED_SAMPLE                                                                                                  \
    ((ocdm__labelled_sample){.task = OCDM__NO_TASK, .part = OCDM__NO_PART, .row = OCDM__NO_ROW, .number = OCDM__NO_ROW})

/* Start with all bytes zero. */
typedef struct ocdm__labelled_set {
    ocdm__label_table classes; /* every label of the source, in the order of their first occurrence */
    ocdm__label_table ids;     /* sample i has id number i */
    ocdm__label_table paths;
    size_t count;
    uint64_t *label_starts; /* count + 1 of them once there is a sample */
    uint32_t *labels;       /* of each sample ascending, no repeats */
    uint32_t *tasks;
    uint64_t *rows, *numbers;
    uint32_t *path_numbers; /* UINT32_MAX for none */
    uint8_t *parts;         /* enum ocdm__part */
    size_t room, label_room;
    uint64_t row_count; /* rows of features so far; what was skipped has rows too */
} ocdm__labelled_set;

/*
 * Adds a sample. OCDM_OK, OCDM_DUPLICATE_ID (no message: the reader knows where), OCDM_TOO_MANY_LABELS (over 65,535),
 * OCDM_LIMIT, OCDM_NO_MEMORY. On error the set has the samples that it had.
 */
ocdm_status ocdm__labelled_set_add(ocdm__labelled_set *set, const ocdm__labelled_sample *sample, ocdm_error *error);

/* Sorts numbers and drops repeats; returns how many are left. */
size_t ocdm__sort_numbers(uint32_t *numbers, size_t count);

/* Releases everything; the set is empty again. */
void ocdm__labelled_set_clear(ocdm__labelled_set *set);

/* Room for a line about labels that look wrong. */
#define OCDM__DOUBT 512

/* What was left out while reading, by reason. */
#define OCDM__SKIP_REASONS 12
typedef struct ocdm__skip {
    const char *reason; /* static text, such as "annotations of unknown categories" */
    uint64_t count;
    char first[160]; /* where the first of them is: file:line:column */
} ocdm__skip;

/* What every reader of a source is given. All zero is a good default. */
typedef struct ocdm__reading {
    bool skip_bad; /* skip what is bad and count it; else the first bad thing is an error */
    const ocdm__progress *progress;
    ocdm__found_files *files;             /* receives the files that a reader finds in a folder; may be NULL */
    ocdm__skip skips[OCDM__SKIP_REASONS]; /* filled by the reader */
    size_t skip_count;
    char doubt[OCDM__DOUBT]; /* what looks wrong about the labels of records; "" when nothing does */
} ocdm__reading;

/* Counts one thing that was left out. `where` may be NULL. */
void ocdm__reading_skip(ocdm__reading *reading, const char *reason, const char *where);

/* Counts several for one reason, 0 being none. */
void ocdm__reading_skip_many(ocdm__reading *reading, const char *reason, uint64_t count);

/* Reports progress. OCDM_OK, or OCDM_STOPPED after a signal. Readers call it regularly. */
ocdm_status ocdm__reading_goes_on(const ocdm__reading *reading, const char *what, uint64_t done, uint64_t total,
                                  ocdm_error *error);

#endif
