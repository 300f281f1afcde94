/* The threads of an agent. Between regions they spin for some microseconds, then sleep: the regions of a step follow each
 * other closely, and waking a thread takes long. */
#include "agent/network.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { LOOKS = 4000 };

struct member {
    ocdm__team *team;
    pthread_t thread;
    unsigned slot;
};

struct ocdm__team {
    struct member *members; /* the callers' own, number 0, has no thread */
    unsigned count;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct ocdm__work works[OCDM__TEAM_LISTS];
    size_t total;
    atomic_size_t next;
    atomic_uint busy;   /* threads that have not finished this region */
    atomic_uint region; /* goes up by one for each */
    atomic_bool over;
};

static void pause_briefly(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

/* Until the lists are empty: whoever is free takes the next item, in order. */
static void take_items(ocdm__team *team, unsigned slot)
{
    for (;;) {
        size_t item = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (item >= team->total)
            return;
        size_t list = 0;
        while (item >= team->works[list].count)
            item -= team->works[list++].count;
        team->works[list].run(team->works[list].context, item, slot);
    }
}

/* Waits until the region is no longer `seen`, or the team ends. */
static void await_region(ocdm__team *team, unsigned seen)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&team->region, memory_order_acquire) != seen || atomic_load(&team->over))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&team->mutex);
    while (atomic_load(&team->region) == seen && !atomic_load(&team->over))
        pthread_cond_wait(&team->wake, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

/* A thread's life: wait for a region, work, say that it is done. */
static void *work(void *argument)
{
    struct member *member = argument;
    ocdm__team *team = member->team;
    (void)ocdm__single_thread();
    for (unsigned seen = 0;; seen++) {
        await_region(team, seen);
        if (atomic_load(&team->over))
            return NULL;
        take_items(team, member->slot);
        atomic_fetch_sub_explicit(&team->busy, 1, memory_order_release);
    }
}

/* Wakes the threads for the last time and waits for them. */
void ocdm__team_destroy(ocdm__team *team)
{
    if (team == NULL)
        return;
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->over, true);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
    for (unsigned i = 1; i < team->count; i++)
        (void)pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->mutex);
    OCDM_RELEASE(team->members, team);
}

/* Slot 0 is the caller's, so a team of one has no thread. On failure those that were started are ended by
 * ocdm__team_destroy. */
ocdm_status ocdm__team_create(unsigned threads, ocdm__team **team, ocdm_error *error)
{
    ocdm__team *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "threads", error));
    made->count = 1;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    ocdm_status status = ocdm__new(&made->members, threads, sizeof *made->members, "threads", error);
    for (unsigned i = 1; status == OCDM_OK && i < threads; i++) {
        struct member *member = &made->members[i];
        *member = (struct member){.team = made, .slot = i};
        if (pthread_create(&member->thread, NULL, work, member) == 0)
            made->count++;
        else
            status = ocdm__fail(error, OCDM_NO_MEMORY, "ask for fewer threads", "%u threads could not be started", threads);
    }
    if (status == OCDM_OK)
        *team = made;
    else
        ocdm__team_destroy(made);
    return status;
}

/* The caller works too, and returns when the last thread has left the region. */
void ocdm__team_run(ocdm__team *team, const struct ocdm__work *works, size_t work_count)
{
    team->total = 0;
    for (size_t i = 0; i < work_count; i++) {
        team->works[i] = works[i];
        team->total += works[i].count;
    }
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    if (team->count > 1 && team->total > 1) {
        atomic_store_explicit(&team->busy, team->count - 1, memory_order_relaxed);
        pthread_mutex_lock(&team->mutex);
        atomic_fetch_add_explicit(&team->region, 1, memory_order_release);
        pthread_cond_broadcast(&team->wake);
        pthread_mutex_unlock(&team->mutex);
        take_items(team, 0);
        /* Yields the core: with more threads than cores the last item may be waiting for it. */
        for (int i = 0; atomic_load_explicit(&team->busy, memory_order_acquire) != 0; i++) {
            if (i < LOOKS)
                pause_briefly();
            else
                (void)sched_yield();
        }
    } else {
        take_items(team, 0);
    }
}
