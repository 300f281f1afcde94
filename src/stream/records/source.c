/* Records one by one into the set; classes and tasks get their numbers when all have been read. */
#define _POSIX_C_SOURCE 200809L

#include "stream/records/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/shown_label.h"
#include "stream/records/source_members.h"
#include "stream/records/source_order.h"
#include "stream/statistics.h"

#define UNREADABLE "records that cannot be read"
#define BAD_MEMBER "records with a bad task, split, image or row"
#define KNOWN_ID "records whose id is there already"

/* Records between two looks at the progress. */
#define PROGRESS_STEP 8192

struct source_reading {
    ocdm__labelled_set *set;
    ocdm__records_source *source;
    ocdm__reading *reading;
    ocdm_error *error;
    const char *file; /* its name, for messages */
    uint64_t file_size;
    uint64_t first; /* what the first record's number counts from */
    ocdm__records *records;
    ocdm__wanted_members wanted;
    ocdm__member_columns columns;
    uint64_t refused;    /* records skipped here */
    uint64_t unreadable; /* records skipped by the reader */
    ocdm__record_members members;
};

/* ---- skipping ------------------------------------------------------------------------------------------------------- */

/* Line and column of a byte of the record, as the record reader counts them. */
static void write_place(const struct source_reading *state, const ocdm__record *record, size_t offset, char *out, size_t room)
{
    const char *bytes = ocdm__records_bytes(state->records, record->at);
    uint64_t line = record->line;
    size_t line_at = 0;
    for (size_t i = 0; i < offset; i++)
        if (bytes[i] == '\n') {
            line++;
            line_at = i + 1;
        }
    size_t before = line == 1 ? record->at : 0; /* a byte order mark */
    snprintf(out, room, "%s:%" PRIu64 ":%zu", state->file, line, before + offset - line_at + 1);
}

/* Refuses the record at hand for what is wrong at a byte of it, or counts it. */
static ocdm_status refuse(struct source_reading *state, const ocdm__record *record, size_t offset, const char *kind,
                          const char *reason)
{
    ocdm__record place = *record;
    place.shown_at = offset;
    if (state->reading->skip_bad) {
        char where[sizeof state->reading->skips[0].first];
        write_place(state, record, offset, where, sizeof where);
        ocdm__reading_skip(state->reading, kind, where);
        state->refused++;
    }
    return ocdm__records_refuse(state->records, &place, reason, state->error);
}

/* Counts what the record reader has skipped since the last time. Only of the very first does it know the place. */
static void count_unreadable(struct source_reading *state)
{
    uint64_t skipped = ocdm__records_skipped(state->records) - state->refused;
    for (; state->unreadable < skipped; state->unreadable++) {
        bool first = state->unreadable == 0 && state->refused == 0;
        ocdm__reading_skip(state->reading, UNREADABLE, first ? ocdm__records_first_skipped(state->records) : state->file);
    }
}

/* ---- a record ------------------------------------------------------------------------------------------------------- */

static bool read_members(struct source_reading *state, const ocdm__record *record)
{
    const char *bytes = ocdm__records_bytes(state->records, record->at);
    switch (ocdm__records_format(state->records)) {
    case OCDM__FORMAT_JSONL:
        return ocdm__read_json_members(bytes, record->length, &state->wanted, &state->members);
    case OCDM__FORMAT_CSV:
    case OCDM__FORMAT_TSV:
        return ocdm__read_field_members(bytes, record->length, &state->wanted, &state->columns, &state->members);
    default:
        state->members.found = 0;
        return true;
    }
}

/* What one member alone does not tell. NULL when all is well. */
static const char *check_members(struct source_reading *state)
{
    ocdm__record_members *members = &state->members;
    unsigned other = 1u << OCDM__MEMBER_OTHER;
    members->at = 0;
    if ((members->found & 1u << OCDM__MEMBER_TASK) != 0 && members->task >= OCDM__NO_TASK)
        return "\"task\" must be below 4294967295";
    if ((members->found & 1u << OCDM__MEMBER_ROW) != 0 && members->row == OCDM__NO_ROW)
        return "\"row\" is too large";
    if ((state->wanted.which & other) == 0 || (members->found & other) != 0)
        return NULL;
    ocdm__shown_label name = ocdm__show_label(state->wanted.other, strlen(state->wanted.other));
    snprintf(members->reason, sizeof members->reason, "the record has no value of \"%s\"", name.text);
    return members->reason;
}

/* The number that the task has until all are known. */
static ocdm_status note_task(struct source_reading *state, uint32_t *task)
{
    const ocdm__record_members *members = &state->members;
    ocdm__label_table *names = &state->source->task_names;
    ocdm_status status = ocdm__label_table_add(names, members->other, members->other_length, task, state->error);
    if (status != OCDM_OK || names->count <= OCDM__MAX_TASKS)
        return status;
    return ocdm__fail(state->error, OCDM_LIMIT, "tasks come from a member or column with few values",
                      "%s: \"%s\" has more than %d values", state->file, state->wanted.other, OCDM__MAX_TASKS);
}

static ocdm_status fill_sample(struct source_reading *state, ocdm__labelled_sample *sample)
{
    const ocdm__record_members *members = &state->members;
    if ((members->found & 1u << OCDM__MEMBER_TASK) != 0)
        sample->task = (uint32_t)members->task;
    if ((members->found & 1u << OCDM__MEMBER_SPLIT) != 0)
        sample->part = members->part;
    if ((members->found & 1u << OCDM__MEMBER_ROW) != 0)
        sample->row = members->row;
    if ((members->found & 1u << OCDM__MEMBER_IMAGE) != 0) {
        sample->path = members->image;
        sample->path_length = members->image_length;
    }
    return (members->found & 1u << OCDM__MEMBER_OTHER) != 0 ? note_task(state, &sample->task) : OCDM_OK;
}

static ocdm_status note_number(ocdm__records_source *source, uint64_t number, ocdm_error *error)
{
    if (source->record_count == source->record_room) {
        size_t room = source->record_room > 0 ? 2 * source->record_room : 1024;
        uint64_t *numbers = ocdm__resize(source->record_numbers, room, sizeof *numbers);
        if (numbers == NULL)
            return ocdm__fail_memory(error, "the numbers of records");
        source->record_numbers = numbers;
        source->record_room = room;
    }
    source->record_numbers[source->record_count++] = number;
    return OCDM_OK;
}

static ocdm_status refuse_id(struct source_reading *state, const ocdm__record *record, const ocdm__labelled_sample *sample)
{
    char reason[256];
    ocdm__shown_label id = ocdm__show_label(sample->id, sample->id_length);
    snprintf(reason, sizeof reason, "the id \"%s\" is there already", id.text);
    return refuse(state, record, record->shown_at, KNOWN_ID, reason);
}

/* Adds a sample under its id, # and the record's number. */
static ocdm_status add_apart(struct source_reading *state, const ocdm__labelled_sample *sample, uint64_t number)
{
    ocdm__labelled_sample apart = *sample;
    char *id = ocdm__allocate(sample->id_length + 24 + OCDM__LABEL_PADDING, 1);
    if (id == NULL)
        return ocdm__fail_memory(state->error, "an id");
    memcpy(id, sample->id, sample->id_length);
    apart.id = id;
    apart.id_length += (size_t)snprintf(id + sample->id_length, 24, "#%" PRIu64, number);
    ocdm_status status = ocdm__labelled_set_add(state->set, &apart, state->error);
    ocdm__release(id);
    return status;
}

static ocdm_status add_record(struct source_reading *state, const ocdm__record *record, uint64_t number)
{
    char own_id[24 + OCDM__LABEL_PADDING];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    if (!read_members(state, record))
        return refuse(state, record, state->members.at, BAD_MEMBER, state->members.reason);
    const char *trouble = check_members(state);
    if (trouble != NULL)
        return refuse(state, record, state->members.at, BAD_MEMBER, trouble);
    ocdm_status status = fill_sample(state, &sample);
    if (status != OCDM_OK)
        return status;
    sample.id = own_id;
    if (record->has_id) {
        sample.id = ocdm__records_id(state->records, record);
        sample.id_length = record->id_length;
    } else {
        sample.id_length = (size_t)snprintf(own_id, sizeof own_id, "%" PRIu64, state->first + number);
    }
    sample.label_count = record->label_count;
    if (record->label_count > 0)
        sample.labels = ocdm__records_labels(state->records) + record->label_at;
    status = ocdm__labelled_set_add(state->set, &sample, state->error);
    if (status == OCDM_DUPLICATE_ID && sample.row != OCDM__NO_ROW)
        status = add_apart(state, &sample, number);
    if (status == OCDM_DUPLICATE_ID)
        return refuse_id(state, record, &sample);
    return status == OCDM_OK ? note_number(state->source, number, state->error) : status;
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

static ocdm_status tell_progress(const struct source_reading *state)
{
    uint64_t done = ocdm__records_bytes_read(state->records), total = state->file_size > done ? state->file_size : done;
    return ocdm__reading_goes_on(state->reading, "reading records", done, total, state->error);
}

static ocdm_status read_records(struct source_reading *state)
{
    for (uint64_t good = 0;; good++) {
        ocdm__record record;
        bool found;
        ocdm_status status = ocdm__records_next(state->records, &record, &found, state->error);
        if (status != OCDM_OK)
            return status;
        count_unreadable(state);
        if (!found) {
            state->source->record_total = good + state->unreadable;
            return tell_progress(state);
        }
        status = add_record(state, &record, good + state->unreadable);
        if (status == OCDM_OK && good % PROGRESS_STEP == 0)
            status = tell_progress(state);
        if (status != OCDM_OK)
            return status;
        ocdm__records_release(state->records);
    }
}

static ocdm_status begin_columns(struct source_reading *state)
{
    size_t length;
    const char *header = ocdm__records_header(state->records, &length);
    if (header == NULL)
        return OCDM_OK;
    state->columns.delimiter = ocdm__records_format(state->records) == OCDM__FORMAT_CSV ? ',' : '\t';
    return ocdm__find_member_columns(&state->columns, header, length, &state->wanted, state->file, state->error);
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
    state->wanted.which = 1u << OCDM__MEMBER_SPLIT | 1u << OCDM__MEMBER_IMAGE | 1u << OCDM__MEMBER_ROW;
    state->wanted.which |= 1u << (state->source->tasks_by != NULL ? OCDM__MEMBER_OTHER : OCDM__MEMBER_TASK);
    state->wanted.other = state->source->tasks_by;
    ocdm_status status =
        ocdm__records_open(&state->records, path, &options, progress != NULL ? progress->stop : NULL, state->error);
    if (status == OCDM_OK && ocdm__records_format(state->records) == OCDM__FORMAT_SVM && state->wanted.other != NULL)
        return ocdm__fail(state->error, OCDM_BAD_ARGUMENT, "svm has labels and features only",
                          "`--tasks-by` names nothing in the format svm");
    return status == OCDM_OK ? begin_columns(state) : status;
}

ocdm_status ocdm__records_source_read(ocdm__labelled_set *set, const char *path, ocdm__records_source *source,
                                      ocdm__reading *reading, ocdm_error *error)
{
    struct source_reading *state = ocdm__allocate(1, sizeof *state);
    if (state == NULL)
        return ocdm__fail_memory(error, "the record reader");
    size_t first = set->count;
    *state = (struct source_reading){.set = set, .source = source, .reading = reading, .error = error};
    state->first = source->first_number > first ? source->first_number : first;
    ocdm_status status = begin_reading(state, path);
    if (status == OCDM_OK)
        status = read_records(state);
    if (status == OCDM_OK)
        status = ocdm__settle_classes(set, first, ocdm__records_label_table(state->records), error);
    if (status == OCDM_OK && source->tasks_by != NULL)
        status = ocdm__settle_tasks(set, first, &source->task_names, error);
    ocdm__records_close(state->records);
    ocdm__release(state->columns.member);
    ocdm__release(state);
    return status;
}

void ocdm__records_source_clear(ocdm__records_source *source)
{
    ocdm__label_table_clear(&source->task_names);
    ocdm__release(source->record_numbers);
    source->record_numbers = NULL;
    source->record_count = source->record_room = 0;
    source->record_total = 0;
}
