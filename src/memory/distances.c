/*
 * The rows of distances.h. Under distances other than KL the rule of a deletion is KL's (whole-number weights per class, the
 * largest sum per cardinality, winners compared at 2^-40), but weights depend on T = S - k or on the target:
 *
 * - reverse-kl: KL(p || p_omega) = const - sum_i p_i ln m_i + ln S, so w_i = -(p_i / p_max) ln(m_i / (m_i - 1)); m = 0 counts
 * as 1/2.
 *
 * - l2: w_i = (2 m_i - 1) / T - 2 p_i; the distance falls by sum w_i / T.
 *
 * - tv: w_i = |m_i - p_i T| - |m_i - 1 - p_i T|; the distance falls by sum w_i / (2 T).
 */
#include "memory/distances.h"

#include "base/logarithm.h"
#include "base/random.h"
#include "memory/internal.h"
#include "memory/policies.h"

/* ---- distances ------------------------------------------------------------------------------------------------------ */

static double kl_term(double q, double kept, double ln_p, double total)
{
    (void)kept;
    (void)total;
    return q > 0 ? q * (ocdm__ln_real(q) - ln_p) : 0;
}

static double reverse_kl_term(double q, double kept, double ln_p, double total)
{
    (void)q;
    return ocdm__exp(ln_p) * (ln_p - ocdm__ln_real((kept > 0 ? kept : 0.5) / total));
}

static struct deletion reverse_kl_deletion(uint32_t kept, double p, double most_p, double rest)
{
    (void)rest;
    return (struct deletion){.weight = -(p / most_p) * (kept > 1 ? ocdm__ln_ratio(kept) : ocdm__ln(2)), .scale = most_p};
}

static double l2_term(double q, double kept, double ln_p, double total)
{
    (void)kept;
    (void)total;
    double difference = q - ocdm__exp(ln_p);
    return difference * difference;
}

static struct deletion l2_deletion(uint32_t kept, double p, double most_p, double rest)
{
    (void)most_p;
    double difference = (double)kept / rest - p;
    return (struct deletion){(2 * (double)kept - 1) / rest - 2 * p, difference * difference, 1 / rest};
}

static double tv_term(double q, double kept, double ln_p, double total)
{
    (void)kept;
    (void)total;
    return fabs(q - ocdm__exp(ln_p)) / 2;
}

static struct deletion tv_deletion(uint32_t kept, double p, double most_p, double rest)
{
    (void)most_p;
    return (struct deletion){fabs((double)kept - p * rest) - fabs((double)kept - 1 - p * rest),
                             fabs((double)kept / rest - p) / 2, 0.5 / rest};
}

const struct distance ocdm__distances[] = {
    [OCDM_KL] = {.term = kl_term},
    [OCDM_REVERSE_KL] = {reverse_kl_term, reverse_kl_deletion, ocdm__ln_real},
    [OCDM_L2] = {.term = l2_term, .deletion = l2_deletion},
    [OCDM_TV] = {.term = tv_term, .deletion = tv_deletion},
};

/* ---- tie rules ------------------------------------------------------------------------------------------------------ */

/* Unique because the hash is a bijection of the arrival number. */
static uint64_t by_key(uint64_t key_base, uint64_t arrival)
{
    return ocdm__random_at(key_base, arrival);
}

static uint64_t by_age(uint64_t key_base, uint64_t arrival)
{
    (void)key_base;
    return arrival;
}

static uint64_t by_youth(uint64_t key_base, uint64_t arrival)
{
    (void)key_base;
    return ~arrival;
}

const struct tie ocdm__ties[] = {
    [OCDM_TIE_KEY] = {by_key, false},
    [OCDM_TIE_OLDEST] = {by_age, false},
    [OCDM_TIE_NEWEST] = {by_youth, false},
    [OCDM_TIE_UNIFORM] = {by_key, true},
};

/* ---- names ---------------------------------------------------------------------------------------------------------- */

#define NAME(symbol, name) [OCDM_##symbol] = name,
static const char *const distance_names[] = {OCDM__DISTANCES(NAME)};
static const char *const tie_names[] = {OCDM__TIES(NAME)};

#define DISTANCES (sizeof distance_names / sizeof *distance_names)
#define TIES (sizeof tie_names / sizeof *tie_names)

_Static_assert(DISTANCES == sizeof ocdm__distances / sizeof *ocdm__distances, "every distance has a name");
_Static_assert(TIES == sizeof ocdm__ties / sizeof *ocdm__ties, "every tie rule has a name");

/* The index of a name; `count` when it is not in the list. */
static unsigned index_of(const char *const *names, unsigned count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *ocdm_distance_name(ocdm_distance distance)
{
    return (unsigned)distance < DISTANCES ? distance_names[distance] : NULL;
}

/* Names are compared as the files and flags write them; case matters. */
ocdm_status ocdm_distance_find(const char *name, ocdm_distance *distance)
{
    if (name == NULL || distance == NULL)
        return OCDM_BAD_ARGUMENT;
    unsigned found = index_of(distance_names, DISTANCES, name);
    if (found == DISTANCES)
        return OCDM_UNKNOWN_NAME;
    *distance = (ocdm_distance)found;
    return OCDM_OK;
}

const char *ocdm_tie_name(ocdm_tie tie)
{
    return (unsigned)tie < TIES ? tie_names[tie] : NULL;
}

ocdm_status ocdm_tie_find(const char *name, ocdm_tie *tie)
{
    if (name == NULL || tie == NULL)
        return OCDM_BAD_ARGUMENT;
    unsigned found = index_of(tie_names, TIES, name);
    if (found == TIES)
        return OCDM_UNKNOWN_NAME;
    *tie = (ocdm_tie)found;
    return OCDM_OK;
}

/* ---- the best deletion --------------------------------------------------------------------------------------------- */

/*
 * The best deletion under a distance other than KL: the rule is the one of KL (whole-number weights per class, the largest sum
 * per number of labels, winners compared at 2^-40), but weights depend on S - k or on the target, so every distinct set is
 * scored again.
 */

/* Takes the point of view of sets with so many labels: what is left without them, and their classes' weights. */
static void look(struct scan *scan, uint32_t labels)
{
    const struct pool *pool = &scan->memory->pool;
    const struct distance *distance = &ocdm__distances[scan->memory->options.distance];
    double most = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        most = scan->target[i] > most ? scan->target[i] : most;
    double rest = (double)(pool->label_total - labels);
    scan->labels = labels;
    scan->base = scan->scale = 0;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        uint32_t kept = pool->classes[i].kept;
        scan->weight[i] = 0;
        if (!(rest > 0) || (kept == 0 && !(scan->target[i] > 0)))
            continue;
        const struct deletion deletion = distance->deletion(kept, scan->target[i], most, rest);
        scan->scale = deletion.scale;
        if (kept > 0)
            scan->weight[i] = ocdm__nearest(deletion.weight * OCDM__GRID);
        if (scan->target[i] > 0)
            scan->base += deletion.base;
    }
    if (rest > 0 && distance->offset != NULL)
        scan->base += distance->offset(rest);
}

/* The objective that the scan hands to the index: what is left falls linearly in the sum of the weights. */
static int64_t scan_objective(void *context, uint32_t labels, int64_t score)
{
    struct scan *scan = context;
    if (scan->memory->pool.label_total == labels)
        return INT64_MAX;
    if (scan->labels != labels)
        look(scan, labels);
    return ocdm__nearest((scan->base - scan->scale * ((double)score / OCDM__GRID)) * 0x1p40);
}

/* Scores the sets with so many labels in their places: the sum of the weights of their classes, as the index keeps it under
 * KL. */
static void score_sets(struct scan *scan, uint32_t labels)
{
    const struct pool *pool = &scan->memory->pool;
    struct index *index = scan->memory->index;
    struct bucket *bucket = &index->buckets[labels];
    look(scan, labels);
    index->contenders[index->contender_count++] = labels;
    bucket->best = INT64_MIN;
    for (uint32_t i = 0; i < bucket->sets; i++) {
        uint32_t rank = i / OCDM__BLOCK, place = bucket->blocks[rank] * OCDM__BLOCK + i % OCDM__BLOCK;
        const struct cell *cells = pool->cells + pool->sets[index->set[place]].cells;
        int64_t score = 0;
        for (uint32_t k = 0; k < labels; k++)
            score += scan->weight[cells[k].class_index];
        index->score[place] = score;
        bucket->tops[rank] = i % OCDM__BLOCK == 0 || score > bucket->tops[rank] ? score : bucket->tops[rank];
        bucket->best = score > bucket->best ? score : bucket->best;
    }
    bucket->value = scan_objective(scan, labels, bucket->best);
}

/* Writes the score of every set into the index and then asks it for ties, as a search under KL does. O(cells), once for each
 * number of labels that the pool has. */
void ocdm__scan_search(struct scan *scan)
{
    struct index *index = scan->memory->index;
    index->contender_count = 0;
    for (uint32_t i = 0; i < index->present_count; i++)
        score_sets(scan, index->present[i]);
    ocdm__index_tie(index, &scan->memory->pool, scan->memory->options.tolerance, scan_objective, scan);
}
