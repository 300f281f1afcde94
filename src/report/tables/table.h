/*
 * A table: columns with a key and a heading, rows of cells that are a text, a number with its standard deviation or its range,
 * or nothing. The same table becomes text for a terminal, Markdown, LaTeX, CSV or JSON, and a chart (report/charts/chart.h).
 *
 *     ocdm__table table = {.row_count = 0};
 *     OCDM__ROW(&table, OCDM__WORD("method", "ocdm"), OCDM__NUMBER("mAP", 43.02, 1));
 *     if (ocdm__table_check(&table, error) == OCDM_OK)
 *         ocdm__table_write(&table, OCDM__MARKDOWN, &style, &output);
 *     ocdm__table_clear(&table);
 *
 * A failed allocation is remembered, and later rows are discarded, so that only the end needs a check. Text, Markdown and LaTeX
 * show rounded numbers, bold cells and headings over several columns. CSV and JSON have the keys and the exact numbers, without
 * deviations and ranges, which need columns of their own there, and without columns that have no key.
 */
#ifndef OCDM_REPORT_TABLES_TABLE_H
#define OCDM_REPORT_TABLES_TABLE_H

#include "base/output.h"

#define OCDM__TABLE_TEXT 64
#define OCDM__TABLE_TITLE 320
#define OCDM__TABLE_NOTE 8192

enum ocdm__table_format { OCDM__TEXT, OCDM__MARKDOWN, OCDM__LATEX, OCDM__CSV, OCDM__JSON };

/* The names of the formats in that order, terminated by NULL: the choices of a flag. */
extern const char *const ocdm__table_formats[];

/* Whether a format is for programs: keys and full numbers. */
bool ocdm__table_is_data(enum ocdm__table_format format);

typedef struct ocdm__column {
    char key[OCDM__TABLE_TEXT];   /* in CSV and JSON */
    char head[OCDM__TABLE_TEXT];  /* over the column */
    char group[OCDM__TABLE_TEXT]; /* a heading over adjacent columns with the same text; "" for none */
} ocdm__column;

enum ocdm__cell_kind { OCDM__CELL_EMPTY, OCDM__CELL_TEXT, OCDM__CELL_NUMBER };

typedef struct ocdm__cell {
    enum ocdm__cell_kind kind;
    bool bold;
    bool is_mean; /* of numbers that differ: the lowest and the highest are shown in place of a deviation */
    int decimals;
    const char *text;        /* the table's */
    double value, deviation; /* NaN for none */
    double low, high;
} ocdm__cell;

typedef struct ocdm__table {
    char title[OCDM__TABLE_TITLE]; /* "" for none */
    char note[OCDM__TABLE_NOTE];   /* under the table; paragraphs end with a newline */
    ocdm__column *columns;         /* the first names the row */
    size_t column_count, column_room;
    ocdm__cell *cells; /* row by row */
    size_t row_count, room;
    size_t filled;     /* cells of the last row */
    ocdm__arena texts; /* of the cells; its failure is that of the table */
} ocdm__table;

/* Creates a table without rows; the columns are copied. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__table_begin(ocdm__table *table, const ocdm__column *columns, size_t count, ocdm_error *error);

/* The same with columns whose headings are their keys, ended by NULL. */
ocdm_status ocdm__table_begin_keys(ocdm__table *table, const char *const *keys, ocdm_error *error);

/* Appends a row of empty cells, valid until the next call; NULL, and the table has failed, if they do not fit. */
ocdm__cell *ocdm__table_row(ocdm__table *table);

/*
 * Cells of rows: texts, numbers with this many decimals, and values, which only programs and charts read. NULL and NaN leave a
 * cell empty. OCDM__ROW appends a row, OCDM__CELLS fills the next cells of the last one:
 *
 *     OCDM__ROW(&table, OCDM__WORD("method", "ocdm"), OCDM__NUMBER("mAP", 43.02, 1));
 *
 * A table of zeros gets its columns by the first row, in which each cell adds the column with this key and heading; later rows
 * have the same keys in the same order.
 */
typedef struct ocdm__entry {
    const char *key;
    bool is_text;
    int decimals;
    const char *text;
    double value;
} ocdm__entry;

#define OCDM__WORD(a_key, a_text)                                                                                              \
    (ocdm__entry)                                                                                                              \
    {                                                                                                                          \
        .key = a_key, .is_text = true, .text = a_text                                                                          \
    }
#define OCDM__NUMBER(a_key, a_value, places)                                                                                   \
    (ocdm__entry)                                                                                                              \
    {                                                                                                                          \
        .key = a_key, .value = a_value, .decimals = places                                                                     \
    }
#define OCDM__EXACT(key, value) OCDM__NUMBER(key, value, 6)
#define OCDM__CELLS(table, ...)                                                                                                \
    ocdm__table_add(table, (const ocdm__entry[]){__VA_ARGS__}, sizeof((const ocdm__entry[]){__VA_ARGS__}) / sizeof(ocdm__entry))
#define OCDM__ROW(table, ...) (ocdm__table_row(table), OCDM__CELLS(table, __VA_ARGS__))
void ocdm__table_add(ocdm__table *table, const ocdm__entry *entries, size_t count);

/* The cell in a row and column. */
ocdm__cell *ocdm__table_at(const ocdm__table *table, size_t row, size_t column);

/* The number in a cell; NaN when it has none, and in a column that is not there. */
double ocdm__table_number(const ocdm__table *table, size_t row, size_t column);

/* The column with a key, which may be NULL; column_count when there is none. */
size_t ocdm__table_column(const ocdm__table *table, const char *key);

/* OCDM_OK, or OCDM_NO_MEMORY when a row or a text did not fit. */
ocdm_status ocdm__table_check(const ocdm__table *table, ocdm_error *error);

/*
 * Makes one block of rows out of `blocks` of them, which follow each other from row `first` to the end and are alike but for
 * their numbers: each number becomes the mean over the blocks that have one, with the lowest and highest where they differ. A
 * deviation stays only where the number does.
 */
void ocdm__table_fold(ocdm__table *table, size_t first, size_t blocks);

/* Removes the column with this key, if there is one. */
void ocdm__table_drop(ocdm__table *table, const char *key);

/* Removes every column but the first that has only empty cells. */
void ocdm__table_drop_empty(ocdm__table *table);

/* A cell with a copy of the text. */
ocdm__cell ocdm__cell_text(ocdm__table *table, const char *text);

/* A number with this many decimals; empty when it is not finite. `deviation` is NaN for none. */
ocdm__cell ocdm__cell_number(double value, double deviation, int decimals);

/* How text is laid out. */
typedef struct ocdm__table_style {
    unsigned width; /* columns; a wider table is split into several, between groups of columns if possible */
    bool bold;      /* bold by terminal escapes; otherwise a star marks bold cells */
} ocdm__table_style;

/* Writes the table. Errors are kept by the output. */
void ocdm__table_write(const ocdm__table *table, enum ocdm__table_format format, const ocdm__table_style *style,
                       ocdm__output *output);

/* Releases everything. A table of zeros is allowed. */
void ocdm__table_clear(ocdm__table *table);

#endif
