/* Labels character by character, until the room for one is used up. */
#include "base/shown_label.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>

static bool is_control(const unsigned char *at, size_t size)
{
    /* C0, DEL, and C1, which is U+0080 to U+009F: two bytes from C2 80 on. */
    return (size == 1 && (*at < 0x20 || *at == 0x7F)) || (size == 2 && at[0] == 0xC2 && at[1] < 0xA0);
}

ocdm__shown_label ocdm__show_label(const char *label, size_t length)
{
    ocdm__shown_label shown = {.width = 0};
    const unsigned char *at = (const unsigned char *)label, *end = at + length;
    size_t used = 0;
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        bool escape = size == 0 || is_control(at, size);
        size_t width = escape ? 4 * (size ? size : 1) : 1;
        if (shown.width + width > OCDM__LABEL_WIDTH - 3 && (size_t)(end - at) > size) {
            snprintf(shown.text + used, sizeof shown.text - used, "...");
            shown.width += 3;
            break;
        }
        for (size_t i = 0; i < (size ? size : 1); i++)
            used += (size_t)snprintf(shown.text + used, sizeof shown.text - used, escape ? "\\x%02X" : "%c", at[i]);
        shown.width += width;
        at += size ? size : 1;
    }
    return shown;
}
