/* Makes several runs for one command: reads what is asked for, starts the runs, chooses settings by validation, prints tables.
 */
#include "cli/compare_runs.h"

#include <unistd.h>

#include "base/json.h"
#include "base/output.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "experiment/compare/results.h"
#include "experiment/folder/run_folder.h"
#include "experiment/loop/settings.h"
#include "ranks/ranks.h"
#include "report/tables/tables.h"
#include "report/watch/watch.h"

#define TABLE_WIDTH 100

/* ---- what is asked for ------------------------------------------------------------------------------------------------ */

static void pass_word(ocdm__compare_request *request, const char *word)
{
    request->words[request->word_count++] = word;
}

static bool add_seeds(ocdm__compare_request *request, uint64_t first, uint64_t last)
{
    if (last - first >= OCDM__MOST_SEEDS)
        return false;
    for (uint64_t seed = first; seed - first <= last - first; seed++) {
        size_t i = 0;
        while (i < request->seed_count && request->seeds[i] != seed)
            i++;
        if (i == OCDM__MOST_SEEDS)
            return false;
        request->seeds[i] = seed;
        request->seed_count += i == request->seed_count;
    }
    return true;
}

/* One number is how many; several, and ranges, are the seeds themselves. */
static bool read_seeds(ocdm__compare_request *request, const char *text)
{
    uint64_t first, last;
    if (text[strspn(text, "0123456789")] == '\0')
        return ocdm__text_to_whole(text, strlen(text), 1, OCDM__MOST_SEEDS, &last) && add_seeds(request, 0, last - 1);
    for (;; text++) {
        size_t length = strcspn(text, ","), digits = strspn(text, "0123456789");
        const char *end = text + digits + 2; /* behind ".." */
        if (!ocdm__text_to_whole(text, digits, 0, UINT64_MAX, &first))
            return false;
        last = first;
        if (digits < length && (strncmp(text + digits, "..", 2) != 0 ||
                                !ocdm__text_to_whole(end, (size_t)(text + length - end), first, UINT64_MAX, &last)))
            return false;
        text += length;
        if (!add_seeds(request, first, last))
            return false;
        if (*text == '\0')
            return true;
    }
}

ocdm_status ocdm__compare_request_read(ocdm__compare_request *request, const ocdm__arguments *arguments, ocdm_error *error)
{
    const char *seeds = ocdm__argument_text(arguments, "seeds");
    size_t format = ocdm__argument_choice(arguments, "format");
    request->arguments = arguments;
    request->format = ocdm__argument_given(arguments, "json") ? OCDM__JSON : (enum ocdm__table_format)format;
    request->quiet = ocdm__argument_given(arguments, "quiet");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (!read_seeds(request, seeds))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a number of seeds, as 3; or which, as 5..14 or 5,7,9",
                          "--seeds %s is no list of at most %u seeds", seeds, OCDM__MOST_SEEDS);
    const bool given = ocdm__argument_given(arguments, "threads");
    const uint64_t threads = given ? ocdm__argument_unsigned(arguments, "threads", 1, 1024) : 1;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    request->jobs = ocdm__ranks_all()->size == 1 && cores > (long)threads && threads > 0 ? (size_t)cores / (size_t)threads : 1;
    if (ocdm__argument_given(arguments, "jobs"))
        request->jobs = (size_t)ocdm__argument_unsigned(arguments, "jobs", 1, 1024);
    const ocdm__flag *flags = arguments->verb->flags;
    for (size_t i = 0; flags[i].name != NULL; i++) {
        const ocdm__setting *setting = ocdm__setting_of_flag(flags[i].name);
        const char *value = arguments->values[i], *fallback = flags[i].fallback;
        if (setting == NULL || setting->grid)
            continue;
        if (value == NULL && (fallback == NULL || (setting->fallback != NULL && strcmp(fallback, setting->fallback) == 0)))
            continue; /* `ocdm run` has the same default */
        snprintf(request->names[i], sizeof request->names[i], "--%s", flags[i].name);
        pass_word(request, request->names[i]);
        if (flags[i].value != NULL)
            pass_word(request, value != NULL ? value : fallback);
    }
    if (!given) { /* several runs at a time use the cores better than threads in one */
        pass_word(request, "--threads");
        pass_word(request, "1");
    }
    if (arguments->repeated_count > 0) { /* used only to choose from a grid */
        pass_word(request, "--validation");
        pass_word(request, "0");
    }
    return ocdm__arguments_check(arguments, error);
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

/* The state of the progress report. */
struct teller {
    bool quiet;
    size_t runs, done;
    const char *folder;
    ocdm__status_line line;
    ocdm__watched_runs *watched; /* NULL as long as nothing is to be told */
};

static void tell_begun(void *state, size_t runs, size_t done, size_t half)
{
    struct teller *teller = state;
    teller->runs = runs;
    teller->done = done;
    if (teller->quiet || done == runs)
        return;
    fprintf(stderr, "%zu runs", runs);
    if (done > 0)
        fprintf(stderr, ", %zu done already", done);
    if (half > 0)
        fprintf(stderr, ", %zu to go on with", half);
    fputc('\n', stderr);
}

/* The line is a convenience: if it cannot be made, the runs go on without it. */
static void tell_progress(void *state)
{
    struct teller *teller = state;
    char text[OCDM__RUNS_LINE];
    if (teller->quiet || !ocdm__status_line_is_due(&teller->line))
        return;
    if (teller->watched == NULL && ocdm__watched_runs_open(&teller->watched, teller->folder, NULL) != OCDM_OK)
        return;
    ocdm__watched_runs_look(teller->watched);
    ocdm__watched_runs_line(teller->watched, text);
    ocdm__status_line_show(&teller->line, text);
}

static void tell_ended(void *state, const ocdm__child *child)
{
    struct teller *teller = state;
    const struct ocdm__child_result *result = &child->result;
    teller->done++;
    ocdm__status_line_erase(&teller->line);
    if (result->exit_code == 0) {
        if (!teller->quiet)
            fprintf(stderr, "%zu of %zu: %s, %.1f s\n", teller->done, teller->runs, child->name, result->seconds);
        return;
    }
    if (ocdm__stop_signal != 0)
        return;
    fprintf(stderr, "error: %s: %s\n", child->name, result->error[0] != '\0' ? result->error : "the run failed");
    fprintf(stderr, "hint: %s%s%s has what it said\n", result->hint, result->hint[0] != '\0' ? "; " : "", child->command);
}

ocdm_status ocdm__run_plan(ocdm__compare_request *request, ocdm__comparison *comparison, const ocdm__compare_plan *plan,
                           ocdm_error *error)
{
    char program[4096];
    int failed = 0;
    struct teller teller = {.quiet = request->quiet, .folder = comparison->folder};
    ocdm__own_program("ocdm", program, sizeof program);
    const ocdm__compare_execution execution = {.plan = plan,
                                               .stream = comparison->path,
                                               .folder = comparison->folder,
                                               .flags = request->words,
                                               .flag_count = request->word_count,
                                               .setup = &comparison->setup,
                                               .how = {.program = program,
                                                       .jobs = request->jobs,
                                                       .ranks = ocdm__ranks_all(),
                                                       .together = ocdm__run_command,
                                                       .stop = &ocdm__stop_signal,
                                                       .waited = tell_progress,
                                                       .ended = tell_ended,
                                                       .state = &teller},
                                               .begun = tell_begun};
    ocdm__catch_signals();
    ocdm__status_line_begin(&teller.line);
    ocdm_status status = ocdm__compare_execute(&execution, &failed, error);
    if (request->failed == 0)
        request->failed = failed < 0 ? OCDM__EXIT_IO : failed;
    ocdm__status_line_erase(&teller.line);
    ocdm__watched_runs_close(teller.watched);
    if (status == OCDM_STOPPED && !request->quiet)
        fputs("stopped; the same command goes on\n", stderr);
    return status;
}

ocdm_status ocdm__run_memories(const ocdm__compare_request *request, const ocdm__stream_table *table,
                               const ocdm__compare_plan *plan, const ocdm__compare_memory_options *options,
                               ocdm__compare_memories *memories, ocdm_error *error)
{
    ocdm__progress_line line;
    ocdm__compare_memory_options given = *options;
    given.threads = (unsigned)request->jobs;
    ocdm__catch_signals();
    ocdm__progress_line_begin(&line, request->quiet);
    ocdm_status status = ocdm__compare_memories_run(memories, plan, table, &given, &line.progress, error);
    ocdm__status_line_erase(&line.line);
    return status;
}

/* ---- the grid ----------------------------------------------------------------------------------------------------------- */

#define USUAL_SHARE 0.1
#define MOST_COMBINATIONS 256u

/* A setting and the values to choose from. */
struct ocdm__grid_axis {
    const ocdm__setting *setting;
    size_t place;  /* of its flag in the verb's table */
    char flag[40]; /* with its dashes */
    char *values;  /* each ended by a NUL */
    size_t count;
};

/* The setting that a grid calls by its flag or its key. Not those that decide how runs are judged, nor those that the plan
 * varies itself. */
static const ocdm__setting *find_setting(const char *name, size_t length)
{
    const ocdm__setting *setting;
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++)
        if (setting->key != NULL && !setting->grid && setting->kind != OCDM__SETTING_SWITCH &&
            setting->kind != OCDM__SETTING_GROUPS && setting->offset != offsetof(ocdm__run_settings, validation) &&
            setting->offset != offsetof(ocdm__run_settings, log_every) &&
            (ocdm__text_is(name, length, setting->flag) || ocdm__text_is(name, length, setting->key)))
            return setting;
    return NULL;
}

static const char *axis_value(const struct ocdm__grid_axis *axis, size_t i)
{
    const char *value = axis->values;
    while (i-- > 0)
        value += strlen(value) + 1;
    return value;
}

/* Combination number i: the last axis changes fastest. The verb's own flags are read again with its values in their places. */
static ocdm_status make_combination(ocdm__comparison *comparison, size_t i, const ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__grid *grid = &comparison->grid;
    const ocdm__run_settings *usual = &comparison->setup.settings;
    ocdm__compare_choice *made = &grid->combinations[i];
    const char **words = grid->words + 2 * grid->axis_count * i;
    ocdm__arguments with = *arguments;
    made->settings = ocdm__run_settings_default();
    made->words = words;
    made->word_count = 2 * grid->axis_count;
    for (size_t a = grid->axis_count; a-- > 0; i /= grid->axes[a].count) {
        const struct ocdm__grid_axis *axis = &grid->axes[a];
        words[2 * a] = axis->flag;
        words[2 * a + 1] = with.values[axis->place] = axis_value(axis, i % axis->count);
    }
    for (size_t a = 0; a < grid->axis_count; a++)
        ocdm__append(made->label, OCDM__COMPARE_LABEL, "%s%s %s", a > 0 ? ", " : "", grid->axes[a].setting->key,
                     words[2 * a + 1]);
    OCDM_TRY(ocdm__run_flags_read(&with, &made->settings, error));
    OCDM_TRY(ocdm__run_settings_resolve_model(&made->settings, comparison->stream, comparison->path, error));
    if (made->settings.network.averages.count > 1) /* nothing is held out by which the runs could choose among rates */
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose the rate too, such as --grid ema=0.98,0.99,0.995,0.999",
                          "--grid with %u rates of --ema: the runs with the settings chosen have no validation split to choose "
                          "one by",
                          (unsigned)made->settings.network.averages.count);
    if (made->settings.weights != usual->weights)
        return ocdm__run_settings_digest_weights(&made->settings, error);
    memcpy(made->settings.weights_sha256, usual->weights_sha256, OCDM__SHA256_TEXT);
    return OCDM_OK;
}

ocdm_status ocdm__comparison_begin(ocdm__comparison *comparison, const ocdm__run_settings *settings,
                                   const ocdm__arguments *arguments, ocdm_error *error)
{
    OCDM_TRY(ocdm__run_setup_make(&comparison->setup, settings, comparison->stream, comparison->path, error));
    ocdm__grid *grid = &comparison->grid;
    double *validation = &comparison->setup.settings.validation;
    size_t axes = arguments->repeated_count, count = 1;
    bool fewer = ocdm__argument_given(arguments, "grid-seeds");
    if (axes == 0 && fewer)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name with --grid what is to be chosen", "--grid-seeds without --grid");
    if (axes == 0)
        return OCDM_OK;
    grid->seeds = fewer ? ocdm__argument_unsigned(arguments, "grid-seeds", 1, UINT32_MAX) : 0;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(ocdm__new(&grid->axes, axes, sizeof *grid->axes, "--grid", error));
    for (; grid->axis_count < axes; grid->axis_count++) {
        struct ocdm__grid_axis *axis = &grid->axes[grid->axis_count];
        const char *text = arguments->repeated[grid->axis_count];
        size_t name = strcspn(text, "="), length = strlen(text);
        axis->setting = find_setting(text, name);
        if (name == length || axis->setting == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a setting of `ocdm run` and its values, as lr=0.001,0.003,0.006",
                              "--grid %s: there is no such setting to choose", text);
        while (arguments->verb->flags[axis->place].name != NULL &&
               strcmp(arguments->verb->flags[axis->place].name, axis->setting->flag) != 0)
            axis->place++;
        snprintf(axis->flag, sizeof axis->flag, "--%s", axis->setting->flag);
        OCDM_TRY(ocdm__new(&axis->values, length - name, 1, "the values of --grid", error));
        memcpy(axis->values, text + name + 1, length - name - 1);
        axis->count = 1;
        for (char *at = axis->values; (at = strchr(at, ',')) != NULL; axis->count++)
            *at++ = '\0';
        count *= axis->count;
        if (count > MOST_COMBINATIONS)
            return ocdm__fail(error, OCDM_LIMIT, "choose from fewer values", "--grid has more than %u combinations",
                              MOST_COMBINATIONS);
    }
    OCDM_TRY(ocdm__new(&grid->combinations, count, sizeof *grid->combinations, "the combinations of --grid", error));
    OCDM_TRY(ocdm__new(&grid->words, count, 2 * axes * sizeof *grid->words, "the combinations of --grid", error));
    for (; grid->count < count; grid->count++)
        OCDM_TRY(make_combination(comparison, grid->count, arguments, error));
    grid->share = *validation > 0 ? *validation : USUAL_SHARE;
    *validation = 0;
    return OCDM_OK;
}

void ocdm__comparison_clear(ocdm__comparison *comparison)
{
    ocdm__grid *grid = &comparison->grid;
    for (size_t a = 0; grid->axes != NULL && a < grid->axis_count; a++)
        ocdm__release(grid->axes[a].values);
    OCDM_RELEASE(grid->axes, grid->combinations, grid->words, grid->chosen);
    ocdm__table_clear(&grid->tried);
    ocdm__run_setup_clear(&comparison->setup);
}

/* ---- settings chosen by validation -------------------------------------------------------------------------------------- */

/* A plan of the runs that are tried: each point with each combination. */
struct trial {
    ocdm__compare_plan plan;
    ocdm__compare_point *points;
    const ocdm__compare_choice **choices;
    ocdm__compare_results results;
};

static ocdm_status make_trial(struct trial *trial, const ocdm__grid *grid, ocdm_error *error)
{
    ocdm__compare_plan *plan = &trial->plan;
    const ocdm__compare_point *given = plan->points;
    size_t methods = plan->method_count, points = plan->point_count * grid->count;
    OCDM_TRY(ocdm__new(&trial->points, points, sizeof *trial->points, "the runs of --grid", error));
    OCDM_TRY(ocdm__new(&trial->choices, points, methods * sizeof *trial->choices, "the runs of --grid", error));
    for (size_t i = 0; i < points; i++) {
        ocdm__compare_point *point = &trial->points[i];
        *point = given[i / grid->count];
        /* "-lr0.003" after the point's own suffix. Paths are left out, since a folder name cannot contain them. */
        const char *const *words = grid->combinations[i % grid->count].words;
        for (size_t a = 0; a < grid->axis_count; a++) {
            size_t used = strlen(point->suffix);
            int length = snprintf(point->suffix + used, sizeof point->suffix - used, "-%s%s", grid->axes[a].setting->key,
                                  words[2 * a + 1]);
            if (length < 0 || (size_t)length >= sizeof point->suffix - used)
                return ocdm__fail(error, OCDM_LIMIT, "choose fewer settings at a time",
                                  "--grid: the values are too long to name folders after");
        }
        for (char *at = point->suffix; *at != '\0'; at++)
            *at = *at == '/' ? '_' : *at;
        for (size_t method = 0; method < methods; method++)
            trial->choices[i * methods + method] = &grid->combinations[i % grid->count];
    }
    plan->points = trial->points;
    plan->point_count = points;
    plan->choices = trial->choices;
    if (grid->seeds > 0 && grid->seeds < plan->seed_count)
        plan->seed_count = grid->seeds;
    return OCDM_OK;
}

/* Uses the same flags except --validation, in a separate folder. */
static ocdm_status run_trial(struct trial *trial, ocdm__compare_request *request, const ocdm__comparison *comparison,
                             ocdm_error *error)
{
    char folder[4096], share[OCDM__JSON_DOUBLE];
    ocdm__comparison tried = *comparison;
    tried.setup.settings.validation = comparison->grid.share;
    tried.folder = folder;
    snprintf(folder, sizeof folder, "%.4000s/grid", comparison->folder);
    ocdm__json_double(comparison->grid.share, share);
    pass_word(request, "--validation");
    pass_word(request, share);
    ocdm_status status = ocdm__make_folder(comparison->folder, error);
    OCDM_THEN(status, ocdm__run_plan(request, &tried, &trial->plan, error));
    OCDM_THEN(status, ocdm__compare_results_create(&trial->results, &trial->plan, error));
    OCDM_THEN(status, ocdm__compare_results_read(&trial->results, &trial->plan, folder, error));
    request->word_count -= 2;
    return status;
}

/* Gives each method at each point of the plan its best combination that has a value for every seed. */
static ocdm_status choose(ocdm__grid *grid, const struct trial *trial, const ocdm__compare_plan *plan, ocdm_error *error)
{
    size_t methods = plan->method_count, count = plan->point_count * methods;
    OCDM_TRY(ocdm__new(&grid->chosen, count, sizeof *grid->chosen, "the chosen settings", error));
    for (size_t i = 0; i < count; i++) {
        double most = -INFINITY;
        for (size_t k = 0; k < grid->count; k++) {
            const ocdm__summary summary =
                ocdm__compare_summary(&trial->results, i / methods * grid->count + k, OCDM__COMPARE_VALIDATION, i % methods);
            if (summary.count == trial->results.seed_count && summary.mean > most) {
                most = summary.mean;
                grid->chosen[i] = &grid->combinations[k];
            }
        }
        if (grid->chosen[i] == NULL)
            return ocdm__fail(error, OCDM_BAD_FILE, "name other values, or see why its runs failed",
                              "--grid: no combination of %s has a validation mAP for every seed", plan->methods[i % methods]);
    }
    return OCDM_OK;
}

ocdm_status ocdm__choose_settings(ocdm__compare_request *request, ocdm__comparison *comparison, ocdm__compare_plan *plan,
                                  ocdm_error *error)
{
    ocdm__grid *grid = &comparison->grid;
    struct trial trial = {.plan = *plan};
    if (grid->count == 0)
        return OCDM_OK;
    ocdm_status status = make_trial(&trial, grid, error);
    OCDM_THEN(status, run_trial(&trial, request, comparison, error));
    OCDM_THEN(status, choose(grid, &trial, plan, error));
    OCDM_THEN(status, ocdm__table_of_grid(&grid->tried, &trial.plan, &trial.results, grid->chosen, grid->count, error));
    if (status == OCDM_OK)
        plan->choices = grid->chosen;
    ocdm__compare_results_clear(&trial.results);
    OCDM_RELEASE(trial.points, trial.choices);
    return status;
}

void ocdm__grid_note(const ocdm__grid_choice *choices, size_t count, char note[OCDM__TABLE_NOTE])
{
    const ocdm__grid *grid = choices->grid;
    if (grid->chosen == NULL)
        return;
    ocdm__append(note, OCDM__TABLE_NOTE, "Chosen by mean validation mAP over the ");
    if (grid->seeds > 0 && grid->seeds < choices->plan->seed_count)
        ocdm__append(note, OCDM__TABLE_NOTE, "first %zu ", (size_t)grid->seeds);
    ocdm__append(note, OCDM__TABLE_NOTE, "seeds from");
    for (size_t i = 0; i < grid->count; i++)
        ocdm__append(note, OCDM__TABLE_NOTE, "%s %s", i > 0 ? ";" : "", grid->combinations[i].label);
    ocdm__append(note, OCDM__TABLE_NOTE,
                 ", with %g %% of each task's training samples held out by the seed; the runs of this table were repeated with "
                 "all training samples:",
                 100 * grid->share);
    const char *between = "";
    for (const ocdm__grid_choice *choice = choices; choice < choices + count; choice++) {
        const ocdm__compare_plan *plan = choice->plan;
        if (choice->stream != NULL) {
            ocdm__append(note, OCDM__TABLE_NOTE, "%s on %s", between, choice->stream);
            between = ":";
        }
        for (size_t i = 0; i < plan->point_count * plan->method_count; i++, between = ";") {
            const char *label = plan->points[i / plan->method_count].label;
            ocdm__append(note, OCDM__TABLE_NOTE, "%s %s%s%s %s", between, label, label[0] != '\0' ? ", " : "",
                         plan->methods[i % plan->method_count], plan->choices[i]->label);
        }
    }
    ocdm__append(note, OCDM__TABLE_NOTE, ".\n");
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error)
{
    ocdm__output output;
    ocdm__table_style style = {.width = TABLE_WIDTH, .bold = ocdm__wants_colour(STDOUT_FILENO)};
    if (ocdm__is_terminal(STDOUT_FILENO) && ocdm__terminal_width(STDOUT_FILENO) < style.width)
        style.width = ocdm__terminal_width(STDOUT_FILENO);
    OCDM_TRY(ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    fflush(stdout);
    ocdm__table_write(table, format, &style, &output);
    return ocdm__output_commit(&output, error);
}
