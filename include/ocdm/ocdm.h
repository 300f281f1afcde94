/*
 * ocdm: a fixed-size replay memory for multi-label online continual learning.
 *
 * The memory holds at most M samples and keeps their class distribution near a target (OCDM: Optimizing Class Distribution
 * in Memory), or follows one of the policies that it is compared with. It keeps slots, not payloads: each of the slots 0..M-1
 * has a 64-bit id and a label set; you keep images, tensors or lines of text in an array of M, and copy what `update` tells you
 * to.
 *
 *     ocdm_options options = ocdm_options_default();
 *     options.capacity = 1000;
 *     ocdm_memory *memory = NULL;
 *     ocdm_error error;
 *     if (ocdm_memory_create(&options, &memory, &error) != OCDM_OK) { fputs(error.message, stderr); exit(1); }
 *     while (next_batch(batch, payload_of_batch)) {
 *         uint32_t replay[10];
 *         size_t drawn = ocdm_memory_draw(memory, 10, replay);
 *         train(batch, replay, drawn);
 *         ocdm_change change;
 *         if (ocdm_memory_update(memory, batch, 10, &change, &error) != OCDM_OK) break;
 *         for (size_t i = 0; i < change.stored; i++)
 *             payload[change.slot[i]] = payload_of_batch[change.item[i]];
 *     }
 *     ocdm_memory_destroy(memory);
 *
 * Contents: status and errors; samples and options; the memory; queries; files and bytes; gradients; policies, including your
 * own.
 *
 * For every function in this header:
 *   - nothing prints, exits or aborts; a function that can fail returns an ocdm_status and fills an ocdm_error that you own;
 *   - on error nothing changes, and out-parameters are not written;
 *   - the same options and the same stream give the same memory on any compiler, optimisation level and CPU;
 *   - a memory may be used by one thread at a time; different memories are independent.
 *
 * The library needs libc and libm only. Types and functions start with ocdm_, constants with OCDM_.
 */
#ifndef OCDM_OCDM_H
#define OCDM_OCDM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. Only a change of the major number may break callers: until 2.0 no name of a public header goes or
 * changes its meaning, and a struct grows only if it begins with its size or belongs to the library. tests/abi.txt lists them.
 */
#define OCDM_VERSION_MAJOR 1
#define OCDM_VERSION_MINOR 0
#define OCDM_VERSION_PATCH 0

/* The version of the library that is linked, as "major.minor.patch". Never NULL; do not free it. */
const char *ocdm_version(void);

/* ---- status and errors ---------------------------------------------------------------------------------------------- */

/* Every status: name, number, meaning. New ones are appended; numbers never change. 10 and 12 are used by programs. */
#define OCDM_STATUS_MAP(X)                                                                                                     \
    X(OK, 0, "ok")                                                                                                             \
    X(BAD_ARGUMENT, 1, "an argument is missing or out of range")                                                               \
    X(NO_MEMORY, 2, "out of memory")                                                                                           \
    X(DUPLICATE_ID, 3, "an id is already in the memory, or twice in the batch")                                                \
    X(TOO_MANY_LABELS, 4, "a sample has more labels than the limit")                                                           \
    X(NOT_SINGLE_LABEL, 5, "the policy takes samples with one label only")                                                     \
    X(BAD_DECISION, 6, "the policy named a slot that the pool does not have")                                                  \
    X(IO, 7, "reading or writing failed")                                                                                      \
    X(BAD_FILE, 8, "a file is damaged or not what it should be")                                                               \
    X(UNKNOWN_NAME, 9, "no policy, distance or tie rule has that name")                                                        \
    X(LIMIT, 11, "a limit was reached")                                                                                        \
    X(UNKNOWN_ID, 13, "no sample in the memory has that id")

/* What a fallible function returns: OCDM_OK or why it failed. */
typedef enum ocdm_status {
#define OCDM_STATUS_ENUM(name, number, text) OCDM_##name = (number),
    OCDM_STATUS_MAP(OCDM_STATUS_ENUM)
#undef OCDM_STATUS_ENUM
} ocdm_status;

/* The meaning of a status in a few words. Never NULL, for any number; do not free it. */
const char *ocdm_status_text(ocdm_status status);

/*
 * What went wrong, in storage of the caller, so that it works when memory is exhausted. Functions that take an `ocdm_error *`
 * accept NULL and write to it only if they fail. Both texts are one line, end with a NUL, and are truncated if very long.
 */
typedef struct ocdm_error {
    ocdm_status status;
    char message[512]; /* what and where */
    char hint[256];    /* what to do about it; may be empty */
} ocdm_error;

/* ---- samples and options -------------------------------------------------------------------------------------------- */

/* The limits within which every decision is exact; beyond them a call fails. n_i counts to 2^63. rho ln n_i is rounded to a
 * grid of 2^-32: with rho other than 0, a class that was seen more than 2^32 |rho| times may keep its target when it is seen
 * once more. */
#define OCDM_MAX_LABELS 65535u        /* labels on one sample */
#define OCDM_MAX_CAPACITY 2147483647u /* slots, M */
#define OCDM_MAX_RHO 16.0             /* |rho| */
#define OCDM_MAX_TOLERANCE 1e6
#define OCDM_MIN_WEIGHT ((double)1e-6) /* of a class: with these bounds no target underflows, whatever rho and n_i are */
#define OCDM_MAX_WEIGHT 1e6

#define OCDM_MAX_SHARD UINT32_MAX

/* The value of a 32-bit position that means "no slot" or "no item". */
#define OCDM_NONE UINT32_MAX

/*
 * One sample: an id of your choice, unique among the samples in memory, and its label set Y. Class ids are any 32-bit numbers
 * and need not be declared. Labels may be in any order; a repeated label counts once. A sample without labels is
 * allowed, but in no count: the policy ocdm deletes it only when no other deletion makes the distance smaller, so that such
 * samples accumulate. Offer them only if you want them.
 */
typedef struct ocdm_sample {
    uint64_t id;
    const uint32_t *labels; /* may be NULL when label_count is 0 */
    size_t label_count;
} ocdm_sample;

/* Dist(p_omega, p): how far the class distribution in memory is from the target. Natural logarithms. */
typedef enum ocdm_distance {
    OCDM_KL = 0,         /* "kl": KL(p_omega || p), the paper's choice and the fastest; a class with no sample adds 0 */
    OCDM_REVERSE_KL = 1, /* "reverse-kl": KL(p || p_omega); a class with no sample counts as half a sample */
    OCDM_L2 = 2,         /* "l2": the sum of squared differences */
    OCDM_TV = 3          /* "tv": total variation, half the sum of absolute differences */
} ocdm_distance;

/*
 * Which sample is deleted when several are equally good, as samples with equal label sets always are. No rule makes what is
 * kept a uniform draw over time: a new sample that fits better replaces an old one whatever its key (docs/methods.md has a
 * table).
 */
typedef enum ocdm_tie {
    OCDM_TIE_KEY = 0,    /* "key": smallest random key, drawn on arrival: among equally good samples age does not matter */
    OCDM_TIE_OLDEST = 1, /* "oldest": first in, first out */
    OCDM_TIE_NEWEST = 2, /* "newest": last in, first out */
    OCDM_TIE_UNIFORM = 3 /* "uniform": a fresh uniform draw each time; favours recent samples */
} ocdm_tie;

/* The name of a distance or tie rule as in files and on the command line, or NULL for a number that is none of them. Counting
 * from 0 until NULL lists them. Static data; do not free it. */
const char *ocdm_distance_name(ocdm_distance distance);
const char *ocdm_tie_name(ocdm_tie tie);

/* A distance or tie rule by its name: OCDM_OK, OCDM_UNKNOWN_NAME, or OCDM_BAD_ARGUMENT for NULL. */
ocdm_status ocdm_distance_find(const char *name, ocdm_distance *distance);
ocdm_status ocdm_tie_find(const char *name, ocdm_tie *tie);

/* A replay memory. Opaque; made by ocdm_memory_create or ocdm_memory_load. */
typedef struct ocdm_memory ocdm_memory;

/* A rule that decides which samples are kept: see "policies" below. */
typedef struct ocdm_policy ocdm_policy;

/*
 * The options of a memory. Start from ocdm_options_default() and change what you need.
 *
 * The struct begins with its own size, so that later versions can append members: a program compiled with an older header
 * passes a smaller size, and the other members get their defaults.
 */
typedef struct ocdm_options {
    size_t size;               /* sizeof(ocdm_options) */
    uint32_t capacity;         /* M, 1 to OCDM_MAX_CAPACITY; default 1000 */
    uint32_t batch;            /* `update` takes batches up to this size, and up to 2^20, without allocating; default 10 */
    const ocdm_policy *policy; /* must outlive the memory; default the policy "ocdm" */
    ocdm_distance distance;    /* minimised by ocdm and onlyone, and reported; default OCDM_KL */
    ocdm_tie tie;              /* for ocdm and onlyone; default OCDM_TIE_KEY */
    double rho;                /* power of the target p_i ~ w_i n_i^rho, eq. (5), with weights w_i = 1; default 0: equal */
    uint64_t seed;             /* of all random choices; default 0 */
    void *policy_data;         /* passed to the `create` of a policy of your own; default NULL */
    double tolerance;          /* deletions that leave at most tolerance / S more than the best tie with it, S the number of
                                  labels in memory and batch; 0, the default, is the paper's rule; up to OCDM_MAX_TOLERANCE */
    uint64_t shard;            /* which part of a stream it samples, for ocdm_memory_merge: keys follow from seed, shard and
                                  arrival; default 0, up to OCDM_MAX_SHARD */
    uint32_t minimum;          /* of every class that ocdm_memory_set_minimum gives no other; default 0 */
} ocdm_options;

/* The defaults named above. Cannot fail. */
ocdm_options ocdm_options_default(void);

/* ---- the memory ----------------------------------------------------------------------------------------------------- */

/*
 * Creates an empty memory.
 *
 * options  copied; the policy that it points to is not, and must outlive the memory
 * memory   set on success; yours to destroy
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (the message names the field; a size that no version had), OCDM_NO_MEMORY, or what the policy's
 * `create` returns.
 * Cost: allocates room for `capacity` + `batch` samples, up to about a million; a larger memory grows as it fills. About 0.2 kB
 * per sample are used; several times as much address space is reserved.
 */
ocdm_status ocdm_memory_create(const ocdm_options *options, ocdm_memory **memory, ocdm_error *error);

/* Frees a memory and everything it owns. Accepts NULL. */
void ocdm_memory_destroy(ocdm_memory *memory);

/* A sample that was in memory or batch before an update and is not in memory after it. */
typedef struct ocdm_departure {
    uint64_t id;
    uint32_t slot; /* its slot before the update; OCDM_NONE if it was in the batch */
    uint32_t item; /* its number in the batch; OCDM_NONE if it was in memory */
} ocdm_departure;

/* A sample that was kept but changed its slot because a lower one became free: by forget and resize, never by update. */
typedef struct ocdm_move {
    uint32_t from;
    uint32_t to;
} ocdm_move;

/* What an update, forget or resize did. The arrays belong to the memory and live until the next of these calls, or its
 * destruction. */
typedef struct ocdm_change {
    size_t stored;              /* how many samples of the batch are in memory now */
    const uint32_t *slot;       /* stored of them: slot[i] ... */
    const uint32_t *item;       /* ... now holds item[i] of the batch; items ascend */
    size_t left_count;          /* how many of memory and batch were not kept */
    const ocdm_departure *left; /* left_count of them, in order of deletion */
    size_t moved_count;         /* how many samples changed their slot; 0 after an update */
    const ocdm_move *moved;     /* moved_count of them: copy payload[from] to payload[to]; the order does not matter */
} ocdm_change;

/*
 * Offers a batch to the memory. The policy decides which samples are kept; at most `capacity` remain.
 *
 * The memory stores ids and labels only. Copy payloads yourself before the next call:
 *     for (size_t i = 0; i < change.stored; i++)
 *         payload[change.slot[i]] = batch_payload[change.item[i]];
 * A sample that is kept never changes its slot.
 *
 * batch    `count` samples whose ids are not in the memory
 * change   filled on success; may be NULL
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_DUPLICATE_ID, OCDM_TOO_MANY_LABELS, OCDM_NO_MEMORY; OCDM_NOT_SINGLE_LABEL if the policy has
 * the trait OCDM_SINGLE_LABEL; what your ocdm_similarity returns; what a policy of yours returns, OCDM_BAD_DECISION if it names
 * a slot that is none; OCDM_LIMIT beyond 2^31 labels in all label sets. On error the memory is unchanged. Cost: 0.5 to 1 us per
 * sample for ocdm with OCDM_KL at M = 1000, depending on the stream; it grows with the number of distinct label sets. Allocates
 * only for a new class, or when the batch, its labels, a label set or the labels of the whole pool are larger than ever before.
 */
ocdm_status ocdm_memory_update(ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_change *change,
                               ocdm_error *error);

/*
 * ocdm_memory_update on flat arrays, for callers in other languages: sample i has the id ids[i] and the labels
 * labels[offsets[i]] up to, not including, labels[offsets[i + 1]].
 *
 * ids      `count` of them
 * offsets  `count` + 1, never decreasing; offsets[0] need not be 0
 * labels   may be NULL when no sample has any
 *
 * Result and cost as for ocdm_memory_update; also OCDM_BAD_ARGUMENT if offsets decrease.
 */
ocdm_status ocdm_memory_update_flat(ocdm_memory *memory, const uint64_t *ids, const uint64_t *offsets, const uint32_t *labels,
                                    size_t count, ocdm_change *change, ocdm_error *error);

/*
 * Deletes the sample with this id, for example after a deletion request. m_i of its classes decreases; n_i does not, since the
 * sample has been seen. Slots stay without gaps: the sample in the last slot moves into the free one.
 *
 * change   filled on success; may be NULL. `left` names the sample, `moved` the one that moved, if one did:
 *              for (size_t i = 0; i < change.moved_count; i++)
 *                  payload[change.moved[i].to] = payload[change.moved[i].from];
 *
 * The next sample that the policy admits takes the free place without a decision, as when the memory first filled. So rs and
 * the other reservoirs are no longer exact: the samples that fill the gaps are more likely to be in memory than other samples
 * of that time. cbes and cbrs treat a class that lost its last sample in memory as one that was never full.
 *
 * OCDM_OK, OCDM_UNKNOWN_ID, OCDM_BAD_ARGUMENT. On error the memory is unchanged. Allocates nothing. O(labels) on average.
 */
ocdm_status ocdm_memory_forget(ocdm_memory *memory, uint64_t id, ocdm_change *change, ocdm_error *error);

/*
 * Changes the capacity M. Growing costs nothing: no sample moves, and room is allocated as the memory fills. Shrinking deletes
 * samples, as an update with an empty batch would:
 *   ocdm, onlyone, max, random   by their rule for pools
 *   rs, policies of your own with `replace` only   a uniformly drawn member
 *   prs, prs-released   by their sample-out rule: a class above its share, and the sample of it that costs least
 *   cbes, cbrs   a uniform sample of a largest class
 *   gss, gss-released   slot i with probability C_i / sum C
 * Samples in slots below the new capacity keep their slots; the others move into free slots.
 *
 * capacity  1 to OCDM_MAX_CAPACITY
 * change    filled on success; may be NULL. First free the payloads of `left`, then copy those of `moved`
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY, what a policy of your own returns. On error the memory is unchanged. Cost: that
 * of the policy's decisions, and O(size) if the memory shrinks.
 */
ocdm_status ocdm_memory_resize(ocdm_memory *memory, uint32_t capacity, ocdm_change *change, ocdm_error *error);

/*
 * Says that the next batch begins a new task. Policies with the trait OCDM_NEEDS_TASKS make room for it (bat-ocdm: the memory
 * of each earlier task is shrunk by OCDM to M / T when task T begins); to all others it means nothing. The first task may be
 * left out; a task that begins right after another one, without a batch between them, is the same task.
 *
 * change    filled on success; may be NULL. As that of ocdm_memory_resize
 *
 * OCDM_OK; OCDM_LIMIT: there are more tasks than samples in the memory; OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY, what a policy of
 * your own returns. On error the memory is unchanged. Cost: as for ocdm_memory_resize.
 */
ocdm_status ocdm_memory_begin_task(ocdm_memory *memory, ocdm_change *change, ocdm_error *error);

/*
 * Joins memories that sampled the shards of a stream, as `ocdm merge` joins samples: what they kept is offered in one batch to
 * a memory that has seen what all of them have seen, and is deleted down to the capacity by their policy. Among equals, samples
 * have the places that they had in their shards, so that the result depends neither on the order of `shards` nor on when and
 * where they were sampled.
 *
 * Copy payloads by id: that of the sample in slot i of the result is in the one shard where ocdm_memory_find finds it.
 *
 *     options.shard = k;                                    // in process or on machine k, with a part of the stream
 *     ocdm_memory_create(&options, &memory, &error);        // ... then updates, then ocdm_memory_save
 *
 *     ocdm_memory_merge(loaded, 8, 1000, &merged, &error);  // after ocdm_memory_load of all of them
 *
 * shards    `count` memories of the policies ocdm or onlyone, with different options.shard and otherwise the same options,
 *           weights and minimums; unchanged. Each should have at least `capacity` slots, so that nothing is missing
 * capacity  of the result
 * merged    set on success; yours to destroy. It can be updated, but not be merged again
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_DUPLICATE_ID if two shards kept samples with one id, OCDM_LIMIT if minimums do not fit,
 * OCDM_NO_MEMORY. Cost: an update with all samples of the shards.
 */
ocdm_status ocdm_memory_merge(const ocdm_memory *const *shards, size_t count, uint32_t capacity, ocdm_memory **merged,
                              ocdm_error *error);

/*
 * Gives a class a weight w: the target becomes p_i = w_i n_i^rho / sum_j w_j n_j^rho. The default is 1.
 * The class need not have been seen. Weights may be changed between updates and apply from the next decision.
 *
 * ocdm and onlyone minimise the distance to this target; all policies report it (ocdm_memory_counts, ocdm_memory_distance).
 * The shares of prs are not weighted. Decisions are exact: ln w is rounded to the grid of 2^-32, like rho ln n. Weights are
 * saved with the memory.
 *
 * weight   OCDM_MIN_WEIGHT to OCDM_MAX_WEIGHT
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. On error the memory is as it was. O(1) on average.
 */
ocdm_status ocdm_memory_set_weight(ocdm_memory *memory, uint32_t class_id, double weight, ocdm_error *error);

/*
 * Keeps at least this many samples of a class, for the policies ocdm and onlyone under OCDM_KL: when the sample that the policy
 * would delete has a class with no more than its minimum, the best deletion among the samples without such a class is made
 * instead. There is one if the minimums add up to no more than the capacity, and often beyond, since a sample may serve
 * several; if there is none, the update fails with OCDM_LIMIT, and the memory is unchanged. Nothing brings back what was
 * deleted before. The class need not have been seen. Minimums are saved with the memory.
 *
 * minimum  of this class, instead of options.minimum; up to OCDM_MAX_CAPACITY
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (also for other policies and distances), OCDM_NO_MEMORY. On error the memory is as it was. O(1) on
 * average; an update that a minimum changes looks at all distinct label sets.
 */
ocdm_status ocdm_memory_set_minimum(ocdm_memory *memory, uint32_t class_id, uint32_t minimum, ocdm_error *error);

/*
 * Draws slots to replay: uniform, without replacement, in random order.
 *
 * slot     room for `count` slot numbers
 *
 * Returns the number of slots drawn: the smaller of `count` and the memory's size; 0 if memory or slot is NULL, which does not
 * count as a draw. The n-th draw depends only on the seed, n, `count` and the size, so draws do not affect which samples are
 * kept. O(count); allocates nothing.
 */
size_t ocdm_memory_draw(ocdm_memory *memory, size_t count, uint32_t *slot);

/* ---- queries --------------------------------------------------------------------------------------------------------- */

/*
 * These functions cannot fail: for a NULL memory, a slot that is not in use, or an id that is not in memory, they return 0,
 * NULL, NaN or OCDM_NONE.
 */

/* The number of samples in memory; inside a policy's `remove` that of the pool, which may exceed the capacity. O(1). */
uint32_t ocdm_memory_size(const ocdm_memory *memory);

/* The options of the memory. They belong to the memory. */
const ocdm_options *ocdm_memory_options(const ocdm_memory *memory);

/* The number of samples offered so far, kept or not. O(1). */
uint64_t ocdm_memory_arrived(const ocdm_memory *memory);

/* The id of the sample in `slot`, a number below ocdm_memory_size. O(1). */
uint64_t ocdm_memory_id(const ocdm_memory *memory, uint32_t slot);

/* The position, from 0, of the sample in `slot` among all samples offered. O(1). */
uint64_t ocdm_memory_arrival(const ocdm_memory *memory, uint32_t slot);

/* The slot that holds `id`, or OCDM_NONE. Inside a policy, samples of the batch being offered are not found. O(1) on average.
 */
uint32_t ocdm_memory_find(const ocdm_memory *memory, uint64_t id);

/*
 * The label set of the sample in `slot`, ascending, no repeats: writes at most `room` class ids to `label` (may be NULL when
 * room is 0) and returns how many the sample has. O(k log k) for k labels, O(k room) if room is too small.
 */
size_t ocdm_memory_labels(const ocdm_memory *memory, uint32_t slot, uint32_t *label, size_t room);

/*
 * All label sets at once, as compressed sparse rows: the labels of slot i are label[offset[i]] up to, not including,
 * label[offset[i + 1]], ascending.
 *
 * offset   room for ocdm_memory_size + 1 numbers; may be NULL
 * label    room for `room` class ids; nothing is written to it if that is too small; may be NULL if room is 0
 *
 * Returns the total number of labels. O(labels).
 */
size_t ocdm_memory_all_labels(const ocdm_memory *memory, uint64_t *offset, uint32_t *label, size_t room);

/* One class as the memory knows it. */
typedef struct ocdm_class {
    uint32_t id;
    uint32_t kept; /* m_i: samples in memory with this class */
    uint64_t seen; /* n_i: samples offered so far with this class */
    double target; /* p_i over all classes seen so far; they sum to 1 */
} ocdm_class;

/*
 * Every class seen so far, in order of first appearance: writes at most `room` of them to `classes` (may be NULL when room is
 * 0) and returns how many there are. Inside a policy, classes that come with the batch are listed already; one that no sample
 * was counted for yet has seen and target 0. O(number of classes).
 */
size_t ocdm_memory_counts(const ocdm_memory *memory, ocdm_class *classes, size_t room);

/* m_i and n_i of one class; 0 for a class never seen. O(1) on average. */
uint32_t ocdm_memory_kept(const ocdm_memory *memory, uint32_t class_id);
uint64_t ocdm_memory_seen(const ocdm_memory *memory, uint32_t class_id);

/* The weight of a class, 1 unless ocdm_memory_set_weight gave it another; its minimum. O(1) on average. */
double ocdm_memory_weight(const ocdm_memory *memory, uint32_t class_id);
uint32_t ocdm_memory_minimum(const ocdm_memory *memory, uint32_t class_id);

/* The classes that a reported distance includes. */
typedef enum ocdm_scope {
    OCDM_IN_PLAY = 0,  /* those in memory or batch at the last update: the objective that OCDM minimises */
    OCDM_SEEN_EVER = 1 /* all classes seen so far, so that lost classes count */
} ocdm_scope;

/*
 * Dist(p_omega, p) of the samples in memory, by options.distance. NaN if no sample in memory has a label. O(number of classes).
 */
double ocdm_memory_distance(const ocdm_memory *memory, ocdm_scope scope);

/* How much searching ocdm and onlyone have done, in counted steps: the same on every machine, so that two versions of a search
 * can be compared without a clock. Other versions of the library may need other numbers of them. */
typedef struct ocdm_work {
    uint64_t deletions; /* samples deleted by searching */
    uint64_t searches;  /* times that the scores of all label sets were read */
    uint64_t steps;     /* scores read or changed */
} ocdm_work;

/* The work since the memory was made or loaded; all 0 for policies that do not minimise a distance. O(1). */
ocdm_work ocdm_memory_work(const ocdm_memory *memory);

/* ---- files and bytes ------------------------------------------------------------------------------------------------ */

/*
 * Writes the memory to a safetensors file (docs/memory-format.md). The file is replaced atomically: temporary file, fsync,
 * rename, fsync of the folder.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_IO (the message names the path and the system's reason), OCDM_NO_MEMORY, what the policy's
 * `save` returns, OCDM_LIMIT if its state is too large for a file. If only the fsync of the folder fails, the new file is
 * in place.
 */
ocdm_status ocdm_memory_save(const ocdm_memory *memory, const char *path, ocdm_error *error);

/*
 * Reads a memory that ocdm_memory_save wrote. The whole file is validated first. The loaded memory continues bit for bit like
 * the saved one.
 *
 * policy   NULL for a policy of the library, found by the name in the file; otherwise your own, with the name in the file
 * data     for the policy's `create`, as options.policy_data; NULL for policies of the library
 * memory   set on success; yours to destroy
 *
 * OCDM_OK, OCDM_IO, OCDM_BAD_FILE (the message says what and where), OCDM_UNKNOWN_NAME, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm_memory_load(const char *path, const ocdm_policy *policy, void *data, ocdm_memory **memory, ocdm_error *error);

/*
 * Writes the bytes of ocdm_memory_save to a buffer.
 *
 * bytes    room for `room` bytes; nothing is written if that is too small; may be NULL if room is 0
 * size     set to the number of bytes
 *
 * OCDM_OK, also if room is too small; errors as for ocdm_memory_save, except OCDM_IO. O(labels); temporarily uses twice the
 * size of the file in memory.
 */
ocdm_status ocdm_memory_save_bytes(const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                                   ocdm_error *error);

/* ocdm_memory_load from a buffer: the bytes of a file or of ocdm_memory_save_bytes. They are not needed afterwards. */
ocdm_status ocdm_memory_load_bytes(const unsigned char *bytes, size_t size, const ocdm_policy *policy, void *data,
                                   ocdm_memory **memory, ocdm_error *error);

/* ---- gradients ------------------------------------------------------------------------------------------------------ */

/*
 * A question of a policy with the trait OCDM_NEEDS_GRADIENTS, such as gss: how similar are the gradients of some samples in
 * memory to those of the batch? The memory has no payloads and no network; the caller computes the gradients and returns
 * cosines.
 *
 * A sample's gradient g is that of its loss by all parameters, in evaluation mode; the batch's is the mean of its samples'. The
 * answer for a gradient is the largest <g, h> / (|g| |h|) over the gradients h of the samples in `slot`, or over the mean
 * gradients of its groups, a pair with a zero gradient counting as cosine 0. It is enough to hold these gradients and one more
 * at a time.
 */
typedef struct ocdm_comparison {
    size_t size;              /* sizeof(ocdm_comparison), so that a later version can append members */
    const uint32_t *slot;     /* which samples to compare with: slots of the memory, ascending, in each group if any */
    size_t slot_count;        /* at least 1, a multiple of group_size; gss names up to 10, gss-released up to 100 */
    const ocdm_sample *batch; /* the batch as it was given to ocdm_memory_update; none of it is in a slot yet */
    size_t count;             /* at least 1 */
    double *item_cosine;      /* to be filled: count of them, one for each sample of the batch */
    double *batch_cosine;     /* to be filled: that of the batch; NULL if it is not needed */

    /*
     * Not 0: the policy uses item_cosine only if *batch_cosine is negative. If it is not, item_cosine may be left as it is,
     * which saves the gradients of the single samples. Implies that batch_cosine is not NULL.
     */
    int batch_first;

    /* The number of consecutive slots in a group, which is compared by its mean gradient. 1, or 0 in your own request: each
     * sample is compared alone. */
    size_t group_size;
} ocdm_comparison;

/*
 * Answers a comparison: fills its cosines, from -1 to 1 (up to 1e-3 beyond is taken for rounding), and returns OCDM_OK. Or
 * returns why it cannot, in `error` too, which is not NULL: the update then fails with that, and the memory is as it was. It
 * may query the memory, but must not call ocdm_memory_update, _draw, _save or _destroy on it. The same question may be asked
 * again after an update that failed.
 *
 * state    what was given to ocdm_memory_set_similarity
 */
typedef ocdm_status (*ocdm_similarity)(void *state, const ocdm_memory *memory, const ocdm_comparison *comparison,
                                       ocdm_error *error);

/*
 * Sets the callback that answers comparisons. Policies with the trait OCDM_NEEDS_GRADIENTS (of the library's, gss and
 * gss-released) need it before the first update, and again after ocdm_memory_load, since files contain no functions; without it
 * their updates fail with OCDM_BAD_ARGUMENT. NULL removes it.
 *
 *     static ocdm_status compare(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
 *     {
 *         struct agent *agent = state;
 *         size_t groups = asked->slot_count / asked->group_size;
 *         for (size_t j = 0; j < groups; j++)
 *             mean_gradient_of_slots(agent, asked->slot + j * asked->group_size, asked->group_size, agent->kept[j]);
 *         if (asked->batch_cosine) {
 *             mean_gradient(agent, payload_of_batch, asked->count, agent->mine);
 *             *asked->batch_cosine = largest_cosine(agent->mine, agent->kept, groups);
 *         }
 *         if (asked->batch_first && *asked->batch_cosine >= 0)
 *             return OCDM_OK;
 *         for (size_t i = 0; i < asked->count; i++) {
 *             gradient(agent, payload_of_batch[i], agent->mine);
 *             asked->item_cosine[i] = largest_cosine(agent->mine, agent->kept, groups);
 *         }
 *         return OCDM_OK;
 *     }
 *
 *     ocdm_memory_set_similarity(memory, compare, &agent);
 *
 * state    passed to `similarity` unchanged; what it points to must live as long as updates are made
 *
 * Cannot fail; a NULL memory is ignored. O(1).
 */
void ocdm_memory_set_similarity(ocdm_memory *memory, ocdm_similarity similarity, void *state);

/*
 * Requests a comparison; only for a policy's `begin`. The memory passes it to the callback of ocdm_memory_set_similarity and
 * checks the answers. The cosines are set to NaN first, so that missing answers are detected.
 *
 *     static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
 *                              ocdm_error *error)
 *     {
 *         struct mine *mine = state;
 *         ocdm_comparison asked = {.size = sizeof asked, .slot = mine->slot, .slot_count = 3, .group_size = 1, .batch = batch,
 *                                  .count = count, .item_cosine = mine->cosine};
 *         return ocdm_memory_compare(memory, &asked, error);
 *     }
 *
 * comparison  all of it yours; `batch` and `count` as `begin` got them. On success its cosines are filled, those of the items
 *             not if batch_first is set and *batch_cosine is not negative
 *
 * OCDM_OK; OCDM_BAD_ARGUMENT if there is no callback, if the call does not come from `begin`, if the comparison is malformed,
 * or if an answer is not a cosine; what the ocdm_similarity returns. Cost: O(slot_count + count) plus the answer's.
 */
ocdm_status ocdm_memory_compare(const ocdm_memory *memory, const ocdm_comparison *comparison, ocdm_error *error);

/* ---- policies ------------------------------------------------------------------------------------------------------- */

/*
 * A policy of the library by name: ocdm, prs, prs-released, cbes, max, onlyone, rs, random, cbrs, gss, gss-released, bat-ocdm.
 * NULL if there is none. gss and gss-released need gradients: see ocdm_memory_set_similarity; bat-ocdm must be told where tasks
 * begin: see ocdm_memory_begin_task. ocdm_policy_at lists all policies: index 0, 1, 2,
 * ... until NULL. Both return static data; do not free it. A copy with its own name, and with an `admit` or `end` that the
 * original lacks, is a policy of your own; a copy of bat-ocdm takes no `admit`.
 */
const ocdm_policy *ocdm_policy_find(const char *name);
const ocdm_policy *ocdm_policy_at(size_t index);

/* What a caller must know about a policy before using it: flags for ocdm_policy.traits. Unknown flags are ignored. */
#define OCDM_SINGLE_LABEL 1u    /* takes samples with at most one label; the memory refuses others: OCDM_NOT_SINGLE_LABEL */
#define OCDM_NEEDS_GRADIENTS 2u /* asks for comparisons; the memory refuses updates until there is a callback */
#define OCDM_AS_RELEASED 4u     /* another policy's rule as in its authors' code: short lists may leave it out */
#define OCDM_NEEDS_TASKS 16u    /* is told where tasks begin: ocdm_memory_begin_task; without that the stream is one task */
#define OCDM_BY_DISTANCE 8u     /* deletes what leaves the classes closest to the target: distance, tie and tolerance count */

/*
 * To write a policy of your own, fill this struct and set ocdm_options.policy to its address.
 *
 * A policy makes decisions; the memory applies them. It implements one of
 *   replace  for rules that decide about one sample at a time, like reservoirs: called for each sample once the memory is full,
 *            with the memory in its state before that sample;
 *   remove   for rules that treat memory and batch as one pool, like OCDM: the whole batch is part of the pool and of its
 *            counts; called until the pool has shrunk to the capacity.
 * If it has both, `replace` decides about batches, and `remove` is used when ocdm_memory_resize shrinks the memory. Until the
 * memory is full, every sample that `admit` accepts is stored. The other members may be NULL.
 *
 * A policy must not call functions that change or save the memory. If it fails, or names a slot that does not exist, the memory
 * is restored to its state before the batch; the policy restores its own state in `end`.
 *
 * Functions that return an ocdm_status may fail with any status except OCDM_OK. `error` is never NULL; its message and hint may
 * be filled or left empty.
 */
struct ocdm_policy {
    /* sizeof(ocdm_policy), so that a later version can append members: missing ones count as NULL. Required. */
    size_t size;

    /* Its name: in files, in messages. Required; 1 to 63 printable ASCII characters. */
    const char *name;

    /* A sum of the flags above, or 0. */
    uint32_t traits;

    /* Creates the policy's state, which is passed to all functions below; without it, state is NULL. `data` is
     * options.policy_data. */
    ocdm_status (*create)(const ocdm_memory *memory, void *data, void **state, ocdm_error *error);

    /* Frees the state. */
    void (*destroy)(void *state);

    /* Called with a batch before anything changes; a failure rejects the batch and leaves the memory unchanged. */
    ocdm_status (*begin)(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error);

    /* Whether a sample may enter the memory at all: 0 is no. It counts as seen in both cases. A negative number means that this
     * cannot be decided; the batch is then refused with OCDM_BAD_DECISION. */
    int (*admit)(void *state, const ocdm_memory *memory, const ocdm_sample *sample);

    /* Sets *slot to the slot, below ocdm_memory_size, whose sample is replaced by `sample`, or to OCDM_NONE to discard it. */
    ocdm_status (*replace)(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                           ocdm_error *error);

    /* Sets *slot to the member of the pool to delete next, below ocdm_memory_size. */
    ocdm_status (*remove)(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error);

    /* Called after each sample of a `replace` policy, stored or not, when it has been counted. */
    void (*seen)(void *state, const ocdm_memory *memory, const ocdm_sample *sample);

    /* Writes the state as bytes, for ocdm_memory_save: sets *size to their number, and writes them to `bytes` if `room` is
     * large enough. Called twice, first with room 0 and bytes NULL; both calls must set the same size. */
    ocdm_status (*save)(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                        ocdm_error *error);

    /* Restores what save wrote into a new state; the memory has its samples already. OCDM_BAD_FILE if the bytes are invalid. */
    ocdm_status (*load)(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error);

    /*
     * Called after each update, forget, resize and begin_task whose `begin` succeeded (forget calls no `begin`, nor does
     * begin_task when nobody leaves): with the change and OCDM_OK, or with NULL and the error after the memory has been
     * restored. A policy that keeps data per sample updates it here, by slot, or undoes what it did since `begin`. The
     * ocdm_change of forget, resize or begin_task stores nothing and may move samples.
     */
    void (*end)(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status);

    /* Called by ocdm_memory_begin_task: a task of the stream begins with the next batch. Sets *leaving to the number of samples
     * that leave the memory now, which `remove` names one by one; it was 0. On failure the memory is unchanged. */
    ocdm_status (*begin_task)(void *state, const ocdm_memory *memory, uint32_t *leaving, ocdm_error *error);
};

/*
 * A random integer from 0 to below - 1, for a policy. It depends on the seed, the number of the decision, and `draw`, which
 * distinguishes several numbers of one decision. The same call gives the same number. 0 if `below` is 0 or 1. O(1).
 */
uint64_t ocdm_memory_random(const ocdm_memory *memory, uint32_t draw, uint64_t below);

#ifdef __cplusplus
}
#endif

#endif
