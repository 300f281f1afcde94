/*
 * A chart: a table of numbers, and how they are drawn. The picture, what the pointer and a screen reader read from it, and the
 * CSV file follow from the table.
 *
 *     ocdm__chart chart = {.kind = OCDM__CHART_DOTS, .x = "after", .y = "mean", .deviation = "deviation"};
 *     ocdm__chart_add_series(&chart, "rs", NULL, ocdm__method_colour("rs"));
 *     OCDM__POINT(&chart, 0, OCDM__WORD("label", "rs"), OCDM__EXACT("after", 1), OCDM__EXACT("mean", 40.5));
 *     ...
 *     status = ocdm__chart_draw(&chart, &canvas, error);
 *     ocdm__chart_clear(&chart);
 *
 * A failed allocation is remembered by the table; drawing and ocdm__table_check tell.
 */
#ifndef OCDM_REPORT_CHARTS_CHART_H
#define OCDM_REPORT_CHARTS_CHART_H

#include "report/charts/canvas.h"
#include "report/tables/table.h"

enum ocdm__chart_kind {
    OCDM__CHART_LINES,  /* rows are steps of runs (".run"); a line is their mean, its band from the lowest to the highest */
    OCDM__CHART_DOTS,   /* rows are points with a deviation; x is a number or one of the names */
    OCDM__CHART_BARS,   /* a panel for each series; x is a bar, whose height is the mean of its rows */
    OCDM__CHART_MATRIX, /* a matrix for each series: x is row times the number of columns, plus the column */
    OCDM__CHART_ROWS,   /* x is a class, with a row of its own; a column of bars for each series, of percents */
    OCDM__CHART_STACKS  /* x is a part; a bar for each series from its parts, one after another */
};

/* The rows of a series are in one line, panel, matrix or column. Texts must outlive the chart. */
#define OCDM__SERIES_NOTES 4u
typedef struct ocdm__series {
    const char *label;
    const char *mark;                   /* what a reader of the page hides it with; NULL for none */
    unsigned colour;                    /* of a method, or OCDM__INK and a dash */
    char notes[OCDM__SERIES_NOTES][40]; /* beside it */
} ocdm__series;

/* Rows that are only in the file. */
#define OCDM__NO_SERIES SIZE_MAX

/* How a bar is filled: that of a class by its group, solid, half or hollow; that of a part in one of the steps of a colour. */
enum ocdm__bar_kind { OCDM__BAR_MAJORITY, OCDM__BAR_MODERATE, OCDM__BAR_MINORITY, OCDM__BAR_MIXED };

typedef struct ocdm__chart_bar {
    const char *name; /* NULL: bars are ranges of numbers */
    unsigned kind;
} ocdm__chart_bar;

/* A named range of x, from here to the next. */
typedef struct ocdm__chart_section {
    double from;
    char name[40];
} ocdm__chart_section;

/* A value to compare a line with, a hollow diamond in the line's colour beside the place; or a point of the line, a hollow
 * square at it. */
typedef struct ocdm__chart_mark {
    double x, y;
    unsigned colour;
    bool is_point;
} ocdm__chart_mark;

/* Members that are not set must be zero. */
typedef struct ocdm__chart {
    enum ocdm__chart_kind kind;
    const char *x, *y;              /* keys of columns */
    const char *deviation, *target; /* likewise; NULL for none */
    const char *sweep;              /* of a figure (figures/figure.h): the setting that was swept; NULL: the plain comparison */
    const char *x_what;
    char y_what[100];
    const char *target_what, *mark_what; /* what the marks across bars are, and where those beside lines come from */
    const char *point_what;              /* what marks of the second kind are, which are on lines; NULL: there are none */
    bool is_log;                         /* on the figure's own scale; the other one of a chart of lines starts at 0 */
    bool smooth;                         /* lines: the rows are thin, behind a running mean that stays within a ".task" */
    double height;                       /* lines, dots: of the plot; 0 for the default */
    double y_reach[2];                   /* lines, dots: values that the axis must include; both 0 for none */
    double x_reach[2];                   /* bars without names: the range of numbers */
    double highest;                      /* bars: the upper end of every scale; 0: it follows from the numbers */
    bool own_scales;                     /* bars: each panel has its own scale, as high as its bars */
    bool marks_lost;                     /* bars: one of height 0 gets a cross */
    bool are_pairs;                      /* bars: each is of two classes, with a longer name and without a group */
    ocdm__table table;
    ocdm__series *series;
    size_t series_count, series_room;
    ocdm__chart_bar *bars;
    size_t bar_count, bar_room;
    ocdm__chart_section *sections;
    size_t section_count, section_room;
    ocdm__chart_mark *marks;
    size_t mark_count, mark_room;
    char (*names)[40]; /* of x = 0, 1, ...; NULL when x is a number */
    size_t name_count, name_room;
    size_t last_turn;   /* of the class before */
    ocdm__series spare; /* takes what does not fit */
} ocdm__chart;

/* Each appends one. The series is valid until the next call. */
ocdm__series *ocdm__chart_add_series(ocdm__chart *chart, const char *label, const char *mark, unsigned colour);
void ocdm__chart_add_bar(ocdm__chart *chart, const char *name, unsigned kind);
void ocdm__chart_add_section(ocdm__chart *chart, double from, const char *name);
void ocdm__chart_add_mark(ocdm__chart *chart, ocdm__chart_mark mark);
void ocdm__chart_add_name(ocdm__chart *chart, const char *name);

/* Appends the bar of a class, filled by its group, and a section where `turn` differs from the one before. `task` names it. */
void ocdm__chart_add_class(ocdm__chart *chart, const char *name, const char *group, size_t turn, double task);

/* Appends a row of these cells to the table, behind the number of the series, of which it is a point, in ".series". */
#define OCDM__POINT(chart, series, ...)                                                                                        \
    OCDM__ROW(&(chart)->table, OCDM__EXACT(".series", (series) != OCDM__NO_SERIES ? (double)(series) : NAN), __VA_ARGS__)

/* Whether a row of a series has a number to draw. */
bool ocdm__chart_has_numbers(const ocdm__chart *chart);

/* Draws the picture, lines and dots in a page below a legend for narrow screens. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error);

void ocdm__chart_clear(ocdm__chart *chart);

/* ---- for the files of this folder --------------------------------------------------------------------------------------- */

/* What is in column `key` for each series and each x from 0 to count: the mean over its rows, NaN where one or all have none.
 * NULL, and the arena has failed, if an allocation fails. */
double *ocdm__chart_values(ocdm__arena *arena, const ocdm__chart *chart, const char *key, size_t count);

/* The series of a row; OCDM__NO_SERIES for none. */
size_t ocdm__chart_series_of(const ocdm__chart *chart, size_t row);

/* Draws a kind of chart with memory of the arena; nothing where that has failed. */
typedef void ocdm__chart_drawer(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena);
ocdm__chart_drawer ocdm__lines_draw, ocdm__bars_draw, ocdm__matrix_draw, ocdm__rows_draw, ocdm__stacks_draw;

/* Squares in ink, filled as the bars of the groups that the chart has, `merged` classes in each, with the names of the groups,
 * from `x` on at the top of a picture. Returns where they end. */
double ocdm__draw_bar_kinds(const ocdm__chart *chart, size_t merged, const ocdm__canvas *canvas, double x);

/* One of them. */
void ocdm__draw_bar_kind(const ocdm__canvas *canvas, unsigned kind, double x, double y, double side);

#endif
