/* Ranking by radix sort: three passes of eleven bits over (key, whether the sample carries the class). */
#include "metrics/ranking.h"

#include <math.h>

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define PASSES 3

_Static_assert(DIGITS *PASSES == OCDM__RANK_COUNTS, "one histogram for each pass");
_Static_assert(DIGIT_BITS *PASSES >= 32, "the passes cover a key");

/* The lowest bit of an entry says whether the sample carries the class; the key is above it. */
static uint32_t digit_of(uint64_t entry, unsigned pass)
{
    return (uint32_t)(entry >> (1 + pass * DIGIT_BITS) & (DIGITS - 1));
}

static void count_digits(const uint64_t *entries, size_t count, uint32_t *counts)
{
    memset(counts, 0, OCDM__RANK_COUNTS * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        for (unsigned pass = 0; pass < PASSES; pass++)
            counts[pass * DIGITS + digit_of(entries[i], pass)]++;
}

/* Turns how many there are of each digit into where the first of them goes. */
static void place_digits(uint32_t *counts)
{
    uint32_t place = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t here = counts[i];
        counts[i] = place;
        place += here;
    }
}

/* Sorts by key; the result is in one of the two halves of the room. */
static const uint64_t *sort_entries(const ocdm__rank_room *room, size_t count)
{
    uint64_t *from = room->entries, *to = room->spare;
    count_digits(from, count, room->counts);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint32_t *places = room->counts + pass * DIGITS;
        if (places[digit_of(from[0], pass)] == count)
            continue; /* all alike in this digit */
        place_digits(places);
        for (size_t i = 0; i < count; i++)
            to[places[digit_of(from[i], pass)]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* Recall rises by (hits of this threshold) / (carriers), so the division by the carriers can wait until the end. */
static double sum_precision(const uint64_t *sorted, size_t count, size_t carrier_count)
{
    double sum = 0;
    size_t hits = 0;
    for (size_t i = 0; i < count && hits < carrier_count;) {
        uint64_t key = sorted[i] >> 1;
        size_t hits_before = hits;
        for (; i < count && sorted[i] >> 1 == key; i++)
            hits += sorted[i] & 1;
        if (hits > hits_before)
            sum += (double)(hits - hits_before) * ((double)hits / (double)i);
    }
    return sum;
}

double ocdm__average_precision(const uint32_t *keys, size_t count, const uint32_t *carriers, size_t carrier_count,
                               const ocdm__rank_room *room)
{
    if (carrier_count == 0)
        return NAN;
    for (size_t i = 0; i < count; i++)
        room->entries[i] = (uint64_t)keys[i] << 1;
    for (size_t i = 0; i < carrier_count; i++)
        room->entries[carriers[i]] |= 1;
    return sum_precision(sort_entries(room, count), count, carrier_count) / (double)carrier_count;
}
