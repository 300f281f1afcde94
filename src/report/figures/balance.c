/*
 * Draws the balance as SVG. All coordinates are integers or tenths, printed as integers, so the result does not depend on
 * the locale. A panel is a group whose origin is on its base line, so a bar of k samples is a rect with y = -k. Widths
 * leave room for DejaVu Sans, the widest of the common sans-serif fonts. The colours are those of Okabe and Ito.
 */
#include "report/figures/figure.h"

#include <math.h>

#include "report/text.h"

enum {
    PADDING = 20,
    SIDE = 126,      /* the column of names and distances */
    PITCH = 13,      /* from bar to bar: two of them hold a number of four digits */
    BAR = 11,        /* a bar's width */
    TASK_GAP = 10,   /* more room between tasks */
    SHARE = 34,      /* the column of equal shares, right of the bars */
    NARROWEST = 700, /* what title, caption and legend need */
    HEADER = 106,    /* the same, in height */
    PANEL_GAP = 18,  /* from a base line to the top of the next panel */
    MARK = 8,        /* the height of the mark on a bar that is cut off, */
    NUMBER = 11,     /* and of a number over it */
    FOOTER = 36,     /* the names of the tasks */
    NAME_LIMIT = 100,
    TOP = OCDM__PICTURE_TOP
};

#define INK "#222222"
#define FAINT "#999999"

#define MAJORITY_COLOUR "#0072B2"
#define MODERATE_COLOUR "#56B4E9"
#define MINORITY_COLOUR "#D55E00"

static const char *colour_of(const ocdm__picture_class *class)
{
    if (class->seen > OCDM__PICTURE_MAJORITY)
        return MAJORITY_COLOUR;
    return class->seen < OCDM__PICTURE_MINORITY ? MINORITY_COLOUR : MODERATE_COLOUR;
}

/* A distance with four decimals. It is negative only by rounding, and NaN when no sample in memory has a label. */
static void put_distance(ocdm__output *output, double distance)
{
    if (!(fabs(distance) < 1e6)) {
        ocdm__output_text(output, "none");
        return;
    }
    unsigned long long ten_thousandths = (unsigned long long)llround(fabs(distance) * 1e4);
    ocdm__put(output, "%llu.%04llu", ten_thousandths / 10000, ten_thousandths % 10000);
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

/* The left edge of a bar; for class_count, where the next would be. */
static unsigned bar_left(const ocdm__balance_picture *picture, size_t number)
{
    unsigned gaps = 0;
    for (size_t c = 1; c < number || (c == number && c < picture->class_count); c++)
        gaps += picture->classes[c].task != picture->classes[c - 1].task;
    return PADDING + SIDE + (unsigned)number * PITCH + gaps * TASK_GAP;
}

static unsigned bars_right(const ocdm__balance_picture *picture)
{
    return bar_left(picture, picture->class_count) - (PITCH - BAR);
}

static unsigned picture_width(const ocdm__balance_picture *picture)
{
    unsigned width = bars_right(picture) + SHARE + PADDING;
    return width < NARROWEST ? NARROWEST : width;
}

/* The row above the bars, 1 or 2, for the number of a bar that is cut off; 0 for other bars. Neighbours alternate. */
static unsigned number_row(const ocdm__picture_panel *panel, size_t number)
{
    unsigned row = 0;
    while (number > 0 && panel->kept[number] > TOP && panel->kept[number - 1] > TOP)
        number--, row ^= 1;
    return panel->kept[number] > TOP ? row + 1 : 0;
}

/* The height of the marks and numbers above the bars of a panel. */
static unsigned overhang(const ocdm__balance_picture *picture, const ocdm__picture_panel *panel)
{
    unsigned rows = 0;
    for (size_t c = 0; c < picture->class_count; c++) {
        unsigned row = number_row(panel, c);
        rows = row > rows ? row : rows;
    }
    return rows == 0 ? 0 : MARK + rows * NUMBER;
}

/* The base line of a panel; for panel_count, of the last one. */
static unsigned base_line(const ocdm__balance_picture *picture, size_t number)
{
    unsigned y = HEADER;
    for (size_t i = 0; i <= number && i < picture->panel_count; i++)
        y += (i == 0 ? 0 : PANEL_GAP) + overhang(picture, &picture->panels[i]) + TOP;
    return y;
}

/* ---- the header --------------------------------------------------------------------------------------------------------- */

static void put_caption(ocdm__output *output, const ocdm__balance_picture *picture)
{
    ocdm__put(output, "Samples in memory per class, M = %u, after ", (unsigned)picture->capacity);
    ocdm__put_grouped(output, (double)picture->sample_count);
    ocdm__put(output, " samples; the line is an equal share");
}

static void put_mark_over(ocdm__output *output, const char *class, unsigned left, int bottom, const char *colour)
{
    ocdm__put(output, "<path class=\"%s\" d=\"M%u %dh7l-3.5 -5z\" fill=\"%s\"/>\n", class, left + 2, bottom - 2, colour);
}

static void put_cross(ocdm__output *output, const char *class, unsigned left, int bottom)
{
    ocdm__put(output, "<path class=\"%s\" d=\"M%u %dl6 -6m-6 0l6 6\" stroke=\"" INK "\" stroke-width=\"1.5\" fill=\"none\"/>\n",
              class, left + 3, bottom - 2);
}

static void put_swatch(ocdm__output *output, unsigned left, const char *colour)
{
    ocdm__put(output, "<path d=\"M%u 60h11v11h-11z\" fill=\"%s\"/>\n", left, colour);
}

static void put_legend(ocdm__output *output)
{
    static const unsigned left[] = {120, 304, 474};
    static const unsigned indent = 16;
    ocdm__put(output, "<g font-size=\"12\">\n<text x=\"%d\" y=\"70\">In the stream</text>\n", PADDING);
    put_swatch(output, left[0], MAJORITY_COLOUR);
    ocdm__put(output, "<text x=\"%u\" y=\"70\">majority: over %u times</text>\n", left[0] + indent, OCDM__PICTURE_MAJORITY);
    put_swatch(output, left[1], MODERATE_COLOUR);
    ocdm__put(output, "<text x=\"%u\" y=\"70\">moderate: %u to %u</text>\n", left[1] + indent, OCDM__PICTURE_MINORITY,
              OCDM__PICTURE_MAJORITY);
    put_swatch(output, left[2], MINORITY_COLOUR);
    ocdm__put(output, "<text x=\"%u\" y=\"70\">minority: under %u</text>\n", left[2] + indent, OCDM__PICTURE_MINORITY);
    ocdm__put(output, "<text x=\"%d\" y=\"90\">In memory</text>\n", PADDING);
    put_mark_over(output, "legend", left[0], 91, INK);
    ocdm__put(output, "<text x=\"%u\" y=\"90\">more than %d</text>\n", left[0] + indent, TOP);
    put_cross(output, "legend", left[1] - 1, 91);
    ocdm__put(output, "<text x=\"%u\" y=\"90\">none: lost</text>\n", left[1] + indent);
    ocdm__put(output, "<text x=\"%u\" y=\"90\">distance: KL divergence, best is 0</text>\n</g>\n", left[2]);
}

static void put_header(ocdm__output *output, const ocdm__balance_picture *picture)
{
    unsigned width = picture_width(picture), height = base_line(picture, picture->panel_count) + FOOTER;
    ocdm__put(output,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" ", width,
              height, width, height);
    ocdm__put(output, "font-family=\"sans-serif\" fill=\"" INK "\">\n<title>");
    put_caption(output, picture);
    ocdm__put(output, "</title>\n<path d=\"M0 0h%uv%uh-%uz\" fill=\"#FFFFFF\"/>\n", width, height, width);
    ocdm__put(output,
              "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\">How evenly each policy keeps the classes</text>\n",
              PADDING);
    ocdm__put(output, "<text x=\"%d\" y=\"48\" font-size=\"13\">", PADDING);
    put_caption(output, picture);
    ocdm__put(output, "</text>\n");
    put_legend(output);
}

/* ---- a panel ------------------------------------------------------------------------------------------------------------ */

static void put_bar(ocdm__output *output, const ocdm__picture_class *class, uint32_t kept, unsigned left)
{
    unsigned height = kept < TOP ? kept : TOP;
    ocdm__put(output, "<rect x=\"%u\" y=\"-%u\" width=\"%d\" height=\"%u\" fill=\"%s\"><title>", left, height, BAR, height,
              colour_of(class));
    ocdm__put_plain(output, class->name, NAME_LIMIT);
    ocdm__put(output, ": %u of %llu</title></rect>\n", (unsigned)kept, (unsigned long long)class->seen);
}

static void put_marks(ocdm__output *output, const ocdm__picture_panel *panel, const ocdm__picture_class *class, size_t number,
                      unsigned left)
{
    unsigned row = number_row(panel, number);
    if (panel->kept[number] == 0)
        put_cross(output, "lost", left - 1, 0);
    if (row == 0)
        return;
    put_mark_over(output, "clipped", left, -TOP, colour_of(class));
    ocdm__put(output, "<text x=\"%u.5\" y=\"-%u\" font-size=\"10\" text-anchor=\"middle\">%u</text>\n", left + BAR / 2,
              TOP + MARK + 1 + (row - 1) * NUMBER, (unsigned)panel->kept[number]);
}

/* The equal share: labels in memory divided by classes, in tenths. It is drawn at the top if it is higher than the panel. */
static void put_share(ocdm__output *output, const ocdm__balance_picture *picture, const ocdm__picture_panel *panel)
{
    uint64_t labels = 0, classes = picture->class_count > 0 ? picture->class_count : 1;
    for (size_t c = 0; c < picture->class_count; c++)
        labels += panel->kept[c];
    unsigned tenths = (unsigned)((labels * 10 + classes / 2) / classes);
    unsigned y = tenths < TOP * 10 ? tenths : TOP * 10;
    unsigned left = PADDING + SIDE - 3, right = bars_right(picture) + 3;
    ocdm__put(output, "<path class=\"share\" d=\"M%u -%u.%uH%u\" stroke=\"" INK "\"/>\n", left, y / 10, y % 10, right);
    ocdm__put(output, "<text x=\"%u\" y=\"-%u.%u\" dy=\"4\" font-size=\"11\">%u.%u</text>\n", right + 3, y / 10, y % 10,
              tenths / 10, tenths % 10);
}

static void put_side(ocdm__output *output, const ocdm__balance_picture *picture, const ocdm__picture_panel *panel)
{
    unsigned lost = 0;
    for (size_t c = 0; c < picture->class_count; c++)
        lost += panel->kept[c] == 0;
    ocdm__put(output, "<text x=\"%d\" y=\"-50\" font-size=\"15\" font-weight=\"bold\">", PADDING);
    ocdm__put_plain(output, panel->policy, NAME_LIMIT);
    ocdm__put(output, "</text>\n<text x=\"%d\" y=\"-33\" font-size=\"12\">distance ", PADDING);
    put_distance(output, panel->distance);
    ocdm__put(output, "</text>\n");
    if (lost == 0)
        return;
    ocdm__put(output, "<text x=\"%d\" y=\"-18\" font-size=\"12\">%u class%s lost,</text>\n", PADDING, lost,
              lost == 1 ? "" : "es");
    ocdm__put(output, "<text x=\"%d\" y=\"-3\" font-size=\"12\">", PADDING);
    put_distance(output, panel->distance_seen);
    ocdm__put(output, " with %s</text>\n", lost == 1 ? "it" : "them");
}

static void put_panel(ocdm__output *output, const ocdm__balance_picture *picture, size_t number)
{
    const ocdm__picture_panel *panel = &picture->panels[number];
    ocdm__put(output, "<g id=\"");
    ocdm__put_plain(output, panel->policy, NAME_LIMIT);
    ocdm__put(output, "\" transform=\"translate(0 %u)\">\n", base_line(picture, number));
    put_side(output, picture, panel);
    for (size_t c = 0; c < picture->class_count; c++)
        put_bar(output, &picture->classes[c], panel->kept[c], bar_left(picture, c));
    ocdm__put(output, "<path d=\"M%d .5H%u\" stroke=\"" FAINT "\"/>\n", PADDING + SIDE - 3, bars_right(picture) + 3);
    put_share(output, picture, panel);
    for (size_t c = 0; c < picture->class_count; c++)
        put_marks(output, panel, &picture->classes[c], c, bar_left(picture, c));
    ocdm__put(output, "</g>\n");
}

/* ---- the footer --------------------------------------------------------------------------------------------------------- */

/* Under the last panel, each task's number in the middle of its bars. */
static void put_tasks(ocdm__output *output, const ocdm__balance_picture *picture)
{
    unsigned y = base_line(picture, picture->panel_count) + 20;
    ocdm__put(output, "<g font-size=\"12\" text-anchor=\"middle\">\n");
    for (size_t first = 0, end = 0; first < picture->class_count; first = end) {
        uint32_t task = picture->classes[first].task;
        while (end < picture->class_count && picture->classes[end].task == task)
            end++;
        unsigned middle = (bar_left(picture, first) + bar_left(picture, end - 1) + BAR) / 2;
        ocdm__put(output, "<text x=\"%u\" y=\"%u\">task %u</text>\n", middle, y, (unsigned)task);
    }
    ocdm__put(output, "</g>\n");
}

ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, path, error);
    if (status != OCDM_OK)
        return status;
    put_header(&output, picture);
    for (size_t i = 0; i < picture->panel_count; i++)
        put_panel(&output, picture, i);
    put_tasks(&output, picture);
    ocdm__put(&output, "</svg>\n");
    return ocdm__output_commit(&output, error);
}
