/*
 * What every file stands on: errors, allocation, and the plain headers of C. All headers of src include it, so that a source
 * file names only what else it uses. POSIX is asked for by the build (_POSIX_C_SOURCE, cmake/flags.cmake).
 */
#ifndef OCDM_BASE_BASE_H
#define OCDM_BASE_BASE_H

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "ocdm/ocdm.h"

#endif
