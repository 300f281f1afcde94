/*
 * Records: where each one lies, and saying where one is wrong. A line that is too long to be kept is passed over in the room of
 * one read.
 */
#include "stream/records/state.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Useless bytes in the window that are not worth a move. */
#define LARGEST_GAP ((size_t)64 * 1024)

/* The end of the line or csv record, from `from` on; the window's size when it is not there yet. */
static inline size_t find_end(const ocdm__records *records, enum ocdm__csv_state *state, size_t from)
{
    const char *data = records->input.data;
    size_t size = records->input.size;
    if (records->format == OCDM__FORMAT_CSV)
        return from + ocdm__find_csv_end(state, data + from, size - from);
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

/* Moves past the record that ends at `end`; `next` is where the line after it starts. */
static void move_past(ocdm__records *records, size_t end, size_t next)
{
    if (records->format == OCDM__FORMAT_CSV)
        records->line += count_newlines(records->input.data + records->next, end - records->next);
    records->line++;
    records->next = next;
}

/* Throws away the rest of the record at `next`, of which the first `end - next` bytes, without its end, are in the window. */
static ocdm_status pass_over(ocdm__records *records, enum ocdm__csv_state *state, size_t end, ocdm_error *error)
{
    ocdm__input *input = &records->input;
    while (end == input->size && !input->ended && !input->stopped) {
        if (records->format == OCDM__FORMAT_CSV)
            records->line += count_newlines(input->data + records->next, end - records->next);
        ocdm__input_remove(input, records->next, end);
        ocdm_status status = ocdm__input_fill(input, error);
        if (status != OCDM_OK)
            return status;
        end = find_end(records, state, records->next);
    }
    move_past(records, end, end < input->size ? end + 1 : end);
    return OCDM_OK;
}

static const char *hint_of(const ocdm__records *records)
{
    return records->options.hint && !records->options.skip_bad ? records->options.hint : "";
}

bool ocdm__resume_after_first_line(ocdm__records *records, const ocdm__record_place *place)
{
    const char *data = records->input.data;
    const char *newline = memchr(data + place->at, '\n', place->end - place->at);
    if (records->format != OCDM__FORMAT_CSV || !newline)
        return false;
    records->next = (size_t)(newline - data) + 1;
    records->line = place->line + 1;
    return true;
}

static ocdm_status fail_too_long(ocdm__records *records, const ocdm__record_place *place, enum ocdm__csv_state *state,
                                 size_t end, ocdm_error *error)
{
    if (records->options.skip_bad && !ocdm__resume_after_first_line(records, place)) {
        ocdm_status status = pass_over(records, state, end, error);
        if (status != OCDM_OK)
            return status;
    }
    return ocdm__fail(error, OCDM_BAD_RECORD, hint_of(records), "%s:%llu:%zu: a record of over 64 MiB", records->input.name,
                      (unsigned long long)place->line, OCDM__MAX_RECORD + 1);
}

static void set_place(const ocdm__records *records, ocdm__record_place *place, size_t end)
{
    place->line = records->line;
    place->at = records->next;
    place->line_at = records->line == 1 ? 0 : records->next;
    place->end = end;
}

void ocdm__close_gap(ocdm__records *records)
{
    if (records->next - records->kept < LARGEST_GAP)
        return;
    ocdm__input_remove(&records->input, records->kept, records->next);
    records->next = records->kept;
}

static ocdm_status find_line(ocdm__records *records, ocdm__record_place *place, bool *found, ocdm_error *error)
{
    ocdm__input *input = &records->input;
    enum ocdm__csv_state state = OCDM__CSV_FIELD_START;
    size_t scanned = records->next;
    for (;;) {
        size_t end = find_end(records, &state, scanned);
        set_place(records, place, end);
        if (end - place->at > OCDM__MAX_RECORD)
            return fail_too_long(records, place, &state, end, error);
        *found = end < input->size || (input->ended && end > place->at);
        if (*found) {
            move_past(records, end, end < input->size ? end + 1 : end);
            return OCDM_OK;
        }
        if (input->ended || input->stopped)
            return OCDM_OK;
        ocdm_status status = ocdm__input_fill(input, error);
        if (status != OCDM_OK)
            return status;
        scanned = end;
    }
}

/* Whether a line is no record. A csv line of spaces is a record: its one field is spaces. */
static inline bool is_blank(const ocdm__records *records, const ocdm__record_place *place)
{
    const char *at = records->input.data + place->at, *end = records->input.data + place->end;
    bool fields = records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV;
    while (at < end && (*at == '\r' || (!fields && (*at == ' ' || *at == '\t'))))
        at++;
    return at == end || (*at == '#' && records->format == OCDM__FORMAT_SVM);
}

ocdm_status ocdm__next_place(ocdm__records *records, ocdm__record_place *place, bool *found, ocdm_error *error)
{
    for (;;) {
        ocdm_status status = find_line(records, place, found, error);
        if (status != OCDM_OK || !*found || !is_blank(records, place))
            return status;
        ocdm__close_gap(records);
    }
}

ocdm_status ocdm__bad_record(const ocdm__records *records, const ocdm__record_place *place, size_t position, ocdm_error *error,
                             const char *hint, const char *format, ...)
{
    const char *data = records->input.data;
    uint64_t line = place->line + count_newlines(data + place->line_at, position - place->line_at);
    size_t line_at = position;
    while (line_at > place->line_at && data[line_at - 1] != '\n')
        line_at--;
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_RECORD, hint ? hint : hint_of(records), "%s:%llu:%zu: %s", records->input.name,
                      (unsigned long long)line, position - line_at + 1, reason);
}

ocdm_status ocdm__check_text(const ocdm__records *records, const ocdm__record_place *place, ocdm_error *error)
{
    const unsigned char *data = (const unsigned char *)records->input.data;
    const unsigned char *at = data + place->at, *end = data + place->end;
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
            return ocdm__bad_record(records, place, (size_t)(at - data), error, NULL, "%s",
                                    length ? "a NUL byte" : "invalid UTF-8");
        at += length;
    }
    return OCDM_OK;
}
