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
#include "stream/records/record.h"

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

struct ocdm__fields ocdm__fields_of(const char *text, size_t length, char delimiter)
{
    length -= length > 0 && text[length - 1] == '\r';
    return (struct ocdm__fields){.next = text, .end = text + length, .delimiter = delimiter};
}

bool ocdm__next_field(struct ocdm__fields *fields, struct ocdm__field *field)
{
    const char *start = fields->next, *end = fields->end;
    if (start == NULL)
        return false;
    if (fields->delimiter == '\t' || start == end || *start != '"') {
        const char *stop = start < end ? memchr(start, fields->delimiter, (size_t)(end - start)) : NULL;
        *field = (struct ocdm__field){.at = start, .end = stop != NULL ? stop : end};
        fields->next = stop != NULL ? stop + 1 : NULL;
        return true;
    }
    *field = (struct ocdm__field){.at = start + 1, .end = end, .quoted = true};
    /* The quote that ends the field; a doubled one is part of it. */
    for (const char *at = field->at; at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL; at += 2) {
        if (at + 1 >= end || at[1] != '"') {
            field->end = at;
            break;
        }
        field->doubled = true;
    }
    const char *after = field->end + 1;
    if (field->end == end) {
        field->trouble = "a quoted field without an end";
        field->trouble_at = start;
    } else if (after < end && *after != fields->delimiter) {
        field->trouble = "something follows the closing quote of a field";
        field->trouble_at = after;
    }
    fields->next = after < end ? after + 1 : NULL;
    return true;
}

size_t ocdm__copy_field(const struct ocdm__field *field, char *out, size_t room)
{
    size_t length = 0;
    for (const char *at = field->at; at < field->end && length < room; at++) {
        out[length++] = *at;
        at += field->doubled && *at == '"';
    }
    return length;
}

static struct ocdm__fields current_fields(const ocdm__records *records)
{
    return ocdm__fields_of(ocdm__current(records), ocdm__current_length(records), records->delimiter);
}

/* Refuses a field with broken quotes. */
static ocdm_status check_field(ocdm__records *records, const struct ocdm__field *field)
{
    if (field->trouble == NULL)
        return OCDM_OK;
    records->lost_count = true;
    return ocdm__bad_record(records, field->trouble_at, NULL, "%s", field->trouble);
}

/* ---- the header ----------------------------------------------------------------------------------------------------- */

static size_t without_return(const char *line, size_t length)
{
    return length - (length > 0 && line[length - 1] == '\r');
}

static ocdm_status fail_columns(ocdm__records *records, const char *name, const char *trouble)
{
    bool other = records->options.delimiter == NULL && memchr(records->header, ';', records->header_length) != NULL &&
                 records->format == OCDM__FORMAT_CSV && memchr(records->header, ',', records->header_length) == NULL;
    return ocdm__bad_record(records, ocdm__current(records),
                            other ? "`--delimiter ';'`, if that is between the columns"
                                  : "`--labels NAME` and `--id NAME` say which columns they are; a file without a header needs "
                                    "one: sed '1i id,labels' FILE",
                            "%s \"%s\"; the columns are: %.*s", trouble, name,
                            (int)without_return(records->header, records->header_length), records->header);
}

/* Notes the column if it has the name; SIZE_MAX means none yet. */
static ocdm_status match_column(ocdm__records *records, const char *text, size_t length, const char *name, size_t number,
                                size_t *column)
{
    if (!ocdm__text_is(text, length, name))
        return OCDM_OK;
    if (*column != SIZE_MAX)
        return fail_columns(records, name, "two columns named");
    *column = number;
    return OCDM_OK;
}

/* Whether a column is one of --one-hot, PREFIX* or FIRST:LAST or one name: ranges run from the first column to the last,
 * whatever is between. Sets how much of a name is cut off. */
static bool is_hot(ocdm__records *records, const char *name, size_t length, size_t *cut)
{
    const char *range = records->options.one_hot, *colon = strchr(range, ':');
    size_t range_length = strlen(range), first_length = colon != NULL ? (size_t)(colon - range) : range_length;
    *cut = 0;
    if (range_length > 0 && range[range_length - 1] == '*') {
        *cut = range_length - 1;
        return length > *cut && memcmp(name, range, *cut) == 0;
    }
    const char *last = colon != NULL ? colon + 1 : range;
    bool inside = records->in_range || (length == first_length && memcmp(name, range, length) == 0);
    records->in_range = inside && !ocdm__text_is(name, length, last);
    return inside;
}

/* Finds the columns by their names, which are copied one after another. */
static ocdm_status find_columns(ocdm__records *records)
{
    struct ocdm__fields fields = current_fields(records);
    struct ocdm__field field;
    size_t room = ocdm__current_length(records), cut;
    char *name = records->hot_names = ocdm__allocate(room + OCDM__LABEL_PADDING, 1);
    records->hot = ocdm__allocate(room + 1, sizeof *records->hot);
    records->label_column = records->id_column = SIZE_MAX;
    if (name == NULL || records->hot == NULL)
        return ocdm__fail_memory(&records->why, "the columns");
    for (size_t number = 0; ocdm__next_field(&fields, &field); number++) {
        OCDM_TRY(check_field(records, &field));
        size_t length = ocdm__copy_field(&field, name, room);
        if (records->options.one_hot == NULL) {
            OCDM_TRY(match_column(records, name, length, records->labels.text, number, &records->label_column));
        } else if (is_hot(records, name, length, &cut)) {
            records->hot[number] = (ocdm__label_piece){name + cut, length - cut};
            records->hot_count++;
        }
        if (!records->options.no_id)
            OCDM_TRY(match_column(records, name, length, records->id.text, number, &records->id_column));
        records->column_count = number + 1;
        name += length;
    }
    return OCDM_OK;
}

bool ocdm__is_header_again(const ocdm__records *records, bool *other)
{
    const char *line = ocdm__current(records), *labels = records->labels.text;
    size_t length = without_return(line, ocdm__current_length(records)),
           wanted = without_return(records->header, records->header_length);
    if (length == wanted && memcmp(line, records->header, length) == 0)
        return true;
    if (!records->file_begins)
        return false;
    struct ocdm__fields fields = current_fields(records);
    for (struct ocdm__field field; ocdm__next_field(&fields, &field) && field.trouble == NULL;)
        *other = *other || (!field.doubled && ocdm__text_is(field.at, (size_t)(field.end - field.at), labels));
    return false;
}

ocdm_status ocdm__read_header(ocdm__records *records)
{
    records->header_length = ocdm__current_length(records);
    OCDM_TRY(ocdm__new(&records->header, records->header_length, 1, "the header", &records->why));
    memcpy(records->header, ocdm__current(records), records->header_length);
    OCDM_TRY(ocdm__check_text(records));
    OCDM_TRY(find_columns(records));
    if (records->options.one_hot != NULL && (records->hot_count == 0 || records->in_range))
        return fail_columns(records, records->options.one_hot, "no columns");
    if (records->label_column == SIZE_MAX && records->options.one_hot == NULL)
        return fail_columns(records, records->labels.text, "no column named");
    if (records->id_column == SIZE_MAX && records->id_required)
        return fail_columns(records, records->id.text, "no column named");
    return OCDM_OK;
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

static inline bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Drops the spaces around what is from *at to *end. */
static inline void trim(const char **at, const char **end)
{
    while (*at < *end && is_space(**at))
        ++*at;
    while (*end > *at && is_space((*end)[-1]))
        --*end;
}

/* Notes one label without the spaces around it. */
static ocdm_status add_trimmed(ocdm__records *records, const char *at, const char *text, const char *end)
{
    trim(&text, &end);
    return text < end ? ocdm__add_piece(records, at, text, (size_t)(end - text)) : OCDM_OK;
}

ocdm_status ocdm__add_separated(ocdm__records *records, const char *at, const char *text, const char *end)
{
    const char *separator = records->options.separator != NULL ? records->options.separator : ";";
    size_t size = strlen(separator);
    for (const char *cut;; text = cut + size) {
        /* The next separator, or the end. A character of several bytes never starts inside another. */
        for (cut = text; cut < end && (cut = memchr(cut, separator[0], (size_t)(end - cut))) != NULL; cut++)
            if ((size_t)(end - cut) >= size && memcmp(cut, separator, size) == 0)
                break;
        cut = cut != NULL ? cut : end;
        OCDM_TRY(add_trimmed(records, at, text, cut));
        if (cut == end)
            return OCDM_OK;
    }
}

/* A cell that is a list of JSON or Python: ['a', "b", 3] or (a, b). Words in quotes are taken as they are. */
static ocdm_status read_list(ocdm__records *records, const char *place, const char *at, const char *end)
{
    trim(&at, &end);
    if (at == end)
        return OCDM_OK;
    if (end - at < 2 || strchr("[({", *at) == NULL || strchr("])}", end[-1]) == NULL)
        return ocdm__bad_record(records, place, NULL, "the labels are no list such as ['a', 'b']");
    for (at++, end--; at < end;) {
        while (at < end && (is_space(*at) || *at == ','))
            at++;
        bool quoted = at < end && (*at == '\'' || *at == '"');
        const char *word = at + quoted, *stop = quoted ? word : memchr(at, ',', (size_t)(end - at));
        for (; quoted && stop < end && *stop != *at; stop++)
            stop += *stop == '\\' && stop + 1 < end; /* a backslash keeps what follows */
        if (quoted && stop == end)
            return ocdm__bad_record(records, place, NULL, "a word of a list has no closing quote");
        stop = stop == NULL ? end : stop;
        OCDM_TRY(add_trimmed(records, place, word, stop));
        at = stop + quoted;
    }
    return OCDM_OK;
}

/* A cell of a column of zeros and ones. */
static ocdm_status read_hot(ocdm__records *records, const struct ocdm__field *field, const ocdm__label_piece *label)
{
    static const struct {
        const char *text;
        bool one;
    } known[] = {{"1", true},    {"1.0", true},    {"true", true},   {"True", true},   {"TRUE", true}, {"0", false},
                 {"0.0", false}, {"false", false}, {"False", false}, {"FALSE", false}, {"", false}};
    const char *at = field->at, *end = field->end;
    trim(&at, &end);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ocdm__text_is(at, (size_t)(end - at), known[i].text))
            return known[i].one ? ocdm__add_piece(records, field->at, label->text, label->length) : OCDM_OK;
    return ocdm__bad_record(records, field->at, NULL, "the column \"%.*s\" has neither 0 nor 1", (int)label->length,
                            label->text);
}

ocdm_status ocdm__read_fields(ocdm__records *records, ocdm__record *record)
{
    struct ocdm__field field;
    size_t count = 0;
    OCDM_TRY(ocdm__check_text(records));
    for (struct ocdm__fields fields = current_fields(records); ocdm__next_field(&fields, &field); count++) {
        OCDM_TRY(check_field(records, &field));
        if (count == records->label_column) {
            const char *at = field.at, *end = field.end;
            if (field.doubled) {
                size_t room = (size_t)(end - at);
                OCDM_TRY(ocdm__reserve_scratch(records, room));
                at = records->scratch;
                end = at + ocdm__copy_field(&field, records->scratch, room);
            }
            OCDM_TRY(records->options.label_form == OCDM__LABELS_LIST ? read_list(records, field.at, at, end)
                                                                      : ocdm__add_separated(records, field.at, at, end));
        }
        if (count < records->column_count && records->hot[count].text != NULL)
            OCDM_TRY(read_hot(records, &field, &records->hot[count]));
        if (count == records->id_column) {
            size_t room = (size_t)(field.end - field.at);
            OCDM_TRY(ocdm__reserve_id(records, room));
            ocdm__add_id(records, record, ocdm__copy_field(&field, records->ids + records->id_used, room));
        }
    }
    records->lost_count = count != records->column_count;
    if (records->lost_count)
        return ocdm__bad_record(records, ocdm__current(records), NULL, "%zu field%s where the header has %zu", count,
                                count == 1 ? "" : "s", records->column_count);
    return ocdm__add_labels(records, record);
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
    struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
    for (int i = 0; i < 3; i++, token = ocdm__next_svm_token(token.end, end))
        if (!is_whole(token.at, token.end))
            return false;
    return token.at == token.end;
}

bool ocdm__has_feature(const char *line, size_t length)
{
    const char *end = line + length;
    struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
    for (; token.at < token.end; token = ocdm__next_svm_token(token.end, end)) {
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (colon != NULL && is_whole(token.at, colon) && colon + 1 < token.end &&
            (is_whole(colon + 1, colon + 2) || memchr("+-.", colon[1], 3) != NULL))
            return true;
    }
    return false;
}

ocdm_status ocdm__read_svm(ocdm__records *records, ocdm__record *record)
{
    const char *at = ocdm__current(records), *end = at + ocdm__current_length(records);
    struct ocdm__svm_token token = ocdm__next_svm_token(at, end);
    OCDM_TRY(ocdm__check_text(records));
    if (token.at == at && memchr(at, ':', (size_t)(token.end - at)) == NULL) {
        for (const char *label = token.at, *comma; label != NULL; label = comma != NULL ? comma + 1 : NULL) {
            comma = memchr(label, ',', (size_t)(token.end - label));
            size_t length = (size_t)((comma != NULL ? comma : token.end) - label);
            if (length == 0)
                return ocdm__bad_record(records, label, NULL, "an empty label");
            OCDM_TRY(ocdm__add_piece(records, label, label, length));
        }
        token = ocdm__next_svm_token(token.end, end);
    }
    for (; token.at < token.end; token = ocdm__next_svm_token(token.end, end)) {
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (colon == NULL || colon == token.at || colon + 1 == token.end)
            return ocdm__bad_record(records, token.at, NULL, "a feature that is not name:value");
    }
    return ocdm__add_labels(records, record);
}
