/* The command line by a table of flags: every way to write a flag, every way to get it wrong, and typed values at their edges.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "cli/console.h"
#include "base/allocate.h"
#include "cli/flags.h"
#include "cli/verbs.h"
#include "experiment/loop/settings.h"

static const char *const colours[] = {"red", "green", "blue", NULL};

static const ocdm__flag flags[] = {
    {.letter = 'm', .name = "memory", .value = "M", .fallback = "1000", .help = "a number"},
    {.letter = 'q', .name = "quiet", .help = "a switch"},
    {.letter = 'v', .name = "verbose", .help = "another switch"},
    {.name = "rho", .value = "R", .fallback = "0", .help = "a real"},
    {.letter = 'c', .name = "colour", .value = "C", .fallback = "green", .choices = colours, .help = "a choice"},
    {.name = "sizes", .value = "LIST", .fallback = "1,2", .help = "numbers"},
    {.name = "palette", .value = "LIST", .fallback = "red,blue", .choices = colours, .help = "choices"},
    {.name = "trace", .value = "FILE", .help = "a file, by default none"},
    {.name = "frame", .value = "[C]", .fallback = "green", .alone = "red", .choices = colours, .help = "a value or none"},
    {.name = NULL},
};

static const ocdm__verb verb = {.name = "paint", .operands = "[FILE|-] [FILE]", .operand_limit = 2, .flags = flags};
static const ocdm__verb bare = {.name = "bare"};

/* What a case parses into; fresh for every case. */
struct line {
    char *words[8];
    size_t count;
    ocdm__arguments arguments;
    ocdm_error error;
};

static ocdm_status parse_with(const ocdm__verb *which, struct line *line, const char *const *words)
{
    memset(line, 0, sizeof *line);
    for (; words[line->count] != NULL; line->count++)
        line->words[line->count] = (char *)(uintptr_t)words[line->count];
    return ocdm__parse_arguments(which, line->count, line->words, &line->arguments, &line->error);
}
#define PARSE(line, ...) parse_with(&verb, &(line), (const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(ocdm_status status, const ocdm_error *error, const char *message, const char *hint)
{
    assert_int_equal(status, OCDM_BAD_ARGUMENT);
    assert_int_equal(error->status, OCDM_BAD_ARGUMENT);
    assert_string_equal(error->message, message);
    assert_string_equal(error->hint, hint);
}

/* A reader refuses the value: its result is 0, and the error is there until the next line. */
#define REFUSED(line, call, message, hint)                                                                                     \
    do {                                                                                                                       \
        assert_true((call) == 0);                                                                                              \
        assert_refused(ocdm__arguments_check(&(line).arguments, NULL), &(line).error, message, hint);                          \
    } while (0)

TEST(flags_give_the_defaults_when_nothing_is_given)
{
    struct line line;
    assert_int_equal(parse_with(&verb, &line, (const char *const[]){NULL}), OCDM_OK);
    assert_string_equal(ocdm__argument_text(&line.arguments, "memory"), "1000");
    assert_false(ocdm__argument_given(&line.arguments, "memory"));
    assert_false(ocdm__argument_given(&line.arguments, "quiet"));
    assert_null(ocdm__argument_text(&line.arguments, "trace"));
    assert_int_equal(line.arguments.operand_count, 0);
    assert_false(line.arguments.help);
}

TEST(flags_read_the_same_value_however_it_is_written)
{
    static const char *const ways[][4] = {
        {"--memory", "7", NULL}, {"--memory=7", NULL}, {"-m", "7", NULL}, {"-m7", NULL}, {"-qm7", NULL}, {"-qvm", "7", NULL},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct line line;
        assert_int_equal(parse_with(&verb, &line, ways[i]), OCDM_OK);
        assert_string_equal(ocdm__argument_text(&line.arguments, "memory"), "7");
        assert_true(ocdm__argument_given(&line.arguments, "memory"));
        assert_int_equal(line.arguments.operand_count, 0);
        assert_int_equal(ocdm__argument_given(&line.arguments, "quiet"), i >= 4);
        assert_int_equal(ocdm__argument_given(&line.arguments, "verbose"), i == 5);
    }
}

TEST(flags_keep_the_last_value_when_repeated)
{
    struct line line;
    assert_int_equal(PARSE(line, "-m1", "--memory=2", "-m", "3"), OCDM_OK);
    assert_string_equal(ocdm__argument_text(&line.arguments, "memory"), "3");
}

TEST(flags_take_any_word_as_a_value_when_one_is_due)
{
    struct line line;
    assert_int_equal(PARSE(line, "--rho", "-0.03", "--trace", "--", "--memory="), OCDM_OK);
    assert_string_equal(ocdm__argument_text(&line.arguments, "rho"), "-0.03");
    assert_string_equal(ocdm__argument_text(&line.arguments, "trace"), "--");
    assert_string_equal(ocdm__argument_text(&line.arguments, "memory"), "");
}

TEST(flags_and_operands_may_mix)
{
    struct line line;
    assert_int_equal(PARSE(line, "-", "-q", "b", "--memory", "5"), OCDM_OK);
    assert_int_equal(line.arguments.operand_count, 2);
    assert_string_equal(line.arguments.operands[0], "-");
    assert_string_equal(line.arguments.operands[1], "b");
    assert_string_equal(ocdm__argument_text(&line.arguments, "memory"), "5");
}

TEST(flags_end_at_two_dashes)
{
    struct line line;
    assert_int_equal(PARSE(line, "-q", "--", "--memory", "--"), OCDM_OK);
    assert_int_equal(line.arguments.operand_count, 2);
    assert_string_equal(line.arguments.operands[0], "--memory");
    assert_string_equal(line.arguments.operands[1], "--");
}

TEST(flags_stop_at_help)
{
    struct line line;
    assert_int_equal(PARSE(line, "-q", "--help", "--bogus"), OCDM_OK);
    assert_true(line.arguments.help);
    assert_int_equal(PARSE(line, "-qh", "--bogus"), OCDM_OK);
    assert_true(line.arguments.help);
    assert_int_equal(PARSE(line, "--trace", "--help"), OCDM_OK);
    assert_false(line.arguments.help);
}

TEST(flags_refuse_what_the_table_lacks)
{
    struct line line;
    const char *list = "`ocdm paint --help` lists what it takes";
    assert_refused(PARSE(line, "--memroy=3"), &line.error, "ocdm paint has no flag --memroy",
                   "did you mean --memory? `ocdm paint --help` lists what it takes");
    assert_refused(PARSE(line, "--hlep"), &line.error, "ocdm paint has no flag --hlep",
                   "did you mean --help? `ocdm paint --help` lists what it takes");
    assert_refused(PARSE(line, "--frobnicate"), &line.error, "ocdm paint has no flag --frobnicate", list);
    assert_refused(PARSE(line, "--mem", "3"), &line.error, "ocdm paint has no flag --mem",
                   "did you mean --memory? `ocdm paint --help` lists what it takes");
    assert_refused(PARSE(line, "-x"), &line.error, "ocdm paint has no flag -x", list);
    assert_refused(PARSE(line, "-qx"), &line.error, "ocdm paint has no flag -x", list);
    assert_refused(PARSE(line, "--=3"), &line.error, "ocdm paint has no flag --", list);
}

TEST(flags_refuse_a_value_missing_or_too_many)
{
    struct line line;
    const char *list = "`ocdm paint --help` lists what it takes";
    assert_refused(PARSE(line, "--memory"), &line.error, "--memory needs a value: --memory M", list);
    assert_refused(PARSE(line, "-qm"), &line.error, "--memory needs a value: --memory M", list);
    assert_refused(PARSE(line, "--quiet=yes"), &line.error, "--quiet takes no value, but was given \"yes\"", list);
    assert_refused(PARSE(line, "a", "b", "c"), &line.error,
                   "\"c\" is one argument too many: ocdm paint [FLAGS] [FILE|-] [FILE]", list);
}

TEST(flags_work_when_the_verb_has_no_table)
{
    struct line line;
    assert_int_equal(parse_with(&bare, &line, (const char *const[]){"-h", NULL}), OCDM_OK);
    assert_true(line.arguments.help);
    assert_int_equal(parse_with(&bare, &line, (const char *const[]){"--any", NULL}), OCDM_BAD_ARGUMENT);
    assert_int_equal(parse_with(&bare, &line, (const char *const[]){"a", NULL}), OCDM_BAD_ARGUMENT);
    assert_false(ocdm__argument_given(&line.arguments, "any"));
    assert_null(ocdm__argument_text(&line.arguments, "any"));
}

static const char usual_hint[] = "`ocdm paint --help` lists what it takes";

TEST(unsigned_is_read_from_end_to_end_of_its_range)
{
    struct line line;
    assert_int_equal(PARSE(line, "-m18446744073709551615"), OCDM_OK);
    assert_true(ocdm__argument_unsigned(&line.arguments, "memory", 0, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(PARSE(line, "-m007"), OCDM_OK);
    assert_int_equal(ocdm__argument_unsigned(&line.arguments, "memory", 7, 7), 7);
    assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_OK);
}

TEST(unsigned_is_refused_when_it_is_no_such_number)
{
    static const char *const wrong[] = {"0", "11", "-1", "+1", "", " 1", "1 ", "1k", "1.0", "0x1", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct line line;
        char message[128];
        snprintf(message, sizeof message, "--memory \"%s\": not a whole number from 1 to 10", wrong[i]);
        assert_int_equal(PARSE(line, "--memory", wrong[i]), OCDM_OK);
        REFUSED(line, ocdm__argument_unsigned(&line.arguments, "memory", 1, 10), message, usual_hint);
    }
}

TEST(real_is_read_when_it_is_in_range)
{
    static const struct {
        const char *text;
        double value;
    } right[] = {{"16", 16.0}, {"-16", -16.0}, {"-0.03", -0.03}, {".5", 0.5}, {"1e-3", 0.001}, {"+2.", 2.0}};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct line line;
        assert_int_equal(PARSE(line, "--rho", right[i].text), OCDM_OK);
        assert_true(ocdm__argument_real(&line.arguments, "rho", -16.0, 16.0) == right[i].value);
        assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_OK);
    }
}

TEST(real_is_refused_when_it_is_no_number_or_out_of_range)
{
    static const char *const wrong[] = {"nan", "inf", "-inf", "16.1", "-16.1", "",   " 1",
                                        "1,5", "0x1", "1e",   "e",    "1e999", "--1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct line line;
        char message[128];
        snprintf(message, sizeof message, "--rho \"%s\": not a number from -16 to 16", wrong[i]);
        assert_int_equal(PARSE(line, "--rho", wrong[i]), OCDM_OK);
        REFUSED(line, ocdm__argument_real(&line.arguments, "rho", -16.0, 16.0), message, usual_hint);
    }
}

TEST(choice_gives_the_position_or_names_the_nearest)
{
    struct line line;
    assert_int_equal(parse_with(&verb, &line, (const char *const[]){NULL}), OCDM_OK);
    assert_int_equal(ocdm__argument_choice(&line.arguments, "colour"), 1);
    assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_OK);
    assert_int_equal(PARSE(line, "-c", "gren"), OCDM_OK);
    REFUSED(line, ocdm__argument_choice(&line.arguments, "colour"), "--colour \"gren\": unknown colour",
            "did you mean green? It takes red, green, blue");
    assert_int_equal(PARSE(line, "-c", "sepia"), OCDM_OK);
    REFUSED(line, ocdm__argument_choice(&line.arguments, "colour"), "--colour \"sepia\": unknown colour",
            "it takes red, green, blue");
}

TEST(list_is_read_up_to_its_room)
{
    struct line line;
    uint64_t values[3] = {0};
    assert_int_equal(PARSE(line, "--sizes", "5,6,7"), OCDM_OK);
    assert_int_equal(ocdm__argument_list(&line.arguments, "sizes", 1, 9, values, 3), 3);
    assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_OK);
    assert_true(values[0] == 5 && values[1] == 6 && values[2] == 7);
    (void)ocdm__argument_list(&line.arguments, "sizes", 1, 9, values, 2);
    assert_refused(ocdm__arguments_check(&line.arguments, NULL), &line.error, "--sizes: more than 2 values", usual_hint);
}

TEST(list_names_the_item_when_one_is_wrong)
{
    static const char *const wrong[][2] = {{"1,x,2", "x"}, {"1,,2", ""}, {"1,2,", ""}, {",1", ""}, {"", ""}, {"1,10", "10"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct line line;
        uint64_t values[4];
        char message[128];
        snprintf(message, sizeof message, "--sizes \"%s\": \"%s\" is not a whole number from 1 to 9", wrong[i][0], wrong[i][1]);
        assert_int_equal(PARSE(line, "--sizes", wrong[i][0]), OCDM_OK);
        (void)ocdm__argument_list(&line.arguments, "sizes", 1, 9, values, 4);
        assert_refused(ocdm__arguments_check(&line.arguments, NULL), &line.error, message, usual_hint);
    }
}

TEST(choices_are_read_as_positions_or_refused)
{
    struct line line;
    size_t indices[3] = {9, 9, 9};
    assert_int_equal(PARSE(line, "--palette", "blue,red,blue"), OCDM_OK);
    assert_int_equal(ocdm__argument_choices(&line.arguments, "palette", indices, 3), 3);
    assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_OK);
    assert_true(indices[0] == 2 && indices[1] == 0 && indices[2] == 2);
    (void)ocdm__argument_choices(&line.arguments, "palette", indices, 2);
    assert_refused(ocdm__arguments_check(&line.arguments, NULL), &line.error, "--palette: more than 2 values", usual_hint);
    assert_int_equal(PARSE(line, "--palette=red,bleu"), OCDM_OK);
    (void)ocdm__argument_choices(&line.arguments, "palette", indices, 3);
    assert_refused(ocdm__arguments_check(&line.arguments, NULL), &line.error, "--palette \"bleu\": unknown palette",
                   "did you mean blue? It takes red, green, blue");
}

TEST(values_are_asked_for_when_there_is_no_default)
{
    struct line line;
    assert_int_equal(PARSE(line, "-q"), OCDM_OK);
    REFUSED(line, ocdm__argument_unsigned(&line.arguments, "trace", 0, 1), "--trace is required", usual_hint);
}

/* Readers go on after a failure; what is reported is what was wrong first. */
TEST(the_first_wrong_value_is_reported)
{
    struct line line;
    ocdm_error error;
    assert_int_equal(PARSE(line, "-mx", "--rho", "y", "-c", "gren"), OCDM_OK);
    (void)ocdm__argument_real(&line.arguments, "rho", 0, 1);
    (void)ocdm__argument_choice(&line.arguments, "colour");
    (void)ocdm__argument_unsigned(&line.arguments, "memory", 0, 1);
    assert_refused(ocdm__arguments_check(&line.arguments, &error), &error, "--rho \"y\": not a number from 0 to 1", usual_hint);
}

static bool is_listed(const char *const *names, const char *name)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* A word that is no choice is not the value of a flag that needs none, but one that is attached must be a choice. */
TEST(flag_may_stand_alone)
{
    static const char *const left_out[] = {NULL};
    static const struct {
        const char *words[4], *value, *command;
        size_t operands;
    } cases[] = {
        {{NULL}, "green", "ocdm paint", 0},
        {{"--frame"}, "red", "ocdm paint --frame", 0},
        {{"--frame", "blue"}, "blue", "ocdm paint --frame blue", 0},
        {{"--frame=blue", "red"}, "blue", "ocdm paint --frame blue red", 1},
        {{"--frame", "file"}, "red", "ocdm paint --frame file", 1},
        {{"--frame", "--trace", "red"}, "red", "ocdm paint --trace red --frame", 0},
    };
    struct line line;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__output command;
        assert_int_equal(parse_with(&verb, &line, cases[i].words), OCDM_OK);
        assert_string_equal(ocdm__argument_text(&line.arguments, "frame"), cases[i].value);
        assert_int_equal(line.arguments.operand_count, cases[i].operands);
        assert_int_equal(ocdm__command_text(&line.arguments, left_out, &command, NULL), OCDM_OK);
        assert_string_equal(command.buffer, cases[i].command);
        ocdm__output_abandon(&command);
    }
    assert_int_equal(PARSE(line, "--frame=bleu"), OCDM_OK);
    (void)ocdm__argument_choice(&line.arguments, "frame");
    assert_int_equal(ocdm__arguments_check(&line.arguments, NULL), OCDM_BAD_ARGUMENT);
}

/* Lists that are made at run time have every row that they should; those that are written down have none too few. */
TEST(choices_are_the_rows_of_the_library)
{
    const char *names[OCDM__CHOICES] = {"first"};
    const uint32_t left_out = OCDM_NEEDS_GRADIENTS | OCDM_SINGLE_LABEL;
    assert_string_equal(ocdm__policy_choices(names, 1, left_out)[0], "first");
    for (size_t i = 0; ocdm_policy_at(i) != NULL; i++) {
        assert_true(is_listed(names, ocdm_policy_at(i)->name) == ((ocdm_policy_at(i)->traits & left_out) == 0));
        assert_string_equal(ocdm__run_methods[i], ocdm_policy_at(i)->name);
    }
    for (int i = 0; ocdm_distance_name((ocdm_distance)i) != NULL; i++)
        assert_string_equal(ocdm__distance_choices()[i], ocdm_distance_name((ocdm_distance)i));
    for (int i = 0; ocdm_tie_name((ocdm_tie)i) != NULL; i++)
        assert_string_equal(ocdm__tie_choices()[i], ocdm_tie_name((ocdm_tie)i));
}

TEST(exit_codes_follow_the_status)
{
    static const int expected[] = {0, 2, 5, 3, 5, 3, 3, 4, 3, 2, 3, 5, 130, 3};
    const int count = (int)(sizeof expected / sizeof expected[0]);
    int known = 2; /* OCDM_BAD_RECORD and OCDM_STOPPED are not the library's */
#define COUNT_STATUS(name, number, text) known++;
    OCDM_STATUS_MAP(COUNT_STATUS)
#undef COUNT_STATUS
    assert_int_equal(known, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(ocdm__exit_code((ocdm_status)i), expected[i]);
}

/* Values of flags are stored in arrays of this size. */
TEST(flags_of_every_verb_have_room)
{
    for (size_t i = 0; ocdm__verbs[i] != NULL; i++) {
        size_t count = 0;
        while (ocdm__verbs[i]->flags != NULL && ocdm__verbs[i]->flags[count].name != NULL)
            count++;
        HOLDS(ocdm__verbs[i]->name, count <= OCDM__MAX_FLAGS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_of_every_verb_have_room),
        cmocka_unit_test(flags_give_the_defaults_when_nothing_is_given),
        cmocka_unit_test(flags_read_the_same_value_however_it_is_written),
        cmocka_unit_test(flags_keep_the_last_value_when_repeated),
        cmocka_unit_test(flags_take_any_word_as_a_value_when_one_is_due),
        cmocka_unit_test(flags_and_operands_may_mix),
        cmocka_unit_test(flags_end_at_two_dashes),
        cmocka_unit_test(flags_stop_at_help),
        cmocka_unit_test(flags_refuse_what_the_table_lacks),
        cmocka_unit_test(flags_refuse_a_value_missing_or_too_many),
        cmocka_unit_test(flags_work_when_the_verb_has_no_table),
        cmocka_unit_test(unsigned_is_read_from_end_to_end_of_its_range),
        cmocka_unit_test(unsigned_is_refused_when_it_is_no_such_number),
        cmocka_unit_test(real_is_read_when_it_is_in_range),
        cmocka_unit_test(real_is_refused_when_it_is_no_number_or_out_of_range),
        cmocka_unit_test(choice_gives_the_position_or_names_the_nearest),
        cmocka_unit_test(list_is_read_up_to_its_room),
        cmocka_unit_test(list_names_the_item_when_one_is_wrong),
        cmocka_unit_test(choices_are_read_as_positions_or_refused),
        cmocka_unit_test(values_are_asked_for_when_there_is_no_default),
        cmocka_unit_test(the_first_wrong_value_is_reported),
        cmocka_unit_test(flag_may_stand_alone),
        cmocka_unit_test(choices_are_the_rows_of_the_library),
        cmocka_unit_test(exit_codes_follow_the_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
