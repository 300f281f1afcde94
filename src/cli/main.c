/* The program `ocdm`: passes the command line to its verb and checks that all output was written. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"

/* Usually holds everything that a verb prints, so that one write at the end reports why it failed. */
static char output_buffer[1u << 16];

/* A descriptor 0, 1 or 2 that the caller closed would be given to the next file that is opened, and what is printed would end up
 * in it. It is held by a descriptor that refuses what the standard one is for. */
static bool hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!hold_standard_descriptors())
        return OCDM__EXIT_IO;
    /* A closed pipe is a failed write with an error and exit code 4, not a silent death by signal. */
    signal(SIGPIPE, SIG_IGN);
    ocdm__catch_lost_pages();
    if (!ocdm__is_terminal(STDOUT_FILENO))
        setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);
    int code = ocdm__run_command(argc > 0 ? (size_t)argc - 1 : 0, argv + 1);
    int output = ocdm__finish_output();
    return code != OCDM__EXIT_OK ? code : output;
}
