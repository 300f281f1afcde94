/* The tree of ranks, and the list of levels. */
#include "memory/pool.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/logarithm.h"

ocdm_status ocdm__ranking_create(struct ranking **result, bool softmax, uint32_t samples, ocdm_error *error)
{
    struct ranking *ranking;
    OCDM_TRY(ocdm__new(&ranking, 1, sizeof *ranking, "the ranking of the classes", error));
    *result = ranking;
    ranking->decay[0] = 1;
    ranking->reach = softmax ? OCDM__RANKING_REACH : 1;
    if (!softmax)
        return OCDM_OK;
    for (uint32_t d = 1; d < OCDM__RANKING_REACH; d++)
        ranking->decay[d] = ocdm__exp(-(double)d);
    ranking->levels = ocdm__allocate(1, sizeof *ranking->levels);
    if (!ranking->levels || ocdm__ranking_reserve_samples(ranking, samples) != OCDM_OK)
        return ocdm__fail_memory(error, "the ranking of the classes");
    return OCDM_OK;
}

void ocdm__ranking_destroy(struct ranking *ranking)
{
    if (!ranking)
        return;
    ocdm__release(ranking->ranks);
    ocdm__release(ranking->levels);
    ocdm__release(ranking);
}

/* ---- the tree ------------------------------------------------------------------------------------------------------- */

static double decay(const struct ranking *ranking, uint32_t behind)
{
    return behind < ranking->reach ? ranking->decay[behind] : 0;
}

/* An absent class weighs 0, so it adds nothing. */
static inline struct rank of_halves(const struct ranking *ranking, const struct rank *halves)
{
    const struct rank *larger = halves, *other = halves + 1;
    if (other->most > larger->most) {
        larger = other;
        other = halves;
    }
    struct rank rank = *larger;
    uint32_t behind = rank.most - other->most;
    if (!behind) {
        rank.weight += other->weight;
        rank.unmarked += other->unmarked;
    } else if (behind < ranking->reach) {
        rank.weight += other->weight * ranking->decay[behind];
    }
    return rank;
}

/* The ranks above one that has changed follow, up to the first that stays the same. */
static void follow(struct ranking *ranking, uint32_t changed)
{
    struct rank *ranks = ranking->ranks;
    for (uint32_t i = changed / 2; i; i /= 2) {
        struct rank rank = of_halves(ranking, &ranks[2 * (size_t)i]);
        if (rank.weight == ranks[i].weight && rank.most == ranks[i].most && rank.unmarked == ranks[i].unmarked)
            return;
        ranks[i] = rank;
    }
}

ocdm_status ocdm__ranking_reserve_classes(struct ranking *ranking, uint32_t classes)
{
    if (classes <= ranking->leaves)
        return OCDM_OK;
    struct rank *ranks = ocdm__allocate(2 * (size_t)classes, sizeof *ranks);
    if (!ranks)
        return OCDM_NO_MEMORY;
    if (ranking->leaves)
        memcpy(ranks + classes, ranking->ranks + ranking->leaves, ranking->leaves * sizeof *ranks);
    for (uint32_t i = ranking->leaves; i < classes; i++)
        ranks[(size_t)classes + i].unmarked = 1;
    ocdm__release(ranking->ranks);
    ranking->ranks = ranks;
    ranking->leaves = classes;
    for (uint32_t i = classes - 1; i; i--)
        ranks[i] = of_halves(ranking, &ranks[2 * (size_t)i]);
    return OCDM_OK;
}

struct rank ocdm__ranking_all(const struct ranking *ranking)
{
    return ranking->leaves ? ranking->ranks[1] : (struct rank){0};
}

struct place ocdm__ranking_find(const struct ranking *ranking, double aim)
{
    const struct rank *ranks = ranking->ranks;
    double before = 0;
    uint32_t i = 1;
    while (i < ranking->leaves) {
        i *= 2;
        double first = ranks[i].weight * decay(ranking, ranks[1].most - ranks[i].most);
        if (before + first > aim)
            continue;
        before += first;
        i++;
    }
    double sum = before + ranks[i].weight * decay(ranking, ranks[1].most - ranks[i].most);
    return (struct place){i - ranking->leaves, before, sum};
}

/* ---- marks ---------------------------------------------------------------------------------------------------------- */

void ocdm__ranking_mark(struct ranking *ranking, uint32_t class_index)
{
    ranking->ranks[ranking->leaves + class_index].unmarked = 0;
    follow(ranking, ranking->leaves + class_index);
}

void ocdm__ranking_unmark(struct ranking *ranking, uint32_t class_index)
{
    ranking->ranks[ranking->leaves + class_index].unmarked = 1;
    follow(ranking, ranking->leaves + class_index);
}

bool ocdm__ranking_marked(const struct ranking *ranking, uint32_t class_index)
{
    return !ranking->ranks[ranking->leaves + class_index].unmarked;
}

uint32_t ocdm__ranking_unmarked(const struct ranking *ranking)
{
    const struct rank *ranks = ranking->ranks;
    struct rank all = ocdm__ranking_all(ranking);
    if (!all.most || !all.unmarked)
        return OCDM_NONE;
    uint32_t i = 1;
    while (i < ranking->leaves) {
        i *= 2;
        i += ranks[i].most != all.most || !ranks[i].unmarked;
    }
    return i - ranking->leaves;
}

/* ---- levels --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__ranking_reserve_samples(struct ranking *ranking, uint32_t samples)
{
    if (!ranking->levels || samples <= ranking->level_room)
        return OCDM_OK;
    struct level *levels = ocdm__resize(ranking->levels, (size_t)samples + 1, sizeof *levels);
    if (!levels)
        return OCDM_NO_MEMORY;
    memset(levels + ranking->level_room + 1, 0, (samples - ranking->level_room) * sizeof *levels);
    ranking->levels = levels;
    ranking->level_room = samples;
    return OCDM_OK;
}

/* A class moves to a neighbouring level, so its place in the list is known. */
static void move_level(struct level *levels, uint32_t from, uint32_t to)
{
    if (to && !levels[to].classes++) {
        uint32_t below = to > from ? from : levels[from].lower;
        uint32_t higher = levels[below].higher;
        levels[to].lower = below;
        levels[to].higher = higher;
        levels[below].higher = to;
        if (higher)
            levels[higher].lower = to;
    }
    if (from && !--levels[from].classes) {
        uint32_t higher = levels[from].higher;
        levels[levels[from].lower].higher = higher;
        if (higher)
            levels[higher].lower = levels[from].lower;
    }
}

void ocdm__ranking_set(struct ranking *ranking, uint32_t class_index, uint32_t kept)
{
    struct rank *leaf = &ranking->ranks[ranking->leaves + class_index];
    if (ranking->levels)
        move_level(ranking->levels, leaf->most, kept);
    ranking->present += !leaf->most;
    ranking->present -= !kept;
    leaf->most = kept;
    leaf->weight = kept ? 1 : 0;
    follow(ranking, ranking->leaves + class_index);
}
