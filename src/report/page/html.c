/* What pages are made of: tables, digests for the Content-Security-Policy, pictures as data URLs. */
#include <png.h>

#include "base/sha256.h"
#include "report/charts/canvas.h"
#include "report/page/parts.h"
#include "report/text.h"

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

void ocdm__put_mark_of(ocdm__output *out, const ocdm__run_group *group)
{
    if (group != NULL)
        ocdm__put_mark(&(ocdm__canvas){.out = out}, group->mark);
}

void ocdm__put_method(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">");
    if (group->colour < OCDM__COLOURS)
        ocdm__put_markup(out, "<rect class=\"f%u\" width=\"12\" height=\"12\"/></svg>", group->colour);
    else /* dashed lines: a ring */
        ocdm__put_markup(out, "<path class=\"f%u\" fill-rule=\"evenodd\" d=\"M0 0h12v12h-12zM4 4h4v4h-4z\"/></svg>",
                         group->colour % OCDM__COLOURS);
    ocdm__put_name(out, group->label, OCDM__MARK_LIMIT);
}

/* " class=.. data-m=..>" of a cell. */
static void end_tag(ocdm__output *out, const char *class, const ocdm__run_group *group)
{
    if (class[0] != '\0')
        ocdm__put_markup(out, " class=\"%s\"", class);
    ocdm__put_mark_of(out, group);
    ocdm__output_text(out, ">");
}

/* The caption is outside the scrolling box, so that it stays visible. */
void ocdm__html_begin(ocdm__output *out, const char *name, const char *class, const char *caption)
{
    if (caption != NULL)
        ocdm__put(out, "<p class=\"note\">%s</p>\n", caption);
    ocdm__put_markup(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"%s\" data-name=\"%s\">\n<thead>",
        name, class, name);
}

void ocdm__html_head(ocdm__output *out, const char *class, const ocdm__run_group *group, const char *text)
{
    ocdm__output_text(out, "<th scope=\"col\"");
    end_tag(out, class, group);
    if (text != NULL)
        ocdm__output_text(out, text);
    else
        ocdm__put_method(out, group);
    ocdm__output_text(out, "</th>");
}

void ocdm__html_row(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<tr");
    end_tag(out, "", group);
    ocdm__output_text(out, "<th scope=\"row\">");
    ocdm__put_method(out, group);
}

void ocdm__html_number(ocdm__output *out, const char *class, const ocdm__run_group *group, const ocdm__summary *number,
                       int decimals)
{
    ocdm__output_text(out, "<td data-v=\"");
    if (isfinite(number->mean))
        ocdm__output_double(out, number->mean);
    ocdm__output_text(out, "\"");
    end_tag(out, class, group);
    ocdm__put_markup(out, "%#.*f", decimals, number->mean);
    if (isfinite(number->deviation))
        ocdm__put_markup(out, " <span class=\"sd\">± %#.*f</span>", decimals, number->deviation);
    ocdm__output_text(out, "</td>");
}

void ocdm__html_value(ocdm__output *out, const char *class, const ocdm__run_group *group, double value, int decimals)
{
    ocdm__html_number(out, class, group, &(ocdm__summary){.mean = value, .deviation = NAN}, decimals);
}

/* ---- bytes as text ------------------------------------------------------------------------------------------------------- */

static void put_base64(ocdm__output *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t here = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= here > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= here > 2 ? (uint32_t)bytes[i + 2] : 0;
        char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63], digits[bits & 63]};
        for (size_t k = here + 1; k < 4; k++)
            text[k] = '=';
        ocdm__output_write(out, text, 4);
    }
}

void ocdm__put_digest(ocdm__output *out, const char *const *parts)
{
    ocdm__sha256 sha;
    char hex[OCDM__SHA256_TEXT];
    unsigned char bytes[OCDM__SHA256_SIZE];
    ocdm__sha256_begin(&sha);
    for (; *parts != NULL; parts++)
        ocdm__sha256_add(&sha, *parts, strlen(*parts));
    ocdm__sha256_end(&sha, hex);
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char pair[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    ocdm__output_text(out, "'sha256-");
    put_base64(out, bytes, sizeof bytes);
    ocdm__output_text(out, "'");
}

ocdm_status ocdm__put_picture(ocdm__output *out, const uint8_t *rgb, uint32_t side, ocdm_error *error)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = side, .height = side, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char *bytes = ocdm__allocate(size, 1);
    if (bytes == NULL || png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL) == 0) {
        ocdm__release(bytes);
        return ocdm__fail_memory(error, "a picture");
    }
    ocdm__output_text(out, "data:image/png;base64,");
    put_base64(out, bytes, size);
    ocdm__release(bytes);
    return OCDM_OK;
}
