/* The nearest word by restricted Damerau-Levenshtein distance, in fixed storage. */
#include "cli/suggest.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t ocdm__edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a);
    size_t columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST + 1;
    size_t row[3][LONGEST + 1]; /* two rows back, the one before, this one */
    for (size_t j = 0; j <= columns; j++)
        row[1][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        row[2][0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t changed = row[1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            row[2][j] = least(changed, least(row[1][j], row[2][j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[2][j] = least(row[2][j], row[0][j - 2] + 1);
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[0]);
    }
    return row[1][columns];
}

/* The one candidate that starts with `word`; NULL when none or several do. */
static const char *only_completion(const char *word, const char *const *candidates, size_t count)
{
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(word, candidates[i], strlen(word)) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = candidates[i];
    }
    return found;
}

const char *ocdm__suggest(const char *word, const char *const *candidates, size_t count)
{
    if (strlen(word) < 2)
        return NULL;
    const char *best = NULL;
    size_t best_distance = strlen(word) < 6 ? 1 : strlen(word) / 3;
    for (size_t i = 0; i < count; i++) {
        size_t distance = ocdm__edit_distance(word, candidates[i]);
        if (distance >= strlen(candidates[i]))
            continue; /* not a letter in common: a guess, not a suggestion */
        if (distance < best_distance || (best == NULL && distance == best_distance)) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best != NULL ? best : only_completion(word, candidates, count);
}
