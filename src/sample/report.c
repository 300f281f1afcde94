/* Sampling: the few lines for people at the end. */
#include "sample/sample.h"

#include "base/allocate.h"
#include "base/text.h"
#include "sample/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN_CLASSES 40
#define SHOWN_MOST 20
#define SHOWN_LEAST 10
#define BAR_WIDTH 24

static int compare_kept(const void *left, const void *right)
{
    const ocdm__class_row *a = left, *b = right;
    if (a->counts.kept != b->counts.kept)
        return a->counts.kept < b->counts.kept ? 1 : -1;
    return ocdm__compare_labels(left, right);
}

static void write_row(ocdm__output *output, const ocdm__class_row *row, size_t label_width, double occurrences, double largest)
{
    ocdm__shown_label label = ocdm__show_label(row->label, row->length);
    char line[128], bar[BAR_WIDTH + 1];
    size_t length = largest > 0 ? (size_t)(BAR_WIDTH * row->counts.kept / largest + 0.5) : 0;
    memset(bar, '#', length);
    bar[length] = '\0';
    snprintf(line, sizeof line, "%*s %12llu %10u %12.1f  %s\n", (int)(label_width - label.width), "",
             (unsigned long long)row->counts.seen, row->counts.kept, row->counts.target * occurrences, bar);
    ocdm__output_text(output, label.text);
    ocdm__output_text(output, line);
}

static size_t widest_label(const ocdm__class_row *rows, size_t count)
{
    size_t widest = strlen("label");
    for (size_t i = 0; i < count; i++) {
        size_t width = ocdm__show_label(rows[i].label, rows[i].length).width;
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void write_table(ocdm__output *output, ocdm__class_row *rows, size_t count)
{
    size_t width = widest_label(rows, count), left_out = count > SHOWN_CLASSES ? count - SHOWN_MOST - SHOWN_LEAST : 0;
    double occurrences = 0;
    char line[128];
    for (size_t i = 0; i < count; i++)
        occurrences += rows[i].counts.kept;
    snprintf(line, sizeof line, "%-*s %12s %10s %12s\n", (int)width, "label", "seen", "kept", "target");
    ocdm__output_text(output, line);
    for (size_t i = 0; i < count; i++) {
        if (left_out && i == SHOWN_MOST) {
            snprintf(line, sizeof line, "... %zu classes between ...\n", left_out);
            ocdm__output_text(output, line);
            i += left_out;
        }
        write_row(output, &rows[i], width, occurrences, rows[0].counts.kept);
    }
}

static void write_heading(ocdm__output *output, const ocdm__sampling *sampling, size_t class_count)
{
    const ocdm_memory *memory = sampling->memory;
    char line[256];
    double distance = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
    snprintf(line, sizeof line, "kept %u of %llu records, %zu classes", ocdm_memory_size(memory),
             (unsigned long long)sampling->accepted, class_count);
    ocdm__output_text(output, line);
    if (!isnan(distance)) {
        snprintf(line, sizeof line, ", %s %.6g from the target", ocdm_distance_name(ocdm_memory_options(memory)->distance),
                 distance);
        ocdm__output_text(output, line);
    }
    ocdm__output_text(output, "\n");
    uint64_t skipped = ocdm__records_skipped(sampling->records);
    if (!skipped)
        return;
    snprintf(line, sizeof line, "skipped %llu bad record%s, the first: ", (unsigned long long)skipped, skipped == 1 ? "" : "s");
    ocdm__output_text(output, line);
    ocdm__output_text(output, ocdm__records_first_skipped(sampling->records));
    ocdm__output_text(output, "\n");
}

ocdm_status ocdm__sampling_report(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error)
{
    ocdm__class_row *rows;
    size_t count;
    ocdm_status status = ocdm__sampling_classes(sampling, &rows, &count, error);
    if (status != OCDM_OK)
        return status;
    qsort(rows, count, sizeof *rows, compare_kept);
    write_heading(output, sampling, count);
    if (count > 0)
        write_table(output, rows, count);
    ocdm__release(rows);
    return OCDM_OK;
}
