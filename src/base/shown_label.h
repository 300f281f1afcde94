/* Labels come from anywhere: what a terminal may be shown of them. */
#ifndef OCDM_BASE_SHOWN_LABEL_H
#define OCDM_BASE_SHOWN_LABEL_H

#include <stddef.h>

/* The most columns that a shown label takes. */
#define OCDM__LABEL_WIDTH 32

/* A label made fit for a terminal: control characters as \xNN, too long a one cut with dots. */
typedef struct ocdm__shown_label {
    char text[5 * OCDM__LABEL_WIDTH];
    size_t width; /* characters */
} ocdm__shown_label;

/* `length` bytes, whatever they are, as text to show. */
ocdm__shown_label ocdm__show_label(const char *label, size_t length);

#endif
