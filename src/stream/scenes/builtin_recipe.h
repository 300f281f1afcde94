/* What the built-in stream is made of, as tables; builtin.c turns them into samples. */
#ifndef OCDM_STREAM_SCENES_BUILTIN_RECIPE_H
#define OCDM_STREAM_SCENES_BUILTIN_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#define OCDM__BUILTIN_CLASSES 44
#define OCDM__BUILTIN_TASKS 4

/* A class, and how many samples carry it and nothing else. */
typedef struct ocdm__recipe_class {
    const char *name;
    uint32_t task;
    uint32_t alone;
} ocdm__recipe_class;

/* A class that turns up in a scene: `lead` of its samples have it as their first companion; of the others, `extra` have it too.
 */
typedef struct ocdm__companion {
    uint32_t class_number;
    uint32_t lead;
    uint32_t extra;
} ocdm__companion;

/*
 * A context in which classes meet: each of its samples carries the setting and exactly one lead, so two labels at least, and
 * any number of extras. A scene has as many samples as its companions have leads.
 */
typedef struct ocdm__scene {
    uint32_t setting;
    uint32_t companion_count;
    const ocdm__companion *companions;
} ocdm__scene;

extern const ocdm__recipe_class ocdm__recipe_classes[OCDM__BUILTIN_CLASSES];

/* The scenes, task by task; a scene's task is its setting's. */
extern const ocdm__scene ocdm__recipe_scenes[];
extern const size_t ocdm__recipe_scene_count;

/* The most companions that a scene has. */
#define OCDM__MAX_COMPANIONS 16

#endif
