/* Every call to the system fails once in a run, or the disk stays full from then on: it is told, and the run can go on
 * afterwards as if nothing had been. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "faults.h"

static const struct small_plan plan = {.tasks = 2, .train = 20, .test = 6, .seed = 4};

static ocdm_status run_in(const char *folder, const char *model, bool resume, ocdm_error *error)
{
    static const ocdm__run_hooks nobody = {.state = NULL};
    ocdm__run_settings settings = small_settings("ocdm");
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_job job = {
        .settings = &settings, .stream = &stream, .learner = &ocdm__agent_maker, .folder = folder, .resume = resume};
    settings.model = model;
    settings.checkpoint_every = 3;
    ocdm_status status = ocdm__stream_open(&stream, "stream", error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_resolve(&settings, &stream, "stream", error);
    if (status == OCDM_OK)
        status = ocdm__run_in_folder(&job, &nobody, error);
    ocdm__stream_close(&stream);
    return status;
}

/* Temporary files that a failure left would be hidden ones. */
static int count_hidden(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* Fails call number n of a kind in one run after another until a run has fewer calls. Returns how many runs failed. */
static unsigned long fail_each(enum fault_kind kind, int reason, bool for_good)
{
    unsigned long failed = 0;
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {.message = ""};
        char where[64];
        snprintf(where, sizeof where, "kind %d, call %lu, %s", (int)kind, n, for_good ? "for good" : "once");
        remove_folder("parts");
        fault_at(kind, n, reason, for_good);
        ocdm_status status = run_in("parts", "linear", false, &error);
        unsigned long calls = fault_calls(kind);
        fault_off();
        HOLDS(where, status == OCDM_OK || (status == OCDM_IO && error.message[0] != '\0'));
        failed += status != OCDM_OK;
        HOLDS(where, count_hidden("parts") == 0);
        status = run_in("parts", "linear", true, &error);
        HOLDS(error.message, status == OCDM_OK);
        same_results("whole", "parts", true);
        if (calls < n)
            return failed;
    }
}

TEST(run_goes_on_after_any_write_failed)
{
    assert_true(fail_each(FAULT_WRITE, ENOSPC, false) > 10);
    assert_true(fail_each(FAULT_WRITE, ENOSPC, true) > 10);
}

TEST(run_goes_on_after_any_other_call_failed)
{
    assert_true(fail_each(FAULT_OPEN, EMFILE, false) > 5);
    assert_true(fail_each(FAULT_FSYNC, EIO, false) > 5);
    assert_true(fail_each(FAULT_RENAME, EIO, false) > 5);
}

/* A memory alone, since the network's library has its own way to run out of memory. */
TEST(run_tells_when_memory_runs_out)
{
    unsigned long n = 1;
    ocdm_error error;
    for (;; n++) {
        remove_folder("parts");
        fault_at(FAULT_ALLOCATE, n, ENOMEM, false);
        ocdm_status status = run_in("parts", "none", false, &error);
        fault_off();
        if (status == OCDM_OK)
            break;
        assert_int_equal(status, OCDM_NO_MEMORY);
    }
    assert_true(n > 50);
    assert_int_equal(run_in("parts", "none", true, &error), OCDM_OK);
}

/* A finished run whose summary cannot be compared for want of memory is not taken for the one asked for. */
TEST(finished_run_tells_when_memory_runs_out)
{
    ocdm_error error;
    unsigned long failed = 0;
    remove_folder("parts");
    assert_int_equal(run_in("parts", "none", false, &error), OCDM_OK);
    assert_int_equal(remove("parts/checkpoint.safetensors"), 0);
    assert_int_equal(remove("parts/checkpoint.previous.safetensors"), 0);
    for (ocdm_status status = OCDM_NO_MEMORY; status != OCDM_OK; failed += status != OCDM_OK) {
        fault_at(FAULT_ALLOCATE, failed + 1, ENOMEM, false);
        status = run_in("parts", "none", true, &error);
        bool whole = fault_calls(FAULT_ALLOCATE) <= failed;
        fault_off();
        assert_int_equal(status, whole ? OCDM_OK : OCDM_NO_MEMORY);
    }
    assert_true(failed > 20);
}

static int make_stream(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&plan, "stream");
    return run_in("whole", "linear", false, NULL) == OCDM_OK ? 0 : -1;
}

static int leave_stream(void **state)
{
    remove_folder("parts");
    remove_folder("whole");
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_goes_on_after_any_write_failed),
        cmocka_unit_test(run_goes_on_after_any_other_call_failed),
        cmocka_unit_test(run_tells_when_memory_runs_out),
        cmocka_unit_test(finished_run_tells_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_stream);
}
