/*
 * The OCDM paper's way to build a stream from a labelled set whose classes have been assigned to tasks (its section 4.1):
 *
 *   train   samples with two labels or more, all of them classes of one task;
 *   test    of what is left, exactly `test_per_class` samples for each class, in the class's task;
 *   removed a class for which there are not that many: its label leaves the training samples, and a training sample that is
 *           left without a label goes.
 *
 * The paper says that the test samples are "the remaining samples". Which of them is open, so there are two pools:
 *
 *   single  samples with one label: about as many classes survive as in the paper;
 *   rest    every sample with the class that is no training sample, so also those whose labels are of several tasks or partly
 * of none. Such a sample is in the test part of one task only, that of the class it was drawn for, and keeps of its labels
 * those of this task. Classes draw in ascending order of how many samples they can draw from, so that a rare one is not left
 * short by a frequent one; a class may then be on more than `test_per_class` test samples.
 *
 * Draws are uniform without replacement. Each sample has a number for each class, a hash of seed, class key and sample key, and
 * the smallest win: with keys that stay with samples and classes (their ids and names), the order of the source does not
 * matter, and a sample more or less changes at most one place in a class's draw.
 */
#ifndef OCDM_STREAM_RECIPES_PAPER_H
#define OCDM_STREAM_RECIPES_PAPER_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/labelled_set.h"
#include "stream/selection.h"

#define OCDM__PAPER_TEST_PER_CLASS 50

enum ocdm__test_pool { OCDM__TEST_FROM_SINGLE = 0, OCDM__TEST_FROM_REST = 1 };

typedef struct ocdm__paper_settings {
    const uint32_t *class_tasks; /* by class, OCDM__NO_TASK for a class that no task has */
    enum ocdm__test_pool pool;
    uint32_t test_per_class; /* 0: no test part, and no class is removed */
    uint64_t seed;
} ocdm__paper_settings;

/* The labelled set as the recipe looks at it. */
typedef struct ocdm__paper_source {
    size_t count;
    const uint64_t *label_starts; /* count + 1 of them */
    const uint32_t *labels;       /* of each sample ascending, no repeats */
    size_t class_count;
    const uint64_t *sample_keys; /* NULL: positions */
    const uint64_t *class_keys;  /* NULL: class numbers */
} ocdm__paper_source;

/* What became of the samples: the first seven add up to their number. */
typedef struct ocdm__paper_tally {
    uint64_t train, test;
    uint64_t without_label;  /* left out: no label at all */
    uint64_t without_task;   /* left out: a label that no task has */
    uint64_t mixed;          /* left out: labels of several tasks */
    uint64_t of_removed;     /* left out: labels of removed classes only */
    uint64_t not_drawn;      /* left out: one label, of a class that stays, whose test part is full */
    size_t kept, removed;    /* classes of the tasks */
    size_t without_training; /* of the kept ones: no training sample carries it */
} ocdm__paper_tally;

/* What was decided. */
typedef struct ocdm__paper_choice {
    uint8_t *parts;        /* by sample: OCDM__TRAIN, OCDM__TEST, or OCDM__NO_PART when it is left out */
    uint32_t *tasks;       /* by sample; OCDM__NO_TASK when it is left out */
    uint8_t *kept_classes; /* by class: 1 when it stays */
    ocdm__paper_tally tally;
} ocdm__paper_choice;

/*
 * Applies the recipe. A sample in the stream keeps those of its labels that stay and are of its task. OCDM_OK, OCDM_NO_MEMORY.
 * `choice` is written on success only, to be cleared by the caller. O(labels), plus sorting the pool of each class.
 */
ocdm_status ocdm__paper_choose(ocdm__paper_choice *choice, const ocdm__paper_source *source,
                               const ocdm__paper_settings *settings, ocdm_error *error);

/* Gives everything back. All zero is fine. */
void ocdm__paper_choice_clear(ocdm__paper_choice *choice);

/* The same as a selection, samples in the order of the set. Keys are FNV-1a hashes (base/checksum.h) of ids and class names.
 * OCDM_OK, OCDM_NO_MEMORY. `selection`, all zero before, is to be cleared in either case. */
ocdm_status ocdm__select_paper(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__paper_settings *settings,
                               ocdm__paper_tally *tally, ocdm_error *error);

#endif
