/*
 * Writes tables: as text for a terminal, with aligned columns and headings over groups, split when it is too wide; as Markdown;
 * as LaTeX with booktabs; as CSV (RFC 4180, a header of keys); and as JSON (a list of objects, one per line).
 */
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

static bool has_groups(const ocdm__table *table, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (table->columns[i].group[0] != '\0')
            return true;
    return false;
}

/* Puts the n-th of `escapes` in the place of the n-th special character. */
static void write_escaped(ocdm__output *output, const char *text, const char *special, const char *const *escapes)
{
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL)
            ocdm__output_text(output, escapes[found - special]);
        else
            ocdm__output_write(output, text, 1);
    }
}

/* ---- text --------------------------------------------------------------------------------------------------------------- */

#define GAP 2

/* A row that is the heads of the columns. */
#define HEADS SIZE_MAX

/* A table on its way to the terminal. */
struct text {
    const ocdm__table *table;
    const ocdm__table_style *style;
    ocdm__output *output;
};

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

/* What is in a row and column. Returns its width: a star that marks bold takes one column. */
static size_t show_place(const struct text *text, size_t row, size_t column, char shown[SHOWN])
{
    const ocdm__cell *cell = row == HEADS ? NULL : ocdm__table_at(text->table, row, column);
    if (cell == NULL)
        snprintf(shown, SHOWN, "%s", text->table->columns[column].head);
    else
        show_cell(cell, " ± ", shown);
    return text_width(shown) + (cell != NULL && cell->bold && !text->style->bold);
}

static size_t own_width(const struct text *text, size_t column)
{
    char shown[SHOWN];
    size_t width = show_place(text, HEADS, column, shown);
    for (size_t row = 0; row < text->table->row_count; row++) {
        size_t here = show_place(text, row, column, shown);
        width = here > width ? here : width;
    }
    return width;
}

/* The last column of a group is widened if the heading is wider than the group. */
static size_t column_width(const struct text *text, size_t column)
{
    const ocdm__column *columns = text->table->columns;
    size_t own = own_width(text, column), others = 0;
    if (columns[column].group[0] == '\0' || group_end(text->table, column) > column + 1)
        return own;
    for (size_t i = column; i > 0 && strcmp(columns[i - 1].group, columns[column].group) == 0; i--)
        others += own_width(text, i - 1) + GAP;
    size_t heading = text_width(columns[column].group);
    return others + own < heading ? heading - others : own;
}

/* The total width of the columns of a group, with a gap before each. */
static size_t group_width(const struct text *text, size_t first, size_t end)
{
    size_t width = 0;
    for (size_t i = first; i < end; i++)
        width += GAP + column_width(text, i);
    return width;
}

/* The end of the part of the table that starts with `first`: as many groups as fit, at least one. */
static size_t part_end(const struct text *text, size_t first)
{
    size_t used = column_width(text, 0), end = first;
    while (end < text->table->column_count) {
        size_t next = group_end(text->table, end);
        used += group_width(text, end, next);
        if (used > text->style->width && end > first)
            break;
        end = next;
    }
    return end;
}

/* A row of a part, whose columns are the first of the table, then `first` to `end`. Nothing is written after its last cell. */
static void write_row(const struct text *text, size_t row, size_t first, size_t end)
{
    for (size_t k = first - 1; k < end; k++) {
        char shown[SHOWN];
        size_t column = k < first ? 0 : k, room = column_width(text, column) - show_place(text, row, column, shown);
        bool bold = row != HEADS && ocdm__table_at(text->table, row, column)->bold, left = is_left(text->table, column);
        write_spaces(text->output, (k < first ? 0 : GAP) + (left ? 0 : room));
        if (bold && text->style->bold)
            ocdm__output_text(text->output, "\033[1m");
        ocdm__output_text(text->output, shown);
        if (bold)
            ocdm__output_text(text->output, text->style->bold ? "\033[0m" : "*");
        if (left && k + 1 < end)
            write_spaces(text->output, room);
    }
    ocdm__output_text(text->output, "\n");
}

/* Headings of groups, centred over their columns between dashes. */
static void write_groups(const struct text *text, size_t first, size_t end)
{
    while (text->table->columns[end - 1].group[0] == '\0')
        end--;
    write_spaces(text->output, column_width(text, 0));
    for (size_t column = first; column < end;) {
        const char *name = text->table->columns[column].group;
        size_t next = group_end(text->table, column), around = group_width(text, column, next) - GAP - text_width(name);
        bool dashes = name[0] != '\0' && around >= 4;
        write_spaces(text->output, GAP);
        for (size_t i = 0; i < around; i++) {
            bool beside = i + 1 == around / 2 || i == around / 2;
            if (i == around / 2)
                ocdm__output_text(text->output, name);
            ocdm__output_text(text->output, dashes && !beside ? "-" : " ");
        }
        if (around == 0)
            ocdm__output_text(text->output, name);
        column = next;
    }
    ocdm__output_text(text->output, "\n");
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

/* The next paragraph of a note, after an empty line. Returns what follows it; NULL at the end. */
static const char *next_paragraph(ocdm__output *output, const char *note, char paragraph[OCDM__TABLE_NOTE])
{
    if (*note == '\0')
        return NULL;
    size_t length = strcspn(note, "\n");
    snprintf(paragraph, OCDM__TABLE_NOTE, "%.*s", (int)length, note);
    ocdm__output_text(output, "\n");
    return note + length + (note[length] == '\n');
}

static void write_text(const ocdm__table *table, const ocdm__table_style *style, ocdm__output *output)
{
    struct text text = {table, style, output};
    char paragraph[OCDM__TABLE_NOTE];
    if (table->title[0] != '\0')
        write_filled(output, table->title, style->width);
    for (size_t first = 1; first < table->column_count;) {
        size_t end = part_end(&text, first);
        if (first > 1 || table->title[0] != '\0')
            ocdm__output_text(output, "\n");
        if (has_groups(table, first, end))
            write_groups(&text, first, end);
        write_row(&text, HEADS, first, end);
        for (size_t row = 0; row < table->row_count; row++)
            write_row(&text, row, first, end);
        first = end;
    }
    for (const char *note = table->note; (note = next_paragraph(output, note, paragraph)) != NULL;)
        write_filled(output, paragraph, style->width);
}

/* ---- Markdown ------------------------------------------------------------------------------------------------------- */

/* Escapes what would end a cell. */
static void write_markdown_text(ocdm__output *output, const char *text)
{
    write_escaped(output, text, "|\\", (const char *const[]){"\\|", "\\\\"});
}

static void write_markdown(const ocdm__table *table, ocdm__output *output)
{
    char paragraph[OCDM__TABLE_NOTE];
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
    for (size_t row = 0; row < table->row_count; row++) {
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
    for (const char *note = table->note; (note = next_paragraph(output, note, paragraph)) != NULL;) {
        ocdm__output_text(output, paragraph);
        ocdm__output_text(output, "\n");
    }
}

/* ---- LaTeX ---------------------------------------------------------------------------------------------------------- */

static void write_latex_text(ocdm__output *output, const char *before, const char *text, const char *after)
{
    static const char *const escapes[] = {"\\textbackslash{}",
                                          "\\textasciitilde{}",
                                          "\\textasciicircum{}",
                                          "$<$",
                                          "$>$",
                                          "\\&",
                                          "\\%",
                                          "\\$",
                                          "\\#",
                                          "\\_",
                                          "\\{",
                                          "\\}"};
    ocdm__output_text(output, before);
    write_escaped(output, text, "\\~^<>&%$#_{}", escapes);
    ocdm__output_text(output, after);
}

static void write_latex_groups(const ocdm__table *table, ocdm__output *output)
{
    for (size_t column = 0, next; column < table->column_count; column = next) {
        next = group_end(table, column);
        ocdm__put(output, "%s\\multicolumn{%zu}{c}{", column > 0 ? " & " : "", next - column);
        write_latex_text(output, "", table->columns[column].group, "}");
    }
    ocdm__output_text(output, " \\\\\n");
    for (size_t column = 0, next; column < table->column_count; column = next) {
        next = group_end(table, column);
        if (table->columns[column].group[0] != '\0')
            ocdm__put(output, "\\cmidrule(lr){%zu-%zu}", column + 1, next);
    }
    ocdm__output_text(output, "\n");
}

static void write_latex(const ocdm__table *table, ocdm__output *output)
{
    char paragraph[OCDM__TABLE_NOTE];
    ocdm__output_text(output, "\\begin{table}\n\\centering\n");
    if (table->title[0] != '\0')
        write_latex_text(output, "\\caption{", table->title, "}\n");
    ocdm__output_text(output, "\\begin{tabular}{l");
    for (size_t i = 1; i < table->column_count; i++)
        ocdm__output_text(output, "c");
    ocdm__output_text(output, "}\n\\toprule\n");
    if (has_groups(table, 0, table->column_count))
        write_latex_groups(table, output);
    for (size_t i = 0; i < table->column_count; i++)
        write_latex_text(output, i > 0 ? " & " : "", table->columns[i].head, "");
    ocdm__output_text(output, " \\\\\n\\midrule\n");
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            const ocdm__cell *cell = ocdm__table_at(table, row, i);
            char shown[SHOWN];
            show_cell(cell, " $\\pm$ ", shown);
            ocdm__output_text(output, i > 0 ? " & " : "");
            ocdm__output_text(output, cell->bold ? "\\textbf{" : "");
            if (cell->kind == OCDM__CELL_TEXT)
                write_latex_text(output, "", shown, "");
            else
                ocdm__output_text(output, shown);
            ocdm__output_text(output, cell->bold ? "}" : "");
        }
        ocdm__output_text(output, " \\\\\n");
    }
    ocdm__output_text(output, "\\bottomrule\n\\end{tabular}\n");
    for (const char *note = table->note; (note = next_paragraph(output, note, paragraph)) != NULL;)
        write_latex_text(output, "{\\footnotesize ", paragraph, "}\n");
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
