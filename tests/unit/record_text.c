/* Streams from texts, and records as text. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "record_text.h"

ocdm__input pipe_of(const char *text, size_t size, size_t read_size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    int fd = dup(fileno(file));
    assert_true(fd >= 0);
    fclose(file);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, fd, "in", NULL, NULL), OCDM_OK);
    input.owns_fd = true;
    input.read_size = read_size;
    return input;
}

static size_t append(char *out, size_t used, size_t room, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && used + 1 < room; i++)
        out[used++] = bytes[i] == '\n' ? '~' : bytes[i] ? bytes[i] : '0';
    return used;
}

/* One record as "bytes|id|label,label;"; a newline shows as ~, a NUL as 0. */
static size_t describe(const ocdm__records *records, const ocdm__record *record, char *out, size_t used, size_t room)
{
    used = append(out, used, room, ocdm__records_bytes(records, record->at), record->length);
    used = append(out, used, room, "|", 1);
    if (record->has_id)
        used = append(out, used, room, ocdm__records_id(records, record), record->id_length);
    used = append(out, used, room, "|", 1);
    for (size_t i = 0; i < record->label_count; i++) {
        size_t length;
        const char *label = ocdm__label_table_text(&records->table, records->numbers[record->label_at + i], &length);
        used = append(out, used, room, ",", i > 0);
        used = append(out, used, room, label, length);
    }
    return append(out, used, room, ";", 1);
}

void read_all(ocdm__input input, const ocdm__record_options *options, char *out, size_t room, uint64_t *skipped)
{
    ocdm__records *records = NULL;
    ocdm_error error;
    ocdm__record batch[3], record;
    size_t used = 0, count = 0;
    bool found = true;
    ocdm_status status = ocdm__records_begin(&records, &input, NULL, options, &error);
    while (status == OCDM_OK && found) {
        status = ocdm__records_next(records, &record, &found, &error);
        if (status == OCDM_OK && found)
            batch[count++] = record;
        if (count == 3 || !found) {
            for (size_t i = 0; i < count; i++)
                used = describe(records, &batch[i], out, used, room);
            count = 0;
            ocdm__records_release(records);
        }
    }
    out[used] = '\0';
    if (status != OCDM_OK)
        snprintf(out, room, "%d %s", (int)status, error.message);
    if (skipped)
        *skipped = records ? records->skipped : 0;
    ocdm__records_close(records);
}
