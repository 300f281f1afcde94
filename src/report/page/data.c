/*
 * All data as JSON: the summaries with the numbers as in the files, and what is wrong with runs that have none. Two things
 * are shortened to keep the page small: a list of classes that an earlier run also has is replaced by that run's number,
 * and curves have at most CURVE_POINTS points.
 */
#include <png.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/page/parts.h"

#define CURVE_POINTS 500

/* Quoted, and `<` as an escape, so that no text can end the script element. */
static void put_string(ocdm__output *out, const char *text)
{
    const char *part = text;
    ocdm__output_text(out, "\"");
    while (*part != '\0') {
        char quoted[OCDM__JSON_QUOTED(512)];
        size_t length = strcspn(part, "<>&");
        length = length < 512 ? length : 512;
        while (length > 500 && ocdm__utf8_continues((unsigned char)part[length]))
            length--; /* not in the middle of a character */
        size_t size = ocdm__json_quote(part, length, quoted);
        ocdm__output_write(out, quoted + 1, size - 2);
        part += length;
        if (length == 0) {
            ocdm__output_text(out, *part == '<' ? "\\u003c" : *part == '>' ? "\\u003e" : "\\u0026");
            part++;
        }
    }
    ocdm__output_text(out, "\"");
}

static void put_node(ocdm__output *out, const ocdm__json_node *node)
{
    if (node->kind == OCDM__JSON_STRING)
        put_string(out, node->text);
    else if (node->kind == OCDM__JSON_NUMBER)
        ocdm__output_text(out, node->text);
    else if (node->kind != OCDM__JSON_OBJECT && node->kind != OCDM__JSON_ARRAY)
        ocdm__output_text(out, node->kind == OCDM__JSON_TRUE ? "true" : node->kind == OCDM__JSON_FALSE ? "false" : "null");
    else {
        ocdm__output_text(out, node->kind == OCDM__JSON_OBJECT ? "{" : "[");
        for (const ocdm__json_node *child = node->first; child != NULL; child = child->next) {
            if (child != node->first)
                ocdm__output_text(out, ",");
            if (child->key != NULL) {
                put_string(out, child->key);
                ocdm__output_text(out, ":");
            }
            put_node(out, child);
        }
        ocdm__output_text(out, node->kind == OCDM__JSON_OBJECT ? "}" : "]");
    }
}

/* A list with every n-th element and the last. */
static void put_thinned(ocdm__output *out, const ocdm__json_node *list)
{
    size_t every = (list->count + CURVE_POINTS - 1) / CURVE_POINTS, number = 0;
    bool first = true;
    ocdm__output_text(out, "[");
    for (const ocdm__json_node *node = list->first; node != NULL; node = node->next, number++) {
        if (number % every != 0 && node->next != NULL)
            continue;
        if (!first)
            ocdm__output_text(out, ",");
        put_node(out, node);
        first = false;
    }
    ocdm__output_text(out, "]");
}

static void put_curve(ocdm__output *out, const ocdm__json_node *curve)
{
    if (curve->kind != OCDM__JSON_OBJECT) {
        put_node(out, curve);
        return;
    }
    ocdm__output_text(out, "{");
    for (const ocdm__json_node *child = curve->first; child != NULL; child = child->next) {
        if (child != curve->first)
            ocdm__output_text(out, ",");
        put_string(out, child->key);
        ocdm__output_text(out, ":");
        if (child->kind == OCDM__JSON_ARRAY)
            put_thinned(out, child);
        else
            put_node(out, child);
    }
    ocdm__output_text(out, "}");
}

/* The name of the machine stays in summary.json: pages are published. */
static void put_environment(ocdm__output *out, const ocdm__json_node *environment)
{
    bool first = true;
    if (environment->kind != OCDM__JSON_OBJECT) {
        put_node(out, environment);
        return;
    }
    ocdm__output_text(out, "{");
    for (const ocdm__json_node *child = environment->first; child != NULL; child = child->next) {
        if (strcmp(child->key, "machine") == 0)
            continue;
        ocdm__output_text(out, first ? "" : ",");
        put_string(out, child->key);
        ocdm__output_text(out, ":");
        put_node(out, child);
        first = false;
    }
    ocdm__output_text(out, "}");
}

/* The first run before this one that has the same classes; `number` itself when there is none. */
static size_t same_classes(const ocdm__run_list *runs, size_t number)
{
    const ocdm__json_node *classes = ocdm__json_find(runs->runs[number].summary.root, "classes");
    for (size_t i = 0; i < number; i++)
        if (runs->runs[i].state == OCDM__RUN_WHOLE &&
            ocdm__json_same(classes, ocdm__json_find(runs->runs[i].summary.root, "classes")))
            return i;
    return number;
}

static void put_summary(ocdm__output *out, const ocdm__run_list *runs, size_t number)
{
    const ocdm__json_node *root = runs->runs[number].summary.root;
    size_t other = same_classes(runs, number);
    ocdm__output_text(out, ",\"summary\":{");
    for (const ocdm__json_node *child = root->first; child != NULL; child = child->next) {
        bool is_classes = strcmp(child->key, "classes") == 0;
        if (child != root->first)
            ocdm__output_text(out, ",");
        if (is_classes && other < number) {
            ocdm__output_count(out, "\"classes_of_run\":", other);
            continue;
        }
        put_string(out, child->key);
        ocdm__output_text(out, ":");
        if (strcmp(child->key, "curve") == 0)
            put_curve(out, child);
        else if (strcmp(child->key, "environment") == 0)
            put_environment(out, child);
        else
            put_node(out, child);
    }
    ocdm__output_text(out, "}");
}

void ocdm__put_data(ocdm__output *out, const ocdm__page *page)
{
    static const char *const states[] = {"whole", "half", "broken", "missing"};
    ocdm__output_text(out,
                      "<script type=\"application/json\" id=\"data\">{\"format\":\"ocdm-report\",\"version\":1,\"runs\":[");
    for (size_t i = 0; i < page->runs->count; i++) {
        const ocdm__run_record *run = &page->runs->runs[i];
        ocdm__output_text(out, i == 0 ? "\n{\"folder\":" : ",\n{\"folder\":");
        put_string(out, run->folder);
        ocdm__output_text(out, ",\"state\":");
        put_string(out, states[run->state]);
        if (run->state == OCDM__RUN_WHOLE) {
            put_summary(out, page->runs, i);
        } else {
            ocdm__output_text(out, ",\"why\":");
            put_string(out, run->why.message);
        }
        ocdm__output_text(out, "}");
    }
    ocdm__output_text(out, "\n]}</script>\n");
}

/* ---- bytes as text ------------------------------------------------------------------------------------------------------ */

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

static unsigned char hex_digit(char digit)
{
    return (unsigned char)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
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
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
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
