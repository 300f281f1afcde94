/*
 * Images prepared by threads, ahead of the network. The caller hands in batches and fetches them in any order:
 *
 *     submit(loader, 0, first, 20, tensor[0]);  submit(loader, 1, second, 20, tensor[1]);
 *     wait(loader, 0, &result);  train on tensor[0];  submit(loader, 0, third, 20, tensor[0]);
 *     wait(loader, 1, &result);  ...
 *
 * A batch lives in a slot, and there are few of them, which bounds what is under way. What is in the tensors does not hang on
 * the number of threads or on their timing. Submit, wait and destroy are called by one thread.
 */
#ifndef OCDM_STREAM_IMAGES_LOADER_H
#define OCDM_STREAM_IMAGES_LOADER_H

#include "stream/images/prepare.h"

#define OCDM__IMAGE_MAX_THREADS 256u
#define OCDM__IMAGE_MAX_SLOTS 64u

typedef struct ocdm__image_loader ocdm__image_loader;

/*
 * Starts `threads` threads (1 to OCDM__IMAGE_MAX_THREADS) for `slots` batches (1 to OCDM__IMAGE_MAX_SLOTS; two or three keep a
 * network busy). The threads take no signals.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY, OCDM_LIMIT when the system gives no more threads.
 */
ocdm_status ocdm__image_loader_create(const ocdm__image_settings *settings, size_t threads, size_t slots,
                                      ocdm__image_loader **loader, ocdm_error *error);

/* Ends the threads, each after the image that it is at, and gives everything back. Tensors of batches that were not waited for
 * are left half written; nothing touches them afterwards. NULL is fine. */
void ocdm__image_loader_destroy(ocdm__image_loader *loader);

/*
 * Hands in a batch. Image i goes to tensor + i * ocdm__image_floats.
 *
 * slot      free: never used, or waited for
 * requests  `count` of them, copied; the paths and planes they point to must live until the batch is waited for
 * tensor    the caller's, not to be touched until then
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. Does not wait.
 */
ocdm_status ocdm__image_loader_submit(ocdm__image_loader *loader, size_t slot, const ocdm__image_request *requests,
                                      size_t count, float *tensor, ocdm_error *error);

/* How a batch went. */
typedef struct ocdm__image_outcome {
    size_t count;  /* images of the batch */
    size_t failed; /* how many could not be prepared; their part of the tensor is all zero */
    const ocdm_error
        *errors; /* one for each image, its status OCDM_OK where all went well; lives until the slot's next submit */
} ocdm__image_outcome;

/* Waits until a batch that was submitted is ready; its slot is free then. OCDM_OK whatever happened to its images;
 * OCDM_BAD_ARGUMENT when the slot holds no batch. */
ocdm_status ocdm__image_loader_wait(ocdm__image_loader *loader, size_t slot, ocdm__image_outcome *outcome, ocdm_error *error);

#endif
