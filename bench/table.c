/* The program `ocdm-bench`, which measures: the same command line as `ocdm`, with a table of verbs of its own. It is not
 * installed. */
#include "cli/verbs.h"

extern const ocdm__verb ocdm__verb_bench_memory;
extern const ocdm__verb ocdm__verb_bench_gap;
extern const ocdm__verb ocdm__verb_bench_train;

const char ocdm__program[] = "ocdm-bench";
const char ocdm__tagline[] = "how fast the memory and the networks are, and how good the greedy is";

const ocdm__verb *const ocdm__verbs[] = {
    &ocdm__verb_bench_memory, &ocdm__verb_bench_gap, &ocdm__verb_bench_train, &ocdm__verb_help, NULL,
};
