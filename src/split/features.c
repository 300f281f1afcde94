/* Finds and numbers the features of samples: one pass over the label sets with a hash table, then the features are sorted. */
#include "split/arrange.h"

#include "base/hash_table.h"

/* The features so far, in order of appearance. */
struct finder {
    struct ocdm__features *found;
    struct ocdm__hash_table table;
    size_t room, list_room; /* of the features; of their list */
    uint32_t *labels;       /* of the sample at hand, ascending */
    size_t label_room;
    uint32_t order;
};

/* Sizes of label sets first, then by labels: a label stands before the pairs that begin with it. */
static int compare_features(const void *left, const void *right)
{
    const struct ocdm__feature *a = left, *b = right;
    if ((a->order == 0) != (b->order == 0))
        return a->order == 0 ? -1 : 1;
    for (int i = 0; i < OCDM__MAX_ORDER; i++)
        if (a->label[i] != b->label[i])
            return a->label[i] < b->label[i] ? -1 : 1;
    return 0;
}

static bool has_key(const void *records, uint32_t entry, const void *key)
{
    const struct ocdm__feature *features = records, *feature = key;
    return features[entry].order == feature->order && compare_features(&features[entry], feature) == 0;
}

/* The number of a feature, which may be new. */
static ocdm_status number_feature(struct finder *finder, const struct ocdm__feature *feature, uint32_t *number,
                                  ocdm_error *error)
{
    struct ocdm__features *found = finder->found;
    if (found->count == finder->room &&
        (!ocdm__reserve(&found->features, &finder->room, (size_t)found->count + 1, sizeof *found->features) ||
         finder->room >= OCDM_NONE || !ocdm__hash_table_reserve(&finder->table, (uint32_t)finder->room)))
        return ocdm__fail_memory(error, "the pairs of labels");
    uint64_t first = (uint64_t)feature->order << 32 | feature->label[0];
    uint64_t hash = ocdm__hash_pair(first, (uint64_t)feature->label[1] << 32 | feature->label[2]);
    *number = ocdm__hash_table_find(&finder->table, hash, has_key, found->features, feature);
    if (*number != OCDM_NONE)
        return OCDM_OK;
    *number = found->count++;
    found->features[*number] = *feature;
    ocdm__hash_table_add(&finder->table, hash, *number);
    return OCDM_OK;
}

/* Appends a feature of the sample at hand. */
static ocdm_status add_feature(struct finder *finder, const struct ocdm__feature *feature, ocdm_error *error)
{
    uint32_t number = OCDM_NONE;
    OCDM_TRY(number_feature(finder, feature, &number, error));
    uint64_t *end = &finder->found->starts[finder->found->unit_count];
    if (*end >= OCDM__MAX_FEATURE_LIST)
        return ocdm__fail(error, OCDM_LIMIT, "a lower order needs less memory: order 1 balances labels alone",
                          "the samples have more than %zu labels and pairs of labels", OCDM__MAX_FEATURE_LIST);
    if (!ocdm__reserve(&finder->found->list, &finder->list_room, *end + 1, sizeof *finder->found->list))
        return ocdm__fail_memory(error, "the labels of all samples");
    finder->found->features[number].total++;
    finder->found->list[(*end)++] = number;
    return OCDM_OK;
}

/* Adds all features that begin with the labels of `feature`, in the order of compare_features; `from` is the next label. */
static ocdm_status add_sets(struct finder *finder, struct ocdm__feature feature, size_t from, size_t count, ocdm_error *error)
{
    uint32_t at = feature.order++;
    for (size_t i = from; i < count; i++) {
        feature.label[at] = finder->labels[i];
        OCDM_TRY(add_feature(finder, &feature, error));
        if (feature.order < finder->order)
            OCDM_TRY(add_sets(finder, feature, i + 1, count, error));
    }
    return OCDM_OK;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Copies the labels of a sample, ascending and without repeats. */
static ocdm_status take_labels(struct finder *finder, const ocdm_label_sets *sets, size_t sample, size_t *count,
                               ocdm_error *error)
{
    uint64_t from = sets->offsets[sample], end = sets->offsets[sample + 1];
    if (end < from)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "offsets[i + 1] is where the labels of sample i end",
                          "the offsets decrease at sample %zu", sample);
    if (end - from > OCDM_MAX_LABELS)
        return ocdm__fail(error, OCDM_TOO_MANY_LABELS, "", "sample %zu has more than %u labels", sample, OCDM_MAX_LABELS);
    if (!ocdm__reserve(&finder->labels, &finder->label_room, (size_t)(end - from) + 1, sizeof *finder->labels))
        return ocdm__fail_memory(error, "the labels of a sample");
    *count = 0;
    if (from < end)
        memcpy(finder->labels, sets->labels + from, (size_t)(end - from) * sizeof *finder->labels);
    qsort(finder->labels, (size_t)(end - from), sizeof *finder->labels, compare_numbers);
    for (size_t i = 0; i < end - from; i++)
        if (i == 0 || finder->labels[i] != finder->labels[*count - 1])
            finder->labels[(*count)++] = finder->labels[i];
    return OCDM_OK;
}

/* Adds the features of a sample to the unit at hand. */
static ocdm_status add_member(struct finder *finder, const ocdm_label_sets *sets, size_t sample, ocdm_error *error)
{
    size_t count = 0;
    OCDM_TRY(take_labels(finder, sets, sample, &count, error));
    if (sets->groups != NULL)
        OCDM_TRY(add_feature(finder, &(struct ocdm__feature){.label = {OCDM__EVERY_SAMPLE}}, error));
    if (finder->order == 0)
        return OCDM_OK;
    OCDM_TRY(add_feature(finder, &(struct ocdm__feature){.label = {(uint32_t)count}}, error));
    return add_sets(finder, (struct ocdm__feature){0}, 0, count, error);
}

struct member {
    uint32_t group, sample;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* The samples of a group are one unit; without groups each sample is. */
static ocdm_status add_units(struct finder *finder, const ocdm_label_sets *sets, const struct member *members,
                             ocdm_error *error)
{
    struct ocdm__features *found = finder->found;
    for (size_t i = 0; i < sets->count; i++) {
        if (i == 0 || sets->groups == NULL || members[i].group != members[i - 1].group) {
            found->unit_count++;
            found->starts[found->unit_count] = found->starts[found->unit_count - 1];
        }
        if (sets->groups != NULL) {
            found->unit[members[i].sample] = found->unit_count - 1;
            found->size[found->unit_count - 1]++;
        }
        OCDM_TRY(add_member(finder, sets, members != NULL ? members[i].sample : i, error));
    }
    return OCDM_OK;
}

/* Sorts the features, drops the rare ones and renumbers those that are left, so that the list of a sample ascends. */
static ocdm_status renumber(struct finder *finder, uint64_t fewest, ocdm_error *error)
{
    struct ocdm__features *found = finder->found;
    uint32_t *number = ocdm__allocate(found->count, sizeof *number), kept = 0;
    if (number == NULL)
        return ocdm__fail_memory(error, "the pairs of labels");
    for (uint32_t i = 0; i < found->count; i++)
        found->features[i].number = i;
    if (found->count > 0)
        qsort(found->features, found->count, sizeof *found->features, compare_features);
    for (uint32_t i = 0; i < found->count; i++) {
        const struct ocdm__feature *feature = &found->features[i];
        bool is_rare = feature->order > 1 && feature->total < fewest;
        number[feature->number] = is_rare ? OCDM_NONE : kept;
        if (!is_rare)
            found->features[kept++] = *feature;
    }
    found->count = kept;
    uint64_t from = 0, end = 0;
    for (uint32_t unit = 0; unit < found->unit_count; unit++) {
        uint64_t first = end;
        for (; from < found->starts[unit + 1]; from++)
            if (number[found->list[from]] != OCDM_NONE)
                found->list[end++] = number[found->list[from]];
        if (found->size != NULL)
            qsort(found->list + first, end - first, sizeof *found->list, compare_numbers);
        found->starts[unit + 1] = end;
    }
    ocdm__release(number);
    return OCDM_OK;
}

/* One pass that numbers features as they appear, one that sorts and renumbers them. O(features of all samples). */
ocdm_status ocdm__features_find(struct ocdm__features *features, const ocdm_label_sets *sets, uint32_t order, uint64_t fewest,
                                ocdm_error *error)
{
    static const char what[] = "the list of samples";
    struct finder finder = {.found = features, .order = order};
    struct member *members = NULL; /* the samples by their groups, if they have any */
    ocdm_status status = ocdm__new(&features->starts, sets->count + 1, sizeof *features->starts, what, error);
    if (sets->groups != NULL) {
        OCDM_THEN(status, ocdm__new(&features->unit, sets->count, sizeof *features->unit, what, error));
        OCDM_THEN(status, ocdm__new(&features->size, sets->count, sizeof *features->size, what, error));
        OCDM_THEN(status, ocdm__new(&members, sets->count, sizeof *members, what, error));
    }
    for (size_t i = 0; status == OCDM_OK && members != NULL && i < sets->count; i++)
        members[i] = (struct member){sets->groups[i], (uint32_t)i};
    if (status == OCDM_OK && members != NULL)
        qsort(members, sets->count, sizeof *members, compare_members);
    OCDM_THEN(status, add_units(&finder, sets, members, error));
    ocdm__release(members);
    OCDM_THEN(status, renumber(&finder, fewest, error));
    ocdm__hash_table_destroy(&finder.table);
    ocdm__release(finder.labels);
    return status;
}

void ocdm__features_clear(struct ocdm__features *features)
{
    OCDM_RELEASE(features->features, features->starts, features->list, features->unit, features->size);
    *features = (struct ocdm__features){0};
}
