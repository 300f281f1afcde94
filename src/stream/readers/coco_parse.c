/*
 * The text of a COCO file: a walk over its JSON that keeps ids, and where names are. A file has three lists that matter, of
 * objects with two members each that matter: a table says which.
 */
#include "stream/readers/coco_state.h"

#include <inttypes.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_scan.h"
#include "base/relative_path.h"
#include "base/shown_label.h"
#include "stream/readers/coco.h"

#define CHECK_EVERY ((size_t)4 * 1024 * 1024)
#define FIRST_ROOM 1024
#define MEMBERS 2

static const char damaged_hint[] = "the file is damaged or was cut short: fetch it again";
static const char format_hint[] = "give a file of the kind of COCO's instances_train2017.json";

/* ---- events --------------------------------------------------------------------------------------------------------- */

static enum ocdm__json_event next_event(struct ocdm__coco *coco)
{
    enum ocdm__json_event event = ocdm__json_next(&coco->json);
    if (coco->json.at < coco->next_check)
        return event;
    coco->next_check = coco->json.at + CHECK_EVERY;
    size_t offset = (size_t)(coco->json.at - coco->json.start);
    coco->stopped = ocdm__coco_goes_on(coco, offset, offset);
    return coco->stopped == OCDM_OK ? event : OCDM__JSON_ERROR;
}

/* What to return after OCDM__JSON_ERROR. */
static ocdm_status failed(struct ocdm__coco *coco)
{
    if (coco->stopped != OCDM_OK)
        return coco->stopped;
    return ocdm__coco_fail(coco, OCDM_BAD_FILE, coco->json.error_at, damaged_hint, "%s", coco->json.reason);
}

/* Where the event at hand starts; strings start with their quote. */
static size_t event_offset(const struct ocdm__coco *coco, enum ocdm__json_event event)
{
    size_t offset = (size_t)((const unsigned char *)coco->json.text - coco->json.start);
    return event == OCDM__JSON_STRING ? offset - 1 : offset;
}

/* Passes over the value after a key; false after OCDM__JSON_ERROR. */
static bool skip_value(struct ocdm__coco *coco)
{
    enum ocdm__json_event event = next_event(coco);
    if (event != OCDM__JSON_OBJECT && event != OCDM__JSON_ARRAY)
        return event != OCDM__JSON_ERROR;
    uint32_t outside = coco->json.depth - 1;
    do {
        event = next_event(coco);
        if (event == OCDM__JSON_NUMBER)
            ocdm__json_pass_numbers(&coco->json);
    } while (event != OCDM__JSON_ERROR && coco->json.depth > outside);
    return event != OCDM__JSON_ERROR;
}

/* ---- lists and their members ---------------------------------------------------------------------------------------- */

enum kind { ID, NAME };

struct member {
    const char *key;
    enum kind kind;
    bool optional;
};

/* What a member of an object was. */
struct found {
    bool given;
    uint64_t id;
    struct ocdm__coco_name name;
};

/* An object of a list. */
struct entry {
    size_t at;
    uint64_t number; /* in its list, from 1, as messages count */
    struct found found[MEMBERS];
};

struct list {
    const char *key;
    const char *noun;
    struct member members[MEMBERS];
    ocdm_status (*take)(struct ocdm__coco *coco, const struct entry *entry);
};

static ocdm_status take_image(struct ocdm__coco *coco, const struct entry *entry);
static ocdm_status take_annotation(struct ocdm__coco *coco, const struct entry *entry);
static ocdm_status take_category(struct ocdm__coco *coco, const struct entry *entry);

static const struct list lists[] = {
    {"images", "image", {{"id", ID, false}, {"file_name", NAME, true}}, take_image},
    {"annotations", "annotation", {{"image_id", ID, false}, {"category_id", ID, false}}, take_annotation},
    {"categories", "category", {{"id", ID, false}, {"name", NAME, false}}, take_category},
};
#define LISTS (sizeof lists / sizeof *lists)

static bool key_is(const struct ocdm__coco *coco, const char *key)
{
    return ocdm__json_is(&coco->json, key, strlen(key));
}

/* The value at hand as what the member is to be; why not, or NULL. */
static const char *take_value(const struct ocdm__coco *coco, enum ocdm__json_event event, enum kind kind, struct found *found)
{
    const ocdm__json *json = &coco->json;
    if (kind == ID)
        return event == OCDM__JSON_NUMBER && ocdm__json_uint64(json, &found->id) ? NULL
                                                                                 : "is not a whole number from 0 to 2^64 - 1";
    if (event != OCDM__JSON_STRING)
        return "is not a string";
    if (json->length == 0)
        return "is empty";
    if (json->length > OCDM__COCO_LONGEST_NAME)
        return "is longer than 4096 bytes";
    found->name = (struct ocdm__coco_name){
        .at = event_offset(coco, event) + 1, .length = (uint32_t)json->length, .given = true, .escaped = json->escaped};
    return NULL;
}

static ocdm_status read_member(struct ocdm__coco *coco, const struct list *list, size_t which, struct entry *entry)
{
    const struct member *member = &list->members[which];
    struct found *found = &entry->found[which];
    enum ocdm__json_event event = next_event(coco);
    if (event == OCDM__JSON_ERROR)
        return failed(coco);
    const char *wrong = found->given ? "is there twice" : take_value(coco, event, member->kind, found);
    if (wrong != NULL)
        return ocdm__coco_fail(coco, OCDM_BAD_RECORD, event_offset(coco, event), format_hint, "%s %" PRIu64 ": \"%s\" %s",
                               list->noun, entry->number, member->key, wrong);
    found->given = true;
    return OCDM_OK;
}

/* An object after its {: the members that matter, then what its list makes of them. */
static ocdm_status read_entry(struct ocdm__coco *coco, const struct list *list, struct entry *entry)
{
    enum ocdm__json_event event;
    while ((event = next_event(coco)) == OCDM__JSON_KEY) {
        size_t which = 0;
        while (which < MEMBERS && !key_is(coco, list->members[which].key))
            which++;
        ocdm_status status = OCDM_OK;
        if (which < MEMBERS)
            status = read_member(coco, list, which, entry);
        else if (!skip_value(coco))
            status = failed(coco);
        if (status != OCDM_OK)
            return status;
    }
    if (event == OCDM__JSON_ERROR)
        return failed(coco);
    for (size_t i = 0; i < MEMBERS; i++)
        if (!entry->found[i].given && !list->members[i].optional)
            return ocdm__coco_fail(coco, OCDM_BAD_RECORD, entry->at, format_hint, "%s %" PRIu64 " has no \"%s\"", list->noun,
                                   entry->number, list->members[i].key);
    return list->take(coco, entry);
}

static ocdm_status read_list(struct ocdm__coco *coco, const struct list *list)
{
    enum ocdm__json_event event = next_event(coco);
    if (event == OCDM__JSON_ERROR)
        return failed(coco);
    if (event != OCDM__JSON_ARRAY)
        return ocdm__coco_fail(coco, OCDM_BAD_FILE, event_offset(coco, event), format_hint, "\"%s\" is not an array",
                               list->key);
    for (uint64_t number = 1; (event = next_event(coco)) != OCDM__JSON_ARRAY_END; number++) {
        if (event == OCDM__JSON_ERROR)
            return failed(coco);
        struct entry entry = {.at = event_offset(coco, event), .number = number};
        if (event != OCDM__JSON_OBJECT)
            return ocdm__coco_fail(coco, OCDM_BAD_RECORD, entry.at, format_hint, "%s %" PRIu64 " is not an object", list->noun,
                                   number);
        ocdm_status status = read_entry(coco, list, &entry);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

/* ---- what becomes of an object -------------------------------------------------------------------------------------- */

size_t ocdm__coco_copy_name(struct ocdm__coco *coco, const struct ocdm__coco_name *name)
{
    const char *raw = (const char *)coco->file.bytes + name->at;
    if (name->escaped)
        return ocdm__json_unescape(raw, name->length, coco->text);
    memcpy(coco->text, raw, name->length);
    return name->length;
}

/* A path must stay below the folder that it will be looked for in, also when it is later handed on as a C string. */
static ocdm_status check_path(struct ocdm__coco *coco, const struct entry *entry)
{
    const struct ocdm__coco_name *path = &entry->found[1].name;
    if (!path->given)
        return OCDM_OK;
    size_t length = ocdm__coco_copy_name(coco, path);
    const char *wrong = memchr(coco->text, 0, length) != NULL   ? "holds a NUL character"
                        : coco->text[0] == '/'                  ? "is an absolute path"
                        : ocdm__path_climbs(coco->text, length) ? "leaves the folder of the images"
                                                                : NULL;
    if (wrong == NULL)
        return OCDM_OK;
    ocdm__shown_label shown = ocdm__show_label(coco->text, length);
    return ocdm__coco_fail(coco, OCDM_BAD_RECORD, path->at - 1, "file names are relative to the folder of the images",
                           "image %" PRIu64 ": \"file_name\" \"%s\" %s", entry->number, shown.text, wrong);
}

static bool make_image_room(struct ocdm__coco *coco)
{
    if (coco->image_count < coco->image_room)
        return true;
    bool no_room = false;
    size_t room = coco->image_room > 0 ? 2 * coco->image_room : FIRST_ROOM;
    coco->images = ocdm__grown(coco->images, room, sizeof *coco->images, &no_room);
    coco->image_room = no_room ? coco->image_room : room;
    return !no_room;
}

static ocdm_status refuse_image(struct ocdm__coco *coco, const struct entry *entry)
{
    uint64_t id = entry->found[0].id;
    if (coco->reading->skip_bad) {
        ocdm__coco_skip(coco, OCDM__COCO_DUPLICATE_IMAGES, entry->at);
        return OCDM_OK;
    }
    bool here = ocdm__id_map_find(&coco->images_seen, id) >= coco->images_before;
    return ocdm__coco_fail(coco, OCDM_BAD_RECORD, entry->at, "`ocdm stream build --skip-bad` leaves all but the first out",
                           "image %" PRIu64 " has id %" PRIu64 ", which an image of %s has too", entry->number, id,
                           here ? "this file" : "an earlier file");
}

static ocdm_status take_image(struct ocdm__coco *coco, const struct entry *entry)
{
    ocdm_status status = check_path(coco, entry);
    if (status != OCDM_OK)
        return status;
    if (!make_image_room(coco))
        return ocdm__fail_memory(coco->error, "the images of a source");
    uint64_t number = coco->images_before + coco->image_count;
    status = ocdm__id_map_add(&coco->images_seen, entry->found[0].id, number, coco->error);
    if (status == OCDM_DUPLICATE_ID)
        return refuse_image(coco, entry);
    if (status == OCDM_OK)
        coco->images[coco->image_count++] = (struct ocdm__coco_image){.id = entry->found[0].id, .path = entry->found[1].name};
    return status;
}

static ocdm_status take_annotation(struct ocdm__coco *coco, const struct entry *entry)
{
    if (coco->annotation_count == coco->annotation_room) {
        bool no_room = false;
        size_t room = coco->annotation_room > 0 ? 2 * coco->annotation_room : FIRST_ROOM;
        coco->annotations = ocdm__grown(coco->annotations, room, sizeof *coco->annotations, &no_room);
        if (no_room)
            return ocdm__fail_memory(coco->error, "the annotations of a source");
        coco->annotation_room = room;
    }
    coco->annotations[coco->annotation_count++] =
        (struct ocdm__coco_annotation){.image = entry->found[0].id, .category = entry->found[1].id, .at = entry->at};
    return OCDM_OK;
}

static ocdm_status take_category(struct ocdm__coco *coco, const struct entry *entry)
{
    uint32_t class_number;
    size_t length = ocdm__coco_copy_name(coco, &entry->found[1].name);
    ocdm_status status = ocdm__label_table_add(&coco->set->classes, coco->text, length, &class_number, coco->error);
    if (status == OCDM_OK)
        status = ocdm__id_map_add(&coco->categories, entry->found[0].id, class_number, coco->error);
    if (status != OCDM_DUPLICATE_ID)
        return status;
    return ocdm__coco_fail(coco, OCDM_BAD_RECORD, entry->at, format_hint,
                           "category %" PRIu64 " has id %" PRIu64 ", which a category before it has too", entry->number,
                           entry->found[0].id);
}

/* ---- the whole file ------------------------------------------------------------------------------------------------- */

/* A member of the outermost object, its key at hand. */
static ocdm_status read_top_member(struct ocdm__coco *coco, bool seen[LISTS])
{
    size_t which = 0;
    while (which < LISTS && !key_is(coco, lists[which].key))
        which++;
    if (which == LISTS)
        return skip_value(coco) ? OCDM_OK : failed(coco);
    if (seen[which])
        return ocdm__coco_fail(coco, OCDM_BAD_FILE, event_offset(coco, OCDM__JSON_STRING), format_hint, "\"%s\" is there twice",
                               lists[which].key);
    seen[which] = true;
    return read_list(coco, &lists[which]);
}

/* The outermost object after its {. */
static ocdm_status read_top(struct ocdm__coco *coco)
{
    bool seen[LISTS] = {false};
    enum ocdm__json_event event;
    while ((event = next_event(coco)) == OCDM__JSON_KEY) {
        ocdm_status status = read_top_member(coco, seen);
        if (status != OCDM_OK)
            return status;
    }
    size_t end = event_offset(coco, event);
    if (event == OCDM__JSON_ERROR || next_event(coco) == OCDM__JSON_ERROR)
        return failed(coco);
    for (size_t i = 0; i < LISTS; i++)
        if (!seen[i])
            return ocdm__coco_fail(coco, OCDM_BAD_FILE, end, format_hint, "the file ends without \"%s\"", lists[i].key);
    return OCDM_OK;
}

ocdm_status ocdm__coco_parse(struct ocdm__coco *coco)
{
    coco->stopped = OCDM_OK;
    coco->next_check = coco->file.bytes;
    size_t mark = coco->file.size >= 3 && memcmp(coco->file.bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* of the byte order */
    ocdm__json_begin(&coco->json, coco->file.bytes, coco->file.size);
    coco->json.at += mark;
    if (coco->file.size == mark)
        return ocdm__coco_fail(coco, OCDM_BAD_FILE, 0, format_hint, "the file is empty");
    enum ocdm__json_event event = next_event(coco);
    if (event == OCDM__JSON_ERROR)
        return failed(coco);
    if (event != OCDM__JSON_OBJECT)
        return ocdm__coco_fail(coco, OCDM_BAD_FILE, event_offset(coco, event), format_hint, "the file is not a JSON object");
    return read_top(coco);
}
