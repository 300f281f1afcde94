/* Calls the reader of each kind of source, and gives every sample its row among the features. */
#include "stream/build.h"
#include "stream/features.h"
#include "stream/readers/readers.h"
#include "stream/records/source.h"
#include "stream/selection.h"

/* ---- labels ---------------------------------------------------------------------------------------------------------- */

struct ocdm__source_job {
    ocdm__labelled_set *set;
    const ocdm__build_settings *settings;
    ocdm__reading *reading;
    ocdm_error *error;
};

static ocdm_status read_records(const struct ocdm__source_job *job, const char *path)
{
    ocdm__records_source records = {.options = job->settings->records, .tasks_by = job->settings->tasks_by};
    records.names[OCDM__MEMBER_TASK] = job->settings->task;
    records.names[OCDM__MEMBER_SPLIT] = job->settings->split;
    records.names[OCDM__MEMBER_IMAGE] = job->settings->image;
    ocdm_status status = ocdm__records_source_read(job->set, path, &records, job->reading, job->error);
    ocdm__records_source_clear(&records);
    return status;
}

static ocdm_status read_nuswide(const struct ocdm__source_job *job, const char *path)
{
    return ocdm__nuswide_read(job->set, path, job->reading, job->error);
}

static ocdm_status read_arff(const struct ocdm__source_job *job, const char *path)
{
    return ocdm__arff_read(job->set, path, job->settings->xml, job->reading, job->error);
}

/* The columns of a multi-hot table get the names of --classes, one a line, unless it lists columns by number. */
static ocdm_status read_multihot(const struct ocdm__source_job *job, const char *path)
{
    ocdm__label_table names = {.count = 0}, *columns = &job->set->classes;
    bool first = job->set->count == 0, numbers = true;
    OCDM_TRY(ocdm__npy_read_labels(job->set, path, job->reading, job->error));
    if (!first || job->settings->classes == NULL)
        return OCDM_OK;
    ocdm_status status = ocdm__class_names_read(&names, job->settings->classes, job->error);
    for (uint32_t i = 0; i < names.count && numbers; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(&names, i, &length);
        numbers = length > 0; /* a column's number is its name until it gets another */
        while (length > 0 && numbers)
            numbers = text[--length] >= '0' && text[length] <= '9';
    }
    if (status == OCDM_OK && !numbers && names.count != columns->count)
        status = ocdm__fail(job->error, OCDM_BAD_FILE, "one name per column, in the order of the columns",
                            "%s has %u classes, and the table %u columns", job->settings->classes, names.count, columns->count);
    if (status == OCDM_OK && !numbers) {
        ocdm__label_table old = *columns;
        *columns = names;
        names = old;
    }
    ocdm__label_table_clear(&names);
    return status;
}

/* All files at once: an image must not be in two of them. */
static ocdm_status read_coco(const struct ocdm__source_job *job, const char *path)
{
    (void)path;
    const ocdm__build_settings *settings = job->settings;
    size_t count = settings->source_count + (settings->test_source != NULL);
    const char **paths = ocdm__allocate(count, sizeof *paths);
    enum ocdm__part *parts = ocdm__allocate(count, sizeof *parts);
    ocdm_status status = paths != NULL && parts != NULL ? OCDM_OK : ocdm__fail_memory(job->error, "the list of sources");
    for (size_t i = 0; i < count && status == OCDM_OK; i++) {
        paths[i] = i < settings->source_count ? settings->sources[i] : settings->test_source;
        parts[i] = settings->test_source == NULL ? OCDM__NO_PART : i < settings->source_count ? OCDM__TRAIN : OCDM__TEST;
    }
    OCDM_THEN(status, ocdm__coco_read(job->set, paths, parts, count, job->reading, job->error));
    OCDM_RELEASE(paths, parts);
    return status;
}

ocdm_status ocdm__source_read(ocdm__labelled_set *set, const ocdm__build_settings *settings, ocdm__reading *reading,
                              ocdm_error *error)
{
    struct ocdm__source_job job = {set, settings, reading, error};
    const struct ocdm__source_row *row = &ocdm__sources[settings->kind];
    bool at_once = (row->properties & OCDM__ALL_AT_ONCE) != 0;
    for (size_t i = 0; i < (at_once ? 1 : settings->source_count); i++)
        OCDM_TRY(row->read(&job, settings->sources[i]));
    if (!at_once && settings->test_source != NULL) {
        /* All samples of a second file are the test part; those of the first are for training unless they say otherwise. */
        size_t first = set->count;
        OCDM_TRY(row->read(&job, settings->test_source));
        for (size_t i = 0; i < set->count; i++)
            if (set->parts[i] == OCDM__NO_PART || i >= first)
                set->parts[i] = i < first ? OCDM__TRAIN : OCDM__TEST;
    }
    if (set->count == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, "", "%s: no samples in it", settings->sources[0]);
    return OCDM_OK;
}

/* ---- what readers share --------------------------------------------------------------------------------------------- */

ocdm_status ocdm__label_lists_make(ocdm__label_lists *lists, size_t sample_count, const ocdm__label_pair *pairs,
                                   size_t pair_count, ocdm_error *error)
{
    lists->starts = ocdm__allocate(sample_count + 2, sizeof *lists->starts);
    lists->labels = ocdm__allocate(pair_count, sizeof *lists->labels);
    if (lists->starts == NULL || lists->labels == NULL)
        return ocdm__fail_memory(error, "the labels of a source");
    /* While filling, starts[i + 1] is where the next label of sample i goes: it ends up at where sample i + 1 starts. */
    for (size_t i = 0; i < pair_count; i++)
        lists->starts[pairs[i].sample + 2]++;
    for (size_t i = 2; i < sample_count + 2; i++)
        lists->starts[i] += lists->starts[i - 1];
    for (size_t i = 0; i < pair_count; i++)
        lists->labels[lists->starts[pairs[i].sample + 1]++] = pairs[i].label;
    return OCDM_OK;
}

void ocdm__label_lists_clear(ocdm__label_lists *lists)
{
    OCDM_RELEASE(lists->starts, lists->labels);
}

ocdm_status ocdm__table_samples_begin(ocdm__table_samples *samples, size_t label_count)
{
    samples->rows_before = samples->set->row_count;
    samples->first = samples->set->count > samples->rows_before ? samples->set->count : (size_t)samples->rows_before;
    samples->classes = ocdm__allocate(label_count, sizeof *samples->classes);
    samples->found = ocdm__allocate(label_count, sizeof *samples->found);
    bool made = samples->classes != NULL && samples->found != NULL;
    return made ? OCDM_OK : ocdm__fail_memory(samples->error, "the labels of a table");
}

ocdm_status ocdm__table_samples_add(ocdm__table_samples *samples, uint64_t row, const char *where)
{
    char id[24];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id;
    sample.id_length = (size_t)snprintf(id, sizeof id, "%llu", (unsigned long long)samples->first + row);
    sample.labels = samples->found;
    sample.label_count = samples->found_count;
    sample.row = row;
    sample.number = samples->rows_before + row;
    ocdm_status status = ocdm__labelled_set_add(samples->set, &sample, samples->error);
    if (status == OCDM_DUPLICATE_ID)
        return ocdm__fail(samples->error, status, "", "%s: another source has a sample of that number", where);
    if (status == OCDM_TOO_MANY_LABELS)
        return ocdm__fail(samples->error, status, "", "%s: more than %u labels on one sample", where, OCDM_MAX_LABELS);
    return status;
}

void ocdm__table_samples_clear(ocdm__table_samples *samples)
{
    OCDM_RELEASE(samples->classes, samples->found);
}

ocdm_status ocdm__line_rows_go(ocdm__line_rows *rows, uint64_t row, ocdm_error *error)
{
    const char *path = rows->lines->path;
    if (row >= rows->rows.count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %llu of %llu", path, (unsigned long long)row,
                          (unsigned long long)rows->rows.count);
    if (row < rows->next) {
        ocdm__lines_go(rows->lines, rows->first);
        rows->next = 0;
    }
    for (; rows->next <= row; rows->next++)
        if (!rows->advance(rows))
            return ocdm__fail(error, OCDM_IO, "", "%s: row %llu is gone", path, (unsigned long long)row);
    return OCDM_OK;
}

/* ---- features -------------------------------------------------------------------------------------------------------- */

static ocdm_status open_record_rows(const ocdm__build_settings *settings, const char *path, ocdm__feature_rows **rows,
                                    ocdm_error *error)
{
    const char *dot = strrchr(path, '.');
    bool named = dot != NULL && (strcmp(dot, ".svm") == 0 || strcmp(dot, ".libsvm") == 0 || strcmp(dot, ".xmc") == 0);
    return (settings->records.format == OCDM__FORMAT_SVM || (settings->records.format == OCDM__FORMAT_AUTO && named))
               ? ocdm__svm_open_rows(path, rows, error)
               : OCDM_OK;
}

static ocdm_status open_arff_rows(const ocdm__build_settings *settings, const char *path, ocdm__feature_rows **rows,
                                  ocdm_error *error)
{
    return ocdm__arff_open_rows(path, settings->xml, rows, error);
}

#define SOURCE_ROW(KIND, name, value_name, text, traits, reader, opener, OWN)                                                  \
    [OCDM__FROM_##KIND] = {.flag = name, .properties = traits, .read = reader, .open_rows = opener},
const struct ocdm__source_row ocdm__sources[OCDM__SOURCE_KINDS] = {OCDM__SOURCES(SOURCE_ROW)};

/* The rows of all files, one file after another; row i is that of sample i. */
struct source_rows {
    ocdm__feature_rows rows; /* first, so that one pointer is both */
    const uint64_t *numbers; /* of each sample's row among all */
    ocdm__feature_rows **files;
    size_t file_count;
    uint64_t total;
};

static ocdm_status read_sample_row(ocdm__feature_rows *rows, uint64_t sample, float *out, ocdm_error *error)
{
    const struct source_rows *all = (struct source_rows *)rows;
    uint64_t row = all->numbers[sample];
    size_t file = 0;
    for (; row >= all->files[file]->count; file++)
        row -= all->files[file]->count;
    return all->files[file]->read(all->files[file], row, out, error);
}

static void close_source_rows(ocdm__feature_rows *rows)
{
    struct source_rows *all = (struct source_rows *)rows;
    for (size_t i = 0; i < all->file_count; i++)
        ocdm__feature_rows_close(all->files[i]);
    OCDM_RELEASE(all->files, all);
}

/* Opens the rows of one file, if it has any. */
static ocdm_status open_file(struct source_rows *all, const ocdm__build_settings *settings, const char *path, ocdm_error *error)
{
    const struct ocdm__source_row *row = &ocdm__sources[settings->kind];
    ocdm__feature_rows **made = &all->files[all->file_count];
    if (settings->features != NULL)
        OCDM_TRY(ocdm__npy_open_rows(path, made, error));
    else if (row->open_rows != NULL)
        OCDM_TRY(row->open_rows(settings, path, made, error));
    if (*made == NULL)
        return OCDM_OK;
    size_t width = (*made)->width, wanted = all->files[0]->width;
    all->total += (*made)->count;
    all->file_count++;
    if (width != wanted)
        return ocdm__fail(error, OCDM_BAD_FILE, "training and test samples need the same features",
                          "%s: %zu features a sample, the first file has %zu", path, width, wanted);
    return OCDM_OK;
}

ocdm_status ocdm__source_open_rows(const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                                   ocdm__feature_rows **rows, ocdm_error *error)
{
    *rows = NULL;
    struct source_rows *all;
    OCDM_TRY(ocdm__new(&all, 1, sizeof *all, "the features", error));
    ocdm_status status = ocdm__new(&all->files, settings->source_count + 1, sizeof *all->files, "the features", error);
    if (settings->features != NULL)
        OCDM_THEN(status, open_file(all, settings, settings->features, error));
    bool own = settings->features == NULL && settings->source_features;
    for (size_t i = 0; own && i < settings->source_count; i++)
        OCDM_THEN(status, open_file(all, settings, settings->sources[i], error));
    if (own && settings->test_source != NULL)
        OCDM_THEN(status, open_file(all, settings, settings->test_source, error));
    all->numbers = set->numbers;
    if (all->file_count > 0)
        all->rows = (ocdm__feature_rows){set->count, all->files[0]->width, read_sample_row, close_source_rows};
    /* Every row belongs to a sample, or to one that was skipped. The readers of COCO and NUS-WIDE do not report which images
     * they skipped: there the features must be those of the remaining samples. */
    if (status == OCDM_OK && all->file_count > 0 && all->total != set->row_count)
        status = ocdm__fail(error, OCDM_BAD_FILE, "row i of the features must belong to sample i of the labels",
                            "%s: %llu rows of features for %llu samples",
                            settings->features != NULL ? settings->features : settings->sources[0],
                            (unsigned long long)all->total, (unsigned long long)set->row_count);
    if (status == OCDM_OK && all->file_count > 0)
        *rows = &all->rows;
    else
        close_source_rows(&all->rows);
    return status;
}
