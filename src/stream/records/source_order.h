/* The numbers of classes and tasks, once all records are read. For stream/records/source.c. */
#ifndef OCDM_STREAM_RECORDS_SOURCE_ORDER_H
#define OCDM_STREAM_RECORDS_SOURCE_ORDER_H

#include <stddef.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"

/* The samples from number `first` on have labels of `labels`: makes them classes of the set. A label that no sample has, since
 * its record was skipped, is no class. OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT. */
ocdm_status ocdm__settle_classes(ocdm__labelled_set *set, size_t first, const ocdm__label_table *labels, ocdm_error *error);

/* The samples from number `first` on have the number of their task's name in `names`: sorts the names, numerically when all of
 * them are numbers, else bytewise, those that no sample has left out, and gives the samples the new numbers. OCDM_OK,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__settle_tasks(ocdm__labelled_set *set, size_t first, ocdm__label_table *names, ocdm_error *error);

#endif
