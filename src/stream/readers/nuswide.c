/*
 * Reads the image lists and labels of NUS-WIDE as it is distributed: one file of 0s and 1s per concept with a line per image,
 * and lists of the images' names. A folder may have either variant, or both:
 *
 *     Groundtruth/AllLabels/Labels_<concept>.txt          one line per line of ImageList/Imagelist.txt
 *     Groundtruth/TrainTestLabels/Labels_<concept>_Train.txt, ..._Test.txt
 *                                                         of ImageList/TrainImagelist.txt, ImageList/TestImagelist.txt
 *
 * The first is used if it is complete. The label folders may be in the given folder itself, and so may the label files and the
 * lists; a given Groundtruth folder may have ImageList beside it. Lines may end in CR LF or blanks; empty lines at the end do
 * not count.
 *
 * Samples come in the order of Imagelist.txt, or of the training list followed by the test list. For an image
 * `actor\0001_212.jpg`
 *   - the path is actor/0001_212.jpg;
 *   - the id is the photo's, 212. The official list has six photos twice, most with different labels: the second image of a
 *     photo has its path as id;
 *   - the labels are the concepts with a 1; many images have none;
 *   - part and row are its place in the official training or test list, if there is one; row counts from 0.
 * Classes are in bytewise order of their names. Not used: tags, low-level features, the 1000-tag files, the images themselves.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "base/text.h"
#include "stream/lines.h"
#include "stream/readers/readers.h"

#define NUSWIDE_PATH 1024   /* the most bytes of an image's path */
#define LEFT_OUT UINT32_MAX /* the path of an image that is left out */

struct nuswide_image {
    uint32_t path; /* in the set's paths, or LEFT_OUT */
    uint32_t row;  /* in the list of its part */
    uint8_t part;  /* enum ocdm__part */
};

struct nuswide {
    const char *folder;
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;

    /* The files. */
    bool split;          /* the TrainTestLabels variant */
    char *list;          /* Imagelist.txt; NULL in the other variant */
    char *part_lists[2]; /* TrainImagelist.txt, TestImagelist.txt, by enum ocdm__part; NULL if missing */
    char *label_folder;
    ocdm__found_files concepts; /* their names, bytewise ascending */

    /* The images, by line of the list; of the split variant the test list's after the training list's. */
    struct nuswide_image *images;
    size_t image_count, image_room;
    uint32_t first_path; /* how many paths the set had before */
    uint32_t path_count; /* of these images; they are numbered from first_path on */
    uint32_t *image_of;  /* by path, from first_path on */
    size_t image_of_room;
    size_t part_counts[2]; /* images of the training and the test list */

    ocdm__label_pair *pairs; /* an image and the class of a concept that it has */
    size_t pair_count, pair_room;
};

/* ---- files ---------------------------------------------------------------------------------------------------------- */

#define PREFIX "Labels_"
#define SUFFIX ".txt"
#define LAYOUT_HINT                                                                                                            \
    "give the folder that has Groundtruth and ImageList, as the archives Groundtruth.zip and ImageList.zip unpack them"

static const char *const label_places[2][3] = {{"Groundtruth/AllLabels", "AllLabels", "."},
                                               {"Groundtruth/TrainTestLabels", "TrainTestLabels", "."}};
static const char *const list_places[] = {"ImageList", ".", "../ImageList"};
static const char *const part_endings[] = {"_Train", "_Test", ""}; /* by enum ocdm__part */
#define PLACES 3

/* A place in the folder, and a file in it unless `name` is empty; to be released. */
static ocdm_status join_place(const struct nuswide *state, const char *place, const char *name, char **path)
{
    bool here = strcmp(place, ".") == 0;
    return ocdm__format(path, state->error, "%s%s%s%s%s", state->folder, here ? "" : "/", here ? "" : place,
                        *name != '\0' ? "/" : "", name);
}

/* The length of the concept in the name of a label file for `part`; 0 when it is none. */
static size_t parse_name(const char *name, enum ocdm__part part)
{
    size_t before = strlen(PREFIX), size = strlen(name);
    if (strncmp(name, PREFIX, before) != 0 || size <= before + strlen(SUFFIX) ||
        strcmp(name + size - strlen(SUFFIX), SUFFIX) != 0)
        return 0;
    size_t length = size - before - strlen(SUFFIX);
    for (int i = OCDM__TRAIN; i <= OCDM__TEST; i++) {
        size_t ending = strlen(part_endings[i]);
        bool has = length >= ending && memcmp(name + before + length - ending, part_endings[i], ending) == 0;
        if (has != (part == (enum ocdm__part)i))
            return 0;
        length -= has ? ending : 0;
    }
    return length;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Lists the concepts that have a file for `part` in a folder. A missing folder has none. */
static ocdm_status list_concepts(const struct nuswide *state, const char *folder, enum ocdm__part part,
                                 ocdm__found_files *concepts)
{
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return errno == ENOENT || errno == ENOTDIR ? OCDM_OK
                                                   : ocdm__fail(state->error, OCDM_IO, "", "%s: %s", folder, strerror(errno));
    ocdm_status status = OCDM_OK;
    for (struct dirent *entry; status == OCDM_OK && (entry = readdir(listing)) != NULL;) {
        size_t length = parse_name(entry->d_name, part);
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)length, entry->d_name + (length > 0 ? strlen(PREFIX) : 0));
        if (length > 0)
            status = ocdm__found_files_add(concepts, name, state->error);
    }
    closedir(listing);
    if (concepts->count > 0)
        qsort(concepts->paths, concepts->count, sizeof *concepts->paths, compare_names);
    return status;
}

/* The first of the places that has label files. In the split variant they are looked for by the training part. */
static ocdm_status find_labels(struct nuswide *state, bool split)
{
    state->split = split;
    ocdm__found_files_clear(&state->concepts);
    for (size_t i = 0; i < PLACES && state->concepts.count == 0; i++) {
        ocdm__release(state->label_folder);
        OCDM_TRY(join_place(state, label_places[split][i], "", &state->label_folder));
        OCDM_TRY(list_concepts(state, state->label_folder, split ? OCDM__TRAIN : OCDM__NO_PART, &state->concepts));
    }
    return OCDM_OK;
}

/* Sets *path where there is such a list. */
static ocdm_status find_list(const struct nuswide *state, char **path, const char *name)
{
    struct stat facts;
    for (size_t i = 0; i < PLACES; i++) {
        OCDM_TRY(join_place(state, list_places[i], name, path));
        if (stat(*path, &facts) == 0)
            return OCDM_OK;
        ocdm__release(*path);
        *path = NULL;
    }
    return OCDM_OK;
}

/* In the split variant both parts must have the same concepts. */
static ocdm_status compare_parts(const struct nuswide *state, const ocdm__found_files *tests)
{
    const ocdm__found_files *trains = &state->concepts;
    for (size_t i = 0; i < trains->count || i < tests->count; i++) {
        const char *train = i < trains->count ? trains->paths[i] : NULL, *test = i < tests->count ? tests->paths[i] : NULL;
        int order = train == NULL ? 1 : test == NULL ? -1 : strcmp(train, test);
        const char *name = order < 0 ? train : test;
        if (order != 0)
            return ocdm__fail(state->error, OCDM_BAD_FILE,
                              "every concept needs both files: fetch the missing one, or remove the other",
                              "%s: " PREFIX "%s%s" SUFFIX " has no " PREFIX "%s%s" SUFFIX " beside it", state->label_folder,
                              name, part_endings[order > 0], name, part_endings[order < 0]);
    }
    return OCDM_OK;
}

/* Finds the lists, and chooses a variant by those that exist. */
static ocdm_status find_files(struct nuswide *state)
{
    static const char missing[] = "%s: no image list %s, neither here nor in ImageList";
    struct stat facts;
    if (stat(state->folder, &facts) != 0)
        return ocdm__fail(state->error, OCDM_IO, LAYOUT_HINT, "%s: %s", state->folder, strerror(errno));
    OCDM_TRY(find_list(state, &state->list, "Imagelist.txt"));
    OCDM_TRY(find_list(state, &state->part_lists[OCDM__TRAIN], "TrainImagelist.txt"));
    OCDM_TRY(find_list(state, &state->part_lists[OCDM__TEST], "TestImagelist.txt"));
    OCDM_TRY(find_labels(state, false));
    bool has_all = state->concepts.count > 0;
    if (has_all && state->list != NULL)
        return OCDM_OK;
    OCDM_TRY(find_labels(state, true));
    if (state->concepts.count == 0 && has_all)
        return ocdm__fail(state->error, OCDM_IO, LAYOUT_HINT, missing, state->folder, "Imagelist.txt");
    if (state->concepts.count == 0)
        return ocdm__fail(state->error, OCDM_BAD_FILE, LAYOUT_HINT, "%s: no label files Labels_<concept>.txt", state->folder);
    for (int part = OCDM__TRAIN; part <= OCDM__TEST; part++)
        if (state->part_lists[part] == NULL)
            return ocdm__fail(state->error, OCDM_IO, LAYOUT_HINT, missing, state->folder,
                              part == OCDM__TRAIN ? "TrainImagelist.txt" : "TestImagelist.txt");
    ocdm__release(state->list);
    state->list = NULL;
    ocdm__found_files tests = {.count = 0};
    ocdm_status status = list_concepts(state, state->label_folder, OCDM__TEST, &tests);
    OCDM_THEN(status, compare_parts(state, &tests));
    ocdm__found_files_clear(&tests);
    return status;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

#define LINES_BETWEEN_LOOKS 65536 /* lines between two checks whether to stop */

/* The current line without the blanks at its end. */
struct line {
    const ocdm__lines *lines;
    const char *text;
    size_t length;
};

/* Opens a file. Trailing space and empty lines are not lines. */
static ocdm_status open_lines(const struct nuswide *state, ocdm__lines *lines, const char *path)
{
    OCDM_TRY(ocdm__lines_open(lines, path, state->error));
    while (lines->file.size > lines->place.at && memchr(" \t\r\n", lines->file.bytes[lines->file.size - 1], 4) != NULL)
        lines->file.size--;
    lines->line = 0;
    return ocdm__found_files_add(state->reading->files, path, state->error);
}

static bool next_line(ocdm__lines *lines, struct line *line)
{
    if (!ocdm__lines_next(lines))
        return false;
    *line = (struct line){lines, lines->start, (size_t)(lines->end - lines->start)};
    while (line->length > 0 && memchr(" \t\r", line->text[line->length - 1], 3) != NULL)
        line->length--;
    return true;
}

/* Reports an error in a line: OCDM_BAD_FILE with file, line and message; with skip_bad, OCDM_OK after counting it under
 * `reason`. */
OCDM_FORMAT(4, 5)
static ocdm_status bad_line(const struct nuswide *state, const struct line *line, const char *reason, const char *format, ...)
{
    char text[320], where[160];
    const ocdm__lines *lines = line->lines;
    if (state->reading->skip_bad) {
        snprintf(where, sizeof where, "%s:%" PRIu64, lines->path, lines->line);
        ocdm__reading_skip(state->reading, reason, where);
        return OCDM_OK;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ocdm__fail(state->error, OCDM_BAD_FILE, "`--skip-bad` leaves such images out", "%s:%" PRIu64 ": %s", lines->path,
                      lines->line, text);
}

static ocdm__shown_label show(const struct line *line)
{
    return ocdm__show_label(line->text, line->length);
}

/* ---- image lists ---------------------------------------------------------------------------------------------------- */

/* Where the photo's id is in a path: digits between the last "_" and ".jpg". False when there is none. */
static bool find_photo_id(const char *path, size_t length, size_t *at, size_t *id_length)
{
    if (length < 5 || path[length - 4] != '.' || (path[length - 3] | 32) != 'j' || (path[length - 2] | 32) != 'p' ||
        (path[length - 1] | 32) != 'g')
        return false;
    size_t end = length - 4, start = end;
    while (start > 0 && path[start - 1] >= '0' && path[start - 1] <= '9')
        start--;
    *at = start;
    *id_length = end - start;
    return start < end && start > 0 && path[start - 1] == '_';
}

/* The number of a line's path in the set; LEFT_OUT when it is bad and left out. */
static ocdm_status number_path(struct nuswide *state, const struct line *line, uint32_t *number)
{
    static const char reason[] = "images with a bad name";
    char path[NUSWIDE_PATH];
    size_t length = line->length, id_at, id_length;
    const char *fault = NULL;
    *number = LEFT_OUT;
    if (length == 0)
        return bad_line(state, line, reason, "an empty line, where the name of an image should be");
    if (length > NUSWIDE_PATH)
        return bad_line(state, line, reason, "the name of an image has %zu bytes, the most is %d", length, NUSWIDE_PATH);
    for (size_t i = 0; i < length; i++)
        path[i] = line->text[i] == '\\' ? '/' : line->text[i];
    if (!ocdm__is_text(path, length, false))
        fault = "is not UTF-8 or has control characters";
    else if (!ocdm__is_relative_path(path, length) || (length >= 2 && path[1] == ':'))
        fault = "leads out of the folder of the images";
    else if (!find_photo_id(path, length, &id_at, &id_length))
        fault = "has no photo id: digits between the last \"_\" and \".jpg\"";
    if (fault != NULL)
        return bad_line(state, line, reason, "\"%s\" %s", show(line).text, fault);
    return ocdm__label_table_add(&state->set->paths, path, length, number, state->error);
}

/* A line that is a new image. Paths are numbered in the order of the images, so a number that is not new means a repeated
 * image. */
static ocdm_status take_line(struct nuswide *state, const struct line *line, enum ocdm__part part)
{
    uint32_t next = state->set->paths.count;
    struct nuswide_image image = {.part = (uint8_t)part, .row = (uint32_t)(line->lines->line - 1)};
    OCDM_TRY(number_path(state, line, &image.path));
    if (image.path < next) {
        image.path = LEFT_OUT;
        OCDM_TRY(bad_line(state, line, "images listed already", "image \"%s\" is listed already", show(line).text));
    }
    if (state->image_count == UINT32_MAX - 1)
        return ocdm__fail(state->error, OCDM_LIMIT, "", "more than %u images", UINT32_MAX - 1);
    if (!ocdm__reserve(&state->images, &state->image_room, state->image_count + 1, sizeof *state->images) ||
        !ocdm__reserve(&state->image_of, &state->image_of_room, state->image_count + 1, sizeof *state->image_of))
        return ocdm__fail_memory(state->error, "the images of a list");
    if (image.path != LEFT_OUT)
        state->image_of[state->path_count++] = (uint32_t)state->image_count;
    state->images[state->image_count++] = image;
    return OCDM_OK;
}

/* A line of the training or test list about an image of Imagelist.txt. */
static ocdm_status join_line(struct nuswide *state, const struct line *line, enum ocdm__part part)
{
    uint32_t number;
    OCDM_TRY(number_path(state, line, &number));
    if (number == LEFT_OUT)
        return OCDM_OK;
    if (number < state->first_path || number - state->first_path >= state->path_count)
        return bad_line(state, line, "images that Imagelist.txt lacks", "image \"%s\" is not in Imagelist.txt",
                        show(line).text);
    struct nuswide_image *image = &state->images[state->image_of[number - state->first_path]];
    if (image->part != OCDM__NO_PART)
        return bad_line(state, line, "images listed already", "image \"%s\" is listed already", show(line).text);
    image->part = (uint8_t)part;
    image->row = (uint32_t)(line->lines->line - 1);
    return OCDM_OK;
}

/* Calls `take` for each line of a list. */
static ocdm_status read_list(struct nuswide *state, const char *path, enum ocdm__part part,
                             ocdm_status (*take)(struct nuswide *, const struct line *, enum ocdm__part))
{
    ocdm__lines lines;
    struct line line;
    ocdm_status status = open_lines(state, &lines, path);
    while (status == OCDM_OK && next_line(&lines, &line)) {
        if (lines.line % LINES_BETWEEN_LOOKS == 1)
            status =
                ocdm__reading_goes_on(state->reading, "reading an image list", lines.place.at, lines.file.size, state->error);
        OCDM_THEN(status, take(state, &line, part));
    }
    if (status == OCDM_OK && lines.line == 0)
        status = ocdm__fail(state->error, OCDM_BAD_FILE, "", "%s:1: no images", path);
    if (part != OCDM__NO_PART)
        state->part_counts[part] = (size_t)lines.line;
    ocdm__lines_close(&lines);
    return status;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

/* Reads the labels of `count` images from `first` on, which `list` lists. An image whose label cannot be read is left out. */
static ocdm_status read_label_file(struct nuswide *state, const char *path, const char *list, size_t first, size_t count,
                                   uint32_t class)
{
    ocdm__lines lines;
    struct line line;
    if (!ocdm__reserve(&state->pairs, &state->pair_room, state->pair_count + count, sizeof *state->pairs))
        return ocdm__fail_memory(state->error, "the labels of NUS-WIDE");
    ocdm_status status = open_lines(state, &lines, path);
    while (status == OCDM_OK && next_line(&lines, &line)) {
        size_t image = first + (size_t)lines.line - 1;
        char label = line.length == 1 ? line.text[0] : '\0';
        if (lines.line > count)
            continue;
        if (label == '1')
            state->pairs[state->pair_count++] = (ocdm__label_pair){(uint32_t)image, class};
        if (label == '0' || label == '1' || state->images[image].path == LEFT_OUT)
            continue;
        state->images[image].path = LEFT_OUT;
        status = bad_line(state, &line, "images with a label that is neither 0 nor 1", "\"%s\" is neither 0 nor 1",
                          show(&line).text);
    }
    if (status == OCDM_OK && lines.line != count)
        status = ocdm__fail(
            state->error, OCDM_BAD_FILE, "labels and image lists must come from the same release, both complete",
            "%s:%" PRIu64 ": the file has %" PRIu64 " label%s, but %s lists %zu image%s", path, lines.line > 0 ? lines.line : 1,
            lines.line, lines.line == 1 ? "" : "s", list, count, count == 1 ? "" : "s");
    ocdm__lines_close(&lines);
    return status;
}

/* Of each concept both parts, or the one file for all. Its class is text of the file name, which may be any bytes. */
static ocdm_status read_concepts(struct nuswide *state)
{
    for (size_t i = 0; i < state->concepts.count; i++) {
        const char *concept = state->concepts.paths[i];
        size_t length = strlen(concept), first = 0;
        uint32_t class;
        OCDM_TRY(ocdm__reading_goes_on(state->reading, "reading label files", i, state->concepts.count, state->error));
        if (!ocdm__is_text(concept, length, true))
            return ocdm__fail(state->error, OCDM_BAD_FILE, "rename it", "%s: the name of the label file of \"%s\" is not UTF-8",
                              state->label_folder, ocdm__show_label(concept, length).text);
        OCDM_TRY(ocdm__label_table_add(&state->set->classes, concept, length, &class, state->error));
        for (int part = OCDM__TRAIN; part <= (state->split ? OCDM__TEST : OCDM__TRAIN); part++) {
            size_t count = state->split ? state->part_counts[part] : state->image_count;
            char *path;
            OCDM_TRY(ocdm__format(&path, state->error, "%s/" PREFIX "%s%s" SUFFIX, state->label_folder, concept,
                                  part_endings[state->split ? part : OCDM__NO_PART]));
            ocdm_status status =
                read_label_file(state, path, state->split ? state->part_lists[part] : state->list, first, count, class);
            ocdm__release(path);
            OCDM_TRY(status);
            first += count;
        }
    }
    return OCDM_OK;
}

/* ---- samples -------------------------------------------------------------------------------------------------------- */

/* Adds each image under its photo's id or, if an earlier image has the same photo, under its path, which is unique. */
static ocdm_status add_samples(const struct nuswide *state, const ocdm__label_lists *lists)
{
    for (size_t i = 0; i < state->image_count; i++) {
        const struct nuswide_image *image = &state->images[i];
        size_t at = 0;
        if (image->path == LEFT_OUT)
            continue;
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        sample.path = ocdm__label_table_text(&state->set->paths, image->path, &sample.path_length);
        find_photo_id(sample.path, sample.path_length, &at, &sample.id_length);
        sample.id = sample.path + at;
        sample.labels = lists->labels + lists->starts[i];
        sample.label_count = lists->starts[i + 1] - lists->starts[i];
        sample.part = (enum ocdm__part)image->part;
        sample.row = sample.part != OCDM__NO_PART ? image->row : OCDM__NO_ROW;
        ocdm_status status = ocdm__labelled_set_add(state->set, &sample, state->error);
        if (status == OCDM_DUPLICATE_ID) {
            sample.id = sample.path;
            sample.id_length = sample.path_length;
            status = ocdm__labelled_set_add(state->set, &sample, state->error);
        }
        if (status == OCDM_DUPLICATE_ID)
            return ocdm__fail(state->error, OCDM_BAD_FILE, "give each source once",
                              "another source has a sample with the id \"%s\"",
                              ocdm__show_label(sample.id, sample.id_length).text);
        OCDM_TRY(status);
    }
    return OCDM_OK;
}

/* Each label file lists the images of one concept, but the set needs the concepts of each image: pairs are noted concept by
 * concept, which needs space for the labels only. */
ocdm_status ocdm__nuswide_read(ocdm__labelled_set *set, const char *folder, ocdm__reading *reading, ocdm_error *error)
{
    struct nuswide state = {.folder = folder, .set = set, .reading = reading, .error = error};
    ocdm__label_lists lists = {.starts = NULL};
    ocdm_status status = find_files(&state);
    state.first_path = set->paths.count;
    if (state.list != NULL)
        OCDM_THEN(status, read_list(&state, state.list, OCDM__NO_PART, take_line));
    for (int part = OCDM__TRAIN; part <= OCDM__TEST; part++)
        if (state.part_lists[part] != NULL)
            OCDM_THEN(status, read_list(&state, state.part_lists[part], (enum ocdm__part)part,
                                        state.list != NULL ? join_line : take_line));
    OCDM_THEN(status, read_concepts(&state));
    OCDM_THEN(status, ocdm__label_lists_make(&lists, state.image_count, state.pairs, state.pair_count, error));
    OCDM_THEN(status, add_samples(&state, &lists));
    ocdm__label_lists_clear(&lists);
    OCDM_RELEASE(state.list, state.part_lists[OCDM__TRAIN], state.part_lists[OCDM__TEST], state.label_folder);
    ocdm__found_files_clear(&state.concepts);
    OCDM_RELEASE(state.images, state.image_of, state.pairs);
    return status;
}
