/* The paper's recipe against a slow one that follows the paper's text, on random sets; and the properties that it states. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "base/bytes.h"
#include "base/random.h"
#include "stream/build.h"
#include "stream/recipes/recipes.h"

enum { CLASSES = 9, MOST = 300 };

/* A random set, labels as bits too. Ids and names of classes are eight bytes; the draws depend on their hashes. */
struct made {
    size_t count;
    uint32_t bits[MOST];
    uint64_t ids[MOST], names[CLASSES];
    uint32_t class_tasks[CLASSES];
};

static uint64_t hash_of(uint64_t text)
{
    return ocdm__checksum(OCDM__CHECKSUM_START, &text, sizeof text);
}

static uint32_t popcount(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

static void put_sample(struct made *made, uint32_t bits)
{
    made->ids[made->count] = made->count;
    made->bits[made->count++] = bits;
}

/* One to three tasks, some classes of none; samples with none to all labels, most with few. */
static void make(struct made *made, ocdm__random *random)
{
    memset(made, 0, sizeof *made);
    size_t count = ocdm__random_below(random, MOST + 1);
    uint64_t tasks = 1 + ocdm__random_below(random, 3);
    for (size_t c = 0; c < CLASSES; c++) {
        uint64_t task = ocdm__random_below(random, tasks * 4 + 1);
        made->class_tasks[c] = task == tasks * 4 ? OCDM__NO_TASK : (uint32_t)(task % tasks);
        made->names[c] = ocdm__random_next(random);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        for (uint64_t k = ocdm__random_below(random, 4); k > 0; k--)
            bits |= 1u << ocdm__random_below(random, CLASSES);
        put_sample(made, ocdm__random_below(random, 50) == 0 ? (1u << CLASSES) - 1 : bits);
        made->ids[i] = ocdm__random_next(random);
    }
}

static ocdm__labelled_set set_of(const struct made *made)
{
    ocdm__labelled_set set = {0};
    uint32_t number;
    for (size_t c = 0; c < CLASSES; c++)
        assert_int_equal(ocdm__label_table_add(&set.classes, (const char *)&made->names[c], 8, &number, NULL), OCDM_OK);
    for (size_t i = 0; i < made->count; i++) {
        uint32_t labels[CLASSES];
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        sample.id = (const char *)&made->ids[i], sample.id_length = 8, sample.labels = labels;
        for (uint32_t c = 0; c < CLASSES; c++)
            if (made->bits[i] >> c & 1)
                labels[sample.label_count++] = c;
        assert_int_equal(ocdm__labelled_set_add(&set, &sample, NULL), OCDM_OK);
    }
    return set;
}

/* What was decided about each sample and class. */
struct verdict {
    uint8_t parts[MOST];
    uint32_t tasks[MOST];
    uint8_t kept[CLASSES];
};

static struct verdict choose(const struct made *made, const ocdm__build_settings *settings, ocdm__reading *reading)
{
    struct verdict choice;
    ocdm__labelled_set set = set_of(made);
    ocdm__selection selection = {0};
    *reading = (ocdm__reading){.skip_bad = false};
    const struct ocdm__recipe_job job = {.selection = &selection, .set = &set, .settings = settings, .reading = reading};
    assert_int_equal(ocdm__select_paper(&job, made->class_tasks), OCDM_OK);
    memset(choice.parts, OCDM__NO_PART, sizeof choice.parts);
    memset(choice.tasks, 0xFF, sizeof choice.tasks);
    memcpy(choice.kept, selection.kept_classes, CLASSES);
    assert_memory_equal(selection.class_tasks, made->class_tasks, sizeof made->class_tasks);
    for (size_t i = 0; i < selection.count; i++) {
        assert_true(i == 0 || selection.chosen[i].sample > selection.chosen[i - 1].sample);
        choice.parts[selection.chosen[i].sample] = (uint8_t)selection.chosen[i].part;
        choice.tasks[selection.chosen[i].sample] = selection.chosen[i].task;
    }
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
    return choice;
}

/* How much was left out for a reason. */
static uint64_t left_out(const ocdm__reading *reading, const char *reason)
{
    for (size_t i = 0; i < reading->skip_count; i++)
        if (strcmp(reading->skips[i].reason, reason) == 0)
            return reading->skips[i].count;
    return 0;
}

/* ---- the judge ------------------------------------------------------------------------------------------------------- */

static uint32_t classes_of_task(const uint32_t *class_tasks, uint32_t task)
{
    uint32_t bits = 0;
    for (uint32_t c = 0; c < CLASSES; c++)
        bits |= (uint32_t)(class_tasks[c] == task) << c;
    return bits;
}

static bool trains(const struct made *made, size_t i, uint32_t *task)
{
    for (*task = 0; *task < 3; ++*task)
        if (popcount(made->bits[i]) >= 2 && !(made->bits[i] & ~classes_of_task(made->class_tasks, *task)))
            return true;
    return false;
}

static bool in_pool(const struct made *made, size_t i, uint32_t c, const ocdm__build_settings *settings)
{
    uint32_t task;
    if (!settings->test_from_rest)
        return made->bits[i] == 1u << c;
    return (made->bits[i] >> c & 1) && !trains(made, i, &task);
}

static size_t pool_size(const struct made *made, uint32_t c, const ocdm__build_settings *settings, const uint8_t *parts)
{
    size_t size = 0;
    for (size_t i = 0; i < made->count; i++)
        size += in_pool(made, i, c, settings) && (parts == NULL || parts[i] == OCDM__NO_PART);
    return size;
}

/* The free sample of the pool with the smallest number. */
static size_t smallest(const struct made *made, uint32_t c, const ocdm__build_settings *settings, const uint8_t *parts)
{
    uint64_t base = ocdm__random_base(settings->seed, OCDM__FOR_TEST_PARTS), least = 0;
    size_t best = SIZE_MAX;
    base = ocdm__random_at(base, hash_of(made->names[c]));
    for (size_t i = 0; i < made->count; i++) {
        uint64_t number = ocdm__random_at(base, hash_of(made->ids[i]));
        if (in_pool(made, i, c, settings) && parts[i] == OCDM__NO_PART && (best == SIZE_MAX || number < least)) {
            best = i;
            least = number;
        }
    }
    return best;
}

/* The class whose turn it is: the smallest pool first. */
static uint32_t next_class(const struct made *made, const ocdm__build_settings *settings, uint32_t done)
{
    uint32_t best = CLASSES;
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (made->class_tasks[c] == OCDM__NO_TASK || (done >> c & 1))
            continue;
        size_t size = pool_size(made, c, settings, NULL), least = best < CLASSES ? pool_size(made, best, settings, NULL) : 0;
        if (best == CLASSES || size < least || (size == least && hash_of(made->names[c]) < hash_of(made->names[best])))
            best = c;
    }
    return best;
}

static void judge(const struct made *made, const ocdm__build_settings *settings, struct verdict *verdict)
{
    uint32_t done = 0, c, kept = 0;
    memset(verdict->kept, 0, sizeof verdict->kept);
    memset(verdict->parts, OCDM__NO_PART, sizeof verdict->parts);
    memset(verdict->tasks, 0xFF, sizeof verdict->tasks);
    while ((c = next_class(made, settings, done)) < CLASSES) {
        done |= 1u << c;
        if (pool_size(made, c, settings, verdict->parts) < settings->test_per_class)
            continue;
        verdict->kept[c] = 1;
        kept |= 1u << c;
        for (uint32_t k = 0; k < settings->test_per_class; k++) {
            size_t i = smallest(made, c, settings, verdict->parts);
            verdict->parts[i] = OCDM__TEST;
            verdict->tasks[i] = made->class_tasks[c];
        }
    }
    for (size_t i = 0; i < made->count; i++) {
        uint32_t task;
        if (trains(made, i, &task) && (made->bits[i] & kept)) {
            verdict->parts[i] = OCDM__TRAIN;
            verdict->tasks[i] = task;
        }
    }
}

/* ---- against the judge ----------------------------------------------------------------------------------------------- */

static void check_left_out(const char *where, const struct made *made, const struct verdict *verdict,
                           const ocdm__reading *reading)
{
    uint64_t without_label = 0, without_task = 0, mixed = 0, of_removed = 0, not_drawn = 0;
    uint32_t kept = 0, used = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        kept |= (uint32_t)verdict->kept[c] << c;
        used |= (uint32_t)(made->class_tasks[c] != OCDM__NO_TASK) << c;
    }
    for (size_t i = 0; i < made->count; i++) {
        uint32_t bits = made->bits[i], task = 0;
        while (task < 3 && (bits & ~classes_of_task(made->class_tasks, task)))
            task++;
        bool out = verdict->parts[i] == OCDM__NO_PART;
        without_label += out && bits == 0;
        without_task += out && (bits & ~used);
        mixed += out && bits != 0 && !(bits & ~used) && task == 3;
        of_removed += out && bits != 0 && task < 3 && !(bits & kept);
        not_drawn += out && task < 3 && (bits & kept);
    }
    HOLDS(where, left_out(reading, "samples without a label") == without_label);
    HOLDS(where, left_out(reading, "samples with a label that no task has") == without_task);
    HOLDS(where, left_out(reading, "samples with labels of several tasks") == mixed);
    HOLDS(where, left_out(reading, "samples of removed classes only") == of_removed);
    HOLDS(where, left_out(reading, "single-label samples that the test part did not need") == not_drawn);
    HOLDS(where, left_out(reading, "classes with too few test samples") == popcount(used & ~kept));
}

TEST(recipe_agrees_with_the_judge_on_random_sets)
{
    static struct made made;
    static struct verdict verdict;
    ocdm__reading reading;
    size_t removed = 0, kept = 0, emptied = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 0);
        make(&made, &random);
        ocdm__build_settings settings = {
            .test_from_rest = seed % 2, .test_per_class = (uint32_t)ocdm__random_below(&random, 12), .seed = seed};
        struct verdict choice = choose(&made, &settings, &reading);
        judge(&made, &settings, &verdict);
        HOLDS(where, memcmp(choice.kept, verdict.kept, CLASSES) == 0);
        HOLDS(where, memcmp(choice.parts, verdict.parts, made.count) == 0);
        HOLDS(where, memcmp(choice.tasks, verdict.tasks, made.count * sizeof *choice.tasks) == 0);
        check_left_out(where, &made, &verdict, &reading);
        removed += left_out(&reading, "classes with too few test samples");
        emptied += left_out(&reading, "samples of removed classes only");
        for (size_t c = 0; c < CLASSES; c++)
            kept += choice.kept[c];
    }
    assert_true(removed > 100 && kept > 100 && emptied > 100); /* the sets are such that there is something to disagree about */
}

/* ---- promises -------------------------------------------------------------------------------------------------------- */

/* The same samples in another order, with their ids: each keeps its part. */
TEST(recipe_draws_the_same_when_the_source_is_in_another_order)
{
    static struct made made, turned;
    for (uint64_t seed = 0; seed < 50; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 1);
        make(&made, &random);
        memset(&turned, 0, sizeof turned);
        memcpy(turned.names, made.names, sizeof made.names);
        memcpy(turned.class_tasks, made.class_tasks, sizeof made.class_tasks);
        for (size_t i = made.count; i-- > 0;) {
            put_sample(&turned, made.bits[i]);
            turned.ids[turned.count - 1] = made.ids[i];
        }
        ocdm__build_settings settings = {.test_from_rest = seed % 2, .test_per_class = 4, .seed = seed};
        ocdm__reading reading;
        struct verdict first = choose(&made, &settings, &reading), second = choose(&turned, &settings, &reading);
        for (size_t i = 0; i < made.count; i++) {
            HOLDS(where, first.parts[i] == second.parts[made.count - 1 - i]);
            HOLDS(where, first.tasks[i] == second.tasks[made.count - 1 - i]);
        }
    }
}

/* 20 samples of one class, 5 drawn, 4000 seeds: each is drawn about 1000 times (deviation 27). */
TEST(recipe_draws_uniformly_over_seeds)
{
    static struct made made;
    size_t drawn[20] = {0};
    memset(&made, 0, sizeof made);
    for (uint64_t c = 0; c < CLASSES; c++)
        made.names[c] = c;
    for (size_t i = 0; i < 20; i++)
        put_sample(&made, 1);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        ocdm__build_settings settings = {.test_per_class = 5, .seed = seed};
        ocdm__reading reading;
        struct verdict choice = choose(&made, &settings, &reading);
        assert_int_equal(left_out(&reading, "single-label samples that the test part did not need"), 15);
        for (size_t i = 0; i < 20; i++)
            drawn[i] += choice.parts[i] == OCDM__TEST;
    }
    for (size_t i = 0; i < 20; i++)
        if (drawn[i] < 890 || drawn[i] > 1110)
            fail_msg("sample %zu was drawn %zu times in 4000, not about 1000", i, drawn[i]);
}

/* Class 1 has one test sample too few: its label leaves {0, 1}, and {1, 2}, where 2 has none either, goes. */
TEST(recipe_removes_a_class_that_is_one_test_sample_short)
{
    static struct made made;
    memset(&made, 0, sizeof made);
    for (uint64_t c = 0; c < CLASSES; c++)
        made.names[c] = c;
    for (size_t i = 0; i < 5; i++)
        put_sample(&made, i < 3 ? 1 : 2);
    put_sample(&made, 1 | 2);
    put_sample(&made, 2 | 4);
    ocdm__build_settings settings = {.test_per_class = 3};
    ocdm__reading reading;
    struct verdict choice = choose(&made, &settings, &reading);
    assert_memory_equal(choice.kept, "\1\0\0", 3);
    assert_int_equal(choice.parts[5], OCDM__TRAIN);
    assert_int_equal(choice.parts[6], OCDM__NO_PART);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(choice.parts[i], OCDM__TEST);
    assert_int_equal(left_out(&reading, "samples of removed classes only"), 3);
}

/* ---- from a labelled set --------------------------------------------------------------------------------------------- */

static void add_to_set(ocdm__labelled_set *set, const char *id, const char *names)
{
    uint32_t labels[8];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    char text[32] = {0};
    for (; *names != '\0'; names++) {
        char name[32] = {*names};
        assert_int_equal(ocdm__label_table_add(&set->classes, name, 1, &labels[sample.label_count++], NULL), OCDM_OK);
    }
    sample.id_length = strlen(id);
    memcpy(text, id, sample.id_length);
    sample.id = text;
    sample.labels = labels;
    assert_int_equal(ocdm__labelled_set_add(set, &sample, NULL), OCDM_OK);
}

/* Classes first occur in the order b, a, c: numbers 0, 1, 2. Task 0 has b and a, no task has c. */
TEST(selection_is_in_the_order_of_the_set_and_by_ids)
{
    ocdm__labelled_set set = {0};
    ocdm__selection selection = {0};
    ocdm__reading reading = {.skip_bad = false};
    static const uint32_t class_tasks[3] = {0, 0, OCDM__NO_TASK};
    static const char *const ids[3] = {"x7", "x8", "x9"};
    add_to_set(&set, "first", "ba");
    for (size_t i = 0; i < 3; i++)
        add_to_set(&set, ids[i], "a");
    add_to_set(&set, "other", "bac");
    add_to_set(&set, "alone", "b");
    add_to_set(&set, "last", "ba");
    ocdm__build_settings settings = {.test_per_class = 1, .seed = 3};
    const struct ocdm__recipe_job job = {.selection = &selection, .set = &set, .settings = &settings, .reading = &reading};
    assert_int_equal(ocdm__select_paper(&job, class_tasks), OCDM_OK);

    uint64_t base = ocdm__random_base(3, OCDM__FOR_TEST_PARTS), least = UINT64_MAX;
    uint32_t drawn = 0;
    base = ocdm__random_at(base, ocdm__checksum(OCDM__CHECKSUM_START, "a", 1));
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t number = ocdm__random_at(base, ocdm__checksum(OCDM__CHECKSUM_START, ids[i], 2));
        drawn = number < least ? i + 1 : drawn;
        least = number < least ? number : least;
    }
    const ocdm__chosen expected[4] = {{0, 0, OCDM__TRAIN}, {drawn, 0, OCDM__TEST}, {5, 0, OCDM__TEST}, {6, 0, OCDM__TRAIN}};
    assert_int_equal(selection.count, 4);
    assert_memory_equal(selection.chosen, expected, sizeof expected);
    assert_memory_equal(selection.class_tasks, class_tasks, sizeof class_tasks);
    assert_memory_equal(selection.kept_classes, "\1\1\0", 3);
    assert_int_equal(left_out(&reading, "samples with a label that no task has"), 1);
    assert_int_equal(left_out(&reading, "single-label samples that the test part did not need"), 2);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
}

TEST(selection_of_an_empty_set_is_empty)
{
    ocdm__labelled_set set = {0};
    ocdm__selection selection = {0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__build_settings settings = {.test_per_class = 50};
    const struct ocdm__recipe_job job = {.selection = &selection, .set = &set, .settings = &settings, .reading = &reading};
    assert_int_equal(ocdm__select_paper(&job, NULL), OCDM_OK);
    assert_int_equal(selection.count + reading.skip_count, 0);
    ocdm__selection_clear(&selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipe_agrees_with_the_judge_on_random_sets),
        cmocka_unit_test(recipe_draws_the_same_when_the_source_is_in_another_order),
        cmocka_unit_test(recipe_draws_uniformly_over_seeds),
        cmocka_unit_test(recipe_removes_a_class_that_is_one_test_sample_short),
        cmocka_unit_test(selection_is_in_the_order_of_the_set_and_by_ids),
        cmocka_unit_test(selection_of_an_empty_set_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
