/*
 * Reads COCO's instances_*.json: which categories were annotated in which image.
 *
 * Used are `id` and, if present, `file_name` of "images", `id` and `name` of "categories", and `image_id` and `category_id` of
 * "annotations". The three members may come in any order; everything else is checked to be JSON and skipped. An image becomes
 * a sample whose id is the decimal text of the image id and whose labels are the names of the categories annotated in it,
 * crowds (iscrowd 1) included, because a crowd of a category shows the category. Images without annotations become samples
 * without labels.
 *
 * Not used: boxes, outlines, areas, supercategories, captions. Panoptic files are not supported.
 */
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "stream/labelled_set.h"
#include "stream/lines.h"
#include "stream/readers/readers.h"

/* The longest name of a category or file, in bytes as written: what a path may have. */
#define COCO_LONGEST_NAME 4096

struct coco_image {
    uint64_t id;
    uint32_t path; /* in the set's paths; UINT32_MAX: none */
};

/* Ids only, as images and categories may be listed after the annotations. */
struct coco_annotation {
    uint64_t image, category;
    uint64_t at; /* offset of the object, for messages */
};

struct coco {
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    ocdm__label_table images_seen; /* their ids, eight bytes each, over all files so far: the index of the image */
    uint64_t images_before;        /* images of the files before this one */

    /* The current file. */
    enum ocdm__part part; /* of all its samples */
    ocdm__mapped_file file;
    ocdm__json json;
    enum ocdm__json_event event;     /* the current one */
    char what[160];                  /* "reading FILE" */
    const unsigned char *next_check; /* the byte at which to check for a stop and report progress */
    ocdm__label_table categories;    /* their ids, eight bytes each */
    uint32_t *classes;               /* by category: the number of the class */
    size_t class_room;
    struct coco_image *images;
    size_t image_count, image_room;
    struct coco_annotation *annotations;
    size_t annotation_count, annotation_room;
    char text[COCO_LONGEST_NAME]; /* the name of the current entry, unescaped */
    size_t text_length;
};

/* ---- ids, errors and progress --------------------------------------------------------------------------------------- */

/* The number of an id, or UINT32_MAX. */
static uint32_t find_id(const ocdm__label_table *ids, uint64_t id)
{
    return ocdm__label_table_number(ids, (const char *)&id, sizeof id);
}

/* Gives an id the next number. OCDM_OK, OCDM_DUPLICATE_ID (no message), OCDM_NO_MEMORY, OCDM_LIMIT. */
static ocdm_status add_id(ocdm__label_table *ids, uint64_t id, ocdm_error *error)
{
    uint32_t number, before = ids->count;
    OCDM_TRY(ocdm__label_table_add(ids, (const char *)&id, sizeof id, &number, error));
    return number < before ? OCDM_DUPLICATE_ID : OCDM_OK;
}

/* Computed only for messages: most files are a single line, and nothing else counts lines. */
static ocdm__place place_of(const struct coco *coco, size_t offset)
{
    return ocdm__place_of(&coco->file, offset);
}

/* An error at an offset of the file; hint, format and arguments follow. */
#define FAIL(coco, status, offset, ...)                                                                                        \
    ocdm__fail_at((coco)->file.name, place_of(coco, offset), status, (coco)->error, __VA_ARGS__)

/* Counts what was left out at `offset`. */
static void coco_skip(struct coco *coco, const char *reason, size_t offset)
{
    char where[sizeof coco->reading->skips->first] = "";
    bool counted = false;
    for (size_t i = 0; i < coco->reading->skip_count; i++)
        counted = counted || strcmp(coco->reading->skips[i].reason, reason) == 0;
    if (!counted) {
        ocdm__place place = place_of(coco, offset);
        snprintf(where, sizeof where, "%s:%" PRIu64 ":%" PRIu64, coco->file.name, place.line, place.column);
    }
    ocdm__reading_skip(coco->reading, reason, where);
}

/* Reports progress and releases the bytes before `passed`. OCDM_OK or OCDM_STOPPED. */
static ocdm_status coco_goes_on(struct coco *coco, size_t passed, size_t done)
{
    ocdm__mapped_file_passed(&coco->file, passed);
    return ocdm__reading_goes_on(coco->reading, coco->what, done, coco->file.size, coco->error);
}

/* ---- parsing -------------------------------------------------------------------------------------------------------- */

#define BYTES_PER_CHECK ((size_t)4 * 1024 * 1024)
#define MEMBERS 2

static const char format_hint[] = "give a file of the kind of COCO's instances_train2017.json";

/* The next event, in coco->event. OCDM_OK, OCDM_BAD_FILE, OCDM_STOPPED. */
static ocdm_status next(struct coco *coco)
{
    coco->event = ocdm__json_next(&coco->json);
    if (coco->json.at >= coco->next_check) {
        size_t offset = (size_t)(coco->json.at - coco->json.start);
        coco->next_check = coco->json.at + BYTES_PER_CHECK;
        OCDM_TRY(coco_goes_on(coco, offset, offset));
    }
    if (coco->event == OCDM__JSON_ERROR)
        return FAIL(coco, OCDM_BAD_FILE, coco->json.error_at, "the file is damaged or was cut short: fetch it again", "%s",
                    coco->json.reason);
    return OCDM_OK;
}

/* Where the current event starts; strings start with their quote. */
static size_t event_offset(const struct coco *coco)
{
    size_t offset = (size_t)((const unsigned char *)coco->json.text - coco->json.start);
    return coco->event == OCDM__JSON_STRING ? offset - 1 : offset;
}

/* Skips the value after a key. */
static ocdm_status skip_value(struct coco *coco)
{
    uint32_t outside = coco->json.depth;
    do
        OCDM_TRY(next(coco));
    while (coco->json.depth > outside);
    return OCDM_OK;
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
    uint64_t id; /* of a name where its text is */
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
    ocdm_status (*take)(struct coco *coco, const struct entry *entry);
};

static ocdm_status take_image(struct coco *coco, const struct entry *entry);
static ocdm_status take_annotation(struct coco *coco, const struct entry *entry);
static ocdm_status take_category(struct coco *coco, const struct entry *entry);

static const struct list lists[] = {
    {"images", "image", {{"id", ID, false}, {"file_name", NAME, true}}, take_image},
    {"annotations", "annotation", {{"image_id", ID, false}, {"category_id", ID, false}}, take_annotation},
    {"categories", "category", {{"id", ID, false}, {"name", NAME, false}}, take_category},
};
#define LISTS (sizeof lists / sizeof *lists)

static bool key_is(const struct coco *coco, const char *key)
{
    return ocdm__json_is(&coco->json, key, strlen(key));
}

/* Reads the current value as the member's type. Returns NULL, or what is wrong. */
static const char *take_value(struct coco *coco, enum kind kind, struct found *found)
{
    const ocdm__json *json = &coco->json;
    if (found->given)
        return "occurs twice";
    found->given = true;
    if (kind == ID)
        return coco->event == OCDM__JSON_NUMBER && ocdm__json_uint64(json, &found->id)
                   ? NULL
                   : "is not a whole number from 0 to 2^64 - 1";
    if (coco->event != OCDM__JSON_STRING)
        return "is not a string";
    if (json->length == 0)
        return "is empty";
    if (json->length > COCO_LONGEST_NAME)
        return "is longer than 4096 bytes";
    found->id = event_offset(coco);
    coco->text_length = ocdm__json_unescape(json->text, json->length, coco->text);
    return NULL;
}

/* An object after its {: the members that matter, then what its list makes of them. */
static ocdm_status read_entry(struct coco *coco, const struct list *list, struct entry *entry)
{
    for (;;) {
        size_t which = 0;
        OCDM_TRY(next(coco));
        if (coco->event != OCDM__JSON_KEY)
            break;
        while (which < MEMBERS && !key_is(coco, list->members[which].key))
            which++;
        if (which == MEMBERS) {
            OCDM_TRY(skip_value(coco));
            continue;
        }
        OCDM_TRY(next(coco));
        const char *wrong = take_value(coco, list->members[which].kind, &entry->found[which]);
        if (wrong != NULL)
            return FAIL(coco, OCDM_BAD_RECORD, event_offset(coco), format_hint, "%s %" PRIu64 ": \"%s\" %s", list->noun,
                        entry->number, list->members[which].key, wrong);
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (!entry->found[i].given && !list->members[i].optional)
            return FAIL(coco, OCDM_BAD_RECORD, entry->at, format_hint, "%s %" PRIu64 " has no \"%s\"", list->noun,
                        entry->number, list->members[i].key);
    return list->take(coco, entry);
}

/* ---- what becomes of an object -------------------------------------------------------------------------------------- */

static ocdm_status take_image(struct coco *coco, const struct entry *entry)
{
    struct coco_image image = {.id = entry->found[0].id, .path = UINT32_MAX};
    /* A path must stay below its folder, also when it is passed on as a C string. */
    size_t length = entry->found[1].given ? coco->text_length : 0;
    const char *wrong = length == 0                             ? NULL
                        : memchr(coco->text, 0, length) != NULL ? "holds a NUL character"
                        : coco->text[0] == '/'                  ? "is an absolute path"
                        : ocdm__path_climbs(coco->text, length) ? "leaves the folder of the images"
                                                                : NULL;
    if (wrong != NULL)
        return FAIL(coco, OCDM_BAD_RECORD, (size_t)entry->found[1].id, "file names are relative to the folder of the images",
                    "image %" PRIu64 ": \"file_name\" \"%s\" %s", entry->number, ocdm__show_label(coco->text, length).text,
                    wrong);
    if (!ocdm__reserve(&coco->images, &coco->image_room, coco->image_count + 1, sizeof *coco->images))
        return ocdm__fail_memory(coco->error, "the images of a source");
    ocdm_status status = add_id(&coco->images_seen, entry->found[0].id, coco->error);
    if (status == OCDM_DUPLICATE_ID) {
        uint64_t id = entry->found[0].id;
        if (coco->reading->skip_bad) {
            coco_skip(coco, OCDM__COCO_DUPLICATE_IMAGES, entry->at);
            return OCDM_OK;
        }
        bool here = find_id(&coco->images_seen, id) >= coco->images_before;
        return FAIL(coco, OCDM_BAD_RECORD, entry->at, "`ocdm stream build --skip-bad` leaves all but the first out",
                    "image %" PRIu64 " has id %" PRIu64 ", which an image of %s has too", entry->number, id,
                    here ? "this file" : "an earlier file");
    }
    if (entry->found[1].given)
        OCDM_THEN(status, ocdm__label_table_add(&coco->set->paths, coco->text, coco->text_length, &image.path, coco->error));
    if (status == OCDM_OK)
        coco->images[coco->image_count++] = image;
    return status;
}

static ocdm_status take_annotation(struct coco *coco, const struct entry *entry)
{
    if (!ocdm__reserve(&coco->annotations, &coco->annotation_room, coco->annotation_count + 1, sizeof *coco->annotations))
        return ocdm__fail_memory(coco->error, "the annotations of a source");
    coco->annotations[coco->annotation_count++] =
        (struct coco_annotation){.image = entry->found[0].id, .category = entry->found[1].id, .at = entry->at};
    return OCDM_OK;
}

static ocdm_status take_category(struct coco *coco, const struct entry *entry)
{
    size_t number = coco->categories.count;
    if (!ocdm__reserve(&coco->classes, &coco->class_room, number + 1, sizeof *coco->classes))
        return ocdm__fail_memory(coco->error, "the categories of a source");
    OCDM_TRY(ocdm__label_table_add(&coco->set->classes, coco->text, coco->text_length, &coco->classes[number], coco->error));
    ocdm_status status = add_id(&coco->categories, entry->found[0].id, coco->error);
    if (status != OCDM_DUPLICATE_ID)
        return status;
    return FAIL(coco, OCDM_BAD_RECORD, entry->at, format_hint,
                "category %" PRIu64 " has id %" PRIu64 ", which a category before it has too", entry->number,
                entry->found[0].id);
}

/* ---- the whole file ------------------------------------------------------------------------------------------------- */

/* The list of a key of the outermost object. */
static ocdm_status read_list(struct coco *coco, const struct list *list)
{
    OCDM_TRY(next(coco));
    if (coco->event != OCDM__JSON_ARRAY)
        return FAIL(coco, OCDM_BAD_FILE, event_offset(coco), format_hint, "\"%s\" is not an array", list->key);
    for (uint64_t number = 1;; number++) {
        OCDM_TRY(next(coco));
        if (coco->event == OCDM__JSON_ARRAY_END)
            return OCDM_OK;
        struct entry entry = {.at = event_offset(coco), .number = number};
        if (coco->event != OCDM__JSON_OBJECT)
            return FAIL(coco, OCDM_BAD_RECORD, entry.at, format_hint, "%s %" PRIu64 " is not an object", list->noun, number);
        OCDM_TRY(read_entry(coco, list, &entry));
    }
}

/* The outermost object after its {. */
static ocdm_status read_top(struct coco *coco)
{
    bool seen[LISTS] = {false};
    for (;;) {
        size_t which = 0;
        OCDM_TRY(next(coco));
        if (coco->event != OCDM__JSON_KEY)
            break;
        while (which < LISTS && !key_is(coco, lists[which].key))
            which++;
        if (which < LISTS && seen[which])
            return FAIL(coco, OCDM_BAD_FILE, event_offset(coco) - 1, format_hint, "\"%s\" occurs twice", lists[which].key);
        if (which < LISTS)
            seen[which] = true;
        OCDM_TRY(which < LISTS ? read_list(coco, &lists[which]) : skip_value(coco));
    }
    size_t end = event_offset(coco);
    OCDM_TRY(next(coco));
    for (size_t i = 0; i < LISTS; i++)
        if (!seen[i])
            return FAIL(coco, OCDM_BAD_FILE, end, format_hint, "the file ends without \"%s\"", lists[i].key);
    return OCDM_OK;
}

/* ---- images get their labels ---------------------------------------------------------------------------------------- */

/* Each annotation as a position in coco->images and the number of a class. One of an unknown image or category is skipped, or
 * an error. */
static ocdm_status find_pairs(struct coco *coco, ocdm__label_pair *pairs, size_t *count)
{
    for (size_t i = 0; i < coco->annotation_count; i++) {
        const struct coco_annotation *annotation = &coco->annotations[i];
        uint32_t category = find_id(&coco->categories, annotation->category);
        uint32_t image = find_id(&coco->images_seen, annotation->image);
        if (category != UINT32_MAX && image != UINT32_MAX && image >= coco->images_before) {
            pairs[(*count)++] = (ocdm__label_pair){(uint32_t)(image - coco->images_before), coco->classes[category]};
            continue;
        }
        bool known = category != UINT32_MAX;
        const char *what = known ? "image" : "category", *list = known ? "images" : "categories";
        char hint[160];
        if (coco->reading->skip_bad) {
            coco_skip(coco, known ? OCDM__COCO_UNKNOWN_IMAGES : OCDM__COCO_UNKNOWN_CATEGORIES, (size_t)annotation->at);
            continue;
        }
        snprintf(hint, sizeof hint,
                 "annotations and %s must come from the same file; `ocdm stream build --skip-bad` leaves such annotations out",
                 list);
        return FAIL(coco, OCDM_BAD_RECORD, (size_t)annotation->at, hint,
                    "annotation %zu names %s %" PRIu64 ", which \"%s\" does not list", i + 1, what,
                    known ? annotation->image : annotation->category, list);
    }
    return OCDM_OK;
}

static ocdm_status add_images(struct coco *coco, const ocdm__label_lists *labels)
{
    for (size_t i = 0; i < coco->image_count; i++) {
        const struct coco_image *image = &coco->images[i];
        char id[32];
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        if (i % 4096 == 0)
            OCDM_TRY(coco_goes_on(coco, 0, coco->file.size));
        sample.id = id;
        sample.id_length = (size_t)snprintf(id, sizeof id, "%" PRIu64, image->id);
        sample.labels = labels->labels + labels->starts[i];
        sample.label_count = labels->starts[i + 1] - labels->starts[i];
        sample.part = coco->part;
        if (image->path != UINT32_MAX)
            sample.path = ocdm__label_table_text(&coco->set->paths, image->path, &sample.path_length);
        OCDM_TRY(ocdm__labelled_set_add(coco->set, &sample, coco->error));
    }
    return OCDM_OK;
}

/* Reads the text into images, annotations and categories, then adds the images to the set. */
static ocdm_status read_file(struct coco *coco, const char *path)
{
    ocdm__label_lists labels = {.starts = NULL};
    ocdm__label_pair *pairs = NULL;
    size_t count = 0;
    snprintf(coco->what, sizeof coco->what, "reading %s", path);
    ocdm_status status = ocdm__map_file(&coco->file, path, coco->error);
    OCDM_THEN(status, ocdm__refuse_packed(&coco->file, coco->error));
    if (status == OCDM_OK) {
        bool mark = coco->file.size >= 3 && memcmp(coco->file.bytes, "\xEF\xBB\xBF", 3) == 0; /* of the byte order */
        coco->next_check = coco->file.bytes;
        ocdm__json_begin(&coco->json, coco->file.bytes, coco->file.size);
        coco->json.at += mark ? 3 : 0;
        if (coco->json.at == coco->json.end)
            status = FAIL(coco, OCDM_BAD_FILE, 0, format_hint, "the file is empty");
        OCDM_THEN(status, next(coco));
        if (status == OCDM_OK && coco->event != OCDM__JSON_OBJECT)
            status = FAIL(coco, OCDM_BAD_FILE, event_offset(coco), format_hint, "the file is not a JSON object");
    }
    OCDM_THEN(status, read_top(coco));
    OCDM_THEN(status, ocdm__new(&pairs, coco->annotation_count, sizeof *pairs, "the labels of a source", coco->error));
    OCDM_THEN(status, find_pairs(coco, pairs, &count));
    OCDM_THEN(status, ocdm__label_lists_make(&labels, coco->image_count, pairs, count, coco->error));
    OCDM_THEN(status, add_images(coco, &labels));
    ocdm__label_lists_clear(&labels);
    ocdm__release(pairs);
    /* Releases the current file; what is known about all files stays. */
    coco->images_before += coco->image_count;
    ocdm__unmap_file(&coco->file);
    ocdm__label_table_clear(&coco->categories);
    coco->image_count = coco->annotation_count = 0;
    return status;
}

ocdm_status ocdm__coco_read(ocdm__labelled_set *set, const char *const *paths, const enum ocdm__part *parts, size_t path_count,
                            ocdm__reading *reading, ocdm_error *error)
{
    struct coco *coco;
    OCDM_TRY(ocdm__new(&coco, 1, sizeof *coco, "a reader", error));
    coco->set = set;
    coco->reading = reading;
    coco->error = error;
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < path_count && status == OCDM_OK; i++) {
        coco->part = parts != NULL ? parts[i] : OCDM__NO_PART;
        status = read_file(coco, paths[i]);
    }
    ocdm__label_table_clear(&coco->images_seen);
    OCDM_RELEASE(coco->classes, coco->images, coco->annotations, coco);
    if (status != OCDM_OK)
        ocdm__labelled_set_clear(set);
    return status;
}
