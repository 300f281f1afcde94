/* Update and draw allocate only when something is larger than ever: every call to the allocator is counted. */
#include "../test.h"
#include "../twins.h"

#include "faults.h"

static ocdm_status chance_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)error;
    *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    return OCDM_OK;
}

static const ocdm_policy own = {.size = sizeof(ocdm_policy), .name = "own", .remove = chance_remove};

/* Offers `samples` samples in batches of up to 10 and draws before each; returns how often the allocator was called. */
static unsigned long allocations_of(ocdm_memory *memory, ocdm__random *random, struct toy_shape shape, uint64_t samples)
{
    static struct toy_batch batch;
    unsigned long calls = 0;
    uint32_t slot[10];
    for (uint64_t end = ocdm_memory_arrived(memory) + samples; ocdm_memory_arrived(memory) < end;) {
        toy_draw(&batch, random, shape, 1 + toy_below(random, 10), ocdm_memory_arrived(memory));
        fault_off();
        ocdm_memory_draw(memory, 10, slot);
        ocdm_status status = ocdm_memory_update(memory, batch.sample, batch.count, NULL, NULL);
        calls += fault_calls(FAULT_ALLOCATE);
        assert_int_equal(status, OCDM_OK);
    }
    return calls;
}

/* Two to the power of 5 label sets: each class's list, two blocks, doubles at most once more after the warm-up. */
#define CLASSES 5u
#define LARGER_THAN_EVER (2 * CLASSES)

static void check(const ocdm_options *options, uint64_t warm_up, uint64_t samples)
{
    char where[80];
    snprintf(where, sizeof where, "%s %s %s rho %g", options->policy->name, ocdm_distance_name(options->distance),
             ocdm_tie_name(options->tie), options->rho);
    ocdm_memory *memory = created(options);
    ocdm__random random = ocdm__random_stream(options->rho != 0, options->capacity);
    bool single = strcmp(options->policy->name, "cbrs") == 0;
    const struct toy_shape shape = {0, CLASSES, single ? 1 : CLASSES};
    HOLDS(where, allocations_of(memory, &random, shape, warm_up) > 0);
    HOLDS(where, ocdm_memory_size(memory) == options->capacity);
    unsigned long calls = allocations_of(memory, &random, shape, samples);
    if (calls > LARGER_THAN_EVER)
        print_error("%lu calls\n", calls);
    HOLDS(where, calls <= LARGER_THAN_EVER);
    ocdm_memory_destroy(memory);
}

TEST(update_and_draw_allocate_only_what_is_larger_than_ever_for_any_policy)
{
    for (size_t i = 0; ocdm_policy_at(i); i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            ocdm_options options = options_for(ocdm_policy_at(i)->name, 100);
            options.rho = weighted ? 0.5 : 0;
            check(&options, 1000, 20000);
        }
    ocdm_options options = options_for("ocdm", 100);
    options.policy = &own;
    check(&options, 1000, 20000);
}

TEST(update_and_draw_allocate_only_what_is_larger_than_ever_for_any_distance_and_tie)
{
    for (int distance = OCDM_KL; distance <= OCDM_TV; distance++)
        for (int tie = OCDM_TIE_KEY; tie <= OCDM_TIE_UNIFORM; tie++) {
            ocdm_options options = options_for("ocdm", 30);
            options.distance = (ocdm_distance)distance;
            options.tie = (ocdm_tie)tie;
            check(&options, 1000, 5000);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_and_draw_allocate_only_what_is_larger_than_ever_for_any_policy),
        cmocka_unit_test(update_and_draw_allocate_only_what_is_larger_than_ever_for_any_distance_and_tie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
