/* Every allocation of the readers of tables and records fails once: they tell that memory is out, leak nothing, and work the
 * next time. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"

#include <errno.h>

#include "faults.h"
#include "stream/readers/readers.h"
#include "stream/records/source.h"

static void write_files(void)
{
    static const char
        arff[] = "@relation r\n@attribute 'x y' real\n@attribute z {'a b',c}\n@attribute sky {0,1}\n@data\n"
                 "1,'a b',1\n{1 c}\n",
        xml[] = "<labels><label name='sky'/></labels>", svm[] = "a 1:1\nb 2:1\n",
        json[] = "{\"labels\":[\"a\"],\"by\":\"x\",\"image\":\"p\"}\n{\"labels\":[\"a\\n\"],\"by\":\"w\",\"id\":0,\"row\":7}\n",
        csv[] = "labels,by,id\na,2,i\n\"b\"\"c\",1,j\n",
        npy[] = "\x93NUMPY\1\0\x3A\0{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2)}\n\0\1";
    static const struct {
        const char *path, *text;
        size_t size;
    } files[] = {{"t.arff", arff, sizeof arff},  {"t.xml", xml, sizeof xml}, {"t.svm", svm, sizeof svm},
                 {"t.jsonl", json, sizeof json}, {"t.csv", csv, sizeof csv}, {"t.npy", npy, sizeof npy}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(write_whole(files[i].path, (const unsigned char *)files[i].text, files[i].size - 1), 0);
}

static ocdm_status read_records(const char *path, ocdm_error *error)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__records_source source = {.tasks_by = "by"};
    ocdm_status status = ocdm__records_source_read(&set, path, &source, &reading, error);
    ocdm__records_source_clear(&source);
    ocdm__labelled_set_clear(&set);
    return status;
}

static ocdm_status read_labels(bool arff, ocdm_error *error)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_status status = arff ? ocdm__arff_read(&set, "t.arff", "t.xml", &reading, error)
                              : ocdm__npy_read_labels(&set, "t.npy", &reading, error);
    ocdm__labelled_set_clear(&set);
    return status;
}

static ocdm_status read_rows(int kind, ocdm_error *error)
{
    ocdm__feature_rows *rows = NULL;
    float row[8];
    ocdm_status status = kind == 0   ? ocdm__arff_open_rows("t.arff", "t.xml", &rows, error)
                         : kind == 1 ? ocdm__npy_open_rows("t.npy", &rows, error)
                                     : ocdm__svm_open_rows("t.svm", &rows, error);
    for (uint64_t i = 0; status == OCDM_OK && i < rows->count; i++)
        status = rows->read(rows, i, row, error);
    ocdm__feature_rows_close(rows);
    return status;
}

static ocdm_status run(int kind, ocdm_error *error)
{
    switch (kind) {
    case 0:
        return read_records("t.jsonl", error);
    case 1:
        return read_records("t.csv", error);
    case 2:
    case 3:
        return read_labels(kind == 2, error);
    default:
        return read_rows(kind - 4, error);
    }
}

TEST(readers_fail_cleanly_at_every_allocation)
{
    write_files();
    for (int kind = 0; kind < 7; kind++)
        for (unsigned long n = 1;; n++) {
            ocdm_error error = {.status = OCDM_OK};
            fault_at(FAULT_ALLOCATE, n, ENOMEM, n % 2 == 0);
            ocdm_status status = run(kind, &error);
            fault_off();
            if (status == OCDM_OK) {
                assert_true(n > 1);
                break;
            }
            if (status != OCDM_NO_MEMORY || error.status != OCDM_NO_MEMORY)
                fail_msg("reader %d, allocation %lu: %s", kind, n, error.message);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_fail_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
