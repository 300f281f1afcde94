/*
 * Writes text for pages, pictures and CSV. Text from files (names of classes, folders) is always shown as text: markup is
 * escaped, control characters become their Unicode symbols, and invalid UTF-8 becomes U+FFFD.
 */
#ifndef OCDM_REPORT_TEXT_H
#define OCDM_REPORT_TEXT_H

#include "base/output.h"
#include "metrics/metrics.h"

/*
 * Markup: as printf, where texts are escaped for HTML and XML, and some flags have a meaning of their own. The conversions are
 * those below, %d, %u, %zu, and %f and %g with a precision.
 *
 *     %s %.40s %.*s   text; of one with more characters than the precision the beginning and an ellipsis
 *     %-.40s          the same in an element that isolates its writing direction; the element's title shows more
 *     %-.1f           a position: without ".0"
 *     %#.1f           a number, or a dash when it is not finite
 *     %-g             a number of an axis, as short as possible
 *
 * Characters of a plain text that change the writing direction become U+FFFD, since no element isolates them.
 */
OCDM_FORMAT(2, 3)
void ocdm__put_markup(ocdm__output *out, const char *format, ...);
void ocdm__put_markup_list(ocdm__output *out, const char *format, va_list *list);

/* What %.*s and %-.*s write; the limit is SIZE_MAX for none. */
void ocdm__put_plain(ocdm__output *out, const char *text, size_t limit);
void ocdm__put_name(ocdm__output *out, const char *text, size_t limit);

/* The width in columns of what ocdm__put_plain writes; wide characters count twice. */
size_t ocdm__plain_width(const char *text, size_t limit);

/* A field of CSV, quoted if necessary. Control characters become spaces. */
void ocdm__put_csv(ocdm__output *out, const char *text);

/* What %#.*f writes; an integer with commas: 26,617; what %-g writes. */
void ocdm__put_decimals(ocdm__output *out, double value, int decimals);
void ocdm__put_grouped(ocdm__output *out, double value);
void ocdm__tick_text(double value, char *text, size_t room);

/* The title of an axis of mAP. */
#define OCDM__MAP_AXIS OCDM__MAP_NAME " (%)"

/* A word for a shell, in single quotes if necessary, not escaped for HTML. Returns allocated text, NULL if an allocation
 * fails. */
char *ocdm__shell_word(const char *text);

#endif
