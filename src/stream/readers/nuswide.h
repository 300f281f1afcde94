/*
 * NUS-WIDE as it is distributed: one file of 0s and 1s per concept, a line per image, and lists of the images' names. A folder
 * may have either variant, or both:
 *
 *     Groundtruth/AllLabels/Labels_<concept>.txt          a line per line of ImageList/Imagelist.txt
 *     Groundtruth/TrainTestLabels/Labels_<concept>_Train.txt, ..._Test.txt
 *                                                         of ImageList/TrainImagelist.txt, ImageList/TestImagelist.txt
 *
 * The first is used where it is complete. The label folders may lie in the given folder itself, and so may the label files and
 * the lists; a given Groundtruth folder may have ImageList beside it. Lines may end in CR LF or blanks; empty lines at the end
 * do not count.
 *
 * Samples come in the order of Imagelist.txt, or the training list's and then the test list's. Of an image `actor\0001_212.jpg`
 *   - the path is actor/0001_212.jpg;
 *   - the id is the photo's, 212. The official list has six photos twice, most with different labels: the second image of a
 *     photo has its path as id;
 *   - the labels are the concepts with a 1, none for many;
 *   - part and row are its place in the official training or test list, where there is one; row counts from 0.
 * Classes are in bytewise order of their names. Left out: tags, low-level features, the 1000-tag files, the images themselves.
 */
#ifndef OCDM_STREAM_READERS_NUSWIDE_H
#define OCDM_STREAM_READERS_NUSWIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "stream/labelled_set.h"

/* Which files a folder has, for reading them and for saying what was read. Start with all bytes zero. */
typedef struct ocdm__nuswide_files {
    bool split;          /* the TrainTestLabels variant */
    char *list;          /* Imagelist.txt; NULL in the other variant */
    char *part_lists[2]; /* TrainImagelist.txt, TestImagelist.txt, by enum ocdm__part; NULL where there is none */
    char *label_folder;
    char **concepts; /* bytewise ascending */
    size_t concept_count;
    size_t concept_room;
} ocdm__nuswide_files;

/*
 * Finds the files of a folder. OCDM_OK, OCDM_IO (no such folder, a list is missing), OCDM_BAD_FILE (no label files, a training
 * label file without its test one), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__nuswide_find(ocdm__nuswide_files *files, const char *folder, ocdm_error *error);

/* The path of a concept's label file, yours to ocdm__release; NULL when there is no room. `part` counts in the split variant.
 */
char *ocdm__nuswide_label_path(const ocdm__nuswide_files *files, size_t concept, enum ocdm__part part);

/* Gives everything back. */
void ocdm__nuswide_files_clear(ocdm__nuswide_files *files);

/*
 * Adds all images of a folder to `set`. With skip_bad, images are left out that have no photo id, a path that leads elsewhere,
 * a line that an earlier one has too, or a label that is neither 0 nor 1; the others keep their rows. Label files of another
 * length than their list are an error always.
 *
 * OCDM_OK, OCDM_BAD_FILE (the message starts with file:line), OCDM_IO, OCDM_STOPPED, OCDM_LIMIT, OCDM_NO_MEMORY. On error clear
 * the set: part of the images may be in it. One label file is looked at at a time; the room is that of the labels and names.
 */
ocdm_status ocdm__nuswide_read(ocdm__labelled_set *set, const char *folder, ocdm__reading *reading, ocdm_error *error);

#endif
