/* Checks text for UTF-8, parses numbers, makes labels printable, and suggests words. */
#ifndef OCDM_BASE_TEXT_H
#define OCDM_BASE_TEXT_H

#include "base/base.h"

/* ---- UTF-8 ---- */

/* Strictly RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */

/* Whether `byte` continues a sequence. */
static inline int ocdm__utf8_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The length of the sequence that starts at `at`, before `end`: 1 to 4, or 0 when it is not valid. */
static inline size_t ocdm__utf8_sequence(const unsigned char *at, const unsigned char *end)
{
    size_t room = (size_t)(end - at);
    if (room == 0)
        return 0;
    unsigned char lead = at[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    if (lead < 0xE0)
        return room >= 2 && ocdm__utf8_continues(at[1]) ? 2 : 0;
    /* The second byte of E0, ED, F0 and F4 has a narrower range: that is where overlong forms and surrogates would be. */
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (room < 3 || at[1] < low || at[1] > high || !ocdm__utf8_continues(at[2]))
        return 0;
    if (lead < 0xF0)
        return 3;
    return room >= 4 && ocdm__utf8_continues(at[3]) ? 4 : 0;
}

/* Whether all of it is UTF-8 without NUL and, unless `controls` are allowed, without the control characters of ASCII. */
bool ocdm__is_text(const char *text, size_t length, bool controls);

/* Writes a code point, no surrogate, as 1 to 4 bytes; returns how many. */
static inline size_t ocdm__utf8_write(uint32_t point, char *out)
{
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out[0] = (char)(leads[more] | point >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (point >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

/* Whether a sequence of `size` bytes is a mark that changes the direction of the text around it: U+061C, U+200E, U+200F, U+202A
 * to U+202E, U+2066 to U+2069. With them a name can show as another one. */
static inline bool ocdm__is_direction_mark(const unsigned char *at, size_t size)
{
    if (size == 2)
        return at[0] == 0xD8 && at[1] == 0x9C;
    if (size != 3 || at[0] != 0xE2)
        return false;
    return (at[1] == 0x80 && (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xAA && at[2] <= 0xAE))) ||
           (at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9);
}

/* Whether a terminal would obey a sequence of `size` bytes instead of showing it: C0, DEL, or C1, which is U+0080 to U+009F,
 * two bytes from C2 80 on, and direction marks. */
static inline bool ocdm__is_control(const unsigned char *at, size_t size)
{
    return (size == 1 && (*at < 0x20 || *at == 0x7F)) || (size == 2 && at[0] == 0xC2 && at[1] < 0xA0) ||
           ocdm__is_direction_mark(at, size);
}

/* ---- appending ---- */

/* Appends to a text that has `room` bytes, its NUL among them; what does not fit is cut off. */
OCDM_FORMAT(3, 4)
void ocdm__append(char *text, size_t room, const char *format, ...);

/* A new text in `*text`, formatted as by printf, to be released. OCDM_OK, OCDM_NO_MEMORY. */
OCDM_FORMAT(3, 4)
ocdm_status ocdm__format(char **text, ocdm_error *error, const char *format, ...);

/* Whether a word is one of a list that ends with NULL. */
bool ocdm__is_among(const char *word, const char *const *list);

/* ---- comparing ---- */

/* Whether `length` bytes are the same as a text that ends with a NUL. */
static inline bool ocdm__text_is(const char *bytes, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(bytes, text, length) == 0;
}

/* ---- numbers ---- */

/*
 * Correctly rounded and the same in every locale: [+-] digits [. digits] [e [+-] digits], where either side of the point may be
 * missing but not both; nan, inf and infinity in any case of letters. No spaces, no hexadecimal.
 */

/* Whether all `length` bytes are one number; if so its value, the nearest, ties to even: infinite when it is too large. The
 * float is rounded once, straight from the text. */
bool ocdm__text_to_double(const char *text, size_t length, double *value);
bool ocdm__text_to_float(const char *text, size_t length, float *value);

/* Whether all `length` bytes are decimal digits of a whole number from `low` to `high`; if so, its value. */
bool ocdm__text_to_whole(const char *text, size_t length, uint64_t low, uint64_t high, uint64_t *value);

/* ---- labels ---- */

/* The most columns that a shown label takes. */
#define OCDM__LABEL_WIDTH 32

/* A label as shown on a terminal: control characters as \xNN, a long label cut with dots. */
typedef struct ocdm__shown_label {
    char text[5 * OCDM__LABEL_WIDTH];
    size_t width; /* characters */
} ocdm__shown_label;

/* Makes any `length` bytes showable. */
ocdm__shown_label ocdm__show_label(const char *label, size_t length);

/* ---- suggestions -------------------------------------------------------------------------------------------------------- */

/*
 * The candidate nearest to `word`, or NULL when none is near enough to be meant: one edit for short words, about a third of
 * the letters for longer ones, or the word is the beginning of exactly one candidate. An edit inserts, deletes or changes a
 * letter or swaps two neighbours; upper and lower case are the same. Of equally near candidates the first.
 */
const char *ocdm__suggest(const char *word, const char *const *candidates, size_t count);

/* The number of edits between two words; 64 if one is longer than 63 letters. */
size_t ocdm__edit_distance(const char *a, const char *b);

#endif
