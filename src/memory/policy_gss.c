/*
 * GSS-Greedy (Aljundi, Lin, Goujaud, Bengio 2019): keep samples whose gradients point different ways.
 *
 * A sample's score is c = 1 + the largest cosine between its gradient and those of up to COMPARED samples of memory, drawn
 * once a batch; it stays with the sample as C_i. While there is room every sample is stored. Once the memory is full, a batch
 * whose mean gradient scores 1 or more adds nothing new and passes by; of any other, each sample draws slot i with probability
 * C_i / sum C and takes it with probability C_i / (C_i + c).
 *
 * `gss` is the algorithm of the authors' paper. `gss-released` differs where their published code does: a batch is compared
 * with the mean gradients of up to COMPARED disjoint groups of GROUP samples of memory; what a memory that is not full has no
 * room for is dropped; each sample of a batch that a full memory takes is offered one slot, all different, drawn by C_i - min
 * C.
 *
 * Gradients are the caller's business (ocdm_memory_set_similarity): what is here sees cosines only, and labels not at all.
 * Scores are whole multiples of 2^-32, so that their sum can be kept up to date without drift and both draws are exact.
 */
#include "memory/policies.h"

#include "base/bytes.h"
#include "memory/memory.h"

#define ONE 0x1p32 /* the score 1; the sum of 2^31 - 1 scores of at most 2 still fits 64 bits */

/* What every sample of a batch, and the batch, scores when there is nothing to compare with: the cosine 0.1. */
#define FIRST_SCORE ((uint64_t)(1.1 * ONE + 0.5))

/* The most samples of the memory, or groups, that a batch is compared with, and the size of a group. */
#define COMPARED 10u
#define GROUP 10u

struct gss {
    uint64_t *score; /* C_i by slot, 0 where none is held */
    uint32_t room;
    uint32_t held;     /* slots in use */
    uint64_t total;    /* sum C */
    double *cosine;    /* of the batch, by item */
    uint64_t *offered; /* c by item */
    uint32_t batch_room;
    bool takes; /* whether this batch may replace samples */
    bool released;
    uint64_t *weight; /* released: by slot, C_i - min C, or DRAWN */
    uint32_t *victim; /* released: by item, the slot that it is offered */
};

#define DRAWN UINT64_MAX

/* ---- room ----------------------------------------------------------------------------------------------------------- */

/* Scores beyond those held are 0, so that sums over all of them need no bound. */
static ocdm_status reserve_slots(struct gss *gss, uint32_t count, ocdm_error *error)
{
    if (count <= gss->room)
        return OCDM_OK;
    bool failed = false;
    gss->score = ocdm__grown(gss->score, count, sizeof *gss->score, &failed);
    if (gss->released)
        gss->weight = ocdm__grown(gss->weight, count, sizeof *gss->weight, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the policy's state");
    memset(gss->score + gss->room, 0, (size_t)(count - gss->room) * sizeof *gss->score);
    gss->room = count;
    return OCDM_OK;
}

/* For each item of a batch: its cosine and its score, and for `gss-released` the slot that it is offered. */
static ocdm_status reserve_batch(struct gss *gss, uint32_t count, ocdm_error *error)
{
    if (count <= gss->batch_room)
        return OCDM_OK;
    bool failed = false;
    gss->cosine = ocdm__grown(gss->cosine, count, sizeof *gss->cosine, &failed);
    gss->offered = ocdm__grown(gss->offered, count, sizeof *gss->offered, &failed);
    if (gss->released)
        gss->victim = ocdm__grown(gss->victim, count, sizeof *gss->victim, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the policy's state");
    gss->batch_room = count;
    return OCDM_OK;
}

static void gss_destroy(void *state)
{
    struct gss *gss = state;
    OCDM_RELEASE(gss->score, gss->cosine, gss->offered, gss->weight, gss->victim, gss);
}

/* Room for the whole memory at once: `begin` is the only other place that may fail. */
static ocdm_status gss_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    struct gss *gss;
    OCDM_TRY(ocdm__new(&gss, 1, sizeof *gss, "the policy's state", error));
    gss->released = memory->policy.traits & OCDM_AS_RELEASED;
    ocdm_status status = reserve_slots(gss, memory->pool.reserved, error);
    OCDM_THEN(status, reserve_batch(gss, memory->batch_room, error));
    if (status == OCDM_OK)
        *state = gss;
    else
        gss_destroy(gss);
    return status;
}

/* ---- a batch is compared -------------------------------------------------------------------------------------------- */

/* Whom the batch is compared with: up to COMPARED samples; or as many groups as there are whole ones, one at least. */
static void name_slots(const struct gss *gss, const ocdm_memory *memory, ocdm_comparison *comparison, uint32_t *slot,
                       ocdm__random *random)
{
    uint32_t size = memory->pool.size, group = !gss->released ? 1 : size < GROUP ? size : GROUP;
    uint32_t groups = group > 0 && size / group < COMPARED ? size / group : COMPARED;
    uint32_t count = size < groups * group ? size : groups * group;
    /* Floyd's subset, as in ocdm_memory_draw. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = size - count + i, chosen = (uint32_t)ocdm__random_below(random, (uint64_t)last + 1);
        for (uint32_t k = 0; k < i; k++)
            chosen = slot[k] == chosen ? last : chosen; /* `last` is in no place before */
        slot[i] = chosen;
    }
    if (gss->released) {
        /* Floyd's subset is not in random order, and groups are to be random: Fisher and Yates. */
        ocdm__random_shuffle(random, slot, count);
    }
    uint32_t sorted = gss->released ? group : count;
    for (uint32_t first = 0; first < count; first += sorted)
        ocdm__sort(slot + first, sorted);
    comparison->slot = slot;
    comparison->slot_count = count;
    comparison->group_size = group;
}

/* Draws a slot, each with probability weight / total; any that was not drawn yet when no weight is left. */
static uint32_t draw_victim(struct gss *gss, uint32_t undrawn, uint64_t *total, ocdm__random *random)
{
    uint64_t aim = ocdm__random_below(random, *total ? *total : undrawn);
    for (uint32_t slot = 0;; slot++) {
        if (gss->weight[slot] == DRAWN)
            continue;
        uint64_t weight = *total ? gss->weight[slot] : 1;
        if (aim < weight) {
            *total -= gss->weight[slot];
            gss->weight[slot] = DRAWN;
            return slot;
        }
        aim -= weight;
    }
}

/* Asks for no more than the decision needs: the gradients of single items only if the batch may enter. */
static ocdm_status compare(struct gss *gss, const ocdm_memory *memory, ocdm_comparison *comparison, ocdm_error *error)
{
    double batch_cosine = 0;
    uint32_t space = memory->options.capacity - memory->pool.size;
    bool may_take = gss->released ? space == 0 : comparison->count > space;
    comparison->item_cosine = gss->cosine;
    comparison->batch_cosine = may_take ? &batch_cosine : NULL;
    comparison->batch_first = space == 0;
    OCDM_TRY(ocdm_memory_compare(memory, comparison, error));
    gss->takes = batch_cosine < 0;
    bool items = gss->takes || !comparison->batch_first;
    for (size_t i = 0; items && i < comparison->count; i++) {
        double cosine = gss->cosine[i];
        double score = cosine < -1 ? 0 : cosine > 1 ? 2 : 1 + cosine;
        gss->offered[i] = (uint64_t)(score * ONE + 0.5);
    }
    return OCDM_OK;
}

/* Everything random about a batch is decided here, before the first sample is offered. */
static ocdm_status gss_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    struct gss *gss = state;
    uint32_t slot[COMPARED * GROUP];
    ocdm_status status = reserve_slots(gss, memory->pool.reserved, error);
    OCDM_THEN(status, reserve_batch(gss, (uint32_t)count, error));
    if (status != OCDM_OK)
        return status;
    /*
     * Numbers for what is decided once a batch: by how many samples had arrived before it, under a base that no decision about
     * a sample uses, so that they never shift what is replayed.
     */
    ocdm__random random = ocdm__random_stream(ocdm__random_at(memory->decision_base, memory->arrived), 0);
    ocdm_comparison comparison = {.size = sizeof comparison, .batch = batch, .count = count};
    name_slots(gss, memory, &comparison, slot, &random);
    gss->takes = false;
    for (size_t i = 0; i < count; i++)
        gss->offered[i] = FIRST_SCORE;
    if (count > 0 && comparison.slot_count > 0)
        status = compare(gss, memory, &comparison, error);
    if (status == OCDM_OK && gss->takes && gss->released) {
        /* One slot for each item, all different; none for items beyond the size of the memory. */
        uint32_t size = memory->pool.size;
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < size; i++)
            least = gss->score[i] < least ? gss->score[i] : least;
        for (uint32_t i = 0; i < size; i++)
            gss->weight[i] = gss->score[i] - least;
        uint64_t total = gss->total - least * size;
        for (uint32_t i = 0; i < count; i++)
            gss->victim[i] = i < size ? draw_victim(gss, size - i, &total, &random) : OCDM_NONE;
    }
    return status;
}

/* ---- a sample is offered -------------------------------------------------------------------------------------------- */

/* Slot i with probability C_i / sum C; any slot when all scores are 0. */
static uint32_t draw_by_score(const struct gss *gss, uint32_t size, ocdm__random *random)
{
    if (!gss->total)
        return (uint32_t)ocdm__random_below(random, size);
    uint64_t aim = ocdm__random_below(random, gss->total);
    uint32_t slot = 0;
    for (; aim >= gss->score[slot]; slot++)
        aim -= gss->score[slot];
    return slot;
}

/* Whether the drawn slot yields is the last word; nothing about labels is asked. */
static ocdm_status gss_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                               ocdm_error *error)
{
    (void)sample;
    (void)error;
    const struct gss *gss = state;
    *slot = OCDM_NONE;
    if (!gss->takes)
        return OCDM_OK;
    ocdm__random random = ocdm__decision_random(memory);
    uint32_t drawn = gss->released ? gss->victim[memory->item] : draw_by_score(gss, memory->pool.size, &random);
    if (drawn == OCDM_NONE)
        return OCDM_OK;
    /* It yields with probability C_i / (C_i + c), one half when both are 0: equal scores have equal chances. */
    uint64_t held = gss->score[drawn], offered = gss->offered[memory->item];
    if (held + offered == 0)
        held = offered = 1;
    if (ocdm__random_below(&random, held + offered) < held)
        *slot = drawn;
    return OCDM_OK;
}

/* A sample that was stored brings its score to its slot. */
static void keep_score(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)sample;
    struct gss *gss = state;
    uint32_t node = memory->item_node[memory->item];
    if (node == OCDM_NONE)
        return;
    uint32_t position = memory->pool.nodes[node].position;
    uint64_t *score = &gss->score[position];
    gss->held = position < gss->held ? gss->held : position + 1;
    gss->total += gss->offered[memory->item] - *score;
    *score = gss->offered[memory->item];
}

/* ---- samples leave -------------------------------------------------------------------------------------------------- */

/* The sample in the last slot takes the place of the one that goes. */
static void drop_score(struct gss *gss, uint32_t slot)
{
    uint32_t last = --gss->held;
    gss->total -= gss->score[slot];
    gss->score[slot] = gss->score[last];
    gss->score[last] = 0;
}

/* When the memory is made smaller, samples go that are like others. */
static ocdm_status remove_by_score(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    *slot = draw_by_score(state, memory->pool.size, &random);
    drop_score(state, *slot);
    return OCDM_OK;
}

static void drop_forgotten(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    struct gss *gss = state;
    if (status == OCDM_OK && gss->held > memory->pool.size)
        drop_score(gss, change->left[0].slot);
}

/* ---- files ---------------------------------------------------------------------------------------------------------- */

/* Scores as doubles, which have them exactly: multiples of 2^-32 up to 2. */
static ocdm_status gss_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                            ocdm_error *error)
{
    (void)error;
    const struct gss *gss = state;
    *size = (size_t)memory->pool.size * sizeof(double);
    for (uint32_t i = 0; i < memory->pool.size && room >= *size; i++)
        ocdm__put_double(bytes + i * sizeof(double), (double)gss->score[i] / ONE);
    return OCDM_OK;
}

/* A score that is no multiple of 2^-32 was not written by gss_save. */
static ocdm_status gss_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
{
    struct gss *gss = state;
    if (size != (size_t)memory->pool.size * sizeof(double))
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state has %zu bytes, not eight a sample", size);
    ocdm_status status = reserve_slots(gss, memory->pool.reserved, error);
    gss->held = memory->pool.size;
    for (uint32_t i = 0; status == OCDM_OK && i < memory->pool.size; i++) {
        double score = ocdm__get_double(bytes + i * sizeof score);
        bool in_range = score >= 0 && score <= 2;
        gss->score[i] = in_range ? (uint64_t)(score * ONE) : 0;
        if (!in_range || (double)gss->score[i] / ONE != score)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's score of slot %lu is not one", (unsigned long)i);
        gss->total += gss->score[i];
    }
    return status;
}

/* clang-format off */
#define GSS(its_name, its_traits)                                                                                              \
    {.size = sizeof(ocdm_policy), .name = (its_name), .traits = (its_traits), .create = gss_create, .destroy = gss_destroy,            \
     .begin = gss_begin, .replace = gss_replace, .remove = remove_by_score, .seen = keep_score, .save = gss_save, .load = gss_load,            \
     .end = drop_forgotten}
/* clang-format on */

const ocdm_policy ocdm__policy_gss = GSS("gss", OCDM_NEEDS_GRADIENTS);
const ocdm_policy ocdm__policy_gss_released = GSS("gss-released", OCDM_NEEDS_GRADIENTS | OCDM_AS_RELEASED);
