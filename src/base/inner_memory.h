/*
 * What the program's shell filter asks of the memory beyond ocdm/ocdm.h. It is not part of the library's interface: no program
 * that links libocdm can call it.
 */
#ifndef OCDM_BASE_INNER_MEMORY_H
#define OCDM_BASE_INNER_MEMORY_H

#include "ocdm/ocdm.h"

/*
 * A bargain with a caller who has looked already: from now on its class ids are dense (0, 1, 2, ..., as labels were numbered),
 * so that an array leads to a class, and its ids are unique, so that nobody looks again. Ids are then not known to
 * ocdm_memory_find and ocdm_memory_forget. To be called once, before the first update.
 */
void ocdm__memory_trust(ocdm_memory *memory);

/*
 * Never fewer than `minimum` samples of a class while as many were seen, for the policies ocdm and onlyone under KL: when the
 * sample that the policy would delete carries a class that has no more than its minimum, the best deletion among the samples
 * that carry no such class is made instead. There is one as long as the minimums add up to no more than the capacity. Costs a
 * look at every distinct label set in that case. OCDM_OK or OCDM_NO_MEMORY.
 */
ocdm_status ocdm__memory_set_minimum(ocdm_memory *memory, uint32_t class_id, uint32_t minimum, ocdm_error *error);

/* How many deletions the minimums have changed so far. */
uint64_t ocdm__memory_spared(const ocdm_memory *memory);

#endif
