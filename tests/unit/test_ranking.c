/* The ranking of classes against plain loops over all of them. */
#include "../test.h"
#include "memory/pool.h"

#include <math.h>
#include <stddef.h>

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

static double weight(const struct plain *plain, uint32_t class_index, bool softmax)
{
    uint32_t behind = most_kept(plain) - plain->kept[class_index];
    if (!plain->kept[class_index])
        return 0;
    return softmax ? exp(-(double)behind) : behind == 0;
}

static void compare_all(const struct ranking *ranking, const struct plain *plain, bool softmax)
{
    double total = 0;
    uint32_t present = 0, unmarked = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        total += weight(plain, i, softmax);
        present += plain->kept[i] > 0;
        unmarked += plain->kept[i] && plain->kept[i] == most_kept(plain) && !plain->marked[i];
        assert_int_equal(ocdm__ranking_marked(ranking, i), plain->marked[i]);
    }
    struct rank all = ocdm__ranking_all(ranking);
    assert_int_equal(all.most, most_kept(plain));
    assert_true(fabs(all.weight - total) <= (softmax ? 1e-12 * total : 0));
    assert_int_equal(ranking->present, present);
    uint32_t found = ocdm__ranking_unmarked(ranking);
    assert_int_equal(found == OCDM_NONE, unmarked == 0);
    assert_true(found == OCDM_NONE || (plain->kept[found] == all.most && !plain->marked[found]));
}

/* A number half way through each class's weight finds that class. */
static void compare_places(const struct ranking *ranking, const struct plain *plain, bool softmax)
{
    double before = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        double share = weight(plain, i, softmax);
        if (share > 1e-6) {
            struct place place = ocdm__ranking_find(ranking, before + share / 2);
            assert_int_equal(place.class_index, i);
            assert_true(fabs(place.before - before) < 1e-10 && fabs(place.sum - before - share) < 1e-10);
        }
        before += share;
    }
}

static void compare_levels(const struct ranking *ranking, const struct plain *plain)
{
    uint32_t counts[SAMPLES + 1] = {0};
    for (uint32_t i = 0; i < CLASSES; i++)
        counts[plain->kept[i]]++;
    uint32_t level = 0;
    for (uint32_t kept = 1; kept <= SAMPLES; kept++)
        if (counts[kept]) {
            assert_int_equal(ranking->levels[level].higher, kept);
            assert_int_equal(ranking->levels[kept].lower, level);
            assert_int_equal(ranking->levels[kept].classes, counts[kept]);
            level = kept;
        }
    assert_int_equal(ranking->levels[level].higher, 0);
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

static void check(bool softmax)
{
    struct ranking *ranking = NULL;
    struct plain plain = {0};
    ocdm__random random = ocdm__random_stream(softmax, 1);
    assert_int_equal(ocdm__ranking_create(&ranking, softmax, 3, NULL), OCDM_OK);
    assert_int_equal(ocdm__ranking_all(ranking).most, 0);
    assert_int_equal(ocdm__ranking_reserve_samples(ranking, SAMPLES), OCDM_OK);
    assert_int_equal(ocdm__ranking_reserve_classes(ranking, 64), OCDM_OK);
    for (int step = 0; step < 2000; step++) {
        if (step == 300)
            assert_int_equal(ocdm__ranking_reserve_classes(ranking, 256), OCDM_OK);
        change_one(ranking, &plain, &random, step < 300 ? 64 : CLASSES);
        if (step < 300)
            continue;
        compare_all(ranking, &plain, softmax);
        if (step % 10 == 0)
            compare_places(ranking, &plain, softmax);
        if (softmax)
            compare_levels(ranking, &plain);
    }
    ocdm__ranking_destroy(ranking);
}

TEST(ranking_finds_the_largest_classes_in_class_order)
{
    check(false);
}

TEST(ranking_finds_classes_by_their_softmax_weight)
{
    check(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranking_finds_the_largest_classes_in_class_order),
        cmocka_unit_test(ranking_finds_classes_by_their_softmax_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
