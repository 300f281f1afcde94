/* Seats, heights and lists of the label sets that are asleep. */
#include "memory/scores_parts.h"

#include <string.h>

#include "base/allocate.h"

#define LINE 64u

void ocdm__sleepers_init(struct sleepers *sleepers)
{
    *sleepers = (struct sleepers){.free_row = OCDM_NONE};
}

void ocdm__sleepers_clear(struct sleepers *sleepers)
{
    ocdm__release(sleepers->set);
    ocdm__release(sleepers->height);
    ocdm__release(sleepers->raised);
    ocdm__release(sleepers->rows);
    ocdm__release(sleepers->top);
    ocdm__release(sleepers->loose);
    ocdm__release(sleepers->mark);
    ocdm__release(sleepers->wards);
    ocdm__release(sleepers->paired_block);
    ocdm__release(sleepers->pairs);
    ocdm__release(sleepers->filled);
    ocdm__sleepers_init(sleepers);
}

/* ---- room ----------------------------------------------------------------------------------------------------------- */

void ocdm__sleepers_reserve_wards(struct sleepers *sleepers, uint32_t room, bool *failed)
{
    if (room <= sleepers->ward_room)
        return;
    sleepers->wards = ocdm__grown(sleepers->wards, room, sizeof *sleepers->wards, failed);
    if (*failed)
        return;
    for (uint32_t i = sleepers->ward_room; i < room; i++)
        sleepers->wards[i] = (struct ward){.open_row = OCDM_NONE};
    sleepers->ward_room = room;
}

_Static_assert(sizeof(struct paired) == LINE, "a sleeper's record is one line of the cache");

/* The records move to a larger block whose first record is aligned. */
static void reserve_paired(struct sleepers *sleepers, size_t seats, bool *failed)
{
    unsigned char *block = ocdm__allocate(seats + 1, LINE);
    *failed = block == NULL;
    if (*failed)
        return;
    struct paired *paired = (struct paired *)(void *)(block + (LINE - (uintptr_t)block % LINE) % LINE);
    if (sleepers->paired != NULL)
        memcpy(paired, sleepers->paired, (size_t)sleepers->row_room * OCDM__ROW * sizeof *paired);
    ocdm__release(sleepers->paired_block);
    sleepers->paired_block = block;
    sleepers->paired = paired;
}

/* Makes two to four pairs of lists per seat. While there are sleepers the number of lists stays, and the lists become longer.
 * If 31 bits are not enough to number the links, there are no lists. */
static void reserve_pairs(struct sleepers *sleepers, uint32_t rows, bool *failed)
{
    size_t seats = (size_t)rows * OCDM__ROW, links = seats * OCDM__LINKS, lists = OCDM__ROW;
    if (links >= OCDM__FIRST_LINK) {
        sleepers->pair_mask = 0;
        return;
    }
    reserve_paired(sleepers, seats, failed);
    while (lists < 2 * seats)
        lists *= 2;
    if (*failed || sleepers->count > 0)
        return;
    sleepers->pair_mask = (uint32_t)(lists - 1);
    lists *= OCDM__KINDS_OF_LISTS;
    sleepers->pairs = ocdm__grown(sleepers->pairs, lists, sizeof *sleepers->pairs, failed);
    sleepers->filled = ocdm__grown(sleepers->filled, lists / 64, sizeof *sleepers->filled, failed);
    if (*failed) {
        sleepers->pair_mask = 0;
        return;
    }
    memset(sleepers->pairs, 0xFF, lists * sizeof *sleepers->pairs);
    memset(sleepers->filled, 0, lists / 64 * sizeof *sleepers->filled);
}

static void reserve_rows(struct sleepers *sleepers, uint32_t rows, bool *failed)
{
    size_t seats = (size_t)rows * OCDM__ROW;
    sleepers->set = ocdm__grown(sleepers->set, seats, sizeof *sleepers->set, failed);
    sleepers->height = ocdm__grown(sleepers->height, seats, sizeof *sleepers->height, failed);
    sleepers->raised = ocdm__grown(sleepers->raised, seats, sizeof *sleepers->raised, failed);
    sleepers->rows = ocdm__grown(sleepers->rows, rows, sizeof *sleepers->rows, failed);
    sleepers->top = ocdm__grown(sleepers->top, rows, sizeof *sleepers->top, failed);
    sleepers->loose = ocdm__grown(sleepers->loose, rows, sizeof *sleepers->loose, failed);
    sleepers->mark = ocdm__grown(sleepers->mark, rows, sizeof *sleepers->mark, failed);
    if (!*failed)
        reserve_pairs(sleepers, rows, failed);
    if (!*failed)
        sleepers->row_room = rows;
}

void ocdm__sleepers_reserve(struct sleepers *sleepers, uint32_t sets, bool *failed)
{
    uint32_t rows = sets / (OCDM__ROW / 2) + 2;
    if (rows > sleepers->row_room)
        reserve_rows(sleepers, rows, failed);
}

/* ---- seats ---------------------------------------------------------------------------------------------------------- */

static void link_row(struct sleepers *sleepers, uint32_t number)
{
    uint32_t *open = &sleepers->wards[sleepers->rows[number].cardinality].open_row;
    sleepers->rows[number].previous = OCDM_NONE;
    sleepers->rows[number].next = *open;
    if (*open != OCDM_NONE)
        sleepers->rows[*open].previous = number;
    *open = number;
}

static void unlink_row(struct sleepers *sleepers, uint32_t number)
{
    const struct row *row = &sleepers->rows[number];
    if (row->next != OCDM_NONE)
        sleepers->rows[row->next].previous = row->previous;
    if (row->previous != OCDM_NONE)
        sleepers->rows[row->previous].next = row->next;
    else
        sleepers->wards[row->cardinality].open_row = row->next;
}

static bool open_row(struct sleepers *sleepers, uint32_t cardinality)
{
    uint32_t number = sleepers->free_row;
    if (number != OCDM_NONE)
        sleepers->free_row = sleepers->rows[number].next;
    else if (sleepers->row_used < sleepers->row_room)
        number = sleepers->row_used++;
    else
        return false;
    sleepers->rows[number] = (struct row){.cardinality = cardinality};
    sleepers->top[number] = 0;
    sleepers->loose[number] = false;
    memset(sleepers->height + (size_t)number * OCDM__ROW, 0, OCDM__ROW * sizeof *sleepers->height);
    link_row(sleepers, number);
    return true;
}

/* A height of 0 is that of a free seat. */
static void note_height(struct ward *ward, uint16_t before, uint16_t height)
{
    ward->as_tall -= before == ward->tallest && before > 0;
    if (height > ward->tallest) {
        ward->tallest = height;
        ward->as_tall = 0;
    }
    ward->as_tall += height == ward->tallest && height > 0;
}

void ocdm__sleepers_set_height(struct sleepers *sleepers, uint32_t seat, uint16_t height)
{
    uint32_t row = seat / OCDM__ROW;
    uint16_t *top = &sleepers->top[row], before = sleepers->height[seat];
    if (height == before)
        return;
    note_height(&sleepers->wards[sleepers->rows[row].cardinality], before, height);
    sleepers->loose[row] |= height < before;
    sleepers->height[seat] = sleepers->raised[seat] = height;
    if (sleepers->pair_mask > 0)
        sleepers->paired[seat].height = height;
    *top = height > *top ? height : *top;
}

uint16_t ocdm__sleepers_tallest(struct sleepers *sleepers, uint32_t row)
{
    if (!sleepers->loose[row])
        return sleepers->top[row];
    const uint16_t *height = sleepers->height + (size_t)row * OCDM__ROW;
    uint16_t tallest = 0;
    for (uint32_t i = 0; i < OCDM__ROW; i++)
        tallest = height[i] > tallest ? height[i] : tallest;
    sleepers->loose[row] = false;
    return sleepers->top[row] = tallest;
}

uint16_t ocdm__sleepers_tallest_of(struct sleepers *sleepers, uint32_t cardinality)
{
    struct ward *ward = &sleepers->wards[cardinality];
    if (ward->as_tall > 0)
        return ward->tallest;
    *ward = (struct ward){.open_row = ward->open_row};
    for (uint32_t row = 0; row < sleepers->row_used; row++) {
        if (sleepers->rows[row].cardinality != cardinality || ocdm__sleepers_tallest(sleepers, row) < ward->tallest)
            continue;
        const uint16_t *height = sleepers->height + (size_t)row * OCDM__ROW;
        for (uint32_t i = 0; i < OCDM__ROW; i++)
            note_height(ward, 0, height[i]);
    }
    return ward->tallest;
}

/* ---- pairs ---------------------------------------------------------------------------------------------------------- */

/* The places, among the classes of a set, of the two that are pair number i of it. */
struct pair_places {
    uint32_t a, b;
};

static struct pair_places places_of_pair(uint32_t cardinality, uint32_t i)
{
    static const struct pair_places of_three[] = {{0, 1}, {0, 2}, {1, 2}};
    if (cardinality == 1)
        return (struct pair_places){0, 0};
    if (!ocdm__has_group_of_three(cardinality))
        return (struct pair_places){2 * i, 2 * i + 1};
    return i < 3 ? of_three[i] : (struct pair_places){2 * i - 3, 2 * i - 2};
}

static void set_first_link(struct sleepers *sleepers, uint32_t list, uint32_t link)
{
    uint64_t bit = (uint64_t)1 << list % 64, *bits = &sleepers->filled[list / 64];
    sleepers->pairs[list] = link;
    *bits = link == OCDM_NONE ? *bits & ~bit : *bits | bit;
}

static void link_pair(struct sleepers *sleepers, uint32_t seat, uint32_t pair, uint32_t list)
{
    uint32_t link = seat * OCDM__LINKS + pair, next = sleepers->pairs[list];
    sleepers->paired[seat].next[pair] = next;
    sleepers->paired[seat].previous[pair] = list | OCDM__FIRST_LINK;
    if (next != OCDM_NONE)
        sleepers->paired[next / OCDM__LINKS].previous[next % OCDM__LINKS] = link;
    set_first_link(sleepers, list, link);
}

static void link_pairs(struct sleepers *sleepers, uint32_t seat, const struct cell *cells, uint32_t cardinality)
{
    if (!sleepers->pair_mask)
        return;
    uint16_t *class_index = sleepers->paired[seat].class_index;
    sleepers->paired[seat].cardinality = cardinality;
    for (uint32_t i = 0; i < OCDM__PAIRED; i++)
        class_index[i] =
            (uint16_t)(i < cardinality && cells[i].class_index < OCDM__NO_CLASS ? cells[i].class_index : OCDM__NO_CLASS);
    for (uint32_t i = 0; i < ocdm__pair_count(cardinality); i++) {
        struct pair_places pair = places_of_pair(cardinality, i);
        uint32_t hash = ocdm__pair_hash(cells[pair.a].class_index) + ocdm__pair_hash(cells[pair.b].class_index);
        link_pair(sleepers, seat, i, ocdm__list_of_pair(sleepers, hash, i));
    }
}

static void unlink_pairs(struct sleepers *sleepers, uint32_t seat, uint32_t cardinality)
{
    uint32_t count = sleepers->pair_mask > 0 ? ocdm__pair_count(cardinality) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = sleepers->paired[seat].next[i], previous = sleepers->paired[seat].previous[i];
        if (previous & OCDM__FIRST_LINK)
            set_first_link(sleepers, previous & ~OCDM__FIRST_LINK, next);
        else
            sleepers->paired[previous / OCDM__LINKS].next[previous % OCDM__LINKS] = next;
        if (next != OCDM_NONE)
            sleepers->paired[next / OCDM__LINKS].previous[next % OCDM__LINKS] = previous;
    }
}

/* ---- coming and going ------------------------------------------------------------------------------------------------ */

bool ocdm__sleepers_add(struct sleepers *sleepers, struct set *set, uint32_t number, const struct cell *cells, uint16_t height)
{
    if (sleepers->wards[set->cardinality].open_row == OCDM_NONE && !open_row(sleepers, set->cardinality))
        return false;
    uint32_t place = sleepers->wards[set->cardinality].open_row;
    struct row *row = &sleepers->rows[place];
    uint32_t free = ocdm__lowest_bit(~row->taken), seat = place * OCDM__ROW + free;
    row->taken |= (uint64_t)1 << free;
    if (row->taken == UINT64_MAX)
        unlink_row(sleepers, place);
    sleepers->set[seat] = number;
    ocdm__sleepers_set_height(sleepers, seat, height);
    link_pairs(sleepers, seat, cells, set->cardinality);
    sleepers->count++;
    set->lane = seat;
    return true;
}

void ocdm__sleepers_remove(struct sleepers *sleepers, const struct set *set)
{
    ocdm__sleepers_set_height(sleepers, set->lane, 0);
    unlink_pairs(sleepers, set->lane, set->cardinality);
    sleepers->count--;
    uint32_t place = set->lane / OCDM__ROW;
    struct row *row = &sleepers->rows[place];
    if (row->taken == UINT64_MAX)
        link_row(sleepers, place);
    row->taken &= ~((uint64_t)1 << set->lane % OCDM__ROW);
    if (row->taken)
        return;
    unlink_row(sleepers, place);
    row->next = sleepers->free_row;
    sleepers->free_row = place;
}

/* ---- heights -------------------------------------------------------------------------------------------------------- */

static uint16_t moved(uint16_t height, int64_t units)
{
    int64_t sum = height + units;
    if (height == OCDM__HIGHEST || sum > (int)OCDM__HIGHEST)
        return OCDM__HIGHEST;
    return (uint16_t)(sum < 1 ? 1 : sum);
}

void ocdm__sleepers_move(struct sleepers *sleepers, const struct listed *list, uint32_t count, int64_t units)
{
    for (uint32_t i = 0; i < count; i++)
        ocdm__sleepers_set_height(sleepers, list[i].lane, moved(sleepers->height[list[i].lane], units));
}

void ocdm__sleepers_move_cardinality(struct sleepers *sleepers, uint32_t cardinality, int64_t units)
{
    for (uint32_t row = 0; row < sleepers->row_used; row++) {
        uint64_t bits = sleepers->rows[row].cardinality == cardinality ? sleepers->rows[row].taken : 0;
        for (; bits; bits &= bits - 1) {
            uint32_t seat = row * OCDM__ROW + ocdm__lowest_bit(bits);
            ocdm__sleepers_set_height(sleepers, seat, moved(sleepers->height[seat], units));
        }
    }
}

/* Marks are at most OCDM__HIGHEST, so only a height that reaches its mark may have to be limited. */
uint32_t ocdm__sleepers_raise(struct sleepers *sleepers, const struct listed *list, uint32_t count, uint32_t by,
                              uint32_t *reached)
{
    uint16_t *raised = sleepers->raised;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = list[i].lane, before = raised[seat], after = before + by, wanted = sleepers->mark[seat / OCDM__ROW];
        raised[seat] = (uint16_t)after;
        if (after < wanted)
            continue;
        raised[seat] = (uint16_t)(after < OCDM__HIGHEST ? after : OCDM__HIGHEST);
        if (before < wanted)
            reached[found++] = seat;
    }
    return found;
}

void ocdm__sleepers_put_back(struct sleepers *sleepers, const struct listed *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sleepers->raised[list[i].lane] = sleepers->height[list[i].lane];
}
