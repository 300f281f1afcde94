/* The verbs of the program `ocdm`. */
#include "cli/verbs.h"

const char ocdm__program[] = "ocdm";
const char ocdm__tagline[] = "a replay memory for streams whose samples carry several labels";

#define VERB_ADDRESS(name) &ocdm__verb_##name,
const ocdm__verb *const ocdm__verbs[] = {OCDM__VERBS(VERB_ADDRESS) NULL};
