/* The table of settings: defaults, members and JSON. */
#include "experiment/folder/settings.h"

#include <stdlib.h>
#include <string.h>

#include "agent/model.h"

const char *const ocdm__run_methods[] = {"ocdm", "rs",      "prs",    "cbes",     "cbrs",      "gss",
                                         "max",  "onlyone", "random", "finetune", "multitask", NULL};
const char *const ocdm__run_distances[] = {"kl", "reverse-kl", "l2", "tv", NULL};
const char *const ocdm__run_ties[] = {"key", "oldest", "newest", "uniform", NULL};
const char *const ocdm__run_models[] = {OCDM__MODELS(OCDM__MODEL_NAME) "none", NULL};
const char *const ocdm__run_precisions[] = {"f32", "bf16", NULL};

#define ENTRY(a_grid, a_key, member, a_kind, a_flag, a_fallback, a_choices, a_low, a_high)                                     \
    {.key = a_key,                                                                                                             \
     .flag = a_flag,                                                                                                           \
     .fallback = a_fallback,                                                                                                   \
     .kind = OCDM__SETTING_##a_kind,                                                                                           \
     .offset = offsetof(ocdm__run_settings, member),                                                                           \
     .choices = a_choices,                                                                                                     \
     .low = a_low,                                                                                                             \
     .high = a_high,                                                                                                           \
     .grid = a_grid},
#define GRID_ENTRY(key, member, kind, letter, flag, value, fallback, choices, low, high, help)                                 \
    ENTRY(true, key, member, kind, flag, fallback, choices, low, high)
#define ROW_ENTRY(key, member, kind, letter, flag, value, fallback, choices, low, high, help)                                  \
    ENTRY(false, key, member, kind, flag, fallback, choices, low, high)

static const ocdm__setting rows[] = {OCDM__SETTINGS(GRID_ENTRY, ROW_ENTRY)};

const ocdm__setting *ocdm__setting_at(size_t i)
{
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

const ocdm__setting *ocdm__setting_of_flag(const char *flag)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].flag, flag) == 0)
            return &rows[i];
    return NULL;
}

void *ocdm__setting_member(ocdm__run_settings *settings, const ocdm__setting *setting)
{
    return (unsigned char *)settings + setting->offset;
}

/* ---- defaults ---------------------------------------------------------------------------------------------------------- */

static uint32_t index_of(const char *const *choices, const char *name)
{
    uint32_t i = 0;
    while (strcmp(choices[i], name) != 0)
        i++;
    return i;
}

/* The default of a row is known to be valid; kinds whose default is 0 or NULL need nothing. */
static void set_default(ocdm__run_settings *settings, const ocdm__setting *setting)
{
    void *member = ocdm__setting_member(settings, setting);
    if (setting->kind == OCDM__SETTING_OPTIONAL_WHOLE)
        *(uint32_t *)member = OCDM_NONE;
    if (setting->fallback == NULL)
        return;
    if (setting->kind == OCDM__SETTING_WHOLE)
        *(uint32_t *)member = (uint32_t)strtoul(setting->fallback, NULL, 10);
    else if (setting->kind == OCDM__SETTING_LONG)
        *(uint64_t *)member = strtoull(setting->fallback, NULL, 10);
    else if (setting->kind == OCDM__SETTING_REAL)
        *(double *)member = strtod(setting->fallback, NULL);
    else if (setting->kind == OCDM__SETTING_WORD)
        *(const char **)member = setting->fallback;
    else if (setting->kind == OCDM__SETTING_CHOICE)
        *(uint32_t *)member = index_of(setting->choices, setting->fallback);
}

ocdm__run_settings ocdm__run_settings_default(void)
{
    ocdm__run_settings settings = {.threads = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        set_default(&settings, &rows[i]);
    return settings;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

static void write_text(ocdm__output *output, const char *text)
{
    if (text != NULL)
        ocdm__output_json_string(output, text, strlen(text));
    else
        ocdm__output_text(output, "null");
}

static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

static void write_tasks(ocdm__output *output, const uint32_t *tasks, size_t count)
{
    ocdm__output_text(output, "[");
    for (size_t i = 0; i < count; i++)
        ocdm__output_count(output, i > 0 ? "," : "", tasks[i]);
    ocdm__output_text(output, "]");
}

static void write_optional(ocdm__output *output, const ocdm__setting *setting, const void *member)
{
    if (setting->kind == OCDM__SETTING_OPTIONAL_WHOLE && *(const uint32_t *)member != OCDM_NONE)
        ocdm__output_uint64(output, *(const uint32_t *)member);
    else if (setting->kind == OCDM__SETTING_OPTIONAL_REAL && *(const double *)member > 0)
        ocdm__output_double(output, *(const double *)member);
    else
        ocdm__output_text(output, "null");
}

void ocdm__setting_write(ocdm__output *output, const ocdm__setting *setting, const ocdm__run_settings *settings,
                         const uint32_t *tasks, size_t task_count)
{
    const void *member = (const unsigned char *)settings + setting->offset;
    switch (setting->kind) {
    case OCDM__SETTING_WHOLE:
        ocdm__output_uint64(output, *(const uint32_t *)member);
        break;
    case OCDM__SETTING_LONG:
        ocdm__output_uint64(output, *(const uint64_t *)member);
        break;
    case OCDM__SETTING_REAL:
        ocdm__output_double(output, *(const double *)member);
        break;
    case OCDM__SETTING_OPTIONAL_WHOLE:
    case OCDM__SETTING_OPTIONAL_REAL:
        write_optional(output, setting, member);
        break;
    case OCDM__SETTING_WORD:
        write_text(output, *(const char *const *)member);
        break;
    case OCDM__SETTING_CHOICE:
        write_text(output, setting->choices[*(const uint32_t *)member]);
        break;
    case OCDM__SETTING_FILE:
    case OCDM__SETTING_CLASS_FILE:
    case OCDM__SETTING_GROUPS:
        write_text(output, base_name(*(const char *const *)member));
        break;
    case OCDM__SETTING_TASKS:
        write_tasks(output, tasks, task_count);
        break;
    case OCDM__SETTING_SWITCH:
        ocdm__output_text(output, *(const bool *)member ? "true" : "false");
        break;
    }
}

void ocdm__run_settings_write(ocdm__output *output, const ocdm__run_settings *settings, const uint32_t *tasks,
                              size_t task_count)
{
    const char *before = "{\"";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].key == NULL)
            continue;
        ocdm__output_text(output, before);
        ocdm__output_text(output, rows[i].key);
        ocdm__output_text(output, "\":");
        ocdm__setting_write(output, &rows[i], settings, tasks, task_count);
        before = ",\"";
    }
    ocdm__output_text(output, "}");
}
