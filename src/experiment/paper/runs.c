/* The runs of an item of the paper in a folder: whether they are there, and of the stream that they are to stand for. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json_tree.h"
#include "experiment/folder/settings.h"
#include "experiment/folder/summary_read.h"
#include "experiment/paper/paper.h"

static size_t run_count(const ocdm__compare_plan *plan)
{
    return plan->point_count * plan->method_count * (size_t)plan->seed_count;
}

/* The summary of run number i; false when it is not there. */
static bool find_summary(const ocdm__compare_plan *plan, const char *folder, size_t i, char path[OCDM__SUMMARY_PATH])
{
    char name[OCDM__COMPARE_NAME], run[OCDM__SUMMARY_PATH];
    size_t seeds = (size_t)plan->seed_count, method = i / seeds % plan->method_count;
    ocdm__compare_folder(plan, i / seeds / plan->method_count, method, i % seeds, name);
    int length = snprintf(run, sizeof run, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof run && ocdm__summary_find(run, path);
}

bool ocdm__paper_has_runs(const ocdm__compare_plan *plan, const char *folder)
{
    char path[OCDM__SUMMARY_PATH];
    for (size_t i = 0; i < run_count(plan); i++)
        if (!find_summary(plan, folder, i, path))
            return false;
    return true;
}

/* A summary without a checksum of its stream is accepted. */
static ocdm_status check_run(const char *path, const ocdm__stream *stream, ocdm_error *error)
{
    char asked[OCDM__CHECKSUM_TEXT];
    ocdm__json_tree tree = {.root = NULL};
    ocdm_status status = ocdm__summary_read(&tree, path, error);
    ocdm__checksum_text(stream->checksum, asked);
    const char *made_on = ocdm__summary_checksum(tree.root);
    if (status == OCDM_OK && made_on[0] != '\0' && strcmp(made_on, asked) != 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "name the stream of the runs with --stream, or another folder with --runs",
                            "%.160s: the run was made on the stream %.60s (checksum %.32s), not on %.100s (%s)", path,
                            ocdm__json_text(ocdm__json_find(tree.root, "stream.file"), "?"), made_on, stream->file.name, asked);
    ocdm__json_tree_clear(&tree);
    return status;
}

ocdm_status ocdm__paper_check_runs(const ocdm__compare_plan *plan, const char *folder, const ocdm__stream *stream,
                                   ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < run_count(plan); i++)
        if (find_summary(plan, folder, i, path))
            status = check_run(path, stream, error);
    return status;
}
