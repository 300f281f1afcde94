/* The runs that an item needs, and what it shows of a stream. */
#include "experiment/paper/paper.h"

#include "base/json_tree.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/settings.h"
#include "stream/statistics.h"

/* ---- plans ------------------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__paper_plan(ocdm__compare_plan *plan, const ocdm__paper_item *item, const char *stands_for,
                             const ocdm__stream_info *info, uint64_t seeds, ocdm_error *error)
{
    const ocdm__paper_stream *stream = ocdm__paper_stream_find(stands_for, strlen(stands_for));
    size_t tasks = info->statistics.task_count;
    *plan = (ocdm__compare_plan){.methods = item->methods, .seed_count = seeds};
    while (item->methods[plan->method_count] != NULL)
        plan->method_count++;
    if (item->orders && tasks != stream->tasks)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the paper's orders of %s are of %zu tasks, the stream has %zu",
                          stands_for, stream->tasks, tasks);
    const char *order = item->orders ? stream->others : tasks == stream->tasks ? stream->order : NULL;
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

ocdm_status ocdm__paper_part_begin(ocdm__paper_part *part, const ocdm__paper_item *item, const char *label,
                                   const char *stands_for, const ocdm__stream_info *info, ocdm_error *error)
{
    const ocdm__statistics *statistics = &info->statistics;
    const uint8_t *groups = info->stream.table.groups;
    *part = (ocdm__paper_part){.item = item, .label = label, .stands_for = stands_for, .info = info};
    OCDM_TRY(ocdm__new(&part->classes, info->class_count, sizeof *part->classes, "the classes of a stream", error));
    part->class_count = info->class_count;
    for (size_t i = 0; i < info->class_count; i++) {
        ocdm__paper_class *class = &part->classes[i];
        size_t length, task = 0;
        class->number = info->classes[i];
        class->seen = ocdm__tally_class(&statistics->total, class->number).count;
        while (task < statistics->task_count && ocdm__tally_class(&statistics->tasks[task], class->number).count == 0)
            task++;
        class->task = task < statistics->task_count ? statistics->tasks[task].task : 0;
        class->group = ocdm__class_group_name(
            groups != NULL ? (enum ocdm__class_group)groups[class->number]
                           : ocdm__class_group_of(class->seen, OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER));
        const char *name = ocdm__stream_info_label(info, class->number, &length);
        snprintf(class->name, sizeof class->name, "%.*s", (int)(length < 60 ? length : 60), name);
    }
    qsort(part->classes, part->class_count, sizeof *part->classes, by_task);
    return item->kind == OCDM__PAPER_PROCESS ? ocdm__process_of(&part->process, &info->stream.table, error) : OCDM_OK;
}

void ocdm__paper_part_clear(ocdm__paper_part *part)
{
    ocdm__compare_memories_clear(&part->rho_memories);
    ocdm__compare_plan_clear(&part->rho_plan);
    ocdm__compare_memories_clear(&part->learnt);
    ocdm__compare_plan_clear(&part->learnt_plan);
    ocdm__compare_memories_clear(&part->memories);
    ocdm__compare_results_clear(&part->results);
    ocdm__compare_plan_clear(&part->plan);
    ocdm__release(part->process.counts);
    ocdm__release(part->classes);
    *part = (ocdm__paper_part){.item = NULL};
}
