/* What the sampler writes: the trace, the summary, the kept records, and the report for people. */
#include "base/progress.h"
#include "base/terminal.h"
#include "memory/internal.h"
#include "sample/sample.h"
#include "sample/state.h"

/* ---- the trace ------------------------------------------------------------------------------------------------------ */

/* Whether JSON would read the text as an integer and write it the same way again. */
static bool is_plain_number(const char *text, size_t length)
{
    size_t sign = length > 0 && text[0] == '-';
    if (length == sign || (text[sign] == '0' && length > 1))
        return false;
    for (size_t i = sign; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

/* An id as in the input: a JSON record's own text; else a number where it is one, or a string. */
static void write_id(ocdm__output *output, const char *text, size_t length, bool is_json)
{
    ocdm__json_key(output, NULL);
    if (is_json || is_plain_number(text, length))
        ocdm__output_write(output, text, length);
    else
        ocdm__output_json_string(output, text, length);
}

static void write_item_id(const ocdm__sampling *sampling, ocdm__output *trace, size_t item)
{
    struct ocdm__id_text id;
    ocdm__id_of_item(sampling, item, &id);
    write_id(trace, id.text, id.length, id.is_json);
}

void ocdm__write_trace(ocdm__sampling *sampling, const ocdm_change *change)
{
    ocdm__output *trace = &sampling->trace;
    ocdm__json_open(trace, NULL, '{');
    ocdm__json_count(trace, "step", sampling->step);
    ocdm__json_open(trace, "in", '[');
    for (size_t i = 0; i < sampling->batch_count; i++)
        write_item_id(sampling, trace, i);
    ocdm__json_close(trace, ']');
    ocdm__json_open(trace, "out", '[');
    for (size_t i = 0; i < change->left_count; i++) {
        const ocdm_departure *left = &change->left[i];
        if (left->item != OCDM_NONE) {
            write_item_id(sampling, trace, left->item);
            continue;
        }
        const ocdm__kept_record *kept = &sampling->kept[left->slot];
        write_id(trace, kept->bytes + kept->line_length, kept->id_length, kept->id_is_json);
    }
    ocdm__json_close(trace, ']');
    if (sampling->options.minimums != NULL) {
        ocdm__json_count(trace, "spared", ocdm__memory_spared(sampling->memory) - sampling->spared);
        sampling->spared = ocdm__memory_spared(sampling->memory);
    }
    ocdm__json_count(trace, "size", ocdm_memory_size(sampling->memory));
    ocdm__json_real(trace, "distance", ocdm_memory_distance(sampling->memory, OCDM_IN_PLAY));
    ocdm__output_text(trace, "}\n");
}

/* ---- what there is at the end ----------------------------------------------------------------------------------------- */

/* The bytewise order of the labels of two rows, for qsort. */
static int compare_labels(const void *left, const void *right)
{
    const struct ocdm__class_row *a = left, *b = right;
    return ocdm__compare_texts(a->label, a->length, b->label, b->length);
}

static int compare_arrivals(const void *left, const void *right)
{
    const struct ocdm__arrival *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Every class seen, sorted bytewise by label, and the mean numbers of labels. */
static ocdm_status list_classes(ocdm__sampling *sampling, ocdm_error *error)
{
    size_t count = ocdm_memory_counts(sampling->memory, NULL, 0);
    double kept = 0, seen = 0;
    ocdm_class *counts;
    OCDM_TRY(ocdm__new(&sampling->classes, count, sizeof *sampling->classes, "the list of classes", error));
    OCDM_TRY(ocdm__new(&counts, count, sizeof *counts, "the list of classes", error));
    ocdm_memory_counts(sampling->memory, counts, count);
    for (size_t i = 0; i < count; i++) {
        if (counts[i].seen == 0) /* it has a minimum, and was never seen */
            continue;
        struct ocdm__class_row *row = &sampling->classes[sampling->class_count++];
        row->counts = counts[i];
        row->label = ocdm__label_table_text(&sampling->records->table, counts[i].id, &row->length);
        kept += counts[i].kept;
        seen += (double)counts[i].seen;
    }
    ocdm__release(counts);
    qsort(sampling->classes, sampling->class_count, sizeof *sampling->classes, compare_labels);
    sampling->mean_labels = kept / ocdm_memory_size(sampling->memory);
    sampling->mean_labels_seen = seen / (double)(sampling->accepted + sampling->elsewhere);
    return OCDM_OK;
}

/* ---- the summary ---------------------------------------------------------------------------------------------------- */

void ocdm__record_sum_text(uint64_t sum, char text[OCDM__RECORD_SUM])
{
    snprintf(text, OCDM__RECORD_SUM, "%016llx", (unsigned long long)sum);
}

/* Which shard this is, and which of its records were kept: what a merge needs to compare tie keys, and to find out whether a
 * kept file is the one of this summary. */
static void write_shard(ocdm__output *output, const ocdm__sampling *sampling)
{
    uint64_t sum = OCDM__CHECKSUM_START;
    char text[OCDM__RECORD_SUM];
    ocdm__json_count(output, "shard", sampling->options.memory.shard);
    ocdm__json_open(output, "kept_at", '[');
    for (uint32_t i = 0; i < sampling->kept_count; i++) {
        const ocdm__kept_record *kept = &sampling->kept[sampling->order[i].slot];
        ocdm__json_count(output, NULL, sampling->order[i].number);
        sum = ocdm__add_record(sum, kept->bytes, kept->line_length);
    }
    ocdm__json_close(output, ']');
    ocdm__record_sum_text(sum, text);
    ocdm__json_string(output, "kept_checksum", text);
}

static void write_summary(ocdm__sampling *sampling)
{
    ocdm__output *output = &sampling->summary;
    const ocdm_options *options = ocdm_memory_options(sampling->memory);
    ocdm__json_open(output, NULL, '{');
    ocdm__json_count(output, "records", sampling->accepted + sampling->elsewhere);
    ocdm__json_count(output, "skipped", sampling->records->skipped);
    ocdm__json_count(output, "unlabelled", sampling->unlabelled);
    if (sampling->options.ignore != NULL || sampling->options.only != NULL)
        ocdm__json_count(output, "passed", sampling->passed);
    ocdm__json_count(output, "kept", sampling->kept_count);
    ocdm__json_count(output, "classes", sampling->class_count);
    ocdm__json_real(output, "labels", sampling->mean_labels);
    ocdm__json_real(output, "labels_seen", sampling->mean_labels_seen);
    ocdm__json_real(output, "distance", ocdm_memory_distance(sampling->memory, OCDM_IN_PLAY));
    ocdm__json_real(output, "distance_seen", ocdm_memory_distance(sampling->memory, OCDM_SEEN_EVER));
    ocdm__json_string(output, "policy", options->policy->name);
    ocdm__json_count(output, "memory", options->capacity);
    ocdm__json_count(output, "batch", options->batch);
    ocdm__json_real(output, "rho", options->rho);
    ocdm__json_count(output, "seed", options->seed);
    ocdm__json_string(output, "distance_name", ocdm_distance_name(options->distance));
    ocdm__json_string(output, "tie", ocdm_tie_name(options->tie));
    ocdm__json_real(output, "tolerance", options->tolerance);
    ocdm__json_string(output, "format", ocdm__format_names[sampling->records->format]);
    ocdm__json_real(output, "seconds", ocdm__seconds_now() - sampling->started);
    ocdm__json_open(output, "per_class", '[');
    for (size_t i = 0; i < sampling->class_count; i++) {
        const struct ocdm__class_row *row = &sampling->classes[i];
        ocdm__json_open(output, NULL, '{');
        ocdm__json_bytes(output, "label", row->label, row->length);
        ocdm__json_count(output, "seen", row->counts.seen);
        ocdm__json_count(output, "kept", row->counts.kept);
        ocdm__json_real(output, "target", row->counts.target);
        if (sampling->options.weights != NULL)
            ocdm__json_real(output, "weight", ocdm_memory_weight(sampling->memory, row->counts.id));
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    if (sampling->options.sharded)
        write_shard(output, sampling);
    ocdm__output_text(output, "}\n");
}

/* ---- the records ---------------------------------------------------------------------------------------------------- */

static void write_line(ocdm__output *output, const char *bytes, size_t length)
{
    ocdm__output_write(output, bytes, length);
    ocdm__output_text(output, "\n");
}

static void write_header(ocdm__output *output, const ocdm__sampling *sampling)
{
    if (sampling->records->header != NULL)
        write_line(output, sampling->records->header, sampling->records->header_length);
}

ocdm_status ocdm__open_rest(ocdm__sampling *sampling, ocdm_error *error)
{
    if (sampling->options.rest == NULL)
        return OCDM_OK;
    OCDM_TRY(ocdm__output_open(&sampling->rest, sampling->options.rest, error));
    write_header(&sampling->rest, sampling);
    return OCDM_OK;
}

void ocdm__write_left_out(ocdm__sampling *sampling, const ocdm__record *record)
{
    if (sampling->options.rest != NULL)
        write_line(&sampling->rest, ocdm__records_bytes(sampling->records, record->at), record->length);
}

void ocdm__write_departures(ocdm__sampling *sampling, const ocdm_change *change)
{
    for (size_t i = 0; sampling->options.rest != NULL && i < change->left_count; i++) {
        const ocdm_departure *left = &change->left[i];
        if (left->slot == OCDM_NONE)
            ocdm__write_left_out(sampling, &sampling->batch[left->item]);
        else
            write_line(&sampling->rest, sampling->kept[left->slot].bytes, sampling->kept[left->slot].line_length);
    }
}

/* Files take their places together or not at all. What is printed cannot be taken back, so it comes first: a full disk under
 * the trace must not lose hours of a stream. */
ocdm_status ocdm__sampling_finish(ocdm__sampling *sampling, int fd, ocdm_error *error)
{
    ocdm__output *const outputs[] = {&sampling->output, &sampling->rest, &sampling->trace, &sampling->summary};
    const size_t count = sizeof outputs / sizeof outputs[0];
    const char *path = sampling->options.output;
    size_t first = path != NULL ? 0 : 1;
    OCDM_TRY(path != NULL ? ocdm__output_open(&sampling->output, path, error)
                          : ocdm__output_open_fd(&sampling->output, fd, "standard output", error));
    uint32_t kept_count = sampling->kept_count = ocdm_memory_size(sampling->memory);
    OCDM_TRY(ocdm__new(&sampling->order, kept_count, sizeof *sampling->order, "the order of the kept records", error));
    for (uint32_t slot = 0; slot < kept_count; slot++)
        sampling->order[slot] = (struct ocdm__arrival){ocdm_memory_arrival(sampling->memory, slot), slot};
    qsort(sampling->order, kept_count, sizeof *sampling->order, compare_arrivals);
    OCDM_TRY(list_classes(sampling, error));
    write_header(&sampling->output, sampling);
    for (uint32_t i = 0; i < sampling->kept_count; i++) {
        const ocdm__kept_record *kept = &sampling->kept[sampling->order[i].slot];
        write_line(&sampling->output, kept->bytes, kept->line_length);
    }
    if (first == 1)
        OCDM_TRY(ocdm__output_commit(&sampling->output, error));
    if (sampling->options.summary != NULL)
        write_summary(sampling);
    for (size_t i = first; i < count; i++)
        if (outputs[i]->path != NULL)
            OCDM_TRY(ocdm__output_sync(outputs[i], error));
    for (size_t i = first; i < count; i++)
        if (outputs[i]->path != NULL)
            OCDM_TRY(ocdm__output_commit(outputs[i], error));
    return OCDM_OK;
}

/* ---- the report ----------------------------------------------------------------------------------------------------- */

#define SHOWN_CLASSES 40
#define SHOWN_MOST 20
#define SHOWN_LEAST 10
#define BAR_WIDTH 24

static int compare_kept(const void *left, const void *right)
{
    const struct ocdm__class_row *a = left, *b = right;
    if (a->counts.kept != b->counts.kept)
        return a->counts.kept < b->counts.kept ? 1 : -1;
    return compare_labels(left, right);
}

static void write_table(ocdm__output *output, const struct ocdm__class_row *rows, size_t count)
{
    size_t widest = strlen("label"), left_out = count > SHOWN_CLASSES ? count - SHOWN_MOST - SHOWN_LEAST : 0;
    double occurrences = 0, largest = rows[0].counts.kept;
    for (size_t i = 0; i < count; i++) {
        size_t width = ocdm__show_label(rows[i].label, rows[i].length).width;
        widest = width > widest ? width : widest;
        occurrences += rows[i].counts.kept;
    }
    ocdm__put(output, "%-*s %12s %10s %12s\n", (int)widest, "label", "seen", "kept", "target");
    for (size_t i = 0; i < count; i++) {
        if (left_out > 0 && i == SHOWN_MOST) {
            ocdm__put(output, "... %zu classes between ...\n", left_out);
            i += left_out;
        }
        const ocdm_class *counts = &rows[i].counts;
        ocdm__shown_label label = ocdm__show_label(rows[i].label, rows[i].length);
        char bar[BAR_WIDTH + 1];
        ocdm__bar_fill(bar, largest > 0 ? BAR_WIDTH * counts->kept / largest : 0);
        ocdm__put(output, "%s%*s %12llu %10u %12.1f  %s\n", label.text, (int)(widest - label.width), "",
                  (unsigned long long)counts->seen, counts->kept, counts->target * occurrences, bar);
    }
}

ocdm_status ocdm__sampling_report(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error)
{
    char doubt[OCDM__DOUBT];
    uint64_t all = sampling->accepted + sampling->elsewhere + sampling->passed + sampling->unlabelled;
    unsigned long long records = sampling->accepted + sampling->elsewhere, skipped = sampling->records->skipped;
    double distance = ocdm_memory_distance(sampling->memory, OCDM_SEEN_EVER);
    ocdm__put(output, "kept %u of %llu record%s, %zu class%s", sampling->kept_count, records, records == 1 ? "" : "s",
              sampling->class_count, sampling->class_count == 1 ? "" : "es");
    if (!isnan(distance))
        ocdm__put(output, ", %s %.6g from the target", ocdm_distance_name(ocdm_memory_options(sampling->memory)->distance),
                  distance);
    if (sampling->class_count > 0)
        ocdm__put(output, ", %.2f labels a record, %.2f in the stream", sampling->mean_labels, sampling->mean_labels_seen);
    ocdm__output_text(output, "\n");
    if (sampling->passed > 0)
        ocdm__put(output, "%llu record%s none of the labels that count\n", (unsigned long long)sampling->passed,
                  sampling->passed == 1 ? " has" : "s have");
    if (skipped > 0)
        ocdm__put(output, "skipped %llu bad record%s, the first: %s\n", skipped, skipped == 1 ? "" : "s",
                  sampling->records->first_skipped.message);
    if (sampling->unlabelled > 0)
        ocdm__put(output,
                  "warning: %llu of %llu records have no label and were left out (--unlabelled keep samples them too)\n",
                  (unsigned long long)sampling->unlabelled, (unsigned long long)all);
    OCDM_TRY(ocdm__records_label_warning(sampling->records, doubt, error));
    if (doubt[0] != '\0')
        ocdm__put(output, "warning: %s\n", doubt);
    ocdm__warn_of_labels(sampling, output);
    qsort(sampling->classes, sampling->class_count, sizeof *sampling->classes, compare_kept);
    if (sampling->class_count > 0)
        write_table(output, sampling->classes, sampling->class_count);
    return OCDM_OK;
}
