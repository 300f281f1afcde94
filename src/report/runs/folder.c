/* Finding run folders: a folder is a run's own, or one of run folders. One level deep, sorted by name. */
#define _POSIX_C_SOURCE 200809L

#include "report/runs/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/error.h"

static ocdm_status add_run(ocdm__run_list *runs, const char *folder, ocdm_error *error)
{
    ocdm__run *larger = ocdm__resize(runs->runs, runs->count + 1, sizeof *larger);
    if (larger == NULL)
        return ocdm__fail_memory(error, "the list of runs");
    runs->runs = larger;
    return ocdm__run_read(&runs->runs[runs->count++], folder, error);
}

/* METHOD-sSEED, as `ocdm compare` names them. */
static bool is_run_name(const char *name)
{
    const char *seed = strrchr(name, '-');
    return seed != NULL && seed != name && seed[1] == 's' && seed[2] != '\0' &&
           strspn(seed + 2, "0123456789") == strlen(seed + 2);
}

static bool is_folder(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **paths;
    size_t count;
};

static void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        ocdm__release(names->paths[i]);
    ocdm__release(names->paths);
}

/* The sub-folders that are runs, or should be. */
static ocdm_status list_runs(const char *folder, struct names *names, ocdm_error *error)
{
    DIR *listing = opendir(folder);
    ocdm_status status = OCDM_OK;
    for (struct dirent *entry; status == OCDM_OK && listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = ocdm__path_in(folder, entry->d_name);
        char **larger = path == NULL ? NULL : ocdm__resize(names->paths, names->count + 1, sizeof *larger);
        names->paths = larger != NULL ? larger : names->paths;
        if (larger == NULL)
            status = ocdm__fail_memory(error, folder);
        else if (is_folder(path) && (is_run_name(entry->d_name) || ocdm__looks_like_run(path))) {
            names->paths[names->count++] = path;
            path = NULL;
        }
        ocdm__release(path);
    }
    if (listing != NULL)
        closedir(listing);
    if (names->count > 1)
        qsort(names->paths, names->count, sizeof *names->paths, by_text);
    return status;
}

static ocdm_status read_folder(ocdm__run_list *runs, const char *folder, ocdm_error *error)
{
    struct names names = {.paths = NULL};
    ocdm_status status = OCDM_OK;
    if (!ocdm__looks_like_run(folder))
        status = list_runs(folder, &names, error);
    if (status == OCDM_OK && names.count == 0)
        status = add_run(runs, folder, error);
    for (size_t i = 0; status == OCDM_OK && i < names.count; i++)
        status = add_run(runs, names.paths[i], error);
    names_clear(&names);
    return status;
}

ocdm_status ocdm__runs_read(ocdm__run_list *runs, char *const *paths, size_t count, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    *runs = (ocdm__run_list){.runs = NULL};
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        status = read_folder(runs, paths[i], error);
    if (status != OCDM_OK)
        ocdm__runs_clear(runs);
    return status;
}
