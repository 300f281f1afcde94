/* Labels of a batch. */
#include "experiment/loop/labels.h"

#include "base/allocate.h"
#include "base/error.h"

static bool make_room(ocdm__batch_labels *batch, size_t starts, size_t labels)
{
    bool failed = false;
    if (starts > batch->start_room) {
        batch->starts = ocdm__grown(batch->starts, starts, sizeof *batch->starts, &failed);
        batch->start_room = failed ? batch->start_room : starts;
    }
    if (!failed && labels > batch->label_room) {
        batch->labels = ocdm__grown(batch->labels, 2 * labels, sizeof *batch->labels, &failed);
        batch->label_room = failed ? batch->label_room : 2 * labels;
    }
    return !failed;
}

ocdm_status ocdm__batch_labels_gather(ocdm__batch_labels *batch, const ocdm__label_lists *lists, const uint32_t *samples,
                                      size_t count, ocdm_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (size_t)(lists->starts[samples[i] + (size_t)1] - lists->starts[samples[i]]);
    if (!make_room(batch, count + 1, total))
        return ocdm__fail_memory(error, "the labels of a batch");
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        batch->starts[i] = used;
        for (uint64_t k = lists->starts[samples[i]]; k < lists->starts[samples[i] + (size_t)1]; k++)
            batch->labels[used++] = lists->labels[k];
    }
    batch->starts[count] = used;
    return OCDM_OK;
}

void ocdm__batch_labels_clear(ocdm__batch_labels *batch)
{
    ocdm__release(batch->starts);
    ocdm__release(batch->labels);
    *batch = (ocdm__batch_labels){.starts = NULL};
}
