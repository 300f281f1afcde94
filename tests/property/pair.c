/* Changes both memories and compares them. */
#include "pair.h"

#include "compare.h"

#include "../toy_gradients.h"
#include "base/allocate.h"

#include <stdio.h>
#include <string.h>

void pair_open(struct pair *pair, const ocdm_options *options, const char *name)
{
    ocdm_options roomy = *options;
    memset(pair, 0, sizeof *pair);
    snprintf(pair->where, sizeof pair->where, "%s: %s, %s, tie %s, rho %g, M %u", name, options->policy->name,
             ocdm_distance_name(options->distance), ocdm_tie_name(options->tie), options->rho, options->capacity);
    pair->memory = make_memory(options);
    roomy.capacity = PAIR_LARGEST_MEMORY;
    pair->naive = naive_create(&roomy, PAIR_LARGEST_BATCH);
    pair->naive->options.capacity = options->capacity;
}

void pair_close(struct pair *pair)
{
    ocdm_memory_destroy(pair->memory);
    naive_destroy(pair->naive);
}

static void follow_change(struct pair *pair, const ocdm_change *change, const ocdm_sample *batch)
{
    for (size_t i = 0; i < change->moved_count; i++) {
        HOLDS(pair->where, change->moved[i].from > change->moved[i].to);
        pair->payload[change->moved[i].to] = pair->payload[change->moved[i].from];
    }
    for (size_t i = 0; i < change->stored; i++)
        pair->payload[change->slot[i]] = batch[change->item[i]].id;
    for (uint32_t slot = 0; slot < ocdm_memory_size(pair->memory); slot++)
        HOLDS(pair->where, pair->payload[slot] == ocdm_memory_id(pair->memory, slot));
    compare_change(change, pair->naive, pair->where);
    compare_memory(pair->memory, pair->naive, pair->where);
}

/* The judge decides by itself, except for distances that it knows by their definition only: of those it checks the choices. */
static naive_choice *choice_of(const struct naive *naive)
{
    const ocdm_policy *policy = naive->options.policy;
    bool minimises = policy == ocdm_policy_find("ocdm") || policy == ocdm_policy_find("onlyone");
    return minimises && naive->options.distance != OCDM_KL ? follow_departures : NULL;
}

void pair_update(struct pair *pair, const ocdm_sample *batch, size_t count)
{
    ocdm_change change = offer(pair->memory, batch, count, pair->where);
    struct witness witness = {&change, pair->where};
    HOLDS(pair->where, change.moved_count == 0);
    naive_update(pair->naive, batch, count, choice_of(pair->naive), &witness);
    follow_change(pair, &change, batch);
}

void pair_weigh(struct pair *pair, uint32_t id, double weight)
{
    HOLDS(pair->where, ocdm_memory_set_weight(pair->memory, id, weight, NULL) == OCDM_OK);
    HOLDS(pair->where, ocdm_memory_weight(pair->memory, id) == weight);
    naive_set_weight(pair->naive, id, weight);
    compare_memory(pair->memory, pair->naive, pair->where);
}

void pair_forget(struct pair *pair, uint64_t id)
{
    ocdm_change change;
    HOLDS(pair->where, ocdm_memory_forget(pair->memory, id, &change, NULL) == OCDM_OK);
    HOLDS(pair->where, change.stored == 0 && change.left_count == 1 && change.left[0].id == id);
    naive_forget(pair->naive, id);
    follow_change(pair, &change, NULL);
    HOLDS(pair->where, ocdm_memory_forget(pair->memory, id, NULL, NULL) == OCDM_UNKNOWN_ID);
}

void pair_resize(struct pair *pair, uint32_t capacity)
{
    ocdm_change change;
    HOLDS(pair->where, ocdm_memory_resize(pair->memory, capacity, &change, NULL) == OCDM_OK);
    HOLDS(pair->where, ocdm_memory_options(pair->memory)->capacity == capacity);
    struct witness witness = {&change, pair->where};
    naive_resize(pair->naive, capacity, choice_of(pair->naive), &witness);
    follow_change(pair, &change, NULL);
}

void pair_reload(struct pair *pair)
{
    size_t size, again;
    ocdm_error error;
    HOLDS(pair->where, ocdm_memory_save_bytes(pair->memory, NULL, 0, &size, &error) == OCDM_OK);
    unsigned char *bytes = ocdm__allocate(size, 1), *second = ocdm__allocate(size, 1);
    HOLDS(pair->where, ocdm_memory_save_bytes(pair->memory, bytes, size, &again, &error) == OCDM_OK && again == size);
    ocdm_memory *loaded = NULL;
    if (ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, &error) != OCDM_OK)
        fail_msg("%s: %s", pair->where, error.message);
    HOLDS(pair->where, ocdm_memory_save_bytes(loaded, second, size, &again, &error) == OCDM_OK && again == size);
    HOLDS(pair->where, memcmp(bytes, second, size) == 0);
    ocdm_memory_destroy(pair->memory);
    pair->memory = with_gradients(loaded);
    compare_memory(pair->memory, pair->naive, pair->where);
    ocdm__release(bytes);
    ocdm__release(second);
}
