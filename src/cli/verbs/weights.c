/* `ocdm weights info`: what is in a weights file, and which model it fits. */
#include <unistd.h>

#include "agent/agent.h"
#include "base/output.h"
#include "base/safetensors.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "experiment/weights_file.h"
#include "report/text.h"

/* What is printed. */
struct answer {
    const char *path;
    ocdm__weights_file file;
    struct ocdm__weights_fit fit;
    ocdm__weights_about about;
};

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

static void write_optional(ocdm__output *output, const char *key, uint64_t value)
{
    if (value > 0)
        ocdm__json_count(output, key, value);
    else
        ocdm__json_null(output, key);
}

static void write_string(ocdm__output *output, const char *key, const char *text)
{
    ocdm__json_string(output, key, text != NULL && text[0] != '\0' ? text : NULL);
}

/* What a file of a run says about itself. */
static void write_about_json(ocdm__output *output, const ocdm__weights_about *about)
{
    if (!ocdm__weights_about_known(about))
        return;
    write_string(output, "ocdm", about->program);
    write_string(output, "run", about->run);
    if (about->images) {
        ocdm__json_count(output, "resize", about->resize);
        ocdm__json_count(output, "crop", about->crop);
        ocdm__json_key(output, "mean");
        ocdm__output_text(output, about->scale.mean_text);
        ocdm__json_key(output, "std");
        ocdm__output_text(output, about->scale.deviation_text);
    } else {
        ocdm__json_flag(output, "standardized", about->feature_mean != NULL);
    }
    ocdm__json_key(output, "class_names");
    ocdm__class_names_write(output, &about->classes, about->class_count);
}

static void write_json(ocdm__output *output, const struct answer *answer)
{
    const struct ocdm__safetensors *file = &answer->file.whole;
    const struct ocdm__weights_fit *fit = &answer->fit;
    ocdm__json_open(output, NULL, '{');
    ocdm__json_string(output, "file", answer->path);
    write_string(output, "model", fit->model);
    write_optional(output, "classes", fit->model != NULL ? fit->class_count : 0);
    write_optional(output, "features", fit->features);
    write_optional(output, "blocks", fit->blocks);
    ocdm__json_count(output, "parameters", ocdm__weights_parameters(&answer->file.tensors));
    ocdm__json_flag(output, "optimiser", fit->optimiser);
    write_about_json(output, &answer->about);
    ocdm__json_open(output, "tensors", '[');
    for (size_t i = 0; i < file->tensor_count; i++) {
        const struct ocdm__tensor *tensor = &file->tensors[i];
        ocdm__json_open(output, NULL, '{');
        ocdm__json_key(output, "name"); /* as JSON already */
        ocdm__output_text(output, "\"");
        ocdm__output_write(output, tensor->name, tensor->name_length);
        ocdm__output_text(output, "\"");
        ocdm__json_string(output, "type", ocdm__dtypes[tensor->dtype].name);
        ocdm__json_open(output, "shape", '[');
        for (uint32_t k = 0; k < tensor->rank; k++)
            ocdm__json_count(output, NULL, tensor->shape[k]);
        ocdm__json_close(output, ']');
        ocdm__json_count(output, "bytes", tensor->size);
        ocdm__json_close(output, '}');
    }
    ocdm__output_text(output, "]}\n");
}

/* ---- text ----------------------------------------------------------------------------------------------------------- */

/* Prints a name from the file; what a terminal would obey becomes question marks. Returns the columns used. */
static size_t write_name(ocdm__output *output, const char *name, size_t length)
{
    const unsigned char *at = (const unsigned char *)name, *end = at + length;
    size_t columns = 0;
    for (size_t size; at < end; at += size, columns++) {
        size = ocdm__utf8_sequence(at, end);
        bool shown = size > 0 && !ocdm__is_control(at, size);
        size = size > 0 ? size : 1;
        ocdm__output_write(output, shown ? at : (const unsigned char *)"?", shown ? size : 1);
    }
    return columns;
}

static size_t shape_text(const struct ocdm__tensor *tensor, char text[OCDM__TENSOR_RANK * 24])
{
    const size_t room = (size_t)OCDM__TENSOR_RANK * 24;
    snprintf(text, room, "%s", tensor->rank == 0 ? "one number" : "");
    for (uint32_t i = 0; i < tensor->rank; i++)
        ocdm__append(text, room, "%s%" PRIu64, i > 0 ? " x " : "", tensor->shape[i]);
    return strlen(text);
}

static void write_about(ocdm__output *output, const ocdm__weights_about *about)
{
    if (!ocdm__weights_about_known(about))
        return;
    if (about->images)
        ocdm__put(output, "input       images, --resize %" PRIu32 " --crop %" PRIu32 ", mean %s, std %s\n", about->resize,
                  about->crop, about->scale.mean_text, about->scale.deviation_text);
    else
        ocdm__put(output, "input       features%s\n", about->feature_mean != NULL ? ", standardized" : "");
    /* As many as fit on a line. */
    size_t used = 12, shown = 0;
    ocdm__output_text(output, "classes     ");
    for (size_t length; shown < about->class_count; shown++) {
        const char *name = ocdm__text_at(&about->classes, shown, &length);
        ocdm__shown_label label = ocdm__show_label(name, length);
        used += label.width + 2;
        if (shown > 0 && used > 88)
            break;
        ocdm__put(output, "%s%s", shown > 0 ? ", " : "", label.text);
    }
    if (shown < about->class_count)
        ocdm__output_count(output, ", and more: ", about->class_count - shown);
    ocdm__put(output, "\nrun         %s, by ocdm %s\n", about->run, about->program);
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

static void print_answer(ocdm__output *output, const struct answer *answer, bool json)
{
    ocdm_error other;
    if (ocdm__weights_check_kind(&answer->file, &other) != OCDM_OK) { /* the tensors are listed all the same */
        ocdm__print_note(other.message);
        if (other.hint[0] != '\0')
            ocdm__print_note(other.hint);
    }
    if (json)
        write_json(output, answer);
    else {
        const ocdm__weights_file *file = &answer->file;
        ocdm__output_text(output, "model       ");
        if (answer->fit.model != NULL)
            ocdm__output_text(output, answer->fit.model);
        else if (strcmp(answer->fit.reason, "those of no model") == 0)
            ocdm__output_text(output, "none that is known here");
        else {
            ocdm__output_text(output, "none: the tensors are ");
            write_name(output, answer->fit.reason, strlen(answer->fit.reason));
        }
        if (answer->fit.blocks > 0)
            ocdm__output_count(output, ", blocks: ", answer->fit.blocks);
        if (answer->fit.features > 0)
            ocdm__output_count(output, ", features: ", answer->fit.features);
        if (answer->fit.model != NULL && answer->fit.class_count > 0)
            ocdm__output_count(output, ", classes: ", answer->fit.class_count);
        else if (answer->fit.model != NULL)
            ocdm__output_text(output, ", without a head");
        ocdm__output_text(output, answer->fit.optimiser ? "\noptimiser   its state is there\n" : "\noptimiser   no state\n");
        if (file->wrapper_length > 0) { /* names that other programs put before those of the network */
            ocdm__output_text(output, "wrapper     ");
            write_name(output, file->wrapper, file->wrapper_length);
            ocdm__put(output, ", other tensors: %zu\n", file->whole.tensor_count - file->tensors.tensor_count);
        }
        write_about(output, &answer->about);
        ocdm__put(output, "parameters  %" PRIu64 "\ntensors     %zu\n", ocdm__weights_parameters(&file->tensors),
                  file->whole.tensor_count);
        char shape[OCDM__TENSOR_RANK * 24];
        size_t name_width = 4, shape_width = 5;
        for (size_t i = 0; i < file->whole.tensor_count; i++) {
            size_t length = shape_text(&file->whole.tensors[i], shape), name = file->whole.tensors[i].name_length;
            name_width = name > name_width ? name : name_width;
            shape_width = length > shape_width ? length : shape_width;
        }
        name_width = name_width < 48 ? name_width : 48;
        if (file->whole.tensor_count > 0)
            ocdm__put(output, "\n%-*s  type  %-*s  bytes\n", (int)name_width, "name", (int)shape_width, "shape");
        for (size_t i = 0; i < file->whole.tensor_count; i++) {
            const struct ocdm__tensor *tensor = &file->whole.tensors[i];
            shape_text(tensor, shape);
            size_t used = write_name(output, tensor->name, tensor->name_length);
            ocdm__put(output, "%*s%-6s%-*s  %" PRIu64 "\n", (int)(used < name_width + 2 ? name_width + 2 - used : 1), "",
                      ocdm__dtypes[tensor->dtype].name, (int)shape_width, shape, tensor->size);
        }
    }
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct answer answer = {.path = ocdm__first_operand(arguments)};
    if (answer.path == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name a safetensors file", "no weights file is given");
    ocdm_status status = ocdm__weights_open_any(&answer.file, answer.path, error);
    OCDM_THEN(status, ocdm__weights_describe(&answer.file, &answer.fit, &answer.about, error));
    if (status == OCDM_OK)
        print_answer(arguments->out, &answer, ocdm__argument_given(arguments, "json"));
    ocdm__weights_about_clear(&answer.about);
    ocdm__weights_close(&answer.file);
    return status;
}

static const ocdm__flag flags[] = {
    OCDM__SWITCH(0, "json", "print a JSON object"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_weights_info = {
    .name = "weights info",
    .summary = "list the tensors of a weights file and the model they fit",
    .operands = "FILE",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
};
