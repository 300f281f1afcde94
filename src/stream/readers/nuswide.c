/*
 * Reads the image lists and labels of NUS-WIDE from the files that nuswide_files.c finds. Lines may end in CR LF or blanks;
 * empty lines at the end do not count.
 *
 * Samples come in the order of Imagelist.txt, or of the training list followed by the test list. For an image
 * `actor\0001_212.jpg`
 *   - the path is actor/0001_212.jpg;
 *   - the id is the photo's, 212. The official list has six photos twice, most with different labels: the second image of a
 *     photo has its path as id;
 *   - the labels are the concepts with a 1; many images have none;
 *   - part and row are its place in the official training or test list, if there is one; row counts from 0.
 * Classes are in bytewise order of their names. Not used: tags, low-level features, the 1000-tag files, the images themselves.
 *
 * Each label file lists the images of one concept, but the set needs the concepts of each image. The images with a 1 are noted
 * concept by concept, which needs space for the labels only, and transposed at the end.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "stream/readers/readers.h"

#define NUSWIDE_PATH 1024   /* the most bytes of an image's path */
#define LEFT_OUT UINT32_MAX /* the path of an image that is left out */

/* A file's lines, one after another. */
struct lines {
    const char *name;
    const unsigned char *at, *end;
    uint64_t line; /* of the one last read, from 1 */
};

static inline bool is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Trailing space and empty lines and a byte order mark are not lines. */
static inline struct lines lines_of(const ocdm__mapped_file *file)
{
    struct lines lines = {.name = file->name, .at = file->bytes, .end = file->bytes + file->size};
    if (file->size >= 3 && memcmp(lines.at, "\xEF\xBB\xBF", 3) == 0)
        lines.at += 3;
    while (lines.end > lines.at && is_blank(lines.end[-1]))
        lines.end--;
    return lines;
}

/* The next line without the blanks at its end; false when there is none. */
static inline bool lines_next(struct lines *lines, const char **text, size_t *length)
{
    if (lines->at >= lines->end)
        return false;
    const unsigned char *start = lines->at, *end = memchr(start, '\n', (size_t)(lines->end - start));
    lines->at = end != NULL ? end + 1 : lines->end;
    end = end != NULL ? end : lines->end;
    while (end > start && is_blank(end[-1]))
        end--;
    *text = (const char *)start;
    *length = (size_t)(end - start);
    lines->line++;
    return true;
}

struct nuswide_image {
    uint32_t path; /* in the set's paths, or LEFT_OUT */
    uint32_t row;  /* in the list of its part */
    uint8_t part;  /* enum ocdm__part */
};

struct nuswide {
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    struct nuswide_image *images; /* by line of the list; of the split variant the test list's after the training list's */
    size_t image_count, image_room;
    uint32_t first_path;   /* how many paths the set had before */
    uint32_t path_count;   /* of these images; they are numbered from first_path on */
    uint32_t *image_of;    /* by path, from first_path on */
    size_t part_counts[2]; /* images of the training and the test list */
    char path[NUSWIDE_PATH + OCDM__LABEL_PADDING];
};

/* ---- image lists ---------------------------------------------------------------------------------------------------- */

#define LINES_BETWEEN_LOOKS 65536 /* lines between two checks whether to stop */

/* Reports an error in the line last read: OCDM_BAD_FILE with file, line and message; with skip_bad, OCDM_OK after counting it
 * under `reason`. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static ocdm_status
nuswide_bad_line(struct nuswide *state, const struct lines *lines, const char *reason, ocdm_error *error, const char *format,
                 ...)
{
    char text[320], where[160];
    if (state->reading->skip_bad) {
        snprintf(where, sizeof where, "%s:%llu", lines->name, (unsigned long long)lines->line);
        ocdm__reading_skip(state->reading, reason, where);
        return OCDM_OK;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_FILE, "`--skip-bad` leaves such images out", "%s:%llu: %s", lines->name,
                      (unsigned long long)lines->line, text);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Where the photo's id is in a path: digits between the last "_" and ".jpg". False when there is none. */
static bool nuswide_photo_id(const char *path, size_t length, size_t *at, size_t *id_length)
{
    if (length < 5 || path[length - 4] != '.' || (path[length - 3] | 32) != 'j' || (path[length - 2] | 32) != 'p' ||
        (path[length - 1] | 32) != 'g')
        return false;
    size_t end = length - 4, start = end;
    while (start > 0 && is_digit(path[start - 1]))
        start--;
    *at = start;
    *id_length = end - start;
    return start < end && start > 0 && path[start - 1] == '_';
}

static bool is_clean(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    for (size_t size; at < end; at += size) {
        size = ocdm__utf8_sequence(at, end);
        if (size == 0 || *at < 0x20 || *at == 0x7F)
            return false;
    }
    return true;
}

/* What is wrong with the path, or NULL. */
static const char *path_fault(const char *path, size_t length)
{
    size_t at, id_length;
    if (!is_clean(path, length))
        return "is not UTF-8 or has control characters";
    if (!ocdm__is_relative_path(path, length) || (length >= 2 && path[1] == ':'))
        return "leads out of the folder of the images";
    if (!nuswide_photo_id(path, length, &at, &id_length))
        return "has no photo id: digits between the last \"_\" and \".jpg\"";
    return NULL;
}

/* The number of a line's path in the set; LEFT_OUT when it is bad and left out. */
static ocdm_status number_path(struct nuswide *state, const struct lines *lines, const char *text, size_t length,
                               uint32_t *number, ocdm_error *error)
{
    static const char reason[] = "images with a bad name";
    *number = LEFT_OUT;
    if (length == 0)
        return nuswide_bad_line(state, lines, reason, error, "an empty line, where the name of an image should be");
    if (length > NUSWIDE_PATH)
        return nuswide_bad_line(state, lines, reason, error, "the name of an image has %zu bytes, the most is %d", length,
                                NUSWIDE_PATH);
    for (size_t i = 0; i < length; i++)
        state->path[i] = text[i] == '\\' ? '/' : text[i];
    const char *fault = path_fault(state->path, length);
    if (fault != NULL)
        return nuswide_bad_line(state, lines, reason, error, "\"%s\" %s", ocdm__show_label(text, length).text, fault);
    return ocdm__label_table_add(&state->set->paths, state->path, length, number, error);
}

static ocdm_status fail_duplicate(struct nuswide *state, const struct lines *lines, const char *text, size_t length,
                                  ocdm_error *error)
{
    return nuswide_bad_line(state, lines, "images listed already", error, "image \"%s\" is listed already",
                            ocdm__show_label(text, length).text);
}

/* A line that is a new image. Paths are numbered in the order of the images, so a number that is not new means a repeated
 * image. */
static ocdm_status take_line(struct nuswide *state, const struct lines *lines, enum ocdm__part part, const char *text,
                             size_t length, ocdm_error *error)
{
    uint32_t next = state->set->paths.count;
    struct nuswide_image image = {.part = (uint8_t)part, .row = (uint32_t)(lines->line - 1)};
    OCDM_TRY(number_path(state, lines, text, length, &image.path, error));
    if (image.path < next) {
        image.path = LEFT_OUT;
        OCDM_TRY(fail_duplicate(state, lines, text, length, error));
    }
    if (state->image_count == UINT32_MAX - 1)
        return ocdm__fail(error, OCDM_LIMIT, "", "more than %u images", UINT32_MAX - 1);
    bool failed = false;
    if (state->image_count == state->image_room) {
        size_t room = ocdm__larger_room(state->image_room, 1);
        state->images = ocdm__grown(state->images, room, sizeof *state->images, &failed);
        state->image_of = ocdm__grown(state->image_of, room, sizeof *state->image_of, &failed);
        if (failed)
            return ocdm__fail_memory(error, "the images of a list");
        state->image_room = room;
    }
    if (image.path != LEFT_OUT)
        state->image_of[state->path_count++] = (uint32_t)state->image_count;
    state->images[state->image_count++] = image;
    return OCDM_OK;
}

/* A line of the training or test list about an image of Imagelist.txt. */
static ocdm_status join_line(struct nuswide *state, const struct lines *lines, enum ocdm__part part, const char *text,
                             size_t length, ocdm_error *error)
{
    uint32_t number;
    ocdm_status status = number_path(state, lines, text, length, &number, error);
    if (status != OCDM_OK || number == LEFT_OUT)
        return status;
    if (number < state->first_path || number - state->first_path >= state->path_count)
        return nuswide_bad_line(state, lines, "images that Imagelist.txt lacks", error, "image \"%s\" is not in Imagelist.txt",
                                ocdm__show_label(text, length).text);
    struct nuswide_image *image = &state->images[state->image_of[number - state->first_path]];
    if (image->part != OCDM__NO_PART)
        return fail_duplicate(state, lines, text, length, error);
    image->part = (uint8_t)part;
    image->row = (uint32_t)(lines->line - 1);
    return OCDM_OK;
}

typedef ocdm_status (*line_reader)(struct nuswide *, const struct lines *, enum ocdm__part, const char *, size_t, ocdm_error *);

/* Calls `read_line` for each line of a list. */
static ocdm_status read_list(struct nuswide *state, const char *path, enum ocdm__part part, line_reader read_line,
                             ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    ocdm_status status = ocdm__map_file(&file, path, error);
    OCDM_THEN(status, ocdm__found_files_add(state->reading->files, path, error));
    struct lines lines = lines_of(&file);
    const char *text;
    size_t length;
    while (status == OCDM_OK && lines_next(&lines, &text, &length)) {
        if (lines.line % LINES_BETWEEN_LOOKS == 1)
            status = ocdm__reading_goes_on(state->reading, "reading an image list", (size_t)(lines.at - file.bytes), file.size,
                                           error);
        OCDM_THEN(status, read_line(state, &lines, part, text, length, error));
    }
    if (status == OCDM_OK && lines.line == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s:1: no images", path);
    if (part != OCDM__NO_PART)
        state->part_counts[part] = lines.line;
    ocdm__unmap_file(&file);
    return status;
}

/* Reads the lists: `images`, and the set's paths. */
static ocdm_status nuswide_read_lists(struct nuswide *state, const ocdm__nuswide_files *files, ocdm_error *error)
{
    state->first_path = state->set->paths.count;
    if (files->list != NULL)
        OCDM_TRY(read_list(state, files->list, OCDM__NO_PART, take_line, error));
    for (int part = OCDM__TRAIN; part <= OCDM__TEST; part++)
        if (files->part_lists[part] != NULL)
            OCDM_TRY(read_list(state, files->part_lists[part], (enum ocdm__part)part,
                               files->list != NULL ? join_line : take_line, error));
    return OCDM_OK;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

/* The images that have each concept. */
struct concept_images {
    size_t *starts; /* of each concept in `images`, one more than there are concepts */
    uint32_t *images;
    size_t count, room;
    uint32_t *classes; /* of each concept, its number in the set */
};

/* The labels of each image: those of image i are starts[i] to starts[i + 1]. */
struct image_labels {
    size_t *starts;
    uint32_t *labels;
};

static ocdm_status fail_length(const struct lines *lines, const char *list, size_t expected, ocdm_error *error)
{
    unsigned long long count = lines->line;
    return ocdm__fail(error, OCDM_BAD_FILE, "labels and image lists must come from the same release, both complete",
                      "%s:%llu: the file has %llu label%s, but %s lists %zu image%s", lines->name, count > 0 ? count : 1, count,
                      count == 1 ? "" : "s", list, expected, expected == 1 ? "" : "s");
}

/* Skips an image whose label cannot be read. */
static ocdm_status drop_image(struct nuswide *state, const struct lines *lines, size_t image, const char *text, size_t length,
                              ocdm_error *error)
{
    if (state->images[image].path == LEFT_OUT)
        return OCDM_OK;
    state->images[image].path = LEFT_OUT;
    return nuswide_bad_line(state, lines, "images with a label that is neither 0 nor 1", error, "\"%s\" is neither 0 nor 1",
                            ocdm__show_label(text, length).text);
}

/* Notes the images with a 1 among `count` from `first` on. There is room for all of them. */
static ocdm_status note_lines(struct nuswide *state, struct concept_images *noted, struct lines *lines, size_t first,
                              size_t count, ocdm_error *error)
{
    const char *text;
    size_t length;
    while (lines_next(lines, &text, &length)) {
        if (lines->line > count)
            continue;
        size_t image = first + (size_t)lines->line - 1;
        if (length == 1 && text[0] == '1')
            noted->images[noted->count++] = (uint32_t)image;
        else if (length != 1 || text[0] != '0')
            OCDM_TRY(drop_image(state, lines, image, text, length, error));
    }
    return OCDM_OK;
}

static ocdm_status read_label_file(struct nuswide *state, struct concept_images *noted, const char *path, size_t first,
                                   size_t count, const char *list, ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    if (!ocdm__reserve(&noted->images, &noted->room, noted->count + count, sizeof *noted->images))
        return ocdm__fail_memory(error, "the labels of NUS-WIDE");
    ocdm_status status = ocdm__map_file(&file, path, error);
    OCDM_THEN(status, ocdm__found_files_add(state->reading->files, path, error));
    struct lines lines = lines_of(&file);
    OCDM_THEN(status, note_lines(state, noted, &lines, first, count, error));
    if (status == OCDM_OK && lines.line != count)
        status = fail_length(&lines, list, count, error);
    ocdm__unmap_file(&file);
    return status;
}

/* Both parts of a concept, or the one file for all. */
static ocdm_status read_concept(struct nuswide *state, const ocdm__nuswide_files *files, size_t concept,
                                struct concept_images *noted, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    size_t first = 0;
    for (int part = OCDM__TRAIN; status == OCDM_OK && part <= (files->split ? OCDM__TEST : OCDM__TRAIN); part++) {
        size_t count = files->split ? state->part_counts[part] : state->image_count;
        char *path = ocdm__nuswide_label_path(files, concept, (enum ocdm__part)part);
        if (path == NULL)
            return ocdm__fail_memory(error, "the name of a file");
        status = read_label_file(state, noted, path, first, count, files->split ? files->part_lists[part] : files->list, error);
        ocdm__release(path);
        first += count;
    }
    return status;
}

/* The class of a concept: text of the file name, which may be any bytes. */
static ocdm_status number_class(ocdm__labelled_set *set, const ocdm__nuswide_files *files, size_t concept, uint32_t *number,
                                ocdm_error *error)
{
    char name[256 + OCDM__LABEL_PADDING] = {0};
    const char *text = files->concepts[concept];
    size_t length = strlen(text);
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    while (at < end && ocdm__utf8_sequence(at, end) > 0)
        at += ocdm__utf8_sequence(at, end);
    if (at < end || length > 255)
        return ocdm__fail(error, OCDM_BAD_FILE, "rename it", "%s: the name of the label file of \"%s\" is not UTF-8",
                          files->label_folder, ocdm__show_label(text, length).text);
    memcpy(name, text, length);
    return ocdm__label_table_add(&set->classes, name, length, number, error);
}

static ocdm_status read_concepts(struct nuswide *state, const ocdm__nuswide_files *files, struct concept_images *noted,
                                 ocdm_error *error)
{
    noted->starts = ocdm__allocate(files->concept_count + 1, sizeof *noted->starts);
    noted->classes = ocdm__allocate(files->concept_count, sizeof *noted->classes);
    if (noted->starts == NULL || noted->classes == NULL)
        return ocdm__fail_memory(error, "the concepts of NUS-WIDE");
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < files->concept_count; i++) {
        status = ocdm__reading_goes_on(state->reading, "reading label files", i, files->concept_count, error);
        OCDM_THEN(status, number_class(state->set, files, i, &noted->classes[i], error));
        OCDM_THEN(status, read_concept(state, files, i, noted, error));
        noted->starts[i + 1] = noted->count;
    }
    return status;
}

/* Transposes images per concept into concepts per image. */
static bool turn_round(const struct concept_images *noted, size_t concept_count, size_t image_count,
                       struct image_labels *labels)
{
    labels->starts = ocdm__allocate(image_count + 2, sizeof *labels->starts);
    labels->labels = ocdm__allocate(noted->count, sizeof *labels->labels);
    if (labels->starts == NULL || labels->labels == NULL)
        return false;
    /* While filling, starts[i + 1] is where the next label of image i goes: it ends up at where image i + 1 starts. */
    for (size_t i = 0; i < noted->count; i++)
        labels->starts[noted->images[i] + 2]++;
    for (size_t i = 2; i < image_count + 2; i++)
        labels->starts[i] += labels->starts[i - 1];
    for (size_t concept = 0; concept < concept_count; concept ++)
        for (size_t i = noted->starts[concept]; i < noted->starts[concept + 1]; i++)
            labels->labels[labels->starts[noted->images[i] + 1]++] = noted->classes[concept];
    return true;
}

/* Adds a sample under its photo's id or, if an earlier image has the same photo, under its path, which is unique. */
static ocdm_status add_photo(ocdm__labelled_set *set, ocdm__labelled_sample *sample, ocdm_error *error)
{
    size_t at = 0;
    nuswide_photo_id(sample->path, sample->path_length, &at, &sample->id_length);
    sample->id = sample->path + at;
    ocdm_status status = ocdm__labelled_set_add(set, sample, error);
    if (status != OCDM_DUPLICATE_ID)
        return status;
    sample->id = sample->path;
    sample->id_length = sample->path_length;
    status = ocdm__labelled_set_add(set, sample, error);
    if (status == OCDM_DUPLICATE_ID)
        return ocdm__fail(error, OCDM_BAD_FILE, "give each source once", "another source has a sample with the id \"%s\"",
                          ocdm__show_label(sample->id, sample->id_length).text);
    return status;
}

static ocdm_status add_samples(struct nuswide *state, const struct image_labels *labels, ocdm_error *error)
{
    for (size_t i = 0; i < state->image_count; i++) {
        const struct nuswide_image *image = &state->images[i];
        if (image->path == LEFT_OUT)
            continue;
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        const char *path = ocdm__label_table_text(&state->set->paths, image->path, &sample.path_length);
        memcpy(state->path, path, sample.path_length);
        sample.path = state->path;
        sample.labels = labels->labels + labels->starts[i];
        sample.label_count = labels->starts[i + 1] - labels->starts[i];
        sample.part = (enum ocdm__part)image->part;
        sample.row = sample.part != OCDM__NO_PART ? image->row : OCDM__NO_ROW;
        OCDM_TRY(add_photo(state->set, &sample, error));
    }
    return OCDM_OK;
}

static ocdm_status read_files(struct nuswide *state, const ocdm__nuswide_files *files, ocdm_error *error)
{
    struct concept_images noted = {.count = 0};
    struct image_labels labels = {.starts = NULL};
    ocdm_status status = nuswide_read_lists(state, files, error);
    OCDM_THEN(status, read_concepts(state, files, &noted, error));
    if (status == OCDM_OK && !turn_round(&noted, files->concept_count, state->image_count, &labels))
        status = ocdm__fail_memory(error, "the labels of NUS-WIDE");
    OCDM_THEN(status, add_samples(state, &labels, error));
    ocdm__release(noted.starts);
    ocdm__release(noted.images);
    ocdm__release(noted.classes);
    ocdm__release(labels.starts);
    ocdm__release(labels.labels);
    return status;
}

ocdm_status ocdm__nuswide_read(ocdm__labelled_set *set, const char *folder, ocdm__reading *reading, ocdm_error *error)
{
    ocdm__nuswide_files files = {.split = false};
    struct nuswide state = {.set = set, .reading = reading};
    ocdm_status status = ocdm__nuswide_find(&files, folder, error);
    OCDM_THEN(status, read_files(&state, &files, error));
    ocdm__release(state.images);
    ocdm__release(state.image_of);
    ocdm__nuswide_files_clear(&files);
    return status;
}
