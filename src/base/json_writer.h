/*
 * Writes JSON to an output. A member has a key; an element of a list, and a value after ocdm__json_key, has NULL. Commas come
 * by themselves: there is one before whatever follows a value. A line that ends with \n begins a new text. Write errors stay in
 * the output.
 *
 *     ocdm__json_open(output, NULL, '{');
 *     ocdm__json_count(output, "kept", 100);
 *     ocdm__json_open(output, "counts", '[');
 *     for (...)
 *         ocdm__json_count(output, NULL, counts[i]);
 *     ocdm__json_close(output, ']');
 *     ocdm__json_close(output, '}');
 */
#ifndef OCDM_BASE_JSON_WRITER_H
#define OCDM_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

/* An object or a list; `bracket` is { or [, and } or ]. */
void ocdm__json_open(ocdm__output *output, const char *key, char bracket);
void ocdm__json_close(ocdm__output *output, char bracket);

/* What comes before a value that another function writes: a comma if one is due, and the key unless it is NULL. */
void ocdm__json_key(ocdm__output *output, const char *key);

void ocdm__json_count(ocdm__output *output, const char *key, uint64_t value);
void ocdm__json_real(ocdm__output *output, const char *key, double value); /* null unless it is finite */
void ocdm__json_flag(ocdm__output *output, const char *key, bool value);
void ocdm__json_null(ocdm__output *output, const char *key);
void ocdm__json_string(ocdm__output *output, const char *key, const char *text); /* NULL: null */
void ocdm__json_bytes(ocdm__output *output, const char *key, const char *text, size_t length);

#endif
