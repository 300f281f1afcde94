/*
 * A run as one file, to go on from: network and optimiser, memory, position, evaluations and curve so far, and what the run is
 * of (settings, the stream's checksum). Safetensors with a checksum over all bytes, so that damage is noticed; written to a
 * new file that takes the old one's place. There is no generator to save: random numbers follow from seed and position.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_CHECKPOINT_H
#define OCDM_EXPERIMENT_FOLDER_CHECKPOINT_H

#include <stdint.h>

#include "base/files.h"
#include "base/safetensors.h"
#include "experiment/loop/run.h"
#include "ocdm/ocdm.h"

/* Writes the run's state; `log_size` is how long its log is. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY; on error `path` is as it was. */
ocdm_status ocdm__checkpoint_write(const ocdm__run *run, uint64_t log_size, const char *path, ocdm_error *error);

/* A checkpoint that is open. Start with all bytes zero. */
typedef struct ocdm__checkpoint {
    ocdm__mapped_file file;
    struct ocdm__safetensors tensors;
} ocdm__checkpoint;

/* Opens a file and checks that it is whole. OCDM_OK, OCDM_IO, OCDM_BAD_FILE, OCDM_NO_MEMORY. To be closed in either case. */
ocdm_status ocdm__checkpoint_open(ocdm__checkpoint *checkpoint, const char *path, ocdm_error *error);
void ocdm__checkpoint_close(ocdm__checkpoint *checkpoint);

/* Whether it is of the run at hand, as experiment/folder/saved_run.h has it. */
ocdm_status ocdm__checkpoint_compare(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error);

/* Brings a run that was opened, and not begun, to where the checkpoint is. OCDM_OK; OCDM_BAD_FILE, OCDM_NO_MEMORY: the run is
 * to be closed. */
ocdm_status ocdm__checkpoint_restore(const ocdm__checkpoint *checkpoint, ocdm__run *run, uint64_t *log_size, ocdm_error *error);

/* ---- shared by writing and reading ----------------------------------------------------------------------------------------
 */

#define OCDM__CHECKPOINT_FORMAT "ocdm-checkpoint"
#define OCDM__CHECKPOINT_VERSION "1"

/* The agent's tensors have their own names after this. */
#define OCDM__CHECKPOINT_AGENT "agent."

/* Numbers of the tensor "position", in this order. */
enum ocdm__checkpoint_position {
    OCDM__AT_STEP,
    OCDM__AT_EVALUATIONS,
    OCDM__AT_SKIPPED,
    OCDM__AT_LOG_SIZE,
    OCDM__AT_CURVE_OFFERED,
    OCDM__AT_CURVE_STRIDE,
    OCDM__AT_CHECKSUM,
    OCDM__AT_CHECKSUM_2,
    OCDM__AT_NUMBERS
};

/* Numbers of an evaluation before its averages, of averages, of a class's score, of a point of the curve, of the times. */
#define OCDM__EVALUATION_NUMBERS 6u
#define OCDM__AVERAGES_NUMBERS (1u + OCDM__METRIC_COUNT)
#define OCDM__SCORE_NUMBERS 4u
#define OCDM__POINT_NUMBERS 5u
#define OCDM__TIMES_NUMBERS 6u

#endif
