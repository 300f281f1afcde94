/*
 * Reads records into a labelled set. Classes and tasks get their final numbers after the last record: a table from old to new
 * numbers, then one pass over the samples.
 */
#include "stream/records/source.h"

#include <sys/stat.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"
#include "stream/statistics.h"

/* A value of a member: in JSON it is a string or a number; a field of a table may be either. */
struct member_value {
    const char *text; /* escapes and quotes undone */
    size_t length;
    bool string, whole, number; /* the types that it may have */
};

/* ---- members -------------------------------------------------------------------------------------------------------- */

/* The name of a member. */
static const char *member_name(enum ocdm__member member, const ocdm__wanted_members *wanted)
{
    static const char *const usual[OCDM__MEMBERS] = {"task", "split", "image", "row"};
    return wanted->names[member] != NULL ? wanted->names[member] : usual[member];
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static bool refuse_member(ocdm__record_members *members, const char *name, const char *trouble)
{
    ocdm__shown_label shown = ocdm__show_label(name, strlen(name));
    snprintf(members->reason, sizeof members->reason, "\"%s\" %s", shown.text, trouble);
    return false;
}

/* Keeps a value. Returns NULL, or what is wrong with it. */
static const char *keep_value(ocdm__record_members *members, enum ocdm__member member, const struct member_value *value)
{
    uint64_t *number = member == OCDM__MEMBER_TASK ? &members->task : &members->row;
    switch (member) {
    case OCDM__MEMBER_TASK:
    case OCDM__MEMBER_ROW:
        return value->whole && ocdm__text_to_whole(value->text, value->length, 0, UINT64_MAX, number)
                   ? NULL
                   : "must be a whole number from 0";
    case OCDM__MEMBER_SPLIT:
        members->part = ocdm__text_is(value->text, value->length, "test") ? OCDM__TEST : OCDM__TRAIN;
        return value->string && (members->part == OCDM__TEST || ocdm__text_is(value->text, value->length, "train"))
                   ? NULL
                   : "must be \"train\" or \"test\"";
    case OCDM__MEMBER_IMAGE:
        if (!value->string || value->length == 0)
            return "must be the path of a file";
        if (value->length > OCDM__LONGEST_MEMBER || !ocdm__is_text(value->text, value->length, false))
            return "is too long a path, or has control characters";
        if (value->text[0] == '/')
            return "must be a path relative to the folder of images";
        if (ocdm__path_climbs(value->text, value->length))
            return "must not lead out of its folder with ..";
        memcpy(members->image, value->text, members->image_length = value->length);
        return NULL;
    default:
        if (!value->string && !value->number)
            return "must be a string or a number";
        if (value->length > OCDM__LONGEST_MEMBER)
            return "has too long a value";
        memcpy(members->other, value->text, members->other_length = value->length);
        return NULL;
    }
}

/* The same; false, with a reason, if the value is invalid. */
static bool take_member(ocdm__record_members *members, enum ocdm__member member, const ocdm__wanted_members *wanted,
                        const struct member_value *value)
{
    const char *trouble = keep_value(members, member, value);
    members->found |= 1u << member;
    return trouble == NULL || refuse_member(members, member_name(member, wanted), trouble);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

/* The value after the current key. A string with escapes is undone into a buffer; one that is too long for it is too long for
 * any member, escapes or not. */
static bool take_value(ocdm__json *json, enum ocdm__member member, const ocdm__wanted_members *wanted,
                       ocdm__record_members *members)
{
    char plain[6 * (OCDM__LONGEST_MEMBER + 1)];
    if ((members->found & 1u << member) != 0)
        return refuse_member(members, member_name(member, wanted), "occurs twice");
    enum ocdm__json_event event = ocdm__json_next(json);
    struct member_value value = {.text = json->text,
                                 .length = json->length,
                                 .string = event == OCDM__JSON_STRING,
                                 .number = event == OCDM__JSON_NUMBER,
                                 .whole = event == OCDM__JSON_NUMBER && json->whole};
    if (value.string && json->escaped && json->length <= sizeof plain) {
        value.length = ocdm__json_unescape(json->text, json->length, plain);
        value.text = plain;
    }
    return take_member(members, member, wanted, &value);
}

static bool read_json_members(const char *bytes, size_t length, const ocdm__wanted_members *wanted,
                              ocdm__record_members *members)
{
    ocdm__json json;
    ocdm__json_begin(&json, bytes, length);
    ocdm__json_next(&json);
    while (ocdm__json_next(&json) == OCDM__JSON_KEY) {
        /* The member that the key names. The other member goes first, since it may have any name. */
        unsigned member = OCDM__MEMBERS;
        while (member-- > 0) {
            const char *name = member_name((enum ocdm__member)member, wanted);
            if ((wanted->which & 1u << member) != 0 && ocdm__json_is(&json, name, strlen(name)))
                break;
        }
        if (member >= OCDM__MEMBERS) {
            ocdm__json_skip(&json, OCDM__JSON_KEY);
        } else if (!take_value(&json, (enum ocdm__member)member, wanted, members)) {
            members->at = (size_t)(json.text - bytes);
            return false;
        }
    }
    return true;
}

/* Reads the members of a record that the record reader has accepted. */
static bool read_field_members(const char *bytes, size_t length, const ocdm__member_reader *columns,
                               ocdm__record_members *members)
{
    struct ocdm__fields fields = ocdm__fields_of(bytes, length, columns->delimiter);
    struct ocdm__field field;
    for (size_t column = 0; column < columns->count && ocdm__next_field(&fields, &field); column++) {
        char text[OCDM__LONGEST_MEMBER + 1];
        if (columns->member[column] == OCDM__MEMBERS)
            continue;
        struct member_value value = {.text = text, .string = true, .number = true, .whole = true};
        value.length = ocdm__copy_field(&field, text, sizeof text);
        if (value.length > 0 && !take_member(members, (enum ocdm__member)columns->member[column], &columns->wanted, &value)) {
            members->at = (size_t)(field.at - bytes) - field.quoted;
            return false;
        }
    }
    return true;
}

/* ---- either --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__member_reader_begin(ocdm__member_reader *reader, const ocdm__records *records, const char *file,
                                      ocdm_error *error)
{
    if (records->header == NULL)
        return OCDM_OK;
    reader->delimiter = records->delimiter;
    OCDM_TRY(ocdm__new(&reader->member, records->column_count, 1, "the columns of a table", error));
    const ocdm__wanted_members *wanted = &reader->wanted;
    struct ocdm__fields fields = ocdm__fields_of(records->header, records->header_length, reader->delimiter);
    struct ocdm__field field;
    unsigned found = 0;
    while (ocdm__next_field(&fields, &field)) {
        char name[OCDM__LONGEST_MEMBER + 1] = "";
        size_t length = ocdm__copy_field(&field, name, sizeof name);
        uint8_t member = OCDM__MEMBERS;
        for (unsigned i = 0; i < OCDM__MEMBERS; i++) /* the last one counts: the other member may have any name */
            if ((wanted->which & 1u << i) != 0 && ocdm__text_is(name, length, member_name((enum ocdm__member)i, wanted)))
                member = (uint8_t)i;
        if (member != OCDM__MEMBERS && (found & 1u << member) != 0)
            return ocdm__fail(error, OCDM_BAD_RECORD, "", "%s:1:1: two columns named \"%s\"", file,
                              member_name((enum ocdm__member)member, wanted));
        found |= 1u << member;
        reader->member[reader->count++] = member;
    }
    for (unsigned i = 0; i < OCDM__MEMBERS; i++)
        if ((wanted->which & ~found & 1u << i) != 0 && wanted->names[i] != NULL)
            return ocdm__fail(error, OCDM_BAD_RECORD, "`--task`, `--tasks-by`, `--split` and `--image` name columns",
                              "%s:1:1: no column named \"%s\"", file, wanted->names[i]);
    return OCDM_OK;
}

bool ocdm__member_reader_read(const ocdm__member_reader *reader, const ocdm__records *records, const ocdm__record *record,
                              ocdm__record_members *members)
{
    const char *bytes = ocdm__records_bytes(records, record->at);
    members->found = 0;
    members->task = OCDM__NO_TASK;
    members->row = OCDM__NO_ROW;
    members->part = OCDM__NO_PART;
    members->image_length = members->other_length = 0;
    if (reader->member != NULL)
        return read_field_members(bytes, record->length, reader, members);
    if (records->format == OCDM__FORMAT_JSONL)
        return read_json_members(bytes, record->length, &reader->wanted, members);
    return true;
}

void ocdm__member_reader_clear(ocdm__member_reader *reader)
{
    ocdm__release(reader->member);
    reader->member = NULL;
}

/* The samples from number `first` on have labels of `labels`: makes them classes of the set. A label that no sample has, since
 * its record was skipped, is no class. OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT. */
static ocdm_status settle_classes(ocdm__labelled_set *set, size_t first, const ocdm__label_table *labels, ocdm_error *error)
{
    uint32_t *numbers = ocdm__allocate(labels->count, sizeof *numbers);
    ocdm_status status = numbers != NULL ? OCDM_OK : ocdm__fail_memory(error, "the classes of records");
    if (numbers != NULL && first < set->count)
        for (size_t i = (size_t)set->label_starts[first]; i < set->label_starts[set->count]; i++)
            numbers[set->labels[i]] = 1; /* in use */
    for (uint32_t i = 0; status == OCDM_OK && i < labels->count; i++) {
        if (numbers[i] == 1)
            status = ocdm__label_table_copy(&set->classes, labels, i, &numbers[i], error);
    }
    for (size_t sample = first; status == OCDM_OK && sample < set->count; sample++) {
        /* Labels of a sample ascend; after renumbering they must be sorted again. */
        size_t start = (size_t)set->label_starts[sample], end = (size_t)set->label_starts[sample + 1];
        for (size_t i = start; i < end; i++)
            set->labels[i] = numbers[set->labels[i]];
        ocdm__sort_numbers(set->labels + start, end - start);
    }
    ocdm__release(numbers);
    return status;
}

/* ---- tasks ---------------------------------------------------------------------------------------------------------- */

struct named_task {
    const char *text;
    size_t length;
    double value;
    uint32_t number;
};

static int compare_texts(const void *left, const void *right)
{
    const struct named_task *a = left, *b = right;
    return ocdm__compare_texts(a->text, a->length, b->text, b->length);
}

static int compare_values(const void *left, const void *right)
{
    const struct named_task *a = left, *b = right;
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value) : compare_texts(left, right);
}

/* The samples from number `first` on have the number of their task's name in `names`: sorts the names, numerically when all of
 * them are numbers, else bytewise, those that no sample has left out, and gives the samples the new numbers. OCDM_OK,
 * OCDM_NO_MEMORY. */
static ocdm_status settle_tasks(ocdm__labelled_set *set, size_t first, ocdm__label_table *names, ocdm_error *error)
{
    ocdm__label_table ordered = {.count = 0};
    uint32_t *numbers = ocdm__allocate(names->count, sizeof *numbers);
    struct named_task *sorted = ocdm__allocate(names->count, sizeof *sorted);
    ocdm_status status = numbers != NULL && sorted != NULL ? OCDM_OK : ocdm__fail_memory(error, "the tasks of records");
    size_t count = 0;
    bool numeric = true;
    for (size_t i = first; status == OCDM_OK && i < set->count; i++)
        numbers[set->tasks[i]] = 1; /* in use */
    for (uint32_t i = 0; status == OCDM_OK && i < names->count; i++) {
        if (numbers[i] == 0)
            continue;
        struct named_task *task = &sorted[count++];
        task->number = i;
        task->text = ocdm__label_table_text(names, i, &task->length);
        numeric = numeric && ocdm__text_to_double(task->text, task->length, &task->value) && isfinite(task->value);
    }
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, numeric ? compare_values : compare_texts);
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        status = ocdm__label_table_add(&ordered, sorted[i].text, sorted[i].length, &numbers[sorted[i].number], error);
    for (size_t i = first; status == OCDM_OK && i < set->count; i++)
        set->tasks[i] = numbers[set->tasks[i]];
    ocdm__label_table_clear(status == OCDM_OK ? names : &ordered);
    if (status == OCDM_OK)
        *names = ordered;
    OCDM_RELEASE(numbers, sorted);
    return status;
}

#define UNREADABLE "records that cannot be read"
#define BAD_MEMBER "records with a bad task, split, image or row"
#define KNOWN_ID "records whose id was used before"

/* Records between two looks at the progress. */
#define PROGRESS_STEP 8192

struct source_reading {
    ocdm__labelled_set *set;
    ocdm__records_source *source;
    ocdm__reading *reading;
    ocdm_error *error;
    const char *file; /* its name, for messages */
    uint64_t file_size;
    uint64_t rows_before; /* of the files before */
    uint64_t first;       /* what the first record's number counts from in its id */
    ocdm__records *records;
    ocdm__member_reader member_reader;
    uint64_t refused;    /* records skipped here */
    uint64_t unreadable; /* records skipped by the reader */
    ocdm__record_members members;
};

/* Refuses the current record for what is wrong at a byte of it, or counts it. */
static ocdm_status refuse(struct source_reading *state, const ocdm__record *record, size_t offset, const char *kind,
                          const char *reason)
{
    ocdm__record place = *record;
    place.shown_at = offset;
    if (state->reading->skip_bad) {
        char where[sizeof state->reading->skips[0].first];
        ocdm__place at = ocdm__record_place_of(state->records, ocdm__current(state->records) + offset);
        snprintf(where, sizeof where, "%s:%" PRIu64 ":%" PRIu64, state->file, at.line, at.column);
        ocdm__reading_skip(state->reading, kind, where);
        state->refused++;
    }
    return ocdm__records_refuse(state->records, &place, reason, NULL, false, state->error);
}

/* ---- a record ------------------------------------------------------------------------------------------------------- */

/* Checks members against each other. NULL when all is well. */
static const char *check_members(struct source_reading *state)
{
    ocdm__record_members *members = &state->members;
    unsigned other = 1u << OCDM__MEMBER_OTHER;
    members->at = 0;
    if ((members->found & 1u << OCDM__MEMBER_TASK) != 0 && members->task >= OCDM__NO_TASK)
        return "\"task\" must be below 4294967295";
    if ((members->found & 1u << OCDM__MEMBER_ROW) != 0 && members->row == OCDM__NO_ROW)
        return "\"row\" is too large";
    if ((state->member_reader.wanted.which & other) == 0 || (members->found & other) != 0)
        return NULL;
    ocdm__shown_label name = ocdm__show_label(state->member_reader.wanted.names[OCDM__MEMBER_OTHER],
                                              strlen(state->member_reader.wanted.names[OCDM__MEMBER_OTHER]));
    snprintf(members->reason, sizeof members->reason, "the record has no value of \"%s\"", name.text);
    return members->reason;
}

/* Adds a sample under its id, # and the record's number. */
static ocdm_status add_apart(struct source_reading *state, const ocdm__labelled_sample *sample, uint64_t number)
{
    ocdm__labelled_sample apart = *sample;
    char *id;
    OCDM_TRY(ocdm__new(&id, sample->id_length + 24, 1, "an id", state->error));
    memcpy(id, sample->id, sample->id_length);
    apart.id = id;
    apart.id_length += (size_t)snprintf(id + sample->id_length, 24, "#%" PRIu64, number);
    ocdm_status status = ocdm__labelled_set_add(state->set, &apart, state->error);
    ocdm__release(id);
    return status;
}

static ocdm_status add_record(struct source_reading *state, const ocdm__record *record, uint64_t number)
{
    char own_id[24];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    if (!ocdm__member_reader_read(&state->member_reader, state->records, record, &state->members))
        return refuse(state, record, state->members.at, BAD_MEMBER, state->members.reason);
    const char *trouble = check_members(state);
    if (trouble != NULL)
        return refuse(state, record, state->members.at, BAD_MEMBER, trouble);
    const ocdm__record_members *members = &state->members;
    sample.number = state->rows_before + number;
    sample.task = (uint32_t)members->task;
    sample.part = members->part;
    sample.row = members->row;
    sample.path = members->image_length > 0 ? members->image : NULL;
    sample.path_length = members->image_length;
    if ((members->found & 1u << OCDM__MEMBER_OTHER) != 0) {
        /* The number that the task has until all are known. */
        ocdm__label_table *names = &state->source->task_names;
        OCDM_TRY(ocdm__label_table_add(names, members->other, members->other_length, &sample.task, state->error));
        if (names->count > OCDM__MAX_TASKS)
            return ocdm__fail(state->error, OCDM_LIMIT, "tasks come from a member or column with few values",
                              "%s: \"%s\" has more than %d values", state->file,
                              state->member_reader.wanted.names[OCDM__MEMBER_OTHER], OCDM__MAX_TASKS);
    }
    sample.id = own_id;
    if (record->has_id) {
        sample.id = ocdm__records_id(state->records, record);
        sample.id_length = record->id_length;
    } else {
        sample.id_length = (size_t)snprintf(own_id, sizeof own_id, "%" PRIu64, state->first + number);
    }
    sample.label_count = record->label_count;
    if (record->label_count > 0)
        sample.labels = state->records->numbers + record->label_at;
    ocdm_status status = ocdm__labelled_set_add(state->set, &sample, state->error);
    if (status == OCDM_DUPLICATE_ID && sample.row != OCDM__NO_ROW)
        status = add_apart(state, &sample, number);
    if (status == OCDM_DUPLICATE_ID) {
        char reason[256];
        ocdm__shown_label id = ocdm__show_label(sample.id, sample.id_length);
        snprintf(reason, sizeof reason, "the id \"%s\" was used before", id.text);
        return refuse(state, record, record->shown_at, KNOWN_ID, reason);
    }
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

static ocdm_status tell_progress(const struct source_reading *state)
{
    uint64_t done = state->records->input.bytes_read, total = state->file_size > done ? state->file_size : done;
    return ocdm__reading_goes_on(state->reading, "reading records", done, total, state->error);
}

static ocdm_status read_records(struct source_reading *state)
{
    for (uint64_t good = 0;; good++) {
        ocdm__record record;
        bool found;
        OCDM_TRY(ocdm__records_next(state->records, &record, &found, state->error));
        /* Counts what the record reader has skipped since the last call. It knows the position of the very first one only. */
        uint64_t skipped = state->records->skipped - state->refused;
        for (; state->unreadable < skipped; state->unreadable++) {
            bool first = state->unreadable == 0 && state->refused == 0;
            ocdm__reading_skip(state->reading, UNREADABLE, first ? state->records->first_skipped.message : state->file);
        }
        if (!found) {
            state->set->row_count = state->rows_before + good + state->unreadable;
            return tell_progress(state);
        }
        ocdm_status status = add_record(state, &record, good + state->unreadable);
        if (status == OCDM_OK && good % PROGRESS_STEP == 0)
            status = tell_progress(state);
        if (status != OCDM_OK)
            return status;
        ocdm__records_release(state->records);
    }
}

static ocdm_status begin_reading(struct source_reading *state, const char *path)
{
    const ocdm__progress *progress = state->reading->progress;
    ocdm__record_options options = state->source->options;
    struct stat facts;
    options.skip_bad = state->reading->skip_bad;
    state->file = path == NULL || strcmp(path, "-") == 0 ? "<stdin>" : path;
    if (stat(state->file, &facts) == 0 && S_ISREG(facts.st_mode))
        state->file_size = (uint64_t)facts.st_size;
    state->member_reader.wanted.which = 1u << OCDM__MEMBER_SPLIT | 1u << OCDM__MEMBER_IMAGE | 1u << OCDM__MEMBER_ROW;
    state->member_reader.wanted.which |= 1u << (state->source->tasks_by != NULL ? OCDM__MEMBER_OTHER : OCDM__MEMBER_TASK);
    memcpy(state->member_reader.wanted.names, state->source->names, sizeof state->source->names);
    state->member_reader.wanted.names[OCDM__MEMBER_OTHER] = state->source->tasks_by;
    ocdm_status status =
        ocdm__records_open(&state->records, path, &options, progress != NULL ? progress->stop : NULL, state->error);
    if (status == OCDM_OK && state->records->format == OCDM__FORMAT_SVM &&
        state->member_reader.wanted.names[OCDM__MEMBER_OTHER] != NULL)
        return ocdm__fail(state->error, OCDM_BAD_ARGUMENT, "svm has labels and features only",
                          "`--tasks-by` does not apply to the format svm");
    return status == OCDM_OK ? ocdm__member_reader_begin(&state->member_reader, state->records, state->file, state->error)
                             : status;
}

ocdm_status ocdm__records_source_read(ocdm__labelled_set *set, const char *path, ocdm__records_source *source,
                                      ocdm__reading *reading, ocdm_error *error)
{
    struct source_reading *state;
    OCDM_TRY(ocdm__new(&state, 1, sizeof *state, "the record reader", error));
    size_t first = set->count;
    *state = (struct source_reading){.set = set, .source = source, .reading = reading, .error = error};
    state->rows_before = set->row_count;
    state->first = set->row_count > first ? set->row_count : first;
    ocdm_status status = begin_reading(state, path);
    OCDM_THEN(status, read_records(state));
    OCDM_THEN(status, ocdm__records_label_warning(state->records, reading->doubt, error));
    OCDM_THEN(status, settle_classes(set, first, &state->records->table, error));
    if (status == OCDM_OK && source->tasks_by != NULL)
        status = settle_tasks(set, first, &source->task_names, error);
    ocdm__records_close(state->records);
    ocdm__member_reader_clear(&state->member_reader);
    ocdm__release(state);
    return status;
}

void ocdm__records_source_clear(ocdm__records_source *source)
{
    ocdm__label_table_clear(&source->task_names);
}
