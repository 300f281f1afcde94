/* The three groups of classes: by how many training samples they have, or as a source says it. */
#ifndef OCDM_STREAM_CLASS_GROUP_H
#define OCDM_STREAM_CLASS_GROUP_H

enum ocdm__class_group { OCDM__MAJORITY = 0, OCDM__MODERATE = 1, OCDM__MINORITY = 2, OCDM__GROUPS = 3 };

/* "majority", "moderate", "minority". */
const char *ocdm__class_group_name(enum ocdm__class_group group);

#endif
