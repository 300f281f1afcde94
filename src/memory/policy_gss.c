/*
 * GSS-Greedy (Aljundi, Lin, Goujaud, Bengio 2019): keep samples whose gradients point different ways.
 *
 * A sample's score is c = 1 + the largest cosine between its gradient and those of up to COMPARED samples of memory, drawn
 * once a batch; it stays with the sample as C_i. While there is room every sample is stored. Once the memory is full, a batch
 * whose mean gradient scores 1 or more adds nothing new and passes by; of any other, each sample draws slot i with probability
 * C_i / sum C and takes it with probability C_i / (C_i + c).
 *
 * Gradients are the caller's business (ocdm_memory_set_similarity): what is here sees cosines only, and labels not at all.
 * Scores are whole multiples of 2^-32, so that their sum can be kept up to date without drift and both draws are exact.
 */
#include "memory/policies.h"

#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "memory/memory.h"

#define ONE 0x1p32 /* the score 1; the sum of 2^31 - 1 scores of at most 2 still fits 64 bits */

/* What every sample of a batch, and the batch, scores when there is nothing to compare with: nearly as unlike as can be. */
#define FIRST_SCORE ((uint64_t)(0.1 * ONE + 0.5))

/* How many samples of memory a batch is compared with, at most. */
#define COMPARED 10u

struct gss {
    uint64_t *score; /* C_i by slot, 0 where none is held */
    uint32_t room;
    uint32_t held;     /* slots in use */
    uint64_t total;    /* sum C */
    double *cosine;    /* of the batch, by item */
    uint64_t *offered; /* c by item */
    uint32_t batch_room;
    bool takes; /* whether this batch may replace samples */
};

/* ---- room ----------------------------------------------------------------------------------------------------------- */

static ocdm_status reserve_slots(struct gss *gss, uint32_t count, ocdm_error *error)
{
    if (count <= gss->room)
        return OCDM_OK;
    uint64_t *score = ocdm__resize(gss->score, count, sizeof *score);
    if (!score)
        return ocdm__fail_memory(error, "the policy's state");
    memset(score + gss->room, 0, (size_t)(count - gss->room) * sizeof *score);
    gss->score = score;
    gss->room = count;
    return OCDM_OK;
}

static ocdm_status reserve_batch(struct gss *gss, uint32_t count, ocdm_error *error)
{
    if (count <= gss->batch_room)
        return OCDM_OK;
    bool failed = false;
    gss->cosine = ocdm__grown(gss->cosine, count, sizeof *gss->cosine, &failed);
    gss->offered = ocdm__grown(gss->offered, count, sizeof *gss->offered, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the policy's state");
    gss->batch_room = count;
    return OCDM_OK;
}

static void destroy(void *state)
{
    struct gss *gss = state;
    ocdm__release(gss->score);
    ocdm__release(gss->cosine);
    ocdm__release(gss->offered);
    ocdm__release(gss);
}

static ocdm_status create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    struct gss *gss = ocdm__allocate(1, sizeof *gss);
    if (!gss)
        return ocdm__fail_memory(error, "the policy's state");
    gss->room = memory->pool.reserved;
    gss->score = ocdm__allocate(gss->room, sizeof *gss->score);
    ocdm_status status = gss->score ? OCDM_OK : ocdm__fail_memory(error, "the policy's state");
    if (status == OCDM_OK)
        status = reserve_batch(gss, memory->options.batch, error);
    if (status == OCDM_OK)
        *state = gss;
    else
        destroy(gss);
    return status;
}

/* ---- a batch is compared -------------------------------------------------------------------------------------------- */

static bool among(const uint32_t *slot, uint32_t count, uint32_t chosen)
{
    for (uint32_t i = 0; i < count; i++)
        if (slot[i] == chosen)
            return true;
    return false;
}

/*
 * Floyd's subset, as ocdm_memory_draw has it. Its numbers are drawn by how many samples had arrived before the batch, under a
 * base that no decision about a sample uses, and never shift what is replayed.
 */
static uint32_t draw_slots(const ocdm_memory *memory, uint32_t *slot)
{
    uint32_t size = memory->pool.size;
    uint32_t wanted = size < COMPARED ? size : COMPARED;
    ocdm__random random = ocdm__random_stream(ocdm__random_at(memory->decision_base, memory->arrived), 0);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t last = size - wanted + i;
        uint32_t chosen = (uint32_t)ocdm__random_below(&random, (uint64_t)last + 1);
        slot[i] = among(slot, i, chosen) ? last : chosen;
    }
    ocdm__sort(slot, wanted);
    return wanted;
}

static uint64_t score_of(double cosine)
{
    double score = cosine < -1 ? 0 : cosine > 1 ? 2 : 1 + cosine;
    return (uint64_t)(score * ONE + 0.5);
}

static ocdm_status compare(struct gss *gss, const ocdm_memory *memory, ocdm_comparison *comparison, ocdm_error *error)
{
    double batch_cosine = 0;
    uint32_t space = memory->options.capacity - memory->pool.size;
    comparison->item_cosine = gss->cosine;
    comparison->batch_cosine = comparison->count > space ? &batch_cosine : NULL;
    comparison->batch_first = space == 0;
    ocdm_status status = ocdm_memory_compare(memory, comparison, error);
    if (status != OCDM_OK)
        return status;
    gss->takes = batch_cosine < 0;
    bool items = gss->takes || !comparison->batch_first;
    for (size_t i = 0; items && i < comparison->count; i++)
        gss->offered[i] = score_of(gss->cosine[i]);
    return OCDM_OK;
}

static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    struct gss *gss = state;
    uint32_t slot[COMPARED];
    ocdm_status status = reserve_slots(gss, memory->pool.reserved, error);
    if (status == OCDM_OK)
        status = reserve_batch(gss, (uint32_t)count, error);
    if (status != OCDM_OK)
        return status;
    ocdm_comparison comparison = {.size = sizeof comparison, .slot = slot, .batch = batch, .count = count};
    comparison.slot_count = draw_slots(memory, slot);
    if (count > 0 && comparison.slot_count > 0)
        return compare(gss, memory, &comparison, error);
    gss->takes = true;
    for (size_t i = 0; i < count; i++)
        gss->offered[i] = FIRST_SCORE;
    return OCDM_OK;
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

/* True with probability C_i / (C_i + c), one half when both are 0: equal scores have equal chances. */
static bool yields(uint64_t held, uint64_t offered, ocdm__random *random)
{
    if (!held && !offered)
        held = offered = 1;
    return ocdm__random_below(random, held + offered) < held;
}

static ocdm_status replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)sample;
    (void)error;
    const struct gss *gss = state;
    *slot = OCDM_NONE;
    if (!gss->takes)
        return OCDM_OK;
    ocdm__random random = ocdm__decision_random(memory);
    uint32_t drawn = draw_by_score(gss, memory->pool.size, &random);
    if (yields(gss->score[drawn], gss->offered[memory->item], &random))
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

static ocdm_status save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                        ocdm_error *error)
{
    (void)error;
    const struct gss *gss = state;
    *size = (size_t)memory->pool.size * sizeof(double);
    for (uint32_t i = 0; i < memory->pool.size && room >= *size; i++)
        ocdm__put_double(bytes + i * sizeof(double), (double)gss->score[i] / ONE);
    return OCDM_OK;
}

static ocdm_status load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
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

const ocdm_policy ocdm__policy_gss = {
    .size = sizeof(ocdm_policy),
    .name = "gss",
    .traits = OCDM_NEEDS_GRADIENTS,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .replace = replace,
    .remove = remove_by_score,
    .seen = keep_score,
    .save = save,
    .load = load,
    .end = drop_forgotten,
};
