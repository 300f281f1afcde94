/* Runs the plan of a comparison as processes, after looking into the folders of its runs. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/execute.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "experiment/folder/run_folder.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/evaluation.h"

/* ---- folders ------------------------------------------------------------------------------------------------------------- */

/* "0,3,1,2" against [0,3,1,2]. */
static bool is_list(const ocdm__json_node *node, const char *text)
{
    for (size_t i = 0; i < node->count; i++) {
        double value;
        size_t length = strcspn(text, ",");
        if (!ocdm__text_to_double(text, length, &value) || ocdm__json_number(ocdm__json_element(node, i)) != value)
            return false;
        text += length;
        if (i + 1 < node->count && *text++ != ',')
            return false;
    }
    return *text == '\0';
}

/* A file is the same by its name alone: its folder may have another path today. */
static bool is_text(const char *saved, const char *asked)
{
    const char *name = strrchr(asked, '/');
    return strcmp(saved, asked) == 0 || (name != NULL && strcmp(saved, name + 1) == 0);
}

static bool is_value(const ocdm__json_node *node, const char *text)
{
    double value;
    if (text == NULL)
        return node->kind == OCDM__JSON_NULL;
    switch (node->kind) {
    case OCDM__JSON_NUMBER:
        return ocdm__text_to_double(text, strlen(text), &value) && value == node->number;
    case OCDM__JSON_STRING:
        return is_text(node->text, text);
    case OCDM__JSON_ARRAY:
        return is_list(node, text);
    case OCDM__JSON_TRUE:
        return *text == '\0';
    default:
        return false;
    }
}

/* A saved value for a message. */
static const char *shown(const ocdm__json_node *node)
{
    if (node == NULL)
        return "none";
    if (node->kind == OCDM__JSON_NUMBER || node->kind == OCDM__JSON_STRING)
        return node->text;
    return node->kind == OCDM__JSON_ARRAY ? "another list" : node->kind == OCDM__JSON_NULL ? "null" : "another value";
}

/* What two files say about classes is compared by content if the summary has it, else by name. */
enum content { UNKNOWN_CONTENT, SAME_CONTENT, OTHER_CONTENT };

static enum content same_if(bool same)
{
    return same ? SAME_CONTENT : OTHER_CONTENT;
}

static ocdm_status compare_content(const ocdm__json_node *root, const ocdm__json_node *saved, const ocdm__asked *asked,
                                   enum content *content, ocdm_error *error)
{
    const char *text = ocdm__json_text(saved, "");
    size_t count = asked->class_count;
    *content = UNKNOWN_CONTENT;
    bool groups = asked->groups != NULL && ocdm__groups_are_of_a_file(text, strlen(text));
    if (!groups && (asked->class_weights == NULL || *text == '\0'))
        return OCDM_OK;
    void *stored = ocdm__allocate(count, sizeof(double));
    if (stored == NULL)
        return ocdm__fail_memory(error, "the groups or weights of classes");
    if (groups && ocdm__summary_groups(root, stored, count))
        *content = same_if(memcmp(stored, asked->groups, count * sizeof *asked->groups) == 0);
    if (!groups && ocdm__summary_class_weights(root, stored, count))
        *content = same_if(memcmp(stored, asked->class_weights, count * sizeof *asked->class_weights) == 0);
    ocdm__release(stored);
    return OCDM_OK;
}

/* A setting that the summary does not have is newer than the run, which had its default. */
static bool is_default(const ocdm__asked *asked)
{
    const ocdm__setting *setting = ocdm__setting_of_key(asked->member);
    if (setting == NULL)
        return true;
    if (setting->fallback == NULL || asked->value == NULL)
        return setting->fallback == asked->value;
    return strcmp(setting->fallback, asked->value) == 0;
}

static ocdm_status compare_settings(const char *path, const ocdm__json_node *root, const ocdm__asked *asked, size_t count,
                                    ocdm_error *error)
{
    static const char hint[] = "take another folder with -o, or ask for what is there";
    const ocdm__json_node *settings = ocdm__json_find(root, "settings");
    for (size_t i = 0; i < count; i++) {
        bool outside = strchr(asked[i].member, '.') != NULL;
        const ocdm__json_node *saved = ocdm__json_find(outside ? root : settings, asked[i].member);
        enum content content;
        ocdm_status status = compare_content(root, saved, &asked[i], &content, error);
        if (status != OCDM_OK)
            return status;
        if (content == OTHER_CONTENT)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s is of a run with other %s than %s has", path, asked[i].member,
                              asked[i].value);
        bool same = saved != NULL ? is_value(saved, asked[i].value) : is_default(&asked[i]);
        if (content == UNKNOWN_CONTENT && !same)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s is of a run with %s %s, asked is %s", path, asked[i].member,
                              shown(saved), asked[i].value != NULL ? asked[i].value : "none");
    }
    return OCDM_OK;
}

static bool exists(const char *folder, const char *file, char path[4096])
{
    return (size_t)snprintf(path, 4096, "%s/%s", folder, file) < 4096 && access(path, F_OK) == 0;
}

/* What `ocdm run` refuses to begin in. A run that was killed may have left its log alone, or the older checkpoint alone. */
static bool is_begun(const char *folder)
{
    char path[4096];
    return exists(folder, "checkpoint.safetensors", path) || exists(folder, "checkpoint.previous.safetensors", path) ||
           exists(folder, "run.jsonl", path);
}

ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked *asked, size_t asked_count,
                                   enum ocdm__folder_state *state, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm__json_tree tree = {.root = NULL};
    *state = is_begun(folder) ? OCDM__FOLDER_HALF : OCDM__FOLDER_NEW;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    *state = OCDM__FOLDER_DONE;
    ocdm_status status = ocdm__summary_read(&tree, path, error);
    if (status == OCDM_OK)
        status = compare_settings(path, tree.root, asked, asked_count, error);
    ocdm__json_tree_clear(&tree);
    return status;
}

#define PATH_ROOM 4096
#define ORDER_ROOM ((size_t)12 * OCDM__COMPARE_TASKS)

/* What one process is called with; the texts that its arguments point to. */
struct call {
    char name[OCDM__COMPARE_NAME], folder[PATH_ROOM], log[PATH_ROOM];
    char seed[24], memory[16], rho[OCDM__JSON_DOUBLE];
    char *order; /* NULL: the default one */
    const char **arguments;
};

/* All of them. */
struct calls {
    const ocdm__compare_execution *execution;
    struct call *calls;
    ocdm__child *children;
    size_t *numbers; /* of each child, which call it is */
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
    snprintf(call->seed, sizeof call->seed, "%llu", (unsigned long long)seed);
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

/* Passes over the data are for multitask alone: `ocdm run` refuses them with another method. */
static bool concerns(const char *flag, const char *method)
{
    return strcmp(flag, "--epochs") != 0 || strcmp(method, "multitask") == 0;
}

/* The command line of a run. The flags are only read by the child. */
static ocdm_status fill_arguments(struct call *call, const ocdm__compare_execution *execution, const char *method, bool resume,
                                  ocdm_error *error)
{
    size_t used = 0;
    call->arguments = ocdm__allocate(execution->flag_count + 20, sizeof *call->arguments);
    if (call->arguments == NULL)
        return ocdm__fail_memory(error, "a command line");
    const char *fixed[] = {"ocdm",     "run",        execution->stream, "-o",      call->folder, "--method", method,
                           "--memory", call->memory, "--rho",           call->rho, "--seed",     call->seed, "--quiet"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        call->arguments[used++] = fixed[i];
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
    if (resume)
        call->arguments[used++] = "--resume";
    call->arguments[used] = NULL;
    return OCDM_OK;
}

static ocdm_status look(const struct call *call, const ocdm__compare_execution *execution, const char *method,
                        enum ocdm__folder_state *state, ocdm_error *error)
{
    const ocdm__asked own[] = {{.member = "method", .value = method},
                               {.member = "seed", .value = call->seed},
                               {.member = "memory", .value = call->memory},
                               {.member = "rho", .value = call->rho},
                               {.member = "order", .value = call->order}};
    size_t own_count = sizeof own / sizeof *own - (call->order == NULL);
    ocdm__asked *asked = ocdm__allocate(execution->asked_count + own_count, sizeof *asked);
    if (asked == NULL)
        return ocdm__fail_memory(error, "the settings that are asked for");
    memcpy(asked, own, own_count * sizeof *own);
    size_t count = own_count;
    for (size_t i = 0; i < execution->asked_count; i++)
        if (strcmp(execution->asked[i].member, "epochs") != 0 || strcmp(method, "multitask") == 0)
            asked[count++] = execution->asked[i];
    ocdm_status status = ocdm__look_into_folder(call->folder, asked, count, state, error);
    ocdm__release(asked);
    return status;
}

/* ---- all calls -------------------------------------------------------------------------------------------------------- */

static ocdm_status add_call(struct calls *calls, size_t point, size_t method, uint64_t seed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    const char *name = execution->plan->methods[method];
    struct call *call = &calls->calls[calls->count++];
    enum ocdm__folder_state state = OCDM__FOLDER_NEW;
    ocdm_status status = fill_call(call, execution, point, method, seed, error);
    if (status == OCDM_OK)
        status = look(call, execution, name, &state, error);
    if (status != OCDM_OK || state == OCDM__FOLDER_DONE)
        return status;
    calls->half += state == OCDM__FOLDER_HALF;
    calls->numbers[calls->child_count] = calls->count - 1;
    status = fill_arguments(call, execution, name, state == OCDM__FOLDER_HALF, error);
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
}

static void tell_end(void *state, size_t child)
{
    const struct calls *calls = state;
    const ocdm__compare_execution *execution = calls->execution;
    if (execution->ended != NULL)
        execution->ended(execution->state, calls->calls[calls->numbers[child]].name, &calls->children[child]);
}

static ocdm_status run_calls(struct calls *calls, int *failed, ocdm_error *error)
{
    const ocdm__compare_execution *execution = calls->execution;
    ocdm__children children = {.program = execution->program,
                               .children = calls->children,
                               .count = calls->child_count,
                               .jobs = execution->jobs,
                               .stop = execution->stop,
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
    *failed = 0;
    calls.calls = ocdm__allocate(room, sizeof *calls.calls);
    calls.children = ocdm__allocate(room, sizeof *calls.children);
    calls.numbers = ocdm__allocate(room, sizeof *calls.numbers);
    ocdm_status status = OCDM_OK;
    if (calls.calls == NULL || calls.children == NULL || calls.numbers == NULL)
        status = ocdm__fail_memory(error, "the list of runs");
    if (status == OCDM_OK)
        status = ocdm__make_folder(execution->folder, error);
    if (status == OCDM_OK)
        status = make_calls(&calls, error);
    if (status == OCDM_OK)
        status = run_calls(&calls, failed, error);
    clear_calls(&calls);
    return status;
}
