/* What finding run folders needs of reading one. Inside src/report only. */
#ifndef OCDM_REPORT_RUNS_FOLDER_H
#define OCDM_REPORT_RUNS_FOLDER_H

#include <stdbool.h>

#include "report/runs/read.h"

/* Whether the folder has a file that only a run leaves. */
bool ocdm__looks_like_run(const char *folder);

/* Reads one folder, whatever is in it. On OCDM_NO_MEMORY the run holds what was read and can be cleared. */
ocdm_status ocdm__run_read(ocdm__run *run, const char *folder, ocdm_error *error);

#endif
