/* Terminals, on a pseudo-terminal, and descriptors that are none. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../test.h"
#include "base/terminal.h"

/* Both ends of a pseudo-terminal: the tests look at the program's end. */
static int master = -1;
static int terminal = -1;

static int open_terminal(void **state)
{
    (void)state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    return terminal < 0 ? -1 : 0;
}

static int close_terminal(void **state)
{
    (void)state;
    close(terminal);
    close(master);
    return 0;
}

TEST(terminal_is_told_from_a_file)
{
    int file = open("/dev/null", O_WRONLY);
    assert_true(ocdm__is_terminal(terminal));
    assert_false(ocdm__is_terminal(file));
    assert_false(ocdm__is_terminal(-1));
    close(file);
}

TEST(terminal_width_is_what_it_says)
{
    struct winsize size = {.ws_row = 24, .ws_col = 132};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    assert_int_equal(ocdm__terminal_width(terminal), 132);
}

TEST(terminal_width_is_80_when_nobody_says)
{
    struct winsize size = {0};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    assert_int_equal(ocdm__terminal_width(terminal), 80);
    assert_int_equal(ocdm__terminal_width(-1), 80);
}

TEST(terminal_is_coloured_unless_refused)
{
    assert_true(ocdm__wants_colour(terminal));
    setenv("NO_COLOR", "", 1);
    assert_true(ocdm__wants_colour(terminal));
    setenv("NO_COLOR", "1", 1);
    assert_false(ocdm__wants_colour(terminal));
}

TEST(terminal_is_not_coloured_when_it_cannot_be)
{
    int file = open("/dev/null", O_WRONLY);
    assert_false(ocdm__wants_colour(file));
    close(file);
    setenv("TERM", "dumb", 1);
    assert_false(ocdm__wants_colour(terminal));
    unsetenv("TERM");
    assert_false(ocdm__wants_colour(terminal));
}

TEST(terminal_speaks_utf8_when_the_first_variable_set_says_so)
{
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    assert_false(ocdm__speaks_utf8());
    setenv("LANG", "en_GB.UTF-8", 1);
    assert_true(ocdm__speaks_utf8());
    setenv("LC_CTYPE", "de_DE.ISO-8859-1", 1);
    assert_false(ocdm__speaks_utf8());
    setenv("LC_ALL", "C.utf8", 1);
    assert_true(ocdm__speaks_utf8());
    setenv("LC_ALL", "C", 1);
    assert_false(ocdm__speaks_utf8());
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "", 1);
    assert_true(ocdm__speaks_utf8());
}

/* Draws a row and compares it. */
static void row_is(const ocdm__bars *bars, unsigned row, const char *expected)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open_memory(&output, "a row", NULL), OCDM_OK);
    ocdm__bars_row(&output, bars, row);
    ocdm__output_write(&output, "", 1);
    assert_string_equal(output.buffer, expected);
    ocdm__output_abandon(&output);
}

TEST(bars_round_up_to_a_step_and_stop_at_the_full_character)
{
    static const double height[] = {0, 0.01, 0.5, 1, 1.5, 2.125};
    ocdm__bars bars = {.style = &ocdm__bar_ascii, .height = height, .count = 6, .rows = 2, .width = 1};
    row_is(&bars, 0, " .:|||\n"); /* three steps in a character */
    row_is(&bars, 1, "    :|\n");
    bars.style = &ocdm__bar_blocks;
    row_is(&bars, 2, "     ▁\n");
}

TEST(bars_are_marked_spaced_and_set_apart)
{
    static const double height[] = {0, 2, 2.01};
    static const bool apart[] = {false, true, false};
    ocdm__bars bars = {.style = &ocdm__bar_ascii, .height = height, .count = 3, .rows = 2, .width = 3, .marks = true};
    row_is(&bars, 0, "xx || || \n");
    row_is(&bars, 1, "   || ^^ \n");
    bars.apart = apart;
    bars.width = 1;
    row_is(&bars, 0, "x ||\n");
}

TEST(bars_that_are_merged_are_means)
{
    static const double values[] = {1, 2, 3, 4, 10};
    double means[5];
    assert_int_equal(ocdm__bars_merge(values, 5, 2, means), 3);
    assert_true(means[0] == 1.5 && means[1] == 3.5 && means[2] == 10);
    assert_int_equal(ocdm__bars_merge(values, 5, 1, means), 5);
    assert_memory_equal(means, values, sizeof values);
}

TEST(bars_of_a_line_are_rounded_to_the_nearest_length)
{
    char bar[8];
    assert_int_equal(ocdm__bar_fill(bar, 0.49), 0);
    assert_string_equal(bar, "");
    assert_int_equal(ocdm__bar_fill(bar, 2.5), 3);
    assert_string_equal(bar, "###");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(terminal_is_told_from_a_file, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(terminal_width_is_what_it_says, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(terminal_width_is_80_when_nobody_says, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(terminal_is_coloured_unless_refused, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(terminal_is_not_coloured_when_it_cannot_be, open_terminal, close_terminal),
        cmocka_unit_test(terminal_speaks_utf8_when_the_first_variable_set_says_so),
        cmocka_unit_test(bars_round_up_to_a_step_and_stop_at_the_full_character),
        cmocka_unit_test(bars_are_marked_spaced_and_set_apart),
        cmocka_unit_test(bars_that_are_merged_are_means),
        cmocka_unit_test(bars_of_a_line_are_rounded_to_the_nearest_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
