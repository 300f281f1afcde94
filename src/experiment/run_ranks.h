/*
 * A run on several ranks. Every rank opens the stream and makes the same run; the leader's is in a folder. All ranks make the
 * same decisions from the same files, so that only sums and gradients of the learner's parts are exchanged. Each rank prepares
 * the samples of its own part.
 */
#ifndef OCDM_EXPERIMENT_RUN_RANKS_H
#define OCDM_EXPERIMENT_RUN_RANKS_H

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

/* For the other ranks, once for every run: makes it with the leader until the leader ends it. Prints nothing. The settings are
 * those of the leader's command line. */
void ocdm__run_follow(ocdm__run_settings *settings, const char *stream, const ocdm__learner_maker *learner);

#endif
