/*
 * The search for the best deletion under KL: bring the scores up to date, take the highest of each cardinality, compare what
 * they leave, make sure that no sleeper could do as well.
 */
#include "memory/scores_parts.h"

#include <math.h>
#include <string.h>

/* How many sets are kept near the best at most. Tests keep few. */
#ifndef NEAR
#define NEAR OCDM__NEAR
#endif

/* Fewer sets that are awake are searched anew for each deletion. */
#ifndef MANY
#define MANY 1024u
#endif

/* What it costs, in quarters of a nanosecond, about: to change a score through a list, and to search four lanes for the best,
 * in the cache and elsewhere; to search one lane for those near the best; to compare a candidate; to keep a set near; to find
 * the best among those near. */
#define COST_OF_CHANGE_IN_CACHE 3u
#define COST_OF_CHANGE 6u
#define COST_OF_FOUR_LANES_IN_CACHE 2u
#define COST_OF_FOUR_LANES 8u
#define COST_OF_FROM 1u
#define COST_OF_CANDIDATE 30u
#define COST_OF_NEAR 80u
#define COST_OF_ANSWER 300u

/* While a memory fills there is no search, and scores become out of date. In the updates before it is full, each changes this
 * many scores more than it makes out of date, so that the first search has little left to do. Tests use a smaller number. */
#ifndef CAUGHT_UP
#define CAUGHT_UP 32768u
#endif

/* How many sets are looked at more closely at a time to find those near the best, and how far behind it they may be. */
#define CANDIDATES (2 * NEAR + 2 * OCDM__LANES)
#define FARTHEST ((int64_t)1 << 50)

/* If more sets than this are within the margin, none are kept near the best: finding the first of them would take long. */
#define TOO_MANY 4096u

/* ---- bringing the scores up to date --------------------------------------------------------------------------------- */

/* Four at a time, so that the many short lists take one turn each; places behind a list's end have a lane that is nobody's. */
static void change_scores(struct scores *scores, const struct pool *pool, const struct class *class, int64_t change)
{
    const struct listed *list = pool->lists + class->list.first;
    int64_t *score = scores->lanes.score;
    for (uint32_t i = 0; i < class->list.count; i += 4) {
        score[list[i].lane] += change;
        score[list[i + 1].lane] += change;
        score[list[i + 2].lane] += change;
        score[list[i + 3].lane] += change;
    }
}

static void update_class(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    struct class *class = &pool->classes[class_index];
    class->changed = false;
    int64_t weight = class->kept ? ocdm__scores_step(scores, class->kept) - class->log_seen : 0;
    int64_t change = weight - class->weight;
    if (!change)
        return;
    class->weight = weight;
    if (class_index < OCDM__NO_CODE)
        scores->weight_of_code[class_index] = weight;
    change_scores(scores, pool, class, change);
    for (uint64_t bits = class->guests; bits; bits &= bits - 1)
        scores->guests[ocdm__lowest_bit(bits)].score += change;
    scores->work.listed += class->list.count;
    uint64_t price = ocdm__scores_in_cache(scores) ? COST_OF_CHANGE_IN_CACHE : COST_OF_CHANGE;
    scores->sleep_trial.spent += class->list.count * price;
    scores->sleep_trial.plain += (class->list.count + class->asleep.count) * price;
    if (class->asleep.count)
        ocdm__scores_note_rise(scores, pool, class_index, weight - change);
}

/* Nobody's lane starts from 0 each time: what lists add to it behind their ends would overflow one day. */
static void update_scores(struct scores *scores, struct pool *pool)
{
    scores->lanes.score[OCDM__NOBODYS_LANE] = 0;
    for (uint32_t i = 0; i < scores->changed_count; i++)
        update_class(scores, pool, scores->changed[i]);
    scores->changed_count = scores->pending = 0;
}

/* How many scores the changed classes from number `first` on will change. */
static uint64_t pending_from(const struct scores *scores, const struct pool *pool, uint32_t first)
{
    uint64_t pending = 0;
    for (uint32_t i = first; i < scores->changed_count; i++)
        pending += pool->classes[scores->changed[i]].list.count;
    return pending;
}

/* Updates the classes that changed first, until `enough` scores are changed. */
static void catch_up(struct scores *scores, struct pool *pool, uint64_t enough)
{
    uint32_t count = 0;
    scores->lanes.score[OCDM__NOBODYS_LANE] = 0;
    for (uint64_t done = 0; count < scores->changed_count && done < enough; count++) {
        done += pool->classes[scores->changed[count]].list.count;
        update_class(scores, pool, scores->changed[count]);
    }
    scores->changed_count -= count;
    memmove(scores->changed, scores->changed + count, scores->changed_count * sizeof *scores->changed);
}

void ocdm__scores_fill(struct scores *scores, struct pool *pool, uint32_t room, uint32_t batch)
{
    if (!scores->weighted)
        return;
    if (room / batch <= pool->cell_live / CAUGHT_UP)
        catch_up(scores, pool, pending_from(scores, pool, scores->pending) + CAUGHT_UP);
    scores->pending = scores->changed_count;
}

/* ---- what a deletion leaves ----------------------------------------------------------------------------------------- */

double ocdm__scores_ln(struct scores *scores, uint64_t x)
{
    uint32_t place = (uint32_t)(x % OCDM__LN_CACHE);
    if (scores->ln_argument[place] != x) {
        scores->ln_argument[place] = x;
        scores->ln_value[place] = ocdm__ln(x);
    }
    return scores->ln_value[place];
}

double ocdm__scores_sum_without(const struct scores *scores, int64_t score)
{
    uint64_t low = scores->sum.low - (uint64_t)score;
    int64_t high = scores->sum.high - (score < 0 ? -1 : 0) - (scores->sum.low < (uint64_t)score);
    if (high == ((int64_t)low < 0 ? -1 : 0))
        return (double)(int64_t)low;
    return (double)high * 0x1p64 + (double)low;
}

int64_t ocdm__scores_objective(struct scores *scores, const struct pool *pool, uint32_t cardinality, int64_t score)
{
    uint64_t rest = pool->label_total - cardinality;
    if (!rest)
        return INT64_MAX;
    double divergence = ocdm__scores_sum_without(scores, score) / OCDM__GRID / (double)rest - ocdm__scores_ln(scores, rest);
    return ocdm__nearest(divergence * 0x1p40);
}

/* ---- the best ------------------------------------------------------------------------------------------------------- */

struct filter ocdm__scores_filter(struct scores *scores, const struct pool *pool)
{
    uint64_t labels = pool->label_total ? pool->label_total : 1;
    return (struct filter){
        .sum = ocdm__scores_sum_without(scores, 0),
        .labels = (double)labels,
        .share = 1 / (double)labels,
        .ln = ocdm__scores_ln(scores, labels),
    };
}

int64_t ocdm__least_score(const struct filter *filter, uint32_t cardinality, int64_t value)
{
    double limit = ((double)value + 16) * 0x1p-40 + filter->ln - cardinality * filter->share;
    double score = filter->sum - (filter->labels - cardinality) * limit * OCDM__GRID;
    if (fabs(score) > 0x1p62)
        return score < 0 ? -((int64_t)1 << 62) : (int64_t)1 << 62;
    int64_t least = (int64_t)score;
    for (int64_t step = 1; !ocdm__surely_worse(filter, cardinality, least - 1, value); step *= 2)
        least -= step;
    return least;
}

/* The least that any deletion leaves, and which cardinality attains it. */
struct best {
    int64_t value;
    uint32_t place;
};

static void contend(struct scores *scores, const struct pool *pool, const struct filter *filter, uint32_t place, int64_t score,
                    struct best *best)
{
    struct contender *contender = &scores->contenders[place];
    uint32_t cardinality = scores->present[place];
    contender->score = INT64_MIN;
    if (score == INT64_MIN || (best->place != OCDM_NONE && ocdm__surely_worse(filter, cardinality, score, best->value)))
        return;
    contender->score = score;
    contender->value = ocdm__scores_objective(scores, pool, cardinality, score);
    bool better = contender->value < best->value || best->place == OCDM_NONE;
    best->place = better ? place : best->place;
    best->value = better ? contender->value : best->value;
}

/* Of the highest score of each cardinality, by place. It starts with the cardinality that was best last time, since it nearly
 * always is again, and then most others need no closer look. */
static struct best best_of(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    struct best best = {INT64_MAX, OCDM_NONE};
    uint32_t start = scores->best_place < scores->present_count ? scores->best_place : 0;
    contend(scores, pool, filter, start, scores->highest_score[start], &best);
    for (uint32_t place = 0; place < scores->present_count; place++)
        if (place != start)
            contend(scores, pool, filter, place, scores->highest_score[place], &best);
    scores->best_place = best.place;
    return best;
}

static bool attains(const struct contender *contender, int64_t value)
{
    return contender->score != INT64_MIN && contender->value == value;
}

/* ---- among all that are awake --------------------------------------------------------------------------------------- */

static void find_highest_guests(struct scores *scores)
{
    for (uint32_t i = 0; scores->guest_count > 0 && i < scores->present_count; i++)
        scores->buckets[scores->present[i]].highest_guest = INT64_MIN;
    for (uint32_t i = 0; i < scores->guest_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->guests[i].cardinality];
        bucket->highest_guest =
            scores->guests[i].score > bucket->highest_guest ? scores->guests[i].score : bucket->highest_guest;
    }
}

/* The highest score of the sets that are awake, and of guests. */
static int64_t highest_awake(struct scores *scores, struct bucket *bucket)
{
    scores->work.lanes += bucket->awake;
    int64_t highest =
        bucket->first_block == OCDM_NONE ? INT64_MIN : scores->search->highest(&scores->lanes, bucket->first_block);
    bucket->highest = bucket->highest_guest > highest ? bucket->highest_guest : highest;
    return bucket->highest;
}

/* Scores only fall until a sample joins. So a cardinality is skipped if the highest score that it had in the last search leaves
 * too much. */
static struct best best_awake(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    struct best best = {INT64_MAX, OCDM_NONE};
    uint32_t start = scores->best_place < scores->present_count ? scores->best_place : 0;
    bool all = !scores->searched;
    scores->searched = true;
    scores->work.searches++;
    for (uint32_t place = 0; all && place < scores->present_count; place++)
        scores->highest_score[place] = highest_awake(scores, &scores->buckets[scores->present[place]]);
    if (all)
        return best_of(scores, pool, filter);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t place = i == 0 ? start : i - (i <= start), cardinality = scores->present[place];
        struct bucket *bucket = &scores->buckets[cardinality];
        bool worse = best.place != OCDM_NONE && ocdm__surely_worse(filter, cardinality, bucket->highest, best.value);
        scores->highest_score[place] = worse ? bucket->highest : highest_awake(scores, bucket);
        contend(scores, pool, filter, place, scores->highest_score[place], &best);
    }
    scores->best_place = best.place;
    return best;
}

static uint64_t cost_of_lanes(const struct scores *scores, uint64_t lanes)
{
    return lanes * (ocdm__scores_in_cache(scores) ? COST_OF_FOUR_LANES_IN_CACHE : COST_OF_FOUR_LANES) / 4;
}

/* What a search would have cost without sleepers, given how many lanes the search of the sets that are awake compared. */
static uint64_t cost_without_sleep(const struct scores *scores, uint64_t lanes)
{
    uint64_t all = lanes * (scores->awake_count + scores->sleepers.count) / (scores->awake_count + 1);
    return cost_of_lanes(scores, all) * scores->near_share / 16;
}

static struct best search_awake(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    uint64_t before = scores->work.lanes;
    find_highest_guests(scores);
    struct best best = best_awake(scores, pool, filter);
    scores->sleep_trial.spent += cost_of_lanes(scores, scores->work.lanes - before);
    return best;
}

static struct best search(struct scores *scores, struct pool *pool, const struct filter *filter)
{
    update_scores(scores, pool);
    ocdm__scores_give_up_sleeping(scores, pool);
    uint64_t before = scores->work.lanes;
    struct best best = search_awake(scores, pool, filter);
    scores->sleep_trial.plain += cost_without_sleep(scores, scores->work.lanes - before);
    ocdm__scores_tend(scores, pool, filter, best.value);
    if (ocdm__scores_sleepers_excluded(scores, pool, filter, best.value))
        return best;
    ocdm__scores_sweep(scores, pool, filter, best.value);
    return search_awake(scores, pool, filter);
}

/* ---- those near the best -------------------------------------------------------------------------------------------- */

static void mark_near(struct pool *pool, uint32_t number, uint64_t bits, uint64_t mask)
{
    const struct set *set = &pool->sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        uint64_t *near = &pool->classes[pool->cells[c].class_index].near;
        *near = (*near & mask) | bits;
    }
}

static void forget_near(struct scores *scores, struct pool *pool)
{
    for (uint32_t i = 0; i < scores->near_count; i++)
        if (scores->near_set[i] != OCDM_NONE)
            mark_near(pool, scores->near_set[i], 0, 0);
    scores->near_count = 0;
}

void ocdm__scores_joined(struct scores *scores, struct pool *pool)
{
    forget_near(scores, pool);
    scores->round = 0;
    scores->swept = 0;
    scores->tended = false;
    scores->searched = false;
}

void ocdm__scores_remove_near(struct scores *scores, struct pool *pool, uint32_t set)
{
    for (uint32_t i = 0; i < scores->near_count; i++)
        if (scores->near_set[i] == set) {
            mark_near(pool, set, 0, ~((uint64_t)1 << i));
            scores->near_set[i] = OCDM_NONE;
            scores->near_score[i] = INT64_MIN;
        }
}

void ocdm__scores_lower_near(struct scores *scores, uint64_t near, int64_t loss)
{
    for (; near; near &= near - 1)
        scores->near_score[ocdm__lowest_bit(near)] -= loss;
}

static uint64_t first_priority(const struct pool *pool, uint32_t set)
{
    return pool->nodes[pool->sets[set].first].priority;
}

static struct standing rank_of(const struct scores *scores, uint32_t lane)
{
    return (struct standing){scores->lanes.score[lane], scores->lanes.order[lane]};
}

static bool comes_before(struct standing a, struct standing b)
{
    return a.score > b.score || (a.score == b.score && a.order < b.order);
}

/* Moves the `wanted` lanes that come first to the front and returns the rank of the last of them: Hoare's selection. */
static struct standing select_first(const struct scores *scores, uint32_t *lane, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        struct standing pivot = rank_of(scores, lane[low + (high - low) / 2]);
        uint32_t i = low, j = high;
        for (;; i++, j--) {
            while (comes_before(rank_of(scores, lane[i]), pivot))
                i++;
            while (comes_before(pivot, rank_of(scores, lane[j])))
                j--;
            if (i >= j)
                break;
            uint32_t other = lane[i];
            lane[i] = lane[j];
            lane[j] = other;
        }
        if (j < wanted - 1)
            low = j + 1;
        else
            high = j;
    }
    return rank_of(scores, lane[wanted - 1]);
}

/* The lanes of the first `wanted` sets of a cardinality that reach its floor; returns how many. All others come after `rest`,
 * unless there are too many candidates. */
static uint32_t first_sets(struct scores *scores, struct bucket *bucket, uint32_t *lane, uint32_t wanted)
{
    uint32_t block = bucket->first_block, count = 0;
    while (block != OCDM_NONE && scores->candidates <= TOO_MANY) {
        uint32_t found = scores->search->from(&scores->lanes, &block, bucket->rest.score, lane + count, CANDIDATES - count);
        scores->candidates += found;
        for (uint32_t i = count, end = count + found; i < end; i++) {
            lane[count] = lane[i];
            count += bucket->rest.order == INT64_MIN || comes_before(rank_of(scores, lane[i]), bucket->rest);
        }
        if (count <= wanted || (block != OCDM_NONE && count + 2 * OCDM__LANES <= CANDIDATES))
            continue;
        bucket->rest = select_first(scores, lane, count, wanted);
        count = wanted;
    }
    return scores->candidates <= TOO_MANY ? count : 0;
}

/* What a set must score to be near: what it needs to leave as little as the best, less a margin. Returns how many cardinalities
 * have such sets. */
static uint32_t set_floors(struct scores *scores, const struct filter *filter, int64_t best, int64_t margin)
{
    uint32_t count = 0;
    for (uint32_t place = 0; place < scores->present_count; place++) {
        struct bucket *bucket = &scores->buckets[scores->present[place]];
        bucket->floor = ocdm__least_score(filter, scores->present[place], best) - margin;
        count += scores->highest_score[place] >= bucket->floor;
    }
    return count;
}

/* The margin finds about twice as many sets as are kept. */
static void adapt_margin(const struct scores *scores, int64_t *margin)
{
    if (scores->candidates < NEAR / 2 && *margin < FARTHEST)
        *margin += *margin / 4 + 1;
    else if (scores->candidates > NEAR * 3 / 2)
        *margin -= scores->candidates > TOO_MANY ? *margin / 2 : *margin / 4;
}

/* Who may be the best after this deletion and the next ones. */
static void collect_near(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    int64_t *margin = &scores->near_margin[scores->round];
    scores->round += scores->round + 1 < OCDM__ROUNDS;
    uint32_t lane[CANDIDATES], cardinalities = set_floors(scores, filter, best, *margin);
    if (cardinalities > NEAR)
        return;
    const uint32_t room = cardinalities > 0 ? NEAR / cardinalities : 0;
    scores->candidates = 0;
    for (uint32_t place = 0; place < scores->present_count; place++) {
        uint32_t cardinality = scores->present[place], count = 0;
        struct bucket *bucket = &scores->buckets[cardinality];
        bucket->rest = (struct standing){bucket->floor, INT64_MIN};
        if (scores->highest_score[place] >= bucket->floor)
            count = first_sets(scores, bucket, lane, room);
        bucket->near_first = scores->near_count;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t number = scores->lanes.set[lane[i]];
            mark_near(pool, number, (uint64_t)1 << scores->near_count, UINT64_MAX);
            scores->near_score[scores->near_count] = scores->lanes.score[lane[i]];
            scores->near_set[scores->near_count++] = number;
        }
        bucket->near_end = scores->near_count;
        if (bucket->asleep && ocdm__scores_bound(scores, pool, cardinality) >= bucket->rest.score)
            bucket->rest = (struct standing){ocdm__scores_bound(scores, pool, cardinality), INT64_MIN};
    }
    adapt_margin(scores, margin);
    uint64_t spent = (uint64_t)scores->awake_count * COST_OF_FROM + (uint64_t)scores->candidates * COST_OF_CANDIDATE +
                     (uint64_t)scores->near_count * COST_OF_NEAR;
    scores->work.candidates += scores->candidates;
    if (ocdm__trial_fails(&scores->near_trial, spent, 0, (uint64_t)scores->awake_count * 32) || scores->candidates > TOO_MANY)
        forget_near(scores, pool);
}

static struct best best_near(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    for (uint32_t place = 0; place < scores->present_count; place++) {
        const struct bucket *bucket = &scores->buckets[scores->present[place]];
        int64_t highest = INT64_MIN;
        for (uint32_t i = bucket->near_first; i < bucket->near_end; i++)
            highest = scores->near_score[i] > highest ? scores->near_score[i] : highest;
        scores->highest_score[place] = highest;
    }
    return best_of(scores, pool, filter);
}

/* The first of those near of one cardinality. */
static struct standing first_near(const struct scores *scores, const struct pool *pool, uint32_t place)
{
    const struct bucket *bucket = &scores->buckets[scores->present[place]];
    struct standing first = {scores->highest_score[place], INT64_MAX};
    for (uint32_t i = bucket->near_first; i < bucket->near_end; i++) {
        if (scores->near_score[i] != first.score || scores->near_set[i] == OCDM_NONE)
            continue;
        int64_t order = ocdm__order(first_priority(pool, scores->near_set[i]));
        first.order = order < first.order ? order : first.order;
    }
    return first;
}

/* Whether each cardinality that may leave `best` or less is led by a set that is near. Scores decide within a cardinality, even
 * where they differ by so little that what is left is the same. */
static bool rest_excluded(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best)
{
    for (uint32_t place = 0; place < scores->present_count; place++) {
        uint32_t cardinality = scores->present[place];
        struct standing rest = scores->buckets[cardinality].rest;
        if (!ocdm__surely_worse(filter, cardinality, rest.score, best) &&
            ocdm__scores_objective(scores, pool, cardinality, rest.score) <= best &&
            !comes_before(first_near(scores, pool, place), rest))
            return false;
    }
    return true;
}

/* ---- the answer ----------------------------------------------------------------------------------------------------- */

/* Appends to scores->tied, which holds `count`, the sets near the best of one cardinality that have this score. */
static uint32_t collect_near_tied(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    const struct bucket *bucket = &scores->buckets[cardinality];
    for (uint32_t i = bucket->near_first; i < bucket->near_end; i++)
        if (scores->near_score[i] == score)
            scores->tied[count++] = scores->near_set[i];
    return count;
}

/* The sets near the best that leave `value`, into scores->tied. */
static uint32_t tied_near(struct scores *scores, int64_t value)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (attains(&scores->contenders[i], value))
            count = collect_near_tied(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}

static uint32_t first_of_tied(const struct scores *scores, const struct pool *pool, uint32_t count)
{
    uint32_t best = scores->tied[0];
    for (uint32_t i = 1; i < count; i++)
        best = first_priority(pool, scores->tied[i]) < first_priority(pool, best) ? scores->tied[i] : best;
    return best;
}

/* The best deletion if it is certainly among those near; OCDM_NONE if it may not be. */
static uint32_t search_near(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    if (!scores->near_count)
        return OCDM_NONE;
    struct best best = best_near(scores, pool, filter);
    if (best.place == OCDM_NONE || !rest_excluded(scores, pool, filter, best.value))
        return OCDM_NONE;
    return first_of_tied(scores, pool, tied_near(scores, best.value));
}

/* Appends to scores->tied, which holds `count`, the guests of one cardinality that have this score. */
static uint32_t collect_tied_guests(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    for (uint32_t i = 0; i < scores->guest_count; i++)
        if (scores->guests[i].cardinality == cardinality && scores->guests[i].score == score)
            scores->tied[count++] = scores->guests[i].set;
    return count;
}

/* Appends of one cardinality the set with this score that is awake and whose first sample comes first, and the guests. */
static uint32_t collect_first(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    uint32_t lane = scores->search->first(&scores->lanes, scores->buckets[cardinality].first_block, score);
    if (lane != OCDM_NONE)
        scores->tied[count++] = scores->lanes.set[lane];
    return collect_tied_guests(scores, cardinality, score, count);
}

/* What a search costs with the sets near the best, in sixteenths of what it costs without. */
static void note_share(struct scores *scores)
{
    const struct ocdm__trial *trial = &scores->near_trial;
    if (trial->plain > (uint64_t)scores->awake_count * 64)
        scores->near_share = trial->spent < trial->plain ? (uint32_t)(trial->spent * 16 / trial->plain) : 16;
}

/* Of each cardinality that leaves `value`, the first of all that are awake, and guests, into scores->tied. */
static uint32_t tied_awake(struct scores *scores, int64_t value)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (attains(&scores->contenders[i], value))
            count = collect_first(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}

uint32_t ocdm__scores_best(struct scores *scores, struct pool *pool)
{
    struct filter filter = ocdm__scores_filter(scores, pool);
    scores->work.deletions++;
    uint32_t near = search_near(scores, pool, &filter);
    if (near != OCDM_NONE) {
        note_share(scores);
        ocdm__trial_fails(&scores->near_trial, COST_OF_ANSWER, cost_of_lanes(scores, scores->awake_count),
                          (uint64_t)scores->awake_count * 32);
        return near;
    }
    forget_near(scores, pool);
    int64_t value = search(scores, pool, &filter).value;
    if (scores->awake_count >= MANY && scores->guest_count == 0 &&
        !ocdm__trial_rests(&scores->near_trial, cost_of_lanes(scores, scores->awake_count)))
        collect_near(scores, pool, &filter, value);
    return first_of_tied(scores, pool, scores->near_count ? tied_near(scores, value) : tied_awake(scores, value));
}

uint32_t ocdm__scores_collect(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    for (uint32_t b = scores->buckets[cardinality].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
        for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++)
            if (scores->lanes.score[lane] == score)
                scores->tied[count++] = scores->lanes.set[lane];
    return collect_tied_guests(scores, cardinality, score, count);
}

uint32_t ocdm__scores_all_best(struct scores *scores, struct pool *pool)
{
    struct filter filter = ocdm__scores_filter(scores, pool);
    scores->work.deletions++;
    int64_t value = search(scores, pool, &filter).value;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (attains(&scores->contenders[i], value))
            count = ocdm__scores_collect(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}
