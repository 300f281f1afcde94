/*
 * Which group each class belongs to, majority, moderate or minority, as a user's file says it. The file is JSON,
 *
 *     {"majority": ["person", "sky"], "moderate": ["dog"], "minority": ["cat"]}
 *
 * or, unless its first character is `{`, text, a group and its classes on each line, with blanks around names as one likes:
 *
 *     majority: person, sky
 *     moderate: dog
 *     minority: cat
 *
 * A group may be left out or come more than once; a class has one group. In text a name cannot have a comma or a line end. The
 * file may name classes that the stream lacks, but every class of the stream must be named.
 */
#ifndef OCDM_STREAM_RECIPES_CLASS_GROUPS_FILE_H
#define OCDM_STREAM_RECIPES_CLASS_GROUPS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "stream/recipes/id_lists_json.h"
#include "stream/class_group.h"
#include "stream/label_table.h"

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

/* ---- for other files that name groups -------------------------------------------------------------------------------- */

/* Class names with their groups. Start with all bytes zero. */
typedef struct ocdm__named_groups {
    ocdm__label_table names;
    uint8_t *groups; /* by name */
    size_t room;
} ocdm__named_groups;

/* Adds the names of a JSON array, whose `[` comes next, up to its `]`. A name that is there already is an error. */
ocdm_status ocdm__class_groups_add_array(ocdm__named_groups *named, ocdm__json_file *file, enum ocdm__class_group group,
                                         ocdm_error *error);

/*
 * Gives each class the group that its name has, or OCDM__NO_GROUP, and tells how many have none. The names are used up: their
 * table has the classes too afterwards.
 */
#define OCDM__NO_GROUP UINT8_MAX
ocdm_status ocdm__class_groups_assign(ocdm__named_groups *named, const ocdm__label_table *classes, uint8_t *groups,
                                      size_t *without, ocdm_error *error);

/* Gives everything back; the table is empty again. */
void ocdm__class_groups_clear(ocdm__named_groups *named);

#endif
