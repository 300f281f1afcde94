/* `ocdm stream info`: what is in a stream. */
#include <unistd.h>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "stream/info.h"

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

/* What a task and the whole stream have in common. */
static void write_tally(ocdm__output *output, const ocdm__tally *tally)
{
    ocdm__json_count(output, "train", tally->train);
    ocdm__json_count(output, "test", tally->test);
    ocdm__json_count(output, "classes", ocdm__tally_class_count(tally));
    ocdm__json_real(output, "amlr", ocdm__tally_amlr(tally));
}

/* All but the end of the object. */
static void write_json(ocdm__output *output, const ocdm__stream_info *info, const uint64_t *bounds)
{
    const ocdm__statistics *statistics = &info->statistics;
    ocdm__class_groups groups = ocdm__stream_info_groups(info, bounds);
    ocdm__json_open(output, NULL, '{');
    write_tally(output, &statistics->total);
    ocdm__json_open(output, "tasks", '[');
    for (size_t i = 0; i < statistics->task_count; i++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_count(output, "task", statistics->tasks[i].task);
        write_tally(output, &statistics->tasks[i]);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "groups", '{');
    ocdm__json_count(output, "majority", groups.majority);
    ocdm__json_count(output, "moderate", groups.moderate);
    ocdm__json_count(output, "minority", groups.minority);
    ocdm__json_close(output, '}');
    if (info->stream.table.known == NULL)
        return;
    ocdm__json_open(output, "known", '{');
    ocdm__json_real(output, "train", 100 * info->known[0]);
    ocdm__json_real(output, "test", 100 * info->known[1]);
    ocdm__json_close(output, '}');
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

/* The bounds of groups, two numbers; `given` becomes NULL where the stream's own are used. */
static ocdm_status read_bounds(const ocdm__arguments *arguments, uint64_t bounds[2], const uint64_t **given, ocdm_error *error)
{
    *given = ocdm__argument_given(arguments, "groups") ? bounds : NULL;
    if (*given == NULL)
        return OCDM_OK;
    size_t count = ocdm__argument_list(arguments, "groups", 0, UINT64_MAX, bounds, 2);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (count != 2 || bounds[0] < bounds[1])
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "for example --groups 600,100",
                          "--groups takes two numbers, the larger first");
    return OCDM_OK;
}

static ocdm_status print_info(ocdm__stream_info *info, const uint64_t *bounds, const ocdm__arguments *arguments,
                              ocdm_error *error)
{
    bool json = ocdm__argument_given(arguments, "json"), verifies = ocdm__argument_given(arguments, "verify");
    char doubt[OCDM__DOUBT] = "";
    if (verifies && !info->is_stream_file)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave it out, or name a file of `ocdm stream build`",
                          "--verify compares checksums, which records do not have");
    if (verifies)
        OCDM_TRY(ocdm__stream_verify(&info->stream, NULL, error));
    if (json)
        write_json(arguments->out, info, bounds);
    else
        ocdm__write_stream_text(arguments->out, info, bounds, ocdm__terminal_width(STDOUT_FILENO));
    /* What was verified: opening the file has checked its tables already. */
    const ocdm__stream *stream = &info->stream;
    const char *name = stream->shape.kind == OCDM__FEATURES ? "features" : stream->shape.kind == OCDM__IMAGES ? "images" : NULL;
    if (verifies && json) {
        ocdm__json_open(arguments->out, "verified", '[');
        ocdm__json_string(arguments->out, NULL, "tables");
        if (name != NULL)
            ocdm__json_string(arguments->out, NULL, name);
        ocdm__json_close(arguments->out, ']');
    } else if (verifies) {
        ocdm__output_text(arguments->out, "verified           the tables of samples, labels and classes");
        if (name != NULL)
            ocdm__put(arguments->out, "; the checksum of all %s, %zu bytes\n", name,
                      stream->table.sample_count * ocdm__payload_size(&stream->shape));
        else
            ocdm__output_text(arguments->out, stream->table.paths.starts != NULL ? "; the image files were not read\n"
                                                                                 : "; the stream has no features or images\n");
    }
    ocdm__output_text(arguments->out, json ? "}\n" : "");
    if (info->records != NULL)
        OCDM_TRY(ocdm__records_label_warning(info->records, doubt, error));
    ocdm__output_flush(arguments->out);
    if (doubt[0] != '\0')
        fprintf(stderr, "warning: %s\n", doubt);
    return OCDM_OK;
}

static ocdm_status run_info(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__stream_info info = {.class_count = 0};
    uint64_t bounds[2];
    const uint64_t *given;
    OCDM_TRY(read_bounds(arguments, bounds, &given, error));
    const ocdm__record_options records = ocdm__argument_records(arguments, "`ocdm stream info --help` describes the records");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    ocdm_status status = ocdm__stream_info_read(&info, ocdm__first_operand(arguments), &records, error);
    OCDM_THEN(status, print_info(&info, given, arguments, error));
    ocdm__stream_info_clear(&info);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag info_flags[] = {
    OCDM__VALUE(
        0, "groups", "HIGH,LOW", NULL,
        "classes over HIGH samples are majority, under LOW minority; 600,100 or terciles unless the stream has its own"),
    OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* as for `ocdm sample` */
    OCDM__SWITCH(0, "skip-bad", "skip bad records"),
    OCDM__SWITCH(0, "verify", "also compare the checksum of a stream file's features or images, and say what was verified"),
    OCDM__SWITCH(0, "json", "print JSON"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_stream_info = {
    .name = "stream info",
    .summary = "describe a stream: classes, tasks, balance",
    .operands = "[FILE|-]",
    .operand_limit = 1,
    .flags = info_flags,
    .run = run_info,
};
