/*
 * Fuzzing ARFF: the input is the table, a line ====, and the XML file with its labels. Labels and features are read by passes
 * of their own, which must agree on what a row is and which rows are good.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file_of_bytes.h"
#include "stream/readers/readers.h"

static const char *find_cut(const char *text, size_t size)
{
    for (size_t i = 0; i + 6 <= size; i++)
        if (memcmp(text + i, "\n====\n", 6) == 0)
            return text + i;
    return NULL;
}

/* How many rows of features are good. */
static size_t count_good(ocdm__feature_rows *rows)
{
    size_t good = 0;
    ocdm_error error;
    float *row = calloc(rows->width, sizeof *row);
    for (uint64_t i = 0; i < rows->count; i++) {
        if (rows->read(rows, i, row, &error) != OCDM_OK)
            continue;
        good++;
        for (size_t j = 0; j < rows->width; j++)
            if (!isfinite(row[j]))
                abort();
    }
    free(row);
    return good;
}

static void read_both(const char *arff, const char *xml)
{
    ocdm__labelled_set strict = {.count = 0}, lenient = {.count = 0};
    ocdm__reading refusing = {.skip_bad = false}, skipping = {.skip_bad = true};
    ocdm__feature_rows *rows = NULL;
    ocdm_error error, why;
    ocdm_status status = ocdm__arff_read(&strict, arff, xml, &refusing, &error);
    ocdm_status skipped = ocdm__arff_read(&lenient, arff, xml, &skipping, &why);
    if ((status == OCDM_OK && (skipped != OCDM_OK || lenient.count != strict.count)) || lenient.count < strict.count)
        abort();
    if (ocdm__arff_open_rows(arff, xml, &rows, &why) == OCDM_OK) {
        if (skipped == OCDM_OK && count_good(rows) != lenient.count)
            abort();
        ocdm__feature_rows_close(rows);
    } else if (rows != NULL || why.message[0] == '\0') {
        abort();
    }
    ocdm__labelled_set_clear(&strict);
    ocdm__labelled_set_clear(&lenient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *cut = size <= 32768 ? find_cut(text, size) : NULL;
    if (cut == NULL)
        return 0;
    const char *arff = file_of_bytes(0, text, (size_t)(cut - text) + 1);
    read_both(arff, file_of_bytes(1, cut + 6, size - (size_t)(cut - text) - 6));
    return 0;
}
