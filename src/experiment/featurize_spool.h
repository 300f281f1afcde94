/*
 * Rows of floats put aside in a temporary file that has no name, so that it goes away with the program: for work that needs
 * numbers again which are dear to compute and too many to keep in memory.
 */
#ifndef OCDM_EXPERIMENT_FEATURIZE_SPOOL_H
#define OCDM_EXPERIMENT_FEATURIZE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

typedef struct ocdm__spool {
    int fd; /* -1: none */
    size_t width;
    const char *beside; /* for messages */
} ocdm__spool;

/* Makes one for rows of `width` floats in the folder of the file `beside`, which must outlive it. OCDM_OK, OCDM_IO,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__spool_open(ocdm__spool *spool, const char *beside, size_t width, ocdm_error *error);

/* Writes or reads `count` rows from number `first` on. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__spool_write(ocdm__spool *spool, uint64_t first, size_t count, const float *rows, ocdm_error *error);
ocdm_status ocdm__spool_read(ocdm__spool *spool, uint64_t first, size_t count, float *rows, ocdm_error *error);

/* Gives it back. */
void ocdm__spool_close(ocdm__spool *spool);

#endif
