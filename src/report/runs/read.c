/* Finds and reads run folders. A given folder is a run or contains runs one level below, which are sorted by name. */
#define _POSIX_C_SOURCE 200809L

#include "report/runs/read.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "experiment/compare/execute.h"
#include "experiment/folder/summary_read.h"
#include "report/runs/log.h"

char *ocdm__path_in(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = ocdm__allocate(size, 1);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, folder[0] != '\0' && folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return path;
}

/* ---- lines of JSON ------------------------------------------------------------------------------------------------------ */

/* Joins the lines with commas, in brackets. A JSON string cannot contain a newline, so this is a list of the same values,
 * and an error keeps its line number. Empty lines get no comma. */
static size_t join_lines(const unsigned char *bytes, size_t size, char *list)
{
    size_t used = 0, start = 0;
    bool first = true;
    list[used++] = '[';
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n')
            continue;
        if (i > start && !first)
            list[used++] = ',';
        first = first && i == start;
        memcpy(list + used, bytes + start, i + 1 - start);
        used += i + 1 - start;
        start = i + 1;
    }
    list[used++] = ']';
    return used;
}

ocdm_status ocdm__json_lines_read(ocdm__json_tree *tree, const char *path, ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    *tree = (ocdm__json_tree){.root = NULL};
    OCDM_TRY(ocdm__map_file(&file, path, error));
    size_t lines = 0;
    for (size_t i = 0; i < file.size; i++)
        lines += file.bytes[i] == '\n';
    ocdm_status status = OCDM_OK;
    char *list = file.size > OCDM__JSON_TREE_LIMIT ? NULL : ocdm__allocate(file.size + lines + 2, 1);
    if (file.size > OCDM__JSON_TREE_LIMIT)
        status = ocdm__fail(error, OCDM_LIMIT, "", "%s: larger than %zu bytes", path, OCDM__JSON_TREE_LIMIT);
    else if (list == NULL)
        status = ocdm__fail_memory(error, path);
    else
        status = ocdm__json_tree_parse(tree, path, list, join_lines(file.bytes, file.size, list), error);
    ocdm__release(list);
    ocdm__unmap_file(&file);
    return status;
}

ocdm_status ocdm__numbers_of(const ocdm__json_node *list, ocdm__numbers *numbers, ocdm_error *error)
{
    *numbers = (ocdm__numbers){.values = NULL};
    if (list == NULL || list->kind != OCDM__JSON_ARRAY || list->count == 0)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(&numbers->values, list->count, sizeof *numbers->values, "the numbers of a run", error));
    for (const ocdm__json_node *node = list->first; node != NULL; node = node->next)
        numbers->values[numbers->count++] = ocdm__json_number(node);
    return OCDM_OK;
}

/* ---- one folder --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__refuse_folder(const char *folder, const char *why, ocdm_error *error)
{
    if (ocdm__has_file(folder, "compare.json") && !ocdm__has_file(folder, OCDM__RUNS_FILE))
        return ocdm__fail(error, OCDM_IO,
                          "the same `ocdm compare` prints its table; `ocdm run --model none -o FOLDER` makes a run",
                          "%s: a comparison of memories alone has no runs to show", folder);
    return ocdm__fail(error, OCDM_IO, "name the FOLDER of `ocdm run -o FOLDER` or of `ocdm compare`", "%s: %s", folder, why);
}

static bool looks_like_run(const char *folder)
{
    static const char *const names[] = {"summary.json", "run.jsonl", "checkpoint.safetensors", "lock"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ocdm__has_file(folder, names[i]))
            return true;
    return false;
}

static ocdm_status read_file(ocdm_status (*read)(ocdm__json_tree *, const char *, ocdm_error *), ocdm__json_tree *tree,
                             const char *folder, const char *name, ocdm_error *error)
{
    char *path = ocdm__path_in(folder, name);
    if (path == NULL)
        return ocdm__fail_memory(error, folder);
    ocdm_status status = read(tree, path, error);
    ocdm__release(path);
    return status;
}

/* The lists of numbers of a run, by their paths in the summary. */
static const struct {
    const char *path;
    size_t place; /* in a run record */
} lists[] = {
    {"memory.counts", offsetof(ocdm__run_record, counts)},
    {"memory.target", offsetof(ocdm__run_record, target)},
    {"memory.seen", offsetof(ocdm__run_record, seen)},
    {"curve.step", offsetof(ocdm__run_record, step)},
    {"curve.task", offsetof(ocdm__run_record, task)},
    {"curve.loss", offsetof(ocdm__run_record, loss)},
    {"curve.distance_seen", offsetof(ocdm__run_record, distance_seen)},
    {"anytime.samples", offsetof(ocdm__run_record, probe_samples)},
    {"anytime.mAP", offsetof(ocdm__run_record, probe_map)},
};
enum { LISTS = sizeof lists / sizeof lists[0] };

static ocdm__numbers *list_of(ocdm__run_record *run, size_t list)
{
    return (ocdm__numbers *)((char *)run + lists[list].place);
}

const ocdm__numbers *ocdm__run_list_of(const ocdm__run_record *run, const char *name)
{
    for (size_t i = 0; i < LISTS; i++)
        if (strcmp(strchr(lists[i].path, '.') + 1, name) == 0)
            return (const ocdm__numbers *)((const char *)run + lists[i].place);
    return NULL;
}

/* Whether a file that is there could not be read, which says nothing about the run: no table may be made without it. */
static bool unreadable(const ocdm__run_record *run, const char *name, ocdm_status status)
{
    return status == OCDM_IO && ocdm__has_file(run->folder, name);
}

static ocdm_status read_summary(ocdm__run_record *run, ocdm_error *error)
{
    ocdm_status status = read_file(ocdm__summary_read, &run->summary, run->folder, "summary.json", &run->why);
    if (status == OCDM_NO_MEMORY)
        return ocdm__fail_memory(error, run->folder);
    if (unreadable(run, "summary.json", status))
        return ocdm__fail(error, status, run->why.hint, "%s", run->why.message);
    const ocdm__json_node *root = run->summary.root;
    run->state = OCDM__RUN_BROKEN;
    if (status != OCDM_OK)
        return OCDM_OK;
    run->state = OCDM__RUN_WHOLE;
    run->settings = ocdm__json_find(root, "settings");
    run->kept_why.status = read_file(ocdm__json_lines_read, &run->kept, run->folder, "memory.jsonl", &run->kept_why);
    if (run->kept_why.status == OCDM_NO_MEMORY)
        return ocdm__fail_memory(error, run->folder);
    if (unreadable(run, "memory.jsonl", run->kept_why.status))
        return ocdm__fail(error, run->kept_why.status, run->kept_why.hint, "%s", run->kept_why.message);
    for (size_t i = 0; i < LISTS; i++)
        OCDM_TRY(ocdm__numbers_of(ocdm__json_find(root, lists[i].path), list_of(run, i), error));
    return OCDM_OK;
}

/* The progress of a run without a summary. */
static ocdm_status read_log(ocdm__run_record *run, ocdm_error *error)
{
    ocdm_status status = read_file(ocdm__json_lines_read, &run->log, run->folder, "run.jsonl", &run->why);
    if (status == OCDM_NO_MEMORY)
        return ocdm__fail_memory(error, run->folder);
    run->state = OCDM__RUN_HALF;
    if (status != OCDM_OK)
        return OCDM_OK;
    double step = 0;
    for (const ocdm__json_node *line = run->log.root->first; line != NULL; line = line->next) {
        const char *type = ocdm__json_text(ocdm__json_find(line, "type"), "");
        double here = ocdm__json_number(ocdm__json_find(line, "step"));
        if (strcmp(type, "start") == 0)
            run->settings = ocdm__json_find(line, "settings");
        if (here > step && here < 1e15)
            step = here;
    }
    ocdm__fail(&run->why, OCDM_BAD_FILE, "", "no summary.json; the log ends at step %.0f", step);
    return OCDM_OK;
}

static void run_clear(ocdm__run_record *run)
{
    ocdm__json_tree_clear(&run->summary);
    ocdm__json_tree_clear(&run->log);
    ocdm__json_tree_clear(&run->kept);
    for (size_t i = 0; i < LISTS; i++)
        ocdm__release(list_of(run, i)->values);
    ocdm__release(run->folder);
}

void ocdm__runs_clear(ocdm__run_list *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        run_clear(&runs->runs[i]);
    ocdm__release(runs->runs);
    *runs = (ocdm__run_list){.runs = NULL};
}

/* ---- folders of runs ---------------------------------------------------------------------------------------------------- */

static ocdm_status add_run(ocdm__run_list *runs, const char *folder, ocdm_error *error)
{
    ocdm__run_record *larger = ocdm__resize(runs->runs, runs->count + 1, sizeof *larger);
    if (larger == NULL)
        return ocdm__fail_memory(error, "the list of runs");
    runs->runs = larger;
    ocdm__run_record *run = &runs->runs[runs->count++];
    *run = (ocdm__run_record){.folder = ocdm__path_in(folder, ""), .seed = NAN, .method = "", .state = OCDM__RUN_MISSING};
    if (run->folder == NULL)
        return ocdm__fail_memory(error, folder);
    for (size_t end = strlen(run->folder); end > 1 && run->folder[end - 1] == '/'; end--)
        run->folder[end - 1] = '\0';
    const char *slash = strrchr(run->folder, '/');
    run->name = slash != NULL && slash[1] != '\0' ? slash + 1 : run->folder;
    ocdm_status status = OCDM_OK;
    if (ocdm__has_file(folder, "summary.json"))
        status = read_summary(run, error);
    else if (ocdm__has_file(folder, "run.jsonl"))
        status = read_log(run, error);
    else
        ocdm__fail(&run->why, OCDM_IO, "",
                   access(folder, F_OK) == 0 ? "neither summary.json nor run.jsonl is here" : "there is no such folder");
    run->method = ocdm__json_text(ocdm__json_find(run->settings, "method"), "");
    run->seed = ocdm__json_number(ocdm__json_find(run->settings, "seed"));
    return status;
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

/* The subfolders that are runs or are named like one. */
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
        else if (is_folder(path) && (is_run_name(entry->d_name) || looks_like_run(path))) {
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
    if (!looks_like_run(folder))
        status = list_runs(folder, &names, error);
    if (status == OCDM_OK && names.count == 0)
        status = add_run(runs, folder, error);
    for (size_t i = 0; status == OCDM_OK && i < names.count; i++)
        status = add_run(runs, names.paths[i], error);
    for (size_t i = 0; i < names.count; i++)
        ocdm__release(names.paths[i]);
    ocdm__release(names.paths);
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
