/*
 * Every allocation fails once, and every one from some call on fails: creating, updating, saving and loading then tell that
 * memory is out, change nothing, leak nothing (the sanitizer watches), and work the next time as if nothing had been.
 */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <errno.h>

#include "faults.h"

/* Policies of the caller's: their updates keep a journal, which needs room too. */
static ocdm_status chance_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)error;
    *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    return OCDM_OK;
}

static ocdm_status chance_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                  ocdm_error *error)
{
    (void)sample;
    return chance_remove(state, memory, slot, error);
}

static const ocdm_policy own[] = {{.size = sizeof(ocdm_policy), .name = "chance remove", .remove = chance_remove},
                                  {.size = sizeof(ocdm_policy), .name = "chance replace", .replace = chance_replace}};

#define POLICIES 12
#define CASES (POLICIES + 5)

/* The library's policies, OCDM's other distances, and two of the caller's. */
static ocdm_options options_of(size_t number)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 6;
    options.batch = 2;
    options.rho = 0.5;
    if (number < POLICIES)
        options.policy = ocdm_policy_at(number);
    else if (number < POLICIES + 3)
        options.distance = (ocdm_distance)(number - POLICIES + 1);
    else
        options.policy = &own[number - POLICIES - 3];
    return options;
}

static const ocdm_policy *policy_to_load(const ocdm_options *options)
{
    return ocdm_policy_find(options->policy->name) ? NULL : options->policy;
}

static void check_failure(ocdm_status status, const ocdm_error *error, const char *where)
{
    HOLDS(where, status == OCDM_NO_MEMORY && error->status == OCDM_NO_MEMORY);
    HOLDS(where, strstr(error->message, "memory"));
}

TEST(create_fails_cleanly_at_every_allocation)
{
    assert_non_null(ocdm_policy_at(POLICIES - 1));
    assert_null(ocdm_policy_at(POLICIES));
    for (size_t i = 0; i < 2 * CASES; i++) {
        ocdm_options options = options_of(i / 2);
        for (unsigned long n = 1;; n++) {
            ocdm_memory *memory = NULL;
            ocdm_error error = {0};
            fault_at(FAULT_ALLOCATE, n, ENOMEM, i % 2);
            ocdm_status status = ocdm_memory_create(&options, &memory, &error);
            fault_off();
            if (status == OCDM_OK) {
                HOLDS(options.policy->name, n > 10);
                ocdm_memory_destroy(memory);
                break;
            }
            check_failure(status, &error, options.policy->name);
            assert_null(memory);
        }
    }
}

/* The update fails at its n-th allocation, for every n until it does not; the twin never gets the batch. Returns how often it
 * failed. */
static unsigned long fail_at_every_allocation(ocdm_memory *memory, ocdm_memory *twin, const struct toy_batch *batch,
                                              bool for_good, const char *where)
{
    ocdm_change expected = {0};
    for (unsigned long n = 1;; n++) {
        ocdm_change change = {.stored = 77};
        ocdm_error error = {0};
        fault_at(FAULT_ALLOCATE, n, ENOMEM, for_good);
        ocdm_status status = ocdm_memory_update(memory, batch->sample, batch->count, &change, &error);
        fault_off();
        if (status == OCDM_OK) {
            expected = offered(twin, batch->sample, batch->count);
            same_change(&change, &expected, where);
            same_memory(memory, twin, where);
            same_draw(memory, twin, 5, where);
            return n - 1;
        }
        check_failure(status, &error, where);
        HOLDS(where, change.stored == 77);
        same_memory(memory, twin, where);
    }
}

/* New classes in every batch, beyond the 64 that there is room for at first; batches and label sets that grow. */
static void run_updates(const ocdm_options *options, bool for_good, const char *where)
{
    static struct toy_batch batch;
    ocdm_memory *memory = created(options), *twin = created(options);
    ocdm__random random = ocdm__random_stream(options->seed, for_good);
    bool single = !strcmp(options->policy->name, "cbrs");
    uint64_t id = 0;
    unsigned long failures = 0;
    for (uint32_t step = 0; step < 40; step++) {
        struct toy_shape shape = {step * 4, 8, single ? 1 : 1 + step * (TOY_LABELS - 1) / 39};
        toy_draw(&batch, &random, shape, 1 + toy_below(&random, 2 + 2 * step), id);
        id += batch.count;
        failures += fail_at_every_allocation(memory, twin, &batch, for_good, where);
    }
    HOLDS(where, failures > 10);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

TEST(update_changes_nothing_at_every_failed_allocation)
{
    for (size_t i = 0; i < 2 * CASES; i++) {
        ocdm_options options = options_of(i / 2);
        char where[80];
        snprintf(where, sizeof where, "%s %s, %s", options.policy->name, ocdm_distance_name(options.distance),
                 i % 2 ? "for good" : "once");
        run_updates(&options, i % 2, where);
    }
}

/* ---- weights, capacity, flat arrays, bytes ---------------------------------------------------------------------------- */

/* One change of a memory; `turn` counts how often it was made. */
typedef ocdm_status deed(ocdm_memory *memory, uint64_t turn, ocdm_error *error);

static ocdm_status weigh(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    return ocdm_memory_set_weight(memory, (uint32_t)turn * 4, 0.5 + (double)turn, error);
}

static bool minimises_kl(const ocdm_memory *memory)
{
    const ocdm_options *options = ocdm_memory_options(memory);
    const char *name = options->policy->name;
    return (strcmp(name, "ocdm") == 0 || strcmp(name, "onlyone") == 0) && options->distance == OCDM_KL;
}

/* A minimum of 0 always fits. */
static ocdm_status keep_none(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    return minimises_kl(memory) ? ocdm_memory_set_minimum(memory, (uint32_t)turn * 4, 0, error) : OCDM_OK;
}

static ocdm_status merge_alone(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    ocdm_memory *merged = NULL;
    if (!minimises_kl(memory) || turn % 10 != 9)
        return OCDM_OK;
    ocdm_status status = ocdm_memory_merge((const ocdm_memory *const *)&memory, 1, 10 + (uint32_t)turn, &merged, error);
    assert_true((status == OCDM_OK) == (merged != NULL));
    ocdm_memory_destroy(merged);
    return status;
}

static bool needs_tasks(const ocdm_memory *memory)
{
    return (ocdm_memory_options(memory)->policy->traits & OCDM_NEEDS_TASKS) != 0;
}

/* A memory that is divided among tasks has one more now and then instead. */
static ocdm_status shrink(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    if (needs_tasks(memory))
        return turn % 5 == 4 ? ocdm_memory_begin_task(memory, NULL, error) : OCDM_OK;
    uint32_t size = ocdm_memory_size(memory);
    return ocdm_memory_resize(memory, turn % 3 == 0 && size > 1 ? size / 2 : size + 40, NULL, error);
}

static ocdm_status forget(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    uint32_t size = ocdm_memory_size(memory);
    return size == 0 || needs_tasks(memory)
               ? OCDM_OK
               : ocdm_memory_forget(memory, ocdm_memory_id(memory, (uint32_t)turn % size), NULL, error);
}

static ocdm_status offer_flat(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    uint64_t ids[40], offsets[41];
    uint32_t labels[40];
    size_t count = 1 + (size_t)turn % 40;
    for (size_t i = 0; i < count; i++) {
        ids[i] = 100000 + turn * 100 + i;
        offsets[i] = i;
        labels[i] = (uint32_t)(turn * 3 + i);
    }
    offsets[count] = count;
    return ocdm_memory_update_flat(memory, ids, offsets, labels, count, NULL, error);
}

static ocdm_status pass_through_bytes(ocdm_memory *memory, uint64_t turn, ocdm_error *error)
{
    static unsigned char bytes[65536];
    size_t size;
    ocdm_memory *loaded = NULL;
    ocdm_status status = ocdm_memory_save_bytes(memory, bytes, sizeof bytes, &size, error);
    if (status == OCDM_OK)
        status = ocdm_memory_load_bytes(bytes, size, policy_to_load(ocdm_memory_options(memory)), NULL, &loaded, error);
    if (status == OCDM_OK)
        same_memory(memory, loaded, "bytes");
    assert_true((status == OCDM_OK) == (loaded != NULL));
    ocdm_memory_destroy(loaded);
    (void)turn;
    return status;
}

/* The deed fails at its n-th allocation, for every n until it does not; then the twin does it too. Returns how often it
 * failed. */
static unsigned long fail_at_every_deed(ocdm_memory *memory, ocdm_memory *twin, deed *todo, uint64_t turn, const char *where)
{
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {0};
        fault_at(FAULT_ALLOCATE, n, ENOMEM, turn % 2);
        ocdm_status status = todo(memory, turn, &error);
        fault_off();
        if (status == OCDM_OK) {
            HOLDS(where, todo(twin, turn, NULL) == OCDM_OK);
            same_memory(memory, twin, where);
            return n - 1;
        }
        check_failure(status, &error, where);
        same_memory(memory, twin, where);
    }
}

TEST(other_changes_change_nothing_at_every_failed_allocation)
{
    static const struct {
        deed *todo;
        const char *name;
        unsigned long least; /* failures in all, at least; 0: none */
        bool kl_only;        /* of ocdm and onlyone under KL */
        bool not_of_tasks;   /* a policy whose places belong to tasks refuses it */
    } deeds[] = {{weigh, "weigh", 2, false, false},
                 {shrink, "shrink", 10, false, true},
                 {forget, "forget", 0, false, true},
                 {offer_flat, "flat", 20, false, false},
                 {keep_none, "minimum", 1, true, false},
                 {merge_alone, "merge", 100, true, false},
                 {pass_through_bytes, "bytes", 100, false, false}};
    enum { DEEDS = sizeof deeds / sizeof *deeds };
    for (size_t i = 0; i < CASES; i++) {
        ocdm_options options = options_of(i);
        options.capacity = 40;
        ocdm_memory *memory = created(&options), *twin = created(&options);
        unsigned long failures[DEEDS] = {0};
        bool of_tasks = strcmp(options.policy->name, "bat-ocdm") == 0;
        for (uint64_t turn = 0; turn < 40; turn++) {
            offered_one(memory, turn, 1 + (uint32_t)turn, 0, 0);
            offered_one(twin, turn, 1 + (uint32_t)turn, 0, 0);
            for (size_t d = 0; d < DEEDS; d++) {
                char where[80];
                snprintf(where, sizeof where, "%s: %s", options.policy->name, deeds[d].name);
                if (of_tasks && deeds[d].not_of_tasks)
                    continue;
                failures[d] += fail_at_every_deed(memory, twin, deeds[d].todo, turn, where);
            }
        }
        for (size_t d = 0; d < DEEDS; d++) {
            bool refused = (deeds[d].kl_only && !minimises_kl(memory)) || (deeds[d].not_of_tasks && of_tasks);
            unsigned long least = refused ? 0 : deeds[d].least;
            HOLDS(deeds[d].name, failures[d] >= least && (least > 0 || failures[d] == 0));
        }
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(twin);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------------ */

static ocdm_memory *some_memory(const ocdm_options *options, uint64_t samples)
{
    ocdm_memory *memory = created(options);
    for (uint64_t id = 0; id < samples; id++)
        offered_one(memory, id, 1 + (uint32_t)id % 70, strcmp(options->policy->name, "cbrs") ? 100 : 0, 0);
    return memory;
}

static void same_bytes(const unsigned char *bytes, size_t size, const char *path, const char *where)
{
    size_t found_size;
    unsigned char *found = read_whole(path, &found_size);
    HOLDS(where, found && found_size == size && !memcmp(found, bytes, size));
    free(found);
}

TEST(save_leaves_the_old_file_at_every_failed_allocation)
{
    for (size_t i = 0; i < 2 * CASES; i++) {
        ocdm_options options = options_of(i / 2);
        ocdm_memory *memory = some_memory(&options, 200), *old = some_memory(&options, 20);
        assert_int_equal(ocdm_memory_save(old, "memory", NULL), OCDM_OK);
        size_t size;
        unsigned char *bytes = read_whole("memory", &size);
        assert_non_null(bytes);
        for (unsigned long n = 1;; n++) {
            ocdm_error error = {0};
            fault_at(FAULT_ALLOCATE, n, ENOMEM, i % 2);
            ocdm_status status = ocdm_memory_save(memory, "memory", &error);
            fault_off();
            assert_int_equal(count_files(0), 1);
            if (status == OCDM_OK) {
                assert_true(n > 3);
                break;
            }
            check_failure(status, &error, options.policy->name);
            same_bytes(bytes, size, "memory", options.policy->name);
        }
        free(bytes);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(old);
    }
}

TEST(load_fails_cleanly_at_every_allocation)
{
    for (size_t i = 0; i < 2 * CASES; i++) {
        ocdm_options options = options_of(i / 2);
        ocdm_memory *memory = some_memory(&options, 200);
        assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
        for (unsigned long n = 1;; n++) {
            ocdm_memory *loaded = NULL;
            ocdm_error error = {0};
            fault_at(FAULT_ALLOCATE, n, ENOMEM, i % 2);
            ocdm_status status = ocdm_memory_load("memory", policy_to_load(&options), NULL, &loaded, &error);
            fault_off();
            if (status == OCDM_OK) {
                assert_true(n > 15);
                same_memory(memory, loaded, options.policy->name);
                ocdm_memory_destroy(loaded);
                break;
            }
            check_failure(status, &error, options.policy->name);
            assert_null(loaded);
        }
        ocdm_memory_destroy(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_fails_cleanly_at_every_allocation),
        cmocka_unit_test(update_changes_nothing_at_every_failed_allocation),
        cmocka_unit_test(other_changes_change_nothing_at_every_failed_allocation),
        cmocka_unit_test(save_leaves_the_old_file_at_every_failed_allocation),
        cmocka_unit_test(load_fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
