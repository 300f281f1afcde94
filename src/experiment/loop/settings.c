/*
 * The table of settings: defaults, members, texts and JSON.
 *
 * A kind of setting says how its member is read and written; rows say everything else.
 */
#include "experiment/loop/settings.h"

#include "agent/model.h"
#include "base/json.h"
#include "base/text.h"
#include "memory/internal.h"

static const char see_help[] = "`ocdm run --help` lists the settings and their values";

#define NAME(symbol, name) name,
const char *const ocdm__run_methods[] = {OCDM__POLICIES(NAME) OCDM__LOWER_BOUND, OCDM__UPPER_BOUND, NULL};
const char *const ocdm__run_distances[] = {OCDM__DISTANCES(NAME) NULL};
const char *const ocdm__run_ties[] = {OCDM__TIES(NAME) NULL};
const char *const ocdm__run_models[] = {OCDM__MODELS(OCDM__MODEL_NAME) "ridge", "none", NULL};
const char *const ocdm__run_precisions[] = {"f32", "bf16", NULL};
const char *const ocdm__run_thresholds[] = {OCDM__THRESHOLDS(NAME) NULL};
const char *const ocdm__run_average_starts[] = {OCDM__AVERAGE_STARTS(NAME) NULL};
const char *const ocdm__run_optimisers[] = {OCDM__OPTIMISERS(NAME) NULL};
const char *const ocdm__run_lr_schedules[] = {OCDM__LR_SCHEDULES(NAME) NULL};
#define PRESET_NAME(name, values) name,
const char *const ocdm__run_presets[] = {OCDM__PRESETS(PRESET_NAME) NULL};
const char *const ocdm__run_replay_policies[] = {OCDM__REPLAY_POLICIES(NAME) NULL};
const char *const ocdm__run_stores[] = {OCDM__STORES(NAME) NULL};

#define ENTRY(a_grid, a_key, member, a_kind, a_flag, a_fallback, a_choices, a_low, a_high, a_needs)                            \
    {.key = a_key,                                                                                                             \
     .flag = a_flag,                                                                                                           \
     .fallback = a_fallback,                                                                                                   \
     .kind = OCDM__SETTING_##a_kind,                                                                                           \
     .offset = offsetof(ocdm__run_settings, member),                                                                           \
     .size = sizeof((ocdm__run_settings *)0)->member,                                                                          \
     .choices = a_choices,                                                                                                     \
     .low = a_low,                                                                                                             \
     .high = a_high,                                                                                                           \
     .needs = a_needs,                                                                                                         \
     .grid = a_grid},
#define GRID_ENTRY(key, member, kind, letter, flag, value, fallback, choices, low, high, needs, help)                          \
    ENTRY(true, key, member, kind, flag, fallback, choices, low, high, needs)
#define ROW_ENTRY(key, member, kind, letter, flag, value, fallback, choices, low, high, needs, help)                           \
    ENTRY(false, key, member, kind, flag, fallback, choices, low, high, needs)

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

/* ---- from text --------------------------------------------------------------------------------------------------------- */

/* A whole number in the range of the row, of `length` letters. */
static ocdm_status read_whole(const ocdm__setting *setting, const char *text, size_t length, uint64_t *value, ocdm_error *error)
{
    uint64_t low = (uint64_t)setting->low, high = setting->high < 0x1p64 ? (uint64_t)setting->high : UINT64_MAX;
    if (ocdm__text_to_whole(text, length, low, high, value))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s \"%.*s\": not a whole number from %" PRIu64 " to %" PRIu64,
                      setting->flag, (int)(length < 64 ? length : 64), text, low, high);
}

/* A whole number, and perhaps a letter for a power of 1024. */
static ocdm_status read_bytes(const ocdm__setting *setting, const char *text, uint64_t *value, ocdm_error *error)
{
    static const char letters[] = "KMG";
    size_t length = strlen(text);
    const char *letter = length > 0 ? strchr(letters, text[length - 1]) : NULL;
    unsigned shift = letter != NULL ? 10 * (unsigned)(letter - letters + 1) : 0;
    uint64_t most = (uint64_t)setting->high >> shift, number;
    if (!ocdm__text_to_whole(text, length - (letter != NULL), (uint64_t)setting->low, most, &number))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help,
                          "%s \"%.64s\": not a number of bytes, such as 4000000, 500K or 4M", setting->flag, text);
    *value = number << shift;
    return OCDM_OK;
}

static ocdm_status read_real(const ocdm__setting *setting, const char *text, double *value, ocdm_error *error)
{
    double number;
    if (!ocdm__text_to_double(text, strlen(text), &number) || !(number >= setting->low && number <= setting->high))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s \"%s\": not a number from %g to %g", setting->flag, text,
                          setting->low, setting->high);
    *value = number;
    return OCDM_OK;
}

/* The place among the choices of a name of so many bytes; that of the NULL after them if it is none. */
static uint32_t find_choice(const char *const *choices, const char *name, size_t length)
{
    uint32_t i = 0;
    while (choices[i] != NULL && (strlen(choices[i]) != length || memcmp(choices[i], name, length) != 0))
        i++;
    return i;
}

static ocdm_status read_choice(const ocdm__setting *setting, const char *text, void *member, ocdm_error *error)
{
    uint32_t i = find_choice(setting->choices, text, strlen(text));
    if (setting->choices[i] == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s \"%s\": unknown %s", setting->flag, text, setting->flag);
    if (setting->kind == OCDM__SETTING_CHOICE)
        *(uint32_t *)member = i;
    else
        *(const char **)member = setting->choices[i];
    return OCDM_OK;
}

/* "u8", "jpeg:75:128". */
static ocdm_status read_store(const ocdm__setting *setting, const char *text, ocdm__run_settings *settings, ocdm_error *error)
{
    size_t length = strcspn(text, ":"), second = text[length] != '\0' ? strcspn(text + length + 1, ":") : 0;
    uint64_t quality = 0, pixels = 0;
    uint32_t kind = find_choice(ocdm__run_stores, text, length);
    bool known = ocdm__run_stores[kind] != NULL, jpeg = kind == OCDM__STORE_JPEG;
    const char *numbers = text + length + 1;
    if (known && jpeg && text[length] == ':' && numbers[second] == ':')
        known = ocdm__text_to_whole(numbers, second, 1, 100, &quality) &&
                ocdm__text_to_whole(numbers + second + 1, strlen(numbers + second + 1), (uint64_t)setting->low,
                                    (uint64_t)setting->high, &pixels);
    else
        known = known && !jpeg && text[length] == '\0';
    if (!known)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help,
                          "%s \"%.64s\": not none, f32, f16, u8 or jpeg:QUALITY:PIXELS, such as jpeg:75:128", setting->flag,
                          text);
    settings->store = kind;
    settings->store_quality = (uint32_t)quality;
    settings->store_pixels = (uint32_t)pixels;
    return OCDM_OK;
}

/* Whether the stream has these tasks is checked when the order is made. */
static ocdm_status read_tasks(const ocdm__setting *setting, const char *text, ocdm__run_settings *settings, uint64_t *order,
                              ocdm_error *error)
{
    size_t count = 0;
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        if (count == OCDM__MOST_TASKS)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s: more than %d values", setting->flag, OCDM__MOST_TASKS);
        OCDM_TRY(read_whole(setting, item, length, &order[count++], error));
        item += length;
        if (*item == '\0')
            break;
    }
    settings->order = order;
    settings->order_count = count;
    return OCDM_OK;
}

/* Each rate strictly between the bounds of the row, and once. */
static ocdm_status read_rates(const ocdm__setting *setting, const char *text, ocdm__rates *rates, ocdm_error *error)
{
    *rates = (ocdm__rates){.count = 0};
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        double rate = 0;
        if (rates->count == OCDM__MOST_RATES)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s: more than %d values", setting->flag, OCDM__MOST_RATES);
        if (!ocdm__text_to_double(text, length, &rate) || !(rate > setting->low && rate < setting->high))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s \"%.*s\": not a number above %g and below %g",
                              setting->flag, (int)(length < 64 ? length : 64), text, setting->low, setting->high);
        for (uint32_t i = 0; i < rates->count; i++)
            if (rates->values[i] == rate)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name each rate once", "%s names %g twice", setting->flag, rate);
        rates->values[rates->count++] = rate;
        more = text[length] == ',';
        text += length + more;
    }
    return OCDM_OK;
}

/* The units of a budget, each a number of seconds or of operations. The last of each kind is the one that is written. */
static const struct unit {
    const char *name;
    double seconds, operations;
} units[] = {{"ms", 1e-3, 0}, {"s", 1, 0}, {"mflop", 0, 1e6}, {"tflop", 0, 1e12}, {"gflop", 0, 1e9}};

#define UNITS (sizeof units / sizeof *units)

static ocdm_status read_budget(const ocdm__setting *setting, const char *text, ocdm__budget *budget, ocdm_error *error)
{
    size_t length = strcspn(text, "mstg"), i = 0;
    double value = 0;
    while (i < UNITS && strcmp(units[i].name, text + length) != 0)
        i++;
    if (i == UNITS || !ocdm__text_to_double(text, length, &value) || !(value > 0 && value <= 1e15))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help,
                          "%s \"%.64s\": not a number above 0 with ms, s, mflop, gflop or tflop", setting->flag, text);
    *budget = (ocdm__budget){.seconds = value * units[i].seconds, .operations = value * units[i].operations};
    return OCDM_OK;
}

/* What comes before the deviation of arrival times. */
static const char jitter[] = "gaussian:";
/* What comes before the shares of disjoint classes and of blurred samples. */
static const char dealt[] = "si:";
#define MOST_JITTER 1000.0

static ocdm_status read_blur(const ocdm__setting *setting, const char *text, ocdm__blur *blur, ocdm_error *error)
{
    size_t length = strlen(jitter), name = strlen(dealt);
    const char *colon = strncmp(text, dealt, name) == 0 ? strchr(text + name, ':') : NULL;
    double disjoint = -1, blurred = -1;
    if (colon != NULL && ocdm__text_to_double(text + name, (size_t)(colon - text) - name, &disjoint) &&
        ocdm__text_to_double(colon + 1, strlen(colon + 1), &blurred) && disjoint >= 0 && disjoint <= 1 && blurred >= 0 &&
        blurred <= 1) {
        *blur = (ocdm__blur){.anew = true, .disjoint = disjoint, .share = blurred};
        return OCDM_OK;
    }
    bool jitters = strncmp(text, jitter, length) == 0;
    const char *number = jitters ? text + length : text;
    double value = -1;
    if (!ocdm__text_to_double(number, strlen(number), &value) || !(value >= 0 && value <= (jitters ? MOST_JITTER : 1)))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help,
                          "%s \"%.64s\": no share from 0 to 1, no gaussian:SD up to %g, and no si:N:M with shares N and M",
                          setting->flag, text, MOST_JITTER);
    *blur = (ocdm__blur){.share = jitters ? 0 : value, .deviation = jitters ? value : 0};
    return OCDM_OK;
}

ocdm_status ocdm__setting_read(const ocdm__setting *setting, const char *text, ocdm__run_settings *settings, uint64_t *order,
                               ocdm_error *error)
{
    void *member = ocdm__setting_member(settings, setting);
    bool *flag = member;
    uint64_t number = 0;
    switch (setting->kind) {
    case OCDM__SETTING_WHOLE:
    case OCDM__SETTING_OPTIONAL_WHOLE:
        OCDM_TRY(read_whole(setting, text, strlen(text), &number, error));
        *(uint32_t *)member = (uint32_t)number;
        break;
    case OCDM__SETTING_LONG:
        return read_whole(setting, text, strlen(text), member, error);
    case OCDM__SETTING_REAL:
    case OCDM__SETTING_OPTIONAL_REAL:
        return read_real(setting, text, member, error);
    case OCDM__SETTING_WORD:
    case OCDM__SETTING_CHOICE:
        return read_choice(setting, text, member, error);
    case OCDM__SETTING_TASKS:
        return read_tasks(setting, text, settings, order, error);
    case OCDM__SETTING_SWITCH:
        *flag = strcmp(text, "true") == 0;
        if (!*flag && strcmp(text, "false") != 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "%s \"%s\": neither true nor false", setting->flag, text);
        break;
    case OCDM__SETTING_RATES:
        return read_rates(setting, text, member, error);
    case OCDM__SETTING_BYTES:
        return read_bytes(setting, text, member, error);
    case OCDM__SETTING_STORE:
        return read_store(setting, text, settings, error);
    case OCDM__SETTING_BUDGET:
        return read_budget(setting, text, member, error);
    case OCDM__SETTING_BLUR:
        return read_blur(setting, text, member, error);
    case OCDM__SETTING_FILE:
    case OCDM__SETTING_WEIGHTS_FILE:
    case OCDM__SETTING_CLASS_FILE:
    case OCDM__SETTING_GROUPS:
        *(const char **)member = text;
        break;
    }
    return OCDM_OK;
}

/* The default of a row is known to be valid. Where there is none, that is 0, NULL or OCDM_NONE. */
ocdm__run_settings ocdm__run_settings_default(void)
{
    ocdm__run_settings settings = {.network = ocdm__network_settings_default()};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind == OCDM__SETTING_OPTIONAL_WHOLE)
            *(uint32_t *)ocdm__setting_member(&settings, &rows[i]) = OCDM_NONE;
        if (rows[i].fallback != NULL)
            (void)ocdm__setting_read(&rows[i], rows[i].fallback, &settings, NULL, NULL);
    }
    return settings;
}

#define PRESET_VALUES(name, values) values,
static const char *const preset_values[] = {OCDM__PRESETS(PRESET_VALUES)};

ocdm_status ocdm__run_preset_apply(const char *name, ocdm__run_settings *settings, ocdm_error *error)
{
    char flag[32], value[64];
    int used = 0;
    uint32_t preset = find_choice(ocdm__run_presets, name, strlen(name));
    if (preset >= sizeof preset_values / sizeof *preset_values)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, see_help, "there is no preset \"%s\"", name);
    for (const char *text = preset_values[preset]; *text != '\0'; text += used) {
        if (sscanf(text, "%31s %63[^;]%n", flag, value, &used) != 2)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "preset %s: not a flag with its value: %s", name, text);
        OCDM_TRY(ocdm__setting_read(ocdm__setting_of_flag(flag), value, settings, NULL, error));
        used += text[used] == ';';
    }
    return OCDM_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

static void write_store(ocdm__output *output, const ocdm__run_settings *settings)
{
    char text[48];
    int used = snprintf(text, sizeof text, "%s", ocdm__run_stores[settings->store]);
    if (settings->store == OCDM__STORE_JPEG)
        snprintf(text + used, sizeof text - (size_t)used, ":%" PRIu32 ":%" PRIu32, settings->store_quality,
                 settings->store_pixels);
    ocdm__json_string(output, NULL, text);
}

/* In seconds or gflop, whatever it was given in, so that equal budgets are equal texts. */
static void write_budget(ocdm__output *output, const ocdm__budget *budget)
{
    char text[OCDM__JSON_DOUBLE + 8] = "";
    for (size_t i = 0; i < UNITS; i++) {
        double each = budget->seconds > 0 ? units[i].seconds : units[i].operations;
        if (each == 0 || (budget->seconds == 0 && budget->operations == 0))
            continue;
        ocdm__json_double(budget->seconds > 0 ? budget->seconds : budget->operations / each, text);
        ocdm__append(text, sizeof text, "%s", units[i].name);
    }
    ocdm__json_string(output, NULL, text[0] != '\0' ? text : NULL);
}

static void write_blur(ocdm__output *output, const ocdm__blur *blur)
{
    char share[OCDM__JSON_DOUBLE], other[OCDM__JSON_DOUBLE], text[96] = "";
    ocdm__json_double(blur->share, share);
    ocdm__json_double(blur->anew ? blur->disjoint : blur->deviation, other);
    if (blur->anew)
        snprintf(text, sizeof text, "%s%s:%s", dealt, other, share);
    else if (blur->deviation > 0)
        snprintf(text, sizeof text, "%s%s", jitter, other);
    if (text[0] == '\0' && blur->share > 0)
        ocdm__output_text(output, share);
    else
        ocdm__json_string(output, NULL, text[0] != '\0' ? text : NULL);
}

/* Tasks, or rates. */
static void write_list(ocdm__output *output, const uint32_t *tasks, size_t task_count, const ocdm__rates *rates)
{
    ocdm__json_open(output, NULL, '[');
    for (size_t i = 0; i < task_count; i++)
        ocdm__json_count(output, NULL, tasks[i]);
    for (size_t i = 0; rates != NULL && i < rates->count; i++)
        ocdm__json_real(output, NULL, rates->values[i]);
    ocdm__json_close(output, ']');
}

/* What is not given is null. */
void ocdm__setting_write(ocdm__output *output, const ocdm__setting *setting, const ocdm__run_settings *settings,
                         const uint32_t *tasks, size_t task_count)
{
    const void *member = (const unsigned char *)settings + setting->offset;
    const ocdm__rates *rates = member;
    const uint32_t *whole = member;
    const uint64_t *wide = member;
    const double *real = member;
    const char *path, *slash;
    enum ocdm__setting_kind kind = setting->kind;
    if ((kind == OCDM__SETTING_OPTIONAL_WHOLE && *whole == OCDM_NONE) || (kind == OCDM__SETTING_OPTIONAL_REAL && *real == 0) ||
        (kind == OCDM__SETTING_BYTES && *wide == 0) || (kind == OCDM__SETTING_RATES && rates->count == 0)) {
        ocdm__json_null(output, NULL);
        return;
    }
    switch (kind) {
    case OCDM__SETTING_WHOLE:
    case OCDM__SETTING_OPTIONAL_WHOLE:
        ocdm__output_uint64(output, *whole);
        break;
    case OCDM__SETTING_LONG:
    case OCDM__SETTING_BYTES:
        ocdm__output_uint64(output, *wide);
        break;
    case OCDM__SETTING_REAL:
    case OCDM__SETTING_OPTIONAL_REAL:
        ocdm__output_double(output, *real);
        break;
    case OCDM__SETTING_WORD:
        ocdm__json_string(output, NULL, *(const char *const *)member);
        break;
    case OCDM__SETTING_CHOICE:
        ocdm__json_string(output, NULL, setting->choices[*whole]);
        break;
    case OCDM__SETTING_FILE:
    case OCDM__SETTING_WEIGHTS_FILE:
    case OCDM__SETTING_CLASS_FILE:
    case OCDM__SETTING_GROUPS:
        path = *(const char *const *)member; /* without its folder */
        slash = path != NULL ? strrchr(path, '/') : NULL;
        ocdm__json_string(output, NULL, slash != NULL ? slash + 1 : path);
        break;
    case OCDM__SETTING_TASKS:
    case OCDM__SETTING_RATES:
        write_list(output, tasks, kind == OCDM__SETTING_TASKS ? task_count : 0, kind == OCDM__SETTING_RATES ? rates : NULL);
        break;
    case OCDM__SETTING_SWITCH:
        ocdm__json_flag(output, NULL, *(const bool *)member);
        break;
    case OCDM__SETTING_STORE:
        write_store(output, settings);
        break;
    case OCDM__SETTING_BUDGET:
        write_budget(output, member);
        break;
    case OCDM__SETTING_BLUR:
        write_blur(output, member);
        break;
    }
}

void ocdm__run_settings_write(ocdm__output *output, const ocdm__run_settings *settings, const uint32_t *tasks,
                              size_t task_count)
{
    ocdm__json_open(output, NULL, '{');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].key == NULL)
            continue;
        ocdm__json_key(output, rows[i].key);
        ocdm__setting_write(output, &rows[i], settings, tasks, task_count);
        if (rows[i].kind == OCDM__SETTING_WEIGHTS_FILE && settings->weights_sha256[0] != '\0')
            ocdm__json_string(output, OCDM__WEIGHTS_DIGEST_KEY, settings->weights_sha256);
    }
    ocdm__json_close(output, '}');
}
