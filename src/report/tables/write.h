/* The writers of the formats, and what they share. */
#ifndef OCDM_REPORT_TABLES_WRITE_H
#define OCDM_REPORT_TABLES_WRITE_H

#include "report/tables/table.h"

#define OCDM__SHOWN (OCDM__TABLE_TEXT + 64)

/* A cell as people see it, without its bold; `sign` stands between a number and its deviation. An empty one is "-". */
void ocdm__cell_show(const ocdm__cell *cell, const char *sign, char shown[OCDM__SHOWN]);

/* The column after the last that shares the heading of `column`; a column without one is alone. */
size_t ocdm__table_group_end(const ocdm__table *table, size_t column);

/* Whether any column has a heading over it. */
bool ocdm__table_has_groups(const ocdm__table *table);

/* Whether a column is flush left: one without a number is. */
bool ocdm__table_is_left(const ocdm__table *table, size_t column);

void ocdm__table_write_text(const ocdm__table *table, const ocdm__table_style *style, ocdm__output *output);
void ocdm__table_write_markdown(const ocdm__table *table, ocdm__output *output);
void ocdm__table_write_latex(const ocdm__table *table, ocdm__output *output);
void ocdm__table_write_csv(const ocdm__table *table, ocdm__output *output);
void ocdm__table_write_json(const ocdm__table *table, ocdm__output *output);

#endif
