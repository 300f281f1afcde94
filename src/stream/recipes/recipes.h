/*
 * The recipes: which samples of a source go into the stream, and into which task and part. The .c files describe the rules and
 * file formats.
 */
#ifndef OCDM_STREAM_RECIPES_RECIPES_H
#define OCDM_STREAM_RECIPES_RECIPES_H

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

/* What a recipe works on. */
struct ocdm__recipe_job {
    ocdm__selection *selection; /* empty; to be cleared also after an error */
    const ocdm__labelled_set *set;
    const struct ocdm__build_settings *settings;
    ocdm__reading *reading; /* counts what is left out */
    uint8_t **groups; /* PRS's groups by class number in the set, UINT8_MAX for a class that is dropped; NULL when the recipe
                         has none. Allocated by ocdm__allocate; the caller releases it */
    ocdm_error *error;
};

/* Fills the selection by the recipe of the settings. Returns the recipe's status. */
ocdm_status ocdm__apply_recipe(const struct ocdm__recipe_job *job);

/*
 * The recipes for classes that have tasks: class_tasks is by number of a label in the set, OCDM__NO_TASK for a class that no
 * task has. For the split it may be NULL: tasks are the samples' own. O(labels); the paper's also sorts the pool of each class.
 * OCDM_OK, OCDM_BAD_RECORD (as ocdm__select_all, when tasks are the samples' own), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__select_split(const struct ocdm__recipe_job *job, const uint32_t *class_tasks);
ocdm_status ocdm__select_paper(const struct ocdm__recipe_job *job, const uint32_t *class_tasks); /* paper.c */

/* ---- tasks by co-occurrence (coclusters.c) ---- */

/* The most classes: the counts are a square, and the work grows with it. */
#define OCDM__MAX_CLUSTERED 2048

/*
 * Assigns classes to the tasks 0..task_count-1, numbered by their first classes. A class that no sample has gets UINT32_MAX.
 *
 * counts       how many samples have both of two classes: counts[a * class_count + b], symmetric; on the diagonal how many have
 *              the class
 * class_tasks  class_count of them, written on success
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (no tasks, or fewer classes than tasks), OCDM_LIMIT (too many classes), OCDM_NO_MEMORY.
 * O(class_count^2) as a rule, never more than its cube.
 */
ocdm_status ocdm__cluster_classes(const uint32_t *counts, size_t class_count, size_t task_count, uint32_t *class_tasks,
                                  ocdm_error *error);

/* The same from a labelled set's samples, counting first: also O(sum of the squares of the samples' label counts). */
ocdm_status ocdm__cluster_samples(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                                  size_t task_count, uint32_t *class_tasks, ocdm_error *error);

/* ---- PRS's lists of ids (id_lists.c) ---- */

/* One file of ids. */
typedef struct ocdm__id_list {
    const char *path; /* one of the files */
    uint32_t task;
    enum ocdm__part part;
} ocdm__id_list;

/* An id in a list. */
typedef struct ocdm__listed_id {
    size_t text_at; /* in `text`, `length` bytes */
    size_t length;
    ocdm__place place; /* in its file */
    uint32_t list;
} ocdm__listed_id;

/* Start with all bytes zero. */
typedef struct ocdm__id_lists {
    ocdm__label_table classes; /* by column */
    uint8_t *groups;           /* enum ocdm__class_group of each class; NULL where no group files fit */
    uint32_t task_count;
    ocdm__id_list *lists; /* training lists of task 0, 1, ..., then the test lists */
    size_t list_count, list_room;
    ocdm__listed_id *ids; /* list after list */
    size_t id_count, id_room;
    char *text;
    size_t text_used, text_room;
    ocdm__found_files files; /* every file that was read, in that order */
} ocdm__id_lists;

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
 * Selects the samples of a set that the lists name, in the order of the lists and of the ids in them. No sample is chosen
 * twice. An id that is listed twice, an id that the set lacks and a class that it lacks are errors; with skip_bad they are
 * counted and left out, of an id listed twice the second.
 *
 * selection  empty; on error it is empty again
 * groups     as for ocdm__apply_recipe
 *
 * OCDM_OK, OCDM_BAD_FILE, OCDM_NO_MEMORY. O(n + m) for n samples and m ids.
 */
ocdm_status ocdm__id_lists_choose(const ocdm__id_lists *lists, const ocdm__labelled_set *set, ocdm__reading *reading,
                                  ocdm__selection *selection, uint8_t **groups, ocdm_error *error);

/* ---- lists of classes (task_lists.c) ---- */

/* Start with all bytes zero. */
typedef struct ocdm__task_list {
    const char *name; /* for messages: a built-in list's, or the path */
    size_t task_count;
    ocdm__label_table classes; /* in the list's order */
    uint32_t *tasks;           /* by class */
    uint64_t *lines;           /* by class, from 1 */
    size_t task_room, line_room;
} ocdm__task_list;

/* The built-in lists, ended by one without a name. */
struct ocdm__shipped_list {
    const char *name, *text;
};
extern const struct ocdm__shipped_list ocdm__shipped_lists[];

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
 * which means a typing error or the wrong source).
 */
ocdm_status ocdm__task_list_apply(const ocdm__task_list *list, const ocdm__label_table *classes, uint32_t *class_tasks,
                                  ocdm_error *error);

/* Releases everything. */
void ocdm__task_list_clear(ocdm__task_list *list);

#endif
