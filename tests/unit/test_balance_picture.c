/* The picture of the balance shows the numbers that it is given, and is well-formed XML. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "markup.h"
#include "report/figures/balance.h"

enum { CLASSES = 7 };

static const ocdm__picture_class classes[CLASSES] = {
    {.name = "a<b>&\"c\"", .group = "majority", .task = 3}, {.name = "d", .group = "moderate", .task = 3},
    {.name = "e", .group = "majority", .task = 3},          {.name = "f", .group = "majority", .task = 3},
    {.name = "g", .group = "moderate", .task = 1},          {.name = "h", .group = "minority", .task = 1},
    {.name = "i", .group = "minority", .task = 1},
};
static const uint32_t even[CLASSES] = {30, 31, 70, 29, 30, 31, 2};      /* none over the top, none lost */
static const uint32_t uneven[CLASSES] = {71, 1000, 552, 70, 200, 0, 0}; /* four over the top, three of them neighbours */
static const ocdm__picture_panel panels[2] = {{"even", 0.01236, 0.01236, even, NULL}, {"uneven", 0.99996, 12.5, uneven, NULL}};
static const ocdm__balance_picture both = {classes, CLASSES, panels, 2, OCDM__PICTURE_TOP, "1000 of 26,617 samples"};

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
    const char *label = NULL, *panel = text;
    while (label == NULL) {
        panel = element_with(panel + 1, "g", "class", "panel");
        assert_non_null(panel);
        label = element_saying(panel, "text", policy);
        label = label != NULL && label < end_of(panel) ? label : NULL;
    }
    char *copy = strndup(panel, (size_t)(end_of(panel) - panel));
    assert_non_null(copy);
    return copy;
}

struct bar {
    double x, y, width, height;
    char class[24]; /* its colour and how it is filled */
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
        attribute_of(panel, "class", bars[c].class, sizeof bars[c].class);
    }
}

/* A picture, its two panels and their bars; release with drop. */
struct drawn {
    char *text, *even, *uneven;
    struct bar even_bars[CLASSES], uneven_bars[CLASSES];
};

static struct drawn draw_both(void)
{
    struct drawn drawn = {.text = draw(&both)};
    drawn.even = panel_of(drawn.text, "even");
    drawn.uneven = panel_of(drawn.text, "uneven");
    read_bars(drawn.even, drawn.even_bars);
    read_bars(drawn.uneven, drawn.uneven_bars);
    return drawn;
}

static void drop(struct drawn *drawn)
{
    free(drawn->uneven);
    free(drawn->even);
    free(drawn->text);
}

/* Places have one decimal. */
static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) < 0.11);
}

/* Both panels have the same scale, whatever is in them; bars stand on one line. */
static void assert_heights(const struct bar bars[CLASSES], const uint32_t *kept, double top)
{
    for (size_t c = 0; c < CLASSES; c++) {
        double count = kept[c] > OCDM__PICTURE_TOP ? OCDM__PICTURE_TOP : kept[c];
        assert_near(bars[c].height, count / OCDM__PICTURE_TOP * top);
        assert_near(bars[c].y + bars[c].height, bars[0].y + bars[0].height);
    }
}

TEST(picture_bars_are_as_high_as_the_counts)
{
    struct drawn drawn = draw_both();
    double top = drawn.even_bars[2].height; /* of 70 samples */
    assert_true(top > 50);
    assert_heights(drawn.even_bars, even, top);
    assert_heights(drawn.uneven_bars, uneven, top);
    drop(&drawn);
}

TEST(picture_tells_tasks_apart)
{
    struct drawn drawn = draw_both();
    const char *line = drawn.even;
    while ((line = next_element(line, "line")) != NULL && !has_class(line, "change"))
        line++;
    assert_non_null(line);
    assert_true(number_of(line, "x1") > drawn.even_bars[3].x + drawn.even_bars[3].width);
    assert_true(number_of(line, "x1") < drawn.even_bars[4].x);
    assert_int_equal(count_elements(drawn.even, "line", "change"), 1);
    assert_non_null(element_saying(drawn.text, "text", "task 3"));
    assert_non_null(element_saying(drawn.text, "text", "task 1"));
    drop(&drawn);
}

TEST(picture_fills_follow_the_groups)
{
    struct drawn drawn = draw_both();
    for (size_t c = 0; c < CLASSES; c++)
        for (size_t other = 0; other < c; other++)
            assert_int_equal(strcmp(drawn.even_bars[c].class, drawn.even_bars[other].class) == 0,
                             strcmp(classes[c].group, classes[other].group) == 0);
    drop(&drawn);
}

TEST(picture_marks_and_numbers_bars_when_they_are_cut_off)
{
    static const size_t cut[] = {0, 1, 2, 4};
    struct drawn drawn = draw_both();
    for (size_t i = 0; i < 4; i++) {
        const struct bar *bar = &drawn.uneven_bars[cut[i]];
        char number[16];
        snprintf(number, sizeof number, "%u", (unsigned)uneven[cut[i]]);
        assert_int_equal(count_saying(drawn.uneven, "text", number), 1);
        const char *element = element_saying(drawn.uneven, "text", number);
        assert_near(number_of(element, "x"), bar->x + bar->width / 2);
        assert_true(number_of(element, "y") < bar->y);
    }
    assert_int_equal(count_elements(drawn.uneven, "path", "k0"), 4); /* the arrows */
    assert_int_equal(count_elements(drawn.even, "path", NULL), 0);
    assert_int_equal(count_saying(drawn.even, "text", "70"), 0);
    drop(&drawn);
}

/* Bars are narrower than four digits: the numbers have two rows, and one that fits neither is left out. */
TEST(picture_numbers_do_not_overlap)
{
    enum { MANY = 60, DIGIT = 6 };
    ocdm__picture_class many[MANY];
    uint32_t kept[MANY];
    double rows[MANY], ends[MANY] = {0};
    size_t row_count = 0, numbers = 0;
    for (size_t c = 0; c < MANY; c++) {
        many[c] = (ocdm__picture_class){.name = "x", .group = "majority"};
        kept[c] = 1000;
    }
    ocdm__picture_panel panel = {"all", 1, 1, kept, NULL};
    ocdm__balance_picture picture = {many, MANY, &panel, 1, OCDM__PICTURE_TOP, ""};
    char *text = draw(&picture);
    for (const char *at = text; (at = element_saying(at, "text", "1000")) != NULL; at++, numbers++) {
        size_t row = 0;
        while (row < row_count && rows[row] != number_of(at, "y"))
            row++;
        row_count += row == row_count;
        rows[row] = number_of(at, "y");
        assert_true(number_of(at, "x") - 2 * DIGIT >= ends[row]);
        ends[row] = number_of(at, "x") + 2 * DIGIT;
    }
    assert_true(row_count == 2 && numbers >= MANY / 2);
    free(text);
}

TEST(picture_marks_classes_when_they_are_lost)
{
    struct drawn drawn = draw_both();
    assert_int_equal(count_elements(drawn.even, "path", "mark"), 0);
    assert_null(element_mentioning(drawn.even, "text", "lost"));
    assert_int_equal(count_elements(drawn.uneven, "path", "mark"), 2);
    assert_non_null(element_saying(drawn.uneven, "text", "2 classes lost,"));
    drop(&drawn);
}

/* 223 / 7 is 31.9; 1893 / 7 is 270.4, over the top, and its mark is at the top. */
TEST(picture_tells_distances_and_equal_shares)
{
    struct drawn drawn = draw_both();
    double base = drawn.even_bars[0].y + drawn.even_bars[0].height, top = drawn.even_bars[2].height;
    assert_non_null(element_saying(drawn.even, "text", "distance 0.0124"));
    assert_non_null(element_saying(drawn.even, "text", "equal share 31.9"));
    assert_int_equal(count_elements(drawn.even, "line", "mark"), CLASSES);
    const char *mark = element_with(drawn.even, "line", "class", "mark");
    assert_near(base - number_of(mark, "y1"), 223.0 / 7 / OCDM__PICTURE_TOP * top);
    assert_non_null(element_saying(drawn.uneven, "text", "distance 1.0000"));
    assert_non_null(element_saying(drawn.uneven, "text", "12.5000 with them"));
    assert_non_null(element_saying(drawn.uneven, "text", "equal share 270.4"));
    mark = element_with(drawn.uneven, "line", "class", "mark");
    assert_near(number_of(mark, "y1"), drawn.uneven_bars[1].y);
    assert_int_equal(count_saying(drawn.text, "text", "1000 of 26,617 samples"), 1);
    drop(&drawn);
}

TEST(picture_is_well_formed_when_names_need_escapes)
{
    char *text = draw(&both);
    assert_well_formed(text);
    assert_non_null(element_saying(text, "title", "a<b>&\"c\": 30, target 31.86"));
    assert_non_null(element_saying(text, "text", "a<b>&\"c\""));
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

/* Targets of one's own are where the marks are, and the scale reaches them. */
TEST(picture_marks_the_targets_that_are_given)
{
    static const double targets[CLASSES] = {100, 50, 50, 50, 50, 25, 0};
    ocdm__picture_panel panel = {"even", 0.1, 0.1, even, targets};
    ocdm__balance_picture picture = {classes, CLASSES, &panel, 1, 0, ""};
    char *text = draw(&picture);
    char *bars = panel_of(text, "even");
    assert_int_equal(count_elements(bars, "line", "mark"), CLASSES);
    const char *high = element_with(bars, "line", "class", "mark"), *low = element_with(high + 1, "line", "class", "mark");
    struct bar drawn[CLASSES];
    read_bars(bars, drawn);
    double base = drawn[0].y + drawn[0].height;
    assert_near((base - number_of(high, "y1")) / 2, base - number_of(low, "y1"));
    assert_non_null(element_mentioning(text, "title", ", target 100"));
    assert_null(strstr(text, "equal share 3"));
    free(bars);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picture_bars_are_as_high_as_the_counts),
        cmocka_unit_test(picture_tells_tasks_apart),
        cmocka_unit_test(picture_marks_the_targets_that_are_given),
        cmocka_unit_test(picture_fills_follow_the_groups),
        cmocka_unit_test(picture_marks_and_numbers_bars_when_they_are_cut_off),
        cmocka_unit_test(picture_numbers_do_not_overlap),
        cmocka_unit_test(picture_marks_classes_when_they_are_lost),
        cmocka_unit_test(picture_tells_distances_and_equal_shares),
        cmocka_unit_test(picture_is_well_formed_when_names_need_escapes),
        cmocka_unit_test(picture_is_the_same_bytes_when_drawn_twice),
        cmocka_unit_test(picture_fails_when_the_folder_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
