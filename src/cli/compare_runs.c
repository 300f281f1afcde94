/* Several runs, from the command line's side. */
#define _POSIX_C_SOURCE 200809L

#include "cli/compare_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/output.h"
#include "base/terminal.h"
#include "cli/console.h"
#include "experiment/folder/settings.h"

#define TABLE_WIDTH 100

/* ---- flags ------------------------------------------------------------------------------------------------------------ */

/* Several runs at a time make better use of the cores than several threads in one. */
static void pass_threads(const ocdm__arguments *arguments, ocdm__passed_flags *passed)
{
    if (ocdm__argument_given(arguments, "threads"))
        return;
    passed->words[passed->word_count++] = "--threads";
    passed->words[passed->word_count++] = "1";
}

/* Whether a verb has another default than `ocdm run`. */
static bool has_own_default(const ocdm__flag *flag, const ocdm__setting *setting)
{
    return flag->fallback != NULL && (setting->fallback == NULL || strcmp(flag->fallback, setting->fallback) != 0);
}

void ocdm__pass_flags(const ocdm__arguments *arguments, ocdm__passed_flags *passed)
{
    const ocdm__flag *flags = arguments->verb->flags;
    passed->word_count = 0;
    for (size_t i = 0; flags[i].name != NULL; i++) {
        const ocdm__setting *setting = ocdm__setting_of_flag(flags[i].name);
        const char *value = arguments->values[i];
        if (setting == NULL || setting->grid || (value == NULL && !has_own_default(&flags[i], setting)))
            continue;
        snprintf(passed->names[i], sizeof passed->names[i], "--%s", flags[i].name);
        passed->words[passed->word_count++] = passed->names[i];
        if (flags[i].value != NULL)
            passed->words[passed->word_count++] = value != NULL ? value : flags[i].fallback;
    }
    pass_threads(arguments, passed);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------ */

#define MOST_SEEDS 10000u

static bool read_seed(const char **text, uint64_t *seed)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 10);
    *seed = value;
    *text = end;
    return errno == 0;
}

static bool add_seeds(ocdm__seed_list *seeds, uint64_t first, uint64_t last)
{
    if (last < first || last - first >= MOST_SEEDS)
        return false;
    for (uint64_t seed = first; seed - first <= last - first; seed++) {
        size_t i = 0;
        while (i < seeds->count && seeds->values[i] != seed)
            i++;
        if (i == MOST_SEEDS)
            return false;
        seeds->values[i] = seed;
        seeds->count += i == seeds->count;
    }
    return true;
}

/* One number is how many; several, and ranges, are the seeds themselves. */
static bool read_seed_list(const char *text, ocdm__seed_list *seeds)
{
    uint64_t first, last;
    const char *at = text;
    if (read_seed(&at, &first) && *at == '\0')
        return first > 0 && add_seeds(seeds, 0, first - 1);
    for (at = text;; at++) {
        if (!read_seed(&at, &first))
            return false;
        last = first;
        if (strncmp(at, "..", 2) == 0) {
            at += 2;
            if (!read_seed(&at, &last))
                return false;
        }
        if (!add_seeds(seeds, first, last))
            return false;
        if (*at != ',')
            return *at == '\0';
    }
}

ocdm_status ocdm__read_seeds(const ocdm__arguments *arguments, ocdm__seed_list *seeds, ocdm_error *error)
{
    const char *text = ocdm__argument_text(arguments, "seeds");
    seeds->values = ocdm__allocate(MOST_SEEDS, sizeof *seeds->values);
    if (seeds->values == NULL)
        return ocdm__fail_memory(error, "the seeds");
    if (read_seed_list(text, seeds))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a number of seeds, as 3; or which, as 5..14 or 5,7,9",
                      "--seeds %s is no list of at most %u seeds", text, MOST_SEEDS);
}

ocdm_status ocdm__read_jobs(const ocdm__arguments *arguments, size_t *jobs, ocdm_error *error)
{
    uint64_t asked = 0, threads = 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    ocdm_status status = OCDM_OK;
    if (ocdm__argument_given(arguments, "threads"))
        status = ocdm__argument_unsigned(arguments, "threads", 1, 1024, &threads, error);
    if (status == OCDM_OK && ocdm__argument_given(arguments, "jobs"))
        status = ocdm__argument_unsigned(arguments, "jobs", 1, 1024, &asked, error);
    size_t most = cores > (long)threads ? (size_t)cores / (size_t)threads : 1;
    *jobs = asked > 0 ? (size_t)asked : most;
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

/* What the teller knows. */
struct teller {
    bool quiet;
    size_t runs, done;
};

static void tell_begun(void *state, size_t runs, size_t done, size_t half)
{
    struct teller *teller = state;
    teller->runs = runs;
    teller->done = done;
    if (teller->quiet || done == runs)
        return;
    fprintf(stderr, "%zu runs", runs);
    if (done > 0)
        fprintf(stderr, ", %zu done already", done);
    if (half > 0)
        fprintf(stderr, ", %zu to go on with", half);
    fputc('\n', stderr);
}

static void tell_ended(void *state, const char *name, const ocdm__child *child)
{
    struct teller *teller = state;
    teller->done++;
    if (child->exit_code == 0) {
        if (!teller->quiet)
            fprintf(stderr, "%zu of %zu: %s, %.1f s\n", teller->done, teller->runs, name, child->seconds);
        return;
    }
    if (ocdm__stop_signal != 0)
        return;
    fprintf(stderr, "error: %s: %s\n", name, child->error[0] != '\0' ? child->error : "the run failed");
    fprintf(stderr, "hint: %s%s%s has what it said\n", child->hint, child->hint[0] != '\0' ? "; " : "", child->log);
}

ocdm_status ocdm__run_plan(const ocdm__plan_run *run, int *failed, ocdm_error *error)
{
    char program[4096];
    struct teller teller = {.quiet = run->quiet};
    ocdm__own_program("ocdm", program, sizeof program);
    ocdm__compare_execution execution = {.plan = run->plan,
                                         .program = program,
                                         .stream = run->stream,
                                         .folder = run->folder,
                                         .flags = run->words,
                                         .flag_count = run->word_count,
                                         .setup = run->setup,
                                         .jobs = run->jobs,
                                         .stop = &ocdm__stop_signal,
                                         .begun = tell_begun,
                                         .ended = tell_ended,
                                         .state = &teller};
    ocdm__catch_signals();
    ocdm_status status = ocdm__compare_execute(&execution, failed, error);
    if (status == OCDM_STOPPED && !run->quiet)
        fputs("stopped; the same command goes on\n", stderr);
    return status;
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

ocdm__table_style ocdm__stdout_style(void)
{
    unsigned width = TABLE_WIDTH;
    if (ocdm__is_terminal(STDOUT_FILENO) && ocdm__terminal_width(STDOUT_FILENO) < width)
        width = ocdm__terminal_width(STDOUT_FILENO);
    return (ocdm__table_style){.width = width, .bold = ocdm__wants_colour(STDOUT_FILENO)};
}

ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error)
{
    ocdm__output output;
    ocdm__table_style style = ocdm__stdout_style();
    ocdm_status status = ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error);
    if (status != OCDM_OK)
        return status;
    fflush(stdout);
    ocdm__table_write(table, format, &style, &output);
    return ocdm__output_commit(&output, error);
}
