/*
 * The counted work of the score index on a few streams, from the first sample on, as it was when this table was written.
 * Trials, margins and bounds decide how much is searched, never what is found, so a mistake in them shows nowhere else.
 *
 * A change that is meant to do less work moves the counts: the test prints the rows as they are now, to be compared and copied
 * here.
 */
#include <stdio.h>

#include "../test.h"
#include "bench/steady.h"
#include "memory/memory.h"
#include "memory/scores_parts.h"

enum { BATCH = 10, COUNTS = sizeof(struct ocdm__search_work) / sizeof(uint64_t), CHARGES = 6 };

/* Counts may differ by one in 200, and by 1: what rounds in another way on another machine chooses another search at most a few
 * times. */
enum { PART = 200 };

struct work {
    enum ocdm__steady_kind kind;
    uint32_t capacity;
    uint32_t samples; /* in multiples of the capacity */
    double rho;
    uint64_t counts[COUNTS]; /* the members of ocdm__search_work, in their order */
    /* What trials had spent, and what the plain way would have, after each update; sums in thousands: near, sleep, pairs. */
    uint64_t charges[CHARGES];
};

/* clang-format off */
static const struct work rows[] = {
    {OCDM__STEADY_SKEWED, 3000, 12, 0, {33000, 32968, 44789061, 9517062, 0, 655, 0, 0, 0, 0, 0, 0}, {883, 63, 0, 0, 0, 0}},
    {OCDM__STEADY_UNIFORM, 3000, 12, 0, {33000, 32974, 34976484, 3685828, 0, 491, 0, 0, 0, 0, 0, 0}, {1097, 82, 0, 0, 0, 0}},
    {OCDM__STEADY_SINGLE, 3000, 12, 0, {33000, 33000, 32951330, 66518, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {OCDM__STEADY_SKEWED, 10000, 10, 0, {90000, 91907, 314020470, 70089680, 2341, 1129, 128397, 15647, 0, 12036, 1943, 18554}, {2977, 244, 6046767, 1395432, 16362307, 25414802}},
    {OCDM__STEADY_UNIFORM, 10000, 14, 0, {130000, 132947, 383089627, 44719261, 2726, 408, 3362, 32682, 0, 31154, 3038, 32003}, {6994, 1163, 100211343, 52806755, 125781, 54736}},
    {OCDM__STEADY_SKEWED, 10000, 6, 0.5, {50000, 50752, 243071015, 59101719, 23169, 315, 71604, 18220, 0, 3467, 760, 21421}, {2413, 38, 1497813, 133198, 14407781, 14450968}},
    {OCDM__STEADY_UNIFORM, 10000, 14, -1, {130000, 130974, 333393998, 30114401, 8775, 286, 0, 7422, 0, 5274, 989, 5227}, {3577, 126, 8633677, 2283596, 0, 0}},
    {OCDM__STEADY_UNIFORM, 20000, 8, 0, {140000, 159572, 254237862, 65905528, 5959, 1199, 84421, 189110, 0, 176687, 19623, 34481}, {9220, 1268, 3695430759, 3159875792, 176739, 90582}},
};
/* clang-format on */

/* What trials are charged decides much later, if at all, which search is taken. */
static void add_charges(const struct scores *scores, uint64_t *charges)
{
    const struct ocdm__trial *trials[] = {&scores->near_trial, &scores->sleep_trial, &scores->pair_trial};
    for (size_t i = 0; i < CHARGES; i++)
        charges[i] += i % 2 == 0 ? trials[i / 2]->spent : trials[i / 2]->plain;
}

static void count_work(const struct work *row, uint64_t *counts, uint64_t *charges)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = row->capacity;
    options.rho = row->rho;
    options.batch = BATCH;
    ocdm_memory *memory = NULL;
    ocdm__steady_stream stream;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_int_equal(ocdm__steady_stream_open(&stream, row->kind, NULL, 1, BATCH, NULL), OCDM_OK);
    for (uint64_t n = 0; n < (uint64_t)row->capacity * row->samples; n += BATCH) {
        assert_int_equal(ocdm_memory_update(memory, ocdm__steady_stream_batch(&stream, n), BATCH, NULL, NULL), OCDM_OK);
        add_charges(memory->scores, charges);
    }
    for (size_t i = 0; i < CHARGES; i++)
        charges[i] /= 1000;
    memcpy(counts, &memory->scores->work, sizeof memory->scores->work);
    ocdm__steady_stream_close(&stream);
    ocdm_memory_destroy(memory);
}

static bool is_near(uint64_t count, uint64_t expected)
{
    uint64_t difference = count > expected ? count - expected : expected - count;
    return difference <= 1 + expected / PART;
}

static bool all_near(const uint64_t *counts, const uint64_t *expected, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all = all && is_near(counts[i], expected[i]);
    return all;
}

static void print_counts(const uint64_t *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        print_error("%s%llu", i > 0 ? ", " : "{", (unsigned long long)counts[i]);
    print_error("}");
}

static void print_row(const struct work *row, const uint64_t *counts, const uint64_t *charges)
{
    print_error("%s, %u, %u, %g: now ", ocdm__steady_names[row->kind], row->capacity, row->samples, row->rho);
    print_counts(counts, COUNTS);
    print_error(", ");
    print_counts(charges, CHARGES);
    print_error("\n");
}

TEST(searches_take_as_many_steps_as_before)
{
    bool all = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t counts[COUNTS], charges[CHARGES] = {0};
        count_work(&rows[i], counts, charges);
        bool same = all_near(counts, rows[i].counts, COUNTS) && all_near(charges, rows[i].charges, CHARGES);
        if (!same)
            print_row(&rows[i], counts, charges);
        all = all && same;
    }
    assert_true(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_take_as_many_steps_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
