/* Tables of 32-bit floats as NPY files, which NumPy reads with numpy.load: a header here, then the rows piece by piece. */
#ifndef OCDM_BASE_NPY_WRITE_H
#define OCDM_BASE_NPY_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

/* The header of a table of `rows` x `columns`: version 1.0, little-endian f32, rows one after another. The caller then writes
 * as many floats. */
void ocdm__npy_write_header(ocdm__output *output, uint64_t rows, uint64_t columns);

/* The next `count` floats. */
void ocdm__npy_write_floats(ocdm__output *output, const float *values, size_t count);

#endif
