/* How evenly a memory holds the classes of a stream: the few numbers that a table shows. */
#ifndef OCDM_EXPERIMENT_COMPARE_BALANCE_H
#define OCDM_EXPERIMENT_COMPARE_BALANCE_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* The marks that the paper counts its classes by. */
#define OCDM__BALANCE_FEW 20u
#define OCDM__BALANCE_MANY 40u

typedef struct ocdm__balance {
    uint32_t fewest, most; /* samples of any class */
    size_t lost;           /* classes without a sample */
    size_t under;          /* classes with fewer than OCDM__BALANCE_FEW, the lost ones among them */
    size_t over;           /* classes with more than OCDM__BALANCE_MANY */
} ocdm__balance;

/* Counts the classes 0 .. class_count - 1, class_count at least 1; `kept` has room for their m_i. */
ocdm__balance ocdm__balance_of(const ocdm_memory *memory, size_t class_count, uint32_t *kept);

#endif
