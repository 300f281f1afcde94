/*
 * The search for the best deletion under KL: bring the scores up to date, take the maximum per cardinality, compare the
 * winners' KL, list all sets that tie.
 */
#include "memory/scores_weights.h"

#include "memory/logarithm.h"

/* A class in more sets than this lets a change wait while it is below the drift: found by measuring (bench/README.md). */
#define WAITING_SETS 64u
#define WAITING_DRIFT ((int64_t)1 << 27)

static void apply_change(struct scores *scores, const struct pool *pool, const struct class *class, int64_t change)
{
    for (uint32_t c = class->sets; c != OCDM_NONE; c = pool->cells[c].next) {
        const struct set *set = &pool->sets[pool->cells[c].set];
        struct block *block = &scores->blocks[set->block];
        int64_t old = block->score[set->lane];
        block->score[set->lane] = old + change;
        if (old + change > block->max)
            block->max = old + change;
        else if (old == block->max)
            block->stale = true;
    }
}

static bool may_wait(const struct class *class, int64_t change)
{
    return class->set_count > WAITING_SETS && change < WAITING_DRIFT && change > -WAITING_DRIFT;
}

static void update_class(struct scores *scores, const struct pool *pool, uint32_t class_index)
{
    struct class *class = &pool->classes[class_index];
    class->changed = false;
    class->weight = class->kept ? ocdm__scores_step(scores, class->kept) - class->log_seen : 0;
    int64_t change = class->weight - class->applied;
    if (!change)
        return;
    if (may_wait(class, change)) {
        if (!class->waits) {
            class->waits = true;
            scores->waiting[scores->waiting_count++] = class_index;
        }
        return;
    }
    apply_change(scores, pool, class, change);
    class->applied = class->weight;
}

/* Drops from the waiting classes those whose change was applied or undone, and finds the largest that still waits. */
static void review_waiting(struct scores *scores, const struct pool *pool)
{
    uint32_t kept = 0;
    scores->waiting_most = 0;
    for (uint32_t i = 0; i < scores->waiting_count; i++) {
        struct class *class = &pool->classes[scores->waiting[i]];
        int64_t change = class->weight - class->applied;
        if (change > scores->waiting_most)
            scores->waiting_most = change;
        if (change)
            scores->waiting[kept++] = scores->waiting[i];
        else
            class->waits = false;
    }
    scores->waiting_count = kept;
}

static void update_scores(struct scores *scores, const struct pool *pool)
{
    for (uint32_t i = 0; i < scores->changed_count; i++)
        update_class(scores, pool, scores->changed[i]);
    scores->changed_count = 0;
    if (scores->waiting_count)
        review_waiting(scores, pool);
}

static void refresh(struct block *block)
{
    int64_t max = block->score[0];
    for (uint32_t i = 1; i < block->used; i++)
        max = block->score[i] > max ? block->score[i] : max;
    block->max = max;
    block->stale = false;
}

/* By how much a set of this cardinality may stand above its score in the block, at most. */
static int64_t slack(const struct scores *scores, uint32_t cardinality)
{
    uint32_t classes = cardinality < scores->waiting_count ? cardinality : scores->waiting_count;
    return (int64_t)classes * scores->waiting_most;
}

static int64_t exact_score(const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    int64_t score = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        score += pool->classes[pool->cells[set->cells + i].class_index].weight;
    return score;
}

static int64_t best_of_block(const struct pool *pool, const struct block *block, int64_t best)
{
    for (uint32_t i = 0; i < block->used; i++) {
        int64_t score = exact_score(pool, block->set[i]);
        best = score > best ? score : best;
    }
    return best;
}

static int64_t best_score(struct scores *scores, const struct pool *pool, uint32_t cardinality)
{
    uint32_t first = scores->first_block[cardinality];
    int64_t best = INT64_MIN;
    uint32_t top = first;
    for (uint32_t b = first; b != OCDM_NONE; b = scores->blocks[b].next) {
        struct block *block = &scores->blocks[b];
        if (block->stale)
            refresh(block);
        if (block->max > best) {
            best = block->max;
            top = b;
        }
    }
    if (!scores->waiting_count)
        return best;
    int64_t margin = slack(scores, cardinality);
    best = best_of_block(pool, &scores->blocks[top], INT64_MIN);
    for (uint32_t b = first; b != OCDM_NONE; b = scores->blocks[b].next)
        if (b != top && scores->blocks[b].max + margin > best)
            best = best_of_block(pool, &scores->blocks[b], best);
    return best;
}

static double ln_cached(struct scores *scores, uint64_t x)
{
    uint32_t place = (uint32_t)(x % OCDM__LN_CACHE);
    if (scores->ln_argument[place] != x) {
        scores->ln_argument[place] = x;
        scores->ln_value[place] = ocdm__ln(x);
    }
    return scores->ln_value[place];
}

static double sum_without(const struct scores *scores, int64_t score)
{
    uint64_t low = scores->sum.low - (uint64_t)score;
    int64_t high = scores->sum.high - (score < 0 ? -1 : 0) - (scores->sum.low < (uint64_t)score);
    if (high == ((int64_t)low < 0 ? -1 : 0))
        return (double)(int64_t)low;
    return (double)high * 0x1p64 + (double)low;
}

/* The KL that is left, less ln Z, which all share, in multiples of 2^-40; nothing left counts as infinite. */
static int64_t objective(struct scores *scores, const struct pool *pool, uint32_t cardinality, int64_t score)
{
    uint64_t rest = pool->label_total - cardinality;
    if (!rest)
        return INT64_MAX;
    double divergence = sum_without(scores, score) / OCDM__GRID / (double)rest - ln_cached(scores, rest);
    return ocdm__nearest(divergence * 0x1p40);
}

static uint32_t collect(const struct scores *scores, const struct pool *pool, uint32_t cardinality, int64_t score,
                        uint32_t count)
{
    int64_t margin = slack(scores, cardinality);
    for (uint32_t b = scores->first_block[cardinality]; b != OCDM_NONE; b = scores->blocks[b].next) {
        const struct block *block = &scores->blocks[b];
        if (block->max + margin < score)
            continue;
        for (uint32_t i = 0; i < block->used; i++) {
            int64_t lane = scores->waiting_count ? exact_score(pool, block->set[i]) : block->score[i];
            scores->tied[count] = block->set[i];
            count += lane == score;
        }
    }
    return count;
}

uint32_t ocdm__scores_best(struct scores *scores, const struct pool *pool)
{
    update_scores(scores, pool);
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct contender *contender = &scores->contenders[i];
        contender->score = best_score(scores, pool, scores->present[i]);
        contender->value = objective(scores, pool, scores->present[i], contender->score);
        least = contender->value < least ? contender->value : least;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (scores->contenders[i].value == least)
            count = collect(scores, pool, scores->present[i], scores->contenders[i].score, count);
    return count;
}
