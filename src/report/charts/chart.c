/* Charts: their parts, and numbers by series and x. */
#include "report/charts/chart.h"

#include "metrics/metrics.h"

/* ---- parts -------------------------------------------------------------------------------------------------------------- */

/* Makes room for one more; false, and the table has failed, if an allocation fails. */
static bool grow(ocdm__chart *chart, void *array, size_t *room, size_t count, size_t size)
{
    if (!ocdm__reserve(array, room, count + 1, size))
        chart->table.texts.failed = true;
    return !chart->table.texts.failed;
}

ocdm__series *ocdm__chart_add_series(ocdm__chart *chart, const char *label, const char *mark, unsigned colour)
{
    bool fits = grow(chart, &chart->series, &chart->series_room, chart->series_count, sizeof *chart->series);
    ocdm__series *series = fits ? &chart->series[chart->series_count++] : &chart->spare;
    *series = (ocdm__series){.label = label, .mark = mark, .colour = colour};
    return series;
}

void ocdm__chart_add_bar(ocdm__chart *chart, const char *name, unsigned kind)
{
    if (grow(chart, &chart->bars, &chart->bar_room, chart->bar_count, sizeof *chart->bars))
        chart->bars[chart->bar_count++] = (ocdm__chart_bar){name, kind};
}

void ocdm__chart_add_section(ocdm__chart *chart, double from, const char *name)
{
    if (!grow(chart, &chart->sections, &chart->section_room, chart->section_count, sizeof *chart->sections))
        return;
    ocdm__chart_section *section = &chart->sections[chart->section_count++];
    section->from = from;
    snprintf(section->name, sizeof section->name, "%s", name);
}

void ocdm__chart_add_mark(ocdm__chart *chart, ocdm__chart_mark mark)
{
    if (grow(chart, &chart->marks, &chart->mark_room, chart->mark_count, sizeof *chart->marks))
        chart->marks[chart->mark_count++] = mark;
}

void ocdm__chart_add_name(ocdm__chart *chart, const char *name)
{
    if (grow(chart, &chart->names, &chart->name_room, chart->name_count, sizeof *chart->names))
        snprintf(chart->names[chart->name_count++], sizeof *chart->names, "%s", name);
}

void ocdm__chart_add_class(ocdm__chart *chart, const char *name, const char *group, size_t turn, double task)
{
    unsigned kind = 0;
    while (kind < OCDM__BAR_MIXED && strcmp(group, ocdm__paper_groups[kind]) != 0)
        kind++;
    if (chart->section_count == 0 || chart->last_turn != turn) {
        char text[40] = "";
        if (!isnan(task))
            ocdm__task_text(task, text, sizeof text);
        ocdm__chart_add_section(chart, (double)chart->bar_count, text);
    }
    chart->last_turn = turn;
    ocdm__chart_add_bar(chart, name, kind);
}

void ocdm__chart_clear(ocdm__chart *chart)
{
    OCDM_RELEASE(chart->series, chart->bars, chart->sections, chart->marks, chart->names);
    ocdm__table_clear(&chart->table);
    *chart = (ocdm__chart){.x = NULL};
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

size_t ocdm__chart_series_of(const ocdm__chart *chart, size_t row)
{
    double series = ocdm__table_number(&chart->table, row, 0);
    return series >= 0 && series < (double)chart->series_count ? (size_t)series : OCDM__NO_SERIES;
}

bool ocdm__chart_has_numbers(const ocdm__chart *chart)
{
    bool shows_0 = chart->kind != OCDM__CHART_BARS && chart->kind != OCDM__CHART_STACKS;
    size_t y = chart->series_count > 0 ? ocdm__table_column(&chart->table, chart->y) : 0;
    for (size_t row = 0; y > 0 && row < chart->table.row_count; row++) {
        double value = ocdm__table_number(&chart->table, row, y);
        if (ocdm__chart_series_of(chart, row) != OCDM__NO_SERIES && (shows_0 ? !isnan(value) : value > 0))
            return true;
    }
    return false;
}

double *ocdm__chart_values(ocdm__arena *arena, const ocdm__chart *chart, const char *key, size_t count)
{
    size_t x_column = ocdm__table_column(&chart->table, chart->x), column = ocdm__table_column(&chart->table, key);
    double *sums = ocdm__arena_new(arena, chart->series_count, 2 * count * sizeof *sums);
    double *rows = sums != NULL ? sums + chart->series_count * count : NULL;
    for (size_t row = 0; sums != NULL && row < chart->table.row_count; row++) {
        size_t series = ocdm__chart_series_of(chart, row);
        double x = ocdm__table_number(&chart->table, row, x_column);
        if (series == OCDM__NO_SERIES || !(x >= 0 && x < (double)count))
            continue;
        sums[series * count + (size_t)x] += ocdm__table_number(&chart->table, row, column);
        rows[series * count + (size_t)x]++;
    }
    for (size_t i = 0; sums != NULL && i < chart->series_count * count; i++)
        sums[i] /= rows[i]; /* 0 / 0 where there is no row */
    return sums;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    static ocdm__chart_drawer *const draw[] = {
        [OCDM__CHART_LINES] = ocdm__lines_draw, [OCDM__CHART_DOTS] = ocdm__lines_draw,
        [OCDM__CHART_BARS] = ocdm__bars_draw,   [OCDM__CHART_MATRIX] = ocdm__matrix_draw,
        [OCDM__CHART_ROWS] = ocdm__rows_draw,   [OCDM__CHART_STACKS] = ocdm__stacks_draw,
    };
    ocdm__arena arena = {.last = NULL};
    OCDM_TRY(ocdm__table_check(&chart->table, error));
    draw[chart->kind](chart, canvas, &arena);
    ocdm_status status = ocdm__arena_check(&arena, "a chart", error);
    ocdm__arena_clear(&arena);
    return status;
}
