/* "Did you mean": the word of a list that is nearest to what was typed. */
#ifndef OCDM_CLI_SUGGEST_H
#define OCDM_CLI_SUGGEST_H

#include <stddef.h>

/*
 * The candidate nearest to `word`, or NULL when none is near enough to be meant: one edit for short words, about a third of
 * the letters for longer ones, or the word is the beginning of exactly one candidate. An edit inserts, deletes or changes a
 * letter or swaps two neighbours; upper and lower case are the same. Of equally near candidates the first.
 */
const char *ocdm__suggest(const char *word, const char *const *candidates, size_t count);

/* How many edits turn one word into the other; words over 63 letters count as unrelated and give 64. */
size_t ocdm__edit_distance(const char *a, const char *b);

#endif
