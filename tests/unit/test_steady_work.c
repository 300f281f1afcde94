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
    {OCDM__STEADY_SKEWED, 3000, 12, 0, {33000, 32960, 44780156, 9516998, 0, 1170, 0, 0, 0, 0, 0, 0}, {1287, 405, 0, 0, 0, 0}},
    {OCDM__STEADY_UNIFORM, 3000, 12, 0, {33000, 32911, 34989788, 3685828, 0, 902, 0, 0, 0, 0, 0, 0}, {4624, 2869, 0, 0, 0, 0}},
    {OCDM__STEADY_SINGLE, 3000, 12, 0, {33000, 33000, 32951330, 66518, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {OCDM__STEADY_SKEWED, 10000, 10, 0, {90000, 118546, 191468092, 44531397, 2349685, 2244, 3770419, 235851, 1616, 164217, 28580, 46687}, {4666, 1063, 1940519484, 1902001951, 3606846, 7997248}},
    {OCDM__STEADY_UNIFORM, 10000, 14, 0, {130000, 90784, 184417772, 36854941, 1172022, 3219440, 40929, 96504, 0, 84317, 8698, 16199}, {2508299, 9277575, 564096324, 1298449482, 24357, 12695}},
    {OCDM__STEADY_SKEWED, 10000, 6, 0.5, {50000, 50319, 245509819, 59367199, 30248, 1253, 16597, 18278, 0, 1571, 347, 21242}, {4676, 846, 695784, 83327, 3186994, 4469875}},
    {OCDM__STEADY_UNIFORM, 10000, 14, -1, {130000, 130889, 335980284, 29830528, 21552, 366, 0, 8839, 0, 5111, 898, 2465}, {4854, 304, 18481733, 11634837, 0, 0}},
    {OCDM__STEADY_UNIFORM, 20000, 8, 0, {140000, 48928, 450007064, 94352849, 836949, 9290783, 634468, 10128, 0, 7014, 3125, 33398}, {8117969, 34829298, 149989337, 83610039, 13399089, 13258461}},
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
