/* The flags of the settings of a run, for `ocdm run` and for verbs that make several runs or evaluate a model. */
#ifndef OCDM_CLI_RUN_FLAGS_H
#define OCDM_CLI_RUN_FLAGS_H

#include "base/base.h"
#include "cli/flags.h"
#include "experiment/loop/settings.h"

/* Rows of OCDM__SETTINGS as entries of a verb's table. */
#define OCDM__RUN_FLAG(key, member, kind, a_letter, flag, a_value, a_fallback, a_choices, low, high, needs, a_help)            \
    {.letter = a_letter, .name = flag, .value = a_value, .fallback = a_fallback, .choices = a_choices, .help = a_help},
#define OCDM__NO_RUN_FLAG(key, member, kind, letter, flag, value, fallback, choices, low, high, needs, help)

/* Of verbs that read runs and make those that are missing. */
#define OCDM__OWN_MODEL_FLAG                                                                                                   \
    {.name = "own-model",                                                                                                      \
     .value = "NAME",                                                                                                          \
     .help = "instead of --model: the name of a model of your own (ocdm.Run), whose runs must be there; none are made"},

/* All of them; all but those that `ocdm compare` takes several values of. */
#define OCDM__RUN_FLAGS OCDM__SETTINGS(OCDM__RUN_FLAG, OCDM__RUN_FLAG)
#define OCDM__COMPARE_FLAGS OCDM__SETTINGS(OCDM__NO_RUN_FLAG, OCDM__RUN_FLAG) OCDM__OWN_MODEL_FLAG

/*
 * Sets the settings whose flags the verb has, to what is given or to the default; the others keep their values. Rows that
 * `ocdm compare` takes several values of are left out. Texts in `settings` belong to the command line. OCDM_OK,
 * OCDM_BAD_ARGUMENT.
 */
ocdm_status ocdm__run_flags_read(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error);

/* The same for the rows that are left out; `order` has room for OCDM__MOST_TASKS tasks. */
ocdm_status ocdm__run_flags_read_grid(const ocdm__arguments *arguments, ocdm__run_settings *settings, uint64_t *order,
                                      ocdm_error *error);

#endif
