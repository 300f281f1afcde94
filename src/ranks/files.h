/*
 * Files that ranks make in turn: file k by rank k modulo the number of ranks, each in a folder of its own for temporary files.
 * The leader gets all of them. A process that is alone makes them all.
 */
#ifndef OCDM_RANKS_FILES_H
#define OCDM_RANKS_FILES_H

#include "base/base.h"
#include "ranks/ranks.h"

/* Each file comes in two kinds, as samples and their summaries. Start with all bytes zero. */
typedef struct ocdm__rank_files {
    const ocdm__ranks *ranks;
    size_t count;
    char *folder; /* NULL until it is made */
    char **names; /* the paths in it: of the first kind, then of the second */
    char *text;   /* the paths themselves */
} ocdm__rank_files;

/* Makes both kinds of file number k. */
typedef ocdm_status ocdm__rank_file_make(void *state, size_t k, const char *first, const char *second, ocdm_error *error);

/*
 * All ranks call it: makes `count` files with `make`, whose names end with the two endings, and brings them to the leader.
 *
 * OCDM_OK; on all ranks the error of the first file that could not be made, which does not depend on the number of ranks;
 * OCDM_IO (no folder for temporary files, a full disk of the leader), OCDM_NO_MEMORY. Remove the files even after an error.
 */
ocdm_status ocdm__rank_files_make(ocdm__rank_files *files, const ocdm__ranks *ranks, size_t count, const char *const endings[2],
                                  ocdm__rank_file_make *make, void *state, ocdm_error *error);
void ocdm__rank_files_remove(ocdm__rank_files *files);

#endif
