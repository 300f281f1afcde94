/* Deals files to ranks, and collects them. */
#include "ranks/files.h"

#include <unistd.h>

#include "base/files.h"
#include "base/output.h"

/* Of a path, and of the number and ending of a file in it. */
enum { NAME_ROOM = 512, NUMBER_ROOM = 64 };

/* The outcome of a rank's files. */
struct outcome {
    uint64_t file; /* the first that failed; UINT64_MAX for none */
    ocdm_error error;
};

/* Each rank has a folder of its own, which the others need not see. Names in it follow from the number of the file. */
static ocdm_status make_folder(ocdm__rank_files *files, const char *const endings[2], ocdm_error *error)
{
    const char *place = getenv("TMPDIR");
    char path[NAME_ROOM - NUMBER_ROOM];
    place = place != NULL && *place != '\0' ? place : "/tmp";
    if (snprintf(path, sizeof path, "%s/ocdm-XXXXXX", place) >= (int)sizeof path || mkdtemp(path) == NULL)
        return ocdm__fail(error, OCDM_IO, "set TMPDIR to a folder for temporary files", "cannot make a folder in %.200s",
                          place);
    files->folder = ocdm__allocate(strlen(path) + 1, 1);
    files->names = ocdm__allocate(2 * files->count, sizeof *files->names);
    files->text = ocdm__allocate(2 * files->count, NAME_ROOM);
    if (files->folder == NULL || files->names == NULL || files->text == NULL) {
        (void)rmdir(path);
        return ocdm__fail_memory(error, "the names of the files");
    }
    memcpy(files->folder, path, strlen(path));
    for (size_t i = 0; i < 2 * files->count; i++) {
        files->names[i] = files->text + i * NAME_ROOM;
        snprintf(files->names[i], NAME_ROOM, "%s/%zu.%s", path, i % files->count, endings[i / files->count]);
    }
    return OCDM_OK;
}

/* Gathers the files first to first + size - 1 that are below `end`, one from each rank. */
static ocdm_status collect_round(const ocdm__rank_files *files, size_t first, size_t end, ocdm_error *error)
{
    const ocdm__ranks *ranks = files->ranks;
    ocdm__mapped_file file = {.bytes = NULL};
    ocdm__ranks_bytes gathered;
    size_t own = first + ranks->rank;
    ocdm_status status = OCDM_OK;
    if (ranks->rank != 0 && own < end && ocdm__map_file(&file, files->names[own], error) != OCDM_OK)
        ranks->fail(error);
    ocdm__ranks_gather_bytes(ranks, file.bytes, file.size, &gathered);
    ocdm__unmap_file(&file);
    for (size_t r = 1; ranks->rank == 0 && r < ranks->size && first + r < end && status == OCDM_OK; r++) {
        ocdm__output output;
        status = ocdm__output_open_own(&output, files->names[first + r], error);
        if (status != OCDM_OK)
            break;
        ocdm__output_write(&output, gathered.all + gathered.starts[r] * sizeof(uint32_t), (size_t)gathered.sizes[r]);
        status = ocdm__output_commit(&output, error);
    }
    ocdm__ranks_bytes_clear(&gathered);
    return status;
}

/* Files are dealt in turn. The first failure in the order of the files is what all ranks return, as one process would. */
ocdm_status ocdm__rank_files_make(ocdm__rank_files *files, const ocdm__ranks *ranks, size_t count, const char *const endings[2],
                                  ocdm__rank_file_make *make, void *state, ocdm_error *error)
{
    struct outcome own = {.file = UINT64_MAX};
    *files = (ocdm__rank_files){.ranks = ranks, .count = count};
    ocdm_status status = make_folder(files, endings, &own.error);
    own.file = status != OCDM_OK ? ranks->rank : UINT64_MAX;
    for (size_t k = ranks->rank; status == OCDM_OK && k < count; k += ranks->size) {
        status = make(state, k, files->names[k], files->names[count + k], &own.error);
        own.file = status != OCDM_OK ? k : UINT64_MAX;
    }
    /* On all ranks the outcome of the first file that failed on any. */
    ocdm__ranks_bytes gathered;
    ocdm__ranks_gather_bytes(ranks, &own, sizeof own, &gathered);
    for (size_t r = 1; ranks->rank == 0 && r < ranks->size; r++) {
        struct outcome other;
        memcpy(&other, gathered.all + gathered.starts[r] * sizeof(uint32_t), sizeof other);
        own = other.file < own.file ? other : own;
    }
    ocdm__ranks_bytes_clear(&gathered);
    ranks->broadcast(&own, sizeof own / sizeof(uint32_t));
    if (own.file != UINT64_MAX) {
        *error = own.error;
        return own.error.status;
    }
    /* The other ranks do not learn of the leader's write errors and continue with the rounds. */
    for (size_t first = 0; ranks->size > 1 && first < 2 * count; first += count)
        for (size_t k = 0; k < count; k += ranks->size) {
            ocdm_error why;
            ocdm_status round = collect_round(files, first + k, first + count, &why);
            if (status == OCDM_OK && round != OCDM_OK)
                *error = why;
            status = status == OCDM_OK ? round : status;
        }
    return status;
}

/* Each rank removes what is in its folder. */
void ocdm__rank_files_remove(ocdm__rank_files *files)
{
    for (size_t i = 0; files->folder != NULL && i < 2 * files->count; i++)
        (void)unlink(files->names[i]);
    if (files->folder != NULL)
        (void)rmdir(files->folder);
    OCDM_RELEASE(files->folder, files->names, files->text);
    *files = (ocdm__rank_files){.count = 0};
}
