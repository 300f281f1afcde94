/* Small run folders for tests of their readers. Include after tests/nested_files.h. */
#ifndef OCDM_TESTS_MADE_SUMMARY_H
#define OCDM_TESTS_MADE_SUMMARY_H

#include <stdio.h>

#include "../nested_files.h"

/* What the runs of a test differ in. */
struct made_run {
    const char *method;
    unsigned seed;
    const char *memory;   /* JSON */
    const char *order;    /* JSON */
    const char *map;      /* JSON: the final total mAP, null without a network */
    const char *distance; /* JSON: the final distance_seen */
    const char *name;     /* JSON string: of the first class */
    const char *stream;   /* JSON string: the checksum */
    const char *model;    /* JSON string */
    const char *kind;     /* JSON string: what the samples of the stream are */
    const char *counts;   /* JSON: samples in memory of each class */
};

/* Writes FOLDER/summary.json: two tasks, three classes of which the last comes first when task 1 does, two evaluations. */
static inline int put_run(const char *folder, const struct made_run *run)
{
    char text[8192], path[256];
    snprintf(path, sizeof path, "%s/summary.json", folder);
    snprintf(text, sizeof text,
             "{\"format\":\"ocdm-run\",\"version\":1,\"program\":\"0\",\n"
             "\"settings\":{\"method\":\"%s\",\"memory\":%s,\"rho\":0,\"model\":%s,\"clip\":null,\"seed\":%u,"
             "\"order\":%s},\n"
             "\"stream\":{\"file\":\"folder-of-s.safetensors\",\"checksum\":%s,\"train\":70,\"test\":6,\"kind\":%s},\n"
             "\"classes\":[{\"name\":%s,\"group\":\"majority\",\"train\":40,\"tasks\":[40,0]},"
             "{\"name\":\"b\",\"group\":\"moderate\",\"train\":20,\"tasks\":[20,0]},"
             "{\"name\":\"c\",\"group\":\"minority\",\"train\":10,\"tasks\":[0,10]}],\n"
             "\"evaluations\":[{\"after\":0,\"task\":1,\"step\":10,\"samples\":100,\"total\":{\"mAP\":50},"
             "\"tasks\":[{\"task\":1,\"mAP\":50}]},"
             "{\"after\":1,\"task\":0,\"step\":20,\"samples\":200,\"total\":{\"mAP\":%s},"
             "\"tasks\":[{\"task\":1,\"mAP\":31.25},{\"task\":0,\"mAP\":62.5}]}],\n"
             "\"final\":{\"distance\":%s,\"distance_seen\":%s,\"total\":{\"mAP\":%s,\"CF1\":30,\"OF1\":20},"
             "\"per_class\":[{\"AP\":80},{\"AP\":null},{\"AP\":12.5}]},\n"
             "\"memory\":{\"kept\":6,\"counts\":%s,\"target\":[4,4,4],\"seen\":[40,20,10]},\n"
             "\"curve\":{\"step\":[10,20],\"task\":[1,0],\"loss\":[1,0.5],\"distance\":[1,0.25],\"distance_seen\":[1,%s]},\n"
             "\"samples\":200,\"times\":{\"draw\":1,\"train\":5,\"update\":1,\"evaluate\":2,\"decode\":3,\"total\":3723,"
             "\"update_share\":10,\"ended\":\"2026-01-02T03:04:05Z\"},"
             "\"environment\":{\"cpu\":\"x\",\"machine\":\"node7\"}}\n",
             run->method, run->memory, run->model, run->seed, run->order, run->stream, run->kind, run->name, run->map,
             run->distance, run->distance, run->map, run->counts, run->distance);
    return put_text(path, text);
}

#define MADE_RUN                                                                                                               \
    (struct made_run)                                                                                                          \
    {                                                                                                                          \
        .method = "ocdm", .memory = "6", .order = "[1,0]", .map = "40", .distance = "0.5", .name = "\"a\"", .stream = "\"1\"", \
        .model = "\"linear\"", .kind = "\"features\"", .counts = "[3,0,9]"                                                     \
    }

#endif
