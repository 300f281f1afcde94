/* The table of verbs and what is derived from it. */
#ifndef OCDM_CLI_VERBS_H
#define OCDM_CLI_VERBS_H

#include "base/base.h"

#include "cli/flags.h"

/* The verbs of `ocdm`, in the order of the help: to add one, add its name here and a file in cli/verbs. */
/* clang-format off */
#define OCDM__VERBS(VERB) \
    VERB(sample) VERB(merge) VERB(split) VERB(demo) \
    VERB(stream_build) VERB(stream_info) VERB(stream_show) VERB(stream_export) VERB(stream_featurize) \
    VERB(run) VERB(compare) VERB(paper) VERB(report) VERB(watch) \
    VERB(eval) VERB(predict) VERB(weights_info) VERB(weights_export) \
    VERB(help) VERB(man) VERB(completion)
/* clang-format on */
#define OCDM__VERB_ROW(name) extern const ocdm__verb ocdm__verb_##name;
OCDM__VERBS(OCDM__VERB_ROW)

/* The program's description in one line, and every verb in the order of the help, terminated by NULL: each program has a file
 * of its own with them and its name (cli/table.c, bench/table.c). */
extern const char ocdm__tagline[];
extern const ocdm__verb *const ocdm__verbs[];

/* The verb named by the first words, NULL when there is none; `*used` is the number of those words. */
const ocdm__verb *ocdm__find_verb(size_t argc, char *const *argv, size_t *used);

/* The second word of a verb whose first one is that of `family`, which may have a second one too; NULL for any other verb. */
const char *ocdm__second_word(const ocdm__verb *verb, const char *family);

/* Whether `word` is the first of verbs of two words, such as "stream". */
bool ocdm__is_verb_family(const char *word);

/* The command line without the program's name: dispatches, returns the exit code. */
int ocdm__run_command(size_t argc, char **argv);

/* What another rank than 0 does for this command, besides helping its networks. Prints nothing. */
void ocdm__follow_command(size_t argc, char **argv);

/* The error for words that name no verb, with the nearest one: OCDM_BAD_ARGUMENT. `argc` is at least 1. */
ocdm_status ocdm__refuse_verb(size_t argc, char *const *argv, ocdm_error *error);

/* `ocdm --help`: the verbs, on one screen. */
void ocdm__print_overview(FILE *out);

/* `ocdm FAMILY --help`: the verbs that start with this word. */
void ocdm__print_family(const char *family, FILE *out);

/* `ocdm VERB --help`: everything about one verb. */
void ocdm__print_verb_help(const ocdm__verb *verb, FILE *out);

#endif
