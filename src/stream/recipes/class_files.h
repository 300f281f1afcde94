/*
 * Files that say something about classes by name. Each is JSON if its first character is `{`, else text. In text, blanks around
 * names do not matter, and a name cannot have a line end.
 *
 * Groups: majority, moderate or minority for each class. A group may be left out or come more than once; a class has one group.
 * The file may name classes that the stream lacks, but every class of the stream must be named. In text a name cannot have a
 * comma.
 *
 *     {"majority": ["person", "sky"], "moderate": ["dog"], "minority": ["cat"]}
 *
 *     majority: person, sky
 *     moderate: dog
 *     minority: cat
 *
 * Weights: a number for each class that is named, 1 for the others. A class that the stream lacks is an error.
 *
 *     {"cat": 3, "dog": 0.5}
 *
 *     cat: 3
 *     dog: 0.5
 */
#ifndef OCDM_STREAM_RECIPES_CLASS_FILES_H
#define OCDM_STREAM_RECIPES_CLASS_FILES_H

#include "base/json_tree.h"
#include "stream/file.h"
#include "stream/label_table.h"
#include "stream/statistics.h"

/* ---- class groups ---- */

/*
 * Reads `path` for the given classes.
 *
 * groups  for each class its enum ocdm__class_group; classes->count of them, yours
 * unused  how many classes the file names that are not among them; may be NULL
 *
 * OCDM_OK, OCDM_IO, OCDM_BAD_FILE (the message starts with file:line:column, or with the file where classes are missing),
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__class_groups_file_read(const char *path, const ocdm__label_table *classes, uint8_t *groups, size_t *unused,
                                         ocdm_error *error);

/* ---- class weights ---- */

/*
 * Reads the weights of a stream's classes: table->class_count of them, yours. OCDM_OK, OCDM_IO, OCDM_BAD_FILE (an unknown
 * class, one that is named twice, a weight below OCDM_MIN_WEIGHT or above OCDM_MAX_WEIGHT; the message starts with
 * file:line:column), OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__class_weights_file_read(const char *path, const ocdm__stream_table *table, double *weights,
                                          ocdm_error *error);

/* ---- for other files that name groups -------------------------------------------------------------------------------- */

/* Class names with their groups. Start with all bytes zero. */
typedef struct ocdm__named_groups {
    ocdm__label_table names;
    uint8_t *groups; /* by name */
    size_t room;
} ocdm__named_groups;

/* Adds the names of a JSON array. A name that is there already is an error: OCDM_BAD_FILE at file:line:column. */
ocdm_status ocdm__class_groups_add_array(ocdm__named_groups *named, const char *path, const ocdm__json_node *array,
                                         enum ocdm__class_group group, ocdm_error *error);

/* Assigns to each class the group of its name, or OCDM__NO_GROUP; returns how many are without. */
#define OCDM__NO_GROUP UINT8_MAX
size_t ocdm__class_groups_assign(const ocdm__named_groups *named, const ocdm__label_table *classes, uint8_t *groups);

/* Releases everything; the table is empty again. */
void ocdm__class_groups_clear(ocdm__named_groups *named);

#endif
