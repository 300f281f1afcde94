/* `ocdm split`: splits records into parts or folds that have the same shares of every label and of every pair of labels. */
#include "ocdm/split.h"

#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "experiment/folder/run_folder.h"
#include "stream/records/source.h"

#define MOST_PARTS 1000
#define NAME_ROOM 64
#define PATH_ROOM 4096
#define NAMED_LABELS 10 /* of those that are too rare */

static const char *const order_names[] = {"0", "1", "2", "3", NULL};

struct part {
    char name[NAME_ROOM];
    double share;  /* 0: `size` is given */
    uint64_t size; /* 0: what is left */
    ocdm__output output;
};

/* The records, all of them: their bytes, labels and groups. */
struct split {
    struct part parts[MOST_PARTS];
    size_t part_count;
    ocdm_split_options options;
    ocdm__records *records;
    ocdm__member_reader group_reader;
    ocdm__record_members members;
    ocdm__label_table group_names;
    size_t count;
    char *bytes;
    size_t *ends;      /* count + 1: where records end in `bytes`, from 1 */
    uint64_t *offsets; /* count + 1 */
    uint32_t *labels, *groups;
    size_t byte_room, end_room, offset_room, label_room, group_room;
    uint32_t *part; /* of each record */
    ocdm_split_work work;
    ocdm_split_balance balance[MOST_PARTS], random[MOST_PARTS]; /* random: of a random split, to compare with */
};

/* ---- what is asked for ----------------------------------------------------------------------------------------------- */

/* `20%` or `500`. */
static bool read_size(const char *text, size_t length, struct part *part)
{
    double percent;
    if (length == 0 || text[length - 1] != '%')
        return ocdm__text_to_whole(text, length, 1, OCDM_MAX_SPLIT_SAMPLES, &part->size);
    bool fine = ocdm__text_to_double(text, length - 1, &percent) && percent > 0 && percent < 100;
    part->share = fine ? percent / 100 : 0;
    return fine;
}

/* A list of NAME=SIZE. A file is called like its part. */
static ocdm_status read_parts(const char *text, struct split *split, ocdm_error *error)
{
    bool fine = true;
    for (const char *at = text; fine; at++) {
        struct part *part = &split->parts[split->part_count];
        size_t length = strcspn(at, ","), name = strcspn(at, "=");
        fine = split->part_count < MOST_PARTS && name > 0 && name < length && name < NAME_ROOM && at[0] != '.' &&
               memchr(at, '/', name) == NULL && read_size(at + name + 1, length - name - 1, part);
        if (fine)
            snprintf(part->name, NAME_ROOM, "%.*s", (int)name, at);
        for (size_t p = 0; fine && p < split->part_count; p++)
            fine = strcmp(split->parts[p].name, part->name) != 0 && (part->share > 0) == (split->parts[0].share > 0);
        split->part_count += fine;
        at += length;
        if (fine && *at == '\0')
            return OCDM_OK;
    }
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as train=80%,val=10%,test=10%, or train=800,test=200",
                      "--parts \"%s\" is not a list of up to %d different NAME=SIZE, all in percent or all in records", text,
                      MOST_PARTS);
}

static ocdm_status read_request(const ocdm__arguments *arguments, struct split *split, ocdm_error *error)
{
    const char *parts = ocdm__argument_text(arguments, "parts"), *test = ocdm__argument_text(arguments, "test");
    bool folds = ocdm__argument_given(arguments, "folds");
    if ((parts != NULL) + folds + ocdm__argument_given(arguments, "test") > 1)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give one of them", "--parts, --folds and --test exclude each other");
    split->options = ocdm_split_options_default();
    split->options.order = (uint32_t)ocdm__argument_choice(arguments, "order");
    split->options.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    split->options.proposals = ocdm__argument_unsigned(arguments, "proposals", 0, UINT64_MAX / 2);
    size_t count = folds ? (size_t)ocdm__argument_unsigned(arguments, "folds", 2, MOST_PARTS) : 2;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (parts != NULL)
        return read_parts(parts, split, error);
    split->part_count = count;
    for (size_t p = 0; p < count; p++) {
        snprintf(split->parts[p].name, NAME_ROOM, "fold-%zu", p + 1);
        split->parts[p].share = 1.0 / (double)count;
    }
    if (folds)
        return OCDM_OK;
    split->parts[0] = (struct part){.name = "train"};
    split->parts[1] = (struct part){.name = "test"};
    if (!read_size(test, strlen(test), &split->parts[1]))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as --test 20% or --test 500",
                          "--test \"%s\" is not a share or a number of records", test);
    split->parts[0].share = split->parts[1].share > 0 ? 1 - split->parts[1].share : 0;
    return OCDM_OK;
}

/* ---- records --------------------------------------------------------------------------------------------------------- */

/* Keeps a record, if it has a group where one is wanted: without it, it is bad. */
static ocdm_status take_record(struct split *split, const ocdm__record *record, ocdm_error *error)
{
    ocdm__record_members *members = &split->members;
    uint32_t group = 0;
    size_t i = split->count;
    if (split->group_reader.wanted.which != 0) {
        bool good = ocdm__member_reader_read(&split->group_reader, split->records, record, members);
        if (good && members->found == 0)
            snprintf(members->reason, sizeof members->reason, "the record has no value of --group");
        if (!good || members->found == 0)
            return ocdm__records_refuse(split->records, record, members->reason, NULL, false, error);
        OCDM_TRY(ocdm__label_table_add(&split->group_names, members->other, members->other_length, &group, error));
    }
    bool grown = ocdm__reserve_zeroed(&split->ends, &split->end_room, i + 2, sizeof *split->ends) &&
                 ocdm__reserve_zeroed(&split->offsets, &split->offset_room, i + 2, sizeof *split->offsets) &&
                 ocdm__reserve(&split->groups, &split->group_room, i + 1, sizeof *split->groups) &&
                 ocdm__reserve(&split->bytes, &split->byte_room, split->ends[i] + record->length, 1) &&
                 ocdm__reserve(&split->labels, &split->label_room, (size_t)split->offsets[i] + record->label_count,
                               sizeof *split->labels);
    if (!grown)
        return ocdm__fail_memory(error, "the records");
    memcpy(split->bytes + split->ends[i], ocdm__records_bytes(split->records, record->at), record->length);
    for (size_t c = 0; c < record->label_count; c++)
        split->labels[split->offsets[i] + c] = split->records->numbers[record->label_at + c];
    split->ends[i + 1] = split->ends[i] + record->length;
    split->offsets[i + 1] = split->offsets[i] + record->label_count;
    split->groups[i] = group;
    split->count++;
    return OCDM_OK;
}

static ocdm_status read_records(struct split *split, const ocdm__arguments *arguments, ocdm_error *error)
{
    const ocdm__record_options options = ocdm__argument_records(arguments, "`--skip-bad` passes over bad records");
    const char *path = ocdm__first_operand(arguments), *group = ocdm__argument_text(arguments, "group");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    OCDM_TRY(ocdm__records_open(&split->records, path, &options, &ocdm__stop_signal, error));
    if (arguments->operand_count > 1)
        ocdm__records_follow(split->records, arguments->operands + 1, arguments->operand_count - 1);
    if (group != NULL) {
        split->group_reader.wanted.which = 1u << OCDM__MEMBER_OTHER;
        split->group_reader.wanted.names[OCDM__MEMBER_OTHER] = group;
        OCDM_TRY(
            ocdm__member_reader_begin(&split->group_reader, split->records, path != NULL ? path : "standard input", error));
    }
    for (bool found = true; found;) {
        ocdm__record record;
        OCDM_TRY(ocdm__records_next(split->records, &record, &found, error));
        if (found)
            OCDM_TRY(take_record(split, &record, error));
        ocdm__records_release(split->records);
    }
    if (ocdm__stop_signal)
        return ocdm__fail(error, OCDM_STOPPED, "", "stopped by a signal before all records were read; nothing is written");
    return split->count > 0 ? OCDM_OK : ocdm__fail(error, OCDM_BAD_RECORD, "", "there are no records");
}

/* ---- the split ------------------------------------------------------------------------------------------------------- */

static ocdm_status find_sizes(const struct split *split, uint64_t *sizes, ocdm_error *error)
{
    double shares[MOST_PARTS] = {0};
    for (size_t p = 0; p < split->part_count; p++) {
        shares[p] = split->parts[p].share;
        sizes[p] = split->parts[p].size;
    }
    if (shares[0] > 0)
        return ocdm_split_sizes(shares, split->part_count, split->count, sizes, error);
    if (sizes[0] == 0) /* train, beside --test N */
        sizes[0] = sizes[1] < split->count ? split->count - sizes[1] : 0;
    return OCDM_OK;
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

static void write_line(ocdm__output *output, const char *bytes, size_t length)
{
    ocdm__output_write(output, bytes, length);
    ocdm__output_text(output, "\n");
}

/* ---- results --------------------------------------------------------------------------------------------------------- */

/* `-` for what was not measured. */
static void put_percent(ocdm__output *output, double value)
{
    if (isnan(value))
        ocdm__put(output, " %10s", "-");
    else
        ocdm__put(output, " %9.2f%%", 100 * value);
}

static void write_text(ocdm__output *output, const struct split *split, const bool *rare)
{
    const ocdm__label_table *table = &split->records->table;
    unsigned long long missing = 0;
    ocdm__output_text(output, "error of shares, mean      labels  at random      pairs  at random   largest, in records\n"
                              "part            records                                             labels     pairs\n");
    for (size_t p = 0; p < split->part_count; p++) {
        const ocdm_split_balance *balance = &split->balance[p], *random = &split->random[p];
        ocdm__put(output, "%-12s %10llu", split->parts[p].name, (unsigned long long)balance->samples);
        put_percent(output, balance->label_error);
        put_percent(output, random->label_error);
        put_percent(output, balance->pair_error);
        put_percent(output, random->pair_error);
        ocdm__put(output, " %9.1f %9.1f\n", balance->label_largest, balance->pair_largest);
        missing += balance->missing;
    }
    if (missing > 0)
        ocdm__put(output, "labels missing in a part, although they have as many records as there are parts: %llu\n", missing);
    /* Labels that cannot be in all parts, by name. */
    size_t count = 0, named = 0, length;
    for (uint32_t c = 0; c < table->count; c++)
        count += rare[c];
    if (count > 0)
        ocdm__put(output, "too rare for all parts: %zu label%s:", count, count == 1 ? "" : "s");
    for (uint32_t c = 0; c < table->count && named < NAMED_LABELS; c++)
        if (rare[c]) {
            const char *label = ocdm__label_table_text(table, c, &length);
            ocdm__put(output, "%s %s", named++ == 0 ? "" : ",", ocdm__show_label(label, length).text);
        }
    if (count > 0)
        ocdm__output_text(output, count > named ? ", ...\n" : "\n");
    ocdm__put(output, "%llu of %llu exchanges helped, %llu of them late in the search%s\n",
              (unsigned long long)split->work.exchanges, (unsigned long long)split->work.proposals,
              (unsigned long long)split->work.late, split->work.late > 0 ? ": --proposals tries more" : "");
}

static void write_balance(ocdm__output *output, const char *key, const ocdm_split_balance *balance)
{
    ocdm__json_open(output, key, '{');
    ocdm__json_real(output, "label_error", balance->label_error);
    ocdm__json_real(output, "label_largest", balance->label_largest);
    ocdm__json_real(output, "pair_error", balance->pair_error);
    ocdm__json_real(output, "pair_largest", balance->pair_largest);
    ocdm__json_real(output, "sizes", balance->sizes);
    ocdm__json_count(output, "missing", balance->missing);
    ocdm__json_close(output, '}');
}

static void write_json(ocdm__output *output, const struct split *split, const bool *rare)
{
    const ocdm__label_table *table = &split->records->table;
    ocdm__json_open(output, NULL, '{');
    ocdm__json_count(output, "records", split->count);
    ocdm__json_count(output, "skipped", split->records->skipped);
    ocdm__json_count(output, "labels", table->count);
    ocdm__json_count(output, "order", split->options.order);
    ocdm__json_count(output, "seed", split->options.seed);
    ocdm__json_count(output, "proposals", split->work.proposals);
    ocdm__json_count(output, "exchanges", split->work.exchanges);
    ocdm__json_count(output, "late", split->work.late);
    ocdm__json_open(output, "parts", '[');
    for (size_t p = 0; p < split->part_count; p++) {
        ocdm__json_open(output, NULL, '{');
        ocdm__json_string(output, "name", split->parts[p].name);
        ocdm__json_count(output, "records", split->balance[p].samples);
        write_balance(output, "balance", &split->balance[p]);
        write_balance(output, "random", &split->random[p]);
        ocdm__json_close(output, '}');
    }
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "rare", '[');
    for (uint32_t c = 0; c < table->count; c++) {
        size_t length;
        const char *label = ocdm__label_table_text(table, c, &length);
        if (rare[c])
            ocdm__json_bytes(output, NULL, label, length);
    }
    ocdm__output_text(output, "]}\n");
}

static ocdm_status print_result(const struct split *split, const ocdm__arguments *arguments, ocdm_error *error)
{
    bool *rare;
    char doubt[OCDM__DOUBT];
    /* Which labels have fewer records than there are parts. */
    uint32_t labels = split->records->table.count;
    struct {
        size_t records, last; /* the number of the last record that has it, from 1 */
    } * counts;
    OCDM_TRY(ocdm__new(&counts, labels, sizeof *counts, "the counts of the labels", error));
    ocdm_status status = ocdm__new(&rare, labels, sizeof *rare, "the counts of the labels", error);
    for (size_t i = 0; i < split->count; i++)
        for (uint64_t at = split->offsets[i]; at < split->offsets[i + 1]; at++) {
            uint32_t label = split->labels[at];
            counts[label].records += counts[label].last != i + 1; /* a repeated label counts once */
            counts[label].last = i + 1;
        }
    for (uint32_t c = 0; status == OCDM_OK && c < labels; c++)
        rare[c] = counts[c].records < split->part_count;
    ocdm__release(counts);
    OCDM_TRY(status);
    if (ocdm__argument_given(arguments, "json"))
        write_json(arguments->out, split, rare);
    else
        write_text(arguments->out, split, rare);
    ocdm__release(rare);
    OCDM_TRY(ocdm__records_label_warning(split->records, doubt, error));
    ocdm__output_flush(arguments->out);
    if (doubt[0] != '\0')
        fprintf(stderr, "warning: %s\n", doubt);
    return OCDM_OK;
}

/* ---- the run --------------------------------------------------------------------------------------------------------- */

static ocdm_status do_split(struct split *split, const ocdm__arguments *arguments, ocdm_error *error)
{
    const char *folder = ocdm__argument_text(arguments, "output");
    OCDM_TRY(read_request(arguments, split, error));
    OCDM_TRY(read_records(split, arguments, error));
    uint64_t sizes[MOST_PARTS];
    const ocdm_label_sets sets = {.size = sizeof sets,
                                  .count = split->count,
                                  .offsets = split->offsets,
                                  .labels = split->labels,
                                  .groups = split->group_reader.wanted.which != 0 ? split->groups : NULL};
    ocdm_split_options random = split->options;
    uint32_t measured = split->options.order == 1 ? 1 : 2;
    random.order = 0;
    OCDM_TRY(ocdm__new(&split->part, split->count, sizeof *split->part, "the parts of the records", error));
    OCDM_TRY(find_sizes(split, sizes, error));
    OCDM_TRY(ocdm_split(&sets, sizes, split->part_count, &random, split->part, NULL, error));
    OCDM_TRY(ocdm_split_measure(&sets, split->part, split->part_count, measured, split->random, error));
    OCDM_TRY(ocdm_split(&sets, sizes, split->part_count, &split->options, split->part, &split->work, error));
    OCDM_TRY(ocdm_split_measure(&sets, split->part, split->part_count, measured, split->balance, error));
    if (folder != NULL) {
        /* All files or none. */
        const ocdm__records *records = split->records;
        OCDM_TRY(ocdm__make_folder(folder, error));
        for (struct part *part = split->parts; part < split->parts + split->part_count; part++) {
            char path[PATH_ROOM];
            if (snprintf(path, sizeof path, "%s/%s.%s", folder, part->name, ocdm__format_names[records->format]) >= PATH_ROOM)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use a shorter path", "--output is too long");
            OCDM_TRY(ocdm__output_open(&part->output, path, error));
            if (records->header != NULL)
                write_line(&part->output, records->header, records->header_length);
        }
        for (size_t i = 0; i < split->count; i++)
            write_line(&split->parts[split->part[i]].output, split->bytes + split->ends[i],
                       split->ends[i + 1] - split->ends[i]);
        for (size_t p = 0; p < split->part_count; p++)
            OCDM_TRY(ocdm__output_sync(&split->parts[p].output, error));
        for (size_t p = 0; p < split->part_count; p++)
            OCDM_TRY(ocdm__output_commit(&split->parts[p].output, error));
    }
    return ocdm__argument_given(arguments, "quiet") ? OCDM_OK : print_result(split, arguments, error);
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct split *split;
    OCDM_TRY(ocdm__new(&split, 1, sizeof *split, "the parts", error));
    ocdm__catch_signals();
    ocdm_status status = do_split(split, arguments, error);
    for (size_t p = 0; p < split->part_count; p++)
        ocdm__output_abandon(&split->parts[p].output);
    ocdm__records_close(split->records);
    ocdm__member_reader_clear(&split->group_reader);
    ocdm__label_table_clear(&split->group_names);
    OCDM_RELEASE(split->bytes, split->ends, split->offsets, split->labels, split->groups, split->part, split);
    return status;
}

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "DIR", NULL, "the folder for the files, made if it does not exist"),
    OCDM__VALUE(0, "parts", "NAME=SIZE,...", NULL,
                "the parts: shares that sum to 100%, as train=80%,val=10%,test=10%, or numbers of records that sum to all"),
    OCDM__VALUE(0, "folds", "K", NULL, "K parts of equal size, called fold-1 to fold-K"),
    OCDM__VALUE(0, "test", "SIZE", "20%", "two parts, train and test; SIZE is that of test, a share or a number of records"),
    OCDM__VALUE(0, "group", "NAME", NULL, "the member or column whose values stay together"),
    OCDM__CHOICE(0, "order", "N", "2", order_names,
                 "1 balances labels, 2 pairs of labels too, 3 triples too; 0 is a random split"),
    OCDM__VALUE(0, "seed", "S", "0", "seed of all random choices"),
    OCDM__VALUE(0, "proposals", "N", "0",
                "how many exchanges of two records are tried; 0: 524,288 and one for every second record"),
    OCDM__RECORD_FLAGS(OCDM__LISTED_FLAG) /* --format to --one-hot */
    OCDM__SWITCH(0, "skip-bad", "count bad records and skip them"),
    OCDM__SWITCH(0, "json", "print the result as one JSON object"),
    OCDM__SWITCH('q', "quiet", "print no table"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_split = {
    .name = "split",
    .summary = "split records into parts with equal shares of labels",
    .operands = "[FILE...|-]",
    .operand_limit = SIZE_MAX,
    .flags = flags,
    .run = run,
};
