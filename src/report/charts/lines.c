/* Draws lines. Their names are at their right ends, moved apart where they would overlap, with a thin line to the end; in a
 * page also in a legend above, since a narrow screen does not reach the right ends. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/charts/chart.h"
#include "report/text.h"

enum {
    LEFT = 74,
    TOP = 30,
    HEIGHT = 280,
    BOTTOM = 50,
    LABEL_LIMIT = 34,
    LABEL_PITCH = 17,
    UPRIGHT_LIMIT = 18,
    UPRIGHT_ROOM = 90
};

/* Values below this are not distinguished on a logarithmic axis. */
#define SMALLEST 1e-6

/* A line has two points in each bucket, its lowest and its highest, so that no peak is lost. */
#define BUCKETS ((size_t)220)

/* The running mean is over this share of the steps to either side. */
#define SMOOTHING 50

/* The points of a series. A NaN in y is a gap. */
struct line {
    const ocdm__series *series;
    bool behind; /* a thin line behind the others, without a name */
    size_t count;
    double *x, *y, *low, *high; /* one block; low and high are the spread around y, NaN for none */
};

struct lines {
    struct line *lines; /* those behind first */
    size_t count;
};

/* Adds an empty line with room for `room` points; NULL if an allocation fails. There is room for the line. */
static struct line *add_line(struct lines *lines, const ocdm__series *series, size_t room)
{
    double *numbers = ocdm__allocate(room, 4 * sizeof *numbers);
    if (numbers == NULL)
        return NULL;
    struct line *line = &lines->lines[lines->count++];
    *line = (struct line){series, false, 0, numbers, numbers + room, numbers + 2 * room, numbers + 3 * room};
    return line;
}

static void add_point(struct line *line, double x, double y, double low, double high)
{
    line->x[line->count] = x;
    line->y[line->count] = y;
    line->low[line->count] = low;
    line->high[line->count++] = high;
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

static void add_mean(struct line *line, const struct curve *curve, size_t k)
{
    double low = INFINITY, high = -INFINITY;
    bool banded = curve->runs > 1 && !line->behind;
    for (size_t i = 0; i < curve->runs; i++) {
        double value = ocdm__table_number(curve->table, curve->starts[i] + k, curve->y);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    add_point(line, ocdm__table_number(curve->table, curve->starts[0] + k, curve->x), mean_at(curve, k), banded ? low : NAN,
              banded ? high : NAN);
}

/* The lowest and the highest step of each bucket. */
static void thin_curve(struct line *line, const struct curve *curve, size_t bucket)
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
static void smooth_curve(struct line *line, const struct curve *curve, size_t bucket)
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
        add_point(line, ocdm__table_number(curve->table, first + k, curve->x), count > 0 ? sum / (double)count : NAN, NAN, NAN);
    }
}

/* Without a column ".run" the rows are the points. */
static bool add_curves(const ocdm__chart *chart, struct lines *lines, bool behind)
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
        struct line *line = fits ? add_line(lines, &chart->series[i], is_thin ? 2 * BUCKETS : length) : NULL;
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

static void sort_points(struct line *line)
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

static bool add_dots(const ocdm__chart *chart, struct lines *lines)
{
    const ocdm__table *table = &chart->table;
    size_t x = ocdm__table_column(table, chart->x), y = ocdm__table_column(table, chart->y);
    size_t spread = ocdm__table_column(table, chart->deviation);
    for (size_t i = 0; i < chart->series_count; i++) {
        size_t room = 0;
        for (size_t row = 0; row < table->row_count; row++)
            room += ocdm__chart_series_of(chart, row) == i;
        struct line *line = add_line(lines, &chart->series[i], room);
        if (line == NULL)
            return false;
        for (size_t row = 0; row < table->row_count; row++) {
            double value = ocdm__table_number(table, row, y), deviation = ocdm__table_number(table, row, spread);
            if (ocdm__chart_series_of(chart, row) == i)
                add_point(line, ocdm__table_number(table, row, x), value, value - deviation, value + deviation);
        }
        sort_points(line);
    }
    return true;
}

/* ---- classes of the style sheet ----------------------------------------------------------------------------------------- */

static bool is_ink(unsigned colour)
{
    return colour >= OCDM__INK(0);
}

static unsigned dash_of(unsigned colour)
{
    return (is_ink(colour) ? colour - OCDM__INK(0) : colour / OCDM__COLOURS) % OCDM__DASHES;
}

/* "s3 d1": the stroke of a line, with its dash. */
static void put_stroke(ocdm__output *out, unsigned colour, bool dashed)
{
    if (is_ink(colour))
        ocdm__output_text(out, "ink");
    else
        ocdm__put(out, "s%u", colour % OCDM__COLOURS);
    if (dashed && dash_of(colour) > 0)
        ocdm__put(out, " d%u", dash_of(colour));
}

static void put_fill(ocdm__output *out, unsigned colour)
{
    if (is_ink(colour))
        ocdm__output_text(out, "inkf");
    else
        ocdm__put(out, "f%u", colour % OCDM__COLOURS);
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

struct frame {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    struct lines lines;
    ocdm__scale x, y;
    double bottom; /* of the field */
    double right;  /* where the names start */
    bool upright;  /* the names below are rotated, since they would overlap */
};

static void stretch(ocdm__scale *scale, double value, bool *any)
{
    if (!isfinite(value) || (scale->is_log && !(value > 0)))
        return;
    value = scale->is_log && value < SMALLEST ? SMALLEST : value;
    scale->low = *any && scale->low < value ? scale->low : value;
    scale->high = *any && scale->high > value ? scale->high : value;
    *any = true;
}

static double label_room(const struct frame *frame)
{
    size_t widest = 0;
    const char *source = frame->chart->mark_what;
    for (size_t i = 0; i < frame->chart->series_count; i++) {
        size_t width = ocdm__plain_width(frame->chart->series[i].label, LABEL_LIMIT);
        widest = width > widest ? width : widest;
    }
    return 34 + fmax(OCDM__WIDE_COLUMN * (double)widest, source != NULL ? OCDM__COLUMN * (double)strlen(source) : 0);
}

/* false when there is nothing to draw. */
static bool plan_frame(struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    bool any_x = false, any_y = false, is_log = chart->is_log != frame->canvas->other_scale;
    frame->bottom = TOP + (chart->height > 0 ? chart->height : HEIGHT);
    frame->y = (ocdm__scale){.from = frame->bottom, .to = TOP, .is_log = is_log};
    for (size_t i = 0; i < frame->lines.count; i++)
        for (size_t k = 0; k < frame->lines.lines[i].count; k++) {
            const struct line *line = &frame->lines.lines[i];
            if (isfinite(line->y[k]))
                stretch(&frame->x, line->x[k], &any_x);
            stretch(&frame->y, line->y[k], &any_y);
            stretch(&frame->y, line->low[k], &any_y);
            stretch(&frame->y, line->high[k], &any_y);
        }
    for (size_t i = 0; i < chart->mark_count; i++)
        stretch(&frame->y, chart->marks[i].y, &any_y);
    for (size_t i = 0; i < 2 && chart->y_reach[0] < chart->y_reach[1]; i++)
        stretch(&frame->y, chart->y_reach[i], &any_y);
    if (any_y && chart->is_log && !is_log) /* a scale that is linear instead of logarithmic starts at 0 */
        stretch(&frame->y, 0, &any_y);
    if (any_y)
        ocdm__scale_widen(&frame->y);
    if (chart->kind == OCDM__CHART_LINES)
        stretch(&frame->x, 0, &any_x);
    if (chart->names != NULL)
        frame->x.low = -0.3, frame->x.high = (double)chart->name_count - 0.7;
    else if (chart->kind == OCDM__CHART_DOTS && any_x) {
        double margin = (frame->x.high - frame->x.low) * 0.04;
        frame->x.low -= margin, frame->x.high += margin;
    }
    frame->right = OCDM__FIGURE_WIDTH - label_room(frame);
    frame->x.from = LEFT;
    frame->x.to = frame->right;
    for (size_t i = 0; i < chart->name_count; i++)
        if (OCDM__COLUMN * (double)strlen(chart->names[i]) > (frame->right - LEFT) / (double)chart->name_count - 6)
            frame->upright = true;
    return any_x && any_y;
}

/* ---- the ground --------------------------------------------------------------------------------------------------------- */

static void draw_sections(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    for (size_t i = 0; i < chart->section_count; i++) {
        const char *name = chart->sections[i].name;
        double end = i + 1 < chart->section_count ? chart->sections[i + 1].from : frame->x.high;
        double from = ocdm__scale_place(&frame->x, chart->sections[i].from), to = ocdm__scale_place(&frame->x, end);
        if (i > 0)
            ocdm__draw_rule(frame->canvas, "change", from, TOP - 4, from, frame->bottom);
        if (to - from > OCDM__COLUMN * (double)strlen(name))
            ocdm__draw_text(frame->canvas, (from + to) / 2, TOP - 10, OCDM__ANCHOR_MIDDLE, "small faint", name, 40);
    }
}

/* The axis of points: their names, or, since they are few, their own numbers, except those too close to the previous one. */
static void draw_points_axis(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    const struct line *line = frame->lines.count > 0 ? &frame->lines.lines[0] : NULL;
    double y = frame->bottom, last = -1e9;
    ocdm__draw_rule(frame->canvas, "axis", LEFT, y, frame->right, y);
    for (size_t i = 0; i < chart->name_count; i++) {
        double x = ocdm__scale_place(&frame->x, (double)i);
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        if (frame->upright)
            ocdm__draw_text_up(frame->canvas, x + 4, y + 8, OCDM__ANCHOR_END, "small faint", chart->names[i], UPRIGHT_LIMIT);
        else
            ocdm__draw_text(frame->canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, "small faint", chart->names[i], 40);
    }
    for (size_t k = 0; chart->names == NULL && line != NULL && k < line->count; k++) {
        char text[32];
        double x = ocdm__scale_place(&frame->x, line->x[k]);
        ocdm__tick_text(line->x[k], text, sizeof text);
        if (!isfinite(line->x[k]) || x - last < OCDM__COLUMN * (double)strlen(text) + 8)
            continue;
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        ocdm__draw_number(frame->canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, line->x[k]);
        last = x;
    }
    ocdm__draw_text(frame->canvas, (LEFT + frame->right) / 2, y + (frame->upright ? UPRIGHT_ROOM : 0) + 36, OCDM__ANCHOR_MIDDLE,
                    "", chart->x_what, 1000);
}

static void draw_ground(const struct frame *frame)
{
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", frame->chart->y_what, frame->y.is_log ? ", log scale" : "");
    ocdm__draw_grid(frame->canvas, &frame->y, LEFT, frame->right);
    ocdm__draw_text_up(frame->canvas, 14, (frame->y.from + frame->y.to) / 2, OCDM__ANCHOR_MIDDLE, "", what, 100);
    draw_sections(frame);
    if (frame->chart->kind == OCDM__CHART_DOTS)
        draw_points_axis(frame);
    else
        ocdm__draw_x_axis(frame->canvas, &frame->x, frame->bottom, frame->chart->x_what);
    /* The field that the pointer reads values in: how places are numbers along x, and what those are. */
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    if (!ocdm__canvas_is_page(frame->canvas))
        return;
    ocdm__put(out, "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" data-x=\"%.6g %.6g\" data-what=\"",
              LEFT, TOP, frame->right - LEFT, frame->bottom - TOP, frame->x.low, frame->x.high);
    ocdm__put_plain(out, chart->x_what, 60);
    for (size_t i = 0; i < chart->name_count; i++) {
        ocdm__output_text(out, i == 0 ? "\" data-names=\"" : "|");
        ocdm__put_plain(out, chart->names[i], 40);
    }
    ocdm__output_text(out, "\"/>\n");
}

/* ---- a line ------------------------------------------------------------------------------------------------------------- */

static void put_point(const struct frame *frame, double x, double y)
{
    ocdm__put_place(frame->canvas->out, ocdm__scale_place(&frame->x, x));
    ocdm__output_text(frame->canvas->out, ",");
    ocdm__put_place(frame->canvas->out, ocdm__scale_place(&frame->y, y));
    ocdm__output_text(frame->canvas->out, " ");
}

/* The end of the range from `k` on in which every point has a y and, for a band, a spread. */
static size_t stretch_end(const struct line *line, size_t k, bool band)
{
    while (k < line->count && isfinite(line->y[k]) && (!band || (isfinite(line->low[k]) && isfinite(line->high[k]))))
        k++;
    return k;
}

static void draw_band(const struct frame *frame, const struct line *line)
{
    ocdm__output *out = frame->canvas->out;
    ocdm__mark_begin(frame->canvas, line->series->mark, 0);
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, true);
        if (end < k + 2)
            continue;
        ocdm__output_text(out, "<polygon class=\"band ");
        put_fill(out, line->series->colour);
        ocdm__output_text(out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(frame, line->x[i], line->low[i]);
        for (size_t i = end; i-- > k;)
            put_point(frame, line->x[i], line->high[i]);
        ocdm__output_text(out, "\"/>\n");
    }
    ocdm__mark_end(frame->canvas);
}

static void draw_curve(const struct frame *frame, const struct line *line)
{
    ocdm__output *out = frame->canvas->out;
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, false);
        if (end < k + 2)
            continue;
        ocdm__output_text(out, line->behind ? "<polyline class=\"raw " : "<polyline class=\"line ");
        put_stroke(out, line->series->colour, !line->behind);
        ocdm__output_text(out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(frame, line->x[i], line->y[i]);
        ocdm__output_text(out, "\"><title>");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__output_text(out, "</title></polyline>\n");
    }
}

/* A point: a circle for a method, a shape of its own for every line in ink. */
static void draw_point(ocdm__output *out, unsigned colour, double x, double y)
{
    static const char *const shapes[OCDM__DASHES] = {
        "M%.1f %.1fm-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M%.1f %.1fm-4 -4h8v8h-8z", "M%.1f %.1fm0 -5l5 9h-10z",
        "M%.1f %.1fm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z", "M%.1f %.1fm0 5l5 -9h-10z"};
    char path[96];
    ocdm__output_text(out, "<path class=\"dot ");
    put_fill(out, colour);
    snprintf(path, sizeof path, shapes[is_ink(colour) ? dash_of(colour) : 0], x, y);
    ocdm__put(out, "\" d=\"%s\">", path);
}

static void draw_dots(const struct frame *frame, const struct line *line)
{
    ocdm__output *out = frame->canvas->out;
    for (size_t k = 0; k < line->count; k++) {
        double x = ocdm__scale_place(&frame->x, line->x[k]);
        if (!isfinite(line->y[k]))
            continue;
        if (isfinite(line->low[k]) && isfinite(line->high[k])) {
            ocdm__output_text(out, "<path class=\"");
            put_stroke(out, line->series->colour, false);
            ocdm__put(out, "\" d=\"M%.1f %.1fV%.1f\"/>\n", x, ocdm__scale_place(&frame->y, line->low[k]),
                      ocdm__scale_place(&frame->y, line->high[k]));
        }
        draw_point(out, line->series->colour, x, ocdm__scale_place(&frame->y, line->y[k]));
        ocdm__output_text(out, "<title>");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__put(out, ": %.4g</title></path>\n", line->y[k]);
    }
}

/* In a page a line with a name has its numbers for the script, x and y in turn. */
static void draw_line(const struct frame *frame, const struct line *line)
{
    ocdm__output *out = frame->canvas->out;
    ocdm__output_text(out, "<g");
    ocdm__put_mark(frame->canvas, line->series->mark);
    if (ocdm__canvas_is_page(frame->canvas) && !line->behind) {
        ocdm__output_text(out, " data-label=\"");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__output_text(out, "\" data-p=\"");
        for (size_t k = 0; k < line->count; k++)
            if (isfinite(line->x[k]) && isfinite(line->y[k]))
                ocdm__put(out, "%.7g %.4g ", line->x[k], line->y[k]);
        ocdm__output_text(out, "\"");
    }
    ocdm__output_text(out, ">\n");
    draw_curve(frame, line);
    if (frame->chart->kind == OCDM__CHART_DOTS)
        draw_dots(frame, line);
    ocdm__mark_end(frame->canvas);
}

static void begin_diamond(ocdm__output *out, const char *class, double x, double y)
{
    ocdm__put(out, "<path class=\"%s\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\">", class, x, y - 6);
}

/* Next to the point, which would hide it where the two agree. */
static void draw_marks(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    for (size_t i = 0; i < chart->mark_count; i++) {
        const ocdm__chart_mark *mark = &chart->marks[i];
        char class[16] = "line ink";
        if (!is_ink(mark->colour))
            snprintf(class, sizeof class, "line s%u", mark->colour % OCDM__COLOURS);
        begin_diamond(out, class, ocdm__scale_place(&frame->x, mark->x) - 12, ocdm__scale_place(&frame->y, mark->y));
        ocdm__output_text(out, "<title>");
        ocdm__put_plain(out, chart->mark_what, 40);
        ocdm__put(out, ": %.4g</title></path>\n", mark->y);
    }
    if (chart->mark_count == 0)
        return;
    begin_diamond(out, "mark", frame->right + 17, TOP - 18);
    ocdm__output_text(out, "</path>\n");
    ocdm__draw_text(frame->canvas, frame->right + 29, TOP - 14, OCDM__ANCHOR_START, "small", chart->mark_what, 40);
}

/* ---- names at the ends -------------------------------------------------------------------------------------------------- */

struct end {
    const struct line *line;
    double x, y;  /* of the last point */
    double place; /* where the name goes */
};

/* From top to bottom. */
static size_t find_ends(const struct frame *frame, struct end *ends)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->lines.count; i++) {
        const struct line *line = &frame->lines.lines[i];
        size_t last = line->count;
        while (last > 0 && !isfinite(line->y[last - 1]))
            last--;
        if (last == 0 || line->behind)
            continue;
        double y = ocdm__scale_place(&frame->y, line->y[last - 1]);
        size_t place = count++;
        for (; place > 0 && y < ends[place - 1].y; place--)
            ends[place] = ends[place - 1];
        ends[place] = (struct end){line, ocdm__scale_place(&frame->x, line->x[last - 1]), y, y};
    }
    return count;
}

/* Moves names down until none overlaps the one above it, then up from the bottom. Too many names for the height are
 * distributed evenly. */
static void spread_ends(struct end *ends, size_t count, double bottom)
{
    double pitch = LABEL_PITCH, room = bottom - TOP + LABEL_PITCH;
    pitch = pitch * (double)count > room ? room / (double)count : pitch;
    for (size_t i = 1; i < count; i++)
        if (ends[i].place < ends[i - 1].place + pitch)
            ends[i].place = ends[i - 1].place + pitch;
    for (size_t i = count; i-- > 0; bottom -= pitch) {
        if (ends[i].place <= bottom)
            bottom = ends[i].place;
        ends[i].place = bottom;
    }
}

static void draw_ends(const struct frame *frame, struct end *ends)
{
    ocdm__output *out = frame->canvas->out;
    size_t count = find_ends(frame, ends);
    spread_ends(ends, count, frame->bottom);
    for (size_t i = 0; i < count; i++) {
        const struct end *end = &ends[i];
        ocdm__mark_begin(frame->canvas, end->line->series->mark, 0);
        ocdm__draw_rule(frame->canvas, "lead", end->x + 3, end->y, frame->right + 10, end->place);
        ocdm__output_text(out, "<path class=\"line ");
        put_stroke(out, end->line->series->colour, true);
        ocdm__put(out, "\" d=\"M%.1f %.1fh14\"/>\n", frame->right + 10, end->place);
        ocdm__draw_text(frame->canvas, frame->right + 29, end->place + 4, OCDM__ANCHOR_START, "name", end->line->series->label,
                        LABEL_LIMIT);
        ocdm__mark_end(frame->canvas);
    }
}

/* ---- the chart ---------------------------------------------------------------------------------------------------------- */

/* The legend of a page. */
static void put_legend(const ocdm__chart *chart, ocdm__output *out)
{
    ocdm__output_text(out, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->series_count; i++) {
        const ocdm__series *series = &chart->series[i];
        ocdm__output_text(out, "<li");
        if (series->mark != NULL && !is_ink(series->colour)) {
            ocdm__output_text(out, " data-legend=\"");
            ocdm__put_plain(out, series->mark, OCDM__MARK_LIMIT);
            ocdm__output_text(out, "\"");
        }
        ocdm__output_text(out, "><svg class=\"key long-key\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line ");
        put_stroke(out, series->colour, true);
        ocdm__output_text(out, "\" d=\"M1 6h24\"/>");
        if (chart->kind == OCDM__CHART_DOTS) {
            draw_point(out, series->colour, 13, 6);
            ocdm__output_text(out, "</path>");
        }
        ocdm__output_text(out, "</svg>");
        ocdm__put_name(out, series->label, LABEL_LIMIT);
        ocdm__output_text(out, "</li>\n");
    }
    ocdm__output_text(out, "</ul>\n");
}

/* Without numbers only the background is drawn. */
static void draw_picture(struct frame *frame, struct end *ends)
{
    const ocdm__canvas *canvas = frame->canvas;
    bool any = plan_frame(frame);
    if (ocdm__canvas_is_page(canvas))
        put_legend(frame->chart, canvas->out);
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, frame->bottom + BOTTOM + (frame->upright ? UPRIGHT_ROOM : 0), false);
    if (any) {
        draw_ground(frame);
        for (size_t i = 0; frame->chart->kind == OCDM__CHART_LINES && i < frame->lines.count; i++)
            draw_band(frame, &frame->lines.lines[i]);
        for (size_t i = 0; i < frame->lines.count; i++)
            draw_line(frame, &frame->lines.lines[i]);
        draw_marks(frame);
        draw_ends(frame, ends);
    }
    ocdm__picture_end(canvas);
}

ocdm_status ocdm__lines_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    struct frame frame = {.chart = chart, .canvas = canvas};
    struct lines *lines = &frame.lines;
    lines->lines = ocdm__allocate(chart->series_count, 2 * sizeof *lines->lines);
    bool fits = lines->lines != NULL;
    if (chart->kind == OCDM__CHART_DOTS)
        fits = fits && add_dots(chart, lines);
    else
        fits = fits && (!chart->smooth || add_curves(chart, lines, true)) && add_curves(chart, lines, false);
    ocdm_status status = fits ? OCDM_OK : ocdm__fail_memory(error, "a chart");
    struct end *ends = ocdm__allocate(frame.lines.count, sizeof *ends);
    if (status == OCDM_OK && ends == NULL)
        status = ocdm__fail_memory(error, "a chart");
    if (status == OCDM_OK)
        draw_picture(&frame, ends);
    for (size_t i = 0; i < frame.lines.count; i++)
        ocdm__release(frame.lines.lines[i].x);
    ocdm__release(frame.lines.lines);
    ocdm__release(ends);
    return status;
}
