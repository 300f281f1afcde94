/* Exit codes and the two lines of an error. */
#include "cli/exit_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/terminal.h"

int ocdm__exit_code(ocdm_status status)
{
    switch (status) {
    case OCDM_OK:
        return OCDM__EXIT_OK;
    case OCDM_BAD_ARGUMENT:
    case OCDM_UNKNOWN_NAME:
        return OCDM__EXIT_USAGE;
    case OCDM_DUPLICATE_ID:
    case OCDM_UNKNOWN_ID:
    case OCDM_NOT_SINGLE_LABEL:
    case OCDM_BAD_DECISION:
    case OCDM_BAD_FILE:
        return OCDM__EXIT_BAD_DATA;
    case OCDM_IO:
        return OCDM__EXIT_IO;
    case OCDM_NO_MEMORY:
    case OCDM_TOO_MANY_LABELS:
    case OCDM_LIMIT:
        return OCDM__EXIT_RESOURCES;
    }
    return status == OCDM_STOPPED ? OCDM__EXIT_INTERRUPTED : OCDM__EXIT_BAD_DATA;
}

/* The two lines, their first words in colour where that is wanted. */
static void print_error(const char *message, const char *hint)
{
    bool colour = ocdm__wants_colour(STDERR_FILENO);
    const char *end = colour ? "\033[0m" : "";
    fprintf(stderr, "%serror:%s %s\n", colour ? "\033[1;31m" : "", end, message);
    if (hint[0] != '\0')
        fprintf(stderr, "%shint:%s %s\n", colour ? "\033[36m" : "", end, hint);
}

int ocdm__report(const ocdm_error *error)
{
    print_error(error->message, error->hint);
    return ocdm__exit_code(error->status);
}

int ocdm__finish_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return OCDM__EXIT_OK;
    char message[256];
    snprintf(message, sizeof message, "standard output: %s", errno != 0 ? strerror(errno) : "a write failed");
    print_error(message, "the output is not complete; make room or keep the reader open, then run it again");
    clearerr(stdout); /* told once: the program asks again at its end */
    return OCDM__EXIT_IO;
}
