/*
 * One table of flags per verb: parsing, `--help`, the man page and shell completion all come from it, so they cannot differ.
 *
 * A verb is one const struct, declared in cli/verbs.h, defined in its cli/verbs/<verb>.c; its description and examples are in
 * cli/help.txt:
 *
 *     static const ocdm__flag flags[] = {
 *         OCDM__VALUE('m', "memory", "M", "1000", "keep at most M records"),
 *         OCDM__SWITCH('q', "quiet", "print no table at the end"),
 *         {.name = NULL},
 *     };
 *     const ocdm__verb ocdm__verb_sample = {.name = "sample", .flags = flags, .run = run, ...};
 *
 *     static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
 *     {
 *         uint64_t memory = ocdm__argument_unsigned(arguments, "memory", 1, OCDM_MAX_CAPACITY);
 *         OCDM_TRY(ocdm__arguments_check(arguments, error));
 *         ...
 *     }
 *
 * On the command line: -m 5, -m5, -qm5, --memory 5, --memory=5; the last of a repeated flag wins, unless it repeats; flags and
 * operands may mix; `--` ends the flags; `-` is an operand. -h and --help belong to every verb and are in no table.
 */
#ifndef OCDM_CLI_FLAGS_H
#define OCDM_CLI_FLAGS_H

#include "base/base.h"
#include "base/output.h"

#include "stream/records/record.h"

/* The most flags that one verb may have. */
#define OCDM__MAX_FLAGS 96

/* How often a flag that repeats may be given. */
#define OCDM__MAX_REPEATS 8

typedef struct ocdm__flag {
    const char *name;                   /* the long name without dashes; NULL ends a table */
    const char *value;                  /* what the value is called in the help, such as "M"; NULL for a switch. What is called
                                           FILE, STREAM, FOLDER, DIR or ROOT is completed as such, with a comma as a list */
    const char *fallback;               /* the default as one would type it; NULL for none */
    const char *alone;                  /* the value of the flag by itself, which then takes the next word only if it is one of
                                           the choices; NULL if the flag needs a value */
    const char *help;                   /* what it does, one sentence without its full stop */
    const char *const *choices;         /* the accepted words, terminated by NULL; NULL if any value is accepted */
    const char *const *(*listed)(void); /* makes the choices instead, where they are rows of a table elsewhere; may be NULL */
    char letter;                        /* the short form; 0 for none */
    bool repeats;                       /* every value counts, in ocdm__arguments.repeated; one flag of a verb at most */
} ocdm__flag;

/* Rows of a verb's table: a switch; a flag with any value, and its default, which may be NULL; one with a value of a list,
 * which a function may make. */
#define OCDM__SWITCH(letter_, name_, help_)                                                                                    \
    {                                                                                                                          \
        .letter = letter_, .name = name_, .help = help_                                                                        \
    }
#define OCDM__VALUE(letter_, name_, value_, fallback_, help_)                                                                  \
    {                                                                                                                          \
        .letter = letter_, .name = name_, .value = value_, .fallback = fallback_, .help = help_                                \
    }
#define OCDM__CHOICE(letter_, name_, value_, fallback_, choices_, help_)                                                       \
    {                                                                                                                          \
        .letter = letter_, .name = name_, .value = value_, .fallback = fallback_, .choices = choices_, .help = help_           \
    }
#define OCDM__LISTED(letter_, name_, value_, fallback_, listed_, help_)                                                        \
    {                                                                                                                          \
        .letter = letter_, .name = name_, .value = value_, .fallback = fallback_, .listed = listed_, .help = help_             \
    }

/* The words that a flag takes, ended by NULL; NULL when any value may be tried. */
const char *const *ocdm__flag_choices(const ocdm__flag *flag);

/* The library's policies, except those with one of these traits; its distances and its tie rules, in the order of their enums.
 * For ocdm__flag.listed: static arrays, ended by NULL, as long as the lists of the library. */
#define OCDM__CHOICES 32
const char *const *ocdm__policy_choices(const char *names[OCDM__CHOICES], size_t first, uint32_t without);
const char *const *ocdm__distance_choices(void);
const char *const *ocdm__tie_choices(void);

typedef struct ocdm__arguments ocdm__arguments;

/* The name of the program that has the verbs, as it stands in help and hints. */
extern const char ocdm__program[];

typedef struct ocdm__verb {
    const char *name;                  /* "sample", or two words: "stream build" */
    const char *summary;               /* one line for the list of verbs, under 60 characters, no full stop */
    const char *operands;              /* as in the usage line, such as "[FILE|-]"; NULL for none */
    const char *const *(*words)(void); /* the words that its operand may be, terminated by NULL; NULL for any */
    size_t operand_limit;              /* the most operands it takes; more is an error */
    const ocdm__flag *flags;           /* ended by one whose name is NULL; NULL for none */
    /* Does the work. A failure is reported by the caller; OCDM_STOPPED without a message ends the program silently. */
    ocdm_status (*run)(ocdm__arguments *arguments, ocdm_error *error);
    bool distributes;                                 /* works on several ranks: its networks do, or `follow` */
    void (*follow)(const ocdm__arguments *arguments); /* what all ranks but 0 do while that runs; NULL: networks only */
} ocdm__verb;

struct ocdm__arguments {
    const ocdm__verb *verb;
    const char *values[OCDM__MAX_FLAGS];     /* as given, in the order of the table; "" for a switch; NULL when not given */
    const char *repeated[OCDM__MAX_REPEATS]; /* all values of the flag that repeats */
    size_t repeated_count;
    char **operands;
    size_t operand_count;
    ocdm__output *out;   /* standard output, while the verb runs: what is in it is written when all went well */
    bool help;           /* -h or --help was given; the words after it were not parsed */
    int code;            /* the exit code when all goes well */
    ocdm_error *failure; /* the first value that a reader below refused */
};

/*
 * Reads the words after the verb. `argv` is reordered in place; it and `failure` must outlive `arguments`.
 * OCDM_OK or OCDM_BAD_ARGUMENT: an unknown flag, a value missing or too many, too many operands.
 */
ocdm_status ocdm__parse_arguments(const ocdm__verb *verb, size_t argc, char **argv, ocdm__arguments *arguments,
                                  ocdm_error *failure);

/* Runs the verb, reports its failure and returns the exit code. */
int ocdm__run_verb(const ocdm__verb *verb, ocdm__arguments *arguments);

/* The functions below take the long name of a flag in the verb's table. */

/* Whether the flag was on the command line: for a switch, its value. */
bool ocdm__argument_given(const ocdm__arguments *arguments, const char *name);

/* The value as typed, or the default, or NULL when there is neither. */
const char *ocdm__argument_text(const ocdm__arguments *arguments, const char *name);

/*
 * Typed values: the given one or the default. A value that is refused, or that is neither given nor a default, gives 0; the
 * first of them is kept with an error that names flag, value and the allowed values, until ocdm__arguments_check returns it.
 * Test a flag that is optional with ocdm__argument_text first.
 */
ocdm_status ocdm__arguments_check(const ocdm__arguments *arguments, ocdm_error *error);

/* A whole number from `low` to `high`, decimal digits only. */
uint64_t ocdm__argument_unsigned(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high);

/* A decimal number from `low` to `high`; NaN and infinities are errors. */
double ocdm__argument_real(const ocdm__arguments *arguments, const char *name, double low, double high);

/* The position of the value among the flag's choices. */
size_t ocdm__argument_choice(const ocdm__arguments *arguments, const char *name);

/* Comma-separated whole numbers from `low` to `high`, or words of the flag's choices as positions among them: at least one, at
 * most `room`. Return their number. */
size_t ocdm__argument_list(const ocdm__arguments *arguments, const char *name, uint64_t low, uint64_t high, uint64_t *values,
                           size_t room);
size_t ocdm__argument_choices(const ocdm__arguments *arguments, const char *name, size_t *indices, size_t room);

/* Rows of a list of flags elsewhere, such as OCDM__RECORD_FLAGS, as rows of a verb's table. */
#define OCDM__LISTED_FLAG(owner, name_, value_, fallback_, choices_, help_)                                                    \
    {.name = name_, .value = value_, .fallback = fallback_, .choices = choices_, .help = help_},

/* How to read records, by OCDM__RECORD_FLAGS and --skip-bad, which the verb must have. `hint` is that of bad records. */
ocdm__record_options ocdm__argument_records(const ocdm__arguments *arguments, const char *hint);

/* Refuses a value: OCDM_BAD_ARGUMENT with a message that begins with a flag's name, to which the dashes are added. */
ocdm_status ocdm__argument_fail(const ocdm__arguments *arguments, const char *message, ocdm_error *error);

/* The first operand; NULL when there is none. */
const char *ocdm__first_operand(const ocdm__arguments *arguments);

/* The stream file that a verb must be given: OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__need_stream(const ocdm__arguments *arguments, const char **path, ocdm_error *error);

/* ---- flags of several verbs --------------------------------------------------------------------------------------------- */

/* Rows for the verbs that write features; the choices are those of stream/features.h. */
#define OCDM__FEATURE_FLAGS                                                                                                    \
    {.name = "standardize",                                                                                                    \
     .value = "[TASKS]",                                                                                                       \
     .fallback = "none",                                                                                                       \
     .alone = "all",                                                                                                           \
     .choices = ocdm__standardize_names,                                                                                       \
     .help = "subtract the mean and divide by the deviation of the training samples of these tasks"},                          \
        OCDM__CHOICE(0, "feature-type", "T", "f32", ocdm__feature_type_names, "how features are stored")

/* ---- a command line as text --------------------------------------------------------------------------------------------- */

/* A command line for the metadata of a file: the verb, its flags in the order of the table and its operands, without
 * folders, quoted for a shell if necessary. `left_out` names flags to omit, terminated by NULL. Returns OCDM_OK or
 * OCDM_NO_MEMORY; the text is in the buffer of `command`, to be abandoned in either case. */
ocdm_status ocdm__command_text(const ocdm__arguments *arguments, const char *const *left_out, ocdm__output *command,
                               ocdm_error *error);

#endif
