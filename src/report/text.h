/*
 * Writes text for pages, pictures and CSV. Text from files (names of classes, folders) is always shown as text: markup is
 * escaped, control characters become their Unicode symbols, and invalid UTF-8 becomes U+FFFD.
 */
#ifndef OCDM_REPORT_TEXT_H
#define OCDM_REPORT_TEXT_H

#include <stddef.h>

#include "base/output.h"
#include "metrics/metrics.h"

/* At most `limit` characters; a longer text ends with an ellipsis. Escaped for HTML and XML, in text and quoted attributes.
 * Characters that change the writing direction become U+FFFD, since no element isolates them. */
void ocdm__put_plain(ocdm__output *out, const char *text, size_t limit);

/* The same for HTML text, not truncated, in an element that isolates its writing direction. */
void ocdm__put_whole(ocdm__output *out, const char *text);

/* The same, truncated to `limit` characters; the element's title then shows more. */
void ocdm__put_name(ocdm__output *out, const char *text, size_t limit);

/* The width in columns of what ocdm__put_plain writes; wide characters count twice. */
size_t ocdm__plain_width(const char *text, size_t limit);

/* A field of CSV, quoted if necessary. Control characters become spaces. */
void ocdm__put_csv(ocdm__output *out, const char *text);

/* A number with this many decimals, or a dash when it is not finite. */
void ocdm__put_decimals(ocdm__output *out, double value, int decimals);

/* An integer with commas: 26,617. */
void ocdm__put_grouped(ocdm__output *out, double value);

/* The title of an axis of mAP. */
#define OCDM__MAP_AXIS OCDM__MAP_NAME " (%)"

/* A word for a shell, in single quotes if necessary, not escaped for HTML. Returns allocated text, NULL if an allocation
 * fails. */
char *ocdm__shell_word(const char *text);

#endif
