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
 *         use(ocdm__records_labels(records) + record.label_at, record.label_count);
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

#include "ocdm/ocdm.h"
#include "stream/labelled_set.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
const char *ocdm__format_name(enum ocdm__record_format format);

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

    size_t label_at; /* its labels, repeats included: ocdm__records_labels(records) + label_at, label_count of them */
    size_t label_count;
} ocdm__record;

typedef struct ocdm__records ocdm__records;

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

/* Bytes, ids and labels of records not released yet; the addresses may change with the next record. */
const char *ocdm__records_bytes(const ocdm__records *records, size_t at);
const char *ocdm__records_id(const ocdm__records *records, const ocdm__record *record);
const uint32_t *ocdm__records_labels(const ocdm__records *records);

/* The number of a label, whether or not a record will have it: for options about labels, before records are read. OCDM_OK,
 * OCDM_NO_MEMORY, OCDM_LIMIT. */
ocdm_status ocdm__records_number_label(ocdm__records *records, const char *text, size_t length, uint32_t *number,
                                       ocdm_error *error);

/* Removes labels from the last record: those of which `bit` in their byte of `listed` is `wanted`; labels from `count` on have
 * 0 there. Returns how many are left; without any the record is forgotten. */
size_t ocdm__records_drop_labels(ocdm__records *records, ocdm__record *record, const uint8_t *listed, size_t count, uint8_t bit,
                                 bool wanted);

/* The labels by number. */
const ocdm__label_table *ocdm__records_label_table(const ocdm__records *records);

/* The format, AUTO until the first line has been read. */
enum ocdm__record_format ocdm__records_format(const ocdm__records *records);

/* The character between columns of csv or tsv. */
char ocdm__records_delimiter(const ocdm__records *records);

/* The header of a csv or tsv file without its end of line, so that a selection of records can be a file of the same kind; NULL
 * for the other formats. */
const char *ocdm__records_header(const ocdm__records *records, size_t *length);

/* What looks wrong about the labels of the records so far, with what to do about it: one line; "" when nothing does. OCDM_OK,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__records_label_warning(const ocdm__records *records, char text[OCDM__DOUBT], ocdm_error *error);

/* How many records were skipped, what was wrong with the first of them (NULL when there is none), and how many bytes were read.
 */
uint64_t ocdm__records_skipped(const ocdm__records *records);
const char *ocdm__records_first_skipped(const ocdm__records *records);
uint64_t ocdm__records_bytes_read(const ocdm__records *records);

#endif
