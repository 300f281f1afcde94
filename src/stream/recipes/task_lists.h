/*
 * Which class belongs to which task, as text: one task a line, class names separated by commas, spaces around a name aside. A
 * line that starts with # is a comment; blank lines are no tasks; a class is in one task at most. A name cannot have a comma.
 *
 *     # two tasks
 *     person, bicycle, car
 *     cup, fork, dining table
 *
 * Two lists are built in, coco44 and nus44 (docs/task-lists.md).
 */
#ifndef OCDM_STREAM_RECIPES_TASK_LISTS_H
#define OCDM_STREAM_RECIPES_TASK_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"

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
 * a byte that is no text; no class at all), OCDM_LIMIT, OCDM_NO_MEMORY. The list, all zero before, is to be cleared in either
 * case.
 */
ocdm_status ocdm__task_list_parse(ocdm__task_list *list, const char *name, const char *text, size_t size, ocdm_error *error);

/* The built-in list of that name, or else the file of that path. Also OCDM_IO. */
ocdm_status ocdm__task_list_open(ocdm__task_list *list, const char *name, ocdm_error *error);

/*
 * The list as numbers: the task of each class of a source, UINT32_MAX for one that the list does not have. `class_tasks` has
 * room for all of `classes`, and is written on success only. OCDM_OK, OCDM_BAD_RECORD (the source lacks a class of the list,
 * which is a slip of the pen, or not the source that the list is for), OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__task_list_apply(ocdm__task_list *list, const ocdm__label_table *classes, uint32_t *class_tasks,
                                  ocdm_error *error);

/* Gives everything back. */
void ocdm__task_list_clear(ocdm__task_list *list);

#endif
