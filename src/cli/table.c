/* The verbs of the program `ocdm`. */
#include "cli/verbs.h"

const char ocdm__program[] = "ocdm";
const char ocdm__tagline[] = "a replay memory for streams whose samples carry several labels";

const ocdm__verb *const ocdm__verbs[] = {
    &ocdm__verb_sample,
    &ocdm__verb_merge,
    &ocdm__verb_split,
    &ocdm__verb_demo,
    &ocdm__verb_stream_build,
    &ocdm__verb_stream_info,
    &ocdm__verb_stream_show,
    &ocdm__verb_stream_export,
    &ocdm__verb_stream_featurize,
    &ocdm__verb_run,
    &ocdm__verb_compare,
    &ocdm__verb_paper,
    &ocdm__verb_report,
    &ocdm__verb_watch,
    &ocdm__verb_eval,
    &ocdm__verb_predict,
    &ocdm__verb_weights_info,
    &ocdm__verb_weights_export,
    &ocdm__verb_help,
    &ocdm__verb_man,
    &ocdm__verb_completion,
    NULL,
};
