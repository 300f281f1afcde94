/*
 * The sweep: when the ceilings do not exclude that a sleeper is the best deletion, the sleepers that may be the best are found
 * (caught) by their heights and scored exactly. Those that score enough become guests. Then the ceilings are set again.
 *
 * Risers are classes above their references. There are two ways to catch the sleepers that reach the goal with them:
 *   - over lists: raise all sleepers of each riser, note those that reach the goal, reset the heights;
 *   - over pairs: a sleeper is on the lists of some pairs of its classes. If none of them is a pair of risers, at most half of
 *     its classes are risers. That is not enough where scores are close together, as in a balanced memory, so only the lists of
 *     all pairs of risers are read.
 */
#include "memory/scores_parts.h"

/* If a sweep catches more than CAUGHT_AT_MOST sleepers, it reduces its margin until about CAUGHT_AT_LEAST are left. */
#define CAUGHT_AT_LEAST 16u
#define CAUGHT_AT_MOST 32u
#define LARGEST_MARGIN 512u

/* A class that was above its reference in so many sweeps in a row gets a new one. One sweep stops doing this once it has
 * corrected the heights of so many sleepers. */
#define SWEEPS_ABOVE 8u
#define MOVED_AT_MOST 65536u

/* If the best is further than this from par, in units, par is set again. */
#ifndef FAR_FROM_PAR
#define FAR_FROM_PAR 8192
#endif

/* A sleeper is prefetched this many visits before it is read. */
#define AHEAD 8u

/* A cardinality with at most so many sleepers does not limit the margin of a sweep over pairs. */
#ifndef FEW_SLEEPERS
#define FEW_SLEEPERS 256u
#endif

/* What it costs, in quarters of a nanosecond, about: to sweep at all; to score a sleeper, to look at a row of seats, to raise a
 * height and put it back, to look up the list of a riser, that of a pair, to look at a sleeper on the latter, to catch one. */
#define COST_OF_SWEEP 6000u
#define COST_OF_SCORING 150u
#define COST_OF_ROW 12u
#define COST_OF_RAISING 24u
#define COST_OF_RISER 40u
#define COST_OF_CATCH 20u
#ifndef COST_OF_PAIR
#define COST_OF_PAIR 20u
#define COST_OF_VISIT 60u
#endif

/* ---- goals and risers ------------------------------------------------------------------------------------------------- */

/* Changes a class's reference by whole units; the heights of all its sleepers follow. */
static void move_reference(struct scores *scores, const struct pool *pool, struct class *class, int64_t units)
{
    class->reference += units * ((int64_t)1 << scores->unit);
    ocdm__sleepers_move(&scores->sleepers, pool->lists + class->asleep.first, class->asleep.count, units);
    scores->work.listed += class->asleep.count;
    scores->sleep_trial.spent += (uint64_t) class->asleep.count * COST_OF_RAISING;
}

/* The highest score that a set can have that is so many units short of its goal, or more. */
static int64_t highest_short_of(const struct scores *scores, const struct bucket *bucket, int64_t units)
{
    return bucket->par + (bucket->goal - units - OCDM__PAR) * ((int64_t)1 << scores->unit);
}

/* Sets the goals of all cardinalities. Par follows one that goes far away, so that 16 bits are always enough. */
static void set_goals(struct scores *scores, const struct filter *filter, int64_t best)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        struct bucket *bucket = &scores->buckets[cardinality];
        if (!bucket->asleep)
            continue;
        int64_t above = ocdm__units_above(ocdm__least_score(filter, cardinality, best) - bucket->par, scores->unit);
        if (above > FAR_FROM_PAR || above < -FAR_FROM_PAR) {
            bucket->par += above * ((int64_t)1 << scores->unit);
            ocdm__sleepers_move_cardinality(&scores->sleepers, cardinality, -above);
            scores->sleep_trial.spent += (uint64_t)bucket->asleep * COST_OF_RAISING;
            above = 0;
        }
        bucket->goal = OCDM__PAR + above;
    }
}

/* The classes above their reference; one that stays there gets a new one. */
static uint32_t list_risers(struct scores *scores, struct pool *pool)
{
    uint32_t listed = scores->risen_count, kept = 0, count = 0, moved = 0;
    for (uint32_t i = 0; i < listed; i++) {
        uint32_t class_index = scores->risen[i];
        struct class *class = &pool->classes[class_index];
        int64_t units = ocdm__units_above(class->weight - class->reference, scores->unit);
        bool stays = class->above >= SWEEPS_ABOVE && moved < MOVED_AT_MOST;
        class->risen = units > 0 && class->asleep.count && !stays;
        class->above = class->risen ? class->above + 1 : 0;
        if (class->risen) {
            scores->risen[kept++] = class_index;
            scores->risers[count++] = (struct riser){class_index, units < OCDM__HIGHEST ? (uint32_t)units : OCDM__HIGHEST,
                                                     ocdm__pair_hash(class_index)};
        } else if (units > 0 && class->asleep.count) {
            move_reference(scores, pool, class, units);
            moved += class->asleep.count;
        }
    }
    scores->risen_count = kept;
    return count;
}

/* A sleeper was scored for nothing: its height may be too large, or one of its classes far below its reference. */
static void learn_from_miss(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    ocdm__sleepers_set_height(&scores->sleepers, set->lane, ocdm__scores_height(scores, pool, number));
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
    if (class->charge <= class->asleep.count * COST_OF_RAISING)
        return;
    class->charge = 0;
    move_reference(scores, pool, class, -(depth >> scores->unit));
}

/* What a sweep has found so far, in scores->ranked: sleepers that are at most `margin` units short of their goal, or past it.
 */
struct catch
{
    uint32_t count;
    uint32_t margin;
};

/* Scores the sleepers that were caught. Those that score more than the margin excludes become guests, or wake up. */
static void settle(struct scores *scores, struct pool *pool, const struct catch *caught)
{
    for (uint32_t i = 0; i < caught->count; i++) {
        if (scores->ranked[i].gap > caught->margin)
            continue;
        uint32_t number = scores->ranked[i].set;
        const struct bucket *bucket = &scores->buckets[pool->sets[number].cardinality];
        int64_t score = ocdm__scores_sum_weights(pool, number);
        scores->work.scored++;
        scores->sleep_trial.spent += COST_OF_SCORING;
        if (score <= highest_short_of(scores, bucket, (int64_t)caught->margin + 1)) {
            learn_from_miss(scores, pool, number);
        } else if (!ocdm__scores_invite(scores, pool, number, score)) {
            ocdm__scores_wake(scores, pool, number, score);
            scores->work.woken++;
        }
    }
}

/* Too many were caught: reduces the margin, at most to 0, until few are left. */
static void narrow(const struct scores *scores, struct catch *caught)
{
    uint32_t at[LARGEST_MARGIN + 1] = {0}, left = 0, kept = 0;
    for (uint32_t i = 0; i < caught->count; i++)
        if (scores->ranked[i].gap <= caught->margin) {
            at[scores->ranked[i].gap]++;
            left++;
        }
    for (; caught->margin && left > CAUGHT_AT_LEAST; caught->margin--)
        left -= at[caught->margin];
    for (uint32_t i = 0; i < caught->count; i++) {
        scores->ranked[kept] = scores->ranked[i];
        kept += scores->ranked[i].gap <= caught->margin;
    }
    caught->count = kept;
}

/* The largest margin, up to `wanted`, at which no sleeper is caught that has no raised class; 0 if some are at any. In a
 * balanced memory most sleepers have the same height, and a margin that reaches it would catch them all. */
static uint32_t margin_at_rest(struct scores *scores, uint32_t wanted)
{
    int64_t margin = wanted;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->tallest = scores->sleepers.wards[scores->present[i]].tallest;
        if (bucket->asleep && bucket->tallest >= bucket->goal - margin)
            bucket->tallest = ocdm__sleepers_tallest_of(&scores->sleepers, scores->present[i]);
        if (bucket->asleep && bucket->tallest >= bucket->goal - margin)
            margin = bucket->goal - bucket->tallest - 1;
    }
    return margin > 0 ? (uint32_t)margin : 0;
}

static void set_marks(struct scores *scores, uint32_t margin)
{
    for (uint32_t row = 0; row < scores->sleepers.row_used; row++) {
        int64_t mark = scores->buckets[scores->sleepers.rows[row].cardinality].goal - margin;
        scores->sleepers.mark[row] = (uint16_t)(mark < 1 ? 1 : mark);
    }
}

/* The seats of one row whose height reaches the mark without a raised class. */
static uint32_t reached_at_rest(struct scores *scores, uint32_t row, uint32_t *reached)
{
    struct sleepers *sleepers = &scores->sleepers;
    const uint16_t *height = sleepers->height + (size_t)row * OCDM__ROW;
    uint32_t count = 0;
    for (uint64_t bits = scores->search->reach(height, sleepers->mark[row]); bits; bits &= bits - 1)
        reached[count++] = row * OCDM__ROW + ocdm__lowest_bit(bits);
    if (!count)
        ocdm__sleepers_tallest(sleepers, row);
    return count;
}

/* ---- over lists ------------------------------------------------------------------------------------------------------ */

/* Writes to scores->ranked the sleepers that reach their marks, without a raised class or after all risers are raised. */
static uint32_t catch_by_lists(struct scores *scores, const struct pool *pool, uint32_t risers)
{
    struct sleepers *sleepers = &scores->sleepers;
    uint32_t *reached = scores->tied, count = 0;
    for (uint32_t row = 0; row < sleepers->row_used; row++)
        if (sleepers->top[row] >= sleepers->mark[row])
            count += reached_at_rest(scores, row, reached + count);
    for (uint32_t i = 0; i < risers; i++) {
        const struct class_list *list = &pool->classes[scores->risers[i].class_index].asleep;
        count +=
            ocdm__sleepers_raise(sleepers, pool->lists + list->first, list->count, scores->risers[i].units, reached + count);
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t gap = scores->buckets[sleepers->rows[reached[i] / OCDM__ROW].cardinality].goal - sleepers->raised[reached[i]];
        scores->ranked[i] = (struct ranked){gap > 0 ? gap : 0, sleepers->set[reached[i]]};
    }
    for (uint32_t i = 0; i < risers; i++) {
        const struct class_list *list = &pool->classes[scores->risers[i].class_index].asleep;
        ocdm__sleepers_put_back(sleepers, pool->lists + list->first, list->count);
    }
    scores->work.heights += sleepers->row_used;
    scores->sleep_trial.spent += (uint64_t)sleepers->row_used * COST_OF_ROW + (uint64_t)risers * COST_OF_RISER;
    return count;
}

/* ---- over pairs ----------------------------------------------------------------------------------------------------- */

/* The sum of the `count` largest risers, at most: beyond those that are known, each counts as the last. */
static int64_t sum_of_largest(const int64_t largest[OCDM__RISES], uint32_t count)
{
    int64_t sum = count > OCDM__RISES ? largest[OCDM__RISES - 1] * (int64_t)(count - OCDM__RISES) : 0;
    for (uint32_t i = 0; i < count && i < OCDM__RISES; i++)
        sum += largest[i];
    return sum;
}

/* The most that a set of each cardinality is raised without a pair of risers: by the largest risers. */
static void set_alone(struct scores *scores, uint32_t risers)
{
    int64_t largest[OCDM__RISES] = {0};
    for (uint32_t i = 0; i < risers; i++) {
        int64_t units = scores->risers[i].units;
        uint32_t place = OCDM__RISES;
        for (; place > 0 && largest[place - 1] < units; place--)
            if (place < OCDM__RISES)
                largest[place] = largest[place - 1];
        if (place < OCDM__RISES)
            largest[place] = units;
    }
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        uint32_t most = ocdm__alone_at_most(scores->present[i]);
        bucket->alone = sum_of_largest(largest, most);
        bucket->alone_and_one = sum_of_largest(largest, most + 1);
    }
}

/* A sleeper of at least this height may be within `margin` of its goal without a pair of risers. */
static int64_t suspicious(const struct bucket *bucket, int64_t margin)
{
    return bucket->goal - bucket->alone - margin;
}

/* The largest margin, up to `wanted`, at which nobody is suspicious, but for cardinalities with few sleepers; negative if there
 * is none. */
static int64_t margin_for_pairs(struct scores *scores, int64_t wanted)
{
    int64_t margin = wanted;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->tallest = scores->sleepers.wards[scores->present[i]].tallest;
        if (bucket->tallest >= suspicious(bucket, wanted))
            bucket->tallest = ocdm__sleepers_tallest_of(&scores->sleepers, scores->present[i]);
        int64_t most = suspicious(bucket, 0) - bucket->tallest - 1;
        margin = bucket->asleep > FEW_SLEEPERS && most < margin ? most : margin;
    }
    return margin;
}

/* How far the classes of a sleeper that are not in its record are raised. */
static int64_t raise_of_others(const struct scores *scores, const struct pool *pool, uint32_t seat)
{
    const struct set *set = &pool->sets[scores->sleepers.set[seat]];
    int64_t raise = 0;
    for (uint32_t i = OCDM__PAIRED; i < set->cardinality; i++)
        raise += scores->raise[pool->cells[set->cells + i].class_index];
    return raise;
}

/* A sleeper's height with all risers raised. */
static int64_t raised_height(const struct scores *scores, const struct pool *pool, uint32_t seat)
{
    const struct paired *sleeper = &scores->sleepers.paired[seat];
    int64_t height = sleeper->height;
    for (uint32_t i = 0; i < OCDM__PAIRED; i++)
        height += scores->raise[sleeper->class_index[i]];
    return sleeper->cardinality > OCDM__PAIRED ? height + raise_of_others(scores, pool, seat) : height;
}

/* Catches a sleeper that is at most the margin short of its goal. raised[] is 0 for one that was caught already. */
static void visit(struct scores *scores, const struct pool *pool, uint32_t seat, struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    int64_t gap = scores->buckets[sleepers->paired[seat].cardinality].goal - raised_height(scores, pool, seat);
    if (gap > caught->margin || sleepers->raised[seat] == 0)
        return;
    sleepers->raised[seat] = 0;
    scores->ranked[caught->count++] = (struct ranked){gap > 0 ? gap : 0, sleepers->set[seat]};
}

/* Visits the sleepers that are suspicious; only cardinalities with few sleepers have any. */
static void visit_suspicious(struct scores *scores, const struct pool *pool, struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    int64_t short_of = 0;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        int64_t over = bucket->asleep ? bucket->tallest - suspicious(bucket, caught->margin) + 1 : 0;
        short_of = over > short_of ? over : short_of;
    }
    for (uint32_t row = 0; short_of > 0 && row < sleepers->row_used; row++) {
        int64_t least = suspicious(&scores->buckets[sleepers->rows[row].cardinality], caught->margin);
        if (sleepers->top[row] < least)
            continue;
        uint64_t bits = scores->search->reach(sleepers->height + (size_t)row * OCDM__ROW, (uint16_t)(least < 1 ? 1 : least));
        for (; bits; bits &= bits - 1)
            visit(scores, pool, row * OCDM__ROW + ocdm__lowest_bit(bits), caught);
    }
}

/* Writes the numbers of the lists of all pairs of risers that are not empty, from one kind of list on. Returns how many there
 * are, or `room` if they may not fit. */
static uint32_t filled_lists(const struct scores *scores, uint32_t risers, uint32_t kind, uint32_t *lists, uint32_t room)
{
    const struct sleepers *sleepers = &scores->sleepers;
    uint32_t count = 0;
    for (uint32_t i = 0; i < risers; i++) {
        if (OCDM__KINDS_OF_LISTS * (i + 1) >= room - count)
            return room;
        uint32_t hash = scores->risers[i].hash;
        for (uint32_t j = 0; j <= i; j++) {
            uint32_t list = ocdm__list_of_pair(sleepers, hash + scores->risers[j].hash, 0);
            uint64_t filled = sleepers->filled[list / 64] >> list % 64;
            for (uint32_t k = kind; k < OCDM__KINDS_OF_LISTS; k++) {
                lists[count] = list + k;
                count += (uint32_t)(filled >> k & 1);
            }
        }
    }
    return count;
}

/* Replaces the numbers of lists by their first links. */
static void read_first_links(const struct sleepers *sleepers, uint32_t *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ocdm__prefetch(&sleepers->pairs[links[i]]);
    for (uint32_t i = 0; i < count; i++) {
        links[i] = sleepers->pairs[links[i]];
        ocdm__prefetch(&sleepers->paired[links[i] / OCDM__LINKS]);
    }
}

/* A sleeper with one riser more than it may have without a pair of risers has such a pair; with two more it has two of them,
 * and at least one is not its pair number 0. */
static uint32_t first_kind(const struct scores *scores, int64_t margin)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        if (bucket->asleep && bucket->tallest + bucket->alone_and_one >= bucket->goal - margin)
            return OCDM__OF_FIRST_PAIRS;
    }
    return OCDM__OF_OTHER_PAIRS;
}

/* Visits the sleepers on the lists of all pairs of risers: the first of each list, then the second, so that visits do not wait
 * for each other. Returns how many there are, or `room` if there are as many or more. */
static uint32_t visit_pairs(struct scores *scores, const struct pool *pool, uint32_t risers, uint32_t room,
                            struct catch *caught)
{
    const struct paired *paired = scores->sleepers.paired;
    uint32_t *links = scores->tied, count = filled_lists(scores, risers, first_kind(scores, caught->margin), links, room);
    if (count < room)
        read_first_links(&scores->sleepers, links, count);
    for (uint32_t i = 0; i < count && count < room; i++) {
        ocdm__prefetch(&paired[links[i + AHEAD < count ? i + AHEAD : i] / OCDM__LINKS]);
        uint32_t seat = links[i] / OCDM__LINKS, next = paired[seat].next[links[i] % OCDM__LINKS];
        links[count] = next;
        count += next != OCDM_NONE;
        visit(scores, pool, seat, caught);
    }
    return count;
}

static void set_raise(struct scores *scores, uint32_t risers, bool raised)
{
    for (uint32_t i = 0; i < risers; i++)
        scores->raise[scores->risers[i].class_index] = (uint16_t)(raised ? scores->risers[i].units : 0);
}

/* Catches the sleepers within the margin of their goals. Returns false if this would cost more than `budget`. */
static bool catch_by_pairs(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t budget,
                           struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    uint64_t most = budget / COST_OF_VISIT;
    uint32_t room = most < scores->set_room ? (uint32_t)most : scores->set_room;
    set_raise(scores, risers, true);
    visit_suspicious(scores, pool, caught);
    uint32_t visited = visit_pairs(scores, pool, risers, room, caught);
    set_raise(scores, risers, false);
    for (uint32_t i = 0; i < caught->count; i++) {
        uint32_t seat = pool->sets[scores->ranked[i].set].lane;
        sleepers->raised[seat] = sleepers->height[seat];
    }
    uint64_t spent = (uint64_t)risers * risers / 2 * COST_OF_PAIR + (uint64_t)visited * COST_OF_VISIT;
    scores->work.heights += sleepers->row_used;
    scores->work.paired += visited;
    scores->sleep_trial.spent += spent + (uint64_t)sleepers->row_used * COST_OF_ROW;
    scores->pair_trial.spent += spent;
    return visited < room;
}

/* Whether pairs may cost less than lists, which cost `plain`. */
static bool try_pairs(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t plain)
{
    if (scores->sleepers.pair_mask == 0 || pool->class_count > OCDM__NO_CLASS)
        return false;
    if ((uint64_t)risers * risers / 2 * COST_OF_PAIR >= plain)
        return false;
    return !ocdm__trial_rests(&scores->pair_trial, plain);
}

/* A sweep over pairs with a smaller margin is soon followed by another one, so it saves half as much. */
static bool sweep_pairs(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t plain, struct catch *caught)
{
    if (!try_pairs(scores, pool, risers, plain))
        return false;
    set_alone(scores, risers);
    int64_t margin = margin_for_pairs(scores, caught->margin);
    if (margin < 0)
        return false;
    struct catch found = {.margin = (uint32_t)margin};
    bool enough = catch_by_pairs(scores, pool, risers, plain, &found);
    uint64_t saved = !enough ? 0 : found.margin < caught->margin ? plain / 2 : plain;
    uint64_t patience = (uint64_t)(scores->sleepers.count + scores->awake_count) * 32;
    ocdm__trial_fails(&scores->pair_trial, 0, saved, patience);
    if (enough)
        *caught = found;
    return enough;
}

static void sweep_lists(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t listed, struct catch *caught)
{
    set_marks(scores, caught->margin);
    caught->count = catch_by_lists(scores, pool, risers);
    scores->work.listed += listed;
    scores->sleep_trial.spent += listed * COST_OF_RAISING;
}

/* ---- the sweep ------------------------------------------------------------------------------------------------------ */

/* How many sleepers the risers have in all. */
static uint64_t count_listed(const struct scores *scores, const struct pool *pool, uint32_t risers)
{
    uint64_t listed = 0;
    for (uint32_t i = 0; i < risers; i++)
        listed += pool->classes[scores->risers[i].class_index].asleep.count;
    return listed;
}

/* The margin of the next sweep of this round: as large as this one could have been without catching too many. */
static void adapt_sweep(uint32_t *margin, uint32_t looked, uint32_t left)
{
    if (left < looked)
        *margin = left + 1;
    else if (looked == *margin)
        *margin += *margin / 4 + 1;
    *margin = *margin < LARGEST_MARGIN ? *margin : LARGEST_MARGIN;
}

void ocdm__scores_sweep(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    uint32_t *margin = &scores->margin[scores->swept];
    ocdm__scores_dismiss_guests(scores, pool);
    scores->swept += scores->swept + 1 < OCDM__ROUNDS;
    set_goals(scores, filter, best);
    uint32_t risers = list_risers(scores, pool);
    uint64_t listed = count_listed(scores, pool, risers);
    struct catch caught = {.margin = margin_at_rest(scores, *margin)};
    if (!sweep_pairs(scores, pool, risers, listed * COST_OF_RAISING, &caught))
        sweep_lists(scores, pool, risers, listed, &caught);
    uint32_t looked = caught.margin;
    scores->sleep_trial.spent += COST_OF_SWEEP + (uint64_t)caught.count * COST_OF_CATCH;
    if (caught.count > CAUGHT_AT_MOST)
        narrow(scores, &caught);
    adapt_sweep(margin, looked, caught.margin);
    settle(scores, pool, &caught);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->ceiling = bucket->asleep ? highest_short_of(scores, bucket, (int64_t)caught.margin + 1) : INT64_MIN;
    }
    ocdm__scores_start_new_age(scores);
    scores->work.sweeps++;
}
