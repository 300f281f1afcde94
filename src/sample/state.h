/* Shared by the files of the sampler. All other code includes sample/sample.h. */
#ifndef OCDM_SAMPLE_STATE_H
#define OCDM_SAMPLE_STATE_H

#include "base/hash_table.h"
#include "sample/sample.h"

/* Holders in the id table: slots as they are, records of the batch by their number with this bit set. */
#define OCDM__IN_BATCH 0x80000000u

/* A record in memory: its line, then its id's content, in one block. */
typedef struct ocdm__kept_record {
    char *bytes;
    uint64_t hash; /* of the id's content */
    uint32_t room;
    uint32_t line_length;
    uint32_t id_length;
    uint32_t shown_at, shown_length; /* the id as JSON, in the line; 0 bytes when it is not there */
} ocdm__kept_record;

/* A record of the batch: still in the reader's window. */
typedef struct ocdm__batch_record {
    ocdm__record record;
    uint64_t hash;
    char number[24]; /* the id of a record that has none of its own: its number, in digits */
    uint32_t number_length;
} ocdm__batch_record;

/* An id: what it is, and how JSON shows it (0 bytes when the record does not say). */
typedef struct ocdm__id_text {
    const char *content;
    size_t length;
    const char *shown;
    size_t shown_length;
} ocdm__id_text;

struct ocdm__sampling {
    ocdm__sample_options options;
    ocdm__records *records;
    ocdm_memory *memory;
    bool single_label; /* the policy takes no record with several labels */

    struct ocdm__hash_table ids; /* who holds which id: slots, and items of the batch with OCDM__IN_BATCH */
    uint32_t id_count, id_room;
    ocdm__kept_record *kept; /* by slot */
    size_t kept_room;
    ocdm__batch_record *batch;
    ocdm_sample *samples;
    size_t batch_count, batch_room;
    uint64_t accepted; /* records so far */
    uint64_t step;

    ocdm__output trace, summary;
    double started; /* seconds of the monotonic clock */
};

/* ---- sample.c ---- */

ocdm__id_text ocdm__id_of_kept(const ocdm__sampling *sampling, uint32_t slot);
ocdm__id_text ocdm__id_of_item(const ocdm__sampling *sampling, uint32_t item);

/* ---- write.c ---- */

/* Writes the trace of an update that has just been made; what left is still in `kept` and `batch`. */
void ocdm__write_trace(ocdm__sampling *sampling, const ocdm_change *change);

#endif
