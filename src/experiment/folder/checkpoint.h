/*
 * A run as one file, from which it can be resumed: learner, memory, position, evaluations and curve so far, settings and the
 * checksum of the stream. The file is safetensors with a checksum over all bytes, so that damage is detected; numbers are
 * stored by name. No generator state is saved: random numbers depend only on seed and position.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_CHECKPOINT_H
#define OCDM_EXPERIMENT_FOLDER_CHECKPOINT_H

#include "base/base.h"
#include "base/files.h"
#include "base/safetensors.h"
#include "experiment/loop/run.h"

/* The format that the file's notes name, and the prefix of the names of the learner's tensors. */
#define OCDM__CHECKPOINT_FORMAT "ocdm-checkpoint"
#define OCDM__CHECKPOINT_LEARNER "agent."

/* Writes the state of a run, which stays as it is; `log_size` is the length of its log. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY,
 * OCDM_BAD_RECORD (weights that are not finite); on error `path` is as it was. */
ocdm_status ocdm__checkpoint_write(ocdm__run *run, uint64_t log_size, const char *path, ocdm_error *error);

/* Where a run is, and which stream it is of. */
typedef struct ocdm__checkpoint_position {
    uint64_t step, evaluations, skipped, log_size, curve_offered, curve_stride;
    uint64_t checksum, checksum_2; /* of the stream */
} ocdm__checkpoint_position;

/* A checkpoint that is open. Start with all bytes zero. */
typedef struct ocdm__checkpoint {
    ocdm__mapped_file file;
    struct ocdm__safetensors tensors;
    ocdm__checkpoint_position position;
} ocdm__checkpoint;

/* Opens a file and checks that it is whole. OCDM_OK, OCDM_IO, OCDM_BAD_FILE, OCDM_NO_MEMORY. Close it even after an error. */
ocdm_status ocdm__checkpoint_open(ocdm__checkpoint *checkpoint, const char *path, ocdm_error *error);
void ocdm__checkpoint_close(ocdm__checkpoint *checkpoint);

/* Whether it belongs to the requested run, see experiment/folder/saved_run.h. */
ocdm_status ocdm__checkpoint_compare(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error);

/* Writes the instructions that the checkpoint was made with to `text` when the run's learner uses others, so that the last bits
 * of what follows may differ; false otherwise, and when one of them does not say. */
bool ocdm__checkpoint_has_other_instructions(const ocdm__checkpoint *checkpoint, const ocdm__run *run, char *text, size_t room);

/* Restores a run that was opened and not begun. OCDM_OK; after OCDM_BAD_FILE or OCDM_NO_MEMORY the run can only be closed. */
ocdm_status ocdm__checkpoint_restore(const ocdm__checkpoint *checkpoint, ocdm__run *run, uint64_t *log_size, ocdm_error *error);

#endif
