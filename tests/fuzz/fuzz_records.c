/*
 * Fuzzing the record readers. The first byte picks format, names and the size of the reads; the rest is the stream. It is read
 * twice: in small pieces, and all at once by the general JSON reader alone. Both must give the same records, or the same error.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_table.h"
#include "stream/records/record.h"

/* What came out, as far as it can differ. */
struct outcome {
    uint64_t hash; /* of all records with their ids, labels and lines */
    uint64_t count, skipped;
    ocdm_status status;
    char message[sizeof((ocdm_error *)0)->message];
};

static void fold(struct outcome *outcome, const char *bytes, size_t length)
{
    outcome->hash = ocdm__mix(outcome->hash ^ ocdm__hash_bytes(bytes, length));
}

static void fold_record(struct outcome *outcome, const ocdm__records *records, const ocdm__record *record)
{
    const char *line = ocdm__records_bytes(records, record->at);
    fold(outcome, line, record->length);
    fold(outcome, line + record->shown_at, record->shown_length);
    if (record->has_id)
        fold(outcome, ocdm__records_id(records, record), record->id_length);
    for (size_t i = 0; i < record->label_count; i++) {
        size_t length;
        const char *label = ocdm__label_table_text(&records->table, records->numbers[record->label_at + i], &length);
        fold(outcome, label, length);
    }
    outcome->hash += record->line + record->label_count;
    outcome->count++;
}

static void read_records(ocdm__records *records, struct outcome *outcome, ocdm_error *error)
{
    ocdm__record record;
    bool found = true;
    while ((outcome->status = ocdm__records_next(records, &record, &found, error)) == OCDM_OK && found) {
        if (record.label_count == 3) {
            outcome->status = ocdm__records_refuse(records, &record, "three labels", NULL, false, error);
            if (outcome->status != OCDM_OK)
                return;
        } else {
            fold_record(outcome, records, &record);
        }
        if (outcome->count % 3 == 0)
            ocdm__records_release(records);
    }
}

static struct outcome read_stream(const uint8_t *data, size_t size, const ocdm__record_options *options, size_t read_size,
                                  bool general_only)
{
    struct outcome outcome = {0};
    ocdm_error error = {.status = OCDM_OK};
    ocdm__input input;
    ocdm__records *records = NULL;
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], data, size) != (ssize_t)size)
        abort();
    close(ends[1]);
    if (ocdm__input_open_fd(&input, ends[0], "in", NULL, NULL) != OCDM_OK)
        abort();
    input.owns_fd = true;
    input.read_size = read_size;
    outcome.status = ocdm__records_begin(&records, &input, NULL, options, &error);
    if (outcome.status == OCDM_OK) {
        records->labels.simple = records->labels.simple && !general_only;
        read_records(records, &outcome, &error);
        outcome.skipped = records->skipped;
    }
    ocdm__records_close(records);
    memcpy(outcome.message, error.message, sizeof outcome.message);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t read_sizes[] = {1, 2, 3, 5, 8, 13, 31, 64};
    if (size == 0 || size > 32768)
        return 0;
    ocdm__record_options options = {.format = (enum ocdm__record_format)(data[0] % 5),
                                    .skip_bad = data[0] / 5 % 2,
                                    .labels = data[0] / 10 % 3 == 2 && data[0] % 5 != OCDM__FORMAT_SVM ? "a.b" : NULL};
    if (data[0] >= 240) /* the other forms of labels */
        options = data[0] < 246   ? (ocdm__record_options){.format = OCDM__FORMAT_CSV, .label_form = OCDM__LABELS_LIST}
                  : data[0] < 251 ? (ocdm__record_options){.format = OCDM__FORMAT_CSV, .one_hot = data[0] % 2 ? "a*" : "a:c"}
                                  : (ocdm__record_options){.format = OCDM__FORMAT_JSONL, .label_form = OCDM__LABELS_MULTI_HOT};
    size_t read_size = read_sizes[data[0] / 30 % 8];
    struct outcome pieces = read_stream(data + 1, size - 1, &options, read_size, false);
    struct outcome whole = read_stream(data + 1, size - 1, &options, 65536, true);
    if (pieces.status == OCDM_IO || whole.status == OCDM_IO) /* damaged gzip or zstd: how much comes out first may differ */
        return 0;
    if (pieces.hash != whole.hash || pieces.count != whole.count || pieces.skipped != whole.skipped ||
        pieces.status != whole.status || strcmp(pieces.message, whole.message) != 0) {
        fprintf(stderr, "in pieces: status %d, %llu records, %s\nat once:   status %d, %llu records, %s\n", (int)pieces.status,
                (unsigned long long)pieces.count, pieces.message, (int)whole.status, (unsigned long long)whole.count,
                whole.message);
        abort();
    }
    return 0;
}
