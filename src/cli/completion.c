/*
 * `ocdm completion SHELL`: a script for bash, zsh or fish that asks this program whenever a word is to be completed, by `ocdm
 * completion SHELL -- WORD...`: the words after `ocdm`, up to the one under the cursor, which may be empty. The answer has a
 * line for each word that may stand there, then a tab and what it means unless the shell is bash, which has no place for it; or
 * a line such as ":files 3" for names of files that complete what follows the first 3 characters of the word.
 */
#include "cli/verbs.h"

struct question {
    char *const *words; /* after `ocdm`, or after `ocdm help` */
    size_t count;
    const char *word; /* the last one, which is completed */
    size_t skip;      /* so many of its characters stay: the first values of a list, or "--flag=" */
    bool explain;     /* the meaning of words is asked for */
};

/* ---- answers ---------------------------------------------------------------------------------------------------------- */

static void offer(const struct question *question, const char *before, const char *word, size_t length, const char *meaning)
{
    char whole[80];
    const char *typed = question->word + question->skip;
    snprintf(whole, sizeof whole, "%s%.*s", before, (int)length, word);
    if (strncmp(whole, typed, strlen(typed)) != 0)
        return;
    printf("%.*s%s", (int)question->skip, question->word, whole);
    printf("%s%s\n", question->explain && meaning[0] != '\0' ? "\t" : "", question->explain ? meaning : "");
}

static void offer_words(const struct question *question, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        offer(question, "", words[i], strlen(words[i]), "");
}

/* Names of files, by what the tables call a value or an operand; false when it is not called a file. */
static bool offer_files(const struct question *question, const char *name)
{
    static const char *const kinds[][2] = {{"STREAM", "streams"}, {"FOLDER", "folders"}, {"DIR", "folders"},
                                           {"ROOT", "folders"},   {"FILE", "files"},     {NULL, NULL}};
    size_t i = 0;
    while (name != NULL && kinds[i][0] != NULL && strstr(name, kinds[i][0]) == NULL)
        i++;
    if (name == NULL || kinds[i][0] == NULL)
        return false;
    printf(":%s %zu\n", kinds[i][1], question->skip);
    return true;
}

/* The values of a list follow commas; in a list of NAME=FILE, they follow = too. */
static void offer_value(struct question *question, const ocdm__flag *flag)
{
    const char *separators = strchr(flag->value, ',') == NULL ? "" : strchr(flag->value, '=') == NULL ? "," : ",=";
    for (size_t i = question->skip; question->word[i] != '\0'; i++)
        if (strchr(separators, question->word[i]) != NULL)
            question->skip = i + 1;
    if (ocdm__flag_choices(flag) != NULL)
        offer_words(question, ocdm__flag_choices(flag));
    else
        (void)offer_files(question, flag->value);
}

/* ---- questions -------------------------------------------------------------------------------------------------------- */

/* The flag with a value that a word names, "--name" or "--name=..." or "-n"; NULL for none. */
static const ocdm__flag *find_flag(const ocdm__verb *verb, const char *word)
{
    size_t length = strcspn(word, "=");
    for (const ocdm__flag *flag = verb->flags; flag != NULL && flag->name != NULL && word[0] == '-' && length > 1; flag++)
        if (flag->value != NULL &&
            (word[1] == '-' ? strlen(flag->name) == length - 2 && strncmp(flag->name, word + 2, length - 2) == 0
                            : length == 2 && word[1] == flag->letter))
            return flag;
    return NULL;
}

/* Bash makes words of their own of every = and of what it separates. */
static void answer_for_verb(struct question *question, const ocdm__verb *verb, size_t used)
{
    const ocdm__flag *flag = NULL; /* that was last */
    bool due = false;              /* its value comes next */
    for (size_t i = used; i < question->count - 1; i++) {
        const char *word = question->words[i];
        if (flag != NULL && strcmp(word, "=") == 0) {
            due = true;
        } else if (due) {
            due = false;
        } else {
            flag = strchr(word, '=') == NULL ? find_flag(verb, word) : NULL;
            due = flag != NULL;
        }
    }
    if (flag != NULL && strcmp(question->word, "=") == 0) {
        question->word = "";
        due = true;
    }
    if (!due && strchr(question->word, '=') != NULL && (flag = find_flag(verb, question->word)) != NULL) {
        question->skip = strcspn(question->word, "=") + 1;
        due = true;
    }
    if (due) {
        offer_value(question, flag);
        return;
    }
    if (question->word[0] != '-' && verb->words != NULL) {
        offer_words(question, verb->words());
    } else if (question->word[0] == '-' || !offer_files(question, verb->operands)) {
        for (flag = verb->flags; flag != NULL && flag->name != NULL; flag++)
            offer(question, "--", flag->name, strlen(flag->name), flag->help);
        offer(question, "", "--help", 6, "print the help");
    }
}

static void answer(char *const *words, size_t count, bool explain)
{
    size_t used = 0;
    bool help = count > 1 && strcmp(words[0], ocdm__verb_help.name) == 0;
    struct question question = {words + help, count - help, words[count - 1], 0, explain};
    const ocdm__verb *verb = ocdm__find_verb(question.count - 1, question.words, &used);
    if (verb != NULL && !help)
        answer_for_verb(&question, verb, used);
    if (verb != NULL)
        return;
    /* The first words of verbs, or the second words of a family. */
    const char *last = "";
    for (size_t i = 0; question.count <= 2 && ocdm__verbs[i] != NULL; i++) {
        const ocdm__verb *each = ocdm__verbs[i];
        const char *name = question.count == 1 ? each->name : ocdm__second_word(each, question.words[0]);
        size_t length = name != NULL ? strcspn(name, " ") : 0;
        bool family = length > 0 && name[length] == ' ';
        if (length > 0 && (!family || ocdm__second_word(each, last) == NULL)) /* of a family once */
            offer(&question, "", name, length, family ? "a family of verbs" : each->summary);
        last = each->name;
    }
    if (!help && (question.count == 1 || (question.count == 2 && ocdm__is_verb_family(words[0]))))
        offer(&question, "", "--help", 6, "print the help");
    if (count == 1)
        offer(&question, "", "--version", 9, "print the version");
}

/* ---- the verb --------------------------------------------------------------------------------------------------------- */

/* completion.bash, completion.zsh and completion.fish (cmake/rest.cmake). */
extern const char ocdm__completion_bash[], ocdm__completion_zsh[], ocdm__completion_fish[];

static const char *const *shells(void)
{
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return names;
}

static ocdm_status run_completion(ocdm__arguments *arguments, ocdm_error *error)
{
    static const char *const scripts[] = {ocdm__completion_bash, ocdm__completion_zsh, ocdm__completion_fish};
    const char *shell = arguments->operand_count > 0 ? arguments->operands[0] : "";
    size_t i = 0;
    while (shells()[i] != NULL && strcmp(shell, shells()[i]) != 0)
        i++;
    if (shells()[i] == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "one of bash, zsh, fish",
                          "ocdm completion does not support the shell \"%s\"", shell);
    if (arguments->operand_count == 1)
        fputs(scripts[i], stdout);
    else
        answer(arguments->operands + 1, arguments->operand_count - 1, i > 0);
    return OCDM_OK;
}

const ocdm__verb ocdm__verb_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .operands = "bash|zsh|fish",
    .words = shells,
    .operand_limit = SIZE_MAX,
    .run = run_completion,
};
