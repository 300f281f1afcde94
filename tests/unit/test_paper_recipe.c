/* The paper's recipe against a slow one that follows the paper's text, on random sets; and the properties that it states. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "base/bytes.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"

enum { CLASSES = 9, MOST = 300 };

/* A random set, labels as bits too. */
struct made {
    size_t count;
    uint64_t starts[MOST + 1];
    uint32_t labels[MOST * CLASSES];
    uint32_t bits[MOST];
    uint64_t sample_keys[MOST], class_keys[CLASSES];
    uint32_t class_tasks[CLASSES];
};

static uint32_t popcount(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

static void put_sample(struct made *made, uint32_t bits)
{
    size_t i = made->count++;
    made->bits[i] = bits;
    made->starts[i + 1] = made->starts[i];
    for (uint32_t c = 0; c < CLASSES; c++)
        if (bits >> c & 1)
            made->labels[made->starts[i + 1]++] = c;
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
        made->class_keys[c] = ocdm__random_next(random);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        for (uint64_t k = ocdm__random_below(random, 4); k > 0; k--)
            bits |= 1u << ocdm__random_below(random, CLASSES);
        put_sample(made, ocdm__random_below(random, 50) == 0 ? (1u << CLASSES) - 1 : bits);
        made->sample_keys[i] = ocdm__random_next(random);
    }
}

static ocdm__paper_samples source_of(const struct made *made, bool keys)
{
    return (ocdm__paper_samples){.count = made->count,
                                 .label_starts = made->starts,
                                 .labels = made->labels,
                                 .class_count = CLASSES,
                                 .sample_keys = keys ? made->sample_keys : NULL,
                                 .class_keys = keys ? made->class_keys : NULL};
}

static ocdm__paper_choice choose(const ocdm__paper_samples *source, const ocdm__paper_settings *settings)
{
    ocdm__paper_choice choice = {.parts = NULL};
    assert_int_equal(ocdm__paper_choose(&choice, source, settings, NULL), OCDM_OK);
    return choice;
}

/* ---- the judge ------------------------------------------------------------------------------------------------------- */

struct verdict {
    uint8_t parts[MOST];
    uint32_t tasks[MOST];
    uint8_t kept[CLASSES];
};

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

static bool in_pool(const struct made *made, size_t i, uint32_t c, const ocdm__paper_settings *settings)
{
    uint32_t task;
    if (settings->pool == OCDM__TEST_FROM_SINGLE)
        return made->bits[i] == 1u << c;
    return (made->bits[i] >> c & 1) && !trains(made, i, &task);
}

static size_t pool_size(const struct made *made, uint32_t c, const ocdm__paper_settings *settings, const uint8_t *parts)
{
    size_t size = 0;
    for (size_t i = 0; i < made->count; i++)
        size += in_pool(made, i, c, settings) && (parts == NULL || parts[i] == OCDM__NO_PART);
    return size;
}

/* The free sample of the pool with the smallest number. */
static size_t smallest(const struct made *made, uint32_t c, const ocdm__paper_settings *settings, bool keys,
                       const uint8_t *parts)
{
    uint64_t base = ocdm__random_base(settings->seed, OCDM__FOR_TEST_PARTS), least = 0;
    size_t best = SIZE_MAX;
    base = ocdm__random_at(base, keys ? made->class_keys[c] : c);
    for (size_t i = 0; i < made->count; i++) {
        uint64_t number = ocdm__random_at(base, keys ? made->sample_keys[i] : i);
        if (in_pool(made, i, c, settings) && parts[i] == OCDM__NO_PART && (best == SIZE_MAX || number < least)) {
            best = i;
            least = number;
        }
    }
    return best;
}

/* The class whose turn it is: the smallest pool first. */
static uint32_t next_class(const struct made *made, const ocdm__paper_settings *settings, bool keys, uint32_t done)
{
    uint32_t best = CLASSES;
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (made->class_tasks[c] == OCDM__NO_TASK || (done >> c & 1))
            continue;
        size_t size = pool_size(made, c, settings, NULL), least = best < CLASSES ? pool_size(made, best, settings, NULL) : 0;
        if (best == CLASSES || size < least || (size == least && keys && made->class_keys[c] < made->class_keys[best]))
            best = c;
    }
    return best;
}

static void judge(const struct made *made, const ocdm__paper_settings *settings, bool keys, struct verdict *verdict)
{
    uint32_t done = 0, c, kept = 0;
    memset(verdict->kept, 0, sizeof verdict->kept);
    memset(verdict->parts, OCDM__NO_PART, sizeof verdict->parts);
    memset(verdict->tasks, 0xFF, sizeof verdict->tasks);
    while ((c = next_class(made, settings, keys, done)) < CLASSES) {
        done |= 1u << c;
        if (pool_size(made, c, settings, verdict->parts) < settings->test_per_class)
            continue;
        verdict->kept[c] = 1;
        kept |= 1u << c;
        for (uint32_t k = 0; k < settings->test_per_class; k++) {
            size_t i = smallest(made, c, settings, keys, verdict->parts);
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

static void check_tally(const char *where, const struct made *made, const struct verdict *verdict,
                        const ocdm__paper_tally *tally)
{
    ocdm__paper_tally own = {0};
    uint32_t trained = 0, kept = 0, used = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        kept |= (uint32_t)verdict->kept[c] << c;
        used |= (uint32_t)(made->class_tasks[c] != OCDM__NO_TASK) << c;
    }
    for (size_t i = 0; i < made->count; i++) {
        uint32_t bits = made->bits[i], task = 0;
        while (task < 3 && (bits & ~classes_of_task(made->class_tasks, task)))
            task++;
        own.train += verdict->parts[i] == OCDM__TRAIN;
        own.test += verdict->parts[i] == OCDM__TEST;
        trained |= verdict->parts[i] == OCDM__TRAIN ? bits : 0;
        bool out = verdict->parts[i] == OCDM__NO_PART;
        own.without_label += out && bits == 0;
        own.without_task += out && (bits & ~used);
        own.mixed += out && bits != 0 && !(bits & ~used) && task == 3;
        own.of_removed += out && bits != 0 && task < 3 && !(bits & kept);
        own.not_drawn += out && task < 3 && (bits & kept);
    }
    HOLDS(where, own.train == tally->train && own.test == tally->test);
    HOLDS(where, own.without_label == tally->without_label && own.without_task == tally->without_task);
    HOLDS(where, own.mixed == tally->mixed && own.of_removed == tally->of_removed && own.not_drawn == tally->not_drawn);
    HOLDS(where, tally->train + tally->test + tally->without_label + tally->without_task + tally->mixed + tally->of_removed +
                         tally->not_drawn ==
                     made->count);
    HOLDS(where, tally->kept == popcount(kept) && tally->removed == popcount(used & ~kept));
    HOLDS(where, tally->without_training == popcount(kept & ~trained));
}

TEST(recipe_agrees_with_the_judge_on_random_sets)
{
    static struct made made;
    static struct verdict verdict;
    size_t removed = 0, kept = 0, emptied = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 0);
        make(&made, &random);
        ocdm__paper_settings settings = {.class_tasks = made.class_tasks,
                                         .pool = seed % 2 ? OCDM__TEST_FROM_REST : OCDM__TEST_FROM_SINGLE,
                                         .test_per_class = (uint32_t)ocdm__random_below(&random, 12),
                                         .seed = seed};
        bool keys = seed % 4 >= 2;
        ocdm__paper_samples source = source_of(&made, keys);
        ocdm__paper_choice choice = choose(&source, &settings);
        judge(&made, &settings, keys, &verdict);
        HOLDS(where, memcmp(choice.kept_classes, verdict.kept, CLASSES) == 0);
        HOLDS(where, memcmp(choice.parts, verdict.parts, made.count) == 0);
        HOLDS(where, memcmp(choice.tasks, verdict.tasks, made.count * sizeof *choice.tasks) == 0);
        check_tally(where, &made, &verdict, &choice.tally);
        removed += choice.tally.removed;
        kept += choice.tally.kept;
        emptied += choice.tally.of_removed;
        ocdm__paper_choice_clear(&choice);
    }
    assert_true(removed > 100 && kept > 100 && emptied > 100); /* the sets are such that there is something to disagree about */
}

/* ---- promises -------------------------------------------------------------------------------------------------------- */

/* The same samples in another order, with their keys: each keeps its part. */
TEST(recipe_draws_the_same_when_the_source_is_in_another_order)
{
    static struct made made, turned;
    for (uint64_t seed = 0; seed < 50; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 1);
        make(&made, &random);
        memset(&turned, 0, sizeof turned);
        memcpy(turned.class_keys, made.class_keys, sizeof made.class_keys);
        for (size_t i = made.count; i-- > 0;) {
            turned.sample_keys[turned.count] = made.sample_keys[i];
            put_sample(&turned, made.bits[i]);
        }
        ocdm__paper_settings settings = {.class_tasks = made.class_tasks,
                                         .pool = seed % 2 ? OCDM__TEST_FROM_REST : OCDM__TEST_FROM_SINGLE,
                                         .test_per_class = 4,
                                         .seed = seed};
        ocdm__paper_samples source = source_of(&made, true), other = source_of(&turned, true);
        ocdm__paper_choice first = choose(&source, &settings), second = choose(&other, &settings);
        for (size_t i = 0; i < made.count; i++) {
            HOLDS(where, first.parts[i] == second.parts[made.count - 1 - i]);
            HOLDS(where, first.tasks[i] == second.tasks[made.count - 1 - i]);
        }
        ocdm__paper_choice_clear(&first);
        ocdm__paper_choice_clear(&second);
    }
}

/* 20 samples of one class, 5 drawn, 4000 seeds: each is drawn about 1000 times (deviation 27). */
TEST(recipe_draws_uniformly_over_seeds)
{
    static struct made made;
    size_t drawn[20] = {0};
    memset(&made, 0, sizeof made);
    for (size_t i = 0; i < 20; i++)
        put_sample(&made, 1);
    ocdm__paper_samples source = source_of(&made, false);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        ocdm__paper_settings settings = {.class_tasks = made.class_tasks, .test_per_class = 5, .seed = seed};
        ocdm__paper_choice choice = choose(&source, &settings);
        assert_int_equal(choice.tally.test, 5);
        for (size_t i = 0; i < 20; i++)
            drawn[i] += choice.parts[i] == OCDM__TEST;
        ocdm__paper_choice_clear(&choice);
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
    for (size_t i = 0; i < 5; i++)
        put_sample(&made, i < 3 ? 1 : 2);
    put_sample(&made, 1 | 2);
    put_sample(&made, 2 | 4);
    ocdm__paper_samples source = source_of(&made, false);
    ocdm__paper_settings settings = {.class_tasks = made.class_tasks, .test_per_class = 3};
    ocdm__paper_choice choice = choose(&source, &settings);
    assert_int_equal(choice.kept_classes[0], 1);
    assert_int_equal(choice.kept_classes[1], 0);
    assert_int_equal(choice.kept_classes[2], 0);
    assert_int_equal(choice.parts[5], OCDM__TRAIN);
    assert_int_equal(choice.parts[6], OCDM__NO_PART);
    assert_int_equal(choice.tally.test, 3);
    assert_int_equal(choice.tally.of_removed, 3);
    ocdm__paper_choice_clear(&choice);
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
    ocdm__paper_tally tally;
    static const uint32_t class_tasks[3] = {0, 0, OCDM__NO_TASK};
    static const char *const ids[3] = {"x7", "x8", "x9"};
    add_to_set(&set, "first", "ba");
    for (size_t i = 0; i < 3; i++)
        add_to_set(&set, ids[i], "a");
    add_to_set(&set, "other", "bac");
    add_to_set(&set, "alone", "b");
    add_to_set(&set, "last", "ba");
    ocdm__paper_settings settings = {.class_tasks = class_tasks, .test_per_class = 1, .seed = 3};
    assert_int_equal(ocdm__select_paper(&selection, &set, &settings, &tally, NULL), OCDM_OK);

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
    assert_int_equal(tally.without_task, 1);
    assert_int_equal(tally.not_drawn, 2);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
}

TEST(selection_of_an_empty_set_is_empty)
{
    ocdm__labelled_set set = {0};
    ocdm__selection selection = {0};
    ocdm__paper_tally tally = {.train = 9};
    ocdm__paper_settings settings = {.test_per_class = 50};
    assert_int_equal(ocdm__select_paper(&selection, &set, &settings, &tally, NULL), OCDM_OK);
    assert_int_equal(selection.count + tally.train + tally.kept, 0);
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
