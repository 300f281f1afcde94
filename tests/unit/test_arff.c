/* ARFF: what the format allows, labels and features of the same rows, and every message with its place. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"

#include "base/error.h"
#include "stream/readers/readers.h"

#define HEAD "@relation r\n@attribute x numeric\n@attribute y {a,b,c}\n@attribute sky {0,1}\n@attribute sun {0,1}\n@data\n"
#define LABELS "<labels><label name=\"sun\"/><label name=\"sky\"/></labels>"

static void write_text(const char *path, const char *text)
{
    assert_int_equal(write_whole(path, (const unsigned char *)text, strlen(text)), 0);
}

/* Each sample as "row:label,label;" or the message. */
static const char *labels_of(const char *arff, const char *xml, ocdm__reading *reading)
{
    static char out[1024];
    ocdm__labelled_set set = {.count = 0};
    ocdm_error error;
    size_t used = 0, length;
    char row[16];
    write_text("t.arff", arff);
    write_text("t.xml", xml);
    out[0] = '\0';
    if (ocdm__arff_read(&set, "t.arff", "t.xml", reading, &error) != OCDM_OK) {
        assert_int_equal(error.status, OCDM_BAD_RECORD);
        strcpy(out, error.message);
    } else {
        for (uint32_t i = 0; i < set.count; i++) {
            const char *id = ocdm__label_table_text(&set.ids, i, &length);
            used += (size_t)snprintf(out + used, sizeof out - used, "%.*s:", (int)length, id);
            assert_true(length == (size_t)snprintf(row, sizeof row, "%u", (unsigned)set.rows[i]) && !memcmp(row, id, length));
            for (uint64_t j = set.label_starts[i]; j < set.label_starts[i + 1]; j++) {
                const char *name = ocdm__label_table_text(&set.classes, set.labels[j], &length);
                used += (size_t)snprintf(out + used, sizeof out - used, "%.*s,", (int)length, name);
            }
            used += (size_t)snprintf(out + used, sizeof out - used, ";");
        }
    }
    ocdm__labelled_set_clear(&set);
    return out;
}

static const char *labels_strictly(const char *arff, const char *xml)
{
    ocdm__reading reading = {.skip_bad = false};
    return labels_of(arff, xml, &reading);
}

/* All rows of features as "a,b;c,d;", or the message of the first error. */
static const char *features_of(const char *arff, const char *xml)
{
    static char out[1024];
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    size_t used = 0;
    float row[64];
    write_text("t.arff", arff);
    write_text("t.xml", xml);
    if (ocdm__arff_open_rows("t.arff", "t.xml", &rows, &error) != OCDM_OK) {
        assert_null(rows);
        return strcpy(out, error.message);
    }
    out[0] = '\0';
    for (uint64_t i = 0; i < rows->count; i++) {
        if (rows->read(rows, i, row, &error) != OCDM_OK) {
            strcpy(out, error.message);
            break;
        }
        for (size_t j = 0; j < rows->width; j++)
            used += (size_t)snprintf(out + used, sizeof out - used, "%g%s", (double)row[j], j + 1 < rows->width ? "," : ";");
    }
    ocdm__feature_rows_close(rows);
    return out;
}

TEST(arff_reads_dense_rows)
{
    static const char table[] = HEAD "1.5,b,1,0\n% a comment\n\n-2e3 , 'c' ,1,1 % and one more\r\n.5\ta\t0\t0";
    assert_string_equal(labels_strictly(table, LABELS), "0:sky,;1:sun,sky,;2:;");
    assert_string_equal(features_of(table, LABELS), "1.5,1;-2000,2;0.5,0;");
}

TEST(arff_reads_sparse_rows)
{
    static const char table[] = HEAD "{0 1.5, 1 b ,3 1}\n{}\n{ }\n\t{2 1,3 0}\n1,a,1,1\n";
    assert_string_equal(labels_strictly(table, LABELS), "0:sun,;1:;2:;3:sky,;4:sun,sky,;");
    assert_string_equal(features_of(table, LABELS), "1.5,1;0,0;0,0;0,0;1,0;");
}

/* What a sparse row leaves out is the first value of the list, and {1,0} are numbers as {0,1} are. */
TEST(arff_sparse_rows_leave_out_the_first_value)
{
    static const char table[] = "@relation r\n@attribute x {1,0}\n@attribute y {2,1}\n@attribute sky {1,0}\n@attribute sun "
                                "{'0', \"1\"}\n@data\n{}\n{0 0,1 1,2 0,3 1}\n{2 1}\n";
    assert_string_equal(labels_strictly(table, LABELS), "0:sky,;1:sun,;2:sky,;");
    assert_string_equal(features_of(table, LABELS), "1,0;0,1;1,0;");
}

TEST(arff_keywords_names_and_types_are_as_weka_has_them)
{
    static const char table[] = "\xEF\xBB\xBF% head\r\n  @RELATION 'my % data'\r\n@Attribute 'a \\'b\\' \\\\' REAL\r\n"
                                "@ATTRIBUTE \"tab\\t\" Integer % first\r\n@attribute don't NUMERIC\r\n"
                                "@attribute 'p & q < \xCE\xBB' {0,1}\r\n@DATA\r\n1,2,3,1\r\n";
    static const char xml[] = "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- a -- > b -->\n<labels xmlns='x' >\n"
                              "<label other=\"1\" name = 'p &amp; q &lt; &#955;' ></label >\n</labels>\n<!-- end -->";
    assert_string_equal(labels_strictly(table, xml), "0:p & q < \xCE\xBB,;");
    assert_string_equal(features_of(table, xml), "1,2,3;");
}

TEST(arff_labels_inside_labels_count_as_any_other)
{
    static const char xml[] = "<labels><label name=\"sun\"><label name=\"&#x73;k&#x79;\"></label></label></labels>";
    assert_string_equal(labels_strictly(HEAD "1,a,1,1\n", xml), "0:sun,sky,;");
    assert_string_equal(features_of(HEAD "1,a,1,1\n", "<labels><label name='sky'/></labels>"), "1,0,1;");
}

TEST(arff_text_and_dates_may_stand_beside_labels)
{
    static const char table[] = "@relation r\n@attribute sky numeric\n@attribute s string\n@attribute d date \"yyyy MM\"\n"
                                "@data\n1,'a, {b} %','2001 01'\n0,?,?\n";
    static const char xml[] = "<labels><label name=\"sky\"/></labels>";
    assert_string_equal(labels_strictly(table, xml), "0:sky,;1:;");
    assert_string_equal(features_of(table, xml), "t.arff:3:12: a string or date attribute cannot be a feature");
}

TEST(arff_rows_can_be_read_again)
{
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    float row[2];
    write_text("t.arff", HEAD "1,a,0,0\n%\n2,a,0,0\n3,a,0,0\n");
    write_text("t.xml", LABELS);
    assert_int_equal(ocdm__arff_open_rows("t.arff", "t.xml", &rows, &error), OCDM_OK);
    static const uint64_t order[] = {2, 0, 1, 1, 2};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(rows->read(rows, order[i], row, &error), OCDM_OK);
        assert_true(row[0] == (float)(order[i] + 1));
    }
    assert_int_equal(rows->read(rows, 3, row, &error), OCDM_BAD_ARGUMENT);
    ocdm__feature_rows_close(rows);
}

/* ---- bad rows ------------------------------------------------------------------------------------------------------- */

TEST(arff_refuses_rows_with_line_and_column)
{
    static const struct {
        const char *row, *message;
    } cases[] = {
        {"1,a,0", ":6: 3 values where there are 4 attributes"},
        {"1", ":2: 1 value where there are 4 attributes"},
        {"1,a,0,1,2", ":9: more values than the 4 attributes"},
        {"1,a,,1", ":5: a value is missing"},
        {",a,0,1", ":1: a value is missing"},
        {"1,a,0,", ":7: a value is missing"},
        {"1,a,0,1,", ":9: more values than the 4 attributes"},
        {"1,a,0,{1}", ":7: a value is missing"},
        {"x,a,0,1", ":1: attribute \"x\": the value \"x\" is not a number"},
        {"1e39,a,0,1", ":1: attribute \"x\": the value \"1e39\" is not finite"},
        {"nan,a,0,1", ":1: attribute \"x\": the value \"nan\" is not finite"},
        {"?,a,0,1", ":1: attribute \"x\": the value is missing (?)"},
        {"1,d,0,1", ":3: attribute \"y\": the value \"d\" is not in the attribute's list"},
        {"1,'d d',0,1", ":3: attribute \"y\": the value \"d d\" is not in the attribute's list"},
        {"1,?,0,1", ":3: attribute \"y\": the value is missing (?)"},
        {"1,a,2,1", ":5: attribute \"sky\": the value \"2\" is not in the attribute's list"},
        {"1,a,0,?", ":7: attribute \"sun\": the value is missing (?)"},
        {"1,'a,0,1", ":3: a quote that is not closed on the line"},
        {"{4 1}", ":2: the index 4, where there are 4 attributes"},
        {"{99999999999999999999999 1}", ":2: the index 99999999999999999999999, where there are 4 attributes"},
        {"{1 a,0 1}", ":6: the index 0 after 1: indices must ascend"},
        {"{1 a,1 b}", ":6: the index 1 after 1: indices must ascend"},
        {"{0 1,}", ":6: a value of a sparse row that is not `index value`"},
        {"{0.5 1}", ":2: a value of a sparse row that is not `index value`"},
        {"{x 1}", ":2: a value of a sparse row that is not `index value`"},
        {"{-1 1}", ":2: a value of a sparse row that is not `index value`"},
        {"{0 }", ":4: a value is missing"},
        {"{0 1", ":1: a { without its } on the line"},
        {"{0 1} 2", ":7: something follows the row's }"},
        {"{0 1}, {5}", ":6: something follows the row's }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char table[400], wanted[200];
        snprintf(table, sizeof table, "%s0,a,0,0\n%s\n", HEAD, cases[i].row);
        snprintf(wanted, sizeof wanted, "t.arff:8%s", cases[i].message);
        assert_string_equal(labels_strictly(table, LABELS), wanted);
        assert_string_equal(features_of(table, LABELS), wanted);
    }
}

TEST(arff_numeric_labels_are_0_or_1)
{
    static const char head[] = "@relation r\n@attribute x numeric\n@attribute sky numeric\n@data\n";
    static const char xml[] = "<labels><label name=\"sky\"/></labels>";
    char table[200];
    snprintf(table, sizeof table, "%s1,1.0\n1,0\n1,0.5\n", head);
    assert_string_equal(labels_strictly(table, xml),
                        "t.arff:7:3: attribute \"sky\": the value \"0.5\" is not 0 or 1, as a label is");
}

TEST(arff_skips_and_counts_bad_rows_when_asked)
{
    ocdm__reading reading = {.skip_bad = true};
    static const char table[] = HEAD "1,a,1,0\n?,a,0,0\n1,a\n1,a,0,1\n1,?,0,1\n{9 1}\n1,b,1,1\n";
    assert_string_equal(labels_of(table, LABELS, &reading), "0:sky,;3:sun,;6:sun,sky,;");
    assert_int_equal(reading.skip_count, 2);
    assert_string_equal(reading.skips[0].reason, "rows with a missing value (?)");
    assert_string_equal(reading.skips[0].first, "t.arff:8:1: attribute \"x\": the value is missing (?)");
    assert_int_equal(reading.skips[0].count, 2);
    assert_string_equal(reading.skips[1].reason, "rows that cannot be read");
    assert_string_equal(reading.skips[1].first, "t.arff:9:4: 2 values where there are 4 attributes");
    assert_int_equal(reading.skips[1].count, 2);
}

/* ---- bad headers ---------------------------------------------------------------------------------------------------- */

TEST(arff_refuses_headers_with_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.arff:1:1: the file ends before @data"},
        {"@relation r\n@attribute x real\n", "t.arff:2:18: the file ends before @data"},
        {"id,labels\n", "t.arff:1:1: a line that is neither @relation, @attribute nor @data"},
        {"@relation r\n @inputs x\n", "t.arff:2:2: a line that is neither @relation, @attribute nor @data"},
        {"@attribute\n", "t.arff:1:11: the attribute's name is missing"},
        {"@attribute {0,1}\n", "t.arff:1:12: the attribute's name is missing"},
        {"@attribute x\n", "t.arff:1:13: the attribute's type is missing"},
        {"@attribute x relational\n", "t.arff:1:14: an attribute of type relational"},
        {"@attribute x real\n@attribute 'x' real\n", "t.arff:2:12: a second attribute named \"x\""},
        {"@attribute x real 5\n", "t.arff:1:19: something follows the declaration"},
        {"@attribute x {a} b\n", "t.arff:1:18: something follows the declaration"},
        {"@attribute x {a,b\n", "t.arff:1:14: a { without its } on the line"},
        {"@attribute x {}\n", "t.arff:1:15: a value is missing"},
        {"@attribute x {a,,b}\n", "t.arff:1:17: a value is missing"},
        {"@attribute x {a,b,a}\n", "t.arff:1:19: a value that is in the list already"},
        {"@attribute 'x real\n", "t.arff:1:12: a quote that is not closed on the line"},
        {"@data 5\n", "t.arff:1:7: something follows the declaration"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(labels_strictly(cases[i].text, LABELS), cases[i].message);
    assert_string_equal(features_of("@attribute sky {0,1}\n@attribute sun {0,1}\n@data\n0,1\n", LABELS),
                        "t.arff: every attribute is a label: there are no features");
    assert_string_equal(features_of(HEAD "%\n\n", LABELS), "t.arff: there are no rows after @data");
}

TEST(arff_refuses_lists_of_labels_with_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.xml:1:1: the file ends before </labels>"},
        {"<labels>\n<label name=\"sky\"/>\n", "t.xml:3:1: the file ends before </labels>"},
        {"<labels></labels>", "t.xml:1:1: there is no label"},
        {"<labels/>", "t.xml:1:1: there is no label"},
        {"<labels>\n <label name=\"rain\"/></labels>", "t.xml:2:14: the label \"rain\" is not an attribute of t.arff"},
        {"<labels><label name=\"sky\"/>\n<label name=\"sky\"/></labels>", "t.xml:2:13: a label that is listed twice"},
        {"<labels><label name=\"y\"/></labels>", "t.xml:1:21: a label that has other values than 0 and 1 in t.arff:3:12"},
        {"<labels><label/></labels>", "t.xml:1:9: a label without a name"},
        {"<labels><label name='sky' name='sun'/></labels>", "t.xml:1:27: a label with two names"},
        {"<labels><label name=sky/></labels>", "t.xml:1:21: a value in quotes is missing"},
        {"<labels><label name/></labels>", "t.xml:1:20: = is missing"},
        {"<labels><label name='sky</label>", "t.xml:1:25: a character that a label cannot have"},
        {"<labels><label name='sky", "t.xml:1:21: a quote that is not closed"},
        {"<labels><label name='&nbsp;'/>", "t.xml:1:22: an entity that is not known"},
        {"<labels><label name='&#;'/>", "t.xml:1:22: an entity that is not known"},
        {"<labels><label name='&#xZ;'/>", "t.xml:1:22: an entity that is not known"},
        {"<labels><label name='&#xD800;'/>", "t.xml:1:22: a character that a label cannot have"},
        {"<labels><label name='&#99999999999;'/>", "t.xml:1:22: an entity that is not known"},
        {"<labels><label name='&#0;'/>", "t.xml:1:22: a character that a label cannot have"},
        {"<labels><label name='\xFF'/>", "t.xml:1:22: invalid UTF-8"},
        {"<label name='sky'/>", "t.xml:1:1: a label outside of labels"},
        {"<labels><labels>", "t.xml:1:9: labels inside or after labels"},
        {"<labels><label name='sky'></labels>", "t.xml:1:27: an end of an element that is not open"},
        {"<labels></label>", "t.xml:1:9: an end of an element that is not open"},
        {"</labels>", "t.xml:1:1: an end of an element that is not open"},
        {"<labels><tag/>", "t.xml:1:9: an element other than labels and label"},
        {"<!DOCTYPE x>", "t.xml:1:1: an element other than labels and label"},
        {"<labels>sky</labels>", "t.xml:1:9: text outside of elements"},
        {"<labels><!-- ", "t.xml:1:9: --> is missing"},
        {"<?xml ", "t.xml:1:1: ?> is missing"},
        {"<labels><label name='sky' ?>", "t.xml:1:27: an element that does not end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(labels_strictly(HEAD, cases[i].text), cases[i].message);
    char longest[1200] = "<labels><label name='";
    memset(longest + 21, 'x', 1100);
    assert_string_equal(labels_strictly(HEAD, longest), "t.xml:1:1045: a value of over 1023 bytes");
}

TEST(arff_tells_when_a_file_is_not_there)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_error error;
    assert_int_equal(ocdm__arff_read(&set, "none.arff", "t.xml", &reading, &error), OCDM_IO);
    write_text("t.arff", HEAD);
    assert_int_equal(ocdm__arff_read(&set, "t.arff", "none.xml", &reading, &error), OCDM_IO);
    assert_string_equal(error.message, "none.xml: No such file or directory");
    ocdm__labelled_set_clear(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arff_reads_dense_rows),
        cmocka_unit_test(arff_reads_sparse_rows),
        cmocka_unit_test(arff_sparse_rows_leave_out_the_first_value),
        cmocka_unit_test(arff_keywords_names_and_types_are_as_weka_has_them),
        cmocka_unit_test(arff_labels_inside_labels_count_as_any_other),
        cmocka_unit_test(arff_text_and_dates_may_stand_beside_labels),
        cmocka_unit_test(arff_rows_can_be_read_again),
        cmocka_unit_test(arff_refuses_rows_with_line_and_column),
        cmocka_unit_test(arff_numeric_labels_are_0_or_1),
        cmocka_unit_test(arff_skips_and_counts_bad_rows_when_asked),
        cmocka_unit_test(arff_refuses_headers_with_line_and_column),
        cmocka_unit_test(arff_refuses_lists_of_labels_with_line_and_column),
        cmocka_unit_test(arff_tells_when_a_file_is_not_there),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
