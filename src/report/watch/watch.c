/* Follows a log line by line and draws what it says. The state has a fixed size, so a run of any length is watched in constant
 * memory. */
#include "report/watch/watch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "base/terminal.h"
#include "experiment/loop/settings.h"
#include "metrics/metrics.h"
#include "report/text.h"

/* Points of history; when they are full, every second one is dropped. */
#define OCDM__WATCH_HISTORY 1024u
#define OCDM__WATCH_CLASSES 4096u
#define OCDM__WATCH_EVALUATIONS 256u

struct ocdm__watch {
    char method[40], stream[80];
    double seed, memory, train, batch, epochs;
    double step, task, loss, distance, kept, seconds;
    double history_step[OCDM__WATCH_HISTORY], history_loss[OCDM__WATCH_HISTORY], history_distance[OCDM__WATCH_HISTORY];
    size_t history_count;
    size_t every, passed; /* one of `every` logged steps is remembered */
    double counts[OCDM__WATCH_CLASSES];
    size_t count_count; /* classes; 0 while none were logged */
    double evaluation_step[OCDM__WATCH_EVALUATIONS], evaluation_task[OCDM__WATCH_EVALUATIONS],
        evaluation_map[OCDM__WATCH_EVALUATIONS], evaluation_distance[OCDM__WATCH_EVALUATIONS];
    size_t evaluation_count;
    bool started, ended;
};

void ocdm__watch_forget(ocdm__watch *watch)
{
    *watch = (ocdm__watch){.every = 1, .seed = NAN, .memory = NAN, .train = NAN, .batch = NAN, .loss = NAN, .distance = NAN};
}

ocdm_status ocdm__watch_create(ocdm__watch **watch, ocdm_error *error)
{
    ocdm__watch *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "a watch");
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
    return watch->step;
}

static double number(const ocdm__json_node *line, const char *path)
{
    return ocdm__json_number(ocdm__json_find(line, path));
}

/* Entries after the resumed step were not saved; the run repeats those steps. */
static void cut_back(ocdm__watch *watch, double step)
{
    while (watch->history_count > 0 && watch->history_step[watch->history_count - 1] > step)
        watch->history_count--;
    while (watch->evaluation_count > 0 && watch->evaluation_step[watch->evaluation_count - 1] > step)
        watch->evaluation_count--;
    watch->step = step;
    watch->ended = false;
}

static void take_start(ocdm__watch *watch, const ocdm__json_node *line)
{
    double resumed = number(line, "resumed");
    if (!isnan(resumed))
        cut_back(watch, resumed);
    snprintf(watch->method, sizeof watch->method, "%s", ocdm__json_text(ocdm__json_find(line, "settings.method"), "?"));
    snprintf(watch->stream, sizeof watch->stream, "%s", ocdm__json_text(ocdm__json_find(line, "stream.file"), "a stream"));
    watch->seed = number(line, "settings.seed");
    watch->memory = number(line, "settings.memory");
    watch->batch = number(line, "settings.batch");
    watch->train = number(line, "stream.train");
    watch->started = true;
}

static void take_counts(ocdm__watch *watch, const ocdm__json_node *list)
{
    if (list == NULL || list->kind != OCDM__JSON_ARRAY)
        return;
    watch->count_count = 0;
    for (const ocdm__json_node *node = list->first; node != NULL && watch->count_count < OCDM__WATCH_CLASSES; node = node->next)
        watch->counts[watch->count_count++] = ocdm__json_number(node);
}

/* When the history is full, every second point is dropped, and from then on only every second one is recorded. */
static void remember(ocdm__watch *watch)
{
    if (watch->passed++ % watch->every != 0)
        return;
    if (watch->history_count == OCDM__WATCH_HISTORY) {
        for (size_t i = 0; 2 * i < watch->history_count; i++) {
            watch->history_step[i] = watch->history_step[2 * i];
            watch->history_loss[i] = watch->history_loss[2 * i];
            watch->history_distance[i] = watch->history_distance[2 * i];
        }
        watch->history_count /= 2;
        watch->every *= 2;
    }
    watch->history_step[watch->history_count] = watch->step;
    watch->history_loss[watch->history_count] = watch->loss;
    watch->history_distance[watch->history_count++] = watch->distance;
}

static void take_step(ocdm__watch *watch, const ocdm__json_node *line)
{
    watch->step = number(line, "step");
    watch->task = number(line, "task");
    watch->loss = number(line, "loss");
    watch->distance = number(line, "distance_seen");
    watch->kept = number(line, "kept");
    watch->seconds = number(line, "seconds");
    take_counts(watch, ocdm__json_find(line, "counts"));
    remember(watch);
}

static void take_evaluation(ocdm__watch *watch, const ocdm__json_node *line)
{
    if (watch->evaluation_count == OCDM__WATCH_EVALUATIONS) {
        watch->evaluation_count--;
        memmove(watch->evaluation_step, watch->evaluation_step + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_task, watch->evaluation_task + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_map, watch->evaluation_map + 1, watch->evaluation_count * sizeof(double));
        memmove(watch->evaluation_distance, watch->evaluation_distance + 1, watch->evaluation_count * sizeof(double));
    }
    watch->evaluation_step[watch->evaluation_count] = number(line, "step");
    watch->evaluation_task[watch->evaluation_count] = number(line, "task");
    watch->evaluation_map[watch->evaluation_count] = number(line, "total." OCDM__MAP_NAME);
    watch->evaluation_distance[watch->evaluation_count++] = number(line, "distance_seen");
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

/* The value of a column of a sparkline: the last of its points, or its logarithm. */
static double column_value(const double *values, size_t count, unsigned column, unsigned columns, bool is_log)
{
    size_t points = count < columns ? count : columns;
    if (column >= points)
        return NAN;
    double value = values[(column + 1) * count / points - 1];
    return is_log ? (value > 0 ? log10(value > 1e-6 ? value : 1e-6) : NAN) : value;
}

/* Where a value is between two others, 0 to 1. The range of the largest numbers would be infinite, so they are halved. */
static double share_of(double value, double low, double high)
{
    double scale = isfinite(high - low) ? 1 : 0.5;
    return high > low ? (scale * value - scale * low) / (scale * high - scale * low) : 0;
}

static void put_sparkline(ocdm__output *out, const ocdm__watch_look *look, const double *values, size_t count, bool is_log)
{
    unsigned columns = columns_of(look);
    double low = INFINITY, high = -INFINITY;
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(values, count, i, columns, is_log);
        low = isfinite(value) && value < low ? value : low;
        high = isfinite(value) && value > high ? value : high;
    }
    for (unsigned i = 0; i < columns; i++) {
        double value = column_value(values, count, i, columns, is_log);
        if (!isfinite(value)) {
            if (i < count)
                ocdm__output_text(out, " ");
            continue;
        }
        ocdm__output_text(out, bars_of(look)->glyphs[1 + (unsigned)(share_of(value, low, high) * 7 + 0.5)]);
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

/* The approximate number of steps of the run: the last batch of each task may be short. Unknown for multitask, which
 * repeats all samples. */
static double steps_of(const ocdm__watch *watch)
{
    return ocdm__is_upper_bound(watch->method) ? NAN : ceil(watch->train / watch->batch);
}

/* Appends to a text of `room` bytes of which `used` are; returns how many are then. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static size_t
append(char *text, size_t used, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added = used < room ? vsnprintf(text + used, room - used, format, arguments) : 0;
    va_end(arguments);
    return used + (size_t)(added > 0 ? added : 0);
}

/* What matters most comes first: the line fits 80 columns but for very long runs. */
static void put_progress(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[300], left[OCDM__DURATION];
    double steps = steps_of(watch), rate = watch->seconds > 0 ? watch->step / watch->seconds : NAN;
    size_t used = append(text, 0, sizeof text, "step %.0f", watch->step);
    if (steps > 0 && !watch->ended) {
        double share = watch->step / steps < 1 ? watch->step / steps : 1;
        used = append(text, used, sizeof text, " of about %.0f (%.0f %%)", steps, 100 * share);
    }
    ocdm__duration((steps - watch->step) / rate, left);
    if (watch->ended)
        used = append(text, used, sizeof text, ", ended");
    else if (rate > 0 && steps > watch->step)
        used = append(text, used, sizeof text, ", %s left", left);
    if (rate > 0)
        used = append(text, used, sizeof text, ", %.3g steps/s", rate);
    append(text, used, sizeof text, ", task %.0f", watch->task);
    put_cut(out, text, look->width);
}

/* ---- classes in memory -------------------------------------------------------------------------------------------------- */

/* What a bar of the full height stands for. */
static void put_highest(ocdm__output *out, double highest)
{
    char text[SIDE + 1];
    snprintf(text, sizeof text, "classes  %.0f samples", highest);
    ocdm__put(out, "%-*s", SIDE, text);
}

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
        if (row == ROWS - 1)
            put_highest(out, highest);
        else
            ocdm__put(out, "%*s", SIDE, "");
        ocdm__bars_row(out, &bars, row);
    }
    return ROWS;
}

static size_t evaluation_text(const ocdm__watch *watch, size_t i, char *text, size_t room)
{
    const char *format = isnan(watch->evaluation_map[i]) ? "  task %.0f: none" : "  task %.0f: %.1f %%";
    return (size_t)snprintf(text, room, format, watch->evaluation_task[i], watch->evaluation_map[i]);
}

/* The newest that fit the line. */
static void put_evaluations(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[64];
    size_t first = watch->evaluation_count, used = strlen(OCDM__MAP_NAME);
    for (; first > 0; first--) {
        used += evaluation_text(watch, first - 1, text, sizeof text);
        if (used > look->width)
            break;
    }
    ocdm__output_text(out, OCDM__MAP_NAME);
    for (size_t i = first; i < watch->evaluation_count; i++) {
        evaluation_text(watch, i, text, sizeof text);
        ocdm__output_text(out, text);
    }
    ocdm__output_text(out, "\n");
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
        ocdm__put(out, "ended after %.0f steps\n", watch->step);
    else if (event == OCDM__WATCH_STEP) {
        ocdm__put(out, "step %.0f, task %.0f", watch->step, watch->task);
        put_pair(out, "loss", watch->loss, "");
        put_pair(out, "distance", watch->distance, "");
        put_pair(out, "kept", watch->kept, " samples");
        put_pair(out, "time", watch->seconds, " s");
        ocdm__output_text(out, "\n");
    } else if (event == OCDM__WATCH_EVALUATION && watch->evaluation_count > 0) {
        size_t last = watch->evaluation_count - 1;
        ocdm__put(out, "evaluation at step %.0f, after task %.0f", watch->evaluation_step[last], watch->evaluation_task[last]);
        put_pair(out, OCDM__MAP_NAME, watch->evaluation_map[last], " %");
        put_pair(out, "distance", watch->evaluation_distance[last], "");
        ocdm__output_text(out, "\n");
    }
}
