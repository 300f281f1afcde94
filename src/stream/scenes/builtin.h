/*
 * The built-in label stream: made up, with the published statistics of the paper's MSCOCO stream, so that demo, benches and
 * tests need no download. 44 classes in 4 tasks, 26,617 samples. The counts of every class are the same for every seed; the
 * seed decides which classes meet on a sample and in what order a task's samples come. docs/builtin-stream.md compares it with
 * the paper's.
 *
 * Integers only: the stream is the same bytes on every machine.
 */
#ifndef OCDM_STREAM_SCENES_BUILTIN_H
#define OCDM_STREAM_SCENES_BUILTIN_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

#define OCDM__BUILTIN_CLASSES 44
#define OCDM__BUILTIN_TASKS 4

/* Sample i carries label[label_start[i]] .. label[label_start[i + 1] - 1], ascending class numbers; its id is i. Tasks follow
 * one another: 0, 1, 2, 3. */
typedef struct ocdm__builtin {
    size_t sample_count;
    size_t class_count;
    size_t task_count;
    uint32_t *task;      /* of each sample */
    size_t *label_start; /* sample_count + 1 of them */
    uint32_t *label;
} ocdm__builtin;

/* Makes the stream of a seed. OCDM_OK or OCDM_NO_MEMORY; `builtin` is set on success, destroyed by the caller. */
ocdm_status ocdm__builtin_create(uint64_t seed, ocdm__builtin **builtin, ocdm_error *error);

/* Frees it. NULL is fine. */
void ocdm__builtin_destroy(ocdm__builtin *builtin);

/* The name of a class, a word in lower-case ASCII, and its task. `class_number` is below class_count. */
const char *ocdm__builtin_class_name(uint32_t class_number);
uint32_t ocdm__builtin_class_task(uint32_t class_number);

#endif
