/*
 * Reads ARFF tables with labels, as Mulan distributes them: WEKA's format, dense or sparse, and an XML file that lists which
 * attributes are labels. A label attribute is {0,1} or numeric, and its value is 0 or 1 in every row.
 *
 * All other attributes are features, in their order. A nominal feature is the index of its value in the declared list, from 0,
 * except that {0,1} and {1,0} are taken as numbers. Values omitted in a sparse row are 0, for a nominal attribute the first
 * value in its list, as in WEKA. Rows are counted from 0; blank lines and comments (% outside quotes) do not count.
 *
 * Not supported: relational attributes, row weights, values that span lines. String and date attributes cannot be features,
 * but a file that has them can be read for its labels.
 *
 * The XML file is
 *     <labels xmlns="..."><label name="sky"><label name="clouds"/></label></labels>
 * Nested labels count like any other. Supported is what such files contain: elements labels and label, attributes, comments,
 * the declaration, the five named entities and numeric character references. Anything else is an error.
 */
#include <ctype.h>

#include "base/text.h"
#include "stream/label_table.h"
#include "stream/lines.h"
#include "stream/readers/readers.h"

enum arff_kind {
    ARFF_NUMERIC,
    ARFF_BINARY,  /* nominal, of the values 0 and 1 */
    ARFF_NOMINAL, /* any other list of values */
    ARFF_TEXT     /* string, date */
};

struct arff_attribute {
    enum arff_kind kind;
    ocdm__label_table values; /* of a nominal one, in the order of its list */
    float omitted;            /* value where a sparse row omits it */
    uint32_t label;           /* its number among the labels, or UINT32_MAX */
    size_t feature;           /* its column among the features, when it is no label */
    ocdm__line_place place;   /* where it is declared */
    size_t column;            /* its name's, in bytes from 0 */
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
    ocdm__lines lines;
    const char *at;    /* how far the current line is read */
    ocdm_error *error; /* of the current call */
    char *scratch;     /* the current token, if it has quotes */
    size_t scratch_room;

    ocdm__label_table names; /* of attributes, by number */
    struct arff_attribute *attributes;
    size_t attribute_count, attribute_room;
    uint32_t *label_attributes; /* by label, in the order of the XML file */
    size_t label_count, label_room;
    size_t feature_count;
    ocdm__line_place data; /* where the rows start */

    /* The current row. */
    float *features;      /* the caller's; NULL: only labels are wanted */
    unsigned char *there; /* by label: whether the row has it */
    const char *trouble;  /* what kind of bad row it is, static text */
};

/* OCDM_BAD_RECORD about a byte of the current line; hint, format and arguments follow. */
#define FAIL(arff, at, ...) OCDM__FAIL_LINE(&(arff)->lines, at, (arff)->error, __VA_ARGS__)

/* ---- tokens --------------------------------------------------------------------------------------------------------- */

static inline bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* The next byte of the line that is no blank, or -1 at its end or at a comment. */
static int peek(struct arff *arff)
{
    const char *at = arff->at, *end = arff->lines.end;
    while (at < end && is_blank(*at))
        at++;
    arff->at = at;
    return at == end || *at == '%' ? -1 : (unsigned char)*at;
}

/* Whether a token follows: no end, comma or brace. */
static bool token_follows(struct arff *arff)
{
    int next = peek(arff);
    return next >= 0 && next != ',' && next != '{' && next != '}';
}

static bool pass_comma(struct arff *arff)
{
    bool comma = peek(arff) == ',';
    arff->at += comma;
    return comma;
}

/* Reads the token that follows. Valid until the next call. OCDM_OK, OCDM_BAD_RECORD (no closing quote), OCDM_NO_MEMORY. */
static ocdm_status next_token(struct arff *arff, struct arff_token *token)
{
    const char *at = arff->at, *end = arff->lines.end;
    char quote = *at;
    *token = (struct arff_token){.at = at, .text = at, .quoted = quote == '\'' || quote == '"'};
    if (!token->quoted) {
        while (at < end && !is_blank(*at) && memchr(",{}%", *at, 4) == NULL)
            at++;
        token->length = (size_t)(at - arff->at);
        arff->at = at;
        return OCDM_OK;
    }
    if (!ocdm__reserve(&arff->scratch, &arff->scratch_room, (size_t)(end - at), 1))
        return ocdm__fail_memory(arff->error, "a line of a table");
    for (at++; at < end && *at != quote; at++) {
        bool escape = *at == '\\' && at + 1 < end;
        at += escape;
        const char *found = escape ? memchr("nrt", *at, 3) : NULL;
        arff->scratch[token->length++] = found == NULL ? *at : *found == 'n' ? '\n' : *found == 'r' ? '\r' : '\t';
    }
    if (at == end)
        return FAIL(arff, arff->at, "", "a quote that is not closed on the line");
    token->text = arff->scratch;
    arff->at = at + 1;
    return OCDM_OK;
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

static ocdm_status expect_end(struct arff *arff)
{
    return peek(arff) < 0 ? OCDM_OK : FAIL(arff, arff->at, "", "something follows the declaration");
}

/* The digit that a value of a list is, or -1. */
static int digit_of(const ocdm__label_table *values, uint32_t value)
{
    size_t length;
    const char *text = ocdm__label_table_text(values, value, &length);
    return length == 1 && (*text == '0' || *text == '1') ? *text - '0' : -1;
}

/* The list of a nominal attribute, from its { on. If its values are 0 and 1, in either order, they are taken as numbers. */
static ocdm_status read_values(struct arff *arff, struct arff_attribute *attribute)
{
    ocdm__label_table *values = &attribute->values;
    const char *brace = arff->at++;
    while (peek(arff) != '}' || values->count == 0) {
        struct arff_token token;
        uint32_t number, before = values->count;
        if (peek(arff) < 0)
            return FAIL(arff, brace, "", "a { without its } on the line");
        if (!token_follows(arff))
            return FAIL(arff, arff->at, "", "a value is missing");
        OCDM_TRY(next_token(arff, &token));
        OCDM_TRY(ocdm__label_table_add(values, token.text, token.length, &number, arff->error));
        if (number < before)
            return FAIL(arff, token.at, "", "a value that is in the list already");
        pass_comma(arff);
    }
    arff->at++;
    attribute->kind = ARFF_NOMINAL;
    if (values->count == 2 && digit_of(values, 0) >= 0 && digit_of(values, 1) >= 0) {
        attribute->kind = ARFF_BINARY;
        attribute->omitted = (float)digit_of(values, 0);
    }
    return expect_end(arff);
}

static ocdm_status read_attribute(struct arff *arff)
{
    struct arff_token token;
    uint32_t number;
    if (!ocdm__reserve(&arff->attributes, &arff->attribute_room, arff->attribute_count + 1, sizeof *arff->attributes))
        return ocdm__fail_memory(arff->error, "the attributes of a table");
    if (!token_follows(arff))
        return FAIL(arff, arff->at, "", "the attribute's name is missing");
    OCDM_TRY(next_token(arff, &token));
    OCDM_TRY(ocdm__label_table_add(&arff->names, token.text, token.length, &number, arff->error));
    if (number < arff->attribute_count)
        return FAIL(arff, token.at, "", "a second attribute named \"%s\"", ocdm__show_label(token.text, token.length).text);
    size_t line_at = (size_t)((const unsigned char *)arff->lines.start - arff->lines.file.bytes);
    struct arff_attribute *attribute = &arff->attributes[arff->attribute_count++];
    *attribute = (struct arff_attribute){.label = UINT32_MAX,
                                         .place = {.at = line_at, .line = arff->lines.line},
                                         .column = (size_t)(token.at - arff->lines.start)};
    if (peek(arff) == '{')
        return read_values(arff, attribute);
    if (!token_follows(arff))
        return FAIL(arff, arff->at, "", "the attribute's type is missing");
    OCDM_TRY(next_token(arff, &token));
    if (is_word(&token, "numeric") || is_word(&token, "real") || is_word(&token, "integer"))
        return expect_end(arff);
    attribute->kind = ARFF_TEXT;
    if (is_word(&token, "date"))
        return OCDM_OK; /* its format may follow */
    if (is_word(&token, "string"))
        return expect_end(arff);
    return FAIL(arff, token.at, "numeric, real, integer, {a,b,...}, string and date are known", "an attribute of type %s",
                ocdm__show_label(token.text, token.length).text);
}

static ocdm_status read_declaration(struct arff *arff, bool *data)
{
    struct arff_token token = {.at = arff->at};
    int next = peek(arff);
    if (next < 0)
        return OCDM_OK;
    token.at = arff->at;
    if (next == '@') {
        OCDM_TRY(next_token(arff, &token));
        if (is_word(&token, "@relation"))
            return OCDM_OK;
        if (is_word(&token, "@attribute"))
            return read_attribute(arff);
        *data = is_word(&token, "@data");
        if (*data)
            return expect_end(arff);
    }
    return FAIL(arff, token.at, "give the ARFF file, then the XML file with its labels",
                "a line that is neither @relation, @attribute nor @data");
}

static ocdm_status read_header(struct arff *arff)
{
    bool data = false;
    while (!data && ocdm__lines_next(&arff->lines)) {
        arff->at = arff->lines.start;
        OCDM_TRY(read_declaration(arff, &data));
    }
    arff->data = arff->lines.place;
    return data ? OCDM_OK
                : FAIL(arff, arff->lines.end, "the file was cut off, or is not an ARFF file", "the file ends before @data");
}

/* ---- which attributes are labels: the XML file ---------------------------------------------------------------------- */

#define LONGEST_NAME 1023

struct xml {
    struct arff *arff;
    ocdm__mapped_file file;
    const char *at, *end;
    size_t open_labels;  /* label elements that are not closed yet */
    bool inside, closed; /* the labels element */
    char name[LONGEST_NAME];
    size_t name_length;
    bool has_name;
};

#define FAIL_XML(xml, at, ...)                                                                                                 \
    ocdm__fail_at((xml)->file.name, ocdm__place_of(&(xml)->file, (size_t)((at) - (const char *)(xml)->file.bytes)),            \
                  OCDM_BAD_RECORD, (xml)->arff->error, "a list of labels is <labels><label name=\"...\"/>...</labels>",        \
                  __VA_ARGS__)

static void pass_spaces(struct xml *xml)
{
    while (xml->at < xml->end && memchr(" \t\r\n", *xml->at, 4) != NULL)
        xml->at++;
}

static bool skip(struct xml *xml, const char *text)
{
    size_t length = strlen(text);
    bool there = (size_t)(xml->end - xml->at) >= length && memcmp(xml->at, text, length) == 0;
    xml->at += there ? length : 0;
    return there;
}

/* The name that comes next; of length 0 when there is none. */
static size_t take_name(struct xml *xml, const char **name)
{
    *name = xml->at;
    while (xml->at < xml->end && (isalnum((unsigned char)*xml->at) || memchr("_-:.", *xml->at, 4) != NULL))
        xml->at++;
    return (size_t)(xml->at - *name);
}

static ocdm_status pass_to(struct xml *xml, const char *start, const char *closing)
{
    for (; xml->at < xml->end; xml->at++)
        if (skip(xml, closing))
            return OCDM_OK;
    return FAIL_XML(xml, start, "%s is missing", closing);
}

/* The character that the entity at `xml->at` stands for: &amp; or &#955; or &#x3BB;. */
static ocdm_status take_entity(struct xml *xml, uint32_t *point)
{
    static const struct {
        const char *name;
        char stands_for;
    } known[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    static const char values[] = "0123456789abcdef";
    const char *start = xml->at++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (skip(xml, known[i].name)) {
            *point = (unsigned char)known[i].stands_for;
            return OCDM_OK;
        }
    uint32_t base = !skip(xml, "#") ? 0 : skip(xml, "x") ? 16 : 10;
    const char *digits = xml->at;
    for (*point = 0; xml->at < xml->end && *point <= 0x10FFFF; xml->at++) {
        char lower = *xml->at >= 'A' && *xml->at <= 'F' ? (char)(*xml->at | 0x20) : *xml->at;
        const char *value = memchr(values, lower, base);
        if (value == NULL)
            break;
        *point = *point * base + (uint32_t)(value - values);
    }
    if (xml->at == digits || !skip(xml, ";"))
        return FAIL_XML(xml, start, "an entity that is not known");
    if (*point < 0x20 || (*point >= 0xD800 && *point < 0xE000) || *point > 0x10FFFF)
        return FAIL_XML(xml, start, "a character that a label cannot have");
    return OCDM_OK;
}

/* The current quoted value, entities undone, to `name`. */
static ocdm_status read_xml_value(struct xml *xml)
{
    const char *start = xml->at, quote = start < xml->end ? *start : '\0';
    if (quote != '"' && quote != '\'')
        return FAIL_XML(xml, start, "a value in quotes is missing");
    xml->name_length = 0;
    for (xml->at++; xml->at < xml->end && *xml->at != quote;) {
        const char *at = xml->at;
        char bytes[4];
        uint32_t point;
        size_t length = ocdm__utf8_sequence((const unsigned char *)at, (const unsigned char *)xml->end);
        if (length == 0)
            return FAIL_XML(xml, at, "invalid UTF-8");
        if ((unsigned char)*at < 0x20 || *at == '<')
            return FAIL_XML(xml, at, "a character that a label cannot have");
        if (*at == '&') {
            OCDM_TRY(take_entity(xml, &point));
            length = ocdm__utf8_write(point, bytes);
        } else {
            memcpy(bytes, at, length);
            xml->at += length;
        }
        if (xml->name_length + length > LONGEST_NAME)
            return FAIL_XML(xml, at, "a value of over %d bytes", LONGEST_NAME);
        memcpy(xml->name + xml->name_length, bytes, length);
        xml->name_length += length;
    }
    if (xml->at == xml->end)
        return FAIL_XML(xml, start, "a quote that is not closed");
    xml->at++;
    return OCDM_OK;
}

/* Marks the attribute as a label whose name was read, at `at`. */
static ocdm_status take_label(struct xml *xml, const char *at)
{
    struct arff *arff = xml->arff;
    uint32_t number = ocdm__label_table_number(&arff->names, xml->name, xml->name_length);
    if (number == UINT32_MAX)
        return FAIL_XML(xml, at, "the label \"%s\" is not an attribute of %s",
                        ocdm__show_label(xml->name, xml->name_length).text, arff->lines.path);
    struct arff_attribute *attribute = &arff->attributes[number];
    if (attribute->label != UINT32_MAX)
        return FAIL_XML(xml, at, "a label that is listed twice");
    if (attribute->kind == ARFF_NOMINAL || attribute->kind == ARFF_TEXT)
        return FAIL_XML(xml, at, "a label that has other values than 0 and 1 in %s:%" PRIu64 ":%zu", arff->lines.path,
                        attribute->place.line, attribute->column + 1);
    if (!ocdm__reserve(&arff->label_attributes, &arff->label_room, arff->label_count + 1, sizeof *arff->label_attributes))
        return ocdm__fail_memory(arff->error, "the labels of a table");
    attribute->label = (uint32_t)arff->label_count;
    arff->label_attributes[arff->label_count++] = number;
    return OCDM_OK;
}

/* The attributes of the current element up to > or />. A label must have a name. */
static ocdm_status read_xml_attributes(struct xml *xml, bool label, bool *empty)
{
    for (;;) {
        const char *name, *start = xml->at;
        pass_spaces(xml);
        *empty = skip(xml, "/>");
        if (*empty || skip(xml, ">"))
            return OCDM_OK;
        size_t length = take_name(xml, &name);
        if (length == 0 || name == start)
            return FAIL_XML(xml, xml->at, "an element that does not end");
        pass_spaces(xml);
        if (!skip(xml, "="))
            return FAIL_XML(xml, xml->at, "= is missing");
        pass_spaces(xml);
        const char *value = xml->at;
        OCDM_TRY(read_xml_value(xml));
        if (label && ocdm__text_is(name, length, "name")) {
            OCDM_TRY(xml->has_name ? FAIL_XML(xml, name, "a label with two names") : take_label(xml, value));
            xml->has_name = true;
        }
    }
}

static ocdm_status read_start(struct xml *xml, const char *start)
{
    const char *name;
    bool empty = false;
    size_t length = take_name(xml, &name);
    bool label = ocdm__text_is(name, length, "label");
    if (!label && !ocdm__text_is(name, length, "labels"))
        return FAIL_XML(xml, start, "an element other than labels and label");
    if (label ? !xml->inside || xml->closed : xml->inside)
        return FAIL_XML(xml, start, "%s", label ? "a label outside of labels" : "labels inside or after labels");
    xml->has_name = false;
    OCDM_TRY(read_xml_attributes(xml, label, &empty));
    if (label && !xml->has_name)
        return FAIL_XML(xml, start, "a label without a name");
    xml->inside = true;
    xml->closed = !label && empty;
    xml->open_labels += label && !empty;
    return OCDM_OK;
}

static ocdm_status read_end(struct xml *xml, const char *start)
{
    const char *name;
    size_t length = take_name(xml, &name);
    bool label = ocdm__text_is(name, length, "label");
    pass_spaces(xml);
    bool fits = label ? xml->open_labels > 0
                      : ocdm__text_is(name, length, "labels") && xml->inside && !xml->closed && xml->open_labels == 0;
    if (!fits || !skip(xml, ">"))
        return FAIL_XML(xml, start, "an end of an element that is not open");
    xml->open_labels -= label;
    xml->closed = !label;
    return OCDM_OK;
}

static ocdm_status read_elements(struct xml *xml)
{
    for (pass_spaces(xml); xml->at < xml->end; pass_spaces(xml)) {
        const char *start = xml->at;
        if (skip(xml, "<!--"))
            OCDM_TRY(pass_to(xml, start, "-->"));
        else if (skip(xml, "<?"))
            OCDM_TRY(pass_to(xml, start, "?>"));
        else if (skip(xml, "</"))
            OCDM_TRY(read_end(xml, start));
        else
            OCDM_TRY(skip(xml, "<") ? read_start(xml, start) : FAIL_XML(xml, start, "text outside of elements"));
    }
    if (!xml->closed)
        return FAIL_XML(xml, xml->end, "the file ends before </labels>");
    return xml->arff->label_count > 0 ? OCDM_OK : FAIL_XML(xml, (const char *)xml->file.bytes, "there is no label");
}

/* ---- opening -------------------------------------------------------------------------------------------------------- */

/* Opens the table and reads everything before its rows: the header, and which attributes are labels. Close it in either case.
 */
static ocdm_status arff_open(struct arff *arff, const char *path, const char *xml_path, ocdm_error *error)
{
    *arff = (struct arff){.error = error};
    OCDM_TRY(ocdm__lines_open(&arff->lines, path, error));
    OCDM_TRY(read_header(arff));
    struct xml xml = {.arff = arff};
    OCDM_TRY(ocdm__map_file(&xml.file, xml_path, error));
    xml.at = (const char *)xml.file.bytes;
    xml.end = xml.at + xml.file.size;
    skip(&xml, "\xEF\xBB\xBF");
    ocdm_status status = read_elements(&xml);
    ocdm__unmap_file(&xml.file);
    for (size_t i = 0; i < arff->attribute_count; i++)
        if (arff->attributes[i].label == UINT32_MAX)
            arff->attributes[i].feature = arff->feature_count++;
    OCDM_THEN(status, ocdm__new(&arff->there, arff->label_count, 1, "the labels of a table", error));
    return status;
}

static void arff_close(struct arff *arff)
{
    ocdm__lines_close(&arff->lines);
    ocdm__label_table_clear(&arff->names);
    for (size_t i = 0; i < arff->attribute_count; i++)
        ocdm__label_table_clear(&arff->attributes[i].values);
    OCDM_RELEASE(arff->attributes, arff->label_attributes, arff->scratch, arff->there);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

/* Advances to the next line that is a row; false at the end. */
static bool next_row(struct arff *arff)
{
    while (ocdm__lines_next(&arff->lines)) {
        arff->at = arff->lines.start;
        if (peek(arff) >= 0)
            return true;
    }
    return false;
}

static ocdm_status fail_value(const struct arff *arff, size_t number, const struct arff_token *token, const char *trouble)
{
    return FAIL(arff, token->at, "", "attribute \"%s\": the value \"%s\" %s",
                ocdm__label_table_show(&arff->names, (uint32_t)number).text, ocdm__show_label(token->text, token->length).text,
                trouble);
}

/* Reads the next value, of attribute `number`. */
static ocdm_status read_value(struct arff *arff, size_t number)
{
    const struct arff_attribute *attribute = &arff->attributes[number];
    struct arff_token token;
    float value = 0;
    if (!token_follows(arff))
        return FAIL(arff, arff->at, "", "a value is missing");
    OCDM_TRY(next_token(arff, &token));
    if (!token.quoted && token.length == 1 && token.text[0] == '?') {
        if (attribute->kind == ARFF_TEXT)
            return OCDM_OK;
        arff->trouble = "rows with a missing value (?)";
        return FAIL(arff, token.at, "fill missing values in first, for instance with WEKA's ReplaceMissingValues",
                    "attribute \"%s\": the value is missing (?)", ocdm__label_table_show(&arff->names, (uint32_t)number).text);
    }
    if (attribute->kind == ARFF_NUMERIC) {
        if (!ocdm__text_to_float(token.text, token.length, &value))
            return fail_value(arff, number, &token, "is not a number");
        OCDM_TRY(isfinite(value) ? OCDM_OK : fail_value(arff, number, &token, "is not finite"));
    } else if (attribute->kind != ARFF_TEXT) {
        uint32_t found = ocdm__label_table_number(&attribute->values, token.text, token.length);
        if (found == UINT32_MAX)
            return fail_value(arff, number, &token, "is not in the attribute's list");
        value = (float)(attribute->kind == ARFF_BINARY ? (uint32_t)(token.text[0] - '0') : found);
    }
    if (attribute->label == UINT32_MAX) {
        if (arff->features != NULL)
            arff->features[attribute->feature] = value;
        return OCDM_OK;
    }
    if (value != 0 && value != 1) {
        arff->trouble = "rows with a label other than 0 and 1";
        return fail_value(arff, number, &token, "is not 0 or 1, as a label is");
    }
    arff->there[attribute->label] = value == 1;
    return OCDM_OK;
}

static ocdm_status read_dense(struct arff *arff)
{
    size_t count = 0;
    for (bool comma = false; comma || peek(arff) >= 0; count++) {
        if (count == arff->attribute_count)
            return FAIL(arff, arff->at, "", "more values than the %zu attributes", arff->attribute_count);
        OCDM_TRY(read_value(arff, count));
        comma = pass_comma(arff);
    }
    if (count < arff->attribute_count)
        return FAIL(arff, arff->at, "", "%zu value%s where there are %zu attributes", count, count == 1 ? "" : "s",
                    arff->attribute_count);
    return OCDM_OK;
}

/* An index, from `lowest` on, after which a blank must follow. */
static ocdm_status read_index(struct arff *arff, size_t *index, size_t lowest)
{
    const char *start = arff->at;
    uint64_t value = 0;
    for (; arff->at < arff->lines.end && *arff->at >= '0' && *arff->at <= '9'; arff->at++)
        value = value < UINT64_MAX / 100 ? value * 10 + (uint64_t)(*arff->at - '0') : value;
    if (arff->at == start || arff->at == arff->lines.end || (*arff->at != ' ' && *arff->at != '\t'))
        return FAIL(arff, start, "", "a value of a sparse row that is not `index value`");
    if (value >= arff->attribute_count)
        return FAIL(arff, start, "indices count from 0", "the index %s, where there are %zu attributes",
                    ocdm__show_label(start, (size_t)(arff->at - start)).text, arff->attribute_count);
    if (value < lowest)
        return FAIL(arff, start, "", "the index %" PRIu64 " after %zu: indices must ascend", value, lowest - 1);
    *index = (size_t)value;
    return OCDM_OK;
}

static ocdm_status read_sparse(struct arff *arff)
{
    const char *brace = arff->at++;
    size_t lowest = 0, index = 0;
    for (size_t i = 0; i < arff->attribute_count; i++) {
        const struct arff_attribute *attribute = &arff->attributes[i];
        if (attribute->label != UINT32_MAX)
            arff->there[attribute->label] = attribute->omitted == 1;
        else if (arff->features != NULL)
            arff->features[attribute->feature] = attribute->omitted;
    }
    for (bool comma = false; comma || peek(arff) != '}'; lowest = index + 1) {
        if (peek(arff) < 0)
            return FAIL(arff, brace, "", "a { without its } on the line");
        OCDM_TRY(read_index(arff, &index, lowest));
        OCDM_TRY(read_value(arff, index));
        comma = pass_comma(arff);
    }
    arff->at++;
    return peek(arff) < 0 ? OCDM_OK : FAIL(arff, arff->at, "", "something follows the row's }");
}

/* Reads the current row: features unless NULL, and `there`. OCDM_OK, OCDM_BAD_RECORD, OCDM_NO_MEMORY, OCDM_LIMIT. */
static ocdm_status arff_read_row(struct arff *arff, float *features, ocdm_error *error)
{
    arff->features = features;
    arff->error = error;
    arff->trouble = "rows that cannot be read";
    return peek(arff) == '{' ? read_sparse(arff) : read_dense(arff);
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

static ocdm_status read_samples(struct arff *arff, ocdm__table_samples *samples)
{
    const ocdm__lines *lines = &arff->lines;
    OCDM_TRY(ocdm__table_samples_begin(samples, arff->label_count));
    for (size_t i = 0; i < arff->label_count; i++) {
        OCDM_TRY(ocdm__label_table_copy(&samples->set->classes, &arff->names, arff->label_attributes[i], &samples->classes[i],
                                        samples->error));
    }
    uint64_t row = 0;
    for (; next_row(arff); row++) {
        if (row % 1024 == 0)
            OCDM_TRY(
                ocdm__reading_goes_on(samples->reading, "reading labels", lines->place.at, lines->file.size, samples->error));
        /* The row is added, or skipped and counted. */
        ocdm_error why = {.status = OCDM_OK};
        char where[sizeof why.message];
        ocdm_status status = arff_read_row(arff, NULL, &why);
        if (status == OCDM_BAD_RECORD && samples->reading->skip_bad) {
            ocdm__reading_skip(samples->reading, arff->trouble, why.message);
            continue;
        }
        if (status != OCDM_OK) {
            if (samples->error != NULL)
                *samples->error = why;
            return status;
        }
        samples->found_count = 0;
        for (size_t i = 0; i < arff->label_count; i++)
            if (arff->there[i])
                samples->found[samples->found_count++] = samples->classes[i];
        snprintf(where, sizeof where, "%s:%" PRIu64 ":1", arff->lines.path, arff->lines.line);
        OCDM_TRY(ocdm__table_samples_add(samples, row, where));
    }
    samples->set->row_count = samples->rows_before + row;
    return ocdm__reading_goes_on(samples->reading, "reading labels", lines->file.size, lines->file.size, samples->error);
}

ocdm_status ocdm__arff_read(ocdm__labelled_set *set, const char *arff_path, const char *xml_path, ocdm__reading *reading,
                            ocdm_error *error)
{
    struct arff arff;
    ocdm__table_samples samples = {.set = set, .reading = reading, .error = error};
    ocdm_status status = arff_open(&arff, arff_path, xml_path, error);
    OCDM_THEN(status, read_samples(&arff, &samples));
    ocdm__table_samples_clear(&samples);
    arff_close(&arff);
    return status;
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

struct arff_rows {
    ocdm__line_rows line; /* first, so that one address is both */
    struct arff arff;
};

static bool advance(ocdm__line_rows *rows)
{
    return next_row(&((struct arff_rows *)rows)->arff);
}

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct arff_rows *table = (struct arff_rows *)rows;
    OCDM_TRY(ocdm__line_rows_go(&table->line, row, error));
    return arff_read_row(&table->arff, out, error);
}

static void close_rows(ocdm__feature_rows *rows)
{
    arff_close(&((struct arff_rows *)rows)->arff);
    ocdm__release(rows);
}

ocdm_status ocdm__arff_open_rows(const char *arff_path, const char *xml_path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct arff_rows *table;
    OCDM_TRY(ocdm__new(&table, 1, sizeof *table, "a table of features", error));
    struct arff *arff = &table->arff;
    ocdm__line_rows *line = &table->line;
    ocdm_status status = arff_open(arff, arff_path, xml_path, error);
    for (size_t i = 0; status == OCDM_OK && i < arff->attribute_count; i++) {
        const struct arff_attribute *attribute = &arff->attributes[i];
        if (attribute->label != UINT32_MAX || attribute->kind != ARFF_TEXT)
            continue;
        ocdm__lines_go(&arff->lines, attribute->place);
        status = FAIL(arff, arff->lines.start + attribute->column,
                      "take the attribute out of the file, for instance with WEKA's RemoveType",
                      "a string or date attribute cannot be a feature");
    }
    if (status == OCDM_OK && arff->feature_count == 0)
        status =
            ocdm__fail(error, OCDM_BAD_FILE, "", "%s: every attribute is a label: there are no features", arff->lines.path);
    *line = (ocdm__line_rows){.rows = {.width = arff->feature_count, .read = read_row, .close = close_rows},
                              .lines = &arff->lines,
                              .first = arff->data,
                              .advance = advance};
    while (status == OCDM_OK && advance(line))
        line->rows.count++;
    if (status == OCDM_OK && line->rows.count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s: there are no rows after @data", arff->lines.path);
    line->next = line->rows.count;
    if (status == OCDM_OK)
        *rows = &line->rows;
    else
        close_rows(&line->rows);
    return status;
}
