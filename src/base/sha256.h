/* SHA-256 (FIPS 180-4), so that users can check that they have the same file. With the CPU's own instructions where it has
 * them, in plain C elsewhere: the same digest. */
#ifndef OCDM_BASE_SHA256_H
#define OCDM_BASE_SHA256_H

#include "base/progress.h"

/* Bytes of a digest, and of its text in hexadecimal digits with the NUL. */
#define OCDM__SHA256_SIZE 32
#define OCDM__SHA256_TEXT 65

typedef struct ocdm__sha256 {
    uint32_t state[8];
    uint64_t size;           /* bytes so far */
    unsigned char block[64]; /* the part that does not fill a block yet */
    bool native;             /* by the CPU's instructions */
} ocdm__sha256;

void ocdm__sha256_begin(ocdm__sha256 *sha);
void ocdm__sha256_add(ocdm__sha256 *sha, const void *bytes, size_t size);

/* Ends it: lower-case digits and a NUL. */
void ocdm__sha256_end(ocdm__sha256 *sha, char text[OCDM__SHA256_TEXT]);

/* The digest of a whole file. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY, OCDM_STOPPED. `progress` may be NULL. */
ocdm_status ocdm__sha256_of_file(const char *path, const ocdm__progress *progress, char text[OCDM__SHA256_TEXT],
                                 ocdm_error *error);

/* `count` blocks of 64 bytes, in plain C and with the CPU's instructions, which only some have. */
void ocdm__sha256_blocks_plain(uint32_t state[8], const unsigned char *bytes, size_t count);
void ocdm__sha256_blocks_native(uint32_t state[8], const unsigned char *bytes, size_t count);

/* Whether the CPU has the instructions. The check is slow in a virtual machine: once per file, not per block. */
bool ocdm__sha256_has_native(void);

#endif
