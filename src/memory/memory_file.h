/* The memory as a file: docs/memory-format.md. */
#ifndef OCDM_MEMORY_MEMORY_FILE_H
#define OCDM_MEMORY_MEMORY_FILE_H

#include "memory/update.h"

#define OCDM__MEMORY_FORMAT "ocdm-memory"
#define OCDM__MEMORY_FORMAT_VERSION "1"

/* The counters, in this order, as one tensor. */
enum ocdm__counter {
    OCDM__COUNTER_CAPACITY,
    OCDM__COUNTER_BATCH,
    OCDM__COUNTER_SEED,
    OCDM__COUNTER_ARRIVED,
    OCDM__COUNTER_DEPARTED,
    OCDM__COUNTER_DRAWS,
    OCDM__COUNTER_STEP,
    OCDM__COUNTERS
};

/* ocdm_memory_load on bytes that are in memory already; `name` is for messages. */
ocdm_status ocdm__memory_parse(const char *name, const unsigned char *bytes, size_t size, const ocdm_policy *policy,
                               ocdm_memory **memory, ocdm_error *error);

#endif
