/*
 * The certified lazy greedy of docs/scale.md, simulated: a memory whose samples are spread over ranks deletes what one process
 * would delete, though the ranks exchange only their best samples and bounds for the others. Gains are the library's integers,
 * and the library's own victims are the judge.
 */
#include "../test.h"

#include "base/logarithm.h"
#include "base/random.h"
#include "ocdm/ocdm.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 44, MOST_LABELS = 6, CAPACITY = 4000, BATCH = 10, BATCHES = 50, SENT = 8, MOST_RANKS = 64 };

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#else
typedef int64_t wide; /* enough for memories of the size that tests have */
#endif

struct held {
    uint64_t id; /* its arrival too: ids count up */
    uint32_t labels[MOST_LABELS];
    size_t count;
    bool sent; /* in the last exchange: every rank knows it */
    bool gone;
};

/* What the ranks know of samples that were not sent, for one number of labels: the best gain when they last looked, and the
 * oldest sample that had it. */
struct bound {
    bool any;
    int64_t gain;
    uint64_t id;
};

struct cluster {
    struct held held[CAPACITY + BATCH];
    size_t size, ranks;
    uint32_t kept[CLASSES];
    uint64_t sum;
    wide whole;
    struct bound bounds[MOST_LABELS + 1];
    size_t exchanges;
    bool fresh; /* nothing was deleted since the last exchange */
};

/* A candidate for deletion: the least distance first, then the oldest. */
struct victim {
    struct held *held;
    int64_t gain, distance;
};

/* ---- integers, as in the library -------------------------------------------------------------------------------------- */

static int64_t rounded_step(uint32_t m)
{
    return m > 1 ? llround(ocdm__ln_step(m) * 0x1p32) : 0;
}

static int64_t gain_of(const struct cluster *cluster, const struct held *held)
{
    int64_t sum = 0;
    for (size_t i = 0; i < held->count; i++)
        sum += rounded_step(cluster->kept[held->labels[i]]);
    return sum;
}

static int64_t distance_after(const struct cluster *cluster, int64_t gain, size_t labels)
{
    uint64_t left = cluster->sum - labels;
    return llround(((double)(cluster->whole - gain) / 0x1p32 / (double)left - ocdm__ln(left)) * 0x1p40);
}

static void count(struct cluster *cluster, const struct held *held, bool comes)
{
    for (size_t i = 0; i < held->count; i++) {
        uint32_t *kept = &cluster->kept[held->labels[i]];
        cluster->whole += comes ? rounded_step(*kept + 1) : -rounded_step(*kept);
        *kept += comes ? 1 : UINT32_MAX;
    }
    cluster->sum += comes ? held->count : -(uint64_t)held->count;
}

static bool goes_before(const struct victim *a, const struct victim *b)
{
    return b->held == NULL || a->distance < b->distance || (a->distance == b->distance && a->held->id < b->held->id);
}

/* ---- an exchange ------------------------------------------------------------------------------------------------------ */

static bool have_same_labels(const struct held *a, const struct held *b)
{
    return a->count == b->count && memcmp(a->labels, b->labels, a->count * sizeof *a->labels) == 0;
}

/* Each rank sends its SENT best label sets, each with the ids of its oldest samples, of which a batch deletes BATCH at most;
 * and a bound for the rest of each number of labels; the ranks' bounds become one. */
static void send_best(struct cluster *cluster, size_t rank)
{
    for (size_t n = 0; n < SENT; n++) {
        struct victim best = {.held = NULL};
        for (size_t i = 0; i < cluster->size; i++) {
            struct held *held = &cluster->held[i];
            if (held->id % cluster->ranks != rank || held->sent)
                continue;
            int64_t gain = gain_of(cluster, held);
            const struct victim one = {held, gain, distance_after(cluster, gain, held->count)};
            if (goes_before(&one, &best))
                best = one;
        }
        for (size_t i = 0; i < cluster->size && best.held != NULL; i++)
            if (cluster->held[i].id % cluster->ranks == rank && have_same_labels(&cluster->held[i], best.held))
                cluster->held[i].sent = true;
    }
}

static void exchange(struct cluster *cluster)
{
    memset(cluster->bounds, 0, sizeof cluster->bounds);
    for (size_t i = 0; i < cluster->size; i++)
        cluster->held[i].sent = false;
    for (size_t rank = 0; rank < cluster->ranks; rank++)
        send_best(cluster, rank);
    for (size_t i = 0; i < cluster->size; i++) {
        const struct held *held = &cluster->held[i];
        struct bound *bound = &cluster->bounds[held->count];
        int64_t gain = gain_of(cluster, held);
        if (!held->sent && (!bound->any || gain > bound->gain || (gain == bound->gain && held->id < bound->id)))
            *bound = (struct bound){true, gain, held->id};
    }
    cluster->exchanges++;
    cluster->fresh = true;
}

/* ---- a deletion ------------------------------------------------------------------------------------------------------- */

/* The best of the samples that every rank knows: of each number of labels those with the largest gain. */
static struct victim best_known(struct cluster *cluster)
{
    struct victim best = {.held = NULL};
    int64_t largest[MOST_LABELS + 1];
    for (size_t k = 0; k <= MOST_LABELS; k++)
        largest[k] = INT64_MIN;
    for (size_t i = 0; i < cluster->size; i++) {
        const struct held *held = &cluster->held[i];
        if (held->sent && gain_of(cluster, held) > largest[held->count])
            largest[held->count] = gain_of(cluster, held);
    }
    for (size_t i = 0; i < cluster->size; i++) {
        struct held *held = &cluster->held[i];
        if (!held->sent || gain_of(cluster, held) != largest[held->count])
            continue;
        const struct victim one = {held, largest[held->count], distance_after(cluster, largest[held->count], held->count)};
        if (goes_before(&one, &best))
            best = one;
    }
    return best;
}

/* While samples are deleted every class has fewer, so that gains only fall: what was not sent is no better than its bound. */
static bool is_certain(const struct cluster *cluster, const struct victim *best)
{
    if (best->held == NULL || cluster->fresh)
        return best->held != NULL;
    for (size_t k = 1; k <= MOST_LABELS; k++) {
        const struct bound *bound = &cluster->bounds[k];
        if (!bound->any || distance_after(cluster, bound->gain, k) > best->distance)
            continue;
        if (k != best->held->count || best->gain < bound->gain || (best->gain == bound->gain && best->held->id > bound->id))
            return false;
    }
    return true;
}

static uint64_t delete_one(struct cluster *cluster)
{
    struct victim best = best_known(cluster);
    if (!is_certain(cluster, &best)) {
        exchange(cluster);
        best = best_known(cluster);
    }
    uint64_t id = best.held->id;
    count(cluster, best.held, false);
    *best.held = cluster->held[--cluster->size];
    cluster->fresh = false;
    return id;
}

/* ---- a stream --------------------------------------------------------------------------------------------------------- */

/* In order, so that equal sets are equal bytes. */
static void insert(struct held *held, uint32_t label)
{
    size_t at = held->count++;
    for (; at > 0 && held->labels[at - 1] > label; at--)
        held->labels[at] = held->labels[at - 1];
    held->labels[at] = label;
}

/* One to five different labels; low numbers are much more frequent. */
static struct held sample_at(uint64_t id)
{
    uint64_t base = ocdm__random_base(3, OCDM__FOR_BENCH);
    struct held held = {.id = id};
    size_t wanted = 1 + ocdm__random_at(base, 8 * id) % (MOST_LABELS - 1);
    for (uint64_t i = 1; held.count < wanted && i < 8; i++) {
        double uniform = (double)(ocdm__random_at(base, 8 * id + i) >> 11) * 0x1p-53;
        uint32_t label = (uint32_t)(CLASSES * uniform * uniform * uniform);
        bool there = false;
        for (size_t j = 0; j < held.count; j++)
            there = there || held.labels[j] == label;
        if (!there)
            insert(&held, label);
    }
    return held;
}

/* Deletes the same samples in the same order as the library, whose memory is in one process. */
static size_t exchanges_of(size_t ranks)
{
    static struct cluster cluster;
    ocdm_memory *memory = NULL;
    ocdm_options options = ocdm_options_default();
    options.capacity = CAPACITY;
    options.batch = BATCH;
    options.distance = OCDM_KL;
    options.tie = OCDM_TIE_OLDEST;
    memset(&cluster, 0, sizeof cluster);
    cluster.ranks = ranks;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint64_t id = 0; id < CAPACITY + BATCHES * BATCH; id += BATCH) {
        ocdm_sample batch[BATCH];
        ocdm_change change;
        for (size_t i = 0; i < BATCH; i++) {
            struct held *held = &cluster.held[cluster.size++];
            *held = sample_at(id + i);
            count(&cluster, held, true);
        }
        for (size_t i = 0; i < BATCH; i++) {
            const struct held *held = &cluster.held[cluster.size - BATCH + i];
            batch[i] = (ocdm_sample){held->id, held->labels, held->count};
        }
        assert_int_equal(ocdm_memory_update(memory, batch, BATCH, &change, NULL), OCDM_OK);
        if (cluster.size > CAPACITY)
            exchange(&cluster);
        for (size_t i = 0; i < change.left_count; i++)
            assert_int_equal(delete_one(&cluster), change.left[i].id);
        assert_true(cluster.size <= CAPACITY);
    }
    ocdm_memory_destroy(memory);
    return cluster.exchanges;
}

TEST(ranks_that_exchange_their_best_delete_what_one_process_deletes)
{
    static const size_t ranks[] = {4, 16, MOST_RANKS};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        size_t exchanges = exchanges_of(ranks[i]);
        print_message("# %zu ranks: %.2f exchanges for a batch of %d\n", ranks[i], (double)exchanges / BATCHES, BATCH);
        assert_true(exchanges >= BATCHES && exchanges <= 3 * BATCHES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_exchange_their_best_delete_what_one_process_deletes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
