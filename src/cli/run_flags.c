/* Reads the flags of a run by the table of settings. */
#include "cli/run_flags.h"

#include <unistd.h>

/* A word that is no choice is refused with a suggestion; everything else by the table. */
static ocdm_status read_setting(const ocdm__arguments *arguments, const ocdm__setting *setting, ocdm__run_settings *settings,
                                uint64_t *order, ocdm_error *error)
{
    ocdm_error found;
    const char *text = setting->kind != OCDM__SETTING_SWITCH ? ocdm__argument_text(arguments, setting->flag) : "true";
    if (setting->choices != NULL)
        (void)ocdm__argument_choice(arguments, setting->flag);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (ocdm__setting_read(setting, text, settings, order, &found) != OCDM_OK)
        return ocdm__argument_fail(arguments, found.message, error);
    return OCDM_OK;
}

/* The default of a flag does not override a preset. */
static ocdm_status read_rows(const ocdm__arguments *arguments, bool grid, ocdm__run_settings *settings, uint64_t *order,
                             ocdm_error *error)
{
    bool preset = ocdm__argument_given(arguments, "preset");
    const ocdm__setting *setting;
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++)
        if (setting->grid == grid && ocdm__argument_text(arguments, setting->flag) != NULL &&
            (!preset || ocdm__argument_given(arguments, setting->flag)))
            OCDM_TRY(read_setting(arguments, setting, settings, order, error));
    return OCDM_OK;
}

ocdm_status ocdm__run_flags_read(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    settings->network.threads = cores < 1 ? 1 : cores > OCDM__MAX_THREADS ? OCDM__MAX_THREADS : (uint32_t)cores;
    const char *preset = ocdm__argument_text(arguments, "preset");
    if (preset != NULL) {
        (void)ocdm__argument_choice(arguments, "preset");
        OCDM_TRY(ocdm__arguments_check(arguments, error));
        OCDM_TRY(ocdm__run_preset_apply(preset, settings, error));
    }
    if (ocdm__argument_given(arguments, "memory-bytes") && ocdm__argument_given(arguments, "memory"))
        return ocdm__argument_fail(arguments, "memory-bytes and --memory exclude each other", error);
    OCDM_TRY(read_rows(arguments, false, settings, NULL, error));
    /* A model of the user's own, for verbs that have such a flag. */
    const char *name = ocdm__argument_text(arguments, "own-model");
    if (name == NULL)
        return OCDM_OK;
    if (ocdm__argument_given(arguments, "model"))
        return ocdm__argument_fail(arguments, "own-model and --model exclude each other", error);
    settings->model = name;
    settings->own_learner = settings->own_inputs = true;
    return OCDM_OK;
}

ocdm_status ocdm__run_flags_read_grid(const ocdm__arguments *arguments, ocdm__run_settings *settings, uint64_t *order,
                                      ocdm_error *error)
{
    return read_rows(arguments, true, settings, order, error);
}
