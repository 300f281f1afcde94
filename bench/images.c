/*
 * How many images a core decodes and augments: images per second of CPU time, for each setting of interest.
 *
 *     cc -O2 -Iinclude -Isrc -o /tmp/bench-images bench/images.c \
 *         src/stream/images/{image,jpeg,png,loader,prepare,resize}.c src/base/{allocate,error}.c -ljpeg -lpng -lpthread -lm
 *     /tmp/bench-images FOLDER...                    every file in the folders must be a JPEG or a PNG
 *
 * The files are read once before the clock starts, so that the disk is not what is measured.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stream/images/prepare.h"

#define BATCH 20

static char **paths;
static size_t path_count;

static void fail(const char *message)
{
    fprintf(stderr, "error: %s\n", message);
    exit(1);
}

static void list_folder(const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing)
        fail(folder);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.')
            continue;
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        paths = realloc(paths, (path_count + 1) * sizeof *paths);
        if (!paths || !(paths[path_count] = malloc(size)))
            fail("out of memory");
        snprintf(paths[path_count++], size, "%s/%s", folder, entry->d_name);
    }
    closedir(listing);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t submit(ocdm__image_loader *loader, size_t batch, float *tensor)
{
    ocdm__image_request requests[BATCH];
    size_t from = batch * BATCH, count = path_count - from < BATCH ? path_count - from : BATCH;
    for (size_t i = 0; i < count; i++)
        requests[i] = (ocdm__image_request){.path = paths[from + i], .sample = from + i, .step = batch, .training = true};
    ocdm_error error;
    if (ocdm__image_loader_submit(loader, batch % 2, requests, count, tensor, &error) != OCDM_OK)
        fail(error.message);
    return count;
}

static size_t pass(ocdm__image_loader *loader, float *const tensor[2])
{
    size_t batches = (path_count + BATCH - 1) / BATCH, failed = 0;
    for (size_t batch = 0; batch < batches + 1; batch++) {
        if (batch < batches)
            submit(loader, batch, tensor[batch % 2]);
        ocdm__image_outcome outcome;
        if (batch > 0 && ocdm__image_loader_wait(loader, (batch - 1) % 2, &outcome, NULL) == OCDM_OK)
            failed += outcome.failed;
    }
    return failed;
}

static void measure(uint32_t resize, uint32_t crop, size_t threads)
{
    ocdm__image_settings settings = ocdm__image_settings_default();
    settings.resize = resize;
    settings.crop = crop;
    ocdm__image_loader *loader = NULL;
    ocdm_error error;
    if (ocdm__image_loader_create(&settings, threads, 2, &loader, &error) != OCDM_OK)
        fail(error.message);
    size_t floats = BATCH * ocdm__image_floats(&settings);
    float *tensor[2] = {malloc(floats * sizeof(float)), malloc(floats * sizeof(float))};
    if (!tensor[0] || !tensor[1])
        fail("out of memory");
    pass(loader, tensor);
    double before = cpu_seconds();
    size_t failed = pass(loader, tensor);
    double seconds = cpu_seconds() - before;
    printf("resize %3u crop %3u, %zu threads: %6.0f images per second and core, %zu of %zu failed\n", resize, crop, threads,
           (double)path_count / seconds, failed, path_count);
    ocdm__image_loader_destroy(loader);
    free(tensor[0]);
    free(tensor[1]);
}

int main(int count, char **arguments)
{
    if (count < 2)
        fail("bench-images FOLDER...");
    for (int i = 1; i < count; i++)
        list_folder(arguments[i]);
    static const uint32_t sizes[][2] = {{64, 64}, {72, 64}, {128, 128}, {144, 128}, {256, 224}};
    for (size_t threads = 1; threads <= 2; threads++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            measure(sizes[i][0], sizes[i][1], threads);
    for (size_t i = 0; i < path_count; i++)
        free(paths[i]);
    free(paths);
    return 0;
}
