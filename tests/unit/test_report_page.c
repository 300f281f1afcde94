/* The page and the figures: what they say, that they are well-formed, and that hostile texts stay texts. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../test.h"
#include "base/allocate.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "made_summary.h"
#include "report/figures/figure.h"
#include "report/page/page.h"
#include "markup.h"

static char *page_text;

static bool one_picture(void *state, const ocdm__study *study, const char *id, uint8_t *rgb)
{
    (void)state;
    (void)study;
    memset(rgb, 7, (size_t)OCDM__PICTURE_SIDE * OCDM__PICTURE_SIDE * 3);
    return strcmp(id, "17") == 0;
}

/* The page about the folder r, and its figures in f. */
static const char *make_page(void)
{
    ocdm__run_list runs;
    ocdm__study_list studies;
    ocdm_error error;
    char folder[] = "r";
    char *path = folder;
    size_t size;
    assert_int_equal(ocdm__runs_read(&runs, &path, 1, &error), OCDM_OK);
    assert_int_equal(ocdm__studies_make(&studies, &runs, &error), OCDM_OK);
    ocdm__page page = {.runs = &runs, .studies = &studies, .pictures = {.picture = one_picture}};
    assert_int_equal(ocdm__page_write(&page, "page.html", &error), OCDM_OK);
    for (size_t i = 0; i < studies.count; i++)
        assert_int_equal(ocdm__figures_write(&studies.studies[i], "f", "", &error), OCDM_OK);
    ocdm__studies_clear(&studies);
    ocdm__runs_clear(&runs);
    free(page_text);
    page_text = (char *)read_whole("page.html", &size);
    assert_non_null(page_text);
    assert_true(size > 0 && page_text[size - 1] == '\n');
    page_text[size - 1] = '\0';
    assert_int_equal(strlen(page_text), size - 1);
    return page_text;
}

static int drop_page(void **state)
{
    free(page_text);
    page_text = NULL;
    return clear_tree(state);
}

static bool says(const char *part)
{
    return strstr(page_text, part) != NULL;
}

TEST(page_names_the_winner_when_seeds_agree)
{
    for (unsigned s = 0; s < 3; s++) {
        static const char *const maps[] = {"40", "41", "42"};
        struct made_run run = MADE_RUN;
        char folder[32];
        run.seed = s;
        run.map = maps[s];
        snprintf(folder, sizeof folder, "r/ocdm-s%u", s);
        put_run(folder, &run);
        run.method = "rs";
        run.map = s == 0 ? "37.5" : s == 1 ? "38" : "38.5";
        snprintf(folder, sizeof folder, "r/rs-s%u", s);
        put_run(folder, &run);
    }
    make_page();
    /* Differences 2.5, 3, 3.5: mean 3, t(2) = 4.303, half width 4.303 * 0.5 / sqrt(3) = 1.242. */
    assert_non_null(element_mentioning(page_text, "p",
                                       "ocdm wins: its total mAP at the end is 41.0 ± 1.0 %, 3.0 points (95 % interval "
                                       "1.8 to 4.2, 3 paired seeds) above rs with 38.0 ± 0.5 %."));
    assert_non_null(element_mentioning(page_text, "pre", "--methods ocdm,rs --seeds 3"));
    const char *best = element_saying(page_text, "td", "41.0 ± 1.0"), *other = element_saying(page_text, "td", "38.0 ± 0.5");
    assert_true(best != NULL && has_class(best, "best") && number_of(best, "data-v") == 41);
    assert_true(other != NULL && !has_class(other, "best") && number_of(other, "data-v") == 38);
    assert_false(says("unfinished"));
    assert_well_formed(page_text);
}

TEST(page_names_no_winner_and_marks_none_when_the_interval_holds_0)
{
    for (unsigned s = 0; s < 2; s++) {
        struct made_run run = MADE_RUN;
        char folder[32];
        run.seed = s;
        run.map = s == 0 ? "40" : "50";
        snprintf(folder, sizeof folder, "r/ocdm-s%u", s);
        put_run(folder, &run);
        run.method = "rs";
        run.map = s == 0 ? "45" : "44";
        snprintf(folder, sizeof folder, "r/rs-s%u", s);
        put_run(folder, &run);
    }
    make_page();
    assert_true(says("is ahead, but not beyond chance"));
    assert_true(says("the interval includes 0."));
    assert_false(says("wins"));
    size_t cells = 0;
    for (const char *cell = page_text; (cell = next_element(cell, "td")) != NULL; cell++) {
        assert_false(has_class(cell, "best"));
        cells++;
    }
    assert_true(cells > 20);
}

TEST(page_shows_hostile_texts_as_text)
{
    struct made_run run = MADE_RUN;
    run.name = "\"</script><script>alert(1)</script><!-- ]]> \\\" ' &\"";
    run.method = "<img src=x onerror=alert(1)>";
    put_run("r/<b>-s0", &run);
    put_text("r/<b>-s0/memory.jsonl", "{\"id\":\"</ul>\",\"labels\":[\"</th><script>\"],\"arrival\":1e300}\n");
    put_text("r/<i>-s1/summary.json", "{<");
    make_page();
    assert_false(says("<script>alert"));
    assert_false(says("<img src=x"));
    assert_false(says("<b>-s0"));
    assert_false(says("<i>-s1"));
    assert_well_formed(page_text);
    const char *data = element_with(page_text, "script", "id", "data");
    assert_non_null(data);
    data = strchr(data, '>') + 1;
    ocdm__json_tree tree;
    assert_int_equal(ocdm__json_tree_parse(&tree, "data", data, (size_t)(strstr(data, "</script>") - data), NULL), OCDM_OK);
    const ocdm__json_node *first = ocdm__json_element(ocdm__json_find(tree.root, "runs"), 0);
    assert_string_equal(
        ocdm__json_text(ocdm__json_find(ocdm__json_element(ocdm__json_find(first, "summary.classes"), 0), "name"), ""),
        "</script><script>alert(1)</script><!-- ]]> \" ' &");
    ocdm__json_tree_clear(&tree);
}

TEST(page_shows_pictures_when_there_are_some)
{
    put_run("r/a", &MADE_RUN);
    put_text("r/a/memory.jsonl",
             "{\"id\":17,\"labels\":[\"a\"],\"arrival\":1}\n{\"id\":\"18\",\"labels\":[\"a\",\"b\"],\"arrival\":2}\n");
    make_page();
    size_t pictures = 0;
    char source[40];
    for (const char *image = page_text; (image = next_element(image, "img")) != NULL; image++)
        pictures += strncmp(attribute_of(image, "src", source, sizeof source), "data:image/png;base64,iVBORw0KGgo", 33) == 0;
    assert_int_equal(pictures, 1);
    assert_well_formed(page_text);
}

TEST(page_stands_when_no_run_is_whole)
{
    put_text("r/half/run.jsonl", "{\"type\":\"step\",\"step\":30}\n");
    make_page();
    assert_true(says("No run is finished yet"));
    assert_true(says("the log ends at step 30"));
    assert_well_formed(page_text);
}

TEST(page_stands_when_summaries_are_empty)
{
    put_text("r/a/summary.json", "{\"format\":\"ocdm-run\",\"version\":1}");
    put_text("r/b/summary.json",
             "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":{\"method\":[],\"seed\":\"x\",\"order\":[9,-1,1e99]},"
             "\"classes\":[{},{\"name\":5,\"tasks\":[1]}],\"evaluations\":[{},7,{\"step\":1e300}],"
             "\"memory\":{\"counts\":[1e300,-1],\"target\":[0]},\"curve\":{\"step\":[1,2,3],\"distance_seen\":[null,-1]},"
             "\"final\":{\"total\":{\"mAP\":1e300}},\"times\":{\"train\":1e300},\"samples\":-1}");
    make_page();
    assert_well_formed(page_text);
    assert_false(says("nan"));
    assert_false(says("inf\""));
}

/* Thousands of classes: bars are merged, the table is cut, and the page stays small. */
TEST(page_stays_small_when_classes_are_many)
{
    char *text = malloc(4u << 20);
    assert_non_null(text);
    int used = sprintf(
        text, "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":{\"method\":\"rs\",\"seed\":0,\"order\":[0]},\"classes\":[");
    for (int c = 0; c < 4000; c++)
        used +=
            sprintf(text + used, "%s{\"name\":\"class %d\",\"group\":\"minority\",\"train\":1,\"tasks\":[1]}", c ? "," : "", c);
    used += sprintf(text + used, "],\"memory\":{\"counts\":[");
    for (int c = 0; c < 4000; c++)
        used += sprintf(text + used, "%s%d", c ? "," : "", c % 7);
    sprintf(text + used, "]}}");
    put_text("r/a/summary.json", text);
    free(text);
    make_page();
    assert_true(says("The first 300 of 4000 classes"));
    assert_true(strlen(page_text) < 1u << 20);
    assert_well_formed(page_text);
}

/* Every figure is a separate picture in XML, and a table whose lines have as many fields as its head. */
TEST(figures_are_files_of_their_own)
{
    static const char *const names[] = {"memory", "distance", "map",    "tasks",           "classes",      "loss",
                                        "stream", "time",     "orders", "orders-distance", "orders-memory"};
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.seed = 1;
    put_run("r/b", &run);
    run.order = "[0,1]";
    put_run("r/c", &run);
    make_page();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];
        size_t size;
        snprintf(path, sizeof path, "f/%s.svg", names[i]);
        char *svg = (char *)read_whole(path, &size);
        assert_non_null(svg);
        svg[size] = '\0';
        assert_well_formed(svg);
        assert_ptr_equal(element_with(svg, "svg", "xmlns", "http://www.w3.org/2000/svg"), next_element(svg, "svg"));
        free(svg);
        snprintf(path, sizeof path, "f/%s.csv", names[i]);
        char *csv = (char *)read_whole(path, &size);
        assert_non_null(csv);
        csv[size] = '\0';
        size_t commas = 0, lines = 0;
        for (char *line = strtok(csv, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
            size_t here = 0;
            bool quoted = false;
            for (const char *at = line; *at != '\0'; at++) {
                quoted ^= *at == '"';
                here += *at == ',' && !quoted;
            }
            commas = lines == 0 ? here : commas;
            assert_int_equal(here, commas);
        }
        assert_true(lines > 1);
        free(csv);
    }
}

/* The figure of the time is in the section of the time, all others are in that of the figures. */
TEST(figures_are_in_the_section_that_they_name)
{
    size_t times = 0, others = 0;
    put_run("r/a", &MADE_RUN);
    make_page();
    const char *figures = element_with(page_text, "h2", "id", "figures-0");
    const char *time = element_with(page_text, "h2", "id", "time-0");
    assert_true(figures != NULL && time != NULL && figures < time);
    for (const char *at = page_text; (at = next_element(at, "figure")) != NULL; at++) {
        char name[40];
        bool is_time = strcmp(attribute_of(at, "data-name", name, sizeof name), "time") == 0;
        assert_true(at > figures && (at > time) == is_time);
        times += is_time;
        others += !is_time;
    }
    assert_true(times == 1 && others > 1);
}

/* The bars of the memory: the heights are the counts, the marks the targets. */
TEST(memory_figure_has_the_counts)
{
    struct made_run run = MADE_RUN;
    size_t size;
    run.counts = "[2,0,6]";
    put_run("r/a", &run);
    make_page();
    char *svg = (char *)read_whole("f/memory.svg", &size);
    assert_non_null(svg);
    svg[size] = '\0';
    const char *titles[2] = {"c: 6, target 4", "a: 2, target 4"};
    double heights[2];
    for (size_t i = 0; i < 2; i++) {
        const char *bar = element_saying(svg, "rect", titles[i]);
        assert_non_null(bar);
        heights[i] = number_of(bar, "height");
    }
    assert_true(fabs(heights[0] - 3 * heights[1]) < 0.2);
    free(svg);
}

/* ---- what a reader sees of methods and classes ------------------------------------------------------------------------- */

static char *read_figure(const char *path)
{
    size_t size;
    char *svg = (char *)read_whole(path, &size);
    assert_non_null(svg);
    svg[size] = '\0';
    return svg;
}

static const char *bar_of(const char *svg, const char *title)
{
    const char *bar = element_saying(svg, "rect", title);
    assert_non_null(bar);
    return bar;
}

/* A bar has the colour of its method; groups of classes differ in how it is filled. */
TEST(groups_of_classes_have_no_colour_of_their_own)
{
    static const char *const titles[] = {"a: 3, target 4", "b: 2, target 4", "c: 9, target 4"};
    struct made_run run = MADE_RUN;
    run.counts = "[3,2,9]";
    put_run("r/a", &run);
    make_page();
    char *svg = read_figure("f/memory.svg");
    for (unsigned kind = 0; kind < 3; kind++) {
        char fill[8];
        snprintf(fill, sizeof fill, "k%u", kind);
        assert_true(has_class(bar_of(svg, titles[kind]), "f0"));
        assert_true(has_class(bar_of(svg, titles[kind]), fill));
    }
    free(svg);
}

/* A class that fills one memory does not flatten the bars of another: both scales end at twice the target, and the high bar has
 * its number. */
TEST(memory_figure_does_not_flatten_balanced_methods)
{
    struct made_run run = MADE_RUN;
    run.counts = "[4,4,4]";
    put_run("r/a", &run);
    run.method = "rs";
    run.counts = "[900,1,1]";
    put_run("r/b", &run);
    make_page();
    char *svg = read_figure("f/memory.svg");
    double balanced = number_of(bar_of(svg, "b: 4, target 4"), "height");
    double highest = number_of(bar_of(svg, "a: 900, target 4"), "height");
    assert_true(balanced > 0.4 * highest);
    assert_non_null(strstr(svg, "class=\"tiny\">900</text>"));
    free(svg);
}

/* The caption beside the bars has the numbers of the table: means over the seeds of what each run's memory has. */
TEST(memory_figure_and_table_have_the_same_numbers)
{
    struct made_run run = MADE_RUN;
    run.counts = "[3,2,9]";
    put_run("r/a", &run);
    run.seed = 1;
    run.counts = "[12,1,2]";
    put_run("r/b", &run);
    make_page();
    assert_true(says(">fewest 1.5, most 10.5</text>"));
    assert_true(says(" data-v=\"1.5\">1.5 "));
    assert_true(says(" data-v=\"10.5\">10.5 "));
}

TEST(page_speaks_of_decoding_only_when_samples_are_images)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    make_page();
    assert_false(says("decode images"));
    assert_false(says(">decode<"));
    run.kind = "\"files\"";
    put_run("r/a", &run);
    make_page();
    assert_true(says("decode images"));
    assert_true(says(">decode<"));
}

TEST(page_compares_two_models)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.model = "\"torch\"";
    run.map = "45";
    put_run("r/b", &run);
    make_page();
    assert_true(says("<strong><bdi>ocdm, model torch</bdi></strong> is ahead"));
    assert_true(says("<bdi>ocdm, model linear</bdi> with 40.0"));
    assert_false(says("Some settings were swept"));
    assert_true(says("# by a program of your own: "));
    assert_well_formed(page_text);
}

TEST(page_names_streams)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.stream = "\"2\"";
    put_run("r/b", &run);
    make_page();
    assert_true(says("<h2 class=\"stream\">Stream <bdi>folder-of-s</bdi> (1)</h2>"));
    assert_true(says("<h2 class=\"stream\">Stream <bdi>folder-of-s</bdi> (2)</h2>"));
}

TEST(page_tells_when_and_where_each_run_ran)
{
    put_run("r/a", &MADE_RUN);
    make_page();
    assert_true(says("<td class=\"text\">2026-01-02 03:04</td><td data-v=\"3723\">1:02:03 h</td><td class=\"text\">"));
    assert_false(says("node7")); /* names of machines are not published */
}

/* Paths lead from one place to another by their last common folder, whole names compared. */
TEST(paths_lead_from_a_folder)
{
    static const struct {
        const char *folder, *path, *relative;
    } pairs[] = {
        {"p/a", "p/a/s", "s"}, {"p/a", "p/ab/s", "../ab/s"},     {"p", "p", "."},
        {"p/a", "p", ".."},    {"p/ab", "p/a/../a/s", "../a/s"},
    };
    put_text("p/a/s", "");
    put_text("p/ab/s", "");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *relative;
        assert_int_equal(ocdm__path_from(pairs[i].folder, pairs[i].path, &relative, NULL), OCDM_OK);
        assert_string_equal(relative, pairs[i].relative);
        ocdm__release(relative);
    }
    char *none;
    assert_int_equal(ocdm__path_from("p", "p/nothing", &none, NULL), OCDM_OK);
    assert_null(none);
}

/* Rows are tasks, columns the time; a task that has not been seen has no number. */
TEST(tasks_figure_is_a_table)
{
    put_run("r/a", &MADE_RUN);
    make_page();
    char *svg = read_figure("f/tasks.svg");
    size_t rows = 0, cells = 0;
    for (const char *at = svg; (at = next_element(at, "g")) != NULL; at++) {
        char role[20];
        rows += strcmp(attribute_of(at, "role", role, sizeof role), "row") == 0;
        cells += strcmp(attribute_of(at, "role", role, sizeof role), "cell") == 0;
    }
    assert_int_equal(rows, 3);
    assert_int_equal(cells, 4);
    assert_non_null(strstr(svg, "task 1 after task 1: 50.0</title>"));
    assert_non_null(strstr(svg, "task 1 after task 0: 31.2</title>"));
    assert_non_null(strstr(svg, "task 0 after task 0: 62.5</title>"));
    assert_non_null(strstr(svg, "aria-label=\"not seen yet\""));
    assert_true(has_class(bar_of(svg, "task 1 after task 0: 31.2"), "h0"));
    assert_true(has_class(bar_of(svg, "task 0 after task 0: 62.5"), "h8"));
    free(svg);
}

/* Most frequent first; bars are in proportion; a class without a number has no bar. */
TEST(classes_figure_is_ordered_by_frequency)
{
    put_run("r/a", &MADE_RUN);
    make_page();
    char *svg = read_figure("f/classes.svg");
    const char *a = bar_of(svg, "ocdm, a: AP 80.0"), *c = bar_of(svg, "ocdm, c: AP 12.5");
    assert_true(a < c);
    assert_true(fabs(number_of(a, "width") - 6.4 * number_of(c, "width")) < 0.5);
    assert_null(strstr(svg, "ocdm, b: AP"));
    free(svg);
}

/* A page has the loss twice, on a linear scale and on a logarithmic one; the raw line is behind the smooth one. */
TEST(loss_figure_has_raw_and_smooth_lines)
{
    put_run("r/a", &MADE_RUN);
    make_page();
    const char *figure = strstr(page_text, "<figure data-name=\"loss\">"), *end = strstr(figure, "</figure>");
    const char *raw = strstr(figure, "<polyline class=\"raw s0\""), *smooth = strstr(figure, "data-p=\"10 1 20 0.5 \"");
    assert_true(raw != NULL && smooth != NULL && raw < smooth && smooth < end);
    assert_non_null(strstr(figure, "training loss, log scale"));
    assert_true(strstr(figure, "training loss, log scale") < end);
}

int main(void)
{
#define WITH_TREE(test) cmocka_unit_test_teardown(test, drop_page)
    const struct CMUnitTest tests[] = {
        WITH_TREE(page_names_the_winner_when_seeds_agree),
        WITH_TREE(page_names_no_winner_and_marks_none_when_the_interval_holds_0),
        WITH_TREE(page_shows_hostile_texts_as_text),
        WITH_TREE(page_shows_pictures_when_there_are_some),
        WITH_TREE(page_stands_when_no_run_is_whole),
        WITH_TREE(page_stands_when_summaries_are_empty),
        WITH_TREE(page_stays_small_when_classes_are_many),
        WITH_TREE(figures_are_files_of_their_own),
        WITH_TREE(memory_figure_has_the_counts),
        WITH_TREE(figures_are_in_the_section_that_they_name),
        WITH_TREE(groups_of_classes_have_no_colour_of_their_own),
        WITH_TREE(memory_figure_does_not_flatten_balanced_methods),
        WITH_TREE(memory_figure_and_table_have_the_same_numbers),
        WITH_TREE(page_speaks_of_decoding_only_when_samples_are_images),
        WITH_TREE(page_compares_two_models),
        WITH_TREE(page_names_streams),
        WITH_TREE(page_tells_when_and_where_each_run_ran),
        WITH_TREE(paths_lead_from_a_folder),
        WITH_TREE(tasks_figure_is_a_table),
        WITH_TREE(classes_figure_is_ordered_by_frequency),
        WITH_TREE(loss_figure_has_raw_and_smooth_lines),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
