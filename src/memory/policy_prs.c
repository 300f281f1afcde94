/*
 * PRS: partitioning reservoir sampling (Kim, Jeong, Kim 2020). Per sample, once the memory is full: sample-in decides by chance
 * whether it enters; sample-out draws a class that is over its share and evicts, of its samples, one whose loss hurts no class
 * that is under its share.
 *
 * Shares p_i = n_i^rho / sum_j n_j^rho run over the classes in memory; a class that emptied keeps its last share.
 *
 * Sums of deviations run over the classes in memory, in class order.
 *
 * `prs` is the rule of the authors' paper. `prs-released` differs where their published code does: a class that was seen but
 * never stored has rate 0, not 1, in sample-in; and the search for the sample to evict starts with the first candidate and a
 * best of M, so that the first candidate goes whenever no candidate leaves a sum of deviations below M.
 */
#include "memory/policies.h"

#include "base/bytes.h"
#include "base/logarithm.h"
#include "memory/pool.h"

/* Below this a difference is rounding: a deviation this small is 0, and two sums of deviations this near tie. */
#define NOTHING 0x1p-30

/* A class as PRS sees it. */
struct partition {
    double share; /* p_i when it was last needed: of an emptied class, its last one; negative if it never had one */
    double power; /* n_i^rho */
    bool listed;  /* has a sample; in `present` */
};

/* Classes with equal m and n have equal deviations: a value of e^x that is needed again. */
#define EXPONENTIALS 256
struct exponential {
    double x;
    double value;
};

struct partitions {
    struct partition *classes; /* by class index */
    uint32_t room;
    uint32_t *present; /* the classes in memory, ascending */
    uint32_t present_count;
    bool emptied;         /* some class in `present` may have no sample any more */
    double total;         /* the sum of the powers of the classes in memory */
    bool released;        /* the rule of the published code: see the top */
    uint32_t *candidates; /* sets: who may lose a sample */
    uint32_t candidate_room;
    struct exponential exponentials[EXPONENTIALS]; /* by a hash of x */
};

/* e^0 is 1: an empty entry of the table of exponentials is right too. */
static ocdm_status prs_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    struct partitions *partitions = ocdm__allocate(1, sizeof *partitions);
    *state = partitions;
    if (!partitions)
        return ocdm__fail_memory(error, "the policy's state");
    partitions->released = memory->policy.traits & OCDM_AS_RELEASED;
    for (int i = 0; i < EXPONENTIALS; i++)
        partitions->exponentials[i] = (struct exponential){0, 1};
    return OCDM_OK;
}

static void prs_destroy(void *state)
{
    struct partitions *partitions = state;
    OCDM_RELEASE(partitions->classes, partitions->present, partitions->candidates, partitions);
}

/* No share is marked by -1; powers are set when a class is seen. */
static ocdm_status reserve(struct partitions *partitions, uint32_t count, ocdm_error *error)
{
    if (count <= partitions->room)
        return OCDM_OK;
    uint32_t room = count * 2 + 62;
    bool failed = false;
    partitions->present = ocdm__grown(partitions->present, room, sizeof *partitions->present, &failed);
    partitions->classes = ocdm__grown(partitions->classes, room, sizeof *partitions->classes, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the policy's state");
    for (uint32_t i = partitions->room; i < room; i++)
        partitions->classes[i] = (struct partition){.share = -1};
    partitions->room = room;
    return OCDM_OK;
}

/* Room for all classes of the batch and for as many candidates as there can be label sets. */
static ocdm_status prs_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
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

/* Puts a class on the list of those in memory. New classes have the highest indices, so few entries move. */
static void list_class(struct partitions *partitions, uint32_t class_index)
{
    uint32_t *present = partitions->present;
    uint32_t i = partitions->present_count++;
    for (; i && present[i - 1] > class_index; i--)
        present[i] = present[i - 1];
    present[i] = class_index;
    partitions->classes[class_index].listed = true;
}

/* Takes emptied classes off the list. */
static void unlist_emptied(struct partitions *partitions, const struct pool *pool)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < partitions->present_count; i++) {
        uint32_t class_index = partitions->present[i];
        if (pool->classes[class_index].kept)
            partitions->present[count++] = class_index;
        else
            partitions->classes[class_index].listed = false;
    }
    partitions->present_count = count;
    partitions->emptied = false;
}

/* Adds up the powers in class order; with rho = 0 they are 1. */
static void add_up_powers(struct partitions *partitions, const ocdm_memory *memory)
{
    double total = memory->options.rho == 0 ? partitions->present_count : 0;
    for (uint32_t i = 0; memory->options.rho != 0 && i < partitions->present_count; i++)
        total += partitions->classes[partitions->present[i]].power;
    partitions->total = total;
}

/* n has changed for the sample's classes, and m perhaps: the shares of all classes in memory follow. */
static void update_shares(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)sample;
    struct partitions *partitions = state;
    const struct pool *pool = &memory->pool;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct class *class = &pool->classes[offered[i]];
        partitions->classes[offered[i]].power = power_of(memory, class);
        if (class->kept && !partitions->classes[offered[i]].listed)
            list_class(partitions, offered[i]);
    }
    if (partitions->emptied)
        unlist_emptied(partitions, pool);
    add_up_powers(partitions, memory);
}

/* p_i, negative for a class that never had a share. */
static double share_of(const struct partitions *partitions, const struct pool *pool, uint32_t class_index)
{
    const struct partition *partition = &partitions->classes[class_index];
    if (!pool->classes[class_index].kept)
        return partition->share;
    return partition->power / partitions->total;
}

/* r_i = min(1, M p_i / n_i). Of a class that never had a share 1; 0 by the published code if it was seen. */
static double rate(const struct partitions *partitions, const ocdm_memory *memory, uint32_t class_index)
{
    double share = share_of(partitions, &memory->pool, class_index);
    if (share < 0)
        return partitions->released && memory->pool.classes[class_index].seen > 0 ? 0 : 1;
    double rate = (double)memory->options.capacity * share / (double)memory->pool.classes[class_index].seen;
    return rate < 1 ? rate : 1;
}

/* s: the rates, weighted by a softmax of -n_i, so that the rarest class of the sample decides. */
static double chance_to_enter(const struct partitions *partitions, const ocdm_memory *memory, const uint32_t *offered,
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
        chance += weight * rate(partitions, memory, offered[i]);
    }
    return chance / total;
}

/* delta_i = m_i - p_i S. */
static double deviation(const struct partitions *partitions, const struct pool *pool, uint32_t class_index)
{
    double due = partitions->classes[class_index].share * (double)pool->label_total;
    return (double)pool->classes[class_index].kept - due;
}

/* The table is small enough to stay in the cache; entries are replaced, never searched. */
static double exponential(struct partitions *partitions, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    struct exponential *known = &partitions->exponentials[bits * OCDM__GOLDEN_STEP >> 56];
    if (known->x != x)
        *known = (struct exponential){x, ocdm__exp(x)};
    return known->value;
}

/* Class g from softmax(delta): plain sums over the classes in memory in class order. */
static uint32_t draw_class(struct partitions *partitions, const struct pool *pool, ocdm__random *random)
{
    const uint32_t *present = partitions->present;
    double most = -HUGE_VAL, total = 0, sum = 0;
    for (uint32_t i = 0; i < partitions->present_count; i++) {
        double delta = deviation(partitions, pool, present[i]);
        most = delta > most ? delta : most;
    }
    for (uint32_t i = 0; i < partitions->present_count; i++)
        total += exponential(partitions, deviation(partitions, pool, present[i]) - most);
    double aim = ocdm__random_unit(random) * total;
    uint32_t last = OCDM_NONE;
    for (uint32_t i = 0; !(sum > aim) && i < partitions->present_count; i++) {
        last = present[i];
        sum += exponential(partitions, deviation(partitions, pool, last) - most);
    }
    return last;
}

/* The sum of deviations when `labels` labels go, before it is known whose. NOTHING covers its rounding. */
static double deviations_without(const struct partitions *partitions, const struct pool *pool, uint32_t labels)
{
    double total = (double)(pool->label_total - labels);
    double sum = 0;
    for (uint32_t i = 0; i < partitions->present_count; i++) {
        uint32_t class_index = partitions->present[i];
        sum += fabs(pool->classes[class_index].kept - partitions->classes[class_index].share * total);
    }
    return sum;
}

/* Of the sets that carry a class, those that have the fewest classes in need. */
struct candidates {
    const uint32_t *set;
    uint32_t count;
    uint32_t most_labels;
};

/* The first position among the candidates that leave at most `bound`; lowers `least` to what the best one leaves. Sets of one
 * cardinality after the other, so that the work over all classes is done once for each. */
static uint32_t first_within(const struct partitions *partitions, const struct pool *pool, const struct candidates *candidates,
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
                base = deviations_without(partitions, pool, labels);
            measured = true;
            /* The sum of deviations without a sample of the set. */
            double left = base, total = (double)(pool->label_total - labels);
            for (uint32_t k = 0; k < labels; k++) {
                uint32_t class_index = pool->cells[set->cells + k].class_index;
                uint32_t kept = pool->classes[class_index].kept;
                double due = partitions->classes[class_index].share * total;
                left += (kept > 1 ? fabs(kept - 1 - due) : 0) - fabs(kept - due);
            }
            *least = left < *least ? left : *least;
            uint32_t node = left <= bound ? set->first : OCDM_NONE;
            for (; node != OCDM_NONE; node = ocdm__members_after(pool->nodes, node))
                first = pool->nodes[node].position < first ? pool->nodes[node].position : first;
        }
    }
    return first;
}

/* The candidate whose loss leaves the least sum of deviations; of equal ones the one that stands first in memory. */
static uint32_t choose_victim(struct partitions *partitions, const ocdm_memory *memory, uint32_t class_index)
{
    const struct pool *pool = &memory->pool;
    struct candidates candidates = {partitions->candidates, 0, 0};
    uint32_t fewest = OCDM_NONE;
    for (uint32_t i = 0; i < pool->classes[class_index].list.count; i++) {
        uint32_t number = pool->cells[pool->classes[class_index].list.cells[i]].set;
        const struct set *set = &pool->sets[number];
        /* |Y n Q|: how many classes of the set are not over their share. Lacking most of Q means having fewest of it. */
        uint32_t in_need = 0;
        for (uint32_t k = 0; k < set->cardinality; k++)
            in_need += deviation(partitions, pool, pool->cells[set->cells + k].class_index) <= NOTHING;
        if (in_need > fewest)
            continue;
        if (in_need < fewest)
            candidates.count = candidates.most_labels = 0;
        fewest = in_need;
        partitions->candidates[candidates.count++] = number;
        candidates.most_labels = set->cardinality > candidates.most_labels ? set->cardinality : candidates.most_labels;
    }

    double least = HUGE_VAL;
    first_within(partitions, pool, &candidates, -1, &least);
    if (partitions->released && least >= memory->options.capacity - NOTHING)
        return first_within(partitions, pool, &candidates, HUGE_VAL, &least);
    return first_within(partitions, pool, &candidates, least + NOTHING, &least);
}

/* Sample-out. */
static ocdm_status choose_slot(struct partitions *partitions, const ocdm_memory *memory, ocdm__random *random, uint32_t *slot)
{
    if (!memory->pool.label_total) {
        *slot = ocdm__any_at_all(&memory->pool, random);
        return OCDM_OK;
    }
    const struct pool *pool = &memory->pool;
    /* The shares of the classes in memory are divided out here, before they are needed many times. */
    for (uint32_t i = 0; i < partitions->present_count; i++) {
        struct partition *partition = &partitions->classes[partitions->present[i]];
        partition->share = partition->power / partitions->total;
    }
    *slot = choose_victim(partitions, memory, draw_class(partitions, pool, random));
    /* The sample goes: its classes may empty, and then keep their last shares. */
    const struct set *set = &pool->sets[pool->nodes[pool->node_at[*slot]].set];
    for (uint32_t i = 0; i < set->cardinality; i++)
        partitions->emptied = partitions->emptied || pool->classes[pool->cells[set->cells + i].class_index].kept == 1;
    return OCDM_OK;
}

/* Sample-in, then sample-out. A sample without labels never enters a full memory. */
static ocdm_status prs_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                               ocdm_error *error)
{
    (void)sample;
    (void)error;
    struct partitions *partitions = state;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    ocdm__random random = ocdm__decision_random(memory);
    *slot = OCDM_NONE;
    if (!count || ocdm__random_unit(&random) >= chance_to_enter(partitions, memory, offered, count))
        return OCDM_OK;
    return choose_slot(partitions, memory, &random, slot);
}

/* Samples left without one coming in: the classes that emptied keep their last share, and all other shares follow. */
static void refresh_shares(struct partitions *partitions, const ocdm_memory *memory)
{
    const struct pool *pool = &memory->pool;
    for (uint32_t i = 0; i < pool->class_count && i < partitions->room; i++) {
        struct partition *partition = &partitions->classes[i];
        if (!partition->listed || pool->classes[i].kept)
            continue;
        partition->share = partition->power / partitions->total;
        partition->listed = false;
    }
    unlist_emptied(partitions, pool);
    add_up_powers(partitions, memory);
}

/* After forget and resize. */
static void prs_end(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    if (status == OCDM_OK && change->stored == 0 && change->left_count > 0 && change->left[0].item == OCDM_NONE)
        refresh_shares(state, memory);
}

/* Sample-out without a sample that comes in: when the memory is made smaller. */
static ocdm_status sample_out(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    if (memory->pool.label_total > 0)
        refresh_shares(state, memory);
    return choose_slot(state, memory, &random, slot);
}

/* The share of each class, -1 for none. Powers follow from the counts. */
static ocdm_status prs_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                            ocdm_error *error)
{
    (void)error;
    const struct partitions *partitions = state;
    *size = (size_t)memory->pool.class_count * sizeof(double);
    for (uint32_t i = 0; i < memory->pool.class_count && room >= *size; i++) {
        double share = i < partitions->room ? share_of(partitions, &memory->pool, i) : -1;
        ocdm__put_double(bytes + i * sizeof share, share);
    }
    return OCDM_OK;
}

/* The list of present classes and the powers are made anew from the memory. */
static ocdm_status prs_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
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
        if (memory->pool.classes[i].kept)
            list_class(partitions, i);
    }
    add_up_powers(partitions, memory);
    return status;
}

/* clang-format off */
#define PRS(its_name, its_traits)                                                                                              \
    {.size = sizeof(ocdm_policy), .name = (its_name), .traits = (its_traits), .create = prs_create, .destroy = prs_destroy,            \
     .begin = prs_begin, .replace = prs_replace, .remove = sample_out, .seen = update_shares, .save = prs_save, .load = prs_load, .end = prs_end}
/* clang-format on */

const ocdm_policy ocdm__policy_prs = PRS("prs", 0);
const ocdm_policy ocdm__policy_prs_released = PRS("prs-released", OCDM_AS_RELEASED);
