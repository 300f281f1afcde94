/* One run in a folder at a time: a file that is locked as long as the process lives, however it ends. */
#ifndef OCDM_EXPERIMENT_FOLDER_LOCK_H
#define OCDM_EXPERIMENT_FOLDER_LOCK_H

#include "ocdm/ocdm.h"

/* Locks `path`, made if it is not there. `*lock` is to be given back. OCDM_OK, OCDM_IO (another run holds it, or no file can be
 * made). */
ocdm_status ocdm__run_lock(const char *path, const char *folder, int *lock, ocdm_error *error);
void ocdm__run_unlock(int lock);

#endif
