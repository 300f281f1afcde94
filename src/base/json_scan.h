/*
 * A short cut for base/json.h through long arrays of numbers, such as the outlines that make up most of a COCO file. It only
 * ever passes over what ocdm__json_next would accept, and leaves everything doubtful to it, errors and their positions too:
 * with and without it, a text gives the same answer.
 */
#ifndef OCDM_BASE_JSON_SCAN_H
#define OCDM_BASE_JSON_SCAN_H

#include "base/json.h"

/*
 * After OCDM__JSON_NUMBER: passes over as many of the numbers that follow in the same array as it can quickly, up to about 1
 * MiB of text. Outside arrays, or where the compiler has no SSE2, nothing happens. What was passed is not reported; the event
 * at hand, `text` and `length`, stays.
 */
void ocdm__json_pass_numbers(ocdm__json *json);

#endif
