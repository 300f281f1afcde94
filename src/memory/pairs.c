/* The tables of pairs of classes: who is in them for which pair, and lines that come and go. */
#include "memory/scores_parts.h"

#include <string.h>

#include "base/allocate.h"

#define LINE 64u

/* So many bits of `filled` stay in the cache. */
#define BITS_IN_CACHE ((size_t)1 << 21)

_Static_assert(sizeof(struct pair_line) == LINE, "the entries are in lines of the cache");

/* No list has more lines than this: a sweep over longer ones would not be worth it, and to find the entry that leaves would
 * take long. With few classes the table overflows, and keeping it up to date costs nothing from then on. */
#ifndef LONGEST_LIST
#define LONGEST_LIST 16u
#endif

/* ---- room ----------------------------------------------------------------------------------------------------------- */

void ocdm__pairs_clear(struct pairs *pairs)
{
    ocdm__release(pairs->block);
    ocdm__release(pairs->filled);
    *pairs = (struct pairs){.mask = 0};
}

/* The lines move to a larger block whose first line is aligned. */
static void reserve_lines(struct pairs *pairs, size_t lines, bool *failed)
{
    unsigned char *block = ocdm__allocate(lines + 1, LINE);
    *failed = block == NULL;
    if (*failed)
        return;
    struct pair_line *aligned = (struct pair_line *)(void *)(block + (LINE - (uintptr_t)block % LINE) % LINE);
    if (pairs->lines != NULL)
        memcpy(aligned, pairs->lines, (size_t)pairs->line_used * LINE);
    ocdm__release(pairs->block);
    pairs->block = block;
    pairs->lines = aligned;
    pairs->line_room = (uint32_t)lines;
}

/* A new table, with so many first lines, takes the place of one without entries. */
static void start_table(struct pairs *pairs, size_t first_lines, size_t lines, bool *failed)
{
    struct pairs made = {.mask = (uint32_t)(first_lines - 1)};
    while (made.upper_bits < 3 && first_lines << (made.upper_bits + 1) <= BITS_IN_CACHE)
        made.upper_bits++;
    made.filled = ocdm__allocate((first_lines << made.upper_bits) / 8, sizeof *made.filled);
    *failed = made.filled == NULL;
    if (!*failed)
        reserve_lines(&made, lines, failed);
    if (*failed) {
        ocdm__pairs_clear(&made);
        return;
    }
    made.line_used = (uint32_t)first_lines;
    ocdm__pairs_clear(pairs);
    *pairs = made;
}

void ocdm__pairs_reserve(struct pairs *pairs, uint32_t sets, bool *failed)
{
    size_t first_lines = 64;
    while (first_lines < (size_t)sets + sets / 2)
        first_lines *= 2;
    size_t lines = first_lines + first_lines / 4;
    if (lines <= pairs->line_room || lines > UINT32_MAX || pairs->overflowed)
        return;
    if (pairs->entries > 0)
        reserve_lines(pairs, lines, failed);
    else
        start_table(pairs, first_lines, lines, failed);
}

/* Without memory for a new table there is none. */
void ocdm__pairs_restart(struct pairs *pairs)
{
    size_t first_lines = (size_t)pairs->mask + 1, lines = pairs->line_room;
    bool failed = false;
    if (!pairs->overflowed || pairs->mask == 0)
        return;
    ocdm__pairs_clear(pairs);
    start_table(pairs, first_lines, lines, &failed);
}

/* ---- the pairs of a set --------------------------------------------------------------------------------------------- */

/* The places of two classes among those of a set. */
struct pair_places {
    uint8_t a, b;
};

#define MOST_PAIRS 5u

struct pairs_of_set {
    uint32_t count;
    struct pair_places pairs[MOST_PAIRS];
};

/* By kind and number of labels. The groups are of two classes, and one of three if the number is odd; with the spare pairs one
 * of four (4 labels), two of three (6 labels), two of three and one of two (8 labels). */
static const struct pairs_of_set pairs_of[OCDM__KINDS_OF_PAIRS][OCDM__PAIRED + 1] =
    {
        [OCDM__MAIN_PAIRS] =
            {
                [1] = {1, {{0, 0}}},
                [2] = {1, {{0, 1}}},
                [3] = {3, {{0, 1}, {0, 2}, {1, 2}}},
                [4] = {2, {{0, 1}, {2, 3}}},
                [5] = {4, {{0, 1}, {0, 2}, {1, 2}, {3, 4}}},
                [6] = {3, {{0, 1}, {3, 4}, {2, 5}}},
                [7] = {5, {{0, 1}, {0, 2}, {1, 2}, {3, 4}, {5, 6}}},
                [8] = {4, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
            },
        [OCDM__SPARE_PAIRS] =
            {
                [4] = {4, {{0, 2}, {0, 3}, {1, 2}, {1, 3}}},
                [6] = {4, {{0, 2}, {1, 2}, {3, 5}, {4, 5}}},
                [8] = {4, {{0, 2}, {1, 2}, {3, 4}, {3, 5}}},
            },
};

static const struct pairs_of_set *find_pairs(uint32_t kind, uint32_t cardinality)
{
    return &pairs_of[kind][cardinality < OCDM__PAIRED ? cardinality : OCDM__PAIRED];
}

static uint32_t hash_of_pair(const struct cell *cells, struct pair_places pair)
{
    return ocdm__pair_hash(cells[pair.a].class_index) + ocdm__pair_hash(cells[pair.b].class_index);
}

static uint64_t others_than(const struct cell *cells, uint32_t cardinality, struct pair_places pair)
{
    uint32_t paired = cardinality < OCDM__PAIRED ? cardinality : OCDM__PAIRED, count = 0;
    uint64_t others = cardinality > OCDM__PAIRED ? OCDM__PAIRED + 1 : cardinality;
    for (uint32_t i = 0; i < paired; i++)
        if (i != pair.a && i != pair.b) {
            others = others << OCDM__BITS_OF_CODE | ocdm__code_of_class(cells[i].class_index);
            count++;
        }
    for (; count < OCDM__OTHERS; count++)
        others = others << OCDM__BITS_OF_CODE | OCDM__NO_CODE;
    return others;
}

/* ---- entries -------------------------------------------------------------------------------------------------------- */

/* A place in a line. */
struct spot {
    struct pair_line *line;
    uint32_t place;
};

/* Adds an empty line behind the first one; NULL if there is no room, or the list is too long. */
static struct pair_line *add_line(struct pairs *pairs, struct pair_line *first)
{
    uint32_t length = 1, number = pairs->free_line;
    for (const struct pair_line *line = first; line->next > 0; line = &pairs->lines[line->next])
        length++;
    if (length >= LONGEST_LIST || (number == 0 && pairs->line_used == pairs->line_room))
        return NULL;
    if (number > 0)
        pairs->free_line = pairs->lines[number].next;
    else
        number = pairs->line_used++;
    pairs->lines[number] = (struct pair_line){.next = first->next};
    first->next = number;
    return &pairs->lines[number];
}

static uint32_t find_room(const struct pair_line *line)
{
    uint32_t place = 0;
    while (place < OCDM__ENTRIES && line->others[place] > 0)
        place++;
    return place;
}

/* Where the next entry of a list goes: into its first line or the one behind it; all others are full. */
static struct spot open_spot(struct pairs *pairs, struct pair_line *first)
{
    struct spot spot = {first, find_room(first)};
    if (spot.place == OCDM__ENTRIES && first->next > 0)
        spot = (struct spot){&pairs->lines[first->next], find_room(&pairs->lines[first->next])};
    if (spot.place < OCDM__ENTRIES)
        return spot;
    return (struct spot){add_line(pairs, first), 0};
}

/* What an entry has for a seat. */
static uint32_t name_of(uint32_t seat, uint32_t hash)
{
    return seat | (hash & ~(OCDM__SEATS - 1));
}

static void set_filled(struct pairs *pairs, uint32_t line, uint32_t hash)
{
    size_t bit = ocdm__bit_of_pair(pairs, line, hash);
    pairs->filled[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* All bits of a line, which are in one byte. */
static void clear_filled(struct pairs *pairs, uint32_t line)
{
    size_t bit = (size_t)line << pairs->upper_bits;
    uint32_t bits = (1u << (1u << pairs->upper_bits)) - 1;
    pairs->filled[bit / 8] &= (uint8_t) ~(bits << bit % 8);
}

/* Whether there is a table, and an entry can name this seat. */
static bool is_usable(const struct pairs *pairs, uint32_t seat)
{
    return pairs->mask > 0 && seat < OCDM__SEATS;
}

static void add_entry(struct pairs *pairs, uint32_t hash, uint32_t seat, uint64_t others)
{
    struct spot spot = {NULL, 0};
    if (is_usable(pairs, seat))
        spot = open_spot(pairs, &pairs->lines[hash & pairs->mask]);
    pairs->overflowed = spot.line == NULL;
    if (pairs->overflowed)
        return;
    spot.line->others[spot.place] = others;
    spot.line->seat[spot.place] = name_of(seat, hash);
    set_filled(pairs, hash & pairs->mask, hash);
    pairs->entries++;
}

/* An entry that is there. */
static struct spot find_entry(const struct pairs *pairs, struct pair_line *first, uint32_t seat)
{
    for (struct pair_line *line = first;; line = &pairs->lines[line->next])
        for (uint32_t i = 0; i < OCDM__ENTRIES; i++)
            if (line->seat[i] == seat && line->others[i] > 0)
                return (struct spot){line, i};
}

/* The last entry of the line behind the first one takes the place, if there is such a line; it is free if none is left. */
static void drop_entry(struct pairs *pairs, struct pair_line *first, struct spot gone)
{
    uint32_t number = first->next;
    struct pair_line *giver = &pairs->lines[number];
    pairs->entries--;
    if (number == 0) {
        gone.line->others[gone.place] = 0;
        return;
    }
    uint32_t last = OCDM__ENTRIES - 1;
    while (giver->others[last] == 0)
        last--;
    gone.line->others[gone.place] = giver->others[last];
    gone.line->seat[gone.place] = giver->seat[last];
    giver->others[last] = 0;
    if (last > 0)
        return;
    first->next = giver->next;
    giver->next = pairs->free_line;
    pairs->free_line = number;
}

static void remove_entry(struct pairs *pairs, uint32_t hash, uint32_t seat)
{
    struct pair_line *first = &pairs->lines[hash & pairs->mask];
    drop_entry(pairs, first, find_entry(pairs, first, name_of(seat, hash)));
    if (first->next > 0)
        return;
    clear_filled(pairs, hash & pairs->mask);
    for (uint32_t i = 0; i < OCDM__ENTRIES; i++)
        if (first->others[i] > 0)
            set_filled(pairs, hash & pairs->mask, first->seat[i]);
}

void ocdm__pairs_add(struct pairs *pairs, uint32_t kind, uint32_t seat, const struct cell *cells, uint32_t cardinality)
{
    const struct pairs_of_set *of_set = find_pairs(kind, cardinality);
    for (uint32_t i = 0; i < of_set->count && !pairs->overflowed; i++)
        add_entry(pairs, hash_of_pair(cells, of_set->pairs[i]), seat, others_than(cells, cardinality, of_set->pairs[i]));
}

void ocdm__pairs_remove(struct pairs *pairs, uint32_t kind, uint32_t seat, const struct cell *cells, uint32_t cardinality)
{
    const struct pairs_of_set *of_set = find_pairs(kind, cardinality);
    for (uint32_t i = 0; i < of_set->count && !pairs->overflowed; i++)
        remove_entry(pairs, hash_of_pair(cells, of_set->pairs[i]), seat);
}
