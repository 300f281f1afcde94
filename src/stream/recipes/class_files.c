/*
 * Reads files of class groups and class weights. Both forms of a file, JSON and text, fill the same table. Also the JSON file
 * reader that gives file:line:column for every error; lines are counted as far as needed.
 */
#include "stream/recipes/class_files.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"
#include "stream/label_table.h"

/* ---- JSON files with positions -------------------------------------------------------------------------------------- */

ocdm_status ocdm__json_file_open(ocdm__json_file *file, const char *path, ocdm_error *error)
{
    *file = (ocdm__json_file){.line = 1};
    OCDM_TRY(ocdm__map_file(&file->file, path, error));
    ocdm__json_begin(&file->json, file->file.bytes, file->file.size);
    return OCDM_OK;
}

ocdm__place ocdm__json_file_place(ocdm__json_file *file, size_t offset)
{
    if (offset < file->counted)
        file->counted = 0, file->line_start = 0, file->line = 1;
    for (; file->counted < offset; file->counted++)
        if (file->file.bytes[file->counted] == '\n') {
            file->line++;
            file->line_start = file->counted + 1;
        }
    return (ocdm__place){.line = file->line, .column = offset - file->line_start + 1};
}

ocdm__place ocdm__json_file_here(ocdm__json_file *file)
{
    size_t offset = (size_t)((const unsigned char *)file->json.text - file->json.start);
    return ocdm__json_file_place(file, offset - (file->event == OCDM__JSON_STRING || file->event == OCDM__JSON_KEY));
}

ocdm_status ocdm__json_file_fail(const ocdm__json_file *file, ocdm__place place, ocdm_error *error, const char *hint,
                                 const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_FILE, hint, "%s:%llu:%llu: %s", file->file.name, (unsigned long long)place.line,
                      (unsigned long long)place.column, text);
}

ocdm_status ocdm__json_file_next(ocdm__json_file *file, ocdm_error *error)
{
    file->event = ocdm__json_next(&file->json);
    if (file->event != OCDM__JSON_ERROR)
        return OCDM_OK;
    return ocdm__json_file_fail(file, ocdm__json_file_place(file, file->json.error_at), error, "", "%s", file->json.reason);
}

ocdm_status ocdm__json_file_expect(ocdm__json_file *file, enum ocdm__json_event event, const char *what, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_file_next(file, error));
    if (file->event != event)
        OCDM_TRY(ocdm__json_file_fail(file, ocdm__json_file_here(file), error, "", "expected %s", what));
    return OCDM_OK;
}

ocdm_status ocdm__json_file_copy(ocdm__json_file *file, const char *bytes, size_t length, ocdm_error *error)
{
    if (length > SIZE_MAX - OCDM__LABEL_PADDING ||
        !ocdm__reserve_zeroed(&file->text, &file->room, length + OCDM__LABEL_PADDING, 1))
        return ocdm__fail_memory(error, "a text");
    if (length > 0)
        memcpy(file->text, bytes, length);
    file->length = length;
    return OCDM_OK;
}

ocdm_status ocdm__json_file_text(ocdm__json_file *file, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_file_copy(file, file->json.text, file->json.length, error));
    bool quoted = file->event == OCDM__JSON_STRING || file->event == OCDM__JSON_KEY;
    if (quoted && file->json.escaped)
        file->length = ocdm__json_unescape(file->json.text, file->json.length, file->text);
    return OCDM_OK;
}

void ocdm__json_file_close(ocdm__json_file *file)
{
    ocdm__release(file->text);
    ocdm__unmap_file(&file->file);
    *file = (ocdm__json_file){.line = 1};
}

/* ---- class groups --------------------------------------------------------------------------------------------------- */

#define GROUP_HINT "the groups are majority, moderate and minority"
#define NAMES_SHOWN 5

/* ---- the table of names ---------------------------------------------------------------------------------------------- */

/* Adds the name in file->text, which is at `place`. */
static ocdm_status add_name(ocdm__named_groups *named, ocdm__json_file *file, ocdm__place place, enum ocdm__class_group group,
                            ocdm_error *error)
{
    uint32_t number, before = named->names.count;
    if (file->length == 0)
        return ocdm__json_file_fail(file, place, error, "", "a class without a name");
    if (!ocdm__reserve(&named->groups, &named->room, (size_t)before + 1, sizeof *named->groups))
        return ocdm__fail_memory(error, "the groups of classes");
    OCDM_TRY(ocdm__label_table_add(&named->names, file->text, file->length, &number, error));
    if (number < before)
        return ocdm__json_file_fail(file, place, error, "a class belongs to one group",
                                    "class \"%s\" is named a second time, the first was as %s",
                                    ocdm__show_label(file->text, file->length).text,
                                    ocdm__class_group_name((enum ocdm__class_group)named->groups[number]));
    named->groups[number] = (uint8_t)group;
    return OCDM_OK;
}

ocdm_status ocdm__class_groups_add_array(ocdm__named_groups *named, ocdm__json_file *file, enum ocdm__class_group group,
                                         ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_expect(file, OCDM__JSON_ARRAY, "an array of class names", error);
    while (status == OCDM_OK) {
        status = ocdm__json_file_next(file, error);
        if (status != OCDM_OK || file->event == OCDM__JSON_ARRAY_END)
            return status;
        if (file->event != OCDM__JSON_STRING)
            return ocdm__json_file_fail(file, ocdm__json_file_here(file), error, "", "expected the name of a class, a string");
        status = ocdm__json_file_text(file, error);
        OCDM_THEN(status, add_name(named, file, ocdm__json_file_here(file), group, error));
    }
    return status;
}

ocdm_status ocdm__class_groups_assign(ocdm__named_groups *named, const ocdm__label_table *classes, uint8_t *groups,
                                      size_t *without, ocdm_error *error)
{
    ocdm__json_file copy = {.line = 1};
    uint32_t number, names = named->names.count;
    ocdm_status status = OCDM_OK;
    *without = 0;
    for (uint32_t i = 0; status == OCDM_OK && i < classes->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(classes, i, &length);
        status = ocdm__json_file_copy(&copy, text, length, error);
        OCDM_THEN(status, ocdm__label_table_add(&named->names, copy.text, length, &number, error));
        if (status != OCDM_OK)
            break;
        groups[i] = number < names ? named->groups[number] : OCDM__NO_GROUP;
        *without += number >= names;
    }
    ocdm__json_file_close(&copy);
    return status;
}

void ocdm__class_groups_clear(ocdm__named_groups *named)
{
    ocdm__label_table_clear(&named->names);
    ocdm__release(named->groups);
    *named = (ocdm__named_groups){.room = 0};
}

/* ---- the two forms --------------------------------------------------------------------------------------------------- */

/* The group whose name is in file->text. */
static ocdm_status find_group(ocdm__json_file *file, ocdm__place place, enum ocdm__class_group *group, ocdm_error *error)
{
    for (int i = 0; i < OCDM__GROUPS; i++) {
        const char *name = ocdm__class_group_name((enum ocdm__class_group)i);
        if (file->length == strlen(name) && memcmp(file->text, name, file->length) == 0) {
            *group = (enum ocdm__class_group)i;
            return OCDM_OK;
        }
    }
    return ocdm__json_file_fail(file, place, error, GROUP_HINT, "no group is called \"%s\"",
                                ocdm__show_label(file->text, file->length).text);
}

static ocdm_status read_json(ocdm__named_groups *named, ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_expect(file, OCDM__JSON_OBJECT, "an object of groups", error);
    while (status == OCDM_OK) {
        enum ocdm__class_group group;
        status = ocdm__json_file_next(file, error);
        if (status != OCDM_OK || file->event == OCDM__JSON_OBJECT_END)
            break;
        status = ocdm__json_file_text(file, error);
        OCDM_THEN(status, find_group(file, ocdm__json_file_here(file), &group, error));
        OCDM_THEN(status, ocdm__class_groups_add_array(named, file, group, error));
    }
    return status == OCDM_OK ? ocdm__json_file_expect(file, OCDM__JSON_END, "the end of the file", error) : status;
}

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Copies the bytes from *start to `end`, blanks around them dropped, to file->text; *start becomes where they begin. */
static ocdm_status copy_trimmed(ocdm__json_file *file, size_t *start, size_t end, ocdm_error *error)
{
    const unsigned char *bytes = file->file.bytes;
    while (*start < end && is_blank(bytes[*start]))
        ++*start;
    while (end > *start && is_blank(bytes[end - 1]))
        end--;
    return ocdm__json_file_copy(file, (const char *)bytes + *start, end - *start, error);
}

/* The offset of `byte` from `start` on, or `end`. */
static size_t find_byte(const ocdm__json_file *file, size_t start, size_t end, int byte)
{
    const unsigned char *found = start < end ? memchr(file->file.bytes + start, byte, end - start) : NULL;
    return found != NULL ? (size_t)(found - file->file.bytes) : end;
}

/* A line of text, `group: name, name`. A line with nothing on it is skipped; a group may have no classes. */
static ocdm_status read_line(ocdm__named_groups *named, ocdm__json_file *file, size_t start, size_t end, ocdm_error *error)
{
    enum ocdm__class_group group;
    size_t colon = find_byte(file, start, end, ':');
    ocdm_status status = copy_trimmed(file, &start, colon, error);
    if (status != OCDM_OK || (colon == end && file->length == 0))
        return status;
    ocdm__place place = ocdm__json_file_place(file, start);
    if (colon == end)
        return ocdm__json_file_fail(file, place, error, "a line is `majority: name, name`", "expected a group and a colon");
    status = find_group(file, place, &group, error);
    size_t at = colon + 1;
    bool any = false;
    while (status == OCDM_OK && at <= end) {
        size_t comma = find_byte(file, at, end, ',');
        status = copy_trimmed(file, &at, comma, error);
        if (status == OCDM_OK && !any && comma == end && file->length == 0)
            return OCDM_OK;
        OCDM_THEN(status, add_name(named, file, ocdm__json_file_place(file, at), group, error));
        any = true;
        at = comma + 1;
    }
    return status;
}

static ocdm_status read_lines(ocdm__named_groups *named, ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t start = 0; status == OCDM_OK && start < file->file.size;) {
        size_t end = find_byte(file, start, file->file.size, '\n');
        status = read_line(named, file, start, end, error);
        start = end + 1;
    }
    return status;
}

static bool is_json(const ocdm__json_file *file)
{
    size_t at = 0;
    while (at < file->file.size && (is_blank(file->file.bytes[at]) || file->file.bytes[at] == '\n'))
        at++;
    return at < file->file.size && file->file.bytes[at] == '{';
}

/* ---- together -------------------------------------------------------------------------------------------------------- */

static ocdm_status fail_without(const char *path, const ocdm__label_table *classes, const uint8_t *groups, size_t without,
                                ocdm_error *error)
{
    char names[NAMES_SHOWN * (sizeof((ocdm__shown_label *)0)->text + 4)] = "", more[48] = "";
    size_t used = 0, shown = 0;
    for (uint32_t i = 0; i < classes->count && shown < NAMES_SHOWN; i++) {
        if (groups[i] != OCDM__NO_GROUP)
            continue;
        size_t length;
        const char *text = ocdm__label_table_text(classes, i, &length);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"", shown > 0 ? ", " : "",
                                 ocdm__show_label(text, length).text);
        shown++;
    }
    if (without > shown)
        snprintf(more, sizeof more, " and %zu more", without - shown);
    return ocdm__fail(error, OCDM_BAD_FILE, "name every class of the stream in one of the groups", "%s: no group for %s %s%s",
                      path, without == 1 ? "the class" : "the classes", names, more);
}

ocdm_status ocdm__class_groups_file_read(const char *path, const ocdm__label_table *classes, uint8_t *groups, size_t *unused,
                                         ocdm_error *error)
{
    ocdm__named_groups named = {.room = 0};
    ocdm__json_file file = {.line = 1};
    size_t without = 0, names = 0;
    ocdm_status status = ocdm__json_file_open(&file, path, error);
    OCDM_THEN(status, is_json(&file) ? read_json(&named, &file, error) : read_lines(&named, &file, error));
    names = named.names.count;
    OCDM_THEN(status, ocdm__class_groups_assign(&named, classes, groups, &without, error));
    if (status == OCDM_OK && without > 0)
        status = fail_without(path, classes, groups, without, error);
    if (status == OCDM_OK && unused != NULL)
        *unused = names - classes->count;
    ocdm__json_file_close(&file);
    ocdm__class_groups_clear(&named);
    return status;
}

/* ---- class weights -------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__class_table_make(ocdm__label_table *classes, const ocdm__stream_table *table, const char *path,
                                   ocdm_error *error)
{
    for (size_t i = 0; i < table->class_count; i++) {
        char padded[512 + OCDM__LABEL_PADDING] = {0};
        size_t length;
        uint32_t number;
        const char *text = ocdm__text_at(&table->classes, i, &length);
        if (length > 512)
            return ocdm__fail(error, OCDM_LIMIT, "", "%s: class %zu has a name of over 512 bytes", path, i);
        memcpy(padded, text, length);
        OCDM_TRY(ocdm__label_table_add(classes, padded, length, &number, error));
    }
    return OCDM_OK;
}

/* The weights while they are read: NaN for a class that has not been named. */
struct weights {
    ocdm__label_table classes;
    size_t class_count;
    double *weights;
};

/* Finds the class whose name is in file->text. */
static ocdm_status find_class(struct weights *read, ocdm__json_file *file, ocdm__place place, uint32_t *class,
                              ocdm_error *error)
{
    OCDM_TRY(ocdm__label_table_add(&read->classes, file->text, file->length, class, error));
    if (*class >= read->class_count)
        return ocdm__json_file_fail(file, place, error, "`ocdm stream info` lists the classes",
                                    "the stream has no class \"%s\"", ocdm__show_label(file->text, file->length).text);
    if (!isnan(read->weights[*class]))
        return ocdm__json_file_fail(file, place, error, "", "class \"%s\" is named a second time",
                                    ocdm__show_label(file->text, file->length).text);
    return OCDM_OK;
}

/* Takes the number in file->text. */
static ocdm_status take_weight(struct weights *read, ocdm__json_file *file, ocdm__place place, uint32_t class,
                               ocdm_error *error)
{
    double *weight = &read->weights[class];
    if (!ocdm__text_to_double(file->text, file->length, weight))
        return ocdm__json_file_fail(file, place, error, "a line is `cat: 3`", "\"%s\" is not a number",
                                    ocdm__show_label(file->text, file->length).text);
    if (!(*weight >= OCDM_MIN_WEIGHT && *weight <= OCDM_MAX_WEIGHT))
        return ocdm__json_file_fail(file, place, error, "", "the weight %g is out of range: %g to %g", *weight, OCDM_MIN_WEIGHT,
                                    OCDM_MAX_WEIGHT);
    return OCDM_OK;
}

static ocdm_status read_json_weights(struct weights *read, ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_expect(file, OCDM__JSON_OBJECT, "an object of weights", error);
    while (status == OCDM_OK) {
        uint32_t class = 0;
        status = ocdm__json_file_next(file, error);
        if (status != OCDM_OK || file->event == OCDM__JSON_OBJECT_END)
            break;
        status = ocdm__json_file_text(file, error);
        OCDM_THEN(status, find_class(read, file, ocdm__json_file_here(file), &class, error));
        OCDM_THEN(status, ocdm__json_file_expect(file, OCDM__JSON_NUMBER, "a weight, a number", error));
        OCDM_THEN(status, ocdm__json_file_text(file, error));
        OCDM_THEN(status, take_weight(read, file, ocdm__json_file_here(file), class, error));
    }
    return status == OCDM_OK ? ocdm__json_file_expect(file, OCDM__JSON_END, "the end of the file", error) : status;
}

/* A line of text, `name: number`. A name may have colons in it, so the last one counts. A blank line is skipped. */
static ocdm_status read_weight_line(struct weights *read, ocdm__json_file *file, size_t start, size_t end, ocdm_error *error)
{
    uint32_t class = 0;
    size_t colon = end;
    while (colon > start && file->file.bytes[colon - 1] != ':')
        colon--;
    bool found = colon > start;
    ocdm_status status = copy_trimmed(file, &start, found ? colon - 1 : end, error);
    if (status != OCDM_OK || (!found && file->length == 0))
        return status;
    ocdm__place place = ocdm__json_file_place(file, start);
    if (!found)
        return ocdm__json_file_fail(file, place, error, "a line is `cat: 3`", "expected a class, a colon and a number");
    status = find_class(read, file, place, &class, error);
    OCDM_THEN(status, copy_trimmed(file, &colon, end, error));
    return status == OCDM_OK ? take_weight(read, file, ocdm__json_file_place(file, colon), class, error) : status;
}

static ocdm_status read_weight_lines(struct weights *read, ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t start = 0; status == OCDM_OK && start < file->file.size;) {
        size_t end = find_byte(file, start, file->file.size, '\n');
        status = read_weight_line(read, file, start, end, error);
        start = end + 1;
    }
    return status;
}

ocdm_status ocdm__class_weights_file_read(const char *path, const ocdm__stream_table *table, double *weights, ocdm_error *error)
{
    struct weights read = {.class_count = table->class_count, .weights = weights};
    ocdm__json_file file = {.line = 1};
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = NAN;
    ocdm_status status = ocdm__class_table_make(&read.classes, table, path, error);
    OCDM_THEN(status, ocdm__json_file_open(&file, path, error));
    OCDM_THEN(status, is_json(&file) ? read_json_weights(&read, &file, error) : read_weight_lines(&read, &file, error));
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = isnan(weights[c]) ? 1 : weights[c];
    ocdm__json_file_close(&file);
    ocdm__label_table_clear(&read.classes);
    return status;
}
