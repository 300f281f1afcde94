/* `ocdm completion SHELL`: the tables of verbs and flags as completion scripts for bash, zsh and fish. */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* What completes a value or an operand, by what the tables call it. */
enum kind { NOTHING, FILES, STREAMS, FOLDERS };

static enum kind kind_of(const char *text)
{
    if (text == NULL)
        return NOTHING;
    if (strstr(text, "STREAM") != NULL)
        return STREAMS;
    if (strstr(text, "FOLDER") != NULL || strstr(text, "DIR") != NULL || strstr(text, "ROOT") != NULL)
        return FOLDERS;
    return strstr(text, "FILE") != NULL ? FILES : NOTHING;
}

/* Whether several values may follow each other with commas. */
static bool is_list(const char *text)
{
    return strchr(text, ',') != NULL;
}

/* Whether a list names what each file is for: NAME=FILE,NAME=FILE. */
static const char *separators(const char *text)
{
    return strchr(text, '=') != NULL ? ",=" : ",";
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

static void print_words(const char *const *words, FILE *out)
{
    for (size_t i = 0; words[i] != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", words[i]);
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

/* The next verb, from `*i` on, that is the first of a family; NULL after the last. */
static const ocdm__verb *next_family(size_t *i)
{
    while (ocdm__verbs[*i] != NULL && !(has_two_words(ocdm__verbs[*i]) && first_of_family(*i)))
        ++*i;
    return ocdm__verbs[*i] != NULL ? ocdm__verbs[(*i)++] : NULL;
}

static int family_length(const ocdm__verb *verb)
{
    return (int)strcspn(verb->name, " ");
}

/* ---- bash ----------------------------------------------------------------------------------------------------------- */

/* A call of the function that completes this kind, for what is after the last separator of a list. */
static void bash_kind(enum kind kind, const char *value, FILE *out)
{
    static const char *const flags[] = {[FILES] = "-f", [STREAMS] = "-f -X '!*.safetensors'", [FOLDERS] = "-d"};
    fprintf(out, "_ocdm_paths '%s' %s", is_list(value) ? separators(value) : "", flags[kind]);
    fputs(kind == STREAMS ? "; _ocdm_folders" : "", out);
}

static void bash_flag_value(const ocdm__flag *flag, FILE *out)
{
    if (flag->value == NULL)
        return;
    fputs("        ", out);
    if (flag->letter != '\0')
        fprintf(out, "-%c|", flag->letter);
    fprintf(out, "--%s) ", flag->name);
    if (ocdm__flag_choices(flag) != NULL) {
        fprintf(out, "_ocdm_words '%s' '", is_list(flag->value) ? "," : "");
        print_words(ocdm__flag_choices(flag), out);
        fputs("'; ", out);
    } else if (kind_of(flag->value) != NOTHING) {
        bash_kind(kind_of(flag->value), flag->value, out);
        fputs("; ", out);
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
    if (verb->words != NULL) {
        fputs("        [[ $cur == -* ]] || words='", out);
        print_words(verb->words(), out);
        fputs("'\n", out);
    } else if (kind_of(verb->operands) != NOTHING) {
        fputs("        [[ $cur == -* ]] || { ", out);
        bash_kind(kind_of(verb->operands), "", out);
        fputs("; return; }\n", out);
    }
    fputs("        ;;\n", out);
}

static const char bash_functions[] =
    "# bash completion of ocdm: source it, or put it where bash-completion looks\n"
    "# _ocdm_words SEPARATORS WORDS, _ocdm_paths SEPARATORS FLAGS...: what follows the last separator of $cur\n"
    "_ocdm_words() {\n"
    "    local part=$cur\n"
    "    [[ -z $1 ]] || part=${cur##*[\"$1\"]}\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"${cur%\"$part\"}\" -W \"$2\" -- \"$part\")\n"
    "}\n"
    "_ocdm_paths() {\n"
    "    local part=$cur\n"
    "    [[ -z $1 ]] || part=${cur##*[\"$1\"]}\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"${cur%\"$part\"}\" \"${@:2}\" -- \"$part\")\n"
    "}\n"
    "_ocdm_folders() {\n"
    "    local found\n"
    "    mapfile -t found < <(compgen -d -- \"$cur\")\n"
    "    COMPREPLY+=(\"${found[@]}\")\n"
    "}\n"
    "_ocdm() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words= i=$((COMP_CWORD-1))\n"
    "    [[ $cur != '=' ]] || { cur=; i=$COMP_CWORD; }\n"
    "    while ((i > 1)) && [[ ${COMP_WORDS[i]} == '=' ]]; do\n"
    "        ((i -= 1)); prev=${COMP_WORDS[i]}\n"
    "        [[ $prev != -* ]] || break\n"
    "        ((i -= 1)); prev=${COMP_WORDS[i]}\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        COMPREPLY=($(compgen -W '";

static void bash_script(FILE *out)
{
    fputs(bash_functions, out);
    print_first_words(out);
    fputs("--help --version' -- \"$cur\"))\n        return\n    fi\n    case $verb in\n", out);
    /* Sets the verb of two words, or the words that may be its second one. */
    const ocdm__verb *verb;
    for (size_t i = 0; (verb = next_family(&i)) != NULL;) {
        fprintf(out, "    %.*s)\n        if ((COMP_CWORD == 2)); then words='", family_length(verb), verb->name);
        print_second_words(verb, out);
        fputs("--help'; else verb=\"$verb ${COMP_WORDS[2]}\"; fi ;;\n", out);
    }
    fputs("    help)\n        case $COMP_CWORD-${COMP_WORDS[2]} in\n        2-*) words='", out);
    print_first_words(out);
    fputs("' ;;\n", out);
    for (size_t i = 0; (verb = next_family(&i)) != NULL;) {
        fprintf(out, "        3-%.*s) words='", family_length(verb), verb->name);
        print_second_words(verb, out);
        fputs("' ;;\n", out);
    }
    fputs("        esac ;;\n", out);
    fputs("    esac\n    case $verb in\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (ocdm__verbs[i] != &ocdm__verb_help)
            bash_verb(ocdm__verbs[i], out);
    fputs("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
          "complete -o filenames -F _ocdm ocdm\n",
          out);
}

/* ---- zsh ------------------------------------------------------------------------------------------------------------ */

static void zsh_kind(enum kind kind, const char *value, FILE *out)
{
    static const char *const actions[] = {
        [FILES] = "_files", [STREAMS] = "_files -g \"*.safetensors(-.)\"", [FOLDERS] = "_files -/"};
    if (is_list(value))
        fprintf(out, "{compset -P \"*[%s]\"; %s}", separators(value), actions[kind]);
    else
        fputs(actions[kind], out);
}

static void zsh_value(const ocdm__flag *flag, FILE *out)
{
    const char *const *choices = ocdm__flag_choices(flag);
    fputc(':', out);
    quoted(flag->value, "[]:\\", "'\\''", out);
    fputc(':', out);
    if (choices != NULL) {
        fputs(is_list(flag->value) ? "_values -s , word " : "(", out);
        print_words(choices, out);
        fputs(is_list(flag->value) ? "" : ")", out);
    } else if (kind_of(flag->value) != NOTHING) {
        zsh_kind(kind_of(flag->value), flag->value, out);
    }
}

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
    if (flag->value != NULL)
        zsh_value(flag, out);
    fputc('\'', out);
}

static void zsh_verb(const ocdm__verb *verb, FILE *out)
{
    fprintf(out, "        '%s')\n            _arguments -s '(-h --help)'{-h,--help}'[print the help]'", verb->name);
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        zsh_flag(&verb->flags[i], out);
    if (verb->words != NULL) {
        fputs(" \\\n            '1:word:(", out);
        print_words(verb->words(), out);
        fputs(")'", out);
    } else if (kind_of(verb->operands) != NOTHING) {
        fputs(" \\\n            '*:file:", out);
        zsh_kind(kind_of(verb->operands), "", out);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

/* The second words of each family: behind the family itself, and behind `help`. */
static void zsh_families(bool help, FILE *out)
{
    const ocdm__verb *verb;
    for (size_t i = 0; (verb = next_family(&i)) != NULL;) {
        fprintf(out,
                help ? "            4-%.*s) verbs=("
                     : "        %.*s)\n            if ((CURRENT == 3)); then\n                verbs=(",
                family_length(verb), verb->name);
        print_second_words(verb, out);
        fputs(help ? ") ;;\n"
                   : "--help)\n                _describe verb verbs\n                return\n            fi\n"
                     "            verb=\"$verb $words[3]\"\n            shift words\n            ((CURRENT--)) ;;\n",
              out);
    }
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
    zsh_families(false, out);
    fputs("        help)\n            case $CURRENT-$words[3] in\n            3-*) verbs=(", out);
    print_first_words(out);
    fputs(") ;;\n", out);
    zsh_families(true, out);
    fputs("            esac\n            _describe verb verbs\n            return ;;\n    esac\n"
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

static void fish_kind(enum kind kind, FILE *out)
{
    static const char *const ways[] = {[NOTHING] = " -x",
                                       [FILES] = " -r -F",
                                       [STREAMS] = " -x -a '(__fish_complete_suffix .safetensors)'",
                                       [FOLDERS] = " -x -a '(__fish_complete_directories)'"};
    fputs(ways[kind], out);
}

static void fish_flag(const ocdm__verb *verb, const ocdm__flag *flag, FILE *out)
{
    fish_behind(verb->name, out);
    fprintf(out, " -l %s", flag->name);
    if (flag->letter != '\0')
        fprintf(out, " -s %c", flag->letter);
    if (ocdm__flag_choices(flag) != NULL) {
        fputs(is_list(flag->value) ? " -x -a '(__fish_append , " : " -x -a '", out);
        print_words(ocdm__flag_choices(flag), out);
        fputs(is_list(flag->value) ? ")'" : "'", out);
    } else if (flag->value != NULL)
        fish_kind(kind_of(flag->value), out);
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
    if (verb->words != NULL) {
        fish_behind(verb->name, out);
        fputs(" -a '", out);
        print_words(verb->words(), out);
        fputs("'\n", out);
    } else if (kind_of(verb->operands) != NOTHING) {
        fish_behind(verb->name, out);
        fish_kind(kind_of(verb->operands), out);
        fputc('\n', out);
    }
}

static void fish_script(FILE *out)
{
    fputs("complete -c ocdm -f\n"
          "complete -c ocdm -s h -l help -d 'print the help'\n"
          "complete -c ocdm -n __fish_use_subcommand -l version -d 'print the version'\n",
          out);
    fputs("complete -c ocdm -n '__fish_seen_subcommand_from help' -a '", out);
    print_first_words(out);
    fputs("'\n", out);
    const ocdm__verb *verb;
    for (size_t i = 0; (verb = next_family(&i)) != NULL;) {
        fprintf(out, "complete -c ocdm -n '__fish_seen_subcommand_from help; and __fish_seen_subcommand_from %.*s' -a '",
                family_length(verb), verb->name);
        print_second_words(verb, out);
        fputs("'\n", out);
    }
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        fish_verb(i, out);
}

/* ---- the verb ------------------------------------------------------------------------------------------------------- */

static const char *const *shells(void)
{
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return names;
}

static ocdm_status run_completion(ocdm__arguments *arguments, ocdm_error *error)
{
    static void (*const scripts[])(FILE *) = {bash_script, zsh_script, fish_script};
    const char *shell = arguments->operand_count > 0 ? arguments->operands[0] : "";
    size_t i = 0;
    while (shells()[i] != NULL && strcmp(shell, shells()[i]) != 0)
        i++;
    if (shells()[i] == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "one of bash, zsh, fish",
                          "ocdm completion does not support the shell \"%s\"", shell);
    scripts[i](stdout);
    return OCDM_OK;
}

const ocdm__verb ocdm__verb_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .operands = "bash|zsh|fish",
    .words = shells,
    .operand_limit = 1,
    .run = run_completion,
};
