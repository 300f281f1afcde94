/* The table of element types, shared by reading and writing. */
#ifndef OCDM_BASE_SAFETENSORS_DTYPE_H
#define OCDM_BASE_SAFETENSORS_DTYPE_H

#include <stddef.h>

static const struct {
    const char *name;
    size_t size;
} ocdm__dtypes[] = {{"U8", 1},  {"I8", 1},  {"U32", 4},  {"I32", 4}, {"U64", 8},
                    {"I64", 8}, {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F64", 8}};

#define OCDM__DTYPE_COUNT (sizeof ocdm__dtypes / sizeof *ocdm__dtypes)

/* What stands for the checksum's digits while it is computed. */
#define OCDM__CHECKSUM_BLANK "0000000000000000"

#endif
