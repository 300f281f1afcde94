/* The tree of ranks: a rank is computed from its two halves each time one of them changes. */
#include "memory/pool.h"

void ocdm__ranking_destroy(struct ranking *ranking)
{
    if (!ranking)
        return;
    OCDM_RELEASE(ranking->ranks, ranking);
}

/* ---- the tree ------------------------------------------------------------------------------------------------------- */

/* The better half, or both when they are equal. */
static inline struct rank of_halves(const struct rank *halves)
{
    struct rank rank = halves[halves[1].most > halves[0].most];
    if (halves[0].most == halves[1].most) {
        rank.tied = halves[0].tied + halves[1].tied;
        rank.unmarked = halves[0].unmarked + halves[1].unmarked;
    }
    return rank;
}

/* The ranks above one that has changed follow, up to the first that stays the same. */
static void follow(struct ranking *ranking, uint32_t changed)
{
    struct rank *ranks = ranking->ranks;
    for (uint32_t i = changed / 2; i; i /= 2) {
        struct rank rank = of_halves(&ranks[2 * (size_t)i]);
        if (rank.most == ranks[i].most && rank.tied == ranks[i].tied && rank.unmarked == ranks[i].unmarked)
            return;
        ranks[i] = rank;
    }
}

/* The leaves move behind each other, and all that is above them is computed anew. O(classes), each time their number
 * doubles. */
bool ocdm__ranking_reserve_classes(struct ranking *ranking, uint32_t classes)
{
    if (classes <= ranking->leaves)
        return true;
    struct rank *ranks = ocdm__allocate(2 * (size_t)classes, sizeof *ranks);
    if (!ranks)
        return false;
    if (ranking->leaves)
        memcpy(ranks + classes, ranking->ranks + ranking->leaves, ranking->leaves * sizeof *ranks);
    for (uint32_t i = ranking->leaves; i < classes; i++)
        ranks[(size_t)classes + i].unmarked = 1;
    ocdm__release(ranking->ranks);
    ranking->ranks = ranks;
    ranking->leaves = classes;
    for (uint32_t i = classes - 1; i; i--)
        ranks[i] = of_halves(&ranks[2 * (size_t)i]);
    return true;
}

void ocdm__ranking_set(struct ranking *ranking, uint32_t class_index, uint32_t kept)
{
    struct rank *leaf = &ranking->ranks[ranking->leaves + class_index];
    leaf->most = kept;
    leaf->tied = kept > 0;
    follow(ranking, ranking->leaves + class_index);
}

struct rank ocdm__ranking_all(const struct ranking *ranking)
{
    return ranking->leaves ? ranking->ranks[1] : (struct rank){0};
}

/* Goes down from the root, past the halves that have fewer. */
uint32_t ocdm__ranking_find(const struct ranking *ranking, uint32_t number)
{
    const struct rank *ranks = ranking->ranks;
    uint32_t i = 1;
    while (i < ranking->leaves) {
        i *= 2;
        uint32_t first = ranks[i].most == ranks[1].most ? ranks[i].tied : 0;
        if (number < first)
            continue;
        number -= first;
        i++;
    }
    return i - ranking->leaves;
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

/* Goes down to the first leaf that has the largest count and no mark. */
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
