/* Reads files of class groups and class weights, JSON or text. */
#include "stream/recipes/class_files.h"

#include "base/files.h"
#include "base/text.h"
#include "stream/label_table.h"
#include "stream/lines.h"

/* ---- keys and values ------------------------------------------------------------------------------------------------ */

/* A name or number of a file, and where it is. */
struct word {
    const char *text;
    size_t length;
    ocdm__place place;
};

/* A file that is being read: of groups, or of weights. */
struct class_file {
    const struct form *form;
    const char *path;
    ocdm_error *error;
    ocdm__named_groups named;   /* groups: what was read ... */
    enum ocdm__class_group key; /* ... and the group of the values that follow */
    ocdm__label_table classes;  /* weights: the stream's classes ... */
    double *weights;            /* ... and theirs, NaN for a class that has not been named ... */
    uint32_t class;             /* ... and the class whose weight follows */
};

/* A kind of file. In either form it has keys; each has a number, or a list of names. */
struct form {
    bool lists;
    const char *line, *line_hint; /* what a line of text must have, and an example */
    ocdm_status (*take_key)(struct class_file *file, const struct word *word);
    ocdm_status (*take_value)(struct class_file *file, const struct word *word);
};

/* OCDM_BAD_FILE at a place of the file; hint, format and arguments follow. */
#define FAIL(file, place, ...) ocdm__fail_at((file)->path, place, OCDM_BAD_FILE, (file)->error, __VA_ARGS__)

static ocdm__shown_label show(const struct word *word)
{
    return ocdm__show_label(word->text, word->length);
}

/* The bytes from `start` to `end` of the current line, without blanks around them. */
static struct word trim(const ocdm__lines *lines, const char *start, const char *end)
{
    ocdm__trim(&start, &end);
    return (struct word){start, (size_t)(end - start), ocdm__lines_place(lines, start)};
}

/* The first `byte` from `start` on, or `end`. */
static const char *find_byte(const char *start, const char *end, char byte)
{
    const char *found = start < end ? memchr(start, byte, (size_t)(end - start)) : NULL;
    return found != NULL ? found : end;
}

/* A line of text, `group: name, name` or `name: number`. Names of weights may have colons in them, so the last one counts
 * there. A line with nothing on it is skipped; a group may have no classes. */
static ocdm_status read_line(struct class_file *file, const ocdm__lines *lines)
{
    const char *end = lines->end, *colon = find_byte(lines->start, end, ':');
    for (const char *next = colon; !file->form->lists && next < end; next = find_byte(next + 1, end, ':'))
        colon = next;
    struct word word = trim(lines, lines->start, colon);
    if (colon == end && word.length == 0)
        return OCDM_OK;
    if (colon == end)
        return FAIL(file, word.place, file->form->line_hint, "expected %s", file->form->line);
    OCDM_TRY(file->form->take_key(file, &word));
    for (const char *at = colon + 1, *comma; at <= end; at = comma + 1) {
        comma = file->form->lists ? find_byte(at, end, ',') : end;
        word = trim(lines, at, comma);
        if (file->form->lists && at == colon + 1 && comma == end && word.length == 0)
            return OCDM_OK;
        OCDM_TRY(file->form->take_value(file, &word));
    }
    return OCDM_OK;
}

static ocdm_status read_class_file(struct class_file *file, const char *path)
{
    ocdm__mapped_file text = {.size = 0};
    ocdm__json_tree tree = {.root = NULL};
    file->path = path;
    ocdm_status status = ocdm__map_file(&text, path, file->error);
    size_t blanks = 0;
    while (blanks < text.size && memchr(" \t\r\n", text.bytes[blanks], 4) != NULL)
        blanks++;
    if (blanks < text.size && text.bytes[blanks] == '{') {
        status = ocdm__json_tree_parse(&tree, path, (const char *)text.bytes, text.size, file->error);
        for (const ocdm__json_node *node = ocdm__json_first(tree.root); status == OCDM_OK && node != NULL; node = node->next) {
            status = file->form->take_key(file, &(struct word){node->key, node->key_length, node->key_place});
            if (file->form->lists)
                OCDM_THEN(status, ocdm__class_groups_add_array(&file->named, path, node, file->key, file->error));
            else if (node->kind != OCDM__JSON_NUMBER)
                OCDM_THEN(status, FAIL(file, node->place, "", "expected a weight, a number"));
            else
                OCDM_THEN(status, file->form->take_value(file, &(struct word){node->text, node->length, node->place}));
        }
    } else if (status == OCDM_OK) {
        ocdm__lines lines = ocdm__lines_of(path, text.bytes, text.size);
        while (status == OCDM_OK && ocdm__lines_next(&lines))
            status = read_line(file, &lines);
    }
    ocdm__json_tree_clear(&tree);
    ocdm__unmap_file(&text);
    return status;
}

/* ---- class groups --------------------------------------------------------------------------------------------------- */

#define NAMES_SHOWN 5

static ocdm_status add_name(ocdm__named_groups *named, const char *path, const struct word *word, enum ocdm__class_group group,
                            ocdm_error *error)
{
    uint32_t number, before = named->names.count;
    if (word->length == 0)
        return ocdm__fail_at(path, word->place, OCDM_BAD_FILE, error, "", "a class without a name");
    if (!ocdm__reserve(&named->groups, &named->room, (size_t)before + 1, sizeof *named->groups))
        return ocdm__fail_memory(error, "the groups of classes");
    OCDM_TRY(ocdm__label_table_add(&named->names, word->text, word->length, &number, error));
    if (number < before)
        return ocdm__fail_at(path, word->place, OCDM_BAD_FILE, error, "a class belongs to one group",
                             "class \"%s\" is named a second time, the first was as %s", show(word).text,
                             ocdm__class_group_name((enum ocdm__class_group)named->groups[number]));
    named->groups[number] = (uint8_t)group;
    return OCDM_OK;
}

ocdm_status ocdm__class_groups_add_array(ocdm__named_groups *named, const char *path, const ocdm__json_node *array,
                                         enum ocdm__class_group group, ocdm_error *error)
{
    if (array->kind != OCDM__JSON_ARRAY)
        return ocdm__fail_at(path, array->place, OCDM_BAD_FILE, error, "", "expected an array of class names");
    for (const ocdm__json_node *node = array->first; node != NULL; node = node->next) {
        if (node->kind != OCDM__JSON_STRING)
            return ocdm__fail_at(path, node->place, OCDM_BAD_FILE, error, "", "expected the name of a class, a string");
        OCDM_TRY(add_name(named, path, &(struct word){node->text, node->length, node->place}, group, error));
    }
    return OCDM_OK;
}

size_t ocdm__class_groups_assign(const ocdm__named_groups *named, const ocdm__label_table *classes, uint8_t *groups)
{
    size_t without = 0;
    for (uint32_t i = 0; i < classes->count; i++) {
        uint32_t number = ocdm__label_table_match(&named->names, classes, i);
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

static ocdm_status take_group(struct class_file *file, const struct word *word)
{
    for (int i = 0; i < OCDM__GROUPS; i++) {
        file->key = (enum ocdm__class_group)i;
        if (ocdm__text_is(word->text, word->length, ocdm__class_group_name(file->key)))
            return OCDM_OK;
    }
    return FAIL(file, word->place, "the groups are majority, moderate and minority", "no group is called \"%s\"",
                show(word).text);
}

static ocdm_status take_member(struct class_file *file, const struct word *word)
{
    return add_name(&file->named, file->path, word, file->key, file->error);
}

static const struct form group_form = {true, "a group and a colon", "a line is `majority: name, name`", take_group,
                                       take_member};

ocdm_status ocdm__class_groups_file_read(const char *path, const ocdm__label_table *classes, uint8_t *groups, size_t *unused,
                                         ocdm_error *error)
{
    char names[NAMES_SHOWN * (sizeof((ocdm__shown_label *)0)->text + 4)] = "", more[48] = "";
    struct class_file file = {.form = &group_form, .error = error};
    ocdm_status status = read_class_file(&file, path);
    size_t without = status == OCDM_OK ? ocdm__class_groups_assign(&file.named, classes, groups) : 0, shown = 0;
    for (uint32_t i = 0; without > 0 && i < classes->count && shown < NAMES_SHOWN; i++)
        if (groups[i] == OCDM__NO_GROUP)
            ocdm__append(names, sizeof names, "%s\"%s\"", shown++ > 0 ? ", " : "", ocdm__label_table_show(classes, i).text);
    if (without > shown)
        snprintf(more, sizeof more, " and %zu more", without - shown);
    if (without > 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "name every class of the stream in one of the groups",
                            "%s: no group for %s %s%s", path, without == 1 ? "the class" : "the classes", names, more);
    if (status == OCDM_OK && unused != NULL)
        *unused = file.named.names.count - classes->count;
    ocdm__class_groups_clear(&file.named);
    return status;
}

/* ---- class weights -------------------------------------------------------------------------------------------------- */

static ocdm_status take_class(struct class_file *file, const struct word *word)
{
    file->class = ocdm__label_table_number(&file->classes, word->text, word->length);
    if (file->class == UINT32_MAX)
        return FAIL(file, word->place, "`ocdm stream info` lists the classes", "the stream has no class \"%s\"",
                    show(word).text);
    if (!isnan(file->weights[file->class]))
        return FAIL(file, word->place, "", "class \"%s\" is named a second time", show(word).text);
    return OCDM_OK;
}

static ocdm_status take_weight(struct class_file *file, const struct word *word)
{
    double *weight = &file->weights[file->class];
    if (!ocdm__text_to_double(word->text, word->length, weight))
        return FAIL(file, word->place, "a line is `cat: 3`", "\"%s\" is not a number", show(word).text);
    if (!(*weight >= OCDM_MIN_WEIGHT && *weight <= OCDM_MAX_WEIGHT))
        return FAIL(file, word->place, "", "the weight %g is out of range: %g to %g", *weight, OCDM_MIN_WEIGHT,
                    OCDM_MAX_WEIGHT);
    return OCDM_OK;
}

static const struct form weight_form = {false, "a class, a colon and a number", "a line is `cat: 3`", take_class, take_weight};

ocdm_status ocdm__class_weights_file_read(const char *path, const ocdm__stream_table *table, double *weights, ocdm_error *error)
{
    struct class_file file = {.form = &weight_form, .error = error, .weights = weights};
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = NAN;
    ocdm_status status = ocdm__class_table_make(&file.classes, table, error);
    OCDM_THEN(status, read_class_file(&file, path));
    for (size_t c = 0; c < table->class_count; c++)
        weights[c] = isnan(weights[c]) ? 1 : weights[c];
    ocdm__label_table_clear(&file.classes);
    return status;
}
