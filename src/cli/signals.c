/* Signals as a flag. */
#define _XOPEN_SOURCE 700

#include "cli/signals.h"

#include "cli/exit_code.h"

volatile sig_atomic_t ocdm__stop_signal;

static void note_signal(int number)
{
    ocdm__stop_signal = number;
}

void ocdm__catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* as under nohup */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file over its limit is a failed write, like any other */
}

int ocdm__exit_after_signal(void)
{
    return ocdm__stop_signal == SIGINT ? OCDM__EXIT_INTERRUPTED : OCDM__EXIT_TERMINATED;
}
