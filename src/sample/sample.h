/*
 * Sampling a stream of records: batch after batch through a replay memory, and at the end the records that are left, byte for
 * byte and in the order in which they came. Only the records in memory, the current batch and the ids are held.
 *
 *     ocdm__sampling *sampling;
 *     bool more = true;
 *     ocdm_status status = ocdm__sampling_open(&sampling, &options, error);
 *     while (status == OCDM_OK && more)
 *         status = ocdm__sampling_step(sampling, &more, error);
 *     if (status == OCDM_OK)
 *         status = ocdm__sampling_finish(sampling, STDOUT_FILENO, error);
 *     ocdm__sampling_close(sampling);
 *
 * A record whose id an earlier one had (as content: 1 and "1" are the same) is a bad record, however long ago that was. All
 * ids are kept for this check; with records.no_id none are, and ids may repeat.
 */
#ifndef OCDM_SAMPLE_SAMPLE_H
#define OCDM_SAMPLE_SAMPLE_H

#include "base/base.h"
#include "base/json_tree.h"
#include "base/output.h"
#include "stream/records/record.h"

#include <signal.h>

/* The largest batch. */
#define OCDM__MAX_BATCH OCDM_MAX_CAPACITY

/* What happens to records without labels. */
enum ocdm__unlabelled { OCDM__UNLABELLED_KEEP, OCDM__UNLABELLED_DROP, OCDM__UNLABELLED_ERROR };

typedef struct ocdm__sample_options {
    char *const *paths; /* the files, read as if all were one; "-" is standard input, and so are none */
    size_t path_count;
    double percent;     /* more than 0: the capacity is this share of the records, which are counted first */
    const char *output; /* a file for the kept records; NULL: the descriptor of ocdm__sampling_finish */
    ocdm__record_options records;
    ocdm_options memory;
    enum ocdm__unlabelled unlabelled;
    const char *weights;               /* of classes: label=weight, separated by commas; NULL: all 1 */
    const char *ignore;                /* labels that do not count, separated by commas; NULL: none */
    const char *only;                  /* the only labels that count; NULL: all */
    const char *minimums;              /* label=number, or a number for all others: never fewer records of it; NULL: none */
    bool sharded;                      /* the summary says which shard it is, and which records were kept */
    const struct ocdm__shards *shards; /* the records are samples of these shards, to be merged; NULL: they are a stream */
    bool skip_duplicates;              /* a record whose id was there before is skipped and counted, not an error */
    const char *rest;                  /* a file for the records that are not kept; NULL for none */
    const char *trace;                 /* a file for one JSON object a batch; NULL for none */
    const char *summary;               /* a file for one JSON object at the end; NULL for none */
    const volatile sig_atomic_t *stop; /* ends the stream after the last complete record; may be NULL */
} ocdm__sample_options;

/* What the summary of one shard says. */
struct ocdm__shard {
    const char *summary, *kept; /* the files */
    uint64_t number, records, unlabelled;
    uint64_t *arrivals; /* of the kept records, in order */
    size_t kept_count;
    ocdm__json_tree tree;
};

/* The shards of a merge, in the order of their numbers. Start with all bytes zero. */
struct ocdm__shards {
    struct ocdm__shard *shard;
    size_t count;
    uint64_t kept_total, record_total, unlabelled_total;
    char **kept_paths; /* in that order */
};

/*
 * Reads the summaries of shards, made by `ocdm sample --shard`, and sets what they agree on in the options: policy, rho, seed,
 * distance, tie rule, format unless it is given, weights. Clear it in either case; the paths must outlive it. OCDM_OK,
 * OCDM_BAD_ARGUMENT (different numbers of summaries and kept files), OCDM_BAD_FILE (a summary without a shard, two of one
 * shard, settings that differ, or another number of records than the summary says), OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__shards_read(struct ocdm__shards *shards, char *const *kept, char *const *summaries, size_t count,
                              ocdm__sample_options *options, ocdm_error *error);
void ocdm__shards_clear(struct ocdm__shards *shards);

typedef struct ocdm__sampling ocdm__sampling;

/* Opens input and output files and creates the memory. On success close it with ocdm__sampling_close. The texts of the options
 * must outlive it. */
ocdm_status ocdm__sampling_open(ocdm__sampling **sampling, const ocdm__sample_options *given, ocdm_error *error);

/* Reads a batch and offers it to the memory; more = false after the last one. */
ocdm_status ocdm__sampling_step(ocdm__sampling *sampling, bool *more, ocdm_error *error);

/* Writes the kept records to the output file or to `fd`, each with a newline after it, after the header if they are csv or
 * tsv; then trace and summary. Files take their places together, or none does; what is printed stays. Call it once. */
ocdm_status ocdm__sampling_finish(ocdm__sampling *sampling, int fd, ocdm_error *error);

/* Releases everything; files that are not finished leave nothing behind. NULL is fine. */
void ocdm__sampling_close(ocdm__sampling *sampling);

const ocdm_memory *ocdm__sampling_memory(const ocdm__sampling *sampling);
const ocdm__records *ocdm__sampling_records(const ocdm__sampling *sampling);

/* Writes a summary for people: what was read and kept, and a table of the classes with their counts, targets and a bar, the
 * largest first; of over 40 classes only both ends of the table. Before it a line for everything that looks wrong: records
 * without labels, labels that look misread, labels of options that no record had. */
ocdm_status ocdm__sampling_report(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error);

#endif
