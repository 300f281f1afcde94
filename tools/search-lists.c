/*
 * How the lists coco44 and nus44 were found: simulated annealing over which class belongs to which task, or to none, scored by
 * how near the stream that the paper's recipe then gives comes to the statistics that the paper prints, and the memories that
 * reservoir sampling, PRS and OCDM then keep to the counts of its Section 4.2.2. Not part of the build.
 *
 *     cc -O2 -ffp-contract=off -Iinclude -o /tmp/search-lists tools/search-lists.c build/libocdm.a -lm
 *     /tmp/search-lists coco RECORDS.jsonl [seed [millions of moves [lists [cohesion [unused class]]]]]
 *     /tmp/search-lists nus RECORDS.jsonl ...
 *
 * The moves are judged by the stream alone, which takes microseconds. Then they are judged by memories that are really filled
 * as well, until that many lists have filled theirs. The last two numbers are weights. Where one rounding differs the search
 * takes another way: the same list comes from the same compiler flags and the same log, pow and erfc.
 *
 * Prints the list as `ocdm stream build --tasks FILE` reads it, with its statistics in comments. The test part does not matter
 * to any of them: it is drawn from samples with one label, which never train.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ocdm/ocdm.h>

#define CLASSES 128
#define TASKS 5
#define MOST_LABELS 24 /* of one sample */
#define TEST_PER_CLASS 50
#define LAW 12.0 /* what the numbers weigh at the end */
#define CAPACITY 1000
#define MAJORITY 0.505  /* of the samples have several labels: "the majority" */
#define HARDLY_ANY 5    /* samples of a class */
#define REPORT_SEEDS 20 /* memories of each policy that the last list is judged by */

/* How many classes have more than `many` samples in memory, and how many fewer than `few`. A negative count is not printed in
 * the paper. */
typedef struct memory_counts {
    const char *policy;
    int many, few;
    double over, under;
    int seeds; /* memories that a list is judged by during the search; 0: the stream alone tells it */
} memory_counts;

enum { OURS, RESERVOIR, PARTITIONS, POLICIES }; /* the slowest last */

/* What the paper prints. */
typedef struct target {
    const char *name;
    int tasks, classes;
    double samples;
    int groups[3];
    double amlr[TASKS], total;
    memory_counts memory[POLICIES];
} target;

static const target targets[] = {
    {"coco",
     4,
     44,
     26617,
     {12, 27, 5},
     {95.53, 89.12, 84.33, 64.54},
     85.6,
     {{"ocdm", 40, 20, 1, 6, 1}, {"rs", 500, 0, 1, -1, 0}, {"prs", 40, 20, 18, 9, 2}}},
    {"nus",
     5,
     44,
     28650,
     {13, 24, 7},
     {98.08, 99.15, 88.73, 95.14, 83.71},
     96.4,
     {{"ocdm", 60, 20, 6, 0, 1}, {"rs", 400, 0, 2, -1, 0}, {"prs", 60, 20, 11, 6, 2}}},
};

typedef unsigned __int128 label_set; /* bit c: class c */

typedef struct group { /* samples with equal label sets */
    label_set labels;
    int count;
    int owner; /* the task that all its labels are of, or -1 */
} group;

static char names[CLASSES][64];
static int class_count, group_count;
static group *groups;
static int *groups_of[CLASSES], group_counts_of[CLASSES]; /* with two labels or more */
static int alone[CLASSES];
static double bond[CLASSES][CLASSES]; /* (n - e) / (n + e): -1 never together, 0 as by chance, 1 only together */
static label_set survivors;           /* classes with enough samples of their own to test on */

static int tasks, task_of[CLASSES];
static label_set classes_of[TASKS];
static int sizes[TASKS];
static double samples[TASKS], with[CLASSES], shared[CLASSES];
static double several_labels; /* samples with two labels or more, after classes without a test were removed */
static double bonds[CLASSES]; /* of a class with the others of its task, summed */

static label_set bit(int class_number)
{
    return (label_set)1 << class_number;
}

static int first_of(label_set set)
{
    return (uint64_t)set ? __builtin_ctzll((uint64_t)set) : 64 + __builtin_ctzll((uint64_t)(set >> 64));
}

static int size_of(label_set set)
{
    return __builtin_popcountll((uint64_t)set) + __builtin_popcountll((uint64_t)(set >> 64));
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

static int number_of(const char *name)
{
    for (int i = 0; i < class_count; i++)
        if (!strcmp(names[i], name))
            return i;
    if (class_count == CLASSES)
        exit(fputs("too many classes\n", stderr));
    strcpy(names[class_count], name);
    return class_count++;
}

/* Records as the data folder has them: plain names in quotes between "labels":[ and ]. */
static label_set labels_in(const char *line)
{
    label_set set = 0;
    const char *at = strstr(line, "\"labels\":[");
    const char *end = at ? strchr(at, ']') : NULL;
    char name[64];
    for (at = at ? at + 10 : NULL; at && at < end && sscanf(at, "\"%63[^\"]\"", name) == 1; at += strlen(name) + 3)
        set |= bit(number_of(name));
    return set;
}

static int by_labels(const void *a, const void *b)
{
    label_set x = ((const group *)a)->labels, y = ((const group *)b)->labels;
    return (x > y) - (x < y);
}

static void read_records(const char *path)
{
    FILE *file = fopen(path, "r");
    static char line[65536];
    int room = 0, count = 0;
    if (!file)
        exit((perror(path), 1));
    while (fgets(line, sizeof line, file)) {
        label_set set = labels_in(line);
        if (!set)
            continue;
        if (size_of(set) > MOST_LABELS)
            exit((fprintf(stderr, "%s: a sample has %d labels\n", path, size_of(set)), 1));
        if (count == room)
            groups = realloc(groups, (size_t)(room = room * 2 + 1024) * sizeof *groups);
        groups[count++] = (group){set, 1, -1};
    }
    fclose(file);
    qsort(groups, (size_t)count, sizeof *groups, by_labels);
    for (int i = 0; i < count; i++)
        if (group_count && groups[group_count - 1].labels == groups[i].labels)
            groups[group_count - 1].count++;
        else
            groups[group_count++] = groups[i];
}

static void prepare(void)
{
    static double together[CLASSES][CLASSES];
    double all = 0;
    for (int i = 0; i < class_count; i++)
        groups_of[i] = malloc((size_t)group_count * sizeof(int));
    for (int g = 0; g < group_count; g++) {
        label_set set = groups[g].labels;
        if (size_of(set) == 1) {
            alone[first_of(set)] = groups[g].count;
            continue;
        }
        all += groups[g].count;
        for (label_set a = set; a; a &= a - 1) {
            groups_of[first_of(a)][group_counts_of[first_of(a)]++] = g;
            for (label_set b = set; b; b &= b - 1)
                together[first_of(a)][first_of(b)] += groups[g].count;
        }
    }
    for (int a = 0; a < class_count; a++) {
        survivors |= alone[a] >= TEST_PER_CLASS ? bit(a) : 0;
        for (int b = 0; b < class_count; b++) {
            double chance = together[a][a] * together[b][b] / all;
            bond[a][b] = (together[a][b] - chance) / (together[a][b] + chance + 1e-9);
        }
    }
}

/* ---- the stream of an assignment, kept up to date ------------------------------------------------------------------- */

static void count_group(const group *g, double sign)
{
    label_set left = g->labels & survivors;
    if (g->owner < 0 || !left)
        return;
    int several = size_of(left) > 1;
    samples[g->owner] += sign * g->count;
    several_labels += sign * g->count * several;
    for (; left; left &= left - 1) {
        with[first_of(left)] += sign * g->count;
        shared[first_of(left)] += sign * g->count * several;
    }
}

/* The class joins its task, or with sign -1 leaves it. */
static void join(int class_number, int sign)
{
    int task = task_of[class_number];
    if (task < 0)
        return;
    classes_of[task] ^= bit(class_number);
    sizes[task] += sign;
    bonds[class_number] = 0;
    for (label_set others = classes_of[task] & ~bit(class_number); others; others &= others - 1) {
        bonds[first_of(others)] += sign * bond[class_number][first_of(others)];
        bonds[class_number] += bond[class_number][first_of(others)];
    }
}

static void move(int class_number, int task)
{
    join(class_number, -1);
    task_of[class_number] = task;
    join(class_number, 1);
    for (int i = 0; i < group_counts_of[class_number]; i++) {
        group *g = &groups[groups_of[class_number][i]];
        int owner = task >= 0 && !(g->labels & ~classes_of[task]) ? task : -1;
        if (owner == g->owner)
            continue;
        count_group(g, -1);
        g->owner = owner;
        count_group(g, 1);
    }
}

typedef struct statistics {
    int classes, per_task[TASKS], groups[3], unused;
    double samples, multi_label, amlr[TASKS], total, cohesion, scarce;
    double rs_over, short_of_few; /* what is known of the memory without filling one */
} statistics;

/* The chance that reservoir sampling keeps more than `many` samples of a class: the hypergeometric law, nearly normal. */
static double chance_over(double many, double kept_share)
{
    double deviation = sqrt(CAPACITY * kept_share * (1 - kept_share)) + 1e-9;
    return 0.5 * erfc((many + 0.5 - CAPACITY * kept_share) / (deviation * sqrt(2)));
}

static statistics look(const target *t)
{
    statistics s = {0};
    const memory_counts *reservoir = &t->memory[RESERVOIR], *ours = &t->memory[OURS];
    for (int i = 0; i < tasks; i++)
        s.samples += samples[i];
    s.multi_label = s.samples > 0 ? several_labels / s.samples : 0;
    for (int c = 0; c < class_count; c++) {
        int task = task_of[c];
        s.unused += task < 0;
        s.cohesion += task >= 0 && sizes[task] > 1 ? bonds[c] / (sizes[task] - 1) : 0;
        if (task < 0 || !(survivors & bit(c)))
            continue;
        double ratio = with[c] > 0 ? 100 * shared[c] / with[c] : 0;
        s.classes++;
        s.per_task[task]++;
        s.groups[with[c] > 600 ? 0 : with[c] >= 100 ? 1 : 2]++;
        s.scarce += with[c] < HARDLY_ANY ? 1 - with[c] / HARDLY_ANY : 0;
        s.short_of_few += with[c] < ours->few;
        s.rs_over += s.samples > 0 ? chance_over(reservoir->many, with[c] / s.samples) : 0;
        s.amlr[task] += ratio;
        s.total += ratio;
    }
    for (int i = 0; i < tasks; i++)
        s.amlr[i] /= s.per_task[i] ? s.per_task[i] : 1;
    s.total /= s.classes ? s.classes : 1;
    s.cohesion /= class_count > s.unused ? class_count - s.unused : 1;
    return s;
}

/*
 * How far off: a percent of the samples, a point of AMLR, half a class in a group cost about the same; so does a percent of the
 * samples that samples with several labels lack to be the majority. A class that is hardly there to be learnt is no use,
 * whatever the statistics say. OCDM keeps every sample of a class that has too few, so classes under its mark are nearly always
 * those that the stream has no more of.
 */
static double cost(const target *t, double for_numbers, double for_cohesion, double for_unused)
{
    statistics s = look(t);
    double sum =
        2 * s.scarce + 100 * fabs(s.samples / t->samples - 1) + 3 * abs(s.classes - t->classes) + fabs(s.total - t->total);
    sum += 100 * fmax(0, MAJORITY - s.multi_label) + fabs(s.rs_over - t->memory[RESERVOIR].over);
    sum += 0.5 * fabs(s.short_of_few - t->memory[OURS].under);
    for (int i = 0; i < 3; i++)
        sum += 0.7 * abs(s.groups[i] - t->groups[i]);
    for (int i = 0; i < tasks; i++)
        sum += fabs(s.amlr[i] - t->amlr[i]);
    return for_numbers * sum - for_cohesion * s.cohesion + for_unused * s.unused;
}

/* ---- the memories of an assignment ---------------------------------------------------------------------------------- */

typedef struct stream { /* label sets of the training samples, task after task */
    uint32_t (*labels)[MOST_LABELS];
    ocdm_sample *items;
    size_t count, starts[TASKS + 1];
} stream;

static uint64_t random_state;
static uint64_t next_random(void);

static void add_to_stream(stream *made, const group *g)
{
    label_set left = g->labels & survivors;
    for (int i = 0; left && i < g->count; i++) {
        ocdm_sample *item = &made->items[made->count];
        *item = (ocdm_sample){made->count, made->labels[made->count], 0};
        for (label_set rest = left; rest; rest &= rest - 1)
            made->labels[made->count][item->label_count++] = (uint32_t)first_of(rest);
        made->count++;
    }
}

/* The samples of each task in the order of their groups; `samples` says how many there are. */
static void make_stream(stream *made)
{
    static size_t room;
    size_t needed = 0;
    for (int i = 0; i < tasks; i++)
        needed += (size_t)samples[i];
    if (needed > room) {
        room = needed + 4096;
        made->labels = realloc(made->labels, room * sizeof *made->labels);
        made->items = realloc(made->items, room * sizeof *made->items);
    }
    made->count = 0;
    for (int i = 0; i < tasks; i++) {
        made->starts[i] = made->count;
        for (int g = 0; g < group_count; g++)
            if (groups[g].owner == i)
                add_to_stream(made, &groups[g]);
    }
    made->starts[tasks] = made->count;
}

static void shuffle_tasks(stream *made)
{
    for (int i = 0; i < tasks; i++)
        for (size_t left = made->starts[i + 1] - made->starts[i]; left > 1; left--) {
            ocdm_sample *last = &made->items[made->starts[i] + left - 1];
            ocdm_sample *other = &made->items[made->starts[i] + next_random() % left];
            ocdm_sample sample = *last;
            *last = *other;
            *other = sample;
        }
}

/* Fills a memory and adds what it counts to `counts`. */
static void fill_memory(const stream *made, const memory_counts *marks, uint64_t seed, memory_counts *counts)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory;
    ocdm_error error;
    options.policy = ocdm_policy_find(marks->policy);
    options.capacity = CAPACITY;
    options.seed = seed;
    if (ocdm_memory_create(&options, &memory, &error) != OCDM_OK)
        exit(fprintf(stderr, "%s\n", error.message));
    for (int i = 0; i < tasks; i++)
        for (size_t at = made->starts[i]; at < made->starts[i + 1]; at += 10) {
            size_t count = made->starts[i + 1] - at < 10 ? made->starts[i + 1] - at : 10;
            if (ocdm_memory_update(memory, &made->items[at], count, NULL, &error) != OCDM_OK)
                exit(fprintf(stderr, "%s\n", error.message));
        }
    for (int c = 0; c < class_count; c++) {
        if (task_of[c] < 0 || !(survivors & bit(c)))
            continue;
        counts->over += ocdm_memory_kept(memory, (uint32_t)c) > (uint32_t)marks->many;
        counts->under += ocdm_memory_kept(memory, (uint32_t)c) < (uint32_t)marks->few;
    }
    ocdm_memory_destroy(memory);
}

/* Mean counts of a policy over memories of `seeds` seeds. The random numbers of the search do not depend on it. */
static memory_counts fill_memories(const memory_counts *marks, int seeds)
{
    static stream made;
    memory_counts counts = {.policy = marks->policy};
    uint64_t kept_state = random_state;
    random_state = 0;
    make_stream(&made);
    for (int seed = 0; seed < seeds; seed++) {
        shuffle_tasks(&made);
        fill_memory(&made, marks, (uint64_t)seed, &counts);
    }
    random_state = kept_state;
    counts.over /= seeds;
    counts.under /= seeds;
    return counts;
}

/* A class that is on the wrong side of a mark costs half of what a point of AMLR costs. */
static double cost_of_counts(const memory_counts *marks, const memory_counts *counts)
{
    double under = marks->under < 0 ? 0 : fabs(counts->under - marks->under);
    return LAW * 0.5 * (fabs(counts->over - marks->over) + under);
}

/* Above the limit, some number above it. */
static double memory_cost(const target *t, double limit)
{
    double sum = 0;
    for (int p = 0; p < POLICIES && sum <= limit; p++) {
        const memory_counts *marks = &t->memory[p];
        if (marks->seeds == 0)
            continue;
        memory_counts counts = fill_memories(marks, marks->seeds);
        sum += cost_of_counts(marks, &counts);
    }
    return sum;
}

/* ---- searching ------------------------------------------------------------------------------------------------------ */

static uint64_t next_random(void)
{
    uint64_t x = random_state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static int below(int limit)
{
    return (int)(next_random() % (uint64_t)limit);
}

/* How much worse a change may be to be accepted at this heat. */
static double patience(double heat)
{
    return -heat * log(((double)(next_random() >> 11) + 1) * 0x1p-53);
}

/* One change of the list: a class elsewhere, two classes for each other, or, now and then, two whole tasks. */
static void change(void)
{
    int a = below(class_count), b = below(class_count), x = below(tasks), y = below(tasks), of_a = task_of[a];
    if (below(300) == 0) {
        for (int c = 0; c < class_count; c++)
            if (task_of[c] == x || task_of[c] == y)
                move(c, x + y - task_of[c]);
    } else if (below(3) == 0) {
        move(a, task_of[b]);
        move(b, of_a);
    } else {
        move(a, below(tasks + 1) - 1);
    }
}

static void restore(const int *tasks_then)
{
    for (int c = 0; c < class_count; c++)
        if (task_of[c] != tasks_then[c])
            move(c, tasks_then[c]);
}

/* The numbers start as a hint and end as the law: first classes gather that belong together, then the list gives way here and
 * there until it meets the statistics. */
static void search(const target *t, long moves, double for_cohesion, double for_unused)
{
    int best[CLASSES], before[CLASSES];
    double now = 0, lowest = INFINITY, law = 0;
    for (long i = 0; i < moves; i++) {
        double progress = (double)i / (double)moves, heat = 3 * pow(0.03, progress);
        if (i % 1000 == 0) {
            law = 0.1 * pow(LAW / 0.1, progress);
            now = cost(t, law, for_cohesion, for_unused);
        }
        memcpy(before, task_of, sizeof before);
        change();
        double then = cost(t, law, for_cohesion, for_unused);
        if (then - now > patience(heat)) {
            restore(before);
            continue;
        }
        now = then;
        double final = cost(t, LAW, for_cohesion, for_unused);
        if (final < lowest) {
            lowest = final;
            memcpy(best, task_of, sizeof best);
        }
    }
    restore(best);
    printf("# cost %.4f by the stream alone\n", lowest);
}

/* The same with memories. They cost nothing or more, so most changes are rejected before one is filled. */
static void search_with_memories(const target *t, int lists, double for_cohesion, double for_unused)
{
    int best[CLASSES], before[CLASSES];
    double now = cost(t, LAW, for_cohesion, for_unused) + memory_cost(t, INFINITY), lowest = now;
    memcpy(best, task_of, sizeof best);
    printf("# cost %.4f with the memories\n", now);
    for (int filled = 0; filled < lists;) {
        memcpy(before, task_of, sizeof before);
        double bound = now + patience(2 * pow(0.05, (double)filled / lists));
        change();
        double then = cost(t, LAW, for_cohesion, for_unused);
        if (then <= bound) {
            then += memory_cost(t, bound - then);
            filled++;
        }
        if (then > bound) {
            restore(before);
            continue;
        }
        now = then;
        if (now < lowest) {
            lowest = now;
            memcpy(best, task_of, sizeof best);
        }
    }
    restore(best);
    printf("# cost %.4f after the search with memories\n", lowest);
}

/* Prints what more memories than the search can afford hold, and returns what that costs. */
static double print_memories(const target *t)
{
    double sum = 0;
    printf("# classes in memory:");
    for (int p = 0; p < POLICIES; p++) {
        const memory_counts *marks = &t->memory[p];
        memory_counts counts = fill_memories(marks, REPORT_SEEDS);
        sum += marks->seeds == 0 ? 0 : cost_of_counts(marks, &counts);
        printf(" %s %.1f over %d", marks->policy, counts.over, marks->many);
        if (marks->under >= 0)
            printf(", %.1f under %d", counts.under, marks->few);
        printf(p < POLICIES - 1 ? ";" : "\n");
    }
    return sum;
}

static void print_list(const target *t)
{
    statistics s = look(t);
    printf("# %s: samples %.0f, of them %.1f %% with several labels, classes %d, groups %d-%d-%d, cohesion %.3f, unused %d\n",
           t->name, s.samples, 100 * s.multi_label, s.classes, s.groups[0], s.groups[1], s.groups[2], s.cohesion, s.unused);
    printf("# AMLR");
    for (int i = 0; i < tasks; i++)
        printf(" %.2f (%d classes, %.0f samples)", s.amlr[i], s.per_task[i], samples[i]);
    printf(", total %.2f\n", s.total);
    for (int i = 0; i < tasks; i++) {
        const char *separator = "";
        for (int kept = 1; kept >= 0; kept--)
            for (int c = 0; c < class_count; c++)
                if (task_of[c] == i && !!(survivors & bit(c)) == kept) {
                    printf("%s%s", separator, names[c]);
                    separator = kept ? ", " : ",  ";
                }
        printf("\n");
    }
}

int main(int count, char **arguments)
{
    const target *t = count > 2 && !strcmp(arguments[1], "nus") ? &targets[1] : &targets[0];
    if (count < 3)
        return fputs("usage: search-lists coco|nus RECORDS.jsonl [seed [millions [lists [cohesion [unused]]]]]\n", stderr), 2;
    random_state = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
    double millions = count > 4 ? atof(arguments[4]) : 1;
    tasks = t->tasks;
    read_records(arguments[2]);
    prepare();
    for (int c = 0; c < class_count; c++)
        task_of[c] = -1;
    double cohesion = count > 6 ? atof(arguments[6]) : 10, unused = count > 7 ? atof(arguments[7]) : 0.02;
    search(t, (long)(millions * 1e6), cohesion, unused);
    search_with_memories(t, count > 5 ? atoi(arguments[5]) : 1000, cohesion, unused);
    double memories = print_memories(t);
    printf("# cost %.4f with these memories\n", cost(t, LAW, cohesion, unused) + memories);
    print_list(t);
    return 0;
}
