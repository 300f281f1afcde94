/* Members of a record: what each may be, and finding them in JSON. */
#include "stream/records/source_members.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/relative_path.h"
#include "base/shown_label.h"

const char *ocdm__member_name(enum ocdm__member member, const ocdm__wanted_members *wanted)
{
    static const char *const names[] = {"task", "split", "image", "row"};
    return member == OCDM__MEMBER_OTHER ? wanted->other : names[member];
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static bool refuse(ocdm__record_members *members, const char *name, const char *trouble)
{
    ocdm__shown_label shown = ocdm__show_label(name, strlen(name));
    snprintf(members->reason, sizeof members->reason, "\"%s\" %s", shown.text, trouble);
    return false;
}

static bool is_text(const ocdm__member_value *value, const char *text)
{
    return value->string && value->length == strlen(text) && memcmp(value->text, text, value->length) == 0;
}

static bool take_whole(ocdm__record_members *members, const char *name, const ocdm__member_value *value, uint64_t *number)
{
    uint64_t sum = 0;
    bool good = value->whole && value->length > 0;
    for (size_t i = 0; good && i < value->length; i++) {
        uint64_t digit = (uint64_t)(value->text[i] - '0');
        good = value->text[i] >= '0' && value->text[i] <= '9' && sum <= (UINT64_MAX - digit) / 10;
        sum = sum * 10 + digit;
    }
    if (!good)
        return refuse(members, name, "must be a whole number from 0");
    *number = sum;
    return true;
}

static bool take_split(ocdm__record_members *members, const ocdm__member_value *value)
{
    if (!is_text(value, "train") && !is_text(value, "test"))
        return refuse(members, "split", "must be \"train\" or \"test\"");
    members->part = is_text(value, "test") ? OCDM__TEST : OCDM__TRAIN;
    return true;
}

static bool has_control(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return true;
    return false;
}

static void keep_text(const ocdm__member_value *value, char *out, size_t *length)
{
    memcpy(out, value->text, value->length);
    memset(out + value->length, 0, OCDM__LABEL_PADDING);
    *length = value->length;
}

static bool take_image(ocdm__record_members *members, const ocdm__member_value *value)
{
    if (!value->string || value->length == 0)
        return refuse(members, "image", "must be the path of a file");
    if (value->length > OCDM__LONGEST_MEMBER || has_control(value->text, value->length))
        return refuse(members, "image", "is too long a path, or has control characters");
    if (value->text[0] == '/')
        return refuse(members, "image", "must be a path relative to the folder of images");
    if (ocdm__path_climbs(value->text, value->length))
        return refuse(members, "image", "must not lead out of its folder with ..");
    keep_text(value, members->image, &members->image_length);
    return true;
}

static bool take_other(ocdm__record_members *members, const char *name, const ocdm__member_value *value)
{
    if (!value->string && !value->number)
        return refuse(members, name, "must be a string or a number");
    if (value->length > OCDM__LONGEST_MEMBER)
        return refuse(members, name, "has too long a value");
    keep_text(value, members->other, &members->other_length);
    return true;
}

bool ocdm__take_member(ocdm__record_members *members, enum ocdm__member member, const ocdm__wanted_members *wanted,
                       const ocdm__member_value *value)
{
    members->found |= 1u << member;
    switch (member) {
    case OCDM__MEMBER_TASK:
        return take_whole(members, "task", value, &members->task);
    case OCDM__MEMBER_ROW:
        return take_whole(members, "row", value, &members->row);
    case OCDM__MEMBER_SPLIT:
        return take_split(members, value);
    case OCDM__MEMBER_IMAGE:
        return take_image(members, value);
    default:
        return take_other(members, wanted->other, value);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

/* The member that the key at hand names, or OCDM__MEMBERS. The other member goes first, since it may have any name. */
static enum ocdm__member member_of(const ocdm__json *json, const ocdm__wanted_members *wanted)
{
    for (unsigned i = OCDM__MEMBERS; i-- > 0;) {
        if ((wanted->which & 1u << i) == 0)
            continue;
        const char *name = ocdm__member_name((enum ocdm__member)i, wanted);
        if (ocdm__json_is(json, name, strlen(name)))
            return (enum ocdm__member)i;
    }
    return OCDM__MEMBERS;
}

/* The value after the key at hand. A string with escapes is undone into a buffer; one that is too long for it is too long for
 * any member, escapes or not. */
static bool take_value(ocdm__json *json, enum ocdm__member member, const ocdm__wanted_members *wanted,
                       ocdm__record_members *members)
{
    char plain[6 * (OCDM__LONGEST_MEMBER + 1)];
    if ((members->found & 1u << member) != 0)
        return refuse(members, ocdm__member_name(member, wanted), "is there twice");
    enum ocdm__json_event event = ocdm__json_next(json);
    ocdm__member_value value = {.text = json->text,
                                .length = json->length,
                                .string = event == OCDM__JSON_STRING,
                                .number = event == OCDM__JSON_NUMBER,
                                .whole = event == OCDM__JSON_NUMBER && json->whole};
    if (value.string && json->escaped && json->length <= sizeof plain) {
        value.length = ocdm__json_unescape(json->text, json->length, plain);
        value.text = plain;
    }
    return ocdm__take_member(members, member, wanted, &value);
}

bool ocdm__read_json_members(const char *bytes, size_t length, const ocdm__wanted_members *wanted,
                             ocdm__record_members *members)
{
    ocdm__json json;
    members->found = 0;
    ocdm__json_begin(&json, bytes, length);
    ocdm__json_next(&json);
    while (ocdm__json_next(&json) == OCDM__JSON_KEY) {
        enum ocdm__member member = member_of(&json, wanted);
        if (member == OCDM__MEMBERS) {
            ocdm__json_skip(&json, OCDM__JSON_KEY);
        } else if (!take_value(&json, member, wanted, members)) {
            members->at = (size_t)(json.text - bytes);
            return false;
        }
    }
    return true;
}
