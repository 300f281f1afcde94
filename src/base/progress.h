/* Progress of long work, the request to stop it, and the time. The code that works knows nothing of terminals or signals. */
#ifndef OCDM_BASE_PROGRESS_H
#define OCDM_BASE_PROGRESS_H

#include <signal.h>
#include "base/base.h"

/* All zero: no listener, and nothing stops. */
typedef struct ocdm__progress {
    void (*tell)(void *state, const char *what, uint64_t done, uint64_t total);
    void *state;
    const volatile sig_atomic_t *stop; /* set by a signal handler */
} ocdm__progress;

/* Reports that `what` is in progress, `done` of `total` (bytes, samples, steps). Cheap, but not for every byte. NULL is
 * fine. */
static inline void ocdm__progress_tell(const ocdm__progress *progress, const char *what, uint64_t done, uint64_t total)
{
    if (progress != NULL && progress->tell != NULL)
        progress->tell(progress->state, what, done, total);
}

/* Whether the work should stop: return OCDM_STOPPED then. */
static inline bool ocdm__progress_stopped(const ocdm__progress *progress)
{
    return progress != NULL && progress->stop != NULL && *progress->stop != 0;
}

/* ---- time ---- */

/* Seconds since some fixed moment, by a monotonic clock. For display only, never for decisions. */
double ocdm__seconds_now(void);

#endif
