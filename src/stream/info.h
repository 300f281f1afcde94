/*
 * The statistics of a stream: of a stream file, or of label records. Two optional members or columns say where a record
 * belongs: `task`, an integer, and `split`, "train" or "test", without which a record is training data.
 */
#ifndef OCDM_STREAM_INFO_H
#define OCDM_STREAM_INFO_H

#include "stream/file.h"
#include "stream/records/record.h"
#include "stream/records/source.h"
#include "stream/statistics.h"

/* Start with all bytes zero. */
typedef struct ocdm__stream_info {
    ocdm__statistics statistics;
    uint32_t
        *classes; /* the classes of the training part: in a stream file's order, else in the bytewise order of their labels */
    size_t class_count;
    ocdm__member_reader members; /* of the records */
    ocdm__records *records;      /* whose labels these are; NULL for a stream file */
    ocdm__stream stream;         /* the stream file; all zero for records */
    bool is_stream_file;
    double known[2]; /* shares of the classes that samples of the training and of the test part know, from 0 to 1; 1 without
                        samples */
} ocdm__stream_info;

/*
 * Reads a stream file, or all records of a file, of standard input when `path` is NULL or "-". No records is fine.
 *
 * options  how to read records; NULL: JSON Lines, nothing unusual
 *
 * OCDM_OK, OCDM_BAD_RECORD (with file:line:column; a `task` or `split` of another kind too), OCDM_BAD_FILE, OCDM_IO,
 * OCDM_LIMIT, OCDM_NO_MEMORY. Clear it in either case; `path` must live as long.
 */
ocdm_status ocdm__stream_info_read(ocdm__stream_info *info, const char *path, const ocdm__record_options *options,
                                   ocdm_error *error);

/* How many classes are in each group: as in the stream file, unless `bounds` are given or it has no groups: then by their
 * counts, as by ocdm__tally_groups with `bounds`, or with ocdm__usual_bounds. */
ocdm__class_groups ocdm__stream_info_groups(const ocdm__stream_info *info, const uint64_t *bounds);

/* The label of a class; no NUL after it. */
const char *ocdm__stream_info_label(const ocdm__stream_info *info, uint32_t class_number, size_t *length);

/* Releases everything. */
void ocdm__stream_info_clear(ocdm__stream_info *info);

#endif
