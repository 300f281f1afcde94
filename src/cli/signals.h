/* SIGINT and SIGTERM: the first asks the work to end in good order, a second one ends the program as usual. */
#ifndef OCDM_CLI_SIGNALS_H
#define OCDM_CLI_SIGNALS_H

#include <signal.h>

/* The signal that came, or 0. */
extern volatile sig_atomic_t ocdm__stop_signal;

/* From now on the first SIGINT or SIGTERM only sets ocdm__stop_signal. */
void ocdm__catch_signals(void);

/* The exit code after the signal that came: 130 or 143. */
int ocdm__exit_after_signal(void);

#endif
