/* Properties of the terminal, and bars drawn with characters. */
#ifndef OCDM_BASE_TERMINAL_H
#define OCDM_BASE_TERMINAL_H

#include "base/output.h"

/* Whether the file descriptor is a terminal: a progress line only makes sense on one. */
bool ocdm__is_terminal(int descriptor);

/* Whether it is one that understands cursor movements and colours: not "dumb". */
bool ocdm__moves_cursor(int descriptor);

/* Whether to colour what goes to the descriptor: such a terminal, and NO_COLOR unset or empty (no-color.org). */
bool ocdm__wants_colour(int descriptor);

/* Columns of the terminal; 80 when it is none or does not say. */
unsigned ocdm__terminal_width(int descriptor);

/* Whether the locale that the environment names is a UTF-8 one: LC_ALL, else LC_CTYPE, else LANG. */
bool ocdm__speaks_utf8(void);

/* "42 s", "17 min", "3 h 05 min"; "unknown time" for what is not a number. */
#define OCDM__DURATION 24
void ocdm__duration(double seconds, char text[OCDM__DURATION]);

/* ---- bars --------------------------------------------------------------------------------------------------------------- */

/* The characters that bars are drawn with. */
typedef struct ocdm__bar_style {
    unsigned levels;           /* steps of height within one character */
    const char *const *glyphs; /* from empty to full: levels + 1 of them */
    const char *cut;           /* the top of a bar that is higher than the picture */
    const char *none;          /* in place of a bar of height 0 */
} ocdm__bar_style;

/* Block characters, and two replacements in ASCII: with few steps that are easy to distinguish, and with as many steps as the
 * blocks. */
extern const ocdm__bar_style ocdm__bar_blocks, ocdm__bar_ascii, ocdm__bar_ascii_fine;

/* A picture of vertical bars. Heights are in rows and are rounded up to a whole step of the style. */
typedef struct ocdm__bars {
    const ocdm__bar_style *style;
    const double *height;
    size_t count;
    unsigned rows;
    unsigned width;    /* columns of a bar; the last of several is a space */
    const bool *apart; /* for each bar whether a space precedes it; NULL for none */
    bool marks;        /* bars that are cut off, and bars of height 0, get the style's characters for them */
} ocdm__bars;

/* A row of the picture, counted from 0 at the bottom, with the end of its line. */
void ocdm__bars_row(ocdm__output *output, const ocdm__bars *bars, unsigned row);

/* The mean of every `merged` neighbours; the last mean may have fewer. Returns the number of means. */
size_t ocdm__bars_merge(const double *values, size_t count, size_t merged, double *means);

/* A horizontal bar of `length` characters, rounded to the nearest; `bar` has room for one more. Returns the rounded length. */
size_t ocdm__bar_fill(char *bar, double length);

#endif
