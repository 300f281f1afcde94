/* The table of policies, and fair choices that several of them make. */
#include "memory/policies.h"

#include "memory/pool.h"

#define ROW(symbol, name) &ocdm__policy_##symbol,
static const ocdm_policy *const all[] = {OCDM__POLICIES(ROW)};

const ocdm_policy *ocdm_policy_at(size_t index)
{
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

const ocdm_policy *ocdm_policy_find(const char *name)
{
    for (size_t i = 0; name && ocdm_policy_at(i); i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

bool ocdm__policy_is_ours(const ocdm_policy *policy)
{
    for (size_t i = 0; ocdm_policy_at(i); i++)
        if (all[i] == policy)
            return true;
    return false;
}

struct lottery ocdm__lottery(ocdm__random *random)
{
    return (struct lottery){.base = ocdm__random_next(random), .node = OCDM_NONE};
}

/* Tickets are unique, as the hash is a bijection of the arrival number. */
static void enter(struct lottery *lottery, const struct pool *pool, uint32_t node)
{
    uint64_t ticket = ocdm__random_at(lottery->base, pool->nodes[node].arrival);
    if (lottery->node != OCDM_NONE && ticket >= lottery->ticket)
        return;
    lottery->ticket = ticket;
    lottery->node = node;
}

/* Every sample of the set: a walk over its heap. */
void ocdm__lottery_enter_set(struct lottery *lottery, const struct pool *pool, uint32_t set)
{
    uint32_t node = pool->sets[set].first;
    enter(lottery, pool, node);
    for (uint32_t left = pool->sets[set].size - 1; left; left--) {
        node = ocdm__members_after(pool->nodes, node);
        enter(lottery, pool, node);
    }
}

void ocdm__lottery_enter_class(struct lottery *lottery, const struct pool *pool, uint32_t class_index)
{
    const struct class *class = &pool->classes[class_index];
    for (uint32_t i = 0; i < class->list.count; i++)
        ocdm__lottery_enter_set(lottery, pool, pool->cells[class->list.cells[i]].set);
}

/* Walking over fewer than this many candidates costs less than guessing; so does it after as many misses. */
#define FEW 256

/* Each guess hits with the share that the candidates have; FEW misses in a row are rare unless that share is small. */
uint32_t ocdm__guess(const struct pool *pool, ocdm__random *random, uint64_t candidates, ocdm__fits *fits, uint32_t which)
{
    for (int i = 0; candidates > FEW && i < FEW; i++) {
        uint32_t position = (uint32_t)ocdm__random_below(random, pool->size);
        if (fits(pool, pool->node_at[position], which))
            return position;
    }
    return OCDM_NONE;
}

/* An ocdm__fits for samples of a class. */
static bool carries(const struct pool *pool, uint32_t node, uint32_t class_index)
{
    const struct set *set = &pool->sets[pool->nodes[node].set];
    for (uint32_t i = 0; i < set->cardinality; i++)
        if (pool->cells[set->cells + i].class_index == class_index)
            return true;
    return false;
}

/* Both ways are uniform, and which one is taken depends on counts alone, so a decision can be repeated. */
uint32_t ocdm__any_of_class(const struct pool *pool, uint32_t class_index, ocdm__random *random)
{
    uint32_t guess = ocdm__guess(pool, random, pool->classes[class_index].kept, carries, class_index);
    if (guess != OCDM_NONE)
        return guess;
    struct lottery lottery = ocdm__lottery(random);
    ocdm__lottery_enter_class(&lottery, pool, class_index);
    return pool->nodes[lottery.node].position;
}

uint32_t ocdm__any_at_all(const struct pool *pool, ocdm__random *random)
{
    struct lottery lottery = ocdm__lottery(random);
    for (uint32_t i = 0; i < pool->size; i++)
        enter(&lottery, pool, pool->node_at[i]);
    return pool->nodes[lottery.node].position;
}

uint32_t ocdm__largest_class(const struct pool *pool, ocdm__random *random)
{
    uint32_t tied = ocdm__ranking_all(pool->ranking).tied;
    return ocdm__ranking_find(pool->ranking, (uint32_t)ocdm__random_below(random, tied));
}
