/* Builds a stream file step by step: labels, selection, classes, groups, features or images, provenance, file. */
#define _XOPEN_SOURCE 700

#include "stream/build.h"

#include <limits.h>
#include <sys/stat.h>

#include "stream/features.h"
#include "stream/file.h"
#include "stream/readers/readers.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"
#include "stream/scenes/scenes.h"
#include "stream/selection.h"
#include "stream/statistics.h"

/* The most files that a stream names as its sources. */
#define MOST_FILES 4096

struct building {
    const ocdm__build_settings *settings;
    ocdm__reading *reading;
    ocdm_error *error;
    ocdm__build_report *report;
    ocdm__labelled_set set; /* what was read */
    uint8_t *groups;        /* of the recipe, by label of the source */
    ocdm__selection selection;
    ocdm__class_columns columns;
    ocdm__stream_table table;
    ocdm__feature_rows *rows;
    ocdm__feature_payload payload;
    ocdm__scenes *scenes; /* the built-in world, if that is the source */
    ocdm__provenance provenance;
    ocdm__found_files found;       /* in folders that are sources */
    char *root;                    /* the image root as an absolute path, from malloc */
    const char *files[MOST_FILES]; /* sources for the notes */
    size_t file_count;
};

/* ---- groups ---------------------------------------------------------------------------------------------------------- */

/* The recipe's groups are by label of the source; columns->of leads to the stream's classes. A class that the recipe does not
 * know has no group, and then the stream has none. */
static ocdm_status take_recipe_groups(struct building *building)
{
    ocdm__stream_table *table = &building->table;
    size_t known = 0;
    for (uint32_t i = 0; i < building->set.classes.count; i++) {
        if (building->columns.of[i] == UINT32_MAX || building->groups[i] == UINT8_MAX)
            continue;
        table->groups[building->columns.of[i]] = building->groups[i];
        known++;
    }
    if (known == table->class_count)
        return OCDM_OK;
    ocdm__release(table->groups);
    table->groups = NULL;
    return OCDM_OK;
}

/* By the training counts, a file, or the recipe; else the stream has none of its own. */
static ocdm_status make_groups(struct building *building)
{
    const ocdm__build_settings *settings = building->settings;
    ocdm__stream_table *table = &building->table;
    ocdm__label_table names = {.count = 0};
    uint64_t *counts = NULL;
    if (!settings->bounded_groups && settings->groups == NULL && building->groups == NULL)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(&table->groups, table->class_count, 1, "the groups of the classes", building->error));
    if (settings->bounded_groups) {
        OCDM_TRY(ocdm__new(&counts, table->class_count, sizeof *counts, "the groups of the classes", building->error));
        for (size_t i = 0; i < table->sample_count; i++)
            if (table->parts[i] == OCDM__TRAIN)
                ocdm__count_labels(table, i, counts);
        for (size_t i = 0; i < table->class_count; i++)
            table->groups[i] = (uint8_t)ocdm__class_group_of(counts[i], settings->bounds[0], settings->bounds[1]);
        ocdm__release(counts);
        return OCDM_OK;
    }
    if (settings->groups == NULL)
        return take_recipe_groups(building);
    ocdm_status status = ocdm__class_table_make(&names, table, building->error);
    OCDM_THEN(status, ocdm__class_groups_file_read(settings->groups, &names, table->groups, NULL, building->error));
    ocdm__label_table_clear(&names);
    return status;
}

/* Every image must exist: an error now is better than one in the middle of a run. */
static ocdm_status check_images(struct building *building)
{
    static const char hint[] = "--images names the folder that the paths start from";
    const char *root = building->settings->image_root;
    ocdm__text_list *paths = &building->table.paths;
    if (root == NULL) {
        OCDM_RELEASE(paths->starts, paths->bytes);
        *paths = (ocdm__text_list){.starts = NULL};
        return OCDM_OK;
    }
    building->root = realpath(root, NULL);
    if (building->root == NULL)
        return ocdm__fail(building->error, OCDM_IO, hint, "%s: %s", root, strerror(errno));
    if (paths->starts == NULL)
        return ocdm__fail(building->error, OCDM_BAD_ARGUMENT, "records name their image in the member `image`",
                          "--images is given, but no sample names an image");
    for (size_t i = 0; i < building->table.sample_count; i++) {
        char path[PATH_MAX] = "";
        size_t length;
        struct stat facts;
        const char *name = ocdm__text_at(paths, i, &length), *why = NULL;
        int count = length > 0 ? snprintf(path, sizeof path, "%s/%.*s", building->root, (int)length, name) : 0;
        if (count == 0)
            why = "the sample names none";
        else if (count < 0 || (size_t)count >= sizeof path)
            why = "the path is too long";
        else if (stat(path, &facts) != 0)
            why = strerror(errno);
        else if (!S_ISREG(facts.st_mode))
            why = "not a regular file";
        if (why != NULL)
            return ocdm__fail(building->error, OCDM_BAD_RECORD, hint, "sample %zu: image %s: %s", i, path, why);
    }
    return OCDM_OK;
}

/* ---- the steps ------------------------------------------------------------------------------------------------------- */

/* Counts labels of chosen samples that are missing in the file of classes. */
static uint64_t count_unlisted(const struct building *building)
{
    const ocdm__labelled_set *set = &building->set;
    const ocdm__selection *selection = &building->selection;
    uint64_t count = 0;
    for (size_t i = 0; i < selection->count; i++) {
        const ocdm__chosen *chosen = &selection->chosen[i];
        for (uint64_t k = set->label_starts[chosen->sample]; k < set->label_starts[chosen->sample + 1]; k++) {
            uint32_t label = set->labels[k];
            bool kept = selection->kept_classes == NULL || selection->kept_classes[label] != 0;
            bool of_task = selection->class_tasks == NULL || selection->class_tasks[label] == chosen->task;
            count += kept && of_task && building->columns.of[label] == UINT32_MAX;
        }
    }
    return count;
}

static ocdm_status make_table(struct building *building)
{
    if (building->settings->classes != NULL)
        ocdm__reading_skip_many(building->reading, "labels of classes that --classes does not list", count_unlisted(building));
    OCDM_TRY(
        ocdm__stream_table_make(&building->table, &building->set, &building->selection, &building->columns, building->error));
    const ocdm__stream_table *table = &building->table;
    const char *source = building->settings->source_count > 0 ? building->settings->sources[0] : "scenes";
    if (table->sample_count == 0)
        return ocdm__fail(building->error, OCDM_BAD_RECORD, "", "%s: no sample is left for the stream", source);
    if (table->label_starts[table->sample_count] == 0)
        return ocdm__fail(building->error, OCDM_BAD_RECORD,
                          building->settings->classes != NULL ? "is --classes the list for another source?" : "",
                          "%s: no sample %s a label", source, building->settings->classes != NULL ? "keeps" : "has");
    return OCDM_OK;
}

static ocdm_status open_features(struct building *building)
{
    const ocdm__build_settings *settings = building->settings;
    ocdm_status status = ocdm__source_open_rows(&building->set, settings, &building->rows, building->error);
    if (status == OCDM_OK && building->rows == NULL && (settings->standardize || settings->feature_type == OCDM__F16))
        return ocdm__fail(building->error, OCDM_BAD_ARGUMENT, "--features names them", "--%s is given, but no features",
                          settings->standardize ? "standardize" : "feature-type");
    if (status != OCDM_OK || building->rows == NULL)
        return status;
    status = ocdm__feature_payload_open(&building->payload, building->rows, &building->selection, settings->feature_type,
                                        settings->standardize, building->reading->progress, building->error);
    building->payload.file = settings->features != NULL ? settings->features : settings->sources[0];
    return status;
}

static void add_file(struct building *building, const char *path)
{
    struct stat facts;
    bool known = path == NULL || building->file_count == MOST_FILES || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode);
    for (size_t i = 0; !known && i < building->file_count; i++)
        known = strcmp(building->files[i], path) == 0;
    if (!known)
        building->files[building->file_count++] = path;
}

static ocdm_status make_notes(struct building *building)
{
    const ocdm__build_settings *settings = building->settings;
    for (size_t i = 0; i < settings->source_count; i++)
        add_file(building, settings->sources[i]);
    const char *more[] = {settings->test_source, settings->xml,   settings->features,
                          settings->classes,     settings->tasks, settings->groups};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        add_file(building, more[i]);
    for (size_t i = 0; i < building->found.count; i++)
        add_file(building, building->found.paths[i]);
    return ocdm__provenance_make(&building->provenance, settings->command, building->root, building->files,
                                 building->file_count, &building->table, building->reading->progress, building->error);
}

static ocdm_status write_stream(struct building *building)
{
    ocdm__payload_source source = building->payload.source;
    if (building->scenes != NULL)
        source = ocdm__scenes_payload(building->scenes, building->settings->image_size);
    return ocdm__stream_write(building->settings->output, &building->table, source.fill != NULL ? &source : NULL,
                              building->provenance.notes, building->provenance.note_count, building->reading->progress,
                              building->error);
}

/* Reads the labels, then chooses samples and orders the classes. */
static ocdm_status read_labels(struct building *building)
{
    const ocdm__build_settings *settings = building->settings;
    ocdm__selection *selection = &building->selection;
    const struct ocdm__recipe_job job = {selection,         &building->set,    settings,
                                         building->reading, &building->groups, building->error};
    if (settings->recipe == OCDM__RECIPE_SCENES) {
        OCDM_TRY(ocdm__scenes_create(settings->seed, &building->scenes, building->error));
        OCDM_TRY(ocdm__scenes_label(building->scenes, &building->set, building->error));
    } else {
        OCDM_TRY(ocdm__source_read(&building->set, settings, building->reading, building->error));
    }
    OCDM_TRY(ocdm__apply_recipe(&job));
    return ocdm__class_columns_make(&building->columns, &building->set.classes, settings->classes, selection->kept_classes,
                                    building->error);
}

/* A task is one that has a sample, as for `ocdm stream info`. */
static ocdm_status fill_report(struct building *building)
{
    ocdm__build_report *report = building->report;
    const ocdm__stream_table *table = &building->table;
    bool *seen;
    OCDM_TRY(ocdm__new(&seen, OCDM__MAX_TASKS, sizeof *seen, "the tasks of a stream", building->error));
    *report = (ocdm__build_report){.classes = table->class_count};
    for (size_t i = 0; i < table->sample_count; i++) {
        report->test += table->parts[i] == OCDM__TEST;
        report->train += table->parts[i] == OCDM__TRAIN;
        report->tasks += !seen[table->tasks[i]];
        seen[table->tasks[i]] = true;
    }
    memcpy(report->ids, building->provenance.ids, sizeof report->ids);
    ocdm__release(seen);
    return OCDM_OK;
}

static ocdm_status build(struct building *building)
{
    typedef ocdm_status step(struct building *);
    static step *const steps[] = {read_labels,   make_table, check_images, make_groups,
                                  open_features, make_notes, fill_report,  write_stream};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        OCDM_TRY(steps[i](building));
    return OCDM_OK;
}

ocdm_status ocdm__stream_build(const ocdm__build_settings *settings, ocdm__reading *reading, ocdm__build_report *report,
                               ocdm_error *error)
{
    struct building *building;
    OCDM_TRY(ocdm__new(&building, 1, sizeof *building, "a stream", error));
    building->settings = settings;
    building->reading = reading;
    building->error = error;
    building->report = report;
    reading->files = &building->found;
    ocdm_status status = build(building);
    reading->files = NULL;
    ocdm__provenance_clear(&building->provenance);
    ocdm__feature_payload_close(&building->payload);
    ocdm__feature_rows_close(building->rows);
    ocdm__scenes_destroy(building->scenes);
    ocdm__stream_table_clear(&building->table);
    ocdm__class_columns_clear(&building->columns);
    ocdm__selection_clear(&building->selection);
    ocdm__release(building->groups);
    ocdm__labelled_set_clear(&building->set);
    ocdm__found_files_clear(&building->found);
    free(building->root);
    ocdm__release(building);
    return status;
}
