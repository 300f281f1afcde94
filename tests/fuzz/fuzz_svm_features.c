/* Fuzzing LIBSVM and XMC: the input is the file. A row of features for each record that the record reader finds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "file_of_bytes.h"
#include "stream/readers/readers.h"
#include "stream/records/source.h"

static void read_rows(ocdm__feature_rows *rows)
{
    ocdm_error error;
    float *row = calloc(rows->width, sizeof *row);
    for (uint64_t i = 0; i < rows->count; i++)
        if (rows->read(rows, i, row, &error) == OCDM_OK)
            for (size_t j = 0; j < rows->width; j++)
                if (!isfinite(row[j]))
                    abort();
    if (rows->read(rows, 0, row, NULL) != rows->read(rows, 0, row, NULL))
        abort();
    free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__records_source source = {.options = {.format = OCDM__FORMAT_SVM}};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    if (size > 32768)
        return 0;
    const char *path = file_of_bytes(0, data, size);
    ocdm_status labels = ocdm__records_source_read(&set, path, &source, &reading, &error);
    if (ocdm__svm_open_rows(path, &rows, &error) == OCDM_OK) {
        if (labels == OCDM_OK && set.count != rows->count)
            abort();
        if (rows->width <= 65536)
            read_rows(rows);
        ocdm__feature_rows_close(rows);
    } else if (rows != NULL || error.message[0] == '\0') {
        abort();
    }
    ocdm__records_source_clear(&source);
    ocdm__labelled_set_clear(&set);
    return 0;
}
