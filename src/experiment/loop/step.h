/*
 * The parts of an online step: what is drawn from the memory, decoded, trained on and remembered. step.c has the step itself;
 * online.c, similarity.c and replay.c have its parts.
 */
#ifndef OCDM_EXPERIMENT_LOOP_STEP_H
#define OCDM_EXPERIMENT_LOOP_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "agent/batch.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "experiment/loop/settings.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

/* Seconds that the parts of all steps took. */
typedef struct ocdm__step_times {
    double draw;   /* choosing the samples to replay */
    double decode; /* waiting for samples and joining them */
    double train;
    double update; /* of the memory */
} ocdm__step_times;

/* Room for the labels of a batch. Start with all bytes zero. */
typedef struct ocdm__label_room {
    size_t *starts;
    uint32_t *labels;
    uint8_t *known;
    size_t start_room, label_room, known_room;
} ocdm__label_room;

/* Fills in starts, labels and known of a batch by its samples. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__batch_label(ocdm__batch *batch, const ocdm__stream_table *table, ocdm__label_room *room, ocdm_error *error);
void ocdm__label_room_clear(ocdm__label_room *room);

/* ---- replay -------------------------------------------------------------------------------------------------------------- */

/* What is drawn from the memory, and what is kept beside its samples. Start with all bytes zero. */
typedef struct ocdm__replay {
    uint32_t rule;   /* an ocdm__replay_policy */
    uint64_t seed;   /* of random numbers */
    size_t losses;   /* 1: the last loss of each sample is kept */
    size_t width;    /* floats that are kept of a sample: its loss, its logits */
    size_t capacity; /* samples of the memory */
    float *kept;     /* by slot; NULL: nothing */
    double *weights; /* by slot, for the draw under way; NULL with uniform draws */
} ocdm__replay;

/* OCDM_OK, OCDM_NO_MEMORY. Close it even after an error. */
ocdm_status ocdm__replay_open(ocdm__replay *replay, const ocdm__run_settings *settings, size_t class_count, ocdm_error *error);
void ocdm__replay_close(ocdm__replay *replay);

/* After a step: keeps what the learner made of the samples in these slots, if anything is kept: their loss, and the logits of
 * new ones. Sample i is in row rows[i] of the outputs if it is new; else `rows` is NULL and it is in row first + i. */
void ocdm__replay_note(ocdm__replay *replay, const ocdm__learner *learner, const uint32_t *slots, size_t count,
                       const uint32_t *rows, size_t first);

/* What is kept of samples that moved to other slots moves with them. */
void ocdm__replay_move(ocdm__replay *replay, const ocdm_move *moved, size_t count);

/* Draws up to `count` slots for a step by a rule that is not uniform; `keys` is room. Returns how many. */
size_t ocdm__replay_draw(const ocdm__replay *replay, const ocdm_memory *memory, uint64_t step, uint32_t *slots, double *keys,
                         size_t count);

/* ---- the parts of a step ------------------------------------------------------------------------------------------------- */

/* What a step works on; it belongs to the caller. */
typedef struct ocdm__online_parts {
    const ocdm__stream_table *table;
    const ocdm__learner *learner; /* NULL: the memory alone */
    ocdm__model_inputs *inputs;   /* of the same stream; NULL without a learner */
    ocdm_memory *memory;          /* NULL: nothing is replayed; ids in it are numbers of samples */
    uint32_t batch;               /* the most samples of a step */
    uint32_t replay;
    double balance;        /* power of the weights of classes in the loss; 0: none */
    bool ages;             /* the learner is told how long ago each class first came */
    double pseudo;         /* the probability above which a class that is not annotated is a pseudo-label; 0: there are none */
    ocdm__replay *replays; /* how samples are drawn, what is kept beside them; NULL: uniformly, nothing */
} ocdm__online_parts;

/* ---- similarity.c -------------------------------------------------------------------------------------------------------- */

/*
 * Computes how similar the gradients of a batch are to those of some samples in memory, for policies such as gss. Gradients
 * are those of the loss with respect to all parameters in evaluation mode; images are cropped in the middle and not augmented.
 */
struct ocdm__similarity {
    const ocdm__learner *learner;
    ocdm__model_inputs *inputs;
    unsigned slot; /* of the inputs, free whenever the memory is updated */
    const ocdm__stream_table *table;
    uint64_t step; /* under way: samples of the memory may pass through the store */
    size_t asked;  /* samples whose gradients were computed in this step */
    ocdm__label_room labels;
    size_t size; /* floats of a gradient */
    float *kept; /* the gradients of the samples in memory that are compared with, and their norms */
    double *norms;
    size_t kept_room;
    float *gradient;
    uint32_t *samples; /* room for those that can be decoded, then for those that are asked about */
    size_t sample_room;
};

/* For a memory whose ids are numbers of samples. OCDM_OK, OCDM_BAD_ARGUMENT (the learner has no gradients), OCDM_NO_MEMORY.
 * Close `opened` even after an error. */
ocdm_status ocdm__similarity_open(struct ocdm__similarity **opened, const struct ocdm__online_parts *parts, unsigned slot,
                                  ocdm_error *error);
void ocdm__similarity_close(struct ocdm__similarity *similarity);

/* ---- the step --------------------------------------------------------------------------------------------------------------
 */

/* Start with all bytes zero. */
typedef struct ocdm__online {
    ocdm__online_parts parts;
    struct ocdm__similarity *similarity; /* for a policy that compares gradients; else NULL */
    ocdm__step_times times;
    ocdm__batch batch; /* of the update under way; what it points to is below */
    uint64_t skipped;  /* samples of the stream whose image could not be decoded: they neither train nor enter the memory */
    unsigned turn;     /* updates so far: which slot of the inputs the stream's samples are in */
    double operations; /* of the last step: updates, and gradients that the policy compared; NaN: not known */

    uint32_t *samples; /* of the batch */
    uint32_t *slots;   /* of the memory, whose samples are replayed */
    ocdm_sample *offered;
    ocdm__label_room labels;
    float *input;         /* of the samples that this process has */
    uint64_t *seen;       /* samples of the stream so far that carried each class; NULL: the loss has no weights of classes */
    float *class_weights; /* of the step */
    float *ages;          /* steps since each class first came, this one included; 0: not yet; NULL: not counted */
    double *keys;         /* room to draw */
    float *dark;          /* logits that the replayed samples once had */
    float *guesses;       /* of the averaged model, a row for each sample of the batch; NULL: there are no pseudo-labels */
} ocdm__online;

/* Makes room for the steps. `online` must not move, since a memory with the policy gss calls it. OCDM_OK, OCDM_NO_MEMORY.
 * Close it even after an error. */
ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error);
void ocdm__online_close(ocdm__online *online);

/* Counts the classes of samples of the stream; ocdm__online_draw does it itself. For those before a resume. */
void ocdm__online_count(ocdm__online *online, const uint32_t *samples, size_t count);
bool ocdm__online_counts(const ocdm__online *online); /* whether anything is counted */

/* In their order. After an error the step cannot be made again. */

/* Makes the batch: samples of the stream, of which step, update, again, samples and count are given, then those that are drawn
 * from the memory. */
void ocdm__online_draw(ocdm__online *online, const ocdm__batch *stream);

/* Reads the samples of the batch, and begins to read those of the one after it, if its count is not 0. Samples that cannot be
 * decoded are no longer in the batch. OCDM_OK, and what reading a sample gives. */
ocdm_status ocdm__online_decode(ocdm__online *online, const ocdm__batch *ahead, ocdm_error *error);

/* Trains the learner on the batch. `loss` becomes NaN when there is nothing to train on. OCDM_OK, and what training gives
 * (OCDM_BAD_RECORD: the loss is not finite). */
ocdm_status ocdm__online_train(ocdm__online *online, double *loss, ocdm_error *error);

/* pseudo.c: adds pseudo-labels to those of the batch, if the settings ask for them. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__online_add_pseudo_labels(ocdm__online *online, ocdm_error *error);

/* Updates the memory with the samples of the stream. OCDM_OK, and what the memory gives. */
ocdm_status ocdm__online_remember(ocdm__online *online, ocdm_error *error);

#endif
