/*
 * Fuzzing records on their way into a labelled set. The first byte picks the format and the options, the rest is the file.
 * Every sample must have a class for each label, a task that has a name, and a path that stays in its folder.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file_of_bytes.h"
#include "stream/records/source.h"

static void check_path(const ocdm__labelled_set *set, uint32_t number)
{
    size_t length;
    if (number == UINT32_MAX)
        return;
    const char *path = ocdm__label_table_text(&set->paths, number, &length);
    if (length == 0 || path[0] == '/' || (length >= 3 && memcmp(path, "../", 3) == 0))
        abort();
}

static void check_set(const ocdm__labelled_set *set, const ocdm__records_source *source)
{
    for (size_t i = 0; i < set->count; i++) {
        check_path(set, set->path_numbers[i]);
        if (source->tasks_by != NULL && set->tasks[i] >= source->task_names.count)
            abort();
        if (set->numbers[i] < i || (i > 0 && set->numbers[i] <= set->numbers[i - 1]))
            abort();
        if (set->numbers[i] >= set->row_count)
            abort();
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
            if (set->labels[j] >= set->classes.count || (j > set->label_starts[i] && set->labels[j - 1] >= set->labels[j]))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm_error error = {.status = OCDM_OK};
    if (size == 0 || size > 32768)
        return 0;
    ocdm__records_source source = {.options = {.format = (enum ocdm__record_format)(data[0] % 5)},
                                   .tasks_by = data[0] / 5 % 2 != 0 ? "by" : NULL};
    ocdm__reading reading = {.skip_bad = data[0] / 10 % 2};
    ocdm_status status = ocdm__records_source_read(&set, file_of_bytes(0, data + 1, size - 1), &source, &reading, &error);
    if (status == OCDM_OK)
        check_set(&set, &source);
    else if (error.status != status || error.message[0] == '\0')
        abort();
    ocdm__records_source_clear(&source);
    ocdm__labelled_set_clear(&set);
    return 0;
}
