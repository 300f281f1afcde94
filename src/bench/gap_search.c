/* Exhaustive and local search over distinct label sets. */
#include "bench/gap_search.h"

#include <stdbool.h>
#include <string.h>

/* Distances closer than this are equal: far above the grid's rounding, far below any gap worth a word. */
#define EQUAL 1e-11

struct search {
    size_t depth;
    uint32_t path[OCDM__GAP_DELETIONS];
    uint32_t best[OCDM__GAP_DELETIONS];
    double least;
    bool found;
};

/* Label sets in ascending order only: a choice is tried once, whatever the order of its deletions. */
static void descend(ocdm__gap_pool *pool, struct search *search, uint32_t first, size_t deletions)
{
    for (uint32_t set = first; set < pool->set_count; set++) {
        if (pool->copies[set] == 0)
            continue;
        search->path[search->depth++] = set;
        if (deletions > 1) {
            ocdm__gap_delete(pool, set);
            descend(pool, search, set, deletions - 1);
            ocdm__gap_restore(pool, set);
        } else {
            double distance = ocdm__gap_distance_without(pool, set);
            if (!search->found || distance < search->least) {
                search->least = distance;
                search->found = true;
                memcpy(search->best, search->path, sizeof search->best);
            }
        }
        search->depth--;
    }
}

double ocdm__gap_best(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets)
{
    struct search search = {.depth = 0};
    descend(pool, &search, 0, deletions);
    memcpy(sets, search.best, deletions * sizeof *sets);
    return search.least;
}

/* Puts the deleted samples at positions a and b (one sample when they are equal) back and deletes the best instead. Whether
 * that is better than before. */
static bool exchange(ocdm__gap_pool *pool, uint32_t *sets, size_t a, size_t b)
{
    double before = ocdm__gap_distance(pool);
    uint32_t better[2];
    ocdm__gap_restore(pool, sets[a]);
    if (a != b)
        ocdm__gap_restore(pool, sets[b]);
    bool improved = ocdm__gap_best(pool, a == b ? 1 : 2, better) < before - EQUAL;
    if (improved) {
        sets[a] = better[0];
        sets[b] = better[a != b];
    }
    ocdm__gap_delete(pool, sets[a]);
    if (a != b)
        ocdm__gap_delete(pool, sets[b]);
    return improved;
}

double ocdm__gap_exchange(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets)
{
    bool improved = true;
    while (improved) {
        improved = false;
        for (size_t a = 0; a < deletions; a++)
            improved |= exchange(pool, sets, a, a);
        for (size_t a = 0; a < deletions && !improved; a++)
            for (size_t b = a + 1; b < deletions; b++)
                improved |= exchange(pool, sets, a, b);
    }
    return ocdm__gap_distance(pool);
}
