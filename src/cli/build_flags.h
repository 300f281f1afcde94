/* Which flags of `ocdm stream build` go together: a flag that would change nothing is a mistake, and is told. */
#ifndef OCDM_CLI_BUILD_FLAGS_H
#define OCDM_CLI_BUILD_FLAGS_H

#include <stdbool.h>

#include "cli/flags.h"
#include "ocdm/ocdm.h"

/* Whether --recipe asks for the built-in world. */
bool ocdm__wants_scenes(const ocdm__arguments *arguments);

/* OCDM_OK, or OCDM_BAD_ARGUMENT with the flag that has no use. */
ocdm_status ocdm__check_build_flags(const ocdm__arguments *arguments, ocdm_error *error);

#endif
