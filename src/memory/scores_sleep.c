/*
 * Who of many label sets is asleep, and how the others make sure that no sleeper is the best deletion: ceilings, heights, and
 * the sweep. Who sleeps decides what a search costs, never what it finds.
 *
 * Heights are relative: the score that would leave as much as the best deletion did when the references were set is `par` of
 * its cardinality and has the height OCDM__PAR. A height never is less than
 *     OCDM__PAR + (sum of the references of the set's classes - par) / unit,
 * so raising it by (weight - reference) / unit, rounded up, for each class above its reference gives a bound of the score.
 */
#include "memory/scores_parts.h"

#include <string.h>

#include "base/allocate.h"

/* How many sets a ranking leaves awake, and how many may be awake before the next: found by measuring (bench/README.md). Tests
 * set them low, so that small pools have sleepers too. */
#ifndef OCDM__AWAKE_AFTER
#define OCDM__AWAKE_AFTER 512u
#define OCDM__AWAKE_AT_MOST 1536u
#endif

/* A sleeper must be worse than the best by more than the grid on which objectives tie. */
#define SURELY_WORSE 0x1p-36

/* A class weight moves by 1 / m_i when a sample comes or goes: so many units, at least, for a class of average size. */
#define UNITS_A_SAMPLE 8

/* How many sleepers a sweep catches before it aims higher, and how few are left then. */
#define CAUGHT 256u
#define WOKEN_AT_LEAST 16u
#define WOKEN_AT_MOST 32u
#define LARGEST_MARGIN 512u

/* After so many sweeps in a row above its reference a class gets a new one. */
#define SWEEPS_ABOVE 8u

/* What it costs, in instructions, about: to score a sleeper, to put a set to sleep or wake it, to rank one, to copy and compare
 * a height, to raise one, to look up a list, to pass over a sleeper that is caught but
 * too low for its cardinality. */
#define COST_OF_SCORING 60u
#define COST_OF_SLEEP 400u
#define COST_OF_RANKING 80u
#define COST_OF_HEIGHT 1u
#define COST_OF_RAISING 8u
#define COST_OF_RISER 40u
#define COST_OF_PASSING 8u

/* Before sets sleep for the first time, all stay awake for so many times what it costs to put them to sleep, so that it is
 * known what else there is. */
#ifndef AWAKE_AT_FIRST
#define AWAKE_AT_FIRST 1u
#endif

/* All references are set anew when so much was spent in vain for each sleeper: this at first, and between these. */
#define VAIN_AT_FIRST 120u
#define LEAST_VAIN 60u
#define MOST_VAIN (1u << 24)

void ocdm__scores_reserve_sleepers(struct scores *scores, uint32_t samples, uint32_t classes, size_t cells, bool *failed)
{
    if (*failed || samples <= OCDM__AWAKE_AT_MOST)
        return;
    ocdm__sleepers_reserve(&scores->sleepers, samples, classes, cells, failed);
    if (!*failed && scores->heights == NULL) {
        scores->heights = ocdm__allocate(OCDM__TILE, sizeof *scores->heights);
        *failed = scores->heights == NULL;
    }
}

/* ---- ceilings ------------------------------------------------------------------------------------------------------- */

static void sort_in(struct scores *scores, const struct pool *pool, uint32_t place)
{
    for (; place; place--) {
        uint32_t above = scores->highest[place - 1];
        if (pool->classes[above].rise >= pool->classes[scores->highest[place]].rise)
            return;
        scores->highest[place - 1] = scores->highest[place];
        scores->highest[place] = above;
    }
}

/* A class that falls off the end of the list rose no further than those on it. */
static void list_rise(struct scores *scores, const struct pool *pool, uint32_t class_index)
{
    uint32_t place = 0;
    while (place < scores->highest_count && scores->highest[place] != class_index)
        place++;
    if (place == OCDM__RISES) {
        place--;
        if (pool->classes[scores->highest[place]].rise >= pool->classes[class_index].rise)
            return;
    } else if (place == scores->highest_count) {
        scores->highest_count++;
    }
    scores->highest[place] = class_index;
    sort_in(scores, pool, place);
}

void ocdm__scores_note_rise(struct scores *scores, struct pool *pool, uint32_t class_index, int64_t before)
{
    struct class *class = &pool->classes[class_index];
    if (class->age != scores->age) {
        class->age = scores->age;
        class->mark = before;
        class->rise = 0;
    }
    if (class->weight > class->reference && !class->risen) {
        class->risen = true;
        scores->risen[scores->risen_count++] = class_index;
    }
    if (class->weight - class->mark <= class->rise)
        return;
    class->rise = class->weight - class->mark;
    list_rise(scores, pool, class_index);
}

/* How far the score of a sleeper with so many labels may have risen since the ceilings were set, at most. */
static int64_t rise_of(const struct scores *scores, const struct pool *pool, uint32_t cardinality)
{
    int64_t sum = 0, last = 0;
    for (uint32_t i = 0; i < scores->highest_count && i < cardinality; i++) {
        last = pool->classes[scores->highest[i]].rise;
        sum += last;
    }
    return cardinality > OCDM__RISES ? sum + last * (int64_t)(cardinality - OCDM__RISES) : sum;
}

/* From now on rises count from the weights as they are. */
static void start_new_age(struct scores *scores)
{
    scores->age++;
    scores->highest_count = 0;
}

int64_t ocdm__scores_bound(const struct scores *scores, const struct pool *pool, uint32_t cardinality)
{
    return scores->buckets[cardinality].ceiling + rise_of(scores, pool, cardinality);
}

bool ocdm__scores_sleepers_excluded(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best)
{
    for (uint32_t i = 0; scores->sleepers.count && i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        if (!scores->buckets[cardinality].asleep)
            continue;
        int64_t bound = ocdm__scores_bound(scores, pool, cardinality);
        if (!ocdm__surely_worse(filter, cardinality, bound, best) &&
            ocdm__scores_objective(scores, pool, cardinality, bound) <= best)
            return false;
    }
    return true;
}

/* ---- heights -------------------------------------------------------------------------------------------------------- */

/* x / 2^unit, rounded up. */
static int64_t units_above(int64_t x, int unit)
{
    return (x >> unit) + ((x & (((int64_t)1 << unit) - 1)) != 0);
}

static uint16_t height_of(const struct scores *scores, const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    int64_t sum = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        sum += pool->classes[pool->cells[set->cells + i].class_index].reference;
    int64_t height = OCDM__PAR + units_above(sum - scores->buckets[set->cardinality].par, scores->unit);
    return (uint16_t)(height < 1 ? 1 : height > (int)OCDM__HIGHEST ? (int)OCDM__HIGHEST : height);
}

/* Changes a class's reference by whole units; the heights of all its sleepers follow. */
static void move_reference(struct scores *scores, struct class *class, uint32_t class_index, int64_t units)
{
    struct sleepers *sleepers = &scores->sleepers;
    class->reference += units * ((int64_t)1 << scores->unit);
    uint32_t by = (uint32_t)(units < 0 ? -units : units);
    by = by < OCDM__HIGHEST ? by : OCDM__HIGHEST;
    for (uint32_t tile = 0; ocdm__sleepers_in_tile(sleepers, tile); tile++) {
        uint16_t *height = sleepers->height + (size_t)tile * OCDM__TILE;
        if (units < 0)
            ocdm__sleepers_lower(sleepers, class_index, tile, by, height);
        else
            ocdm__sleepers_raise(sleepers, class_index, tile, by, height);
    }
    scores->work.listed += class->asleep;
    scores->sleep_trial.spent += (uint64_t) class->asleep * COST_OF_RAISING;
}

/* ---- falling asleep and waking up ----------------------------------------------------------------------------------- */

static void put_to_sleep(struct scores *scores, struct pool *pool, uint32_t number)
{
    struct set *set = &pool->sets[number];
    scores->sleep_trial.spent += COST_OF_SLEEP;
    ocdm__scores_unseat(scores, pool, number);
    ocdm__pool_unlink_set(pool, number);
    set->asleep = true;
    struct bucket *bucket = &scores->buckets[set->cardinality];
    if (!bucket->asleep++)
        bucket->par = ocdm__least_score(&scores->par_filter, set->cardinality, scores->par_value);
    for (uint32_t i = 0; i < set->cardinality; i++) {
        struct class *class = &pool->classes[pool->cells[set->cells + i].class_index];
        if (!class->asleep++)
            class->reference = class->weight;
    }
    ocdm__sleepers_add(&scores->sleepers, pool, number, height_of(scores, pool, number));
}

void ocdm__scores_remove_sleeper(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    ocdm__sleepers_remove(&scores->sleepers, pool, number);
    scores->buckets[set->cardinality].asleep--;
    for (uint32_t i = 0; i < set->cardinality; i++)
        pool->classes[pool->cells[set->cells + i].class_index].asleep--;
}

static void wake(struct scores *scores, struct pool *pool, uint32_t number, int64_t score)
{
    scores->sleep_trial.spent += COST_OF_SLEEP;
    ocdm__scores_remove_sleeper(scores, pool, number);
    pool->sets[number].asleep = false;
    ocdm__pool_link_set(pool, number);
    ocdm__scores_seat(scores, pool, number, score);
}

/* ---- ranking -------------------------------------------------------------------------------------------------------- */

static uint32_t list_awake(struct scores *scores)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        for (uint32_t b = scores->buckets[scores->present[i]].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
            for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++)
                scores->ranked[count++].set = scores->lanes.set[lane];
    return count;
}

static uint32_t list_asleep(struct scores *scores, uint32_t count)
{
    for (uint32_t seat = 0; seat < scores->sleepers.used; seat++)
        if (scores->sleepers.height[seat])
            scores->ranked[count++].set = scores->sleepers.set[seat];
    return count;
}

/* What the deletion of each would leave, less what the best would; returns the latter. */
static double measure_gaps(struct scores *scores, const struct pool *pool, uint32_t count)
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
    scores->work.rankings += count;
    scores->sleep_trial.spent += (uint64_t)count * COST_OF_RANKING;
    return least;
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

/* Of those ranked, the nearest stay awake or wake up and the others sleep. Ceilings rise to where the new sleepers are. */
static void let_the_nearest_wake(struct scores *scores, struct pool *pool, uint32_t count)
{
    uint32_t wanted = count < OCDM__AWAKE_AFTER ? count : OCDM__AWAKE_AFTER;
    select_nearest(scores->ranked, count, wanted);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = scores->ranked[i].set;
        const struct set *set = &pool->sets[number];
        int64_t score = ocdm__scores_sum_weights(pool, number);
        bool stays_awake = i < wanted || scores->ranked[i].gap <= SURELY_WORSE;
        struct bucket *bucket = &scores->buckets[set->cardinality];
        if (stays_awake && set->asleep)
            wake(scores, pool, number, score);
        else if (!stays_awake && !set->asleep)
            put_to_sleep(scores, pool, number);
        if (!stays_awake)
            bucket->ceiling = score > bucket->ceiling ? score : bucket->ceiling;
    }
    scores->awake_limit = scores->awake_count * 2;
}

/* A power of 2 that goes UNITS_A_SAMPLE times into what one sample of an average class changes its weight by, 1 / m = C / S. */
static int unit_for(const struct pool *pool)
{
    uint64_t classes = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        classes += pool->classes[i].kept > 0;
    double step = (double)classes * OCDM__GRID / (double)(pool->label_total ? pool->label_total : 1) / UNITS_A_SAMPLE;
    int unit = 0;
    while (unit < 40 && (double)((int64_t)2 << unit) <= step)
        unit++;
    return unit;
}

/* Everything as if it were the first time: every set is scored, and every class has its weight as reference. */
static void rank_all(struct scores *scores, struct pool *pool)
{
    uint32_t count = list_asleep(scores, list_awake(scores));
    double least = measure_gaps(scores, pool, count);
    scores->par_filter = ocdm__scores_filter(scores, pool);
    scores->par_value = least < 0x1p20 ? ocdm__nearest(least * 0x1p40) : INT64_MAX;
    scores->unit = unit_for(pool);
    for (uint32_t i = 0; i < pool->class_count; i++)
        pool->classes[i].reference = pool->classes[i].weight;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->ceiling = INT64_MIN;
        bucket->par = ocdm__least_score(&scores->par_filter, scores->present[i], scores->par_value);
    }
    let_the_nearest_wake(scores, pool, count);
    for (uint32_t seat = 0; seat < scores->sleepers.used; seat++)
        if (scores->sleepers.height[seat])
            scores->sleepers.height[seat] = height_of(scores, pool, scores->sleepers.set[seat]);
    scores->missed = scores->half_spent_at = 0;
    scores->referenced_at = scores->work.deletions;
    start_new_age(scores);
}

/* Only those awake: the ceilings keep counting for those who sleep already. */
static void rank_awake(struct scores *scores, struct pool *pool)
{
    uint32_t count = list_awake(scores);
    measure_gaps(scores, pool, count);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        if (bucket->asleep)
            bucket->ceiling = ocdm__scores_bound(scores, pool, scores->present[i]);
        else
            bucket->ceiling = INT64_MIN;
    }
    let_the_nearest_wake(scores, pool, count);
    start_new_age(scores);
}

static void wake_all(struct scores *scores, struct pool *pool)
{
    for (uint32_t seat = 0; seat < scores->sleepers.used; seat++)
        if (scores->sleepers.height[seat]) {
            uint32_t number = scores->sleepers.set[seat];
            wake(scores, pool, number, ocdm__scores_sum_weights(pool, number));
        }
}

static uint64_t vain_limit(const struct scores *scores)
{
    return (uint64_t)scores->sleepers.count * scores->vain + OCDM__AWAKE_AT_MOST;
}

static bool is_loose(const struct scores *scores)
{
    return scores->missed > vain_limit(scores);
}

/* References that are set anew should help for a while: the first half of what is spent in vain then lasts longer than the
 * second. If it does not, they are set anew half as often. */
static void learn_from_looseness(struct scores *scores)
{
    uint64_t first = scores->half_spent_at - scores->referenced_at;
    uint64_t second = scores->work.deletions - scores->half_spent_at;
    if (2 * first > 3 * second)
        scores->vain = scores->vain > 2 * LEAST_VAIN ? scores->vain / 2 : LEAST_VAIN;
    else if (scores->vain < MOST_VAIN)
        scores->vain *= 2;
}

/* How much more than the plain way sleeping may cost before it is given up: what it costs to put all to sleep and wake them. */
static uint64_t patience(const struct scores *scores)
{
    return (uint64_t)(scores->awake_count + scores->sleepers.count) * (2 * COST_OF_SLEEP + COST_OF_RANKING);
}

bool ocdm__scores_must_rank(struct scores *scores)
{
    if (!scores->sleepers.count) {
        bool many = scores->awake_count > OCDM__AWAKE_AT_MOST;
        if (!many || !scores->sleep_trial.rest)
            scores->sleep_trial.resting = scores->sleep_trial.rest = many ? AWAKE_AT_FIRST * patience(scores) : 0;
        bool rests = ocdm__trial_rests(&scores->sleep_trial, scores->sleep_trial.plain);
        scores->sleep_trial.spent = scores->sleep_trial.plain = 0;
        return many && !rests;
    }
    if (!scores->half_spent_at && scores->missed > vain_limit(scores) / 2)
        scores->half_spent_at = scores->work.deletions;
    return (scores->awake_count > OCDM__AWAKE_AT_MOST && scores->awake_count > scores->awake_limit) || !scores->awake_count ||
           is_loose(scores) || scores->sleep_trial.spent > scores->sleep_trial.plain + patience(scores);
}

/* What the first ranking costs is in the patience. */
static void fall_asleep(struct scores *scores, struct pool *pool)
{
    scores->vain = VAIN_AT_FIRST;
    rank_all(scores, pool);
    scores->sleep_trial.spent = scores->sleep_trial.plain = 0;
}

void ocdm__scores_rank(struct scores *scores, struct pool *pool)
{
    if (is_loose(scores))
        learn_from_looseness(scores);
    if (scores->sleepers.count && ocdm__trial_fails(&scores->sleep_trial, 0, 0, patience(scores)))
        wake_all(scores, pool);
    else if (scores->sleepers.count && scores->awake_count && !is_loose(scores))
        rank_awake(scores, pool);
    else if (scores->sleepers.count)
        rank_all(scores, pool);
    else
        fall_asleep(scores, pool);
}

/* ---- the sweep ------------------------------------------------------------------------------------------------------ */

/* Sets the goals of all cardinalities, and returns the lowest. */
static int64_t set_goals(struct scores *scores, const struct filter *filter, int64_t best)
{
    int64_t lowest = OCDM__HIGHEST;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        struct bucket *bucket = &scores->buckets[cardinality];
        if (!bucket->asleep)
            continue;
        bucket->goal = OCDM__PAR + units_above(ocdm__least_score(filter, cardinality, best) - bucket->par, scores->unit);
        lowest = bucket->goal < lowest ? bucket->goal : lowest;
    }
    return lowest;
}

/* The highest score that a set can have that is so many units short of its goal, or more. */
static int64_t highest_short_of(const struct scores *scores, const struct bucket *bucket, int64_t units)
{
    return bucket->par + (bucket->goal - units - OCDM__PAR) * ((int64_t)1 << scores->unit);
}

/* The classes above their reference; one that stays there gets a new one. */
static uint32_t list_risers(struct scores *scores, struct pool *pool)
{
    uint32_t listed = scores->risen_count, kept = 0, count = 0;
    for (uint32_t i = 0; i < listed; i++) {
        uint32_t class_index = scores->risen[i];
        struct class *class = &pool->classes[class_index];
        int64_t units = units_above(class->weight - class->reference, scores->unit);
        class->risen = units > 0 && class->asleep && class->above < SWEEPS_ABOVE;
        class->above = class->risen ? class->above + 1 : 0;
        if (class->risen) {
            scores->risen[kept++] = class_index;
            scores->risers[count++] = (struct riser){class_index, units < OCDM__HIGHEST ? (uint32_t)units : OCDM__HIGHEST};
            scores->work.listed += class->asleep;
            scores->sleep_trial.spent += (uint64_t) class->asleep * COST_OF_RAISING;
        } else if (units > 0 && class->asleep) {
            move_reference(scores, class, class_index, units);
        }
    }
    scores->risen_count = kept;
    return count;
}

/* A sleeper was scored in vain. Its height may be too high, or a class of it far below its reference. */
static void learn_from_miss(struct scores *scores, struct pool *pool, uint32_t number)
{
    scores->missed += COST_OF_SCORING;
    const struct set *set = &pool->sets[number];
    scores->sleepers.height[set->lane] = height_of(scores, pool, number);
    uint32_t lowest = OCDM_NONE;
    int64_t depth = (int64_t)1 << scores->unit;
    for (uint32_t i = 0; i < set->cardinality; i++) {
        uint32_t class_index = pool->cells[set->cells + i].class_index;
        int64_t below = pool->classes[class_index].reference - pool->classes[class_index].weight;
        lowest = below >= depth ? class_index : lowest;
        depth = below >= depth ? below : depth;
    }
    if (lowest == OCDM_NONE)
        return;
    struct class *class = &pool->classes[lowest];
    class->charge += COST_OF_SCORING;
    if (class->charge <= class->asleep * COST_OF_RAISING)
        return;
    class->charge = 0;
    move_reference(scores, class, lowest, -(depth >> scores->unit));
}

/* What a sweep has found so far: sleepers that are at most `margin` units short of their goal, or past it. */
struct catch
{
    uint32_t seat[CAUGHT];
    uint16_t shortage[CAUGHT];
    uint32_t count;
    uint32_t margin;
};

/* Scores those caught; who scores more than what the margin excludes wakes up. */
static void settle(struct scores *scores, struct pool *pool, struct catch *caught)
{
    for (uint32_t i = 0; i < caught->count; i++) {
        if (caught->shortage[i] > caught->margin)
            continue;
        uint32_t number = scores->sleepers.set[caught->seat[i]];
        const struct bucket *bucket = &scores->buckets[pool->sets[number].cardinality];
        int64_t score = ocdm__scores_sum_weights(pool, number);
        scores->work.scored++;
        scores->sleep_trial.spent += COST_OF_SCORING;
        if (score > highest_short_of(scores, bucket, (int64_t)caught->margin + 1)) {
            wake(scores, pool, number, score);
            scores->work.woken++;
        } else {
            learn_from_miss(scores, pool, number);
        }
    }
    caught->count = 0;
}

/* Too many are caught: the margin shrinks, as far as it can, until few are left. */
static void narrow(struct scores *scores, struct pool *pool, struct catch *caught)
{
    uint32_t at[LARGEST_MARGIN + 1] = {0}, left = 0, kept = 0;
    for (uint32_t i = 0; i < caught->count; i++)
        at[caught->shortage[i]]++;
    for (uint32_t i = 0; i <= caught->margin; i++)
        left += at[i];
    for (; caught->margin && left > WOKEN_AT_LEAST; caught->margin--)
        left -= at[caught->margin];
    if (left > CAUGHT / 2) {
        settle(scores, pool, caught);
        return;
    }
    for (uint32_t i = 0; i < caught->count; i++) {
        caught->seat[kept] = caught->seat[i];
        caught->shortage[kept] = caught->shortage[i];
        kept += caught->shortage[i] <= caught->margin;
    }
    caught->count = kept;
}

static void catch_one(struct scores *scores, struct pool *pool, uint32_t seat, int64_t height, struct catch *caught)
{
    int64_t shortage = scores->buckets[pool->sets[scores->sleepers.set[seat]].cardinality].goal - height;
    if (shortage > caught->margin) {
        scores->missed += COST_OF_PASSING;
        return;
    }
    if (caught->count == CAUGHT)
        narrow(scores, pool, caught);
    caught->seat[caught->count] = seat;
    caught->shortage[caught->count++] = (uint16_t)(shortage > 0 ? shortage : 0);
}

static void sweep_tile(struct scores *scores, struct pool *pool, uint32_t tile, uint32_t risers, int64_t lowest,
                       struct catch *caught)
{
    const struct sleepers *sleepers = &scores->sleepers;
    uint32_t seats = ocdm__sleepers_in_tile(sleepers, tile), first = tile * OCDM__TILE;
    memcpy(scores->heights, sleepers->height + first, seats * sizeof *scores->heights);
    memset(scores->heights + seats, 0, (OCDM__TILE - seats) % 64 * sizeof *scores->heights);
    for (uint32_t i = 0; i < risers; i++)
        ocdm__sleepers_raise(sleepers, scores->risers[i].class_index, tile, scores->risers[i].units, scores->heights);
    for (uint32_t block = 0; block < seats; block += 64) {
        int64_t reach = lowest - caught->margin > 1 ? lowest - caught->margin : 1;
        uint64_t bits = scores->search->reach(scores->heights + block, (uint16_t)reach);
        for (; bits; bits &= bits - 1) {
            uint32_t i = block + ocdm__lowest_bit(bits);
            catch_one(scores, pool, first + i, scores->heights[i], caught);
        }
    }
    scores->work.heights += seats;
    scores->sleep_trial.spent += (uint64_t)seats * COST_OF_HEIGHT + (uint64_t)risers * COST_OF_RISER;
}

void ocdm__scores_sweep(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    int64_t lowest = set_goals(scores, filter, best);
    if (lowest <= 1) {
        rank_all(scores, pool);
        lowest = set_goals(scores, filter, best);
    }
    struct catch caught;
    caught.count = 0;
    caught.margin = scores->margin;
    uint32_t risers = list_risers(scores, pool);
    for (uint32_t tile = 0; ocdm__sleepers_in_tile(&scores->sleepers, tile); tile++)
        sweep_tile(scores, pool, tile, risers, lowest, &caught);
    if (caught.count > WOKEN_AT_MOST)
        narrow(scores, pool, &caught);
    scores->margin = caught.margin < scores->margin ? caught.margin + 1 : scores->margin + scores->margin / 4 + 1;
    scores->margin = scores->margin < LARGEST_MARGIN ? scores->margin : LARGEST_MARGIN;
    settle(scores, pool, &caught);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->ceiling = bucket->asleep ? highest_short_of(scores, bucket, (int64_t)caught.margin + 1) : INT64_MIN;
    }
    start_new_age(scores);
    scores->work.sweeps++;
}
