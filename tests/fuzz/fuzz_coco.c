/*
 * Any bytes as COCO files, two of them where a byte 0xFF, which JSON does not have, divides them: refused with a message that
 * names a file, or a set that is whole. Leaving bad records out must refuse nothing that is good.
 */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "stream/readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                                      \
    do {                                                                                                                       \
        if (!(condition))                                                                                                      \
            abort();                                                                                                           \
    } while (0)

/* A file without a name, to be opened again and again. */
struct nameless {
    int fd;
    char path[32];
};

static void open_nameless(struct nameless *file)
{
    char name[] = "/dev/shm/ocdm-fuzz-XXXXXX";
    file->fd = mkstemp(name);
    DEMAND(file->fd >= 0 && unlink(name) == 0);
    snprintf(file->path, sizeof file->path, "/dev/fd/%d", file->fd);
}

static void fill(struct nameless *file, const uint8_t *data, size_t size)
{
    DEMAND(ftruncate(file->fd, 0) == 0);
    DEMAND(size == 0 || pwrite(file->fd, data, size, 0) == (ssize_t)size);
}

static void check_set(const ocdm__labelled_set *set)
{
    DEMAND(set->ids.count == set->count);
    for (size_t i = 0; i < set->count; i++) {
        DEMAND(set->label_starts[i] <= set->label_starts[i + 1]);
        DEMAND(set->path_numbers[i] == UINT32_MAX || set->path_numbers[i] < set->paths.count);
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
            DEMAND(set->labels[j] < set->classes.count && (j == set->label_starts[i] || set->labels[j] > set->labels[j - 1]));
    }
}

static void check_error(ocdm_status status, const ocdm_error *error)
{
    DEMAND(status == OCDM_BAD_FILE || status == OCDM_BAD_RECORD);
    unsigned long line = 0, column = 0;
    int fd;
    int found = sscanf(error->message, "/dev/fd/%d:%lu:%lu: ", &fd, &line, &column);
    DEMAND(error->status == status && found >= 1);
    if (strncmp(error->hint, "unpack it first", 15) == 0)
        return; /* compressed data has no lines */
    DEMAND(found == 3);
    DEMAND(line > 0 && column > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nameless files[2];
    if (files[1].path[0] == '\0') {
        open_nameless(&files[0]);
        open_nameless(&files[1]);
    }
    const char *const paths[] = {files[0].path, files[1].path};
    const uint8_t *divided = size > 0 ? memchr(data, 0xFF, size) : NULL;
    size_t first = divided != NULL ? (size_t)(divided - data) : size;
    fill(&files[0], data, first);
    if (divided != NULL)
        fill(&files[1], divided + 1, size - first - 1);

    ocdm__labelled_set strict = {.count = 0}, lenient = {.count = 0};
    ocdm__reading strictly = {.skip_bad = false}, leniently = {.skip_bad = true};
    ocdm_error error;
    size_t count = divided != NULL ? 2 : 1;
    ocdm_status status = ocdm__coco_read(&strict, paths, NULL, count, &strictly, &error);
    if (status != OCDM_OK)
        check_error(status, &error);
    ocdm_status leniently_status = ocdm__coco_read(&lenient, paths, NULL, count, &leniently, &error);
    if (leniently_status != OCDM_OK)
        check_error(leniently_status, &error);
    check_set(&strict);
    check_set(&lenient);
    if (status == OCDM_OK)
        DEMAND(leniently_status == OCDM_OK && leniently.skip_count == 0 && lenient.count == strict.count);
    else if (leniently_status == OCDM_OK)
        DEMAND(leniently.skip_count > 0);
    ocdm__labelled_set_clear(&strict);
    ocdm__labelled_set_clear(&lenient);
    return 0;
}
