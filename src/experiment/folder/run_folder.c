/* A run in its folder: paths, lock, checkpoints, resume. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE

#include "experiment/folder/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "experiment/folder/checkpoint.h"
#include "experiment/folder/saved_run.h"
#include "experiment/folder/summary.h"

/* ---- paths --------------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__folder_path(const char *folder, const char *name, char path[OCDM__PATH_ROOM], ocdm_error *error)
{
    int length = snprintf(path, OCDM__PATH_ROOM, "%s/%s", folder, name);
    if (folder[0] == '\0')
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name one; . is the one that you are in", "the folder's name is empty");
    if (length > 0 && length < OCDM__PATH_ROOM)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_LIMIT, "name a shorter one", "the path of the folder is too long");
}

static ocdm_status make_one(const char *folder, ocdm_error *error)
{
    struct stat there;
    if (mkdir(folder, 0777) == 0)
        return OCDM_OK;
    int reason = errno;
    if (stat(folder, &there) == 0 && S_ISDIR(there.st_mode))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_IO, reason == EEXIST ? "name a folder" : "", "cannot make the folder %s: %s", folder,
                      reason == EEXIST ? "a file is there" : strerror(reason));
}

ocdm_status ocdm__make_folder(const char *folder, ocdm_error *error)
{
    char path[OCDM__PATH_ROOM];
    ocdm_status status = ocdm__folder_path(folder, "", path, error);
    for (char *slash = strchr(path + 1, '/'); status == OCDM_OK && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_one(path, error);
        *slash = '/';
    }
    return status;
}

/* ---- lock ---------------------------------------------------------------------------------------------------------------- */

/* One run in a folder at a time. flock rather than fcntl: it belongs to the open file, so that two runs of one process exclude
 * each other too. The lock ends with the process. */
static ocdm_status take_lock(const char *path, const char *folder, int *lock, ocdm_error *error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return ocdm__fail(error, OCDM_IO, "", "cannot write %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *lock = fd;
        return OCDM_OK;
    }
    int reason = errno;
    close(fd);
    if (reason == EWOULDBLOCK)
        return ocdm__fail(error, OCDM_IO, "wait for it to end, or name another folder", "%s: another run is writing here",
                          folder);
    return ocdm__fail(error, OCDM_IO, "", "cannot lock %s: %s", path, strerror(reason));
}

enum file { LOG, SUMMARY, KEPT, WEIGHTS, CHECKPOINT, PREVIOUS, FRESH, LOCK, FILES };

static const char *const names[FILES] = {
    [LOG] = "run.jsonl",
    [SUMMARY] = "summary.json",
    [KEPT] = "memory.jsonl",
    [WEIGHTS] = "weights.safetensors",
    [CHECKPOINT] = "checkpoint.safetensors",
    [PREVIOUS] = "checkpoint.previous.safetensors",
    [FRESH] = "checkpoint.new.safetensors",
    [LOCK] = "lock",
};

struct work {
    const ocdm__run_job *job;
    const ocdm__run_hooks *hooks;
    ocdm__run *run;
    ocdm__run_log log;
    char paths[FILES][OCDM__PATH_ROOM];
    uint64_t saved_step;
    size_t saved_evaluations;
};

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void note(const struct work *work, const char *text)
{
    if (work->hooks->note != NULL)
        work->hooks->note(work->hooks->state, text);
}

static void tell_skipped(const struct work *work)
{
    char text[OCDM__SKIPPED_TEXT];
    uint64_t skipped = ocdm__run_skipped(work->run);
    if (skipped == 0)
        return;
    ocdm__model_inputs_skipped_text(work->run->inputs, skipped, text);
    note(work, text);
}

/* Of a run that was finished before, the files may be there without the checkpoint that would bring it back. */
static void tell_finished(const struct work *work)
{
    if (work->run->evaluation_count < work->run->schedule.order.task_count)
        return;
    tell_skipped(work);
    if (work->hooks->finished != NULL)
        work->hooks->finished(work->hooks->state, work->run);
}

/* ---- saving ------------------------------------------------------------------------------------------------------------ */

static ocdm_status move(const char *from, const char *to, ocdm_error *error)
{
    if (rename(from, to) == 0)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_IO, "", "cannot rename %s to %s: %s", from, to, strerror(errno));
}

/* The new file is whole and on the disk before the old ones move: a full disk leaves both of them. */
static ocdm_status save(struct work *work, ocdm_error *error)
{
    uint64_t log_size = 0;
    ocdm_status status = ocdm__run_log_sync(&work->log, &log_size, error);
    if (status == OCDM_OK)
        status = ocdm__checkpoint_write(work->run, log_size, work->paths[FRESH], error);
    if (status == OCDM_OK && is_there(work->paths[CHECKPOINT]))
        status = move(work->paths[CHECKPOINT], work->paths[PREVIOUS], error);
    if (status == OCDM_OK)
        status = move(work->paths[FRESH], work->paths[CHECKPOINT], error);
    work->saved_step = work->run->step;
    work->saved_evaluations = work->run->evaluation_count;
    return status;
}

static ocdm_status write_kept(struct work *work, ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, work->paths[KEPT], error);
    if (status != OCDM_OK)
        return status;
    ocdm__kept_samples_write(&output, work->run);
    return ocdm__output_commit(&output, error);
}

static ocdm_status write_summary(struct work *work, ocdm_error *error)
{
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, work->paths[SUMMARY], error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__summary_write(&output, work->run, error);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}

/* The summary comes last: where it is, everything is. */
static ocdm_status finish(struct work *work, ocdm_error *error)
{
    uint64_t size;
    ocdm_status status = OCDM_OK;
    if (work->run->learner != NULL)
        status = ocdm__learner_save(work->run->learner, work->run->settings->model, work->paths[WEIGHTS], error);
    if (status == OCDM_OK)
        status = write_kept(work, error);
    if (status == OCDM_OK)
        status = ocdm__run_log_end(&work->log, work->run, error);
    if (status == OCDM_OK)
        status = ocdm__run_log_sync(&work->log, &size, error);
    if (status == OCDM_OK)
        status = write_summary(work, error);
    if (status == OCDM_OK)
        tell_finished(work);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------------- */

static ocdm_status tell(struct work *work, enum ocdm__run_event event, ocdm_error *error)
{
    const ocdm__run_hooks *hooks = work->hooks;
    if (event == OCDM__RUN_EVALUATED)
        return ocdm__run_log_evaluation(&work->log, work->run, error);
    if (event != OCDM__RUN_STEPPED)
        return OCDM_OK;
    if (hooks->stepped != NULL)
        hooks->stepped(hooks->state, work->run);
    return ocdm__run_logs_step(work->run) ? ocdm__run_log_step(&work->log, work->run, error) : OCDM_OK;
}

static bool is_time_to_save(const struct work *work, enum ocdm__run_event event)
{
    uint64_t every = work->job->settings->checkpoint_every;
    return event == OCDM__RUN_EVALUATED || (event == OCDM__RUN_STEPPED && every > 0 && work->run->step % every == 0);
}

/* What is not saved yet is, then the caller learns that the run was stopped. */
static ocdm_status stop(struct work *work, ocdm_error *error)
{
    bool saved = work->saved_step == work->run->step && work->saved_evaluations == work->run->evaluation_count;
    ocdm_status status = saved && is_there(work->paths[CHECKPOINT]) ? OCDM_OK : save(work, error);
    if (status != OCDM_OK)
        return status;
    return ocdm__fail(error, OCDM_STOPPED, "--resume goes on from here", "%s: stopped after step %llu, and saved",
                      work->job->folder, (unsigned long long)work->run->step);
}

static ocdm_status go(struct work *work, ocdm_error *error)
{
    enum ocdm__run_event event = OCDM__RUN_STEPPED;
    for (;;) {
        ocdm_status status = ocdm__run_advance(work->run, &work->hooks->progress, &event, error);
        if (status == OCDM_STOPPED)
            return stop(work, error);
        if (status == OCDM_OK)
            status = tell(work, event, error);
        if (status == OCDM_OK && is_time_to_save(work, event))
            status = save(work, error);
        if (status != OCDM_OK)
            return status;
        if (event == OCDM__RUN_FINISHED)
            return finish(work, error);
        if (ocdm__progress_stopped(&work->hooks->progress))
            return stop(work, error);
    }
}

/* ---- what is in the folder ----------------------------------------------------------------------------------------------- */

static ocdm_status refuse_old_run(const struct work *work, ocdm_error *error)
{
    const char *folder = work->job->folder;
    if (is_there(work->paths[SUMMARY]))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name another folder", "%s: a finished run is there", folder);
    if (is_there(work->paths[CHECKPOINT]) || is_there(work->paths[PREVIOUS]) || is_there(work->paths[LOG]))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--resume goes on with it; or name another folder",
                          "%s: a run that was stopped is there", folder);
    return OCDM_OK;
}

/* Opens the checkpoint, or, when that one is damaged or gone, the one before it. */
static ocdm_status open_checkpoint(const struct work *work, ocdm__checkpoint *checkpoint, ocdm_error *error)
{
    ocdm_error why, older;
    char text[sizeof why.message + OCDM__PATH_ROOM + 64];
    ocdm_status status = ocdm__checkpoint_open(checkpoint, work->paths[CHECKPOINT], &why);
    if (status == OCDM_OK || status == OCDM_NO_MEMORY || !is_there(work->paths[PREVIOUS])) {
        if (status != OCDM_OK && error != NULL)
            *error = why;
        return status;
    }
    ocdm__checkpoint_close(checkpoint);
    status = ocdm__checkpoint_open(checkpoint, work->paths[PREVIOUS], &older);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, "begin again in a new folder", "%.250s; and %.250s", why.message, older.message);
    snprintf(text, sizeof text, "%s; going on from the checkpoint before it, %s", why.message, work->paths[PREVIOUS]);
    note(work, text);
    return OCDM_OK;
}

/* Brings the run to where the folder's is. */
static ocdm_status restore(struct work *work, uint64_t *log_size, ocdm_error *error)
{
    ocdm__checkpoint checkpoint = {.tensors = {.tensor_count = 0}};
    ocdm_status status = open_checkpoint(work, &checkpoint, error);
    if (status == OCDM_OK)
        status = ocdm__checkpoint_compare(&checkpoint, work->run, error);
    if (status == OCDM_OK)
        status = ocdm__checkpoint_restore(&checkpoint, work->run, log_size, error);
    ocdm__checkpoint_close(&checkpoint);
    work->saved_step = work->run->step;
    work->saved_evaluations = work->run->evaluation_count;
    return status;
}

/* A finished run is left alone. If it has a checkpoint, that has been compared already. */
static ocdm_status leave_finished(const struct work *work, bool compared, ocdm_error *error)
{
    const ocdm__asked_run asked = ocdm__asked_of(work->run);
    ocdm_status status = compared ? OCDM_OK : ocdm__summary_compare(work->paths[SUMMARY], &asked, error);
    if (status != OCDM_OK)
        return status;
    note(work, "the run is finished: nothing is left to do");
    tell_finished(work);
    return OCDM_OK;
}

static ocdm_status run_here(struct work *work, ocdm_error *error)
{
    uint64_t log_size = 0;
    bool resumed = is_there(work->paths[CHECKPOINT]) || is_there(work->paths[PREVIOUS]);
    ocdm_status status = ocdm__run_open(work->job->settings, work->job->stream, work->job->learner, &work->run, error);
    if (status == OCDM_OK && resumed)
        status = restore(work, &log_size, error);
    if (status == OCDM_OK && is_there(work->paths[SUMMARY]))
        return leave_finished(work, resumed, error);
    if (status == OCDM_OK && !resumed && is_there(work->paths[LOG]))
        note(work, "the run left no checkpoint: it begins again");
    if (status == OCDM_OK)
        status = ocdm__run_begin(work->run, error);
    if (status == OCDM_OK)
        status = ocdm__run_log_open(&work->log, work->paths[LOG], log_size, error);
    if (status == OCDM_OK)
        status = ocdm__run_log_start(&work->log, work->run, resumed, error);
    return status == OCDM_OK ? go(work, error) : status;
}

static ocdm_status run_locked(struct work *work, ocdm_error *error)
{
    ocdm_status status = work->job->resume ? OCDM_OK : refuse_old_run(work, error);
    if (status == OCDM_OK)
        status = run_here(work, error);
    ocdm__run_log_close(&work->log);
    ocdm__run_close(work->run);
    return status;
}

ocdm_status ocdm__run_in_folder(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm_error *error)
{
    struct work work = {.job = job, .hooks = hooks};
    int lock = -1;
    ocdm_status status = ocdm__make_folder(job->folder, error);
    for (size_t i = 0; status == OCDM_OK && i < FILES; i++)
        status = ocdm__folder_path(job->folder, names[i], work.paths[i], error);
    if (status == OCDM_OK)
        status = take_lock(work.paths[LOCK], job->folder, &lock, error);
    if (status != OCDM_OK)
        return status;
    status = run_locked(&work, error);
    close(lock);
    return status;
}
