/* Fills an ocdm_error: one line that says what and where, and a hint what to do. */
#ifndef OCDM_BASE_ERROR_H
#define OCDM_BASE_ERROR_H

#include "ocdm/ocdm.h"

/* Writes status, formatted message and hint ("" for none) to `error` unless it is NULL; returns status, so that a failing
 * function can end with it. Control characters in the message become '?', so that it stays one line. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
ocdm_status
ocdm__fail(ocdm_error *error, ocdm_status status, const char *hint, const char *format, ...);

/* Fills `error` with OCDM_NO_MEMORY; `what` names what could not be allocated. */
ocdm_status ocdm__fail_memory(ocdm_error *error, const char *what);

#endif
