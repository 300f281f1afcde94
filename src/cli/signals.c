/* Signals as a flag. */
#define _POSIX_C_SOURCE 200809L

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
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int ocdm__exit_after_signal(void)
{
    return ocdm__stop_signal == SIGTERM ? OCDM__EXIT_TERMINATED : OCDM__EXIT_INTERRUPTED;
}
