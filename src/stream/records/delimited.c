/*
 * CSV, TSV, LIBSVM and XMC records.
 *
 * CSV and TSV have a header that names the columns. CSV quotes follow RFC 4180: a field may be quoted and then contain
 * delimiters, line ends and, doubled, quotes; a quote inside a field that does not start with one is an ordinary character. TSV
 * has no quoting. The labels are one field, split at the separator; spaces and tabs around a label and empty labels are
 * ignored.
 *
 * A LIBSVM or XMC line has labels, comma-separated, then features as name:value, separated by spaces or tabs. A line that
 * starts with a blank or with a feature has no label. A # at the start of a token starts a comment. XMC files start with a line
 * of three numbers: samples, features, labels.
 */
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/records/state.h"

/* A field: positions of its content in the window, quotes aside. */
struct field {
    size_t at, end;
    bool doubled; /* it has doubled quotes, which mean one quote each */
};

/* Iterates over the fields of a record. */
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

static inline enum ocdm__csv_state after_byte(enum ocdm__csv_state state, char delimiter, char byte)
{
    if (byte == '"')
        return state == OCDM__CSV_FIELD_START || state == OCDM__CSV_QUOTE_IN_QUOTED ? OCDM__CSV_QUOTED
               : state == OCDM__CSV_QUOTED                                          ? OCDM__CSV_QUOTE_IN_QUOTED
                                                                                    : OCDM__CSV_PLAIN;
    if (state == OCDM__CSV_QUOTED)
        return state;
    return byte == delimiter ? OCDM__CSV_FIELD_START : OCDM__CSV_PLAIN;
}

/* Lines without a quote, which most are, need no scan: only the state after the last byte matters. */
size_t ocdm__find_csv_end(enum ocdm__csv_state *state, char delimiter, const char *bytes, size_t size)
{
    const char *newline = memchr(bytes, '\n', size);
    size_t line = newline ? (size_t)(newline - bytes) : size;
    if (*state != OCDM__CSV_QUOTED && line > 0 && !memchr(bytes, '"', line)) {
        *state = after_byte(OCDM__CSV_PLAIN, delimiter, bytes[line - 1]);
        return line;
    }
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n' && *state != OCDM__CSV_QUOTED)
            return i;
        *state = after_byte(*state, delimiter, bytes[i]);
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
                          .delimiter = records->delimiter,
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

/* Copies a field's content with doubled quotes reduced to one; `out` has room for end - at bytes. Returns its length. */
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

static size_t without_return(const char *line, size_t length)
{
    return length - (length > 0 && line[length - 1] == '\r');
}

static ocdm_status fail_columns(const ocdm__records *records, const ocdm__record_place *place, const char *name,
                                const char *trouble, ocdm_error *error)
{
    bool other = records->options.delimiter == NULL && memchr(records->header, ';', records->header_length) != NULL &&
                 records->format == OCDM__FORMAT_CSV && memchr(records->header, ',', records->header_length) == NULL;
    return ocdm__bad_record(records, place, place->at, error,
                            other ? "`--delimiter ';'`, if that is between the columns"
                                  : "`--labels NAME` and `--id NAME` say which columns they are; a file without a header needs "
                                    "one: sed '1i id,labels' FILE",
                            "%s \"%s\"; the columns are: %.*s", trouble, name,
                            (int)without_return(records->header, records->header_length), records->header);
}

/* Notes the column if it has the name; SIZE_MAX means none yet. */
static bool match_column(const char *text, size_t length, const char *name, size_t number, size_t *column)
{
    if (length != strlen(name) || memcmp(text, name, length) != 0)
        return true;
    bool first = *column == SIZE_MAX;
    *column = number;
    return first;
}

/* Where the names of the columns of --one-hot begin and end: FIRST:LAST, or what precedes the * of PREFIX*. */
struct hot_range {
    const char *first, *last; /* last is NULL for a prefix */
    size_t first_length, last_length;
};

static struct hot_range read_range(const char *text)
{
    size_t length = strlen(text);
    const char *colon = strchr(text, ':');
    if (length > 0 && text[length - 1] == '*')
        return (struct hot_range){.first = text, .first_length = length - 1};
    if (colon == NULL)
        return (struct hot_range){.first = text, .first_length = length, .last = text, .last_length = length};
    return (struct hot_range){.first = text,
                              .first_length = (size_t)(colon - text),
                              .last = colon + 1,
                              .last_length = length - (size_t)(colon - text) - 1};
}

static bool is_text(const char *text, size_t length, const char *other, size_t other_length)
{
    return length == other_length && memcmp(text, other, length) == 0;
}

/* Whether a column is one of --one-hot; ranges run from the first column to the last, whatever is between. */
static bool is_hot(ocdm__records *records, const struct hot_range *range, const char *name, size_t length)
{
    if (range->last == NULL)
        return length > range->first_length && memcmp(name, range->first, range->first_length) == 0;
    bool first = is_text(name, length, range->first, range->first_length);
    bool last = is_text(name, length, range->last, range->last_length);
    bool inside = records->in_range || first;
    records->in_range = inside && !last;
    return inside;
}

/* Notes the name of a column if it is one of --one-hot. Room for all of them is there. */
static ocdm_status note_hot(ocdm__records *records, size_t number, const char *name, size_t length, ocdm_error *error)
{
    struct hot_range range = read_range(records->options.one_hot);
    if (number == 0) {
        size_t columns = records->header_length + 1;
        records->hot = ocdm__allocate(columns, sizeof *records->hot);
        records->hot_at = ocdm__allocate(columns, sizeof *records->hot_at);
        records->hot_names = ocdm__allocate(2 * columns + OCDM__LABEL_PADDING, 1);
        if (records->hot == NULL || records->hot_at == NULL || records->hot_names == NULL)
            return ocdm__fail_memory(error, "the columns");
    }
    if (!is_hot(records, &range, name, length))
        return OCDM_OK;
    size_t cut = range.last == NULL ? range.first_length : 0;
    records->hot[number] = 1;
    records->hot_at[number] = (uint32_t)records->hot_used;
    memcpy(records->hot_names + records->hot_used, name + cut, length - cut);
    records->hot_used += length - cut + 1;
    return OCDM_OK;
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
        if (records->options.one_hot != NULL)
            status = note_hot(records, number, records->scratch, length, error);
        else if (!match_column(records->scratch, length, records->labels.text, number, &records->label_column))
            return fail_columns(records, place, records->labels.text, "two columns named", error);
        if (!records->options.no_id && !match_column(records->scratch, length, records->id.text, number, &records->id_column))
            return fail_columns(records, place, records->id.text, "two columns named", error);
        records->column_count = number + 1;
    }
    return status;
}

bool ocdm__is_header_again(const ocdm__records *records, const ocdm__record_place *place, bool *other)
{
    const char *line = records->input.data + place->at;
    size_t length = without_return(line, place->end - place->at),
           wanted = without_return(records->header, records->header_length);
    if (length == wanted && memcmp(line, records->header, length) == 0)
        return true;
    if (!records->file_begins)
        return false;
    struct split split = begin_split((ocdm__records *)records, place, NULL);
    struct field field;
    while (!split.done && next_field(&split, &field) == OCDM_OK)
        if (!field.doubled && field.end - field.at == strlen(records->labels.text) &&
            memcmp(records->input.data + field.at, records->labels.text, field.end - field.at) == 0)
            *other = true;
    return false;
}

ocdm_status ocdm__read_header(ocdm__records *records, const ocdm__record_place *place, ocdm_error *error)
{
    records->header_length = place->end - place->at;
    records->header = ocdm__allocate(records->header_length, 1);
    if (!records->header)
        return ocdm__fail_memory(error, "the header");
    memcpy(records->header, records->input.data + place->at, records->header_length);
    ocdm_status status = ocdm__check_text(records, place, error);
    OCDM_THEN(status, find_columns(records, place, error));
    if (status != OCDM_OK)
        return status;
    if (records->options.one_hot != NULL && (records->hot_used == 0 || records->in_range))
        return fail_columns(records, place, records->options.one_hot, "no columns", error);
    if (records->label_column == SIZE_MAX && records->options.one_hot == NULL)
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

/* Notes one label without the spaces around it. */
static ocdm_status add_trimmed(ocdm__records *records, const ocdm__record_place *place, size_t position, const char *text,
                               size_t length, ocdm_error *error)
{
    while (length > 0 && is_space(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_space(text[length - 1]))
        length--;
    return length > 0 ? ocdm__add_piece(records, place, position, text, length, error) : OCDM_OK;
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

ocdm_status ocdm__add_separated(ocdm__records *records, const ocdm__record_place *place, size_t position, const char *at,
                                const char *end, ocdm_error *error)
{
    const char *separator = records->options.separator != NULL ? records->options.separator : ";";
    size_t size = strlen(separator);
    for (;;) {
        const char *cut = find_separator(at, end, separator, size);
        ocdm_status status = add_trimmed(records, place, position, at, (size_t)(cut - at), error);
        if (status != OCDM_OK || cut == end)
            return status;
        at = cut + size;
    }
}

/* The end of a quoted word of a list, from after its opening quote; `end` when it has none. A backslash keeps what follows. */
static const char *word_end(const char *at, const char *end, char quote)
{
    for (; at < end && *at != quote; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at;
}

/* A cell that is a list of JSON or Python: ['a', "b", 3] or (a, b). Words in quotes are taken as they are. */
static ocdm_status read_list(struct split *split, size_t position, const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    if (at == end)
        return OCDM_OK;
    if (end - at < 2 || strchr("[({", *at) == NULL || strchr("])}", end[-1]) == NULL)
        return ocdm__bad_record(split->records, split->place, position, split->error, NULL,
                                "the labels are no list such as ['a', 'b']");
    for (at++, end--; at < end;) {
        while (at < end && (is_space(*at) || *at == ','))
            at++;
        bool quoted = at < end && (*at == '\'' || *at == '"');
        const char *word = at + quoted, *stop = quoted ? word_end(word, end, *at) : memchr(at, ',', (size_t)(end - at));
        if (quoted && stop == end)
            return ocdm__bad_record(split->records, split->place, position, split->error, NULL,
                                    "a word of a list has no closing quote");
        stop = stop == NULL ? end : stop;
        ocdm_status status = add_trimmed(split->records, split->place, position, word, (size_t)(stop - word), split->error);
        if (status != OCDM_OK)
            return status;
        at = stop + quoted;
    }
    return OCDM_OK;
}

/* Whether a cell of a column of zeros and ones is 1; `good` is false when it is neither. */
static bool is_one(const char *at, size_t length, bool *good)
{
    static const char *const ones[] = {"1", "1.0", "true", "True", "TRUE"}, *const zeros[] = {"0",     "0.0",   "false",
                                                                                              "False", "FALSE", ""};
    while (length > 0 && is_space(*at)) {
        at++;
        length--;
    }
    while (length > 0 && is_space(at[length - 1]))
        length--;
    *good = true;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (is_text(at, length, ones[i], strlen(ones[i])))
            return true;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (is_text(at, length, zeros[i], strlen(zeros[i])))
            return false;
    *good = false;
    return false;
}

static ocdm_status read_hot(ocdm__records *records, struct split *split, const struct field *field, size_t column)
{
    bool good;
    const char *label = records->hot_names + records->hot_at[column];
    bool one = is_one(records->input.data + field->at, field->end - field->at, &good);
    if (!good)
        return ocdm__bad_record(records, split->place, field->at, split->error, NULL, "the column \"%s\" has neither 0 nor 1",
                                label);
    return one ? ocdm__add_piece(records, split->place, field->at, label, strlen(label), split->error) : OCDM_OK;
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
    if (records->options.label_form == OCDM__LABELS_LIST)
        return read_list(split, field->at, at, end);
    return ocdm__add_separated(records, split->place, field->at, at, end, split->error);
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
        if (status == OCDM_OK && records->hot != NULL && *count < records->column_count && records->hot[*count])
            status = read_hot(records, split, &field, *count);
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
    OCDM_THEN(status, read_columns(records, &split, record, &count));
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
    OCDM_THEN(status, check_features(records, place, at, end, error));
    return status == OCDM_OK ? ocdm__add_labels(records, record, error) : status;
}
