/*
 * Snapshots: who of many label sets stays awake, and how far the others may have come since.
 *
 * A snapshot scores every set, lets those nearest to the best deletion stay awake, and keeps of the others the highest score
 * per cardinality. After it a sleeper's score can only rise by what its class weights rise, so the sum of the k largest rises
 * bounds it for all sleepers with k labels at once. Which sets sleep changes what a search costs, never what it finds.
 */
#include "memory/scores_parts.h"

#include "memory/logarithm.h"

/* How many sets a snapshot leaves awake, and how many may be awake before the next: found by measuring (bench/README.md). Tests
 * set them low, so that small pools have sleepers too. */
#ifndef OCDM__AWAKE_AFTER
#define OCDM__AWAKE_AFTER 1024u
#define OCDM__AWAKE_AT_MOST 2048u
#endif

/* A sleeper must be worse than the best by more than the grid on which objectives tie. */
#define SURELY_WORSE 0x1p-36

bool ocdm__scores_too_many_awake(const struct scores *scores)
{
    return scores->awake_count > OCDM__AWAKE_AT_MOST && scores->awake_count > scores->awake_limit;
}

/* ---- how far sleepers may have risen -------------------------------------------------------------------------------- */

static void sort_in_riser(struct scores *scores, const struct pool *pool, uint32_t place)
{
    for (; place; place--) {
        uint32_t above = scores->riser[place - 1];
        if (pool->classes[above].rise >= pool->classes[scores->riser[place]].rise)
            return;
        scores->riser[place - 1] = scores->riser[place];
        scores->riser[place] = above;
    }
}

/* A class that falls off the end of the list rose no further than those on it. */
void ocdm__scores_note_rise(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    struct class *class = &pool->classes[class_index];
    int64_t rise = class->weight - class->snapshot;
    if (rise <= class->rise)
        return;
    class->rise = rise;
    uint32_t place = 0;
    while (place < scores->riser_count && scores->riser[place] != class_index)
        place++;
    if (place == OCDM__RISES) {
        place--;
        if (pool->classes[scores->riser[place]].rise >= rise)
            return;
    } else if (place == scores->riser_count) {
        scores->riser_count++;
    }
    scores->riser[place] = class_index;
    sort_in_riser(scores, pool, place);
}

int64_t ocdm__scores_rise(const struct scores *scores, const struct pool *pool, uint32_t cardinality)
{
    int64_t sum = 0, last = 0;
    for (uint32_t i = 0; i < scores->riser_count && i < cardinality; i++) {
        last = pool->classes[scores->riser[i]].rise;
        sum += last;
    }
    return cardinality > OCDM__RISES ? sum + last * (int64_t)(cardinality - OCDM__RISES) : sum;
}

/* ---- taking a snapshot ---------------------------------------------------------------------------------------------- */

static uint32_t list_all(struct scores *scores)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        for (uint32_t b = scores->buckets[scores->present[i]].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
            for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++)
                scores->ranked[count++].set = scores->lanes.set[lane];
    for (uint32_t i = 0; i < scores->asleep_count; i++)
        scores->ranked[count++].set = scores->asleep[i];
    return count;
}

/* What the deletion of each would leave, less what the best would. */
static void measure_gaps(struct scores *scores, const struct pool *pool, uint32_t count)
{
    double least = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = scores->ranked[i].set;
        uint64_t rest = pool->label_total - pool->sets[number].cardinality;
        double sum = ocdm__scores_sum_without(scores, ocdm__scores_sum_weights(pool, number)) / OCDM__GRID;
        double left = rest ? sum / (double)rest - ocdm__scores_ln(scores, rest) : 1e300;
        scores->ranked[i].gap = left;
        least = !i || left < least ? left : least;
    }
    for (uint32_t i = 0; i < count; i++)
        scores->ranked[i].gap -= least;
}

/* Hoare's selection: afterwards the first `wanted` are the nearest. */
static void select_nearest(struct ranked *ranked, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = ranked[low + (high - low) / 2].gap;
        uint32_t i = low, j = high;
        for (;; i++, j--) {
            while (ranked[i].gap < pivot)
                i++;
            while (ranked[j].gap > pivot)
                j--;
            if (i >= j)
                break;
            struct ranked other = ranked[i];
            ranked[i] = ranked[j];
            ranked[j] = other;
        }
        if (j < wanted)
            low = j + 1;
        else
            high = j;
    }
}

static void put_to_sleep(struct scores *scores, struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    ocdm__scores_unseat(scores, pool, number);
    ocdm__pool_unlink_set(pool, number);
    set->asleep = true;
    set->lane = scores->asleep_count;
    scores->asleep[scores->asleep_count++] = number;
    scores->buckets[set->cardinality].asleep++;
    for (uint32_t i = 0; i < set->cardinality; i++)
        pool->classes[pool->cells[set->cells + i].class_index].asleep++;
}

static void wake(struct scores *scores, struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    ocdm__scores_remove_sleeper(scores, pool, set);
    set->asleep = false;
    ocdm__pool_link_set(pool, number);
    ocdm__scores_seat(scores, pool, number, ocdm__scores_sum_weights(pool, number));
}

static void start_from_here(struct scores *scores, struct pool *pool)
{
    scores->riser_count = 0;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        pool->classes[i].snapshot = pool->classes[i].weight;
        pool->classes[i].rise = 0;
    }
    for (uint32_t i = 0; i < scores->present_count; i++)
        scores->buckets[scores->present[i]].ceiling = INT64_MIN;
    for (uint32_t i = 0; i < scores->asleep_count; i++) {
        struct bucket *bucket = &scores->buckets[pool->sets[scores->asleep[i]].cardinality];
        int64_t score = ocdm__scores_sum_weights(pool, scores->asleep[i]);
        bucket->ceiling = score > bucket->ceiling ? score : bucket->ceiling;
    }
}

void ocdm__scores_take_snapshot(struct scores *scores, struct pool *pool)
{
    uint32_t count = list_all(scores);
    uint32_t wanted = count < OCDM__AWAKE_AFTER ? count : OCDM__AWAKE_AFTER;
    measure_gaps(scores, pool, count);
    select_nearest(scores->ranked, count, wanted);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = scores->ranked[i].set;
        bool stays_awake = i < wanted || scores->ranked[i].gap <= SURELY_WORSE;
        if (stays_awake && pool->sets[number].asleep)
            wake(scores, pool, number);
        else if (!stays_awake && !pool->sets[number].asleep)
            put_to_sleep(scores, pool, number);
    }
    scores->awake_limit = scores->awake_count * 2;
    start_from_here(scores, pool);
}
