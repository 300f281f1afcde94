/*
 * A window over the bytes of a file or pipe. A reader looks at data[0..size), requests more with ocdm__input_fill, and gives
 * the front back with ocdm__input_release once it is done with it; until then those bytes keep their positions. Their
 * addresses do not stay: the buffer slides and grows when it is filled, so keep positions and add `data` when you use them.
 *
 * OCDM__INPUT_PADDING bytes beyond data[size) may be read too. Their values are unspecified, except that the first of them is
 * a newline once the input has ended: every line then has one after it.
 */
#ifndef OCDM_BASE_INPUT_H
#define OCDM_BASE_INPUT_H

#include "base/base.h"

#include <signal.h>

#define OCDM__INPUT_PADDING 16

struct ocdm__input;

/* A stage between a file and the window, such as a decompressor. `read` puts up to `room` bytes at `to`; a count of 0 is the
 * end, or a stop. It gets its own bytes from ocdm__input_read. */
typedef struct ocdm__input_filter {
    ocdm_status (*read)(struct ocdm__input *input, char *to, size_t room, size_t *count, ocdm_error *error);
    void (*close)(void *state);
    void *state;
} ocdm__input_filter;

typedef struct ocdm__input {
    const char *data; /* the window: `size` bytes that were read and not released */
    size_t size;
    bool ended;   /* the file has no more bytes */
    bool stopped; /* *`stop` was set: nothing more is read */

    uint64_t bytes_read;
    const char *name; /* for messages */
    size_t read_size; /* bytes requested by one read at most; small values are for tests */

    int fd;
    bool owns_fd;
    ocdm__input_filter filter;         /* all NULL: the file's own bytes */
    const volatile sig_atomic_t *stop; /* may be NULL */
    char *buffer;
    size_t capacity; /* without the padding */
    size_t begin;    /* data is buffer + begin */
} ocdm__input;

/*
 * Opens `path`, standard input when it is NULL or "-". The path must outlive the input, for messages.
 *
 * stop  set by a signal handler to end reading, also out of a read that waits; may be NULL
 *
 * OCDM_OK, OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__input_open(ocdm__input *input, const char *path, const volatile sig_atomic_t *stop, ocdm_error *error);

/* The same for a descriptor, which the caller closes. */
ocdm_status ocdm__input_open_fd(ocdm__input *input, int fd, const char *name, const volatile sig_atomic_t *stop,
                                ocdm_error *error);

/* Goes on with another file, whose bytes follow those in the window; `stop` stays. The path must outlive the input.
 * OCDM_OK, OCDM_IO; after an error the input can only be closed. */
ocdm_status ocdm__input_next_file(ocdm__input *input, const char *path, ocdm_error *error);

/* Reads bytes of the file itself, past the window: for filters. A count of 0 is the end, or a stop, which `stopped` tells.
 * OCDM_OK, OCDM_IO. */
ocdm_status ocdm__input_read(ocdm__input *input, char *to, size_t room, size_t *count, ocdm_error *error);

/* Releases everything. An input whose bytes are all zero, or that is closed, is fine. */
void ocdm__input_close(ocdm__input *input);

/* Appends at least one byte to the window, or sets `ended` or `stopped`. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__input_fill(ocdm__input *input, ocdm_error *error);

/* Forgets the first `count` bytes: what was at position `count` is at position 0 from now on. */
void ocdm__input_release(ocdm__input *input, size_t count);

/* Forgets the bytes from position `from` up to `to`: what was at position `to` is at position `from` from now on. Costs a move
 * of what follows. */
void ocdm__input_remove(ocdm__input *input, size_t from, size_t to);

#endif
