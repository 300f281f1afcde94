/* Pseudo-labels of a batch, against the rule: unknown, brought already, and more likely than P by the averaged model. */
#include "../test.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "experiment/loop/run.h"

enum { CLASSES = 5, SAMPLES = 3 };

/* A learner whose averages say what `answers` has, and whose trained weights say nothing. */
struct oracle {
    size_t version, asked;
    ocdm_status status;
    float answers[SAMPLES * CLASSES];
};

static ocdm_status use(void *state, size_t version, ocdm_error *error)
{
    (void)error;
    ((struct oracle *)state)->version = version;
    return OCDM_OK;
}

static ocdm_status predict(void *state, const float *input, size_t count, float *logits, ocdm_error *error)
{
    struct oracle *oracle = state;
    (void)input;
    oracle->asked++;
    assert_int_equal(oracle->version, 1);
    if (oracle->status != OCDM_OK)
        return ocdm__fail(error, oracle->status, "", "the oracle is silent");
    memcpy(logits, oracle->answers, count * CLASSES * sizeof *logits);
    return OCDM_OK;
}

/* Sample 0 carries class 1 and knows 0 and 1, sample 1 carries nothing and knows all, sample 2 carries 3 and knows 3. Class 4
 * has not come yet. */
static const size_t starts[] = {0, 1, 1, 2};
static const uint32_t labels[] = {1, 3};
static const uint8_t known[] = {0x03, 0x1f, 0x08};
static const float ages[] = {9, 1, 4, 2, 0};

static void check(double least, ocdm_status status, const size_t *expected_starts, const uint32_t *expected_labels,
                  const uint8_t *expected_known)
{
    const ocdm__learner_functions functions = {.predict = predict, .use = use};
    /* Logits of 0.9 are scores of 0.71, of 0.8 of 0.69. */
    struct oracle oracle = {.status = status, .answers = {5, 5, 0.9f, 0.8f, 5, 5, 5, 5, 5, 5, 0.9f, -1, 0.8f, -5, 0.9f}};
    ocdm__learner learner = {.functions = &functions, .state = &oracle};
    const ocdm__stream stream = {.table = {.class_count = CLASSES}};
    const ocdm__run_settings settings = {.pseudo = least};
    float guesses[SAMPLES * CLASSES], own_ages[CLASSES];
    ocdm__run run = {
        .settings = &settings, .stream = &stream, .learner = &learner, .online = {.guesses = guesses, .ages = own_ages}};
    ocdm__label_room *room = &run.online.labels;
    ocdm_error error;
    memcpy(own_ages, ages, sizeof own_ages);
    assert_true(ocdm__reserve(&room->starts, &room->start_room, SAMPLES + 1, sizeof *room->starts) &&
                ocdm__reserve(&room->labels, &room->label_room, 3, sizeof *room->labels) &&
                ocdm__reserve(&room->known, &room->known_room, SAMPLES, 1));
    memcpy(room->starts, starts, sizeof starts);
    memcpy(room->labels, labels, sizeof labels);
    memcpy(room->known, known, sizeof known);
    run.online.batch =
        (ocdm__batch){.count = SAMPLES, .fresh = 2, .starts = room->starts, .labels = room->labels, .known = room->known};
    assert_int_equal(ocdm__add_pseudo_labels(&run, &error), status);
    assert_true(oracle.asked == 1 && oracle.version == 0);
    assert_memory_equal(run.online.batch.starts, expected_starts, (SAMPLES + 1) * sizeof *starts);
    assert_memory_equal(run.online.batch.labels, expected_labels, expected_starts[SAMPLES] * sizeof *labels);
    assert_memory_equal(run.online.batch.known, expected_known, SAMPLES);
    ocdm__label_room_clear(room);
}

TEST(unknown_classes_above_the_probability_count_as_present)
{
    check(0.7, OCDM_OK, (const size_t[]){0, 2, 2, 4}, (const uint32_t[]){1, 2, 3, 0}, (const uint8_t[]){0x07, 0x1f, 0x09});
    check(0.6, OCDM_OK, (const size_t[]){0, 3, 3, 6}, (const uint32_t[]){1, 2, 3, 3, 0, 2},
          (const uint8_t[]){0x0f, 0x1f, 0x0d});
}

TEST(no_pseudo_labels_where_nothing_is_likely)
{
    check(0.995, OCDM_OK, starts, labels, known);
}

TEST(failed_prediction_leaves_the_labels_and_the_trained_weights)
{
    check(0.7, OCDM_NO_MEMORY, starts, labels, known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_classes_above_the_probability_count_as_present),
        cmocka_unit_test(no_pseudo_labels_where_nothing_is_likely),
        cmocka_unit_test(failed_prediction_leaves_the_labels_and_the_trained_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
