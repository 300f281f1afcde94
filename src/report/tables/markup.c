/* A table in Markdown and in LaTeX (booktabs). */
#include <stdio.h>
#include <string.h>

#include "report/tables/write.h"

/* ---- Markdown ------------------------------------------------------------------------------------------------------- */

/* What would be read as the end of a cell is escaped. */
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
        char shown[OCDM__SHOWN];
        ocdm__cell_show(cell, " ± ", shown);
        ocdm__output_text(output, cell->bold ? "| **" : "| ");
        write_markdown_text(output, shown);
        ocdm__output_text(output, cell->bold ? "** " : " ");
    }
    ocdm__output_text(output, "|\n");
}

void ocdm__table_write_markdown(const ocdm__table *table, ocdm__output *output)
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
        ocdm__output_text(output, ocdm__table_is_left(table, i) ? "|---" : "|---:");
    ocdm__output_text(output, "|\n");
    for (size_t row = 0; row < table->row_count; row++)
        write_markdown_row(table, row, output);
    if (table->note[0] != '\0') {
        ocdm__output_text(output, "\n");
        ocdm__output_text(output, table->note);
        ocdm__output_text(output, "\n");
    }
}

/* ---- LaTeX ---------------------------------------------------------------------------------------------------------- */

static const char *latex_of(char c)
{
    switch (c) {
    case '\\':
        return "\\textbackslash{}";
    case '~':
        return "\\textasciitilde{}";
    case '^':
        return "\\textasciicircum{}";
    case '&':
        return "\\&";
    case '%':
        return "\\%";
    case '$':
        return "\\$";
    case '#':
        return "\\#";
    case '_':
        return "\\_";
    case '{':
        return "\\{";
    case '}':
        return "\\}";
    case '<':
        return "$<$";
    case '>':
        return "$>$";
    default:
        return NULL;
    }
}

static void write_latex_text(ocdm__output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *escaped = latex_of(*text);
        if (escaped != NULL)
            ocdm__output_text(output, escaped);
        else
            ocdm__output_write(output, text, 1);
    }
}

static void write_latex_cell(const ocdm__cell *cell, ocdm__output *output)
{
    char shown[OCDM__SHOWN];
    ocdm__cell_show(cell, " $\\pm$ ", shown);
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
        size_t next = ocdm__table_group_end(table, column);
        char span[48];
        snprintf(span, sizeof span, "%s\\multicolumn{%zu}{c}{", column > 0 ? " & " : "", next - column);
        ocdm__output_text(output, span);
        write_latex_text(output, table->columns[column].group);
        ocdm__output_text(output, "}");
        column = next;
    }
    ocdm__output_text(output, " \\\\\n");
    for (size_t column = 0; column < table->column_count;) {
        size_t next = ocdm__table_group_end(table, column);
        char rule[64];
        snprintf(rule, sizeof rule, "\\cmidrule(lr){%zu-%zu}", column + 1, next);
        if (table->columns[column].group[0] != '\0')
            ocdm__output_text(output, rule);
        column = next;
    }
    ocdm__output_text(output, "\n");
}

void ocdm__table_write_latex(const ocdm__table *table, ocdm__output *output)
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
    if (ocdm__table_has_groups(table))
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
    ocdm__output_text(output, "\\bottomrule\n\\end{tabular}\n\\end{table}\n");
}
