/*
 * JSON Lines: one object per line; the labels are an array of strings and integers, or a single one, the id is a string or a
 * number, each found by a path of member names; with a separator, a string may have several labels. An empty string is no
 * label. The label of a number is its text, so 1 and "1" are the same label; -0 is 0. 1.0 and 1e2 are refused because their
 * meaning as a label is unclear. A record with two members of the same path is bad.
 *
 * Records are first tried by a fast path, ocdm__read_simple: an object of plain strings and integers with labels and id at its
 * top level is read in one pass. Everything else, including every bad record, is left to ocdm__read_jsonl. The fast path
 * accepts nothing that ocdm__read_jsonl refuses. It does not check for the end of the record, because a newline follows and no
 * accepted token contains one.
 */
#include "base/json.h"
#include "base/text.h"
#include "stream/records/record.h"

/* ---- simple records ------------------------------------------------------------------------------------------------- */

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

/* The end of the integer at `at`, or NULL. Fractions and exponents need no check here: the caller checks what follows a value.
 */
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
static inline place_in_text read_simple_label(ocdm__records *records, ocdm__record *record, place_in_text at)
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
static inline place_in_text read_simple_labels(ocdm__records *records, ocdm__record *record, place_in_text at)
{
    if (*at != '[' || records->options.label_form != OCDM__LABELS_PLAIN)
        return NULL;
    at = pass_spaces(at + 1);
    if (*at == ']')
        return at + 1;
    for (;;) {
        at = read_simple_label(records, record, at);
        if (!at)
            return NULL;
        at = pass_spaces(at);
        if (*at != ',')
            return *at == ']' ? at + 1 : NULL;
        at = pass_spaces(at + 1);
    }
}

static inline place_in_text read_simple_id(ocdm__records *records, ocdm__record *record, place_in_text at)
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
    record->shown_at = (size_t)((const char *)at - ocdm__current(records));
    record->shown_length = (size_t)(end - at);
    return end;
}

/* The members, from `at` on; returns where the object ends, or NULL. */
static inline place_in_text read_simple_members(ocdm__records *records, ocdm__record *record, place_in_text at, bool *labelled)
{
    for (;;) {
        place_in_text quote = *at == '"' ? string_end(at) : NULL;
        if (!quote || quote[1] != ':')
            return NULL;
        place_in_text name = at + 1;
        size_t length = (size_t)(quote - name);
        at = pass_spaces(quote + 2);
        if (is_name(&records->labels, name, length)) {
            at = *labelled ? NULL : read_simple_labels(records, record, at);
            *labelled = true;
        } else if (is_name(&records->id, name, length)) {
            at = record->has_id ? NULL : read_simple_id(records, record, at);
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

bool ocdm__read_simple(ocdm__records *records, ocdm__record *record)
{
    place_in_text at = (place_in_text)ocdm__current(records), end = at + ocdm__current_length(records);
    bool labelled = false;
    if (*at != '{')
        return false;
    at = read_simple_members(records, record, pass_spaces(at + 1), &labelled);
    if (!at)
        return false;
    at += *at == '\r';
    if (at != end || !labelled || (records->id_required && !record->has_id))
        return false;
    record->label_at = records->number_count;
    records->number_count += record->label_count;
    records->separated |= record->label_count > 1;
    return true;
}

/* ---- any record ----------------------------------------------------------------------------------------------------- */

/* How far the objects that are open follow a path. */
struct follower {
    const ocdm__name_path *path;
    size_t matched; /* parts that lead to the innermost open object, when it is on the path: its depth - 1 */
    size_t reached; /* parts found so far, the value's own included */
};

enum step { STEP_ASIDE, STEP_INSIDE, STEP_TARGET, STEP_TWICE };

/* The state of reading one record. */
struct reading {
    ocdm__records *records;
    ocdm__record *record;
    struct follower labels, id;
    ocdm__json json;
};

static ocdm_status fail_json(struct reading *reading)
{
    return ocdm__bad_record(reading->records, ocdm__current(reading->records) + reading->json.error_at, NULL, "broken JSON: %s",
                            reading->json.reason);
}

static ocdm_status fail_value(struct reading *reading, const char *reason)
{
    return ocdm__bad_record(reading->records, reading->json.text, NULL, "%s", reason);
}

/* Where the current key leads on a path. */
static inline enum step follow(struct follower *follower, const ocdm__json *json)
{
    if (follower->matched != json->depth - 1)
        return STEP_ASIDE;
    const ocdm__label_piece *part = &follower->path->parts[follower->matched];
    if (json->escaped ? !ocdm__json_is(json, part->text, part->length)
                      : json->length != part->length || memcmp(json->text, part->text, part->length) != 0)
        return STEP_ASIDE;
    if (follower->reached > follower->matched)
        return STEP_TWICE;
    follower->reached = follower->matched + 1;
    return follower->reached == follower->path->part_count ? STEP_TARGET : STEP_INSIDE;
}

static inline void leave_object(struct follower *follower, uint32_t depth)
{
    if (follower->matched >= depth && depth > 0)
        follower->matched = depth - 1;
}

/* A string: one label, unless the user says what is between several; none if it is empty. */
static inline ocdm_status add_text(struct reading *reading, const char *text, size_t length)
{
    ocdm__records *records = reading->records;
    if (records->options.separator != NULL)
        return ocdm__add_separated(records, reading->json.text, text, text + length);
    if (length == 0)
        return OCDM_OK;
    return ocdm__add_piece(records, reading->json.text, text, length);
}

static inline ocdm_status add_label(struct reading *reading, enum ocdm__json_event event)
{
    const ocdm__json *json = &reading->json;
    const char *text = json->text;
    size_t length = json->length;
    if (event == OCDM__JSON_STRING && json->escaped) {
        ocdm__records *records = reading->records;
        if (records->scratch_used == 0)
            OCDM_TRY(ocdm__reserve_scratch(records, ocdm__current_length(records)));
        char *plain = records->scratch + records->scratch_used;
        length = ocdm__json_unescape(text, length, plain);
        records->scratch_used += length;
        return add_text(reading, plain, length);
    } else if (event == OCDM__JSON_STRING) {
        return add_text(reading, text, length);
    } else if (event == OCDM__JSON_NUMBER && json->whole) {
        bool minus_zero = length == 2 && text[0] == '-' && text[1] == '0';
        text += minus_zero;
        length -= minus_zero;
    } else {
        return event == OCDM__JSON_ERROR ? fail_json(reading) : fail_value(reading, "a label is a string or a whole number");
    }
    return ocdm__add_piece(reading->records, reading->json.text, text, length);
}

/* An element of an array of zeros and ones: the label is its position. */
static ocdm_status add_hot(struct reading *reading, enum ocdm__json_event event, uint32_t position)
{
    ocdm__records *records = reading->records;
    const ocdm__json *json = &reading->json;
    if (event == OCDM__JSON_ERROR)
        return fail_json(reading);
    bool one = event == OCDM__JSON_TRUE || (event == OCDM__JSON_NUMBER && json->length == 1 && json->text[0] == '1');
    bool zero = event == OCDM__JSON_FALSE || (event == OCDM__JSON_NUMBER && json->length == 1 && json->text[0] == '0');
    if (!one && !zero)
        return fail_value(reading, "a multi-hot array has zeros and ones only");
    if (zero)
        return OCDM_OK;
    if (records->scratch_used == 0) /* up to ten digits an element, which has two bytes at least */
        OCDM_TRY(ocdm__reserve_scratch(records, 5 * ocdm__current_length(records) + 16));
    char digits[16], *text = records->scratch + records->scratch_used;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%u", position);
    memcpy(text, digits, length);
    records->scratch_used += length;
    return ocdm__add_piece(records, reading->json.text, text, length);
}

static ocdm_status read_labels(struct reading *reading)
{
    enum ocdm__json_event event = ocdm__json_next(&reading->json);
    if (event == OCDM__JSON_ERROR)
        return fail_json(reading);
    if (event == OCDM__JSON_STRING || (event == OCDM__JSON_NUMBER && reading->json.whole))
        return add_label(reading, event);
    if (event != OCDM__JSON_ARRAY)
        return fail_value(reading, "the labels are an array of strings and whole numbers, or one of them");
    for (uint32_t i = 0; (event = ocdm__json_next(&reading->json)) != OCDM__JSON_ARRAY_END; i++) {
        bool hot = reading->records->options.label_form == OCDM__LABELS_MULTI_HOT;
        OCDM_TRY(hot ? add_hot(reading, event, i) : add_label(reading, event));
    }
    return OCDM_OK;
}

static ocdm_status read_id(struct reading *reading)
{
    ocdm__json *json = &reading->json;
    enum ocdm__json_event event = ocdm__json_next(json);
    if (event == OCDM__JSON_ERROR)
        return fail_json(reading);
    if (event != OCDM__JSON_STRING && event != OCDM__JSON_NUMBER)
        return fail_value(reading, "an id is a string or a number");
    OCDM_TRY(ocdm__reserve_id(reading->records, json->length));
    char *id = reading->records->ids + reading->records->id_used;
    size_t length = json->length;
    if (event == OCDM__JSON_STRING && json->escaped)
        length = ocdm__json_unescape(json->text, json->length, id);
    else
        memcpy(id, json->text, length);
    ocdm__add_id(reading->records, reading->record, length);
    size_t quote = event == OCDM__JSON_STRING;
    reading->record->shown_at = (size_t)(json->text - ocdm__current(reading->records)) - quote;
    reading->record->shown_length = json->length + 2 * quote;
    return OCDM_OK;
}

/* Called after a key. An object on a path is entered: its members come next. */
static inline ocdm_status read_member(struct reading *reading)
{
    ocdm__json *json = &reading->json;
    enum step to_labels = follow(&reading->labels, json), to_id = STEP_ASIDE;
    if (!reading->records->options.no_id)
        to_id = follow(&reading->id, json);
    if (to_labels == STEP_TWICE || to_id == STEP_TWICE)
        return fail_value(reading, "a member that occurs twice");
    if (to_labels == STEP_TARGET)
        return read_labels(reading);
    if (to_id == STEP_TARGET)
        return read_id(reading);
    enum ocdm__json_event event = ocdm__json_next(json);
    if (event == OCDM__JSON_OBJECT && (to_labels == STEP_INSIDE || to_id == STEP_INSIDE)) {
        reading->labels.matched += to_labels == STEP_INSIDE;
        reading->id.matched += to_id == STEP_INSIDE;
        return OCDM_OK;
    }
    if (event == OCDM__JSON_OBJECT || event == OCDM__JSON_ARRAY)
        event = ocdm__json_skip(json, event);
    return event == OCDM__JSON_ERROR ? fail_json(reading) : OCDM_OK;
}

static ocdm_status check_members(struct reading *reading)
{
    ocdm__records *records = reading->records;
    const struct follower *labels = &reading->labels, *id = &reading->id;
    if (id->reached < id->path->part_count && records->id_required && labels->reached == labels->path->part_count)
        return ocdm__bad_record(records, ocdm__current(records), NULL, "the record has no member \"%s\"", id->path->text);
    if (labels->reached == labels->path->part_count)
        return OCDM_OK;
    /* The names of the members that are there, and ... when there is no room for all. */
    char members[200] = "";
    ocdm__json json;
    ocdm__json_begin(&json, ocdm__current(records), ocdm__current_length(records));
    ocdm__json_next(&json);
    while (ocdm__json_next(&json) == OCDM__JSON_KEY) {
        bool fits = strlen(members) + json.length + 8 <= sizeof members;
        ocdm__append(members, sizeof members, "%s%.*s", members[0] != '\0' ? ", " : "", fits ? (int)json.length : 3,
                     fits ? json.text : "...");
        if (!fits)
            break;
        ocdm__json_skip(&json, OCDM__JSON_KEY);
    }
    return ocdm__bad_record(records, ocdm__current(records),
                            records->options.hint && !records->has_read ? "`--labels NAME` says where the labels are" : NULL,
                            "the record has no member \"%s\"; it has: %s", labels->path->text,
                            members[0] != '\0' ? members : "none");
}

ocdm_status ocdm__read_jsonl(ocdm__records *records, ocdm__record *record)
{
    struct reading reading; /* not initialised as a whole: the JSON reader is large */
    reading.records = records;
    reading.record = record;
    reading.labels = (struct follower){.path = &records->labels};
    reading.id = (struct follower){.path = &records->id};
    ocdm__json_begin_padded(&reading.json, ocdm__current(records), ocdm__current_length(records));
    enum ocdm__json_event event = ocdm__json_next(&reading.json);
    if (event == OCDM__JSON_ERROR)
        return fail_json(&reading);
    if (event != OCDM__JSON_OBJECT)
        return fail_value(&reading, "the record is not an object");
    while ((event = ocdm__json_next(&reading.json)) == OCDM__JSON_KEY || event == OCDM__JSON_OBJECT_END) {
        if (event == OCDM__JSON_KEY) {
            OCDM_TRY(read_member(&reading));
        } else {
            leave_object(&reading.labels, reading.json.depth);
            leave_object(&reading.id, reading.json.depth);
        }
    }
    if (event != OCDM__JSON_END)
        return fail_json(&reading);
    OCDM_TRY(check_members(&reading));
    return ocdm__add_labels(records, record);
}
