/*
 * All data as JSON: the summaries with the numbers as in the files, and what is wrong with runs that have none. Two things
 * are shortened to keep the page small: a list of classes that an earlier run also has is replaced by that run's number,
 * and curves have at most CURVE_POINTS points.
 */
#include "report/page/parts.h"

#define CURVE_POINTS 500

static void put_node(ocdm__output *out, const char *key, const ocdm__json_node *node)
{
    bool is_object = node->kind == OCDM__JSON_OBJECT;
    if (node->kind == OCDM__JSON_STRING) {
        ocdm__json_string(out, key, node->text);
    } else if (is_object || node->kind == OCDM__JSON_ARRAY) {
        ocdm__json_open(out, key, is_object ? '{' : '[');
        for (const ocdm__json_node *child = node->first; child != NULL; child = child->next)
            put_node(out, child->key, child);
        ocdm__json_close(out, is_object ? '}' : ']');
    } else {
        ocdm__json_key(out, key);
        ocdm__output_text(out, node->kind == OCDM__JSON_NUMBER  ? node->text
                               : node->kind == OCDM__JSON_TRUE  ? "true"
                               : node->kind == OCDM__JSON_FALSE ? "false"
                                                                : "null");
    }
}

/* Lists with every n-th element and the last. */
static void put_curve(ocdm__output *out, const ocdm__json_node *curve)
{
    ocdm__json_open(out, curve->key, '{');
    for (const ocdm__json_node *list = curve->first; list != NULL; list = list->next) {
        size_t every = (list->count + CURVE_POINTS - 1) / CURVE_POINTS, number = 0;
        if (list->kind != OCDM__JSON_ARRAY) {
            put_node(out, list->key, list);
            continue;
        }
        ocdm__json_open(out, list->key, '[');
        for (const ocdm__json_node *node = list->first; node != NULL; node = node->next, number++)
            if (number % every == 0 || node->next == NULL)
                put_node(out, NULL, node);
        ocdm__json_close(out, ']');
    }
    ocdm__json_close(out, '}');
}

/* The name of the machine stays in summary.json: pages are published. */
static void put_environment(ocdm__output *out, const ocdm__json_node *environment)
{
    ocdm__json_open(out, environment->key, '{');
    for (const ocdm__json_node *child = environment->first; child != NULL; child = child->next)
        if (strcmp(child->key, "machine") != 0)
            put_node(out, child->key, child);
    ocdm__json_close(out, '}');
}

/* The first run before this one that has the same classes; `number` itself when there is none. */
static size_t same_classes(const ocdm__run_list *runs, size_t number)
{
    const ocdm__json_node *classes = ocdm__json_find(runs->runs[number].summary.root, "classes");
    for (size_t i = 0; i < number; i++)
        if (runs->runs[i].state == OCDM__RUN_WHOLE &&
            ocdm__json_same(classes, ocdm__json_find(runs->runs[i].summary.root, "classes")))
            return i;
    return number;
}

static void put_run(ocdm__output *out, const ocdm__run_list *runs, size_t number)
{
    static const char *const states[] = {"whole", "half", "broken", "missing"};
    const ocdm__run_record *run = &runs->runs[number];
    ocdm__json_open(out, NULL, '{');
    ocdm__json_string(out, "folder", run->folder);
    ocdm__json_string(out, "state", states[run->state]);
    if (run->state == OCDM__RUN_WHOLE) {
        size_t other = same_classes(runs, number);
        ocdm__json_open(out, "summary", '{');
        for (const ocdm__json_node *child = runs->runs[number].summary.root->first; child != NULL; child = child->next) {
            bool is_object = child->kind == OCDM__JSON_OBJECT;
            if (other < number && strcmp(child->key, "classes") == 0)
                ocdm__json_count(out, "classes_of_run", other);
            else if (is_object && strcmp(child->key, "curve") == 0)
                put_curve(out, child);
            else if (is_object && strcmp(child->key, "environment") == 0)
                put_environment(out, child);
            else
                put_node(out, child->key, child);
        }
        ocdm__json_close(out, '}');
    } else
        ocdm__json_string(out, "why", run->why.message);
    ocdm__json_close(out, '}');
}

ocdm_status ocdm__put_data(ocdm__output *out, const ocdm__page *page, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    ocdm__output_text(out,
                      "<script type=\"application/json\" id=\"data\">{\"format\":\"ocdm-report\",\"version\":1,\"runs\":[");
    for (size_t i = 0; status == OCDM_OK && i < page->runs->count; i++) {
        ocdm__output run = {.buffer = NULL};
        OCDM_TRY(ocdm__output_open_memory(&run, "a page", error));
        put_run(&run, page->runs, i);
        status = ocdm__output_check(&run, error);
        ocdm__output_text(out, i == 0 ? "\n" : ",\n");
        /* JSON has these characters in strings alone; escaped, no string can end the script element. */
        for (size_t k = 0; k < run.used; k++)
            if (run.buffer[k] == '<' || run.buffer[k] == '>' || run.buffer[k] == '&')
                ocdm__output_text(out, run.buffer[k] == '<' ? "\\u003c" : run.buffer[k] == '>' ? "\\u003e" : "\\u0026");
            else
                ocdm__output_write(out, run.buffer + k, 1);
        ocdm__output_abandon(&run);
    }
    ocdm__output_text(out, "\n]}</script>\n");
    return status;
}
