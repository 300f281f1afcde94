/*
 * What the program uses of the memory beyond ocdm/ocdm.h. It is not part of the library's interface: no program that links
 * libocdm can call it.
 */
#ifndef OCDM_BASE_INNER_MEMORY_H
#define OCDM_BASE_INNER_MEMORY_H

#include "ocdm/ocdm.h"

/* The policies of the library, in the order of ocdm_policy_at: X(symbol, name) for the struct ocdm__policy_SYMBOL. */
/* clang-format off */
#define OCDM__POLICIES(X)                                                                                                      \
    X(ocdm, "ocdm")                                                                                                            \
    X(prs, "prs")                                                                                                              \
    X(prs_released, "prs-released")                                                                                            \
    X(cbes, "cbes")                                                                                                            \
    X(max, "max")                                                                                                              \
    X(onlyone, "onlyone")                                                                                                      \
    X(rs, "rs")                                                                                                                \
    X(random, "random")                                                                                                        \
    X(cbrs, "cbrs")                                                                                                            \
    X(gss, "gss")                                                                                                              \
    X(gss_released, "gss-released")
/* clang-format on */

/*
 * A bargain with a caller who has looked already: from now on its class ids are dense (0, 1, 2, ..., as labels were numbered),
 * so that an array leads to a class, and its ids are unique, so that nobody looks again. Ids are then not known to
 * ocdm_memory_find and ocdm_memory_forget. To be called once, before the first update.
 */
void ocdm__memory_trust(ocdm_memory *memory);

#endif
