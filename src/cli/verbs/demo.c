/* `ocdm demo`: compares OCDM with other policies on the built-in stream, as a table and a picture; or prints the stream. */
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/verbs.h"
#include "experiment/compare/memory_only.h"
#include "report/figures/balance.h"
#include "stream/scenes/scenes.h"
#include "stream/statistics.h"

enum { CAPACITY = 1000, BATCH = 10, MAX_CLASSES = 64, NAME_WIDTH = 9, ROWS = 3 };

/* Samples that fill the height of a bar; about twice what an even memory has of each class. */
#define FULL_HEIGHT 60u

/* What a policy keeps, besides what the picture shows of it. */
struct outcome {
    double us_per_step;
    ocdm__balance balance;
    uint32_t kept[MAX_CLASSES];
};

struct comparison {
    uint64_t seed;
    const ocdm__builtin *stream;
    size_t class_count;
    uint64_t seen[MAX_CLASSES]; /* n_i of every class: how many samples of the stream carry it */
    struct outcome outcomes[OCDM__CHOICES];
    ocdm__picture_panel panels[OCDM__CHOICES]; /* of the outcomes */
    size_t count;
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The policies that need no gradients and take several labels; no second rule of one policy. */
static ocdm_status run_policies(struct comparison *comparison, ocdm_error *error)
{
    const char *names[OCDM__CHOICES];
    ocdm__policy_choices(names, 0, OCDM_NEEDS_GRADIENTS | OCDM_NEEDS_TASKS | OCDM_SINGLE_LABEL | OCDM_AS_RELEASED);
    for (size_t j = 0; j < comparison->stream->label_start[comparison->stream->sample_count]; j++)
        comparison->seen[comparison->stream->label[j]]++;
    for (; names[comparison->count] != NULL; comparison->count++) {
        struct outcome *outcome = &comparison->outcomes[comparison->count];
        /* Passes the stream through a memory. */
        const ocdm__builtin *stream = comparison->stream;
        ocdm_options options = ocdm_options_default();
        options.capacity = CAPACITY;
        options.batch = BATCH;
        options.policy = ocdm_policy_find(names[comparison->count]);
        options.seed = comparison->seed;
        ocdm_memory *memory = NULL;
        OCDM_TRY(ocdm_memory_create(&options, &memory, error));
        double start = cpu_seconds();
        ocdm_status status = OCDM_OK;
        for (size_t at = 0; status == OCDM_OK && at < stream->sample_count; at += BATCH) {
            size_t left = stream->sample_count - at;
            status = ocdm_memory_update(memory, stream->samples + at, left < BATCH ? left : BATCH, NULL, error);
        }
        outcome->us_per_step = 1e6 * (cpu_seconds() - start) * BATCH / (double)stream->sample_count;
        comparison->panels[comparison->count] =
            (ocdm__picture_panel){.policy = names[comparison->count],
                                  .distance = ocdm_memory_distance(memory, OCDM_IN_PLAY),
                                  .distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER),
                                  .kept = outcome->kept};
        outcome->balance = ocdm__balance_of(memory, comparison->class_count, outcome->kept);
        ocdm_memory_destroy(memory);
        OCDM_TRY(status);
    }
    return OCDM_OK;
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

/* Rows of bars, each class `width` columns wide, `merged` classes to a bar where space is short: their mean, rounded up to a
 * whole sample. Tasks are set apart. */
static void put_bars(ocdm__output *output, const ocdm__picture_panel *panel, size_t class_count, unsigned width,
                     unsigned merged, const ocdm__bar_style *style)
{
    double kept[MAX_CLASSES], height[MAX_CLASSES];
    bool apart[MAX_CLASSES] = {false};
    for (size_t c = 0; c < class_count; c++)
        kept[c] = panel->kept[c];
    ocdm__bars bars = {.style = style,
                       .height = height,
                       .count = ocdm__bars_merge(kept, class_count, merged, height),
                       .rows = ROWS,
                       .width = width,
                       .apart = apart,
                       .marks = true};
    for (size_t i = 0; i < bars.count; i++) {
        uint32_t first = (uint32_t)i * merged;
        height[i] = ceil(height[i]) * ROWS / FULL_HEIGHT;
        apart[i] = i > 0 && ocdm__builtin_class_task(first) != ocdm__builtin_class_task(first - merged);
    }
    for (unsigned row = ROWS; row-- > 0;) {
        ocdm__put(output, "%-*s ", NAME_WIDTH, row == 0 ? panel->policy : "");
        ocdm__bars_row(output, &bars, row);
    }
}

static void write_text(ocdm__output *output, const struct comparison *comparison)
{
    const ocdm__builtin *stream = comparison->stream;
    uint64_t most = 0, fewest = UINT64_MAX;
    for (size_t c = 0; c < comparison->class_count; c++) {
        most = comparison->seen[c] > most ? comparison->seen[c] : most;
        fewest = comparison->seen[c] < fewest ? comparison->seen[c] : fewest;
    }
    ocdm__put(output,
              "A stream of %zu samples with %.1f labels each passes by a memory that holds\n"
              "%d of them, %d at a time. Its %zu classes come in four tasks, one after another;\n"
              "the most frequent is on %.0f%% of all samples, the rarest on %llu samples in all.\n"
              "Every class should be in the memory equally often. How near does each policy come?\n\n",
              stream->sample_count, (double)stream->label_start[stream->sample_count] / (double)stream->sample_count, CAPACITY,
              BATCH, comparison->class_count, 100.0 * (double)most / (double)stream->sample_count, (unsigned long long)fewest);
    ocdm__put(output, "%-*s %9s %9s | %6s %6s %6s %6s %6s | %8s\n", NAME_WIDTH, "policy", "distance", "of seen", "fewest",
              "most", "lost", "<20", ">40", "us/step");
    for (size_t i = 0; i < comparison->count; i++) {
        const struct outcome *outcome = &comparison->outcomes[i];
        const ocdm__balance *balance = &outcome->balance;
        const ocdm__picture_panel *panel = &comparison->panels[i];
        ocdm__put(output, "%-*s %9.4f %9.4f | %6u %6u %6zu %6zu %6zu | %8.1f\n", NAME_WIDTH, panel->policy, panel->distance,
                  panel->distance_seen, balance->fewest, balance->most, balance->lost, balance->under, balance->over,
                  outcome->us_per_step);
    }
    ocdm__output_text(output, "\n"
                              "distance      how far the memory is from equal shares (KL divergence); best is 0\n"
                              "of seen       the same, but classes that the memory lost count too\n"
                              "fewest, most  samples in memory of the class that has the fewest, the most\n"
                              "lost          classes without a sample in memory\n"
                              "<20, >40      classes with fewer than 20, more than 40 samples in memory\n"
                              "us/step       microseconds to update the memory with a batch\n\n");
    unsigned columns = ocdm__terminal_width(STDOUT_FILENO), width = 1, merged = 1;
    size_t room = columns > NAME_WIDTH + 12 ? columns - NAME_WIDTH - 2 : 10, class_count = comparison->class_count;
    const ocdm__bar_style *style = ocdm__speaks_utf8() ? &ocdm__bar_blocks : &ocdm__bar_ascii;
    while (width < 3 && (width + 1) * class_count + 8 <= room)
        width++;
    while ((class_count + merged - 1) / merged + 4 > room)
        merged++;
    ocdm__put(output, "Samples in memory: a bar for %s, task after task.\nFull height is %u; %s is more, %s is none.\n",
              merged == 1 ? "each class" : "a few classes", FULL_HEIGHT, style->cut, style->none);
    for (size_t i = 0; i < comparison->count; i++) {
        ocdm__output_text(output, "\n");
        put_bars(output, &comparison->panels[i], class_count, width, merged, style);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

static void write_json(ocdm__output *output, const struct comparison *comparison)
{
    ocdm__json_open(output, NULL, '{');
    ocdm__json_count(output, "samples", comparison->stream->sample_count);
    ocdm__json_count(output, "seed", comparison->seed);
    ocdm__json_count(output, "memory", CAPACITY);
    ocdm__json_count(output, "batch", BATCH);
    ocdm__json_open(output, "classes", '[');
    for (uint32_t c = 0; c < comparison->class_count; c++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_string(output, "label", ocdm__builtin_class_name(c));
        ocdm__json_count(output, "task", ocdm__builtin_class_task(c));
        ocdm__json_count(output, "seen", comparison->seen[c]);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "results", '[');
    for (size_t i = 0; i < comparison->count; i++) {
        const struct outcome *outcome = &comparison->outcomes[i];
        const ocdm__picture_panel *panel = &comparison->panels[i];
        ocdm__json_open(output, NULL, '{');
        ocdm__json_string(output, "policy", panel->policy);
        ocdm__json_real(output, "distance", panel->distance);
        ocdm__json_real(output, "distance_seen", panel->distance_seen);
        ocdm__json_count(output, "fewest", outcome->balance.fewest);
        ocdm__json_count(output, "most", outcome->balance.most);
        ocdm__json_count(output, "lost", outcome->balance.lost);
        ocdm__json_count(output, "under_20", outcome->balance.under);
        ocdm__json_count(output, "over_40", outcome->balance.over);
        ocdm__json_real(output, "us_per_step", outcome->us_per_step);
        ocdm__json_open(output, "kept", '[');
        for (size_t c = 0; c < comparison->class_count; c++)
            ocdm__json_count(output, NULL, outcome->kept[c]);
        ocdm__json_close(output, ']');
        ocdm__json_close(output, '}');
    }
    ocdm__output_text(output, "]}\n");
}

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static ocdm_status draw_picture(const struct comparison *comparison, const char *path, ocdm_error *error)
{
    ocdm__picture_class classes[MAX_CLASSES]; /* in the order of their tasks */
    char caption[160];
    for (uint32_t c = 0; c < comparison->class_count; c++) {
        enum ocdm__class_group group = ocdm__class_group_of(comparison->seen[c], OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER);
        classes[c] = (ocdm__picture_class){.name = ocdm__builtin_class_name(c),
                                           .group = ocdm__class_group_name(group),
                                           .task = (double)ocdm__builtin_class_task(c)};
    }
    snprintf(caption, sizeof caption,
             "Memory of %d after %zu samples. In the stream, majority classes occur more than %u times, minority classes fewer "
             "than %u.",
             CAPACITY, comparison->stream->sample_count, OCDM__MAJORITY_OVER, OCDM__MINORITY_UNDER);
    ocdm__balance_picture picture = {.classes = classes,
                                     .class_count = comparison->class_count,
                                     .panels = comparison->panels,
                                     .panel_count = comparison->count,
                                     .top = OCDM__PICTURE_TOP,
                                     .caption = caption};
    return ocdm__balance_picture_write(&picture, path, error);
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct comparison comparison = {.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX)};
    const char *picture = ocdm__argument_text(arguments, "picture");
    bool stream_only = ocdm__argument_given(arguments, "print-stream");
    ocdm__builtin *stream = NULL;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (stream_only && picture != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT,
                          "--print-stream compares no policies; run `ocdm demo --picture FILE` separately",
                          "--picture and --print-stream cannot be combined");
    OCDM_TRY(ocdm__builtin_create(comparison.seed, 0, &stream, error));
    comparison.stream = stream;
    comparison.class_count = stream->class_count;
    ocdm_status status = stream_only ? OCDM_OK : run_policies(&comparison, error);
    if (picture != NULL)
        OCDM_THEN(status, draw_picture(&comparison, picture, error));
    if (stream_only) {
        for (size_t i = 0; i < stream->sample_count; i++) {
            ocdm__json_open(arguments->out, NULL, '{');
            ocdm__json_count(arguments->out, "id", i);
            ocdm__json_open(arguments->out, "labels", '[');
            for (size_t j = stream->label_start[i]; j < stream->label_start[i + 1]; j++)
                ocdm__json_string(arguments->out, NULL, ocdm__builtin_class_name(stream->label[j]));
            ocdm__json_close(arguments->out, ']');
            ocdm__json_count(arguments->out, "task", stream->task[i]);
            ocdm__output_text(arguments->out, "}\n");
        }
    } else if (status == OCDM_OK && ocdm__argument_given(arguments, "json"))
        write_json(arguments->out, &comparison);
    else if (status == OCDM_OK)
        write_text(arguments->out, &comparison);
    ocdm__builtin_destroy(stream);
    return status;
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
