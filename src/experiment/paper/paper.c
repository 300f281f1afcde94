/*
 * The tables and figures of the paper, the runs that they need, and the classes of a stream as figures show them.
 *
 * A table or figure is a row: to add one, add a row, and its numbers in report/tables/paper_numbers.h.
 */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "experiment/loop/settings.h"
#include "experiment/folder/summary_read.h"
#include "stream/statistics.h"

const char *const ocdm__paper_streams[OCDM__PAPER_STREAMS + 1] = {"mscoco", "nuswide", "cocoseq", "nuswideseq", NULL};

const ocdm__paper_need ocdm__paper_needs[] = {
    [OCDM__PAPER_AMLR] = {.alike = true},
    [OCDM__PAPER_METRICS] = {.runs = true, .alike = true},
    [OCDM__PAPER_PROCESS] = {.runs = false},
    [OCDM__PAPER_STREAM] = {.runs = false},
    [OCDM__PAPER_KEPT] = {.memories = true},
    [OCDM__PAPER_CURVES] = {.runs = true, .memories = true, .curves = true, .alike = true},
    [OCDM__PAPER_RHO] = {.runs = true, .memories = true, .alike = true},
    [OCDM__PAPER_DISTANCE] = {.memories = true, .curves = true},
    [OCDM__PAPER_CLAIMS] = {.memories = true, .alike = true},
};

/* Lists of streams and methods. */
#define BOTH                                                                                                                   \
    {                                                                                                                          \
        "mscoco", "nuswide"                                                                                                    \
    }
#define MAIN_METHODS                                                                                                           \
    {                                                                                                                          \
        "multitask", "finetune", "rs", "gss", "cbes", "prs", "onlyone", "ocdm"                                                 \
    }
#define RESERVOIRS                                                                                                             \
    {                                                                                                                          \
        "rs", "prs", "ocdm"                                                                                                    \
    }
#define STRATEGIES                                                                                                             \
    {                                                                                                                          \
        "max", "random", "ocdm"                                                                                                \
    }
#define NONE                                                                                                                   \
    {                                                                                                                          \
        NULL                                                                                                                   \
    }

/* clang-format off */
static const ocdm__paper_item items[] = {
    {"amlr", "Table 1: average multi-label ratio of each task", OCDM__PAPER_AMLR,
     {"cocoseq", "mscoco", "nuswideseq", "nuswide"}, NONE, "1000", "0", false},
    {"mscoco", "Table 2: all methods on MSCOCO", OCDM__PAPER_METRICS, {"mscoco"}, MAIN_METHODS, "1000", "0", false},
    {"nuswide", "Table 3: all methods on NUS-WIDE", OCDM__PAPER_METRICS, {"nuswide"}, MAIN_METHODS, "1000", "0", false},
    {"seq", "Table 4: COCOseq and NUS-WIDEseq", OCDM__PAPER_METRICS,
     {"cocoseq", "nuswideseq"}, {"onlyone", "rs", "cbes", "prs", "ocdm"}, "1000", "0", false},
    {"memory-size", "Table 5: memories of 300 and 500", OCDM__PAPER_METRICS,
     BOTH, {"rs", "gss", "cbes", "prs", "ocdm"}, "300,500", "0", false},
    {"strategies", "Table 6: max, random and the greedy choice", OCDM__PAPER_METRICS, BOTH, STRATEGIES, "1000", "0", false},
    {"orders", "Table 7: other orders of tasks", OCDM__PAPER_METRICS, BOTH, RESERVOIRS, "1000", "0", true},
    {"process", "Figure 1: one step of OCDM", OCDM__PAPER_PROCESS, {"mscoco"}, {"ocdm"}, "1000", "0", false},
    {"stream-mscoco", "Figure 2: classes of the tasks of MSCOCO", OCDM__PAPER_STREAM, {"mscoco"}, NONE, "1000", "0", false},
    {"stream-nuswide", "Figure 3: classes of the tasks of NUS-WIDE", OCDM__PAPER_STREAM, {"nuswide"}, NONE, "1000", "0", false},
    {"memory", "Figure 4: classes in memory after training", OCDM__PAPER_KEPT,
     BOTH, {"rs", "cbes", "prs", "ocdm"}, "1000", "0", false},
    {"memory-onlyone", "Figure 5: classes in memory with onlyone", OCDM__PAPER_KEPT,
     {"mscoco", "nuswide", "cocoseq", "nuswideseq"}, {"onlyone"}, "1000", "0", false},
    {"curves", "Figure 6: mAP after each task, distance step by step", OCDM__PAPER_CURVES, BOTH, RESERVOIRS, "1000", "0", false},
    {"rho", "Figure 7: mAP and kept samples of each group against rho", OCDM__PAPER_RHO,
     BOTH, {"ocdm"}, "1000", "0,0.2,0.4,0.6,0.8", false},
    {"strategies-memory", "Figure 8: classes in memory with max, random, OCDM", OCDM__PAPER_KEPT,
     BOTH, STRATEGIES, "1000", "0", false},
    {"orders-memory", "Figure 9: classes in memory with other orders", OCDM__PAPER_KEPT, BOTH, {"ocdm"}, "1000", "0", true},
    {"orders-distance", "Figure 10: distance step by step with other orders", OCDM__PAPER_DISTANCE,
     BOTH, RESERVOIRS, "1000", "0", true},
    {"claims", "what the text says of the classes in memory and of rho", OCDM__PAPER_CLAIMS, BOTH, RESERVOIRS, "1000", "0", false},
};

/* The methods of the claims that need a network. */
static const ocdm__paper_item learnt_claims = {
    "claims", "what the text says of gss", OCDM__PAPER_CLAIMS, BOTH, {"gss"}, "1000", "0", false};
/* clang-format on */

const ocdm__paper_item *ocdm__paper_item_at(size_t index)
{
    return index < sizeof items / sizeof *items ? &items[index] : NULL;
}

const ocdm__paper_item *ocdm__paper_item_find(const char *name)
{
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}

const ocdm__paper_item *ocdm__paper_runs_of(const ocdm__paper_item *item)
{
    if (item->kind == OCDM__PAPER_CLAIMS)
        return &learnt_claims;
    return ocdm__paper_needs[item->kind].runs ? item : NULL;
}

/* ---- plans ------------------------------------------------------------------------------------------------------------ */

/* PRS gives its streams an order; the paper's own come as they are, and in three others (Section "Randomizing Task Order"). */
static const struct {
    const char *stream;
    size_t tasks, classes;
    const char *order, *others;
} streams[] = {
    {"mscoco", 4, 44, NULL, "3,0,1,2;2,1,3,0;0,2,3,1"},
    {"nuswide", 5, 44, NULL, "3,0,1,4,2;2,1,3,4,0;0,2,4,3,1"},
    {"cocoseq", 4, 70, "0,3,1,2", NULL},
    {"nuswideseq", 6, 49, "3,1,0,5,4,2", NULL},
};

/* The name is one of ocdm__paper_streams. */
static size_t find_stream(const char *name)
{
    size_t which = 0;
    while (strcmp(streams[which].stream, name) != 0)
        which++;
    return which;
}

size_t ocdm__paper_class_count(const char *stream)
{
    return streams[find_stream(stream)].classes;
}

ocdm_status ocdm__paper_plan(ocdm__compare_plan *plan, const ocdm__paper_item *item, const char *stands_for,
                             const ocdm__stream_info *info, uint64_t seeds, ocdm_error *error)
{
    size_t which = find_stream(stands_for), tasks = info->statistics.task_count;
    *plan = (ocdm__compare_plan){.methods = item->methods, .seed_count = seeds};
    while (item->methods[plan->method_count] != NULL)
        plan->method_count++;
    if (item->orders && tasks != streams[which].tasks)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the paper's orders of %s are of %zu tasks, the stream has %zu",
                          stands_for, streams[which].tasks, tasks);
    const char *order = item->orders ? streams[which].others : tasks == streams[which].tasks ? streams[which].order : NULL;
    return ocdm__compare_points_make(plan, item->memory, item->rho, order, NULL, 0, error);
}

/* ---- runs in a folder ---------------------------------------------------------------------------------------------------- */

static size_t run_count(const ocdm__compare_plan *plan)
{
    return plan->point_count * plan->method_count * (size_t)plan->seed_count;
}

/* The summary of run number i; false when it is not there. */
static bool find_summary(const ocdm__compare_plan *plan, const char *folder, size_t i, char path[OCDM__SUMMARY_PATH])
{
    char name[OCDM__COMPARE_NAME], run[OCDM__SUMMARY_PATH];
    size_t seeds = (size_t)plan->seed_count, method = i / seeds % plan->method_count;
    ocdm__compare_folder(plan, i / seeds / plan->method_count, method, i % seeds, name);
    int length = snprintf(run, sizeof run, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof run && ocdm__summary_find(run, path);
}

bool ocdm__paper_has_runs(const ocdm__compare_plan *plan, const char *folder)
{
    char path[OCDM__SUMMARY_PATH];
    for (size_t i = 0; i < run_count(plan); i++)
        if (!find_summary(plan, folder, i, path))
            return false;
    return true;
}

ocdm_status ocdm__paper_check_runs(const ocdm__compare_plan *plan, const char *folder, ocdm__run_setup *setup,
                                   ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm_status status = OCDM_OK;
    size_t seeds = (size_t)plan->seed_count;
    for (size_t i = 0; status == OCDM_OK && i < run_count(plan); i++) {
        const ocdm__asked_run asked =
            ocdm__run_setup_of(setup, plan, i / seeds / plan->method_count, i / seeds % plan->method_count, i % seeds);
        if (find_summary(plan, folder, i, path))
            status = ocdm__summary_compare(path, &asked, error);
    }
    /* The table was requested; it is the runs that do not fit. */
    if (status == OCDM_BAD_ARGUMENT && error != NULL)
        error->status = OCDM_BAD_FILE;
    return status == OCDM_BAD_ARGUMENT ? OCDM_BAD_FILE : status;
}

ocdm_status ocdm__paper_read_memories(ocdm__compare_memories *memories, const ocdm__compare_plan *plan, const char *folder,
                                      size_t class_count, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    size_t seeds = (size_t)plan->seed_count, methods = plan->method_count;
    memories->count = run_count(plan);
    OCDM_TRY(ocdm__new(&memories->results, memories->count, sizeof *memories->results, "the memories of runs", error));
    for (size_t i = 0; i < memories->count; i++)
        if (find_summary(plan, folder, i, path)) {
            size_t place = (i / seeds / methods * seeds + i % seeds) * methods + i / seeds % methods;
            ocdm__memory_result *result = &memories->results[place];
            ocdm__json_tree tree = {.root = NULL};
            OCDM_TRY(ocdm__new(&result->kept, class_count, sizeof *result->kept, "the classes in memory", error));
            OCDM_TRY(ocdm__summary_read(&tree, path, error));
            bool known = ocdm__summary_kept(tree.root, result->kept, class_count);
            ocdm__json_tree_clear(&tree);
            if (!known)
                return ocdm__fail(error, OCDM_BAD_FILE, "remove the run's folder, and it is made again",
                                  "%s: no counts of the %zu classes in memory", path, class_count);
        }
    return OCDM_OK;
}

/* ---- classes of a stream ------------------------------------------------------------------------------------------------- */

static int by_task(const void *a, const void *b)
{
    const ocdm__paper_class *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

ocdm_status ocdm__paper_classes(const ocdm__stream_info *info, ocdm__paper_class **classes, size_t *count, ocdm_error *error)
{
    ocdm__paper_class *list;
    OCDM_TRY(ocdm__new(&list, info->class_count, sizeof *list, "the classes of a stream", error));
    for (size_t i = 0; i < info->class_count; i++) {
        const ocdm__statistics *statistics = &info->statistics;
        const uint8_t *groups = info->stream.table.groups;
        uint32_t number = info->classes[i];
        uint64_t seen = ocdm__tally_class(&statistics->total, number).count;
        size_t length, task = 0;
        const char *label = ocdm__stream_info_label(info, number, &length);
        while (task < statistics->task_count && ocdm__tally_class(&statistics->tasks[task], number).count == 0)
            task++;
        enum ocdm__class_group group = groups != NULL ? (enum ocdm__class_group)groups[number]
                                                      : ocdm__class_group_of(seen, OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER);
        list[i] = (ocdm__paper_class){.number = number,
                                      .group = ocdm__class_group_name(group),
                                      .task = task < statistics->task_count ? statistics->tasks[task].task : 0,
                                      .seen = seen};
        snprintf(list[i].name, sizeof list[i].name, "%.*s", (int)(length < 60 ? length : 60), label);
    }
    qsort(list, info->class_count, sizeof *list, by_task);
    *classes = list;
    *count = info->class_count;
    return OCDM_OK;
}

ocdm_status ocdm__paper_evaluations(const char *folder, double *values, size_t room, size_t *count, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm__json_tree tree = {.root = NULL};
    *count = 0;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    OCDM_TRY(ocdm__summary_read(&tree, path, error));
    *count = ocdm__summary_maps(tree.root, values, room);
    ocdm__json_tree_clear(&tree);
    return OCDM_OK;
}
