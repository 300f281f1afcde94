/* The view of a watch as lines of text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/page/text.h"
#include "report/watch/state.h"

/* The column of names and numbers, left of the sparklines. */
enum { SIDE = 22, ROWS = 4, MOST_COLUMNS = 200 };

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

static unsigned columns_of(const ocdm__watch_look *look)
{
    unsigned room = look->width > SIDE + 12 ? look->width - SIDE - 1 : 12;
    return room < MOST_COLUMNS ? room : MOST_COLUMNS;
}

static const char *glyph(const ocdm__watch_look *look, unsigned level)
{
    return look->utf8 ? blocks[level] : ascii[level];
}

/* ---- sparklines --------------------------------------------------------------------------------------------------------- */

/* The values of a column of the line: the last of its share of the points, as its logarithm where that is asked for. */
static double column_value(const double *values, size_t count, unsigned column, unsigned columns, bool is_log)
{
    size_t points = count < columns ? count : columns;
    if (column >= points)
        return NAN;
    double value = values[(column + 1) * count / points - 1];
    return is_log ? (value > 0 ? log10(value > 1e-6 ? value : 1e-6) : NAN) : value;
}

static void put_sparkline(ocdm__output *out, const ocdm__watch_look *look, const double *values, size_t count, bool is_log)
{
    unsigned columns = columns_of(look);
    double low = INFINITY, high = -INFINITY;
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(values, count, i, columns, is_log);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(values, count, i, columns, is_log);
        if (isnan(value)) {
            if (i < count)
                ocdm__output_text(out, " ");
            continue;
        }
        double share = high > low ? (value - low) / (high - low) : 0;
        ocdm__output_text(out, glyph(look, 1 + (unsigned)(share * 7 + 0.5)));
    }
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

static void put_cut(ocdm__output *out, const char *text, unsigned width)
{
    size_t length = strlen(text);
    ocdm__output_write(out, text, length < width ? length : width);
    ocdm__output_text(out, "\n");
}

static void put_header(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[400];
    ocdm__shown_label method = ocdm__show_label(watch->method, strlen(watch->method));
    ocdm__shown_label stream = ocdm__show_label(watch->stream, strlen(watch->stream));
    snprintf(text, sizeof text, "%s on %s, seed %.0f, memory %.0f", method.text, stream.text, watch->seed, watch->memory);
    put_cut(out, watch->started ? text : "waiting for the first line of the log", look->width);
}

/* The steps of the whole run, nearly: each task's last batch may be short. Not known of multitask, which goes over all again.
 */
static double steps_of(const ocdm__watch *watch)
{
    return strcmp(watch->method, "multitask") == 0 ? NAN : ceil(watch->train / watch->batch);
}

static void put_progress(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[300];
    double steps = steps_of(watch), rate = watch->seconds > 0 ? watch->step / watch->seconds : NAN;
    int used = snprintf(text, sizeof text, "step %.0f", watch->step);
    if (steps > 0 && !watch->ended && (size_t)used < sizeof text) {
        double share = watch->step / steps < 1 ? watch->step / steps : 1;
        used += snprintf(text + used, sizeof text - (size_t)used, " of about %.0f (%.0f %%)", steps, 100 * share);
    }
    if ((size_t)used < sizeof text)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, ", task %.0f, %.0f samples in memory", watch->task, watch->kept);
    if (rate > 0 && (size_t)used < sizeof text)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %.3g steps/s", rate);
    if (rate > 0 && steps > watch->step && !watch->ended && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, ", %.0f s left", (steps - watch->step) / rate);
    else if (watch->ended && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, "; ended");
    put_cut(out, text, look->width);
}

/* ---- classes in memory -------------------------------------------------------------------------------------------------- */

/* The mean of the classes that share a column. */
static double bar_of(const ocdm__watch *watch, size_t column, size_t merged)
{
    double sum = 0;
    size_t count = 0;
    for (size_t c = column * merged; c < (column + 1) * merged && c < watch->count_count; c++, count++)
        sum += watch->counts[c];
    return count > 0 ? sum / (double)count : 0;
}

static size_t put_bars(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    if (watch->count_count == 0)
        return 0;
    size_t merged = (watch->count_count + columns_of(look) - 1) / columns_of(look);
    size_t columns = (watch->count_count + merged - 1) / merged;
    double highest = 0;
    for (size_t i = 0; i < columns; i++)
        highest = bar_of(watch, i, merged) > highest ? bar_of(watch, i, merged) : highest;
    for (unsigned row = ROWS; row-- > 0;) {
        if (row == ROWS - 1)
            put_side(out, "classes", highest);
        else
            ocdm__put(out, "%*s", SIDE, "");
        for (size_t i = 0; i < columns; i++) {
            double eighths = highest > 0 ? bar_of(watch, i, merged) / highest * ROWS * 8 - row * 8.0 : 0;
            ocdm__output_text(out, glyph(look, eighths >= 8 ? 8 : eighths > 0 ? (unsigned)ceil(eighths) : 0));
        }
        ocdm__output_text(out, "\n");
    }
    return ROWS;
}

static void put_evaluations(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[600] = "mAP";
    size_t used = 3, first = watch->evaluation_count > 8 ? watch->evaluation_count - 8 : 0;
    for (size_t i = first; i < watch->evaluation_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 isnan(watch->evaluation_map[i]) ? "  task %.0f: none" : "  task %.0f: %.1f",
                                 watch->evaluation_task[i], watch->evaluation_map[i]);
    put_cut(out, text, look->width);
}

size_t ocdm__watch_draw(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    size_t lines = 2;
    put_header(watch, out, look);
    put_progress(watch, out, look);
    if (watch->history_count > 0) {
        put_side(out, "loss", watch->loss);
        put_sparkline(out, look, watch->history_loss, watch->history_count, false);
        ocdm__output_text(out, "\n");
        put_side(out, "distance", watch->distance);
        put_sparkline(out, look, watch->history_distance, watch->history_count, true);
        ocdm__output_text(out, "\n");
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

static void put_pair(ocdm__output *out, const char *name, double value)
{
    if (!isnan(value))
        ocdm__put(out, ", %s %.5g", name, value);
}

void ocdm__watch_tell(const ocdm__watch *watch, enum ocdm__watch_event event, ocdm__output *out)
{
    ocdm__watch_look wide = {.width = 400};
    if (event == OCDM__WATCH_START)
        put_header(watch, out, &wide);
    else if (event == OCDM__WATCH_END)
        ocdm__put(out, "ended after %.0f steps\n", watch->step);
    else if (event == OCDM__WATCH_STEP) {
        ocdm__put(out, "step %.0f, task %.0f", watch->step, watch->task);
        put_pair(out, "loss", watch->loss);
        put_pair(out, "distance", watch->distance);
        put_pair(out, "kept", watch->kept);
        put_pair(out, "seconds", watch->seconds);
        ocdm__output_text(out, "\n");
    } else if (event == OCDM__WATCH_EVALUATION && watch->evaluation_count > 0) {
        size_t last = watch->evaluation_count - 1;
        ocdm__put(out, "evaluation at step %.0f, after task %.0f", watch->evaluation_step[last], watch->evaluation_task[last]);
        put_pair(out, "mAP", watch->evaluation_map[last]);
        put_pair(out, "distance", watch->evaluation_distance[last]);
        ocdm__output_text(out, "\n");
    }
}
