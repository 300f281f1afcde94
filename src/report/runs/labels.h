/* What groups are called. Inside src/report only. */
#ifndef OCDM_REPORT_RUNS_LABELS_H
#define OCDM_REPORT_RUNS_LABELS_H

#include "report/runs/groups.h"

/* Gives every group its label. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__label_groups(ocdm__study *study, ocdm_error *error);

#endif
