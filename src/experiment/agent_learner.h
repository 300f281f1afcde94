/* The networks of src/agent as learners. */
#ifndef OCDM_EXPERIMENT_AGENT_LEARNER_H
#define OCDM_EXPERIMENT_AGENT_LEARNER_H

#include "agent/agent.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "base/base.h"

/* Makes the learner of a run by its settings: a network, or ridge. */
extern const ocdm__learner_maker ocdm__agent_maker;

/* A learner around an agent, which it destroys. */
ocdm__learner ocdm__agent_learner(ocdm__agent *agent);

/* Streaming ridge regression (ridge_learner.c) on samples with so many features. `table` is the stream's if some labels are not
 * known; NULL: all are. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__ridge_learner(size_t inputs, size_t classes, const ocdm__run_settings *settings,
                                const ocdm__stream_table *table, ocdm__learner *learner, ocdm_error *error);

#endif
