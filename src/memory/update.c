/*
 * Offering a batch: everything that can fail is done first (labels, ids, room, the policy's look at the batch), then the policy
 * decides and the pool follows. Only a caller's policy can err after that; a journal takes such an update back.
 */
#include "memory/memory.h"

#include "memory/distances.h"
#include "memory/policies.h"
#include "memory/pool.h"

/* ---- room ----------------------------------------------------------------------------------------------------------- */

/* What an update needs for each item of its batch; all of it is reused by the next one. */
ocdm_status ocdm__memory_reserve_batch(ocdm_memory *memory, uint32_t count, ocdm_error *error)
{
    if (count <= memory->batch_room)
        return OCDM_OK;
    size_t room = count;
    bool failed = false;
    memory->first_class = ocdm__grown(memory->first_class, room + 1, sizeof *memory->first_class, &failed);
    memory->item_node = ocdm__grown(memory->item_node, room, sizeof *memory->item_node, &failed);
    memory->left = ocdm__grown(memory->left, room, sizeof *memory->left, &failed);
    memory->stored_slot = ocdm__grown(memory->stored_slot, room, sizeof *memory->stored_slot, &failed);
    memory->stored_item = ocdm__grown(memory->stored_item, room, sizeof *memory->stored_item, &failed);
    memory->moved = ocdm__grown(memory->moved, room, sizeof *memory->moved, &failed);
    if (memory->keeps_journal)
        memory->journal = ocdm__grown(memory->journal, room * 2, sizeof *memory->journal, &failed);
    if (failed || !ocdm__reserve(&memory->class_index, &memory->class_index_room, room * 4, sizeof *memory->class_index))
        return ocdm__fail_memory(error, "the batch");
    memory->batch_room = count;
    return OCDM_OK;
}

/* All items are checked before the first label is read. */
static ocdm_status reserve_labels(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    size_t labels = 0;
    for (size_t i = 0; i < count; i++) {
        if (batch[i].label_count > OCDM_MAX_LABELS)
            return ocdm__fail(error, OCDM_TOO_MANY_LABELS, "split the sample, or drop labels",
                              "item %zu has %zu labels, over %u", i, batch[i].label_count, OCDM_MAX_LABELS);
        if (batch[i].label_count && !batch[i].labels)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "item %zu has labels but its pointer is NULL", i);
        labels += batch[i].label_count;
    }
    if (labels > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "use smaller batches", "the batch has more than 2^32 labels");
    bool enough = ocdm__reserve(&memory->class_index, &memory->class_index_room, labels, sizeof *memory->class_index);
    return enough ? OCDM_OK : ocdm__fail_memory(error, "the batch's labels");
}

/* ---- taking an update back ----------------------------------------------------------------------------------------- */

/* The journal of one update: joins and leaves in order, with what a leaver needs to come back. It is kept only where an update
 * can fail after the first change: for policies that are not the library's own, and with minimums, which may not fit. */

/* The counters as they were. */
struct before {
    uint64_t arrived;
    uint64_t departed;
    uint32_t class_count;
};

/* Room for the labels of everyone who may leave, if there is a journal. */
static ocdm_status reserve_journal(ocdm_memory *memory, size_t batch_labels, ocdm_error *error)
{
    size_t labels = (size_t)memory->pool.label_total + batch_labels;
    bool enough = !memory->keeps_journal ||
                  ocdm__reserve(&memory->journal_classes, &memory->journal_class_room, labels, sizeof *memory->journal_classes);
    return enough ? OCDM_OK : ocdm__fail_memory(error, "the journal of the update");
}

static struct before start_journal(ocdm_memory *memory)
{
    memory->journal_length = 0;
    memory->journal_class_count = 0;
    return (struct before){memory->arrived, memory->departed, memory->pool.class_count};
}

/* What is needed to make the leaver a member again, its classes by index. */
static void journal_leave(ocdm_memory *memory, uint32_t position)
{
    const struct pool *pool = &memory->pool;
    const struct node *node = &pool->nodes[pool->node_at[position]];
    const struct set *set = &pool->sets[node->set];
    memory->journal[memory->journal_length++] = (struct event){
        .id = node->id,
        .arrival = node->arrival,
        .priority = node->priority,
        .position = position,
        .origin = node->origin,
        .first_label = memory->journal_class_count,
        .label_count = set->cardinality,
    };
    for (uint32_t i = 0; i < set->cardinality; i++)
        memory->journal_classes[memory->journal_class_count++] = pool->cells[set->cells + i].class_index;
}

/* Each sample of the batch that was counted is counted back; classes that appeared with it go. */
static void undo_counts(ocdm_memory *memory, struct before before)
{
    struct pool *pool = &memory->pool;
    uint32_t counted = (uint32_t)(memory->arrived - before.arrived);
    for (uint32_t i = 0; i < memory->first_class[counted]; i++)
        pool->classes[memory->class_index[i]].seen--;
    for (uint32_t i = 0; memory->index != NULL && i < memory->first_class[counted]; i++)
        ocdm__index_class_seen(memory->index, pool, memory->class_index[i]);
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].emptied_at == memory->step)
            pool->classes[i].emptied_at = pool->classes[i].emptied_before;
    memory->step--;
    memory->arrived = before.arrived;
    memory->departed = before.departed;
    ocdm__pool_drop_classes(pool, before.class_count);
}

/* After an update that failed: plays the journal backwards and gives the batch back; the memory is as it was before. The policy
 * is told. */
static ocdm_status undo_update(ocdm_memory *memory, size_t count, struct before before, ocdm_status status)
{
    struct pool *pool = &memory->pool;
    for (size_t i = memory->journal_length; i-- > 0;) {
        const struct event *event = &memory->journal[i];
        if (event->position == OCDM_NONE) {
            /* The last to join goes; it stands at the last position again. */
            uint32_t node = pool->node_at[pool->size - 1];
            ocdm__pool_leave(pool, memory->index, pool->size - 1);
            memory->item_node[pool->nodes[node].origin] = OCDM_NONE;
            ocdm__pool_give_back_node(pool, node);
            continue;
        }
        uint32_t number = ocdm__pool_take_node(pool, event->id);
        struct node *node = &pool->nodes[number];
        node->arrival = event->arrival;
        node->priority = event->priority;
        node->origin = event->origin;
        if (event->origin != OCDM_NONE)
            memory->item_node[event->origin] = number;
        ocdm__pool_join(pool, memory->index, number, memory->journal_classes + event->first_label, event->label_count);
        ocdm__pool_swap(pool, event->position, pool->size - 1);
    }
    for (size_t i = 0; i < count; i++)
        if (memory->item_node[i] != OCDM_NONE)
            ocdm__pool_give_back_node(pool, memory->item_node[i]);
    undo_counts(memory, before);
    if (memory->policy.end != NULL)
        memory->policy.end(memory->state, memory, NULL, status);
    return status;
}

/* ---- before anything is touched ------------------------------------------------------------------------------------- */

/* The labels of all items as class indices, each item's ascending and without repeats; false when out of memory. */
static bool read_labels(ocdm_memory *memory, const ocdm_sample *batch, size_t count)
{
    struct pool *pool = &memory->pool;
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *first = memory->class_index + used, labels = (uint32_t)batch[i].label_count, distinct = 0;
        for (uint32_t j = 0; j < labels; j++) {
            uint32_t id = batch[i].labels[j]; /* of a class that appeared before, mostly */
            bool known = id < pool->index_room && pool->index_of[id] != OCDM_NONE;
            first[j] = known ? pool->index_of[id] : ocdm__pool_add_class(pool, id);
            if (first[j] == OCDM_NONE)
                return false;
        }
        memory->first_class[i] = used;
        ocdm__sort(first, labels);
        for (uint32_t j = 0; j < labels; j++)
            if (distinct == 0 || first[j] != first[distinct - 1])
                first[distinct++] = first[j];
        used += distinct;
    }
    memory->first_class[count] = used;
    return true;
}

static void give_back_nodes(ocdm_memory *memory, size_t count)
{
    for (size_t i = count; i-- > 0;)
        ocdm__pool_give_back_node(&memory->pool, memory->item_node[i]);
}

/* The table of ids finds an id that is in memory, and one that is in the batch twice, since its node is in there by then. */
static ocdm_status take_nodes(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    struct pool *pool = &memory->pool;
    for (size_t i = 0; i < count; i++) {
        uint32_t known = ocdm__pool_find(pool, batch[i].id);
        if (known == OCDM_NONE) {
            memory->item_node[i] = ocdm__pool_take_node(pool, batch[i].id);
            continue;
        }
        bool is_member = pool->nodes[known].position != OCDM_NONE;
        give_back_nodes(memory, i);
        return ocdm__fail(error, OCDM_DUPLICATE_ID, "ids must be unique among the samples in memory",
                          is_member ? "item %zu: id %llu is in the memory already" : "item %zu: id %llu is in the batch twice",
                          i, (unsigned long long)batch[i].id);
    }
    return OCDM_OK;
}

/* What the policy's traits demand of a batch. */
static ocdm_status check_traits(const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    if (memory->policy.traits & OCDM_NEEDS_GRADIENTS && memory->similarity == NULL)
        return ocdm__fail_without_gradients(memory, error);
    for (size_t i = 0; i < count && memory->policy.traits & OCDM_SINGLE_LABEL; i++)
        if (memory->first_class[i + 1] - memory->first_class[i] > 1)
            return ocdm__fail(error, OCDM_NOT_SINGLE_LABEL, "other policies take several: cbes is the rule of cbrs for them",
                              "item %zu (id %llu) has several labels; %s takes samples with one label only", i,
                              (unsigned long long)batch[i].id, memory->policy.name);
    return OCDM_OK;
}

/* The policy's look at the batch, before anything is touched. */
static ocdm_status begin_update(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    ocdm_error found;
    if (memory->policy.begin == NULL)
        return OCDM_OK;
    ocdm__error_reset(&found);
    memory->beginning = batch;
    memory->beginning_count = count;
    ocdm_status status = memory->policy.begin(memory->state, memory, batch, count, &found);
    memory->beginning = NULL;
    memory->beginning_count = SIZE_MAX;
    return ocdm__pass_on(status, &found, "the policy refused the batch", error);
}

/* All that can fail. On failure the memory is as it was, except for room. */
static ocdm_status prepare(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    struct pool *pool = &memory->pool;
    if (count > OCDM_MAX_CAPACITY || (count && !batch))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a batch of %zu samples at %p", count, (const void *)batch);
    OCDM_TRY(ocdm__memory_reserve_batch(memory, (uint32_t)count, error));
    OCDM_TRY(reserve_labels(memory, batch, count, error));
    OCDM_TRY(ocdm__memory_reserve(memory, pool->size + (uint32_t)count, error));
    uint32_t known_classes = pool->class_count;
    ocdm_status status = read_labels(memory, batch, count) ? OCDM_OK : ocdm__fail_memory(error, "the classes");
    OCDM_THEN(status, ocdm__pool_reserve_labels(pool, memory->class_index, memory->first_class[count], error));
    if (status == OCDM_OK && memory->index != NULL)
        status = ocdm__index_reserve(memory->index, pool, memory->first_class, count, error);
    OCDM_THEN(status, reserve_journal(memory, memory->first_class[count], error));
    OCDM_THEN(status, take_nodes(memory, batch, count, error));
    if (status == OCDM_OK) {
        status = check_traits(memory, batch, count, error);
        OCDM_THEN(status, begin_update(memory, batch, count, error));
        if (status != OCDM_OK)
            give_back_nodes(memory, count);
    }
    if (status != OCDM_OK)
        ocdm__pool_drop_classes(pool, known_classes);
    return status;
}

/* ---- what happens to a sample --------------------------------------------------------------------------------------- */

void ocdm__memory_stamp(ocdm_memory *memory, uint32_t number, uint64_t arrival)
{
    struct node *node = &memory->pool.nodes[number];
    node->arrival = arrival;
    node->origin = OCDM_NONE;
    node->priority = ocdm__ties[memory->options.tie].priority(memory->key_base, arrival);
}

/* n_i counts every sample that is offered, whether it stays or not. */
static void count_as_seen(ocdm_memory *memory, uint32_t item)
{
    const uint32_t *class_index = memory->class_index + memory->first_class[item];
    const uint32_t *end_update = memory->class_index + memory->first_class[item + 1];
    for (const uint32_t *i = class_index; i < end_update; i++)
        memory->pool.classes[*i].seen++;
    if (memory->index == NULL || memory->options.rho == 0)
        return;
    for (const uint32_t *i = class_index; i < end_update; i++)
        ocdm__index_class_seen(memory->index, &memory->pool, *i);
}

/* The newcomer takes the position behind the last. */
static void join(ocdm_memory *memory, uint32_t item)
{
    uint32_t first = memory->first_class[item];
    ocdm__pool_join(&memory->pool, memory->index, memory->item_node[item], memory->class_index + first,
                    memory->first_class[item + 1] - first);
    if (memory->keeps_journal)
        memory->journal[memory->journal_length++] = (struct event){.position = OCDM_NONE};
}

/* A class that some sample of this update has, but none in memory, is in play until the next step. */
static void note_empty(ocdm_memory *memory, uint32_t class_index)
{
    struct class *class = &memory->pool.classes[class_index];
    if (class->emptied_at == memory->step)
        return;
    class->emptied_before = class->emptied_at;
    class->emptied_at = memory->step;
}

/* Tells the caller which slot is free: only an old sample has one, a newcomer has its place in the batch. */
static void note_departure(ocdm_memory *memory, uint32_t number, uint32_t slot)
{
    const struct node *node = &memory->pool.nodes[number];
    memory->left[memory->left_count++] = (ocdm_departure){node->id, node->origin == OCDM_NONE ? slot : OCDM_NONE, node->origin};
    if (node->origin != OCDM_NONE)
        memory->item_node[node->origin] = OCDM_NONE;
    memory->departed++;
    ocdm__pool_give_back_node(&memory->pool, number);
}

/* A member leaves, for good. */
static void take_out(ocdm_memory *memory, uint32_t position)
{
    struct pool *pool = &memory->pool;
    uint32_t number = pool->node_at[position];
    const struct set *set = &pool->sets[pool->nodes[number].set];
    for (uint32_t i = 0; i < set->cardinality; i++)
        if (pool->classes[pool->cells[set->cells + i].class_index].kept == 1)
            note_empty(memory, pool->cells[set->cells + i].class_index);
    ocdm__pool_leave(pool, memory->index, position);
    note_departure(memory, number, position);
}

/* A member leaves, and may come back. */
static void leave(ocdm_memory *memory, uint32_t position)
{
    if (memory->keeps_journal)
        journal_leave(memory, position);
    take_out(memory, position);
}

/* Asks whether a sample may enter at all. */
static ocdm_status ask_admit(const ocdm_memory *memory, const ocdm_sample *sample, bool *enters, ocdm_error *error)
{
    int answer = memory->policy.admit == NULL ? 1 : memory->policy.admit(memory->state, memory, sample);
    if (answer < 0)
        return ocdm__fail(error, OCDM_BAD_DECISION, "", "policy %s could not say whether a sample may enter",
                          memory->policy.name);
    *enters = answer != 0;
    return OCDM_OK;
}

static ocdm_status bad_decision(const ocdm_memory *memory, uint32_t answer, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_DECISION, "a policy must answer with a number below ocdm_memory_size",
                      "policy %s named slot %lu of %lu", memory->policy.name, (unsigned long)answer,
                      (unsigned long)memory->pool.size);
}

/* Asks which member of the pool goes; with a sample, which slot that takes, OCDM_NONE being none. */
static ocdm_status ask_position(ocdm_memory *memory, const ocdm_sample *sample, uint32_t *position, ocdm_error *error)
{
    ocdm_error found;
    ocdm__error_reset(&found);
    *position = OCDM_NONE;
    ocdm_status status = sample == NULL ? memory->policy.remove(memory->state, memory, position, &found)
                                        : memory->policy.replace(memory->state, memory, sample, position, &found);
    if (status != OCDM_OK)
        return ocdm__pass_on(status, &found, "the policy could not decide", error);
    bool good = *position < memory->pool.size || (sample != NULL && *position == OCDM_NONE);
    return good ? OCDM_OK : bad_decision(memory, *position, error);
}

/* ---- the two ways to offer a batch ---------------------------------------------------------------------------------- */

/* Algorithm 1: memory and batch are one pool, and members go one by one until M are left. */
static ocdm_status offer_as_pool(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = memory->item_node[i];
        ocdm__memory_stamp(memory, node, memory->arrived++);
        memory->pool.nodes[node].origin = i;
        if (memory->priorities != NULL)
            memory->pool.nodes[node].priority = memory->priorities[i];
        count_as_seen(memory, i);
        join(memory, i);
    }
    memory->priorities = NULL; /* they were for this batch */
    for (size_t i = 0; i < count && memory->policy.admit != NULL; i++) {
        bool enters = false;
        ocdm_status status = ask_admit(memory, &batch[i], &enters, error);
        if (status != OCDM_OK)
            return status;
        if (!enters)
            leave(memory, memory->pool.nodes[memory->item_node[i]].position);
    }
    if (memory->index != NULL && memory->pool.size < memory->options.capacity)
        ocdm__index_filling(memory->index, &memory->pool, memory->options.capacity - memory->pool.size, memory->options.batch);
    while (memory->pool.size > memory->options.capacity) {
        memory->decision = memory->departed;
        uint32_t position;
        OCDM_TRY(ask_position(memory, NULL, &position, error));
        leave(memory, position);
    }
    return OCDM_OK;
}

/* For policies that decide about one sample at a time, as a reservoir does. */
static ocdm_status offer_one(ocdm_memory *memory, const ocdm_sample *sample, uint32_t item, ocdm_error *error)
{
    memory->item = item;
    memory->decision = memory->arrived;
    uint32_t node = memory->item_node[item];
    ocdm__memory_stamp(memory, node, memory->arrived);
    memory->pool.nodes[node].origin = item;
    uint32_t slot = OCDM_NONE;
    bool enters = false;
    ocdm_status status = ask_admit(memory, sample, &enters, error);
    if (status == OCDM_OK && enters && memory->pool.size == memory->options.capacity) {
        status = ask_position(memory, sample, &slot, error);
        enters = slot != OCDM_NONE;
    }
    if (status != OCDM_OK)
        return status;
    memory->arrived++;
    count_as_seen(memory, item);
    if (enters)
        join(memory, item);
    else {
        /* A newcomer goes without ever having been a member. */
        for (uint32_t i = memory->first_class[item]; i < memory->first_class[item + 1]; i++)
            if (!memory->pool.classes[memory->class_index[i]].kept)
                note_empty(memory, memory->class_index[i]);
        note_departure(memory, memory->item_node[item], OCDM_NONE);
    }
    if (slot != OCDM_NONE)
        leave(memory, slot);
    return OCDM_OK;
}

/* Tells the policy and the caller what was done; the samples of the batch that stayed are old ones from now on. */
static void finish(ocdm_memory *memory, size_t count, ocdm_change *change)
{
    size_t stored = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = memory->item_node[i];
        if (node == OCDM_NONE)
            continue;
        memory->pool.nodes[node].origin = OCDM_NONE;
        memory->stored_slot[stored] = memory->pool.nodes[node].position;
        memory->stored_item[stored++] = i;
    }
    const ocdm_change done = {stored,       memory->stored_slot, memory->stored_item, memory->left_count,
                              memory->left, memory->moved_count, memory->moved};
    if (memory->policy.end != NULL)
        memory->policy.end(memory->state, memory, &done, OCDM_OK);
    if (change != NULL)
        *change = done;
}

/* Prepare, decide, publish. Nothing allocates after `prepare`. */
ocdm_status ocdm_memory_update(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_change *change,
                               ocdm_error *error)
{
    if (memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory must not be NULL");
    struct before before = start_journal(memory);
    OCDM_TRY(prepare(memory, batch, count, error));
    memory->step++;
    memory->left_count = memory->moved_count = 0;
    ocdm_status status = OCDM_OK;
    if (memory->policy.replace == NULL)
        status = offer_as_pool(memory, batch, count, error);
    for (uint32_t i = 0; memory->policy.replace != NULL && status == OCDM_OK && i < count; i++) {
        status = offer_one(memory, &batch[i], i, error);
        if (status == OCDM_OK && memory->policy.seen != NULL) /* the policy then knows counts that include the sample */
            memory->policy.seen(memory->state, memory, &batch[i]);
    }
    if (status != OCDM_OK)
        return undo_update(memory, count, before, status);
    finish(memory, count, change);
    return OCDM_OK;
}

/* The batch in CSR form, turned into samples that point into it. */
ocdm_status ocdm_memory_update_flat(ocdm_memory *memory, const uint64_t *ids, const uint64_t *offsets, const uint32_t *labels,
                                    size_t count, ocdm_change *change, ocdm_error *error)
{
    if (memory == NULL || (count > 0 && (ids == NULL || offsets == NULL)) || count > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory, ids and offsets must not be NULL, nor the batch too large");
    if (!ocdm__reserve(&memory->flat, &memory->flat_room, count, sizeof *memory->flat))
        return ocdm__fail_memory(error, "the batch");
    for (size_t i = 0; i < count; i++) {
        if (offsets[i + 1] < offsets[i] || offsets[i + 1] > SIZE_MAX / sizeof *labels)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "offsets never fall, and there is one more than there are samples",
                              "the offsets of item %zu are %llu and %llu", i, (unsigned long long)offsets[i],
                              (unsigned long long)offsets[i + 1]);
        size_t labelled = (size_t)(offsets[i + 1] - offsets[i]);
        const uint32_t *first = labels == NULL || labelled == 0 ? NULL : labels + offsets[i];
        memory->flat[i] = (ocdm_sample){ids[i], first, labelled};
    }
    return ocdm_memory_update(memory, memory->flat, count, change, error);
}

/* ---- forgetting ----------------------------------------------------------------------------------------------------- */

/* Whether places may change owners from outside. Before the first sample they have none. */
static ocdm_status check_places(const ocdm_memory *memory, const char *what, ocdm_error *error)
{
    if ((memory->policy.traits & DIVIDES_PLACES) == 0)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use another policy", "the policy %s cannot %s: its places belong to tasks",
                      memory->policy.name, what);
}

/* No policy is asked, so nothing is drawn and no journal is needed. */
ocdm_status ocdm_memory_forget(ocdm_memory *memory, uint64_t id, ocdm_change *change, ocdm_error *error)
{
    if (memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory must not be NULL");
    OCDM_TRY(check_places(memory, "forget samples", error));
    uint32_t position = ocdm_memory_find(memory, id);
    if (position == OCDM_NONE)
        return ocdm__fail(error, OCDM_UNKNOWN_ID, "", "no sample in the memory has the id %llu", (unsigned long long)id);
    uint32_t last = memory->pool.size - 1;
    memory->left_count = memory->moved_count = 0;
    if (position != last)
        memory->moved[memory->moved_count++] = (ocdm_move){last, position};
    take_out(memory, position);
    finish(memory, 0, change);
    return OCDM_OK;
}

/* ---- another capacity ----------------------------------------------------------------------------------------------- */

/* Deletes down to the capacity. home[p] is the slot that the member at position p had before. A reservoir has no rule for
 * shrinking unless it says so: a uniform part of it is a reservoir. Its decisions about samples are numbered by arrival; these
 * are numbered from the other end. */
static ocdm_status shrink(ocdm_memory *memory, uint32_t *home, ocdm_error *error)
{
    for (uint32_t i = 0; i < memory->pool.size; i++)
        home[i] = i;
    while (memory->pool.size > memory->options.capacity) {
        uint32_t position;
        memory->decision = memory->policy.replace == NULL ? memory->departed : ~memory->departed;
        if (memory->policy.remove != NULL) {
            OCDM_TRY(ask_position(memory, NULL, &position, error));
        } else {
            ocdm__random random = ocdm__decision_random(memory);
            position = (uint32_t)ocdm__random_below(&random, memory->pool.size);
        }
        leave(memory, position);
        memory->left[memory->left_count - 1].slot = home[position];
        home[position] = home[memory->pool.size];
    }
    for (uint32_t i = 0; i < memory->pool.size; i++)
        if (home[i] != i)
            memory->moved[memory->moved_count++] = (ocdm_move){home[i], i};
    return OCDM_OK;
}

/* A capacity below the size, and the deletions down to it, or neither. */
static ocdm_status shrink_or_undo(ocdm_memory *memory, uint32_t capacity, uint32_t *home, ocdm_error *error)
{
    uint32_t capacity_before = memory->options.capacity;
    uint32_t leaving = memory->pool.size - capacity;
    ocdm_status status = ocdm__memory_reserve_batch(memory, leaving, error);
    OCDM_THEN(status, reserve_journal(memory, 0, error));
    OCDM_THEN(status, begin_update(memory, NULL, 0, error));
    OCDM_TRY(status);
    struct before before = start_journal(memory);
    memory->step++;
    memory->left_count = memory->moved_count = 0;
    memory->first_class[0] = 0;
    memory->options.capacity = capacity;
    status = shrink(memory, home, error);
    if (status == OCDM_OK)
        return OCDM_OK;
    memory->options.capacity = capacity_before;
    return undo_update(memory, 0, before, status);
}

/* Growing only changes the number; shrinking is an update without a batch. */
ocdm_status ocdm_memory_resize(ocdm_memory *memory, uint32_t capacity, ocdm_change *change, ocdm_error *error)
{
    if (memory == NULL || capacity == 0 || capacity > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a memory holds at least one sample",
                          "memory must not be NULL, and capacity %lu between 1 and %lu", (unsigned long)capacity,
                          (unsigned long)OCDM_MAX_CAPACITY);
    ocdm_status status = OCDM_OK;
    if (memory->arrived > 0)
        OCDM_TRY(check_places(memory, "change its capacity", error));
    if (capacity < memory->pool.size) {
        uint32_t *home = ocdm__allocate(memory->pool.size, sizeof *home);
        status = home == NULL ? ocdm__fail_memory(error, "another capacity") : shrink_or_undo(memory, capacity, home, error);
        ocdm__release(home);
    } else {
        memory->options.capacity = capacity;
        memory->left_count = memory->moved_count = 0;
    }
    if (status == OCDM_OK)
        finish(memory, 0, change);
    return status;
}

/* ---- tasks -------------------------------------------------------------------------------------------------------------- */

/* Asks the policy, then lets go as shrinking does, with the capacity as before. There is room for all to leave, so that nothing
 * fails after the answer of a policy of the library. */
static ocdm_status begin_task(ocdm_memory *memory, uint32_t *home, ocdm_error *error)
{
    ocdm_error found;
    uint32_t leaving = 0, capacity = memory->options.capacity;
    OCDM_TRY(ocdm__memory_reserve_batch(memory, memory->pool.size, error));
    ocdm__error_reset(&found);
    OCDM_TRY(ocdm__pass_on(memory->policy.begin_task(memory->state, memory, &leaving, &found), &found,
                           "the policy refused the task", error));
    if (leaving > memory->pool.size)
        return bad_decision(memory, leaving, error);
    if (leaving == 0)
        return OCDM_OK;
    ocdm_status status = shrink_or_undo(memory, memory->pool.size - leaving, home, error);
    memory->options.capacity = capacity;
    return status;
}

/* Only policies that divide the memory among tasks have something to do. */
ocdm_status ocdm_memory_begin_task(ocdm_memory *memory, ocdm_change *change, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    if (memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory must not be NULL");
    memory->left_count = memory->moved_count = 0;
    if (memory->policy.begin_task != NULL) {
        uint32_t *home;
        OCDM_TRY(ocdm__new(&home, memory->pool.size, sizeof *home, "the beginning of a task", error));
        status = begin_task(memory, home, error);
        ocdm__release(home);
    }
    if (status == OCDM_OK)
        finish(memory, 0, change);
    return status;
}

/* Nearly always two to five numbers, now and then thousands; qsort may allocate. Shell's sort, with Knuth's gaps: O(n^1.5). */
void ocdm__sort(uint32_t *number, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            uint32_t x = number[i];
            size_t j = i;
            for (; j >= gap && number[j - gap] > x; j -= gap)
                number[j] = number[j - gap];
            number[j] = x;
        }
}
