/*
 * Applies a network with the weights of a file to the samples of a stream, in evaluation mode: writes its logits as an NPY
 * file, or the inputs of its head as a stream of features; or applies it to image files, which are made a stream in memory.
 * Samples come in batches; while one is worked on, the next is prepared:
 *
 *     OCDM_TRY(ocdm__predictor_open(&predictor, &settings, error));
 *     OCDM_TRY(ocdm__predictor_begin(&predictor, OCDM__PREDICT_TEST, error));
 *     for (;;) {
 *         OCDM_TRY(ocdm__predictor_next(&predictor, &batch, error));
 *         if (predictor.walk.first == predictor.walk.next)
 *             break;
 *         ... predictor.rows ...
 *     }
 */
#ifndef OCDM_EXPERIMENT_PREDICT_H
#define OCDM_EXPERIMENT_PREDICT_H

#include "base/base.h"
#include "agent/agent.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "experiment/weights_file.h"
#include "stream/features.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

/* ---- network ------------------------------------------------------------------------------------------------------------- */

/* The texts must live as long as the predictor. */
typedef struct ocdm__predictor_settings {
    const char *stream;     /* a stream file; NULL: image files, see below */
    const char *model;      /* one of ocdm__model_names; NULL: the one of the weights */
    const char *weights;    /* a weights file */
    uint32_t resize, crop;  /* as in experiment/loop/inputs.h; 0: those of the weights, if they are known */
    const char *image_root; /* instead of the stream's own; NULL */
    unsigned threads;       /* for the network, and as many for images */
    size_t batch;           /* samples at a time, from 1 */
    bool bf16;
    bool skip_bad;                  /* images that cannot be decoded are left out of a batch; else they end the work */
    bool features;                  /* the inputs of the head; else logits, which need a head for the stream's classes */
    void (*note)(const char *text); /* something that a user should know, one line; may be NULL */
} ocdm__predictor_settings;

enum ocdm__predict_part { OCDM__PREDICT_TEST, OCDM__PREDICT_TRAIN, OCDM__PREDICT_ALL };

/* Start with all bytes zero. */
typedef struct ocdm__predictor {
    ocdm__predictor_settings settings;
    ocdm__stream stream;
    ocdm__weights_file weights;
    ocdm__model_inputs *inputs;
    ocdm__agent *agent;
    const char *model;
    struct ocdm__weights_fit fit;
    ocdm__weights_about about;
    uint32_t resize, crop; /* of images */
    ocdm__learner learner; /* the agent */
    uint32_t *samples;     /* to go through, in the order of the stream */
    ocdm__walk walk;       /* through them, batch by batch */
    size_t width;          /* of a row: classes or features */
    float *rows;           /* of the batch under way, one for each sample that could be prepared */
    bool joined, goes_on;  /* all ranks work on every batch; the others wait for the leader's next one */
} ocdm__predictor;

/*
 * Opens the files and makes the network. OCDM_OK; OCDM_BAD_FILE for a damaged file, weights that do not fit the model or the
 * stream, a stream that is not what the model takes, weights of features without a stream; OCDM_IO, OCDM_BAD_ARGUMENT,
 * OCDM_LIMIT, OCDM_NO_MEMORY. Close it even after an error.
 */
ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error);

/* Releases everything. */
void ocdm__predictor_close(ocdm__predictor *predictor);

/* The leader's word whether there is another batch, for all ranks that have joined. */
bool ocdm__predictor_goes_on(ocdm__predictor *predictor, bool wanted);

/* Lists the samples of a part, and makes room for the rows of a batch. Once for a predictor. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, enum ocdm__predict_part part, ocdm_error *error);

/* The next batch: the samples of it that could be prepared, by whichever rank, and their rows; it covers numbers `first` to
 * `next` - 1 of the walk, which are equal at the end. Invalidates the batch before. OCDM_OK, and what ocdm__walk_next and the
 * network give. */
ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__batch *batch, ocdm_error *error);

/* For the other ranks once they have joined: goes through the same batches as the leader, and computes rows with it. Without a
 * stream in the settings the batches are those of the leader's image files. Rank 0 reports what goes wrong. */
void ocdm__predictor_follow(const ocdm__predictor_settings *settings, enum ocdm__predict_part part);

/* ---- logits -------------------------------------------------------------------------------------------------------------- */

typedef struct ocdm__predict_settings {
    ocdm__predictor_settings network; /* of logits */
    enum ocdm__predict_part part;
    const char *output;
} ocdm__predict_settings;

typedef struct ocdm__predict_report {
    uint64_t samples, classes;
    uint64_t skipped; /* rows of NaN: samples whose image could not be decoded */
    ocdm_error first_skipped;
} ocdm__predict_report;

/*
 * Writes the file, atomically: on error, or when stopped, the path is unchanged. With `skip_bad` a sample whose image cannot be
 * decoded has a row of NaN; without it such an image is an error.
 * OCDM_OK, OCDM_BAD_FILE (what ocdm__predictor_open gives; no sample in that part), OCDM_BAD_RECORD (a logit that is not
 * finite), OCDM_IO, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__predict(const ocdm__predict_settings *settings, const ocdm__progress *progress, ocdm__predict_report *report,
                          ocdm_error *error);

/* ---- image files --------------------------------------------------------------------------------------------------------- */

/*
 * Adds a file, or the JPEG and PNG files in a folder and the folders in it, sorted by their paths. In folders, files count by
 * their first bytes or by their names (.jpg, .jpeg, .png), and names that begin with a dot do not. A file that is not there is
 * added: predicting reports it. OCDM_OK, OCDM_IO, OCDM_BAD_FILE (a folder without images), OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__photos_find(ocdm__found_files *files, const char *path, ocdm_error *error);

/* The result for a file. */
typedef struct ocdm__photo {
    const char *path;
    const float *logits;   /* predictor.width of them; NULL: the file cannot be used */
    const ocdm_error *why; /* then: the reason */
} ocdm__photo;

/* Is called for each file, in the order of the list. Another status than OCDM_OK ends the work. */
typedef ocdm_status ocdm__photo_told(void *state, const ocdm__photo *photo, ocdm_error *error);

/* Predicts all files with a predictor that was opened without a stream. OCDM_OK whatever happened to single files;
 * OCDM_BAD_ARGUMENT (sizes that do not fit), OCDM_LIMIT, OCDM_NO_MEMORY, OCDM_STOPPED, and what `told` returns. */
ocdm_status ocdm__photos_predict(ocdm__predictor *predictor, const ocdm__found_files *files, const ocdm__progress *progress,
                                 ocdm__photo_told *told, void *state, ocdm_error *error);

/* The leader's files as the predictor's stream, on all ranks, and its inputs; others have no files. OCDM_OK, OCDM_NO_MEMORY,
 * and what the inputs give: where ranks work together, such an error ends them all. */
ocdm_status ocdm__photos_open(ocdm__predictor *predictor, const ocdm__found_files *files, ocdm_error *error);

/* Opens the inputs of the predictor's stream, whose kind is what the model takes. As ocdm__model_inputs_open. */
ocdm_status ocdm__predictor_open_inputs(ocdm__predictor *predictor, ocdm_error *error);

/* ---- features ------------------------------------------------------------------------------------------------------------ */

typedef struct ocdm__featurize_settings {
    ocdm__predictor_settings network; /* of features; skip_bad is ignored: every image is needed */
    enum ocdm__dtype type;            /* of the stored features: OCDM__F32 or OCDM__F16 */
    enum ocdm__standardize standardize;
    const char *command; /* for the file's notes */
    const char *output;
} ocdm__featurize_settings;

typedef struct ocdm__featurize_report {
    uint64_t samples, features, classes;
    char ids[OCDM__SHA256_TEXT];
} ocdm__featurize_report;

/*
 * Writes the stream, atomically: on error, or when stopped, the path is unchanged. Memory does not grow with the number of
 * samples' features; with `standardize` they go through a temporary file beside the output.
 * OCDM_OK; OCDM_BAD_FILE (what ocdm__predictor_open gives; an image that cannot be decoded; no training sample to standardize
 * by); OCDM_BAD_RECORD (a feature that is not finite); OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__featurize(const ocdm__featurize_settings *settings, const ocdm__progress *progress,
                            ocdm__featurize_report *report, ocdm_error *error);

#endif
