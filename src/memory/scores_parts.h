/* What the index's upkeep, its search and its sleepers share. */
#ifndef OCDM_MEMORY_SCORES_PARTS_H
#define OCDM_MEMORY_SCORES_PARTS_H

#include "base/logarithm.h"
#include "memory/scores.h"

/* f(m) - f(m - 1) on the grid, for m beyond what is known. */
int64_t ocdm__scores_new_step(struct scores *scores, uint32_t m);

static inline int64_t ocdm__scores_step(struct scores *scores, uint32_t m)
{
    return m < scores->step_known ? scores->steps[m] : ocdm__scores_new_step(scores, m);
}

static inline void ocdm__add_to_sum(struct wide *sum, int64_t x)
{
    uint64_t low = sum->low + (uint64_t)x;
    sum->high += (x < 0 ? -1 : 0) + (low < (uint64_t)x);
    sum->low = low;
}

static inline void ocdm__scores_note_change(struct scores *scores, struct class *class, uint32_t class_index)
{
    if (class->changed)
        return;
    class->changed = true;
    scores->changed[scores->changed_count++] = class_index;
}

/* Tells a trial what was spent and what the plain way would have cost. True when it is time to give up for now: when the way
 * has cost more, by `patience`. */
static inline bool ocdm__trial_fails(struct ocdm__trial *trial, uint64_t spent, uint64_t plain, uint64_t patience)
{
    trial->spent += spent;
    trial->plain += plain;
    if (trial->spent > trial->plain + patience) {
        trial->rest = trial->rest < 8 * patience ? 8 * patience : trial->rest * 2;
        trial->resting = trial->rest;
        trial->spent = trial->plain = 0;
        return true;
    }
    if (trial->plain > trial->spent + 8 * patience) {
        trial->spent = trial->plain = 0;
        trial->rest /= 2;
    }
    return false;
}

/* The plain way was taken and cost so much. True while the other one rests. */
static inline bool ocdm__trial_rests(struct ocdm__trial *trial, uint64_t plain)
{
    trial->resting -= plain < trial->resting ? plain : trial->resting;
    return trial->resting > 0;
}

/* Whether all scores, or all heights, stay in the cache of a core. */
static inline bool ocdm__scores_in_cache(const struct scores *scores)
{
    return scores->awake_count + scores->sleepers.count <= 20480;
}

/* Which bit of x, not 0, is the lowest that is set. */
static inline uint32_t ocdm__lowest_bit(uint64_t x)
{
#ifdef __GNUC__
    return (uint32_t)__builtin_ctzll(x);
#else
    uint32_t bit = 0;
    for (; !(x & 1); x >>= 1)
        bit++;
    return bit;
#endif
}

/* Reads ahead; it does not matter if there is nothing. */
static inline void ocdm__prefetch(const void *address)
{
#ifdef __GNUC__
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* The sets near the best whose bits are set lose so much. */
void ocdm__scores_lower_near(struct scores *scores, uint64_t near, int64_t loss);

/* A sample joins, or a target changes, and scores may rise: no set is known to be near the best any more. */
void ocdm__scores_joined(struct scores *scores, struct pool *pool);

/* A sleeper whose score is this becomes a guest, if there is room. */
bool ocdm__scores_invite(struct scores *scores, struct pool *pool, uint32_t set, int64_t score);

/* Guests are ordinary sleepers again; the ceilings cover them only after the next sweep. */
void ocdm__scores_dismiss_guests(struct scores *scores, struct pool *pool);

/* A set is about to go, or to wake up. */
void ocdm__scores_remove_guest(struct scores *scores, struct pool *pool, uint32_t set);

/* A set is about to go. */
void ocdm__scores_remove_near(struct scores *scores, struct pool *pool, uint32_t set);

/* A class has one sample more; is about to have one less. */
static inline void ocdm__scores_class_grew(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    if (!scores->weighted)
        return;
    struct class *class = &pool->classes[class_index];
    ocdm__add_to_sum(&scores->sum, ocdm__scores_step(scores, class->kept) - class->log_seen);
    ocdm__scores_note_change(scores, class, class_index);
}

static inline void ocdm__scores_class_shrinks(struct scores *scores, struct pool *pool, uint32_t class_index)
{
    if (!scores->weighted)
        return;
    struct class *class = &pool->classes[class_index];
    int64_t step = ocdm__scores_step(scores, class->kept);
    ocdm__add_to_sum(&scores->sum, class->log_seen - step);
    ocdm__scores_note_change(scores, class, class_index);
    if (class->near)
        ocdm__scores_lower_near(scores, class->near, class->kept > 1 ? step - ocdm__scores_step(scores, class->kept - 1) : 0);
}

/* Gives a set, linked in its classes' lists, a lane; takes the lane away. */
void ocdm__scores_seat(struct scores *scores, struct pool *pool, uint32_t set, int64_t score);
void ocdm__scores_unseat(struct scores *scores, struct pool *pool, uint32_t set);

/* The sum of the set's class weights. */
int64_t ocdm__scores_sum_weights(const struct pool *pool, uint32_t set);

/* Makes room for sleepers, if there may ever be so many sets that some sleep. */
void ocdm__scores_reserve_sleepers(struct scores *scores, uint32_t samples, bool *failed);

/* A class that sleepers carry has a new weight; it was `before`. */
void ocdm__scores_note_rise(struct scores *scores, struct pool *pool, uint32_t class_index, int64_t before);

/* x / 2^unit, rounded up. */
static inline int64_t ocdm__units_above(int64_t x, int unit)
{
    return (x >> unit) + ((x & (((int64_t)1 << unit) - 1)) != 0);
}

/* The height that a set has at the references of its classes. */
uint16_t ocdm__scores_height(const struct scores *scores, const struct pool *pool, uint32_t set);

/* Wakes a sleeper, whose score is this. */
void ocdm__scores_wake(struct scores *scores, struct pool *pool, uint32_t set, int64_t score);

/* The ceilings are new: from now on rises count from the weights as they are. */
void ocdm__scores_start_new_age(struct scores *scores);

/* A sleeper is about to go. */
void ocdm__scores_remove_sleeper(struct scores *scores, struct pool *pool, uint32_t set);

/* If so many sets are awake that some should sleep: puts some to sleep that leave more than the best, which leaves `best`. */
void ocdm__scores_tend(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best);

/* If sleeping does not pay: wakes some. */
void ocdm__scores_give_up_sleeping(struct scores *scores, struct pool *pool);

struct filter ocdm__scores_filter(struct scores *scores, const struct pool *pool);

/* Whether a score of this cardinality certainly leaves more than `value`. With num = A - score: num / (S - k) - ln(S - k) is at
 * least num / (S - k) - ln S + k / S, so neither the quotient nor another logarithm is needed to see that it is too large. The
 * 16 steps of the grid cover the rounding of A - score: its error grows as k nears S, and there the slack of the bound grows
 * more. */
static inline bool ocdm__surely_worse(const struct filter *filter, uint32_t cardinality, int64_t score, int64_t value)
{
    double limit = ((double)value + 16) * 0x1p-40 + filter->ln - cardinality * filter->share;
    return filter->sum - (double)score > (filter->labels - cardinality) * limit * OCDM__GRID;
}

/* The least score of a cardinality that is not surely worse than `value`. */
int64_t ocdm__least_score(const struct filter *filter, uint32_t cardinality, int64_t value);

/* What no sleeper of this cardinality, some are there, scores more than. */
int64_t ocdm__scores_bound(const struct scores *scores, const struct pool *pool, uint32_t cardinality);

/* Of a sweep for those that leave `best` or less: halves the unit of heights now and then, as long as 16 bits are enough. */
void ocdm__scores_refine_units(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best);

/* Whether the ceilings exclude that some sleeper leaves `best` or less. */
bool ocdm__scores_sleepers_excluded(struct scores *scores, const struct pool *pool, const struct filter *filter, int64_t best);

/* Wakes every sleeper that leaves `best` or less, and some more; afterwards the ceilings exclude all others. */
void ocdm__scores_sweep(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best);

/* The KL that is left when a sample with so many labels and this score goes, less ln Z, in multiples of 2^-40. */
int64_t ocdm__scores_objective(struct scores *scores, const struct pool *pool, uint32_t cardinality, int64_t score);

/* A - score, as a number. */
double ocdm__scores_sum_without(const struct scores *scores, int64_t score);

/* ln x; the same few arguments come again and again. */
double ocdm__scores_ln(struct scores *scores, uint64_t x);

#endif
