/* What the program knows about its terminal. */
#ifndef OCDM_BASE_TERMINAL_H
#define OCDM_BASE_TERMINAL_H

#include <stdbool.h>

/* Whether the file descriptor is a terminal: a progress line only makes sense on one. */
bool ocdm__is_terminal(int descriptor);

/* Whether to colour what goes to the descriptor: a terminal that is not "dumb", and NO_COLOR unset or empty (no-color.org). */
bool ocdm__wants_colour(int descriptor);

/* Columns of the terminal; 80 when it is none or does not say. */
unsigned ocdm__terminal_width(int descriptor);

/* Whether the locale that the environment names is a UTF-8 one: LC_ALL, else LC_CTYPE, else LANG. */
bool ocdm__speaks_utf8(void);

#endif
