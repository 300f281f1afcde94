/*
 * A step of the online experiment. The paper (Liang and Li) trains on a batch B_t of the stream together with samples B_M of
 * the memory M, then updates M with B_t:
 *
 *     B_t                                                       ocdm__schedule_batch
 *     B_M drawn from M                                          ocdm__run_begin_update
 *     images or features of B_t and B_M                         decode
 *     one step of the network on the loss of B_t and B_M        train
 *     M joined with B_t; samples are deleted until M fits:      remember
 *     Algorithm 1, for OCDM by eq. (7)
 *     the curve: loss and Dist(p_omega, p), eqs. (4) and (5)    finish_step
 *
 * The batch is one struct from the draw to the loss: first the samples of the stream, then those that are replayed. Samples
 * that cannot be decoded leave it before it is trained on, and never reach the memory.
 */

#include "experiment/loop/run.h"

/* ---- labels of a batch --------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__batch_label(ocdm__batch *batch, const ocdm__stream_table *table, ocdm__label_room *room, ocdm_error *error)
{
    size_t total = 0, used = 0, row = ocdm__bits_size(table->class_count);
    for (size_t i = 0; i < batch->count; i++)
        total += ocdm__sample_of(table, batch->samples[i]).label_count;
    if (!ocdm__reserve(&room->starts, &room->start_room, batch->count + 1, sizeof *room->starts) ||
        !ocdm__reserve(&room->labels, &room->label_room, total + 1, sizeof *room->labels) ||
        (table->known != NULL && !ocdm__reserve(&room->known, &room->known_room, batch->count * row + 1, 1)))
        return ocdm__fail_memory(error, "the labels of a batch");
    for (size_t i = 0; i < batch->count; i++) {
        const ocdm_sample sample = ocdm__sample_of(table, batch->samples[i]);
        room->starts[i] = used;
        memcpy(room->labels + used, sample.labels, sample.label_count * sizeof *room->labels);
        used += sample.label_count;
        if (table->known != NULL) /* a sample that is replayed has the known labels that it came with */
            memcpy(room->known + i * row, table->known + sample.id * row, row);
    }
    room->starts[batch->count] = used;
    batch->starts = room->starts;
    batch->labels = room->labels;
    batch->known = table->known != NULL ? room->known : NULL;
    return OCDM_OK;
}

void ocdm__label_room_clear(ocdm__label_room *room)
{
    ocdm__release(room->starts);
    ocdm__release(room->labels);
    ocdm__release(room->known);
    *room = (ocdm__label_room){.starts = NULL};
}

/* ---- before the first step --------------------------------------------------------------------------------------------- */

/* The input slot for replayed samples; batches of the stream alternate between the slots before it. */
#define REPLAY_SLOT 2u

/* The store learns the ranges of features from the first samples of the run: these pass through it from the first step on that
 * comes after all of them. A stream that ends before has none. */
static ocdm_status begin_store(ocdm__run *run, ocdm_error *error)
{
    ocdm__store *store = &run->store;
    uint64_t step = 0, steps = ocdm__schedule_steps(&run->schedule);
    if (run->inputs == NULL || store->kind == OCDM__STORE_NONE || store->kind == OCDM__STORE_JPEG)
        return OCDM_OK;
    float *row;
    OCDM_TRY(ocdm__new(&row, store->width, sizeof *row, "the ranges of features", error));
    for (; store->learned < store->learning && step < steps; step++) {
        size_t count = ocdm__schedule_batch(&run->schedule, step, run->samples);
        for (size_t i = 0; i < count; i++) {
            ocdm__stream_features(run->stream, run->samples[i], row);
            ocdm__store_learn(store, row);
        }
    }
    run->inputs->store = store;
    run->inputs->stored_since = store->learned < store->learning ? UINT64_MAX : step;
    ocdm__release(row);
    return OCDM_OK;
}

/* Counts the classes of a batch of the stream, if anything is counted, and a step of their ages. */
static void count_classes(ocdm__run *run, const uint32_t *samples, size_t count)
{
    const ocdm__stream_table *table = &run->stream->table;
    ocdm__online *online = &run->online;
    for (size_t c = 0; online->ages != NULL && c < table->class_count; c++)
        online->ages[c] += online->ages[c] > 0;
    for (size_t i = 0; (online->ages != NULL || online->seen != NULL) && i < count; i++)
        for (const uint32_t *label = ocdm__labels(table, samples[i]); label < ocdm__labels(table, samples[i] + (size_t)1);
             label++) {
            if (online->seen != NULL)
                online->seen[*label]++;
            if (online->ages != NULL && online->ages[*label] == 0)
                online->ages[*label] = 1;
        }
}

/* Makes room for the steps. Some of it only some settings need: counts of classes where these have weights in the loss or
 * averages begin with them, keys where samples are not drawn alike, logits for --dark. Counts cover the steps before a resume,
 * too. */
ocdm_status ocdm__run_begin(ocdm__run *run, ocdm_error *error)
{
    const ocdm__run_settings *settings = run->settings;
    ocdm__online *online = &run->online;
    ocdm__arena *arena = &run->arena;
    size_t batch = run->schedule.batch, replay = settings->replay, classes = run->stream->table.class_count;
    size_t room = batch + replay, size = run->inputs != NULL ? run->inputs->size : 0;
    OCDM_TRY(begin_store(run, error));
    online->slots = ocdm__arena_new(arena, replay, sizeof *online->slots);
    online->samples = ocdm__arena_new(arena, room, sizeof *online->samples);
    online->offered = ocdm__arena_new(arena, batch, sizeof *online->offered);
    online->input = ocdm__arena_new(arena, room * sizeof *online->input, size);
    if (run->learner != NULL && settings->pseudo > 0)
        online->guesses = ocdm__arena_new(arena, room, classes * sizeof *online->guesses);
    if (run->learner != NULL && (settings->average_start == OCDM__AVERAGE_SINCE_CLASS || settings->pseudo > 0))
        online->ages = ocdm__arena_new(arena, classes, sizeof *online->ages);
    if (run->learner != NULL && settings->loss_balance != 0) {
        online->seen = ocdm__arena_new(arena, classes, sizeof *online->seen);
        online->class_weights = ocdm__arena_new(arena, classes, sizeof *online->class_weights);
    }
    if (settings->replay_policy != OCDM__REPLAY_UNIFORM)
        online->keys = ocdm__arena_new(arena, replay, sizeof *online->keys);
    if (run->replays.width > run->replays.losses)
        online->dark = ocdm__arena_new(arena, replay, classes * sizeof *online->dark);
    OCDM_TRY(ocdm__arena_check(arena, "the batches of a run", error));
    OCDM_TRY(ocdm__similarity_open(run, REPLAY_SLOT, error));
    bool counts = online->ages != NULL || online->seen != NULL;
    for (uint64_t step = 0; counts && step < run->step; step++)
        if (!ocdm__run_missed(run, step))
            count_classes(run, run->samples, ocdm__schedule_batch(&run->schedule, step, run->samples));
    return OCDM_OK;
}

/* ---- the parts of a step ------------------------------------------------------------------------------------------------- */

/* Joins this process's samples of the batch: those of the stream, which were requested ahead, then those of the memory. Begins
 * to read those of the batch after it, if its count is not 0. */
static ocdm_status decode(ocdm__run *run, const ocdm__batch *ahead, ocdm_error *error)
{
    ocdm__model_inputs *inputs = run->inputs;
    ocdm__online *online = &run->online;
    ocdm__batch *batch = &online->batch;
    size_t count = batch->count, fresh = batch->fresh, usual = ahead->count + (run->memory != NULL ? run->settings->replay : 0);
    unsigned slot = online->turn++ % REPLAY_SLOT, next = online->turn % REPLAY_SLOT;
    double begun = ocdm__seconds_now();
    if (run->learner == NULL)
        return OCDM_OK;
    OCDM_TRY(ocdm__model_inputs_deal(inputs, slot, batch, true, count, 0, fresh, error));
    OCDM_TRY(ocdm__model_inputs_deal(inputs, REPLAY_SLOT, batch, true, count, fresh, count, error));
    OCDM_TRY(ocdm__model_inputs_deal(inputs, next, ahead, true, usual, 0, ahead->count, error));
    OCDM_TRY(ocdm__model_inputs_receive(inputs, slot, REPLAY_SLOT, online->input, batch, error));
    for (size_t i = batch->fresh; i < batch->count; i++) /* the slots of the replayed samples that are left */
        online->slots[i - batch->fresh] = online->slots[batch->usable[i] - fresh];
    run->skipped += batch->again ? 0 : fresh - batch->fresh;
    run->times.decode += ocdm__seconds_now() - begun;
    return OCDM_OK;
}

/* NaN for a learner that does not know them, and without one. */
static double operations_of(const ocdm__learner *learner, size_t count, size_t fresh)
{
    bool known = learner != NULL && learner->functions->operations != NULL;
    return known ? learner->functions->operations(learner->state, count, fresh) : NAN;
}

/* The learner sees the whole batch at once; errors say in which step and, if it is one, for which sample. The loss is NaN when
 * there is nothing to train on. */
static ocdm_status train(ocdm__run *run, double *loss, ocdm_error *error)
{
    const ocdm__learner *learner = run->learner;
    const ocdm__replay *replays = &run->replays;
    ocdm__online *online = &run->online;
    ocdm__batch *batch = &online->batch;
    size_t classes = run->stream->table.class_count, bad = 0;
    unsigned long long step = batch->step + 1;
    ocdm_error found = {.message = ""};
    double begun = ocdm__seconds_now();
    *loss = NAN;
    if (learner == NULL || batch->count == 0)
        return OCDM_OK;
    OCDM_TRY(ocdm__batch_label(batch, &run->stream->table, &online->labels, error));
    OCDM_TRY(ocdm__add_pseudo_labels(run, error));
    /* (mean / n_c)^balance, the mean over the classes seen so far; 1 for the others. */
    uint64_t total = 0, known = 0;
    for (size_t c = 0; online->seen != NULL && c < classes; c++) {
        total += online->seen[c];
        known += online->seen[c] > 0;
    }
    for (size_t c = 0; online->seen != NULL && c < classes; c++) {
        double count = (double)online->seen[c] * (double)known;
        online->class_weights[c] = count > 0 ? (float)pow((double)total / count, run->settings->loss_balance) : 1;
    }
    for (size_t i = 0; online->dark != NULL && i < batch->count - batch->fresh; i++)
        memcpy(online->dark + i * classes, replays->kept + online->slots[i] * replays->width + replays->losses,
               classes * sizeof *online->dark);
    batch->class_weights = online->class_weights;
    batch->dark = online->dark;
    batch->ages = run->settings->average_start == OCDM__AVERAGE_SINCE_CLASS ? online->ages : NULL;
    ocdm_status status = learner->functions->train(learner->state, batch, loss, &bad, &found);
    if (status == OCDM_BAD_RECORD)
        return ocdm__fail(error, status, found.hint, "step %llu: the loss of sample %u is not a finite number", step,
                          batch->samples[bad]);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, found.hint, "step %llu: %s", step, found.message);
    ocdm__replay_note(run, online->slots, batch->count - batch->fresh, NULL, batch->fresh);
    double operations = operations_of(learner, batch->count, batch->fresh);
    online->operations += operations;
    online->operations += online->guesses != NULL ? operations / 3 : 0; /* one more forward pass, a third of a step */
    run->times.train += ocdm__seconds_now() - begun;
    return OCDM_OK;
}

/* Updates the memory with the samples of the stream. */
static ocdm_status remember(ocdm__run *run, ocdm_error *error)
{
    ocdm__online *online = &run->online;
    double begun = ocdm__seconds_now();
    ocdm_change change;
    if (run->memory == NULL)
        return OCDM_OK;
    online->asked = 0;
    for (size_t i = 0; i < online->batch.fresh; i++)
        online->offered[i] = ocdm__sample_of(&run->stream->table, online->batch.samples[i]);
    if (online->batch.begins_task) {
        OCDM_TRY(ocdm_memory_begin_task(run->memory, &change, error));
        ocdm__replay_move(&run->replays, change.moved, change.moved_count);
    }
    OCDM_TRY(ocdm_memory_update(run->memory, online->offered, online->batch.fresh, &change, error));
    ocdm__replay_note(run, change.slot, change.stored, change.item, 0);
    if (run->similarity != NULL)
        online->operations += operations_of(run->learner, online->asked, online->asked);
    run->times.update += ocdm__seconds_now() - begun;
    return OCDM_OK;
}

/* ---- the step ---------------------------------------------------------------------------------------------------------- */

/* The loss of a step is the mean of those of its updates. */
ocdm_status ocdm__run_step(ocdm__run *run, ocdm_error *error)
{
    uint32_t updates = run->settings->steps_per_batch;
    double loss, sum = 0;
    if (ocdm__run_is_busy(run)) {
        ocdm__run_miss_step(run);
        return OCDM_OK;
    }
    for (uint32_t i = 0; i < updates; i++) {
        const ocdm__batch ahead = ocdm__run_begin_update(run, i); /* B_t and B_M are drawn */
        OCDM_TRY(decode(run, &ahead, error));
        OCDM_TRY(train(run, &loss, error));
        sum += loss;
    }
    return ocdm__run_end_step(run, sum / updates, error); /* M is updated */
}

/* In the unit that it was given in; 0: none. */
static double budget_of(const ocdm__run *run)
{
    const ocdm__budget *budget = &run->settings->budget;
    return budget->seconds > 0 ? budget->seconds : budget->operations;
}

/* Whether the step is the first of its task that is not missed. */
static bool begins_task(const ocdm__run *run)
{
    const ocdm__schedule *schedule = &run->schedule;
    size_t place = ocdm__schedule_place(schedule, run->step);
    uint64_t first = place > 0 ? schedule->task_ends[place - 1] : 0, step = run->step;
    while (step > first && ocdm__run_missed(run, step - 1))
        step--;
    return step == first;
}

/* Makes the batch: samples of the stream, then those that are drawn from the memory. What is trained on next is prepared
 * meanwhile, unless an evaluation comes first, which needs the same room, or the step after this one may be missed: whatever
 * its updates leave out, they cost no more than those of this batch. */
ocdm__batch ocdm__run_begin_update(ocdm__run *run, uint32_t number)
{
    ocdm__online *online = &run->online;
    uint32_t updates = run->settings->steps_per_batch;
    uint64_t update = run->step * updates + number;
    bool last = number + 1 == updates;
    run->step_begun = number == 0 ? ocdm__seconds_now() : run->step_begun;
    size_t fresh = ocdm__schedule_batch(&run->schedule, run->step, run->samples);
    double begun = ocdm__seconds_now();
    if (number == 0) {
        count_classes(run, run->samples, fresh);
        online->operations = 0;
    }
    size_t drawn = run->memory != NULL && run->learner != NULL ? ocdm__replay_draw(run, update) : 0;
    memcpy(online->samples, run->samples, fresh * sizeof *online->samples);
    for (size_t i = 0; i < drawn; i++)
        online->samples[fresh + i] = (uint32_t)ocdm_memory_id(run->memory, online->slots[i]);
    online->batch = (ocdm__batch){.step = run->step,
                                  .update = update,
                                  .again = number > 0,
                                  .begins_task = begins_task(run),
                                  .samples = online->samples,
                                  .count = fresh + drawn,
                                  .fresh = fresh};
    run->times.draw += ocdm__seconds_now() - begun;
    ocdm__batch ahead = {.step = run->step + last, .update = update + 1, .samples = last ? run->next : run->samples};
    double budget = budget_of(run), most = budget > 0 ? updates * operations_of(run->learner, fresh + drawn, fresh) : 0;
    bool certain = budget == 0 ||
                   (run->settings->budget.seconds == 0 && run->similarity == NULL && run->cost.behind + most - budget < budget);
    if (!last)
        ahead.count = fresh;
    else if (!ocdm__run_evaluates_after(run, run->step + 1) && certain)
        ahead.count = ocdm__schedule_batch(&run->schedule, run->step + 1, run->next);
    ahead.fresh = ahead.count;
    return ahead;
}

/* A step that was missed is a step too: the curve and the log have it with no loss. */
static void finish_step(ocdm__run *run, double loss)
{
    run->loss = loss;
    run->step++;
    if (ocdm__run_logs_step(run)) {
        ocdm__curve_point point = ocdm__run_point(run);
        ocdm__curve_add(run->curve, &point);
    }
}

ocdm_status ocdm__run_end_step(ocdm__run *run, double loss, ocdm_error *error)
{
    OCDM_TRY(remember(run, error));
    bool known = run->learner == NULL || run->learner->functions->operations != NULL;
    /* An idle learner cannot save time for later. */
    double operations = known ? run->online.operations : NAN;
    double cost = run->settings->budget.seconds > 0 ? ocdm__seconds_now() - run->step_begun : operations;
    if (run->misses != NULL)
        run->cost.behind = fmax(run->cost.behind + cost - budget_of(run), 0);
    run->cost.operations += operations;
    run->cost.updates += run->learner != NULL ? run->settings->steps_per_batch : 0;
    finish_step(run, loss);
    return OCDM_OK;
}

/* ---- steps that are missed ------------------------------------------------------------------------------------------- */

/*
 * A batch comes whenever the budget of the one before is used up, as in real-time evaluation (Ghunaim et al. 2023): a batch is
 * the newest one until the next comes, and a learner that becomes free takes the newest. It is missed if the learner is busy
 * for all that time.
 */
bool ocdm__run_is_busy(const ocdm__run *run)
{
    double budget = budget_of(run);
    uint32_t word = budget > 0 && run->cost.behind >= budget;
    if (run->settings->budget.seconds > 0) /* times differ between ranks: the leader decides */
        run->ranks->broadcast(&word, 1);
    return word != 0;
}

bool ocdm__run_missed(const ocdm__run *run, uint64_t step)
{
    return run->misses != NULL && (run->misses[step / 8] >> step % 8 & 1) != 0;
}

void ocdm__run_miss_step(ocdm__run *run)
{
    run->cost.missed++;
    run->cost.missed_samples += (double)ocdm__schedule_batch(&run->schedule, run->step, run->samples);
    run->cost.behind = fmax(run->cost.behind - budget_of(run), 0);
    run->misses[run->step / 8] |= (uint8_t)(1u << run->step % 8);
    finish_step(run, NAN);
}
