/* The index's upkeep: room, places and blocks, class weights, the sum A. */
#include "memory/index.h"

#include "base/logarithm.h"

/* Beyond it a step is computed anew each time: the table stays small, and such counts are rare. */
#define STEPS_KEPT 65536u

/* Steps f(m) - f(m - 1) are the same for all classes, so they are computed once and kept. */
ocdm_status ocdm__index_create(struct index **result, double rho, bool weighted, uint32_t room, ocdm_error *error)
{
    struct index *index;
    OCDM_TRY(ocdm__new(&index, 1, sizeof *index, "the index of label sets", error));
    index->free_block = OCDM_NONE;
    index->weighted = weighted;
    index->rho = rho;
    index->loops = ocdm__loops_at(0);
    index->step_room = room < STEPS_KEPT ? room + 1 : STEPS_KEPT;
    index->step_known = 1;
    index->steps = ocdm__allocate(index->step_room, sizeof *index->steps);
    if (index->steps == NULL) {
        ocdm__index_destroy(index);
        return ocdm__fail_memory(error, "the index of label sets");
    }
    *result = index;
    return OCDM_OK;
}

void ocdm__index_destroy(struct index *index)
{
    if (index == NULL)
        return;
    for (uint32_t k = 0; k < index->bucket_room; k++) {
        OCDM_RELEASE(index->buckets[k].blocks, index->buckets[k].tops);
    }
    OCDM_RELEASE(index->score, index->order, index->set, index->rank, index->buckets, index->present, index->contenders,
                 index->classes, index->changed, index->steps, index);
}

/* ---- room ----------------------------------------------------------------------------------------------------------- */

/* The weights of the classes, and a list that may have to name all of them. Classes appear one by one, so room doubles. */
static bool reserve_classes(struct index *index, uint32_t classes)
{
    if (classes <= index->class_room)
        return true;
    uint32_t room = classes * 2 + 62;
    bool failed = false;
    index->classes = ocdm__grown(index->classes, room, sizeof *index->classes, &failed);
    index->changed = ocdm__grown(index->changed, room, sizeof *index->changed, &failed);
    if (failed)
        return false;
    for (uint32_t i = index->class_room; i < room; i++)
        index->classes[i] = (struct indexed_class){0};
    index->class_room = room;
    return true;
}

/* Room for sets with up to `labels` labels. Buckets are found by that number, so there is one for each. */
static bool reserve_buckets(struct index *index, uint32_t labels)
{
    if (labels < index->bucket_room)
        return true;
    uint32_t room = labels + 8 + labels / 2;
    bool failed = false;
    index->buckets = ocdm__grown(index->buckets, room, sizeof *index->buckets, &failed);
    index->present = ocdm__grown(index->present, room, sizeof *index->present, &failed);
    index->contenders = ocdm__grown(index->contenders, room, sizeof *index->contenders, &failed);
    if (failed)
        return false;
    for (uint32_t k = index->bucket_room; k < room; k++)
        index->buckets[k] = (struct bucket){0};
    index->bucket_room = room;
    return true;
}

/* Room in a bucket for the numbers of its blocks; the blocks themselves are those of reserve_blocks. */
static bool reserve_blocks_of(struct bucket *bucket, size_t sets)
{
    size_t blocks = sets / OCDM__BLOCK + 1;
    if (blocks <= bucket->room)
        return true;
    size_t room = ocdm__larger_room(bucket->room, blocks);
    bool failed = false;
    bucket->blocks = ocdm__grown(bucket->blocks, room, sizeof *bucket->blocks, &failed);
    bucket->tops = ocdm__grown(bucket->tops, room, sizeof *bucket->tops, &failed);
    if (!failed)
        bucket->room = room;
    return !failed;
}

/* Each bucket may have one block that is not full. The new blocks join the list of free ones, the lowest number first. */
static bool reserve_blocks(struct index *index, uint32_t samples)
{
    uint32_t partial = samples < index->bucket_room ? samples : index->bucket_room;
    uint32_t room = samples / OCDM__BLOCK + partial + 1;
    if (room <= index->block_room)
        return true;
    bool failed = false;
    size_t places = (size_t)room * OCDM__BLOCK;
    index->score = ocdm__grown(index->score, places, sizeof *index->score, &failed);
    index->order = ocdm__grown(index->order, places, sizeof *index->order, &failed);
    index->set = ocdm__grown(index->set, places, sizeof *index->set, &failed);
    index->rank = ocdm__grown(index->rank, room, sizeof *index->rank, &failed);
    if (failed)
        return false;
    for (uint32_t block = room; block-- > index->block_room;) {
        index->rank[block] = index->free_block;
        index->free_block = block;
    }
    index->block_room = room;
    return true;
}

/* The worst case for each bucket is that all samples of the batch have new label sets of its length. */
ocdm_status ocdm__index_reserve(struct index *index, const struct pool *pool, const uint32_t *first_label, size_t count,
                                ocdm_error *error)
{
    bool enough = reserve_classes(index, pool->class_count);
    for (size_t i = 0; enough && i < count; i++) {
        uint32_t labels = first_label[i + 1] - first_label[i];
        enough =
            reserve_buckets(index, labels) && reserve_blocks_of(&index->buckets[labels], index->buckets[labels].sets + count);
    }
    enough = enough && reserve_blocks(index, pool->reserved);
    return enough ? OCDM_OK : ocdm__fail_memory(error, "the index of label sets");
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

/* The place of a bucket's set number `i`, in no particular order. */
static uint32_t place_in(const struct bucket *bucket, uint32_t i)
{
    return bucket->blocks[i / OCDM__BLOCK] * OCDM__BLOCK + i % OCDM__BLOCK;
}

/* The score is summed anew from the weights that the other scores were made with, not from the newest ones: a class that has
 * changed since is on the list of changes, and update_class will reach this set as it reaches all others. */
void ocdm__index_add_set(struct index *index, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    uint32_t labels = set->cardinality;
    struct bucket *bucket = &index->buckets[labels];
    if (bucket->sets == 0) {
        bucket->listed = index->present_count;
        index->present[index->present_count++] = labels;
    }
    if (bucket->sets % OCDM__BLOCK == 0) {
        /* A new block is the last of its bucket. Its places are free: they score less than any set. */
        uint32_t block = index->free_block, rank = bucket->sets / OCDM__BLOCK;
        index->free_block = index->rank[block];
        index->rank[block] = rank;
        bucket->blocks[rank] = block;
        bucket->tops[rank] = INT64_MIN;
        for (size_t place = (size_t)block * OCDM__BLOCK, end = place + OCDM__BLOCK; place < end; place++)
            index->score[place] = INT64_MIN;
    }
    uint32_t place = place_in(bucket, bucket->sets++);
    ocdm__pool_set_place(pool, number, place);
    index->set[place] = number;
    index->score[place] = 0;
    for (uint32_t i = 0; i < labels; i++)
        index->score[place] += index->classes[pool->cells[set->cells + i].class_index].weight;
    index->tops_known = false;
}

/* The bucket's last place fills the gap. */
void ocdm__index_remove_set(struct index *index, struct pool *pool, uint32_t number)
{
    uint32_t labels = pool->sets[number].cardinality, gap = pool->sets[number].place;
    struct bucket *bucket = &index->buckets[labels];
    uint32_t last = place_in(bucket, --bucket->sets);
    int64_t *top = &bucket->tops[index->rank[gap / OCDM__BLOCK]];
    *top = index->score[last] > *top ? index->score[last] : *top;
    index->score[gap] = index->score[last];
    index->order[gap] = index->order[last];
    index->set[gap] = index->set[last];
    ocdm__pool_set_place(pool, index->set[gap], gap);
    index->score[last] = INT64_MIN;
    if (bucket->sets % OCDM__BLOCK == 0) {
        index->rank[last / OCDM__BLOCK] = index->free_block;
        index->free_block = last / OCDM__BLOCK;
    }
    if (bucket->sets == 0) {
        uint32_t moved = index->present[--index->present_count];
        index->present[bucket->listed] = moved;
        index->buckets[moved].listed = bucket->listed;
    }
}

/* Priorities compare as unsigned numbers. */
void ocdm__index_first_changed(struct index *index, const struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    index->order[set->place] = (int64_t)(pool->nodes[set->first].priority ^ ((uint64_t)1 << 63));
}

/* ---- weights -------------------------------------------------------------------------------------------------------- */

static int64_t compute_step(uint32_t m)
{
    return ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
}

/* Extends the table up to m, one logarithm for each entry. */
int64_t ocdm__index_new_step(struct index *index, uint32_t m)
{
    if (m >= index->step_room)
        return compute_step(m);
    for (; index->step_known <= m; index->step_known++)
        index->steps[index->step_known] = compute_step(index->step_known);
    return index->steps[m];
}

/* Adds count * x, through the two halves of x, so that no product outgrows 64 bits. */
static void add_multiple_to_sum(struct wide *sum, uint32_t count, int64_t x)
{
    int64_t high = (x >> 32) * count;
    uint64_t low = ((uint64_t)x & 0xFFFFFFFFu) * count;
    ocdm__wide_add(sum, (int64_t)(low >> 1));
    ocdm__wide_add(sum, (int64_t)(low - (low >> 1)));
    struct wide part = {(uint64_t)high << 32, high >> 32};
    uint64_t total = sum->low + part.low;
    sum->high += part.high + (total < part.low);
    sum->low = total;
}

/* n_i changes the weight of a class, and A by m_i times that change. For rho = 0 only the weight that the user gave can change
 * it. */
void ocdm__index_class_seen(struct index *index, struct pool *pool, uint32_t class_index)
{
    if (!index->weighted)
        return;
    struct class *class = &pool->classes[class_index];
    int64_t log_seen = class->seen > 0 ? ocdm__nearest(index->rho * ocdm__ln(class->seen) * OCDM__GRID) : 0;
    log_seen += ocdm__nearest(class->ln_weight * OCDM__GRID);
    add_multiple_to_sum(&index->sum, class->kept, class->log_seen - log_seen);
    class->log_seen = log_seen;
    if (class->kept == 0)
        return;
    ocdm__index_note_change(index, class_index);
    index->tops_known = false;
}
