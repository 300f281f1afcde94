/*
 * Writes tables: as text for a terminal, with aligned columns and headings over groups, split when it is too wide; as Markdown;
 * as LaTeX with booktabs; as CSV (RFC 4180, a header of keys); and as JSON (a list of objects, one per line).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/tables/table.h"
#include "report/text.h"

/* ---- cells and columns, for all formats that people read ---------------------------------------------------------------- */

const char *const ocdm__table_formats[] = {"text", "markdown", "latex", "csv", "json", NULL};

bool ocdm__table_is_data(enum ocdm__table_format format)
{
    return format == OCDM__CSV || format == OCDM__JSON;
}

#define SHOWN (OCDM__TABLE_TEXT + 64)

/* A cell as people see it, without bold; `sign` separates a number from its deviation; a range is in brackets. An empty cell is
 * "-". */
static void show_cell(const ocdm__cell *cell, const char *sign, char shown[SHOWN])
{
    if (cell->kind == OCDM__CELL_TEXT)
        snprintf(shown, SHOWN, "%s", cell->text);
    else if (cell->kind == OCDM__CELL_EMPTY)
        snprintf(shown, SHOWN, "-");
    else if (cell->is_mean)
        snprintf(shown, SHOWN, "%.*f [%.*f, %.*f]", cell->decimals, cell->value, cell->decimals, cell->low, cell->decimals,
                 cell->high);
    else if (isnan(cell->deviation))
        snprintf(shown, SHOWN, "%.*f", cell->decimals, cell->value);
    else
        snprintf(shown, SHOWN, "%.*f%s%.*f", cell->decimals, cell->value, sign, cell->decimals, cell->deviation);
    ocdm__make_printable(shown); /* names of classes come from files */
}

/* The column after the last one that shares the heading of `column`; a column without one is alone. */
static size_t group_end(const ocdm__table *table, size_t column)
{
    size_t end = column + 1;
    while (table->columns[column].group[0] != '\0' && end < table->column_count &&
           strcmp(table->columns[end].group, table->columns[column].group) == 0)
        end++;
    return end;
}

/* Whether a column is aligned left: one without numbers is. */
static bool is_left(const ocdm__table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (ocdm__table_at(table, row, column)->kind == OCDM__CELL_NUMBER)
            return false;
    return true;
}

/* ---- text --------------------------------------------------------------------------------------------------------------- */

#define GAP 2

/* The width of a text in columns: characters, not bytes. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void write_spaces(ocdm__output *output, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ocdm__output_text(output, " ");
}

/* The width of a cell; a star that marks bold takes one column. */
static size_t cell_width(const ocdm__cell *cell, const ocdm__table_style *style)
{
    char shown[SHOWN];
    show_cell(cell, " ± ", shown);
    return text_width(shown) + (cell->bold && !style->bold);
}

static size_t own_width(const ocdm__table *table, size_t column, const ocdm__table_style *style)
{
    size_t width = text_width(table->columns[column].head);
    for (size_t row = 0; row < table->row_count; row++) {
        size_t cell = cell_width(ocdm__table_at(table, row, column), style);
        width = cell > width ? cell : width;
    }
    return width;
}

/* The last column of a group is widened if the heading is wider than the group. */
static size_t column_width(const ocdm__table *table, size_t column, const ocdm__table_style *style)
{
    const char *group = table->columns[column].group;
    size_t own = own_width(table, column, style), others = 0;
    if (group[0] == '\0' || group_end(table, column) > column + 1)
        return own;
    for (size_t i = column; i > 0 && strcmp(table->columns[i - 1].group, group) == 0; i--)
        others += own_width(table, i - 1, style) + GAP;
    return others + own < text_width(group) ? text_width(group) - others : own;
}

/* The total width of the columns of a group, with a gap before each. */
static size_t group_width(const ocdm__table *table, size_t first, size_t end, const ocdm__table_style *style)
{
    size_t width = 0;
    for (size_t i = first; i < end; i++)
        width += GAP + column_width(table, i, style);
    return width;
}

/* The end of the part of the table that starts with `first`: as many groups as fit, at least one. */
static size_t part_end(const ocdm__table *table, size_t first, const ocdm__table_style *style)
{
    size_t used = column_width(table, 0, style), end = first;
    while (end < table->column_count) {
        size_t next = group_end(table, end);
        used += group_width(table, end, next, style);
        if (used > style->width && end > first)
            break;
        end = next;
    }
    return end;
}

/* Nothing is written after the last cell of a line. */
static void write_cell(ocdm__output *output, const ocdm__table *table, size_t row, size_t column, bool last,
                       const ocdm__table_style *style)
{
    const ocdm__cell *cell = ocdm__table_at(table, row, column);
    char shown[SHOWN];
    show_cell(cell, " ± ", shown);
    size_t room = column_width(table, column, style) - cell_width(cell, style);
    if (!is_left(table, column))
        write_spaces(output, room);
    if (cell->bold && style->bold)
        ocdm__output_text(output, "\033[1m");
    ocdm__output_text(output, shown);
    if (cell->bold)
        ocdm__output_text(output, style->bold ? "\033[0m" : "*");
    if (is_left(table, column) && !last)
        write_spaces(output, room);
}

/* The columns of a part in their order: the first of the table, then `first` to `end`. */
static void write_heads(ocdm__output *output, const ocdm__table *table, size_t first, size_t end,
                        const ocdm__table_style *style)
{
    for (size_t k = first - 1; k < end; k++) {
        size_t column = k == first - 1 ? 0 : k;
        size_t room = column_width(table, column, style) - text_width(table->columns[column].head);
        if (k >= first)
            write_spaces(output, GAP);
        if (!is_left(table, column))
            write_spaces(output, room);
        ocdm__output_text(output, table->columns[column].head);
        if (is_left(table, column) && k + 1 < end)
            write_spaces(output, room);
    }
    ocdm__output_text(output, "\n");
}

/* Headings of groups, centred over their columns between dashes. */
static void write_groups(ocdm__output *output, const ocdm__table *table, size_t first, size_t end,
                         const ocdm__table_style *style)
{
    while (table->columns[end - 1].group[0] == '\0')
        end--;
    write_spaces(output, column_width(table, 0, style));
    for (size_t column = first; column < end;) {
        size_t next = group_end(table, column);
        size_t width = group_width(table, column, next, style) - GAP;
        const char *name = table->columns[column].group;
        size_t around = width - text_width(name);
        bool dashes = name[0] != '\0' && around >= 4;
        write_spaces(output, GAP);
        for (size_t i = 0; i < around; i++) {
            bool beside = i + 1 == around / 2 || i == around / 2;
            if (i == around / 2)
                ocdm__output_text(output, name);
            ocdm__output_text(output, dashes && !beside ? "-" : " ");
        }
        if (around == 0)
            ocdm__output_text(output, name);
        column = next;
    }
    ocdm__output_text(output, "\n");
}

static bool has_groups(const ocdm__table *table, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (table->columns[i].group[0] != '\0')
            return true;
    return false;
}

static void write_part(ocdm__output *output, const ocdm__table *table, size_t first, size_t end, const ocdm__table_style *style)
{
    if (has_groups(table, first, end))
        write_groups(output, table, first, end, style);
    write_heads(output, table, first, end, style);
    for (size_t row = 0; row < table->row_count; row++) {
        write_cell(output, table, row, 0, false, style);
        for (size_t column = first; column < end; column++) {
            write_spaces(output, GAP);
            write_cell(output, table, row, column, column + 1 == end, style);
        }
        ocdm__output_text(output, "\n");
    }
}

/* Words filled up to the width. */
static void write_filled(ocdm__output *output, const char *text, size_t width)
{
    size_t used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[OCDM__TABLE_TITLE];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t columns = text_width(word);
        if (used > 0)
            ocdm__output_text(output, used + 1 + columns > width ? "\n" : " ");
        used = used > 0 && used + 1 + columns <= width ? used + 1 + columns : columns;
        ocdm__output_text(output, word);
        text += length + (text[length] == ' ');
    }
    ocdm__output_text(output, "\n");
}

/* One paragraph of the note after another, filled to the width where there is one. */
static void write_note(const ocdm__table *table, size_t width, void (*write)(ocdm__output *, const char *, size_t),
                       ocdm__output *output)
{
    for (const char *at = table->note; *at != '\0';) {
        char paragraph[OCDM__TABLE_NOTE];
        size_t length = strcspn(at, "\n");
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, at);
        ocdm__output_text(output, "\n");
        write(output, paragraph, width);
        at += length + (at[length] == '\n');
    }
}

static void write_text(const ocdm__table *table, const ocdm__table_style *style, ocdm__output *output)
{
    if (table->title[0] != '\0')
        write_filled(output, table->title, style->width);
    for (size_t first = 1; first < table->column_count;) {
        size_t end = part_end(table, first, style);
        if (first > 1 || table->title[0] != '\0')
            ocdm__output_text(output, "\n");
        write_part(output, table, first, end, style);
        first = end;
    }
    write_note(table, style->width, write_filled, output);
}

/* ---- Markdown ------------------------------------------------------------------------------------------------------- */

/* Escapes what would end a cell. */
static void write_markdown_text(ocdm__output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '\\')
            ocdm__output_text(output, "\\");
        ocdm__output_write(output, text, 1);
    }
}

static void write_markdown_row(const ocdm__table *table, size_t row, ocdm__output *output)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const ocdm__cell *cell = ocdm__table_at(table, row, i);
        char shown[SHOWN];
        show_cell(cell, " ± ", shown);
        ocdm__output_text(output, cell->bold ? "| **" : "| ");
        write_markdown_text(output, shown);
        ocdm__output_text(output, cell->bold ? "** " : " ");
    }
    ocdm__output_text(output, "|\n");
}

static void write_line(ocdm__output *output, const char *text, size_t width)
{
    (void)width;
    ocdm__output_text(output, text);
    ocdm__output_text(output, "\n");
}

static void write_markdown(const ocdm__table *table, ocdm__output *output)
{
    if (table->title[0] != '\0') {
        ocdm__output_text(output, table->title);
        ocdm__output_text(output, "\n\n");
    }
    for (size_t i = 0; i < table->column_count; i++) {
        ocdm__output_text(output, "| ");
        write_markdown_text(output, table->columns[i].group);
        ocdm__output_text(output, table->columns[i].group[0] != '\0' && table->columns[i].head[0] != '\0' ? " " : "");
        write_markdown_text(output, table->columns[i].head);
        ocdm__output_text(output, " ");
    }
    ocdm__output_text(output, "|\n");
    for (size_t i = 0; i < table->column_count; i++)
        ocdm__output_text(output, is_left(table, i) ? "|---" : "|---:");
    ocdm__output_text(output, "|\n");
    for (size_t row = 0; row < table->row_count; row++)
        write_markdown_row(table, row, output);
    write_note(table, 0, write_line, output);
}

/* ---- LaTeX ---------------------------------------------------------------------------------------------------------- */

static void write_latex_text(ocdm__output *output, const char *text)
{
    static const char special[] = "\\~^&%$#_{}<>";
    static const char *const escaped[] = {"\\textbackslash{}",
                                          "\\textasciitilde{}",
                                          "\\textasciicircum{}",
                                          "\\&",
                                          "\\%",
                                          "\\$",
                                          "\\#",
                                          "\\_",
                                          "\\{",
                                          "\\}",
                                          "$<$",
                                          "$>$"};
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL)
            ocdm__output_text(output, escaped[found - special]);
        else
            ocdm__output_write(output, text, 1);
    }
}

static void write_latex_cell(const ocdm__cell *cell, ocdm__output *output)
{
    char shown[SHOWN];
    show_cell(cell, " $\\pm$ ", shown);
    if (cell->bold)
        ocdm__output_text(output, "\\textbf{");
    if (cell->kind == OCDM__CELL_TEXT)
        write_latex_text(output, shown);
    else
        ocdm__output_text(output, shown);
    if (cell->bold)
        ocdm__output_text(output, "}");
}

static void write_latex_groups(const ocdm__table *table, ocdm__output *output)
{
    for (size_t column = 0; column < table->column_count;) {
        size_t next = group_end(table, column);
        char span[48];
        snprintf(span, sizeof span, "%s\\multicolumn{%zu}{c}{", column > 0 ? " & " : "", next - column);
        ocdm__output_text(output, span);
        write_latex_text(output, table->columns[column].group);
        ocdm__output_text(output, "}");
        column = next;
    }
    ocdm__output_text(output, " \\\\\n");
    for (size_t column = 0; column < table->column_count;) {
        size_t next = group_end(table, column);
        char rule[64];
        snprintf(rule, sizeof rule, "\\cmidrule(lr){%zu-%zu}", column + 1, next);
        if (table->columns[column].group[0] != '\0')
            ocdm__output_text(output, rule);
        column = next;
    }
    ocdm__output_text(output, "\n");
}

/* Before it there is an empty line, which ends the paragraph. */
static void write_latex_note(ocdm__output *output, const char *text, size_t width)
{
    (void)width;
    ocdm__output_text(output, "{\\footnotesize ");
    write_latex_text(output, text);
    ocdm__output_text(output, "}\n");
}

static void write_latex(const ocdm__table *table, ocdm__output *output)
{
    ocdm__output_text(output, "\\begin{table}\n\\centering\n");
    if (table->title[0] != '\0') {
        ocdm__output_text(output, "\\caption{");
        write_latex_text(output, table->title);
        ocdm__output_text(output, "}\n");
    }
    ocdm__output_text(output, "\\begin{tabular}{l");
    for (size_t i = 1; i < table->column_count; i++)
        ocdm__output_text(output, "c");
    ocdm__output_text(output, "}\n\\toprule\n");
    if (has_groups(table, 0, table->column_count))
        write_latex_groups(table, output);
    for (size_t i = 0; i < table->column_count; i++) {
        ocdm__output_text(output, i > 0 ? " & " : "");
        write_latex_text(output, table->columns[i].head);
    }
    ocdm__output_text(output, " \\\\\n\\midrule\n");
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            ocdm__output_text(output, i > 0 ? " & " : "");
            write_latex_cell(ocdm__table_at(table, row, i), output);
        }
        ocdm__output_text(output, " \\\\\n");
    }
    ocdm__output_text(output, "\\bottomrule\n\\end{tabular}\n");
    write_note(table, 0, write_latex_note, output);
    ocdm__output_text(output, "\\end{table}\n");
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------------- */

/* Columns whose key begins with a dot are a chart's. */
static bool is_data(const ocdm__table *table, size_t column)
{
    return table->columns[column].key[0] != '.';
}

static void write_csv(const ocdm__table *table, ocdm__output *output)
{
    const char *between = "";
    for (size_t i = 0; i < table->column_count; i++)
        if (is_data(table, i)) {
            ocdm__output_text(output, between);
            ocdm__put_csv(output, table->columns[i].key);
            between = ",";
        }
    ocdm__output_text(output, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        between = "";
        for (size_t i = 0; i < table->column_count; i++) {
            const ocdm__cell *cell = ocdm__table_at(table, row, i);
            if (!is_data(table, i))
                continue;
            ocdm__output_text(output, between);
            between = ",";
            if (cell->kind == OCDM__CELL_TEXT)
                ocdm__put_csv(output, cell->text);
            else if (cell->kind == OCDM__CELL_NUMBER)
                ocdm__output_double(output, cell->value);
        }
        ocdm__output_text(output, "\n");
    }
}

static void write_json(const ocdm__table *table, ocdm__output *output)
{
    ocdm__output_text(output, "[");
    for (size_t row = 0; row < table->row_count; row++) {
        ocdm__output_text(output, row > 0 ? ",\n" : "\n");
        ocdm__json_open(output, NULL, '{');
        for (size_t i = 0; i < table->column_count; i++) {
            const ocdm__cell *cell = ocdm__table_at(table, row, i);
            if (is_data(table, i) && cell->kind == OCDM__CELL_TEXT)
                ocdm__json_string(output, table->columns[i].key, cell->text);
            else if (is_data(table, i))
                ocdm__json_real(output, table->columns[i].key, cell->value);
        }
        ocdm__json_close(output, '}');
    }
    ocdm__output_text(output, "\n]\n");
}

void ocdm__table_write(const ocdm__table *table, enum ocdm__table_format format, const ocdm__table_style *style,
                       ocdm__output *output)
{
    switch (format) {
    case OCDM__TEXT:
        write_text(table, style, output);
        break;
    case OCDM__MARKDOWN:
        write_markdown(table, output);
        break;
    case OCDM__LATEX:
        write_latex(table, output);
        break;
    case OCDM__CSV:
        write_csv(table, output);
        break;
    case OCDM__JSON:
        write_json(table, output);
        break;
    }
}
