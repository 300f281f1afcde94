/* Valid UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629). */
#ifndef OCDM_BASE_UTF8_H
#define OCDM_BASE_UTF8_H

#include <stddef.h>

/* Whether `byte` continues a sequence. */
static inline int ocdm__utf8_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The length of the sequence that starts at `at`, before `end`: 1 to 4, or 0 when it is not valid. */
static inline size_t ocdm__utf8_sequence(const unsigned char *at, const unsigned char *end)
{
    size_t room = (size_t)(end - at);
    if (room == 0)
        return 0;
    unsigned char lead = at[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    if (lead < 0xE0)
        return room >= 2 && ocdm__utf8_continues(at[1]) ? 2 : 0;
    /* The second byte of E0, ED, F0 and F4 has a narrower range: that is where overlong forms and surrogates would be. */
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (room < 3 || at[1] < low || at[1] > high || !ocdm__utf8_continues(at[2]))
        return 0;
    if (lead < 0xF0)
        return 3;
    return room >= 4 && ocdm__utf8_continues(at[3]) ? 4 : 0;
}

#endif
