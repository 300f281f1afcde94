/*
 * NUS-WIDE's labels: each label file gives the images of one concept, the set wants the concepts of each image. So the images
 * with a 1 are noted concept by concept, which takes room for the labels alone, and turned round at the end.
 */
#include "stream/readers/nuswide.h"

#include "base/allocate.h"
#include "base/error.h"
#include "base/shown_label.h"
#include "base/utf8.h"
#include "stream/readers/nuswide_state.h"

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

static bool make_room(struct concept_images *noted, size_t more)
{
    if (noted->room - noted->count >= more)
        return true;
    size_t room = noted->count + more > 2 * noted->room ? noted->count + more : 2 * noted->room;
    uint32_t *images = ocdm__resize(noted->images, room, sizeof *images);
    if (images == NULL)
        return false;
    noted->images = images;
    noted->room = room;
    return true;
}

static ocdm_status fail_length(const struct ocdm__lines *lines, const char *list, size_t expected, ocdm_error *error)
{
    unsigned long long count = lines->line;
    return ocdm__fail(error, OCDM_BAD_FILE, "labels and image lists must come from the same release, both complete",
                      "%s:%llu: the file has %llu label%s, but %s lists %zu image%s", lines->name, count > 0 ? count : 1, count,
                      count == 1 ? "" : "s", list, expected, expected == 1 ? "" : "s");
}

/* Leaves an image out whose label cannot be read. */
static ocdm_status drop_image(struct ocdm__nuswide *state, const struct ocdm__lines *lines, size_t image, const char *text,
                              size_t length, ocdm_error *error)
{
    if (state->images[image].path == OCDM__LEFT_OUT)
        return OCDM_OK;
    state->images[image].path = OCDM__LEFT_OUT;
    return ocdm__nuswide_bad_line(state, lines, "images with a label that is neither 0 nor 1", error,
                                  "\"%s\" is neither 0 nor 1", ocdm__show_label(text, length).text);
}

/* Notes the images with a 1 among `count` from `first` on. There is room for all of them. */
static ocdm_status note_lines(struct ocdm__nuswide *state, struct concept_images *noted, struct ocdm__lines *lines,
                              size_t first, size_t count, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    const char *text;
    size_t length;
    while (status == OCDM_OK && ocdm__lines_next(lines, &text, &length)) {
        if (lines->line > count)
            continue;
        size_t image = first + (size_t)lines->line - 1;
        if (length == 1 && text[0] == '1')
            noted->images[noted->count++] = (uint32_t)image;
        else if (length != 1 || text[0] != '0')
            status = drop_image(state, lines, image, text, length, error);
    }
    return status;
}

static ocdm_status read_label_file(struct ocdm__nuswide *state, struct concept_images *noted, const char *path, size_t first,
                                   size_t count, const char *list, ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    if (!make_room(noted, count))
        return ocdm__fail_memory(error, "the labels of NUS-WIDE");
    ocdm_status status = ocdm__map_file(&file, path, error);
    if (status == OCDM_OK)
        status = ocdm__found_files_add(state->reading->files, path, error);
    struct ocdm__lines lines = ocdm__lines_of(&file);
    if (status == OCDM_OK)
        status = note_lines(state, noted, &lines, first, count, error);
    if (status == OCDM_OK && lines.line != count)
        status = fail_length(&lines, list, count, error);
    ocdm__unmap_file(&file);
    return status;
}

/* Both parts of a concept, or the one file for all. */
static ocdm_status read_concept(struct ocdm__nuswide *state, const ocdm__nuswide_files *files, size_t concept,
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

/* The class of a concept: the file name's text, which a file system lets be anything. */
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

static ocdm_status read_concepts(struct ocdm__nuswide *state, const ocdm__nuswide_files *files, struct concept_images *noted,
                                 ocdm_error *error)
{
    noted->starts = ocdm__allocate(files->concept_count + 1, sizeof *noted->starts);
    noted->classes = ocdm__allocate(files->concept_count, sizeof *noted->classes);
    if (noted->starts == NULL || noted->classes == NULL)
        return ocdm__fail_memory(error, "the concepts of NUS-WIDE");
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < files->concept_count; i++) {
        status = ocdm__reading_goes_on(state->reading, "reading label files", i, files->concept_count, error);
        if (status == OCDM_OK)
            status = number_class(state->set, files, i, &noted->classes[i], error);
        if (status == OCDM_OK)
            status = read_concept(state, files, i, noted, error);
        noted->starts[i + 1] = noted->count;
    }
    return status;
}

/* Turns images of concepts into concepts of images. */
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

/* Adds a sample by its photo's id or, where an earlier image is of the same photo, by its path, which no other has. */
static ocdm_status add_photo(ocdm__labelled_set *set, ocdm__labelled_sample *sample, ocdm_error *error)
{
    size_t at = 0;
    ocdm__nuswide_photo_id(sample->path, sample->path_length, &at, &sample->id_length);
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

static ocdm_status add_samples(struct ocdm__nuswide *state, const struct image_labels *labels, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < state->image_count; i++) {
        const struct ocdm__nuswide_image *image = &state->images[i];
        if (image->path == OCDM__LEFT_OUT)
            continue;
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        const char *path = ocdm__label_table_text(&state->set->paths, image->path, &sample.path_length);
        memcpy(state->path, path, sample.path_length);
        sample.path = state->path;
        sample.labels = labels->labels + labels->starts[i];
        sample.label_count = labels->starts[i + 1] - labels->starts[i];
        sample.part = (enum ocdm__part)image->part;
        sample.row = sample.part != OCDM__NO_PART ? image->row : OCDM__NO_ROW;
        status = add_photo(state->set, &sample, error);
    }
    return status;
}

static ocdm_status read_files(struct ocdm__nuswide *state, const ocdm__nuswide_files *files, ocdm_error *error)
{
    struct concept_images noted = {.count = 0};
    struct image_labels labels = {.starts = NULL};
    ocdm_status status = ocdm__nuswide_read_lists(state, files, error);
    if (status == OCDM_OK)
        status = read_concepts(state, files, &noted, error);
    if (status == OCDM_OK && !turn_round(&noted, files->concept_count, state->image_count, &labels))
        status = ocdm__fail_memory(error, "the labels of NUS-WIDE");
    if (status == OCDM_OK)
        status = add_samples(state, &labels, error);
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
    struct ocdm__nuswide state = {.set = set, .reading = reading};
    ocdm_status status = ocdm__nuswide_find(&files, folder, error);
    if (status == OCDM_OK)
        status = read_files(&state, &files, error);
    ocdm__release(state.images);
    ocdm__release(state.image_of);
    ocdm__nuswide_files_clear(&files);
    return status;
}
