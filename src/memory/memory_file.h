/* The memory as a file: docs/memory-format.md. */
#ifndef OCDM_MEMORY_MEMORY_FILE_H
#define OCDM_MEMORY_MEMORY_FILE_H

#include "base/output.h"
#include "memory/memory.h"

#define OCDM__MEMORY_FORMAT "ocdm-memory"
#define OCDM__MEMORY_FORMAT_VERSION "1"
#define OCDM__MEMORY_FORMAT_WITH_WEIGHTS "2" /* written only when some weight is not 1, so that old libraries read the rest */

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

/* What ocdm_memory_save writes, to an output that the caller commits: for files that have a memory among other things. OCDM_OK,
 * OCDM_NO_MEMORY; write errors stay in `output`. */
ocdm_status ocdm__memory_write(const ocdm_memory *memory, ocdm__output *output, ocdm_error *error);

/* ocdm_memory_load on bytes that are in memory already; `name` is for messages. */
ocdm_status ocdm__memory_parse(const char *name, const unsigned char *bytes, size_t size, const ocdm_policy *policy,
                               ocdm_memory **memory, ocdm_error *error);

#endif
