/*
 * Where a stream comes from, as notes in its file: the command, every source file with its size and SHA-256, the seed, and a
 * SHA-256 over task, part and id of every sample, by which others can tell that they have the same stream. Names of files
 * without their folders and no date: the same inputs give the same bytes anywhere and at any time.
 */
#ifndef OCDM_STREAM_PROVENANCE_H
#define OCDM_STREAM_PROVENANCE_H

#include <stddef.h>

#include "base/progress.h"
#include "base/safetensors.h"
#include "base/sha256.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

#define OCDM__PROVENANCE_NOTES 8

/* Start with all bytes zero. */
typedef struct ocdm__provenance {
    struct ocdm__note notes[OCDM__PROVENANCE_NOTES];
    size_t note_count;
    char *sources; /* JSON: a list of {"file","bytes","sha256"} */
    char ids[OCDM__SHA256_TEXT];
} ocdm__provenance;

/* Reads every file once. `command` and `image_root` (may be NULL) must outlive the provenance. OCDM_OK, OCDM_IO,
 * OCDM_NO_MEMORY, OCDM_STOPPED. Clear it in either case. */
ocdm_status ocdm__provenance_make(ocdm__provenance *provenance, const char *command, const char *image_root,
                                  const char *const *files, size_t file_count, const ocdm__stream_table *table,
                                  const ocdm__progress *progress, ocdm_error *error);

/* Releases everything. */
void ocdm__provenance_clear(ocdm__provenance *provenance);

/* SHA-256 of the lines `task TAB part TAB id` of all samples in the stream's order; a part is "train" or "test". */
void ocdm__digest_ids(const ocdm__stream_table *table, char text[OCDM__SHA256_TEXT]);

#endif
