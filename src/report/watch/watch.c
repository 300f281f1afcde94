/* Lines of a log, taken in. The state has a fixed size: a run of any length is watched in the same memory. */
#include "report/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "report/watch/state.h"

void ocdm__watch_forget(ocdm__watch *watch)
{
    *watch = (ocdm__watch){.every = 1, .seed = NAN, .memory = NAN, .train = NAN, .batch = NAN, .loss = NAN, .distance = NAN};
}

ocdm_status ocdm__watch_create(ocdm__watch **watch, ocdm_error *error)
{
    ocdm__watch *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "a watch");
    ocdm__watch_forget(made);
    *watch = made;
    return OCDM_OK;
}

void ocdm__watch_destroy(ocdm__watch *watch)
{
    ocdm__release(watch);
}

double ocdm__watch_step(const ocdm__watch *watch)
{
    return watch->step;
}

static double number(const ocdm__json_node *line, const char *path)
{
    return ocdm__json_number(ocdm__json_find(line, path));
}

/* What comes after the resumed step was done in a life that ended without saving it. */
static void cut_back(ocdm__watch *watch, double step)
{
    while (watch->history_count > 0 && watch->history_step[watch->history_count - 1] > step)
        watch->history_count--;
    while (watch->evaluation_count > 0 && watch->evaluation_step[watch->evaluation_count - 1] > step)
        watch->evaluation_count--;
    watch->step = step;
    watch->ended = false;
}

static void take_start(ocdm__watch *watch, const ocdm__json_node *line)
{
    double resumed = number(line, "resumed");
    if (!isnan(resumed))
        cut_back(watch, resumed);
    snprintf(watch->method, sizeof watch->method, "%s", ocdm__json_text(ocdm__json_find(line, "settings.method"), "?"));
    snprintf(watch->stream, sizeof watch->stream, "%s", ocdm__json_text(ocdm__json_find(line, "stream.file"), "a stream"));
    watch->seed = number(line, "settings.seed");
    watch->memory = number(line, "settings.memory");
    watch->batch = number(line, "settings.batch");
    watch->train = number(line, "stream.train");
    watch->started = true;
}

static void take_counts(ocdm__watch *watch, const ocdm__json_node *list)
{
    if (list == NULL || list->kind != OCDM__JSON_ARRAY)
        return;
    watch->count_count = 0;
    for (const ocdm__json_node *node = list->first; node != NULL && watch->count_count < OCDM__WATCH_CLASSES; node = node->next)
        watch->counts[watch->count_count++] = ocdm__json_number(node);
}

/* When the history is full every second point goes, and from then on only every second one comes. */
static void remember(ocdm__watch *watch)
{
    if (watch->passed++ % watch->every != 0)
        return;
    if (watch->history_count == OCDM__WATCH_HISTORY) {
        for (size_t i = 0; 2 * i < watch->history_count; i++) {
            watch->history_step[i] = watch->history_step[2 * i];
            watch->history_loss[i] = watch->history_loss[2 * i];
            watch->history_distance[i] = watch->history_distance[2 * i];
        }
        watch->history_count /= 2;
        watch->every *= 2;
    }
    watch->history_step[watch->history_count] = watch->step;
    watch->history_loss[watch->history_count] = watch->loss;
    watch->history_distance[watch->history_count++] = watch->distance;
}

static void take_step(ocdm__watch *watch, const ocdm__json_node *line)
{
    watch->step = number(line, "step");
    watch->task = number(line, "task");
    watch->loss = number(line, "loss");
    watch->distance = number(line, "distance_seen");
    watch->kept = number(line, "kept");
    watch->seconds = number(line, "seconds");
    take_counts(watch, ocdm__json_find(line, "counts"));
    remember(watch);
}

static void take_evaluation(ocdm__watch *watch, const ocdm__json_node *line)
{
    if (watch->evaluation_count == OCDM__WATCH_EVALUATIONS) {
        watch->evaluation_count--;
        memmove(watch->evaluation_step, watch->evaluation_step + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_task, watch->evaluation_task + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_map, watch->evaluation_map + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_distance, watch->evaluation_distance + 1, watch->evaluation_count * sizeof(double));
    }
    watch->evaluation_step[watch->evaluation_count] = number(line, "step");
    watch->evaluation_task[watch->evaluation_count] = number(line, "task");
    watch->evaluation_map[watch->evaluation_count] = number(line, "total.mAP");
    watch->evaluation_distance[watch->evaluation_count++] = number(line, "distance_seen");
}

enum ocdm__watch_event ocdm__watch_line(ocdm__watch *watch, const char *line, size_t length)
{
    static const char *const types[] = {"", "start", "step", "evaluation", "end"};
    ocdm__json_tree tree = {.root = NULL};
    enum ocdm__watch_event event = OCDM__WATCH_OTHER;
    if (ocdm__json_tree_parse(&tree, "", line, length, NULL) != OCDM_OK)
        return event;
    const char *type = ocdm__json_text(ocdm__json_find(tree.root, "type"), "");
    for (unsigned i = OCDM__WATCH_START; i <= OCDM__WATCH_END; i++)
        if (strcmp(type, types[i]) == 0)
            event = (enum ocdm__watch_event)i;
    if (event == OCDM__WATCH_START)
        take_start(watch, tree.root);
    else if (event == OCDM__WATCH_STEP)
        take_step(watch, tree.root);
    else if (event == OCDM__WATCH_EVALUATION)
        take_evaluation(watch, tree.root);
    else if (event == OCDM__WATCH_END)
        watch->ended = true;
    ocdm__json_tree_clear(&tree);
    return event;
}
