/* An assertion with a name for the case at hand. Include cmocka.h first. */
#ifndef OCDM_TESTS_HOLDS_H
#define OCDM_TESTS_HOLDS_H

/* Like assert_true, but says first which case it is about. */
#define HOLDS(where, condition)                                                                                                \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            print_error("in %s:\n", where);                                                                                    \
            assert_true(condition);                                                                                            \
        }                                                                                                                      \
    } while (0)

#endif
