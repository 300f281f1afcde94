/*
 * Reads the features of LIBSVM and XMC files (stream/records reads their labels): index:value pairs in any order, each index at
 * most once, all others 0. There is one row per record, as the record reader counts them: blank lines and comments do not
 * count.
 *
 * An XMC file starts with a line of three numbers: samples, features, labels. Its indices count from 0, its width is as stated,
 * and its number of records must be as stated. A LIBSVM file has no such line: its indices count from 1, and its width is the
 * largest of them.
 *
 * A first pass finds the size of the table; after that each row is one line.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"
#include "stream/readers/readers.h"
#include "stream/readers/table_lines.h"
#include "stream/records/state.h"

struct svm_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    ocdm__table_lines lines;
    ocdm__line_place first; /* where the records start */
    uint64_t next;          /* the row that the next record is */
    uint64_t lowest;        /* index: 1, or 0 after a header */
    bool has_header;
    uint64_t header[3]; /* samples, features, labels */
    uint64_t *stamped;  /* by column: the stamp of the last row that had it, to detect repeats */
    uint64_t stamp;
};

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

/* The next line that is a record. A line of blanks and a comment is none. */
static bool next_record(ocdm__table_lines *lines)
{
    while (ocdm__table_lines_next(lines)) {
        struct ocdm__svm_token token = ocdm__next_svm_token(lines->start, lines->end);
        if (token.at < token.end)
            return true;
    }
    return false;
}

static bool read_whole(const char *at, const char *end, uint64_t *value)
{
    if (at == end)
        return false;
    *value = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || *value > (UINT64_MAX - 9) / 10)
            return false;
        *value = *value * 10 + (uint64_t)(*at - '0');
    }
    return true;
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

/* Where the features of the current line start: after the labels, a first token without a colon at the very start. */
static const char *features_start(const ocdm__table_lines *lines)
{
    struct ocdm__svm_token first = ocdm__next_svm_token(lines->start, lines->end);
    bool labels = first.at == lines->start && memchr(first.at, ':', (size_t)(first.end - first.at)) == NULL;
    return labels ? first.end : lines->start;
}

/* Takes a feature apart: its column from 0, and where its value starts. */
static ocdm_status read_index(const struct svm_rows *svm, struct ocdm__svm_token token, uint64_t *column, const char **value,
                              ocdm_error *error)
{
    const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
    uint64_t index;
    if (colon == NULL || colon == token.at || colon + 1 == token.end)
        return ocdm__table_fail(&svm->lines, token.at, error, "", "a feature that is not index:value");
    if (!read_whole(token.at, colon, &index)) {
        ocdm__shown_label shown = ocdm__show_label(token.at, (size_t)(colon - token.at));
        return ocdm__table_fail(&svm->lines, token.at, error, "features are index:value, the index a whole number",
                                "the feature index \"%s\" is not a whole number", shown.text);
    }
    if (index < svm->lowest)
        return ocdm__table_fail(&svm->lines, token.at, error,
                                "where indices start at 0, a first line \"SAMPLES FEATURES LABELS\" says so",
                                "the feature index 0, where indices start at 1");
    if (svm->has_header && index >= svm->header[1])
        return ocdm__table_fail(&svm->lines, token.at, error, "indices count from 0 in a file with a header",
                                "the feature index %" PRIu64 ", but the header states %" PRIu64 " features", index,
                                svm->header[1]);
    *column = index - svm->lowest;
    if (*column >= OCDM__SVM_WIDEST)
        return ocdm__table_fail(&svm->lines, token.at, error, "rows are written in full: select or hash the features first",
                                "the feature index %" PRIu64 "; the most features are %zu", index, OCDM__SVM_WIDEST);
    *value = colon + 1;
    return OCDM_OK;
}

static ocdm_status read_feature(struct svm_rows *svm, struct ocdm__svm_token token, float *out, ocdm_error *error)
{
    uint64_t column;
    const char *text;
    OCDM_TRY(read_index(svm, token, &column, &text, error));
    float value;
    ocdm__shown_label shown = {.width = 0};
    bool number = ocdm__text_to_float(text, (size_t)(token.end - text), &value);
    if (!number || !isfinite(value))
        shown = ocdm__show_label(text, (size_t)(token.end - text));
    if (!number)
        return ocdm__table_fail(&svm->lines, text, error, "", "the value \"%s\" is not a number", shown.text);
    if (!isfinite(value))
        return ocdm__table_fail(&svm->lines, text, error, "features must be finite and fit into 32 bits",
                                "the value %s is not finite", shown.text);
    if (svm->stamped[column] == svm->stamp)
        return ocdm__table_fail(&svm->lines, token.at, error, "", "the feature index %" PRIu64 " occurs twice",
                                column + svm->lowest);
    svm->stamped[column] = svm->stamp;
    out[column] = value;
    return OCDM_OK;
}

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct svm_rows *svm = (struct svm_rows *)rows;
    if (row >= rows->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %" PRIu64 " of %" PRIu64, svm->lines.path, row, rows->count);
    if (row < svm->next) {
        ocdm__table_lines_go(&svm->lines, svm->first);
        svm->next = 0;
    }
    for (; svm->next <= row; svm->next++)
        if (!next_record(&svm->lines))
            return ocdm__fail(error, OCDM_IO, "", "%s: row %" PRIu64 " is gone", svm->lines.path, row);
    const char *at = features_start(&svm->lines);
    memset(out, 0, svm->rows.width * sizeof *out);
    svm->stamp++;
    for (;;) {
        struct ocdm__svm_token token = ocdm__next_svm_token(at, svm->lines.end);
        if (token.at == token.end)
            return OCDM_OK;
        OCDM_TRY(read_feature(svm, token, out, error));
        at = token.end;
    }
}

/* ---- opening -------------------------------------------------------------------------------------------------------- */

static void close_rows(ocdm__feature_rows *rows)
{
    struct svm_rows *svm = (struct svm_rows *)rows;
    ocdm__table_lines_close(&svm->lines);
    ocdm__release(svm->stamped);
    ocdm__release(svm);
}

/* Whether the current line is three integers. */
static bool take_header(struct svm_rows *svm)
{
    const char *at = svm->lines.start;
    for (size_t i = 0; i < 3; i++) {
        struct ocdm__svm_token token = ocdm__next_svm_token(at, svm->lines.end);
        if (!read_whole(token.at, token.end, &svm->header[i]))
            return false;
        at = token.end;
    }
    struct ocdm__svm_token rest = ocdm__next_svm_token(at, svm->lines.end);
    return rest.at == rest.end;
}

static ocdm_status pass_header(struct svm_rows *svm, ocdm_error *error)
{
    svm->first = svm->lines.place;
    svm->lowest = 1;
    if (!next_record(&svm->lines) || !take_header(svm)) {
        ocdm__table_lines_go(&svm->lines, svm->first);
        return OCDM_OK;
    }
    svm->has_header = true;
    svm->lowest = 0;
    svm->first = svm->lines.place;
    if (svm->header[1] > OCDM__SVM_WIDEST)
        return ocdm__fail(error, OCDM_LIMIT, "rows are written in full: select or hash the features first",
                          "%s:%" PRIu64 ":1: %" PRIu64 " features; the most are %zu", svm->lines.path, svm->lines.line,
                          svm->header[1], OCDM__SVM_WIDEST);
    svm->rows.width = (size_t)svm->header[1];
    return OCDM_OK;
}

/* The labels of a file with a header are numbers below the stated one. */
static ocdm_status check_labels(const struct svm_rows *svm, const char *end, ocdm_error *error)
{
    for (const char *at = svm->lines.start; svm->has_header && at < end; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma != NULL ? comma : end;
        uint64_t label;
        if (!read_whole(at, stop, &label) || label >= svm->header[2])
            return ocdm__table_fail(&svm->lines, at, error, "labels count from 0 in a file with a header",
                                    "the label \"%s\", but the header states %" PRIu64 " labels",
                                    ocdm__show_label(at, (size_t)(stop - at)).text, svm->header[2]);
        at = stop;
    }
    return OCDM_OK;
}

static ocdm_status measure_record(struct svm_rows *svm, ocdm_error *error)
{
    const char *at = features_start(&svm->lines);
    ocdm_status status = check_labels(svm, at, error);
    while (status == OCDM_OK) {
        struct ocdm__svm_token token = ocdm__next_svm_token(at, svm->lines.end);
        uint64_t column;
        const char *value;
        if (token.at == token.end)
            return OCDM_OK;
        status = read_index(svm, token, &column, &value, error);
        if (status == OCDM_OK && column >= svm->rows.width)
            svm->rows.width = (size_t)column + 1;
        at = token.end;
    }
    return status;
}

static ocdm_status measure(struct svm_rows *svm, ocdm_error *error)
{
    while (next_record(&svm->lines)) {
        OCDM_TRY(measure_record(svm, error));
        svm->rows.count++;
    }
    if (svm->has_header && svm->rows.count != svm->header[0])
        return ocdm__fail(error, OCDM_BAD_FILE, "the file was cut off, or has blank lines where samples have nothing",
                          "%s: the header states %" PRIu64 " samples, %" PRIu64 " follow it", svm->lines.path, svm->header[0],
                          svm->rows.count);
    if (svm->rows.count == 0 || svm->rows.width == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "features are index:value after the labels", "%s: there are no %s",
                          svm->lines.path, svm->rows.count == 0 ? "records" : "features");
    svm->stamped = ocdm__allocate(svm->rows.width, sizeof *svm->stamped);
    return svm->stamped != NULL ? OCDM_OK : ocdm__fail_memory(error, "a row of features");
}

ocdm_status ocdm__svm_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct svm_rows *svm = ocdm__allocate(1, sizeof *svm);
    if (svm == NULL)
        return ocdm__fail_memory(error, "a table of features");
    svm->rows.read = read_row;
    svm->rows.close = close_rows;
    ocdm_status status = ocdm__table_lines_open(&svm->lines, path, error);
    OCDM_THEN(status, pass_header(svm, error));
    OCDM_THEN(status, measure(svm, error));
    if (status != OCDM_OK) {
        close_rows(&svm->rows);
        return status;
    }
    ocdm__table_lines_go(&svm->lines, svm->first);
    *rows = &svm->rows;
    return OCDM_OK;
}
