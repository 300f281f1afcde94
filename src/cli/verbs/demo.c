/* `ocdm demo`: compares OCDM with other policies on the built-in stream, as a table and a picture; or prints the stream. */
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/verbs.h"
#include "experiment/compare/memory_only.h"
#include "report/figures/balance.h"
#include "report/text.h"
#include "stream/scenes/scenes.h"
#include "stream/statistics.h"

enum { CAPACITY = 1000, BATCH = 10, MAX_CLASSES = 64, NAME_WIDTH = 9 };

#define MOST_POLICIES OCDM__CHOICES

/* The policies that need no gradients and take several labels; no second rule of one policy. */
static const char *const *policy_names(void)
{
    static const char *names[OCDM__CHOICES];
    return ocdm__policy_choices(names, 0, OCDM_NEEDS_GRADIENTS | OCDM_NEEDS_TASKS | OCDM_SINGLE_LABEL | OCDM_AS_RELEASED);
}

static size_t policy_count(void)
{
    size_t count = 0;
    while (policy_names()[count] != NULL)
        count++;
    return count;
}

struct outcome {
    double us_per_step;
    double distance;      /* over the classes in play */
    double distance_seen; /* over all classes seen */
    ocdm__balance balance;
    uint32_t kept[MAX_CLASSES];
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Passes the stream through a memory. */
static ocdm_status run_policy(const ocdm__builtin *stream, const char *policy, uint64_t seed, struct outcome *outcome,
                              ocdm_error *error)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = CAPACITY;
    options.batch = BATCH;
    options.policy = ocdm_policy_find(policy);
    options.seed = seed;
    ocdm_memory *memory = NULL;
    OCDM_TRY(ocdm_memory_create(&options, &memory, error));
    double start = cpu_seconds();
    ocdm_status status = OCDM_OK;
    for (size_t at = 0; status == OCDM_OK && at < stream->sample_count; at += BATCH) {
        size_t left = stream->sample_count - at;
        status = ocdm_memory_update(memory, stream->samples + at, left < BATCH ? left : BATCH, NULL, error);
    }
    outcome->us_per_step = 1e6 * (cpu_seconds() - start) * BATCH / (double)stream->sample_count;
    outcome->distance = ocdm_memory_distance(memory, OCDM_IN_PLAY);
    outcome->distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
    outcome->balance = ocdm__balance_of(memory, stream->class_count, outcome->kept);
    ocdm_memory_destroy(memory);
    return status;
}

/* n_i of every class: how many samples of the stream carry it. */
static void count_classes(const ocdm__builtin *stream, uint64_t seen[MAX_CLASSES])
{
    memset(seen, 0, MAX_CLASSES * sizeof *seen);
    for (size_t j = 0; j < stream->label_start[stream->sample_count]; j++)
        seen[stream->label[j]]++;
}

/* How the bars are drawn: each class `width` columns wide, `merged` classes to a bar where space is short. */
struct picture {
    unsigned width, merged;
    const ocdm__bar_style *style;
};

enum { ROWS = 3 };

/* Samples that fill the height; about twice what an even memory has of each class. */
#define FULL_HEIGHT 60u

/* Tasks are set apart; a bar of several classes shows their mean, rounded up to a whole sample. */
static void print_picture(ocdm__output *output, const struct picture *picture, const char *name, const struct outcome *outcome,
                          size_t class_count)
{
    double kept[MAX_CLASSES], height[MAX_CLASSES];
    bool apart[MAX_CLASSES] = {false};
    for (size_t c = 0; c < class_count; c++)
        kept[c] = outcome->kept[c];
    ocdm__bars bars = {.style = picture->style,
                       .height = height,
                       .count = ocdm__bars_merge(kept, class_count, picture->merged, height),
                       .rows = ROWS,
                       .width = picture->width,
                       .apart = apart,
                       .marks = true};
    for (size_t i = 0; i < bars.count; i++) {
        uint32_t first = (uint32_t)i * picture->merged;
        height[i] = ceil(height[i]) * ROWS / FULL_HEIGHT;
        apart[i] = i > 0 && ocdm__builtin_class_task(first) != ocdm__builtin_class_task(first - picture->merged);
    }
    for (unsigned row = ROWS; row-- > 0;) {
        ocdm__put(output, "%-*s ", NAME_WIDTH, row == 0 ? name : "");
        ocdm__bars_row(output, &bars, row);
    }
}

static void print_pictures(ocdm__output *output, const struct outcome outcomes[MOST_POLICIES], size_t class_count)
{
    struct picture picture = {.width = 1, .merged = 1};
    unsigned columns = ocdm__terminal_width(STDOUT_FILENO);
    size_t room = columns > NAME_WIDTH + 12 ? columns - NAME_WIDTH - 2 : 10;
    while (picture.width < 3 && (picture.width + 1) * class_count + 8 <= room)
        picture.width++;
    while ((class_count + picture.merged - 1) / picture.merged + 4 > room)
        picture.merged++;
    picture.style = ocdm__speaks_utf8() ? &ocdm__bar_blocks : &ocdm__bar_ascii;

    ocdm__put(output, "Samples in memory: a bar for %s, task after task.\nFull height is %u; %s is more, %s is none.\n",
              picture.merged == 1 ? "each class" : "a few classes", FULL_HEIGHT, picture.style->cut, picture.style->none);
    for (size_t i = 0; i < policy_count(); i++) {
        ocdm__output_text(output, "\n");
        print_picture(output, &picture, policy_names()[i], &outcomes[i], class_count);
    }
}

static ocdm_status print_comparison(const ocdm__builtin *stream, const struct outcome outcomes[MOST_POLICIES],
                                    ocdm_error *error)
{
    ocdm__output output;
    OCDM_TRY(ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    uint64_t seen[MAX_CLASSES], most = 0, fewest = UINT64_MAX;
    count_classes(stream, seen);
    for (size_t c = 0; c < stream->class_count; c++) {
        most = seen[c] > most ? seen[c] : most;
        fewest = seen[c] < fewest ? seen[c] : fewest;
    }
    ocdm__put(&output,
              "A stream of %zu samples with %.1f labels each passes by a memory that holds\n"
              "%d of them, %d at a time. Its %zu classes come in four tasks, one after another;\n"
              "the most frequent is on %.0f%% of all samples, the rarest on %llu samples in all.\n"
              "Every class should be in the memory equally often. How near does each policy come?\n\n",
              stream->sample_count, (double)stream->label_start[stream->sample_count] / (double)stream->sample_count, CAPACITY,
              BATCH, stream->class_count, 100.0 * (double)most / (double)stream->sample_count, (unsigned long long)fewest);
    ocdm__put(&output, "%-*s %9s %9s | %6s %6s %6s %6s %6s | %8s\n", NAME_WIDTH, "policy", "distance", "of seen", "fewest",
              "most", "lost", "<20", ">40", "us/step");
    for (size_t i = 0; i < policy_count(); i++) {
        const ocdm__balance *balance = &outcomes[i].balance;
        ocdm__put(&output, "%-*s %9.4f %9.4f | %6u %6u %6zu %6zu %6zu | %8.1f\n", NAME_WIDTH, policy_names()[i],
                  outcomes[i].distance, outcomes[i].distance_seen, balance->fewest, balance->most, balance->lost,
                  balance->under, balance->over, outcomes[i].us_per_step);
    }
    ocdm__output_text(&output, "\n"
                               "distance      how far the memory is from equal shares (KL divergence); best is 0\n"
                               "of seen       the same, but classes that the memory lost count too\n"
                               "fewest, most  samples in memory of the class that has the fewest, the most\n"
                               "lost          classes without a sample in memory\n"
                               "<20, >40      classes with fewer than 20, more than 40 samples in memory\n"
                               "us/step       microseconds to update the memory with a batch\n\n");
    print_pictures(&output, outcomes, stream->class_count);
    return ocdm__output_commit(&output, error);
}

static void write_outcome(ocdm__output *output, const char *name, const struct outcome *outcome, size_t class_count)
{
    ocdm__json_open(output, NULL, '{');
    ocdm__json_string(output, "policy", name);
    ocdm__json_real(output, "distance", outcome->distance);
    ocdm__json_real(output, "distance_seen", outcome->distance_seen);
    ocdm__json_count(output, "fewest", outcome->balance.fewest);
    ocdm__json_count(output, "most", outcome->balance.most);
    ocdm__json_count(output, "lost", outcome->balance.lost);
    ocdm__json_count(output, "under_20", outcome->balance.under);
    ocdm__json_count(output, "over_40", outcome->balance.over);
    ocdm__json_real(output, "us_per_step", outcome->us_per_step);
    ocdm__json_open(output, "kept", '[');
    for (size_t c = 0; c < class_count; c++)
        ocdm__json_count(output, NULL, outcome->kept[c]);
    ocdm__output_text(output, "]}");
}

static ocdm_status write_json(const ocdm__builtin *stream, uint64_t seed, const struct outcome outcomes[MOST_POLICIES],
                              ocdm_error *error)
{
    ocdm__output output;
    uint64_t seen[MAX_CLASSES];
    OCDM_TRY(ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    ocdm__json_open(&output, NULL, '{');
    ocdm__json_count(&output, "samples", stream->sample_count);
    ocdm__json_count(&output, "seed", seed);
    ocdm__json_count(&output, "memory", CAPACITY);
    ocdm__json_count(&output, "batch", BATCH);
    count_classes(stream, seen);
    ocdm__json_open(&output, "classes", '[');
    for (uint32_t c = 0; c < stream->class_count; c++) {
        ocdm__json_open(&output, NULL, '{');
        ocdm__json_string(&output, "label", ocdm__builtin_class_name(c));
        ocdm__json_count(&output, "task", ocdm__builtin_class_task(c));
        ocdm__json_count(&output, "seen", seen[c]);
        ocdm__json_close(&output, '}');
    }
    ocdm__json_close(&output, ']');
    ocdm__json_open(&output, "results", '[');
    for (size_t i = 0; i < policy_count(); i++)
        write_outcome(&output, policy_names()[i], &outcomes[i], stream->class_count);
    ocdm__output_text(&output, "]}\n");
    return ocdm__output_commit(&output, error);
}

static ocdm_status print_stream(uint64_t seed, ocdm_error *error)
{
    ocdm__builtin *builtin = NULL;
    ocdm__output output = {.buffer = NULL};
    ocdm_status status = ocdm__builtin_create(seed, 0, &builtin, error);
    OCDM_THEN(status, ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    for (size_t i = 0; status == OCDM_OK && i < builtin->sample_count; i++) {
        ocdm__json_open(&output, NULL, '{');
        ocdm__json_count(&output, "id", i);
        ocdm__json_open(&output, "labels", '[');
        for (size_t j = builtin->label_start[i]; j < builtin->label_start[i + 1]; j++)
            ocdm__json_string(&output, NULL, ocdm__builtin_class_name(builtin->label[j]));
        ocdm__json_close(&output, ']');
        ocdm__json_count(&output, "task", builtin->task[i]);
        ocdm__output_text(&output, "}\n");
    }
    ocdm__builtin_destroy(builtin);
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    return status;
}

static ocdm_status draw_picture(const ocdm__builtin *stream, const struct outcome outcomes[MOST_POLICIES], const char *path,
                                ocdm_error *error)
{
    ocdm__picture_class classes[MAX_CLASSES];
    ocdm__picture_panel panels[MOST_POLICIES];
    char caption[160];
    uint64_t seen[MAX_CLASSES]; /* classes come in the order of their tasks */
    count_classes(stream, seen);
    for (uint32_t c = 0; c < stream->class_count; c++) {
        enum ocdm__class_group group = ocdm__class_group_of(seen[c], OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER);
        classes[c] = (ocdm__picture_class){.name = ocdm__builtin_class_name(c),
                                           .group = ocdm__class_group_name(group),
                                           .task = (double)ocdm__builtin_class_task(c)};
    }
    for (size_t i = 0; i < policy_count(); i++)
        panels[i] = (ocdm__picture_panel){.policy = policy_names()[i],
                                          .distance = outcomes[i].distance,
                                          .distance_seen = outcomes[i].distance_seen,
                                          .kept = outcomes[i].kept};
    snprintf(caption, sizeof caption,
             "Memory of %d after %zu samples. In the stream, majority classes occur more than %u times, minority "
             "classes fewer "
             "than %u.",
             CAPACITY, stream->sample_count, OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER);
    ocdm__balance_picture picture = {.classes = classes,
                                     .class_count = stream->class_count,
                                     .panels = panels,
                                     .panel_count = policy_count(),
                                     .top = OCDM__PICTURE_TOP,
                                     .caption = caption};
    return ocdm__balance_picture_write(&picture, path, error);
}

/* The picture comes first: when it cannot be written, nothing is printed that looks like success. */
static ocdm_status compare(uint64_t seed, bool json, const char *picture, ocdm_error *error)
{
    ocdm__builtin *stream = NULL;
    struct outcome outcomes[MOST_POLICIES] = {{.kept = {0}}};
    ocdm_status status = ocdm__builtin_create(seed, 0, &stream, error);
    for (size_t i = 0; status == OCDM_OK && i < policy_count(); i++)
        status = run_policy(stream, policy_names()[i], seed, &outcomes[i], error);
    if (status == OCDM_OK && picture != NULL)
        status = draw_picture(stream, outcomes, picture, error);
    OCDM_THEN(status, json ? write_json(stream, seed, outcomes, error) : print_comparison(stream, outcomes, error));
    ocdm__builtin_destroy(stream);
    return status;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    uint64_t seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    const char *picture = ocdm__argument_text(arguments, "picture");
    bool stream_only = ocdm__argument_given(arguments, "print-stream");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (stream_only && picture != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT,
                          "--print-stream compares no policies; run `ocdm demo --picture FILE` separately",
                          "--picture and --print-stream cannot be combined");
    return stream_only ? print_stream(seed, error) : compare(seed, ocdm__argument_given(arguments, "json"), picture, error);
}

static const ocdm__flag flags[] = {
    OCDM__SWITCH(0, "print-stream", "write the built-in stream as JSON Lines instead"),
    OCDM__VALUE(0, "seed", "S", "0", "seed of the stream and of the policies"),
    OCDM__SWITCH(0, "json", "print JSON"),
    OCDM__VALUE(0, "picture", "FILE", NULL, "also draw the comparison as SVG"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_demo = {
    .name = "demo",
    .summary = "compare OCDM with the other policies, in seconds",
    .flags = flags,
    .run = run,
};
