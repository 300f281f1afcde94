/*
 * Runs the plan of a comparison as processes, after looking into the folders of its runs.
 *
 * Every folder is looked into before anything is started: a run that was made with other settings is an error that costs
 * nothing. A run is a call, and the calls that are not finished have a child each.
 */

#include "experiment/compare/execute.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json.h"
#include "base/output.h"
#include "experiment/folder/run_folder.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/schedule.h"

/* ---- what the runs are made with -------------------------------------------------------------------------------------- */

ocdm_status ocdm__run_setup_make(ocdm__run_setup *setup, const ocdm__run_settings *settings, const ocdm__stream *stream,
                                 const char *path, ocdm_error *error)
{
    ocdm__stream_order *ascending = &setup->ascending;
    *setup = (ocdm__run_setup){.settings = *settings, .stream = stream};
    OCDM_TRY(ocdm__run_settings_resolve_model(&setup->settings, stream, path, error));
    OCDM_TRY(ocdm__run_settings_digest_weights(&setup->settings, error));
    OCDM_TRY(ocdm__stream_order_make(ascending, &stream->table, OCDM__TRAIN, NULL, 0, 0, error));
    /* The groups of the classes, which all runs of a plan share. */
    const ocdm__stream_table *table = &setup->stream->table;
    ocdm__arena *arena = &setup->ascending.arena;
    uint64_t *counts = ocdm__arena_new(arena, table->class_count, sizeof *counts);
    setup->groups = ocdm__arena_new(arena, table->class_count, sizeof *setup->groups);
    setup->order = ocdm__arena_new(arena, OCDM__COMPARE_TASKS, sizeof *setup->order);
    OCDM_TRY(ocdm__arena_check(arena, "the groups of classes", error));
    ocdm__count_classes(table, OCDM__TRAIN, counts);
    OCDM_TRY(ocdm__evaluation_groups(setup->settings.groups, table, counts, setup->groups, error));
    OCDM_TRY(ocdm__class_weights_read(settings->class_weights, &stream->table, &setup->class_weights, error));
    return OCDM_OK;
}

void ocdm__run_setup_clear(ocdm__run_setup *setup)
{
    ocdm__release(setup->class_weights);
    ocdm__stream_order_clear(&setup->ascending);
    *setup = (ocdm__run_setup){.stream = NULL};
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
                             .tasks = at->order != NULL ? setup->order : setup->ascending.tasks,
                             .task_count = at->order != NULL ? at->order_count : setup->ascending.task_count,
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

/* A run that was killed may have left only its log, or only the older checkpoint: `ocdm run` would refuse to start in its
 * folder. */
ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked_run *asked, enum ocdm__folder_state *state,
                                   ocdm_error *error)
{
    static const char *const left[] = {"checkpoint.safetensors", "checkpoint.previous.safetensors", "run.jsonl"};
    char path[OCDM__PATH_ROOM];
    *state = OCDM__FOLDER_NEW;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, left[i]) < sizeof path && access(path, F_OK) == 0)
            *state = OCDM__FOLDER_HALF;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    *state = OCDM__FOLDER_DONE;
    return ocdm__summary_compare(path, asked, error);
}

#define ORDER_ROOM ((size_t)12 * OCDM__COMPARE_TASKS)

/* A run of the plan. */
struct call {
    char name[OCDM__COMPARE_NAME];
    uint64_t steps; /* of the whole run */
};

/* All of them. */
struct calls {
    const ocdm__compare_execution *execution;
    struct call *calls;
    ocdm__child *children;
    ocdm__output commands; /* of the children, one after another */
    size_t count, child_count, half;
};

/* ---- one call --------------------------------------------------------------------------------------------------------- */

/* Whether the words of a command line have a flag. */
static bool names(const char *const *words, size_t count, const char *flag)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], flag) == 0)
            return true;
    return false;
}

/* Words end with a NUL: a command can be sent to other ranks as it is. */
static void add_word(ocdm__output *commands, const char *word)
{
    ocdm__output_write(commands, word, strlen(word) + 1);
}

/* The command of a run: its log, and its words. Flags are only read by the child. */
static void write_command(struct calls *calls, const char *log, const char *folder, size_t point, size_t method, uint64_t seed,
                          bool resume)
{
    const ocdm__compare_execution *execution = calls->execution;
    const ocdm__compare_point *at = &execution->plan->points[point];
    const ocdm__compare_choice *choice = choice_of(execution->plan, point, method);
    size_t chosen = choice != NULL ? choice->word_count : 0;
    char seed_text[24], memory[16], rho[OCDM__JSON_DOUBLE], order[ORDER_ROOM];
    const char *name = execution->plan->methods[method];
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)ocdm__compare_seed(execution->plan, seed));
    snprintf(memory, sizeof memory, "%u", at->memory);
    ocdm__json_double(at->rho, rho);
    const char *const fixed[] = {log,  "ocdm",  "run", execution->stream, "-o",      folder,   "--method",
                                 name, "--rho", rho,   "--seed",          seed_text, "--quiet"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add_word(&calls->commands, fixed[i]);
    if (!names(execution->flags, execution->flag_count, "--memory-bytes") &&
        (choice == NULL || !names(choice->words, chosen, "--memory-bytes"))) {
        add_word(&calls->commands, "--memory");
        add_word(&calls->commands, memory);
    }
    if (at->order != NULL) {
        ocdm__compare_order_text(at, order, sizeof order);
        add_word(&calls->commands, "--order");
        add_word(&calls->commands, order);
    }
    for (size_t i = 0; i < execution->flag_count; i++) {
        if (strcmp(execution->flags[i], "--epochs") != 0 || ocdm__is_upper_bound(name))
            add_word(&calls->commands, execution->flags[i]);
        else
            i++; /* `ocdm run` refuses it, and so its value, with methods that see the data once */
    }
    for (size_t i = 0; i < chosen; i++)
        add_word(&calls->commands, choice->words[i]);
    if (resume)
        add_word(&calls->commands, "--resume");
}

/* ---- all calls -------------------------------------------------------------------------------------------------------- */

/* Looks into the folder of a run, and adds a child if it is not finished. */
static ocdm_status add_call(struct calls *calls, size_t point, size_t method, uint64_t seed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    size_t each = execution->plan->point_count * execution->plan->method_count;
    struct call *call = &calls->calls[calls->count++];
    enum ocdm__folder_state state = OCDM__FOLDER_NEW;
    char folder[OCDM__PATH_ROOM], log[OCDM__PATH_ROOM];
    if (seed == 0) {
        /* The steps of a run: the same for every seed, but that a few samples more or less may be held out. */
        const ocdm__compare_point *at = &execution->plan->points[point];
        const ocdm__asked_run asked = ocdm__run_setup_of(execution->setup, execution->plan, point, method, 0);
        ocdm__run_settings settings = *asked.settings;
        ocdm__schedule schedule = {.batch = 0};
        settings.order = at->order;
        settings.order_count = at->order_count;
        ocdm_status status = ocdm__schedule_make(&schedule, &settings, &asked.stream->table, error);
        if (status == OCDM_OK)
            call->steps = ocdm__schedule_steps(&schedule);
        ocdm__schedule_clear(&schedule);
        OCDM_TRY(status);
    } else
        call->steps = calls->calls[(calls->count - 1) % each].steps;
    ocdm__compare_folder(execution->plan, point, method, seed, call->name);
    if ((size_t)snprintf(folder, sizeof folder, "%s/%s", execution->folder, call->name) >= sizeof folder - 8)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%.64s...: the folder's name is too long", execution->folder);
    snprintf(log, sizeof log, "%s/%s.log", execution->folder, call->name);
    const ocdm__asked_run asked = ocdm__run_setup_of(execution->setup, execution->plan, point, method, seed);
    OCDM_TRY(ocdm__look_into_folder(folder, &asked, &state, error));
    if (state == OCDM__FOLDER_DONE) {
        (void)unlink(log); /* of an attempt before the run was finished, maybe by hand */
        return OCDM_OK;
    }
    if (asked.settings->own_learner)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "make it with ocdm.Run or ocdm_experiment_run first",
                          "%s: there is no finished run of the model %s", folder, asked.settings->model);
    calls->half += state == OCDM__FOLDER_HALF;
    size_t start = calls->commands.used;
    write_command(calls, log, folder, point, method, seed, state == OCDM__FOLDER_HALF);
    calls->children[calls->child_count++] = (ocdm__child){.name = call->name, .size = calls->commands.used - start};
    return ocdm__output_check(&calls->commands, error);
}

/* Seed by seed, so that every method has its first result soon. */
static ocdm_status make_calls(struct calls *calls, ocdm_error *error)
{
    const ocdm__compare_plan *plan = calls->execution->plan;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++)
        for (size_t point = 0; point < plan->point_count; point++)
            for (size_t method = 0; method < plan->method_count; method++)
                OCDM_TRY(add_call(calls, point, method, seed, error));
    char *command = calls->commands.buffer; /* its place is final now */
    for (size_t i = 0; i < calls->child_count; command += calls->children[i++].size)
        calls->children[i].command = command;
    return OCDM_OK;
}

/* For `ocdm watch`, which cannot know what is still to come. */
static ocdm_status write_runs(const struct calls *calls, ocdm_error *error)
{
    char path[OCDM__PATH_ROOM];
    ocdm__output output;
    OCDM_TRY(ocdm__folder_path(calls->execution->folder, OCDM__RUNS_FILE, path, error));
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm__json_open(&output, NULL, '{');
    ocdm__json_string(&output, "format", "ocdm-runs");
    ocdm__json_count(&output, "version", 1);
    ocdm__json_open(&output, "runs", '[');
    for (size_t i = 0; i < calls->count; i++) {
        ocdm__json_open(&output, NULL, '{');
        ocdm__json_string(&output, "name", calls->calls[i].name);
        ocdm__json_count(&output, "steps", calls->calls[i].steps);
        ocdm__json_close(&output, '}');
    }
    ocdm__output_text(&output, "]}\n");
    return ocdm__output_commit(&output, error);
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

/* Runs the children. The first run that failed decides the exit code of the command, whatever the others do. */
static ocdm_status run_calls(struct calls *calls, int *failed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    ocdm__children children = execution->how;
    children.children = calls->children;
    children.count = calls->child_count;
    if (execution->begun != NULL)
        execution->begun(children.state, calls->count, calls->count - calls->child_count, calls->half);
    ocdm_status status = ocdm__children_run(&children, error);
    for (size_t i = 0; i < calls->child_count && *failed == 0; i++) {
        const struct ocdm__child_result *result = &calls->children[i].result;
        *failed = result->exit_code > 0 || result->error[0] != '\0' ? result->exit_code : 0;
    }
    return status;
}

ocdm_status ocdm__compare_execute(const ocdm__compare_execution *execution, int *failed, ocdm_error *error)
{
    const ocdm__compare_plan *plan = execution->plan;
    struct calls calls = {.execution = execution};
    size_t room = plan->point_count * plan->method_count * (size_t)plan->seed_count;
    int lock = -1;
    *failed = 0;
    OCDM_TRY(ocdm__output_open_memory(&calls.commands, "the command lines", error));
    calls.calls = ocdm__allocate(room, sizeof *calls.calls);
    calls.children = ocdm__allocate(room, sizeof *calls.children);
    ocdm_status status = calls.calls != NULL && calls.children != NULL ? OCDM_OK : ocdm__fail_memory(error, "the list of runs");
    OCDM_THEN(status, lock_folder(execution->folder, &lock, error));
    OCDM_THEN(status, make_calls(&calls, error));
    OCDM_THEN(status, ocdm__make_folder(execution->folder, error));
    if (lock < 0)
        OCDM_THEN(status, lock_folder(execution->folder, &lock, error));
    OCDM_THEN(status, write_runs(&calls, error));
    OCDM_THEN(status, run_calls(&calls, failed, error));
    ocdm__output_abandon(&calls.commands);
    ocdm__release(calls.calls);
    ocdm__release(calls.children);
    if (lock >= 0)
        close(lock);
    return status;
}
