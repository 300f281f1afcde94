/* Labelled sets, what was skipped while reading, and the list of files that readers find. */
#include "stream/labelled_set.h"

#include "base/text.h"

#define MOST_LABELS 65535

static bool make_room(ocdm__labelled_set *set)
{
    if (set->count + 1 < set->room)
        return true;
    size_t room = ocdm__larger_room(set->room, 2);
    bool failed = false;
    set->label_starts = ocdm__grown(set->label_starts, room, sizeof *set->label_starts, &failed);
    set->tasks = ocdm__grown(set->tasks, room, sizeof *set->tasks, &failed);
    set->rows = ocdm__grown(set->rows, room, sizeof *set->rows, &failed);
    set->numbers = ocdm__grown(set->numbers, room, sizeof *set->numbers, &failed);
    set->path_numbers = ocdm__grown(set->path_numbers, room, sizeof *set->path_numbers, &failed);
    set->parts = ocdm__grown(set->parts, room, sizeof *set->parts, &failed);
    if (failed)
        return false;
    if (set->count == 0)
        set->label_starts[0] = 0;
    set->room = room;
    return true;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Most are in order already. */
size_t ocdm__sort_numbers(uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    for (size_t i = 1; i < count; i++)
        if (numbers[i] <= numbers[i - 1]) {
            qsort(numbers, count, sizeof *numbers, compare_numbers);
            break;
        }
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

ocdm_status ocdm__labelled_set_add(ocdm__labelled_set *set, const ocdm__labelled_sample *sample, ocdm_error *error)
{
    uint32_t number, path = UINT32_MAX;
    size_t at = set->count > 0 ? (size_t)set->label_starts[set->count] : 0;
    size_t needed = at + sample->label_count + 1; /* one more, so that `labels` is never NULL */
    if (!make_room(set) || !ocdm__reserve(&set->labels, &set->label_room, needed, sizeof *set->labels))
        return ocdm__fail_memory(error, "the labels of a source");
    ocdm_status status = OCDM_OK;
    if (sample->path != NULL)
        status = ocdm__label_table_add(&set->paths, sample->path, sample->path_length, &path, error);
    if (sample->label_count > 0)
        memcpy(set->labels + at, sample->labels, sample->label_count * sizeof *set->labels);
    size_t kept = sample->label_count > 0 ? ocdm__sort_numbers(set->labels + at, sample->label_count) : 0;
    if (status == OCDM_OK && kept > MOST_LABELS)
        status = ocdm__fail(error, OCDM_TOO_MANY_LABELS, "", "a sample has %zu labels, the most is %d", kept, MOST_LABELS);
    OCDM_THEN(status, ocdm__label_table_add(&set->ids, sample->id, sample->id_length, &number, error));
    if (status != OCDM_OK)
        return status;
    if (number != set->count)
        return OCDM_DUPLICATE_ID;
    set->tasks[number] = sample->task;
    set->rows[number] = sample->row;
    set->numbers[number] = sample->number != OCDM__NO_ROW ? sample->number : number;
    set->row_count = set->numbers[number] + 1;
    set->path_numbers[number] = path;
    set->parts[number] = (uint8_t)sample->part;
    set->label_starts[++set->count] = at + kept;
    return OCDM_OK;
}

void ocdm__labelled_set_clear(ocdm__labelled_set *set)
{
    ocdm__label_table_clear(&set->classes);
    ocdm__label_table_clear(&set->ids);
    ocdm__label_table_clear(&set->paths);
    OCDM_RELEASE(set->label_starts, set->labels, set->tasks, set->rows, set->numbers, set->path_numbers, set->parts);
    *set = (ocdm__labelled_set){.count = 0};
}

/* The entry of a reason; when all entries are in use, the last one counts the rest. */
static ocdm__skip *find_skip(ocdm__reading *reading, const char *reason, const char *where)
{
    size_t i = 0;
    while (i < reading->skip_count && strcmp(reading->skips[i].reason, reason) != 0)
        i++;
    if (i == OCDM__SKIP_REASONS)
        return &reading->skips[i - 1];
    if (i == reading->skip_count) {
        reading->skips[i] = (ocdm__skip){.reason = reason};
        snprintf(reading->skips[i].first, sizeof reading->skips[i].first, "%s", where != NULL ? where : "");
        reading->skip_count++;
    }
    return &reading->skips[i];
}

void ocdm__reading_skip(ocdm__reading *reading, const char *reason, const char *where)
{
    find_skip(reading, reason, where)->count++;
}

void ocdm__reading_skip_many(ocdm__reading *reading, const char *reason, uint64_t count)
{
    if (count > 0)
        find_skip(reading, reason, NULL)->count += count;
}

ocdm_status ocdm__reading_goes_on(const ocdm__reading *reading, const char *what, uint64_t done, uint64_t total,
                                  ocdm_error *error)
{
    ocdm__progress_tell(reading->progress, what, done, total);
    if (ocdm__progress_stopped(reading->progress))
        return ocdm__fail(error, OCDM_STOPPED, "", "stopped while %s", what);
    return OCDM_OK;
}

/* ---- found files ---------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__found_files_add(ocdm__found_files *files, const char *path, ocdm_error *error)
{
    if (files == NULL)
        return OCDM_OK;
    if (!ocdm__reserve(&files->paths, &files->room, files->count + 1, sizeof *files->paths))
        return ocdm__fail_memory(error, "the name of a file");
    OCDM_TRY(ocdm__format(&files->paths[files->count], error, "%s", path));
    files->count++;
    return OCDM_OK;
}

void ocdm__found_files_clear(ocdm__found_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        ocdm__release(files->paths[i]);
    ocdm__release(files->paths);
    *files = (ocdm__found_files){.count = 0};
}
