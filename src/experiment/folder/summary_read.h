/*
 * The reader of summary.json, which docs/run-files.md describes: for --resume, comparisons, the tables of the paper and
 * reports.
 *
 *     char path[OCDM__SUMMARY_PATH];
 *     ocdm__json_tree summary = {.root = NULL};
 *     if (ocdm__summary_find(folder, path))
 *         status = ocdm__summary_read(&summary, path, error);
 *     double map = ocdm__json_number(ocdm__json_find(summary.root, "final.total.mAP"));
 *     ocdm__json_tree_clear(&summary);
 */
#ifndef OCDM_EXPERIMENT_FOLDER_SUMMARY_READ_H
#define OCDM_EXPERIMENT_FOLDER_SUMMARY_READ_H

#include "base/base.h"
#include "base/json_tree.h"

/* Writes the path of the summary in a folder; false if there is none, or if the path is too long. */
#define OCDM__SUMMARY_PATH 4096
bool ocdm__summary_find(const char *folder, char path[OCDM__SUMMARY_PATH]);

/* Reads a summary. OCDM_OK, OCDM_BAD_FILE (not JSON, or not the summary of a run in a version that we know), OCDM_IO,
 * OCDM_LIMIT, OCDM_NO_MEMORY. On error the tree is empty. */
ocdm_status ocdm__summary_read(ocdm__json_tree *summary, const char *path, ocdm_error *error);

/* The functions below take the root of a summary. */

/* The groups of `count` classes, enum ocdm__class_group; false if the summary does not have them, or those of other classes. */
bool ocdm__summary_groups(const ocdm__json_node *root, uint8_t *groups, size_t count);

/* The weights of `count` classes in the target; false if the run had none, or those of other classes. */
bool ocdm__summary_class_weights(const ocdm__json_node *root, double *weights, size_t count);

/* The samples of `count` classes in memory at the end; false if the summary does not have them, or those of other classes. */
bool ocdm__summary_kept(const ocdm__json_node *root, uint32_t *kept, size_t count);

/* The total mAP after each task, at most `room` of them; returns how many. */
size_t ocdm__summary_maps(const ocdm__json_node *root, double *values, size_t room);

#endif
