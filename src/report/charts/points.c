/* Points of lines: the means of runs step by step, thinned where there are very many, and points with a deviation. */
#include "report/charts/points.h"

#include <math.h>
#include <stdint.h>

#include "base/allocate.h"
#include "base/error.h"

/* A line has two points in each bucket, its lowest and its highest, so that no peak is lost. */
#define BUCKETS ((size_t)220)

/* The running mean is over this share of the steps to either side. */
#define SMOOTHING 50

/* Adds an empty line with room for `room` points; NULL if an allocation fails. There is room for the line. */
static ocdm__line *add_line(ocdm__lines *lines, const ocdm__series *series, size_t room)
{
    ocdm__line *line = &lines->lines[lines->count];
    *line = (ocdm__line){.series = series, .points = ocdm__allocate(room, sizeof *line->points)};
    if (line->points == NULL)
        return NULL;
    lines->count++;
    return line;
}

/* ---- points from steps of runs ------------------------------------------------------------------------------------------ */

/* Where the runs of a series begin in the table. Runs that differ only in the seed log the same steps. If one is shorter, the
 * common part counts. */
struct curve {
    const ocdm__table *table;
    size_t x, y, run, task; /* columns */
    size_t *starts;
    size_t runs, length;
};

static bool find_curve(const ocdm__chart *chart, size_t series, struct curve *curve)
{
    const ocdm__table *table = &chart->table;
    size_t room = 0, here = 0;
    curve->runs = 0;
    curve->length = SIZE_MAX;
    for (size_t row = 0; row < table->row_count; row++) {
        if (ocdm__chart_series_of(chart, row) != series)
            continue;
        double run = ocdm__table_number(table, row, curve->run);
        if (curve->runs == 0 || run > ocdm__table_number(table, curve->starts[curve->runs - 1], curve->run)) {
            curve->length = curve->runs > 0 && here < curve->length ? here : curve->length;
            here = 0;
            if (!ocdm__reserve(&curve->starts, &room, curve->runs + 1, sizeof *curve->starts))
                return false;
            curve->starts[curve->runs++] = row;
        }
        here++;
    }
    curve->length = here < curve->length ? here : curve->length;
    return true;
}

static double mean_at(const struct curve *curve, size_t k)
{
    double mean = 0;
    for (size_t i = 0; i < curve->runs; i++)
        mean += ocdm__table_number(curve->table, curve->starts[i] + k, curve->y) / (double)curve->runs;
    return mean;
}

static void add_mean(ocdm__line *line, const struct curve *curve, size_t k)
{
    double low = INFINITY, high = -INFINITY;
    bool banded = curve->runs > 1 && !line->behind;
    for (size_t i = 0; i < curve->runs; i++) {
        double value = ocdm__table_number(curve->table, curve->starts[i] + k, curve->y);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    line->points[line->count++] = (ocdm__point){ocdm__table_number(curve->table, curve->starts[0] + k, curve->x),
                                                mean_at(curve, k), banded ? low : NAN, banded ? high : NAN};
}

/* The lowest and the highest step of each bucket. */
static void thin_curve(ocdm__line *line, const struct curve *curve, size_t bucket)
{
    for (size_t k = 0; k < curve->length; k += bucket) {
        size_t lowest = k, highest = k;
        for (size_t i = k; i < k + bucket && i < curve->length; i++) {
            lowest = mean_at(curve, i) < mean_at(curve, lowest) ? i : lowest;
            highest = mean_at(curve, i) > mean_at(curve, highest) ? i : highest;
        }
        add_mean(line, curve, lowest < highest ? lowest : highest);
        if (lowest != highest)
            add_mean(line, curve, lowest < highest ? highest : lowest);
    }
}

/* The mean around the first step of each bucket. It ends where the task does: the loss jumps there. */
static void smooth_curve(ocdm__line *line, const struct curve *curve, size_t bucket)
{
    size_t reach = curve->length / SMOOTHING + 1, first = curve->runs > 0 ? curve->starts[0] : 0;
    for (size_t k = 0; k < curve->length; k += bucket) {
        double sum = 0, task = ocdm__table_number(curve->table, first + k, curve->task);
        size_t count = 0;
        for (size_t i = k > reach ? k - reach : 0; i <= k + reach && i < curve->length; i++) {
            double mean = mean_at(curve, i);
            if (!isfinite(mean) || ocdm__table_number(curve->table, first + i, curve->task) != task)
                continue;
            sum += mean;
            count++;
        }
        line->points[line->count++] = (ocdm__point){ocdm__table_number(curve->table, first + k, curve->x),
                                                    count > 0 ? sum / (double)count : NAN, NAN, NAN};
    }
}

/* Without a column ".run" the rows are the points. */
static bool add_curves(const ocdm__chart *chart, ocdm__lines *lines, bool behind)
{
    struct curve curve = {.table = &chart->table,
                          .x = ocdm__table_column(&chart->table, chart->x),
                          .y = ocdm__table_column(&chart->table, chart->y),
                          .run = ocdm__table_column(&chart->table, ".run"),
                          .task = ocdm__table_column(&chart->table, ".task")};
    bool fits = true, is_thin = curve.run < chart->table.column_count;
    for (size_t i = 0; fits && i < chart->series_count; i++) {
        fits = find_curve(chart, i, &curve);
        size_t length = curve.runs > 0 ? curve.length : 0, bucket = is_thin ? (length + BUCKETS - 1) / BUCKETS : 1;
        ocdm__line *line = fits ? add_line(lines, &chart->series[i], is_thin ? 2 * BUCKETS : length) : NULL;
        fits = line != NULL;
        if (length == 0 || !fits)
            continue;
        line->behind = behind;
        if (chart->smooth && !behind)
            smooth_curve(line, &curve, bucket);
        else
            thin_curve(line, &curve, bucket);
    }
    ocdm__release(curve.starts);
    return fits;
}

/* ---- points with a deviation -------------------------------------------------------------------------------------------- */

/* Puts a point in its place in a line. */
static void insert_point(ocdm__line *line, ocdm__point point)
{
    size_t place = line->count++;
    for (; place > 0 && point.x < line->points[place - 1].x; place--)
        line->points[place] = line->points[place - 1];
    line->points[place] = point;
}

static bool add_dots(const ocdm__chart *chart, ocdm__lines *lines)
{
    const ocdm__table *table = &chart->table;
    size_t x = ocdm__table_column(table, chart->x), y = ocdm__table_column(table, chart->y);
    size_t spread = ocdm__table_column(table, chart->deviation);
    for (size_t i = 0; i < chart->series_count; i++) {
        ocdm__line *line = add_line(lines, &chart->series[i], table->row_count);
        if (line == NULL)
            return false;
        for (size_t row = 0; row < table->row_count; row++) {
            double value = ocdm__table_number(table, row, y), deviation = ocdm__table_number(table, row, spread);
            if (ocdm__chart_series_of(chart, row) == i)
                insert_point(line,
                             (ocdm__point){ocdm__table_number(table, row, x), value, value - deviation, value + deviation});
        }
    }
    return true;
}

/* ---- all lines ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__lines_collect(ocdm__lines *lines, const ocdm__chart *chart, ocdm_error *error)
{
    *lines = (ocdm__lines){.lines = ocdm__allocate(chart->series_count, 2 * sizeof *lines->lines)};
    bool fits = lines->lines != NULL;
    if (chart->kind == OCDM__CHART_DOTS)
        fits = fits && add_dots(chart, lines);
    else
        fits = fits && (!chart->smooth || add_curves(chart, lines, true)) && add_curves(chart, lines, false);
    return fits ? OCDM_OK : ocdm__fail_memory(error, "a chart");
}

void ocdm__lines_clear(ocdm__lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        ocdm__release(lines->lines[i].points);
    ocdm__release(lines->lines);
    *lines = (ocdm__lines){.lines = NULL};
}
