/* Fuzzing NPY: the input is the file, read as features and as labels. What is accepted is finite, and whole. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "file_of_bytes.h"
#include "base/error.h"
#include "stream/readers/readers.h"

static void read_features(const char *path)
{
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    if (ocdm__npy_open_rows(path, &rows, &error) != OCDM_OK) {
        if (rows != NULL || error.message[0] == '\0')
            abort();
        return;
    }
    float *row = calloc(rows->width, sizeof *row);
    for (uint64_t i = 0; i < rows->count && rows->read(rows, i, row, &error) == OCDM_OK; i++)
        for (size_t j = 0; j < rows->width; j++)
            if (!isfinite(row[j]))
                abort();
    free(row);
    ocdm__feature_rows_close(rows);
}

static void read_labels(const char *path, bool skip_bad)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = skip_bad};
    ocdm_error error;
    ocdm_status status = ocdm__npy_read_labels(&set, path, &reading, &error);
    if (skip_bad && status == OCDM_BAD_RECORD)
        abort();
    for (size_t i = 0; i < set.count; i++)
        if (set.rows[i] < i || (!skip_bad && set.rows[i] != i))
            abort();
    ocdm__labelled_set_clear(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    const char *path = file_of_bytes(0, data, size);
    read_features(path);
    read_labels(path, false);
    read_labels(path, true);
    return 0;
}
