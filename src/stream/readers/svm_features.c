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
#include "base/text.h"
#include "stream/lines.h"
#include "stream/readers/readers.h"
#include "stream/records/record.h"

struct svm_rows {
    ocdm__line_rows line; /* first, so that one address is both */
    ocdm__lines lines;
    uint64_t lowest; /* index: 1, or 0 after a header */
    bool has_header;
    uint64_t header[3]; /* samples, features, labels */
    uint64_t *stamped;  /* by column: the stamp of the last row that had it, to detect repeats */
    uint64_t stamp;
    ocdm_error *error; /* of the current call */
};

/* OCDM_BAD_RECORD about a byte of the current line; hint, format and arguments follow. */
#define FAIL(svm, at, ...) OCDM__FAIL_LINE(&(svm)->lines, at, (svm)->error, __VA_ARGS__)

/* Advances to the next line that is a record. A line of blanks and a comment is none. */
static bool advance(ocdm__line_rows *rows)
{
    ocdm__lines *lines = rows->lines;
    while (ocdm__lines_next(lines)) {
        struct ocdm__svm_token token = ocdm__next_svm_token(lines->start, lines->end);
        if (token.at < token.end)
            return true;
    }
    return false;
}

static bool read_whole(const char *at, const char *end, uint64_t *value)
{
    return ocdm__text_to_whole(at, (size_t)(end - at), 0, UINT64_MAX, value);
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

/* Where the features of the current line start: after the labels, a first token without a colon at the very start. */
static const char *features_start(const ocdm__lines *lines)
{
    struct ocdm__svm_token first = ocdm__next_svm_token(lines->start, lines->end);
    bool labels = first.at == lines->start && memchr(first.at, ':', (size_t)(first.end - first.at)) == NULL;
    return labels ? first.end : lines->start;
}

/* Takes a feature apart: its column from 0, and where its value starts. */
static ocdm_status read_index(const struct svm_rows *svm, struct ocdm__svm_token token, uint64_t *column, const char **value)
{
    const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
    uint64_t index;
    if (colon == NULL || colon == token.at || colon + 1 == token.end)
        return FAIL(svm, token.at, "", "a feature that is not index:value");
    if (!read_whole(token.at, colon, &index))
        return FAIL(svm, token.at, "features are index:value, the index a whole number",
                    "the feature index \"%s\" is not a whole number",
                    ocdm__show_label(token.at, (size_t)(colon - token.at)).text);
    if (index < svm->lowest)
        return FAIL(svm, token.at, "where indices start at 0, a first line \"SAMPLES FEATURES LABELS\" says so",
                    "the feature index 0, where indices start at 1");
    if (svm->has_header && index >= svm->header[1])
        return FAIL(svm, token.at, "indices count from 0 in a file with a header",
                    "the feature index %" PRIu64 ", but the header states %" PRIu64 " features", index, svm->header[1]);
    *column = index - svm->lowest;
    if (*column >= OCDM__SVM_WIDEST)
        return FAIL(svm, token.at, "rows are written in full: select or hash the features first",
                    "the feature index %" PRIu64 "; the most features are %zu", index, OCDM__SVM_WIDEST);
    *value = colon + 1;
    return OCDM_OK;
}

static ocdm_status read_feature(struct svm_rows *svm, struct ocdm__svm_token token, float *out)
{
    uint64_t column;
    const char *text;
    float value;
    OCDM_TRY(read_index(svm, token, &column, &text));
    size_t length = (size_t)(token.end - text);
    if (!ocdm__text_to_float(text, length, &value))
        return FAIL(svm, text, "", "the value \"%s\" is not a number", ocdm__show_label(text, length).text);
    if (!isfinite(value))
        return FAIL(svm, text, "features must be finite and fit into 32 bits", "the value %s is not finite",
                    ocdm__show_label(text, length).text);
    if (svm->stamped[column] == svm->stamp)
        return FAIL(svm, token.at, "", "the feature index %" PRIu64 " occurs twice", column + svm->lowest);
    svm->stamped[column] = svm->stamp;
    out[column] = value;
    return OCDM_OK;
}

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct svm_rows *svm = (struct svm_rows *)rows;
    OCDM_TRY(ocdm__line_rows_go(&svm->line, row, error));
    svm->error = error;
    svm->stamp++;
    memset(out, 0, rows->width * sizeof *out);
    struct ocdm__svm_token token = ocdm__next_svm_token(features_start(&svm->lines), svm->lines.end);
    for (; token.at < token.end; token = ocdm__next_svm_token(token.end, svm->lines.end))
        OCDM_TRY(read_feature(svm, token, out));
    return OCDM_OK;
}

/* ---- opening -------------------------------------------------------------------------------------------------------- */

static void close_rows(ocdm__feature_rows *rows)
{
    struct svm_rows *svm = (struct svm_rows *)rows;
    ocdm__lines_close(&svm->lines);
    OCDM_RELEASE(svm->stamped, svm);
}

/* A first line of three integers. */
static ocdm_status pass_header(struct svm_rows *svm)
{
    svm->lowest = 1;
    svm->line.first = svm->lines.place;
    bool header = advance(&svm->line);
    struct ocdm__svm_token token = {.end = svm->lines.start};
    for (size_t i = 0; header && i < 3; i++) {
        token = ocdm__next_svm_token(token.end, svm->lines.end);
        header = read_whole(token.at, token.end, &svm->header[i]);
    }
    token = ocdm__next_svm_token(token.end, svm->lines.end);
    if (!header || token.at < token.end) {
        ocdm__lines_go(&svm->lines, svm->line.first);
        return OCDM_OK;
    }
    svm->has_header = true;
    svm->lowest = 0;
    svm->line.first = svm->lines.place;
    if (svm->header[1] > OCDM__SVM_WIDEST)
        return ocdm__fail(svm->error, OCDM_LIMIT, "rows are written in full: select or hash the features first",
                          "%s:%" PRIu64 ":1: %" PRIu64 " features; the most are %zu", svm->lines.path, svm->lines.line,
                          svm->header[1], OCDM__SVM_WIDEST);
    svm->line.rows.width = (size_t)svm->header[1];
    return OCDM_OK;
}

static ocdm_status measure(struct svm_rows *svm)
{
    ocdm__feature_rows *rows = &svm->line.rows;
    for (; advance(&svm->line); rows->count++) {
        const char *at = features_start(&svm->lines);
        struct ocdm__svm_token token = ocdm__next_svm_token(at, svm->lines.end);
        /* The labels of a file with a header are numbers below the stated one. */
        for (const char *label = svm->lines.start; svm->has_header && label < at; label++) {
            const char *comma = memchr(label, ',', (size_t)(at - label)), *stop = comma != NULL ? comma : at;
            uint64_t number;
            if (!read_whole(label, stop, &number) || number >= svm->header[2])
                return FAIL(svm, label, "labels count from 0 in a file with a header",
                            "the label \"%s\", but the header states %" PRIu64 " labels",
                            ocdm__show_label(label, (size_t)(stop - label)).text, svm->header[2]);
            label = stop;
        }
        for (; token.at < token.end; token = ocdm__next_svm_token(token.end, svm->lines.end)) {
            uint64_t column;
            const char *value;
            OCDM_TRY(read_index(svm, token, &column, &value));
            if (column >= rows->width)
                rows->width = (size_t)column + 1;
        }
    }
    if (svm->has_header && rows->count != svm->header[0])
        return ocdm__fail(svm->error, OCDM_BAD_FILE, "the file was cut off, or has blank lines where samples have nothing",
                          "%s: the header states %" PRIu64 " samples, %" PRIu64 " follow it", svm->lines.path, svm->header[0],
                          rows->count);
    if (rows->count == 0 || rows->width == 0)
        return ocdm__fail(svm->error, OCDM_BAD_FILE, "features are index:value after the labels", "%s: there are no %s",
                          svm->lines.path, rows->count == 0 ? "records" : "features");
    svm->line.next = rows->count;
    svm->stamped = ocdm__allocate(rows->width, sizeof *svm->stamped);
    return svm->stamped != NULL ? OCDM_OK : ocdm__fail_memory(svm->error, "a row of features");
}

ocdm_status ocdm__svm_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct svm_rows *svm;
    OCDM_TRY(ocdm__new(&svm, 1, sizeof *svm, "a table of features", error));
    svm->error = error;
    svm->line = (ocdm__line_rows){.rows = {.read = read_row, .close = close_rows}, .lines = &svm->lines, .advance = advance};
    ocdm_status status = ocdm__lines_open(&svm->lines, path, error);
    OCDM_THEN(status, pass_header(svm));
    OCDM_THEN(status, measure(svm));
    if (status == OCDM_OK)
        *rows = &svm->line.rows;
    else
        close_rows(&svm->line.rows);
    return status;
}
