/* Sorts runs into studies and groups, labels the groups and summarises their numbers. There are few runs, so everything is
 * compared with everything. */
#include "report/runs/groups.h"

#include <limits.h>

#include "base/text.h"
#include "experiment/compare/memory_only.h"
#include "experiment/loop/settings.h"
#include "report/charts/canvas.h"

bool ocdm__json_same(const ocdm__json_node *a, const ocdm__json_node *b)
{
    if (a == NULL || b == NULL || a->kind != b->kind || a->count != b->count)
        return a == b;
    if ((a->kind == OCDM__JSON_STRING || a->kind == OCDM__JSON_NUMBER) && strcmp(a->text, b->text) != 0)
        return false;
    const ocdm__json_node *left = a->first, *right = b->first;
    for (; left != NULL && right != NULL; left = left->next, right = right->next)
        if ((left->key != NULL && strcmp(left->key, right->key) != 0) || !ocdm__json_same(left, right))
            return false;
    return true;
}

/* ---- settings ----------------------------------------------------------------------------------------------------------- */

static const ocdm__json_node *skip_seed(const ocdm__json_node *setting)
{
    while (setting != NULL && strcmp(setting->key, "seed") == 0)
        setting = setting->next;
    return setting;
}

const ocdm__json_node *ocdm__settings_first(const ocdm__run_record *run)
{
    bool is_object = run->settings != NULL && run->settings->kind == OCDM__JSON_OBJECT;
    return is_object ? skip_seed(run->settings->first) : NULL;
}

const ocdm__json_node *ocdm__settings_next(const ocdm__json_node *setting)
{
    return skip_seed(setting->next);
}

const ocdm__json_node *ocdm__group_setting(const ocdm__run_group *group, const char *setting)
{
    return ocdm__json_find(group->runs[0]->settings, setting);
}

bool ocdm__groups_agree(const ocdm__run_group *a, const ocdm__run_group *b, const char *setting)
{
    return ocdm__json_same(ocdm__group_setting(a, setting), ocdm__group_setting(b, setting));
}

static const char *plain_text(const ocdm__json_node *setting)
{
    if (setting == NULL || setting->kind == OCDM__JSON_NULL)
        return "none";
    if (setting->kind == OCDM__JSON_TRUE || setting->kind == OCDM__JSON_FALSE)
        return setting->kind == OCDM__JSON_TRUE ? "yes" : "no";
    return setting->text != NULL ? setting->text : "{}";
}

void ocdm__setting_text(const ocdm__json_node *setting, char *text, size_t room)
{
    bool is_list = setting != NULL && setting->kind == OCDM__JSON_ARRAY;
    snprintf(text, room, "%s", is_list ? "" : plain_text(setting));
    for (const ocdm__json_node *node = is_list ? setting->first : NULL; node != NULL; node = node->next)
        ocdm__append(text, room, "%s%s", node == setting->first ? "" : ",", plain_text(node));
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

void ocdm__metric_path(size_t group, ocdm_metric metric, char path[OCDM__METRIC_PATH])
{
    snprintf(path, OCDM__METRIC_PATH, "final.%s.%s", ocdm__paper_groups[group], ocdm__metric_name(metric));
}

/* A number of samples in a file; what is not a count becomes 0. */
static uint32_t whole_count(const ocdm__numbers *numbers, size_t c)
{
    return numbers->values[c] >= 0 && numbers->values[c] < UINT32_MAX ? (uint32_t)numbers->values[c] : 0;
}

/* A number of the summary, in place of one of an evaluation. */
#define IN_SUMMARY SIZE_MAX

static double number_of(const ocdm__run_record *run, size_t after, const char *path)
{
    static const char counted[] = "count.";
    const ocdm__json_node *node = run->summary.root;
    if (strncmp(path, counted, strlen(counted)) == 0) {
        ocdm__balance balance = {.classes = 0};
        for (size_t c = 0; c < run->counts.count; c++)
            ocdm__balance_add(&balance, whole_count(&run->counts, c), c < run->seen.count ? whole_count(&run->seen, c) : 1);
        if (balance.classes == 0)
            return NAN;
        return strcmp((path + strlen(counted)), "fewest") == 0 ? balance.fewest
               : strcmp((path + strlen(counted)), "most") == 0 ? balance.most
                                                               : (double)balance.lost;
    }
    if (after != IN_SUMMARY)
        node = ocdm__json_element(ocdm__json_find(node, "evaluations"), after);
    return ocdm__json_number(ocdm__json_find(node, path));
}

ocdm__summary ocdm__group_evaluation(const ocdm__run_group *group, size_t after, const char *path)
{
    for (size_t i = 0; i < group->run_count; i++)
        group->room[i] = number_of(group->runs[i], after, path);
    return ocdm__summarise(group->room, group->run_count);
}

ocdm__summary ocdm__group_summary(const ocdm__run_group *group, const char *path)
{
    return ocdm__group_evaluation(group, IN_SUMMARY, path);
}

/* Runs that do not say their seed have one in common. */
static bool is_seed(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The run of a group with this seed; NULL when there is none. */
static const ocdm__run_record *run_of_seed(const ocdm__run_group *group, double seed)
{
    for (size_t i = 0; i < group->run_count; i++)
        if (is_seed(group->runs[i]->seed, seed))
            return group->runs[i];
    return NULL;
}

/* A group against itself has its numbers in one place, whose differences are 0. */
ocdm__summary ocdm__group_evaluation_difference(const ocdm__run_group *a, const ocdm__run_group *b, size_t after,
                                                const char *path)
{
    size_t count = 0;
    for (size_t i = 0; i < a->run_count; i++) {
        const ocdm__run_record *other = run_of_seed(b, a->runs[i]->seed);
        if (other == NULL || count == b->run_count)
            continue;
        a->room[count] = number_of(a->runs[i], after, path);
        b->room[count++] = number_of(other, after, path);
    }
    return ocdm__summarise_pairs(a->room, b->room, count);
}

const ocdm__judgement *ocdm__study_judge(const ocdm__study *study, size_t slot, const char *path, int sign)
{
    ocdm__judgement *judgements = study->judgements + slot * study->base_count;
    const size_t seeds = study->seeds.count, count = study->base_count * seeds;
    for (size_t i = 0; i < count; i++) {
        const ocdm__run_group *group = &study->groups[i / seeds];
        const ocdm__run_record *run = run_of_seed(group, study->seeds.values[i % seeds]);
        study->room[i] = run != NULL ? number_of(run, IN_SUMMARY, path) : NAN;
        judgements[i / seeds].competes = !group->bound && !isnan(ocdm__group_summary(group, path).mean);
    }
    ocdm__judge(study->room, study->base_count, seeds, sign, study->room + count, judgements);
    return judgements;
}

double ocdm__group_entry(const ocdm__run_group *group, const char *list, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < group->run_count; i++) {
        const ocdm__numbers *numbers = ocdm__run_list_of(group->runs[i], list);
        sum += column < numbers->count ? numbers->values[column] : NAN;
    }
    return sum / (double)group->run_count;
}

double ocdm__group_precision(const ocdm__run_group *group, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < group->run_count; i++) {
        const ocdm__json_node *list = ocdm__json_find(group->runs[i]->summary.root, "final.per_class");
        sum += ocdm__json_number(ocdm__json_find(ocdm__json_element(list, column), "AP"));
    }
    return sum / (double)group->run_count;
}

/* ---- groups ------------------------------------------------------------------------------------------------------------- */

static bool same_stream(const ocdm__run_record *a, const ocdm__run_record *b)
{
    const ocdm__json_node *left = a->summary.root, *right = b->summary.root;
    return ocdm__json_same(ocdm__json_find(left, "stream.checksum"), ocdm__json_find(right, "stream.checksum")) &&
           ocdm__json_same(ocdm__json_find(left, "classes"), ocdm__json_find(right, "classes"));
}

/* All settings but the seed are equal. */
static bool same_settings(const ocdm__run_record *a, const ocdm__run_record *b)
{
    if (a->settings == NULL || b->settings == NULL || a->settings->count != b->settings->count)
        return false;
    for (const ocdm__json_node *node = ocdm__settings_first(a); node != NULL; node = ocdm__settings_next(node)) {
        const ocdm__json_node *other = ocdm__settings_first(b);
        while (other != NULL && strcmp(other->key, node->key) != 0)
            other = other->next;
        if (!ocdm__json_same(node, other))
            return false;
    }
    return true;
}

/* Puts a run into the group of its settings in the study of its stream; both are made when it is their first. */
static ocdm_status join(ocdm__study_list *studies, const ocdm__run_record *run, ocdm_error *error)
{
    bool failed = false;
    size_t s = 0, g = 0;
    while (s < studies->count && !same_stream(studies->studies[s].groups[0].runs[0], run))
        s++;
    if (s == studies->count)
        studies->studies = ocdm__grown(studies->studies, s + 1, sizeof *studies->studies, &failed);
    if (failed)
        return ocdm__fail_memory(error, "studies");
    ocdm__study *study = &studies->studies[s];
    if (s == studies->count)
        studies->studies[studies->count++] = (ocdm__study){.groups = NULL};
    while (g < study->group_count && !same_settings(study->groups[g].runs[0], run))
        g++;
    if (g == study->group_count)
        study->groups = ocdm__grown(study->groups, g + 1, sizeof *study->groups, &failed);
    if (failed)
        return ocdm__fail_memory(error, "groups of runs");
    ocdm__run_group *group = &study->groups[g];
    if (g == study->group_count)
        study->groups[study->group_count++] =
            (ocdm__run_group){.method = run->method, .bound = ocdm__is_upper_bound(run->method)};
    group->runs = ocdm__grown(group->runs, group->run_count + 1, sizeof *group->runs, &failed);
    if (failed)
        return ocdm__fail_memory(error, "groups of runs");
    size_t place = group->run_count++;
    for (; place > 0 && run->seed < group->runs[place - 1]->seed; place--)
        group->runs[place] = group->runs[place - 1];
    group->runs[place] = run;
    return OCDM_OK;
}

/* ---- the base ----------------------------------------------------------------------------------------------------------- */

/* Whether two groups are the same contender of the comparison. */
static bool same_contender(const ocdm__run_group *a, const ocdm__run_group *b)
{
    return strcmp(a->method, b->method) == 0 && ocdm__groups_agree(a, b, "model");
}

bool ocdm__study_sweeps(const ocdm__study *study, const char *setting)
{
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_contender(&study->groups[i], &study->groups[j]) &&
                !ocdm__groups_agree(&study->groups[i], &study->groups[j], setting))
                return true;
    return false;
}

bool ocdm__study_varies(const ocdm__study *study, const char *setting)
{
    for (size_t i = 1; i < study->group_count; i++)
        if (!ocdm__groups_agree(&study->groups[i], &study->groups[0], setting))
            return true;
    return false;
}

/* A group is in the base if it has the most frequent value of every swept setting. A method and model without such a group
 * keeps its first. */
static void mark_base(ocdm__study *study)
{
    for (size_t i = 0; i < study->group_count; i++)
        study->groups[i].base = true;
    const ocdm__json_node *node = ocdm__settings_first(study->groups[0].runs[0]);
    for (; node != NULL; node = ocdm__settings_next(node)) {
        if (!ocdm__study_sweeps(study, node->key))
            continue;
        /* The most frequent value; the first one if several are. */
        const ocdm__json_node *usual = NULL;
        size_t most = 0;
        for (size_t i = 0; i < study->group_count; i++) {
            size_t same = 0;
            for (size_t j = 0; j < study->group_count; j++)
                same += ocdm__groups_agree(&study->groups[i], &study->groups[j], node->key);
            if (same > most) {
                most = same;
                usual = ocdm__group_setting(&study->groups[i], node->key);
            }
        }
        for (size_t i = 0; i < study->group_count; i++)
            if (!ocdm__json_same(usual, ocdm__group_setting(&study->groups[i], node->key)))
                study->groups[i].base = false;
    }
    for (size_t i = 0; i < study->group_count; i++) {
        bool any = false;
        for (size_t j = 0; j < study->group_count; j++)
            any = any || (same_contender(&study->groups[i], &study->groups[j]) && study->groups[j].base);
        study->groups[i].base = study->groups[i].base || !any;
    }
}

static double measure_of(const ocdm__study *study, const ocdm__run_group *group)
{
    return ocdm__group_summary(group, ocdm__study_measure(study)).mean;
}

/* Base groups first, better ones first, a bound before all; the others in their given order. */
static bool comes_before(const ocdm__study *study, const ocdm__run_group *a, const ocdm__run_group *b)
{
    if (!a->base || !b->base)
        return a->base && !b->base;
    if (a->bound != b->bound)
        return a->bound;
    double left = measure_of(study, a), right = measure_of(study, b);
    return (study->trained ? left > right : left < right) || (!isnan(left) && isnan(right));
}

/* The base group of the same contender: itself, if it is one. */
static const ocdm__run_group *base_of(const ocdm__study *study, const ocdm__run_group *group)
{
    for (size_t i = 0; i < study->base_count && !group->base; i++)
        if (same_contender(&study->groups[i], group))
            return &study->groups[i];
    return group;
}

static bool is_taken(const ocdm__study *study, unsigned colour)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (study->groups[i].colour == colour)
            return true;
    return false;
}

/* A method of this program has its colour on every page, so that their first groups choose before all others. Another base
 * group has the colour of its method, or another dash or colour if a group before it has that. Solid lines are left to the
 * methods of this program. */
static void colour_groups(ocdm__study *study)
{
    const unsigned all = OCDM__COLOURS * OCDM__DASHES;
    for (size_t i = 0; i < study->group_count; i++)
        study->groups[i].colour = UINT_MAX;
    for (size_t i = 0; i < study->base_count; i++)
        if (ocdm__method_is_coloured(study->groups[i].method) && !is_taken(study, ocdm__method_colour(study->groups[i].method)))
            study->groups[i].colour = ocdm__method_colour(study->groups[i].method);
    for (size_t i = 0; i < study->group_count; i++) {
        ocdm__run_group *group = &study->groups[i];
        const unsigned own = ocdm__method_colour(group->method);
        if (i >= study->base_count)
            group->colour = base_of(study, group)->colour;
        for (unsigned k = 0; k < all && group->colour == UINT_MAX; k++) {
            unsigned colour = (own + k * OCDM__COLOURS + k / OCDM__DASHES) % all;
            if (!is_taken(study, colour) && (colour == own || colour >= OCDM__COLOURS))
                group->colour = colour;
        }
        group->colour = group->colour == UINT_MAX ? own : group->colour; /* there are more groups than colours */
    }
}

/* ---- classes ------------------------------------------------------------------------------------------------------------ */

static int by_turn(const void *a, const void *b)
{
    const ocdm__study_class *left = a, *right = b;
    if (left->turn != right->turn)
        return left->turn < right->turn ? -1 : 1;
    return left->column < right->column ? -1 : left->column > right->column;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const ocdm__study_class *const *)a)->name, (*(const ocdm__study_class *const *)b)->name);
}

static ocdm_status read_classes(ocdm__study *study, ocdm_error *error)
{
    const ocdm__json_node *root = study->groups[0].runs[0]->summary.root, *list = ocdm__json_find(root, "classes");
    const ocdm__json_node *node = list != NULL && list->kind == OCDM__JSON_ARRAY ? list->first : NULL;
    size_t count = node != NULL ? list->count : 0;
    study->order = ocdm__numbers_of(&study->arena, ocdm__json_find(root, "settings.order"));
    study->classes = ocdm__arena_new(&study->arena, count, sizeof *study->classes);
    study->by_name = ocdm__arena_new(&study->arena, count, sizeof *study->by_name);
    size_t *places = ocdm__arena_new(&study->arena, study->order.count, sizeof *places); /* of the turns, by task number */
    for (size_t turn = 0; places != NULL && turn < study->order.count; turn++)
        for (size_t other = 0; other < study->order.count; other++)
            places[turn] += study->order.values[other] < study->order.values[turn];
    for (; !study->arena.failed && node != NULL; node = node->next) {
        /* The counts of a class are in the order of task numbers in the file, and here in that of the turns. Some files have a
         * count for every number up to the highest, also for numbers that are no task. */
        const ocdm__numbers *order = &study->order;
        const ocdm__numbers counts = ocdm__numbers_of(&study->arena, ocdm__json_find(node, "tasks"));
        ocdm__study_class *class = &study->classes[study->class_count];
        *class = (ocdm__study_class){.name = ocdm__json_text(ocdm__json_find(node, "name"), ""),
                                     .group = ocdm__json_text(ocdm__json_find(node, "group"), ""),
                                     .train = ocdm__json_number(ocdm__json_find(node, "train")),
                                     .column = study->class_count++};
        class->turns.values = ocdm__arena_new(&study->arena, order->count, sizeof *class->turns.values);
        for (; class->turns.values != NULL && class->turns.count < order->count; class->turns.count++) {
            size_t turn = class->turns.count;
            double place = counts.count == order->count ? (double)places[turn] : order->values[turn];
            class->turns.values[turn] = place >= 0 && place < (double)counts.count ? counts.values[(size_t)place] : NAN;
        }
        while (class->turn < class->turns.count && !(class->turns.values[class->turn] > 0))
            class->turn++;
    }
    OCDM_TRY(ocdm__arena_check(&study->arena, "classes", error));
    if (count > 1)
        qsort(study->classes, count, sizeof *study->classes, by_turn);
    for (size_t c = 0; c < count; c++)
        study->by_name[c] = &study->classes[c];
    if (count > 1)
        qsort((void *)study->by_name, count, sizeof *study->by_name, by_name);
    return OCDM_OK;
}

size_t ocdm__study_class_of(const ocdm__study *study, const ocdm__json_node *label)
{
    const ocdm__study_class key = {.name = label->text != NULL ? label->text : ""}, *wanted = &key;
    const ocdm__study_class *const *found =
        bsearch(&wanted, (const void *)study->by_name, study->class_count, sizeof *study->by_name, by_name);
    return found != NULL ? (size_t)(*found - study->classes) : study->class_count;
}

/* ---- labels ------------------------------------------------------------------------------------------------------------- */

/* Whether the setting distinguishes the group from the only base group of its method, which is labelled by the method's name,
 * or, when there are several, one for each model, from any other of the method. */
static bool tells_apart(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    size_t plain = 0;
    for (size_t i = 0; i < study->base_count; i++)
        plain += strcmp(study->groups[i].method, group->method) == 0;
    for (size_t i = 0; i < (plain == 1 ? study->base_count : study->group_count); i++)
        if (strcmp(study->groups[i].method, group->method) == 0 && !ocdm__groups_agree(&study->groups[i], group, setting))
            return true;
    return false;
}

#define LABEL_ROOM 400

static void label_group(ocdm__study *study, ocdm__run_group *group)
{
    char text[LABEL_ROOM], value[100];
    snprintf(text, sizeof text, "%.99s", group->method[0] != '\0' ? group->method : "(no method)");
    const ocdm__json_node *node = ocdm__settings_first(group->runs[0]);
    for (; node != NULL; node = ocdm__settings_next(node))
        if (tells_apart(study, group, node->key)) {
            ocdm__setting_text(node, value, sizeof value);
            ocdm__append(text, sizeof text, ", %.40s %s", node->key, value);
        }
    group->label = ocdm__arena_text(&study->arena, text);
}

/* ---- the study ---------------------------------------------------------------------------------------------------------- */

static ocdm_status finish_study(ocdm__study *study, ocdm_error *error)
{
    for (size_t i = 0; i < study->group_count; i++) {
        ocdm__run_group *group = &study->groups[i];
        group->room = ocdm__arena_new(&study->arena, group->run_count, sizeof *group->room);
        for (size_t j = 0; j < group->run_count; j++)
            study->trained = study->trained || !isnan(number_of(group->runs[j], IN_SUMMARY, "final.total." OCDM__MAP_NAME));
    }
    OCDM_TRY(ocdm__arena_check(&study->arena, "the numbers of runs", error));
    mark_base(study);
    for (size_t i = 0; i < study->group_count; i++) {
        study->base_count += study->groups[i].base;
        for (size_t j = i; j > 0 && comes_before(study, &study->groups[j], &study->groups[j - 1]); j--) {
            ocdm__run_group moved = study->groups[j];
            study->groups[j] = study->groups[j - 1];
            study->groups[j - 1] = moved;
        }
    }
    colour_groups(study);
    /* Collects the seeds of the base, and makes room for their numbers. */
    size_t runs = 0;
    for (size_t i = 0; i < study->base_count; i++)
        runs += study->groups[i].run_count;
    ocdm__numbers *seeds = &study->seeds;
    seeds->values = ocdm__arena_new(&study->arena, runs, sizeof *seeds->values);
    for (size_t i = 0; seeds->values != NULL && i < study->base_count; i++)
        for (size_t j = 0, k = 0; j < study->groups[i].run_count; j++, k = 0) {
            double seed = study->groups[i].runs[j]->seed;
            while (k < seeds->count && !is_seed(seeds->values[k], seed))
                k++;
            seeds->values[k] = seed;
            seeds->count += k == seeds->count;
        }
    study->judgements = ocdm__arena_new(&study->arena, study->base_count, OCDM__STUDY_SLOTS * sizeof *study->judgements);
    study->room = ocdm__arena_new(&study->arena, study->base_count, 2 * seeds->count * sizeof *study->room);
    OCDM_TRY(read_classes(study, error));
    for (size_t i = 0; i < study->group_count; i++)
        label_group(study, &study->groups[i]);
    for (size_t i = 0; i < study->group_count; i++)
        study->groups[i].mark = base_of(study, &study->groups[i])->label;
    return ocdm__arena_check(&study->arena, "the numbers of runs", error);
}

ocdm_status ocdm__studies_make(ocdm__study_list *studies, const ocdm__run_list *runs, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    *studies = (ocdm__study_list){.studies = NULL};
    for (size_t i = 0; status == OCDM_OK && i < runs->count; i++)
        if (runs->runs[i].state == OCDM__RUN_WHOLE)
            status = join(studies, &runs->runs[i], error);
    for (size_t i = 0; status == OCDM_OK && i < studies->count; i++)
        status = finish_study(&studies->studies[i], error);
    if (status != OCDM_OK)
        ocdm__studies_clear(studies);
    return status;
}

void ocdm__studies_clear(ocdm__study_list *studies)
{
    for (size_t k = 0; k < studies->count; k++) {
        ocdm__study *study = &studies->studies[k];
        for (size_t i = 0; i < study->group_count; i++)
            ocdm__release((void *)study->groups[i].runs);
        ocdm__release(study->groups);
        ocdm__arena_clear(&study->arena);
    }
    ocdm__release(studies->studies);
    *studies = (ocdm__study_list){.studies = NULL};
}

/* ---- questions ---------------------------------------------------------------------------------------------------------- */

const ocdm__run_group *ocdm__study_best(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (!study->groups[i].bound && !isnan(measure_of(study, &study->groups[i])))
            return &study->groups[i];
    return NULL;
}

bool ocdm__study_has_images(const ocdm__study *study)
{
    const char *kind = ocdm__json_text(ocdm__json_find(study->groups[0].runs[0]->summary.root, "stream.kind"), "");
    return strcmp(kind, "images") == 0 || strcmp(kind, "files") == 0;
}

const char *ocdm__study_measure(const ocdm__study *study)
{
    return study->trained ? "final.total." OCDM__MAP_NAME : "final.distance_seen";
}
