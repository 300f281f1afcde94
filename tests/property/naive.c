/* The judge's memory: joining, leaving, counting. The policies' rules are in naive_policies.c, naive_ocdm.c, naive_prs.c and
 * naive_gss.c. */
#include "../test.h"
#include "naive.h"

#include "base/allocate.h"

struct naive *naive_create(const ocdm_options *options, size_t largest_batch)
{
    struct naive *naive = ocdm__allocate(1, sizeof *naive);
    assert_non_null(naive);
    naive->options = *options;
    naive->room = options->capacity + largest_batch;
    naive->pool = ocdm__allocate(naive->room, sizeof *naive->pool);
    naive->left = ocdm__allocate(naive->room, sizeof *naive->left);
    assert_non_null(naive->pool);
    assert_non_null(naive->left);
    return naive;
}

void naive_destroy(struct naive *naive)
{
    for (size_t v = 0; v < naive->size; v++)
        ocdm__release(naive->pool[v].label);
    ocdm__release(naive->pool);
    ocdm__release(naive->left);
    ocdm__release(naive);
}

bool naive_holds(const struct naive *naive, uint64_t id)
{
    for (size_t v = 0; v < naive->size; v++)
        if (naive->pool[v].id == id)
            return true;
    return false;
}

bool naive_carries(const struct naive_sample *sample, uint32_t class_number)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (sample->label[i] == class_number)
            return true;
    return false;
}

bool naive_same_labels(const struct naive_sample *a, const struct naive_sample *b)
{
    if (a->label_count != b->label_count)
        return false;
    for (size_t i = 0; i < a->label_count; i++)
        if (!naive_carries(b, a->label[i]))
            return false;
    return true;
}

uint64_t naive_count(const struct naive *naive, uint32_t *kept)
{
    uint64_t sum = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        kept[c] = 0;
    for (size_t v = 0; v < naive->size; v++) {
        for (size_t i = 0; i < naive->pool[v].label_count; i++)
            kept[naive->pool[v].label[i]]++;
        sum += naive->pool[v].label_count;
    }
    return sum;
}

uint64_t naive_key(const struct naive *naive, const struct naive_sample *sample)
{
    if (naive->keys != NULL)
        return naive->keys[sample->arrival];
    return ocdm__random_at(ocdm__random_base(naive->options.seed, OCDM__FOR_KEYS), sample->arrival);
}

ocdm__random naive_removal_stream(const struct naive *naive)
{
    return ocdm__random_stream(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), naive->departed);
}

size_t naive_pick(const struct naive *naive, const bool *candidate, ocdm__random *stream)
{
    uint64_t base = ocdm__random_next(stream);
    size_t chosen = naive->size;
    uint64_t least = 0;
    for (size_t v = 0; v < naive->size; v++) {
        uint64_t ticket = ocdm__random_at(base, naive->pool[v].arrival);
        if ((candidate == NULL || candidate[v]) && (chosen == naive->size || ticket < least)) {
            chosen = v;
            least = ticket;
        }
    }
    assert_true(chosen < naive->size);
    return chosen;
}

static double weight_of(const struct naive *naive, uint32_t id)
{
    for (size_t i = 0; i < naive->weight_count; i++)
        if (naive->weights[i].id == id)
            return naive->weights[i].weight;
    return 1;
}

void naive_set_weight(struct naive *naive, uint32_t id, double weight)
{
    size_t i = 0;
    while (i < naive->weight_count && naive->weights[i].id != id)
        i++;
    assert_true(i < NAIVE_CLASSES);
    naive->weight_count += i == naive->weight_count;
    naive->weights[i] = (struct naive_weight){id, weight};
    for (size_t c = 0; c < naive->class_count; c++)
        naive->classes[c].weight = weight_of(naive, naive->classes[c].id);
}

/* The number of a class, which appears now if it never did. */
static uint32_t class_number(struct naive *naive, uint32_t id)
{
    for (size_t c = 0; c < naive->class_count; c++)
        if (naive->classes[c].id == id)
            return (uint32_t)c;
    assert_true(naive->class_count < NAIVE_CLASSES);
    naive->classes[naive->class_count].id = id;
    naive->classes[naive->class_count].weight = weight_of(naive, id);
    return (uint32_t)naive->class_count++;
}

static struct naive_sample newcomer_from(struct naive *naive, const ocdm_sample *offered, uint32_t item)
{
    struct naive_sample sample = {.id = offered->id, .arrival = naive->arrived + item, .slot = OCDM_NONE, .item = item};
    sample.label = ocdm__allocate(offered->label_count, sizeof *sample.label);
    assert_non_null(sample.label);
    for (size_t i = 0; i < offered->label_count; i++) {
        uint32_t number = class_number(naive, offered->labels[i]);
        if (!naive_carries(&sample, number))
            sample.label[sample.label_count++] = number;
    }
    return sample;
}

static void note_departure(struct naive *naive, struct naive_sample *sample)
{
    assert_true(naive->left_count < naive->room);
    naive->left[naive->left_count++] = (ocdm_departure){sample->id, sample->slot, sample->item};
    naive->departed++;
    ocdm__release(sample->label);
    sample->label = NULL;
}

void naive_add_seen(struct naive *naive, uint32_t id, uint64_t count)
{
    naive->classes[class_number(naive, id)].seen += count;
}

static void count_as_seen(struct naive *naive, const struct naive_sample *sample)
{
    for (size_t i = 0; i < sample->label_count; i++)
        naive->classes[sample->label[i]].seen++;
}

static void delete_position(struct naive *naive, size_t v)
{
    assert_true(v < naive->size);
    note_departure(naive, &naive->pool[v]);
    naive->size--;
    if (v < naive->size)
        naive->pool[v] = naive->pool[naive->size];
}

/* onlyone: what came with the batch and has not exactly one label leaves first, in the batch's order. */
static void delete_inadmissible(struct naive *naive, size_t count)
{
    for (uint32_t item = 0; item < count; item++)
        for (size_t v = 0; v < naive->size; v++)
            if (naive->pool[v].item == item && naive->pool[v].label_count != 1) {
                delete_position(naive, v);
                break;
            }
}

static void update_pool(struct naive *naive, const struct naive_sample *batch, size_t count, naive_choice *choose,
                        void *context)
{
    for (size_t i = 0; i < count; i++) {
        count_as_seen(naive, &batch[i]);
        naive->pool[naive->size++] = batch[i];
    }
    if (naive->options.policy == ocdm_policy_find("onlyone"))
        delete_inadmissible(naive, count);
    while (naive->size > naive->options.capacity)
        delete_position(naive, choose != NULL ? choose(naive, context) : naive_remove(naive));
}

static void update_one_by_one(struct naive *naive, struct naive_sample *batch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct naive_sample newcomer = batch[i];
        uint32_t v = (uint32_t)naive->size;
        if (naive->size == naive->options.capacity)
            v = naive_replace(naive, &newcomer);
        count_as_seen(naive, &newcomer);
        if (v == OCDM_NONE) {
            note_departure(naive, &newcomer);
        } else if (v == naive->size) {
            naive->pool[naive->size++] = newcomer;
        } else {
            note_departure(naive, &naive->pool[v]);
            naive->pool[v] = newcomer;
        }
        naive_after_sample(naive);
    }
}

static void mark_in_play(struct naive *naive, const struct naive_sample *samples, size_t count)
{
    for (size_t v = 0; v < count; v++)
        for (size_t i = 0; i < samples[v].label_count; i++)
            naive->classes[samples[v].label[i]].in_play = true;
}

/* No sample is new: each comes from its own slot. */
static void start_without_batch(struct naive *naive)
{
    for (uint32_t v = 0; v < naive->size; v++) {
        naive->pool[v].slot = v;
        naive->pool[v].item = OCDM_NONE;
    }
    naive->left_count = 0;
}

/* cbrs, cbes: a class without samples is not full any more. */
static void restart_empty(struct naive *naive)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    for (size_t c = 0; c < naive->class_count; c++)
        if (kept[c] == 0)
            naive->classes[c].full = false;
}

void naive_forget(struct naive *naive, uint64_t id)
{
    start_without_batch(naive);
    for (size_t v = 0; v < naive->size; v++)
        if (naive->pool[v].id == id) {
            delete_position(naive, v);
            restart_empty(naive);
            naive_follow_departure(naive);
            return;
        }
    fail();
}

void naive_resize(struct naive *naive, uint32_t capacity, naive_choice *choose, void *context)
{
    assert_true(capacity <= naive->room);
    start_without_batch(naive);
    naive->options.capacity = capacity;
    if (naive->size <= capacity)
        return;
    for (size_t c = 0; c < naive->class_count; c++)
        naive->classes[c].in_play = false;
    mark_in_play(naive, naive->pool, naive->size);
    while (naive->size > capacity) {
        if (choose != NULL)
            delete_position(naive, choose(naive, context));
        else
            delete_position(naive, naive_removes_from_pool(naive) ? naive_remove(naive) : naive_shrink(naive));
        naive_follow_departure(naive);
    }
    restart_empty(naive);
}

void naive_update(struct naive *naive, const ocdm_sample *batch, size_t count, naive_choice *choose, void *context)
{
    assert_true(naive->options.capacity + count <= naive->room);
    struct naive_sample *joining = ocdm__allocate(count, sizeof *joining);
    assert_non_null(joining);
    for (uint32_t i = 0; i < count; i++)
        joining[i] = newcomer_from(naive, &batch[i], i);
    for (size_t c = 0; c < naive->class_count; c++)
        naive->classes[c].in_play = false;
    mark_in_play(naive, naive->pool, naive->size);
    mark_in_play(naive, joining, count);
    for (uint32_t v = 0; v < naive->size; v++) {
        naive->pool[v].slot = v;
        naive->pool[v].item = OCDM_NONE;
    }
    naive->left_count = 0;
    if (naive->options.policy->traits & OCDM_NEEDS_GRADIENTS)
        naive_compare_gss(naive, batch, joining, count);
    if (naive_removes_from_pool(naive))
        update_pool(naive, joining, count, choose, context);
    else
        update_one_by_one(naive, joining, count);
    naive->arrived += count;
    ocdm__release(joining);
}
