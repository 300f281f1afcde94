/*
 * Writes summary.json and memory.jsonl, which docs/run-files.md describes.
 *
 * Two runs with the same settings and stream write the same bytes, but for times, date, machine and paths. A number that does
 * not exist is null.
 */

#include "experiment/folder/summary.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/sha256.h"
#include "experiment/folder/run_folder.h"
#include "experiment/folder/weights_about.h"
#include "experiment/loop/store.h"
#include "metrics/metrics.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

static size_t count_part(const ocdm__stream_table *table, uint8_t part)
{
    size_t count = 0;
    for (size_t i = 0; i < table->sample_count; i++)
        count += table->parts[i] == part;
    return count;
}

/* The stream by what identifies it, and its size. */
void ocdm__summary_head_write(ocdm__output *output, const ocdm__run *run)
{
    const ocdm__stream *stream = run->stream;
    char ids[OCDM__SHA256_TEXT], checksum[OCDM__CHECKSUM_TEXT];
    const char *slash = strrchr(stream->file.name, '/');
    ocdm__json_string(output, "program", ocdm_version());
    ocdm__json_key(output, "settings");
    ocdm__run_settings_write(output, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    ocdm__checksum_text(stream->checksum, checksum);
    ocdm__digest_ids(&stream->table, ids);
    ocdm__json_open(output, "stream", '{');
    ocdm__json_string(output, "file", slash != NULL ? slash + 1 : stream->file.name);
    ocdm__json_string(output, "checksum", checksum);
    ocdm__json_string(output, "ids_sha256", ids);
    ocdm__json_count(output, "train", count_part(&stream->table, OCDM__TRAIN));
    ocdm__json_count(output, "test", count_part(&stream->table, OCDM__TEST));
    ocdm__json_count(output, "classes", stream->table.class_count);
    ocdm__json_count(output, "tasks", run->schedule.order.task_count);
    ocdm__json_string(output, "kind", ocdm__stream_kind(stream));
    if (stream->shape.kind != OCDM__NO_PAYLOAD)
        ocdm__json_count(output, "width", stream->shape.width);
    else
        ocdm__json_null(output, "width");
    ocdm__json_close(output, '}');
}

/* By name, with counts, so that a report needs no stream. */
static void write_classes(ocdm__output *output, const ocdm__run *run)
{
    size_t length, tasks = run->schedule.order.task_count;
    ocdm__json_open(output, "classes", '[');
    for (size_t c = 0; c < run->stream->table.class_count; c++) {
        const char *name = ocdm__text_at(&run->stream->table.classes, c, &length);
        ocdm__json_open(output, NULL, '{');
        ocdm__json_bytes(output, "name", name, length);
        ocdm__json_string(output, "group", ocdm__class_group_name((enum ocdm__class_group)run->groups[c]));
        if (run->class_weights != NULL)
            ocdm__json_real(output, "weight", run->class_weights[c]);
        ocdm__json_count(output, "train", run->train_counts[c]);
        ocdm__json_count(output, "test", run->test_counts[c]);
        ocdm__json_open(output, "tasks", '[');
        for (size_t k = 0; k < tasks; k++)
            ocdm__json_count(output, NULL, run->task_counts[c * tasks + k]);
        ocdm__json_close(output, ']');
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
}

/* ---- evaluations ------------------------------------------------------------------------------------------------------- */

static void write_point(ocdm__output *output, const char *name, const ocdm__operating_point *point)
{
    ocdm__json_open(output, name, '{');
    ocdm__json_real(output, "threshold", ocdm__score_of((double)point->threshold));
    ocdm__json_real(output, "CP", 100 * point->precision);
    ocdm__json_real(output, "CR", 100 * point->recall);
    ocdm__json_real(output, "CF1", 100 * point->cf1);
    ocdm__json_close(output, '}');
}

/* All evaluations; the last one again as `final`, with every class; and the one on what is held out. */
static void write_evaluations(ocdm__output *output, const ocdm__run *run)
{
    const uint32_t *tasks = run->schedule.order.tasks;
    size_t last = run->evaluation_count - 1;
    ocdm__json_open(output, "evaluations", '[');
    for (size_t i = 0; i <= last; i++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__evaluation_write(output, &run->evaluations[i], i, tasks);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "final", '{');
    ocdm__evaluation_write(output, &run->evaluations[last], last, tasks);
    ocdm__json_key(output, "per_class");
    ocdm__class_scores_write(output, run->learner != NULL ? run->scores : NULL, run->stream->table.class_count);
    ocdm__json_close(output, '}');
    if (run->validation->task_count == 0) /* nothing is held out */
        return;
    ocdm__json_open(output, "validation", '{');
    ocdm__json_count(output, "samples", run->schedule.held_out.count);
    ocdm__evaluation_metrics_write(output, run->validation, run->schedule.held_out.tasks);
    /* What thresholds give on these samples: the best one, and some along the curve of CP over CR. */
    write_point(output, "best_threshold", &run->operation.best);
    ocdm__json_open(output, "thresholds", '[');
    for (size_t i = 0; i < run->operation.count; i++)
        write_point(output, NULL, &run->operation.points[i]);
    ocdm__json_close(output, ']');
    ocdm__json_close(output, '}');
}

/* Left out where there are no averages. The rate of the trained weights is 0. */
static void write_versions(ocdm__output *output, const ocdm__run *run)
{
    if (run->version_count < 2)
        return;
    ocdm__json_open(output, "averages", '[');
    for (size_t v = 0; v < run->version_count; v++) {
        const ocdm__run_version *version = &run->versions[v];
        bool validated = version->validation.task_count > 0;
        ocdm__json_open(output, NULL, '{');
        ocdm__json_real(output, "rate", v > 0 ? run->settings->network.averages.values[v - 1] : 0);
        ocdm__json_flag(output, "reported", v == run->reported);
        ocdm__json_real(output, "validation", validated ? 100 * version->validation.total.value[OCDM_MAP] : NAN);
        ocdm__evaluation_metrics_write(output, &version->evaluations[run->evaluation_count - 1], run->schedule.order.tasks);
        if (run->settings->eval_every > 0)
            ocdm__json_real(output, "AUC_mAP", 100 * ocdm__run_probe_area(run, v));
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
}

/* The forgetting and the transfer of mAP in percent, and means of metrics of all classes over the evaluations. A task has no
 * mAP before it was seen. */
static ocdm_status write_forgetting(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    static const ocdm_metric means[] = {OCDM_MAP, OCDM_CF1, OCDM_OF1};
    size_t count = run->evaluation_count;
    double *map;
    OCDM_TRY(ocdm__new(&map, count + 4, count * sizeof *map, "the forgetting of tasks", error));
    double *totals = map + count * count, *points = totals + count, *ahead = points + count, *fresh = ahead + count;
    for (size_t k = 0; k < count; k++) { /* of each task, in the evaluation before it was learnt, and before the first step */
        ahead[k] = NAN;
        fresh[k] = run->untrained != NULL ? 100 * run->untrained[k] : (double)NAN;
    }
    for (size_t e = 0; e < count; e++) {
        const ocdm__evaluation *evaluation = &run->evaluations[e];
        for (size_t k = 0; k < count; k++)
            map[e * count + k] = k < evaluation->task_count ? 100 * evaluation->tasks[k].value[OCDM_MAP] : NAN;
        if (evaluation->task_count < count) /* the task after those that were tested */
            ahead[evaluation->task_count] = 100 * evaluation->ahead;
    }
    ocdm__json_open(output, "forgetting", '{');
    ocdm__json_real(output, "mean", ocdm__forgetting(map, count, count, points));
    ocdm__json_open(output, "tasks", '[');
    for (size_t k = 0; k < count; k++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_count(output, "task", run->schedule.order.tasks[k]);
        ocdm__json_real(output, "points", points[k]);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_close(output, '}');
    ocdm__json_real(output, "BWT", ocdm__backward_transfer(map, count, count));
    ocdm__json_real(output, "FWT", ocdm__forward_transfer(ahead, fresh, count));
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        char key[32];
        for (size_t e = 0; e < count; e++)
            totals[e] = 100 * run->evaluations[e].total.value[means[m]];
        snprintf(key, sizeof key, "mean_%s", ocdm__metric_name(means[m]));
        ocdm__json_real(output, key, ocdm__mean_of_known(totals, count));
    }
    ocdm__release(map);
    return OCDM_OK;
}

/* ---- the memory -------------------------------------------------------------------------------------------------------- */

/* Of each class the count that the target asks for: its share of all label occurrences in memory; 0 for one never seen. */
static ocdm_status find_targets(const ocdm_memory *memory, double *targets, size_t class_count, ocdm_error *error)
{
    size_t count = memory != NULL ? ocdm_memory_counts(memory, NULL, 0) : 0;
    ocdm_class *classes = ocdm__allocate(count, sizeof *classes);
    uint64_t occurrences = 0;
    if (classes == NULL)
        return ocdm__fail_memory(error, "the classes in memory");
    if (count > 0)
        ocdm_memory_counts(memory, classes, count);
    for (size_t i = 0; i < count; i++)
        occurrences += classes[i].kept;
    for (size_t i = 0; i < count; i++)
        if (classes[i].id < class_count)
            targets[classes[i].id] = classes[i].target * (double)occurrences;
    ocdm__release(classes);
    return OCDM_OK;
}

/* A pair of classes that occur together in training samples. */
struct pair {
    uint32_t low, high; /* numbers of classes */
    uint64_t seen;      /* training samples that carry both */
};

enum { MOST_PAIRS = 20 };

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Finds the most frequent pairs of a stream, of equally frequent ones that with the lower classes; none where its samples have
 * more than 2^24 together. */
static ocdm_status find_pairs(const ocdm__stream_table *table, struct pair pairs[MOST_PAIRS], size_t *count, ocdm_error *error)
{
    static const double limit = 1 << 24;
    double total = 0;
    size_t found = 0, used = 0;
    uint64_t *numbers;
    *count = 0;
    for (size_t i = 0; i < table->sample_count; i++) {
        double labels = (double)ocdm__sample_of(table, i).label_count;
        total += labels * (labels - 1) / 2;
    }
    if (total > limit)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(&numbers, (size_t)total, sizeof *numbers, "the pairs of classes", error));
    for (size_t i = 0; i < table->sample_count; i++) {
        const ocdm_sample sample = ocdm__sample_of(table, i); /* its labels ascend */
        for (size_t high = 0; table->parts[i] == OCDM__TRAIN && high < sample.label_count; high++)
            for (size_t low = 0; low < high; low++)
                numbers[found++] = (uint64_t)sample.labels[low] << 32 | sample.labels[high];
    }
    qsort(numbers, found, sizeof *numbers, by_number); /* equal pairs follow each other */
    for (size_t i = 0, end = 0; i < found; i = end) {
        while (end < found && numbers[end] == numbers[i])
            end++;
        size_t place = used;
        while (place > 0 && end - i > pairs[place - 1].seen)
            place--;
        if (place == MOST_PAIRS)
            continue;
        used += used < MOST_PAIRS;
        memmove(pairs + place + 1, pairs + place, (used - 1 - place) * sizeof *pairs);
        pairs[place] = (struct pair){(uint32_t)(numbers[i] >> 32), (uint32_t)numbers[i], end - i};
    }
    *count = used;
    ocdm__release(numbers);
    return OCDM_OK;
}

/* What has been kept and seen of each class, its target, the most frequent pairs of classes, and labels per sample in memory
 * and in the stream: a memory that balances classes changes how many labels occur together. */
static ocdm_status write_memory(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    const ocdm_memory *memory = run->memory;
    const ocdm__stream_table *table = &run->stream->table;
    double kept = 0, seen = 0, size = memory != NULL ? ocdm_memory_size(memory) : 0, *targets;
    struct pair pairs[MOST_PAIRS];
    size_t pair_count = 0;
    OCDM_TRY(find_pairs(table, pairs, &pair_count, error));
    OCDM_TRY(ocdm__new(&targets, table->class_count, sizeof *targets, "the targets of classes", error));
    ocdm_status status = find_targets(memory, targets, table->class_count, error);
    ocdm__json_open(output, "memory", '{');
    ocdm__json_count(output, "kept", memory != NULL ? ocdm_memory_size(memory) : 0);
    ocdm__json_open(output, "counts", '[');
    for (uint32_t c = 0; c < table->class_count; c++) {
        uint32_t count = memory != NULL ? ocdm_memory_kept(memory, c) : 0;
        kept += count;
        seen += (double)run->train_counts[c];
        ocdm__json_count(output, NULL, count);
    }
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "target", '[');
    for (size_t c = 0; c < table->class_count; c++)
        ocdm__json_real(output, NULL, targets[c]);
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "seen", '[');
    for (size_t c = 0; c < table->class_count; c++)
        ocdm__json_count(output, NULL, memory != NULL ? ocdm_memory_seen(memory, (uint32_t)c) : run->train_counts[c]);
    ocdm__json_close(output, ']');
    ocdm__json_real(output, "labels", kept / size);
    ocdm__json_real(output, "labels_seen", seen / (double)count_part(table, OCDM__TRAIN));
    if (run->replays.kept != NULL)
        ocdm__json_count(output, "beside_bytes", run->replays.capacity * run->replays.width * sizeof *run->replays.kept);
    ocdm__json_open(output, "pairs", '[');
    for (size_t i = 0; i < pair_count; i++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_open(output, "classes", '[');
        ocdm__json_count(output, NULL, pairs[i].low);
        ocdm__json_count(output, NULL, pairs[i].high);
        ocdm__json_close(output, ']');
        ocdm__json_count(output, "seen", pairs[i].seen);
        uint64_t both = 0; /* samples in memory with both classes */
        for (uint32_t slot = 0; memory != NULL && slot < ocdm_memory_size(memory); slot++) {
            size_t sample = (size_t)ocdm_memory_id(memory, slot);
            both += ocdm__has_label(table, sample, pairs[i].low) && ocdm__has_label(table, sample, pairs[i].high);
        }
        ocdm__json_count(output, "kept", both);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_close(output, '}');
    ocdm__release(targets);
    return status;
}

void ocdm__kept_samples_write(ocdm__output *output, const ocdm__run *run)
{
    const ocdm__stream_table *table = &run->stream->table;
    for (uint32_t slot = 0; run->memory != NULL && slot < ocdm_memory_size(run->memory); slot++) {
        size_t sample = (size_t)ocdm_memory_id(run->memory, slot);
        ocdm__json_open(output, NULL, '{');
        ocdm__json_key(output, "id");
        ocdm__write_record_id(output, table, sample);
        ocdm__json_open(output, "labels", '[');
        ocdm__write_record_labels(output, table, sample);
        ocdm__json_close(output, ']');
        ocdm__json_count(output, "slot", slot);
        ocdm__json_count(output, "arrival", ocdm_memory_arrival(run->memory, slot));
        ocdm__json_count(output, "task", table->tasks[sample]);
        ocdm__output_text(output, "}\n");
    }
}

/* ---- cost and times ---------------------------------------------------------------------------------------------------- */

/* What the payloads of samples in memory take: as the store has them, or as files, NaN if one cannot be found. `other` is what
 * a sample takes besides. */
static double payload_bytes(const ocdm__run *run, double other)
{
    const ocdm__store_bytes bytes = ocdm__store_bytes_of(run->settings, run->stream);
    const char *root = run->settings->image_root != NULL ? run->settings->image_root : run->stream->image_root;
    uint32_t kept = ocdm_memory_size(run->memory);
    double sum = 0;
    if (bytes.sample > 0)
        return (double)kept * ((double)bytes.sample - other) + (double)bytes.shared;
    for (uint32_t slot = 0; ocdm__stream_kind_of(run->stream) == OCDM_STREAM_FILES && slot < kept; slot++) {
        char path[OCDM__PATH_ROOM];
        struct stat about;
        size_t length;
        const char *name = ocdm__text_at(&run->stream->table.paths, (size_t)ocdm_memory_id(run->memory, slot), &length);
        int used =
            snprintf(path, sizeof path, "%s/%.*s", root != NULL ? root : "", (int)(length < INT_MAX ? length : INT_MAX), name);
        sum += used > 0 && (size_t)used < sizeof path && stat(path, &about) == 0 ? (double)about.st_size : NAN;
    }
    return sum;
}

/* Of the memory at the end, by the rules of --memory-bytes. */
static void write_cost(ocdm__output *output, const ocdm__run *run)
{
    double kept = run->memory != NULL ? ocdm_memory_size(run->memory) : 0;
    double label = (run->stream->table.known != NULL ? 2 : 1) * (double)ocdm__bits_size(run->stream->table.class_count);
    double beside = run->replays.kept != NULL ? (double)(run->replays.width * sizeof *run->replays.kept) : 0;
    double payloads = run->memory != NULL ? payload_bytes(run, label + beside) : 0;
    ocdm__json_open(output, "cost", '{');
    ocdm__json_real(output, "updates", run->cost.updates);
    ocdm__json_real(output, "missed", run->cost.missed);
    ocdm__json_real(output, "gflop", run->cost.operations / 1e9);
    ocdm__json_real(output, "gflop_per_step", run->cost.operations / 1e9 / (double)run->step);
    ocdm__json_real(output, "payload_bytes", payloads);
    ocdm__json_real(output, "label_bytes", kept * label);
    ocdm__json_real(output, "beside_bytes", kept * beside);
    ocdm__json_real(output, "memory_bytes", payloads + kept * (label + beside));
    ocdm__json_close(output, '}');
}

/* Seconds, which are the only part of a summary that differs between two equal runs, with the date and the machine. */
static void write_times(ocdm__output *output, const ocdm__run *run)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    double seconds = ocdm__step_seconds(&times);
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    ocdm__json_open(output, "times", '{');
    ocdm__json_real(output, "per_1000_steps", 1000 * seconds / (double)run->step);
    ocdm__json_real(output, "draw", times.draw);
    ocdm__json_real(output, "decode", times.decode);
    ocdm__json_real(output, "train", times.train);
    ocdm__json_real(output, "update", times.update);
    ocdm__json_real(output, "evaluate", times.evaluate);
    ocdm__json_real(output, "total", times.total);
    ocdm__json_real(output, "update_share", 100 * times.update / seconds);
    if (gmtime_r(&now, &utc) != NULL && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        ocdm__json_string(output, "ended", date);
    ocdm__json_close(output, '}');
}

/* ---- files and machine ------------------------------------------------------------------------------------------------- */

/* Member `name` of the files, if the path leads somewhere. */
static ocdm_status write_path(ocdm__output *output, const char *folder, const char *name, const char *path, ocdm_error *error)
{
    char *relative = NULL;
    ocdm_status status = path != NULL ? ocdm__path_from(folder, path, &relative, error) : OCDM_OK;
    if (relative == NULL)
        return status;
    ocdm__json_string(output, name, relative);
    ocdm__release(relative);
    return OCDM_OK;
}

/* Where the stream and the files of settings are, seen from the run's folder: settings have only their names. */
static ocdm_status write_files(ocdm__output *output, const ocdm__run *run, const char *folder, ocdm_error *error)
{
    ocdm__run_settings settings = *run->settings;
    ocdm__json_open(output, "files", '{');
    ocdm_status status = write_path(output, folder, "stream", run->stream->file.name, error);
    for (size_t i = 0; status == OCDM_OK && ocdm__setting_at(i) != NULL; i++) {
        const ocdm__setting *row = ocdm__setting_at(i);
        if (row->kind == OCDM__SETTING_FILE || row->kind == OCDM__SETTING_CLASS_FILE || row->kind == OCDM__SETTING_GROUPS)
            status = write_path(output, folder, row->flag, *(const char **)ocdm__setting_member(&settings, row), error);
    }
    ocdm__json_close(output, '}');
    return status;
}

/* The CPU is that of /proc/cpuinfo; other systems only give the kind of processor. */
void ocdm__environment_write(ocdm__output *output, unsigned threads)
{
    struct utsname system;
    char line[256], cpu[256] = "", text[256] = "", machine[256] = "";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (uname(&system) == 0) {
        snprintf(cpu, sizeof cpu, "%.200s", system.machine);
        snprintf(text, sizeof text, "%.80s %.80s %.80s", system.sysname, system.release, system.machine);
        snprintf(machine, sizeof machine, "%.200s", system.nodename);
    }
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(cpu, sizeof cpu, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file != NULL)
        fclose(file);
    ocdm__json_open(output, "environment", '{');
    ocdm__json_string(output, "cpu", cpu);
    ocdm__json_count(output, "cores", cores > 0 ? (uint64_t)cores : 0);
    ocdm__json_count(output, "threads", threads);
    ocdm__json_string(output, "system", text);
    ocdm__json_string(output, "machine", machine);
}

/* ---- the summary ------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__summary_write(ocdm__output *output, const ocdm__run *run, const char *folder, ocdm_error *error)
{
    char id[OCDM__RUN_ID];
    OCDM_TRY(ocdm__run_id(run, id, error));
    ocdm__json_open(output, NULL, '{');
    ocdm__json_string(output, "format", "ocdm-run");
    ocdm__json_count(output, "version", 1);
    ocdm__json_string(output, "id", id);
    ocdm__summary_head_write(output, run);
    write_classes(output, run);
    write_evaluations(output, run);
    write_versions(output, run);
    ocdm__run_probes_write(output, run);
    ocdm_status status = write_forgetting(output, run, error);
    OCDM_THEN(status, write_memory(output, run, error));
    write_cost(output, run);
    ocdm__json_key(output, "curve");
    ocdm__curve_write(output, run->curve);
    ocdm__json_count(output, "steps", run->step);
    ocdm__json_count(output, "samples", ocdm__schedule_seen(&run->schedule, run->step));
    ocdm__json_count(output, "skipped", ocdm__run_skipped(run));
    write_times(output, run);
    ocdm__environment_write(output, run->settings->network.threads);
    OCDM_THEN(status, write_files(output, run, folder, error));
    ocdm__output_text(output, "}}\n");
    return status;
}
