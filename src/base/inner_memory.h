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

#endif
