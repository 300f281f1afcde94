/* A table for programs: CSV (RFC 4180, a header of keys) and JSON (a list of objects, one a line). */
#include <string.h>

#include "base/json.h"
#include "report/tables/write.h"

static void write_number(const ocdm__cell *cell, ocdm__output *output)
{
    ocdm__output_double(output, cell->value);
}

static void write_csv_text(const char *text, ocdm__output *output)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        ocdm__output_text(output, text);
        return;
    }
    ocdm__output_text(output, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            ocdm__output_text(output, "\"");
        ocdm__output_write(output, text, 1);
    }
    ocdm__output_text(output, "\"");
}

void ocdm__table_write_csv(const ocdm__table *table, ocdm__output *output)
{
    for (size_t i = 0; i < table->column_count; i++) {
        ocdm__output_text(output, i > 0 ? "," : "");
        write_csv_text(table->columns[i].key, output);
    }
    ocdm__output_text(output, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            const ocdm__cell *cell = ocdm__table_at(table, row, i);
            ocdm__output_text(output, i > 0 ? "," : "");
            if (cell->kind == OCDM__CELL_TEXT)
                write_csv_text(cell->text, output);
            else if (cell->kind == OCDM__CELL_NUMBER)
                write_number(cell, output);
        }
        ocdm__output_text(output, "\n");
    }
}

static void write_json_cell(const ocdm__cell *cell, ocdm__output *output)
{
    if (cell->kind == OCDM__CELL_TEXT)
        ocdm__output_json_string(output, cell->text, strlen(cell->text));
    else if (cell->kind == OCDM__CELL_NUMBER)
        write_number(cell, output);
    else
        ocdm__output_text(output, "null");
}

void ocdm__table_write_json(const ocdm__table *table, ocdm__output *output)
{
    ocdm__output_text(output, "[");
    for (size_t row = 0; row < table->row_count; row++) {
        ocdm__output_text(output, row > 0 ? ",\n{" : "\n{");
        for (size_t i = 0; i < table->column_count; i++) {
            const char *key = table->columns[i].key;
            ocdm__output_text(output, i > 0 ? "," : "");
            ocdm__output_json_string(output, key, strlen(key));
            ocdm__output_text(output, ":");
            write_json_cell(ocdm__table_at(table, row, i), output);
        }
        ocdm__output_text(output, "}");
    }
    ocdm__output_text(output, "\n]\n");
}
