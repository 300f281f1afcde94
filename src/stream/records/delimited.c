/*
 * CSV, TSV, LIBSVM and XMC records.
 *
 * CSV and TSV have a header that names the columns. CSV quotes follow RFC 4180: a field may be quoted and then contain commas,
 * line ends and, doubled, quotes; a quote inside a field that does not start with one is an ordinary character. TSV has no
 * quoting. The labels are one field, split at the separator; spaces and tabs around a label and empty labels are ignored.
 *
 * A LIBSVM or XMC line has labels, comma-separated, then features as name:value, separated by spaces or tabs. A line that
 * starts with a blank or with a feature has no label. A # at the start of a token starts a comment. XMC files start with a line
 * of three numbers: samples, features, labels.
 */
#include <string.h>

#include "base/allocate.h"
#include "stream/records/state.h"

/* A field: positions of its content in the window, quotes aside. */
struct field {
    size_t at, end;
    bool doubled; /* it has doubled quotes, each of which stands for one */
};

/* Going through the fields of a record. */
struct split {
    ocdm__records *records;
    const ocdm__record_place *place;
    ocdm_error *error;
    size_t next; /* where the next field starts */
    size_t end;  /* where the record ends, a carriage return aside */
    bool done;
    char delimiter;
    bool quotes;
};

/* ---- the end of a csv record ---------------------------------------------------------------------------------------- */

static inline enum ocdm__csv_state after_byte(enum ocdm__csv_state state, char byte)
{
    if (byte == '"')
        return state == OCDM__CSV_FIELD_START || state == OCDM__CSV_QUOTE_IN_QUOTED ? OCDM__CSV_QUOTED
               : state == OCDM__CSV_QUOTED                                          ? OCDM__CSV_QUOTE_IN_QUOTED
                                                                                    : OCDM__CSV_PLAIN;
    if (state == OCDM__CSV_QUOTED)
        return state;
    return byte == ',' ? OCDM__CSV_FIELD_START : OCDM__CSV_PLAIN;
}

/* Lines without a quote, which most are, need no scan: only the state after the last byte matters. */
size_t ocdm__find_csv_end(enum ocdm__csv_state *state, const char *bytes, size_t size)
{
    const char *newline = memchr(bytes, '\n', size);
    size_t line = newline ? (size_t)(newline - bytes) : size;
    if (*state != OCDM__CSV_QUOTED && line > 0 && !memchr(bytes, '"', line)) {
        *state = after_byte(OCDM__CSV_PLAIN, bytes[line - 1]);
        return line;
    }
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n' && *state != OCDM__CSV_QUOTED)
            return i;
        *state = after_byte(*state, bytes[i]);
    }
    return size;
}

/* ---- fields --------------------------------------------------------------------------------------------------------- */

static struct split begin_split(ocdm__records *records, const ocdm__record_place *place, ocdm_error *error)
{
    bool csv = records->format == OCDM__FORMAT_CSV;
    size_t end = place->end;
    if (end > place->at && records->input.data[end - 1] == '\r')
        end--;
    return (struct split){.records = records,
                          .place = place,
                          .error = error,
                          .next = place->at,
                          .end = end,
                          .delimiter = csv ? ',' : '\t',
                          .quotes = csv};
}

/* The position of the quote that ends the field, or `end` when there is none. */
static size_t find_closing_quote(const struct split *split, struct field *field)
{
    const char *data = split->records->input.data;
    for (size_t at = field->at; at < split->end; at += 2) {
        const char *quote = memchr(data + at, '"', split->end - at);
        if (!quote)
            break;
        at = (size_t)(quote - data);
        if (at + 1 >= split->end || quote[1] != '"')
            return at;
        field->doubled = true;
    }
    return split->end;
}

static ocdm_status read_quoted(struct split *split, struct field *field)
{
    const char *data = split->records->input.data;
    *field = (struct field){.at = split->next + 1};
    field->end = find_closing_quote(split, field);
    split->records->lost_count = true;
    if (field->end == split->end)
        return ocdm__bad_record(split->records, split->place, split->next, split->error, NULL, "a quoted field without an end");
    size_t after = field->end + 1;
    if (after < split->end && data[after] != split->delimiter)
        return ocdm__bad_record(split->records, split->place, after, split->error, NULL,
                                "something follows the closing quote of a field");
    split->records->lost_count = false;
    split->done = after >= split->end;
    split->next = after + 1;
    return OCDM_OK;
}

/* The next field, as long as the split is not done. */
static ocdm_status next_field(struct split *split, struct field *field)
{
    const char *data = split->records->input.data;
    if (split->quotes && split->next < split->end && data[split->next] == '"')
        return read_quoted(split, field);
    const char *delimiter =
        split->next < split->end ? memchr(data + split->next, split->delimiter, split->end - split->next) : NULL;
    *field = (struct field){.at = split->next, .end = delimiter ? (size_t)(delimiter - data) : split->end};
    split->done = !delimiter;
    split->next = field->end + 1;
    return OCDM_OK;
}

/* Copies a field's content, doubled quotes made one; `out` has room for end - at bytes. Returns its length. */
static size_t copy_field(const ocdm__records *records, const struct field *field, char *out)
{
    const char *data = records->input.data;
    size_t length = 0;
    for (size_t at = field->at; at < field->end; at++) {
        out[length++] = data[at];
        at += field->doubled && data[at] == '"';
    }
    return length;
}

/* ---- the header ----------------------------------------------------------------------------------------------------- */

static ocdm_status fail_columns(const ocdm__records *records, const ocdm__record_place *place, const char *name,
                                const char *trouble, ocdm_error *error)
{
    return ocdm__bad_record(records, place, place->at, error, "`--labels NAME` and `--id NAME` say which columns they are",
                            "%s \"%s\"; the columns are: %.*s", trouble, name, (int)records->header_length, records->header);
}

/* Notes the column when it has the name; SIZE_MAX stands for none yet. */
static bool match_column(const char *text, size_t length, const char *name, size_t number, size_t *column)
{
    if (length != strlen(name) || memcmp(text, name, length) != 0)
        return true;
    bool first = *column == SIZE_MAX;
    *column = number;
    return first;
}

static ocdm_status find_columns(ocdm__records *records, const ocdm__record_place *place, ocdm_error *error)
{
    struct split split = begin_split(records, place, error);
    records->label_column = records->id_column = SIZE_MAX;
    ocdm_status status = ocdm__reserve_scratch(records, place->end - place->at, error);
    for (size_t number = 0; status == OCDM_OK && !split.done; number++) {
        struct field field;
        status = next_field(&split, &field);
        if (status != OCDM_OK)
            return status;
        size_t length = copy_field(records, &field, records->scratch);
        if (!match_column(records->scratch, length, records->labels.text, number, &records->label_column))
            return fail_columns(records, place, records->labels.text, "two columns named", error);
        if (!records->options.no_id && !match_column(records->scratch, length, records->id.text, number, &records->id_column))
            return fail_columns(records, place, records->id.text, "two columns named", error);
        records->column_count = number + 1;
    }
    return status;
}

ocdm_status ocdm__read_header(ocdm__records *records, const ocdm__record_place *place, ocdm_error *error)
{
    records->header_length = place->end - place->at;
    records->header = ocdm__allocate(records->header_length, 1);
    if (!records->header)
        return ocdm__fail_memory(error, "the header");
    memcpy(records->header, records->input.data + place->at, records->header_length);
    ocdm_status status = ocdm__check_text(records, place, error);
    if (status == OCDM_OK)
        status = find_columns(records, place, error);
    if (status != OCDM_OK)
        return status;
    if (records->label_column == SIZE_MAX)
        return fail_columns(records, place, records->labels.text, "no column named", error);
    if (records->id_column == SIZE_MAX && records->id_required)
        return fail_columns(records, place, records->id.text, "no column named", error);
    return OCDM_OK;
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

static inline bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Notes one label, the spaces around it taken off. */
static ocdm_status add_label(struct split *split, size_t position, const char *text, size_t length)
{
    while (length > 0 && is_space(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_space(text[length - 1]))
        length--;
    if (length == 0)
        return OCDM_OK;
    return ocdm__add_piece(split->records, split->place, position, text, length, split->error);
}

/* The next separator, or `end`. A character of several bytes never starts inside another. */
static const char *find_separator(const char *at, const char *end, const char *separator, size_t size)
{
    while (at < end) {
        const char *found = memchr(at, separator[0], (size_t)(end - at));
        if (!found)
            break;
        if ((size_t)(end - found) >= size && memcmp(found, separator, size) == 0)
            return found;
        at = found + 1;
    }
    return end;
}

static ocdm_status read_labels(ocdm__records *records, struct split *split, const struct field *field)
{
    const char *at = records->input.data + field->at, *end = records->input.data + field->end;
    if (field->doubled) {
        ocdm_status status = ocdm__reserve_scratch(records, field->end - field->at, split->error);
        if (status != OCDM_OK)
            return status;
        at = records->scratch;
        end = at + copy_field(records, field, records->scratch);
    }
    const char *separator = records->options.separator;
    size_t size = strlen(separator);
    for (;;) {
        const char *cut = find_separator(at, end, separator, size);
        ocdm_status status = add_label(split, field->at, at, (size_t)(cut - at));
        if (status != OCDM_OK || cut == end)
            return status;
        at = cut + size;
    }
}

static ocdm_status read_id(ocdm__records *records, const struct field *field, ocdm__record *record, ocdm_error *error)
{
    ocdm_status status = ocdm__reserve_id(records, field->end - field->at, error);
    if (status == OCDM_OK)
        ocdm__add_id(records, record, copy_field(records, field, records->ids + records->id_used));
    return status;
}

static ocdm_status read_columns(ocdm__records *records, struct split *split, ocdm__record *record, size_t *count)
{
    ocdm_status status = OCDM_OK;
    for (*count = 0; status == OCDM_OK && !split->done; ++*count) {
        struct field field;
        status = next_field(split, &field);
        if (status == OCDM_OK && *count == records->label_column)
            status = read_labels(records, split, &field);
        if (status == OCDM_OK && *count == records->id_column)
            status = read_id(records, &field, record, split->error);
    }
    return status;
}

ocdm_status ocdm__read_fields(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error)
{
    struct split split = begin_split(records, place, error);
    size_t count;
    ocdm_status status = ocdm__check_text(records, place, error);
    if (status == OCDM_OK)
        status = read_columns(records, &split, record, &count);
    if (status != OCDM_OK)
        return status;
    records->lost_count = count != records->column_count;
    if (records->lost_count)
        return ocdm__bad_record(records, place, place->at, error, NULL, "%zu field%s where the header has %zu", count,
                                count == 1 ? "" : "s", records->column_count);
    return ocdm__add_labels(records, record, error);
}

/* ---- LIBSVM and XMC ------------------------------------------------------------------------------------------------- */

static bool is_whole(const char *at, const char *end)
{
    for (const char *digit = at; digit < end; digit++)
        if (*digit < '0' || *digit > '9')
            return false;
    return at < end;
}

bool ocdm__is_xmc_header(const char *line, size_t length)
{
    const char *end = line + length;
    for (int i = 0; i < 3; i++) {
        struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
        if (!is_whole(token.at, token.end))
            return false;
        line = token.end;
    }
    struct ocdm__svm_token rest = ocdm__next_svm_token(line, end);
    return rest.at == rest.end;
}

static bool starts_number(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
}

bool ocdm__has_feature(const char *line, size_t length)
{
    const char *end = line + length;
    for (;;) {
        struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
        if (token.at == token.end)
            return false;
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (colon && is_whole(token.at, colon) && colon + 1 < token.end && starts_number(colon[1]))
            return true;
        line = token.end;
    }
}

static size_t position_of(const ocdm__records *records, const char *at)
{
    return (size_t)(at - records->input.data);
}

static ocdm_status read_svm_labels(ocdm__records *records, const ocdm__record_place *place, struct ocdm__svm_token token,
                                   ocdm_error *error)
{
    for (const char *at = token.at;;) {
        const char *comma = memchr(at, ',', (size_t)(token.end - at));
        const char *end = comma ? comma : token.end;
        if (at == end)
            return ocdm__bad_record(records, place, position_of(records, at), error, NULL, "an empty label");
        ocdm_status status = ocdm__add_piece(records, place, position_of(records, at), at, (size_t)(end - at), error);
        if (status != OCDM_OK || !comma)
            return status;
        at = comma + 1;
    }
}

static ocdm_status check_features(const ocdm__records *records, const ocdm__record_place *place, const char *at,
                                  const char *end, ocdm_error *error)
{
    for (;;) {
        struct ocdm__svm_token token = ocdm__next_svm_token(at, end);
        if (token.at == token.end)
            return OCDM_OK;
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (!colon || colon == token.at || colon + 1 == token.end)
            return ocdm__bad_record(records, place, position_of(records, token.at), error, NULL,
                                    "a feature that is not name:value");
        at = token.end;
    }
}

ocdm_status ocdm__read_svm(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error)
{
    const char *at = records->input.data + place->at, *end = records->input.data + place->end;
    ocdm_status status = ocdm__check_text(records, place, error);
    struct ocdm__svm_token first = ocdm__next_svm_token(at, end);
    if (status == OCDM_OK && first.at == at && !memchr(at, ':', (size_t)(first.end - at))) {
        status = read_svm_labels(records, place, first, error);
        at = first.end;
    }
    if (status == OCDM_OK)
        status = check_features(records, place, at, end, error);
    return status == OCDM_OK ? ocdm__add_labels(records, record, error) : status;
}
