/*
 * The part of a batch that is this process's; and files with the tensors of a learner, which are fetched one at a time.
 *
 * A checkpoint of a large network would otherwise need its size in memory once more.
 */
#include "experiment/loop/learner.h"

/* ---- parts of a batch -------------------------------------------------------------------------------------------------- */

ocdm__learner_part ocdm__learner_part_of(const ocdm__learner *learner, size_t count, bool training)
{
    ocdm__learner_part part = {.ranks = &ocdm__ranks_alone, .end = count};
    const ocdm__ranks *ranks = NULL;
    if (learner != NULL && learner->functions->deal != NULL)
        ranks = learner->functions->deal(learner->state, count, training, &part.starts);
    if (ranks != NULL) {
        part.ranks = ranks;
        part.first = part.starts[part.ranks->rank];
        part.end = part.starts[part.ranks->rank + 1];
    }
    return part;
}

/* ---- files --------------------------------------------------------------------------------------------------------------- */

/* A learner's tensors have no data until they are fetched. */
static ocdm_status data_of(const void *state, size_t i, const unsigned char **data, ocdm_error *error)
{
    const ocdm__learner_file *file = state;
    *data = file->tensors[i].data;
    if (*data != NULL || file->tensors[i].size == 0)
        return OCDM_OK;
    return file->learner->functions->fetch(file->learner->state, file->saved, i - file->first, data, error);
}

ocdm_status ocdm__learner_file_write(const char *path, const ocdm__learner_file *file, ocdm_error *error)
{
    ocdm__output output;
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm_status status = ocdm__safetensors_write_from(&output, file->notes, file->note_count, file->tensors, file->tensor_count,
                                                      data_of, file, error);
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    ocdm__output_abandon(&output);
    return status;
}

ocdm_status ocdm__learner_save(const ocdm__learner *learner, const struct ocdm__note *notes, size_t note_count,
                               const char *path, ocdm_error *error)
{
    ocdm__tensor_list saved = {.count = 0};
    ocdm_status status = learner->functions->save(learner->state, false, &saved, error);
    const ocdm__learner_file file = {.notes = notes,
                                     .note_count = note_count,
                                     .tensors = saved.tensors,
                                     .tensor_count = saved.count,
                                     .learner = learner,
                                     .saved = &saved};
    OCDM_THEN(status, ocdm__learner_file_write(path, &file, error));
    ocdm__tensor_list_clear(&saved);
    return status;
}
