/* Tables in HTML. */
#include <math.h>

#include "report/charts/canvas.h"
#include "report/page/parts.h"
#include "report/text.h"

#define LABEL_LIMIT 60

void ocdm__put_mark_of(ocdm__output *out, const ocdm__run_group *group)
{
    if (group != NULL)
        ocdm__put_mark(&(ocdm__canvas){.out = out}, group->mark);
}

void ocdm__put_method(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">");
    if (group->colour < OCDM__COLOURS)
        ocdm__put(out, "<rect class=\"f%u\" width=\"12\" height=\"12\"/></svg>", group->colour);
    else /* dashed lines: a ring */
        ocdm__put(out, "<path class=\"f%u\" fill-rule=\"evenodd\" d=\"M0 0h12v12h-12zM4 4h4v4h-4z\"/></svg>",
                  group->colour % OCDM__COLOURS);
    ocdm__put_name(out, group->label, LABEL_LIMIT);
}

/* " class=.. data-m=..>" of a cell. */
static void end_tag(ocdm__output *out, const char *class, const ocdm__run_group *group)
{
    if (class[0] != '\0')
        ocdm__put(out, " class=\"%s\"", class);
    ocdm__put_mark_of(out, group);
    ocdm__output_text(out, ">");
}

/* The caption is outside the scrolling box, so that it stays visible. */
void ocdm__html_begin(ocdm__output *out, const char *name, const char *class, const char *caption)
{
    if (caption != NULL)
        ocdm__put(out, "<p class=\"note\">%s</p>\n", caption);
    ocdm__put(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"%s\" data-name=\"%s\">\n<thead>",
        name, class, name);
}

void ocdm__html_head(ocdm__output *out, const char *class, const ocdm__run_group *group, const char *text)
{
    ocdm__output_text(out, "<th scope=\"col\"");
    end_tag(out, class, group);
    if (text != NULL)
        ocdm__output_text(out, text);
    else
        ocdm__put_method(out, group);
    ocdm__output_text(out, "</th>");
}

void ocdm__html_body(ocdm__output *out)
{
    ocdm__output_text(out, "</tr></thead>\n<tbody>\n");
}

void ocdm__html_end(ocdm__output *out)
{
    ocdm__output_text(out, "</tbody></table></div>\n");
}

void ocdm__html_row(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<tr");
    end_tag(out, "", group);
    ocdm__output_text(out, "<th scope=\"row\">");
    if (group != NULL)
        ocdm__put_method(out, group);
}

void ocdm__html_text(ocdm__output *out, const char *class, const char *text, size_t limit)
{
    ocdm__output_text(out, "<td");
    end_tag(out, class, NULL);
    ocdm__put_name(out, text, limit);
    ocdm__output_text(out, "</td>");
}

void ocdm__html_number(ocdm__output *out, const char *class, const ocdm__run_group *group, const ocdm__summary *number,
                       int decimals)
{
    ocdm__output_text(out, "<td data-v=\"");
    if (isfinite(number->mean))
        ocdm__output_double(out, number->mean);
    ocdm__output_text(out, "\"");
    end_tag(out, class, group);
    ocdm__put_decimals(out, number->mean, decimals);
    if (isfinite(number->deviation)) {
        ocdm__output_text(out, " <span class=\"sd\">± ");
        ocdm__put_decimals(out, number->deviation, decimals);
        ocdm__output_text(out, "</span>");
    }
    ocdm__output_text(out, "</td>");
}

void ocdm__html_value(ocdm__output *out, const char *class, const ocdm__run_group *group, double value, int decimals)
{
    ocdm__html_number(out, class, group, &(ocdm__summary){.mean = value, .deviation = NAN}, decimals);
}
