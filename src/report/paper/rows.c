/* The rows that `ocdm paper` prints of each kind of table and figure: ours beside the paper's numbers. */
#include "base/text.h"
#include "experiment/folder/summary_read.h"
#include "metrics/metrics.h"
#include "report/paper/paper.h"

/* ---- statistics of streams -------------------------------------------------------------------------------------------- */

static void add_amlr(ocdm__table *table, const ocdm__paper_part *part, const char *task, double ours)
{
    OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__WORD("task", task), OCDM__NUMBER("ours", ours, 2),
              OCDM__NUMBER("paper", ocdm__paper_number("amlr", part->stands_for, task, "", "total", "AMLR"), 2));
}

ocdm_status ocdm__paper_fill_amlr(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__statistics *statistics = &part->info->statistics;
    for (size_t i = 0; i < statistics->task_count; i++) {
        char task[32];
        snprintf(task, sizeof task, "task%zu", i + 1);
        add_amlr(table, part, task, ocdm__tally_amlr(&statistics->tasks[i]));
    }
    add_amlr(table, part, "total", ocdm__tally_amlr(&statistics->total));
    return ocdm__table_check(table, error);
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

/* The line of the paper's table for a method at a point of the plan, and its setting: the memory or the order that is varied.
 */
static ocdm__paper_line line_of(const ocdm__paper_part *part, size_t point, const char *method, char setting[OCDM__TABLE_TEXT])
{
    const ocdm__compare_plan *plan = &part->plan;
    setting[0] = '\0';
    if (plan->sweeps_memory)
        snprintf(setting, OCDM__TABLE_TEXT, "%u", plan->points[point].memory);
    else if (plan->sweeps_order)
        ocdm__compare_order_text(&plan->points[point], setting, OCDM__TABLE_TEXT);
    return ocdm__paper_line_find(part->item->name, part->stands_for, setting, method);
}

/* Our numbers in a column of the paper's; none where we have no such column. */
static ocdm__summary summarise(const ocdm__paper_part *part, size_t point, size_t method, const ocdm__paper_column *column)
{
    size_t i = 0;
    while (i < OCDM__COMPARE_COLUMNS && (strcmp(ocdm__compare_columns[i].group, column->group) != 0 ||
                                         strcmp(ocdm__compare_columns[i].metric, column->metric) != 0))
        i++;
    return ocdm__compare_summary(&part->results, point, i, method);
}

ocdm_status ocdm__paper_fill_metrics(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &part->plan;
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        size_t point = i / plan->method_count, method = i % plan->method_count;
        char setting[OCDM__TABLE_TEXT];
        ocdm__paper_line line = line_of(part, point, plan->methods[method], setting);
        for (size_t k = 0; line.columns != NULL && k < line.count; k++) {
            const ocdm__summary ours = summarise(part, point, method, &line.columns[k]);
            OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__WORD("setting", line.setting),
                      OCDM__WORD("method", line.method), OCDM__WORD("group", line.columns[k].group),
                      OCDM__WORD("metric", line.columns[k].metric), OCDM__NUMBER("ours", ours.mean, 2),
                      OCDM__NUMBER("ours_std", ours.deviation, 2), OCDM__NUMBER("n", (double)ours.count, 0),
                      OCDM__NUMBER("paper", line.values[k], 2), OCDM__NUMBER("paper_std", line.deviations[k], 2));
        }
    }
    return ocdm__table_check(table, error);
}

/* ---- as the paper lays it out ----------------------------------------------------------------------------------------- */

static bool is_time(const ocdm__paper_column *column)
{
    return strcmp(column->group, "run") == 0;
}

/* Our row and the paper's of a method. */
static ocdm_status add_wide(ocdm__table *table, const ocdm__paper_part *part, size_t method, ocdm_error *error)
{
    char name[OCDM__TABLE_TEXT];
    size_t first = table->row_count, column = 1;
    snprintf(name, sizeof name, "%.40s, ours", part->plan.methods[method]);
    (void)ocdm__table_row(table);
    (void)ocdm__table_row(table);
    OCDM_TRY(ocdm__table_check(table, error));
    *ocdm__table_at(table, first, 0) = ocdm__cell_text(table, name);
    *ocdm__table_at(table, first + 1, 0) = ocdm__cell_text(table, "  the paper");
    for (size_t point = 0; point < part->plan.point_count; point++) {
        char setting[OCDM__TABLE_TEXT];
        ocdm__paper_line line = line_of(part, point, part->plan.methods[method], setting);
        for (size_t k = 0; line.columns != NULL && k < line.count; k++, column++) {
            const ocdm__summary ours = summarise(part, point, method, &line.columns[k]);
            bool time = is_time(&line.columns[k]);
            *ocdm__table_at(table, first, column) =
                ocdm__cell_number(ours.mean, time ? NAN : ours.deviation, time ? 2 : line.decimals);
            *ocdm__table_at(table, first + 1, column) = ocdm__cell_number(line.values[k], line.deviations[k], line.decimals);
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_part *const *parts, size_t lists, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &parts[0]->plan;
    const ocdm__compare_results *results[OCDM__PAPER_SOURCES];
    ocdm__column columns[1 + 3 * OCDM__PAPER_COLUMNS];
    size_t count = 1;
    for (size_t list = 0; list < lists; list++)
        results[list] = &parts[list]->results;
    memset(columns, 0, sizeof columns);
    snprintf(columns[0].head, OCDM__TABLE_TEXT, "method");
    for (size_t point = 0; point < plan->point_count; point++) {
        char setting[OCDM__TABLE_TEXT], group[OCDM__GROUP_HEAD];
        ocdm__paper_line line = line_of(parts[0], point, "ocdm", setting);
        for (size_t k = 0; line.columns != NULL && k < line.count; k++, count++) {
            bool time = is_time(&line.columns[k]);
            snprintf(columns[count].head, OCDM__TABLE_TEXT, "%s", time ? "s/1000 steps" : line.columns[k].metric);
            ocdm__compare_group_head(results, lists, line.columns[k].group, group);
            if (setting[0] != '\0')
                snprintf(columns[count].group, OCDM__TABLE_TEXT, "%.20s, %s %.30s", group,
                         plan->sweeps_memory ? "memory" : "order", setting);
            else if (!time)
                snprintf(columns[count].group, OCDM__TABLE_TEXT, "%s", group);
        }
    }
    OCDM_TRY(ocdm__table_begin(table, columns, count, error));
    for (size_t list = 0; list < lists; list++)
        for (size_t method = 0; method < parts[list]->plan.method_count; method++)
            OCDM_TRY(add_wide(table, parts[list], method, error));
    ocdm__table_fold(table, 0, lists);
    snprintf(table->title, sizeof table->title, "%.100s; ours on %.100s", parts[0]->item->what, parts[0]->label);
    return ocdm__table_check(table, error);
}

/* ---- one step --------------------------------------------------------------------------------------------------------- */

void ocdm__paper_labels(const ocdm__stream_table *table, uint32_t sample, const char *between, char *text, size_t room)
{
    text[0] = '\0';
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        ocdm__append(text, room, "%s%.*s", text[0] != '\0' ? between : "", (int)(length < room ? length : room), label);
    }
}

ocdm_status ocdm__paper_fill_process(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__stream_table *stream = &part->info->stream.table;
    for (size_t i = 0; i < part->process.event_count; i++) {
        const ocdm__process_event *event = &part->process.events[i];
        char name[61], labels[OCDM__TABLE_TEXT];
        size_t length;
        const char *id = ocdm__text_at(&stream->ids, event->sample, &length);
        snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), id);
        ocdm__paper_labels(stream, event->sample, " ", labels, sizeof labels);
        OCDM__ROW(table, OCDM__NUMBER("step", (double)part->process.step, 0),
                  OCDM__WORD("event", event->joins ? "joins" : "leaves"), OCDM__WORD("id", name), OCDM__WORD("labels", labels),
                  OCDM__NUMBER("distance", event->distance, 6));
    }
    return ocdm__table_check(table, error);
}

/* ---- classes ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__paper_fill_stream(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__statistics *statistics = &part->info->statistics;
    for (size_t i = 0; i < statistics->task_count * part->class_count; i++) {
        const ocdm__tally *task = &statistics->tasks[i / part->class_count];
        const ocdm__paper_class *of = &part->classes[i % part->class_count];
        uint64_t count = ocdm__tally_class(task, of->number).count;
        if (count == 0)
            continue;
        OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__NUMBER("task", (double)task->task, 0),
                  OCDM__WORD("class", of->name), OCDM__WORD("group", of->group), OCDM__NUMBER("samples", (double)count, 0));
    }
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

ocdm_status ocdm__paper_fill_kept(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &part->plan;
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        size_t point = i / plan->method_count, method = i % plan->method_count;
        char order[OCDM__TABLE_TEXT];
        double labels = 0;
        ocdm__compare_order_text(&plan->points[point], order, sizeof order);
        for (size_t c = 0; c < part->class_count; c++)
            labels += kept_of(plan, &part->memories, point, method, part->classes[c].number);
        for (size_t c = 0; c < part->class_count; c++) {
            const ocdm__paper_class *class = &part->classes[c];
            OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__WORD("method", plan->methods[method]),
                      OCDM__WORD("order", order), OCDM__NUMBER("task", (double)class->task, 0),
                      OCDM__WORD("class", class->name), OCDM__WORD("group", class->group),
                      OCDM__NUMBER("seen", (double)class->seen, 0),
                      OCDM__NUMBER("kept", kept_of(plan, &part->memories, point, method, class->number), 1),
                      OCDM__NUMBER("target", labels / (double)part->class_count, 1));
        }
    }
    return ocdm__table_check(table, error);
}

/* ---- curves ----------------------------------------------------------------------------------------------------------- */

/* A point of a curve of a run at a point of the plan. */
static void add_dot(ocdm__table *table, const ocdm__paper_part *part, size_t run, const char *series, double x,
                    const ocdm__summary *value, int decimals)
{
    char order[OCDM__TABLE_TEXT];
    ocdm__compare_order_text(&part->plan.points[run / part->plan.method_count], order, sizeof order);
    OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__WORD("method", part->plan.methods[run % part->plan.method_count]),
              OCDM__WORD("order", order), OCDM__WORD("series", series), OCDM__NUMBER("x", x, 0),
              OCDM__NUMBER("value", value->mean, decimals), OCDM__NUMBER("std", value->deviation, decimals));
}

/* The first seed's curve: the figures of the paper show one run. */
ocdm_status ocdm__paper_fill_distances(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &part->plan;
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        const ocdm__memory_result *result =
            ocdm__compare_memory(&part->memories, plan, i / plan->method_count, i % plan->method_count, 0);
        for (const ocdm__memory_moment *moment = result->curve; moment < result->curve + result->curve_count; moment++)
            add_dot(table, part, i, "distance_seen", (double)moment->step,
                    &(ocdm__summary){.mean = moment->distance_seen, .deviation = NAN}, 4);
    }
    return ocdm__table_check(table, error);
}

#define MOST_TASKS 64

/* mAP after each task over the seeds whose runs exist. */
ocdm_status ocdm__paper_fill_evaluations(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &part->plan;
    double *values = ocdm__arena_new(&table->texts, (size_t)plan->seed_count, (MOST_TASKS + 1) * sizeof *values);
    OCDM_TRY(ocdm__table_check(table, error));
    double *column = values + plan->seed_count * MOST_TASKS; /* one of each seed */
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        size_t seeds = 0, tasks = 0;
        for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
            char folder[OCDM__SUMMARY_PATH], path[OCDM__SUMMARY_PATH], name[OCDM__COMPARE_NAME];
            ocdm__json_tree summary = {.root = NULL};
            ocdm__compare_folder(plan, i / plan->method_count, i % plan->method_count, seed, name);
            snprintf(folder, sizeof folder, "%.3800s/%s", part->folder, name);
            if (ocdm__summary_find(folder, path))
                OCDM_TRY(ocdm__summary_read(&summary, path, error));
            size_t count = ocdm__summary_maps(summary.root, values + seeds * MOST_TASKS, MOST_TASKS);
            ocdm__json_tree_clear(&summary);
            seeds += count > 0;
            tasks = count > tasks ? count : tasks;
        }
        for (size_t task = 0; task < tasks; task++) {
            for (size_t seed = 0; seed < seeds; seed++)
                column[seed] = values[seed * MOST_TASKS + task];
            const ocdm__summary summary = ocdm__summarise(column, seeds);
            add_dot(table, part, i, OCDM__MAP_NAME, (double)(task + 1), &summary, 1);
        }
    }
    return ocdm__table_check(table, error);
}

/* ---- rho -------------------------------------------------------------------------------------------------------------- */

/* Label occurrences in memory of a group's classes, mean over seeds; `members` is the number of those classes. */
static double kept_of_group(const ocdm__paper_part *part, const ocdm__compare_plan *plan,
                            const ocdm__compare_memories *memories, size_t point, const char *group, size_t *members)
{
    double sum = 0;
    *members = 0;
    for (size_t i = 0; i < part->class_count; i++)
        if (strcmp(part->classes[i].group, group) == 0) {
            sum += kept_of(plan, memories, point, 0, part->classes[i].number);
            (*members)++;
        }
    return sum;
}

ocdm_status ocdm__paper_fill_rho(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    for (size_t i = 0; i < part->plan.point_count * OCDM__PAPER_TRENDS; i++) {
        size_t point = i / OCDM__PAPER_TRENDS, members = 0;
        const char *group = ocdm__paper_trends[i % OCDM__PAPER_TRENDS].group;
        double kept = kept_of_group(part, &part->plan, &part->memories, point, group, &members);
        const ocdm__summary map = summarise(part, point, 0, &(ocdm__paper_column){group, OCDM__MAP_NAME});
        OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__NUMBER("rho", part->plan.points[point].rho, 1),
                  OCDM__WORD("group", group), OCDM__NUMBER("kept", kept, 1),
                  OCDM__NUMBER("kept_per_class", members > 0 ? kept / (double)members : NAN, 1),
                  OCDM__NUMBER(OCDM__MAP_NAME, map.mean, 1), OCDM__NUMBER(OCDM__MAP_NAME "_std", map.deviation, 1));
    }
    return ocdm__table_check(table, error);
}

/* ---- claims ----------------------------------------------------------------------------------------------------------- */

static void add_claim(ocdm__table *table, const ocdm__paper_part *part, const char *text, double ours, double paper)
{
    OCDM__ROW(table, OCDM__WORD("stream", part->label), OCDM__WORD("claim", text), OCDM__NUMBER("ours", ours, 1),
              OCDM__NUMBER("paper", paper, 0));
}

/* How many classes have more, or fewer, samples than the mark: mean over the seeds that ran. NaN when none did. */
static double count_for(const ocdm__paper_claim *claim, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                        const ocdm__paper_part *part)
{
    size_t method = 0, found = 0, ran = 0;
    while (method < plan->method_count && strcmp(plan->methods[method], claim->method) != 0)
        method++;
    if (method == plan->method_count)
        return NAN;
    for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
        const uint32_t *kept = ocdm__compare_memory(memories, plan, 0, method, seed)->kept;
        ran += kept != NULL;
        for (size_t i = 0; kept != NULL && i < part->class_count; i++) {
            uint32_t here = kept[part->classes[i].number];
            found += claim->more ? here > claim->mark : here < claim->mark;
        }
    }
    return ran > 0 ? (double)found / (double)ran : NAN;
}

/* The sign of the change from the first to the last rho; 0 unless every step goes that way. */
static int trend_of(const ocdm__paper_part *part, const char *group)
{
    size_t members;
    bool rises = true, falls = true;
    double before = kept_of_group(part, &part->rho_plan, &part->rho_memories, 0, group, &members);
    for (size_t point = 1; point < part->rho_plan.point_count; point++) {
        double now = kept_of_group(part, &part->rho_plan, &part->rho_memories, point, group, &members);
        rises = rises && now > before;
        falls = falls && now < before;
        before = now;
    }
    return rises ? 1 : falls ? -1 : 0;
}

/* What the plan does not have, such as gss, is counted in the memories of runs with a network. */
ocdm_status ocdm__paper_fill_claims(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    char text[OCDM__TABLE_TEXT];
    for (const ocdm__paper_claim *claim = ocdm__paper_claims; claim->stream != NULL; claim++) {
        if (strcmp(claim->stream, part->stands_for) != 0)
            continue;
        snprintf(text, sizeof text, "%s: classes with %s than %u samples", claim->method, claim->more ? "more" : "fewer",
                 claim->mark);
        double ours = count_for(claim, &part->plan, &part->memories, part);
        add_claim(table, part, text, isnan(ours) ? count_for(claim, &part->learnt_plan, &part->learnt, part) : ours,
                  claim->classes);
    }
    for (size_t i = 0; i < OCDM__PAPER_TRENDS; i++) {
        snprintf(text, sizeof text, "rho up, kept of %s: +1 up, -1 down", ocdm__paper_trends[i].group);
        add_claim(table, part, text, trend_of(part, ocdm__paper_trends[i].group), ocdm__paper_trends[i].sign);
    }
    return ocdm__table_check(table, error);
}
