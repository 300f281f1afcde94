/* How a failure leaves the program: two lines on stderr and an exit code. */
#ifndef OCDM_CLI_EXIT_CODE_H
#define OCDM_CLI_EXIT_CODE_H

#include "ocdm/ocdm.h"

/* The program's exit codes; scripts rely on them. */
enum ocdm__exit {
    OCDM__EXIT_OK = 0,
    OCDM__EXIT_NEGATIVE = 1, /* the question was answered, and the answer is no */
    OCDM__EXIT_USAGE = 2,
    OCDM__EXIT_BAD_DATA = 3,
    OCDM__EXIT_IO = 4,
    OCDM__EXIT_RESOURCES = 5,     /* out of memory, or over a limit */
    OCDM__EXIT_INTERRUPTED = 130, /* SIGINT, after saving what there is */
    OCDM__EXIT_TERMINATED = 143   /* SIGTERM, likewise */
};

/* The exit code for a status. */
int ocdm__exit_code(ocdm_status status);

/* Prints `error: message` and, if there is one, `hint: hint` to stderr; returns the exit code: `return ocdm__report(&error);`.
 */
int ocdm__report(const ocdm_error *error);

/* Flushes stdout: 0, or, when something could not be written, an error on stderr and OCDM__EXIT_IO. */
int ocdm__finish_output(void);

#endif
