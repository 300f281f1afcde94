/*
 * A run on several ranks. Every rank opens the stream and makes the same run; the leader's is in a folder. All ranks make the
 * same decisions from the same files, so that only sums and gradients of the learner's parts are exchanged. Each rank prepares
 * the samples of its own part.
 */
#ifndef OCDM_EXPERIMENT_RUN_RANKS_H
#define OCDM_EXPERIMENT_RUN_RANKS_H

#include "base/base.h"
#include "experiment/folder/run_folder.h"

/*
 * For the leader, once for every run: before the first step, or with NULL if no step is to be made. The other ranks get ready;
 * then they get the run's position, its memory and the learner's state, as a checkpoint may have left them. Nothing is done
 * for a process that is alone, or if the learner is.
 *
 * OCDM_OK, OCDM_NO_MEMORY; what a rank that did not get ready gives, whose number the message has; OCDM_BAD_FILE if a rank has
 * another stream, or other groups or weights of classes.
 */
ocdm_status ocdm__run_lead(ocdm__run *run, ocdm_error *error);

/*
 * Work that all ranks do alike, each with its own part of the samples, without a run. The others wait in ocdm__join_await,
 * which says whether the leader wants them. The leader calls ocdm__join_begin when it knows, at most once and before it makes
 * an agent, and ocdm__join_end in any case, at the end of its verb. Nothing is done in a process that is alone.
 */
void ocdm__join_begin(bool wanted);
void ocdm__join_end(void);
bool ocdm__join_await(void);

/* Whether this process works with others in that way. */
bool ocdm__joined(void);

/* All ranks have opened the stream and made the learner, or failed as `status` and `error` say. The same on all ranks: OCDM_OK
 * if all are ready and have the same stream; all then take over the leader's learner. The leader's error is that of the first
 * rank that is not. Without other ranks: `status`. */
ocdm_status ocdm__join_ready(const ocdm__learner *learner, const ocdm__stream *stream, ocdm_status status, ocdm_error *error);

/* For the other ranks, once for every run: makes it with the leader until the leader ends it. Prints nothing. The settings are
 * those of the leader's command line. */
void ocdm__run_follow(ocdm__run_settings *settings, const char *stream, const ocdm__learner_maker *learner);

#endif
