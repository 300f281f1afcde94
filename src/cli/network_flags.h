/* The flags that `predict` and `stream featurize` share: which network, which weights, how images are resized and cropped. */
#ifndef OCDM_CLI_NETWORK_FLAGS_H
#define OCDM_CLI_NETWORK_FLAGS_H

#include "agent/model.h"
#include "cli/flags.h"
#include "experiment/predict.h"
#include "ocdm/ocdm.h"

/* Rows for a verb's table of flags. */
#define OCDM__NETWORK_FLAGS                                                                                                    \
    {.name = "model", .value = "M", .choices = ocdm__model_names, .help = "the network"},                                      \
        {.name = "weights", .value = "FILE", .help = "its weights, safetensors"},                                              \
        {.name = "resize",                                                                                                     \
         .value = "R",                                                                                                         \
         .help = "resize images to a shorter side of R pixels; 256 for image files by default"},                               \
        {.name = "crop",                                                                                                       \
         .value = "N",                                                                                                         \
         .help = "then crop the centre square of N pixels; 224 for image files by default, else all"},                         \
        {.name = "images", .value = "ROOT", .help = "folder of the image files, instead of the one in the stream"},            \
        {.name = "threads",                                                                                                    \
         .value = "T",                                                                                                         \
         .fallback = "2",                                                                                                      \
         .help = "threads for the network, and the same number for decoding"},                                                 \
    {                                                                                                                          \
        .name = "batch", .value = "B", .fallback = "100", .help = "samples at a time; can change the last bits of results"     \
    }

/*
 * Reads them and the one operand, the stream. -o (`output`) is required and must not be one of the inputs. Members without a
 * flag here stay zero. OCDM_OK, OCDM_BAD_ARGUMENT.
 */
ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error);

#endif
