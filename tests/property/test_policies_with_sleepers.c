/* The judge once more, with sleepers from five label sets on, heights that are moved all the time, sweeps over pairs wherever
 * they are possible, short lists of pairs, few guests and few sets near the best, so that small pools exercise every bound. */
#define OCDM__SLEEP_FROM 4u
#define OCDM__AWAKE_AFTER 2u
#define OCDM__AWAKE_AT_MOST 4u
#define OCDM__FEW 0u
#define FAR_FROM_PAR 2
#define AWAKE_AT_FIRST 0u
#define AWAKE_AT_FIRST_IN_CACHE 0u
#define FEW_SLEEPERS 0u
#define FEW_RISERS 2u
#define FARTHEST_GOAL 4096
#define SWEEPS_A_LOOK 3u
#define LONGEST_LIST 6u
#define COST_OF_PAIR 0u
#define COST_OF_VISIT 1u
#define GUESTS 2u
#define NEAR 4u
#define MANY 1u
#include "memory/pairs.c"
#include "memory/scores_search.c"
#include "memory/scores_sleep.c"
#include "memory/scores_sweep.c"
#include "memory/sleepers.c"

#include "test_policies_against_judge.c"
