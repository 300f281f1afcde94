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

/* ---- lines of JSON ------------------------------------------------------------------------------------------------------ */

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
    else {
        /* Joins the lines with commas, in brackets. A JSON string cannot contain a newline, so this is a list of the same
         * values, and an error keeps its line number. Empty lines get no comma. */
        size_t used = 0, start = 0;
        bool first = true;
        list[used++] = '[';
        for (size_t i = 0; i < file.size; i++) {
            if (file.bytes[i] != '\n')
                continue;
            if (i > start && !first)
                list[used++] = ',';
            first = first && i == start;
            memcpy(list + used, file.bytes + start, i + 1 - start);
            used += i + 1 - start;
            start = i + 1;
        }
        list[used++] = ']';
        status = ocdm__json_tree_parse(tree, path, list, used, error);
    }
    ocdm__release(list);
    ocdm__unmap_file(&file);
    return status;
}

ocdm__numbers ocdm__numbers_of(ocdm__arena *arena, const ocdm__json_node *list)
{
    ocdm__numbers numbers = {.values = NULL};
    if (list == NULL || list->kind != OCDM__JSON_ARRAY || list->count == 0)
        return numbers;
    numbers.values = ocdm__arena_new(arena, list->count, sizeof *numbers.values);
    for (const ocdm__json_node *node = list->first; numbers.values != NULL && node != NULL; node = node->next)
        numbers.values[numbers.count++] = ocdm__json_number(node);
    return numbers;
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

const ocdm__numbers *ocdm__run_list_of(const ocdm__run_record *run, const char *name)
{
    for (size_t i = 0; i < LISTS; i++)
        if (strcmp(strchr(lists[i].path, '.') + 1, name) == 0)
            return (const ocdm__numbers *)((const char *)run + lists[i].place);
    return NULL;
}

/* What reading a file of the run gave. No table may be made without a file that is there and could not be read, which says
 * nothing about the run; a file that is damaged is described in `why`. */
static ocdm_status judge(const ocdm__run_record *run, const char *name, const ocdm_error *why, ocdm_error *error)
{
    if (why->status == OCDM_NO_MEMORY)
        return ocdm__fail_memory(error, run->folder);
    if (why->status == OCDM_IO && ocdm__has_file(run->folder, name))
        return ocdm__fail(error, why->status, why->hint, "%s", why->message);
    return OCDM_OK;
}

static ocdm_status read_summary(ocdm__run_list *runs, ocdm__run_record *run, ocdm_error *error)
{
    run->why.status = ocdm__summary_read(&run->summary, ocdm__path_in(run->folder, "summary.json").text, &run->why);
    run->state = run->why.status == OCDM_OK ? OCDM__RUN_WHOLE : OCDM__RUN_BROKEN;
    OCDM_TRY(judge(run, "summary.json", &run->why, error));
    if (run->state == OCDM__RUN_BROKEN)
        return OCDM_OK;
    run->settings = ocdm__json_find(run->summary.root, "settings");
    run->kept_why.status = ocdm__json_lines_read(&run->kept, ocdm__path_in(run->folder, "memory.jsonl").text, &run->kept_why);
    for (size_t i = 0; i < LISTS; i++)
        *(ocdm__numbers *)((char *)run + lists[i].place) =
            ocdm__numbers_of(&runs->arena, ocdm__json_find(run->summary.root, lists[i].path));
    return judge(run, "memory.jsonl", &run->kept_why, error);
}

/* The progress of a run without a summary. */
static ocdm_status read_log(ocdm__run_record *run, ocdm_error *error)
{
    ocdm_status status = ocdm__json_lines_read(&run->log, ocdm__path_in(run->folder, "run.jsonl").text, &run->why);
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

void ocdm__runs_clear(ocdm__run_list *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        ocdm__json_tree_clear(&runs->runs[i].summary);
        ocdm__json_tree_clear(&runs->runs[i].log);
        ocdm__json_tree_clear(&runs->runs[i].kept);
    }
    ocdm__release(runs->runs);
    ocdm__arena_clear(&runs->arena);
    *runs = (ocdm__run_list){.runs = NULL};
}

/* ---- folders of runs ---------------------------------------------------------------------------------------------------- */

static ocdm_status add_run(ocdm__run_list *runs, char *folder, ocdm_error *error)
{
    bool failed = false;
    runs->runs = ocdm__grown(runs->runs, runs->count + 1, sizeof *runs->runs, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the list of runs");
    for (size_t end = strlen(folder); end > 1 && folder[end - 1] == '/'; end--)
        folder[end - 1] = '\0';
    const char *slash = strrchr(folder, '/');
    ocdm__run_record *run = &runs->runs[runs->count++];
    *run = (ocdm__run_record){.folder = folder,
                              .name = slash != NULL && slash[1] != '\0' ? slash + 1 : folder,
                              .seed = NAN,
                              .method = "",
                              .state = OCDM__RUN_MISSING};
    ocdm_status status = OCDM_OK;
    if (ocdm__has_file(folder, "summary.json"))
        status = read_summary(runs, run, error);
    else if (ocdm__has_file(folder, "run.jsonl"))
        status = read_log(run, error);
    else
        ocdm__fail(&run->why, OCDM_IO, "",
                   access(folder, F_OK) == 0 ? "neither summary.json nor run.jsonl is here" : "there is no such folder");
    run->method = ocdm__json_text(ocdm__json_find(run->settings, "method"), "");
    run->seed = ocdm__json_number(ocdm__json_find(run->settings, "seed"));
    OCDM_THEN(status, ocdm__arena_check(&runs->arena, "the numbers of a run", error));
    return status;
}

/* METHOD-sSEED, as `ocdm compare` names them. */
static bool is_run_name(const char *name)
{
    const char *seed = strrchr(name, '-');
    return seed != NULL && seed != name && seed[1] == 's' && seed[2] != '\0' &&
           strspn(seed + 2, "0123456789") == strlen(seed + 2);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders of the runs, in the arena of their list. */
struct names {
    char **paths;
    size_t count, room;
};

static void add_name(struct names *names, const char *path, ocdm__arena *arena)
{
    if (!ocdm__reserve(&names->paths, &names->room, names->count + 1, sizeof *names->paths))
        arena->failed = true;
    else
        names->paths[names->count++] = ocdm__arena_text(arena, path);
}

/* A folder that is a run, or its subfolders that are runs or are named like one; without any, the folder itself. */
static void list_runs(struct names *names, const char *folder, ocdm__arena *arena)
{
    DIR *listing = looks_like_run(folder) ? NULL : opendir(folder);
    size_t before = names->count;
    struct stat there;
    for (struct dirent *entry; listing != NULL && !arena->failed && (entry = readdir(listing)) != NULL;) {
        ocdm__path path = ocdm__path_in(folder, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path.text, &there) == 0 && S_ISDIR(there.st_mode) &&
            (is_run_name(entry->d_name) || looks_like_run(path.text)))
            add_name(names, path.text, arena);
    }
    if (listing != NULL)
        closedir(listing);
    if (names->count == before)
        add_name(names, folder, arena);
    else if (!arena->failed)
        qsort(names->paths + before, names->count - before, sizeof *names->paths, by_text);
}

ocdm_status ocdm__runs_read(ocdm__run_list *runs, char *const *paths, size_t count, ocdm_error *error)
{
    struct names names = {.paths = NULL};
    *runs = (ocdm__run_list){.runs = NULL};
    for (size_t i = 0; i < count; i++)
        list_runs(&names, paths[i], &runs->arena);
    ocdm_status status = ocdm__arena_check(&runs->arena, "the list of runs", error);
    for (size_t i = 0; status == OCDM_OK && i < names.count; i++)
        status = add_run(runs, names.paths[i], error);
    ocdm__release(names.paths);
    if (status != OCDM_OK)
        ocdm__runs_clear(runs);
    return status;
}
