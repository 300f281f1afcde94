/*
 * Texts of others in a page or a picture: names of classes, folders, whatever a file says. They come out as text, whatever they
 * hold: markup is escaped, control characters show as their pictures, bytes that are no UTF-8 as U+FFFD.
 */
#ifndef OCDM_REPORT_TEXT_H
#define OCDM_REPORT_TEXT_H

#include <stddef.h>

#include "base/output.h"
#include "metrics/intervals.h"
#include "metrics/metrics.h"

/* Formatted text of our own: numbers and literals. What is longer than 1000 bytes is cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ocdm__put(ocdm__output *out, const char *format, ...);

/* At most `limit` characters, dots in the last one's place when there are more. Fit for HTML and XML, in text and in quoted
 * attributes; marks that turn the direction of writing become U+FFFD, since nothing around it holds them in. */
void ocdm__put_plain(ocdm__output *out, const char *text, size_t limit);

/* The same for HTML text, whole, in an element that keeps its direction of writing to itself. */
void ocdm__put_whole(ocdm__output *out, const char *text);

/* The same cut after `limit` characters; the element's title then has more of it. */
void ocdm__put_name(ocdm__output *out, const char *text, size_t limit);

/* How many columns of text ocdm__put_plain gives, wide characters counted twice. */
size_t ocdm__plain_width(const char *text, size_t limit);

/* A field of CSV: in quotes when it has to be. Control characters become spaces. */
void ocdm__put_csv(ocdm__output *out, const char *text);

/* A number with so many decimals, or a dash when there is none. */
void ocdm__put_decimals(ocdm__output *out, double value, int decimals);

/* A whole number with commas: 26,617. */
void ocdm__put_grouped(ocdm__output *out, double value);

/* A field of CSV that is a number: nothing when there is none. */
void ocdm__put_csv_number(ocdm__output *out, double value);

/* The last fields of a line: mean, deviation, and of how many. */
void ocdm__put_csv_summary(ocdm__output *out, const ocdm__summary *summary);

/* A metric with its unit, for an axis: "total mAP (%)" when `before` is "total ". */
void ocdm__metric_text(const char *before, enum ocdm__metric metric, char *text, size_t room);

/* As a shell's word: in single quotes where it needs them. Not escaped for HTML. Returns an allocated text, NULL when there is
 * no memory. */
char *ocdm__shell_word(const char *text);

#endif
