/* `ocdm man`: the tables of verbs and flags as a man page in roff, which the build installs as ocdm.1. */
#include "cli/verbs.h"

#include <stdio.h>

#include "cli/exit_code.h"

/* Text that roff must take as it stands: backslash and hyphen are escaped, and no line of ours starts with a control character.
 */
static void escaped(const char *text, FILE *out)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

static void line(const char *text, FILE *out)
{
    escaped(text, out);
    fputc('\n', out);
}

static void print_synopsis(FILE *out)
{
    fputs(".SH SYNOPSIS\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        const ocdm__verb *verb = ocdm__verbs[i];
        fputs(i == 0 ? ".B ocdm " : ".br\n.B ocdm ", out);
        line(verb->name, out);
        if (verb->flags != NULL)
            fputs("[\\fIFLAGS\\fR]\n", out);
        if (verb->operands != NULL)
            line(verb->operands, out);
    }
}

static void print_flag(const ocdm__flag *flag, FILE *out)
{
    fputs(".TP\n\\fB", out);
    if (flag->letter != '\0')
        fprintf(out, "\\-%c\\fR, \\fB", flag->letter);
    fputs("\\-\\-", out);
    escaped(flag->name, out);
    fputs("\\fR", out);
    if (flag->value != NULL)
        fprintf(out, " \\fI%s\\fR", flag->value);
    fputc('\n', out);
    escaped(flag->help, out);
    const char *const *choices = ocdm__flag_choices(flag);
    for (size_t i = 0; choices != NULL && choices[i] != NULL; i++) {
        fputs(i == 0 ? ": " : ", ", out);
        escaped(choices[i], out);
    }
    if (flag->fallback != NULL) {
        fputs(" (default ", out);
        escaped(flag->fallback, out);
        fputc(')', out);
    }
    fputs(".\n", out);
}

static void print_verb(const ocdm__verb *verb, FILE *out)
{
    fputs(".SS ocdm ", out);
    line(verb->name, out);
    escaped(verb->summary, out);
    fputs(".\n", out);
    for (size_t i = 0; verb->description != NULL && verb->description[i] != NULL; i++) {
        fputs(".PP\n", out);
        line(verb->description[i], out);
    }
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        print_flag(&verb->flags[i], out);
}

static void print_examples(FILE *out)
{
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        const ocdm__example *example = ocdm__verbs[i]->examples;
        for (; example != NULL && example->command != NULL; example++) {
            fputs(".TP\n", out);
            line(example->says, out);
            fputs("\\fB", out);
            escaped(example->command, out);
            fputs("\\fR\n", out);
        }
    }
}

static void print_tail(FILE *out)
{
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhen set and not empty, nothing is coloured.\n"
          ".SH EXIT STATUS\n"
          ".TP\n.B 0\nall went well\n"
          ".TP\n.B 1\nthe question was answered, and the answer is no\n"
          ".TP\n.B 2\nthe command line is wrong\n"
          ".TP\n.B 3\nthe data is wrong\n"
          ".TP\n.B 4\nreading or writing failed\n"
          ".TP\n.B 5\nout of memory, or over a limit\n"
          ".TP\n.B 130\\fR, \\fB143\nended by SIGINT or SIGTERM, after writing what there was\n"
          ".SH SEE ALSO\n"
          "The library: \\fIocdm/ocdm.h\\fR, which reads as a manual.\n"
          ".PP\n"
          "Yan\\-Shuo Liang and Wu\\-Jun Li,\n"
          "\\fIOptimizing Class Distribution in Memory for Multi\\-Label Online Continual Learning\\fR.\n",
          out);
}

static int run_man(const ocdm__arguments *arguments)
{
    (void)arguments;
    printf(".TH OCDM 1 \"\" \"ocdm %s\" \"User Commands\"\n", ocdm_version());
    fputs(".SH NAME\nocdm \\- ", stdout);
    line(ocdm__tagline, stdout);
    print_synopsis(stdout);
    fputs(".SH DESCRIPTION\nResults go to standard output, everything else to standard error.\n"
          "Every verb takes \\fB\\-h\\fR and \\fB\\-\\-help\\fR;\n"
          "\\fB\\-\\-\\fR ends the flags, the last of a repeated flag wins.\n"
          "\\fBocdm \\-\\-version\\fR prints the version.\n.SH VERBS\n",
          stdout);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        print_verb(ocdm__verbs[i], stdout);
    print_examples(stdout);
    print_tail(stdout);
    return OCDM__EXIT_OK;
}

const ocdm__verb ocdm__verb_man = {
    .name = "man",
    .summary = "print the man page",
    .description = (const char *const[]){"Prints the man page as roff, made from the same tables as the help.", NULL},
    .examples = (const ocdm__example[]){{"read it without installing", "ocdm man | man -l -"}, {NULL, NULL}},
    .run = run_man,
};
