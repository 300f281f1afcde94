/* A label stream holds what its records hold. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "base/error.h"
#include "bench/label_stream.h"
#include "stream/scenes/scenes.h"

/* Reads `text` as the file of a stream. */
static ocdm_status read_text(const char *text, ocdm__label_stream **stream, ocdm_error *error)
{
    char path[] = "/tmp/ocdm-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    ocdm_status status = ocdm__label_stream_open(path, 0, stream, error);
    unlink(path);
    return status;
}

TEST(label_stream_numbers_classes_and_drops_repeats_when_read)
{
    ocdm__label_stream *stream = NULL;
    assert_int_equal(
        read_text("{\"labels\":[\"b\",\"a\",\"b\"]}\n{\"labels\":[]}\n{\"labels\":[\"a\"]}\n{\"labels\":[\"c\",\"b\"]}\n",
                  &stream, NULL),
        OCDM_OK);
    static const size_t counts[4] = {2, 0, 1, 2};
    static const uint32_t labels[5] = {0, 1, 1, 2, 0};
    assert_int_equal(stream->sample_count, 4);
    assert_int_equal(stream->class_count, 3);
    assert_int_equal(stream->label_count, 5);
    assert_false(stream->single_label);
    for (size_t i = 0, at = 0; i < 4; at += counts[i++]) {
        assert_int_equal(stream->samples[i].id, i);
        assert_int_equal(stream->samples[i].label_count, counts[i]);
        assert_memory_equal(stream->samples[i].labels, labels + at, counts[i] * sizeof *labels);
    }
    ocdm__label_stream_destroy(stream);
}

TEST(label_stream_is_single_label_when_no_record_has_two)
{
    ocdm__label_stream *stream = NULL;
    assert_int_equal(read_text("{\"labels\":[1]}\n{\"labels\":[2,2]}\n{\"labels\":[]}\n", &stream, NULL), OCDM_OK);
    assert_true(stream->single_label);
    ocdm__label_stream_destroy(stream);
}

TEST(label_stream_is_refused_when_a_file_is_bad_empty_or_missing)
{
    ocdm__label_stream *stream = NULL;
    ocdm_error error;
    assert_int_equal(read_text("{\"labels\":[1]}\n{\"labels\":\n", &stream, &error), OCDM_BAD_RECORD);
    assert_int_equal(read_text("", &stream, &error), OCDM_BAD_RECORD);
    assert_int_equal(ocdm__label_stream_open("/nonexistent/stream.jsonl", 0, &stream, &error), OCDM_IO);
    assert_null(stream);
}

TEST(label_stream_is_the_built_in_one_when_there_is_no_path)
{
    ocdm__builtin *builtin = NULL;
    ocdm__label_stream *stream = NULL;
    assert_int_equal(ocdm__builtin_create(9, 0, &builtin, NULL), OCDM_OK);
    assert_int_equal(ocdm__label_stream_open(NULL, 9, &stream, NULL), OCDM_OK);
    assert_int_equal(stream->sample_count, builtin->sample_count);
    assert_int_equal(stream->class_count, builtin->class_count);
    assert_int_equal(stream->label_count, builtin->label_start[builtin->sample_count]);
    assert_memory_equal(stream->label, builtin->label, stream->label_count * sizeof *stream->label);
    for (size_t i = 0; i < stream->sample_count; i++)
        assert_ptr_equal(stream->samples[i].labels, stream->label + builtin->label_start[i]);
    ocdm__label_stream_destroy(stream);
    ocdm__builtin_destroy(builtin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_stream_numbers_classes_and_drops_repeats_when_read),
        cmocka_unit_test(label_stream_is_single_label_when_no_record_has_two),
        cmocka_unit_test(label_stream_is_refused_when_a_file_is_bad_empty_or_missing),
        cmocka_unit_test(label_stream_is_the_built_in_one_when_there_is_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
