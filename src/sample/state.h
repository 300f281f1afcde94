/* Shared by the files of the sampler. All other code includes sample/sample.h. */
#ifndef OCDM_SAMPLE_STATE_H
#define OCDM_SAMPLE_STATE_H

#include "base/base.h"
#include "base/bytes.h"
#include "base/input.h"
#include "base/text.h"
#include "sample/sample.h"

/* ---- ids.c ---- */

/*
 * An entry of a table of ids. An id that is a whole number is a bit of the entry of its block of 64 numbers: word 0 is the
 * number / 64, word 1 the bits. Of any other id of up to OCDM__SHORT_ID bytes the entry is the id itself, with its length + 1
 * as the last byte; of a longer one its hash and where its bytes are. Word 1 is 0 in a free place.
 */
#define OCDM__SHORT_ID 15
union ocdm__seen_id {
    uint64_t word[2];
    unsigned char byte[16];
};

struct ocdm__seen_table {
    union ocdm__seen_id *places; /* mask + 1 of them, a power of two; NULL before the first entry */
    size_t mask;
    uint64_t count;
};

/* Start with all bytes zero. */
struct ocdm__seen_ids {
    struct ocdm__seen_table numbers, texts;
    uint64_t count;   /* ids in both */
    uint64_t leading; /* the numbers below it were given to records before the first that had an id */
    char *bytes;      /* of long ids: the length, then the content */
    size_t used, room;
};

/* Notes the id of a record, or the number of one without an id, which is how many were accepted before. `taken` is true, and
 * nothing is noted, when an earlier record has it. OCDM__INPUT_PADDING bytes from `id` on may be read. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__see_id(struct ocdm__seen_ids *seen, const char *id, size_t length, bool *taken, ocdm_error *error);
ocdm_status ocdm__see_numbered(struct ocdm__seen_ids *seen, uint64_t number, bool *taken, ocdm_error *error);
void ocdm__seen_ids_clear(struct ocdm__seen_ids *seen);

/* ---- sample.c ---- */

/* An id as the trace shows it. */
struct ocdm__id_text {
    const char *text;
    size_t length;
    bool is_json;    /* as it stands in a record of JSON */
    char digits[24]; /* the text where the record has no id */
};

/* A record in memory: its line, then its id if there is a trace to be written, in one block. */
typedef struct ocdm__kept_record {
    char *bytes;
    uint32_t room, line_length, id_length;
    bool id_is_json;
} ocdm__kept_record;

/* A class that was seen, with its label. */
struct ocdm__class_row {
    const char *label;
    size_t length;
    ocdm_class counts;
};

struct ocdm__arrival {
    uint64_t number;
    uint32_t slot;
};

struct ocdm__sampling {
    ocdm__sample_options options;
    ocdm__records *records;
    ocdm_memory *memory;

    struct ocdm__seen_ids seen;
    uint8_t *named; /* by number of a label, for those that options name: a bit for each such option, one for whether a record
                       had it */
    size_t named_count;
    uint64_t unlabelled;     /* records without labels that were left out; in a merge also by the shards */
    uint64_t passed;         /* records that have none of the labels that count */
    uint64_t spared;         /* deletions that minimums have changed, before this update */
    ocdm__kept_record *kept; /* by slot */
    size_t kept_room;
    ocdm__record *batch; /* still in the reader's window */
    ocdm_sample *samples;
    size_t batch_count, batch_room, sample_room;
    uint64_t accepted; /* records so far; the number of a record is how many were accepted before it */
    uint64_t step;

    uint64_t *places;   /* in a merge: the places among equals of the records */
    uint64_t elsewhere; /* in a merge: records that the shards had and did not keep */

    ocdm__output output, rest, trace, summary; /* output: the kept records, at the end */
    double started;                            /* seconds of the monotonic clock */

    /* At the end: */
    struct ocdm__arrival *order; /* the kept records as they came */
    uint32_t kept_count;
    struct ocdm__class_row *classes; /* sorted bytewise by label */
    size_t class_count;
    double mean_labels, mean_labels_seen; /* of a record, kept and of the stream; NaN without records */
};

/* How the trace shows the id of a record of the batch. */
void ocdm__id_of_item(const ocdm__sampling *sampling, size_t item, struct ocdm__id_text *id);

/* How many records a file has, and unless it is NULL the sum of ocdm__add_record over them. */
ocdm_status ocdm__count_records(const ocdm__sample_options *options, uint64_t *count, uint64_t *sum, ocdm_error *error);

/* The checksum of records in order, by their bytes; starts with OCDM__CHECKSUM_START. */
static inline uint64_t ocdm__add_record(uint64_t sum, const char *bytes, size_t length)
{
    return ocdm__checksum(ocdm__checksum(sum, bytes, length), "\n", 1);
}

/* ---- labels.c ---- */

/* Reads what the options say about labels, before any record is read. OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. */
ocdm_status ocdm__take_label_options(ocdm__sampling *sampling, ocdm_error *error);

/* Notes that a label occurred. */
void ocdm__note_label(ocdm__sampling *sampling, uint32_t label);

/* Notes the labels of a record and removes those that do not count. False when none is left; the record is then forgotten. */
bool ocdm__drop_labels(ocdm__sampling *sampling, ocdm__record *record);

/* A line for each option that names labels which no record had. */
void ocdm__warn_of_labels(const ocdm__sampling *sampling, ocdm__output *output);

/* ---- merge.c ---- */

/* Tells the memory what the shards saw and how their records are ordered, before the first batch. */
ocdm_status ocdm__begin_merge(ocdm__sampling *sampling, ocdm_error *error);

/* ---- write.c ---- */

/* Such a checksum as the summary of a shard has it. */
#define OCDM__RECORD_SUM 24
void ocdm__record_sum_text(uint64_t sum, char text[OCDM__RECORD_SUM]);

/* Writes the trace of the last update. Call it before `kept` and `batch` change: deleted records are still there. */
void ocdm__write_trace(ocdm__sampling *sampling, const ocdm_change *change);

/* Starts the file of records that are not kept; adds the departures of the last update, under the condition above, or a record
 * that was not offered. Without such a file nothing happens. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__open_rest(ocdm__sampling *sampling, ocdm_error *error);
void ocdm__write_departures(ocdm__sampling *sampling, const ocdm_change *change);
void ocdm__write_left_out(ocdm__sampling *sampling, const ocdm__record *record);

#endif
