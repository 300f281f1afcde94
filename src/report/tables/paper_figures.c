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

void ocdm__paper_labels(const ocdm__stream_table *table, uint32_t sample, const char *between, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1] && used < room; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", used > 0 ? between : "",
                                 (int)(length < room ? length : room), label);
    }
}

ocdm_status ocdm__paper_add_process(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error)
{
    ocdm__process process;
    ocdm_status status = ocdm__process_of(&process, &source->info->stream.table, 1000, error);
    for (size_t i = 0; status == OCDM_OK && i < process.event_count; i++) {
        ocdm__table_row(table);
        char text[OCDM__TABLE_TEXT];
        size_t length;
        const char *id = ocdm__text_at(&source->info->stream.table.ids, process.events[i].sample, &length);
        ocdm__add_number(table, "step", (double)process.step, NAN, 0);
        ocdm__add_text(table, "event", process.events[i].joins ? "joins" : "leaves");
        snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), id);
        ocdm__add_text(table, "id", text);
        ocdm__paper_labels(&source->info->stream.table, process.events[i].sample, " ", text, sizeof text);
        ocdm__add_text(table, "labels", text);
        ocdm__add_number(table, "distance", process.events[i].distance, NAN, 6);
    }
    ocdm__process_clear(&process);
    return status == OCDM_OK ? ocdm__table_check(table, error) : status;
}

/* ---- classes ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__paper_add_stream(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error)
{
    const ocdm__statistics *statistics = &source->info->statistics;
    ocdm__paper_class *classes = NULL;
    size_t classes_count = 0;
    OCDM_TRY(ocdm__paper_classes(source->info, &classes, &classes_count, error));
    for (size_t i = 0; i < statistics->task_count * classes_count; i++) {
        const ocdm__tally *task = &statistics->tasks[i / classes_count];
        const ocdm__paper_class *of = &classes[i % classes_count];
        uint64_t count = ocdm__tally_class(task, of->number).count;
        if (count == 0)
            continue;
        ocdm__table_row(table);
        ocdm__add_text(table, "stream", source->label);
        ocdm__add_number(table, "task", (double)task->task, NAN, 0);
        ocdm__add_text(table, "class", of->name);
        ocdm__add_text(table, "group", of->group);
        ocdm__add_number(table, "samples", (double)count, NAN, 0);
    }
    ocdm__release(classes);
    return ocdm__table_check(table, error);
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

static void add_kept(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                     const ocdm__compare_memories *memories, size_t point, size_t method, const ocdm__paper_class *classes,
                     size_t count)
{
    char order[OCDM__TABLE_TEXT];
    double labels = 0;
    ocdm__compare_order_text(&plan->points[point], order, sizeof order);
    for (size_t i = 0; i < count; i++)
        labels += kept_of(plan, memories, point, method, classes[i].number);
    for (size_t i = 0; i < count; i++) {
        ocdm__table_row(table);
        ocdm__add_text(table, "stream", source->label);
        ocdm__add_text(table, "method", plan->methods[method]);
        ocdm__add_text(table, "order", order);
        ocdm__add_number(table, "task", (double)classes[i].task, NAN, 0);
        ocdm__add_text(table, "class", classes[i].name);
        ocdm__add_text(table, "group", classes[i].group);
        ocdm__add_number(table, "seen", (double)classes[i].seen, NAN, 0);
        ocdm__add_number(table, "kept", kept_of(plan, memories, point, method, classes[i].number), NAN, 1);
        ocdm__add_number(table, "target", labels / (double)count, NAN, 1);
    }
}

ocdm_status ocdm__paper_add_kept(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                 const ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm__paper_class *classes = NULL;
    size_t count = 0;
    OCDM_TRY(ocdm__paper_classes(source->info, &classes, &count, error));
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++)
        add_kept(table, source, plan, memories, i / plan->method_count, i % plan->method_count, classes, count);
    ocdm__release(classes);
    return ocdm__table_check(table, error);
}

/* ---- curves ----------------------------------------------------------------------------------------------------------- */

/* A point of a curve. */
struct dot {
    const char *series;
    double x, value, deviation;
    int decimals;
};

static void add_dot(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan, size_t point,
                    size_t method, const struct dot *dot)
{
    char order[OCDM__TABLE_TEXT];
    ocdm__table_row(table);
    ocdm__compare_order_text(&plan->points[point], order, sizeof order);
    ocdm__add_text(table, "stream", source->label);
    ocdm__add_text(table, "method", plan->methods[method]);
    ocdm__add_text(table, "order", order);
    ocdm__add_text(table, "series", dot->series);
    ocdm__add_number(table, "x", dot->x, NAN, 0);
    ocdm__add_number(table, "value", dot->value, NAN, dot->decimals);
    ocdm__add_number(table, "std", dot->deviation, NAN, dot->decimals);
}

/* The first seed's curve: the figures of the paper show one run. */
ocdm_status ocdm__paper_add_distances(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                      const ocdm__compare_memories *memories, ocdm_error *error)
{
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; method < plan->method_count; method++) {
            const ocdm__memory_result *result = ocdm__compare_memory(memories, plan, point, method, 0);
            for (size_t i = 0; i < result->curve_count; i++) {
                struct dot dot = {"distance_seen", (double)result->curve[i].step, result->curve[i].distance_seen, NAN, 4};
                add_dot(table, source, plan, point, method, &dot);
            }
        }
    return ocdm__table_check(table, error);
}

#define MOST_TASKS 64

/* mAP after each task over the seeds whose runs exist. `values` has room for MOST_TASKS of each seed, `column` for one of each.
 */
static ocdm_status add_evaluations(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   size_t point, size_t method, const char *folder, double *values, double *column,
                                   ocdm_error *error)
{
    size_t seeds = 0, tasks = 0;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
        char path[4096], name[OCDM__COMPARE_NAME];
        size_t count = 0;
        ocdm__compare_folder(plan, point, method, seed, name);
        snprintf(path, sizeof path, "%.3800s/%s", folder, name);
        OCDM_TRY(ocdm__paper_evaluations(path, values + seeds * MOST_TASKS, MOST_TASKS, &count, error));
        seeds += count > 0;
        tasks = count > tasks ? count : tasks;
    }
    for (size_t task = 0; task < tasks; task++) {
        for (size_t seed = 0; seed < seeds; seed++)
            column[seed] = values[seed * MOST_TASKS + task];
        ocdm__summary summary = ocdm__summarise(column, seeds);
        add_dot(table, source, plan, point, method,
                &(struct dot){OCDM__MAP_NAME, (double)(task + 1), summary.mean, summary.deviation, 1});
    }
    return ocdm__table_check(table, error);
}

ocdm_status ocdm__paper_add_evaluations(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                        const char *folder, ocdm_error *error)
{
    double *values = ocdm__allocate((size_t)plan->seed_count, (MOST_TASKS + 1) * sizeof *values);
    ocdm_status status = values != NULL ? OCDM_OK : ocdm__fail_memory(error, "the evaluations");
    for (size_t i = 0; status == OCDM_OK && i < plan->point_count * plan->method_count; i++)
        status = add_evaluations(table, source, plan, i / plan->method_count, i % plan->method_count, folder, values,
                                 values + plan->seed_count * MOST_TASKS, error);
    ocdm__release(values);
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

/* Our column of the group's mAP. */
static size_t map_of_group(const char *group)
{
    size_t column = 0;
    while (column < OCDM__COMPARE_OF_GROUPS && (strcmp(ocdm__compare_columns[column].group, group) != 0 ||
                                                strcmp(ocdm__compare_columns[column].metric, OCDM__MAP_NAME) != 0))
        column++;
    return column;
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
            ocdm__summary map = {.count = 0};
            double kept = kept_of_group(plan, memories, point, classes, count, group, &members);
            if (map_of_group(group) < OCDM__COMPARE_OF_GROUPS)
                status = ocdm__compare_summary(results, point, map_of_group(group), 0, &map, error);
            ocdm__table_row(table);
            ocdm__add_text(table, "stream", source->label);
            ocdm__add_number(table, "rho", plan->points[point].rho, NAN, 1);
            ocdm__add_text(table, "group", group);
            ocdm__add_number(table, "kept", kept, NAN, 1);
            ocdm__add_number(table, "kept_per_class", members > 0 ? kept / (double)members : NAN, NAN, 1);
            ocdm__add_number(table, OCDM__MAP_NAME, map.mean, NAN, 1);
            ocdm__add_number(table, OCDM__MAP_NAME "_std", map.deviation, NAN, 1);
        }
    ocdm__release(classes);
    return status == OCDM_OK ? ocdm__table_check(table, error) : status;
}

/* ---- claims ----------------------------------------------------------------------------------------------------------- */

static void add_claim(ocdm__table *table, const ocdm__stand_in *source, const char *text, double ours, double paper)
{
    ocdm__table_row(table);
    ocdm__add_text(table, "stream", source->label);
    ocdm__add_text(table, "claim", text);
    ocdm__add_number(table, "ours", ours, NAN, 1);
    ocdm__add_number(table, "paper", paper, NAN, 0);
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
    OCDM_TRY(ocdm__paper_classes(source->info, &classes, &count, error));
    for (size_t i = 0; ocdm__paper_claim_at(i) != NULL; i++) {
        const ocdm__paper_claim *claim = ocdm__paper_claim_at(i);
        char text[OCDM__TABLE_TEXT];
        if (strcmp(claim->stream, source->stands_for) != 0)
            continue;
        snprintf(text, sizeof text, "%s: classes with %s than %u samples", claim->method, claim->more ? "more" : "fewer",
                 claim->mark);
        double ours = count_for(claim, plan, memories, classes, count);
        if (isnan(ours))
            ours = count_for(claim, learnt_plan, learnt, classes, count);
        add_claim(table, source, text, ours, claim->classes);
    }
    ocdm__release(classes);
    return ocdm__table_check(table, error);
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
    OCDM_TRY(ocdm__paper_classes(source->info, &classes, &count, error));
    for (size_t i = 0; ocdm__paper_trend_at(i) != NULL; i++) {
        const ocdm__paper_trend *trend = ocdm__paper_trend_at(i);
        char text[OCDM__TABLE_TEXT];
        snprintf(text, sizeof text, "rho up, kept of %s: +1 up, -1 down", trend->group);
        add_claim(table, source, text, trend_of(plan, memories, classes, count, trend->group), trend->sign);
    }
    ocdm__release(classes);
    return ocdm__table_check(table, error);
}
