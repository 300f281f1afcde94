/* Builds tables; write.c writes them. */
#include "report/tables/table.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

ocdm_status ocdm__table_begin(ocdm__table *table, const ocdm__column *columns, size_t count, ocdm_error *error)
{
    *table = (ocdm__table){.column_count = count};
    table->columns = ocdm__allocate(count, sizeof *columns);
    if (table->columns == NULL)
        return ocdm__fail_memory(error, "a table");
    memcpy(table->columns, columns, count * sizeof *columns);
    return OCDM_OK;
}

ocdm__cell *ocdm__table_row(ocdm__table *table, ocdm_error *error)
{
    if (table->row_count == table->room) {
        size_t room = table->room == 0 ? 16 : 2 * table->room;
        ocdm__cell *cells = ocdm__resize(table->cells, room, table->column_count * sizeof *cells);
        if (cells == NULL) {
            ocdm__fail_memory(error, "a table");
            return NULL;
        }
        table->cells = cells;
        table->room = room;
    }
    ocdm__cell *row = table->cells + table->row_count++ * table->column_count;
    for (size_t i = 0; i < table->column_count; i++)
        row[i] = (ocdm__cell){.kind = OCDM__CELL_EMPTY, .value = NAN, .deviation = NAN};
    return row;
}

ocdm__cell *ocdm__table_at(const ocdm__table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

void ocdm__table_drop(ocdm__table *table, const char *key)
{
    size_t gone = 0, left = 0;
    while (gone < table->column_count && strcmp(table->columns[gone].key, key) != 0)
        gone++;
    if (gone == table->column_count)
        return;
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        if (i % table->column_count != gone)
            table->cells[left++] = table->cells[i];
    memmove(table->columns + gone, table->columns + gone + 1, (table->column_count - gone - 1) * sizeof *table->columns);
    table->room = table->room * table->column_count / (table->column_count - 1);
    table->column_count--;
}

void ocdm__cell_text(ocdm__cell *cell, const char *text)
{
    size_t length = strlen(text);
    if (length >= sizeof cell->text)
        for (length = sizeof cell->text - 1; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    *cell = (ocdm__cell){.kind = OCDM__CELL_TEXT, .value = NAN, .deviation = NAN};
    memcpy(cell->text, text, length);
}

ocdm__cell ocdm__cell_number(double value, double deviation, int decimals)
{
    enum ocdm__cell_kind kind = isnan(value) ? OCDM__CELL_EMPTY : OCDM__CELL_NUMBER;
    return (ocdm__cell){.kind = kind, .decimals = decimals, .value = value, .deviation = deviation};
}

void ocdm__table_clear(ocdm__table *table)
{
    ocdm__release(table->columns);
    ocdm__release(table->cells);
    *table = (ocdm__table){.row_count = 0};
}
