/*
 * Tasks by lists of ids, as PRS (Kim, Jeong, Kim 2020) published them for COCOseq and NUS-WIDEseq. A folder has
 *
 *     multihot_map.json                {"name": column, ...}: the classes; labels outside it are dropped
 *     ids/train_task<K>_id_*.json      an array of ids: the training samples of task K, counted from 0
 *     ids/test_task<K>_id_*.json       its test samples, as many of each class
 *     ids/teorg_task<K>_id_*.json      its test samples before they were balanced; instead of the former when asked for
 *
 * and perhaps files of class groups beside, under it in `groups`, or in a folder `groups` beside it: arrays of class names in
 * major_cats.json, moderate_cats.json, minor_cats.json, or with _nuswide before the dot.
 *
 *     ocdm__id_lists lists = {0};
 *     ocdm__id_choices chosen = {0};
 *     if (ocdm__id_lists_read(&lists, folder, false, error) != OCDM_OK) ...
 *     if (ocdm__id_lists_choose(&lists, &set, &reading, &chosen, error) != OCDM_OK) ...
 *     for (size_t i = 0; i < chosen.count; i++)
 *         use(&set, chosen.samples[i].sample, chosen.samples[i].task, chosen.samples[i].part);
 *
 * An id is a sample's id, written as a number or a string; but where samples have rows (NUS-WIDE), it is a row of the source's
 * list of training samples or, in a test list, of that of test samples.
 */
#ifndef OCDM_STREAM_RECIPES_ID_LISTS_H
#define OCDM_STREAM_RECIPES_ID_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/labelled_set.h"

/* One file of ids. */
typedef struct ocdm__id_list {
    char *path;   /* one of the files */
    size_t first; /* its ids are from here on */
    size_t count;
    uint32_t task;
    enum ocdm__part part;
} ocdm__id_list;

/* An id as a list has it. */
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

/* Gives everything back. */
void ocdm__id_lists_clear(ocdm__id_lists *lists);

/*
 * Finds the samples of a set that the lists name. No sample is chosen twice. An id that is listed twice, an id that the set
 * lacks and a class that it lacks are errors; with skip_bad they are counted and left out, of an id listed twice the second.
 *
 * OCDM_OK, OCDM_BAD_FILE, OCDM_NO_MEMORY. On error nothing needs to be cleared. O((n + m) log m) for n samples and m ids.
 */
ocdm_status ocdm__id_lists_choose(const ocdm__id_lists *lists, const ocdm__labelled_set *set, ocdm__reading *reading,
                                  ocdm__id_choices *chosen, ocdm_error *error);

/* Gives everything back. */
void ocdm__id_choices_clear(ocdm__id_choices *chosen);

#endif
