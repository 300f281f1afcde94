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

/* A row that is the heads of the columns. */
#define HEADS SIZE_MAX

/* What is in a row and column as people see it, without bold; `sign` separates a number from its deviation; a range is in
 * brackets. An empty cell is "-". Returns the cell, NULL for a head. */
static const ocdm__cell *show_place(const ocdm__table *table, size_t row, size_t column, const char *sign, char shown[SHOWN])
{
    const ocdm__cell *cell = row != HEADS ? ocdm__table_at(table, row, column) : NULL;
    if (cell == NULL) {
        snprintf(shown, SHOWN, "%s", table->columns[column].head);
        return NULL;
    }
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
    return cell;
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

/* ---- text --------------------------------------------------------------------------------------------------------------- */

#define GAP 2

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

/* What is in a row and column, and its width: a star that marks bold takes one column. */
static size_t show_text(const struct text *text, size_t row, size_t column, char shown[SHOWN])
{
    const ocdm__cell *cell = show_place(text->table, row, column, " ± ", shown);
    return text_width(shown) + (cell != NULL && cell->bold && !text->style->bold);
}

static size_t own_width(const struct text *text, size_t column)
{
    char shown[SHOWN];
    size_t width = show_text(text, HEADS, column, shown);
    for (size_t row = 0; row < text->table->row_count; row++) {
        size_t here = show_text(text, row, column, shown);
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

/* A row of a part, whose columns are the first of the table, then `first` to `end`. Nothing is written after its last cell. */
static void write_row(const struct text *text, size_t row, size_t first, size_t end)
{
    for (size_t k = first - 1; k < end; k++) {
        char shown[SHOWN];
        size_t column = k < first ? 0 : k;
        int room = (int)(column_width(text, column) - show_text(text, row, column, shown));
        bool bold = row != HEADS && ocdm__table_at(text->table, row, column)->bold, left = is_left(text->table, column);
        const char *before = bold && text->style->bold ? "\033[1m" : "";
        ocdm__put(text->output, "%*s%s%s", (k < first ? 0 : GAP) + (left ? 0 : room), "", before, shown);
        if (bold)
            ocdm__output_text(text->output, text->style->bold ? "\033[0m" : "*");
        if (left && k + 1 < end)
            ocdm__put(text->output, "%*s", room, "");
    }
    ocdm__output_text(text->output, "\n");
}

/* Headings of groups, centred over their columns between dashes. */
static void write_groups(const struct text *text, size_t first, size_t end)
{
    while (text->table->columns[end - 1].group[0] == '\0')
        end--;
    ocdm__put(text->output, "%*s", (int)column_width(text, 0), "");
    for (size_t column = first; column < end;) {
        const char *name = text->table->columns[column].group;
        size_t next = group_end(text->table, column), around = group_width(text, column, next) - GAP - text_width(name);
        bool dashes = name[0] != '\0' && around >= 4;
        ocdm__put(text->output, "%*s", GAP, "");
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
        /* The end of the part of the table that starts with `first`: as many groups as fit, at least one. */
        size_t used = column_width(&text, 0), end = first;
        while (end < text.table->column_count) {
            size_t next = group_end(text.table, end);
            used += group_width(&text, end, next);
            if (used > text.style->width && end > first)
                break;
            end = next;
        }
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

/* ---- Markdown and LaTeX ------------------------------------------------------------------------------------------------- */

struct markup {
    const char *special; /* characters, and what stands for each of them: in cells, */
    const char *escapes[12];
    bool escapes_prose; /* and in title and notes */
    const char *title[2], *note[2];
    const char *first, *between, *last; /* of a row */
    const char *bold[2], *sign;
};

static const struct markup markdown = {.special = "|\\",
                                       .escapes = {"\\|", "\\\\"},
                                       .title = {"", "\n\n"},
                                       .note = {"", "\n"},
                                       .first = "| ",
                                       .between = " | ",
                                       .last = " |\n",
                                       .bold = {"**", "**"},
                                       .sign = " ± "};
static const struct markup latex = {.special = "\\~^<>&%$#_{}",
                                    .escapes = {"\\textbackslash{}", "\\textasciitilde{}", "\\textasciicircum{}", "$<$", "$>$",
                                                "\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}"},
                                    .escapes_prose = true,
                                    .title = {"\\caption{", "}\n"},
                                    .note = {"{\\footnotesize ", "}\n"},
                                    .first = "",
                                    .between = " & ",
                                    .last = " \\\\\n",
                                    .bold = {"\\textbf{", "}"},
                                    .sign = " $\\pm$ "};

static void write_escaped(ocdm__output *output, const struct markup *markup, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *found = strchr(markup->special, *text);
        if (found != NULL)
            ocdm__output_text(output, markup->escapes[found - markup->special]);
        else
            ocdm__output_write(output, text, 1);
    }
}

static void write_prose(ocdm__output *output, const struct markup *markup, const char *const around[2], const char *text)
{
    ocdm__output_text(output, around[0]);
    if (markup->escapes_prose)
        write_escaped(output, markup, text);
    else
        ocdm__output_text(output, text);
    ocdm__output_text(output, around[1]);
}

/* Markdown has no heading over several columns: each repeats that of its group. Numbers have no special characters. */
static void write_marked_row(const ocdm__table *table, size_t row, const struct markup *markup, ocdm__output *output)
{
    for (size_t i = 0; i < table->column_count; i++) {
        char shown[SHOWN];
        const ocdm__cell *cell = show_place(table, row, i, markup->sign, shown);
        bool bold = cell != NULL && cell->bold;
        ocdm__output_text(output, i == 0 ? markup->first : markup->between);
        if (cell == NULL && markup == &markdown) {
            write_escaped(output, markup, table->columns[i].group);
            ocdm__output_text(output, table->columns[i].group[0] != '\0' && shown[0] != '\0' ? " " : "");
        }
        ocdm__output_text(output, bold ? markup->bold[0] : "");
        if (cell == NULL || cell->kind == OCDM__CELL_TEXT)
            write_escaped(output, markup, shown);
        else
            ocdm__output_text(output, shown);
        ocdm__output_text(output, bold ? markup->bold[1] : "");
    }
    ocdm__output_text(output, markup->last);
}

static void write_marked(const ocdm__table *table, const struct markup *markup, ocdm__output *output)
{
    char paragraph[OCDM__TABLE_NOTE];
    bool is_latex = markup == &latex;
    ocdm__output_text(output, is_latex ? "\\begin{table}\n\\centering\n" : "");
    if (table->title[0] != '\0')
        write_prose(output, markup, markup->title, table->title);
    ocdm__output_text(output, is_latex ? "\\begin{tabular}{l" : "");
    for (size_t i = 1; is_latex && i < table->column_count; i++)
        ocdm__output_text(output, "c");
    ocdm__output_text(output, is_latex ? "}\n\\toprule\n" : "");
    if (is_latex && has_groups(table, 0, table->column_count)) {
        for (size_t column = 0, next; column < table->column_count; column = next) {
            next = group_end(table, column);
            ocdm__put(output, "%s\\multicolumn{%zu}{c}{", column > 0 ? " & " : "", next - column);
            write_escaped(output, &latex, table->columns[column].group);
            ocdm__output_text(output, "}");
        }
        ocdm__output_text(output, " \\\\\n");
        for (size_t column = 0, next; column < table->column_count; column = next) {
            next = group_end(table, column);
            if (table->columns[column].group[0] != '\0')
                ocdm__put(output, "\\cmidrule(lr){%zu-%zu}", column + 1, next);
        }
        ocdm__output_text(output, "\n");
    }
    write_marked_row(table, HEADS, markup, output);
    for (size_t i = 0; !is_latex && i < table->column_count; i++)
        ocdm__output_text(output, is_left(table, i) ? "|---" : "|---:");
    ocdm__output_text(output, is_latex ? "\\midrule\n" : "|\n");
    for (size_t row = 0; row < table->row_count; row++)
        write_marked_row(table, row, markup, output);
    ocdm__output_text(output, is_latex ? "\\bottomrule\n\\end{tabular}\n" : "");
    for (const char *note = table->note; (note = next_paragraph(output, note, paragraph)) != NULL;)
        write_prose(output, markup, markup->note, paragraph);
    ocdm__output_text(output, is_latex ? "\\end{table}\n" : "");
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------------- */

/* Columns whose key begins with a dot are a chart's. */
static bool is_data(const ocdm__table *table, size_t column)
{
    return table->columns[column].key[0] != '.';
}

static void write_csv(const ocdm__table *table, ocdm__output *output)
{
    for (size_t row = HEADS; row == HEADS || row < table->row_count; row++) {
        const char *between = "";
        for (size_t i = 0; i < table->column_count; i++) {
            const ocdm__cell *cell = row != HEADS ? ocdm__table_at(table, row, i) : NULL;
            if (!is_data(table, i))
                continue;
            ocdm__output_text(output, between);
            between = ",";
            if (cell == NULL || cell->kind == OCDM__CELL_TEXT)
                ocdm__put_csv(output, cell == NULL ? table->columns[i].key : cell->text);
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
        write_marked(table, &markdown, output);
        break;
    case OCDM__LATEX:
        write_marked(table, &latex, output);
        break;
    case OCDM__CSV:
        write_csv(table, output);
        break;
    case OCDM__JSON:
        write_json(table, output);
        break;
    }
}
