/*
 * Feature vectors of the built-in world: what a fixed, pretrained network might make of a scene, without the network. Each
 * object adds its class's direction (look-alikes have directions in common), more of it the larger and the less hidden it is,
 * blurred by what its kind can look like and by its colour; backdrop, strays and noise add what says nothing. A fixed random
 * layer with a kink mixes it all. docs/scenes.md has the formulas.
 */
#ifndef OCDM_STREAM_SCENES_FEATURES_H
#define OCDM_STREAM_SCENES_FEATURES_H

#include "ocdm/ocdm.h"
#include "stream/scenes/plan.h"

/* Numbers in a feature vector. */
enum { OCDM__SCENE_FEATURES = 128 };

/* The directions and the mixing layer of a seed. */
typedef struct ocdm__scene_space ocdm__scene_space;

/* OCDM_OK or OCDM_NO_MEMORY; `space` is set on success, yours to destroy. `base` is the base of the world's random numbers. */
ocdm_status ocdm__scene_space_create(uint64_t base, ocdm__scene_space **space, ocdm_error *error);

/* What a planned scene gives before it is centred and bent: OCDM__SCENE_FEATURES numbers. */
void ocdm__scene_plan_mix(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out);

/* Centres and scales the space by `count` mixed vectors, count > 0: to be done once, before features are asked for. */
void ocdm__scene_space_centre(ocdm__scene_space *space, const float *mixed, size_t count);

/* Frees it. NULL is fine. */
void ocdm__scene_space_destroy(ocdm__scene_space *space);

/* The feature vector of a planned scene. `random` is a stream of its own for the sample, the same as for its mix. */
void ocdm__scene_plan_features(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out);

#endif
