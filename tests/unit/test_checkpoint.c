/* A run that is stopped or killed at any point and resumed ends as one that was never stopped; what prevents it is reported.
 */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/output.h"
#include "base/safetensors.h"
#include "run_in_folder.h"
#include "base/error.h"

static const struct small_plan several = {.tasks = 3, .train = 47, .test = 20, .seed = 1};
static const struct small_plan images = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_IMAGES};
static const struct small_plan single = {.tasks = 3, .train = 47, .test = 20, .single = true, .seed = 2};

static const char *stream_of(const char *method)
{
    return strcmp(method, "cbrs") == 0 ? "single" : "several";
}

/* Everything that a learner may keep from step to step. */
static void enrich(ocdm__run_settings *settings)
{
    settings->network.loss.negatives = 0.25;
    settings->network.loss.focal = 1;
    settings->loss_balance = 0.5;
    settings->network.averages = (ocdm__rates){.values = {0.5, 0.9}, .count = 2};
    settings->average_start = OCDM__AVERAGE_SINCE_CLASS;
    settings->validation = 0.1;
    settings->network.optimiser = OCDM__OPTIMISER_SGD;
    settings->network.lr_schedule = OCDM__LR_COSINE;
    settings->network.horizon = 40;
    settings->network.warmup = 4;
    if (!ocdm__run_has_memory(settings))
        return;
    settings->replay_policy = OCDM__REPLAY_LOSS;
    settings->network.loss.dark = 0.5;
    bool linear = strcmp(settings->model, "linear") == 0;
    settings->memory_bytes = linear ? 20 * 57 : 0; /* 30 samples as u8, ranges from the first 20 */
    settings->store = linear ? OCDM__STORE_U8 : OCDM__STORE_JPEG;
    settings->store_quality = linear ? 0 : 60;
    settings->store_pixels = linear ? 0 : 12;
}

/* ---- going on -------------------------------------------------------------------------------------------------------- */

/* 47 samples in batches of 5: tasks end after 10, 20 and 30 steps. */
TEST(resume_ends_as_if_never_stopped_for_every_method)
{
    static const uint64_t stop_after[] = {1, 6, 7, 10, 13, 20, 29, 30};
    for (size_t m = 0; ocdm__run_methods[m] != NULL; m++) {
        const char *method = ocdm__run_methods[m];
        ocdm__run_settings settings = settings_of(method);
        finishes("whole", settings, stream_of(method), false);
        for (size_t i = 0; i < sizeof stop_after / sizeof *stop_after; i++) {
            stops("parts", settings, stream_of(method), stop_after[i]);
            finishes("parts", settings, stream_of(method), true);
            same_results("whole", "parts", true);
            remove_folder("parts");
        }
        remove_folder("whole");
    }
}

TEST(resume_ends_as_if_never_stopped_when_stopped_at_every_step)
{
    ocdm__run_settings settings = settings_of("ocdm");
    enrich(&settings);
    finishes("whole", settings, "several", false);
    for (uint64_t step = 1; step <= 26; step++)
        stops("parts", settings, "several", step);
    finishes("parts", settings, "several", true);
    same_results("whole", "parts", true);
    remove_folder("parts");
    remove_folder("whole");
}

TEST(resume_ends_as_if_never_stopped_when_there_is_no_agent)
{
    static const char *const methods[] = {"ocdm", "prs", "rs", NULL};
    for (size_t m = 0; methods[m] != NULL; m++) {
        ocdm__run_settings settings = settings_of(methods[m]);
        settings.model = "none";
        finishes("whole", settings, "several", false);
        stops("parts", settings, "several", 17);
        finishes("parts", settings, "several", true);
        same_results("whole", "parts", false);
        remove_folder("parts");
        remove_folder("whole");
    }
}

TEST(resume_ends_as_if_never_stopped_for_ridge)
{
    ocdm__run_settings settings = settings_of("rs");
    settings.model = "ridge";
    settings.network.learning_rate = ocdm__run_settings_default().network.learning_rate;
    finishes("whole", settings, "several", false);
    stops("parts", settings, "several", 17);
    finishes("parts", settings, "several", true);
    same_results("whole", "parts", true);
    remove_folder("parts");
    remove_folder("whole");
}

/* Augmentation follows from seed, sample and step; neither it nor the network depends on the number of threads. */
TEST(resume_ends_as_if_never_stopped_when_samples_are_images)
{
    static const char *const methods[] = {"ocdm", "gss", "multitask"};
    for (size_t m = 0; m < 3; m++) {
        ocdm__run_settings settings = settings_of(methods[m]);
        settings.model = "cnn";
        settings.memory = 12;
        settings.crop = SMALL_SIDE - 2;
        enrich(&settings);
        finishes("whole", settings, "images", false);
        settings.network.threads = 2;
        stops("parts", settings, "images", 4);
        finishes("parts", settings, "images", true);
        same_results("whole", "parts", true);
        same_file("whole/weights-ema0.5.safetensors", "parts/weights-ema0.5.safetensors");
        remove_folder("parts");
        remove_folder("whole");
    }
}

/* The log of a run that was killed goes back with it: steps are there once, in their order, and resumed runs say so. */
static void check_log(const char *path, size_t *resumed)
{
    char *text = text_before(path, NULL);
    unsigned long last = 0, evaluations = 0;
    *resumed = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned long step = 0;
        assert_int_equal(line[strlen(line) - 1], '}');
        if (sscanf(line, "{\"type\":\"step\",\"step\":%lu", &step) == 1) {
            assert_true(step > last);
            last = step;
        }
        evaluations += strncmp(line, "{\"type\":\"evaluation\"", 20) == 0;
        *resumed += strstr(line, "\"resumed\":") != NULL;
    }
    assert_int_equal(last, 30);
    assert_int_equal(evaluations, 3);
    free(text);
}

TEST(resume_ends_as_if_never_stopped_when_killed)
{
    ocdm__run_settings settings = settings_of("prs");
    finishes("whole", settings, "several", false);
    for (uint64_t step = 1; step <= 30; step += 4) {
        pid_t child = fork();
        if (child == 0) {
            struct listener listener = {.stop_after = step, .kills = true};
            ocdm_error error;
            run_in("parts", settings, "several", false, &listener, &error);
            _exit(1);
        }
        int ended = 0;
        size_t resumed;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 7);
        finishes("parts", settings, "several", true);
        same_results("whole", "parts", true);
        check_log("parts/run.jsonl", &resumed);
        assert_int_equal(resumed, step > 7);
        remove_folder("parts");
    }
    remove_folder("whole");
}

/* An evaluation may be long: it is given up, and made again. The second one asks about two tasks, a piece each. */
static void stop_in_an_evaluation(void *state, const char *what, uint64_t done, uint64_t total)
{
    struct listener *listener = state;
    (void)done;
    (void)total;
    assert_string_equal(what, "evaluation");
    if (++listener->last_step == 2)
        listener->stop = 1;
}

TEST(resume_ends_as_if_never_stopped_when_stopped_in_an_evaluation)
{
    ocdm_error error;
    struct listener listener = {.stop = 0};
    ocdm__run_settings settings = settings_of("ocdm");
    finishes("whole", settings, "several", false);
    const ocdm__run_hooks hooks = {.progress = {.tell = stop_in_an_evaluation, .state = &listener, .stop = &listener.stop},
                                   .note = noted};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_job job = {.settings = &settings, .stream = &stream, .learner = &ocdm__agent_maker, .folder = "parts"};
    assert_int_equal(ocdm__stream_open(&stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_in_folder(&job, &hooks, &error), OCDM_STOPPED);
    assert_string_equal(error.message, "parts: stopped after step 20, and saved");
    ocdm__stream_close(&stream);
    char *log = text_before("parts/run.jsonl", NULL);
    assert_null(strstr(strstr(log, "\"type\":\"evaluation\"") + 1, "\"type\":\"evaluation\""));
    free(log);
    finishes("parts", settings, "several", true);
    same_results("whole", "parts", true);
    remove_folder("parts");
    remove_folder("whole");
}

/* ---- what prevents a resume -------------------------------------------------------------------------------------------- */

static void damage(const char *path, size_t at)
{
    size_t size;
    unsigned char *bytes = read_whole(path, &size);
    assert_true(bytes != NULL && size > at);
    bytes[size - 1 - at] ^= 0x10;
    assert_int_equal(write_whole(path, bytes, size), 0);
    free(bytes);
}

TEST(resume_takes_the_checkpoint_before_when_one_is_damaged)
{
    ocdm__run_settings settings = settings_of("ocdm");
    finishes("whole", settings, "several", false);
    for (int gone = 0; gone < 2; gone++) {
        ocdm_error error;
        struct listener listener = {.stop = 0};
        stops("parts", settings, "several", 17);
        if (gone)
            assert_int_equal(remove("parts/checkpoint.safetensors"), 0);
        else
            damage("parts/checkpoint.safetensors", 100);
        assert_int_equal(run_in("parts", settings, "several", true, &listener, &error), OCDM_OK);
        assert_non_null(strstr(listener.notes, "checkpoint.safetensors"));
        assert_non_null(strstr(listener.notes, "going on from the checkpoint before it"));
        same_results("whole", "parts", true);
        remove_folder("parts");
    }
    remove_folder("whole");
}

TEST(resume_fails_when_both_checkpoints_are_damaged)
{
    ocdm_error error;
    ocdm__run_settings settings = settings_of("ocdm");
    stops("parts", settings, "several", 17);
    damage("parts/checkpoint.safetensors", 50);
    damage("parts/checkpoint.previous.safetensors", 50);
    assert_int_equal(run_in("parts", settings, "several", true, NULL, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "checkpoint.safetensors"));
    assert_non_null(strstr(error.message, "checkpoint.previous.safetensors"));
    remove_folder("parts");
}

/* A copy of text that is not ended by a NUL. */
static char *ended(const char *text, size_t length)
{
    char *copy = calloc(length + 1, 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    return copy;
}

/* Writes a checkpoint again with other bytes in one tensor and a checksum that fits. */
static void forge(const char *path, const char *name, const unsigned char *data)
{
    struct ocdm__note notes[16];
    size_t size, count = 0;
    unsigned char *bytes = read_whole(path, &size);
    struct ocdm__safetensors file;
    ocdm__output output;
    assert_int_equal(ocdm__safetensors_read(&file, path, bytes, size, NULL), OCDM_OK);
    for (size_t i = 0; i < file.tensor_count; i++) {
        file.tensors[i].name = ended(file.tensors[i].name, file.tensors[i].name_length);
        if (strcmp(file.tensors[i].name, name) == 0)
            file.tensors[i].data = data;
    }
    for (size_t i = 0; i < file.note_count; i++) {
        const struct ocdm__note *note = &file.notes[i];
        if (note->key_length != 8 || memcmp(note->key, "checksum", 8) != 0)
            notes[count++] =
                (struct ocdm__note){ended(note->key, note->key_length), 0, ended(note->value, note->value_length), 0};
    }
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, count, file.tensors, file.tensor_count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    for (size_t i = 0; i < count; i++) {
        free((char *)notes[i].key);
        free((char *)notes[i].value);
    }
    for (size_t i = 0; i < file.tensor_count; i++)
        free((char *)file.tensors[i].name);
    ocdm__safetensors_close(&file);
    free(bytes);
}

/* Changes a number of a position, in the order of the first version: steps, evaluations, skipped, log, offered and stride of
 * the curve. */
static void forge_position(const char *path, size_t field, uint64_t value)
{
    ocdm__mapped_file file;
    struct ocdm__safetensors tensors;
    unsigned char position[64];
    assert_int_equal(ocdm__map_file(&file, path, NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_read(&tensors, "checkpoint", file.bytes, file.size, NULL), OCDM_OK);
    memcpy(position, ocdm__safetensors_find(&tensors, "position")->data, sizeof position);
    ocdm__safetensors_close(&tensors);
    ocdm__unmap_file(&file);
    ocdm__put_u64(position + 8 * field, value);
    forge(path, "position", position);
}

TEST(resume_refuses_a_position_that_cannot_be)
{
    static const struct {
        size_t field;
        uint64_t value;
    } forged[] = {{0, UINT64_MAX},        {0, 9}, {1, 4},          {1, UINT64_MAX},        {2, UINT64_MAX}, {3, UINT64_MAX},
                  {3, (uint64_t)1 << 62}, {4, 0}, {4, UINT64_MAX}, {5, (uint64_t)1 << 63}, {5, 0},          {5, 3},
                  {5, UINT64_MAX}};
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        ocdm_error error;
        stops("parts", settings_of("ocdm"), "several", 17);
        forge_position("parts/checkpoint.safetensors", forged[i].field, forged[i].value);
        ocdm_status status = run_in("parts", settings_of("ocdm"), "several", true, NULL, &error);
        if (status != OCDM_BAD_FILE)
            fail_msg("field %zu, value %llx: status %d", forged[i].field, (unsigned long long)forged[i].value, (int)status);
        remove_folder("parts");
    }
}

/* A run without an agent reads no samples, so that it has nothing to say about those that it could not read. */
TEST(resume_refuses_skipped_samples_of_a_run_that_reads_none)
{
    ocdm_error error;
    ocdm__run_settings settings = settings_of("ocdm");
    settings.model = "none";
    stops("parts", settings, "several", 17);
    forge_position("parts/checkpoint.safetensors", 2, 1);
    assert_int_equal(run_in("parts", settings, "several", true, NULL, &error), OCDM_BAD_FILE);
    remove_folder("parts");
}

TEST(resume_names_the_setting_that_differs)
{
    ocdm_error error;
    ocdm__run_settings settings = settings_of("ocdm");
    stops("parts", settings, "several", 17);
    settings.memory = 31;
    assert_int_equal(run_in("parts", settings, "several", true, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "the run began with memory 30, not 31"));
    settings.memory = 30;
    settings.order = (const uint64_t[]){2, 1, 0};
    settings.order_count = 3;
    assert_int_equal(run_in("parts", settings, "several", true, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "the run began with order [0,1,2], not [2,1,0]"));
    settings.order = NULL;
    settings.checkpoint_every = 3; /* changes no result */
    finishes("parts", settings, "several", true);
    remove_folder("parts");
}

TEST(resume_refuses_a_stream_that_changed)
{
    ocdm_error error;
    struct small_plan other = several;
    other.seed = 77;
    small_file(&other, "other");
    stops("parts", settings_of("ocdm"), "several", 17);
    assert_int_equal(run_in("parts", settings_of("ocdm"), "other", true, NULL, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "has changed since the run began"));
    remove("other");
    remove_folder("parts");
}

TEST(resume_refuses_a_log_that_was_cut)
{
    ocdm_error error;
    stops("parts", settings_of("ocdm"), "several", 17);
    assert_int_equal(truncate("parts/run.jsonl", 10), 0);
    assert_int_equal(run_in("parts", settings_of("ocdm"), "several", true, NULL, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "run.jsonl: the file has 10 bytes"));
    remove_folder("parts");
}

TEST(folder_with_a_run_is_refused_unless_resumed)
{
    ocdm_error error;
    struct listener listener = {.stop = 0};
    ocdm__run_settings settings = settings_of("ocdm");
    stops("parts", settings, "several", 17);
    assert_int_equal(run_in("parts", settings, "several", false, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "a run that was stopped is there"));
    finishes("parts", settings, "several", true);
    assert_int_equal(run_in("parts", settings, "several", false, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "a finished run is there"));
    assert_int_equal(run_in("parts", settings, "several", true, &listener, &error), OCDM_OK);
    assert_non_null(strstr(listener.notes, "finished"));
    assert_int_equal(listener.last_step, 0);
    remove_folder("parts");
}

/* The log cannot be written where a link is that leads nowhere: a refused run leaves the link. */
TEST(folder_of_a_refused_run_keeps_what_was_there)
{
    ocdm_error error;
    struct stat there;
    assert_int_equal(mkdir("parts", 0777), 0);
    assert_int_equal(symlink("nowhere", "parts/run.jsonl"), 0);
    assert_int_equal(run_in("parts", settings_of("ocdm"), "several", false, NULL, &error), OCDM_IO);
    assert_non_null(strstr(error.message, "parts/run.jsonl"));
    assert_int_equal(lstat("parts/run.jsonl", &there), 0);
    remove_folder("parts");
}

static ocdm_status refuse(void *state, ocdm__run *run, ocdm_error *error)
{
    (void)state;
    (void)run;
    return ocdm__fail(error, OCDM_BAD_FILE, "", "refused");
}

TEST(folder_made_for_a_refused_run_goes_again)
{
    static const char *const folders[] = {"parts", "parts/"};
    const ocdm__run_hooks hooks = {.opened = refuse};
    ocdm__run_settings settings = settings_of("ocdm");
    ocdm__stream stream = {.task_count = 0};
    assert_int_equal(ocdm__stream_open(&stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "several", NULL), OCDM_OK);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        ocdm__run_job job = {.settings = &settings, .stream = &stream, .learner = &ocdm__agent_maker, .folder = folders[i]};
        assert_int_equal(ocdm__run_in_folder(&job, &hooks, NULL), OCDM_BAD_FILE);
        assert_int_not_equal(access("parts", F_OK), 0);
    }
    ocdm__stream_close(&stream);
}

/* From inside a run, another one in the same folder. */
struct intruder {
    ocdm_status status;
    ocdm_error error;
};

static void intrude(void *state, const ocdm__run *run)
{
    struct intruder *intruder = state;
    if (run->step == 3)
        intruder->status = run_in("parts", settings_of("ocdm"), "several", true, NULL, &intruder->error);
}

TEST(folder_in_use_is_refused)
{
    struct intruder intruder = {.status = OCDM_OK};
    const ocdm__run_hooks hooks = {.stepped = intrude, .state = &intruder};
    ocdm__run_settings settings = settings_of("ocdm");
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_job job = {.settings = &settings, .stream = &stream, .learner = &ocdm__agent_maker, .folder = "parts"};
    assert_int_equal(ocdm__stream_open(&stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_in_folder(&job, &hooks, NULL), OCDM_OK);
    assert_int_equal(intruder.status, OCDM_IO);
    assert_string_equal(intruder.error.message, "parts: another run is writing here");
    ocdm__stream_close(&stream);
    remove_folder("parts");
}

static int make_streams(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&several, "several");
    small_file(&single, "single");
    small_file(&images, "images");
    return 0;
}

static int leave_streams(void **state)
{
    clear_folders(state);
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_for_every_method, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_when_stopped_at_every_step, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_when_there_is_no_agent, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_for_ridge, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_when_samples_are_images, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_when_stopped_in_an_evaluation, clear_folders),
        cmocka_unit_test_setup(resume_ends_as_if_never_stopped_when_killed, clear_folders),
        cmocka_unit_test_setup(resume_takes_the_checkpoint_before_when_one_is_damaged, clear_folders),
        cmocka_unit_test_setup(resume_fails_when_both_checkpoints_are_damaged, clear_folders),
        cmocka_unit_test_setup(resume_refuses_a_position_that_cannot_be, clear_folders),
        cmocka_unit_test_setup(resume_refuses_skipped_samples_of_a_run_that_reads_none, clear_folders),
        cmocka_unit_test_setup(resume_names_the_setting_that_differs, clear_folders),
        cmocka_unit_test_setup(resume_refuses_a_stream_that_changed, clear_folders),
        cmocka_unit_test_setup(resume_refuses_a_log_that_was_cut, clear_folders),
        cmocka_unit_test_setup(folder_with_a_run_is_refused_unless_resumed, clear_folders),
        cmocka_unit_test_setup(folder_of_a_refused_run_keeps_what_was_there, clear_folders),
        cmocka_unit_test_setup(folder_made_for_a_refused_run_goes_again, clear_folders),
        cmocka_unit_test_setup(folder_in_use_is_refused, clear_folders),
    };
    return cmocka_run_group_tests(tests, make_streams, leave_streams);
}
