/* The input window: bytes keep their positions while the buffer slides, grows and shrinks, and a stop flag ends the wait. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"
#include "base/input.h"
#include "base/random.h"

/* Byte number i of the test file: no period that matches a buffer. */
static char byte_at(size_t i)
{
    return (char)(ocdm__mix(i / 8) >> (i % 8 * 8));
}

static FILE *make_file(size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc(byte_at(i), file);
    rewind(file);
    return file;
}

static void window_is(const ocdm__input *input, size_t offset)
{
    for (size_t i = 0; i < input->size; i++)
        if (input->data[i] != byte_at(offset + i))
            fail_msg("byte %zu is wrong", offset + i);
}

/* Releases and fills at random, as batches of lines of many lengths would. */
TEST(input_keeps_positions_when_it_slides_and_grows)
{
    const size_t size = 3 * 1024 * 1024 + 17;
    const uint64_t seed = 7;
    FILE *file = make_file(size);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, fileno(file), "test", NULL, NULL), OCDM_OK);
    ocdm__random random = ocdm__random_stream(seed, 0);
    size_t offset = 0, widest = 0;
    while (!input.ended) {
        input.read_size = 1 + ocdm__random_below(&random, 200000);
        assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
        widest = input.capacity > widest ? input.capacity : widest;
        if (ocdm__random_below(&random, 8) == 0) {
            window_is(&input, offset);
            size_t count = ocdm__random_below(&random, input.size + 1);
            ocdm__input_release(&input, count);
            offset += count;
        }
    }
    window_is(&input, offset);
    assert_int_equal(offset + input.size, size);
    assert_int_equal(input.bytes_read, size);
    assert_true(widest > 512 * 1024);
    ocdm__input_close(&input);
    fclose(file);
}

TEST(input_shrinks_when_a_long_line_is_done)
{
    FILE *file = make_file(5 * 1024 * 1024);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, fileno(file), "test", NULL, NULL), OCDM_OK);
    size_t small = input.capacity;
    while (input.size < 4 * 1024 * 1024)
        assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    assert_true(input.capacity > small);
    size_t read = input.size;
    ocdm__input_release(&input, read - 5);
    assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    assert_int_equal(input.capacity, small);
    window_is(&input, read - 5);
    ocdm__input_close(&input);
    fclose(file);
}

TEST(input_closes_the_gap_when_bytes_are_removed)
{
    FILE *file = make_file(1000);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, fileno(file), "test", NULL, NULL), OCDM_OK);
    input.read_size = 400;
    assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    ocdm__input_remove(&input, 10, 390);
    assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    assert_int_equal(input.size, 420);
    for (size_t i = 0; i < 420; i++)
        assert_int_equal(input.data[i], byte_at(i < 10 ? i : i + 380));
    ocdm__input_close(&input);
    fclose(file);
}

TEST(input_ends_once_and_for_all_when_the_file_is_empty)
{
    ocdm__input input;
    assert_int_equal(ocdm__input_open(&input, "/dev/null", NULL, NULL), OCDM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
        assert_true(input.ended);
        assert_int_equal(input.size, 0);
    }
    ocdm__input_close(&input);
    ocdm__input_close(&input);
}

TEST(input_says_why_when_it_cannot_open_or_read)
{
    ocdm__input input;
    ocdm_error error;
    assert_int_equal(ocdm__input_open(&input, "/no/such/file", NULL, &error), OCDM_IO);
    assert_non_null(strstr(error.message, "/no/such/file: No such file"));
    assert_int_equal(ocdm__input_open(&input, "/", NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm__input_fill(&input, &error), OCDM_IO);
    assert_non_null(strstr(error.message, "cannot read /: Is a directory"));
    ocdm__input_close(&input);
}

static volatile sig_atomic_t stop;

static void set_stop(int number)
{
    stop = number;
}

/* A child signals while the parent waits on a pipe that nothing is written to. */
TEST(input_stops_waiting_when_the_flag_is_set)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct sigaction action = {.sa_handler = set_stop};
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, ends[0], "pipe", &stop, NULL), OCDM_OK);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    pid_t child = fork();
    if (child == 0) {
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    assert_int_equal(ocdm__input_fill(&input, NULL), OCDM_OK);
    assert_true(input.stopped);
    assert_false(input.ended);
    assert_int_equal(input.size, 3);
    waitpid(child, NULL, 0);
    ocdm__input_close(&input);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_keeps_positions_when_it_slides_and_grows),
        cmocka_unit_test(input_shrinks_when_a_long_line_is_done),
        cmocka_unit_test(input_closes_the_gap_when_bytes_are_removed),
        cmocka_unit_test(input_ends_once_and_for_all_when_the_file_is_empty),
        cmocka_unit_test(input_says_why_when_it_cannot_open_or_read),
        cmocka_unit_test(input_stops_waiting_when_the_flag_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
