/* What was logged over the steps: the distance to the target, the loss, and mAP at any time. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/lines.h"
#include "report/text.h"

/* A line has two points in each bucket, its lowest and its highest, so that no peak is lost. */
#define BUCKETS ((size_t)220)

bool ocdm__is_base_group(const ocdm__study *study, const ocdm__run_group *group)
{
    (void)study;
    return group->base;
}

/* ---- curves ------------------------------------------------------------------------------------------------------------- */

/* The lists of a run that a figure shows. */
struct curve {
    const ocdm__numbers *x, *y;
};

typedef struct curve curve_of(const ocdm__run_record *run);

static struct curve distance_of(const ocdm__run_record *run)
{
    return (struct curve){&run->step, &run->distance_seen};
}

static struct curve loss_of(const ocdm__run_record *run)
{
    return (struct curve){&run->step, &run->loss};
}

static struct curve probe_of(const ocdm__run_record *run)
{
    return (struct curve){&run->probe_samples, &run->probe_map};
}

/* Runs that differ only in the seed log the same steps. If one is shorter, the common part counts. */
static size_t curve_length(const ocdm__run_group *group, curve_of *curve)
{
    size_t length = SIZE_MAX;
    for (size_t i = 0; i < group->run_count; i++) {
        const struct curve found = curve(group->runs[i]);
        size_t here = found.x->count < found.y->count ? found.x->count : found.y->count;
        length = here < length ? here : length;
    }
    return length;
}

struct spread {
    double mean, low, high;
};

static struct spread spread_at(const ocdm__run_group *group, curve_of *curve, size_t k)
{
    struct spread spread = {0, INFINITY, -INFINITY};
    for (size_t i = 0; i < group->run_count; i++) {
        double value = curve(group->runs[i]).y->values[k];
        spread.mean += value / (double)group->run_count;
        spread.low = value < spread.low ? value : spread.low;
        spread.high = value > spread.high ? value : spread.high;
    }
    return spread;
}

static void put_sample(ocdm__chart_line *line, const ocdm__run_group *group, curve_of *curve, size_t k)
{
    struct spread spread = spread_at(group, curve, k);
    bool banded = group->run_count > 1 && !line->behind;
    line->x[line->count] = curve(group->runs[0]).x->values[k];
    line->y[line->count] = spread.mean;
    line->low[line->count] = banded ? spread.low : NAN;
    line->high[line->count] = banded ? spread.high : NAN;
    line->count++;
}

static ocdm__chart_line *add_group_line(ocdm__chart *chart, const ocdm__run_group *group)
{
    ocdm__chart_line *line = ocdm__chart_add(chart, group->label, group->colour, 2 * BUCKETS);
    if (line != NULL) {
        line->count = 0;
        line->mark = group->mark;
    }
    return line;
}

static size_t bucket_size(size_t length)
{
    return (length + BUCKETS - 1) / BUCKETS;
}

static ocdm_status add_curve(ocdm__chart *chart, const ocdm__run_group *group, curve_of *curve, bool behind, ocdm_error *error)
{
    size_t length = curve_length(group, curve), bucket = bucket_size(length);
    ocdm__chart_line *line = add_group_line(chart, group);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->behind = behind;
    for (size_t k = 0; k < length; k += bucket) {
        size_t lowest = k, highest = k;
        for (size_t i = k; i < k + bucket && i < length; i++) {
            lowest = spread_at(group, curve, i).mean < spread_at(group, curve, lowest).mean ? i : lowest;
            highest = spread_at(group, curve, i).mean > spread_at(group, curve, highest).mean ? i : highest;
        }
        put_sample(line, group, curve, lowest < highest ? lowest : highest);
        if (lowest != highest)
            put_sample(line, group, curve, lowest < highest ? highest : lowest);
    }
    return OCDM_OK;
}

/* Where tasks begin: after the evaluation before. `what` is the member of an evaluation that x shows. */
static ocdm_status add_sections(ocdm__chart *chart, const ocdm__run_record *run, const char *what, ocdm_error *error)
{
    const ocdm__json_node *list = ocdm__json_find(run->summary.root, "evaluations");
    size_t count = list != NULL && list->kind == OCDM__JSON_ARRAY ? list->count : 0;
    chart->sections = ocdm__allocate(count, sizeof *chart->sections);
    if (chart->sections == NULL)
        return ocdm__fail_memory(error, "a figure");
    double from = 0;
    for (const ocdm__json_node *node = count > 0 ? list->first : NULL; node != NULL; node = node->next) {
        ocdm__chart_section *section = &chart->sections[chart->section_count++];
        section->from = from;
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), section->name, sizeof section->name);
        from = ocdm__json_number(ocdm__json_find(node, what));
    }
    return OCDM_OK;
}

/* ---- distance ----------------------------------------------------------------------------------------------------------- */

/* Several lines of a method, those of other orders, have other dashes. */
static void dash_lines(ocdm__chart *chart)
{
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t j = 0; j < i; j++)
            if (chart->lines[i].mark == chart->lines[j].mark)
                chart->lines[i].colour += OCDM__COLOURS;
}

ocdm_status ocdm__draw_distance(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                                ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "training steps", .y_what = "distance to the target (KL)", .is_log = true};
    ocdm_status status = OCDM_OK;
    const ocdm__run_group *first = NULL;
    bool one_order = true;
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!takes(study, group))
            continue;
        first = first == NULL || first->bound ? group : first;
        one_order = one_order && ocdm__json_same(ocdm__json_find(first->runs[0]->settings, "order"),
                                                 ocdm__json_find(group->runs[0]->settings, "order"));
        status = add_curve(&chart, group, distance_of, false, error);
    }
    dash_lines(&chart);
    if (status == OCDM_OK && first != NULL && one_order)
        status = add_sections(&chart, first->runs[0], "step", error);
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static void csv_curve(const ocdm__study *study, ocdm__group_filter *takes, curve_of *curve, ocdm__output *out)
{
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; takes(study, &study->groups[i]) && j < study->groups[i].run_count; j++) {
            const ocdm__run_record *run = study->groups[i].runs[j];
            const struct curve found = curve(run);
            for (size_t k = 0; k < found.x->count && k < found.y->count; k++) {
                ocdm__put_csv(out, study->groups[i].label);
                ocdm__put_csv_number(out, run->seed);
                ocdm__put_csv_number(out, found.x->values[k]);
                ocdm__put_csv_number(out, found.y->values[k]);
                ocdm__output_text(out, "\n");
            }
        }
}

void ocdm__csv_distance(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out)
{
    ocdm__output_text(out, "label,seed,step,distance_seen\n");
    csv_curve(study, takes, distance_of, out);
}

static bool has_curve(const ocdm__study *study, curve_of *curve)
{
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__numbers *numbers = curve(study->groups[i].runs[0]).y;
        for (size_t k = 0; k < numbers->count; k++)
            if (isfinite(numbers->values[k]))
                return true;
    }
    return false;
}

static bool has_distance(const ocdm__study *study)
{
    return has_curve(study, distance_of);
}

static ocdm_status draw_distance(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return ocdm__draw_distance(study, ocdm__is_base_group, canvas, error);
}

static ocdm_status csv_distance(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__csv_distance(study, ocdm__is_base_group, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_distance = {
    .name = "distance",
    .title = "Distance to the target over the stream",
    .reading =
        "Lower is better: at 0 the classes have exactly the shares in memory that the target asks for, over all classes "
        "seen so far. New classes arrive where a dashed line marks the next task, so the distance jumps there; a good "
        "memory comes down quickly. The line is the mean over seeds, the band reaches from the lowest seed to the highest.",
    .section = OCDM__SECTION_FIGURES,
    .scales = {"logarithmic", "linear"},
    .is_there = has_distance,
    .draw = draw_distance,
    .write_csv = csv_distance,
};

/* ---- loss --------------------------------------------------------------------------------------------------------------- */

/* The running mean is over this share of the logged steps to either side. */
#define SMOOTHING 50

static bool same_task(const ocdm__run_record *run, size_t a, size_t b)
{
    return a < run->task.count && b < run->task.count && run->task.values[a] == run->task.values[b];
}

/* The mean around point k of the means over seeds. It ends where the task does: the loss jumps there. */
static double smooth_at(const ocdm__run_group *group, size_t length, size_t k)
{
    size_t reach = length / SMOOTHING + 1, count = 0;
    double sum = 0;
    for (size_t i = k > reach ? k - reach : 0; i <= k + reach && i < length; i++) {
        double mean = spread_at(group, loss_of, i).mean;
        if (!isfinite(mean) || !same_task(group->runs[0], i, k))
            continue;
        sum += mean;
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

static ocdm_status add_smooth(ocdm__chart *chart, const ocdm__run_group *group, ocdm_error *error)
{
    size_t length = curve_length(group, loss_of), bucket = bucket_size(length);
    ocdm__chart_line *line = add_group_line(chart, group);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    for (size_t k = 0; k < length; k += bucket) {
        line->x[line->count] = group->runs[0]->step.values[k];
        line->y[line->count] = smooth_at(group, length, k);
        line->low[line->count] = line->high[line->count] = NAN;
        line->count++;
    }
    return OCDM_OK;
}

static bool has_loss(const ocdm__study *study)
{
    return has_curve(study, loss_of);
}

static ocdm_status draw_loss(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "training steps", .y_what = "training loss"};
    const ocdm__run_group *best = ocdm__study_best(study);
    ocdm_status status = add_sections(&chart, (best != NULL ? best : &study->groups[0])->runs[0], "step", error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++)
        status = add_curve(&chart, &study->groups[i], loss_of, true, error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++)
        status = add_smooth(&chart, &study->groups[i], error);
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_loss(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "label,seed,step,loss\n");
    csv_curve(study, ocdm__is_base_group, loss_of, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_loss = {
    .name = "loss",
    .title = "Loss over the stream",
    .reading =
        "The loss of each logged step, on its batch and what was replayed: thin lines are means over seeds, thick lines their "
        "running means, which do not cross a change of task. New classes make it jump. A low loss with a low mAP means that "
        "the network has learned the memory by heart.",
    .section = OCDM__SECTION_FIGURES,
    .scales = {"linear", "logarithmic"},
    .is_there = has_loss,
    .draw = draw_loss,
    .write_csv = csv_loss,
};

/* ---- mAP at any time ----------------------------------------------------------------------------------------------------- */

static bool has_probes(const ocdm__study *study)
{
    return has_curve(study, probe_of);
}

static ocdm_status draw_probes(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "samples seen", .y_what = "mAP on a balanced part of the tests (%)"};
    const ocdm__run_group *best = ocdm__study_best(study);
    ocdm_status status = add_sections(&chart, (best != NULL ? best : &study->groups[0])->runs[0], "samples", error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++)
        if (curve_length(&study->groups[i], probe_of) > 0)
            status = add_curve(&chart, &study->groups[i], probe_of, false, error);
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_probes(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "label,seed,samples,mAP\n");
    csv_curve(study, ocdm__is_base_group, probe_of, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_anytime = {
    .name = "anytime",
    .title = "mAP at any time",
    .reading =
        "Higher is better, everywhere: the network may be asked at any moment, not only at the end of a task. The tests are "
        "a fixed part, balanced over the classes, of which those of the tasks seen so far count. AUC of mAP is the height of "
        "the line averaged over the stream. The line is the mean over seeds, the band reaches from the lowest to the highest.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_probes,
    .draw = draw_probes,
    .write_csv = csv_probes,
};
