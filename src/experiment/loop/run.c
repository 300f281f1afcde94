/*
 * A run from its settings to its last evaluation.
 *
 * Opening makes everything that can fail before the first step. Evaluations change nothing in the run until they have
 * succeeded, so that one that is stopped can be made again after a resume.
 */
#include "experiment/loop/run.h"

#include "agent/model.h"
#include "stream/recipes/class_files.h"

/* ---- curve --------------------------------------------------------------------------------------------------------------- */

void ocdm__curve_add(ocdm__curve *curve, const ocdm__curve_point *point)
{
    if (curve->stride == 0)
        curve->stride = 1;
    /* One place stays free for the newest point: without it, every second point is dropped. */
    if (curve->offered % curve->stride == 0 && curve->count == OCDM__CURVE_ROOM - 1) {
        size_t kept = 0;
        for (size_t i = 0; i < curve->count; i += 2)
            curve->points[kept++] = curve->points[i];
        curve->count = kept;
        curve->stride *= 2;
    }
    if (curve->offered % curve->stride == 0)
        curve->points[curve->count++] = *point;
    curve->last = *point;
    curve->offered++;
}

void ocdm__curve_write(ocdm__output *output, const ocdm__curve *curve)
{
    static const char *const keys[] = {"step", "task", "loss", "distance", "distance_seen"};
    size_t extra = curve->count > 0 && curve->points[curve->count - 1].step != curve->last.step;
    ocdm__json_open(output, NULL, '{');
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        ocdm__json_open(output, keys[k], '[');
        for (size_t i = 0; i < curve->count + extra; i++) {
            const ocdm__curve_point *point = i < curve->count ? &curve->points[i] : &curve->last;
            const double values[] = {point->step, point->task, point->loss, point->distance, point->distance_seen};
            ocdm__json_real(output, NULL, values[k]);
        }
        ocdm__json_close(output, ']');
    }
    ocdm__json_close(output, '}');
}

/* ---- weights of classes ------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__class_weights_read(const char *path, const ocdm__stream_table *table, double **weights, ocdm_error *error)
{
    *weights = NULL;
    if (path == NULL)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(weights, table->class_count, sizeof **weights, "the weights of classes", error));
    return ocdm__class_weights_file_read(path, table, *weights, error);
}

ocdm_status ocdm__class_weights_set(ocdm_memory *memory, const double *weights, size_t count, ocdm_error *error)
{
    for (size_t c = 0; weights != NULL && c < count; c++)
        if (weights[c] != 1)
            OCDM_TRY(ocdm_memory_set_weight(memory, (uint32_t)c, weights[c], error));
    return OCDM_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------- */

/* What a run could not finish with is refused before its first step. */
static ocdm_status check_limits(const ocdm__run *run, ocdm_error *error)
{
    static const double limit = 1 << 30;
    const ocdm__schedule *schedule = &run->schedule;
    const ocdm_policy *policy = ocdm_policy_find(run->settings->method);
    double tasks = (double)schedule->order.task_count, classes = (double)run->stream->table.class_count, tested = 0;
    size_t begun = 0; /* tasks that bring samples */
    for (size_t k = 0; k < schedule->order.task_count; k++) {
        tested += (double)schedule->tested[k];
        begun += schedule->task_ends[k] > (k > 0 ? schedule->task_ends[k - 1] : 0);
    }
    /* Every evaluation keeps the metrics of each task before it, and the summary has a count per class and task. */
    double versions = 1 + (double)run->settings->network.averages.count;
    double bytes = versions * tested * sizeof(ocdm__averages) + tasks * classes * sizeof *run->task_counts;
    if (bytes > limit)
        return ocdm__fail(error, OCDM_LIMIT, "divide the stream into fewer tasks",
                          "%.0f classes in %.0f tasks: the results of a run would take %.1f GB, the limit is %.1f", classes,
                          tasks, bytes / 1e9, limit / 1e9);
    /* A memory whose places are divided among tasks must have one for each. */
    if (policy != NULL && (policy->traits & OCDM_NEEDS_TASKS) != 0 && run->settings->memory < begun)
        return ocdm__fail(error, OCDM_LIMIT, "a larger memory, or fewer tasks", "%lu places cannot be divided among %zu tasks",
                          (unsigned long)run->settings->memory, begun);
    return OCDM_OK;
}

/* Points the results of the run at those of one version of the weights. */
static void report_version(ocdm__run *run, size_t version)
{
    run->reported = version;
    run->evaluations = run->versions[version].evaluations;
    run->scores = run->versions[version].scores;
    run->validation = &run->versions[version].validation;
}

/* Everything that needs neither a learner nor a memory, so that what is wrong with the stream is found early. */
static ocdm_status make_tables(ocdm__run *run, ocdm_error *error)
{
    const ocdm__run_settings *settings = run->settings;
    const ocdm__stream_table *table = &run->stream->table;
    OCDM_TRY(ocdm__schedule_make(&run->schedule, settings, table, error));
    OCDM_TRY(ocdm__stream_order_make(&run->tests, table, OCDM__TEST, settings->order, settings->order_count,
                                     settings->network.seed, error));
    if (settings->resample_tests)
        OCDM_TRY(ocdm__stream_order_resample(&run->tests, table, settings->network.seed, error));
    OCDM_TRY(check_limits(run, error));
    ocdm__arena *arena = &run->arena;
    size_t classes = table->class_count, tasks = run->schedule.order.task_count, batch = run->schedule.batch;
    run->train_counts = ocdm__arena_new(arena, classes, sizeof *run->train_counts);
    run->test_counts = ocdm__arena_new(arena, classes, sizeof *run->test_counts);
    run->task_counts = ocdm__arena_new(arena, classes, tasks * sizeof *run->task_counts);
    run->groups = ocdm__arena_new(arena, classes, sizeof *run->groups);
    run->curve = ocdm__arena_new(arena, 1, sizeof *run->curve);
    run->samples = ocdm__arena_new(arena, batch, sizeof *run->samples);
    run->next = ocdm__arena_new(arena, batch, sizeof *run->next);
    if (settings->budget.seconds > 0 || settings->budget.operations > 0)
        run->misses = ocdm__arena_new(arena, (size_t)(ocdm__schedule_steps(&run->schedule) / 32) + 1, sizeof(uint32_t));
    if (settings->transfer)
        run->untrained = ocdm__arena_new(arena, tasks, sizeof *run->untrained);
    size_t versions = 1 + settings->network.averages.count;
    run->versions = ocdm__arena_new(arena, versions, sizeof *run->versions);
    run->version_count = run->versions != NULL ? versions : 0;
    run->room = ocdm__arena_new(arena, classes, sizeof *run->room);
    for (size_t v = 0; v < run->version_count; v++) {
        run->versions[v].evaluations = ocdm__arena_new(arena, tasks, sizeof *run->versions[v].evaluations);
        run->versions[v].scores = ocdm__arena_new(arena, classes, sizeof *run->versions[v].scores);
    }
    OCDM_TRY(ocdm__arena_check(arena, "the tables of a run", error));
    report_version(run, versions > 1 ? 1 : 0); /* averages rather than trained weights: the first until validation chooses */
    OCDM_TRY(ocdm__probes_make(&run->probes, settings, table, &run->tests, error));
    ocdm__count_classes(table, OCDM__TRAIN, run->train_counts);
    ocdm__count_classes(table, OCDM__TEST, run->test_counts);
    OCDM_TRY(ocdm__count_classes_by_task(table, &run->schedule.order, run->task_counts, error));
    OCDM_TRY(ocdm__evaluation_groups(settings->groups, table, run->train_counts, run->groups, error));
    return ocdm__class_weights_read(settings->class_weights, table, &run->class_weights, error);
}

/* The learner and its inputs, and the other ranks if it is shared. */
static ocdm_status make_learner(ocdm__run *run, const ocdm__learner_maker *maker, ocdm_error *error)
{
    const ocdm__run_settings *settings = run->settings;
    bool images = ocdm__model_takes_images(settings->model);
    ocdm__model_input_settings inputs = {.resize = images ? settings->resize : 0,
                                         .crop = images ? settings->crop : 0,
                                         .keep_size = true,
                                         .symmetric = ocdm__model_is_symmetric(settings->model),
                                         .strict = settings->strict,
                                         .image_root = settings->image_root,
                                         .seed = settings->network.seed,
                                         .threads = settings->network.threads,
                                         .images = maker->images};
    if (settings->store == OCDM__STORE_JPEG)
        inputs.storing =
            (ocdm__image_storing){.quality = settings->store_quality,
                                  .pixels = settings->store_pixels,
                                  .bytes = (size_t)ocdm__store_jpeg_bytes(settings->store_quality, settings->store_pixels)};
    if (!maker->reads_samples)
        OCDM_TRY(ocdm__model_inputs_open(run->stream, &inputs, &run->inputs, error));
    OCDM_TRY(maker->make(maker, settings, run->inputs, (uint32_t)run->stream->table.class_count, &run->made, error));
    run->learner = &run->made;
    if (run->inputs != NULL)
        run->inputs->learner = run->learner;
    run->ranks = ocdm__learner_part_of(run->learner, 1, true).ranks;
    if (settings->pseudo > 0 && run->ranks->size > 1)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "run it in one process", "--pseudo on several ranks that share a model");
    return run->ranks->size > 1 && run->inputs != NULL ? ocdm__model_inputs_keep_sums(run->inputs, error) : OCDM_OK;
}

ocdm_options ocdm__run_memory_options(const ocdm__run_settings *settings)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = settings->memory;
    options.batch = settings->batch;
    options.policy = ocdm_policy_find(settings->method);
    options.distance = (ocdm_distance)settings->distance;
    options.tie = (ocdm_tie)settings->tie;
    options.tolerance = settings->tolerance;
    options.rho = settings->rho;
    options.seed = settings->network.seed;
    return options;
}

ocdm_status ocdm__run_open(const ocdm__run_settings *settings, const ocdm__stream *stream, const ocdm__learner_maker *maker,
                           ocdm__run **run, ocdm_error *error)
{
    ocdm__run *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a run", error));
    made->settings = settings;
    made->stream = stream;
    made->ranks = &ocdm__ranks_alone;
    made->loss = NAN;
    made->started = ocdm__seconds_now();
    ocdm_status status = make_tables(made, error);
    if (ocdm__run_has_agent(settings))
        OCDM_THEN(status, make_learner(made, maker, error));
    if (ocdm__run_has_memory(settings)) {
        const ocdm_options options = ocdm__run_memory_options(settings);
        OCDM_THEN(status, ocdm_memory_create(&options, &made->memory, error));
        OCDM_THEN(status, ocdm__class_weights_set(made->memory, made->class_weights, stream->table.class_count, error));
    }
    OCDM_THEN(status, ocdm__replay_open(made, error));
    OCDM_THEN(status, ocdm__store_open(&made->store, settings, stream, error));
    if (status == OCDM_OK)
        *run = made;
    else
        ocdm__run_close(made);
    return status;
}

ocdm_status ocdm__run_memory_bytes(const ocdm__run *run, unsigned char **bytes, size_t *size, ocdm_error *error)
{
    *size = 0;
    if (run->memory != NULL)
        OCDM_TRY(ocdm_memory_save_bytes(run->memory, NULL, 0, size, error));
    OCDM_TRY(ocdm__new(bytes, *size + sizeof(uint32_t), 1, "the memory as bytes", error));
    return run->memory != NULL ? ocdm_memory_save_bytes(run->memory, *bytes, *size, size, error) : OCDM_OK;
}

void ocdm__run_close(ocdm__run *run)
{
    if (run == NULL)
        return;
    ocdm__similarity_close(run->similarity);
    ocdm__label_room_clear(&run->online.labels);
    ocdm__store_clear(&run->store);
    for (size_t v = 0; v < run->version_count; v++) {
        ocdm__run_version *version = &run->versions[v];
        for (size_t i = 0; version->evaluations != NULL && i < run->schedule.order.task_count; i++)
            ocdm__evaluation_clear(&version->evaluations[i]);
        ocdm__evaluation_clear(&version->validation);
    }
    ocdm__stream_order_clear(&run->probes.part);
    ocdm__release(run->probes.map);
    ocdm__model_inputs_close(run->inputs);
    if (run->learner != NULL)
        run->learner->functions->destroy(run->learner->state);
    ocdm_memory_destroy(run->memory);
    ocdm__schedule_clear(&run->schedule);
    ocdm__stream_order_clear(&run->tests);
    ocdm__release(run->class_weights);
    ocdm__arena_clear(&run->arena);
    ocdm__release(run);
}

/* ---- evaluations --------------------------------------------------------------------------------------------------------- */

static ocdm__examination examination_of(const ocdm__run *run, const ocdm__stream_order *tests, const float *given,
                                        const ocdm__progress *progress)
{
    return (ocdm__examination){.learner = run->learner,
                               .inputs = run->inputs,
                               .given = given,
                               .table = &run->stream->table,
                               .tests = tests,
                               .groups = run->groups,
                               .ahead = run->settings->transfer && tests == &run->tests,
                               .source = {run->stream->file.name, given != NULL
                                                                      ? "the model may have diverged"
                                                                      : "the agent diverged: a smaller --lr may help"},
                               .progress = progress};
}

/* Evaluates all versions of the learner's weights, or the `given` scores unless NULL, on the tests of the first tasks. After an
 * error there are no evaluations. */
static ocdm_status examine(ocdm__run *run, const ocdm__stream_order *tests, size_t task_count, const float *given,
                           const ocdm__progress *progress, struct ocdm__version_result *results, ocdm_error *error)
{
    const ocdm__examination examination = examination_of(run, tests, given, progress);
    double begun = ocdm__seconds_now();
    for (size_t v = 0; v < run->version_count; v++)
        results[v].scores = results[v].scores != NULL ? results[v].scores : run->room;
    ocdm_status status = ocdm__evaluate(&examination, task_count, results, run->version_count, error);
    for (size_t v = 0; status != OCDM_OK && v < run->version_count; v++)
        ocdm__evaluation_clear(results[v].evaluation);
    run->times.evaluate += ocdm__seconds_now() - begun;
    return status;
}

/* With --threshold validation each version of the weights gets the threshold of the logits that is best for it on what is held
 * out of the first tasks; else, or without a positive sample there, 0. */
static ocdm_status choose_thresholds(ocdm__run *run, size_t task_count, const ocdm__progress *progress,
                                     struct ocdm__version_result *results, ocdm_error *error)
{
    const ocdm__stream_order *held_out = &run->schedule.held_out;
    ocdm__evaluation evaluations[1 + OCDM__MOST_RATES] = {{.task = 0}};
    ocdm__operation operations[1 + OCDM__MOST_RATES];
    struct ocdm__version_result held[1 + OCDM__MOST_RATES];
    if (run->settings->threshold == OCDM__THRESHOLD_FIXED || held_out->count == 0 || held_out->ends[task_count - 1] == 0)
        return OCDM_OK;
    for (size_t v = 0; v < run->version_count; v++)
        held[v] = (struct ocdm__version_result){.evaluation = &evaluations[v], .operation = &operations[v]};
    OCDM_TRY(examine(run, held_out, task_count, NULL, progress, held, error));
    for (size_t v = 0; v < run->version_count; v++) {
        results[v].threshold = isnan(operations[v].best.cf1) ? 0 : (double)operations[v].best.threshold;
        ocdm__evaluation_clear(&evaluations[v]);
    }
    return OCDM_OK;
}

/* Evaluates on the samples that are held out, at the end, and chooses what is reported: of several averages the one that is
 * best on them, the first of equally good ones. It depends only on the final weights, so checkpoints need not store it. */
static ocdm_status validate(ocdm__run *run, const ocdm__progress *progress, ocdm_error *error)
{
    const ocdm__stream_order *tests = &run->schedule.held_out;
    struct ocdm__version_result results[1 + OCDM__MOST_RATES];
    ocdm__operation operations[1 + OCDM__MOST_RATES] = {{.count = 0}};
    size_t best = run->version_count > 1 ? 1 : 0;
    if (tests->count == 0 || run->learner == NULL || run->validation->task_count > 0)
        return OCDM_OK;
    for (size_t v = 0; v < run->version_count; v++) {
        double chosen = run->versions[v].evaluations[run->evaluation_count - 1].threshold;
        results[v] = (struct ocdm__version_result){
            .evaluation = &run->versions[v].validation, .threshold = isnan(chosen) ? 0 : chosen, .operation = &operations[v]};
    }
    OCDM_TRY(examine(run, tests, tests->task_count, NULL, progress, results, error));
    for (size_t v = best + 1; v < run->version_count; v++)
        if (results[v].evaluation->total.value[OCDM_MAP] > results[best].evaluation->total.value[OCDM_MAP])
            best = v;
    report_version(run, best);
    run->operation = operations[best];
    return OCDM_OK;
}

ocdm_status ocdm__run_evaluate(ocdm__run *run, const float *given, const ocdm__progress *progress, ocdm_error *error)
{
    struct ocdm__version_result results[1 + OCDM__MOST_RATES] = {{.evaluation = NULL}};
    const ocdm__schedule *schedule = &run->schedule;
    size_t number = run->evaluation_count, tested = schedule->tested[number], tasks = schedule->order.task_count;
    size_t last = schedule->order.ends[tasks - 1];
    uint64_t brought = schedule->multitask ? 0 : last; /* samples count as often as steps bring them */
    for (size_t k = 0; schedule->multitask && k < tasks; k++)
        brought += (uint64_t)schedule->epochs * schedule->order.ends[k];
    /* At the end of the stream a learner that was never trained has no results. */
    if (run->learner != NULL && run->step >= ocdm__schedule_steps(schedule) &&
        (double)run->skipped >= (double)brought - run->cost.missed_samples)
        return ocdm__model_inputs_fail_unusable(run->inputs, "training", last, error);
    if (run->inputs != NULL)
        OCDM_TRY(ocdm__model_inputs_compare_sums(run->inputs, run->ranks, error));
    for (size_t v = 0; v < run->version_count; v++)
        results[v] = (struct ocdm__version_result){.evaluation = &run->versions[v].evaluations[number],
                                                   .scores = run->versions[v].scores};
    OCDM_TRY(choose_thresholds(run, tested, progress, results, error));
    OCDM_TRY(examine(run, &run->tests, tested, given, progress, results, error));
    const ocdm__curve_point point = ocdm__run_point(run);
    for (size_t v = 0; v < run->version_count; v++) {
        ocdm__evaluation *evaluation = &run->versions[v].evaluations[number];
        evaluation->task = schedule->order.tasks[number];
        evaluation->step = run->step;
        evaluation->samples = ocdm__schedule_seen(schedule, run->step);
        evaluation->distance = point.distance;
        evaluation->distance_seen = point.distance_seen;
        evaluation->threshold = run->settings->threshold == OCDM__THRESHOLD_FIXED ? (double)NAN : results[v].threshold;
    }
    run->evaluation_count++;
    return OCDM_OK;
}

/* Of the metrics only mAP is kept. */
ocdm_status ocdm__run_probe(ocdm__run *run, const float *given, const ocdm__progress *progress, ocdm_error *error)
{
    ocdm__probes *probes = &run->probes;
    ocdm__evaluation evaluations[1 + OCDM__MOST_RATES] = {{.task = 0}};
    struct ocdm__version_result results[1 + OCDM__MOST_RATES];
    size_t tasks = ocdm__schedule_tasks_seen(&run->schedule, run->step);
    OCDM_TRY(ocdm__probes_reserve(probes, probes->count + 1, error));
    for (size_t v = 0; v < run->version_count; v++)
        results[v] = (struct ocdm__version_result){.evaluation = &evaluations[v]};
    OCDM_TRY(examine(run, &probes->part, tasks, given, progress, results, error));
    for (size_t v = 0; v < run->version_count; v++) {
        probes->map[probes->count * probes->versions + v] = evaluations[v].total.value[OCDM_MAP];
        ocdm__evaluation_clear(&evaluations[v]);
    }
    probes->count++;
    return OCDM_OK;
}

bool ocdm__run_evaluates_after(const ocdm__run *run, uint64_t steps)
{
    return steps == run->schedule.task_ends[run->evaluation_count] || ocdm__run_probes_after(run, steps);
}

/* ---- what comes next --------------------------------------------------------------------------------------------------- */

enum ocdm__run_event ocdm__run_due(const ocdm__run *run)
{
    const ocdm__probes *probes = &run->probes;
    if (run->evaluation_count == run->schedule.order.task_count)
        return OCDM__RUN_FINISHED;
    if (ocdm__run_probes_after(run, run->step) &&
        (probes->count == 0 || ocdm__run_probe_step(run, probes->count - 1) < run->step))
        return OCDM__RUN_PROBED;
    return run->step == run->schedule.task_ends[run->evaluation_count] ? OCDM__RUN_EVALUATED : OCDM__RUN_STEPPED;
}

/* Without training images all ranks come to the same end. */
ocdm_status ocdm__run_advance(ocdm__run *run, const ocdm__progress *progress, enum ocdm__run_event *event, ocdm_error *error)
{
    ocdm_error why = {.status = OCDM_OK};
    ocdm_status status = OCDM_OK;
    switch (*event = ocdm__run_due(run)) {
    case OCDM__RUN_STEPPED:
        if (run->untrained != NULL && run->step == 0) { /* the trained weights and all averages are the same then */
            const ocdm__examination examination = examination_of(run, &run->tests, NULL, progress);
            status = ocdm__evaluate_fresh(&examination, run->scores, run->untrained, &why);
        }
        OCDM_THEN(status, ocdm__run_step(run, &why));
        break;
    case OCDM__RUN_PROBED:
        status = ocdm__run_probe(run, NULL, progress, &why);
        break;
    case OCDM__RUN_EVALUATED:
        status = ocdm__run_evaluate(run, NULL, progress, &why);
        break;
    case OCDM__RUN_FINISHED:
        status = validate(run, progress, &why);
        break;
    }
    if (status != OCDM_OK && status != OCDM_BAD_FILE)
        ocdm__ranks_end_after(run->ranks, &why);
    if (status != OCDM_OK && error != NULL)
        *error = why;
    return status;
}

/* What the leader tells the others. */
enum word { END, GO_ON, COLLECT };

bool ocdm__run_goes_on(const ocdm__run *run, bool more)
{
    uint32_t word = more || run->ranks->size == 1 ? GO_ON : END;
    run->ranks->broadcast(&word, 1);
    for (; word == COLLECT; run->ranks->broadcast(&word, 1))
        run->learner->functions->collect(run->learner->state);
    return word != END;
}

void ocdm__run_collect(const ocdm__run *run)
{
    uint32_t word = COLLECT;
    if (run->ranks->size == 1)
        return;
    run->ranks->broadcast(&word, 1);
    run->learner->functions->collect(run->learner->state);
}

/* ---- state of a run ---------------------------------------------------------------------------------------------------- */

bool ocdm__run_logs_step(const ocdm__run *run)
{
    size_t place = ocdm__schedule_place(&run->schedule, run->step - 1);
    return run->step % run->settings->log_every == 0 || run->step == run->schedule.task_ends[place];
}

ocdm__curve_point ocdm__run_point(const ocdm__run *run)
{
    size_t place = ocdm__schedule_place(&run->schedule, run->step - 1);
    return (ocdm__curve_point){.step = (double)run->step,
                               .task = run->schedule.order.tasks[place],
                               .loss = run->loss,
                               .distance = run->memory != NULL ? ocdm_memory_distance(run->memory, OCDM_IN_PLAY) : (double)NAN,
                               .distance_seen =
                                   run->memory != NULL ? ocdm_memory_distance(run->memory, OCDM_SEEN_EVER) : (double)NAN};
}

double ocdm__step_seconds(const ocdm__run_times *times)
{
    return times->draw + times->decode + times->train + times->update;
}

ocdm__run_times ocdm__run_times_now(const ocdm__run *run)
{
    ocdm__run_times times = run->times;
    times.total += ocdm__seconds_now() - run->started;
    return times;
}

uint64_t ocdm__run_skipped(const ocdm__run *run)
{
    uint64_t tests = run->evaluation_count > 0 ? run->evaluations[run->evaluation_count - 1].skipped : 0;
    return run->skipped + tests;
}
