/* JSON: whether a comma is due follows from the last byte that was written. */
#include "base/json_writer.h"

#include <string.h>

static bool comma_is_due(const ocdm__output *output)
{
    char last = output->used > 0 ? output->buffer[output->used - 1] : output->last;
    return last != '\0' && last != '{' && last != '[' && last != ':' && last != ',' && last != '\n';
}

void ocdm__json_key(ocdm__output *output, const char *key)
{
    if (comma_is_due(output))
        ocdm__output_write(output, ",", 1);
    if (key == NULL)
        return;
    ocdm__output_json_string(output, key, strlen(key));
    ocdm__output_write(output, ":", 1);
}

void ocdm__json_open(ocdm__output *output, const char *key, char bracket)
{
    ocdm__json_key(output, key);
    ocdm__output_write(output, &bracket, 1);
}

void ocdm__json_close(ocdm__output *output, char bracket)
{
    ocdm__output_write(output, &bracket, 1);
}

void ocdm__json_count(ocdm__output *output, const char *key, uint64_t value)
{
    ocdm__json_key(output, key);
    ocdm__output_uint64(output, value);
}

void ocdm__json_real(ocdm__output *output, const char *key, double value)
{
    ocdm__json_key(output, key);
    ocdm__output_double(output, value);
}

void ocdm__json_flag(ocdm__output *output, const char *key, bool value)
{
    ocdm__json_key(output, key);
    ocdm__output_text(output, value ? "true" : "false");
}

void ocdm__json_null(ocdm__output *output, const char *key)
{
    ocdm__json_key(output, key);
    ocdm__output_text(output, "null");
}

void ocdm__json_string(ocdm__output *output, const char *key, const char *text)
{
    if (text != NULL)
        ocdm__json_bytes(output, key, text, strlen(text));
    else
        ocdm__json_null(output, key);
}

void ocdm__json_bytes(ocdm__output *output, const char *key, const char *text, size_t length)
{
    ocdm__json_key(output, key);
    ocdm__output_json_string(output, text, length);
}
