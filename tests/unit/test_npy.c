/* NPY tables: values of every type, headers as other programs write them, and one message for each mistake. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"

#include "stream/readers/readers.h"

/* Writes t.npy: magic, version, the header as given, the data. */
static void write_npy(unsigned char version, const char *header, const void *data, size_t size)
{
    unsigned char bytes[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + start, header, length);
    memcpy(bytes + start + length, data, size);
    assert_int_equal(write_whole("t.npy", bytes, start + length + size), 0);
}

static void write_table(const char *type, const char *shape, const void *data, size_t size)
{
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", type, shape);
    write_npy(1, header, data, size);
}

/* Reads all rows: the numbers, or the message of the first error. */
static const char *features(void)
{
    static char text[1024];
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    size_t used = 0;
    if (ocdm__npy_open_rows("t.npy", &rows, &error) != OCDM_OK) {
        assert_null(rows);
        assert_int_equal(error.status, OCDM_BAD_FILE);
        return strcpy(text, error.message);
    }
    float row[64];
    text[0] = '\0';
    for (uint64_t i = 0; i < rows->count; i++) {
        if (rows->read(rows, i, row, &error) != OCDM_OK) {
            strcpy(text, error.message);
            break;
        }
        for (size_t j = 0; j < rows->width; j++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%g%s", (double)row[j], j + 1 < rows->width ? "," : ";");
    }
    ocdm__feature_rows_close(rows);
    return text;
}

TEST(npy_gives_the_numbers_of_every_type)
{
    static const float floats[] = {1.5f, -2.0f, 0.0f, 3e30f, -0.25f, 7.0f};
    static const double doubles[] = {0.5, -1e-300};
    static const uint16_t halves[] = {0x3C00, 0xC100, 0x0001, 0x7BFF};
    static const unsigned char bytes[] = {0, 255, 128, 1};
    write_table("<f4", "(2, 3)", floats, sizeof floats);
    assert_string_equal(features(), "1.5,-2,0;3e+30,-0.25,7;");
    write_table("<f8", "(1, 2)", doubles, sizeof doubles);
    assert_string_equal(features(), "0.5,-0;");
    write_table("<f2", "(2, 2)", halves, sizeof halves);
    assert_string_equal(features(), "1,-2.5;5.96046e-08,65504;");
    write_table("|u1", "(4, 1)", bytes, sizeof bytes);
    assert_string_equal(features(), "0;255;128;1;");
    write_table("|i1", "(1, 4)", bytes, sizeof bytes);
    assert_string_equal(features(), "0,-1,-128,1;");
}

TEST(npy_header_may_be_written_in_other_ways)
{
    static const unsigned char byte[] = {9};
    write_npy(2, "{'shape': (1, 1,), \"fortran_order\": False, 'descr': '<u1'}          \n", byte, 1);
    assert_string_equal(features(), "9;");
    write_npy(3, "{'descr':'>u1','fortran_order':False,'shape':(1,1)}", byte, 1);
    assert_string_equal(features(), "9;");
}

TEST(npy_rows_can_be_read_again)
{
    static const unsigned char bytes[] = {5, 6, 7};
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    float value;
    write_table("|u1", "(3, 1)", bytes, 3);
    assert_int_equal(ocdm__npy_open_rows("t.npy", &rows, &error), OCDM_OK);
    for (uint64_t i = 3; i-- > 0;) {
        assert_int_equal(rows->read(rows, i, &value, &error), OCDM_OK);
        assert_true(value == (float)(5 + i));
    }
    assert_int_equal(rows->read(rows, 3, &value, &error), OCDM_BAD_ARGUMENT);
    ocdm__feature_rows_close(rows);
}

TEST(npy_refuses_numbers_that_are_not_finite)
{
    static const float nan_there[] = {0, 1, 2, (float)NAN}, inf_there[] = {0, -INFINITY};
    static const double large[] = {0, 1, 1e39}, nan_double[] = {(double)NAN};
    static const uint16_t half[] = {0x7C00};
    write_table("<f4", "(2, 2)", nan_there, sizeof nan_there);
    assert_string_equal(features(), "t.npy: row 1, column 1 is nan");
    write_table("<f4", "(1, 2)", inf_there, sizeof inf_there);
    assert_string_equal(features(), "t.npy: row 0, column 1 is -inf");
    write_table("<f8", "(1, 3)", large, sizeof large);
    assert_string_equal(features(), "t.npy: row 0, column 2 is 1e+39, too large for 32 bits");
    write_table("<f8", "(1, 1)", nan_double, sizeof nan_double);
    assert_string_equal(features(), "t.npy: row 0, column 0 is nan");
    write_table("<f2", "(1, 1)", half, sizeof half);
    assert_string_equal(features(), "t.npy: row 0, column 0 is inf");
}

TEST(npy_refuses_a_length_that_is_not_the_shape)
{
    static const float floats[8] = {0};
    write_table("<f4", "(2, 3)", floats, 20);
    assert_string_equal(features(),
                        "t.npy: the header states 2 rows of 3 elements of 4 bytes, but 20 bytes follow it: too few");
    write_table("<f4", "(2, 3)", floats, 28);
    assert_string_equal(features(),
                        "t.npy: the header states 2 rows of 3 elements of 4 bytes, but 28 bytes follow it: too many");
    write_table("<f4", "(4611686018427387905, 4)", floats, 16); /* 16 bytes modulo 2^64 */
    assert_string_equal(features(), "t.npy: the header states 4611686018427387905 rows of 4 elements of 4 bytes, but 16 bytes "
                                    "follow it: too few");
    write_table("<f4", "(1, 18446744073709551615)", floats, 16);
    assert_string_equal(features(), "t.npy: the header states 1 rows of 18446744073709551615 elements of 4 bytes, but 16 bytes "
                                    "follow it: too few");
}

TEST(npy_refuses_what_is_no_table)
{
    static const float one[] = {0};
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", "byte 68: the table is in Fortran order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "byte 67: the array has 1 axis where a table has 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "byte 65: the array has 0 axes where a table has 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1), }", "byte 72: the array has 3 axes where a table has 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "byte 69: the table has 0 rows of 3 columns"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }", "byte 21: the elements are big-endian (>f4)"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", "byte 21: the elements are Python objects (|O)"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }", "byte 21: elements of type <i4 are not supported"},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1), }", "byte 21: elements of type |b1 are not supported"},
        {"{'descr': '<U3', 'fortran_order': False, 'shape': (1, 1), }", "byte 21: elements of type <U3 are not supported"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", "byte 20: the elements are structures"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1), }",
         "byte 44: the header is not as NumPy writes it: True or False is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1), }",
         "byte 64: the header is not as NumPy writes it: a whole number is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }",
         "byte 63: the header is not as NumPy writes it: a comma is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616, 1), }",
         "byte 80: the header is not as NumPy writes it: a whole number is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }",
         "byte 60: the header is not as NumPy writes it: the shape is missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1, 1), }", "byte 34: the header has descr twice"},
        {"{'descr': '<f4', 'shape': (1, 1), }", "byte 45: the header needs descr, fortran_order and shape"},
        {"{'descr': '<f4', 'x': 1}", "byte 30: the header has an entry that NumPy does not know"},
        {"{'descr' '<f4'}", "byte 19: the header is not as NumPy writes it: a colon is missing"},
        {"{'descr': 'a\\'", "byte 20: the header is not as NumPy writes it: the type of the elements is missing"},
        {"{descr: 1}", "byte 11: the header is not as NumPy writes it: a name in quotes is missing"},
        {"{'descr': '<f4' 'shape': (1, 1)}", "byte 26: the header is not as NumPy writes it: a comma is missing"},
        {"[]", "byte 10: the header is not as NumPy writes it: { is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), } x", "byte 70: something follows the header's }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[300];
        write_npy(1, cases[i].header, one, sizeof one);
        snprintf(wanted, sizeof wanted, "t.npy: %s", cases[i].message);
        assert_string_equal(features(), wanted);
    }
}

TEST(npy_refuses_what_does_not_start_as_one)
{
    static const unsigned char other[] = "PK\003\004 an archive", long_header[] = "\x93NUMPY\2\0\0\0\1\0 ",
                               cut[] = "\x93NUMPY\1\0\377\0{", version[] = "\x93NUMPY\4\0\1\0 ";
    assert_int_equal(write_whole("t.npy", other, sizeof other), 0);
    assert_string_equal(features(), "t.npy: byte 0: not an NPY file");
    assert_int_equal(write_whole("t.npy", other, 0), 0);
    assert_string_equal(features(), "t.npy: byte 0: not an NPY file");
    assert_int_equal(write_whole("t.npy", long_header, sizeof long_header - 1), 0);
    assert_string_equal(features(), "t.npy: byte 8: a header of 65536 bytes; the most is 65535");
    assert_int_equal(write_whole("t.npy", cut, sizeof cut - 1), 0);
    assert_string_equal(features(), "t.npy: byte 8: the header does not end inside the file");
    assert_int_equal(write_whole("t.npy", version, sizeof version - 1), 0);
    assert_string_equal(features(), "t.npy: byte 6: NPY version 4.0, where 1.0, 2.0 and 3.0 are known");
    ocdm__feature_rows *rows = NULL;
    ocdm_error error;
    assert_int_equal(ocdm__npy_open_rows("none.npy", &rows, &error), OCDM_IO);
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

/* Reads labels: "id:label,label;" for each sample, or the message. */
static const char *labels(ocdm__reading *reading)
{
    static char text[1024];
    ocdm__labelled_set set = {.count = 0};
    ocdm_error error;
    size_t used = 0, length;
    text[0] = '\0';
    if (ocdm__npy_read_labels(&set, "t.npy", reading, &error) != OCDM_OK)
        strcpy(text, error.message);
    else
        for (uint32_t i = 0; i < set.count; i++) {
            const char *id = ocdm__label_table_text(&set.ids, i, &length);
            used += (size_t)snprintf(text + used, sizeof text - used, "%.*s:", (int)length, id);
            for (uint64_t j = set.label_starts[i]; j < set.label_starts[i + 1]; j++) {
                const char *name = ocdm__label_table_text(&set.classes, set.labels[j], &length);
                used += (size_t)snprintf(text + used, sizeof text - used, "%.*s,", (int)length, name);
            }
            used += (size_t)snprintf(text + used, sizeof text - used, "%u;", (unsigned)set.rows[i]);
            assert_int_equal(set.classes.count, 3);
            assert_int_equal(set.parts[i], OCDM__NO_PART);
        }
    ocdm__labelled_set_clear(&set);
    return text;
}

TEST(npy_labels_are_the_columns_that_are_1_in_every_type)
{
    static const unsigned char u1[] = {0, 1, 1, 0, 0, 0};
    static const int32_t i4[] = {0, 1, 1, 0, 0, 0};
    static const int64_t i8[] = {0, 1, 1, 0, 0, 0};
    static const float f4[] = {0, 1, 1, -0.0f, 0, 0};
    static const double f8[] = {0, 1, 1, 0, 0, 0};
    static const struct {
        const char *type;
        const void *data;
        size_t size;
    } cases[] = {{"|u1", u1, sizeof u1}, {"|i1", u1, sizeof u1}, {"|b1", u1, sizeof u1}, {"<i4", i4, sizeof i4},
                 {"<i8", i8, sizeof i8}, {"<f4", f4, sizeof f4}, {"<f8", f8, sizeof f8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__reading reading = {.skip_bad = false};
        write_table(cases[i].type, "(2, 3)", cases[i].data, cases[i].size);
        assert_string_equal(labels(&reading), "0:1,2,0;1:1;");
    }
    ocdm__reading reading = {.skip_bad = false};
    write_table("<f2", "(2, 3)", u1, sizeof u1);
    assert_string_equal(labels(&reading), "t.npy: byte 21: elements of type <f2 are not supported");
}

TEST(npy_labels_other_than_0_and_1_are_refused_or_skipped)
{
    static const int64_t i8[] = {0, 1, 0, 0, 2, 0, 1, 0, 1, -1, 0, 0};
    static const float f4[] = {0, 1, (float)NAN};
    ocdm__reading reading = {.skip_bad = false}, skipping = {.skip_bad = true};
    write_table("<i8", "(4, 3)", i8, sizeof i8);
    assert_string_equal(labels(&reading), "t.npy: row 1, column 1 is 2, where a label is 0 or 1");
    assert_string_equal(labels(&skipping), "0:1,0;2:0,2,2;");
    assert_int_equal(skipping.skip_count, 1);
    assert_int_equal(skipping.skips[0].count, 2);
    assert_string_equal(skipping.skips[0].reason, "rows with a label other than 0 and 1");
    assert_string_equal(skipping.skips[0].first, "t.npy: row 1, column 1");
    write_table("<f4", "(1, 3)", f4, sizeof f4);
    assert_string_equal(labels(&reading), "t.npy: row 0, column 2 is nan, where a label is 0 or 1");
}

TEST(npy_labels_stop_when_a_signal_came)
{
    static const unsigned char u1[] = {0, 1, 1};
    volatile sig_atomic_t stop = 1;
    ocdm__progress progress = {.stop = &stop};
    ocdm__reading reading = {.progress = &progress};
    write_table("|u1", "(1, 3)", u1, sizeof u1);
    assert_string_equal(labels(&reading), "stopped while reading labels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_gives_the_numbers_of_every_type),
        cmocka_unit_test(npy_header_may_be_written_in_other_ways),
        cmocka_unit_test(npy_rows_can_be_read_again),
        cmocka_unit_test(npy_refuses_numbers_that_are_not_finite),
        cmocka_unit_test(npy_refuses_a_length_that_is_not_the_shape),
        cmocka_unit_test(npy_refuses_what_is_no_table),
        cmocka_unit_test(npy_refuses_what_does_not_start_as_one),
        cmocka_unit_test(npy_labels_are_the_columns_that_are_1_in_every_type),
        cmocka_unit_test(npy_labels_other_than_0_and_1_are_refused_or_skipped),
        cmocka_unit_test(npy_labels_stop_when_a_signal_came),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
