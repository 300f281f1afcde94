/*
 * Any bytes as one of the files that name classes: the order of --classes, the groups of --groups, the tasks of --tasks, the
 * weights of --class-weights. The first byte says which. Refused with a message of one line that names the file, or every class
 * has its place.
 */
#include <stdlib.h>
#include <string.h>

#include "file_of_bytes.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"
#include "stream/selection.h"

static const char *const names[] = {"a", "b", "cat", "dog"};
#define CLASSES (sizeof names / sizeof *names)

static void make_classes(ocdm__label_table *classes)
{
    ocdm_error error;
    for (size_t i = 0; i < CLASSES; i++) {
        char name[8 + OCDM__LABEL_PADDING] = "";
        uint32_t number;
        strcpy(name, names[i]);
        if (ocdm__label_table_add(classes, name, strlen(name), &number, &error) != OCDM_OK || number != i)
            abort();
    }
}

static ocdm_status read_columns(const ocdm__label_table *classes, const char *path, ocdm_error *error)
{
    ocdm__class_columns columns = {.count = 0};
    ocdm_status status = ocdm__class_columns_make(&columns, classes, path, NULL, error);
    for (size_t i = 0; status == OCDM_OK && i < CLASSES; i++)
        if (columns.of[i] != UINT32_MAX && columns.of[i] >= columns.count)
            abort();
    if (status == OCDM_OK && columns.count == 0)
        abort();
    ocdm__class_columns_clear(&columns);
    return status;
}

static ocdm_status read_groups(const ocdm__label_table *classes, const char *path, ocdm_error *error)
{
    uint8_t groups[CLASSES];
    ocdm_status status = ocdm__class_groups_file_read(path, classes, groups, NULL, error);
    for (size_t i = 0; status == OCDM_OK && i < CLASSES; i++)
        if (groups[i] > OCDM__MINORITY)
            abort();
    return status;
}

static ocdm_status read_tasks(const ocdm__label_table *classes, const char *path, ocdm_error *error)
{
    uint32_t tasks[CLASSES];
    ocdm__task_list list = {.task_count = 0};
    ocdm_status status = ocdm__task_list_open(&list, path, error);
    size_t count = list.task_count;
    if (status == OCDM_OK)
        status = ocdm__task_list_apply(&list, classes, tasks, error);
    for (size_t i = 0; status == OCDM_OK && i < CLASSES; i++)
        if (tasks[i] != UINT32_MAX && tasks[i] >= count)
            abort();
    ocdm__task_list_clear(&list);
    return status;
}

static ocdm_status read_weights(const ocdm__label_table *classes, const char *path, ocdm_error *error)
{
    static uint64_t starts[CLASSES + 1] = {0, 1, 2, 5, 8};
    static char bytes[] = "abcatdog";
    const ocdm__stream_table table = {.class_count = classes->count, .classes = {.starts = starts, .bytes = bytes}};
    double weights[CLASSES];
    ocdm_status status = ocdm__class_weights_file_read(path, &table, weights, error);
    for (size_t i = 0; status == OCDM_OK && i < CLASSES; i++)
        if (!(weights[i] >= OCDM_MIN_WEIGHT && weights[i] <= OCDM_MAX_WEIGHT))
            abort();
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ocdm_status (*const readers[])(const ocdm__label_table *, const char *, ocdm_error *) = {read_columns, read_groups,
                                                                                                    read_tasks, read_weights};
    ocdm__label_table classes = {.count = 0};
    ocdm_error error = {.status = OCDM_OK};
    if (size == 0 || size > 32768)
        return 0;
    make_classes(&classes);
    const char *path = file_of_bytes(0, data + 1, size - 1);
    ocdm_status status = readers[data[0] % (sizeof readers / sizeof *readers)](&classes, path, &error);
    if (status != OCDM_OK &&
        (error.status != status || strncmp(error.message, path, strlen(path)) != 0 || strchr(error.message, '\n') != NULL))
        abort();
    ocdm__label_table_clear(&classes);
    return 0;
}
