/* Builds tables. */
#include "report/tables/table.h"

#include <assert.h>

ocdm_status ocdm__table_begin(ocdm__table *table, const ocdm__column *columns, size_t count, ocdm_error *error)
{
    *table = (ocdm__table){.column_count = count};
    if (!ocdm__reserve(&table->columns, &table->column_room, count, sizeof *columns))
        return ocdm__fail_memory(error, "a table");
    memcpy(table->columns, columns, count * sizeof *columns);
    return OCDM_OK;
}

ocdm_status ocdm__table_begin_keys(ocdm__table *table, const char *const *keys, ocdm_error *error)
{
    *table = (ocdm__table){.row_count = 0};
    ocdm__table_row(table);
    for (size_t i = 0; keys[i] != NULL; i++)
        OCDM__CELLS(table, OCDM__EXACT(keys[i], NAN));
    table->row_count = 0;
    return ocdm__table_check(table, error);
}

static const ocdm__cell empty = {.kind = OCDM__CELL_EMPTY, .value = NAN, .deviation = NAN};

ocdm__cell *ocdm__table_row(ocdm__table *table)
{
    if (!ocdm__reserve(&table->cells, &table->room, (table->row_count + 1) * table->column_count, sizeof *table->cells))
        table->texts.failed = true;
    table->filled = 0;
    if (table->texts.failed)
        return NULL;
    size_t first = table->row_count++ * table->column_count;
    for (size_t i = 0; i < table->column_count; i++)
        table->cells[first + i] = empty;
    return table->column_count > 0 ? table->cells + first : NULL;
}

/* The next cell of the last row. NULL if it does not fit. */
static ocdm__cell *next_cell(ocdm__table *table, const char *key)
{
    size_t column = table->filled++;
    if (table->texts.failed)
        return NULL;
    if (column == table->column_count && table->row_count == 1) {
        if (!ocdm__reserve(&table->columns, &table->column_room, column + 1, sizeof *table->columns) ||
            !ocdm__reserve(&table->cells, &table->room, column + 1, sizeof *table->cells)) {
            table->texts.failed = true;
            return NULL;
        }
        ocdm__column *made = &table->columns[table->column_count++];
        *made = (ocdm__column){.key = ""};
        snprintf(made->key, sizeof made->key, "%s", key);
        snprintf(made->head, sizeof made->head, "%s", key);
    }
    assert(strcmp(table->columns[column].key, key) == 0);
    return ocdm__table_at(table, table->row_count - 1, column);
}

void ocdm__table_add(ocdm__table *table, const ocdm__entry *entries, size_t count)
{
    for (const ocdm__entry *entry = entries; entry < entries + count; entry++) {
        ocdm__cell *cell = next_cell(table, entry->key);
        if (cell != NULL && entry->is_text)
            *cell = entry->text != NULL ? ocdm__cell_text(table, entry->text) : empty;
        else if (cell != NULL)
            *cell = ocdm__cell_number(entry->value, NAN, entry->decimals);
    }
}

ocdm__cell *ocdm__table_at(const ocdm__table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

double ocdm__table_number(const ocdm__table *table, size_t row, size_t column)
{
    return column < table->column_count ? ocdm__table_at(table, row, column)->value : NAN;
}

size_t ocdm__table_column(const ocdm__table *table, const char *key)
{
    size_t column = key != NULL ? 0 : table->column_count;
    while (column < table->column_count && strcmp(table->columns[column].key, key) != 0)
        column++;
    return column;
}

ocdm_status ocdm__table_check(const ocdm__table *table, ocdm_error *error)
{
    return ocdm__arena_check(&table->texts, "a table", error);
}

void ocdm__table_fold(ocdm__table *table, size_t first, size_t blocks)
{
    size_t rows = (table->row_count - first) / blocks, step = rows * table->column_count;
    for (size_t i = 0; i < step; i++) {
        ocdm__cell *cells = ocdm__table_at(table, first, 0) + i; /* of one place, `step` cells apart */
        double sum = 0, low = INFINITY, high = -INFINITY;
        size_t count = 0;
        for (size_t k = 0; k < blocks; k++) {
            const ocdm__cell *cell = &cells[k * step];
            if (cell->kind != OCDM__CELL_NUMBER)
                continue;
            if (count++ == 0)
                *cells = *cell;
            sum += cell->value;
            low = fmin(low, cell->value);
            high = fmax(high, cell->value);
        }
        if (count == 0 || low == high)
            continue;
        cells->value = sum / (double)count;
        cells->deviation = NAN;
        cells->is_mean = true;
        cells->low = low;
        cells->high = high;
    }
    table->row_count = first + rows;
}

static void drop_column(ocdm__table *table, size_t gone)
{
    size_t left = 0;
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        if (i % table->column_count != gone)
            table->cells[left++] = table->cells[i];
    memmove(table->columns + gone, table->columns + gone + 1, (table->column_count - gone - 1) * sizeof *table->columns);
    table->column_count--;
}

void ocdm__table_drop(ocdm__table *table, const char *key)
{
    size_t gone = ocdm__table_column(table, key);
    if (gone < table->column_count)
        drop_column(table, gone);
}

void ocdm__table_drop_empty(ocdm__table *table)
{
    for (size_t column = table->column_count; column-- > 1;) {
        size_t row = 0;
        while (row < table->row_count && ocdm__table_at(table, row, column)->kind == OCDM__CELL_EMPTY)
            row++;
        if (row == table->row_count)
            drop_column(table, column);
    }
}

/* Columns repeat their texts from row to row: equal texts are one text. */
ocdm__cell ocdm__cell_text(ocdm__table *table, const char *text)
{
    ocdm__cell made = {.kind = OCDM__CELL_TEXT, .text = "", .value = NAN, .deviation = NAN};
    for (size_t back = 1; !table->texts.failed && table->row_count > 1 && back <= table->column_count; back++) {
        const ocdm__cell *above = &table->cells[(table->row_count - 1) * table->column_count - back];
        if (above->kind == OCDM__CELL_TEXT && strcmp(above->text, text) == 0) {
            made.text = above->text;
            return made;
        }
    }
    const char *copy = ocdm__arena_text(&table->texts, text);
    made.text = copy != NULL ? copy : "";
    return made;
}

ocdm__cell ocdm__cell_number(double value, double deviation, int decimals)
{
    if (!isfinite(value))
        return empty;
    return (ocdm__cell){.kind = OCDM__CELL_NUMBER, .decimals = decimals, .value = value, .deviation = deviation};
}

void ocdm__table_clear(ocdm__table *table)
{
    ocdm__arena_clear(&table->texts);
    OCDM_RELEASE(table->columns, table->cells);
    *table = (ocdm__table){.row_count = 0};
}
