/* The flags that say how a run is to be, and the settings that they make: for `ocdm run` and for verbs that make several runs.
 */
#ifndef OCDM_CLI_RUN_FLAGS_H
#define OCDM_CLI_RUN_FLAGS_H

#include "cli/flags.h"
#include "experiment/folder/settings.h"

#define OCDM__MOST_TASKS 1024

/* The words that flags of a run take, ended by NULL: models with "none", distances, tie rules, precisions. */
extern const char *const ocdm__run_model_choices[];
extern const char *const ocdm__run_distance_choices[];
extern const char *const ocdm__run_tie_choices[];
extern const char *const ocdm__run_precision_choices[];

/* The flags as entries of a verb's table; --method, --seed, --memory, --rho and --order are in tables of their own, since other
 * verbs take several of each. */
#define OCDM__RUN_FLAGS                                                                                                        \
    {.letter = 'b', .name = "batch", .value = "B", .fallback = "10", .help = "samples of the stream in a step"},               \
        {.name = "replay", .value = "R", .fallback = "10", .help = "samples of the memory in a step"},                         \
        {.name = "distance",                                                                                                   \
         .value = "D",                                                                                                         \
         .fallback = "kl",                                                                                                     \
         .choices = ocdm__run_distance_choices,                                                                                \
         .help = "how far from the target a memory is, which ocdm and onlyone minimise"},                                      \
        {.name = "tie",                                                                                                        \
         .value = "T",                                                                                                         \
         .fallback = "key",                                                                                                    \
         .choices = ocdm__run_tie_choices,                                                                                     \
         .help = "which of equally good samples goes, in ocdm and onlyone"},                                                   \
        {.name = "model",                                                                                                      \
         .value = "NAME",                                                                                                      \
         .fallback = "linear",                                                                                                 \
         .choices = ocdm__run_model_choices,                                                                                   \
         .help = "what learns: linear and mlp from features, the others from images; none runs the memory alone"},             \
        {.name = "weights", .value = "FILE", .help = "start from these weights (safetensors)"},                                \
        {.name = "precision",                                                                                                  \
         .value = "P",                                                                                                         \
         .fallback = "f32",                                                                                                    \
         .choices = ocdm__run_precision_choices,                                                                               \
         .help = "bf16 needs a CPU that has it; models of images are faster in it with AMX"},                                  \
        {.name = "lr", .value = "X", .fallback = "1e-4", .help = "the learning rate of Adam"},                                 \
        {.name = "adam-eps", .value = "X", .fallback = "1e-4", .help = "Adam's epsilon, added outside the root"},              \
        {.name = "clip", .value = "X", .help = "cut every gradient to -X..X"},                                                 \
        {.name = "epochs", .value = "N", .fallback = "1", .help = "multitask: passes over all data so far at each task"},      \
        {.name = "resize", .value = "PIXELS", .help = "bring the shorter side of images to this; 0 leaves it; 256 for files"}, \
        {.name = "crop", .value = "PIXELS", .help = "then take a square of this size; 224 for files"},                         \
        {.name = "images", .value = "FOLDER", .help = "where the image files are, instead of what the stream says"},           \
        {.name = "strict", .help = "an image that cannot be decoded ends the run instead of being left out"},                  \
        {.name = "groups",                                                                                                     \
         .value = "H,L|FILE",                                                                                                  \
         .help = "majority over H training samples, minority under L, or as a file says; the stream's own, else 600,100"},     \
        {.name = "log-every", .value = "N", .fallback = "10", .help = "log every N-th step"},                                  \
        {.name = "threads",                                                                                                    \
         .value = "N",                                                                                                         \
         .help = "for models of images and decoding, all cores by default; changes no result"},                                \
    {                                                                                                                          \
        .name = "checkpoint-every", .value = "STEPS", .fallback = "1000",                                                      \
        .help = "save every so many steps, 0: after each task only"                                                            \
    }

/* Settings from the flags above; what the text of `settings` points to is the command line's. OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__run_flags_read(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error);

/* The part of it that says how images are read and computed with: --precision, --resize, --crop, --threads. */
ocdm_status ocdm__run_flags_read_machine(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error);

#endif
