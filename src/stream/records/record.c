/*
 * The record reader: opens an input and detects its format, finds the bytes of each record, and returns the good records one
 * after another. A line that is too long to be kept is skipped in the space of one read. Labels and ids are in arrays that grow
 * to what the largest batch needs and are reused.
 */
#include "stream/records/record.h"

#include <strings.h>

#include "base/text.h"

/* ---- labels and ids ------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__grow_pieces(ocdm__records *records, const char *at)
{
    if (records->piece_count == OCDM_MAX_LABELS)
        return ocdm__bad_record(records, at, NULL, "more than %u labels on one record", OCDM_MAX_LABELS);
    if (!ocdm__reserve(&records->pieces, &records->piece_room, records->piece_count + 1, sizeof *records->pieces))
        return ocdm__fail_memory(&records->why, "the labels of a record");
    if (records->piece_room > OCDM_MAX_LABELS)
        records->piece_room = OCDM_MAX_LABELS;
    return OCDM_OK;
}

ocdm_status ocdm__reserve_scratch(ocdm__records *records, size_t length)
{
    if (!ocdm__reserve(&records->scratch, &records->scratch_room, length + OCDM__LABEL_PADDING, 1))
        return ocdm__fail_memory(&records->why, "the labels of a record");
    return OCDM_OK;
}

ocdm_status ocdm__add_labels(ocdm__records *records, ocdm__record *record)
{
    size_t needed = records->number_count + records->piece_count;
    if (needed > records->number_room &&
        !ocdm__reserve(&records->numbers, &records->number_room, needed, sizeof *records->numbers))
        return ocdm__fail_memory(&records->why, "the labels of a batch");
    for (size_t i = 0; i < records->piece_count; i++) {
        const ocdm__label_piece *piece = &records->pieces[i];
        OCDM_TRY(ocdm__label_table_add_padded(&records->table, piece->text, piece->length,
                                              &records->numbers[records->number_count + i], &records->why));
    }
    record->label_at = records->number_count;
    record->label_count = records->piece_count;
    records->separated |= records->piece_count > 1;
    records->number_count += records->piece_count;
    return OCDM_OK;
}

ocdm_status ocdm__grow_ids(ocdm__records *records, size_t length)
{
    if (!ocdm__reserve(&records->ids, &records->id_room, records->id_used + length + OCDM__INPUT_PADDING, 1))
        return ocdm__fail_memory(&records->why, "the ids of a batch");
    return OCDM_OK;
}

/* Splits a dotted path. OCDM_OK, OCDM_BAD_ARGUMENT (an empty part), OCDM_NO_MEMORY. */
static ocdm_status split_path(const char *text, ocdm__name_path *path, ocdm_error *error)
{
    path->text = text;
    path->part_count = 1;
    for (const char *dot = strchr(text, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
        path->part_count++;
    OCDM_TRY(ocdm__new(&path->parts, path->part_count, sizeof *path->parts, "a name", error));
    for (size_t i = 0; i < path->part_count; i++) {
        size_t length = strcspn(text, ".");
        if (length == 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a path is names with single dots between them, such as meta.labels",
                              "the path \"%s\" has an empty part", path->text);
        path->parts[i] = (ocdm__label_piece){.text = text, .length = length};
        text += length + 1;
    }
    path->length = strlen(path->text);
    path->simple = path->part_count == 1 && path->length <= sizeof path->words;
    if (path->simple)
        memcpy(path->words, path->text, path->length);
    return OCDM_OK;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

/* Unused bytes in the window that are not worth a move. */
#define LARGEST_GAP ((size_t)64 * 1024)

/* The end of the line or csv record, from `from` on; the window's size when it is not there yet. */
static inline size_t find_end(const ocdm__records *records, enum ocdm__csv_state *state, size_t from)
{
    const char *data = records->input.data;
    size_t size = records->input.size;
    if (records->format == OCDM__FORMAT_CSV)
        return from + ocdm__find_csv_end(state, records->delimiter, data + from, size - from);
    const char *newline = memchr(data + from, '\n', size - from);
    return newline ? (size_t)(newline - data) : size;
}

static uint64_t count_newlines(const char *bytes, size_t size)
{
    uint64_t count = 0;
    const char *end = bytes + size;
    while (bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        count++;
        bytes++;
    }
    return count;
}

/* Moves past the record that ends at `end`, and its end of line if it is in the window. */
static void move_past(ocdm__records *records, size_t end)
{
    if (records->format == OCDM__FORMAT_CSV)
        records->line += count_newlines(records->input.data + records->next, end - records->next);
    records->line++;
    records->next = end < records->input.size ? end + 1 : end;
}

static const char *hint_of(const ocdm__records *records)
{
    return records->options.hint && !records->options.skip_bad ? records->options.hint : "";
}

/* Makes the second line of a csv record with several lines the next to be read; false for other records. */
static bool resume_after_first_line(ocdm__records *records)
{
    const char *data = records->input.data;
    const char *newline = memchr(data + records->place.at, '\n', records->place.end - records->place.at);
    if (records->format != OCDM__FORMAT_CSV || !newline)
        return false;
    records->next = (size_t)(newline - data) + 1;
    records->line = records->place.line + 1;
    return true;
}

/* With skip_bad the rest of the record at `next` is discarded; its first `end - next` bytes, without its end, are in the
 * window. */
static ocdm_status fail_too_long(ocdm__records *records, enum ocdm__csv_state *state, size_t end)
{
    ocdm__input *input = &records->input;
    if (records->options.skip_bad && !resume_after_first_line(records)) {
        while (end == input->size && !input->ended && !input->stopped) {
            if (records->format == OCDM__FORMAT_CSV)
                records->line += count_newlines(input->data + records->next, end - records->next);
            ocdm__input_remove(input, records->next, end);
            OCDM_TRY(ocdm__input_fill(input, &records->why));
            end = find_end(records, state, records->next);
        }
        move_past(records, end);
    }
    return ocdm__fail(&records->why, OCDM_BAD_RECORD, hint_of(records), "%s:%llu:%zu: a record of over 64 MiB",
                      records->input.name, (unsigned long long)records->place.line, OCDM__MAX_RECORD + 1);
}

/* Removes what was skipped since the last good record from the window if it is large enough to be worth a move, so that any
 * number of bad records and blank lines may be between two good ones. The current place is invalid afterwards. */
static void close_gap(ocdm__records *records)
{
    if (records->next - records->kept < LARGEST_GAP)
        return;
    ocdm__input_remove(&records->input, records->kept, records->next);
    records->next = records->kept;
}

static bool ends_with(const char *path, size_t length, const char *extension)
{
    size_t wanted = strlen(extension);
    return length > wanted && strncasecmp(path + length - wanted, extension, wanted) == 0;
}

/* The format that an extension tells, under that of compression. */
static enum ocdm__record_format format_of_path(const char *path)
{
    static const struct {
        const char *extension;
        enum ocdm__record_format format;
    } known[] = {{".jsonl", OCDM__FORMAT_JSONL}, {".ndjson", OCDM__FORMAT_JSONL}, {".csv", OCDM__FORMAT_CSV},
                 {".tsv", OCDM__FORMAT_TSV},     {".tab", OCDM__FORMAT_TSV},      {".svm", OCDM__FORMAT_SVM},
                 {".libsvm", OCDM__FORMAT_SVM}};
    size_t length = path == NULL ? 0 : strlen(path);
    length -= ends_with(path, length, ".gz") ? 3 : ends_with(path, length, ".zst") ? 4 : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(path, length, known[i].extension))
            return known[i].format;
    return OCDM__FORMAT_AUTO;
}

static ocdm_status pass_byte_order_mark(ocdm__records *records)
{
    ocdm__input *input = &records->input;
    while (input->size - records->next < 3 && !input->ended && !input->stopped) {
        OCDM_TRY(ocdm__input_fill(input, &records->why));
    }
    if (input->size - records->next >= 3 && memcmp(input->data + records->next, "\xEF\xBB\xBF", 3) == 0)
        records->next += 3;
    return OCDM_OK;
}

/* Continues with the next file. The bytes in the window, which have all been read, stay there. */
static ocdm_status next_file(ocdm__records *records)
{
    const char *path = *records->paths++;
    enum ocdm__record_format format = format_of_path(path);
    records->path_count--;
    if (records->format == OCDM__FORMAT_AUTO)
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "`--format` tells it",
                          "%s is empty, so that the format is not known", records->input.name);
    if (records->options.format == OCDM__FORMAT_AUTO && format != OCDM__FORMAT_AUTO && format != records->format)
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "records of one kind at a time, or `--format` for all of them",
                          "%s is %s by its name, and the files before it are %s", path, ocdm__format_names[format],
                          ocdm__format_names[records->format]);
    ocdm_status status = ocdm__input_next_file(&records->input, path, &records->why);
    OCDM_THEN(status, ocdm__records_sniff(records, records->next));
    records->line = 1;
    records->file_at = records->next;
    records->file_begins = true;
    OCDM_THEN(status, pass_byte_order_mark(records));
    OCDM_THEN(status, ocdm__check_json(records));
    return status;
}

static ocdm_status find_line(ocdm__records *records, bool *found)
{
    ocdm__input *input = &records->input;
    enum ocdm__csv_state state = OCDM__CSV_FIELD_START;
    size_t scanned = records->next;
    for (;;) {
        size_t end = find_end(records, &state, scanned);
        records->place.line = records->line;
        records->place.at = records->next;
        records->place.line_at = records->line == 1 ? records->file_at : records->next;
        records->place.end = end;
        if (end - records->place.at > OCDM__MAX_RECORD)
            return fail_too_long(records, &state, end);
        *found = end < input->size || (input->ended && end > records->place.at);
        if (*found) {
            move_past(records, end);
            return OCDM_OK;
        }
        if (input->stopped || (input->ended && records->path_count == 0))
            return OCDM_OK;
        OCDM_TRY(input->ended ? next_file(records) : ocdm__input_fill(input, &records->why));
        scanned = records->next > end ? records->next : end;
    }
}

/* Whether a line is no record. A csv line of spaces is a record: its one field is spaces. */
static inline bool is_blank(const ocdm__records *records)
{
    const char *at = ocdm__current(records), *end = at + ocdm__current_length(records);
    bool fields = records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV;
    while (at < end && (*at == '\r' || (!fields && (*at == ' ' || *at == '\t'))))
        at++;
    return at == end || (*at == '#' && records->format == OCDM__FORMAT_SVM);
}

/* Finds the next line that is not blank, or, in csv, the lines of the next record; found = false at the end. Too long a record
 * is bad. The place is what the reader moves past either way. */
static ocdm_status next_place(ocdm__records *records, bool *found)
{
    for (;;) {
        ocdm_status status = find_line(records, found);
        if (status != OCDM_OK || !*found)
            return status;
        if (!is_blank(records)) {
            /* A line that is the header again is no record; another header is an error where a file begins. */
            bool again = false, other = false, begins = records->file_begins;
            size_t length = ocdm__current_length(records);
            if (records->header != NULL)
                again = ocdm__is_header_again(records, &other);
            else if (begins && records->format == OCDM__FORMAT_SVM)
                again = ocdm__is_xmc_header(ocdm__current(records), length);
            records->file_begins = false;
            if (other && begins)
                return ocdm__fail(&records->why, OCDM_BAD_RECORD, "files that are read together have the same columns",
                                  "%s:%llu:1: another header than that of the first file: %.*s", records->input.name,
                                  (unsigned long long)records->place.line, (int)(length < 200 ? length : 200),
                                  ocdm__current(records));
            if (!again)
                return OCDM_OK;
        }
        close_gap(records);
    }
}

ocdm__place ocdm__record_place_of(const ocdm__records *records, const char *at)
{
    const char *start = records->input.data + records->place.line_at, *line_at = at;
    while (line_at > start && line_at[-1] != '\n')
        line_at--;
    return (ocdm__place){records->place.line + count_newlines(start, (size_t)(at - start)), (uint64_t)(at - line_at) + 1};
}

ocdm_status ocdm__bad_record(ocdm__records *records, const char *at, const char *hint, const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail_at(records->input.name, ocdm__record_place_of(records, at), OCDM_BAD_RECORD, &records->why,
                         hint ? hint : hint_of(records), "%s", reason);
}

ocdm_status ocdm__check_text(ocdm__records *records)
{
    const unsigned char *at = (const unsigned char *)ocdm__current(records), *end = at + ocdm__current_length(records);
    while (at < end) {
        uint64_t word;
        memcpy(&word, at, 8); /* the window is padded */
        uint64_t wanting = ((word - 0x0101010101010101u) | word) & 0x8080808080808080u;
        if (!wanting) {
            at += 8;
            continue;
        }
        size_t length = ocdm__utf8_sequence(at, end);
        if (length == 0 || *at == 0)
            return ocdm__bad_record(records, (const char *)at, NULL, "%s", length ? "a NUL byte" : "invalid UTF-8");
        at += length;
    }
    return OCDM_OK;
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

const char *const ocdm__format_names[] = {"auto", "jsonl", "csv", "tsv", "svm", NULL};

const char *const ocdm__label_form_names[] = {"plain", "list", "multi-hot", NULL};

/* Field by field: copying a whole struct costs more than everything else here. */
static inline void begin_record(const ocdm__records *records, ocdm__record *record)
{
    record->at = records->place.at;
    record->length = records->place.end - records->place.at;
    record->line = records->place.line;
    record->has_id = false;
    record->id_at = record->id_length = 0;
    record->shown_at = record->shown_length = 0;
    record->label_at = record->label_count = 0;
}

static inline ocdm_status read_record(ocdm__records *records, ocdm__record *record)
{
    records->piece_count = 0;
    records->scratch_used = 0;
    records->lost_count = false;
    begin_record(records, record);
    switch (records->format) {
    case OCDM__FORMAT_JSONL:
        if (records->labels.simple && records->id.simple && records->options.separator == NULL) {
            size_t id_used = records->id_used;
            if (ocdm__read_simple(records, record))
                return OCDM_OK;
            begin_record(records, record);
            records->id_used = id_used;
        }
        return ocdm__read_jsonl(records, record);
    case OCDM__FORMAT_CSV:
    case OCDM__FORMAT_TSV:
        return ocdm__read_fields(records, record);
    default:
        return ocdm__read_svm(records, record);
    }
}

static void count_skipped(ocdm__records *records)
{
    if (records->skipped++ == 0)
        records->first_skipped = records->why;
}

/* Hands a failure to the caller. */
static ocdm_status tell(const ocdm__records *records, ocdm_status status, ocdm_error *error)
{
    if (status != OCDM_OK && error != NULL)
        *error = records->why;
    return status;
}

ocdm_status ocdm__records_next(ocdm__records *records, ocdm__record *record, bool *found, ocdm_error *error)
{
    for (;;) {
        ocdm_status status = next_place(records, found);
        size_t id_used = records->id_used;
        if (status == OCDM_OK && *found) {
            status = read_record(records, record);
            records->kept_before = records->kept;
            if (status == OCDM_OK)
                records->kept = records->next;
            else
                records->id_used = id_used;
            records->has_read |= status == OCDM_OK;
        }
        if (status == OCDM_OK)
            return OCDM_OK;
        if (status != OCDM_BAD_RECORD || !records->options.skip_bad)
            return tell(records, status, error);
        count_skipped(records);
        if (records->lost_count)
            resume_after_first_line(records);
        close_gap(records);
    }
}

void ocdm__records_release(ocdm__records *records)
{
    ocdm__input_release(&records->input, records->next);
    records->next = 0;
    records->file_at = 0;
    records->kept = 0;
    records->number_count = 0;
    records->id_used = 0;
}

/* Forgets the last record as if it had not been read. */
static void give_back(ocdm__records *records, const ocdm__record *record)
{
    records->kept = records->kept_before;
    close_gap(records);
    records->number_count = record->label_at;
    if (record->has_id)
        records->id_used = record->id_at;
}

ocdm_status ocdm__records_refuse(ocdm__records *records, const ocdm__record *record, const char *reason, const char *hint,
                                 bool skip, ocdm_error *error)
{
    ocdm_status status =
        ocdm__bad_record(records, ocdm__records_bytes(records, record->at) + record->shown_at, hint, "%s", reason);
    if (!records->options.skip_bad && !skip)
        return tell(records, status, error);
    count_skipped(records);
    give_back(records, record);
    return OCDM_OK;
}

size_t ocdm__records_drop_labels(ocdm__records *records, ocdm__record *record, const uint8_t *listed, size_t count, uint8_t bit,
                                 bool wanted)
{
    uint32_t *labels = records->numbers + record->label_at;
    size_t left = 0;
    for (size_t i = 0; i < record->label_count; i++) {
        bool is_listed = labels[i] < count && (listed[labels[i]] & bit) != 0;
        if (is_listed != wanted)
            labels[left++] = labels[i];
    }
    record->label_count = left;
    if (left == 0)
        give_back(records, record);
    return left;
}

/* ---- telling formats apart ------------------------------------------------------------------------------------------ */

static enum ocdm__record_format format_of_line(const char *line, size_t length)
{
    size_t spaces = 0;
    while (spaces < length && (line[spaces] == ' ' || line[spaces] == '\t'))
        spaces++;
    if (spaces < length && line[spaces] == '{')
        return OCDM__FORMAT_JSONL;
    if (memchr(line, '\t', length))
        return OCDM__FORMAT_TSV;
    if (ocdm__has_feature(line, length) || ocdm__is_xmc_header(line, length))
        return OCDM__FORMAT_SVM;
    return OCDM__FORMAT_CSV;
}

/* The first line that is not blank, which is not skipped even if it is bad. */
static ocdm_status first_place(ocdm__records *records, bool *found)
{
    bool skip_bad = records->options.skip_bad;
    records->options.skip_bad = false;
    ocdm_status status = next_place(records, found);
    records->options.skip_bad = skip_bad;
    return status;
}

/* The same without moving past it; blank lines before it are consumed, since the window cannot hold any number of them. A line
 * that is too long is cut to the limit; reading it later reports the error. */
static ocdm_status peek_place(ocdm__records *records, bool *found)
{
    ocdm_status status = first_place(records, found);
    if (status == OCDM_BAD_RECORD) {
        records->place.end = records->place.at + OCDM__MAX_RECORD;
        *found = true;
        status = OCDM_OK;
    }
    if (status == OCDM_OK && *found) {
        records->next = records->place.at;
        records->line = records->place.line;
    }
    return status;
}

/* ---- opening -------------------------------------------------------------------------------------------------------- */

/* The character between columns. */
static ocdm_status set_delimiter(ocdm__records *records)
{
    const char *delimiter = records->options.delimiter;
    records->delimiter = records->format == OCDM__FORMAT_TSV ? '\t' : delimiter != NULL ? delimiter[0] : ',';
    if (delimiter == NULL)
        return OCDM_OK;
    if (records->format != OCDM__FORMAT_CSV && records->format != OCDM__FORMAT_AUTO)
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "leave it out, or take `--format csv`",
                          "`--delimiter` does not apply to the format %s", ocdm__format_names[records->format]);
    if (strlen(delimiter) == 1 && delimiter[0] > ' ' && delimiter[0] < 0x7F && delimiter[0] != '"')
        return OCDM_OK;
    return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "such as `--delimiter ';'`; `--format tsv` has tabs",
                      "the delimiter \"%s\" is not one ASCII character, other than a quote or a blank", delimiter);
}

/* The names of labels and id, split at dots for jsonl; csv and tsv use the whole. */
static ocdm_status set_names(ocdm__records *records)
{
    const ocdm__record_options *options = &records->options;
    const char *labels = options->labels ? options->labels : "labels", *id = options->id ? options->id : "id";
    records->id_required = options->id != NULL;
    if (options->id && options->no_id)
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "leave one of the two out", "`--id` and `--no-id` are both given");
    if (options->id && strcmp(labels, id) == 0)
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "`--labels` and `--id` name two members or columns",
                          "labels and id have the same name, \"%s\"", id);
    records->labels.text = labels;
    records->id.text = id;
    bool fields = records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV;
    if (records->format != OCDM__FORMAT_AUTO &&
        ((options->one_hot != NULL && !fields) || (options->label_form == OCDM__LABELS_LIST && !fields) ||
         (options->label_form == OCDM__LABELS_MULTI_HOT && records->format != OCDM__FORMAT_JSONL)))
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT,
                          "`--one-hot` and `--label-form list` are for csv and tsv, `--label-form multi-hot` for jsonl",
                          "a flag about labels does not apply to the format %s", ocdm__format_names[records->format]);
    if (records->format == OCDM__FORMAT_SVM && (options->labels || options->id))
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "svm has its labels before the features, and no ids",
                          "`--labels` and `--id` do not apply to the format svm");
    if (records->format != OCDM__FORMAT_JSONL)
        return OCDM_OK;
    ocdm_status status = split_path(labels, &records->labels, &records->why);
    OCDM_THEN(status, split_path(id, &records->id, &records->why));
    if (options->no_id)
        records->id.length = SIZE_MAX; /* no name is that long */
    return status;
}

/* Everything that needs the input's first bytes. */
static ocdm_status begin(ocdm__records *records, const char *path)
{
    const char *separator = records->options.separator;
    const unsigned char *at = (const unsigned char *)separator;
    size_t length = separator != NULL ? strlen(separator) : 0;
    bool found = false;
    /* Before a byte is read: the input may be a pipe that waits. */
    if (separator != NULL &&
        (length == 0 || ocdm__utf8_sequence(at, at + length) != length || strchr("\"\r\n", separator[0]) != NULL))
        return ocdm__fail(&records->why, OCDM_BAD_ARGUMENT, "such as `--sep ';'`",
                          "the separator \"%s\" is not one character, other than a quote or an end of line", separator);
    OCDM_TRY(ocdm__records_sniff(records, 0));
    OCDM_TRY(pass_byte_order_mark(records));
    if (records->format == OCDM__FORMAT_AUTO)
        records->format = format_of_path(path);
    if (records->format == OCDM__FORMAT_AUTO) {
        OCDM_TRY(peek_place(records, &found));
        if (found)
            records->format = format_of_line(ocdm__current(records), ocdm__current_length(records));
    }
    OCDM_TRY(ocdm__check_json(records));
    OCDM_TRY(set_names(records));
    OCDM_TRY(set_delimiter(records));
    if (records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV) {
        OCDM_TRY(first_place(records, &found));
        if (found || records->input.stopped)
            return found ? ocdm__read_header(records) : OCDM_OK;
        return ocdm__fail(&records->why, OCDM_BAD_RECORD, "the first line of a csv or tsv file names its columns",
                          "%s:1:1: the header is missing", records->input.name);
    }
    if (records->format != OCDM__FORMAT_SVM)
        return OCDM_OK;
    OCDM_TRY(peek_place(records, &found));
    bool header = found && ocdm__is_xmc_header(ocdm__current(records), ocdm__current_length(records));
    return header ? first_place(records, &found) : OCDM_OK;
}

ocdm_status ocdm__records_begin(ocdm__records **records, ocdm__input *input, const char *path,
                                const ocdm__record_options *options, ocdm_error *error)
{
    ocdm__records *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL) {
        ocdm__input_close(input);
        return ocdm__fail_memory(error, "the record reader");
    }
    made->input = *input;
    made->options = *options;
    made->format = options->format;
    made->line = 1;
    ocdm_status status = begin(made, path);
    if (status == OCDM_OK) {
        *records = made;
    } else {
        tell(made, status, error);
        ocdm__records_close(made);
    }
    return status;
}

ocdm_status ocdm__records_open(ocdm__records **records, const char *path, const ocdm__record_options *options,
                               const volatile sig_atomic_t *stop, ocdm_error *error)
{
    ocdm__input input;
    OCDM_TRY(ocdm__input_open(&input, path, stop, error));
    return ocdm__records_begin(records, &input, path, options, error);
}

void ocdm__records_follow(ocdm__records *records, char *const *paths, size_t count)
{
    records->paths = paths;
    records->path_count = count;
}

void ocdm__records_close(ocdm__records *records)
{
    if (!records)
        return;
    ocdm__input_close(&records->input);
    ocdm__label_table_clear(&records->table);
    OCDM_RELEASE(records->labels.parts, records->id.parts, records->numbers, records->ids, records->pieces, records->scratch,
                 records->header, records->hot, records->hot_names, records);
}
