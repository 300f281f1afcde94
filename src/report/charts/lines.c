/*
 * Draws lines: means of runs step by step, thinned where there are very many, or points with a deviation. Their names are at
 * their right ends, moved apart where they would overlap, with a thin line to the end; in a page also in a legend above, since
 * a narrow screen does not reach the right ends.
 */
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

/* ---- points ------------------------------------------------------------------------------------------------------------- */

struct point {
    double x, y;      /* y is NaN in a gap */
    double low, high; /* the spread around y; NaN for none */
    double task;
};

struct line {
    const ocdm__series *series;
    bool behind; /* a thin line behind the others, without a name */
    struct point *points;
    size_t count;
};

/* Collects the means over the runs of a series. Runs that differ only in the seed log the same steps; if one is shorter, the
 * common part counts. Without a column ".run" the rows are the points. There is room for twice as many points. */
static void collect_steps(const ocdm__chart *chart, size_t series, struct line *line, ocdm__arena *arena)
{
    const ocdm__table *table = &chart->table;
    const size_t x = ocdm__table_column(table, chart->x), y = ocdm__table_column(table, chart->y);
    const size_t run = ocdm__table_column(table, ".run"), task = ocdm__table_column(table, ".task");
    size_t runs = 0, common = SIZE_MAX, here = 0, *starts = ocdm__arena_new(arena, table->row_count + 1, sizeof *starts);
    for (size_t row = 0; starts != NULL && row < table->row_count; row++) {
        if (ocdm__chart_series_of(chart, row) != series)
            continue;
        if (runs == 0 || ocdm__table_number(table, row, run) > ocdm__table_number(table, starts[runs - 1], run)) {
            common = runs > 0 && here < common ? here : common;
            starts[runs++] = row;
            here = 0;
        }
        here++;
    }
    line->count = here < common ? here : common;
    line->points = ocdm__arena_new(arena, line->count, 2 * sizeof *line->points);
    bool has_band = runs > 1 && !line->behind;
    for (size_t k = 0; !arena->failed && k < line->count; k++) {
        struct point *point = &line->points[k];
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < runs; i++) {
            double value = ocdm__table_number(table, starts[i] + k, y);
            point->y += value / (double)runs;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        point->x = ocdm__table_number(table, starts[0] + k, x);
        point->task = ocdm__table_number(table, starts[0] + k, task);
        point->low = has_band ? low : NAN;
        point->high = has_band ? high : NAN;
    }
}

/* Keeps the lowest and the highest step of each bucket. */
static void thin_line(struct line *line, size_t bucket)
{
    struct point *points = line->points;
    size_t count = line->count;
    line->count = 0;
    for (size_t k = 0; k < count; k += bucket) {
        size_t lowest = k, highest = k;
        for (size_t i = k; i < k + bucket && i < count; i++) {
            lowest = points[i].y < points[lowest].y ? i : lowest;
            highest = points[i].y > points[highest].y ? i : highest;
        }
        const struct point first = points[lowest < highest ? lowest : highest];
        const struct point second = points[lowest < highest ? highest : lowest];
        points[line->count++] = first;
        if (lowest != highest)
            points[line->count++] = second;
    }
}

/* Keeps the first step of each bucket, with the mean around it. The mean ends where the task does: the loss jumps there. The
 * points from `count` on are scratch space. */
static void smooth_line(struct line *line, size_t bucket)
{
    const size_t count = line->count, reach = count / SMOOTHING + 1;
    struct point *steps = line->points, *kept = steps + count;
    line->count = 0;
    for (size_t k = 0; k < count; k += bucket) {
        double sum = 0;
        size_t around = 0;
        for (size_t i = k > reach ? k - reach : 0; i <= k + reach && i < count; i++)
            if (isfinite(steps[i].y) && steps[i].task == steps[k].task) {
                sum += steps[i].y;
                around++;
            }
        kept[line->count++] = (struct point){steps[k].x, around > 0 ? sum / (double)around : NAN, NAN, NAN, NAN};
    }
    memmove(steps, kept, line->count * sizeof *kept);
}

/* The rows of a series with their deviations, rising in x. */
static void collect_dots(const ocdm__chart *chart, size_t series, struct line *line, ocdm__arena *arena)
{
    const ocdm__table *table = &chart->table;
    const size_t x = ocdm__table_column(table, chart->x), y = ocdm__table_column(table, chart->y);
    const size_t spread = ocdm__table_column(table, chart->deviation);
    line->points = ocdm__arena_new(arena, table->row_count, sizeof *line->points);
    for (size_t row = 0; line->points != NULL && row < table->row_count; row++) {
        if (ocdm__chart_series_of(chart, row) != series)
            continue;
        double value = ocdm__table_number(table, row, y), deviation = ocdm__table_number(table, row, spread);
        const struct point point = {ocdm__table_number(table, row, x), value, value - deviation, value + deviation, NAN};
        size_t place = line->count++;
        for (; place > 0 && point.x < line->points[place - 1].x; place--)
            line->points[place] = line->points[place - 1];
        line->points[place] = point;
    }
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

struct frame {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    struct line *lines; /* those behind first, and in each part one for each series */
    size_t line_count;
    ocdm__scale x, y;
    double bottom; /* of the field */
    double right;  /* where the names start */
    bool upright;  /* the names below are rotated, since they would overlap */
};

static void collect_lines(struct frame *frame, ocdm__arena *arena)
{
    const ocdm__chart *chart = frame->chart;
    bool has_runs = ocdm__table_column(&chart->table, ".run") < chart->table.column_count;
    bool is_dots = chart->kind == OCDM__CHART_DOTS;
    size_t wanted = chart->series_count * (chart->smooth ? 2 : 1);
    frame->lines = ocdm__arena_new(arena, wanted, sizeof *frame->lines);
    for (size_t i = 0; !arena->failed && i < wanted; i++) {
        struct line *line = &frame->lines[frame->line_count++];
        size_t series = i % chart->series_count;
        *line = (struct line){.series = &chart->series[series], .behind = i + chart->series_count < wanted};
        (is_dots ? collect_dots : collect_steps)(chart, series, line, arena);
        size_t bucket = has_runs ? (line->count + BUCKETS - 1) / BUCKETS : 1;
        if (arena->failed)
            return;
        if (chart->smooth && !line->behind)
            smooth_line(line, bucket);
        else if (!is_dots)
            thin_line(line, bucket);
    }
}

static void stretch(ocdm__scale *scale, double value, bool *any)
{
    if (!isfinite(value) || (scale->is_log && !(value > 0)))
        return;
    value = scale->is_log && value < SMALLEST ? SMALLEST : value;
    scale->low = *any && scale->low < value ? scale->low : value;
    scale->high = *any && scale->high > value ? scale->high : value;
    *any = true;
}

/* false when there is nothing to draw. */
static bool plan_frame(struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    bool any_x = false, any_y = false, is_log = chart->is_log != frame->canvas->other_scale;
    frame->bottom = TOP + (chart->height > 0 ? chart->height : HEIGHT);
    frame->y = (ocdm__scale){.from = frame->bottom, .to = TOP, .is_log = is_log};
    for (size_t i = 0; i < frame->line_count; i++)
        for (size_t k = 0; k < frame->lines[i].count; k++) {
            const struct point *point = &frame->lines[i].points[k];
            if (isfinite(point->y))
                stretch(&frame->x, point->x, &any_x);
            stretch(&frame->y, point->y, &any_y);
            stretch(&frame->y, point->low, &any_y);
            stretch(&frame->y, point->high, &any_y);
        }
    for (size_t i = 0; i < chart->mark_count; i++)
        stretch(&frame->y, chart->marks[i].y, &any_y);
    for (size_t i = 0; i < 2 && chart->y_reach[0] < chart->y_reach[1]; i++)
        stretch(&frame->y, chart->y_reach[i], &any_y);
    if (any_y && chart->is_log && !is_log) /* a scale that is linear instead of logarithmic starts at 0 */
        stretch(&frame->y, 0, &any_y);
    if (any_y)
        ocdm__scale_widen(&frame->y);
    double margin = chart->kind == OCDM__CHART_DOTS && any_x ? (frame->x.high - frame->x.low) * 0.04 : 0;
    if (chart->kind == OCDM__CHART_LINES)
        stretch(&frame->x, 0, &any_x);
    double widest = chart->mark_what != NULL ? OCDM__COLUMN * (double)strlen(chart->mark_what) : 0;
    if (chart->point_what != NULL)
        widest = fmax(widest, OCDM__COLUMN * (double)strlen(chart->point_what));
    for (size_t i = 0; i < chart->series_count; i++)
        widest = fmax(widest, OCDM__WIDE_COLUMN * (double)ocdm__plain_width(chart->series[i].label, LABEL_LIMIT));
    frame->right = OCDM__FIGURE_WIDTH - (34 + widest);
    frame->x = (ocdm__scale){.low = chart->names != NULL ? -0.3 : frame->x.low - margin,
                             .high = chart->names != NULL ? (double)chart->name_count - 0.7 : frame->x.high + margin,
                             .from = LEFT,
                             .to = frame->right};
    for (size_t i = 0; i < chart->name_count; i++)
        if (OCDM__COLUMN * (double)strlen(chart->names[i]) > (frame->right - LEFT) / (double)chart->name_count - 6)
            frame->upright = true;
    return any_x && any_y;
}

/* ---- the ground --------------------------------------------------------------------------------------------------------- */

/* The axis of points: their names, or, since they are few, their own numbers, except those too close to the previous one. */
static void draw_points_axis(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    const struct line *line = &frame->lines[0];
    double y = frame->bottom, last = -1e9;
    ocdm__draw_rule(frame->canvas, "axis", LEFT, y, frame->right, y);
    for (size_t i = 0; i < chart->name_count; i++) {
        double x = ocdm__scale_place(&frame->x, (double)i);
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        ocdm__draw_text(frame->canvas, x + (frame->upright ? 4 : 0), y + (frame->upright ? 8 : 17),
                        frame->upright ? OCDM__UP_END : OCDM__MIDDLE, "small faint", "%.*s",
                        frame->upright ? UPRIGHT_LIMIT : 40, chart->names[i]);
    }
    for (size_t k = 0; chart->names == NULL && k < line->count; k++) {
        char text[32];
        double x = ocdm__scale_place(&frame->x, line->points[k].x);
        ocdm__tick_text(line->points[k].x, text, sizeof text);
        if (!isfinite(line->points[k].x) || x - last < OCDM__COLUMN * (double)strlen(text) + 8)
            continue;
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        ocdm__draw_text(frame->canvas, x, y + 17, OCDM__MIDDLE, "small faint", "%s", text);
        last = x;
    }
    ocdm__draw_text(frame->canvas, (LEFT + frame->right) / 2, y + (frame->upright ? UPRIGHT_ROOM : 0) + 36, OCDM__MIDDLE, "",
                    "%s", chart->x_what);
}

static void draw_ground(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", chart->y_what, frame->y.is_log ? ", log scale" : "");
    ocdm__draw_grid(frame->canvas, &frame->y, LEFT, frame->right);
    ocdm__draw_text(frame->canvas, 14, (frame->y.from + frame->y.to) / 2, OCDM__UP_MIDDLE, "", "%.100s", what);
    for (size_t i = 0; i < chart->section_count; i++) {
        const char *name = chart->sections[i].name;
        double end = i + 1 < chart->section_count ? chart->sections[i + 1].from : frame->x.high;
        double from = ocdm__scale_place(&frame->x, chart->sections[i].from), to = ocdm__scale_place(&frame->x, end);
        if (i > 0)
            ocdm__draw_rule(frame->canvas, "change", from, TOP - 4, from, frame->bottom);
        if (to - from > OCDM__COLUMN * (double)strlen(name))
            ocdm__draw_text(frame->canvas, (from + to) / 2, TOP - 10, OCDM__MIDDLE, "small faint", "%s", name);
    }
    if (chart->kind == OCDM__CHART_DOTS)
        draw_points_axis(frame);
    else
        ocdm__draw_x_axis(frame->canvas, &frame->x, frame->bottom, chart->x_what);
    if (!ocdm__canvas_is_page(frame->canvas))
        return;
    /* The field that the pointer reads values in: how places are numbers along x, and what those are. */
    ocdm__put_markup(
        out, "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" data-x=\"%.6g %.6g\" data-what=\"%.60s",
        LEFT, TOP, frame->right - LEFT, frame->bottom - TOP, frame->x.low, frame->x.high, chart->x_what);
    for (size_t i = 0; i < chart->name_count; i++) {
        ocdm__output_text(out, i == 0 ? "\" data-names=\"" : "|");
        ocdm__put_plain(out, chart->names[i], 40);
    }
    ocdm__output_text(out, "\"/>\n");
}

/* ---- a line ------------------------------------------------------------------------------------------------------------- */

static void put_place(const struct frame *frame, double x, double y)
{
    ocdm__put_markup(frame->canvas->out, "%-.1f,%-.1f ", ocdm__scale_place(&frame->x, x), ocdm__scale_place(&frame->y, y));
}

/* The end of the range from `k` on in which every point has a y and, for a band, a spread. */
static size_t stretch_end(const struct line *line, size_t k, bool band)
{
    while (k < line->count && isfinite(line->points[k].y) &&
           (!band || (isfinite(line->points[k].low) && isfinite(line->points[k].high))))
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
        ocdm__put_markup(out, "<polygon class=\"band %s\" points=\"", ocdm__fill(line->series->colour).text);
        for (size_t i = k; i < end; i++)
            put_place(frame, line->points[i].x, line->points[i].low);
        for (size_t i = end; i-- > k;)
            put_place(frame, line->points[i].x, line->points[i].high);
        ocdm__output_text(out, "\"/>\n");
    }
    ocdm__output_text(out, "</g>\n");
}

/* A point: a circle for a method, a shape of its own for every line in ink. */
static void begin_point(ocdm__output *out, unsigned colour, double x, double y)
{
    static const char *const shapes[OCDM__DASHES] = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-4 -4h8v8h-8z", "m0 -5l5 9h-10z",
                                                     "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z", "m0 5l5 -9h-10z"};
    ocdm__put_markup(out, "<path class=\"dot %s\" d=\"M%.1f %.1f%s\">", ocdm__fill(colour).text, x, y,
                     shapes[colour >= OCDM__INK(0) ? ocdm__dash_of(colour) : 0]);
}

/* A line, with its points where there are few. In a page a line with a name has its numbers for the script, x and y in turn. */
static void draw_line(const struct frame *frame, const struct line *line)
{
    ocdm__output *out = frame->canvas->out;
    const ocdm__series *series = line->series;
    ocdm__output_text(out, "<g");
    ocdm__put_mark(frame->canvas, series->mark);
    if (ocdm__canvas_is_page(frame->canvas) && !line->behind) {
        ocdm__put_markup(out, " data-label=\"%.*s\" data-p=\"", LABEL_LIMIT, series->label);
        for (size_t k = 0; k < line->count; k++)
            if (isfinite(line->points[k].x) && isfinite(line->points[k].y))
                ocdm__put_markup(out, "%.7g %.4g ", line->points[k].x, line->points[k].y);
        ocdm__output_text(out, "\"");
    }
    ocdm__output_text(out, ">\n");
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, false);
        if (end < k + 2)
            continue;
        ocdm__put_markup(out, "<polyline class=\"%s %s\" points=\"", line->behind ? "raw" : "line",
                         ocdm__stroke(series->colour, !line->behind).text);
        for (size_t i = k; i < end; i++)
            put_place(frame, line->points[i].x, line->points[i].y);
        ocdm__put_markup(out, "\"><title>%.*s</title></polyline>\n", LABEL_LIMIT, series->label);
    }
    for (size_t k = 0; frame->chart->kind == OCDM__CHART_DOTS && k < line->count; k++) {
        const struct point *point = &line->points[k];
        double x = ocdm__scale_place(&frame->x, point->x);
        if (!isfinite(point->y))
            continue;
        if (isfinite(point->low) && isfinite(point->high))
            ocdm__put_markup(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", ocdm__stroke(series->colour, false).text, x,
                             ocdm__scale_place(&frame->y, point->low), ocdm__scale_place(&frame->y, point->high));
        begin_point(out, series->colour, x, ocdm__scale_place(&frame->y, point->y));
        ocdm__put_markup(out, "<title>%.*s: %.4g</title></path>\n", LABEL_LIMIT, series->label, point->y);
    }
    ocdm__output_text(out, "</g>\n");
}

/* A hollow diamond, or a square for a point of the line itself. */
static void begin_mark(ocdm__output *out, const char *class, bool is_point, double x, double y)
{
    ocdm__put_markup(out, "<path class=\"%s\" d=\"M%.1f %.1f%s\">", class, is_point ? x - 5 : x, is_point ? y - 5 : y - 6,
                     is_point ? "h10v10h-10z" : "l6 6l-6 6l-6 -6z");
}

/* A value to compare with is next to the point, which would hide it where the two agree; with points it is a point too. What
 * each kind of mark is stands above the names of the lines. */
static void draw_marks(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    const char *const names[2] = {chart->mark_what, chart->point_what};
    for (size_t i = 0; i < chart->mark_count; i++) {
        const ocdm__chart_mark *mark = &chart->marks[i];
        char class[32];
        double x = ocdm__scale_place(&frame->x, mark->x), y = ocdm__scale_place(&frame->y, mark->y);
        snprintf(class, sizeof class, "line %s", ocdm__stroke(mark->colour, false).text);
        begin_mark(out, class, mark->is_point, chart->point_what != NULL ? x : x - 12, y);
        ocdm__put_markup(out, "<title>%s: %.4g</title></path>\n", names[mark->is_point], mark->y);
    }
    for (int is_point = 0; is_point < 2 && chart->mark_count > 0; is_point++) {
        double y = TOP - (is_point != 0 ? 2 : 18);
        if (names[is_point] == NULL)
            continue;
        begin_mark(out, "mark", is_point != 0, frame->right + 17, y);
        ocdm__output_text(out, "</path>\n");
        ocdm__draw_text(frame->canvas, frame->right + 29, y + 4, OCDM__START, "small", "%s", names[is_point]);
    }
}

/* ---- names at the ends -------------------------------------------------------------------------------------------------- */

struct end {
    const ocdm__series *series;
    double x, y;  /* of the last point */
    double place; /* where the name goes */
};

/* Names move down until none overlaps the one above it, then up from the bottom. Too many names for the height are distributed
 * evenly. */
static void draw_ends(const struct frame *frame, struct end *ends)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->line_count; i++) { /* from top to bottom */
        const struct line *line = &frame->lines[i];
        size_t last = line->count, place = count;
        while (last > 0 && !isfinite(line->points[last - 1].y))
            last--;
        if (last == 0 || line->behind)
            continue;
        double x = ocdm__scale_place(&frame->x, line->points[last - 1].x);
        double y = ocdm__scale_place(&frame->y, line->points[last - 1].y);
        for (count++; place > 0 && y < ends[place - 1].y; place--)
            ends[place] = ends[place - 1];
        ends[place] = (struct end){line->series, x, y, y};
    }
    double bottom = frame->bottom, pitch = LABEL_PITCH, room = bottom - TOP + LABEL_PITCH;
    pitch = pitch * (double)count > room ? room / (double)count : pitch;
    for (size_t i = 1; i < count; i++)
        if (ends[i].place < ends[i - 1].place + pitch)
            ends[i].place = ends[i - 1].place + pitch;
    for (size_t i = count; i-- > 0; bottom -= pitch) {
        if (ends[i].place <= bottom)
            bottom = ends[i].place;
        ends[i].place = bottom;
    }
    for (const struct end *end = ends; end < ends + count; end++) {
        ocdm__mark_begin(frame->canvas, end->series->mark, 0);
        ocdm__draw_rule(frame->canvas, "lead", end->x + 3, end->y, frame->right + 10, end->place);
        ocdm__put_markup(frame->canvas->out, "<path class=\"line %s\" d=\"M%.1f %.1fh14\"/>\n",
                         ocdm__stroke(end->series->colour, true).text, frame->right + 10, end->place);
        ocdm__draw_text(frame->canvas, frame->right + 29, end->place + 4, OCDM__START, "name", "%.*s", LABEL_LIMIT,
                        end->series->label);
        ocdm__output_text(frame->canvas->out, "</g>\n");
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
        if (series->mark != NULL && series->colour < OCDM__INK(0))
            ocdm__put_markup(out, " data-legend=\"%.*s\"", OCDM__MARK_LIMIT, series->mark);
        ocdm__put_markup(out,
                         "><svg class=\"key long-key\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line %s\" "
                         "d=\"M1 6h24\"/>",
                         ocdm__stroke(series->colour, true).text);
        if (chart->kind == OCDM__CHART_DOTS) {
            begin_point(out, series->colour, 13, 6);
            ocdm__output_text(out, "</path>");
        }
        ocdm__put_markup(out, "</svg>%-.*s</li>\n", LABEL_LIMIT, series->label);
    }
    ocdm__output_text(out, "</ul>\n");
}

/* Without numbers only the background is drawn. */
void ocdm__lines_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena)
{
    struct frame frame = {.chart = chart, .canvas = canvas};
    collect_lines(&frame, arena);
    struct end *ends = ocdm__arena_new(arena, frame.line_count, sizeof *ends);
    if (arena->failed)
        return;
    bool any = plan_frame(&frame);
    if (ocdm__canvas_is_page(canvas))
        put_legend(chart, canvas->out);
    ocdm__picture_begin(canvas, frame.bottom + BOTTOM + (frame.upright ? UPRIGHT_ROOM : 0), false);
    if (any) {
        draw_ground(&frame);
        for (size_t i = 0; chart->kind == OCDM__CHART_LINES && i < frame.line_count; i++)
            draw_band(&frame, &frame.lines[i]);
        for (size_t i = 0; i < frame.line_count; i++)
            draw_line(&frame, &frame.lines[i]);
        draw_marks(&frame);
        draw_ends(&frame, ends);
    }
    ocdm__output_text(canvas->out, "</svg>\n");
}
