/*
 * The search for the best deletion: bring the scores up to date, take the highest score of each bucket, compare what they
 * leave, and name the sets that tie.
 */
#include "memory/index.h"

#include "base/logarithm.h"

/* ---- the inner loops ------------------------------------------------------------------------------------------------ */

#ifdef __GNUC__
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

/* Without a branch, so that compilers make it a maximum of vectors. */
INLINED int64_t highest_in_block(const int64_t *score)
{
    int64_t highest = INT64_MIN;
    for (uint32_t i = 0; i < OCDM__BLOCK; i++)
        highest = score[i] > highest ? score[i] : highest;
    return highest;
}

INLINED uint32_t blocks_of(const struct bucket *bucket)
{
    return (bucket->sets + OCDM__BLOCK - 1) / OCDM__BLOCK;
}

/* Reads the blocks whose top exceeds what was found so far, and sets their tops to what is in them. */
INLINED int64_t highest(const struct bucket *bucket, const int64_t *score, bool all, uint64_t *read)
{
    int64_t highest = INT64_MIN;
    for (uint32_t rank = 0, count = blocks_of(bucket); rank < count; rank++) {
        if (bucket->tops[rank] <= highest && !all)
            continue;
        int64_t top = highest_in_block(score + (size_t)bucket->blocks[rank] * OCDM__BLOCK);
        bucket->tops[rank] = top;
        highest = top > highest ? top : highest;
        *read += OCDM__BLOCK;
    }
    return highest;
}

/* Of a block's sets with at least `threshold` the least order; *highest becomes the highest score. */
INLINED int64_t least_order(const int64_t *score, const int64_t *order, int64_t threshold, int64_t *highest)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < OCDM__BLOCK; i++) {
        int64_t ties = -(int64_t)(score[i] >= threshold); /* a mask: a choice would become a branch */
        int64_t candidate = (order[i] & ties) | (INT64_MAX & ~ties);
        least = candidate < least ? candidate : least;
        most = score[i] > most ? score[i] : most;
    }
    *highest = most;
    return least;
}

/* The place of the least order is sought in the last block that had it: within a block the loop has no branches. */
INLINED uint32_t first(const struct bucket *bucket, const int64_t *score, const int64_t *order, int64_t threshold,
                       uint64_t *read)
{
    uint32_t best = OCDM_NONE;
    int64_t least = INT64_MAX;
    for (uint32_t rank = 0, count = blocks_of(bucket); rank < count; rank++) {
        if (bucket->tops[rank] < threshold)
            continue;
        size_t start = (size_t)bucket->blocks[rank] * OCDM__BLOCK;
        int64_t here = least_order(score + start, order + start, threshold, &bucket->tops[rank]);
        *read += OCDM__BLOCK;
        bool better = bucket->tops[rank] >= threshold && here <= least;
        best = better ? (uint32_t)start : best;
        least = better ? here : least;
    }
    while (best != OCDM_NONE && (score[best] < threshold || order[best] != least))
        best++;
    return best;
}

/* The loops once more for each width of vector, `target` being what the compiler calls it. */
#define LOOPS(width, target)                                                                                                   \
    target static int64_t highest_##width(const struct bucket *bucket, const int64_t *score, bool all, uint64_t *read)         \
    {                                                                                                                          \
        return highest(bucket, score, all, read);                                                                              \
    }                                                                                                                          \
    target static uint32_t first_##width(const struct bucket *bucket, const int64_t *score, const int64_t *order,              \
                                         int64_t threshold, uint64_t *read)                                                    \
    {                                                                                                                          \
        return first(bucket, score, order, threshold, read);                                                                   \
    }                                                                                                                          \
    static const struct ocdm__loops loops_##width = {highest_##width, first_##width};

LOOPS(plain, )

#if defined(__x86_64__) && defined(__GNUC__)

LOOPS(avx2, __attribute__((target("avx2"))))
LOOPS(avx512, __attribute__((target("avx512f"))))

/* What this CPU can run, the widest vectors first. The results are the same. */
const struct ocdm__loops *ocdm__loops_at(size_t number)
{
    const struct ocdm__loops *usable[4] = {NULL};
    size_t count = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        usable[count++] = &loops_avx512;
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &loops_avx2;
    usable[count++] = &loops_plain;
    return number < count ? usable[number] : NULL;
}

#else

const struct ocdm__loops *ocdm__loops_at(size_t number)
{
    return number == 0 ? &loops_plain : NULL;
}

#endif

/* ---- bringing the scores up to date --------------------------------------------------------------------------------- */

/* While a memory fills there is no search, and scores become out of date. In the updates before it is full, each changes this
 * many scores more than it makes out of date, so that the first search has little left to do. Tests use a smaller number. */
#ifndef CAUGHT_UP
#define CAUGHT_UP 32768u
#endif

/* Adds the change of a weight to the score of every set that has the class: the list of its places is all that is read. */
static void update_class(struct index *index, const struct pool *pool, uint32_t class_index)
{
    const struct class *class = &pool->classes[class_index];
    int64_t weight = class->kept > 0 ? ocdm__index_step(index, class->kept) - class->log_seen : 0;
    int64_t change = weight - index->classes[class_index].weight;
    index->classes[class_index] = (struct indexed_class){.weight = weight};
    if (change == 0)
        return;
    const uint32_t *place = class->list.places;
    int64_t *score = index->score;
    for (uint32_t i = 0; i < class->list.count; i++)
        score[place[i]] += change;
    index->work.steps += class->list.count;
}

/* Updates the classes that changed first, until `enough` scores are changed. */
static void update_classes(struct index *index, const struct pool *pool, uint64_t enough)
{
    uint32_t count = 0;
    for (uint64_t done = 0; count < index->changed_count && done < enough; count++) {
        done += pool->classes[index->changed[count]].list.count;
        update_class(index, pool, index->changed[count]);
    }
    index->changed_count -= count;
    for (uint32_t i = 0; i < index->changed_count; i++)
        index->changed[i] = index->changed[i + count];
}

void ocdm__index_settle(struct index *index, const struct pool *pool)
{
    update_classes(index, pool, UINT64_MAX);
}

/* Near the end of filling, the scores catch up a part at a time. */
void ocdm__index_filling(struct index *index, const struct pool *pool, uint32_t room, uint32_t batch)
{
    uint64_t new_changes = 0;
    if (room / batch <= pool->cell_live / CAUGHT_UP) {
        for (uint32_t i = index->changed_before; i < index->changed_count; i++)
            new_changes += pool->classes[index->changed[i]].list.count;
        update_classes(index, pool, new_changes + CAUGHT_UP);
    }
    index->changed_before = index->changed_count;
}

/* ---- what a deletion leaves ----------------------------------------------------------------------------------------- */

/* ln x; the same few arguments come again and again. */
static double cached_ln(struct index *index, uint64_t x)
{
    uint32_t place = (uint32_t)(x % OCDM__LN_CACHE);
    if (index->ln_argument[place] != x) {
        index->ln_argument[place] = x;
        index->ln_value[place] = ocdm__ln(x);
    }
    return index->ln_value[place];
}

/* A - score, as a number. */
static double sum_without(const struct index *index, int64_t score)
{
    uint64_t low = index->sum.low - (uint64_t)score;
    int64_t high = index->sum.high - (score < 0 ? -1 : 0) - (index->sum.low < (uint64_t)score);
    if (high == ((int64_t)low < 0 ? -1 : 0))
        return (double)(int64_t)low;
    return (double)high * 0x1p64 + (double)low;
}

/* Rounded to 2^-40, so that distances that differ by rounding only tie. */
int64_t ocdm__index_kl(void *context, uint32_t labels, int64_t score)
{
    const struct kl_objective *kl = context;
    uint64_t rest = kl->pool->label_total - labels;
    if (rest == 0)
        return INT64_MAX;
    double divergence = sum_without(kl->index, score) / OCDM__GRID / (double)rest - cached_ln(kl->index, rest);
    return ocdm__nearest(divergence * 0x1p40);
}

/* Numbers for a quick test that excludes scores that cannot be the best. */
struct filter {
    double sum;    /* A */
    double labels; /* S */
    double ln;     /* ln S */
};

static struct filter make_filter(struct index *index, const struct pool *pool)
{
    uint64_t labels = pool->label_total > 0 ? pool->label_total : 1;
    return (struct filter){.sum = sum_without(index, 0), .labels = (double)labels, .ln = cached_ln(index, labels)};
}

/* Whether a score certainly leaves more than `value`. With num = A - score: num / (S - k) - ln(S - k) is at least
 * num / (S - k) - ln S + k / S, so neither the quotient nor another logarithm is needed to see that it is too large. The 16
 * steps of the grid cover the rounding of A - score: its error grows as k nears S, and there the slack of the bound grows more.
 */
static bool surely_worse(const struct filter *filter, uint32_t labels, int64_t score, int64_t value)
{
    double limit = ((double)value + 16) * 0x1p-40 + filter->ln - labels / filter->labels;
    return filter->sum - (double)score > (filter->labels - labels) * limit * OCDM__GRID;
}

/* ---- the best deletion ---------------------------------------------------------------------------------------------- */

/* tolerance / S in multiples of 2^-40. */
static int64_t slack_of(const struct pool *pool, double tolerance)
{
    return tolerance > 0 && pool->label_total > 0 ? ocdm__nearest(tolerance / (double)pool->label_total * 0x1p40) : 0;
}

static int64_t value_plus(int64_t value, int64_t slack)
{
    return value < INT64_MAX - slack ? value + slack : INT64_MAX;
}

/* It starts with the bucket that was best last time, since it nearly always is again, and then most others are excluded. */
void ocdm__index_search(struct index *index, const struct pool *pool, double tolerance)
{
    struct kl_objective kl = {index, pool};
    int64_t least = INT64_MAX, slack = slack_of(pool, tolerance);
    bool all = !index->tops_known, any = false;
    ocdm__index_settle(index, pool);
    struct filter filter = make_filter(index, pool);
    index->contender_count = 0;
    uint32_t start =
        index->winner < index->bucket_room && index->buckets[index->winner].sets > 0 ? index->buckets[index->winner].listed : 0;
    for (uint32_t i = 0; i < index->present_count; i++) {
        uint32_t labels = index->present[i == 0 ? start : i - (i <= start)];
        struct bucket *bucket = &index->buckets[labels];
        if (!all && any && surely_worse(&filter, labels, bucket->highest, value_plus(least, slack)))
            continue;
        bucket->highest = index->loops->highest(bucket, index->score, all, &index->work.steps);
        if (any && surely_worse(&filter, labels, bucket->highest, value_plus(least, slack)))
            continue;
        index->contenders[index->contender_count++] = labels;
        bucket->best = bucket->highest;
        bucket->value = ocdm__index_kl(&kl, labels, bucket->best);
        index->winner = !any || bucket->value < least ? labels : index->winner;
        least = !any || bucket->value < least ? bucket->value : least;
        any = true;
    }
    index->tops_known = true;
    index->work.deletions++;
    index->work.searches += all;
    ocdm__index_tie(index, pool, tolerance, ocdm__index_kl, &kl);
}

/* ---- ties ----------------------------------------------------------------------------------------------------------- */

/* Below the score of any set: 65,535 labels, |w_i| < 2^42. */
#define LOWEST_SCORE (-((int64_t)1 << 60))

/* The least score that leaves no more than `limit`; `score` leaves no more. */
static int64_t least_score(int64_t score, uint32_t labels, int64_t limit, ocdm__objective *objective, void *context)
{
    int64_t step = 1;
    while (score - step > LOWEST_SCORE && objective(context, labels, score - step) <= limit) {
        score -= step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (score - step > LOWEST_SCORE && objective(context, labels, score - step) <= limit)
            score -= step;
    return score;
}

/* All contenders that leave at most the least plus the tolerance tie; in each, the sets down to its threshold. */
void ocdm__index_tie(struct index *index, const struct pool *pool, double tolerance, ocdm__objective *objective, void *context)
{
    int64_t least = INT64_MAX, slack = slack_of(pool, tolerance);
    for (uint32_t i = 0; i < index->contender_count; i++) {
        const struct bucket *bucket = &index->buckets[index->contenders[i]];
        least = bucket->value < least ? bucket->value : least;
    }
    int64_t limit = value_plus(least, slack);
    for (uint32_t i = 0; i < index->contender_count; i++) {
        struct bucket *bucket = &index->buckets[index->contenders[i]];
        if (bucket->value > limit)
            bucket->threshold = INT64_MAX;
        else if (slack == 0 || limit == INT64_MAX)
            bucket->threshold = bucket->best;
        else
            bucket->threshold = least_score(bucket->best, index->contenders[i], limit, objective, context);
    }
}

/* The least order over the contenders: orders are unique, so the buckets need no order of their own. */
uint32_t ocdm__index_first(struct index *index)
{
    uint32_t best = OCDM_NONE;
    for (uint32_t i = 0; i < index->contender_count; i++) {
        const struct bucket *bucket = &index->buckets[index->contenders[i]];
        if (bucket->threshold == INT64_MAX)
            continue;
        uint32_t place = index->loops->first(bucket, index->score, index->order, bucket->threshold, &index->work.steps);
        if (place != OCDM_NONE && (best == OCDM_NONE || index->order[place] < index->order[best]))
            best = place;
    }
    return index->set[best];
}

/* A block whose top is below the threshold has no set that ties. */
void ocdm__index_each_tied(struct index *index, void (*visit)(void *context, uint32_t set), void *context)
{
    for (uint32_t i = 0; i < index->contender_count; i++) {
        const struct bucket *bucket = &index->buckets[index->contenders[i]];
        for (uint32_t rank = 0; bucket->threshold < INT64_MAX && rank < blocks_of(bucket); rank++) {
            if (bucket->tops[rank] < bucket->threshold)
                continue;
            uint32_t place = bucket->blocks[rank] * OCDM__BLOCK;
            index->work.steps += OCDM__BLOCK;
            for (uint32_t end = place + OCDM__BLOCK; place < end; place++)
                if (index->score[place] >= bucket->threshold)
                    visit(context, index->set[place]);
        }
    }
}
