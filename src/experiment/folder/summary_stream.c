/* What a summary tells of stream and machine. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/folder/summary.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/sha256.h"
#include "stream/file.h"

/* ---- the stream -------------------------------------------------------------------------------------------------------- */

static void write_text(ocdm__output *output, const char *before, const char *text)
{
    ocdm__output_text(output, before);
    ocdm__output_json_string(output, text, strlen(text));
}

static size_t count_part(const ocdm__stream_table *table, uint8_t part)
{
    size_t count = 0;
    for (size_t i = 0; i < table->sample_count; i++)
        count += table->parts[i] == part;
    return count;
}

void ocdm__stream_about_write(ocdm__output *output, const ocdm__stream *stream, size_t task_count)
{
    char ids[OCDM__SHA256_TEXT], checksum[OCDM__CHECKSUM_TEXT];
    const char *slash = strrchr(stream->file.name, '/');
    ocdm__checksum_text(stream->checksum, checksum);
    ocdm__digest_ids(&stream->table, ids);
    write_text(output, "{\"file\":", slash != NULL ? slash + 1 : stream->file.name);
    write_text(output, ",\"checksum\":", checksum);
    write_text(output, ",\"ids_sha256\":", ids);
    ocdm__output_count(output, ",\"train\":", count_part(&stream->table, OCDM__TRAIN));
    ocdm__output_count(output, ",\"test\":", count_part(&stream->table, OCDM__TEST));
    ocdm__output_count(output, ",\"classes\":", stream->table.class_count);
    ocdm__output_count(output, ",\"tasks\":", task_count);
    write_text(output, ",\"kind\":", ocdm__stream_kind(stream));
    ocdm__output_text(output, ",\"width\":");
    if (stream->shape.kind != OCDM__NO_PAYLOAD)
        ocdm__output_uint64(output, stream->shape.width);
    else
        ocdm__output_text(output, "null");
    ocdm__output_text(output, "}");
}

static void write_class(ocdm__output *output, const ocdm__run *run, size_t c, const uint64_t *in_tasks)
{
    size_t length, tasks = run->stream->task_count;
    const char *name = ocdm__text_at(&run->stream->table.classes, c, &length);
    ocdm__output_text(output, c > 0 ? ",{\"name\":" : "{\"name\":");
    ocdm__output_json_string(output, name, length);
    write_text(output, ",\"group\":", ocdm__class_group_name((enum ocdm__class_group)run->groups[c]));
    ocdm__output_count(output, ",\"train\":", run->train_counts[c]);
    ocdm__output_count(output, ",\"test\":", run->test_counts[c]);
    ocdm__output_text(output, ",\"tasks\":[");
    for (size_t k = 0; k < tasks; k++)
        ocdm__output_count(output, k > 0 ? "," : "", in_tasks[c * tasks + k]);
    ocdm__output_text(output, "]}");
}

ocdm_status ocdm__stream_classes_write(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    const ocdm__stream_table *table = &run->stream->table;
    size_t tasks = run->stream->task_count;
    uint64_t *in_tasks = ocdm__allocate(table->class_count, tasks * sizeof *in_tasks);
    if (in_tasks == NULL)
        return ocdm__fail_memory(error, "the counts of classes in tasks");
    for (size_t i = 0; i < table->sample_count; i++)
        for (uint64_t k = table->label_starts[i]; table->parts[i] == OCDM__TRAIN && k < table->label_starts[i + 1]; k++)
            in_tasks[table->labels[k] * tasks + table->tasks[i]]++;
    ocdm__output_text(output, "[");
    for (size_t c = 0; c < table->class_count; c++)
        write_class(output, run, c, in_tasks);
    ocdm__output_text(output, "]");
    ocdm__release(in_tasks);
    return OCDM_OK;
}

/* ---- the machine ------------------------------------------------------------------------------------------------------- */

/* As Linux tells it; elsewhere the kind of processor alone is known. */
static void find_cpu(char *text, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(text, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file != NULL)
        fclose(file);
}

void ocdm__environment_write(ocdm__output *output, unsigned threads)
{
    struct utsname system;
    char cpu[256] = "", text[256] = "";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (uname(&system) == 0) {
        snprintf(cpu, sizeof cpu, "%.200s", system.machine);
        snprintf(text, sizeof text, "%.80s %.80s %.80s", system.sysname, system.release, system.machine);
    }
    find_cpu(cpu, sizeof cpu);
    write_text(output, "{\"cpu\":", cpu);
    ocdm__output_count(output, ",\"cores\":", cores > 0 ? (uint64_t)cores : 0);
    ocdm__output_count(output, ",\"threads\":", threads);
    write_text(output, ",\"system\":", text);
    ocdm__output_text(output, "}");
}
