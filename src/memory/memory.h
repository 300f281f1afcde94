/* The memory from the inside: what its policies, its file format and its reports share. */
#ifndef OCDM_MEMORY_MEMORY_H
#define OCDM_MEMORY_MEMORY_H

#include "base/random.h"
#include "memory/pool.h"
#include "memory/index.h"

/* What one update did to the pool, in order, so that it can be taken back when a caller's policy errs half way. */
struct event {
    uint64_t id;
    uint64_t arrival;
    uint64_t priority;
    uint32_t position; /* left from there; OCDM_NONE: joined */
    uint32_t origin;
    uint32_t first_label; /* into journal_classes */
    uint32_t label_count;
};

struct ocdm_memory {
    ocdm_options options;
    ocdm_policy policy;         /* options.policy as this library knows it: members that the caller's lacks are NULL */
    void *state;                /* the policy's */
    ocdm_similarity similarity; /* the caller's answer to comparisons; NULL: none */
    void *similarity_state;
    const ocdm_sample *beginning; /* the batch that the policy's `begin` is looking at, while it does */
    size_t beginning_count;       /* SIZE_MAX outside `begin` */
    struct pool pool;
    struct index *index; /* NULL for policies that do not minimise a distance */

    uint64_t arrived;
    uint64_t departed;
    uint64_t draws;
    uint64_t step;
    uint64_t key_base;
    const uint64_t *priorities; /* places among equals of the next batch's items, see ocdm__memory_expect_shards; NULL: by
                                   arrival */
    bool merged;                /* the places of some samples do not follow from their arrival */
    uint64_t decision_base;
    uint64_t draw_base;
    uint64_t decision; /* which one is being made: the newcomer's arrival, or how many have departed */

    /* The batch as class indices, each item's ascending and without repeats: item i's start at first_class[i]. */
    uint32_t *class_index;
    size_t class_index_room;
    uint32_t *first_class;
    uint32_t *item_node; /* OCDM_NONE once it has left */
    uint32_t batch_room;
    uint32_t item; /* the one being offered to a `replace` policy */

    ocdm_departure *left;
    size_t left_count;
    uint32_t *stored_slot;
    uint32_t *stored_item;
    ocdm_move *moved;
    size_t moved_count;
    ocdm_sample *flat; /* the batch of ocdm_memory_update_flat, one by one */
    size_t flat_room;

    bool keeps_journal;
    struct event *journal; /* two a sample */
    size_t journal_length;
    uint32_t *journal_classes;
    uint32_t journal_class_count;
    size_t journal_class_room;

    uint64_t *drawn_at; /* by slot: the draw that took it last */
};

/* The classes of the sample being offered, by index, ascending. */
static inline const uint32_t *ocdm__offered(const ocdm_memory *memory, uint32_t *count)
{
    uint32_t first = memory->first_class[memory->item];
    *count = memory->first_class[memory->item + 1] - first;
    return memory->class_index + first;
}

/* The random numbers of the decision being made. */
static inline ocdm__random ocdm__decision_random(const ocdm_memory *memory)
{
    return ocdm__random_stream(memory->decision_base, memory->decision);
}

/* Whether a class counts for the target of the last update: in memory or batch then. */
static inline bool ocdm__in_play(const ocdm_memory *memory, const struct class *class)
{
    return class->kept || (class->emptied_at == memory->step && memory->step);
}

/* Passes on what a callback returned: its own error, or one that says `what` failed for a callback that left no message.
 * `found` started from ocdm__error_reset. */
ocdm_status ocdm__pass_on(ocdm_status status, const ocdm_error *found, const char *what, ocdm_error *error);

/* Clears message and hint. */
static inline void ocdm__error_reset(ocdm_error *error)
{
    error->message[0] = error->hint[0] = '\0';
}

/* Makes room for this many samples in pool and index, beyond the members' label sets. */
ocdm_status ocdm__memory_reserve(ocdm_memory *memory, uint32_t samples, ocdm_error *error);

/* Refuses minimums for policies and distances that cannot keep them. */
ocdm_status ocdm__check_minimum(const ocdm_options *options, ocdm_error *error);

/* The base of the tie keys of a shard; shard 0 has those of a memory without shards. */
uint64_t ocdm__key_base(uint64_t seed, uint64_t shard);

/* Gives a node its arrival number, and its place among equals by the tie rule. */
void ocdm__memory_stamp(ocdm_memory *memory, uint32_t node, uint64_t arrival);

/* The target p_i by class index over the classes in scope, 0 outside; they sum to 1. */
void ocdm__target(const ocdm_memory *memory, ocdm_scope scope, double *p);

/* Makes room for batches of this many samples. */
ocdm_status ocdm__memory_reserve_batch(ocdm_memory *memory, uint32_t count, ocdm_error *error);

/* Sorts whole numbers ascending, without allocating. */
void ocdm__sort(uint32_t *number, size_t count);

#endif
