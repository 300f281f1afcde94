/* Looking for logits that are not finite. */
#include "experiment/loop/logits_check.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

ocdm_status ocdm__logits_check(const ocdm__logits_source *source, uint32_t sample, const float *logits, size_t classes,
                               ocdm_error *error)
{
    for (size_t i = 0; i < classes; i++)
        if (!isfinite(logits[i]))
            return ocdm__fail(error, OCDM_BAD_RECORD, source->hint,
                              "%s: sample %" PRIu32 ": the logit of class %zu is not a finite number", source->stream, sample,
                              i);
    return OCDM_OK;
}
