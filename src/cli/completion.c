/* `ocdm completion SHELL`: the tables of verbs and flags as completion scripts for bash, zsh and fish. */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/console.h"

/* By convention of the tables, a value or operand that names a file has FILE in its name. */
static bool names_file(const char *text)
{
    return text != NULL && strstr(text, "FILE") != NULL;
}

/* The words that an operand of the verb may be, or NULL. */
static const char *operand_words(const ocdm__verb *verb)
{
    if (verb == &ocdm__verb_completion)
        return "bash zsh fish";
    return NULL;
}

/* Text inside single quotes of a shell; `special` characters get a backslash. */
static void quoted(const char *text, const char *special, const char *apostrophe, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs(apostrophe, out);
        else if (strchr(special, *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_choices(const ocdm__flag *flag, FILE *out)
{
    const char *const *choices = ocdm__flag_choices(flag);
    for (size_t i = 0; choices[i] != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", choices[i]);
}

/* ---- words of verbs ------------------------------------------------------------------------------------------------- */

/* Whether verb i is the first with its first word. */
static bool first_of_family(size_t i)
{
    size_t length = strcspn(ocdm__verbs[i]->name, " ");
    for (size_t j = 0; j < i; j++)
        if (strcspn(ocdm__verbs[j]->name, " ") == length && strncmp(ocdm__verbs[j]->name, ocdm__verbs[i]->name, length) == 0)
            return false;
    return true;
}

static bool has_two_words(const ocdm__verb *verb)
{
    return strchr(verb->name, ' ') != NULL;
}

static void print_first_words(FILE *out)
{
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (first_of_family(i))
            fprintf(out, "%.*s ", (int)strcspn(ocdm__verbs[i]->name, " "), ocdm__verbs[i]->name);
}

static void print_second_words(const ocdm__verb *first, FILE *out)
{
    size_t length = strcspn(first->name, " ");
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (strncmp(ocdm__verbs[i]->name, first->name, length + 1) == 0)
            fprintf(out, "%s ", ocdm__verbs[i]->name + length + 1);
}

/* ---- bash ----------------------------------------------------------------------------------------------------------- */

static void bash_flag_value(const ocdm__flag *flag, FILE *out)
{
    if (flag->value == NULL)
        return;
    fputs("        ", out);
    if (flag->letter != '\0')
        fprintf(out, "-%c|", flag->letter);
    fprintf(out, "--%s) ", flag->name);
    if (ocdm__flag_choices(flag) != NULL) {
        fputs("COMPREPLY=($(compgen -W '", out);
        print_choices(flag, out);
        fputs("' -- \"$cur\")); ", out);
    } else if (names_file(flag->value)) {
        fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); ", out);
    }
    fputs("return ;;\n", out);
}

static void bash_verb(const ocdm__verb *verb, FILE *out)
{
    fprintf(out, "    '%s')\n        case $prev in\n", verb->name);
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        bash_flag_value(&verb->flags[i], out);
    fputs("        esac\n        words='--help", out);
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        fprintf(out, " --%s", verb->flags[i].name);
    fputs("'\n", out);
    if (operand_words(verb) != NULL)
        fprintf(out, "        [[ $cur == -* ]] || words='%s'\n", operand_words(verb));
    else if (names_file(verb->operands))
        fputs("        [[ $cur == -* ]] || { mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return; }\n", out);
    fputs("        ;;\n", out);
}

static void bash_script(FILE *out)
{
    fputs("# bash completion of ocdm: source it, or put it where bash-completion looks\n"
          "_ocdm() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=\n"
          "    if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    print_first_words(out);
    fputs("--help --version' -- \"$cur\"))\n        return\n    fi\n    case $verb in\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        if (!has_two_words(ocdm__verbs[i]) || !first_of_family(i))
            continue;
        fprintf(out, "    %.*s)\n        if ((COMP_CWORD == 2)); then words='", (int)strcspn(ocdm__verbs[i]->name, " "),
                ocdm__verbs[i]->name);
        print_second_words(ocdm__verbs[i], out);
        fputs("--help'; else verb=\"$verb ${COMP_WORDS[2]}\"; fi ;;\n", out);
    }
    fputs("    help) words='", out);
    print_first_words(out);
    fputs("' ;;\n    esac\n    case $verb in\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (ocdm__verbs[i] != &ocdm__verb_help)
            bash_verb(ocdm__verbs[i], out);
    fputs("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
          "complete -o filenames -F _ocdm ocdm\n",
          out);
}

/* ---- zsh ------------------------------------------------------------------------------------------------------------ */

static void zsh_flag(const ocdm__flag *flag, FILE *out)
{
    const char *equals = flag->value != NULL ? "=" : "";
    fputs(" \\\n            ", out);
    if (flag->letter != '\0')
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}", flag->letter, flag->name, flag->letter, flag->value != NULL ? "+" : "",
                flag->name, equals);
    else
        fprintf(out, "--%s%s", flag->name, equals);
    fputs("'[", out);
    quoted(flag->help, "[]:\\", "'\\''", out);
    fputc(']', out);
    if (flag->value != NULL) {
        fprintf(out, ":%s:", flag->value);
        if (ocdm__flag_choices(flag) != NULL) {
            fputc('(', out);
            print_choices(flag, out);
            fputc(')', out);
        } else if (names_file(flag->value)) {
            fputs("_files", out);
        }
    }
    fputc('\'', out);
}

static void zsh_verb(const ocdm__verb *verb, FILE *out)
{
    fprintf(out, "        '%s')\n            _arguments -s '(-h --help)'{-h,--help}'[print the help]'", verb->name);
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        zsh_flag(&verb->flags[i], out);
    if (operand_words(verb) != NULL)
        fprintf(out, " \\\n            '1:word:(%s)'", operand_words(verb));
    else if (names_file(verb->operands))
        fputs(" \\\n            '*:file:_files'", out);
    fputs(" ;;\n", out);
}

static void zsh_script(FILE *out)
{
    fputs("#compdef ocdm\n"
          "_ocdm() {\n"
          "    local verb=$words[2]\n"
          "    local -a verbs\n"
          "    if ((CURRENT == 2)); then\n"
          "        verbs=(",
          out);
    print_first_words(out);
    fputs("--help --version)\n        _describe verb verbs\n        return\n    fi\n    case $verb in\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        if (!has_two_words(ocdm__verbs[i]) || !first_of_family(i))
            continue;
        fprintf(out, "        %.*s)\n            if ((CURRENT == 3)); then\n                verbs=(",
                (int)strcspn(ocdm__verbs[i]->name, " "), ocdm__verbs[i]->name);
        print_second_words(ocdm__verbs[i], out);
        fputs("--help)\n                _describe verb verbs\n                return\n            fi\n"
              "            verb=\"$verb $words[3]\"\n            shift words\n            ((CURRENT--)) ;;\n",
              out);
    }
    fputs("        help)\n            verbs=(", out);
    print_first_words(out);
    fputs(")\n            _describe verb verbs\n            return ;;\n    esac\n"
          "    shift words\n    ((CURRENT--))\n    case $verb in\n",
          out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (ocdm__verbs[i] != &ocdm__verb_help)
            zsh_verb(ocdm__verbs[i], out);
    fputs("    esac\n}\n"
          "if [ \"$funcstack[1]\" = _ocdm ]; then _ocdm \"$@\"; else compdef _ocdm ocdm; fi\n",
          out);
}

/* ---- fish ----------------------------------------------------------------------------------------------------------- */

/* A condition that holds behind this verb. */
static void fish_behind(const char *name, FILE *out)
{
    size_t first = strcspn(name, " ");
    fprintf(out, "complete -c ocdm -n '__fish_seen_subcommand_from %.*s", (int)first, name);
    if (name[first] == ' ')
        fprintf(out, "; and __fish_seen_subcommand_from %s", name + first + 1);
    fputc('\'', out);
}

static void fish_flag(const ocdm__verb *verb, const ocdm__flag *flag, FILE *out)
{
    fish_behind(verb->name, out);
    fprintf(out, " -l %s", flag->name);
    if (flag->letter != '\0')
        fprintf(out, " -s %c", flag->letter);
    if (ocdm__flag_choices(flag) != NULL) {
        fputs(" -x -a '", out);
        print_choices(flag, out);
        fputc('\'', out);
    } else if (flag->value != NULL) {
        fputs(names_file(flag->value) ? " -r -F" : " -x", out);
    }
    fputs(" -d '", out);
    quoted(flag->help, "\\", "\\'", out);
    fputs("'\n", out);
}

static void fish_verb(size_t index, FILE *out)
{
    const ocdm__verb *verb = ocdm__verbs[index];
    size_t first = strcspn(verb->name, " ");
    if (first_of_family(index))
        fprintf(out, "complete -c ocdm -n __fish_use_subcommand -a %.*s -d '%s'\n", (int)first, verb->name,
                has_two_words(verb) ? "a family of verbs" : verb->summary);
    if (has_two_words(verb) && first_of_family(index)) {
        fprintf(out, "complete -c ocdm -n '__fish_seen_subcommand_from %.*s; and not __fish_seen_subcommand_from ", (int)first,
                verb->name);
        print_second_words(verb, out);
        fputs("' -a '", out);
        print_second_words(verb, out);
        fputs("'\n", out);
    }
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        fish_flag(verb, &verb->flags[i], out);
    if (operand_words(verb) != NULL) {
        fish_behind(verb->name, out);
        fprintf(out, " -a '%s'\n", operand_words(verb));
    } else if (names_file(verb->operands)) {
        fish_behind(verb->name, out);
        fputs(" -F\n", out);
    }
}

static void fish_script(FILE *out)
{
    fputs("complete -c ocdm -f\n"
          "complete -c ocdm -s h -l help -d 'print the help'\n"
          "complete -c ocdm -n __fish_use_subcommand -l version -d 'print the version'\n",
          out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        fish_verb(i, out);
}

/* ---- the verb ------------------------------------------------------------------------------------------------------- */

static int run_completion(const ocdm__arguments *arguments)
{
    static const char *const names[] = {"bash", "zsh", "fish"};
    static void (*const scripts[])(FILE *) = {bash_script, zsh_script, fish_script};
    const char *shell = arguments->operand_count > 0 ? arguments->operands[0] : "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(shell, names[i]) == 0) {
            scripts[i](stdout);
            return OCDM__EXIT_OK;
        }
    }
    ocdm_error error;
    ocdm__fail(&error, OCDM_BAD_ARGUMENT, "one of bash, zsh, fish", "ocdm completion does not support the shell \"%s\"", shell);
    return ocdm__report(&error);
}

const ocdm__verb ocdm__verb_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .operands = "bash|zsh|fish",
    .operand_limit = 1,
    .description = (const char *const[]){"Prints a script that completes the verbs, flags and choices of ocdm.", NULL},
    .examples = (const ocdm__example[]){{"bash, for this session", "source <(ocdm completion bash)"},
                                        {"fish, permanently", "ocdm completion fish > ~/.config/fish/completions/ocdm.fish"},
                                        {NULL, NULL}},
    .run = run_completion,
};
