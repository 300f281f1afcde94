/*
 * What a weights file says about itself, so that it can be used without the stream or the flags of its run: model, names of the
 * classes, what the network takes and how that was prepared, and which run made it. docs/agent.md lists the entries; they are
 * metadata of the safetensors file, beside its tensors.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_WEIGHTS_ABOUT_H
#define OCDM_EXPERIMENT_FOLDER_WEIGHTS_ABOUT_H

#include "base/base.h"
#include "base/output.h"
#include "base/safetensors.h"
#include "experiment/loop/run.h"
#include "stream/file.h"

/* Room for the id of a run: 16 hexadecimal digits of the SHA-256 of its settings and of the checksum of its stream. Two runs
 * with the same id have the same results. */
#define OCDM__RUN_ID 17
ocdm_status ocdm__run_id(const ocdm__run *run, char id[OCDM__RUN_ID], ocdm_error *error);

/* Writes the weights of a finished run that its learner uses, and what is known about them. `average` is the rate of an average
 * of the trained weights; NULL for these. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY, OCDM_BAD_RECORD; on error `path` is as it was. */
ocdm_status ocdm__weights_write(const ocdm__run *run, const char *average, const char *path, ocdm_error *error);

/* What images are normalised by, as torchvision does: (x / 255 - mean) / deviation of each channel; and as "[0.5,0.5,0.5]". */
typedef struct ocdm__image_scale {
    float mean[3], deviation[3];
    char mean_text[48], deviation_text[48];
} ocdm__image_scale;
ocdm__image_scale ocdm__image_scale_of(const char *model);

/* What was read. All bytes zero: the file says nothing, as those of other programs and of earlier versions. */
typedef struct ocdm__weights_about {
    char program[32], run[OCDM__RUN_ID]; /* "" when nothing is said */
    size_t class_count;
    ocdm__text_list classes;
    bool images;
    uint32_t resize, crop;                   /* of images: pixels of the shorter side, then of the square */
    ocdm__image_scale scale;                 /* of images */
    uint32_t features;                       /* else: how many */
    float *feature_mean, *feature_deviation; /* of features that were standardized; else NULL */
} ocdm__weights_about;

/* Reads it. `name` is the file's, for messages. OCDM_OK; OCDM_BAD_FILE if an entry of a file of ours makes no sense;
 * OCDM_NO_MEMORY. Clear it even after an error. */
ocdm_status ocdm__weights_about_read(ocdm__weights_about *about, const char *name, const struct ocdm__safetensors *file,
                                     ocdm_error *error);
void ocdm__weights_about_clear(ocdm__weights_about *about);

/* Whether the file says anything. */
static inline bool ocdm__weights_about_known(const ocdm__weights_about *about)
{
    return about->program[0] != '\0';
}

/* The names as a JSON list. */
void ocdm__class_names_write(ocdm__output *output, const ocdm__text_list *classes, size_t count);

#endif
