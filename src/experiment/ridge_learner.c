/*
 * Streaming ridge regression: one linear function for each class, fitted to targets 0 and 1 by least squares with a penalty
 * lambda on the squares of its weights, not on its intercept. The sums that determine it are kept, so that every sample of the
 * stream counts, in any order, and none has to be replayed. They are solved when predictions are needed.
 *
 * With partial labels a class is fitted to the samples that know it. Classes that the same samples know are a block, which has
 * its own Gram matrix; where all labels are known there is one block.
 *
 * The function may be of random features instead of the features themselves: a = max(0, R x), R drawn by the seed.
 */
#include "experiment/agent_learner.h"

#include "base/bytes.h"
#include "base/random.h"
#include "stream/labelled_set.h"

/* What is saved of the sums: tensors of doubles. */
enum sums { SAMPLES, GRAM, CROSS, FEATURE_SUMS, LABEL_COUNTS, CARRIERS, SUMS };

static const char *const names[SUMS] = {
    [SAMPLES] = "ridge.samples",       [GRAM] = "ridge.gram",           [CROSS] = "ridge.cross",
    [FEATURE_SUMS] = "ridge.features", [LABEL_COUNTS] = "ridge.labels", [CARRIERS] = "ridge.carriers"};

struct ridge {
    size_t inputs, features, classes,
        blocks;           /* features: those that are fitted; inputs of a sample, unless projected as many */
    double lambda;        /* the penalty */
    bool balance;         /* samples of rare classes weigh more */
    float *projection;    /* R, a row for each feature; NULL: features are inputs */
    uint32_t *block_of;   /* of each class */
    uint32_t *first_of;   /* of each block a class */
    double *sums[SUMS];   /* GRAM: of each block the lower triangle by rows; CROSS: a row for each class */
    double *factor;       /* room for the triangle that is solved */
    double *solution;     /* a row for each class */
    float *weight, *bias; /* of the solution, as a linear layer has them */
    float *no_bias;       /* of the projection, all 0 */
    double *rows;         /* the features of a batch */
    size_t row_room;      /* samples */
    bool *has;            /* room for its labels */
    ocdm__arena arena;    /* of all but the rows */
    bool solved;
};

/* Numbers of a Gram matrix. */
static size_t triangle_of(const struct ridge *ridge)
{
    return ridge->features * (ridge->features + 1) / 2;
}

/* Numbers of each of the sums. */
static size_t length_of(const struct ridge *ridge, enum sums which)
{
    const size_t lengths[SUMS] = {[SAMPLES] = ridge->blocks,
                                  [GRAM] = ridge->blocks * triangle_of(ridge),
                                  [CROSS] = ridge->classes * ridge->features,
                                  [FEATURE_SUMS] = ridge->blocks * ridge->features,
                                  [LABEL_COUNTS] = ridge->classes,
                                  [CARRIERS] = ridge->balance ? ridge->classes : 0};
    return lengths[which];
}

/* Row i of a lower triangle. */
static double *row_of(double *triangle, size_t i)
{
    return triangle + i * (i + 1) / 2;
}

/* to += scale * from */
static void add_scaled(double *to, const double *from, double scale, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += scale * from[i];
}

/* Eight sums at once: additions need not wait for each other. */
enum { LANES = 8 };

/* In eight lanes, which are added in one order. */
static double product(const double *a, const double *b, size_t count)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (size_t k = 0; k < LANES; k++)
        sum += lanes[k];
    return sum;
}

/* ---- features ---------------------------------------------------------------------------------------------------------- */

/* Rows of `features` numbers. A row of R serves all samples while it is in the cache. */
static void take_features(const struct ridge *ridge, const float *input, size_t count, double *rows)
{
    if (ridge->projection == NULL) {
        for (size_t i = 0; i < count * ridge->features; i++)
            rows[i] = (double)input[i];
        return;
    }
    for (size_t k = 0; k < ridge->features; k++)
        for (size_t i = 0; i < count; i++) {
            const float *r = ridge->projection + k * ridge->inputs, *x = input + i * ridge->inputs;
            double lanes[LANES] = {0}, sum = 0;
            size_t j = 0;
            for (; j + LANES <= ridge->inputs; j += LANES)
                for (size_t l = 0; l < LANES; l++)
                    lanes[l] += (double)r[j + l] * (double)x[j + l];
            for (; j < ridge->inputs; j++)
                sum += (double)r[j] * (double)x[j];
            for (size_t l = 0; l < LANES; l++)
                sum += lanes[l];
            rows[i * ridge->features + k] = sum > 0 ? sum : 0;
        }
}

/* ---- sums -------------------------------------------------------------------------------------------------------------- */

/* omega, the mean over the sample's classes k of C n_k^-1/2 / (sum over the classes j so far of n_j^-1/2), C of them, each n
 * counting this sample. 1 without labels, or if samples weigh alike. */
static double weigh(struct ridge *ridge, const uint32_t *labels, size_t label_count)
{
    double *carriers = ridge->sums[CARRIERS], all = 0, own = 0, classes = 0, carried = 0;
    if (!ridge->balance)
        return 1;
    memset(ridge->has, 0, ridge->classes * sizeof *ridge->has);
    for (size_t k = 0; k < label_count; k++)
        if (!ridge->has[labels[k]]) {
            ridge->has[labels[k]] = true;
            carriers[labels[k]] += 1;
        }
    for (size_t c = 0; c < ridge->classes; c++) {
        double rarity = carriers[c] > 0 ? 1 / sqrt(carriers[c]) : 0;
        classes += carriers[c] > 0;
        all += rarity;
        carried += ridge->has[c];
        own += ridge->has[c] ? rarity : 0;
    }
    return carried > 0 ? classes * own / (all * carried) : 1;
}

/* `known` as in ocdm__batch. */
static void add_labels(struct ridge *ridge, const double *row, double weight, const uint32_t *labels, size_t label_count,
                       const uint8_t *known)
{
    for (size_t block = 0; block < ridge->blocks; block++)
        if (ocdm__bits_have(known, ridge->first_of[block])) {
            ridge->sums[SAMPLES][block] += weight;
            add_scaled(ridge->sums[FEATURE_SUMS] + block * ridge->features, row, weight, ridge->features);
        }
    memset(ridge->has, 0, ridge->classes * sizeof *ridge->has);
    for (size_t k = 0; k < label_count; k++) {
        uint32_t c = labels[k];
        if (ridge->has[c])
            continue;
        ridge->has[c] = true;
        ridge->sums[LABEL_COUNTS][c] += weight;
        add_scaled(ridge->sums[CROSS] + c * ridge->features, row, weight, ridge->features);
    }
}

/* Rows of the Gram matrices outside, samples inside: a row is in the cache for the whole batch. */
static void add_products(struct ridge *ridge, const ocdm__batch *batch, const double *weights)
{
    for (size_t block = 0; block < ridge->blocks; block++)
        for (size_t k = 0; k < ridge->features; k++) {
            double *gram = row_of(ridge->sums[GRAM] + block * triangle_of(ridge), k);
            for (size_t i = 0; i < batch->fresh; i++) {
                const double *row = ridge->rows + i * ridge->features;
                const uint8_t *known = batch->known != NULL ? batch->known + i * ocdm__bits_size(ridge->classes) : NULL;
                if (row[k] != 0 && ocdm__bits_have(known, ridge->first_of[block]))
                    add_scaled(gram, row, weights[i] * row[k], k + 1);
            }
        }
}

/* Replayed samples were counted when they came. There is no loss before the sums are solved. */
static ocdm_status train(void *state, const ocdm__batch *batch, double *loss, size_t *bad, ocdm_error *error)
{
    struct ridge *ridge = state;
    (void)loss;
    if (!ocdm__reserve(&ridge->rows, &ridge->row_room, batch->fresh, (ridge->features + 1) * sizeof *ridge->rows))
        return ocdm__fail_memory(error, "the features of a batch");
    for (size_t i = 0; i < batch->fresh * ridge->inputs; i++)
        if (!isfinite(batch->input[i])) {
            *bad = i / ridge->inputs;
            return ocdm__fail(error, OCDM_BAD_RECORD, "build the stream again without it", "a feature is not a finite number");
        }
    double *weights = ridge->rows + batch->fresh * ridge->features;
    take_features(ridge, batch->input, batch->fresh, ridge->rows);
    for (size_t i = 0; i < batch->fresh; i++) {
        const uint8_t *known = batch->known != NULL ? batch->known + i * ocdm__bits_size(ridge->classes) : NULL;
        const uint32_t *labels = batch->labels + batch->starts[i];
        size_t label_count = batch->starts[i + 1] - batch->starts[i];
        weights[i] = weigh(ridge, labels, label_count);
        add_labels(ridge, ridge->rows + i * ridge->features, weights[i], labels, label_count, known);
    }
    add_products(ridge, batch, weights);
    ridge->solved = false;
    return OCDM_OK;
}

/* ---- solving ----------------------------------------------------------------------------------------------------------- */

/* Below this share of the diagonal a pivot is nothing but rounding errors. */
#define LEAST_PIVOT 1e-14

/* Cholesky's factor of a block's centred Gram matrix plus lambda on the diagonal. False if that is not positive definite,
 * within rounding. */
static bool factorise(const struct ridge *ridge, size_t block)
{
    const double samples = ridge->sums[SAMPLES][block], *sum = ridge->sums[FEATURE_SUMS] + block * ridge->features;
    size_t size = triangle_of(ridge);
    memcpy(ridge->factor, ridge->sums[GRAM] + block * size, size * sizeof *ridge->factor);
    for (size_t i = 0; i < ridge->features; i++) {
        double *row = row_of(ridge->factor, i);
        add_scaled(row, sum, -sum[i] / samples, i + 1);
        row[i] += ridge->lambda;
        for (size_t j = 0; j < i; j++) {
            const double *above = row_of(ridge->factor, j);
            row[j] = (row[j] - product(row, above, j)) / above[j];
        }
        double pivot = row[i] - product(row, row, i);
        if (!(pivot > LEAST_PIVOT * row[i]))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

/* A score of 1/2 is where the fitted targets 0 and 1 meet; logits are positive above it. The weights of one class are solved
 * for in place, forward and back. */
static void solve_class(struct ridge *ridge, size_t c)
{
    size_t block = ridge->block_of[c], features = ridge->features;
    const double samples = ridge->sums[SAMPLES][block], *sum = ridge->sums[FEATURE_SUMS] + block * features;
    double share = ridge->sums[LABEL_COUNTS][c] / samples, *x = ridge->solution;
    memcpy(x, ridge->sums[CROSS] + c * features, features * sizeof *x);
    add_scaled(x, sum, -share, features);
    for (size_t i = 0; i < features; i++) {
        const double *row = row_of(ridge->factor, i);
        x[i] = (x[i] - product(row, x, i)) / row[i];
    }
    for (size_t i = features; i-- > 0;) {
        const double *row = row_of(ridge->factor, i);
        x[i] /= row[i];
        add_scaled(x, row, -x[i], i);
    }
    for (size_t i = 0; i < features; i++)
        ridge->weight[c * features + i] = (float)x[i];
    ridge->bias[c] = (float)(share - product(x, sum, features) / samples - 0.5);
}

/* Without a sample every score is 0. */
static ocdm_status solve(struct ridge *ridge, ocdm_error *error)
{
    for (size_t block = 0; !ridge->solved && block < ridge->blocks; block++) {
        bool empty = ridge->sums[SAMPLES][block] == 0;
        if (!empty && !factorise(ridge, block))
            return ocdm__fail(error, OCDM_BAD_RECORD, "take a larger --lambda",
                              "ridge regression: the features depend on each other, and lambda %g is too small to decide",
                              ridge->lambda);
        for (size_t c = 0; c < ridge->classes; c++)
            if (ridge->block_of[c] == block && empty)
                ridge->bias[c] = -0.5f;
            else if (ridge->block_of[c] == block)
                solve_class(ridge, c);
    }
    ridge->solved = true;
    return OCDM_OK;
}

/* Sums are in double precision: the last bits do not depend on the CPU. */
static ocdm_status predict(void *state, const float *input, size_t count, float *logits, ocdm_error *error)
{
    struct ridge *ridge = state;
    OCDM_TRY(solve(ridge, error));
    if (!ocdm__reserve(&ridge->rows, &ridge->row_room, 1, (ridge->features + 1) * sizeof *ridge->rows))
        return ocdm__fail_memory(error, "the features of a sample");
    for (size_t i = 0; i < count; i++) {
        take_features(ridge, input + i * ridge->inputs, 1, ridge->rows);
        for (size_t c = 0; c < ridge->classes; c++) {
            const float *weight = ridge->weight + c * ridge->features;
            double sum = (double)ridge->bias[c];
            for (size_t k = 0; k < ridge->features; k++)
                sum += (double)weight[k] * ridge->rows[k];
            logits[i * ridge->classes + c] = (float)sum;
        }
    }
    return OCDM_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------------- */

static struct ocdm__tensor matrix(const char *name, const float *values, size_t rows, size_t columns)
{
    struct ocdm__tensor tensor = ocdm__tensor_of(name, OCDM__F32, values, rows * columns);
    tensor.rank = 2;
    tensor.shape[0] = rows;
    tensor.shape[1] = columns;
    return tensor;
}

/* A checkpoint has the sums, weights files the solution. */
static ocdm_status save(void *state, bool all, ocdm__tensor_list *tensors, ocdm_error *error)
{
    struct ridge *ridge = state;
    struct ocdm__tensor *made;
    OCDM_TRY(ocdm__new(&made, SUMS, sizeof *made, "the sums of a ridge regression", error));
    *tensors = (ocdm__tensor_list){.tensors = made};
    if (!all) {
        /* The solution as a linear layer, which the model linear takes; behind random features as the model mlp. */
        ocdm_status status = solve(ridge, error);
        if (ridge->projection != NULL) {
            made[tensors->count++] = matrix("hidden.weight", ridge->projection, ridge->features, ridge->inputs);
            made[tensors->count++] = ocdm__tensor_of("hidden.bias", OCDM__F32, ridge->no_bias, ridge->features);
        }
        made[tensors->count++] = matrix("fc.weight", ridge->weight, ridge->classes, ridge->features);
        made[tensors->count++] = ocdm__tensor_of("fc.bias", OCDM__F32, ridge->bias, ridge->classes);
        return status;
    }
    for (unsigned i = 0; i < SUMS; i++)
        if (length_of(ridge, (enum sums)i) > 0)
            made[tensors->count++] = ocdm__tensor_of(names[i], OCDM__F64, ridge->sums[i], length_of(ridge, (enum sums)i));
    return OCDM_OK;
}

/* Everything is checked before anything changes. */
static ocdm_status load(void *state, const struct ocdm__weights *saved, ocdm_error *error)
{
    struct ridge *ridge = state;
    for (unsigned i = 0; i < SUMS; i++) {
        const struct ocdm__tensor *tensor = ocdm__safetensors_find(saved->file, names[i]);
        size_t length = length_of(ridge, (enum sums)i);
        if (length == 0)
            continue;
        if (tensor == NULL || tensor->dtype != OCDM__F64 || tensor->size != 8 * length)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: tensor %s is missing or of another size", saved->name, names[i]);
        for (size_t k = 0; k < length; k++)
            if (!isfinite(ocdm__get_double(tensor->data + 8 * k)))
                return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: tensor %s is not of finite numbers", saved->name, names[i]);
    }
    for (unsigned i = 0; i < SUMS; i++)
        for (size_t k = 0; k < length_of(ridge, (enum sums)i); k++)
            ridge->sums[i][k] = ocdm__get_double(ocdm__safetensors_find(saved->file, names[i])->data + 8 * k);
    ridge->solved = false;
    return OCDM_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------------ */

/* Two for each product that a sample adds to the Gram matrix's triangle, and that projects it; sums are solved at evaluations,
 * not in steps. */
static double operations(const void *state, size_t count, size_t fresh)
{
    const struct ridge *ridge = state;
    (void)count;
    double projected = ridge->projection != NULL ? (double)ridge->features * (double)ridge->inputs : 0;
    return 2 * ((double)length_of(ridge, GRAM) + projected) * (double)fresh;
}

static void destroy(void *state)
{
    struct ridge *ridge = state;
    ocdm__arena_clear(&ridge->arena);
    OCDM_RELEASE(ridge->rows, ridge);
}

/* Divides each block into the classes that a sample knows and those that it does not. `members` and `inside` are room for a
 * number of each block, `parts` for the number of its second part. */
static void divide_blocks(struct ridge *ridge, const uint8_t *known, uint32_t *members, uint32_t *inside, uint32_t *parts)
{
    size_t before = ridge->blocks;
    for (size_t b = 0; b < before; b++)
        members[b] = inside[b] = 0, parts[b] = UINT32_MAX;
    for (size_t c = 0; c < ridge->classes; c++) {
        members[ridge->block_of[c]]++;
        inside[ridge->block_of[c]] += ocdm__bits_have(known, c);
    }
    for (size_t c = 0; c < ridge->classes; c++) {
        uint32_t block = ridge->block_of[c];
        if (inside[block] == 0 || inside[block] == members[block] || !ocdm__bits_have(known, c))
            continue;
        if (parts[block] == UINT32_MAX)
            parts[block] = (uint32_t)ridge->blocks++;
        ridge->block_of[c] = parts[block];
    }
}

/* All room at once, so that training allocates little. The classes that the same training samples know are a block; R has
 * standard normal numbers. */
ocdm_status ocdm__ridge_learner(size_t inputs, size_t classes, const ocdm__run_settings *settings,
                                const ocdm__stream_table *table, ocdm__learner *learner, ocdm_error *error)
{
    static const ocdm__learner_functions functions = {
        .train = train, .predict = predict, .save = save, .load = load, .operations = operations, .destroy = destroy};
    struct ridge *ridge;
    OCDM_TRY(ocdm__new(&ridge, 1, sizeof *ridge, "a ridge regression", error));
    *ridge = (struct ridge){.inputs = inputs,
                            .features = settings->project > 0 ? settings->project : inputs,
                            .classes = classes,
                            .blocks = 1,
                            .lambda = settings->lambda,
                            .balance = settings->class_balance};
    ocdm__arena *arena = &ridge->arena;
    uint32_t *room = ocdm__arena_new(arena, 3 * classes, sizeof *room);
    ridge->block_of = ocdm__arena_new(arena, classes, sizeof *ridge->block_of);
    ridge->first_of = ocdm__arena_new(arena, classes, sizeof *ridge->first_of);
    const uint8_t *last = NULL;
    for (size_t i = 0; !arena->failed && table != NULL && table->known != NULL && i < table->sample_count; i++) {
        const uint8_t *known = ocdm__known_labels(table, i);
        if (table->parts[i] == OCDM__TRAIN && (last == NULL || memcmp(last, known, ocdm__bits_size(classes)) != 0))
            divide_blocks(ridge, last = known, room, room + classes, room + 2 * classes);
    }
    for (size_t c = classes; !arena->failed && c-- > 0;)
        ridge->first_of[ridge->block_of[c]] = (uint32_t)c;
    for (unsigned i = 0; i < SUMS; i++)
        ridge->sums[i] = ocdm__arena_new(arena, length_of(ridge, (enum sums)i), sizeof *ridge->sums[i]);
    ridge->factor = ocdm__arena_new(arena, triangle_of(ridge), sizeof *ridge->factor);
    ridge->solution = ocdm__arena_new(arena, ridge->features, sizeof *ridge->solution);
    ridge->weight = ocdm__arena_new(arena, length_of(ridge, CROSS), sizeof *ridge->weight);
    ridge->bias = ocdm__arena_new(arena, classes, sizeof *ridge->bias);
    ridge->has = ocdm__arena_new(arena, classes, sizeof *ridge->has);
    if (settings->project > 0) {
        ridge->projection = ocdm__arena_new(arena, ridge->features, inputs * sizeof *ridge->projection);
        ridge->no_bias = ocdm__arena_new(arena, ridge->features, sizeof *ridge->no_bias);
    }
    ocdm_status status = ocdm__arena_check(arena, "the sums of a ridge regression", error);
    ocdm__random random = ocdm__random_stream(ocdm__random_base(settings->network.seed, OCDM__FOR_PROJECTION), 0);
    for (size_t i = 0; status == OCDM_OK && ridge->projection != NULL && i < ridge->features * inputs; i++)
        ridge->projection[i] = (float)ocdm__random_normal(&random);
    if (status == OCDM_OK)
        *learner = (ocdm__learner){.functions = &functions, .state = ridge};
    else
        destroy(ridge);
    return status;
}
