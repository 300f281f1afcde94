/* Several pictures in a file. */
#include "report/figures/sheet.h"

#include "report/figures/axes.h"
#include "report/page/text.h"

enum { TITLE_ROOM = 40, HEADING_ROOM = 30, REMARK_ROOM = 20, LEFT = 12, BELOW = 10, TEXT_LIMIT = 2000 };

ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error)
{
    *sheet = (ocdm__sheet){.top = TITLE_ROOM};
    return ocdm__output_open_memory(&sheet->body, "a figure", error);
}

static void put_line(ocdm__sheet *sheet, const char *class, const char *text)
{
    ocdm__canvas canvas = {.out = &sheet->body};
    ocdm__draw_text(&canvas, LEFT, sheet->top, OCDM__ANCHOR_START, class, text);
}

void ocdm__sheet_heading(ocdm__sheet *sheet, const char *text)
{
    sheet->top += HEADING_ROOM;
    put_line(sheet, "strong", text);
    sheet->top += BELOW;
}

void ocdm__sheet_remark(ocdm__sheet *sheet, const char *text)
{
    sheet->top += REMARK_ROOM;
    put_line(sheet, "small faint", text);
    sheet->top += BELOW;
}

ocdm__canvas ocdm__sheet_canvas(ocdm__sheet *sheet, const char *title)
{
    return (ocdm__canvas){.out = &sheet->body, .title = title, .top = &sheet->top};
}

ocdm_status ocdm__sheet_write(const ocdm__sheet *sheet, const char *title, const char *reading, const char *path,
                              ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    ocdm__canvas canvas = {.out = &out, .alone = true, .title = title};
    ocdm_status status = ocdm__output_check(&sheet->body, error);
    if (status == OCDM_OK)
        status = ocdm__output_open(&out, path, error);
    if (status != OCDM_OK)
        return status;
    ocdm__picture_begin(&canvas, OCDM__FIGURE_WIDTH, sheet->top + BELOW);
    ocdm__output_text(&out, "<desc>");
    ocdm__put_plain(&out, reading, TEXT_LIMIT);
    ocdm__output_text(&out, "</desc>\n");
    ocdm__draw_text(&canvas, LEFT, 28, OCDM__ANCHOR_START, "head", title);
    ocdm__output_write(&out, sheet->body.buffer, sheet->body.used);
    ocdm__picture_end(&canvas);
    status = ocdm__output_commit(&out, error);
    ocdm__output_abandon(&out);
    return status;
}

void ocdm__sheet_clear(ocdm__sheet *sheet)
{
    ocdm__output_abandon(&sheet->body);
}
