/*
 * Calls that fail when told to. The linker sends malloc, calloc, realloc, free, open, read, write, close, fsync and rename of
 * the library and the test through here; the C library's own are not touched. Threads may call them at once; faults are set by
 * one.
 */
#ifndef OCDM_TESTS_FAULTS_H
#define OCDM_TESTS_FAULTS_H

#include <stdbool.h>

enum fault_kind {
    FAULT_ALLOCATE, /* malloc, calloc, realloc */
    FAULT_OPEN,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_CLOSE, /* closes all the same, as Linux does */
    FAULT_FSYNC,
    FAULT_RENAME,
    FAULT_OWN, /* calls that a test stands in for itself: see fault_now */
    FAULT_KINDS
};

/* Lets the n-th call of a kind from now on, from 1, fail with `reason`; all that follow too if `for_good`. n = 0: none. */
void fault_at(enum fault_kind kind, unsigned long n, int reason, bool for_good);

/* Back to normal. */
void fault_off(void);

/* How many calls there were since fault_at or fault_off. */
unsigned long fault_calls(enum fault_kind kind);

/* For a test's own stand-ins: counts one call of a kind and says whether it is to fail, with errno set. */
bool fault_now(enum fault_kind kind);

#endif
