/* Which group each class of a stream is in: as the stream says, by bounds on training counts, or as a file says. */
#ifndef OCDM_EXPERIMENT_LOOP_EVALUATION_GROUPS_H
#define OCDM_EXPERIMENT_LOOP_EVALUATION_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"

/*
 * The groups by a text: "stream" for the stream's own; "H,L" for majority over H training samples, minority under L; else the
 * path of a file (stream/recipes/class_groups_file.h).
 *
 * groups  enum ocdm__class_group of each class, class_count of them, the caller's
 * counts  training samples with each class, likewise (ocdm__count_classes); only bounds need them
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (bounds that rise, a stream without groups of its own), and what the file gives.
 */
ocdm_status ocdm__evaluation_groups(const char *text, const ocdm__stream_table *table, const uint64_t *counts, uint8_t *groups,
                                    ocdm_error *error);

/* Whether such a text names a file; it need not end with a NUL. */
bool ocdm__groups_are_of_a_file(const char *text, size_t length);

/* How many samples of a part (enum ocdm__part) carry each class; `counts` is set to 0 first. */
void ocdm__count_classes(const ocdm__stream_table *table, uint8_t part, uint64_t *counts);

#endif
