/* Building streams while allocations fail, each once or all from some call on: it is reported as such, no file is left,
 * nothing leaks (the sanitizer watches), and without faults the file is written. Then the built-in world, whose tables are
 * large, by itself. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../nested_files.h"
#include "base/error.h"
#include "faults.h"
#include "stream/build.h"
#include "stream/recipes/recipes.h"
#include "stream/scenes/scenes.h"

#define OUTPUT "out.safetensors"
#define SAMPLES 90

static const char *const records[] = {"r.jsonl"}, *const coco[] = {"a.json"}, *const nuswide[] = {"d"};

/* Two blocks of classes, every third sample with one label, and a row of features each. */
static void write_records(void)
{
    char text[64 * SAMPLES] = "";
    char table[256];
    int used = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int block = i % 2 * 2, single = i % 3 == 0;
        used += snprintf(text + used, sizeof text - (size_t)used, "{\"id\":%d,\"labels\":[\"c%d\"%s", i,
                         block + (single ? i % 4 / 2 : 0),
                         single  ? ""
                         : i % 2 ? ",\"c3\""
                                 : ",\"c1\"");
        used += snprintf(text + used, sizeof text - (size_t)used, "],\"image\":\"p\",\"by\":\"%d\"}\n", i % 2);
    }
    assert_int_equal(put_bytes("r.jsonl", text, (size_t)used), 0);
    int header = snprintf(table, sizeof table,
                          "\x93NUMPY\x01%c\x46%c{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 1)}", 0, 0, SAMPLES);
    while (header < 79)
        table[header++] = ' ';
    table[header++] = '\n';
    for (int i = 0; i < SAMPLES; i++)
        table[header++] = (char)i;
    assert_int_equal(put_bytes("f.npy", table, (size_t)header), 0);
}

static void write_files(void)
{
    static const struct {
        const char *path, *text;
    } files[] = {
        {"tasks.txt", "c0, c1\nc2, c3\n"},
        {"classes.txt", "c3\nc2\nc1\nc0\n"},
        {"groups.txt", "majority: c0, c1\nminority: c2, c3\n"},
        {"p", ""},
        {"l/multihot_map.json", "{\"c0\":0,\"c1\":1}"},
        {"l/ids/train_task0_id_x.json", "[0,2,4]"},
        {"l/ids/test_task0_id_x.json", "[6]"},
        {"l/major_cats.json", "[\"c0\"]"},
        {"l/moderate_cats.json", "[]"},
        {"l/minor_cats.json", "[\"c1\"]"},
        {"d/ImageList/Imagelist.txt", "a\\1_11.jpg\na\\2_12.jpg\n"},
        {"d/Groundtruth/AllLabels/Labels_sky.txt", "1\n0\n"},
        {"a.json", "{\"images\":[{\"id\":1}],\"categories\":[{\"id\":5,\"name\":\"cat\"}],"
                   "\"annotations\":[{\"image_id\":1,\"category_id\":5}]}"},
        {"b.json", "{\"images\":[{\"id\":2}],\"categories\":[],\"annotations\":[]}"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(put_text(files[i].path, files[i].text), 0);
    write_records();
}

static const ocdm__build_settings builds[] = {
    {.recipe = OCDM__RECIPE_PAPER, .tasks = "tasks.txt", .test_per_class = 2, .features = "f.npy", .standardize = OCDM__BY_ALL},
    {.recipe = OCDM__RECIPE_PAPER, .clusters = 2, .test_per_class = 2, .test_from_rest = true, .image_root = "."},
    {.recipe = OCDM__RECIPE_SPLIT, .tasks = "tasks.txt", .test_share = 0.5, .classes = "classes.txt", .groups = "groups.txt"},
    {.recipe = OCDM__RECIPE_SPLIT, .tasks_by = "by", .test_share = 0.5, .bounded_groups = true, .bounds = {9, 3}},
    {.recipe = OCDM__RECIPE_IDS, .ids = "l"},
    {.kind = OCDM__FROM_NUSWIDE, .sources = nuswide},
    {.kind = OCDM__FROM_COCO, .sources = coco, .test_source = "b.json"},
};

static ocdm_status build(size_t number, ocdm_error *error)
{
    ocdm__build_settings settings = builds[number];
    ocdm__reading reading = {.skip_bad = false};
    ocdm__build_report report;
    if (settings.sources == NULL)
        settings.sources = records;
    settings.source_count = 1;
    settings.feature_type = OCDM__F32;
    settings.command = "test";
    settings.output = OUTPUT;
    return ocdm__stream_build(&settings, &reading, &report, error);
}

static void assert_no_memory(const char *what, unsigned long n, ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_NO_MEMORY || error->status != OCDM_NO_MEMORY)
        fail_msg("%s, allocation %lu: %d, %s", what, n, (int)status, error->message);
}

TEST(build_fails_cleanly_at_every_allocation)
{
    write_files();
    int before = count_files(0);
    for (size_t number = 0; number < sizeof builds / sizeof *builds; number++)
        for (unsigned long n = 1;; n++) {
            char what[32];
            ocdm_error error = {.status = OCDM_OK};
            snprintf(what, sizeof what, "build %zu", number);
            fault_at(FAULT_ALLOCATE, n, ENOMEM, n % 2 == 0);
            ocdm_status status = build(number, &error);
            fault_off();
            if (status == OCDM_OK) {
                assert_true(n > 30);
                assert_int_equal(remove(OUTPUT), 0);
                break;
            }
            assert_no_memory(what, n, status, &error);
            assert_int_equal(count_files(0), before);
        }
}

/* Open, close; the tasks of the list's own classes. */
static ocdm_status use_list(ocdm_error *error)
{
    static const char text[] = "a, b\nc\n";
    uint32_t tasks[3];
    ocdm__task_list list = {.task_count = 0}, other = {.task_count = 0};
    ocdm_status status = ocdm__task_list_open(&list, "coco44", error);
    if (status == OCDM_OK)
        status = ocdm__task_list_parse(&other, "t", text, sizeof text - 1, error);
    if (status == OCDM_OK) {
        ocdm__label_table classes = other.classes;
        ocdm__task_list again = {.task_count = 0};
        status = ocdm__task_list_parse(&again, "t", text, sizeof text - 1, error);
        if (status == OCDM_OK)
            status = ocdm__task_list_apply(&again, &classes, tasks, error);
        ocdm__task_list_clear(&again);
    }
    ocdm__task_list_clear(&list);
    ocdm__task_list_clear(&other);
    return status;
}

static ocdm_status make_scenes(ocdm_error *error)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__scenes *scenes = NULL;
    ocdm_status status = ocdm__scenes_create(0, &scenes, error);
    OCDM_THEN(status, ocdm__scenes_label(scenes, &set, error));
    ocdm__scenes_destroy(scenes);
    ocdm__labelled_set_clear(&set);
    return status;
}

static void assert_fails_cleanly(const char *what, ocdm_status (*use)(ocdm_error *))
{
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {.status = OCDM_OK};
        fault_at(FAULT_ALLOCATE, n, ENOMEM, false);
        ocdm_status status = use(&error);
        fault_off();
        if (status == OCDM_OK) {
            assert_true(n > 5);
            return;
        }
        assert_no_memory(what, n, status, &error);
    }
}

TEST(task_lists_fail_cleanly_at_every_allocation)
{
    assert_fails_cleanly("lists", use_list);
}

TEST(scenes_fail_cleanly_at_every_allocation)
{
    assert_fails_cleanly("scenes", make_scenes);
}

static int leave_tree(void **state)
{
    return clear_tree(state) == 0 ? leave_folder(state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_fails_cleanly_at_every_allocation),
        cmocka_unit_test(task_lists_fail_cleanly_at_every_allocation),
        cmocka_unit_test(scenes_fail_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_tree);
}
