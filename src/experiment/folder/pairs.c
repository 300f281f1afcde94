#include "experiment/folder/pairs.h"

#include "base/hash_table.h"
#include "stream/labelled_set.h"

/* All pairs so far, found by their classes. */
struct counting {
    ocdm__pair *pairs;
    size_t count, room;
    struct ocdm__hash_table table;
};

static bool has_classes(const void *records, uint32_t entry, const void *key)
{
    const ocdm__pair *pair = (const ocdm__pair *)records + entry, *wanted = key;
    return pair->low == wanted->low && pair->high == wanted->high;
}

/* The pair of two classes, which is added with `add` if it is new; NULL: it is not there, or there is no memory. */
static ocdm__pair *pair_of(struct counting *counting, uint32_t a, uint32_t b, bool add)
{
    const ocdm__pair key = {.low = a < b ? a : b, .high = a < b ? b : a};
    uint64_t hash = ocdm__hash_number((uint64_t)key.high << 32 | key.low);
    uint32_t entry = ocdm__hash_table_find(&counting->table, hash, has_classes, counting->pairs, &key);
    if (entry != OCDM_NONE)
        return &counting->pairs[entry];
    if (!add || !ocdm__reserve(&counting->pairs, &counting->room, counting->count + 1, sizeof *counting->pairs) ||
        !ocdm__hash_table_reserve(&counting->table, (uint32_t)counting->count + 1))
        return NULL;
    ocdm__hash_table_add(&counting->table, hash, (uint32_t)counting->count);
    counting->pairs[counting->count] = key;
    return &counting->pairs[counting->count++];
}

/* Counts the pairs of a sample in the stream or, of those that the stream has, in memory. */
static bool count_sample(struct counting *counting, const ocdm__stream_table *table, size_t sample, bool in_memory)
{
    for (uint64_t i = table->label_starts[sample]; i < table->label_starts[sample + 1]; i++)
        for (uint64_t k = table->label_starts[sample]; k < i; k++) {
            ocdm__pair *pair = pair_of(counting, table->labels[i], table->labels[k], !in_memory);
            if (pair == NULL && !in_memory)
                return false;
            if (pair != NULL)
                *(in_memory ? &pair->kept : &pair->seen) += 1;
        }
    return true;
}

static bool comes_before(const ocdm__pair *a, const ocdm__pair *b)
{
    if (a->seen != b->seen)
        return a->seen > b->seen;
    return a->low != b->low ? a->low < b->low : a->high < b->high;
}

/* Inserts each pair among the best so far. */
static size_t choose(const struct counting *counting, ocdm__pair pairs[OCDM__MOST_PAIRS])
{
    size_t count = 0;
    for (size_t i = 0; i < counting->count; i++) {
        const ocdm__pair *pair = &counting->pairs[i];
        size_t place = count;
        while (place > 0 && comes_before(pair, &pairs[place - 1]))
            place--;
        if (place == OCDM__MOST_PAIRS)
            continue;
        count += count < OCDM__MOST_PAIRS;
        for (size_t k = count - 1; k > place; k--)
            pairs[k] = pairs[k - 1];
        pairs[place] = *pair;
    }
    return count;
}

ocdm_status ocdm__pairs_find(const ocdm__stream_table *table, const ocdm_memory *memory, ocdm__pair pairs[OCDM__MOST_PAIRS],
                             size_t *count, ocdm_error *error)
{
    static const double limit = 1 << 24;
    struct counting counting = {.count = 0};
    double total = 0;
    bool whole = true;
    *count = 0;
    for (size_t i = 0; i < table->sample_count; i++) {
        double labels = (double)(table->label_starts[i + 1] - table->label_starts[i]);
        total += labels * (labels - 1) / 2;
    }
    if (total > limit)
        return OCDM_OK;
    ocdm__hash_key_prepare();
    for (size_t i = 0; whole && i < table->sample_count; i++)
        whole = table->parts[i] != OCDM__TRAIN || count_sample(&counting, table, i, false);
    for (uint32_t slot = 0; memory != NULL && slot < ocdm_memory_size(memory); slot++)
        (void)count_sample(&counting, table, (size_t)ocdm_memory_id(memory, slot), true);
    if (whole)
        *count = choose(&counting, pairs);
    ocdm__release(counting.pairs);
    ocdm__hash_table_destroy(&counting.table);
    return whole ? OCDM_OK : ocdm__fail_memory(error, "the pairs of classes");
}
