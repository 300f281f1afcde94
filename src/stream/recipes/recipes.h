/*
 * The recipes: which samples of a source go into the stream, and into which task and part. The .c files describe the rules and
 * file formats.
 */
#ifndef OCDM_STREAM_RECIPES_RECIPES_H
#define OCDM_STREAM_RECIPES_RECIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"
#include "stream/selection.h"

struct ocdm__build_settings; /* stream/build.h */

/* ---- any recipe (recipe.c) ---- */

/*
 * The recipes by the names of --recipe: ROW(RECIPE, name, apply). The enum, the choices of the flag and the function that is
 * called are made from it. `apply` is a function of recipe.c. The built-in world, which takes the place of a source, has tasks.
 */
#define OCDM__RECIPES(ROW)                                                                                                     \
    ROW(PAPER, "paper", apply_paper)                                                                                           \
    ROW(SPLIT, "split", apply_split)                                                                                           \
    ROW(INCREMENTAL, "incremental", apply_incremental)                                                                         \
    ROW(SCENES, "scenes", apply_none)

/* NONE takes the source's own tasks, IDS those of --ids; the others follow in the order of the rows. */
#define OCDM__RECIPE_ENUM(RECIPE, name, apply) OCDM__RECIPE_##RECIPE,
enum ocdm__recipe { OCDM__RECIPE_NONE, OCDM__RECIPE_IDS, OCDM__RECIPES(OCDM__RECIPE_ENUM) OCDM__RECIPE_COUNT };
#undef OCDM__RECIPE_ENUM
enum { OCDM__FIRST_NAMED_RECIPE = OCDM__RECIPE_IDS + 1 };

/* Fills an empty selection by the recipe of the settings and counts what is left out in `reading`. Returns the recipe's status.
 *
 * groups  PRS's groups by class number in the set, UINT8_MAX for a class that is dropped; NULL when the recipe has none.
 *         Allocated by ocdm__allocate; the caller releases it. */
ocdm_status ocdm__apply_recipe(ocdm__selection *selection, const ocdm__labelled_set *set,
                               const struct ocdm__build_settings *settings, ocdm__reading *reading, uint8_t **groups,
                               ocdm_error *error);

/* ---- tasks by the labels of a sample (recipe.c) ---- */

typedef struct ocdm__split_settings {
    const uint32_t *class_tasks; /* by number of a label in the set, OCDM__NO_TASK for a class that no task has; NULL: tasks are
                                    the samples' own */
    bool drop_mixed;
    double test_share; /* 0 to 1 */
    uint64_t seed;
} ocdm__split_settings;

/* Counts of samples that did not fit. */
typedef struct ocdm__split_tally {
    uint64_t without_task; /* none of the labels is of a task: left out */
    uint64_t mixed;        /* labels of several tasks */
} ocdm__split_tally;

/* OCDM_OK, OCDM_BAD_RECORD (as ocdm__select_all, when tasks are the samples' own), OCDM_NO_MEMORY. */
ocdm_status ocdm__select_split(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings,
                               ocdm__split_tally *tally, ocdm_error *error);

/* ---- classes that appear by and by, annotated only when they do (recipe.c) ---- */

typedef struct ocdm__incremental_settings {
    const uint32_t *places; /* by number of a label in the set: its place in the order of the classes; UINT32_MAX: left out */
    size_t class_count;     /* how many places there are */
    uint32_t base, step;    /* classes of the first task, of each further one; without a base all have `step` */
    double test_share;      /* as in ocdm__split_settings */
    uint64_t seed;
} ocdm__incremental_settings;

/* What did not fit. */
typedef struct ocdm__incremental_tally {
    uint64_t without_task; /* samples that have no label with a place: left out */
    uint64_t unlisted;     /* labels without a place, of the others */
} ocdm__incremental_tally;

/* OCDM_OK, OCDM_BAD_ARGUMENT (more classes in the base than there are, too many tasks), OCDM_NO_MEMORY. */
ocdm_status ocdm__select_incremental(ocdm__selection *selection, const ocdm__labelled_set *set,
                                     const ocdm__incremental_settings *settings, ocdm__incremental_tally *tally,
                                     ocdm_error *error);

/* ---- the OCDM paper (paper.c) ---- */

#define OCDM__PAPER_TEST_PER_CLASS 50

enum ocdm__test_pool { OCDM__TEST_FROM_SINGLE = 0, OCDM__TEST_FROM_REST = 1 };

typedef struct ocdm__paper_settings {
    const uint32_t *class_tasks; /* by class, OCDM__NO_TASK for a class that no task has */
    enum ocdm__test_pool pool;
    uint32_t test_per_class; /* 0: no test part, and no class is removed */
    uint64_t seed;
} ocdm__paper_settings;

/* The labelled set as the recipe looks at it. */
typedef struct ocdm__paper_samples {
    size_t count;
    const uint64_t *label_starts; /* count + 1 of them */
    const uint32_t *labels;       /* of each sample ascending, no repeats */
    size_t class_count;
    const uint64_t *sample_keys; /* NULL: positions */
    const uint64_t *class_keys;  /* NULL: class numbers */
} ocdm__paper_samples;

/* Counts of the samples; the first seven add up to their number. */
typedef struct ocdm__paper_tally {
    uint64_t train, test;
    uint64_t without_label;  /* left out: no label at all */
    uint64_t without_task;   /* left out: a label that no task has */
    uint64_t mixed;          /* left out: labels of several tasks */
    uint64_t of_removed;     /* left out: labels of removed classes only */
    uint64_t not_drawn;      /* left out: one label, of a class that stays, whose test part is full */
    size_t kept, removed;    /* classes of the tasks */
    size_t without_training; /* of the kept ones: no training sample carries it */
} ocdm__paper_tally;

/* What was decided. */
typedef struct ocdm__paper_choice {
    uint8_t *parts;        /* by sample: OCDM__TRAIN, OCDM__TEST, or OCDM__NO_PART when it is left out */
    uint32_t *tasks;       /* by sample; OCDM__NO_TASK when it is left out */
    uint8_t *kept_classes; /* by class: 1 when it stays */
    ocdm__paper_tally tally;
} ocdm__paper_choice;

/*
 * Applies the recipe. A sample in the stream keeps those of its labels that stay and are of its task. OCDM_OK, OCDM_NO_MEMORY.
 * `choice` is written on success only, to be cleared by the caller. O(labels), plus sorting the pool of each class.
 */
ocdm_status ocdm__paper_choose(ocdm__paper_choice *choice, const ocdm__paper_samples *source,
                               const ocdm__paper_settings *settings, ocdm_error *error);

/* Releases everything. All zero is fine. */
void ocdm__paper_choice_clear(ocdm__paper_choice *choice);

/* The same as a selection, samples in the order of the set. Keys are FNV-1a hashes (base/bytes.h) of ids and class names.
 * OCDM_OK, OCDM_NO_MEMORY. `selection`, all zero before, must be cleared in either case. */
ocdm_status ocdm__select_paper(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__paper_settings *settings,
                               ocdm__paper_tally *tally, ocdm_error *error);

/* ---- tasks by co-occurrence (coclusters.c) ---- */

/* The most classes: the counts are a square, and the work grows with it. */
#define OCDM__MAX_CLUSTERED 2048

/*
 * How many samples have both of two classes: counts[a * class_count + b], symmetric; on the diagonal how many have the class.
 * `counts` is all zero before. Labels of each sample ascending, no repeats. O(sum of the squares of the samples' label counts).
 */
void ocdm__count_together(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                          uint32_t *counts);

/*
 * Assigns classes to the tasks 0..task_count-1, numbered by their first classes. A class that no sample has gets UINT32_MAX.
 *
 * counts       as ocdm__count_together gives them
 * class_tasks  class_count of them, written on success
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (no tasks, or fewer classes than tasks), OCDM_LIMIT (too many classes), OCDM_NO_MEMORY.
 * O(class_count^2) as a rule, never more than its cube.
 */
ocdm_status ocdm__cluster_classes(const uint32_t *counts, size_t class_count, size_t task_count, uint32_t *class_tasks,
                                  ocdm_error *error);

/* The same from a labelled set's samples, counting first. Also OCDM_LIMIT. */
ocdm_status ocdm__cluster_samples(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                                  size_t task_count, uint32_t *class_tasks, ocdm_error *error);

/* ---- PRS's lists of ids (id_lists.c, id_lists_choose.c) ---- */

/* One file of ids. */
typedef struct ocdm__id_list {
    char *path;   /* one of the files */
    size_t first; /* its ids are from here on */
    size_t count;
    uint32_t task;
    enum ocdm__part part;
} ocdm__id_list;

/* An id in a list. */
typedef struct ocdm__listed_id {
    size_t text_at; /* in `text`, `length` bytes */
    size_t length;
    uint64_t line, column; /* where in its file */
    uint32_t list;
} ocdm__listed_id;

/* Start with all bytes zero. */
typedef struct ocdm__id_lists {
    ocdm__label_table classes; /* by column */
    uint8_t *groups;           /* enum ocdm__class_group of each class; NULL where no group files fit */
    uint32_t task_count;
    ocdm__id_list *lists; /* training lists of task 0, 1, ..., then the test lists */
    size_t list_count;
    ocdm__listed_id *ids; /* list after list */
    size_t id_count;
    char *text;

    char **files; /* every file that was read, in that order */
    size_t file_count;
    size_t list_room, id_room, text_used, text_room, file_room;
} ocdm__id_lists;

/* A sample of the stream. */
typedef struct ocdm__id_choice {
    uint32_t sample; /* in the labelled set */
    uint32_t task;
    uint8_t part; /* enum ocdm__part */
} ocdm__id_choice;

/* Start with all bytes zero. */
typedef struct ocdm__id_choices {
    ocdm__id_choice *samples; /* in the order of the lists and of the ids in them */
    size_t count;
    uint32_t *class_of; /* for each class of the set its number among the lists' classes, UINT32_MAX for one to drop */
} ocdm__id_choices;

/*
 * Reads a folder; `unbalanced` takes the teorg lists for the test lists. Every task from 0 on must have both lists.
 *
 * OCDM_OK, OCDM_IO, OCDM_BAD_FILE (file:line:column, or the folder where a list is missing), OCDM_NO_MEMORY, OCDM_LIMIT. On
 * error nothing needs to be cleared.
 */
ocdm_status ocdm__id_lists_read(ocdm__id_lists *lists, const char *folder, bool unbalanced, ocdm_error *error);

/* Releases everything. */
void ocdm__id_lists_clear(ocdm__id_lists *lists);

/*
 * Finds the samples of a set that the lists name. No sample is chosen twice. An id that is listed twice, an id that the set
 * lacks and a class that it lacks are errors; with skip_bad they are counted and left out, of an id listed twice the second.
 *
 * OCDM_OK, OCDM_BAD_FILE, OCDM_NO_MEMORY. On error nothing needs to be cleared. O((n + m) log m) for n samples and m ids.
 */
ocdm_status ocdm__id_lists_choose(const ocdm__id_lists *lists, const ocdm__labelled_set *set, ocdm__reading *reading,
                                  ocdm__id_choices *chosen, ocdm_error *error);

/* Releases everything. */
void ocdm__id_choices_clear(ocdm__id_choices *chosen);

/* ---- lists of classes (task_lists.c) ---- */

/* Start with all bytes zero. */
typedef struct ocdm__task_list {
    const char *name; /* for messages: a built-in list's, or the path */
    size_t task_count;
    uint32_t class_count;
    ocdm__label_table classes; /* the first class_count labels are the list's, in its order */
    uint32_t *tasks;           /* by class */
    uint64_t *lines;           /* by class, from 1 */
    size_t room;
} ocdm__task_list;

/* The built-in lists: name and text by number, NULL from the last on. */
const char *ocdm__shipped_list_name(size_t number);
const char *ocdm__shipped_list_text(size_t number);

/*
 * Reads `size` bytes of text. `name` must outlive the list. OCDM_OK, OCDM_BAD_RECORD (file:line: a class twice, an empty name,
 * a byte that is no text; no class at all), OCDM_LIMIT, OCDM_NO_MEMORY. The list, all zero before, must be cleared in either
 * case.
 */
ocdm_status ocdm__task_list_parse(ocdm__task_list *list, const char *name, const char *text, size_t size, ocdm_error *error);

/* The built-in list of that name, or else the file of that path. Also OCDM_IO. */
ocdm_status ocdm__task_list_open(ocdm__task_list *list, const char *name, ocdm_error *error);

/*
 * The list as numbers: the task of each class of a source, UINT32_MAX for one that the list does not have. `class_tasks` has
 * room for all of `classes`, and is written on success only. OCDM_OK, OCDM_BAD_RECORD (the source lacks a class of the list,
 * which means a typing error or the wrong source), OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__task_list_apply(ocdm__task_list *list, const ocdm__label_table *classes, uint32_t *class_tasks,
                                  ocdm_error *error);

/* Releases everything. */
void ocdm__task_list_clear(ocdm__task_list *list);

#endif
