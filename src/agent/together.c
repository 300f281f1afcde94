/*
 * An agent on several ranks. Rank 0 leads: it runs the whole program, and for each call of the agent that has work for more
 * than one process it broadcasts an order, which the others carry out with it. All ranks have the whole network, and after each
 * step the same weights, to the bit.
 *
 * A step's images are dealt to the ranks by lanes. Sums of batch norms are gathered image by image and added in the order of
 * the images by every rank. A rank adds the weight gradients of its lanes as far as the balanced tree of all lanes allows: into
 * the sums of the aligned blocks that its lanes consist of. Gradients travel in buckets of some layers each: every rank
 * receives the blocks' sums of its slice of a bucket, adds them in the order of the tree, and the slices are gathered by all.
 */
#include "agent/network.h"

#include <string.h>

#include "agent/agent_parts.h"
#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"

/* Floats after which a bucket is full: 25 MB. A slice of work of the threads. */
enum { BUCKET = 25000000 / 4, SLICE = 1 << 16, ALIGNED = 16 };

/* Room for the name of a model. */
enum { MODEL_NAME = 64 };

/* ---- who has which lanes ---------------------------------------------------------------------------------------------- */

static size_t first_lane(const struct ocdm__share *share, size_t rank)
{
    return share->lanes * rank / share->ranks->size;
}

static size_t largest_block(size_t first, size_t end, size_t most)
{
    size_t block = 1;
    while (2 * block <= most && first % (2 * block) == 0 && first + 2 * block <= end)
        block *= 2;
    return block;
}

/* Aligned blocks of at most `most` lanes that make up first to end - 1: their sizes unless that is NULL. Returns the number. */
static size_t list_blocks(size_t first, size_t end, size_t most, size_t *sizes)
{
    size_t count = 0;
    while (first < end) {
        size_t block = largest_block(first, end, most);
        if (sizes != NULL)
            sizes[count] = block;
        count++;
        first += block;
    }
    return count;
}

size_t ocdm__share_chunks(const struct ocdm__share *share, size_t chunk, size_t *sizes, unsigned char *merges)
{
    size_t count = list_blocks(share->first_lane, share->end_lane, chunk, sizes);
    if (sizes == NULL)
        return count;
    for (size_t lane = share->first_lane, first = 0, next = 0; next < count; first = next) {
        size_t end = lane + largest_block(lane, share->end_lane, share->lanes);
        while (lane < end)
            lane += sizes[next++];
        ocdm__tree_merges(sizes + first, next - first, merges + first);
    }
    return count;
}

/* Two images are computed together even if one of them belongs to another rank: the memory has room for both. */
void ocdm__share_deal(struct ocdm__share *share, const ocdm__ranks *ranks)
{
    share->ranks = ranks;
    share->first_lane = first_lane(share, ranks->rank);
    share->end_lane = first_lane(share, ranks->rank + 1);
    share->first = ocdm__lane_start(share, share->first_lane);
    share->end = ocdm__lane_start(share, share->end_lane);
    share->base = share->first / 2 * 2;
    share->room = (share->end + 1) / 2 * 2 < share->images ? (share->end + 1) / 2 * 2 : share->images;
    share->room -= share->base;
    share->given = share->first;
}

void ocdm__share_starts(const struct ocdm__share *share, size_t units)
{
    for (size_t r = 0; r <= share->ranks->size; r++)
        share->starts[r] = ocdm__lane_start(share, first_lane(share, r)) * units;
}

void ocdm__share_gather(const struct ocdm__share *share, void *all, size_t units)
{
    if (share->ranks == NULL)
        return;
    ocdm__share_starts(share, units);
    share->ranks->gather_all(all, share->starts);
}

/* ---- buckets ---------------------------------------------------------------------------------------------------------- */

enum stage { FILLING, EXCHANGING, GATHERING, DONE, TAKEN };

/* Layers first down to last. The sums of this rank's blocks are in the order of the ranks that receive them, a slice of each
 * block for each rank; later the gathered sum lies there, slice by slice. */
struct bucket {
    uint32_t first, last;
    size_t used, slice; /* floats */
    float *sums, *received;
    size_t sums_room, received_room;
    enum stage stage;
    ocdm__ranks_request request;
};

struct ocdm__buckets {
    struct bucket *buckets;
    size_t count;
    size_t *places;        /* of each layer: where its weights are in their bucket */
    uint32_t *bucket_of;   /* of each layer */
    size_t *sizes;         /* lanes of all blocks of all ranks, in order */
    size_t *blocks;        /* the number of blocks of each rank */
    size_t *own;           /* lanes of the blocks of this rank, among `sizes` */
    size_t *starts;        /* scratch, one for each rank and one more */
    const float **parts;   /* of all blocks */
    unsigned char *merges; /* of them */
    size_t block_count, lanes;
};

void ocdm__buckets_destroy(struct ocdm__buckets *buckets)
{
    if (buckets == NULL)
        return;
    for (size_t i = 0; i < buckets->count; i++) {
        ocdm__release_aligned(buckets->buckets[i].sums);
        ocdm__release_aligned(buckets->buckets[i].received);
    }
    void *const arrays[] = {buckets->buckets, buckets->places, buckets->bucket_of, buckets->sizes,
                            buckets->blocks,  buckets->starts, buckets->parts,     buckets->merges};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ocdm__release(arrays[i]);
    ocdm__release(buckets);
}

/* Layers in the order of the backward pass. */
static void fill_buckets(const ocdm__network *network, struct ocdm__buckets *buckets)
{
    struct bucket *bucket = NULL;
    for (uint32_t k = network->image_layers; k-- > 0;) {
        const struct ocdm__layer *layer = &network->layers[k];
        if (layer->node->kind != OCDM__NODE_CONV)
            continue;
        if (bucket == NULL || bucket->used >= BUCKET) {
            bucket = &buckets->buckets[buckets->count++];
            bucket->first = k;
        }
        buckets->bucket_of[k] = (uint32_t)(buckets->count - 1);
        buckets->places[k] = bucket->used;
        bucket->used += (network->parameters[layer->weight].room + ALIGNED - 1) / ALIGNED * ALIGNED;
        bucket->last = k;
    }
}

static ocdm_status create_buckets(ocdm__network *network, size_t ranks, ocdm_error *error)
{
    struct ocdm__buckets *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "gradients of several ranks");
    network->buckets = made;
    made->buckets = ocdm__allocate(network->image_layers, sizeof *made->buckets);
    made->places = ocdm__allocate(network->image_layers, sizeof *made->places);
    made->bucket_of = ocdm__allocate(network->image_layers, sizeof *made->bucket_of);
    made->blocks = ocdm__allocate(ranks, sizeof *made->blocks);
    made->starts = ocdm__allocate(ranks + 1, sizeof *made->starts);
    if (made->buckets == NULL || made->places == NULL || made->bucket_of == NULL || made->blocks == NULL ||
        made->starts == NULL)
        return ocdm__fail_memory(error, "gradients of several ranks");
    fill_buckets(network, made);
    return OCDM_OK;
}

static ocdm_status reserve_blocks(struct ocdm__buckets *buckets, size_t lanes, ocdm_error *error)
{
    if (lanes <= buckets->lanes)
        return OCDM_OK;
    ocdm__release(buckets->sizes);
    ocdm__release(buckets->parts);
    ocdm__release(buckets->merges);
    buckets->lanes = 0;
    buckets->sizes = ocdm__allocate(lanes, sizeof *buckets->sizes);
    buckets->parts = ocdm__allocate(lanes, sizeof *buckets->parts);
    buckets->merges = ocdm__allocate(lanes, sizeof *buckets->merges);
    if (buckets->sizes == NULL || buckets->parts == NULL || buckets->merges == NULL)
        return ocdm__fail_memory(error, "gradients of several ranks");
    buckets->lanes = lanes;
    return OCDM_OK;
}

/* The blocks of all ranks. */
static void plan_blocks(struct ocdm__buckets *buckets, const struct ocdm__share *share)
{
    buckets->block_count = 0;
    for (size_t r = 0; r < share->ranks->size; r++) {
        size_t *sizes = buckets->sizes + buckets->block_count;
        buckets->blocks[r] = list_blocks(first_lane(share, r), first_lane(share, r + 1), share->lanes, sizes);
        buckets->block_count += buckets->blocks[r];
        if (r == share->ranks->rank)
            buckets->own = sizes;
    }
    ocdm__tree_merges(buckets->sizes, buckets->block_count, buckets->merges);
}

static bool reserve_floats(float **block, size_t *room, size_t floats)
{
    if (floats <= *room)
        return true;
    ocdm__release_aligned(*block);
    *room = 0;
    *block = ocdm__allocate_aligned(floats, sizeof **block);
    if (*block != NULL)
        *room = floats;
    return *block != NULL;
}

ocdm_status ocdm__buckets_reserve(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error)
{
    size_t ranks = share->ranks->size;
    ocdm_status status = network->buckets != NULL ? OCDM_OK : create_buckets(network, ranks, error);
    if (status == OCDM_OK)
        status = reserve_blocks(network->buckets, share->lanes, error);
    if (status != OCDM_OK)
        return status;
    struct ocdm__buckets *buckets = network->buckets;
    plan_blocks(buckets, share);
    size_t own = buckets->blocks[share->ranks->rank];
    for (size_t i = 0; i < buckets->count; i++) {
        struct bucket *bucket = &buckets->buckets[i];
        bucket->slice = (bucket->used + ranks * ALIGNED - 1) / (ranks * ALIGNED) * ALIGNED;
        bucket->stage = FILLING;
        if (!reserve_floats(&bucket->sums, &bucket->sums_room, (own > 0 ? own : 1) * ranks * bucket->slice) ||
            !reserve_floats(&bucket->received, &bucket->received_room, buckets->block_count * bucket->slice))
            return ocdm__fail_memory(error, "gradients of several ranks");
    }
    return OCDM_OK;
}

/* The chunks' sums of part of a layer's weights into its bucket, one block after the other. */
void ocdm__buckets_add(const ocdm__network *network, const struct ocdm__share *share, uint32_t layer,
                       const struct ocdm__tree *chunks, size_t at, size_t count)
{
    const struct ocdm__buckets *buckets = network->buckets;
    const struct bucket *bucket = &buckets->buckets[buckets->bucket_of[layer]];
    size_t blocks = buckets->blocks[share->ranks->rank], part = 0, shift = buckets->places[layer];
    size_t chunk = ocdm__plan_lanes(network, share, &network->layers[layer]).chunk;
    for (size_t j = 0; j < blocks; j++) {
        size_t many_chunks = buckets->own[j] < chunk ? 1 : buckets->own[j] / chunk;
        const struct ocdm__tree block = {chunks->parts + part, chunks->merges + part, many_chunks};
        for (size_t i = at, many; i < at + count; i += many) {
            size_t rank = (shift + i) / bucket->slice, place = (shift + i) % bucket->slice;
            many = bucket->slice - place < at + count - i ? bucket->slice - place : at + count - i;
            ocdm__sum_tree(bucket->sums + (rank * blocks + j) * bucket->slice + place, &block, i, many);
        }
        part += many_chunks;
    }
}

/* ---- on their way ----------------------------------------------------------------------------------------------------- */

static void start_exchange(const struct ocdm__buckets *buckets, const struct ocdm__share *share, struct bucket *bucket)
{
    for (size_t r = 0; r < share->ranks->size; r++)
        buckets->starts[r] = buckets->blocks[r] * bucket->slice;
    bucket->request = share->ranks->start_exchange(bucket->sums, buckets->blocks[share->ranks->rank] * bucket->slice,
                                                   bucket->received, buckets->starts);
    bucket->stage = EXCHANGING;
}

struct slice {
    const struct ocdm__buckets *buckets;
    const struct bucket *bucket;
    float *sum;
};

static void add_slice(void *context, size_t item, unsigned slot)
{
    (void)slot;
    const struct slice *slice = context;
    const struct ocdm__tree tree = {slice->buckets->parts, slice->buckets->merges, slice->buckets->block_count};
    size_t at = item * SLICE, left = slice->bucket->slice - at;
    ocdm__sum_tree(slice->sum + at, &tree, at, left < SLICE ? left : SLICE);
}

/* This rank's slice of the sum, which all ranks gather. */
static void start_gather(ocdm__network *network, const struct ocdm__share *share, struct bucket *bucket)
{
    struct ocdm__buckets *buckets = network->buckets;
    struct slice slice = {buckets, bucket, bucket->sums + share->ranks->rank * bucket->slice};
    for (size_t i = 0; i < buckets->block_count; i++)
        buckets->parts[i] = bucket->received + i * bucket->slice;
    const struct ocdm__work work = {add_slice, &slice, (bucket->slice + SLICE - 1) / SLICE};
    ocdm__team_run(network->team, &work, 1);
    for (size_t r = 0; r <= share->ranks->size; r++)
        buckets->starts[r] = r * bucket->slice;
    bucket->request = share->ranks->start_gather_all(bucket->sums, buckets->starts);
    bucket->stage = GATHERING;
}

/* Advances a bucket if its exchange is over; with `wait`, waits for that first. */
static void advance(ocdm__network *network, const struct ocdm__share *share, struct bucket *bucket, bool wait)
{
    if (bucket->stage != EXCHANGING && bucket->stage != GATHERING)
        return;
    if (wait)
        share->ranks->wait(bucket->request);
    else if (!share->ranks->finished(bucket->request))
        return;
    if (bucket->stage == EXCHANGING)
        start_gather(network, share, bucket);
    else
        bucket->stage = DONE;
}

/* Buckets advance in order, so that all ranks start the same exchanges in the same order. */
void ocdm__buckets_advance(ocdm__network *network, const struct ocdm__share *share, bool wait)
{
    struct ocdm__buckets *buckets = network->buckets;
    for (size_t i = 0; i < buckets->count; i++) {
        advance(network, share, &buckets->buckets[i], wait);
        if (wait)
            advance(network, share, &buckets->buckets[i], wait);
        if (buckets->buckets[i].stage < GATHERING)
            return;
    }
}

void ocdm__buckets_close(ocdm__network *network, const struct ocdm__share *share, uint32_t layer)
{
    struct bucket *bucket = &network->buckets->buckets[network->buckets->bucket_of[layer]];
    if (bucket->last == layer)
        start_exchange(network->buckets, share, bucket);
}

bool ocdm__buckets_next(ocdm__network *network, uint32_t *first, uint32_t *last)
{
    for (size_t i = 0; i < network->buckets->count; i++) {
        struct bucket *bucket = &network->buckets->buckets[i];
        if (bucket->stage != DONE)
            continue;
        bucket->stage = TAKEN;
        *first = bucket->first;
        *last = bucket->last;
        return true;
    }
    return false;
}

const float *ocdm__buckets_sum(const ocdm__network *network, uint32_t layer)
{
    const struct ocdm__buckets *buckets = network->buckets;
    return buckets->buckets[buckets->bucket_of[layer]].sums + buckets->places[layer];
}

/* ---- orders ----------------------------------------------------------------------------------------------------------- */

enum order_kind { CREATE, DESTROY, WEIGHTS, TRAIN, USE, FEATURES, END };

/* Units of four bytes, as all exchanges. */
struct order {
    uint32_t kind;
    uint32_t number;        /* of the agent: how many were created before it */
    uint64_t count;         /* samples of a batch, or the version of the weights */
    uint64_t labels, steps; /* of a batch; of the agent */
    uint64_t fresh;         /* samples of the stream in a batch */
    uint64_t weighted;      /* 1: weights of classes come with the batch */
    uint64_t aged;          /* 1: ages of classes come with the batch */
    uint64_t dark;          /* floats of logits that come with the batch */
    uint64_t known;         /* bytes of known labels that come with it */
    ocdm__agent_settings settings;
};

static void send_order(const ocdm__ranks *ranks, struct order *order)
{
    ranks->broadcast(order, sizeof *order / sizeof(uint32_t));
}

static uint32_t agents_created;

bool ocdm__together_leads(const ocdm__agent *agent)
{
    return agent->ranks != NULL && agent->ranks->rank == 0 && !agent->settings.everywhere;
}

ocdm_status ocdm__together_begin(ocdm__agent *agent, const char *model, ocdm_error *error)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    char name[MODEL_NAME] = {0};
    if (ranks == NULL || agent->network->image_layers == 0 || agent->settings.fast)
        return OCDM_OK;
    agent->starts = ocdm__allocate(ranks->size + 1, sizeof *agent->starts);
    if (agent->starts == NULL)
        return ocdm__fail_memory(error, "parts of a batch");
    agent->ranks = ranks;
    if (!ocdm__together_leads(agent))
        return OCDM_OK;
    agent->number = agents_created++;
    struct order order = {.kind = CREATE, .number = agent->number, .settings = agent->settings};
    memcpy(name, model, strlen(model));
    send_order(ranks, &order);
    ranks->broadcast(name, sizeof name / sizeof(uint32_t));
    return OCDM_OK;
}

/* ---- the leader ------------------------------------------------------------------------------------------------------- */

/* Every value that a step changes, in the same order on all ranks. */
static void share_weights(ocdm__agent *agent)
{
    ocdm__network *network = agent->network;
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        agent->ranks->broadcast(parameter->value, parameter->room);
        if (parameter->trained) {
            agent->ranks->broadcast(parameter->mean, parameter->room);
            agent->ranks->broadcast(parameter->square, parameter->room);
        }
        for (uint32_t k = 0; k < network->average_count; k++)
            agent->ranks->broadcast(parameter->averages[k], parameter->room);
    }
    network->stale = true;
}

static ocdm_status bring_up_to_date(ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->changed)
        return OCDM_OK;
    ocdm_status status = ocdm__parameters_add_adam(agent->network, error);
    if (status != OCDM_OK)
        return status;
    struct order order = {.kind = WEIGHTS, .number = agent->number, .steps = agent->steps};
    send_order(agent->ranks, &order);
    share_weights(agent);
    agent->changed = false;
    return OCDM_OK;
}

/* Of so many bytes; the last one may be padded. */
static size_t units_of(uint64_t bytes)
{
    return (size_t)bytes / sizeof(uint32_t) + (bytes % sizeof(uint32_t) != 0);
}

/* Sends the labels and images of a step to all ranks. */
ocdm_status ocdm__together_train(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, const struct ocdm__share *share,
                                 ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    ocdm_status status = bring_up_to_date(agent, error);
    if (status != OCDM_OK)
        return status;
    struct order order = {.kind = TRAIN,
                          .number = agent->number,
                          .count = batch->count,
                          .labels = batch->starts[batch->count],
                          .steps = agent->steps,
                          .fresh = batch->fresh,
                          .weighted = batch->class_weights != NULL,
                          .aged = batch->ages != NULL,
                          .dark = batch->dark != NULL ? (batch->count - batch->fresh) * agent->settings.class_count : 0,
                          .known = batch->known != NULL ? batch->count * ocdm__bits_size(agent->settings.class_count) : 0};
    uint32_t *known = ocdm__allocate(units_of(order.known), sizeof *known);
    if (known == NULL)
        return ocdm__fail_memory(error, "the known labels of a batch");
    send_order(ranks, &order);
    /* Rank 0 sends: what the pointers lead to is only read. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    ranks->broadcast((void *)(uintptr_t)batch->starts, (batch->count + 1) * (sizeof *batch->starts / sizeof(uint32_t)));
    ranks->broadcast((void *)(uintptr_t)batch->labels, order.labels); /* NOLINT(performance-no-int-to-ptr) */
    if (order.weighted)                                               /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->class_weights, agent->settings.class_count);
    if (order.dark > 0) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->dark, (size_t)order.dark);
    if (order.known > 0) {
        memcpy(known, batch->known, (size_t)order.known);
        ranks->broadcast(known, units_of(order.known));
    }
    ocdm__release(known);
    if (order.aged) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->ages, agent->settings.class_count);
    ocdm__share_starts(share, ocdm__network_input_size(agent->network));
    ranks->scatter(batch->input, share->starts, NULL);
    return OCDM_OK;
}

ocdm_status ocdm__together_use(ocdm__agent *agent, uint32_t version, ocdm_error *error)
{
    ocdm_status status = bring_up_to_date(agent, error);
    struct order order = {.kind = USE, .number = agent->number, .count = version, .steps = agent->steps};
    if (status == OCDM_OK && agent->ranks->rank == 0)
        send_order(agent->ranks, &order);
    return status;
}

/* Images 0 to count - 1 in equal parts: what is in `starts` then counts `units` for each. */
static void part_images(const ocdm__agent *agent, size_t count, size_t units)
{
    for (size_t r = 0; r <= agent->ranks->size; r++)
        agent->starts[r] = count * r / agent->ranks->size * units;
}

/* Features of this rank's part of the images, of which the leader has all. */
static ocdm_status features_of_part(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    size_t first = count * ranks->rank / ranks->size, end = count * (ranks->rank + 1) / ranks->size;
    return ocdm__network_evaluate(agent->network, input, end - first, features, NULL, error);
}

static ocdm_status lead_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    ocdm_status status = bring_up_to_date(agent, error);
    if (status != OCDM_OK)
        return status;
    struct order order = {.kind = FEATURES, .number = agent->number, .count = count, .steps = agent->steps};
    send_order(agent->ranks, &order);
    part_images(agent, count, ocdm__network_input_size(agent->network));
    agent->ranks->scatter(input, agent->starts, NULL);
    status = features_of_part(agent, input, count, features, error);
    if (status != OCDM_OK)
        agent->ranks->abort(error != NULL ? error->message : "an evaluation failed", OCDM__TOGETHER_FAILED);
    part_images(agent, count, ocdm__model_feature_width(&agent->network->model));
    agent->ranks->gather(NULL, agent->starts, features);
    return OCDM_OK;
}

ocdm_status ocdm__together_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    if (!agent->settings.everywhere)
        return lead_features(agent, input, count, features, error);
    size_t width = ocdm__model_feature_width(&agent->network->model);
    part_images(agent, count, width);
    ocdm_status status = features_of_part(agent, input, count, features + agent->starts[agent->ranks->rank], error);
    if (status == OCDM_OK)
        agent->ranks->gather_all(features, agent->starts);
    return status;
}

void ocdm__together_destroy(ocdm__agent *agent)
{
    struct order order = {.kind = DESTROY, .number = agent->number};
    if (ocdm__together_leads(agent))
        send_order(agent->ranks, &order);
    ocdm__release(agent->starts);
}

void ocdm__together_end(void)
{
    struct order order = {.kind = END};
    if (ocdm__ranks_all() != NULL)
        send_order(ocdm__ranks_all(), &order);
}

/* ---- agents of all ranks ---------------------------------------------------------------------------------------------- */

const ocdm__ranks *ocdm__agent_deal(ocdm__agent *agent, size_t count, bool training, const size_t **starts)
{
    if (agent->ranks == NULL || !agent->settings.everywhere)
        return NULL;
    struct ocdm__share share = ocdm__share_of(agent->network, count);
    share.ranks = agent->ranks;
    share.starts = agent->starts;
    if (training)
        ocdm__share_starts(&share, 1);
    else
        part_images(agent, count, 1);
    *starts = agent->starts;
    return agent->ranks;
}

ocdm_status ocdm__agent_share(ocdm__agent *agent, ocdm_error *error)
{
    ocdm_status status = ocdm__parameters_add_adam(agent->network, error);
    if (status != OCDM_OK)
        return status;
    agent->ranks->broadcast(&agent->steps, sizeof agent->steps / sizeof(uint32_t));
    share_weights(agent);
    return OCDM_OK;
}

/* ---- the others ------------------------------------------------------------------------------------------------------- */

/* Agents by their numbers, and room for a batch. */
struct follower {
    const ocdm__ranks *ranks;
    ocdm__agent **agents;
    size_t agent_count;
    float *input, *features, *weights, *dark, *ages;
    float *known; /* bytes, in units of four */
    size_t input_room, feature_room, weight_room, dark_room, age_room, known_room;
};

static ocdm_status follow_create(struct follower *follower, const struct order *order, ocdm_error *error)
{
    char name[MODEL_NAME];
    ocdm__agent_settings settings = order->settings;
    follower->ranks->broadcast(name, sizeof name / sizeof(uint32_t));
    settings.model = name;
    bool failed = false;
    follower->agents = ocdm__grown(follower->agents, follower->agent_count + 1, sizeof *follower->agents, &failed);
    if (failed)
        return ocdm__fail_memory(error, "an agent");
    ocdm__agent **agent = &follower->agents[follower->agent_count++];
    *agent = NULL;
    return ocdm__agent_create(&settings, NULL, agent, error);
}

static ocdm_status follow_weights(ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    ocdm_status status = ocdm__parameters_add_adam(agent->network, error);
    if (status == OCDM_OK)
        share_weights(agent);
    agent->steps = order->steps;
    return status;
}

static ocdm_status follow_step(struct follower *follower, ocdm__agent *agent, const struct order *order, size_t *starts,
                               uint32_t *labels, ocdm_error *error)
{
    const ocdm__ranks *ranks = follower->ranks;
    struct ocdm__share share = ocdm__share_of(agent->network, (size_t)order->count);
    size_t size = ocdm__network_input_size(agent->network);
    share.starts = agent->starts;
    ocdm__share_deal(&share, ranks);
    ranks->broadcast(starts, ((size_t)order->count + 1) * (sizeof *starts / sizeof(uint32_t)));
    ranks->broadcast(labels, (size_t)order->labels);
    if (!reserve_floats(&follower->weights, &follower->weight_room, agent->settings.class_count) ||
        !reserve_floats(&follower->ages, &follower->age_room, agent->settings.class_count) ||
        !reserve_floats(&follower->dark, &follower->dark_room, (size_t)order->dark + 1) ||
        !reserve_floats(&follower->known, &follower->known_room, units_of(order->known) + 1))
        return ocdm__fail_memory(error, "the weights of classes, or logits");
    if (order->weighted)
        ranks->broadcast(follower->weights, agent->settings.class_count);
    if (order->dark > 0)
        ranks->broadcast(follower->dark, (size_t)order->dark);
    if (order->known > 0)
        ranks->broadcast(follower->known, units_of(order->known));
    if (order->aged)
        ranks->broadcast(follower->ages, agent->settings.class_count);
    if (!reserve_floats(&follower->input, &follower->input_room, (share.end - share.first) * size + 1))
        return ocdm__fail_memory(error, "images of a batch");
    ocdm__share_starts(&share, size);
    ranks->scatter(NULL, share.starts, follower->input);
    const struct ocdm__labelled_batch batch = {.input = follower->input,
                                               .starts = starts,
                                               .labels = labels,
                                               .count = (size_t)order->count,
                                               .fresh = (size_t)order->fresh,
                                               .class_weights = order->weighted ? follower->weights : NULL,
                                               .dark = order->dark > 0 ? follower->dark : NULL,
                                               .known = order->known > 0 ? (const uint8_t *)follower->known : NULL,
                                               .ages = order->aged ? follower->ages : NULL};
    ocdm_status status = ocdm__agent_train(agent, &batch, NULL, error);
    return status == OCDM_BAD_RECORD ? OCDM_OK : status; /* the leader reports it */
}

static ocdm_status follow_train(struct follower *follower, ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    size_t *starts = ocdm__allocate((size_t)order->count + 1, sizeof *starts);
    uint32_t *labels = ocdm__allocate((size_t)order->labels + 1, sizeof *labels);
    ocdm_status status = starts != NULL && labels != NULL ? follow_step(follower, agent, order, starts, labels, error)
                                                          : ocdm__fail_memory(error, "labels of a batch");
    ocdm__release(starts);
    ocdm__release(labels);
    return status;
}

static ocdm_status follow_features(struct follower *follower, ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    size_t count = (size_t)order->count / follower->ranks->size + 1, size = ocdm__network_input_size(agent->network);
    size_t width = ocdm__model_feature_width(&agent->network->model);
    if (!reserve_floats(&follower->input, &follower->input_room, count * size) ||
        !reserve_floats(&follower->features, &follower->feature_room, count * width))
        return ocdm__fail_memory(error, "images of an evaluation");
    part_images(agent, (size_t)order->count, size);
    follower->ranks->scatter(NULL, agent->starts, follower->input);
    int before = ocdm__single_thread();
    ocdm_status status = features_of_part(agent, follower->input, (size_t)order->count, follower->features, error);
    ocdm__restore_threads(before);
    part_images(agent, (size_t)order->count, width);
    if (status == OCDM_OK)
        follower->ranks->gather(follower->features, agent->starts, NULL);
    return status;
}

static ocdm_status follow(struct follower *follower, const struct order *order, ocdm_error *error)
{
    ocdm__agent **agent = order->kind != CREATE ? &follower->agents[order->number] : NULL;
    switch ((enum order_kind)order->kind) {
    case CREATE:
        return follow_create(follower, order, error);
    case WEIGHTS:
        return follow_weights(*agent, order, error);
    case TRAIN:
        return follow_train(follower, *agent, order, error);
    case USE:
        ocdm__parameters_use((*agent)->network, (uint32_t)order->count);
        return OCDM_OK;
    case FEATURES:
        return follow_features(follower, *agent, order, error);
    case DESTROY:
        ocdm__agent_destroy(*agent);
        *agent = NULL;
        return OCDM_OK;
    case END:
        break;
    }
    return OCDM_OK;
}

void ocdm__together_follow(void)
{
    struct follower follower = {.ranks = ocdm__ranks_all()};
    struct order order = {.kind = CREATE};
    ocdm_error error;
    for (;;) {
        send_order(follower.ranks, &order); /* a broadcast: here it is received */
        if (order.kind == END)
            break;
        follower.ranks->note_step(order.steps);
        if (follow(&follower, &order, &error) != OCDM_OK)
            follower.ranks->abort(error.message, OCDM__TOGETHER_FAILED);
    }
    for (size_t i = 0; i < follower.agent_count; i++)
        ocdm__agent_destroy(follower.agents[i]);
    ocdm__release(follower.agents);
    ocdm__release_aligned(follower.input);
    ocdm__release_aligned(follower.features);
    ocdm__release_aligned(follower.weights);
    ocdm__release_aligned(follower.dark);
    ocdm__release_aligned(follower.known);
    ocdm__release_aligned(follower.ages);
}
