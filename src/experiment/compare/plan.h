/*
 * What a comparison runs: methods, seeds, and the points of a sweep over memory sizes, powers rho and orders of tasks. Says for
 * each run the name of its folder; knows nothing of how it is run.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_PLAN_H
#define OCDM_EXPERIMENT_COMPARE_PLAN_H

#include "base/base.h"
#include "experiment/loop/settings.h"

/* Limits; more is a typing error. */
#define OCDM__COMPARE_VALUES 64    /* of one sweep */
#define OCDM__COMPARE_POINTS 40320 /* memory sizes x rhos x orders */
#define OCDM__COMPARE_TASKS 1024   /* of one order */
#define OCDM__COMPARE_PERMUTED 8   /* tasks whose every order can be asked for */
#define OCDM__COMPARE_NAME 192     /* bytes of a folder's name */
#define OCDM__COMPARE_LABEL 112    /* and of its end */

/* Where the runs of a comparison differ besides method and seed. */
typedef struct ocdm__compare_point {
    uint32_t memory;
    double rho;
    const uint64_t *order; /* NULL: the run's own default */
    size_t order_count;
    char suffix[OCDM__COMPARE_LABEL]; /* of the folders: "-m300-r0.2-o0312", of what is swept alone */
    char label[OCDM__COMPARE_LABEL];  /* the same for people: "memory 300, rho 0.2, order 0,3,1,2"; "" when nothing is swept */
} ocdm__compare_point;

/* The settings of a method at a point, if they are not the same for all. */
typedef struct ocdm__compare_choice {
    ocdm__run_settings settings; /* resolved */
    const char *const *words;    /* the same as flags of `ocdm run` */
    size_t word_count;
    char label[OCDM__COMPARE_LABEL]; /* for people: "lr 0.003, clip 2" */
} ocdm__compare_choice;

typedef struct ocdm__compare_plan {
    const char *const *methods;
    size_t method_count;
    uint64_t seed_count;
    const uint64_t *seeds; /* as many; NULL: 0, 1, ... */
    ocdm__compare_point *points;
    size_t point_count;
    bool sweeps_memory, sweeps_rho, sweeps_order;
    uint64_t *tasks;                            /* what the orders point into */
    const ocdm__compare_choice *const *choices; /* [point][method]; NULL: all runs have the same settings */
} ocdm__compare_plan;

/*
 * Fills in the points from the texts of the flags: "300,500,1000", "0,0.2", "0,3,1,2;2,1,3,0" or "all"; an order of NULL or ""
 * is the default one. `all` are the stream's tasks, for "all". A number that comes twice counts once.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_LIMIT, OCDM_NO_MEMORY. On success to be cleared.
 */
ocdm_status ocdm__compare_points_make(ocdm__compare_plan *plan, const char *memory, const char *rho, const char *order,
                                      const uint32_t *all, size_t task_count, ocdm_error *error);

void ocdm__compare_plan_clear(ocdm__compare_plan *plan);

/* Seeds are numbered from 0 everywhere; this is the seed itself. */
static inline uint64_t ocdm__compare_seed(const ocdm__compare_plan *plan, uint64_t number)
{
    return plan->seeds != NULL ? plan->seeds[number] : number;
}

/* "METHOD-sSEED" and the point's suffix; `seed` is the seed's number. */
void ocdm__compare_folder(const ocdm__compare_plan *plan, size_t point, size_t method, uint64_t seed,
                          char name[OCDM__COMPARE_NAME]);

/* An order as the flag takes it: "0,3,1,2"; "" for the default one. Cut if it is longer than `room`. */
void ocdm__compare_order_text(const ocdm__compare_point *point, char *text, size_t room);

#endif
