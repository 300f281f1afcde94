/*
 * What the ranks of a step exchange. Its images are dealt to the ranks by lanes. Sums of batch norms are gathered image by
 * image and added in the order of the images by every rank.
 *
 * A rank adds the weight gradients of its lanes as far as the balanced tree of all lanes allows: into the sums of the aligned
 * blocks that its lanes consist of. Gradients travel in buckets, ranges of the weights of all convolutions. Every rank receives
 * the blocks' sums of its slice of a bucket, adds them in the order of the tree, and makes Adam's step of the slice alone; then
 * the slices of the weights are gathered by all. So a rank reads and writes its part of Adam's averages only, and the rest of
 * them is not up to date until ocdm__buckets_collect.
 */
#include "agent/network.h"

/* Floats after which a bucket is full: 25 MB. A slice of work of the threads. */
enum { BUCKET = 25000000 / 4, SLICE = 1 << 16 };

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

/* Blocks first, then chunks inside each: the merges of a block do not depend on how it was cut into chunks. */
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

void ocdm__norm_start(const struct ocdm__share *share, struct ocdm__layer *layer)
{
    if (share->ranks == NULL || layer->node->kind != OCDM__NODE_CONV)
        return;
    ocdm__share_starts(share, OCDM__PARTIAL_UNITS * (size_t)layer->node->channels);
    layer->gathering = share->ranks->start_gather_all(layer->partial, share->starts, false);
}

void ocdm__norm_wait(const struct ocdm__share *share, const struct ocdm__layer *layer)
{
    if (share->ranks != NULL)
        share->ranks->wait(layer->gathering);
}

/* ---- buckets ---------------------------------------------------------------------------------------------------------- */

enum stage { FILLING, EXCHANGING, GATHERING, DONE };

/* A range of the weights of all convolutions, whose last layer in the order of the backward pass is `last`. */
struct bucket {
    uint32_t last;
    size_t begin, used;     /* floats */
    size_t *starts;         /* where the slice of each rank begins, and where the last one ends */
    float *sums, *received; /* the blocks of this rank, one after the other; the slices of those of others */
    size_t sums_room, received_room;
    enum stage stage;
    ocdm__ranks_request request;
};

struct ocdm__buckets {
    struct bucket *buckets;
    size_t count;
    uint32_t *bucket_of;   /* of each layer */
    size_t *starts;        /* of all buckets */
    size_t *sizes;         /* lanes of all blocks of all ranks, in order */
    size_t *blocks;        /* the number of blocks of each rank */
    size_t *own;           /* lanes of the blocks of this rank, among `sizes` */
    const float **parts;   /* of all blocks */
    unsigned char *merges; /* of them */
    size_t block_count, lanes;
};

/* Requests are over by then: a step waits for all of its own. */
void ocdm__buckets_destroy(struct ocdm__buckets *buckets)
{
    if (buckets == NULL)
        return;
    for (size_t i = 0; i < buckets->count; i++) {
        ocdm__release_aligned(buckets->buckets[i].sums);
        ocdm__release_aligned(buckets->buckets[i].received);
    }
    void *const arrays[] = {buckets->buckets, buckets->bucket_of, buckets->starts, buckets->sizes,
                            buckets->blocks,  buckets->parts,     buckets->merges};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ocdm__release(arrays[i]);
    ocdm__release(buckets);
}

/* A bucket is full when it has BUCKET floats, and always has whole layers. Its slices are equal and of whole cache lines; the
 * last ones may be shorter, or empty. */
static ocdm_status create_buckets(ocdm__network *network, size_t ranks, ocdm_error *error)
{
    static const char what[] = "gradients of several ranks";
    struct ocdm__buckets *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, what, error));
    network->buckets = made;
    OCDM_TRY(ocdm__new(&made->buckets, network->image_layers, sizeof *made->buckets, what, error));
    OCDM_TRY(ocdm__new(&made->bucket_of, network->image_layers, sizeof *made->bucket_of, what, error));
    OCDM_TRY(ocdm__new(&made->starts, network->image_layers, (ranks + 1) * sizeof *made->starts, what, error));
    OCDM_TRY(ocdm__new(&made->blocks, ranks, sizeof *made->blocks, what, error));
    /* Layers in the order of the backward pass, in which their weights follow each other too. */
    struct bucket *bucket = NULL;
    for (uint32_t k = network->image_layers; k-- > 0;) {
        const struct ocdm__layer *layer = &network->layers[k];
        if (layer->node->kind != OCDM__NODE_CONV)
            continue;
        const struct ocdm__parameter *weight = &network->parameters[layer->weight];
        if (bucket == NULL || bucket->used >= BUCKET) {
            bucket = &made->buckets[made->count++];
            bucket->begin = weight->place;
        }
        made->bucket_of[k] = (uint32_t)(made->count - 1);
        bucket->used = weight->place + ocdm__rounded_floats(weight->room) - bucket->begin;
        bucket->last = k;
    }
    for (size_t i = 0; i < made->count; i++) {
        bucket = &made->buckets[i];
        bucket->starts = made->starts + i * (ranks + 1);
        size_t slice = ocdm__rounded_floats((bucket->used + ranks - 1) / ranks);
        for (size_t r = 0; r <= ranks; r++)
            bucket->starts[r] = bucket->begin + (r * slice < bucket->used ? r * slice : bucket->used);
    }
    return OCDM_OK;
}

/* Floats of a rank's slice. */
static size_t slice_of(const struct bucket *bucket, size_t rank)
{
    return bucket->starts[rank + 1] - bucket->starts[rank];
}

/* Blocks follow from the number of images alone, so every rank lists the same ones for all ranks. There are at most as many of
 * them as lanes. */
ocdm_status ocdm__buckets_reserve(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error)
{
    static const char what[] = "gradients of several ranks";
    size_t rank = share->ranks->rank;
    if (network->buckets == NULL)
        OCDM_TRY(create_buckets(network, share->ranks->size, error));
    struct ocdm__buckets *buckets = network->buckets;
    if (share->lanes > buckets->lanes) {
        OCDM_RELEASE(buckets->sizes, buckets->parts, buckets->merges);
        buckets->sizes = NULL;
        buckets->parts = NULL;
        buckets->merges = NULL;
        buckets->lanes = 0;
        OCDM_TRY(ocdm__new(&buckets->sizes, share->lanes, sizeof *buckets->sizes, what, error));
        OCDM_TRY(ocdm__new(&buckets->parts, share->lanes, sizeof *buckets->parts, what, error));
        OCDM_TRY(ocdm__new(&buckets->merges, share->lanes, sizeof *buckets->merges, what, error));
        buckets->lanes = share->lanes;
    }
    /* The blocks of all ranks. */
    buckets->block_count = 0;
    for (size_t r = 0; r < share->ranks->size; r++) {
        size_t *sizes = buckets->sizes + buckets->block_count;
        buckets->blocks[r] = list_blocks(first_lane(share, r), first_lane(share, r + 1), share->lanes, sizes);
        buckets->block_count += buckets->blocks[r];
        if (r == share->ranks->rank)
            buckets->own = sizes;
    }
    ocdm__tree_merges(buckets->sizes, buckets->block_count, buckets->merges);
    size_t own = buckets->blocks[rank], others = buckets->block_count - own;
    for (size_t i = 0; i < buckets->count; i++) {
        struct bucket *bucket = &buckets->buckets[i];
        bucket->stage = FILLING;
        if (!ocdm__reserve_aligned(&bucket->sums, &bucket->sums_room, own * bucket->used, sizeof(float)) ||
            !ocdm__reserve_aligned(&bucket->received, &bucket->received_room, others * slice_of(bucket, rank), sizeof(float)))
            return ocdm__fail_memory(error, what);
    }
    return OCDM_OK;
}

float *ocdm__buckets_place(const ocdm__network *network, uint32_t layer, size_t block)
{
    const struct bucket *bucket = &network->buckets->buckets[network->buckets->bucket_of[layer]];
    return bucket->sums + block * bucket->used + (network->parameters[network->layers[layer].weight].place - bucket->begin);
}

/* The chunks' sums of part of a layer's weights into its bucket, one block after the other. */
void ocdm__buckets_add(const ocdm__network *network, const struct ocdm__share *share, uint32_t layer,
                       const struct ocdm__tree *chunks, size_t at, size_t count)
{
    const struct ocdm__buckets *buckets = network->buckets;
    size_t blocks = buckets->blocks[share->ranks->rank], part = 0;
    size_t chunk = ocdm__plan_lanes(network, share, &network->layers[layer]).chunk;
    for (size_t j = 0; j < blocks; j++) {
        size_t many = buckets->own[j] < chunk ? 1 : buckets->own[j] / chunk;
        const struct ocdm__tree block = {chunks->parts + part, chunks->merges + part, many};
        ocdm__kernels_for(false)->sum_tree(ocdm__buckets_place(network, layer, j) + at, &block, at, count);
        part += many;
    }
}

/* ---- on their way ----------------------------------------------------------------------------------------------------- */

/* Part of the step of a slice of weights, which `context` is. */
static void step_part(void *context, size_t item, unsigned slot)
{
    (void)slot;
    struct ocdm__adam adam = *(const struct ocdm__adam *)context;
    size_t at = item * SLICE, left = adam.count - at;
    adam.value += at;
    adam.mean += at;
    adam.square += at;
    adam.at = at;
    adam.count = left < SLICE ? left : SLICE;
    ocdm__kernels_for(false)->step(&adam);
}

/* This rank's slice of the weights, which all ranks gather. Its gradient are the blocks of the slice, in the order of the tree:
 * this rank's own and those it has received. */
static void step_slice(ocdm__network *network, const struct ocdm__share *share, const struct ocdm__adam *adam,
                       struct bucket *bucket)
{
    struct ocdm__buckets *buckets = network->buckets;
    size_t rank = share->ranks->rank, start = bucket->starts[rank], slice = slice_of(bucket, rank), count = 0;
    const float *received = bucket->received;
    for (size_t r = 0; r < share->ranks->size; r++)
        for (size_t j = 0; j < buckets->blocks[r]; j++) {
            buckets->parts[count++] = r == rank ? bucket->sums + j * bucket->used + (start - bucket->begin) : received;
            received += r == rank ? 0 : slice;
        }
    struct ocdm__adam own = *adam;
    own.value = network->pool.value + start;
    own.mean = network->pool.mean + start;
    own.square = network->pool.square + start;
    own.gradient = (struct ocdm__tree){buckets->parts, buckets->merges, count};
    own.count = slice;
    const struct ocdm__work work = {step_part, &own, (slice + SLICE - 1) / SLICE};
    ocdm__team_run(network->team, &work, 1);
    bucket->request = share->ranks->start_gather_all(network->pool.value, bucket->starts, true);
    bucket->stage = GATHERING;
}

/* Advances a bucket if its exchange is over; with `wait`, waits for that first. */
static void advance(ocdm__network *network, const struct ocdm__share *share, const struct ocdm__adam *adam,
                    struct bucket *bucket, bool wait)
{
    if (bucket->stage != EXCHANGING && bucket->stage != GATHERING)
        return;
    if (wait)
        share->ranks->wait(bucket->request);
    else if (!share->ranks->finished(bucket->request))
        return;
    if (bucket->stage == EXCHANGING)
        step_slice(network, share, adam, bucket);
    else
        bucket->stage = DONE;
}

/* Buckets advance in order, so that all ranks start the same exchanges in the same order. */
void ocdm__buckets_advance(ocdm__network *network, const struct ocdm__share *share, const struct ocdm__adam *adam, bool wait)
{
    struct ocdm__buckets *buckets = network->buckets;
    for (size_t i = 0; i < buckets->count; i++) {
        advance(network, share, adam, &buckets->buckets[i], wait);
        if (buckets->buckets[i].stage < GATHERING)
            return;
    }
    for (size_t i = 0; i < buckets->count && wait; i++)
        advance(network, share, adam, &buckets->buckets[i], wait);
}

/* This rank's blocks of every slice go to the rank that owns the slice; those of its own slice come in. */
void ocdm__buckets_close(ocdm__network *network, const struct ocdm__share *share, uint32_t layer)
{
    const struct ocdm__buckets *buckets = network->buckets;
    struct bucket *bucket = &buckets->buckets[buckets->bucket_of[layer]];
    const struct ocdm__ranks_exchange exchange = {.from = bucket->sums,
                                                  .arrays = buckets->blocks[share->ranks->rank],
                                                  .to = bucket->received,
                                                  .starts = bucket->starts,
                                                  .received = buckets->blocks};
    if (bucket->last != layer)
        return;
    bucket->request = share->ranks->start_exchange(&exchange);
    bucket->stage = EXCHANGING;
}

/* The leader gets Adam's averages of the slices that other ranks have stepped. */
void ocdm__buckets_collect(ocdm__network *network, const ocdm__ranks *ranks)
{
    for (size_t i = 0; network->buckets != NULL && i < network->buckets->count; i++) {
        const size_t *starts = network->buckets->buckets[i].starts;
        ranks->gather(network->pool.mean + starts[ranks->rank], starts, network->pool.mean);
        ranks->gather(network->pool.square + starts[ranks->rank], starts, network->pool.square);
    }
}
