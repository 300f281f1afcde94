/* `ocdm compare`: several methods and seeds on a stream, and the paper's table of them. */
#include "base/output.h"
#include "base/text.h"
#include "cli/compare_runs.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "experiment/compare/memory_only.h"
#include "experiment/folder/run_folder.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/schedule.h"
#include "ranks/ranks.h"
#include "report/tables/tables.h"

/* "all" aside, as `ocdm run` names them: the two bounds, and the policies of the library. */
static const char *const *method_names(void)
{
    static const char *names[OCDM__CHOICES] = {"all", OCDM__UPPER_BOUND, OCDM__LOWER_BOUND};
    return ocdm__policy_choices(names, 3, 0);
}

struct request {
    ocdm__compare_request asked;
    ocdm__stream stream;
    ocdm__comparison comparison;
    ocdm__compare_plan plan;
    const char *methods[OCDM__CHOICES];
    bool memory_only;
};

/* ---- what is asked for ------------------------------------------------------------------------------------------------ */

/* The points of the sweeps. Every run would refuse a wrong order of tasks; once is enough. */
static ocdm_status read_points(struct request *request, ocdm_error *error)
{
    const ocdm__arguments *arguments = request->asked.arguments;
    const char *orders = ocdm__argument_text(arguments, "order");
    ocdm__compare_plan *plan = &request->plan;
    ocdm__stream_order order;
    ocdm_status status = ocdm__stream_order_make(&order, &request->stream.table, OCDM__TRAIN, NULL, 0, 0, error);
    OCDM_THEN(status,
              ocdm__compare_points_make(plan, ocdm__argument_text(arguments, "memory"), ocdm__argument_text(arguments, "rho"),
                                        orders, order.tasks, order.task_count, error));
    ocdm__stream_order_clear(&order);
    bool named = orders != NULL && strcmp(orders, "all") != 0;
    for (size_t i = 0; status == OCDM_OK && named && i < plan->point_count; i++) {
        const ocdm__compare_point *point = &plan->points[i];
        if (point->order == NULL || (i > 0 && point->order == point[-1].order))
            continue;
        status =
            ocdm__stream_order_make(&order, &request->stream.table, OCDM__TRAIN, point->order, point->order_count, 0, error);
        ocdm__stream_order_clear(&order);
    }
    return status;
}

static ocdm_status read_request(struct request *request, const ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__comparison *comparison = &request->comparison;
    ocdm__run_settings settings = ocdm__run_settings_default();
    OCDM_TRY(ocdm__compare_request_read(&request->asked, arguments, error));
    request->plan.seeds = request->asked.seeds;
    request->plan.seed_count = request->asked.seed_count;
    OCDM_TRY(ocdm__need_stream(arguments, &comparison->path, error));
    comparison->folder = ocdm__argument_text(arguments, "output");
    comparison->stream = &request->stream;
    request->memory_only = strcmp(ocdm__argument_text(arguments, "model"), "none") == 0;
    if (comparison->folder == NULL && !request->memory_only)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "-o FOLDER", "no folder is named for the runs");
    OCDM_TRY(ocdm__stream_open(&request->stream, comparison->path, error));
    size_t named[OCDM__CHOICES], count = ocdm__argument_choices(arguments, "methods", named, OCDM__CHOICES);
    bool all = false, taken[OCDM__CHOICES] = {false};
    for (size_t i = 0; i < count; i++) {
        all |= named[i] == 0;
        if (named[i] != 0 && !taken[named[i]])
            request->methods[request->plan.method_count++] = method_names()[named[i]];
        taken[named[i]] = true;
    }
    /* Some policies take one label per sample, some and the bounds need a network: "all" leaves out what cannot run. */
    for (size_t i = 1; all && method_names()[i] != NULL; i++) {
        const ocdm_policy *policy = ocdm_policy_find(method_names()[i]);
        bool single = policy != NULL && policy->traits & OCDM_SINGLE_LABEL;
        if (!taken[i] && !single && (!request->memory_only || ocdm__runs_alone(method_names()[i])))
            request->methods[request->plan.method_count++] = method_names()[i];
    }
    request->plan.methods = request->methods;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(read_points(request, error));
    if (request->memory_only && arguments->repeated_count > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --grid out", "--grid chooses by predictions, and --model is none");
    if (request->memory_only) /* memories without a network are not runs */
        return OCDM_OK;
    OCDM_TRY(ocdm__run_flags_read(arguments, &settings, error));
    return ocdm__comparison_begin(comparison, &settings, arguments, error);
}

/* ---- compare.json ----------------------------------------------------------------------------------------------------- */

static void save_flag(ocdm__output *output, const ocdm__flag *flag, const char *value)
{
    char name[48];
    snprintf(name, sizeof name, "--%s", flag->name);
    ocdm__json_string(output, NULL, name);
    if (flag->value != NULL)
        ocdm__json_string(output, NULL, value);
}

/* The flags as they were given, as words of a command that repeats the comparison. Where results go and how they are printed
 * does not change them. */
static void save_flags(ocdm__output *output, const ocdm__arguments *arguments)
{
    static const char *const left_out[] = {"output", "jobs", "format", "json", "quiet", "threads", NULL};
    const ocdm__flag *flags = arguments->verb->flags;
    ocdm__json_open(output, "flags", '[');
    for (size_t i = 0; flags[i].name != NULL; i++) {
        for (size_t k = 0; flags[i].repeats && k < arguments->repeated_count; k++)
            save_flag(output, &flags[i], arguments->repeated[k]);
        if (!flags[i].repeats && arguments->values[i] != NULL && !ocdm__is_among(flags[i].name, left_out))
            save_flag(output, &flags[i], arguments->values[i]);
    }
    ocdm__json_close(output, ']');
}

/* The rows of a table, and what they are of. */
static ocdm_status save_table(const struct request *request, const ocdm__table *table, ocdm_error *error)
{
    const ocdm__comparison *comparison = &request->comparison;
    char path[4096];
    ocdm__output output;
    if (comparison->folder == NULL)
        return OCDM_OK;
    if ((size_t)snprintf(path, sizeof path, "%s/compare.json", comparison->folder) >= sizeof path)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%.64s...: the folder's name is too long", comparison->folder);
    OCDM_TRY(ocdm__make_folder(comparison->folder, error));
    OCDM_TRY(ocdm__output_open_own(&output, path, error));
    ocdm__json_open(&output, NULL, '{');
    ocdm__json_string(&output, "format", "ocdm-compare");
    ocdm__json_count(&output, "version", 1);
    ocdm__json_string(&output, "program", ocdm_version());
    if (request->memory_only)
        ocdm__json_string(&output, "model", "none");
    ocdm__json_string(&output, "stream", comparison->path);
    ocdm__json_open(&output, "seeds", '[');
    for (size_t i = 0; i < request->plan.seed_count; i++)
        ocdm__json_count(&output, NULL, request->plan.seeds[i]);
    ocdm__json_close(&output, ']');
    save_flags(&output, request->asked.arguments);
    ocdm__json_key(&output, "rows");
    ocdm__table_write(table, OCDM__JSON, NULL, &output);
    if (comparison->grid.count > 0) {
        /* A table ends its line: the commas are not automatic here. */
        ocdm__output_real(&output, ",\"validation\":", comparison->grid.share);
        ocdm__output_text(&output, ",\"grid\":");
        ocdm__table_write(&comparison->grid.tried, OCDM__JSON, NULL, &output);
    }
    ocdm__output_text(&output, "}\n");
    return ocdm__output_commit(&output, error);
}

/* ---- with a network --------------------------------------------------------------------------------------------------- */

/* What the runs have in common, under the table, and over it that its groups are not the paper's. Without tests there is
 * nothing to compare but memories and times. */
static ocdm_status note_runs(struct request *request, ocdm__table *table, ocdm_error *error)
{
    ocdm__comparison *comparison = &request->comparison;
    char text[OCDM__TABLE_NOTE / 2];
    if (!ocdm__stream_has_tests(&request->stream.table)) {
        ocdm__table_drop_empty(table);
        snprintf(table->note, sizeof table->note, "The stream has no test samples: there are no metrics.");
    } else if (ocdm__groups_are_terciles(comparison->setup.settings.groups)) {
        ocdm__append(table->title, sizeof table->title, "%sgroups are terciles of the classes by training samples",
                     table->title[0] != '\0' ? "; " : "");
    }
    OCDM_TRY(ocdm__run_setup_text(&comparison->setup, &request->plan, text, sizeof text, error));
    ocdm__append(table->note, sizeof table->note, "\n");
    ocdm__grid_note(&(ocdm__grid_choice){&comparison->grid, &request->plan, NULL}, 1, table->note);
    ocdm__append(table->note, sizeof table->note, "All runs: %s.", text);
    return OCDM_OK;
}

static ocdm_status report_runs(struct request *request, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &request->plan;
    ocdm__compare_results results = {.point_count = 0};
    ocdm__table data = {.row_count = 0};
    enum ocdm__table_format format = request->asked.format;
    bool is_data = ocdm__table_is_data(format);
    ocdm_status status = ocdm__compare_results_create(&results, plan, error);
    OCDM_THEN(status, ocdm__compare_results_read(&results, plan, request->comparison.folder, error));
    OCDM_THEN(status, ocdm__table_of_comparison_data(&data, plan, &results, error));
    OCDM_THEN(status, save_table(request, &data, error));
    if (is_data)
        OCDM_THEN(status, ocdm__print_table(&data, format, error));
    for (size_t point = 0; !is_data && status == OCDM_OK && point < plan->point_count; point++) {
        ocdm__table table = {.row_count = 0};
        status = ocdm__table_of_comparison(&table, plan, &results, point, error);
        OCDM_THEN(status, note_runs(request, &table, error));
        if (point + 1 < plan->point_count) /* the last table has the notes */
            table.note[0] = '\0';
        if (point > 0)
            printf("\n");
        OCDM_THEN(status, ocdm__print_table(&table, format, error));
        ocdm__table_clear(&table);
    }
    ocdm__table_clear(&data);
    ocdm__compare_results_clear(&results);
    return status;
}

static ocdm_status compare_runs(struct request *request, ocdm_error *error)
{
    /* Classes without tests, once for all runs, each of which would say it. */
    const ocdm__stream_table *table = &request->stream.table;
    char text[OCDM__UNTESTED_TEXT];
    uint64_t *tests;
    OCDM_TRY(ocdm__new(&tests, table->class_count, sizeof *tests, "the tests of classes", error));
    ocdm__count_classes(table, OCDM__TEST, tests);
    ocdm__untested_text(table, tests, text);
    if (text[0] != '\0' && !request->asked.quiet)
        ocdm__print_note(text);
    ocdm__release(tests);
    OCDM_TRY(ocdm__choose_settings(&request->asked, &request->comparison, &request->plan, error));
    OCDM_TRY(ocdm__run_plan(&request->asked, &request->comparison, &request->plan, error));
    return report_runs(request, error);
}

/* ---- the memory alone ------------------------------------------------------------------------------------------------- */

static ocdm_status compare_memories(const struct request *request, ocdm_error *error)
{
    const ocdm__compare_plan *plan = &request->plan;
    enum ocdm__table_format format = request->asked.format;
    bool data = ocdm__table_is_data(format);
    double *weights = NULL; /* to be released even after an error */
    ocdm__compare_memories memories = {.count = 0};
    ocdm__table spreads = {.row_count = 0}, runs = {.row_count = 0};
    ocdm__run_settings settings = ocdm__run_settings_default();
    OCDM_TRY(ocdm__run_flags_read(request->asked.arguments, &settings, error));
    OCDM_TRY(ocdm__run_settings_resolve_model(&settings, &request->stream, request->comparison.path, error));
    for (size_t i = 0; settings.memory_bytes > 0 && i < plan->point_count; i++)
        plan->points[i].memory = settings.memory;
    ocdm_status status = ocdm__class_weights_read(settings.class_weights, &request->stream.table, &weights, error);
    const ocdm__compare_memory_options options = {.settings = &settings, .class_weights = weights};
    OCDM_THEN(status, ocdm__run_memories(&request->asked, &request->stream.table, plan, &options, &memories, error));
    OCDM_THEN(status, ocdm__table_of_spreads(&spreads, plan, &memories, data, error));
    OCDM_THEN(status, ocdm__table_of_memory_runs(&runs, plan, &memories, error));
    OCDM_THEN(status, save_table(request, &runs, error));
    if (!data && !plan->sweeps_memory)
        ocdm__table_drop(&spreads, "memory");
    if (!data && !plan->sweeps_rho)
        ocdm__table_drop(&spreads, "rho");
    OCDM_THEN(status, ocdm__print_table(&spreads, format, error));
    ocdm__table_clear(&spreads);
    ocdm__table_clear(&runs);
    ocdm__compare_memories_clear(&memories);
    ocdm__release(weights);
    return status;
}

static void follow(const ocdm__arguments *arguments)
{
    char program[4096];
    (void)arguments;
    ocdm__own_program("ocdm-mpi", program, sizeof program);
    const ocdm__child_server server = {
        .ranks = ocdm__ranks_all(), .program = program, .stop = &ocdm__stop_signal, .follow = ocdm__follow_command};
    ocdm__children_serve(&server);
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    static struct request request; /* too large for the stack of some systems */
    ocdm_status status = read_request(&request, arguments, error);
    OCDM_THEN(status, request.memory_only ? compare_memories(&request, error) : compare_runs(&request, error));
    if (status == OCDM_STOPPED)
        error->message[0] = '\0'; /* the progress has said it */
    arguments->code = request.asked.failed;
    ocdm__compare_plan_clear(&request.plan);
    ocdm__comparison_clear(&request.comparison);
    ocdm__stream_close(&request.stream);
    if (ocdm__ranks_all()->size > 1)
        ocdm__rank_children_dismiss(ocdm__ranks_all());
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FOLDER", NULL, "folder for the runs; required unless --model is none"),
    OCDM__LISTED(0, "methods", "A,B,...", "rs,prs,ocdm", method_names, "what to compare; all is every one but cbrs"),
    OCDM__SEEDS_FLAG,
    OCDM__VALUE('m', "memory", "M,M,...", "1000", "samples that the memory holds"),
    OCDM__VALUE(0, "rho", "R,R,...", "0", "power of the target: class i gets n_i^R of the labels in memory"),
    OCDM__VALUE(0, "order", "A;B;...|all", NULL, "orders of the tasks, as 0,3,1,2;2,1,3,0; ascending by default"),
    OCDM__GRID_FLAGS,
    OCDM__VALUE('j', "jobs", "J", NULL,
                "runs at a time, under mpirun on each rank; by default cores / threads, of which a run has one here, and one "
                "on each rank"),
    OCDM__TABLE_FLAGS,
    OCDM__SWITCH(0, "resume", "accepted as by `ocdm run`: what is in the folder is taken or resumed in any case"),
    OCDM__SWITCH('q', "quiet", "print only errors of the runs"),
    /* clang-format off */
    OCDM__COMPARE_FLAGS
    /* clang-format on */
    {.name = NULL},
};

const ocdm__verb ocdm__verb_compare = {
    .name = "compare",
    .summary = "run several methods and seeds, print the paper's table",
    .operands = "STREAM",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};
