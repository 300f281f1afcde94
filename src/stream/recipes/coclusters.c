/*
 * Assigns classes to tasks by co-occurrence: classes that occur together go to the same task. Average-link clustering on the
 * Jaccard similarity (how often two classes occur together among the samples that have either), so that a class that is
 * everywhere does not attract all others.
 *
 * Plain average linkage produces one giant task and several of a single class, which have no training samples. So the smallest
 * cluster always merges next, with its nearest, and no task of K gets more than 2/(K + 1) of the classes, rounded up; none is
 * empty. Similarities are integers and ties go to the lower class number, so that the result is the same on every machine.
 *
 * Each cluster's best partner is remembered, so that a merge needs to look at few rows again.
 */
#include "stream/recipes/recipes.h"

#define NONE SIZE_MAX

/* A similarity of 1. Sums over all pairs of two clusters stay below 2^46, so a double holds them exactly, and an average is
 * one division, which is rounded the same way on every machine. */
#define ONE ((uint64_t)1 << 24)

/* A cluster is identified by the number of its first class. */
struct clusters {
    size_t class_count;
    uint64_t *sums;       /* similarities between the classes of two clusters, summed: a square */
    size_t *sizes;        /* classes of a cluster; 0 when it is none, or no longer */
    size_t *partners;     /* among the clusters that fit, the one with the highest average; NONE when none fits */
    uint32_t *cluster_of; /* by class */
    size_t most;          /* classes that a cluster may have */
    size_t alive;
};

/* ---- similarities ---------------------------------------------------------------------------------------------------- */

static double average(const struct clusters *clusters, size_t a, size_t b)
{
    return (double)clusters->sums[a * clusters->class_count + b] / (double)(clusters->sizes[a] * clusters->sizes[b]);
}

static bool fit(const struct clusters *clusters, size_t a, size_t b)
{
    return clusters->sizes[a] > 0 && clusters->sizes[b] > 0 && clusters->sizes[a] + clusters->sizes[b] <= clusters->most;
}

static void find_partner(struct clusters *clusters, size_t a)
{
    double best = -1;
    clusters->partners[a] = NONE;
    for (size_t b = 0; b < clusters->class_count; b++) {
        if (b == a || !fit(clusters, a, b) || average(clusters, a, b) <= best)
            continue;
        best = average(clusters, a, b);
        clusters->partners[a] = b;
    }
}

/* The cluster that merges next: the smallest, or of equally small ones the one that is nearest to its partner. It has a
 * partner: were K + 1 clusters or more left, of n classes, and the smallest of them, of s classes, fitted with none, then K
 * others would each have over 2n/(K + 1) - s, and all together more than n. */
static size_t next_to_merge(const struct clusters *clusters)
{
    size_t first = NONE;
    double nearness = -1;
    for (size_t a = 0; a < clusters->class_count; a++) {
        size_t partner = clusters->partners[a];
        if (clusters->sizes[a] == 0 || (first != NONE && clusters->sizes[a] > clusters->sizes[first]))
            continue;
        double near = partner != NONE ? average(clusters, a, partner) : -1;
        if (first != NONE && clusters->sizes[a] == clusters->sizes[first] && near <= nearness)
            continue;
        first = a;
        nearness = near;
    }
    return first;
}

/* ---- from start to end ----------------------------------------------------------------------------------------------- */

/* Each class that occurs is a cluster of its own. */
static void start_alone(struct clusters *clusters, const uint32_t *counts)
{
    size_t n = clusters->class_count;
    for (size_t a = 0; a < n; a++) {
        clusters->cluster_of[a] = (uint32_t)a;
        clusters->sizes[a] = counts[a * n + a] > 0;
        clusters->alive += clusters->sizes[a];
        for (size_t b = 0; b < n; b++) {
            uint64_t both = counts[a * n + b];
            uint64_t either = (uint64_t)counts[a * n + a] + counts[b * n + b] - both;
            clusters->sums[a * n + b] = either > 0 ? both * ONE / either : 0;
        }
    }
}

static void merge_down_to(struct clusters *clusters, size_t task_count)
{
    clusters->most = (2 * clusters->alive + task_count) / (task_count + 1);
    for (size_t a = 0; a < clusters->class_count; a++)
        find_partner(clusters, a);
    while (clusters->alive > task_count) {
        size_t first = next_to_merge(clusters), second = clusters->partners[first];
        size_t kept = first < second ? first : second, gone = first < second ? second : first;
        /* `gone` joins `kept`, the one with the lower number. */
        size_t n = clusters->class_count;
        for (size_t c = 0; c < n; c++) {
            clusters->sums[kept * n + c] += clusters->sums[gone * n + c];
            clusters->sums[c * n + kept] = clusters->sums[kept * n + c];
            if (clusters->cluster_of[c] == gone)
                clusters->cluster_of[c] = (uint32_t)kept;
        }
        clusters->sizes[kept] += clusters->sizes[gone];
        clusters->sizes[gone] = 0;
        clusters->alive--;
        /* A merged cluster's average with a third is between those of its parts: a cluster that preferred another to both still
         * does. Only those whose partner was one of the parts look again, and the merged one itself. */
        for (size_t a = 0; a < clusters->class_count; a++)
            if (clusters->sizes[a] > 0 && (a == kept || clusters->partners[a] == kept || clusters->partners[a] == gone))
                find_partner(clusters, a);
    }
}

ocdm_status ocdm__cluster_classes(const uint32_t *counts, size_t class_count, size_t task_count, uint32_t *class_tasks,
                                  ocdm_error *error)
{
    if (task_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "ask for one task or more", "no tasks to assign classes to");
    if (class_count > OCDM__MAX_CLUSTERED)
        return ocdm__fail(error, OCDM_LIMIT, "assign the classes to tasks by a list",
                          "%zu classes are too many to find tasks for, the most is %d", class_count, OCDM__MAX_CLUSTERED);
    ocdm__arena arena = {.last = NULL};
    struct clusters clusters = {.class_count = class_count,
                                .sums = ocdm__arena_new(&arena, class_count * class_count, sizeof *clusters.sums),
                                .sizes = ocdm__arena_new(&arena, class_count, sizeof *clusters.sizes),
                                .partners = ocdm__arena_new(&arena, class_count, sizeof *clusters.partners),
                                .cluster_of = ocdm__arena_new(&arena, class_count, sizeof *clusters.cluster_of)};
    ocdm_status status = ocdm__arena_check(&arena, "the similarities of classes", error);
    if (status == OCDM_OK) {
        start_alone(&clusters, counts);
        if (clusters.alive < task_count)
            status = ocdm__fail(error, OCDM_BAD_ARGUMENT, "ask for fewer tasks", "%zu tasks for %zu classes that occur",
                                task_count, clusters.alive);
    }
    if (status == OCDM_OK) {
        merge_down_to(&clusters, task_count);
        uint32_t next = 0;
        for (size_t c = 0; c < clusters.class_count; c++) {
            uint32_t cluster = clusters.cluster_of[c];
            if (clusters.sizes[cluster] == 0)
                class_tasks[c] = UINT32_MAX;
            else
                class_tasks[c] = cluster == c ? next++ : class_tasks[cluster];
        }
    }
    ocdm__arena_clear(&arena);
    return status;
}

ocdm_status ocdm__cluster_samples(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                                  size_t task_count, uint32_t *class_tasks, ocdm_error *error)
{
    if (class_count > OCDM__MAX_CLUSTERED)
        return ocdm__cluster_classes(NULL, class_count, task_count, class_tasks, error);
    uint32_t *counts;
    OCDM_TRY(ocdm__new(&counts, class_count * class_count, sizeof *counts, "the counts of classes that come together", error));
    for (size_t i = 0; i < count; i++)
        for (uint64_t a = label_starts[i]; a < label_starts[i + 1]; a++)
            for (uint64_t b = label_starts[i]; b < label_starts[i + 1]; b++)
                counts[labels[a] * class_count + labels[b]]++;
    ocdm_status status = ocdm__cluster_classes(counts, class_count, task_count, class_tasks, error);
    ocdm__release(counts);
    return status;
}
