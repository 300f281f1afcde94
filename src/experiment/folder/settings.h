/*
 * The settings of a run: what `ocdm run` is asked for, whether it makes sense with the stream at hand, and how files tell it.
 * Everything that a result depends on is here but the stream; threads and checkpoints are here too, and no result depends on
 * them.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_SETTINGS_H
#define OCDM_EXPERIMENT_FOLDER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

typedef struct ocdm__run_settings {
    const char *method; /* a policy of the library, "finetune" or "multitask" */
    uint32_t memory;    /* M; not looked at without a memory */
    uint32_t batch;     /* samples of the stream in a step */
    uint32_t replay;    /* samples of the memory in a step; multitask trains on batch + replay samples at once */
    double rho;
    ocdm_distance distance;
    ocdm_tie tie;
    const char *model;   /* of agent/model.h, or "none": the memory alone */
    const char *weights; /* a file to start from; NULL for none */
    bool bf16;
    double learning_rate, epsilon, clip; /* clip 0: do not */
    uint64_t seed;
    const uint64_t *order; /* the tasks; NULL for ascending */
    size_t order_count;
    uint32_t epochs;        /* multitask: passes over all data so far at each task */
    uint32_t resize, crop;  /* images: pixels of the shorter side, then of the crop; OCDM_NONE: what suits the stream */
    const char *image_root; /* instead of the stream's; NULL */
    bool strict;            /* an image that cannot be decoded ends the run */
    const char *groups;     /* as experiment/loop/evaluation_groups.h has it; NULL: the stream's own, else 600,100 */
    uint32_t log_every;     /* steps between two that are logged */
    unsigned threads;
    uint64_t checkpoint_every; /* steps; 0: after each task alone */
} ocdm__run_settings;

/* The defaults of `ocdm run`: ocdm with 1000 slots, 10 + 10 samples a step, a linear model, lr 1e-4, eps 1e-4. */
ocdm__run_settings ocdm__run_settings_default(void);

/* The names that a method can have, ended by NULL. */
extern const char *const ocdm__run_methods[];

/* Whether there is a memory, an agent. */
bool ocdm__run_has_memory(const ocdm__run_settings *settings);
bool ocdm__run_has_agent(const ocdm__run_settings *settings);

/* What a stream's samples are made of: "features", "images", "files" or "labels". */
const char *ocdm__stream_kind(const ocdm__stream *stream);

/* The two checksums of a stream as files of runs have them: hexadecimal digits and a NUL. */
#define OCDM__CHECKSUM_TEXT 33
void ocdm__checksum_text(const uint64_t checksum[2], char text[OCDM__CHECKSUM_TEXT]);

/*
 * Fills in what depends on the stream (resize, crop, groups) and says what contradicts itself or the stream. `path` is the
 * stream's, for messages. OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_UNKNOWN_NAME, OCDM_BAD_FILE (a stream without training samples,
 * ...), OCDM_NOT_SINGLE_LABEL.
 */
ocdm_status ocdm__run_settings_resolve(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                       ocdm_error *error);

/* The part of it that concerns the model, for those who only evaluate one. */
ocdm_status ocdm__run_settings_resolve_model(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                             ocdm_error *error);

/* Writes them as a JSON object; `tasks` are all tasks in their order. */
void ocdm__run_settings_write(ocdm__output *output, const ocdm__run_settings *settings, const uint32_t *tasks,
                              size_t task_count);

#endif
