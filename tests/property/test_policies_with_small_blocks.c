/* The judge once more with blocks of four places, so that small pools have many blocks, most of which a search may skip, and
 * with scores that are brought up to date in small steps while the memory fills. */
#define OCDM__BLOCK 4u
#define CAUGHT_UP 16u
#define JUDGED "o*" /* ocdm and onlyone, which have an index */
#include "memory/distances.c"
#include "memory/index.c"
#include "memory/search.c"

#include "test_policies_against_judge.c"
