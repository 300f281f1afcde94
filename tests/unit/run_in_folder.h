/* Small runs in temporary folders that are stopped, killed, or end. Include scratch_folder.h first. */
#ifndef OCDM_TESTS_RUN_IN_FOLDER_H
#define OCDM_TESTS_RUN_IN_FOLDER_H

#include <signal.h>

#include "../small_run.h"
#include "base/error.h"

/* A listener that stops. */
struct listener {
    volatile sig_atomic_t stop;
    uint64_t stop_after; /* steps; 0: never */
    bool kills;          /* ends the process instead */
    char notes[1024];
    uint64_t last_step;
};

static inline void stepped(void *state, const ocdm__run *run)
{
    struct listener *listener = state;
    listener->last_step = run->step;
    if (run->step == listener->stop_after && listener->kills)
        _exit(7);
    if (run->step == listener->stop_after)
        listener->stop = 1;
}

static inline void noted(void *state, const char *text)
{
    struct listener *listener = state;
    snprintf(listener->notes, sizeof listener->notes, "%s", text);
}

static inline ocdm_status run_in(const char *folder, ocdm__run_settings settings, const char *stream_path, bool resume,
                                 struct listener *listener, ocdm_error *error)
{
    struct listener nobody = {.stop = 0};
    listener = listener != NULL ? listener : &nobody;
    const ocdm__run_hooks hooks = {.progress = {.stop = &listener->stop}, .stepped = stepped, .note = noted, .state = listener};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_job job = {
        .settings = &settings, .stream = &stream, .learner = &ocdm__agent_maker, .folder = folder, .resume = resume};
    ocdm_status status = ocdm__stream_open(&stream, stream_path, error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_resolve(&settings, &stream, stream_path, error);
    if (status == OCDM_OK)
        status = ocdm__run_in_folder(&job, &hooks, error);
    ocdm__stream_close(&stream);
    return status;
}

static inline void finishes(const char *folder, ocdm__run_settings settings, const char *stream, bool resume)
{
    ocdm_error error;
    if (run_in(folder, settings, stream, resume, NULL, &error) != OCDM_OK)
        fail_msg("%s: %s", folder, error.message);
}

static inline void stops(const char *folder, ocdm__run_settings settings, const char *stream, uint64_t after)
{
    ocdm_error error;
    struct listener listener = {.stop_after = after};
    assert_int_equal(run_in(folder, settings, stream, access(folder, F_OK) == 0, &listener, &error), OCDM_STOPPED);
    assert_int_equal(listener.last_step, after);
}

static inline ocdm__run_settings settings_of(const char *method)
{
    ocdm__run_settings settings = small_settings(method);
    settings.checkpoint_every = 7;
    settings.epochs = strcmp(method, "multitask") == 0 ? 2 : 1;
    return settings;
}

/* For the setup of a test that makes runs in `parts` and `whole`: what one that failed left behind should not fail the next. */
static inline int clear_folders(void **state)
{
    (void)state;
    remove_folder("parts");
    remove_folder("whole");
    return 0;
}

#endif
