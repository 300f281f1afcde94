/* Settings as JSON: written, and compared member by member. */
#include "run/run_settings.h"

#include <string.h>

#include "agent/model.h"
#include "base/error.h"
#include "base/json.h"

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

static void write_text(ocdm__output *output, const char *before, const char *text)
{
    ocdm__output_text(output, before);
    if (text != NULL)
        ocdm__output_json_string(output, text, strlen(text));
    else
        ocdm__output_text(output, "null");
}

/* Without its folders, so that the same run has the same bytes on another machine. */
static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

static void write_size(ocdm__output *output, const char *before, bool known, uint32_t size)
{
    ocdm__output_text(output, before);
    if (known)
        ocdm__output_uint64(output, size);
    else
        ocdm__output_text(output, "null");
}

static void write_memory(ocdm__output *output, const ocdm__run_settings *settings)
{
    write_text(output, "{\"method\":", settings->method);
    ocdm__output_count(output, ",\"memory\":", settings->memory);
    ocdm__output_count(output, ",\"batch\":", settings->batch);
    ocdm__output_count(output, ",\"replay\":", settings->replay);
    ocdm__output_real(output, ",\"rho\":", settings->rho);
    write_text(output, ",\"distance\":", ocdm_distance_name(settings->distance));
    write_text(output, ",\"tie\":", ocdm_tie_name(settings->tie));
}

static void write_agent(ocdm__output *output, const ocdm__run_settings *settings)
{
    write_text(output, ",\"model\":", settings->model);
    write_text(output, ",\"weights\":", base_name(settings->weights));
    write_text(output, ",\"precision\":", settings->bf16 ? "bf16" : "f32");
    ocdm__output_real(output, ",\"lr\":", settings->learning_rate);
    ocdm__output_real(output, ",\"adam_eps\":", settings->epsilon);
    ocdm__output_text(output, ",\"clip\":");
    if (settings->clip > 0)
        ocdm__output_double(output, settings->clip);
    else
        ocdm__output_text(output, "null");
}

void ocdm__run_settings_write(ocdm__output *output, const ocdm__run_settings *settings, const uint32_t *tasks,
                              size_t task_count)
{
    bool images = ocdm__run_has_agent(settings) && ocdm__model_takes_images(settings->model);
    write_memory(output, settings);
    write_agent(output, settings);
    ocdm__output_count(output, ",\"seed\":", settings->seed);
    ocdm__output_text(output, ",\"order\":[");
    for (size_t i = 0; i < task_count; i++)
        ocdm__output_count(output, i > 0 ? "," : "", tasks[i]);
    ocdm__output_count(output, "],\"epochs\":", settings->epochs);
    write_size(output, ",\"resize\":", images, settings->resize);
    write_size(output, ",\"crop\":", images, settings->crop);
    write_text(output, ",\"groups\":", base_name(settings->groups));
    ocdm__output_count(output, ",\"log_every\":", settings->log_every);
    ocdm__output_text(output, "}");
}

/* ---- comparing --------------------------------------------------------------------------------------------------------- */

/* A member of the object that a scanner is in. */
struct member {
    const char *key, *value;
    int key_length, value_length; /* as printf takes them */
};

static bool next_member(ocdm__json *json, struct member *member)
{
    if (ocdm__json_next(json) != OCDM__JSON_KEY)
        return false;
    member->key = json->text;
    member->key_length = (int)json->length;
    const char *after_key = (const char *)json->at;
    if (ocdm__json_skip(json, OCDM__JSON_KEY) == OCDM__JSON_ERROR)
        return false;
    member->value = after_key + strspn(after_key, ": ");
    member->value_length = (int)((const char *)json->at - member->value);
    return true;
}

static bool is_same(const char *a, int a_length, const char *b, int b_length)
{
    return a_length == b_length && memcmp(a, b, (size_t)a_length) == 0;
}

ocdm_status ocdm__run_settings_compare(const char *name, const char *saved, size_t saved_length, const char *asked,
                                       size_t asked_length, ocdm_error *error)
{
    static const char hint[] = "go on with the settings that the run began with, or begin another in a new folder";
    ocdm__json old, new;
    struct member was, is;
    ocdm__json_begin(&old, saved, saved_length);
    ocdm__json_begin(&new, asked, asked_length);
    ocdm__json_next(&old);
    ocdm__json_next(&new);
    for (;;) {
        bool has_old = next_member(&old, &was), has_new = next_member(&new, &is);
        if (!has_old && !has_new)
            return OCDM_OK;
        if (has_old != has_new || !is_same(was.key, was.key_length, is.key, is.key_length))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the settings are those of another version of ocdm", name);
        if (!is_same(was.value, was.value_length, is.value, is.value_length))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the run began with %.*s %.*s, not %.*s", name,
                              was.key_length, was.key, was.value_length, was.value, is.value_length, is.value);
    }
}
