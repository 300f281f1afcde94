/* Parses command lines by a verb's table of flags, reads their values, suggests words, and writes command lines as text. */
#include "cli/flags.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"

/* ---- the flags of a verb ------------------------------------------------------------------------------------------------ */

/* ---- the table ------------------------------------------------------------------------------------------------------ */

/* The hint of most usage errors. */
static const char *help_hint(const ocdm__verb *verb)
{
    static char hint[128];
    snprintf(hint, sizeof hint, "`%s %s --help` lists what it takes", ocdm__program, verb->name);
    return hint;
}

static size_t flag_count(const ocdm__verb *verb)
{
    size_t count = 0;
    while (verb->flags != NULL && verb->flags[count].name != NULL)
        count++;
    return count;
}

/* The position of the flag with this long name of `length` letters; flag_count when there is none. */
static size_t find_name(const ocdm__verb *verb, const char *name, size_t length)
{
    size_t count = flag_count(verb);
    for (size_t i = 0; i < count; i++)
        if (strlen(verb->flags[i].name) == length && memcmp(verb->flags[i].name, name, length) == 0)
            return i;
    return count;
}

static size_t find_letter(const ocdm__verb *verb, char letter)
{
    size_t count = flag_count(verb);
    for (size_t i = 0; i < count; i++)
        if (verb->flags[i].letter == letter)
            return i;
    return count;
}

/* ---- the command line ----------------------------------------------------------------------------------------------- */

/* The words after the verb: those before `next` have been read. */
struct words {
    char **argv;
    size_t count;
    size_t next;
};

static const char *nearest_flag(const ocdm__verb *verb, const char *name, size_t length)
{
    char word[64];
    if (length >= sizeof word)
        return NULL;
    memcpy(word, name, length);
    word[length] = '\0';
    const char *names[OCDM__MAX_FLAGS + 1];
    size_t count = flag_count(verb);
    for (size_t i = 0; i < count; i++)
        names[i] = verb->flags[i].name;
    names[count] = "help";
    return ocdm__suggest(word, names, count + 1);
}

/* Whether the next word is the value of a flag that needs none. */
static bool next_is_choice(const ocdm__flag *flag, const struct words *words)
{
    const char *const *choices = ocdm__flag_choices(flag);
    for (size_t i = 0; words->next < words->count && choices[i] != NULL; i++)
        if (strcmp(choices[i], words->argv[words->next]) == 0)
            return true;
    return false;
}

/* The value of a flag: the attached text, otherwise the next word even if it starts with a dash (--rho -0.03). */
static ocdm_status take_value(ocdm__arguments *arguments, size_t flag, const char *attached, struct words *words,
                              ocdm_error *error)
{
    const ocdm__flag *entry = &arguments->verb->flags[flag];
    if (attached == NULL && entry->alone != NULL && !next_is_choice(entry, words))
        attached = entry->alone;
    if (attached == NULL && words->next == words->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s needs a value: --%s %s", entry->name,
                          entry->name, entry->value);
    arguments->values[flag] = attached != NULL ? attached : words->argv[words->next++];
    if (!entry->repeats)
        return OCDM_OK;
    if (arguments->repeated_count == OCDM__MAX_REPEATS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s is given more than %d times", entry->name,
                          OCDM__MAX_REPEATS);
    arguments->repeated[arguments->repeated_count++] = arguments->values[flag];
    return OCDM_OK;
}

/* --name, --name=value, --name value; `word` is what follows the dashes. */
static ocdm_status read_long(ocdm__arguments *arguments, const char *word, struct words *words, ocdm_error *error)
{
    const ocdm__verb *verb = arguments->verb;
    size_t length = strcspn(word, "=");
    const char *attached = word[length] == '=' ? word + length + 1 : NULL;
    if (strcmp(word, "help") == 0) {
        arguments->help = true;
        return OCDM_OK;
    }
    size_t flag = find_name(verb, word, length);
    if (flag == flag_count(verb)) {
        const char *near = nearest_flag(verb, word, length);
        char hint[128];
        if (near != NULL)
            snprintf(hint, sizeof hint, "did you mean --%s? `%s %s --help` lists what it takes", near, ocdm__program,
                     verb->name);
        else
            snprintf(hint, sizeof hint, "%s", help_hint(verb));
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s %s has no flag --%.*s", ocdm__program, verb->name, (int)length,
                          word);
    }
    if (verb->flags[flag].value != NULL)
        return take_value(arguments, flag, attached, words, error);
    if (attached != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(verb), "--%s takes no value, but was given \"%s\"",
                          verb->flags[flag].name, attached);
    arguments->values[flag] = "";
    return OCDM_OK;
}

/* -q, -m5, -m 5, -qm5; `word` is what follows the dash. */
static ocdm_status read_short(ocdm__arguments *arguments, const char *word, struct words *words, ocdm_error *error)
{
    const ocdm__verb *verb = arguments->verb;
    for (; *word != '\0'; word++) {
        size_t flag = find_letter(verb, *word);
        if (flag < flag_count(verb) && verb->flags[flag].value != NULL)
            return take_value(arguments, flag, word[1] != '\0' ? word + 1 : NULL, words, error);
        if (flag < flag_count(verb)) {
            arguments->values[flag] = "";
        } else if (*word == 'h') {
            arguments->help = true;
            return OCDM_OK;
        } else {
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(verb), "%s %s has no flag -%c", ocdm__program, verb->name,
                              *word);
        }
    }
    return OCDM_OK;
}

static ocdm_status add_operand(ocdm__arguments *arguments, char *word, ocdm_error *error)
{
    const ocdm__verb *verb = arguments->verb;
    if (arguments->operand_count == verb->operand_limit)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(verb), "\"%s\" is one argument too many: %s %s%s%s", word,
                          ocdm__program, verb->name, verb->operands != NULL ? " [FLAGS] " : " [FLAGS]",
                          verb->operands != NULL ? verb->operands : "");
    arguments->operands[arguments->operand_count++] = word;
    return OCDM_OK;
}

ocdm_status ocdm__parse_arguments(const ocdm__verb *verb, size_t argc, char **argv, ocdm__arguments *arguments,
                                  ocdm_error *error)
{
    *arguments = (ocdm__arguments){.verb = verb, .operands = argv};
    struct words words = {argv, argc, 0};
    bool flags_ended = false;
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && !arguments->help && words.next < words.count) {
        char *word = argv[words.next++];
        if (flags_ended || word[0] != '-' || word[1] == '\0')
            status = add_operand(arguments, word, error);
        else if (strcmp(word, "--") == 0)
            flags_ended = true;
        else if (word[1] == '-')
            status = read_long(arguments, word + 2, &words, error);
        else
            status = read_short(arguments, word + 1, &words, error);
    }
    return status;
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

bool ocdm__argument_given(const ocdm__arguments *arguments, const char *name)
{
    size_t flag = find_name(arguments->verb, name, strlen(name));
    return flag < flag_count(arguments->verb) && arguments->values[flag] != NULL;
}

const char *ocdm__argument_text(const ocdm__arguments *arguments, const char *name)
{
    size_t flag = find_name(arguments->verb, name, strlen(name));
    if (flag == flag_count(arguments->verb))
        return NULL;
    return arguments->values[flag] != NULL ? arguments->values[flag] : arguments->verb->flags[flag].fallback;
}

ocdm_status ocdm__argument_fail(const ocdm__arguments *arguments, const char *message, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s", message);
}

/* The given value or the default; NULL with an error if there is neither. */
static const char *required_text(const ocdm__arguments *arguments, const char *name, ocdm_error *error)
{
    const char *text = ocdm__argument_text(arguments, name);
    if (text == NULL)
        ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s is required", name);
    return text;
}

ocdm_status ocdm__argument_unsigned(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high,
                                    uint64_t *value, ocdm_error *error)
{
    const char *text = required_text(arguments, name, error);
    if (text == NULL)
        return OCDM_BAD_ARGUMENT;
    if (!ocdm__text_to_whole(text, strlen(text), low, high, value))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb),
                          "--%s \"%s\": not a whole number from %" PRIu64 " to %" PRIu64, name, text, low, high);
    return OCDM_OK;
}

/* strtod alone would accept "nan", "inf", hexadecimal and leading blanks. */
static bool read_real(const char *text, double low, double high, double *value)
{
    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
        return false;
    char *end;
    double number = strtod(text, &end);
    if (*end != '\0' || !isfinite(number) || number < low || number > high)
        return false;
    *value = number;
    return true;
}

ocdm_status ocdm__argument_real(const ocdm__arguments *arguments, const char *name, double low, double high, double *value,
                                ocdm_error *error)
{
    const char *text = required_text(arguments, name, error);
    if (text == NULL)
        return OCDM_BAD_ARGUMENT;
    if (!read_real(text, low, high, value))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s \"%s\": not a number from %g to %g", name,
                          text, low, high);
    return OCDM_OK;
}

const char *const *ocdm__flag_choices(const ocdm__flag *flag)
{
    return flag->listed != NULL ? flag->listed() : flag->choices;
}

const char *const *ocdm__policy_choices(const char *names[OCDM__CHOICES], size_t first, uint32_t without)
{
    size_t count = first;
    for (size_t i = 0; ocdm_policy_at(i) != NULL && count < OCDM__CHOICES - 1; i++)
        if ((ocdm_policy_at(i)->traits & without) == 0)
            names[count++] = ocdm_policy_at(i)->name;
    names[count] = NULL;
    return names;
}

const char *const *ocdm__distance_choices(void)
{
    static const char *names[OCDM__CHOICES];
    for (int i = 0; i < OCDM__CHOICES - 1 && ocdm_distance_name((ocdm_distance)i) != NULL; i++)
        names[i] = ocdm_distance_name((ocdm_distance)i);
    return names;
}

const char *const *ocdm__tie_choices(void)
{
    static const char *names[OCDM__CHOICES];
    for (int i = 0; i < OCDM__CHOICES - 1 && ocdm_tie_name((ocdm_tie)i) != NULL; i++)
        names[i] = ocdm_tie_name((ocdm_tie)i);
    return names;
}

static size_t choice_count(const ocdm__flag *flag)
{
    size_t count = 0;
    const char *const *choices = ocdm__flag_choices(flag);
    while (choices != NULL && choices[count] != NULL)
        count++;
    return count;
}

/* The position of a word of `length` letters among the choices. */
static ocdm_status find_choice(const ocdm__flag *flag, const char *word, size_t length, size_t *index, ocdm_error *error)
{
    const char *const *choices = ocdm__flag_choices(flag);
    for (size_t i = 0; i < choice_count(flag); i++) {
        if (strlen(choices[i]) == length && memcmp(choices[i], word, length) == 0) {
            *index = i;
            return OCDM_OK;
        }
    }
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), word);
    char list[200];
    char hint[256];
    /* "a, b, c" into `list`; cut when it does not fit. */
    size_t room = sizeof list;
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < choice_count(flag) && used < room; i++)
        used += (size_t)snprintf(list + used, room - used, "%s%s", i == 0 ? "" : ", ", ocdm__flag_choices(flag)[i]);
    const char *near = ocdm__suggest(copy, ocdm__flag_choices(flag), choice_count(flag));
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean %s? It takes %s", near, list);
    else
        snprintf(hint, sizeof hint, "it takes %s", list);
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--%s \"%s\": unknown %s", flag->name, copy, flag->name);
}

ocdm_status ocdm__argument_choice(const ocdm__arguments *arguments, const char *name, size_t *index, ocdm_error *error)
{
    const char *text = required_text(arguments, name, error);
    if (text == NULL)
        return OCDM_BAD_ARGUMENT;
    size_t flag = find_name(arguments->verb, name, strlen(name));
    return find_choice(&arguments->verb->flags[flag], text, strlen(text), index, error);
}

static ocdm_status list_too_long(const ocdm__arguments *arguments, const char *name, size_t room, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s: more than %zu values", name, room);
}

ocdm_status ocdm__argument_records(const ocdm__arguments *arguments, ocdm__record_options *options, ocdm_error *error)
{
    size_t format = 0, form = 0;
    ocdm_status status = ocdm__argument_choice(arguments, "format", &format, error);
    OCDM_THEN(status, ocdm__argument_choice(arguments, "label-form", &form, error));
    options->format = (enum ocdm__record_format)format;
    options->labels = ocdm__argument_text(arguments, "labels");
    options->id = ocdm__argument_text(arguments, "id");
    options->no_id = ocdm__argument_given(arguments, "no-id");
    options->separator = ocdm__argument_text(arguments, "sep");
    options->delimiter = ocdm__argument_text(arguments, "delimiter");
    options->label_form = (enum ocdm__label_form)form;
    options->one_hot = ocdm__argument_text(arguments, "one-hot");
    options->skip_bad = ocdm__argument_given(arguments, "skip-bad");
    return status;
}

ocdm_status ocdm__argument_list(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high,
                                uint64_t *values, size_t room, size_t *count, ocdm_error *error)
{
    const char *text = required_text(arguments, name, error);
    if (text == NULL)
        return OCDM_BAD_ARGUMENT;
    size_t found = 0;
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        if (found == room)
            return list_too_long(arguments, name, room, error);
        if (!ocdm__text_to_whole(item, length, low, high, &values[found++]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb),
                              "--%s \"%s\": \"%.*s\" is not a whole number from %" PRIu64 " to %" PRIu64, name, text,
                              (int)(length < 64 ? length : 64), item, low, high);
        item += length;
        if (*item == '\0')
            break;
    }
    *count = found;
    return OCDM_OK;
}

ocdm_status ocdm__argument_choices(const ocdm__arguments *arguments, const char *name, size_t *indices, size_t room,
                                   size_t *count, ocdm_error *error)
{
    const char *text = required_text(arguments, name, error);
    if (text == NULL)
        return OCDM_BAD_ARGUMENT;
    size_t flag = find_name(arguments->verb, name, strlen(name));
    size_t found = 0;
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        if (found == room)
            return list_too_long(arguments, name, room, error);
        ocdm_status status = find_choice(&arguments->verb->flags[flag], item, length, &indices[found++], error);
        if (status != OCDM_OK)
            return status;
        item += length;
        if (*item == '\0')
            break;
    }
    *count = found;
    return OCDM_OK;
}

/* ---- a command line as text --------------------------------------------------------------------------------------------- */

static bool needs_quotes(const char *word)
{
    return word[0] == '\0' ||
           word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,:=+@%/")] != '\0';
}

static char *append(char *end, const char *text)
{
    size_t length = strlen(text);
    memcpy(end, text, length + 1);
    return end + length;
}

/* A space and the word; a quote inside quotes takes four characters. */
static char *append_word(char *end, const char *word)
{
    const char *quote = needs_quotes(word) ? "'" : "";
    end = append(append(end, " "), quote);
    for (; *word != '\0'; word++) {
        const char one[2] = {*word, '\0'};
        end = append(end, *word == '\'' ? "'\\''" : one);
    }
    return append(end, quote);
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_told(const ocdm__arguments *arguments, size_t flag, const char *const *left_out)
{
    for (; *left_out != NULL; left_out++)
        if (strcmp(arguments->verb->flags[flag].name, *left_out) == 0)
            return false;
    return arguments->values[flag] != NULL;
}

static size_t room_for(const ocdm__arguments *arguments)
{
    const ocdm__flag *flags = arguments->verb->flags;
    size_t room = strlen(arguments->verb->name) + 16;
    for (size_t i = 0; flags[i].name != NULL; i++)
        room += 16 + strlen(flags[i].name) + (arguments->values[i] != NULL ? 4 * strlen(arguments->values[i]) : 0);
    for (size_t i = 0; i < arguments->operand_count; i++)
        room += 4 + 4 * strlen(arguments->operands[i]);
    return room;
}

ocdm_status ocdm__command_text(const ocdm__arguments *arguments, const char *const *left_out, char **command, ocdm_error *error)
{
    const ocdm__flag *flags = arguments->verb->flags;
    char *text = ocdm__allocate(room_for(arguments), 1);
    if (text == NULL)
        return ocdm__fail_memory(error, "the command");
    char *end = append(append(text, "ocdm "), arguments->verb->name);
    for (size_t i = 0; flags[i].name != NULL; i++) {
        if (!is_told(arguments, i, left_out))
            continue;
        end = append(append(end, " --"), flags[i].name);
        if (flags[i].value != NULL && arguments->values[i] != flags[i].alone)
            end = append_word(end, without_folder(arguments->values[i]));
    }
    for (size_t i = 0; i < arguments->operand_count; i++)
        end = append_word(end, without_folder(arguments->operands[i]));
    *command = text;
    return OCDM_OK;
}
