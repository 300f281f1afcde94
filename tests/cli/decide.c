/* Every decision of libocdm on a small stream, in one line each: what test_library.sh builds against the library and against
 * the amalgamation, whose lines must be the same. Policies that need gradients ask for comparisons that are not here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ocdm/metrics.h>
#include <ocdm/ocdm.h>
#include <ocdm/split.h>

enum { SAMPLES = 4000, BATCH = 10, CLASSES = 24, LABELS = 4 };

static uint64_t offsets[SAMPLES + 1];
static uint32_t labels[SAMPLES * LABELS];

static void stop(const ocdm_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Sets of 1 to LABELS ascending classes; low classes are frequent. `single` samples carry one. */
static void make_stream(int single)
{
    uint32_t state = 1;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t at = offsets[i];
        for (uint32_t c = 0; c < CLASSES && at < offsets[i] + (single ? 1 : LABELS); c++) {
            state = state * 1664525u + 1013904223u;
            if ((state >> 16) % (c + 2) == 0 || (c == CLASSES - 1 && at == offsets[i]))
                labels[at++] = c;
        }
        offsets[i + 1] = at;
    }
}

static void run(const ocdm_policy *policy, ocdm_distance distance, ocdm_tie tie)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    ocdm_error error;
    uint64_t sum = 14695981039346656037u;
    options.capacity = 200;
    options.policy = policy;
    options.distance = distance;
    options.tie = tie;
    if (ocdm_memory_create(&options, &memory, &error) != OCDM_OK)
        stop(&error);
    for (size_t i = 0; i < SAMPLES; i += BATCH) {
        ocdm_sample batch[BATCH];
        ocdm_change change;
        for (size_t j = 0; j < BATCH; j++) {
            size_t count = (size_t)(offsets[i + j + 1] - offsets[i + j]);
            batch[j] = (ocdm_sample){i + j, labels + offsets[i + j], count};
        }
        if (ocdm_memory_update(memory, batch, BATCH, &change, &error) != OCDM_OK)
            stop(&error);
        for (size_t j = 0; j < change.left_count; j++)
            sum = (sum ^ change.left[j].id) * 1099511628211u;
    }
    printf("%s %s %s %016" PRIx64 " %.17g\n", policy->name, ocdm_distance_name(distance), ocdm_tie_name(tie), sum,
           ocdm_memory_distance(memory, OCDM_IN_PLAY));
    ocdm_memory_destroy(memory);
}

static void split(void)
{
    const double shares[3] = {0.8, 0.1, 0.1};
    const ocdm_label_sets sets = {sizeof sets, SAMPLES, offsets, labels, NULL};
    ocdm_split_options options = ocdm_split_options_default();
    uint64_t sizes[3], sum = 0;
    uint32_t *part = malloc(SAMPLES * sizeof *part);
    ocdm_error error;
    if (part == NULL || ocdm_split_sizes(shares, 3, SAMPLES, sizes, &error) != OCDM_OK ||
        ocdm_split(&sets, sizes, 3, &options, part, NULL, &error) != OCDM_OK)
        stop(&error);
    for (size_t i = 0; i < SAMPLES; i++)
        sum = sum * 31 + part[i];
    printf("split %016" PRIx64 "\n", sum);
    free(part);
}

int main(void)
{
    for (int single = 0; single < 2; single++) {
        make_stream(single);
        for (size_t i = 0; ocdm_policy_at(i) != NULL; i++)
            if ((ocdm_policy_at(i)->traits & OCDM_NEEDS_GRADIENTS) == 0 &&
                (single || (ocdm_policy_at(i)->traits & OCDM_SINGLE_LABEL) == 0))
                run(ocdm_policy_at(i), OCDM_KL, OCDM_TIE_KEY);
        for (int distance = OCDM_KL; distance <= OCDM_TV; distance++)
            for (int tie = OCDM_TIE_KEY; tie <= OCDM_TIE_UNIFORM; tie++)
                run(ocdm_policy_at(0), (ocdm_distance)distance, (ocdm_tie)tie);
        split();
    }
    return 0;
}
