/*
 * The judge: every policy of the library a second time, written from the paper and the rules alone: plain loops over plain
 * arrays, everything recounted for every decision. Slow on purpose; what the fast library does must equal it.
 *
 * It shares with the library only what both must agree on bit by bit: the random numbers (base/random.h), the logarithms
 * (base/logarithm.h), and how positions move. It leaves out files, errors and limits.
 */
#ifndef OCDM_TESTS_NAIVE_H
#define OCDM_TESTS_NAIVE_H

#include "ocdm/ocdm.h"
#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAIVE_CLASSES 3000
#define NAIVE_COMPARED 4096 /* gss, gss-released: the largest memory */

struct naive_sample {
    uint64_t id;
    uint64_t arrival;
    uint32_t slot; /* where it was before the update; OCDM_NONE for one of the batch */
    uint32_t item; /* its number in the batch; OCDM_NONE for one that was in memory */
    size_t label_count;
    uint32_t *label; /* class numbers (places in naive.classes), in the order given, repeats dropped */
    double score;    /* gss: c, and C_i once it is in slot i */
    uint32_t chance; /* gss-released: the one slot that it may take */
};

struct naive_class {
    uint32_t id;
    uint64_t seen;
    bool in_play;   /* present in memory or batch at the last update */
    bool full;      /* cbrs, cbes: is or was a largest class since the memory filled */
    bool has_share; /* prs: was stored once, so that it has a share p_i, maybe a stale one */
    double share;   /* prs: p_i */
    double weight;  /* w_i */
};

/* A weight that was given, maybe to a class that never appeared. */
struct naive_weight {
    uint32_t id;
    double weight;
};

struct naive {
    ocdm_options options;
    struct naive_sample *pool; /* positions 0..size-1 */
    size_t size;
    size_t room;
    struct naive_class classes[NAIVE_CLASSES]; /* in order of first appearance */
    size_t class_count;
    struct naive_weight weights[NAIVE_CLASSES];
    size_t weight_count;
    uint64_t arrived;     /* samples offered so far */
    uint64_t departed;    /* samples that left so far, those of the batch included */
    ocdm_departure *left; /* the last update's, in order */
    size_t left_count;
    const uint64_t *keys; /* by arrival: the keys of samples that were sampled in shards before; NULL: by the seed */
    double batch_score;   /* gss: that of the batch's mean gradient */
};

/* Names the position to delete next from a pool that is too large. */
typedef size_t naive_choice(const struct naive *naive, void *context);

/* An empty memory; `largest_batch` bounds what naive_update is given. Ends the test when there is no room. */
struct naive *naive_create(const ocdm_options *options, size_t largest_batch);
void naive_destroy(struct naive *naive);

/* Offers a batch. `choose` replaces the rule of a policy that removes from the pool; NULL: the policy's own. */
void naive_update(struct naive *naive, const ocdm_sample *batch, size_t count, naive_choice *choose, void *context);

/* Samples of a class that were seen elsewhere. */
void naive_add_seen(struct naive *naive, uint32_t id, uint64_t count);

/* A weight for a class, a sample that is deleted on request, another capacity. */
void naive_set_weight(struct naive *naive, uint32_t id, double weight);
void naive_forget(struct naive *naive, uint64_t id);
void naive_resize(struct naive *naive, uint32_t capacity, naive_choice *choose, void *context);

/* Whether the pool holds `id`. */
bool naive_holds(const struct naive *naive, uint64_t id);

/* Fills kept[0..class_count-1] with m_i, counted from the pool; returns their sum S. */
uint64_t naive_count(const struct naive *naive, uint32_t *kept);

bool naive_carries(const struct naive_sample *sample, uint32_t class_number);
bool naive_same_labels(const struct naive_sample *a, const struct naive_sample *b);

/* The key that a sample got on arrival. */
uint64_t naive_key(const struct naive *naive, const struct naive_sample *sample);

/* The stream of the decision to be taken now on a pool that is too large. */
ocdm__random naive_removal_stream(const struct naive *naive);

/* naive_policies.c: which position makes room for a newcomer (OCDM_NONE lets it go), which goes from a pool that is too large,
 * and what a policy notes after each sample. */
uint32_t naive_replace(struct naive *naive, const struct naive_sample *newcomer);
void naive_after_sample(struct naive *naive);
size_t naive_remove(const struct naive *naive);
size_t naive_shrink(const struct naive *naive); /* the same, for a policy that replaces, when the capacity falls */
bool naive_removes_from_pool(const struct naive *naive);

/* naive_ocdm.c: the deletion that minimises KL, decided in integers as the rules say, ties and all. */
size_t naive_remove_exactly(const struct naive *naive);
size_t naive_remove_exactly_of(const struct naive *naive, const bool *allowed); /* the same among these positions */

/* What a policy notes when a sample left by request: prs its shares, which follow at once. */
void naive_follow_departure(struct naive *naive);

/* naive_prs.c: partition reservoir sampling. */
size_t naive_shrink_prs(const struct naive *naive, ocdm__random *stream);
uint32_t naive_replace_prs(const struct naive *naive, const struct naive_sample *newcomer);
void naive_share_prs(struct naive *naive);

/* naive_gss.c: gradients are those of toy_gradients.h. _compare scores a batch before any of it joins. */
void naive_compare_gss(struct naive *naive, const ocdm_sample *batch, struct naive_sample *joining, size_t count);
size_t naive_shrink_gss(const struct naive *naive, ocdm__random *stream);
uint32_t naive_replace_gss(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream);

/* Of the marked positions (NULL: of all) the one with the smallest ticket; draws the tickets' base from `stream`. */
size_t naive_pick(const struct naive *naive, const bool *candidate, ocdm__random *stream);

/*
 * naive_distance.c: distances in long double with libm, nothing rounded to a grid.
 *
 * naive_distance: what is reported; NaN when nothing is labelled. naive_distance_without: after position `v` is deleted, the
 * target over the classes in play; infinite when no label would be left. naive_target: p_i over all classes seen.
 */
long double naive_distance(const struct naive *naive, ocdm_scope scope);
long double naive_distance_without(const struct naive *naive, size_t v);
void naive_target(const struct naive *naive, ocdm_scope scope, long double *log_p);
long double naive_distance_of(const struct naive *naive, ocdm_scope scope, const uint32_t *kept);

#endif
