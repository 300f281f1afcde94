/*
 * Whether the checkpoint or summary in a folder belongs to the run that is asked for: settings, stream, groups and weights of
 * classes. Groups or weights of classes from a file are equal if each class has the same one, whatever the name of the file;
 * weights of a network if their files have the same SHA-256. Where a run of an earlier version does not store its groups or
 * that digest, the names of the files are compared.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_SAVED_RUN_H
#define OCDM_EXPERIMENT_FOLDER_SAVED_RUN_H

#include "base/base.h"
#include "experiment/loop/run.h"

/* What a file stores about its run. */
typedef struct ocdm__saved_run {
    const char *name;     /* the file, for messages */
    const char *settings; /* the JSON object that ocdm__run_settings_write made */
    size_t settings_length;
    char checksum[OCDM__CHECKSUM_TEXT]; /* of the stream */
    const uint8_t *groups;              /* of each class of the stream; NULL: not stored */
    const double *class_weights;        /* of each class of the stream; NULL: not stored */
} ocdm__saved_run;

/* The requested run. */
typedef struct ocdm__asked_run {
    const ocdm__run_settings *settings; /* resolved */
    const uint32_t *tasks;              /* all of them, in their order */
    size_t task_count;
    const ocdm__stream *stream;
    const uint8_t *groups;       /* of each class of the stream */
    const double *class_weights; /* of each class of the stream; NULL: 1 for every class */
} ocdm__asked_run;

ocdm__asked_run ocdm__asked_of(const ocdm__run *run);

/* OCDM_OK; OCDM_BAD_ARGUMENT, naming the first setting that differs, or the first class whose group or weight does;
 * OCDM_BAD_FILE if the stream is a different one; OCDM_NO_MEMORY. */
ocdm_status ocdm__saved_run_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error);

/* The same for a summary.json. Also OCDM_IO, and OCDM_BAD_FILE if the file is not a summary. */
ocdm_status ocdm__summary_compare(const char *path, const ocdm__asked_run *asked, ocdm_error *error);

/*
 * Compares the settings alone, by key. A key that is missing in the file means its default. An unknown key is an error that
 * names it. Where the groups or weights of classes are known, files of them may have different names.
 */
ocdm_status ocdm__saved_settings_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error);

#endif
