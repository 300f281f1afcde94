/* The points of a sweep and the names of their folders. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "experiment/compare/plan.h"

static const char *const methods[] = {"rs", "ocdm"};
static const uint32_t tasks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static ocdm_status make(ocdm__compare_plan *plan, const char *memory, const char *rho, const char *order, size_t task_count)
{
    ocdm_error error;
    *plan = (ocdm__compare_plan){.methods = methods, .method_count = 2, .seed_count = 2};
    return ocdm__compare_points_make(plan, memory, rho, order, tasks, task_count, &error);
}

static void expect_folder(const char *expected, const ocdm__compare_plan *plan, size_t point, size_t method, uint64_t seed)
{
    char name[OCDM__COMPARE_NAME];
    ocdm__compare_folder(plan, point, method, seed, name);
    assert_string_equal(expected, name);
}

TEST(plan_has_one_point_without_suffix_when_nothing_is_swept)
{
    ocdm__compare_plan plan;
    assert_int_equal(OCDM_OK, make(&plan, "500", "0.5", "2,0,1", 3));
    assert_int_equal(1, plan.point_count);
    assert_int_equal(500, plan.points[0].memory);
    assert_true(plan.points[0].rho == 0.5);
    assert_int_equal(3, plan.points[0].order_count);
    assert_int_equal(2, plan.points[0].order[0]);
    assert_string_equal("", plan.points[0].label);
    expect_folder("ocdm-s1", &plan, 0, 1, 1);
    ocdm__compare_plan_clear(&plan);
}

TEST(plan_names_folders_after_what_is_swept)
{
    ocdm__compare_plan plan;
    assert_int_equal(OCDM_OK, make(&plan, "300,1000", "0,0.2", "0,3,1,2;2,1,3,0", 4));
    assert_int_equal(8, plan.point_count);
    expect_folder("rs-s0-m300-r0-o0312", &plan, 0, 0, 0);
    expect_folder("rs-s0-m300-r0-o2130", &plan, 1, 0, 0);
    expect_folder("ocdm-s1-m300-r0.2-o0312", &plan, 2, 1, 1);
    expect_folder("ocdm-s0-m1000-r0.2-o2130", &plan, 7, 1, 0);
    assert_string_equal("memory 1000, rho 0.2, order 2,1,3,0", plan.points[7].label);
    char order[32];
    ocdm__compare_order_text(&plan.points[7], order, sizeof order);
    assert_string_equal("2,1,3,0", order);
    ocdm__compare_plan_clear(&plan);
}

TEST(plan_separates_tasks_of_two_digits)
{
    ocdm__compare_plan plan;
    assert_int_equal(OCDM_OK, make(&plan, "9", "0", "1,12;12,1", 2));
    expect_folder("rs-s0-o1.12", &plan, 0, 0, 0);
    expect_folder("rs-s0-o12.1", &plan, 1, 0, 0);
    ocdm__compare_plan_clear(&plan);
}

/* Every order once, in the order of a dictionary, of the tasks that there are. */
TEST(plan_lists_all_orders)
{
    static const uint32_t gaps[] = {1, 4, 6};
    static const uint64_t expected[6][3] = {{1, 4, 6}, {1, 6, 4}, {4, 1, 6}, {4, 6, 1}, {6, 1, 4}, {6, 4, 1}};
    ocdm__compare_plan plan = {.methods = methods, .method_count = 2, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "9", "0", "all", gaps, 3, NULL));
    assert_int_equal(6, plan.point_count);
    for (size_t i = 0; i < 6; i++)
        assert_memory_equal(expected[i], plan.points[i].order, sizeof expected[i]);
    ocdm__compare_plan_clear(&plan);
}

TEST(plan_counts_repeated_values_once)
{
    ocdm__compare_plan plan;
    assert_int_equal(OCDM_OK, make(&plan, "300,300", "0,-0,0.0", NULL, 4));
    assert_int_equal(1, plan.point_count);
    assert_null(plan.points[0].order);
    expect_folder("rs-s0", &plan, 0, 0, 0);
    ocdm__compare_plan_clear(&plan);
    assert_int_equal(OCDM_OK, make(&plan, "300", "0", "0,1;1,0;0,1;1,0", 2));
    assert_int_equal(2, plan.point_count);
    expect_folder("rs-s0-o01", &plan, 0, 0, 0);
    expect_folder("rs-s0-o10", &plan, 1, 0, 0);
    ocdm__compare_plan_clear(&plan);
}

TEST(plan_refuses_what_is_no_list)
{
    static const char *const memories[] = {"", "0", "1.5", "300,", ",300", "300;500", "2147483648", "x", "nan"};
    static const char *const rhos[] = {"", "17", "-16.5", "a", "0,,1", "inf"};
    static const char *const orders[] = {",", ";", "0,1;", "0,1;0", "0,-1", "a", "0 1", "all,0", "1234567890"};
    ocdm__compare_plan plan;
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        assert_int_equal(OCDM_BAD_ARGUMENT, make(&plan, memories[i], "0", NULL, 2));
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++)
        assert_int_equal(OCDM_BAD_ARGUMENT, make(&plan, "9", rhos[i], NULL, 2));
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        assert_int_equal(OCDM_BAD_ARGUMENT, make(&plan, "9", "0", orders[i], 2));
    assert_int_equal(OCDM_LIMIT, make(&plan, "9", "0", "all", 9));
    assert_null(plan.points);
    assert_null(plan.tasks);
}

/* Names that would be cut could be the same for two orders. */
TEST(plan_refuses_orders_too_long_for_a_name)
{
    char order[600] = "";
    ocdm__compare_plan plan;
    for (int i = 0; i < 60; i++)
        strcat(order, "10,");
    strcat(order, "1;");
    for (int i = 0; i < 60; i++)
        strcat(order, "10,");
    strcat(order, "2");
    assert_int_equal(OCDM_LIMIT, make(&plan, "9", "0", order, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_has_one_point_without_suffix_when_nothing_is_swept),
        cmocka_unit_test(plan_names_folders_after_what_is_swept),
        cmocka_unit_test(plan_separates_tasks_of_two_digits),
        cmocka_unit_test(plan_lists_all_orders),
        cmocka_unit_test(plan_counts_repeated_values_once),
        cmocka_unit_test(plan_refuses_what_is_no_list),
        cmocka_unit_test(plan_refuses_orders_too_long_for_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
