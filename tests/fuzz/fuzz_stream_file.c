/* Fuzzes the stream file. Its checksum would keep the fuzzer out, so it is put right first: what lies behind it is what counts.
 */
#define _GNU_SOURCE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/output.h"
#include "stream/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sums as a writer would have them, when the structure allows to find their place. */
static void repair(unsigned char *bytes, size_t size)
{
    struct ocdm__safetensors file = {.tensor_count = 0};
    if (ocdm__safetensors_read(&file, "fuzzed", bytes, size, NULL) != OCDM_OK)
        return;
    const struct ocdm__tensor *sums = ocdm__safetensors_find(&file, "checksums");
    const struct ocdm__tensor *features = ocdm__safetensors_find(&file, "features");
    const struct ocdm__tensor *payload = features != NULL ? features : ocdm__safetensors_find(&file, "images");
    if (sums != NULL && sums->size == 16) {
        const unsigned char *end = payload != NULL && payload->data <= sums->data ? payload->data : sums->data;
        uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, bytes, (size_t)(end - bytes));
        ocdm__put_u64(bytes + (sums->data - bytes), sum);
    }
    ocdm__safetensors_close(&file);
}

static void use(ocdm__stream *stream)
{
    ocdm__output output;
    int nowhere = memfd_create("out", 0);
    if (ocdm__output_open_fd(&output, nowhere, "out", NULL) == OCDM_OK) {
        for (size_t i = 0; i < stream->table.sample_count && i < 100; i++)
            ocdm__write_record(&output, &stream->table, i);
        ocdm__output_abandon(&output);
    }
    close(nowhere);
    if (stream->shape.kind == OCDM__FEATURES && stream->table.sample_count > 0 && stream->shape.width < 100000) {
        float *row = malloc(stream->shape.width * sizeof *row);
        ocdm__stream_features(stream, stream->table.sample_count - 1, row);
        free(row);
    }
    ocdm__stream_verify(stream, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    char path[64];
    ocdm__stream stream;
    ocdm_error error;
    memcpy(bytes, data, size);
    repair(bytes, size);
    int fd = memfd_create("fuzzed", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, bytes, size) == (ssize_t)size && ocdm__stream_open(&stream, path, &error) == OCDM_OK) {
        use(&stream);
        ocdm__stream_close(&stream);
    }
    close(fd);
    free(bytes);
    return 0;
}
