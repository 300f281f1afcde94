/* The public experiment: the caller's learner, called by the loop through the table of functions, or outside the loop, from
 * which it requests each step. */
#include "ocdm/experiment.h"

#include "base/progress.h"
#include "base/text.h"
#include "experiment/folder/run_folder.h"
#include "experiment/loop/learner.h"

/* The tensor of a checkpoint that has the learner's bytes. */
static const char saved_name[] = "state";

/* The part of a batch that the public header shows. */
static ocdm_learner_batch public_batch(const ocdm__batch *batch)
{
    return (ocdm_learner_batch){.count = batch->count,
                                .features = batch->input,
                                .starts = batch->starts,
                                .labels = batch->labels,
                                .samples = batch->samples,
                                .known = batch->known};
}

/* A learner of the caller's; `functions` are those that it has. The loop calls one that does not ask. */
struct outside {
    ocdm_learner learner;
    ocdm__learner_functions functions;
    bool asks;         /* for each step: its state comes with ocdm_loop_checkpoint */
    const void *bytes; /* its state, to be saved now */
    void *saved;       /* of one that asks: that of the checkpoint that the run goes on from */
    size_t size, saved_size;
};

static ocdm_status train(void *state, const ocdm__batch *batch, double *loss, size_t *bad, ocdm_error *error)
{
    const ocdm_learner *learner = &((const struct outside *)state)->learner;
    const ocdm_learner_batch samples = public_batch(batch);
    *bad = 0;
    return learner->train(learner->state, &samples, loss, error);
}

static ocdm_status predict(void *state, const float *input, size_t count, float *logits, ocdm_error *error)
{
    const ocdm_learner *learner = &((const struct outside *)state)->learner;
    return learner->predict(learner->state, input, count, logits, error);
}

static ocdm_status gradient(void *state, const ocdm__batch *batch, float *room, ocdm_error *error)
{
    const ocdm_learner *learner = &((const struct outside *)state)->learner;
    const ocdm_learner_batch samples = public_batch(batch);
    return learner->gradient(learner->state, &samples, room, error);
}

static size_t gradient_size(const void *state)
{
    return ((const struct outside *)state)->learner.gradient_size;
}

/* The caller's bytes are one tensor: the loop does not look into them. */
static ocdm_status save(void *state, bool all, ocdm__tensor_list *tensors, ocdm_error *error)
{
    (void)all; /* the bytes are not divided */
    struct outside *outside = state;
    struct ocdm__tensor *made;
    if (!outside->asks)
        outside->bytes = outside->learner.save(outside->learner.state, &outside->size);
    if (outside->bytes == NULL)
        return ocdm__fail_memory(error, "the state of the learner");
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the state of the learner", error));
    *made = ocdm__tensor_of(saved_name, OCDM__U8, outside->bytes, outside->size);
    *tensors = (ocdm__tensor_list){.tensors = made, .count = 1};
    return OCDM_OK;
}

/* A learner that asks gets a copy later, as the checkpoint is closed again. */
static ocdm_status load(void *state, const struct ocdm__weights *file, ocdm_error *error)
{
    struct outside *outside = state;
    const struct ocdm__tensor *saved = ocdm__safetensors_find(file->file, saved_name);
    if (saved == NULL || saved->dtype != OCDM__U8)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: the state of the learner is missing", file->name);
    if (!outside->asks)
        return outside->learner.load(outside->learner.state, saved->data, saved->size, error);
    OCDM_TRY(ocdm__new(&outside->saved, saved->size, 1, "the state of the learner", error));
    memcpy(outside->saved, saved->data, saved->size);
    outside->saved_size = saved->size;
    return OCDM_OK;
}

/* It belongs to whoever made the learner. */
static void leave(void *state)
{
    (void)state;
}

/* Callers that were compiled with an older header have shorter structs, whose other members are 0. */
static struct outside read_learner(const ocdm_learner *learner)
{
    struct outside outside = {.functions = {.save = save, .load = load, .destroy = leave}};
    memcpy(&outside.learner, learner, learner->size < sizeof *learner ? learner->size : sizeof *learner);
    if (outside.learner.gradient != NULL) {
        outside.functions.gradient = gradient;
        outside.functions.gradient_size = gradient_size;
    }
    return outside;
}

/* ---- settings ---------------------------------------------------------------------------------------------------------- */

/* The same for an experiment. */
static ocdm_experiment read_experiment(const ocdm_experiment *experiment)
{
    ocdm_experiment asked = {.size = 0};
    memcpy(&asked, experiment, experiment->size < sizeof asked ? experiment->size : sizeof asked);
    return asked;
}

/* log_every is the same as log-every. */
static bool is_name_of(const ocdm__setting *setting, const char *name)
{
    size_t i = 0;
    while (name[i] != '\0' && (setting->flag[i] == name[i] || (setting->flag[i] == '-' && name[i] == '_')))
        i++;
    return name[i] == '\0' && setting->flag[i] == '\0';
}

/* The settings that the caller gives as texts. */
static ocdm_status read_settings(const ocdm_experiment *asked, const ocdm_learner *learner, ocdm__run_settings *settings,
                                 uint64_t *order, ocdm_error *error)
{
    static const char hint[] = "`ocdm run --help` lists the settings";
    bool memory = false;
    if (learner->name == NULL || learner->name[0] == '\0')
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "it is the model in the files of the run", "the learner lacks its name");
    if (ocdm__is_among(learner->name, ocdm__run_models))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give it another name", "a model of ocdm is called %s", learner->name);
    *settings = ocdm__run_settings_default();
    settings->model = learner->name;
    settings->own_learner = true;
    for (const char *const *at = asked->settings; at != NULL && *at != NULL; at += 2) {
        const char *name = at[0], *value = at[1];
        size_t i = 0;
        while (ocdm__setting_at(i) != NULL && !is_name_of(ocdm__setting_at(i), name))
            i++;
        const ocdm__setting *setting = ocdm__setting_at(i);
        if (setting == NULL)
            return ocdm__fail(error, OCDM_UNKNOWN_NAME, hint, "there is no setting \"%s\"", name);
        if (setting->choices == ocdm__run_models)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the model is the name of the learner, not a setting");
        if (value == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the setting \"%s\" has no value", name);
        OCDM_TRY(ocdm__setting_read(setting, value, settings, order, error));
        memory = memory || setting == ocdm__setting_of_flag("memory");
    }
    if (memory && settings->memory_bytes > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give one of them", "the settings memory and memory-bytes are both given");
    return OCDM_OK;
}

ocdm_experiment ocdm_experiment_default(void)
{
    return (ocdm_experiment){.size = sizeof(ocdm_experiment)};
}

/* ---- a learner that is called ------------------------------------------------------------------------------------------ */

/* The loop reads the samples as features and calls the learner with them; one that asks reads them itself, by their numbers. */
static ocdm_status make(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *made, ocdm_error *error)
{
    struct outside *outside = maker->context;
    (void)settings;
    *made = (ocdm__learner){.functions = &outside->functions, .state = outside};
    return outside->asks ? OCDM_OK : outside->learner.begin(outside->learner.state, inputs->size, class_count, error);
}

ocdm_status ocdm_experiment_run(const ocdm_experiment *experiment, const ocdm_learner *learner, ocdm_error *error)
{
    const ocdm_experiment asked = read_experiment(experiment);
    struct outside outside = read_learner(learner);
    const ocdm_learner *given = &outside.learner;
    outside.functions.train = train;
    outside.functions.predict = predict;
    if (asked.stream == NULL || asked.folder == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the experiment lacks its stream or folder");
    if (given->begin == NULL || given->train == NULL || given->predict == NULL || given->save == NULL || given->load == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "only gradient may be NULL", "the learner lacks a function");
    const ocdm__learner_maker maker = {.make = make, .context = &outside};
    const ocdm__run_hooks hooks = {.progress = {.stop = asked.stop}, .note = asked.note, .state = asked.note_state};
    ocdm__stream stream = {.task_count = 0};
    uint64_t order[OCDM__MOST_TASKS];
    ocdm__run_settings settings;
    const ocdm__run_job job = {
        .settings = &settings, .stream = &stream, .learner = &maker, .folder = asked.folder, .resume = asked.resume};
    ocdm_status status = read_settings(&asked, given, &settings, order, error);
    OCDM_THEN(status, ocdm__stream_open(&stream, asked.stream, error));
    OCDM_THEN(status, ocdm__run_settings_resolve(&settings, &stream, asked.stream, error));
    OCDM_THEN(status, ocdm__run_in_folder(&job, &hooks, error));
    ocdm__stream_close(&stream);
    return status;
}

/* ---- a learner that asks ----------------------------------------------------------------------------------------------- */

/* What the caller has to do next: ask for a step, train, evaluate; nothing once the run is finished; close after an error that
 * leaves run and files at different places. */
enum duty { ASK, TRAIN, EVALUATE, NOTHING, CLOSE };

struct ocdm_loop {
    struct outside outside;
    ocdm__run_settings settings;
    uint64_t order[OCDM__MOST_TASKS];
    ocdm__learner_maker maker;
    ocdm__run_job job;
    ocdm__run_folder *folder;
    ocdm__run *run; /* of the folder */
    enum duty duty;
    ocdm_loop_step step;
    ocdm_learner_batch batch; /* of the step */
    double begun;             /* when the step was given out */
    uint32_t updates;         /* of the step under way that are done */
    double losses;            /* their sum */
    bool owed;                /* a checkpoint that was due after a step that was missed */
    float *part;              /* room for the scores of evaluations at any time */
};

/* A run that is finished has nothing to do. */
ocdm_status ocdm_loop_open(const ocdm_experiment *experiment, const ocdm_stream *stream, const ocdm_learner *learner,
                           ocdm_loop **loop, ocdm_error *error)
{
    const ocdm_experiment asked = read_experiment(experiment);
    const ocdm__stream *inside = ocdm__stream_inside(stream);
    const ocdm__run_hooks hooks = {.note = asked.note, .state = asked.note_state};
    if (asked.folder == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the experiment lacks its folder");
    ocdm_loop *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a loop", error));
    made->outside = read_learner(learner);
    made->outside.asks = true;
    made->maker = (ocdm__learner_maker){.make = make, .context = &made->outside, .reads_samples = true};
    made->job = (ocdm__run_job){
        .settings = &made->settings, .stream = inside, .learner = &made->maker, .folder = asked.folder, .resume = asked.resume};
    ocdm_status status = read_settings(&asked, &made->outside.learner, &made->settings, made->order, error);
    made->settings.own_inputs = true;
    OCDM_THEN(status, ocdm__run_settings_resolve(&made->settings, inside, inside->file.name, error));
    OCDM_THEN(status, ocdm__folder_open(&made->job, &hooks, &made->folder, error));
    if (status == OCDM_OK) {
        made->run = made->folder->run;
        made->duty = made->folder->finished ? NOTHING : ASK;
        *loop = made;
    } else
        ocdm_loop_close(made);
    return status;
}

void ocdm_loop_close(ocdm_loop *loop)
{
    if (loop == NULL)
        return;
    ocdm__folder_close(loop->folder);
    OCDM_RELEASE(loop->outside.saved, loop->part, loop);
}

const void *ocdm_loop_saved(const ocdm_loop *loop, size_t *size)
{
    *size = loop->outside.saved_size;
    return loop->outside.saved;
}

/* ---- its steps --------------------------------------------------------------------------------------------------------- */

/* Refuses calls that are out of order. */
static ocdm_status check_duty(const ocdm_loop *loop, enum duty wanted, ocdm_error *error)
{
    static const char *const missing[] = {[ASK] = "no step is under way",
                                          [TRAIN] = "the step is not done",
                                          [EVALUATE] = "the evaluation after the step is missing",
                                          [NOTHING] = "the run is finished",
                                          [CLOSE] = "an error ended the run; open it again"};
    if (loop->duty == wanted)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the order is: next step, done, evaluation if due, checkpoint", "%s: %s",
                      loop->job.folder, missing[loop->duty]);
}

/* The next duty, if all went well. */
static ocdm_status closing(ocdm_loop *loop, ocdm_status status, enum duty next)
{
    loop->duty = status == OCDM_OK ? next : CLOSE;
    return status;
}

ocdm_status ocdm_loop_next(ocdm_loop *loop, const ocdm_loop_step **step, ocdm_error *error)
{
    static const size_t no_starts[1] = {0};
    *step = NULL;
    if (loop->duty == NOTHING)
        return OCDM_OK;
    OCDM_TRY(check_duty(loop, ASK, error));
    ocdm__run *run = loop->run;
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && loop->updates == 0 && ocdm__run_due(run) == OCDM__RUN_STEPPED && ocdm__run_is_busy(run)) {
        ocdm__run_miss_step(run); /* it passes while the learner is busy */
        loop->owed = loop->owed || ocdm__folder_saves_after(loop->folder, run->step);
        status = ocdm__folder_log(loop->folder, OCDM__RUN_STEPPED, error);
    }
    if (status != OCDM_OK)
        return closing(loop, status, CLOSE);
    enum ocdm__run_event due = ocdm__run_due(run);
    if (due == OCDM__RUN_FINISHED)
        return closing(loop, ocdm__folder_finish(loop->folder, error), NOTHING);
    if (due == OCDM__RUN_STEPPED) { /* draws the samples of the next update, and says what comes after it */
        ocdm__batch *batch = &run->online.batch;
        (void)ocdm__run_begin_update(run, loop->updates);
        status = ocdm__batch_label(batch, &run->stream->table, &run->online.labels, error);
        bool ends = loop->updates + 1 == loop->settings.steps_per_batch;
        bool last = ends && run->step + 1 == run->schedule.task_ends[run->evaluation_count];
        bool saves = loop->owed || ocdm__folder_saves_after(loop->folder, run->step + 1);
        loop->batch = public_batch(batch);
        loop->step = (ocdm_loop_step){.batch = &loop->batch,
                                      .new_count = batch->fresh,
                                      .evaluate = ends && ocdm__run_evaluates_after(run, run->step + 1),
                                      .checkpoint = last || (ends && saves),
                                      .update = loop->updates + 1};
    } else { /* only an evaluation is due */
        loop->batch = (ocdm_learner_batch){.starts = no_starts};
        loop->step = (ocdm_loop_step){.batch = &loop->batch, .evaluate = true, .checkpoint = true};
    }
    loop->step.number = run->step + (due == OCDM__RUN_STEPPED);
    loop->step.task = run->schedule.order.tasks[run->evaluation_count];
    loop->begun = ocdm__seconds_now();
    *step = &loop->step;
    return closing(loop, status, TRAIN);
}

/* A step ends with the last of its updates: the memory is updated then, and its loss is their mean. */
ocdm_status ocdm_loop_done(ocdm_loop *loop, double loss, ocdm_error *error)
{
    enum duty next = loop->step.evaluate ? EVALUATE : ASK;
    OCDM_TRY(check_duty(loop, TRAIN, error));
    if (loop->batch.count == 0)
        return closing(loop, OCDM_OK, next);
    loop->run->times.train += ocdm__seconds_now() - loop->begun;
    loop->losses = loop->updates == 0 ? loss : loop->losses + loss;
    if (++loop->updates < loop->settings.steps_per_batch)
        return closing(loop, OCDM_OK, next);
    loss = loop->losses / loop->updates;
    loop->updates = 0;
    ocdm_status status = ocdm__run_end_step(loop->run, loss, error);
    OCDM_THEN(status, ocdm__folder_log(loop->folder, OCDM__RUN_STEPPED, error));
    return closing(loop, status, next);
}

/* Whether an evaluation is due that needs a part of the tests only. */
static bool is_of_part(const ocdm__run *run)
{
    return ocdm__run_due(run) == OCDM__RUN_PROBED && run->step != run->schedule.task_ends[run->evaluation_count];
}

/* Tasks without training samples are evaluated together with the task before them. */
const uint32_t *ocdm_loop_tests(const ocdm_loop *loop, size_t *count)
{
    const ocdm__run *run = loop->run;
    size_t last = run->evaluation_count, tasks = run->schedule.order.task_count;
    if (is_of_part(run)) {
        *count = run->probes.part.ends[ocdm__schedule_tasks_seen(&run->schedule, run->step) - 1];
        return run->probes.part.samples;
    }
    last = last < tasks ? last : tasks - 1;
    while (last + 1 < tasks && run->schedule.task_ends[last + 1] == run->step)
        last++;
    *count = run->tests.ends[run->schedule.tested[last] - 1];
    return run->tests.samples;
}

/* Makes the evaluation that is due, at any time or after a task. A score that is not finite is the caller's. */
static ocdm_status evaluate_once(ocdm_loop *loop, const float *scores, ocdm_error *error)
{
    ocdm__run *run = loop->run;
    const ocdm__probes *probes = &run->probes;
    enum ocdm__run_event due = ocdm__run_due(run);
    size_t classes = run->stream->table.class_count;
    ocdm_error found = {.status = OCDM_OK};
    if (scores == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: the scores of the evaluation are missing", loop->job.folder);
    if (due == OCDM__RUN_PROBED && !is_of_part(run)) { /* the scores are those of all tests of the tasks so far */
        size_t count = probes->part.ends[ocdm__schedule_tasks_seen(&run->schedule, run->step) - 1];
        if (loop->part == NULL)
            OCDM_TRY(
                ocdm__new(&loop->part, probes->part.count * classes, sizeof *loop->part, "the scores of an evaluation", error));
        for (size_t i = 0; i < count; i++)
            memcpy(loop->part + i * classes, scores + probes->places[i] * classes, classes * sizeof *scores);
        scores = loop->part;
    }
    ocdm_status status = (due == OCDM__RUN_PROBED ? ocdm__run_probe : ocdm__run_evaluate)(run, scores, NULL, &found);
    if (status != OCDM_OK)
        return ocdm__fail(error, status == OCDM_BAD_RECORD ? OCDM_BAD_ARGUMENT : status, found.hint, "%s", found.message);
    bool more = ocdm__run_due(run) == OCDM__RUN_EVALUATED;
    return closing(loop, ocdm__folder_log(loop->folder, due, error), more ? EVALUATE : ASK);
}

/* Tasks without training samples have their evaluations at the same step. */
ocdm_status ocdm_loop_evaluate(ocdm_loop *loop, const float *scores, ocdm_error *error)
{
    OCDM_TRY(check_duty(loop, EVALUATE, error));
    if (ocdm__run_due(loop->run) == OCDM__RUN_PROBED)
        OCDM_TRY(evaluate_once(loop, scores, error));
    while (ocdm__run_due(loop->run) == OCDM__RUN_EVALUATED)
        OCDM_TRY(evaluate_once(loop, scores, error));
    return OCDM_OK;
}

ocdm_status ocdm_loop_checkpoint(ocdm_loop *loop, const void *bytes, size_t size, ocdm_error *error)
{
    OCDM_TRY(check_duty(loop, ASK, error));
    if (loop->updates > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "save after its last update", "%s: update %lu of %lu of the step is done",
                          loop->job.folder, (unsigned long)loop->updates, (unsigned long)loop->settings.steps_per_batch);
    loop->owed = false;
    loop->outside.bytes = size > 0 ? bytes : "";
    loop->outside.size = size;
    ocdm_status status = ocdm__folder_save(loop->folder, error);
    loop->outside.bytes = NULL;
    return status;
}
