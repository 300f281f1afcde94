/* One lock and one queue of slots in the order of submission. A thread takes the next image of the oldest batch that has one
 * left, prepares it outside the lock and reports it; where its numbers go was decided at submission. */
#include "stream/images/prepare.h"

#include <pthread.h>
#include <signal.h>

struct slot {
    ocdm__image_request *requests;
    ocdm_error *errors;
    size_t room; /* of both arrays */
    size_t count, taken, done;
    float *tensor;
    bool busy;
};

struct ocdm__image_loader {
    ocdm__image_plan plan;
    size_t floats;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* an image is waiting, or the loader ends */
    pthread_cond_t ready; /* a batch is complete */
    bool ending;
    struct slot *slots;
    size_t slot_count;
    size_t *queue; /* a ring of slot_count: slots with images that no thread has taken */
    size_t queue_first, queue_size;
    pthread_t *threads;
    size_t thread_count;
};

static void *work(void *argument)
{
    ocdm__image_loader *loader = argument;
    ocdm__image_scratch scratch = {0};
    pthread_mutex_lock(&loader->lock);
    for (;;) {
        while (!loader->ending && loader->queue_size == 0)
            pthread_cond_wait(&loader->work, &loader->lock);
        if (loader->ending)
            break;
        /* The next image of the oldest batch; a batch without more leaves the queue. */
        struct slot *slot = &loader->slots[loader->queue[loader->queue_first]];
        size_t image = slot->taken++;
        if (slot->taken == slot->count) {
            loader->queue_first = (loader->queue_first + 1) % loader->slot_count;
            loader->queue_size--;
        }
        pthread_mutex_unlock(&loader->lock);
        float *out = slot->tensor + image * loader->floats;
        ocdm_error *error = &slot->errors[image];
        error->status = OCDM_OK;
        if (ocdm__image_prepare(&loader->plan, &slot->requests[image], &scratch, out, error) != OCDM_OK)
            memset(out, 0, loader->floats * sizeof *out);
        pthread_mutex_lock(&loader->lock);
        if (++slot->done == slot->count)
            pthread_cond_signal(&loader->ready);
    }
    pthread_mutex_unlock(&loader->lock);
    ocdm__image_scratch_clear(&scratch);
    return NULL;
}

/* Blocks signals: they are for the caller's threads, and must not interrupt a decoder. Signals for faults of the thread itself
 * stay enabled: if they were blocked, they would end the process without calling a handler. */
static ocdm_status start_threads(ocdm__image_loader *loader, size_t count, ocdm_error *error)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    while (loader->thread_count < count && !failure) {
        failure = pthread_create(&loader->threads[loader->thread_count], NULL, work, loader);
        loader->thread_count += !failure;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return ocdm__fail(error, OCDM_LIMIT, "use fewer threads", "cannot start thread %zu of %zu for images: %s",
                          loader->thread_count + 1, count, strerror(failure));
    return OCDM_OK;
}

ocdm_status ocdm__image_loader_create(const ocdm__image_settings *settings, size_t threads, size_t slots,
                                      ocdm__image_loader **loader, ocdm_error *error)
{
    ocdm__image_plan plan;
    if (threads < 1 || threads > OCDM__IMAGE_MAX_THREADS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%zu threads for images are not between 1 and %u", threads,
                          OCDM__IMAGE_MAX_THREADS);
    if (slots < 1 || slots > OCDM__IMAGE_MAX_SLOTS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%zu batches of images ahead are not between 1 and %u", slots,
                          OCDM__IMAGE_MAX_SLOTS);
    OCDM_TRY(ocdm__image_plan_make(settings, &plan, error));
    ocdm__image_loader *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the image loader", error));
    pthread_mutex_init(&made->lock, NULL); /* these three cannot fail where they have nothing to allocate, as on Linux */
    pthread_cond_init(&made->work, NULL);
    pthread_cond_init(&made->ready, NULL);
    made->plan = plan;
    made->floats = ocdm__image_floats(settings);
    made->slot_count = slots;
    ocdm_status status = ocdm__new(&made->slots, slots, sizeof *made->slots, "the image loader", error);
    OCDM_THEN(status, ocdm__new(&made->queue, slots, sizeof *made->queue, "the image loader", error));
    OCDM_THEN(status, ocdm__new(&made->threads, threads, sizeof *made->threads, "the image loader", error));
    OCDM_THEN(status, start_threads(made, threads, error));
    if (status == OCDM_OK)
        *loader = made;
    else
        ocdm__image_loader_destroy(made);
    return status;
}

void ocdm__image_loader_destroy(ocdm__image_loader *loader)
{
    if (!loader)
        return;
    pthread_mutex_lock(&loader->lock);
    loader->ending = true;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->lock);
    for (size_t i = 0; i < loader->thread_count; i++)
        pthread_join(loader->threads[i], NULL);
    for (size_t i = 0; loader->slots && i < loader->slot_count; i++) {
        OCDM_RELEASE(loader->slots[i].requests, loader->slots[i].errors);
    }
    pthread_cond_destroy(&loader->ready);
    pthread_cond_destroy(&loader->work);
    pthread_mutex_destroy(&loader->lock);
    OCDM_RELEASE(loader->slots, loader->queue, loader->threads, loader);
}

ocdm_status ocdm__image_loader_submit(ocdm__image_loader *loader, size_t slot_number, const ocdm__image_request *requests,
                                      size_t count, float *tensor, ocdm_error *error)
{
    if (slot_number >= loader->slot_count || loader->slots[slot_number].busy)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "wait for the batch in it first", "batch slot %zu is not free",
                          slot_number);
    struct slot *slot = &loader->slots[slot_number];
    bool failed = false;
    if (count > slot->room) {
        slot->requests = ocdm__grown(slot->requests, count, sizeof *slot->requests, &failed);
        slot->errors = ocdm__grown(slot->errors, count, sizeof *slot->errors, &failed);
        if (failed)
            return ocdm__fail_memory(error, "a batch of images");
        slot->room = count;
    }
    if (count)
        memcpy(slot->requests, requests, count * sizeof *requests);
    slot->tensor = tensor;
    slot->busy = true;
    pthread_mutex_lock(&loader->lock);
    slot->count = count;
    slot->taken = slot->done = 0;
    if (count) {
        loader->queue[(loader->queue_first + loader->queue_size) % loader->slot_count] = slot_number;
        loader->queue_size++;
        pthread_cond_broadcast(&loader->work);
    }
    pthread_mutex_unlock(&loader->lock);
    return OCDM_OK;
}

ocdm_status ocdm__image_loader_wait(ocdm__image_loader *loader, size_t slot_number, ocdm__image_outcome *outcome,
                                    ocdm_error *error)
{
    if (slot_number >= loader->slot_count || !loader->slots[slot_number].busy)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "batch slot %zu holds no batch", slot_number);
    struct slot *slot = &loader->slots[slot_number];
    pthread_mutex_lock(&loader->lock);
    while (slot->done < slot->count)
        pthread_cond_wait(&loader->ready, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    slot->busy = false;
    *outcome = (ocdm__image_outcome){.count = slot->count, .errors = slot->errors};
    for (size_t i = 0; i < slot->count; i++)
        outcome->failed += slot->errors[i].status != OCDM_OK;
    return OCDM_OK;
}

const ocdm__image_functions ocdm__image_loading = {ocdm__image_settings_default, ocdm__image_floats,
                                                   ocdm__image_loader_create,    ocdm__image_loader_destroy,
                                                   ocdm__image_loader_submit,    ocdm__image_loader_wait};
