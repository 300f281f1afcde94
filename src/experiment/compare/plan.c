/*
 * Parses the flags of a sweep and lists its points.
 *
 * A value that is named twice counts once, so that no two runs share a folder.
 */
#include "experiment/compare/plan.h"

#include "base/json.h"
#include "base/text.h"

/* ---- lists of numbers ------------------------------------------------------------------------------------------------- */

/* Values of a setting, separated by commas; repeats are left out. */
struct number_list {
    const ocdm__setting *setting;
    double values[OCDM__COMPARE_VALUES];
    size_t count;
};

/* Reads one value after another, each of which must fit the range of the setting. */
static ocdm_status read_numbers(const char *text, struct number_list *list, ocdm_error *error)
{
    const ocdm__setting *setting = list->setting;
    bool whole = setting->kind == OCDM__SETTING_WHOLE;
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        double value = NAN;
        if (!ocdm__text_to_double(text, length, &value) || !(value >= setting->low && value <= setting->high) ||
            (whole && value != floor(value)))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "separate values by commas: --memory 300,500,1000",
                              "--%s: \"%.*s\" is no %snumber from %g to %g", setting->flag, (int)length, text,
                              whole ? "whole " : "", setting->low, setting->high);
        if (list->count == OCDM__COMPARE_VALUES)
            return ocdm__fail(error, OCDM_LIMIT, "", "--%s: more than %d values", setting->flag, OCDM__COMPARE_VALUES);
        size_t i = 0;
        while (i < list->count && list->values[i] != value)
            i++;
        if (i == list->count)
            list->values[list->count++] = value == 0 ? 0 : value; /* not -0 */
        more = text[length] == ',';
        text += length + more;
    }
    return OCDM_OK;
}

/* ---- orders of tasks -------------------------------------------------------------------------------------------------- */

/* Orders one after another in plan->tasks, `length` tasks each. */
struct order_list {
    size_t count, length;
};

/* Of at most OCDM__COMPARE_PERMUTED. */
static size_t factorial(size_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* Permutation number `rank` of `all`, in the order of a dictionary. */
static void write_permutation(const uint32_t *all, uint64_t *tasks, size_t count, size_t rank)
{
    uint64_t left[OCDM__COMPARE_PERMUTED];
    for (size_t i = 0; i < count; i++)
        left[i] = all[i];
    for (size_t i = 0; i < count; i++) {
        size_t block = factorial(count - 1 - i), pick = rank / block;
        rank %= block;
        tasks[i] = left[pick];
        memmove(left + pick, left + pick + 1, (count - i - pick - 1) * sizeof *left);
    }
}

/* Whether the order that was read last is there already. */
static bool is_repeated(const uint64_t *tasks, const struct order_list *list)
{
    const uint64_t *last = tasks + list->count * list->length;
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(tasks + i * list->length, last, list->length * sizeof *last) == 0)
            return true;
    return false;
}

/* Reads the tasks of the orders of `text` into `tasks`, which has room; repeats are left out. */
static bool read_orders(const char *text, uint64_t *tasks, struct order_list *list)
{
    size_t used = 0, start = 0;
    for (;; text++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        unsigned long long task = strtoull(text, &end, 10);
        if (end - text > 9)
            return false;
        tasks[used++] = task;
        text = end;
        if (*text == ',')
            continue;
        if (list->count > 0 && used - start != list->length)
            return false;
        list->length = used - start;
        if (is_repeated(tasks, list))
            used = start;
        else
            list->count++;
        start = used;
        if (*text == '\0')
            return true;
        if (*text != ';')
            return false;
    }
}

/* The orders of a text; without one, a single order: the default. */
static ocdm_status make_orders(ocdm__compare_plan *plan, const char *text, const uint32_t *all, size_t task_count,
                               struct order_list *list, ocdm_error *error)
{
    *list = (struct order_list){.count = 1};
    if (text == NULL || *text == '\0')
        return OCDM_OK;
    *list = (struct order_list){.count = 0};
    if (strcmp(text, "all") == 0) {
        /* Every order of the tasks of the stream. */
        if (task_count > OCDM__COMPARE_PERMUTED)
            return ocdm__fail(error, OCDM_LIMIT, "name some orders instead: --order '0,1,2;2,1,0'",
                              "--order all: %zu tasks have too many orders, %d have 40320", task_count, OCDM__COMPARE_PERMUTED);
        list->count = factorial(task_count);
        list->length = task_count;
        OCDM_TRY(ocdm__new(&plan->tasks, list->count * task_count, sizeof *plan->tasks, "the orders of tasks", error));
        for (size_t i = 0; i < list->count; i++)
            write_permutation(all, plan->tasks + i * task_count, task_count, i);
        return OCDM_OK;
    }
    OCDM_TRY(ocdm__new(&plan->tasks, strlen(text) + 1, sizeof *plan->tasks, "the orders of tasks", error));
    if (!read_orders(text, plan->tasks, list) || list->length > OCDM__COMPARE_TASKS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT,
                          "separate tasks by commas and orders by semicolons: --order '0,3,1,2;2,1,3,0'; or all",
                          "--order %s is no list of orders", text);
    return OCDM_OK;
}

/* ---- points ----------------------------------------------------------------------------------------------------------- */

/* Names tell the points of a sweep apart; what is the same at all of them is left out. */
static void name_point(const ocdm__compare_plan *plan, ocdm__compare_point *point)
{
    char number[OCDM__JSON_DOUBLE];
    if (plan->sweeps_memory) {
        snprintf(point->suffix, sizeof point->suffix, "-m%u", point->memory);
        snprintf(point->label, sizeof point->label, "memory %u", point->memory);
    }
    if (plan->sweeps_rho) {
        ocdm__json_double(point->rho, number);
        ocdm__append(point->suffix, sizeof point->suffix, "-r%s", number);
        ocdm__append(point->label, sizeof point->label, "%srho %s", point->label[0] != '\0' ? ", " : "", number);
    }
    if (plan->sweeps_order) {
        /* Digits one after another where every task has one digit, else with points between. */
        bool long_numbers = false;
        for (size_t i = 0; i < point->order_count; i++)
            long_numbers |= point->order[i] > 9;
        ocdm__append(point->suffix, sizeof point->suffix, "-o");
        ocdm__append(point->label, sizeof point->label, "%sorder ", point->label[0] != '\0' ? ", " : "");
        for (size_t i = 0; i < point->order_count; i++) {
            unsigned long long task = point->order[i];
            ocdm__append(point->suffix, sizeof point->suffix, "%s%llu", i > 0 && long_numbers ? "." : "", task);
            ocdm__append(point->label, sizeof point->label, "%s%llu", i > 0 ? "," : "", task);
        }
    }
}

/* Memory sizes vary slowest, orders fastest. */
static ocdm_status make_points(ocdm__compare_plan *plan, const struct number_list *memory, const struct number_list *rho,
                               const struct order_list *orders, ocdm_error *error)
{
    plan->point_count = memory->count * rho->count * orders->count;
    if (plan->point_count > OCDM__COMPARE_POINTS)
        return ocdm__fail(error, OCDM_LIMIT, "sweep over less at a time", "the sweep has %zu points, the most are %d",
                          plan->point_count, OCDM__COMPARE_POINTS);
    OCDM_TRY(ocdm__new(&plan->points, plan->point_count, sizeof *plan->points, "the points of a sweep", error));
    size_t next = 0;
    for (size_t m = 0; m < memory->count; m++)
        for (size_t r = 0; r < rho->count; r++)
            for (size_t o = 0; o < orders->count; o++) {
                ocdm__compare_point *point = &plan->points[next++];
                point->memory = (uint32_t)memory->values[m];
                point->rho = rho->values[r];
                point->order = plan->tasks != NULL ? plan->tasks + o * orders->length : NULL;
                point->order_count = orders->length;
                name_point(plan, point);
                if (strlen(point->suffix) + 1 == sizeof point->suffix)
                    return ocdm__fail(error, OCDM_LIMIT, "compare the orders one by one, each with a folder of its own",
                                      "--order: the orders are too long to name folders after");
            }
    return OCDM_OK;
}

ocdm_status ocdm__compare_points_make(ocdm__compare_plan *plan, const char *memory, const char *rho, const char *order,
                                      const uint32_t *all, size_t task_count, ocdm_error *error)
{
    struct number_list memories = {.setting = ocdm__setting_of_flag("memory")};
    struct number_list rhos = {.setting = ocdm__setting_of_flag("rho")};
    struct order_list orders;
    plan->points = NULL;
    plan->tasks = NULL;
    ocdm_status status = read_numbers(memory, &memories, error);
    OCDM_THEN(status, read_numbers(rho, &rhos, error));
    OCDM_THEN(status, make_orders(plan, order, all, task_count, &orders, error));
    if (status == OCDM_OK) {
        plan->sweeps_memory = memories.count > 1;
        plan->sweeps_rho = rhos.count > 1;
        plan->sweeps_order = orders.count > 1;
        status = make_points(plan, &memories, &rhos, &orders, error);
    }
    if (status != OCDM_OK)
        ocdm__compare_plan_clear(plan);
    return status;
}

void ocdm__compare_plan_clear(ocdm__compare_plan *plan)
{
    ocdm__release(plan->points);
    ocdm__release(plan->tasks);
    plan->points = NULL;
    plan->tasks = NULL;
    plan->point_count = 0;
}

void ocdm__compare_folder(const ocdm__compare_plan *plan, size_t point, size_t method, uint64_t seed,
                          char name[OCDM__COMPARE_NAME])
{
    snprintf(name, OCDM__COMPARE_NAME, "%.60s-s%llu%s", plan->methods[method],
             (unsigned long long)ocdm__compare_seed(plan, seed), plan->points[point].suffix);
}

void ocdm__compare_order_text(const ocdm__compare_point *point, char *text, size_t room)
{
    text[0] = '\0';
    for (size_t i = 0; i < point->order_count; i++)
        ocdm__append(text, room, "%s%llu", i > 0 ? "," : "", (unsigned long long)point->order[i]);
}
