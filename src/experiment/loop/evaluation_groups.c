/* Groups of classes. */
#include "experiment/loop/evaluation_groups.h"

#include <string.h>

#include "base/error.h"
#include "stream/recipes/class_groups_file.h"

void ocdm__count_classes(const ocdm__stream_table *table, uint8_t part, uint64_t *counts)
{
    memset(counts, 0, table->class_count * sizeof *counts);
    for (size_t i = 0; i < table->sample_count; i++)
        for (uint64_t k = table->label_starts[i]; table->parts[i] == part && k < table->label_starts[i + 1]; k++)
            counts[table->labels[k]]++;
}

/* Digits up to `end`; false when there are none, too many, or others. */
static bool read_bound(const char *text, const char *end, uint64_t *value)
{
    *value = 0;
    if (text == end || end - text > 18)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *value = 10 * *value + (uint64_t)(*text - '0');
    }
    return true;
}

/* Whether the text is two bounds; a file of such a name would need a folder before it. */
static bool read_bounds(const char *text, size_t length, uint64_t *high, uint64_t *low)
{
    const char *comma = memchr(text, ',', length);
    return comma != NULL && read_bound(text, comma, high) && read_bound(comma + 1, text + length, low);
}

static bool is_stream(const char *text, size_t length)
{
    return length == strlen("stream") && memcmp(text, "stream", length) == 0;
}

bool ocdm__groups_are_of_a_file(const char *text, size_t length)
{
    uint64_t high, low;
    return !is_stream(text, length) && !read_bounds(text, length, &high, &low);
}

static ocdm_status read_file(const char *path, const ocdm__stream_table *table, uint8_t *groups, ocdm_error *error)
{
    ocdm__label_table classes = {.count = 0};
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < table->class_count; i++) {
        char padded[512 + OCDM__LABEL_PADDING] = {0};
        size_t length;
        uint32_t number;
        const char *text = ocdm__text_at(&table->classes, i, &length);
        if (length > 512)
            status =
                ocdm__fail(error, OCDM_LIMIT, "give bounds instead", "%s: class %zu has a name of over 512 bytes", path, i);
        else
            memcpy(padded, text, length);
        if (status == OCDM_OK)
            status = ocdm__label_table_add(&classes, padded, length, &number, error);
    }
    if (status == OCDM_OK)
        status = ocdm__class_groups_file_read(path, &classes, groups, NULL, error);
    ocdm__label_table_clear(&classes);
    return status;
}

ocdm_status ocdm__evaluation_groups(const char *text, const ocdm__stream_table *table, const uint64_t *counts, uint8_t *groups,
                                    ocdm_error *error)
{
    uint64_t high, low;
    if (is_stream(text, strlen(text))) {
        if (table->groups == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give bounds, such as --groups 600,100",
                              "the stream has no groups of its own");
        memcpy(groups, table->groups, table->class_count);
        return OCDM_OK;
    }
    if (!read_bounds(text, strlen(text), &high, &low))
        return read_file(text, table, groups, error);
    if (high < low)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the larger bound comes first, such as --groups 600,100",
                          "the bounds of the groups rise: %s", text);
    for (size_t c = 0; c < table->class_count; c++)
        groups[c] = counts[c] > high ? OCDM__MAJORITY : counts[c] < low ? OCDM__MINORITY : OCDM__MODERATE;
    return OCDM_OK;
}
