/* What a watch remembers. Inside src/report only. */
#ifndef OCDM_REPORT_WATCH_STATE_H
#define OCDM_REPORT_WATCH_STATE_H

#include "report/watch/watch.h"

/* Points of history; when they are full every second one goes. */
#define OCDM__WATCH_HISTORY 1024u
#define OCDM__WATCH_CLASSES 4096u
#define OCDM__WATCH_EVALUATIONS 256u

struct ocdm__watch {
    char method[40], stream[80];
    double seed, memory, train, batch, epochs;
    double step, task, loss, distance, kept, seconds;
    double history_step[OCDM__WATCH_HISTORY], history_loss[OCDM__WATCH_HISTORY], history_distance[OCDM__WATCH_HISTORY];
    size_t history_count;
    size_t every, passed; /* one of `every` logged steps is remembered */
    double counts[OCDM__WATCH_CLASSES];
    size_t count_count; /* classes; 0 while none were logged */
    double evaluation_step[OCDM__WATCH_EVALUATIONS], evaluation_task[OCDM__WATCH_EVALUATIONS],
        evaluation_map[OCDM__WATCH_EVALUATIONS], evaluation_distance[OCDM__WATCH_EVALUATIONS];
    size_t evaluation_count;
    bool started, ended;
};

#endif
