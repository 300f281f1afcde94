/*
 * Fuzzing the NUS-WIDE reader over real files. The first byte picks the variant; the rest, split at bytes 0x1E, is the image
 * list, two label files and the lists of the parts. Each folder is read twice: what is read without a complaint must be the
 * same with skip_bad, and nothing skipped; what is skipped must not change what the other images are.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../nested_files.h"
#include "stream/readers/readers.h"

#define PIECES 6

static void leave(void)
{
    remove_tree(scratch_folder);
}

/* The files of a variant; the pieces go to them in this order. */
static const char *const all_names[PIECES] = {"d/Imagelist.txt", "d/Labels_a.txt",       "d/Labels_b.txt",
                                              "d/Labels_c.txt",  "d/TrainImagelist.txt", "d/TestImagelist.txt"};
static const char *const split_names[PIECES] = {"d/TrainImagelist.txt", "d/Labels_a_Train.txt", "d/Labels_a_Test.txt",
                                                "d/TestImagelist.txt",  "d/Labels_b_Train.txt", "d/Labels_b_Test.txt"};

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_set(const ocdm__labelled_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        check(set->path_numbers[i] < set->paths.count, "a sample without a path");
        check((set->parts[i] == OCDM__NO_PART) == (set->rows[i] == OCDM__NO_ROW), "a row without a part");
        for (uint64_t k = set->label_starts[i]; k < set->label_starts[i + 1]; k++)
            check(set->labels[k] < set->classes.count, "a label that is no class");
    }
}

static void check_same(const ocdm__labelled_set *a, const ocdm__labelled_set *b)
{
    check(a->count == b->count, "skip_bad changes the number of samples");
    check(a->ids.used == b->ids.used && memcmp(a->ids.bytes, b->ids.bytes, a->ids.used) == 0, "skip_bad changes ids");
    for (size_t i = 0; i < a->count; i++)
        check(a->label_starts[i + 1] == b->label_starts[i + 1] && a->rows[i] == b->rows[i] && a->parts[i] == b->parts[i],
              "skip_bad changes a sample");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (scratch_folder[0] == '\0' && (enter_folder(NULL) != 0 || atexit(leave) != 0))
        abort();
    if (size == 0 || size > 16384)
        return 0;
    remove_tree("d");
    check(put_pieces(data[0] % 2 ? split_names : all_names, PIECES, data + 1, size - 1) == 0, "no room for the files");
    ocdm__labelled_set strict_set = {.count = 0}, lenient_set = {.count = 0};
    ocdm__reading strict = {.skip_bad = false}, lenient = {.skip_bad = true};
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status strict_status = ocdm__nuswide_read(&strict_set, "d", &strict, &error);
    check(strict_status == OCDM_OK || strncmp(error.message, "d", 1) == 0, "an error that does not start with its place");
    ocdm_status lenient_status = ocdm__nuswide_read(&lenient_set, "d", &lenient, &error);
    if (lenient_status == OCDM_OK)
        check_set(&lenient_set);
    if (strict_status == OCDM_OK) {
        check(lenient_status == OCDM_OK && lenient.skip_count == 0, "skip_bad skips what is good");
        check_same(&strict_set, &lenient_set);
    }
    ocdm__labelled_set_clear(&strict_set);
    ocdm__labelled_set_clear(&lenient_set);
    return 0;
}
