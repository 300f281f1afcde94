/* Members of a record that is a line of csv or tsv. The record reader has checked quotes and the number of fields. */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/shown_label.h"
#include "stream/records/source_members.h"

/* Going through the fields of a record. */
struct fields {
    const char *at, *end; /* what is left; at is NULL when nothing is */
    char delimiter;
};

static struct fields begin_fields(const char *bytes, size_t length, char delimiter)
{
    length -= length > 0 && bytes[length - 1] == '\r';
    return (struct fields){.at = bytes, .end = bytes + length, .delimiter = delimiter};
}

/* The end of the quoted field whose opening quote is at `at`: after its closing quote. */
static const char *quoted_end(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 == end || at[1] != '"')
            return at + 1;
        at++;
    }
    return end;
}

/* Takes the next field off, as it is written. */
static bool next_field(struct fields *fields, const char **at, size_t *length)
{
    if (fields->at == NULL)
        return false;
    const char *start = fields->at, *scan = start;
    if (fields->delimiter == ',' && start < fields->end && *start == '"')
        scan = quoted_end(start, fields->end);
    const char *stop = scan < fields->end ? memchr(scan, fields->delimiter, (size_t)(fields->end - scan)) : NULL;
    fields->at = stop != NULL ? stop + 1 : NULL;
    *at = start;
    *length = (size_t)((stop != NULL ? stop : fields->end) - start);
    return true;
}

/* Undoes the quotes of a field, up to `room` bytes of it; returns its length, `room` when it is longer. */
static size_t copy_plain(const struct fields *fields, const char *at, size_t length, char *out, size_t room)
{
    size_t used = 0;
    bool quoted = fields->delimiter == ',' && length > 1 && *at == '"';
    for (size_t i = quoted; i < length - quoted && used < room; i++) {
        i += quoted && at[i] == '"';
        out[used++] = at[i];
    }
    return used;
}

/* ---- the header ----------------------------------------------------------------------------------------------------- */

static uint8_t member_of(const char *name, size_t length, const ocdm__wanted_members *wanted)
{
    for (unsigned i = OCDM__MEMBERS; i-- > 0;) {
        const char *known = (wanted->which & 1u << i) != 0 ? ocdm__member_name((enum ocdm__member)i, wanted) : NULL;
        if (known != NULL && strlen(known) == length && memcmp(known, name, length) == 0)
            return (uint8_t)i;
    }
    return OCDM__MEMBERS;
}

static size_t count_fields(const char *bytes, size_t length, char delimiter)
{
    struct fields fields = begin_fields(bytes, length, delimiter);
    size_t count = 0;
    while (next_field(&fields, &bytes, &length))
        count++;
    return count;
}

ocdm_status ocdm__find_member_columns(ocdm__member_columns *columns, const char *header, size_t length,
                                      const ocdm__wanted_members *wanted, const char *file, ocdm_error *error)
{
    struct fields fields = begin_fields(header, length, columns->delimiter);
    unsigned found = 0;
    size_t room = count_fields(header, length, columns->delimiter);
    columns->member = ocdm__allocate(room, 1);
    if (columns->member == NULL)
        return ocdm__fail_memory(error, "the columns of a table");
    for (const char *at; next_field(&fields, &at, &length);) {
        char name[OCDM__LONGEST_MEMBER + 1];
        length = copy_plain(&fields, at, length, name, sizeof name);
        uint8_t member = member_of(name, length, wanted);
        if (member != OCDM__MEMBERS && (found & 1u << member) != 0)
            return ocdm__fail(error, OCDM_BAD_RECORD, "", "%s:1:1: two columns named \"%s\"", file,
                              ocdm__member_name((enum ocdm__member)member, wanted));
        found |= 1u << member;
        columns->member[columns->count++] = member;
    }
    if ((wanted->which & 1u << OCDM__MEMBER_OTHER) != 0 && (found & 1u << OCDM__MEMBER_OTHER) == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, "`--tasks-by NAME` names a column", "%s:1:1: no column named \"%s\"", file,
                          wanted->other);
    return OCDM_OK;
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

bool ocdm__read_field_members(const char *bytes, size_t length, const ocdm__wanted_members *wanted,
                              const ocdm__member_columns *columns, ocdm__record_members *members)
{
    struct fields fields = begin_fields(bytes, length, columns->delimiter);
    const char *at;
    members->found = 0;
    for (size_t column = 0; column < columns->count && next_field(&fields, &at, &length); column++) {
        char text[OCDM__LONGEST_MEMBER + 1];
        if (columns->member[column] == OCDM__MEMBERS)
            continue;
        ocdm__member_value value = {.text = text, .string = true, .number = true, .whole = true};
        value.length = copy_plain(&fields, at, length, text, sizeof text);
        if (value.length > 0 && !ocdm__take_member(members, (enum ocdm__member)columns->member[column], wanted, &value)) {
            members->at = (size_t)(at - bytes);
            return false;
        }
    }
    return true;
}
