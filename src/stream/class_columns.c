/* The order of the classes. */
#include "stream/class_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/shown_label.h"
#include "base/utf8.h"

struct named {
    const char *text;
    size_t length;
    uint32_t number;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return ocdm__compare_texts(a->text, a->length, b->text, b->length);
}

/* The names one after another, as a stream file has them. */
static ocdm_status list_names(ocdm__class_columns *columns, const struct named *named, size_t count, ocdm_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += named[i].length;
    columns->names.starts = ocdm__allocate(count + 1, sizeof *columns->names.starts);
    columns->names.bytes = ocdm__allocate(bytes + OCDM__LABEL_PADDING, 1);
    if (columns->names.starts == NULL || columns->names.bytes == NULL)
        return ocdm__fail_memory(error, "the names of the classes");
    for (size_t i = 0; i < count; i++) {
        memcpy(columns->names.bytes + columns->names.starts[i], named[i].text, named[i].length);
        columns->names.starts[i + 1] = columns->names.starts[i] + named[i].length;
    }
    columns->count = count;
    return OCDM_OK;
}

static ocdm_status make_places(ocdm__class_columns *columns, size_t label_count, ocdm_error *error)
{
    columns->of = ocdm__allocate(label_count, sizeof *columns->of);
    if (columns->of == NULL)
        return ocdm__fail_memory(error, "the order of the classes");
    for (size_t i = 0; i < label_count; i++)
        columns->of[i] = UINT32_MAX;
    return OCDM_OK;
}

ocdm_status ocdm__class_columns_sorted(ocdm__class_columns *columns, const ocdm__label_table *labels, const uint8_t *kept,
                                       ocdm_error *error)
{
    size_t count = 0;
    struct named *named = ocdm__allocate(labels->count, sizeof *named);
    if (named == NULL)
        return ocdm__fail_memory(error, "the order of the classes");
    for (uint32_t i = 0; i < labels->count; i++) {
        if (kept != NULL && kept[i] == 0)
            continue;
        named[count].number = i;
        named[count].text = ocdm__label_table_text(labels, i, &named[count].length);
        count++;
    }
    qsort(named, count, sizeof *named, compare_names);
    ocdm_status status = make_places(columns, labels->count, error);
    if (status == OCDM_OK)
        status = list_names(columns, named, count, error);
    for (uint32_t i = 0; status == OCDM_OK && i < count; i++)
        columns->of[named[i].number] = i;
    ocdm__release(named);
    return status;
}

/* ---- from a file ----------------------------------------------------------------------------------------------------- */

/* The next line without its end; false at the end of the file. */
static bool next_line(const ocdm__mapped_file *file, size_t *at, const char **line, size_t *length)
{
    if (*at >= file->size)
        return false;
    const char *start = (const char *)file->bytes + *at;
    const char *end = memchr(start, '\n', file->size - *at);
    *length = end != NULL ? (size_t)(end - start) : file->size - *at;
    *at += *length + 1;
    if (*length > 0 && start[*length - 1] == '\r')
        --*length;
    *line = start;
    return true;
}

/* Adds a line to the table of names, which wants readable bytes behind it: hence the copy. */
static ocdm_status add_name(ocdm__label_table *names, const char *line, size_t length, uint32_t *number, ocdm_error *error)
{
    char *copy = ocdm__allocate(length + OCDM__LABEL_PADDING, 1);
    if (copy == NULL)
        return ocdm__fail_memory(error, "the name of a class");
    memcpy(copy, line, length);
    ocdm_status status = ocdm__label_table_add(names, copy, length, number, error);
    ocdm__release(copy);
    return status;
}

static bool is_name(const char *line, size_t length)
{
    const unsigned char *at = (const unsigned char *)line, *end = at + length;
    for (size_t step = 1; at < end && step > 0; at += step)
        step = *at != 0 ? ocdm__utf8_sequence(at, end) : 0;
    return at == end;
}

static ocdm_status read_name(ocdm__label_table *names, const char *place, const char *line, size_t length, ocdm_error *error)
{
    uint32_t number, expected = names->count;
    if (!is_name(line, length))
        return ocdm__fail(error, OCDM_BAD_RECORD, "give a text file in UTF-8 with one class a line",
                          "%s: the name of a class is no UTF-8 text", place);
    ocdm_status status = add_name(names, line, length, &number, error);
    if (status == OCDM_OK && number != expected)
        return ocdm__fail(error, OCDM_BAD_RECORD, "list every class once", "%s: the class \"%s\" is there twice", place,
                          ocdm__show_label(line, length).text);
    return status;
}

static ocdm_status read_names(ocdm__label_table *names, const ocdm__mapped_file *file, ocdm_error *error)
{
    const char *line;
    size_t at = file->size >= 3 && memcmp(file->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a mark of the byte order */
    size_t length, number_of_line = 0;
    while (next_line(file, &at, &line, &length)) {
        char place[sizeof error->message];
        snprintf(place, sizeof place, "%s:%zu", file->name, ++number_of_line);
        ocdm_status status = length > 0 ? read_name(names, place, line, length, error) : OCDM_OK;
        if (status != OCDM_OK)
            return status;
    }
    if (names->count == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, "list one class a line", "%s: no classes in it", file->name);
    return OCDM_OK;
}

/* Each label of the source finds its line. */
static ocdm_status place_labels(ocdm__class_columns *columns, ocdm__label_table *names, const ocdm__label_table *labels,
                                ocdm_error *error)
{
    uint32_t listed = names->count;
    for (uint32_t i = 0; i < labels->count; i++) {
        size_t length;
        uint32_t number;
        const char *text = ocdm__label_table_text(labels, i, &length);
        ocdm_status status = add_name(names, text, length, &number, error);
        if (status != OCDM_OK)
            return status;
        if (number < listed)
            columns->of[i] = number;
    }
    return OCDM_OK;
}

static ocdm_status columns_of(ocdm__class_columns *columns, ocdm__label_table *names, const ocdm__label_table *labels,
                              ocdm_error *error)
{
    uint32_t count = names->count;
    struct named *named = ocdm__allocate(count, sizeof *named);
    if (named == NULL)
        return ocdm__fail_memory(error, "the order of the classes");
    for (uint32_t i = 0; i < count; i++)
        named[i].text = ocdm__label_table_text(names, i, &named[i].length);
    ocdm_status status = list_names(columns, named, count, error);
    if (status == OCDM_OK)
        status = make_places(columns, labels->count, error);
    if (status == OCDM_OK)
        status = place_labels(columns, names, labels, error);
    ocdm__release(named);
    return status;
}

ocdm_status ocdm__class_columns_read(ocdm__class_columns *columns, const ocdm__label_table *labels, const char *path,
                                     ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    ocdm__label_table names = {.count = 0};
    ocdm_status status = ocdm__map_file(&file, path, error);
    if (status == OCDM_OK)
        status = read_names(&names, &file, error);
    if (status == OCDM_OK)
        status = columns_of(columns, &names, labels, error);
    ocdm__label_table_clear(&names);
    ocdm__unmap_file(&file);
    return status;
}

void ocdm__class_columns_clear(ocdm__class_columns *columns)
{
    ocdm__release(columns->names.starts);
    ocdm__release(columns->names.bytes);
    ocdm__release(columns->of);
    *columns = (ocdm__class_columns){.count = 0};
}
