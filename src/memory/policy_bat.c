/*
 * BAT-OCDM, for comparison: the memory is divided among the tasks of the stream, whose beginnings it must be told. Each task
 * has a memory of its own under OCDM, which sees the samples of that task alone. When task T begins, those of the earlier tasks
 * are shrunk by OCDM to M / T, rounded down; the new one gets the rest, so that places which a short task left free are used.
 *
 * The memories inside know samples by their arrival number. What they delete is queued, and leaves the memory around them.
 */
#include "memory/policies.h"

#include "base/bytes.h"

struct division {
    ocdm_memory **tasks; /* the last one is under way */
    size_t count, room;
    uint64_t *leaving; /* arrival numbers of samples that the tasks' memories have deleted, from `next` on */
    size_t next, end, leaving_room;
    ocdm_sample *batch; /* with arrival numbers as ids */
    size_t batch_room;
};

/* Sees the memory before its first sample: the first task begins with the first batch, if nobody has begun it. */
static ocdm_status division_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    struct division *division;
    if (memory->policy.admit != NULL) /* of a copy of the policy: the memories of the tasks would not know whom it refuses */
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave samples out of the batches instead",
                          "the policy %s divides its places among tasks, and takes no `admit`", memory->policy.name);
    OCDM_TRY(ocdm__new(&division, 1, sizeof *division, "the policy's state", error));
    *state = division;
    return OCDM_OK;
}

static void division_destroy(void *state)
{
    struct division *division = state;
    for (size_t k = 0; k < division->count; k++)
        ocdm_memory_destroy(division->tasks[k]);
    OCDM_RELEASE(division->tasks, division->leaving, division->batch, division);
}

/* ---- what leaves ---------------------------------------------------------------------------------------------------- */

/* Room for so many samples more. */
static ocdm_status reserve_leaving(struct division *division, size_t count, ocdm_error *error)
{
    if (division->next == division->end)
        division->next = division->end = 0;
    bool enough = ocdm__reserve(&division->leaving, &division->leaving_room, division->end + count, sizeof *division->leaving);
    return enough ? OCDM_OK : ocdm__fail_memory(error, "the policy's state");
}

static void queue(struct division *division, const ocdm_change *change)
{
    for (size_t i = 0; i < change->left_count; i++)
        division->leaving[division->end++] = change->left[i].id;
}

/* The sample that a task has let go, found by its arrival. O(M), once for each sample that leaves. */
static ocdm_status remove_next(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    struct division *division = state;
    const struct pool *pool = &memory->pool;
    (void)error;
    uint64_t arrival = division->leaving[division->next++];
    *slot = 0;
    while (pool->nodes[pool->node_at[*slot]].arrival != arrival)
        ++*slot;
    return OCDM_OK;
}

/* ---- tasks ---------------------------------------------------------------------------------------------------------- */

/* Samples that the tasks' memories hold, but for the last `except` of them. */
static uint32_t held(const struct division *division, size_t except)
{
    uint32_t sum = 0;
    for (size_t k = 0; k + except < division->count; k++)
        sum += ocdm_memory_size(division->tasks[k]);
    return sum;
}

/* Whether no sample has come yet, though the first task may have begun. */
static bool is_new(const struct division *division)
{
    return division->count == 1 && division->tasks[0]->arrived == 0;
}

/* The memory of the next task, with the places that the others leave. */
static ocdm_status add_task(struct division *division, const ocdm_memory *memory, ocdm_error *error)
{
    ocdm_options options = memory->options;
    options.policy = &ocdm__policy_ocdm;
    options.policy_data = NULL;
    options.capacity = memory->options.capacity - held(division, 0);
    options.seed = memory->options.seed + division->count;
    if (!ocdm__reserve(&division->tasks, &division->room, division->count + 1, sizeof *division->tasks))
        return ocdm__fail_memory(error, "the memory of a task");
    OCDM_TRY(ocdm_memory_create(&options, &division->tasks[division->count], error));
    division->count++;
    return OCDM_OK;
}

/* The weights of classes are those of the memory, which may have changed since the task's last batch. */
static ocdm_status copy_weights(ocdm_memory *task, const struct pool *pool, ocdm_error *error)
{
    for (uint32_t i = 0; i < pool->setting_count; i++)
        OCDM_TRY(ocdm_memory_set_weight(task, pool->settings[i].class_id, pool->settings[i].weight, error));
    return OCDM_OK;
}

/* After an error some tasks may have shrunk: what left them is queued and leaves with the next change. */
static ocdm_status division_begin_task(void *state, const ocdm_memory *memory, uint32_t *leaving, ocdm_error *error)
{
    struct division *division = state;
    size_t tasks = division->count + 1;
    uint32_t share = (uint32_t)(memory->options.capacity / tasks);
    bool begun = division->count > 0 && division->tasks[division->count - 1]->arrived == 0;
    if (!begun && share == 0)
        return ocdm__fail(error, OCDM_LIMIT, "a larger memory, or fewer tasks", "%lu places cannot be divided among %zu tasks",
                          (unsigned long)memory->options.capacity, tasks);
    OCDM_TRY(reserve_leaving(division, held(division, 0), error));
    for (size_t k = 0; !begun && k < division->count; k++) {
        ocdm_change change;
        if (ocdm_memory_size(division->tasks[k]) <= share)
            continue;
        OCDM_TRY(copy_weights(division->tasks[k], &memory->pool, error));
        OCDM_TRY(ocdm_memory_resize(division->tasks[k], share, &change, error));
        queue(division, &change);
    }
    if (!begun)
        OCDM_TRY(add_task(division, memory, error));
    *leaving = (uint32_t)(division->end - division->next);
    return OCDM_OK;
}

/* The memory of the task decides about the batch at once: nothing can fail after it has. */
static ocdm_status begin_batch(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                               ocdm_error *error)
{
    struct division *division = state;
    ocdm_change change;
    if (count == 0)
        return OCDM_OK;
    if (division->count == 0)
        OCDM_TRY(add_task(division, memory, error));
    if (is_new(division)) /* the memory may have got another capacity since */
        OCDM_TRY(ocdm_memory_resize(division->tasks[0], memory->options.capacity, NULL, error));
    OCDM_TRY(reserve_leaving(division, count, error));
    if (!ocdm__reserve(&division->batch, &division->batch_room, count, sizeof *division->batch))
        return ocdm__fail_memory(error, "the policy's state");
    for (size_t i = 0; i < count; i++) {
        division->batch[i] = batch[i];
        division->batch[i].id = memory->arrived + i;
    }
    ocdm_memory *task = division->tasks[division->count - 1];
    OCDM_TRY(copy_weights(task, &memory->pool, error));
    OCDM_TRY(ocdm_memory_update(task, division->batch, count, &change, error));
    queue(division, &change);
    return OCDM_OK;
}

/* ---- files ---------------------------------------------------------------------------------------------------------- */

/* Each task's memory, as its size and its file. Nothing is queued between changes. */
static ocdm_status division_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                 ocdm_error *error)
{
    const struct division *division = state;
    (void)memory;
    *size = 0;
    for (size_t k = 0; k < division->count; k++) {
        size_t length, at = *size + 8;
        OCDM_TRY(ocdm_memory_save_bytes(division->tasks[k], NULL, 0, &length, error));
        if (at + length <= room) {
            ocdm__put_u64(bytes + *size, length);
            OCDM_TRY(ocdm_memory_save_bytes(division->tasks[k], bytes + at, length, &length, error));
        }
        *size = at + length;
    }
    return OCDM_OK;
}

static int compare_sample_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether the tasks' memories hold the samples of the memory and no others. */
static ocdm_status check_division(const struct division *division, const ocdm_memory *memory, ocdm_error *error)
{
    uint32_t size = memory->pool.size, used = 0;
    if (held(division, 0) != size)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the tasks of bat-ocdm have other samples than its memory");
    uint64_t *arrivals;
    OCDM_TRY(ocdm__new(&arrivals, size, 2 * sizeof *arrivals, "the policy's state", error));
    uint64_t *inside = arrivals + size;
    for (uint32_t i = 0; i < size; i++)
        arrivals[i] = memory->pool.nodes[memory->pool.node_at[i]].arrival;
    for (size_t k = 0; k < division->count; k++)
        for (uint32_t i = 0; i < ocdm_memory_size(division->tasks[k]); i++)
            inside[used++] = ocdm_memory_id(division->tasks[k], i);
    qsort(arrivals, size, sizeof *arrivals, compare_sample_numbers);
    qsort(inside, size, sizeof *inside, compare_sample_numbers);
    bool same = size == 0 || memcmp(arrivals, inside, size * sizeof *inside) == 0;
    ocdm__release(arrivals);
    return same ? OCDM_OK : ocdm__fail(error, OCDM_BAD_FILE, "", "the tasks of bat-ocdm have other samples than its memory");
}

/* Each task's memory checks its own bytes; what they have to do with each other is checked here. */
static ocdm_status division_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size,
                                 ocdm_error *error)
{
    struct division *division = state;
    for (size_t at = 0; at < size;) {
        size_t left = size - at;
        uint64_t length = left < 8 ? 0 : ocdm__get_u64(bytes + at);
        if (left < 8 || length > left - 8)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "the tasks of bat-ocdm end too early");
        if (!ocdm__reserve(&division->tasks, &division->room, division->count + 1, sizeof *division->tasks))
            return ocdm__fail_memory(error, "the memory of a task");
        ocdm_error why;
        ocdm_status status = ocdm_memory_load_bytes(bytes + at + 8, (size_t)length, &ocdm__policy_ocdm, NULL,
                                                    &division->tasks[division->count], &why);
        if (status != OCDM_OK) /* another policy, too, is a fault of the file here */
            return ocdm__fail(error, status == OCDM_NO_MEMORY ? status : OCDM_BAD_FILE, "", "task %zu of bat-ocdm: %s",
                              division->count, why.message);
        division->count++;
        at += 8 + (size_t)length;
    }
    if (division->count > 0 && !is_new(division) &&
        division->tasks[division->count - 1]->options.capacity + held(division, 1) != memory->options.capacity)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the tasks of bat-ocdm have other capacities than its memory");
    return check_division(division, memory, error);
}

const ocdm_policy ocdm__policy_bat_ocdm = {
    .size = sizeof(ocdm_policy),
    .name = "bat-ocdm",
    .traits = OCDM_NEEDS_TASKS | DIVIDES_PLACES,
    .create = division_create,
    .destroy = division_destroy,
    .begin = begin_batch,
    .remove = remove_next,
    .save = division_save,
    .load = division_load,
    .begin_task = division_begin_task,
};
