/*
 * JSON Lines, the short way: an object of plain strings and whole numbers, with labels and id at its top, is read here in one
 * go. Whatever else a record may hold, or be wrong with, is left to jsonl.c: nothing is accepted here that it would
 * refuse.
 *
 * The end of the record needs no watching, since a newline follows it and is no part of anything that is accepted.
 */
#include "stream/records/state.h"

#include "base/json_plain.h"

#include <string.h>

typedef const unsigned char *place_in_text;

static inline place_in_text pass_spaces(place_in_text at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* The closing quote of the string that starts after the opening one at `at`; NULL when the string is not plain. */
static inline place_in_text string_end(place_in_text at)
{
    unsigned run;
    at++;
    do {
        run = ocdm__json_plain_run(at);
        at += run;
    } while (run == OCDM__JSON_STRIDE);
    return *at == '"' ? at : NULL;
}

/* The end of the whole number at `at`, or NULL. A fraction or an exponent is not looked for: what may follow a value is. */
static inline place_in_text number_end(place_in_text at)
{
    at += *at == '-';
    place_in_text digits = at;
    while (*at >= '0' && *at <= '9')
        at++;
    return at == digits || (*digits == '0' && at - digits > 1) ? NULL : at;
}

/* The end of a string, its closing quote included, or of a number. */
static inline place_in_text scalar_end(place_in_text at)
{
    if (*at != '"')
        return number_end(at);
    place_in_text quote = string_end(at);
    return quote ? quote + 1 : NULL;
}

static inline bool is_name(const ocdm__name_path *path, place_in_text text, size_t length)
{
    if (path->length != length)
        return false;
    uint64_t low, high;
    ocdm__short_label((const char *)text, length, &low, &high);
    return low == path->words[0] && high == path->words[1];
}

/* A label, string or number, that is known already; returns where it ends, or NULL. */
static inline place_in_text read_label(ocdm__records *records, ocdm__record *record, place_in_text at)
{
    place_in_text end = scalar_end(at);
    size_t quote = *at == '"', number_at = records->number_count + record->label_count;
    if (!end || number_at == records->number_room || record->label_count == OCDM_MAX_LABELS || (*at == '-' && at[1] == '0'))
        return NULL;
    uint32_t number = ocdm__label_table_find(&records->table, (const char *)at + quote, (size_t)(end - at) - 2 * quote);
    records->numbers[number_at] = number;
    record->label_count++;
    return number == UINT32_MAX ? NULL : end;
}

/* The array of labels; returns where it ends, or NULL. */
static inline place_in_text read_labels(ocdm__records *records, ocdm__record *record, place_in_text at)
{
    if (*at != '[')
        return NULL;
    at = pass_spaces(at + 1);
    if (*at == ']')
        return at + 1;
    for (;;) {
        at = read_label(records, record, at);
        if (!at)
            return NULL;
        at = pass_spaces(at);
        if (*at != ',')
            return *at == ']' ? at + 1 : NULL;
        at = pass_spaces(at + 1);
    }
}

static inline place_in_text read_id(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record,
                                    place_in_text at)
{
    place_in_text end = scalar_end(at);
    if (!end)
        return NULL;
    size_t quote = *at == '"', length = (size_t)(end - at) - 2 * quote;
    if (length + OCDM__INPUT_PADDING > records->id_room - records->id_used)
        return NULL;
    if (length <= OCDM__INPUT_PADDING)
        memcpy(records->ids + records->id_used, at + quote, OCDM__INPUT_PADDING); /* both sides are padded */
    else
        memcpy(records->ids + records->id_used, at + quote, length);
    ocdm__add_id(records, record, length);
    record->shown_at = (size_t)((const char *)at - records->input.data) - place->at;
    record->shown_length = (size_t)(end - at);
    return end;
}

/* The members, from `at` on; returns where the object ends, or NULL. */
static inline place_in_text read_members(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record,
                                         place_in_text at, bool *labelled)
{
    for (;;) {
        place_in_text quote = *at == '"' ? string_end(at) : NULL;
        if (!quote || quote[1] != ':')
            return NULL;
        place_in_text name = at + 1;
        size_t length = (size_t)(quote - name);
        at = pass_spaces(quote + 2);
        if (is_name(&records->labels, name, length)) {
            at = *labelled ? NULL : read_labels(records, record, at);
            *labelled = true;
        } else if (is_name(&records->id, name, length)) {
            at = record->has_id ? NULL : read_id(records, place, record, at);
        } else {
            at = scalar_end(at);
        }
        if (!at)
            return NULL;
        at = pass_spaces(at);
        if (*at != ',')
            return *at == '}' ? at + 1 : NULL;
        at = pass_spaces(at + 1);
    }
}

bool ocdm__read_simple(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record)
{
    place_in_text at = (place_in_text)records->input.data + place->at, end = (place_in_text)records->input.data + place->end;
    bool labelled = false;
    if (*at != '{')
        return false;
    at = read_members(records, place, record, pass_spaces(at + 1), &labelled);
    if (!at)
        return false;
    at += *at == '\r';
    if (at != end || !labelled || (records->id_required && !record->has_id))
        return false;
    record->label_at = records->number_count;
    records->number_count += record->label_count;
    return true;
}
