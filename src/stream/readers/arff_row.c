/* ARFF: one row, dense (a,b,c) or sparse ({0 a,2 c}). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number_text.h"
#include "base/shown_label.h"
#include "stream/readers/arff_state.h"

#define BAD_ROW "rows that cannot be read"
#define MISSING_VALUE "rows with a missing value (?)"
#define BAD_LABEL "rows with a label other than 0 and 1"

/* Where the values of a row go. */
struct row {
    ocdm__arff *arff;
    float *features;
    unsigned char *labels;
    ocdm_error *error;
};

bool ocdm__arff_next_row(ocdm__arff *arff)
{
    while (ocdm__table_lines_next(&arff->lines)) {
        arff->at = arff->lines.start;
        if (ocdm__arff_peek(arff) >= 0)
            return true;
    }
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static ocdm_status fail_value(const struct row *row, size_t number, const ocdm__arff_token *token, const char *trouble)
{
    size_t length;
    const char *name = ocdm__label_table_text(&row->arff->names, (uint32_t)number, &length);
    ocdm__shown_label attribute = ocdm__show_label(name, length), value = ocdm__show_label(token->text, token->length);
    return ocdm__table_fail(&row->arff->lines, token->at, row->error, "", "attribute \"%s\": the value \"%s\" %s",
                            attribute.text, value.text, trouble);
}

static ocdm_status fail_missing(const struct row *row, size_t number, const ocdm__arff_token *token)
{
    size_t length;
    const char *name = ocdm__label_table_text(&row->arff->names, (uint32_t)number, &length);
    ocdm__shown_label attribute = ocdm__show_label(name, length);
    row->arff->trouble = MISSING_VALUE;
    return ocdm__table_fail(&row->arff->lines, token->at, row->error,
                            "fill missing values in first, for instance with WEKA's ReplaceMissingValues",
                            "attribute \"%s\": the value is missing (?)", attribute.text);
}

static ocdm_status read_number(const struct row *row, size_t number, const ocdm__arff_token *token, float *value)
{
    if (!ocdm__text_to_float(token->text, token->length, value))
        return fail_value(row, number, token, "is not a number");
    return isfinite(*value) ? OCDM_OK : fail_value(row, number, token, "is not finite");
}

static ocdm_status read_nominal(const struct row *row, size_t number, const ocdm__arff_token *token, float *value)
{
    ocdm__arff *arff = row->arff;
    uint32_t found;
    bool binary = arff->attributes[number].kind == OCDM__ARFF_BINARY && token->length == 1;
    if (binary && (token->text[0] == '0' || token->text[0] == '1')) {
        *value = (float)(token->text[0] - '0');
        return OCDM_OK;
    }
    ocdm__arff_token kept = *token; /* the search may move the token's text */
    ocdm_status status = ocdm__arff_find_value(arff, number, token, &found, row->error);
    if (status != OCDM_OK)
        return status;
    kept.text = arff->scratch + sizeof(uint32_t);
    if (found >= arff->value_count)
        return fail_value(row, number, &kept, "is not in the attribute's list");
    *value = arff->value_numbers[found];
    return OCDM_OK;
}

static ocdm_status put_value(const struct row *row, size_t number, const ocdm__arff_token *token)
{
    const ocdm__arff_attribute *attribute = &row->arff->attributes[number];
    float value = 0;
    ocdm_status status = OCDM_OK;
    if (!token->quoted && token->length == 1 && token->text[0] == '?')
        return attribute->kind == OCDM__ARFF_TEXT ? OCDM_OK : fail_missing(row, number, token);
    if (attribute->kind == OCDM__ARFF_NUMERIC)
        status = read_number(row, number, token, &value);
    else if (attribute->kind != OCDM__ARFF_TEXT)
        status = read_nominal(row, number, token, &value);
    if (status != OCDM_OK)
        return status;
    if (attribute->label == UINT32_MAX) {
        if (row->features != NULL)
            row->features[attribute->feature] = value;
        return OCDM_OK;
    }
    if (value != 0 && value != 1) {
        row->arff->trouble = BAD_LABEL;
        return fail_value(row, number, token, "is not 0 or 1, as a label is");
    }
    row->labels[attribute->label] = value == 1;
    return OCDM_OK;
}

/* The value that comes next, for attribute `number`. */
static ocdm_status read_value(const struct row *row, size_t number)
{
    ocdm__arff *arff = row->arff;
    ocdm__arff_token token;
    int next = ocdm__arff_peek(arff);
    if (next < 0 || next == ',' || next == '{' || next == '}')
        return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "a value is missing");
    ocdm_status status = ocdm__arff_next_token(arff, &token, row->error);
    return status == OCDM_OK ? put_value(row, number, &token) : status;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

static ocdm_status read_dense(const struct row *row)
{
    ocdm__arff *arff = row->arff;
    size_t count = 0;
    for (bool comma = false; comma || ocdm__arff_peek(arff) >= 0; count++) {
        if (count == arff->attribute_count)
            return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "more values than the %zu attributes",
                                    arff->attribute_count);
        ocdm_status status = read_value(row, count);
        if (status != OCDM_OK)
            return status;
        comma = ocdm__arff_peek(arff) == ',';
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
    ocdm__arff *arff = row->arff;
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

static void put_omitted(const struct row *row)
{
    for (size_t i = 0; i < row->arff->attribute_count; i++) {
        const ocdm__arff_attribute *attribute = &row->arff->attributes[i];
        if (attribute->label != UINT32_MAX)
            row->labels[attribute->label] = attribute->omitted == 1;
        else if (row->features != NULL)
            row->features[attribute->feature] = attribute->omitted;
    }
}

static ocdm_status read_sparse(const struct row *row)
{
    ocdm__arff *arff = row->arff;
    const char *brace = arff->at++;
    size_t lowest = 0, index = 0;
    put_omitted(row);
    for (bool comma = false; comma || ocdm__arff_peek(arff) != '}'; lowest = index + 1) {
        if (ocdm__arff_peek(arff) < 0)
            return ocdm__table_fail(&arff->lines, brace, row->error, "", "a { without its } on the line");
        ocdm_status status = read_index(row, &index, lowest);
        if (status == OCDM_OK)
            status = read_value(row, index);
        if (status != OCDM_OK)
            return status;
        comma = ocdm__arff_peek(arff) == ',';
        arff->at += comma;
    }
    arff->at++;
    if (ocdm__arff_peek(arff) >= 0)
        return ocdm__table_fail(&arff->lines, arff->at, row->error, "", "something follows the row's }");
    return OCDM_OK;
}

ocdm_status ocdm__arff_read_row(ocdm__arff *arff, float *features, unsigned char *labels, ocdm_error *error)
{
    struct row row = {.arff = arff, .features = features, .labels = labels, .error = error};
    arff->trouble = BAD_ROW;
    return ocdm__arff_peek(arff) == '{' ? read_sparse(&row) : read_dense(&row);
}
