/* The flags that `predict`, `stream featurize` and `weights export` share: which network, which weights, how images are resized
 * and cropped. */
#ifndef OCDM_CLI_NETWORK_FLAGS_H
#define OCDM_CLI_NETWORK_FLAGS_H

#include "base/base.h"
#include "agent/model.h"
#include "cli/flags.h"
#include "experiment/predict.h"

/* Rows for a verb's table of flags: which network, and how large its images are. */
#define OCDM__MODEL_FLAG                                                                                                       \
    OCDM__CHOICE(0, "model", "M", NULL, ocdm__model_names, "the network; found from the weights by default")
#define OCDM__SIZE_FLAGS                                                                                                       \
    OCDM__VALUE(0, "resize", "R", NULL,                                                                                        \
                "resize images to a shorter side of R pixels; by default as the weights were trained, else 256"),              \
        OCDM__VALUE(0, "crop", "N", NULL,                                                                                      \
                    "then crop the centre square of N pixels; by default as the weights were trained, else 224"),              \
        OCDM__VALUE(0, "image-size", "N", NULL, "the same as --crop N, and --resize with the usual eighth around it")

/* And what predicting needs besides. */
#define OCDM__NETWORK_FLAGS                                                                                                    \
    OCDM__MODEL_FLAG, OCDM__VALUE(0, "weights", "FILE", NULL, "its weights, safetensors; required"), OCDM__SIZE_FLAGS,         \
        OCDM__VALUE(0, "images", "ROOT", NULL, "folder of the stream's image files, instead of the one in the stream"),        \
        OCDM__VALUE(0, "threads", "T", "2", "threads for the network, and the same number for decoding"),                      \
        OCDM__VALUE(0, "batch", "B", "100", "samples at a time; can change the last bits of results")

/* Names of classes, for weights that have none. */
#define OCDM__CLASSES_FLAG                                                                                                     \
    OCDM__VALUE(0, "classes", "FILE", NULL, "names of the classes, one on each line, for weights that do not have them")

/* Reads OCDM__MODEL_FLAG and OCDM__SIZE_FLAGS, or OCDM__NETWORK_FLAGS. Members without a flag here stay zero, except `note`.
 * OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__read_model_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error);
ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error);

/* Then the one operand, the stream. -o (`output`) is required and must not be one of the inputs. OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__read_network_files(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error);

/* Refuses to write over an input: OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__check_output(const char *input, const char *path, ocdm_error *error);

/* The names that --classes gives instead of those in `about`; there must be `count`. OCDM_OK, OCDM_BAD_FILE, OCDM_IO,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__read_class_names(const ocdm__arguments *arguments, size_t count, ocdm__weights_about *about,
                                   ocdm_error *error);

#endif
