/* The hand-drawn tables of the pictures satisfy what the painter assumes. */
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "stream/scenes/scenes.h"

static void check_polygon(const int8_t *at)
{
    int turns[2] = {0, 0}; /* left, right */
    for (int i = 0; i < 4; i++) {
        const int8_t *a = at + 2 * i;
        const int8_t *b = at + 2 * ((i + 1) % 4);
        const int8_t *c = at + 2 * ((i + 2) % 4);
        int cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        turns[0] += cross < 0;
        turns[1] += cross > 0;
    }
    assert_true(turns[0] == 0 || turns[1] == 0);
    assert_true(turns[0] + turns[1] >= 2); /* a corner given twice takes two of a triangle's four */
}

static void check_lengths(const ocdm__scene_part *part)
{
    const int8_t *at = part->at;
    switch ((enum ocdm__scene_form)part->form) {
    case OCDM__RING:
        assert_true(at[2] > at[4] && at[3] > at[4] && at[4] > 0);
        break;
    case OCDM__ELLIPSE:
        assert_true(at[2] > 0 && at[3] > 0);
        break;
    case OCDM__LENS:
        assert_true(at[2] > 0 && at[3] >= at[2]);
        break;
    case OCDM__BLOCK:
        assert_true(at[2] > 0 && at[3] > 0 && at[4] >= 0 && at[4] <= at[2] && at[4] <= at[3]);
        break;
    case OCDM__STROKE:
        assert_true(at[4] > 0);
        break;
    case OCDM__POLYGON:
        check_polygon(at);
        break;
    default:
        fail_msg("form %d", part->form);
    }
}

static void check_figure(const ocdm__scene_figure *figure)
{
    assert_in_range(figure->part_count, 1, 8);
    assert_in_range(figure->kin, 0, OCDM__SCENE_KINS - 1);
    for (size_t i = 0; i < OCDM__SCENE_HUES; i++)
        assert_in_range(figure->hue[i], 0, OCDM__SCENE_COLOURS - 1);
    for (size_t i = 0; i < figure->part_count; i++) {
        const ocdm__scene_part *part = &figure->parts[i];
        assert_in_range(part->ink, 0, OCDM__SCENE_INKS - 1);
        assert_in_range(part->pattern, OCDM__PLAIN, OCDM__DOTS);
        if (part->repeat != OCDM__ONCE)
            assert_in_range(part->copies, 2, 12);
        if (part->keep != OCDM__KEEP_ALL)
            assert_true(part->form == OCDM__ELLIPSE || part->form == OCDM__RING);
        for (size_t j = 0; j < 8; j++)
            assert_true(part->at[j] >= -100 && part->at[j] <= 100);
        check_lengths(part);
    }
}

TEST(scene_figures_are_within_the_painters_rules)
{
    for (size_t c = 0; c < OCDM__BUILTIN_CLASSES; c++)
        check_figure(&ocdm__scene_figures[c]);
    for (size_t i = 0; i < OCDM__SCENE_STRAYS; i++)
        check_figure(&ocdm__scene_strays[i]);
}

/* Look-alikes make the world hard: no class may stand alone in its kin, and a task has some of the same. */
TEST(scene_figures_have_look_alikes)
{
    size_t in_kin[OCDM__SCENE_KINS] = {0};
    size_t in_task[OCDM__BUILTIN_TASKS] = {0};
    for (uint32_t c = 0; c < OCDM__BUILTIN_CLASSES; c++) {
        in_kin[ocdm__scene_figures[c].kin]++;
        for (uint32_t other = 0; other < c; other++)
            in_task[ocdm__builtin_class_task(c)] += ocdm__builtin_class_task(other) == ocdm__builtin_class_task(c) &&
                                                    ocdm__scene_figures[other].kin == ocdm__scene_figures[c].kin;
    }
    for (size_t i = 0; i < OCDM__SCENE_KINS; i++)
        assert_in_range(in_kin[i], 2, 8);
    for (size_t i = 0; i < OCDM__BUILTIN_TASKS; i++)
        assert_true(in_task[i] >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_figures_are_within_the_painters_rules),
        cmocka_unit_test(scene_figures_have_look_alikes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
