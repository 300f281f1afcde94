/* What the parts of the id lists share. */
#ifndef OCDM_STREAM_RECIPES_ID_LISTS_STATE_H
#define OCDM_STREAM_RECIPES_ID_LISTS_STATE_H

#include "stream/recipes/id_lists.h"

/* folder/name as one of the files that are read, kept and given back with the lists; NULL when there is no room. */
char *ocdm__id_lists_file(ocdm__id_lists *lists, const char *folder, const char *name);

/* Sets `groups` from the first group files that fit, if there are such. */
ocdm_status ocdm__id_lists_read_groups(ocdm__id_lists *lists, const char *folder, ocdm_error *error);

#endif
