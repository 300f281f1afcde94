/* Makes several runs for one command: reads the grid and the seeds, starts the runs, chooses settings by validation, prints
 * tables. */
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

/* ---- flags ------------------------------------------------------------------------------------------------------------ */

void ocdm__pass_flags(const ocdm__arguments *arguments, ocdm__passed_flags *passed)
{
    const ocdm__flag *flags = arguments->verb->flags;
    passed->word_count = 0;
    for (size_t i = 0; flags[i].name != NULL; i++) {
        const ocdm__setting *setting = ocdm__setting_of_flag(flags[i].name);
        const char *value = arguments->values[i], *fallback = flags[i].fallback;
        if (setting == NULL || setting->grid)
            continue;
        if (value == NULL && (fallback == NULL || (setting->fallback != NULL && strcmp(fallback, setting->fallback) == 0)))
            continue; /* `ocdm run` has the same default */
        snprintf(passed->names[i], sizeof passed->names[i], "--%s", flags[i].name);
        passed->words[passed->word_count++] = passed->names[i];
        if (flags[i].value != NULL)
            passed->words[passed->word_count++] = value != NULL ? value : fallback;
    }
    if (!ocdm__argument_given(arguments, "threads")) { /* several runs at a time use the cores better than threads in one */
        passed->words[passed->word_count++] = "--threads";
        passed->words[passed->word_count++] = "1";
    }
    if (arguments->repeated_count > 0) { /* used only to choose from a grid */
        passed->words[passed->word_count++] = "--validation";
        passed->words[passed->word_count++] = "0";
    }
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------ */

#define MOST_SEEDS 10000u

static bool read_seed(const char **text, uint64_t *seed)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 10);
    *seed = value;
    *text = end;
    return errno == 0;
}

static bool add_seeds(ocdm__seed_list *seeds, uint64_t first, uint64_t last)
{
    if (last < first || last - first >= MOST_SEEDS)
        return false;
    for (uint64_t seed = first; seed - first <= last - first; seed++) {
        size_t i = 0;
        while (i < seeds->count && seeds->values[i] != seed)
            i++;
        if (i == MOST_SEEDS)
            return false;
        seeds->values[i] = seed;
        seeds->count += i == seeds->count;
    }
    return true;
}

/* One number is how many; several, and ranges, are the seeds themselves. */
static bool read_seed_list(const char *text, ocdm__seed_list *seeds)
{
    uint64_t first, last;
    const char *at = text;
    if (read_seed(&at, &first) && *at == '\0')
        return first > 0 && add_seeds(seeds, 0, first - 1);
    for (at = text;; at++) {
        if (!read_seed(&at, &first))
            return false;
        last = first;
        if (strncmp(at, "..", 2) == 0) {
            at += 2;
            if (!read_seed(&at, &last))
                return false;
        }
        if (!add_seeds(seeds, first, last))
            return false;
        if (*at != ',')
            return *at == '\0';
    }
}

ocdm_status ocdm__read_seeds(const ocdm__arguments *arguments, ocdm__seed_list *seeds, ocdm_error *error)
{
    const char *text = ocdm__argument_text(arguments, "seeds");
    OCDM_TRY(ocdm__new(&seeds->values, MOST_SEEDS, sizeof *seeds->values, "the seeds", error));
    if (read_seed_list(text, seeds))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a number of seeds, as 3; or which, as 5..14 or 5,7,9",
                      "--seeds %s is no list of at most %u seeds", text, MOST_SEEDS);
}

size_t ocdm__read_jobs(const ocdm__arguments *arguments)
{
    uint64_t threads = 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (ocdm__argument_given(arguments, "threads"))
        threads = ocdm__argument_unsigned(arguments, "threads", 1, 1024);
    if (ocdm__argument_given(arguments, "jobs"))
        return (size_t)ocdm__argument_unsigned(arguments, "jobs", 1, 1024);
    return ocdm__ranks_all()->size == 1 && cores > (long)threads && threads > 0 ? (size_t)cores / (size_t)threads : 1;
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

ocdm_status ocdm__run_plan(const ocdm__plan_run *run, int *failed, ocdm_error *error)
{
    char program[4096];
    struct teller teller = {.quiet = run->quiet, .folder = run->folder};
    ocdm__own_program("ocdm", program, sizeof program);
    const ocdm__compare_execution execution = {.plan = run->plan,
                                               .stream = run->stream,
                                               .folder = run->folder,
                                               .flags = run->words,
                                               .flag_count = run->word_count,
                                               .setup = run->setup,
                                               .how = {.program = program,
                                                       .jobs = run->jobs,
                                                       .ranks = ocdm__ranks_all(),
                                                       .together = ocdm__run_command,
                                                       .stop = &ocdm__stop_signal,
                                                       .waited = tell_progress,
                                                       .ended = tell_ended,
                                                       .state = &teller},
                                               .begun = tell_begun};
    ocdm__catch_signals();
    ocdm__status_line_begin(&teller.line);
    ocdm_status status = ocdm__compare_execute(&execution, failed, error);
    if (*failed < 0)
        *failed = ocdm__exit_code(OCDM_IO);
    ocdm__status_line_erase(&teller.line);
    ocdm__watched_runs_close(teller.watched);
    if (status == OCDM_STOPPED && !run->quiet)
        fputs("stopped; the same command goes on\n", stderr);
    return status;
}

/* ---- settings chosen by validation -------------------------------------------------------------------------------------- */

#define USUAL_SHARE 0.1
#define MOST_COMBINATIONS 256u

/* A setting and the values to choose from. */
struct ocdm__grid_axis {
    const ocdm__setting *setting;
    size_t place;  /* of its flag in the verb's table */
    char flag[40]; /* with its dashes */
    char *text;    /* the values, each ended by a NUL */
    const char **values;
    size_t count;
};

static const ocdm__setting *find_setting(const char *name, size_t length)
{
    const ocdm__setting *setting;
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++)
        if (setting->key != NULL && ((strlen(setting->flag) == length && memcmp(setting->flag, name, length) == 0) ||
                                     (strlen(setting->key) == length && memcmp(setting->key, name, length) == 0)))
            return setting;
    return NULL;
}

/* A grid may not contain settings that decide how runs are judged, nor those that the plan varies itself. */
static bool can_be_chosen(const ocdm__setting *setting)
{
    return setting != NULL && !setting->grid && setting->kind != OCDM__SETTING_SWITCH &&
           setting->kind != OCDM__SETTING_GROUPS && setting->offset != offsetof(ocdm__run_settings, validation) &&
           setting->offset != offsetof(ocdm__run_settings, log_every);
}

static ocdm_status split_values(struct ocdm__grid_axis *axis, const char *values, ocdm_error *error)
{
    size_t length = strlen(values), most = 1;
    for (size_t i = 0; i < length; i++)
        most += values[i] == ',';
    axis->text = ocdm__allocate(length + 1, 1);
    axis->values = ocdm__allocate(most, sizeof *axis->values);
    if (axis->text == NULL || axis->values == NULL)
        return ocdm__fail_memory(error, "the values of --grid");
    memcpy(axis->text, values, length + 1);
    for (char *at = axis->text; axis->count < most; at += strlen(at) + 1) {
        at[strcspn(at, ",")] = '\0';
        axis->values[axis->count++] = at;
    }
    return OCDM_OK;
}

static ocdm_status read_axis(struct ocdm__grid_axis *axis, const ocdm__verb *verb, const char *text, ocdm_error *error)
{
    size_t length = strcspn(text, "=");
    axis->setting = find_setting(text, length);
    if (text[length] == '\0' || !can_be_chosen(axis->setting))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a setting of `ocdm run` and its values, as lr=0.001,0.003,0.006",
                          "--grid %s: there is no such setting to choose", text);
    size_t place = 0;
    while (verb->flags[place].name != NULL && strcmp(verb->flags[place].name, axis->setting->flag) != 0)
        place++;
    axis->place = place;
    snprintf(axis->flag, sizeof axis->flag, "--%s", axis->setting->flag);
    return split_values(axis, text + length + 1, error);
}

/* Combination number i: the last axis changes fastest. The verb's own flags are read again with its values in their places. */
static ocdm_status make_combination(ocdm__grid *grid, size_t i, const ocdm__arguments *arguments, const ocdm__run_setup *setup,
                                    const char *path, ocdm_error *error)
{
    ocdm__compare_choice *made = &grid->combinations[i];
    const char **words = grid->words + 2 * grid->axis_count * i;
    ocdm__arguments with = *arguments;
    made->settings = ocdm__run_settings_default();
    made->words = words;
    made->word_count = 2 * grid->axis_count;
    for (size_t a = grid->axis_count; a-- > 0; i /= grid->axes[a].count) {
        const struct ocdm__grid_axis *axis = &grid->axes[a];
        words[2 * a] = axis->flag;
        words[2 * a + 1] = with.values[axis->place] = axis->values[i % axis->count];
    }
    for (size_t a = 0; a < grid->axis_count; a++) {
        ocdm__append(made->label, OCDM__COMPARE_LABEL, "%s%s %s", a > 0 ? ", " : "", grid->axes[a].setting->key,
                     words[2 * a + 1]);
    }
    OCDM_TRY(ocdm__run_flags_read(&with, &made->settings, error));
    OCDM_TRY(ocdm__run_settings_resolve_model(&made->settings, setup->stream, path, error));
    if (made->settings.weights != setup->settings.weights)
        return ocdm__run_settings_digest_weights(&made->settings, error);
    memcpy(made->settings.weights_sha256, setup->settings.weights_sha256, OCDM__SHA256_TEXT);
    return OCDM_OK;
}

static ocdm_status make_combinations(ocdm__grid *grid, const ocdm__arguments *arguments, const ocdm__run_setup *setup,
                                     const char *path, ocdm_error *error)
{
    size_t count = 1;
    for (size_t a = 0; a < grid->axis_count && count <= MOST_COMBINATIONS; a++)
        count *= grid->axes[a].count;
    if (count > MOST_COMBINATIONS)
        return ocdm__fail(error, OCDM_LIMIT, "choose from fewer values", "--grid has more than %u combinations",
                          MOST_COMBINATIONS);
    grid->combinations = ocdm__allocate(count, sizeof *grid->combinations);
    grid->words = ocdm__allocate(count, 2 * grid->axis_count * sizeof *grid->words);
    if (grid->combinations == NULL || grid->words == NULL)
        return ocdm__fail_memory(error, "the combinations of --grid");
    for (; grid->count < count; grid->count++)
        OCDM_TRY(make_combination(grid, grid->count, arguments, setup, path, error));
    /* Runs with the settings chosen hold out nothing by which they could choose among rates themselves. */
    for (size_t i = 0; i < count; i++) {
        unsigned rates = grid->combinations[i].settings.network.averages.count;
        if (rates > 1)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose the rate too, such as --grid ema=0.98,0.99,0.995,0.999",
                              "--grid with %u rates of --ema: the runs with the settings chosen have no validation split to "
                              "choose one by",
                              rates);
    }
    return OCDM_OK;
}

ocdm_status ocdm__grid_read(ocdm__grid *grid, const ocdm__arguments *arguments, ocdm__run_setup *setup, const char *path,
                            ocdm_error *error)
{
    bool fewer = ocdm__argument_given(arguments, "grid-seeds");
    if (arguments->repeated_count == 0 && fewer)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name with --grid what is to be chosen", "--grid-seeds without --grid");
    if (arguments->repeated_count == 0)
        return OCDM_OK;
    grid->seeds = fewer ? ocdm__argument_unsigned(arguments, "grid-seeds", 1, UINT32_MAX) : 0;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(ocdm__new(&grid->axes, arguments->repeated_count, sizeof *grid->axes, "--grid", error));
    while (grid->axis_count < arguments->repeated_count) {
        struct ocdm__grid_axis *axis = &grid->axes[grid->axis_count];
        OCDM_TRY(read_axis(axis, arguments->verb, arguments->repeated[grid->axis_count++], error));
    }
    OCDM_TRY(make_combinations(grid, arguments, setup, path, error));
    grid->share = setup->settings.validation > 0 ? setup->settings.validation : USUAL_SHARE;
    setup->settings.validation = 0;
    return OCDM_OK;
}

void ocdm__grid_clear(ocdm__grid *grid)
{
    for (size_t a = 0; grid->axes != NULL && a < grid->axis_count; a++) {
        ocdm__release(grid->axes[a].text);
        ocdm__release(grid->axes[a].values);
    }
    ocdm__release(grid->axes);
    ocdm__release(grid->combinations);
    ocdm__release(grid->words);
    ocdm__release(grid->chosen);
    ocdm__table_clear(&grid->tried);
    *grid = (ocdm__grid){.count = 0};
}

/* The plan of the runs that are tried: each point with each combination. */
struct trial {
    ocdm__compare_plan plan;
    ocdm__compare_point *points;
    const ocdm__compare_choice **choices;
    ocdm__compare_results results;
};

/* "-lr0.003" after the point's own suffix. Paths are left out, since a folder name cannot contain them. */
static ocdm_status name_trial(ocdm__compare_point *point, const ocdm__grid *grid, size_t combination, ocdm_error *error)
{
    const char *const *words = grid->combinations[combination].words;
    for (size_t a = 0; a < grid->axis_count; a++) {
        size_t used = strlen(point->suffix);
        int length =
            snprintf(point->suffix + used, sizeof point->suffix - used, "-%s%s", grid->axes[a].setting->key, words[2 * a + 1]);
        if (length < 0 || (size_t)length >= sizeof point->suffix - used)
            return ocdm__fail(error, OCDM_LIMIT, "choose fewer settings at a time",
                              "--grid: the values are too long to name folders after");
    }
    for (char *at = point->suffix; *at != '\0'; at++)
        *at = *at == '/' ? '_' : *at;
    return OCDM_OK;
}

static ocdm_status make_trial(struct trial *trial, const ocdm__grid *grid, const ocdm__compare_plan *plan, ocdm_error *error)
{
    size_t points = plan->point_count * grid->count;
    *trial = (struct trial){.plan = *plan};
    if (grid->seeds > 0 && grid->seeds < plan->seed_count)
        trial->plan.seed_count = grid->seeds;
    trial->points = ocdm__allocate(points, sizeof *trial->points);
    trial->choices = ocdm__allocate(points, plan->method_count * sizeof *trial->choices);
    if (trial->points == NULL || trial->choices == NULL)
        return ocdm__fail_memory(error, "the runs of --grid");
    for (size_t i = 0; i < points; i++) {
        trial->points[i] = plan->points[i / grid->count];
        OCDM_TRY(name_trial(&trial->points[i], grid, i % grid->count, error));
        for (size_t method = 0; method < plan->method_count; method++)
            trial->choices[i * plan->method_count + method] = &grid->combinations[i % grid->count];
    }
    trial->plan.points = trial->points;
    trial->plan.point_count = points;
    trial->plan.choices = trial->choices;
    return OCDM_OK;
}

/* Uses the same flags except --validation, in a separate folder. */
static ocdm_status run_trial(struct trial *trial, const ocdm__grid *grid, const ocdm__plan_run *run, int *failed,
                             ocdm_error *error)
{
    char folder[4096], share[OCDM__JSON_DOUBLE];
    ocdm__run_setup setup = *run->setup;
    ocdm__plan_run tried = *run;
    const char **words;
    OCDM_TRY(ocdm__new(&words, run->word_count + 2, sizeof *words, "a command line", error));
    memcpy(words, run->words, run->word_count * sizeof *words);
    ocdm__json_double(grid->share, share);
    words[run->word_count] = "--validation";
    words[run->word_count + 1] = share;
    setup.settings.validation = grid->share;
    snprintf(folder, sizeof folder, "%.4000s/grid", run->folder);
    tried.plan = &trial->plan;
    tried.folder = folder;
    tried.setup = &setup;
    tried.words = words;
    tried.word_count += 2;
    ocdm_status status = ocdm__make_folder(run->folder, error);
    OCDM_THEN(status, ocdm__run_plan(&tried, failed, error));
    OCDM_THEN(status, ocdm__compare_results_create(&trial->results, &trial->plan, error));
    OCDM_THEN(status, ocdm__compare_results_read(&trial->results, &trial->plan, folder, error));
    ocdm__release(words);
    return status;
}

/* The best combination of a method at a point of the plan; grid->count when none has a value for every seed. */
static ocdm_status choose(const struct trial *trial, const ocdm__grid *grid, size_t point, size_t method, size_t *best,
                          ocdm_error *error)
{
    double most = 0;
    *best = grid->count;
    for (size_t i = 0; i < grid->count; i++) {
        ocdm__summary summary;
        OCDM_TRY(
            ocdm__compare_summary(&trial->results, point * grid->count + i, OCDM__COMPARE_VALIDATION, method, &summary, error));
        if (summary.count == trial->results.seed_count && (*best == grid->count || summary.mean > most)) {
            *best = i;
            most = summary.mean;
        }
    }
    return OCDM_OK;
}

static ocdm_status choose_all(ocdm__grid *grid, const struct trial *trial, const ocdm__compare_plan *plan, ocdm_error *error)
{
    OCDM_TRY(
        ocdm__new(&grid->chosen, plan->point_count, plan->method_count * sizeof *grid->chosen, "the chosen settings", error));
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        size_t best, method = i % plan->method_count;
        OCDM_TRY(choose(trial, grid, i / plan->method_count, method, &best, error));
        if (best == grid->count)
            return ocdm__fail(error, OCDM_BAD_FILE, "name other values, or see why its runs failed",
                              "--grid: no combination of %s has a validation mAP for every seed", plan->methods[method]);
        grid->chosen[i] = &grid->combinations[best];
    }
    return OCDM_OK;
}

ocdm_status ocdm__grid_choose(ocdm__grid *grid, const ocdm__plan_run *run, ocdm__compare_plan *plan, int *failed,
                              ocdm_error *error)
{
    struct trial trial;
    if (grid->count == 0)
        return OCDM_OK;
    ocdm_status status = make_trial(&trial, grid, plan, error);
    OCDM_THEN(status, run_trial(&trial, grid, run, failed, error));
    OCDM_THEN(status, choose_all(grid, &trial, plan, error));
    OCDM_THEN(status, ocdm__table_of_grid(&grid->tried, &trial.plan, &trial.results, grid->chosen, grid->count, error));
    if (status == OCDM_OK)
        plan->choices = grid->chosen;
    ocdm__compare_results_clear(&trial.results);
    ocdm__release(trial.points);
    ocdm__release(trial.choices);
    return status;
}

static void append_choices(char note[OCDM__TABLE_NOTE], const ocdm__grid_choice *chosen)
{
    const ocdm__compare_plan *plan = chosen->plan;
    if (chosen->stream != NULL)
        ocdm__append(note, OCDM__TABLE_NOTE, " on %s", chosen->stream);
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        const char *label = plan->points[i / plan->method_count].label;
        ocdm__append(note, OCDM__TABLE_NOTE, "%s %s%s%s %s",
                     i > 0                    ? ";"
                     : chosen->stream != NULL ? ":"
                                              : "",
                     label, label[0] != '\0' ? ", " : "", plan->methods[i % plan->method_count], plan->choices[i]->label);
    }
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
    for (size_t i = 0; i < count; i++) {
        ocdm__append(note, OCDM__TABLE_NOTE, "%s", i > 0 ? ";" : "");
        append_choices(note, &choices[i]);
    }
    ocdm__append(note, OCDM__TABLE_NOTE, ".\n");
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

enum ocdm__table_format ocdm__read_format(const ocdm__arguments *arguments)
{
    size_t named = ocdm__argument_choice(arguments, "format");
    return ocdm__argument_given(arguments, "json") ? OCDM__JSON : (enum ocdm__table_format)named;
}

ocdm__table_style ocdm__stdout_style(void)
{
    unsigned width = TABLE_WIDTH;
    if (ocdm__is_terminal(STDOUT_FILENO) && ocdm__terminal_width(STDOUT_FILENO) < width)
        width = ocdm__terminal_width(STDOUT_FILENO);
    return (ocdm__table_style){.width = width, .bold = ocdm__wants_colour(STDOUT_FILENO)};
}

ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error)
{
    ocdm__output output;
    ocdm__table_style style = ocdm__stdout_style();
    OCDM_TRY(ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    fflush(stdout);
    ocdm__table_write(table, format, &style, &output);
    return ocdm__output_commit(&output, error);
}
