/* Paths that stay below their folder, and those that do not. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "base/files.h"

TEST(path_stays_when_no_part_climbs)
{
    static const char *const paths[] = {"a", "a/b.jpg", "..a", "a..", "a/..b/c", "...", ".", "a//b", "a/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_true(ocdm__is_relative_path(paths[i], strlen(paths[i])));
}

TEST(path_is_refused_when_it_leads_elsewhere)
{
    static const char *const paths[] = {"", "/", "/a", "..", "../a", "a/..", "a/../b", "a/b/.."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_false(ocdm__is_relative_path(paths[i], strlen(paths[i])));
    assert_false(ocdm__is_relative_path("a\0b", 3));
    assert_true(ocdm__path_climbs("../a", 2) && !ocdm__path_climbs("../a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_stays_when_no_part_climbs),
        cmocka_unit_test(path_is_refused_when_it_leads_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
