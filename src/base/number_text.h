/*
 * Numbers out of text, correctly rounded and the same in every locale: [+-] digits [. digits] [e [+-] digits], where either
 * side of the point may be missing but not both; nan, inf and infinity in any case of letters. No spaces, no hexadecimal.
 */
#ifndef OCDM_BASE_NUMBER_TEXT_H
#define OCDM_BASE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all `length` bytes are one number; if so its value, the nearest, ties to even: infinite when it is too large. The
 * float is rounded once, straight from the text. */
bool ocdm__text_to_double(const char *text, size_t length, double *value);
bool ocdm__text_to_float(const char *text, size_t length, float *value);

#endif
