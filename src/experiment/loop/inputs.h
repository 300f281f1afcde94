/*
 * The samples of a stream as a network takes them: rows of features, or images as planes of floats, from the stream file itself
 * or from JPEG and PNG files. Batches are requested ahead and fetched when they are needed:
 *
 *     request(inputs, 0, &first, true);  request(inputs, 1, &second, true);
 *     wait(inputs, 0, &ready);  train on ready.input;  request(inputs, 0, &third, true);
 *
 * The result depends only on seed, sample number and step, not on the number of threads. Only one thread may call.
 *
 * Where several ranks share a learner, each prepares its part of every batch. Once it is prepared, all ranks know which samples
 * of the batch can be used:
 *
 *     deal(inputs, 0, &first, true, first.count, 0, first.count);  deal(inputs, 1, &second, ...);
 *     receive(inputs, 0, 0, NULL, &first);  train on first.input;  deal(inputs, 0, &third, ...);
 */
#ifndef OCDM_EXPERIMENT_LOOP_INPUTS_H
#define OCDM_EXPERIMENT_LOOP_INPUTS_H

#include "base/base.h"
#include "agent/batch.h"
#include "ranks/ranks.h"
#include "stream/file.h"
#include "stream/images/prepare.h"

struct ocdm__learner;

/* Batches that can be in preparation at a time. */
#define OCDM__INPUT_SLOTS 3

typedef struct ocdm__model_input_settings {
    uint32_t resize; /* images: the shorter side becomes this; 0: 256 for image files, as it is for images in the stream file */
    uint32_t crop;   /* then a square of this side; 0: 224 for image files, or `resize` when that is less; all of the
                        shorter side for images in the stream file. A square of all of it is random too: training puts a
                        border of an eighth around the image first. Ignored for features */
    bool keep_size;  /* image files keep their size, too, if `resize` is 0 */
    bool symmetric;  /* x / 127.5 - 1 (mobilenet1) instead of ImageNet's mean and deviation */
    bool strict;     /* an image that cannot be decoded ends the work; else it is left out and counted */
    bool skips_missing;          /* so is an image file that is not there or cannot be read */
    const char *image_root;      /* instead of the stream's own; NULL; "": paths are whole. Must live as long as the inputs */
    uint64_t seed;               /* of the augmentation */
    unsigned threads;            /* that decode, from 1; features need none */
    ocdm__image_storing storing; /* how images of the memory are stored; quality 0: they are not */
    const ocdm__image_functions *images; /* &ocdm__image_loading; NULL: features only, nothing can be decoded */
} ocdm__model_input_settings;

/* A stream as it is read. The first members may be read, the others are of inputs.c. */
typedef struct ocdm__model_inputs {
    const ocdm__stream *stream;
    size_t size;              /* floats of a sample */
    uint32_t side;            /* of an image; 0 for features */
    uint32_t resize;          /* what the shorter side of an image has before the square is taken; 0 for features */
    uint64_t skipped;         /* how many times an image was left out */
    ocdm_error first_skipped; /* then: why the first one was */

    const char *root; /* of image files; NULL for other streams */
    bool strict, skips_missing;
    const ocdm__image_functions *images;
    ocdm__image_loader *loader;      /* NULL for features */
    const struct ocdm__store *store; /* NULL: none */
    uint64_t stored_since;           /* the first step in which samples of the memory pass through it */
    ocdm__image_request *requests;
    size_t request_room;
    struct ocdm__input_slot {
        float *tensor;
        uint32_t *usable;
        size_t room; /* samples that both have room for */
        char *paths; /* of the batch's image files, each ended by a NUL */
        size_t path_room;
        size_t count;
        bool busy, training;
        size_t first, end; /* the positions in a batch that was dealt which are being prepared; 0 to 0: none are */
    } slots[OCDM__INPUT_SLOTS];
    _Atomic uint32_t *sums; /* of the image files that were read, by sample; 0: not read; NULL: nobody compares them */

    const struct ocdm__learner *learner; /* whose batches are dealt: set it before; NULL: this process has all samples */
    bool reports;              /* where a rank cannot prepare its part, all get its error; else that rank ends them all */
    uint64_t lost;             /* samples of such batches so far that no rank could prepare */
    uint32_t *unusable;        /* for each sample of the batch: 1 if it cannot be prepared */
    uint32_t *usable, *chosen; /* what is left of it: positions, and their samples; both lists are behind the first */
    size_t batch_room;
} ocdm__model_inputs;

/*
 * Prepares to read a stream, which must outlive the inputs.
 *
 * OCDM_OK; OCDM_BAD_FILE when the stream has neither features nor images, or a sample without its path; OCDM_BAD_ARGUMENT
 * (sizes that do not fit, no folder to start from); OCDM_LIMIT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__model_inputs_open(const ocdm__stream *stream, const ocdm__model_input_settings *settings,
                                    ocdm__model_inputs **inputs, ocdm_error *error);

/* Releases everything, at any moment. Does nothing for NULL. */
void ocdm__model_inputs_close(ocdm__model_inputs *inputs);

/*
 * Starts preparing a batch. Images are prepared by threads while the caller continues; features are available at once.
 *
 * slot      below OCDM__INPUT_SLOTS and free: never used, or waited for
 * batch     step, update, samples, count and fresh are read: `update` is for the augmentation, and samples of the memory, which
 * come after the `fresh` ones, pass through the store from a certain step on training  a random square, perhaps mirrored; else
 * the middle
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY; on error the slot is free.
 */
ocdm_status ocdm__model_inputs_request(ocdm__model_inputs *inputs, unsigned slot, const ocdm__batch *batch, bool training,
                                       ocdm_error *error);

/*
 * Waits for a batch; its slot is free afterwards, whatever comes back. `ready` becomes the samples that could be prepared:
 * their input, one after another; `count`, how many they are; and for each its position in what was requested, ascending, in
 * `usable`. Both arrays live until the slot's next request.
 *
 * OCDM_OK; OCDM_BAD_ARGUMENT when the slot holds none; OCDM_IO for an image file that is not there or cannot be read,
 * OCDM_NO_MEMORY; with `strict` also OCDM_BAD_FILE and OCDM_LIMIT for an image that cannot be decoded. Of several such images
 * the batch's first is reported.
 */
ocdm_status ocdm__model_inputs_wait(ocdm__model_inputs *inputs, unsigned slot, ocdm__batch *ready, ocdm_error *error);

/* ---- batches of a learner ---------------------------------------------------------------------------------------------- */

/* Starts preparing those samples at positions `first` to `end` - 1 that are this process's when `count` samples are trained on
 * or predicted at once. Step, update, samples and fresh of the batch are read. A slot may have been asked for these samples
 * already, when `count` was expected to be another number: it keeps them, unless this process has other ones now. OCDM_OK, and
 * what ocdm__model_inputs_request gives. */
ocdm_status ocdm__model_inputs_deal(ocdm__model_inputs *inputs, unsigned slot, const ocdm__batch *batch, bool training,
                                    size_t count, size_t first, size_t end, ocdm_error *error);

/*
 * Waits for a batch that was dealt to one slot, named twice, or to two, which follow each other in the batch: their input is
 * joined in `joined`, room for all samples, and NULL for one slot.
 *
 * Then `input` of the batch has this process's samples, and the batch the samples that every rank can use: `usable` are their
 * positions in what the batch was. Both arrays live until the next batch. OCDM_OK, and what ocdm__model_inputs_wait gives.
 */
ocdm_status ocdm__model_inputs_receive(ocdm__model_inputs *inputs, unsigned first, unsigned second, float *joined,
                                       ocdm__batch *batch, ocdm_error *error);

/* Goes through samples piece by piece: one is prepared while the caller works on the one before. Start with the first four
 * members, slots 0 and 1 of the inputs free or left behind by another walk, and all else zero. */
typedef struct ocdm__walk {
    ocdm__model_inputs *inputs;
    const uint32_t *samples;
    size_t count, most; /* samples; of a piece */
    size_t first, next; /* where the piece under way begins, and the one after it: they are equal at the end */
    unsigned slot;
} ocdm__walk;

/* The next piece, to predict. OCDM_OK, and what ocdm__model_inputs_deal and ocdm__model_inputs_receive give. */
ocdm_status ocdm__walk_next(ocdm__walk *walk, ocdm__batch *piece, ocdm_error *error);

/* ---- what cannot be used ----------------------------------------------------------------------------------------------- */

/* Why a sample could not be prepared, found by trying it again in a free slot; OCDM_OK: now it could. */
ocdm_error ocdm__model_inputs_reason(ocdm__model_inputs *inputs, unsigned slot, uint32_t sample);

/* How many images were left out, and why, as a line of text without an end, cut to the room; `skipped` may count those before a
 * resume, too. */
#define OCDM__SKIPPED_TEXT 640
void ocdm__model_inputs_skipped_text(const ocdm__model_inputs *inputs, uint64_t skipped, char text[OCDM__SKIPPED_TEXT]);

/* The error if none of the `count` images of a part ("training", "test") could be decoded: OCDM_BAD_FILE. */
ocdm_status ocdm__model_inputs_fail_unusable(const ocdm__model_inputs *inputs, const char *part, uint64_t count,
                                             ocdm_error *error);

/*
 * For several ranks, each of which reads its own image files. The first, before any is read, keeps a checksum of every file
 * from then on; a stream without image files has none. The second compares those of all ranks and ends all if one file was read
 * as two different ones: both decode, and the result would depend on which rank has which sample. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__model_inputs_keep_sums(ocdm__model_inputs *inputs, ocdm_error *error);
ocdm_status ocdm__model_inputs_compare_sums(const ocdm__model_inputs *inputs, const ocdm__ranks *ranks, ocdm_error *error);

#endif
