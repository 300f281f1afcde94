/*
 * The part of a batch that is this process's; and files with the tensors of a learner, which are fetched one at a time.
 *
 * A checkpoint of a large network would otherwise need its size in memory once more.
 */
#include "experiment/loop/learner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/safetensors.h"

/* ---- parts of a batch -------------------------------------------------------------------------------------------------- */

ocdm__learner_part ocdm__learner_part_of(const ocdm__learner *learner, size_t count, bool training)
{
    ocdm__learner_part part = {.ranks = &ocdm__ranks_alone, .end = count};
    const ocdm__ranks *ranks = NULL;
    if (learner->functions->deal != NULL)
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
static ocdm_status data_of(const ocdm__learner_file *file, size_t i, const unsigned char **data, ocdm_error *error)
{
    *data = file->tensors[i].data;
    if (*data != NULL || file->tensors[i].size == 0)
        return OCDM_OK;
    return file->learner->functions->fetch(file->learner->state, file->saved, i - file->first, data, error);
}

/* The header, made in memory, has the bytes that ocdm__safetensors_write gives it. The checksum is over the header, in which
 * its place is blank, and all data. */
static ocdm_status make_header(ocdm__output *header, const ocdm__learner_file *file, ocdm_error *error)
{
    static const char before[] = "{\"__metadata__\":{\"checksum\":\"";
    char digits[24];
    uint64_t sum;
    struct ocdm__note *notes = ocdm__allocate(file->note_count + 1, sizeof *notes);
    if (notes == NULL)
        return ocdm__fail_memory(error, "a file's header");
    notes[0] = (struct ocdm__note){.key = "checksum", .value = OCDM__CHECKSUM_BLANK};
    memcpy(notes + 1, file->notes, file->note_count * sizeof *notes);
    ocdm_status status =
        ocdm__safetensors_begin(header, notes, file->note_count + 1, file->tensors, file->tensor_count, &sum, error);
    ocdm__release(notes);
    OCDM_THEN(status, ocdm__output_check(header, error));
    OCDM_TRY(status);
    char *text = header->buffer + 8; /* after the header's length */
    sum = ocdm__checksum(OCDM__CHECKSUM_START, text, header->used - 8);
    for (size_t i = 0; i < file->tensor_count; i++) {
        const unsigned char *data;
        OCDM_TRY(data_of(file, i, &data, error));
        sum = ocdm__checksum(sum, data, file->tensors[i].size);
    }
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    memcpy(text + strlen(before), digits, strlen(OCDM__CHECKSUM_BLANK));
    return OCDM_OK;
}

/* Fetches the tensors a second time rather than keeping all of them in memory. */
ocdm_status ocdm__learner_file_write(ocdm__output *output, const ocdm__learner_file *file, ocdm_error *error)
{
    ocdm__output header;
    OCDM_TRY(ocdm__output_open_memory(&header, "a file's header", error));
    ocdm_status status = make_header(&header, file, error);
    if (status == OCDM_OK)
        ocdm__output_write(output, header.buffer, header.used);
    ocdm__output_abandon(&header);
    OCDM_TRY(status);
    for (size_t i = 0; i < file->tensor_count; i++) {
        const unsigned char *data;
        OCDM_TRY(data_of(file, i, &data, error));
        ocdm__output_write(output, data, file->tensors[i].size);
    }
    return OCDM_OK;
}

ocdm_status ocdm__learner_save(const ocdm__learner *learner, const struct ocdm__note *notes, size_t note_count,
                               const char *path, ocdm_error *error)
{
    ocdm__tensor_list saved = {.count = 0};
    ocdm__output output;
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm_status status = learner->functions->save(learner->state, false, &saved, error);
    const ocdm__learner_file file = {.notes = notes,
                                     .note_count = note_count,
                                     .tensors = saved.tensors,
                                     .tensor_count = saved.count,
                                     .learner = learner,
                                     .saved = &saved};
    OCDM_THEN(status, ocdm__learner_file_write(&output, &file, error));
    ocdm__tensor_list_clear(&saved);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}
