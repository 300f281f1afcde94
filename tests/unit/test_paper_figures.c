/* The paper's figures as pictures, over made-up rows: whole, with marks, the right numbers in them, and hostile names as text.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../test.h"
#include "../nested_files.h"
#include "report/paper/paper.h"
#include "stream/labelled_set.h"
#include "markup.h"

enum { CLASSES = 6, FIRST_TASK = 1100, SAMPLES = 1200, ROOM = 256 };

/* A stream of two tasks, three classes each, all names hostile; samples have one or two classes. */
static const char *const names[CLASSES] = {"<script>alert(1)</script>",
                                           "a&b\"' onload=x",
                                           "]]><!--",
                                           "\342\200\256turned",
                                           "</svg></text><style>",
                                           "tab\there and very long: 0123456789 0123456789 0123456789 0123456789"};

static void write_stream(const char *path)
{
    static uint64_t starts[SAMPLES + 1], id_starts[SAMPLES + 1], name_starts[CLASSES + 1];
    static uint32_t labels[2 * SAMPLES], tasks[SAMPLES];
    static uint8_t parts[SAMPLES], groups[CLASSES] = {0, 1, 2, 0, 1, 2};
    static char ids[SAMPLES * 8], texts[CLASSES * ROOM];
    size_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint32_t task = i < FIRST_TASK ? 0 : 1;
        starts[i] = count;
        tasks[i] = task;
        parts[i] = i % 50 == 49 ? OCDM__TEST : OCDM__TRAIN;
        labels[count++] = 3 * task;
        if (i % 3 > 0)
            labels[count++] = 3 * task + (uint32_t)(i % 3);
        id_starts[i + 1] = id_starts[i] + (uint64_t)snprintf(ids + id_starts[i], 8, "<%zu>", i);
    }
    starts[SAMPLES] = count;
    for (size_t c = 0; c < CLASSES; c++)
        name_starts[c + 1] = name_starts[c] + (uint64_t)snprintf(texts + name_starts[c], ROOM, "%s", names[c]);
    ocdm__stream_table table = {
        SAMPLES, CLASSES, starts, labels, tasks, parts, groups, {id_starts, ids}, {name_starts, texts}, {NULL, NULL}, NULL};
    struct ocdm__note notes[] = {{.key = "format", .value = "ocdm-stream"}, {.key = "version", .value = "1"}};
    ocdm_error error;
    assert_int_equal(ocdm__stream_write(path, &table, NULL, notes, 2, NULL, &error), OCDM_OK);
}

static char *picture;
static ocdm__stream_info info;

static int prepare(void **state)
{
    ocdm_error error;
    write_stream("s.safetensors");
    info = (ocdm__stream_info){.class_count = 0};
    (void)state;
    return ocdm__stream_info_read(&info, "s.safetensors", NULL, &error) == OCDM_OK ? 0 : -1;
}

static int clear(void **state)
{
    free(picture);
    picture = NULL;
    ocdm__stream_info_clear(&info);
    return clear_tree(state);
}

static bool says(const char *part)
{
    return strstr(picture, part) != NULL;
}

/* How many elements of the picture have this text, or this in their text. */
static size_t shows(const char *element, const char *text)
{
    return count_saying(picture, element, text);
}

static size_t mentions(const char *element, const char *part)
{
    return count_mentioning(picture, element, part);
}

static size_t elements(const char *name)
{
    return count_elements(picture, name, NULL);
}

static size_t points(void)
{
    return count_elements(picture, "path", "dot");
}

/* Draws an item on the stream, or on two, and checks what holds for every picture. */
static void draw(const char *name, const ocdm__table *table, size_t streams)
{
    const ocdm__paper_item *item = ocdm__paper_item_find(name);
    ocdm__paper_part part;
    ocdm__sheet sheet;
    ocdm_error error;
    size_t size;
    assert_int_equal(ocdm__paper_part_begin(&part, item, "made<up>", item->streams[0], &info, &error), OCDM_OK);
    assert_int_equal(ocdm__sheet_begin(&sheet, &error), OCDM_OK);
    for (size_t i = 0; i < streams; i++)
        assert_int_equal(ocdm__paper_draw(&sheet, &part, table, 0, &error), OCDM_OK);
    assert_int_equal(ocdm__sheet_write(&sheet, item->what, ocdm__paper_reading(item), "p.svg", &error), OCDM_OK);
    ocdm__sheet_clear(&sheet);
    ocdm__paper_part_clear(&part);
    free(picture);
    picture = (char *)read_whole("p.svg", &size);
    assert_non_null(picture);
    picture[size - 1] = '\0';
    assert_int_equal(strlen(picture), size - 1);
    assert_well_formed(picture);
    HOLDS(name, element_with(picture, "svg", "xmlns", "http://www.w3.org/2000/svg") == next_element(picture, "svg"));
    HOLDS(name, count_elements(picture, "style", NULL) == 1 && shows("title", item->what) == 1);
    HOLDS(name, shows("desc", ocdm__paper_reading(item)) == 1);
    HOLDS(name, mentions("text", "made<up>, in place of ") == streams && !says("made<up>"));
    HOLDS(name, !says("nan") && !says("inf") && !says("<script") && !says("<!--") && !says("http://x"));
    HOLDS(name, !says("\342\200\256") && !says("\t"));
}

/* ---- made-up rows ------------------------------------------------------------------------------------------------------- */

static void begin(ocdm__table *table, const char *name)
{
    ocdm_error error;
    assert_int_equal(ocdm__paper_table_begin(table, ocdm__paper_item_find(name)->kind, &error), OCDM_OK);
}

static ocdm__cell *add_row(ocdm__table *table, const char *method, const char *order)
{
    ocdm__cell *row = ocdm__table_row(table);
    assert_non_null(row);
    row[0] = ocdm__cell_text(table, "made<up>");
    row[1] = ocdm__cell_text(table, method);
    row[2] = ocdm__cell_text(table, order);
    return row;
}

static void add_kept(ocdm__table *table, const char *method, const char *order, double first)
{
    for (size_t c = 0; c < CLASSES; c++) {
        ocdm__cell *row = add_row(table, method, order);
        row[4] = ocdm__cell_text(table, names[c]);
        row[7] = ocdm__cell_number(c == 0 ? first : 10.0 * (double)c, NAN, 1);
        row[8] = ocdm__cell_number(25, NAN, 1);
    }
}

static void add_series(ocdm__table *table, const char *method, const char *order, const char *series, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ocdm__cell *row = add_row(table, method, order);
        row[3] = ocdm__cell_text(table, series);
        row[4] = ocdm__cell_number((double)(i + 1), NAN, 0);
        row[5] = ocdm__cell_number(i == 3 ? NAN : 40.0 / (double)(i + 1), NAN, 4);
        row[6] = ocdm__cell_number(1.5, NAN, 4);
    }
}

/* ---- bars --------------------------------------------------------------------------------------------------------------- */

TEST(process_figure_shows_what_joins_and_leaves)
{
    draw("process", NULL, 1);
    HOLDS("panels", shows("text", "memory before") > 0 && shows("text", "a batch joins") > 0 &&
                        shows("text", "samples leave") > 0 && shows("text", "memory after") > 0);
    HOLDS("names", mentions("title", names[0]) > 0 && mentions("title", "</svg>") > 0);
    HOLDS("samples", shows("text", "10 samples") == 2);
    /* Every sample of the first task has its first class, every one of the batch the second task's: ten of 1000 give way. */
    HOLDS("counts", mentions("title", "/script>: 1000, target ") == 1 && mentions("title", "/script>: 990, target ") == 1);
    /* A point with the whole batch, and one after each of the ten that leave. */
    HOLDS("points", points() == 11 && shows("text", "all have joined") > 0);
}

TEST(stream_figures_have_a_panel_for_each_task)
{
    static const char *const figures[] = {"stream-mscoco", "stream-nuswide"};
    for (size_t i = 0; i < 2; i++) {
        draw(figures[i], NULL, 1);
        HOLDS(figures[i], shows("text", "task 0") > 0 && shows("text", "task 1") > 0 && shows("text", "3 classes") == 2);
        HOLDS(figures[i], mentions("text", i == 0 ? ", paper 95.5" : ", paper 98.1") == 1);
        /* 1078 of 1100 and 98 of 100 samples are for training, and all of those have the first class of their task. */
        HOLDS(figures[i], mentions("title", "<script>alert(1)</script>: 1078") > 0 && shows("text", "98 samples") > 0);
    }
}

TEST(memory_figures_have_ours_and_the_papers_counts)
{
    static const char *const figures[] = {"memory", "memory-onlyone", "strategies-memory"};
    for (size_t i = 0; i < 3; i++) {
        ocdm__table table = {.row_count = 0};
        begin(&table, figures[i]);
        add_kept(&table, "prs", "", 300);
        add_kept(&table, "<b>", "", 0);
        draw(figures[i], &table, 2);
        ocdm__table_clear(&table);
        HOLDS(figures[i], mentions("title", ": 300, target 25") == 2 && mentions("title", ": 40, target 25") == 4);
        HOLDS(figures[i], shows("text", "<b>") > 0 && shows("text", "1 class lost") > 0 && shows("text", "300") > 0);
        /* Over 40 are 300 and 50, under 20 is 10 alone; the paper has 18 and 9. */
        HOLDS(figures[i], shows("text", "over 40: 2, paper 18") > 0 && shows("text", "under 20: 1, paper 9") > 0);
    }
}

TEST(memory_figure_draws_no_bar_where_there_is_no_number)
{
    ocdm__table table = {.row_count = 0};
    begin(&table, "memory");
    add_kept(&table, "rs", "", NAN);
    draw("memory", &table, 1);
    ocdm__table_clear(&table);
    assert_int_equal(mentions("title", ", target 25"), CLASSES - 1);
}

TEST(orders_memory_figure_tells_the_orders)
{
    ocdm__table table = {.row_count = 0};
    begin(&table, "orders-memory");
    add_kept(&table, "ocdm", "0,1", 5);
    add_kept(&table, "ocdm", "1,0", 6);
    draw("orders-memory", &table, 1);
    ocdm__table_clear(&table);
    HOLDS("orders", shows("text", "order 0,1") > 0 && shows("text", "order 1,0") > 0 && !says(", paper "));
    HOLDS("bars", mentions("title", ", target 25") == 2 * CLASSES);
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

TEST(curves_figure_has_lines_and_the_papers_marks)
{
    ocdm__table table = {.row_count = 0};
    begin(&table, "curves");
    add_series(&table, "rs", "", "mAP", 2);
    add_series(&table, "ocdm", "", "mAP", 2);
    add_series(&table, "rs", "", "distance_seen", 20);
    add_series(&table, "ocdm", "", "distance_seen", 20);
    draw("curves", &table, 1);
    ocdm__table_clear(&table);
    /* A gap where there is no number makes two lines of one. */
    HOLDS("lines", elements("polyline") == 2 + 4 && points() == 4);
    HOLDS("marks", mentions("title", "the paper: 43") > 0 && mentions("title", "the paper: 36.9") > 0);
    HOLDS("axes", shows("text", "+ task 1") > 0 && shows("text", "total mAP (%)") > 0 && shows("text", "training steps") > 0);
}

TEST(curves_figure_says_so_when_there_are_no_runs)
{
    ocdm__table table = {.row_count = 0};
    begin(&table, "curves");
    add_series(&table, "ocdm", "", "distance_seen", 20);
    draw("curves", &table, 1);
    ocdm__table_clear(&table);
    HOLDS("remark", says("so mAP is left out") && shows("text", "total mAP (%)") == 0 && elements("polyline") > 0);
}

static bool has_change_at(const char *x)
{
    const char *line = picture;
    while ((line = element_with(line, "line", "x1", x)) != NULL && !has_class(line, "change"))
        line++;
    return line != NULL;
}

TEST(orders_distance_figure_has_a_chart_for_each_order)
{
    ocdm__table table = {.row_count = 0};
    static const char *const orders[] = {"0,1", "1,0"};
    begin(&table, "orders-distance");
    for (size_t i = 0; i < 2; i++) {
        add_series(&table, "rs", orders[i], "distance_seen", 150);
        add_series(&table, "ocdm", orders[i], "distance_seen", 150);
    }
    draw("orders-distance", &table, 1);
    ocdm__table_clear(&table);
    HOLDS("orders", shows("text", "tasks in the order 0,1") > 0 && shows("text", "tasks in the order 1,0") > 0);
    HOLDS("charts", shows("text", "training steps") == 2 && elements("polyline") == 8);
    /* Batches of ten: 108 steps of the first task, 10 of the second, which come first in the second chart. */
    HOLDS("sections", count_elements(picture, "line", "change") == 2);
    HOLDS("sections", has_change_at("590.4") && has_change_at("121.8"));
}

static void add_rho(ocdm__table *table, double rho, const char *group, double kept, double map)
{
    ocdm__cell *row = add_row(table, "", group);
    row[1] = ocdm__cell_number(rho, NAN, 1);
    row[4] = ocdm__cell_number(kept, NAN, 1);
    row[5] = ocdm__cell_number(map, NAN, 1);
}

TEST(rho_figure_has_lines_for_each_group)
{
    ocdm__table table = {.row_count = 0};
    begin(&table, "rho");
    for (size_t i = 0; i < 3; i++) {
        add_rho(&table, (double)i / 5, "majority", 10 * (double)i, 50);
        add_rho(&table, (double)i / 5, "moderate", 10, i == 2 ? NAN : 40);
        add_rho(&table, (double)i / 5, "minority", 10 - (double)i, 30);
    }
    draw("rho", &table, 1);
    HOLDS("points", points() == 9 + 8);
    HOLDS("marks", mentions("title", "the paper: 51.6") > 0 && mentions("title", "the paper: 42.3") > 0 &&
                       mentions("title", "the paper: 26.22") > 0);
    HOLDS("trends", says("majority (paper: rises)") && says("minority (paper: falls)"));
    for (size_t row = 0; row < table.row_count; row++)
        *ocdm__table_at(&table, row, 5) = ocdm__cell_number(NAN, NAN, 1);
    draw("rho", &table, 1);
    HOLDS("without runs", says("so mAP is left out") && points() == 9);
    ocdm__table_clear(&table);
}

/* ---- which are figures -------------------------------------------------------------------------------------------------- */

TEST(figures_are_told_from_tables)
{
    size_t figures = 0;
    for (size_t i = 0; ocdm__paper_item_at(i) != NULL; i++) {
        const ocdm__paper_item *item = ocdm__paper_item_at(i);
        HOLDS(item->name, ocdm__paper_is_figure(item) == (strncmp(item->what, "Figure ", 7) == 0));
        figures += ocdm__paper_is_figure(item);
    }
    assert_int_equal(figures, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(process_figure_shows_what_joins_and_leaves, prepare, clear),
        cmocka_unit_test_setup_teardown(stream_figures_have_a_panel_for_each_task, prepare, clear),
        cmocka_unit_test_setup_teardown(memory_figures_have_ours_and_the_papers_counts, prepare, clear),
        cmocka_unit_test_setup_teardown(memory_figure_draws_no_bar_where_there_is_no_number, prepare, clear),
        cmocka_unit_test_setup_teardown(orders_memory_figure_tells_the_orders, prepare, clear),
        cmocka_unit_test_setup_teardown(curves_figure_has_lines_and_the_papers_marks, prepare, clear),
        cmocka_unit_test_setup_teardown(curves_figure_says_so_when_there_are_no_runs, prepare, clear),
        cmocka_unit_test_setup_teardown(orders_distance_figure_has_a_chart_for_each_order, prepare, clear),
        cmocka_unit_test_setup_teardown(rho_figure_has_lines_for_each_group, prepare, clear),
        cmocka_unit_test(figures_are_told_from_tables),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
