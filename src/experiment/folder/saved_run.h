/*
 * Whether a file, the checkpoint or the summary of a run, is of the run at hand: settings, stream and groups of classes. Groups
 * from a file are the same when the classes are in the same groups, whatever the file is called; where a run of an earlier
 * version does not tell its groups, the file's name decides.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_SAVED_RUN_H
#define OCDM_EXPERIMENT_FOLDER_SAVED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_tree.h"
#include "experiment/loop/run.h"
#include "ocdm/ocdm.h"

/* What a file tells of its run. */
typedef struct ocdm__saved_run {
    const char *name;     /* the file, for messages */
    const char *settings; /* the JSON object that ocdm__run_settings_write made */
    size_t settings_length;
    char checksum[OCDM__CHECKSUM_TEXT]; /* of the stream */
    const uint8_t *groups;              /* of each class of the stream; NULL: not told */
} ocdm__saved_run;

/* OCDM_OK; OCDM_BAD_ARGUMENT with the setting, or the class whose group, differs first; OCDM_BAD_FILE when the stream is
 * another one; OCDM_NO_MEMORY. */
ocdm_status ocdm__saved_run_compare(const ocdm__saved_run *saved, const ocdm__run *run, ocdm_error *error);

/* The same for a summary.json. Also OCDM_IO, and OCDM_BAD_FILE when it is none. */
ocdm_status ocdm__summary_compare(const char *path, const ocdm__run *run, ocdm_error *error);

/* ---- its parts -------------------------------------------------------------------------------------------------------- */

/* The settings alone, against `asked`, which ocdm__run_settings_write made too. Where the groups are told, files of them may
 * have other names. */
ocdm_status ocdm__saved_settings_compare(const ocdm__saved_run *saved, const char *asked, size_t asked_length,
                                         ocdm_error *error);

/* The groups of `count` classes as the summary of a run has them; false when it does not tell them, or those of other classes.
 */
bool ocdm__summary_groups(const ocdm__json_node *root, uint8_t *groups, size_t count);

#endif
