/* The index's upkeep: room, blocks of sets, class weights, the sum A. */
#include "memory/scores_parts.h"

#include "base/allocate.h"
#include "base/error.h"

/* Beyond it a step is computed anew each time: the table stays small, and such counts are rare. */
#define STEPS_KEPT 65536u

ocdm_status ocdm__scores_create(struct scores **result, double rho, bool weighted, uint32_t room, ocdm_error *error)
{
    struct scores *scores = ocdm__allocate(1, sizeof *scores);
    if (!scores)
        return ocdm__fail_memory(error, "the index of scores");
    scores->search = ocdm__lane_search_at(0);
    scores->free_block = OCDM_NONE;
    ocdm__sleepers_init(&scores->sleepers);
    scores->near_share = 16;
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
    ocdm__release(scores->lanes.score);
    ocdm__release(scores->lanes.order);
    ocdm__release(scores->lanes.set);
    ocdm__release(scores->lanes.blocks);
    ocdm__release(scores->buckets);
    ocdm__release(scores->present);
    ocdm__release(scores->contenders);
    ocdm__release(scores->highest_score);
    ocdm__release(scores->changed);
    ocdm__sleepers_clear(&scores->sleepers);
    ocdm__release(scores->risen);
    ocdm__release(scores->risers);
    ocdm__release(scores->ranked);
    ocdm__release(scores->tied);
    ocdm__release(scores->steps);
    ocdm__release(scores);
}

static void reserve_cardinalities(struct scores *scores, uint32_t cardinality, bool *failed)
{
    uint32_t room = cardinality + 1 + cardinality / 2;
    scores->buckets = ocdm__grown(scores->buckets, room, sizeof *scores->buckets, failed);
    scores->present = ocdm__grown(scores->present, room, sizeof *scores->present, failed);
    scores->contenders = ocdm__grown(scores->contenders, room, sizeof *scores->contenders, failed);
    scores->highest_score = ocdm__grown(scores->highest_score, room, sizeof *scores->highest_score, failed);
    ocdm__sleepers_reserve_wards(&scores->sleepers, room, failed);
    if (*failed)
        return;
    for (uint32_t i = scores->cardinality_room; i < room; i++)
        scores->buckets[i] = (struct bucket){.first_block = OCDM_NONE, .highest_guest = INT64_MIN};
    scores->cardinality_room = room;
}

/* Every set a lane, for every cardinality a block that is not full, and the block of the lane that is nobody's. */
static void reserve_blocks(struct scores *scores, uint32_t samples, bool *failed)
{
    uint32_t partial = samples < scores->cardinality_room ? samples : scores->cardinality_room;
    uint32_t room = samples / OCDM__LANES + partial + 2;
    if (room <= scores->block_room)
        return;
    size_t lanes = (size_t)room * OCDM__LANES;
    scores->lanes.blocks = ocdm__grown(scores->lanes.blocks, room, sizeof *scores->lanes.blocks, failed);
    scores->lanes.score = ocdm__grown(scores->lanes.score, lanes, sizeof *scores->lanes.score, failed);
    scores->lanes.order = ocdm__grown(scores->lanes.order, lanes, sizeof *scores->lanes.order, failed);
    scores->lanes.set = ocdm__grown(scores->lanes.set, lanes, sizeof *scores->lanes.set, failed);
    if (*failed)
        return;
    uint32_t first_usable = scores->block_room ? scores->block_room : OCDM__NOBODYS_LANE / OCDM__LANES + 1;
    for (uint32_t i = room; i-- > first_usable;) {
        scores->lanes.blocks[i].next = scores->free_block;
        scores->free_block = i;
    }
    scores->block_room = room;
}

static void reserve_classes(struct scores *scores, uint32_t classes, bool *failed)
{
    uint32_t room = classes * 2 + 62;
    scores->changed = ocdm__grown(scores->changed, room, sizeof *scores->changed, failed);
    scores->risen = ocdm__grown(scores->risen, room, sizeof *scores->risen, failed);
    scores->risers = ocdm__grown(scores->risers, room, sizeof *scores->risers, failed);
    if (!*failed)
        scores->class_room = room;
}

static void reserve_sets(struct scores *scores, uint32_t samples, bool *failed)
{
    scores->ranked = ocdm__grown(scores->ranked, samples, sizeof *scores->ranked, failed);
    scores->tied = ocdm__grown(scores->tied, samples, sizeof *scores->tied, failed);
    if (!*failed)
        scores->set_room = samples;
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
    if (samples > scores->set_room)
        reserve_sets(scores, samples, &failed);
    if (scores->weighted)
        ocdm__scores_reserve_sleepers(scores, samples, &failed);
    return failed ? ocdm__fail_memory(error, "the index of scores") : OCDM_OK;
}

/* ---- sets ----------------------------------------------------------------------------------------------------------- */

static void cardinality_appears(struct scores *scores, uint32_t cardinality)
{
    scores->buckets[cardinality].place = scores->present_count;
    scores->present[scores->present_count++] = cardinality;
}

static void cardinality_disappears(struct scores *scores, uint32_t cardinality)
{
    uint32_t place = scores->buckets[cardinality].place;
    uint32_t last = scores->present[--scores->present_count];
    scores->present[place] = last;
    scores->buckets[last].place = place;
}

static uint32_t open_block(struct scores *scores, struct bucket *bucket)
{
    uint32_t first = bucket->first_block;
    if (first != OCDM_NONE && scores->lanes.blocks[first].used < OCDM__LANES)
        return first;
    uint32_t number = scores->free_block;
    scores->free_block = scores->lanes.blocks[number].next;
    scores->lanes.blocks[number] = (struct block){.next = first};
    for (size_t i = 0; i < OCDM__LANES; i++)
        scores->lanes.score[(size_t)number * OCDM__LANES + i] = INT64_MIN;
    bucket->first_block = number;
    return number;
}

static struct listed *place_on_list(const struct pool *pool, uint32_t cell)
{
    return &pool->lists[pool->classes[pool->cells[cell].class_index].list.first + pool->cells[cell].place];
}

static void set_lane(struct pool *pool, struct set *set, uint32_t lane)
{
    set->lane = lane;
    for (uint32_t i = 0; i < set->cardinality; i++)
        place_on_list(pool, set->cells + i)->lane = lane;
}

void ocdm__scores_seat(struct scores *scores, struct pool *pool, uint32_t number, int64_t score)
{
    struct set *set = &pool->sets[number];
    struct bucket *bucket = &scores->buckets[set->cardinality];
    uint32_t block = open_block(scores, bucket);
    set_lane(pool, set, block * OCDM__LANES + scores->lanes.blocks[block].used++);
    scores->lanes.set[set->lane] = number;
    scores->lanes.score[set->lane] = score;
    scores->lanes.order[set->lane] = set->first == OCDM_NONE ? INT64_MAX : ocdm__order(pool->nodes[set->first].priority);
    bucket->highest = score > bucket->highest ? score : bucket->highest;
    bucket->awake++;
    scores->awake_count++;
}

/* The last lane of the cardinality's first block fills the gap. */
void ocdm__scores_unseat(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    struct bucket *bucket = &scores->buckets[set->cardinality];
    struct lanes *lanes = &scores->lanes;
    struct block *giver = &scores->lanes.blocks[bucket->first_block];
    uint32_t last = bucket->first_block * OCDM__LANES + --giver->used;
    lanes->score[set->lane] = lanes->score[last];
    lanes->order[set->lane] = lanes->order[last];
    lanes->set[set->lane] = lanes->set[last];
    lanes->score[last] = INT64_MIN;
    set_lane(pool, &pool->sets[lanes->set[last]], set->lane);
    bucket->awake--;
    scores->awake_count--;
    if (giver->used)
        return;
    uint32_t emptied = bucket->first_block;
    bucket->first_block = giver->next;
    giver->next = scores->free_block;
    scores->free_block = emptied;
}

static bool is_present(const struct bucket *bucket)
{
    return bucket->first_block != OCDM_NONE || bucket->asleep;
}

void ocdm__scores_add_set(struct scores *scores, struct pool *pool, uint32_t number)
{
    uint32_t cardinality = pool->sets[number].cardinality;
    if (!is_present(&scores->buckets[cardinality]))
        cardinality_appears(scores, cardinality);
    ocdm__scores_seat(scores, pool, number, ocdm__scores_sum_weights(pool, number));
}

void ocdm__scores_remove_set(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    ocdm__scores_remove_near(scores, pool, number);
    ocdm__scores_remove_guest(scores, pool, number);
    if (set->asleep)
        ocdm__scores_remove_sleeper(scores, pool, number);
    else
        ocdm__scores_unseat(scores, pool, number);
    if (!is_present(&scores->buckets[set->cardinality]))
        cardinality_disappears(scores, set->cardinality);
}

void ocdm__scores_first_changed(struct scores *scores, const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    if (set->asleep)
        return;
    scores->lanes.order[set->lane] = ocdm__order(pool->nodes[set->first].priority);
}

/* ---- weights -------------------------------------------------------------------------------------------------------- */

static int64_t compute_step(uint32_t m)
{
    return ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
}

int64_t ocdm__scores_new_step(struct scores *scores, uint32_t m)
{
    if (m >= scores->step_room)
        return compute_step(m);
    while (scores->step_known <= m) {
        scores->steps[scores->step_known] = compute_step(scores->step_known);
        scores->step_known++;
    }
    return scores->steps[m];
}

int64_t ocdm__scores_sum_weights(const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    int64_t sum = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        sum += pool->classes[pool->cells[set->cells + i].class_index].weight;
    return sum;
}

/* Adds count * x, through the two halves of x, so that no product outgrows 64 bits. */
static void add_multiple_to_sum(struct wide *sum, uint32_t count, int64_t x)
{
    int64_t high = x >> 32;
    uint64_t low = (uint64_t)x & 0xFFFFFFFFu;
    ocdm__add_to_sum(sum, (int64_t)(low * count >> 1));
    ocdm__add_to_sum(sum, (int64_t)(low * count - (low * count >> 1)));
    int64_t shifted = high * count;
    struct wide part = {(uint64_t)shifted << 32, shifted >> 32};
    uint64_t total = sum->low + part.low;
    sum->high += part.high + (total < part.low);
    sum->low = total;
}

void ocdm__scores_class_seen(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    struct class *class = &pool->classes[class_index];
    int64_t log_seen = class->seen ? ocdm__nearest(scores->rho * ocdm__ln(class->seen) * OCDM__GRID) : 0;
    log_seen += class->log_weight;
    add_multiple_to_sum(&scores->sum, class->kept, class->log_seen - log_seen);
    class->log_seen = log_seen;
    ocdm__scores_note_change(scores, class, class_index);
    ocdm__scores_joined(scores, pool);
}
