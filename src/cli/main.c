/* The program `ocdm`: hands the command line to its verb and makes sure that what was printed arrived. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"

/* Room for all that a verb prints, as a rule: the one write at the end then also knows why it failed. */
static char output_buffer[1u << 16];

int main(int argc, char **argv)
{
    /* A reader that went away is a failed write with an error and exit code 4, not a silent death by signal. */
    signal(SIGPIPE, SIG_IGN);
    if (!ocdm__is_terminal(STDOUT_FILENO))
        setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);
    int code = ocdm__run_command(argc > 0 ? (size_t)argc - 1 : 0, argv + 1);
    int output = ocdm__finish_output();
    return code != OCDM__EXIT_OK ? code : output;
}
