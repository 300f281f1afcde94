/* LIBSVM and XMC features: both ways of counting, any order, and every message with its place. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"

#include "base/error.h"
#include "stream/readers/readers.h"

/* All rows as "a,b;c,d;", or the message of the first error. */
static const char *rows_of(const char *text)
{
    static char out[1024];
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    size_t used = 0;
    float row[64];
    assert_int_equal(write_whole("t.svm", (const unsigned char *)text, strlen(text)), 0);
    if (ocdm__svm_open_rows("t.svm", &rows, &error) != OCDM_OK) {
        assert_null(rows);
        return strcpy(out, error.message);
    }
    out[0] = '\0';
    for (uint64_t i = 0; i < rows->count; i++) {
        if (rows->read(rows, i, row, &error) != OCDM_OK) {
            assert_int_equal(error.status, OCDM_BAD_RECORD);
            strcpy(out, error.message);
            break;
        }
        for (size_t j = 0; j < rows->width; j++)
            used += (size_t)snprintf(out + used, sizeof out - used, "%g%s", (double)row[j], j + 1 < rows->width ? "," : ";");
    }
    ocdm__feature_rows_close(rows);
    return out;
}

TEST(svm_indices_count_from_1_without_a_header)
{
    assert_string_equal(rows_of("1,2 1:0.5 3:-2e-1\n\n 2:7 # 9:9\n# 9:9\n2:1\t1:4\r\nsky"), "0.5,0,-0.2;0,7,0;4,1,0;0,0,0;");
    assert_string_equal(rows_of("a 1:1"), "1;");
    assert_string_equal(rows_of("\xEF\xBB\xBF"
                                "a 2:1"),
                        "0,1;");
}

TEST(svm_indices_count_from_0_after_a_header)
{
    assert_string_equal(rows_of("\n2 3 7\n0,1 0:1\n1 2:.5 1:2.\n"), "1,0,0;0,2,0.5;");
    assert_string_equal(rows_of("1 2 5\n4\n"), "0,0;"); /* a record without features */
}

TEST(svm_rows_can_be_read_again)
{
    static const char text[] = "a 1:1\n\nb 1:2\n#\nc 1:3\n";
    static const uint64_t order[] = {0, 2, 1, 1, 0, 2};
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    float value;
    assert_int_equal(write_whole("t.svm", (const unsigned char *)text, sizeof text - 1), 0);
    assert_int_equal(ocdm__svm_open_rows("t.svm", &rows, &error), OCDM_OK);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(rows->read(rows, order[i], &value, &error), OCDM_OK);
        assert_true(value == (float)(order[i] + 1));
    }
    assert_int_equal(rows->read(rows, 3, &value, &error), OCDM_BAD_ARGUMENT);
    ocdm__feature_rows_close(rows);
}

TEST(svm_refuses_with_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a 1:1\nb 0:1\n", "t.svm:2:3: the feature index 0, where indices start at 1"},
        {"1 2 3\n0 1:1 2:1\n", "t.svm:2:7: the feature index 2, but the header states 2 features"},
        {"1 2 3\n1,3,0 1:1\n", "t.svm:2:3: the label \"3\", but the header states 3 labels"},
        {"1 2 3\nsky 1:1\n", "t.svm:2:1: the label \"sky\", but the header states 3 labels"},
        {"a 16777217:1", "t.svm:1:3: the feature index 16777217; the most features are 16777216"},
        {"1 16777217 3\n0 0:1", "t.svm:1:1: 16777217 features; the most are 16777216"},
        {"a 99999999999999999999:1", "t.svm:1:3: the feature index \"99999999999999999999\" is not a whole number"},
        {"a qid:7 1:1", "t.svm:1:3: the feature index \"qid\" is not a whole number"},
        {"a -1:1", "t.svm:1:3: the feature index \"-1\" is not a whole number"},
        {"a 1:1 b", "t.svm:1:7: a feature that is not index:value"},
        {"a 1: 2", "t.svm:1:3: a feature that is not index:value"},
        {"a :1", "t.svm:1:3: a feature that is not index:value"},
        {"a 1:x", "t.svm:1:5: the value \"x\" is not a number"},
        {"a 1:1:1", "t.svm:1:5: the value \"1:1\" is not a number"},
        {"a 1:0x1", "t.svm:1:5: the value \"0x1\" is not a number"},
        {"a 2:1 1:nan", "t.svm:1:9: the value nan is not finite"},
        {"a 1:1e39", "t.svm:1:5: the value 1e39 is not finite"},
        {"a 1:1\nb 2:1 1:1 2:1\n", "t.svm:2:11: the feature index 2 occurs twice"},
        {"3 2 1\n0 0:1\n", "t.svm: the header states 3 samples, 1 follow it"},
        {"1 2 1\n0 0:1\n0 0:1\n", "t.svm: the header states 1 samples, 2 follow it"},
        {"a\nb\n", "t.svm: there are no features"},
        {"", "t.svm: there are no records"},
        {"# nothing\n", "t.svm: there are no records"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(rows_of(cases[i].text), cases[i].message);
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    assert_int_equal(ocdm__svm_open_rows("none.svm", &rows, &error), OCDM_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svm_indices_count_from_1_without_a_header),
        cmocka_unit_test(svm_indices_count_from_0_after_a_header),
        cmocka_unit_test(svm_rows_can_be_read_again),
        cmocka_unit_test(svm_refuses_with_line_and_column),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
