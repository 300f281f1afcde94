/* Records: opening a stream, telling the formats apart, reading a header. */
#include "base/allocate.h"
#include "base/utf8.h"
#include "stream/records/state.h"

#include <string.h>

/* ---- telling formats apart ------------------------------------------------------------------------------------------ */

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 'a' - 'A') : letter;
}

static bool ends_with(const char *path, const char *extension)
{
    size_t length = strlen(path), wanted = strlen(extension);
    if (length <= wanted)
        return false;
    path += length - wanted;
    while (*path && lower(*path) == *extension) {
        path++;
        extension++;
    }
    return !*path;
}

static enum ocdm__record_format format_of_path(const char *path)
{
    static const struct {
        const char *extension;
        enum ocdm__record_format format;
    } known[] = {{".jsonl", OCDM__FORMAT_JSONL}, {".ndjson", OCDM__FORMAT_JSONL}, {".csv", OCDM__FORMAT_CSV},
                 {".tsv", OCDM__FORMAT_TSV},     {".tab", OCDM__FORMAT_TSV},      {".svm", OCDM__FORMAT_SVM},
                 {".libsvm", OCDM__FORMAT_SVM}};
    for (size_t i = 0; path && i < sizeof known / sizeof *known; i++)
        if (ends_with(path, known[i].extension))
            return known[i].format;
    return OCDM__FORMAT_AUTO;
}

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
static ocdm_status first_place(ocdm__records *records, ocdm__record_place *place, bool *found, ocdm_error *error)
{
    bool skip_bad = records->options.skip_bad;
    records->options.skip_bad = false;
    ocdm_status status = ocdm__next_place(records, place, found, error);
    records->options.skip_bad = skip_bad;
    return status;
}

/* The same without moving past it; blank lines before it are passed for good, since many of them are not kept in the window.
 * One that is too long is as long as a record may be: reading it later will say that it is bad. */
static ocdm_status peek_place(ocdm__records *records, ocdm__record_place *place, bool *found, ocdm_error *error)
{
    ocdm_status status = first_place(records, place, found, error);
    if (status == OCDM_BAD_RECORD) {
        place->end = place->at + OCDM__MAX_RECORD;
        *found = true;
        status = OCDM_OK;
    }
    if (status == OCDM_OK && *found) {
        records->next = place->at;
        records->line = place->line;
    }
    return status;
}

static ocdm_status tell_format(ocdm__records *records, ocdm_error *error)
{
    ocdm__record_place place;
    bool found = false;
    ocdm_status status = peek_place(records, &place, &found, error);
    if (status == OCDM_OK && found)
        records->format = format_of_line(records->input.data + place.at, place.end - place.at);
    return status;
}

/* ---- opening -------------------------------------------------------------------------------------------------------- */

static ocdm_status check_separator(const char *separator, ocdm_error *error)
{
    const unsigned char *at = (const unsigned char *)separator;
    size_t length = strlen(separator);
    bool one_character = length > 0 && ocdm__utf8_sequence(at, at + length) == length;
    if (one_character && !strchr("\"\r\n", separator[0]))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as `--sep ';'`",
                      "the separator \"%s\" is not one character, other than a quote or an end of line", separator);
}

/* The names of labels and id, split at dots for jsonl; csv and tsv use the whole. */
static ocdm_status set_names(ocdm__records *records, ocdm_error *error)
{
    const ocdm__record_options *options = &records->options;
    const char *labels = options->labels ? options->labels : "labels", *id = options->id ? options->id : "id";
    records->id_required = options->id != NULL;
    if (options->id && strcmp(labels, id) == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`--labels` and `--id` name two members or columns",
                          "labels and id have one name, \"%s\"", id);
    records->labels.text = labels;
    records->id.text = id;
    if (records->format == OCDM__FORMAT_SVM && (options->labels || options->id))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "svm has its labels before the features, and no ids",
                          "`--labels` and `--id` name nothing in the format svm");
    if (records->format != OCDM__FORMAT_JSONL)
        return OCDM_OK;
    ocdm_status status = ocdm__split_path(labels, &records->labels, error);
    return status == OCDM_OK ? ocdm__split_path(id, &records->id, error) : status;
}

static ocdm_status pass_byte_order_mark(ocdm__records *records, ocdm_error *error)
{
    ocdm__input *input = &records->input;
    while (input->size < 3 && !input->ended && !input->stopped) {
        ocdm_status status = ocdm__input_fill(input, error);
        if (status != OCDM_OK)
            return status;
    }
    if (input->size >= 3 && memcmp(input->data, "\xEF\xBB\xBF", 3) == 0)
        records->next = 3;
    return OCDM_OK;
}

static ocdm_status open_header(ocdm__records *records, ocdm_error *error)
{
    ocdm__record_place place;
    bool found = false;
    ocdm_status status = first_place(records, &place, &found, error);
    if (status != OCDM_OK)
        return status;
    if (found)
        return ocdm__read_header(records, &place, error);
    if (records->input.stopped)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_RECORD, "the first line of a csv or tsv file names its columns",
                      "%s:1:1: the header is missing", records->input.name);
}

static ocdm_status pass_xmc_header(ocdm__records *records, ocdm_error *error)
{
    ocdm__record_place place;
    bool found = false;
    ocdm_status status = peek_place(records, &place, &found, error);
    if (status == OCDM_OK && found && ocdm__is_xmc_header(records->input.data + place.at, place.end - place.at))
        status = first_place(records, &place, &found, error);
    return status;
}

/* Everything that needs the input's first bytes. */
static ocdm_status begin(ocdm__records *records, const char *path, ocdm_error *error)
{
    ocdm_status status = pass_byte_order_mark(records, error);
    if (records->format == OCDM__FORMAT_AUTO)
        records->format = format_of_path(path);
    if (status == OCDM_OK && records->format == OCDM__FORMAT_AUTO)
        status = tell_format(records, error);
    if (status == OCDM_OK)
        status = set_names(records, error);
    if (status != OCDM_OK)
        return status;
    if (records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV)
        return open_header(records, error);
    return records->format == OCDM__FORMAT_SVM ? pass_xmc_header(records, error) : OCDM_OK;
}

ocdm_status ocdm__records_begin(ocdm__records **records, ocdm__input *input, const char *path,
                                const ocdm__record_options *options, ocdm_error *error)
{
    ocdm__records *made = ocdm__allocate(1, sizeof *made);
    if (!made) {
        ocdm__input_close(input);
        return ocdm__fail_memory(error, "the record reader");
    }
    made->input = *input;
    made->options = *options;
    made->format = options->format;
    made->line = 1;
    if (!made->options.separator)
        made->options.separator = ";";
    ocdm_status status = check_separator(made->options.separator, error);
    if (status == OCDM_OK)
        status = begin(made, path, error);
    if (status == OCDM_OK)
        *records = made;
    else
        ocdm__records_close(made);
    return status;
}

ocdm_status ocdm__records_open(ocdm__records **records, const char *path, const ocdm__record_options *options,
                               const volatile sig_atomic_t *stop, ocdm_error *error)
{
    ocdm__input input;
    ocdm_status status = ocdm__input_open(&input, path, stop, error);
    return status == OCDM_OK ? ocdm__records_begin(records, &input, path, options, error) : status;
}

void ocdm__records_close(ocdm__records *records)
{
    if (!records)
        return;
    ocdm__input_close(&records->input);
    ocdm__label_table_clear(&records->table);
    ocdm__release(records->labels.parts);
    ocdm__release(records->id.parts);
    ocdm__release(records->numbers);
    ocdm__release(records->ids);
    ocdm__release(records->pieces);
    ocdm__release(records->scratch);
    ocdm__release(records->header);
    ocdm__release(records);
}
