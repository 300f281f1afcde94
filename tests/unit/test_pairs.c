/* The tables of pairs of classes find every sleeper with enough raised classes, whoever came and left before; and heights of
 * sleepers in units of half the size. Tables are read by their layout, as a sweep does, and compared with plain lists. */
#include "../test.h"
#include "memory/scores.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { MOST_LABELS = 12, SETS = 160, MOST_ENTRIES = 5 * SETS };

/* ---- a table as a list ------------------------------------------------------------------------------------------------ */

struct label_set {
    bool present;
    uint32_t seat;
    uint32_t cardinality;
    struct cell cells[MOST_LABELS];
};

/* An entry in plain numbers, without padding: entries are compared as bytes. */
struct entry {
    uint32_t first_line;
    uint32_t upper; /* the bits of the pair's hash above those of a seat */
    uint32_t seat;
    uint32_t labels;
    uint32_t code[OCDM__OTHERS]; /* ascending: their order does not matter */
};

/* What there is in a table besides its entries. */
struct shape {
    uint32_t longest; /* lines of the longest list */
    uint32_t free_lines;
};

static int compare_codes(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int compare_entries(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct entry));
}

static uint32_t paired_labels(const struct label_set *set)
{
    return set->cardinality < 8 ? set->cardinality : 8;
}

/* A class is paired with those before it; a single one with itself. */
static uint32_t others_until(const struct label_set *set, uint32_t place)
{
    return set->cardinality == 1 ? 1 : place;
}

static uint32_t hash_of_places(const struct label_set *set, uint32_t a, uint32_t b)
{
    return ocdm__pair_hash(set->cells[a].class_index) + ocdm__pair_hash(set->cells[b].class_index);
}

/* The entry of a set for two of its first eight classes, or for its only one twice. */
static struct entry expected_entry(const struct pairs *pairs, const struct label_set *set, uint32_t a, uint32_t b)
{
    uint32_t hash = hash_of_places(set, a, b), count = 0;
    struct entry entry = {.first_line = hash & pairs->mask,
                          .upper = hash >> 29,
                          .seat = set->seat,
                          .labels = set->cardinality < 9 ? set->cardinality : 9};
    for (uint32_t i = 0; i < paired_labels(set); i++)
        if (i != a && i != b)
            entry.code[count++] = set->cells[i].class_index % 1023;
    while (count < OCDM__OTHERS)
        entry.code[count++] = 1023;
    qsort(entry.code, OCDM__OTHERS, sizeof *entry.code, compare_codes);
    return entry;
}

static struct entry entry_at(const struct pair_line *line, uint32_t place, uint32_t first_line)
{
    struct entry entry = {.first_line = first_line,
                          .upper = line->seat[place] >> 29,
                          .seat = line->seat[place] % OCDM__SEATS,
                          .labels = ocdm__labels_of_entry(line->others[place])};
    for (uint32_t i = 0; i < OCDM__OTHERS; i++)
        entry.code[i] = (uint32_t)(line->others[place] >> 10 * i) % 1024;
    qsort(entry.code, OCDM__OTHERS, sizeof *entry.code, compare_codes);
    return entry;
}

/* Whether a sweep that looks a pair up would find this entry. */
static bool is_found(const struct pairs *pairs, const struct entry *wanted)
{
    if (!ocdm__pair_is_filled(pairs, wanted->upper << 29 | wanted->first_line))
        return false;
    for (uint32_t number = wanted->first_line;; number = pairs->lines[number].next) {
        const struct pair_line *line = &pairs->lines[number];
        for (uint32_t i = 0; i < OCDM__ENTRIES; i++) {
            struct entry entry = entry_at(line, i, wanted->first_line);
            if (line->others[i] > 0 && compare_entries(&entry, wanted) == 0)
                return true;
        }
        if (line->next == 0)
            return false;
    }
}

/* The bits of `filled` of a list. */
static uint32_t filled_bits(const struct pairs *pairs, uint32_t first_line)
{
    uint32_t bits = 0;
    for (uint32_t upper = 0; upper < 8; upper++)
        bits |= ocdm__pair_is_filled(pairs, upper << 29 | first_line) << upper;
    return bits;
}

/* Appends the entries of a list to `found`, and returns how many. */
static uint32_t read_list(const struct pairs *pairs, uint32_t first_line, struct entry *found, uint32_t *length)
{
    uint32_t count = 0, bits = 0;
    *length = 0;
    for (uint32_t number = first_line;; number = pairs->lines[number].next) {
        const struct pair_line *line = &pairs->lines[number];
        uint32_t before = count;
        for (uint32_t i = 0; i < OCDM__ENTRIES; i++)
            if (line->others[i] > 0) {
                assert_in_range(count, 0, MOST_ENTRIES - 1);
                found[count++] = entry_at(line, i, first_line);
                bits |= 1u << found[count - 1].upper;
            }
        /* Only the second line of a list may have room, and none behind the first one is empty. */
        assert_in_range(count - before, *length == 0 && line->next == 0 ? 0 : 1, OCDM__ENTRIES);
        if (*length != 1 && (*length > 0 || line->next > 0))
            assert_int_equal(count - before, OCDM__ENTRIES);
        ++*length;
        if (line->next == 0)
            break;
    }
    uint32_t filled = filled_bits(pairs, first_line);
    assert_int_equal(bits & ~filled, 0);
    if (*length == 1) /* a longer list may have bits of entries that have left */
        assert_int_equal(filled, bits);
    return count;
}

/* Reads all entries of a table; no line may be lost. */
static uint32_t read_table(const struct pairs *pairs, struct entry *found, struct shape *shape)
{
    uint32_t count = 0, lines = 0;
    *shape = (struct shape){.longest = 0};
    for (uint32_t first_line = 0; first_line <= pairs->mask; first_line++) {
        struct entry of_list[MOST_ENTRIES];
        uint32_t length, in_list = read_list(pairs, first_line, of_list, &length);
        assert_in_range(count + in_list, 0, MOST_ENTRIES);
        memcpy(found + count, of_list, in_list * sizeof *found);
        count += in_list;
        lines += length;
        shape->longest = length > shape->longest ? length : shape->longest;
    }
    for (uint32_t number = pairs->free_line; number > 0; number = pairs->lines[number].next)
        assert_in_range(++shape->free_lines, 1, pairs->line_used);
    assert_int_equal(lines + shape->free_lines, pairs->line_used);
    assert_in_range(pairs->line_used, 0, pairs->line_room);
    assert_int_equal(count, pairs->entries);
    qsort(found, count, sizeof *found, compare_entries);
    return count;
}

static void expect_empty(const struct pairs *pairs)
{
    struct entry found[MOST_ENTRIES];
    struct shape shape;
    assert_int_equal(read_table(pairs, found, &shape), 0);
    assert_int_equal(shape.longest, 1);
    assert_false(pairs->overflowed);
    for (size_t i = 0; i < (((size_t)pairs->mask + 1) << pairs->upper_bits) / 8; i++)
        assert_int_equal(pairs->filled[i], 0);
}

/* ---- which pairs a set has -------------------------------------------------------------------------------------------- */

static struct pairs table_for(uint32_t sets)
{
    struct pairs pairs = {.mask = 0};
    bool failed = false;
    ocdm__pairs_reserve(&pairs, sets, &failed);
    assert_false(failed);
    assert_true(pairs.mask > 0);
    return pairs;
}

static void add_set(struct pairs *pairs, uint32_t kind, struct label_set *set)
{
    ocdm__pairs_add(pairs, kind, set->seat, set->cells, set->cardinality);
    set->present = true;
}

static void remove_set(struct pairs *pairs, uint32_t kind, struct label_set *set)
{
    ocdm__pairs_remove(pairs, kind, set->seat, set->cells, set->cardinality);
    set->present = false;
}

/* Which places of the classes of a set are paired: by place, one bit for each other one. */
struct graph {
    uint32_t count;
    uint32_t with[MOST_LABELS];
};

/* Looks every pair of a set up that is alone in a table. */
static struct graph graph_of(uint32_t kind, uint32_t cardinality)
{
    struct pairs pairs = table_for(1);
    struct label_set set = {.seat = 5, .cardinality = cardinality};
    struct graph graph = {.count = 0};
    for (uint32_t i = 0; i < cardinality; i++)
        set.cells[i].class_index = 37 * i + 3;
    add_set(&pairs, kind, &set);
    for (uint32_t b = 0; b < paired_labels(&set); b++)
        for (uint32_t a = 0; a < others_until(&set, b); a++) {
            struct entry wanted = expected_entry(&pairs, &set, a, b);
            if (!is_found(&pairs, &wanted))
                continue;
            graph.with[a] |= 1u << b;
            graph.with[b] |= 1u << a;
            graph.count++;
        }
    assert_false(pairs.overflowed);
    assert_int_equal(pairs.entries, graph.count);
    ocdm__pairs_clear(&pairs);
    return graph;
}

/* Of the tables up to this kind. */
static struct graph graph_up_to(uint32_t last_kind, uint32_t cardinality)
{
    struct graph all = {.count = 0};
    for (uint32_t kind = 0; kind <= last_kind; kind++) {
        struct graph graph = graph_of(kind, cardinality);
        all.count += graph.count;
        for (uint32_t i = 0; i < cardinality; i++)
            all.with[i] |= graph.with[i];
    }
    return all;
}

static bool contains_pair(const struct graph *graph, uint32_t subset)
{
    for (uint32_t i = 0; i < MOST_LABELS; i++)
        if (subset >> i & 1u && graph->with[i] & subset)
            return true;
    return false;
}

static uint32_t members(uint32_t subset)
{
    uint32_t count = 0;
    for (; subset; subset &= subset - 1)
        count++;
    return count;
}

/* Otherwise a sweep over pairs would miss sleepers that could be the best. */
TEST(every_subset_of_more_classes_than_the_limit_contains_a_pair)
{
    for (uint32_t cardinality = 1; cardinality <= MOST_LABELS; cardinality++)
        for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++) {
            struct graph graph = graph_up_to(kind, cardinality);
            uint32_t limit = ocdm__alone_at_most(cardinality, kind);
            for (uint32_t subset = 0; subset < 1u << cardinality; subset++)
                if (members(subset) > limit && !contains_pair(&graph, subset))
                    fail_msg("%u labels, kind %u: the subset %x has no pair", cardinality, kind, subset);
        }
}

/* A limit that is too large would make sweeps look further than they need to. */
TEST(some_subset_of_as_many_classes_as_the_limit_contains_no_pair)
{
    static const uint32_t limits[OCDM__KINDS_OF_PAIRS][MOST_LABELS + 1] = {
        [OCDM__MAIN_PAIRS] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8},
        [OCDM__SPARE_PAIRS] = {0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7},
    };
    for (uint32_t cardinality = 0; cardinality <= MOST_LABELS; cardinality++)
        for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++) {
            struct graph graph = graph_up_to(kind, cardinality);
            uint32_t most = 0;
            for (uint32_t subset = 0; subset < 1u << cardinality; subset++)
                if (members(subset) > most && !contains_pair(&graph, subset))
                    most = members(subset);
            assert_int_equal(most, limits[kind][cardinality]);
            assert_int_equal(ocdm__alone_at_most(cardinality, kind), limits[kind][cardinality]);
        }
}

/* By Turan's theorem: all pairs inside groups whose sizes differ by one at most. */
static uint32_t fewest_pairs(uint32_t classes, uint32_t groups)
{
    uint32_t size = classes / groups, larger = classes % groups;
    return larger * (size + 1) * size / 2 + (groups - larger) * size * (size - 1) / 2;
}

TEST(no_pair_is_in_two_tables_and_there_are_as_few_main_pairs_as_possible)
{
    for (uint32_t cardinality = 2; cardinality <= MOST_LABELS; cardinality++) {
        struct graph main_pairs = graph_of(OCDM__MAIN_PAIRS, cardinality), spare = graph_of(OCDM__SPARE_PAIRS, cardinality);
        uint32_t paired = cardinality < 8 ? cardinality : 8;
        assert_int_equal(main_pairs.count, fewest_pairs(paired, paired / 2));
        for (uint32_t i = 0; i < cardinality; i++)
            assert_int_equal(main_pairs.with[i] & spare.with[i], 0);
    }
}

/* ---- sets that come and go -------------------------------------------------------------------------------------------- */

static struct graph graphs[OCDM__KINDS_OF_PAIRS][MOST_LABELS + 1];
static struct label_set sets[SETS];

/* Before each test that uses them, even if the one before it failed. */
static int learn_pairs(void **state)
{
    (void)state;
    memset(sets, 0, sizeof sets);
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++)
        for (uint32_t cardinality = 0; cardinality <= MOST_LABELS; cardinality++)
            graphs[kind][cardinality] = graph_of(kind, cardinality);
    return 0;
}

/* Appends the entries that a set should have to `expected`, and returns how many. */
static uint32_t entries_of_set(const struct pairs *pairs, uint32_t kind, const struct label_set *set, struct entry *expected)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < paired_labels(set); b++)
        for (uint32_t a = 0; a < others_until(set, b); a++)
            if (graphs[kind][set->cardinality].with[a] >> b & 1u)
                expected[count++] = expected_entry(pairs, set, a, b);
    return count;
}

/* The table has no entries but those of the sets that are present, and says how many of them it does not have. */
static struct shape check_table(const struct pairs *pairs, uint32_t kind)
{
    struct entry expected[MOST_ENTRIES], found[MOST_ENTRIES];
    struct shape shape;
    uint32_t wanted = 0, present = read_table(pairs, found, &shape), at = 0;
    for (uint32_t i = 0; i < SETS; i++)
        wanted += sets[i].present ? entries_of_set(pairs, kind, &sets[i], expected + wanted) : 0;
    qsort(expected, wanted, sizeof *expected, compare_entries);
    for (uint32_t i = 0; i < present; i++, at++) {
        while (at < wanted && compare_entries(&expected[at], &found[i]) < 0)
            at++;
        assert_true(at < wanted);
        assert_memory_equal(&expected[at], &found[i], sizeof *found);
    }
    assert_int_equal(present, wanted);
    return shape;
}

/* There are few classes, so that lists are long. Some have the same code, or the largest one, and seats are at both ends. */
static void draw_set(ocdm__random *random, uint32_t number)
{
    static const uint32_t classes[] = {0, 1, 2, 3, 77, 500, 1021, 1022, 1023, 1024, 2045, 2046, 70000, 4000000000};
    uint32_t count = sizeof classes / sizeof *classes, used = 0;
    struct label_set *set = &sets[number];
    set->cardinality = 1 + (uint32_t)ocdm__random_below(random, MOST_LABELS);
    set->seat = number % 2 ? number : OCDM__SEATS - 1 - number;
    for (uint32_t i = 0; i < count; i++)
        if (ocdm__random_below(random, count - i) < set->cardinality - used)
            set->cells[used++].class_index = classes[i];
    assert_int_equal(used, set->cardinality);
}

/* Sets come and go at random, at first more come and then more go, four times; at last all go. Returns the largest numbers that
 * were seen on the way. */
static struct shape come_and_go(struct pairs *pairs, uint32_t kind)
{
    struct shape most = {0};
    ocdm__random random = ocdm__random_stream(kind, 1);
    for (uint32_t turn = 0; turn < 8000; turn++) {
        uint32_t number = (uint32_t)ocdm__random_below(&random, SETS);
        bool growing = turn % 2000 < 1000;
        if (sets[number].present == growing && ocdm__random_below(&random, 4) > 0)
            continue;
        if (sets[number].present) {
            remove_set(pairs, kind, &sets[number]);
        } else {
            draw_set(&random, number);
            add_set(pairs, kind, &sets[number]);
        }
        if (turn % 20 > 0)
            continue;
        struct shape shape = check_table(pairs, kind);
        most.longest = shape.longest > most.longest ? shape.longest : most.longest;
        most.free_lines = shape.free_lines > most.free_lines ? shape.free_lines : most.free_lines;
    }
    for (uint32_t i = 0; i < SETS; i++)
        if (sets[i].present)
            remove_set(pairs, kind, &sets[i]);
    expect_empty(pairs);
    return most;
}

TEST(a_table_has_exactly_the_entries_of_the_sets_that_came_and_did_not_leave)
{
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++) {
        struct pairs pairs = table_for(2 * SETS);
        struct shape most = come_and_go(&pairs, kind);
        assert_false(pairs.overflowed);
        assert_true(most.longest >= 5);
        assert_true(most.free_lines > 0);
        assert_in_range(pairs.line_used, pairs.mask + 2, pairs.line_room);
        ocdm__pairs_clear(&pairs);
    }
}

/* ---- lists that are too long, and no line left -------------------------------------------------------------------------- */

enum { LINES_OF_LONGEST_LIST = 16, IN_LONGEST_LIST = LINES_OF_LONGEST_LIST * OCDM__ENTRIES };

static struct label_set one_class(uint32_t class_index, uint32_t seat)
{
    return (struct label_set){.seat = seat, .cardinality = 1, .cells = {{.class_index = class_index}}};
}

/* Sets with this class only, with the seats from `first` to before `end`. */
static void add_class(struct pairs *pairs, uint32_t class_index, uint32_t first, uint32_t end)
{
    for (uint32_t seat = first; seat < end; seat++) {
        struct label_set set = one_class(class_index, seat);
        add_set(pairs, OCDM__MAIN_PAIRS, &set);
    }
}

static void remove_class(struct pairs *pairs, uint32_t class_index, uint32_t first, uint32_t end)
{
    for (uint32_t seat = first; seat < end; seat++) {
        struct label_set set = one_class(class_index, seat);
        remove_set(pairs, OCDM__MAIN_PAIRS, &set);
    }
}

/* The sets with this class and the seats below `count` leave: steps by `stride`, which has no factor in common with `count`,
 * reach them all. */
static void leave_in_steps(struct pairs *pairs, uint32_t class_index, uint32_t count, uint32_t stride)
{
    for (uint32_t left = count, seat = 0; left > 0; left--, seat = (seat + stride) % count) {
        assert_int_equal(pairs->entries, left);
        remove_class(pairs, class_index, seat, seat + 1);
    }
    expect_empty(pairs);
}

static struct shape shape_of(const struct pairs *pairs)
{
    struct entry found[MOST_ENTRIES];
    struct shape shape;
    read_table(pairs, found, &shape);
    return shape;
}

TEST(a_full_list_gives_its_entries_back_in_any_order)
{
    static const uint32_t strides[] = {1, IN_LONGEST_LIST - 1, 27};
    struct pairs pairs = table_for(10 * SETS);
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        add_class(&pairs, 9, 0, IN_LONGEST_LIST);
        assert_false(pairs.overflowed);
        assert_int_equal(shape_of(&pairs).longest, LINES_OF_LONGEST_LIST);
        leave_in_steps(&pairs, 9, IN_LONGEST_LIST, strides[i]);
    }
    ocdm__pairs_clear(&pairs);
}

/* After an overflow nothing is looked up any more, so that what sets cost that come and go does not depend on the lists. */
static void expect_overflow(struct pairs *pairs)
{
    bool failed = false;
    const uint32_t entries = pairs->entries, line_room = pairs->line_room;
    struct label_set set = one_class(77, 5);
    assert_true(pairs->overflowed);
    add_set(pairs, OCDM__MAIN_PAIRS, &set);
    remove_set(pairs, OCDM__MAIN_PAIRS, &set);
    ocdm__pairs_reserve(pairs, 100 * SETS, &failed);
    assert_false(failed);
    assert_true(pairs->overflowed);
    assert_int_equal(pairs->entries, entries);
    assert_int_equal(pairs->line_room, line_room);
}

static void expect_restart(struct pairs *pairs)
{
    const uint32_t mask = pairs->mask, line_room = pairs->line_room;
    ocdm__pairs_restart(pairs);
    expect_empty(pairs);
    assert_int_equal(pairs->mask, mask);
    assert_int_equal(pairs->line_room, line_room);
}

TEST(a_table_overflows_when_a_list_is_too_long_and_can_start_again)
{
    struct pairs pairs = table_for(10 * SETS);
    add_class(&pairs, 9, 0, IN_LONGEST_LIST);
    assert_false(pairs.overflowed);
    add_class(&pairs, 9, IN_LONGEST_LIST, IN_LONGEST_LIST + 1);
    assert_true(pairs.line_used < pairs.line_room);
    expect_overflow(&pairs);
    expect_restart(&pairs);
    ocdm__pairs_clear(&pairs);
}

TEST(a_table_overflows_when_no_line_is_left_and_can_start_again)
{
    struct pairs pairs = table_for(1);
    const uint32_t room = (pairs.line_room - pairs.mask) * OCDM__ENTRIES;
    pairs.line_room = pairs.mask + 3; /* so that this comes before the list is too long */
    add_class(&pairs, 9, 0, 3 * OCDM__ENTRIES);
    assert_true(3 * OCDM__ENTRIES < room);
    assert_false(pairs.overflowed);
    assert_int_equal(pairs.line_used, pairs.line_room);
    add_class(&pairs, 9, 3 * OCDM__ENTRIES, 3 * OCDM__ENTRIES + 1);
    expect_overflow(&pairs);
    expect_restart(&pairs);
    ocdm__pairs_clear(&pairs);
}

TEST(a_line_that_became_free_goes_to_another_list)
{
    enum { OTHER = 40 };
    struct pairs pairs = table_for(1);
    pairs.line_room = pairs.mask + 2;
    assert_int_not_equal(2 * ocdm__pair_hash(OTHER) & pairs.mask, 2 * ocdm__pair_hash(9) & pairs.mask);
    add_class(&pairs, 9, 0, OCDM__ENTRIES + 1);
    remove_class(&pairs, 9, 0, 1);
    add_class(&pairs, OTHER, 1000, 1000 + 2 * OCDM__ENTRIES);
    assert_false(pairs.overflowed);
    remove_class(&pairs, OTHER, 1000, 1000 + 2 * OCDM__ENTRIES);
    remove_class(&pairs, 9, 1, OCDM__ENTRIES + 1);
    expect_empty(&pairs);
    ocdm__pairs_clear(&pairs);
}

TEST(a_table_that_did_not_overflow_does_not_start_again)
{
    struct pairs pairs = table_for(SETS);
    add_class(&pairs, 9, 0, 3);
    ocdm__pairs_restart(&pairs);
    assert_int_equal(pairs.entries, 3);
    remove_class(&pairs, 9, 0, 3);
    expect_empty(&pairs);
    ocdm__pairs_clear(&pairs);
}

/* ---- seats and tables that cannot be used ------------------------------------------------------------------------------ */

TEST(a_table_overflows_when_an_entry_cannot_name_a_seat)
{
    static const uint32_t seats[] = {OCDM__SEATS, OCDM__SEATS + 7, UINT32_MAX};
    struct pairs pairs = table_for(SETS);
    struct label_set last = one_class(9, OCDM__SEATS - 1);
    for (size_t i = 0; i < sizeof seats / sizeof *seats; i++) {
        add_set(&pairs, OCDM__MAIN_PAIRS, &last);
        struct entry wanted = expected_entry(&pairs, &last, 0, 0);
        assert_true(is_found(&pairs, &wanted));
        struct label_set set = one_class(9, seats[i]);
        add_set(&pairs, OCDM__MAIN_PAIRS, &set);
        expect_overflow(&pairs);
        expect_restart(&pairs);
    }
    ocdm__pairs_clear(&pairs);
}

/* Room that comes later must not make the table forget that it does not know these sets. */
TEST(a_table_that_was_never_made_overflows_and_stays_so)
{
    struct pairs pairs = {.mask = 0};
    add_class(&pairs, 9, 0, 1);
    expect_overflow(&pairs);
    ocdm__pairs_restart(&pairs);
    assert_true(pairs.overflowed);
    ocdm__pairs_clear(&pairs);
}

/* ---- room --------------------------------------------------------------------------------------------------------------- */

TEST(a_table_that_gets_more_room_keeps_its_entries_and_has_lines_for_more)
{
    ocdm__random random = ocdm__random_stream(5, 5);
    struct pairs pairs = table_for(1);
    bool failed = false;
    for (uint32_t i = 0; i < SETS / 8; i++) {
        draw_set(&random, i);
        add_set(&pairs, OCDM__MAIN_PAIRS, &sets[i]);
    }
    for (uint32_t i = 0; i < SETS / 20; i++) /* some lines become free */
        remove_set(&pairs, OCDM__MAIN_PAIRS, &sets[i]);
    const uint32_t entries = pairs.entries, line_room = pairs.line_room;
    assert_true(check_table(&pairs, OCDM__MAIN_PAIRS).free_lines > 0);
    ocdm__pairs_reserve(&pairs, 10 * SETS, &failed);
    assert_false(failed);
    assert_int_equal(pairs.entries, entries);
    assert_true(pairs.line_room > 10 * line_room);
    assert_int_equal((uintptr_t)pairs.lines % sizeof *pairs.lines, 0);
    check_table(&pairs, OCDM__MAIN_PAIRS);
    come_and_go(&pairs, OCDM__MAIN_PAIRS);
    assert_false(pairs.overflowed);
    assert_true(pairs.line_used > line_room);
    ocdm__pairs_clear(&pairs);
}

TEST(a_table_is_not_made_smaller)
{
    struct pairs pairs = table_for(2 * SETS), before = pairs;
    bool failed = false;
    add_class(&pairs, 9, 0, 3);
    ocdm__pairs_reserve(&pairs, 1, &failed);
    assert_false(failed);
    assert_ptr_equal(pairs.lines, before.lines);
    assert_int_equal(pairs.line_room, before.line_room);
    assert_int_equal(pairs.entries, 3);
    ocdm__pairs_clear(&pairs);
    assert_null(pairs.lines);
    assert_int_equal(pairs.entries, 0);
}

/* Finds two classes whose pairs with class 0 have neighbouring lists: their bits are in the same byte. */
static void find_neighbours(const struct pairs *pairs, uint32_t *first, uint32_t *second)
{
    for (*second = 2;; ++*second)
        for (*first = 1; *first < *second; ++*first) {
            uint32_t one = ocdm__pair_hash(0) + ocdm__pair_hash(*first), other = ocdm__pair_hash(0) + ocdm__pair_hash(*second);
            if (((one ^ other) & pairs->mask) == 1)
                return;
        }
}

/* In a large table there are fewer bits for a list. */
TEST(lists_that_share_a_byte_of_filled_bits_do_not_change_the_bits_of_each_other)
{
    struct pairs pairs = table_for(300000);
    assert_int_equal(pairs.upper_bits, 2);
    struct label_set one = {.seat = 1, .cardinality = 2}, other = {.seat = 2, .cardinality = 2};
    find_neighbours(&pairs, &one.cells[1].class_index, &other.cells[1].class_index);
    uint32_t hash_of_one = hash_of_places(&one, 0, 1), hash_of_other = hash_of_places(&other, 0, 1);
    for (uint32_t turn = 0; turn < 2; turn++) {
        add_set(&pairs, OCDM__MAIN_PAIRS, &one);
        assert_int_equal(ocdm__pair_is_filled(&pairs, hash_of_one), 1);
        assert_int_equal(filled_bits(&pairs, hash_of_other & pairs.mask), 0);
        add_set(&pairs, OCDM__MAIN_PAIRS, &other);
        assert_int_equal(ocdm__pair_is_filled(&pairs, hash_of_one), 1);
        assert_int_equal(ocdm__pair_is_filled(&pairs, hash_of_other), 1);
        remove_set(&pairs, OCDM__MAIN_PAIRS, turn == 0 ? &one : &other);
        assert_int_equal(ocdm__pair_is_filled(&pairs, hash_of_one), turn);
        assert_int_equal(ocdm__pair_is_filled(&pairs, hash_of_other), 1 - turn);
        remove_set(&pairs, OCDM__MAIN_PAIRS, turn == 0 ? &other : &one);
        assert_int_equal(filled_bits(&pairs, hash_of_one & pairs.mask), 0);
        assert_int_equal(filled_bits(&pairs, hash_of_other & pairs.mask), 0);
    }
    ocdm__pairs_clear(&pairs);
}

/* ---- heights of sleepers ------------------------------------------------------------------------------------------------ */

enum { MOST_CARDINALITY = 5 };

/* Sets that are asleep, and their heights; 0: it is not asleep. */
struct dormitory {
    struct sleepers sleepers;
    struct set set[SETS];
    uint16_t height[SETS];
};

static const struct cell some_cells[MOST_CARDINALITY] = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {5, 0, 0}};

static void open_dormitory(struct dormitory *dormitory)
{
    bool failed = false;
    *dormitory = (struct dormitory){.set = {{.hash = 0}}};
    ocdm__sleepers_init(&dormitory->sleepers);
    ocdm__sleepers_reserve(&dormitory->sleepers, SETS, &failed);
    ocdm__sleepers_reserve_wards(&dormitory->sleepers, MOST_CARDINALITY + 1, &failed);
    assert_false(failed);
}

static void put_to_sleep(struct dormitory *dormitory, uint32_t number, uint32_t cardinality, uint16_t height)
{
    dormitory->set[number].cardinality = cardinality;
    dormitory->height[number] = height;
    assert_true(ocdm__sleepers_add(&dormitory->sleepers, &dormitory->set[number], number, some_cells, height));
}

static void wake(struct dormitory *dormitory, uint32_t number)
{
    ocdm__sleepers_remove(&dormitory->sleepers, &dormitory->set[number], some_cells);
    dormitory->height[number] = 0;
}

static uint16_t plain_tallest(const struct dormitory *dormitory, uint32_t cardinality)
{
    uint16_t tallest = 0;
    for (uint32_t i = 0; i < SETS; i++)
        if (dormitory->set[i].cardinality == cardinality && dormitory->height[i] > tallest)
            tallest = dormitory->height[i];
    return tallest;
}

TEST(heights_double_their_distance_from_par_in_half_units)
{
    static const struct {
        uint16_t before, after;
    } cases[] = {
        {OCDM__PAR, OCDM__PAR},
        {OCDM__PAR + 1, OCDM__PAR + 2},
        {OCDM__PAR - 1, OCDM__PAR - 2},
        {OCDM__PAR + 1000, OCDM__PAR + 2000},
        {OCDM__PAR - 20000, OCDM__PAR - 40000},
        {57343, OCDM__HIGHEST - 1},
        {57344, OCDM__HIGHEST},
        {OCDM__HIGHEST - 1, OCDM__HIGHEST},
        {OCDM__HIGHEST, OCDM__HIGHEST},
        {24577, 2},
        {24576, 1},
        {24575, 1},
        {1, 1},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct dormitory dormitory;
    open_dormitory(&dormitory);
    for (uint32_t i = 0; i < CASES; i++) /* and 64 more: the seats are in two rows */
        put_to_sleep(&dormitory, i, 1, cases[i].before);
    for (uint32_t i = CASES; i < CASES + OCDM__ROW; i++)
        put_to_sleep(&dormitory, i, 1, 40000);
    wake(&dormitory, CASES);
    ocdm__sleepers_halve_units(&dormitory.sleepers);
    for (uint32_t i = 0; i < CASES + OCDM__ROW; i++) {
        uint32_t seat = dormitory.set[i].lane, after = i < CASES ? cases[i].after : i > CASES ? 30848 : 0;
        assert_int_equal(dormitory.sleepers.height[seat], after);
        assert_int_equal(dormitory.sleepers.raised[seat], after);
    }
    for (uint32_t seat = CASES + OCDM__ROW; seat < 2 * OCDM__ROW; seat++)
        assert_int_equal(dormitory.sleepers.height[seat], 0);
    assert_int_equal(ocdm__sleepers_tallest(&dormitory.sleepers, 0), OCDM__HIGHEST);
    assert_int_equal(ocdm__sleepers_tallest(&dormitory.sleepers, 1), 30848);
    ocdm__sleepers_clear(&dormitory.sleepers);
}

TEST(the_tallest_of_a_cardinality_is_the_next_one_after_all_that_are_as_tall_left)
{
    static const uint16_t heights[] = {OCDM__PAR + 30, OCDM__PAR + 30, OCDM__PAR + 20, OCDM__PAR - 10};
    struct dormitory dormitory;
    open_dormitory(&dormitory);
    put_to_sleep(&dormitory, 10, 3, OCDM__PAR + 50);
    for (uint32_t i = 0; i < 4; i++)
        put_to_sleep(&dormitory, i, 2, heights[i]);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), OCDM__PAR + 30);
    wake(&dormitory, 0);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), OCDM__PAR + 30);
    ocdm__sleepers_halve_units(&dormitory.sleepers);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), OCDM__PAR + 60);
    wake(&dormitory, 1);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), OCDM__PAR + 40);
    wake(&dormitory, 2);
    ocdm__sleepers_halve_units(&dormitory.sleepers);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), OCDM__PAR - 40);
    wake(&dormitory, 3);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 2), 0);
    assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, 3), OCDM__PAR + 200);
    ocdm__sleepers_clear(&dormitory.sleepers);
}

/* The number of the tallest must not be counted down from what it was in other units. */
TEST(the_tallest_of_a_cardinality_is_exact_when_the_tallest_left_right_after_units_were_halved)
{
    struct dormitory dormitory;
    open_dormitory(&dormitory);
    put_to_sleep(&dormitory, 0, 2, OCDM__PAR + 30);
    put_to_sleep(&dormitory, 1, 2, OCDM__PAR + 20);
    ocdm__sleepers_halve_units(&dormitory.sleepers);
    wake(&dormitory, 0);
    uint16_t tallest = ocdm__sleepers_tallest_of(&dormitory.sleepers, 2);
    ocdm__sleepers_clear(&dormitory.sleepers);
    assert_int_equal(tallest, OCDM__PAR + 40);
}

/* Few different heights, so that several sleepers are as tall as the tallest; the largest is rare, since it hides the others.
 */
static uint16_t draw_height(ocdm__random *random)
{
    if (ocdm__random_below(random, 500) == 0)
        return OCDM__HIGHEST;
    return (uint16_t)(OCDM__PAR - 30 + ocdm__random_below(random, 40));
}

static void halve_all(struct dormitory *dormitory)
{
    ocdm__sleepers_halve_units(&dormitory->sleepers);
    for (uint32_t i = 0; i < SETS; i++) {
        int32_t height = 2 * dormitory->height[i] - OCDM__PAR;
        if (dormitory->height[i] == OCDM__HIGHEST || height > (int32_t)OCDM__HIGHEST)
            height = OCDM__HIGHEST;
        if (dormitory->height[i] > 0)
            dormitory->height[i] = (uint16_t)(height < 1 ? 1 : height);
    }
}

/* One sleeper comes, goes or gets another height. */
static void change_one(struct dormitory *dormitory, ocdm__random *random)
{
    uint32_t number = (uint32_t)ocdm__random_below(random, SETS);
    uint32_t cardinality = 1 + (uint32_t)ocdm__random_below(random, MOST_CARDINALITY);
    uint16_t height = draw_height(random);
    if (dormitory->height[number] == 0) {
        put_to_sleep(dormitory, number, cardinality, height);
    } else if (ocdm__random_below(random, 3) > 0) {
        wake(dormitory, number);
    } else {
        dormitory->height[number] = height;
        ocdm__sleepers_set_height(&dormitory->sleepers, dormitory->set[number].lane, height);
    }
}

/* Asking makes the bounds exact, so most changes are not followed by a question. */
TEST(the_tallest_of_a_cardinality_is_that_of_a_plain_loop_after_any_changes)
{
    struct dormitory dormitory;
    open_dormitory(&dormitory);
    ocdm__random random = ocdm__random_stream(6, 6);
    for (uint32_t turn = 0; turn < 30000; turn++) {
        change_one(&dormitory, &random);
        if (ocdm__random_below(&random, 1000) == 0)
            halve_all(&dormitory);
        uint32_t cardinality = (uint32_t)ocdm__random_below(&random, 4 * MOST_CARDINALITY);
        if (cardinality <= MOST_CARDINALITY)
            assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, cardinality),
                             plain_tallest(&dormitory, cardinality));
    }
    for (uint32_t i = 0; i < SETS; i++)
        if (dormitory.height[i] > 0) {
            assert_int_equal(dormitory.sleepers.height[dormitory.set[i].lane], dormitory.height[i]);
            wake(&dormitory, i);
        }
    for (uint32_t cardinality = 0; cardinality <= MOST_CARDINALITY; cardinality++)
        assert_int_equal(ocdm__sleepers_tallest_of(&dormitory.sleepers, cardinality), 0);
    ocdm__sleepers_clear(&dormitory.sleepers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_subset_of_more_classes_than_the_limit_contains_a_pair),
        cmocka_unit_test(some_subset_of_as_many_classes_as_the_limit_contains_no_pair),
        cmocka_unit_test(no_pair_is_in_two_tables_and_there_are_as_few_main_pairs_as_possible),
        cmocka_unit_test_setup(a_table_has_exactly_the_entries_of_the_sets_that_came_and_did_not_leave, learn_pairs),
        cmocka_unit_test(a_full_list_gives_its_entries_back_in_any_order),
        cmocka_unit_test(a_table_overflows_when_a_list_is_too_long_and_can_start_again),
        cmocka_unit_test(a_table_overflows_when_no_line_is_left_and_can_start_again),
        cmocka_unit_test(a_line_that_became_free_goes_to_another_list),
        cmocka_unit_test(a_table_that_did_not_overflow_does_not_start_again),
        cmocka_unit_test(a_table_overflows_when_an_entry_cannot_name_a_seat),
        cmocka_unit_test(a_table_that_was_never_made_overflows_and_stays_so),
        cmocka_unit_test_setup(a_table_that_gets_more_room_keeps_its_entries_and_has_lines_for_more, learn_pairs),
        cmocka_unit_test(a_table_is_not_made_smaller),
        cmocka_unit_test(lists_that_share_a_byte_of_filled_bits_do_not_change_the_bits_of_each_other),
        cmocka_unit_test(heights_double_their_distance_from_par_in_half_units),
        cmocka_unit_test(the_tallest_of_a_cardinality_is_the_next_one_after_all_that_are_as_tall_left),
        cmocka_unit_test(the_tallest_of_a_cardinality_is_exact_when_the_tallest_left_right_after_units_were_halved),
        cmocka_unit_test(the_tallest_of_a_cardinality_is_that_of_a_plain_loop_after_any_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
