/* For readers that take a path: the bytes as a regular file that is removed when the program ends. */
#ifndef OCDM_TESTS_FILE_OF_BYTES_H
#define OCDM_TESTS_FILE_OF_BYTES_H

#include <stddef.h>

/* One of two files, number 0 or 1, which holds these bytes from now on: its path. */
const char *file_of_bytes(int number, const void *bytes, size_t size);

#endif
