/*
 * The search for the best deletion under KL: bring the scores up to date, take the champion of each cardinality, compare what
 * they leave, make sure that no sleeper could do as well.
 */
#include "memory/scores_parts.h"

#include "memory/logarithm.h"

/* ---- bringing the scores up to date --------------------------------------------------------------------------------- */

static void lower_scores(struct scores *scores, const struct pool *pool, const struct class *class, int64_t change)
{
    const struct listed *list = pool->lists + class->list;
    for (uint32_t i = 0; i < class->list_count; i++) {
        uint32_t lane = list[i].lane;
        scores->lanes.score[lane] += change;
        ocdm__lane_fell(&scores->blocks[lane / OCDM__LANES], lane);
    }
}

static void raise_scores(struct scores *scores, const struct pool *pool, const struct class *class, int64_t change)
{
    const struct listed *list = pool->lists + class->list;
    for (uint32_t i = 0; i < class->list_count; i++) {
        uint32_t lane = list[i].lane;
        scores->lanes.score[lane] += change;
        ocdm__lane_rose(&scores->blocks[lane / OCDM__LANES], &scores->lanes, lane);
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
    if (change < 0)
        lower_scores(scores, pool, class, change);
    else
        raise_scores(scores, pool, class, change);
    if (class->asleep)
        ocdm__scores_note_rise(scores, pool, class_index);
}

static void update_scores(struct scores *scores, struct pool *pool)
{
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

/* No set of the bucket that is awake scores more. */
static int64_t highest(const struct scores *scores, const struct bucket *bucket)
{
    const struct block *block = &scores->blocks[bucket->first_block];
    int64_t highest = block->max;
    while (block->next != OCDM_NONE) {
        block = &scores->blocks[block->next];
        highest = block->max > highest ? block->max : highest;
    }
    return highest;
}

static void crown(struct scores *scores, uint32_t block)
{
    size_t first = (size_t)block * OCDM__LANES;
    scores->crown(&scores->blocks[block], scores->lanes.score + first, scores->lanes.order + first, (uint32_t)first);
}

static void find_champion(struct scores *scores, const struct bucket *bucket, struct contender *contender)
{
    int64_t score = INT64_MIN, order = INT64_MAX;
    uint32_t champion = 0;
    for (uint32_t b = bucket->first_block; b != OCDM_NONE; b = scores->blocks[b].next) {
        const struct block *block = &scores->blocks[b];
        if (block->stale && block->max >= score)
            crown(scores, b);
        if (block->max < score || (block->max == score && block->order > order))
            continue;
        score = block->max;
        order = block->order;
        champion = block->champion;
    }
    contender->score = score;
    contender->order = order;
    contender->set = scores->lanes.set[champion];
}

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
 * least num / (S - k) - ln S + k / S, so neither the quotient nor another logarithm is needed to see that it is too large. */
static bool surely_worse(const struct filter *filter, uint32_t cardinality, int64_t score, int64_t value)
{
    double limit = ((double)value + 16) * 0x1p-40 + filter->ln - cardinality * filter->share;
    return filter->sum - (double)score > (filter->labels - cardinality) * limit * OCDM__GRID;
}

static uint32_t somebody_awake(const struct scores *scores)
{
    for (uint32_t place = 0; place < scores->present_count; place++)
        if (scores->buckets[scores->present[place]].first_block != OCDM_NONE)
            return place;
    return OCDM_NONE;
}

static void contend(struct scores *scores, const struct pool *pool, uint32_t place)
{
    struct contender *contender = &scores->contenders[place];
    uint32_t cardinality = scores->present[place];
    find_champion(scores, &scores->buckets[cardinality], contender);
    contender->value = ocdm__scores_objective(scores, pool, cardinality, contender->score);
    const struct contender *best = &scores->contenders[scores->best_place];
    if (contender->value < best->value || (contender->value == best->value && contender->order < best->order))
        scores->best_place = place;
}

/* The cardinality whose champion leaves the least; of several, the one with the least order; NULL when all sets sleep. It
 * starts with the one that was best last time, since it nearly always is again, and then most others need no closer look. */
static const struct contender *find_best(struct scores *scores, const struct pool *pool, const struct filter *filter)
{
    uint32_t start = scores->best_place < scores->present_count ? scores->best_place : 0;
    if (scores->buckets[scores->present[start]].first_block == OCDM_NONE)
        start = somebody_awake(scores);
    if (start == OCDM_NONE)
        return NULL;
    scores->best_place = start;
    contend(scores, pool, start);
    for (uint32_t place = 0; place < scores->present_count; place++) {
        uint32_t cardinality = scores->present[place];
        const struct bucket *bucket = &scores->buckets[cardinality];
        if (place == start)
            continue;
        scores->contenders[place].set = OCDM_NONE;
        if (bucket->first_block != OCDM_NONE &&
            !surely_worse(filter, cardinality, highest(scores, bucket), scores->contenders[scores->best_place].value))
            contend(scores, pool, place);
    }
    return &scores->contenders[scores->best_place];
}

static bool a_sleeper_may_be_best(struct scores *scores, const struct pool *pool, const struct filter *filter,
                                  const struct contender *best)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        if (!bucket->asleep)
            continue;
        int64_t bound = bucket->ceiling + ocdm__scores_rise(scores, pool, scores->present[i]);
        if (!best || (!surely_worse(filter, scores->present[i], bound, best->value) &&
                      ocdm__scores_objective(scores, pool, scores->present[i], bound) <= best->value))
            return true;
    }
    return false;
}

static const struct contender *search(struct scores *scores, struct pool *pool)
{
    update_scores(scores, pool);
    struct filter filter = look_around(scores, pool);
    const struct contender *best = find_best(scores, pool, &filter);
    while (ocdm__scores_too_many_awake(scores) ||
           (scores->asleep_count && a_sleeper_may_be_best(scores, pool, &filter, best))) {
        ocdm__scores_take_snapshot(scores, pool);
        best = find_best(scores, pool, &filter);
    }
    return best;
}

uint32_t ocdm__scores_best(struct scores *scores, struct pool *pool)
{
    return search(scores, pool)->set;
}

uint32_t ocdm__scores_collect(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count)
{
    for (uint32_t b = scores->buckets[cardinality].first_block; b != OCDM_NONE; b = scores->blocks[b].next)
        for (uint32_t lane = b * OCDM__LANES, end = lane + scores->blocks[b].used; lane < end; lane++)
            if (scores->lanes.score[lane] == score)
                scores->tied[count++] = scores->lanes.set[lane];
    return count;
}

uint32_t ocdm__scores_all_best(struct scores *scores, struct pool *pool)
{
    int64_t value = search(scores, pool)->value;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (scores->contenders[i].set != OCDM_NONE && scores->contenders[i].value == value)
            count = ocdm__scores_collect(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}
