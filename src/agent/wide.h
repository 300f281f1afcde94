/* Sixteen floats at once, as vectors of the compiler: operations are element by element and equal those of single floats. */
#ifndef OCDM_AGENT_WIDE_H
#define OCDM_AGENT_WIDE_H

#include "base/base.h"

/* The unaligned versions are for memory: tensors start wherever an image ends. */
typedef float wide __attribute__((vector_size(64)));
typedef float wide_in_memory __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t wide_int __attribute__((vector_size(64)));
typedef double wide_double __attribute__((vector_size(128)));
typedef double wide_double_in_memory __attribute__((vector_size(128), aligned(8), may_alias));

#define LOAD_WIDE(p) ((wide)(*(const wide_in_memory *)(p)))
#define STORE_WIDE(p, v) (*(wide_in_memory *)(p) = (v))
#define LOAD_DOUBLE(p) ((wide_double)(*(const wide_double_in_memory *)(p)))
#define STORE_DOUBLE(p, v) (*(wide_double_in_memory *)(p) = (v))
#define WIDE_OF(x) ((wide){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x})

/* v where the condition holds and 0 elsewhere; the opposite; one or the other. */
#define WIDE_WHERE(condition, v) ((wide)((wide_int)(v) & (condition)))
#define WIDE_UNLESS(condition, v) ((wide)((wide_int)(v) & ~(condition)))
#define WIDE_EITHER(condition, a, b) ((wide)(((wide_int)(a) & (condition)) | ((wide_int)(b) & ~(condition))))

#endif
