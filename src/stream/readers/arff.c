/*
 * Reads ARFF tables with labels, as Mulan distributes them: WEKA's format, dense or sparse, and an XML file that lists which
 * attributes are labels (mulan_xml.c). A label attribute is {0,1} or numeric, and its value is 0 or 1 in every row.
 *
 * All other attributes are features, in their order. A nominal feature is the index of its value in the declared list, from 0,
 * except that {0,1} and {1,0} are taken as numbers. Values omitted in a sparse row are 0, for a nominal attribute the first
 * value in its list, as in WEKA. Rows are counted from 0; blank lines and comments (% outside quotes) do not count.
 *
 * Not supported: relational attributes, row weights, values that span lines. String and date attributes cannot be features,
 * but a file that has them can be read for its labels.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"
#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/readers/readers.h"
#include "stream/readers/table_lines.h"

enum arff_kind {
    ARFF_NUMERIC,
    ARFF_BINARY,  /* nominal, of the values 0 and 1 */
    ARFF_NOMINAL, /* any other list of values */
    ARFF_TEXT     /* string, date */
};

struct arff_attribute {
    enum arff_kind kind;
    float omitted;          /* value where a sparse row omits it */
    uint32_t label;         /* its number among the labels, or UINT32_MAX */
    size_t feature;         /* its column among the features, when it is no label */
    ocdm__line_place place; /* where it is declared */
    size_t column;          /* its name's, in bytes from 0 */
};

/* A name or value, without its quotes and escapes. */
struct arff_token {
    const char *at; /* in the file */
    const char *text;
    size_t length;
    bool quoted;
};

/* A table that is open. */
struct arff {
    ocdm__table_lines lines;
    const char *at; /* how far the current line is read */

    ocdm__label_table names; /* of attributes, by number */
    struct arff_attribute *attributes;
    size_t attribute_count, attribute_room;
    ocdm__label_table values; /* of nominal attributes: the attribute's number, four bytes, and the value */
    uint32_t value_count;
    float *value_numbers; /* the number of each */
    size_t value_room;

    uint32_t *label_attributes; /* by label, in the order of the XML file */
    size_t label_count, label_room;
    size_t feature_count;
    ocdm__line_place data; /* where the rows start */

    char *scratch; /* the current token */
    size_t scratch_room;
    const char *trouble; /* what kind of bad row the last one was, static text */
};

/* ---- tokens --------------------------------------------------------------------------------------------------------- */

static inline bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* The next byte of the line that is no blank, or -1 at its end or at a comment. */
static int arff_peek(struct arff *arff)
{
    const char *at = arff->at, *end = arff->lines.end;
    while (at < end && is_blank(*at))
        at++;
    arff->at = at;
    return at == end || *at == '%' ? -1 : (unsigned char)*at;
}

static inline bool ends_word(char byte)
{
    return is_blank(byte) || byte == ',' || byte == '{' || byte == '}' || byte == '%';
}

/* Copies bytes to the scratch, `before` bytes into it, with OCDM__LABEL_PADDING after them; NULL when out of memory. */
static char *arff_copy(struct arff *arff, const char *text, size_t length, size_t before)
{
    /* The text may be in the scratch already, which may move. */
    bool inside = arff->scratch != NULL && text == arff->scratch;
    if (!ocdm__reserve(&arff->scratch, &arff->scratch_room, before + length + OCDM__LABEL_PADDING, 1))
        return NULL;
    memmove(arff->scratch + before, inside ? arff->scratch : text, length);
    memset(arff->scratch + before + length, 0, OCDM__LABEL_PADDING);
    return arff->scratch;
}

static char unescaped(char byte)
{
    return byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte == 't' ? '\t' : byte;
}

static ocdm_status quoted_token(struct arff *arff, struct arff_token *token, ocdm_error *error)
{
    const char *at = arff->at + 1, *end = arff->lines.end;
    char quote = *arff->at;
    token->length = 0;
    if (!ocdm__reserve(&arff->scratch, &arff->scratch_room, (size_t)(end - at) + OCDM__LABEL_PADDING, 1))
        return ocdm__fail_memory(error, "a line of a table");
    for (; at < end && *at != quote; at++) {
        bool escape = *at == '\\' && at + 1 < end;
        at += escape;
        arff->scratch[token->length++] = escape ? unescaped(*at) : *at;
    }
    if (at == end)
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "a quote that is not closed on the line");
    token->text = arff->scratch;
    token->quoted = true;
    arff->at = at + 1;
    return OCDM_OK;
}

/* Reads the next name or value; arff_peek has found that it is not the end, a comma or a brace. Valid until the next call.
 * OCDM_OK, OCDM_BAD_RECORD (no closing quote), OCDM_NO_MEMORY. */
static ocdm_status arff_next_token(struct arff *arff, struct arff_token *token, ocdm_error *error)
{
    const char *at = arff->at, *end = arff->lines.end;
    token->at = at;
    if (*at == '\'' || *at == '"')
        return quoted_token(arff, token, error);
    while (at < end && !ends_word(*at))
        at++;
    token->text = arff->at;
    token->length = (size_t)(at - arff->at);
    token->quoted = false;
    arff->at = at;
    return OCDM_OK;
}

/* The number of a value of a nominal attribute; a new one when it is not there. OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT. */
static ocdm_status arff_find_value(struct arff *arff, size_t attribute, const struct arff_token *token, uint32_t *number,
                                   ocdm_error *error)
{
    uint32_t owner = (uint32_t)attribute;
    char *key = arff_copy(arff, token->text, token->length, sizeof owner);
    if (key == NULL)
        return ocdm__fail_memory(error, "a value of a table");
    memcpy(key, &owner, sizeof owner);
    return ocdm__label_table_add(&arff->values, key, token->length + sizeof owner, number, error);
}

/* ---- the header ----------------------------------------------------------------------------------------------------- */

static bool is_word(const struct arff_token *token, const char *word)
{
    if (token->quoted || token->length != strlen(word))
        return false;
    for (size_t i = 0; i < token->length; i++) {
        char byte = token->text[i];
        if ((byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : byte) != word[i])
            return false;
    }
    return true;
}

static ocdm_status expect_end(struct arff *arff, ocdm_error *error)
{
    return arff_peek(arff) < 0 ? OCDM_OK
                               : ocdm__table_fail(&arff->lines, arff->at, error, "", "something follows the declaration");
}

/* ---- nominal values ------------------------------------------------------------------------------------------------- */

static ocdm_status add_value(struct arff *arff, size_t attribute, uint32_t first, ocdm_error *error)
{
    struct arff_token token;
    uint32_t number;
    OCDM_TRY(arff_next_token(arff, &token, error));
    OCDM_TRY(arff_find_value(arff, attribute, &token, &number, error));
    if (number < arff->value_count)
        return ocdm__table_fail(&arff->lines, token.at, error, "", "a value that is in the list already");
    if (!ocdm__reserve(&arff->value_numbers, &arff->value_room, (size_t)number + 1, sizeof *arff->value_numbers))
        return ocdm__fail_memory(error, "the values of a table");
    arff->value_numbers[number] = (float)(number - first);
    arff->value_count++;
    return OCDM_OK;
}

/* The digit that a value is, or -1. */
static int digit_of(const struct arff *arff, uint32_t value)
{
    size_t length;
    const char *key = ocdm__label_table_text(&arff->values, value, &length);
    return length == sizeof(uint32_t) + 1 && (key[4] == '0' || key[4] == '1') ? key[4] - '0' : -1;
}

/* If the values are 0 and 1, in either order, they are taken as numbers. */
static void settle_values(struct arff *arff, struct arff_attribute *attribute, uint32_t first)
{
    attribute->kind = ARFF_NOMINAL;
    attribute->omitted = 0;
    if (arff->value_count - first != 2 || digit_of(arff, first) < 0 || digit_of(arff, first + 1) < 0)
        return;
    attribute->kind = ARFF_BINARY;
    for (uint32_t i = first; i < first + 2; i++)
        arff->value_numbers[i] = (float)digit_of(arff, i);
    attribute->omitted = arff->value_numbers[first];
}

static ocdm_status read_values(struct arff *arff, struct arff_attribute *attribute, ocdm_error *error)
{
    uint32_t first = arff->value_count;
    const char *brace = arff->at++;
    for (;;) {
        int next = arff_peek(arff);
        if (next == '}' && arff->value_count > first)
            break;
        if (next < 0)
            return ocdm__table_fail(&arff->lines, brace, error, "", "a { without its } on the line");
        if (next == '}' || next == ',' || next == '{')
            return ocdm__table_fail(&arff->lines, arff->at, error, "", "a value is missing");
        OCDM_TRY(add_value(arff, arff->attribute_count, first, error));
        if (arff_peek(arff) == ',')
            arff->at++;
    }
    arff->at++;
    settle_values(arff, attribute, first);
    return expect_end(arff, error);
}

/* ---- attributes ----------------------------------------------------------------------------------------------------- */

static ocdm_status read_type(struct arff *arff, struct arff_attribute *attribute, ocdm_error *error)
{
    struct arff_token token;
    int next = arff_peek(arff);
    if (next == '{')
        return read_values(arff, attribute, error);
    if (next < 0 || next == ',' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "the attribute's type is missing");
    OCDM_TRY(arff_next_token(arff, &token, error));
    if (is_word(&token, "numeric") || is_word(&token, "real") || is_word(&token, "integer")) {
        attribute->kind = ARFF_NUMERIC;
        return expect_end(arff, error);
    }
    attribute->kind = ARFF_TEXT;
    if (is_word(&token, "string"))
        return expect_end(arff, error);
    if (is_word(&token, "date"))
        return OCDM_OK; /* its format may follow */
    ocdm__shown_label shown = ocdm__show_label(token.text, token.length);
    return ocdm__table_fail(&arff->lines, token.at, error, "numeric, real, integer, {a,b,...}, string and date are known",
                            "an attribute of type %s", shown.text);
}

static ocdm_status read_name(struct arff *arff, struct arff_attribute *attribute, ocdm_error *error)
{
    struct arff_token token;
    uint32_t number;
    int next = arff_peek(arff);
    if (next < 0 || next == ',' || next == '{' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "the attribute's name is missing");
    OCDM_TRY(arff_next_token(arff, &token, error));
    char *name = arff_copy(arff, token.text, token.length, 0);
    if (name == NULL)
        return ocdm__fail_memory(error, "the names of a table");
    attribute->column = (size_t)(token.at - arff->lines.start);
    OCDM_TRY(ocdm__label_table_add(&arff->names, name, token.length, &number, error));
    if (number < arff->attribute_count) {
        ocdm__shown_label shown = ocdm__show_label(name, token.length);
        return ocdm__table_fail(&arff->lines, token.at, error, "", "a second attribute named \"%s\"", shown.text);
    }
    return OCDM_OK;
}

static ocdm_status read_attribute(struct arff *arff, ocdm_error *error)
{
    if (!ocdm__reserve(&arff->attributes, &arff->attribute_room, arff->attribute_count + 1, sizeof *arff->attributes))
        return ocdm__fail_memory(error, "the attributes of a table");
    struct arff_attribute *attribute = &arff->attributes[arff->attribute_count];
    size_t line_at = (size_t)((const unsigned char *)arff->lines.start - arff->lines.file.bytes);
    *attribute = (struct arff_attribute){.label = UINT32_MAX, .place = {.at = line_at, .line = arff->lines.line}};
    ocdm_status status = read_name(arff, attribute, error);
    OCDM_THEN(status, read_type(arff, attribute, error));
    arff->attribute_count += status == OCDM_OK;
    return status;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

static ocdm_status read_declaration(struct arff *arff, bool *data, ocdm_error *error)
{
    struct arff_token token;
    int next = arff_peek(arff);
    if (next < 0)
        return OCDM_OK;
    token.at = arff->at;
    if (next == '@') {
        ocdm_status status = arff_next_token(arff, &token, error);
        if (status != OCDM_OK || is_word(&token, "@relation"))
            return status;
        if (is_word(&token, "@attribute"))
            return read_attribute(arff, error);
        *data = is_word(&token, "@data");
        if (*data)
            return expect_end(arff, error);
    }
    return ocdm__table_fail(&arff->lines, token.at, error, "give the ARFF file, then the XML file with its labels",
                            "a line that is neither @relation, @attribute nor @data");
}

/* Opens the table and reads everything before its rows. Close it in either case. */
static ocdm_status arff_open(struct arff *arff, const char *path, ocdm_error *error)
{
    *arff = (struct arff){.trouble = NULL};
    ocdm_status status = ocdm__table_lines_open(&arff->lines, path, error);
    bool data = false;
    while (status == OCDM_OK && !data && ocdm__table_lines_next(&arff->lines)) {
        arff->at = arff->lines.start;
        status = read_declaration(arff, &data, error);
    }
    arff->data = arff->lines.place;
    if (status == OCDM_OK && !data)
        return ocdm__table_fail(&arff->lines, arff->lines.end, error, "the file was cut off, or is not an ARFF file",
                                "the file ends before @data");
    return status;
}

/* Releases everything. */
static void arff_close(struct arff *arff)
{
    ocdm__table_lines_close(&arff->lines);
    ocdm__label_table_clear(&arff->names);
    ocdm__label_table_clear(&arff->values);
    ocdm__release(arff->attributes);
    ocdm__release(arff->value_numbers);
    ocdm__release(arff->label_attributes);
    ocdm__release(arff->scratch);
    *arff = (struct arff){.trouble = NULL};
}

/* ---- which attributes are labels ------------------------------------------------------------------------------------ */

static ocdm_status mark_label(struct arff *arff, struct arff_attribute *attribute, uint32_t number,
                              char reason[OCDM__MULAN_REASON], ocdm_error *error)
{
    if (attribute->label != UINT32_MAX) {
        snprintf(reason, OCDM__MULAN_REASON, "a label that is listed twice");
        return OCDM_BAD_RECORD;
    }
    if (attribute->kind == ARFF_NOMINAL || attribute->kind == ARFF_TEXT) {
        snprintf(reason, OCDM__MULAN_REASON, "a label that has other values than 0 and 1 in %s:%" PRIu64 ":%zu",
                 arff->lines.path, attribute->place.line, attribute->column + 1);
        return OCDM_BAD_RECORD;
    }
    if (!ocdm__reserve(&arff->label_attributes, &arff->label_room, arff->label_count + 1, sizeof *arff->label_attributes))
        return ocdm__fail_memory(error, "the labels of a table");
    attribute->label = (uint32_t)arff->label_count;
    arff->label_attributes[arff->label_count++] = number;
    return OCDM_OK;
}

static ocdm_status take_label(void *context, const char *name, size_t length, char reason[OCDM__MULAN_REASON],
                              ocdm_error *error)
{
    struct arff *arff = context;
    uint32_t number;
    OCDM_TRY(ocdm__label_table_add(&arff->names, name, length, &number, error));
    if (number < arff->attribute_count)
        return mark_label(arff, &arff->attributes[number], number, reason, error);
    ocdm__shown_label shown = ocdm__show_label(name, length);
    snprintf(reason, OCDM__MULAN_REASON, "the label \"%s\" is not an attribute of %s", shown.text, arff->lines.path);
    return OCDM_BAD_RECORD;
}

/* Reads which attributes are labels, and numbers labels and features. */
static ocdm_status arff_read_labels(struct arff *arff, const char *xml_path, ocdm_error *error)
{
    OCDM_TRY(ocdm__mulan_xml_read(xml_path, take_label, arff, error));
    for (size_t i = 0; i < arff->attribute_count; i++)
        if (arff->attributes[i].label == UINT32_MAX)
            arff->attributes[i].feature = arff->feature_count++;
    return OCDM_OK;
}

#define BAD_ROW "rows that cannot be read"
#define MISSING_VALUE "rows with a missing value (?)"
#define BAD_LABEL "rows with a label other than 0 and 1"

/* Where the values of a row go. */
struct row {
    struct arff *arff;
    float *features;
    unsigned char *labels;
    ocdm_error *error;
};

/* Advances to the next line that is a row; false at the end. */
static bool arff_next_row(struct arff *arff)
{
    while (ocdm__table_lines_next(&arff->lines)) {
        arff->at = arff->lines.start;
        if (arff_peek(arff) >= 0)
            return true;
    }
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static ocdm_status fail_value(const struct row *row, size_t number, const struct arff_token *token, const char *trouble)
{
    size_t length;
    const char *name = ocdm__label_table_text(&row->arff->names, (uint32_t)number, &length);
    ocdm__shown_label attribute = ocdm__show_label(name, length), value = ocdm__show_label(token->text, token->length);
    return ocdm__table_fail(&row->arff->lines, token->at, row->error, "", "attribute \"%s\": the value \"%s\" %s",
                            attribute.text, value.text, trouble);
}

static ocdm_status fail_missing(const struct row *row, size_t number, const struct arff_token *token)
{
    size_t length;
    const char *name = ocdm__label_table_text(&row->arff->names, (uint32_t)number, &length);
    ocdm__shown_label attribute = ocdm__show_label(name, length);
    row->arff->trouble = MISSING_VALUE;
    return ocdm__table_fail(&row->arff->lines, token->at, row->error,
                            "fill missing values in first, for instance with WEKA's ReplaceMissingValues",
                            "attribute \"%s\": the value is missing (?)", attribute.text);
}

static ocdm_status read_nominal(const struct row *row, size_t number, const struct arff_token *token, float *value)
{
    struct arff *arff = row->arff;
    uint32_t found;
    bool binary = arff->attributes[number].kind == ARFF_BINARY && token->length == 1;
    if (binary && (token->text[0] == '0' || token->text[0] == '1')) {
        *value = (float)(token->text[0] - '0');
        return OCDM_OK;
    }
    struct arff_token kept = *token; /* the search may move the token's text */
    OCDM_TRY(arff_find_value(arff, number, token, &found, row->error));
    kept.text = arff->scratch + sizeof(uint32_t);
    if (found >= arff->value_count)
        return fail_value(row, number, &kept, "is not in the attribute's list");
    *value = arff->value_numbers[found];
    return OCDM_OK;
}

/* Reads the next value, of attribute `number`. */
static ocdm_status read_value(const struct row *row, size_t number)
{
    struct arff *arff = row->arff;
    struct arff_token token;
    int next = arff_peek(arff);
    if (next < 0 || next == ',' || next == '{' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "a value is missing");
    OCDM_TRY(arff_next_token(arff, &token, row->error));
    const struct arff_attribute *attribute = &row->arff->attributes[number];
    float value = 0;
    if (!token.quoted && token.length == 1 && token.text[0] == '?')
        return attribute->kind == ARFF_TEXT ? OCDM_OK : fail_missing(row, number, &token);
    if (attribute->kind == ARFF_NUMERIC) {
        if (!ocdm__text_to_float(token.text, token.length, &value))
            return fail_value(row, number, &token, "is not a number");
        OCDM_TRY(isfinite(value) ? OCDM_OK : fail_value(row, number, &token, "is not finite"));
    } else if (attribute->kind != ARFF_TEXT)
        OCDM_TRY(read_nominal(row, number, &token, &value));
    if (attribute->label == UINT32_MAX) {
        if (row->features != NULL)
            row->features[attribute->feature] = value;
        return OCDM_OK;
    }
    if (value != 0 && value != 1) {
        row->arff->trouble = BAD_LABEL;
        return fail_value(row, number, &token, "is not 0 or 1, as a label is");
    }
    row->labels[attribute->label] = value == 1;
    return OCDM_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

static ocdm_status read_dense(const struct row *row)
{
    struct arff *arff = row->arff;
    size_t count = 0;
    for (bool comma = false; comma || arff_peek(arff) >= 0; count++) {
        if (count == arff->attribute_count)
            return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "more values than the %zu attributes",
                                    arff->attribute_count);
        OCDM_TRY(read_value(row, count));
        comma = arff_peek(arff) == ',';
        arff->at += comma;
    }
    if (count < arff->attribute_count)
        return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "%zu value%s where there are %zu attributes", count,
                                count == 1 ? "" : "s", arff->attribute_count);
    return OCDM_OK;
}

/* An index, from `lowest` on, after which a blank must follow. */
static ocdm_status read_index(const struct row *row, size_t *index, size_t lowest)
{
    struct arff *arff = row->arff;
    const char *start = arff->at;
    uint64_t value = 0;
    for (; arff->at < arff->lines.end && *arff->at >= '0' && *arff->at <= '9'; arff->at++)
        value = value < UINT64_MAX / 100 ? value * 10 + (uint64_t)(*arff->at - '0') : value;
    if (arff->at == start || arff->at == arff->lines.end || (*arff->at != ' ' && *arff->at != '\t'))
        return ocdm__table_fail(&arff->lines, start, row->error, "", "a value of a sparse row that is not `index value`");
    if (value >= arff->attribute_count) {
        ocdm__shown_label shown = ocdm__show_label(start, (size_t)(arff->at - start));
        return ocdm__table_fail(&arff->lines, start, row->error, "indices count from 0",
                                "the index %s, where there are %zu attributes", shown.text, arff->attribute_count);
    }
    if (value < lowest)
        return ocdm__table_fail(&arff->lines, start, row->error, "", "the index %" PRIu64 " after %zu: indices must ascend",
                                value, lowest - 1);
    *index = (size_t)value;
    return OCDM_OK;
}

static ocdm_status read_sparse(const struct row *row)
{
    struct arff *arff = row->arff;
    const char *brace = arff->at++;
    size_t lowest = 0, index = 0;
    for (size_t i = 0; i < row->arff->attribute_count; i++) {
        const struct arff_attribute *attribute = &row->arff->attributes[i];
        if (attribute->label != UINT32_MAX)
            row->labels[attribute->label] = attribute->omitted == 1;
        else if (row->features != NULL)
            row->features[attribute->feature] = attribute->omitted;
    }
    for (bool comma = false; comma || arff_peek(arff) != '}'; lowest = index + 1) {
        if (arff_peek(arff) < 0)
            return ocdm__table_fail(&arff->lines, brace, row->error, "", "a { without its } on the line");
        OCDM_TRY(read_index(row, &index, lowest));
        OCDM_TRY(read_value(row, index));
        comma = arff_peek(arff) == ',';
        arff->at += comma;
    }
    arff->at++;
    if (arff_peek(arff) >= 0)
        return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "something follows the row's }");
    return OCDM_OK;
}

/* Reads the current row: features unless NULL, and for each label whether it is there. OCDM_OK, OCDM_BAD_RECORD,
 * OCDM_NO_MEMORY, OCDM_LIMIT. */
static ocdm_status arff_read_row(struct arff *arff, float *features, unsigned char *labels, ocdm_error *error)
{
    struct row row = {.arff = arff, .features = features, .labels = labels, .error = error};
    arff->trouble = BAD_ROW;
    return arff_peek(arff) == '{' ? read_sparse(&row) : read_dense(&row);
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

struct arff_labels {
    uint64_t first; /* samples in the set before: ids continue from there */
    struct arff arff;
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    uint32_t *classes;    /* by label */
    unsigned char *there; /* by label, of the current row */
    uint32_t *found;      /* the classes of the current row */
};

static ocdm_status name_classes(struct arff_labels *labels)
{
    size_t count = labels->arff.label_count;
    labels->classes = ocdm__allocate(count, sizeof *labels->classes);
    labels->there = ocdm__allocate(count, 1);
    labels->found = ocdm__allocate(count, sizeof *labels->found);
    if (labels->classes == NULL || labels->there == NULL || labels->found == NULL)
        return ocdm__fail_memory(labels->error, "the labels of a table");
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(&labels->arff.names, labels->arff.label_attributes[i], &length);
        const char *name = arff_copy(&labels->arff, text, length, 0); /* padded */
        if (name == NULL)
            return ocdm__fail_memory(labels->error, "the labels of a table");
        OCDM_TRY(ocdm__label_table_add(&labels->set->classes, name, length, &labels->classes[i], labels->error));
    }
    return OCDM_OK;
}

static ocdm_status add_sample(struct arff_labels *labels, uint64_t row)
{
    char id[24 + OCDM__LABEL_PADDING];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id;
    sample.id_length = (size_t)snprintf(id, sizeof id, "%" PRIu64, labels->first + row);
    sample.labels = labels->found;
    sample.row = row;
    for (size_t i = 0; i < labels->arff.label_count; i++) {
        labels->found[sample.label_count] = labels->classes[i];
        sample.label_count += labels->there[i];
    }
    ocdm_status status = ocdm__labelled_set_add(labels->set, &sample, labels->error);
    const ocdm__table_lines *lines = &labels->arff.lines;
    if (status == OCDM_DUPLICATE_ID)
        return ocdm__fail(labels->error, status, "", "%s:%" PRIu64 ":1: another source has a sample number %" PRIu64,
                          lines->path, lines->line, row);
    if (status == OCDM_TOO_MANY_LABELS)
        return ocdm__fail(labels->error, status, "", "%s:%" PRIu64 ":1: more than %u labels on one sample", lines->path,
                          lines->line, OCDM_MAX_LABELS);
    return status;
}

/* Adds the current row, or skips and counts it. */
static ocdm_status read_sample(struct arff_labels *labels, uint64_t row)
{
    ocdm_error why = {.status = OCDM_OK};
    ocdm_status status = arff_read_row(&labels->arff, NULL, labels->there, &why);
    if (status == OCDM_OK)
        return add_sample(labels, row);
    if (status == OCDM_BAD_RECORD && labels->reading->skip_bad) {
        ocdm__reading_skip(labels->reading, labels->arff.trouble, why.message);
        return OCDM_OK;
    }
    if (labels->error != NULL)
        *labels->error = why;
    return status;
}

static ocdm_status read_samples(struct arff_labels *labels)
{
    const ocdm__table_lines *lines = &labels->arff.lines;
    for (uint64_t row = 0; arff_next_row(&labels->arff); row++) {
        if (row % 1024 == 0)
            OCDM_TRY(
                ocdm__reading_goes_on(labels->reading, "reading labels", lines->place.at, lines->file.size, labels->error));
        OCDM_TRY(read_sample(labels, row));
    }
    return ocdm__reading_goes_on(labels->reading, "reading labels", lines->file.size, lines->file.size, labels->error);
}

ocdm_status ocdm__arff_read(ocdm__labelled_set *set, const char *arff_path, const char *xml_path, ocdm__reading *reading,
                            ocdm_error *error)
{
    struct arff_labels labels = {.set = set, .first = set->count, .reading = reading, .error = error};
    ocdm_status status = arff_open(&labels.arff, arff_path, error);
    OCDM_THEN(status, arff_read_labels(&labels.arff, xml_path, error));
    OCDM_THEN(status, name_classes(&labels));
    OCDM_THEN(status, read_samples(&labels));
    ocdm__release(labels.classes);
    ocdm__release(labels.there);
    ocdm__release(labels.found);
    arff_close(&labels.arff);
    return status;
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

struct arff_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    struct arff arff;
    uint64_t next;        /* the row that the next line is */
    unsigned char *there; /* labels, which are read but not used */
};

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct arff_rows *table = (struct arff_rows *)rows;
    struct arff *arff = &table->arff;
    if (row >= rows->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %" PRIu64 " of %" PRIu64, arff->lines.path, row, rows->count);
    if (row < table->next) {
        ocdm__table_lines_go(&arff->lines, arff->data);
        table->next = 0;
    }
    for (; table->next <= row; table->next++)
        if (!arff_next_row(arff))
            return ocdm__fail(error, OCDM_IO, "", "%s: row %" PRIu64 " is gone", arff->lines.path, row);
    return arff_read_row(arff, out, table->there, error);
}

static void close_rows(ocdm__feature_rows *rows)
{
    struct arff_rows *table = (struct arff_rows *)rows;
    arff_close(&table->arff);
    ocdm__release(table->there);
    ocdm__release(table);
}

/* String and date attributes cannot be features: the error is about the first of them. */
static ocdm_status check_features(struct arff *arff, ocdm_error *error)
{
    for (size_t i = 0; i < arff->attribute_count; i++) {
        const struct arff_attribute *attribute = &arff->attributes[i];
        if (attribute->label != UINT32_MAX || attribute->kind != ARFF_TEXT)
            continue;
        ocdm__table_lines_go(&arff->lines, attribute->place);
        return ocdm__table_fail(&arff->lines, arff->lines.start + attribute->column, error,
                                "take the attribute out of the file, for instance with WEKA's RemoveType",
                                "a string or date attribute cannot be a feature");
    }
    if (arff->feature_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: every attribute is a label: there are no features", arff->lines.path);
    return OCDM_OK;
}

static ocdm_status count_rows(struct arff_rows *table, ocdm_error *error)
{
    struct arff *arff = &table->arff;
    while (arff_next_row(arff))
        table->rows.count++;
    if (table->rows.count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: there are no rows after @data", arff->lines.path);
    ocdm__table_lines_go(&arff->lines, arff->data);
    table->rows.width = arff->feature_count;
    table->there = ocdm__allocate(arff->label_count, 1);
    return table->there != NULL ? OCDM_OK : ocdm__fail_memory(error, "the labels of a table");
}

ocdm_status ocdm__arff_open_rows(const char *arff_path, const char *xml_path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct arff_rows *table = ocdm__allocate(1, sizeof *table);
    if (table == NULL)
        return ocdm__fail_memory(error, "a table of features");
    table->rows = (ocdm__feature_rows){.read = read_row, .close = close_rows};
    ocdm_status status = arff_open(&table->arff, arff_path, error);
    OCDM_THEN(status, arff_read_labels(&table->arff, xml_path, error));
    OCDM_THEN(status, check_features(&table->arff, error));
    OCDM_THEN(status, count_rows(table, error));
    if (status != OCDM_OK) {
        close_rows(&table->rows);
        return status;
    }
    *rows = &table->rows;
    return OCDM_OK;
}
