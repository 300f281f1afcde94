/*
 * Save, load, continue: the loaded memory makes the same decisions as the saved one, whatever the policy and whenever it was
 * saved; and both write the same bytes.
 */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include "base/bytes.h"

static void same_files(const char *where)
{
    size_t first_size, second_size;
    unsigned char *first = read_whole("first", &first_size), *second = read_whole("second", &second_size);
    HOLDS(where, first && second);
    HOLDS(where, first_size == second_size && !memcmp(first, second, first_size));
    free(first);
    free(second);
}

static void saved(const ocdm_memory *memory, const char *path, const char *where)
{
    ocdm_error error;
    if (ocdm_memory_save(memory, path, &error) != OCDM_OK)
        fail_msg("in %s: save: %s", where, error.message);
}

/* The memory as its file gives it back; saving that gives the file back. */
static ocdm_memory *through_a_file(const ocdm_memory *memory, const ocdm_policy *policy, const char *where)
{
    ocdm_memory *copy = NULL;
    ocdm_error error;
    saved(memory, "first", where);
    if (ocdm_memory_load("first", policy, NULL, &copy, &error) != OCDM_OK)
        fail_msg("in %s: load: %s", where, error.message);
    same_memory(memory, copy, where);
    saved(copy, "second", where);
    same_files(where);
    return with_gradients(copy);
}

/* How many classes were seen that no sample in memory carries. */
static size_t empty_classes(const ocdm_memory *memory)
{
    static ocdm_class classes[TOY_CLASSES];
    size_t count = ocdm_memory_counts(memory, classes, TOY_CLASSES), empty = 0;
    for (size_t i = 0; i < count; i++)
        empty += !classes[i].kept;
    return empty;
}

/* A stream of `batches` batches whose classes move on; at chance points, and often right after a class emptied, the copy is
 * made again. `policy` is what load gets: NULL for a policy of the library. */
static void run_stream(const ocdm_options *options, const ocdm_policy *policy, uint32_t batches, struct toy_shape shape,
                       const char *where)
{
    static struct toy_batch batch;
    ocdm__random random = ocdm__random_stream(options->seed, 11);
    ocdm_memory *memory = created(options);
    ocdm_memory *copy = through_a_file(memory, policy, where);
    uint64_t id = 0;
    for (uint32_t step = 0; step < batches; step++) {
        struct toy_shape now = shape;
        now.first = step / 4;
        size_t empty = empty_classes(memory);
        toy_draw(&batch, &random, now, toy_below(&random, 13), id);
        id += batch.count;
        offered_to_both(memory, copy, &batch, where);
        if (toy_below(&random, empty_classes(memory) > empty ? 2 : 6))
            continue;
        ocdm_memory_destroy(copy);
        copy = through_a_file(memory, policy, where);
    }
    saved(memory, "first", where);
    saved(copy, "second", where);
    same_files(where);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(copy);
}

static const double rhos[] = {0, 1, -0.4};

static void run_policy(const char *policy, ocdm_distance distance, ocdm_tie tie, double rho)
{
    ocdm__random random = ocdm__random_stream((uint64_t)distance * 4 + tie, (uint64_t)(rho * 10 + 10));
    ocdm_options options = options_for(policy, 1 + toy_below(&random, 20));
    options.distance = distance;
    options.tie = tie;
    options.rho = rho;
    options.seed = ocdm__random_next(&random);
    char where[120];
    snprintf(where, sizeof where, "%s %s %s rho %g seed %llu", policy, ocdm_distance_name(distance), ocdm_tie_name(tie), rho,
             (unsigned long long)options.seed);
    struct toy_shape shape = {0, 1 + toy_below(&random, 8), strcmp(policy, "cbrs") ? 1 + toy_below(&random, 4) : 1};
    run_stream(&options, NULL, 60, shape, where);
}

static void run_all_options(const char *policy)
{
    for (int distance = OCDM_KL; distance <= OCDM_TV; distance++)
        for (int tie = OCDM_TIE_KEY; tie <= OCDM_TIE_UNIFORM; tie++)
            for (size_t r = 0; r < 3; r++)
                run_policy(policy, (ocdm_distance)distance, (ocdm_tie)tie, rhos[r]);
}

/* What a distance and a tie rule do to policies that do not use them is nothing: some pairs are enough. */
static void run_some_options(const char *policy)
{
    for (int i = 0; i < 4; i++)
        for (size_t r = 0; r < 3; r++)
            run_policy(policy, (ocdm_distance)i, (ocdm_tie)(3 - i), rhos[r]);
}

TEST(ocdm_continues_as_if_never_stopped)
{
    run_all_options("ocdm");
}

TEST(onlyone_continues_as_if_never_stopped)
{
    run_all_options("onlyone");
}

TEST(other_policies_continue_as_if_never_stopped)
{
    static const char *const others[] = {"rs", "prs", "prs-released", "cbes", "cbrs", "max", "random", "gss", "gss-released"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        run_some_options(others[i]);
}

/* So many label sets that most are known to the index by a bound only: a loaded memory has them all awake. */
TEST(many_label_sets_continue_as_if_never_stopped)
{
    static struct toy_batch batch;
    for (int tie = OCDM_TIE_KEY; tie <= OCDM_TIE_UNIFORM; tie += 3) {
        ocdm_options options = options_for("ocdm", 2400);
        options.tie = (ocdm_tie)tie;
        options.rho = tie ? 0.5 : 0;
        ocdm_memory *memory = created(&options), *copy = NULL;
        ocdm__random random = ocdm__random_stream(5, (uint64_t)tie);
        uint64_t id = 0;
        for (uint32_t step = 0; step < 60; step++, id += TOY_BATCH) {
            toy_draw(&batch, &random, (struct toy_shape){step, 120, 5}, TOY_BATCH, id);
            ocdm_change change = offered(memory, batch.sample, TOY_BATCH);
            if (copy) {
                ocdm_change other = offered(copy, batch.sample, TOY_BATCH);
                same_change(&change, &other, "many label sets");
            }
            if (step == 35)
                copy = through_a_file(memory, NULL, "many label sets");
        }
        same_memory(memory, copy, "many label sets");
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(copy);
    }
}

/* ---- a policy of the caller's ----------------------------------------------------------------------------------------- */

/* Round robin: the slot after the last one makes room. Its state is that slot. */
static ocdm_status robin_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    (void)memory;
    (void)error;
    *state = calloc(1, sizeof(uint64_t));
    return *state ? OCDM_OK : OCDM_NO_MEMORY;
}

static ocdm_status robin_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                 ocdm_error *error)
{
    (void)sample, (void)error;
    uint64_t *next = state;
    *slot = (uint32_t)((*next)++ % ocdm_memory_size(memory));
    return OCDM_OK;
}

static ocdm_status robin_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                              ocdm_error *error)
{
    (void)memory, (void)error;
    if (room >= 8)
        ocdm__put_u64(bytes, *(const uint64_t *)state);
    *size = 8;
    return OCDM_OK;
}

static ocdm_status robin_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size,
                              ocdm_error *error)
{
    (void)error;
    if (size != 8 || ocdm__get_u64(bytes) > ocdm_memory_arrived(memory))
        return OCDM_BAD_FILE;
    *(uint64_t *)state = ocdm__get_u64(bytes);
    return OCDM_OK;
}

/* No state: which sample goes follows from the memory. */
static ocdm_status chance_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)error;
    *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    return OCDM_OK;
}

TEST(own_policies_continue_as_if_never_stopped)
{
    static const ocdm_policy own[] = {
        {.size = sizeof(ocdm_policy),
         .name = "round robin",
         .create = robin_create,
         .destroy = free,
         .replace = robin_replace,
         .save = robin_save,
         .load = robin_load},
        {.size = sizeof(ocdm_policy), .name = "chance", .remove = chance_remove},
    };
    for (uint64_t seed = 0; seed < 8; seed++) {
        char where[60];
        const ocdm_policy *policy = &own[seed % 2];
        snprintf(where, sizeof where, "%s seed %llu", policy->name, (unsigned long long)seed);
        ocdm_options options = options_for("ocdm", 1 + (uint32_t)seed * 3);
        options.batch = 3;
        options.policy = policy;
        options.rho = 0.5;
        options.seed = seed;
        run_stream(&options, policy, 30, (struct toy_shape){0, 6, 3}, where);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ocdm_continues_as_if_never_stopped),
        cmocka_unit_test(onlyone_continues_as_if_never_stopped),
        cmocka_unit_test(other_policies_continue_as_if_never_stopped),
        cmocka_unit_test(many_label_sets_continue_as_if_never_stopped),
        cmocka_unit_test(own_policies_continue_as_if_never_stopped),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
