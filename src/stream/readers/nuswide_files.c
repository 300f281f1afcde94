/*
 * Finds the files of NUS-WIDE as it is distributed: one file of 0s and 1s per concept with a line per image, and lists of the
 * images' names. A folder may have either variant, or both:
 *
 *     Groundtruth/AllLabels/Labels_<concept>.txt          one line per line of ImageList/Imagelist.txt
 *     Groundtruth/TrainTestLabels/Labels_<concept>_Train.txt, ..._Test.txt
 *                                                         of ImageList/TrainImagelist.txt, ImageList/TestImagelist.txt
 *
 * The first is used if it is complete. The label folders may be in the given folder itself, and so may the label files and the
 * lists; a given Groundtruth folder may have ImageList beside it.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/readers.h"

#define PREFIX "Labels_"
#define SUFFIX ".txt"
#define LAYOUT_HINT                                                                                                            \
    "give the folder that has Groundtruth and ImageList, as the archives Groundtruth.zip and ImageList.zip unpack them"

static const char *const all_places[] = {"Groundtruth/AllLabels", "AllLabels", "."};
static const char *const split_places[] = {"Groundtruth/TrainTestLabels", "TrainTestLabels", "."};
static const char *const list_places[] = {"ImageList", ".", "../ImageList"};
static const char *const part_endings[] = {"_Train", "_Test"};
#define PLACES 3

/* folder/place/name, without the place when it is the folder itself; NULL when out of memory. */
static char *join(const char *folder, const char *place, const char *name)
{
    bool here = strcmp(place, ".") == 0;
    size_t size = strlen(folder) + strlen(place) + strlen(name) + 3;
    char *path = ocdm__allocate(size, 1);
    if (path != NULL)
        snprintf(path, size, "%s%s%s%s%s", folder, here ? "" : "/", here ? "" : place, *name != '\0' ? "/" : "", name);
    return path;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length >= size && memcmp(text + length - size, ending, size) == 0;
}

/* Takes the concept out of a label file's name; *part is OCDM__NO_PART when the file is for all images. */
static bool parse_name(const char *name, size_t *length, enum ocdm__part *part)
{
    size_t before = strlen(PREFIX), after = strlen(SUFFIX), size = strlen(name);
    if (strncmp(name, PREFIX, before) != 0 || size <= before + after || !ends_with(name, size, SUFFIX))
        return false;
    *length = size - before - after;
    *part = OCDM__NO_PART;
    for (int i = OCDM__TRAIN; i <= OCDM__TEST; i++)
        if (ends_with(name + before, *length, part_endings[i])) {
            *part = (enum ocdm__part)i;
            *length -= strlen(part_endings[i]);
        }
    return *length > 0;
}

static bool add_concept(ocdm__nuswide_files *files, const char *name, size_t length)
{
    if (!ocdm__reserve(&files->concepts, &files->concept_room, files->concept_count + 1, sizeof *files->concepts))
        return false;
    char *copy = ocdm__allocate(length + 1, 1);
    if (copy == NULL)
        return false;
    memcpy(copy, name, length);
    files->concepts[files->concept_count++] = copy;
    return true;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Lists the concepts that have a file for `part` in a folder. A missing folder has none. */
static ocdm_status list_concepts(ocdm__nuswide_files *files, const char *folder, enum ocdm__part wanted, ocdm_error *error)
{
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return errno == ENOENT || errno == ENOTDIR ? OCDM_OK
                                                   : ocdm__fail(error, OCDM_IO, "", "%s: %s", folder, strerror(errno));
    bool fits = true;
    for (struct dirent *entry; fits && (entry = readdir(listing)) != NULL;) {
        size_t length;
        enum ocdm__part part;
        if (parse_name(entry->d_name, &length, &part) && part == wanted)
            fits = add_concept(files, entry->d_name + strlen(PREFIX), length);
    }
    closedir(listing);
    if (!fits)
        return ocdm__fail_memory(error, "the names of label files");
    if (files->concept_count > 0)
        qsort(files->concepts, files->concept_count, sizeof *files->concepts, compare_names);
    return OCDM_OK;
}

/* The first of the places that has label files. In the split variant they are looked for by the training part. */
static ocdm_status find_labels(ocdm__nuswide_files *files, const char *folder, bool split, ocdm_error *error)
{
    const char *const *places = split ? split_places : all_places;
    files->split = split;
    for (size_t i = 0; i < PLACES; i++) {
        ocdm__release(files->label_folder);
        files->label_folder = join(folder, places[i], "");
        if (files->label_folder == NULL)
            return ocdm__fail_memory(error, "the name of a folder");
        ocdm_status status = list_concepts(files, files->label_folder, split ? OCDM__TRAIN : OCDM__NO_PART, error);
        if (status != OCDM_OK || files->concept_count > 0)
            return status;
    }
    return OCDM_OK;
}

/* Sets *path where there is such a list. */
static ocdm_status find_list(char **path, const char *folder, const char *name, ocdm_error *error)
{
    struct stat facts;
    for (size_t i = 0; i < PLACES; i++) {
        *path = join(folder, list_places[i], name);
        if (*path == NULL)
            return ocdm__fail_memory(error, "the name of a file");
        if (stat(*path, &facts) == 0)
            return OCDM_OK;
        ocdm__release(*path);
        *path = NULL;
    }
    return OCDM_OK;
}

static void forget_labels(ocdm__nuswide_files *files)
{
    for (size_t i = 0; i < files->concept_count; i++)
        ocdm__release(files->concepts[i]);
    files->concept_count = 0;
}

static ocdm_status miss_list(const char *folder, const char *name, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_IO, LAYOUT_HINT, "%s: no image list %s, neither here nor in ImageList", folder, name);
}

/* Chooses a variant by the lists that exist. */
static ocdm_status choose_variant(ocdm__nuswide_files *files, const char *folder, ocdm_error *error)
{
    ocdm_status status = find_labels(files, folder, false, error);
    bool has_all = files->concept_count > 0;
    if (status != OCDM_OK || (has_all && files->list != NULL))
        return status;
    forget_labels(files);
    status = find_labels(files, folder, true, error);
    if (status != OCDM_OK)
        return status;
    if (files->concept_count == 0 && has_all)
        return miss_list(folder, "Imagelist.txt", error);
    if (files->concept_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, LAYOUT_HINT, "%s: no label files Labels_<concept>.txt", folder);
    if (files->part_lists[OCDM__TRAIN] == NULL || files->part_lists[OCDM__TEST] == NULL)
        return miss_list(folder, files->part_lists[OCDM__TRAIN] == NULL ? "TrainImagelist.txt" : "TestImagelist.txt", error);
    ocdm__release(files->list);
    files->list = NULL;
    /* Both parts must have the same concepts. */
    ocdm__nuswide_files tests = {.split = true};
    status = list_concepts(&tests, files->label_folder, OCDM__TEST, error);
    for (size_t i = 0; status == OCDM_OK && (i < files->concept_count || i < tests.concept_count); i++) {
        const char *train = i < files->concept_count ? files->concepts[i] : NULL;
        const char *test = i < tests.concept_count ? tests.concepts[i] : NULL;
        if (train != NULL && test != NULL && strcmp(train, test) == 0)
            continue;
        bool has_train = test == NULL || (train != NULL && strcmp(train, test) < 0);
        status =
            ocdm__fail(error, OCDM_BAD_FILE, "every concept needs both files: fetch the missing one, or remove the other",
                       "%s: " PREFIX "%s%s" SUFFIX " has no " PREFIX "%s%s" SUFFIX " beside it", files->label_folder,
                       has_train ? train : test, part_endings[!has_train], has_train ? train : test, part_endings[has_train]);
    }
    ocdm__nuswide_files_clear(&tests);
    return status;
}

ocdm_status ocdm__nuswide_find(ocdm__nuswide_files *files, const char *folder, ocdm_error *error)
{
    struct stat facts;
    *files = (ocdm__nuswide_files){.split = false};
    if (stat(folder, &facts) != 0)
        return ocdm__fail(error, OCDM_IO, LAYOUT_HINT, "%s: %s", folder, strerror(errno));
    ocdm_status status = find_list(&files->list, folder, "Imagelist.txt", error);
    OCDM_THEN(status, find_list(&files->part_lists[OCDM__TRAIN], folder, "TrainImagelist.txt", error));
    OCDM_THEN(status, find_list(&files->part_lists[OCDM__TEST], folder, "TestImagelist.txt", error));
    OCDM_THEN(status, choose_variant(files, folder, error));
    if (status != OCDM_OK)
        ocdm__nuswide_files_clear(files);
    return status;
}

char *ocdm__nuswide_label_path(const ocdm__nuswide_files *files, size_t concept, enum ocdm__part part)
{
    const char *ending = files->split ? part_endings[part] : "";
    const char *name = files->concepts[concept];
    size_t size = strlen(files->label_folder) + strlen(name) + sizeof "/" PREFIX "_Train" SUFFIX;
    char *path = ocdm__allocate(size, 1);
    if (path != NULL)
        snprintf(path, size, "%s/" PREFIX "%s%s" SUFFIX, files->label_folder, name, ending);
    return path;
}

void ocdm__nuswide_files_clear(ocdm__nuswide_files *files)
{
    forget_labels(files);
    ocdm__release(files->concepts);
    ocdm__release(files->list);
    ocdm__release(files->part_lists[OCDM__TRAIN]);
    ocdm__release(files->part_lists[OCDM__TEST]);
    ocdm__release(files->label_folder);
    *files = (ocdm__nuswide_files){.split = false};
}
