/* One table in five formats, to the last byte. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "report/tables/table.h"

static const ocdm__column columns[] = {
    {"name", "method", ""},
    {"a", "CF1", "total"},
    {"b", "mAP", "total"},
    {"c", "s", ""},
};

static ocdm__table make_table(void)
{
    ocdm__table table;
    assert_int_equal(OCDM_OK, ocdm__table_begin(&table, columns, 4, NULL));
    ocdm__cell *row = ocdm__table_row(&table);
    row[0] = ocdm__cell_text(&table, "a_b, \"c\" | 5%");
    row[1] = ocdm__cell_number(12.34, NAN, 1);
    row[2] = ocdm__cell_number(43.06, 0.74, 1);
    row[2].bold = true;
    row = ocdm__table_row(&table);
    row[0] = ocdm__cell_text(&table, "rs");
    row[1] = ocdm__cell_number(NAN, 3, 1);
    row[3] = ocdm__cell_number(656, NAN, 0);
    return table;
}

/* What a table is in a format. */
static char *written(const ocdm__table *table, enum ocdm__table_format format, unsigned width, bool bold)
{
    static char text[4096];
    char path[] = "/tmp/ocdm-table-XXXXXX";
    ocdm__output output;
    ocdm__table_style style = {.width = width, .bold = bold};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(OCDM_OK, ocdm__output_open_fd(&output, fd, "test", NULL));
    ocdm__table_write(table, format, &style, &output);
    assert_int_equal(OCDM_OK, ocdm__output_commit(&output, NULL));
    ssize_t size = pread(fd, text, sizeof text - 1, 0);
    assert_true(size >= 0);
    text[size] = '\0';
    close(fd);
    return text;
}

static void expect_written(const char *expected, enum ocdm__table_format format, unsigned width, bool bold)
{
    ocdm__table table = make_table();
    assert_string_equal(expected, written(&table, format, width, bold));
    ocdm__table_clear(&table);
}

TEST(table_text_is_aligned_and_stars_what_is_bold)
{
    expect_written("               ----- total -----\n"
                   "method          CF1          mAP    s\n"
                   "a_b, \"c\" | 5%  12.3  43.1 ± 0.7*    -\n"
                   "rs                -            -  656\n",
                   OCDM__TEXT, 100, false);
}

TEST(table_text_is_bold_by_the_terminals_means)
{
    expect_written("               ---- total -----\n"
                   "method          CF1         mAP    s\n"
                   "a_b, \"c\" | 5%  12.3  \033[1m43.1 ± 0.7\033[0m    -\n"
                   "rs                -           -  656\n",
                   OCDM__TEXT, 100, true);
}

/* The group of two columns stays together; the names of the rows come again. */
TEST(table_text_is_broken_between_groups_when_it_is_too_wide)
{
    expect_written("               ----- total -----\n"
                   "method          CF1          mAP\n"
                   "a_b, \"c\" | 5%  12.3  43.1 ± 0.7*\n"
                   "rs                -            -\n"
                   "\n"
                   "method           s\n"
                   "a_b, \"c\" | 5%    -\n"
                   "rs             656\n",
                   OCDM__TEXT, 34, false);
}

TEST(table_text_makes_room_for_a_wide_heading)
{
    static const ocdm__column wide[] = {{"n", "n", ""}, {"a", "a", "a wide heading"}, {"b", "b", ""}};
    ocdm__table table;
    assert_int_equal(OCDM_OK, ocdm__table_begin(&table, wide, 3, NULL));
    ocdm__cell *row = ocdm__table_row(&table);
    row[0] = ocdm__cell_text(&table, "x");
    row[1] = ocdm__cell_number(1, NAN, 0);
    row[2] = ocdm__cell_number(2, NAN, 0);
    snprintf(table.title, sizeof table.title, "a title of words");
    snprintf(table.note, sizeof table.note, "and a note");
    assert_string_equal("a title of words\n\n"
                        "   a wide heading\n"
                        "n               a  b\n"
                        "x               1  2\n\n"
                        "and a note\n",
                        written(&table, OCDM__TEXT, 100, false));
    ocdm__table_clear(&table);
}

TEST(table_markdown_escapes_bars)
{
    expect_written("| method | total CF1 | total mAP | s |\n"
                   "|---|---:|---:|---:|\n"
                   "| a_b, \"c\" \\| 5% | 12.3 | **43.1 ± 0.7** | - |\n"
                   "| rs | - | - | 656 |\n",
                   OCDM__MARKDOWN, 0, false);
}

TEST(table_latex_spans_groups_and_escapes)
{
    expect_written("\\begin{table}\n\\centering\n\\begin{tabular}{lccc}\n\\toprule\n"
                   "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{total} & \\multicolumn{1}{c}{} \\\\\n"
                   "\\cmidrule(lr){2-3}\n"
                   "method & CF1 & mAP & s \\\\\n\\midrule\n"
                   "a\\_b, \"c\" | 5\\% & 12.3 & \\textbf{43.1 $\\pm$ 0.7} & - \\\\\n"
                   "rs & - & - & 656 \\\\\n"
                   "\\bottomrule\n\\end{tabular}\n\\end{table}\n",
                   OCDM__LATEX, 0, false);
}

TEST(table_csv_has_keys_and_whole_numbers)
{
    expect_written("name,a,b,c\n"
                   "\"a_b, \"\"c\"\" | 5%\",12.34,43.06,\n"
                   "rs,,,656\n",
                   OCDM__CSV, 0, false);
}

TEST(table_json_is_a_list_of_objects)
{
    expect_written("[\n{\"name\":\"a_b, \\\"c\\\" | 5%\",\"a\":12.34,\"b\":43.06,\"c\":null},\n"
                   "{\"name\":\"rs\",\"a\":null,\"b\":null,\"c\":656}\n]\n",
                   OCDM__JSON, 0, false);
}

TEST(table_loses_the_column_that_is_dropped)
{
    ocdm__table table = make_table();
    ocdm__table_drop(&table, "a");
    ocdm__table_drop(&table, "nothing");
    assert_int_equal(3, table.column_count);
    ocdm__cell *row = ocdm__table_row(&table);
    row[0] = ocdm__cell_text(&table, "new");
    row[2] = ocdm__cell_number(7, NAN, 0);
    assert_string_equal("name,b,c\n\"a_b, \"\"c\"\" | 5%\",43.06,\nrs,,656\nnew,,7\n", written(&table, OCDM__CSV, 0, false));
    ocdm__table_clear(&table);
}

/* Two blocks of three rows: what differs becomes a mean with its range, what agrees stays as it is, also where one block has
 * nothing. */
TEST(table_folds_blocks_into_means_with_ranges)
{
    ocdm__table table = make_table();
    const double values[2][3] = {{10, 7, NAN}, {11.5, 7, 2}};
    for (size_t i = 0; i < 6; i++) {
        ocdm__cell *row = ocdm__table_row(&table);
        row[0] = ocdm__cell_text(&table, i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z");
        row[1] = ocdm__cell_number(values[i / 3][i % 3], 0.5, 2);
    }
    ocdm__table_fold(&table, 2, 2);
    assert_int_equal(5, table.row_count);
    assert_non_null(strstr(written(&table, OCDM__MARKDOWN, 0, false),
                           "| rs | - | - | 656 |\n| x | 10.75 [10.00, 11.50] | - | - |\n| y | 7.00 ± 0.50 | - | - |\n"
                           "| z | 2.00 ± 0.50 | - | - |\n"));
    assert_non_null(strstr(written(&table, OCDM__CSV, 0, false), "\nx,10.75,,\ny,7,,\nz,2,,\n"));
    assert_non_null(strstr(written(&table, OCDM__TEXT, 100, false), "x              10.75 [10.00, 11.50]"));
    ocdm__table_clear(&table);
}

/* Cells keep their own texts, however long and however many, while the table grows. */
TEST(table_keeps_copies_of_its_texts)
{
    enum { ROWS = 300 };
    ocdm__table table;
    char text[6000];
    assert_int_equal(OCDM_OK, ocdm__table_begin_keys(&table, (const char *const[]){"text", "same", NULL}, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        memset(text, 'a' + (int)(i % 26), i * 20);
        snprintf(text + i * 20, sizeof text - i * 20, "%zu", i);
        ocdm__cell *row = ocdm__table_row(&table);
        row[0] = ocdm__cell_text(&table, text);
        row[1] = ocdm__cell_text(&table, "same");
    }
    assert_int_equal(OCDM_OK, ocdm__table_check(&table, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        const char *kept = ocdm__table_at(&table, i, 0)->text;
        assert_int_equal(i, strtoul(kept + i * 20, NULL, 10));
        assert_true(i == 0 || (kept[0] == 'a' + (char)(i % 26) && kept[i * 20 - 1] == kept[0]));
        assert_string_equal("same", ocdm__table_at(&table, i, 1)->text);
    }
    ocdm__table_clear(&table);
}

/* A table of zeros gets its columns by its first row. A column whose key begins with a dot is a chart's: files do not have it.
 */
TEST(table_gets_its_columns_by_the_first_row)
{
    enum { ROWS = 50 };
    ocdm__table table = {.row_count = 0};
    for (size_t i = 0; i < ROWS; i++) {
        OCDM__ROW(&table, OCDM__EXACT(".series", 3), OCDM__EXACT("x", i == 0 ? INFINITY : (double)i / 2),
                  OCDM__WORD("name", i == 1 ? NULL : "a"));
    }
    assert_int_equal(OCDM_OK, ocdm__table_check(&table, NULL));
    assert_int_equal(3, table.column_count);
    assert_true(strstr(written(&table, OCDM__CSV, 0, false), "x,name\n,a\n0.5,\n1,a\n1.5,a\n") ==
                written(&table, OCDM__CSV, 0, false));
    assert_true(
        strstr(written(&table, OCDM__JSON, 0, false), "[\n{\"x\":null,\"name\":\"a\"},\n{\"x\":0.5,\"name\":null},\n") ==
        written(&table, OCDM__JSON, 0, false));
    assert_true(ocdm__table_number(&table, ROWS - 1, ocdm__table_column(&table, "x")) == 24.5);
    assert_true(isnan(ocdm__table_number(&table, 0, ocdm__table_column(&table, "no such"))));
    ocdm__table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_text_is_aligned_and_stars_what_is_bold),
        cmocka_unit_test(table_text_is_bold_by_the_terminals_means),
        cmocka_unit_test(table_text_is_broken_between_groups_when_it_is_too_wide),
        cmocka_unit_test(table_text_makes_room_for_a_wide_heading),
        cmocka_unit_test(table_markdown_escapes_bars),
        cmocka_unit_test(table_latex_spans_groups_and_escapes),
        cmocka_unit_test(table_csv_has_keys_and_whole_numbers),
        cmocka_unit_test(table_json_is_a_list_of_objects),
        cmocka_unit_test(table_loses_the_column_that_is_dropped),
        cmocka_unit_test(table_folds_blocks_into_means_with_ranges),
        cmocka_unit_test(table_keeps_copies_of_its_texts),
        cmocka_unit_test(table_gets_its_columns_by_the_first_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
