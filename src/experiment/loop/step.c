/*
 * A step of the online experiment. The paper (Liang and Li) trains on a batch B_t of the stream together with samples B_M of
 * the memory M, then updates M with B_t:
 *
 *     B_t                                                       ocdm__schedule_batch
 *     B_M drawn from M                                          ocdm__online_draw
 *     images or features of B_t and B_M                         ocdm__online_decode
 *     one step of the network on the loss of B_t and B_M        ocdm__online_train
 *     M joined with B_t; samples are deleted until M fits:      ocdm__online_remember
 *     Algorithm 1, for OCDM by eq. (7)
 *     the curve: loss and Dist(p_omega, p), eqs. (4) and (5)    finish_step
 */
#include <math.h>

#include "base/error.h"
#include "base/progress.h"
#include "experiment/loop/run.h"

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
        OCDM_TRY(ocdm__online_decode(&run->online, &ahead, error));
        OCDM_TRY(ocdm__online_train(&run->online, &loss, error));
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

/* Whether the step after this one cannot be missed: whatever its updates leave out, they cost no more than this. */
static bool next_is_certain(const ocdm__run *run)
{
    const ocdm__online *online = &run->online;
    double budget = budget_of(run);
    if (budget == 0)
        return true;
    if (run->settings->budget.seconds > 0 || online->similarity != NULL)
        return false;
    double most = run->settings->steps_per_batch *
                  run->learner->functions->operations(run->learner->state, online->batch.count, online->batch.fresh);
    return run->cost.behind + most - budget < budget;
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

/* What is trained on next is prepared meanwhile, unless an evaluation comes first, which needs the same room. */
ocdm__batch ocdm__run_begin_update(ocdm__run *run, uint32_t number)
{
    uint32_t updates = run->settings->steps_per_batch;
    uint64_t update = run->step * updates + number;
    bool last = number + 1 == updates;
    ocdm__batch batch = {
        .step = run->step, .update = update, .again = number > 0, .begins_task = begins_task(run), .samples = run->samples};
    ocdm__batch ahead = {.step = run->step + last, .update = update + 1, .samples = last ? run->next : run->samples};
    if (number == 0)
        run->step_begun = ocdm__seconds_now();
    batch.count = ocdm__schedule_batch(&run->schedule, run->step, run->samples);
    ocdm__online_draw(&run->online, &batch);
    if (!last)
        ahead.count = batch.count;
    else if (!ocdm__run_evaluates_after(run, run->step + 1) && next_is_certain(run))
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
    OCDM_TRY(ocdm__online_remember(&run->online, error));
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
