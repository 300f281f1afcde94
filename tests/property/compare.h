/* Comparing the library's memory with the judge's, everything that can be asked, with the case named on failure. */
#ifndef OCDM_TESTS_COMPARE_H
#define OCDM_TESTS_COMPARE_H

#include "../test.h"
#include "naive.h"

/* A memory of the library, or the test ends. */
ocdm_memory *make_memory(const ocdm_options *options);

/* Offers a batch to the library, or the test ends. */
ocdm_change offer(ocdm_memory *memory, const ocdm_sample *batch, size_t count, const char *where);

/* The last update's change, then slots, ids, label sets, counts, targets and both distances are the judge's. */
void compare_change(const ocdm_change *change, const struct naive *naive, const char *where);
void compare_memory(const ocdm_memory *memory, const struct naive *naive, const char *where);

/* A naive_choice that follows the library's departures, for every distance: each must leave a distance that no other deletion
 * betters, judged in long double, and obey the tie rule. The context is a struct witness. */
struct witness {
    const ocdm_change *change;
    const char *where;
};
size_t follow_departures(const struct naive *naive, void *context);

#endif
