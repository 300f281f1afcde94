/* Finding the verb of a command line in the program's table, and running it. */
#include "cli/verbs.h"
#include "ranks/ranks.h"

#include "base/text.h"
#include "cli/console.h"
#include "cli/flags.h"

/* The most verbs that a table may have. */
#define MOST_VERBS 64

const ocdm__verb *ocdm__find_verb(size_t argc, char *const *argv, size_t *used)
{
    for (size_t i = 0; argc > 0 && ocdm__verbs[i] != NULL; i++) {
        const char *name = ocdm__verbs[i]->name;
        size_t first = strcspn(name, " ");
        *used = name[first] == '\0' ? 1 : 2;
        if (ocdm__text_is(name, first, argv[0]) &&
            (name[first] == '\0' || (argc > 1 && strcmp(argv[1], name + first + 1) == 0)))
            return ocdm__verbs[i];
    }
    return NULL;
}

const char *ocdm__second_word(const ocdm__verb *verb, const char *family)
{
    size_t length = strcspn(family, " ");
    return strncmp(verb->name, family, length) == 0 && verb->name[length] == ' ' ? verb->name + length + 1 : NULL;
}

bool ocdm__is_verb_family(const char *word)
{
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (strchr(word, ' ') == NULL && ocdm__second_word(ocdm__verbs[i], word) != NULL)
            return true;
    return false;
}

ocdm_status ocdm__refuse_verb(size_t argc, char *const *argv, ocdm_error *error)
{
    char typed[80], hint[200] = "";
    bool family = ocdm__is_verb_family(argv[0]);
    if (family && (argc == 1 || argv[1][0] == '-')) {
        for (size_t i = 0; ocdm__verbs[i] != NULL; i++) { /* "one of memory, gap" */
            const char *second = ocdm__second_word(ocdm__verbs[i], argv[0]);
            if (second != NULL)
                ocdm__append(hint, sizeof hint, "%s%s", hint[0] == '\0' ? "one of " : ", ", second);
        }
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s %s needs a second word", ocdm__program, argv[0]);
    }
    snprintf(typed, sizeof typed, "%s%s%s", argv[0], family ? " " : "", family ? argv[1] : "");
    /* The verb or the family whose name is nearest to what was typed. */
    char families[MOST_VERBS][32];
    const char *names[2 * MOST_VERBS];
    size_t count = 0;
    for (size_t i = 0; i < MOST_VERBS && ocdm__verbs[i] != NULL; i++) {
        const char *name = ocdm__verbs[i]->name;
        snprintf(families[i], sizeof families[i], "%.*s", (int)strcspn(name, " "), name);
        names[count++] = name;
        names[count++] = families[i];
    }
    const char *near = ocdm__suggest(typed, names, count);
    for (size_t i = 0; near != NULL && ocdm__verbs[i] != NULL && hint[0] == '\0'; i++)
        if (strncmp(ocdm__verbs[i]->name, near, strlen(near)) == 0)
            snprintf(hint, sizeof hint, "did you mean `%s %s`? ", ocdm__program, ocdm__verbs[i]->name);
    ocdm__append(hint, sizeof hint, "`%s --help` lists the verbs", ocdm__program);
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "there is no verb \"%s\"", typed);
}

int ocdm__run_command(size_t argc, char **argv)
{
    ocdm_error error;
    size_t used = 0;
    if (argc == 0) {
        ocdm__print_overview(stderr);
        return OCDM__EXIT_USAGE;
    }
    const ocdm__verb *verb = ocdm__find_verb(argc, argv, &used);
    if (verb != NULL) {
        ocdm__arguments arguments;
        if (ocdm__parse_arguments(verb, argc - used, argv + used, &arguments, &error) != OCDM_OK)
            return ocdm__report(&error);
        if (arguments.help) {
            ocdm__print_verb_help(verb, stdout);
            return OCDM__EXIT_OK;
        }
        if (ocdm__ranks_all()->size == 1 || verb->distributes)
            return ocdm__run_verb(verb, &arguments);
        ocdm__fail(&error, OCDM_BAD_ARGUMENT, "start it without mpirun", "`%s %s` works on one rank, not on %zu", ocdm__program,
                   verb->name, ocdm__ranks_all()->size);
        return ocdm__report(&error);
    }
    if (argv[0][0] == '-') {
        /* `ocdm --help`, `ocdm --version`: the flags that need no verb. */
        if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
            ocdm__print_overview(stdout);
            return OCDM__EXIT_OK;
        }
        if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0) {
            printf("%s %s\n", ocdm__program, ocdm_version());
            return OCDM__EXIT_OK;
        }
        char hint[80];
        snprintf(hint, sizeof hint, "flags come after the verb: `%s --help`", ocdm__program);
        ocdm__fail(&error, OCDM_BAD_ARGUMENT, hint, "%s itself has no flag %s", ocdm__program, argv[0]);
        return ocdm__report(&error);
    }
    if (argc > 1 && ocdm__is_verb_family(argv[0]) && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        ocdm__print_family(argv[0], stdout);
        return OCDM__EXIT_OK;
    }
    ocdm__refuse_verb(argc, argv, &error);
    return ocdm__report(&error);
}

/* Rank 0 alone reports words that are wrong. */
void ocdm__follow_command(size_t argc, char **argv)
{
    size_t used = 0;
    ocdm__arguments arguments;
    ocdm_error error;
    const ocdm__verb *verb = ocdm__find_verb(argc, argv, &used);
    if (verb == NULL || verb->follow == NULL)
        return;
    if (ocdm__parse_arguments(verb, argc - used, argv + used, &arguments, &error) == OCDM_OK && !arguments.help)
        verb->follow(&arguments);
}
