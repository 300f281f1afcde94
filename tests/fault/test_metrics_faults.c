/* Every allocation of the functions of metrics.h fails once: they tell that memory is out, leak nothing, and work the next
 * time. */
#include "../test.h"

#include <errno.h>
#include <math.h>

#include "faults.h"
#include "ocdm/metrics.h"

enum { SAMPLES = 5, CLASSES = 3, METRICS = 9 };

static const float logits[SAMPLES * CLASSES] = {2, -1, 0, 1, 3, -2, -1, 0, 2, 1, 1, 1, -3, 2, 1};
static const uint64_t starts[SAMPLES + 1] = {0, 1, 3, 4, 5, 6};
static const uint32_t labels[] = {0, 1, 2, 2, 0, 1};
static const uint8_t group[CLASSES] = {0, 0, 0}, positive[SAMPLES] = {1, 0, 0, 1, 0};

static ocdm_test_set test_set(void)
{
    return (ocdm_test_set){.size = sizeof(ocdm_test_set),
                           .logits = logits,
                           .samples = SAMPLES,
                           .classes = CLASSES,
                           .label_starts = starts,
                           .labels = labels};
}

/* Results are numbers, so that those after a fault can be compared with those without one. */
static ocdm_status score(double *result, ocdm_error *error)
{
    ocdm_test_set set = test_set();
    ocdm_class_score scores[CLASSES];
    ocdm_status status = ocdm_score_classes(&set, scores, error);
    *result = status == OCDM_OK ? ocdm_average(OCDM_MAP, scores, CLASSES) : NAN;
    return status;
}

static ocdm_status measure(double *result, ocdm_error *error)
{
    ocdm_test_set set = test_set();
    double values[METRICS] = {0};
    ocdm_status status = ocdm_measure(&set, group, 0, values, METRICS, error);
    *result = 0;
    for (size_t i = 0; i < METRICS; i++)
        *result += values[i];
    return status;
}

static ocdm_status average_precision(double *result, ocdm_error *error)
{
    return ocdm_average_precision(logits, positive, SAMPLES, result, error);
}

static ocdm_status forgetting(double *result, ocdm_error *error)
{
    static const double map[] = {50, 20, 40, 30};
    return ocdm_forgetting(map, 2, 2, NULL, result, error);
}

typedef ocdm_status measured(double *result, ocdm_error *error);

/* Returns how many allocations there are. */
static unsigned long fails_cleanly(measured *function)
{
    double whole, result = NAN;
    assert_int_equal(function(&whole, NULL), OCDM_OK);
    for (unsigned long n = 1;; n++) {
        ocdm_error error = {0};
        fault_at(FAULT_ALLOCATE, n, ENOMEM, false);
        ocdm_status status = function(&result, &error);
        fault_off();
        if (status == OCDM_OK) {
            assert_true(result == whole);
            return n - 1;
        }
        assert_int_equal(status, OCDM_NO_MEMORY);
        assert_int_equal(error.status, OCDM_NO_MEMORY);
    }
}

TEST(metrics_fail_cleanly_at_every_allocation)
{
    assert_true(fails_cleanly(score) >= 7);
    assert_true(fails_cleanly(measure) >= 10);
    assert_true(fails_cleanly(average_precision) >= 9);
    assert_int_equal(fails_cleanly(forgetting), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(metrics_fail_cleanly_at_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
