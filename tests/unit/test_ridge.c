/* Streaming ridge regression equals scikit-learn's, whatever is replayed, saved or repeated. */
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/ridge.inc"
#include "base/error.h"
#include "experiment/agent_learner.h"

enum { SAMPLES = 30, FEATURES = 6, CLASSES = 3, TESTED = 8 };

struct data {
    float input[SAMPLES * FEATURES];
    size_t starts[SAMPLES + 1];
    uint32_t labels[2 * SAMPLES * CLASSES];
};

/* As in tests/make-golden; every label twice, which counts once. */
static struct data made(void)
{
    struct data data;
    size_t used = 0;
    for (size_t i = 0; i < SAMPLES * FEATURES; i++)
        data.input[i] = (float)((double)(float)sin(0.37 * (double)i + 3) * (double)(1 + i % FEATURES) + 0.5);
    for (size_t i = 0; i < SAMPLES; i++) {
        data.starts[i] = used;
        for (uint32_t c = 0; c < 2 * CLASSES; c++)
            if (i % (c % CLASSES + 2) == 0)
                data.labels[used++] = c % CLASSES;
    }
    data.starts[SAMPLES] = used;
    return data;
}

static ocdm__learner learner_of(double lambda)
{
    ocdm__learner learner;
    assert_int_equal(ocdm__ridge_learner(FEATURES, CLASSES, &(ocdm__run_settings){.lambda = lambda}, NULL, &learner, NULL),
                     OCDM_OK);
    return learner;
}

/* Samples first to end - 1, and then some more that are replayed. */
static ocdm_status train(const ocdm__learner *learner, const struct data *data, size_t first, size_t end, size_t *bad)
{
    const ocdm__batch batch = {.input = data->input + first * FEATURES,
                               .starts = data->starts + first,
                               .labels = data->labels,
                               .count = SAMPLES - first,
                               .fresh = end - first};
    double loss = 0;
    ocdm_error error;
    return learner->functions->train(learner->state, &batch, &loss, bad, &error);
}

static void check_scores(const ocdm__learner *learner, const struct data *data)
{
    float logits[TESTED * CLASSES];
    assert_int_equal(learner->functions->predict(learner->state, data->input, TESTED, logits, NULL), OCDM_OK);
    for (size_t i = 0; i < TESTED * CLASSES; i++)
        assert_true(fabs((double)logits[i] + 0.5 - ridge_scores[i]) < 2e-6);
}

TEST(ridge_has_the_scores_of_scikit_learn_and_ignores_replays)
{
    const struct data data = made();
    const ocdm__learner learner = learner_of(2.5);
    size_t bad = 0;
    for (size_t first = 0; first < SAMPLES; first += 5) {
        assert_int_equal(train(&learner, &data, first, first + 5, &bad), OCDM_OK);
        float logits[CLASSES]; /* a solution in between does not matter */
        assert_int_equal(learner.functions->predict(learner.state, data.input, 1, logits, NULL), OCDM_OK);
    }
    check_scores(&learner, &data);
    learner.functions->destroy(learner.state);
}

/* Classes 0 and 2 are known by the samples whose number is not 1 modulo 3, class 1 by those whose number is not 0 modulo 4: the
 * scores of a class are those of a regression on its samples alone. */
static bool knows(size_t sample, uint32_t c)
{
    return c == 1 ? sample % 4 != 0 : sample % 3 != 1;
}

/* Trains on the samples that know a class, with labels that all know it. */
static void train_alone(const ocdm__learner *learner, const struct data *data, uint32_t c)
{
    size_t bad = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        if (knows(i, c))
            assert_int_equal(train(learner, data, i, i + 1, &bad), OCDM_OK);
}

TEST(ridge_fits_a_class_to_the_samples_that_know_it)
{
    const struct data data = made();
    uint8_t known[SAMPLES] = {0}, parts[SAMPLES] = {0};
    uint32_t kept[2 * SAMPLES * CLASSES];
    size_t starts[SAMPLES + 1] = {0}, bad = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        starts[i + 1] = starts[i];
        for (uint32_t c = 0; c < CLASSES; c++)
            known[i] |= (uint8_t)(knows(i, c) << c);
        for (size_t k = data.starts[i]; k < data.starts[i + 1]; k++)
            if (knows(i, data.labels[k]))
                kept[starts[i + 1]++] = data.labels[k];
    }
    const ocdm__stream_table table = {.sample_count = SAMPLES, .class_count = CLASSES, .parts = parts, .known = known};
    ocdm__learner masked;
    assert_int_equal(ocdm__ridge_learner(FEATURES, CLASSES, &(ocdm__run_settings){.lambda = 2.5}, &table, &masked, NULL),
                     OCDM_OK);
    const ocdm__batch batch = {
        .input = data.input, .starts = starts, .labels = kept, .known = known, .count = SAMPLES, .fresh = SAMPLES};
    double loss = 0;
    assert_int_equal(masked.functions->train(masked.state, &batch, &loss, &bad, NULL), OCDM_OK);
    float logits[TESTED * CLASSES], judged[TESTED * CLASSES];
    assert_int_equal(masked.functions->predict(masked.state, data.input, TESTED, logits, NULL), OCDM_OK);
    for (uint32_t c = 0; c < CLASSES; c++) {
        const ocdm__learner alone = learner_of(2.5);
        train_alone(&alone, &data, c);
        assert_int_equal(alone.functions->predict(alone.state, data.input, TESTED, judged, NULL), OCDM_OK);
        for (size_t i = 0; i < TESTED; i++)
            assert_true(fabsf(logits[i * CLASSES + c] - judged[i * CLASSES + c]) < 1e-6F);
        alone.functions->destroy(alone.state);
    }
    masked.functions->destroy(masked.state);
}

/* The tensors of a checkpoint, found by name as in a file. */
TEST(ridge_goes_on_from_what_it_saved)
{
    const struct data data = made();
    const ocdm__learner whole = learner_of(2.5), resumed = learner_of(2.5);
    ocdm__tensor_list saved = {.count = 0};
    size_t bad = 0;
    ocdm_error error;
    assert_int_equal(train(&whole, &data, 0, 17, &bad), OCDM_OK);
    assert_int_equal(whole.functions->save(whole.state, true, &saved, NULL), OCDM_OK);
    struct ocdm__safetensors file = {.tensors = saved.tensors, .tensor_count = saved.count};
    const struct ocdm__weights given = {"F", &file};
    assert_int_equal(resumed.functions->load(resumed.state, &given, NULL), OCDM_OK);
    assert_int_equal(train(&resumed, &data, 17, SAMPLES, &bad), OCDM_OK);
    check_scores(&resumed, &data);
    file.tensor_count--;
    assert_int_equal(resumed.functions->load(resumed.state, &given, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "F: tensor ridge.labels is missing or of another size");
    ocdm__tensor_list_clear(&saved);
    whole.functions->destroy(whole.state);
    resumed.functions->destroy(resumed.state);
}

TEST(ridge_refuses_what_it_cannot_solve)
{
    struct data data = made();
    const ocdm__learner learner = learner_of(1e-12);
    float logits[CLASSES];
    size_t bad = 0;
    ocdm_error error;
    assert_int_equal(learner.functions->predict(learner.state, data.input, 1, logits, NULL), OCDM_OK);
    assert_true(logits[0] == -0.5f);
    for (size_t i = 0; i < SAMPLES; i++)
        data.input[i * FEATURES + 1] = data.input[i * FEATURES] * 1e8f;
    assert_int_equal(train(&learner, &data, 0, SAMPLES, &bad), OCDM_OK);
    assert_int_equal(learner.functions->predict(learner.state, data.input, 1, logits, &error), OCDM_BAD_RECORD);
    assert_non_null(strstr(error.message, "lambda 1e-12 is too small"));
    data.input[4 * FEATURES + 2] = NAN;
    assert_int_equal(train(&learner, &data, 0, SAMPLES, &bad), OCDM_BAD_RECORD);
    assert_int_equal(bad, 4);
    learner.functions->destroy(learner.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridge_has_the_scores_of_scikit_learn_and_ignores_replays),
        cmocka_unit_test(ridge_fits_a_class_to_the_samples_that_know_it),
        cmocka_unit_test(ridge_goes_on_from_what_it_saved),
        cmocka_unit_test(ridge_refuses_what_it_cannot_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
