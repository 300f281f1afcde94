/* The recipes behind one door: which samples of a source go into the stream, and to which task and part. */
#ifndef OCDM_STREAM_RECIPES_RECIPE_H
#define OCDM_STREAM_RECIPES_RECIPE_H

#include "ocdm/ocdm.h"
#include "stream/build.h"
#include "stream/labelled_set.h"
#include "stream/selection.h"

/* Fills an empty selection as the settings' recipe has it; what is left out is counted in `reading`. What the recipe gives.
 *
 * groups  PRS's groups by number of a label in the set, UINT8_MAX for a label that is dropped; NULL when the recipe has none.
 *         From ocdm__allocate, yours. */
ocdm_status ocdm__apply_recipe(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                               ocdm__reading *reading, uint8_t **groups, ocdm_error *error);

#endif
