/* The file of a memory: damage is found, policies are matched, and a failed save leaves the old file alone. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <signal.h>
#include <sys/resource.h>

static void save_small_memory(const char *policy)
{
    ocdm_memory *memory = small_memory(policy);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
}

/* ---- policies --------------------------------------------------------------------------------------------------------- */

#define SIZED .size = sizeof(ocdm_policy)

static ocdm_status first_slot(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)memory, (void)error;
    *slot = 0;
    return OCDM_OK;
}

static ocdm_status save_one_byte(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                 ocdm_error *error)
{
    (void)state, (void)memory, (void)error;
    if (room > 0)
        bytes[0] = 42;
    *size = 1;
    return OCDM_OK;
}

/* What the save function of a policy returns at its first call, and at its second. */
static size_t answered_sizes[2];
static ocdm_status answered_status[2];

static ocdm_status save_as_told(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                ocdm_error *error)
{
    (void)state, (void)memory, (void)error;
    size_t turn = bytes != NULL;
    for (size_t i = 0; i < room && i < answered_sizes[1]; i++)
        bytes[i] = 1;
    *size = answered_sizes[turn];
    return answered_status[turn];
}

static ocdm_status load_never(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size,
                              ocdm_error *error)
{
    (void)state;
    (void)error;
    assert_int_equal(size, 1);
    assert_int_equal(bytes[0], 42);
    assert_int_equal(ocdm_memory_size(memory), 1);
    return OCDM_LIMIT;
}

static ocdm_status save_and_load(const ocdm_policy *policy, const ocdm_policy *given, ocdm_memory **loaded)
{
    ocdm_options options = options_for("ocdm", 2);
    options.policy = policy;
    ocdm_memory *memory = created(&options);
    offered_one(memory, 1, 1, 0, 0);
    assert_int_equal(ocdm_memory_save(memory, "own", NULL), OCDM_OK);
    ocdm_status status = ocdm_memory_load("own", given, NULL, loaded, NULL);
    if (status == OCDM_OK)
        same_memory(memory, *loaded, policy->name);
    ocdm_memory_destroy(memory);
    return status;
}

TEST(own_policy_must_be_given_and_must_accept)
{
    const ocdm_policy mine = {SIZED, .name = "mine", .remove = first_slot};
    const ocdm_policy other = {SIZED, .name = "other", .remove = first_slot};
    const ocdm_policy nameless = {SIZED, .remove = first_slot};
    const ocdm_policy neither = {SIZED, .name = "mine"};
    const ocdm_policy refusing = {SIZED, .name = "refusing", .remove = first_slot, .save = save_one_byte, .load = load_never};
    ocdm_memory *loaded = NULL;
    assert_int_equal(save_and_load(&mine, NULL, &loaded), OCDM_UNKNOWN_NAME);
    assert_int_equal(save_and_load(&mine, &other, &loaded), OCDM_BAD_ARGUMENT);
    assert_int_equal(save_and_load(&mine, &nameless, &loaded), OCDM_BAD_ARGUMENT);
    assert_int_equal(save_and_load(&mine, &neither, &loaded), OCDM_BAD_ARGUMENT);
    assert_int_equal(save_and_load(&refusing, &refusing, &loaded), OCDM_LIMIT);
    assert_int_equal(save_and_load(ocdm_policy_find("rs"), &mine, &loaded), OCDM_BAD_ARGUMENT);
    assert_null(loaded);
    assert_int_equal(save_and_load(&mine, &mine, &loaded), OCDM_OK);
    ocdm_memory_destroy(loaded);
}

/* Sizes that would wrap around when added to others, sizes that change between the two questions, and a save that fails. */
TEST(save_refuses_a_state_that_makes_no_sense)
{
    const struct {
        size_t sizes[2];
        ocdm_status statuses[2], expected;
    } cases[] = {
        {{(size_t)-1, 0}, {OCDM_OK, OCDM_OK}, OCDM_LIMIT},
        {{(size_t)-1 - 200, 0}, {OCDM_OK, OCDM_OK}, OCDM_LIMIT},
        {{SIZE_MAX / 2 + 1, 0}, {OCDM_OK, OCDM_OK}, OCDM_LIMIT},
        {{4, 5}, {OCDM_OK, OCDM_OK}, OCDM_BAD_ARGUMENT},
        {{4, 3}, {OCDM_OK, OCDM_OK}, OCDM_BAD_ARGUMENT},
        {{4, (size_t)-1}, {OCDM_OK, OCDM_OK}, OCDM_BAD_ARGUMENT},
        {{4, 4}, {OCDM_IO, OCDM_OK}, OCDM_IO},
        {{4, 4}, {OCDM_OK, OCDM_NO_MEMORY}, OCDM_NO_MEMORY},
        {{4, 4}, {OCDM_OK, OCDM_OK}, OCDM_OK},
        {{0, 0}, {OCDM_OK, OCDM_OK}, OCDM_OK},
    };
    const ocdm_policy told = {SIZED, .name = "told", .remove = first_slot, .save = save_as_told};
    ocdm_options options = options_for("ocdm", 2);
    options.policy = &told;
    ocdm_memory *memory = created(&options);
    offered_one(memory, 1, 1, 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm_error error = {.status = OCDM_OK};
        memcpy(answered_sizes, cases[i].sizes, sizeof answered_sizes);
        memcpy(answered_status, cases[i].statuses, sizeof answered_status);
        assert_int_equal(ocdm_memory_save(memory, "told", &error), cases[i].expected);
        assert_int_equal(error.status, cases[i].expected);
        assert_true(cases[i].expected == OCDM_OK || error.message[0] != '\0');
        assert_int_equal(remove("told") == 0, cases[i].expected == OCDM_OK);
    }
    ocdm_memory_destroy(memory);
}

/* Every printable character is legal in a policy's name, those that JSON escapes too. */
TEST(own_policy_may_have_any_printable_name)
{
    static const char *const names[] = {"!#$%&'()*+,-./:;<=>?@[]^_`{|}~ ", "\"quoted\"", "back\\slash", "\\\"", "a\\u0041"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ocdm_policy mine = {SIZED, .name = names[i], .remove = first_slot};
        ocdm_memory *loaded = NULL;
        HOLDS(names[i], save_and_load(&mine, &mine, &loaded) == OCDM_OK);
        ocdm_memory_destroy(loaded);
    }
}

/* ---- damage ----------------------------------------------------------------------------------------------------------- */

static ocdm_status parsing(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ocdm_memory *memory = NULL;
    ocdm_status status = ocdm_memory_load_bytes(exact, size, NULL, NULL, &memory, NULL);
    assert_true((status == OCDM_OK) == (memory != NULL));
    ocdm_memory_destroy(memory);
    free(exact);
    return status;
}

TEST(damage_of_any_byte_or_end_is_found)
{
    for (size_t p = 0; ocdm_policy_at(p); p++) {
        save_small_memory(ocdm_policy_at(p)->name);
        size_t size;
        unsigned char *bytes = read_whole("memory", &size);
        assert_non_null(bytes);
        assert_int_equal(parsing(bytes, size), OCDM_OK);
        for (size_t length = 0; length < size; length++)
            assert_int_equal(parsing(bytes, length), OCDM_BAD_FILE);
        for (size_t i = 0; i < size; i++)
            for (int bit = 0; bit < 8; bit++) {
                bytes[i] ^= (unsigned char)(1 << bit);
                assert_int_equal(parsing(bytes, size), OCDM_BAD_FILE);
                bytes[i] ^= (unsigned char)(1 << bit);
            }
        free(bytes);
    }
}

TEST(load_refuses_what_is_no_file_of_ours)
{
    ocdm_memory *memory = NULL;
    ocdm_error error;
    assert_int_equal(ocdm_memory_load(NULL, NULL, NULL, &memory, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_load("memory", NULL, NULL, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_load("not there", NULL, NULL, &memory, &error), OCDM_IO);
    assert_non_null(strstr(error.message, "not there"));
    assert_int_equal(ocdm_memory_load(".", NULL, NULL, &memory, &error), OCDM_IO);
    assert_int_equal(write_whole("text", (const unsigned char *)"", 0), 0);
    assert_int_equal(ocdm_memory_load("text", NULL, NULL, &memory, &error), OCDM_BAD_FILE);
    assert_int_equal(write_whole("text", (const unsigned char *)"hello, this is text", 19), 0);
    assert_int_equal(ocdm_memory_load("text", NULL, NULL, &memory, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "text"));
    assert_null(memory);
}

/* A file larger than what is read at a time. */
TEST(load_reads_a_large_file)
{
    enum { SAMPLES = 40000 };
    ocdm_options options = options_for("rs", SAMPLES);
    ocdm_memory *memory = created(&options), *loaded = NULL;
    for (uint64_t id = 0; id < SAMPLES; id++)
        offered_one(memory, id, 1 + (uint32_t)id % 7, 8, 0);
    assert_int_equal(ocdm_memory_save(memory, "large", NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_load("large", NULL, NULL, &loaded, NULL), OCDM_OK);
    same_memory(memory, loaded, "a large file");
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(loaded);
}

/* ---- saving ----------------------------------------------------------------------------------------------------------- */

TEST(save_tells_why_when_it_cannot_write)
{
    static char long_name[300];
    memset(long_name, 'x', sizeof long_name - 1);
    ocdm_memory *memory = small_memory("ocdm");
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    count_files(1);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    ocdm_error error;
    const char *const bad[] = {"missing folder/file", "memory/file", ".", "", "/dev/full", "/proc/ocdm", long_name};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        HOLDS(bad[i], ocdm_memory_save(memory, bad[i], &error) == OCDM_IO);
        HOLDS(error.message, !bad[i][0] || strstr(error.message, bad[i]));
    }
    assert_int_equal(ocdm_memory_save(NULL, "memory", &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_save(memory, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(count_files(0), 1);
    ocdm_memory_destroy(memory);
}

/* No file may grow beyond 200 bytes: as good as a full disk. */
TEST(save_leaves_the_old_file_when_the_disk_is_full)
{
    count_files(1);
    save_small_memory("ocdm");
    ocdm_memory *memory = small_memory("prs");
    size_t size, size_after;
    unsigned char *before = read_whole("memory", &size);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    struct rlimit small = {200, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    ocdm_error error = {0};
    ocdm_status status = ocdm_memory_save(memory, "memory", &error);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(status, OCDM_IO);
    unsigned char *after = read_whole("memory", &size_after);
    assert_non_null(before);
    assert_non_null(after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    assert_int_equal(count_files(0), 1);
    free(before);
    free(after);
    ocdm_memory_destroy(memory);
}

/* What save wrote under a name, load reads under that name, also when other programs mean standard input by it. */
TEST(save_and_load_take_any_name)
{
    static const char *const names[] = {"-", "--", " ", "\n", "caf\xc3\xa9", ".hidden"};
    ocdm_memory *memory = small_memory("ocdm");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ocdm_memory *loaded = NULL;
        HOLDS(names[i], ocdm_memory_save(memory, names[i], NULL) == OCDM_OK);
        HOLDS(names[i], ocdm_memory_load(names[i], NULL, NULL, &loaded, NULL) == OCDM_OK);
        same_memory(memory, loaded, names[i]);
        ocdm_memory_destroy(loaded);
    }
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_policy_must_be_given_and_must_accept),
        cmocka_unit_test(own_policy_may_have_any_printable_name),
        cmocka_unit_test(save_refuses_a_state_that_makes_no_sense),
        cmocka_unit_test(damage_of_any_byte_or_end_is_found),
        cmocka_unit_test(load_refuses_what_is_no_file_of_ours),
        cmocka_unit_test(load_reads_a_large_file),
        cmocka_unit_test(save_tells_why_when_it_cannot_write),
        cmocka_unit_test(save_leaves_the_old_file_when_the_disk_is_full),
        cmocka_unit_test(save_and_load_take_any_name),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
