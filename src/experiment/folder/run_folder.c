/*
 * Runs an experiment in a folder: locks it, writes log and checkpoints, resumes from the last one.
 *
 * What must hold at any moment, even after a power failure: once there was a checkpoint there is a complete one, under its
 * name or as the previous one; summary.json is there only when all other files are.
 */
#define _DEFAULT_SOURCE

#include "experiment/folder/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/output.h"
#include "experiment/folder/checkpoint.h"
#include "experiment/folder/saved_run.h"
#include "experiment/folder/weights_about.h"

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

/* A folder that is there already is fine. */
ocdm_status ocdm__make_folder(const char *folder, ocdm_error *error)
{
    char path[OCDM__PATH_ROOM];
    struct stat there;
    OCDM_TRY(ocdm__folder_path(folder, "", path, error));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int reason = mkdir(path, 0777) == 0 ? 0 : errno;
        if (reason != 0 && (stat(path, &there) != 0 || !S_ISDIR(there.st_mode)))
            return ocdm__fail(error, OCDM_IO, reason == EEXIST ? "name a folder" : "", "cannot make the folder %s: %s", path,
                              reason == EEXIST ? "a file is there" : strerror(reason));
        *slash = '/';
    }
    return OCDM_OK;
}

/* ---- lock ---------------------------------------------------------------------------------------------------------------- */

/* One run in a folder at a time. flock rather than fcntl: it belongs to the open file, so that two runs of one process exclude
 * each other too. The lock ends with the process. */
static ocdm_status take_lock(const char *path, const char *folder, int *lock, ocdm_error *error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        return ocdm__fail(error, OCDM_IO, "", "cannot write %s: %s", path, strerror(errno));
    struct stat there = {.st_nlink = 1};
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    int reason = errno;
    bool removed = locked && fstat(fd, &there) == 0 && there.st_nlink == 0; /* by a run that was refused meanwhile */
    if (locked && !removed) {
        *lock = fd;
        return OCDM_OK;
    }
    close(fd);
    if (removed || reason == EWOULDBLOCK)
        return ocdm__fail(error, OCDM_IO, "wait for it to end, or name another folder", "%s: another run is writing here",
                          folder);
    return ocdm__fail(error, OCDM_IO, "", "cannot lock %s: %s", path, strerror(reason));
}

/* The files of a run. */
enum file { LOG, SUMMARY, KEPT, WEIGHTS, CHECKPOINT, PREVIOUS, FRESH, LOCK };

static const char *const names[OCDM__RUN_FILES] = {
    [LOG] = "run.jsonl",
    [SUMMARY] = "summary.json",
    [KEPT] = "memory.jsonl",
    [WEIGHTS] = "weights.safetensors",
    [CHECKPOINT] = "checkpoint.safetensors",
    [PREVIOUS] = "checkpoint.previous.safetensors",
    [FRESH] = "checkpoint.new.safetensors",
    [LOCK] = "lock",
};

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Tells the caller something that is no error. */
static void note(const ocdm__run_folder *folder, const char *text)
{
    if (folder->hooks.note != NULL)
        folder->hooks.note(folder->hooks.state, text);
}

/* A finished run may have its files but no checkpoint to resume from: then there is nothing to tell. */
static void tell_finished(const ocdm__run_folder *folder)
{
    const ocdm__run *run = folder->run;
    uint64_t skipped = ocdm__run_skipped(run);
    char text[OCDM__SKIPPED_TEXT];
    if (run->evaluation_count < run->schedule.order.task_count)
        return;
    if (skipped > 0) {
        ocdm__model_inputs_skipped_text(run->inputs, skipped, text);
        note(folder, text);
    }
    if (folder->hooks.finished != NULL)
        folder->hooks.finished(folder->hooks.state, run);
}

/* ---- saving ------------------------------------------------------------------------------------------------------------ */

/* What the newest checkpoint has: a run that is stopped there need not be saved again. */
static void note_saved(ocdm__run_folder *folder)
{
    const ocdm__run *run = folder->run;
    folder->saved = (struct ocdm__saved_position){run->step, run->evaluation_count, run->probes.count};
}

static ocdm_status move(const char *from, const char *to, ocdm_error *error)
{
    if (rename(from, to) == 0)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_IO, "", "cannot rename %s to %s: %s", from, to, strerror(errno));
}

/* The new file is complete and synced before the old ones are renamed, so a full disk leaves both of them. */
ocdm_status ocdm__folder_save(ocdm__run_folder *folder, ocdm_error *error)
{
    uint64_t log_size = 0;
    ocdm_status status = ocdm__run_log_sync(&folder->log, &log_size, error);
    ocdm__run_collect(folder->run);
    OCDM_THEN(status, ocdm__checkpoint_write(folder->run, log_size, folder->paths[FRESH], error));
    if (is_there(folder->paths[CHECKPOINT]))
        OCDM_THEN(status, move(folder->paths[CHECKPOINT], folder->paths[PREVIOUS], error));
    OCDM_THEN(status, move(folder->paths[FRESH], folder->paths[CHECKPOINT], error));
    note_saved(folder);
    return status;
}

/* The trained weights, and beside them each average under its rate; a learner outside the loop saves its weights itself. The
 * summary is written last: if it exists, so do all other files. */
ocdm_status ocdm__folder_finish(ocdm__run_folder *folder, ocdm_error *error)
{
    const ocdm__run *run = folder->run;
    const ocdm__learner *learner = run->learner != NULL && !folder->job->learner->reads_samples ? run->learner : NULL;
    uint64_t size;
    ocdm__output output;
    if (learner != NULL)
        OCDM_TRY(ocdm__weights_write(run, NULL, folder->paths[WEIGHTS], error));
    for (size_t v = 1; learner != NULL && v < run->version_count; v++) {
        char name[64], rate[OCDM__JSON_DOUBLE], path[OCDM__PATH_ROOM];
        ocdm__json_double(run->settings->network.averages.values[v - 1], rate);
        snprintf(name, sizeof name, "weights-ema%s.safetensors", rate);
        OCDM_TRY(ocdm__folder_path(folder->job->folder, name, path, error));
        OCDM_TRY(learner->functions->use(learner->state, v, error));
        OCDM_TRY(ocdm__weights_write(run, rate, path, error));
    }
    if (learner != NULL && run->version_count > 1)
        OCDM_TRY(learner->functions->use(learner->state, 0, error));
    OCDM_TRY(ocdm__output_open_own(&output, folder->paths[KEPT], error));
    ocdm__kept_samples_write(&output, run);
    OCDM_TRY(ocdm__output_commit(&output, error));
    OCDM_TRY(ocdm__run_log_event(&folder->log, run, OCDM__RUN_FINISHED, error));
    OCDM_TRY(ocdm__run_log_sync(&folder->log, &size, error));
    OCDM_TRY(ocdm__output_open_own(&output, folder->paths[SUMMARY], error));
    ocdm_status status = ocdm__summary_write(&output, run, folder->job->folder, error);
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    ocdm__output_abandon(&output);
    if (status == OCDM_OK)
        tell_finished(folder);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__folder_log(ocdm__run_folder *folder, enum ocdm__run_event event, ocdm_error *error)
{
    const ocdm__run_hooks *hooks = &folder->hooks;
    bool stepped = event == OCDM__RUN_STEPPED;
    if (stepped && hooks->stepped != NULL)
        hooks->stepped(hooks->state, folder->run);
    if (event == OCDM__RUN_FINISHED || (stepped && !ocdm__run_logs_step(folder->run)))
        return OCDM_OK;
    return ocdm__run_log_event(&folder->log, folder->run, event, error);
}

bool ocdm__folder_saves_after(const ocdm__run_folder *folder, uint64_t steps)
{
    uint64_t every = folder->job->settings->checkpoint_every;
    return every > 0 && steps % every == 0;
}

/* Saves the run, then tells the caller that it was stopped. */
static ocdm_status stop(ocdm__run_folder *folder, ocdm_error *error)
{
    const ocdm__run *run = folder->run;
    bool saved = folder->saved.step == run->step && folder->saved.evaluations == run->evaluation_count &&
                 folder->saved.probes == run->probes.count;
    if (!saved || !is_there(folder->paths[CHECKPOINT]))
        OCDM_TRY(ocdm__folder_save(folder, error));
    return ocdm__fail(error, OCDM_STOPPED, "--resume goes on from here", "%s: stopped after step %llu, and saved",
                      folder->job->folder, (unsigned long long)run->step);
}

/* ---- what is in the folder ----------------------------------------------------------------------------------------------- */

/* Restores the state of the folder's run from its checkpoint, or from the previous one if that is damaged or missing. Weights
 * from another CPU can be trained further, but the result differs from that of an uninterrupted run. */
static ocdm_status restore(ocdm__run_folder *folder, ocdm_error *error)
{
    ocdm_error why, older;
    char made[80], text[sizeof why.message + OCDM__PATH_ROOM + 64];
    const char *used = folder->run->learner != NULL ? folder->run->learner->instructions : "";
    ocdm__checkpoint checkpoint = {.tensors = {.tensor_count = 0}};
    ocdm_status status = ocdm__checkpoint_open(&checkpoint, folder->paths[CHECKPOINT], &why);
    if (status != OCDM_OK && status != OCDM_NO_MEMORY && is_there(folder->paths[PREVIOUS])) {
        ocdm__checkpoint_close(&checkpoint);
        status = ocdm__checkpoint_open(&checkpoint, folder->paths[PREVIOUS], &older);
        snprintf(text, sizeof text, "%s; going on from the checkpoint before it, %s", why.message, folder->paths[PREVIOUS]);
        if (status == OCDM_OK)
            note(folder, text);
        else
            (void)ocdm__fail(error, status, "begin again in a new folder", "%.250s; and %.250s", why.message, older.message);
    } else if (status != OCDM_OK && error != NULL)
        *error = why;
    OCDM_THEN(status, ocdm__checkpoint_compare(&checkpoint, folder->run, error));
    if (status == OCDM_OK && !is_there(folder->paths[SUMMARY]) &&
        ocdm__checkpoint_has_other_instructions(&checkpoint, folder->run, made, sizeof made)) {
        snprintf(text, sizeof text, "the run was saved with %s, here is %s: the last bits may differ from an unbroken run",
                 made, used);
        if (!folder->job->settings->strict)
            note(folder, text);
        else
            status = ocdm__fail(error, OCDM_BAD_ARGUMENT, "resume on the CPU that began it, or without --strict",
                                "%s: the run was saved with %s, here is %s", folder->job->folder, made, used);
    }
    OCDM_THEN(status, ocdm__checkpoint_restore(&checkpoint, folder->run, &folder->log_size, error));
    ocdm__checkpoint_close(&checkpoint);
    note_saved(folder);
    return status;
}

/* Whether the folder may be used: a run that is there must not be lost. */
static ocdm_status check_free(const ocdm__run_folder *folder, ocdm_error *error)
{
    const char *name = folder->job->folder;
    bool half = is_there(folder->paths[CHECKPOINT]) || is_there(folder->paths[PREVIOUS]) || is_there(folder->paths[LOG]);
    if (folder->job->resume)
        return OCDM_OK;
    if (is_there(folder->paths[SUMMARY]))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name another folder", "%s: a finished run is there", name);
    return !half ? OCDM_OK
                 : ocdm__fail(error, OCDM_BAD_ARGUMENT, "--resume goes on with it; or name another folder",
                              "%s: a run that was stopped is there", name);
}

/* Locks the folder, and finds out how far its run is: another one may have come and gone before the lock was taken. */
static ocdm_status lock_and_restore(ocdm__run_folder *folder, ocdm_error *error)
{
    char text[OCDM__UNTESTED_TEXT];
    OCDM_TRY(ocdm__make_folder(folder->job->folder, error));
    OCDM_TRY(take_lock(folder->paths[LOCK], folder->job->folder, &folder->lock, error));
    OCDM_TRY(check_free(folder, error));
    folder->resumed = is_there(folder->paths[CHECKPOINT]) || is_there(folder->paths[PREVIOUS]);
    folder->finished = is_there(folder->paths[SUMMARY]);
    if (folder->resumed)
        OCDM_TRY(restore(folder, error));
    if (folder->finished) { /* a finished run is not changed; its checkpoint, if it has one, was compared already */
        const ocdm__asked_run asked = ocdm__asked_of(folder->run);
        return folder->resumed ? OCDM_OK : ocdm__summary_compare(folder->paths[SUMMARY], &asked, error);
    }
    if (!folder->resumed && is_there(folder->paths[LOG]))
        note(folder, "the run left no checkpoint: it begins again");
    ocdm__untested_text(&folder->run->stream->table, folder->run->test_counts, text);
    if (folder->run->learner != NULL && text[0] != '\0')
        note(folder, text);
    return OCDM_OK;
}

/* Whether all ranks have to find out which average a finished run reports: it was decided after the last checkpoint. */
static bool decides_again(const ocdm__run_folder *folder)
{
    return folder->finished && folder->run->version_count > 2 && ocdm__run_due(folder->run) == OCDM__RUN_FINISHED;
}

/* Nothing in the folder changes. */
static ocdm_status show_finished(const ocdm__run_folder *folder, ocdm_error *error)
{
    enum ocdm__run_event event;
    ocdm_status status = OCDM_OK;
    if (decides_again(folder)) {
        (void)ocdm__run_goes_on(folder->run, true);
        status = ocdm__run_advance(folder->run, &folder->hooks.progress, &event, error);
        (void)ocdm__run_goes_on(folder->run, false);
    }
    OCDM_TRY(status);
    note(folder, "the run is finished: nothing is left to do");
    tell_finished(folder);
    return OCDM_OK;
}

/* ---- a folder that is open --------------------------------------------------------------------------------------------- */

/* Whatever can be found wrong without the folder is found before it is made. */
ocdm_status ocdm__folder_open(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm__run_folder **folder,
                              ocdm_error *error)
{
    ocdm__run_folder *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL && hooks->opened != NULL)
        (void)hooks->opened(hooks->state, NULL, NULL);
    if (made == NULL)
        return ocdm__fail_memory(error, "a run's folder");
    made->job = job;
    made->hooks = *hooks;
    made->lock = -1;
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < OCDM__RUN_FILES; i++)
        OCDM_THEN(status, ocdm__folder_path(job->folder, names[i], made->paths[i], error));
    bool there = status != OCDM_OK || is_there(job->folder);
    OCDM_THEN(status, check_free(made, error));
    OCDM_THEN(status, ocdm__run_open(job->settings, job->stream, job->learner, &made->run, error));
    OCDM_THEN(status, lock_and_restore(made, error));
    bool begins = status == OCDM_OK && (!made->finished || decides_again(made));
    if (hooks->opened != NULL) { /* other ranks hear of a run that cannot begin, too */
        ocdm_status joined = hooks->opened(hooks->state, begins ? made->run : NULL, error);
        status = begins ? joined : status;
    }
    if (made->finished)
        OCDM_THEN(status, show_finished(made, error));
    else if (status == OCDM_OK) {
        status = ocdm__run_begin(made->run, error);
        OCDM_THEN(status, ocdm__run_log_open(&made->log, made->paths[LOG], made->log_size, error));
        OCDM_THEN(status, ocdm__run_log_start(&made->log, made->run, made->resumed, error));
        if (status != OCDM_OK) /* ranks that wait for the first step hear of a failure */
            (void)ocdm__run_goes_on(made->run, false);
    }
    if (status != OCDM_OK && !there && made->lock >= 0) { /* a folder with nothing but the lock goes again */
        unlink(made->paths[LOCK]);
        (void)rmdir(job->folder);
    }
    if (status == OCDM_OK)
        *folder = made;
    else
        ocdm__folder_close(made);
    return status;
}

void ocdm__folder_close(ocdm__run_folder *folder)
{
    if (folder == NULL)
        return;
    ocdm__run_log_close(&folder->log);
    ocdm__run_close(folder->run);
    if (folder->lock >= 0)
        close(folder->lock);
    ocdm__release(folder);
}

/* Saves after the evaluation of each task, and as often as the settings say. */
ocdm_status ocdm__run_in_folder(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm_error *error)
{
    ocdm__run_folder *folder = NULL;
    enum ocdm__run_event event = OCDM__RUN_STEPPED;
    OCDM_TRY(ocdm__folder_open(job, hooks, &folder, error));
    ocdm_status status = OCDM_OK;
    bool finished = folder->finished;
    while (status == OCDM_OK && !finished && event != OCDM__RUN_FINISHED) {
        (void)ocdm__run_goes_on(folder->run, true);
        status = ocdm__run_advance(folder->run, &folder->hooks.progress, &event, error);
        if (status == OCDM_STOPPED) {
            status = stop(folder, error);
            break;
        }
        OCDM_THEN(status, ocdm__folder_log(folder, event, error));
        if (event == OCDM__RUN_EVALUATED || (event == OCDM__RUN_STEPPED && ocdm__folder_saves_after(folder, folder->run->step)))
            OCDM_THEN(status, ocdm__folder_save(folder, error));
        if (event == OCDM__RUN_FINISHED)
            OCDM_THEN(status, ocdm__folder_finish(folder, error));
        else if (status == OCDM_OK && ocdm__progress_stopped(&folder->hooks.progress))
            status = stop(folder, error);
    }
    if (!finished)
        (void)ocdm__run_goes_on(folder->run, false);
    ocdm__folder_close(folder);
    return status;
}
