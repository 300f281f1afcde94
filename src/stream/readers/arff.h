/*
 * ARFF tables with labels, as Mulan keeps them: WEKA's format, dense or sparse, and an XML file that tells which attributes are
 * labels:
 *     <labels xmlns="..."><label name="sky"><label name="clouds"/></label></labels>
 * Labels inside labels count as any other. A label attribute is {0,1} or numeric, and 0 or 1 in every row.
 *
 * The features are the other attributes in their order. Of a nominal attribute it is the number of the value in its list, from
 * 0, but {0,1} and {1,0} are numbers. What a sparse row leaves out is 0, of a nominal attribute the first of its values, as in
 * WEKA. Rows are counted from 0; blank lines and comments (% outside quotes) are none.
 *
 * Left out: relational attributes, weights of rows, values that span lines. Text and dates are no features; labels may stand
 * beside them.
 */
#ifndef OCDM_STREAM_READERS_ARFF_H
#define OCDM_STREAM_READERS_ARFF_H

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"
#include "stream/labelled_set.h"

/*
 * Adds the samples of a table, its labels the classes, in the order of the XML file, whether a sample has them or not. A
 * sample's id and row are its row. Every value is checked. With skip_bad, bad rows, those with a missing value (?) among them,
 * are left out: their rows of features must not be asked for.
 * OCDM_OK, OCDM_BAD_RECORD (with file:line:column), OCDM_DUPLICATE_ID, OCDM_TOO_MANY_LABELS, OCDM_IO, OCDM_NO_MEMORY,
 * OCDM_LIMIT, OCDM_STOPPED; after an error the set can only be cleared.
 */
ocdm_status ocdm__arff_read(ocdm__labelled_set *set, const char *arff_path, const char *xml_path, ocdm__reading *reading,
                            ocdm_error *error);

/*
 * Opens the features, after a pass over the file that counts rows; values are looked at when a row is read. `rows` is set on
 * success, yours to close; the paths need not outlive the call. OCDM_OK, OCDM_BAD_RECORD, OCDM_BAD_FILE (no rows or no
 * features), OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT.
 */
ocdm_status ocdm__arff_open_rows(const char *arff_path, const char *xml_path, ocdm__feature_rows **rows, ocdm_error *error);

#endif
