/* Follows a log line by line and draws what it says. The state has a fixed size, so a run of any length is watched in constant
 * memory. */
#include "report/watch/watch.h"

#include "base/json_tree.h"
#include "base/text.h"
#include "base/terminal.h"
#include "experiment/loop/settings.h"
#include "metrics/metrics.h"
#include "report/text.h"

/* Points of history; when they are full, every second one is dropped. */
enum { MOST_POINTS = 1024, MOST_CLASSES = 4096, MOST_EVALUATIONS = 256 };

/* A logged step, and an evaluation. */
struct point {
    double step, task, loss, distance;
};
struct evaluation {
    double step, task, map, distance;
};

struct ocdm__watch {
    char method[40], stream[80];
    double seed, memory, train, batch, kept, seconds;
    struct point last; /* step */
    struct point points[MOST_POINTS];
    size_t point_count;
    size_t every, passed; /* one of `every` logged steps is remembered */
    double counts[MOST_CLASSES];
    size_t count_count; /* classes; 0 while none were logged */
    struct evaluation evaluations[MOST_EVALUATIONS];
    size_t evaluation_count;
    bool started, ended;
};

void ocdm__watch_forget(ocdm__watch *watch)
{
    *watch = (ocdm__watch){
        .every = 1, .seed = NAN, .memory = NAN, .train = NAN, .batch = NAN, .last = {.loss = NAN, .distance = NAN}};
}

ocdm_status ocdm__watch_create(ocdm__watch **watch, ocdm_error *error)
{
    ocdm__watch *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a watch", error));
    ocdm__watch_forget(made);
    *watch = made;
    return OCDM_OK;
}

void ocdm__watch_destroy(ocdm__watch *watch)
{
    ocdm__release(watch);
}

double ocdm__watch_step(const ocdm__watch *watch)
{
    return watch->last.step;
}

static double number(const ocdm__json_node *line, const char *path)
{
    return ocdm__json_number(ocdm__json_find(line, path));
}

/* After a resume, entries beyond the resumed step are gone: they were not saved, and the run repeats those steps. */
static void take_start(ocdm__watch *watch, const ocdm__json_node *line)
{
    double resumed = number(line, "resumed");
    if (!isnan(resumed)) {
        while (watch->point_count > 0 && watch->points[watch->point_count - 1].step > resumed)
            watch->point_count--;
        while (watch->evaluation_count > 0 && watch->evaluations[watch->evaluation_count - 1].step > resumed)
            watch->evaluation_count--;
        watch->last.step = resumed;
        watch->ended = false;
    }
    snprintf(watch->method, sizeof watch->method, "%s", ocdm__json_text(ocdm__json_find(line, "settings.method"), "?"));
    snprintf(watch->stream, sizeof watch->stream, "%s", ocdm__json_text(ocdm__json_find(line, "stream.file"), "a stream"));
    watch->seed = number(line, "settings.seed");
    watch->memory = number(line, "settings.memory");
    watch->batch = number(line, "settings.batch");
    watch->train = number(line, "stream.train");
    watch->started = true;
}

/* When the history is full, every second point is dropped, and from then on only every second one is recorded. */
static void remember(ocdm__watch *watch)
{
    if (watch->passed++ % watch->every != 0)
        return;
    if (watch->point_count == MOST_POINTS) {
        for (size_t i = 0; 2 * i < watch->point_count; i++)
            watch->points[i] = watch->points[2 * i];
        watch->point_count /= 2;
        watch->every *= 2;
    }
    watch->points[watch->point_count++] = watch->last;
}

static void take_step(ocdm__watch *watch, const ocdm__json_node *line)
{
    const ocdm__json_node *counts = ocdm__json_find(line, "counts");
    watch->last =
        (struct point){number(line, "step"), number(line, "task"), number(line, "loss"), number(line, "distance_seen")};
    watch->kept = number(line, "kept");
    watch->seconds = number(line, "seconds");
    if (counts != NULL && counts->kind == OCDM__JSON_ARRAY) {
        watch->count_count = 0;
        for (const ocdm__json_node *node = counts->first; node != NULL && watch->count_count < MOST_CLASSES; node = node->next)
            watch->counts[watch->count_count++] = ocdm__json_number(node);
    }
    remember(watch);
}

static void take_evaluation(ocdm__watch *watch, const ocdm__json_node *line)
{
    if (watch->evaluation_count == MOST_EVALUATIONS)
        memmove(watch->evaluations, watch->evaluations + 1, --watch->evaluation_count * sizeof *watch->evaluations);
    watch->evaluations[watch->evaluation_count++] = (struct evaluation){
        number(line, "step"), number(line, "task"), number(line, "total." OCDM__MAP_NAME), number(line, "distance_seen")};
}

enum ocdm__watch_event ocdm__watch_line(ocdm__watch *watch, const char *line, size_t length)
{
    static const char *const types[] = {"", "start", "step", "evaluation", "end"};
    ocdm__json_tree tree = {.root = NULL};
    enum ocdm__watch_event event = OCDM__WATCH_OTHER;
    if (ocdm__json_tree_parse(&tree, "", line, length, NULL) != OCDM_OK)
        return event;
    const char *type = ocdm__json_text(ocdm__json_find(tree.root, "type"), "");
    for (unsigned i = OCDM__WATCH_START; i <= OCDM__WATCH_END; i++)
        if (strcmp(type, types[i]) == 0)
            event = (enum ocdm__watch_event)i;
    if (event == OCDM__WATCH_START)
        take_start(watch, tree.root);
    else if (event == OCDM__WATCH_STEP)
        take_step(watch, tree.root);
    else if (event == OCDM__WATCH_EVALUATION)
        take_evaluation(watch, tree.root);
    else if (event == OCDM__WATCH_END)
        watch->ended = true;
    ocdm__json_tree_clear(&tree);
    return event;
}

/* The column of names and numbers, left of the sparklines. */
enum { SIDE = 22, ROWS = 4, MOST_COLUMNS = 200 };

static unsigned columns_of(const ocdm__watch_look *look)
{
    unsigned room = look->width > SIDE + 12 ? look->width - SIDE - 1 : 12;
    return room < MOST_COLUMNS ? room : MOST_COLUMNS;
}

static const ocdm__bar_style *bars_of(const ocdm__watch_look *look)
{
    return look->utf8 ? &ocdm__bar_blocks : &ocdm__bar_ascii_fine;
}

/* ---- sparklines --------------------------------------------------------------------------------------------------------- */

/* Points have two numbers that are shown. */
struct curve {
    const ocdm__watch *watch;
    bool distance; /* its logarithm; otherwise the loss */
};

/* The value of a column of a sparkline: the last of its points. */
static double column_value(const struct curve *curve, unsigned column, unsigned columns)
{
    size_t count = curve->watch->point_count, points = count < columns ? count : columns;
    if (column >= points)
        return NAN;
    const struct point *point = &curve->watch->points[(column + 1) * count / points - 1];
    return !curve->distance ? point->loss : point->distance > 0 ? log10(fmax(point->distance, 1e-6)) : NAN;
}

/* Where a value is between two others, 0 to 1. The range of the largest numbers would be infinite, so they are halved. */
static double share_of(double value, double low, double high)
{
    double scale = isfinite(high - low) ? 1 : 0.5;
    return high > low ? (scale * value - scale * low) / (scale * high - scale * low) : 0;
}

static void put_sparkline(ocdm__output *out, const ocdm__watch_look *look, const struct curve *curve)
{
    unsigned columns = columns_of(look);
    double low = INFINITY, high = -INFINITY;
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(curve, i, columns);
        low = isfinite(value) && value < low ? value : low;
        high = isfinite(value) && value > high ? value : high;
    }
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(curve, i, columns);
        if (isfinite(value))
            ocdm__output_text(out, bars_of(look)->glyphs[1 + (unsigned)(share_of(value, low, high) * 7 + 0.5)]);
        else if (i < curve->watch->point_count)
            ocdm__output_text(out, " ");
    }
    ocdm__output_text(out, "\n");
}

static void put_side(ocdm__output *out, const char *name, double value)
{
    char text[SIDE + 8], shown[32];
    snprintf(shown, sizeof shown, isnan(value) ? "none" : fabs(value) < 0.01 ? "%.5f" : "%.4f", value);
    int used = snprintf(text, sizeof text, "%-9s %9s  ", name, shown);
    ocdm__output_write(out, text, (size_t)(used < SIDE ? used : SIDE));
    for (; used < SIDE; used++)
        ocdm__output_text(out, " ");
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

/* At most `width` characters. */
static void put_cut(ocdm__output *out, const char *text, unsigned width)
{
    size_t length = 0;
    for (unsigned columns = 0; text[length] != '\0'; length++) {
        columns += !ocdm__utf8_continues((unsigned char)text[length]);
        if (columns > width)
            break;
    }
    ocdm__output_write(out, text, length);
    ocdm__output_text(out, "\n");
}

static void put_header(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[400];
    ocdm__shown_label method = ocdm__show_label(watch->method, strlen(watch->method));
    ocdm__shown_label stream = ocdm__show_label(watch->stream, strlen(watch->stream));
    snprintf(text, sizeof text, "%s on %s, seed %.0f, memory %.0f of %.0f samples", method.text, stream.text, watch->seed,
             watch->kept, watch->memory);
    put_cut(out, watch->started ? text : "waiting for the first line of the log", look->width);
}

/* What matters most comes first: the line fits 80 columns but for very long runs. The number of steps is approximate, since the
 * last batch of each task may be short; it is unknown for multitask, which repeats all samples. */
static void put_progress(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[400], about[80] = "", left[OCDM__DURATION], rest[OCDM__DURATION + 8] = "", speed[40] = "";
    double step = watch->last.step, rate = watch->seconds > 0 ? step / watch->seconds : NAN;
    double steps = ocdm__is_upper_bound(watch->method) ? NAN : ceil(watch->train / watch->batch);
    ocdm__duration((steps - step) / rate, left);
    if (watch->ended)
        snprintf(rest, sizeof rest, ", ended");
    else if (rate > 0 && steps > step)
        snprintf(rest, sizeof rest, ", %s left", left);
    if (steps > 0 && !watch->ended)
        snprintf(about, sizeof about, " of about %.0f (%.0f %%)", steps, 100 * fmin(step / steps, 1));
    if (rate > 0)
        snprintf(speed, sizeof speed, ", %.3g steps/s", rate);
    snprintf(text, sizeof text, "step %.0f%s%s%s, task %.0f", step, about, rest, speed, watch->last.task);
    put_cut(out, text, look->width);
}

/* ---- classes in memory -------------------------------------------------------------------------------------------------- */

static size_t put_bars(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    if (watch->count_count == 0)
        return 0;
    double height[MOST_COLUMNS], highest = 0;
    size_t merged = (watch->count_count + columns_of(look) - 1) / columns_of(look);
    ocdm__bars bars = {.style = bars_of(look), .height = height, .rows = ROWS, .width = 1};
    bars.count = ocdm__bars_merge(watch->counts, watch->count_count, merged, height);
    for (size_t i = 0; i < bars.count; i++)
        highest = height[i] > highest ? height[i] : highest;
    for (size_t i = 0; i < bars.count; i++)
        height[i] = highest > 0 ? height[i] / highest * ROWS : 0;
    for (unsigned row = ROWS; row-- > 0;) {
        char side[SIDE + 1] = ""; /* what a bar of the full height stands for */
        if (row == ROWS - 1)
            snprintf(side, sizeof side, "classes  %.0f samples", highest);
        ocdm__put(out, "%-*s", SIDE, side);
        ocdm__bars_row(out, &bars, row);
    }
    return ROWS;
}

static size_t evaluation_text(const struct evaluation *evaluation, char *text, size_t room)
{
    const char *format = isnan(evaluation->map) ? "  task %.0f: none" : "  task %.0f: %.1f %%";
    return (size_t)snprintf(text, room, format, evaluation->task, evaluation->map);
}

/* The newest that fit the line. */
static void put_evaluations(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[64];
    size_t first = watch->evaluation_count, used = strlen(OCDM__MAP_NAME);
    for (; first > 0; first--) {
        used += evaluation_text(&watch->evaluations[first - 1], text, sizeof text);
        if (used > look->width)
            break;
    }
    ocdm__output_text(out, OCDM__MAP_NAME);
    for (size_t i = first; i < watch->evaluation_count; i++) {
        evaluation_text(&watch->evaluations[i], text, sizeof text);
        ocdm__output_text(out, text);
    }
    ocdm__output_text(out, "\n");
}

size_t ocdm__watch_draw(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    size_t lines = 2;
    put_header(watch, out, look);
    put_progress(watch, out, look);
    if (watch->point_count > 0) {
        put_side(out, "loss", watch->last.loss);
        put_sparkline(out, look, &(struct curve){watch, false});
        put_side(out, "distance", watch->last.distance);
        put_sparkline(out, look, &(struct curve){watch, true});
        lines += 2;
    }
    lines += put_bars(watch, out, look);
    if (watch->evaluation_count > 0) {
        put_evaluations(watch, out, look);
        lines++;
    }
    return lines;
}

/* ---- plain text --------------------------------------------------------------------------------------------------------- */

static void put_pair(ocdm__output *out, const char *name, double value, const char *unit)
{
    if (!isnan(value))
        ocdm__put(out, ", %s %.5g%s", name, value, unit);
}

void ocdm__watch_tell(const ocdm__watch *watch, enum ocdm__watch_event event, ocdm__output *out)
{
    ocdm__watch_look wide = {.width = 400};
    if (event == OCDM__WATCH_START)
        put_header(watch, out, &wide);
    else if (event == OCDM__WATCH_END)
        ocdm__put(out, "ended after %.0f steps\n", watch->last.step);
    else if (event == OCDM__WATCH_STEP) {
        ocdm__put(out, "step %.0f, task %.0f", watch->last.step, watch->last.task);
        put_pair(out, "loss", watch->last.loss, "");
        put_pair(out, "distance", watch->last.distance, "");
        put_pair(out, "kept", watch->kept, " samples");
        put_pair(out, "time", watch->seconds, " s");
        ocdm__output_text(out, "\n");
    } else if (event == OCDM__WATCH_EVALUATION && watch->evaluation_count > 0) {
        const struct evaluation *last = &watch->evaluations[watch->evaluation_count - 1];
        ocdm__put(out, "evaluation at step %.0f, after task %.0f", last->step, last->task);
        put_pair(out, OCDM__MAP_NAME, last->map, " %");
        put_pair(out, "distance", last->distance, "");
        ocdm__output_text(out, "\n");
    }
}
