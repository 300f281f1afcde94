/*
 * A run as an event file of TensorBoard, in the run's folder: loss and distances at every logged step, the classes in memory as
 * a histogram, the metrics of every group and task after each task, and some of the samples in memory as a picture. It holds
 * nothing that the run's own files do not have.
 *
 *     ocdm__event_file *file = NULL;
 *     ocdm_status status = ocdm__event_file_open(&file, "runs/ocdm-s0", error);
 *     while (status == OCDM_OK && the run goes on)
 *         status = ocdm__event_file_follow(file, error);
 *     ocdm__event_file_close(file);
 *
 * Opening makes the file anew from the log, so that a run that is resumed has each event once, whatever was there before.
 */
#ifndef OCDM_REPORT_EVENTS_EVENTS_H
#define OCDM_REPORT_EVENTS_EVENTS_H

#include "base/base.h"

/* The file's name; TensorBoard looks for the middle part. */
#define OCDM__EVENTS_FILE "events.out.tfevents.ocdm"

typedef struct ocdm__event_file ocdm__event_file;

/* Replaces the file in the run's folder by one with the events of the log so far. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__event_file_open(ocdm__event_file **file, const char *folder, ocdm_error *error);

/* Appends the events of the lines that the log got since. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__event_file_follow(ocdm__event_file *file, ocdm_error *error);

/* Writes the picture of the sample with this id, OCDM__EVENT_PICTURE pixels square, three bytes each; false: it has none. */
#define OCDM__EVENT_PICTURE 96u
typedef struct ocdm__event_pictures {
    bool (*picture)(void *state, const char *id, uint8_t *rgb);
    void *state;
} ocdm__event_pictures;

/* After the end of a run: appends samples of its memory.jsonl, evenly spaced, as one picture; none if they have no images.
 * OCDM_OK, OCDM_IO, OCDM_BAD_FILE, OCDM_NO_MEMORY. */
ocdm_status ocdm__event_file_pictures(ocdm__event_file *file, const ocdm__event_pictures *pictures, ocdm_error *error);

/* NULL is fine. */
void ocdm__event_file_close(ocdm__event_file *file);

#endif
