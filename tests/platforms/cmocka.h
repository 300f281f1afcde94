/*
 * What the tests of libocdm use of cmocka, for platforms that have a compiler but no cmocka: tools/platforms puts this folder
 * before the system's headers. Results are printed as TAP. A failed assertion jumps out of its test.
 */
#ifndef OCDM_TESTS_PLATFORMS_CMOCKA_H
#define OCDM_TESTS_PLATFORMS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uintmax_t LargestIntegralType;

struct CMUnitTest {
    const char *name;
    void (*function)(void **state);
};

#define cmocka_unit_test(function)                                                                                             \
    {                                                                                                                          \
#function, function                                                                                                    \
    }

/* Where a failed assertion jumps, and which tests run, "" for all: defined in place.c. */
extern jmp_buf cmocka_failed;
extern const char *cmocka_filter;

/* Tests whose names match the pattern run, a prefix and a `*`. */
#define cmocka_set_test_filter(pattern) (cmocka_filter = (pattern))

static inline void print_message(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
}
#define print_error print_message

static inline void cmocka_check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    printf("# %s:%d: %s\n", file, line, what);
    longjmp(cmocka_failed, 1);
}

#define _assert_true(value, what, file, line) cmocka_check((value) != 0, what, file, line)
#define assert_true(value) cmocka_check((value) ? 1 : 0, #value, __FILE__, __LINE__)
#define assert_false(value) cmocka_check((value) ? 0 : 1, "not " #value, __FILE__, __LINE__)
#define assert_null(value) cmocka_check((value) == NULL, #value " is NULL", __FILE__, __LINE__)
#define assert_non_null(value) cmocka_check((value) != NULL, #value " is not NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) cmocka_check((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) cmocka_check((uintmax_t)(a) == (uintmax_t)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmocka_check((uintmax_t)(a) != (uintmax_t)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b) cmocka_check(strcmp(a, b) == 0, #a " == " #b, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmocka_check(strcmp(a, b) != 0, #a " != " #b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) cmocka_check(memcmp(a, b, size) == 0, #a " == " #b, __FILE__, __LINE__)
#define assert_in_range(value, low, high)                                                                                      \
    cmocka_check((uintmax_t)(value) >= (uintmax_t)(low) && (uintmax_t)(value) <= (uintmax_t)(high), #value " is in range",     \
                 __FILE__, __LINE__)
#define fail_msg(...) (print_message("# " __VA_ARGS__), print_message("\n"), cmocka_check(0, "fail_msg", __FILE__, __LINE__))
#define fail() cmocka_check(0, "fail", __FILE__, __LINE__)

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **), int (*teardown)(void **))
{
    static void *state;
    static size_t i;
    static int failures;
    size_t length = strcspn(cmocka_filter, "*"), chosen = 0;
    for (i = 0; i < count; i++)
        chosen += strncmp(tests[i].name, cmocka_filter, length) == 0;
    printf("1..%zu\n", chosen);
    if (setup != NULL && setup(&state) != 0)
        return 1;
    for (i = 0; i < count; i++) {
        if (strncmp(tests[i].name, cmocka_filter, length) != 0)
            continue;
        int failed = setjmp(cmocka_failed);
        if (!failed)
            tests[i].function(&state);
        printf("%sok %zu - %s\n", failed ? "not " : "", i + 1, tests[i].name);
        fflush(stdout);
        failures += failed;
    }
    if (teardown != NULL && teardown(&state) != 0)
        return 1;
    return failures;
}

#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run(tests, sizeof(tests) / sizeof *(tests), setup, teardown)

#endif
