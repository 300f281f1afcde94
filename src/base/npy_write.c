/* NPY, version 1.0: a magic, the length of a Python dictionary as text, the dictionary, and the numbers. */
#include "base/npy_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Magic, version, and the length of the text; all of it and the text end at a multiple of 64. */
enum { START = 10, HEADER = 128, PIECE = 1024 };

void ocdm__npy_write_header(ocdm__output *output, uint64_t rows, uint64_t columns)
{
    char header[HEADER + 1] = "\x93NUMPY\x01";
    header[8] = HEADER - START;
    int used = snprintf(header + START, sizeof header - START,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }", rows, columns);
    size_t end = START + (size_t)used; /* 93 characters with the longest numbers: there is room */
    memset(header + end, ' ', HEADER - end);
    header[HEADER - 1] = '\n';
    ocdm__output_write(output, header, HEADER);
}

void ocdm__npy_write_floats(ocdm__output *output, const float *values, size_t count)
{
    unsigned char piece[4 * PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        size_t some = count - first < PIECE ? count - first : PIECE;
        for (size_t i = 0; i < some; i++) {
            uint32_t bits;
            memcpy(&bits, &values[first + i], sizeof bits);
            ocdm__put_u32(piece + 4 * i, bits);
        }
        ocdm__output_write(output, piece, 4 * some);
    }
}
