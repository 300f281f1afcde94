/* ARFF: @relation, the attributes with their types, up to @data. */
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/shown_label.h"
#include "stream/readers/arff_state.h"

static bool is_word(const ocdm__arff_token *token, const char *word)
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

static ocdm_status expect_end(ocdm__arff *arff, ocdm_error *error)
{
    return ocdm__arff_peek(arff) < 0 ? OCDM_OK
                                     : ocdm__table_fail(&arff->lines, arff->at, error, "", "something follows the declaration");
}

/* ---- nominal values ------------------------------------------------------------------------------------------------- */

static ocdm_status add_value(ocdm__arff *arff, size_t attribute, uint32_t first, ocdm_error *error)
{
    ocdm__arff_token token;
    uint32_t number;
    ocdm_status status = ocdm__arff_next_token(arff, &token, error);
    if (status == OCDM_OK)
        status = ocdm__arff_find_value(arff, attribute, &token, &number, error);
    if (status != OCDM_OK)
        return status;
    if (number < arff->value_count)
        return ocdm__table_fail(&arff->lines, token.at, error, "", "a value that is in the list already");
    if (number == arff->value_room) {
        size_t room = arff->value_room > 0 ? 2 * arff->value_room : 1024;
        float *numbers = ocdm__resize(arff->value_numbers, room, sizeof *numbers);
        if (numbers == NULL)
            return ocdm__fail_memory(error, "the values of a table");
        arff->value_numbers = numbers;
        arff->value_room = room;
    }
    arff->value_numbers[number] = (float)(number - first);
    arff->value_count++;
    return OCDM_OK;
}

/* The digit that a value is, or -1. */
static int digit_of(const ocdm__arff *arff, uint32_t value)
{
    size_t length;
    const char *key = ocdm__label_table_text(&arff->values, value, &length);
    return length == sizeof(uint32_t) + 1 && (key[4] == '0' || key[4] == '1') ? key[4] - '0' : -1;
}

/* 0 and 1 in either order stand for themselves. */
static void settle_values(ocdm__arff *arff, ocdm__arff_attribute *attribute, uint32_t first)
{
    attribute->kind = OCDM__ARFF_NOMINAL;
    attribute->omitted = 0;
    if (arff->value_count - first != 2 || digit_of(arff, first) < 0 || digit_of(arff, first + 1) < 0)
        return;
    attribute->kind = OCDM__ARFF_BINARY;
    for (uint32_t i = first; i < first + 2; i++)
        arff->value_numbers[i] = (float)digit_of(arff, i);
    attribute->omitted = arff->value_numbers[first];
}

static ocdm_status read_values(ocdm__arff *arff, ocdm__arff_attribute *attribute, ocdm_error *error)
{
    uint32_t first = arff->value_count;
    const char *brace = arff->at++;
    for (;;) {
        int next = ocdm__arff_peek(arff);
        if (next == '}' && arff->value_count > first)
            break;
        if (next < 0)
            return ocdm__table_fail(&arff->lines, brace, error, "", "a { without its } on the line");
        if (next == '}' || next == ',' || next == '{')
            return ocdm__table_fail(&arff->lines, arff->at, error, "", "a value is missing");
        ocdm_status status = add_value(arff, arff->attribute_count, first, error);
        if (status != OCDM_OK)
            return status;
        if (ocdm__arff_peek(arff) == ',')
            arff->at++;
    }
    arff->at++;
    settle_values(arff, attribute, first);
    return expect_end(arff, error);
}

/* ---- attributes ----------------------------------------------------------------------------------------------------- */

static ocdm_status read_type(ocdm__arff *arff, ocdm__arff_attribute *attribute, ocdm_error *error)
{
    ocdm__arff_token token;
    int next = ocdm__arff_peek(arff);
    if (next == '{')
        return read_values(arff, attribute, error);
    if (next < 0 || next == ',' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "the attribute's type is missing");
    ocdm_status status = ocdm__arff_next_token(arff, &token, error);
    if (status != OCDM_OK)
        return status;
    if (is_word(&token, "numeric") || is_word(&token, "real") || is_word(&token, "integer")) {
        attribute->kind = OCDM__ARFF_NUMERIC;
        return expect_end(arff, error);
    }
    attribute->kind = OCDM__ARFF_TEXT;
    if (is_word(&token, "string"))
        return expect_end(arff, error);
    if (is_word(&token, "date"))
        return OCDM_OK; /* its format may follow */
    ocdm__shown_label shown = ocdm__show_label(token.text, token.length);
    return ocdm__table_fail(&arff->lines, token.at, error, "numeric, real, integer, {a,b,...}, string and date are known",
                            "an attribute of type %s", shown.text);
}

static ocdm_status read_name(ocdm__arff *arff, ocdm__arff_attribute *attribute, ocdm_error *error)
{
    ocdm__arff_token token;
    uint32_t number;
    int next = ocdm__arff_peek(arff);
    if (next < 0 || next == ',' || next == '{' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "the attribute's name is missing");
    ocdm_status status = ocdm__arff_next_token(arff, &token, error);
    if (status != OCDM_OK)
        return status;
    char *name = ocdm__arff_copy(arff, token.text, token.length, 0);
    if (name == NULL)
        return ocdm__fail_memory(error, "the names of a table");
    attribute->column = (size_t)(token.at - arff->lines.start);
    status = ocdm__label_table_add(&arff->names, name, token.length, &number, error);
    if (status == OCDM_OK && number < arff->attribute_count) {
        ocdm__shown_label shown = ocdm__show_label(name, token.length);
        return ocdm__table_fail(&arff->lines, token.at, error, "", "a second attribute named \"%s\"", shown.text);
    }
    return status;
}

static ocdm_status read_attribute(ocdm__arff *arff, ocdm_error *error)
{
    if (arff->attribute_count == arff->attribute_room) {
        size_t room = arff->attribute_room > 0 ? 2 * arff->attribute_room : 256;
        ocdm__arff_attribute *attributes = ocdm__resize(arff->attributes, room, sizeof *attributes);
        if (attributes == NULL)
            return ocdm__fail_memory(error, "the attributes of a table");
        arff->attributes = attributes;
        arff->attribute_room = room;
    }
    ocdm__arff_attribute *attribute = &arff->attributes[arff->attribute_count];
    size_t line_at = (size_t)((const unsigned char *)arff->lines.start - arff->lines.file.bytes);
    *attribute = (ocdm__arff_attribute){.label = UINT32_MAX, .place = {.at = line_at, .line = arff->lines.line}};
    ocdm_status status = read_name(arff, attribute, error);
    if (status == OCDM_OK)
        status = read_type(arff, attribute, error);
    arff->attribute_count += status == OCDM_OK;
    return status;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

static ocdm_status read_declaration(ocdm__arff *arff, bool *data, ocdm_error *error)
{
    ocdm__arff_token token;
    int next = ocdm__arff_peek(arff);
    if (next < 0)
        return OCDM_OK;
    token.at = arff->at;
    if (next == '@') {
        ocdm_status status = ocdm__arff_next_token(arff, &token, error);
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

ocdm_status ocdm__arff_open(ocdm__arff *arff, const char *path, ocdm_error *error)
{
    *arff = (ocdm__arff){.trouble = NULL};
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

void ocdm__arff_close(ocdm__arff *arff)
{
    ocdm__table_lines_close(&arff->lines);
    ocdm__label_table_clear(&arff->names);
    ocdm__label_table_clear(&arff->values);
    ocdm__release(arff->attributes);
    ocdm__release(arff->value_numbers);
    ocdm__release(arff->label_attributes);
    ocdm__release(arff->scratch);
    *arff = (ocdm__arff){.trouble = NULL};
}
