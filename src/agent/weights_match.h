/* Whether the tensors of a file are the parameters of a network, and what is wrong when they are not. */
#ifndef OCDM_AGENT_WEIGHTS_MATCH_H
#define OCDM_AGENT_WEIGHTS_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/network.h"
#include "base/safetensors.h"

/* Names that do not fit, as "a, b, c and 12 more". */
struct ocdm__name_list {
    char text[300];
    size_t used, count, left_out;
};

struct ocdm__weights_match {
    struct ocdm__name_list missing, unknown, misshapen;
    bool head_kept; /* the file's head has another number of classes, or there is none: the network keeps its own */
    bool optimiser; /* Adam's averages are there */
};

/* Compares names and shapes; values are not looked at. */
void ocdm__weights_match(const ocdm__network *network, const struct ocdm__safetensors *file, struct ocdm__weights_match *match);

/* Whether everything fits. */
bool ocdm__weights_fit_all(const struct ocdm__weights_match *match);

/* The tensor of a parameter: its value for "", Adam's averages for "adam.m." and "adam.v.". NULL when there is none. */
const struct ocdm__tensor *ocdm__weights_find(const struct ocdm__safetensors *file, const char *prefix, const char *name);

/* Whether the parameter belongs to the head. */
bool ocdm__is_head(const ocdm__network *network, const struct ocdm__parameter *parameter);

#endif
