/*
 * Decides which label sets are asleep, and keeps their bounds: ceilings and heights. Which sets are asleep affects the cost of
 * a search, never its result.
 *
 * Heights are relative to `par` of their cardinality, which has the height OCDM__PAR: the score whose deletion would have left
 * as much as the best one did when par was set. A height is never less than
 *     OCDM__PAR + (sum of the references of the set's classes - par) / unit,
 * so raising it by (weight - reference) / unit, rounded up, for each class above its reference gives a bound of the score.
 */
#include "memory/scores_parts.h"

#include "base/allocate.h"

/* Sets sleep if there are more than OCDM__SLEEP_FROM. How many a ranking leaves awake then, and how many may be awake before
 * the next one; chosen by measurement. A cardinality of at most OCDM__FEW sets stays awake: in a balanced memory all sets with
 * one label often tie for the best, and each would have to be woken. Tests use small numbers, so that small pools have sleepers
 * too. */
#ifndef OCDM__AWAKE_AFTER
#define OCDM__SLEEP_FROM 1536u
#define OCDM__AWAKE_AFTER 128u
#define OCDM__AWAKE_AT_MOST 192u
#define OCDM__FEW 1024u
#endif

/* How many guests there are at most. Tests use fewer. */
#ifndef GUESTS
#define GUESTS OCDM__GUESTS
#endif

/* How many sets are put to sleep or woken in one update at most, so that no update takes long. */
#define PORTION 1024u

/* How many sets a ranking looks at. */
#define RANKED_AT_MOST 2048u

/* A sleeper must be worse than the best by more than the rounding of what deletions leave, in multiples of 2^-40. */
#define SURELY_WORSE 16

/* A class weight moves by 1 / m_i when a sample comes or goes: so many units, at least, for a class of average size, and with
 * the finest units eight times as many. Bounds are rounded up for each class that is raised, so fine units exclude more. */
#define UNITS_A_SAMPLE 8
#define HALVINGS 3

/* What it costs, in quarters of a nanosecond, about: to put a set to sleep or wake it, to make one a guest, to rank one. */
#define COST_OF_SLEEP 1600u
#define COST_OF_GUEST 200u
#define COST_OF_RANKING 120u

/* Before sets sleep for the first time, all stay awake for so many times what it costs to put them to sleep: right after
 * the fill class counts are uneven, and sweeps would find much to score. Less if scores are in the cache, where being awake
 * costs less. */
#ifndef AWAKE_AT_FIRST
#define AWAKE_AT_FIRST 8u
#define AWAKE_AT_FIRST_IN_CACHE 2u
#endif

/* Sets do not fall asleep while the goals move by more units than this. Units are halved if the goals of so many sweeps allow
 * it. */
#ifndef FARTHEST_GOAL
#define FARTHEST_GOAL 4096
#define SWEEPS_A_LOOK 1024u
#endif

void ocdm__scores_reserve_sleepers(struct scores *scores, uint32_t samples, bool *failed)
{
    if (!*failed && samples > OCDM__SLEEP_FROM)
        ocdm__sleepers_reserve(&scores->sleepers, samples, failed);
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

void ocdm__scores_start_new_age(struct scores *scores)
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

uint16_t ocdm__scores_height(const struct scores *scores, const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    int64_t sum = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        sum += pool->classes[pool->cells[set->cells + i].class_index].reference;
    int64_t height = OCDM__PAR + ocdm__units_above(sum - scores->buckets[set->cardinality].par, scores->unit);
    return (uint16_t)(height < 1 ? 1 : height > (int)OCDM__HIGHEST ? (int)OCDM__HIGHEST : height);
}

/* ---- falling asleep and waking up ----------------------------------------------------------------------------------- */

/* False if there is no seat. */
static bool put_to_sleep(struct scores *scores, struct pool *pool, uint32_t number, const struct filter *filter, int64_t best)
{
    struct set *set = &pool->sets[number];
    struct bucket *bucket = &scores->buckets[set->cardinality];
    if (!ocdm__pool_can_sleep(pool, number))
        return false;
    if (!bucket->asleep)
        bucket->par = ocdm__least_score(filter, set->cardinality, best);
    for (uint32_t i = 0; i < set->cardinality; i++) {
        struct class *class = &pool->classes[pool->cells[set->cells + i].class_index];
        if (!class->asleep.count)
            class->reference = class->weight;
    }
    uint32_t lane = set->lane;
    if (!ocdm__sleepers_add(&scores->sleepers, set, number, pool->cells + set->cells,
                            ocdm__scores_height(scores, pool, number)))
        return false;
    uint32_t seat = set->lane;
    set->lane = lane;
    ocdm__scores_unseat(scores, pool, number);
    ocdm__pool_unlink_set(pool, number);
    set->lane = seat;
    set->asleep = true;
    ocdm__pool_link_set(pool, number);
    bucket->asleep++;
    scores->sleep_trial.spent += COST_OF_SLEEP;
    return true;
}

void ocdm__scores_remove_sleeper(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    ocdm__sleepers_remove(&scores->sleepers, set, pool->cells + set->cells);
    scores->buckets[set->cardinality].asleep--;
}

void ocdm__scores_wake(struct scores *scores, struct pool *pool, uint32_t number, int64_t score)
{
    scores->sleep_trial.spent += COST_OF_SLEEP;
    ocdm__scores_remove_guest(scores, pool, number);
    ocdm__scores_remove_sleeper(scores, pool, number);
    ocdm__pool_unlink_set(pool, number);
    pool->sets[number].asleep = false;
    ocdm__pool_link_set(pool, number);
    ocdm__scores_seat(scores, pool, number, score);
}

/* ---- guests --------------------------------------------------------------------------------------------------------- */

static void mark_guest(struct pool *pool, uint32_t number, uint64_t bits, uint64_t mask)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        uint64_t *guests = &pool->classes[pool->cells[c].class_index].guests;
        *guests = (*guests & mask) | bits;
    }
}

bool ocdm__scores_invite(struct scores *scores, struct pool *pool, uint32_t set, int64_t score)
{
    if (scores->guest_count == GUESTS)
        return false;
    uint32_t cardinality = pool->sets[set].cardinality;
    struct bucket *bucket = &scores->buckets[cardinality];
    mark_guest(pool, set, (uint64_t)1 << scores->guest_count, UINT64_MAX);
    scores->guests[scores->guest_count++] = (struct guest){score, set, cardinality};
    bucket->highest = score > bucket->highest ? score : bucket->highest;
    scores->sleep_trial.spent += COST_OF_GUEST;
    scores->work.guests++;
    return true;
}

void ocdm__scores_dismiss_guests(struct scores *scores, struct pool *pool)
{
    for (uint32_t i = 0; i < scores->guest_count; i++) {
        mark_guest(pool, scores->guests[i].set, 0, 0);
        scores->buckets[scores->guests[i].cardinality].highest_guest = INT64_MIN;
    }
    scores->guest_count = 0;
}

/* The last guest takes the place. */
void ocdm__scores_remove_guest(struct scores *scores, struct pool *pool, uint32_t set)
{
    uint32_t place = 0;
    while (place < scores->guest_count && scores->guests[place].set != set)
        place++;
    if (place == scores->guest_count)
        return;
    uint32_t last = --scores->guest_count;
    scores->buckets[scores->guests[place].cardinality].highest_guest = INT64_MIN;
    mark_guest(pool, set, 0, ~((uint64_t)1 << place));
    if (place == last)
        return;
    mark_guest(pool, scores->guests[last].set, (uint64_t)1 << place, ~((uint64_t)1 << last));
    scores->guests[place] = scores->guests[last];
}

/* ---- ranking -------------------------------------------------------------------------------------------------------- */

static bool may_sleep(const struct bucket *bucket)
{
    return bucket->awake + bucket->asleep > OCDM__FEW;
}

/* How many sets are awake that may sleep. */
static uint32_t count_sleepy(const struct scores *scores)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        count += may_sleep(&scores->buckets[scores->present[i]]) ? scores->buckets[scores->present[i]].awake : 0;
    return count;
}

/* Lists some of them, and how much more than the best each would leave. */
static uint32_t list_awake(struct scores *scores, const struct pool *pool, int64_t best)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        if (!may_sleep(&scores->buckets[cardinality]))
            continue;
        for (uint32_t b = scores->buckets[cardinality].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
            for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++) {
                if (count == RANKED_AT_MOST)
                    return count;
                int64_t left = ocdm__scores_objective(scores, pool, cardinality, scores->lanes.score[lane]);
                scores->ranked[count++] = (struct ranked){left - best, scores->lanes.set[lane]};
            }
    }
    return count;
}

/* Hoare's selection: afterwards the first `wanted` are the nearest. */
static void select_nearest(struct ranked *ranked, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        int64_t pivot = ranked[low + (high - low) / 2].gap;
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

/* Of some sets that are awake, the nearest stay awake and the others fall asleep; the ceilings are raised to their scores. */
static void rank(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->ceiling = bucket->asleep ? ocdm__scores_bound(scores, pool, scores->present[i]) : INT64_MIN;
    }
    uint32_t count = list_awake(scores, pool, best), slept = 0;
    uint32_t wanted = count < OCDM__AWAKE_AFTER ? count : OCDM__AWAKE_AFTER;
    wanted = count - wanted > PORTION ? count - PORTION : wanted;
    select_nearest(scores->ranked, count, wanted);
    for (uint32_t i = wanted; i < count; i++) {
        uint32_t number = scores->ranked[i].set;
        int64_t score = scores->lanes.score[pool->sets[number].lane];
        struct bucket *bucket = &scores->buckets[pool->sets[number].cardinality];
        if (scores->ranked[i].gap <= SURELY_WORSE || !put_to_sleep(scores, pool, number, filter, best))
            continue;
        bucket->ceiling = score > bucket->ceiling ? score : bucket->ceiling;
        slept++;
    }
    scores->awake_limit = slept < count / 4 ? count_sleepy(scores) * 2 : OCDM__AWAKE_AT_MOST;
    scores->work.rankings += count;
    scores->sleep_trial.spent += (uint64_t)count * COST_OF_RANKING;
    ocdm__scores_start_new_age(scores);
}

static void wake_some(struct scores *scores, struct pool *pool)
{
    const struct sleepers *sleepers = &scores->sleepers;
    uint32_t left = PORTION;
    for (uint32_t row = sleepers->row_used; left && sleepers->count && row-- > 0;)
        for (uint64_t bits = sleepers->rows[row].taken; left && bits; bits &= bits - 1) {
            uint32_t number = sleepers->set[row * OCDM__ROW + ocdm__lowest_bit(bits)];
            ocdm__scores_wake(scores, pool, number, ocdm__scores_sum_weights(pool, number));
            left--;
        }
}

/* A power of 2 that goes UNITS_A_SAMPLE times into what one sample of an average class changes its weight by, 1 / m = C / S. */
static int coarsest_unit(const struct pool *pool)
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

/* How much more than the plain way sleeping may cost before it is given up: what it costs to put all to sleep and wake them. */
static uint64_t patience(const struct scores *scores)
{
    return (uint64_t)(scores->awake_count + scores->sleepers.count) * (2 * COST_OF_SLEEP + COST_OF_RANKING);
}

static void forget_goals(struct scores *scores)
{
    scores->lowest_goal = INT64_MAX;
    scores->highest_goal = INT64_MIN;
}

static void note_goal(struct scores *scores, const struct filter *filter, int64_t best)
{
    int64_t goal = ocdm__least_score(filter, 1, best);
    scores->lowest_goal = goal < scores->lowest_goal ? goal : scores->lowest_goal;
    scores->highest_goal = goal > scores->highest_goal ? goal : scores->highest_goal;
}

/* Whether the goals moved less than heights in this unit can follow. They move far while class counts are uneven: each time the
 * last set with some heavy classes is gone, the next one is far behind. Sweeps would then score most sleepers, over and over.
 */
static bool goals_are_close(const struct scores *scores, int unit)
{
    return scores->highest_goal - scores->lowest_goal <= FARTHEST_GOAL * ((int64_t)1 << unit);
}

/* The finest unit that allows for how the goals moved; false if none does. */
static bool choose_unit(struct scores *scores, const struct pool *pool)
{
    int coarsest = coarsest_unit(pool), finest = coarsest > HALVINGS ? coarsest - HALVINGS : 0;
    for (scores->unit = finest; scores->unit < coarsest && !goals_are_close(scores, scores->unit);)
        scores->unit++;
    return goals_are_close(scores, scores->unit);
}

void ocdm__scores_refine_units(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best)
{
    note_goal(scores, filter, best);
    if (++scores->looked < SWEEPS_A_LOOK)
        return;
    if (scores->unit > 0 && scores->unit > coarsest_unit(pool) - HALVINGS && goals_are_close(scores, scores->unit - 1)) {
        scores->unit--;
        ocdm__sleepers_halve_units(&scores->sleepers);
        for (uint32_t i = 0; i < OCDM__ROUNDS; i++)
            scores->margin[i] *= 2;
    }
    scores->looked = 0;
    forget_goals(scores);
}

/* Called while no set is asleep: whether to try sleeping now. The patience contains what it costs to put all sets to sleep. */
static bool start_to_sleep(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best)
{
    struct ocdm__trial *trial = &scores->sleep_trial;
    bool many = scores->awake_count > OCDM__SLEEP_FROM && count_sleepy(scores) > OCDM__SLEEP_FROM;
    if (!many || !trial->rest) {
        uint64_t times = ocdm__scores_in_cache(scores) ? AWAKE_AT_FIRST_IN_CACHE : AWAKE_AT_FIRST;
        trial->resting = trial->rest = many ? times * patience(scores) : 0;
        forget_goals(scores);
    }
    bool rests = ocdm__trial_rests(trial, trial->plain);
    trial->spent = trial->plain = 0;
    if (many)
        note_goal(scores, filter, best);
    if (!many || rests)
        return false;
    bool close = choose_unit(scores, pool);
    forget_goals(scores);
    if (!close)
        trial->resting = patience(scores);
    for (uint32_t kind = 0; close && kind < OCDM__KINDS_OF_PAIRS; kind++)
        ocdm__pairs_restart(&scores->sleepers.pairs[kind]);
    return close;
}

void ocdm__scores_tend(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    if (!scores->sleepers.count && !start_to_sleep(scores, pool, filter, best))
        return;
    uint32_t sleepy = count_sleepy(scores);
    bool many = sleepy > OCDM__AWAKE_AT_MOST && sleepy > scores->awake_limit;
    if (!many || scores->tended || scores->sleep_trial.resting)
        return;
    rank(scores, pool, filter, best);
    scores->tended = true;
}

void ocdm__scores_give_up_sleeping(struct scores *scores, struct pool *pool)
{
    if (!scores->sleepers.count || scores->tended)
        return;
    if (!scores->sleep_trial.resting && !ocdm__trial_fails(&scores->sleep_trial, 0, 0, patience(scores)))
        return;
    wake_some(scores, pool);
    scores->awake_limit = 0;
    scores->tended = true;
}
