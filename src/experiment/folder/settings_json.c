/* Settings as JSON. experiment/folder/saved_run.c compares what is written here. */
#include "experiment/folder/settings.h"

#include <string.h>

#include "agent/model.h"

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
