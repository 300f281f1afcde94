/* A table for a terminal: columns aligned, headings over groups, and a table that is too wide broken into several. */
#include <stdio.h>
#include <string.h>

#include "report/tables/write.h"

#define GAP 2

/* How many columns a text takes: characters, not bytes. */
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

/* Columns that a cell takes; a star for bold takes one where there is no other bold. */
static size_t cell_width(const ocdm__cell *cell, const ocdm__table_style *style)
{
    char shown[OCDM__SHOWN];
    ocdm__cell_show(cell, " ± ", shown);
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

/* The last column of a group gives way to a heading that is wider than all of them. */
static size_t column_width(const ocdm__table *table, size_t column, const ocdm__table_style *style)
{
    const char *group = table->columns[column].group;
    size_t own = own_width(table, column, style), others = 0;
    if (group[0] == '\0' || ocdm__table_group_end(table, column) > column + 1)
        return own;
    for (size_t i = column; i > 0 && strcmp(table->columns[i - 1].group, group) == 0; i--)
        others += own_width(table, i - 1, style) + GAP;
    return others + own < text_width(group) ? text_width(group) - others : own;
}

/* What the columns of a group take in all, gaps before each. */
static size_t group_width(const ocdm__table *table, size_t first, size_t end, const ocdm__table_style *style)
{
    size_t width = 0;
    for (size_t i = first; i < end; i++)
        width += GAP + column_width(table, i, style);
    return width;
}

/* Where the part of the table that starts with `first` ends: after the groups that fit, one at least. */
static size_t part_end(const ocdm__table *table, size_t first, const ocdm__table_style *style)
{
    size_t used = column_width(table, 0, style), end = first;
    while (end < table->column_count) {
        size_t next = ocdm__table_group_end(table, end);
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
    char shown[OCDM__SHOWN];
    ocdm__cell_show(cell, " ± ", shown);
    size_t room = column_width(table, column, style) - cell_width(cell, style);
    if (!ocdm__table_is_left(table, column))
        write_spaces(output, room);
    if (cell->bold && style->bold)
        ocdm__output_text(output, "\033[1m");
    ocdm__output_text(output, shown);
    if (cell->bold)
        ocdm__output_text(output, style->bold ? "\033[0m" : "*");
    if (ocdm__table_is_left(table, column) && !last)
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
        if (!ocdm__table_is_left(table, column))
            write_spaces(output, room);
        ocdm__output_text(output, table->columns[column].head);
        if (ocdm__table_is_left(table, column) && k + 1 < end)
            write_spaces(output, room);
    }
    ocdm__output_text(output, "\n");
}

/* Headings of groups, each in the middle of its columns, dashes around it. */
static void write_groups(ocdm__output *output, const ocdm__table *table, size_t first, size_t end,
                         const ocdm__table_style *style)
{
    while (table->columns[end - 1].group[0] == '\0')
        end--;
    write_spaces(output, column_width(table, 0, style));
    for (size_t column = first; column < end;) {
        size_t next = ocdm__table_group_end(table, column);
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

void ocdm__table_write_text(const ocdm__table *table, const ocdm__table_style *style, ocdm__output *output)
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
    if (table->note[0] != '\0') {
        ocdm__output_text(output, "\n");
        write_filled(output, table->note, style->width);
    }
}
