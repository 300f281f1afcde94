/*
 * A network over image files that belong to no stream: which files there are, and what it says of each.
 *
 * A file that cannot be decoded ends nothing: its reason is reported in its place. On several ranks the leader finds the
 * files, and all decode and predict them.
 */
#define _XOPEN_SOURCE 700

#include "experiment/predict.h"

#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include "agent/model.h"
#include "ranks/ranks.h"

enum { MOST_LEVELS = 64, BATCHES = 2 };

#define UNIT sizeof(uint32_t)

/* ---- list ---------------------------------------------------------------------------------------------------------------- */

/* A path of a name in a folder, with one slash between; release it. */
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

/* By its name or its first bytes: a damaged image is reported and not passed over. */
static bool is_image(const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    const char *dot = strrchr(path, '.');
    unsigned char bytes[16];
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return ocdm__is_jpeg(bytes, size) || ocdm__is_png(bytes, size);
}

/* A link to a folder could lead round in a circle: only links to files are followed. */
static ocdm_status add_folder(ocdm__photo_list *list, const char *folder, unsigned level, ocdm_error *error)
{
    DIR *listing = level < MOST_LEVELS ? opendir(folder) : NULL;
    ocdm_status status = OCDM_OK;
    if (level == MOST_LEVELS)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: folders in folders, more than %d", folder, MOST_LEVELS);
    if (listing == NULL)
        return ocdm__fail(error, OCDM_IO, "", "cannot read the folder %s: %s", folder, strerror(errno));
    for (struct dirent *entry; status == OCDM_OK && (entry = readdir(listing)) != NULL;) {
        struct stat facts, target;
        char *path = entry->d_name[0] != '.' ? joined(folder, entry->d_name) : NULL;
        if (entry->d_name[0] == '.')
            continue;
        bool known = path != NULL && lstat(path, &facts) == 0 && stat(path, &target) == 0;
        if (path == NULL || (known && S_ISREG(target.st_mode) && is_image(path))) {
            status = append(list, path, error);
            continue;
        }
        if (known && S_ISDIR(facts.st_mode))
            status = add_folder(list, path, level + 1, error);
        ocdm__release(path);
    }
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

/* The leader's list for all ranks: what is in a folder is looked up once. */
static ocdm_status share_paths(const ocdm__ranks *ranks, ocdm__photo_list *list, ocdm_error *error)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->paths[i]) + 1;
    ranks->broadcast(&size, sizeof size / UNIT);
    char *text = ocdm__allocate((size_t)size + UNIT, 1), *at = text;
    if (text == NULL)
        return ocdm__fail_memory(error, "the list of files");
    for (size_t i = 0; i < list->count; i++) {
        size_t length = strlen(list->paths[i]) + 1;
        memcpy(at, list->paths[i], length);
        at += length;
    }
    ocdm_status status = OCDM_OK;
    ranks->broadcast(text, ((size_t)size + UNIT - 1) / UNIT);
    for (at = text; ranks->rank != 0 && at < text + size && status == OCDM_OK; at += strlen(at) + 1)
        status = append(list, joined(at, ""), error);
    ocdm__release(text);
    return status;
}

/* ---- work ---------------------------------------------------------------------------------------------------------------- */

struct work {
    ocdm__predictor *predictor;
    const ocdm__photo_list *list;
    ocdm__photo_told *told; /* NULL on other ranks */
    void *state;
    size_t batch, classes, floats;
    ocdm__image_loader *loader;
    ocdm__image_request *requests;
    float *tensors[BATCHES], *logits;
    ocdm_error *failures; /* of a batch, one for each image */
};

/* How many files the batch has that begins with number `first`. */
static size_t batch_from(const struct work *work, size_t first)
{
    size_t rest = first < work->list->count ? work->list->count - first : 0;
    return rest < work->batch ? rest : work->batch;
}

/* Two batches: one is decoded while the other is predicted. */
static ocdm_status open_work(struct work *work, unsigned threads, ocdm_error *error)
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
        return ocdm__fail_memory(error, "a batch of images");
    return ocdm__image_loader_create(&images, threads, BATCHES, &work->loader, error);
}

/* Starts decoding this process's part of a batch. */
static ocdm_status submit(struct work *work, size_t first, size_t slot, ocdm_error *error)
{
    const ocdm__learner_part part = ocdm__learner_part_of(&work->predictor->learner, batch_from(work, first), false);
    size_t count = part.end - part.first;
    for (size_t i = 0; i < count; i++)
        work->requests[i] = (ocdm__image_request){.path = work->list->paths[first + part.first + i]};
    return count == 0 ? OCDM_OK
                      : ocdm__image_loader_submit(work->loader, slot, work->requests, count, work->tensors[slot], error);
}

/* Waits for this process's part of a batch; computes the logits of the whole batch with the others, also of images that failed,
 * whose tensors are zeros. The leader gets the failures of all ranks. */
static ocdm_status predict_batch(struct work *work, size_t first, size_t slot, ocdm_error *error)
{
    ocdm__image_outcome outcome = {.count = 0};
    ocdm__ranks_bytes gathered;
    const ocdm__learner_part part = ocdm__learner_part_of(&work->predictor->learner, batch_from(work, first), false);
    const ocdm__ranks *ranks = part.ranks;
    size_t size = sizeof *work->failures;
    if (part.first < part.end)
        OCDM_TRY(ocdm__image_loader_wait(work->loader, slot, &outcome, error));
    if (outcome.count > 0)
        memcpy(work->failures + part.first, outcome.errors, outcome.count * size);
    if (ranks->size > 1) {
        ocdm__ranks_gather_bytes(ranks, work->failures + part.first, (part.end - part.first) * size, &gathered);
        for (size_t r = 1; ranks->rank == 0 && r < ranks->size; r++)
            memcpy(work->failures + part.starts[r], gathered.all + gathered.starts[r] * UNIT, (size_t)gathered.sizes[r]);
        ocdm__ranks_bytes_clear(&gathered);
    }
    return ocdm__agent_predict(work->predictor->agent, work->tensors[slot], batch_from(work, first), work->logits, error);
}

/* An image that cannot be used is told with its reason, and the others go on. */
static ocdm_status tell(struct work *work, size_t first, ocdm_error *error)
{
    for (size_t i = 0; i < batch_from(work, first); i++) {
        const float *logits = work->logits + i * work->classes;
        ocdm_error why = work->failures[i];
        ocdm__photo photo = {.path = work->list->paths[first + i], .logits = logits};
        for (size_t c = 0; c < work->classes && why.status == OCDM_OK; c++)
            if (!isfinite(logits[c]))
                ocdm__fail(&why, OCDM_BAD_RECORD, "", "%s: a logit is not a finite number: the weights are too large",
                           photo.path);
        if (why.status != OCDM_OK) {
            photo.logits = NULL;
            photo.why = &why;
        }
        OCDM_TRY(work->told(work->state, &photo, error));
    }
    return OCDM_OK;
}

/* The others would wait for a rank that cannot go on: it ends them all. Returns for a process that is alone. */
static ocdm_status end_all_after(const struct work *work, ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_OK && work->predictor->joined)
        ocdm__ranks_end_after(ocdm__ranks_all(), error);
    return status;
}

/* Goes through all batches. */
static ocdm_status predict_all(struct work *work, const ocdm__progress *progress, ocdm_error *error)
{
    size_t slot = 0, count = work->list->count;
    ocdm_status status = end_all_after(work, submit(work, 0, slot, error), error);
    for (size_t first = 0; first < count; first += work->batch, slot = 1 - slot) {
        if (!ocdm__predictor_goes_on(work->predictor, status == OCDM_OK))
            return status;
        status = submit(work, first + work->batch, 1 - slot, error);
        OCDM_THEN(status, predict_batch(work, first, slot, error));
        (void)end_all_after(work, status, error);
        if (status == OCDM_OK && work->told != NULL)
            status = tell(work, first, error);
        ocdm__progress_tell(progress, "predicting", first + batch_from(work, first), count);
        if (status == OCDM_OK && ocdm__progress_stopped(progress))
            status = ocdm__fail(error, OCDM_STOPPED, "", "stopped while predicting");
    }
    return status;
}

/* `list` is the leader's, which the others receive. */
static ocdm_status predict_list(struct work *work, ocdm__photo_list *list, unsigned threads, const ocdm__progress *progress,
                                ocdm_error *error)
{
    ocdm_status status = work->predictor->joined ? share_paths(ocdm__ranks_all(), list, error) : OCDM_OK;
    OCDM_THEN(status, open_work(work, threads, error));
    if (end_all_after(work, status, error) == OCDM_OK)
        status = predict_all(work, progress, error);
    ocdm__image_loader_destroy(work->loader);
    ocdm__release(work->requests);
    ocdm__release(work->logits);
    ocdm__release(work->failures);
    ocdm__release(work->tensors[0]);
    ocdm__release(work->tensors[1]);
    return status;
}

ocdm_status ocdm__photos_predict(ocdm__predictor *predictor, const ocdm__photo_list *list, unsigned threads,
                                 const ocdm__progress *progress, ocdm__photo_told *told, void *state, ocdm_error *error)
{
    ocdm__photo_list own = *list;
    struct work work = {.predictor = predictor, .list = &own, .told = told, .state = state};
    (void)ocdm__predictor_goes_on(predictor, true);
    return predict_list(&work, &own, threads, progress, error);
}

/* Rank 0 reports what goes wrong with files. */
void ocdm__photos_follow(const ocdm__predictor_settings *settings)
{
    ocdm_error error = {.status = OCDM_OK};
    ocdm__predictor predictor = {.agent = NULL};
    ocdm__photo_list list = {.count = 0};
    struct work work = {.predictor = &predictor, .list = &list};
    ocdm__predictor_settings network = *settings;
    network.needs_head = true;
    network.note = NULL;
    if (ocdm__predictor_open(&predictor, &network, &error) == OCDM_OK && ocdm__predictor_goes_on(&predictor, false))
        (void)predict_list(&work, &list, settings->threads, NULL, &error);
    ocdm__photo_list_clear(&list);
    ocdm__predictor_close(&predictor);
}
