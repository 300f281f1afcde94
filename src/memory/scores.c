/* The index's upkeep: blocks of sets, class weights, the sum A. The search is in scores_search.c. */
#include "memory/scores_weights.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "memory/logarithm.h"

/* Beyond it a step is computed anew each time: the table stays small, and such counts are rare. */
#define STEPS_KEPT 65536u

ocdm_status ocdm__scores_create(struct scores **result, double rho, bool weighted, uint32_t room, ocdm_error *error)
{
    struct scores *scores = ocdm__allocate(1, sizeof *scores);
    if (!scores)
        return ocdm__fail_memory(error, "the index of scores");
    scores->free_block = OCDM_NONE;
    scores->weighted = weighted;
    scores->rho = rho;
    scores->step_room = room < STEPS_KEPT ? room + 1 : STEPS_KEPT;
    scores->steps = ocdm__allocate(scores->step_room, sizeof *scores->steps);
    ocdm_status status = scores->steps ? OCDM_OK : ocdm__fail_memory(error, "the index of scores");
    if (status == OCDM_OK)
        status = ocdm__scores_reserve(scores, room, 1, OCDM__LANES, error);
    if (status != OCDM_OK) {
        ocdm__scores_destroy(scores);
        return status;
    }
    *result = scores;
    return OCDM_OK;
}

void ocdm__scores_destroy(struct scores *scores)
{
    if (!scores)
        return;
    ocdm__release(scores->blocks);
    ocdm__release(scores->first_block);
    ocdm__release(scores->place);
    ocdm__release(scores->present);
    ocdm__release(scores->contenders);
    ocdm__release(scores->changed);
    ocdm__release(scores->waiting);
    ocdm__release(scores->tied);
    ocdm__release(scores->steps);
    ocdm__release(scores);
}

/* Resizes one array; on failure the old one stays, and `failed` tells. */
static void *grown(void *array, size_t count, size_t size, bool *failed)
{
    void *larger = ocdm__resize(array, count, size);
    if (larger)
        return larger;
    *failed = true;
    return array;
}

static void reserve_cardinalities(struct scores *scores, uint32_t cardinality, bool *failed)
{
    uint32_t room = cardinality + 1 + cardinality / 2;
    scores->first_block = grown(scores->first_block, room, sizeof *scores->first_block, failed);
    scores->place = grown(scores->place, room, sizeof *scores->place, failed);
    scores->present = grown(scores->present, room, sizeof *scores->present, failed);
    scores->contenders = grown(scores->contenders, room, sizeof *scores->contenders, failed);
    if (*failed)
        return;
    for (uint32_t i = scores->cardinality_room; i < room; i++)
        scores->first_block[i] = OCDM_NONE;
    scores->cardinality_room = room;
}

/* Every set a lane, and for every cardinality a block that is not full. */
static void reserve_blocks(struct scores *scores, uint32_t samples, bool *failed)
{
    uint32_t partial = samples < scores->cardinality_room ? samples : scores->cardinality_room;
    uint32_t room = samples / OCDM__LANES + partial + 1;
    if (room <= scores->block_room)
        return;
    scores->blocks = grown(scores->blocks, room, sizeof *scores->blocks, failed);
    if (*failed)
        return;
    for (uint32_t i = room; i-- > scores->block_room;) {
        scores->blocks[i].next = scores->free_block;
        scores->free_block = i;
    }
    scores->block_room = room;
}

static void reserve_classes(struct scores *scores, uint32_t classes, bool *failed)
{
    uint32_t room = classes * 2 + 62;
    scores->changed = grown(scores->changed, room, sizeof *scores->changed, failed);
    scores->waiting = grown(scores->waiting, room, sizeof *scores->waiting, failed);
    if (!*failed)
        scores->class_room = room;
}

/* One more than there can be sets: collecting writes a candidate first and counts it after. */
static void reserve_tied(struct scores *scores, uint32_t samples, bool *failed)
{
    scores->tied = grown(scores->tied, (size_t)samples + 1, sizeof *scores->tied, failed);
    if (!*failed)
        scores->tied_room = samples + 1;
}

ocdm_status ocdm__scores_reserve(struct scores *scores, uint32_t samples, uint32_t classes, uint32_t cardinality,
                                 ocdm_error *error)
{
    bool failed = false;
    if (cardinality >= scores->cardinality_room)
        reserve_cardinalities(scores, cardinality, &failed);
    reserve_blocks(scores, samples, &failed);
    if (classes > scores->class_room)
        reserve_classes(scores, classes, &failed);
    if (samples >= scores->tied_room)
        reserve_tied(scores, samples, &failed);
    return failed ? ocdm__fail_memory(error, "the index of scores") : OCDM_OK;
}

/* ---- sets ----------------------------------------------------------------------------------------------------------- */

static void cardinality_appears(struct scores *scores, uint32_t cardinality)
{
    scores->place[cardinality] = scores->present_count;
    scores->present[scores->present_count++] = cardinality;
}

static void cardinality_disappears(struct scores *scores, uint32_t cardinality)
{
    uint32_t place = scores->place[cardinality];
    uint32_t last = scores->present[--scores->present_count];
    scores->present[place] = last;
    scores->place[last] = place;
}

static uint32_t open_block(struct scores *scores, uint32_t cardinality)
{
    uint32_t first = scores->first_block[cardinality];
    if (first != OCDM_NONE && scores->blocks[first].used < OCDM__LANES)
        return first;
    if (first == OCDM_NONE)
        cardinality_appears(scores, cardinality);
    uint32_t number = scores->free_block;
    struct block *block = &scores->blocks[number];
    scores->free_block = block->next;
    block->next = first;
    block->used = 0;
    block->stale = false;
    block->max = INT64_MIN;
    scores->first_block[cardinality] = number;
    return number;
}

void ocdm__scores_add_set(struct scores *scores, struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    int64_t score = 0;
    if (scores->weighted)
        for (uint32_t i = 0; i < set->cardinality; i++)
            score += pool->classes[pool->cells[set->cells + i].class_index].applied;
    set->block = open_block(scores, set->cardinality);
    struct block *block = &scores->blocks[set->block];
    set->lane = block->used++;
    block->set[set->lane] = number;
    block->score[set->lane] = score;
    if (score > block->max)
        block->max = score;
}

/* The last lane of the cardinality's first block fills the gap. */
void ocdm__scores_remove_set(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    uint32_t first = scores->first_block[set->cardinality];
    struct block *giver = &scores->blocks[first];
    struct block *taker = &scores->blocks[set->block];
    uint32_t last = --giver->used;
    uint32_t moved = giver->set[last];
    taker->score[set->lane] = giver->score[last];
    taker->set[set->lane] = moved;
    taker->stale = giver->stale = true;
    pool->sets[moved].block = set->block;
    pool->sets[moved].lane = set->lane;
    if (giver->used)
        return;
    scores->first_block[set->cardinality] = giver->next;
    if (giver->next == OCDM_NONE)
        cardinality_disappears(scores, set->cardinality);
    giver->next = scores->free_block;
    scores->free_block = first;
}

/* ---- weights -------------------------------------------------------------------------------------------------------- */

static int64_t compute_step(uint32_t m)
{
    return ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
}

int64_t ocdm__scores_step(struct scores *scores, uint32_t m)
{
    if (m < scores->step_known)
        return scores->steps[m];
    if (m >= scores->step_room)
        return compute_step(m);
    while (scores->step_known <= m) {
        scores->steps[scores->step_known] = compute_step(scores->step_known);
        scores->step_known++;
    }
    return scores->steps[m];
}

static void add_to_sum(struct wide *sum, int64_t x)
{
    uint64_t low = sum->low + (uint64_t)x;
    sum->high += (x < 0 ? -1 : 0) + (low < (uint64_t)x);
    sum->low = low;
}

/* Adds count * x, through the two halves of x, so that no product outgrows 64 bits. */
static void add_multiple_to_sum(struct wide *sum, uint32_t count, int64_t x)
{
    int64_t high = x >> 32;
    uint64_t low = (uint64_t)x & 0xFFFFFFFFu;
    add_to_sum(sum, (int64_t)(low * count >> 1));
    add_to_sum(sum, (int64_t)(low * count - (low * count >> 1)));
    int64_t shifted = high * count;
    struct wide part = {(uint64_t)shifted << 32, shifted >> 32};
    uint64_t total = sum->low + part.low;
    sum->high += part.high + (total < part.low);
    sum->low = total;
}

static void note_change(struct scores *scores, struct class *class, uint32_t class_index)
{
    if (class->changed)
        return;
    class->changed = true;
    scores->changed[scores->changed_count++] = class_index;
}

void ocdm__scores_class_grew(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    if (!scores->weighted)
        return;
    struct class *class = &pool->classes[class_index];
    add_to_sum(&scores->sum, ocdm__scores_step(scores, class->kept) - class->log_seen);
    note_change(scores, class, class_index);
}

void ocdm__scores_class_shrinks(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    if (!scores->weighted)
        return;
    struct class *class = &pool->classes[class_index];
    add_to_sum(&scores->sum, class->log_seen - ocdm__scores_step(scores, class->kept));
    note_change(scores, class, class_index);
}

void ocdm__scores_class_seen(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    if (!scores->weighted || scores->rho == 0)
        return;
    struct class *class = &pool->classes[class_index];
    int64_t log_seen = class->seen ? ocdm__nearest(scores->rho * ocdm__ln(class->seen) * OCDM__GRID) : 0;
    add_multiple_to_sum(&scores->sum, class->kept, class->log_seen - log_seen);
    class->log_seen = log_seen;
    note_change(scores, class, class_index);
}
