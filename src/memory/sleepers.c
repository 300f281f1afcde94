/* Seats, heights and lists of the label sets that are asleep. */
#include "memory/scores_parts.h"

#include <string.h>

#include "base/allocate.h"

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
    ocdm__release(sleepers->labels);
    ocdm__release(sleepers->top);
    ocdm__release(sleepers->loose);
    ocdm__release(sleepers->wards);
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++)
        ocdm__pairs_clear(&sleepers->pairs[kind]);
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

static void reserve_rows(struct sleepers *sleepers, uint32_t rows, bool *failed)
{
    size_t seats = (size_t)rows * OCDM__ROW;
    sleepers->set = ocdm__grown(sleepers->set, seats, sizeof *sleepers->set, failed);
    sleepers->height = ocdm__grown(sleepers->height, seats, sizeof *sleepers->height, failed);
    sleepers->raised = ocdm__grown(sleepers->raised, seats, sizeof *sleepers->raised, failed);
    sleepers->rows = ocdm__grown(sleepers->rows, rows, sizeof *sleepers->rows, failed);
    sleepers->labels = ocdm__grown(sleepers->labels, rows, sizeof *sleepers->labels, failed);
    sleepers->top = ocdm__grown(sleepers->top, rows, sizeof *sleepers->top, failed);
    sleepers->loose = ocdm__grown(sleepers->loose, rows, sizeof *sleepers->loose, failed);
    if (!*failed)
        sleepers->row_room = rows;
}

void ocdm__sleepers_reserve(struct sleepers *sleepers, uint32_t sets, bool *failed)
{
    uint32_t rows = sets / (OCDM__ROW / 2) + 2;
    if (rows > sleepers->row_room)
        reserve_rows(sleepers, rows, failed);
    if (!*failed)
        ocdm__pairs_reserve(&sleepers->pairs[OCDM__MAIN_PAIRS], sets, failed);
    if (!*failed)
        ocdm__pairs_reserve(&sleepers->pairs[OCDM__SPARE_PAIRS], sets / 2, failed);
}

/* ---- seats ---------------------------------------------------------------------------------------------------------- */

static void link_row(struct sleepers *sleepers, uint32_t number)
{
    uint32_t *open = &sleepers->wards[sleepers->labels[number]].open_row;
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
        sleepers->wards[sleepers->labels[number]].open_row = row->next;
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
    sleepers->rows[number] = (struct row){.taken = 0};
    sleepers->labels[number] = (uint16_t)cardinality;
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
    note_height(&sleepers->wards[sleepers->labels[row]], before, height);
    sleepers->loose[row] |= height < before;
    sleepers->height[seat] = sleepers->raised[seat] = height;
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

/* The largest upper bound of the rows of a cardinality. */
static uint16_t highest_top(const struct sleepers *sleepers, uint32_t cardinality)
{
    const uint16_t *labels = sleepers->labels, *top = sleepers->top;
    uint16_t highest = 0, wanted = (uint16_t)cardinality;
    for (uint32_t row = 0; row < sleepers->row_used; row++) {
        uint16_t here = labels[row] == wanted ? top[row] : 0;
        highest = here > highest ? here : highest;
    }
    return highest;
}

/* Makes the bounds of the rows exact that have this one, and counts the sleepers that have this height. */
static uint32_t count_as_tall(struct sleepers *sleepers, uint32_t cardinality, uint16_t tallest)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < sleepers->row_used; row++) {
        if (sleepers->top[row] != tallest || sleepers->labels[row] != cardinality ||
            ocdm__sleepers_tallest(sleepers, row) < tallest)
            continue;
        for (uint32_t i = 0; i < OCDM__ROW; i++)
            count += sleepers->height[(size_t)row * OCDM__ROW + i] == tallest;
    }
    return count;
}

uint16_t ocdm__sleepers_tallest_of(struct sleepers *sleepers, uint32_t cardinality)
{
    struct ward *ward = &sleepers->wards[cardinality];
    while (ward->as_tall == 0 && ward->tallest > 0) {
        ward->tallest = highest_top(sleepers, cardinality);
        ward->as_tall = ward->tallest > 0 ? count_as_tall(sleepers, cardinality, ward->tallest) : 0;
    }
    return ward->tallest;
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
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++)
        ocdm__pairs_add(&sleepers->pairs[kind], kind, seat, cells, set->cardinality);
    sleepers->count++;
    set->lane = seat;
    return true;
}

void ocdm__sleepers_remove(struct sleepers *sleepers, const struct set *set, const struct cell *cells)
{
    ocdm__sleepers_set_height(sleepers, set->lane, 0);
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++)
        ocdm__pairs_remove(&sleepers->pairs[kind], kind, set->lane, cells, set->cardinality);
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
        uint64_t bits = sleepers->labels[row] == cardinality ? sleepers->rows[row].taken : 0;
        for (; bits; bits &= bits - 1) {
            uint32_t seat = row * OCDM__ROW + ocdm__lowest_bit(bits);
            ocdm__sleepers_set_height(sleepers, seat, moved(sleepers->height[seat], units));
        }
    }
}

/* A height of 0 is that of a free seat. */
static uint16_t in_half_units(uint16_t height)
{
    return (uint16_t)(height == 0 ? 0 : moved(height, height - OCDM__PAR));
}

void ocdm__sleepers_halve_units(struct sleepers *sleepers)
{
    for (uint32_t row = 0; row < sleepers->row_used; row++) {
        for (uint32_t seat = row * OCDM__ROW; seat < (row + 1) * OCDM__ROW; seat++)
            sleepers->height[seat] = sleepers->raised[seat] = in_half_units(sleepers->height[seat]);
        sleepers->top[row] = in_half_units(sleepers->top[row]);
    }
    for (uint32_t i = 0; i < sleepers->ward_room; i++) {
        sleepers->wards[i].tallest = in_half_units(sleepers->wards[i].tallest);
        if (sleepers->wards[i].tallest > 0)
            sleepers->wards[i].as_tall = count_as_tall(sleepers, i, sleepers->wards[i].tallest);
    }
}

/* Marks are at most OCDM__HIGHEST, so only a height that reaches its mark may have to be limited. */
uint32_t ocdm__sleepers_raise(struct sleepers *sleepers, const struct listed *list, uint32_t count, uint32_t by,
                              uint32_t *reached)
{
    uint16_t *raised = sleepers->raised;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = list[i].lane, before = raised[seat], after = before + by,
                 wanted = sleepers->wards[sleepers->labels[seat / OCDM__ROW]].mark;
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
