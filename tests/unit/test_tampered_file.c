/* Files with a right checksum and wrong contents: every check of memory_file.c, and of the policies, has a case here. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <math.h>

#include "base/bytes.h"
#include "base/safetensors.h"

/* ---- a file to be tampered with --------------------------------------------------------------------------------------- */

enum { COUNTERS, RHO, IDS, ARRIVALS, STARTS, SEEN, LABELS, CLASSES, IN_PLAY, POLICY_STATE, TENSORS };
enum { FORMAT, VERSION, POLICY, DISTANCE, TIE, NOTES };

/* The numbers in `counters`, by docs/memory-format.md. */
enum counter { COUNTER_CAPACITY, COUNTER_BATCH, COUNTER_SEED, COUNTER_ARRIVED, COUNTER_DEPARTED, COUNTER_DRAWS, COUNTER_STEP };

static const char *const tensor_names[TENSORS] = {"counters", "rho",    "ids",     "arrivals", "label_starts",
                                                  "seen",     "labels", "classes", "in_play",  "policy_state"};
static const char *const note_names[NOTES] = {"format", "version", "policy", "distance", "tie"};

#define DATA_ROOM ((size_t)(OCDM_MAX_LABELS + 16) * 4)

/* The parts of a memory's file. The data is a copy, so that it can be changed. */
static struct {
    struct ocdm__tensor tensor[TENSORS + 1];
    unsigned char data[TENSORS][DATA_ROOM];
    struct ocdm__note note[NOTES];
    char value[NOTES][64];
} image;

static void take_apart(const char *path)
{
    size_t size;
    unsigned char *bytes = read_whole(path, &size);
    assert_non_null(bytes);
    struct ocdm__safetensors file;
    assert_int_equal(ocdm__safetensors_read(&file, path, bytes, size, NULL), OCDM_OK);
    for (size_t i = 0; i < TENSORS; i++) {
        const struct ocdm__tensor *found = ocdm__safetensors_find(&file, tensor_names[i]);
        assert_non_null(found);
        image.tensor[i] = *found;
        image.tensor[i].name = tensor_names[i];
        image.tensor[i].data = image.data[i];
        memcpy(image.data[i], found->data, found->size);
    }
    for (size_t i = 0; i < NOTES; i++) {
        const struct ocdm__note *found = ocdm__safetensors_note(&file, note_names[i]);
        assert_non_null(found);
        snprintf(image.value[i], sizeof image.value[i], "%.*s", (int)found->value_length, found->value);
        image.note[i] = (struct ocdm__note){.key = note_names[i], .value = image.value[i]};
    }
    ocdm__safetensors_close(&file);
    free(bytes);
}

static void put_together(const char *path)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    size_t count = image.tensor[TENSORS].data != NULL ? TENSORS + 1 : TENSORS;
    assert_int_equal(ocdm__safetensors_write(&output, image.note, NOTES, image.tensor, count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
}

static void save_small_memory(const char *policy)
{
    ocdm_memory *memory = small_memory(policy);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
    take_apart("memory");
}

static void set_number(int tensor, size_t index, uint64_t x)
{
    ocdm__put_u64(image.data[tensor] + 8 * index, x);
}

static void set_small_number(int tensor, size_t index, uint32_t x)
{
    ocdm__put_u32(image.data[tensor] + 4 * index, x);
}

static void set_length(int tensor, uint64_t length)
{
    image.tensor[tensor].shape[0] = length;
    image.tensor[tensor].size = (size_t)length * ocdm__dtype_size(image.tensor[tensor].dtype);
}

/* What is in the image cannot be loaded: for the reason that the message tells, and with nothing written. */
static void refused_as(ocdm_status expected, const char *reason)
{
    ocdm_memory *memory = NULL;
    ocdm_error error = {0};
    put_together("tampered");
    ocdm_status status = ocdm_memory_load("tampered", NULL, NULL, &memory, &error);
    HOLDS(reason, status == expected && error.status == expected && !memory);
    HOLDS(error.message, strstr(error.message, reason));
    if (expected == OCDM_BAD_FILE && error.hint[0])
        HOLDS(reason, strstr(error.message, "tampered"));
}

static void refused(const char *reason)
{
    refused_as(OCDM_BAD_FILE, reason);
    save_small_memory("ocdm");
}

TEST(image_is_accepted_when_nothing_is_changed)
{
    for (size_t p = 0; ocdm_policy_at(p); p++) {
        save_small_memory(ocdm_policy_at(p)->name);
        put_together("tampered");
        ocdm_memory *memory = small_memory(ocdm_policy_at(p)->name), *loaded = NULL;
        assert_int_equal(ocdm_memory_load("tampered", NULL, NULL, &loaded, NULL), OCDM_OK);
        same_memory(memory, loaded, ocdm_policy_at(p)->name);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(loaded);
    }
}

/* ---- structure -------------------------------------------------------------------------------------------------------- */

TEST(tensors_must_be_there_and_of_their_type)
{
    for (int i = 0; i < TENSORS; i++) {
        char reason[64];
        save_small_memory("cbes");
        image.tensor[i].name = "another";
        snprintf(reason, sizeof reason, "tensor %s is missing", tensor_names[i]);
        refused_as(OCDM_BAD_FILE, reason);
        save_small_memory("cbes");
        static const enum ocdm__dtype of_equal_size[] = {OCDM__I8,  OCDM__U8,   OCDM__I32, OCDM__U32, OCDM__I64,
                                                         OCDM__U64, OCDM__BF16, OCDM__F16, OCDM__I32, OCDM__I64};
        image.tensor[i].dtype = of_equal_size[image.tensor[i].dtype];
        snprintf(reason, sizeof reason, "tensor %s is of the wrong type", tensor_names[i]);
        refused_as(OCDM_BAD_FILE, reason);
        save_small_memory("cbes");
        image.tensor[i].rank = 2;
        image.tensor[i].shape[1] = 1;
        refused_as(OCDM_BAD_FILE, reason);
    }
}

TEST(tensors_must_have_lengths_that_go_together)
{
    const int checked[] = {COUNTERS, RHO, IDS, ARRIVALS, STARTS, SEEN, CLASSES, IN_PLAY};
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        save_small_memory("ocdm");
        uint64_t length = image.tensor[checked[i]].shape[0];
        set_length(checked[i], length - 1);
        refused("lengths that go together");
        set_length(checked[i], length + 1);
        refused("lengths that go together");
    }
    set_length(IDS, 0);
    set_length(ARRIVALS, 0);
    set_length(STARTS, 0);
    refused("lengths that go together");
}

TEST(notes_must_name_what_the_library_knows)
{
    save_small_memory("ocdm");
    image.note[FORMAT].value = "ocdm-memory2";
    refused("not a memory that ocdm_memory_save wrote");
    image.note[FORMAT].key = "other";
    refused("not a memory that ocdm_memory_save wrote");
    image.note[VERSION].value = "5";
    refused("a version that this library does not read");
    image.note[VERSION].value = "3";
    refused("tensor tolerance is missing");
    image.note[VERSION].key = "other";
    refused("a version that this library does not read");
    image.note[DISTANCE].value = "k";
    refused("distance or tie rule");
    image.note[DISTANCE].key = "other";
    refused("distance or tie rule");
    image.note[TIE].value = "keys";
    refused("distance or tie rule");
    image.note[POLICY].value = "no such policy";
    refused_as(OCDM_UNKNOWN_NAME, "no policy no such policy");
    image.note[POLICY].key = "other";
    refused_as(OCDM_UNKNOWN_NAME, "no policy");
}

/* It may be as long as the header of a file. */
TEST(message_quotes_64_bytes_of_the_name_of_a_policy)
{
    save_small_memory("ocdm");
    char name[80];
    snprintf(name, sizeof name, "%064d!", 0);
    image.note[POLICY].value = name;
    refused_as(OCDM_UNKNOWN_NAME, "no policy 0");
    ocdm_memory *memory = NULL;
    ocdm_error error = {0};
    assert_int_equal(ocdm_memory_load("tampered", NULL, NULL, &memory, &error), OCDM_UNKNOWN_NAME);
    assert_int_equal(strspn(strstr(error.message, "no policy ") + strlen("no policy "), "0!"), 64);
}

TEST(counters_must_be_numbers_that_somebody_may_count_to)
{
    const size_t counted[] = {COUNTER_ARRIVED, COUNTER_DRAWS, COUNTER_STEP};
    save_small_memory("ocdm");
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        set_number(COUNTERS, counted[i], (uint64_t)1 << 63);
        refused("one of its counters is beyond 2^63");
    }
}

TEST(checksum_must_be_there)
{
    save_small_memory("ocdm");
    size_t size;
    unsigned char *bytes = read_whole("memory", &size);
    assert_non_null(bytes);
    assert_memory_equal(bytes + 8, "{\"__metadata__\":{\"checksum\"", 26);
    bytes[8 + 25] = '?';
    assert_int_equal(bytes[8 + 26], '"');
    ocdm_memory *memory = NULL;
    ocdm_error error = {0};
    assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &memory, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "no checksum"));
    free(bytes);
}

/* ---- contents --------------------------------------------------------------------------------------------------------- */

TEST(options_must_be_in_range)
{
    save_small_memory("ocdm");
    const struct {
        enum counter counter;
        uint64_t value;
    } bad[] = {{COUNTER_CAPACITY, 0},
               {COUNTER_CAPACITY, (uint64_t)OCDM_MAX_CAPACITY + 1},
               {COUNTER_BATCH, 0},
               {COUNTER_BATCH, (uint64_t)UINT32_MAX + 1}};
    for (size_t i = 0; i < 4; i++) {
        set_number(COUNTERS, bad[i].counter, bad[i].value);
        refused("capacity or batch is out of range");
    }
    const double rhos[] = {NAN, INFINITY, 16.5, -17};
    for (size_t i = 0; i < 4; i++) {
        ocdm__put_double(image.data[RHO], rhos[i]);
        refused("rho is out of range");
    }
}

TEST(tolerance_must_be_one_number_in_range)
{
    static unsigned char bytes[16];
    const double good[] = {0.25, OCDM_MAX_TOLERANCE}, bad[] = {NAN, INFINITY, -0.5, 2 * OCDM_MAX_TOLERANCE};
    save_small_memory("ocdm");
    image.tensor[TENSORS] = ocdm__tensor_of("tolerance", OCDM__F64, bytes, 1);
    image.note[VERSION].value = "3";
    for (size_t i = 0; i < 2; i++) {
        ocdm__put_double(bytes, good[i]);
        put_together("tampered");
        ocdm_memory *memory = NULL;
        assert_int_equal(ocdm_memory_load("tampered", NULL, NULL, &memory, NULL), OCDM_OK);
        assert_true(ocdm_memory_options(memory)->tolerance == good[i]);
        ocdm_memory_destroy(memory);
    }
    for (size_t i = 0; i < 4; i++) {
        ocdm__put_double(bytes, bad[i]);
        image.note[VERSION].value = "3";
        refused("tolerance is out of range");
    }
    image.tensor[TENSORS] = ocdm__tensor_of("tolerance", OCDM__F64, bytes, 2);
    image.note[VERSION].value = "3";
    refused("lengths that go together");
    image.tensor[TENSORS] = (struct ocdm__tensor){.data = NULL};
}

/* A small file must not make the library ask for the 100 GB that a batch of 2^32 - 1 would need. */
TEST(largest_capacity_and_batch_are_taken_and_reserve_room_for_a_million)
{
    const char *const policies[] = {"ocdm", "gss"};
    for (size_t i = 0; i < 2; i++) {
        save_small_memory(policies[i]);
        set_number(COUNTERS, COUNTER_CAPACITY, OCDM_MAX_CAPACITY);
        set_number(COUNTERS, COUNTER_BATCH, UINT32_MAX);
        put_together("tampered");
        ocdm_memory *memory = NULL;
        assert_int_equal(ocdm_memory_load("tampered", NULL, NULL, &memory, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_options(memory)->capacity, OCDM_MAX_CAPACITY);
        assert_int_equal(ocdm_memory_options(memory)->batch, UINT32_MAX);
        ocdm_memory_destroy(memory);
    }
}

TEST(counters_must_fit_the_samples)
{
    const char *reason = "does not fit its counters";
    save_small_memory("ocdm");
    set_number(COUNTERS, COUNTER_CAPACITY, 2);
    refused(reason);
    set_number(COUNTERS, COUNTER_ARRIVED, 2);
    refused(reason);
    set_number(COUNTERS, COUNTER_ARRIVED, 4);
    refused(reason);
    set_number(COUNTERS, COUNTER_DEPARTED, 1);
    refused(reason);
    set_number(COUNTERS, COUNTER_DEPARTED, UINT64_MAX);
    refused(reason);
}

TEST(samples_must_not_contradict_each_other)
{
    save_small_memory("ocdm");
    set_number(ARRIVALS, 1, 3);
    refused("arrived later than the last");
    set_number(ARRIVALS, 1, 0);
    refused("one arrival number");
    set_number(IDS, 1, 10);
    refused("an id comes twice");
    set_number(STARTS, 1, 4);
    refused("label_starts does not ascend");
    set_number(STARTS, 1, UINT64_MAX);
    refused("label_starts does not ascend");
    set_number(STARTS, 2, 0);
    refused("label_starts does not ascend");
    set_number(STARTS, 0, 1);
    refused("label_starts does not cover");
    set_number(STARTS, 2, 2);
    set_number(STARTS, 3, 2);
    refused("label_starts does not cover");
    set_small_number(LABELS, 2, 1);
    refused("labels do not ascend");
    set_small_number(LABELS, 1, 2);
    set_small_number(LABELS, 2, 1);
    refused("labels do not ascend");
    set_small_number(LABELS, 2, 9);
    refused("a class that the file does not list");
}

TEST(sample_must_not_have_too_many_labels)
{
    for (uint32_t labels = OCDM_MAX_LABELS; labels <= OCDM_MAX_LABELS + 1; labels++) {
        save_small_memory("ocdm");
        for (uint32_t i = 0; i < labels; i++)
            set_small_number(LABELS, i, i);
        set_length(LABELS, labels);
        set_number(STARTS, 1, labels);
        set_number(STARTS, 2, labels);
        set_number(STARTS, 3, labels);
        refused(labels == OCDM_MAX_LABELS ? "a class that the file does not list" : "label_starts does not ascend");
    }
}

TEST(classes_must_not_contradict_the_samples)
{
    save_small_memory("ocdm");
    set_number(SEEN, 0, 0);
    refused("seen never");
    set_number(SEEN, 0, 4);
    refused("more often than samples arrived");
    image.data[IN_PLAY][0] = 2;
    refused("a class was seen");
    set_small_number(CLASSES, 1, 1);
    refused("a class comes twice");
    set_number(SEEN, 0, 1);
    refused("counts of a class contradict");
    image.data[IN_PLAY][1] = 0;
    refused("counts of a class contradict");
    set_number(COUNTERS, COUNTER_STEP, 0);
    refused("counts of a class contradict");
}

/* ---- policies --------------------------------------------------------------------------------------------------------- */

TEST(state_must_be_one_that_the_policy_takes)
{
    static const char *const stateless[] = {"ocdm", "onlyone", "rs", "max", "random"};
    for (size_t i = 0; i < 5; i++) {
        save_small_memory(stateless[i]);
        set_length(POLICY_STATE, 1);
        refused_as(OCDM_BAD_FILE, "a state that its policy does not take");
    }
    static const char *const by_class[] = {"cbes", "cbrs"};
    for (size_t i = 0; i < 2; i++) {
        save_small_memory(by_class[i]);
        uint64_t length = image.tensor[POLICY_STATE].shape[0];
        set_length(POLICY_STATE, length + 1);
        refused_as(OCDM_BAD_FILE, "not one a class");
        set_length(POLICY_STATE, length - 1);
        refused_as(OCDM_BAD_FILE, "not one a class");
        set_length(POLICY_STATE, length);
        image.data[POLICY_STATE][length - 1] = 2;
        refused_as(OCDM_BAD_FILE, "not 0 or 1");
    }
}

TEST(state_of_prs_must_be_shares)
{
    save_small_memory("prs");
    assert_int_equal(image.tensor[POLICY_STATE].shape[0], 16);
    set_length(POLICY_STATE, 15);
    refused_as(OCDM_BAD_FILE, "not eight a class");
    set_length(POLICY_STATE, 24);
    refused_as(OCDM_BAD_FILE, "not eight a class");
    set_length(POLICY_STATE, 16);
    const double bad[] = {1.5, -0.5, NAN, INFINITY, -1}; /* -1: no share, but a sample */
    for (size_t i = 0; i < 5; i++) {
        ocdm__put_double(image.data[POLICY_STATE] + 8, bad[i]);
        refused_as(OCDM_BAD_FILE, "share of class number 1");
    }
}

/* The scores 0.1, then two that are compared with: whole multiples of 2^-32 from 0 to 2. */
TEST(state_of_gss_must_be_scores)
{
    save_small_memory("gss");
    assert_int_equal(image.tensor[POLICY_STATE].shape[0], 24);
    set_length(POLICY_STATE, 23);
    refused_as(OCDM_BAD_FILE, "not eight a sample");
    set_length(POLICY_STATE, 32);
    refused_as(OCDM_BAD_FILE, "not eight a sample");
    set_length(POLICY_STATE, 24);
    const double bad[] = {2.5, 2 + 0x1p-32, -0x1p-32, 1 + 0x1p-33, 0x1p-40, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ocdm__put_double(image.data[POLICY_STATE] + 16, bad[i]);
        refused_as(OCDM_BAD_FILE, "score of slot 2");
    }
    const double good[] = {0, 2, 1, 0x1p-32, 2 - 0x1p-32};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ocdm_memory *memory = NULL;
        ocdm__put_double(image.data[POLICY_STATE] + 16, good[i]);
        put_together("tampered");
        assert_int_equal(ocdm_memory_load("tampered", NULL, NULL, &memory, NULL), OCDM_OK);
        ocdm_memory_destroy(memory);
    }
}

/* The state of bat-ocdm is a memory for each task, which must have the samples of the memory and no others. */
TEST(state_of_bat_ocdm_must_be_its_samples)
{
    static const char other_samples[] = "the tasks of bat-ocdm have other samples than its memory";
    save_small_memory("bat-ocdm");
    uint64_t length = image.tensor[POLICY_STATE].shape[0];
    unsigned char *bytes = image.data[POLICY_STATE];
    set_length(POLICY_STATE, length - 1);
    refused_as(OCDM_BAD_FILE, "the tasks of bat-ocdm end too early");
    set_length(POLICY_STATE, 7);
    refused_as(OCDM_BAD_FILE, "the tasks of bat-ocdm end too early");
    set_length(POLICY_STATE, 0);
    refused_as(OCDM_BAD_FILE, other_samples);
    set_length(POLICY_STATE, 8);
    ocdm__put_u64(bytes, UINT64_MAX);
    refused_as(OCDM_BAD_FILE, "the tasks of bat-ocdm end too early");
    ocdm__put_u64(bytes, 0);
    refused_as(OCDM_BAD_FILE, "");
    save_small_memory("bat-ocdm");
    memmove(bytes + length, bytes, length);
    set_length(POLICY_STATE, 2 * length); /* each sample twice */
    refused_as(OCDM_BAD_FILE, "the tasks of bat-ocdm have other capacities than its memory");
    static const char *const others[] = {"rs", "onlyone", "bat-ocdm"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) { /* a task's memory under another policy */
        size_t size;
        ocdm_memory *other = small_memory(others[i]);
        save_small_memory("bat-ocdm");
        assert_int_equal(ocdm_memory_save_bytes(other, NULL, 0, &size, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_save_bytes(other, bytes + 8, size, &size, NULL), OCDM_OK);
        ocdm__put_u64(bytes, size);
        set_length(POLICY_STATE, 8 + size);
        refused_as(OCDM_BAD_FILE, "");
        ocdm_memory_destroy(other);
    }
    save_small_memory("bat-ocdm");
    set_number(COUNTERS, COUNTER_CAPACITY, 5);
    refused_as(OCDM_BAD_FILE, "the tasks of bat-ocdm have other capacities than its memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_is_accepted_when_nothing_is_changed),
        cmocka_unit_test(tensors_must_be_there_and_of_their_type),
        cmocka_unit_test(tensors_must_have_lengths_that_go_together),
        cmocka_unit_test(notes_must_name_what_the_library_knows),
        cmocka_unit_test(message_quotes_64_bytes_of_the_name_of_a_policy),
        cmocka_unit_test(counters_must_be_numbers_that_somebody_may_count_to),
        cmocka_unit_test(checksum_must_be_there),
        cmocka_unit_test(options_must_be_in_range),
        cmocka_unit_test(tolerance_must_be_one_number_in_range),
        cmocka_unit_test(largest_capacity_and_batch_are_taken_and_reserve_room_for_a_million),
        cmocka_unit_test(counters_must_fit_the_samples),
        cmocka_unit_test(samples_must_not_contradict_each_other),
        cmocka_unit_test(sample_must_not_have_too_many_labels),
        cmocka_unit_test(classes_must_not_contradict_the_samples),
        cmocka_unit_test(state_must_be_one_that_the_policy_takes),
        cmocka_unit_test(state_of_prs_must_be_shares),
        cmocka_unit_test(state_of_gss_must_be_scores),
        cmocka_unit_test(state_of_bat_ocdm_must_be_its_samples),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
