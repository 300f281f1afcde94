/* Parses command lines by a verb's table of flags, reads their values, suggests words, and writes command lines as text. */
#include "cli/flags.h"

#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "cli/console.h"

/* ---- the table ---------------------------------------------------------------------------------------------------------- */

/* The hint of most usage errors. */
static const char *help_hint(const ocdm__verb *verb)
{
    static char hint[128];
    snprintf(hint, sizeof hint, "`%s %s --help` lists what it takes", ocdm__program, verb->name);
    return hint;
}

/* The flag with this long name of `length` letters; NULL when there is none. */
static const ocdm__flag *find_flag(const ocdm__verb *verb, const char *name, size_t length)
{
    for (const ocdm__flag *flag = verb->flags; flag != NULL && flag->name != NULL; flag++)
        if (ocdm__text_is(name, length, flag->name))
            return flag;
    return NULL;
}

/* The place of the value of a flag. */
static const char **value_of(ocdm__arguments *arguments, const ocdm__flag *flag)
{
    return &arguments->values[flag - arguments->verb->flags];
}

/* ---- the command line --------------------------------------------------------------------------------------------------- */

/* The words after the verb: those before `next` have been read. */
struct words {
    char **argv;
    size_t count;
    size_t next;
};

/* The value of a flag: the attached text, otherwise the next word even if it starts with a dash (--rho -0.03). A flag that
 * needs no value takes a word only if it is one of the choices. */
static ocdm_status take_value(ocdm__arguments *arguments, const ocdm__flag *flag, const char *attached, struct words *words,
                              ocdm_error *error)
{
    const char *hint = help_hint(arguments->verb);
    bool last = words->next == words->count;
    if (attached == NULL && flag->alone != NULL &&
        (last || !ocdm__is_among(words->argv[words->next], ocdm__flag_choices(flag))))
        attached = flag->alone;
    if (attached == NULL && last)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--%s needs a value: --%s %s", flag->name, flag->name, flag->value);
    const char *value = attached != NULL ? attached : words->argv[words->next++];
    *value_of(arguments, flag) = value;
    if (!flag->repeats)
        return OCDM_OK;
    if (arguments->repeated_count == OCDM__MAX_REPEATS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--%s is given more than %d times", flag->name, OCDM__MAX_REPEATS);
    arguments->repeated[arguments->repeated_count++] = value;
    return OCDM_OK;
}

/* --name, --name=value, --name value; `word` is what follows the dashes. */
static ocdm_status read_long(ocdm__arguments *arguments, const char *word, struct words *words, ocdm_error *error)
{
    const ocdm__verb *verb = arguments->verb;
    size_t length = strcspn(word, "=");
    const char *attached = word[length] == '=' ? word + length + 1 : NULL;
    const ocdm__flag *flag = find_flag(verb, word, length);
    arguments->help = strcmp(word, "help") == 0;
    if (arguments->help)
        return OCDM_OK;
    if (flag != NULL && flag->value != NULL)
        return take_value(arguments, flag, attached, words, error);
    if (flag != NULL && attached != NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(verb), "--%s takes no value, but was given \"%s\"", flag->name,
                          attached);
    if (flag != NULL) {
        *value_of(arguments, flag) = "";
        return OCDM_OK;
    }
    /* No such name: the one that may be meant. */
    const char *names[OCDM__MAX_FLAGS + 1];
    size_t count = 0;
    char typed[64], hint[192] = "";
    for (flag = verb->flags; flag != NULL && flag->name != NULL; flag++)
        names[count++] = flag->name;
    names[count++] = "help";
    snprintf(typed, sizeof typed, "%.*s", (int)length, word);
    const char *near = length < sizeof typed ? ocdm__suggest(typed, names, count) : NULL;
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean --%s? ", near);
    ocdm__append(hint, sizeof hint, "%s", help_hint(verb));
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s %s has no flag --%.*s", ocdm__program, verb->name, (int)length, word);
}

/* -q, -m5, -m 5, -qm5; `word` is what follows the dash. */
static ocdm_status read_short(ocdm__arguments *arguments, const char *word, struct words *words, ocdm_error *error)
{
    const ocdm__verb *verb = arguments->verb;
    for (; *word != '\0' && !arguments->help; word++) {
        const ocdm__flag *flag = verb->flags;
        while (flag != NULL && flag->name != NULL && flag->letter != *word)
            flag++;
        bool found = flag != NULL && flag->name != NULL;
        arguments->help = !found && *word == 'h';
        if (found && flag->value != NULL)
            return take_value(arguments, flag, word[1] != '\0' ? word + 1 : NULL, words, error);
        if (found)
            *value_of(arguments, flag) = "";
        else if (!arguments->help)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(verb), "%s %s has no flag -%c", ocdm__program, verb->name,
                              *word);
    }
    return OCDM_OK;
}

ocdm_status ocdm__parse_arguments(const ocdm__verb *verb, size_t argc, char **argv, ocdm__arguments *arguments,
                                  ocdm_error *failure)
{
    *arguments = (ocdm__arguments){.verb = verb, .operands = argv, .failure = failure};
    *failure = (ocdm_error){.status = OCDM_OK};
    struct words words = {argv, argc, 0};
    bool flags_ended = false;
    while (!arguments->help && words.next < words.count) {
        char *word = argv[words.next++];
        bool operand = flags_ended || word[0] != '-' || word[1] == '\0';
        if (operand && arguments->operand_count == verb->operand_limit)
            return ocdm__fail(failure, OCDM_BAD_ARGUMENT, help_hint(verb), "\"%s\" is one argument too many: %s %s [FLAGS]%s%s",
                              word, ocdm__program, verb->name, verb->operands != NULL ? " " : "",
                              verb->operands != NULL ? verb->operands : "");
        if (operand)
            arguments->operands[arguments->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            flags_ended = true;
        else
            OCDM_TRY(word[1] == '-' ? read_long(arguments, word + 2, &words, failure)
                                    : read_short(arguments, word + 1, &words, failure));
    }
    return OCDM_OK;
}

int ocdm__run_verb(const ocdm__verb *verb, ocdm__arguments *arguments)
{
    ocdm__output out = {.buffer = NULL};
    ocdm_error error = {.message = ""};
    arguments->out = &out;
    ocdm_status status = ocdm__output_open_fd(&out, STDOUT_FILENO, "standard output", &error);
    OCDM_THEN(status, verb->run(arguments, &error));
    OCDM_THEN(status, ocdm__output_commit(&out, &error));
    ocdm__output_abandon(&out);
    arguments->out = NULL;
    if (status == OCDM_OK)
        return arguments->code != OCDM__EXIT_OK ? arguments->code : ocdm__finish_output();
    int code = status != OCDM_STOPPED || error.message[0] != '\0' ? ocdm__report(&error) : OCDM__EXIT_OK;
    return status == OCDM_STOPPED ? ocdm__exit_after_signal() : code;
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

bool ocdm__argument_given(const ocdm__arguments *arguments, const char *name)
{
    const ocdm__flag *flag = find_flag(arguments->verb, name, strlen(name));
    return flag != NULL && arguments->values[flag - arguments->verb->flags] != NULL;
}

const char *ocdm__argument_text(const ocdm__arguments *arguments, const char *name)
{
    const ocdm__flag *flag = find_flag(arguments->verb, name, strlen(name));
    const char *given = flag != NULL ? arguments->values[flag - arguments->verb->flags] : NULL;
    return given != NULL || flag == NULL ? given : flag->fallback;
}

const char *ocdm__first_operand(const ocdm__arguments *arguments)
{
    return arguments->operand_count > 0 ? arguments->operands[0] : NULL;
}

ocdm_status ocdm__need_stream(const ocdm__arguments *arguments, const char **path, ocdm_error *error)
{
    *path = ocdm__first_operand(arguments);
    return *path != NULL
               ? OCDM_OK
               : ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream build -o FILE` makes one", "no stream file is named");
}

ocdm_status ocdm__argument_fail(const ocdm__arguments *arguments, const char *message, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, help_hint(arguments->verb), "--%s", message);
}

ocdm_status ocdm__arguments_check(const ocdm__arguments *arguments, ocdm_error *error)
{
    if (arguments->failure->status != OCDM_OK && error != NULL)
        *error = *arguments->failure;
    return arguments->failure->status;
}

/* Keeps what is wrong with a flag, unless an earlier one was wrong: "--NAME" and the message. `hint` is NULL for the usual one.
 */
__attribute__((format(printf, 4, 5))) static void refuse(const ocdm__arguments *arguments, const char *name, const char *hint,
                                                         const char *format, ...)
{
    char message[512];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (arguments->failure->status == OCDM_OK)
        ocdm__fail(arguments->failure, OCDM_BAD_ARGUMENT, hint != NULL ? hint : help_hint(arguments->verb), "--%s%s", name,
                   message);
}

/* The given value or the default; NULL, and refused, if there is neither. */
static const char *required_text(const ocdm__arguments *arguments, const char *name)
{
    const char *text = ocdm__argument_text(arguments, name);
    if (text == NULL)
        refuse(arguments, name, NULL, " is required");
    return text;
}

uint64_t ocdm__argument_unsigned(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high)
{
    const char *text = required_text(arguments, name);
    uint64_t value = 0;
    if (text != NULL && !ocdm__text_to_whole(text, strlen(text), low, high, &value))
        refuse(arguments, name, NULL, " \"%s\": not a whole number from %" PRIu64 " to %" PRIu64, text, low, high);
    return value;
}

double ocdm__argument_real(const ocdm__arguments *arguments, const char *name, double low, double high)
{
    const char *text = required_text(arguments, name);
    double value = 0;
    if (text == NULL || (ocdm__text_to_double(text, strlen(text), &value) && value >= low && value <= high))
        return value;
    refuse(arguments, name, NULL, " \"%s\": not a number from %g to %g", text, low, high);
    return 0;
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

/* The position of a word of `length` letters among the choices of a flag. */
static size_t find_choice(const ocdm__arguments *arguments, const char *name, const char *word, size_t length)
{
    const char *const *choices = ocdm__flag_choices(find_flag(arguments->verb, name, strlen(name)));
    char copy[64], hint[256] = "";
    size_t count = 0;
    for (; choices[count] != NULL; count++)
        if (ocdm__text_is(word, length, choices[count]))
            return count;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), word);
    const char *near = ocdm__suggest(copy, choices, count);
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean %s? ", near);
    for (size_t i = 0; i < count; i++) /* "it takes a, b, c"; cut when it does not fit */
        ocdm__append(hint, sizeof hint, "%s%s", i > 0 ? ", " : near != NULL ? "It takes " : "it takes ", choices[i]);
    refuse(arguments, name, hint, " \"%s\": unknown %s", copy, name);
    return 0;
}

size_t ocdm__argument_choice(const ocdm__arguments *arguments, const char *name)
{
    const char *text = required_text(arguments, name);
    return text != NULL ? find_choice(arguments, name, text, strlen(text)) : 0;
}

/* The next item of a list, which begins at `*item`, and its length; NULL after the last, and when there are more than `room`.
 */
static const char *next_item(const ocdm__arguments *arguments, const char *name, const char **item, size_t *length,
                             size_t found, size_t room)
{
    const char *start = *item;
    if (start == NULL || arguments->failure->status != OCDM_OK)
        return NULL;
    if (found == room)
        refuse(arguments, name, NULL, ": more than %zu values", room);
    *length = strcspn(start, ",");
    *item = start[*length] == ',' ? start + *length + 1 : NULL;
    return found < room ? start : NULL;
}

size_t ocdm__argument_list(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high, uint64_t *values,
                           size_t room)
{
    const char *text = required_text(arguments, name), *next = text, *item;
    size_t found = 0, length;
    for (; (item = next_item(arguments, name, &next, &length, found, room)) != NULL; found++)
        if (!ocdm__text_to_whole(item, length, low, high, &values[found]))
            refuse(arguments, name, NULL, " \"%s\": \"%.*s\" is not a whole number from %" PRIu64 " to %" PRIu64, text,
                   (int)(length < 64 ? length : 64), item, low, high);
    return found;
}

size_t ocdm__argument_choices(const ocdm__arguments *arguments, const char *name, size_t *indices, size_t room)
{
    const char *next = required_text(arguments, name), *item;
    size_t found = 0, length;
    for (; (item = next_item(arguments, name, &next, &length, found, room)) != NULL; found++)
        indices[found] = find_choice(arguments, name, item, length);
    return found;
}

ocdm__record_options ocdm__argument_records(const ocdm__arguments *arguments, const char *hint)
{
    return (ocdm__record_options){.format = (enum ocdm__record_format)ocdm__argument_choice(arguments, "format"),
                                  .labels = ocdm__argument_text(arguments, "labels"),
                                  .id = ocdm__argument_text(arguments, "id"),
                                  .no_id = ocdm__argument_given(arguments, "no-id"),
                                  .separator = ocdm__argument_text(arguments, "sep"),
                                  .delimiter = ocdm__argument_text(arguments, "delimiter"),
                                  .label_form = (enum ocdm__label_form)ocdm__argument_choice(arguments, "label-form"),
                                  .one_hot = ocdm__argument_text(arguments, "one-hot"),
                                  .skip_bad = ocdm__argument_given(arguments, "skip-bad"),
                                  .hint = hint};
}

/* ---- a command line as text --------------------------------------------------------------------------------------------- */

/* A space and the word, without its folder, quoted if necessary; a quote inside quotes takes four characters. */
static void put_word(ocdm__output *out, const char *word)
{
    static const char harmless[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,:=+@%/";
    const char *slash = strrchr(word, '/');
    word = slash != NULL && slash[1] != '\0' ? slash + 1 : word;
    const char *quote = word[0] == '\0' || word[strspn(word, harmless)] != '\0' ? "'" : "";
    ocdm__output_text(out, " ");
    ocdm__output_text(out, quote);
    for (; *word != '\0'; word++)
        ocdm__output_write(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    ocdm__output_text(out, quote);
}

ocdm_status ocdm__command_text(const ocdm__arguments *arguments, const char *const *left_out, ocdm__output *command,
                               ocdm_error *error)
{
    const ocdm__flag *flags = arguments->verb->flags;
    OCDM_TRY(ocdm__output_open_memory(command, "the command", error));
    ocdm__put(command, "ocdm %s", arguments->verb->name);
    for (size_t i = 0; flags[i].name != NULL; i++) {
        if (arguments->values[i] == NULL || ocdm__is_among(flags[i].name, left_out))
            continue;
        ocdm__put(command, " --%s", flags[i].name);
        if (flags[i].value != NULL && arguments->values[i] != flags[i].alone)
            put_word(command, arguments->values[i]);
    }
    for (size_t i = 0; i < arguments->operand_count; i++)
        put_word(command, arguments->operands[i]);
    ocdm__output_write(command, "", 1);
    return ocdm__output_check(command, error);
}
