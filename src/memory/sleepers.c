/* Seats, heights and lists of the label sets that are asleep. */
#include "memory/scores.h"

#include "base/allocate.h"

void ocdm__sleepers_init(struct sleepers *sleepers)
{
    *sleepers = (struct sleepers){.free_seat = OCDM_NONE, .free_chunk = OCDM_NONE};
}

void ocdm__sleepers_clear(struct sleepers *sleepers)
{
    ocdm__release(sleepers->set);
    ocdm__release(sleepers->height);
    ocdm__release(sleepers->rolls);
    ocdm__release(sleepers->chunks);
    ocdm__sleepers_init(sleepers);
}

/* ---- room ----------------------------------------------------------------------------------------------------------- */

static void reserve_seats(struct sleepers *sleepers, uint32_t sets, bool *failed)
{
    sleepers->set = ocdm__grown(sleepers->set, sets, sizeof *sleepers->set, failed);
    sleepers->height = ocdm__grown(sleepers->height, sets, sizeof *sleepers->height, failed);
    if (!*failed)
        sleepers->room = sets;
}

static void reserve_rolls(struct sleepers *sleepers, uint32_t tiles, uint32_t classes, bool *failed)
{
    struct roll *rolls = ocdm__allocate((size_t)classes * tiles, sizeof *rolls);
    if (!rolls) {
        *failed = true;
        return;
    }
    for (uint32_t c = 0; c < classes; c++)
        for (uint32_t t = 0; t < tiles; t++)
            rolls[(size_t)c * tiles + t] = c < sleepers->class_room && t < sleepers->tiles
                                               ? sleepers->rolls[(size_t)c * sleepers->tiles + t]
                                               : (struct roll){OCDM_NONE, 0};
    ocdm__release(sleepers->rolls);
    sleepers->rolls = rolls;
    sleepers->tiles = tiles;
    sleepers->class_room = classes;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* All chunks of a list but one are full, and no list is without an entry. */
static size_t chunks_for(const struct sleepers *sleepers, size_t cells)
{
    size_t lists = (size_t)sleepers->class_room * sleepers->tiles;
    return cells / OCDM__CHUNK + (lists < cells ? lists : cells) + 1;
}

void ocdm__sleepers_reserve(struct sleepers *sleepers, uint32_t sets, uint32_t classes, size_t cells, bool *failed)
{
    if (sets > sleepers->room)
        reserve_seats(sleepers, sets, failed);
    uint32_t tiles = sets / OCDM__TILE + 1;
    if (!*failed && (tiles > sleepers->tiles || classes > sleepers->class_room))
        reserve_rolls(sleepers, larger(tiles, sleepers->tiles), larger(classes * 2, sleepers->class_room), failed);
    size_t chunks = chunks_for(sleepers, cells);
    if (*failed || chunks <= sleepers->chunk_room)
        return;
    chunks *= 2;
    *failed = chunks >= OCDM_NONE / 32;
    if (!*failed)
        sleepers->chunks = ocdm__grown(sleepers->chunks, chunks, sizeof *sleepers->chunks, failed);
    if (!*failed)
        sleepers->chunk_room = (uint32_t)chunks;
}

/* ---- lists ---------------------------------------------------------------------------------------------------------- */

static struct roll *roll_of(const struct sleepers *sleepers, uint32_t class_index, uint32_t tile)
{
    return &sleepers->rolls[(size_t)class_index * sleepers->tiles + tile];
}

static uint32_t take_chunk(struct sleepers *sleepers, uint32_t next)
{
    uint32_t chunk = sleepers->free_chunk;
    if (chunk == OCDM_NONE)
        chunk = sleepers->chunk_used++;
    else
        sleepers->free_chunk = sleepers->chunks[chunk].next;
    sleepers->chunks[chunk].next = next;
    return chunk;
}

/* How many entries the first chunk has. */
static uint32_t in_first(const struct roll *roll)
{
    return roll->count ? (roll->count - 1) % OCDM__CHUNK + 1 : 0;
}

/* A cell's place on its list: 32 times the chunk, and which of its entries. */
static void enter(struct sleepers *sleepers, struct cell *cell, uint32_t seat)
{
    struct roll *roll = roll_of(sleepers, cell->class_index, seat / OCDM__TILE);
    if (roll->count % OCDM__CHUNK == 0)
        roll->first = take_chunk(sleepers, roll->count ? roll->first : OCDM_NONE);
    roll->count++;
    uint32_t entry = in_first(roll) - 1;
    sleepers->chunks[roll->first].slot[entry] = (uint16_t)(seat % OCDM__TILE);
    cell->place = roll->first * 32 + entry;
}

static struct cell *cell_of(const struct pool *pool, uint32_t set, uint32_t class_index)
{
    struct cell *cell = pool->cells + pool->sets[set].cells;
    while (cell->class_index != class_index)
        cell++;
    return cell;
}

/* The last entry of the first chunk fills the gap. */
static void strike(struct sleepers *sleepers, const struct pool *pool, const struct cell *cell, uint32_t seat)
{
    uint32_t tile = seat / OCDM__TILE;
    struct roll *roll = roll_of(sleepers, cell->class_index, tile);
    struct chunk *first = &sleepers->chunks[roll->first];
    uint16_t moved = first->slot[in_first(roll) - 1];
    sleepers->chunks[cell->place / 32].slot[cell->place % 32] = moved;
    cell_of(pool, sleepers->set[tile * OCDM__TILE + moved], cell->class_index)->place = cell->place;
    roll->count--;
    if (roll->count % OCDM__CHUNK)
        return;
    uint32_t emptied = roll->first;
    roll->first = first->next;
    first->next = sleepers->free_chunk;
    sleepers->free_chunk = emptied;
}

/* ---- seats ---------------------------------------------------------------------------------------------------------- */

void ocdm__sleepers_add(struct sleepers *sleepers, struct pool *pool, uint32_t number, uint16_t height)
{
    struct set *set = &pool->sets[number];
    uint32_t seat = sleepers->free_seat;
    if (seat == OCDM_NONE)
        seat = sleepers->used++;
    else
        sleepers->free_seat = sleepers->set[seat];
    sleepers->set[seat] = number;
    sleepers->height[seat] = height;
    sleepers->count++;
    set->lane = seat;
    for (uint32_t i = 0; i < set->cardinality; i++)
        enter(sleepers, &pool->cells[set->cells + i], seat);
}

void ocdm__sleepers_remove(struct sleepers *sleepers, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t i = 0; i < set->cardinality; i++)
        strike(sleepers, pool, &pool->cells[set->cells + i], set->lane);
    sleepers->height[set->lane] = 0;
    sleepers->set[set->lane] = sleepers->free_seat;
    sleepers->free_seat = set->lane;
    sleepers->count--;
}

/* ---- heights -------------------------------------------------------------------------------------------------------- */

uint32_t ocdm__sleepers_in_tile(const struct sleepers *sleepers, uint32_t tile)
{
    uint64_t first = (uint64_t)tile * OCDM__TILE;
    if (first >= sleepers->used)
        return 0;
    return sleepers->used - first < OCDM__TILE ? (uint32_t)(sleepers->used - first) : OCDM__TILE;
}

void ocdm__sleepers_raise(const struct sleepers *sleepers, uint32_t class_index, uint32_t tile, uint32_t by, uint16_t *height)
{
    const struct roll *roll = roll_of(sleepers, class_index, tile);
    uint32_t entries = in_first(roll);
    for (uint32_t c = roll->count ? roll->first : OCDM_NONE; c != OCDM_NONE; c = sleepers->chunks[c].next) {
        const uint16_t *slot = sleepers->chunks[c].slot;
        for (uint32_t i = 0; i < entries; i++) {
            uint32_t raised = height[slot[i]] + by;
            height[slot[i]] = (uint16_t)(raised < OCDM__HIGHEST ? raised : OCDM__HIGHEST);
        }
        entries = OCDM__CHUNK;
    }
}

void ocdm__sleepers_lower(const struct sleepers *sleepers, uint32_t class_index, uint32_t tile, uint32_t by, uint16_t *height)
{
    const struct roll *roll = roll_of(sleepers, class_index, tile);
    uint32_t entries = in_first(roll);
    for (uint32_t c = roll->count ? roll->first : OCDM_NONE; c != OCDM_NONE; c = sleepers->chunks[c].next) {
        const uint16_t *slot = sleepers->chunks[c].slot;
        for (uint32_t i = 0; i < entries; i++) {
            uint32_t now = height[slot[i]];
            height[slot[i]] = (uint16_t)(now == OCDM__HIGHEST ? now : now > by ? now - by : 1);
        }
        entries = OCDM__CHUNK;
    }
}
