/* A network over image files that belong to no stream: which files there are, and what it says of each. */
#define _XOPEN_SOURCE 700

#include "experiment/predict.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "agent/model.h"
#include "base/allocate.h"
#include "base/error.h"
#include "experiment/run_ranks.h"
#include "ranks/ranks.h"

enum { MOST_LEVELS = 64, BATCHES = 2 };

#define UNIT sizeof(uint32_t)

/* ---- list ---------------------------------------------------------------------------------------------------------------- */

static char *joined(const char *folder, const char *name)
{
    size_t length = strlen(folder), rest = strlen(name);
    size_t slash = length > 0 && folder[length - 1] != '/' && rest > 0 ? 1 : 0;
    char *path = ocdm__allocate(length + slash + rest + 1, 1);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    memcpy(path + length, "/", slash);
    memcpy(path + length + slash, name, rest + 1);
    return path;
}

/* Takes the path over. */
static ocdm_status append(ocdm__photo_list *list, char *path, ocdm_error *error)
{
    if (path != NULL && ocdm__reserve(&list->paths, &list->room, list->count + 1, sizeof *list->paths)) {
        list->paths[list->count++] = path;
        return OCDM_OK;
    }
    ocdm__release(path);
    return ocdm__fail_memory(error, "the list of files");
}

static bool starts_like_image(const char *path)
{
    unsigned char bytes[16];
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return ocdm__is_jpeg(bytes, size) || ocdm__is_png(bytes, size);
}

/* By name too, so that a damaged image is reported and not passed over. */
static bool is_image(const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return starts_like_image(path);
}

static ocdm_status add_folder(ocdm__photo_list *list, const char *folder, unsigned level, ocdm_error *error);

/* A link to a folder could lead round in a circle: only links to files are followed. */
static ocdm_status add_entry(ocdm__photo_list *list, const char *folder, const char *name, unsigned level, ocdm_error *error)
{
    struct stat facts, target;
    ocdm_status status = OCDM_OK;
    char *path = joined(folder, name);
    if (path == NULL)
        return ocdm__fail_memory(error, "the list of files");
    bool known = lstat(path, &facts) == 0 && stat(path, &target) == 0;
    if (known && S_ISREG(target.st_mode) && is_image(path))
        return append(list, path, error);
    if (known && S_ISDIR(facts.st_mode))
        status = add_folder(list, path, level + 1, error);
    ocdm__release(path);
    return status;
}

static ocdm_status add_folder(ocdm__photo_list *list, const char *folder, unsigned level, ocdm_error *error)
{
    DIR *listing = level < MOST_LEVELS ? opendir(folder) : NULL;
    ocdm_status status = OCDM_OK;
    if (level == MOST_LEVELS)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: folders in folders, more than %d", folder, MOST_LEVELS);
    if (listing == NULL)
        return ocdm__fail(error, OCDM_IO, "", "cannot read the folder %s: %s", folder, strerror(errno));
    for (struct dirent *entry; status == OCDM_OK && (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            status = add_entry(list, folder, entry->d_name, level, error);
    closedir(listing);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

ocdm_status ocdm__photo_list_add(ocdm__photo_list *list, const char *path, ocdm_error *error)
{
    struct stat facts;
    size_t before = list->count;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return append(list, joined(path, ""), error);
    ocdm_status status = add_folder(list, path, 0, error);
    if (status == OCDM_OK && list->count == before)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s: no JPEG or PNG file is in the folder", path);
    if (list->count > before)
        qsort(list->paths + before, list->count - before, sizeof *list->paths, compare_paths);
    return status;
}

void ocdm__photo_list_clear(ocdm__photo_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ocdm__release(list->paths[i]);
    ocdm__release(list->paths);
    *list = (ocdm__photo_list){.count = 0};
}

/* ---- other ranks ----------------------------------------------------------------------------------------------------------
 */

static char *all_paths(const ocdm__photo_list *list, size_t size)
{
    char *text = ocdm__allocate(size + UNIT, 1), *at = text;
    for (size_t i = 0; i < list->count && text != NULL; i++) {
        size_t length = strlen(list->paths[i]) + 1;
        memcpy(at, list->paths[i], length);
        at += length;
    }
    return text;
}

/* The leader's list for all ranks: what is in a folder is looked up once. */
static ocdm_status share_paths(const ocdm__ranks *ranks, ocdm__photo_list *list, ocdm_error *error)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->paths[i]) + 1;
    ranks->broadcast(&size, sizeof size / UNIT);
    char *text = all_paths(list, (size_t)size);
    ocdm_status status = text != NULL ? OCDM_OK : ocdm__fail_memory(error, "the list of files");
    if (status == OCDM_OK)
        ranks->broadcast(text, ((size_t)size + UNIT - 1) / UNIT);
    for (size_t at = 0; ranks->rank != 0 && at < size && status == OCDM_OK; at += strlen(text + at) + 1)
        status = append(list, joined(text + at, ""), error);
    ocdm__release(text);
    return status;
}

/* ---- work ---------------------------------------------------------------------------------------------------------------- */

struct work {
    ocdm__predictor *predictor;
    const ocdm__photo_list *list;
    ocdm__photo_told *told;
    void *state;
    size_t batch, classes, floats;
    ocdm__image_loader *loader;
    ocdm__image_request *requests;
    float *tensors[BATCHES], *logits;
    ocdm_error *failures; /* of a batch, one for each image */
    ocdm_error *error;
};

static size_t batch_from(const struct work *work, size_t first)
{
    size_t rest = first < work->list->count ? work->list->count - first : 0;
    return rest < work->batch ? rest : work->batch;
}

static ocdm_status open_work(struct work *work, unsigned threads)
{
    const ocdm__predictor *predictor = work->predictor;
    ocdm__image_settings images = ocdm__image_settings_default();
    images.resize = predictor->resize;
    images.crop = predictor->crop;
    images.scaling = ocdm__model_is_symmetric(predictor->model) ? OCDM__IMAGE_SYMMETRIC : OCDM__IMAGE_IMAGENET;
    work->batch = work->list->count < predictor->batch ? work->list->count : predictor->batch;
    work->classes = predictor->fit.class_count;
    work->floats = ocdm__image_floats(&images);
    work->requests = ocdm__allocate(work->batch, sizeof *work->requests);
    work->logits = ocdm__allocate(work->batch, work->classes * sizeof *work->logits);
    work->failures = ocdm__allocate(work->batch, sizeof *work->failures);
    for (size_t i = 0; i < BATCHES; i++)
        work->tensors[i] = ocdm__allocate(work->batch, work->floats * sizeof *work->tensors[i]);
    if (work->requests == NULL || work->logits == NULL || work->failures == NULL || work->tensors[0] == NULL ||
        work->tensors[1] == NULL)
        return ocdm__fail_memory(work->error, "a batch of images");
    return ocdm__image_loader_create(&images, threads, BATCHES, &work->loader, work->error);
}

static void close_work(struct work *work)
{
    ocdm__image_loader_destroy(work->loader);
    ocdm__release(work->requests);
    ocdm__release(work->logits);
    ocdm__release(work->failures);
    ocdm__release(work->tensors[0]);
    ocdm__release(work->tensors[1]);
}

/* Starts decoding this process's part of a batch. */
static ocdm_status submit(struct work *work, size_t first, size_t slot)
{
    const ocdm__learner_part part = ocdm__predictor_part(work->predictor, batch_from(work, first));
    size_t count = part.end - part.first;
    for (size_t i = 0; i < count; i++)
        work->requests[i] = (ocdm__image_request){.path = work->list->paths[first + part.first + i]};
    return count == 0 ? OCDM_OK
                      : ocdm__image_loader_submit(work->loader, slot, work->requests, count, work->tensors[slot], work->error);
}

/* The failures of all ranks at the leader. */
static void gather_failures(struct work *work, const ocdm__learner_part *part)
{
    ocdm__ranks_bytes gathered;
    const ocdm__ranks *ranks = part->ranks;
    size_t size = sizeof *work->failures;
    ocdm__ranks_gather_bytes(ranks, work->failures + part->first, (part->end - part->first) * size, &gathered);
    for (size_t r = 1; ranks->rank == 0 && r < ranks->size; r++)
        memcpy(work->failures + part->starts[r], gathered.all + gathered.starts[r] * UNIT, (size_t)gathered.sizes[r]);
    ocdm__ranks_bytes_clear(&gathered);
}

/* Waits for this process's part of a batch; computes the logits of the whole batch with the others. */
static ocdm_status predict_batch(struct work *work, size_t first, size_t slot)
{
    ocdm__image_outcome outcome = {.count = 0};
    size_t count = batch_from(work, first);
    const ocdm__learner_part part = ocdm__predictor_part(work->predictor, count);
    if (part.first < part.end)
        OCDM_TRY(ocdm__image_loader_wait(work->loader, slot, &outcome, work->error));
    if (outcome.count > 0)
        memcpy(work->failures + part.first, outcome.errors, outcome.count * sizeof *outcome.errors);
    if (part.ranks->size > 1)
        gather_failures(work, &part);
    /* of images that failed too, whose tensors are zeros */
    return ocdm__agent_predict(work->predictor->agent, work->tensors[slot], count, work->logits, work->error);
}

static bool are_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static ocdm_status tell(struct work *work, size_t first)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < batch_from(work, first) && status == OCDM_OK; i++) {
        const float *logits = work->logits + i * work->classes;
        ocdm_error why = work->failures[i];
        ocdm__photo photo = {.path = work->list->paths[first + i], .logits = logits};
        if (why.status == OCDM_OK && !are_finite(logits, work->classes))
            ocdm__fail(&why, OCDM_BAD_RECORD, "", "%s: a logit is not a finite number: the weights are too large", photo.path);
        if (why.status != OCDM_OK) {
            photo.logits = NULL;
            photo.why = &why;
        }
        status = work->told(work->state, &photo, work->error);
    }
    return status;
}

/* The others would wait for a rank that cannot go on: it ends them all. Returns for a process that is alone. */
static ocdm_status end_all_after(ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_OK && ocdm__joined())
        ocdm__ranks_end_after(ocdm__ranks_all(), error);
    return status;
}

/* Goes through all batches. */
static ocdm_status predict_all(struct work *work, const ocdm__progress *progress)
{
    size_t slot = 0, count = work->list->count;
    ocdm_status status = end_all_after(submit(work, 0, slot), work->error);
    for (size_t first = 0; first < count; first += work->batch, slot = 1 - slot) {
        if (!ocdm__predictor_goes_on(work->predictor, status == OCDM_OK))
            return status;
        status = submit(work, first + work->batch, 1 - slot);
        if (status == OCDM_OK)
            status = predict_batch(work, first, slot);
        (void)end_all_after(status, work->error);
        if (status == OCDM_OK && work->told != NULL)
            status = tell(work, first);
        ocdm__progress_tell(progress, "predicting", first + batch_from(work, first), count);
        if (status == OCDM_OK && ocdm__progress_stopped(progress))
            status = ocdm__fail(work->error, OCDM_STOPPED, "", "stopped while predicting");
    }
    return status;
}

ocdm_status ocdm__photos_predict(ocdm__predictor *predictor, const ocdm__photo_list *list, unsigned threads,
                                 const ocdm__progress *progress, ocdm__photo_told *told, void *state, ocdm_error *error)
{
    struct work work = {.predictor = predictor, .list = list, .told = told, .state = state, .error = error};
    ocdm__photo_list shared = *list; /* the leader's, which others receive */
    ocdm_status status = OCDM_OK;
    if (ocdm__joined() && ocdm__predictor_goes_on(predictor, true))
        status = share_paths(ocdm__ranks_all(), &shared, error);
    if (status == OCDM_OK)
        status = open_work(&work, threads);
    if (end_all_after(status, error) == OCDM_OK)
        status = predict_all(&work, progress);
    close_work(&work);
    return status;
}

/* Rank 0 reports what goes wrong with files. */
void ocdm__photos_follow(const ocdm__predictor_settings *settings)
{
    ocdm_error error = {.status = OCDM_OK};
    ocdm__predictor predictor = {.agent = NULL};
    ocdm__photo_list list = {.count = 0};
    struct work work = {.predictor = &predictor, .list = &list, .error = &error};
    ocdm__predictor_settings network = *settings;
    network.needs_head = true;
    network.note = NULL;
    ocdm_status status = ocdm__predictor_open(&predictor, &network, &error);
    bool joins = status == OCDM_OK && ocdm__predictor_goes_on(&predictor, false);
    if (joins)
        status = share_paths(ocdm__ranks_all(), &list, &error);
    if (joins && status == OCDM_OK)
        status = open_work(&work, settings->threads);
    if (joins && end_all_after(status, &error) == OCDM_OK)
        (void)predict_all(&work, NULL);
    close_work(&work);
    ocdm__photo_list_clear(&list);
    ocdm__predictor_close(&predictor);
}
