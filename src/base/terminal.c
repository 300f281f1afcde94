/* isatty, TIOCGWINSZ and two variables of the environment. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80u

bool ocdm__is_terminal(int descriptor)
{
    return isatty(descriptor) == 1;
}

bool ocdm__wants_colour(int descriptor)
{
    const char *refused = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
    if (refused != NULL && refused[0] != '\0')
        return false;
    return kind != NULL && strcmp(kind, "dumb") != 0 && ocdm__is_terminal(descriptor);
}

unsigned ocdm__terminal_width(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}
