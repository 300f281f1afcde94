/* Follows a log line by line and draws what it says. The state has a fixed size, so a run of any length is watched in constant
 * memory. */
#include "report/watch/watch.h"

#include "base/json_tree.h"
#include "base/text.h"
#include "base/terminal.h"
#include "experiment/loop/settings.h"
#include "metrics/metrics.h"
#include "report/text.h"

void ocdm__watch_forget(ocdm__watch *watch)
{
    *watch = (ocdm__watch){
        .every = 1, .seed = NAN, .memory = NAN, .train = NAN, .batch = NAN, .last = {.value = NAN, .distance = NAN}};
}

/* ---- lines of the log --------------------------------------------------------------------------------------------------- */

static double number(const ocdm__json_node *line, const char *path)
{
    return ocdm__json_number(ocdm__json_find(line, path));
}

static struct ocdm__moment moment_of(const ocdm__json_node *line, const char *value)
{
    return (struct ocdm__moment){number(line, "step"), number(line, "task"), number(line, value),
                                 number(line, "distance_seen")};
}

/* After a resume, entries beyond the resumed step are gone: they were not saved, and the run repeats those steps. */
static void take_start(ocdm__watch *watch, const ocdm__json_node *line)
{
    double resumed = number(line, "resumed");
    if (!isnan(resumed)) {
        while (watch->step_count > 0 && watch->steps[watch->step_count - 1].step > resumed)
            watch->step_count--;
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

/* When the history is full, every second step is dropped, and from then on only every second one is recorded. */
static void take_step(ocdm__watch *watch, const ocdm__json_node *line)
{
    const ocdm__json_node *counts = ocdm__json_find(line, "counts");
    watch->last = moment_of(line, "loss");
    watch->kept = number(line, "kept");
    watch->seconds = number(line, "seconds");
    if (counts != NULL && counts->kind == OCDM__JSON_ARRAY) {
        watch->count_count = 0;
        for (const ocdm__json_node *node = counts->first; node != NULL && watch->count_count < OCDM__WATCHED_CLASSES;
             node = node->next)
            watch->counts[watch->count_count++] = ocdm__json_number(node);
    }
    if (watch->passed++ % watch->every != 0)
        return;
    if (watch->step_count == OCDM__WATCHED_STEPS) {
        for (size_t i = 0; 2 * i < watch->step_count; i++)
            watch->steps[i] = watch->steps[2 * i];
        watch->step_count /= 2;
        watch->every *= 2;
    }
    watch->steps[watch->step_count++] = watch->last;
}

enum ocdm__watch_event ocdm__watch_line(ocdm__watch *watch, const char *line, size_t length)
{
    static const char *const types[] = {"", "start", "step", "evaluation", "end"};
    ocdm__json_tree tree = {.root = NULL};
    unsigned event = OCDM__WATCH_END;
    if (ocdm__json_tree_parse(&tree, "", line, length, NULL) != OCDM_OK)
        return OCDM__WATCH_OTHER;
    const char *type = ocdm__json_text(ocdm__json_find(tree.root, "type"), "");
    while (event > OCDM__WATCH_OTHER && strcmp(type, types[event]) != 0)
        event--;
    watch->ended = watch->ended || event == OCDM__WATCH_END;
    if (event == OCDM__WATCH_START)
        take_start(watch, tree.root);
    else if (event == OCDM__WATCH_STEP)
        take_step(watch, tree.root);
    if (event == OCDM__WATCH_EVALUATION && watch->evaluation_count == OCDM__WATCHED_EVALUATIONS)
        memmove(watch->evaluations, watch->evaluations + 1, --watch->evaluation_count * sizeof *watch->evaluations);
    if (event == OCDM__WATCH_EVALUATION)
        watch->evaluations[watch->evaluation_count++] = moment_of(tree.root, "total." OCDM__MAP_NAME);
    ocdm__json_tree_clear(&tree);
    return (enum ocdm__watch_event)event;
}

/* ---- sparklines --------------------------------------------------------------------------------------------------------- */

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

/* Where a value is between two others, 0 to 1. The range of the largest numbers would be infinite, so they are halved. */
static double share_of(double value, double low, double high)
{
    double scale = isfinite(high - low) ? 1 : 0.5;
    return high > low ? (scale * value - scale * low) / (scale * high - scale * low) : 0;
}

/* The last value, and a column for the last of every few steps: of the loss, or of the distance's logarithm. */
static void put_sparkline(const ocdm__watch *watch, bool of_distance, ocdm__output *out, const ocdm__watch_look *look)
{
    double values[MOST_COLUMNS], low = INFINITY, high = -INFINITY,
                                 last = of_distance ? watch->last.distance : watch->last.value;
    size_t columns = watch->step_count < columns_of(look) ? watch->step_count : columns_of(look);
    char side[SIDE + 24], shown[32];
    snprintf(shown, sizeof shown, isnan(last) ? "none" : fabs(last) < 0.01 ? "%.5f" : "%.4f", last);
    snprintf(side, sizeof side, "%-9s %9s  ", of_distance ? "distance" : "loss", shown);
    ocdm__put(out, "%-*.*s", SIDE, SIDE, side);
    for (size_t i = 0; i < columns; i++) {
        const struct ocdm__moment *step = &watch->steps[(i + 1) * watch->step_count / columns - 1];
        values[i] = !of_distance ? step->value : step->distance > 0 ? log10(fmax(step->distance, 1e-6)) : NAN;
        low = isfinite(values[i]) && values[i] < low ? values[i] : low;
        high = isfinite(values[i]) && values[i] > high ? values[i] : high;
    }
    for (size_t i = 0; i < columns; i++)
        ocdm__output_text(
            out, isfinite(values[i]) ? bars_of(look)->glyphs[1 + (unsigned)(share_of(values[i], low, high) * 7 + 0.5)] : " ");
    ocdm__output_text(out, "\n");
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

void ocdm__watch_put_line(ocdm__output *out, const char *text, unsigned width)
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
    ocdm__watch_put_line(out, watch->started ? text : "waiting for the first line of the log", look->width);
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

size_t ocdm__watch_draw(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    size_t lines = 2;
    put_header(watch, out, look);
    /* What matters most comes first: the line fits 80 columns but for very long runs. The number of steps is approximate, since
     * the last batch of each task may be short; it is unknown for multitask, which repeats all samples. */
    char text[400], left[OCDM__DURATION];
    double step = watch->last.step, rate = watch->seconds > 0 ? step / watch->seconds : NAN;
    double steps = ocdm__is_upper_bound(watch->method) ? NAN : ceil(watch->train / watch->batch);
    ocdm__duration((steps - step) / rate, left);
    snprintf(text, sizeof text, "step %.0f", step);
    if (steps > 0 && !watch->ended)
        ocdm__append(text, sizeof text, " of about %.0f (%.0f %%)", steps, 100 * fmin(step / steps, 1));
    if (watch->ended)
        ocdm__append(text, sizeof text, ", ended");
    else if (rate > 0 && steps > step)
        ocdm__append(text, sizeof text, ", %s left", left);
    if (rate > 0)
        ocdm__append(text, sizeof text, ", %.3g steps/s", rate);
    ocdm__append(text, sizeof text, ", task %.0f", watch->last.task);
    ocdm__watch_put_line(out, text, look->width);
    if (watch->step_count > 0) {
        put_sparkline(watch, false, out, look);
        put_sparkline(watch, true, out, look);
        lines += 2;
    }
    lines += put_bars(watch, out, look);
    if (watch->evaluation_count > 0) {
        /* The newest evaluations that fit the line. */
        char shown[OCDM__WATCHED_EVALUATIONS][64];
        size_t first = watch->evaluation_count, used = strlen(OCDM__MAP_NAME);
        for (; first > 0 && used <= look->width; first--) {
            const struct ocdm__moment *moment = &watch->evaluations[first - 1];
            used += (size_t)snprintf(shown[first - 1], sizeof *shown,
                                     isnan(moment->value) ? "  task %.0f: none" : "  task %.0f: %.1f %%", moment->task,
                                     moment->value);
        }
        first += used > look->width;
        ocdm__output_text(out, OCDM__MAP_NAME);
        for (size_t i = first; i < watch->evaluation_count; i++)
            ocdm__output_text(out, shown[i]);
        ocdm__output_text(out, "\n");
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
    bool is_step = event == OCDM__WATCH_STEP;
    if (event == OCDM__WATCH_START)
        put_header(watch, out, &(ocdm__watch_look){.width = 400});
    else if (event == OCDM__WATCH_END)
        ocdm__put(out, "ended after %.0f steps\n", watch->last.step);
    else if (is_step || (event == OCDM__WATCH_EVALUATION && watch->evaluation_count > 0)) {
        const struct ocdm__moment *last = is_step ? &watch->last : &watch->evaluations[watch->evaluation_count - 1];
        ocdm__put(out, is_step ? "step %.0f, task %.0f" : "evaluation at step %.0f, after task %.0f", last->step, last->task);
        put_pair(out, is_step ? "loss" : OCDM__MAP_NAME, last->value, is_step ? "" : " %");
        put_pair(out, "distance", last->distance, "");
        put_pair(out, "kept", is_step ? watch->kept : NAN, " samples");
        put_pair(out, "time", is_step ? watch->seconds : NAN, " s");
        ocdm__output_text(out, "\n");
    }
}
