/* What the first bytes of an NPY file tell. For the files of the NPY reader; everyone else includes stream/readers/npy.h. */
#ifndef OCDM_STREAM_READERS_NPY_HEADER_H
#define OCDM_STREAM_READERS_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/mapped_file.h"
#include "ocdm/ocdm.h"

enum ocdm__npy_type {
    OCDM__NPY_U1,
    OCDM__NPY_I1,
    OCDM__NPY_B1,
    OCDM__NPY_I4,
    OCDM__NPY_I8,
    OCDM__NPY_F2,
    OCDM__NPY_F4,
    OCDM__NPY_F8
};

#define OCDM__NPY_FEATURES                                                                                                     \
    (1u << OCDM__NPY_F2 | 1u << OCDM__NPY_F4 | 1u << OCDM__NPY_F8 | 1u << OCDM__NPY_U1 | 1u << OCDM__NPY_I1)
#define OCDM__NPY_LABELS                                                                                                       \
    (1u << OCDM__NPY_U1 | 1u << OCDM__NPY_I1 | 1u << OCDM__NPY_B1 | 1u << OCDM__NPY_I4 | 1u << OCDM__NPY_I8 |                  \
     1u << OCDM__NPY_F4 | 1u << OCDM__NPY_F8)

/* A table: `rows` rows of `columns` elements of `size` bytes from byte `data_at` on, none of them 0, and nothing after them. */
typedef struct ocdm__npy_table {
    enum ocdm__npy_type type;
    size_t size;
    uint64_t rows;
    size_t columns;
    size_t data_at;
} ocdm__npy_table;

/* Reads the header and checks it against the file's length. `allowed` has a bit for each type that will do. OCDM_OK,
 * OCDM_BAD_FILE. */
ocdm_status ocdm__npy_read_header(const ocdm__mapped_file *file, unsigned allowed, ocdm__npy_table *table, ocdm_error *error);

#endif
