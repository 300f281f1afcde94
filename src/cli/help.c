/* `--help`, `ocdm help` and `ocdm man`: the tables of verbs and flags as text for a terminal and as a man page. */
#include "cli/verbs.h"

#include "base/terminal.h"
#include "base/text.h"

/* help.txt and bench/help.txt (cmake/rest.cmake). After "== VERB": its paragraphs, with an empty line behind each; its
 * examples, each a line "# what it is for" and a line of shell, and an empty line. */
extern const char ocdm__help_text[];

enum { PARAGRAPH = 4096, FLAG_TEXT = 1024 };

#define NARROWEST 60u
#define WIDEST 100u
#define FLAG_COLUMN 26u
#define NAME_WIDTH 16

/* Where the text of a verb begins; empty when it has none. */
static const char *find_text(const ocdm__verb *verb)
{
    char head[64];
    snprintf(head, sizeof head, "== %s\n", verb->name);
    const char *found = strstr(ocdm__help_text, head);
    return found != NULL ? found + strlen(head) : "";
}

/* Copies the next line of a text and moves behind it; false when it is empty. */
static bool next_line(const char **text, char line[PARAGRAPH])
{
    size_t length = strcspn(*text, "\n");
    snprintf(line, PARAGRAPH, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == '\n');
    return length > 0;
}

/* Copies the next paragraph, its lines joined by spaces; false at the examples, or at the end. */
static bool next_paragraph(const char **text, char paragraph[PARAGRAPH])
{
    char line[PARAGRAPH];
    if (strchr("#=", **text) != NULL) /* or its NUL */
        return false;
    paragraph[0] = '\0';
    while (next_line(text, line))
        ocdm__append(paragraph, PARAGRAPH, "%s%s", paragraph[0] != '\0' ? " " : "", line);
    return true;
}

/* The output: as wide as the terminal, within limits, and 80 columns if it is not a terminal. */
struct page {
    FILE *out;
    size_t width;
};

/* Wraps words to the width of the page and indents all lines but the first, which starts at `column`. */
static void fill(const struct page *page, const char *text, size_t column, size_t indent)
{
    bool fresh = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (!fresh && column + 1 + length > page->width - 1) {
            fprintf(page->out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(page->out, "%s%.*s", fresh ? "" : " ", (int)length, text);
        column += length + (fresh ? 0 : 1);
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', page->out);
}

static void print_verb_line(const ocdm__verb *verb, FILE *out)
{
    fprintf(out, "  %-*s  %s\n", NAME_WIDTH, verb->name, verb->summary);
}

void ocdm__print_overview(FILE *out)
{
    fprintf(out, "%s %s: %s\n\n", ocdm__program, ocdm_version(), ocdm__tagline);
    fprintf(out, "Usage: %s VERB [FLAGS] [OPERANDS]\n\n", ocdm__program);
    /* Verbs that start with the same word share a line, so that the overview fits a screen: "stream VERB build, info, show". */
    for (const ocdm__verb *const *verb = ocdm__verbs; *verb != NULL; verb++) {
        const char *name = (*verb)->name, *second = ocdm__second_word(*verb, name);
        int length = (int)strcspn(name, " ");
        if (second == NULL || verb[1] == NULL || ocdm__second_word(verb[1], name) == NULL) {
            print_verb_line(*verb, out);
            continue;
        }
        fprintf(out, "  %.*s %-*s %s", length, name, NAME_WIDTH - length, "VERB", second);
        for (; verb[1] != NULL && (second = ocdm__second_word(verb[1], name)) != NULL; verb++)
            fprintf(out, ", %s", second);
        fputc('\n', out);
    }
    fprintf(out,
            "\n`%s VERB --help` describes a verb; `%s --version` prints the version.\n"
            "Exit codes: 0 ok, 1 a negative answer, 2 usage, 3 bad data, 4 reading or writing\n"
            "failed, 5 out of memory or over a limit, 130 and 143 interrupted or terminated.\n",
            ocdm__program, ocdm__program);
}

void ocdm__print_family(const char *family, FILE *out)
{
    fprintf(out, "Usage: %s %s VERB [FLAGS] [OPERANDS]\n\n", ocdm__program, family);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        if (ocdm__second_word(ocdm__verbs[i], family) != NULL)
            print_verb_line(ocdm__verbs[i], out);
    fprintf(out, "\n`%s %s VERB --help` describes a verb.\n", ocdm__program, family);
}

/* "keep at most M records: a, b (default 1000)" */
static void describe_flag(const ocdm__flag *flag, char text[FLAG_TEXT])
{
    const char *const *choices = ocdm__flag_choices(flag);
    snprintf(text, FLAG_TEXT, "%s", flag->help);
    for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
        ocdm__append(text, FLAG_TEXT, "%s%s", i == 0 ? ": " : ", ", choices[i]);
    if (flag->fallback != NULL)
        ocdm__append(text, FLAG_TEXT, " (default %s)", flag->fallback);
}

static void print_flag(const struct page *page, const ocdm__flag *flag)
{
    char left[64] = "      ", text[FLAG_TEXT];
    if (flag->letter != '\0')
        snprintf(left, sizeof left, "  -%c, ", flag->letter);
    ocdm__append(left, sizeof left, "--%s%s%s", flag->name, flag->value != NULL ? " " : "",
                 flag->value != NULL ? flag->value : "");
    describe_flag(flag, text);
    if (strlen(left) + 2 > FLAG_COLUMN)
        fprintf(page->out, "%s\n%*s", left, (int)FLAG_COLUMN, "");
    else
        fprintf(page->out, "%-*s", (int)FLAG_COLUMN, left);
    fill(page, text, FLAG_COLUMN, FLAG_COLUMN);
}

void ocdm__print_verb_help(const ocdm__verb *verb, FILE *out)
{
    unsigned width = ocdm__terminal_width(fileno(out));
    if (width < NARROWEST)
        width = NARROWEST;
    struct page page = {out, width > WIDEST ? WIDEST : width};
    char usage[256];
    snprintf(usage, sizeof usage, "%s%s%s", verb->name, verb->flags != NULL ? " [FLAGS] " : " ",
             verb->operands != NULL ? verb->operands : "");
    int indent = fprintf(page.out, "Usage: %s ", ocdm__program);
    fill(&page, usage, (size_t)indent, (size_t)indent);
    fprintf(out, "%s %s: %s\n", ocdm__program, verb->name, verb->summary);
    const char *text = find_text(verb);
    char part[PARAGRAPH];
    while (next_paragraph(&text, part)) {
        fputc('\n', out);
        fill(&page, part, 0, 0);
    }
    static const ocdm__flag help_flag = {.name = "help", .letter = 'h', .help = "print this and exit"};
    fputs("\nFlags:\n", page.out);
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++)
        print_flag(&page, &verb->flags[i]);
    print_flag(&page, &help_flag);
    if (*text == '#')
        fputs("\nExamples:\n", out);
    while (*text != '=' && next_line(&text, part))
        fprintf(out, "  %s\n", part);
}

static ocdm_status run_help(ocdm__arguments *arguments, ocdm_error *error)
{
    size_t count = arguments->operand_count, used = 0;
    const ocdm__verb *verb = ocdm__find_verb(count, arguments->operands, &used);
    if (verb != NULL && used < count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm help VERB` takes the words of one verb",
                          "\"%s\" is one argument too many", arguments->operands[used]);
    if (verb != NULL)
        ocdm__print_verb_help(verb, stdout);
    else if (count == 0)
        ocdm__print_overview(stdout);
    else if (count == 1 && ocdm__is_verb_family(arguments->operands[0]))
        ocdm__print_family(arguments->operands[0], stdout);
    else
        return ocdm__refuse_verb(count, arguments->operands, error);
    return OCDM_OK;
}

const ocdm__verb ocdm__verb_help = {
    .name = "help",
    .summary = "explain a verb",
    .operands = "[VERB]",
    .operand_limit = 2,
    .run = run_help,
};

/* ---- the man page ------------------------------------------------------------------------------------------------------- */

/* Text that roff must print verbatim: backslash and hyphen are escaped, and no line starts with a control character. */
static void write_escaped(const char *text, FILE *out)
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

static void write_line(const char *text, FILE *out)
{
    write_escaped(text, out);
    fputc('\n', out);
}

static void write_verb(const ocdm__verb *verb, FILE *out)
{
    fputs(".SS ocdm ", out);
    write_line(verb->name, out);
    write_escaped(verb->summary, out);
    fputs(".\n", out);
    const char *text = find_text(verb);
    char paragraph[PARAGRAPH];
    while (next_paragraph(&text, paragraph)) {
        fputs(".PP\n", out);
        write_line(paragraph, out);
    }
    for (size_t i = 0; verb->flags != NULL && verb->flags[i].name != NULL; i++) {
        const ocdm__flag *flag = &verb->flags[i];
        char meaning[FLAG_TEXT];
        fputs(".TP\n\\fB", out);
        if (flag->letter != '\0')
            fprintf(out, "\\-%c\\fR, \\fB", flag->letter);
        fputs("\\-\\-", out);
        write_escaped(flag->name, out);
        fputs("\\fR", out);
        if (flag->value != NULL)
            fprintf(out, " \\fI%s\\fR", flag->value);
        fputc('\n', out);
        describe_flag(flag, meaning);
        write_escaped(meaning, out);
        fputs(".\n", out);
    }
}

static ocdm_status run_man(ocdm__arguments *arguments, ocdm_error *error)
{
    (void)arguments;
    (void)error;
    printf(".TH OCDM 1 \"\" \"ocdm %s\" \"User Commands\"\n", ocdm_version());
    fputs(".SH NAME\nocdm \\- ", stdout);
    write_line(ocdm__tagline, stdout);
    fputs(".SH SYNOPSIS\n", stdout);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        const ocdm__verb *verb = ocdm__verbs[i];
        fputs(i == 0 ? ".B ocdm " : ".br\n.B ocdm ", stdout);
        write_line(verb->name, stdout);
        if (verb->flags != NULL)
            fputs("[\\fIFLAGS\\fR]\n", stdout);
        if (verb->operands != NULL)
            write_line(verb->operands, stdout);
    }
    fputs(".SH DESCRIPTION\nResults go to standard output, everything else to standard error.\n"
          "Every verb takes \\fB\\-h\\fR and \\fB\\-\\-help\\fR;\n"
          "\\fB\\-\\-\\fR ends the flags, the last of a repeated flag wins.\n"
          "\\fBocdm \\-\\-version\\fR prints the version.\n.SH VERBS\n",
          stdout);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++)
        write_verb(ocdm__verbs[i], stdout);
    fputs(".SH EXAMPLES\n", stdout);
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        const char *text = find_text(ocdm__verbs[i]);
        char line[PARAGRAPH];
        while (next_paragraph(&text, line))
            continue;
        while (*text == '#' && next_line(&text, line)) {
            fputs(".TP\n", stdout);
            write_line(line + 2, stdout);
            (void)next_line(&text, line);
            fputs("\\fB", stdout);
            write_escaped(line, stdout);
            fputs("\\fR\n", stdout);
        }
    }
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
          stdout);
    return OCDM_OK;
}

const ocdm__verb ocdm__verb_man = {
    .name = "man",
    .summary = "print the man page",
    .run = run_man,
};
