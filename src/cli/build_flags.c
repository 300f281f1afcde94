/* Flags of `ocdm stream build` that need another, and those that exclude each other. */
#include "cli/build_flags.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* A flag that is of use with another only, or, where there is a value, with that value of it. */
struct need {
    const char *flag, *needs, *value;
};

static const struct need needs[] = {
    {"xml", "arff", NULL},
    {"format", "records", NULL},
    {"labels", "records", NULL},
    {"id", "records", NULL},
    {"sep", "records", NULL},
    {"tasks-by", "records", NULL},
    {"test-lists", "ids", NULL},
    {"mixed", "tasks", NULL},
    {"mixed", "recipe", "split"},
    {"test-share", "recipe", "split"},
    {"test-pool", "recipe", "paper"},
    {"test-per-class", "recipe", "paper"},
    {"as", "recipe", "scenes"},
    {"size", "recipe", "scenes"},
};

static const char *const apart[][2] = {
    {"ids", "recipe"}, {"tasks-by", "tasks"}, {"tasks-by", "ids"}, {"features", "images"}, {"test", "nuswide"},
};

/* All that the built-in world takes. */
static const char *const of_scenes[] = {"output", "recipe", "as", "size", "groups", "seed", "quiet", "json"};

bool ocdm__wants_scenes(const ocdm__arguments *arguments)
{
    const char *recipe = ocdm__argument_text(arguments, "recipe");
    return recipe != NULL && strcmp(recipe, "scenes") == 0;
}

static bool is_of_scenes(const char *flag)
{
    for (size_t i = 0; i < sizeof of_scenes / sizeof *of_scenes; i++)
        if (strcmp(of_scenes[i], flag) == 0)
            return true;
    return false;
}

static ocdm_status check_scenes(const ocdm__arguments *arguments, ocdm_error *error)
{
    static const char hint[] = "leave one of the two out";
    const ocdm__flag *flags = arguments->verb->flags;
    const char *as = ocdm__argument_text(arguments, "as");
    for (size_t i = 0; flags[i].name != NULL; i++)
        if (arguments->values[i] != NULL && !is_of_scenes(flags[i].name))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--recipe scenes has no use for --%s", flags[i].name);
    if (arguments->operand_count > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--recipe scenes has no use for %s", arguments->operands[0]);
    if (as != NULL && strcmp(as, "features") == 0 && ocdm__argument_given(arguments, "size"))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "--as features has no use for --size");
    return OCDM_OK;
}

static bool is_met(const ocdm__arguments *arguments, const struct need *need)
{
    const char *value = ocdm__argument_text(arguments, need->needs);
    return value != NULL && (need->value == NULL || strcmp(value, need->value) == 0);
}

static ocdm_status check_needs(const ocdm__arguments *arguments, ocdm_error *error)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (ocdm__argument_given(arguments, needs[i].flag) && !is_met(arguments, &needs[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave it out, or add the other", "--%s is of no use without --%s%s%s",
                              needs[i].flag, needs[i].needs, needs[i].value != NULL ? " " : "",
                              needs[i].value != NULL ? needs[i].value : "");
    return OCDM_OK;
}

ocdm_status ocdm__check_build_flags(const ocdm__arguments *arguments, ocdm_error *error)
{
    if (ocdm__wants_scenes(arguments))
        return check_scenes(arguments, error);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (ocdm__argument_given(arguments, apart[i][0]) && ocdm__argument_given(arguments, apart[i][1]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave one of the two out", "--%s and --%s are both given", apart[i][0],
                              apart[i][1]);
    return check_needs(arguments, error);
}
