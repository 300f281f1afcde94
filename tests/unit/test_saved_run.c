/* A folder is resumed, or counts as finished, only for its own run: the same settings, stream and groups of classes. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stddef.h>
#include <stdint.h>

#include "experiment/folder/checkpoint.h"
#include "run_in_folder.h"

static const struct small_plan several = {.tasks = 3, .train = 47, .test = 20, .seed = 1};

/* ---- finished runs ------------------------------------------------------------------------------------------------------ */

/* Takes away what would bring the run back. */
static void forget_checkpoints(const char *folder)
{
    char path[128];
    static const char *const names[] = {"checkpoint.safetensors", "checkpoint.previous.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
}

static void refuses(const char *folder, ocdm__run_settings settings, const char *stream, ocdm_status status, const char *why)
{
    ocdm_error error = {.message = ""};
    assert_int_equal(run_in(folder, settings, stream, true, NULL, &error), status);
    if (strstr(error.message, why) == NULL)
        fail_msg("\"%s\" is not \"%s\"", error.message, why);
}

TEST(resume_compares_a_finished_run_that_has_no_checkpoint)
{
    struct listener listener = {.stop = 0};
    struct small_plan other = several;
    ocdm__run_settings settings = settings_of("ocdm");
    other.seed = 77;
    small_file(&other, "other");
    finishes("parts", settings, "several", false);
    finishes("whole", settings, "several", false);
    forget_checkpoints("parts");
    assert_int_equal(run_in("parts", settings, "several", true, &listener, NULL), OCDM_OK);
    assert_string_equal(listener.notes, "the run is finished: nothing is left to do");
    assert_int_equal(listener.last_step, 0);
    settings.memory = 31;
    refuses("parts", settings, "several", OCDM_BAD_ARGUMENT, "parts/summary.json: the run began with memory 30, not 31");
    settings.memory = 30;
    settings.groups = "40,19";
    refuses("parts", settings, "several", OCDM_BAD_ARGUMENT, "the run began with groups \"40,20\", not \"40,19\"");
    refuses("parts", settings_of("ocdm"), "other", OCDM_BAD_FILE,
            "parts/summary.json: the run was made on the stream several (checksum ");
    same_results("whole", "parts", true);
    remove("other");
}

TEST(resume_refuses_a_summary_that_is_none)
{
    static const char *const others[] = {
        "{\"format\":\"another\"}", "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":{}}", "[]",
        "{\"format\":\"ocdm-run\",\"version\":1,\"stream\":{\"checksum\":\"00000000000000000000000000000000\"}}"};
    finishes("parts", settings_of("rs"), "several", false);
    forget_checkpoints("parts");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(write_whole("parts/summary.json", (const unsigned char *)others[i], strlen(others[i])), 0);
        refuses("parts", settings_of("rs"), "several", OCDM_BAD_FILE,
                i % 2 == 0 ? "parts/summary.json is not the summary of a run"
                           : "parts/summary.json has no settings or no checksum");
    }
    assert_int_equal(truncate("parts/summary.json", 9), 0);
    refuses("parts", settings_of("rs"), "several", OCDM_BAD_FILE, "parts/summary.json:1:");
}

/* ---- groups from a file ------------------------------------------------------------------------------------------------ */

/* The same groups in both forms, and groups in which class b differs. */
static void write_groups(void)
{
    static const char text[] = "majority: a, b\nmoderate: c, d\nminority: e, f\n",
                      json[] = "{\"minority\":[\"f\",\"e\"],\"majority\":[\"b\",\"a\"],\"moderate\":[\"c\",\"d\",\"z\"]}",
                      other[] = "majority: a\nmoderate: c, d\nminority: e, f, b\n";
    assert_int_equal(write_whole("groups.txt", (const unsigned char *)text, strlen(text)), 0);
    assert_int_equal(write_whole("groups.json", (const unsigned char *)json, strlen(json)), 0);
    assert_int_equal(write_whole("changed.txt", (const unsigned char *)other, strlen(other)), 0);
}

static ocdm__run_settings with_groups(const char *groups)
{
    ocdm__run_settings settings = settings_of("ocdm");
    settings.groups = groups;
    return settings;
}

/* Whatever is there of the run: its checkpoint, or at last the summary alone. */
static void refuses_other_groups(void)
{
    static const char why[] = "the run began with the class b in the group majority, not minority";
    refuses("parts", with_groups("changed.txt"), "several", OCDM_BAD_ARGUMENT, why);
    assert_int_equal(rename("changed.txt", "groups.txt"), 0);
    refuses("parts", with_groups("groups.txt"), "several", OCDM_BAD_ARGUMENT, why);
    write_groups();
    refuses("parts", with_groups("40,20"), "several", OCDM_BAD_ARGUMENT, "began with groups \"groups.");
    refuses("parts", with_groups("40,20"), "several", OCDM_BAD_ARGUMENT, "\", not \"40,20\"");
}

TEST(resume_compares_groups_by_what_their_file_says)
{
    write_groups();
    finishes("whole", with_groups("groups.json"), "several", false);
    stops("parts", with_groups("groups.txt"), "several", 17);
    refuses_other_groups();
    finishes("parts", with_groups("groups.json"), "several", true);
    same_results("whole", "parts", true);
    refuses_other_groups();
    forget_checkpoints("parts");
    refuses_other_groups();
    finishes("parts", with_groups("groups.txt"), "several", true);
    same_results("whole", "parts", true);
}

/* Writes a checkpoint again as earlier versions did, without the groups. */
static void forget_groups(const char *path)
{
    ocdm__checkpoint checkpoint;
    ocdm__output output;
    struct ocdm__tensor tensors[64];
    struct ocdm__note notes[16];
    char names[64][64], keys[16][64], values[16][1000];
    size_t count = 0, note_count = 0;
    assert_int_equal(ocdm__checkpoint_open(&checkpoint, path, NULL), OCDM_OK);
    assert_true(checkpoint.tensors.tensor_count <= 64);
    for (size_t i = 0; i < checkpoint.tensors.tensor_count; i++) {
        tensors[count] = checkpoint.tensors.tensors[i];
        tensors[count].name = names[count];
        snprintf(names[count], sizeof names[count], "%.*s", (int)tensors[count].name_length,
                 checkpoint.tensors.tensors[i].name);
        count += strcmp(names[count], "groups") != 0;
    }
    assert_int_equal(count + 1, checkpoint.tensors.tensor_count);
    assert_true(checkpoint.tensors.note_count <= 16);
    for (size_t i = 0; i < checkpoint.tensors.note_count; i++) {
        const struct ocdm__note *note = &checkpoint.tensors.notes[i];
        assert_true(note->value_length < sizeof values[0]);
        snprintf(keys[note_count], sizeof keys[0], "%.*s", (int)note->key_length, note->key);
        snprintf(values[note_count], sizeof values[0], "%.*s", (int)note->value_length, note->value);
        notes[note_count] = (struct ocdm__note){.key = keys[note_count], .value = values[note_count]};
        note_count += strcmp(keys[note_count], "checksum") != 0; /* which is written by itself */
    }
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, note_count, tensors, count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    ocdm__checkpoint_close(&checkpoint);
}

TEST(resume_compares_groups_by_name_when_the_checkpoint_does_not_tell_them)
{
    write_groups();
    finishes("whole", with_groups("groups.txt"), "several", false);
    stops("parts", with_groups("groups.txt"), "several", 17);
    forget_groups("parts/checkpoint.safetensors");
    refuses("parts", with_groups("groups.json"), "several", OCDM_BAD_ARGUMENT,
            "parts/checkpoint.safetensors: the run began with groups \"groups.txt\", not \"groups.json\"");
    finishes("parts", with_groups("groups.txt"), "several", true);
    same_results("whole", "parts", true);
}

static int make_stream(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&several, "several");
    return 0;
}

static int leave_stream(void **state)
{
    clear_folders(state);
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(resume_compares_a_finished_run_that_has_no_checkpoint, clear_folders),
        cmocka_unit_test_setup(resume_refuses_a_summary_that_is_none, clear_folders),
        cmocka_unit_test_setup(resume_compares_groups_by_what_their_file_says, clear_folders),
        cmocka_unit_test_setup(resume_compares_groups_by_name_when_the_checkpoint_does_not_tell_them, clear_folders),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_stream);
}
