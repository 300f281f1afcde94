/*
 * Labelled records from a file or pipe: JSON Lines, CSV, TSV, LIBSVM/XMC. Each is parsed in place, in the input's
 * window; labels become numbers, the record's bytes stay as they are.
 *
 *     ocdm__records *records;
 *     if (ocdm__records_open(&records, path, &options, NULL, error) != OCDM_OK) ...
 *     for (;;) {
 *         ocdm__record record;
 *         bool found;
 *         if (ocdm__records_next(records, &record, &found, error) != OCDM_OK) ...
 *         if (!found) break;
 *         use(records->numbers + record.label_at, record.label_count);
 *         ocdm__records_release(records);
 *     }
 *     ocdm__records_close(records);
 *
 * A bad record (not what its format allows, no labels, a NUL byte, invalid UTF-8, over a limit) ends with OCDM_BAD_RECORD and a
 * message that starts with file:line:column, the column in bytes from 1; or, with skip_bad, it is counted and skipped.
 * After a csv record whose quotes or number of fields are wrong, reading goes on at the line after its first, since a stray
 * quote makes a record of all lines up to the next one. Blank lines and a byte order mark at the start are no records. Formats:
 * see jsonl.c and delimited.c.
 */
#ifndef OCDM_STREAM_RECORDS_RECORD_H
#define OCDM_STREAM_RECORDS_RECORD_H

#include "base/input.h"
#include "stream/labelled_set.h"

#include <signal.h>

/* The longest record in bytes, its end of line aside. */
#define OCDM__MAX_RECORD ((size_t)64 * 1024 * 1024)

enum ocdm__record_format {
    OCDM__FORMAT_AUTO = 0, /* by the file's extension, else by the first line */
    OCDM__FORMAT_JSONL,
    OCDM__FORMAT_CSV,
    OCDM__FORMAT_TSV,
    OCDM__FORMAT_SVM
};

/* The names of the formats on the command line, by enum ocdm__record_format, ended by NULL. */
extern const char *const ocdm__format_names[];

/* How labels are written. */
enum ocdm__label_form {
    OCDM__LABELS_PLAIN = 0,
    OCDM__LABELS_LIST,     /* csv, tsv: a cell is a list of JSON or Python */
    OCDM__LABELS_MULTI_HOT /* jsonl: an array of zeros and ones; the label of an element is its position, from 0 */
};

/* The names of the forms, by enum ocdm__label_form, ended by NULL. */
extern const char *const ocdm__label_form_names[];

/* The flags that choose how records are read, the same for every verb that reads them: FLAG(owner, name, value, fallback,
 * choices, help), as in OCDM__SOURCES. ocdm__argument_records makes ocdm__record_options of them. */
#define OCDM__RECORD_FLAGS(FLAG)                                                                                               \
    FLAG("records", "format", "F", "auto", ocdm__format_names, "what the records are")                                         \
    FLAG("records", "labels", "NAME", NULL, NULL, "the member or column with the labels, `labels` by default")                 \
    FLAG("records", "id", "NAME", NULL, NULL, "the member or column with the id, `id` where there is one by default")          \
    FLAG("records", "no-id", NULL, NULL, NULL, "ignore ids, which may then repeat: records are numbered")                      \
    FLAG("records", "sep", "C", NULL, NULL,                                                                                    \
         "the character between labels in csv and tsv, `;` by default; in JSON, of labels that are one string")                \
    FLAG("records", "delimiter", "C", NULL, NULL, "csv: the character between columns, `,` by default")                        \
    FLAG("records", "label-form", "FORM", "plain", ocdm__label_form_names,                                                     \
         "how labels are written: `list` for cells such as ['a', 'b'], `multi-hot` for arrays of zeros and ones in JSON")      \
    FLAG("records", "one-hot", "COLUMNS", NULL, NULL,                                                                          \
         "csv, tsv: a column of zeros and ones for each label: FIRST:LAST, or PREFIX* for labels without the prefix")

/* All zero is a good default. The texts must outlive the reader. */
typedef struct ocdm__record_options {
    enum ocdm__record_format format;
    const char *labels; /* jsonl: the member, dots lead into objects; csv, tsv: the column. NULL: "labels" */
    const char *id;     /* a member or column too, which every record must have. NULL: "id", if there is one */
    bool no_id;         /* ids in the records are ignored */
    enum ocdm__label_form label_form;
    const char *one_hot;   /* csv, tsv: the columns of labels, FIRST:LAST or PREFIX*; NULL: one column has them all */
    const char *separator; /* the character between labels that are one text. NULL: ";" in csv and tsv, none in jsonl */
    const char *delimiter; /* csv: the character between columns. NULL: "," */
    bool skip_bad;
    const char *hint; /* the hint of errors about bad records; NULL: none */
} ocdm__record_options;

typedef struct ocdm__record {
    size_t at; /* its bytes, without the end of line: ocdm__records_bytes(records, at), `length` of them */
    size_t length;
    uint64_t line; /* where it starts, from 1 */

    /* Whether it has an id; if so its content, escapes and quotes undone: ocdm__records_id(records, &record). */
    bool has_id;
    size_t id_at, id_length;
    /* The id as a JSON value of the record itself: `shown_length` bytes from at + shown_at; 0 bytes when it is not JSON. */
    size_t shown_at, shown_length;

    size_t label_at; /* its labels, repeats included: records->numbers + label_at, label_count of them */
    size_t label_count;
} ocdm__record;

/* A label of the current record: bytes in the window or in the reader's scratch. */
typedef struct ocdm__label_piece {
    const char *text;
    size_t length;
} ocdm__label_piece;

/* A dotted path, or a column's name: the parts are slices of one text. */
typedef struct ocdm__name_path {
    const char *text; /* the whole */
    size_t length;
    ocdm__label_piece *parts;
    size_t part_count;
    bool simple;       /* one part of up to 16 bytes, ... */
    uint64_t words[2]; /* ... which are these */
} ocdm__name_path;

/* Where the current record lies. A csv record may span lines; the first line may start with a byte order mark. */
typedef struct ocdm__record_place {
    size_t line_at; /* where its first line starts */
    size_t at;      /* where the record starts */
    size_t end;     /* where it ends, before the end of line */
    uint64_t line;
} ocdm__record_place;

/* Part of csv's state machine, so that the end of a record can be sought in pieces. */
enum ocdm__csv_state {
    OCDM__CSV_FIELD_START = 0,
    OCDM__CSV_PLAIN,
    OCDM__CSV_QUOTED,
    OCDM__CSV_QUOTE_IN_QUOTED /* the end of a quoted field, or the first of a doubled quote */
};

typedef struct ocdm__records {
    /* For everyone to read. */
    ocdm__input input;
    enum ocdm__record_format format; /* AUTO until the first line has been read */
    ocdm__label_table table;         /* the labels by number; one may be added before any record has it */
    uint32_t *numbers;               /* the labels of the records not released; moves with the next record */
    char *header; /* of a csv or tsv file without its end of line, so that a selection of records can be a file
                     of the same kind; NULL for the other formats */
    size_t header_length;
    char delimiter;           /* of csv and tsv, between columns */
    uint64_t skipped;         /* how many records */
    ocdm_error first_skipped; /* what was wrong with the first of them */

    /* For the files of this folder. */
    ocdm__record_options options;
    ocdm_error why;     /* the last failure */
    char *const *paths; /* the files that follow */
    size_t path_count;
    bool file_begins; /* the next line is the first of a file that is not the first */
    size_t file_at;   /* where the current file starts in the window, as long as its first line is the current one */
    ocdm__name_path labels, id;
    bool id_required;

    size_t next;              /* where the next line starts in the window */
    uint64_t line;            /* its number, from 1 */
    size_t kept;              /* where the last record that is not released ends; the bytes between are not needed */
    size_t kept_before;       /* the same without the record last read */
    ocdm__record_place place; /* of the current record */

    size_t number_count, number_room;
    char *ids; /* the ids of the records not released */
    size_t id_used, id_room;
    ocdm__label_piece *pieces; /* the labels of the current record */
    size_t piece_count, piece_room;
    char *scratch; /* its labels whose escapes or quotes had to be undone; room for a whole record, so that pieces stay valid */
    size_t scratch_used, scratch_room;

    size_t column_count, label_column, id_column; /* id_column is SIZE_MAX when there is none */
    ocdm__label_piece *hot;                       /* with one_hot, by column: its label, or no text */
    size_t hot_count;                             /* how many have one */
    bool in_range;                                /* the header is between the first and the last column of one_hot */
    char *hot_names;                              /* the names of the columns, one after another */
    bool has_read;                                /* some record was good */
    bool separated;                               /* some record had several labels */
    bool lost_count;                              /* csv, tsv: the current record has broken quotes or too few or many fields */
} ocdm__records;

/*
 * Opens `path`, standard input when it is NULL or "-", unpacks it if it is gzip or zstd, finds out the format and reads a
 * header if the format has one.
 *
 * stop     as in base/input.h; may be NULL
 * records  set on success; closed by the caller
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (an option that does not apply to the format), OCDM_BAD_RECORD (the header), OCDM_IO,
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__records_open(ocdm__records **records, const char *path, const ocdm__record_options *options,
                               const volatile sig_atomic_t *stop, ocdm_error *error);

/* The files that follow, read as if all were one: of the same format, with the same header or none. `paths` must outlive the
 * reader. */
void ocdm__records_follow(ocdm__records *records, char *const *paths, size_t count);

/* Releases everything. NULL is fine. */
void ocdm__records_close(ocdm__records *records);

/*
 * The next record, or found = false at the end of the input. When `stop` was set, that is after the last complete record.
 * OCDM_OK, OCDM_BAD_RECORD, OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT.
 */
ocdm_status ocdm__records_next(ocdm__records *records, ocdm__record *record, bool *found, ocdm_error *error);

/* Releases all records so far: their positions are invalid from now on. */
void ocdm__records_release(ocdm__records *records);

/*
 * For a record that is bad for a reason that the reader does not know: OCDM_BAD_RECORD with its place (that of the id, if it
 * has one), `reason` and `hint`, NULL for the usual one; or OCDM_OK after counting it, with skip_bad or `skip`. Only for the
 * record last read.
 */
ocdm_status ocdm__records_refuse(ocdm__records *records, const ocdm__record *record, const char *reason, const char *hint,
                                 bool skip, ocdm_error *error);

/* Bytes and ids of records not released yet; the addresses may change with the next record. */
static inline const char *ocdm__records_bytes(const ocdm__records *records, size_t at)
{
    return records->input.data + at;
}

static inline const char *ocdm__records_id(const ocdm__records *records, const ocdm__record *record)
{
    return records->ids + record->id_at;
}

/* Removes labels from the last record: those of which `bit` in their byte of `listed` is `wanted`; labels from `count` on have
 * 0 there. Returns how many are left; without any the record is forgotten. */
size_t ocdm__records_drop_labels(ocdm__records *records, ocdm__record *record, const uint8_t *listed, size_t count, uint8_t bit,
                                 bool wanted);

/* What looks wrong about the labels of the records so far, with what to do about it: one line; "" when nothing does. OCDM_OK,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__records_label_warning(const ocdm__records *records, char text[OCDM__DOUBT], ocdm_error *error);

/* ---- for the files of this folder ----------------------------------------------------------------------------------- */

/* The text of the current record. */
static inline const char *ocdm__current(const ocdm__records *records)
{
    return records->input.data + records->place.at;
}

static inline size_t ocdm__current_length(const ocdm__records *records)
{
    return records->place.end - records->place.at;
}

/* ---- opening (record.c) ---- */

/* Reads records from an input that is open, which the reader takes over, on failure too. `path` is for its extension. */
ocdm_status ocdm__records_begin(ocdm__records **records, ocdm__input *input, const char *path,
                                const ocdm__record_options *options, ocdm_error *error);

/* ---- contents (content.c) ---- */

/* Checks the first bytes of the file that starts at `from`, the end of the window or later: decompresses it if it is gzip or
 * zstd, fails with OCDM_BAD_RECORD if it is known not to be records. */
ocdm_status ocdm__records_sniff(ocdm__records *records, size_t from);

/* OCDM_BAD_RECORD when what follows `next` is JSON other than JSON Lines, or is taken for a table. */
ocdm_status ocdm__check_json(ocdm__records *records);

/* ---- errors (record.c) ---- */

/* Where a byte of the record is. */
ocdm__place ocdm__record_place_of(const ocdm__records *records, const char *at);

/* OCDM_BAD_RECORD about a byte of the record, with file:line:column and the reason, formatted as by printf. */
OCDM_FORMAT(4, 5)
ocdm_status ocdm__bad_record(ocdm__records *records, const char *at, const char *hint, const char *format, ...);

/* OCDM_BAD_RECORD when the record has a NUL byte or invalid UTF-8. */
ocdm_status ocdm__check_text(ocdm__records *records);

/* ---- labels and ids of the current record (record.c) ---- */

/* Makes room for another label of the current record. OCDM_BAD_RECORD when there are too many; `at` is the label's place, for
 * the message. */
ocdm_status ocdm__grow_pieces(ocdm__records *records, const char *at);

/* Notes a label of the current record, after which OCDM__LABEL_PADDING bytes may be read. */
static inline ocdm_status ocdm__add_piece(ocdm__records *records, const char *at, const char *text, size_t length)
{
    if (records->piece_count == records->piece_room)
        OCDM_TRY(ocdm__grow_pieces(records, at));
    records->pieces[records->piece_count++] = (ocdm__label_piece){.text = text, .length = length};
    return OCDM_OK;
}

/* Room in `scratch` for a record of `length` bytes; only while it is not in use. */
ocdm_status ocdm__reserve_scratch(ocdm__records *records, size_t length);

/* Turns the noted labels into numbers and adds them to the record: once the whole record is known to be good, so that a bad one
 * leaves no label behind. */
ocdm_status ocdm__add_labels(ocdm__records *records, ocdm__record *record);

/* Room for an id of up to `length` bytes at ids + id_used, and for OCDM__INPUT_PADDING bytes more. */
ocdm_status ocdm__grow_ids(ocdm__records *records, size_t length);
static inline ocdm_status ocdm__reserve_id(ocdm__records *records, size_t length)
{
    return length + OCDM__INPUT_PADDING <= records->id_room - records->id_used ? OCDM_OK : ocdm__grow_ids(records, length);
}

/* Gives the record the id that was written to ids + id_used. */
static inline void ocdm__add_id(ocdm__records *records, ocdm__record *record, size_t length)
{
    record->has_id = true;
    record->id_at = records->id_used;
    record->id_length = length;
    records->id_used += length;
}

/* ---- formats: each reads the record at `place`; the caller has emptied `pieces` and filled in the record's place ---- */

/* Reads a record of the simplest kind; false if it is of another kind or bad; the reader's state is then partly changed. */
bool ocdm__read_simple(ocdm__records *records, ocdm__record *record);
ocdm_status ocdm__read_jsonl(ocdm__records *records, ocdm__record *record);
ocdm_status ocdm__read_fields(ocdm__records *records, ocdm__record *record);
ocdm_status ocdm__read_svm(ocdm__records *records, ocdm__record *record);

/* Notes the labels between separators in a text, without the spaces around them; empty ones are passed over. */
ocdm_status ocdm__add_separated(ocdm__records *records, const char *at, const char *text, const char *end);

/* Whether the line at `place` is the header again; sets `other` if it is a different header that names the column of the
 * labels. */
bool ocdm__is_header_again(const ocdm__records *records, bool *other);

/* Reads the header of a csv or tsv file. */
ocdm_status ocdm__read_header(ocdm__records *records);

/* ---- fields of csv and tsv (delimited.c) ---- */

/* What is left of a record. */
struct ocdm__fields {
    const char *next, *end; /* where the next field starts, NULL after the last; a carriage return at the end is dropped */
    char delimiter;         /* a tab: there are no quotes */
};

/* The content of a field, quotes aside. */
struct ocdm__field {
    const char *at, *end;
    bool quoted, doubled; /* whether it has quotes around it; doubled ones inside mean one quote each */
    const char *trouble;  /* what is wrong with its quotes, at `trouble_at`; NULL: nothing, as in records that were accepted */
    const char *trouble_at;
};

struct ocdm__fields ocdm__fields_of(const char *text, size_t length, char delimiter);
bool ocdm__next_field(struct ocdm__fields *fields, struct ocdm__field *field);

/* Copies a field with doubled quotes reduced to one, up to `room` bytes of it; returns how many. */
size_t ocdm__copy_field(const struct ocdm__field *field, char *out, size_t room);

/* The position of the newline that ends the csv record, from `bytes` on, or `size` when it is not there; the state carries over
 * from one piece to the next. */
size_t ocdm__find_csv_end(enum ocdm__csv_state *state, char delimiter, const char *bytes, size_t size);

/* Whether the line is an XMC header: three integers. */
bool ocdm__is_xmc_header(const char *line, size_t length);

/* Whether the line has a token such as 12:0.5. */
bool ocdm__has_feature(const char *line, size_t length);

/* ---- tokens of a LIBSVM or XMC line (delimited.c) ---- */

/* Tokens are separated by blanks; a # at the start of a token starts a comment. `at` == `end` when no token is left. */
struct ocdm__svm_token {
    const char *at, *end;
};

static inline bool ocdm__is_svm_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static inline struct ocdm__svm_token ocdm__next_svm_token(const char *at, const char *end)
{
    while (at < end && ocdm__is_svm_blank(*at))
        at++;
    if (at < end && *at == '#')
        at = end;
    struct ocdm__svm_token token = {.at = at, .end = at};
    while (token.end < end && !ocdm__is_svm_blank(*token.end))
        token.end++;
    return token;
}

#endif
