/* The picture of the balance shows the numbers that it is given, and is well-formed XML. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "markup.h"
#include "report/figures/figure.h"

enum { CLASSES = 7 };

static const ocdm__picture_class classes[CLASSES] = {
    {"a<b>&\"c\"", 601, 0}, {"d", 600, 0}, {"e", 5000, 0}, {"f", 900, 0}, {"g", 100, 1}, {"h", 99, 1}, {"i", 1, 1},
};
static const uint32_t even[CLASSES] = {30, 31, 70, 29, 30, 31, 2};      /* none over the top, none lost */
static const uint32_t uneven[CLASSES] = {71, 1000, 552, 70, 200, 0, 0}; /* four over the top, three of them neighbours */
static const ocdm__picture_panel panels[2] = {{"even", 0.01236, 0.01236, even}, {"uneven", 0.99996, 12.5, uneven}};
static const ocdm__balance_picture both = {classes, CLASSES, panels, 2, 1000, 26617};

/* The file that the picture becomes; free it. */
static char *draw(const ocdm__balance_picture *picture)
{
    char path[] = "/tmp/ocdm-test-picture-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ocdm__balance_picture_write(picture, path, NULL), OCDM_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_in_range(fread(text, 1, (1 << 20) - 1, file), 100, (1 << 20) - 2);
    fclose(file);
    unlink(path);
    return text;
}

/* The part of the file that is a policy's panel; free it. */
static char *panel_of(const char *text, const char *policy)
{
    char id[64];
    const char *begin = next_element(text, "g");
    while (begin != NULL && strcmp(attribute_of(begin, "id", id, sizeof id), policy) != 0)
        begin = next_element(begin + 1, "g");
    assert_non_null(begin);
    const char *end = strstr(begin, "</g>");
    assert_non_null(end);
    char *panel = strndup(begin, (size_t)(end - begin));
    assert_non_null(panel);
    return panel;
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        found++;
    return found;
}

struct bar {
    double x, y, width, height;
    char colour[8];
};

/* Reads the bars back; as many as there are classes, or the test fails. */
static void read_bars(const char *panel, struct bar bars[CLASSES])
{
    assert_int_equal(count_elements(panel, "rect", NULL), CLASSES);
    for (size_t c = 0; c < CLASSES; c++, panel++) {
        panel = next_element(panel, "rect");
        bars[c] = (struct bar){.x = number_of(panel, "x"),
                               .y = number_of(panel, "y"),
                               .width = number_of(panel, "width"),
                               .height = number_of(panel, "height")};
        attribute_of(panel, "fill", bars[c].colour, sizeof bars[c].colour);
    }
}

TEST(picture_bars_are_as_high_as_the_counts)
{
    static const uint32_t *const kept[2] = {even, uneven};
    char *text = draw(&both);
    for (size_t i = 0; i < 2; i++) {
        char *panel = panel_of(text, panels[i].policy);
        struct bar bars[CLASSES];
        read_bars(panel, bars);
        for (size_t c = 0; c < CLASSES; c++) {
            double height = kept[i][c] > OCDM__PICTURE_TOP ? OCDM__PICTURE_TOP : kept[i][c];
            assert_true(bars[c].height == height && bars[c].y == -height);
        }
        free(panel);
    }
    free(text);
}

TEST(picture_bars_stand_apart_and_tasks_further)
{
    char *text = draw(&both), *panel = panel_of(text, "even");
    struct bar bars[CLASSES];
    read_bars(panel, bars);
    double step = bars[1].x - bars[0].x;
    assert_true(step > bars[0].width);
    for (size_t c = 1; c < CLASSES; c++) {
        if (classes[c].task == classes[c - 1].task)
            assert_true(bars[c].x - bars[c - 1].x == step);
        else
            assert_true(bars[c].x - bars[c - 1].x > step + 4);
    }
    free(panel);
    free(text);
}

TEST(picture_colours_follow_the_counts_of_the_stream)
{
    static const int group[CLASSES] = {0, 1, 0, 0, 1, 2, 2}; /* majority, moderate, minority */
    char *text = draw(&both), *panel = panel_of(text, "even");
    struct bar bars[CLASSES];
    read_bars(panel, bars);
    for (size_t c = 0; c < CLASSES; c++)
        for (size_t other = 0; other < c; other++)
            assert_int_equal(strcmp(bars[c].colour, bars[other].colour) == 0, group[c] == group[other]);
    free(panel);
    free(text);
}

/* Where the number over a bar that is cut off stands. */
static void find_number(const char *panel, unsigned number, double *x, double *y)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, ">%u</text>", number);
    assert_int_equal(count(panel, wanted), 1);
    const char *element = strstr(panel, wanted);
    while (strncmp(element, "<text ", 6) != 0)
        element--;
    *x = number_of(element, "x");
    *y = number_of(element, "y");
}

TEST(picture_marks_and_numbers_bars_when_they_are_cut_off)
{
    static const size_t cut[] = {0, 1, 2, 4};
    char *text = draw(&both), *without = panel_of(text, "even"), *with = panel_of(text, "uneven");
    assert_int_equal(count_elements(without, "path", "clipped"), 0);
    assert_int_equal(count_elements(with, "path", "clipped"), 4);
    struct bar bars[CLASSES];
    read_bars(with, bars);
    double x[4], y[4];
    for (size_t i = 0; i < 4; i++) {
        find_number(with, uneven[cut[i]], &x[i], &y[i]);
        assert_true(x[i] == bars[cut[i]].x + bars[cut[i]].width / 2.0);
        assert_true(y[i] < -(double)OCDM__PICTURE_TOP);
    }
    /* Neighbours are too near each other for four digits: their numbers are on different lines. */
    assert_true(y[0] - y[1] >= 10 && y[2] - y[1] >= 10);
    assert_true(y[3] == y[0]);
    free(with);
    free(without);
    free(text);
}

TEST(picture_marks_classes_when_they_are_lost)
{
    char *text = draw(&both), *without = panel_of(text, "even"), *with = panel_of(text, "uneven");
    assert_int_equal(count_elements(without, "path", "lost"), 0);
    assert_null(strstr(without, "lost"));
    assert_int_equal(count_elements(with, "path", "lost"), 2);
    assert_non_null(strstr(with, ">2 classes lost,<"));
    free(with);
    free(without);
    free(text);
}

TEST(picture_tells_distances_and_equal_shares)
{
    char *text = draw(&both), *first = panel_of(text, "even"), *second = panel_of(text, "uneven");
    assert_non_null(strstr(first, ">distance 0.0124<"));
    assert_non_null(strstr(first, " -31.9H")); /* 223 / 7 */
    assert_non_null(strstr(first, ">31.9</text>"));
    assert_non_null(strstr(second, ">distance 1.0000<"));
    assert_non_null(strstr(second, ">12.5000 with them<"));
    assert_non_null(strstr(second, " -70.0H")); /* 1893 / 7 is over the top */
    assert_non_null(strstr(second, ">270.4</text>"));
    assert_int_equal(
        count(text, ">Samples in memory per class, M = 1000, after 26,617 samples; the line is an equal share</text>"), 1);
    free(second);
    free(first);
    free(text);
}

TEST(picture_is_well_formed_when_names_need_escapes)
{
    char *text = draw(&both);
    assert_well_formed(text);
    assert_int_equal(count(text, "<title>a&lt;b&gt;&amp;&quot;c&quot;: "), 2);
    free(text);
}

TEST(picture_is_the_same_bytes_when_drawn_twice)
{
    char *first = draw(&both), *second = draw(&both);
    assert_string_equal(first, second);
    free(second);
    free(first);
}

TEST(picture_fails_when_the_folder_is_missing)
{
    ocdm_error error;
    assert_int_equal(ocdm__balance_picture_write(&both, "/nonexistent/balance.svg", &error), OCDM_IO);
    assert_non_null(strstr(error.message, "/nonexistent/balance.svg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picture_bars_are_as_high_as_the_counts),
        cmocka_unit_test(picture_bars_stand_apart_and_tasks_further),
        cmocka_unit_test(picture_colours_follow_the_counts_of_the_stream),
        cmocka_unit_test(picture_marks_and_numbers_bars_when_they_are_cut_off),
        cmocka_unit_test(picture_marks_classes_when_they_are_lost),
        cmocka_unit_test(picture_tells_distances_and_equal_shares),
        cmocka_unit_test(picture_is_well_formed_when_names_need_escapes),
        cmocka_unit_test(picture_is_the_same_bytes_when_drawn_twice),
        cmocka_unit_test(picture_fails_when_the_folder_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
