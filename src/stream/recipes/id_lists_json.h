/*
 * A small JSON file and where in it one is: file:line:column for every error, texts with the padding that label tables want.
 *
 *     ocdm__json_file json = {.length = 0};
 *     status = ocdm__json_file_open(&json, path, error);
 *     if (status == OCDM_OK) status = ocdm__json_file_expect(&json, OCDM__JSON_ARRAY, "an array of ids", error);
 *     ...
 *     ocdm__json_file_close(&json);
 */
#ifndef OCDM_STREAM_RECIPES_ID_LISTS_JSON_H
#define OCDM_STREAM_RECIPES_ID_LISTS_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/mapped_file.h"
#include "ocdm/ocdm.h"

typedef struct ocdm__place {
    uint64_t line, column; /* from 1, the column in bytes */
} ocdm__place;

/* Start with all bytes zero. */
typedef struct ocdm__json_file {
    ocdm__mapped_file file;
    ocdm__json json;
    enum ocdm__json_event event; /* the last one */
    char *text;                  /* what ocdm__json_file_text or _copy gave, padded */
    size_t length, room;
    size_t counted, line_start; /* lines are counted up to here, and where the last of them starts */
    uint64_t line;
} ocdm__json_file;

/* OCDM_OK, OCDM_IO. The path must live until it is closed. */
ocdm_status ocdm__json_file_open(ocdm__json_file *file, const char *path, ocdm_error *error);

/* The next event, in file->event. OCDM_OK, OCDM_BAD_FILE where the text is not JSON. */
ocdm_status ocdm__json_file_next(ocdm__json_file *file, ocdm_error *error);

/* The next event, which must be the one named; `what` says it in words. */
ocdm_status ocdm__json_file_expect(ocdm__json_file *file, enum ocdm__json_event event, const char *what, ocdm_error *error);

/* The key, string or number at hand, escapes undone, in file->text until the next call. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__json_file_text(ocdm__json_file *file, ocdm_error *error);

/* Any bytes in file->text, padded. They may come from the file or from elsewhere. */
ocdm_status ocdm__json_file_copy(ocdm__json_file *file, const char *bytes, size_t length, ocdm_error *error);

/* Where an offset is. Cheap while offsets ascend. */
ocdm__place ocdm__json_file_place(ocdm__json_file *file, size_t offset);

/* Where the event at hand is, its quote if it has one. */
ocdm__place ocdm__json_file_here(ocdm__json_file *file);

/* OCDM_BAD_FILE at a place. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ocdm_status
ocdm__json_file_fail(const ocdm__json_file *file, ocdm__place place, ocdm_error *error, const char *hint, const char *format,
                     ...);

/* Gives everything back. One that was never opened is fine. */
void ocdm__json_file_close(ocdm__json_file *file);

#endif
