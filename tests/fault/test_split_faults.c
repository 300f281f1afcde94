/* Every allocation of the functions of split.h fails once: they tell that memory is out, leak nothing, and work the next time.
 */
#include "../test.h"

#include <errno.h>
#include <string.h>

#include "faults.h"
#include "ocdm/split.h"

enum { SAMPLES = 200 };

static uint64_t offsets[SAMPLES + 1];
static uint32_t labels[2 * SAMPLES], groups[SAMPLES], part[SAMPLES];

static ocdm_label_sets some_sets(void)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        offsets[i] = 2 * i;
        labels[2 * i] = i % 5;
        labels[2 * i + 1] = 5 + i % 7;
        groups[i] = i / 2;
    }
    offsets[SAMPLES] = 2 * SAMPLES;
    return (ocdm_label_sets){.size = sizeof(ocdm_label_sets), .count = SAMPLES, .offsets = offsets, .labels = labels};
}

static ocdm_status split_groups(ocdm_error *error)
{
    const uint64_t sizes[] = {150, 50};
    ocdm_label_sets sets = some_sets();
    sets.groups = groups;
    ocdm_split_options options = ocdm_split_options_default();
    return ocdm_split(&sets, sizes, 2, &options, part, NULL, error);
}

static ocdm_status measure(ocdm_error *error)
{
    ocdm_label_sets sets = some_sets();
    ocdm_split_balance balance[2];
    memset(part, 0, sizeof part);
    part[0] = 1;
    return ocdm_split_measure(&sets, part, 2, 2, balance, error);
}

static ocdm_status choose(ocdm_error *error)
{
    ocdm_label_sets sets = some_sets();
    uint8_t chosen[SAMPLES];
    ocdm_select_options options = ocdm_select_options_default();
    options.minimum = 5;
    return ocdm_select(&sets, 60, &options, chosen, NULL, error);
}

/* Returns how many allocations there are. */
static unsigned long fails_cleanly(ocdm_status (*function)(ocdm_error *error))
{
    assert_int_equal(function(NULL), OCDM_OK);
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {0};
        fault_at(FAULT_ALLOCATE, n, ENOMEM, false);
        ocdm_status status = function(&error);
        fault_off();
        if (status == OCDM_OK)
            return n - 1;
        assert_int_equal(status, OCDM_NO_MEMORY);
        assert_int_equal(error.status, OCDM_NO_MEMORY);
    }
}

TEST(splits_fail_cleanly_at_every_allocation)
{
    assert_true(fails_cleanly(split_groups) >= 18);
    assert_true(fails_cleanly(measure) >= 6);
    assert_true(fails_cleanly(choose) >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(splits_fail_cleanly_at_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
