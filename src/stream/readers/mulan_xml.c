/*
 * Reads Mulan's XML files, which list the labels of an ARFF table:
 *     <labels xmlns="..."><label name="sky"><label name="clouds"/></label></labels>
 * Nested labels count like any other. Supported is what such files contain: elements labels and label, attributes, comments,
 * the declaration, the five named entities and numeric character references. Anything else is an error.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "stream/label_table.h"
#include "stream/readers/readers.h"

#define LONGEST_NAME 1023

struct xml {
    ocdm__mulan_label *take;
    void *context;
    size_t label_count;
    ocdm_error *error;
    ocdm__mapped_file file;
    const char *at, *end;
    size_t open_labels;  /* label elements that are not closed yet */
    bool inside, closed; /* the labels element */
    char name[LONGEST_NAME + 1 + OCDM__LABEL_PADDING];
    size_t name_length;
    bool has_name;
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static ocdm_status
fail_at(const struct xml *xml, const char *at, const char *format, ...)
{
    uint64_t line = 1;
    const char *start = (const char *)xml->file.bytes;
    for (const char *byte = start; byte < at; byte++)
        if (*byte == '\n') {
            line++;
            start = byte + 1;
        }
    char reason[OCDM__MULAN_REASON];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail(xml->error, OCDM_BAD_RECORD, "a list of labels is <labels><label name=\"...\"/>...</labels>",
                      "%s:%" PRIu64 ":%zu: %s", xml->file.name, line, (size_t)(at - start) + 1, reason);
}

/* ---- characters and names ------------------------------------------------------------------------------------------- */

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void pass_spaces(struct xml *xml)
{
    while (xml->at < xml->end && is_space(*xml->at))
        xml->at++;
}

static bool skip(struct xml *xml, const char *text)
{
    size_t length = strlen(text);
    bool there = (size_t)(xml->end - xml->at) >= length && memcmp(xml->at, text, length) == 0;
    xml->at += there ? length : 0;
    return there;
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '-' || byte == ':' || byte == '.';
}

/* The name that comes next; of length 0 when there is none. */
static size_t take_name(struct xml *xml, const char **name)
{
    *name = xml->at;
    while (xml->at < xml->end && is_name_byte(*xml->at))
        xml->at++;
    return (size_t)(xml->at - *name);
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

static ocdm_status pass_to(struct xml *xml, const char *start, const char *closing)
{
    while (xml->at < xml->end)
        if (skip(xml, closing))
            return OCDM_OK;
        else
            xml->at++;
    return fail_at(xml, start, "%s is missing", closing);
}

/* ---- attribute values ----------------------------------------------------------------------------------------------- */

static ocdm_status add_byte(struct xml *xml, const char *at, unsigned byte)
{
    if (xml->name_length == LONGEST_NAME)
        return fail_at(xml, at, "a value of over %d bytes", LONGEST_NAME);
    xml->name[xml->name_length++] = (char)byte;
    return OCDM_OK;
}

/* &#955; or &#x3BB;, after the #. */
static ocdm_status add_numbered(struct xml *xml, const char *start)
{
    uint32_t base = skip(xml, "x") ? 16 : 10, code = 0;
    const char *digits = xml->at;
    for (; xml->at < xml->end && code <= 0x10FFFF; xml->at++) {
        char byte = *xml->at, lower = (char)(byte | 0x20);
        uint32_t digit = byte >= '0' && byte <= '9'     ? (uint32_t)(byte - '0')
                         : lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a') + 10
                                                        : 16;
        if (digit >= base)
            break;
        code = code * base + digit;
    }
    if (xml->at == digits || !skip(xml, ";"))
        return fail_at(xml, start, "an entity that is not known");
    if (code < 0x20 || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
        return fail_at(xml, start, "a character that a label cannot have");
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned leads[] = {0, 0xC0, 0xE0, 0xF0};
    OCDM_TRY(add_byte(xml, start, leads[more] | code >> (6 * more)));
    while (more-- > 0)
        OCDM_TRY(add_byte(xml, start, 0x80 | (code >> (6 * more) & 0x3F)));
    return OCDM_OK;
}

static ocdm_status add_entity(struct xml *xml)
{
    static const struct {
        const char *name;
        char stands_for;
    } known[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    const char *start = xml->at++;
    if (skip(xml, "#"))
        return add_numbered(xml, start);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (skip(xml, known[i].name))
            return add_byte(xml, start, (unsigned char)known[i].stands_for);
    return fail_at(xml, start, "an entity that is not known");
}

static ocdm_status add_plain(struct xml *xml)
{
    const unsigned char *at = (const unsigned char *)xml->at;
    size_t length = ocdm__utf8_sequence(at, (const unsigned char *)xml->end);
    if (length == 0)
        return fail_at(xml, xml->at, "invalid UTF-8");
    if (*at < 0x20 || *at == '<')
        return fail_at(xml, xml->at, "a character that a label cannot have");
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < length; i++)
        status = add_byte(xml, xml->at, at[i]);
    xml->at += length;
    return status;
}

/* The current quoted value, entities undone, to `name`. */
static ocdm_status read_value(struct xml *xml)
{
    const char *start = xml->at;
    if (xml->at == xml->end || (*xml->at != '"' && *xml->at != '\''))
        return fail_at(xml, xml->at, "a value in quotes is missing");
    char quote = *xml->at++;
    xml->name_length = 0;
    while (xml->at < xml->end && *xml->at != quote)
        OCDM_TRY(*xml->at == '&' ? add_entity(xml) : add_plain(xml));
    if (xml->at == xml->end)
        return fail_at(xml, start, "a quote that is not closed");
    xml->at++;
    return OCDM_OK;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

/* The label whose name was read, at `at`. */
static ocdm_status take_label(struct xml *xml, const char *at)
{
    char reason[OCDM__MULAN_REASON] = "";
    memset(xml->name + xml->name_length, 0, OCDM__LABEL_PADDING);
    ocdm_status status = xml->take(xml->context, xml->name, xml->name_length, reason, xml->error);
    xml->label_count++;
    return status == OCDM_BAD_RECORD ? fail_at(xml, at, "%s", reason) : status;
}

/* The attributes of the current element up to > or />. A label must have a name. */
static ocdm_status read_attributes(struct xml *xml, bool label, bool *empty)
{
    for (;;) {
        const char *name, *start = xml->at;
        pass_spaces(xml);
        if (skip(xml, ">"))
            return OCDM_OK;
        *empty = skip(xml, "/>");
        if (*empty)
            return OCDM_OK;
        size_t length = take_name(xml, &name);
        if (length == 0 || name == start)
            return fail_at(xml, xml->at, "an element that does not end");
        pass_spaces(xml);
        if (!skip(xml, "="))
            return fail_at(xml, xml->at, "= is missing");
        pass_spaces(xml);
        const char *value = xml->at;
        ocdm_status status = read_value(xml);
        if (status == OCDM_OK && label && is_text(name, length, "name")) {
            status = xml->has_name ? fail_at(xml, name, "a label with two names") : take_label(xml, value);
            xml->has_name = true;
        }
        if (status != OCDM_OK)
            return status;
    }
}

static ocdm_status read_start(struct xml *xml, const char *start)
{
    const char *name;
    bool empty = false;
    size_t length = take_name(xml, &name);
    bool label = is_text(name, length, "label");
    if (!label && !is_text(name, length, "labels"))
        return fail_at(xml, start, "an element other than labels and label");
    if (label ? !xml->inside || xml->closed : xml->inside)
        return fail_at(xml, start, label ? "a label outside of labels" : "labels inside or after labels");
    xml->has_name = false;
    ocdm_status status = read_attributes(xml, label, &empty);
    if (status == OCDM_OK && label && !xml->has_name)
        status = fail_at(xml, start, "a label without a name");
    xml->inside = true;
    xml->closed = !label && empty;
    xml->open_labels += label && !empty;
    return status;
}

static ocdm_status read_end(struct xml *xml, const char *start)
{
    const char *name;
    size_t length = take_name(xml, &name);
    bool label = is_text(name, length, "label");
    pass_spaces(xml);
    bool fits =
        label ? xml->open_labels > 0 : is_text(name, length, "labels") && xml->inside && !xml->closed && xml->open_labels == 0;
    if (!fits || !skip(xml, ">"))
        return fail_at(xml, start, "an end of an element that is not open");
    xml->open_labels -= label;
    xml->closed = !label;
    return OCDM_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

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
            OCDM_TRY(skip(xml, "<") ? read_start(xml, start) : fail_at(xml, start, "text outside of elements"));
    }
    if (!xml->closed)
        OCDM_TRY(fail_at(xml, xml->end, "the file ends before </labels>"));
    if (xml->label_count == 0)
        OCDM_TRY(fail_at(xml, (const char *)xml->file.bytes, "there is no label"));
    return OCDM_OK;
}

ocdm_status ocdm__mulan_xml_read(const char *path, ocdm__mulan_label *take, void *context, ocdm_error *error)
{
    struct xml xml = {.take = take, .context = context, .error = error};
    OCDM_TRY(ocdm__map_file(&xml.file, path, error));
    xml.at = (const char *)xml.file.bytes;
    xml.end = xml.at + xml.file.size;
    skip(&xml, "\xEF\xBB\xBF");
    ocdm_status status = read_elements(&xml);
    ocdm__unmap_file(&xml.file);
    return status;
}
