/*
 * Fuzzing id lists and class groups over real files. The first byte says whether the samples have rows; the rest, split at
 * bytes 0x1E, is the class map, a training and a test list, PRS's three group files and a user's group file. What is chosen
 * must be what the lists name, each sample once, with and without skip_bad.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../nested_files.h"
#include "base/allocate.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"

#define PIECES 7
#define SAMPLES 40

static const char *const names[PIECES] = {"d/multihot_map.json",
                                          "d/ids/train_task0_id_.json",
                                          "d/ids/test_task0_id_.json",
                                          "d/groups/major_cats.json",
                                          "d/groups/moderate_cats.json",
                                          "d/groups/minor_cats.json",
                                          "groups.txt"};

static void leave(void)
{
    remove_tree(scratch_folder);
}

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* Samples 0 to 39 with the classes a, b and c; half of each part, their rows the numbers from 0 on. */
static ocdm__labelled_set make_source(bool rows)
{
    ocdm__labelled_set set = {.count = 0};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        char id[32] = {0}, class_name[OCDM__LABEL_PADDING] = {(char)('a' + i % 3)};
        uint32_t label;
        snprintf(id, sizeof id, "%u", i);
        check(ocdm__label_table_add(&set.classes, class_name, 1, &label, NULL) == OCDM_OK, "no class");
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        sample.id = id, sample.id_length = strlen(id), sample.labels = &label, sample.label_count = 1;
        if (rows)
            sample.part = i % 2 ? OCDM__TEST : OCDM__TRAIN, sample.row = i / 2;
        check(ocdm__labelled_set_add(&set, &sample, NULL) == OCDM_OK, "no sample");
    }
    return set;
}

/* No sample twice, and each in its turn one that a list of its part names. */
static void check_choices(const ocdm__id_lists *lists, const ocdm__selection *chosen, bool rows)
{
    bool seen[SAMPLES] = {false};
    size_t at = 0;
    for (size_t i = 0; i < chosen->count; i++) {
        uint32_t sample = chosen->chosen[i].sample;
        check(sample < SAMPLES && !seen[sample], "a sample twice");
        seen[sample] = true;
        for (;; at++) {
            check(at < lists->id_count, "a sample that no list names");
            const ocdm__listed_id *id = &lists->ids[at];
            if (lists->lists[id->list].part != chosen->chosen[i].part || id->length > 30 || id->length == 0)
                continue;
            char text[32] = {0}, *end;
            memcpy(text, lists->text + id->text_at, id->length);
            unsigned long long number = strtoull(text, &end, 10);
            if (rows ? sample == 2 * number + (sample % 2) && sample % 2 == chosen->chosen[i].part
                     : sample == number && *end == '\0')
                break;
        }
        at++;
    }
}

static void choose(const ocdm__id_lists *lists, bool rows)
{
    ocdm__labelled_set set = make_source(rows);
    ocdm__selection strict = {.count = 0}, lenient = {.count = 0};
    ocdm__reading without = {.skip_bad = false}, with = {.skip_bad = true};
    uint8_t *groups = NULL;
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status strict_status = ocdm__id_lists_choose(lists, &set, &without, &strict, &groups, &error);
    check(strict_status == OCDM_OK || strncmp(error.message, "d/", 2) == 0, "an error without its place");
    ocdm__release(groups);
    groups = NULL;
    ocdm_status lenient_status = ocdm__id_lists_choose(lists, &set, &with, &lenient, &groups, &error);
    if (lenient_status == OCDM_OK)
        check_choices(lists, &lenient, rows);
    if (strict_status == OCDM_OK) {
        check_choices(lists, &strict, rows);
        check(lenient_status == OCDM_OK && with.skip_count == 0 && lenient.count == lists->id_count, "skips what is good");
    }
    ocdm__release(groups);
    ocdm__selection_clear(&strict);
    ocdm__selection_clear(&lenient);
    ocdm__labelled_set_clear(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (scratch_folder[0] == '\0' && (enter_folder(NULL) != 0 || atexit(leave) != 0))
        abort();
    if (size == 0 || size > 16384)
        return 0;
    remove_tree("d");
    remove("groups.txt");
    check(put_pieces(names, PIECES, data + 1, size - 1) == 0, "no room for the files");
    ocdm__id_lists lists;
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = ocdm__id_lists_read(&lists, "d", false, &error);
    check(status == OCDM_OK || strncmp(error.message, "d/", 2) == 0, "an error without its place");
    if (status == OCDM_OK) {
        choose(&lists, data[0] % 2);
        for (uint32_t i = 0; lists.groups != NULL && i < lists.classes.count; i++)
            check(lists.groups[i] <= OCDM__MINORITY, "a class without a group");
        uint8_t groups[16384];
        status = ocdm__class_groups_file_read("groups.txt", &lists.classes, groups, NULL, &error);
        for (uint32_t i = 0; status == OCDM_OK && i < lists.classes.count; i++)
            check(groups[i] <= OCDM__MINORITY, "a class without a group");
        check(status == OCDM_OK || strncmp(error.message, "groups.txt:", 11) == 0, "an error without its place");
        ocdm__id_lists_clear(&lists);
    }
    return 0;
}
