/* Filling an ocdm_error: one line of what and where, one of what to do. */
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

/* OCDM_NO_MEMORY with its one message. `what` names what there was no room for. */
ocdm_status ocdm__fail_memory(ocdm_error *error, const char *what);

#endif
