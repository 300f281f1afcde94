/* The list of what is in the paper, and the runs that it takes. */
#include "experiment/paper/paper.h"

#include <string.h>

#include "base/error.h"

#define MAIN_METHODS "multitask", "finetune", "rs", "gss", "cbes", "prs", "onlyone", "ocdm"
#define BOTH "mscoco", "nuswide"

const char *const ocdm__paper_streams[OCDM__PAPER_STREAMS + 1] = {"mscoco", "nuswide", "cocoseq", "nuswideseq", NULL};

static const ocdm__paper_item items[] = {
    {"amlr",
     "Table 1: average multi-label ratio of each task",
     OCDM__PAPER_AMLR,
     {"cocoseq", "mscoco", "nuswideseq", "nuswide", NULL},
     {NULL},
     "1000",
     "0",
     false},
    {"mscoco",
     "Table 2: all methods on MSCOCO",
     OCDM__PAPER_METRICS,
     {"mscoco", NULL},
     {MAIN_METHODS, NULL},
     "1000",
     "0",
     false},
    {"nuswide",
     "Table 3: all methods on NUS-WIDE",
     OCDM__PAPER_METRICS,
     {"nuswide", NULL},
     {MAIN_METHODS, NULL},
     "1000",
     "0",
     false},
    {"seq",
     "Table 4: COCOseq and NUS-WIDEseq",
     OCDM__PAPER_METRICS,
     {"cocoseq", "nuswideseq", NULL},
     {"onlyone", "rs", "cbes", "prs", "ocdm", NULL},
     "1000",
     "0",
     false},
    {"memory-size",
     "Table 5: memories of 300 and 500",
     OCDM__PAPER_METRICS,
     {BOTH, NULL},
     {"rs", "gss", "cbes", "prs", "ocdm", NULL},
     "300,500",
     "0",
     false},
    {"strategies",
     "Table 6: max, random and the greedy choice",
     OCDM__PAPER_METRICS,
     {BOTH, NULL},
     {"max", "random", "ocdm", NULL},
     "1000",
     "0",
     false},
    {"orders",
     "Table 7: other orders of tasks",
     OCDM__PAPER_METRICS,
     {BOTH, NULL},
     {"rs", "prs", "ocdm", NULL},
     "1000",
     "0",
     true},
    {"process", "Figure 1: one step of OCDM", OCDM__PAPER_PROCESS, {"mscoco", NULL}, {"ocdm", NULL}, "1000", "0", false},
    {"stream-mscoco",
     "Figure 2: classes of the tasks of MSCOCO",
     OCDM__PAPER_STREAM,
     {"mscoco", NULL},
     {NULL},
     "1000",
     "0",
     false},
    {"stream-nuswide",
     "Figure 3: classes of the tasks of NUS-WIDE",
     OCDM__PAPER_STREAM,
     {"nuswide", NULL},
     {NULL},
     "1000",
     "0",
     false},
    {"memory",
     "Figure 4: classes in memory after training",
     OCDM__PAPER_KEPT,
     {BOTH, NULL},
     {"rs", "cbes", "prs", "ocdm", NULL},
     "1000",
     "0",
     false},
    {"memory-onlyone",
     "Figure 5: classes in memory with onlyone",
     OCDM__PAPER_KEPT,
     {"mscoco", "nuswide", "cocoseq", "nuswideseq", NULL},
     {"onlyone", NULL},
     "1000",
     "0",
     false},
    {"curves",
     "Figure 6: mAP after each task, distance step by step",
     OCDM__PAPER_CURVES,
     {BOTH, NULL},
     {"rs", "prs", "ocdm", NULL},
     "1000",
     "0",
     false},
    {"rho",
     "Figure 7: mAP and kept samples of each group against rho",
     OCDM__PAPER_RHO,
     {BOTH, NULL},
     {"ocdm", NULL},
     "1000",
     "0,0.2,0.4,0.6,0.8",
     false},
    {"strategies-memory",
     "Figure 8: classes in memory with max, random, OCDM",
     OCDM__PAPER_KEPT,
     {BOTH, NULL},
     {"max", "random", "ocdm", NULL},
     "1000",
     "0",
     false},
    {"orders-memory",
     "Figure 9: classes in memory with other orders",
     OCDM__PAPER_KEPT,
     {BOTH, NULL},
     {"ocdm", NULL},
     "1000",
     "0",
     true},
    {"orders-distance",
     "Figure 10: distance step by step with other orders",
     OCDM__PAPER_DISTANCE,
     {BOTH, NULL},
     {"rs", "prs", "ocdm", NULL},
     "1000",
     "0",
     true},
    {"claims",
     "what the text says of the classes in memory and of rho",
     OCDM__PAPER_CLAIMS,
     {BOTH, NULL},
     {"rs", "prs", "ocdm", NULL},
     "1000",
     "0",
     false},
};

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

bool ocdm__paper_needs_runs(const ocdm__paper_item *item)
{
    return item->kind == OCDM__PAPER_METRICS || item->kind == OCDM__PAPER_CURVES || item->kind == OCDM__PAPER_RHO;
}

/* ---- plans ------------------------------------------------------------------------------------------------------------ */

/* PRS gives its streams an order; the paper's own come as they are, and in three others (Section "Randomizing Task Order"). */
static const struct {
    const char *stream;
    size_t tasks;
    const char *order, *others;
} orders[] = {
    {"mscoco", 4, NULL, "3,0,1,2;2,1,3,0;0,2,3,1"},
    {"nuswide", 5, NULL, "3,0,1,4,2;2,1,3,4,0;0,2,4,3,1"},
    {"cocoseq", 4, "0,3,1,2", NULL},
    {"nuswideseq", 6, "3,1,0,5,4,2", NULL},
};

ocdm_status ocdm__paper_plan(ocdm__compare_plan *plan, const ocdm__paper_item *item, const char *stands_for,
                             const ocdm__stream_info *info, uint64_t seeds, ocdm_error *error)
{
    size_t which = 0, tasks = info->statistics.task_count;
    while (strcmp(orders[which].stream, stands_for) != 0)
        which++;
    *plan = (ocdm__compare_plan){.methods = item->methods, .seed_count = seeds};
    while (item->methods[plan->method_count] != NULL)
        plan->method_count++;
    if (item->orders && tasks != orders[which].tasks)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the paper's orders of %s are of %zu tasks, the stream has %zu",
                          stands_for, orders[which].tasks, tasks);
    const char *order = item->orders ? orders[which].others : tasks == orders[which].tasks ? orders[which].order : NULL;
    return ocdm__compare_points_make(plan, item->memory, item->rho, order, NULL, 0, error);
}
