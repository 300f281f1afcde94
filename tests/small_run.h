/* A small stream with features or images, as a file in the test's folder, and runs on it. Include scratch_folder.h
 * first. */
#ifndef OCDM_TESTS_SMALL_RUN_H
#define OCDM_TESTS_SMALL_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "experiment/agent_learner.h"
#include "experiment/folder/run_folder.h"
#include "experiment/loop/settings.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

#define SMALL_CLASSES 6u
#define SMALL_WIDTH 7u
#define SMALL_SIDE 16u /* of images */

enum small_kind { SMALL_FEATURES, SMALL_IMAGES, SMALL_FILES };

/* The shape of a small stream: `train` and `test` samples in each of `tasks` tasks. */
struct small_plan {
    uint32_t tasks, train, test;
    bool single; /* one label on each sample */
    uint64_t seed;
    enum small_kind kind; /* files: "good.png" for all but every seventh sample, which has "evil.png" */
};

struct small_stream {
    struct small_plan plan;
    ocdm__stream_table table;
    float *features;
    uint64_t id_starts[4096];
    char ids[4096 * 4];
    uint64_t path_starts[4096];
    char paths[4096 * 8];
    uint64_t class_starts[SMALL_CLASSES + 1];
};

static inline uint32_t small_labels(const struct small_plan *plan, ocdm__random *random, uint32_t *labels)
{
    uint32_t wanted = plan->single ? 1 : 1 + (uint32_t)ocdm__random_below(random, 3), count = 0;
    bool has[SMALL_CLASSES] = {false};
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t first = (uint32_t)ocdm__random_below(random, SMALL_CLASSES);
        has[first < 3 || ocdm__random_below(random, 3) == 0 ? first : 0] = true; /* the later classes are rare */
    }
    for (uint32_t c = 0; c < SMALL_CLASSES; c++)
        if (has[c])
            labels[count++] = c;
    return count;
}

static inline ocdm_status small_fill(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const struct small_stream *small = state;
    (void)error;
    if (small->plan.kind == SMALL_FEATURES) {
        memcpy(bytes, small->features + first * SMALL_WIDTH, count * SMALL_WIDTH * sizeof(float));
        return OCDM_OK;
    }
    size_t size = 3 * SMALL_SIDE * SMALL_SIDE;
    for (size_t i = 0; i < count * size; i++) {
        float feature = small->features[(first + i / size) * SMALL_WIDTH + i % SMALL_WIDTH];
        bytes[i] = (unsigned char)(64 + 60 * (double)feature);
    }
    return OCDM_OK;
}

/* A sample's features: noise, and a step up for each label, so that there is something to learn. */
static inline void small_add(struct small_stream *small, ocdm__random *random, uint32_t task, uint8_t part)
{
    ocdm__stream_table *table = &small->table;
    size_t i = table->sample_count++;
    uint64_t start = table->label_starts[i];
    uint32_t count = small_labels(&small->plan, random, table->labels + start);
    table->label_starts[i + 1] = start + count;
    table->tasks[i] = task;
    table->parts[i] = part;
    for (size_t k = 0; k < SMALL_WIDTH; k++)
        small->features[i * SMALL_WIDTH + k] = (float)(ocdm__random_unit(random) - 0.5);
    for (uint32_t k = 0; k < count; k++)
        small->features[i * SMALL_WIDTH + table->labels[start + k]] += 1.5F;
    small->id_starts[i] = 4 * i;
    small->id_starts[i + 1] = 4 * (i + 1);
    char id[8];
    snprintf(id, sizeof id, "%04u", (unsigned)(i + 1000) % 10000);
    memcpy(small->ids + 4 * i, id, 4);
    small->path_starts[i + 1] = 8 * (i + 1);
    memcpy(small->paths + 8 * i, i % 7 == 3 ? "evil.png" : "good.png", 8);
}

static inline void small_release(struct small_stream *small)
{
    free(small->table.label_starts);
    free(small->table.labels);
    free(small->table.tasks);
    free(small->table.parts);
    free(small->features);
    free(small);
}

static inline struct small_stream *small_made(const struct small_plan *plan)
{
    size_t samples = (size_t)plan->tasks * (plan->train + plan->test);
    struct small_stream *small = calloc(1, sizeof *small);
    assert_true(small != NULL && samples < 4096);
    small->plan = *plan;
    small->table = (ocdm__stream_table){.class_count = SMALL_CLASSES,
                                        .label_starts = calloc(samples + 1, sizeof(uint64_t)),
                                        .labels = calloc(3 * samples, sizeof(uint32_t)),
                                        .tasks = calloc(samples, sizeof(uint32_t)),
                                        .parts = calloc(samples, 1),
                                        .ids = {small->id_starts, small->ids},
                                        .classes = {small->class_starts, "abcdef"}};
    if (plan->kind == SMALL_FILES)
        small->table.paths = (ocdm__text_list){small->path_starts, small->paths};
    small->features = calloc(samples * SMALL_WIDTH, sizeof(float));
    for (uint64_t c = 0; c <= SMALL_CLASSES; c++)
        small->class_starts[c] = c;
    ocdm__random random = ocdm__random_stream(plan->seed, 0);
    for (uint32_t task = 0; task < plan->tasks; task++) {
        for (uint32_t i = 0; i < plan->train; i++)
            small_add(small, &random, task, OCDM__TRAIN);
        for (uint32_t i = 0; i < plan->test; i++)
            small_add(small, &random, task, OCDM__TEST);
    }
    return small;
}

static inline void small_write(const struct small_stream *small, const char *path)
{
    static const struct ocdm__note notes[] = {{.key = "format", .value = "ocdm-stream"}, {.key = "version", .value = "1"}};
    ocdm__payload_source source = {.shape = {.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = SMALL_WIDTH},
                                   .fill = small_fill,
                                   .state = (void *)(uintptr_t)small};
    if (small->plan.kind == SMALL_IMAGES)
        source.shape = (ocdm__payload_shape){
            .kind = OCDM__IMAGES, .dtype = OCDM__U8, .width = SMALL_SIDE, .height = SMALL_SIDE, .channels = 3};
    ocdm_error error;
    const ocdm__payload_source *payload = small->plan.kind == SMALL_FILES ? NULL : &source;
    ocdm_status status = ocdm__stream_write(path, &small->table, payload, notes, 2, NULL, &error);
    if (status != OCDM_OK)
        fail_msg("%s", error.message);
}

/* Writes a stream file by a plan. */
static inline void small_file(const struct small_plan *plan, const char *path)
{
    struct small_stream *small = small_made(plan);
    small_write(small, path);
    small_release(small);
}

/* Settings that learn something in a few steps, with a memory that is full after a third of the stream. */
static inline ocdm__run_settings small_settings(const char *method)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.method = method;
    settings.memory = 30;
    settings.batch = 5;
    settings.replay = 4;
    settings.network.learning_rate = 0.01;
    settings.log_every = 3;
    settings.groups = "40,20";
    settings.network.seed = 11;
    return settings;
}

/* A file's bytes up to a mark (NULL: all), as text to be freed; fails when there is no file, or no mark. */
static inline char *text_before(const char *path, const char *mark)
{
    size_t size;
    char *text = (char *)read_whole(path, &size);
    if (text == NULL)
        fail_msg("%s is not there", path);
    text[size] = '\0';
    char *end = mark != NULL ? strstr(text, mark) : NULL;
    if (mark != NULL && end == NULL)
        fail_msg("%s has no %s", path, mark);
    if (end != NULL)
        *end = '\0';
    return text;
}

static inline void same_file(const char *a, const char *b)
{
    size_t a_size, b_size;
    unsigned char *a_bytes = read_whole(a, &a_size), *b_bytes = read_whole(b, &b_size);
    if (a_bytes == NULL || b_bytes == NULL || a_size != b_size || memcmp(a_bytes, b_bytes, a_size) != 0)
        fail_msg("%s and %s differ", a, b);
    free(a_bytes);
    free(b_bytes);
}

/* Two folders of finished runs have the same contents: weights, memory, and the summary except for times and machine, which
 * come last. */
static inline void same_results(const char *a, const char *b, bool has_agent)
{
    char paths[2][128];
    static const char *const names[] = {"memory.jsonl", "weights.safetensors"};
    for (size_t i = 0; i < (has_agent ? 2 : 1); i++) {
        snprintf(paths[0], sizeof paths[0], "%s/%s", a, names[i]);
        snprintf(paths[1], sizeof paths[1], "%s/%s", b, names[i]);
        same_file(paths[0], paths[1]);
    }
    snprintf(paths[0], sizeof paths[0], "%s/summary.json", a);
    snprintf(paths[1], sizeof paths[1], "%s/summary.json", b);
    char *left = text_before(paths[0], ",\"times\":{"), *right = text_before(paths[1], ",\"times\":{");
    if (strcmp(left, right) != 0)
        fail_msg("%s and %s differ:\n%s\n%s", paths[0], paths[1], left, right);
    free(left);
    free(right);
}

/* Removes a folder of files. */
static inline void remove_folder(const char *folder)
{
    char path[512];
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        remove(path);
    }
    if (listing != NULL)
        closedir(listing);
    rmdir(folder);
}

#endif
