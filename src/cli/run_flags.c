/* Reads the flags of a run by the table of settings. */
#define _POSIX_C_SOURCE 200809L

#include "cli/run_flags.h"

#include <unistd.h>

static ocdm_status read_whole(const ocdm__arguments *arguments, const ocdm__setting *setting, uint64_t *value,
                              ocdm_error *error)
{
    uint64_t high = setting->high < 0x1p64 ? (uint64_t)setting->high : UINT64_MAX;
    return ocdm__argument_unsigned(arguments, setting->flag, (uint64_t)setting->low, high, value, error);
}

static ocdm_status read_short(const ocdm__arguments *arguments, const ocdm__setting *setting, uint32_t *value,
                              ocdm_error *error)
{
    uint64_t number = 0;
    ocdm_status status = read_whole(arguments, setting, &number, error);
    *value = (uint32_t)number;
    return status;
}

static ocdm_status read_choice(const ocdm__arguments *arguments, const ocdm__setting *setting, void *member, ocdm_error *error)
{
    size_t index = 0;
    ocdm_status status = ocdm__argument_choice(arguments, setting->flag, &index, error);
    if (setting->kind == OCDM__SETTING_CHOICE)
        *(uint32_t *)member = (uint32_t)index;
    else
        *(const char **)member = ocdm__argument_text(arguments, setting->flag);
    return status;
}

static ocdm_status read_tasks(const ocdm__arguments *arguments, const ocdm__setting *setting, ocdm__run_settings *settings,
                              uint64_t *order, ocdm_error *error)
{
    settings->order = order;
    return ocdm__argument_list(arguments, setting->flag, (uint64_t)setting->low, (uint64_t)setting->high, order,
                               OCDM__MOST_TASKS, &settings->order_count, error);
}

static ocdm_status read_setting(const ocdm__arguments *arguments, const ocdm__setting *setting, ocdm__run_settings *settings,
                                uint64_t *order, ocdm_error *error)
{
    void *member = ocdm__setting_member(settings, setting);
    switch (setting->kind) {
    case OCDM__SETTING_WHOLE:
    case OCDM__SETTING_OPTIONAL_WHOLE:
        return read_short(arguments, setting, member, error);
    case OCDM__SETTING_LONG:
        return read_whole(arguments, setting, member, error);
    case OCDM__SETTING_REAL:
    case OCDM__SETTING_OPTIONAL_REAL:
        return ocdm__argument_real(arguments, setting->flag, setting->low, setting->high, member, error);
    case OCDM__SETTING_WORD:
    case OCDM__SETTING_CHOICE:
        return read_choice(arguments, setting, member, error);
    case OCDM__SETTING_TASKS:
        return read_tasks(arguments, setting, settings, order, error);
    case OCDM__SETTING_FILE:
    case OCDM__SETTING_CLASS_FILE:
    case OCDM__SETTING_GROUPS:
        *(const char **)member = ocdm__argument_text(arguments, setting->flag);
        break;
    case OCDM__SETTING_SWITCH:
        *(bool *)member = true;
        break;
    }
    return OCDM_OK;
}

static ocdm_status read_rows(const ocdm__arguments *arguments, bool grid, ocdm__run_settings *settings, uint64_t *order,
                             ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    const ocdm__setting *setting;
    for (size_t i = 0; status == OCDM_OK && (setting = ocdm__setting_at(i)) != NULL; i++)
        if (setting->grid == grid && ocdm__argument_text(arguments, setting->flag) != NULL)
            status = read_setting(arguments, setting, settings, order, error);
    return status;
}

ocdm_status ocdm__run_flags_read(const ocdm__arguments *arguments, ocdm__run_settings *settings, ocdm_error *error)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    settings->threads = cores < 1 ? 1 : cores > OCDM__MAX_THREADS ? OCDM__MAX_THREADS : (uint32_t)cores;
    return read_rows(arguments, false, settings, NULL, error);
}

ocdm_status ocdm__run_flags_read_grid(const ocdm__arguments *arguments, ocdm__run_settings *settings, uint64_t *order,
                                      ocdm_error *error)
{
    return read_rows(arguments, true, settings, order, error);
}
