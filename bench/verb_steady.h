/* `ocdm-bench memory --steady`. Its flags are in the table of `ocdm-bench memory`. */
#ifndef OCDM_BENCH_VERB_STEADY_H
#define OCDM_BENCH_VERB_STEADY_H

#include "cli/flags.h"

/* The choices of --policies, terminated by NULL. The first is "reference", the paper's loop. */
const char *const *ocdm__bench_policies(void);

/* The choices of --clock, terminated by NULL. */
extern const char *const ocdm__steady_clock_names[];

/* Measures and prints. */
ocdm_status ocdm__run_bench_steady(const ocdm__arguments *arguments, ocdm_error *error);

#endif
