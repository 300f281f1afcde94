/*
 * The search for the best deletion under KL: bring the scores up to date, take the highest of each cardinality, compare what
 * they leave, make sure that no sleeper could do as well.
 */
#include "memory/scores_parts.h"

#include "memory/logarithm.h"

/* ---- bringing the scores up to date --------------------------------------------------------------------------------- */

/* Four at a time, so that the many short lists take one turn each; places behind a list's end have a lane that is nobody's. */
static void change_scores(struct scores *scores, const struct pool *pool, const struct class *class, int64_t change)
{
    const struct listed *list = pool->lists + class->list;
    int64_t *score = scores->lanes.score;
    for (uint32_t i = 0; i < class->list_count; i += 4) {
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
    change_scores(scores, pool, class, change);
    if (class->asleep)
        ocdm__scores_note_rise(scores, pool, class_index);
}

/* Nobody's lane starts from 0 each time: what lists add to it behind their ends would overflow one day. */
static void update_scores(struct scores *scores, struct pool *pool)
{
    scores->lanes.score[OCDM__NOBODYS_LANE] = 0;
    for (uint32_t i = 0; i < scores->changed_count; i++)
        update_class(scores, pool, scores->changed[i]);
    scores->changed_count = 0;
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

/* What tells quickly that a score cannot compete. */
struct filter {
    double sum;    /* A */
    double labels; /* S */
    double share;  /* 1 / S */
    double ln;     /* ln S */
};

static struct filter look_around(struct scores *scores, const struct pool *pool)
{
    uint64_t labels = pool->label_total ? pool->label_total : 1;
    return (struct filter){
        .sum = ocdm__scores_sum_without(scores, 0),
        .labels = (double)labels,
        .share = 1 / (double)labels,
        .ln = ocdm__scores_ln(scores, labels),
    };
}

/* Whether a score of this cardinality certainly leaves more than `value`. With num = A - score: num / (S - k) - ln(S - k) is at
 * least num / (S - k) - ln S + k / S, so neither the quotient nor another logarithm is needed to see that it is too large. The
 * 16 steps of the grid cover the rounding of A - score: its error grows as k nears S, and there the slack of the bound grows
 * more. */
static bool surely_worse(const struct filter *filter, uint32_t cardinality, int64_t score, int64_t value)
{
    double limit = ((double)value + 16) * 0x1p-40 + filter->ln - cardinality * filter->share;
    return filter->sum - (double)score > (filter->labels - cardinality) * limit * OCDM__GRID;
}

/* The least that any deletion leaves, which cardinality attains it, and whether another one does too. */
struct best {
    int64_t value;
    uint32_t place;
    bool tied;
};

static void contend(struct scores *scores, const struct pool *pool, const struct filter *filter, uint32_t place,
                    struct best *best)
{
    struct contender *contender = &scores->contenders[place];
    uint32_t cardinality = scores->present[place];
    uint32_t block = scores->buckets[cardinality].first_block;
    contender->score = INT64_MIN;
    if (block == OCDM_NONE)
        return;
    int64_t score = scores->search->highest(&scores->lanes, block);
    if (best->place != OCDM_NONE && surely_worse(filter, cardinality, score, best->value))
        return;
    contender->score = score;
    contender->value = ocdm__scores_objective(scores, pool, cardinality, score);
    bool better = contender->value < best->value || best->place == OCDM_NONE;
    best->tied = contender->value == best->value ? best->place != OCDM_NONE : best->tied && !better;
    best->place = better ? place : best->place;
    best->value = better ? contender->value : best->value;
}

/* Among sets that are awake. It starts with the cardinality that was best last time, since it nearly always is again, and then
 * most others need no closer look. */
static struct best find_best(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    struct best best = {INT64_MAX, OCDM_NONE, false};
    uint32_t start = scores->best_place < scores->present_count ? scores->best_place : 0;
    contend(scores, pool, filter, start, &best);
    for (uint32_t place = 0; place < start; place++)
        contend(scores, pool, filter, place, &best);
    for (uint32_t place = start + 1; place < scores->present_count; place++)
        contend(scores, pool, filter, place, &best);
    return best;
}

static bool a_sleeper_may_be_best(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        if (!bucket->asleep)
            continue;
        int64_t bound = bucket->ceiling + ocdm__scores_rise(scores, pool, scores->present[i]);
        if (!surely_worse(filter, scores->present[i], bound, best) &&
            ocdm__scores_objective(scores, pool, scores->present[i], bound) <= best)
            return true;
    }
    return false;
}

static struct best search(struct scores *scores, struct pool *pool)
{
    update_scores(scores, pool);
    struct filter filter = look_around(scores, pool);
    struct best best = find_best(scores, pool, &filter);
    while (ocdm__scores_too_many_awake(scores) ||
           (scores->asleep_count && a_sleeper_may_be_best(scores, pool, &filter, best.value))) {
        ocdm__scores_take_snapshot(scores, pool);
        best = find_best(scores, pool, &filter);
    }
    scores->best_place = best.place;
    return best;
}

static uint32_t first_lane(const struct scores *scores, uint32_t place)
{
    uint32_t block = scores->buckets[scores->present[place]].first_block;
    return scores->search->first(&scores->lanes, block, scores->contenders[place].score);
}

static bool attains(const struct contender *contender, int64_t value)
{
    return contender->score != INT64_MIN && contender->value == value;
}

uint32_t ocdm__scores_best(struct scores *scores, struct pool *pool)
{
    struct best best = search(scores, pool);
    uint32_t first = first_lane(scores, best.place);
    for (uint32_t i = 0; best.tied && i < scores->present_count; i++) {
        if (!attains(&scores->contenders[i], best.value))
            continue;
        uint32_t lane = first_lane(scores, i);
        first = scores->lanes.order[lane] < scores->lanes.order[first] ? lane : first;
    }
    return scores->lanes.set[first];
}

uint32_t ocdm__scores_collect(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    for (uint32_t b = scores->buckets[cardinality].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
        for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++)
            if (scores->lanes.score[lane] == score)
                scores->tied[count++] = scores->lanes.set[lane];
    return count;
}

uint32_t ocdm__scores_all_best(struct scores *scores, struct pool *pool)
{
    int64_t value = search(scores, pool).value;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (attains(&scores->contenders[i], value))
            count = ocdm__scores_collect(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}
