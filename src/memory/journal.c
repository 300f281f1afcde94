/* The journal of one update: joins and leaves in order, with what a leaver needs to come back. Only the library's own policies
 * have an index of scores, and they need no journal. */
#include "memory/journal.h"

#include "base/allocate.h"
#include "base/error.h"

ocdm_status ocdm__journal_reserve(ocdm_memory *memory, size_t batch_labels, ocdm_error *error)
{
    size_t labels = (size_t)memory->pool.label_total + batch_labels;
    if (labels <= memory->journal_class_room)
        return OCDM_OK;
    uint32_t *larger = ocdm__resize(memory->journal_classes, labels * 2, sizeof *larger);
    if (!larger)
        return ocdm__fail_memory(error, "the journal of the update");
    memory->journal_classes = larger;
    memory->journal_class_room = labels * 2;
    return OCDM_OK;
}

struct before ocdm__journal_start(ocdm_memory *memory)
{
    memory->journal_length = 0;
    memory->journal_class_count = 0;
    return (struct before){memory->arrived, memory->departed, memory->pool.class_count};
}

void ocdm__journal_join(ocdm_memory *memory)
{
    memory->journal[memory->journal_length++] = (struct event){.position = OCDM_NONE};
}

void ocdm__journal_leave(ocdm_memory *memory, uint32_t position)
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

/* The last to join goes; it stands at the last position again. */
static void undo_join(ocdm_memory *memory)
{
    uint32_t position = memory->pool.size - 1;
    uint32_t node = memory->pool.node_at[position];
    ocdm__pool_leave(&memory->pool, NULL, position);
    memory->item_node[memory->pool.nodes[node].origin] = OCDM_NONE;
    ocdm__pool_give_back_node(&memory->pool, node);
}

static void undo_leave(ocdm_memory *memory, const struct event *event)
{
    struct pool *pool = &memory->pool;
    uint32_t number = ocdm__pool_take_node(pool, event->id);
    struct node *node = &pool->nodes[number];
    node->arrival = event->arrival;
    node->priority = event->priority;
    node->origin = event->origin;
    if (event->origin == OCDM_NONE)
        ocdm__pool_know(pool, number);
    else
        memory->item_node[event->origin] = number;
    ocdm__pool_join(pool, NULL, number, memory->journal_classes + event->first_label, event->label_count);
    ocdm__pool_swap(pool, event->position, pool->size - 1);
}

static void undo_counts(ocdm_memory *memory, struct before before)
{
    struct pool *pool = &memory->pool;
    uint32_t counted = (uint32_t)(memory->arrived - before.arrived);
    for (uint32_t i = 0; i < memory->first_class[counted]; i++)
        pool->classes[memory->class_index[i]].seen--;
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].emptied_at == memory->step)
            pool->classes[i].emptied_at = pool->classes[i].emptied_before;
    memory->step--;
    memory->arrived = before.arrived;
    memory->departed = before.departed;
    ocdm__pool_drop_classes(pool, before.class_count);
}

void ocdm__journal_undo(ocdm_memory *memory, size_t count, struct before before)
{
    for (size_t i = memory->journal_length; i-- > 0;)
        if (memory->journal[i].position == OCDM_NONE)
            undo_join(memory);
        else
            undo_leave(memory, &memory->journal[i]);
    for (size_t i = 0; i < count; i++)
        if (memory->item_node[i] != OCDM_NONE)
            ocdm__pool_give_back_node(&memory->pool, memory->item_node[i]);
    undo_counts(memory, before);
}
