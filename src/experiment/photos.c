/*
 * A network over image files that belong to no stream: which files there are, and what it says of each.
 *
 * The files are the stream of the predictor, which has no labels. A file that cannot be decoded ends nothing: its reason is
 * reported in its place. On several ranks the leader finds the files, and all decode and predict them.
 */
#include "experiment/predict.h"

#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include "experiment/folder/run_folder.h"
#include "ranks/ranks.h"

enum { MOST_LEVELS = 64 };

/* The slot of the inputs that no batch is in. */
#define SPARE_SLOT 2u

#define UNIT sizeof(uint32_t)

/* ---- files --------------------------------------------------------------------------------------------------------------- */

/* Images are known by their names or their first bytes: a damaged one is reported and not passed over. A link to a folder could
 * lead round in a circle: only links to files are followed. */
static ocdm_status add_folder(ocdm__found_files *files, const char *folder, unsigned level, ocdm_error *error)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    DIR *listing = level < MOST_LEVELS ? opendir(folder) : NULL;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    ocdm_status status = OCDM_OK;
    if (level == MOST_LEVELS)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: folders in folders, more than %d", folder, MOST_LEVELS);
    if (listing == NULL)
        return ocdm__fail(error, OCDM_IO, "", "cannot read the folder %s: %s", folder, strerror(errno));
    for (struct dirent *entry; status == OCDM_OK && (entry = readdir(listing)) != NULL;) {
        char path[OCDM__PATH_ROOM];
        struct stat facts, target;
        if (entry->d_name[0] == '.')
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s%s%s", folder, slash, entry->d_name) >= sizeof path) {
            status = ocdm__fail(error, OCDM_LIMIT, "", "%s: the paths in the folder are too long", folder);
            break;
        }
        if (lstat(path, &facts) != 0 || stat(path, &target) != 0)
            continue;
        if (S_ISDIR(facts.st_mode))
            status = add_folder(files, path, level + 1, error);
        if (!S_ISREG(target.st_mode))
            continue;
        const char *dot = strrchr(path, '.');
        bool image = false;
        for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
            image = image || strcasecmp(dot, endings[i]) == 0;
        unsigned char bytes[16];
        FILE *file = image ? NULL : fopen(path, "rb");
        size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file != NULL)
            fclose(file);
        if (image || ocdm__is_jpeg(bytes, size) || ocdm__is_png(bytes, size))
            status = ocdm__found_files_add(files, path, error);
    }
    closedir(listing);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

ocdm_status ocdm__photos_find(ocdm__found_files *files, const char *path, ocdm_error *error)
{
    struct stat facts;
    size_t before = files->count;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return ocdm__found_files_add(files, path, error);
    ocdm_status status = add_folder(files, path, 0, error);
    if (status == OCDM_OK && files->count == before)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s: no JPEG or PNG file is in the folder", path);
    if (files->count > before)
        qsort(files->paths + before, files->count - before, sizeof *files->paths, compare_paths);
    return status;
}

/* The leader's files on all ranks: what is in a folder is looked up once. The others would wait for a rank that cannot go on:
 * it ends them all. */
ocdm_status ocdm__photos_open(ocdm__predictor *predictor, const ocdm__found_files *files, ocdm_error *error)
{
    const ocdm__ranks *ranks = predictor->joined ? ocdm__ranks_all() : &ocdm__ranks_alone;
    ocdm__text_list *paths = &predictor->stream.table.paths;
    uint64_t sizes[2] = {files->count, 0}; /* files, bytes of their paths */
    for (size_t i = 0; i < files->count; i++)
        sizes[1] += strlen(files->paths[i]);
    ranks->broadcast(sizes, 4);
    ocdm_status status = ocdm__new(&paths->starts, (size_t)sizes[0] + 1, sizeof *paths->starts, "the list of files", error);
    OCDM_THEN(status, ocdm__new(&paths->bytes, (size_t)sizes[1] + UNIT, 1, "the list of files", error));
    if (status == OCDM_OK) {
        for (size_t i = 0; i < files->count; i++) {
            size_t length = strlen(files->paths[i]);
            memcpy(paths->bytes + paths->starts[i], files->paths[i], length);
            paths->starts[i + 1] = paths->starts[i] + length;
        }
        ranks->broadcast(paths->starts, ((size_t)sizes[0] + 1) * 2);
        ranks->broadcast(paths->bytes, ((size_t)sizes[1] + UNIT - 1) / UNIT);
        predictor->stream.table.sample_count = (size_t)sizes[0];
        predictor->stream.file.name = "the image files"; /* for messages */
        status = ocdm__predictor_open_inputs(predictor, error);
    }
    if (status != OCDM_OK && predictor->joined)
        ocdm__ranks_end_after(ocdm__ranks_all(), error);
    return status;
}

/* ---- what the network says ----------------------------------------------------------------------------------------------- */

/* An image that cannot be used is told with its reason, and the others go on. */
ocdm_status ocdm__photos_predict(ocdm__predictor *predictor, const ocdm__found_files *files, const ocdm__progress *progress,
                                 ocdm__photo_told *told, void *state, ocdm_error *error)
{
    const ocdm__walk *walk = &predictor->walk;
    ocdm__batch batch;
    (void)ocdm__predictor_goes_on(predictor, true);
    OCDM_TRY(ocdm__photos_open(predictor, files, error));
    OCDM_TRY(ocdm__predictor_begin(predictor, OCDM__PREDICT_ALL, error));
    for (;;) {
        OCDM_TRY(ocdm__predictor_next(predictor, &batch, error));
        if (walk->first == walk->next)
            return OCDM_OK;
        for (size_t i = walk->first, used = 0; i < walk->next; i++) {
            ocdm__photo photo = {.path = files->paths[i]};
            ocdm_error why = {.status = OCDM_OK};
            if (used < batch.count && walk->first + batch.usable[used] == i)
                photo.logits = predictor->rows + used++ * predictor->width;
            else
                why = ocdm__model_inputs_reason(predictor->inputs, SPARE_SLOT, (uint32_t)i);
            if (photo.logits == NULL && why.status == OCDM_OK)
                ocdm__fail(&why, OCDM_IO, "", "%s: another rank cannot read the image", photo.path);
            for (size_t c = 0; photo.logits != NULL && c < predictor->width; c++)
                if (!isfinite(photo.logits[c])) {
                    ocdm__fail(&why, OCDM_BAD_RECORD, "", "%s: a logit is not a finite number: the weights are too large",
                               photo.path);
                    photo.logits = NULL;
                }
            photo.why = photo.logits == NULL ? &why : NULL;
            OCDM_TRY(told(state, &photo, error));
        }
        ocdm__progress_tell(progress, "predicting", walk->next, walk->count);
        if (ocdm__progress_stopped(progress))
            return ocdm__fail(error, OCDM_STOPPED, "", "stopped while predicting");
    }
}
