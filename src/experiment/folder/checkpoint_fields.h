/*
 * The numbers of a checkpoint, by name. A tensor of numbers holds records; the note "fields.RECORD" of the file lists the names
 * of their fields in order. A reader takes the fields that it knows: one that the file does not have becomes NaN or 0, one that
 * it does not know is skipped. So a new metric or field does not keep older checkpoints from being resumed. Checkpoints without
 * such notes have the fields of the first version.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_CHECKPOINT_FIELDS_H
#define OCDM_EXPERIMENT_FOLDER_CHECKPOINT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/safetensors.h"

/* Where a run is, and which stream it is of. */
typedef struct ocdm__checkpoint_position {
    uint64_t step, evaluations, skipped, log_size, curve_offered, curve_stride;
    uint64_t checksum, checksum_2; /* of the stream */
} ocdm__checkpoint_position;

enum ocdm__record_kind {
    OCDM__RECORD_POSITION,   /* ocdm__checkpoint_position; the tensor is U64, all others are F64 */
    OCDM__RECORD_TIMES,      /* ocdm__run_times */
    OCDM__RECORD_POINT,      /* ocdm__curve_point */
    OCDM__RECORD_EVALUATION, /* ocdm__evaluation without its averages */
    OCDM__RECORD_AVERAGES,   /* ocdm__averages */
    OCDM__RECORD_SCORE,      /* ocdm__class_score */
    OCDM__RECORD_COST,       /* ocdm__run_cost */
    OCDM__RECORD_KINDS
};

/* The note that names the fields of a kind of record, and room for its value. */
#define OCDM__RECORD_NOTE 256
const char *ocdm__record_key(enum ocdm__record_kind kind);
void ocdm__record_names(enum ocdm__record_kind kind, char text[OCDM__RECORD_NOTE]);

/* Appends an object as a record. */
void ocdm__record_put(enum ocdm__record_kind kind, const void *object, ocdm__output *output);

/* How a file stores a kind of record. */
#define OCDM__RECORD_FIELDS 24
typedef struct ocdm__record_layout {
    enum ocdm__record_kind kind;
    size_t width;                   /* numbers of a record, 0 for a note that makes no sense */
    size_t at[OCDM__RECORD_FIELDS]; /* place of each field that we know; SIZE_MAX: not in the file */
} ocdm__record_layout;

ocdm__record_layout ocdm__record_layout_of(const struct ocdm__safetensors *file, enum ocdm__record_kind kind);

/* Sets the fields of an object from the record at `*bytes`, which moves on to the next one. */
void ocdm__record_get(const ocdm__record_layout *layout, const unsigned char **bytes, void *object);

#endif
