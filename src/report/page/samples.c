/* The samples in memory: their most frequent label sets, and images where the stream has some. */
#include "base/random.h"
#include "report/charts/canvas.h"
#include "report/page/parts.h"
#include "report/text.h"

#define SETS_SHOWN 15
#define LABELS_SHOWN 6
#define LABEL_LIMIT 28

/* ---- label sets --------------------------------------------------------------------------------------------------------- */

/* A sample in memory. Labels are in the stream's order in the file, so equal sets are equal lists. */
struct entry {
    const ocdm__json_node *labels;
    size_t group;
};

/* A label set, and how often each group has it. */
struct label_set {
    const ocdm__json_node *labels;
    size_t *counts;
    size_t total;
};

static int compare_labels(const ocdm__json_node *a, const ocdm__json_node *b)
{
    const ocdm__json_node *left = a != NULL ? a->first : NULL, *right = b != NULL ? b->first : NULL;
    for (; left != NULL && right != NULL; left = left->next, right = right->next) {
        int order = strcmp(left->text != NULL ? left->text : "", right->text != NULL ? right->text : "");
        if (order != 0)
            return order;
    }
    return (left != NULL) - (right != NULL);
}

static int by_labels(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return compare_labels(left->labels, right->labels);
}

/* More frequent sets first, then by their labels. */
static int by_total(const void *a, const void *b)
{
    const struct label_set *left = a, *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return compare_labels(left->labels, right->labels);
}

/* What is in memory of the first run of every base group. */
static const ocdm__json_node *kept_of(const ocdm__study *study, size_t group)
{
    return study->groups[group].runs[0]->kept.root;
}

static const char *text_of(const ocdm__json_node *node)
{
    return node != NULL && node->text != NULL ? node->text : "";
}

static void put_labels(ocdm__output *out, const ocdm__json_node *labels)
{
    size_t shown = 0;
    const ocdm__json_node *node = labels != NULL && labels->kind == OCDM__JSON_ARRAY ? labels->first : NULL;
    ocdm__output_text(out, node == NULL ? "(no label)" : "");
    for (; node != NULL && shown < LABELS_SHOWN; node = node->next, shown++)
        ocdm__put_markup(out, "%s%-.*s", shown == 0 ? "" : ", ", LABEL_LIMIT, text_of(node));
    if (node != NULL)
        ocdm__put_markup(out, " and %zu more", labels->count - shown);
}

/* Those of the first run of every base group. */
static ocdm_status put_label_sets(ocdm__output *out, const ocdm__study *study, ocdm__arena *arena, ocdm_error *error)
{
    size_t count = 0, used = 0, found = 0, groups = study->base_count;
    for (size_t i = 0; i < groups; i++)
        count += kept_of(study, i) != NULL ? kept_of(study, i)->count : 0;
    struct entry *entries = ocdm__arena_new(arena, count, sizeof *entries);
    struct label_set *sets = ocdm__arena_new(arena, count, sizeof *sets);
    size_t *counts = ocdm__arena_new(arena, count, groups * sizeof *counts);
    OCDM_TRY(ocdm__arena_check(arena, "label sets", error));
    for (size_t i = 0; i < groups; i++)
        for (const ocdm__json_node *line = ocdm__json_first(kept_of(study, i)); line != NULL; line = line->next)
            entries[used++] = (struct entry){ocdm__json_find(line, "labels"), i};
    if (count == 0) {
        ocdm__output_text(out, "<p>No run has a memory.jsonl with samples in it.</p>\n");
        return OCDM_OK;
    }
    qsort(entries, count, sizeof *entries, by_labels);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_labels(entries[i].labels, entries[i - 1].labels) != 0) {
            sets[found] = (struct label_set){entries[i].labels, counts + found * groups, 0};
            found++;
        }
        sets[found - 1].counts[entries[i].group]++;
        sets[found - 1].total++;
    }
    qsort(sets, found, sizeof *sets, by_total);
    ocdm__put_markup(
        out,
        "<p class=\"note\">The %zu most frequent of %zu label sets: how many samples in memory have exactly these labels, "
        "in the first seed's run of each method.</p>\n",
        found < SETS_SHOWN ? found : (size_t)SETS_SHOWN, found);
    ocdm__html_begin(out, "label sets", "sort", NULL);
    ocdm__output_text(out, "<tr>" OCDM__HEAD("text", "labels"));
    for (size_t i = 0; i < groups; i++)
        ocdm__html_head(out, "", &study->groups[i], NULL);
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t s = 0; s < found && s < SETS_SHOWN; s++) {
        ocdm__output_text(out, "<tr><th scope=\"row\" class=\"long\">");
        put_labels(out, sets[s].labels);
        ocdm__output_text(out, "</th>");
        for (size_t i = 0; i < groups; i++)
            ocdm__html_value(out, "", &study->groups[i], (double)sets[s].counts[i], 0);
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, OCDM__HTML_END);
    return OCDM_OK;
}

/* ---- pictures ----------------------------------------------------------------------------------------------------------- */

static double arrival_of(const ocdm__json_node *sample)
{
    return ocdm__json_number(ocdm__json_find(sample, "arrival"));
}

static ocdm_status put_sample(ocdm__output *out, const ocdm__json_node *sample, const uint8_t *rgb, ocdm_error *error)
{
    const ocdm__json_node *labels = ocdm__json_find(sample, "labels");
    ocdm__output_text(out, "<li data-c=\"");
    for (const ocdm__json_node *label = ocdm__json_first(labels); label != NULL; label = label->next)
        ocdm__put_markup(out, "%s%.*s", label == labels->first ? "" : ", ", OCDM__CLASS_LIMIT, text_of(label));
    ocdm__output_text(out, "\"><img width=\"112\" height=\"112\" alt=\"\" src=\"");
    ocdm_status status = ocdm__put_picture(out, rgb, OCDM__PICTURE_SIDE, error);
    ocdm__output_text(out, "\">");
    put_labels(out, labels);
    ocdm__output_text(out, " <span class=\"sd\">no. ");
    ocdm__put_grouped(out, arrival_of(sample));
    ocdm__output_text(out, "</span></li>\n");
    return status;
}

static int by_arrival(const void *a, const void *b)
{
    double left = arrival_of(*(const ocdm__json_node *const *)a), right = arrival_of(*(const ocdm__json_node *const *)b);
    return left < right ? -1 : left > right;
}

/* Samples to choose from. */
struct choice {
    const ocdm__study *study;
    const ocdm__json_node **samples;
    uint8_t *shown; /* pictures of each class so far */
    size_t count;
};

static void swap_samples(const struct choice *choice, size_t a, size_t b)
{
    const ocdm__json_node *sample = choice->samples[a];
    choice->samples[a] = choice->samples[b];
    choice->samples[b] = sample;
}

/* Whether one of the sample's classes has fewer than `most` pictures; then all of them have one more. */
static bool takes(const struct choice *choice, const ocdm__json_node *sample, uint8_t most)
{
    const ocdm__json_node *first = ocdm__json_first(ocdm__json_find(sample, "labels"));
    bool wanted = false;
    for (const ocdm__json_node *label = first; label != NULL; label = label->next) {
        size_t class = ocdm__study_class_of(choice->study, label);
        wanted = wanted || (class < choice->study->class_count && choice->shown[class] < most);
    }
    for (const ocdm__json_node *label = first; wanted && label != NULL; label = label->next) {
        size_t class = ocdm__study_class_of(choice->study, label);
        if (class < choice->study->class_count && choice->shown[class] < UINT8_MAX)
            choice->shown[class]++;
    }
    return wanted;
}

/* Chooses samples, one of each class before a second one of any, up to `wanted`; they are moved to the front, by arrival. They
 * are shuffled first, always alike, so that a part of them is not the beginning of the stream alone. Returns how many. */
static size_t choose(const struct choice *choice, size_t wanted)
{
    size_t chosen = 0, count = choice->count;
    qsort((void *)choice->samples, count, sizeof *choice->samples, by_arrival);
    for (size_t k = 0; k + 1 < count; k++)
        swap_samples(choice, k, k + (size_t)(ocdm__random_at(0, k) % (count - k)));
    for (uint8_t most = 1; chosen < wanted && most <= wanted && most < UINT8_MAX; most++)
        for (size_t k = chosen; k < count && chosen < wanted; k++)
            if (takes(choice, choice->samples[k], most))
                swap_samples(choice, k, chosen++);
    qsort((void *)choice->samples, chosen, sizeof *choice->samples, by_arrival);
    return chosen;
}

/* Some samples of the first run of a group, `wanted` at most. */
static ocdm_status put_group_pictures(ocdm__output *out, const ocdm__study *study, size_t group,
                                      const ocdm__picture_source *pictures, size_t wanted, ocdm__arena *arena,
                                      ocdm_error *error)
{
    uint8_t rgb[OCDM__PICTURE_SIDE * OCDM__PICTURE_SIDE * 3];
    const ocdm__json_node *kept = kept_of(study, group);
    struct choice choice = {.study = study,
                            .samples = ocdm__arena_new(arena, kept != NULL ? kept->count : 0, sizeof *choice.samples),
                            .shown = ocdm__arena_new(arena, study->class_count, sizeof *choice.shown)};
    OCDM_TRY(ocdm__arena_check(arena, "pictures", error));
    for (const ocdm__json_node *line = ocdm__json_first(kept); line != NULL; line = line->next)
        choice.samples[choice.count++] = line;
    size_t count = choice.count > 0 ? choose(&choice, wanted) : 0;
    bool begun = false;
    for (size_t k = 0; k < count; k++) {
        const char *id = text_of(ocdm__json_find(choice.samples[k], "id"));
        if (!pictures->picture(pictures->state, study, id, rgb))
            continue;
        if (!begun) {
            ocdm__output_text(out, "<div");
            ocdm__put_mark_of(out, &study->groups[group]);
            ocdm__output_text(out, "><h4>");
            ocdm__put_method(out, &study->groups[group]);
            ocdm__output_text(out, "</h4>\n<ul class=\"thumbs\">\n");
            begun = true;
        }
        OCDM_TRY(put_sample(out, choice.samples[k], rgb, error));
    }
    ocdm__output_text(out, begun ? "</ul></div>\n" : "");
    return OCDM_OK;
}

/* If images of the study's stream are available, which is tested with one sample of each group. */
static ocdm_status put_pictures(ocdm__output *out, const ocdm__study *study, const ocdm__picture_source *pictures,
                                ocdm__arena *arena, ocdm_error *error)
{
    uint8_t rgb[OCDM__PICTURE_SIDE * OCDM__PICTURE_SIDE * 3];
    bool any = false;
    for (size_t i = 0; i < study->base_count && pictures->picture != NULL && !any; i++) {
        const ocdm__json_node *sample = ocdm__json_first(kept_of(study, i));
        any = sample != NULL && pictures->picture(pictures->state, study, text_of(ocdm__json_find(sample, "id")), rgb);
    }
    if (!any)
        return OCDM_OK;
    ocdm__output_text(
        out, "<h3>Some of the samples</h3>\n<p class=\"how\">In the memory of the first seed's run, one of "
             "each class before a second one of any, from the oldest to the newest; the number is the sample's position in "
             "the stream. <em>Find a class</em> shows those of a class.</p>\n");
    size_t wanted = study->base_count < OCDM__MOST_PICTURES ? OCDM__MOST_PICTURES / study->base_count : 1;
    for (size_t i = 0; i < study->base_count && i < OCDM__MOST_PICTURES; i++)
        OCDM_TRY(put_group_pictures(out, study, i, pictures, wanted, arena, error));
    return OCDM_OK;
}

ocdm_status ocdm__put_kept(ocdm__output *out, const ocdm__study *study, const ocdm__picture_source *pictures, ocdm_error *error)
{
    ocdm__arena arena = {.last = NULL};
    ocdm_status status = put_label_sets(out, study, &arena, error);
    OCDM_THEN(status, put_pictures(out, study, pictures, &arena, error));
    ocdm__arena_clear(&arena);
    return status;
}
