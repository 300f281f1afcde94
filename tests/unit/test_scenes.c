/* The built-in world: its two parts, its pictures and its features. docs/scenes.md promises what is checked here. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "stream/scenes/scenes.h"

enum {
    TRAIN = 26617,
    CLASSES = 44,
    TESTS = 50,
    SIZE = OCDM__SCENE_USUAL_SIZE,
    BYTES = 3 * SIZE * SIZE,
    WIDTH = OCDM__SCENE_FEATURES,
    LARGEST = 3 * OCDM__SCENE_MOST_SIZE * OCDM__SCENE_MOST_SIZE
};

static ocdm__scenes *worlds[2]; /* of seeds 0 and 1 */

static ocdm__scenes *make(uint64_t seed)
{
    ocdm__scenes *scenes = NULL;
    ocdm_error error;
    assert_int_equal(ocdm__scenes_create(seed, &scenes, &error), OCDM_OK);
    return scenes;
}

static int make_worlds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++)
        worlds[seed] = make(seed);
    return 0;
}

static int destroy_worlds(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        ocdm__scenes_destroy(worlds[i]);
    ocdm__scenes_destroy(NULL);
    return 0;
}

/* FNV-1a. */
static uint64_t fingerprint(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3u;
    return hash;
}

TEST(scenes_keep_the_builtin_stream_as_training_part_when_made)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        const ocdm__scenes *scenes = worlds[seed];
        ocdm__builtin *builtin = NULL;
        ocdm_error error;
        assert_int_equal(ocdm__builtin_create(seed, 0, &builtin, &error), OCDM_OK);
        assert_int_equal(scenes->labels->train_count, TRAIN);
        assert_int_equal(scenes->labels->class_count, CLASSES);
        assert_int_equal(scenes->labels->task_count, builtin->task_count);
        assert_memory_equal(scenes->labels->task, builtin->task, TRAIN * sizeof *builtin->task);
        assert_memory_equal(scenes->labels->label_start, builtin->label_start, (TRAIN + 1) * sizeof *builtin->label_start);
        assert_memory_equal(scenes->labels->label, builtin->label, builtin->label_start[TRAIN] * sizeof *builtin->label);
        ocdm__builtin_destroy(builtin);
    }
}

TEST(scenes_have_fifty_test_samples_of_each_class_alone_when_made)
{
    const ocdm__scenes *scenes = worlds[0];
    size_t found[CLASSES] = {0};
    assert_int_equal(scenes->labels->sample_count, TRAIN + CLASSES * TESTS);
    for (size_t i = TRAIN; i < scenes->labels->sample_count; i++) {
        assert_int_equal(scenes->labels->label_start[i + 1], scenes->labels->label_start[i] + 1);
        uint32_t label = scenes->labels->label[scenes->labels->label_start[i]];
        assert_in_range(label, 0, CLASSES - 1);
        assert_int_equal(scenes->labels->task[i], ocdm__builtin_class_task(label));
        found[label]++;
    }
    for (size_t c = 0; c < CLASSES; c++)
        assert_int_equal(found[c], TESTS);
}

static const struct known {
    uint64_t seed;
    size_t sample;
    uint32_t size;
    uint64_t picture;
    uint64_t features;
} known[] = {
    {0, 0, 64, 0xF1FA7EE00556FEAEu, 0xBC0BFA63341D3395u},     {0, 1, 64, 0x016929635342067Du, 0xA550E80089233413u},
    {0, 9000, 256, 0xC26F0FB14D5BD13Fu, 0x302ED3E5A61D26B6u}, {0, 20000, 33, 0x2742413466C13E5Eu, 0xC6166C69C682C6D4u},
    {0, TRAIN, 16, 0x0F3B4913258A7307u, 0x24956579920368C7u}, {0, TRAIN + 2199, 64, 0x6BA6D7C89C96850Bu, 0x9691D9F04E64C0B8u},
    {1, 0, 64, 0xD71D59BEE072219Cu, 0xCD2E51F9512F6B0Du},     {1, 24000, 100, 0x0E26F8CB17FDEA0Au, 0xA1436762A53DB372u},
};

/* Results are published with these pictures and vectors: changing them changes the results. */
TEST(scene_is_the_same_bytes_everywhere_when_the_seed_is_the_same)
{
    static uint8_t picture[LARGEST];
    int wrong = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        float features[WIDTH];
        ocdm__scene_render(worlds[known[i].seed], known[i].sample, known[i].size, picture);
        ocdm__scene_features(worlds[known[i].seed], known[i].sample, features);
        uint64_t seen = fingerprint(0xCBF29CE484222325u, picture, (size_t)3 * known[i].size * known[i].size);
        uint64_t felt = fingerprint(0xCBF29CE484222325u, features, sizeof features);
        if (seen == known[i].picture && felt == known[i].features)
            continue;
        print_error("sample %zu: picture 0x%016llXu, features 0x%016llXu\n", known[i].sample, (unsigned long long)seen,
                    (unsigned long long)felt);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* As above, over samples from all of the world. */
TEST(scenes_are_the_same_bytes_everywhere_when_taken_together)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < worlds[0]->labels->sample_count; i += 101) {
        uint8_t picture[3 * 32 * 32];
        float features[WIDTH];
        ocdm__scene_render(worlds[0], i, 32, picture);
        ocdm__scene_features(worlds[0], i, features);
        hash = fingerprint(fingerprint(hash, picture, sizeof picture), features, sizeof features);
    }
    if (hash != 0x8F9404033F4729A9u)
        fail_msg("fingerprint is 0x%016llXu", (unsigned long long)hash);
}

TEST(scene_differs_when_seed_or_sample_does)
{
    uint8_t picture[3][BYTES];
    float features[3][WIDTH];
    static const size_t sample[3] = {TRAIN, TRAIN + 1, TRAIN}; /* the same label in all three */
    for (size_t i = 0; i < 3; i++) {
        ocdm__scene_render(worlds[i / 2], sample[i], SIZE, picture[i]);
        ocdm__scene_features(worlds[i / 2], sample[i], features[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_memory_not_equal(picture[i], picture[(i + 1) % 3], BYTES);
        assert_memory_not_equal(features[i], features[(i + 1) % 3], sizeof features[i]);
    }
}

TEST(scene_has_one_object_of_each_of_its_classes_when_planned)
{
    const ocdm__scenes *scenes = worlds[0];
    size_t objects = 0, buried = 0;
    for (size_t i = 0; i < scenes->labels->sample_count; i += 3) {
        ocdm__scene_plan plan;
        uint64_t wanted = 0, found = 0;
        ocdm__scene_plan_sample(scenes, i, &plan);
        for (size_t j = scenes->labels->label_start[i]; j < scenes->labels->label_start[i + 1]; j++)
            wanted |= UINT64_C(1) << scenes->labels->label[j];
        for (size_t j = 0; j < plan.object_count; j++) {
            const ocdm__scene_object *object = &plan.object[j];
            if (object->class_number == OCDM__NO_CLASS)
                continue;
            assert_ptr_equal(object->figure, &ocdm__scene_figures[object->class_number]);
            assert_int_equal(found >> object->class_number & 1, 0);
            found |= UINT64_C(1) << object->class_number;
            assert_true(object->x > 0 && object->x < 1 && object->y > 0 && object->y < 1);
            assert_true(object->visible >= 0 && object->visible <= 1);
            objects++;
            buried += object->visible < 0.2;
        }
        assert_true(found == wanted);
    }
    assert_true(buried * 100 < objects); /* nothing can be learnt from a label that is not visible */
}

/* How far from the object's centre its picture may reach, in pixels: the corner of its square, and the soft edge. */
static double reach_of(const ocdm__scene_object *object)
{
    double stretch = object->stretch > 1 ? object->stretch : 1 / object->stretch;
    return object->half * SIZE * stretch * sqrt(2) + 2;
}

/* How many pixels differ; each must be near the object. */
static size_t changes_near(const ocdm__scene_object *object, const uint8_t *with, const uint8_t *without)
{
    size_t changed = 0;
    for (size_t at = 0; at < SIZE * SIZE; at++) {
        bool same = true;
        for (size_t i = 0; i < 3; i++)
            same = same && with[i * SIZE * SIZE + at] == without[i * SIZE * SIZE + at];
        if (same)
            continue;
        double dx = (double)(at % SIZE) + 0.5 - object->x * SIZE;
        double dy = (double)(at / SIZE) + 0.5 - object->y * SIZE;
        assert_true(dx * dx + dy * dy <= reach_of(object) * reach_of(object));
        changed++;
    }
    return changed;
}

/* An object with a label is where the plan says and nowhere else, and is visible if the plan says so. */
TEST(scene_changes_near_an_object_only_when_it_is_taken_away)
{
    const ocdm__scenes *scenes = worlds[1];
    uint8_t with[BYTES], without[BYTES];
    for (size_t i = 0; i < scenes->labels->sample_count; i += i < TRAIN ? 601 : 25) {
        ocdm__scene_plan plan;
        ocdm__scene_plan_sample(scenes, i, &plan);
        ocdm__scene_draw(&plan, SIZE, with);
        for (size_t j = 0; j < plan.object_count; j++) {
            ocdm__scene_plan fewer = plan;
            memmove(fewer.object + j, fewer.object + j + 1, (plan.object_count - j - 1) * sizeof fewer.object[0]);
            fewer.object_count--;
            ocdm__scene_draw(&fewer, SIZE, without);
            size_t changed = changes_near(&plan.object[j], with, without);
            if (plan.object[j].class_number != OCDM__NO_CLASS && plan.object[j].visible > 0.5)
                assert_true(changed > 20);
        }
    }
}

TEST(scene_has_strays_only_when_there_is_no_label)
{
    size_t strays = 0;
    for (uint64_t i = 0; i < 100; i++) {
        ocdm__scene_plan plan;
        uint8_t picture[BYTES];
        ocdm__scene_plan_make(ocdm__random_stream(7, i), NULL, 0, &plan);
        for (size_t j = 0; j < plan.object_count; j++)
            assert_int_equal(plan.object[j].class_number, OCDM__NO_CLASS);
        ocdm__scene_draw(&plan, SIZE, picture);
        strays += plan.object_count;
    }
    assert_in_range(strays, 200, 500);
}

/* Every class on one picture: the plan has room, and nothing is written outside a picture of any size. */
TEST(scene_stays_inside_the_picture_when_it_is_crowded)
{
    static uint8_t picture[LARGEST + 2];
    uint32_t label[CLASSES];
    for (uint32_t c = 0; c < CLASSES; c++)
        label[c] = c;
    for (uint32_t size = OCDM__SCENE_LEAST_SIZE; size <= OCDM__SCENE_MOST_SIZE; size += 30) {
        size_t bytes = (size_t)3 * size * size;
        ocdm__scene_plan plan;
        ocdm__scene_plan_make(ocdm__random_stream(8, size), label, CLASSES, &plan);
        assert_in_range(plan.object_count, CLASSES, OCDM__SCENE_OBJECTS);
        memset(picture, 0xA5, sizeof picture);
        ocdm__scene_draw(&plan, size, picture + 1);
        assert_int_equal(picture[0], 0xA5);
        assert_int_equal(picture[bytes + 1], 0xA5);
    }
}

TEST(features_are_finite_and_standardized_when_taken_from_the_training_part)
{
    double sum[WIDTH] = {0}, squares[WIDTH] = {0};
    size_t count = 0;
    for (size_t i = 7; i < TRAIN; i += 5, count++) {
        float features[WIDTH];
        ocdm__scene_features(worlds[0], i, features);
        for (size_t j = 0; j < WIDTH; j++) {
            assert_true(isfinite(features[j]));
            sum[j] += (double)features[j];
            squares[j] += (double)features[j] * (double)features[j];
        }
    }
    for (size_t j = 0; j < WIDTH; j++) {
        double mean = sum[j] / (double)count;
        assert_true(fabs(mean) < 0.2);
        assert_true(fabs(sqrt(squares[j] / (double)count - mean * mean) - 1) < 0.2);
    }
}

static double distance_between(const double *a, const float *b)
{
    double sum = 0;
    for (size_t j = 0; j < WIDTH; j++)
        sum += (a[j] - (double)b[j]) * (a[j] - (double)b[j]);
    return sum;
}

/* The mean of half of a class's test vectors is nearest to most of the other half, but far from all: there is something to
 * learn, and it is not easy. */
TEST(features_tell_classes_apart_but_not_always)
{
    static double mean[CLASSES][WIDTH];
    size_t right = 0;
    float features[WIDTH];
    for (size_t n = 0; n < CLASSES * TESTS; n += 2) {
        ocdm__scene_features(worlds[0], TRAIN + n, features);
        for (size_t j = 0; j < WIDTH; j++)
            mean[n / TESTS][j] += (double)features[j] / (TESTS / 2);
    }
    for (size_t n = 1; n < CLASSES * TESTS; n += 2) {
        size_t nearest = 0;
        ocdm__scene_features(worlds[0], TRAIN + n, features);
        for (size_t c = 1; c < CLASSES; c++)
            if (distance_between(mean[c], features) < distance_between(mean[nearest], features))
                nearest = c;
        right += nearest == n / TESTS;
    }
    assert_in_range(right * 100 / (CLASSES * TESTS / 2), 50, 85);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_keep_the_builtin_stream_as_training_part_when_made),
        cmocka_unit_test(scenes_have_fifty_test_samples_of_each_class_alone_when_made),
        cmocka_unit_test(scene_is_the_same_bytes_everywhere_when_the_seed_is_the_same),
        cmocka_unit_test(scenes_are_the_same_bytes_everywhere_when_taken_together),
        cmocka_unit_test(scene_differs_when_seed_or_sample_does),
        cmocka_unit_test(scene_has_one_object_of_each_of_its_classes_when_planned),
        cmocka_unit_test(scene_changes_near_an_object_only_when_it_is_taken_away),
        cmocka_unit_test(scene_has_strays_only_when_there_is_no_label),
        cmocka_unit_test(scene_stays_inside_the_picture_when_it_is_crowded),
        cmocka_unit_test(features_are_finite_and_standardized_when_taken_from_the_training_part),
        cmocka_unit_test(features_tell_classes_apart_but_not_always),
    };
    return cmocka_run_group_tests(tests, make_worlds, destroy_worlds);
}
