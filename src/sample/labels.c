/*
 * What options say about labels: weights, minimums, labels that count or do not. Each is a list of entries separated by commas;
 * a label in double quotes may have commas in it and, doubled, quotes, as in csv. The labels that options name are numbered
 * before any record is read, so that a small array says which of them occurred.
 */
#include "memory/internal.h"
#include "sample/sample.h"
#include "sample/state.h"

enum option { WEIGHT, MINIMUM, IGNORE, ONLY, OPTIONS };
enum { OCCURRED = 1 << OPTIONS };

/* An entry of a list: text[0..length) is what the user wrote. */
struct entry {
    const char *text;
    size_t length;
    const char *label; /* its own bytes, quotes undone; NULL when the entry is not formed as its option wants it */
    size_t label_length;
    double number;
};

static const struct option_row {
    const char *flag;
    bool numbers;        /* entries are label=number, else label */
    const char *trouble; /* with the length and the text of an entry */
    const char *hint;
} rows[OPTIONS] = {
    [WEIGHT] = {"--weight", true, "the weight \"%.*s\" is not label=number",
                "write it as in --weight cat=3,dog=0.5; a label with a comma goes into double quotes"},
    [MINIMUM] = {"--min", true, "the minimum \"%.*s\" is not label=number of records",
                 "write it as in --min cat=20,dog=5, or --min 5 for every label; a label with a comma goes into double quotes"},
    [IGNORE] = {"--ignore", false, "\"%.*s\" in --ignore is not a label",
                "write it as in --ignore cat,dog; a label with a comma goes into double quotes"},
    [ONLY] = {"--only", false, "\"%.*s\" in --only is not a label",
              "write it as in --only cat,dog; a label with a comma goes into double quotes"},
};

/* ---- parsing ---------------------------------------------------------------------------------------------------------- */

/* Copies a quoted label, from its opening quote on, without its quotes. Returns where it ends; NULL without a closing quote. */
static const char *unquote(const char *text, char *label, size_t *length)
{
    *length = 0;
    for (text++; *text != '\0'; text++) {
        if (*text == '"' && *++text != '"')
            return text;
        label[(*length)++] = *text;
    }
    return NULL;
}

/* Where the label of an entry without quotes ends: at the last = before the comma, since labels may have one in them. */
static const char *end_of_plain(const char *text, bool number)
{
    const char *end = text + strcspn(text, ",");
    for (const char *at = end; number && at > text; at--)
        if (at[-1] == '=')
            return at - 1;
    return end;
}

/* Reads the entry at `text`; `label` has room for it. */
static struct entry read_entry(const char *text, bool number, char *label)
{
    struct entry entry = {.text = text};
    const char *end = *text == '"' ? unquote(text, label, &entry.label_length) : end_of_plain(text, number);
    if (end == NULL) {
        entry.length = strlen(text);
        return entry;
    }
    if (*text != '"') {
        entry.label_length = (size_t)(end - text);
        memcpy(label, text, entry.label_length);
    }
    size_t rest = strcspn(end, ",");
    entry.length = (size_t)(end - text) + rest;
    bool good = number ? rest > 1 && *end == '=' && ocdm__text_to_double(end + 1, rest - 1, &entry.number) : rest == 0;
    entry.label = good && entry.label_length > 0 ? label : NULL;
    return entry;
}

/* ---- the options -------------------------------------------------------------------------------------------------------- */

static ocdm_status take_entry(ocdm__sampling *sampling, enum option option, const struct entry *entry, ocdm_error *error)
{
    ocdm_memory *memory = sampling->memory;
    uint32_t number = 0, capacity = sampling->options.memory.capacity;
    int shown = (int)(entry->length < 100 ? entry->length : 100);
    double value = entry->number;
    /* In --min, a number alone is the minimum of every label that is not named. */
    bool for_all = option == MINIMUM && ocdm_memory_options(memory)->minimum == 0 && entry->label == NULL &&
                   ocdm__text_to_double(entry->text, entry->length, &value) && value > 0;
    if ((entry->label == NULL && !for_all) ||
        (option == MINIMUM && !(value >= 0 && value <= OCDM_MAX_CAPACITY && value == floor(value))))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, rows[option].hint, rows[option].trouble, shown, entry->text);
    if (option == MINIMUM && value > capacity)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a larger -m, or a smaller minimum",
                          "the minimum %.*s is more than the memory holds, %u records", shown, entry->text, capacity);
    if (for_all)
        return ocdm__memory_set_default_minimum(memory, (uint32_t)value, error);
    /* The label's number. An option names it once. */
    OCDM_TRY(ocdm__label_table_add(&sampling->records->table, entry->label, entry->label_length, &number, error));
    if (!ocdm__reserve_zeroed(&sampling->named, &sampling->named_count, (size_t)number + 1, 1))
        return ocdm__fail_memory(error, "the list of labels");
    if (sampling->named[number] & 1u << option)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave one of the two out", "%s names the label %s twice",
                          rows[option].flag, ocdm__show_label(entry->label, entry->label_length).text);
    sampling->named[number] |= (uint8_t)(1u << option);
    return option == WEIGHT    ? ocdm_memory_set_weight(memory, number, value, error)
           : option == MINIMUM ? ocdm_memory_set_minimum(memory, number, (uint32_t)value, error)
                               : OCDM_OK;
}

ocdm_status ocdm__take_label_options(ocdm__sampling *sampling, ocdm_error *error)
{
    const ocdm__sample_options *options = &sampling->options;
    const ocdm_options *memory = &options->memory;
    const char *const texts[OPTIONS] = {options->weights, options->minimums, options->ignore, options->only};
    if (options->ignore != NULL && options->only != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave one of the two out", "--ignore and --only are both given");
    if (options->minimums != NULL && ((memory->policy->traits & OCDM_BY_DISTANCE) == 0 || memory->distance != OCDM_KL))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --min out, or take -p ocdm --distance kl",
                          "--min works with the policies ocdm and onlyone and the distance kl only");
    ocdm_status status = OCDM_OK;
    for (enum option option = 0; option < OPTIONS && status == OCDM_OK; option++) {
        const char *text = texts[option];
        char *label = NULL;
        if (text != NULL)
            status = ocdm__new(&label, strlen(text) + 1, 1, "a label", error);
        while (text != NULL && status == OCDM_OK) {
            const struct entry entry = read_entry(text, rows[option].numbers, label);
            status = take_entry(sampling, option, &entry, error);
            text = text[entry.length] == ',' ? text + entry.length + 1 : NULL;
        }
        ocdm__release(label);
    }
    return status;
}

/* ---- while records are read --------------------------------------------------------------------------------------------- */

void ocdm__note_label(ocdm__sampling *sampling, uint32_t label)
{
    if (label < sampling->named_count)
        sampling->named[label] |= OCCURRED;
}

bool ocdm__drop_labels(ocdm__sampling *sampling, ocdm__record *record)
{
    const uint32_t *numbers = sampling->records->numbers + record->label_at;
    for (size_t i = 0; sampling->named_count > 0 && i < record->label_count; i++)
        ocdm__note_label(sampling, numbers[i]);
    if (sampling->options.ignore == NULL && sampling->options.only == NULL)
        return true;
    bool only = sampling->options.only != NULL;
    return ocdm__records_drop_labels(sampling->records, record, sampling->named, sampling->named_count,
                                     (uint8_t)(1u << (only ? ONLY : IGNORE)), !only) > 0;
}

/* ---- at the end --------------------------------------------------------------------------------------------------------- */

/* A label that an option names and no record had, `others` more like it, and the label that may be meant: one of those that
 * occurred, of which there are fewer, or none, without memory for them. */
static void warn_of(const ocdm__sampling *sampling, enum option option, uint32_t first, size_t others, ocdm__output *output)
{
    const ocdm__label_table *table = &sampling->records->table;
    const char **names = ocdm__allocate((size_t)table->count + 1, sizeof *names);
    char *bytes = ocdm__allocate(table->used + table->count + 1, 1), *used = bytes, word[64];
    size_t count = 0, length;
    for (uint32_t i = 0; names != NULL && bytes != NULL && i < table->count; i++) {
        const char *text = ocdm__label_table_text(table, i, &length);
        if (i < sampling->named_count && !(sampling->named[i] & OCCURRED))
            continue;
        memcpy(used, text, length); /* the allocation was zero */
        names[count++] = used;
        used += length + 1;
    }
    const char *text = ocdm__label_table_text(table, first, &length);
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
    const char *near = ocdm__suggest(word, names, count);
    ocdm__put(output, "warning: no record has the label %s of %s", ocdm__show_label(text, length).text, rows[option].flag);
    if (others > 0)
        ocdm__put(output, "; nor %zu more of its labels", others);
    if (near != NULL)
        ocdm__put(output, "; did you mean %s?", ocdm__show_label(near, strlen(near)).text);
    ocdm__output_text(output, "\n");
    OCDM_RELEASE(bytes, names);
}

/* The shards of a merge had the labels that --ignore names; what they kept need not. */
void ocdm__warn_of_labels(const ocdm__sampling *sampling, ocdm__output *output)
{
    for (enum option option = 0; option < OPTIONS; option++) {
        size_t missing = 0;
        uint32_t first = 0;
        for (uint32_t i = (uint32_t)sampling->named_count; i-- > 0;)
            if (sampling->named[i] & 1u << option && !(sampling->named[i] & OCCURRED)) {
                missing++;
                first = i;
            }
        if (missing > 0 && (sampling->options.shards == NULL || option != IGNORE))
            warn_of(sampling, option, first, missing - 1, output);
    }
}
