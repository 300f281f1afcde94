/* The samples of one label set, as a pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986) inside their nodes: joining costs
 * a comparison, the sample that the tie rule lets go first is at hand, any other can leave too, and nothing is allocated. */
#ifndef OCDM_MEMORY_MEMBERS_H
#define OCDM_MEMORY_MEMBERS_H

#include "memory/pool.h"

/* Adds a node to the heap with root `first` (OCDM_NONE: empty); returns the new root. */
uint32_t ocdm__members_add(struct node *nodes, uint32_t first, uint32_t node);

/* Takes any node out of the heap; returns the new root. */
uint32_t ocdm__members_remove(struct node *nodes, uint32_t first, uint32_t node);

/* The node after `node` when walking over the whole heap from its root, in no particular order; OCDM_NONE at the end. */
uint32_t ocdm__members_after(const struct node *nodes, uint32_t node);

#endif
