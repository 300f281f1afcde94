/*
 * Writes run.jsonl, one line for each step that is logged and for each evaluation.
 *
 * The file only grows. A run that is resumed cuts it back to the length that its checkpoint knows, and writes the same lines
 * again: an interrupted run has the log of an unbroken one.
 */

#include "experiment/folder/summary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static ocdm_status fail(const char *path, const char *verb, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_IO, "", "cannot %s %s: %s", verb, path, strerror(errno));
}

/* The first bytes of every log. A log that was just created may have fewer. */
static const char first_bytes[] = "{\"type\":\"start\",";

/* The file must be a log, and not shorter than `size`: then it is cut back to that. */
ocdm_status ocdm__run_log_open(ocdm__run_log *log, const char *path, uint64_t size, ocdm_error *error)
{
    char found[sizeof first_bytes - 1];
    struct stat there;
    log->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (log->fd < 0)
        return fail(path, "open", error);
    bool known = fstat(log->fd, &there) == 0, regular = known && S_ISREG(there.st_mode);
    ssize_t count = regular ? pread(log->fd, found, sizeof found, 0) : 0;
    ocdm_status status = OCDM_OK;
    if (!known || count < 0)
        status = fail(path, "read", error);
    else if (!regular || memcmp(found, first_bytes, (size_t)count) != 0)
        status = ocdm__fail(error, OCDM_BAD_ARGUMENT, "name another folder", "%s: the file is not the log of a run", path);
    else if ((uint64_t)there.st_size < size)
        status = ocdm__fail(error, OCDM_BAD_FILE, "put the file back as it was, or begin again in a new folder",
                            "%s: the file has %lld bytes, the checkpoint knows of %llu", path, (long long)there.st_size,
                            (unsigned long long)size);
    else if (ftruncate(log->fd, (off_t)size) != 0 || lseek(log->fd, 0, SEEK_END) < 0)
        status = fail(path, "cut back", error);
    OCDM_THEN(status, ocdm__output_open_fd(&log->output, log->fd, path, error));
    log->open = status == OCDM_OK;
    if (!log->open)
        close(log->fd);
    return status;
}

void ocdm__run_log_close(ocdm__run_log *log)
{
    if (!log->open)
        return;
    ocdm__output_abandon(&log->output);
    close(log->fd);
    log->open = false;
}

/* The first member says what the line is about. */
static void begin_line(ocdm__run_log *log, const char *type)
{
    ocdm__json_open(&log->output, NULL, '{');
    ocdm__json_string(&log->output, "type", type);
}

/* A line is written at once: `ocdm watch` reads the file while it grows. */
static ocdm_status end_line(ocdm__run_log *log, ocdm_error *error)
{
    ocdm__output_text(&log->output, "}\n");
    ocdm__output_flush(&log->output);
    return ocdm__output_check(&log->output, error);
}

ocdm_status ocdm__run_log_start(ocdm__run_log *log, const ocdm__run *run, bool resumed, ocdm_error *error)
{
    ocdm__output *output = &log->output;
    begin_line(log, "start");
    if (resumed)
        ocdm__json_count(output, "resumed", run->step);
    ocdm__summary_head_write(output, run);
    ocdm__environment_write(output, run->settings->network.threads);
    ocdm__json_close(output, '}');
    return end_line(log, error);
}

static void write_seconds(ocdm__run_log *log, const ocdm__run *run)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    ocdm__json_real(&log->output, "seconds", ocdm__step_seconds(&times));
}

/* Every so many logged steps have the samples in memory of each class, for `ocdm watch`; not of streams with more classes. */
#define COUNTS_EVERY 10
#define MOST_COUNTS 4096

/* The mAP of every version of the weights, if there are averages. */
static void write_averages(ocdm__run_log *log, const ocdm__run *run, const double *map)
{
    if (run->version_count < 2)
        return;
    ocdm__json_open(&log->output, "averages_mAP", '[');
    for (size_t v = 0; v < run->version_count; v++)
        ocdm__json_real(&log->output, NULL, 100 * map[v]);
    ocdm__json_close(&log->output, ']');
}

ocdm_status ocdm__run_log_event(ocdm__run_log *log, const ocdm__run *run, enum ocdm__run_event event, ocdm_error *error)
{
    static const char *const types[] = {[OCDM__RUN_STEPPED] = "step",
                                        [OCDM__RUN_PROBED] = "probe",
                                        [OCDM__RUN_EVALUATED] = "evaluation",
                                        [OCDM__RUN_FINISHED] = "end"};
    ocdm__output *output = &log->output;
    size_t last = run->evaluation_count - 1;
    double map[1 + OCDM__MOST_RATES];
    begin_line(log, types[event]);
    if (event == OCDM__RUN_EVALUATED) {
        ocdm__evaluation_write(output, &run->evaluations[last], last, run->schedule.order.tasks);
        for (size_t v = 0; v < run->version_count; v++)
            map[v] = run->versions[v].evaluations[last].total.value[OCDM_MAP];
        write_averages(log, run, map);
        return end_line(log, error);
    }
    ocdm__json_count(output, "step", run->step);
    if (event == OCDM__RUN_STEPPED) {
        const ocdm__curve_point *point = &run->curve->last;
        const ocdm_memory *memory = run->memory;
        size_t classes = run->stream->table.class_count, place = ocdm__schedule_place(&run->schedule, run->step - 1);
        bool counts =
            run->step % (COUNTS_EVERY * (uint64_t)run->settings->log_every) == 0 || run->step == run->schedule.task_ends[place];
        ocdm__json_count(output, "samples", ocdm__schedule_seen(&run->schedule, run->step));
        ocdm__json_real(output, "task", point->task);
        ocdm__json_real(output, "loss", point->loss);
        ocdm__json_real(output, "distance", point->distance);
        ocdm__json_real(output, "distance_seen", point->distance_seen);
        ocdm__json_count(output, "kept", memory != NULL ? ocdm_memory_size(memory) : 0);
        write_seconds(log, run);
        if (memory != NULL && counts && classes <= MOST_COUNTS) {
            ocdm__json_open(output, "counts", '[');
            for (size_t c = 0; c < classes; c++)
                ocdm__json_count(output, NULL, ocdm_memory_kept(memory, (uint32_t)c));
            ocdm__json_close(output, ']');
        }
    }
    if (event == OCDM__RUN_FINISHED)
        write_seconds(log, run);
    if (event == OCDM__RUN_PROBED) {
        const double *probed = run->probes.map + (run->probes.count - 1) * run->probes.versions;
        ocdm__json_count(output, "samples", ocdm__schedule_time(&run->schedule, run->step));
        ocdm__json_real(output, "mAP", 100 * probed[run->reported]);
        write_averages(log, run, probed);
    }
    return end_line(log, error);
}

ocdm_status ocdm__run_log_sync(ocdm__run_log *log, uint64_t *size, ocdm_error *error)
{
    off_t at = lseek(log->fd, 0, SEEK_CUR);
    if (at < 0 || (fsync(log->fd) != 0 && errno != EINVAL && errno != ENOTSUP))
        return fail(log->output.path, "write", error);
    *size = (uint64_t)at;
    return OCDM_OK;
}
