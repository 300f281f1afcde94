/* Shared by the files of the sampler. All other code includes sample/sample.h. */
#ifndef OCDM_SAMPLE_STATE_H
#define OCDM_SAMPLE_STATE_H

#include "base/bytes.h"
#include "base/input.h"
#include "sample/sample.h"

/*
 * The ids of a stream so far, exactly, in two open-addressing tables. An id that is a whole number is a bit of the entry of its
 * block of 64 numbers: word 0 is the number / 64, word 1 the bits. Of any other id of up to OCDM__SHORT_ID bytes the entry is
 * the id itself, with its length + 1 as the last byte; of a longer one its hash and where its bytes are. Word 1 is 0 in a free
 * place.
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

/* Records from..to-1 had no id of their own. */
struct ocdm__number_run {
    uint64_t from, to;
};

struct ocdm__seen_ids {
    struct ocdm__seen_table numbers, texts;
    uint64_t count; /* ids in both */
    char *bytes;    /* of long ids: the length, then the content */
    size_t used, room;
    struct ocdm__number_run *runs; /* ascending */
    size_t run_count, run_room;
};

/* A record in memory: its line, then its id's content if there is a trace to be written, in one block. */
typedef struct ocdm__kept_record {
    char *bytes;
    uint32_t room;
    uint32_t line_length;
    uint32_t id_length;
    uint32_t shown_at, shown_length; /* the id as JSON, in the line; 0 bytes when it is not there */
} ocdm__kept_record;

/* A record of the batch: still in the reader's window. */
typedef struct ocdm__batch_record {
    ocdm__record record;
    char number[OCDM__INPUT_PADDING + 24]; /* the id of a record that has none of its own: its number, in digits */
    uint32_t number_length;
} ocdm__batch_record;

/* An id: what it is, and how JSON shows it (0 bytes when the record does not say). */
typedef struct ocdm__id_text {
    const char *content;
    size_t length;
    const char *shown;
    size_t shown_length;
} ocdm__id_text;

/* What options say about labels. */
struct ocdm__label_options {
    uint8_t *named; /* by number of a label, for the first of them: a bit for each option that names it, one for whether a
                       record had it */
    size_t named_count;
};

struct ocdm__sampling {
    ocdm__sample_options options;
    ocdm__records *records;
    ocdm_memory *memory;
    bool single_label; /* the policy takes no record with several labels */

    struct ocdm__seen_ids seen;
    struct ocdm__label_options labels;
    uint64_t unlabelled;     /* records without labels that were left out; in a merge also by the shards */
    uint64_t passed;         /* records that have none of the labels that count */
    uint64_t spared;         /* deletions that minimums have changed, before this update */
    ocdm__kept_record *kept; /* by slot */
    size_t kept_room;
    ocdm__batch_record *batch;
    ocdm_sample *samples;
    size_t batch_count, batch_room, sample_room;
    uint64_t accepted; /* records so far */
    uint64_t step;

    uint64_t *places;   /* in a merge: the places among equals of the records */
    uint64_t elsewhere; /* in a merge: records that the shards had and did not keep */

    ocdm__output output, rest, trace, summary; /* output: the kept records, at the end */
    double started;                            /* seconds of the monotonic clock */
};

/* ---- sample.c ---- */

ocdm__id_text ocdm__id_of_kept(const ocdm__sampling *sampling, uint32_t slot);
ocdm__id_text ocdm__id_of_item(const ocdm__sampling *sampling, uint32_t item);

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

/* A line for each option that names labels which no record had. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__warn_of_labels(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error);

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
