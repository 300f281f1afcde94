/*
 * Buffered writing, to a descriptor or to a path. A path is written atomically: to a temporary file in the same folder, which
 * takes the path's place when everything is on the disk; until then, and after a failure, the old file is unchanged. Temporary
 * files that killed processes left in the folder are removed. What is not a regular file (a FIFO, a terminal, /dev/stdout) is
 * written directly.
 *
 * A failed write is remembered and later output is discarded, so only the end needs a check:
 *
 *     ocdm__output output;
 *     ocdm_status status = ocdm__output_open(&output, path, error);
 *     if (status != OCDM_OK)
 *         return status;
 *     ocdm__output_text(&output, "{}\n");
 *     return ocdm__output_commit(&output, error);
 */
#ifndef OCDM_BASE_OUTPUT_H
#define OCDM_BASE_OUTPUT_H

#include "base/base.h"

typedef struct ocdm__output {
    char *buffer;
    size_t used;
    char last; /* the last byte that left the buffer */
    size_t capacity;
    int fd;
    bool owns_fd;
    bool grows;      /* everything stays in the buffer */
    int failure;     /* errno of the first write that failed, or 0 */
    char *path;      /* what messages call it, and what the temporary file is renamed to; the output's own */
    char *temporary; /* the temporary file; NULL when the descriptor is written directly */
} ocdm__output;

/* Starts writing to `path`, as above. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__output_open(ocdm__output *output, const char *path, ocdm_error *error);

/* The same for a file in a folder of the program's own: whatever has the name, a link too, is replaced and never written
 * through. */
ocdm_status ocdm__output_open_own(ocdm__output *output, const char *path, ocdm_error *error);

/* Starts writing to a descriptor, which stays the caller's. `name` is for messages. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__output_open_fd(ocdm__output *output, int fd, const char *name, ocdm_error *error);

/* Starts writing to memory: the bytes are buffer[0..used), the output's own, until it is abandoned; it is never committed.
 * `name` is for messages. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__output_open_memory(ocdm__output *output, const char *name, ocdm_error *error);

/* The part of ocdm__output_write for when the buffer is full. */
void ocdm__output_write_through(ocdm__output *output, const void *bytes, size_t size);

/* Appends bytes. */
static inline void ocdm__output_write(ocdm__output *output, const void *bytes, size_t size)
{
    if (size > output->capacity - output->used) {
        ocdm__output_write_through(output, bytes, size);
        return;
    }
    memcpy(output->buffer + output->used, bytes, size);
    output->used += size;
}

/* Appends text that ends with a NUL. */
static inline void ocdm__output_text(ocdm__output *output, const char *text)
{
    ocdm__output_write(output, text, strlen(text));
}

/* Appends formatted text: the first 1000 bytes of it. */
OCDM_FORMAT(2, 3)
void ocdm__put(ocdm__output *output, const char *format, ...);

/* Appends a number, in decimal digits; as in base/json.h for a double. */
void ocdm__output_uint64(ocdm__output *output, uint64_t value);
void ocdm__output_double(ocdm__output *output, double value);

/* Appends the text before a number and the number: a member of a JSON object, say. */
static inline void ocdm__output_count(ocdm__output *output, const char *before, uint64_t value)
{
    ocdm__output_text(output, before);
    ocdm__output_uint64(output, value);
}

static inline void ocdm__output_real(ocdm__output *output, const char *before, double value)
{
    ocdm__output_text(output, before);
    ocdm__output_double(output, value);
}

/* Appends a JSON string: quotes, escapes where needed. */
void ocdm__output_json_string(ocdm__output *output, const char *text, size_t length);

/* Writes what is buffered now: for a log that others read while it grows. */
void ocdm__output_flush(ocdm__output *output);

/* OCDM_OK, or OCDM_IO when a write has failed (OCDM_NO_MEMORY for one to memory): for callers that check before the end. */
ocdm_status ocdm__output_check(const ocdm__output *output, ocdm_error *error);

/* Brings everything to the disk, but not yet to its place: of several files none is there unless all can be. OCDM_OK, OCDM_IO
 * as for a commit. */
ocdm_status ocdm__output_sync(ocdm__output *output, ocdm_error *error);

/*
 * Writes what is buffered, moves a temporary file to its place, syncs it to the disk, and releases everything. OCDM_OK, or
 * OCDM_IO with the path and the system's reason for the first thing that failed; the old file is then unchanged, unless only
 * the folder could not be synced.
 */
ocdm_status ocdm__output_commit(ocdm__output *output, ocdm_error *error);

/* Discards what is not written yet, including the temporary file. An output whose bytes are all zero, or that is committed or
 * abandoned already, is fine. */
void ocdm__output_abandon(ocdm__output *output);

/* ---- JSON ---- */

/*
 * A member has a key; an element of a list, and a value after ocdm__json_key, has NULL. Commas come
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

/* ---- NPY ---- */

/* Tables of 32-bit floats as NPY files, version 1.0, for numpy.load: a header, then the rows in pieces. */

/* The header of a table of `rows` x `columns`: version 1.0, little-endian f32, rows one after another. The caller then writes
 * as many floats. */
void ocdm__npy_write_header(ocdm__output *output, uint64_t rows, uint64_t columns);

/* The next `count` floats. */
void ocdm__npy_write_floats(ocdm__output *output, const float *values, size_t count);

#endif
