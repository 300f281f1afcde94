/*
 * Merging samples of shards: summaries and kept records become what ocdm_memory_merge takes of memories (src/memory/merge.c),
 * and the records are offered in one batch.
 */
#include "memory/internal.h"
#include "sample/sample.h"
#include "sample/state.h"

/* ---- summaries ------------------------------------------------------------------------------------------------------ */

/* A whole number from 0, exact up to 2^53; false for anything else. */
static bool read_whole(const ocdm__json_node *node, uint64_t *number)
{
    double value = ocdm__json_number(node);
    bool good = value >= 0 && value <= 0x1p53 && value == floor(value);
    *number = good ? (uint64_t)value : 0;
    return good;
}

static ocdm_status bad_summary(const struct ocdm__shard *shard, const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_FILE, "summaries are made by `ocdm sample --shard K --summary FILE`", "%s: %s",
                      shard->summary, what);
}

static const ocdm__json_node *member(const struct ocdm__shard *shard, const char *key)
{
    return ocdm__json_find(shard->tree.root, key);
}

static ocdm_status read_shard(struct ocdm__shard *shard, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_tree_read(&shard->tree, shard->summary, error));
    if (!read_whole(member(shard, "shard"), &shard->number))
        return bad_summary(shard, "the summary of a sample that is no shard", error);
    if (!read_whole(member(shard, "records"), &shard->records))
        return bad_summary(shard, "no number of records", error);
    if (member(shard, "unlabelled") != NULL && !read_whole(member(shard, "unlabelled"), &shard->unlabelled))
        return bad_summary(shard, "`unlabelled` is not a number of records", error);
    const ocdm__json_node *list = member(shard, "kept_at");
    if (list == NULL || list->kind != OCDM__JSON_ARRAY)
        return bad_summary(shard, "no list `kept_at` of the records that were kept", error);
    shard->kept_count = list->count;
    OCDM_TRY(ocdm__new(&shard->arrivals, list->count, sizeof *shard->arrivals, "the records of a shard", error));
    const ocdm__json_node *element = list->first;
    for (size_t i = 0; i < list->count; i++, element = element->next)
        if (!read_whole(element, &shard->arrivals[i]) || shard->arrivals[i] >= shard->records ||
            (i > 0 && shard->arrivals[i] <= shard->arrivals[i - 1]))
            return bad_summary(shard, "`kept_at` must be ascending numbers of records", error);
    return OCDM_OK;
}

static int compare_shards(const void *left, const void *right)
{
    const struct ocdm__shard *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static ocdm_status take_settings(const struct ocdm__shard *shard, ocdm__sample_options *options, ocdm_error *error)
{
    ocdm_options *memory = &options->memory;
    const ocdm__json_node *seed = member(shard, "seed");
    const char *format = ocdm__json_text(member(shard, "format"), "");
    memory->policy = ocdm_policy_find(ocdm__json_text(member(shard, "policy"), ""));
    memory->rho = ocdm__json_number(member(shard, "rho"));
    memory->tolerance = member(shard, "tolerance") != NULL ? ocdm__json_number(member(shard, "tolerance")) : 0;
    memory->seed = seed != NULL && seed->text != NULL ? strtoull(seed->text, NULL, 10) : 0;
    if (memory->policy == NULL || (memory->policy->traits & OCDM_BY_DISTANCE) == 0)
        return bad_summary(shard, "only samples of the policies ocdm and onlyone can be merged", error);
    if (ocdm_distance_find(ocdm__json_text(member(shard, "distance_name"), ""), &memory->distance) != OCDM_OK ||
        ocdm_tie_find(ocdm__json_text(member(shard, "tie"), ""), &memory->tie) != OCDM_OK)
        return bad_summary(shard, "an unknown distance or tie rule", error);
    for (size_t i = 0; ocdm__format_names[i] != NULL && options->records.format == OCDM__FORMAT_AUTO; i++)
        if (strcmp(format, ocdm__format_names[i]) == 0)
            options->records.format = (enum ocdm__record_format)i;
    return OCDM_OK;
}

/* ---- the shards ----------------------------------------------------------------------------------------------------- */

static ocdm_status read_all(struct ocdm__shards *shards, char *const *kept, char *const *summaries, ocdm_error *error)
{
    for (size_t i = 0; i < shards->count; i++) {
        shards->shard[i] = (struct ocdm__shard){.summary = summaries[i], .kept = kept[i]};
        OCDM_TRY(read_shard(&shards->shard[i], error));
        shards->kept_total += shards->shard[i].kept_count;
        shards->record_total += shards->shard[i].records;
        shards->unlabelled_total += shards->shard[i].unlabelled;
    }
    qsort(shards->shard, shards->count, sizeof *shards->shard, compare_shards);
    for (size_t i = 0; i < shards->count; i++)
        shards->kept_paths[i] = (char *)shards->shard[i].kept;
    /* All shards must have been sampled in the same way. */
    static const char *const settings[] = {"policy", "rho", "seed", "distance_name", "tie", "tolerance", "format"};
    for (size_t i = 1; i < shards->count; i++) {
        const struct ocdm__shard *a = &shards->shard[0], *b = &shards->shard[i];
        if (b->number == shards->shard[i - 1].number)
            return ocdm__fail(error, OCDM_BAD_FILE, "give every shard its own number: --shard K",
                              "%s and %s are the same shard", shards->shard[i - 1].summary, b->summary);
        for (size_t j = 0; j < sizeof settings / sizeof *settings; j++) {
            /* Shards of an older version lack some. */
            const ocdm__json_node *first = member(a, settings[j]), *second = member(b, settings[j]);
            if (first != second && (first == NULL || second == NULL || first->text == NULL || second->text == NULL ||
                                    strcmp(first->text, second->text) != 0))
                return ocdm__fail(error, OCDM_BAD_FILE, "shards must be sampled with the same settings",
                                  "%s and %s differ in \"%s\"", a->summary, b->summary, settings[j]);
        }
    }
    return OCDM_OK;
}

/* With other records, or another number of them, each would get the key of a different record. */
static ocdm_status check_counts(const struct ocdm__shards *shards, const ocdm__sample_options *options, ocdm_error *error)
{
    for (size_t i = 0; i < shards->count; i++) {
        const struct ocdm__shard *shard = &shards->shard[i];
        const char *wanted = ocdm__json_text(member(shard, "kept_checksum"), NULL); /* older summaries have none */
        ocdm__sample_options alone = *options;
        uint64_t count, sum;
        char text[OCDM__RECORD_SUM];
        alone.paths = &shards->kept_paths[i];
        alone.path_count = 1;
        OCDM_TRY(ocdm__count_records(&alone, &count, &sum, error));
        if (count != shard->kept_count)
            return ocdm__fail(error, OCDM_BAD_FILE, "kept files and summaries are given in the same order",
                              "%s has %llu records, and its summary %s says %zu", shard->kept, (unsigned long long)count,
                              shard->summary, shard->kept_count);
        ocdm__record_sum_text(sum, text);
        if (wanted != NULL && strcmp(wanted, text) != 0)
            return ocdm__fail(error, OCDM_BAD_FILE,
                              "kept files and summaries are given in the same order, as `ocdm sample` wrote them",
                              "%s does not have the records of its summary %s", shard->kept, shard->summary);
    }
    return OCDM_OK;
}

ocdm_status ocdm__shards_read(struct ocdm__shards *shards, char *const *kept, char *const *summaries, size_t count,
                              ocdm__sample_options *options, ocdm_error *error)
{
    OCDM_TRY(ocdm__new(&shards->shard, count, sizeof *shards->shard, "the shards", error));
    OCDM_TRY(ocdm__new(&shards->kept_paths, count, sizeof *shards->kept_paths, "the shards", error));
    shards->count = count;
    OCDM_TRY(read_all(shards, kept, summaries, error));
    OCDM_TRY(take_settings(&shards->shard[0], options, error));
    OCDM_TRY(check_counts(shards, options, error));
    if (shards->kept_total > OCDM__MAX_BATCH)
        return ocdm__fail(error, OCDM_LIMIT, "merge fewer shards at a time", "the shards have too many records");
    options->memory.batch = shards->kept_total > 0 ? (uint32_t)shards->kept_total : 1;
    options->paths = shards->kept_paths;
    options->path_count = count;
    options->shards = shards;
    return OCDM_OK;
}

void ocdm__shards_clear(struct ocdm__shards *shards)
{
    for (size_t i = 0; shards->shard != NULL && i < shards->count; i++) {
        ocdm__json_tree_clear(&shards->shard[i].tree);
        ocdm__release(shards->shard[i].arrivals);
    }
    ocdm__release(shards->shard);
    ocdm__release(shards->kept_paths);
    *shards = (struct ocdm__shards){.count = 0};
}

/* ---- the merge ------------------------------------------------------------------------------------------------------ */

/* The rows of all shards, one shard after another in `classes`; `counts` gets what the memory needs of each shard. */
static ocdm_status read_classes(ocdm__sampling *sampling, struct ocdm__shard_counts *counts, ocdm_class *classes,
                                ocdm_error *error)
{
    const struct ocdm__shards *shards = sampling->options.shards;
    for (size_t i = 0; i < shards->count; i++) {
        const struct ocdm__shard *shard = &shards->shard[i];
        counts[i] = (struct ocdm__shard_counts){.number = shard->number,
                                                .arrived = shard->records,
                                                .arrivals = shard->arrivals,
                                                .kept_count = shard->kept_count,
                                                .classes = classes};
        const ocdm__json_node *rows = member(shard, "per_class");
        for (const ocdm__json_node *row = rows != NULL ? rows->first : NULL; row != NULL; row = row->next, classes++) {
            const char *label = ocdm__json_text(ocdm__json_find(row, "label"), NULL);
            double weight = ocdm__json_number(ocdm__json_find(row, "weight"));
            uint64_t kept;
            if (label == NULL || !read_whole(ocdm__json_find(row, "seen"), &classes->seen) ||
                !read_whole(ocdm__json_find(row, "kept"), &kept) || kept > classes->seen || kept > shard->kept_count)
                return bad_summary(shard, "a row of `per_class` without label, seen and kept", error);
            classes->kept = (uint32_t)kept;
            OCDM_TRY(ocdm__label_table_add(&sampling->records->table, label, strlen(label), &classes->id, error));
            if (!isnan(weight))
                OCDM_TRY(ocdm_memory_set_weight(sampling->memory, classes->id, weight, error));
            if (classes->seen > 0)
                ocdm__note_label(sampling, classes->id);
            counts[i].class_count++;
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__begin_merge(ocdm__sampling *sampling, ocdm_error *error)
{
    const struct ocdm__shards *shards = sampling->options.shards;
    size_t rows = 0;
    for (size_t i = 0; i < shards->count; i++) {
        const ocdm__json_node *list = member(&shards->shard[i], "per_class");
        rows += list != NULL ? list->count : 0;
    }
    struct ocdm__shard_counts *counts = ocdm__allocate(shards->count, sizeof *counts);
    ocdm_class *classes = ocdm__allocate(rows, sizeof *classes);
    sampling->places = ocdm__allocate((size_t)shards->kept_total, sizeof *sampling->places);
    ocdm_status status = counts == NULL || classes == NULL || sampling->places == NULL
                             ? ocdm__fail_memory(error, "the records of the shards")
                             : read_classes(sampling, counts, classes, error);
    OCDM_THEN(status, ocdm__memory_expect_shards(sampling->memory, counts, shards->count, sampling->places, error));
    ocdm__release(counts);
    ocdm__release(classes);
    sampling->elsewhere = shards->record_total - shards->kept_total;
    sampling->unlabelled = shards->unlabelled_total;
    return status;
}
