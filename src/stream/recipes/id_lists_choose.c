/*
 * Finds the samples that the id lists name. An id is a sample's id, as a number or a string; if samples have rows (NUS-WIDE),
 * it is a row of the source's list of training samples or, in a test list, of its list of test samples. The ids are sorted once
 * and each sample is looked up among them, so that memory depends on the lists only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"

#define SKIP_HINT "`--skip-bad` leaves them out"

/* Values of `sample_of` for ids that are not samples of the set. */
#define NOT_FOUND UINT32_MAX
#define LISTED_TWICE (UINT32_MAX - 1)

/* What an id is found by. Where ids are rows, those of the two parts are different; else the part is none. */
struct key {
    const char *text;
    size_t length;
    uint64_t row;
    uint32_t id; /* number in the lists */
    uint8_t part;
};

struct search {
    const ocdm__id_lists *lists;
    const ocdm__labelled_set *set;
    ocdm__reading *reading;
    bool by_row;
    struct key *keys; /* ascending, all different */
    size_t key_count;
    uint32_t *sample_of; /* by id */
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return ocdm__compare_texts(a->text, a->length, b->text, b->length);
}

static int compare_keys_and_ids(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = compare_keys(left, right);
    return order != 0 ? order : a->id < b->id ? -1 : 1;
}

static const ocdm__id_list *list_of(const struct search *search, uint32_t id)
{
    return &search->lists->lists[search->lists->ids[id].list];
}

static ocdm__shown_label show_id(const struct search *search, uint32_t id)
{
    const ocdm__listed_id *listed = &search->lists->ids[id];
    return ocdm__show_label(search->lists->text + listed->text_at, listed->length);
}

/* Writes file:line:column of an id. */
static const char *write_place(const struct search *search, uint32_t id, char *where, size_t size)
{
    const ocdm__listed_id *listed = &search->lists->ids[id];
    snprintf(where, size, "%s:%llu:%llu", list_of(search, id)->path, (unsigned long long)listed->line,
             (unsigned long long)listed->column);
    return where;
}

static bool has_rows(const ocdm__labelled_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i] != OCDM__NO_ROW)
            return true;
    return false;
}

/* The decimal number that a text is. */
static bool parse_row(const char *text, size_t length, uint64_t *row)
{
    ocdm__json digits = {.text = text, .length = length, .whole = true};
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return ocdm__json_uint64(&digits, row);
}

static ocdm_status look_up_samples(struct search *search, ocdm_error *error)
{
    const ocdm__labelled_set *set = search->set;
    for (uint32_t i = 0; i < set->count && search->key_count > 0; i++) {
        struct key key = {.text = "", .part = OCDM__NO_PART};
        if (search->by_row) {
            key.row = set->rows[i];
            key.part = set->parts[i];
        } else {
            key.text = ocdm__label_table_text(&set->ids, i, &key.length);
        }
        const struct key *found = bsearch(&key, search->keys, search->key_count, sizeof key, compare_keys);
        if (found == NULL || key.row == OCDM__NO_ROW)
            continue;
        if (search->sample_of[found->id] != NOT_FOUND) {
            const ocdm__label_table *ids = &search->set->ids;
            size_t length;
            const char *text = ocdm__label_table_text(ids, search->sample_of[found->id], &length);
            ocdm__shown_label first = ocdm__show_label(text, length);
            text = ocdm__label_table_text(ids, i, &length);
            return ocdm__fail(error, OCDM_BAD_FILE, "rows must be different within the training and within the test samples",
                              "row %llu of the %s list is that of two samples of the source, \"%s\" and \"%s\"",
                              (unsigned long long)found->row, found->part == OCDM__TRAIN ? "training" : "test", first.text,
                              ocdm__show_label(text, length).text);
        }
        search->sample_of[found->id] = i;
    }
    return OCDM_OK;
}

/* The first id that equals a later one. */
static uint32_t find_first(const struct search *search, uint32_t id)
{
    const ocdm__listed_id *listed = &search->lists->ids[id];
    for (uint32_t i = 0; i < id; i++) {
        const ocdm__listed_id *other = &search->lists->ids[i];
        uint64_t row = 0, other_row = 1;
        const char *text = search->lists->text + listed->text_at, *other_text = search->lists->text + other->text_at;
        if (search->by_row && list_of(search, i)->part == list_of(search, id)->part && parse_row(text, listed->length, &row) &&
            parse_row(other_text, other->length, &other_row) && row == other_row)
            return i;
        if (!search->by_row && ocdm__compare_texts(text, listed->length, other_text, other->length) == 0)
            return i;
    }
    return id;
}

static ocdm_status fail_twice(const struct search *search, uint32_t id, ocdm_error *error)
{
    char where[200], before[200];
    return ocdm__fail(error, OCDM_BAD_FILE, "a sample can be in a stream once; `--skip-bad` leaves the later ones out",
                      "%s: id %s is listed already, in %s", write_place(search, id, where, sizeof where),
                      show_id(search, id).text, write_place(search, find_first(search, id), before, sizeof before));
}

static ocdm_status fail_missing(const struct search *search, uint32_t first, ocdm_error *error)
{
    size_t count = 0;
    char where[256], others[64] = "";
    for (size_t i = first; i < search->lists->id_count; i++)
        count += search->sample_of[i] == NOT_FOUND;
    if (count > 1)
        snprintf(others, sizeof others, ", nor has it %zu other%s of the lists", count - 1, count > 2 ? "s" : "");
    return ocdm__fail(error, OCDM_BAD_FILE, "give the whole source of which the lists were made; " SKIP_HINT,
                      "%s: the source has no %s %s%s", write_place(search, first, where, sizeof where),
                      !search->by_row                               ? "sample with the id"
                      : list_of(search, first)->part == OCDM__TRAIN ? "training sample with the row"
                                                                    : "test sample with the row",
                      show_id(search, first).text, others);
}

/* Handles an id without a sample. */
static ocdm_status refuse_id(const struct search *search, uint32_t id, ocdm_error *error)
{
    bool twice = search->sample_of[id] == LISTED_TWICE;
    char where[160];
    if (!search->reading->skip_bad)
        return twice ? fail_twice(search, id, error) : fail_missing(search, id, error);
    ocdm__reading_skip(search->reading, twice ? "ids listed twice" : "ids of the lists that the source lacks",
                       write_place(search, id, where, sizeof where));
    return OCDM_OK;
}

static ocdm_status list_samples(const struct search *search, ocdm__id_choices *chosen, ocdm_error *error)
{
    for (uint32_t i = 0; i < search->lists->id_count; i++) {
        const ocdm__id_list *list = list_of(search, i);
        uint32_t sample = search->sample_of[i];
        if (sample < search->set->count)
            chosen->samples[chosen->count++] =
                (ocdm__id_choice){.sample = sample, .task = list->task, .part = (uint8_t)list->part};
        else
            OCDM_TRY(refuse_id(search, i, error));
    }
    return OCDM_OK;
}

static ocdm_status choose_samples(struct search *search, ocdm__id_choices *chosen, ocdm_error *error)
{
    size_t count = search->lists->id_count;
    search->by_row = has_rows(search->set);
    search->keys = ocdm__allocate(count, sizeof *search->keys);
    search->sample_of = ocdm__allocate(count, sizeof *search->sample_of);
    chosen->samples = ocdm__allocate(count, sizeof *chosen->samples);
    if (search->keys == NULL || search->sample_of == NULL || chosen->samples == NULL)
        return ocdm__fail_memory(error, "the samples of the id lists");
    const ocdm__id_lists *lists = search->lists;
    char where[256];
    for (uint32_t i = 0; i < lists->id_count; i++) {
        const ocdm__listed_id *listed = &lists->ids[i];
        struct key key = {.text = lists->text + listed->text_at, .length = listed->length, .id = i, .part = OCDM__NO_PART};
        if (search->by_row) {
            if (!parse_row(key.text, key.length, &key.row))
                return ocdm__fail(error, OCDM_BAD_FILE, "the samples of this source are named by their row in its lists",
                                  "%s: \"%s\" is not the number of a row", write_place(search, i, where, sizeof where),
                                  show_id(search, i).text);
            key.part = (uint8_t)list_of(search, i)->part;
            key.text = "";
            key.length = 0;
        }
        search->keys[i] = key;
    }
    search->key_count = lists->id_count;
    /* Sorts the keys and keeps the first of equal ones; the others are marked. */
    size_t kept = 0;
    if (search->key_count > 0)
        qsort(search->keys, search->key_count, sizeof *search->keys, compare_keys_and_ids);
    for (size_t i = 0; i < search->key_count; i++) {
        const struct key *key = &search->keys[i];
        bool again = kept > 0 && compare_keys(key, &search->keys[kept - 1]) == 0;
        search->sample_of[key->id] = again ? LISTED_TWICE : NOT_FOUND;
        if (!again)
            search->keys[kept++] = *key;
    }
    search->key_count = kept;
    OCDM_TRY(look_up_samples(search, error));
    return list_samples(search, chosen, error);
}

/* A class of the map that no sample has: most likely a wrong name. */
static ocdm_status refuse_class(const struct search *search, uint32_t class_id, ocdm_error *error)
{
    size_t length;
    const char *text = ocdm__label_table_text(&search->lists->classes, class_id, &length), *map = search->lists->files[0];
    if (!search->reading->skip_bad)
        return ocdm__fail(error, OCDM_BAD_FILE, "the source must be the one that the class map was made for; " SKIP_HINT,
                          "%s: the source has no class \"%s\"", map, ocdm__show_label(text, length).text);
    ocdm__reading_skip(search->reading, "classes of the map that the source lacks", map);
    return OCDM_OK;
}

/* Numbers the lists' classes and then the set's in one table: a class of the set that gets an old number is that class of the
 * lists. */
static ocdm_status number_classes(ocdm__label_table *both, const ocdm__label_table *classes, uint32_t *numbers,
                                  ocdm_error *error)
{
    ocdm__json_file copy = {.line = 1};
    ocdm_status status = OCDM_OK;
    for (uint32_t i = 0; status == OCDM_OK && i < classes->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(classes, i, &length);
        status = ocdm__json_file_copy(&copy, text, length, error);
        OCDM_THEN(status, ocdm__label_table_add(both, copy.text, length, &numbers[i], error));
    }
    ocdm__json_file_close(&copy);
    return status;
}

ocdm_status ocdm__id_lists_choose(const ocdm__id_lists *lists, const ocdm__labelled_set *set, ocdm__reading *reading,
                                  ocdm__id_choices *chosen, ocdm_error *error)
{
    struct search search = {.lists = lists, .set = set, .reading = reading};
    *chosen = (ocdm__id_choices){.count = 0};
    const ocdm__label_table *wanted = &search.lists->classes, *given = &search.set->classes;
    ocdm__label_table both = {.count = 0};
    uint32_t *used = ocdm__allocate(wanted->count, sizeof *used);
    chosen->class_of = ocdm__allocate(given->count, sizeof *chosen->class_of);
    ocdm_status status =
        used != NULL && chosen->class_of != NULL ? OCDM_OK : ocdm__fail_memory(error, "the classes of the id lists");
    OCDM_THEN(status, number_classes(&both, wanted, used, error));
    OCDM_THEN(status, number_classes(&both, given, chosen->class_of, error));
    for (uint32_t i = 0; status == OCDM_OK && i < given->count; i++) {
        if (chosen->class_of[i] < wanted->count)
            used[chosen->class_of[i]] = UINT32_MAX;
        else
            chosen->class_of[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; status == OCDM_OK && i < wanted->count; i++)
        if (used[i] != UINT32_MAX)
            status = refuse_class(&search, i, error);
    ocdm__label_table_clear(&both);
    ocdm__release(used);

    OCDM_THEN(status, choose_samples(&search, chosen, error));
    ocdm__release(search.keys);
    ocdm__release(search.sample_of);
    if (status != OCDM_OK)
        ocdm__id_choices_clear(chosen);
    return status;
}

void ocdm__id_choices_clear(ocdm__id_choices *chosen)
{
    ocdm__release(chosen->samples);
    ocdm__release(chosen->class_of);
    *chosen = (ocdm__id_choices){.count = 0};
}
