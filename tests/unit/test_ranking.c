/* The ranking of classes against plain loops over all of them. */
#include "../test.h"
#include "memory/pool.h"

#include <stddef.h>

#include "base/allocate.h"
#include "base/random.h"

#define CLASSES 200u
#define SAMPLES 30u

struct plain {
    uint32_t kept[CLASSES];
    bool marked[CLASSES];
};

static uint32_t most_kept(const struct plain *plain)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < CLASSES; i++)
        most = plain->kept[i] > most ? plain->kept[i] : most;
    return most;
}

static void compare_all(const struct ranking *ranking, const struct plain *plain)
{
    uint32_t most = most_kept(plain), tied = 0, unmarked = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        assert_int_equal(ocdm__ranking_marked(ranking, i), plain->marked[i]);
        if (most == 0 || plain->kept[i] != most)
            continue;
        assert_int_equal(ocdm__ranking_find(ranking, tied++), i);
        unmarked += !plain->marked[i];
    }
    struct rank all = ocdm__ranking_all(ranking);
    assert_int_equal(all.most, most);
    assert_int_equal(all.tied, tied);
    uint32_t found = ocdm__ranking_unmarked(ranking);
    assert_int_equal(found == OCDM_NONE, unmarked == 0);
    assert_true(found == OCDM_NONE || (plain->kept[found] == most && !plain->marked[found]));
}

static void change_one(struct ranking *ranking, struct plain *plain, ocdm__random *random, uint32_t classes)
{
    uint32_t i = (uint32_t)ocdm__random_below(random, classes);
    bool grows = !plain->kept[i] || (plain->kept[i] < SAMPLES && ocdm__random_below(random, 2));
    plain->kept[i] += grows ? 1u : UINT32_MAX;
    ocdm__ranking_set(ranking, i, plain->kept[i]);
    if (!ocdm__random_below(random, 20)) {
        plain->marked[i] = true;
        ocdm__ranking_mark(ranking, i);
    }
}

TEST(ranking_finds_the_largest_classes_in_class_order)
{
    struct ranking *ranking = ocdm__allocate(1, sizeof *ranking);
    struct plain plain = {0};
    ocdm__random random = ocdm__random_stream(0, 1);
    assert_non_null(ranking);
    assert_int_equal(ocdm__ranking_all(ranking).most, 0);
    assert_true(ocdm__ranking_reserve_classes(ranking, 64));
    for (int step = 0; step < 2000; step++) {
        if (step == 300)
            assert_true(ocdm__ranking_reserve_classes(ranking, 256));
        change_one(ranking, &plain, &random, step < 300 ? 64 : CLASSES);
        if (step >= 300)
            compare_all(ranking, &plain);
    }
    ocdm__ranking_destroy(ranking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranking_finds_the_largest_classes_in_class_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
