/* What the index's upkeep, its search and its snapshots share. */
#ifndef OCDM_MEMORY_SCORES_PARTS_H
#define OCDM_MEMORY_SCORES_PARTS_H

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
    ocdm__add_to_sum(&scores->sum, class->log_seen - ocdm__scores_step(scores, class->kept));
    ocdm__scores_note_change(scores, class, class_index);
}

/* Gives a set, linked in its classes' lists, a lane; takes the lane away. */
void ocdm__scores_seat(struct scores *scores, struct pool *pool, uint32_t set, int64_t score);
void ocdm__scores_unseat(struct scores *scores, struct pool *pool, uint32_t set);

/* The sum of the set's class weights. */
int64_t ocdm__scores_sum_weights(const struct pool *pool, uint32_t set);

/* How far the score of a sleeper with so many labels may have risen since the snapshot, at most. */
int64_t ocdm__scores_rise(const struct scores *scores, const struct pool *pool, uint32_t cardinality);

/* A class weight has changed: remembers how far it stands above the snapshot, if sleepers carry it. */
void ocdm__scores_note_rise(struct scores *scores, struct pool *pool, uint32_t class_index);

/* Scores all sets anew and decides who sleeps. */
void ocdm__scores_take_snapshot(struct scores *scores, struct pool *pool);

/* Whether so many sets are awake that a snapshot would pay. */
bool ocdm__scores_too_many_awake(const struct scores *scores);

/* Strikes a set off the list of sleepers. */
void ocdm__scores_remove_sleeper(struct scores *scores, struct pool *pool, const struct set *set);

/* The KL that is left when a sample with so many labels and this score goes, less ln Z, in multiples of 2^-40. */
int64_t ocdm__scores_objective(struct scores *scores, const struct pool *pool, uint32_t cardinality, int64_t score);

/* A - score, as a number. */
double ocdm__scores_sum_without(const struct scores *scores, int64_t score);

/* ln x; the same few arguments come again and again. */
double ocdm__scores_ln(struct scores *scores, uint64_t x);

#endif
