/* What the sampler writes: the trace, the summary, the kept records, and the report for people. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/text.h"
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
static void write_id(ocdm__output *output, ocdm__id_text id)
{
    ocdm__json_key(output, NULL);
    if (id.shown_length > 0)
        ocdm__output_write(output, id.shown, id.shown_length);
    else if (is_plain_number(id.content, id.length))
        ocdm__output_write(output, id.content, id.length);
    else
        ocdm__output_json_string(output, id.content, id.length);
}

void ocdm__write_trace(ocdm__sampling *sampling, const ocdm_change *change)
{
    ocdm__output *trace = &sampling->trace;
    ocdm__json_open(trace, NULL, '{');
    ocdm__json_count(trace, "step", sampling->step);
    ocdm__json_open(trace, "in", '[');
    for (uint32_t i = 0; i < sampling->batch_count; i++)
        write_id(trace, ocdm__id_of_item(sampling, i));
    ocdm__json_close(trace, ']');
    ocdm__json_open(trace, "out", '[');
    for (size_t i = 0; i < change->left_count; i++) {
        const ocdm_departure *left = &change->left[i];
        bool of_batch = left->item != OCDM_NONE;
        write_id(trace, of_batch ? ocdm__id_of_item(sampling, left->item) : ocdm__id_of_kept(sampling, left->slot));
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

/* ---- the classes ---------------------------------------------------------------------------------------------------- */

/* One class with its label. */
struct class_row {
    const char *label;
    size_t length;
    ocdm_class counts;
};

/* The bytewise order of the labels of two rows, for qsort. */
static int compare_labels(const void *left, const void *right)
{
    const struct class_row *a = left, *b = right;
    return ocdm__compare_texts(a->label, a->length, b->label, b->length);
}

/* Every class seen, sorted bytewise by label; release the array with ocdm__release. The labels live as long as the sampling. */
static ocdm_status list_classes(const ocdm__sampling *sampling, struct class_row **rows, size_t *count, ocdm_error *error)
{
    size_t class_count = ocdm_memory_counts(sampling->memory, NULL, 0);
    ocdm_class *classes = ocdm__allocate(class_count, sizeof *classes);
    struct class_row *made = ocdm__allocate(class_count, sizeof *made);
    if (!classes || !made) {
        ocdm__release(classes);
        ocdm__release(made);
        return ocdm__fail_memory(error, "the list of classes");
    }
    ocdm_memory_counts(sampling->memory, classes, class_count);
    const ocdm__label_table *labels = &sampling->records->table;
    size_t seen = 0; /* a class with a minimum that was never seen does not count */
    for (size_t i = 0; i < class_count; i++)
        if (classes[i].seen > 0) {
            made[seen].counts = classes[i];
            made[seen].label = ocdm__label_table_text(labels, classes[i].id, &made[seen].length);
            seen++;
        }
    ocdm__release(classes);
    qsort(made, seen, sizeof *made, compare_labels);
    *rows = made;
    *count = seen;
    return OCDM_OK;
}

/* Labels per record, kept and seen; NaN without records. */
struct label_means {
    double kept, seen;
};

static struct label_means mean_labels(const ocdm__sampling *sampling, const struct class_row *rows, size_t count)
{
    double kept = 0, seen = 0;
    for (size_t i = 0; i < count; i++) {
        kept += rows[i].counts.kept;
        seen += (double)rows[i].counts.seen;
    }
    return (struct label_means){kept / ocdm_memory_size(sampling->memory),
                                seen / (double)(sampling->accepted + sampling->elsewhere)};
}

/* ---- the order of arrival --------------------------------------------------------------------------------------------- */

struct arrival {
    uint64_t number;
    uint32_t slot;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* The slots in the order in which their records came; release it with ocdm__release. */
static struct arrival *order_of_arrival(const ocdm__sampling *sampling, uint32_t count)
{
    struct arrival *order = ocdm__allocate(count, sizeof *order);
    for (uint32_t slot = 0; order != NULL && slot < count; slot++)
        order[slot] = (struct arrival){.number = ocdm_memory_arrival(sampling->memory, slot), .slot = slot};
    if (order != NULL)
        qsort(order, count, sizeof *order, compare_arrivals);
    return order;
}

/* ---- the summary ---------------------------------------------------------------------------------------------------- */

static void write_settings(ocdm__output *output, const ocdm__sampling *sampling)
{
    const ocdm_options *options = ocdm_memory_options(sampling->memory);
    ocdm__json_string(output, "policy", options->policy->name);
    ocdm__json_count(output, "memory", options->capacity);
    ocdm__json_count(output, "batch", options->batch);
    ocdm__json_real(output, "rho", options->rho);
    ocdm__json_count(output, "seed", options->seed);
    ocdm__json_string(output, "distance_name", ocdm_distance_name(options->distance));
    ocdm__json_string(output, "tie", ocdm_tie_name(options->tie));
    ocdm__json_real(output, "tolerance", options->tolerance);
    ocdm__json_string(output, "format", ocdm__format_names[sampling->records->format]);
}

void ocdm__record_sum_text(uint64_t sum, char text[OCDM__RECORD_SUM])
{
    snprintf(text, OCDM__RECORD_SUM, "%016llx", (unsigned long long)sum);
}

/* Which shard this is, and which of its records were kept: what a merge needs to compare tie keys, and to find out whether a
 * kept file is the one of this summary. */
static ocdm_status write_shard(ocdm__output *output, const ocdm__sampling *sampling, ocdm_error *error)
{
    uint32_t count = ocdm_memory_size(sampling->memory);
    if (!sampling->options.sharded)
        return OCDM_OK;
    struct arrival *order = order_of_arrival(sampling, count);
    if (order == NULL)
        return ocdm__fail_memory(error, "the order of the kept records");
    uint64_t sum = OCDM__CHECKSUM_START;
    char text[OCDM__RECORD_SUM];
    ocdm__json_count(output, "shard", sampling->options.memory.shard);
    ocdm__json_open(output, "kept_at", '[');
    for (uint32_t i = 0; i < count; i++) {
        const ocdm__kept_record *kept = &sampling->kept[order[i].slot];
        ocdm__json_count(output, NULL, order[i].number);
        sum = ocdm__add_record(sum, kept->bytes, kept->line_length);
    }
    ocdm__json_close(output, ']');
    ocdm__record_sum_text(sum, text);
    ocdm__json_string(output, "kept_checksum", text);
    ocdm__release(order);
    return OCDM_OK;
}

static ocdm_status write_summary(ocdm__sampling *sampling, ocdm_error *error)
{
    ocdm__output *output = &sampling->summary;
    struct class_row *rows;
    size_t count;
    OCDM_TRY(list_classes(sampling, &rows, &count, error));
    struct label_means labels = mean_labels(sampling, rows, count);
    ocdm__json_open(output, NULL, '{');
    ocdm__json_count(output, "records", sampling->accepted + sampling->elsewhere);
    ocdm__json_count(output, "skipped", sampling->records->skipped);
    ocdm__json_count(output, "unlabelled", sampling->unlabelled);
    if (sampling->options.ignore != NULL || sampling->options.only != NULL)
        ocdm__json_count(output, "passed", sampling->passed);
    ocdm__json_count(output, "kept", ocdm_memory_size(sampling->memory));
    ocdm__json_count(output, "classes", count);
    ocdm__json_real(output, "labels", labels.kept);
    ocdm__json_real(output, "labels_seen", labels.seen);
    ocdm__json_real(output, "distance", ocdm_memory_distance(sampling->memory, OCDM_IN_PLAY));
    ocdm__json_real(output, "distance_seen", ocdm_memory_distance(sampling->memory, OCDM_SEEN_EVER));
    write_settings(output, sampling);
    ocdm__json_real(output, "seconds", ocdm__seconds_now() - sampling->started);
    ocdm__json_open(output, "per_class", '[');
    for (const struct class_row *row = rows; row < rows + count; row++) {
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
    ocdm__release(rows);
    ocdm_status status = write_shard(output, sampling, error);
    ocdm__output_text(output, "}\n");
    return status;
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
            ocdm__write_left_out(sampling, &sampling->batch[left->item].record);
        else
            write_line(&sampling->rest, sampling->kept[left->slot].bytes, sampling->kept[left->slot].line_length);
    }
}

static ocdm_status write_records(ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error)
{
    uint32_t count = ocdm_memory_size(sampling->memory);
    struct arrival *order = order_of_arrival(sampling, count);
    if (!order)
        return ocdm__fail_memory(error, "the order of the kept records");
    write_header(output, sampling);
    for (uint32_t i = 0; i < count; i++) {
        const ocdm__kept_record *kept = &sampling->kept[order[i].slot];
        write_line(output, kept->bytes, kept->line_length);
    }
    ocdm__release(order);
    return OCDM_OK;
}

/* Files take their places together or not at all. What is printed cannot be taken back, so it comes first: a full disk under
 * the trace must not lose hours of a stream. */
ocdm_status ocdm__sampling_finish(ocdm__sampling *sampling, int fd, ocdm_error *error)
{
    ocdm__output *const outputs[] = {&sampling->output, &sampling->rest, &sampling->trace, &sampling->summary};
    const size_t count = sizeof outputs / sizeof outputs[0];
    size_t first = sampling->options.output != NULL ? 0 : 1;
    const char *path = sampling->options.output;
    OCDM_TRY(path != NULL ? ocdm__output_open(&sampling->output, path, error)
                          : ocdm__output_open_fd(&sampling->output, fd, "standard output", error));
    OCDM_TRY(write_records(sampling, &sampling->output, error));
    if (first == 1)
        OCDM_TRY(ocdm__output_commit(&sampling->output, error));
    if (sampling->options.summary != NULL)
        OCDM_TRY(write_summary(sampling, error));
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
    const struct class_row *a = left, *b = right;
    if (a->counts.kept != b->counts.kept)
        return a->counts.kept < b->counts.kept ? 1 : -1;
    return compare_labels(left, right);
}

/* Writes formatted text, up to 255 bytes of it. */
OCDM_FORMAT(2, 3)
static void print(ocdm__output *output, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ocdm__output_text(output, text);
}

static void write_table(ocdm__output *output, const struct class_row *rows, size_t count)
{
    size_t widest = strlen("label"), left_out = count > SHOWN_CLASSES ? count - SHOWN_MOST - SHOWN_LEAST : 0;
    double occurrences = 0, largest = rows[0].counts.kept;
    for (size_t i = 0; i < count; i++) {
        size_t width = ocdm__show_label(rows[i].label, rows[i].length).width;
        widest = width > widest ? width : widest;
        occurrences += rows[i].counts.kept;
    }
    print(output, "%-*s %12s %10s %12s\n", (int)widest, "label", "seen", "kept", "target");
    for (size_t i = 0; i < count; i++) {
        if (left_out > 0 && i == SHOWN_MOST) {
            print(output, "... %zu classes between ...\n", left_out);
            i += left_out;
        }
        const ocdm_class *counts = &rows[i].counts;
        ocdm__shown_label label = ocdm__show_label(rows[i].label, rows[i].length);
        char bar[BAR_WIDTH + 1];
        ocdm__bar_fill(bar, largest > 0 ? BAR_WIDTH * counts->kept / largest : 0);
        print(output, "%s%*s %12llu %10u %12.1f  %s\n", label.text, (int)(widest - label.width), "",
              (unsigned long long)counts->seen, counts->kept, counts->target * occurrences, bar);
    }
}

static void write_heading(ocdm__output *output, const ocdm__sampling *sampling, const struct class_row *rows,
                          size_t class_count)
{
    const ocdm_memory *memory = sampling->memory;
    uint64_t records = sampling->accepted + sampling->elsewhere, skipped = sampling->records->skipped;
    double distance = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
    struct label_means labels = mean_labels(sampling, rows, class_count);
    print(output, "kept %u of %llu record%s, %zu class%s", ocdm_memory_size(memory), (unsigned long long)records,
          records == 1 ? "" : "s", class_count, class_count == 1 ? "" : "es");
    if (!isnan(distance))
        print(output, ", %s %.6g from the target", ocdm_distance_name(ocdm_memory_options(memory)->distance), distance);
    if (class_count > 0)
        print(output, ", %.2f labels a record, %.2f in the stream", labels.kept, labels.seen);
    ocdm__output_text(output, "\n");
    if (sampling->passed > 0)
        print(output, "%llu record%s none of the labels that count\n", (unsigned long long)sampling->passed,
              sampling->passed == 1 ? " has" : "s have");
    if (skipped == 0)
        return;
    print(output, "skipped %llu bad record%s, the first: ", (unsigned long long)skipped, skipped == 1 ? "" : "s");
    ocdm__output_text(output, sampling->records->first_skipped.message);
    ocdm__output_text(output, "\n");
}

static ocdm_status write_warnings(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error)
{
    char doubt[OCDM__DOUBT];
    uint64_t all = sampling->accepted + sampling->elsewhere + sampling->passed + sampling->unlabelled;
    if (sampling->unlabelled > 0)
        print(output, "warning: %llu of %llu records have no label and were left out (--unlabelled keep samples them too)\n",
              (unsigned long long)sampling->unlabelled, (unsigned long long)all);
    OCDM_TRY(ocdm__records_label_warning(sampling->records, doubt, error));
    if (doubt[0] != '\0') {
        ocdm__output_text(output, "warning: ");
        ocdm__output_text(output, doubt);
        ocdm__output_text(output, "\n");
    }
    return ocdm__warn_of_labels(sampling, output, error);
}

ocdm_status ocdm__sampling_report(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error)
{
    struct class_row *rows;
    size_t count;
    OCDM_TRY(list_classes(sampling, &rows, &count, error));
    qsort(rows, count, sizeof *rows, compare_kept);
    write_heading(output, sampling, rows, count);
    ocdm_status status = write_warnings(sampling, output, error);
    if (status == OCDM_OK && count > 0)
        write_table(output, rows, count);
    ocdm__release(rows);
    return status;
}
