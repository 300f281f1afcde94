/* Included by every test program: cmocka with the headers that it needs, a macro for the head of a test, and an assertion that
 * names its case. */
#ifndef OCDM_TESTS_TEST_H
#define OCDM_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The head of a test function. `state` is what the test's setup has stored, if it has one. */
#define TEST(name) static void name(void **state __attribute__((unused)))

/* Like assert_true, but prints the case first. The condition is evaluated once: it may be a call that fails only once. */
#define HOLDS(where, condition)                                                                                                \
    do {                                                                                                                       \
        int holds_ = (condition) ? 1 : 0;                                                                                      \
        if (!holds_)                                                                                                           \
            print_error("in %s:\n", where);                                                                                    \
        _assert_true((LargestIntegralType)holds_, #condition, __FILE__, __LINE__);                                             \
    } while (0)

#endif
