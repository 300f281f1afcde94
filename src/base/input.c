/* Reading: one buffer that slides and grows, so that the bytes in use stay in one piece. */
#include "base/input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* Large enough to make system calls cheap, small enough for the second-level cache. */
#define READ_SIZE ((size_t)256 * 1024)
#define CAPACITY (2 * READ_SIZE)

/* Milliseconds to wait for bytes before the stop flag is checked again: a signal may arrive just before the wait begins. */
#define WAIT_MILLISECONDS 200

/* The descriptor stays the caller's. */
ocdm_status ocdm__input_open_fd(ocdm__input *input, int fd, const char *name, const volatile sig_atomic_t *stop,
                                ocdm_error *error)
{
    char *buffer;
    OCDM_TRY(ocdm__new(&buffer, CAPACITY + OCDM__INPUT_PADDING, 1, "the input buffer", error));
    *input = (ocdm__input){
        .data = buffer, .name = name, .read_size = READ_SIZE, .fd = fd, .stop = stop, .buffer = buffer, .capacity = CAPACITY};
    return OCDM_OK;
}

/* Makes the input read the file; nothing else of it changes. */
static ocdm_status open_file(ocdm__input *input, const char *path, ocdm_error *error)
{
    input->owns_fd = !(path == NULL || strcmp(path, "-") == 0);
    input->name = input->owns_fd ? path : "<stdin>";
    input->fd = input->owns_fd ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (input->fd >= 0)
        return OCDM_OK;
    input->owns_fd = false;
    return ocdm__fail(error, OCDM_IO, "", "cannot open %s: %s", path, strerror(errno));
}

/* Standard input is not ours to close. */
static void close_file(ocdm__input *input)
{
    if (input->filter.close != NULL)
        input->filter.close(input->filter.state);
    input->filter = (ocdm__input_filter){.state = NULL};
    if (input->owns_fd)
        close(input->fd);
    input->owns_fd = false;
}

/* NULL and "-" are standard input. */
ocdm_status ocdm__input_open(ocdm__input *input, const char *path, const volatile sig_atomic_t *stop, ocdm_error *error)
{
    ocdm__input opened = {.fd = -1};
    OCDM_TRY(open_file(&opened, path, error));
    ocdm_status status = ocdm__input_open_fd(input, opened.fd, opened.name, stop, error);
    if (status != OCDM_OK)
        close_file(&opened);
    else
        input->owns_fd = opened.owns_fd;
    return status;
}

ocdm_status ocdm__input_next_file(ocdm__input *input, const char *path, ocdm_error *error)
{
    close_file(input);
    input->ended = false;
    return open_file(input, path, error);
}

void ocdm__input_close(ocdm__input *input)
{
    close_file(input);
    ocdm__release(input->buffer);
    *input = (ocdm__input){.fd = -1};
}

/* Moves the window to the front of a buffer of `capacity` bytes. A new block rather than a resized one: of the old block only
 * the window is worth copying. */
static ocdm_status move_to(ocdm__input *input, size_t capacity, ocdm_error *error)
{
    char *buffer = input->buffer;
    if (capacity != input->capacity) {
        buffer = capacity > SIZE_MAX - OCDM__INPUT_PADDING ? NULL : ocdm__allocate(capacity + OCDM__INPUT_PADDING, 1);
        if (!buffer)
            return ocdm__fail_memory(error, "the records of a batch");
    }
    memmove(buffer, input->data, input->size);
    if (buffer != input->buffer)
        ocdm__release(input->buffer);
    input->buffer = buffer;
    input->capacity = capacity;
    input->begin = 0;
    input->data = buffer;
    return OCDM_OK;
}

/* Makes room for a read. Sliding only when it frees half of the buffer makes each byte move once on average; a buffer that
 * grew for one long line shrinks again. */
static ocdm_status make_room(ocdm__input *input, ocdm_error *error)
{
    if (input->capacity > CAPACITY && input->size < READ_SIZE / 2)
        return move_to(input, CAPACITY, error);
    if (input->capacity - input->begin - input->size >= READ_SIZE / 2)
        return OCDM_OK;
    if (input->size <= input->capacity / 2)
        return move_to(input, input->capacity, error);
    return move_to(input, input->capacity > SIZE_MAX / 2 ? SIZE_MAX : input->capacity * 2, error);
}

static bool must_stop(ocdm__input *input)
{
    if (input->stop && *input->stop)
        input->stopped = true;
    return input->stopped;
}

/* Waits until a read would return bytes or an error. False when reading should stop. */
static bool wait_for_bytes(ocdm__input *input)
{
    struct pollfd wanted = {.fd = input->fd, .events = POLLIN};
    while (!must_stop(input)) {
        int ready = poll(&wanted, 1, WAIT_MILLISECONDS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return false;
}

/* Nothing, when the stop flag is set while it waits. */
ocdm_status ocdm__input_read(ocdm__input *input, char *to, size_t room, size_t *count, ocdm_error *error)
{
    ssize_t got;
    *count = 0;
    do {
        if (!wait_for_bytes(input))
            return OCDM_OK;
        got = read(input->fd, to, room < input->read_size ? room : input->read_size);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0)
        return ocdm__fail(error, OCDM_IO, "", "cannot read %s: %s", input->name, strerror(errno));
    *count = (size_t)got;
    input->bytes_read += *count;
    return OCDM_OK;
}

/* The window doubles when it is full, so that reading costs O(1) per byte; bytes behind it are readable as padding. */
ocdm_status ocdm__input_fill(ocdm__input *input, ocdm_error *error)
{
    if (input->ended || must_stop(input))
        return OCDM_OK;
    OCDM_TRY(make_room(input, error));
    size_t filled = input->begin + input->size, count = 0;
    ocdm_status status = (input->filter.read != NULL ? input->filter.read : ocdm__input_read)(
        input, input->buffer + filled, input->capacity - filled, &count, error);
    if (status != OCDM_OK || input->stopped)
        return status;
    input->ended = count == 0;
    if (input->ended)
        input->buffer[filled] = '\n';
    input->size += count;
    return OCDM_OK;
}

void ocdm__input_release(ocdm__input *input, size_t count)
{
    input->begin += count;
    input->data += count;
    input->size -= count;
}

void ocdm__input_remove(ocdm__input *input, size_t from, size_t to)
{
    char *data = input->buffer + input->begin;
    memmove(data + from, data + to, input->size - to);
    input->size -= to - from;
}
