/* Fills an ocdm_error: one line that says what and where, and a hint what to do. */
#ifndef OCDM_BASE_ERROR_H
#define OCDM_BASE_ERROR_H

#include "ocdm/ocdm.h"

/* Statuses of readers and long runs, which the memory does not have: for everything beyond libocdm. Their numbers are free in
 * the public enum. Switches do not know them; compare with `==`. */
#define OCDM_BAD_RECORD ((ocdm_status)10) /* a record of a stream cannot be read */
#define OCDM_STOPPED ((ocdm_status)12)    /* stopped by a signal */

/* Before a function whose parameter `text` is a format for printf of those from `first` on: compilers then check them. */
#if defined(__GNUC__)
#define OCDM_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define OCDM_FORMAT(text, first)
#endif

/* Writes status, formatted message and hint ("" for none) to `error` unless it is NULL; returns status, so that a failing
 * function can end with it. The message is made printable, so that it stays one line. */
OCDM_FORMAT(4, 5)
ocdm_status ocdm__fail(ocdm_error *error, ocdm_status status, const char *hint, const char *format, ...);

/* A position in a text file: line and column from 1, the column in bytes. */
typedef struct ocdm__place {
    uint64_t line, column;
} ocdm__place;

/* ocdm__fail with "file:line:column: " before the message. */
OCDM_FORMAT(6, 7)
ocdm_status ocdm__fail_at(const char *file, ocdm__place place, ocdm_status status, ocdm_error *error, const char *hint,
                          const char *format, ...);

/* Ends the function with the status of a call, unless it is OCDM_OK. For functions that hold nothing they would have to
 * release. */
#define OCDM_TRY(...)                                                                                                          \
    do {                                                                                                                       \
        ocdm_status ocdm__tried = (__VA_ARGS__);                                                                               \
        if (ocdm__tried != OCDM_OK)                                                                                            \
            return ocdm__tried;                                                                                                \
    } while (0)

/* The next call of a function that has something to release at its end: `status` keeps the first failure, and what comes after
 * a failure is not called. */
#define OCDM_THEN(status, ...)                                                                                                 \
    do {                                                                                                                       \
        if ((status) == OCDM_OK)                                                                                               \
            (status) = (__VA_ARGS__);                                                                                          \
    } while (0)

/* Replaces bytes that are not printable UTF-8 by '?': names of files may have any bytes, and a terminal obeys some of them. */
void ocdm__make_printable(char *text);

/* Fills `error` with OCDM_NO_MEMORY; `what` names what could not be allocated. */
ocdm_status ocdm__fail_memory(ocdm_error *error, const char *what);

#endif
