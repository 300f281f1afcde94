/* An assertion with a name for the case at hand. Include cmocka.h first. */
#ifndef OCDM_TESTS_HOLDS_H
#define OCDM_TESTS_HOLDS_H

/* Like assert_true, but says first which case it is about. The condition is evaluated once: it may be a call that fails once.
 */
#define HOLDS(where, condition)                                                                                                \
    do {                                                                                                                       \
        int holds_ = (condition) ? 1 : 0;                                                                                      \
        if (!holds_)                                                                                                           \
            print_error("in %s:\n", where);                                                                                    \
        _assert_true((LargestIntegralType)holds_, #condition, __FILE__, __LINE__);                                             \
    } while (0)

#endif
