/* The figures of the paper and the claims of its text, as rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/paper/process.h"
#include "metrics/metrics.h"
#include "report/tables/tables.h"
#include "report/tables/paper_numbers.h"

/* ---- one step --------------------------------------------------------------------------------------------------------- */

static void list_labels(const ocdm__stream_info *info, uint32_t sample, char *text, size_t room)
{
    const ocdm__stream_table *table = &info->stream.table;
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1] && used < room; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", used > 0 ? " " : "", (int)length, label);
    }
}

ocdm_status ocdm__paper_add_process(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error)
{
    ocdm__process process;
    ocdm_status status = ocdm__process_of(&process, &source->info->stream.table, 1000, error);
    for (size_t i = 0; status == OCDM_OK && i < process.event_count; i++) {
        ocdm__cell *row = ocdm__table_row(table, error);
        char text[OCDM__TABLE_TEXT];
        size_t length;
        if (row == NULL) {
            status = OCDM_NO_MEMORY;
            break;
        }
        const char *id = ocdm__text_at(&source->info->stream.table.ids, process.events[i].sample, &length);
        row[0] = ocdm__cell_number((double)process.step, NAN, 0);
        ocdm__cell_text(&row[1], process.events[i].joins ? "joins" : "leaves");
        snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), id);
        ocdm__cell_text(&row[2], text);
        list_labels(source->info, process.events[i].sample, text, sizeof text);
        ocdm__cell_text(&row[3], text);
        row[4] = ocdm__cell_number(process.events[i].distance, NAN, 6);
    }
    ocdm__process_clear(&process);
    return status;
}

/* ---- classes ---------------------------------------------------------------------------------------------------------- */

static ocdm_status add_class_of_task(ocdm__table *table, const ocdm__stand_in *source, const ocdm__paper_class *class_,
                                     const ocdm__tally *task, ocdm_error *error)
{
    uint64_t count = ocdm__tally_class(task, class_->number).count;
    ocdm__cell *row = count > 0 ? ocdm__table_row(table, error) : NULL;
    if (row == NULL)
        return count > 0 ? OCDM_NO_MEMORY : OCDM_OK;
    ocdm__cell_text(&row[0], source->label);
    row[1] = ocdm__cell_number((double)task->task, NAN, 0);
    ocdm__cell_text(&row[2], class_->name);
    ocdm__cell_text(&row[3], class_->group);
    row[4] = ocdm__cell_number((double)count, NAN, 0);
    return OCDM_OK;
}

ocdm_status ocdm__paper_add_stream(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error)
{
    const ocdm__statistics *statistics = &source->info->statistics;
    ocdm__paper_class *classes = NULL;
    size_t count = 0;
    ocdm_status status = ocdm__paper_classes(source->info, &classes, &count, error);
    for (size_t task = 0; status == OCDM_OK && task < statistics->task_count; task++)
        for (size_t i = 0; status == OCDM_OK && i < count; i++)
            status = add_class_of_task(table, source, &classes[i], &statistics->tasks[task], error);
    ocdm__release(classes);
    return status;
}

/* Kept samples of a class, mean over seeds. */
static double kept_of(const ocdm__compare_plan *plan, const ocdm__compare_memories *memories, size_t point, size_t method,
                      uint32_t class_number)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++)
        sum += ocdm__compare_memory(memories, plan, point, method, seed)->kept[class_number];
    return sum / (double)plan->seed_count;
}

static ocdm_status add_kept(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                            const ocdm__compare_memories *memories, size_t point, size_t method,
                            const ocdm__paper_class *classes, size_t count, ocdm_error *error)
{
    char order[OCDM__TABLE_TEXT];
    double labels = 0;
    ocdm__compare_order_text(&plan->points[point], order, sizeof order);
    for (size_t i = 0; i < count; i++)
        labels += kept_of(plan, memories, point, method, classes[i].number);
    for (size_t i = 0; i < count; i++) {
        ocdm__cell *row = ocdm__table_row(table, error);
        if (row == NULL)
            return OCDM_NO_MEMORY;
        ocdm__cell_text(&row[0], source->label);
        ocdm__cell_text(&row[1], plan->methods[method]);
        ocdm__cell_text(&row[2], order);
        row[3] = ocdm__cell_number((double)classes[i].task, NAN, 0);
        ocdm__cell_text(&row[4], classes[i].name);
        ocdm__cell_text(&row[5], classes[i].group);
        row[6] = ocdm__cell_number((double)classes[i].seen, NAN, 0);
        row[7] = ocdm__cell_number(kept_of(plan, memories, point, method, classes[i].number), NAN, 1);
        row[8] = ocdm__cell_number(labels / (double)count, NAN, 1);
    }
    return OCDM_OK;
}

ocdm_status ocdm__paper_add_kept(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                 const ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm__paper_class *classes = NULL;
    size_t count = 0;
    ocdm_status status = ocdm__paper_classes(source->info, &classes, &count, error);
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; status == OCDM_OK && method < plan->method_count; method++)
            status = add_kept(table, source, plan, memories, point, method, classes, count, error);
    ocdm__release(classes);
    return status;
}

/* ---- curves ----------------------------------------------------------------------------------------------------------- */

/* A point of a curve. */
struct dot {
    const char *series;
    double x, value, deviation;
    int decimals;
};

static ocdm_status add_dot(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan, size_t point,
                           size_t method, const struct dot *dot, ocdm_error *error)
{
    char order[OCDM__TABLE_TEXT];
    ocdm__cell *row = ocdm__table_row(table, error);
    if (row == NULL)
        return OCDM_NO_MEMORY;
    ocdm__compare_order_text(&plan->points[point], order, sizeof order);
    ocdm__cell_text(&row[0], source->label);
    ocdm__cell_text(&row[1], plan->methods[method]);
    ocdm__cell_text(&row[2], order);
    ocdm__cell_text(&row[3], dot->series);
    row[4] = ocdm__cell_number(dot->x, NAN, 0);
    row[5] = ocdm__cell_number(dot->value, NAN, dot->decimals);
    row[6] = ocdm__cell_number(dot->deviation, NAN, dot->decimals);
    return OCDM_OK;
}

/* The first seed's curve: the figures of the paper show one run. */
ocdm_status ocdm__paper_add_distances(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                      const ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; method < plan->method_count; method++) {
            const ocdm__memory_result *result = ocdm__compare_memory(memories, plan, point, method, 0);
            for (size_t i = 0; status == OCDM_OK && i < result->curve_count; i++) {
                struct dot dot = {"distance_seen", (double)result->curve[i].step, result->curve[i].distance_seen, NAN, 4};
                status = add_dot(table, source, plan, point, method, &dot, error);
            }
        }
    return status;
}

#define MOST_TASKS 64

/* mAP after each task: [seed][task], for the seeds whose runs exist. */
struct evaluations {
    double *values;
    size_t seeds, tasks;
};

static ocdm_status read_evaluations(struct evaluations *found, const ocdm__compare_plan *plan, size_t point, size_t method,
                                    const char *folder, ocdm_error *error)
{
    char path[4096], name[OCDM__COMPARE_NAME];
    found->seeds = found->tasks = 0;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
        size_t count = 0;
        ocdm__compare_folder(plan, point, method, seed, name);
        snprintf(path, sizeof path, "%.3800s/%s", folder, name);
        ocdm_status status =
            ocdm__paper_evaluations(path, found->values + found->seeds * MOST_TASKS, MOST_TASKS, &count, error);
        if (status != OCDM_OK)
            return status;
        found->seeds += count > 0;
        found->tasks = count > found->tasks ? count : found->tasks;
    }
    return OCDM_OK;
}

static ocdm_status add_evaluations(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   size_t point, size_t method, struct evaluations *found, ocdm_error *error)
{
    double *column = ocdm__allocate(found->seeds, sizeof *column);
    ocdm_status status = column != NULL ? OCDM_OK : ocdm__fail_memory(error, "the evaluations");
    for (size_t task = 0; status == OCDM_OK && task < found->tasks; task++) {
        for (size_t seed = 0; seed < found->seeds; seed++)
            column[seed] = found->values[seed * MOST_TASKS + task];
        ocdm__summary summary = ocdm__summarise(column, found->seeds);
        struct dot dot = {OCDM__MAP_NAME, (double)(task + 1), summary.mean, summary.deviation, 1};
        status = add_dot(table, source, plan, point, method, &dot, error);
    }
    ocdm__release(column);
    return status;
}

ocdm_status ocdm__paper_add_evaluations(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                        const char *folder, ocdm_error *error)
{
    struct evaluations found = {.values = ocdm__allocate((size_t)plan->seed_count * MOST_TASKS, sizeof *found.values)};
    ocdm_status status = found.values != NULL ? OCDM_OK : ocdm__fail_memory(error, "the evaluations");
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; status == OCDM_OK && method < plan->method_count; method++) {
            status = read_evaluations(&found, plan, point, method, folder, error);
            if (status == OCDM_OK)
                status = add_evaluations(table, source, plan, point, method, &found, error);
        }
    ocdm__release(found.values);
    return status;
}

/* ---- rho -------------------------------------------------------------------------------------------------------------- */

/* Label occurrences in memory of a group's classes, mean over seeds; `members` is the number of those classes. */
static double kept_of_group(const ocdm__compare_plan *plan, const ocdm__compare_memories *memories, size_t point,
                            const ocdm__paper_class *classes, size_t count, const char *group, size_t *members)
{
    double sum = 0;
    *members = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(classes[i].group, group) == 0) {
            sum += kept_of(plan, memories, point, 0, classes[i].number);
            (*members)++;
        }
    return sum;
}

static ocdm__summary map_of_group(const ocdm__compare_results *results, size_t point, const char *group, ocdm_status *status,
                                  ocdm_error *error)
{
    ocdm__summary summary = {.count = 0};
    for (size_t column = 0; column < OCDM__COMPARE_OF_GROUPS; column++)
        if (strcmp(ocdm__compare_columns[column].group, group) == 0 &&
            strcmp(ocdm__compare_columns[column].metric, OCDM__MAP_NAME) == 0)
            *status = ocdm__compare_summary(results, point, column, 0, &summary, error);
    return summary;
}

ocdm_status ocdm__paper_add_rho(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                const ocdm__compare_memories *memories, const ocdm__compare_results *results, ocdm_error *error)
{
    ocdm__paper_class *classes = NULL;
    size_t count = 0, members = 0;
    ocdm_status status = ocdm__paper_classes(source->info, &classes, &count, error);
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t g = 0; status == OCDM_OK && ocdm__paper_trend_at(g) != NULL; g++) {
            const char *group = ocdm__paper_trend_at(g)->group;
            ocdm__summary map = map_of_group(results, point, group, &status, error);
            double kept = kept_of_group(plan, memories, point, classes, count, group, &members);
            ocdm__cell *row = status == OCDM_OK ? ocdm__table_row(table, error) : NULL;
            if (row == NULL) {
                status = status == OCDM_OK ? OCDM_NO_MEMORY : status;
                break;
            }
            ocdm__cell_text(&row[0], source->label);
            row[1] = ocdm__cell_number(plan->points[point].rho, NAN, 1);
            ocdm__cell_text(&row[2], group);
            row[3] = ocdm__cell_number(kept, NAN, 1);
            row[4] = ocdm__cell_number(members > 0 ? kept / (double)members : NAN, NAN, 1);
            row[5] = ocdm__cell_number(map.mean, NAN, 1);
            row[6] = ocdm__cell_number(map.deviation, NAN, 1);
        }
    ocdm__release(classes);
    return status;
}

/* ---- claims ----------------------------------------------------------------------------------------------------------- */

static ocdm_status add_claim(ocdm__table *table, const ocdm__stand_in *source, const char *text, double ours, double paper,
                             ocdm_error *error)
{
    ocdm__cell *row = ocdm__table_row(table, error);
    if (row == NULL)
        return OCDM_NO_MEMORY;
    ocdm__cell_text(&row[0], source->label);
    ocdm__cell_text(&row[1], text);
    row[2] = ocdm__cell_number(ours, NAN, 1);
    row[3] = ocdm__cell_number(paper, NAN, 0);
    return OCDM_OK;
}

/* How many classes have more, or fewer, samples than the mark: mean over the seeds that ran. NaN when none did. */
static double count_for(const ocdm__paper_claim *claim, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                        const ocdm__paper_class *classes, size_t count)
{
    size_t method = 0, found = 0, ran = 0;
    while (method < plan->method_count && strcmp(plan->methods[method], claim->method) != 0)
        method++;
    if (method == plan->method_count)
        return NAN;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
        const uint32_t *kept = ocdm__compare_memory(memories, plan, 0, method, seed)->kept;
        ran += kept != NULL;
        for (size_t i = 0; kept != NULL && i < count; i++)
            found += claim->more ? kept[classes[i].number] > claim->mark : kept[classes[i].number] < claim->mark;
    }
    return ran > 0 ? (double)found / (double)ran : NAN;
}

ocdm_status ocdm__paper_add_claims(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, const ocdm__compare_plan *learnt_plan,
                                   const ocdm__compare_memories *learnt, ocdm_error *error)
{
    ocdm__paper_class *classes = NULL;
    size_t count = 0;
    ocdm_status status = ocdm__paper_classes(source->info, &classes, &count, error);
    for (size_t i = 0; status == OCDM_OK && ocdm__paper_claim_at(i) != NULL; i++) {
        const ocdm__paper_claim *claim = ocdm__paper_claim_at(i);
        char text[OCDM__TABLE_TEXT];
        if (strcmp(claim->stream, source->stands_for) != 0)
            continue;
        snprintf(text, sizeof text, "%s: classes with %s than %u samples", claim->method, claim->more ? "more" : "fewer",
                 claim->mark);
        double ours = count_for(claim, plan, memories, classes, count);
        if (isnan(ours))
            ours = count_for(claim, learnt_plan, learnt, classes, count);
        status = add_claim(table, source, text, ours, claim->classes, error);
    }
    ocdm__release(classes);
    return status;
}

/* The sign of the change from the first to the last rho; 0 unless every step goes that way. */
static int trend_of(const ocdm__compare_plan *plan, const ocdm__compare_memories *memories, const ocdm__paper_class *classes,
                    size_t count, const char *group)
{
    size_t members;
    bool rises = true, falls = true;
    double before = kept_of_group(plan, memories, 0, classes, count, group, &members);
    for (size_t point = 1; point < plan->point_count; point++) {
        double now = kept_of_group(plan, memories, point, classes, count, group, &members);
        rises = rises && now > before;
        falls = falls && now < before;
        before = now;
    }
    return rises ? 1 : falls ? -1 : 0;
}

ocdm_status ocdm__paper_add_trends(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm__paper_class *classes = NULL;
    size_t count = 0;
    ocdm_status status = ocdm__paper_classes(source->info, &classes, &count, error);
    for (size_t i = 0; status == OCDM_OK && ocdm__paper_trend_at(i) != NULL; i++) {
        const ocdm__paper_trend *trend = ocdm__paper_trend_at(i);
        char text[OCDM__TABLE_TEXT];
        snprintf(text, sizeof text, "rho up, kept of %s: +1 up, -1 down", trend->group);
        status = add_claim(table, source, text, trend_of(plan, memories, classes, count, trend->group), trend->sign, error);
    }
    ocdm__release(classes);
    return status;
}
