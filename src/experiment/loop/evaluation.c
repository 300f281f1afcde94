/*
 * Evaluates a learner on test sets, scores its answers, and writes evaluations as JSON; finds the groups of classes.
 *
 * All tests are predicted once, piece by piece; metrics of tasks and groups are then computed from the same logits. Several
 * versions of the weights share the pieces, so that an image is decoded once for all of them.
 */
#include "experiment/loop/evaluation.h"

#include "base/text.h"
#include "stream/recipes/class_files.h"

ocdm_status ocdm__logits_check(const ocdm__logits_source *source, uint32_t sample, const float *logits, size_t classes,
                               ocdm_error *error)
{
    for (size_t i = 0; i < classes; i++)
        if (!isfinite(logits[i]))
            return ocdm__fail(error, OCDM_BAD_RECORD, source->hint,
                              "%s: sample %" PRIu32 ": the logit of class %zu is not a finite number", source->stream, sample,
                              i);
    return OCDM_OK;
}

/* Samples that are predicted at a time: enough for the agent's kernels, few enough for images. */
#define PIECE 128u

/* The predictions, row by row, and the true labels. */
struct answers {
    const float *logits;
    float *own; /* the room that they are written to; NULL if they are given */
    uint64_t *label_starts;
    uint32_t *labels;
    size_t *ends;      /* rows up to the end of each task */
    uint32_t *samples; /* of each row */
    uint8_t *known; /* room for the classes that count in each row, as bits; and for a set of classes after it; NULL: all do */
    size_t rows, label_count; /* so far */
    size_t versions, stride;  /* of the weights that answer; floats from the logits of one to those of the next */
    ocdm__arena arena;
};

/* No value yet. */
static ocdm__averages none(void)
{
    ocdm__averages averages = {.classes = 0};
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        averages.value[i] = NAN;
    return averages;
}

ocdm_status ocdm__evaluation_start(ocdm__evaluation *evaluation, size_t task_count, ocdm_error *error)
{
    *evaluation = (ocdm__evaluation){
        .distance = NAN, .distance_seen = NAN, .ahead = NAN, .threshold = NAN, .total = none(), .task_count = task_count};
    OCDM_TRY(ocdm__new(&evaluation->tasks, task_count, sizeof *evaluation->tasks, "an evaluation", error));
    for (size_t g = 0; g < OCDM__GROUPS; g++)
        evaluation->groups[g] = none();
    for (size_t k = 0; k < task_count; k++)
        evaluation->tasks[k] = none();
    return OCDM_OK;
}

void ocdm__evaluation_clear(ocdm__evaluation *evaluation)
{
    ocdm__release(evaluation->tasks);
    *evaluation = (ocdm__evaluation){.tasks = NULL};
}

/* ---- asking ------------------------------------------------------------------------------------------------------------ */

/* The next row is that of a sample: its labels follow those of the rows before. */
static void add_row(struct answers *answers, const ocdm__stream_table *table, size_t sample)
{
    for (const uint32_t *label = ocdm__labels(table, sample); label < ocdm__labels(table, sample + 1); label++)
        answers->labels[answers->label_count++] = *label;
    answers->samples[answers->rows] = (uint32_t)sample;
    answers->label_starts[++answers->rows] = answers->label_count;
}

/* A learner without averages has one version alone. */
static ocdm_status use_version(const ocdm__learner *learner, size_t version, ocdm_error *error)
{
    return learner->functions->use != NULL ? learner->functions->use(learner->state, version, error) : OCDM_OK;
}

/* The answers of every version of the weights about the tests of the first tasks; all ranks stop where the leader does. */
static ocdm_status ask(const ocdm__examination *examination, struct answers *answers, size_t task_count, ocdm_error *error)
{
    const ocdm__stream_order *tests = examination->tests;
    const ocdm__learner *learner = examination->learner;
    size_t classes = examination->table->class_count;
    for (size_t k = 0; k < task_count; k++) {
        size_t begin = k > 0 ? tests->ends[k - 1] : 0;
        ocdm__walk walk = {
            .inputs = examination->inputs, .samples = tests->samples + begin, .count = tests->ends[k] - begin, .most = PIECE};
        while (walk.next < walk.count) {
            ocdm__batch piece;
            OCDM_TRY(ocdm__walk_next(&walk, &piece, error));
            uint32_t stopped = ocdm__progress_stopped(examination->progress);
            ocdm__learner_part_of(learner, 1, false).ranks->broadcast(&stopped, 1);
            if (stopped)
                return ocdm__fail(error, OCDM_STOPPED, "", "stopped in an evaluation");
            for (size_t v = 0; v < answers->versions && piece.count > 0; v++) {
                float *logits = answers->own + v * answers->stride + answers->rows * classes;
                OCDM_TRY(use_version(learner, v, error));
                OCDM_TRY(learner->functions->predict(learner->state, piece.input, piece.count, logits, error));
                for (size_t i = 0; i < piece.count; i++)
                    OCDM_TRY(ocdm__logits_check(&examination->source, piece.samples[i], logits + i * classes, classes, error));
            }
            for (size_t i = 0; i < piece.count; i++)
                add_row(answers, examination->table, piece.samples[i]);
            ocdm__progress_tell(examination->progress, "evaluation", begin + walk.next, tests->ends[tests->task_count - 1]);
        }
        answers->ends[k] = answers->rows;
    }
    return OCDM_OK;
}

/* ---- scoring ----------------------------------------------------------------------------------------------------------- */

/*
 * The tests of a task as a set, or those of all tasks for OCDM_NONE, with the classes of the first `last` + 1 tasks.
 *
 * In a stream of partial labels a test counts with the classes that it knows and that are introduced; for a task that
 * introduces classes of its own, all tests with one of these do, with these classes.
 */
static ocdm__test_set set_of(const ocdm__examination *examination, const struct answers *answers, size_t last, uint32_t task,
                             float threshold)
{
    const ocdm__stream_table *table = examination->table;
    const uint32_t *places = examination->tests->class_places;
    size_t size = ocdm__bits_size(table->class_count);
    bool own = table->known != NULL && task != OCDM_NONE && places != NULL && examination->tests->disjoint;
    size_t first = task == OCDM_NONE || own || task == 0 ? 0 : answers->ends[task - 1];
    size_t end = answers->ends[task == OCDM_NONE || own ? last : task];
    ocdm__test_set set = {.logits = answers->logits + first * table->class_count,
                          .samples = end - first,
                          .classes = table->class_count,
                          .label_starts = answers->label_starts + first,
                          .labels = answers->labels,
                          .known = answers->known,
                          .threshold = threshold};
    if (table->known == NULL)
        return set;
    uint8_t *columns = answers->known + answers->rows * size, *row = answers->known; /* classes that count, as bits */
    memset(columns, 0, size);
    for (size_t c = 0; c < table->class_count; c++)
        if (places == NULL || (own ? places[c] == task : places[c] <= last))
            ocdm__bits_add(columns, c);
    for (size_t i = 0; i < set.samples; i++, row += size) {
        uint32_t sample = answers->samples[first + i];
        const ocdm_sample test = ocdm__sample_of(table, sample);
        bool counts = !own; /* else it counts if it carries one of the task's classes */
        for (size_t k = 0; !counts && k < test.label_count; k++)
            counts = ocdm__bits_have(columns, test.labels[k]);
        for (size_t k = 0; k < size; k++)
            row[k] = counts ? columns[k] & ocdm__known_labels(table, sample)[k] : 0;
    }
    return set;
}

/* Scores every class, and measures them together. */
static ocdm_status score(const ocdm__test_set *set, ocdm__class_score *scores, ocdm__averages *averages, ocdm_error *error)
{
    OCDM_TRY(ocdm__score_classes(set, scores, error));
    return ocdm__measure(set, scores, NULL, 0, averages, error);
}

/* The answers about the first tasks by so many versions of the weights, with room for all tests: the most that an evaluation
 * needs. Then the learner is back at its trained weights, also after an error. Clear them even after an error. */
static ocdm_status get_answers(const ocdm__examination *examination, size_t task_count, size_t versions,
                               struct answers *answers, ocdm_error *error)
{
    const ocdm__stream_table *table = examination->table;
    size_t tests = examination->tests->ends[task_count - 1], labels = 0;
    *answers = (struct answers){.logits = examination->given, .versions = versions, .stride = tests * table->class_count};
    ocdm__arena *arena = &answers->arena;
    if (examination->inputs != NULL)
        examination->inputs->learner = examination->learner;
    for (size_t i = 0; i < tests; i++)
        labels += ocdm__sample_of(table, examination->tests->samples[i]).label_count;
    if (answers->logits == NULL)
        answers->logits = answers->own = ocdm__arena_new(arena, tests * versions, table->class_count * sizeof *answers->own);
    answers->label_starts = ocdm__arena_new(arena, tests + 1, sizeof *answers->label_starts);
    answers->labels = ocdm__arena_new(arena, labels, sizeof *answers->labels);
    answers->ends = ocdm__arena_new(arena, task_count, sizeof *answers->ends);
    answers->samples = ocdm__arena_new(arena, tests, sizeof *answers->samples);
    if (table->known != NULL)
        answers->known = ocdm__arena_new(arena, tests + 1, ocdm__bits_size(table->class_count));
    OCDM_TRY(ocdm__arena_check(arena, "the answers of an evaluation", error));
    for (size_t i = 0; examination->given != NULL && i < tests; i++) { /* all scores are there: no sample is left out */
        uint32_t sample = examination->tests->samples[i];
        OCDM_TRY(ocdm__logits_check(&examination->source, sample, answers->logits + i * table->class_count, table->class_count,
                                    error));
        add_row(answers, table, sample);
    }
    memcpy(answers->ends, examination->tests->ends, task_count * sizeof *answers->ends);
    if (examination->given != NULL)
        return OCDM_OK;
    ocdm_status status = ask(examination, answers, task_count, error);
    ocdm_status back = use_version(examination->learner, 0, status == OCDM_OK ? error : NULL);
    return status == OCDM_OK ? back : status;
}

/* Of each version the answers are scored: each task on its own tests, then all tests; the last scores are kept. */
ocdm_status ocdm__evaluate(const ocdm__examination *examination, size_t task_count, const struct ocdm__version_result *results,
                           size_t count, ocdm_error *error)
{
    struct answers answers;
    size_t asked = task_count + (examination->ahead && task_count < examination->tests->task_count); /* the task ahead too */
    for (size_t v = 0; v < count; v++)
        OCDM_TRY(ocdm__evaluation_start(results[v].evaluation, task_count, error));
    if (examination->learner == NULL && examination->given == NULL)
        return OCDM_OK;
    ocdm_status status = get_answers(examination, asked, count, &answers, error);
    for (size_t v = 0; status == OCDM_OK && v < count; v++) {
        const struct ocdm__version_result *result = &results[v];
        ocdm__evaluation *evaluation = result->evaluation;
        float threshold = (float)result->threshold;
        answers.logits = examination->given != NULL ? examination->given : answers.own + v * answers.stride;
        evaluation->skipped = examination->tests->ends[task_count - 1] - answers.ends[task_count - 1];
        for (size_t k = 0; status == OCDM_OK && k < asked; k++) {
            ocdm__averages next = {.classes = 0};
            bool ahead = k >= task_count;
            const ocdm__test_set set = set_of(examination, &answers, ahead ? k : task_count - 1, (uint32_t)k, threshold);
            status = score(&set, result->scores, ahead ? &next : &evaluation->tasks[k], error);
            evaluation->ahead = ahead ? next.value[OCDM_MAP] : evaluation->ahead;
        }
        const ocdm__test_set all = set_of(examination, &answers, task_count - 1, OCDM_NONE, threshold);
        OCDM_THEN(status, score(&all, result->scores, &evaluation->total, error));
        if (result->operation != NULL)
            OCDM_THEN(status, ocdm__operate(&all, result->operation, error));
        for (unsigned g = 0; g < OCDM__GROUPS; g++)
            OCDM_THEN(status,
                      ocdm__measure(&all, result->scores, examination->groups, (uint8_t)g, &evaluation->groups[g], error));
    }
    ocdm__arena_clear(&answers.arena);
    return status;
}

ocdm_status ocdm__evaluate_fresh(const ocdm__examination *examination, ocdm__class_score *scores, double *map,
                                 ocdm_error *error)
{
    struct answers answers;
    ocdm__averages averages;
    size_t tasks = examination->tests->task_count;
    ocdm_status status = get_answers(examination, tasks, 1, &answers, error);
    for (size_t k = 0; status == OCDM_OK && k < tasks; k++) {
        const ocdm__test_set set = set_of(examination, &answers, k, (uint32_t)k, 0);
        status = score(&set, scores, &averages, error);
        map[k] = status == OCDM_OK ? averages.value[OCDM_MAP] : (double)NAN;
    }
    ocdm__arena_clear(&answers.arena);
    return status;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

/* Metrics are in percent, but those that are counts. */
static void write_averages(ocdm__output *output, const ocdm__averages *averages)
{
    ocdm__json_count(output, "classes", averages->classes);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        ocdm__json_real(output, ocdm__metrics[i].about.name, ocdm__metrics[i].scale * averages->value[i]);
}

static void write_member(ocdm__output *output, const char *name, const ocdm__averages *averages)
{
    ocdm__json_open(output, name, '{');
    write_averages(output, averages);
    ocdm__json_close(output, '}');
}

void ocdm__evaluation_write(ocdm__output *output, const ocdm__evaluation *evaluation, size_t after, const uint32_t *tasks)
{
    ocdm__json_count(output, "after", after);
    ocdm__json_count(output, "task", evaluation->task);
    ocdm__json_count(output, "step", evaluation->step);
    ocdm__json_count(output, "samples", evaluation->samples);
    ocdm__json_real(output, "distance", evaluation->distance);
    ocdm__json_real(output, "distance_seen", evaluation->distance_seen);
    if (!isnan(evaluation->threshold))
        ocdm__json_real(output, "threshold", ocdm__score_of(evaluation->threshold));
    if (!isnan(evaluation->ahead))
        ocdm__json_real(output, "ahead", 100 * evaluation->ahead);
    ocdm__evaluation_metrics_write(output, evaluation, tasks);
}

void ocdm__evaluation_metrics_write(ocdm__output *output, const ocdm__evaluation *evaluation, const uint32_t *tasks)
{
    write_member(output, "total", &evaluation->total);
    for (int g = 0; g < OCDM__GROUPS; g++)
        write_member(output, ocdm__class_group_name((enum ocdm__class_group)g), &evaluation->groups[g]);
    ocdm__json_open(output, "tasks", '[');
    for (size_t k = 0; k < evaluation->task_count; k++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_count(output, "task", tasks[k]);
        write_averages(output, &evaluation->tasks[k]);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
}

void ocdm__class_scores_write(ocdm__output *output, const ocdm__class_score *scores, size_t class_count)
{
    const ocdm__class_score none = {.positives = 0, .ap = NAN, .auc = NAN, .ece = NAN};
    ocdm__json_open(output, NULL, '[');
    for (size_t c = 0; c < class_count; c++) {
        const ocdm__class_score *score = scores != NULL ? &scores[c] : &none;
        double hits = score->hits, precision = score->predicted > 0 ? hits / score->predicted : 0;
        ocdm__json_open(output, NULL, '{');
        ocdm__json_real(output, "AP", 100 * score->ap);
        ocdm__json_real(output, "precision", score->positives > 0 ? 100 * precision : NAN);
        ocdm__json_real(output, "recall", 100 * (hits / score->positives)); /* 0 of 0 is NaN */
        if (scores != NULL)
            ocdm__json_count(output, "positives", score->positives);
        else
            ocdm__json_null(output, "positives");
        ocdm__json_real(output, OCDM__AUC_NAME, 100 * score->auc);
        ocdm__json_real(output, OCDM__ECE_NAME, 100 * score->ece);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
}

/* ---- classes without tests ----------------------------------------------------------------------------------------- */

bool ocdm__stream_has_tests(const ocdm__stream_table *table)
{
    for (size_t i = 0; i < table->sample_count; i++)
        if (table->parts[i] == OCDM__TEST)
            return true;
    return false;
}

void ocdm__untested_text(const ocdm__stream_table *table, const uint64_t *tests, char text[OCDM__UNTESTED_TEXT])
{
    enum { MOST_NAMED = 8 };
    size_t untested = 0, named = 0, used = 0;
    for (size_t c = 0; c < table->class_count; c++)
        untested += tests[c] == 0;
    text[0] = '\0';
    if (!ocdm__stream_has_tests(table))
        snprintf(text, OCDM__UNTESTED_TEXT, "the stream has no test samples: there will be no metrics");
    if (!ocdm__stream_has_tests(table) || untested == 0)
        return;
    used = (size_t)snprintf(text, OCDM__UNTESTED_TEXT,
                            "classes without test samples, which do not count in the metrics: %zu of %zu: ", untested,
                            table->class_count);
    for (size_t c = 0; c < table->class_count && named < MOST_NAMED; c++) {
        size_t length;
        const char *name = ocdm__text_at(&table->classes, c, &length);
        if (tests[c] == 0)
            used += (size_t)snprintf(text + used, OCDM__UNTESTED_TEXT - used, "%s%.40s", named++ > 0 ? ", " : "",
                                     ocdm__show_label(name, length).text);
    }
    if (untested > named)
        snprintf(text + used, OCDM__UNTESTED_TEXT - used, " and %zu more", untested - named);
}

/* ---- groups of classes --------------------------------------------------------------------------------------------- */

void ocdm__count_classes(const ocdm__stream_table *table, uint8_t part, uint64_t *counts)
{
    memset(counts, 0, table->class_count * sizeof *counts);
    for (size_t i = 0; i < table->sample_count; i++)
        if (table->parts[i] == part)
            ocdm__count_labels(table, i, counts);
}

ocdm_status ocdm__count_classes_by_task(const ocdm__stream_table *table, const ocdm__stream_order *order, uint32_t *counts,
                                        ocdm_error *error)
{
    uint32_t *places;
    OCDM_TRY(ocdm__new(&places, OCDM__MAX_TASKS, sizeof *places, "the counts of classes in tasks", error));
    for (size_t k = 0; k < order->task_count; k++)
        places[order->tasks[k]] = 1;
    for (size_t task = 0, next = 0; task < OCDM__MAX_TASKS; task++)
        places[task] = places[task] == 1 ? (uint32_t)next++ : 0;
    for (size_t i = 0; i < table->sample_count; i++)
        for (const uint32_t *label = ocdm__labels(table, i); label < ocdm__labels(table, i + 1); label++)
            counts[*label * order->task_count + places[table->tasks[i]]] += table->parts[i] == OCDM__TRAIN;
    ocdm__release(places);
    return OCDM_OK;
}

/* Whether the text is two bounds; a file of such a name would need a folder before it. */
static bool read_bounds(const char *text, size_t length, uint64_t bounds[2])
{
    static const uint64_t most = 999999999999999999;
    const char *comma = memchr(text, ',', length);
    return comma != NULL && ocdm__text_to_whole(text, (size_t)(comma - text), 0, most, &bounds[0]) &&
           ocdm__text_to_whole(comma + 1, (size_t)(text + length - comma - 1), 0, most, &bounds[1]);
}

bool ocdm__groups_are_terciles(const char *text)
{
    return strcmp(text, "terciles") == 0;
}

bool ocdm__groups_are_of_a_file(const char *text, size_t length)
{
    uint64_t bounds[2];
    return !ocdm__text_is(text, length, "stream") && !ocdm__text_is(text, length, "terciles") &&
           !read_bounds(text, length, bounds);
}

/* Counts that are one after another, for functions that take them from a struct. */
static ocdm__class_counts plain_counts(const uint64_t *counts, size_t class_count)
{
    return (ocdm__class_counts){.first = counts, .stride = sizeof *counts, .count = class_count};
}

ocdm_status ocdm__evaluation_usual_groups(const ocdm__stream_table *table, const char **text, ocdm_error *error)
{
    uint64_t bounds[2];
    *text = "stream";
    if (table->groups != NULL)
        return OCDM_OK;
    uint64_t *counts;
    OCDM_TRY(ocdm__new(&counts, table->class_count, sizeof *counts, "the counts of classes", error));
    ocdm__count_classes(table, OCDM__TRAIN, counts);
    const ocdm__class_counts plain = plain_counts(counts, table->class_count);
    *text = ocdm__usual_bounds(&plain, bounds) ? "terciles" : "600,100";
    ocdm__release(counts);
    return OCDM_OK;
}

ocdm_status ocdm__evaluation_groups(const char *text, const ocdm__stream_table *table, const uint64_t *counts, uint8_t *groups,
                                    ocdm_error *error)
{
    uint64_t bounds[2];
    const ocdm__class_counts plain = plain_counts(counts, table->class_count);
    if (strcmp(text, "stream") == 0) {
        if (table->groups == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give bounds, such as --groups 600,100",
                              "the stream has no groups of its own");
        memcpy(groups, table->groups, table->class_count);
        return OCDM_OK;
    }
    if (ocdm__groups_are_terciles(text))
        ocdm__tercile_bounds(&plain, bounds);
    else if (!read_bounds(text, strlen(text), bounds)) {
        ocdm__label_table classes = {.count = 0};
        ocdm_status status = ocdm__class_table_make(&classes, table, error);
        OCDM_THEN(status, ocdm__class_groups_file_read(text, &classes, groups, NULL, error));
        ocdm__label_table_clear(&classes);
        return status;
    }
    if (bounds[0] < bounds[1] && !ocdm__groups_are_terciles(text))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the larger bound comes first, such as --groups 600,100",
                          "group bounds must be decreasing: %s", text);
    for (size_t c = 0; c < table->class_count; c++)
        groups[c] = (uint8_t)ocdm__class_group_of(counts[c], bounds[0], bounds[1]);
    return OCDM_OK;
}
