/* The texts of statuses, and the only function that fills an ocdm_error. Nothing here allocates. */
#include "base/text.h"

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *ocdm_version(void)
{
    return DOTTED(OCDM_VERSION_MAJOR, OCDM_VERSION_MINOR, OCDM_VERSION_PATCH);
}

/* In words for a message that has nothing better. */
const char *ocdm_status_text(ocdm_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, text)                                                                                        \
    case OCDM_##name:                                                                                                          \
        return text;
        OCDM_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

/* In place: each byte of what is not printable becomes a question mark. */
void ocdm__make_printable(char *text)
{
    unsigned char *at = (unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        bool shown = size > 0 && !ocdm__is_control(at, size);
        size = size > 0 ? size : 1;
        if (!shown)
            memset(at, '?', size);
        at += size;
    }
}

/* Without an error to fill only the status remains. */
ocdm_status ocdm__fail(ocdm_error *error, ocdm_status status, const char *hint, const char *format, ...)
{
    if (!error)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    ocdm__make_printable(error->message);
    ocdm__make_printable(error->hint);
    return status;
}

/* The place is part of the message, in the form that editors jump to. */
ocdm_status ocdm__fail_at(const char *file, ocdm__place place, ocdm_status status, ocdm_error *error, const char *hint,
                          const char *format, ...)
{
    char reason[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, status, hint, "%s:%llu:%llu: %s", file, (unsigned long long)place.line,
                      (unsigned long long)place.column, reason);
}

ocdm_status ocdm__fail_memory(ocdm_error *error, const char *what)
{
    return ocdm__fail(error, OCDM_NO_MEMORY, "use a smaller memory or batch, or free some memory of the machine",
                      "out of memory: cannot allocate %s", what);
}
