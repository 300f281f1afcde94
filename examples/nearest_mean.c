/*
 * A learner of your own in the online experiment: a class is predicted for a sample that is nearer to the mean of the samples
 * with the class than to the mean of those without it.
 *
 *     cc nearest_mean.c -o nearest_mean $(pkg-config --cflags --libs ocdm_experiment)
 *     ./nearest_mean scenes.safetensors runs/nearest-mean && ocdm report runs -o report.html
 */
#include <ocdm/experiment.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of width + 1 numbers, one for each class and one for all samples: the sum of the features, the number of samples. */
struct means {
    size_t width, classes, size;
    double *rows;
};

static ocdm_status begin(void *state, size_t width, size_t classes, ocdm_error *error)
{
    struct means *means = state;
    (void)error;
    *means = (struct means){width, classes, (classes + 1) * (width + 1) * sizeof(double), NULL};
    means->rows = calloc(1, means->size);
    return means->rows != NULL ? OCDM_OK : OCDM_NO_MEMORY;
}

static void add(const struct means *means, size_t number, const float *features)
{
    double *row = means->rows + number * (means->width + 1);
    for (size_t k = 0; k < means->width; k++)
        row[k] += (double)features[k];
    row[means->width]++;
}

static ocdm_status train(void *state, const ocdm_learner_batch *batch, double *loss, ocdm_error *error)
{
    const struct means *means = state;
    (void)error;
    for (size_t i = 0; i < batch->count; i++) {
        add(means, means->classes, batch->features + i * means->width);
        for (size_t k = batch->starts[i]; k < batch->starts[i + 1]; k++)
            add(means, batch->labels[k], batch->features + i * means->width);
    }
    *loss = NAN; /* nothing is minimised */
    return OCDM_OK;
}

/* Squared distance to the mean of the samples without the class, minus that to the mean of those with it. */
static float score(const struct means *means, size_t class, const float *features)
{
    const double *with = means->rows + class * (means->width + 1), *all = means->rows + means->classes * (means->width + 1);
    double n = with[means->width], others = all[means->width] - n, sum = 0;
    for (size_t k = 0; k < means->width && n > 0 && others > 0; k++) {
        double far = (double)features[k] - (all[k] - with[k]) / others, near = (double)features[k] - with[k] / n;
        sum += far * far - near * near;
    }
    return n > 0 ? (float)sum : -1;
}

static ocdm_status predict(void *state, const float *features, size_t count, float *scores, ocdm_error *error)
{
    const struct means *means = state;
    (void)error;
    for (size_t i = 0; i < count * means->classes; i++)
        scores[i] = score(means, i % means->classes, features + i / means->classes * means->width);
    return OCDM_OK;
}

static const void *save(void *state, size_t *size)
{
    *size = ((const struct means *)state)->size;
    return ((const struct means *)state)->rows;
}

static ocdm_status load(void *state, const void *bytes, size_t size, ocdm_error *error)
{
    const struct means *means = state;
    (void)error;
    memcpy(means->rows, bytes, size < means->size ? size : means->size);
    return size == means->size ? OCDM_OK : OCDM_BAD_FILE;
}

int main(int argc, char **argv)
{
    struct means means = {0, 0, 0, NULL};
    ocdm_error error = {.message = "usage: nearest_mean STREAM FOLDER"};
    const ocdm_learner learner = {sizeof learner, "nearest-mean", &means, begin, train, predict, NULL, 0, save, load};
    ocdm_experiment experiment = ocdm_experiment_default();
    experiment.stream = argc > 2 ? argv[1] : NULL;
    experiment.folder = argc > 2 ? argv[2] : NULL;
    ocdm_status status = argc > 2 ? ocdm_experiment_run(&experiment, &learner, &error) : OCDM_OK;
    if (argc < 3 || status != OCDM_OK)
        puts(error.message);
    free(means.rows);
    return status != OCDM_OK;
}
