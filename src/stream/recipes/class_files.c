/* Reads files of class groups and class weights, JSON or text. Also the JSON file reader that gives file:line:column for every
 * error. */
#include "stream/recipes/class_files.h"

#include "base/text.h"
#include "stream/label_table.h"

/* ---- JSON files with positions -------------------------------------------------------------------------------------- */

ocdm_status ocdm__json_file_open(ocdm__json_file *file, const char *path, ocdm_error *error)
{
    *file = (ocdm__json_file){.length = 0};
    OCDM_TRY(ocdm__map_file(&file->file, path, error));
    ocdm__json_begin(&file->json, file->file.bytes, file->file.size);
    return OCDM_OK;
}

static bool is_quoted(const ocdm__json_file *file)
{
    return file->event == OCDM__JSON_STRING || file->event == OCDM__JSON_KEY;
}

static ocdm__place place_of(ocdm__json_file *file, const void *at)
{
    return ocdm__place_of(&file->file, &file->count, (size_t)((const unsigned char *)at - file->file.bytes));
}

ocdm__place ocdm__json_file_here(ocdm__json_file *file)
{
    return place_of(file, file->json.text - is_quoted(file));
}

ocdm_status ocdm__json_file_next(ocdm__json_file *file, ocdm_error *error)
{
    file->event = ocdm__json_next(&file->json);
    if (file->event != OCDM__JSON_ERROR)
        return OCDM_OK;
    return OCDM__FAIL_JSON(file, place_of(file, file->file.bytes + file->json.error_at), error, "", "%s", file->json.reason);
}

ocdm_status ocdm__json_file_expect(ocdm__json_file *file, enum ocdm__json_event event, const char *what, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_file_next(file, error));
    if (file->event != event)
        return OCDM__FAIL_JSON(file, ocdm__json_file_here(file), error, "", "expected %s", what);
    return OCDM_OK;
}

ocdm_status ocdm__json_file_text(ocdm__json_file *file, ocdm_error *error)
{
    file->text = file->json.text;
    file->length = file->json.length;
    if (!is_quoted(file) || !file->json.escaped)
        return OCDM_OK;
    if (!ocdm__reserve(&file->plain, &file->room, file->length, 1))
        return ocdm__fail_memory(error, "a text");
    file->length = ocdm__json_unescape(file->json.text, file->json.length, file->plain);
    file->text = file->plain;
    return OCDM_OK;
}

void ocdm__json_file_close(ocdm__json_file *file)
{
    ocdm__release(file->plain);
    ocdm__unmap_file(&file->file);
    *file = (ocdm__json_file){.length = 0};
}

/* ---- keys and values ------------------------------------------------------------------------------------------------ */

/* A file that is being read: of groups, or of weights. */
struct class_file {
    const struct form *form;
    ocdm__json_file json; /* the current key or value is its text */
    ocdm_error *error;
    ocdm__named_groups named;   /* groups: what was read ... */
    enum ocdm__class_group key; /* ... and the group of the values that follow */
    ocdm__label_table classes;  /* weights: the stream's classes ... */
    double *weights;            /* ... and theirs, NaN for a class that has not been named ... */
    uint32_t class;             /* ... and the class whose weight follows */
};

/* A kind of file. In either form it has keys; each has a number, or a list of names. */
struct form {
    const char *object; /* what the outermost object is */
    bool lists;
    const char *line, *line_hint; /* what a line of text must have, and an example */
    ocdm_status (*take_key)(struct class_file *file, ocdm__place place);
    ocdm_status (*take_value)(struct class_file *file, ocdm__place place);
};

static ocdm__shown_label show_text(const ocdm__json_file *json)
{
    return ocdm__show_label(json->text, json->length);
}

static ocdm_status read_json(struct class_file *file)
{
    ocdm__json_file *json = &file->json;
    ocdm_error *error = file->error;
    OCDM_TRY(ocdm__json_file_expect(json, OCDM__JSON_OBJECT, file->form->object, error));
    for (;;) {
        OCDM_TRY(ocdm__json_file_next(json, error));
        if (json->event == OCDM__JSON_OBJECT_END)
            return ocdm__json_file_expect(json, OCDM__JSON_END, "the end of the file", error);
        OCDM_TRY(ocdm__json_file_text(json, error));
        OCDM_TRY(file->form->take_key(file, ocdm__json_file_here(json)));
        if (file->form->lists) {
            OCDM_TRY(ocdm__class_groups_add_array(&file->named, json, file->key, error));
        } else {
            OCDM_TRY(ocdm__json_file_expect(json, OCDM__JSON_NUMBER, "a weight, a number", error));
            OCDM_TRY(ocdm__json_file_text(json, error));
            OCDM_TRY(file->form->take_value(file, ocdm__json_file_here(json)));
        }
    }
}

/* Makes the bytes from `start` to `end`, without blanks around them, the current text; returns where they begin. */
static const char *trim(ocdm__json_file *json, const char *start, const char *end)
{
    ocdm__trim(&start, &end);
    json->text = start;
    json->length = (size_t)(end - start);
    return start;
}

/* The first `byte` from `start` on, or `end`. */
static const char *find_byte(const char *start, const char *end, char byte)
{
    const char *found = start < end ? memchr(start, byte, (size_t)(end - start)) : NULL;
    return found != NULL ? found : end;
}

/* A line of text, `group: name, name` or `name: number`. Names of weights may have colons in them, so the last one counts
 * there. A line with nothing on it is skipped; a group may have no classes. */
static ocdm_status read_line(struct class_file *file, const char *start, const char *end)
{
    ocdm__json_file *json = &file->json;
    const char *colon = find_byte(start, end, ':'), *comma = end;
    for (const char *next = colon; !file->form->lists && next < end; next = find_byte(next + 1, end, ':'))
        colon = next;
    start = trim(json, start, colon);
    if (colon == end && json->length == 0)
        return OCDM_OK;
    ocdm__place place = place_of(json, start);
    if (colon == end)
        return OCDM__FAIL_JSON(json, place, file->error, file->form->line_hint, "expected %s", file->form->line);
    OCDM_TRY(file->form->take_key(file, place));
    for (const char *at = colon + 1; at <= end; at = comma + 1) {
        comma = file->form->lists ? find_byte(at, end, ',') : end;
        const char *value = trim(json, at, comma);
        if (file->form->lists && at == colon + 1 && comma == end && json->length == 0)
            return OCDM_OK;
        OCDM_TRY(file->form->take_value(file, place_of(json, value)));
    }
    return OCDM_OK;
}

static ocdm_status read_class_file(struct class_file *file, const char *path)
{
    OCDM_TRY(ocdm__json_file_open(&file->json, path, file->error));
    const char *start = (const char *)file->json.file.bytes, *end = start + file->json.file.size, *first = start;
    while (first < end && memchr(" \t\r\n", *first, 4) != NULL)
        first++;
    if (first < end && *first == '{')
        return read_json(file);
    for (const char *stop; start < end; start = stop + 1) {
        stop = find_byte(start, end, '\n');
        OCDM_TRY(read_line(file, start, stop));
    }
    return OCDM_OK;
}

/* ---- class groups --------------------------------------------------------------------------------------------------- */

#define NAMES_SHOWN 5

/* Adds the name that is the current text. */
static ocdm_status add_name(ocdm__named_groups *named, const ocdm__json_file *json, ocdm__place place,
                            enum ocdm__class_group group, ocdm_error *error)
{
    uint32_t number, before = named->names.count;
    if (json->length == 0)
        return OCDM__FAIL_JSON(json, place, error, "", "a class without a name");
    if (!ocdm__reserve(&named->groups, &named->room, (size_t)before + 1, sizeof *named->groups))
        return ocdm__fail_memory(error, "the groups of classes");
    OCDM_TRY(ocdm__label_table_add(&named->names, json->text, json->length, &number, error));
    if (number < before)
        return OCDM__FAIL_JSON(json, place, error, "a class belongs to one group",
                               "class \"%s\" is named a second time, the first was as %s", show_text(json).text,
                               ocdm__class_group_name((enum ocdm__class_group)named->groups[number]));
    named->groups[number] = (uint8_t)group;
    return OCDM_OK;
}

ocdm_status ocdm__class_groups_add_array(ocdm__named_groups *named, ocdm__json_file *json, enum ocdm__class_group group,
                                         ocdm_error *error)
{
    OCDM_TRY(ocdm__json_file_expect(json, OCDM__JSON_ARRAY, "an array of class names", error));
    for (;;) {
        OCDM_TRY(ocdm__json_file_next(json, error));
        if (json->event == OCDM__JSON_ARRAY_END)
            return OCDM_OK;
        if (json->event != OCDM__JSON_STRING)
            return OCDM__FAIL_JSON(json, ocdm__json_file_here(json), error, "", "expected the name of a class, a string");
        OCDM_TRY(ocdm__json_file_text(json, error));
        OCDM_TRY(add_name(named, json, ocdm__json_file_here(json), group, error));
    }
}

size_t ocdm__class_groups_assign(const ocdm__named_groups *named, const ocdm__label_table *classes, uint8_t *groups)
{
    size_t without = 0;
    for (uint32_t i = 0; i < classes->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(classes, i, &length);
        uint32_t number = ocdm__label_table_number(&named->names, text, length);
        groups[i] = number != UINT32_MAX ? named->groups[number] : OCDM__NO_GROUP;
        without += number == UINT32_MAX;
    }
    return without;
}

void ocdm__class_groups_clear(ocdm__named_groups *named)
{
    ocdm__label_table_clear(&named->names);
    ocdm__release(named->groups);
    *named = (ocdm__named_groups){.room = 0};
}

static ocdm_status take_group(struct class_file *file, ocdm__place place)
{
    for (int i = 0; i < OCDM__GROUPS; i++) {
        const char *name = ocdm__class_group_name((enum ocdm__class_group)i);
        file->key = (enum ocdm__class_group)i;
        if (ocdm__text_is(file->json.text, file->json.length, name))
            return OCDM_OK;
    }
    return OCDM__FAIL_JSON(&file->json, place, file->error, "the groups are majority, moderate and minority",
                           "no group is called \"%s\"", show_text(&file->json).text);
}

static ocdm_status take_member(struct class_file *file, ocdm__place place)
{
    return add_name(&file->named, &file->json, place, file->key, file->error);
}

static const struct form group_form = {
    "an object of groups", true, "a group and a colon", "a line is `majority: name, name`", take_group, take_member};

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
    struct class_file file = {.form = &group_form, .error = error};
    ocdm_status status = read_class_file(&file, path);
    size_t without = status == OCDM_OK ? ocdm__class_groups_assign(&file.named, classes, groups) : 0;
    if (without > 0)
        status = fail_without(path, classes, groups, without, error);
    if (status == OCDM_OK && unused != NULL)
        *unused = file.named.names.count - classes->count;
    ocdm__json_file_close(&file.json);
    ocdm__class_groups_clear(&file.named);
    return status;
}

/* ---- class weights -------------------------------------------------------------------------------------------------- */

static ocdm_status take_class(struct class_file *file, ocdm__place place)
{
    file->class = ocdm__label_table_number(&file->classes, file->json.text, file->json.length);
    if (file->class == UINT32_MAX)
        return OCDM__FAIL_JSON(&file->json, place, file->error, "`ocdm stream info` lists the classes",
                               "the stream has no class \"%s\"", show_text(&file->json).text);
    if (!isnan(file->weights[file->class]))
        return OCDM__FAIL_JSON(&file->json, place, file->error, "", "class \"%s\" is named a second time",
                               show_text(&file->json).text);
    return OCDM_OK;
}

static ocdm_status take_weight(struct class_file *file, ocdm__place place)
{
    double *weight = &file->weights[file->class];
    if (!ocdm__text_to_double(file->json.text, file->json.length, weight))
        return OCDM__FAIL_JSON(&file->json, place, file->error, "a line is `cat: 3`", "\"%s\" is not a number",
                               show_text(&file->json).text);
    if (!(*weight >= OCDM_MIN_WEIGHT && *weight <= OCDM_MAX_WEIGHT))
        return OCDM__FAIL_JSON(&file->json, place, file->error, "", "the weight %g is out of range: %g to %g", *weight,
                               OCDM_MIN_WEIGHT, OCDM_MAX_WEIGHT);
    return OCDM_OK;
}

static const struct form weight_form = {"an object of weights", false,      "a class, a colon and a number",
                                        "a line is `cat: 3`",   take_class, take_weight};

ocdm_status ocdm__class_weights_file_read(const char *path, const ocdm__stream_table *table, double *weights, ocdm_error *error)
{
    struct class_file file = {.form = &weight_form, .error = error, .weights = weights};
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = NAN;
    ocdm_status status = ocdm__class_table_make(&file.classes, table, error);
    OCDM_THEN(status, read_class_file(&file, path));
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = isnan(weights[c]) ? 1 : weights[c];
    ocdm__json_file_close(&file.json);
    ocdm__label_table_clear(&file.classes);
    return status;
}
