/* Every call to the system fails once in a run, or the disk stays full from then on: it is reported, and the run can continue
 * afterwards with the same result. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "faults.h"
#include "ocdm/experiment.h"

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
    settings.store = OCDM__STORE_U8;
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

/* If there is not enough memory to compare the summary of a finished run, the run is not accepted as the requested one. */
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

/* ---- a learner that asks for its steps ----------------------------------------------------------------------------------- */

/* It learns nothing: the features are its scores. */
static ocdm_status evaluate(ocdm_loop *loop, const ocdm_stream *stream, ocdm_error *error)
{
    float scores[12 * SMALL_CLASSES], row[SMALL_WIDTH];
    size_t count;
    ocdm_status status = OCDM_OK;
    const uint32_t *tests = ocdm_loop_tests(loop, &count);
    for (size_t i = 0; status == OCDM_OK && i < count; i++) {
        status = ocdm_stream_features(stream, tests[i], row, error);
        memcpy(scores + i * SMALL_CLASSES, row, SMALL_CLASSES * sizeof *scores);
    }
    return status == OCDM_OK ? ocdm_loop_evaluate(loop, scores, error) : status;
}

static ocdm_status ask(ocdm_loop *loop, const ocdm_stream *stream, ocdm_error *error)
{
    const ocdm_loop_step *step;
    ocdm_status status = ocdm_loop_next(loop, &step, error);
    while (status == OCDM_OK && step != NULL) {
        bool evaluates = step->evaluate, saves = step->checkpoint;
        status = ocdm_loop_done(loop, 1, error);
        if (status == OCDM_OK && evaluates)
            status = evaluate(loop, stream, error);
        if (status == OCDM_OK && saves)
            status = ocdm_loop_checkpoint(loop, "state", 5, error);
        if (status == OCDM_OK)
            status = ocdm_loop_next(loop, &step, error);
    }
    return status;
}

static ocdm_status ask_in(const char *folder, ocdm_error *error)
{
    static const char *const settings[] = {"memory", "30", "batch", "5", "replay", "4", "checkpoint-every", "3", NULL};
    const ocdm_learner learner = {.size = sizeof learner, .name = "none at all"};
    ocdm_experiment experiment = ocdm_experiment_default();
    ocdm_stream *stream = NULL;
    ocdm_loop *loop = NULL;
    experiment.folder = folder;
    experiment.settings = settings;
    experiment.resume = true;
    ocdm_status status = ocdm_stream_open("stream", &stream, error);
    if (status == OCDM_OK)
        status = ocdm_loop_open(&experiment, stream, &learner, &loop, error);
    if (status == OCDM_OK)
        status = ask(loop, stream, error);
    ocdm_loop_close(loop);
    ocdm_stream_close(stream);
    return status;
}

/* Each kind of call fails once, at every place; the loop continues when it is opened again. Returns how often it failed. */
static unsigned long fail_each_asked(enum fault_kind kind, int reason, ocdm_status expected)
{
    unsigned long failed = 0;
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {.message = ""};
        remove_folder("parts");
        fault_at(kind, n, reason, false);
        ocdm_status status = ask_in("parts", &error);
        unsigned long calls = fault_calls(kind);
        fault_off();
        HOLDS(error.message, status == OCDM_OK || (status == expected && error.message[0] != '\0'));
        failed += status != OCDM_OK;
        status = ask_in("parts", &error);
        HOLDS(error.message, status == OCDM_OK);
        same_results("asked", "parts", false);
        if (calls < n)
            return failed;
    }
}

TEST(loop_goes_on_after_any_call_failed)
{
    assert_int_equal(ask_in("asked", NULL), OCDM_OK);
    assert_true(fail_each_asked(FAULT_ALLOCATE, ENOMEM, OCDM_NO_MEMORY) > 50);
    assert_true(fail_each_asked(FAULT_WRITE, ENOSPC, OCDM_IO) > 10);
    assert_true(fail_each_asked(FAULT_RENAME, EIO, OCDM_IO) > 5);
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
    remove_folder("asked");
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_goes_on_after_any_write_failed), cmocka_unit_test(run_goes_on_after_any_other_call_failed),
        cmocka_unit_test(run_tells_when_memory_runs_out),     cmocka_unit_test(finished_run_tells_when_memory_runs_out),
        cmocka_unit_test(loop_goes_on_after_any_call_failed),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_stream);
}
