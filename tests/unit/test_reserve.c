/* The growable array of base/allocate.h. */
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "base/allocate.h"

TEST(reserve_keeps_what_was_appended)
{
    uint64_t *array = NULL;
    size_t room = 0, moves = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        size_t before = room;
        assert_true(ocdm__reserve(&array, &room, (size_t)i + 1, sizeof *array));
        assert_true(room > i);
        moves += room != before;
        array[i] = i * i;
    }
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i * i);
    assert_in_range(moves, 1, 10); /* doubling */
    ocdm__release(array);
}

TEST(reserve_of_what_is_there_changes_nothing)
{
    char *array = NULL;
    size_t room = 0;
    assert_true(ocdm__reserve(&array, &room, 0, 1));
    assert_null(array);
    assert_true(ocdm__reserve(&array, &room, 100, 1));
    char *before = array;
    size_t room_before = room;
    assert_true(ocdm__reserve(&array, &room, 100, 1));
    assert_ptr_equal(array, before);
    assert_int_equal(room, room_before);
    ocdm__release(array);
}

TEST(reserve_that_overflows_leaves_the_array)
{
    uint32_t *array = NULL;
    size_t room = 0;
    assert_true(ocdm__reserve(&array, &room, 1, sizeof *array));
    array[0] = 7;
    uint32_t *before = array;
    size_t room_before = room;
    assert_false(ocdm__reserve(&array, &room, SIZE_MAX, sizeof *array));
    assert_false(ocdm__reserve(&array, &room, SIZE_MAX / 4 + 1, sizeof *array));
    assert_ptr_equal(array, before);
    assert_int_equal(room, room_before);
    assert_int_equal(array[0], 7);
    ocdm__release(array);
}

TEST(reserve_zeroed_clears_new_elements_only)
{
    uint32_t *array = NULL;
    size_t room = 0;
    assert_true(ocdm__reserve_zeroed(&array, &room, 1, sizeof *array));
    for (size_t i = 0; i < room; i++)
        assert_int_equal(array[i], 0);
    for (size_t i = 0; i < room; i++)
        array[i] = 5;
    size_t before = room;
    assert_true(ocdm__reserve_zeroed(&array, &room, 100 * before, sizeof *array));
    for (size_t i = 0; i < room; i++)
        assert_int_equal(array[i], i < before ? 5 : 0);
    ocdm__release(array);
}

/* No allocation grants SIZE_MAX elements: doubling never wraps around. */
TEST(larger_room_never_shrinks)
{
    assert_int_equal(ocdm__larger_room(0, 1), 16);
    assert_int_equal(ocdm__larger_room(16, 17), 32);
    assert_int_equal(ocdm__larger_room(16, 1000), 1000);
    assert_int_equal(ocdm__larger_room(SIZE_MAX / 2 + 1, 1), SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserve_keeps_what_was_appended),
        cmocka_unit_test(reserve_of_what_is_there_changes_nothing),
        cmocka_unit_test(reserve_that_overflows_leaves_the_array),
        cmocka_unit_test(reserve_zeroed_clears_new_elements_only),
        cmocka_unit_test(larger_room_never_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
