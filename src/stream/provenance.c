/* Makes the notes of a stream file: sources with their SHA-256, and the digest of the ids. */
#define _POSIX_C_SOURCE 200809L

#include "stream/provenance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"
#include "stream/labelled_set.h"

void ocdm__digest_ids(const ocdm__stream_table *table, char text[OCDM__SHA256_TEXT])
{
    ocdm__sha256 sha;
    ocdm__sha256_begin(&sha);
    for (size_t i = 0; i < table->sample_count; i++) {
        char start[32];
        size_t length;
        const char *id = ocdm__text_at(&table->ids, i, &length);
        int count = snprintf(start, sizeof start, "%" PRIu32 "\t%s\t", table->tasks[i],
                             table->parts[i] == OCDM__TEST ? "test" : "train");
        ocdm__sha256_add(&sha, start, (size_t)count);
        ocdm__sha256_add(&sha, id, length);
        ocdm__sha256_add(&sha, "\n", 1);
    }
    ocdm__sha256_end(&sha, text);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* One source as JSON at the end of the list; the list has room. */
static ocdm_status add_source(char *list, const char *path, const ocdm__progress *progress, ocdm_error *error)
{
    char digest[OCDM__SHA256_TEXT];
    struct stat facts = {.st_size = 0};
    ocdm_status status = ocdm__sha256_of_file(path, progress, digest, error);
    if (status != OCDM_OK)
        return status;
    stat(path, &facts);
    const char *name = name_of(path);
    char *end = list + strlen(list);
    end += sprintf(end, "%s{\"file\":", end[-1] == '[' ? "" : ",");
    end += ocdm__json_quote(name, strlen(name), end);
    sprintf(end, ",\"bytes\":%" PRIu64 ",\"sha256\":\"%s\"}", (uint64_t)facts.st_size, digest);
    return OCDM_OK;
}

static ocdm_status list_sources(ocdm__provenance *provenance, const char *const *files, size_t file_count,
                                const ocdm__progress *progress, ocdm_error *error)
{
    size_t room = 8;
    for (size_t i = 0; i < file_count; i++)
        room += OCDM__JSON_QUOTED(strlen(files[i])) + OCDM__SHA256_TEXT + 64;
    provenance->sources = ocdm__allocate(room, 1);
    if (provenance->sources == NULL)
        return ocdm__fail_memory(error, "the list of sources");
    provenance->sources[0] = '[';
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < file_count && status == OCDM_OK; i++)
        status = add_source(provenance->sources, files[i], progress, error);
    provenance->sources[strlen(provenance->sources)] = ']';
    return status;
}

static void add_note(ocdm__provenance *provenance, const char *key, const char *value)
{
    provenance->notes[provenance->note_count++] = (struct ocdm__note){.key = key, .value = value};
}

ocdm_status ocdm__provenance_make(ocdm__provenance *provenance, const char *command, const char *image_root,
                                  const char *const *files, size_t file_count, const ocdm__stream_table *table,
                                  const ocdm__progress *progress, ocdm_error *error)
{
    ocdm_status status = list_sources(provenance, files, file_count, progress, error);
    if (status != OCDM_OK)
        return status;
    ocdm__digest_ids(table, provenance->ids);
    add_note(provenance, "format", "ocdm-stream");
    add_note(provenance, "version", "1");
    add_note(provenance, "command", command);
    add_note(provenance, "sources", provenance->sources);
    add_note(provenance, "ids_sha256", provenance->ids);
    if (image_root != NULL)
        add_note(provenance, "image_root", image_root);
    return OCDM_OK;
}

void ocdm__provenance_clear(ocdm__provenance *provenance)
{
    ocdm__release(provenance->sources);
    *provenance = (ocdm__provenance){.note_count = 0};
}
