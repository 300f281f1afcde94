/* What each number of an evaluation means, in plain text: for `--explain`, and so that tables and formulas share their names.
 */
#ifndef OCDM_METRICS_EXPLAIN_H
#define OCDM_METRICS_EXPLAIN_H

#include <stddef.h>

/* A name as it stands in files and tables, and its formula, one line without a full stop, ASCII alone. */
typedef struct ocdm__explanation {
    const char *name;
    const char *formula;
} ocdm__explanation;

/* The explanations in the order in which they are best read: 0, 1, 2, ... until NULL. Static data. */
const ocdm__explanation *ocdm__explanation_at(size_t index);

/* The explanation of a name, NULL when there is none. Letters count as they are: "mAP". */
const ocdm__explanation *ocdm__explain(const char *name);

#endif
