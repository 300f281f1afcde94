/* `ocdm paper`: the tables and figures of the paper on the given streams, beside the paper's own numbers. */
#include <unistd.h>

#include "base/text.h"
#include "cli/compare_runs.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "experiment/compare/execute.h"
#include "experiment/folder/run_folder.h"
#include "experiment/paper/paper.h"
#include "report/paper/paper.h"

#define PATH_ROOM 4096
#define CURVE_POINTS 250

/* A given stream. Several of them may stand for the same stream of the paper, as with several lists of tasks. */
struct source {
    char path[PATH_ROOM], folder[PATH_ROOM]; /* the file, and where its runs are */
    char name[64];                           /* by which tables and folders tell it from the others */
    const char *stands_for;
    bool builtin;
    ocdm__stream_info info;
    const ocdm__paper_item *runs_item; /* whose runs are needed; NULL for none */
    ocdm__comparison comparison;       /* of these runs; all zero where there are none */
    ocdm__paper_part part;             /* what there is of the item */
};

struct request {
    ocdm__compare_request asked;
    const ocdm__paper_item *item;
    struct source sources[OCDM__PAPER_SOURCES]; /* those that stand for the same stream follow each other */
    size_t source_count;
    const char *runs;
    const char *svg;   /* where the picture goes; NULL when the table is asked for */
    ocdm__sheet sheet; /* what there is of it */
    ocdm__run_settings settings;
    char note[OCDM__TABLE_NOTE]; /* under the table: the settings of the runs */
    size_t printed;
};

/* ---- the list --------------------------------------------------------------------------------------------------------- */

static const char *const *item_names(void)
{
    static const char *names[OCDM__CHOICES];
    for (size_t i = 0; i + 1 < OCDM__CHOICES && ocdm__paper_item_at(i) != NULL; i++)
        names[i] = ocdm__paper_item_at(i)->name;
    return names;
}

static ocdm_status find_item(const char *name, const ocdm__paper_item **item, ocdm_error *error)
{
    char hint[120] = "";
    size_t count = 0;
    *item = ocdm__paper_item_find(name);
    if (*item != NULL)
        return OCDM_OK;
    while (item_names()[count] != NULL)
        count++;
    const char *near = ocdm__suggest(name, item_names(), count);
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean %s? ", near);
    ocdm__append(hint, sizeof hint, "`ocdm paper` lists the names");
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the paper has nothing called \"%s\"", name);
}

/* ---- streams ---------------------------------------------------------------------------------------------------------- */

/* The number of sources that stand for the same stream of the paper as this one, which is the first of them. */
static size_t count_lists(const struct request *request, size_t first)
{
    size_t count = 1;
    while (first + count < request->source_count &&
           strcmp(request->sources[first + count].stands_for, request->sources[first].stands_for) == 0)
        count++;
    return count;
}

/* The runs of a stream are in a folder of its name: the paper's name, or the file's where several stand for the same. Where
 * there is none and a comparison was made there, they are in the folder itself. Two streams with one name would share it. */
static ocdm_status place_runs(const struct request *request, struct source *source, bool alone, ocdm_error *error)
{
    char compared[PATH_ROOM];
    const char *slash = strrchr(source->path, '/'), *file = slash != NULL ? slash + 1 : source->path, *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot > file ? (size_t)(dot - file) : strlen(file);
    if (alone)
        snprintf(source->name, sizeof source->name, "%s", source->builtin ? "scenes" : source->stands_for);
    else
        snprintf(source->name, sizeof source->name, "%.*s", (int)(length < 63 ? length : 63), file);
    snprintf(source->folder, PATH_ROOM, "%.3900s/%s", request->runs, source->name);
    snprintf(compared, PATH_ROOM, "%.3900s/compare.json", request->runs);
    if (alone && !source->builtin && access(source->folder, F_OK) != 0 && access(compared, F_OK) == 0)
        snprintf(source->folder, PATH_ROOM, "%.3900s", request->runs);
    for (const struct source *other = request->sources; other < source; other++)
        if (strcmp(other->folder, source->folder) == 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "rename one of them",
                              "--stream: %.1500s and %.1500s have the same name", other->path, source->path);
    return OCDM_OK;
}

/* One of "mscoco=FILE" or "FILE", which stands for the stream that was `named` before, or else for the first that the item is
 * about. */
static ocdm_status add_source(struct request *request, const char **named, const char *text, size_t length, ocdm_error *error)
{
    const char *equals = memchr(text, '=', length), *file = equals != NULL ? equals + 1 : text;
    const ocdm__paper_stream *known = equals != NULL ? ocdm__paper_stream_find(text, (size_t)(equals - text)) : NULL;
    if (equals != NULL && known == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--stream mscoco=FILE,nuswide=FILE; also cocoseq and nuswideseq",
                          "--stream %.*s: no stream of the paper has that name", (int)length, text);
    *named = known != NULL ? known->name : *named;
    const char *stands_for = *named != NULL ? *named : request->item->streams[0];
    if (!ocdm__is_among(stands_for, request->item->streams))
        return OCDM_OK;
    if (request->source_count == OCDM__PAPER_SOURCES)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "--stream: more than %zu streams", OCDM__PAPER_SOURCES);
    size_t place = 0, count = request->source_count++;
    while (place < count && strcmp(request->sources[place].stands_for, stands_for) != 0)
        place++;
    while (place < count && strcmp(request->sources[place].stands_for, stands_for) == 0)
        place++;
    struct source *source = &request->sources[place];
    memmove(source + 1, source, (count - place) * sizeof *source);
    *source = (struct source){.stands_for = stands_for};
    snprintf(source->path, PATH_ROOM, "%.*s", (int)(text + length - file), file);
    return OCDM_OK;
}

/* The built-in stream, made into a file by this very program unless it is there. */
static ocdm_status add_builtin(struct request *request, ocdm_error *error)
{
    struct source *source = &request->sources[request->source_count++];
    char program[PATH_ROOM], log[PATH_ROOM];
    source->stands_for = ocdm__is_among("mscoco", request->item->streams) ? "mscoco" : request->item->streams[0];
    source->builtin = true;
    snprintf(source->path, PATH_ROOM, "%.3900s/scenes.safetensors", request->runs);
    snprintf(log, PATH_ROOM, "%.3900s/scenes.log", request->runs);
    if (access(source->path, F_OK) == 0)
        return OCDM_OK;
    OCDM_TRY(ocdm__make_folder(request->runs, error));
    const char *const words[] = {log, "ocdm", "stream", "build", "--recipe", "scenes", "--as", "features", "-o", source->path};
    ocdm__output command;
    OCDM_TRY(ocdm__output_open_memory(&command, "a command line", error));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ocdm__output_write(&command, words[i], strlen(words[i]) + 1);
    ocdm__child child = {.command = command.buffer, .size = command.used};
    ocdm__own_program("ocdm", program, sizeof program);
    ocdm__children children = {
        .program = program, .children = &child, .count = 1, .jobs = 1, .ranks = &ocdm__ranks_alone, .stop = &ocdm__stop_signal};
    if (!request->asked.quiet)
        fprintf(stderr, "no --stream: building the built-in one, %s\n", ocdm__show_path(source->path).text);
    ocdm_status status = ocdm__children_run(&children, error);
    ocdm__output_abandon(&command);
    if (status == OCDM_OK && child.result.exit_code != 0)
        status = ocdm__fail(error, OCDM_IO, child.result.hint, "%s: %s", source->path, child.result.error);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

static bool is_learnable(const struct source *source)
{
    return strcmp(ocdm__stream_kind(&source->info.stream), "labels") != 0;
}

static ocdm_status make_plan(const struct request *request, const struct source *source, const ocdm__paper_item *item,
                             ocdm__compare_plan *plan, ocdm_error *error)
{
    bool own = item != request->item && item == ocdm__paper_runs_of(request->item); /* seeds of their own, 0, 1, ... */
    own = own && !ocdm__argument_given(request->asked.arguments, "seeds");
    ocdm_status status = ocdm__paper_plan(plan, item, source->stands_for, &source->info,
                                          own ? OCDM__PAPER_CLAIM_SEEDS : request->asked.seed_count, error);
    plan->seeds = own ? NULL : request->asked.seeds;
    return status;
}

/* A stream of labels alone has nothing to learn from: its runs have no network, and a grid nothing to choose by. */
static ocdm_status begin_comparison(const struct request *request, struct source *source, ocdm_error *error)
{
    ocdm__comparison *comparison = &source->comparison;
    *comparison = (ocdm__comparison){.path = source->path, .folder = source->folder, .stream = &source->info.stream};
    if (is_learnable(source)) {
        ocdm_status status = ocdm__comparison_begin(comparison, &request->settings, request->asked.arguments, error);
        if (status == OCDM_BAD_ARGUMENT && request->item->kind == OCDM__PAPER_CLAIMS && error != NULL)
            snprintf(error->hint, sizeof error->hint,
                     "gss needs a model of what the stream has: name one with --model, or leave gss out with --model none");
        return status;
    }
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.model = "none";
    return ocdm__run_setup_make(&comparison->setup, &settings, comparison->stream, comparison->path, error);
}

/* A run that was made on another stream or with other settings is an error before anything is run, printed or drawn. Without a
 * network, claims need no runs. */
static ocdm_status check_runs(struct request *request, ocdm_error *error)
{
    const ocdm__paper_item *item = ocdm__paper_runs_of(request->item);
    for (struct source *source = request->sources; source < request->sources + request->source_count; source++) {
        ocdm__compare_plan plan = {.point_count = 0};
        bool network = is_learnable(source) && strcmp(request->settings.model, "none") != 0;
        source->runs_item = item == request->item || network ? item : NULL;
        if (source->runs_item == NULL)
            continue;
        OCDM_TRY(begin_comparison(request, source, error));
        ocdm_status status = make_plan(request, source, item, &plan, error);
        if (status == OCDM_OK && source->comparison.grid.count == 0)
            status = ocdm__paper_check_runs(&plan, source->folder, &source->comparison.setup, error);
        ocdm__compare_plan_clear(&plan);
        OCDM_TRY(status);
    }
    return OCDM_OK;
}

/* Makes the missing runs if the stream has something to learn from, and otherwise uses the existing ones. Settings chosen by
 * validation are known only after the validation runs, so existing runs are checked after those. */
static ocdm_status provide_runs(struct request *request, struct source *source, ocdm__compare_plan *plan, ocdm_error *error)
{
    ocdm__comparison *comparison = &source->comparison;
    if (comparison->grid.count == 0 && ocdm__paper_has_runs(plan, source->folder))
        return OCDM_OK;
    if (!is_learnable(source)) {
        fprintf(stderr, "%s has labels and nothing to learn from: its runs are missing\n", ocdm__show_path(source->path).text);
        return OCDM_OK;
    }
    if (!request->asked.quiet)
        fprintf(stderr, "%s: runs into %s, model %s, lr %g\n", request->item->name, ocdm__show_path(source->folder).text,
                request->settings.model, request->settings.network.learning_rate);
    OCDM_TRY(ocdm__choose_settings(&request->asked, comparison, plan, error));
    OCDM_TRY(ocdm__paper_check_runs(plan, source->folder, &comparison->setup, error));
    return ocdm__run_plan(&request->asked, comparison, plan, error);
}

static ocdm_status run_memories(const struct request *request, const struct source *source, const ocdm__compare_plan *plan,
                                ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm__compare_memory_options options = {.settings = &request->settings};
    if (ocdm__paper_needs[request->item->kind].curves)
        options.curve_every = source->info.statistics.total.train / ((uint64_t)request->settings.batch * CURVE_POINTS) + 1;
    return ocdm__run_memories(&request->asked, &source->info.stream.table, plan, &options, memories, error);
}

/* All that an item needs on a stream. For claims, methods that learn have the memories of runs, where there is a network, and
 * the trends with rho need memories of their own. */
static ocdm_status gather(struct request *request, struct source *source, const char *label, ocdm_error *error)
{
    const ocdm__paper_need *need = &ocdm__paper_needs[request->item->kind];
    ocdm__paper_part *part = &source->part;
    OCDM_TRY(ocdm__paper_part_begin(part, request->item, label, source->stands_for, &source->info, error));
    part->folder = source->folder;
    if (!need->runs && !need->memories)
        return OCDM_OK;
    OCDM_TRY(make_plan(request, source, request->item, &part->plan, error));
    if (need->runs) {
        OCDM_TRY(provide_runs(request, source, &part->plan, error));
        OCDM_TRY(ocdm__compare_results_create(&part->results, &part->plan, error));
        OCDM_TRY(ocdm__compare_results_read(&part->results, &part->plan, source->folder, error));
    }
    if (request->item->kind == OCDM__PAPER_CLAIMS && source->runs_item != NULL) {
        OCDM_TRY(make_plan(request, source, source->runs_item, &part->learnt_plan, error));
        OCDM_TRY(provide_runs(request, source, &part->learnt_plan, error));
        OCDM_TRY(ocdm__paper_read_memories(&part->learnt, &part->learnt_plan, source->folder,
                                           source->info.stream.table.class_count, error));
    }
    if (request->item->kind == OCDM__PAPER_CLAIMS) {
        OCDM_TRY(make_plan(request, source, ocdm__paper_item_find("rho"), &part->rho_plan, error));
        OCDM_TRY(run_memories(request, source, &part->rho_plan, &part->rho_memories, error));
    }
    return need->memories ? run_memories(request, source, &part->plan, &part->memories, error) : OCDM_OK;
}

/* ---- under the table -------------------------------------------------------------------------------------------------- */

/* What stands for one stream of the paper: one source, or one for each list of tasks. */
struct lists {
    struct source *sources;
    size_t count;
    const char *label; /* of all of them */
    bool folded;       /* the table has means over them */
};

/* The plan of a source's runs; NULL when it has none, or nothing to learn from. */
static const ocdm__compare_plan *plan_of_runs(const struct source *source)
{
    if (source->runs_item == NULL || !is_learnable(source))
        return NULL;
    return source->runs_item == source->part.item ? &source->part.plan : &source->part.learnt_plan;
}

/* Leaves of a text of settings, "key value, key value", those that another has too. */
static void keep_common(char *text, const char *other)
{
    char setting[256];
    size_t used = 0;
    for (char *at = text, *next; at != NULL; at = next) {
        char *comma = strstr(at, ", ");
        bool common = false;
        snprintf(setting, sizeof setting, "%.*s", (int)(comma != NULL ? comma - at : (ptrdiff_t)strlen(at)), at);
        size_t length = strlen(setting);
        next = comma != NULL ? comma + 2 : NULL;
        for (const char *found = other; !common && (found = strstr(found, setting)) != NULL; found++)
            common = (found == other || found[-1] == ' ') && (found[length] == '\0' || strncmp(found + length, ", ", 2) == 0);
        if (common)
            used += (size_t)sprintf(text + used, "%s%s", used > 0 ? ", " : "", setting);
    }
    text[used] = '\0';
}

/* The settings that all runs of all lists have in common. */
static ocdm_status note_settings(struct request *request, const struct lists *lists, ocdm_error *error)
{
    char common[OCDM__TABLE_NOTE / 4] = "", text[sizeof common], seeds[64] = "";
    bool any = false;
    for (struct source *source = lists->sources; source < lists->sources + lists->count; source++) {
        const ocdm__compare_plan *plan = plan_of_runs(source);
        if (plan == NULL)
            continue;
        if (plan == &source->part.learnt_plan)
            snprintf(seeds, sizeof seeds, " (%.20s, %zu seeds)", plan->methods[0], (size_t)plan->seed_count);
        OCDM_TRY(ocdm__run_setup_text(&source->comparison.setup, plan, text, sizeof text, error));
        if (any)
            keep_common(common, text);
        else
            memcpy(common, text, sizeof text);
        any = true;
    }
    if (any)
        ocdm__append(request->note, OCDM__TABLE_NOTE, "All runs on %s%s: %s.\n", lists->label, seeds, common);
    return OCDM_OK;
}

static ocdm_status note_lists(struct request *request, const struct lists *lists, ocdm_error *error)
{
    char *note = request->note;
    const struct source *first = lists->sources;
    const ocdm__paper_item *item = ocdm__paper_runs_of(request->item);
    ocdm__grid_choice choices[OCDM__PAPER_SOURCES];
    size_t count = 0;
    if (lists->folded)
        ocdm__append(note, OCDM__TABLE_NOTE, "Ours on %s: mean [lowest, highest] over %zu lists of tasks", lists->label,
                     lists->count);
    for (size_t i = 0; i < lists->count; i++) {
        const ocdm__compare_plan *plan = plan_of_runs(&first[i]);
        if (plan != NULL)
            choices[count++] = (ocdm__grid_choice){&first[i].comparison.grid, plan, lists->count > 1 ? first[i].name : NULL};
        if (lists->folded)
            ocdm__append(note, OCDM__TABLE_NOTE, "%s %s", i > 0 ? "," : ":", first[i].name);
    }
    if (lists->folded)
        ocdm__append(note, OCDM__TABLE_NOTE, "; without brackets, the same on all.\n");
    if (item != NULL && item != request->item && first->runs_item == NULL)
        ocdm__append(note, OCDM__TABLE_NOTE, "No %s on %s: it needs a network, and %s.\n", item->methods[0], lists->label,
                     is_learnable(first) ? "--model none is none" : "the stream has labels alone");
    if (count > 0)
        ocdm__grid_note(choices, count, note);
    return note_settings(request, lists, error);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

/* Sources with other classes than the paper's stream: beside its numbers, ours are of something else. */
static void add_differences(const struct request *request, const char *stands_for, char *title, size_t room)
{
    for (size_t i = 0; i < request->source_count; i++) {
        const struct source *source = &request->sources[i];
        size_t classes = source->info.class_count;
        size_t wanted = ocdm__paper_stream_find(source->stands_for, strlen(source->stands_for))->classes;
        if (classes != wanted && (stands_for == NULL || strcmp(stands_for, source->stands_for) == 0))
            ocdm__append(title, room, "%sours on %.60s has %zu class%s, the paper's stream %zu", title[0] != '\0' ? "; " : "",
                         source->name, classes, classes == 1 ? "" : "es", wanted);
    }
}

/* Each stream has a table of its own, a line apart from the one before. */
static ocdm_status print_metrics(struct request *request, const struct lists *lists, ocdm_error *error)
{
    ocdm__table table = {.row_count = 0};
    const ocdm__paper_part *parts[OCDM__PAPER_SOURCES];
    for (size_t i = 0; i < lists->count; i++)
        parts[i] = &lists->sources[i].part;
    if (request->printed++ > 0)
        putchar('\n');
    ocdm_status status = ocdm__table_of_paper(&table, parts, lists->count, error);
    add_differences(request, lists->sources->stands_for, table.title, sizeof table.title);
    snprintf(table.note, sizeof table.note, "%s", request->note);
    OCDM_THEN(status, ocdm__print_table(&table, request->asked.format, error));
    ocdm__table_clear(&table);
    request->note[0] = '\0';
    return status;
}

/* Distances step by step are rows of each list by itself: their steps differ. */
static ocdm_status add_distances(const struct source *source, ocdm__table *table, ocdm_error *error)
{
    ocdm__paper_part part = source->part;
    part.label = source->name;
    return part.item->kind == OCDM__PAPER_CURVES ? ocdm__paper_fill_distances(table, &part, error) : OCDM_OK;
}

/* The sources that stand for one stream of the paper. */
static ocdm_status do_stream(struct request *request, struct source *sources, size_t count, ocdm__table *table,
                             ocdm_error *error)
{
    struct lists lists = {.sources = sources, .count = count, .label = sources->builtin ? "scenes" : sources->stands_for};
    bool is_data = ocdm__table_is_data(request->asked.format);
    size_t first = table->row_count;
    lists.folded = count > 1 && ocdm__paper_needs[request->item->kind].alike && request->svg == NULL && !is_data;
    for (size_t i = 0; i < count; i++)
        OCDM_TRY(gather(request, &sources[i], lists.folded ? lists.label : sources[i].name, error));
    OCDM_TRY(note_lists(request, &lists, error));
    if (request->item->kind == OCDM__PAPER_METRICS && !is_data)
        return print_metrics(request, &lists, error);
    for (size_t i = 0; i < count; i++) {
        size_t start = table->row_count;
        OCDM_TRY(ocdm__paper_fill(table, &sources[i].part, error));
        if (lists.folded)
            continue;
        /* All rows of a list after each other, and its picture. */
        OCDM_TRY(add_distances(&sources[i], table, error));
        if (request->svg != NULL)
            OCDM_TRY(ocdm__paper_draw(&request->sheet, &sources[i].part, table, start, error));
    }
    if (!lists.folded)
        return OCDM_OK;
    /* Means over the lists in place of the rows of each. */
    ocdm__table_fold(table, first, count);
    for (size_t i = 0; i < count; i++)
        OCDM_TRY(add_distances(&sources[i], table, error));
    return OCDM_OK;
}

/* Writes the picture, or prints the table. */
static ocdm_status show(struct request *request, ocdm__table *table, ocdm_error *error)
{
    const ocdm__paper_item *item = request->item;
    bool is_data = ocdm__table_is_data(request->asked.format);
    if (request->svg != NULL) {
        OCDM_TRY(ocdm__sheet_write(&request->sheet, item->what, ocdm__paper_reading(item), request->svg, error));
        if (!request->asked.quiet)
            fprintf(stderr, "%s: written\n", ocdm__show_path(request->svg).text);
        return OCDM_OK;
    }
    if (!is_data) {
        snprintf(table->title, sizeof table->title, "%s", item->what);
        add_differences(request, NULL, table->title, sizeof table->title);
    }
    snprintf(table->note, sizeof table->note, "%s", request->note);
    return table->row_count > 0 || is_data ? ocdm__print_table(table, request->asked.format, error) : OCDM_OK;
}

static ocdm_status do_item(struct request *request, ocdm_error *error)
{
    ocdm__table table = {.row_count = 0};
    char differences[OCDM__TABLE_TITLE] = "";
    add_differences(request, NULL, differences, sizeof differences);
    if (differences[0] != '\0' && (request->svg != NULL || ocdm__table_is_data(request->asked.format)))
        fprintf(stderr, "warning: %s\n", differences);
    ocdm_status status = ocdm__paper_table_begin(&table, request->item->kind, error);
    if (status == OCDM_OK && request->svg != NULL)
        status = ocdm__sheet_begin(&request->sheet, error);
    for (size_t first = 0, count; status == OCDM_OK && first < request->source_count; first += count) {
        count = count_lists(request, first);
        status = do_stream(request, &request->sources[first], count, &table, error);
    }
    OCDM_THEN(status, show(request, &table, error));
    ocdm__sheet_clear(&request->sheet);
    ocdm__table_clear(&table);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------------------------------- */

/* Only figures can be drawn; the picture replaces the table. */
static ocdm_status read_request(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    OCDM_TRY(find_item(arguments->operands[0], &request->item, error));
    OCDM_TRY(ocdm__compare_request_read(&request->asked, arguments, error));
    request->svg = ocdm__argument_text(arguments, "svg");
    if (request->svg != NULL && !ocdm__paper_is_figure(request->item))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm paper` lists what is a figure",
                          "--svg: %s is no figure of the paper", request->item->name);
    if (request->svg != NULL && (ocdm__argument_given(arguments, "format") || ocdm__argument_given(arguments, "json")))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "without --svg the figure's data are printed",
                          "--svg draws the figure: it goes with neither --format nor --json");
    request->settings = ocdm__run_settings_default();
    OCDM_TRY(ocdm__run_flags_read(arguments, &request->settings, error));
    if (request->settings.memory_bytes > 0)
        return ocdm__argument_fail(arguments, "memory-bytes: the paper's tables say how many samples a memory holds", error);
    request->runs = ocdm__argument_text(arguments, "runs");
    const char *given = ocdm__argument_text(request->asked.arguments, "stream"), *text = given, *named = NULL;
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        OCDM_TRY(add_source(request, &named, text, length, error));
        text += length + (text[length] == ',');
    }
    if (request->source_count == 0 && given != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "without --stream the built-in one stands for it",
                          "--stream %s: %s is about %s", given, request->item->name, request->item->streams[0]);
    if (request->source_count == 0)
        OCDM_TRY(add_builtin(request, error));
    for (struct source *source = request->sources; source < request->sources + request->source_count; source++) {
        OCDM_TRY(ocdm__stream_info_read(&source->info, source->path, NULL, error));
        if (!source->info.is_stream_file)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream build -o FILE` makes one", "%s is no stream file",
                              source->path);
    }
    for (size_t first = 0, count; first < request->source_count; first += count) {
        count = count_lists(request, first);
        for (size_t i = first; i < first + count; i++)
            OCDM_TRY(place_runs(request, &request->sources[i], count == 1, error));
    }
    return OCDM_OK;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    static struct request request; /* too large for the stack of some systems */
    if (arguments->operand_count == 0) {
        puts("Tables and figures of the paper, for `ocdm paper NAME`:\n");
        for (size_t i = 0; ocdm__paper_item_at(i) != NULL; i++)
            printf("  %-18s %s\n", ocdm__paper_item_at(i)->name, ocdm__paper_item_at(i)->what);
        return OCDM_OK;
    }
    ocdm_status status = read_request(arguments, &request, error);
    OCDM_THEN(status, check_runs(&request, error));
    OCDM_THEN(status, do_item(&request, error));
    for (size_t i = 0; i < request.source_count; i++) {
        ocdm__paper_part_clear(&request.sources[i].part);
        ocdm__comparison_clear(&request.sources[i].comparison);
        ocdm__stream_info_clear(&request.sources[i].info);
    }
    if (status == OCDM_STOPPED)
        error->message[0] = '\0'; /* the progress has said it */
    arguments->code = request.asked.failed;
    return status;
}

/* A row of OCDM__SETTINGS. Features have a linear layer by default, which needs a larger learning rate than the paper's
 * network. */
#define PAPER_FLAG(key, member, kind, a_letter, flag, a_value, a_fallback, a_choices, low, high, needs, a_help)                \
    OCDM__CHOICE(a_letter, flag, a_value,                                                                                      \
                 offsetof(ocdm__run_settings, member) == offsetof(ocdm__run_settings, network.learning_rate) ? "0.006"         \
                                                                                                             : a_fallback,     \
                 a_choices, a_help),

static const ocdm__flag flags[] = {
    OCDM__VALUE('s', "stream", "[WHICH=]FILE,...", NULL, "streams, the built-in one by default"),
    OCDM__VALUE(0, "runs", "FOLDER", "ocdm-paper", "where runs are, and where missing ones go"),
    OCDM__SEEDS_FLAG,
    OCDM__GRID_FLAGS,
    OCDM__VALUE('j', "jobs", "J", NULL, "runs at a time; by default cores / threads, of which a run has one here"),
    OCDM__TABLE_FLAGS,
    OCDM__VALUE(0, "svg", "FILE", NULL, "draw a figure into FILE instead of printing its data"),
    OCDM__SWITCH('q', "quiet", "print only errors of the runs"),
    /* clang-format off */
    OCDM__SETTINGS(OCDM__NO_RUN_FLAG, PAPER_FLAG) OCDM__OWN_MODEL_FLAG
    /* clang-format on */
    {.name = NULL},
};

const ocdm__verb ocdm__verb_paper = {
    .name = "paper",
    .summary = "tables and figures of the paper, ours beside its own",
    .operands = "[NAME]",
    .words = item_names,
    .operand_limit = 1,
    .flags = flags,
    .run = run,
};
