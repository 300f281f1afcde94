/* Runs the plan of a comparison as processes, after looking into the folders of its runs. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "experiment/folder/run_folder.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/schedule.h"

/* ---- what the runs are made with -------------------------------------------------------------------------------------- */

static ocdm_status take_tasks(ocdm__run_setup *setup, ocdm_error *error)
{
    ocdm__stream_order order;
    OCDM_TRY(ocdm__stream_order_make(&order, &setup->stream->table, OCDM__TRAIN, NULL, 0, 0, error));
    setup->task_count = order.task_count;
    setup->tasks = order.tasks;
    order.tasks = NULL;
    ocdm__stream_order_clear(&order);
    return OCDM_OK;
}

static ocdm_status find_groups(ocdm__run_setup *setup, ocdm_error *error)
{
    const ocdm__stream_table *table = &setup->stream->table;
    uint64_t *counts = ocdm__allocate(table->class_count, sizeof *counts);
    setup->groups = ocdm__allocate(table->class_count, sizeof *setup->groups);
    ocdm_status status = OCDM_OK;
    if (counts == NULL || setup->groups == NULL)
        status = ocdm__fail_memory(error, "the groups of classes");
    if (status == OCDM_OK) {
        ocdm__count_classes(table, OCDM__TRAIN, counts);
        status = ocdm__evaluation_groups(setup->settings.groups, table, counts, setup->groups, error);
    }
    ocdm__release(counts);
    return status;
}

ocdm_status ocdm__run_setup_make(ocdm__run_setup *setup, const ocdm__run_settings *settings, const ocdm__stream *stream,
                                 const char *path, ocdm_error *error)
{
    *setup = (ocdm__run_setup){.settings = *settings, .stream = stream};
    ocdm_status status = ocdm__run_settings_resolve_model(&setup->settings, stream, path, error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_digest_weights(&setup->settings, error);
    if (status == OCDM_OK)
        status = take_tasks(setup, error);
    if (status == OCDM_OK)
        status = find_groups(setup, error);
    if (status == OCDM_OK)
        status = ocdm__class_weights_read(settings->class_weights, &stream->table, &setup->class_weights, error);
    setup->order = ocdm__allocate(OCDM__COMPARE_TASKS, sizeof *setup->order);
    return status == OCDM_OK && setup->order == NULL ? ocdm__fail_memory(error, "an order of tasks") : status;
}

void ocdm__run_setup_clear(ocdm__run_setup *setup)
{
    ocdm__release(setup->groups);
    ocdm__release(setup->class_weights);
    ocdm__release(setup->tasks);
    ocdm__release(setup->order);
    *setup = (ocdm__run_setup){.task_count = 0};
}

static const ocdm__compare_choice *choice_of(const ocdm__compare_plan *plan, size_t point, size_t method)
{
    return plan->choices != NULL ? plan->choices[point * plan->method_count + method] : NULL;
}

ocdm__asked_run ocdm__run_setup_of(ocdm__run_setup *setup, const ocdm__compare_plan *plan, size_t point, size_t method,
                                   uint64_t seed)
{
    const ocdm__compare_point *at = &plan->points[point];
    ocdm__run_settings *settings = &setup->planned;
    const ocdm__compare_choice *choice = choice_of(plan, point, method);
    *settings = choice != NULL ? choice->settings : setup->settings;
    settings->validation = setup->settings.validation;
    settings->method = plan->methods[method];
    if (settings->memory_bytes == 0) /* else it follows from the bytes */
        settings->memory = at->memory;
    settings->rho = at->rho;
    settings->network.seed = ocdm__compare_seed(plan, seed);
    settings->epochs = ocdm__is_upper_bound(settings->method) ? settings->epochs : 1;
    for (size_t i = 0; i < at->order_count && i < OCDM__COMPARE_TASKS; i++)
        setup->order[i] = (uint32_t)at->order[i];
    return (ocdm__asked_run){.settings = settings,
                             .tasks = at->order != NULL ? setup->order : setup->tasks,
                             .task_count = at->order != NULL ? at->order_count : setup->task_count,
                             .stream = setup->stream,
                             .groups = setup->groups,
                             .class_weights = setup->class_weights};
}

/* Appends "key value" without the marks of JSON. */
static void append_setting(char *text, size_t room, const char *key, const ocdm__output *value)
{
    size_t used = strlen(text);
    if ((value->used == 4 && memcmp(value->buffer, "null", 4) == 0) ||
        (value->used == 5 && memcmp(value->buffer, "false", 5) == 0))
        return;
    used += (size_t)snprintf(text + used, room - used, "%s%s ", used > 0 ? ", " : "", key);
    for (size_t i = 0; i < value->used && used + 1 < room; i++)
        if (strchr("\"[]", value->buffer[i]) == NULL)
            text[used++] = value->buffer[i];
    text[used < room ? used : room - 1] = '\0';
}

/* Writes a setting of the first run to `value`; false when another method or point has another value. */
static bool is_common(ocdm__run_setup *setup, const ocdm__compare_plan *plan, const ocdm__setting *setting, ocdm__output *value)
{
    size_t first = 0;
    value->used = 0;
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        const ocdm__asked_run asked = ocdm__run_setup_of(setup, plan, i / plan->method_count, i % plan->method_count, 0);
        value->used = first;
        if (i > 0)
            ocdm__output_text(value, "["); /* no comma comes behind it */
        size_t start = value->used;
        ocdm__setting_write(value, setting, asked.settings, asked.tasks, asked.task_count);
        first = i == 0 ? value->used : first;
        if (value->used - start != first || memcmp(value->buffer, value->buffer + start, first) != 0)
            return false;
    }
    value->used = first;
    return true;
}

ocdm_status ocdm__run_setup_text(ocdm__run_setup *setup, const ocdm__compare_plan *plan, char *text, size_t room,
                                 ocdm_error *error)
{
    const ocdm__setting *setting;
    ocdm__output value = {.buffer = NULL};
    ocdm_status status = ocdm__output_open_memory(&value, "a setting", error);
    text[0] = '\0';
    for (size_t i = 0; status == OCDM_OK && (setting = ocdm__setting_at(i)) != NULL; i++) {
        bool each = setting->offset == offsetof(ocdm__run_settings, method) ||
                    setting->offset == offsetof(ocdm__run_settings, network.seed);
        if (setting->key != NULL && !each && is_common(setup, plan, setting, &value))
            append_setting(text, room, setting->key, &value);
        status = ocdm__output_check(&value, error);
    }
    ocdm__output_abandon(&value);
    return status;
}

/* ---- folders ------------------------------------------------------------------------------------------------------------- */

static bool exists(const char *folder, const char *file, char path[4096])
{
    return (size_t)snprintf(path, 4096, "%s/%s", folder, file) < 4096 && access(path, F_OK) == 0;
}

/* Whether `ocdm run` would refuse to start in the folder. A run that was killed may have left only its log, or only the older
 * checkpoint. */
static bool is_begun(const char *folder)
{
    char path[4096];
    return exists(folder, "checkpoint.safetensors", path) || exists(folder, "checkpoint.previous.safetensors", path) ||
           exists(folder, "run.jsonl", path);
}

ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked_run *asked, enum ocdm__folder_state *state,
                                   ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    *state = is_begun(folder) ? OCDM__FOLDER_HALF : OCDM__FOLDER_NEW;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    *state = OCDM__FOLDER_DONE;
    return ocdm__summary_compare(path, asked, error);
}

#define PATH_ROOM 4096
#define ORDER_ROOM ((size_t)12 * OCDM__COMPARE_TASKS)

/* The command line of one process, and the texts that its arguments point to. */
struct call {
    char name[OCDM__COMPARE_NAME], folder[PATH_ROOM], log[PATH_ROOM];
    char seed[24], memory[16], rho[OCDM__JSON_DOUBLE];
    char *order;    /* NULL: the default one */
    uint64_t steps; /* of the whole run */
    const char **arguments;
};

/* All of them. */
struct calls {
    const ocdm__compare_execution *execution;
    struct call *calls;
    ocdm__child *children;
    size_t *numbers; /* of each child, which call it is */
    uint64_t *steps; /* [point][method] */
    size_t count, child_count, half;
};

/* ---- one call --------------------------------------------------------------------------------------------------------- */

static ocdm_status fill_call(struct call *call, const ocdm__compare_execution *execution, size_t point, size_t method,
                             uint64_t seed, ocdm_error *error)
{
    const ocdm__compare_point *at = &execution->plan->points[point];
    ocdm__compare_folder(execution->plan, point, method, seed, call->name);
    if ((size_t)snprintf(call->folder, PATH_ROOM, "%s/%s", execution->folder, call->name) >= PATH_ROOM - 8)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%.64s...: the folder's name is too long", execution->folder);
    snprintf(call->log, PATH_ROOM, "%s/%s.log", execution->folder, call->name);
    snprintf(call->seed, sizeof call->seed, "%llu", (unsigned long long)ocdm__compare_seed(execution->plan, seed));
    snprintf(call->memory, sizeof call->memory, "%u", at->memory);
    ocdm__json_double(at->rho, call->rho);
    if (at->order != NULL) {
        call->order = ocdm__allocate(ORDER_ROOM, 1);
        if (call->order == NULL)
            return ocdm__fail_memory(error, "an order of tasks");
        ocdm__compare_order_text(at, call->order, ORDER_ROOM);
    }
    return OCDM_OK;
}

/* `ocdm run` refuses --epochs with methods that see the data once. */
static bool concerns(const char *flag, const char *method)
{
    return strcmp(flag, "--epochs") != 0 || ocdm__is_upper_bound(method);
}

static bool names(const char *const *words, size_t count, const char *flag)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], flag) == 0)
            return true;
    return false;
}

/* The command line of a run. The flags are only read by the child. */
static ocdm_status fill_arguments(struct call *call, const ocdm__compare_execution *execution, const char *method,
                                  const ocdm__compare_choice *choice, bool resume, ocdm_error *error)
{
    size_t used = 0, chosen = choice != NULL ? choice->word_count : 0;
    call->arguments = ocdm__allocate(execution->flag_count + chosen + 20, sizeof *call->arguments);
    if (call->arguments == NULL)
        return ocdm__fail_memory(error, "a command line");
    const char *fixed[] = {"ocdm", "run",   execution->stream, "-o",     call->folder, "--method",
                           method, "--rho", call->rho,         "--seed", call->seed,   "--quiet"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        call->arguments[used++] = fixed[i];
    if (!names(execution->flags, execution->flag_count, "--memory-bytes") &&
        (choice == NULL || !names(choice->words, chosen, "--memory-bytes"))) {
        call->arguments[used++] = "--memory";
        call->arguments[used++] = call->memory;
    }
    if (call->order != NULL) {
        call->arguments[used++] = "--order";
        call->arguments[used++] = call->order;
    }
    for (size_t i = 0; i < execution->flag_count; i++) {
        if (concerns(execution->flags[i], method))
            call->arguments[used++] = execution->flags[i];
        else
            i++; /* its value too */
    }
    for (size_t i = 0; i < chosen; i++)
        call->arguments[used++] = choice->words[i];
    if (resume)
        call->arguments[used++] = "--resume";
    call->arguments[used] = NULL;
    return OCDM_OK;
}

/* The same for every seed, but that a few samples more or less may be held out. */
static ocdm_status count_steps(struct calls *calls, size_t point, size_t method, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    const ocdm__compare_point *at = &execution->plan->points[point];
    const ocdm__asked_run asked = ocdm__run_setup_of(execution->setup, execution->plan, point, method, 0);
    ocdm__run_settings settings = *asked.settings;
    ocdm__schedule schedule = {.batch = 0};
    settings.order = at->order;
    settings.order_count = at->order_count;
    ocdm_status status = ocdm__schedule_make(&schedule, &settings, &asked.stream->table, error);
    if (status == OCDM_OK)
        calls->steps[point * execution->plan->method_count + method] = ocdm__schedule_steps(&schedule);
    ocdm__schedule_clear(&schedule);
    return status;
}

/* ---- all calls -------------------------------------------------------------------------------------------------------- */

static ocdm_status add_call(struct calls *calls, size_t point, size_t method, uint64_t seed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    const char *name = execution->plan->methods[method];
    struct call *call = &calls->calls[calls->count++];
    enum ocdm__folder_state state = OCDM__FOLDER_NEW;
    ocdm_status status = seed == 0 ? count_steps(calls, point, method, error) : OCDM_OK;
    if (status == OCDM_OK)
        status = fill_call(call, execution, point, method, seed, error);
    call->steps = calls->steps[point * execution->plan->method_count + method];
    const ocdm__asked_run asked = ocdm__run_setup_of(execution->setup, execution->plan, point, method, seed);
    if (status == OCDM_OK)
        status = ocdm__look_into_folder(call->folder, &asked, &state, error);
    if (status == OCDM_OK && state == OCDM__FOLDER_DONE)
        (void)unlink(call->log); /* of an attempt before the run was finished, maybe by hand */
    if (status != OCDM_OK || state == OCDM__FOLDER_DONE)
        return status;
    if (asked.settings->own_learner)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "make it with ocdm.Run or ocdm_experiment_run first",
                          "%s: there is no finished run of the model %s", call->folder, asked.settings->model);
    calls->half += state == OCDM__FOLDER_HALF;
    calls->numbers[calls->child_count] = calls->count - 1;
    status =
        fill_arguments(call, execution, name, choice_of(execution->plan, point, method), state == OCDM__FOLDER_HALF, error);
    calls->children[calls->child_count++] = (ocdm__child){.arguments = call->arguments, .log = call->log};
    return status;
}

/* Seed by seed, so that every method has its first result soon. */
static ocdm_status make_calls(struct calls *calls, ocdm_error *error)
{
    const ocdm__compare_plan *plan = calls->execution->plan;
    ocdm_status status = OCDM_OK;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++)
        for (size_t point = 0; point < plan->point_count; point++)
            for (size_t method = 0; status == OCDM_OK && method < plan->method_count; method++)
                status = add_call(calls, point, method, seed, error);
    return status;
}

static void clear_calls(struct calls *calls)
{
    for (size_t i = 0; calls->calls != NULL && i < calls->count; i++) {
        ocdm__release(calls->calls[i].order);
        ocdm__release(calls->calls[i].arguments);
    }
    ocdm__release(calls->calls);
    ocdm__release(calls->children);
    ocdm__release(calls->numbers);
    ocdm__release(calls->steps);
}

/* For `ocdm watch`, which cannot know what is still to come. */
static ocdm_status write_runs(const struct calls *calls, ocdm_error *error)
{
    char path[PATH_ROOM];
    ocdm__output output;
    OCDM_TRY(ocdm__folder_path(calls->execution->folder, OCDM__RUNS_FILE, path, error));
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm__json_open(&output, NULL, '{');
    ocdm__json_string(&output, "format", "ocdm-runs");
    ocdm__json_count(&output, "version", 1);
    ocdm__json_open(&output, "runs", '[');
    for (size_t i = 0; i < calls->count; i++) {
        const struct call *call = &calls->calls[i];
        ocdm__json_open(&output, NULL, '{');
        ocdm__json_string(&output, "name", call->name);
        ocdm__json_count(&output, "steps", call->steps);
        ocdm__json_close(&output, '}');
    }
    ocdm__output_text(&output, "]}\n");
    return ocdm__output_commit(&output, error);
}

static void tell_wait(void *state)
{
    const ocdm__compare_execution *execution = ((const struct calls *)state)->execution;
    if (execution->waited != NULL)
        execution->waited(execution->state);
}

static void tell_end(void *state, size_t child)
{
    const struct calls *calls = state;
    const ocdm__compare_execution *execution = calls->execution;
    if (execution->ended != NULL)
        execution->ended(execution->state, calls->calls[calls->numbers[child]].name, &calls->children[child]);
}

/* One comparison in a folder at a time: two would take each other's runs away, and both fail. The lock is on the folder itself
 * and ends with the process. A file system without locks on folders goes without; -1 then, and if there is no folder. */
static ocdm_status lock_folder(const char *folder, int *lock, ocdm_error *error)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return OCDM_OK;
    bool busy = errno == EWOULDBLOCK;
    close(*lock);
    *lock = -1;
    return busy ? ocdm__fail(error, OCDM_IO, "wait for it to end, or name another folder",
                             "%s: another comparison is writing here", folder)
                : OCDM_OK;
}

static ocdm_status run_calls(struct calls *calls, int *failed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    ocdm__children children = {.program = execution->program,
                               .children = calls->children,
                               .count = calls->child_count,
                               .jobs = execution->jobs,
                               .ranks = execution->ranks,
                               .together = execution->together,
                               .stop = execution->stop,
                               .waited = tell_wait,
                               .ended = tell_end,
                               .state = calls};
    if (execution->begun != NULL)
        execution->begun(execution->state, calls->count, calls->count - calls->child_count, calls->half);
    ocdm_status status = ocdm__children_run(&children, error);
    for (size_t i = 0; i < calls->child_count && *failed == 0; i++)
        *failed = calls->children[i].exit_code > 0 ? calls->children[i].exit_code : 0;
    return status;
}

ocdm_status ocdm__compare_execute(const ocdm__compare_execution *execution, int *failed, ocdm_error *error)
{
    const ocdm__compare_plan *plan = execution->plan;
    struct calls calls = {.execution = execution};
    size_t room = plan->point_count * plan->method_count * (size_t)plan->seed_count;
    int lock = -1;
    *failed = 0;
    calls.calls = ocdm__allocate(room, sizeof *calls.calls);
    calls.children = ocdm__allocate(room, sizeof *calls.children);
    calls.numbers = ocdm__allocate(room, sizeof *calls.numbers);
    calls.steps = ocdm__allocate(plan->point_count, plan->method_count * sizeof *calls.steps);
    ocdm_status status = OCDM_OK;
    if (calls.calls == NULL || calls.children == NULL || calls.numbers == NULL || calls.steps == NULL)
        status = ocdm__fail_memory(error, "the list of runs");
    if (status == OCDM_OK)
        status = lock_folder(execution->folder, &lock, error);
    if (status == OCDM_OK)
        status = make_calls(&calls, error);
    if (status == OCDM_OK)
        status = ocdm__make_folder(execution->folder, error);
    if (status == OCDM_OK && lock < 0)
        status = lock_folder(execution->folder, &lock, error);
    if (status == OCDM_OK)
        status = write_runs(&calls, error);
    if (status == OCDM_OK)
        status = run_calls(&calls, failed, error);
    clear_calls(&calls);
    if (lock >= 0)
        close(lock);
    return status;
}
