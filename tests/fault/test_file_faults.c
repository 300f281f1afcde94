/* Every call to the system fails once while a memory is saved or loaded: the failure is reported, and no file is damaged. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <errno.h>

#include "faults.h"

static ocdm_memory *some_memory(uint64_t samples)
{
    ocdm_options options = options_for("prs", 50);
    ocdm_memory *memory = created(&options);
    for (uint64_t id = 0; id < samples; id++)
        offered_one(memory, id, 1 + (uint32_t)id % 7, 100, 0);
    return memory;
}

/* "memory" holds the one or the other, whole, and there is no file beside it. */
static void folder_holds_only(const ocdm_memory *expected, const char *where)
{
    ocdm_memory *loaded = NULL;
    HOLDS(where, ocdm_memory_load("memory", NULL, NULL, &loaded, NULL) == OCDM_OK);
    same_memory(expected, loaded, where);
    ocdm_memory_destroy(loaded);
    HOLDS(where, count_files(0) == 1);
}

/* What a save comes to when the n-th call of a kind fails. */
struct outcome {
    enum fault_kind kind;
    unsigned long n;
    ocdm_status status;
    bool replaced;
};

static const struct outcome outcomes[] = {
    {FAULT_OPEN, 1, OCDM_IO, false},                                     /* the temporary file */
    {FAULT_OPEN, 2, OCDM_OK, true},                                      /* the folder, which not every system lets open */
    {FAULT_WRITE, 1, OCDM_IO, false},  {FAULT_FSYNC, 1, OCDM_IO, false}, /* the file */
    {FAULT_FSYNC, 2, OCDM_IO, true},  /* the folder: the new file is there, but may not outlast a power cut */
    {FAULT_CLOSE, 1, OCDM_IO, false}, /* the file: a late failure to write */
    {FAULT_CLOSE, 2, OCDM_OK, true},  /* the folder */
    {FAULT_CLOSE, 3, OCDM_OK, true},  /* the descriptor that kept the file locked; everything is written by then */
    {FAULT_RENAME, 1, OCDM_IO, false},
};

TEST(save_tells_and_keeps_a_whole_file_when_a_call_fails)
{
    ocdm_memory *old = some_memory(30), *new = some_memory(90);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        char where[40];
        snprintf(where, sizeof where, "kind %d, call %lu", (int)outcomes[i].kind, outcomes[i].n);
        assert_int_equal(ocdm_memory_save(old, "memory", NULL), OCDM_OK);
        ocdm_error error = {0};
        fault_at(outcomes[i].kind, outcomes[i].n, EIO, false);
        ocdm_status status = ocdm_memory_save(new, "memory", &error);
        unsigned long calls = fault_calls(outcomes[i].kind);
        fault_off();
        HOLDS(where, calls >= outcomes[i].n);
        HOLDS(where, status == outcomes[i].status);
        HOLDS(where, status == OCDM_OK || strstr(error.message, "memory: "));
        folder_holds_only(outcomes[i].replaced ? new : old, where);
    }
    ocdm_memory_destroy(old);
    ocdm_memory_destroy(new);
}

/* Where there was no file there is none after a failure. */
TEST(save_leaves_no_file_when_there_was_none)
{
    ocdm_memory *memory = some_memory(30);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        count_files(1);
        fault_at(outcomes[i].kind, outcomes[i].n, ENOSPC, false);
        ocdm_status status = ocdm_memory_save(memory, "memory", NULL);
        fault_off();
        assert_int_equal(status, outcomes[i].status);
        assert_int_equal(count_files(0), outcomes[i].replaced);
    }
    ocdm_memory_destroy(memory);
}

/* Every kind of call that saving makes is in the table: no more of any than it knows. */
TEST(save_makes_no_call_that_is_not_tested)
{
    ocdm_memory *memory = some_memory(30);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    fault_off();
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    for (int kind = FAULT_OPEN; kind < FAULT_KINDS; kind++) {
        unsigned long known = 0;
        for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
            known += outcomes[i].kind == (enum fault_kind)kind;
        assert_int_equal(fault_calls((enum fault_kind)kind), known);
    }
    ocdm_memory_destroy(memory);
}

/* A large file takes many writes; any of them may be the one that finds the disk full. */
TEST(save_keeps_the_old_file_when_any_write_fails)
{
    ocdm_options options = options_for("rs", 20000);
    ocdm_memory *old = some_memory(30), *large = created(&options);
    for (uint64_t id = 0; id < 20000; id++)
        offered_one(large, id, 1 + (uint32_t)id % 7, 0, 0);
    assert_int_equal(ocdm_memory_save(old, "memory", NULL), OCDM_OK);
    unsigned long n = 1;
    for (;; n++) {
        fault_at(FAULT_WRITE, n, ENOSPC, false);
        ocdm_status status = ocdm_memory_save(large, "memory", NULL);
        fault_off();
        if (status == OCDM_OK)
            break;
        assert_int_equal(status, OCDM_IO);
        folder_holds_only(old, "a large file");
    }
    assert_true(n > 3);
    folder_holds_only(large, "a large file");
    ocdm_memory_destroy(old);
    ocdm_memory_destroy(large);
}

TEST(save_and_load_go_on_when_a_signal_interrupts)
{
    ocdm_memory *memory = some_memory(60), *loaded = NULL;
    fault_at(FAULT_WRITE, 1, EINTR, false);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    assert_true(fault_calls(FAULT_WRITE) >= 2);
    fault_at(FAULT_READ, 1, EINTR, false);
    assert_int_equal(ocdm_memory_load("memory", NULL, NULL, &loaded, NULL), OCDM_OK);
    assert_true(fault_calls(FAULT_READ) >= 2);
    fault_off();
    same_memory(memory, loaded, "interrupted");
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(loaded);
}

TEST(load_tells_when_a_call_fails)
{
    ocdm_memory *memory = some_memory(60);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    const enum fault_kind kinds[] = {FAULT_OPEN, FAULT_READ};
    for (size_t i = 0; i < 2; i++)
        for (unsigned long n = 1;; n++) {
            ocdm_memory *loaded = NULL;
            ocdm_error error = {0};
            fault_at(kinds[i], n, EIO, false);
            ocdm_status status = ocdm_memory_load("memory", NULL, NULL, &loaded, &error);
            fault_off();
            if (status == OCDM_OK) {
                assert_true(n > 1);
                ocdm_memory_destroy(loaded);
                break;
            }
            assert_int_equal(status, OCDM_IO);
            assert_non_null(strstr(error.message, "memory: "));
            assert_null(loaded);
        }
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(save_tells_and_keeps_a_whole_file_when_a_call_fails),
        cmocka_unit_test(save_leaves_no_file_when_there_was_none),
        cmocka_unit_test(save_makes_no_call_that_is_not_tested),
        cmocka_unit_test(save_keeps_the_old_file_when_any_write_fails),
        cmocka_unit_test(save_and_load_go_on_when_a_signal_interrupts),
        cmocka_unit_test(load_tells_when_a_call_fails),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
