/*
 * PRS: partitioning reservoir sampling (Kim, Jeong, Kim 2020). Per sample, once the memory is full: sample-in decides by chance
 * whether it enters; sample-out draws a class that is over its share and evicts, of its samples, one whose loss hurts no class
 * that is under its share.
 *
 * Shares p_i = n_i^rho / sum_j n_j^rho run over the classes in memory; a class that emptied keeps its last share.
 */
#include "memory/policies.h"

#include <math.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "memory/logarithm.h"
#include "memory/members.h"

/* Below this a difference is rounding: a deviation this small is 0, and two sums of deviations this near tie. */
#define NOTHING 0x1p-30

/* A class as PRS sees it. */
struct partition {
    double share;     /* p_i; negative while it has none */
    double power;     /* n_i^rho */
    double deviation; /* delta_i = m_i - p_i S */
    double without;   /* what the loss of one sample does to the sum of deviations, for one number of labels */
};

struct partitions {
    struct partition *classes; /* by class index */
    uint32_t room;
    uint32_t *candidates; /* sets: who may lose a sample */
    uint32_t candidate_room;
};

static ocdm_status create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)memory;
    (void)data;
    *state = ocdm__allocate(1, sizeof(struct partitions));
    return *state ? OCDM_OK : ocdm__fail_memory(error, "the policy's state");
}

static void destroy(void *state)
{
    struct partitions *partitions = state;
    ocdm__release(partitions->classes);
    ocdm__release(partitions->candidates);
    ocdm__release(partitions);
}

static ocdm_status reserve(struct partitions *partitions, uint32_t count, ocdm_error *error)
{
    if (count <= partitions->room)
        return OCDM_OK;
    uint32_t room = count * 2 + 62;
    struct partition *classes = ocdm__resize(partitions->classes, room, sizeof *classes);
    if (!classes)
        return ocdm__fail_memory(error, "the policy's state");
    for (uint32_t i = partitions->room; i < room; i++)
        classes[i] = (struct partition){.share = -1};
    partitions->classes = classes;
    partitions->room = room;
    return OCDM_OK;
}

static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    (void)batch;
    (void)count;
    struct partitions *partitions = state;
    if (memory->pool.reserved > partitions->candidate_room) {
        uint32_t *candidates = ocdm__resize(partitions->candidates, memory->pool.reserved, sizeof *candidates);
        if (!candidates)
            return ocdm__fail_memory(error, "the policy's state");
        partitions->candidates = candidates;
        partitions->candidate_room = memory->pool.reserved;
    }
    return reserve(partitions, memory->pool.class_count, error);
}

static double power_of(const ocdm_memory *memory, const struct class *class)
{
    return memory->options.rho == 0 ? 1 : ocdm__exp(memory->options.rho * ocdm__ln(class->seen));
}

/* n has changed for the sample's classes, and m perhaps: the shares of all classes in memory follow. */
static void update_shares(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)sample;
    struct partition *partition = ((struct partitions *)state)->classes;
    const struct pool *pool = &memory->pool;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    for (uint32_t i = 0; i < count; i++)
        partition[offered[i]].power = power_of(memory, &pool->classes[offered[i]]);
    double total = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        total += pool->classes[i].kept ? partition[i].power : 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].kept)
            partition[i].share = partition[i].power / total;
}

/* r_i = min(1, M p_i / n_i), 1 for a class that never had a share. */
static double rate(const ocdm_memory *memory, const struct partition *partition, const struct class *class)
{
    if (partition->share < 0)
        return 1;
    double rate = (double)memory->options.capacity * partition->share / (double)class->seen;
    return rate < 1 ? rate : 1;
}

/* s: the rates, weighted by a softmax of -n_i, so that the rarest class of the sample decides. */
static double chance_to_enter(const struct partition *partition, const ocdm_memory *memory, const uint32_t *offered,
                              uint32_t count)
{
    const struct class *classes = memory->pool.classes;
    uint64_t rarest = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        rarest = classes[offered[i]].seen < rarest ? classes[offered[i]].seen : rarest;
    double total = 0, chance = 0;
    for (uint32_t i = 0; i < count; i++) {
        double weight = ocdm__exp(-(double)(classes[offered[i]].seen - rarest));
        total += weight;
        chance += weight * rate(memory, &partition[offered[i]], &classes[offered[i]]);
    }
    return chance / total;
}

static double measure_deviations(struct partition *partition, const struct pool *pool)
{
    double most = -HUGE_VAL;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        if (!pool->classes[i].kept)
            continue;
        partition[i].deviation = (double)pool->classes[i].kept - partition[i].share * (double)pool->label_total;
        most = partition[i].deviation > most ? partition[i].deviation : most;
    }
    return most;
}

/* Class g from softmax(delta). */
static uint32_t draw_class(struct partition *partition, const struct pool *pool, ocdm__random *random)
{
    double most = measure_deviations(partition, pool);
    double total = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].kept)
            total += ocdm__exp(partition[i].deviation - most);
    double aim = ocdm__random_unit(random) * total;
    double sum = 0;
    uint32_t last = OCDM_NONE;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        if (!pool->classes[i].kept)
            continue;
        last = i;
        sum += ocdm__exp(partition[i].deviation - most);
        if (sum > aim)
            break;
    }
    return last;
}

/* |Y n Q|: how many classes of the set are not over their share. Lacking most of Q means having fewest of it. */
static uint32_t classes_in_need(const struct partition *partition, const struct pool *pool, const struct set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        count += partition[pool->cells[set->cells + i].class_index].deviation <= NOTHING;
    return count;
}

/* The sum of deviations when `labels` labels go, before it is known whose; and for each class what losing one would change. */
static double deviations_without(struct partition *partition, const struct pool *pool, uint32_t labels)
{
    double total = (double)(pool->label_total - labels);
    double sum = 0;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        uint32_t kept = pool->classes[i].kept;
        if (!kept)
            continue;
        double due = partition[i].share * total;
        double now = fabs(kept - due);
        sum += now;
        partition[i].without = (kept > 1 ? fabs(kept - 1 - due) : 0) - now;
    }
    return sum;
}

static uint32_t first_position(const struct pool *pool, const struct set *set)
{
    uint32_t first = OCDM_NONE;
    for (uint32_t node = set->first; node != OCDM_NONE; node = ocdm__members_after(pool->nodes, node))
        first = pool->nodes[node].position < first ? pool->nodes[node].position : first;
    return first;
}

/* Of the sets that carry a class, those that have the fewest classes in need. */
struct candidates {
    const uint32_t *set;
    uint32_t count;
    uint32_t most_labels;
};

static struct candidates find_candidates(struct partitions *partitions, const struct pool *pool, const struct class *class)
{
    struct candidates found = {partitions->candidates, 0, 0};
    uint32_t fewest = OCDM_NONE;
    for (uint32_t i = 0; i < class->list_count; i++) {
        uint32_t number = pool->cells[pool->lists[class->list + i].cell].set;
        uint32_t in_need = classes_in_need(partitions->classes, pool, &pool->sets[number]);
        if (in_need > fewest)
            continue;
        if (in_need < fewest)
            found.count = found.most_labels = 0;
        fewest = in_need;
        partitions->candidates[found.count++] = number;
        uint32_t labels = pool->sets[number].cardinality;
        found.most_labels = labels > found.most_labels ? labels : found.most_labels;
    }
    return found;
}

static double deviations_left(const struct partition *partition, const struct pool *pool, const struct set *set, double base)
{
    for (uint32_t i = 0; i < set->cardinality; i++)
        base += partition[pool->cells[set->cells + i].class_index].without;
    return base;
}

/* The first position among the candidates that leave at most `bound`; lowers `least` to what the best one leaves. Sets of one
 * cardinality after the other, so that the work over all classes is done once for each. */
static uint32_t first_within(struct partition *partition, const struct pool *pool, const struct candidates *candidates,
                             double bound, double *least)
{
    uint32_t first = OCDM_NONE;
    for (uint32_t labels = 1; labels <= candidates->most_labels; labels++) {
        double base = 0;
        bool measured = false;
        for (uint32_t i = 0; i < candidates->count; i++) {
            const struct set *set = &pool->sets[candidates->set[i]];
            if (set->cardinality != labels)
                continue;
            if (!measured)
                base = deviations_without(partition, pool, labels);
            measured = true;
            double left = deviations_left(partition, pool, set, base);
            *least = left < *least ? left : *least;
            uint32_t position = left <= bound ? first_position(pool, set) : OCDM_NONE;
            first = position < first ? position : first;
        }
    }
    return first;
}

static uint32_t choose_victim(struct partitions *partitions, const struct pool *pool, uint32_t class_index)
{
    struct candidates candidates = find_candidates(partitions, pool, &pool->classes[class_index]);
    double least = HUGE_VAL;
    first_within(partitions->classes, pool, &candidates, -1, &least);
    return first_within(partitions->classes, pool, &candidates, least + NOTHING, &least);
}

static uint32_t choose(void *state, const ocdm_memory *memory)
{
    struct partition *partition = ((struct partitions *)state)->classes;
    const struct pool *pool = &memory->pool;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    if (!count)
        return OCDM_NONE;
    ocdm__random random = ocdm__decision_random(memory);
    if (ocdm__random_unit(&random) >= chance_to_enter(partition, memory, offered, count))
        return OCDM_NONE;
    if (!pool->label_total)
        return ocdm__any_at_all(pool, &random);
    uint32_t class_index = draw_class(partition, pool, &random);
    return choose_victim(state, pool, class_index);
}

static ocdm_status replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)sample;
    (void)error;
    *slot = choose(state, memory);
    return OCDM_OK;
}

/* Sample-out without a sample that comes in: when the memory is made smaller. */
static ocdm_status sample_out(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    if (memory->pool.label_total == 0)
        *slot = ocdm__any_at_all(&memory->pool, &random);
    else
        *slot = choose_victim(state, &memory->pool, draw_class(((struct partitions *)state)->classes, &memory->pool, &random));
    return OCDM_OK;
}

static ocdm_status save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                        ocdm_error *error)
{
    (void)error;
    const struct partitions *partitions = state;
    *size = (size_t)memory->pool.class_count * sizeof(double);
    for (size_t i = 0; i < memory->pool.class_count && room >= *size; i++) {
        double share = i < partitions->room ? partitions->classes[i].share : -1;
        ocdm__put_double(bytes + i * sizeof share, share);
    }
    return OCDM_OK;
}

static ocdm_status load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
{
    struct partitions *partitions = state;
    if (size != (size_t)memory->pool.class_count * sizeof(double))
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state has %zu bytes, not eight a class", size);
    ocdm_status status = reserve(partitions, memory->pool.class_count, error);
    for (uint32_t i = 0; status == OCDM_OK && i < memory->pool.class_count; i++) {
        double share = ocdm__get_double(bytes + i * sizeof share);
        if (!(share == -1 || (share >= 0 && share <= 1)) || (memory->pool.classes[i].kept && share < 0))
            return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's share of class number %lu is not one", (unsigned long)i);
        partitions->classes[i].share = share;
        if (memory->pool.classes[i].seen)
            partitions->classes[i].power = power_of(memory, &memory->pool.classes[i]);
    }
    return status;
}

const ocdm_policy ocdm__policy_prs = {
    .size = sizeof(ocdm_policy),
    .name = "prs",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .replace = replace,
    .remove = sample_out,
    .seen = update_shares,
    .save = save,
    .load = load,
};
