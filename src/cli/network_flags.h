/* The flags that `predict` and `stream featurize` share: which network, which weights, how images are cut. */
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
        {.name = "resize", .value = "R", .help = "images: the shorter side becomes R pixels, 256 by default for files"},       \
        {.name = "crop",                                                                                                       \
         .value = "N",                                                                                                         \
         .help = "images: the middle square of N pixels, 224 by default for files, else all of it"},                           \
        {.name = "images", .value = "ROOT", .help = "the folder of the image files, instead of the stream's own"},             \
        {.name = "threads", .value = "T", .fallback = "2", .help = "threads for the network, and as many to decode images"},   \
    {                                                                                                                          \
        .name = "batch", .value = "B", .fallback = "100", .help = "samples at a time; the last bits may hang on it"            \
    }

/*
 * Reads them, and the one operand, the stream; -o (`output`) must be there and be none of the inputs. What is not among these
 * flags stays zero. OCDM_OK, OCDM_BAD_ARGUMENT.
 */
ocdm_status ocdm__read_network_flags(const ocdm__arguments *arguments, ocdm__predictor_settings *settings, ocdm_error *error);

#endif
