/* The judge once more, with snapshots from five label sets on, so that small pools have sleepers and every bound is put to the
 * test. */
#define OCDM__AWAKE_AFTER 2u
#define OCDM__AWAKE_AT_MOST 4u
#include "memory/scores_snapshot.c"

#include "test_policies_against_judge.c"
