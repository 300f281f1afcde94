/*
 * Sweeps: a group belongs to the sweep of a setting if it is in the base, or differs from a group of the base in that
 * setting only. A method is in the figure if it has at least two such groups.
 */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/lines.h"
#include "report/text.h"

/* With more lines or panels than this the figure is not readable. */
#define MOST_CURVES 16

static const ocdm__json_node *setting_of(const ocdm__run_group *group, const char *setting)
{
    return ocdm__json_find(group->runs[0]->settings, setting);
}

static bool differs_only_in(const ocdm__run_group *a, const ocdm__run_group *b, const char *setting)
{
    const ocdm__json_node *settings = a->runs[0]->settings;
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next)
        if (strcmp(node->key, "seed") != 0 && strcmp(node->key, setting) != 0 &&
            !ocdm__json_same(node, setting_of(b, node->key)))
            return false;
    return true;
}

static bool belongs(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    if (group->base)
        return true;
    for (size_t i = 0; i < study->base_count; i++)
        if (differs_only_in(group, &study->groups[i], setting))
            return true;
    return false;
}

/* Whether two groups are of one method and model: they have the same base group. */
static bool are_of_one(const ocdm__run_group *a, const ocdm__run_group *b)
{
    return a->mark == b->mark;
}

/* The groups of the sweep of one method. */
static size_t sweep_length(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    size_t length = 0;
    for (size_t i = 0; i < study->group_count; i++)
        length += are_of_one(&study->groups[i], group) && belongs(study, &study->groups[i], setting);
    return length;
}

static bool is_in_sweep(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    return belongs(study, group, setting) && sweep_length(study, group, setting) > 1;
}

static size_t sweep_size(const ocdm__study *study, const char *setting)
{
    size_t size = 0;
    for (size_t i = 0; i < study->group_count; i++)
        size += is_in_sweep(study, &study->groups[i], setting);
    return size;
}

/* ---- lines over a number ------------------------------------------------------------------------------------------------ */

static void sort_points(ocdm__chart_line *line)
{
    for (size_t i = 1; i < line->count; i++)
        for (size_t j = i; j > 0 && line->x[j] < line->x[j - 1]; j--) {
            double *const lists[] = {line->x, line->y, line->low, line->high};
            for (size_t k = 0; k < 4; k++) {
                double moved = lists[k][j];
                lists[k][j] = lists[k][j - 1];
                lists[k][j - 1] = moved;
            }
        }
}

typedef ocdm__summary number_of(const ocdm__study *study, const ocdm__run_group *group, const char *what);

/* What a sweep's figure shows. */
struct sweep {
    const char *setting;
    const char *what; /* of the number */
    number_of *number;
};

/* A line over the sweep of the group's method. */
static ocdm_status add_line(const ocdm__study *study, const struct sweep *sweep, const ocdm__run_group *first,
                            const char *label, unsigned colour, ocdm__chart *chart, ocdm_error *error)
{
    size_t room = sweep_length(study, first, sweep->setting);
    ocdm__chart_line *line = ocdm__chart_add(chart, label, colour, room);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->count = 0;
    line->mark = first->mark;
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!are_of_one(group, first) || !belongs(study, group, sweep->setting))
            continue;
        ocdm__summary summary = sweep->number(study, group, sweep->what);
        line->x[line->count] = ocdm__json_number(setting_of(group, sweep->setting));
        line->y[line->count] = summary.mean;
        line->low[line->count] = summary.mean - summary.deviation;
        line->high[line->count++] = summary.mean + summary.deviation;
    }
    sort_points(line);
    return OCDM_OK;
}

static bool is_first_of_method(const ocdm__study *study, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (are_of_one(&study->groups[i], &study->groups[number]))
            return false;
    return true;
}

static ocdm__summary path_number(const ocdm__study *study, const ocdm__run_group *group, const char *path)
{
    (void)study;
    return ocdm__group_summary(group, path);
}

/* Samples in memory of a class, mean over the classes of a group. */
static ocdm__summary kept_number(const ocdm__study *study, const ocdm__run_group *group, const char *name)
{
    for (size_t i = 0; i < group->run_count; i++) {
        double sum = 0, classes = 0;
        for (size_t c = 0; c < study->class_count; c++) {
            if (strcmp(study->classes[c].group, name) != 0 && strcmp(name, "total") != 0)
                continue;
            size_t column = study->classes[c].column;
            sum += column < group->runs[i]->counts.count ? group->runs[i]->counts.values[column] : NAN;
            classes++;
        }
        group->room[i] = sum / classes;
    }
    return ocdm__summarise(group->room, group->run_count);
}

static ocdm_status write_sweep_csv(const ocdm__study *study, const struct sweep *sweep, const char *part, ocdm__output *out)
{
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        char value[100];
        if (!is_in_sweep(study, group, sweep->setting))
            continue;
        ocdm__summary summary = sweep->number(study, group, sweep->what);
        ocdm__setting_text(setting_of(group, sweep->setting), value, sizeof value);
        ocdm__put_csv(out, group->method);
        ocdm__output_text(out, ",");
        ocdm__put_csv(out, value);
        ocdm__put(out, ",%s", part);
        ocdm__put_csv_summary(out, &summary);
    }
    return OCDM_OK;
}

/* ---- rho ---------------------------------------------------------------------------------------------------------------- */

static bool has_rho(const ocdm__study *study)
{
    return study->trained && sweep_size(study, "rho") > 0;
}

static bool has_rho_kept(const ocdm__study *study)
{
    return sweep_size(study, "rho") > 0;
}

/* A line for each group of classes. If several methods were swept, the first one is shown, which is the best. */
static ocdm_status draw_rho_lines(const ocdm__study *study, bool kept, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[40] = "samples in memory per class", path[OCDM__METRIC_PATH];
    ocdm__chart chart = {.x_what = "rho", .y_what = what, .dotted = true};
    if (!kept)
        ocdm__metric_text("", OCDM_MAP, what, sizeof what);
    ocdm_status status = OCDM_OK;
    const ocdm__run_group *first = NULL;
    for (size_t i = 0; i < study->group_count && first == NULL; i++)
        first = is_in_sweep(study, &study->groups[i], "rho") ? &study->groups[i] : NULL;
    for (unsigned g = 0; status == OCDM_OK && first != NULL && g < OCDM__PAPER_GROUPS; g++) {
        ocdm__metric_path(g, OCDM_MAP, path);
        struct sweep sweep = {"rho", kept ? ocdm__paper_groups[g] : path, kept ? kept_number : path_number};
        status = add_line(study, &sweep, first, ocdm__paper_groups[g], OCDM__INK(g), &chart, error);
    }
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status draw_rho(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return draw_rho_lines(study, false, canvas, error);
}

static ocdm_status draw_rho_kept(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return draw_rho_lines(study, true, canvas, error);
}

static ocdm_status csv_rho(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "method,rho,group," OCDM__MAP_NAME ",deviation,runs\n");
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++) {
        char path[OCDM__METRIC_PATH];
        ocdm__metric_path(g, OCDM_MAP, path);
        write_sweep_csv(study, &(struct sweep){"rho", path, path_number}, ocdm__paper_groups[g], out);
    }
    return OCDM_OK;
}

static ocdm_status csv_rho_kept(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "method,rho,group,samples_per_class,deviation,runs\n");
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++)
        write_sweep_csv(study, &(struct sweep){"rho", ocdm__paper_groups[g], kept_number}, ocdm__paper_groups[g], out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_rho = {
    .name = "rho",
    .title = "What rho does to the mAP",
    .reading = "The target gives a class a share that grows with its count in the stream to the power rho: 0 asks for equal "
               "shares, 1 for those of the stream. Where the lines of rare classes fall to the right, a larger rho costs them. "
               "Bars are one standard deviation over seeds to either side.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_rho,
    .draw = draw_rho,
    .write_csv = csv_rho,
};

const ocdm__figure ocdm__figure_rho_kept = {
    .name = "rho-kept",
    .title = "What rho does to the memory",
    .reading = "Samples in memory that carry a class, mean over the classes of a group: with rho the memory moves from rare "
               "classes to frequent ones.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_rho_kept,
    .draw = draw_rho_kept,
    .write_csv = csv_rho_kept,
};

/* ---- the size of the memory --------------------------------------------------------------------------------------------- */

static bool has_memory_size(const ocdm__study *study)
{
    return sweep_size(study, "memory") > 0;
}

static ocdm_status draw_methods(const ocdm__study *study, const struct sweep *sweep, ocdm__chart *chart,
                                const ocdm__canvas *canvas, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++)
        if (is_first_of_method(study, i) && sweep_length(study, &study->groups[i], sweep->setting) > 1)
            status = add_line(study, sweep, &study->groups[i], study->groups[i].mark, study->groups[i].colour, chart, error);
    return status == OCDM_OK ? ocdm__chart_draw(chart, canvas, error) : status;
}

/* The measure that ranks methods, as the title of an axis. */
static void measure_text(const ocdm__study *study, char text[40])
{
    if (study->trained)
        ocdm__metric_text("total ", OCDM_MAP, text, 40);
    else
        snprintf(text, 40, "final distance to the target (KL)");
}

static ocdm_status draw_memory_size(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[40];
    ocdm__chart chart = {.x_what = "memory size (samples)", .y_what = what, .dotted = true};
    measure_text(study, what);
    struct sweep sweep = {"memory", ocdm__study_measure(study), path_number};
    ocdm_status status = draw_methods(study, &sweep, &chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_memory_size(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "method,memory,measure,mean,deviation,runs\n");
    return write_sweep_csv(study, &(struct sweep){"memory", ocdm__study_measure(study), path_number},
                           ocdm__study_measure(study), out);
}

const ocdm__figure ocdm__figure_memory_size = {
    .name = "memory-size",
    .title = "What the size of the memory does",
    .reading = "Each line is a method, each point a size of the memory, mean over seeds with one standard deviation to either "
               "side: a method is better where its line runs above the others (below, where the distance is shown).",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_memory_size,
    .draw = draw_memory_size,
    .write_csv = csv_memory_size,
};

/* ---- orders of tasks ---------------------------------------------------------------------------------------------------- */

static bool has_orders(const ocdm__study *study)
{
    return sweep_size(study, "order") > 0;
}

/* The index of an order's name; a new name is appended. The array has room for it. */
static size_t order_number(ocdm__chart *chart, const ocdm__run_group *group)
{
    char text[40];
    ocdm__setting_text(setting_of(group, "order"), text, sizeof text);
    for (size_t i = 0; i < chart->name_count; i++)
        if (strcmp(chart->names[i], text) == 0)
            return i;
    memcpy(chart->names[chart->name_count], text, sizeof text);
    return chart->name_count++;
}

static ocdm_status add_order_line(const ocdm__study *study, const ocdm__run_group *first, ocdm__chart *chart, ocdm_error *error)
{
    ocdm__chart_line *line = ocdm__chart_add(chart, first->mark, first->colour, study->group_count);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->count = 0;
    line->mark = first->mark;
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!are_of_one(group, first) || !belongs(study, group, "order"))
            continue;
        ocdm__summary summary = ocdm__group_summary(group, ocdm__study_measure(study));
        line->x[line->count] = (double)order_number(chart, group);
        line->y[line->count] = summary.mean;
        line->low[line->count] = summary.mean - summary.deviation;
        line->high[line->count++] = summary.mean + summary.deviation;
    }
    sort_points(line);
    return OCDM_OK;
}

static ocdm_status draw_orders(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[40];
    ocdm__chart chart = {.x_what = "order of the tasks", .y_what = what, .dotted = true};
    measure_text(study, what);
    ocdm_status status = OCDM_OK;
    chart.names = ocdm__allocate(study->group_count, sizeof *chart.names);
    if (chart.names == NULL)
        status = ocdm__fail_memory(error, "a figure");
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++)
        if (is_first_of_method(study, i) && sweep_length(study, &study->groups[i], "order") > 1)
            status = add_order_line(study, &study->groups[i], &chart, error);
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_orders(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "method,order,measure,mean,deviation,runs\n");
    return write_sweep_csv(study, &(struct sweep){"order", ocdm__study_measure(study), path_number}, ocdm__study_measure(study),
                           out);
}

const ocdm__figure ocdm__figure_orders = {
    .name = "orders",
    .title = "What the order of the tasks does",
    .reading =
        "Each point is a method on one order of the tasks, mean over seeds with one standard deviation to either side. A "
        "method that does not depend on the order has a level line.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_orders,
    .draw = draw_orders,
    .write_csv = csv_orders,
};

static bool takes_order(const ocdm__study *study, const ocdm__run_group *group)
{
    return is_in_sweep(study, group, "order");
}

static bool has_few_orders(const ocdm__study *study)
{
    size_t size = sweep_size(study, "order");
    return size > 0 && size <= MOST_CURVES;
}

static ocdm_status draw_orders_distance(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return ocdm__draw_distance(study, takes_order, canvas, error);
}

static ocdm_status csv_orders_distance(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__csv_distance(study, takes_order, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_orders_distance = {
    .name = "orders-distance",
    .title = "Distance to the target in each order of the tasks",
    .reading =
        "Lower is better, as above. Each order meets its new classes at steps of its own, so the jumps lie elsewhere; what "
        "counts is how far down the lines come after them.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_few_orders,
    .draw = draw_orders_distance,
    .write_csv = csv_orders_distance,
};

static ocdm_status draw_orders_memory(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return ocdm__draw_memory(study, takes_order, canvas, error);
}

static ocdm_status csv_orders_memory(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__csv_memory(study, takes_order, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_orders_memory = {
    .name = "orders-memory",
    .title = "Classes in memory in each order of the tasks",
    .reading = "As the figure of the memory above, a panel for each method and order; classes are in the same order in all of "
               "them. Panels of a method that look alike mean that the order does not matter to it.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_few_orders,
    .draw = draw_orders_memory,
    .write_csv = csv_orders_memory,
};
