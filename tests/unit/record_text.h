/* For tests of the record readers: streams from texts, and the records that were read as text. */
#ifndef OCDM_TESTS_RECORD_TEXT_H
#define OCDM_TESTS_RECORD_TEXT_H

#include "stream/records/record.h"

#define JSONL OCDM__FORMAT_JSONL
#define CSV OCDM__FORMAT_CSV
#define TSV OCDM__FORMAT_TSV
#define SVM OCDM__FORMAT_SVM

/* An input named "in" over the text, of which each read takes at most `read_size` bytes. */
ocdm__input pipe_of(const char *text, size_t size, size_t read_size);

/* Reads all records, releasing after every third, and writes each as "bytes|id|label,label;", a newline as ~ and a NUL as 0;
 * after an error, its number and message instead. `skipped` may be NULL. */
void read_all(ocdm__input input, const ocdm__record_options *options, char *out, size_t room, uint64_t *skipped);

#endif
